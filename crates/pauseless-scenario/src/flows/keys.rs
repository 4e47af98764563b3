//! The keys of `[timing]` and `[[flow]]`, and those that `[[flow]]` and `[[traffic]]` share.

use std::ops::RangeInclusive;

use pauseless_core::class_map::LANE_COUNT;
use pauseless_core::host::Duty;
use pauseless_core::unit::{Bytes, Rate, Span};
use pauseless_fabric::path::Step;
use pauseless_fabric::topology::Topology;
use pauseless_sim::clock::{Clocks, Oscillator};
use pauseless_sim::config::Ties;

use super::super::FRAMES;
use super::super::topology::DELAYS;
use super::{Limits, Plan, Terms};
use pauseless_text::declare::{At, FileValue, Filled, Item, Key, Kind, List};
use pauseless_text::file::quote;
use pauseless_text::unit::Quantity;
use pauseless_text::{section, words};

/// A day: picoseconds in 64 bits reach 213 times further, so that no sum of times overflows.
pub const TIMES: RangeInclusive<Span> = Span::ZERO..=Span::s(86_400);
/// The bytes that a flow may send.
pub const SIZES: RangeInclusive<Bytes> = Bytes::new(1)..=Bytes::mb(1_000_000_000);
/// All classes and labels that there could be.
pub const CLASSES: RangeInclusive<u64> = 0..=LANE_COUNT as u64 - 1;
/// How long a flow sends or is silent at a stretch.
const STRETCHES: RangeInclusive<Span> = Span::ps(1)..=*TIMES.end();
/// The most flows of one `[[flow]]`: more are the business of `[[traffic]]`.
const COUNT_MAX: u64 = 100_000;
/// The TTL of a flow that circles, if none was written: what hosts commonly send with.
const TTL_OF_LOOPS: u8 = 64;

/// What comes first at one instant, as files write it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FirstAtOnce(pub Ties);

words! {
    FirstAtOnce {
        "control-first" => FirstAtOnce(Ties::Control),
        "arrivals-first" => FirstAtOnce(Ties::Arrivals),
    }
}

/// Which ports have one clock, as files write it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockPer(pub Oscillator);

words! {
    ClockPer {
        "port" => ClockPer(Oscillator::PerPort),
        "switch" => ClockPer(Oscillator::PerNode),
    }
}

section! {
    /// What is not exactly as the links and the flows say.
    pub struct Timing {
        /// Each flow starts up to this much later; by the seed and its name, except for those of
        /// `poisson`, `incast`, which has a `jitter` of its own, and `list`.
        start_jitter: Span, within TIMES, default Span::us(5);
        /// Each frame arrives up to this much later than the delay says, in order.
        wire_jitter: Span, within DELAYS, default Span::ZERO;
        /// Each frame occupies its egress up to this much longer than its size says, drawn anew for
        /// each, so that frames that begin at one instant do not end at one; see
        /// [paced.md](paced.md).
        line_jitter: Span, within DELAYS, default Span::ZERO, written if_changed;
        /// The clock of every port is up to this many millionths faster or slower than its rate
        /// says, for the whole run; by the seed and its name. 802.3 allows 100; see
        /// [clocks.md](clocks.md).
        clock_ppm: f64, within 0.0..=100.0, default 0.0, written if_changed;
        /// Whether each port has a clock of its own, or all ports of a switch have one.
        clock_per: ClockPer, default ClockPer(Oscillator::PerPort), written if_changed;
        /// The share of frames with data or answers that every wire loses in each direction; by the
        /// seed. They are counted apart, are no finding unless `--deny loss` asks for it, and
        /// control frames are never among them.
        wire_loss: f64, within 0.0..=0.5, default 0.0, written if_changed;
        /// What comes first at one instant; control frames that take effect, or with
        /// `"arrivals-first"` packets that arrive. For comparisons, [htsim.md](htsim.md) has how
        /// much it matters.
        ties: FirstAtOnce, default FirstAtOnce(Ties::Control), written if_changed;
        /// The instant at which every flow stops.
        sources_stop: Span, within TIMES, derived "never";
    }
}

