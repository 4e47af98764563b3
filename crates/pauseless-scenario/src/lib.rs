#![doc = include_str!("../README.md")]
//! Reading has two steps. First every section is read into what was written, key by key, each
//! value with its place in the file; then what was written is resolved against the fabric.
//! Problems are collected throughout and reported all at once. [`ScenarioFile`] is a scenario that
//! a program fills in, and [`outside`] adds kinds of your own.

pub(crate) mod check;
pub(crate) mod check_only;
pub(crate) mod classes;
pub mod congestion;
mod cycle_aware;
pub mod describe;
mod entropy;
pub mod events;
pub mod fabric_file;
mod filled;
pub mod flow_control;
pub mod flows;
pub(crate) mod lanes;
mod lifetime;
pub mod load_balancing;
pub mod memory;
pub mod mitigation;
mod observe;
pub mod outside;
pub mod patch;
mod port_group;
mod resolve;
mod routes;
pub mod shape;
pub mod starter;
pub mod steps;
pub mod switch;
pub mod traffic;
pub mod transport;
pub mod vary;
pub mod verdict;
mod weights;
mod wire_loss;

use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::Arc;

use pauseless_core::class_map::{ClassMap, LANE_COUNT};
use pauseless_core::id::{Class, FlowId};
use pauseless_core::switch::Discipline;
use pauseless_core::unit::{Bytes, Span, Time};
use pauseless_fabric::failure::Failures;
use pauseless_fabric::generate::{LinkSpecs, Shape};
use pauseless_fabric::routing::{Groups, Routes, Routing};
use pauseless_fabric::topology::Topology;
use pauseless_sim::Config;
use pauseless_sim::change::Changes;
use pauseless_sim::config::{
    Flow, Follow, Hardware, LoadBalancing, Mitigation, Probes, Receiver, Replay, WireLoss,
};
use toml::de::DeTable;

pub use pauseless_network::{Aim, custom, hosts, pattern, routing, topology};

pub use filled::ScenarioFile;
pub use filled::chosen;
pub use pauseless_text::problem::{Problem, Problems};
pub use pauseless_text::reader::did_you_mean;
pub use port_group::PortGroup;
pub use verdict::StopOn;

use check_only::CheckOnly;
use classes::{ClassRule, Classes};
use flow_control::Resolver;
use flows::{Limits, Plan, Planned, Planner, Timing, Ways};
use pauseless_text::declare::{Declared, Filled, Key};
use pauseless_text::foreign;
use pauseless_text::problem::Sink;
use pauseless_text::section;
use pauseless_text::source::Source;

pub use observe::{Probe, ProbedFlows, ReceiverKeys};
pub(crate) use pauseless_text::reader::At;
use pauseless_text::reader::Section;
use routing::Forwarding;
use switch::Switches;
use topology::{BuiltTopology, Network};
use traffic::Traffic;
use verdict::Verdict;
use weights::Weights;
use wire_loss::LossyPorts;

/// A scenario that can be run: everything typed was checked, everything left out was derived.
#[derive(Debug)]
pub struct Scenario {
    /// The file's stem, or the name of an embedded scenario.
    pub name: String,
    /// One line that says what it shows.
    pub title: String,
    /// The configuration that the simulator runs.
    pub config: Config,
    /// Bounds that the scenario violates on purpose: do not trust the result before reading them.
    pub warnings: Vec<String>,
    /// The parameters of all ports, those that are alike together.
    pub port_groups: Vec<PortGroup>,
    /// Whether ports on and before cycles have thresholds of their own.
    pub is_cycle_aware: bool,
    parts: Box<Parts>,
}

