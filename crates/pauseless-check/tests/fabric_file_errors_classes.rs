//! Fabric files with wrong classes, specs of generated fabrics, and what a run refuses: every
//! message, as people read it.

#![allow(clippy::too_many_lines, reason = "tables of messages")]

#[path = "../../pauseless-scenario/tests/fabric_text/mod.rs"]
mod fabric_text;

use expect_test::{Expect, expect};
use fabric_text::{GOOD, check, check_more, source};
use pauseless_check::read;
use pauseless_scenario::shape;
use pauseless_scenario::{Overrides, Scenario};

#[test]
fn classes() {
    let table = |row: &str| format!("[classes]\nkind = \"table\"\nkey = \"class\"\n{row}\n");
    check_more(
        "[classes]\ncount = 3",
        expect![[r#"
        pauseless: t.toml:29:1: classes.kind: missing
           |
        29 | [classes]
           | ^^^^^^^^^
           |
           = help: add kind = "same", "hops", "dateline" or "table"
    "#]],
    );
    check_more(
        "[classes]\nkind = \"hops\"\ncount = 17",
        expect![[r#"
        pauseless: t.toml:31:9: classes.count: 17 is out of range
           |
        31 | count = 17
           |         ^^ expected a whole number from 1 to 16
    "#]],
    );
    check_more(
        "[classes]\nkind = \"table\"",
        expect![[r#"
        pauseless: t.toml:29:1: classes.key: missing with kind = "table"
           |
        29 | [classes]
           | ^^^^^^^^^
           |
           = help: add key = "label" or key = "class"
    "#]],
    );
    let row = |classes: &str, passage: &str| {
        table(&format!("[[classes.row]]\nclasses = {classes}\npassages = [\"{passage}\"]"))
    };
    check_more(
        &row("[16]", "S1: * > *"),
        expect![[r#"
        pauseless: t.toml:33:12: classes.row[0].classes[0]: 16 is out of range
           |
        33 | classes = [16]
           |            ^^ expected a whole number from 0 to 15
    "#]],
    );
    check_more(
        &row("[\"lost\"]", "S1: * > *"),
        expect![[r#"
            pauseless: t.toml:33:12: classes.row[0].classes[0]: "lost" is no class
               |
            33 | classes = ["lost"]
               |            ^^^^^^ expected a whole number from 0 to 15, or "drop"
        "#]],
    );
    let long = format!("{:?}", [0; 17]);
    check_more(
        &row(&long, "S1: * > *"),
        expect![[r#"
        pauseless: t.toml:33:11: classes.row[0].classes: 17 classes stand here
           |
        33 | classes = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
           |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ expected at most 16
    "#]],
    );
    check_more(
        &row("[0]", "S1 * > *"),
        expect![[r#"
        pauseless: t.toml:34:13: classes.row[0].passages[0]: "S1 * > *" is no way through a switch
           |
        34 | passages = ["S1 * > *"]
           |             ^^^^^^^^^^ expected SWITCH: FROM > TO, with * for all
    "#]],
    );
    check_more(
        &row("[0]", "S4: * > *"),
        expect![[r#"
        pauseless: t.toml:34:13: classes.row[0].passages[0]: there is no switch "S4"
           |
        34 | passages = ["S4: * > *"]
           |             ^^^^^^^^^^^
           |
           = help: did you mean S1?
    "#]],
    );
    check_more(
        &row("[0]", "S1: H2 > *"),
        expect![[r#"
        pauseless: t.toml:34:13: classes.row[0].passages[0]: S1 has no link to "H2"; its neighbours are S2, H1
           |
        34 | passages = ["S1: H2 > *"]
           |             ^^^^^^^^^^^^
    "#]],
    );
    check_more(
        &row("[0]", "S1: > *"),
        expect![[r#"
        pauseless: t.toml:34:13: classes.row[0].passages[0]: no neighbour stands on one side of the >
           |
        34 | passages = ["S1: > *"]
           |             ^^^^^^^^^
           |
           = help: write * for all neighbours
    "#]],
    );
    check_more(
        &table("[[classes.row]]"),
        expect![[r#"
        pauseless: t.toml:32:1: classes.row[0].classes: missing
           |
        32 | [[classes.row]]
           | ^^^^^^^^^^^^^^^
           |
           = help: add classes = [0, 1, "drop"]

        pauseless: t.toml:32:1: classes.row[0].passages: missing
           |
        32 | [[classes.row]]
           | ^^^^^^^^^^^^^^^
           |
           = help: add passages = ["S1: S2 > S3"]
    "#]],
    );
}

#[test]
fn lanes_and_lossy() {
    check_more(
        "[lanes]\nclasses = [16]",
        expect![[r#"
            pauseless: t.toml:30:12: lanes.classes[0]: 16 is out of range
               |
            30 | classes = [16]
               |            ^^ expected a whole number from 0 to 15
        "#]],
    );
    check_more(
        "[lanes]\nclasses = [\"1/x\"]",
        expect![[r#"
            pauseless: t.toml:30:12: lanes.classes[0]: "1/x" is no class
               |
            30 | classes = ["1/x"]
               |            ^^^^^ expected a number from 0 to 15, or label and class, as in "5/0"
        "#]],
    );
    check_more(
        "[lanes]\nclasses = []",
        expect![[r#"
        pauseless: t.toml:29:1: lanes: no class is listed
           |
        29 | [lanes]
           | ^^^^^^^
           |
           = help: list the classes that packets have, as in classes = [3]
    "#]],
    );
    check_more(
        "[lanes]",
        expect![[r#"
        pauseless: t.toml:29:1: lanes.classes: missing
           |
        29 | [lanes]
           | ^^^^^^^
           |
           = help: add classes = [0], or [lanes.pairs.HOST]
    "#]],
    );
    check_more(
        "[lanes.pairs.H9]\n0 = [\"H1\"]",
        expect![[r#"
        pauseless: t.toml:29:14: lanes.pairs.H9: there is no host "H9"
           |
        29 | [lanes.pairs.H9]
           |              ^^
           |
           = help: hosts are H1..H3
    "#]],
    );
    check_more(
        "[lanes.pairs.H1]\n99 = [\"H2\"]",
        expect![[r#"
        pauseless: t.toml:30:1: lanes.pairs.H1.99: "99" is no class
           |
        30 | 99 = ["H2"]
           | ^^ expected a number from 0 to 15, or label and class, as in "5/0"
    "#]],
    );
    let flow = "[[flow]]\nsource = \"H1\"\ntarget = \"H2\"\n";
    check_more(
        &format!("{flow}[lanes]\nclasses = [1]"),
        expect![[r#"
        pauseless: t.toml:32:1: lanes: the flows of this file have classes already
           |
        32 | [lanes]
           | ^^^^^^^
           |
           = help: remove [lanes], or the flows
    "#]],
    );
    check_more(
        "[[lossy]]\nports = [\"S1:S9\"]\nclasses = [16]",
        expect![[r#"
            pauseless: t.toml:30:10: lossy[0].ports[0]: S1 has no link to "S9"; its neighbours are S2, H1
               |
            30 | ports = ["S1:S9"]
               |          ^^^^^^^

            pauseless: t.toml:31:12: lossy[0].classes[0]: 16 is out of range
               |
            31 | classes = [16]
               |            ^^ expected a whole number from 0 to 15
        "#]],
    );
    check_more(
        "[[lossy]]\nclasses = [1]",
        expect![[r#"
        pauseless: t.toml:29:1: lossy[0].ports: missing
           |
        29 | [[lossy]]
           | ^^^^^^^^^
           |
           = help: add ports = ["S1:S2"]
    "#]],
    );
}

#[test]
fn whole_files() {
    check(
        "title = \"no fabric\"",
        expect![[r#"
        pauseless: t.toml:1:1: topology: this section is missing
          |
        1 | title = "no fabric"
          | ^
          |
          = help: add a section [topology]
    "#]],
    );
    let (toml, other) = (source(GOOD), source(GOOD));
    let problems = read::from_sources(&[toml, other], Default::default()).expect_err("two files");
    expect![[r#"
        pauseless: t.toml: a fabric file or scenario has the whole fabric in it
          = help: pass it alone, without the other files
    "#]]
    .assert_eq(&format!("{problems}\n"));
}

#[test]
fn specs() {
    let spec = |spec: &str, expected: Expect| {
        let problems = shape::parse(spec).expect_err("something is wrong");
        expected.assert_eq(&format!("{problems}\n"));
    };
    spec(
        "fattree:4",
        expect![[r#"
        pauseless: --generate:1:1: topology.kind: unknown value "fattree"
          |
        1 | fattree:4
          | ^^^^^^^ expected one of "ring", "line", "dumbbell", "n-to-1", "parking-lot", "fat-tree", "leaf-spine", "clos", "rail-optimised", "dragonfly", "torus", "mesh", "hyperx", "random-regular", "custom"
          |
          = help: did you mean fat-tree?
    "#]],
    );
    spec(
        "fat-tree",
        expect![[r#"
        pauseless: --generate:1:1: topology.k: missing with kind = "fat-tree"
          |
        1 | fat-tree
          | ^
          |
          = help: add k = a whole number
    "#]],
    );
    spec(
        "fat-tree:k=5",
        expect![[r#"
        pauseless: --generate:1:12: topology.k: k of a fat tree: 5 is odd; choose an even number from 2 to 64
          |
        1 | fat-tree:k=5
          |            ^
    "#]],
    );
    spec(
        "fat-tree:k=4,",
        expect![[r#"
        pauseless: --generate:1:14: "" has no key
          |
        1 | fat-tree:k=4,
          |              ^ expected KEY=VALUE
    "#]],
    );
    spec(
        "fat-tree:k=4,pods=4",
        expect![[r#"
        pauseless: --generate:1:14: topology.pods: unknown key with kind = "fat-tree"
          |
        1 | fat-tree:k=4,pods=4
          |              ^^^^ expected one of delay, failed_links, failed_switches, host_delay, host_rate, k, kind, random_failures, rate
    "#]],
    );
    spec(
        "fat-tree:4,k=4",
        expect![[r#"
        pauseless: --generate:1:12: k stands here twice
          |
        1 | fat-tree:4,k=4
          |            ^
          |
          = help: keep one of them
    "#]],
    );
    spec(
        "torus:4xfour,hosts_per_switch=1",
        expect![[r#"
        pauseless: --generate:1:7: topology.dimensions: a string stands here
          |
        1 | torus:4xfour,hosts_per_switch=1
          |       ^^^^^^ expected a list
    "#]],
    );
    spec(
        "ring:3,hosts_per_switch=1,routing=dimension-order",
        expect![[r#"
            pauseless: --generate:1:35: routing.kind: only a torus or mesh has dimensions to route by
              |
            1 | ring:3,hosts_per_switch=1,routing=dimension-order
              |                                   ^^^^^^^^^^^^^^^
              |
              = help: choose another kind of routing, or topology.kind = "torus"
        "#]],
    );
    spec(
        "fat-tree:4,rate=fast",
        expect![[r#"
        pauseless: --generate:1:17: topology.rate: "fast" does not begin with a number
          |
        1 | fat-tree:4,rate=fast
          |                 ^^^^ expected a rate in bps, kbps, Mbps, Gbps, Tbps
          |
          = help: write for example "10 Gbps"
    "#]],
    );
}

/// What a run needs besides a fabric file.
const RUN: &str = "duration = \"1 ms\"\n[switch]\nbuffer = \"1012 KB\"\n\
    [flow_control]\nkind = \"pfc\"\n[[flow]]\nsource = \"H1\"\ntarget = \"H3\"\n";

fn run(text: &str) -> Result<Scenario, String> {
    let scenario = Scenario::parse("t.toml", text, &Overrides::default());
    scenario.map_err(|problems| format!("{problems}\n"))
}

#[test]
fn a_run_forwards_by_the_same_tables() {
    let scenario = run(&format!("{}\n{GOOD}", RUN)).unwrap_or_else(|problems| panic!("{problems}"));
    let again = run(&scenario.resolved()).unwrap_or_else(|problems| panic!("{problems}"));
    assert_eq!(format!("{:?}", scenario.config), format!("{:?}", again.config));
    assert_eq!(scenario.resolved(), again.resolved());
}

#[test]
fn a_run_refuses_what_it_does_not_simulate() {
    let more = "[lanes]\nclasses = [1]\n[[lossy]]\nports = [\"*\"]\n";
    let problems = run(&format!("{RUN}\n{GOOD}{more}")).expect_err("it is refused");
    expect![[r#"
        pauseless: t.toml:38:1: lanes: a run takes classes from its flows
           |
        38 | [lanes]
           | ^^^^^^^ expected no [lanes]
           |
           = help: only pauseless check knows it so far

        pauseless: t.toml:40:1: lossy[0]: a run takes what is lossless from its flow control
           |
        40 | [[lossy]]
           | ^^^^^^^^^ expected no [[lossy]]
           |
           = help: only pauseless check knows it so far
    "#]]
    .assert_eq(&problems);
    let dead_end = GOOD.replace("H3 = [\"H3\"]\n", "");
    let problems = run(&format!("{RUN}\n{dead_end}")).expect_err("it is refused");
    expect![[r#"
        pauseless: t.toml:6:1: flow[0]: S2 has no next hop for packets to H3
          |
        6 | [[flow]]
          | ^^^^^^^^
          |
          = help: mend routing.tables, or give the flow a path
    "#]]
    .assert_eq(&problems);
    let circle = GOOD.replace("S1 = [\"H1\"]", "S1 = [\"H1\", \"H3\"]");
    let circle = circle.replace("H3 = [\"H3\"]\n", "");
    let problems = run(&format!("{RUN}\n{circle}")).expect_err("it is refused");
    expect![[r#"
        pauseless: t.toml:6:1: flow[0]: the packet circles through S2, S1
          |
        6 | [[flow]]
          | ^^^^^^^^
          |
          = help: mend routing.tables, or give the flow a path
    "#]]
    .assert_eq(&problems);
}
