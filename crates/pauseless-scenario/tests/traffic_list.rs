//! `[[traffic]] kind = "list"`: flows as rows, and what is said of rows that are wrong.

#![allow(clippy::too_many_lines, reason = "tables of messages")]

mod problems;

use expect_test::{Expect, expect};
use pauseless_core::unit::{Bytes, Span, Time};
use pauseless_scenario::{Overrides, Scenario};
use pauseless_sim::Config;
use pauseless_sim::config::{Flow, Reaction};
use problems::check;

const BASE: &str = r#"duration = "20 ms"
[topology]
kind = "leaf-spine"
leaves = 2
spines = 2
hosts_per_leaf = 2
rate = "10 Gbps"
delay = "1 us"
[switch]
classes = 4
[flow_control]
kind = "none"
[[traffic]]
kind = "list"
"#;

fn parse(text: &str) -> Scenario {
    let scenario = Scenario::parse("t", text, &Overrides::default());
    scenario.unwrap_or_else(|problems| panic!("{problems}"))
}

fn config(rows: &str) -> Config {
    let scenario = parse(&format!("{BASE}{rows}"));
    let again = parse(&scenario.resolved()).config;
    assert_eq!(format!("{:?}", scenario.config), format!("{again:?}"));
    scenario.config
}

fn find<'c>(config: &'c Config, name: &str) -> (usize, &'c Flow) {
    let place = config.flows.iter().position(|flow| flow.name == name);
    let place = place.unwrap_or_else(|| panic!("{name} in {:?}", config.flows));
    (place, &config.flows[place])
}

#[test]
fn rows_are_flows() {
    let config = config(
        r#"start = "1 ms"
class = 2
rows = """
# who      whom
source target size start   class name
H0     H1     5MB  10us    3     first
H0\t    H2    1KB  0.5ns   -     -
"""
"#,
    );
    let (_, first) = find(&config, "first");
    assert_eq!((first.size, first.class.0), (Bytes::mb(5), 3));
    assert_eq!(first.start, Time::ZERO + Span::us(1_010));
    let (_, other) = find(&config, "list/H0->H2");
    assert_eq!((other.size, other.class.0), (Bytes::kb(1), 2));
    assert_eq!(other.start, Time::ZERO + Span::ms(1) + Span::ps(500));
}

#[test]
fn units_may_stand_in_the_header() {
    let config = config("rows = \"\"\"\nstart_us source target size_kb\n1.5 H0 H1 2\n\"\"\"\n");
    let (_, flow) = find(&config, "list/H0->H1");
    assert_eq!(flow.start, Time::ZERO + Span::ns(1_500));
    assert_eq!(flow.size, Bytes::kb(2));
}

/// A name, and with it a flow's number and random streams, does not depend on the place of a row.
#[test]
fn the_order_of_rows_does_not_matter() {
    let rows = ["H0 H1 1000 5", "H0 H1 1000 3", "H2 H1 9 3", "H0 H1 2000 3"];
    let list = |rows: Vec<&str>| {
        let rows = rows.join("\n");
        config(&format!("rows = '''\nsource target size_bytes start_ns\n{rows}'''\n"))
    };
    let one = list(rows.to_vec());
    let other = list(rows.into_iter().rev().collect());
    assert_eq!(format!("{one:?}"), format!("{other:?}"));
    assert_eq!(find(&one, "list/H0->H1#2").1.size, Bytes::kb(2));
}

#[test]
fn rows_wait_for_rows() {
    let config = config(
        "size = \"1 KB\"\nrows = '''\nsource target name after delay_us\n\
         H0 H1 c a,b 7\nH1 H2 a - -\nH3 H2 b a -\n'''\n",
    );
    let [a, b, c] = ["a", "b", "c"].map(|name| find(&config, name).0);
    let follows = config.follows.iter();
    let follows = follows.map(|it| (it.first.index(), it.then.index(), it.delay));
    assert_eq!(
        Vec::from_iter(follows),
        [(a, b, Span::ZERO), (a, c, Span::us(7)), (b, c, Span::us(7))]
    );
}

/// What the source is told takes the way that was written for it, and no other.
#[test]
fn paths_there_and_back() {
    let config = config(
        "rows = '''\nsource target size_bytes path return_path\n\
         H0 H2 1000 L0,S0,L1 L1,S1,L0\nH1 H3 1000 - -\n'''\n\
         [congestion_control]\nkind = \"none\"\nack_every = 1\n",
    );
    let way = |from, group| {
        let header = pauseless_fabric::trace::Header { source: from, group, hash: 0 };
        let path = pauseless_fabric::trace::trace(&config.topology, &config.table, header);
        let path = path.unwrap().into_iter();
        let names = path.map(|(node, _)| config.topology.node(node).name.clone());
        Vec::from_iter(names).join(" ")
    };
    let (_, flow) = find(&config, "list/H0->H2");
    let Reaction::Controlled { group, .. } = flow.reaction else {
        panic!("{:?}", flow.reaction);
    };
    assert_eq!(way(flow.source, flow.group), "H0 L0 S0 L1");
    assert_eq!(way(flow.target, group), "H2 L1 S1 L0");
}

