//! Reports of nodes as a page of metrics, in the text format 0.0.4 of Prometheus.

pub mod endpoint;

use std::fmt::{Display, Write};

use pauseless_core::unit::{Span, Time};
use pauseless_dataplane::report::{
    ClassReport, NodeReport, PortCounters, PortReport, Quantiles, ReceiveReport, SendReport,
};

/// What the page is, for its readers.
pub const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// A table of families of metrics: the name, the meaning and the number of each.
macro_rules! families {
    ($($name:literal: $help:literal, |$it:ident| $number:expr;)+) => {
        [$(($name, $help, |$it| $number)),+]
    };
}

/// Some number of events at a port: its name, its meaning, and where it stands.
type Counter = (&'static str, &'static str, fn(&PortCounters) -> u64);

/// What happens at ports, other than losses.
const PORT_COUNTERS: [Counter; 12] = families! {
    "received_frames": "Data frames that came in.", |it| it.received;
    "received_bytes": "Their bytes, FCS included.", |it| it.received_bytes.get();
    "sent_frames": "Data frames that went out.", |it| it.sent;
    "sent_bytes": "Their bytes, FCS included.", |it| it.sent_bytes.get();
    "control_received_frames": "Control frames that came in.", |it| it.control_received;
    "control_sent_frames": "Control frames that went out.", |it| it.control_sent;
    "pauses_sent": "Control frames that told the far end to stop.", |it| it.pauses_sent;
    "pauses_received":
        "Times that the far end told this end to stop although it was not stopped.",
        |it| it.pauses_received;
    "marked_frames": "Data frames that were marked here.", |it| it.marked;
    "declassed_frames":
        "Data frames of a class that there is not here, which pass in class 0.", |it| it.declassed;
    "send_retries": "Times that the kernel could not take a frame at once.", |it| it.send_retries;
    "outages": "Times that the interface failed, each until it worked again.", |it| it.outages;
};

