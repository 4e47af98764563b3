//! How far congestion spreads: which links are held back, for how long, and how many at a time.
//!
//! The congestion tree is the set of links with a PAUSE in the last round trip, which is
//! generalised here to whatever holds a sender back (docs/metrics.md). It is integrated as
//! the run goes on, so what is kept is proportional to links and not to time.

use std::collections::VecDeque;

use pauseless_core::unit::{Span, Time};

use crate::outcome::CongestionTree;

/// Watches all links of a network, each known by the global number of its sending end.
#[derive(Clone, Debug)]
pub(crate) struct Spread {
    window: Span,
    links: Vec<Link>,
    /// When links leave the tree, in order of time because the window is the same for all; in a part of
    /// a run, whose nodes come in any order, in none. An entry is outdated if its link was held again;
    /// there is at most one per release within the last window, or since the last report.
    leaving: VecDeque<(Time, u32)>,
    /// The last of all of these.
    last_due: Time,
    /// The number of links that are held now.
    held: u32,
    tree: Tree,
    /// In a part of a run, the changes of the tree in any order, for the lead of all parts.
    steps: Option<Vec<Step>>,
}

/// A link that joins the tree or leaves it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    pub time: Time,
    is_joining: bool,
}

/// The tree as a whole, integrated over time.
#[derive(Clone, Debug)]
struct Tree {
    /// How many links are in the tree.
    members: u32,
    /// The instant until which the following three are complete.
    done: Time,
    duration: Span,
    /// The sum of the spans of all members, in picoseconds.
    link_ps: u128,
    members_max: u32,
}

/// How one link was held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Held {
    /// How often the sender was stopped when it was not stopped already.
    pub pauses: u64,
    /// How long it was held in any class.
    pub span: Span,
    /// When it was held for the first time.
    pub first: Option<Time>,
    /// The last instant at which it was held.
    pub last: Option<Time>,
}

/// A link, and whether it is held now.
#[derive(Clone, Copy, Debug, Default)]
struct Link {
    past: Held,
    /// The number of classes in which it is held, and since when.
    classes: u8,
    since: Time,
    is_member: bool,
}

impl Spread {
    /// A tree without links. A link stays in it for `window`, a round trip, after it was last held.
    pub(crate) fn new(port_count: usize, window: Span) -> Spread {
        Spread {
            window,
            links: vec![Link::default(); port_count],
            leaving: VecDeque::new(),
            last_due: Time::ZERO,
            held: 0,
            tree: Tree {
                members: 0,
                done: Time::ZERO,
                duration: Span::ZERO,
                link_ps: 0,
                members_max: 0,
            },
            steps: None,
        }
    }

    /// The tree of a part of a run, which only records how it changes.
    pub(crate) fn part(&self) -> Spread {
        let mut part = self.clone();
        part.steps = Some(Vec::new());
        part
    }

    /// Moves the recorded changes to `steps`, given that all nodes have come to `now`.
    pub(crate) fn report(&mut self, now: Time, steps: &mut Vec<Step>) {
        for _ in 0..self.leaving.len() {
            if let Some((due, port)) = self.leaving.pop_front() {
                if due > now {
                    self.leaving.push_back((due, port));
                } else {
                    self.leave(due, port as usize);
                }
            }
        }
        steps.extend(self.steps.iter_mut().flat_map(|own| own.drain(..)));
    }

    /// Applies the changes that parts have recorded to the tree of the whole run, in order of time.
    pub(crate) fn follow(&mut self, steps: &[Step]) {
        for step in steps {
            self.tree.step(*step);
        }
    }

    /// Takes over the state of link `port` from a part.
    pub(crate) fn take_link(&mut self, part: &Spread, port: usize) {
        self.links[port] = part.links[port];
    }

    /// The number of links that are held, and when the last one leaves the tree or has left it.
    pub(crate) fn outlook(&self) -> (u32, Time) {
        (self.held, self.last_due)
    }

    /// Adds a link to the tree, or removes one.
    fn step(&mut self, time: Time, is_joining: bool) {
        let step = Step { time, is_joining };
        match &mut self.steps {
            Some(steps) => steps.push(step),
            None => self.tree.step(step),
        }
    }

    /// Counts a pause of the sender at `port`, which was not stopped.
    pub(crate) fn on_pause(&mut self, port: usize) {
        self.links[port].past.pauses += 1;
    }

    /// Records that the sender at `port` starts or ceases to be held in one class; also for callers
    /// that report only changes over all classes.
    pub(crate) fn on_change(&mut self, now: Time, port: usize, held: bool) {
        if self.steps.is_none() {
            self.advance(now);
        } else if let Some(due) = self.links[port].due(self.window).filter(|due| *due <= now) {
            self.leave(due, port);
        }
        let link = &mut self.links[port];
        if held {
            link.classes += 1;
            if link.classes == 1 {
                self.held += 1;
                link.since = now;
                link.past.first.get_or_insert(now);
                if !std::mem::replace(&mut link.is_member, true) {
                    self.step(now, true);
                }
            }
        } else {
            assert!(link.classes > 0, "a link is released that was not held");
            link.classes -= 1;
            if link.classes == 0 {
                self.held -= 1;
                link.rest(now);
                let due = now.saturating_add(self.window);
                self.leaving.push_back((due, port as u32));
                self.last_due = self.last_due.max(due);
            }
        }
    }

