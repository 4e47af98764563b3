//! The sections `[watchdog]`, `[recovery]` and `[[rate_limit]]`.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use pauseless_core::flow_control::{FlowControl, pfc};
use pauseless_core::id::{Class, NodeId, PortId};
use pauseless_core::switch::watchdog::{self, Action};
use pauseless_core::unit::{Rate, Span};
use pauseless_fabric::topology::Topology;
use pauseless_sim::config::{IngressTable, Mitigation, RateLimit, Recovery, Watchdog};

pub use super::flows::TIMES;
use super::pattern::{self, ClassNumber};
use pauseless_text::declare::{Choice, Declared, Filled, Info, Key, List, Variant, list};
use pauseless_text::file::File;
use pauseless_text::problem::Sink;
use pauseless_text::quantity::RATES;
use pauseless_text::reader::{At, Section};
use pauseless_text::section;
use pauseless_text::unit::Quantity;

/// The names of the sections.
pub const WATCHDOG: &str = "watchdog";
pub(crate) const RECOVERY: &str = "recovery";
pub(crate) const RATE_LIMIT: &str = "rate_limit";
/// The default detection time of SONiC.
const DETECTION: Span = Span::ms(200);
/// A storm takes some time, and no sum of these overflows.
const STORMS: RangeInclusive<Span> = Span::ns(1)..=*TIMES.end();
/// What a watchdog does by default.
const USUAL: watchdog::Config = watchdog::Config {
    detection: DETECTION,
    restoration: Span::ms(400),
    poll: Span::ZERO,
    action: Action::Drop,
};

section! {
    /// A watchdog on every egress queue of every switch that PFC can pause, as SONiC has it; without
    /// this section there is none.
    pub struct WatchdogKeys for watchdog::Config = USUAL, {
        /// How long a queue may stand still under a pause.
        detection: Span, within STORMS;
        /// How long there must be no PAUSE; more than half of `pause_quanta`, or a pause that lasts is
        /// taken for its end.
        restoration: Span, within STORMS, derived "twice `detection`";
        /// Look only at multiples of this, as a switch's software does; 0 looks all the time.
        poll: Span, within TIMES;
        /// What is done about a storm. With `"drop"` what waits is dropped, and so is what comes, until
        /// it is restored. `"forward"`: the queue ignores the pause, and the far end may have no room.
        /// `"alert"`: only the report knows.
        action: Action;
    }
}

section! {
    /// One queue of the cycle is emptied, and its packets are lost.
    pub struct Drain {
        /// The time from finding the deadlock to emptying the queue.
        delay: Span, within TIMES, default Span::ZERO;
    }
}

section! {
    /// Ports that send no faster than they are told, per class: a host's, at the edge of the network,
    /// or a switch's; later ones win.
    pub struct Limit {
        /// Port names with `*`, which is the sending end: `["H*:*", "E1:A1"]`.
        ports: List<String>, within "a list of strings", required "[\"H*:*\"]";
        /// Only these classes, each with a limit of its own.
        classes: List<ClassNumber>, derived "all";
        /// At most the rate of the link. Frame bytes count, `wire_overhead` does not.
        rate: Rate, within Rate::bps(1_000)..=*RATES.end(), required "\"4 Gbps\"";
    }
}

static NONE: Variant<Recovery> = Variant {
    name: "none",
    info: || Info::without_keys("A deadlock stays."),
    read: |_| Some(Recovery::None),
    keys_of: |_| None,
};

static DRAIN: Variant<Recovery> = Variant {
    name: "drain",
    info: Drain::info,
    read: |section| {
        let delay = Drain::read(section).delay.value;
        Some(Recovery::Drain { delay })
    },
    keys_of: |recovery| match recovery {
        Recovery::None => None,
        Recovery::Drain { delay } => {
            Some(Box::new(Drain { delay: Filled::new(*delay), ..Drain::default() }))
        }
    },
};

fn recoveries() -> Choice<Recovery> {
    Choice { key: "kind", default: None, variants: vec![&NONE, &DRAIN] }
}

/// `[recovery]`, for documents and schemas.
pub(crate) fn recovery_info() -> Info {
    let about =
        "What happens when the detector has found a deadlock; without this section it stays.";
    Info { variants: Some(recoveries().describe()), ..Info::without_keys(about) }
}

/// The three sections as they were written.
#[derive(Debug)]
pub struct Setting {
    watchdog: Option<At<watchdog::Config>>,
    recovery: Recovery,
    limits: Vec<Limit>,
}

impl Setting {
    pub(crate) fn read(root: &mut Section<'_>, class_count: u8) -> Setting {
        let watchdog = root.table(WATCHDOG).map(read_watchdog);
        let recovery = root.table(RECOVERY).and_then(read_recovery);
        let limits = root.tables(RATE_LIMIT).map(|mut section| {
            let limit = Limit::read(&mut section);
            pattern::check_classes(limit.classes.get(), class_count, &section);
            section.finish();
            limit
        });
        Setting { watchdog, recovery: recovery.unwrap_or_default(), limits: limits.collect() }
    }

