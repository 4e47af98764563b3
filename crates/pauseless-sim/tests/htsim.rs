//! A run of htsim, run again: 128 hosts, a permutation, PFC, the same path for every packet.
//!
//! `docs/htsim.md` has the comparison and explains its differences. Its numbers are printed by
//! `cargo test --release -p pauseless-sim --test htsim -- --nocapture`; with `HTSIM_EXPLAIN=1`
//! before it, also the experiments, which take two minutes.
//!
//! htsim answers every packet with an acknowledgement, and calls a flow finished when its source
//! has the last one. We have none, so they are replayed: a first run records how many packets of
//! each flow arrive every 10 us, and a second one sends as many acknowledgements back meanwhile.

use std::collections::BTreeMap;

use pauseless_core::class_map::ClassMap;
use pauseless_core::flow_control::{FlowControl, pfc};
use pauseless_core::host::Duty;
use pauseless_core::id::{Class, FlowId, GroupId, NodeId};
use pauseless_core::schedule::Scheduler;
use pauseless_core::switch::Discipline;
use pauseless_core::transport::Transport;
use pauseless_core::unit::{Bytes, Rate, Span, Time};
use pauseless_fabric::builder::TopologyBuilder;
use pauseless_fabric::routing::{Multipath, RouteBuilder, Routes};
use pauseless_fabric::topology::{LinkSpec, Topology};
use pauseless_sim::config::{
    Congestion, Flow, Ingress, IngressTable, Mitigation, Probes, Reaction, Replay, Stop, WireLoss,
    canonical_order,
};
use pauseless_sim::{Config, Outcome};

#[test]
fn finish_times_are_those_of_htsim() {
    let references = references();
    let silent = simulate(&references, Setting::default());
    let differences = compare("without acknowledgements", &references, &silent);
    assert!(differences.within(0.05) >= 113, "117 when measured");
    assert!(differences.median() < 0.02, "1.6 % when measured");

    let setting = Setting {
        acks: silent.arrivals.clone(),
        ..Setting::default()
    };
    let answered = simulate(&references, setting);
    let differences = compare("with acknowledgements", &references, &answered);
    assert!(differences.within(0.05) >= 126, "128 when measured");
    assert!(differences.median() < 0.010, "0.6 % when measured");
    assert!(differences.percentile_90() < 0.030, "2.1 % when measured");
    assert!(differences.mean().abs() < 0.010, "-0.4 % when measured");

    if std::env::var_os("HTSIM_EXPLAIN").is_some() {
        let shaken = shake(&references);
        explain(&references, &[silent, answered], &shaken);
    }
}

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
    let (hops, finishes) = (hops(), finishes());
    let flows = include_str!("htsim/perm_128n_128c_10MB.cm").lines().skip(2);
    let flows = flows.map(|line| {
        let words: Vec<&str> = line.split(' ').collect();
        let (source, target) = words[0].split_once("->").expect("two hosts");
        let (source, target, id) = (number(source), number(target), number(words[2]));
        let path = |from: u32, to: u32| {
            let mut path = vec![format!("H{from}"), format!("LS{}", from / 4)];
            path.extend(hops.get(&(id, to)).cloned().unwrap_or_default());
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
    });
    flows.collect()
}

/// The switches after the first, by flow and target.
fn hops() -> BTreeMap<(u32, u32), Vec<String>> {
    let mut hops: BTreeMap<(u32, u32), Vec<String>> = BTreeMap::new();
    for line in include_str!("htsim/A_perm128.paths").lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let (_, next) = words[8].split_once("->").expect("an egress");
        let next = next.trim_end_matches("(0)").replace('_', "");
        let key = (number(words[2]), number(words[4]));
        hops.entry(key).or_default().push(next);
    }
    hops
}

/// When the source had the last acknowledgement, by source and target, in microseconds.
fn finishes() -> BTreeMap<(u32, u32), f64> {
    let lines = include_str!("htsim/A_perm128.fct").lines();
    let finishes = lines.map(|line| {
        let words: Vec<&str> = line.split(' ').collect();
        assert_eq!(number(words[3]), 1_500 * PACKETS as u32);
        let finish: f64 = words[2].parse().expect("microseconds");
        ((number(words[0]), number(words[1])), finish)
    });
    finishes.collect()
}

fn number(text: &str) -> u32 {
    text.parse().expect("a number")
}

