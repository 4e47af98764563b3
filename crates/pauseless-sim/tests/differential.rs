//! The static analyser against the simulator: what it calls free never deadlocks, every deadlock is
//! one of its cycles, and its cycles are closed by the flows that it names.
//!
//! `PAUSELESS_CASES` is the number of networks of each test; `PAUSELESS_SEED` runs one alone.

mod networks;

use std::fmt;

use networks::Scheme;
use networks::diverse::{Diverse, Path, fabric, routing};
use pauseless_core::class_map::ClassMap;
use pauseless_core::switch::Discipline;
use pauseless_fabric::dependency::{
    Buffer, Checker, Cycle, Demand, Graph, Lane, Lossy, Network, Traffic,
};
use pauseless_fabric::routing::{RouteBuilder, Routes};
use pauseless_fabric::topology::Topology;
use pauseless_sim::outcome::EgressQueue;
use pauseless_sim::rng::{Purpose, Stream};
use pauseless_sim::run;

/// Runs `check` with many seeds, and returns whether there were enough to judge shares by.
fn for_each_seed(test: &str, mut check: impl FnMut(u64)) -> bool {
    let number = |name| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let seeds = match number("PAUSELESS_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..number("PAUSELESS_CASES").unwrap_or(CASES),
    };
    let is_enough = seeds.end - seeds.start >= CASES;
    for seed in seeds {
        let _replay = Replay { test, seed };
        check(seed);
    }
    is_enough
}

/// Says on its way out of a failed check how to repeat it.
struct Replay<'r> {
    test: &'r str,
    seed: u64,
}

impl Drop for Replay<'_> {
    fn drop(&mut self) {
        let Replay { test, seed } = self;
        if std::thread::panicking() {
            eprintln!(
                "replay: PAUSELESS_SEED={seed} cargo test -p pauseless-sim --test differential \
                 {test}"
            );
        }
    }
}

/// How often the analyser's two answers met the simulator's.
#[derive(Debug, Default)]
struct Tally {
    networks: u32,
    /// By the tables, whatever the hashes choose.
    cyclic: u32,
    /// By the one path of every flow.
    cyclic_as_hashed: u32,
    /// Of these, those that deadlock under some discipline.
    deadlocked: u32,
    runs: u32,
    deadlocked_runs: u32,
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} networks: {} free, {} cyclic ({} as hashed), {} deadlock; {} runs, {} deadlocks",
            self.networks,
            self.networks - self.cyclic,
            self.cyclic,
            self.cyclic_as_hashed,
            self.deadlocked,
            self.runs,
            self.deadlocked_runs,
        )
    }
}

#[test]
fn pfc_deadlocks_only_in_cycles_of_the_graph() {
    check_scheme("pfc_deadlocks", Scheme::Pfc);
}

#[test]
fn cbfc_deadlocks_only_in_cycles_of_the_graph() {
    check_scheme("cbfc_deadlocks", Scheme::Cbfc);
}

fn check_scheme(test: &str, scheme: Scheme) {
    let mut tally = Tally::default();
    let is_enough = for_each_seed(test, |seed| {
        check_network(&Diverse::new(seed), scheme, &mut tally);
    });
    eprintln!("{scheme:?}: {tally}");
    if is_enough {
        let [networks, cyclic] = [tally.networks, tally.cyclic_as_hashed];
        assert!(tally.cyclic < networks * 2 / 3, "{tally}");
        assert!(cyclic > networks / 4, "{tally}");
        assert!(tally.deadlocked > cyclic / 4, "{tally}");
    }
}

fn check_network(network: &Diverse, scheme: Scheme, tally: &mut Tally) {
    let whole = graph(&network.topology, &network.routes, network.demands());
    let exact = exact(network);
    for buffer in buffers(&network.topology, network.class_count) {
        let wanted = whole.waits_for(&network.topology, buffer);
        for next in exact.waits_for(&network.topology, buffer) {
            assert!(wanted.contains(&next), "a hash chooses what tables offer");
        }
    }
    let mut deadlocks = 0;
    for discipline in Discipline::COMMON {
        let config = network.config(scheme, discipline);
        let outcome = run(&config);
        assert_eq!(outcome.lost_packets, 0);
        tally.runs += 1;
        let Some(deadlock) = outcome.deadlock else {
            continue;
        };
        deadlocks += 1;
        assert!(whole.is_cyclic() && exact.is_cyclic(), "{discipline:?}");
        let waiting = Vec::from_iter(deadlock.cycle.iter().map(|q| far_end(network, *q)));
        assert!(
            has_cycle(&network.topology, &exact, &waiting),
            "{discipline:?}: {waiting:?} is no cycle"
        );
    }
    tally.networks += 1;
    tally.cyclic += u32::from(whole.is_cyclic());
    tally.cyclic_as_hashed += u32::from(exact.is_cyclic());
    tally.deadlocked += u32::from(deadlocks > 0);
    tally.deadlocked_runs += deadlocks;
}

