//! The section `[verdict]`: what is called starvation, and when the question is answered.

use pauseless_core::unit::Span;
use pauseless_sim::config::{Steady, Stop};

use super::file::File;
use super::flows::TIMES;
use super::reader::{At, Item, Section, did_you_mean, quoted};

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
    /// Nothing does.
    pub const NONE: StopOn = StopOn {
        deadlock: false,
        done: false,
        steady: false,
    };

    /// Only a deadlock does.
    pub const DEADLOCK: StopOn = StopOn {
        deadlock: true,
        ..StopOn::NONE
    };

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

/// `[verdict]`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Verdicts {
    pub starvation_permille: u32,
    pub stop_on: StopOn,
    steady: WrittenSteady,
}

/// `[verdict.steady]` as it was written.
#[derive(Clone, Copy, Debug, Default)]
struct WrittenSteady {
    window: Option<Span>,
    windows: Option<u32>,
    tolerance_permille: Option<u32>,
}

/// Windows that the duration is cut into, unless their length is written: as for starvation.
const WINDOWS_IN_DURATION: u64 = 64;
const WINDOWS: u32 = 8;
const TOLERANCE_PERMILLE: u32 = 10;
/// With fewer there is no trend, and with more every one would have to be like every other for ever.
const WINDOWS_RANGE: std::ops::RangeInclusive<u64> = 4..=64;

impl Verdicts {
    pub(crate) fn read(root: &mut Section<'_>) -> Verdicts {
        let mut verdicts = Verdicts {
            starvation_permille: 100,
            stop_on: StopOn::NONE,
            steady: WrittenSteady::default(),
        };
        if let Some(mut section) = root.table("verdict") {
            if let Some(share) = section.take("starvation_share").and_then(Item::permille) {
                verdicts.starvation_permille = share.value;
            }
            verdicts.stop_on = read_stop_on(&mut section);
            verdicts.steady = WrittenSteady::read(&mut section);
            section.finish();
        }
        verdicts
    }

    /// What ends a run that lasts for `duration` at most.
    pub(crate) fn stop(&self, duration: Span) -> Stop {
        let window = Span::ps((duration.as_ps() / WINDOWS_IN_DURATION).max(1));
        let steady = Steady {
            window: self.steady.window.unwrap_or(window),
            windows: self.steady.windows.unwrap_or(WINDOWS),
            tolerance_permille: self.steady.tolerance_permille.unwrap_or(TOLERANCE_PERMILLE),
        };
        Stop {
            deadlock: self.stop_on.deadlock,
            done: self.stop_on.done,
            steady: self.stop_on.steady.then_some(steady),
        }
    }
}

/// `stop_on`, or `stop_on_deadlock` as it used to be written.
fn read_stop_on(section: &mut Section<'_>) -> StopOn {
    let mut stop_on = StopOn::NONE;
    let place = section.place.clone();
    let is_twice = section.has("stop_on") && section.has("stop_on_deadlock");
    if let Some(stop) = section.boolean("stop_on_deadlock") {
        stop_on.deadlock = stop.value;
    }
    let words = section.strings("stop_on");
    if is_twice {
        let problem = place.problem("both stop_on and stop_on_deadlock are written");
        let help = "keep stop_on, with \"deadlock\" in it if that is wanted";
        section.report(problem.help(help));
    }
    for At { value: word, place } in words.into_iter().flat_map(|words| words.value) {
        if !stop_on.add(&word) {
            let problem = place.problem(format!("unknown value {word:?}"));
            let problem = problem.expected(format!("any of {}", quoted(&StopOn::NAMES)));
            section.report(problem.help(did_you_mean(&word, StopOn::NAMES)));
        }
    }
    stop_on
}

impl WrittenSteady {
    fn read(section: &mut Section<'_>) -> WrittenSteady {
        let Some(mut section) = section.table("steady") else {
            return WrittenSteady::default();
        };
        let window = section.quantity_within("window", Span::ns(1)..=*TIMES.end());
        let windows = section.integer("windows", WINDOWS_RANGE);
        let tolerance = section.take("tolerance").and_then(Item::permille);
        if let Some(At { value: 0, place }) = &tolerance {
            let problem = place.problem("0 is out of range");
            section.report(problem.expected("a share from 0.001 to 1"));
        }
        section.finish();
        WrittenSteady {
            window: window.map(|window| window.value),
            windows: windows.map(|windows| windows.value as u32),
            tolerance_permille: tolerance.map(|share| share.value),
        }
    }
}

/// Writes what ends a run.
pub(crate) fn write(file: &mut File, stop: &Stop) {
    let set = [stop.deadlock, stop.done, stop.steady.is_some()];
    let names = StopOn::NAMES.into_iter().zip(set);
    let names = names.filter(|(_, is_set)| *is_set);
    file.texts("stop_on", names.map(|(name, _)| name.to_string()));
    if let Some(steady) = &stop.steady {
        file.section("[verdict.steady]");
        file.quantity("window", steady.window);
        file.plain("windows", steady.windows);
        share(file, "tolerance", steady.tolerance_permille);
    }
}

/// Writes a share in parts per thousand.
pub(crate) fn share(file: &mut File, key: &str, permille: u32) {
    let value = format_args!("{}.{:03}", permille / 1_000, permille % 1_000);
    file.plain(key, value);
}
