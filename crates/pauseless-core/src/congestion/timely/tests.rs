use super::super::ReactionPoint as _;
use super::super::telemetry::Echo;
use super::*;
use crate::unit::Bytes;

const LINE: Rate = Rate::gbps(10);
/// 1250 B take 1 us at 10 Gb/s.
const SIZE: Bytes = Bytes::new(1_250);

fn at(us: u64) -> Time {
    Time::ZERO + Span::us(us)
}

fn sent(sequence: u32) -> Sent {
    Sent { size: SIZE, sequence: Sequence(sequence) }
}

fn ack(sequence: u32) -> Feedback {
    Feedback::Ack { sequence: Sequence(sequence), is_marked: false, echo: Echo::NONE }
}

/// The paper's thresholds, with an average that is easy to follow: the last two differences.
fn config() -> Config {
    Config {
        ewma_weight: 0.5,
        t_low: Span::us(50),
        t_high: Span::us(500),
        ..Config::per_packet(Span::us(20))
    }
}

/// A flow that measures the round-trip times given, 1 ms apart.
fn flow(config: &Config, initial: Rate, rtts: &[u64]) -> ReactionPoint {
    let mut point = ReactionPoint::new(config, LINE, initial);
    for (k, rtt) in rtts.iter().enumerate() {
        measure(&mut point, k as u32, *rtt);
    }
    point
}

/// The packet leaves so that its acknowledgement comes at (k + 10) ms.
fn measure(point: &mut ReactionPoint, k: u32, rtt_us: u64) {
    let now = (u64::from(k) + 10) * 1_000;
    point.on_send(at(now - rtt_us - 1), sent(k));
    point.on_feedback(at(now), ack(k));
}

//= timely15 snippet defaults type=test
#[test]
fn defaults_are_those_of_the_snippet() {
    let config = Config::per_packet(Span::us(30));
    assert_eq!((config.ewma_weight, config.beta), (0.02, 0.8));
    assert_eq!((config.t_low, config.t_high), (Span::ZERO, Span::ms(1)));
    assert_eq!(config.delta, Rate::mbps(10));
    assert_eq!(config.reference, Some(Rate::gbps(10)));
    assert_eq!((config.hai_threshold, config.hai_factor), (5, 5.0));
    assert_eq!(config.min_rtt, Span::us(30));
}

/// Computed by hand: 10 * (1 - 0.8 * (1 - 500/1000)) = 6.
//= timely15 4.3 high type=test
#[test]
fn a_long_round_trip_cuts_by_how_much_too_long_it_is() {
    let point = flow(&config(), LINE, &[1_000]);
    assert_eq!(point.rate(), Rate::gbps(6));
    // Exactly T_high is not too long: no gradient yet, one step up.
    let point = flow(&config(), Rate::gbps(5), &[500]);
    assert_eq!(point.rate(), Rate::mbps(5_010));
}

/// A round trip is from the last bit's leaving: sent at 100, gone at 101, 49 us later answered.
//= timely15 4.1 rtt type=test
#[test]
fn the_packets_own_time_on_the_wire_does_not_count() {
    let mut point = ReactionPoint::new(&config(), LINE, Rate::gbps(5));
    point.on_send(at(100), sent(0));
    point.on_feedback(at(150), ack(0));
    assert_eq!(point.last, Some((49e6, at(150))));
    // An answer before the packet has left would be a round trip of nothing.
    point.on_send(at(200), sent(1));
    point.on_feedback(at(200), ack(1));
    assert_eq!(point.last, Some((0.0, at(200))));
}

//= timely15 4.3 low type=test
#[test]
fn a_short_round_trip_adds_a_step() {
    // Even with a rising gradient: 20, then 49 us.
    let point = flow(&config(), Rate::gbps(5), &[20, 49]);
    assert_eq!(point.rate(), Rate::mbps(5_020));
    // Exactly T_low is not short: 5.01 Gb/s are cut, by half because the gradient is 0.75.
    let point = flow(&config(), Rate::gbps(5), &[20, 50]);
    assert_eq!(point.rate(), Rate::mbps(2_505));
    // And without hyper-active increase: ten falling ones.
    let falling = [49, 48, 47, 46, 45, 44, 43, 42, 41, 40];
    let point = flow(&config(), Rate::gbps(5), &falling);
    assert_eq!(point.rate(), Rate::mbps(5_100));
}

