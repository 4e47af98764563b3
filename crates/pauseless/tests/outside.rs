//! A congestion control, a flow control, a topology and a kind of traffic of another crate: declared and
//! registered here, they have keys, messages, documentation, schema and results like our own.

mod outside_kinds;
#[path = "../../pauseless-scenario/tests/problems/mod.rs"]
mod problems;

use std::ops::ControlFlow;

use expect_test::{Expect, expect};
use outside_kinds::congestion::AIMD;
use outside_kinds::flow_control::WindowKeys;
use outside_kinds::topology::HubKeys;
use outside_kinds::traffic::Shift;
use pauseless::schema::Document;
use pauseless_core::unit::{Bytes, Span};
use pauseless_plan::explain::explain;
use pauseless_run::Run;
use pauseless_scenario::congestion::Scheme;
use pauseless_scenario::outside::{
    OUTSIDE, register_flow_control, register_topology, register_traffic,
};
use pauseless_scenario::shape;
use pauseless_scenario::{Overrides, Scenario, describe};
use pauseless_sim::config::Reaction;
use pauseless_text::declare::markdown;
use problems::GOOD;

fn text(keys: &str) -> String {
    format!("{GOOD}[congestion_control]\nkind = \"aimd\"\n{keys}\n")
}

#[test]
fn an_outside_scheme_is_like_our_own() {
    OUTSIDE.register(&AIMD);
    OUTSIDE.register(&AIMD);
    let names = Scheme::all().into_iter().map(|scheme| scheme.name());
    assert_eq!(names.filter(|name| *name == "aimd").count(), 1);

    // Read, with its defaults and its own values, and written out.
    let read = |keys| Scenario::parse("t.toml", &text(keys), &Overrides::default());
    let scenario = read("step = \"20 Mbps\"").unwrap_or_else(|wrong| panic!("{wrong}"));
    let resolved = scenario.resolved();
    for line in ["kind = \"aimd\"", "threshold = \"50 KB\"", "step = \"20 Mbps\"", "ack_every = 1"]
    {
        assert!(resolved.contains(line), "{line} in {resolved}");
    }
    let again = Scenario::parse("t.toml", &resolved, &Overrides::default());
    let again = again.unwrap_or_else(|wrong| panic!("{wrong}"));
    assert_eq!(again.config.congestion.control, scenario.config.congestion.control);

    // Explained, with what is default and what is not.
    let rows = explain(&scenario).congestion.expect("a scheme").rows;
    let row = |symbol: &str| rows.iter().find(|row| row.symbol == symbol).expect("a row");
    assert_eq!(
        (row("threshold").value.as_str(), row("threshold").source),
        ("50 KB", "this example")
    );
    assert_eq!((row("step").value.as_str(), row("step").source), ("20 Mbps", "scenario"));

    // Refused as ours are: the key, the range, what was meant.
    let wrong = read("stp = \"1 Mbps\"").expect_err("no such key").to_string();
    assert!(
        wrong.contains("unknown key with kind = \"aimd\"") && wrong.contains("did you mean step?")
    );
    let wrong = read("step = \"2 Gbps\"").expect_err("too large").to_string();
    assert!(wrong.contains("a rate from 1 kbps to 1 Gbps"), "{wrong}");

    // In the schema and in the documents.
    let schema = Document::named("scenario").expect("a schema").schema().to_string();
    assert!(schema.contains("\"aimd\"") && schema.contains("The rate grows by this"));
    let table = markdown::keys(&describe::info(), "congestion_control=aimd").expect("a table");
    assert!(table.contains("| `threshold` | bytes, 1 B to 10 MB | `\"50 KB\"` |"), "{table}");

    // And it runs: two flows into one port share it without a loss, and the step counts.
    let run = |keys| {
        let scenario = read(keys).unwrap_or_else(|wrong| panic!("{wrong}"));
        Run::execute(scenario, |_| ControlFlow::Continue(()))
    };
    let (slow, fast) = (run("threshold = \"1 KB\"\nstep = \"1 kbps\""), run(""));
    assert_eq!(slow.schemes(), "pfc with aimd");
    let bytes = |run: &Run| run.outcome.flows.iter().map(|flow| flow.delivered.get()).sum::<u64>();
    assert!(0 < bytes(&slow) && bytes(&slow) <= bytes(&fast));
}

/// A scenario in which every section that can is of another crate.
const FOREIGN: &str = r#"duration = "1 ms"
[topology]
kind = "hub"
spokes = 3
rate = "10 Gbps"
delay = "1 us"
[switch]
buffer = "100 KB"
[flow_control]
kind = "window"
[congestion_control]
kind = "aimd"
[[traffic]]
kind = "shift"
size = "100 KB"
"#;

fn foreign(text: &str) -> Result<Scenario, String> {
    OUTSIDE.register(&AIMD);
    register_flow_control::<WindowKeys>("window");
    register_topology::<HubKeys>("hub");
    register_traffic::<Shift>("shift");
    let scenario = Scenario::parse("t.toml", text, &Overrides::default());
    scenario.map_err(|problems| problems.to_string())
}

