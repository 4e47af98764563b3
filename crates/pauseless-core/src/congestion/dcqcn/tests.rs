use super::super::telemetry::Echo;
use super::super::{NotificationPoint as _, ReactionPoint as _, Sequence};
use super::*;

const LINE: Rate = Rate::gbps(40);

fn at(us: u64) -> Time {
    Time::ZERO + Span::us(us)
}

fn packet(is_marked: bool) -> Received {
    Received { size: Bytes::new(1_000), sequence: Sequence(0), is_marked, echo: Echo::NONE }
}

fn sent(bytes: Bytes) -> Sent {
    Sent { size: bytes, sequence: Sequence(0) }
}

fn source() -> ReactionPoint {
    ReactionPoint::new(&Config::default(), LINE, LINE)
}

/// A flow of 40 Gb/s on a link so fast that its own rate is no limit to the target rate.
fn free_source(clamp: Clamp) -> ReactionPoint {
    let config = Config { reference: None, clamp, ..Config::default() };
    ReactionPoint::new(&config, Rate::gbps(400), LINE)
}

/// The next expiry of the increase timer, whatever alpha's timer does.
fn time_stage(point: &mut ReactionPoint) {
    point.handle_timeout(point.increase_at);
}

//= dcqcn15 3.1 defaults type=test
#[test]
fn defaults_are_those_of_the_paper() {
    let config = Config::default();
    assert_eq!(config.marking.kmin, Bytes::kb(5));
    assert_eq!(config.marking.kmax, Bytes::kb(200));
    assert_eq!(config.marking.pmax, 0.01);
    assert_eq!((config.cnp_interval, config.cnp_check), (Span::us(50), CnpCheck::OnMark));
    assert_eq!(config.alpha_timer, Span::us(55));
    assert_eq!(config.increase_timer, Span::us(55));
    assert_eq!(config.byte_counter, Bytes::mb(10));
    assert_eq!((config.g, config.alpha_initial), (0.00390625, 1.0));
    assert_eq!((config.threshold, config.clamp), (5, Clamp::Always));
    assert_eq!(config.rate_ai, Rate::mbps(40));
}

//= dcqcn15 3.1 cnp type=test
#[test]
fn marked_packets_are_answered_once_per_interval() {
    let mut point = NotificationPoint::new(&Config::default());
    assert_eq!(point.on_packet(at(0), packet(false)), None);
    // At once, even at the very first instant.
    assert_eq!(point.on_packet(at(0), packet(true)), Some(Feedback::Cnp));
    assert_eq!(point.on_packet(at(0), packet(true)), None);
    assert_eq!(point.on_packet(at(49), packet(true)), None);
    assert_eq!(point.on_packet(at(50), packet(false)), None);
    assert_eq!(point.on_packet(at(50), packet(true)), Some(Feedback::Cnp));
    assert_eq!(point.on_packet(at(99), packet(true)), None);
    // The interval counts from the last CNP, not from the last multiple of it.
    assert_eq!(point.on_packet(at(130), packet(true)), Some(Feedback::Cnp));
    assert_eq!(point.on_packet(at(179), packet(true)), None);
    assert_eq!(point.poll_timeout(), Time::MAX);
    assert_eq!(point.handle_timeout(at(500)), None);
}

/// Looks at 7, 57, 107 us and so on: each tells of the packets since the one before it.
#[test]
fn by_period_a_look_tells_of_all_packets_since_the_last_one() {
    let config = Config { cnp_check: CnpCheck::Periodic, ..Config::default() };
    let mut point = NotificationPoint::new(&config);
    assert_eq!(point.on_packet(at(7), packet(false)), None);
    assert_eq!(point.poll_timeout(), Time::MAX, "nothing to tell");
    // Marked at 20 us, and told at the next look, once for both.
    assert_eq!(point.on_packet(at(20), packet(true)), None);
    assert_eq!(point.poll_timeout(), at(57));
    assert_eq!(point.on_packet(at(21), packet(true)), None);
    assert_eq!(point.on_packet(at(22), packet(false)), None);
    assert_eq!(point.handle_timeout(at(56)), None);
    assert_eq!(point.handle_timeout(at(57)), Some(Feedback::Cnp));
    assert_eq!(point.poll_timeout(), Time::MAX);
    // At the very instant of a look: for the next one, 157 us. Two looks in between find nothing.
    assert_eq!(point.on_packet(at(107), packet(true)), None);
    assert_eq!(point.poll_timeout(), at(157));
    // A packet that comes before the timeout was handled brings its CNP, and is not part of it.
    assert_eq!(point.on_packet(at(160), packet(true)), Some(Feedback::Cnp));
    assert_eq!(point.poll_timeout(), at(207));
    assert_eq!(point.handle_timeout(at(207)), Some(Feedback::Cnp));
    assert_eq!(point.handle_timeout(at(257)), None);
    // The first packet is looked at as it comes.
    let mut point = NotificationPoint::new(&config);
    assert_eq!(point.on_packet(at(3), packet(true)), Some(Feedback::Cnp));
    assert_eq!(point.on_packet(at(4), packet(true)), None);
    assert_eq!(point.poll_timeout(), at(53));
}

