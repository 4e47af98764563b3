//! Every flow control by itself: what it says about itself, when it keeps a sender blocked for ever, and how
//! it gets over lost data and lost messages. Numbers are worked out by hand.

mod disguise;

use disguise::Language;
use disguise::flow_control::disguised_flow_control;
use pauseless_core::flow_control::gfc::{self, Measure};
use pauseless_core::flow_control::{
    AnyDownstream, AnyUpstream, Control, Downstream, FlowControl, Gate, Signal, Upstream, cbfc, pfc,
};
use pauseless_core::id::Class;
use pauseless_core::port::{LaneConfig, Port, PortConfig};
use pauseless_core::unit::{Bytes, Rate, Span, Time};
use proptest::prelude::*;

const LINE: Rate = Rate::gbps(10);
const PERIOD: Span = Span::us(10);

fn b(bytes: u64) -> Bytes {
    Bytes::new(bytes)
}

fn pfc() -> FlowControl {
    FlowControl::Pfc(pfc::Config { xoff: b(4_000), xon: b(2_000), quanta: pfc::QUANTA_MAX })
}

/// PFC without RESUME, with a pause of 25 us, which [`Link::talk`] outlasts.
fn timed_pfc() -> FlowControl {
    FlowControl::Pfc(pfc::Config { xoff: b(4_000), xon: pfc::NO_RESUME, quanta: 488 })
}

/// Credits for `blocks` blocks.
fn credits(blocks: u64) -> FlowControl {
    let counters = cbfc::Counters::Iba;
    FlowControl::Cbfc(cbfc::Config { capacity: b(blocks * 64), period: PERIOD, counters })
}

const UNIT: Rate = Rate::mbps(10);
const MAPPING: gfc::Mapping = gfc::Mapping {
    bm: Bytes::new(3_000),
    b0: Bytes::new(1_000),
    hold: Bytes::new(4_000),
    floor: UNIT,
    unit: UNIT,
};

fn gfc_buffer() -> FlowControl {
    FlowControl::GfcBuffer(gfc::BufferConfig {
        bm: b(3_000),
        b1: b(1_000),
        stages: 4,
        hold: b(4_000),
        unit: UNIT,
        refresh: None,
        hold_off: Span::ZERO,
        prompt_stage: 4,
    })
}

fn gfc_time(measure: Measure) -> FlowControl {
    let (mapping, capacity) = (MAPPING, b(8_000));
    FlowControl::GfcTime(gfc::TimeConfig { mapping, period: PERIOD, measure, capacity })
}

fn gfc_conceptual() -> FlowControl {
    FlowControl::GfcConceptual(gfc::ConceptualConfig { mapping: MAPPING, delay: Span::us(1) })
}

fn all() -> [FlowControl; 7] {
    let [message, credit] = [Measure::Message, Measure::Credit].map(gfc_time);
    [pfc(), timed_pfc(), credits(64), gfc_buffer(), message, credit, gfc_conceptual()]
}

#[test]
fn each_scheme_says_what_it_is() {
    let facts = |control: FlowControl| {
        let up = control.upstream(LINE);
        (
            control.name(),
            control.period(),
            control.charge(b(65)),
            control.has_limiter(),
            control.has_frames(),
            up.spends_credit(),
        )
    };
    let period = Some(PERIOD);
    assert_eq!(facts(FlowControl::None), ("none", None, b(65), false, true, false));
    assert_eq!(facts(pfc()), ("pfc", None, b(65), false, true, false));
    assert_eq!(facts(credits(64)), ("cbfc", period, b(128), false, true, true));
    assert_eq!(facts(gfc_buffer()), ("gfc-buffer", None, b(65), true, true, false));
    let time = gfc_time(Measure::Message);
    assert_eq!(facts(time), ("gfc-time", period, b(65), true, true, false));
    assert_eq!(facts(gfc_conceptual()), ("gfc-conceptual", None, b(65), true, false, false));
    // From another crate a scheme keeps its period and its cell, but has no frames.
    let outside = disguised_flow_control(credits(64), Language::ALL[0]).expect("there is one");
    assert_eq!((outside.period(), outside.charge(b(65))), (period, b(128)));
    assert!(!outside.has_frames());
}

