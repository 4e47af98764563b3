//! Whether statistics of flows can be compared although some flows did not finish.

use pauseless_text::named;
use pauseless_text::quantity::{percents, significant};

/// A statistic over flows of one case, with what unfinished ones could make of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// The name of the case, for people.
    pub name: String,
    /// The statistic over finished flows; `None` if none has finished.
    pub value: Option<f64>,
    /// The least that it can be over all flows that have started.
    pub best: f64,
    /// The most that it can be over all flows that have started; infinite without a bound.
    pub worst: f64,
    /// How many flows have finished.
    pub finished: u64,
    /// How many flows have started and not finished.
    pub unfinished: u64,
}

impl Case {
    /// The share of the flows that have started and not finished, from 0 to 1.
    pub fn share(&self) -> f64 {
        self.unfinished as f64 / (self.finished + self.unfinished).max(1) as f64
    }
}

named! {
    /// Why a comparison does not mean what it seems to.
    pub enum Mark {
        /// The cases differ by more than a percentage point in how many flows did not finish: each
        /// leaves out another part of its slowest flows.
        Biased = "biased",
        /// What unfinished flows come to would decide what is said.
        Open = "open",
    }
}

/// What is to be said of a comparison in which flows did not finish.
#[derive(Clone, Debug, PartialEq)]
pub struct Doubt {
    /// Whether the comparison misleads; `None` if it holds whatever becomes of the flows.
    pub mark: Option<Mark>,
    /// The shares of flows that did not finish: the least and the most, with their cases.
    pub shares: String,
    /// What these flows could change; empty if there is nothing to compare.
    pub with_them: String,
}

impl Doubt {
    /// What is to be said of a comparison of these cases, `None` if all flows have finished.
    /// `is_sure` is whether it comes out the same for all values inside the bounds.
    pub fn of(cases: &[Case], is_sure: bool) -> Option<Doubt> {
        let by_share = |a: &&Case, b: &&Case| a.share().total_cmp(&b.share());
        let (least, most) = (cases.iter().min_by(by_share)?, cases.iter().max_by(by_share)?);
        if most.unfinished == 0 {
            return None;
        }
        let mark = match most.share() - least.share() {
            apart if apart > APART_MAX => Some(Mark::Biased),
            _ => (!is_sure).then_some(Mark::Open),
        };
        let [low, high] = [least, most].map(|case| format!("{} %", percents(case.share())));
        let shares = if low == high {
            high
        } else {
            format!("{low} ({}) to {high} ({})", least.name, most.name)
        };
        Some(Doubt { mark, shares, with_them: String::new() })
    }

    /// How many flows did not finish, as a sentence without its end.
    pub fn says(&self) -> String {
        let with_them = self.with_them();
        format!(
            "{} of the flows did not finish and are in no completion time{with_them}",
            self.shares
        )
    }

    /// The mark and the sentence.
    pub fn text(&self) -> String {
        self.marked(self.says())
    }

    /// The mark and the shares, for a table.
    pub fn brief(&self) -> String {
        self.marked(format!("{} unfinished{}", self.shares, self.with_them()))
    }

    fn marked(&self, text: String) -> String {
        match self.mark {
            Some(mark) => format!("{}: {text}", mark.name()),
            None => text,
        }
    }

    fn with_them(&self) -> String {
        match self.with_them.as_str() {
            "" => String::new(),
            text => format!("; with them {text}"),
        }
    }
}

/// Whether the order of these cases is that of their values, whatever becomes of unfinished flows.
pub fn is_order_sure(cases: &[Case]) -> bool {
    if cases.iter().any(|case| case.value.is_none() && case.unfinished > 0) {
        return cases.len() < 2;
    }
    let mut known: Vec<(f64, &Case)> =
        cases.iter().filter_map(|case| Some((case.value?, case))).collect();
    known.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut worst = f64::NEG_INFINITY;
    let pairs = known.windows(2).map(|pair| {
        let [(value, case), (next_value, next)] = [pair[0], pair[1]];
        worst = worst.max(case.worst);
        let is_tie = value == next_value && case.unfinished + next.unfinished == 0;
        worst < next.best || is_tie
    });
    // Every pair is looked at, since the greatest of the worst cases goes on.
    pairs.fold(true, |all, sure| all & sure)
}

/// What a statistic can be over all flows: `1.5 to 2`, `1.5 and more`, or anything.
pub fn range(best: f64, worst: f64) -> String {
    match worst {
        f64::INFINITY if best == 0.0 => "anything".to_string(),
        _ if best == worst => significant(best),
        worst if worst.is_finite() => format!("{} to {}", significant(best), significant(worst)),
        _ => format!("{} and more", significant(best)),
    }
}

/// Shares of unfinished flows that differ by no more than this are taken for the same.
const APART_MAX: f64 = 0.01;

#[cfg(test)]
mod tests {
    use super::*;

    fn case(name: &str, value: f64, ends: [f64; 2], flows: [u64; 2]) -> Case {
        let ([best, worst], [finished, unfinished]) = (ends, flows);
        Case { name: name.to_string(), value: Some(value), best, worst, finished, unfinished }
    }

    #[test]
    fn an_order_is_sure_if_no_bounds_overlap() {
        let a = case("a", 1.0, [1.0, 2.0], [99, 1]);
        let b = case("b", 3.0, [3.0, f64::INFINITY], [99, 1]);
        let c = case("c", 4.0, [4.0, 4.0], [100, 0]);
        assert!(is_order_sure(&[b.clone(), a.clone()]));
        assert!(!is_order_sure(&[a.clone(), b.clone(), c.clone()]), "b may be above c");
        assert!(is_order_sure(&[a.clone(), c.clone(), c.clone()]), "equal values are equal");
        // The first one may be above the last, though not above its neighbour's value.
        let wide = case("wide", 0.5, [0.5, 9.0], [99, 1]);
        assert!(!is_order_sure(&[wide, a.clone(), c]));
        let none = Case { value: None, ..b };
        assert!(!is_order_sure(&[a, none.clone()]));
        assert!(is_order_sure(&[none]));
    }

    #[test]
    fn shares_apart_are_biased_and_overlaps_open() {
        let whole = case("GFC", 2.0, [2.0, 2.0], [100, 0]);
        let some = case("PFC", 1.0, [1.1, f64::INFINITY], [88, 12]);
        let few = case("CBFC", 1.0, [1.1, f64::INFINITY], [995, 5]);
        assert_eq!(Doubt::of(&[whole.clone(), whole.clone()], true), None);
        assert_eq!(Doubt::of(&[], true), None);
        let biased = Doubt::of(&[some, whole.clone()], false).expect("unfinished flows");
        assert_eq!(
            biased.text(),
            "biased: 0 % (GFC) to 12.0 % (PFC) of the flows did not finish and are in no completion \
             time"
        );
        let open = Doubt::of(&[few.clone(), whole.clone()], false).expect("unfinished flows");
        assert_eq!(open.mark, Some(Mark::Open));
        let sure = Doubt::of(&[few, whole], true).expect("unfinished flows");
        assert_eq!(sure.mark, None);
        let sure = Doubt { with_them: "2 and more".to_string(), ..sure };
        assert_eq!(sure.brief(), "0 % (GFC) to 0.5 % (CBFC) unfinished; with them 2 and more");
        assert_eq!(range(1.5, f64::INFINITY), "1.50 and more");
        assert_eq!(range(0.0, f64::INFINITY), "anything");
        assert_eq!((range(1.5, 2.0), range(2.0, 2.0)), ("1.50 to 2".into(), "2".into()));
    }
}
