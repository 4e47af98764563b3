//! The deadlock detector against what happens: in random networks, whoever is said to be stuck for ever
//! never sends again, and whoever is not gets all its packets through.
//!
//! `PAUSELESS_CASES` is the number of networks of each discipline and flow control.

mod world;

use std::collections::BTreeSet;

use pauseless_core::deadlock::{Deadlock, Detector, EgressQueue, Network, is_deadlocked};
use pauseless_core::id::{NodeId, QueueId};
use pauseless_core::switch::Discipline;
use pauseless_core::unit::Bytes;
use world::{BURST, Random, Scheme, World};

const STEPS: usize = 600;

/// What a network has come to.
struct End {
    deadlock: Option<Deadlock>,
    /// The packets that each queue had sent when the deadlock was found.
    sent: Vec<u32>,
}

/// Lets a network run at random, with a search after every step and only where something has changed.
/// It must find a deadlock as soon as the definition holds, which then holds for ever.
fn run(world: &mut World, random: &mut Random, place: &str) -> End {
    let mut detector = Detector::new(world);
    let mut end = End { deadlock: None, sent: Vec::new() };
    for step in 0..STEPS {
        let node = world.step(random);
        let is_deadlocked = is_deadlocked(world.now, world);
        let found_anywhere = detector.look(world.now, world);
        assert_eq!(found_anywhere.is_some(), is_deadlocked, "{place}, step {step}");
        // To ask for several queues at once is to ask for each.
        let paused = world.paused_by(node);
        let found_at_once = detector.check_any(world.now, world, paused.iter().copied());
        let found_one_by_one =
            paused.iter().any(|it| detector.check(world.now, world, *it).is_some());
        assert_eq!(found_at_once.is_some(), found_one_by_one, "{place}, step {step}");
        if end.deadlock.is_some() {
            assert!(is_deadlocked, "{place}, step {step}");
        } else if let Some(deadlock) = search(&mut detector, world, node) {
            assert!(is_deadlocked, "{place}, step {step}");
            check_cycle(world, &deadlock, place);
            end = End { deadlock: Some(deadlock), sent: world.sent.clone() };
        } else {
            assert!(!is_deadlocked, "{place}, step {step}: missed");
        }
    }
    world.settle();
    end
}

/// Searches through the queues of `node` and, where its ports share their memory, through those that it
/// has paused, which are all asked at once.
fn search(detector: &mut Detector, world: &World, node: NodeId) -> Option<Deadlock> {
    let mut own = world.egress_queues().filter(|queue| queue.node == node);
    let above = world.egress_queues().filter(|it| world.far_end(it.node, it.port).0 == node);
    let own = own.find_map(|queue| detector.check(world.now, world, queue));
    let mut above = above.filter(|_| world.switches[0].memory().is_none());
    own.or_else(|| above.find_map(|queue| detector.check(world.now, world, queue)))
        .or_else(|| detector.check_any(world.now, world, world.paused_by(node).into_iter()))
}

/// Whether bytes that came by `queue` wait for `next`; where memory is shared, whichever way they came.
fn waits(world: &World, queue: EgressQueue, next: EgressQueue) -> bool {
    let (node, ingress) = world.far_end(queue.node, queue.port);
    let Some(switch) = world.switch(node).filter(|_| node == next.node) else {
        return false;
    };
    let from = QueueId { port: ingress, class: queue.class };
    let to = QueueId { port: next.port, class: next.class };
    match switch.memory() {
        None => switch.waiting(from, to) > Bytes::ZERO,
        Some(_) => switch.backlog(next.port, next.class) > 0,
    }
}

/// The cycle consists of members, each waits for the next, there is no short cut back to the first, and
/// the flows are those of the packets in between.
fn check_cycle(world: &World, deadlock: &Deadlock, place: &str) {
    let Deadlock { time, members, cycle, flows } = deadlock;
    assert_eq!(*time, world.now);
    assert!(members.is_sorted() && cycle.iter().all(|queue| members.contains(queue)), "{place}");
    let mut expected = BTreeSet::new();
    for (at, queue) in cycle.iter().enumerate() {
        let next = (at + 1) % cycle.len();
        assert!(waits(world, *queue, cycle[next]), "{place}: {cycle:?}");
        for (other, to) in cycle.iter().enumerate().filter(|(other, _)| *other != next) {
            let is_forward = other > at || other == 0;
            assert!(
                !is_forward || !waits(world, *queue, *to),
                "{place}: {cycle:?} is not shortest"
            );
        }
        let (node, ingress) = world.far_end(queue.node, queue.port);
        let switch = world.switch(node).expect("a host keeps nobody waiting");
        switch.for_each_waiting(|from, to, packet| {
            let is_from = from == QueueId { port: ingress, class: queue.class };
            let is_to = (to.port, to.class) == (cycle[next].port, cycle[next].class);
            if is_to && (is_from || switch.memory().is_some()) {
                expected.extend(world.flow(node, *packet));
            }
        });
    }
    assert_eq!(*flows, Vec::from_iter(expected), "{place}");
}

/// What the end says about the verdict: no member has sent since, and whoever has packets left when nothing
/// moves any more is a member of a deadlock.
fn check_end(world: &World, end: &End, place: &str) {
    let left = world.backlogged();
    let discipline = world.switches[0].discipline();
    let committed = if discipline == Discipline::Software { BURST } else { 0 };
    for (queue, before) in world.egress_queues().zip(&end.sent) {
        let is_member = end.deadlock.iter().any(|deadlock| deadlock.members.contains(&queue));
        if is_member {
            let sent = world.sent_by(queue) - before;
            assert!(sent <= committed, "{place}: {queue:?} sent {sent} packets");
            assert!(left.contains(&queue), "{place}: {queue:?} is empty");
        }
    }
    let found = Detector::new(world).look(world.now, world);
    let members = found.map(|deadlock| deadlock.members).unwrap_or_default();
    // A packet behind a stuck head may wait for a queue that is not stopped.
    let is_accounted = if discipline.blocks_heads() {
        left.is_empty() == members.is_empty()
    } else {
        left == members
    };
    assert!(is_accounted, "{place}: {left:?} have packets left, {members:?} are stuck");
}

fn holds_in(discipline: Discipline) {
    let cases = std::env::var("PAUSELESS_CASES").ok().and_then(|text| text.parse().ok());
    let cases = cases.unwrap_or(40);
    let mut deadlocks = 0;
    let may_share = discipline != Discipline::Software;
    for scheme in Scheme::ALL.into_iter().filter(|scheme| may_share || !scheme.is_shared()) {
        for seed in 0..cases {
            let place = format!("{discipline:?}, {scheme:?}, network {seed}");
            let mut random = Random(seed);
            let mut world = World::new(scheme, discipline, &mut random);
            let end = run(&mut world, &mut random, &place);
            check_end(&world, &end, &place);
            deadlocks += u64::from(end.deadlock.is_some());
        }
    }
    // The test means nothing if hardly any of these networks deadlocks.
    assert!(deadlocks >= cases / 2, "{discipline:?}: {deadlocks}");
}

#[test]
fn holds_in_output_queues() {
    holds_in(Discipline::OutputQueued);
}

#[test]
fn holds_in_virtual_output_queues() {
    holds_in(Discipline::VirtualOutputQueued);
}

#[test]
fn holds_in_input_queues() {
    holds_in(Discipline::INPUT_QUEUED);
}

#[test]
fn holds_in_software() {
    holds_in(Discipline::Software);
}
