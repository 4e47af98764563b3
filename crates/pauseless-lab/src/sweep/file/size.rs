//! `[size.NAME]`: the same campaign with fewer values, or more.

use super::axis::{Draft, Values};
use super::{Section, read_keep};
use crate::scenario::did_you_mean;
use crate::scenario::reader::At;
use crate::sweep::campaign::Axis;

/// The axes, and the names of those that have faults.
type Drafts = (Vec<Draft>, Vec<String>);

/// A size as it was written.
pub(super) struct Size {
    pub name: String,
    /// What differs, in words.
    pub note: String,
    pub keep: Option<Vec<At<String>>>,
    /// Other values, by the place of the axis.
    axes: Vec<(usize, Values)>,
}

impl Size {
    /// Reads all of them, so that what is wrong with any is found.
    pub(super) fn read_all(root: &mut Section<'_>, drafts: &Drafts) -> Vec<Size> {
        let Some(mut table) = root.table("size") else {
            return Vec::new();
        };
        let sizes = table.entries().into_iter();
        let sizes = sizes.filter_map(|(name, item)| {
            let section = item.table()?;
            Some(Size::read(name.value, section, drafts))
        });
        sizes.collect()
    }

    fn read(name: String, mut section: Section<'_>, (drafts, broken): &Drafts) -> Size {
        let note = section.string("note").map(|note| note.value);
        let keep = read_keep(&mut section);
        let mut axes = Vec::new();
        let entries = section.table("axis").map(|mut table| table.entries());
        for (name, item) in entries.unwrap_or_default() {
            let Some(mut values) = item.table() else {
                continue;
            };
            let found = drafts.iter().position(|it| it.name.value == name.value);
            let Some(axis) = found else {
                if broken.contains(&name.value) {
                    // What is wrong with it was reported.
                    continue;
                }
                let problem = name
                    .place
                    .problem(format!("there is no axis {:?}", name.value));
                let names = drafts.iter().map(|draft| draft.name.value.as_str());
                section.report(problem.help(did_you_mean(&name.value, names)));
                continue;
            };
            let read = read_values(&mut values, &drafts[axis]);
            values.finish();
            axes.extend(read.map(|values| (axis, values)));
        }
        section.finish();
        Size {
            name,
            note: note.unwrap_or_default(),
            keep,
            axes,
        }
    }

    /// Puts its values in the place of others.
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
fn read_values(section: &mut Section<'_>, draft: &Draft) -> Option<Values> {
    let Values::Cases(all) = &draft.values else {
        let values = Values::read(section, &draft.name.value)?;
        if matches!(values, Values::Cases(_)) {
            let problem = section.place.problem("the axis has a key, and no cases");
            section.report(problem.help("write values, range, seeds or random"));
            return None;
        }
        return Some(values);
    };
    let At { value: only, place } = match section.has("only") {
        true => section.strings("only")?,
        false => {
            section.take("only");
            let problem = section.place.problem("the axis has cases");
            section.report(problem.help("write only = [..] with the names of some of them"));
            section.discard();
            return None;
        }
    };
    for name in &only {
        let mut names = all.value.iter().map(|case| case.name.value.as_str());
        if !names.clone().any(|case| case == name.value) {
            let problem = name
                .place
                .problem(format!("there is no case {:?}", name.value));
            section.report(problem.help(did_you_mean(&name.value, names.by_ref())));
        }
    }
    let is_in = |case: &str| only.iter().any(|name| name.value == case);
    let cases = all.value.iter().filter(|case| is_in(&case.name.value));
    let value = Vec::from_iter(cases.cloned());
    if value.is_empty() {
        section.report(place.problem("no cases are left").help("name some"));
        return None;
    }
    Some(Values::Cases(At { value, place }))
}
