//! What the keys of a configuration mean for the run: each is heeded, without effect, or refused.

use std::collections::{BTreeMap, BTreeSet};

use pauseless_core::unit::Rate;

use pauseless_text::lex::Word;

use super::super::Compat;
use super::Input;

/// What the keys say.
#[derive(Clone, Debug)]
pub(super) struct Settings {
    /// Payload bytes of a full packet.
    pub payload: u64,
    /// The end of the run, in nanoseconds.
    pub stop: u64,
    /// The memory of every switch.
    pub buffer: u64,
    pub control: Control,
    /// By the rate of a link; empty where nothing is marked.
    pub marking: BTreeMap<u64, Marking>,
    /// Whether acknowledgements go first at hosts, and are never paused there.
    pub acks_first: bool,
    pub window: Window,
    /// Whether sources keep to their rates, and not to their windows alone.
    pub is_rate_bound: bool,
    /// The share of packets that every link loses.
    pub loss: f64,
    /// The share of packets that links lose whose lines say nothing.
    pub usual_loss: f64,
    /// The number of bytes before which nothing is acknowledged.
    pub ack_interval: u64,
    /// The link that fails during the run.
    pub failure: Option<LinkFailure>,
    pub seed: u64,
    /// How switches choose among next hops.
    pub balancing: Balancing,
    pub notes: Vec<String>,
}

/// How switches choose among next hops, by the number of LB_MODE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Balancing {
    FlowHash,
    Drill,
    Conga,
    LetFlow,
}

/// A link that fails during the run, and does not return.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct LinkFailure {
    /// When it fails, in nanoseconds.
    pub at: u64,
    /// The numbers of its two nodes.
    pub ends: [usize; 2],
}

/// The congestion control that the configuration chooses.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Control {
    None,
    Dcqcn(Dcqcn),
    Hpcc(Hpcc),
    Timely(Timely),
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Dcqcn {
    pub alpha_us: f64,
    pub decrease_us: f64,
    pub increase_us: f64,
    pub gain: f64,
    pub stages: u64,
    pub clamps: bool,
    pub rate_ai: Rate,
    pub rate_hai: Rate,
    pub rate_min: Rate,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Hpcc {
    pub target: f64,
    pub stages: u64,
    pub rate_ai: Rate,
    pub rate_min: Rate,
    pub is_fast: bool,
    pub is_per_hop: bool,
    pub is_sampling: bool,
    pub multiple: u64,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Timely {
    pub rate_ai: Rate,
    pub rate_hai: Rate,
    pub rate_min: Rate,
}

/// When packets are marked at a link of some rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Marking {
    pub kmin: u64,
    pub kmax: u64,
    pub pmax: f64,
}

/// How far sources run ahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Window {
    None,
    /// The largest product of all pairs of hosts, or that of a flow's own pair.
    Product {
        is_global: bool,
        follows_rate: bool,
    },
}

/// Files and words that say where things are, and what the whole run is made of.
const ALWAYS: [&str; 22] = [
    "ACK_HIGH_PRIO",
    "BUFFER_SIZE",
    "CC_MODE",
    "ENABLE_QCN",
    "ERROR_RATE_PER_LINK",
    "FCT_OUTPUT_FILE",
    "FLOWGEN_STOP_TIME",
    "FLOW_FILE",
    "HAS_WIN",
    "L2_ACK_INTERVAL",
    "L2_BACK_TO_ZERO",
    "LB_MODE",
    "LINK_DOWN",
    "PACKET_PAYLOAD_SIZE",
    "PAUSE_TIME",
    "PFC_OUTPUT_FILE",
    "QLEN_MON_END",
    "QLEN_MON_FILE",
    "QLEN_MON_START",
    "RATE_BOUND",
    "SIMULATOR_STOP_TIME",
    "TOPOLOGY_FILE",
];

/// The instant in nanoseconds from which the time of `LINK_DOWN` counts.
const SECOND_SECOND: u64 = 2_000_000_000;

impl LinkFailure {
    /// How the failure differs from that of the other simulator, for the user.
    fn note(self) -> String {
        let [a, b] = self.ends;
        format!(
            "LINK_DOWN: the link {a}-{b} fails at {} s with the rules of this engine: all switches route \
             anew in the same instant, as there; packets that are lost with it leave the counters of \
             their switches, windows and round-trip times of flows stay, and what was sent and lost is \
             sent again only by go-back-N",
            self.at as f64 / 1e9
        )
    }
}

