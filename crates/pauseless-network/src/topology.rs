//! The section `[topology]`: nodes and links, and which of them have failed.

mod failures;
pub mod kinds;

use std::ops::RangeInclusive;
use std::sync::Arc;

use pauseless_core::id::NodeId;
use pauseless_core::unit::{Rate, Span};
use pauseless_fabric::failure::Failures;
use pauseless_fabric::generate::{LinkSpecs, Shape, SizeError};
use pauseless_fabric::topology::{LinkSpec, Topology};

use crate::Aim;
pub use crate::custom::Custom;
use pauseless_fabric::fabric::{Device, Names};
use pauseless_text::declare::{
    At, Declared, Entry, File, Info, Key, List, Place, Section, Written,
};
use pauseless_text::problem::Sink;
use pauseless_text::quantity::RATES;
use pauseless_text::reader::did_you_mean;
use pauseless_text::section;

pub use failures::Pair;
use failures::RandomFailures;
pub use failures::find_link;
pub use kinds::register_topology;
pub use kinds::{Generated, Layout, kinds};

/// The name of the section.
pub const NAME: &str = "topology";

/// Long enough for any cable, short enough that no sum of delays overflows.
pub const DELAYS: RangeInclusive<Span> = Span::ZERO..=Span::s(1);
/// Table entries, or pairs of ports, above which a run would not fit the memory of a workstation.
const CELLS_MAX: u64 = 1 << 28;
/// The most hosts: more than any fabric has; each may need a row in every switch.
const HOSTS_MAX: u64 = 1 << 18;

section! {
    /// The network: its kind with its size, its links, and what of it is down.
    pub struct Common given is_custom: bool = false, {
        /// The rate of all links; in a `custom` topology of those that have none of their own.
        rate: Rate, within RATES, needed |keys| !keys.is_custom, "\"10 Gbps\"",
            derived "required, unless all links of a `custom` topology have one";
        /// The propagation delay of all links; in a `custom` topology of those that have none of
        /// their own.
        delay: Span, within DELAYS, needed |keys| !keys.is_custom, "\"1 us\"",
            derived "required, unless all links of a `custom` topology have one";
        /// The rate of the links between a host and its switch.
        host_rate: Rate, within RATES, derived "`rate`";
        /// The propagation delay of the links between a host and its switch.
        host_delay: Span, within DELAYS, derived "`delay`";
        /// Links that are down, each by its two nodes: `[["A1", "C2"]]`; name a pair twice to fail two
        /// parallel links, or write `["A1", "C2#2"]` for the second one.
        failed_links: List<Pair>, derived "`[]`";
        /// Switches that are down; `["C2"]` is all links of `C2`.
        failed_switches: List<String>, within "a list of strings", derived "`[]`";
        /// What fails at random; what is listed fails as well.
        random_failures: RandomFailures, derived "none";
    }
}

/// `[topology]` as it was written.
#[derive(Clone, Debug)]
pub struct Network {
    /// The links, and what is down.
    pub common: Common,
    /// How nodes are joined; `None` if its keys are wrong, which was reported.
    pub layout: Option<Layout>,
}

impl Written for Network {
    fn entries(&self) -> Vec<Entry> {
        let layout = self.layout.as_ref();
        let layout = layout.map_or(Vec::new(), |layout| kinds().entries(layout));
        [layout, self.common.entries()].concat()
    }
}

impl Network {
    /// Reads `[topology]`; `None` if not even its kind is known.
    pub fn read(root: &mut Section<'_>) -> Option<Network> {
        let is_written = root.has(NAME);
        let Some(mut section) = root.table(NAME) else {
            if !is_written {
                root.missing_section(NAME);
            }
            return None;
        };
        let kind = kinds().take(&mut section)?.value;
        let layout = (kind.read)(&mut section);
        let mut common =
            Common { is_custom: matches!(layout, Some(Layout::Custom(_))), ..Common::default() };
        common.fill(&mut section);
        if let Some(random) = common.random_failures.get() {
            random.check(&section);
        }
        section.finish();
        Some(Network { common, layout })
    }

