//! The barrier at which threads wait for each other.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};

/// A barrier: lets threads pass when all of them have arrived and the last one has done what comes
/// in between.
#[derive(Debug)]
pub(super) struct Gate {
    threads: usize,
    looks: usize,
    arrived: AtomicUsize,
    round: AtomicUsize,
    /// Whether a thread has panicked, so that the others must not wait for it.
    is_broken: AtomicBool,
    sleepers: Mutex<usize>,
    wake: Condvar,
}

/// How often a thread polls before it sleeps, if it has a core: about as long as waking up would
/// take.
const LOOKS: usize = 1_000;

impl Gate {
    pub(super) fn new(threads: usize) -> Gate {
        let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        Gate {
            threads,
            looks: if threads <= cores { LOOKS } else { 0 },
            arrived: AtomicUsize::new(0),
            round: AtomicUsize::new(0),
            is_broken: AtomicBool::new(false),
            sleepers: Mutex::new(0),
            wake: Condvar::new(),
        }
    }

    /// Waits for all threads. The last one calls `between` before any continues. Returns whether no
    /// thread has panicked.
    pub(super) fn wait(&self, between: impl FnOnce()) -> bool {
        let round = self.round.load(Ordering::Acquire);
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.threads {
            between();
            self.arrived.store(0, Ordering::Relaxed);
            self.round.fetch_add(1, Ordering::Release);
            self.wake_all();
        } else {
            self.await_round_after(round);
        }
        !self.is_broken.load(Ordering::Acquire)
    }

    fn is_open(&self, round: usize) -> bool {
        self.round.load(Ordering::Acquire) != round || self.is_broken.load(Ordering::Acquire)
    }

    fn await_round_after(&self, round: usize) {
        for _ in 0..self.looks {
            if self.is_open(round) {
                return;
            }
            std::hint::spin_loop();
        }
        let mut sleepers = self.sleepers.lock().unwrap_or_else(PoisonError::into_inner);
        *sleepers += 1;
        while !self.is_open(round) {
            let woken = self.wake.wait(sleepers);
            sleepers = woken.unwrap_or_else(PoisonError::into_inner);
        }
        *sleepers -= 1;
    }

    fn wake_all(&self) {
        // A thread that has not seen the new round holds this lock until it sleeps.
        let sleepers = self.sleepers.lock();
        if *sleepers.unwrap_or_else(PoisonError::into_inner) > 0 {
            self.wake.notify_all();
        }
    }

    /// A guard that each thread keeps while it works.
    pub(super) fn watch(&self) -> Watch<'_> {
        Watch(self)
    }
}

/// Breaks the gate if its thread panics, so that the others end too.
pub(super) struct Watch<'g>(&'g Gate);

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.is_broken.store(true, Ordering::Release);
            self.0.wake_all();
        }
    }
}
