//! Recordings over time as a table that any program reads.

use std::fmt::Write;

use super::Run;

/// One line per sample: `time_ps`, then four columns per probed port and one per probed flow.
/// `None` when nothing was recorded.
pub fn series(run: &Run) -> Option<String> {
    let series = &run.outcome.series;
    if series.times.is_empty() {
        return None;
    }
    let mut text = header(run);
    for (sample, time) in series.times.iter().enumerate() {
        // Writing to a string cannot fail.
        let _ = write!(text, "{}", time.as_ps());
        for port in &series.ports {
            let _ = write!(
                text,
                ",{},{},{},{}",
                port.queue[sample],
                port.input_bps[sample],
                port.sending_bps[sample],
                port.allowed_bps[sample]
            );
        }
        for flow in &series.flows {
            let _ = write!(text, ",{}", flow.goodput_bps[sample]);
        }
        text.push('\n');
    }
    Some(text)
}

fn header(run: &Run) -> String {
    let series = &run.outcome.series;
    let mut columns = vec!["time_ps".to_string()];
    for port in &series.ports {
        let name = run.port_name(port.node, port.port);
        let quantities = ["queue_bytes", "input_bps", "sending_bps", "allowed_bps"];
        columns.extend(quantities.map(|quantity| quoted(&format!("{name} {quantity}"))));
    }
    for flow in &series.flows {
        columns.push(quoted(&format!("{} goodput_bps", run.flow_name(flow.flow))));
    }
    columns.join(",") + "\n"
}

/// A field in quotation marks where it needs them.
//= rfc4180 2
fn quoted(field: &str) -> String {
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
