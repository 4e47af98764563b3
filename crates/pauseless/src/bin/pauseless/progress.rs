//! Runs that are watched: a bar on long ones, and a clean end when interrupted.

use std::io::{self, IsTerminal};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use anyhow::Context;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use pauseless_compat::hpcc::{self, Case};
use pauseless_experiments::repro::text::duration;
use pauseless_run::capture::Ports;
use pauseless_run::{Progress, Run};
use pauseless_scenario::Scenario;
use pauseless_text::quantity;
use pauseless_text::terminal::{Paint, printable};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::INTERRUPTED;
use crate::output::tell;

/// Whether to draw a progress bar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bar {
    /// A bar is drawn on a terminal, if the run is long.
    Auto,
    /// No bar is drawn.
    Never,
}

/// The state of Ctrl-C and similar signals.
pub struct Interrupt {
    flag: Arc<AtomicBool>,
}

impl Interrupt {
    /// Starts to watch signals. The first Ctrl-C ends the work early, with the results until then;
    /// a second one ends the process at once.
    pub fn watch() -> anyhow::Result<Interrupt> {
        let flag = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&flag);
        let mut signals = Signals::new(signals()).context("cannot watch for Ctrl-C")?;
        std::thread::spawn(move || {
            for _ in signals.forever() {
                if seen.swap(true, Ordering::Relaxed) {
                    #[cfg(target_os = "linux")]
                    pauseless_testbed::node::screen::restore();
                    std::process::exit(i32::from(INTERRUPTED));
                }
                crate::output::complain(
                    "pauseless: stopping with what was found so far; again to quit now",
                );
            }
        });
        Ok(Interrupt { flag })
    }

    /// Whether the work may continue.
    pub fn flow(&self) -> ControlFlow<()> {
        if self.flag.load(Ordering::Relaxed) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }
}

/// The signals that ask to stop. A process that was started with `nohup` ignores SIGHUP.
fn signals() -> Vec<i32> {
    let mut signals = vec![SIGINT, SIGTERM];
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    if ignored.is_none_or(|mask| mask & 1 << (SIGHUP - 1) == 0) {
        signals.push(SIGHUP);
    }
    signals
}

/// Runs `scenario` on this many threads, until it is interrupted.
pub fn execute(scenario: Scenario, threads: usize, bar: Bar) -> anyhow::Result<Run> {
    watched(bar, |watch| Run::execute_on(threads, scenario, watch))
}

/// Runs the files of another simulator; also returns the files that were written.
pub fn execute_case(
    scenario: Scenario,
    case: &Case,
    threads: usize,
    bar: Bar,
) -> anyhow::Result<(Run, Vec<PathBuf>)> {
    let done = watched(bar, |watch| hpcc::execute(scenario, case, threads, watch));
    Ok(done??)
}

/// Runs a scenario and captures the frames of `ports`; also returns the number of frames.
pub fn capture(
    scenario: Scenario,
    path: &Path,
    ports: Ports,
    bar: Bar,
) -> anyhow::Result<io::Result<(Run, u64)>> {
    watched(bar, |watch| Run::capture(scenario, path, ports, watch))
}

/// Does some work with a bar, until it is interrupted.
fn watched<R>(
    bar: Bar,
    work: impl FnOnce(&mut dyn FnMut(Progress) -> ControlFlow<()>) -> R,
) -> anyhow::Result<R> {
    let interrupt = Interrupt::watch()?;
    let mut view = View::new(bar);
    let done = work(&mut |progress| {
        view.show(progress);
        interrupt.flow()
    });
    view.clear();
    Ok(done)
}

/// Does work of which nobody knows how long it takes, beside a line that says for how long it has
/// been done.
pub fn busy<R>(name: &str, bar: Bar, work: impl FnOnce() -> R) -> R {
    if bar == Bar::Never || !io::stderr().is_terminal() {
        return work();
    }
    let name = printable(name, Paint::Plain).into_owned();
    let (end, ended) = mpsc::channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            // The other end is dropped when the work is done; nothing is ever sent.
            if ended.recv_timeout(PATIENCE) != Err(RecvTimeoutError::Timeout) {
                return;
            }
            let line = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            let style = ProgressStyle::with_template("{spinner} {prefix}  {elapsed}");
            let line = line.with_style(style.expect("the template is valid")).with_prefix(name);
            let line = line.with_elapsed(PATIENCE);
            line.enable_steady_tick(Duration::from_millis(200));
            let _ = ended.recv();
            line.finish_and_clear();
        });
        let _end = end;
        work()
    })
}

/// A bar for work in many equal pieces, done by several threads.
pub struct Count {
    name: String,
    begin: Instant,
    bar: OnceLock<ProgressBar>,
    template: &'static str,
    is_wanted: bool,
}

impl Count {
    /// A bar that appears only if the work takes long, and never if `is_quiet`.
    pub fn new(name: &str, is_quiet: bool) -> Count {
        Count {
            name: name.to_string(),
            begin: Instant::now(),
            bar: OnceLock::new(),
            template: "{prefix} {wide_bar} {pos} of {len}  {msg}",
            is_wanted: !is_quiet && io::stderr().is_terminal(),
        }
    }

    /// A bar for work that is measured in parts of its time, of which nobody wants to know the number.
    pub fn of_time(name: &str) -> Count {
        Count { template: "{prefix} {wide_bar} {percent} %  {msg}", ..Count::new(name, false) }
    }