#[test]
fn nothing_runs_before_the_first_cnp() {
    let mut point = source();
    assert_eq!(point.poll_timeout(), Time::MAX);
    point.on_send(at(0), sent(Bytes::mb(100)));
    point.handle_timeout(at(1_000));
    assert_eq!(point.rate(), LINE);
    assert_eq!(point.alpha(), 1.0);
}

/// Computed by hand: half of 40, four halves of what is missing, then
/// (38.75 + 40.04) / 2 and (39.395 + 40.08) / 2.
//= dcqcn15 3.1 eq 3 type=test
//= dcqcn15 3.1 eq 4 type=test
#[test]
fn a_rate_recovers_by_halves_and_then_adds() {
    let mut point = free_source(Clamp::Always);
    point.on_feedback(at(0), Feedback::Cnp);
    assert_eq!(point.rate(), Rate::gbps(20));
    let expected = [30_000.0, 35_000.0, 37_500.0, 38_750.0, 39_395.0, 39_737.5];
    for (k, mbps) in expected.into_iter().enumerate() {
        assert_eq!(point.poll_timeout(), at(55 * (k as u64 + 1)));
        point.handle_timeout(point.poll_timeout());
        assert_eq!(point.rate(), Rate::bps((mbps * 1e6) as u64), "{k}");
    }
    assert_eq!(point.target, 40.08e9);
}

/// On its own line of 40 Gb/s the target stays there: (38.75 + 40) / 2 = 39.375.
#[test]
fn the_target_never_exceeds_the_line() {
    let mut point = source();
    point.on_feedback(at(0), Feedback::Cnp);
    for _ in 0..5 {
        time_stage(&mut point);
    }
    assert_eq!(point.target, 40e9);
    assert_eq!(point.rate(), Rate::mbps(39_375));
    point.handle_timeout(at(1_000_000));
    assert_eq!(point.rate(), LINE);
}

/// alpha 1: half. Then alpha = 255/256 + 1/256 = 1 again; after a decay to 255/256 the cut is by
/// the old alpha, and alpha = (255/256)^2 + 1/256.
//= dcqcn15 3.1 eq 1 type=test
//= dcqcn15 3.1 eq 2 type=test
#[test]
fn a_cnp_cuts_by_half_of_the_old_alpha() {
    let config = Config { increase_timer: Span::s(1), ..Config::default() };
    let mut point = ReactionPoint::new(&config, LINE, LINE);
    point.on_feedback(at(0), Feedback::Cnp);
    assert_eq!((point.current, point.alpha()), (20e9, 1.0));
    assert_eq!(point.poll_timeout(), at(55));
    point.handle_timeout(at(54));
    assert_eq!(point.alpha(), 1.0);
    point.handle_timeout(at(55));
    let once = 255.0 / 256.0;
    assert_eq!(point.alpha(), once);
    point.on_feedback(at(60), Feedback::Cnp);
    assert_eq!(point.current, 20e9 * (1.0 - once / 2.0));
    assert_eq!(point.target, 20e9);
    assert_eq!(point.alpha(), once * once + 1.0 / 256.0);
    // The CNP has restarted alpha's timer, which then repeats.
    assert_eq!(point.poll_timeout(), at(115));
    let before = point.alpha();
    point.handle_timeout(at(170));
    assert_eq!(point.alpha(), before * once * once);
}

#[test]
fn the_rate_has_a_floor() {
    let mut point = source();
    for _ in 0..20 {
        point.on_feedback(at(0), Feedback::Cnp);
    }
    assert_eq!(point.rate(), Rate::mbps(100));
    // A target at the floor leads nowhere until it is raised.
    for _ in 0..4 {
        time_stage(&mut point);
    }
    assert_eq!(point.rate(), Rate::mbps(100));
    time_stage(&mut point);
    // (100 + 140) / 2.
    assert_eq!(point.rate(), Rate::mbps(120));
}

#[test]
fn bytes_sent_make_stages_too() {
    let mut point = free_source(Clamp::Always);
    point.on_feedback(at(0), Feedback::Cnp);
    point.on_send(at(1), sent(Bytes::mb(9)));
    assert_eq!((point.byte_stage, point.rate()), (0, Rate::gbps(20)));
    point.on_send(at(2), sent(Bytes::mb(1)));
    assert_eq!((point.byte_stage, point.rate()), (1, Rate::gbps(30)));
    assert_eq!(point.bytes_left, Some(Bytes::mb(10)));
    // The timer did not notice.
    assert_eq!(point.poll_timeout(), at(55));
    // A CNP starts both again.
    point.on_send(at(3), sent(Bytes::mb(4)));
    point.on_feedback(at(4), Feedback::Cnp);
    assert_eq!((point.byte_stage, point.time_stage), (0, 0));
    assert_eq!(point.bytes_left, Some(Bytes::mb(10)));
    assert_eq!(point.poll_timeout(), at(59));
}

