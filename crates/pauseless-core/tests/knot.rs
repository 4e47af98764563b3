//! The rule of knots against its definition, on random graphs that are small enough for all subsets.
//!
//! `PAUSELESS_CASES` is the number of graphs.

use pauseless_core::knot::{Waits, stuck};

/// A sequence without anything random about it but its looks (Steele et al. 2014, SplitMix64).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % limit
    }
}

/// What each buffer waits for; `None` for those that drain.
type Graph = Vec<Option<Vec<u32>>>;

fn graph(numbers: &mut Numbers) -> Graph {
    let count = 1 + numbers.below(10);
    let drains_one_in = 2 + numbers.below(12);
    let most = 1 + numbers.below(3);
    let mut buffer = || {
        if numbers.below(drains_one_in) == 0 {
            return None;
        }
        let ports = 1 + numbers.below(most);
        Some((0..ports).map(|_| numbers.below(count) as u32).collect())
    };
    (0..count).map(|_| buffer()).collect()
}

/// The union of all sets of buffers whose members wait for members alone.
fn by_definition(graph: &Graph) -> Vec<bool> {
    let is_knot = |set: u32| {
        let members = (0..graph.len()).filter(|at| set & 1 << at != 0);
        let mut waits = members.map(|at| graph[at].as_ref());
        waits.all(|awaited| awaited.is_some_and(|all| all.iter().all(|to| set & 1 << to != 0)))
    };
    let all = (0..1u32 << graph.len()).filter(|set| is_knot(*set)).fold(0, |all, set| all | set);
    (0..graph.len()).map(|at| all & 1 << at != 0).collect()
}

fn judge(graph: &Graph) -> Vec<bool> {
    let waits = graph.iter().map(|awaited| match awaited {
        None => Waits::ForNothing,
        Some(awaited) => Waits::ForAnyOf(awaited),
    });
    stuck(&Vec::from_iter(waits))
}

#[test]
fn what_is_stuck_is_the_largest_set_that_waits_for_itself() {
    let cases = std::env::var("PAUSELESS_CASES").ok().and_then(|text| text.parse().ok());
    let cases = cases.unwrap_or(3_000);
    let (mut knots, mut parts) = (0, 0);
    for seed in 0..cases {
        let graph = graph(&mut Numbers(seed));
        let found = judge(&graph);
        assert_eq!(found, by_definition(&graph), "seed {seed}: {graph:?}");
        knots += u64::from(found.contains(&true));
        parts += u64::from(found.contains(&true) && found.contains(&false));
        // A further way for one buffer frees some or none, and sticks nobody.
        let mut more = graph.clone();
        let at = Numbers(seed ^ 1).below(graph.len() as u64) as usize;
        if let Some(awaited) = &mut more[at] {
            awaited.push(Numbers(seed ^ 2).below(graph.len() as u64) as u32);
        }
        assert!(judge(&more).iter().zip(&found).all(|(after, before)| after <= before));
    }
    eprintln!("{knots} of {cases} graphs have stuck buffers, {parts} others as well");
    assert!(cases < 1_000 || knots > cases / 10 && parts > cases / 20, "{knots}, {parts}");
}
