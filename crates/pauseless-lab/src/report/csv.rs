//! Recordings over time as a table that any program reads.

use std::fmt::Write;

use pauseless_core::unit::{Span, Time};

use super::Run;
use crate::metrics::completion::{fct, slowdown};
use crate::metrics::has_started;

/// One line per flow, in canonical order. What a flow does not have is empty: the bytes of one
/// without end, the start of one that has not started.
pub fn flows(run: &Run) -> String {
    let mut text = "name,source,target,class,bytes,start_ps,finish_ps,fct_ps,ideal_ps,slowdown,\
                    goodput_bps\n"
        .to_string();
    for (flow, outcome) in run.scenario.config.flows.iter().zip(&run.outcome.flows) {
        let start = outcome.start;
        let start = start.filter(|_| has_started(&run.outcome, outcome));
        let ideal = Some(outcome.ideal).filter(|ideal| *ideal > Span::ZERO);
        let fields = [
            quoted(&flow.name),
            quoted(run.node_name(flow.source)),
            quoted(run.node_name(flow.target)),
            flow.class.0.to_string(),
            written(flow.is_finite().then(|| flow.size.get())),
            written(start.map(Time::as_ps)),
            written(outcome.finish.map(Time::as_ps)),
            written(fct(outcome).map(Span::as_ps)),
            written(ideal.map(Span::as_ps)),
            written(slowdown(outcome)),
            outcome.goodput_bps.to_string(),
        ];
        text.push_str(&fields.join(","));
        text.push('\n');
    }
    text
}

/// One line per sample: `time_ps`, then the columns of each probed port and of each probed flow.
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
            if let Some(egress) = port.egress.get(sample) {
                let _ = write!(text, ",{egress}");
            }
        }
        for flow in &series.flows {
            let _ = write!(text, ",{}", flow.goodput_bps[sample]);
            if let Some(allowed) = run.allowed_rates(flow).and_then(|rates| rates.get(sample)) {
                let _ = write!(text, ",{allowed}");
            }
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
        if !port.egress.is_empty() {
            columns.push(quoted(&format!("{name} egress_bytes")));
        }
    }
    for flow in &series.flows {
        let name = run.flow_name(flow.flow);
        columns.push(quoted(&format!("{name} goodput_bps")));
        if run.allowed_rates(flow).is_some() {
            columns.push(quoted(&format!("{name} allowed_bps")));
        }
    }
    columns.join(",") + "\n"
}

/// A value, or an empty field without one.
fn written(value: Option<impl ToString>) -> String {
    value.map_or(String::new(), |value| value.to_string())
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
