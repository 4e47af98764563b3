//! Runs that are watched: a bar on long ones, and a clean end when interrupted.

use std::io::{self, IsTerminal};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::Context;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use pauseless_lab::report::{Progress, Run, quantity};
use pauseless_lab::scenario::Scenario;

use crate::INTERRUPTED;

/// Whether to draw a bar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bar {
    /// If it would be seen and is worth it.
    Auto,
    /// No.
    Never,
}

/// Runs `scenario`. On Ctrl-C it ends early, with what was found until then; a second one does
/// not wait for that.
pub fn execute(scenario: Scenario, bar: Bar) -> anyhow::Result<Run> {
    let interrupted = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&interrupted);
    let handler = move || {
        if flag.swap(true, Ordering::Relaxed) {
            std::process::exit(i32::from(INTERRUPTED));
        }
        crate::output::complain(
            "pauseless: stopping with what was found so far; again to quit now",
        );
    };
    ctrlc::set_handler(handler).context("cannot watch for Ctrl-C")?;
    let mut view = View::new(bar);
    let run = Run::execute(scenario, |progress| {
        view.show(progress);
        match interrupted.load(Ordering::Relaxed) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    });
    view.clear();
    Ok(run)
}

/// A bar that appears when a run turns out to be long.
struct View {
    begin: Instant,
    bar: Option<ProgressBar>,
    is_wanted: bool,
}

impl View {
    fn new(bar: Bar) -> View {
        View {
            begin: Instant::now(),
            bar: None,
            is_wanted: bar == Bar::Auto && io::stderr().is_terminal(),
        }
    }

    fn show(&mut self, progress: Progress) {
        if !self.is_wanted || self.begin.elapsed() < PATIENCE {
            return;
        }
        let bar = self.bar.get_or_insert_with(|| {
            let bar = ProgressBar::with_draw_target(
                Some(progress.end.as_ps()),
                ProgressDrawTarget::stderr(),
            );
            let style = ProgressStyle::with_template("{wide_bar} {percent} %  {msg}  {eta} left");
            bar.with_style(style.expect("the template is valid"))
                .with_elapsed(self.begin.elapsed())
        });
        bar.set_position(progress.now.as_ps());
        let (now, end) = (quantity::time(progress.now), quantity::time(progress.end));
        bar.set_message(format!("{now} of {end}"));
    }

    fn clear(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// Shorter runs need no bar.
const PATIENCE: Duration = Duration::from_millis(500);