    /// Writes a line to stderr, above the bar if there is one.
    pub fn say(&self, line: &str) {
        match self.bar.get() {
            Some(bar) => bar.suspend(|| crate::output::complain(line)),
            None => crate::output::complain(line),
        }
    }

    /// Shows that `done` of `total` pieces are done, and how long the others take at that speed.
    pub fn show(&self, done: usize, total: usize, message: &str) {
        let left = left(done as u64, total as u64, self.begin.elapsed());
        let words = [message, &left].into_iter().filter(|words| !words.is_empty());
        self.draw(done, total, &Vec::from_iter(words).join("  "));
    }

    /// Shows that `done` of `total` pieces are done.
    fn draw(&self, done: usize, total: usize, message: &str) {
        if !self.is_wanted || self.begin.elapsed() < PATIENCE {
            return;
        }
        let bar = self.bar.get_or_init(|| {
            let target = ProgressDrawTarget::stderr();
            let bar = ProgressBar::with_draw_target(Some(total as u64), target);
            let style = ProgressStyle::with_template(self.template);
            bar.with_style(style.expect("the template is valid"))
                .with_prefix(printable(&self.name, Paint::Plain).into_owned())
                .with_elapsed(self.begin.elapsed())
        });
        bar.set_length(total as u64);
        bar.set_position(done as u64);
        bar.set_message(printable(message, Paint::Plain).into_owned());
    }

    /// Removes the bar from the terminal.
    pub fn clear(&self) {
        if let Some(bar) = self.bar.get() {
            bar.finish_and_clear();
        }
    }
}

/// The display of a campaign: a bar on a terminal, else a line now and then in the log.
pub struct Campaign {
    count: Count,
    is_logging: bool,
    logged: Mutex<Instant>,
}

impl Campaign {
    /// A display that shows nothing if `is_quiet`.
    pub fn new(name: &str, is_quiet: bool) -> Campaign {
        Campaign {
            count: Count::new(name, is_quiet),
            is_logging: !is_quiet && !io::stderr().is_terminal(),
            logged: Mutex::new(Instant::now()),
        }
    }

    /// Shows that of `total` runs `before` were done by earlier calls and `since` by this one, and
    /// what was found.
    pub fn show(&self, before: usize, since: usize, total: usize, found: &dyn Fn() -> String) {
        let done = before + since;
        let message = || {
            // Runs that were done before do not count for the rate.
            let rate = since as f64 / self.count.begin.elapsed().as_secs_f64();
            match since {
                0 => found(),
                _ => {
                    let left = duration((total - done) as f64 / rate);
                    format!("{rate:.1}/s, {left} left, {}", found())
                }
            }
        };
        if self.count.is_wanted {
            self.count.draw(done, total, &message());
        }
        if !self.is_logging || since == 0 {
            return;
        }
        let mut logged = self.logged.lock().expect("nobody panics with the lock held");
        if logged.elapsed() >= LOGGED_EVERY {
            *logged = Instant::now();
            tell!("{done} of {total} runs, {}", message());
        }
    }

    /// Removes the bar from the terminal.
    pub fn clear(&self) {
        self.count.clear();
    }
}

/// A bar that appears when a run turns out to be long.
pub struct View {
    begin: Instant,
    bar: Option<ProgressBar>,
    is_wanted: bool,
}

impl View {
    /// A bar that is not shown yet.
    pub fn new(bar: Bar) -> View {
        View {
            begin: Instant::now(),
            bar: None,
            is_wanted: bar == Bar::Auto && io::stderr().is_terminal(),
        }
    }

    /// Shows the progress of the run.
    pub fn show(&mut self, progress: Progress) {
        if !self.is_wanted || self.begin.elapsed() < PATIENCE {
            return;
        }
        let bar = self.bar.get_or_insert_with(|| {
            let bar = ProgressBar::with_draw_target(
                Some(progress.end.as_ps()),
                ProgressDrawTarget::stderr(),
            );
            let style = ProgressStyle::with_template("{wide_bar} {percent} %  {msg}");
            bar.with_style(style.expect("the template is valid")).with_elapsed(self.begin.elapsed())
        });
        bar.set_position(progress.now.as_ps());
        let (now, end) = (quantity::time(progress.now), quantity::time(progress.end));
        let left = left(progress.now.as_ps(), progress.end.as_ps(), self.begin.elapsed());
        bar.set_message(format!("{now} of {end}  {left}"));
    }

    /// Removes the bar from the terminal.
    pub fn clear(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// How long the rest of some work takes if it goes on as it has done so far. Nothing is known before
/// the first piece is done.
fn left(done: u64, total: u64, since: Duration) -> String {
    if done == 0 {
        return String::new();
    }
    let seconds = since.as_secs_f64() * total.saturating_sub(done) as f64 / done as f64;
    format!("{} left", duration(seconds))
}

/// The time after which a bar appears.
const PATIENCE: Duration = Duration::from_millis(500);
/// The time between two lines in the log of a campaign.
const LOGGED_EVERY: Duration = Duration::from_secs(30);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_left_is_what_the_rest_takes_at_the_speed_so_far() {
        let since = Duration::from_secs(10);
        assert_eq!(left(5, 20, since), "30 s left");
        assert_eq!(left(1, 61, since), "10 min left");
        assert_eq!(left(20, 20, since), "1 s left");
        assert_eq!(left(0, 20, since), "", "nothing is known yet");
    }
}
