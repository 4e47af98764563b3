//! Many runs at once; what comes of them does not depend on how many threads there are.

use std::num::NonZero;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

use pauseless_core::unit::Time;

use super::plan::{Case, Plan};
use pauseless_run::Run;
use pauseless_scenario::{Overrides, Problems, Scenario};

/// When the runs of a plan may end.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Until {
    /// All runs, to their end.
    End,
    /// As soon as one run deadlocks.
    Deadlock,
}

/// Runs the cases of a plan, and says how far it is.
pub(super) struct Bench<P> {
    pub plan: Plan,
    pub threads: NonZero<usize>,
    pub progress: P,
    /// The number of runs so far.
    pub done: usize,
    /// The number of all runs, as far as is known.
    pub total: usize,
}

impl<P: FnMut(usize, usize) -> ControlFlow<()>> Bench<P> {
    /// When each case deadlocks; `None` when it was broken off.
    pub(super) fn times(&mut self, cases: &[Case]) -> Option<Vec<Option<Time>>> {
        self.run(cases, Until::End)
    }

    /// Whether any case deadlocks; `None` when it was broken off.
    pub(super) fn any(&mut self, cases: &[Case]) -> Option<bool> {
        Some(self.run(cases, Until::Deadlock)?.iter().any(Option::is_some))
    }

    fn run(&mut self, cases: &[Case], until: Until) -> Option<Vec<Option<Time>>> {
        let mut times = vec![None; cases.len()];
        let (next, is_over) = (AtomicUsize::new(0), AtomicBool::new(false));
        let queue = Queue { plan: &self.plan, cases, next: &next, is_over: &is_over };
        let (sender, receiver) = mpsc::channel();
        thread::scope(|scope| {
            for _ in 0..self.threads.get().min(cases.len()) {
                let sender = sender.clone();
                scope.spawn(move || queue.work(&sender));
            }
            drop(sender);
            let base = self.done;
            loop {
                match receiver.recv_timeout(PATIENCE) {
                    Ok((index, time)) => {
                        times[index] = time;
                        self.done += 1;
                        if time.is_some() && until == Until::Deadlock {
                            is_over.store(true, Ordering::Relaxed);
                        }
                    }
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => break,
                }
                if (self.progress)(self.done, self.total).is_break() {
                    is_over.store(true, Ordering::Relaxed);
                    return None;
                }
            }
            // Those that nobody needs any more count as done.
            self.done = base + cases.len();
            Some(times)
        })
    }
}

/// What the threads that make the runs share.
#[derive(Clone, Copy)]
struct Queue<'q> {
    plan: &'q Plan,
    cases: &'q [Case],
    next: &'q AtomicUsize,
    is_over: &'q AtomicBool,
}

impl Queue<'_> {
    fn work(self, sender: &Sender<(usize, Option<Time>)>) {
        while !self.is_over.load(Ordering::Relaxed) {
            let index = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(case) = self.cases.get(index) else {
                return;
            };
            let scenario = parse(&self.plan.text(case)).expect("the first case was valid");
            let run = Run::execute(scenario, |_| {
                if self.is_over.load(Ordering::Relaxed) {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                }
            });
            assert!(run.outcome.loss.is_none(), "derived parameters lose nothing");
            let deadlock = run.outcome.deadlock.as_ref();
            // Nobody listens any more when it was broken off.
            let _ = sender.send((index, deadlock.map(|deadlock| deadlock.time)));
        }
    }
}

/// Reads the text of a case as `pauseless run` would.
pub(super) fn parse(text: &str) -> Result<Scenario, Problems> {
    Scenario::parse("cycle", text, &Overrides::default())
}

/// How long nobody is asked whether to go on.
const PATIENCE: Duration = Duration::from_millis(50);