/// 5 us after the last sample, a quarter of the smallest round trip: a quarter of the step.
#[test]
fn steps_shrink_with_the_time_between_samples() {
    let mut point = ReactionPoint::new(&config(), LINE, Rate::gbps(5));
    point.on_send(at(0), sent(0));
    point.on_send(at(5), sent(1));
    point.on_feedback(at(31), ack(0));
    assert_eq!(point.rate(), Rate::mbps(5_010));
    point.on_feedback(at(36), ack(1));
    assert_eq!(point.rate(), Rate::bps(5_012_500_000));
    // The cut above T_high shrinks too: 1 - 0.25 * 0.8 * (1 - 500/1000) = 0.9.
    let mut point = ReactionPoint::new(&config(), LINE, LINE);
    point.on_send(at(0), sent(0));
    point.on_send(at(5), sent(1));
    point.on_feedback(at(1_001), ack(0));
    assert_eq!(point.rate(), Rate::gbps(6));
    point.on_feedback(at(1_006), ack(1));
    assert_eq!(point.rate(), Rate::mbps(5_400));
}

/// 100, then 104 us: average 0.5 * 0 + 0.5 * 4 = 2, gradient 2 / 20 = 0.1.
/// First a step up to 5.01, then 5.01 * (1 - 0.8 * 0.1) = 4.6092.
//= timely15 4.3 gradient type=test
//= timely15 4.3 gradient-decrease type=test
#[test]
fn a_growing_round_trip_cuts_by_its_gradient() {
    let point = flow(&config(), Rate::gbps(5), &[100, 104]);
    assert_eq!(point.ewma, 2e6);
    assert_eq!(point.rate(), Rate::bps(4_609_200_000));
    // 104 again: the average is 1, the gradient 0.05. 4.6092 * 0.96 = 4.424832.
    let point = flow(&config(), Rate::gbps(5), &[100, 104, 104]);
    assert_eq!(point.rate(), Rate::bps(4_424_832_000));
    // 98: 0.5 * 1 - 0.5 * 6 = -2.5, which is no growth.
    let point = flow(&config(), Rate::gbps(5), &[100, 104, 104, 98]);
    assert_eq!(point.ewma, -2.5e6);
    assert_eq!(point.rate(), Rate::bps(4_434_832_000));
}

/// Six round trips have five differences: the fifth negative one in a row makes five steps.
//= timely15 4.3 hyper-active type=test
#[test]
fn five_falling_round_trips_make_larger_steps() {
    let point = flow(&config(), Rate::gbps(5), &[110, 109, 108, 107, 106]);
    assert_eq!(point.rate(), Rate::mbps(5_050));
    let mut point = flow(&config(), Rate::gbps(5), &[110, 109, 108, 107, 106, 105]);
    assert_eq!((point.negative, point.rate()), (5, Rate::mbps(5_100)));
    // A difference of zero ends the row, though the average is negative still.
    measure(&mut point, 6, 105);
    assert!(point.ewma < 0.0);
    assert_eq!((point.negative, point.rate()), (0, Rate::mbps(5_110)));
}

/// 100, then 500 us: gradient 0.5 * 400 / 20 = 10, and 1 - 8 is far below a half.
//= timely15 snippet half type=test
#[test]
fn no_sample_takes_more_than_half() {
    let point = flow(&config(), Rate::gbps(5), &[100, 500]);
    assert_eq!(point.rate(), Rate::mbps(2_505));
    // The floor: 2.505 Gb/s halved nine times is below 10 Mb/s.
    let rising: [u64; 20] = core::array::from_fn(|k| 100 + 20 * k as u64);
    let point = flow(&config(), Rate::gbps(5), &rising);
    assert_eq!(point.rate(), Rate::mbps(10));
}

