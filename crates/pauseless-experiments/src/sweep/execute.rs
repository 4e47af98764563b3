//! Makes runs on many threads, each of them once and none in vain.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use super::plan::{Plan, Task};
use super::row::Row;
use super::store::{Findings, Tables};
use pauseless_run::Run;
use pauseless_run::results::{Facts, rows};
use pauseless_run::sample::{Asked, Sample};
use pauseless_run::table::{Cells, Column, Table};
use pauseless_scenario::{Overrides, Scenario};
use pauseless_text::quantity;

/// How many runs have found what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Runs that there are.
    pub runs: usize,
    /// Runs with a deadlock.
    pub deadlocks: usize,
    /// Runs in which a flow starved.
    pub starved: usize,
    /// Runs that were too short to tell whether a flow starves.
    pub undecided: usize,
    /// Runs in which a packet was lost.
    pub lost: usize,
    /// Runs that could not be made.
    pub errors: usize,
}

impl Tally {
    /// Counts one more run.
    pub fn add(&mut self, findings: Findings) {
        self.runs += 1;
        self.deadlocks += usize::from(findings.deadlock);
        self.starved += usize::from(findings.starved);
        self.undecided += usize::from(findings.undecided);
        self.lost += usize::from(findings.lost);
        self.errors += usize::from(findings.error);
    }

    /// The counts of both together.
    pub fn with(self, other: Tally) -> Tally {
        Tally {
            runs: self.runs + other.runs,
            deadlocks: self.deadlocks + other.deadlocks,
            starved: self.starved + other.starved,
            undecided: self.undecided + other.undecided,
            lost: self.lost + other.lost,
            errors: self.errors + other.errors,
        }
    }

    /// The counts in words: `3 deadlocks, 1 starved, no loss`.
    pub fn found(self) -> String {
        let deadlocks = match self.deadlocks {
            0 => "no deadlock".to_string(),
            count => quantity::plural(count as u64, "deadlock"),
        };
        let starved = match self.starved {
            0 => "none starved".to_string(),
            count => format!("{count} starved"),
        };
        let lost = match self.lost {
            0 => "no loss".to_string(),
            count => format!("{count} with losses"),
        };
        let mut found = format!("{deadlocks}, {starved}, {lost}");
        if self.undecided > 0 {
            found += &format!(", {} too short to tell starvation", self.undecided);
        }
        if self.errors > 0 {
            found += &format!(", {} not made", self.errors);
        }
        found
    }
}

/// How far a campaign has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Runs that are to be made.
    pub total: usize,
    /// What was found in the runs that were made.
    pub tally: Tally,
}

/// The functions that keep rows and watch progress; several threads call them at once.
pub struct Hooks<'a, E> {
    /// Keeps a row and its tables; an error ends the campaign.
    pub keep: &'a Keep<'a, E>,
    /// Called often; may break the campaign off. Runs in flight are then given up.
    pub watch: &'a (dyn Fn(&Progress) -> ControlFlow<()> + Sync),
}

/// Keeps the row of a task, with its tables.
pub type Keep<'a, E> = dyn Fn(&Task, &Row, Made<'_>) -> Result<(), E> + Sync + 'a;

/// The tables that a campaign keeps of a run; or why the run does not have its curves. That is a
/// fault of the campaign and not of the run, whose row would otherwise have it for ever: the name
/// of a task does not depend on what is kept of it.
pub type Made<'a> = Result<Tables<'a>, &'a str>;

/// A run that was made.
struct Done {
    row: Row,
    curves: Result<Option<Table>, String>,
    flows: Option<Table>,
}

impl Done {
    fn tables(&self) -> Made<'_> {
        let curves = self.curves.as_ref().map_err(String::as_str)?;
        Ok(Tables { curves: curves.as_ref(), flows: self.flows.as_ref() })
    }
}

/// How a campaign ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Executed {
    /// How many runs were made, and what was found.
    pub progress: Progress,
    /// Whether it was broken off.
    pub interrupted: bool,
}

/// Makes the runs of `todo`, which are places in the plan, on so many threads.
pub fn execute<E: Send>(
    plan: &Plan,
    todo: &[u32],
    threads: NonZeroUsize,
    hooks: &Hooks<'_, E>,
) -> Result<Executed, E> {
    let work = Work {
        plan,
        hooks,
        next: Mutex::new(todo.iter()),
        progress: Mutex::new(Progress { total: todo.len(), tally: Tally::default() }),
        is_over: AtomicBool::new(false),
        failure: Mutex::new(None),
    };
    thread::scope(|scope| {
        for _ in 0..threads.get().min(todo.len()) {
            scope.spawn(|| work.carry_out());
        }
    });
    let progress = locked(&work.progress, |progress| *progress);
    match locked(&work.failure, Option::take) {
        Some(failure) => Err(failure),
        None => Ok(Executed { progress, interrupted: work.is_over.into_inner() }),
    }
}

