//! What nodes look like on a terminal while they run: from two reports of each to text.

mod terminal;
#[cfg(test)]
mod tests;

use pauseless_core::flow_control::FlowControl;
use pauseless_core::port::PortConfig;
use pauseless_core::unit::{Bytes, Span};
use pauseless_dataplane::report::{
    ClassReport, NodeReport, PortReport, Quantiles, ReceiveReport, SendReport,
};

use super::metrics::losses;
use crate::plan::NodeConfig;
use pauseless_text::quantity;
use pauseless_text::terminal::{Mood, Paint, printable};
pub use terminal::{Screen, restore, size};

/// A node at two instants. Rates are those between them.
#[derive(Clone, Copy, Debug)]
pub struct Scene<'a> {
    /// What to say of the node beside its name and time.
    pub heading: &'a str,
    /// The report at the last look.
    pub before: &'a NodeReport,
    /// The report at this instant.
    pub now: &'a NodeReport,
    /// What its ports are set to; may be empty.
    pub settings: &'a [PortSetting],
}

/// What a port is set to, for its bars and states.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PortSetting {
    /// One element per class.
    pub lanes: Vec<LaneSetting>,
}

/// What a class of a port is set to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LaneSetting {
    /// The scheme that gates the egress, which the far end runs.
    pub egress: &'static str,
    /// What the ingress counter is held against first: XOFF, B1 or B0.
    pub mark: Option<Bytes>,
}

impl PortSetting {
    /// The settings of every port of a node.
    pub fn of(config: &NodeConfig) -> Vec<PortSetting> {
        match config {
            NodeConfig::Switch(config) => config.switch.ports.iter().map(setting).collect(),
            NodeConfig::Host(config) => vec![setting(&config.port)],
        }
    }
}

fn setting(port: &PortConfig) -> PortSetting {
    let lanes = port.lanes.iter().map(|lane| LaneSetting {
        egress: lane.egress.name(),
        mark: mark(&lane.ingress).map(|(_, mark)| mark),
    });
    PortSetting { lanes: lanes.collect() }
}

/// The first threshold of a scheme, and its name.
pub fn mark(control: &FlowControl) -> Option<(&'static str, Bytes)> {
    match control {
        FlowControl::Pfc(config) if !config.is_commanded() => Some(("XOFF", config.xoff)),
        FlowControl::GfcBuffer(config) => Some(("B1", config.b1)),
        FlowControl::GfcTime(config) => Some(("B0", config.mapping.b0)),
        FlowControl::GfcConceptual(config) => Some(("B0", config.mapping.b0)),
        FlowControl::None
        | FlowControl::Pfc(_)
        | FlowControl::Cbfc(_)
        | FlowControl::Outside(_) => None,
    }
}

/// The room that there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// The characters in a line.
    pub columns: usize,
    /// The number of lines on the screen.
    pub rows: usize,
}

impl Size {
    /// The least size that every terminal has.
    pub const LEAST: Size = Size { columns: 80, rows: 24 };
}

