//! Lists of rows that may repeat but not contradict each other.

use pauseless_text::lex::{Line, Lines};
use pauseless_text::problem::Problem;

/// A row of a list.
pub(super) trait Keyed {
    /// What may occur once.
    type Key: Ord;

    fn key(&self) -> Self::Key;

    /// Whether it says the same as another row with the same key.
    fn agrees(&self, other: &Self) -> bool;

    /// What to say if it does not agree with a row before it in `text`.
    fn contradiction(&self, before: &Self, text: &str) -> Problem;
}

/// The rows of a text in which every line is one, but for blank lines and comments.
pub(super) fn read<R>(
    text: &str,
    row: impl Fn(&mut Line<'_>) -> Result<R, Problem>,
) -> Result<Vec<R>, Problem> {
    let mut rows = Vec::new();
    for mut line in Lines::new(text) {
        if !line.is_done() && !line.rest().starts_with('#') {
            rows.push(row(&mut line)?);
        }
    }
    Ok(rows)
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
        // Rows are visited by their keys, but the first place in the text is the one to show.
        let is_first = wrong.is_none_or(|[_, earlier]| row < earlier);
        if is_first && !rows[row].agrees(&rows[before]) {
            wrong = Some([before, row]);
        }
    }
    if let Some([before, row]) = wrong {
        return Err(rows[row].contradiction(&rows[before], text));
    }
    Ok(rows.into_iter().zip(repeats).filter(|(_, repeat)| !repeat).map(|(row, _)| row).collect())
}
