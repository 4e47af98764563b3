//! Laws that every congestion control obeys, over random flows, links and queues.

mod disguise;

use std::collections::VecDeque;

use disguise::Language;
use disguise::congestion::disguised_congestion;
use pauseless_core::congestion::marking::MarkAt;
use pauseless_core::congestion::telemetry::Echo;
use pauseless_core::congestion::{
    self, AnyNotificationPoint, AnyReactionPoint, CongestionControl, CongestionPoint, Feedback,
    Joining, NotificationPoint, QueueState, ReactionPoint, Received, Sent, Sequence, dcqcn, dctcp,
    marking, pcn, qcn, timely,
};
use pauseless_core::unit::{Bytes, Rate, Span, Time};
use proptest::prelude::*;

/// Every scheme, with its defaults and with parameters that make every stage come soon.
fn schemes() -> Vec<CongestionControl> {
    let mut schemes = vec![CongestionControl::None];
    let pcn = pcn::Config::default();
    let eager =
        pcn::Config { period: Span::us(7), w_min: 0.3, w_max: 1.0, rate_min: Rate::gbps(1) };
    schemes.extend([pcn, eager].map(CongestionControl::Pcn));
    let qcn = qcn::Config::default();
    let quick = qcn::Config {
        gd: 1.0 / 32.0,
        byte_reset: Bytes::kb(10),
        time_reset: Span::us(100),
        threshold: 1,
        reference: Some(Rate::gbps(10)),
        ..qcn
    };
    schemes.extend([qcn, quick].map(CongestionControl::Qcn));
    let dcqcn = dcqcn::Config::default();
    let quick = dcqcn::Config {
        byte_counter: Bytes::kb(10),
        cnp_interval: Span::us(4),
        g: 1.0 / 16.0,
        alpha_initial: 0.5,
        threshold: 1,
        rate_min: Rate::gbps(1),
        ..dcqcn
    };
    let clamps = [dcqcn::Clamp::Always, dcqcn::Clamp::AfterStage, dcqcn::Clamp::AfterByteStage];
    let periodic = dcqcn::Config { cnp_check: dcqcn::CnpCheck::Periodic, ..quick };
    schemes.extend([dcqcn, periodic].map(CongestionControl::Dcqcn));
    schemes.extend(clamps.map(|clamp| CongestionControl::Dcqcn(dcqcn::Config { clamp, ..quick })));
    let timely = timely::Config::per_packet(Span::us(20));
    let paper =
        timely::Config { ewma_weight: 0.875, t_low: Span::us(50), t_high: Span::us(500), ..timely };
    for config in [timely, paper] {
        let patched = timely::Config { is_patched: true, beta: 0.008, ..config };
        schemes.extend([config, patched].map(CongestionControl::Timely));
    }
    schemes.push(CongestionControl::Dctcp(dctcp::Config {
        rate_ai: Some(Rate::mbps(80)),
        ..dctcp::Config::default()
    }));
    schemes
}

fn rate_min(control: &CongestionControl) -> Rate {
    match control {
        CongestionControl::None => Rate::bps(1),
        CongestionControl::Pcn(config) => config.rate_min,
        CongestionControl::Qcn(config) => config.rate_min,
        CongestionControl::Dcqcn(config) => config.rate_min,
        CongestionControl::Timely(config) => config.rate_min,
        CongestionControl::Hpcc(config) => config.rate_min,
        CongestionControl::Dctcp(config) => config.rate_min,
        CongestionControl::Outside(_) => unreachable!("the laws know what is under a disguise"),
    }
}

/// Whether this scheme's sources listen to that feedback.
fn is_own(control: &CongestionControl, feedback: Feedback) -> bool {
    match feedback {
        Feedback::Ack { .. } => {
            matches!(control, CongestionControl::Timely(_) | CongestionControl::Dctcp(_))
        }
        Feedback::Nack { .. } => false,
        Feedback::Cnp => matches!(control, CongestionControl::Dcqcn(_)),
        Feedback::Receiving { .. } => matches!(control, CongestionControl::Pcn(_)),
        Feedback::Congestion { .. } => matches!(control, CongestionControl::Qcn(_)),
        Feedback::Outside(_) => false,
    }
}

