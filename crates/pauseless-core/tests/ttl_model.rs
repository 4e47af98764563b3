//! TTL-based buffer management is free of deadlocks whatever the scheduler does: all states of small
//! networks, searched exhaustively; and the deadlocks that the same model finds without it.

#[path = "ttl_model/model.rs"]
mod model;

use model::{DONE, Flow, HOST, Labels, NO_DEADLOCK, Network, State, Step, WITHIN};
use pauseless_core::class_map::{ClassMap, ClassTable, Hops, Key, LANE_COUNT, Passage};
use pauseless_core::id::{NodeId, PortId};
use stateright::{Checker, Model};
use std::collections::BTreeMap;

fn flow(path: impl IntoIterator<Item = u8>, packets: u8) -> Flow {
    Flow { path: path.into_iter().collect(), packets }
}

/// A ring of `switches`; from the host of each a flow that crosses `crossed.0` of them, and one that
/// shares its first link and crosses `crossed.1`, with so many packets each.
fn ring(switches: u8, crossed: &[(u8, u8)]) -> Vec<Flow> {
    let flows = (0..switches).flat_map(|first| {
        crossed.iter().map(move |(crossed, packets)| {
            let way = (0..*crossed).map(|step| (first + step) % switches);
            let last = (first + crossed - 1) % switches;
            let ends = (HOST + first, HOST + 50 + last);
            flow([ends.0].into_iter().chain(way).chain([ends.1]), *packets)
        })
    });
    flows.collect()
}

/// HotNets Fig. 2: two switches send to each other what neither can deliver, from a host of each.
fn routing_loop(ttl: u8, packets: [u8; 2]) -> Vec<Flow> {
    let flows = [0, 1].map(|first| {
        let around = (0..ttl).map(|hop| (first + hop) % 2);
        flow([HOST + first].into_iter().chain(around), packets[usize::from(first)])
    });
    flows.into()
}

/// The cycle of GFC Fig. 11, C1 > A3 > C2 > A7 > C1, closed by flows that bounce; edge switches are
/// left out.
fn bounced(packets: [u8; 4]) -> Vec<Flow> {
    let [c1, c2, a1, a3, a5, a7] = [1, 2, 11, 13, 15, 17];
    vec![
        flow([100, a1, c1, a3, c2, a5, 150], packets[0]),
        flow([101, a3, c2, a7, 151], packets[1]),
        flow([102, a5, c2, a7, c1, a1, 152], packets[2]),
        flow([103, a7, c1, a3, 153], packets[3]),
    ]
}

/// Nodes on the longest path.
fn nodes(flows: &[Flow]) -> u8 {
    let longest = flows.iter().map(|flow| flow.path.len()).max();
    longest.expect("there are flows") as u8
}

/// The paper's labels with as many classes as the longest path needs.
fn ttl(flows: Vec<Flow>) -> Network {
    let ttl = nodes(&flows);
    Network::new(flows, &Labels::Paper { ttl })
}

/// The same as classes on the wire.
fn hops(flows: Vec<Flow>) -> Network {
    let count = nodes(&flows) - 1;
    Network::new(flows, &Labels::Wire(ClassMap::Hops(Hops::each(count))))
}

/// Plain PFC, with the same TTL.
fn plain(flows: Vec<Flow>) -> Network {
    let ttl = nodes(&flows);
    Network::new(flows, &Labels::Plain { ttl })
}

/// Too few classes, so that they are used again: hops modulo `count`.
fn wrapped(flows: Vec<Flow>, count: u8) -> Network {
    let nodes = flows.iter().flat_map(|flow| &flow.path).copied();
    let nodes = Vec::from_iter(nodes);
    let mut row = [0; LANE_COUNT];
    for class in 0..count {
        row[usize::from(class)] = (class + 1) % count;
    }
    let mut table = ClassTable::new(Key::Class, vec![1; 256]);
    for node in nodes {
        let passage =
            Passage { node: NodeId(u32::from(node)), ingress: PortId(0), egress: PortId(0) };
        table.set(passage, row);
    }
    Network::new(flows, &Labels::Wire(ClassMap::Table(table)))
}

/// Searches all states, none of which may be a deadlock; returns how many there are.
fn prove(name: &str, network: Network) -> usize {
    let search = network.checker().threads(2).spawn_bfs().join();
    search.assert_no_discovery(NO_DEADLOCK);
    search.assert_no_discovery(WITHIN);
    search.assert_any_discovery(DONE);
    assert!(search.is_done(), "{name}: the search has an end");
    println!("{name}: {} states", search.unique_state_count());
    search.unique_state_count()
}

/// The shortest way to a deadlock.
fn refute(name: &str, network: &Network) -> Vec<Step> {
    let found = shortest(network, |state| network.is_deadlocked(state));
    let steps = found.unwrap_or_else(|| panic!("{name}: no deadlock"));
    println!("{name}: deadlock after {} steps: {steps:?}", steps.len());
    steps
}