/// A sender that nothing holds back, and its receiver, which never says anything.
#[test]
fn without_flow_control_nobody_waits() {
    let (mut up, mut down) =
        (FlowControl::None.upstream(LINE), FlowControl::None.downstream(LINE, Span::ZERO));
    down.on_enqueue(Time::ZERO, b(1_500), Bytes::mb(100));
    up.on_signal(Time::ZERO, Signal::Pause { quanta: 9 });
    up.on_transmit(Time::ZERO, b(1_500));
    assert_eq!((down.has_signal(Time::MAX), down.poll_signal(Time::MAX)), (false, None));
    assert_eq!(down.poll_timeout(), None);
    assert_eq!((down.resumes(), down.resumed_at()), (0, Time::ZERO));
    assert!(!down.keeps_blocked(Bytes::mb(100), b(1_500)));
    assert_eq!(up.gate(Time::ZERO, b(1_500)), Gate::Open);
    assert!(!up.is_stopped(Time::ZERO, b(1_500)));
    assert_eq!((up.rate(Time::ZERO), up.resumes()), (Some(LINE), 0));
    assert_eq!(up.complete(Signal::Stage(3)), Signal::Stage(3));
}

/// A link whose messages arrive at once.
#[derive(Clone)]
struct Link {
    control: FlowControl,
    now: Time,
    up: AnyUpstream,
    down: AnyDownstream,
    packets: Vec<Bytes>,
}

impl Link {
    fn new(control: FlowControl) -> Link {
        Link {
            control,
            now: Time::ZERO,
            up: control.upstream(LINE),
            down: control.downstream(LINE, PERIOD),
            packets: Vec::new(),
        }
    }

    fn held(&self) -> Bytes {
        self.packets.iter().map(|size| self.control.charge(*size)).sum()
    }

    fn send(&mut self, size: Bytes) {
        self.up.on_transmit(self.now, size);
        self.packets.push(size);
        self.down.on_enqueue(self.now, self.control.charge(size), self.held());
    }

    fn drain(&mut self) -> Option<Bytes> {
        let size = self.packets.pop()?;
        self.down.on_dequeue(self.now, self.control.charge(size), self.held());
        Some(size)
    }

    /// Lets all messages through that the receiver has for a while.
    fn talk(&mut self) {
        for _ in 0..3 {
            self.now = self.now + PERIOD;
            self.down.handle_timeout(self.now);
            while let Some(signal) = self.down.poll_signal(self.now) {
                self.up.on_signal(self.now, signal);
            }
        }
    }
}

proptest! {
    /// What the detector asks is what happens: a sender that is stopped stays so after everything but some
    /// packets has left, if and only if the receiver has said so beforehand. Sizes and thresholds are such
    /// that the buffer often ends exactly on a threshold.
    #[test]
    fn a_sender_stays_stopped_if_and_only_if_it_was_said(
        sizes in prop::collection::vec(1u64..5, 1..20),
        head in 1u64..5,
        kept in 0usize..20,
        number in 0usize..7,
    ) {
        let control = all()[number];
        let mut link = Link::new(control);
        for size in sizes {
            link.send(b(size * 500));
            link.talk();
        }
        let head = b(head * 500);
        prop_assume!(link.up.is_stopped(link.now, head));
        prop_assert!(!link.down.is_resume_on_its_way(&link.up, Time::ZERO));
        let mut after = link.clone();
        while after.packets.len() > kept {
            after.drain();
        }
        let kept = after.held();
        after.talk();
        let is_stopped = after.up.is_stopped(after.now, head);
        let charge = control.charge(head);
        prop_assert_eq!(link.down.keeps_blocked(kept, charge), is_stopped, "{:?} {}", control, kept);
    }
}

/// The receiver's half after it has got `held` bytes and has told its sender.
fn told(control: FlowControl, held: u64) -> AnyDownstream {
    let mut down = control.downstream(LINE, Span::ZERO);
    down.on_enqueue(Time::ZERO, b(held), b(held));
    down.poll_signal(Time::ZERO);
    down
}