/// What happens to a flow's source.
#[derive(Clone, Copy, Debug)]
enum Op {
    /// A packet of so many bytes leaves.
    Send(u64),
    /// So many picoseconds go by.
    Wait(u64),
    /// The target acknowledges the packet that was sent so many packets ago.
    Ack(u32),
    /// Feedback of another kind.
    Feedback(Feedback),
}

fn feedback() -> impl Strategy<Value = Feedback> {
    let receiving = (any::<bool>(), 1u32..2_000_000)
        .prop_map(|(is_congested, rate_mbps)| Feedback::Receiving { is_congested, rate_mbps });
    let congestion = (0u8..=63).prop_map(|psi| Feedback::Congestion { psi });
    prop_oneof![Just(Feedback::Cnp), receiving, congestion]
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        4 => (64u64..9_217).prop_map(Op::Send),
        1 => (1u64..1_000_000).prop_map(Op::Send),
        2 => (0u64..1_000_000).prop_map(Op::Wait),
        2 => (0u64..1_000_000_000).prop_map(Op::Wait),
        1 => (0u64..100_000_000_000).prop_map(Op::Wait),
        3 => (0u32..4).prop_map(Op::Ack),
        4 => feedback().prop_map(Op::Feedback),
    ]
}

/// A source under test, with all that must hold whatever happens.
struct Source {
    control: CongestionControl,
    line: Rate,
    point: AnyReactionPoint,
    now: Time,
    sequence: Sequence,
}

impl Source {
    fn apply(&mut self, op: Op) -> Result<(), TestCaseError> {
        let before = self.point.rate();
        match op {
            Op::Send(size) => {
                let packet = Sent { size: Bytes::new(size), sequence: self.sequence };
                self.sequence = self.sequence.next();
                self.point.on_send(self.now, packet);
                prop_assert!(self.point.rate() >= before, "sending slows down");
            }
            Op::Wait(ps) => self.wait(Span::ps(ps))?,
            Op::Ack(back) => {
                let sequence = Sequence(self.sequence.0.wrapping_sub(back + 1) & 0xff_ffff);
                let is_marked = true;
                self.feed(Feedback::Ack { sequence, is_marked, echo: Echo::NONE })?;
            }
            Op::Feedback(feedback) => self.feed(feedback)?,
        }
        let (rate, line) = (self.point.rate(), self.line);
        prop_assert!(rate <= line, "{rate} is above the line's {line}");
        let floor = rate_min(&self.control).min(line);
        prop_assert!(rate >= floor, "{rate} is below the floor of {floor}");
        Ok(())
    }

    /// Time goes by, and every timeout is handled at its instant.
    fn wait(&mut self, span: Span) -> Result<(), TestCaseError> {
        let end = self.now + span;
        let mut late = self.point.clone();
        while self.point.poll_timeout() <= end {
            prop_assert!(self.point.poll_timeout() > self.now, "a timeout was missed");
            self.now = self.point.poll_timeout();
            let before = self.point.rate();
            self.point.handle_timeout(self.now);
            prop_assert!(self.point.rate() >= before, "a timer slows down");
            prop_assert!(self.point.poll_timeout() > self.now, "a timer hangs");
        }
        self.now = end;
        // Whoever handles all timeouts late has the same flow in the end.
        late.handle_timeout(end);
        prop_assert_eq!(state(&late), state(&self.point));
        // Calling too early does nothing.
        late.handle_timeout(end);
        prop_assert_eq!(state(&late), state(&self.point));
        Ok(())
    }

