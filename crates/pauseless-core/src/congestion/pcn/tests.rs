use super::super::telemetry::Echo;
use super::super::{
    CongestionPoint as _, Joining, NotificationPoint as _, ReactionPoint as _, Sent, Sequence,
};
use super::*;

const SIZE: Bytes = Bytes::new(1_000);
const LINE: Rate = Rate::gbps(40);

fn at(us: u64) -> Time {
    Time::ZERO + Span::us(us)
}

fn waiting(packets: u32) -> QueueState {
    QueueState { packets, bytes: SIZE * u64::from(packets), is_held: false }
}

fn held(packets: u32) -> QueueState {
    QueueState { is_held: true, ..waiting(packets) }
}

fn packet(is_marked: bool) -> Received {
    Received { size: SIZE, sequence: Sequence(0), is_marked, echo: Echo::NONE }
}

fn receiving(is_congested: bool, rate_mbps: u32) -> Feedback {
    Feedback::Receiving { is_congested, rate_mbps }
}

//= pcn20 5.2 period type=test
//= pcn20 5.3 weights type=test
#[test]
fn defaults_are_those_of_the_paper() {
    let config = Config::default();
    assert_eq!(config.period, Span::us(50));
    assert_eq!((config.w_min, config.w_max), (0.0078125, 0.5));
}

//= pcn20 5.1 threshold type=test
#[test]
fn a_packet_is_marked_iff_another_waits_behind_it() {
    let mut point = CongestionPoint::new();
    assert!(!point.on_dequeue(at(0), SIZE, waiting(0)));
    assert!(point.on_dequeue(at(1), SIZE, waiting(1)));
    assert!(point.on_dequeue(at(2), SIZE, waiting(9)));
    assert_eq!(point.on_enqueue(at(3), SIZE, waiting(9)), Joining::Silent);
}

/// Three wait at the release; a fourth comes afterwards, and a fifth.
//= pcn20 5.1 paused type=test
#[test]
fn packets_that_waited_for_a_release_are_not_marked() {
    let mut point = CongestionPoint::new();
    point.on_release(at(0), waiting(3));
    assert!(!point.on_dequeue(at(1), SIZE, waiting(4)));
    assert!(!point.on_dequeue(at(2), SIZE, waiting(3)));
    assert!(!point.on_dequeue(at(3), SIZE, waiting(2)));
    assert!(point.on_dequeue(at(4), SIZE, waiting(1)));
    assert!(!point.on_dequeue(at(5), SIZE, waiting(0)));
}

/// Two of three are left when the queue is held again; all four at the next release count once.
//= pcn20 5.1 release type=test
#[test]
fn a_release_overwrites_the_count() {
    let mut point = CongestionPoint::new();
    point.on_release(at(0), waiting(3));
    assert!(!point.on_dequeue(at(1), SIZE, waiting(2)));
    point.on_release(at(2), waiting(4));
    for left in [3, 2, 1, 0] {
        assert!(!point.on_dequeue(at(3), SIZE, waiting(left)));
    }
    assert!(point.on_dequeue(at(4), SIZE, waiting(1)));
    // A release of an empty queue leaves nothing to be spared.
    point.on_release(at(5), waiting(0));
    assert!(point.on_dequeue(at(6), SIZE, waiting(1)));
}

#[test]
fn what_leaves_a_queue_that_is_slowed_down_is_not_marked() {
    let mut point = CongestionPoint::new();
    point.on_release(at(0), waiting(1));
    assert!(!point.on_dequeue(at(1), SIZE, held(5)));
    // The packet above did not use up what was counted.
    assert!(!point.on_dequeue(at(2), SIZE, waiting(4)));
    assert!(point.on_dequeue(at(3), SIZE, waiting(3)));
}

/// 250 packets of 1000 B, one every 0.2 us, make 40 Gb/s over a window of 50 us.
fn window(marked: u32) -> Option<Feedback> {
    let mut point = NotificationPoint::new(&Config::default());
    for i in 0..250 {
        let now = Time::ZERO + Span::ns(200) * u64::from(i);
        assert_eq!(point.on_packet(now, packet(i < marked)), None);
        assert_eq!(point.poll_timeout(), at(50));
    }
    point.handle_timeout(at(50))
}