/// The fewest steps to a state that `is_wanted`, which the checker does not look for; `None` after
/// all states.
fn shortest(network: &Network, is_wanted: impl Fn(&State) -> bool) -> Option<Vec<Step>> {
    let mut states = network.init_states();
    let mut origins: Vec<Option<(usize, Step)>> = vec![None];
    let mut numbers = BTreeMap::from([(states[0].clone(), 0)]);
    let mut at = 0;
    while at < states.len() {
        if is_wanted(&states[at]) {
            let back = std::iter::successors(origins[at], |(before, _)| origins[*before]);
            let mut steps = Vec::from_iter(back.map(|(_, step)| step));
            steps.reverse();
            return Some(steps);
        }
        for step in network.steps(&states[at]) {
            let next = network.after(&states[at], step);
            if !numbers.contains_key(&next) {
                numbers.insert(next.clone(), states.len());
                states.push(next);
                origins.push(Some((at, step)));
            }
        }
        at += 1;
    }
    None
}

/// "Deadlock-free regardless of the packet scheduling algorithm": every order of forwarding, sending
/// and injecting, with the least threshold that the paper allows. The numbers of states are in
/// docs/ttl-model.md.
#[test]
fn no_scheduler_brings_ttl_classes_to_a_deadlock() {
    for (name, flows, states) in [
        ("ring of 3", ring(3, &[(3, 2)]), 42_875),
        ("ring of 3, two lengths", ring(3, &[(3, 1), (2, 1)]), 166_375),
        ("ring of 4", ring(4, &[(3, 1)]), 6_561),
        ("ring of 4, all around", ring(4, &[(4, 1)]), 14_641),
        ("routing loop, TTL 8", routing_loop(8, [3, 3]), 370_881),
        ("routing loop, TTL 16", routing_loop(16, [2, 1]), 16_995),
        ("bounced fat tree", bounced([2, 2, 1, 1]), 269_437),
    ] {
        assert_eq!(prove(name, ttl(flows)), states, "{name}");
    }
}

/// The same when PAUSE, RESUME and packets take any time between switches.
#[test]
fn nor_do_pauses_that_come_late() {
    for (name, flows, states) in [
        ("ring of 3", ring(3, &[(3, 1)]), 32_480),
        ("ring of 4", ring(4, &[(3, 1)]), 1_036_306),
        ("routing loop, TTL 6", routing_loop(6, [1, 1]), 364_204),
        ("routing loop, TTL 5", routing_loop(5, [3, 0]), 8_438),
    ] {
        let name = format!("{name}, late");
        assert_eq!(prove(&name, ttl(flows).with_delay()), states, "{name}");
    }
}

/// The control: with one class, the same model finds the deadlock of each network, and the fewest
/// steps to it are one packet per buffer of the cycle.
#[test]
fn plain_pfc_deadlocks_in_each_of_these_networks() {
    for (name, flows, steps) in [
        ("ring of 3", ring(3, &[(3, 1)]), 12),
        ("ring of 4", ring(4, &[(3, 1)]), 16),
        ("routing loop, one host", routing_loop(8, [2, 0]), 10),
        ("routing loop, two hosts", routing_loop(8, [1, 1]), 8),
        ("bounced fat tree", bounced([1; 4]), 20),
    ] {
        assert_eq!(refute(name, &plain(flows)).len(), steps, "{name}");
    }
    let late = [ring(3, &[(3, 1)]), routing_loop(5, [1, 1])];
    for flows in late {
        refute("late", &plain(flows).with_delay());
    }
}

/// The tooth: with fewer classes than hops, used again from the first on, there are cycles again.
#[test]
fn too_few_classes_deadlock() {
    for (name, flows, count, steps) in [
        ("ring of 3, 3 links of it", ring(3, &[(4, 2)]), 2, 30),
        ("routing loop", routing_loop(8, [2, 0]), 2, 10),
        ("routing loop", routing_loop(8, [3, 3]), 3, 36),
    ] {
        let name = format!("{name}, {count} classes");
        assert_eq!(refute(&name, &wrapped(flows, count)).len(), steps, "{name}");
    }
}

/// The paper pauses class j - 1 when class j fills. A switch that changes the class between ingress
/// and egress and leaves PFC as it is does the same: in every state the same steps can happen, and
/// they lead to the same states.
#[test]
fn classes_on_the_wire_are_the_same_system() {
    let networks =
        [ring(3, &[(3, 2)]), ring(4, &[(4, 1)]), routing_loop(8, [2, 2]), bounced([1; 4])];
    for flows in networks {
        let (paper, wire) = (ttl(flows.clone()), hops(flows));
        assert_eq!(paper.init_states(), wire.init_states());
        let differ = |state: &State| {
            let steps = paper.steps(state);
            let after = |network: &Network| {
                let all = steps.iter().map(|step| network.after(state, *step));
                Vec::from_iter(all)
            };
            steps != wire.steps(state) || after(&paper) != after(&wire)
        };
        assert_eq!(shortest(&paper, differ), None);
    }
}