    fn feed(&mut self, feedback: Feedback) -> Result<(), TestCaseError> {
        let before = self.point.clone();
        self.point.on_feedback(self.now, feedback);
        if !is_own(&self.control, feedback) {
            prop_assert_eq!(state(&self.point), state(&before), "foreign {:?}", feedback);
            return Ok(());
        }
        let (old, new) = (before.rate(), self.point.rate());
        match feedback {
            Feedback::Cnp => prop_assert!(new <= old),
            Feedback::Congestion { psi } => {
                prop_assert!(new <= old);
                prop_assert!(psi > 0 || new == old);
                for worse in psi..=63 {
                    let other = self.after(&before, Feedback::Congestion { psi: worse });
                    prop_assert!(other <= new, "psi {worse} is milder than {psi}");
                }
            }
            Feedback::Receiving { is_congested, rate_mbps } => {
                let told = |is_congested, rate_mbps| {
                    let feedback = Feedback::Receiving { is_congested, rate_mbps };
                    self.after(&before, feedback)
                };
                let less = told(is_congested, rate_mbps / 2 + 1);
                prop_assert!(less <= new, "a smaller rate received is a larger one sent");
                prop_assert!(told(true, rate_mbps) <= old);
                prop_assert!(told(false, rate_mbps) >= old);
            }
            Feedback::Ack { .. } | Feedback::Nack { .. } | Feedback::Outside(_) => {
                prop_assert!(new.as_bps() >= old.as_bps() / 2);
            }
        }
        Ok(())
    }

    /// The rate if this had been said instead.
    fn after(&self, before: &AnyReactionPoint, feedback: Feedback) -> Rate {
        let mut point = before.clone();
        point.on_feedback(self.now, feedback);
        point.rate()
    }
}

/// All that a machine knows.
fn state(point: &AnyReactionPoint) -> String {
    format!("{point:?}")
}

/// A packet that reaches a flow's target.
#[derive(Clone, Copy, Debug)]
struct Arrival {
    /// Picoseconds since the one before.
    gap: u64,
    size: u64,
    is_marked: bool,
    /// Whether a timeout of the same instant is handled before the packet.
    timeout_first: bool,
}

fn arrival() -> impl Strategy<Value = Arrival> {
    // Whole microseconds often meet the end of a window.
    let gap = prop_oneof![
        4 => 0u64..2_000_000,
        2 => (0u64..60).prop_map(|us| us * 1_000_000),
        1 => 0u64..500_000_000,
    ];
    (gap, 64u64..9_217, prop::bool::weighted(0.9), any::<bool>()).prop_map(
        |(gap, size, is_marked, timeout_first)| Arrival { gap, size, is_marked, timeout_first },
    )
}

/// A target under test, with what it has not spoken of yet.
struct Target {
    control: CongestionControl,
    point: AnyNotificationPoint,
    /// Since the last feedback.
    packets: Vec<Received>,
    /// From the last packet before these to the first of them.
    gap: Span,
    last_packet: Option<Time>,
    last_feedback: Option<Time>,
    /// When the first packet of all came.
    origin: Option<Time>,
}

impl Target {
    /// Handles timeouts before `now`, and at `now` if `inclusive`.
    fn wait(&mut self, now: Time, inclusive: bool) -> Result<(), TestCaseError> {
        loop {
            let due = self.point.poll_timeout();
            if due > now || (due == now && !inclusive) {
                return Ok(());
            }
            prop_assert!(!self.packets.is_empty(), "an idle flow has a timer");
            let feedback = self.point.handle_timeout(due);
            prop_assert!(feedback.is_some(), "a timeout for nothing");
            self.hear(due, feedback)?;
            prop_assert!(self.point.poll_timeout() > due);
        }
    }

    fn receive(&mut self, now: Time, packet: Received) -> Result<(), TestCaseError> {
        let feedback = self.point.on_packet(now, packet);
        // DCQCN answers this packet; what PCN says here is about the window before it, and so is what
        // DCQCN says after its first look, if it looks by period.
        let is_answer = match &self.control {
            CongestionControl::Dcqcn(config) => {
                config.cnp_check == dcqcn::CnpCheck::OnMark || self.origin.is_none()
            }
            _ => false,
        };
        if !is_answer {
            self.hear(now, feedback)?;
        }
        if self.packets.is_empty() {
            let last = self.last_packet.unwrap_or(now);
            self.gap = now - last;
        }
        self.last_packet = Some(now);
        self.origin.get_or_insert(now);
        self.packets.push(packet);
        if is_answer {
            self.hear(now, feedback)?;
        }
        Ok(())
    }

