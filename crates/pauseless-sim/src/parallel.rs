//! One run on many threads, with the results of one thread to the last bit.
//!
//! The network is divided into parts, each with its own events. A wire between two parts takes at
//! least its delay, so for as long as the shortest of them takes (the window) no part can learn what
//! another one does: all of them go on at the same time, and exchange the frames that have left them
//! when all are done. Within a window the order of events in different parts cannot matter. The same
//! holds for the nodes of a part, which go on alone for as long as the shortest wire takes
//! (`Simulator::run_before`); those of a node come in the order of the whole run.
//!
//! What sees the whole network happens between windows: samples, the progress of flows, the growth of
//! the congestion tree. Two things need the exact order of all events:
//! - A run that ends when all is done ends with the event that did it. A window in which that could
//!   happen is handled event by event over all parts; there is none as long as some flow has more left
//!   than its link can carry in that time.
//! - A deadlock is permanent, so it is enough to look now and then whether there is one. If there is,
//!   the run is repeated in one part, which knows the event that closed the cycle and all its
//!   consequences.

mod gate;
mod lead;
mod partition;
mod whole;

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use pauseless_core::class_map::ClassMap;
use pauseless_core::unit::Time;

use crate::config::{Config, Recovery, Watchdog};
use crate::event::Event;
use crate::heard::{Heard, Lengths};
use crate::outcome::{Deadlock, Outcome};
use crate::simulator::{Message, Simulator};
use gate::Gate;
use lead::Lead;
use partition::{Partition, partition};

/// Why a run cannot be divided into parts; `None` if it can.
pub fn obstacle(config: &Config) -> Option<&'static str> {
    use pauseless_core::flow_control::FlowControl;
    let is_mortal = || config.flows.iter().any(|flow| flow.ttl < crate::config::Flow::TTL_NONE);
    let is_conceptual = |control: &FlowControl| matches!(control, FlowControl::GfcConceptual(_));
    let obstacles: [(&'static str, bool); 8] = [
        ("the network changes during the run", !config.changes.is_empty()),
        ("it records where pauses come from", config.is_tracing),
        ("it ends when the state is steady", config.stop.steady.is_some()),
        ("watchdogs act on deadlocks", config.mitigation.watchdog != Watchdog::Off),
        ("deadlocks are broken", config.mitigation.recovery != Recovery::None),
        ("conceptual GFC uses no wires", config.ingress.any(is_conceptual)),
        ("packets have a time to live", is_mortal()),
        (
            "it ends when all is done, and packets may end for want of a class",
            config.stop.done && config.classes != ClassMap::Same,
        ),
    ];
    obstacles.iter().find(|(_, is_one)| *is_one).map(|(why, _)| *why)
}

/// The number of threads, of at most `cores`, that a run can use well: where little happens in a
/// window, threads would mostly wait for each other.
pub fn threads_for(config: &Config, cores: usize) -> usize {
    /// The least packet-hops of a thread in a window for each other thread that it waits for.
    const HOPS_PER_WAIT: u64 = 100;
    /// The least packet-hops of a thread in a whole run, so that dividing the network pays.
    const HOPS: u64 = 200_000;
    if cores < 2 || obstacle(config).is_some() {
        return 1;
    }
    let Some(Partition { load, lookahead, .. }) = partition(config, cores) else {
        return 1;
    };
    let is_busy = |threads: &usize| {
        let count = *threads as u64;
        load.hops >= count * HOPS && load.hops_in(lookahead) >= count * (count - 1) * HOPS_PER_WAIT
    };
    (2..=cores).rev().find(is_busy).unwrap_or(1)
}

/// The number of parts of a run on this many threads.
fn parts_for(threads: usize) -> usize {
    match threads {
        0 | 1 => 1,
        _ => threads * PARTS_PER_THREAD,
    }
}

/// A run in progress, on one thread or on many.
#[derive(Debug)]
pub struct Parallel<'c> {
    config: &'c Config,
    threads: usize,
    inner: Inner<'c>,
    /// Whether the run has started again since the caller last asked.
    has_restarted: bool,
}

#[derive(Debug)]
enum Inner<'c> {
    One(Box<Simulator<'c>>),
    Many(Box<Parts<'c>>),
}

/// A run that is divided into parts.
#[derive(Debug)]
struct Parts<'c> {
    cells: Vec<Mutex<Simulator<'c>>>,
    /// The frames sent to each part that it has not received yet.
    mail: Vec<Mutex<Vec<Message>>>,
    /// The instant of the next event of each part, in picoseconds.
    nexts: Vec<AtomicU64>,
    lead: Mutex<Lead<'c>>,
}

/// The number of parts per thread, so that a thread with less work can take over some.
const PARTS_PER_THREAD: usize = 4;