/// What the command line says instead of the file.
#[derive(Clone, Copy, Debug, Default)]
pub struct Overrides {
    /// The seed, instead of `seed`.
    pub seed: Option<u64>,
    /// The simulated time, instead of `duration`.
    pub duration: Option<Span>,
    /// How packets wait in switches, instead of `switch.discipline`.
    pub discipline: Option<Discipline>,
    /// The congestion control, instead of `congestion_control.kind`, with the defaults of that
    /// scheme.
    pub congestion: Option<congestion::Scheme>,
    /// The findings that end the run, instead of `verdict.stop_on`.
    pub stop_on: Option<StopOn>,
    /// Whether thresholds follow cycles, instead of `flow_control.cycle_aware`.
    pub cycle_aware: Option<bool>,
    /// Record where pauses come from, whatever `provenance.record` says.
    pub provenance: bool,
}

/// Far more than anybody writes by hand; lists of flows are long.
pub const FILE_MAX: u64 = 256 << 20;
/// From a minimum Ethernet frame to more than any jumbo frame.
pub const FRAMES: RangeInclusive<Bytes> = Bytes::new(64)..=Bytes::mb(1);

impl Scenario {
    /// Reads the file at `path`; the scenario is named after it.
    pub fn read(path: &Path, overrides: &Overrides) -> Result<Scenario, Problems> {
        Scenario::read_source(&Source::read_within(path, FILE_MAX)?, overrides)
    }

    /// Reads a file whose text is known already, since a pipe can be read only once.
    pub fn read_source(source: &Source, overrides: &Overrides) -> Result<Scenario, Problems> {
        foreign::refuse(&source.file, &source.text)?;
        foreign::refuse_json(&source.file, &source.text)?;
        parse_file(&source.file, &source.stem(), &source.text, overrides)
    }

    /// Reads `text`, which messages call `name`.
    pub fn parse(name: &str, text: &str, overrides: &Overrides) -> Result<Scenario, Problems> {
        parse_file(name, name, text, overrides)
    }

    /// The same scenario as a file in which nothing is left out, to be written next to results.
    pub fn resolved(&self) -> String {
        resolve::write(self)
    }
}

/// Reads the text of `file`, of which the results are called `name`.
pub fn parse_file(
    file: &str,
    name: &str,
    text: &str,
    overrides: &Overrides,
) -> Result<Scenario, Problems> {
    let refuse = |list: Vec<Problem>| Problems::new(file, text, list);
    if text.len() as u64 > FILE_MAX {
        let message = format!("larger than {} MiB, the limit", FILE_MAX >> 20);
        return Err(Problems::of_file(file, message, "is this the right file?"));
    }
    let table = parse_table(text).map_err(refuse)?;
    let sink = Sink::default();
    let root = Section::root(&sink, table);
    if !root.has(topology::NAME) && ["axis", "scenario"].iter().any(|key| root.has(key)) {
        let problem = root.place.problem("this is a campaign, and no scenario");
        return Err(refuse(vec![problem.help("make its runs with `pauseless sweep`")]));
    }
    let written = Written::read(root, &sink, overrides, Aim::Run, folder_of(file));
    written.check_only.refuse_run(&sink);
    match written.resolve(name, &sink) {
        Some(scenario) if sink.is_empty() => Ok(scenario),
        _ => Err(refuse(sink.into_list())),
    }
}

/// The folder of a file, which paths in it are relative to.
fn folder_of(file: &str) -> &Path {
    Path::new(file).parent().unwrap_or(Path::new(""))
}

/// The tables of a TOML text, or all that is wrong with its syntax.
pub fn parse_table(text: &str) -> Result<DeTable<'_>, Vec<Problem>> {
    let (table, errors) = DeTable::parse_recoverable(text);
    if errors.is_empty() {
        return Ok(table.into_inner());
    }
    let problems = errors.iter().map(|error| {
        let span = error.span().unwrap_or(0..0);
        Problem::new(span, error.message())
    });
    Err(problems.collect())
}

