//! Cycle-aware thresholds for people, for programs and for `run`.

use std::fmt::Write;

use pauseless_core::flow_control::FlowControl;
use pauseless_core::id::{NodeId, PortId};
use pauseless_core::unit::Bytes;

use super::cycle_aware::{CyclePlan, CycleSet, CycleSwitch, FailureRecord};
use super::text::table;
use super::{Scheme, Set};
use pauseless_fabric::cycle_aware::Component;
use pauseless_fabric::fabric::Fabric;
use pauseless_scenario::flow_control;
use pauseless_text::file::File;
use pauseless_text::quantity::{bytes, plural, some};
use pauseless_text::records;

/// What was found and what to set.
pub fn report(fabric: &Fabric, plan: &CyclePlan) -> String {
    let mut text = String::from("Cycle-aware thresholds, for output-queued switches\n");
    if plan.components.is_empty() {
        let when = match plan.failures {
            None => String::new(),
            Some(failures) => {
                format!(", nor after any of {}", plural(failures.tried as u64, "single failure"))
            }
        };
        let _ = writeln!(
            text,
            "  No buffers can wait for each other in a circle{when}: nothing to do."
        );
        return text;
    }
    if let Some(failures) = plan.failures {
        let _ = writeln!(
            text,
            "  Of {} single failures {} make a cycle; the argument covers {} of them.",
            failures.tried, failures.cyclic, failures.covered
        );
    }
    components(&mut text, plan);
    for switch in &plan.switches {
        switch_report(&mut text, fabric, switch);
    }
    text.push('\n');
    text.push_str(&verdict(plan));
    text
}

fn components(text: &mut String, plan: &CyclePlan) {
    let header = ["buffers", "s", "rho", "feeding ports m", "argument"].map(String::from);
    let mut rows = Vec::from_iter(plan.components.iter().map(|component| {
        let number = |value: Option<u64>| value.map_or("-".to_string(), |value| value.to_string());
        [
            component.buffers.to_string(),
            number(component.stretch.map(|stretch| stretch as u64)),
            number(component.rho()),
            component.feeding.to_string(),
            coverage(component).to_string(),
        ]
    }));
    let count = rows.len();
    rows.truncate(ROWS_MAX);
    table(text, [header].into_iter().chain(rows));
    if count > ROWS_MAX {
        let _ = writeln!(text, "  and {} more groups of buffers", count - ROWS_MAX);
    }
    text.push_str("  s: the most links of a cycle that a packet passes in a row; rho = s - 1.\n");
}

const ROWS_MAX: usize = 12;

fn coverage(component: &Component) -> &'static str {
    match component {
        Component { stretch: None, .. } => "no: packets travel in a circle",
        Component { is_simple: false, .. } => "no: several cycles share links",
        Component { is_fed_by_cycle: true, .. } => "no: a port on another cycle feeds it",
        _ => "covers it",
    }
}

fn switch_report(text: &mut String, fabric: &Fabric, switch: &CycleSwitch) {
    let names = switch.members.iter().map(|node| fabric.topology.node(*node).name.clone());
    let _ = writeln!(text, "\n{}", shortened(names.collect()));
    let ports = |ports: &[(NodeId, PortId)]| {
        let names = ports.iter().map(|(node, port)| fabric.port_name(*node, *port));
        shortened(names.collect())
    };
    let _ = writeln!(text, "  on a cycle: {}", ports(&switch.on));
    if !switch.feeding.is_empty() {
        let _ = writeln!(text, "  feeding one: {}", ports(&switch.feeding));
    }
    let _ = writeln!(
        text,
        "  each has {} on a cycle and {}; {}",
        plural(switch.late_queues as u64, "queue"),
        plural(switch.early_queues as u64, "other"),
        match switch.factor {
            Some(factor) => format!("rho m is at most {factor}"),
            None => "packets travel in a circle, and no threshold helps".to_string(),
        }
    );
    let header = [
        "scheme",
        "on a cycle",
        "all other ports",
        "K / (rho m L)",
        "after a stall",
        "needs at least",
        "bound",
    ];
    let rows = switch.sets.iter().map(|set| {
        let side = |is_late| {
            set.lowest(is_late).map_or("-".to_string(), |set| words(&set.ingress.control))
        };
        [
            set.scheme.name().to_string(),
            side(true),
            side(false),
            ratio(set, set.reached),
            if set.after_stall.is_infinite() {
                "-".to_string()
            } else {
                ratio(set, set.after_stall)
            },
            set.least.map_or("-".to_string(), bytes),
            if set.holds() { "met" } else { "not met" }.to_string(),
        ]
    });
    table(text, [header.map(String::from)].into_iter().chain(rows));
}

