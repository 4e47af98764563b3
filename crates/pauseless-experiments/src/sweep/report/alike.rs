//! Seeds that change nothing: runs that are counted as repetitions and are one and the same.

use std::collections::BTreeSet;

use super::super::campaign::Campaign;
use super::super::row::column;
use super::rows::Rows;

/// The axis of repetitions.
const SEED: &str = "seed";
/// How columns begin that have times of flows, which no two different runs have in common to the
/// last digit.
const TIMES: [&str; 3] = ["fct_", "slowdown_", "last_arrival_ms"];
/// So many of these columns are enough.
const COLUMNS_MAX: usize = 4;

/// The columns with the times of flows by which runs are compared, if they have seeds.
pub(super) fn columns(campaign: &Campaign) -> Vec<String> {
    if !campaign.axes.iter().any(|axis| axis.name == SEED) {
        return Vec::new();
    }
    let kept = campaign.keep.iter().map(|name| column(name));
    let is_bound = |name: &str| ["best", "worst", "from", "to"].iter().any(|it| name.ends_with(it));
    let is_time = |name: &String| TIMES.iter().any(|it| name.starts_with(it)) && !is_bound(name);
    kept.filter(is_time).take(COLUMNS_MAX).collect()
}

/// The axes other than that of seeds.
pub(super) fn axes(campaign: &Campaign) -> impl Iterator<Item = &str> {
    campaign.axes.iter().map(|axis| axis.name.as_str()).filter(|name| *name != SEED)
}

/// How many runs have the same times as another one that differs from them by the seed alone.
pub(super) fn count(campaign: &Campaign, rows: &Rows<'_>) -> Result<usize, String> {
    let times = columns(campaign).into_iter().filter(|name| rows.has(name));
    let times = times.map(|name| rows.numbers(&name)).collect::<Result<Vec<_>, _>>()?;
    let key = rows.key(&Vec::from_iter(axes(campaign).map(str::to_string)))?;
    let mut known = BTreeSet::new();
    let mut count = 0;
    for row in (0..rows.len()).filter(|row| rows.is_made(*row)) {
        let times = Vec::from_iter(times.iter().map(|it| it[row].map(f64::to_bits)));
        // Runs in which nothing finishes have no times to be alike in.
        if times.iter().any(Option::is_some) && !known.insert((key.of(row), times)) {
            count += 1;
        }
    }
    Ok(count)
}
