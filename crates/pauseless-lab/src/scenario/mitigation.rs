//! The sections `[watchdog]`, `[recovery]` and `[[rate_limit]]`.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use pauseless_core::flow_control::{FlowControl, pfc};
use pauseless_core::id::{Class, NodeId, PortId};
use pauseless_core::switch::watchdog::{self, Action};
use pauseless_core::unit::{Rate, Span};
use pauseless_fabric::topology::Topology;
use pauseless_sim::config::{IngressTable, Mitigation, RateLimit, Recovery, Watchdog};

use super::file::File;
use super::flows::TIMES;
use super::pattern;
use super::reader::{At, Item, Section};
use super::topology::RATES;
use super::unit::Quantity;
use crate::problem::Sink;

/// SONiC's default.
const DETECTION: Span = Span::ms(200);
/// A storm takes some time, and no sum of these overflows.
const STORMS: RangeInclusive<Span> = Span::ns(1)..=*TIMES.end();

/// The three sections as they were written.
#[derive(Debug)]
pub(crate) struct Written {
    watchdog: Option<At<watchdog::Config>>,
    recovery: Recovery,
    limits: Vec<WrittenLimit>,
}

/// `[[rate_limit]]` as it was written.
#[derive(Debug)]
struct WrittenLimit {
    ports: Vec<At<String>>,
    /// Empty for all.
    classes: Vec<At<u64>>,
    rate: At<Rate>,
}

impl Written {
    pub(crate) fn read(root: &mut Section<'_>, class_count: u8) -> Written {
        let watchdog = root.table("watchdog").map(read_watchdog);
        let recovery = root.table("recovery").map(read_recovery);
        let limits = root.tables("rate_limit").into_iter();
        Written {
            watchdog,
            recovery: recovery.unwrap_or_default(),
            limits: limits
                .filter_map(|section| WrittenLimit::read(section, class_count))
                .collect(),
        }
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
            for (node, port) in pattern::ports(topology, &limit.ports, sink) {
                let line = topology.port(node, port).rate;
                if limit.rate.value > line {
                    let name = topology.port_name(node, port);
                    let message = format!("faster than {name}, which has {}", line.exact());
                    let problem = limit.rate.place.problem(message);
                    sink.push(problem.expected("at most the rate of the link"));
                    break;
                }
                let all = (0..class_count as u8).map(Class);
                let is_named = |class: &Class| {
                    let mut named = limit.classes.iter();
                    limit.classes.is_empty() || named.any(|at| at.value == u64::from(class.0))
                };
                for class in all.filter(is_named) {
                    rates.insert((node, port, class), limit.rate.value);
                }
            }
        }
        let limits = rates.into_iter();
        let limits = limits.map(|((node, port, class), rate)| RateLimit {
            node,
            port,
            class,
            rate,
        });
        limits.collect()
    }

    /// A pause that lasts is said again and again; who restores in between restores too early.
    pub(crate) fn warning(&self, topology: &Topology, ingress: &IngressTable) -> Option<String> {
        let watchdog = self.watchdog.as_ref()?;
        let restoration = watchdog.value.restoration;
        let switches = topology.switches().iter();
        let ports = switches.flat_map(|switch| {
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

pub(crate) fn read_watchdog(mut section: Section<'_>) -> At<watchdog::Config> {
    let detection = section.quantity_within("detection", STORMS);
    let detection = detection.map_or(DETECTION, |at| at.value);
    let restoration = section.quantity_within("restoration", STORMS);
    let poll = section.quantity_within("poll", TIMES);
    let actions = Action::ALL.map(|action| (action.name(), action));
    let action = section.choice("action", &actions);
    let place = section.place.clone();
    section.finish();
    let value = watchdog::Config {
        detection,
        restoration: restoration.map_or(detection * 2, |at| at.value),
        poll: poll.map_or(Span::ZERO, |at| at.value),
        action: action.map_or(Action::Drop, |at| at.value),
    };
    At { value, place }
}

fn read_recovery(mut section: Section<'_>) -> Recovery {
    let is_written = section.has("kind");
    let kind = section.choice("kind", &[("none", false), ("drain", true)]);
    if !is_written {
        section.missing("kind", "\"drain\"");
    }
    let is_draining = kind.is_some_and(|kind| kind.value);
    if is_written && !is_draining {
        section.set_context(" with kind = \"none\"".to_string());
        section.finish();
        return Recovery::None;
    }
    let delay = section.quantity_within("delay", TIMES);
    section.finish();
    Recovery::Drain {
        delay: delay.map_or(Span::ZERO, |at| at.value),
    }
}

impl WrittenLimit {
    fn read(mut section: Section<'_>, class_count: u8) -> Option<WrittenLimit> {
        let are_ports_written = section.has("ports");
        let ports = section.strings("ports");
        if !are_ports_written {
            section.missing("ports", "[\"H*:*\"]");
        }
        let classes = section.list("classes").map_or(Vec::new(), |at| at.value);
        let class = |item: Item<'_>| item.integer(0..=u64::from(class_count) - 1);
        let classes = classes.into_iter().filter_map(class).collect();
        let is_rate_written = section.has("rate");
        let rate = section.quantity_within("rate", Rate::bps(1_000)..=*RATES.end());
        if !is_rate_written {
            section.missing("rate", "\"4 Gbps\"");
        }
        section.finish();
        Some(WrittenLimit {
            ports: ports?.value,
            classes,
            rate: rate?,
        })
    }
}

/// Writes what is done about storms and deadlocks, if anything is.
pub(crate) fn write(file: &mut File, topology: &Topology, mitigation: &Mitigation) {
    if let Watchdog::On(config) = &mitigation.watchdog {
        file.section("[watchdog]");
        file.quantity("detection", config.detection);
        file.quantity("restoration", config.restoration);
        file.quantity("poll", config.poll);
        file.text("action", config.action.name());
    }
    if let Recovery::Drain { delay } = mitigation.recovery {
        file.section("[recovery]");
        file.text("kind", "drain");
        file.quantity("delay", delay);
    }
    let mut alike: BTreeMap<(Class, Rate), Vec<String>> = BTreeMap::new();
    for limit in &mitigation.limits {
        let name = topology.port_name(limit.node, limit.port);
        let ports = alike.entry((limit.class, limit.rate)).or_default();
        ports.push(name);
    }
    for ((class, rate), ports) in alike {
        file.section("[[rate_limit]]");
        file.texts("ports", ports);
        file.plain("classes", format_args!("[{}]", class.0));
        file.quantity("rate", rate);
    }
}