#[test]
fn who_is_kept_blocked_by_how_many_bytes() {
    let head = b(1_500);
    let down = told(pfc(), 5_000);
    assert!(down.keeps_blocked(b(2_000), head), "XON itself is not below XON");
    assert!(!down.keeps_blocked(b(1_999), head));
    // Ten blocks, of which four are free when six are kept.
    let down = told(credits(10), 640);
    assert!(!down.keeps_blocked(b(6 * 64), b(4 * 64)));
    assert!(down.keeps_blocked(b(6 * 64), b(4 * 64 + 1)));
    assert!(!down.keeps_blocked(b(5 * 64 + 1), b(4 * 64)), "a begun block counts whole");
    // No more than 2,048 blocks are ever granted, however large the buffer is.
    let down = told(credits(5_000), 0);
    assert!(!down.keeps_blocked(b(0), b(2_048 * 64)));
    assert!(down.keeps_blocked(b(0), b(2_049 * 64)));
    for control in [gfc_buffer(), gfc_time(Measure::Message), gfc_conceptual()] {
        let down = told(control, 4_001);
        assert!(down.keeps_blocked(b(4_001), head), "{control:?}");
        assert!(!down.keeps_blocked(b(4_000), head), "{control:?}: the hold level is not above it");
        let down = told(control, 4_000);
        assert!(!down.keeps_blocked(b(4_001), head), "{control:?}: it was never told to stop");
    }
    // 8,000 bytes are 125 blocks. With 4,032 kept 62 blocks are free, so 4,032 seem to be held.
    let down = told(gfc_time(Measure::Credit), 8_000);
    assert!(down.keeps_blocked(b(4_032), head));
    // With 4,000 kept 62.5 blocks are free, which makes 62.
    assert!(down.keeps_blocked(b(4_000), head));
    assert!(!down.keeps_blocked(b(3_968), head), "63 blocks are free");
}

/// Between a decision and its message the sender knows nothing of it.
#[test]
fn a_pause_that_was_not_sent_keeps_nobody_blocked() {
    let mut down = pfc().downstream(LINE, Span::ZERO);
    down.on_enqueue(Time::ZERO, b(5_000), b(5_000));
    assert!(!down.keeps_blocked(b(5_000), b(64)), "the PAUSE has not left");
    down.poll_signal(Time::ZERO);
    assert!(down.keeps_blocked(b(5_000), b(64)));
    down.on_dequeue(Time::ZERO, b(4_000), b(1_000));
    assert!(!down.keeps_blocked(b(5_000), b(64)), "a RESUME is about to leave");
}

/// A port whose first class is under `control`, both ways.
fn port(control: FlowControl) -> Port {
    let lane = LaneConfig::new(control, Bytes::mb(1));
    Port::new(&PortConfig { line: LINE, lanes: [lane; 2].into() })
}

/// The message that `port` has for its peer about class 0 at `now`.
fn message(port: &mut Port, now: Time) -> Control {
    port.handle_timeout(now);
    let mut found = None;
    while let Some(control) = port.poll_signal(now) {
        found = found.or(Some(control).filter(|control| control.class == Class(0)));
    }
    found.expect("a message every period")
}

/// Packets that are lost on the wire, or dropped on arrival because their TTL is over, take no buffer. The
/// sender has their credits back, for lost ones after a link packet in each direction.
#[test]
fn credits_of_lost_and_dropped_packets_come_back() {
    for (control, is_lost) in [credits(10), gfc_time(Measure::Credit)]
        .into_iter()
        .flat_map(|it| [(it, false), (it, true)])
    {
        let (mut source, mut target) = (port(control), port(control));
        let (class, size) = (Class(0), b(600));
        let gate = |source: &Port, now| source.gate(now, class, size);
        let mut now = Time::ZERO;
        for round in 0..40u64 {
            now = now + PERIOD * 10;
            assert_eq!(gate(&source, now), Gate::Open, "{control:?}, {is_lost}, round {round}");
            source.on_transmit(now, class, size);
            if !is_lost {
                target.discard(class, size);
            }
            let count = message(&mut source, now);
            if is_lost {
                target.handle_control(count);
            }
            let grant = message(&mut target, now);
            source.handle_control(grant);
            source.handle_signal(now, grant);
        }
        assert_eq!(target.held(class), Bytes::ZERO);
        now = now + Span::ms(1);
        assert_eq!(source.upstream(class).rate(now), Some(LINE), "{control:?}, {is_lost}");
        // Nothing is left over either: only what the buffer holds may be sent without a new grant.
        if control.name() == "cbfc" {
            source.on_transmit(now, class, size);
            assert_eq!(gate(&source, now), Gate::Closed, "40 bytes are left");
        }
    }
}