    /// The fabric, or reports.
    pub fn resolve(&self, aim: Aim, sink: &Sink) -> Option<BuiltTopology> {
        let specs = self.common.links();
        let place = self.common.place.clone();
        let (healthy, names, shape) = match self.layout.as_ref()? {
            Layout::Custom(custom) => {
                let (topology, names) = custom.build(&self.common, sink)?;
                (topology, names, None)
            }
            Layout::Generated(generated) => {
                generated.check_hosts(aim, &place, sink)?;
                let topology = generated.build(specs, &place, sink)?;
                let shape = generated.shape.clone();
                (topology, Names::default(), Some((shape, specs?)))
            }
        };
        let failed = self.common.failures(&healthy, sink);
        Some(BuiltTopology {
            topology: failed.apply(&healthy),
            names,
            healthy,
            shape,
            failed,
            place,
            aim,
        })
    }
}

/// The whole section, for documents and schemas.
pub fn info() -> Info {
    Info { variants: Some(kinds().describe()), ..Common::info() }
}

impl Common {
    /// The keys of links that all have these rates and delays, and of which none is down.
    pub fn of_links(links: LinkSpecs) -> Common {
        Common {
            rate: Key::of(links.switch.rate),
            delay: Key::of(links.switch.delay),
            host_rate: Key::of(links.host.rate),
            host_delay: Key::of(links.host.delay),
            ..Common::default()
        }
    }

    fn links(&self) -> Option<LinkSpecs> {
        let (rate, delay) = self.rate.copied().zip(self.delay.copied())?;
        let host = LinkSpec { rate: self.host_rate.or(rate), delay: self.host_delay.or(delay) };
        let switch = LinkSpec { rate, delay };
        Some(LinkSpecs { host, switch })
    }
}

impl Generated {
    /// Reports and returns `None` if it has too many hosts.
    fn check_hosts(&self, aim: Aim, section: &Place, sink: &Sink) -> Option<()> {
        let hosts = self.shape.size().hosts;
        let hosts_max = match aim {
            Aim::Run => CELLS_MAX.isqrt(),
            Aim::Check => HOSTS_MAX,
        };
        if hosts <= hosts_max {
            return Some(());
        }
        let problem = section.problem(format!("too large: it would have {hosts} hosts"));
        sink.push(problem.help("make the fabric smaller"));
        None
    }

    /// The fabric before any failure. Its size is judged even if no link can be made.
    fn build(&self, specs: Option<LinkSpecs>, section: &Place, sink: &Sink) -> Option<Topology> {
        let any = LinkSpec { rate: *RATES.start(), delay: Span::ZERO };
        let built = self.shape.build(specs.unwrap_or(LinkSpecs::same(any)));
        let report = |error: SizeError| {
            let place = self.places.iter().find(|(key, _)| Some(*key) == error.field());
            let place = place.map_or(section, |(_, place)| place);
            let problem = place.problem(error.to_string());
            sink.push(match error.field() {
                Some(_) => problem,
                None => problem.help("make the fabric smaller"),
            });
        };
        built.map_err(report).ok()
    }
}

/// The fabric of a scenario, and what it was made from.
#[derive(Clone, Debug)]
pub struct BuiltTopology {
    /// The topology that is left after the failures.
    pub topology: Topology,
    /// The topology before the failures.
    pub healthy: Topology,
    /// The generator and its links; `None` for a custom fabric.
    pub shape: Option<(Arc<dyn Shape>, LinkSpecs)>,
    /// The links of the healthy fabric that are down.
    pub failed: Failures,
    /// What its own tools call its nodes, and their ports before the failures.
    pub names: Names,
    /// The place at which the section begins.
    pub place: Place,
    aim: Aim,
}