/// What the resolved file says and a run does not need to know.
#[derive(Debug)]
struct Parts {
    general: General,
    /// The generator and its links; `None` for a custom fabric.
    shape: Option<(Arc<dyn Shape>, LinkSpecs)>,
    /// The topology before the failures.
    healthy: Topology,
    failed: Failures,
    routing: Rules,
    switches: Switches,
    classes: ClassRule,
    is_unsafe: bool,
    congestion: congestion::Written,
    transport: transport::Setting,
    timing: Timing,
    /// The flows that no traffic made.
    plans: Vec<(FlowId, Plan)>,
    traffic: Vec<Traffic>,
    probe: Option<Probe>,
    load_balancing: load_balancing::Setting,
    weights: weights::Setting,
    events: events::Setting,
}

/// The routes of a run: a rule, or tables.
#[derive(Debug)]
enum Rules {
    Rule(Routing),
    /// The tables of the switches, of which this says which group is whose.
    Tables(Groups),
}

impl Rules {
    fn new(forwarding: &Forwarding, groups: Groups) -> Rules {
        match forwarding.rule() {
            Some(rule) => Rules::Rule(rule),
            None => Rules::Tables(groups),
        }
    }
}

section! {
    /// The keys outside all sections.
    pub struct General {
        /// One line that says what the scenario shows.
        title: String, within "one line", derived "the name of the file";
        /// The seed of everything random: start offsets, jitter, hashes, permutations, seeded routes.
        seed: u64, default 1;
        /// How long to simulate.
        duration: Span, within Span::ps(1)..=*flows::TIMES.end(), required "\"100 ms\"";
        /// The largest frame, and the packet size of flows.
        mtu: Bytes, within FRAMES, default Bytes::new(1_500);
        /// Bytes that every frame takes on the wire beyond its size; `"20 B"` counts preamble and gap.
        wire_overhead: Bytes, within Bytes::ZERO..=*FRAMES.end(), default Bytes::ZERO;
    }
}

impl General {
    fn read_from(root: &mut Section<'_>, overrides: &Overrides, aim: Aim) -> General {
        let needs_duration = aim == Aim::Run && overrides.duration.is_none();
        let mut general =
            if needs_duration { General::read(root) } else { root.leniently(General::read) };
        if let Some(seed) = overrides.seed {
            general.seed = Filled::new(seed);
        }
        if let Some(duration) = overrides.duration {
            general.duration = Key::of(duration);
        }
        general
    }

    fn duration(&self) -> Span {
        self.duration.or(Span::ps(1))
    }
}

/// All sections as they were written, before anything is held against the fabric.
struct Written {
    general: General,
    fabric: Option<BuiltTopology>,
    routing: Forwarding,
    check_only: CheckOnly,
    classes: Option<Classes>,
    switches: Switches,
    congestion: congestion::Written,
    transport: transport::Setting,
    control: Option<flow_control::Setting>,
    flows: flows::Flows,
    receivers: Vec<ReceiverKeys>,
    wire_losses: Vec<LossyPorts>,
    mitigation: mitigation::Setting,
    probe: Option<Probe>,
    load_balancing: load_balancing::Setting,
    weights: weights::Setting,
    events: events::Setting,
    is_tracing: bool,
    verdict: Verdict,
}

