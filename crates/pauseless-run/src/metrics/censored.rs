//! Statistics of flows of which some have not finished.
//!
//! Of a flow that has not finished one knows only that its completion time is no less than its best
//! case. A statistic over the finished flows alone leaves out just those that take longest. Means and
//! percentiles never fall when a value grows, so that giving every unfinished flow its best case, and
//! then none at all, encloses what would have come out had all flows been let finish.

use super::distribution::{Distribution, Percentile};
use super::statistics::quantile_ranks;

/// A statistic over flows of which some may not have finished.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounded<T> {
    /// The statistic over the finished flows alone; `None` if none has finished.
    pub value: Option<T>,
    /// The least that it can be over all flows that have started: every unfinished one finishes as
    /// soon as the wires allow.
    pub best: T,
    /// The most that it can be over all flows that have started: no unfinished one ever finishes;
    /// `None` if that has no bound.
    pub worst: Option<T>,
    /// The ends of the 95 % confidence interval of a percentile, with the best case below and the
    /// worst case above; an end is `None` if it has no bound. A mean and the largest have none.
    pub interval: [Option<T>; 2],
}

impl<T: Copy> Bounded<T> {
    /// The same with every number made into another.
    pub fn map<U>(self, make: impl Fn(T) -> U) -> Bounded<U> {
        Bounded {
            value: self.value.map(&make),
            best: make(self.best),
            worst: self.worst.map(&make),
            interval: self.interval.map(|end| end.map(&make)),
        }
    }
}

/// Values of flows, of which those of unfinished ones are known from below only.
#[derive(Clone, Debug, PartialEq)]
pub struct Censored<T> {
    /// The values of the finished flows; `None` if there are none.
    pub finished: Option<Distribution<T>>,
    /// The values of all flows that have started, unfinished ones in their best case; `None` if all
    /// of them have finished.
    pub best: Option<Distribution<T>>,
}

impl<T: Copy> Censored<T> {
    /// The mean; `None` without flows.
    pub fn mean(&self) -> Option<Bounded<f64>> {
        let value = self.finished.as_ref().map(|it| it.mean);
        let worst = value.filter(|_| self.best.is_none());
        Some(Bounded { value, best: self.all()?.mean, worst, interval: [None; 2] })
    }

    /// A percentile; `None` without flows.
    pub fn at(&self, p: Percentile) -> Option<Bounded<T>> {
        let all = self.all()?;
        // Flows that never finish come behind all others.
        let worst = |rank| self.finished.as_ref()?.ranked(rank);
        let [low, high] = quantile_ranks(all.count(), p.share());
        Some(Bounded {
            value: self.finished.as_ref().map(|it| it.at(p)),
            best: all.at(p),
            worst: worst(p.rank(all.count())),
            interval: [low.and_then(|rank| all.ranked(rank)), high.and_then(worst)],
        })
    }

    fn all(&self) -> Option<&Distribution<T>> {
        self.best.as_ref().or(self.finished.as_ref())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn censored(finished: &[u64], best: &[u64]) -> Censored<u64> {
        let all = [finished, best].concat();
        Censored {
            finished: Distribution::<u64>::of(finished.to_vec()),
            best: Distribution::<u64>::of(all).filter(|_| !best.is_empty()),
        }
    }

    #[test]
    fn by_hand() {
        let some = censored(&[10, 20, 30], &[25]);
        let mean = Bounded { value: Some(20.0), best: 21.25, worst: None, interval: [None; 2] };
        assert_eq!(some.mean(), Some(mean));
        let ends = |p| some.at(p).map(|it| (it.value, it.best, it.worst));
        assert_eq!(ends(Percentile::P50), Some((Some(20), 20, Some(20))));
        assert_eq!(ends(Percentile::P99), Some((Some(30), 30, None)));
        let none = censored(&[], &[5]);
        let best = none.at(Percentile::P50).map(|it| (it.value, it.best, it.worst));
        assert_eq!(best, Some((None, 5, None)));
        let all = censored(&[1, 2], &[]).mean();
        assert_eq!(all.map(|it| (it.best, it.worst)), Some((1.5, Some(1.5))));
        assert_eq!(censored(&[], &[]).mean(), None);
    }

    proptest! {
        /// However much longer than their best case unfinished flows take, the bounds hold, and they
        /// are attained.
        #[test]
        fn bounds_contain_whatever_comes(
            finished in prop::collection::vec(1u64..1_000, 0..60),
            unfinished in prop::collection::vec((1u64..1_000, 0u64..5_000), 0..30),
            permille in 1u32..=1_000,
        ) {
            let best = Vec::from_iter(unfinished.iter().map(|(best, _)| *best));
            let truth = unfinished.iter().map(|(best, more)| best + more);
            let truth = finished.iter().copied().chain(truth).collect();
            let Some(truth) = Distribution::<u64>::of(truth) else {
                return Ok(());
            };
            let found = censored(&finished, &best);
            let p = Percentile::permille(permille);
            let at = found.at(p).expect("flows");
            prop_assert!(at.best <= truth.at(p));
            prop_assert!(at.worst.is_none_or(|worst| truth.at(p) <= worst));
            prop_assert!(at.value.is_none_or(|value| at.worst.is_none_or(|worst| value <= worst)));
            let mean = found.mean().expect("flows");
            prop_assert!(mean.best <= truth.mean);
            prop_assert_eq!(mean.worst.is_none(), !best.is_empty());
            let [from, to] = at.interval;
            prop_assert!(from.is_none_or(|from| from <= at.best));
            prop_assert!(to.is_none_or(|to| at.worst.is_some_and(|worst| worst <= to)));
        }
    }
}
