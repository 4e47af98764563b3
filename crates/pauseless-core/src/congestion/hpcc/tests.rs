use super::super::ReactionPoint as _;
use super::super::telemetry::Echo;
use super::*;

const LINE: Rate = Rate::gbps(100);

fn config() -> Config {
    Config { base_rtt: Span::us(10), rate_ai: Rate::mbps(50), ..Config::default() }
}

/// A link of 100 Gb/s at so many microseconds, after so many bytes.
fn hop(us: u64, sent: u64, queue: u64) -> Hop {
    Hop {
        time: Time::from_ps(us * 1_000_000),
        sent: Bytes::new(sent),
        queue: Bytes::new(queue),
        line: LINE,
    }
}

fn acknowledge(point: &mut ReactionPoint, number: u32, hops: &[Hop]) -> f64 {
    let feedback = Feedback::Ack { sequence: Sequence(number), is_marked: false, echo: Echo::NONE };
    point.on_telemetry(Time::ZERO, feedback, hops);
    point.rate().as_bps() as f64 / 1e9
}

/// The source has sent all packets up to `number`.
fn send(point: &mut ReactionPoint, number: u32) {
    let packet = Sent { size: Bytes::new(1_000), sequence: Sequence(number) };
    point.on_send(Time::ZERO, packet);
}

fn near(left: f64, right: f64) {
    assert!((left - right).abs() < 1e-6 * right, "{left} {right}");
}

//= hpcc19 algorithm 1 measure type=test
//= hpcc19 algorithm 1 compute type=test
//= hpcc19 5.1 defaults type=test
#[test]
fn the_rate_follows_the_busiest_link() {
    let mut point = ReactionPoint::new(&config(), LINE, LINE);
    send(&mut point, 99);
    // The first acknowledgement has nothing to be held against.
    near(acknowledge(&mut point, 0, &[hop(10, 0, 0)]), 100.0);
    send(&mut point, 199);
    // 100 Gb/s for 10 us are 125,000 bytes: the link is full, and 25,000 bytes wait all the time.
    // A whole round trip has passed, so U = 1 + 0.2 counts in full.
    let records = [hop(20, 125_000, 25_000)];
    let mut queued = point.clone();
    queued.last[0] = Some(hop(10, 0, 40_000));
    near(acknowledge(&mut queued, 100, &records), 100.0 / (1.2 / 0.95) + 0.05);
    // The lesser of both queues counts, which was none at first: U = 1.
    near(acknowledge(&mut point, 100, &records), 95.05);
    // Within the round the reference stays 95.05; the link is half idle: an additive step.
    near(acknowledge(&mut point, 101, &[hop(30, 187_500, 0)]), 95.05 + 0.05);
    assert_eq!(point.references[0].steps, 0);
    near(point.references[0].rate / 1e9, 95.05);
}

#[test]
fn between_two_updates_the_reference_stays() {
    let mut point = ReactionPoint::new(&config(), LINE, LINE);
    send(&mut point, 9);
    acknowledge(&mut point, 0, &[hop(10, 0, 0)]);
    // U rises from 1 with the share of a round trip that has passed: 0.9 + 0.1 * 2.
    let twice = [hop(11, 12_500, 125_000)];
    point.last[0] = Some(hop(10, 0, 125_000));
    near(acknowledge(&mut point, 1, &twice), 100.0 / (1.1 / 0.95) + 0.05);
    near(point.references[0].rate / 1e9, 100.0);
    let mut slow = ReactionPoint::new(&Config { is_fast_reacting: false, ..config() }, LINE, LINE);
    send(&mut slow, 9);
    acknowledge(&mut slow, 0, &[hop(10, 0, 0)]);
    near(acknowledge(&mut slow, 9, &twice), 100.0);
    assert!(acknowledge(&mut slow, 10, &twice) < 99.0);
}

#[test]
fn after_enough_steps_the_rate_jumps_up() {
    let config = Config { stage_max: 2, ..config() };
    let mut point = ReactionPoint::new(&config, LINE, Rate::gbps(10));
    let mut rates = alloc::vec::Vec::new();
    for round in 0..4u64 {
        send(&mut point, 10 * round as u32 + 9);
        // A tenth of the link in every round trip.
        let records = [hop(10 * (round + 1), 12_500 * round, 0)];
        rates.push(acknowledge(&mut point, 10 * round as u32, &records));
    }
    near(rates[1], 10.05);
    near(rates[2], 10.10);
    // 0.1 / 0.95 of what it may be, so nine and a half times as fast.
    near(rates[3], 10.10 / (0.1 / 0.95) + 0.05);
}

#[test]
fn each_hop_may_have_a_rate_of_its_own() {
    let config = Config { is_per_hop: true, ..config() };
    let mut point = ReactionPoint::new(&config, LINE, LINE);
    send(&mut point, 9);
    acknowledge(&mut point, 0, &[hop(10, 0, 0), hop(11, 0, 0)]);
    // The first link is full, the second half so: it may rise, but is at the line already.
    let records = [hop(20, 125_000, 0), hop(21, 62_500, 0)];
    near(acknowledge(&mut point, 10, &records), 95.05);
    near(point.references[1].rate / 1e9, 100.0);
}