section! {
    /// What a flow does, whoever sends it.
    pub struct Common {
        /// The pace; without it the flow is greedy.
        rate: Rate, derived "that of the link";
        /// Frame bytes to send.
        size: Bytes, within SIZES, derived "without end";
        /// The rate at which it starts under `[congestion_control]`, at most its pace.
        initial_rate: Rate, derived "that of the link";
        /// Frame bytes of a packet, up to `mtu`.
        packet: Bytes, within FRAMES, checked later, derived "`mtu`";
        /// When it starts, before `timing.start_jitter`; the first flows of `[[traffic]]` start then,
        /// or after it.
        start: Span, within TIMES, default Span::ZERO;
        /// When it stops although it is not finished. Of `[[traffic]]` no flow starts then or later;
        /// where flows wait for others, in a permutation and with `closing`, it cuts off those that
        /// are not finished.
        stop: Span, within TIMES, derived "never";
        /// The traffic class, with `[classes]` that in which it enters. For `[[traffic]]`, that of
        /// flows that are not smaller than a bound of `classes_by_size`.
        class: u64, within CLASSES, checked later, default 0;
        /// What packets carry all the way, such as a service level, for `[classes]` with
        /// `key = "label"`.
        label: u8, within CLASSES, derived "its class";
        /// Every switch that a packet arrives at takes one off, and drops it at zero. Hosts do not.
        ttl: u8, within 1..=u64::from(u8::MAX), derived "none, with a `loop` 64";
        /// For how long it sends, before it is silent for `off`, and so on from its start; both or
        /// none.
        on: Span, within STRETCHES,
            needed |keys| keys.off.is_written, "\"1 ms\", how long it sends",
            derived "always on";
        /// For how long it is silent, before it sends again for `on`.
        off: Span, within STRETCHES,
            needed |keys| keys.on.is_written, "\"1 ms\", how long it is silent",
            derived "never silent";
        /// Whether it obeys `[congestion_control]`.
        congestion_control: bool, default true;
    }
}

section! {
    /// A flow. Its name decides the start offset and the hash, so the order of flows in the file
    /// does not matter.
    pub struct Flow {
        /// What it is called, unlike all others; the second of the same ends is
        /// `"SOURCE->TARGET#2"`, and so on, numbered by what the flows are (start, size, rate, class,
        /// packet, stop, and so on), never by their order.
        name: FlowName, derived "`\"SOURCE->TARGET\"`";
        /// The host that sends.
        source: String, within "the name of a host", required "\"H1\"";
        /// The host that receives. With a `loop`, it is whom the packets are for; they never arrive.
        target: String, within "the name of a host", required "\"H2\"";
        /// The switches from source to target; the hosts may be written, too. `"S2#2"` is S2 by the
        /// second of the parallel links that lead there and are not failed; without a number it is
        /// the first.
        path: List<String>, within "a list of strings", derived "by `[routing]`";
        /// Switches that packets go round until their TTL has run out; with `["S1", "S2"]` they go
        /// to S1 first. `path` has the switches before the loop, if there are any; `"S1#2"` closes
        /// the loop by the second of parallel links. Such a flow obeys no congestion control,
        /// because nobody receives it.
        round as "loop": List<String>, within "a list of strings", derived "none";
        /// The switches from target to source, for what the source is told
        /// (`[congestion_control]`).
        return_path: List<String>, within "a list of strings", derived "by `[routing]`";
        /// The keys that all kinds of flows have.
        common: Common, keys inline;
        /// The number of flows like this; they are called `NAME#1`, `NAME#2`.., or numbered as
        /// flows of the same ends.
        count: u64, within 1..=COUNT_MAX, default 1, written if_changed;
        /// Names of flows that must be finished before it starts; a `NAME` with a `count` is all of
        /// them. It starts no earlier than its `start`.
        after: List<String>, within "a list of strings", derived "none";
        /// How long after the last of them it starts.
        delay: Span, within TIMES, derived "`\"0 us\"`";
    }
}

impl Timing {
    /// How far line clocks may be from their rates.
    pub(crate) fn clocks(&self) -> Clocks {
        Clocks {
            deviation_max_ppb: (self.clock_ppm.value * 1e3).round() as u32,
            oscillator: self.clock_per.value.0,
        }
    }
}

impl Common {
    /// Fills in what was left out, and checks what depends on other keys and other sections.
    pub(crate) fn complete(&mut self, limits: Limits<'_>) {
        let packets = Bytes::new(64).min(limits.mtu)..=limits.mtu;
        let is_good = |packet: &At<Bytes>| packet.is_within(&packets, limits.sink);
        self.packet.given = self.packet.given.take().filter(is_good);
        if self.packet.given.is_none() {
            self.packet = Key::of(limits.mtu);
        }
        let classes = 0..=u64::from(limits.class_count) - 1;
        if let Some(place) = &self.class.place
            && !place.has_within(self.class.value, &classes, limits.sink)
        {
            self.class = Filled::new(0);
        }
        let start = self.start.value;
        if let Some(stop) = self.stop.given.as_ref().filter(|stop| stop.value <= start) {
            let problem = stop.place.problem("the flow stops before it starts");
            limits.sink.push(problem.expected(format!("later than {}", start.exact())));
        }
    }