impl Written {
    fn read(
        mut root: Section<'_>,
        sink: &Sink,
        overrides: &Overrides,
        aim: Aim,
        folder: &Path,
    ) -> Written {
        let general = General::read_from(&mut root, overrides, aim);
        let network = Network::read(&mut root);
        let fabric = network.and_then(|network| network.resolve(aim, sink));
        let context = routing::Context { seed: general.seed.value, fabric: fabric.as_ref(), sink };
        let rule = routing::Rule::read(&mut root);
        let routing = rule.value.resolve(&rule.place, context);
        let check_only = CheckOnly::read(&mut root, fabric.as_ref(), sink);
        let classes = Classes::read(&mut root);
        let is_any_class = aim == Aim::Check && !root.has(switch::SECTION);
        let mut switches = Switches::read(&mut root);
        switches.discipline = overrides.discipline.unwrap_or(switches.discipline);
        let mut congestion = congestion::Written::read(&mut root, overrides.congestion);
        let transport = transport::Setting::read(&mut root, &mut congestion);
        congestion.claim_class(&mut switches, &root);
        let mut control = read_control(&mut root, &switches, aim);
        if let (Some(control), Some(is_aware)) = (&mut control, overrides.cycle_aware) {
            control.make_cycle_aware(is_aware, &switches, sink);
        }
        let limits = Limits {
            mtu: general.mtu.value,
            class_count: if is_any_class { LANE_COUNT as u8 } else { switches.class_count },
            aim,
            folder,
            topology: fabric.as_ref().map(|fabric| &fabric.topology),
            sink,
        };
        let flows = flows::Flows::read(&mut root, limits);
        let receivers = ReceiverKeys::read_all(&mut root);
        let wire_losses = LossyPorts::read_all(&mut root);
        let mitigation = mitigation::Setting::read(&mut root, switches.lane_count());
        let lane_count = switches.lane_count();
        let load_balancing = load_balancing::Setting::read(&mut root, lane_count);
        let weights = weights::Setting::read(&mut root);
        let events = events::Setting::read(&mut root);
        let probe = Probe::read_from(&mut root);
        let is_tracing = observe::read_provenance(&mut root) || overrides.provenance;
        let mut verdict = Verdict::read_from(&mut root);
        if let Some(stop_on) = overrides.stop_on {
            verdict.stop_on = Key::of(stop_on);
        }
        root.finish();
        Written {
            general,
            fabric,
            routing,
            check_only,
            classes,
            switches,
            congestion,
            transport,
            control,
            flows,
            receivers,
            wire_losses,
            mitigation,
            probe,
            load_balancing,
            weights,
            events,
            is_tracing,
            verdict,
        }
    }

    /// The parameters of all ports.
    fn control(&self, fabric: &BuiltTopology, sink: &Sink) -> Option<flow_control::Resolved> {
        let hosts = fabric.topology.host_count();
        fabric.check_size(sink, hosts, u64::from(self.switches.lane_count()))?;
        let resolver = Resolver {
            setting: self.control.as_ref()?,
            switches: &self.switches,
            mtu: self.general.mtu.value,
            wire_jitter: self.flows.timing.wire_jitter.value,
            line_jitter: self.flows.timing.line_jitter.value,
            wire_overhead: self.general.wire_overhead.value,
            clocks: self.flows.timing.clocks(),
            sink,
        };
        resolver.resolve(&fabric.topology)
    }

    /// How much room cycle-aware thresholds leave, if they are wanted.
    fn cycle_margin(&self) -> Option<f64> {
        self.control.as_ref().and_then(|it| it.cycle_margin)
    }

    /// How classes change from hop to hop.
    fn class_map(&self, topology: &Topology, rule: Option<Routing>, sink: &Sink) -> ClassMap {
        let classes = self.classes.as_ref();
        classes.map(|classes| classes.resolve(topology, rule, sink)).unwrap_or(ClassMap::Same)
    }

    /// The classes of a run: the switches must have all that the flows can get into.
    fn run_classes(&self, fabric: &BuiltTopology, plans: &[Plan], sink: &Sink) -> ClassMap {
        let mut map = self.class_map(&fabric.topology, self.routing.rule(), sink);
        if let Some(Classes { place, .. }) = &self.classes {
            classes::check_count(&map, place, plans, self.switches.class_count, sink);
        }
        if self.switches.has_feedback_class {
            map.keep(Class(self.switches.class_count));
        }
        map
    }

    /// What is done about storms and deadlocks.
    fn mitigation(
        &self,
        fabric: &BuiltTopology,
        control: &mut flow_control::Resolved,
        sink: &Sink,
    ) -> Mitigation {
        let warning = self.mitigation.warning(&fabric.topology, &control.table);
        control.warnings.extend(warning);
        let topology = &fabric.topology;
        self.mitigation.resolve(topology, &control.table, sink)
    }

