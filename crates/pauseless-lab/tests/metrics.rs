//! Metrics of outcomes made by hand, and what the reports make of them.

use std::ops::ControlFlow;

use expect_test::expect;
use pauseless_core::id::{Class, NodeId, PortId};
use pauseless_core::unit::{Bytes, Span, Time};
use pauseless_lab::metrics::Metrics;
use pauseless_lab::metrics::completion::SizeRange;
use pauseless_lab::report::html::{self, Heading};
use pauseless_lab::report::text::{self, Paint};
use pauseless_lab::report::{Run, csv, json, summary};
use pauseless_lab::scenario::{Overrides, Scenario};
use pauseless_sim::outcome::{CongestionTree, FlowOutcome, PortOutcome, Series};

const NETWORK: &str = r#"
duration = "1 us"

[topology]
kind = "custom"

[[topology.node]]
name = "A"
kind = "host"

[[topology.node]]
name = "B"
kind = "host"

[[topology.node]]
name = "S"
kind = "switch"

[[topology.link]]
between = ["A", "S"]
rate = "10 Gbps"
delay = "1 us"

[[topology.link]]
between = ["B", "S"]
rate = "40 Gbps"
delay = "1 us"

[switch]
classes = 2
buffer = "1 MB"

[flow_control]
kind = "none"
"#;

/// A run over these flows, each (name, size or nothing, class), that has done nothing yet and is
/// to be filled in by hand; it has lasted 2 ms.
fn blank(flows: &[(&str, Option<u64>, u8)]) -> Run {
    let mut text = NETWORK.to_string();
    for (name, size, class) in flows {
        text.push_str(&format!(
            "\n[[flow]]\nname = \"{name}\"\nsource = \"A\"\ntarget = \"B\"\nclass = {class}\n"
        ));
        if let Some(size) = size {
            text.push_str(&format!("size = \"{size} B\"\n"));
        }
    }
    let scenario = Scenario::parse("by-hand", &text, &Overrides::default());
    let scenario = scenario.unwrap_or_else(|problems| panic!("{problems}"));
    let mut run = Run::execute(scenario, |_| ControlFlow::Continue(()));
    run.wall_s = 1.0;
    let outcome = &mut run.outcome;
    outcome.end = ms(2);
    outcome.flows = vec![FlowOutcome::default(); flows.len()];
    outcome.ports = Vec::new();
    outcome.tree = CongestionTree::default();
    outcome.series = Series::default();
    (outcome.answers, outcome.answer_bytes) = (0, Bytes::ZERO);
    run
}

fn ms(ms: u64) -> Time {
    Time::ZERO + Span::ms(ms)
}

fn us(us: u64) -> Time {
    Time::ZERO + Span::us(us)
}

fn finished(start: Time, fct: Span, ideal: Span) -> FlowOutcome {
    FlowOutcome {
        start: Some(start),
        finish: Some(start + fct),
        ideal,
        ..FlowOutcome::default()
    }
}

/// Four finite flows, of which two have finished, and two without end.
fn small() -> Run {
    let mut run = blank(&[
        ("F1", Some(5_000), 0),
        ("F2", Some(50_000), 1),
        ("F3", Some(50_000), 1),
        ("F4", Some(2_000_000), 0),
        ("G1", None, 0),
        ("G2", None, 0),
    ]);
    let flows = &mut run.outcome.flows;
    flows[0] = finished(us(10), Span::us(30), Span::us(20));
    flows[0].delivered = Bytes::new(5_000);
    flows[0].goodput_bps = 4e9;
    flows[1] = finished(us(50), Span::us(100), Span::us(25));
    flows[1].delivered = Bytes::new(50_000);
    flows[1].goodput_bps = 4e9;
    flows[2].start = Some(us(100));
    flows[2].ideal = Span::us(25);
    // F4 waits for F3 and has not started.
    for (flow, late) in flows[4..].iter_mut().zip([1e9, 3e9]) {
        flow.start = Some(Time::ZERO);
        flow.delivered = Bytes::new(20_000);
        (flow.goodput_bps, flow.goodput_late_bps) = (4e9, late);
    }
    let port = |node, port, sent| PortOutcome {
        node: NodeId(node),
        port: PortId(port),
        sent: Bytes::new(sent),
        pauses: 0,
        held: Span::ZERO,
        held_first: None,
        held_last: None,
    };
    run.outcome.ports = vec![
        PortOutcome {
            pauses: 6,
            held: Span::us(40),
            held_first: Some(us(20)),
            held_last: Some(us(90)),
            ..port(0, 0, 1_250_000)
        },
        port(1, 0, 0),
        port(2, 0, 250_000),
        port(2, 1, 1_000_000),
    ];
    run.outcome.tree = CongestionTree {
        duration: Span::us(80),
        links_max: 1,
        links_mean: 1.0,
        hosts: 1,
    };
    (run.outcome.answers, run.outcome.answer_bytes) = (50, Bytes::new(5_000));
    run
}

