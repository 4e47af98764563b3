//! A run of htsim, run again: 128 hosts, a permutation, PFC, the same path for every flow.
//!
//! `docs/htsim.md` has the comparison and explains the differences. This prints its numbers:
//! `cargo test --release -p pauseless-sim --test htsim -- --nocapture --test-threads 1`.

use std::collections::BTreeMap;

use pauseless_core::flow_control::{FlowControl, pfc};
use pauseless_core::id::{Class, GroupId, NodeId};
use pauseless_core::schedule::Scheduler;
use pauseless_core::switch::Discipline;
use pauseless_core::unit::{Bytes, Rate, Span, Time};
use pauseless_fabric::builder::TopologyBuilder;
use pauseless_fabric::routing::{Multipath, RouteBuilder};
use pauseless_fabric::topology::{LinkSpec, Topology};
use pauseless_sim::Config;
use pauseless_sim::config::{Flow, Ingress, IngressTable, Probes, canonical_order};

const LINE: Rate = Rate::gbps(100);
const DELAY: Span = Span::us(1);
const PACKET: Bytes = Bytes::new(1_564);
const ACK: Bytes = Bytes::new(64);
const PACKETS: u64 = 6_667;

/// What htsim was told and what it did, for one flow.
struct Reference {
    id: u32,
    source: u32,
    target: u32,
    forward: Vec<String>,
    backward: Vec<String>,
    finish_us: f64,
}

fn references() -> Vec<Reference> {
    let mut hops: BTreeMap<(u32, u32), Vec<String>> = BTreeMap::new();
    for line in include_str!("htsim/A_perm128.paths").lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let key = (number(words[2]), number(words[4]));
        let (_, next) = words[8].split_once("->").expect("an egress");
        let next = next.trim_end_matches("(0)").replace('_', "");
        hops.entry(key).or_default().push(next);
    }
    let mut finishes = BTreeMap::new();
    for line in include_str!("htsim/A_perm128.fct").lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let finish: f64 = words[2].parse().expect("microseconds");
        assert_eq!(words[3], "10000500");
        finishes.insert((number(words[0]), number(words[1])), finish);
    }
    let flows = include_str!("htsim/perm_128n_128c_10MB.cm").lines().skip(2);
    flows
        .map(|line| {
            let words: Vec<&str> = line.split(' ').collect();
            let (source, target) = words[0].split_once("->").expect("two hosts");
            let (source, target, id) = (number(source), number(target), number(words[2]));
            let path = |from: u32, to: u32| {
                let between = hops.get(&(id, to)).cloned().unwrap_or_default();
                let mut path = vec![format!("H{from}"), format!("LS{}", from / 4)];
                path.extend(between);
                path.push(format!("H{to}"));
                path
            };
            Reference {
                id,
                source,
                target,
                forward: path(source, target),
                backward: path(target, source),
                finish_us: finishes[&(source, target)],
            }
        })
        .collect()
}

fn number(text: &str) -> u32 {
    text.parse().expect("a number")
}

/// htsim's fat tree: aggregation switch `u` reaches the cores that leave the same rest by 4.
fn topology() -> Topology {
    let mut builder = TopologyBuilder::new();
    let spec = LinkSpec {
        rate: LINE,
        delay: DELAY,
    };
    let hosts: Vec<NodeId> = (0..128)
        .map(|n| builder.add_host(format!("H{n}")))
        .collect();
    let lower: Vec<NodeId> = (0..32)
        .map(|n| builder.add_switch(format!("LS{n}")))
        .collect();
    let upper: Vec<NodeId> = (0..32)
        .map(|n| builder.add_switch(format!("US{n}")))
        .collect();
    let cores: Vec<NodeId> = (0..16)
        .map(|n| builder.add_switch(format!("CS{n}")))
        .collect();
    for (n, &host) in hosts.iter().enumerate() {
        builder.connect(host, lower[n / 4], spec);
    }
    for (n, &switch) in lower.iter().enumerate() {
        for &above in &upper[n / 4 * 4..][..4] {
            builder.connect(switch, above, spec);
        }
    }
    for (n, &switch) in upper.iter().enumerate() {
        for &core in cores.iter().skip(n % 4).step_by(4) {
            builder.connect(switch, core, spec);
        }
    }
    builder.build().expect("a fat tree")
}

/// What is switched on.
#[derive(Clone)]
struct Setting {
    /// The pace of the stream of acknowledgements of each flow.
    acks: Option<Vec<Rate>>,
    jitter: Span,
    processing: Span,
    seed: u64,
}

