//! What can deadlock where ports are chosen anew: knots against their definition, laws between knots,
//! cycles and escape classes, and small networks in which packets move at random.

use std::collections::BTreeSet;

use pauseless_core::class_map::ClassMap;
use pauseless_core::id::{GroupId, NodeId, PortId};
use pauseless_fabric::dependency::{
    Buffer, Checker, Escape, Graph, Lane, Lossy, PortChoice, Traffic,
};
use pauseless_fabric::rng::{Purpose, Stream};
use pauseless_fabric::routing::{Algorithm, Multipath, RouteBuilder, Routing};

use crate::for_each_seed;
use crate::knots::{
    ESCAPE, EscapeClass, State, entries, largest, largest_of_all, states, trapped_in, trunks,
};
use crate::moves::{Choice, Moves};
use crate::oracle::{self, Oracle};
use crate::random::{Case, fabric, multipath};

/// The graph of a case by one of the two rules.
fn graph(case: &Case, choice: PortChoice) -> Graph {
    let network = case.network();
    Checker::of(&network).choosing(choice).graph(network, &case.left_out)
}

/// All dependencies of a graph.
fn edges(case: &Case, graph: &Graph) -> BTreeSet<(Buffer, Buffer)> {
    let plain = oracle::buffers(&case.network(), 1).len();
    let class_count = graph.buffer_count().checked_div(plain).unwrap_or(1);
    let buffers = oracle::buffers(&case.network(), class_count as u8).into_iter();
    let nexts = |from: Buffer| graph.waits_for(&case.topology, from).into_iter();
    buffers.flat_map(|from| nexts(from).map(move |to| (from, to))).collect()
}

/// Random tables of random fabrics, with more choice among ports than those of other tests.
fn case(seed: u64) -> Case {
    let mut case = Case::new(seed);
    let mut random = Stream::new(seed, Purpose::Workload, 21);
    if random.below(2) == 0 {
        for _ in 0..random.below(2 * case.topology.switches().len() as u64) {
            add_port(&mut random, &mut case);
        }
    }
    case
}

/// Lets one switch send the packets of one group by one more port; returns whether it is one more.
fn add_port(random: &mut Stream, case: &mut Case) -> bool {
    let trunks = trunks(&case.network());
    if trunks.is_empty() {
        return false;
    }
    let (switch, port) = trunks[random.below(trunks.len() as u64) as usize];
    let group = GroupId(random.below(case.routes.groups.count() as u64) as u32);
    let table = &mut case.routes.table;
    let way = table.way(group);
    let mut ports: Vec<PortId> = table.next_hops_of_way(switch, way).to_vec();
    // Packets that have arrived are not sent on.
    let is_exit = table.exit(group).is_none_or(|(edge, _)| edge == switch);
    if ports.contains(&port) || is_exit {
        return false;
    }
    ports.push(port);
    ports.sort_unstable();
    table.set_way(switch, way, &ports);
    true
}

#[test]
fn a_knot_is_what_its_definition_says() {
    let (mut cyclic, mut knotted, mut exhausted) = (0, 0, 0);
    let is_all = for_each_seed("a_knot_is_what", 6_000, |seed| {
        let mut case = case(seed);
        if let ClassMap::Hops(hops) = &mut case.classes {
            hops.width = 1 + (seed / 7 % 3) as u8;
        }
        let states = states(&case.network(), &case.left_out, None);
        let knot = largest(&states);
        if let Some(all) = largest_of_all(&states) {
            assert_eq!(all, knot);
            exhausted += u32::from(!knot.is_empty());
        }
        let expected: BTreeSet<(Buffer, Buffer)> = trapped_in(&states, &knot)
            .flat_map(|state| state.nexts.iter().map(|next| (state.buffer, *next)))
            .collect();
        let (union, found) =
            (graph(&case, PortChoice::WhenQueued), graph(&case, PortChoice::AtHead));
        let found_edges = edges(&case, &found);
        assert_eq!(found_edges, expected);
        assert_eq!(found.dependency_count(), expected.len());
        // A knot has a cycle, and the dependencies that it has are such as there are.
        assert_eq!(found.is_cyclic(), !knot.is_empty());
        assert!(union.is_cyclic() || !found.is_cyclic());
        assert!(found_edges.is_subset(&edges(&case, &union)));
        cyclic += u32::from(union.is_cyclic());
        knotted += u32::from(found.is_cyclic());
    });
    eprintln!("{cyclic} cyclic, {knotted} with a knot, {exhausted} of them tried in full");
    assert!(!is_all || knotted > 200 && cyclic > knotted + 100 && exhausted > 50);
}

#[test]
fn without_a_choice_among_ports_every_cycle_is_in_a_knot() {
    let mut cyclic = 0;
    let is_all = for_each_seed("without_a_choice", 2_000, |seed| {
        let case = case(seed);
        let states = states(&case.network(), &case.left_out, None);
        let ways_on = |state: &State| state.nexts.len() + usize::from(state.may_leave);
        if states.iter().any(|state| ways_on(state) > 1) {
            return;
        }
        let (union, knot) =
            (graph(&case, PortChoice::WhenQueued), graph(&case, PortChoice::AtHead));
        assert_eq!(union.components(), knot.components());
        cyclic += u32::from(union.is_cyclic());
    });
    eprintln!("{cyclic} networks have a cycle and no choice");
    assert!(!is_all || cyclic > 30);
}