/// The step is for 10 Gb/s: 100 Mb/s at 100 Gb/s, and 10 everywhere if it is not to be scaled.
#[test]
fn steps_scale_with_the_line() {
    let line = Rate::gbps(100);
    let point = ReactionPoint::new(&config(), line, line);
    assert_eq!(point.delta, 100e6);
    let fixed = Config { reference: None, ..config() };
    let point = ReactionPoint::new(&fixed, line, line);
    assert_eq!(point.delta, 10e6);
}

fn patched() -> Config {
    Config { beta: 0.008, is_patched: true, ..config() }
}

/// 100 us without gradient: w = 1/2, error (100 - 50) / 50 = 1.
/// 0.5 * 10 Mb/s + 5 Gb/s * (1 - 0.008 * 0.5 * 1) = 5 Mb/s + 4980 Mb/s.
//= timely16 algorithm 2 type=test
#[test]
fn the_patched_branch_blends_increase_and_decrease() {
    let point = flow(&patched(), Rate::gbps(5), &[100]);
    assert_eq!(point.rate(), Rate::mbps(4_985));
    // Gradient 0.5 * 20 / 20 = 0.5: w is cut to 1. Error (120 - 50) / 50 = 1.4.
    // 4985 * (1 - 0.008 * 1.4) = 4929.168.
    let point = flow(&patched(), Rate::gbps(5), &[100, 120]);
    assert_eq!(point.rate(), Rate::bps(4_929_168_000));
    // Gradient -0.5: w = 0, one whole step and no decrease.
    let point = flow(&patched(), Rate::gbps(5), &[100, 80]);
    assert_eq!(point.rate(), Rate::mbps(4_995));
    // The outer branches are as before.
    let point = flow(&patched(), Rate::gbps(5), &[20]);
    assert_eq!(point.rate(), Rate::mbps(5_010));
    let point = flow(&patched(), LINE, &[1_000]);
    // 10 * (1 - 0.008 * 0.5).
    assert_eq!(point.rate(), Rate::mbps(9_960));
}

/// Without T_low errors are counted from the smallest round trip: (40 - 20) / 20 = 1.
#[test]
fn the_patched_branch_does_not_divide_by_zero() {
    let config = Config { t_low: Span::ZERO, ..patched() };
    let point = flow(&config, Rate::gbps(5), &[40]);
    assert_eq!(point.rate(), Rate::mbps(4_985));
}

#[test]
fn an_acknowledgement_covers_those_before_it() {
    let mut point = ReactionPoint::new(&config(), LINE, Rate::gbps(5));
    for sequence in 0..4 {
        point.on_send(at(u64::from(sequence)), sent(sequence));
    }
    // 0 and 1 were lost or share this acknowledgement.
    point.on_feedback(at(43), ack(2));
    assert_eq!(point.last, Some((40e6, at(43))));
    assert_eq!(point.outstanding.len(), 1);
    let rate = point.rate();
    // Duplicates.
    for sequence in [2, 1, 0, (1 << 24) - 1] {
        point.on_feedback(at(50), ack(sequence));
        assert_eq!((point.rate(), point.outstanding.len()), (rate, 1));
    }
    point.on_feedback(at(50), ack(3));
    assert_eq!(point.last, Some((46e6, at(50))));
    // Nothing is left to be acknowledged.
    point.on_feedback(at(60), ack(3));
    assert_eq!(point.last, Some((46e6, at(50))));
}

#[test]
fn numbers_wrap() {
    let last = (1 << 24) - 1;
    let mut point = ReactionPoint::new(&config(), LINE, Rate::gbps(5));
    for (k, sequence) in [last - 1, last, 0, 1].into_iter().enumerate() {
        point.on_send(at(k as u64), sent(sequence));
    }
    point.on_feedback(at(43), ack(0));
    assert_eq!(point.last, Some((40e6, at(43))));
    assert_eq!(point.outstanding.len(), 1);
}