#[test]
fn completion_by_hand() {
    let run = small();
    let completion = run.metrics().completion.expect("finite flows");
    let all = completion.all;
    assert_eq!(
        (all.finished, all.unfinished, all.not_started, all.count()),
        (2, 1, 1, 4)
    );
    // 30 us and 100 us; 1.5 and 4 times as long as alone.
    let fct = all.fct.expect("two have finished");
    assert_eq!(fct.mean, 65e6);
    assert_eq!(
        (fct.p50, fct.p95, fct.max),
        (30e6 as u64, 100e6 as u64, 100e6 as u64)
    );
    let slowdown = all.slowdown.expect("two have finished");
    assert_eq!(
        (slowdown.mean, slowdown.p50, slowdown.p99),
        (2.75, 1.5, 4.0)
    );
    // Two in 2 ms.
    assert_eq!(completion.flows_per_s, 1_000.0);
    let sizes: Vec<_> = completion.by_size.iter().map(|(range, _)| *range).collect();
    let [tiny, small, _, large] = SizeRange::ALL;
    assert_eq!(sizes, [tiny, small, large], "none of 100 KB to 1 MB");
    let counts = completion.by_size.iter();
    let counts: Vec<_> = counts
        .map(|(_, group)| (group.finished, group.count()))
        .collect();
    assert_eq!(counts, [(1, 1), (1, 2), (0, 1)]);
    assert_eq!(completion.by_size[2].1.fct, None);
    let classes: Vec<_> = completion
        .by_class
        .iter()
        .map(|(class, _)| *class)
        .collect();
    assert_eq!(classes, [Class(0), Class(1)]);
    assert_eq!(completion.by_class[1].1.unfinished, 1);
}

#[test]
fn links_by_hand() {
    let metrics = small().metrics();
    let [hosts, switches] = metrics.layers[..] else {
        panic!("two layers: {:?}", metrics.layers);
    };
    // 10 Gb/s for 2 ms are 2.5 MB, 40 Gb/s are 10 MB.
    assert_eq!((hosts.layer, hosts.links), (0, 2));
    assert_eq!((hosts.utilisation_mean, hosts.utilisation_max), (0.25, 0.5));
    assert_eq!((hosts.pauses, hosts.pause_per_ms_per_link), (6, 1.5));
    assert_eq!(hosts.links_held, 1);
    assert_eq!((switches.layer, switches.links), (1, 2));
    assert_eq!(
        (switches.utilisation_mean, switches.utilisation_max),
        (0.1, 0.1)
    );
    assert_eq!((switches.pauses, switches.links_held), (0, 0));
    assert_eq!(metrics.busiest(2), [0, 2], "the first of equals");
    assert_eq!(metrics.busiest(10).len(), 3, "an idle port is not busy");
}

#[test]
fn sharing_by_hand() {
    let metrics = small().metrics();
    let all = metrics.fairness.expect("several flows");
    // Four have 4 Gb/s, one has nothing, and one has not started.
    assert_eq!((all.flows, all.jain), (5, 0.8));
    let endless = metrics.fairness_endless.expect("two flows");
    assert_eq!((endless.flows, endless.jain), (2, 0.8));
    let answers = metrics.answers.expect("some");
    assert_eq!(answers.share, 5_000.0 / 100_000.0);
}

