use super::super::telemetry::Echo;
use super::super::{CongestionPoint as _, ReactionPoint as _, Sequence};
use super::*;

const LINE: Rate = Rate::gbps(10);

fn at(ms: u64) -> Time {
    Time::ZERO + Span::ms(ms)
}

fn queue(bytes: u64) -> QueueState {
    QueueState { packets: 1, bytes: Bytes::new(bytes), is_held: false }
}

fn sent(bytes: u64) -> Sent {
    Sent { size: Bytes::new(bytes), sequence: Sequence(0) }
}

fn cnm(psi: u8) -> Feedback {
    Feedback::Congestion { psi }
}

fn source() -> ReactionPoint {
    ReactionPoint::new(&Config::default(), LINE, LINE)
}

fn stages(point: &ReactionPoint) -> (u32, u32) {
    let limiter = point.limiter.expect("the flow is limited");
    (limiter.byte_stage, limiter.time_stage)
}

fn target(point: &ReactionPoint) -> f64 {
    point.limiter.expect("the flow is limited").target
}

//= ieee8021-cn-mib defaults type=test
#[test]
fn defaults_are_those_of_the_mib() {
    let config = Config::default();
    assert_eq!(config.queue_set_point, Bytes::new(26_000));
    // The MIB has the logarithms of these two: 1 and -7.
    assert_eq!((config.weight, config.gd), (2.0, 0.0078125));
    assert_eq!(config.sample_base, Bytes::kb(150));
    assert_eq!(config.byte_reset, Bytes::kb(150));
    assert_eq!(config.time_reset, Span::ms(15));
    assert_eq!((config.threshold, config.decrease_factor_min), (5, 0.5));
    assert_eq!(config.rate_ai, Rate::mbps(5));
    assert_eq!(config.rate_hai, Rate::mbps(50));
    assert_eq!(config.rate_min, Rate::mbps(5));
}

/// q 52 KB, q_old 26 KB: -Fb = 26,000 + 2 * 26,000 = 78,000 of 5 * 26,000 = 130,000, and
/// 63 * 0.6 = 37.8.
//= 802.1Q-2022 30.2.1 feedback type=test
#[test]
fn congestion_is_measured_in_63rds() {
    let mut point = CongestionPoint::new(&Config::default(), 1);
    point.old = Bytes::new(26_000);
    assert_eq!(point.psi(Bytes::new(52_000)), 37);
    // Below the set point and falling: no congestion. (10 - 26) + 2 (10 - 26) < 0.
    assert_eq!(point.psi(Bytes::new(10_000)), 0);
    // At the set point and steady: Fb = 0.
    assert_eq!(point.psi(Bytes::new(26_000)), 0);
    // Clipped: (78 - 26) + 2 (78 - 26) = 156 > 130.
    assert_eq!(point.psi(Bytes::new(78_000)), 63);
    // 63 * 2063 / 130,000 = 0.9998 and 63 * 2066 / 130,000 = 1.001.
    point.old = Bytes::new(28_063);
    assert_eq!(point.psi(Bytes::new(28_063)), 0);
    point.old = Bytes::new(28_066);
    assert_eq!(point.psi(Bytes::new(28_066)), 1);
    // A growing queue counts even below the set point: (20 - 26) + 2 * 20 = 34, 63 * 34 / 130.
    point.old = Bytes::ZERO;
    assert_eq!(point.psi(Bytes::new(20_000)), 16);
}

//= 802.1Q-2022 30.2.1 sampling type=test
#[test]
fn congestion_makes_samples_more_frequent() {
    let point = CongestionPoint::new(&Config::default(), 1);
    let table = [
        (0, 150_000.0),
        (7, 150_000.0),
        (8, 75_000.0),
        (16, 50_000.0),
        (24, 37_500.0),
        (37, 30_000.0),
        (40, 25_000.0),
        (48, 150_000.0 / 7.0),
        (63, 18_750.0),
    ];
    for (psi, bytes) in table {
        assert_eq!(point.interval(psi), bytes, "{psi}");
    }
}