#[test]
fn rows_in_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    file("flows.txt", "source target size_bytes start_ns\nH0 H1 1000 5\n");
    file("wrong.txt", "source target size_bytes start_ns\nH0 H1 1000 5\nH0 H9 1 1\n");
    file("a.toml", &format!("{BASE}file = \"flows.txt\"\n"));
    file("b.toml", &format!("{BASE}file = \"wrong.txt\"\n"));
    let read = |name: &str| Scenario::read(&folder.path().join(name), &Overrides::default());
    let scenario = read("a.toml").unwrap();
    // The resolved scenario needs no other file.
    assert_eq!(parse(&scenario.resolved()).config.flows, scenario.config.flows);
    let problems = read("b.toml").unwrap_err();
    let problem = &problems.list()[0];
    assert_eq!(problem.key, "traffic[0].file: wrong.txt:3");
    assert_eq!(problem.message, "there is no node \"H9\"");
}

fn wrong(rows: &str, expected: Expect) {
    check(&format!("{BASE}{rows}"), expected);
}

#[test]
fn wrong_lists() {
    wrong(
        "",
        expect![[r#"
            pauseless: t.toml:13:1: traffic[0].rows: missing with kind = "list"
               |
            13 | [[traffic]]
               | ^^^^^^^^^^^
               |
               = help: add rows = """..""", or file = "flows.txt"
        "#]],
    );
    wrong(
        "rows = \"\"\nfile = \"x\"",
        expect![[r#"
        pauseless: t.toml:13:1: traffic[0]: the flows are listed twice
           |
        13 | [[traffic]]
           | ^^^^^^^^^^^
           |
           = help: keep one of rows and file
    "#]],
    );
    wrong(
        "file = \"none.txt\"",
        expect![[r#"
        pauseless: t.toml:15:8: traffic[0].file: none.txt cannot be read: No such file or directory (os error 2)
           |
        15 | file = "none.txt"
           |        ^^^^^^^^^^
    "#]],
    );
    wrong(
        "rows = \"\"",
        expect![[r#"
            pauseless: t.toml:15:9: traffic[0].rows, line 1: no rows: no flow is listed
               |
            15 | rows = ""
               |         ^
               |
               = help: the first line names the columns, for example "source target size_bytes start_ns"
        "#]],
    );
    wrong(
        "rows = '''\nsource target\n'''",
        expect![[r#"
            pauseless: t.toml:16:1: traffic[0].rows, line 1: no rows: no flow is listed
               |
            16 | source target
               | ^
               |
               = help: the first line names the columns, for example "source target size_bytes start_ns"
        "#]],
    );
    wrong(
        "rows = '''\nH0 H1 1000 0\n'''",
        expect![[r#"
            pauseless: t.toml:16:1: traffic[0].rows, line 1: this line names no columns
               |
            16 | H0 H1 1000 0
               | ^^ expected some of source, target, size_bytes, start_ns, class, name, after, delay_ns, path, return_path
               |
               = help: the first line names the columns, for example "source target size_bytes start_ns"
        "#]],
    );
    wrong(
        "rows = '''\nsource size\nH0 1\n'''",
        expect![[r#"
        pauseless: t.toml:16:1: traffic[0].rows, line 1: the header has no column target
           |
        16 | source size
           | ^^^^^^
           |
           = help: the first line names the columns, for example "source target size_bytes start_ns"
    "#]],
    );
    wrong(
        "rows = '''\nsource target size_byte start start_ns\nH0 H1 1 1 1\n'''",
        expect![[r#"
            pauseless: t.toml:16:15: traffic[0].rows, line 1: no column is called "size_byte"
               |
            16 | source target size_byte start start_ns
               |               ^^^^^^^^^ expected some of source, target, size_bytes, start_ns, class, name, after, delay_ns, path, return_path
               |
               = help: did you mean size_bytes?

            pauseless: t.toml:16:31: traffic[0].rows, line 1: a second column start
               |
            16 | source target size_byte start start_ns
               |                               ^^^^^^^^
               |
               = help: leave one of them out
        "#]],
    );
}

#[test]
fn wrong_rows() {
    wrong(
        "rows = '''\nsource target size start_ns class\n\
         H0 H1 1000 5 0\n\
         H0 H1 1KB 5.0001 0\n\
         H0 H1 0B x 4\n\
         H0 H1\n\
         H0 H0 1KB 1 1\n'''",
        expect![[r#"
            pauseless: t.toml:17:7: traffic[0].rows, line 2: size: "1000" has no unit
               |
            17 | H0 H1 1000 5 0
               |       ^^^^ expected an amount of bytes in B, KB, KiB, MB, MiB, GB, GiB
               |
               = help: write the unit behind the number, or size_bytes in the header

            pauseless: t.toml:18:11: traffic[0].rows, line 3: start_ns: "5.0001" is no number
               |
            18 | H0 H1 1KB 5.0001 0
               |           ^^^^^^ expected a number of ns, exact to ps

            pauseless: t.toml:19:7: traffic[0].rows, line 4: size: 0B is out of range
               |
            19 | H0 H1 0B x 4
               |       ^^ expected from 1 B to 1000000 GB

            pauseless: t.toml:19:10: traffic[0].rows, line 4: start_ns: "x" is no number
               |
            19 | H0 H1 0B x 4
               |          ^ expected a number of ns, exact to ps

            pauseless: t.toml:19:12: traffic[0].rows, line 4: class: "4" is no class
               |
            19 | H0 H1 0B x 4
               |            ^ expected a whole number from 0 to 3

            pauseless: t.toml:20:4: traffic[0].rows, line 5: 2 words in 5 columns
               |
            20 | H0 H1
               |    ^^ expected source target size start_ns class
               |
               = help: write - for what is not there

            pauseless: t.toml:21:1: traffic[0].rows, line 6: source and target are the same host
               |
            21 | H0 H0 1KB 1 1
               | ^^^^^^^^^^^^^
               |
               = help: choose another target
        "#]],
    );
    wrong(
        "rows = '''\nsource target start_ns\nH0 H1 1\n'''",
        expect![[r#"
        pauseless: t.toml:17:1: traffic[0].rows, line 2: a row without a size
           |
        17 | H0 H1 1
           | ^^^^^^^
           |
           = help: add a column size_bytes, or a size to the section
    "#]],
    );
    wrong(
        "rows = '''\nsource target size_bytes\nH0 H1 5\nH0 S0 1\nH0 H17 1\n'''",
        expect![[r#"
            pauseless: t.toml:18:1: traffic[0].rows, line 3: S0 is a switch
               |
            18 | H0 S0 1
               | ^^^^^^^ expected a host

            pauseless: t.toml:19:1: traffic[0].rows, line 4: there is no node "H17"
               |
            19 | H0 H17 1
               | ^^^^^^^^
               |
               = help: did you mean H1?
        "#]],
    );
    wrong(
        "rows = '''\nsource target size_bytes path\nH0 H2 5 L0,S0\n'''",
        expect![[r#"
            pauseless: t.toml:17:1: traffic[0].rows, line 2: the path goes from S0 to H2, but S0 has no link to it; its neighbours are L0, L1
               |
            17 | H0 H2 5 L0,S0
               | ^^^^^^^^^^^^^
        "#]],
    );
    wrong(
        "rows = '''\nsource target size_bytes name after\nH0 H2 5 one two\n'''",
        expect![[r#"
            pauseless: t.toml:17:1: traffic[0].rows, line 2: after: no row is called "two"
               |
            17 | H0 H2 5 one two
               | ^^^^^^^^^^^^^^^
        "#]],
    );
    wrong(
        "rows = '''\nsource target size_bytes name after\nH0 H2 5 a -\nH0 H2 5 b c\nH0 H2 5 c b\n'''",
        expect![[r#"
            pauseless: t.toml:18:1: traffic[0].rows, line 3: after: it waits for rows that wait in a circle
               |
            18 | H0 H2 5 b c
               | ^^^^^^^^^^^
               |
               = help: let one of them start by itself
        "#]],
    );
    wrong(
        "rows = '''\nsource target size_bytes name\nH0 H2 5 a\nH0 H2 5 a\n'''",
        expect![[r#"
            pauseless: t.toml:13:1: traffic[0]: [[traffic]] makes a flow "a", too
               |
            13 | [[traffic]]
               | ^^^^^^^^^^^
               |
               = help: give one of them another name

            pauseless: t.toml:18:1: traffic[0].rows, line 3: two rows are called "a"
               |
            18 | H0 H2 5 a
               | ^^^^^^^^^
               |
               = help: give each a name of its own
        "#]],
    );
}
