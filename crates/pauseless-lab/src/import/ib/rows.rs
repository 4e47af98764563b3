//! Lists of rows that may repeat but not contradict each other.

use std::ops::Range;

use crate::problem::Problem;
use crate::text::line_number;

/// A row of a list.
pub(super) trait Keyed {
    /// What may occur once.
    type Key: Ord;

    fn key(&self) -> Self::Key;

    /// Whether it says the same as another row with the same key.
    fn agrees(&self, other: &Self) -> bool;

    fn at(&self) -> Range<usize>;

    /// How messages call the key.
    fn name(&self) -> String;

    /// How messages call the rest.
    fn value(&self) -> String;
}

/// Rows without those that say again what an earlier one said, in the same order.
pub(super) fn without_repetition<R: Keyed>(text: &str, rows: Vec<R>) -> Result<Vec<R>, Problem> {
    // Dumps are mostly in order, and then there is nothing to do.
    if rows.is_sorted_by(|a, b| a.key() < b.key()) {
        return Ok(rows);
    }
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_unstable_by_key(|index| (rows[*index].key(), *index));
    let mut repeats = vec![false; rows.len()];
    let mut wrong: Option<[usize; 2]> = None;
    for pair in order.windows(2) {
        let [before, row] = [pair[0], pair[1]];
        if rows[before].key() != rows[row].key() {
            continue;
        }
        repeats[row] = true;
        let is_first = wrong.is_none_or(|[_, earlier]| row < earlier);
        if is_first && !rows[row].agrees(&rows[before]) {
            wrong = Some([before, row]);
        }
    }
    if let Some([before, row]) = wrong.map(|pair| pair.map(|index| &rows[index])) {
        let message = format!(
            "{} has {} here, but {} in line {}",
            row.name(),
            row.value(),
            before.value(),
            line_number(text, before.at().start),
        );
        return Err(Problem::new(row.at(), message).help("two dumps in one file? keep one"));
    }
    Ok(rows.into_iter().zip(repeats).filter(|(_, repeat)| !repeat).map(|(row, _)| row).collect())
}
