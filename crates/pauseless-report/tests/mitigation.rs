//! `[watchdog]`, `[recovery]` and `[[rate_limit]]`: what is read, refused, written and reported.

#[path = "../../pauseless-scenario/tests/problems/mod.rs"]
mod problems;

use std::ops::ControlFlow;

use expect_test::expect;
use pauseless_core::switch::watchdog::{self, Action};
use pauseless_core::unit::{Rate, Span};
use pauseless_report::html::{self, Heading};
use pauseless_report::json;
use pauseless_report::text;
use pauseless_report::verdict::Finding;
use pauseless_run::Run;
use pauseless_scenario::{Overrides, Scenario};
use pauseless_sim::config::{Mitigation, Recovery, Watchdog};
use pauseless_text::terminal::Paint;
use problems::{GOOD, check};

fn parse(text: &str) -> Scenario {
    let scenario = Scenario::parse("t", text, &Overrides::default());
    scenario.unwrap_or_else(|problems| panic!("{problems}"))
}

fn with(more: &str) -> String {
    format!("{GOOD}{more}")
}

#[test]
fn nothing_is_done_unless_asked_for() {
    let scenario = parse(GOOD);
    assert_eq!(scenario.config.mitigation, Mitigation::default());
    for section in ["[watchdog]", "[recovery]", "[[rate_limit]]"] {
        assert!(!scenario.resolved().contains(section));
    }
}

#[test]
fn defaults_are_those_of_sonic() {
    let scenario = parse(&with("[watchdog]\n[recovery]\nkind = \"drain\"\n"));
    let mitigation = &scenario.config.mitigation;
    let expected = watchdog::Config {
        detection: Span::ms(200),
        restoration: Span::ms(400),
        poll: Span::ZERO,
        action: Action::Drop,
    };
    assert_eq!(mitigation.watchdog, Watchdog::On(expected));
    let delay = Span::ZERO;
    assert_eq!(mitigation.recovery, Recovery::Drain { delay });
    assert!(scenario.warnings.is_empty());
}

#[test]
fn what_was_resolved_reads_the_same() {
    let scenario = parse(&with(
        r#"
        [watchdog]
        detection = "3 ms"
        restoration = "5 ms"
        poll = "1 ms"
        action = "forward"
        [recovery]
        kind = "drain"
        delay = "10 us"
        [[rate_limit]]
        ports = ["H*:*", "S1:S2"]
        rate = "4 Gbps"
        [[rate_limit]]
        ports = ["H2:S2"]
        classes = [0]
        rate = "2.5 Gbps"
        "#,
    ));
    let again = parse(&scenario.resolved());
    assert_eq!(again.resolved(), scenario.resolved());
    assert_eq!(again.config.mitigation, scenario.config.mitigation);
    let limits = &scenario.config.mitigation.limits;
    let topology = &scenario.config.topology;
    let named = limits.iter().map(|limit| {
        let name = topology.port_name(limit.node, limit.port);
        (name, limit.rate)
    });
    let mut named = Vec::from_iter(named);
    named.sort();
    let slow = Rate::gbps(4);
    let expected =
        [("H1:S1", slow), ("H2:S2", Rate::mbps(2_500)), ("H3:S3", slow), ("S1:S2", slow)];
    assert_eq!(named, expected.map(|(name, rate)| (name.to_string(), rate)));
}