    fn hear(&mut self, now: Time, feedback: Option<Feedback>) -> Result<(), TestCaseError> {
        let Some(feedback) = feedback else {
            return Ok(());
        };
        prop_assert!(!self.packets.is_empty(), "feedback about nothing");
        let since = self.last_feedback.map_or(Span::MAX, |last| now - last);
        self.last_feedback = Some(now);
        match &self.control {
            CongestionControl::Pcn(config) => {
                prop_assert!(since >= config.period, "twice within a period");
                let origin = self.origin.expect("a packet came");
                prop_assert_eq!((now - origin).as_ps() % config.period.as_ps(), 0);
                self.check_window(config.period, feedback)?;
            }
            CongestionControl::Dcqcn(config) => {
                prop_assert!(since >= config.cnp_interval, "twice within an interval");
                prop_assert_eq!(feedback, Feedback::Cnp);
                match config.cnp_check {
                    dcqcn::CnpCheck::OnMark => {
                        prop_assert!(self.packets.last().is_some_and(|packet| packet.is_marked));
                    }
                    dcqcn::CnpCheck::Periodic => {
                        let origin = self.origin.expect("a packet came");
                        prop_assert_eq!((now - origin).as_ps() % config.cnp_interval.as_ps(), 0);
                        prop_assert!(self.packets.iter().any(|packet| packet.is_marked));
                    }
                }
            }
            _ => prop_assert!(false, "{:?} has nothing to say", self.control),
        }
        self.packets.clear();
        Ok(())
    }

    /// The rate is what arrived per time, and 19 of 20 packets must be marked.
    fn check_window(&self, period: Span, feedback: Feedback) -> Result<(), TestCaseError> {
        let Feedback::Receiving { is_congested, rate_mbps } = feedback else {
            prop_assert!(false, "{:?}", feedback);
            return Ok(());
        };
        let bytes: u64 = self.packets.iter().map(|packet| packet.size.get()).sum();
        let marked = self.packets.iter().filter(|packet| packet.is_marked).count();
        let span = match self.packets.len() {
            1 => period.max(self.gap),
            _ => period,
        };
        let expected = (8.0 * bytes as f64 / span.as_secs_f64() / 1e6).max(1.0);
        prop_assert!((f64::from(rate_mbps) - expected).abs() <= 0.5 + 1e-6);
        prop_assert_eq!(is_congested, 20 * marked >= 19 * self.packets.len());
        Ok(())
    }
}

/// What happens to a queue in a switch.
#[derive(Clone, Copy, Debug)]
enum QueueOp {
    /// So many packets join.
    Arrive(u32),
    /// So many leave, unless the far end has stopped the queue.
    Leave(u32),
    /// The far end stops the queue, as PFC does.
    Stop,
    /// The far end slows the queue down, as GFC does.
    Slow,
    /// The far end lets the queue go.
    Release,
}

fn queue_op() -> impl Strategy<Value = QueueOp> {
    prop_oneof![
        3 => (1u32..6).prop_map(QueueOp::Arrive),
        3 => (1u32..6).prop_map(QueueOp::Leave),
        1 => Just(QueueOp::Stop),
        1 => Just(QueueOp::Slow),
        2 => Just(QueueOp::Release),
    ]
}

/// A queue of 1000 B packets that remembers of each packet whether it waited for a release.
#[derive(Default)]
struct NaiveQueue {
    waited: VecDeque<bool>,
    is_held: bool,
}

impl NaiveQueue {
    fn state(&self) -> QueueState {
        QueueState {
            packets: self.waited.len() as u32,
            bytes: Bytes::kb(self.waited.len() as u64),
            is_held: self.is_held,
        }
    }
}

/// The same scheme as one of this crate and as one of another, to make parts of.
fn forms(control: CongestionControl) -> [CongestionControl; 2] {
    [control, disguised_congestion(control, Language::Own)]
}

