#![doc = include_str!("../README.md")]

pub mod json;
pub mod page;
pub mod property;
mod scale;
pub mod text;
mod verdict;

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use pauseless_core::unit::Span;
use pauseless_sim::config::Probes;
use rayon::prelude::*;

use pauseless_run::Run;
use pauseless_scenario::vary::{Amount, Knob};
use pauseless_scenario::{Overrides, Problems, StopOn};

pub use property::Property;
pub use scale::Scale;
pub use verdict::{Direction, Threshold, Verdict};

/// The question at which value a property flips.
#[derive(Clone, Debug)]
pub struct Question {
    /// The scenario, and the value that is varied.
    pub knob: Knob,
    /// The least value that is tried.
    pub low: Amount,
    /// The greatest value that is tried.
    pub high: Amount,
    /// The property that is to flip.
    pub property: Property,
    /// Seeds 1 to this.
    pub seeds: u64,
    /// To this many base units, at the least 1; by default a thousandth of the range or so.
    pub precision: Option<u64>,
    /// How values are halved.
    pub scale: Scale,
    /// The range is halved so often for the grid that all seeds are tried at.
    pub grid_depth: u32,
    /// Instead of the scenario's duration.
    pub duration: Option<Span>,
}

/// The answer to a question.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The question that is answered.
    pub question: Question,
    /// To how many base units.
    pub precision: u64,
    /// How often it was seen at each value of the grid, in order of value.
    pub shares: Vec<Share>,
    /// What became of each seed that came to its end.
    pub seeds: Vec<Course>,
    /// How many runs it took.
    pub run_count: usize,
    /// In how many of them flows that did not finish could change whether they have the property.
    pub open_count: usize,
    /// Whether it was broken off.
    pub is_interrupted: bool,
}

/// The seeds with the property at one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// The value that the seeds were tried at.
    pub value: Amount,
    /// How many seeds have it.
    pub with: usize,
    /// How many seeds were tried at it.
    pub of: usize,
}

/// One seed from the least value to the greatest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Course {
    /// The number of the seed.
    pub seed: u64,
    /// Whether it has the property at the least value.
    pub at_low: bool,
    /// Whether it has the property at the greatest value.
    pub at_high: bool,
    /// Two values at most a precision apart between which it flips, if its ends differ.
    pub flip: Option<(Amount, Amount)>,
    /// How often neighbours of the grid differ: more than once where it comes and goes.
    pub changes: usize,
}

/// A reason why there is no answer.
#[derive(Clone, Debug)]
pub enum Refusal {
    /// The scenario is refused with this value.
    Scenario {
        /// The value that is refused.
        value: Amount,
        /// What is wrong with the scenario then.
        problems: Problems,
    },
    /// The question makes no sense.
    Question(String),
}

impl Question {
    /// Tries to answer, on all threads of the current pool. `progress` hears how many runs are
    /// done and about how many there will be, from any thread, and may break it off.
    pub fn answer(
        &self,
        progress: impl Fn(usize, usize) -> ControlFlow<()> + Sync,
    ) -> Result<Answer, Refusal> {
        let precision = self.checked()?;
        let range = [self.low.base, self.high.base];
        let grid = self.scale.grid(range, precision, self.grid_depth);
        let steps = self.scale.steps(range, precision).saturating_sub(self.grid_depth as usize);
        let bench = Bench {
            question: self,
            done: AtomicUsize::new(0),
            open: AtomicUsize::new(0),
            total: (grid.len() + steps) * self.seeds as usize,
            stop: AtomicBool::new(false),
            progress,
        };
        let seeds = 1..=self.seeds;
        let pairs = Vec::from_iter(
            seeds.clone().flat_map(|seed| grid.iter().map(move |value| (seed, *value))),
        );
        let found = pairs.par_iter().map(|(seed, value)| bench.holds(*value, *seed));
        let found: Vec<_> = found.collect();
        let found: Vec<Option<bool>> = found.into_iter().collect::<Result<_, _>>()?;
        let rows = Vec::from_iter(found.chunks(grid.len()));
        let search = |(seed, row): (u64, &&[Option<bool>])| {
            let row = row.iter().copied().collect::<Option<Vec<bool>>>();
            let Some(row) = row else {
                return Ok(None);
            };
            bench.course(seed, &grid, &row, precision)
        };
        let courses = Vec::from_iter(seeds.zip(&rows)).into_par_iter().map(search);
        let courses: Vec<_> = courses.collect();
        let courses: Vec<Option<Course>> = courses.into_iter().collect::<Result<_, _>>()?;
        let shares = grid.iter().enumerate().map(|(index, value)| {
            let seen = Vec::from_iter(rows.iter().filter_map(|row| row[index]));
            Share {
                value: self.low.of(*value),
                with: seen.iter().filter(|with| **with).count(),
                of: seen.len(),
            }
        });
        Ok(Answer {
            question: self.clone(),
            precision,
            shares: shares.collect(),
            is_interrupted: courses.iter().any(Option::is_none),
            seeds: courses.into_iter().flatten().collect(),
            run_count: bench.done.into_inner(),
            open_count: bench.open.into_inner(),
        })
    }

