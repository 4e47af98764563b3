//! What the courses of all seeds say together.

use super::{Answer, Course};
use pauseless_run::metrics::statistics::{median, median_bounds};
use pauseless_scenario::vary::Amount;
use pauseless_text::named;
use pauseless_text::quantity::plural;

/// Whether there is a threshold.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// All seeds agree on a value.
    Sharp(Threshold),
    /// More than half of the seeds flip, but the value says little.
    Blurred {
        /// Where the seeds flip that do.
        threshold: Threshold,
        /// Why it says little, each as a sentence.
        reasons: Vec<String>,
    },
    /// Half of the seeds or more do not flip.
    None {
        /// What the seeds do instead.
        reason: String,
    },
}

/// The value at which the seeds flip.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Threshold {
    /// Whether the property comes or goes as the value grows.
    pub direction: Direction,
    /// The median over seeds of the first value behind the flip.
    pub median: Amount,
    /// Two values that enclose the median over all seeds, and how surely.
    pub bounds: (Amount, Amount),
    /// The probability that they do.
    pub confidence: f64,
    /// The least and the greatest of all seeds.
    pub range: (Amount, Amount),
    /// How many seeds flip in this direction.
    pub flips: usize,
}

named! {
    /// What happens as the value grows.
    pub enum Direction {
        /// The property comes with greater values.
        Appears = "appears",
        /// The property goes with greater values.
        Disappears = "disappears",
    }
}

impl Direction {
    pub(crate) fn of(course: &Course) -> Option<Direction> {
        match (course.at_low, course.at_high) {
            (false, true) => Some(Direction::Appears),
            (true, false) => Some(Direction::Disappears),
            _ => None,
        }
    }
}

impl Answer {
    /// What all seeds say together.
    pub fn verdict(&self) -> Verdict {
        let of = |direction| {
            let courses = self.seeds.iter();
            let courses = courses.filter(|course| Direction::of(course) == Some(direction));
            let mut firsts = Vec::from_iter(courses.filter_map(|course| Some(course.flip?.1)));
            firsts.sort_unstable();
            (direction, firsts)
        };
        let [up, down] = [Direction::Appears, Direction::Disappears].map(of);
        let (direction, firsts) = if up.1.len() >= down.1.len() { up } else { down };
        if firsts.len() * 2 <= self.seeds.len() {
            return Verdict::None { reason: self.why_none() };
        }
        let bases = Vec::from_iter(firsts.iter().map(|first| first.base));
        let (low, high, confidence) = median_bounds(firsts.len());
        let threshold = Threshold {
            direction,
            // Between two seeds it is no finer than they are.
            median: firsts[0].of((median(&bases) / self.precision * self.precision).max(bases[0])),
            bounds: (firsts[low], firsts[high]),
            confidence,
            range: (firsts[0], firsts[firsts.len() - 1]),
            flips: firsts.len(),
        };
        let reasons = self.doubts(&threshold);
        if reasons.is_empty() {
            Verdict::Sharp(threshold)
        } else {
            Verdict::Blurred { threshold, reasons }
        }
    }

    /// Why a threshold says little, if it does.
    fn doubts(&self, threshold: &Threshold) -> Vec<String> {
        let mut reasons = Vec::new();
        let seeds = self.seeds.len();
        if threshold.flips < seeds {
            let verb = threshold.direction.name();
            let flips = threshold.flips;
            reasons.push(format!("it {verb} in only {flips} of {seeds} seeds"));
        }
        match self.seeds.iter().filter(|course| course.changes > 1).count() {
            0 => {}
            count => reasons
                .push(format!("in {count} of {seeds} seeds it comes and goes between the ends")),
        }
        let is_step_back = |pair: &&[super::Share]| {
            let shares = [pair[0], pair[1]].map(|share| share.with as f64 / share.of.max(1) as f64);
            match threshold.direction {
                Direction::Appears => shares[1] < shares[0],
                Direction::Disappears => shares[1] > shares[0],
            }
        };
        if let Some([before, after]) = self.shares.windows(2).find(is_step_back) {
            reasons.push(format!(
                "the share of seeds with it is not monotone: {} of {} at {}, {} of {} at {}",
                before.with,
                before.of,
                before.value.exact(),
                after.with,
                after.of,
                after.value.exact()
            ));
        }
        let question = &self.question;
        reasons.extend(self.open_runs());
        let range = [question.low.base, question.high.base];
        let spread = [threshold.range.0.base, threshold.range.1.base];
        let part = question.scale.part(range, spread);
        if part > SPREAD_MAX {
            reasons.push(format!(
                "seeds disagree by {:.0} % of the range, from {} to {}",
                part * 100.0,
                threshold.range.0.exact(),
                threshold.range.1.exact()
            ));
        }
        reasons
    }

    /// How many runs hang on flows that did not finish, if any do.
    fn open_runs(&self) -> Option<String> {
        (self.open_count > 0).then(|| {
            let (open, all) = (self.open_count, self.run_count);
            format!("in {open} of {all} runs a longer run could change the answer")
        })
    }

    fn why_none(&self) -> String {
        let why = self.why_no_flip();
        self.open_runs().map_or(why.clone(), |open| format!("{why}; {open}"))
    }

    fn why_no_flip(&self) -> String {
        let seeds = self.seeds.len();
        let [with, without] = [true, false].map(|is_with| {
            let ends = |course: &&Course| course.at_low == is_with && course.at_high == is_with;
            self.seeds.iter().filter(ends).count()
        });
        let between = self
            .seeds
            .iter()
            .filter(|course| course.at_low == course.at_high && course.changes > 0);
        let between = match between.count() {
            0 => String::new(),
            count => format!("; in {count} of them it is otherwise somewhere in between"),
        };
        let all = plural(seeds as u64, "seed");
        match (with, without) {
            _ if seeds == 0 => "no seed came to its end".to_string(),
            (with, _) if with == seeds => {
                format!("every one of {all} has it at both ends{between}")
            }
            (_, without) if without == seeds => {
                format!("none of {all} has it at either end{between}")
            }
            _ => format!(
                "of {seeds} seeds {with} have it at both ends, {without} at neither, {} flip{between}",
                seeds - with - without
            ),
        }
    }
}

/// Seeds that disagree by more than this part of the range do not make a threshold.
const SPREAD_MAX: f64 = 0.125;
