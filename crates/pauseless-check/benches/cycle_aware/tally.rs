//! What is counted over many runs.

use std::fmt;
use std::iter::Sum;

use pauseless_run::metrics::statistics::wilson;
use pauseless_run::sample::share::fair_rates;
use pauseless_sim::Config;
use pauseless_sim::outcome::Outcome;

/// The sums over several runs.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    pub runs: usize,
    pub deadlocks: usize,
    pub starved: usize,
    /// Runs without a deadlock and without a starving flow that are too short to tell.
    pub undecided: usize,
    pub lost: u64,
    /// Goodput late in each run over what is fair, summed over greedy flows; per run.
    shares: Vec<f64>,
    /// Mean slowdown of finished flows, per run.
    slowdowns: Vec<f64>,
    /// The share of flows that are finished, per run.
    finished: Vec<f64>,
}

impl Tally {
    /// The numbers of one run.
    pub fn of(config: &Config, outcome: &Outcome) -> Tally {
        let mut tally = Tally {
            runs: 1,
            deadlocks: usize::from(outcome.deadlock.is_some()),
            starved: usize::from(!outcome.starved.is_empty() && outcome.deadlock.is_none()),
            undecided: usize::from(is_undecided(outcome)),
            lost: outcome.lost_packets,
            ..Tally::default()
        };
        let flows = config.flows.iter().zip(&outcome.flows);
        let (finite, endless): (Vec<_>, Vec<_>) = flows.partition(|(flow, _)| flow.is_finite());
        if !endless.is_empty() {
            let late = endless.iter().map(|(_, it)| it.goodput_late_bps);
            let late = match outcome.deadlock {
                Some(_) => 0.0,
                None => late.sum::<f64>(),
            };
            tally.shares.push(late / fair_total(config));
        }
        let started = Vec::from_iter(finite.iter().filter(|(_, it)| it.start.is_some()));
        if !started.is_empty() {
            let slowdowns = started.iter().filter_map(|(_, it)| {
                let span = it.finish? - it.start?;
                Some(span.as_ps() as f64 / it.ideal.as_ps().max(1) as f64)
            });
            let slowdowns = Vec::from_iter(slowdowns);
            tally.finished.push(slowdowns.len() as f64 / started.len() as f64);
            tally.slowdowns.extend(mean(&slowdowns));
        }
        tally
    }

    pub fn heading() -> &'static str {
        "deadlocks                starved                  undecided  lost  goodput/fair     slowdown         finished"
    }
}

fn is_undecided(outcome: &Outcome) -> bool {
    outcome.undecided.is_some() && outcome.starved.is_empty() && outcome.deadlock.is_none()
}

/// The sum of the max-min fair rates of all endless flows.
fn fair_total(config: &Config) -> f64 {
    let endless = config.flows.iter().filter(|flow| !flow.is_finite());
    let rates = fair_rates(config, endless);
    rates.iter().sum::<f64>().max(1.0)
}

fn mean(values: &[f64]) -> Option<f64> {
    let count = values.len() as f64;
    (count > 0.0).then(|| values.iter().sum::<f64>() / count)
}

/// The mean and half of its 95 % interval.
fn interval(values: &[f64]) -> Option<(f64, f64)> {
    let mean = mean(values)?;
    let count = values.len() as f64;
    let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (count - 1.0).max(1.0);
    Some((mean, 1.96 * (variance / count).sqrt()))
}

impl Sum for Tally {
    fn sum<I: Iterator<Item = Tally>>(tallies: I) -> Tally {
        tallies.fold(Tally::default(), |mut sum, tally| {
            sum.runs += tally.runs;
            sum.deadlocks += tally.deadlocks;
            sum.starved += tally.starved;
            sum.undecided += tally.undecided;
            sum.lost += tally.lost;
            sum.shares.extend(tally.shares);
            sum.slowdowns.extend(tally.slowdowns);
            sum.finished.extend(tally.finished);
            sum
        })
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let share = |count: usize| {
            let [low, high] = wilson(count, self.runs);
            format!("{count}/{} [{:.1}, {:.1}] %", self.runs, low * 100.0, high * 100.0)
        };
        let number = |values: &[f64]| match interval(values) {
            None => "-".to_string(),
            Some((mean, half)) => format!("{mean:.3} ± {half:.3}"),
        };
        write!(
            f,
            "{:<24} {:<24} {:>9}  {:>4}  {:<16} {:<16} {}",
            share(self.deadlocks),
            share(self.starved),
            self.undecided,
            self.lost,
            number(&self.shares),
            number(&self.slowdowns),
            number(&self.finished)
        )
    }
}