/// Writes `[topology]` with nothing left out: everything that is down is listed. `shape` is the
/// generator with its links, if the fabric has one.
pub fn write(
    file: &mut File,
    shape: Option<&(Arc<dyn Shape>, LinkSpecs)>,
    healthy: &Topology,
    failed: &Failures,
) {
    let down = failed.ends(healthy);
    let down = down.map(|(ends, number)| At::of(Pair::of_link(ends, number)));
    let (common, layout) = match shape {
        None => {
            let common = Common::default();
            let custom = Custom::of(healthy, &common, &Names::default());
            (common, Layout::Custom(custom))
        }
        Some((shape, links)) => {
            let generated = Generated { shape: shape.clone(), places: Vec::new() };
            (Common::of_links(*links), Layout::Generated(generated))
        }
    };
    let network = Network {
        common: Common { failed_links: Key::of(down.collect()), ..common },
        layout: Some(layout),
    };
    file.table(NAME, &network);
}

impl BuiltTopology {
    /// What its own tools call the nodes and ports that are left: ports are numbered anew when
    /// links fail.
    pub fn names_left(&self) -> Names {
        let nodes = (0..self.healthy.nodes().len()).map(|node| NodeId(node as u32));
        let devices = nodes.filter_map(|node| {
            let device = self.names.device(node)?;
            let ports = device.ports.iter().zip(self.healthy.ports(node));
            let left = ports.filter(|(_, port)| !self.failed.contains(port.link));
            Some(Device { ports: left.map(|(name, _)| name.clone()).collect(), ..device.clone() })
        });
        Names::new(devices.collect())
    }

    /// Reports and returns `None` if `classes` and `groups` make the run too large for memory.
    pub fn check_size(&self, sink: &Sink, group_count: usize, classes: u64) -> Option<()> {
        let nodes = self.topology.nodes().len() as u64;
        let entries = nodes * group_count as u64;
        let switches = self.topology.switches().iter();
        let pairs = switches.map(|switch| (self.topology.ports(*switch).len() as u64).pow(2));
        let pairs = pairs.sum::<u64>() * classes;
        let cells = match self.aim {
            Aim::Run => entries.max(pairs),
            // Ways are shared where routes are, and nothing is kept per pair of ports.
            Aim::Check => 0,
        };
        if cells <= CELLS_MAX {
            return Some(());
        }
        let problem = self.place.problem(format!(
            "too large: {nodes} nodes with {group_count} destinations need {cells} table cells"
        ));
        sink.push(problem.expected(format!("at most {CELLS_MAX}")).help("make the fabric smaller"));
        None
    }

    /// The node called `name`, or a report.
    pub fn node(&self, sink: &Sink, name: &At<String>) -> Option<NodeId> {
        find_node(&self.topology, sink, name)
    }

    /// The host called `name`, or a report.
    pub fn host(&self, sink: &Sink, name: &At<String>) -> Option<NodeId> {
        let node = self.node(sink, name)?;
        if self.topology.is_host(node) {
            return Some(node);
        }
        sink.push(name.place.problem(format!("{} is a switch", name.value)).expected("a host"));
        None
    }
}

/// The node of `topology` called `name`, or a report.
pub fn find_node(topology: &Topology, sink: &Sink, name: &At<String>) -> Option<NodeId> {
    let found = topology.node_named(&name.value);
    if found.is_none() {
        let problem = name.place.problem(format!("there is no node {:?}", name.value));
        let names = topology.nodes().iter().map(|node| node.name.as_str());
        sink.push(problem.help(did_you_mean(&name.value, names)));
    }
    found
}

/// Whether a link between the two is down.
pub fn has_failed(fabric: &BuiltTopology, a: &str, b: &str) -> bool {
    let mut ends = fabric.failed.ends(&fabric.healthy);
    ends.any(|(ends, _)| ends == [a, b] || ends == [b, a])
}
