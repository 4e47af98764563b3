//! The values of a number in groups of runs, and how groups become curves and panels.

use std::collections::BTreeMap;

use super::file::Wanted;
use super::left::Left;
use super::rows::{Key, Rows};
use pauseless_text::quantity::count;

/// The values of a number for each combination of some axes.
pub(super) struct Groups {
    /// The axes that are combined.
    pub key: Key,
    /// The values in order, for each combination that has any.
    pub values: BTreeMap<u64, Vec<f64>>,
    /// What unfinished flows leave open of the number.
    pub left: Left,
    /// What the reader must know of the runs that were left out.
    pub notes: Vec<String>,
}

impl Groups {
    /// The values of `of` in the runs that are wanted, for each combination of `axes`.
    pub fn of(
        rows: &Rows<'_>,
        wanted: &Wanted,
        of: &str,
        axes: &[String],
    ) -> Result<Groups, String> {
        let key = rows.key(axes)?;
        let numbers = rows.numbers(of)?;
        let mut values: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
        let selected = rows.select(&wanted.select)?;
        let mut missing = 0;
        for row in &selected {
            match numbers[*row] {
                Some(value) => values.entry(key.of(*row)).or_default().push(value),
                None => missing += 1,
            }
        }
        for values in values.values_mut() {
            values.sort_by(f64::total_cmp);
        }
        let mut notes = Vec::new();
        if missing > 0 {
            let of = rows.kept(of);
            let (missing, all) = (count(missing), count(selected.len() as u64));
            notes.push(format!("{missing} of {all} runs have no {of} and are not in it"));
        }
        let left = Left::of(rows, of, &selected, &key);
        Ok(Groups { key, values, left, notes })
    }

    /// The keys of the combinations that have values.
    pub(super) fn keys(&self) -> Vec<u64> {
        self.values.keys().copied().collect()
    }
}

/// Where groups stand in a figure: the last axis makes curves, all before it panels.
pub(super) struct Layout {
    /// The panels, each with its title and its curves.
    pub panels: Vec<(String, Vec<u64>)>,
    /// Notes on curves and panels that are left out.
    pub notes: Vec<String>,
}

impl Layout {
    /// Lays out the groups with these keys, as many as can be told apart.
    pub fn of(key: &Key, keys: &[u64]) -> Layout {
        let last = key.columns.last().map_or(1, |it| it.values.len() as u64);
        let mut panels: Vec<(String, Vec<u64>)> = Vec::new();
        let mut outer = None;
        for group in keys {
            if outer != Some(group / last) {
                outer = Some(group / last);
                panels.push((key.title(*group, 1), Vec::new()));
            }
            panels.last_mut().expect("one was made").1.push(*group);
        }
        let mut notes = Vec::new();
        let curves = panels.iter().map(|(_, curves)| curves.len()).max().unwrap_or(0);
        if curves > CURVES_MAX {
            notes.push(format!("the first {CURVES_MAX} of {curves} curves are drawn"));
        }
        for (_, curves) in &mut panels {
            curves.truncate(CURVES_MAX);
        }
        notes.extend(cut(&mut panels));
        Layout { panels, notes }
    }
}

/// Leaves as many panels as a page can hold, and says so.
pub(super) fn cut<T>(panels: &mut Vec<T>) -> Option<String> {
    let count = panels.len();
    panels.truncate(PANELS_MAX);
    (count > PANELS_MAX).then(|| {
        format!("the first {PANELS_MAX} of {count} panels are drawn; use where to see others")
    })
}

/// The most curves of a panel that can be told apart.
const CURVES_MAX: usize = 10;
/// The most panels of a figure.
const PANELS_MAX: usize = 24;