/// All nodes, one below the other, in lines that fit. What does not fit is counted in the last line.
pub fn render(scenes: &[Scene<'_>], size: Size, paint: Paint) -> String {
    let bar = Bars::new(size.columns);
    let mut lines = Vec::new();
    for (index, scene) in scenes.iter().enumerate() {
        if index > 0 {
            lines.push(String::new());
        }
        scene.render(bar, paint, &mut lines);
    }
    let rows = size.rows.max(1);
    if lines.len() > rows {
        let hidden = lines.len() - (rows - 1);
        lines.truncate(rows - 1);
        lines.push(format!("and {hidden} lines more"));
    }
    let mut text =
        Vec::from_iter(lines.iter().map(|line| cut(&printable(line, paint), size.columns)))
            .join("\n");
    text.push('\n');
    text
}

/// As much of `line` as fits, colours not counted and closed at the end.
pub fn cut(line: &str, columns: usize) -> String {
    let mut text = String::new();
    let (mut width, mut is_code, mut is_painted) = (0, false, false);
    for char in line.chars() {
        if char == '\x1b' {
            (is_code, is_painted) = (true, true);
        } else if !is_code {
            width += 1;
            if width > columns {
                if is_painted {
                    text.push_str("\x1b[0m");
                }
                return text;
            }
        }
        text.push(char);
        is_code &= char != 'm';
    }
    text
}

/// How long bars are.
#[derive(Clone, Copy, Debug)]
struct Bars {
    rate: usize,
    queue: usize,
}

impl Bars {
    /// What a line has beyond 80 characters goes to its bars.
    pub fn new(columns: usize) -> Bars {
        let more = columns.saturating_sub(Size::LEAST.columns).min(80) / 4;
        Bars { rate: 6 + more, queue: 10 + 2 * more }
    }
}

impl Scene<'_> {
    fn render(&self, bars: Bars, paint: Paint, lines: &mut Vec<String>) {
        let now = self.now;
        let stalled = match now.stalled {
            Span::ZERO => String::new(),
            span => format!("  left out {}", quantity::span(span)),
        };
        let heading = format!("{}  {}  {}", now.name, quantity::time(now.time), self.heading);
        lines.push(paint.paint(Mood::Strong, &(heading + &stalled)));
        let (rate, queue) = (bars.rate + 10, bars.queue + 8);
        lines.push(format!(
            "{:8} {:rate$}  {:rate$}  {:queue$}  {}",
            "port", "in", "out", "queue", "may send"
        ));
        for index in 0..now.ports.len() {
            lines.push(self.port(index, bars, paint));
        }
        for port in &now.ports {
            let lost = losses(&port.counters);
            let lost = lost
                .map(|(cause, n)| format!("{} {}", quantity::count(n), cause.replace('_', " ")));
            let lost: Vec<String> = lost.collect();
            if !lost.is_empty() {
                let text = format!("{:8} dropped: {}", fit(&port.neighbour, 8), lost.join(", "));
                lines.push(paint.paint(Mood::Bad, &text));
            }
        }
        self.flows(bars, paint, lines);
    }

    fn port(&self, index: usize, bars: Bars, paint: Paint) -> String {
        let port = &self.now.ports[index];
        let before = self.before.ports.get(index).map(|port| port.counters).unwrap_or_default();
        let counters = &port.counters;
        let input = self.rate(before.received_bytes, counters.received_bytes);
        let output = self.rate(before.sent_bytes, counters.sent_bytes);
        let line = port.line_bps as f64;
        let setting = self.settings.get(index);
        let (state, mood) = state(port, setting);
        let state = match mood {
            Mood::Good => state,
            mood => paint.paint(mood, &state),
        };
        format!(
            "{:8} {:>9} {}  {:>9} {}  {}  {state}",
            fit(&port.neighbour, 8),
            quantity::rate(input),
            bar(input / line, None, bars.rate),
            quantity::rate(output),
            bar(output / line, None, bars.rate),
            queue(port, setting, bars),
        )
    }

    fn flows(&self, bars: Bars, paint: Paint, lines: &mut Vec<String>) {
        let now = self.now;
        if now.sends.is_empty() && now.receives.is_empty() {
            return;
        }
        let line = now.ports.first().map_or(1.0, |port| port.line_bps as f64);
        let rate = bars.rate + 10;
        lines.push(format!(
            "{:8} {:rate$}  {:>12}  {:>9}  {:>9}  {:>9}",
            "flow", "goodput", "frames", "missing", "p50", "p99"
        ));
        for (index, flow) in now.receives.iter().enumerate() {
            let before = self.before.receives.get(index).map_or(Bytes::ZERO, |flow| flow.bytes);
            let goodput = self.rate(before, flow.bytes);
            let text = received(flow, goodput, goodput / line, bars);
            lines.push(match flow.missing + flow.duplicates {
                0 => text,
                _ => paint.paint(Mood::Bad, &text),
            });
        }
        for (index, flow) in now.sends.iter().enumerate() {
            let before = self.before.sends.get(index).map_or(Bytes::ZERO, |flow| flow.bytes);
            let rate = self.rate(before, flow.bytes);
            lines.push(sent(flow, rate, rate / line, bars));
        }
    }

    /// The mean rate between the two instants.
    fn rate(&self, before: Bytes, now: Bytes) -> f64 {
        let span = self.now.time.saturating_since(self.before.time);
        match span {
            Span::ZERO => 0.0,
            span => now.saturating_sub(before).get() as f64 * 8.0 / span.as_secs_f64(),
        }
    }
}

