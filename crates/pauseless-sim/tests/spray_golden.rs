//! The permutation of htsim that is sprayed, run here: 16 hosts in a fat tree with k = 4, 100 Gb/s, links of
//! 1 us, 2 MB each. `docs/entropy.md` has the table of what it prints.

mod networks;

use networks::congestion::pcn_ingress;
use pauseless_core::congestion::{CongestionControl, dctcp};
use pauseless_core::entropy::{EntropyConfig, EntropyKind};
use pauseless_core::id::{Class, NodeId, PortId};
use pauseless_core::transport::{Finish, Receiver, Transport, Window};
use pauseless_core::unit::{Bytes, Rate, Span, Time};
use pauseless_fabric::generate::{FatTree, LinkSpecs, Shape};
use pauseless_fabric::routing::{Multipath, RouteBuilder};
use pauseless_fabric::topology::{LinkSpec, Topology};
use pauseless_sim::config::{Flow, IngressTable, RateLimit, Reaction};
use pauseless_sim::rng::hash_name;
use pauseless_sim::{Config, Outcome, run};

const LINE: Rate = Rate::gbps(100);
/// 4096 B of payload and 64 B of headers.
const PACKET: Bytes = Bytes::new(4_160);
/// 488 whole packets, and one with the last 1,152 B.
const SIZE: Bytes = Bytes::new(488 * 4_160 + 1_152 + 64);
const ACK: Bytes = Bytes::new(64);

/// The target of every host: uet-htsim at commit 40ccb05, perm_16n_16c_2MB.cm.
const TARGETS: [usize; 16] = [8, 4, 13, 10, 12, 15, 0, 9, 14, 7, 5, 3, 11, 6, 2, 1];

/// A way to run the permutation.
#[derive(Clone, Copy)]
struct Trial {
    kind: EntropyKind,
    values: u16,
    /// The queue above which packets are marked.
    mark_above: Bytes,
    /// The most bytes that a flow may have unacknowledged.
    window: Bytes,
    has_slow_link: bool,
}

const USUAL: Trial = Trial {
    kind: EntropyKind::Oblivious,
    values: 64,
    mark_above: Bytes::new(91_000),
    window: Bytes::new(225_000),
    has_slow_link: false,
};

fn fat_tree() -> Topology {
    let link = LinkSpec { rate: LINE, delay: Span::us(1) };
    FatTree { k: 4 }.build(LinkSpecs::same(link)).expect("a fat tree")
}

fn config(trial: Trial, pairs: &[(usize, usize)], seed: u64) -> Config {
    let topology = fat_tree();
    let routes = RouteBuilder::new(&topology, Multipath::Ecmp).build();
    let hosts = topology.hosts().to_vec();
    let flows = pairs.iter().map(|(source, target)| {
        let (source, target) = (hosts[*source], hosts[*target]);
        let group = |host: NodeId| routes.groups.of_host(host);
        let flow = Flow::greedy(&topology, source, target, group(target));
        Flow {
            packet: PACKET,
            size: SIZE,
            hash: hash_name(&format!("{} {seed}", flow.name)),
            reaction: Reaction::Controlled {
                initial: LINE,
                group: group(source),
                class: Class(1),
                window: trial.window,
                round_trip: Span::us(12),
            },
            ..flow
        }
    });
    let flows = Vec::from_iter(flows);
    let mut config = Config::new(topology, routes.table.clone(), pcn_ingress(), flows);
    config.ingress = IngressTable::uniform(&config.topology, 2, pcn_ingress());
    config.congestion.ack_every = 1;
    // Marks, to which sources do not react but by their entropies.
    config.congestion.control = CongestionControl::Dctcp(dctcp::Config {
        k: trial.mark_above,
        g: 0.0,
        alpha_initial: 0.0,
        ..dctcp::Config::default()
    });
    config.transport = Transport {
        window: Window::Fixed,
        finish: Finish::Source,
        receiver: Receiver::Tolerant { bits: Receiver::BITS_MAX },
        entropy: EntropyConfig {
            kind: trial.kind,
            values: trial.values,
            ..EntropyConfig::default()
        },
        ..Transport::default()
    };
    config.transport.sizes.ack = ACK;
    config.duration = Span::ms(8);
    config.stop.done = true;
    config.seed = seed;
    if trial.has_slow_link {
        slow_down(&mut config);
    }
    config
}

/// Gives a link between an aggregation and a core switch a quarter of its rate, in both directions.
fn slow_down(config: &mut Config) {
    let node = |name: &str| config.topology.node_named(name).expect("a switch of that name");
    let (low, high) = (node("A1"), node("C1"));
    for (from, to) in [(low, high), (high, low)] {
        let ports = config.topology.ports(from);
        let port = ports.iter().position(|port| port.peer == to).expect("they are joined");
        for class in 0..2 {
            config.mitigation.limits.push(RateLimit {
                node: from,
                port: PortId(port as u16),
                class: Class(class),
                rate: Rate::gbps(25),
            });
        }
    }
}

