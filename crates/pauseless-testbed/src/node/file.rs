//! The file of one node: which node of which scenario, and what its ports are called here.

mod address;
pub mod ports;
#[cfg(test)]
mod tests;
mod wire;

use std::ops::Range;
use std::path::{Path, PathBuf};

use pauseless_core::flow_control::FlowControl;
use pauseless_core::id::{NodeId, PortId};
use pauseless_core::switch::watchdog;
use pauseless_core::unit::Span;
use pauseless_dataplane::clock::Pace;
use pauseless_fabric::topology::{Port, Topology};

use crate::plan::{self, NodeConfig, NodePlan, Options};
use address::Addresses;
use pauseless_scenario::mitigation::{WATCHDOG, read_watchdog};
use pauseless_scenario::{FILE_MAX, Overrides, Scenario, parse_table};
use pauseless_text::declare::Declared;
use pauseless_text::named;
use pauseless_text::problem::{Problem, Problems, Sink};
use pauseless_text::quantity;
use pauseless_text::reader::{At, Section, did_you_mean};
use pauseless_text::section;
use pauseless_text::source::Source;
use pauseless_text::unit::Quantity;
use ports::Ports;
pub use wire::{Wire, parse_clock, write_clock};

named! {
    /// The role of a node, which decides the command that runs it.
    pub enum Role {
        /// A switch, which `pauseless switch` runs.
        Switch = "switch",
        /// A host, which `pauseless host` runs.
        Host = "host",
    }
}

impl Role {
    pub(crate) fn of(topology: &Topology, node: NodeId) -> Role {
        if topology.is_host(node) { Role::Host } else { Role::Switch }
    }
}

/// A node that can be started: everything written was checked, but for what this machine has.
#[derive(Debug)]
pub struct NodeFile {
    /// Whether the node is a switch or a host.
    pub role: Role,
    /// The scenario that describes the whole network.
    pub scenario: Scenario,
    /// The path of the scenario file.
    pub scenario_path: PathBuf,
    /// The configuration of the node.
    pub plan: NodePlan,
    /// The interface of each port.
    pub interfaces: Vec<String>,
    /// How frames travel between this node and its peers, and by which clock.
    pub wire: Wire,
    source: Source,
    /// Where the interfaces stand in it, for messages about this machine.
    places: Vec<Range<usize>>,
}

impl NodeFile {
    /// Reads the file at `path` for the command of `role`.
    pub fn read(path: &Path, role: Role) -> Result<NodeFile, Problems> {
        let source = Source::read_within(path, FILE_MAX)?;
        let refuse = |list| Problems::new(&source.file, &source.text, list);
        let table = parse_table(&source.text).map_err(refuse)?;
        let sink = Sink::default();
        let written = Written::read(Section::root(&sink, table));
        let folder = path.parent().unwrap_or(Path::new(""));
        let scenario = written.scenario.as_ref();
        let scenario_path = scenario.map(|at| folder.join(&at.value));
        let node = match scenario_path.as_deref() {
            // What is wrong with the scenario is shown in the scenario.
            Some(path) if path.is_file() => {
                let scenario = Scenario::read(path, &Overrides::default())?;
                written.resolve(scenario, role, &sink)
            }
            missing => {
                written.refuse_scenario(missing, &sink);
                None
            }
        };
        match node {
            Some((scenario, plan, ports)) if sink.is_empty() => Ok(NodeFile {
                role,
                scenario,
                scenario_path: scenario_path.unwrap_or_default(),
                plan,
                interfaces: ports.iter().map(|at| at.value.clone()).collect(),
                wire: written.wire,
                places: ports.into_iter().map(|at| at.place.span).collect(),
                source,
            }),
            _ => Err(refuse(sink.into_list())),
        }
    }

    /// Takes `pace` instead of the file's clock, if there is one, and makes sure that the clock and the
    /// slack go together.
    pub fn take_clock(&mut self, pace: Option<Pace>) -> Result<(), Problems> {
        self.wire.pace = pace.unwrap_or(self.wire.pace);
        let slack = self.wire.slack;
        match self.wire.pace {
            Pace::Elastic(tick) if slack < tick => {
                let message = format!(
                    "a slack of {} is less than a tick of the clock, {}: every port would lose capacity \
                     at every look",
                    slack.exact(),
                    tick.exact()
                );
                let help = format!("take slack = \"{}\" or more, or a finer clock", tick.exact());
                Err(Problems::of_file(&self.source.file, message, &help))
            }
            _ => Ok(()),
        }
    }

    /// What of the scenario this node leaves out, and what may come of it.
    pub fn remarks(&self) -> Vec<String> {
        let topology = &self.scenario.config.topology;
        let ports = topology.ports(self.plan.node).iter();
        let limit = Span::ps(self.tau().as_ps() / 100);
        let long = ports.filter(|port| port.delay > limit);
        let remark = |port: &Port| {
            format!(
                "the link to {} has a delay of {} in the scenario, which is not imitated: the wire has \
                 its own; write that one",
                topology.node(port.peer).name,
                port.delay.exact(),
            )
        };
        long.map(remark).collect()
    }

    /// The name of the node in the scenario.
    pub fn name(&self) -> &str {
        &self.plan.config.common().name
    }

    /// The feedback latency that the parameters were derived for, the least of those around this node.
    pub fn tau(&self) -> Span {
        let topology = &self.scenario.config.topology;
        let is_near = |node: NodeId, port: PortId| {
            node == self.plan.node || topology.port(node, port).peer == self.plan.node
        };
        let near = self.scenario.port_groups.iter().filter(|group| {
            let mut members = group.members.iter();
            members.any(|(node, port, _)| is_near(*node, *port))
        });
        near.map(|group| group.tau).min().unwrap_or(Span::ZERO)
    }