/// The graph of the flows, each on the one path that its hash chooses.
fn exact(network: &Diverse) -> Graph {
    let mut routes = network.routes.clone();
    let mut demands = network.demands();
    for (demand, path) in demands.iter_mut().zip(network.paths()) {
        demand.group = networks::diverse::pin(&network.topology, &mut routes, &path);
    }
    graph(&network.topology, &routes, demands)
}

/// The ingress buffer that an egress queue sends to.
fn far_end(network: &Diverse, queue: EgressQueue) -> Buffer {
    let port = network.topology.port(queue.node, queue.port);
    Buffer { node: port.peer, port: port.peer_port, class: queue.class }
}

fn graph(topology: &Topology, routes: &Routes, demands: Vec<Demand>) -> Graph {
    let network = Network {
        topology,
        routes,
        classes: &ClassMap::Same,
        traffic: &Traffic::Demands(demands),
        lossy: &Lossy::nothing(),
    };
    // One class more than there is does no harm, and all graphs of a network then have the same.
    let mut checker = Checker::new(topology, 2);
    checker.graph(network, &vec![false; topology.nodes().len()])
}

/// Whether each of `buffers` waits for the next, and the last for the first.
fn has_cycle(topology: &Topology, graph: &Graph, buffers: &[Buffer]) -> bool {
    let nexts = buffers.iter().cycle().skip(1);
    let mut pairs = buffers.iter().zip(nexts);
    pairs.all(|(from, to)| graph.waits_for(topology, *from).contains(to))
}

/// All buffers that face switches.
fn buffers(topology: &Topology, class_count: usize) -> Vec<Buffer> {
    let mut buffers = Vec::new();
    let trunks = topology.links().iter();
    let trunks = trunks.filter(|link| ![link.a, link.b].iter().any(|end| topology.is_host(*end)));
    for link in trunks {
        for (from, to) in [(link.a, link.b), (link.b, link.a)] {
            for port in topology.ports_towards(from, to) {
                let classes = (0..class_count as u8).map(pauseless_core::id::Class);
                buffers.extend(classes.map(|class| Buffer { node: from, port, class }));
            }
        }
    }
    buffers
}

/// What became of the cycles that the analyser explained, by how many flows close them.
#[derive(Debug, Default)]
struct Closed {
    cycles: [u32; 5],
    deadlocked: [u32; 5],
}

#[test]
fn the_flows_that_are_named_close_the_cycle() {
    let mut closed = Closed::default();
    let is_enough = for_each_seed("the_flows_that_are_named", |seed| {
        let mut random = Stream::new(seed, Purpose::Workload, 11);
        let topology = fabric(&mut random);
        let routes = RouteBuilder::new(&topology, routing(&mut random)).build();
        let network = Network {
            topology: &topology,
            routes: &routes,
            classes: &ClassMap::Same,
            traffic: &Traffic::AllPairs(vec![Lane::ONLY]),
            lossy: &Lossy::nothing(),
        };
        let nobody = vec![false; topology.nodes().len()];
        let mut checker = Checker::of(&network);
        let graph = checker.graph(network, &nobody);
        for component in checker.explain(network, &graph, &nobody, 3) {
            check_cycle(&topology, &routes, &component.cycle, &mut closed);
        }
    });
    let [cycles, deadlocked] = [closed.cycles, closed.deadlocked].map(|n| n.iter().sum::<u32>());
    eprintln!("{deadlocked} of {cycles} cycles deadlock; by flows: {closed:?}");
    if is_enough {
        assert!(cycles > 100, "{closed:?}");
        assert!(deadlocked > cycles / 2, "{closed:?}");
    }
}

/// The flows close this very cycle, no fewer of them do, and they may deadlock.
fn check_cycle(topology: &Topology, routes: &Routes, cycle: &Cycle, closed: &mut Closed) {
    let paths: Vec<Path> = cycle.flows.iter().map(|flow| flow.path.clone()).collect();
    let buffers = Vec::from_iter(cycle.hops.iter().map(|hop| hop.buffer));
    let closes = |paths: &[Path]| {
        let network = Diverse::of_paths(topology.clone(), routes.clone(), paths, 0);
        let graph = graph(topology, &network.routes, network.demands());
        has_cycle(topology, &graph, &buffers)
    };
    assert!(closes(&paths), "{cycle:?}");
    for left in 0..paths.len() {
        let mut rest = paths.clone();
        rest.remove(left);
        assert!(!closes(&rest), "flow {left} is not needed for {cycle:?}");
    }
    // Whether a cycle fills is a matter of rates and phases, so each gets a few chances.
    let is_deadlocked = (0..STARTS).any(|seed| {
        let network = Diverse::of_paths(topology.clone(), routes.clone(), &paths, seed);
        let config = network.config(Scheme::Pfc, Discipline::OutputQueued);
        run(&config).deadlock.is_some()
    });
    let column = paths.len().min(closed.cycles.len() - 1);
    closed.cycles[column] += 1;
    closed.deadlocked[column] += u32::from(is_deadlocked);
}

/// How many networks each test draws.
const CASES: u64 = 400;
/// Runs per cycle, each with other starts and packets.
const STARTS: u64 = 3;