//= 802.1Q-2022 30.2.1 jitter type=test
#[test]
fn samples_are_jittered_by_15_percent() {
    let mut point = CongestionPoint::new(&Config::default(), 1);
    let mut seen = (u64::MAX, 0);
    for _ in 0..1_000 {
        let bytes = point.jittered(30_000.0).get();
        assert!((25_500..=34_500).contains(&bytes), "{bytes}");
        seen = (seen.0.min(bytes), seen.1.max(bytes));
    }
    assert!(seen.0 < 25_600 && seen.1 > 34_400, "{seen:?}");
}

#[test]
fn only_samples_make_notifications() {
    let mut point = CongestionPoint::new(&Config::default(), 3);
    let first = point.to_sample;
    assert!((127_500..=172_500).contains(&first.get()));
    let size = Bytes::new(1_500);
    let mut before = Bytes::ZERO;
    let feedback = loop {
        before += size;
        if let Joining::Notify(feedback) = point.on_enqueue(at(0), size, queue(52_000)) {
            break feedback;
        }
    };
    // The sample is the first packet that reaches the count.
    assert!(before >= first && before - size < first);
    // q_old was 0: (52 - 26) + 2 * 52 = 130 of 130.
    assert_eq!(feedback, cnm(63));
    assert_eq!(point.old, Bytes::new(52_000));
    // 18,750 * 0.85 and 18,750 * 1.15.
    assert!((15_937..=21_563).contains(&point.to_sample.get()));
    // A sample of a short queue says nothing, but counts as the last one.
    point.to_sample = size;
    assert_eq!(point.on_enqueue(at(0), size, queue(1_500)), Joining::Silent);
    assert_eq!(point.old, Bytes::new(1_500));
    assert!(point.to_sample >= Bytes::new(127_500));
}

#[test]
fn nothing_is_marked() {
    let mut point = CongestionPoint::new(&Config::default(), 1);
    point.on_release(at(0), queue(1_000_000));
    assert!(!point.on_dequeue(at(0), Bytes::new(1_500), queue(1_000_000)));
}

#[test]
fn nothing_runs_before_the_first_cnm() {
    let mut point = source();
    point.on_send(at(0), sent(1_000_000));
    point.handle_timeout(at(1_000));
    assert_eq!(point.poll_timeout(), Time::MAX);
    assert_eq!(point.rate(), LINE);
    // A measure of zero is never sent, and says nothing.
    point.on_feedback(at(1_000), cnm(0));
    assert_eq!(point.poll_timeout(), Time::MAX);
}

/// psi 37: 1 - 37/128 = 0.7109375; 63: 65/128 = 0.5078125; and with Gd 1/64 the least factor.
//= 802.1Q-2022 30.2.2 decrease type=test
#[test]
fn a_cnm_cuts_in_proportion() {
    let mut point = source();
    point.on_feedback(at(0), cnm(37));
    assert_eq!(point.rate(), Rate::bps(7_109_375_000));
    assert_eq!(point.poll_timeout(), at(15));
    let mut point = source();
    point.on_feedback(at(0), cnm(63));
    assert_eq!(point.rate(), Rate::bps(5_078_125_000));
    // More than six bits can say is as much as they can say.
    let mut point = source();
    point.on_feedback(at(0), cnm(255));
    assert_eq!(point.rate(), Rate::bps(5_078_125_000));
    let config = Config { gd: 1.0 / 64.0, ..Config::default() };
    let mut point = ReactionPoint::new(&config, LINE, LINE);
    point.on_feedback(at(0), cnm(63));
    assert_eq!(point.rate(), Rate::gbps(5));
    // The floor.
    for _ in 0..20 {
        point.on_feedback(at(0), cnm(63));
    }
    assert_eq!(point.rate(), Rate::mbps(5));
}

