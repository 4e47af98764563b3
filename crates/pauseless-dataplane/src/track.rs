//! The numbers of a flow that have arrived: exact under loss, reordering and duplication.

/// How far behind the highest number a frame may be and still be recognised as a duplicate or not.
const WINDOW: u64 = 65_536;

/// How the number of a frame relates to those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Its number is above all others so far.
    InOrder,
    /// A higher number has arrived before.
    Late,
    /// The number has arrived before, or it is too old to tell, which counts the same.
    Duplicate,
    /// The number is far above all others, and its predecessor did not arrive just before it: it is
    /// not believed.
    Astray,
}

/// The numbers of a flow that have arrived, in a bitmap that slides along behind the highest. One
/// number far above all others would make every later frame look like a duplicate, so it is
/// believed only when its successor comes next.
#[derive(Clone, Debug)]
pub struct Tracker {
    seen: Box<[u64]>,
    /// One above the highest number so far.
    next: u64,
    /// The number of different numbers.
    count: u64,
    /// One above the number of the last frame, if that was far above all others.
    astray: Option<u64>,
}

impl Default for Tracker {
    fn default() -> Tracker {
        Tracker { seen: vec![0; (WINDOW / 64) as usize].into(), next: 0, count: 0, astray: None }
    }
}

impl Tracker {
    /// Adds the number of a frame that has arrived.
    pub fn add(&mut self, number: u64) -> Order {
        let expected = self.astray.take();
        let came = if number >= self.next {
            if number - self.next >= WINDOW && expected != Some(number) {
                self.astray = number.checked_add(1);
                return Order::Astray;
            }
            self.slide(number);
            Order::InOrder
        } else if self.next - number > WINDOW || self.is_seen(number) {
            return Order::Duplicate;
        } else {
            Order::Late
        };
        let (word, bit) = place(number);
        self.seen[word] |= bit;
        self.count += 1;
        came
    }

    /// The number of different numbers that have arrived.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The numbers that are missing below the highest.
    pub fn missing(&self) -> u64 {
        self.next - self.count
    }

    /// Moves the bitmap on to a new highest number.
    fn slide(&mut self, number: u64) {
        let gap = number - self.next;
        if gap >= WINDOW {
            self.seen.fill(0);
        } else {
            // The places of the skipped numbers, and its own.
            for skipped in self.next..=number {
                let (word, bit) = place(skipped);
                self.seen[word] &= !bit;
            }
        }
        self.next = number.saturating_add(1);
    }

    fn is_seen(&self, number: u64) -> bool {
        let (word, bit) = place(number);
        self.seen[word] & bit != 0
    }
}

fn place(number: u64) -> (usize, u64) {
    let place = number % WINDOW;
    ((place / 64) as usize, 1 << (place % 64))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    use super::*;

    proptest! {
        #[test]
        fn counts_are_those_of_a_set(steps in prop::collection::vec((-300i64..300, any::<bool>()), 0..400)) {
            let (mut tracker, mut set) = (Tracker::default(), BTreeSet::new());
            let mut number = 30_000u64;
            for (step, is_far) in steps {
                // Up to 30,000 away, so that the bitmap wraps and yet nothing falls out of it.
                let step = if is_far { step * 100 } else { step };
                number = number.saturating_add_signed(step);
                let highest = set.last().copied();
                if highest.is_some_and(|highest: u64| highest - highest.min(number) >= WINDOW) {
                    continue;
                }
                let came = tracker.add(number);
                let expected = match (set.insert(number), highest.is_none_or(|h| number > h)) {
                    (false, _) => Order::Duplicate,
                    (true, true) => Order::InOrder,
                    (true, false) => Order::Late,
                };
                prop_assert_eq!(came, expected);
                let span = set.last().map_or(0, |last| last + 1);
                prop_assert_eq!(tracker.count(), set.len() as u64);
                prop_assert_eq!(tracker.missing(), span - set.len() as u64);
            }
        }
    }

    #[test]
    fn what_nobody_remembers_counts_as_having_come_twice() {
        let mut tracker = Tracker::default();
        tracker.add(100);
        tracker.add(WINDOW + 10);
        assert_eq!(tracker.add(10), Order::Duplicate);
        assert_eq!(tracker.add(11), Order::Late);
        assert_eq!((tracker.count(), tracker.missing()), (3, WINDOW + 8));
    }

    #[test]
    fn a_jump_is_believed_when_its_successor_follows() {
        let mut tracker = Tracker::default();
        tracker.add(0);
        for number in [u64::MAX, WINDOW + 10, WINDOW + 30, u64::MAX - 1] {
            assert_eq!(tracker.add(number), Order::Astray, "{number}");
            assert_eq!(tracker.add(tracker.count()), Order::InOrder);
        }
        assert_eq!((tracker.count(), tracker.missing()), (5, 0));
        let far = 1 << 40;
        assert_eq!(tracker.add(far), Order::Astray);
        assert_eq!(tracker.add(far + 1), Order::InOrder);
        assert_eq!((tracker.count(), tracker.missing()), (6, far - 4));
        assert_eq!(tracker.add(far), Order::Late);
    }
}