    /// The precision, if both ends can be run.
    fn checked(&self) -> Result<u64, Refusal> {
        let refuse = |text: String| Err(Refusal::Question(text));
        let (low, high) = (self.low, self.high);
        if low.unit != high.unit {
            let (low, high) = (low.exact(), high.exact());
            return refuse(format!("{low} and {high} are not of one kind"));
        }
        if low.base >= high.base {
            let (low, high) = (low.exact(), high.exact());
            return refuse(format!("there is nothing between {low} and {high}"));
        }
        if let Some(message) = self.overridden() {
            return refuse(message);
        }
        if self.scale == Scale::Log && low.base == 0 {
            return refuse("a logarithmic scale has no zero; begin above it".to_string());
        }
        let overrides = self.overrides(1);
        for value in [low, high] {
            let refusal = |problems| Refusal::Scenario { value, problems };
            let scenario = self.knob.scenario(value, &overrides).map_err(refusal)?;
            self.property.check(&scenario.config).map_err(Refusal::Question)?;
        }
        let precision =
            self.precision.unwrap_or_else(|| self.scale.default_precision([low.base, high.base]));
        match precision {
            0 => refuse("a precision of nothing is never reached".to_string()),
            precision if precision >= high.base - low.base && self.precision.is_some() => {
                let [precision, range] = [precision, high.base - low.base].map(|it| low.of(it));
                refuse(format!(
                    "a precision of {} is not smaller than the range, {}",
                    precision.exact(),
                    range.exact()
                ))
            }
            precision => Ok(precision),
        }
    }

    /// Why it would change nothing to vary this key, if something else decides.
    fn overridden(&self) -> Option<String> {
        match self.knob.key().trim().trim_matches(['"', '\'']) {
            "seed" => Some(
                "seed cannot be varied: every value is tried with seeds 1 to N of --seeds N"
                    .to_string(),
            ),
            "duration" if self.duration.is_some() => Some(
                "duration cannot be varied while --duration says how long to simulate; leave \
                 --duration out"
                    .to_string(),
            ),
            _ => None,
        }
    }

    fn overrides(&self, seed: u64) -> Overrides {
        Overrides {
            seed: Some(seed),
            duration: self.duration,
            stop_on: Some(match self.property {
                Property::Deadlock => StopOn::DEADLOCK,
                _ => StopOn::NONE,
            }),
            ..Overrides::default()
        }
    }
}

/// The state of a search, which all threads share.
struct Bench<'q, F> {
    question: &'q Question,
    done: AtomicUsize,
    /// Runs whose answer flows that did not finish could change.
    open: AtomicUsize,
    total: usize,
    stop: AtomicBool,
    progress: F,
}

impl<F: Fn(usize, usize) -> ControlFlow<()> + Sync> Bench<'_, F> {
    /// Whether a run has the property; `None` if it was broken off.
    fn holds(&self, value: u64, seed: u64) -> Result<Option<bool>, Refusal> {
        if self.stop.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let Question { knob, property, .. } = self.question;
        let value = self.question.low.of(value);
        let overrides = self.question.overrides(seed);
        let refusal = |problems| Refusal::Scenario { value, problems };
        let mut scenario = knob.scenario(value, &overrides).map_err(refusal)?;
        // Nobody looks at its curves.
        if !property.needs_probes() {
            scenario.config.probes = Probes::default();
        }
        let watch = |_| {
            if self.stop.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { self.tell(0) }
        };
        let run = Run::execute(scenario, watch);
        if run.interrupted || self.tell(1).is_break() {
            return Ok(None);
        }
        if property.is_open(&run) {
            self.open.fetch_add(1, Ordering::Relaxed);
        }
        Ok(Some(property.is_in(&run)))
    }

    fn tell(&self, more: usize) -> ControlFlow<()> {
        let done = self.done.fetch_add(more, Ordering::Relaxed) + more;
        let flow = (self.progress)(done, self.total.max(done));
        if flow.is_break() {
            self.stop.store(true, Ordering::Relaxed);
        }
        flow
    }

    /// Bisects one seed; what the grid knows already is not run again.
    fn course(
        &self,
        seed: u64,
        grid: &[u64],
        row: &[bool],
        precision: u64,
    ) -> Result<Option<Course>, Refusal> {
        let (at_low, at_high) = (row[0], row[row.len() - 1]);
        let mut course = Course {
            seed,
            at_low,
            at_high,
            flip: None,
            changes: row.windows(2).filter(|pair| pair[0] != pair[1]).count(),
        };
        if at_low == at_high {
            return Ok(Some(course));
        }
        let (mut low, mut high) = (grid[0], grid[grid.len() - 1]);
        while let Some(middle) = self.question.scale.middle([low, high], precision) {
            let holds = match grid.binary_search(&middle) {
                Ok(index) => Some(row[index]),
                Err(_) => self.holds(middle, seed)?,
            };
            let Some(holds) = holds else {
                return Ok(None);
            };
            if holds == at_low { low = middle } else { high = middle }
        }
        let amount = |base| self.question.low.of(base);
        course.flip = Some((amount(low), amount(high)));
        Ok(Some(course))
    }
}