impl Settings {
    /// Reads all keys; `None` if something cannot be left out. Problems go to the sink.
    pub fn read(input: Input<'_>) -> Option<Settings> {
        let Input { config, sink, .. } = input;
        let mut heeded = BTreeSet::from(ALWAYS);
        let payload = config.integer("PACKET_PAYLOAD_SIZE", 1_000, sink);
        check(input, "PACKET_PAYLOAD_SIZE", (16..=65_000).contains(&payload), "16 to 65000 bytes");
        let buffer = read_buffer(input);
        refuse_unsupported(input, payload);
        let control = read_control(input, &mut heeded);
        let marks = config.flag("ENABLE_QCN", true, sink);
        let marking = match (&control, marks) {
            (Some(Control::Dcqcn(_)), true) => {
                heeded.extend(["KMAX_MAP", "KMIN_MAP", "PMAX_MAP"]);
                read_marking(input)
            }
            _ => BTreeMap::new(),
        };
        let window = read_window(input, &mut heeded);
        if matches!(control, Some(Control::Hpcc(_))) {
            heeded.insert("GLOBAL_T");
            check(input, "HAS_WIN", window != Window::None, "1: HPCC computes with its window");
        }
        let loss = read_loss(input);
        let seed = config.integer("RANDOM_SEED", 1, sink);
        if input.is_conweave {
            heeded.insert("RANDOM_SEED");
        }
        let failure = read_failure(input);
        let mut notes = notes(input, &heeded);
        notes.extend(failure.map(LinkFailure::note));
        Some(Settings {
            payload: payload.clamp(16, 65_000),
            stop: super::stop_time(input),
            buffer,
            control: control?,
            marking,
            acks_first: config.flag("ACK_HIGH_PRIO", input.is_conweave, sink),
            window,
            is_rate_bound: config.flag("RATE_BOUND", true, sink),
            loss,
            usual_loss: config.number("ERROR_RATE_PER_LINK", 0.0, sink),
            ack_interval: config.integer("L2_ACK_INTERVAL", 0, sink),
            failure,
            seed,
            balancing: read_balancing(input),
            notes,
        })
    }

    /// Bytes that telemetry or time stamps add to every data frame.
    pub(super) fn stamps(&self) -> u64 {
        match self.control {
            Control::Hpcc(_) => 42,
            Control::Timely(_) => 8,
            Control::Dcqcn(_) | Control::None => 0,
        }
    }

    /// Frame bytes of an acknowledgement, which carries those back.
    pub(super) fn acknowledgement(&self) -> u64 {
        match self.control {
            Control::Hpcc(_) => 88,
            _ => 60,
        }
    }
}

/// Reports a value that is out of range.
fn check(input: Input<'_>, key: &str, is_good: bool, expected: &str) {
    if is_good {
        return;
    }
    match input.config.entry(key) {
        Some(entry) => {
            let text = entry.values.first().map_or("", |word| word.text);
            input.sink.push(entry.problem(format!("{text} cannot be run")).expected(expected));
        }
        None => missing(input, key, expected),
    }
}

fn missing(input: Input<'_>, key: &str, expected: &str) {
    let problem = pauseless_text::problem::Problem::new(0..0, format!("{key} is missing"));
    input.sink.push(problem.help(format!("add a line {key} with {expected}")));
}

/// Reports a key whose value would change the result and is not supported.
fn refuse(input: Input<'_>, key: &str, message: &str, help: &str) {
    if let Some(entry) = input.config.entry(key) {
        input.sink.push(entry.problem(message).help(help));
    }
}

fn read_buffer(input: Input<'_>) -> u64 {
    let Input { config, sink, .. } = input;
    let usual = if input.is_conweave { 0 } else { 16 };
    let megabytes = config.integer("BUFFER_SIZE", usual, sink);
    // A switch counts in 32 bits there, too.
    check(input, "BUFFER_SIZE", (1..=3_800).contains(&megabytes), "1 to 3800 MiB");
    megabytes.clamp(1, 3_800) << 20
}