/// The message for the foreign scenario with `from` replaced.
fn check_edit(from: &str, to: &str, expected: Expect) {
    assert!(FOREIGN.contains(from), "{from}");
    let refused = foreign(&FOREIGN.replacen(from, to, 1)).expect_err("something is wrong");
    expected.assert_eq(&format!("{refused}\n"));
}

#[test]
fn a_scenario_of_outside_kinds_is_resolved_and_runs() {
    let scenario = foreign(FOREIGN).unwrap_or_else(|wrong| panic!("{wrong}"));
    let resolved = scenario.resolved();
    for line in [
        "kind = \"hub\"",
        "hosts_per_spoke = 1",
        "kind = \"window\"",
        "window = \"100 KB\"",
        "kind = \"shift\"",
        "by = 1",
        "size = \"100 KB\"",
    ] {
        assert!(resolved.contains(line), "{line} in {resolved}");
    }
    let again = foreign(&resolved).unwrap_or_else(|wrong| panic!("{wrong}"));
    assert_eq!(again.resolved(), resolved);

    let derivation = format!("{:?}", explain(&scenario));
    assert!(
        derivation.contains("How many bytes may be under way and in the buffer"),
        "{derivation}"
    );

    let run = Run::execute(scenario, |_| ControlFlow::Continue(()));
    assert_eq!(run.schemes(), "window with aimd");
    let outcome = &run.outcome;
    assert_eq!((outcome.lost_packets, outcome.flows.len()), (0, 3));
    for (flow, name) in outcome.flows.iter().zip(["H0->H1", "H1->H2", "H2->H0"]) {
        assert_eq!(flow.delivered, Bytes::kb(100), "{name}");
    }
    let flows = run.scenario.config.flows.iter();
    for flow in flows.clone() {
        // Links of 1 us, four there and four back, and four times 1500 B at 10 Gbps.
        let Reaction::Controlled { round_trip, .. } = flow.reaction else {
            panic!("{} obeys a congestion control", flow.name);
        };
        assert_eq!(round_trip, Span::ns(12_800));
    }
    let names = flows.map(|flow| flow.name.as_str());
    assert_eq!(Vec::from_iter(names), ["shift/H0->H1", "shift/H1->H2", "shift/H2->H0"]);
}

#[test]
fn a_window_of_another_crate_bounds_every_queue() {
    let text = FOREIGN.replace("kind = \"window\"", "kind = \"window\"\nwindow = \"30 KB\"");
    // Two hosts of one switch send to a third one: their queues are full all the time.
    let text = text.replace("spokes = 3", "spokes = 2\nhosts_per_spoke = 3");
    let flow = |source| format!("[[flow]]\nsource = \"{source}\"\ntarget = \"H3\"\n");
    let at = "[[flow_control.at]]\nports = [\"S0:H1\"]\nwindow = \"6 KB\"\n";
    let text = format!("{text}{at}{}{}", flow("H0"), flow("H1"));
    let scenario = foreign(&text).unwrap_or_else(|wrong| panic!("{wrong}"));
    let run = Run::execute(scenario, |_| ControlFlow::Continue(()));
    assert_eq!(run.outcome.lost_packets, 0);
    let topology = &run.scenario.config.topology;
    let largest = |name: &str| {
        let queues = run.outcome.queues.iter();
        let named = queues.filter(|queue| topology.port_name(queue.node, queue.port) == name);
        named.map(|queue| queue.max.get()).max().expect("a port")
    };
    assert_eq!(largest("S0:H1"), 6_000);
    assert!((6_001..=30_000).contains(&largest("S0:H0")));
}