    /// The time of the largest frame on the slowest line of the node.
    pub fn frame(&self) -> Span {
        let ports = self.scenario.config.topology.ports(self.plan.node).iter();
        let flows = self.scenario.config.flows.iter();
        let largest = flows.map(|flow| flow.packet).max().unwrap_or_default();
        ports.map(|port| port.rate.tx_span(largest)).max().unwrap_or(Span::ZERO)
    }

    /// Points at the interface of `port`, which is not as it should be on this machine.
    pub fn problem_of_interface(&self, port: usize, message: String, help: &str) -> Problems {
        let problem = Problem::new(self.places[port].clone(), message);
        self.source.refuse(problem.help(help))
    }
}

section! {
    /// The file of one node.
    pub(crate) struct NodeKeys {
        /// The file of the network, relative to the folder of this one.
        scenario: String, within "a path", required "\"ring.toml\"";
        /// The name of the node in the scenario.
        node: String, within "the name of a node", required "\"S1\"";
    }
}

/// The file as it was written.
struct Written {
    scenario: Option<At<String>>,
    node: Option<At<String>>,
    ports: Ports,
    wire: Wire,
    addresses: Option<Addresses>,
    watchdog: Option<At<watchdog::Config>>,
}

impl Written {
    pub fn read(mut root: Section<'_>) -> Written {
        let keys = NodeKeys::read(&mut root);
        let has_ports = root.has("interfaces");
        let ports = root.table("interfaces").map(Ports::read);
        if !has_ports {
            root.missing_section("interfaces");
        }
        let written = Written {
            scenario: keys.scenario.given,
            node: keys.node.given,
            ports: ports.unwrap_or_default(),
            wire: root.table("wire").map_or(Wire::default(), Wire::read),
            addresses: root.table("addresses").map(Addresses::read),
            watchdog: root.table(WATCHDOG).map(read_watchdog),
        };
        root.finish();
        written
    }

    /// Says that the scenario is not there, if one was named.
    fn refuse_scenario(&self, path: Option<&Path>, sink: &Sink) {
        if let (Some(path), Some(at)) = (path, &self.scenario) {
            let message = format!("there is no file {}", path.display());
            let help = "the path is relative to the folder of this file";
            sink.push(at.place.problem(message).help(help));
        }
    }

    /// The node on the network of `scenario`, and the interface of each of its ports.
    fn resolve(
        &self,
        scenario: Scenario,
        role: Role,
        sink: &Sink,
    ) -> Option<(Scenario, NodePlan, Vec<At<String>>)> {
        let topology = &scenario.config.topology;
        let node = self.node(topology, role, sink)?;
        let options = Options { envelope: self.wire.envelope, slack: self.wire.slack };
        let plans = plan::nodes(&scenario.config, &options).map_err(|refused| {
            let place = &self
                .scenario
                .as_ref()
                .expect("a node without a scenario was refused before")
                .place;
            for reason in refused.reasons {
                let problem = place.problem("the real wire cannot do all of this scenario");
                sink.push(problem.help(reason));
            }
        });
        let mut plan = plans.ok()?.swap_remove(node.index());
        plan.heal();
        let neighbours = plan.config.common().neighbours.clone();
        let interfaces = self.ports.resolve(&topology.node(node).name, &neighbours, sink);
        match &mut plan.config {
            NodeConfig::Switch(config) => {
                if let Some(addresses) = &self.addresses {
                    let more = addresses.forwarding(&scenario.config, node, sink);
                    config.forwarding.extend(more);
                }
                if let Some(watchdog) = &self.watchdog {
                    let mut lanes = config.switch.ports.iter().flat_map(|port| port.lanes.iter());
                    if !lanes.any(|lane| matches!(lane.egress, FlowControl::Pfc(_))) {
                        let problem = watchdog.place.problem("there is no PFC to watch");
                        sink.push(problem.help("leave [watchdog] out"));
                    }
                    config.watchdog = Some(watchdog.value);
                }
            }
            NodeConfig::Host(_) => {
                let addresses = self.addresses.as_ref().map(|it| &it.place);
                let watchdog = self.watchdog.as_ref().map(|it| &it.place);
                for place in addresses.into_iter().chain(watchdog) {
                    let problem = place.problem("only switches have this, and this is a host");
                    sink.push(problem.help("leave it out"));
                }
            }
        }
        Some((scenario, plan, interfaces?))
    }

    /// The node that is named, if it is one for `role`.
    fn node(&self, topology: &Topology, role: Role, sink: &Sink) -> Option<NodeId> {
        let at = self.node.as_ref()?;
        let name = &at.value;
        let alike = match role {
            Role::Switch => topology.switches(),
            Role::Host => topology.hosts(),
        };
        let names = Vec::from_iter(alike.iter().map(|id| topology.node(*id).name.as_str()));
        let expected = format!("a {} of the scenario: {}", role.name(), some_of(&names));
        let Some(node) = topology.node_named(name) else {
            let problem = at.place.problem(format!("the scenario has no node {name}"));
            let help = did_you_mean(name, names);
            sink.push(problem.expected(expected).help(help));
            return None;
        };
        let found = Role::of(topology, node);
        if found != role {
            let message = format!("{name} is a {}, not a {}", found.name(), role.name());
            let help = format!("start this file with `pauseless {}`", found.name());
            sink.push(at.place.problem(message).expected(expected).help(help));
            return None;
        }
        Some(node)
    }
}

/// Names with commas between, as many as one reads.
fn some_of(names: &[&str]) -> String {
    quantity::some(names.iter(), 12)
}
