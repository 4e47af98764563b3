//! Packets of a flow that take several paths: how far they overtake each other, what targets do about
//! that, and how sources choose.

mod networks;

use networks::congestion::pcn_ingress;
use pauseless_core::congestion::dither::Dither;
use pauseless_core::congestion::{CongestionControl, dctcp};
use pauseless_core::entropy::{Entropy, EntropyConfig, EntropyKind};
use pauseless_core::id::{Class, NodeId, PortId};
use pauseless_core::transport::{GoBackN, Receiver, Recovery, Window};
use pauseless_core::unit::{Bytes, Rate, Span, Time};
use pauseless_fabric::builder::TopologyBuilder;
use pauseless_fabric::routing::{Multipath, RouteBuilder};
use pauseless_fabric::topology::{LinkSpec, Topology};
use pauseless_sim::config::{Flow, IngressTable, RateLimit, Reaction};
use pauseless_sim::parallel::Parallel;
use pauseless_sim::rng::hash_name;
use pauseless_sim::{Config, Outcome, run};

const LINE: Rate = Rate::gbps(100);
const PACKET: Bytes = Bytes::new(1_000);
const UNBOUNDED: u32 = Receiver::BITS_MAX;

/// Two switches with so many hosts each, which as many middle switches as there are delays join.
fn parallel_paths(hosts: usize, delays: &[Span]) -> Topology {
    let mut builder = TopologyBuilder::new();
    let link = |delay| LinkSpec { rate: LINE, delay };
    let (near, far) = (builder.add_switch("S0"), builder.add_switch("S1"));
    for (index, delay) in delays.iter().enumerate() {
        let middle = builder.add_switch(format!("M{index}"));
        builder.connect(near, middle, link(Span::us(1)));
        builder.connect(middle, far, link(*delay));
    }
    for index in 0..hosts {
        for (side, switch) in [("A", near), ("B", far)] {
            let host = builder.add_host(format!("{side}{index}"));
            builder.connect(host, switch, link(Span::us(1)));
        }
    }
    builder.build().expect("parallel paths")
}

/// A flow of so many packets from each A to each B, acknowledged packet by packet.
fn network(hosts: usize, delays: &[Span], packets: u64) -> Config {
    let topology = parallel_paths(hosts, delays);
    let routes = RouteBuilder::new(&topology, Multipath::Ecmp).build();
    let node = |name: String| topology.node_named(&name).expect("a host of that name");
    let flows = (0..hosts).map(|index| {
        let (source, target) = (node(format!("A{index}")), node(format!("B{index}")));
        let group = |host: NodeId| routes.groups.of_host(host);
        Flow {
            packet: PACKET,
            size: PACKET * packets - Bytes::new(300),
            reaction: Reaction::Controlled {
                initial: LINE,
                group: group(source),
                class: Class(1),
                window: Bytes::MAX,
                round_trip: Span::us(20),
            },
            ..Flow::greedy(&topology, source, target, group(target))
        }
    });
    let flows = Vec::from_iter(flows);
    let mut config = Config::new(topology, routes.table.clone(), pcn_ingress(), flows);
    config.ingress = IngressTable::uniform(&config.topology, 2, pcn_ingress());
    config.congestion.ack_every = 1;
    config.duration = Span::ms(2);
    config
}

fn spray(config: &mut Config, kind: EntropyKind, values: u16) {
    config.transport.entropy = EntropyConfig { kind, values, ..EntropyConfig::default() };
}

fn finished(outcome: &Outcome) -> usize {
    outcome.flows.iter().filter(|flow| flow.finish.is_some()).count()
}

/// The same on several threads.
fn check_threads(config: &Config, outcome: &Outcome) {
    for (threads, parts) in [(2, 2), (3, 5)] {
        let parallel = Parallel::in_parts(config, threads, parts);
        assert!(parallel.part_count() > 1);
        assert_eq!(&parallel.run(), outcome, "{threads} threads, {parts} parts");
    }
}

/// Lets two values take two paths by turns: by a hash that leads them to both, and a seed that draws the
/// same order for so many rounds.
fn take_turns(config: &mut Config, rounds: usize) {
    spray(config, EntropyKind::Oblivious, 2);
    let group = config.flows[0].group;
    let near = config.topology.node_named("S0").expect("the first switch");
    let port = |hash: u64, value| config.table.next_hop(near, group, Entropy(value).mix(hash));
    let hash =
        (0..).find(|hash| port(*hash, 0) != port(*hash, 1)).expect("one of four hashes does");
    config.flows[0].hash = hash;
    let name = hash_name(&config.flows[0].name);
    let is_steady = |seed: &u64| {
        let mut dither = Dither::new(name ^ Entropy::default().mix(*seed));
        let first = dither.choice(2);
        (1..rounds).all(|_| {
            dither.advance();
            dither.choice(2) == first
        })
    };
    config.seed = (0..).find(is_steady).expect("one of 2^rounds seeds does");
}