    /// What it comes to on `topology`, whose ports have the flow control of `ingress`.
    pub(crate) fn resolve(
        &self,
        topology: &Topology,
        ingress: &IngressTable,
        sink: &Sink,
    ) -> Mitigation {
        let has_pfc = ingress.any(|control| matches!(control, FlowControl::Pfc(_)));
        if let Some(watchdog) = self.watchdog.as_ref().filter(|_| !has_pfc) {
            let problem = watchdog.place.problem("there is no PFC to watch");
            let problem = problem.expected("[flow_control] with kind = \"pfc\"");
            sink.push(problem.help("leave [watchdog] out, or look for deadlocks with [recovery]"));
        }
        let watchdog = self.watchdog.as_ref();
        Mitigation {
            watchdog: watchdog.map_or(Watchdog::Off, |watchdog| Watchdog::On(watchdog.value)),
            recovery: self.recovery,
            limits: self.limits(topology, ingress.class_count(), sink),
        }
    }

    /// One for each queue that is named; the last one counts.
    fn limits(&self, topology: &Topology, class_count: usize, sink: &Sink) -> Vec<RateLimit> {
        let mut rates: BTreeMap<(NodeId, PortId, Class), Rate> = BTreeMap::new();
        for limit in &self.limits {
            let (Some(ports), Some(rate)) = (limit.ports.get(), &limit.rate.given) else {
                continue;
            };
            for (node, port) in pattern::ports(topology, ports, sink) {
                let line = topology.port(node, port).rate;
                if rate.value > line {
                    let name = topology.port_name(node, port);
                    let message = format!("faster than {name}, which has {}", line.exact());
                    sink.push(rate.place.problem(message).expected("at most the rate of the link"));
                    break;
                }
                let all = (0..class_count as u8).map(Class);
                for class in all.filter(|class| pattern::covers(&limit.classes, *class)) {
                    rates.insert((node, port, class), rate.value);
                }
            }
        }
        let limits = rates.into_iter();
        limits.map(|((node, port, class), rate)| RateLimit { node, port, class, rate }).collect()
    }

    /// A pause that lasts is said again and again; who restores in between restores too early.
    pub(crate) fn warning(&self, topology: &Topology, ingress: &IngressTable) -> Option<String> {
        let watchdog = self.watchdog.as_ref()?;
        let restoration = watchdog.value.restoration;
        let ports = topology.switches().iter().flat_map(|switch| {
            let ports = (0..).zip(topology.ports(*switch));
            ports.map(|(number, port)| ((*switch, PortId(number)), port))
        });
        let refreshes = ports.flat_map(|(at, port)| {
            let classes = (0..ingress.class_count()).map(|class| Class(class as u8));
            classes.filter_map(move |class| {
                match ingress.get(port.peer, port.peer_port, class).control {
                    FlowControl::Pfc(config) => {
                        Some((pfc::pause_span(config.quanta, port.rate) / 2, at))
                    }
                    _ => None,
                }
            })
        });
        let (refresh, (node, port)) = refreshes.max_by_key(|(refresh, _)| *refresh)?;
        (restoration <= refresh).then(|| {
            format!(
                "watchdog.restoration = {} is over before a paused {} hears the next PAUSE, after {}",
                restoration.exact(),
                topology.port_name(node, port),
                refresh.exact(),
            )
        })
    }
}

/// Reads `[watchdog]`, with the usual values for what is left out.
pub fn read_watchdog(mut section: Section<'_>) -> At<watchdog::Config> {
    let mut value = USUAL;
    let keys = WatchdogKeys::fill(&mut section, &mut value);
    if keys.restoration.given.is_none() {
        value.restoration = value.detection * 2;
    }
    let place = section.place.clone();
    section.finish();
    At { value, place }
}

fn read_recovery(mut section: Section<'_>) -> Option<Recovery> {
    let kind = recoveries().take(&mut section)?;
    let recovery = (kind.value.read)(&mut section);
    section.finish();
    recovery
}

/// Writes what is done about storms and deadlocks, if anything is.
pub(crate) fn write(file: &mut File, topology: &Topology, mitigation: &Mitigation) {
    if let Watchdog::On(config) = &mitigation.watchdog {
        file.table(WATCHDOG, &WatchdogKeys::of(config));
    }
    let recovery = recoveries().entries(&mitigation.recovery);
    if !recovery.is_empty() {
        file.table(RECOVERY, &recovery);
    }
    let mut alike: BTreeMap<(Class, Rate), Vec<String>> = BTreeMap::new();
    for limit in &mitigation.limits {
        let name = topology.port_name(limit.node, limit.port);
        alike.entry((limit.class, limit.rate)).or_default().push(name);
    }
    for ((class, rate), ports) in alike {
        let limit = Limit {
            ports: Key::of(list(ports)),
            classes: Key::of(list([ClassNumber(class.0.into())])),
            rate: Key::of(rate),
            ..Limit::default()
        };
        file.one_of(RATE_LIMIT, &limit);
    }
}