//= dcqcn15 3.1 hyper-increase type=test
#[test]
fn hyper_increase_needs_both_stages_above_the_threshold() {
    let mut point = free_source(Clamp::Always);
    point.on_feedback(at(0), Feedback::Cnp);
    for _ in 0..6 {
        time_stage(&mut point);
    }
    // Stages 5 and 6 of the timer were additive.
    assert_eq!(point.target, 40.08e9);
    for _ in 0..5 {
        point.on_send(at(400), sent(Bytes::mb(10)));
    }
    // min = 1 to 5: additive each time.
    assert_eq!(point.target, 40.28e9);
    point.on_send(at(400), sent(Bytes::mb(10)));
    // min = 6: once R_HAI.
    assert_eq!((point.byte_stage, point.time_stage), (6, 6));
    assert_eq!(point.target, 40.48e9);
    time_stage(&mut point);
    // min is still 6.
    assert_eq!(point.target, 40.68e9);
    point.on_send(at(400), sent(Bytes::mb(10)));
    // min = 7: twice.
    assert_eq!(point.target, 41.08e9);
}

/// Two CNPs in a row, then one after a time stage, then one after a byte stage.
#[test]
fn the_clamp_decides_what_the_target_follows() {
    let targets = |clamp| {
        let mut point = free_source(clamp);
        point.on_feedback(at(0), Feedback::Cnp);
        point.on_feedback(at(1), Feedback::Cnp);
        let in_a_row = point.target;
        time_stage(&mut point);
        let current = point.current;
        point.on_feedback(at(57), Feedback::Cnp);
        let after_time = (point.target, current);
        point.on_send(at(58), sent(Bytes::mb(10)));
        let current = point.current;
        point.on_feedback(at(59), Feedback::Cnp);
        (in_a_row, after_time, (point.target, current))
    };
    let (in_a_row, after_time, after_byte) = targets(Clamp::Always);
    assert_eq!(in_a_row, 20e9);
    assert_eq!(after_time.0, after_time.1);
    assert_eq!(after_byte.0, after_byte.1);
    let (in_a_row, after_time, after_byte) = targets(Clamp::AfterStage);
    assert_eq!(in_a_row, 40e9);
    assert_eq!(after_time.0, after_time.1);
    assert_eq!(after_byte.0, after_byte.1);
    let (in_a_row, after_time, after_byte) = targets(Clamp::AfterByteStage);
    assert_eq!(in_a_row, 40e9);
    assert_eq!(after_time.0, 40e9);
    assert_eq!(after_byte.0, after_byte.1);
}

#[test]
fn steps_scale_with_the_line_if_asked_to() {
    let point = ReactionPoint::new(&Config::default(), Rate::gbps(10), Rate::gbps(10));
    assert_eq!((point.rate_ai, point.rate_hai), (10e6, 50e6));
    let point = free_source(Clamp::Always);
    assert_eq!((point.rate_ai, point.rate_hai), (40e6, 200e6));
}

#[test]
fn other_feedback_changes_nothing() {
    let mut point = source();
    let ack = Feedback::Ack { sequence: Sequence(0), is_marked: true, echo: Echo::NONE };
    let receiving = Feedback::Receiving { is_congested: true, rate_mbps: 1 };
    for feedback in [ack, receiving, Feedback::Congestion { psi: 63 }] {
        point.on_feedback(at(0), feedback);
    }
    assert_eq!(point.rate(), LINE);
    assert_eq!(point.poll_timeout(), Time::MAX);
}

/// A flow that starts below the line rate is not stuck there: both timers run from its first packet
/// on, and the fifth stage adds.
#[test]
fn a_flow_that_starts_slowly_climbs_without_a_cnp() {
    let half = Rate::gbps(20);
    let mut point = ReactionPoint::new(&Config::default(), LINE, half);
    assert_eq!((point.rate(), point.poll_timeout()), (half, Time::MAX));
    point.on_send(at(7), sent(Bytes::new(1_000)));
    assert_eq!(point.poll_timeout(), at(7 + 55));
    point.handle_timeout(at(7 + 4 * 55));
    assert_eq!(point.rate(), half);
    assert!(point.alpha() < 0.99);
    point.handle_timeout(at(7 + 5 * 55));
    assert_eq!(point.rate(), Rate::mbps(20_020));
}