#[test]
fn what_is_wrong_with_an_outside_topology_is_said_as_of_our_own() {
    check_edit(
        "kind = \"hub\"",
        "kind = \"hbu\"",
        expect![[r#"
        pauseless: t.toml:3:8: topology.kind: unknown value "hbu"
          |
        3 | kind = "hbu"
          |        ^^^^^ expected one of "ring", "line", "dumbbell", "n-to-1", "parking-lot", "fat-tree", "leaf-spine", "clos", "rail-optimised", "dragonfly", "torus", "mesh", "hyperx", "random-regular", "custom", "hub"
          |
          = help: did you mean hub?
    "#]],
    );
    check_edit(
        "spokes = 3\n",
        "spoke = 3\n",
        expect![[r#"
        pauseless: t.toml:2:1: topology.spokes: missing with kind = "hub"
          |
        2 | [topology]
          | ^^^^^^^^^^
          |
          = help: add spokes = a whole number

        pauseless: t.toml:4:1: topology.spoke: unknown key with kind = "hub"
          |
        4 | spoke = 3
          | ^^^^^ expected one of delay, failed_links, failed_switches, host_delay, host_rate, hosts_per_spoke, kind, random_failures, rate, spokes
          |
          = help: did you mean spokes?
    "#]],
    );
    check_edit(
        "spokes = 3",
        "spokes = 1",
        expect![[r#"
        pauseless: t.toml:4:10: topology.spokes: spokes of a hub: 1 is not in the range from 2 to 64
          |
        4 | spokes = 1
          |          ^
    "#]],
    );
}

#[test]
fn what_is_wrong_with_outside_flow_controls_and_traffic_is_said_as_of_our_own() {
    check_edit(
        "kind = \"window\"",
        "kind = \"window\"\nwindows = \"9 KB\"",
        expect![[r#"
            pauseless: t.toml:11:1: flow_control.windows: unknown key with kind = "window"
               |
            11 | windows = "9 KB"
               | ^^^^^^^ expected one of at, kind, tick, unsafe_parameters, window
               |
               = help: did you mean window?
        "#]],
    );
    check_edit(
        "kind = \"window\"",
        "kind = \"window\"\nwindow = \"200 KB\"",
        expect![[r#"
            pauseless: t.toml:11:10: flow_control.window: window = 200 KB is not safe at S0:H0
               |
            11 | window = "200 KB"
               |          ^^^^^^^^ expected at most 100 KB = the buffer
               |
               = help: set window = "100 KB" or less, or unsafe_parameters = true in [flow_control] to run it all the same
        "#]],
    );
    check_edit(
        "kind = \"shift\"",
        "kind = \"shift\"\nby = 3",
        expect![[r#"
            pauseless: t.toml:15:6: traffic[0].by: a shift by 3 of 3 hosts goes nowhere
               |
            15 | by = 3
               |      ^
               |
               = help: shift by less than there are hosts
        "#]],
    );
    check_edit(
        "size = \"100 KB\"\n",
        "",
        expect![[r#"
        pauseless: t.toml:13:1: traffic[0].size: missing with kind = "shift"
           |
        13 | [[traffic]]
           | ^^^^^^^^^^^
           |
           = help: add size = "1 MB"
    "#]],
    );
}

#[test]
fn what_an_outside_flow_control_cannot_do_is_refused() {
    let memory = "[switch.memory]\nkind = \"shared\"\ntotal = \"1 MB\"\nalpha = \"1/8\"";
    check_edit(
        "[switch]\nbuffer = \"100 KB\"",
        memory,
        expect![[r#"
        pauseless: t.toml:12:8: flow_control.kind: "window" needs a buffer of each port and class
           |
        12 | kind = "window"
           |        ^^^^^^^^
           |
           = help: a grant or a rate is about bytes that nobody else can take; use "pfc" or "none", or leave out [switch.memory]
    "#]],
    );
    check_edit(
        "[[traffic]]",
        "[watchdog]\n[[traffic]]",
        expect![[r#"
        pauseless: t.toml:13:1: watchdog: there is no PFC to watch
           |
        13 | [watchdog]
           | ^^^^^^^^^^ expected [flow_control] with kind = "pfc"
           |
           = help: leave [watchdog] out, or look for deadlocks with [recovery]
    "#]],
    );
    check_edit(
        "kind = \"window\"",
        "kind = \"window\"\ncycle_aware = true",
        expect![[r#"
            pauseless: t.toml:11:1: flow_control.cycle_aware: unknown key with kind = "window"
               |
            11 | cycle_aware = true
               | ^^^^^^^^^^^ expected one of at, kind, tick, unsafe_parameters, window
        "#]],
    );
    let overrides = Overrides { cycle_aware: Some(true), ..Overrides::default() };
    foreign(FOREIGN).expect("nothing is wrong with it");
    let refused = Scenario::parse("t.toml", FOREIGN, &overrides);
    let refused = refused.expect_err("it has no thresholds").to_string();
    assert!(refused.contains("has none that it could set"), "{refused}");
}

#[test]
fn outside_kinds_are_in_documents_and_schemas() {
    foreign(FOREIGN).expect("nothing is wrong with it");
    let info = describe::info();
    for (path, row) in [
        ("flow_control=window", "| `window` | bytes, 2 KB to 100 MB | the buffer |"),
        ("topology=hub", "| `spokes` | whole number | required |"),
        ("traffic=shift", "| `by` | 1 to 1000 | `1` |"),
    ] {
        let table = markdown::keys(&info, path).expect("a table");
        assert!(table.contains(row), "{table}");
    }
    let schema = Document::named("scenario").expect("a schema").schema();
    let schema = schema.to_string();
    for part in ["\"window\"", "\"hub\"", "\"shift\"", "How many switches surround the hub"] {
        assert!(schema.contains(part), "{part}");
    }
    // A fabric by a short text.
    let fabric = shape::parse("hub:4,hosts_per_spoke=2").unwrap_or_else(|wrong| panic!("{wrong}"));
    assert_eq!(fabric.topology.host_count(), 8);
}