/// On its last hop a packet has one way (or parallel links). So where every switch has a host, each
/// dependency of minimal paths is one that some packet cannot avoid.
#[test]
fn minimal_ports_leave_every_cycle_in_a_knot_where_every_switch_has_a_host() {
    let mut cyclic = 0;
    let is_all = for_each_seed("minimal_ports_leave", 2_000, |seed| {
        let mut random = Stream::new(seed, Purpose::Workload, 24);
        let topology = fabric(&mut random);
        let has_host = |switch: &NodeId| {
            topology.ports(*switch).iter().any(|port| topology.is_host(port.peer))
        };
        if !topology.switches().iter().all(has_host) {
            return;
        }
        let case = Case {
            routes: RouteBuilder::new(&topology, Multipath::Ecmp).build(),
            classes: ClassMap::Same,
            traffic: Traffic::AllPairs(vec![Lane::ONLY]),
            lossy: Lossy::nothing(),
            left_out: vec![false; topology.nodes().len()],
            topology,
        };
        let (union, knot) =
            (graph(&case, PortChoice::WhenQueued), graph(&case, PortChoice::AtHead));
        assert_eq!(union.components(), knot.components());
        cyclic += u32::from(union.is_cyclic());
    });
    eprintln!("{cyclic} networks with a cycle");
    assert!(!is_all || cyclic > 30);
}

/// What further ports did.
#[derive(Debug, Default)]
struct Additions {
    /// Nobody is trapped who was not in the same buffer before.
    harmless: u32,
    /// Of these, they freed buffers of a knot.
    freed: u32,
    /// They led packets to new places and made a knot.
    made: u32,
}

/// A further port leads packets to buffers where they never were, and these may make a knot. Those who
/// were in their buffers before are never trapped by it.
#[test]
fn a_further_port_traps_only_packets_that_it_leads_to_new_buffers() {
    let mut tally = Additions::default();
    let is_all = for_each_seed("a_further_port", 3_000, |seed| {
        let mut case = case(seed);
        // Who is dropped at one port and not at another would tell more than the port.
        case.lossy = Lossy::nothing();
        // Knots are rare, so they get more trials.
        let trials = if graph(&case, PortChoice::AtHead).is_cyclic() { 12 } else { 1 };
        let mut random = Stream::new(seed, Purpose::Workload, 22);
        for _ in 0..trials {
            check_addition(&mut random, &case, &mut tally);
        }
    });
    eprintln!("{tally:?}");
    assert!(!is_all || tally.harmless > 300 && tally.freed > 5 && tally.made > 5);
}

fn check_addition(random: &mut Stream, case: &Case, tally: &mut Additions) {
    let mut more = case.clone();
    if !add_port(random, &mut more) {
        return;
    }
    let [before, after] = [case, &more].map(|case| states(&case.network(), &case.left_out, None));
    let place = |state: &State| (state.packet, state.buffer, state.hops);
    let [places, places_after] =
        [&before, &after].map(|states| BTreeSet::from_iter(states.iter().map(place)));
    // By the union rule a further port never takes anything away.
    let [union, union_after] =
        [case, &more].map(|case| edges(case, &graph(case, PortChoice::WhenQueued)));
    assert!(places_after.is_superset(&places) && union_after.is_superset(&union));
    let [knot, knot_after] = [case, &more].map(|case| {
        let dependencies = edges(case, &graph(case, PortChoice::AtHead));
        BTreeSet::from_iter(dependencies.into_iter().map(|(from, _)| from))
    });
    // A packet that had no port was dropped, and so was not trapped.
    let kept_before = before.iter().filter(|state| !state.may_leave).map(place);
    let kept_before: BTreeSet<_> = kept_before.collect();
    let set = largest(&after);
    if trapped_in(&after, &set).all(|state| kept_before.contains(&place(state))) {
        assert!(knot_after.is_subset(&knot));
        tally.harmless += 1;
        tally.freed += u32::from(knot_after.len() < knot.len());
    } else {
        tally.made += u32::from(knot.is_empty());
    }
}

