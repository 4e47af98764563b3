//! Recordings over time as a table that any program reads.

use crate::results::rows;
use crate::run::Run;
use crate::table;

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

/// A field in quotation marks where it needs them.
//= rfc4180 2
pub(crate) fn quoted(field: &str) -> String {
    if field.contains([',', '"', '\n', '\r']) {
        return format!("\"{}\"", field.replace('"', "\"\""));
    }
    field.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    //= rfc4180 2 type=test
    #[test]
    fn fields_are_quoted_where_they_must_be() {
        assert_eq!(quoted("F1 goodput_bps"), "F1 goodput_bps");
        assert_eq!(quoted("a,b"), "\"a,b\"");
        assert_eq!(quoted("say \"hi\""), "\"say \"\"hi\"\"\"");
    }
}
