//! Scenarios with classes that change, TTLs and routing loops: what they become and what they do.

#![allow(clippy::too_many_lines, reason = "tables of messages")]

#[path = "../../pauseless-scenario/tests/problems/mod.rs"]
mod problems;

use expect_test::expect;
use pauseless_core::class_map::{Beyond, ClassMap, Hops};
use pauseless_core::id::Class;
use pauseless_core::schedule::Scheduler;
use pauseless_core::unit::Bytes;
use pauseless_plan::explain::{Verdict, explain};
use pauseless_report::derivation::explain_document;
use pauseless_scenario::{Overrides, Scenario};
use pauseless_sim::config::Flow;
use pauseless_sim::run;
use pauseless_text::record::to_text;
use problems::{GOOD, check, check_edit};

fn parse(text: &str) -> Scenario {
    let scenario = Scenario::parse("t", text, &Overrides::default());
    scenario.unwrap_or_else(|problems| panic!("{problems}"))
}

/// The scenario, after what is written out was seen to give the same run.
fn round_trip(text: &str) -> Scenario {
    let scenario = parse(text);
    let again = parse(&scenario.resolved());
    let debug = |scenario: &Scenario| format!("{:?}", scenario.config);
    assert_eq!(debug(&scenario), debug(&again));
    assert_eq!(scenario.resolved(), again.resolved());
    let outcome = |scenario: &Scenario| format!("{:?}", run(&scenario.config));
    assert_eq!(outcome(&scenario), outcome(&again));
    scenario
}

/// A ring of four, one flow around three quarters of it.
fn ring(classes: u8, rest: &str) -> String {
    let good = GOOD.replace("switches = 3", "switches = 4");
    let good = good.replace("[switch]\n", &format!("[switch]\nclasses = {classes}\n"));
    format!("{good}path = [\"S1\", \"S2\", \"S3\"]\n{rest}")
}

#[test]
fn hop_classes_run_and_the_last_link_needs_none() {
    let hops = "[classes]\nkind = \"hops\"\ncount = 3\n";
    let scenario = round_trip(&ring(3, hops));
    assert_eq!(scenario.config.classes, ClassMap::Hops(Hops::each(3)));
    assert_eq!(scenario.warnings, [""; 0]);
    let outcome = run(&scenario.config);
    assert_eq!(outcome.expired_packets, 0);
    assert!(outcome.flows[0].delivered > Bytes::kb(100));
    let classes = outcome.queues.iter().map(|queue| queue.class);
    assert_eq!(Vec::from_iter(classes), [0, 1, 2].map(Class));

    let short = "[classes]\nkind = \"hops\"\ncount = 2\n";
    let scenario = round_trip(&ring(2, short));
    let outcome = run(&scenario.config);
    assert_eq!(outcome.flows[0].delivered, Bytes::ZERO);
    assert!(outcome.expired_packets > 100);
    assert_eq!((outcome.lost_packets, outcome.starved.len()), (0, 0));
    assert_eq!(
        scenario.warnings,
        ["flow H1->H3: its packets end at S2, where [classes] has no class for their next hop"]
    );

    let bands = "[classes]\nkind = \"hops\"\ncount = 2\nwidth = 2\nlast = \"stay\"\n";
    let hops = Hops { count: 2, width: 2, beyond: Beyond::Stay };
    let scenario = round_trip(&ring(2, bands));
    assert_eq!(scenario.config.classes, ClassMap::Hops(hops));
    let classes = run(&scenario.config).queues;
    let classes = classes.iter().map(|queue| queue.class);
    assert_eq!(Vec::from_iter(classes), [0, 0, 1].map(Class));
}

