//! Recordings over time as a table that any program reads.

use pauseless_run::Run;
use pauseless_run::results::rows;
use pauseless_run::table;

/// One line per flow, in canonical order. What a flow does not have is empty: the bytes of one
/// without end, the start of one that has not started.
pub fn flows(run: &Run) -> String {
    table::csv(&rows::flows(run))
}

/// One line per sample: `time_ps`, then the columns of each probed port and of each probed flow.
/// `None` when nothing was recorded.
pub fn series(run: &Run) -> Option<String> {
    rows::series(run).map(|series| table::csv(&series))
}
