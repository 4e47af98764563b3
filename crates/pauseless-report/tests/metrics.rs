//! Metrics of outcomes made by hand, and what the reports make of them.

mod metrics_made;

use expect_test::expect;
use pauseless_core::id::{Class, NodeId, PortId};
use pauseless_core::unit::{Bytes, Span, Time};
use pauseless_report::text;
use pauseless_report::{csv, json, summary};
use pauseless_run::Run;
use pauseless_run::metrics::Metrics;
use pauseless_run::metrics::completion::SizeRange;
use pauseless_run::metrics::distribution::Percentile;
use pauseless_sim::outcome::{CongestionTree, FlowOutcome, PortOutcome};
use pauseless_text::record::to_text;
use pauseless_text::terminal::Paint;

use metrics_made::{blank, finished, us};

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
        balanced: 0,
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
    run.outcome.tree =
        CongestionTree { duration: Span::us(80), links_max: 1, links_mean: 1.0, hosts: 1 };
    (run.outcome.answers, run.outcome.answer_bytes) = (50, Bytes::new(5_000));
    (run.outcome.acknowledgements, run.outcome.marked_packets) = (30, 7);
    run
}

#[test]
fn completion_by_hand() {
    let run = small();
    let completion = run.metrics().completion.expect("finite flows");
    let all = completion.all;
    assert_eq!((all.finished, all.unfinished, all.not_started, all.count()), (2, 1, 1, 4));
    // 30 us and 100 us; 1.5 and 4 times as long as alone.
    let fct = all.fct.finished.expect("two have finished");
    assert_eq!(fct.mean, 65e6);
    assert_eq!(
        (fct.at(Percentile::P50), fct.at(Percentile::P95), fct.at(Percentile::MAX)),
        (30e6 as u64, 100e6 as u64, 100e6 as u64)
    );
    let slowdown = all.slowdown.finished.expect("two have finished");
    assert_eq!(
        (slowdown.mean, slowdown.at(Percentile::P50), slowdown.at(Percentile::P99)),
        (2.75, 1.5, 4.0)
    );
    // Two in 2 ms.
    assert_eq!(completion.flows_per_s, 1_000.0);
    let sizes: Vec<_> = completion.by_size.iter().map(|(range, _)| *range).collect();
    let [tiny, small, _, large] = SizeRange::ALL;
    assert_eq!(sizes, [tiny, small, large], "none of 100 KB to 1 MB");
    let counts = completion.by_size.iter();
    let counts: Vec<_> = counts.map(|(_, group)| (group.finished, group.count())).collect();
    assert_eq!(counts, [(1, 1), (1, 2), (0, 1)]);
    assert_eq!(completion.by_size[2].1.fct.finished, None);
    let classes: Vec<_> = completion.by_class.iter().map(|(class, _)| *class).collect();
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
    assert_eq!((switches.utilisation_mean, switches.utilisation_max), (0.1, 0.1));
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
    assert!(metrics.layers.iter().all(|layer| layer.utilisation_max == 0.0));
}

