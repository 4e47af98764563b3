//! Flows that wait for others: `after` and `delay`.

use std::sync::Arc;

use pauseless_core::id::FlowId;
use pauseless_core::unit::Span;
use pauseless_sim::config::Follow;

use super::{Copies, Flow, Plan, Planner};
use pauseless_text::reader::{At, did_you_mean};

/// What a flow waits for, as it was written.
#[derive(Debug, PartialEq, Eq)]
pub struct Waits {
    after: Vec<At<String>>,
    delay: Span,
}

impl Waits {
    /// What a flow waits for; `None` if for nothing.
    pub(super) fn of(flow: &Flow) -> Option<Arc<Waits>> {
        let after = flow.after.get()?.clone();
        let delay = flow.delay.or(Span::ZERO);
        (!after.is_empty()).then(|| Arc::new(Waits { after, delay }))
    }

    /// What orders flows that have no name of their own.
    pub(super) fn order(&self) -> (Vec<String>, Span) {
        let names = self.after.iter().map(|name| name.value.clone());
        (names.collect(), self.delay)
    }
}

impl Planner<'_> {
    /// What the written flows among `plans`, which are in order of name, wait for. `copies` has
    /// the names of all flows that one `[[flow]]` with a `count` stands for.
    pub(super) fn follows(&self, plans: &[Plan], copies: &Copies) -> Vec<Follow> {
        let find = |name: &str| plans.binary_search_by(|plan| plan.name.as_str().cmp(name)).ok();
        let mut follows = Vec::new();
        for (then, plan) in plans.iter().enumerate() {
            let Some(waits) = &plan.waits else { continue };
            for name in &waits.after {
                let found = match (find(&name.value), copies.get(&name.value)) {
                    (Some(one), _) => vec![one],
                    (None, Some(copies)) => copies.iter().filter_map(|name| find(name)).collect(),
                    (None, None) => Vec::new(),
                };
                if found.is_empty() {
                    let problem = name.place.problem(format!("no flow is called {:?}", name.value));
                    let names = plans.iter().filter(|plan| !plan.is_made);
                    let names = names.map(|plan| plan.name.as_str()).take(NAMES_MAX);
                    self.sink.push(problem.help(did_you_mean(&name.value, names)));
                }
                for first in found {
                    let Plan { terms, round, .. } = &plans[first];
                    if terms.size.is_none() || !round.is_empty() {
                        let message = format!("{} never ends", plans[first].name);
                        let problem = name.place.problem(message);
                        self.sink.push(if round.is_empty() {
                            problem.help("give it a size")
                        } else {
                            problem.help("what circles never arrives; wait for another")
                        });
                    }
                    follows.push(Follow {
                        first: FlowId(first as u32),
                        then: FlowId(then as u32),
                        delay: waits.delay,
                    });
                }
            }
        }
        follows.sort_unstable();
        follows.dedup();
        self.refuse_circle(plans, &follows);
        follows
    }

    /// Reports a circle. Only written flows can be in one: those that were made wait for nothing
    /// but each other, and never for one that comes later.
    fn refuse_circle(&self, plans: &[Plan], follows: &[Follow]) {
        let links = follows.iter().map(|follow| (follow.first.0, follow.then.0));
        let waiting = still_waiting(plans.len(), links.collect());
        // Whatever still waits has something before it that waits, too: going back from there
        // ends in a circle.
        let Some(mut at) = waiting.iter().position(|count| *count > 0) else {
            return;
        };
        let before = |then: usize| {
            let mut firsts = follows.iter().filter(|follow| follow.then.index() == then);
            let first = firsts.find(|follow| waiting[follow.first.index()] > 0);
            first.map_or(then, |follow| follow.first.index())
        };
        let mut seen = Vec::new();
        while !seen.contains(&at) {
            seen.push(at);
            at = before(at);
        }
        let mut circle = seen.split_off(seen.iter().position(|plan| *plan == at).unwrap_or(0));
        // From the smallest name on, so that the message does not depend on where we came from.
        let least = circle.iter().enumerate().min_by_key(|(_, plan)| **plan);
        let least = least.map_or(0, |(place, _)| place);
        circle.rotate_left(least);
        let first = &plans[circle[0]];
        let names = circle.iter().chain(&circle[..1]).map(|plan| plans[*plan].name.as_str());
        let message = format!("flows wait in a circle: {}", Vec::from_iter(names).join(" after "));
        let place = first.waits.as_ref().and_then(|waits| waits.after.first());
        let place = place.map_or(&*first.place, |name| &name.place);
        self.sink.push(place.problem(message).help("let one of them start by itself"));
    }
}

/// For each of `count` flows, for how many others it waits in vain; each of `links` is a flow and
/// one that waits for it. It is for none if nobody waits in a circle.
pub(crate) fn still_waiting(count: usize, mut links: Vec<(u32, u32)>) -> Vec<u32> {
    links.sort_unstable();
    let mut waiting = vec![0u32; count];
    for (_, then) in &links {
        waiting[*then as usize] += 1;
    }
    let is_free = |flow: &u32| waiting[*flow as usize] == 0;
    let mut ready = Vec::from_iter((0..count as u32).filter(is_free));
    while let Some(first) = ready.pop() {
        let from = links.partition_point(|link| link.0 < first);
        let thens = links[from..].iter().take_while(|link| link.0 == first);
        for (_, then) in thens {
            waiting[*then as usize] -= 1;
            if waiting[*then as usize] == 0 {
                ready.push(*then);
            }
        }
    }
    waiting
}

/// Comparing with more names than this takes too long.
const NAMES_MAX: usize = 10_000;