impl<'c> From<Simulator<'c>> for Parallel<'c> {
    /// A run in one part, with the probes and taps that were set up in it.
    fn from(simulator: Simulator<'c>) -> Parallel<'c> {
        Parallel {
            config: simulator.config,
            threads: 1,
            has_restarted: false,
            inner: Inner::One(Box::new(simulator)),
        }
    }
}

impl<'c> Parallel<'c> {
    /// A run at time zero, on this many threads.
    pub fn new(config: &'c Config, threads: usize) -> Parallel<'c> {
        Parallel::in_parts(config, threads, parts_for(threads))
    }

    /// A run at time zero in this many parts, or fewer if the network is too small.
    pub fn in_parts(config: &'c Config, threads: usize, parts: usize) -> Parallel<'c> {
        let threads = threads.max(1);
        let found = match obstacle(config) {
            None => partition(config, parts).or_else(|| Some(Partition::whole(config))),
            Some(_) => None,
        };
        let whole = Simulator::new(config);
        let inner = match found {
            None => Inner::One(Box::new(whole)),
            Some(partition) => Inner::Many(Box::new(Parts::new(whole, partition))),
        };
        Parallel { config, threads, inner, has_restarted: false }
    }

    /// Runs to the end.
    pub fn run(mut self) -> Outcome {
        while self.advance(Time::ZERO + self.config.duration) {}
        self.finish()
    }

    /// Runs until `until` or the end of the run; returns whether anything is left to do. After a
    /// deadlock in a run of several parts the run starts again at time zero in one part, so that
    /// the caller can observe it.
    pub fn advance(&mut self, until: Time) -> bool {
        match &mut self.inner {
            Inner::One(simulator) => return simulator.advance(until),
            Inner::Many(parts) => {
                let is_more = parts.advance(self.threads, until);
                if !parts.is_deadlocked() {
                    return is_more;
                }
            }
        }
        self.repeat();
        true
    }

    /// Starts the run again in one part.
    fn repeat(&mut self) {
        self.inner = Inner::One(Box::new(Simulator::new(self.config)));
        self.has_restarted = true;
    }

    /// Looks for a deadlock that was not seen yet, after which the run may have started again; see
    /// [`Parallel::restarted`].
    pub fn conclude(&mut self) {
        if let Inner::Many(parts) = &mut self.inner
            && parts.look_for_deadlock()
        {
            let now = self.now();
            self.repeat();
            self.advance(now);
        }
    }

    /// Whether the run has started again since the last call: then everything that was taken from
    /// it comes once more.
    pub fn restarted(&mut self) -> bool {
        std::mem::take(&mut self.has_restarted)
    }

    /// The PFC frames since this was last asked, as [`Simulator::take_heard`] of all parts.
    pub fn take_heard(&mut self) -> Vec<Heard> {
        match &mut self.inner {
            Inner::One(simulator) => simulator.take_heard(),
            Inner::Many(parts) => {
                let cells = parts.cells.iter();
                let mut heard = Vec::from_iter(cells.flat_map(|cell| lock(cell).take_heard()));
                heard.sort_unstable();
                heard
            }
        }
    }

    /// The lengths of all watched queues, as [`Simulator::queue_lengths`] of all parts.
    pub fn queue_lengths(&mut self, now: Time) -> Vec<Lengths> {
        match &mut self.inner {
            Inner::One(simulator) => simulator.queue_lengths(now),
            Inner::Many(parts) => {
                let lengths = parts.cells.iter().flat_map(|cell| lock(cell).queue_lengths(now));
                let mut lengths = Vec::from_iter(lengths);
                lengths.sort_unstable_by_key(|queue| (queue.node, queue.port));
                lengths
            }
        }
    }

    /// Simulated time so far.
    pub fn now(&self) -> Time {
        match &self.inner {
            Inner::One(simulator) => simulator.now(),
            Inner::Many(parts) => parts.lead().now(),
        }
    }

    /// How many parts there are.
    pub fn part_count(&self) -> usize {
        match &self.inner {
            Inner::One(_) => 1,
            Inner::Many(parts) => parts.cells.len(),
        }
    }

    /// The deadlock that was found, as soon as it was.
    pub fn deadlock(&self) -> Option<&Deadlock> {
        match &self.inner {
            Inner::One(simulator) => simulator.deadlock(),
            Inner::Many(_) => None,
        }
    }

    /// An estimate of the heap memory in use, for benchmarks.
    pub fn heap_bytes(&self) -> usize {
        match &self.inner {
            Inner::One(simulator) => simulator.heap_bytes(),
            Inner::Many(parts) => parts.cells.iter().map(|cell| lock(cell).heap_bytes()).sum(),
        }
    }

    /// Checks that no byte is unaccounted for, and returns what was found.
    pub fn finish(mut self) -> Outcome {
        self.conclude();
        match self.inner {
            Inner::One(simulator) => simulator.finish(),
            Inner::Many(parts) => parts.merge().finish(),
        }
    }
}

/// Locks a mutex; if another thread had panicked while holding it, this one would not run any more.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().expect("no other thread has panicked")
}

impl<'c> Parts<'c> {
    /// Divides a run that has not begun.
    fn new(mut whole: Simulator<'c>, partition: Partition) -> Parts<'c> {
        let count = partition.count;
        let mut parts = whole::split(&mut whole, &partition);
        let nexts = parts.iter().map(|part| AtomicU64::new(part.queue.next().as_ps())).collect();
        Parts {
            mail: (0..count).map(|_| Mutex::default()).collect(),
            nexts,
            cells: parts.drain(..).map(Mutex::new).collect(),
            lead: Mutex::new(Lead::new(whole, partition)),
        }
    }

    fn lead(&self) -> std::sync::MutexGuard<'_, Lead<'c>> {
        lock(&self.lead)
    }

    fn is_deadlocked(&self) -> bool {
        self.lead().is_deadlocked()
    }

    /// Runs until `until` or the end of the run; returns whether anything is left to do.
    fn advance(&mut self, threads: usize, until: Time) -> bool {
        let threads = threads.min(self.cells.len());
        let plan = Plan {
            limit: AtomicU64::new(0),
            key: AtomicU64::new(0),
            is_over: AtomicUsize::new(0),
            claims: self.cells.iter().map(|_| AtomicUsize::new(0)).collect(),
            gate: Gate::new(threads),
            until,
        };
        self.plan(&plan);
        std::thread::scope(|scope| {
            for thread in 1..threads {
                let (parts, plan) = (&*self, &plan);
                scope.spawn(move || parts.work(plan, thread, threads));
            }
            self.work(&plan, 0, threads);
        });
        self.lead().is_more(until)
    }

    /// What thread number `thread` of `threads` does.
    fn work(&self, plan: &Plan, thread: usize, threads: usize) {
        let _watch = plan.gate.watch();
        let count = self.cells.len();
        let own = thread * count / threads;
        let mut round = 0;
        while plan.is_over.load(Ordering::Acquire) == 0 {
            round += 1;
            let limit = plan.limit();
            for place in 0..count {
                let part = (own + place) % count;
                if plan.claims[part].swap(round, Ordering::AcqRel) != round {
                    self.run_part(part, limit);
                }
            }
            if !plan.gate.wait(|| self.plan(plan)) {
                return;
            }
        }
    }

    /// Lets one part handle its events before `limit`.
    fn run_part(&self, part: usize, limit: Event) {
        let mut cell = lock(&self.cells[part]);
        let mut mail = lock(&self.mail[part]);
        for message in mail.drain(..) {
            cell.accept(message);
        }
        drop(mail);
        cell.run_before(limit);
        let mut next = cell.queue.next();
        if let Some(away) = &mut cell.away {
            next = next.min(away.take_earliest());
            let boxes = away.outbox.iter_mut().enumerate();
            for (to, messages) in boxes.filter(|(_, messages)| !messages.is_empty()) {
                lock(&self.mail[to]).append(messages);
            }
        }
        self.nexts[part].store(next.as_ps(), Ordering::Release);
    }

    /// Plans the next window, between two windows.
    fn plan(&self, plan: &Plan) {
        let mut lead = self.lead();
        match lead.plan(self, plan.until) {
            Some(limit) => plan.set(limit),
            None => plan.is_over.store(1, Ordering::Release),
        }
    }

    /// Whether there is a deadlock now.
    fn look_for_deadlock(&mut self) -> bool {
        let mut lead = self.lead();
        lead.look_for_deadlock(self)
    }

    /// Merges all parts into one run, which cannot be continued.
    fn merge(self) -> Simulator<'c> {
        let lead = self.lead.into_inner().expect("no thread has panicked");
        let inner = |cell: Mutex<Simulator<'c>>| cell.into_inner().expect("no thread has panicked");
        let mut parts = Vec::from_iter(self.cells.into_iter().map(inner));
        for (part, mail) in parts.iter_mut().zip(self.mail) {
            for message in mail.into_inner().expect("no thread has panicked") {
                part.accept(message);
            }
        }
        lead.merge(parts)
    }
}

/// The state that all threads share while they advance a run.
#[derive(Debug)]
struct Plan {
    /// The time of the event before which parts stop; `key` is the rest of it.
    limit: AtomicU64,
    key: AtomicU64,
    /// 1 when there is no further window.
    is_over: AtomicUsize,
    /// The window for which each part was claimed last.
    claims: Vec<AtomicUsize>,
    gate: Gate,
    until: Time,
}

impl Plan {
    fn set(&self, limit: Event) {
        let (time, key) = limit.words();
        self.limit.store(time, Ordering::Release);
        self.key.store(key, Ordering::Release);
    }

    fn limit(&self) -> Event {
        let time = self.limit.load(Ordering::Acquire);
        Event::from_words(time, self.key.load(Ordering::Acquire))
    }
}