/// The fullest class of a port, beside its buffer.
fn queue(port: &PortReport, setting: Option<&PortSetting>, bars: Bars) -> String {
    let share = |class: &ClassReport| match class.buffer {
        Bytes::ZERO => 0.0,
        buffer => class.held.get() as f64 / buffer.get() as f64,
    };
    let classes = port.classes.iter().enumerate();
    let Some((lane, fullest)) = classes.max_by(|a, b| share(a.1).total_cmp(&share(b.1))) else {
        return " ".repeat(8 + bars.queue);
    };
    let mark = setting.and_then(|setting| setting.lanes.get(lane)?.mark);
    let mark = mark.map(|mark| mark.get() as f64 / fullest.buffer.get() as f64);
    let held = quantity::bytes(fullest.held);
    format!("{held:>7} {}", bar(share(fullest), mark, bars.queue))
}

/// What the far end allows the class that it allows least, and how bad that is.
fn state(port: &PortReport, setting: Option<&PortSetting>) -> (String, Mood) {
    let classes = port.classes.iter().enumerate();
    // One that is stopped is allowed nothing.
    let allowed = |class: &ClassReport| {
        if class.is_stopped { 0 } else { class.allowed_bps.unwrap_or(0) }
    };
    let Some((lane, class)) = classes.min_by_key(|(_, class)| allowed(class)) else {
        return (String::new(), Mood::Good);
    };
    let scheme = setting.and_then(|setting| Some(setting.lanes.get(lane)?.egress));
    let (state, mood) = match (allowed(class), scheme) {
        (0, Some("pfc")) => ("paused".to_string(), Mood::Bad),
        (0, Some("cbfc")) => ("no credit".to_string(), Mood::Bad),
        (0, _) => ("stopped".to_string(), Mood::Bad),
        (bps, _) if bps >= port.line_bps => ("freely".to_string(), Mood::Good),
        (bps, Some("gfc-buffer")) => {
            // Each stage has half the rate of the one before.
            let stage = (port.line_bps as f64 / bps as f64).log2().round();
            (format!("stage {stage}"), Mood::Poor)
        }
        (bps, _) => (quantity::rate(bps as f64), Mood::Poor),
    };
    match port.classes.len() {
        0 | 1 => (state, mood),
        _ => (format!("{state} c{}", class.class), mood),
    }
}

/// A flow at its target.
fn received(flow: &ReceiveReport, goodput: f64, share: f64, bars: Bars) -> String {
    let Quantiles { p50, p99, .. } = flow.latency;
    let latency = |span: Span| match flow.latency.count {
        0 => String::new(),
        _ => quantity::span(span),
    };
    let line = format!(
        "{:8} {:>9} {}  {:>12}  {:>9}  {:>9}  {:>9}",
        fit(&format!("<- {}", flow.name), 8),
        quantity::rate(goodput),
        bar(share, None, bars.rate),
        quantity::count(flow.frames),
        quantity::count(flow.missing),
        latency(p50),
        latency(p99),
    );
    line.trim_end().to_string()
}

/// A flow at its source.
fn sent(flow: &SendReport, rate: f64, share: f64, bars: Bars) -> String {
    let allowed = match flow.allowed_bps {
        0 => "done".to_string(),
        bps => format!("allowed {}", quantity::rate(bps as f64)),
    };
    format!(
        "{:8} {:>9} {}  {:>12}  {allowed}",
        fit(&format!("-> {}", flow.name), 8),
        quantity::rate(rate),
        bar(share, None, bars.rate),
        quantity::count(flow.frames),
    )
}

/// A bar that is full at 1, with a mark where something happens.
fn bar(share: f64, mark: Option<f64>, width: usize) -> String {
    let full = |share: f64| (share * width as f64).round().clamp(0.0, width as f64) as usize;
    // What is not nothing is seen.
    let filled = full(share).max(usize::from(share > 0.0));
    let mark = mark.map(|mark| full(mark).min(width - 1));
    let cell = |index| match index {
        index if Some(index) == mark => '|',
        index if index < filled => '#',
        _ => '.',
    };
    (0..width).map(cell).collect()
}

/// At most so many characters of a name.
fn fit(name: &str, width: usize) -> String {
    match name.chars().nth(width) {
        None => name.to_string(),
        Some(_) => name.chars().take(width - 1).chain(['~']).collect(),
    }
}