fn last_us(outcome: &Outcome) -> f64 {
    let finishes = outcome.flows.iter().map(|flow| flow.finish.expect("it finishes"));
    (finishes.max().expect("there are flows") - Time::ZERO).as_ps() as f64 / 1e6
}

fn permutation(trial: Trial, seed: u64) -> Outcome {
    let pairs = Vec::from_iter(TARGETS.iter().copied().enumerate());
    run(&config(trial, &pairs, seed))
}

#[test]
fn one_flow_takes_what_htsim_says() {
    let outcome = run(&config(USUAL, &[(0, 15)], 1));
    let expected = 176.198;
    assert!((last_us(&outcome) - expected).abs() < 0.02, "{}", last_us(&outcome));
}

/// The mean over so many seeds of when the last flow is done.
const SEEDS: u64 = 8;

fn mean_last_us(trial: Trial) -> f64 {
    let runs = Vec::from_iter((1..=SEEDS).map(|seed| permutation(trial, seed)));
    let lasts = Vec::from_iter(runs.iter().map(last_us));
    let extents = runs.iter().filter_map(|run| Some(run.reordering.as_ref()?.extents.max()));
    let extent = extents.max().unwrap_or(0);
    let mean = lasts.iter().sum::<f64>() / lasts.len() as f64;
    let least = lasts.iter().copied().fold(f64::INFINITY, f64::min);
    let most = lasts.iter().copied().fold(0.0, f64::max);
    let Trial { kind, values, mark_above, window, has_slow_link } = trial;
    let (mark_above, window) = (mark_above.get(), window.get());
    println!(
        "{kind:?} of {values} values, marks above {mark_above} B, window {window} B, slow link {has_slow_link}: \
         mean {mean:.1} us, {least:.1} to {most:.1}, extent up to {extent}"
    );
    mean
}

/// What htsim says in the mean over four seeds, or with one: uet-htsim 40ccb05 with NSCC.
#[test]
fn the_last_flow_of_a_permutation_is_done_when_htsim_says() {
    let golden = [
        (EntropyKind::Oblivious, 213.0),
        (EntropyKind::Bitmap, 199.8),
        (EntropyKind::Reps, 201.0),
        (EntropyKind::Mixed, 197.5),
    ];
    for (kind, expected) in golden {
        let mean = mean_last_us(Trial { kind, ..USUAL });
        let off = (mean / expected - 1.0) * 100.0;
        println!("{kind:?}: {off:+.1} % of htsim");
        assert!(off.abs() < 5.0, "{kind:?}: {mean} us");
    }
    let one_path = mean_last_us(Trial { kind: EntropyKind::Flow, ..USUAL });
    assert!(one_path > 400.0, "{one_path}");
}

/// A lossless fabric has no trimming: what oblivious sources give to a slow link waits there. Four flows
/// leave the pod of that link by four links.
#[test]
fn a_slow_core_link_holds_up_those_who_do_not_learn() {
    let of = |kind| mean_last_us(Trial { kind, has_slow_link: true, ..USUAL });
    let oblivious = of(EntropyKind::Oblivious);
    let alone = Rate::gbps(25).tx_span(SIZE).as_ps() as f64 / 1e6;
    assert!(
        (oblivious / alone - 1.0).abs() < 0.15,
        "{oblivious} us, {alone} us for the link alone"
    );
    for kind in [EntropyKind::Bitmap, EntropyKind::Reps, EntropyKind::Mixed] {
        let last = of(kind);
        assert!(last < 0.85 * oblivious, "{kind:?}: {last} us");
    }
}

/// What the numbers hang on: the window, and the queue above which packets are marked.
#[test]
fn windows_and_marks_change_the_numbers() {
    let bitmap = Trial { kind: EntropyKind::Bitmap, ..USUAL };
    let usual = mean_last_us(bitmap);
    let small = mean_last_us(Trial { window: Bytes::new(150_000), ..bitmap });
    let large = mean_last_us(Trial { window: Bytes::new(400_000), ..bitmap });
    assert!(small > usual && usual > large, "{small}, {usual}, {large}");
    let even = mean_last_us(Trial { values: 4_096, ..USUAL });
    let dice = mean_last_us(USUAL);
    assert!(even < dice, "{even}, {dice}");
    let early = Bytes::new(37_440);
    let mixed = Trial { kind: EntropyKind::Mixed, ..USUAL };
    let (late, early) = (mean_last_us(mixed), mean_last_us(Trial { mark_above: early, ..mixed }));
    assert!(early > late, "{early}, {late}");
}