/// A packet that was sent twice is acknowledged by what is expected after it.
#[test]
fn a_negative_acknowledgement_tells_as_much() {
    let mut point = ReactionPoint::new(&config(), LINE, LINE);
    send(&mut point, 99);
    acknowledge(&mut point, 0, &[hop(10, 0, 0)]);
    let nack = |expected| Feedback::Nack { expected, is_marked: false, echo: Echo::NONE };
    let records = [hop(20, 125_000, 0)];
    // Up to 99 all was sent before the first update, so that the reference stays.
    let mut early = point.clone();
    early.on_telemetry(Time::ZERO, nack(Sequence(100)), &records);
    near(early.references[0].rate / 1e9, 100.0);
    point.on_telemetry(Time::ZERO, nack(Sequence(101)), &records);
    near(point.references[0].rate / 1e9, 95.05);
}

#[test]
fn sampling_leaves_out_what_finds_no_queue_between_two_updates() {
    let config = Config { is_sampling: true, ..config() };
    let mut point = ReactionPoint::new(&config, LINE, LINE);
    send(&mut point, 9);
    acknowledge(&mut point, 0, &[hop(10, 0, 0)]);
    near(acknowledge(&mut point, 1, &[hop(11, 12_500, 0)]), 100.0);
    assert_eq!(point.last[0], Some(hop(10, 0, 0)), "not even remembered");
    // With a queue it counts, and so does a full update without one: U = 0.9 + 0.1, then 1.
    let mut queued = point.clone();
    near(acknowledge(&mut queued, 1, &[hop(11, 12_500, 1)]), 95.05);
    near(acknowledge(&mut point, 10, &[hop(20, 125_000, 0)]), 95.05);
}

/// Records of the same instant say nothing, and neither do those of more hops than a packet carries.
#[test]
fn records_that_are_not_newer_change_nothing() {
    let mut point = ReactionPoint::new(&config(), LINE, LINE);
    send(&mut point, 9);
    acknowledge(&mut point, 0, &[hop(10, 0, 0)]);
    near(acknowledge(&mut point, 10, &[hop(10, 125_000, 99_000)]), 100.0);
    near(acknowledge(&mut point, 11, &[hop(9, 250_000, 99_000)]), 100.0);
    let many = [hop(20, 0, 0); HOPS_MAX + 1];
    assert!(acknowledge(&mut point, 12, &many) <= 100.0);
}

/// Of two hops the busier one counts, whichever comes first; and each round trip begins anew.
#[test]
fn the_busier_hop_counts_wherever_it_is() {
    for is_first in [true, false] {
        let mut point = ReactionPoint::new(&config(), LINE, LINE);
        let order = |busy: Hop, idle: Hop| if is_first { [busy, idle] } else { [idle, busy] };
        send(&mut point, 9);
        acknowledge(&mut point, 0, &order(hop(10, 0, 0), hop(10, 0, 0)));
        let records = order(hop(20, 125_000, 0), hop(20, 62_500, 0));
        near(acknowledge(&mut point, 10, &records), 95.05);
        // Packet 10 was sent before this update; the next full one is that of packet 20.
        send(&mut point, 19);
        let records = order(hop(30, 250_000, 0), hop(30, 125_000, 0));
        near(acknowledge(&mut point, 12, &records), 95.05 * 0.95 + 0.05);
        near(point.references[0].rate / 1e9, 95.05 * 0.95 + 0.05);
    }
}

/// Within a round trip each hop computes from its own reference, and a hop without news keeps it.
#[test]
fn hops_without_news_keep_their_rates() {
    let config = Config { is_per_hop: true, ..config() };
    let mut point = ReactionPoint::new(&config, LINE, LINE);
    send(&mut point, 9);
    acknowledge(&mut point, 0, &[hop(10, 0, 0), hop(10, 0, 0)]);
    near(acknowledge(&mut point, 10, &[hop(20, 125_000, 0), hop(20, 62_500, 0)]), 95.05);
    send(&mut point, 19);
    // Neither record is newer: the rate stays. Then only the second one is, and the first hop's 95.05
    // is the lower of both.
    near(acknowledge(&mut point, 5, &[hop(20, 125_000, 0), hop(20, 62_500, 0)]), 95.05);
    near(acknowledge(&mut point, 5, &[hop(20, 125_000, 0), hop(30, 125_000, 0)]), 95.05);
    // The first link is full for another round trip; its reference stays until the next full update.
    near(
        acknowledge(&mut point, 5, &[hop(30, 250_000, 0), hop(40, 187_500, 0)]),
        95.05 * 0.95 + 0.05,
    );
    near(point.references[0].rate / 1e9, 95.05);
    near(point.references[1].rate / 1e9, 100.0);
}

#[test]
fn a_given_round_trip_goes_before_that_of_the_flow() {
    let given = config();
    assert_eq!(given.for_round_trip(Span::us(99)).base_rtt, Span::us(10));
    let open = Config { base_rtt: Span::ZERO, ..given };
    assert_eq!(open.for_round_trip(Span::us(99)).base_rtt, Span::us(99));
}