#[test]
fn tables_by_label_and_datelines_run() {
    let table = r#"label = 5
[classes]
kind = "table"
key = "label"
[[classes.row]]
classes = [0, 0, 0, 0, 0, 1]
passages = ["S2: S1 > S3"]
"#;
    let scenario = round_trip(&ring(2, table));
    assert_eq!(scenario.config.flows[0].label, 5);
    let outcome = run(&scenario.config);
    let held = |class| outcome.queues.iter().any(|queue| queue.class == Class(class));
    assert!(held(0) && held(1) && outcome.flows[0].delivered > Bytes::kb(100));
    // Without a label of its own a flow has that of its class.
    let scenario = round_trip(&ring(2, &table.replace("label = 5\n", "class = 1\n")));
    assert_eq!(scenario.config.flows[0].label, 1);

    let torus =
        GOOD.replace("kind = \"ring\"\nswitches = 3", "kind = \"torus\"\ndimensions = [4, 4]");
    let torus =
        torus.replace("[switch]", "[routing]\nkind = \"dimension-order\"\n[switch]\nclasses = 2");
    let torus = torus.replace("\"H1\"", "\"H3\"").replace("target = \"H3\"", "target = \"H1\"");
    let scenario = round_trip(&format!("{torus}[classes]\nkind = \"dateline\"\n"));
    assert!(scenario.resolved().contains("kind = \"dateline\""));
    let outcome = run(&scenario.config);
    let held = |class| outcome.queues.iter().any(|queue| queue.class == Class(class));
    assert!(held(0) && held(1) && outcome.flows[0].delivered > Bytes::kb(100));
}

/// What has a class of its own stays in it, whatever hops the data counts; in the data's class it
/// counts hops as well.
#[test]
fn answers_keep_their_own_class_and_count_hops_in_that_of_the_data() {
    for (feedback, highest) in [("own", 3), ("data", 2)] {
        let rest = format!(
            "[classes]\nkind = \"hops\"\ncount = 3\n\
             [congestion_control]\nkind = \"timely\"\nfeedback_class = \"{feedback}\"\n"
        );
        let scenario = round_trip(&ring(3, &rest));
        let outcome = run(&scenario.config);
        assert!(outcome.answers > 100 && outcome.flows[0].delivered > Bytes::kb(100));
        assert_eq!(outcome.expired_packets, 0);
        // Answers go H3 > S3 > S2 > S1 > H1 (or by S4); their ingress ports face the other way.
        let topology = &scenario.config.topology;
        let back = outcome.queues.iter().filter(|queue| {
            let name = topology.port_name(queue.node, queue.port);
            ["S3:H3", "S2:S3", "S1:S2", "S4:S3", "S1:S4"].contains(&name.as_str())
        });
        let back = Vec::from_iter(back.map(|queue| queue.class.0));
        let expected: &[u8] = match feedback {
            "own" => &[highest; 3],
            _ => &[0, 1, 2],
        };
        let mut sorted = back.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, expected, "{feedback}");
    }
}

#[test]
fn a_random_scheduler_is_read_and_written() {
    let scenario = round_trip(&ring(2, "").replace("[switch]", "[switch]\nscheduler = \"random\""));
    assert_eq!(scenario.config.scheduler, Scheduler::Random);
}

const LOOP: &str = include_str!("../../../papers/hotnets/fig2.toml");