    /// When the last link has left the tree, if no link is held; it may lie in the past.
    pub(crate) fn calm(&self) -> Option<Time> {
        let (held, last) = self.outlook();
        (held == 0).then_some(last)
    }

    /// The history of each port, and of the tree. `is_host` says whether a port belongs to a host.
    pub(crate) fn finish(
        mut self,
        end: Time,
        is_host: impl Fn(usize) -> bool,
    ) -> (Vec<Held>, CongestionTree) {
        self.advance(end);
        let links = self.links.iter_mut().map(|link| {
            if link.classes > 0 {
                link.rest(end);
            }
            link.past
        });
        let ports: Vec<Held> = links.collect();
        let hosts = ports.iter().enumerate();
        let hosts = hosts.filter(|(port, held)| held.first.is_some() && is_host(*port));
        let tree = CongestionTree {
            duration: self.tree.duration,
            links_max: self.tree.members_max,
            links_mean: match self.tree.duration {
                Span::ZERO => 0.0,
                duration => self.tree.link_ps as f64 / duration.as_ps() as f64,
            },
            hosts: hosts.count() as u32,
        };
        (ports, tree)
    }

    /// Removes links from the tree that were not held for long enough, up to `now`.
    fn advance(&mut self, now: Time) {
        while let Some(&(due, port)) = self.leaving.front() {
            if due > now {
                break;
            }
            self.leaving.pop_front();
            self.leave(due, port as usize);
        }
        if self.steps.is_none() {
            self.tree.integrate(now);
        }
    }
}

impl Spread {
    /// Removes a link from the tree, unless it was held again and leaves later.
    fn leave(&mut self, due: Time, port: usize) {
        let link = &mut self.links[port];
        if link.due(self.window) == Some(due) {
            link.is_member = false;
            self.step(due, false);
        }
    }
}

impl Tree {
    fn step(&mut self, step: Step) {
        self.integrate(step.time);
        if step.is_joining { self.members += 1 } else { self.members -= 1 }
    }

    /// Adds the time in which the tree did not change. Of several changes at one instant only the
    /// result counts, so their order does not matter.
    fn integrate(&mut self, now: Time) {
        let span = now - self.done;
        self.done = now;
        if self.members > 0 && span > Span::ZERO {
            self.duration = self.duration + span;
            self.link_ps += u128::from(span.as_ps()) * u128::from(self.members);
            self.members_max = self.members_max.max(self.members);
        }
    }
}

impl Link {
    /// When it leaves the tree, if it is in it and not held.
    fn due(&self, window: Span) -> Option<Time> {
        let last = self.past.last.filter(|_| self.is_member && self.classes == 0);
        last.map(|last| last.saturating_add(window))
    }