/// The state that all threads share.
struct Work<'a, E> {
    plan: &'a Plan,
    hooks: &'a Hooks<'a, E>,
    next: Mutex<std::slice::Iter<'a, u32>>,
    progress: Mutex<Progress>,
    /// Whether to stop, and give up what is in flight.
    is_over: AtomicBool,
    failure: Mutex<Option<E>>,
}

impl<E> Work<'_, E> {
    fn carry_out(&self) {
        while !self.is_over.load(Ordering::Relaxed) {
            let Some(index) = locked(&self.next, Iterator::next) else {
                return;
            };
            let task = self.plan.task(*index as usize);
            let Some(done) = self.make(&task) else {
                return;
            };
            let row = &done.row;
            if let Err(failure) = (self.hooks.keep)(&task, row, done.tables()) {
                self.is_over.store(true, Ordering::Relaxed);
                locked(&self.failure, |first| {
                    first.get_or_insert(failure);
                });
                return;
            }
            let keep = &self.plan.campaign.keep;
            let findings = Findings::of(keep, row);
            locked(&self.progress, |progress| progress.tally.add(findings));
            let _ = self.look();
        }
    }

    /// A run that panics is a fault of the program. It must not cost the others.
    fn make(&self, task: &Task) -> Option<Done> {
        catch_unwind(AssertUnwindSafe(|| self.run(task))).unwrap_or_else(|panic| {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or(panic.downcast_ref::<&str>().copied()).unwrap_or("no message");
            Some(self.failed(task, format!("the program panicked: {text}")))
        })
    }

    /// `None` if it was broken off.
    fn run(&self, task: &Task) -> Option<Done> {
        let campaign = &self.plan.campaign;
        let name = task.name.to_string();
        let scenario = match Scenario::parse(&name, &task.text, &Overrides::default()) {
            Ok(scenario) => scenario,
            Err(problems) => return Some(self.failed(task, problems.to_string())),
        };
        let run = Run::execute(scenario, |_| self.look());
        if run.interrupted {
            return None;
        }
        let (facts, asked) = (Facts::of(&run), Asked::all(&campaign.keep));
        let (sample, wrong) = match Sample::asked(&facts, &campaign.curves, &asked) {
            Ok(sample) => (sample, None),
            Err(wrong) => (Sample::asked(&facts, &[], &asked).unwrap_or_default(), Some(wrong)),
        };
        let numbers = campaign.keep.iter().map(|name| sample.metric(name));
        let row = Row {
            task: task.name,
            ended: run.ended_name().to_string(),
            error: None,
            numbers: numbers.collect(),
        };
        let curves = match wrong {
            Some(wrong) => Err(wrong),
            None => Ok((!campaign.curves.is_empty()).then(|| curves(sample))),
        };
        let flows = campaign.keeps_flows.then(|| rows::flows(&run));
        Some(Done { row, curves, flows })
    }

    fn failed(&self, task: &Task, error: String) -> Done {
        let row = Row {
            task: task.name,
            ended: String::new(),
            error: Some(error),
            numbers: vec![None; self.plan.campaign.keep.len()],
        };
        Done { row, curves: Ok(None), flows: None }
    }

    fn look(&self) -> ControlFlow<()> {
        let progress = locked(&self.progress, |progress| *progress);
        if (self.hooks.watch)(&progress).is_break() {
            self.is_over.store(true, Ordering::Relaxed);
        }
        if self.is_over.load(Ordering::Relaxed) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }
}

/// The curves of a run as a table, one row per instant.
fn curves(sample: Sample) -> Table {
    let column = |name: String, cells: Vec<f64>| Column {
        name,
        cells: Cells::Numbers(cells.into_iter().map(Some).collect()),
    };
    let all: BTreeMap<String, Vec<f64>> = sample.curves;
    let mut columns = vec![column("time_ms".to_string(), sample.times_ms)];
    columns.extend(all.into_iter().map(|(name, cells)| column(name, cells)));
    Table::new("series", columns)
}

fn locked<T, R>(mutex: &Mutex<T>, with: impl FnOnce(&mut T) -> R) -> R {
    with(&mut mutex.lock().expect("nobody panics with the lock held"))
}

#[cfg(test)]
mod tests;