#[test]
fn the_text_is_short() {
    let report = text::report(&small(), Paint::Plain);
    let (_, sections) = report.split_once("\ncompletion of finite flows\n").expect("finite flows");
    expect![[r#"
          flows          finished  unfinished  FCT mean      p50  largest  slowdown mean   p50  largest
          all                   2           1   65.0 us  30.0 us   100 us           2.75  1.50     4.00
          all, at best                           680 us   100 us  1.91 ms           27.3  4.00     76.4
          all, at worst                               -   100 us        -              -  4.00        -
          1 of 3 flows (33.3 %) did not finish. Completion times and slowdowns leave them out; with them each lies between "at best" and "at worst" (-: no bound).
          Of fewer than 20 flows p95, p99 and p99.9 are the largest.
          Besides these, 1 flow did not start.

        links
          sent by  links  utilisation  busiest  pauses  per ms and link  held links
          hosts        2       25.0 %   50.0 %       6             1.50           1
          layer 1      2       10.0 %   10.0 %       0                0           0
          Busiest: A:S 50.0 %, S:A 10.0 %, S:B 10.0 %.
          Congestion tree: up to 1 link at a time, 1.00 in the mean, for 80.0 us; it reached 1 host.
          Answers to sources: 20 notifications and 30 acknowledgements, 5.0 % of all bytes; 7 data packets marked.
          Jain's index: 0.800 over the goodput of 5 flows, 0.800 over the late goodput of 2 flows without end.
    "#]].assert_eq(sections);
}

#[test]
fn the_document_groups_flows_by_size_and_class() {
    let document = serde_json::to_value(json::run_document(&small())).expect("a document");
    let completion = &document["metrics"]["completion"];
    let list = |name: &str| completion[name].as_array().expect("a list").clone();
    let sizes = list("by_size").into_iter();
    let sizes: Vec<_> =
        sizes.map(|size| (size["bytes_min"].as_u64(), size["bytes_below"].clone())).collect();
    let expected = [
        (Some(0), 10_000.into()),
        (Some(10_000), 100_000.into()),
        (Some(1_000_000), serde_json::Value::Null),
    ];
    assert_eq!(sizes, expected);
    let classes = list("by_class").into_iter();
    let classes: Vec<_> = classes.map(|group| group["class"].as_u64()).collect();
    assert_eq!(classes, [Some(0), Some(1)]);
}

#[test]
fn the_document_has_what_is_said_of_flows() {
    let mut run = small();
    // It is shorter with flows of one kind.
    for flow in &mut metrics_made::config(&mut run).flows[..4] {
        (flow.size, flow.class) = (Bytes::new(5_000), Class(0));
    }
    let metrics = json::run_document(&run).run.metrics;
    let completion = metrics.get("completion").expect("finite flows");
    // F3 has lived for 1.9 ms, and 3.5 KB of its 5 KB take another 0.7 us at 40 Gb/s.
    expect![[r#"
        {
          "flows_per_s": 1000.0,
          "finished": 2,
          "unfinished": 1,
          "not_started": 1,
          "fct_mean_ps": 65000000.0,
          "fct_mean_ps_best": 676900000.0,
          "fct_mean_ps_worst": null,
          "fct_p50_ps": 30000000,
          "fct_p50_ps_best": 100000000,
          "fct_p50_ps_worst": 100000000,
          "fct_p95_ps": 100000000,
          "fct_p95_ps_best": 1900700000,
          "fct_p95_ps_worst": null,
          "fct_p95_ps_from": 100000000,
          "fct_p95_ps_to": null,
          "fct_p99_ps": 100000000,
          "fct_p99_ps_best": 1900700000,
          "fct_p99_ps_worst": null,
          "fct_p99_ps_from": 100000000,
          "fct_p99_ps_to": null,
          "fct_p999_ps": 100000000,
          "fct_p999_ps_best": 1900700000,
          "fct_p999_ps_worst": null,
          "fct_p999_ps_from": 1900700000,
          "fct_p999_ps_to": null,
          "fct_max_ps": 100000000,
          "fct_max_ps_best": 1900700000,
          "fct_max_ps_worst": null,
          "slowdown_mean": 2.75,
          "slowdown_mean_best": 27.176000000000002,
          "slowdown_mean_worst": null,
          "slowdown_p50": 1.5,
          "slowdown_p50_best": 4.0,
          "slowdown_p50_worst": 4.0,
          "slowdown_p95": 4.0,
          "slowdown_p95_best": 76.028,
          "slowdown_p95_worst": null,
          "slowdown_p95_from": 4.0,
          "slowdown_p95_to": null,
          "slowdown_p99": 4.0,
          "slowdown_p99_best": 76.028,
          "slowdown_p99_worst": null,
          "slowdown_p99_from": 4.0,
          "slowdown_p99_to": null,
          "slowdown_p999": 4.0,
          "slowdown_p999_best": 76.028,
          "slowdown_p999_worst": null,
          "slowdown_p999_from": 76.028,
          "slowdown_p999_to": null,
          "slowdown_max": 4.0,
          "slowdown_max_best": 76.028,
          "slowdown_max_worst": null,
          "by_size": [],
          "by_class": []
        }
    "#]]
    .assert_eq(&to_text(completion));
}

#[test]
fn the_document_has_what_is_said_of_the_whole_run() {
    let metrics = json::run_document(&small()).run.metrics;
    let text = first(&to_text(&metrics), ",\n  \"layers\"", 1);
    let (_, text) = text.split_once("\n  },\n").expect("completion comes first");
    expect![[r#"
        {
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
            "acknowledgements": 30,
            "notifications": 20,
            "marked_packets": 7,
            "bytes": 5000,
            "share": 0.05
          }
        }
    "#]]
    .assert_eq(&format!("{{\n{text}\n}}\n"));
}

#[test]
fn the_document_has_what_is_said_of_links() {
    let metrics = json::run_document(&small()).run.metrics;
    expect![[r#"
        [
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
        ]
    "#]]
    .assert_eq(&to_text(&metrics.get("layers")));
    expect![[r#"
        [
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
          }
        ]
    "#]]
    .assert_eq(&(first(&to_text(&metrics.get("ports")), ",\n  {", 2) + "\n]\n"));
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
    let document = serde_json::to_value(json::run_document(&run)).expect("a document");
    let flows = &document["flows"];
    assert_eq!(flows[0]["start_ps"], us(17).as_ps());
    let planned = run.scenario.config.flows[3].start.as_ps();
    assert_eq!(flows[3]["start_ps"], planned);
    assert_eq!(flows[0]["fct_ps"], Span::us(23).as_ps());
}

/// The first few pieces of a text.
fn first(text: &str, between: &str, count: usize) -> String {
    let pieces = Vec::from_iter(text.split(between).take(count));
    pieces.join(between)
}
