//! The section `[verdict]`: what is called starvation, and when the question is answered.

use pauseless_core::unit::Span;
use pauseless_sim::Config;
use pauseless_sim::config::{Steady, Stop};

pub use super::flows::TIMES;
use pauseless_text::declare::{Declared, FileValue, Filled, Info, Key, Kind, Permille};
use pauseless_text::file::File;
use pauseless_text::reader::{At, Item, Section, did_you_mean, quoted};
use pauseless_text::section;

/// What may end a run before its time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StopOn {
    /// A deadlock was found.
    pub deadlock: bool,
    /// All flows are done.
    pub done: bool,
    /// A steady state was reached.
    pub steady: bool,
}

impl StopOn {
    /// No finding ends the run.
    pub const NONE: StopOn = StopOn { deadlock: false, done: false, steady: false };

    /// Only a deadlock ends the run.
    pub const DEADLOCK: StopOn = StopOn { deadlock: true, ..StopOn::NONE };

    /// The words for them.
    pub const NAMES: [&str; 3] = ["deadlock", "done", "steady"];

    /// Adds one of [`StopOn::NAMES`]; whether it is one.
    pub fn add(&mut self, name: &str) -> bool {
        match name {
            "deadlock" => self.deadlock = true,
            "done" => self.done = true,
            "steady" => self.steady = true,
            _ => return false,
        }
        true
    }
}

/// The name of the section.
pub const SECTION: &str = "verdict";
/// Windows that the duration is cut into, unless their length is written: as for starvation.
const WINDOWS_IN_DURATION: u64 = 64;

section! {
    /// What is called starvation, and when the question of a run is answered.
    pub struct Verdict {
        /// A flow that gets less than this share of its max-min fair rate lags behind, and starves if
        /// that lasts (docs/metrics.md).
        starvation_share: Permille, default Permille(100);
        /// End the run when its question is answered; any of `"deadlock"`, `"done"`, `"steady"`.
        /// `pauseless run --stop-on deadlock,done` says so instead.
        stop_on: StopOn, derived "`[]`";
        /// As `stop_on` used to be written: `true` is `stop_on = ["deadlock"]`.
        stop_on_deadlock: bool, derived "`false`";
        /// What counts as a steady state, where `stop_on` has `"steady"`.
        steady: SteadyKeys;
    }
}

section! {
    /// What counts as a steady state, where `stop_on` has `"steady"`.
    pub struct SteadyKeys {
        /// Time is cut into windows of this length, to begin with.
        window: Span, within Span::ns(1)..=*TIMES.end(), derived "a 64th of `duration`";
        /// The number of windows in a row that are held against each other. With fewer there is no
        /// trend, and with more every one would have to be like every other for ever.
        windows: u32, within 4..=64, default 8;
        /// How far each of them may be from their mean, as a share of it.
        tolerance: Permille, within 1..=1_000, default Permille(10);
    }
}

/// The section, for documents and schemas.
pub(crate) fn info() -> Info {
    Verdict::info()
}

impl FileValue for StopOn {
    type Limit = ();

    fn take(item: Item<'_>, (): &()) -> Option<At<StopOn>> {
        let sink = item.sink();
        let At { value: words, place } = item.strings("a list of strings")?;
        let mut value = StopOn::NONE;
        for At { value: word, place } in words {
            if !value.add(&word) {
                let problem = place.problem(format!("unknown value {word:?}"));
                let problem = problem.expected(format!("any of {}", quoted(&StopOn::NAMES)));
                sink.push(problem.help(did_you_mean(&word, StopOn::NAMES)));
            }
        }
        Some(At { value, place })
    }

    fn kind((): &()) -> Kind {
        Kind::List { of: Box::new(Kind::Word(StopOn::NAMES.to_vec())), least: 0, most: None }
    }

    fn show(&self) -> String {
        let names = StopOn::NAMES.into_iter().zip([self.deadlock, self.done, self.steady]);
        let set = Vec::from_iter(names.filter(|(_, is_set)| *is_set).map(|(name, _)| name));
        format!("[{}]", quoted(&set))
    }
}

impl Verdict {
    pub(crate) fn read_from(root: &mut Section<'_>) -> Verdict {
        let Some(mut section) = root.table(SECTION) else {
            return Verdict::default();
        };
        let mut keys = Verdict::read(&mut section);
        if keys.stop_on.is_written && keys.stop_on_deadlock.is_written {
            let problem = keys.place.problem("both stop_on and stop_on_deadlock are written");
            section.report(problem.help("keep stop_on, with \"deadlock\" in it if that is wanted"));
        }
        if keys.stop_on_deadlock.or(false) {
            keys.stop_on = Key::of(StopOn::DEADLOCK);
        }
        section.finish();
        keys
    }

    /// What ends a run that lasts for `duration` at most.
    pub(crate) fn stop(&self, duration: Span) -> Stop {
        let stop_on = self.stop_on.or(StopOn::NONE);
        let steady = self.steady.get().cloned().unwrap_or_default();
        let window = Span::ps((duration.as_ps() / WINDOWS_IN_DURATION).max(1));
        let steady = Steady {
            window: steady.window.or(window),
            windows: steady.windows.value,
            tolerance_permille: steady.tolerance.value.0,
        };
        Stop {
            deadlock: stop_on.deadlock,
            done: stop_on.done,
            steady: stop_on.steady.then_some(steady),
        }
    }
}

/// Writes `[verdict]` with nothing left out.
pub(crate) fn write(file: &mut File, config: &Config) {
    let stop = &config.stop;
    let stop_on =
        StopOn { deadlock: stop.deadlock, done: stop.done, steady: stop.steady.is_some() };
    let steady = stop.steady.map(|steady| SteadyKeys {
        window: Key::of(steady.window),
        windows: Filled::new(steady.windows),
        tolerance: Filled::new(Permille(steady.tolerance_permille)),
        ..SteadyKeys::default()
    });
    let keys = Verdict {
        starvation_share: Filled::new(Permille(config.starvation_permille)),
        stop_on: Key::of(stop_on),
        steady: steady.map_or(Key::default(), Key::of),
        ..Verdict::default()
    };
    file.table(SECTION, &keys);
}
