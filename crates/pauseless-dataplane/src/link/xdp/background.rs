//! System calls that take tens of milliseconds, made outside the thread that forwards frames.

use std::io;
use std::mem;
use std::thread::{self, JoinHandle};

/// Work that another thread does. Dropping it waits until it is done.
#[derive(Debug)]
pub struct Background<T> {
    thread: Option<JoinHandle<T>>,
}

impl<T: Send + 'static> Background<T> {
    /// Starts `work` in the namespace and with the rights of the calling thread. If no thread can
    /// be started, `work` is dropped.
    pub fn start(work: impl FnOnce() -> T + Send + 'static) -> io::Result<Background<T>> {
        let thread = thread::Builder::new().spawn(|| {
            leave_core();
            work()
        })?;
        let thread = Some(thread);
        Ok(Background { thread })
    }

    /// Whether the work is done.
    pub fn is_done(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// The result, once the work is done.
    pub fn result(mut self) -> Option<T> {
        self.thread.take()?.join().ok()
    }
}

impl<T> Drop for Background<T> {
    fn drop(&mut self) {
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Lets the thread use all cores: a node may have a core to itself, which its background work would
/// share.
fn leave_core() {
    let all = [u8::MAX; 128];
    // SAFETY: the kernel reads as many bytes as there are, and takes from them the cores that this
    // thread may have. If it may have no other, it stays.
    unsafe { libc::sched_setaffinity(0, mem::size_of_val(&all), all.as_ptr().cast()) };
}