#[test]
fn watchdogs_that_make_no_sense() {
    check(
        &with("[watchdog]\ndetection = \"0 ms\"\naction = \"dorp\"\npol = 1\n"),
        expect![[r#"
            pauseless: t.toml:17:13: watchdog.detection: 0 ps is out of range
               |
            17 | detection = "0 ms"
               |             ^^^^^^ expected a time from 1 ns to 86400 s

            pauseless: t.toml:18:10: watchdog.action: unknown value "dorp"
               |
            18 | action = "dorp"
               |          ^^^^^^ expected one of "alert", "forward", "drop"
               |
               = help: did you mean drop?

            pauseless: t.toml:19:1: watchdog.pol: unknown key
               |
            19 | pol = 1
               | ^^^ expected one of action, detection, poll, restoration
               |
               = help: did you mean poll?
        "#]],
    );
    let cbfc = GOOD.replace("pfc", "cbfc").replace("xoff = \"800 KB\"\n", "");
    check(
        &format!("{cbfc}[watchdog]\n"),
        expect![[r#"
        pauseless: t.toml:15:1: watchdog: there is no PFC to watch
           |
        15 | [watchdog]
           | ^^^^^^^^^^ expected [flow_control] with kind = "pfc"
           |
           = help: leave [watchdog] out, or look for deadlocks with [recovery]
    "#]],
    );
}

#[test]
fn recoveries_that_make_no_sense() {
    check(
        &with("[recovery]\ndelay = \"1 ms\"\n"),
        expect![[r#"
            pauseless: t.toml:16:1: recovery.kind: missing
               |
            16 | [recovery]
               | ^^^^^^^^^^
               |
               = help: add kind = "none" or "drain"
        "#]],
    );
    check(
        &with("[recovery]\nkind = \"reboot\"\n"),
        expect![[r#"
        pauseless: t.toml:17:8: recovery.kind: unknown value "reboot"
           |
        17 | kind = "reboot"
           |        ^^^^^^^^ expected one of "none", "drain"
    "#]],
    );
    check(
        &with("[recovery]\nkind = \"none\"\ndelay = \"1 ms\"\n"),
        expect![[r#"
            pauseless: t.toml:18:1: recovery.delay: unknown key with kind = "none"
               |
            18 | delay = "1 ms"
               | ^^^^^ expected one of kind
        "#]],
    );
}

#[test]
fn limits_that_make_no_sense() {
    check(
        &with("[[rate_limit]]\n"),
        expect![[r#"
        pauseless: t.toml:16:1: rate_limit[0].ports: missing
           |
        16 | [[rate_limit]]
           | ^^^^^^^^^^^^^^
           |
           = help: add ports = ["H*:*"]

        pauseless: t.toml:16:1: rate_limit[0].rate: missing
           |
        16 | [[rate_limit]]
           | ^^^^^^^^^^^^^^
           |
           = help: add rate = "4 Gbps"
    "#]],
    );
    check(
        &with("[rate_limit]\nports = [\"H1:S1\"]\nrate = \"1 Gbps\"\n"),
        expect![[r#"
            pauseless: t.toml:16:2: rate_limit: written once, as a table, but there may be several
               |
            16 | [rate_limit]
               |  ^^^^^^^^^^ expected [[rate_limit]]
               |
               = help: write [[rate_limit]] with two brackets on each side
        "#]],
    );
    check(
        &with("[[rate_limit]]\nports = [\"H*:*\", \"X1:S1\"]\nclasses = [1]\nrate = \"11 Gbps\"\n"),
        expect![[r#"
            pauseless: t.toml:17:18: rate_limit[0].ports[1]: the fabric has no node "X1"
               |
            17 | ports = ["H*:*", "X1:S1"]
               |                  ^^^^^^^

            pauseless: t.toml:18:12: rate_limit[0].classes[0]: 1 is out of range
               |
            18 | classes = [1]
               |            ^ expected 0, the only possible value

            pauseless: t.toml:19:8: rate_limit[0].rate: faster than H1:S1, which has 10 Gbps
               |
            19 | rate = "11 Gbps"
               |        ^^^^^^^^^ expected at most the rate of the link
        "#]],
    );
}

#[test]
fn a_restoration_between_two_refreshes_is_warned_of() {
    let scenario = parse(&with("[watchdog]\ndetection = \"500 us\"\n"));
    expect!["watchdog.restoration = 1 ms is over before a paused S3:S1 hears the next PAUSE, after 1677.696 us"].assert_eq(&scenario.warnings.join("\n"));
}

const RING: &str = r#"
duration = "40 ms"
[topology]
kind = "ring"
switches = 3
hosts_per_switch = 1
rate = "10 Gbps"
delay = "1 us"
[switch]
buffer = "1012 KB"
processing = "85 us"
[flow_control]
kind = "pfc"
xoff = "800 KB"
[[flow]]
name = "F1"
source = "H1"
target = "H3"
path = ["S1", "S2", "S3"]
[[flow]]
name = "F2"
source = "H2"
target = "H1"
path = ["S2", "S3", "S1"]
[[flow]]
name = "F3"
source = "H3"
target = "H2"
path = ["S3", "S1", "S2"]
[timing]
sources_stop = "20 ms"
"#;

fn run(more: &str) -> Run {
    let scenario = parse(&format!("{RING}{more}"));
    Run::execute(scenario, |_| ControlFlow::Continue(()))
}

#[test]
fn reports_say_what_was_dropped_and_why() {
    let plain = run("");
    let document = serde_json::to_value(json::run_document(&plain)).expect("a document");
    assert_eq!(document["deadlocks"], 1);
    assert!(document["episodes"][0]["broken_ps"].is_null());
    assert!(document.get("watchdog_trips").is_none());
    assert!(text::report(&plain, Paint::Plain).contains("stuck for ever"));

    let watched = run("[watchdog]\ndetection = \"2 ms\"\n");
    assert!(Finding::Loss.is_in(&watched.outcome));
    let document = serde_json::to_value(json::run_document(&watched)).expect("a document");
    let losses = &document["losses"];
    assert_eq!(losses["watchdog"]["packets"], document["lost_packets"]);
    assert_eq!(losses["overrun"]["packets"], 0);
    assert!(document["loss"].is_null(), "nothing was overrun");
    assert_eq!(document["deadlock"]["time_ps"], document["episodes"][0]["found_ps"]);
    let trip = &document["watchdog_trips"][0];
    assert!(trip["restored_ps"].as_u64() > trip["time_ps"].as_u64());
    assert!(trip["dropped"]["packets"].as_u64() > Some(0));
    let text = text::report(&watched, Paint::Plain);
    for words in [
        "deadlocks in all, each broken within",
        "dropped by watchdogs",
        "\nwatchdog\n",
        "drained in",
        LOST_FOR_GOOD,
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    let resent = run("[watchdog]\ndetection = \"2 ms\"\n[transport]\nrecovery = \"go-back-n\"\n");
    let text = text::report(&resent, Paint::Plain);
    assert!(text.contains("dropped by watchdogs") && !text.contains(LOST_FOR_GOOD), "{text}");

    let drained = run("[recovery]\nkind = \"drain\"\ndelay = \"1 ms\"\n");
    let text = text::report(&drained, Paint::Plain);
    assert!(text.contains("dropped to break deadlocks"), "{text}");
    assert!(drained.outcome.episodes.len() > 1);
    assert!(text.contains("deadlocks in all, each broken within 1.00 ms"), "{text}");
}

const LOST_FOR_GOOD: &str = "What is lost is not sent again";

/// A ring with two hosts at each switch, whose watchdogs drop for longer than they wait.
fn crowded_ring() -> String {
    let mut text = "duration = \"10 ms\"\n[topology]\nkind = \"ring\"\nswitches = 3\n\
                    hosts_per_switch = 2\nrate = \"10 Gbps\"\ndelay = \"1 us\"\n\
                    [switch]\nbuffer = \"312 KB\"\n[flow_control]\nkind = \"pfc\"\n\
                    [watchdog]\ndetection = \"1 ms\"\nrestoration = \"20 ms\"\n"
        .to_string();
    for (from, over, to) in [(1, 2, 3), (2, 3, 1), (3, 1, 2)] {
        for host in ["a", "b"] {
            text.push_str(&format!(
                "[[flow]]\nname = \"F{from}{host}\"\nsource = \"H{from}{host}\"\n\
                 target = \"H{to}{host}\"\npath = [\"S{from}\", \"S{over}\", \"S{to}\"]\n"
            ));
        }
    }
    text
}

/// Every deadlock was broken, and yet no flow gets anything at the end: nothing excuses that.
#[test]
fn broken_deadlocks_excuse_no_starvation() {
    let run = Run::execute(parse(&crowded_ring()), |_| ControlFlow::Continue(()));
    assert!(!run.outcome.episodes.is_empty() && !run.outcome.is_stuck());
    let flows = run.outcome.flows.iter();
    let idle = flows.filter(|flow| flow.goodput_late_bps == 0.0).count();
    assert_eq!((idle, run.outcome.starved.len()), (6, 6));
    assert!(run.victims().is_empty());
    let text = text::report(&run, Paint::Plain);
    assert!(text.contains("starvation: F"), "{text}");
    assert!(!text.contains("no starvation"), "{text}");
    assert!(text.contains("The costliest first."), "{text}");
    let heading = Heading { title: String::new(), lead: String::new() };
    let page = html::page(&heading, std::slice::from_ref(&run));
    assert!(!page.contains("for ever"));
    assert!(page.contains("each queue waited for the next, until it was broken at"));

    let stuck = self::run("");
    assert!(stuck.outcome.is_stuck() && stuck.outcome.starved.is_empty());
    assert!(html::page(&heading, &[stuck]).contains("each queue waits for the next, for ever"));
}

#[test]
fn what_takes_no_time_is_broken_at_once() {
    let drained = run("[recovery]\nkind = \"drain\"\ndelay = \"0 us\"\n");
    let text = text::report(&drained, Paint::Plain);
    assert!(text.contains("broken at once"), "{text}");
    assert!(!text.contains("within 0"), "{text}");
}