//= 802.1Q-2022 30.2.2 target type=test
#[test]
fn the_target_follows_only_after_a_byte_stage() {
    let mut point = source();
    point.on_feedback(at(0), cnm(32));
    // 10 * 0.75 = 7.5; the target is what the rate was.
    assert_eq!((point.current, target(&point)), (7.5e9, 10e9));
    point.on_send(at(1), sent(100_000));
    // A time stage: (7.5 + 10) / 2 = 8.75.
    point.handle_timeout(at(15));
    assert_eq!(point.current, 8.75e9);
    assert_eq!(stages(&point), (0, 1));
    // No byte stage since: target and byte counter stay, stages and timer start again.
    point.on_feedback(at(16), cnm(32));
    assert_eq!((point.current, target(&point)), (6.5625e9, 10e9));
    assert_eq!(stages(&point), (0, 0));
    assert_eq!(point.limiter.unwrap().bytes_left, Bytes::kb(50));
    assert_eq!(point.poll_timeout(), at(31));
    // 50 KB more make a byte stage: (6.5625 + 10) / 2 = 8.28125.
    point.on_send(at(17), sent(50_000));
    assert_eq!(stages(&point), (1, 0));
    point.on_send(at(17), sent(1_000));
    point.on_feedback(at(18), cnm(32));
    assert_eq!(target(&point), 8.28125e9);
    assert_eq!(point.current, 8.28125e9 * 0.75);
    assert_eq!(point.limiter.unwrap().bytes_left, Bytes::kb(150));
}

/// Four stages of fast recovery by the timer alone, then active increase.
/// 5, 7.5, 8.75, 9.375, 9.6875, then TR 10.005 and (9.6875 + 10.005) / 2 = 9.84625.
//= 802.1Q-2022 30.2.2 recovery type=test
#[test]
fn a_rate_recovers_by_halves() {
    let config = Config { gd: 1.0 / 64.0, ..Config::default() };
    let mut point = ReactionPoint::new(&config, LINE, LINE);
    point.on_feedback(at(0), cnm(32));
    let expected = [7.5, 8.75, 9.375, 9.6875, 9.84625];
    for (k, gbps) in expected.into_iter().enumerate() {
        let due = at(15 * (k as u64 + 1));
        assert_eq!(point.poll_timeout(), due);
        // Too early.
        point.handle_timeout(Time::from_ps(due.as_ps() - 1));
        assert_eq!(stages(&point), (0, k as u32));
        point.handle_timeout(due);
        assert_eq!(point.rate(), Rate::bps((gbps * 1e9) as u64));
    }
    assert_eq!(target(&point), 10.005e9);
}

/// On a line of 40 Gb/s, far above the target, with both counters.
//= 802.1Q-2022 30.2.2 stages type=test
#[test]
fn stages_lead_from_fast_recovery_to_hyper_active_increase() {
    let mut point = ReactionPoint::new(&Config::default(), Rate::gbps(40), LINE);
    point.on_feedback(at(0), cnm(1));
    let byte_stage = |point: &mut ReactionPoint| {
        let before = target(point);
        point.on_send(at(0), sent(150_000));
        target(point) - before
    };
    let time_stage = |point: &mut ReactionPoint| {
        let before = target(point);
        point.handle_timeout(point.poll_timeout());
        target(point) - before
    };
    for _ in 1..5 {
        assert_eq!(byte_stage(&mut point), 0.0);
    }
    // The byte counter's own stage decides for fast recovery: 5 is active increase.
    assert_eq!(byte_stage(&mut point), 5e6);
    assert_eq!(byte_stage(&mut point), 5e6);
    for _ in 1..5 {
        assert_eq!(time_stage(&mut point), 0.0);
    }
    // Stages 6 and 5: min - F + 1 = 1; the timer then starts from the half.
    assert_eq!(point.poll_timeout(), at(75));
    assert_eq!(time_stage(&mut point), 50e6);
    assert_eq!(stages(&point), (6, 5));
    assert_eq!(point.poll_timeout(), at(75) + Span::us(7_500));
    // Stages 6 and 6: 2.
    assert_eq!(time_stage(&mut point), 100e6);
    // Stages 7 and 6: 2, and the byte counter starts from the half too.
    assert_eq!(byte_stage(&mut point), 100e6);
    assert_eq!(point.limiter.unwrap().bytes_left, Bytes::kb(75));
    // Stages 7 and 7: 3.
    assert_eq!(time_stage(&mut point), 150e6);
}