#[test]
fn what_says_nothing_is_not_there() {
    let mut run = blank(&[("G1", None, 0)]);
    run.outcome.flows[0].start = Some(Time::ZERO);
    let expected = Metrics {
        completion: None,
        fairness: None,
        fairness_endless: None,
        layers: Vec::new(),
        ports: Vec::new(),
        tree: None,
        answers: None,
    };
    assert_eq!(run.metrics(), expected);
    assert!(summary::sections(&run).is_empty());
    let document = serde_json::to_string(&json::run_document(&run).run.metrics);
    assert_eq!(document.expect("a document"), r#"{"layers":[],"ports":[]}"#);
}

#[test]
fn an_empty_run_divides_by_nothing() {
    let mut run = small();
    run.outcome.end = Time::ZERO;
    for flow in &mut run.outcome.flows {
        *flow = FlowOutcome::default();
    }
    let metrics = run.metrics();
    let completion = metrics.completion.expect("finite flows");
    assert_eq!(completion.flows_per_s, 0.0);
    assert_eq!(completion.all.not_started, 4);
    assert!(
        metrics
            .layers
            .iter()
            .all(|layer| layer.utilisation_max == 0.0)
    );
}

#[test]
fn the_text_is_short() {
    let report = text::report(&small(), Paint::Plain);
    let (_, sections) = report
        .split_once("\ncompletion of finite flows\n")
        .expect("finite flows");
    expect![[r#"
          flows  finished  unfinished  FCT mean      p50  largest  slowdown mean   p50  largest
          all           2           2   65.0 us  30.0 us   100 us           2.75  1.50     4.00
          Of the unfinished, 1 flow did not start.

        links
          sent by  links  utilisation  busiest  pauses  per ms and link  held links
          hosts        2       25.0 %   50.0 %       6             1.50           1
          layer 1      2       10.0 %   10.0 %       0                0           0
          Busiest: A:S 50.0 %, S:A 10.0 %, S:B 10.0 %.
          Congestion tree: up to 1 link at a time, 1.00 in the mean, for 80.0 us; it reached 1 host.
          Answers to sources: 50 packets, 5.0 % of all bytes.
          Jain's index: 0.800 over the goodput of 5 flows, 0.800 over the late goodput of 2 flows without end.
    "#]].assert_eq(sections);
}

#[test]
fn the_document_has_every_metric() {
    let mut run = small();
    let metrics = json::run_document(&run).run.metrics;
    let completion = metrics.completion.expect("finite flows");
    let sizes = completion.by_size.iter();
    let sizes: Vec<_> = sizes
        .map(|size| (size.bytes_min, size.bytes_below))
        .collect();
    let expected = [
        (0, Some(10_000)),
        (10_000, Some(100_000)),
        (1_000_000, None),
    ];
    assert_eq!(sizes, expected);
    let classes: Vec<u8> = completion
        .by_class
        .iter()
        .map(|group| group.class)
        .collect();
    assert_eq!(classes, [0, 1]);
    // The rest is shorter with flows of one kind.
    for flow in &mut run.scenario.config.flows[..4] {
        (flow.size, flow.class) = (Bytes::new(5_000), Class(0));
    }
    let document = json::to_text(&json::run_document(&run).run.metrics);
    expect![[r#"
        {
          "completion": {
            "flows_per_s": 1000.0,
            "finished": 2,
            "unfinished": 1,
            "not_started": 1,
            "fct_mean_ps": 65000000.0,
            "fct_p50_ps": 30000000,
            "fct_p95_ps": 100000000,
            "fct_p99_ps": 100000000,
            "fct_p999_ps": 100000000,
            "fct_max_ps": 100000000,
            "slowdown_mean": 2.75,
            "slowdown_p50": 1.5,
            "slowdown_p95": 4.0,
            "slowdown_p99": 4.0,
            "slowdown_p999": 4.0,
            "slowdown_max": 4.0,
            "by_size": [],
            "by_class": []
          },
          "jain_goodput": 0.8,
          "jain_goodput_late_endless": 0.8,
          "congestion_tree": {
            "duration_ps": 80000000,
            "links_max": 1,
            "links_mean": 1.0,
            "hosts": 1
          },
          "answers": {
            "packets": 50,
            "bytes": 5000,
            "share": 0.05
          },
          "layers": [
            {
              "layer": 0,
              "links": 2,
              "utilisation_mean": 0.25,
              "utilisation_max": 0.5,
              "pauses": 6,
              "pause_per_ms_per_link": 1.5,
              "links_held": 1
            },
            {
              "layer": 1,
              "links": 2,
              "utilisation_mean": 0.1,
              "utilisation_max": 0.1,
              "pauses": 0,
              "pause_per_ms_per_link": 0.0,
              "links_held": 0
            }
          ],
          "ports": [
            {
              "node": "A",
              "port": "A:S",
              "sent_bytes": 1250000,
              "utilisation": 0.5,
              "pauses": 6,
              "held_ps": 40000000,
              "held_first_ps": 20000000,
              "held_last_ps": 90000000
            },
            {
              "node": "B",
              "port": "B:S",
              "sent_bytes": 0,
              "utilisation": 0.0,
              "pauses": 0,
              "held_ps": 0
            },
            {
              "node": "S",
              "port": "S:A",
              "sent_bytes": 250000,
              "utilisation": 0.1,
              "pauses": 0,
              "held_ps": 0
            },
            {
              "node": "S",
              "port": "S:B",
              "sent_bytes": 1000000,
              "utilisation": 0.1,
              "pauses": 0,
              "held_ps": 0
            }
          ]
        }
    "#]]
    .assert_eq(&document);
}

#[test]
fn flows_have_a_line_each() {
    let table = csv::flows(&small());
    expect![[r#"
        name,source,target,class,bytes,start_ps,finish_ps,fct_ps,ideal_ps,slowdown,goodput_bps
        F1,A,B,0,5000,10000000,40000000,30000000,20000000,1.5,4000000000
        F2,A,B,1,50000,50000000,150000000,100000000,25000000,4,4000000000
        F3,A,B,1,50000,100000000,,,25000000,,0
        F4,A,B,0,2000000,,,,,,0
        G1,A,B,0,,0,,,,,4000000000
        G2,A,B,0,,0,,,,,4000000000
    "#]]
    .assert_eq(&table);
}

#[test]
fn a_flow_that_started_later_than_planned_says_so() {
    let mut run = small();
    run.outcome.flows[0].start = Some(us(17));
    run.outcome.flows[3].start = None;
    let flows = json::run_document(&run).run.flows;
    assert_eq!(flows[0].start_ps, us(17).as_ps());
    assert_eq!(
        flows[3].start_ps,
        run.scenario.config.flows[3].start.as_ps()
    );
    assert_eq!(flows[0].fct_ps, Some(Span::us(23).as_ps()));
}

/// Flows of 1 KB to 10 MB, the n-th in n us, ten times slower than alone if they are short.
fn many(count: u64) -> Run {
    let mut run = blank(&[("F", Some(1_000), 0)]);
    let config = &mut run.scenario.config;
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
    let heading = Heading {
        title: "many".to_string(),
        lead: String::new(),
    };
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
    for flow in &mut run.scenario.config.flows {
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
    assert!(page.len() < 150_000, "{}", page.len());
    assert_eq!(csv::flows(&run).lines().count(), 1 + 100_000);
    assert_eq!(json::run_document(&run).run.flows.len(), 100_000);
    let sections = summary::sections(&run);
    let table = sections[0].table.render(|_, _, cell| cell.to_string());
    expect![[r#"
        completion of finite flows
          flows            finished  unfinished  FCT mean      p50      p95      p99    p99.9  slowdown mean   p50   p95   p99  p99.9
          all               100,000           0   50.0 ms  50.0 ms  95.0 ms  99.0 ms  99.9 ms           2.80  1.00  10.0  10.0   10.0
          below 10 KB        20,000           0   50.0 ms  50.0 ms  95.0 ms  99.0 ms  99.9 ms           10.0  10.0  10.0  10.0   10.0
          10 KB to 100 KB    20,000           0   50.0 ms  50.0 ms  95.0 ms  99.0 ms  99.9 ms           1.00  1.00  1.00  1.00   1.00
          100 KB to 1 MB     20,000           0   50.0 ms  50.0 ms  95.0 ms  99.0 ms  99.9 ms           1.00  1.00  1.00  1.00   1.00
          1 MB and more      40,000           0   50.0 ms  50.0 ms  95.0 ms  99.0 ms  99.9 ms           1.00  1.00  1.00  1.00   1.00
    "#]].assert_eq(&format!("{}\n{table}", sections[0].title));
}