#[test]
fn loops_have_a_ttl_and_their_bounds_are_explained() {
    let scenario = round_trip(LOOP);
    assert_eq!(scenario.config.flows[0].ttl, 16);
    let without = round_trip(&LOOP.replace("ttl = 16\n", ""));
    assert_eq!(without.config.flows[0].ttl, 64);
    assert_eq!(parse(GOOD).config.flows[0].ttl, Flow::TTL_NONE);

    let verdict = |text: &str| explain(&parse(text)).loops[0].verdict;
    assert_eq!(verdict(LOOP), Verdict::Fills);
    assert_eq!(verdict(&LOOP.replace("5.1 Gbps", "4.9 Gbps")), Verdict::Flows);
    let classed =
        LOOP.replace("[switch]", "[classes]\nkind = \"hops\"\ncount = 8\n[switch]\nclasses = 8");
    assert_eq!(verdict(&classed), Verdict::Drains);
    let twice = LOOP.replace("ttl = 16", "ttl = 4").replace("5.1 Gbps", "40 Gbps");
    assert_eq!(verdict(&twice), Verdict::Balances);
    assert_eq!(run(&parse(&twice).config).deadlock, None);
    // Two flows count together, one of which enters at the other switch.
    let second = "[[flow]]\nsource = \"H2\"\ntarget = \"H1\"\nloop = [\"S2\", \"S1\"]\nttl = 16\n";
    let both = |rate: &str| {
        let text = LOOP.replace("[probe]", &format!("{second}rate = {rate:?}\n[probe]"));
        text.replace("5.1 Gbps", rate)
    };
    // Together they pass every link 15 times: 2.67 Gb/s each.
    assert_eq!(verdict(&both("2.6 Gbps")), Verdict::Flows);
    assert_eq!(verdict(&both("2.8 Gbps")), Verdict::Fills);
    let text = explain(&parse(&both("2.8 Gbps"))).to_string();
    for words in [
        "of its fullest link, the sum of 2 flows",
        "  the sum of the 2 flows that share it is above the bound",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    for (rate, is_deadlocked) in [("2.6 Gbps", false), ("2.8 Gbps", true)] {
        let outcome = run(&parse(&both(rate)).config);
        assert_eq!(outcome.deadlock.is_some(), is_deadlocked, "{rate}");
    }
    assert!(run(&scenario.config).deadlock.is_some());
    assert_eq!(run(&parse(&classed).config).deadlock, None);
    let slower = parse(&LOOP.replace("5.1 Gbps", "4.9 Gbps"));
    assert_eq!(run(&slower.config).deadlock, None);

    let text = explain(&scenario).to_string();
    let section = text.split_once("routing loops\n").expect("a section").1;
    expect![[r#"
        flow looping: S1 > S2
          n       switches of the loop                          2          scenario
          TTL     of every packet                               16         scenario
          B       the slowest link of the loop                  40 Gbps    scenario
          passes  of a packet over its first link               8          docs/ttl.md
          r       n B / TTL                                     5.00 Gb/s  hn16 3.1
          r       least rate / passes of all links of the loop  5.00 Gb/s  docs/ttl.md
          rate    of the flow                                   5.10 Gb/s  scenario
          load    of its fullest link                           1.020      docs/ttl.md
          above the bound: it fills the loop, and PFC or credits deadlock
    "#]]
    .assert_eq(section);
    let json = to_text(&explain_document(&scenario));
    assert!(json.contains("\"exact_bps\": 5000000000.0"), "{json}");
    assert!(json.contains("\"verdict\": \"fills\""), "{json}");
}

/// A loop behind a path, in a fabric with parallel links, and flows beside it that arrive.
#[test]
fn a_loop_may_have_a_way_there_and_does_not_disturb_what_flows_beside_it() {
    let rest = "[[flow]]\nname = \"lost\"\nsource = \"H4\"\ntarget = \"H2\"\nrate = \"500 Mbps\"\n\
                path = [\"S4\"]\nloop = [\"S1\", \"S2\"]\nttl = 9\nsize = \"15 KB\"\n";
    let scenario = round_trip(&ring(1, rest));
    let outcome = run(&scenario.config);
    let lost = scenario.config.flows.iter().position(|flow| flow.name == "lost");
    let lost = lost.expect("it is there");
    assert_eq!(outcome.flows[lost].expired, Bytes::kb(15));
    assert_eq!(outcome.expired_packets, 10);
    assert_eq!((outcome.deadlock, outcome.starved.len()), (None, 0));
    assert!(outcome.flows[1 - lost].delivered > Bytes::kb(100));
    let found = &explain(&scenario).loops[0];
    // One switch before the loop leaves 7 of 9 for it.
    assert_eq!((found.boundary.switches, found.boundary.passes), (2, 4));
}

#[test]
fn a_ttl_that_is_too_short_is_warned_of() {
    let scenario = round_trip(&ring(1, "ttl = 3\n"));
    assert_eq!(
        scenario.warnings,
        ["flow H1->H3: its packets end at S3, where their TTL has run out"]
    );
    let outcome = run(&scenario.config);
    assert!(outcome.expired_packets > 100);
    let scenario = round_trip(&ring(1, "ttl = 4\n"));
    assert_eq!((run(&scenario.config).expired_packets, scenario.warnings.len()), (0, 0));
}

#[test]
fn problems_with_classes() {
    check(
        &ring(2, "[classes]\nkind = \"hops\"\ncount = 3\n"),
        expect![[r#"
            pauseless: t.toml:18:1: classes: flows get into class 2 by this
               |
            18 | [classes]
               | ^^^^^^^^^ expected classes below 2, as the switches have
               |
               = help: write switch.classes = 3
        "#]],
    );
    check(
        &ring(3, "class = 2\n[classes]\nkind = \"hops\"\ncount = 2\n"),
        expect![[r#"
            pauseless: t.toml:17:8: flow[0].path: class 2 counts no hops
               |
            17 | path = ["S1", "S2", "S3"]
               |        ^^^^^^^^^^^^^^^^^^ expected a class below 2, which is classes.count
        "#]],
    );
    check(
        &ring(8, "[classes]\nkind = \"hops\"\ncount = 9\nwidth = 17\nlast = \"keep\"\n"),
        expect![[r#"
            pauseless: t.toml:18:1: classes: flows get into class 8 by this
               |
            18 | [classes]
               | ^^^^^^^^^ expected classes below 8, as the switches have
               |
               = help: a run has at most 8 classes

            pauseless: t.toml:21:9: classes.width: 17 is out of range
               |
            21 | width = 17
               |         ^^ expected a whole number from 1 to 16

            pauseless: t.toml:22:8: classes.last: unknown value "keep"
               |
            22 | last = "keep"
               |        ^^^^^^ expected one of "drop", "stay"
        "#]],
    );
    let table = "label = 16\n[classes]\nkind = \"table\"\nkey = \"class\"\n\
                 [[classes.row]]\nclasses = [4]\npassages = [\"*: * > *\"]\n";
    check(
        &ring(2, table),
        expect![[r#"
        pauseless: t.toml:18:9: flow[0].label: 16 is out of range
           |
        18 | label = 16
           |         ^^ expected a whole number from 0 to 15

        pauseless: t.toml:19:1: classes: flows get into class 4 by this
           |
        19 | [classes]
           | ^^^^^^^^^ expected classes below 2, as the switches have
           |
           = help: write switch.classes = 5
    "#]],
    );
}

#[test]
fn problems_with_loops() {
    let flow = "source = \"H1\"\ntarget = \"H3\"";
    let keys = |keys: &str| format!("{flow}\n{keys}");
    check_edit(
        flow,
        &keys("ttl = 256"),
        expect![[r#"
        pauseless: t.toml:16:7: flow[0].ttl: 256 is out of range
           |
        16 | ttl = 256
           |       ^^^ expected a whole number from 1 to 255
    "#]],
    );
    check_edit(
        flow,
        &keys("ttl = 0"),
        expect![[r#"
        pauseless: t.toml:16:7: flow[0].ttl: 0 is out of range
           |
        16 | ttl = 0
           |       ^ expected a whole number from 1 to 255
    "#]],
    );
    check_edit(
        flow,
        &keys("loop = [\"S1\"]"),
        expect![[r#"
        pauseless: t.toml:16:8: flow[0].loop: the loop has 1 of the two switches that it takes; name the switches of a circle
           |
        16 | loop = ["S1"]
           |        ^^^^^^
    "#]],
    );
    check_edit(
        flow,
        &keys("loop = [\"S2\", \"S3\"]"),
        expect![[r#"
        pauseless: t.toml:16:8: flow[0].loop: the path goes from H1 to S2, but H1 has no link to it; its neighbours are S1
           |
        16 | loop = ["S2", "S3"]
           |        ^^^^^^^^^^^^
    "#]],
    );
    check_edit(
        flow,
        &keys("loop = [\"S1\", \"S9\"]"),
        expect![[r#"
        pauseless: t.toml:16:15: flow[0].loop[1]: there is no node "S9"
           |
        16 | loop = ["S1", "S9"]
           |               ^^^^
           |
           = help: did you mean S1?
    "#]],
    );
    check_edit(
        flow,
        &keys("path = [\"S1\"]\nloop = [\"S2\", \"S1\"]"),
        expect![[r#"
            pauseless: t.toml:17:8: flow[0].loop: the path visits S1 twice; a table keyed by destination cannot express it, so remove the loop
               |
            17 | loop = ["S2", "S1"]
               |        ^^^^^^^^^^^^
        "#]],
    );
    let after = "name = \"a\"\nloop = [\"S1\", \"S2\"]\nsize = \"1 KB\"\n\
                 [[flow]]\nsource = \"H2\"\ntarget = \"H3\"\nafter = [\"a\"]";
    check_edit(
        flow,
        &keys(after),
        expect![[r#"
        pauseless: t.toml:22:10: flow[1].after[0]: a never ends
           |
        22 | after = ["a"]
           |          ^^^
           |
           = help: what circles never arrives; wait for another
    "#]],
    );
}