fn refuse_unsupported(input: Input<'_>, payload: u64) {
    let Input { config, sink, .. } = input;
    if config.number("PAUSE_TIME", 5.0, sink) < 1.0 {
        let help = "write any time of 1 or more: pauses end by a resume there";
        refuse(input, "PAUSE_TIME", "a PAUSE of no time is a resume", help);
    }
    let interval = config.integer("L2_ACK_INTERVAL", 0, sink);
    if interval == 0 {
        check(input, "L2_ACK_INTERVAL", false, "1: without acknowledgements no flow finishes");
    } else if interval > payload {
        let message = "packets without acknowledgements are not supported";
        let help = "it is a number of bytes, not of packets; write 1 for one per packet";
        refuse(input, "L2_ACK_INTERVAL", message, help);
    }
    if config.flag("L2_BACK_TO_ZERO", false, sink) {
        let message = "going back to the start of a chunk is not supported";
        refuse(input, "L2_BACK_TO_ZERO", message, "write 0 for go-back-N");
    }
    if config.flag("ENABLE_IRN", false, sink) {
        refuse(input, "ENABLE_IRN", "selective retransmission is not supported", "write 0");
    }
    if !config.flag("ENABLE_PFC", true, sink) {
        refuse(input, "ENABLE_PFC", "lossy switches are not supported", "write 1");
    }
}

fn read_balancing(input: Input<'_>) -> Balancing {
    let other = match input.config.integer("LB_MODE", 0, input.sink) {
        0 => return Balancing::FlowHash,
        2 => return Balancing::Drill,
        3 => return Balancing::Conga,
        6 => return Balancing::LetFlow,
        9 => "ConWeave",
        _ => "this way of balancing load",
    };
    let help = "write 0 for ECMP by flow, 2 for DRILL, 3 for CONGA or 6 for LetFlow";
    refuse(input, "LB_MODE", &format!("{other} is not supported"), help);
    Balancing::FlowHash
}

/// `LINK_DOWN t A B`: the link between the nodes A and B fails t microseconds after the second second;
/// with a time of 0 none does, whatever stands behind it.
fn read_failure(input: Input<'_>) -> Option<LinkFailure> {
    let Input { config, sink, .. } = input;
    let entry = config.entry("LINK_DOWN")?;
    let [time, first, second] = &entry.values[..] else {
        return None;
    };
    let time = sink.take(time.integer(0..=u64::from(u32::MAX)))?;
    if time == 0 {
        return None;
    }
    if input.compat == Compat::Hpcc && !input.is_conweave {
        let message = "the replica has no links that fail: packets that are lost with one stay in the \
                       counters of their switch in that simulator, and pause its ports for ever";
        let help = "leave --compat hpcc out: then the link fails with the rules of real switches";
        refuse(input, "LINK_DOWN", message, help);
        return None;
    }
    let end = |word: &Word<'_>| sink.take(word.integer(0..=u64::from(u32::MAX)));
    let (first, second) = (end(first)?, end(second)?);
    let ends = [first as usize, second as usize];
    let mut links = input.topology?.links.iter();
    if !links.any(|link| link.ends == ends || link.ends == [ends[1], ends[0]]) {
        let problem = entry.problem(format!("no link joins {first} and {second}"));
        let help = "write LINK_DOWN, the time in us after 2 s, and two nodes of a line of TOPOLOGY_FILE; \
                    or LINK_DOWN 0 0 0";
        sink.push(problem.help(help));
    }
    Some(LinkFailure { at: SECOND_SECOND + time * 1_000, ends })
}

fn read_control(input: Input<'_>, heeded: &mut BTreeSet<&'static str>) -> Option<Control> {
    let Input { config, sink, .. } = input;
    let rate = |key: &'static str, usual: Option<Rate>| match config.entry(key) {
        Some(_) => config.rate(key, sink),
        None => {
            if usual.is_none() {
                missing(input, key, "a rate, as in 40Mb/s");
            }
            usual
        }
    };
    let least = || rate("MIN_RATE", Some(Rate::mbps(100)));
    match config.integer("CC_MODE", 1, sink) {
        1 => {
            heeded.extend(["ALPHA_RESUME_INTERVAL", "RATE_DECREASE_INTERVAL", "RP_TIMER"]);
            heeded.extend(["EWMA_GAIN", "FAST_RECOVERY_TIMES", "CLAMP_TARGET_RATE"]);
            heeded.extend(["RATE_AI", "RATE_HAI", "MIN_RATE"]);
            let dcqcn = read_dcqcn(input);
            let rates = (rate("RATE_AI", None), rate("RATE_HAI", None), least());
            let (Some(rate_ai), Some(rate_hai), Some(rate_min)) = rates else {
                return None;
            };
            Some(Control::Dcqcn(Dcqcn { rate_ai, rate_hai, rate_min, ..dcqcn }))
        }
        3 => {
            heeded.extend(["U_TARGET", "MI_THRESH", "INT_MULTI", "FAST_REACT", "MULTI_RATE"]);
            heeded.extend(["SAMPLE_FEEDBACK", "RATE_AI", "MIN_RATE"]);
            Some(Control::Hpcc(Hpcc {
                rate_ai: rate("RATE_AI", None)?,
                rate_min: least()?,
                ..read_hpcc(input)
            }))
        }
        7 => {
            heeded.extend(["RATE_AI", "RATE_HAI", "MIN_RATE"]);
            Some(Control::Timely(Timely {
                rate_ai: rate("RATE_AI", None)?,
                rate_hai: rate("RATE_HAI", None)?,
                rate_min: least()?,
            }))
        }
        mode @ (8 | 10) => {
            let name = if mode == 8 { "DCTCP" } else { "HPCC with PINT" };
            let help = match mode {
                8 => {
                    "1 is DCQCN, 3 HPCC, 7 TIMELY, 0 none; for DCTCP in our own engine convert with 0 and \
                      write kind = \"dctcp\" into [congestion_control]"
                }
                _ => "1 is DCQCN, 3 HPCC, 7 TIMELY, 0 none",
            };
            refuse(input, "CC_MODE", &format!("{name} is not supported"), help);
            None
        }
        _ => Some(Control::None),
    }
}