    fn rest(&mut self, now: Time) {
        self.past.span = self.past.span + (now - self.since);
        self.past.last = Some(now);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(ns: u64) -> Time {
        Time::ZERO + Span::ns(ns)
    }

    /// Ports 0 and 1 are those of hosts.
    fn finish(spread: Spread, ns: u64) -> (Vec<Held>, CongestionTree) {
        spread.finish(at(ns), |port| port < 2)
    }

    #[test]
    fn a_quiet_network_has_no_tree() {
        let (ports, tree) = finish(Spread::new(3, Span::ns(10)), 100);
        assert_eq!(ports, [Held::default(); 3]);
        assert_eq!(tree, CongestionTree::default());
    }

    #[test]
    fn links_leave_a_round_trip_after_they_were_held() {
        let mut spread = Spread::new(4, Span::ns(10));
        // Link 2 from 10 to 30, link 3 from 20 to 25, link 0 from 60 to the end.
        spread.on_pause(2);
        spread.on_change(at(10), 2, true);
        spread.on_change(at(20), 3, true);
        spread.on_change(at(25), 3, false);
        spread.on_change(at(30), 2, false);
        spread.on_change(at(60), 0, true);
        let (ports, tree) = finish(spread, 100);
        let held = Held { pauses: 1, span: Span::ns(20), first: Some(at(10)), last: Some(at(30)) };
        assert_eq!(ports[2], held);
        assert_eq!(ports[3].span, Span::ns(5));
        assert_eq!(ports[1], Held::default());
        assert_eq!(ports[0].span, Span::ns(40));
        assert_eq!(ports[0].last, Some(at(100)));
        // In the tree: 2 in 10..40, 3 in 20..35, 0 in 60..100.
        assert_eq!(tree.duration, Span::ns(30 + 40));
        assert_eq!(tree.links_max, 2);
        assert_eq!(tree.links_mean, (30.0 + 15.0 + 40.0) / 70.0);
        assert_eq!(tree.hosts, 1);
    }

    #[test]
    fn a_link_that_is_held_again_in_time_never_left() {
        let mut spread = Spread::new(1, Span::ns(10));
        for start in [0, 8, 16, 24] {
            spread.on_change(at(start), 0, true);
            spread.on_change(at(start + 2), 0, false);
        }
        // What comes too late begins anew.
        spread.on_change(at(50), 0, true);
        spread.on_change(at(51), 0, false);
        let (ports, tree) = finish(spread, 100);
        assert_eq!(ports[0].span, Span::ns(4 * 2 + 1));
        assert_eq!(tree.duration, Span::ns(36 + 11));
        assert_eq!((tree.links_max, tree.links_mean), (1, 1.0));
    }

    #[test]
    fn a_link_is_held_as_long_as_any_class_is() {
        let mut spread = Spread::new(1, Span::ns(10));
        spread.on_change(at(0), 0, true);
        spread.on_change(at(5), 0, true);
        spread.on_change(at(7), 0, false);
        spread.on_change(at(9), 0, false);
        let (ports, tree) = finish(spread, 12);
        assert_eq!(ports[0].span, Span::ns(9));
        assert_eq!(tree.duration, Span::ns(12), "the run ends before it leaves");
    }

    #[test]
    fn one_link_after_another_is_not_two_at_a_time() {
        for swapped in [false, true] {
            let mut spread = Spread::new(2, Span::ZERO);
            spread.on_change(at(0), 0, true);
            let mut changes = [(0, false), (1, true)];
            if swapped {
                changes.reverse();
            }
            for (port, held) in changes {
                spread.on_change(at(10), port, held);
            }
            let (_, tree) = finish(spread, 20);
            assert_eq!((tree.links_max, tree.links_mean), (1, 1.0));
        }
    }

    #[test]
    fn what_is_kept_does_not_grow_with_time() {
        let mut spread = Spread::new(2, Span::ns(10));
        for turn in 0..100_000 {
            spread.on_change(at(4 * turn), (turn % 2) as usize, true);
            spread.on_change(at(4 * turn + 1), (turn % 2) as usize, false);
            assert!(spread.leaving.len() <= 4);
        }
    }

    const PORTS: usize = 4;
    const CLASSES: usize = 2;

    /// Every instant one by one: which links are held, and which were within the window.
    fn oracle(changes: &[(u64, usize)], window: u64, end: u64) -> (Vec<Held>, CongestionTree) {
        let mut held = [[false; CLASSES]; PORTS];
        let mut ports = [Held::default(); PORTS];
        let mut sizes = Vec::new();
        let mut changes = changes.iter().peekable();
        for now in 0..=end {
            let mut touched = [false; PORTS];
            while let Some((_, lane)) = changes.next_if(|(time, _)| *time == now) {
                held[lane / CLASSES][lane % CLASSES] ^= true;
                touched[lane / CLASSES] = true;
            }
            for (port, past) in ports.iter_mut().enumerate() {
                let is_held = held[port].contains(&true);
                if is_held || touched[port] {
                    past.first.get_or_insert(Time::from_ps(now));
                    past.last = Some(Time::from_ps(now));
                }
                if is_held && now < end {
                    past.span = past.span + Span::ps(1);
                }
            }
            let is_member = |(port, past): (usize, &Held)| {
                let is_recent = past.last.is_some_and(|last| now < last.as_ps() + window);
                held[port].contains(&true) || is_recent
            };
            let members = ports.iter().enumerate().filter(|link| is_member(*link));
            sizes.push(members.count());
        }
        sizes.pop();
        let busy = sizes.iter().filter(|size| **size > 0).count();
        let tree = CongestionTree {
            duration: Span::ps(busy as u64),
            links_max: sizes.iter().copied().max().unwrap_or(0) as u32,
            links_mean: match busy {
                0 => 0.0,
                _ => sizes.iter().sum::<usize>() as f64 / busy as f64,
            },
            hosts: ports[..2].iter().filter(|past| past.first.is_some()).count() as u32,
        };
        (ports.to_vec(), tree)
    }

    proptest! {
        #[test]
        fn it_agrees_with_looking_at_every_instant(
            steps in prop::collection::vec((0u64..8, 0..PORTS * CLASSES), 0..60),
            window in 0u64..20,
            rest in 0u64..30,
        ) {
            let mut now = 0;
            let changes: Vec<(u64, usize)> = steps.into_iter().map(|(gap, lane)| {
                now += gap;
                (now, lane)
            }).collect();
            let mut spread = Spread::new(PORTS, Span::ps(window));
            let mut held = [false; PORTS * CLASSES];
            for (time, lane) in &changes {
                held[*lane] ^= true;
                spread.on_change(Time::from_ps(*time), lane / CLASSES, held[*lane]);
            }
            let end = now + rest;
            let found = spread.finish(Time::from_ps(end), |port| port < 2);
            prop_assert_eq!(found, oracle(&changes, window, end));
        }
    }
}