/// 240 / 250 = 0.96, 237 / 250 = 0.948; 238 / 250 = 0.952 is the first that is enough.
//= pcn20 5.2 congested type=test
#[test]
fn a_flow_is_congested_if_95_percent_are_marked() {
    assert_eq!(window(240), Some(receiving(true, 40_000)));
    assert_eq!(window(237), Some(receiving(false, 40_000)));
    assert_eq!(window(238), Some(receiving(true, 40_000)));
    assert_eq!(window(0), Some(receiving(false, 40_000)));
}

/// 19 of 20 are exactly 95 %, where a comparison of floating-point numbers might go wrong.
#[test]
fn exactly_95_percent_are_enough() {
    let mut point = NotificationPoint::new(&Config::default());
    for i in 0..20 {
        point.on_packet(at(i), packet(i > 0));
    }
    // 20,000 B in 50 us are 3.2 Gb/s.
    assert_eq!(point.handle_timeout(at(50)), Some(receiving(true, 3_200)));
}

/// 1000 B in 400 us are 20 Mb/s; in 50 us they would be 160 Mb/s.
//= pcn20 5.2 inter-arrival type=test
#[test]
fn a_slow_flow_is_measured_by_its_gap() {
    let mut point = NotificationPoint::new(&Config::default());
    point.on_packet(at(0), packet(true));
    assert_eq!(point.handle_timeout(at(50)), Some(receiving(true, 160)));
    assert_eq!(point.on_packet(at(400), packet(true)), None);
    // 400 = 8 * 50: the packet opens the ninth window.
    assert_eq!(point.poll_timeout(), at(450));
    assert_eq!(point.handle_timeout(at(450)), Some(receiving(true, 20)));
}

/// Two packets after a break of 400 us: 2000 B in 50 us are 320 Mb/s, whatever the gap.
#[test]
fn a_burst_after_a_break_is_measured_by_the_window() {
    let mut point = NotificationPoint::new(&Config::default());
    point.on_packet(at(0), packet(false));
    point.handle_timeout(at(50));
    point.on_packet(at(400), packet(false));
    point.on_packet(at(401), packet(false));
    assert_eq!(point.handle_timeout(at(450)), Some(receiving(false, 320)));
}

/// A single packet whose gap is shorter than T is measured by T.
#[test]
fn a_gap_shorter_than_the_window_does_not_count() {
    let mut point = NotificationPoint::new(&Config::default());
    point.on_packet(at(0), packet(false));
    point.on_packet(at(49), packet(false));
    point.handle_timeout(at(50));
    point.on_packet(at(60), packet(false));
    assert_eq!(point.handle_timeout(at(100)), Some(receiving(false, 160)));
}

//= pcn20 5.2 silence type=test
#[test]
fn an_idle_flow_is_silent_and_has_no_timer() {
    let mut point = NotificationPoint::new(&Config::default());
    assert_eq!(point.poll_timeout(), Time::MAX);
    assert_eq!(point.handle_timeout(at(50)), None);
    point.on_packet(at(60), packet(true));
    assert_eq!(point.poll_timeout(), at(110));
    // Too early.
    assert_eq!(point.handle_timeout(at(109)), None);
    assert!(point.handle_timeout(at(110)).is_some());
    assert_eq!(point.poll_timeout(), Time::MAX);
    assert_eq!(point.handle_timeout(at(160)), None);
    // Windows begin at 60, 110, .., 310: 333 lies in the last one, which ends at 360.
    assert_eq!(point.on_packet(at(333), packet(true)), None);
    assert_eq!(point.poll_timeout(), at(360));
}

#[test]
fn a_packet_at_the_end_belongs_to_the_next_window() {
    let mut point = NotificationPoint::new(&Config::default());
    point.on_packet(at(0), packet(true));
    // The timeout at 50 us has not been handled: the packet brings the feedback out.
    assert_eq!(point.on_packet(at(50), packet(false)), Some(receiving(true, 160)));
    assert_eq!(point.handle_timeout(at(50)), None);
    assert_eq!(point.poll_timeout(), at(100));
    assert_eq!(point.handle_timeout(at(100)), Some(receiving(false, 160)));
    // The same when whole windows went by unhandled: the gap is 250 - 110 us, 57.14 Mb/s.
    assert_eq!(point.on_packet(at(110), packet(true)), None);
    assert_eq!(point.on_packet(at(250), packet(true)), Some(receiving(true, 133)));
    assert_eq!(point.poll_timeout(), at(300));
    assert_eq!(point.handle_timeout(at(300)), Some(receiving(true, 57)));
}