/// The parameters of HPCC, with any rates.
fn read_hpcc(input: Input<'_>) -> Hpcc {
    let Input { config, sink, .. } = input;
    let target = config.number("U_TARGET", 0.95, sink);
    let is_good = (0.01..=1.0).contains(&target);
    check(input, "U_TARGET", is_good, "from 0.01 to 1");
    let multiple = config.integer("INT_MULTI", 1, sink);
    check(input, "INT_MULTI", (1..=65_536).contains(&multiple), "1 to 65536");
    let stages = config.integer("MI_THRESH", 5, sink);
    check(input, "MI_THRESH", stages <= 1_000, "at most 1000");
    Hpcc {
        target,
        stages,
        rate_ai: Rate::mbps(1),
        rate_min: Rate::mbps(1),
        is_fast: config.flag("FAST_REACT", true, sink),
        is_per_hop: config.flag("MULTI_RATE", true, sink),
        is_sampling: config.flag("SAMPLE_FEEDBACK", false, sink),
        multiple,
    }
}

/// The parameters of DCQCN, with any rates.
fn read_dcqcn(input: Input<'_>) -> Dcqcn {
    let Input { config, sink, .. } = input;
    let time = |key: &str, usual: f64| {
        let value = config.number(key, usual, sink);
        if input.compat == Compat::Hpcc {
            // Its clock takes whole microseconds of a double, without a word.
            let is_good = (1.0..=1e7).contains(&value);
            check(input, key, is_good, "a time from 1 to 10000000 us");
            return value.floor();
        }
        let is_good = (0.001..=1e7).contains(&value);
        check(input, key, is_good, "a time from 0.001 to 10000000 us");
        value
    };
    // Its usual value is 1 / 16 in whole numbers, which is nothing.
    let gain = config.number("EWMA_GAIN", 0.0, sink);
    check(input, "EWMA_GAIN", gain > 0.0 && gain <= 1.0, "more than 0, at most 1");
    let any = Rate::mbps(1);
    Dcqcn {
        alpha_us: time("ALPHA_RESUME_INTERVAL", 55.0),
        decrease_us: time("RATE_DECREASE_INTERVAL", 4.0),
        increase_us: time("RP_TIMER", if input.is_conweave { 300.0 } else { 0.0 }),
        gain,
        stages: config.integer("FAST_RECOVERY_TIMES", if input.is_conweave { 1 } else { 5 }, sink),
        clamps: config.flag("CLAMP_TARGET_RATE", false, sink),
        rate_ai: any,
        rate_hai: any,
        rate_min: any,
    }
}