/// A source that obeys `form`, which promises what `control` does.
fn source(
    control: CongestionControl,
    form: CongestionControl,
    line: Rate,
    sixteenths: u64,
) -> Source {
    let initial = Rate::bps((line.as_bps() / 16 * sixteenths).max(1));
    Source {
        control,
        line,
        point: form.reaction_point(congestion::Source { line, initial, round_trip: Span::ZERO }),
        now: Time::ZERO,
        // So that the numbers wrap soon.
        sequence: Sequence((1 << 24) - 5),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn every_reaction_point_keeps_its_promises(
        mbps in prop::sample::select(vec![10u64, 1_000, 10_000, 40_000, 100_000, 400_000, 1_600_000]),
        sixteenths in 1u64..=16,
        ops in prop::collection::vec(op(), 1..80),
    ) {
        for control in schemes() {
            for form in forms(control) {
                let mut source = source(control, form, Rate::mbps(mbps), sixteenths);
                for op in &ops {
                    let result = source.apply(*op);
                    prop_assert!(result.is_ok(), "{:?} after {:?}: {:?}", form, op, result);
                }
            }
        }
    }

    #[test]
    fn every_notification_point_keeps_its_promises(
        arrivals in prop::collection::vec(arrival(), 1..200),
    ) {
        for (control, form) in schemes().into_iter().flat_map(|it| forms(it).map(|form| (it, form))) {
            let mut target = Target {
                control,
                point: form.notification_point(),
                packets: Vec::new(),
                gap: Span::ZERO,
                last_packet: None,
                last_feedback: None,
                origin: None,
            };
            let mut now = Time::ZERO;
            for (k, arrival) in arrivals.iter().enumerate() {
                now = now + Span::ps(arrival.gap);
                target.wait(now, arrival.timeout_first)?;
                let packet = Received {
                    size: Bytes::new(arrival.size),
                    sequence: Sequence(k as u32),
                    is_marked: arrival.is_marked,
                    echo: Echo::NONE,
                };
                target.receive(now, packet)?;
            }
            // Nothing that arrived is passed over in silence, and then there is silence.
            target.wait(Time::from_ps(u64::MAX - 1), true)?;
            if let CongestionControl::Pcn(_) = control {
                prop_assert!(target.packets.is_empty());
            }
            prop_assert_eq!(target.point.poll_timeout(), Time::MAX);
        }
    }

    #[test]
    fn pcn_marks_what_waits_for_nobody_else(ops in prop::collection::vec(queue_op(), 1..100)) {
        let mut point = pcn::CongestionPoint::new();
        let mut queue = NaiveQueue::default();
        let mut is_stopped = false;
        for op in ops {
            match op {
                QueueOp::Arrive(count) => {
                    for _ in 0..count {
                        queue.waited.push_back(false);
                        prop_assert_eq!(point.on_enqueue(Time::ZERO, Bytes::kb(1), queue.state()), Joining::Silent);
                    }
                }
                QueueOp::Leave(count) => {
                    for _ in 0..count {
                        if is_stopped {
                            break;
                        }
                        let Some(waited) = queue.waited.pop_front() else {
                            break;
                        };
                        let expected = !waited && !queue.is_held && !queue.waited.is_empty();
                        let marked = point.on_dequeue(Time::ZERO, Bytes::kb(1), queue.state());
                        prop_assert_eq!(marked, expected);
                    }
                }
                QueueOp::Stop => (is_stopped, queue.is_held) = (true, true),
                QueueOp::Slow => (is_stopped, queue.is_held) = (false, true),
                QueueOp::Release if queue.is_held => {
                    (is_stopped, queue.is_held) = (false, false);
                    queue.waited.iter_mut().for_each(|waited| *waited = true);
                    point.on_release(Time::ZERO, queue.state());
                }
                QueueOp::Release => {}
            }
        }
    }

    #[test]
    fn red_marks_nothing_below_and_everything_above(
        kmin in 0u64..300,
        width in 0u64..300,
        pmax in 0.0f64..=1.0,
        gbps in prop::sample::select(vec![10u64, 40, 100]),
        is_scaled: bool,
        mark_at in prop::sample::select(vec![MarkAt::Departure, MarkAt::Arrival]),
        queues in prop::collection::vec(0u64..2_000_000, 1..100),
    ) {
        let config = marking::Config {
            kmin: Bytes::kb(kmin),
            kmax: Bytes::kb(kmin + width),
            pmax,
            reference: is_scaled.then_some(Rate::gbps(40)),
            phantom: None,
            mark_at,
            levels: Default::default(),
        };
        // In bytes times 40, so that the scaled thresholds are whole numbers.
        let factor = if is_scaled { gbps } else { 40 };
        let low = kmin * 1_000 * factor;
        let high = (kmin + width) * 1_000 * factor;
        let mut marker = marking::Marker::new(&config, Rate::gbps(gbps), 1);
        for bytes in queues {
            let queue = QueueState { packets: 1, bytes: Bytes::new(bytes), is_held: false };
            let size = Bytes::kb(1);
            let left = marker.on_dequeue(Time::ZERO, size, queue);
            let found = QueueState { bytes: queue.bytes + size, ..queue };
            let joined = marker.on_enqueue(Time::ZERO, size, found) == Joining::Marked;
            let (marked, silent) = match mark_at {
                MarkAt::Departure => (left, joined),
                MarkAt::Arrival => (joined, left),
            };
            prop_assert!(!silent, "marked at the other end");
            prop_assert!(!(marked && bytes * 40 <= low), "marked at {bytes}");
            prop_assert!(marked || bytes * 40 <= high, "not marked at {bytes}");
        }
    }

    /// Against a counter in whole numbers: bytes times 8e12 times 64.
    #[test]
    fn a_phantom_queue_counts_what_a_slower_link_would_hold(
        share in 1u64..64,
        gbps in prop::sample::select(vec![10u64, 40, 400]),
        packets in prop::collection::vec((0u64..3_000_000, 64u64..9_217), 1..200),
    ) {
        const BYTE: i128 = 8_000_000_000_000 * 64;
        let threshold = Bytes::kb(20);
        let config = marking::Config {
            kmin: threshold,
            kmax: threshold,
            pmax: 1.0,
            reference: None,
            phantom: Some(share as f64 / 64.0),
            mark_at: MarkAt::Departure,
            levels: Default::default(),
        };
        let mut marker = marking::Marker::new(&config, Rate::gbps(gbps), 1);
        let empty = QueueState { packets: 0, bytes: Bytes::ZERO, is_held: false };
        let (mut now, mut level) = (Time::ZERO, 0i128);
        for (gap, size) in packets {
            now = now + Span::ps(gap);
            let drained = i128::from(gap) * i128::from(gbps * 1_000_000_000 * share);
            level = (level - drained).max(0) + i128::from(size) * BYTE;
            let marked = marker.on_dequeue(now, Bytes::new(size), empty);
            let above = level - i128::from(threshold.get()) * BYTE;
            // Floating-point numbers may err by less than a thousandth of a byte.
            prop_assert!(above.abs() < BYTE / 1_000 || marked == (above > 0));
        }
    }

    #[test]
    fn qcn_speaks_of_long_queues_only_and_not_too_often(
        seed: u64,
        arrivals in prop::collection::vec((64u64..9_217, 0u64..200_000), 1..400),
    ) {
        let config = qcn::Config::default();
        let mut point = qcn::CongestionPoint::new(&config, seed);
        // The first sample comes after 0.85 * 150,000 B, later ones after 0.85 * 18,750 B.
        let (mut passed, mut least) = (0, 127_500);
        for (size, bytes) in arrivals {
            let queue = QueueState { packets: 1, bytes: Bytes::new(bytes), is_held: false };
            passed += size;
            let Joining::Notify(feedback) = point.on_enqueue(Time::ZERO, Bytes::new(size), queue) else {
                continue;
            };
            let is_valid = matches!(feedback, Feedback::Congestion { psi: 1..=63 });
            prop_assert!(is_valid, "{feedback:?}");
            prop_assert!(passed >= least, "after {passed} B");
            (passed, least) = (0, 15_937);
            // Even if it was empty at the last sample: q + 2 q > 26,000.
            prop_assert!(3 * bytes > 26_000, "at {bytes} B");
        }
    }
}
