//! `[size.NAME]`: the same campaign with fewer values, or more.

use super::axis::{Draft, ValueKeys, Values};
use super::refuse_unknown;
use crate::sweep::campaign::Axis;
pub use pauseless_scenario::did_you_mean;
use pauseless_text::declare::{At, List, Named};
use pauseless_text::problem::Sink;
use pauseless_text::section;

section! {
    /// The same campaign with other values, for `--size NAME`.
    pub(super) struct SizeFile {
        /// How this size differs, in words.
        note: String, default String::new();
        /// The numbers that are kept of each run at this size.
        keep: List<String>, within "a list of strings", derived "`keep` of the campaign";
        /// Other values of axes, by the axis' name.
        axis: Named<SizeAxis>;
    }
}

section! {
    /// Other values of an axis, in the words of `[[axis]]`, or some of its cases.
    pub(super) struct SizeAxis {
        /// The names of the cases that are left, for an axis with cases.
        only: List<String>, within "a list of strings";
        /// The values that the axis takes at this size.
        values: ValueKeys, keys inline;
    }
}

/// The axes, and the names of those that have faults.
pub(super) struct Drafts {
    pub sound: Vec<Draft>,
    pub broken: Vec<String>,
}

/// A size of a campaign.
pub(super) struct Size {
    pub name: String,
    /// How this size differs, in words.
    pub note: String,
    pub keep: Option<Vec<At<String>>>,
    /// Other values, by the place of the axis.
    axes: Vec<(usize, Values)>,
}

impl Size {
    pub fn new(name: &str, file: &SizeFile, drafts: &Drafts, sink: &Sink) -> Size {
        let keep = file.keep.get().cloned();
        refuse_unknown(keep.as_deref(), sink);
        let mut axes = Vec::new();
        for (name, written) in file.axis.get().into_iter().flat_map(|axes| &axes.0) {
            let Some(axis) = drafts.sound.iter().position(|it| it.name.value == name.value) else {
                // What is wrong with a broken one was reported.
                if !drafts.broken.contains(&name.value) {
                    let message = format!("there is no axis {:?}", name.value);
                    let names = drafts.sound.iter().map(|draft| draft.name.value.as_str());
                    let help = did_you_mean(&name.value, names);
                    sink.push(name.place.problem(message).help(help));
                }
                continue;
            };
            let values = values_of(&written.value, &drafts.sound[axis], sink);
            axes.extend(values.map(|values| (axis, values)));
        }
        Size { name: name.to_string(), note: file.note.value.clone(), keep, axes }
    }

    /// Replaces the values of axes by those of this size.
    pub(super) fn apply(self, drafts: &mut [Draft]) {
        for (axis, values) in self.axes {
            drafts[axis].values = values;
        }
    }
}

/// The axes with all values that they have as they are written or at any size.
pub(super) fn all_values(drafts: &[Draft], sizes: &[Size]) -> Vec<Axis> {
    let axes = drafts.iter().enumerate().map(|(place, draft)| {
        let mut axis = draft.clone().finish().0;
        let others = sizes.iter().flat_map(|size| &size.axes);
        for (_, values) in others.filter(|(axis, _)| *axis == place) {
            let mut other = draft.clone();
            other.values = values.clone();
            axis.points.extend(other.finish().0.points);
        }
        axis
    });
    axes.collect()
}

/// Values in the words of an axis, or `only` some of its cases.
fn values_of(written: &SizeAxis, draft: &Draft, sink: &Sink) -> Option<Values> {
    let only = &written.only;
    let Values::Cases(all) = &draft.values else {
        if let Some(place) = only.place() {
            let problem = place.problem("the axis has no cases");
            sink.push(problem.help("write values, range, seeds or random"));
            return None;
        }
        let values = Values::new(&written.values, &draft.name.value, sink)?;
        if matches!(values, Values::Cases(_)) {
            let problem = written.place.problem("the axis has a key, and no cases");
            sink.push(problem.help("write values, range, seeds or random"));
            return None;
        }
        return Some(values);
    };
    if !only.is_written {
        let problem = written.place.problem("the axis has cases");
        sink.push(problem.help("write only = [..] with the names of some of them"));
    }
    let At { value: only, place } = only.given.as_ref()?;
    for name in only {
        let mut names = all.iter().map(|case| case.name.value.as_str());
        if !names.clone().any(|case| case == name.value) {
            let message = format!("there is no case {:?}", name.value);
            let help = did_you_mean(&name.value, names.by_ref());
            sink.push(name.place.problem(message).help(help));
        }
    }
    let is_in = |case: &str| only.iter().any(|name| name.value == case);
    let cases = Vec::from_iter(all.iter().filter(|case| is_in(&case.name.value)).cloned());
    if cases.is_empty() {
        sink.push(place.problem("no cases are left").help("name some"));
        return None;
    }
    Some(Values::Cases(cases))
}
