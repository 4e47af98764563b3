use std::collections::BTreeMap;

use super::clock;
use super::engine::{Engine, Entry, Flow, Heard, Node, Port, Setup};
use super::memory::{Memory, PortLimits};
use super::random::{Stream, Streams};
use super::schedule::{Due, Event, Schedule, Timer};
use super::slots::Slots;
use super::source::Terms;
use super::turns::{Standing, Turns};
use super::ways::murmur3;

const RATE: u64 = 40_000_000_000;

/// Five switches in a ring with a host each; host i sends to the second next.
fn ring() -> Setup {
    let links =
        (0..5).map(|i| (i, i + 5)).chain((5..10).map(|i| (i, if i == 9 { 5 } else { i + 1 })));
    let mut of = vec![Vec::new(); 10];
    let mut ports = Vec::new();
    for (a, b) in links {
        for (node, peer) in [(a, 1), (b, 0)] {
            let list: &mut Vec<u32> = &mut of[node];
            list.push(ports.len() as u32);
            let mut port = Port::new(node as u32, list.len() as u32, RATE, 1_000);
            port.peer = (ports.len() / 2 * 2 + peer) as u32;
            ports.push(port);
        }
    }
    let limits = PortLimits { headroom: 15_000, shift: 3 };
    let nodes = of.iter().enumerate().map(|(number, list)| Node {
        ports: list.clone(),
        memory: (number >= 5).then(|| Memory::new(1 << 20, vec![limits; list.len()])),
        routes: routes(number, list, &ports),
    });
    let flows = (0..5).map(|source| Flow {
        source,
        target: (source + 2) % 5,
        ports: [10_000, 100],
        group: 3,
        size: 50_000_000,
        start: 2_000_000_000,
        window: 0,
        base_rtt: 8_800,
    });
    Setup {
        nodes: nodes.collect(),
        flows: flows.collect(),
        entries: (0..10).map(entry).collect(),
        ports,
        terms: Terms::default(),
        marks: false,
        stop: 2_010_000_000,
        ack_interval: 1,
        answers_first: true,
        streams: Streams::new(62),
        losses: Vec::new(),
        monitor: (2_000_000_000, 0),
    }
}

fn entry(node: u32) -> Entry {
    Entry { switch: node % 5 + 5, interface: 1, edge: node % 5 }
}

/// Around the ring the shorter way.
fn routes(node: usize, list: &[u32], ports: &[Port]) -> Vec<Vec<u32>> {
    let towards = |peer: usize| {
        let mut list = list.iter();
        let found = list.position(|port| ports[*port as usize ^ 1].node as usize == peer);
        found.expect("a neighbour") as u32 + 1
    };
    let hop = |edge: usize| match (edge + 10 - node) % 5 {
        1 | 2 => towards(5 + (node + 1) % 5),
        _ => towards(5 + (node + 4) % 5),
    };
    let of = |edge: usize| {
        if node >= 5 && edge != node { vec![hop(edge)] } else { Vec::new() }
    };
    (5..10).map(of).collect()
}

#[test]
fn a_ring_deadlocks_at_the_nanosecond_of_the_simulator() {
    let mut engine = Engine::new(ring());
    while engine.advance(1_000) {}
    let findings = engine.take();
    assert_eq!(findings.completions, []);
    let line = |heard: &Heard| (heard.time, heard.node, heard.interface, heard.is_pause);
    let lines = Vec::from_iter(findings.heard.iter().map(line));
    // What the simulator itself wrote begins and ends so, see examples/hpcc/ring5_pfc.
    assert_eq!(lines.len(), 40);
    let first = 2_000_061_319;
    assert_eq!(lines[..2], [(first, 1, 1, true), (first, 2, 1, true)]);
    let closed = 2_000_092_251;
    assert_eq!(lines[30..32], [(closed, 5, 2, true), (closed, 6, 3, true)]);
    assert_eq!(lines[39], (2_000_094_132, 0, 1, true));
}

#[test]
fn whole_nanoseconds_come_out_one_less() {
    assert_eq!(clock::sending(1_048, RATE), 209);
    assert_eq!(clock::sending(60, RATE), 11);
    assert_eq!([clock::sending(1_048, 10 * RATE), clock::sending(43, RATE)], [20, 8]);
    assert_eq!(clock::seconds(2.000_037), 2_000_036_999);
    // The double nearest to 2.1 is a little above it, that of 2.3 a little below.
    let exact = [2.0, 2.5, 2.1, 2.3].map(clock::seconds);
    assert_eq!(exact, [2_000_000_000, 2_500_000_000, 2_100_000_000, 2_299_999_999]);
}

#[test]
fn the_distances_between_streams_are_the_published_ones() {
    let streams = Streams::new(0);
    // Rows of A1^(2^127) and A1^(2^76) in L'Ecuyer, Simard, Chen and Kelton (2002).
    let [stream, substream] = [127, 76].map(|power| streams.powers[power].0[0]);
    assert_eq!(stream, [2_427_906_178, 3_580_155_704, 949_770_784]);
    assert_eq!(substream, [82_758_667, 1_871_391_091, 4_127_413_238]);
}