//= pcn20 5.2 receiving-rate type=test
#[test]
fn rates_are_rounded_to_the_nearest_and_never_zero() {
    // 8 * 1000 B / 400 us = 20 Mb/s.
    assert_eq!(rate_mbps(Bytes::new(1_000), Span::us(400)), 20);
    // 8 * 3 B / 16 us = 1.5 Mb/s, 8 * 4 B / 13 us = 2.46 Mb/s.
    assert_eq!(rate_mbps(Bytes::new(3), Span::us(16)), 2);
    assert_eq!(rate_mbps(Bytes::new(4), Span::us(13)), 2);
    assert_eq!(rate_mbps(Bytes::new(64), Span::s(1)), 1);
    assert_eq!(rate_mbps(Bytes::MAX, Span::ps(1)), u32::MAX);
}

/// 9500 * (1 - 1/128) = 9500 - 74.21875 = 9425.78125 Mb/s.
//= pcn20 5.3 line 6 type=test
//= pcn20 5.3 line 7 type=test
#[test]
fn a_congested_flow_falls_to_its_receiving_rate() {
    let mut point = ReactionPoint::new(&Config::default(), LINE, Rate::gbps(20));
    point.on_feedback(at(0), receiving(false, 20_000));
    assert!(point.weight() > 1.0 / 128.0);
    point.on_feedback(at(0), receiving(true, 9_500));
    assert_eq!(point.rate(), Rate::bps(9_425_781_250));
    assert_eq!(point.weight(), 1.0 / 128.0);
    // What drains out of a queue arrives faster than it is sent, and changes nothing.
    point.on_feedback(at(50), receiving(true, 12_000));
    assert_eq!(point.rate(), Rate::bps(9_425_781_250));
    // The floor.
    point.on_feedback(at(100), receiving(true, 1));
    assert_eq!(point.rate(), Rate::mbps(1));
}

/// The climb of Fig. 10 of the paper, computed by hand from lines 10 and 11.
//= pcn20 5.3 line 10 type=test
//= pcn20 5.3 line 11 type=test
#[test]
fn a_flow_without_congestion_rises_gently_and_then_aggressively() {
    let rates = [
        0.0078, 0.0194, 0.0364, 0.0612, 0.0968, 0.1469, 0.2152, 0.3045, 0.4141, 0.5381, 0.6641,
        0.7765, 0.8637, 0.9227, 0.9584,
    ];
    let weights = [(5, 0.0555), (10, 0.2727), (15, 0.4795)];
    let config = Config { rate_min: Rate::bps(1), ..Config::default() };
    let mut point = ReactionPoint::new(&config, LINE, Rate::bps(1));
    for k in 1..=20 {
        point.on_feedback(at(50 * k), receiving(false, 1));
        let share = point.rate().as_bps() as f64 / LINE.as_bps() as f64;
        if let Some(expected) = rates.get(k as usize - 1) {
            assert!((share - expected).abs() < 1e-4, "{k}: {share}");
        }
        if let Some((_, expected)) = weights.iter().find(|(step, _)| *step == k) {
            assert!((point.weight() - expected).abs() < 1e-4, "{k}");
        }
    }
    let share = point.rate().as_bps() as f64 / LINE.as_bps() as f64;
    assert!((share - 0.9986).abs() < 1e-4, "{share}");
}

/// w = 127/16384 + 1/256 = 191/16384.
#[test]
fn the_first_increase_by_hand() {
    let mut point = ReactionPoint::new(&Config::default(), Rate::mbps(128), Rate::mbps(64));
    point.on_feedback(at(0), receiving(false, 64));
    // 64 * 127/128 + 128 * 1/128 = 63.5 + 1 = 64.5 Mb/s.
    assert_eq!(point.rate(), Rate::bps(64_500_000));
    assert_eq!(point.weight(), 191.0 / 16_384.0);
}

#[test]
fn other_feedback_and_packets_change_nothing() {
    let mut point = ReactionPoint::new(&Config::default(), LINE, Rate::gbps(20));
    let ack = Feedback::Ack { sequence: Sequence(0), is_marked: true, echo: Echo::NONE };
    for feedback in [ack, Feedback::Cnp, Feedback::Congestion { psi: 63 }] {
        point.on_feedback(at(0), feedback);
    }
    let sent = Sent { size: SIZE, sequence: Sequence(0) };
    point.on_send(at(1), sent);
    point.handle_timeout(at(2));
    assert_eq!(point.rate(), Rate::gbps(20));
    assert_eq!(point.poll_timeout(), Time::MAX);
}