/// 63 four times in a row: 10 * (65/128)^4 = 0.665 Gb/s, and the target is still 10 Gb/s.
/// 10 > 6.65, so that the first stage makes it 1.25.
//= 802.1Q-2022 30.2.2 extra-fast-recovery type=test
#[test]
fn a_target_far_away_is_given_up() {
    let mut point = source();
    for _ in 0..4 {
        point.on_feedback(at(0), cnm(63));
    }
    let cut = point.current;
    assert!((cut - 0.665e9).abs() < 1e6, "{cut}");
    assert_eq!(target(&point), 10e9);
    point.handle_timeout(at(15));
    assert_eq!(target(&point), 1.25e9);
    assert_eq!(point.current, (cut + 1.25e9) / 2.0);
    // Three times are not enough: 10 < 10 * 1.309.
    let mut point = source();
    for _ in 0..3 {
        point.on_feedback(at(0), cnm(63));
    }
    point.handle_timeout(at(15));
    assert_eq!(target(&point), 10e9);
}

//= 802.1Q-2022 32.14 termination type=test
#[test]
fn a_limiter_goes_away_at_the_line_rate() {
    let mut point = source();
    point.on_feedback(at(0), cnm(1));
    point.handle_timeout(at(1_000_000));
    assert_eq!(point.rate(), LINE);
    assert_eq!(point.poll_timeout(), Time::MAX);
    // A new one starts afresh.
    point.on_feedback(at(1_000_001), cnm(64 / 2));
    assert_eq!((point.current, target(&point)), (7.5e9, 10e9));
    assert_eq!(point.poll_timeout(), at(1_000_016));
}

#[test]
fn steps_scale_with_the_line_if_asked_to() {
    let config = Config { reference: Some(Rate::gbps(10)), ..Config::default() };
    let point = ReactionPoint::new(&config, Rate::gbps(40), Rate::gbps(40));
    assert_eq!((point.rate_ai, point.rate_hai), (20e6, 200e6));
    let point = ReactionPoint::new(&Config::default(), Rate::gbps(40), LINE);
    assert_eq!((point.rate_ai, point.rate_hai), (5e6, 50e6));
}

#[test]
fn other_feedback_changes_nothing() {
    let mut point = source();
    let ack = Feedback::Ack { sequence: Sequence(0), is_marked: true, echo: Echo::NONE };
    let receiving = Feedback::Receiving { is_congested: true, rate_mbps: 1 };
    for feedback in [ack, receiving, Feedback::Cnp] {
        point.on_feedback(at(0), feedback);
    }
    assert_eq!(point.rate(), LINE);
    assert_eq!(point.poll_timeout(), Time::MAX);
}

/// A flow that starts below the line rate is not stuck there: its counters run from its first
/// packet on, and after five stages the target rises.
#[test]
fn a_flow_that_starts_slowly_climbs_without_a_cnm() {
    let half = Rate::gbps(5);
    let mut point = ReactionPoint::new(&Config::default(), LINE, half);
    assert_eq!((point.rate(), point.poll_timeout()), (half, Time::MAX));
    point.on_send(at(7), sent(1_500));
    assert_eq!(point.poll_timeout(), at(7 + 15));
    for _ in 0..4 {
        point.on_send(at(8), sent(150_000));
    }
    assert_eq!((point.rate(), stages(&point)), (half, (4, 0)));
    point.on_send(at(8), sent(150_000));
    assert_eq!(point.rate(), Rate::bps(5_002_500_000));
}
