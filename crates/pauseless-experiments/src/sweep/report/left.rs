//! Flows that did not finish, beside what is measured of those that did.

use std::collections::BTreeMap;

use super::rows::{Key, Rows};
use super::{Cell, Head};
use pauseless_run::metrics::bias::{Case, Doubt, is_order_sure};
use pauseless_run::table::Column;
use pauseless_text::quantity::{percents, significant};

/// What unfinished flows leave open in each group of runs; nothing for a number that does not
/// depend on them.
pub(super) struct Left {
    groups: BTreeMap<u64, Flows>,
}

/// The flows of a group of runs.
#[derive(Default)]
struct Flows {
    finished: u64,
    unfinished: u64,
    /// What the number is in each run at best, in order.
    best: Vec<f64>,
    /// What the number is in each run at worst, in order; infinite without a bound.
    worst: Vec<f64>,
}

impl Flows {
    fn share(&self) -> f64 {
        self.unfinished as f64 / (self.finished + self.unfinished).max(1) as f64
    }
}

impl Left {
    /// What is left open of the number `of` in these rows, for each combination of `key`.
    pub fn of(rows: &Rows<'_>, of: &str, selected: &[usize], key: &Key) -> Left {
        let mut groups: BTreeMap<u64, Flows> = BTreeMap::new();
        let Some(columns) = rows.beside(of) else {
            return Left { groups };
        };
        for &row in selected {
            // A run in which no flow has started has no bounds.
            let Some(best) = columns.best[row] else {
                continue;
            };
            let flows = |count: Option<f64>| count.unwrap_or(0.0) as u64;
            let group = groups.entry(key.of(row)).or_default();
            group.finished += flows(columns.finished[row]);
            group.unfinished += flows(columns.unfinished[row]);
            group.best.push(best);
            group.worst.push(columns.worst[row].unwrap_or(f64::INFINITY));
        }
        for group in groups.values_mut() {
            group.best.sort_by(f64::total_cmp);
            group.worst.sort_by(f64::total_cmp);
        }
        Left { groups }
    }

    /// The share of flows that did not finish in the groups of these keys together, in words; empty
    /// if all did.
    pub(super) fn label(&self, keys: std::ops::Range<u64>) -> String {
        let groups = self.groups.range(keys);
        let total = groups.fold(Flows::default(), |sum, (_, it)| Flows {
            finished: sum.finished + it.finished,
            unfinished: sum.unfinished + it.unfinished,
            ..sum
        });
        match total.unfinished {
            0 => String::new(),
            _ => format!(" ({} % unfinished)", percents(total.share())),
        }
    }

    /// What the runs of a group have at best, and at worst, each in order; `None` if all of its flows
    /// have finished.
    pub(super) fn bounds(&self, group: u64) -> Option<[&[f64]; 2]> {
        let flows = self.groups.get(&group).filter(|it| it.unfinished > 0)?;
        Some([&flows.best, &flows.worst])
    }

    /// What a caption says of dashed curves; empty if all flows have finished.
    pub(super) fn caption(&self) -> &'static str {
        let is_open = self.groups.values().any(|it| it.unfinished > 0);
        if is_open {
            "; dashed: with unfinished flows at best and, if bounded, at worst"
        } else {
            ""
        }
    }

    /// What is to be said of a comparison of all groups. `middle` makes one number of those of all
    /// runs, `value` is the number that is shown for a group, and groups are compared with those that
    /// have the same `place`.
    pub(super) fn doubt(
        &self,
        key: &Key,
        middle: impl Fn(&[f64]) -> f64,
        value: impl Fn(u64) -> Option<f64>,
        place: impl Fn(u64) -> u64,
    ) -> Option<Doubt> {
        let mut places: BTreeMap<u64, Vec<Case>> = BTreeMap::new();
        for (group, flows) in &self.groups {
            places.entry(place(*group)).or_default().push(Case {
                name: key.title(*group, 0),
                value: value(*group),
                best: middle(&flows.best),
                worst: middle(&flows.worst),
                finished: flows.finished,
                unfinished: flows.unfinished,
            });
        }
        let open = places.values().filter(|cases| !is_order_sure(cases)).count();
        let compared = places.values().filter(|cases| cases.len() > 1).count();
        let cases: Vec<Case> = places.into_values().flatten().collect();
        let mut doubt = Doubt::of(&cases, open == 0)?;
        doubt.with_them = match (compared, open) {
            (0, _) => String::new(),
            (_, 0) => "the order is the same in any case".to_string(),
            (1, _) => "the order could be another".to_string(),
            (all, open) => format!("the order could be another at {open} of {all} places"),
        };
        Some(doubt)
    }

    /// The heads of what stands beside the number in a table.
    pub(super) fn heads(&self) -> Vec<Head> {
        let heads = ["unfinished", "at best", "at worst"];
        heads.map(Head::number).into_iter().filter(|_| !self.groups.is_empty()).collect()
    }

    /// The cells below [`Left::heads`].
    pub(super) fn cells(&self, group: u64, middle: impl Fn(&[f64]) -> f64) -> Vec<Cell> {
        let Some(flows) = self.groups.get(&group) else {
            return self.heads().iter().map(|_| Cell::Text("-".to_string())).collect();
        };
        let write = |value: f64| match value {
            value if value.is_finite() => significant(value),
            _ => "no bound".to_string(),
        };
        let share = format!("{} %", percents(flows.share()));
        let cells = [share, write(middle(&flows.best)), write(middle(&flows.worst))];
        cells.map(Cell::Text).to_vec()
    }

    /// The same for a file, with a row for each of `keys`.
    pub(super) fn data(
        &self,
        of: &str,
        keys: &[u64],
        middle: impl Fn(&[f64]) -> f64,
    ) -> Vec<Column> {
        if self.groups.is_empty() {
            return Vec::new();
        }
        let column = |name: String, make: &dyn Fn(&Flows) -> f64| {
            let cells = keys.iter().map(|key| self.groups.get(key).map(make));
            Column::numbers(name, cells.map(|it| it.filter(|it| it.is_finite())))
        };
        vec![
            column("unfinished_share".to_string(), &Flows::share),
            column(format!("{of}_best"), &|it| middle(&it.best)),
            column(format!("{of}_worst"), &|it| middle(&it.worst)),
        ]
    }
}