/// How many times K exceeds what it must, if anything was planned.
fn ratio(set: &CycleSet, value: f64) -> String {
    if set.ports.is_empty() || value.is_infinite() {
        "-".to_string()
    } else {
        format!("{value:.2}")
    }
}

/// The first few of a list.
fn shortened(names: Vec<String>) -> String {
    some(names.into_iter(), 8)
}

/// The thresholds of a scheme in a few words.
fn words(control: &FlowControl) -> String {
    let two = |first: (&str, Bytes), second: (&str, Bytes)| {
        let [first, second] = [first, second].map(|(name, at)| format!("{name} {}", bytes(at)));
        format!("{first}, {second}")
    };
    match control {
        FlowControl::None | FlowControl::Outside(_) => "-".to_string(),
        FlowControl::Pfc(config) => two(("xoff", config.xoff), ("xon", config.xon)),
        FlowControl::Cbfc(config) => format!("credits {}", bytes(config.capacity)),
        FlowControl::GfcBuffer(config) => two(("b1", config.b1), ("bm", config.bm)),
        FlowControl::GfcTime(config) => two(("b0", config.mapping.b0), ("bm", config.mapping.bm)),
        FlowControl::GfcConceptual(config) => {
            two(("b0", config.mapping.b0), ("bm", config.mapping.bm))
        }
    }
}

/// What is promised, and what is not.
fn verdict(plan: &CyclePlan) -> String {
    let covered = plan.components.iter().filter(|it| it.is_covered()).count();
    let holding = Scheme::ALL.into_iter().filter(|scheme| plan.holds(*scheme));
    let holding = Vec::from_iter(holding.map(Scheme::name)).join(", ");
    let holding =
        if holding.is_empty() { "of no scheme".to_string() } else { format!("of {holding}") };
    format!(
        "The bound K > rho m L holds on all switches for the thresholds {holding}; the argument covers \
         {covered} of {} groups of cycles.\n\
         Where both are so, traffic that goes on evenly leaves on each cycle a link that is not stopped.\n\
         It is no guarantee: receivers that stop or are slow, an incast, or flows that begin at the wrong \
         time can fill all buffers of a cycle, which then stands still. Rings survived that where \
         K > (n - 1) (s - 2) m L, that is with more than 1 under \"after a stall\". Nor is it one for input-queued or \
         virtual-output-queued switches, or for routes that were not looked at; docs/cycle-aware.md has \
         what was measured.\n",
        plan.components.len()
    )
}

/// The sections of a scenario with these thresholds; `None` if the scheme has none that hold.
pub fn sections(fabric: &Fabric, plan: &CyclePlan, scheme: Scheme) -> Option<String> {
    let sets = plan.switches.iter().flat_map(|switch| &switch.sets);
    let sets = Vec::from_iter(sets.filter(|set| set.scheme == scheme));
    if sets.is_empty() || !sets.iter().all(|set| set.holds()) {
        return None;
    }
    let mut groups: Vec<(&Set, Vec<String>)> = Vec::new();
    for (place, port) in sets.iter().flat_map(|set: &&CycleSet| &set.ports) {
        let name = fabric.topology.port_name(place.0, place.1);
        match groups.iter_mut().find(|(known, _)| **known == port.set) {
            Some((_, names)) => names.push(name),
            None => groups.push((&port.set, vec![name])),
        }
    }
    let mut file = File::default();
    file.line(format_args!(
        "# From `pauseless plan --cycle-aware` for {}: to be added to the sections of {} of the plan.",
        fabric.name.escape_debug(),
        scheme.name()
    ));
    for (set, names) in groups {
        flow_control::write_thresholds(&mut file, &names, &set.ingress);
    }
    Some(file.text)
}