/// Packets take two paths by turns that differ by D in delay: so many that were sent later arrive before
/// one on the slow path, and the target must hold what comes in half of D.
#[test]
fn two_paths_by_turns_have_the_extent_of_their_delays() {
    let each = LINE.tx_span(PACKET);
    for (halves, rounds) in [(1, 8), (5, 10), (8, 10), (9, 12), (11, 12), (21, 16), (40, 22)] {
        let skew = each * halves / 2;
        let mut config = network(1, &[Span::us(1), Span::us(1) + skew], 2 * rounds);
        config.transport.receiver = Receiver::Hold { bits: UNBOUNDED };
        // A shorter last packet would be faster than the others.
        config.flows[0].size = PACKET * (2 * rounds);
        take_turns(&mut config, rounds as usize);
        let outcome = run(&config);
        assert_eq!(finished(&outcome), 1);
        // floor(ceil(D/s)/2)
        let extent = halves.div_ceil(2) / 2;
        let flow = outcome.flows[0].reordering.expect("packets take several paths");
        assert_eq!(flow.extent_max, extent, "D = {skew:?}");
        let depth = LINE.bytes_in(skew).get() / 2;
        assert!(flow.depth_max.get().abs_diff(depth) <= PACKET.get(), "{flow:?} for {depth}");
        let all = outcome.reordering.as_ref().expect("as the flow");
        assert_eq!((all.held_max, all.depth_max), (flow.depth_max, flow.depth_max));
        // The first one that overtakes is sent right behind. Where the link to the target is wanted by two
        // at a time, one waits for what is left of the other.
        let late = if extent > 0 { skew - each } else { Span::ZERO };
        let waits = if halves % 4 == 0 { Span::ZERO } else { each / 2 };
        assert!((late..=late + waits).contains(&flow.late_max), "{flow:?} for {late:?}");
        check_threads(&config, &outcome);
    }
}

#[test]
fn without_entropies_nothing_is_counted() {
    let outcome = run(&network(2, &[Span::us(1), Span::us(2)], 50));
    assert_eq!((finished(&outcome), outcome.reordering.is_none()), (2, true));
    assert!(outcome.flows.iter().all(|flow| flow.reordering.is_none()));
}

fn go_back_n(config: &mut Config, timeout: Span) {
    config.transport.recovery = Recovery::GoBackN(GoBackN { nack_interval: Span::us(4), timeout });
    config.transport.window = Window::Fixed;
    for flow in &mut config.flows {
        if let Reaction::Controlled { window, .. } = &mut flow.reaction {
            *window = Bytes::kb(150);
        }
    }
}

const DELAYS: [Span; 4] = [Span::us(1), Span::us(1), Span::us(2), Span::us(3)];

/// A target that takes packets in order only throws away what overtakes another, and its source goes
/// back: nearly all is sent again and again. One that tolerates or holds them gets everything once.
#[test]
fn go_back_n_livelocks_where_packets_take_several_paths() {
    let of = |receiver| {
        let mut config = network(8, &DELAYS, 2_000);
        spray(&mut config, EntropyKind::Oblivious, 64);
        go_back_n(&mut config, Span::MAX);
        config.transport.receiver = receiver;
        config.duration = Span::ms(8);
        config.stop.done = true;
        run(&config)
    };
    let in_order = of(Receiver::InOrder);
    let data = 8 * 2_000 * PACKET.get();
    assert_eq!(finished(&in_order), 0, "none finishes in 8 ms");
    let refused = in_order.refused.bytes.get();
    assert!(refused > 5 * data, "{refused} bytes were thrown away for {data} bytes of data");
    for receiver in [Receiver::Tolerant { bits: UNBOUNDED }, Receiver::Hold { bits: UNBOUNDED }] {
        let outcome = of(receiver);
        assert_eq!((finished(&outcome), outcome.refused.packets), (8, 0), "{receiver:?}");
        assert!(outcome.end < Time::ZERO + Span::us(800), "{:?}", outcome.end);
    }
}

/// Who tolerates and who holds finish at the same instants, but only one of them needs memory.
#[test]
fn holding_costs_memory_and_no_time() {
    let of = |receiver| {
        let mut config = network(8, &DELAYS, 500);
        spray(&mut config, EntropyKind::Oblivious, 64);
        config.transport.receiver = receiver;
        let outcome = run(&config);
        check_threads(&config, &outcome);
        outcome
    };
    let tolerant = of(Receiver::Tolerant { bits: UNBOUNDED });
    let hold = of(Receiver::Hold { bits: UNBOUNDED });
    let finishes = |outcome: &Outcome| {
        Vec::from_iter(outcome.flows.iter().map(|flow| flow.finish.expect("it finishes")))
    };
    assert_eq!(finishes(&tolerant), finishes(&hold));
    let [tolerant, hold] = [tolerant, hold].map(|it| it.reordering.expect("paths differ"));
    assert_eq!(tolerant.held_max, Bytes::ZERO);
    assert_eq!(hold.held_max, hold.depth_max, "each host receives one flow");
    assert_eq!(tolerant.depth_max, hold.depth_max);
    assert!(hold.depth_max > Bytes::kb(5), "{:?}", hold.depth_max);
}