    /// What happens to the network during the run.
    fn changes(
        &self,
        fabric: &BuiltTopology,
        routes: &Routes,
        weights: &Weights,
        sink: &Sink,
    ) -> Changes {
        let mut changes = self.events.resolve(events::Context {
            topology: &fabric.topology,
            forwarding: &self.routing,
            routes,
            seed: self.general.seed.value,
            duration: self.general.duration(),
            sink,
        });
        weights::apply_to_changes(weights, &mut changes);
        changes
    }

    /// The losses of wires by themselves, as the simulator takes them.
    fn wire_loss(&self, fabric: &BuiltTopology, sink: &Sink) -> WireLoss {
        let share = self.flows.timing.wire_loss.value;
        wire_loss::resolve(share, &self.wire_losses, &fabric.topology, sink)
    }

    /// How wires and switches work in detail.
    fn hardware(&self) -> Hardware {
        Hardware {
            control_frame: self.switches.control_frame,
            ties: self.flows.timing.ties.value.0,
            clocks: self.flows.timing.clocks(),
            line_jitter: self.flows.timing.line_jitter.value,
        }
    }

    /// Holds everything against the fabric; `None` if something was reported.
    fn resolve(mut self, name: &str, sink: &Sink) -> Option<Scenario> {
        let fabric = self.fabric.take()?;
        let (seed, duration) = (self.general.seed.value, self.general.duration());
        let mut control = self.control(&fabric, sink);
        let mitigate = |control| self.mitigation(&fabric, control, sink);
        let mitigation = control.as_mut().map(mitigate);
        let planner = Planner {
            fabric: &fabric,
            seed,
            sink,
            until: Some(duration),
            ways: Ways::new(&self.routing, self.classes.as_ref()),
        };
        let Planned { plans, follows } = planner.plans(&self.flows);
        let classes = self.run_classes(&fabric, &plans, sink);
        let receivers = observe::receivers(&fabric, &self.receivers, sink);
        let probes = self.probe.as_ref();
        let probes = probes.map(|probe| probe.probes(&fabric.topology, sink, duration, &plans));
        let mut routing = planner.route(self.routing.builder(&fabric.topology, []), &plans)?;
        let weights = self.weights.resolve(&fabric.topology, sink);
        weights::apply(&weights, &mut routing.routes.table);
        if !sink.is_empty() {
            return None;
        }
        let mut control = control?;
        if let Some(margin) = self.cycle_margin() {
            self.apply_cycle_aware(&fabric, &mut control, classes.clone(), margin)?;
        }
        let mut flows = routing.flows(&plans, &self.flows.timing, seed)?;
        let mut answers = congestion::Answers {
            written: &mut self.congestion,
            transport: &self.transport,
            switches: &self.switches,
            planner: &planner,
            routing: &routing,
        };
        answers.arrange(&plans, &mut flows)?;
        let changes = self.changes(&fabric, &routing.routes, &weights, sink);
        let load_balancing = self.load_balancing.resolve(load_balancing::Context {
            topology: &fabric.topology,
            ingress: &control.table,
            classes: &classes,
            flows: &flows,
            conflict: self.transport.conflict(&self.congestion.resolved().control),
            sink,
        });
        let found = Found {
            load_balancing,
            wire_loss: self.wire_loss(&fabric, sink),
            changes,
            routes: routing.routes,
            mitigation: mitigation?,
            probes: probes.unwrap_or_default(),
            fabric,
            control,
            classes,
            plans,
            flows,
            follows,
            receivers,
        };
        Some(self.into_scenario(name, found))
    }