#[test]
fn paths_are_chosen_by_the_published_hash() {
    // Addresses of hosts 258 and 7, ports 10000 and 100, by the published MurmurHash3_x86_32.
    let words = [0x0b01_0201, 0x0b00_0701, 0x0064_2710];
    assert_eq!(murmur3(words, 0), 0x3be9_8a7b);
    assert_eq!(murmur3(words, 17), 0x90ab_2be9);
}

/// A whole number below `end`.
fn below(end: u64, numbers: &mut Stream) -> u64 {
    (numbers.draw() * end as f64) as u64
}

#[test]
fn events_come_in_the_order_of_time_and_insertion() {
    let mut numbers = Streams::new(0).open(1);
    let (mut schedule, mut slots) = (Schedule::new(), Slots::new(0, false));
    let mut expected = BTreeMap::new();
    let mut reserved: Vec<(Due, Event)> = Vec::new();
    for flow in 0..50_000 {
        let delays = [0, 1, 80, 1_080, 16_383, 16_384, 70_000];
        let delay = delays[below(7, &mut numbers) as usize];
        let (due, event) = match below(8, &mut numbers) {
            0 => {
                let number = schedule.set(&mut slots, Timer::Look, 4_000, flow);
                ((schedule.now() + 4_000, number), Event::Timer(Timer::Look, flow))
            }
            1 => {
                // The first look comes one nanosecond later, so that others overtake it.
                let number = schedule.set(&mut slots, Timer::Look, 4_001, flow);
                ((schedule.now() + 4_001, number), Event::Timer(Timer::Look, flow))
            }
            2 => {
                reserved.push((schedule.due(delay), Event::Free(flow)));
                continue;
            }
            3 if reserved.last().is_some_and(|(due, _)| *due > schedule.current()) => {
                let (due, event) = reserved.pop().expect("there is a last one");
                let place = slots.add();
                schedule.insert_late(&mut slots, place, due, event);
                (due, event)
            }
            4 | 5 => (schedule.insert(&mut slots, delay, Event::Start(flow)), Event::Start(flow)),
            _ => {
                let next = schedule.next_time();
                let popped = schedule.pop(&mut slots).map(|(event, _)| (schedule.current(), event));
                assert_eq!(popped, expected.pop_first(), "event {flow}");
                assert!(popped.is_none_or(|((time, _), _)| next == Some(time)));
                continue;
            }
        };
        expected.insert(due, event);
    }
}

/// The flows of a host as that simulator keeps them: a list, and a position in it.
#[derive(Default)]
struct List {
    flows: Vec<u32>,
    turn: usize,
}

impl List {
    fn next(&mut self, now: u64, paused: u8, flows: &[Standing]) -> Option<u32> {
        let count = self.flows.len();
        let mut first_done = count;
        let mut found = None;
        for step in 1..=count {
            let index = (step + self.turn) % count;
            let Standing { group, waiting, has_room, is_done } = flows[self.flows[index] as usize];
            if let Some(time) = waiting
                && has_room
                && paused >> group & 1 == 0
            {
                if time <= now {
                    found = Some(self.flows[index]);
                    break;
                }
            } else if is_done {
                first_done = first_done.min(index);
            }
        }
        let mut rest = self.flows.split_off(first_done);
        rest.retain(|flow| !flows[*flow as usize].is_done);
        self.flows.append(&mut rest);
        let flow = found?;
        self.turn = self.flows.iter().position(|other| *other == flow).unwrap_or(0);
        found
    }
}

#[test]
fn flows_have_their_turns_as_in_a_list() {
    for seed in 0..40 {
        let mut numbers = Streams::new(0).open(seed);
        let (mut list, mut turns) = (List::default(), Turns::default());
        let mut flows: Vec<Standing> = Vec::new();
        let mut leaves: Vec<Option<u32>> = Vec::new();
        for step in 0..4_000 {
            let mut any = |end| below(end, &mut numbers);
            let now = step / 4;
            match any(8) {
                0 => {
                    let flow = flows.len() as u32;
                    let group = [3, 3, 5][any(3) as usize];
                    flows.push(Standing { group, waiting: None, has_room: true, is_done: false });
                    leaves.push(None);
                    let leaf = turns.add(flow, |flow, leaf| leaves[flow as usize] = Some(leaf));
                    leaves[flow as usize] = Some(leaf);
                    turns.set(leaf, flows[flow as usize]);
                    list.flows.push(flow);
                }
                1..5 if !flows.is_empty() => {
                    let flow = any(flows.len() as u64) as usize;
                    let waiting = (any(3) > 0).then(|| now + any(20));
                    let (has_room, is_over) = (any(3) > 0, any(6) == 0);
                    let is_done = flows[flow].is_done || is_over;
                    flows[flow] = Standing { waiting, has_room, is_done, ..flows[flow] };
                    if let Some(leaf) = leaves[flow] {
                        turns.set(leaf, flows[flow]);
                    }
                }
                _ => {
                    let paused = [0, 0, 1 << 3, 1 << 5 | 1 << 3][any(4) as usize];
                    let expected = list.next(now, paused, &flows);
                    let found = turns.next(now, paused, |flow| leaves[flow as usize] = None);
                    assert_eq!(found, expected, "seed {seed}, step {step}");
                    let times = list.flows.iter().filter_map(|flow| flows[*flow as usize].waiting);
                    assert_eq!(turns.earliest(), times.min(), "seed {seed}, step {step}");
                }
            }
        }
    }
}