fn config(references: &[Reference], setting: &Setting) -> Config {
    let topology = topology();
    let mut builder = RouteBuilder::new(&topology, Multipath::Ecmp);
    let mut group = |path: &[String]| {
        let nodes: Vec<NodeId> = path
            .iter()
            .map(|name| topology.node_named(name).expect("a node"))
            .collect();
        builder.add_path(&nodes).expect("a path")
    };
    let groups: Vec<(GroupId, GroupId)> = references
        .iter()
        .map(|r| (group(&r.forward), group(&r.backward)))
        .collect();
    let routes = builder.build();
    let host = |n: u32| topology.node_named(&format!("H{n}")).expect("a host");
    let mut flows = Vec::new();
    for (n, r) in references.iter().enumerate() {
        let data = Flow {
            name: format!("{:03}", r.id),
            source: host(r.source),
            target: host(r.target),
            group: groups[n].0,
            class: Class(0),
            packet: PACKET,
            pace: LINE,
            size: PACKET * PACKETS,
            start: Time::ZERO,
            stop: Time::MAX,
            hash: 0,
        };
        if let Some(paces) = &setting.acks {
            let first = (DELAY + LINE.tx_span(PACKET)) * (r.forward.len() as u64 - 1);
            flows.push(Flow {
                name: format!("{:03} ack", r.id),
                source: data.target,
                target: data.source,
                group: groups[n].1,
                packet: ACK,
                pace: paces[n],
                size: ACK * PACKETS,
                start: Time::ZERO + first,
                ..data.clone()
            });
        }
        flows.push(data);
    }
    canonical_order(&mut flows);
    let ingress = Ingress {
        control: FlowControl::Pfc(pfc::Config {
            xoff: Bytes::new(22_500),
            xon: Bytes::new(18_000),
            quanta: pfc::QUANTA_MAX,
        }),
        buffer: Bytes::kb(1_500),
    };
    Config {
        ingress: IngressTable::uniform(&topology, 1, ingress),
        table: routes.table,
        discipline: Discipline::OutputQueued,
        scheduler: Scheduler::Strict,
        processing: setting.processing,
        processing_jitter: Span::ZERO,
        wire_jitter: setting.jitter,
        wire_overhead: Bytes::ZERO,
        receivers: Vec::new(),
        duration: Span::ms(10),
        stop_on_deadlock: true,
        starvation_permille: 0,
        probes: Probes::default(),
        seed: setting.seed,
        flows,
        topology,
    }
}

/// Finish times in microseconds, in the order of the traffic matrix.
fn simulate(references: &[Reference], setting: &Setting) -> Vec<f64> {
    let config = config(references, setting);
    let begin = std::time::Instant::now();
    let outcome = pauseless_sim::run(&config);
    println!(
        "{} hops {} events {} pauses {:.2?}",
        outcome.packet_hops,
        outcome.events,
        outcome.pause_frames,
        begin.elapsed()
    );
    assert_eq!((outcome.lost_packets, outcome.deadlock), (0, None));
    let by_name: BTreeMap<&str, f64> = config
        .flows
        .iter()
        .zip(&outcome.flows)
        .map(|(flow, o)| {
            (
                flow.name.as_str(),
                o.finish.expect("finish").as_ps() as f64 / 1e6,
            )
        })
        .collect();
    references
        .iter()
        .map(|r| by_name[format!("{:03}", r.id).as_str()] + (r.backward.len() - 1) as f64 * 1.00512)
        .collect()
}

fn show(references: &[Reference], finishes: &[f64]) {
    let mut diffs: Vec<f64> = references
        .iter()
        .zip(finishes)
        .map(|(r, f)| f / r.finish_us - 1.0)
        .collect();
    let mean = |v: &mut dyn Iterator<Item = f64>| {
        let v: Vec<f64> = v.collect();
        v.iter().sum::<f64>() / v.len() as f64
    };
    println!(
        "mean ours {:.1} htsim {:.1}",
        mean(&mut finishes.iter().copied()),
        mean(&mut references.iter().map(|r| r.finish_us))
    );
    println!("mean diff {:+.4}", mean(&mut diffs.iter().copied()));
    diffs.sort_by(|a, b| a.abs().total_cmp(&b.abs()));
    let within = |x: f64| diffs.iter().filter(|d| d.abs() <= x).count();
    println!(
        "1% {} 5% {} median {:.4} p90 {:.4} max {:.4}",
        within(0.01),
        within(0.05),
        diffs[64].abs(),
        diffs[115].abs(),
        diffs[127]
    );
}

#[test]
fn explore() {
    let references = references();
    let mut setting = Setting {
        acks: None,
        jitter: Span::ZERO,
        processing: Span::ZERO,
        seed: 1,
    };
    let mut finishes = simulate(&references, &setting);
    show(&references, &finishes);
    for _ in 0..3 {
        let paces = finishes
            .iter()
            .map(|us| Rate::bps((64.0 * 8.0 * 6667.0 / us * 1e6) as u64))
            .collect();
        setting.acks = Some(paces);
        finishes = simulate(&references, &setting);
        show(&references, &finishes);
    }
    for (r, f) in references.iter().zip(&finishes) {
        println!(
            "{:3} {:7.1} {:7.1} {:+.4}",
            r.id,
            f,
            r.finish_us,
            f / r.finish_us - 1.0
        );
    }
}
