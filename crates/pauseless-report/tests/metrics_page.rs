//! Reports of many flows, and the figures of their metrics.

mod metrics_made;

use expect_test::expect;
use pauseless_core::id::{Class, FlowId, NodeId, PortId};
use pauseless_core::unit::{Bytes, Rate, Span, Time};
use pauseless_report::html::{self, Heading};
use pauseless_report::text;
use pauseless_report::{csv, json, summary};
use pauseless_run::Run;
use pauseless_sim::config::Reaction;
use pauseless_sim::outcome::{FlowSeries, PortSeries, Recording};
use pauseless_text::terminal::Paint;

use metrics_made::{blank, finished, us};

/// Flows of 1 KB to 10 MB, the n-th in n us, ten times slower than alone if they are short.
fn many(count: u64) -> Run {
    let mut run = blank(&[("F", Some(1_000), 0)]);
    let config = metrics_made::config(&mut run);
    let one = config.flows[0].clone();
    config.flows = (0..count)
        .map(|n| {
            let mut flow = one.clone();
            flow.name = format!("F{n:06}");
            flow.size = Bytes::new(1_000 * 10u64.pow((n % 5) as u32));
            flow
        })
        .collect();
    let outcomes = (0..count).map(|n| {
        let fct = Span::us(n + 1);
        let ideal = if n % 5 == 0 { fct / 10 } else { fct };
        finished(Time::ZERO, fct, ideal)
    });
    run.outcome.flows = outcomes.collect();
    run
}

fn page(run: &Run) -> String {
    let heading = Heading { title: "many".to_string(), lead: String::new() };
    html::page(&heading, std::slice::from_ref(run))
}

#[test]
fn many_flows_are_drawn_and_few_are_not() {
    let few = page(&many(19));
    let enough = page(&many(20));
    let count = |page: &str| page.matches("<svg").count();
    assert_eq!(count(&enough) - count(&few), 2);
    assert!(enough.contains("share of flows that finished within so many us"));
    assert!(enough.contains("slowdown by flow size (KB)"));
    assert!(enough.contains("95th percentile"));
}

#[test]
fn flows_of_one_size_have_no_slowdown_by_size() {
    let mut run = many(50);
    for flow in &mut metrics_made::config(&mut run).flows {
        flow.size = Bytes::new(7_000);
    }
    let page = page(&run);
    assert!(page.contains("share of flows that finished"));
    assert!(!page.contains("slowdown by flow size"));
}