/// htsim's fat tree. Unlike ours, a core reaches the aggregation switches of equal rank.
fn topology() -> Topology {
    let mut builder = TopologyBuilder::new();
    let spec = LinkSpec {
        rate: LINE,
        delay: DELAY,
    };
    let hosts: Vec<NodeId> = (0..128)
        .map(|n| builder.add_host(format!("H{n}")))
        .collect();
    let mut switches = |kind: &str, count: usize| -> Vec<NodeId> {
        let names = (0..count).map(|n| format!("{kind}{n}"));
        names.map(|name| builder.add_switch(name)).collect()
    };
    let (lower, upper, cores) = (switches("LS", 32), switches("US", 32), switches("CS", 16));
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

/// What differs from run to run.
#[derive(Clone)]
struct Setting {
    /// Acknowledgements to be sent, by flow and window; empty for none.
    acks: Vec<Vec<u64>>,
    pfc: pfc::Config,
    jitter: Span,
    seed: u64,
}

impl Default for Setting {
    fn default() -> Setting {
        Setting {
            acks: Vec::new(),
            pfc: PFC,
            jitter: Span::ZERO,
            seed: 0,
        }
    }
}

fn config(references: &[Reference], setting: &Setting) -> Config {
    let topology = topology();
    let (routes, groups) = routes(&topology, references);
    let mut flows = Vec::new();
    for (n, reference) in references.iter().enumerate() {
        let host = |n: u32| topology.node_named(&format!("H{n}")).expect("a host");
        let data = Flow {
            name: data_name(reference),
            source: host(reference.source),
            target: host(reference.target),
            group: groups[n].0,
            class: Class(0),
            packet: PACKET,
            pace: LINE,
            size: PACKET * PACKETS,
            start: Time::ZERO,
            stop: Time::MAX,
            hash: 0,
            duty: Duty::ALWAYS,
            reaction: Reaction::None,
            label: 0,
            ttl: Flow::TTL_NONE,
        };
        if let Some(counts) = setting.acks.get(n) {
            flows.extend(acknowledgements(&data, groups[n].1, counts));
        }
        flows.push(data);
    }
    canonical_order(&mut flows);
    let is_data = |number: &FlowId| flows[number.index()].packet == PACKET;
    let probes = Probes {
        resolution: WINDOW,
        ports: Vec::new(),
        flows: (0..flows.len() as u32)
            .map(FlowId)
            .filter(is_data)
            .collect(),
        ..Probes::default()
    };
    let ingress = Ingress {
        control: FlowControl::Pfc(setting.pfc),
        buffer: Bytes::kb(1_500),
    };
    Config {
        ingress: IngressTable::uniform(&topology, 1, ingress),
        table: routes.table,
        discipline: Discipline::OutputQueued,
        classes: ClassMap::Same,
        scheduler: Scheduler::Strict,
        processing: Span::ZERO,
        processing_jitter: Span::ZERO,
        wire_jitter: setting.jitter,
        wire_overhead: Bytes::ZERO,
        hardware: pauseless_sim::config::Hardware::default(),
        receivers: Vec::new(),
        duration: Span::ms(6),
        stop: Stop::DEADLOCK,
        starvation_permille: 0,
        mitigation: Mitigation::default(),
        is_tracing: false,
        replay: Replay::Off,
        probes,
        seed: setting.seed,
        flows,
        congestion: Congestion::NONE,
        transport: Transport::default(),
        wire_loss: WireLoss::default(),
        follows: Vec::new(),
        topology,
    }
}

fn data_name(reference: &Reference) -> String {
    format!("{:03}", reference.id)
}

/// Every flow on the path that it had in htsim, and its acknowledgements on theirs.
fn routes(topology: &Topology, references: &[Reference]) -> (Routes, Vec<(GroupId, GroupId)>) {
    let mut builder = RouteBuilder::new(topology, Multipath::Ecmp);
    let mut add = |path: &[String]| {
        let nodes = path.iter().map(|name| topology.node_named(name));
        let nodes: Vec<NodeId> = nodes.map(|node| node.expect("a node")).collect();
        builder.add_path(&nodes).expect("a path")
    };
    let groups = references
        .iter()
        .map(|reference| (add(&reference.forward), add(&reference.backward)));
    let groups = groups.collect();
    (builder.build(), groups)
}

/// One flow per window, with the pace at which the packets arrived that it acknowledges.
fn acknowledgements(data: &Flow, group: GroupId, counts: &[u64]) -> Vec<Flow> {
    let windows = (0..).zip(counts).filter(|(_, count)| **count > 0);
    let flows = windows.map(|(window, &count)| Flow {
        name: format!("{} acknowledgement {window}", data.name),
        source: data.target,
        target: data.source,
        group,
        packet: ACK,
        pace: Rate::bps(ACK.get() * count * 8 * 1_000_000_000_000 / WINDOW.as_ps()),
        size: ACK * count,
        start: Time::ZERO + WINDOW * window,
        ..data.clone()
    });
    flows.collect()
}

/// What we found for each flow.
struct Run {
    finishes_us: Vec<f64>,
    /// Packets that arrived in each window.
    arrivals: Vec<Vec<u64>>,
}

fn simulate(references: &[Reference], setting: Setting) -> Run {
    let config = config(references, &setting);
    let outcome = pauseless_sim::run(&config);
    assert_eq!((outcome.lost_packets, &outcome.deadlock), (0, &None));
    let rows = references.iter().map(|reference| {
        let name = data_name(reference);
        let position = config.flows.iter().position(|flow| flow.name == name);
        let flow = FlowId(position.expect("a flow") as u32);
        let finish = outcome.flows[flow.index()].finish.expect("it ends");
        // The last acknowledgement, as if it never waited.
        let back = (DELAY + LINE.tx_span(ACK)) * (reference.backward.len() as u64 - 1);
        (
            (finish + back).as_ps() as f64 / 1e6,
            arrivals(&outcome, flow),
        )
    });
    let (finishes_us, arrivals) = rows.unzip();
    Run {
        finishes_us,
        arrivals,
    }
}

fn arrivals(outcome: &Outcome, flow: FlowId) -> Vec<u64> {
    let series = outcome.series.flows.iter().find(|one| one.flow == flow);
    let rates = series.expect("a probe").goodput_bps.iter();
    let packets_per_bps = WINDOW.as_secs_f64() / 8.0 / PACKET.get() as f64;
    let counts: Vec<u64> = rates
        .map(|bps| (bps * packets_per_bps).round() as u64)
        .collect();
    assert_eq!(counts.iter().sum::<u64>(), PACKETS);
    counts
}

/// Our finish times as shares of htsim's, less one.
struct Differences(Vec<f64>);

impl Differences {
    fn new(references: &[Reference], run: &Run) -> Differences {
        let pairs = references.iter().zip(&run.finishes_us);
        let differences = pairs.map(|(reference, ours)| ours / reference.finish_us - 1.0);
        Differences(differences.collect())
    }

    fn within(&self, share: f64) -> usize {
        let close = |difference: &&f64| difference.abs() <= share;
        self.0.iter().filter(close).count()
    }

    fn mean(&self) -> f64 {
        mean(&self.0)
    }

    fn median(&self) -> f64 {
        let sorted = self.sorted();
        (sorted[63] + sorted[64]) / 2.0
    }

    fn percentile_90(&self) -> f64 {
        self.sorted()[115]
    }

    /// Without signs.
    fn sorted(&self) -> Vec<f64> {
        let mut sorted: Vec<f64> = self.0.iter().map(|one| one.abs()).collect();
        sorted.sort_by(f64::total_cmp);
        sorted
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn compare(title: &str, references: &[Reference], run: &Run) -> Differences {
    let differences = Differences::new(references, run);
    println!("{title}");
    let far = references.iter().zip(&differences.0);
    let far = far.filter(|(_, difference)| difference.abs() > 0.05);
    println!(
        "  within 1 %: {}, 1 to 5 %: {}, above: {} (flows {:?})",
        differences.within(0.01),
        differences.within(0.05) - differences.within(0.01),
        128 - differences.within(0.05),
        far.map(|(reference, _)| reference.id).collect::<Vec<u32>>()
    );
    println!(
        "  differences: mean {:+.2} %, median {:.2} %, 90th percentile {:.2} %, largest {:.2} %",
        differences.mean() * 100.0,
        differences.median() * 100.0,
        differences.percentile_90() * 100.0,
        differences.sorted()[127] * 100.0
    );
    let theirs: Vec<f64> = references.iter().map(|one| one.finish_us).collect();
    for (who, mut times) in [("ours", run.finishes_us.clone()), ("htsim", theirs)] {
        times.sort_by(f64::total_cmp);
        println!(
            "  {who:<5} mean {:.1}, median {:.1}, first {:.1}, last {:.1} us",
            mean(&times),
            (times[63] + times[64]) / 2.0,
            times[0],
            times[127]
        );
    }
    differences
}

/// For each flow that is above 5 % without acknowledgements: what remains when all are there,
/// only those that use a link of its own path, and only those that do not; what remains when the
/// buffers are deep; and how far both runs move when frames come a little late.
fn explain(references: &[Reference], [silent, answered]: &[Run; 2], shaken: &[[Run; 2]]) {
    let deep = [Vec::new(), silent.arrivals.clone()].map(|acks| simulate(references, deep(acks)));
    println!(
        "flow  route     htsim us   none    all    own  other  none, deep  all, deep  none, late  \
         all, late"
    );
    for (n, reference) in references.iter().enumerate() {
        let of = |run: &Run| (run.finishes_us[n] / reference.finish_us - 1.0) * 100.0;
        if of(silent).abs() <= 5.0 {
            continue;
        }
        let [own, other] = [true, false].map(|is_own| {
            let mut acks = silent.arrivals.clone();
            for (counts, other) in acks.iter_mut().zip(references) {
                if is_shared(&reference.forward, &other.backward) != is_own {
                    counts.clear();
                }
            }
            let setting = Setting {
                acks,
                ..Setting::default()
            };
            of(&simulate(references, setting))
        });
        let ranges = [0, 1].map(|which| {
            let (least, most) = range(shaken.iter().map(|runs| of(&runs[which])));
            format!("{least:.1} to {most:.1}")
        });
        println!(
            "{:>4}  {:<8}  {:>8.1} {:>6.1} {:>6.1} {own:>6.1} {other:>6.1}  {:>10.1} {:>10.1}  {}  {}",
            reference.id,
            format!("{}->{}", reference.source, reference.target),
            reference.finish_us,
            of(silent),
            of(answered),
            of(&deep[0]),
            of(&deep[1]),
            ranges[0],
            ranges[1]
        );
    }
}

/// Thresholds above what a link carries between a resume and its effect.
fn deep(acks: Vec<Vec<u64>>) -> Setting {
    Setting {
        acks,
        pfc: pfc::Config {
            xoff: Bytes::new(50_000),
            xon: Bytes::new(45_500),
            ..PFC
        },
        ..Setting::default()
    }
}

fn range(values: impl Iterator<Item = f64> + Clone) -> (f64, f64) {
    let least = values.clone().fold(f64::MAX, f64::min);
    (least, values.fold(f64::MIN, f64::max))
}

/// Whether two paths have a link in common, in the same direction.
fn is_shared(one: &[String], other: &[String]) -> bool {
    one.windows(2)
        .any(|link| other.windows(2).any(|same| same == link))
}

/// How far our own finish times move when every frame is up to 1 ns late, at random: each pair
/// is a run without and one with acknowledgements.
fn shake(references: &[Reference]) -> Vec<[Run; 2]> {
    let shaken: Vec<[Run; 2]> = (1..=SEEDS)
        .map(|seed| {
            let mut setting = Setting {
                jitter: Span::ns(1),
                seed,
                ..Setting::default()
            };
            let silent = simulate(references, setting.clone());
            setting.acks = silent.arrivals.clone();
            let answered = simulate(references, setting);
            for (title, run) in [("without", &silent), ("with", &answered)] {
                let title = format!("{title} acknowledgements, up to 1 ns late, seed {seed}");
                compare(&title, references, run);
            }
            [silent, answered]
        })
        .collect();
    let mut spreads: Vec<(f64, u32)> = (0..references.len())
        .map(|n| {
            let (least, most) = range(shaken.iter().map(|runs| runs[1].finishes_us[n]));
            ((most / least - 1.0) * 100.0, references[n].id)
        })
        .collect();
    spreads.sort_by(|one, other| one.0.total_cmp(&other.0));
    println!(
        "from the first to the last of {SEEDS} seeds with acknowledgements: median {:.2} %, 90th \
         percentile {:.2} %, widest (%, flow) {:.2?}",
        spreads[64].0,
        spreads[115].0,
        &spreads[123..]
    );
    shaken
}

const LINE: Rate = Rate::gbps(100);
const DELAY: Span = Span::us(1);
/// 1,500 bytes of payload and 64 of header.
const PACKET: Bytes = Bytes::new(1_564);
const ACK: Bytes = Bytes::new(64);
/// 10 MB of payload, rounded up.
const PACKETS: u64 = 6_667;
/// 15 and 12 payloads; what is counted are whole packets.
const PFC: pfc::Config = pfc::Config {
    xoff: Bytes::new(22_500),
    xon: Bytes::new(18_000),
    quanta: pfc::QUANTA_MAX,
};
/// Acknowledgements follow their packets as closely as this.
const WINDOW: Span = Span::us(10);
const SEEDS: u64 = 10;