#[test]
fn a_packet_sent_again_is_measured_anew() {
    let mut point = ReactionPoint::new(&config(), LINE, Rate::gbps(5));
    for sequence in 0..4 {
        point.on_send(at(u64::from(sequence)), sent(sequence));
    }
    // Back to 1: 2 and 3 will be sent again too.
    point.on_send(at(100), sent(1));
    assert_eq!(point.outstanding.len(), 2);
    point.on_feedback(at(141), ack(1));
    assert_eq!(point.last, Some((40e6, at(141))));
    assert!(point.outstanding.is_empty());
}

#[test]
fn memory_is_bounded() {
    let mut point = ReactionPoint::new(&config(), LINE, Rate::gbps(5));
    let count = OUTSTANDING_MAX as u32 + 10;
    for sequence in 0..count {
        point.on_send(at(u64::from(sequence)), sent(sequence));
    }
    assert_eq!(point.outstanding.len(), OUTSTANDING_MAX);
    // The oldest are measured still, the newest are not.
    point.on_feedback(at(100_000), ack(0));
    assert_eq!(point.outstanding.len(), OUTSTANDING_MAX - 1);
    let last = point.last;
    point.on_feedback(at(100_000), ack(count - 1));
    assert_eq!(point.last, last);
    // But it makes room for those that follow.
    assert!(point.outstanding.is_empty());
}

#[test]
fn other_feedback_changes_nothing() {
    let mut point = flow(&config(), Rate::gbps(5), &[100]);
    point.on_send(at(20_000), sent(1));
    let rate = point.rate();
    let receiving = Feedback::Receiving { is_congested: true, rate_mbps: 1 };
    let others = [receiving, Feedback::Cnp, Feedback::Congestion { psi: 63 }];
    for feedback in others {
        point.on_feedback(at(20_010), feedback);
    }
    point.handle_timeout(at(20_020));
    assert_eq!((point.rate(), point.outstanding.len()), (rate, 1));
    assert_eq!(point.poll_timeout(), Time::MAX);
}

/// Once per round trip: the first acknowledgement is only remembered, those of packets that were sent before
/// the last change are ignored, five increases in a row make the sixth five times as large, and a round trip
/// begins with the first bit. Computed by hand, in Mb/s.
#[test]
fn per_round_trip_one_acknowledgement_counts() {
    let config = Config { update: Update::PerRoundTrip, ..config() };
    let mut point = ReactionPoint::new(&config, LINE, Rate::gbps(5));
    let rate = |point: &ReactionPoint| point.rate().as_bps() / 1_000_000;
    point.on_send(at(0), sent(0));
    point.on_send(at(0), sent(1));
    point.on_feedback(at(100), ack(0));
    assert_eq!((rate(&point), point.last), (5_000, Some((100e6, at(100)))));
    point.on_feedback(at(900), ack(1));
    assert_eq!((rate(&point), point.last), (5_000, Some((100e6, at(100)))));
    let mut next = 2;
    let mut after = |point: &mut ReactionPoint, rtt: u64| {
        let now = u64::from(next) * 2_000;
        point.on_send(at(now), sent(next));
        point.on_feedback(at(now + rtt), ack(next));
        next += 1;
        rate(point)
    };
    for expected in [5_010, 5_020, 5_030, 5_040, 5_050, 5_100, 5_150] {
        assert_eq!(after(&mut point, 100), expected);
    }
    // Below T_low the increases in a row count as well.
    let mut low = point.clone();
    low.on_send(at(90_000), sent(90));
    low.on_feedback(at(90_049), ack(90));
    assert_eq!(rate(&low), 5_200);
    // 1 - 0.8 (1 - 500/1000) = 0.6, and the count of increases begins anew.
    assert_eq!(after(&mut point, 1_000), 3_090);
    assert_eq!(after(&mut point, 40), 3_100);
    // The average is now ((900 / 2 - 960) / 2 + 60) / 2 = -97.5 us: no rise.
    assert_eq!(after(&mut point, 100), 3_110);
    // (-97.5 + 300) / 2 = 101 us are five times the smallest round trip: as low as it goes.
    assert_eq!(after(&mut point, 400), 10);
}