#[test]
fn an_escape_class_that_holds_leaves_no_knot() {
    let (mut holds, mut helped, mut cyclic, mut cut) = (0, 0, 0, 0);
    let is_all = for_each_seed("an_escape_class", 3_000, |seed| {
        let mut random = Stream::new(seed, Purpose::Workload, 23);
        let topology = fabric(&mut random);
        let mut case = case(seed);
        let adaptive =
            Routing::from([Multipath::Ecmp, multipath(&mut random)][random.below(2) as usize]);
        case.routes = RouteBuilder::new(&topology, adaptive).build();
        case.left_out = vec![false; topology.nodes().len()];
        (case.classes, case.lossy) = (ClassMap::Same, Lossy::nothing());
        case.traffic = Traffic::AllPairs(vec![Lane::ONLY]);
        case.topology = topology;
        for _ in 0..random.below(6) {
            add_port(&mut random, &mut case);
        }
        let algorithm = [Algorithm::UpDown, Algorithm::Shortest][random.below(2) as usize];
        let routing = Routing { algorithm, multipath: multipath(&mut random) };
        let escape = RouteBuilder::new(&case.topology, routing).build();
        let network = case.network();
        match Checker::of(&network).escape(network, &escape) {
            Escape::Holds => holds += 1,
            Escape::Cyclic(buffers) => {
                assert!(buffers > 1 && algorithm == Algorithm::Shortest);
                cyclic += 1;
                return;
            }
            Escape::Unconnected(places) => {
                assert!(!places.is_empty());
                cut += 1;
                return;
            }
        }
        helped += u32::from(graph(&case, PortChoice::AtHead).is_cyclic());
        for may_return in [false, true] {
            let class = EscapeClass { routes: &escape, class: ESCAPE, may_return };
            let states = states(&case.network(), &case.left_out, Some(class));
            assert!(largest(&states).is_empty(), "{may_return}");
        }
    });
    eprintln!(
        "{holds} escapes hold, {helped} of them where there is a knot; {cyclic} have a cycle, {cut} a gap"
    );
    assert!(!is_all || holds > 500 && helped > 50 && cyclic > 50);
}

#[test]
fn every_cycle_of_a_knot_is_explained_by_packets_that_are_trapped() {
    let mut cycles = 0;
    let is_all = for_each_seed("every_cycle_of_a_knot", 3_000, |seed| {
        let case = case(seed);
        let network = case.network();
        let mut checker = Checker::of(&network).choosing(PortChoice::AtHead);
        let graph = checker.graph(network, &case.left_out);
        if !graph.is_cyclic() {
            return;
        }
        let states = states(&network, &case.left_out, None);
        let knot = largest(&states);
        let trapped = Vec::from_iter(trapped_in(&states, &knot));
        let oracle = Oracle::new(&network, &case.left_out);
        for component in checker.explain(network, &graph, &case.left_out, usize::MAX) {
            cycles += 1;
            let hops = &component.cycle.hops;
            for (at, hop) in hops.iter().enumerate() {
                let next = hops[(at + 1) % hops.len()].buffer;
                assert!(oracle.edges.contains(&(hop.buffer, next)));
                let makers = trapped.iter();
                let makers = makers.filter(|s| s.buffer == hop.buffer && s.nexts.contains(&next));
                let targets = makers.map(|state| case.routes.groups.target(state.packet.group));
                let listed = BTreeSet::from_iter(hop.targets.iter().copied());
                assert_eq!(listed, targets.collect());
            }
            let covered = component.cycle.flows.iter().flat_map(|flow| flow.hops.iter().copied());
            assert_eq!(BTreeSet::from_iter(covered), (0..hops.len()).collect());
        }
    });
    eprintln!("{cycles} cycles of knots");
    assert!(!is_all || cycles > 100);
}

/// What became of the networks in which packets moved.
#[derive(Debug, Default)]
struct Tally {
    safe: u32,
    at_risk: u32,
    deadlocked: u32,
    dissolving: u32,
}

#[test]
fn packets_that_move_at_random_never_deadlock_without_a_cycle_or_a_knot() {
    for (choice, rule) in
        [(Choice::WhenQueued, PortChoice::WhenQueued), (Choice::AtHead, PortChoice::AtHead)]
    {
        let mut tally = Tally::default();
        let is_all = for_each_seed("packets_that_move", 1_000, |seed| {
            let mut case = case(seed);
            (case.classes, case.lossy) = (ClassMap::Same, Lossy::nothing());
            let states = states(&case.network(), &case.left_out, None);
            let entries = entries(&case.network(), &case.left_out);
            let is_safe = !graph(&case, rule).is_cyclic();
            let is_deadlocked = (0..RUNS).any(|run| {
                let mut random = Stream::new(seed, Purpose::Workload, 30 + run);
                Moves::new(&states, &entries, choice).run(&mut random)
            });
            assert!(!is_safe || !is_deadlocked, "{choice:?}");
            tally.safe += u32::from(is_safe);
            tally.at_risk += u32::from(!is_safe);
            tally.deadlocked += u32::from(is_deadlocked);
            let is_cyclic = graph(&case, PortChoice::WhenQueued).is_cyclic();
            tally.dissolving += u32::from(is_safe && is_cyclic);
        });
        eprintln!("{choice:?}: {tally:?}");
        if is_all {
            assert!(tally.deadlocked > tally.at_risk / 4 && tally.safe > 200, "{tally:?}");
            assert!(choice == Choice::WhenQueued || tally.dissolving > 20, "{tally:?}");
        }
    }
}

/// How often packets move in each network, each time in another order.
const RUNS: u64 = 3;