/// Bits for fewer packets than overtake: what is beyond is thrown away, asked for and sent again.
#[test]
fn what_has_no_bit_is_sent_again() {
    let of = |bits| {
        let mut config = network(4, &DELAYS, 1_000);
        spray(&mut config, EntropyKind::Oblivious, 64);
        go_back_n(&mut config, Span::us(200));
        config.transport.receiver = Receiver::Tolerant { bits };
        config.duration = Span::ms(20);
        config.stop.done = true;
        let outcome = run(&config);
        check_threads(&config, &outcome);
        outcome
    };
    let [few, many] = [of(8), of(256)];
    assert_eq!((finished(&few), finished(&many)), (4, 4));
    assert!(few.refused.packets > 100, "{:?}", few.refused);
    assert_eq!(many.refused.packets, 0);
    assert!(few.end > many.end);
}

/// Every scheme with every receiver gets everything to its target, with lost packets and timeouts, and
/// says the same on every number of threads. That no byte is unaccounted for is asserted by every run.
#[test]
fn schemes_recover_from_losses_on_every_number_of_threads() {
    for kind in [EntropyKind::Oblivious, EntropyKind::Bitmap, EntropyKind::Reps, EntropyKind::Mixed]
    {
        for receiver in [Receiver::Tolerant { bits: 128 }, Receiver::Hold { bits: UNBOUNDED }] {
            let mut config = network(4, &DELAYS, 300);
            spray(&mut config, kind, 64);
            go_back_n(&mut config, Span::us(100));
            config.congestion.control = CongestionControl::Dctcp(dctcp::Config {
                k: Bytes::kb(20),
                ..dctcp::Config::default()
            });
            config.transport.receiver = receiver;
            config.wire_loss.share = 0.002;
            config.duration = Span::ms(30);
            config.stop.done = true;
            let outcome = run(&config);
            assert_eq!(finished(&outcome), 4, "{kind:?}, {receiver:?}");
            assert!(outcome.losses.wire.packets > 0);
            assert!(outcome.reordering.as_ref().is_some_and(|it| it.late_packets > 0));
            check_threads(&config, &outcome);
        }
    }
}

/// Flows that nobody acknowledges can be spread, too.
#[test]
fn flows_without_acknowledgements_are_spread() {
    let mut config = network(4, &DELAYS, 300);
    spray(&mut config, EntropyKind::Oblivious, 64);
    for flow in &mut config.flows {
        flow.reaction = Reaction::None;
    }
    let outcome = run(&config);
    assert_eq!((finished(&outcome), outcome.answers), (4, 0));
    assert!(outcome.reordering.as_ref().is_some_and(|it| it.late_packets > 100));
    check_threads(&config, &outcome);
}

/// One of four links has a quarter of the rate. Oblivious sources give it a quarter of the packets, those
/// that learn give it less, and all flows are done sooner.
#[test]
fn sources_that_learn_leave_a_slow_path() {
    let of = |kind| {
        let mut config = network(4, &[Span::us(1); 4], 3_000);
        let (slow, far) = (node(&config, "M0"), node(&config, "S1"));
        let topology = &config.topology;
        let ports = topology.ports(slow).iter().position(|port| port.peer == far);
        let port = PortId(ports.expect("a link") as u16);
        config.mitigation.limits.push(RateLimit {
            node: slow,
            port,
            class: Class(0),
            rate: Rate::gbps(25),
        });
        spray(&mut config, kind, 64);
        go_back_n(&mut config, Span::MAX);
        config.transport.receiver = Receiver::Tolerant { bits: UNBOUNDED };
        config.congestion.control = CongestionControl::Dctcp(dctcp::Config {
            k: Bytes::kb(30),
            alpha_initial: 0.0,
            ..dctcp::Config::default()
        });
        config.duration = Span::ms(5);
        config.stop.done = true;
        let outcome = run(&config);
        assert_eq!(finished(&outcome), 4, "{kind:?}");
        let sent = |name: &str| {
            let node = node(&config, name);
            let ports = outcome.ports.iter().filter(|port| port.node == node);
            ports.map(|port| port.sent.get()).max().expect("it has ports")
        };
        let all: u64 = ["M0", "M1", "M2", "M3"].map(sent).iter().sum();
        (sent("M0") as f64 / all as f64, outcome.end)
    };
    let (share, end) = of(EntropyKind::Oblivious);
    assert!((share - 0.25).abs() < 0.02, "{share}");
    for kind in [EntropyKind::Bitmap, EntropyKind::Reps, EntropyKind::Mixed] {
        let (less, earlier) = of(kind);
        assert!(less < 0.8 * share && earlier < end, "{kind:?}: {less} until {earlier:?}, {end:?}");
    }
}

fn node(config: &Config, name: &str) -> NodeId {
    config.topology.node_named(name).expect("a node of that name")
}