#[test]
fn a_hundred_thousand_flows_stay_readable() {
    let run = many(100_000);
    let report = text::report(&run, Paint::Plain);
    assert!(report.lines().count() < 80, "{}", report.lines().count());
    let page = page(&run);
    // The libraries of a live page are as long for one flow.
    let without = page.len().saturating_sub(pauseless_page::BUNDLE.script.len());
    assert!(without < 150_000, "{without}");
    assert_eq!(csv::flows(&run).lines().count(), 1 + 100_000);
    assert_eq!(json::run_document(&run).run.flows.len(), 100_000);
    let sections = summary::sections(&run);
    let table = sections[0].table.render(|_, _, cell| cell.to_string());
    expect![[r#"
        completion of finite flows
          flows            finished  unfinished  FCT mean      p50      p95      p99    p99.9  slowdown mean   p50   p95   p99  p99.9
          all               100,000           0   50.0 ms  50.0 ms  95.0 ms  99.0 ms  99.9 ms           2.80  1.00  10.0  10.0   10.0
          all, 95 % from                                -  49.7 ms  94.9 ms  98.9 ms  99.9 ms              -  1.00  10.0  10.0   10.0
          all, 95 % to                                  -  50.3 ms  95.1 ms  99.1 ms  99.9 ms              -  1.00  10.0  10.0   10.0
          below 10 KB        20,000           0   50.0 ms  50.0 ms  95.0 ms  99.0 ms  99.9 ms           10.0  10.0  10.0  10.0   10.0
          10 KB to 100 KB    20,000           0   50.0 ms  50.0 ms  95.0 ms  99.0 ms  99.9 ms           1.00  1.00  1.00  1.00   1.00
          100 KB to 1 MB     20,000           0   50.0 ms  50.0 ms  95.0 ms  99.0 ms  99.9 ms           1.00  1.00  1.00  1.00   1.00
          1 MB and more      40,000           0   50.0 ms  50.0 ms  95.0 ms  99.0 ms  99.9 ms           1.00  1.00  1.00  1.00   1.00
    "#]].assert_eq(&format!("{}\n{table}", sections[0].title));
}

/// Two flows and two ports with three samples each; S:B has an egress queue, F1 is controlled.
fn recorded() -> Run {
    let mut run = blank(&[("F1", None, 0), ("F2", None, 0)]);
    let flow = &mut metrics_made::config(&mut run).flows[0];
    flow.reaction = Reaction::Controlled {
        initial: Rate::gbps(10),
        group: flow.group,
        class: Class(1),
        window: Bytes::MAX,
        round_trip: Span::ZERO,
    };
    let port = |port, egress| PortSeries {
        node: NodeId(2),
        port: PortId(port),
        queue: vec![0, 10_000, 20_000],
        egress,
        input_bps: vec![0.0, 5e9, 9e9],
        sending_bps: vec![0.0, 0.0, 0.0],
        allowed_bps: vec![1e10, 1e10, 1e10],
        feedback_bps: vec![0.0, 0.0, 0.0],
    };
    let flow = |flow| FlowSeries {
        flow: FlowId(flow),
        goodput_bps: vec![0.0, 4e9, 5e9],
        allowed_bps: vec![10e9, 6e9, 5e9],
    };
    run.outcome.series = Recording {
        times: vec![us(0), us(1_000), us(2_000)],
        ports: vec![port(0, vec![0, 0, 0]), port(1, vec![0, 30_000, 40_000])],
        flows: vec![flow(0), flow(1)],
    };
    run
}

#[test]
fn egress_queues_and_allowed_rates_are_dashed() {
    let page = page(&recorded());
    // One egress queue that is not always empty, and one flow that is told a rate.
    assert_eq!(page.matches("stroke-dasharray=\"4 3\"").count(), 2);
    assert!(page.contains("ingress queue (KB) over time (ms), dashed: egress queue"));
    assert!(page.contains("goodput (Gb/s) over time (ms), dashed: allowed rate"));
    assert!(page.contains("input rate (Gb/s) over time (ms)</figcaption>"));
}

#[test]
fn recordings_are_in_the_tables_where_they_say_something() {
    let run = recorded();
    expect![[r#"
        time_ps,S:A queue_bytes,S:A input_bps,S:A sending_bps,S:A allowed_bps,S:A egress_bytes,S:B queue_bytes,S:B input_bps,S:B sending_bps,S:B allowed_bps,S:B egress_bytes,F1 goodput_bps,F1 allowed_bps,F2 goodput_bps
        0,0,0,0,10000000000,0,0,0,0,10000000000,0,0,10000000000,0
        1000000000,10000,5000000000,0,10000000000,0,10000,5000000000,0,10000000000,30000,4000000000,6000000000,4000000000
        2000000000,20000,9000000000,0,10000000000,0,20000,9000000000,0,10000000000,40000,5000000000,5000000000,5000000000
    "#]].assert_eq(&csv::series(&run).expect("recordings"));
    let document = serde_json::to_value(json::run_document(&run)).expect("a document");
    let series = &document["series"];
    let egress = &series["ports"][1]["egress_bytes"];
    assert_eq!(*egress, serde_json::json!([0, 30_000, 40_000]));
    let allowed = &series["flows"][0]["allowed_bps"];
    assert_eq!(*allowed, serde_json::json!([10e9, 6e9, 5e9]));
    assert!(series["flows"][1].get("allowed_bps").is_none());
}