/// A way to lose a frame, and where its number stands.
type Loss = (&'static str, fn(&PortCounters) -> u64);

/// The ways to lose a frame; [`losses`] has the same for people.
const LOSSES: [Loss; 9] = [
    ("overrun", |it| it.overruns),
    ("watchdog", |it| it.watchdog_drops),
    ("kernel_ring", |it| it.kernel_drops),
    ("send_failure", |it| it.send_failures),
    ("malformed", |it| it.malformed),
    ("oversized", |it| it.oversized),
    ("unknown_address", |it| it.unknown),
    ("reflected", |it| it.reflected),
    ("unwelcome_control", |it| it.unwelcome),
];

/// What was lost or refused at a port, by cause, without causes that never were.
pub fn losses(counters: &PortCounters) -> impl Iterator<Item = (&'static str, u64)> {
    LOSSES.map(|(cause, get)| (cause, get(counters))).into_iter().filter(|(_, count)| *count > 0)
}

/// All metrics of these nodes.
pub fn page(nodes: &[NodeReport]) -> String {
    let mut page = Page::default();
    nodes_of(&mut page, nodes);
    ports_of(&mut page, nodes);
    classes_of(&mut page, nodes);
    sends_of(&mut page, nodes);
    receives_of(&mut page, nodes);
    page.text
}

fn nodes_of(page: &mut Page, nodes: &[NodeReport]) {
    let all = || nodes.iter().map(|node| (node, [("node", &*node.name)]));
    let times = all().map(|(node, labels)| (labels, since_start(node)));
    page.samples("node_time_seconds", "The node's clock.", times);
    let help = "The wall's time that an elastic clock has left out.";
    let stalled = all().map(|(node, labels)| (labels, seconds(node.stalled)));
    page.samples("node_stalled_seconds_total", help, stalled);
    page.family(
        "node_lateness_seconds",
        "summary",
        "How late frames left (kinds control_sent and data_sent) and how long those that came waited to \
         be handled (control and data). NaN and a count of 0: not measured.",
    );
    for node in nodes {
        let kinds = [
            ("control", node.lateness.control),
            ("data", node.lateness.data),
            ("control_sent", node.lateness.control_sent),
            ("data_sent", node.lateness.data_sent),
        ];
        for (kind, quantiles) in kinds {
            page.summary(&[("node", &node.name), ("kind", kind)], &quantiles);
        }
    }
}

fn ports_of(page: &mut Page, nodes: &[NodeReport]) {
    let of = |get: &dyn Fn(&PortReport) -> u64| {
        Vec::from_iter(ports(nodes).map(|(labels, port)| (labels, get(port))))
    };
    let lines = of(&|port| port.line_bps);
    page.samples("port_line_bits_per_second", "The emulated line rate.", lines);
    for (name, help, get) in PORT_COUNTERS {
        let samples = of(&|port| get(&port.counters));
        page.samples(&format!("port_{name}_total"), help, samples);
    }
    page.family(
        "port_lost_frames_total",
        "counter",
        "Frames that were dropped or refused here, by cause.",
    );
    for ([node, at], port) in ports(nodes) {
        for (cause, get) in LOSSES {
            page.sample("", &[node, at, ("cause", cause)], get(&port.counters));
        }
    }
    let lost = ports(nodes).map(|(labels, port)| (labels, seconds(port.counters.line_lost)));
    let help = "Time of the emulated line that is gone because the node was further behind than \
                its slack.";
    page.samples("port_line_lost_seconds_total", help, lost);
    let help = "Storms that the watchdog has seen.";
    let trips = of(&|port| port.counters.watchdog_trips);
    page.samples("port_watchdog_trips_total", help, trips);
}

fn classes_of(page: &mut Page, nodes: &[NodeReport]) {
    type Gauge = (&'static str, &'static str, fn(&ClassReport) -> u64);
    let gauges: [Gauge; 6] = families! {
        "held_bytes": "Bytes on the ingress counter.", |it| it.held.get();
        "held_max_bytes": "The most that the ingress counter has shown.", |it| it.held_max.get();
        "buffer_bytes": "The ingress buffer.", |it| it.buffer.get();
        "backlog_frames": "Frames that wait to leave.", |it| it.backlog;
        "allowed_bits_per_second":
            "The rate that the far end allows; 0 while it allows none.",
            |it| it.allowed_bps.unwrap_or(0);
        "stopped": "Whether the far end has stopped it.", |it| it.is_stopped.into();
    };
    for (name, help, get) in gauges {
        page.family(&format!("class_{name}"), "gauge", help);
        for ([node, at], port) in ports(nodes) {
            for class in &port.classes {
                let number = class.class.to_string();
                page.sample("", &[node, at, ("class", &number)], get(class));
            }
        }
    }
}

fn sends_of(page: &mut Page, nodes: &[NodeReport]) {
    type Sent = (&'static str, &'static str, fn(&SendReport) -> u64);
    let families: [Sent; 3] = families! {
        "sent_frames_total": "Frames that the source has sent.", |it| it.frames;
        "sent_bytes_total": "Their bytes, FCS included.", |it| it.bytes.get();
        "allowed_bits_per_second":
            "The rate that congestion control allows the source; 0 when it has nothing to send.",
            |it| it.allowed_bps;
    };
    for (name, help, get) in families {
        let samples = nodes.iter().flat_map(|node| {
            let flows = node.sends.iter();
            flows.map(|flow| ([("node", &*node.name), ("flow", &*flow.name)], get(flow)))
        });
        page.samples(&format!("flow_{name}"), help, samples);
    }
}

fn receives_of(page: &mut Page, nodes: &[NodeReport]) {
    type Received = (&'static str, &'static str, fn(&ReceiveReport) -> u64);
    let families: [Received; 8] = families! {
        "received_frames_total":
            "Frames that came to the target, repeated ones not counted.", |it| it.frames;
        "received_bytes_total": "Their bytes, FCS included.", |it| it.bytes.get();
        "missing_frames": "Numbers that are missing below the highest that came.", |it| it.missing;
        "reordered_frames_total":
            "Frames that came after one with a higher number.", |it| it.reordered;
        "duplicate_frames_total": "Frames that came again.", |it| it.duplicates;
        "astray_frames_total":
            "Frames whose number is so far above all others that nobody believes it.",
            |it| it.astray;
        "source_restarts_total": "How often the source was started again.", |it| it.restarts;
        "marked_frames_total": "Frames that came marked.", |it| it.marked;
    };
    let all = || {
        nodes.iter().flat_map(|node| {
            node.receives.iter().map(|flow| ([("node", &*node.name), ("flow", &*flow.name)], flow))
        })
    };
    for (name, help, get) in families {
        let samples = all().map(|(labels, flow)| (labels, get(flow)));
        page.samples(&format!("flow_{name}"), help, samples);
    }
    page.family(
        "flow_latency_seconds",
        "summary",
        "How long frames took from their source to their target.",
    );
    for (labels, flow) in all() {
        page.summary(&labels, &flow.latency);
    }
}

type Label<'a> = (&'a str, &'a str);

/// Every port of every node, and its labels.
pub fn ports(nodes: &[NodeReport]) -> impl Iterator<Item = ([Label<'_>; 2], &PortReport)> {
    nodes.iter().flat_map(|node| {
        node.ports.iter().map(|port| ([("node", &*node.name), ("port", &*port.neighbour)], port))
    })
}

fn kind_of(name: &str) -> &'static str {
    if name.ends_with("_total") { "counter" } else { "gauge" }
}

fn since_start(node: &NodeReport) -> f64 {
    seconds(node.time.saturating_since(Time::ZERO))
}

fn seconds(span: Span) -> f64 {
    span.as_secs_f64()
}

/// A page as far as it has been written.
#[derive(Debug, Default)]
struct Page {
    text: String,
    /// The name of the family that samples belong to.
    name: String,
}

impl Page {
    /// Begins a family; its samples must follow together.
    fn family(&mut self, name: &str, kind: &str, help: &str) {
        self.name = format!("pauseless_{name}");
        let name = &self.name;
        let _ = write!(self.text, "# HELP {name} {help}\n# TYPE {name} {kind}\n");
    }

    /// A whole family, which counts something if its name says that it is a total.
    fn samples<'l, const N: usize>(
        &mut self,
        name: &str,
        help: &str,
        samples: impl IntoIterator<Item = ([Label<'l>; N], impl Display)>,
    ) {
        self.family(name, kind_of(name), help);
        for (labels, value) in samples {
            self.sample("", &labels, value);
        }
    }

    fn sample(&mut self, suffix: &str, labels: &[Label<'_>], value: impl Display) {
        let _ = write!(self.text, "{}{suffix}{{", self.name);
        for (index, (label, text)) in labels.iter().enumerate() {
            let comma = if index > 0 { "," } else { "" };
            let _ = write!(self.text, "{comma}{label}=\"{}\"", escaped(text));
        }
        let _ = writeln!(self.text, "}} {value}");
    }

    fn summary(&mut self, labels: &[Label<'_>], quantiles: &Quantiles) {
        let points = [
            ("0.5", quantiles.p50),
            ("0.99", quantiles.p99),
            ("0.999", quantiles.p999),
            ("1", quantiles.max),
        ];
        for (quantile, span) in points {
            let labels = [labels, &[("quantile", quantile)]].concat();
            // What was never seen has no quantiles, by the format's own convention.
            let value = match quantiles.count {
                0 => f64::NAN,
                _ => seconds(span),
            };
            self.sample("", &labels, value);
        }
        self.sample("_count", labels, quantiles.count);
    }
}

/// The text of a label. Names come from files and may have anything in them.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests;