/// A receiver counts how often it has let its sender go on and remembers when it last did; a message that
/// repeats a stop, or says "go on" to a sender that was not stopped, is no resume. The sender counts alike.
#[test]
fn both_halves_count_the_same_resumes() {
    let mut refreshed = gfc_buffer();
    if let FlowControl::GfcBuffer(config) = &mut refreshed {
        config.refresh = Some(PERIOD);
    }
    let message = gfc_time(Measure::Message);
    for control in [pfc(), gfc_buffer(), refreshed, message, gfc_conceptual()] {
        let (mut up, mut down) = (control.upstream(LINE), control.downstream(LINE, PERIOD));
        let mut now = Time::ZERO;
        let mut tell = |down: &mut AnyDownstream, up: &mut AnyUpstream, held: u64| {
            // Long enough for a period, a refresh and half of a pause.
            now = now + Span::ms(2);
            down.on_enqueue(now, b(0), b(held));
            down.on_dequeue(now, b(0), b(held));
            if let Some(signal) = down.poll_signal(now) {
                up.on_signal(now, signal);
            }
            assert!(!down.is_resume_on_its_way(up, Time::ZERO), "{control:?}");
            now
        };
        tell(&mut down, &mut up, 500);
        assert_eq!((down.resumes(), down.resumed_at()), (0, Time::ZERO), "{control:?}");
        let mut last = Time::ZERO;
        for count in 1..4 {
            for held in [5_000, 5_000, 4_500] {
                tell(&mut down, &mut up, held);
                assert_eq!((down.resumes(), down.resumed_at()), (count - 1, last), "{control:?}");
            }
            last = tell(&mut down, &mut up, 500);
            assert_eq!((down.resumes(), up.resumes()), (count, count), "{control:?}");
            assert_eq!(down.resumed_at(), last, "{control:?}");
            tell(&mut down, &mut up, 600);
            assert_eq!((down.resumes(), down.resumed_at()), (count, last), "{control:?}");
        }
        // A resume that was sent at `last` and is lost is waited for until then, and no longer.
        tell(&mut down, &mut up, 5_000);
        down.on_dequeue(last + Span::ms(9), b(0), b(0));
        let lost = down.poll_signal(last + Span::ms(9));
        assert!(lost.is_some() && down.is_resume_on_its_way(&up, last + Span::ms(9)));
        assert!(!down.is_resume_on_its_way(&up, last + Span::ms(9) + Span::ps(1)));
    }
}

/// A pause that only a RESUME ends does not run out, and is said once.
#[test]
fn a_pause_until_resumed_does_not_expire() {
    let config = pfc::Config { xoff: b(4_000), xon: b(2_000), quanta: pfc::UNTIL_RESUMED };
    let control = FlowControl::Pfc(config);
    let (mut up, mut down) = (control.upstream(LINE), told(control, 5_000));
    up.on_signal(Time::ZERO, Signal::Pause { quanta: pfc::QUANTA_MAX });
    let later = Time::ZERO + Span::s(1_000);
    assert_eq!((up.gate(later, b(64)), up.rate(later)), (Gate::Closed, None));
    assert_eq!((down.poll_timeout(), down.poll_signal(later)), (None, None));
    up.on_signal(later, Signal::Pause { quanta: 0 });
    assert_eq!((up.gate(later, b(64)), up.rate(later)), (Gate::Open, Some(LINE)));
}
