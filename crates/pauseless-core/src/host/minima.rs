//! A tree of minima over the instants at which the flows of a host may send.

use alloc::vec;
use alloc::vec::Vec;

use crate::unit::Time;

/// An instant for each of a power of two of places. To change one, to find the earliest and to find the
/// first place whose instant has come takes a step per level of the tree.
#[derive(Clone, Debug)]
pub(super) struct Minima {
    /// The root is at 1 and the children of `node` are at `2 * node` and `2 * node + 1`, so the second
    /// half has the places; index 0 is not used.
    tree: Vec<Time>,
}

impl Minima {
    /// [`Time::MAX`] for each of `places`, which is a power of two.
    pub(super) fn new(places: usize) -> Minima {
        assert!(places.is_power_of_two());
        Minima { tree: vec![Time::MAX; 2 * places] }
    }

    /// The earliest instant of all places.
    #[inline]
    pub(super) fn earliest(&self) -> Time {
        self.tree[1]
    }

    /// The instant of a place.
    pub(super) fn get(&self, place: usize) -> Time {
        self.tree[self.tree.len() / 2 + place]
    }

    /// A tree with twice the places, of which every other one is new.
    pub(super) fn doubled(&self) -> Minima {
        let places = self.tree.len() / 2;
        let mut doubled = Minima::new(2 * places);
        (0..places).for_each(|place| doubled.set(2 * place, self.get(place)));
        doubled
    }

    /// Sets the instant of a place.
    #[inline]
    pub(super) fn set(&mut self, place: usize, time: Time) {
        let mut node = self.tree.len() / 2 + place;
        self.tree[node] = time;
        while node > 1 {
            let least = self.tree[node].min(self.tree[node ^ 1]);
            node /= 2;
            if self.tree[node] == least {
                return;
            }
            self.tree[node] = least;
        }
    }

    /// The first place from `start` on whose instant is not after `now`; behind the last place it goes on
    /// with the first one.
    #[inline]
    pub(super) fn first_due(&self, start: usize, now: Time) -> Option<usize> {
        if now < self.earliest() {
            return None;
        }
        self.first_due_behind(start, now).or_else(|| self.first_due_behind(0, now))
    }

    fn first_due_behind(&self, start: usize, now: Time) -> Option<usize> {
        let places = self.tree.len() / 2;
        let mut node = places + start;
        while now < self.tree[node] {
            // The next subtree to the right belongs to the first ancestor that is a left child; at the
            // right edge there is none.
            node >>= node.trailing_ones();
            if node == 0 {
                return None;
            }
            node += 1;
        }
        while node < places {
            node *= 2;
            node += usize::from(now < self.tree[node]);
        }
        Some(node - places)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_finds_what_a_search_of_all_places_finds(
            changes in proptest::collection::vec((0usize..16, 0u64..8, 0usize..16, 0u64..8), 1..60),
            levels in 0u32..5,
        ) {
            let places = 1 << levels;
            let mut minima = Minima::new(places);
            let mut plain = vec![Time::MAX; places];
            for (place, time, start, now) in changes {
                let (time, now) = (Time::from_ps(time), Time::from_ps(now));
                let (place, start) = (place % places, start % places);
                minima.set(place, time);
                plain[place] = time;
                prop_assert_eq!(minima.earliest(), *plain.iter().min().unwrap());
                let mut round = (start..places).chain(0..start);
                prop_assert_eq!(minima.first_due(start, now), round.find(|it| plain[*it] <= now));
            }
        }
    }
}