records! {
    /// The part of the JSON document.
    pub struct CycleRecord(fabric: &Fabric, plan: &CyclePlan) {
        /// Groups of buffers that can wait for each other.
        components: Vec<ComponentRecord> =
            plan.components.iter().map(ComponentRecord::new).collect();
        /// Single failures, if they were looked at.
        #[serde(skip_serializing_if = "Option::is_none")]
        failures: Option<FailureRecord> = plan.failures;
        /// K is to be this many times rho m L.
        margin: f64 = plan.margin;
        /// One element per set of switches that are alike.
        switches: Vec<CycleSwitchRecord> =
            plan.switches.iter().map(|it| CycleSwitchRecord::new(fabric, it)).collect();
    }

    /// A group of buffers.
    pub struct ComponentRecord(component: &Component) {
        /// How many buffers the group has.
        buffers: usize = component.buffers;
        /// The stretch s; null where packets travel in a circle.
        stretch: Option<usize> = component.stretch;
        /// The stretch less one: rho = s - 1.
        rho: Option<u64> = component.rho();
        /// The number m of ports that feed the group.
        feeding: usize = component.feeding;
        /// Whether the argument covers it.
        covered: bool = component.is_covered();
        /// Why the argument covers the group, or why not.
        reason: &'static str = coverage(component);
    }

    /// Switches that are alike.
    pub struct CycleSwitchRecord(fabric: &Fabric, switch: &CycleSwitch) after {
        let ports = |ports: &[(NodeId, PortId)]| {
            ports.iter().map(|(node, port)| fabric.port_name(*node, *port)).collect()
        };
        let nodes = switch.members.iter();
    } {
        /// The names of the switches.
        switches: Vec<String> =
            nodes.map(|node| fabric.topology.node(*node).name.clone()).collect();
        /// Ports on a cycle.
        on_cycle: Vec<String> = ports(&switch.on);
        /// Ports that feed one.
        feeding: Vec<String> = ports(&switch.feeding);
        /// The largest rho m.
        rho_m: Option<u64> = switch.factor;
        /// One element per scheme.
        schemes: Vec<CycleSetRecord> = switch.sets.iter().map(CycleSetRecord::new).collect();
    }

    /// Thresholds of a scheme.
    pub struct CycleSetRecord(set: &CycleSet) after {
        let is_known = !set.ports.is_empty() && set.reached.is_finite();
    } {
        /// The flow control that is planned for, such as `pfc`.
        scheme: &'static str = set.scheme.name();
        /// Whether K > rho m L.
        holds: bool = set.holds();
        /// K / (rho m L); null if the switch has too little buffer for anything.
        reached: Option<f64> = is_known.then_some(set.reached);
        /// K / ((n - 1) (s - 2) m L); null if nothing is asked for.
        after_stall: Option<f64> =
            (is_known && set.after_stall.is_finite()).then_some(set.after_stall);
        /// The least buffer of a switch with which the bound holds.
        least_bytes: Option<u64> = set.least.map(Bytes::get);
        /// The lowest thresholds of the queues on a cycle.
        on_cycle: Option<ThresholdRecord> = set.lowest(true).map(ThresholdRecord::new);
        /// The lowest thresholds of all other ports.
        other: Option<ThresholdRecord> = set.lowest(false).map(ThresholdRecord::new);
    }

    /// The buffer and the thresholds of one port and class.
    pub struct ThresholdRecord(set: &Set) after {
        let (first, second) = match &set.ingress.control {
            FlowControl::None | FlowControl::Outside(_) => (Bytes::ZERO, Bytes::ZERO),
            FlowControl::Pfc(config) => (config.xoff, config.xon),
            FlowControl::Cbfc(config) => (config.capacity, config.capacity),
            FlowControl::GfcBuffer(config) => (config.b1, config.bm),
            FlowControl::GfcTime(config) => (config.mapping.b0, config.mapping.bm),
            FlowControl::GfcConceptual(config) => (config.mapping.b0, config.mapping.bm),
        };
    } {
        /// The buffer of a queue.
        buffer_bytes: u64 = set.ingress.buffer.get();
        /// XOFF, B_1 or B_0, or the credits: where the sender is first held back.
        first_bytes: u64 = first.get();
        /// XON, B_m, or the credits again.
        second_bytes: u64 = second.get();
    }
}
