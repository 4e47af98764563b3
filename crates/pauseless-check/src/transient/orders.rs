//! In which orders switches learn of a failure.

use pauseless_core::id::NodeId;
use pauseless_fabric::rng::{Purpose, Stream};

use super::{Case, Options};

/// All orders if there are no more than are wanted. Else the one that keeps the cycle open for longest, its
/// reverse, and random ones.
pub(super) fn choose(case: &Case<'_>, learners: &[NodeId], options: &Options) -> Vec<Vec<NodeId>> {
    let wanted = options.orders.max(2);
    if count(learners.len()) <= wanted {
        return all(learners);
    }
    let worst = worst(case, learners);
    let best = worst.iter().rev().copied().collect();
    let mut orders = vec![worst, best];
    // One stream for each failure, named after its first link, whichever others are simulated.
    let first = case.failures.links().first().map_or(0, |link| u64::from(link.0));
    let entity = first << 32 | case.failures.links().len() as u64;
    let mut random = Stream::new(options.seed, Purpose::Converge, entity);
    while orders.len() < wanted {
        let mut order = learners.to_vec();
        random.shuffle(&mut order);
        orders.push(order);
    }
    orders
}

/// How many orders of so many switches there are, as far as it matters.
fn count(switches: usize) -> usize {
    (1..=switches).try_fold(1usize, usize::checked_mul).unwrap_or(usize::MAX)
}

fn all(learners: &[NodeId]) -> Vec<Vec<NodeId>> {
    if learners.is_empty() {
        return vec![Vec::new()];
    }
    let firsts = learners.iter().enumerate();
    let orders = firsts.flat_map(|(place, first)| {
        let mut others = learners.to_vec();
        others.remove(place);
        let rests = all(&others).into_iter();
        rests.map(|rest| [vec![*first], rest].concat())
    });
    orders.collect()
}

/// First the switches that forward along the cycle by their new routes only, last those that do so by
/// their old ones only.
fn worst(case: &Case<'_>, learners: &[NodeId]) -> Vec<NodeId> {
    let place = |switch: &NodeId| {
        let hops = case.component.cycle.hops.iter().filter(|hop| hop.buffer.node == *switch);
        let kinds = hops.map(|hop| {
            let leads = |routes: &pauseless_fabric::routing::Routes| {
                let groups = hop.targets.iter().map(|target| routes.groups.of_host(*target));
                let mut ports = groups.map(|group| routes.table.next_hops(*switch, group));
                ports.any(|ports| ports.contains(&hop.egress))
            };
            match (leads(&case.union.old), leads(&case.union.new)) {
                (false, _) => 0,
                (true, true) => 1,
                (true, false) => 2,
            }
        });
        kinds.min().unwrap_or(1)
    };
    let mut order = learners.to_vec();
    order.sort_by_key(|switch| (place(switch), *switch));
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_orders_are_there_once() {
        let orders = all(&[NodeId(1), NodeId(4), NodeId(2)]);
        let different = std::collections::BTreeSet::from_iter(&orders);
        assert_eq!((orders.len(), different.len(), count(3)), (6, 6, 6));
        assert_eq!((count(0), count(80)), (1, usize::MAX));
    }
}