    /// What was written, after [`Common::complete`].
    pub(crate) fn terms(&self) -> Terms {
        let duty = self.on.copied().zip(self.off.copied());
        Terms {
            size: self.size.copied(),
            packet: self.packet.copied().expect("`complete` sets the packet size"),
            start: self.start.value,
            stop: self.stop.copied(),
            class: self.class.value as u8,
            label: self.label.copied(),
            ttl: self.ttl.copied(),
            duty: duty.map_or(Duty::ALWAYS, |(on, off)| Duty { on, off }),
            is_controlled: self.congestion_control.value,
        }
    }

    /// The keys that say what a plan does, with nothing left out.
    fn of(plan: &Plan) -> Common {
        let terms = &plan.terms;
        let key = |span: Span| {
            if terms.duty == Duty::ALWAYS { Key::default() } else { Key::of(span) }
        };
        Common {
            rate: Key::of(plan.pace),
            size: terms.size.map_or(Key::default(), Key::of),
            initial_rate: plan.initial.map_or(Key::default(), Key::of),
            packet: Key::of(terms.packet),
            start: Filled::new(terms.start),
            stop: terms.stop.map_or(Key::default(), Key::of),
            class: Filled::new(terms.class.into()),
            label: terms.label.map_or(Key::default(), Key::of),
            ttl: terms.ttl.map_or(Key::default(), Key::of),
            on: key(terms.duty.on),
            off: key(terms.duty.off),
            congestion_control: Filled::new(terms.is_controlled),
            ..Common::default()
        }
    }
}

impl Flow {
    /// Fills in what was left out, and checks what depends on other keys and other sections.
    pub(crate) fn complete(&mut self, limits: Limits<'_>) {
        self.common.complete(limits);
        if self.round.given.is_some() {
            // Nobody receives what circles, so nobody answers; and it has to end.
            self.common.congestion_control = Filled::new(false);
            if self.common.ttl.given.is_none() {
                self.common.ttl = Key::of(TTL_OF_LOOPS);
            }
        }
        if let Some(place) = self.delay.place().filter(|_| !self.after.is_written) {
            let problem = place.problem("a delay after what?");
            limits.sink.push(problem.help("add after = [\"NAME\"], or write start instead"));
        }
    }

    /// The section that says what a plan is, with nothing left out but what it waits for.
    pub(crate) fn of(plan: &Plan, topology: &Topology) -> Flow {
        let name = |step: &Step| topology.node(step.node).name.clone();
        let step = |step: &Step| match step.link {
            1 => At::of(name(step)),
            number => At::of(format!("{}#{number}", name(step))),
        };
        let steps = |steps: &[Step]| Key::of(Vec::from_iter(steps.iter().map(step)));
        let mut flow = Flow {
            name: Key::of(FlowName(plan.name.clone())),
            source: Key::of(topology.node(plan.source).name.clone()),
            target: Key::of(topology.node(plan.target).name.clone()),
            common: Common::of(plan),
            ..Flow::default()
        };
        match (plan.path.as_deref(), &plan.round[..]) {
            (Some([_, switches @ .., _]), []) => flow.path = steps(switches),
            (Some([_, switches @ ..]), [_, ..]) => {
                flow.path = steps(switches);
                flow.round = steps(&plan.round);
            }
            _ => {}
        }
        if let Some([_, switches @ .., _]) = plan.return_path.as_deref() {
            flow.return_path = steps(switches);
        }
        flow
    }
}

/// What flows are called: a line of text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowName(pub String);

impl FileValue for FlowName {
    type Limit = ();

    fn take(item: Item<'_>, (): &()) -> Option<At<FlowName>> {
        let sink = item.sink();
        let At { value, place } = item.string()?;
        if value.is_empty() || value.contains(char::is_control) {
            let problem = place.problem("a name of a flow is a line of text");
            sink.push(problem.expected("at least one character, none of them control"));
            return None;
        }
        let value = FlowName(value);
        Some(At { value, place })
    }

    fn kind((): &()) -> Kind {
        Kind::Text("a line of text")
    }

    fn show(&self) -> String {
        quote(&self.0)
    }
}