    fn into_scenario(self, name: &str, found: Found) -> Scenario {
        let BuiltTopology { topology, healthy, shape, failed, .. } = found.fabric;
        let config = Config {
            topology,
            classes: found.classes,
            discipline: self.switches.discipline,
            polling: self.switches.polling,
            scheduler: self.switches.scheduler,
            ingress: found.control.table,
            processing: self.switches.processing,
            processing_jitter: self.switches.processing_jitter,
            wire_jitter: self.flows.timing.wire_jitter.value,
            wire_overhead: self.general.wire_overhead.value,
            hardware: self.hardware(),
            congestion: self.congestion.resolved(),
            transport: self.transport.resolved(),
            wire_loss: found.wire_loss,
            load_balancing: found.load_balancing,
            changes: found.changes,
            follows: found.follows,
            flows: found.flows,
            table: found.routes.table,
            receivers: found.receivers,
            duration: self.general.duration(),
            stop: self.verdict.stop(self.general.duration()),
            starvation_permille: self.verdict.starvation_share.value.0,
            mitigation: found.mitigation,
            is_tracing: self.is_tracing,
            replay: Replay::Off,
            probes: found.probes,
            seed: self.general.seed.value,
        };
        let is_cycle_aware = self.cycle_margin().is_some();
        let plans = (0..).map(FlowId).zip(found.plans);
        let parts = Parts {
            is_unsafe: self.control.is_some_and(|control| control.is_unsafe),
            congestion: self.congestion,
            transport: self.transport,
            timing: self.flows.timing,
            traffic: self.flows.traffic,
            probe: self.probe,
            load_balancing: self.load_balancing,
            weights: self.weights,
            events: self.events,
            general: self.general,
            shape,
            healthy,
            failed,
            routing: Rules::new(&self.routing, found.routes.groups),
            switches: self.switches,
            classes: self.classes.map_or(ClassRule::Same, |it| it.rule),
            plans: plans.filter(|(_, plan)| !plan.is_made).collect(),
        };
        let mut scenario = Scenario {
            name: name.to_string(),
            title: parts.general.title.get().cloned().unwrap_or_else(|| name.to_string()),
            warnings: found.control.warnings,
            port_groups: found.control.groups,
            is_cycle_aware,
            config,
            parts: Box::new(parts),
        };
        scenario.add_warnings();
        scenario
    }
}

/// What came of what was written.
struct Found {
    fabric: BuiltTopology,
    control: flow_control::Resolved,
    classes: ClassMap,
    routes: Routes,
    plans: Vec<Plan>,
    flows: Vec<Flow>,
    follows: Vec<Follow>,
    receivers: Vec<Receiver>,
    wire_loss: WireLoss,
    load_balancing: Vec<LoadBalancing>,
    changes: Changes,
    mitigation: Mitigation,
    probes: Probes,
}

/// Reads `[flow_control]`, which `check` can do without.
fn read_control(
    root: &mut Section<'_>,
    switches: &Switches,
    aim: Aim,
) -> Option<flow_control::Setting> {
    match aim {
        Aim::Run => flow_control::Setting::read(root, switches),
        Aim::Check if !root.has(flow_control::SECTION) => {
            root.take(flow_control::SECTION);
            None
        }
        Aim::Check => {
            let mut switches = switches.clone();
            switches.buffer.is_written = true;
            flow_control::Setting::read(root, &switches)
        }
    }
}

impl Scenario {
    /// Warns of what is legal and hardly meant.
    fn add_warnings(&mut self) {
        let Scenario { config, parts, .. } = self;
        let end = Time::ZERO + config.duration;
        let late = config.flows.iter().filter(|flow| flow.start >= end);
        let late =
            late.map(|flow| format!("flow {}: it starts after the end of the run", flow.name));
        let traffic = parts.traffic.iter().flat_map(|traffic| traffic.warnings(config));
        let warnings = observe::provenance_warning(config).into_iter().chain(late).chain(traffic);
        let warnings = warnings.chain(transport::warning(config)).chain(entropy::warning(config));
        let warnings = warnings.chain(parts.events.warnings(&config.changes, config.duration));
        self.warnings.extend(warnings.chain(lifetime::warnings(config)));
    }
}