fn read_marking(input: Input<'_>) -> BTreeMap<u64, Marking> {
    let Input { config, sink, .. } = input;
    let maps = ["KMIN_MAP", "KMAX_MAP", "PMAX_MAP"].map(|key| (key, config.by_rate(key, sink)));
    let links = input.topology.map_or(&[][..], |topology| &topology.links);
    let rates = BTreeSet::from_iter(links.iter().map(|link| link.rate.as_bps()));
    let mut marking = BTreeMap::new();
    for rate in rates {
        let [kmin, kmax, pmax] = maps.each_ref().map(|(key, map)| {
            let value = map.get(&rate).copied();
            if value.is_none() {
                let message = format!("{key} has no entry for links of {rate} bit/s");
                let problem = match config.entry(key) {
                    Some(entry) => entry.problem(message),
                    None => pauseless_text::problem::Problem::new(0..0, message),
                };
                sink.push(problem.help("add one for each rate in TOPOLOGY_FILE"));
            }
            value
        });
        if let (Some(kmin), Some(kmax), Some(pmax)) = (kmin, kmax, pmax) {
            let is_good = kmin <= kmax && kmax <= 4e6 && pmax <= 1.0;
            check(input, "KMAX_MAP", is_good, "at least that of KMIN_MAP, and PMAX_MAP at most 1");
            let (kmin, kmax) = (kmin as u64 * 1_000, kmax as u64 * 1_000);
            marking.insert(rate, Marking { kmin, kmax, pmax });
        }
    }
    marking
}

fn read_window(input: Input<'_>, heeded: &mut BTreeSet<&'static str>) -> Window {
    let Input { config, sink, .. } = input;
    if !config.flag("HAS_WIN", true, sink) {
        return Window::None;
    }
    heeded.extend(["GLOBAL_T", "VAR_WIN"]);
    Window::Product {
        is_global: config.integer("GLOBAL_T", 1, sink) == 1,
        follows_rate: config.flag("VAR_WIN", false, sink),
    }
}

/// What every link loses: the rate of its own line, or that of the configuration where that has none.
fn read_loss(input: Input<'_>) -> f64 {
    let usual = input.config.number("ERROR_RATE_PER_LINK", 0.0, input.sink);
    check(input, "ERROR_RATE_PER_LINK", usual <= 0.5, "at most 0.5");
    let links = input.topology.map_or(&[][..], |topology| &topology.links);
    let shares = links.iter().map(|link| if link.loss > 0.0 { link.loss } else { usual });
    let shares = BTreeSet::from_iter(shares.map(f64::to_bits));
    if shares.len() > 1 {
        let problem = pauseless_text::problem::Problem::new(0..0, "links with different losses");
        let help = "write the same rate of errors for all links in TOPOLOGY_FILE, or 0 and \
                    ERROR_RATE_PER_LINK";
        input.sink.push(problem.help(help));
    }
    shares.first().map_or(usual, |bits| f64::from_bits(*bits))
}

/// What the user should know.
/// What is different here from load balancing there.
fn balancing_note(mode: u64) -> Option<&'static str> {
    match mode {
        2 => Some(
            "LB_MODE 2 runs with our own DRILL(2, 1), at every switch; packets overtake each other, and \
             targets throw away what overtakes",
        ),
        3 => Some(
            "LB_MODE 3 runs with our own rule: at every switch a flowlet begins with the port that has sent \
             least, without CONGA's feedback from the far leaf",
        ),
        6 => Some("LB_MODE 6 runs with our own LetFlow, at every switch, with a gap of 100 us"),
        _ => None,
    }
}

fn notes(input: Input<'_>, heeded: &BTreeSet<&'static str>) -> Vec<String> {
    let Input { config, sink, .. } = input;
    let mut notes = Vec::new();
    let idle = Vec::from_iter(config.keys().filter(|key| !heeded.contains(key)));
    if !idle.is_empty() {
        notes.push(format!("without effect on this run: {}", idle.join(", ")));
    }
    notes.extend(config.skipped());
    let mode = config.integer("CC_MODE", 1, sink);
    if config.entry("CC_MODE").is_none() {
        notes.push("CC_MODE is missing: 1, DCQCN, as there".into());
    }
    if ![0, 1, 3, 7, 8, 10].contains(&mode) {
        notes.push(format!("CC_MODE {mode} is none, as there: sources keep their rates"));
    }
    if !config.repeated.is_empty() {
        let keys = config.repeated.join(", ");
        notes.push(format!("stands more than once, the last one counts: {keys}"));
    }
    if config.flag("ENABLE_TRACE", !input.is_conweave, sink) && !input.is_conweave {
        notes.push("TRACE_OUTPUT_FILE is not written: use --pcap for a trace of frames".into());
    }
    notes.extend(balancing_note(config.integer("LB_MODE", 0, sink)).map(String::from));
    if input.is_conweave && input.compat == Compat::Hpcc {
        notes.push("the switches are those of the HPCC authors' simulator, not conweave's".into());
    }
    notes
}
