//! Scenario files that are wrong: every message, as people read it.

#![allow(clippy::too_many_lines, reason = "tables of messages")]

use std::path::Path;

use expect_test::{Expect, expect};
use pauseless_lab::scenario::{Overrides, Scenario};

const GOOD: &str = r#"duration = "1 ms"
[topology]
kind = "ring"
switches = 3
hosts_per_switch = 1
rate = "10 Gbps"
delay = "1 us"
[switch]
buffer = "1012 KB"
[flow_control]
kind = "pfc"
xoff = "800 KB"
[[flow]]
source = "H1"
target = "H3"
"#;

fn check(text: &str, expected: Expect) {
    let problems = Scenario::parse("t.toml", text, &Overrides::default());
    let problems = problems.expect_err("something is wrong");
    expected.assert_eq(&format!("{problems}\n"));
}

/// The good file with `from` replaced.
fn check_edit(from: &str, to: &str, expected: Expect) {
    assert!(GOOD.contains(from), "{from}");
    check(&GOOD.replacen(from, to, 1), expected);
}

fn check_file(path: &Path, expected: Expect) {
    let problems = Scenario::read(path, &Overrides::default()).expect_err("something is wrong");
    let text = problems
        .to_string()
        .replace(&path.display().to_string(), "FILE");
    expected.assert_eq(&format!("{text}\n"));
}

#[test]
fn quantities() {
    check_edit(
        "\"800 KB\"",
        "800",
        expect![[r#"
        pauseless: t.toml:12:8: flow_control.xoff: a number without a unit
           |
        12 | xoff = 800
           |        ^^^ expected an amount of bytes in B, KB, KiB, MB, MiB, GB, GiB
           |
           = help: write a string with a unit, for example "800 KB"
    "#]],
    );
    check_edit(
        "\"800 KB\"",
        "\"800\"",
        expect![[r#"
        pauseless: t.toml:12:8: flow_control.xoff: "800" has no unit
           |
        12 | xoff = "800"
           |        ^^^^^ expected an amount of bytes in B, KB, KiB, MB, MiB, GB, GiB
           |
           = help: write for example "800 KB"
    "#]],
    );
    check_edit(
        "\"800 KB\"",
        "\"800 kB\"",
        expect![[r#"
        pauseless: t.toml:12:8: flow_control.xoff: unknown unit "kB"
           |
        12 | xoff = "800 kB"
           |        ^^^^^^^^ expected an amount of bytes in B, KB, KiB, MB, MiB, GB, GiB
           |
           = help: did you mean "800 KB"?
    "#]],
    );
    check_edit(
        "\"800 KB\"",
        "true",
        expect![[r#"
        pauseless: t.toml:12:8: flow_control.xoff: a boolean stands here
           |
        12 | xoff = true
           |        ^^^^ expected a string with an amount of bytes in B, KB, KiB, MB, MiB, GB, GiB
    "#]],
    );
    check_edit(
        "\"800 KB\"",
        "\"99999999999 GB\"",
        expect![[r#"
        pauseless: t.toml:12:8: flow_control.xoff: "99999999999 GB" is too large
           |
        12 | xoff = "99999999999 GB"
           |        ^^^^^^^^^^^^^^^^ expected an amount of bytes in B, KB, KiB, MB, MiB, GB, GiB
           |
           = help: the largest possible value is 18446744073709551615 B
    "#]],
    );
    check_edit(
        "\"1 ms\"",
        "\"0.5 ps\"",
        expect![[r#"
        pauseless: t.toml:1:12: duration: "0.5 ps" is not a whole number of ps
          |
        1 | duration = "0.5 ps"
          |            ^^^^^^^^ expected a time in ps, ns, us, ms, s
          |
          = help: write fewer decimals
    "#]],
    );
    check_edit(
        "\"1 ms\"",
        "\"0 ms\"",
        expect![[r#"
        pauseless: t.toml:1:12: duration: 0 ps is out of range
          |
        1 | duration = "0 ms"
          |            ^^^^^^ expected a time from 1 ps to 86400 s
    "#]],
    );
    check_edit(
        "\"1 ms\"",
        "\"2 Gbps\"",
        expect![[r#"
        pauseless: t.toml:1:12: duration: unknown unit "Gbps"
          |
        1 | duration = "2 Gbps"
          |            ^^^^^^^^ expected a time in ps, ns, us, ms, s
          |
          = help: write for example "10 us"
    "#]],
    );
    check_edit(
        "\"10 Gbps\"",
        "\"10 Tbps\"",
        expect![[r#"
        pauseless: t.toml:6:8: topology.rate: 10 Tbps is out of range
          |
        6 | rate = "10 Tbps"
          |        ^^^^^^^^^ expected a rate from 1 Mbps to 1.6 Tbps
    "#]],
    );
    check_edit(
        "\"10 Gbps\"",
        "\"0 Gbps\"",
        expect![[r#"
        pauseless: t.toml:6:8: topology.rate: a rate of zero does not exist
          |
        6 | rate = "0 Gbps"
          |        ^^^^^^^^ expected a rate in bps, kbps, Mbps, Gbps, Tbps
          |
          = help: write for example "10 Gbps"
    "#]],
    );
    check_edit(
        "\"1 us\"",
        "1.5",
        expect![[r#"
        pauseless: t.toml:7:9: topology.delay: a number without a unit
          |
        7 | delay = 1.5
          |         ^^^ expected a time in ps, ns, us, ms, s
          |
          = help: write a string with a unit, for example "1.5 us"
    "#]],
    );
}

#[test]
fn keys() {
    check_edit(
        "xoff",
        "xof",
        expect![[r#"
        pauseless: t.toml:12:1: flow_control.xof: unknown key with kind = "pfc"
           |
        12 | xof = "800 KB"
           | ^^^ expected one of at, kind, pause_quanta, unsafe_parameters, xoff, xon
           |
           = help: did you mean xoff?
    "#]],
    );
    check_edit(
        "[switch]",
        "[swich]",
        expect![[r#"
        pauseless: t.toml:8:2: swich: unknown key
          |
        8 | [swich]
          |  ^^^^^ expected one of duration, flow, flow_control, mtu, probe, receiver, routing, seed, switch, timing, title, topology, traffic, verdict, wire_overhead
          |
          = help: did you mean switch?

        pauseless: t.toml:10:1: flow_control: the switches have no buffer
           |
        10 | [flow_control]
           | ^^^^^^^^^^^^^^
           |
           = help: add buffer = "1 MB" to [switch]
    "#]],
    );
    check_edit(
        "kind = \"pfc\"",
        "kind = \"cbfc\"",
        expect![[r#"
        pauseless: t.toml:12:1: flow_control.xoff: unknown key with kind = "cbfc"
           |
        12 | xoff = "800 KB"
           | ^^^^ expected one of at, counters, credits, kind, period, unsafe_parameters
    "#]],
    );
    check_edit(
        "kind = \"pfc\"",
        "kind = \"PFC\"",
        expect![[r#"
        pauseless: t.toml:11:8: flow_control.kind: unknown value "PFC"
           |
        11 | kind = "PFC"
           |        ^^^^^ expected one of "pfc", "cbfc", "gfc-buffer", "gfc-time", "gfc-conceptual", "none"
           |
           = help: did you mean pfc?
    "#]],
    );
    check_edit(
        "kind = \"pfc\"\n",
        "",
        expect![[r#"
        pauseless: t.toml:10:1: flow_control.kind: missing
           |
        10 | [flow_control]
           | ^^^^^^^^^^^^^^
           |
           = help: add kind = "pfc", "cbfc", "gfc-buffer", "gfc-time", "gfc-conceptual" or "none"
    "#]],
    );
    check_edit(
        "kind = \"ring\"",
        "kind = \"donut\"",
        expect![[r#"
        pauseless: t.toml:3:8: topology.kind: unknown value "donut"
          |
        3 | kind = "donut"
          |        ^^^^^^^ expected one of "ring", "line", "dumbbell", "n-to-1", "fat-tree", "custom"
    "#]],
    );
    check_edit(
        "rate = \"10 Gbps\"\n",
        "",
        expect![[r#"
        pauseless: t.toml:2:1: topology.rate: missing with kind = "ring"
          |
        2 | [topology]
          | ^^^^^^^^^^
          |
          = help: add rate = "10 Gbps"
    "#]],
    );
    check_edit(
        "[[flow]]",
        "[flow]",
        expect![[r#"
        pauseless: t.toml:13:2: flow: written once, as a table, but there may be several
           |
        13 | [flow]
           |  ^^^^ expected [[flow]]
           |
           = help: write [[flow]] with two brackets on each side
    "#]],
    );
    check_edit(
        "[topology]",
        "topology = 3\n[other]",
        expect![[r#"
        pauseless: t.toml:2:12: topology: an integer stands here
          |
        2 | topology = 3
          |            ^ expected a table, such as [topology]

        pauseless: t.toml:3:2: other: unknown key
          |
        3 | [other]
          |  ^^^^^ expected one of duration, flow, flow_control, mtu, probe, receiver, routing, seed, switch, timing, title, topology, traffic, verdict, wire_overhead
    "#]],
    );
    check_edit(
        "[switch]",
        "[switch]\nweights = [1]",
        expect![[r#"
        pauseless: t.toml:9:1: switch.weights: unknown key with scheduler = "strict"
          |
        9 | weights = [1]
          | ^^^^^^^ expected one of buffer, classes, discipline, processing, processing_jitter, scheduler
    "#]],
    );
    check_edit(
        "[switch]",
        "[switch]\nscheduler = \"weighted\"",
        expect![[r#"
        pauseless: t.toml:8:1: switch.weights: missing
          |
        8 | [switch]
          | ^^^^^^^^
          |
          = help: add weights = [1, 2], one weight for each class
    "#]],
    );
    check_edit(
        "[switch]",
        "[switch]\nclasses = 3\nscheduler = \"weighted\"\nweights = [1, 0]",
        expect![[r#"
            pauseless: t.toml:11:11: switch.weights: 2 weights stand here
               |
            11 | weights = [1, 0]
               |           ^^^^^^ expected one for each of the 3 classes

            pauseless: t.toml:11:15: switch.weights[1]: 0 is out of range
               |
            11 | weights = [1, 0]
               |               ^ expected a whole number from 1 to 65535
        "#]],
    );
    check_edit(
        "[switch]",
        "[switch]\nclasses = 9",
        expect![[r#"
        pauseless: t.toml:9:11: switch.classes: 9 is out of range
          |
        9 | classes = 9
          |           ^ expected a whole number from 1 to 8
    "#]],
    );
    check_edit(
        "[switch]",
        "[routing]\nkind = \"ecmp\"\ntie_break = \"lowest\"\n[switch]",
        expect![[r#"
        pauseless: t.toml:10:1: routing.tie_break: unknown key with kind = "ecmp"
           |
        10 | tie_break = "lowest"
           | ^^^^^^^^^ expected one of kind
    "#]],
    );
    check_edit(
        "duration",
        "seed = -1\nduration",
        expect![[r#"
        pauseless: t.toml:1:8: seed: -1 is out of range
          |
        1 | seed = -1
          |        ^^ expected a whole number from 0 on
    "#]],
    );
    check_edit(
        "duration",
        "seed = 1.0\nduration",
        expect![[r#"
        pauseless: t.toml:1:8: seed: a float stands here
          |
        1 | seed = 1.0
          |        ^^^ expected a whole number from 0 on
    "#]],
    );
}

#[test]
fn everything_at_once() {
    check(
        "",
        expect![[r#"
        pauseless: t.toml:1:1: duration: missing
          |
        1 |
          | ^
          |
          = help: add duration = "100 ms"

        pauseless: t.toml:1:1: no flows: nothing would happen
          |
        1 |
          | ^
          |
          = help: add [[flow]] with a source and a target, or [traffic]

        pauseless: t.toml:1:1: topology: this section is missing
          |
        1 |
          | ^
          |
          = help: add a section [topology]

        pauseless: t.toml:1:1: flow_control: this section is missing
          |
        1 |
          | ^
          |
          = help: add a section [flow_control]
    "#]],
    );
    check(
        "duration = 5\nmtu = \"9 KB\"\nfoo = 1\n[topology]\nkind = \"ring\"\nswitches = 2\n\
         hosts_per_switch = 1\nrate = \"10\"\ndelay = \"1 us\"\n[flow_control]\nkind = \"pfc\"\n",
        expect![[r#"
            pauseless: t.toml:1:1: no flows: nothing would happen
              |
            1 | duration = 5
              | ^
              |
              = help: add [[flow]] with a source and a target, or [traffic]

            pauseless: t.toml:1:12: duration: a number without a unit
              |
            1 | duration = 5
              |            ^ expected a time in ps, ns, us, ms, s
              |
              = help: write a string with a unit, for example "5 us"

            pauseless: t.toml:3:1: foo: unknown key
              |
            3 | foo = 1
              | ^^^ expected one of duration, flow, flow_control, mtu, probe, receiver, routing, seed, switch, timing, title, topology, traffic, verdict, wire_overhead

            pauseless: t.toml:6:12: topology.switches: switches of a ring: 2 is not in the range from 3 to 1024
              |
            6 | switches = 2
              |            ^

            pauseless: t.toml:8:8: topology.rate: "10" has no unit
              |
            8 | rate = "10"
              |        ^^^^ expected a rate in bps, kbps, Mbps, Gbps, Tbps
              |
              = help: write for example "10 Gbps"

            pauseless: t.toml:10:1: flow_control: the switches have no buffer
               |
            10 | [flow_control]
               | ^^^^^^^^^^^^^^
               |
               = help: add buffer = "1 MB" to [switch]
        "#]],
    );
}

#[test]
fn toml() {
    check(
        "duration = \n[topology\nkind = 'x",
        expect![[r#"
        pauseless: t.toml:1:12: string values must be quoted, expected literal string
          |
        1 | duration = 
          |            ^

        pauseless: t.toml:2:10: unclosed table, expected `]`
          |
        2 | [topology
          |          ^
    "#]],
    );
    check(
        "a = 1\na = 2\n",
        expect![[r#"
        pauseless: t.toml:2:1: duplicate key
          |
        2 | a = 2
          | ^
    "#]],
    );
    check(
        &format!("a = {}", "[".repeat(100_000)),
        expect![[r#"
        pauseless: t.toml:1:85: cannot recurse further; max recursion depth met
          |
        1 | [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[
          |                                                             ^

        pauseless: t.toml:1:100005: unclosed array, expected `]`
          |
        1 | [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[
          |                                                             ^
    "#]],
    );
    check(
        &format!("duration = {:?}", "x".repeat(100_000)),
        expect![[r#"
        pauseless: t.toml:1:1: no flows: nothing would happen
          |
        1 | duration = "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
          | ^
          |
          = help: add [[flow]] with a source and a target, or [traffic]

        pauseless: t.toml:1:1: topology: this section is missing
          |
        1 | duration = "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
          | ^
          |
          = help: add a section [topology]

        pauseless: t.toml:1:1: flow_control: this section is missing
          |
        1 | duration = "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
          | ^
          |
          = help: add a section [flow_control]

        pauseless: t.toml:1:12: duration: "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx..
          |
        1 | duration = "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
          |            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ expected a time in ps, ns, us, ms, s
          |
          = help: write for example "10 us"
    "#]],
    );
    check(
        "title = \"\u{1b}[31m\"",
        expect![[r#"
        pauseless: t.toml:1:10: invalid basic string, expected non-double-quote visible characters, `\`
          |
        1 | title = "�[31m"
          |          ^
    "#]],
    );
}

#[test]
fn files() {
    let folder = std::env::temp_dir().join(format!("pauseless-scenario-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    check_file(
        &folder,
        expect![[r#"
        pauseless: FILE: a directory, not a scenario file
          = help: name a file in it
    "#]],
    );
    check_file(
        &folder.join("none.toml"),
        expect![[r#"
        pauseless: FILE: cannot be read: No such file or directory (os error 2)
    "#]],
    );
    let file = folder.join("bytes.toml");
    std::fs::write(&file, b"seed = 1\ntitle = \"\xff\"\n").unwrap();
    check_file(
        &file,
        expect![[r#"
        pauseless: FILE:2:10: not UTF-8 text
          |
        2 | title = "�"
          |          ^
          |
          = help: is this a scenario file? save it as UTF-8
    "#]],
    );
    std::fs::write(&file, vec![b' '; (16 << 20) + 1]).unwrap();
    check_file(
        &file,
        expect![[r#"
        pauseless: FILE: larger than 16 MiB, the limit
          = help: is this a scenario file?
    "#]],
    );
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn fabrics() {
    check_edit(
        "switches = 3",
        "switches = 2",
        expect![[r#"
        pauseless: t.toml:4:12: topology.switches: switches of a ring: 2 is not in the range from 3 to 1024
          |
        4 | switches = 2
          |            ^
    "#]],
    );
    check_edit(
        "switches = 3",
        "switches = 1.5",
        expect![[r#"
        pauseless: t.toml:4:12: topology.switches: a float stands here
          |
        4 | switches = 1.5
          |            ^^^ expected a whole number from 0 to 4294967295
    "#]],
    );
    check_edit(
        "hosts_per_switch = 1",
        "hosts_per_switch = 100000",
        expect![[r#"
        pauseless: t.toml:2:1: topology: too large: it would have 300000 hosts
          |
        2 | [topology]
          | ^^^^^^^^^^
          |
          = help: make the fabric smaller
    "#]],
    );
    check_edit(
        "kind = \"ring\"\nswitches = 3\nhosts_per_switch = 1",
        "kind = \"fat-tree\"\nk = 48",
        expect![[r#"
            pauseless: t.toml:2:1: topology: too large: it would have 27648 hosts
              |
            2 | [topology]
              | ^^^^^^^^^^
              |
              = help: make the fabric smaller
        "#]],
    );
    let failed = |links: &str| format!("delay = \"1 us\"\nfailed_links = {links}");
    check_edit(
        "delay = \"1 us\"",
        &failed("[[\"S1\", \"S9\"]]"),
        expect![[r#"
        pauseless: t.toml:8:24: topology.failed_links[0][1]: there is no node "S9"
          |
        8 | failed_links = [["S1", "S9"]]
          |                        ^^^^
          |
          = help: did you mean S1?
    "#]],
    );
    check_edit(
        "delay = \"1 us\"",
        &failed("[[\"S1\", \"H2\"]]"),
        expect![[r#"
        pauseless: t.toml:8:17: topology.failed_links[0]: S1 has no link to "H2"; its neighbours are H1, S2, S3
          |
        8 | failed_links = [["S1", "H2"]]
          |                 ^^^^^^^^^^^^
    "#]],
    );
    check_edit(
        "delay = \"1 us\"",
        &failed("[[\"S1\", \"H1\"]]"),
        expect![[r#"
        pauseless: t.toml:8:17: topology.failed_links[0]: host H1 would have no link left
          |
        8 | failed_links = [["S1", "H1"]]
          |                 ^^^^^^^^^^^^
          |
          = help: fail links between switches only
    "#]],
    );
    check_edit(
        "delay = \"1 us\"",
        &failed("[[\"S1\", \"S2\"], [\"S2\", \"S1\"]]"),
        expect![[r#"
        pauseless: t.toml:8:31: topology.failed_links[1]: the link S2-S1 is listed twice
          |
        8 | failed_links = [["S1", "S2"], ["S2", "S1"]]
          |                               ^^^^^^^^^^^^
    "#]],
    );
    check_edit(
        "delay = \"1 us\"",
        &failed("[[\"S1\", \"S2\", \"S3\"], 5]"),
        expect![[r#"
        pauseless: t.toml:8:17: topology.failed_links[0]: 3 names stand here
          |
        8 | failed_links = [["S1", "S2", "S3"], 5]
          |                 ^^^^^^^^^^^^^^^^^^ expected a list of two node names

        pauseless: t.toml:8:37: topology.failed_links[1]: an integer stands here
          |
        8 | failed_links = [["S1", "S2", "S3"], 5]
          |                                     ^ expected a list of two node names
    "#]],
    );
    check_edit(
        "delay = \"1 us\"",
        &failed("[[\"S1\", \"S2\"], [\"S3\", \"S1\"]]"),
        expect![[r#"
            pauseless: t.toml:14:1: flow[0]: there is no way from H1 to H3
               |
            14 | [[flow]]
               | ^^^^^^^^
               |
               = help: fewer topology.failed_links would leave one
        "#]],
    );
    let custom = |rest: &str| {
        let ring = "kind = \"ring\"\nswitches = 3\nhosts_per_switch = 1\nrate = \"10 Gbps\"\ndelay = \"1 us\"\n";
        GOOD.replace(ring, &format!("kind = \"custom\"\n{rest}"))
    };
    check(
        &custom(""),
        expect![[r#"
        pauseless: t.toml:2:1: topology: the fabric has no hosts; add at least one
          |
        2 | [topology]
          | ^^^^^^^^^^
    "#]],
    );
    check(
        &custom(
            "[[topology.node]]\nname = \"S1\"\nkind = \"switch\"\n[[topology.node]]\nname = \"H1\"\n\
             kind = \"host\"\n[[topology.node]]\nname = \"S1\"\nkind = \"hub\"\n\
             [[topology.link]]\nbetween = [\"S1\", \"H2\"]\n[[topology.link]]\nbetween = [\"S1\"]\n\
             [[topology.link]]\nbetween = [\"S1\", \"H1\"]\n",
        ),
        expect![[r#"
            pauseless: t.toml:12:8: topology.node[2].kind: unknown value "hub"
               |
            12 | kind = "hub"
               |        ^^^^^ expected one of "switch", "host"

            pauseless: t.toml:14:18: topology.link[0].between[1]: there is no node "H2"
               |
            14 | between = ["S1", "H2"]
               |                  ^^^^
               |
               = help: did you mean H1?

            pauseless: t.toml:16:11: topology.link[1].between: 1 names stand here
               |
            16 | between = ["S1"]
               |           ^^^^^^ expected a list of two node names

            pauseless: t.toml:17:1: topology.link[2].rate: missing
               |
            17 | [[topology.link]]
               | ^^^^^^^^^^^^^^^^^
               |
               = help: add rate = "10 Gbps", or topology.rate for all links

            pauseless: t.toml:17:1: topology.link[2].delay: missing
               |
            17 | [[topology.link]]
               | ^^^^^^^^^^^^^^^^^
               |
               = help: add delay = "1 us", or topology.delay for all links
        "#]],
    );
    check(
        &custom(
            "rate = \"1 Gbps\"\ndelay = \"0 us\"\n[[topology.node]]\nname = \"S1\"\nkind = \"switch\"\n\
             [[topology.node]]\nname = \"H1\"\nkind = \"host\"\n",
        ),
        expect![[r#"
            pauseless: t.toml:10:8: topology.node[1].name: host H1 has 0 links; join it to exactly one switch
               |
            10 | name = "H1"
               |        ^^^^
        "#]],
    );
}

#[test]
fn flow_controls() {
    check_edit(
        "xoff = \"800 KB\"",
        "xoff = \"1010 KB\"",
        expect![[r#"
        pauseless: t.toml:12:8: flow_control.xoff: xoff = 1010 KB is not safe at S1:H1
           |
        12 | xoff = "1010 KB"
           |        ^^^^^^^^^ expected at most 1001186 B = buffer - (C tau + MTU + 64 B per class)
           |
           = help: set xoff = "1001186 B" or less, or unsafe_parameters = true in [flow_control] to run it all the same
    "#]],
    );
    check_edit(
        "xoff = \"800 KB\"",
        "xoff = \"80 KB\"\nxon = \"90 KB\"",
        expect![[r#"
        pauseless: t.toml:13:7: flow_control.xon: xon = 90 KB is not safe at S1:H1
           |
        13 | xon = "90 KB"
           |       ^^^^^^^ expected at most 80 KB = xoff
           |
           = help: set xon = "80 KB" or less, or unsafe_parameters = true in [flow_control] to run it all the same
    "#]],
    );
    check_edit(
        "xoff = \"800 KB\"",
        "pause_quanta = 3",
        expect![[r#"
            pauseless: t.toml:12:16: flow_control.pause_quanta: pause_quanta = 3 is not safe at S1:H1
               |
            12 | pause_quanta = 3
               |                ^ expected at least 50
               |
               = help: the pause can expire before its refresh arrives, which may wait behind a full frame; set pause_quanta = 50 or more, or unsafe_parameters = true in [flow_control] to run it all the same
        "#]],
    );
    check_edit(
        "xoff = \"800 KB\"",
        "pause_quanta = 0",
        expect![[r#"
        pauseless: t.toml:12:16: flow_control.pause_quanta: 0 is out of range
           |
        12 | pause_quanta = 0
           |                ^ expected a whole number from 1 to 65535
    "#]],
    );
    check_edit(
        "buffer = \"1012 KB\"\n",
        "",
        expect![[r#"
        pauseless: t.toml:9:1: flow_control: the switches have no buffer
          |
        9 | [flow_control]
          | ^^^^^^^^^^^^^^
          |
          = help: add buffer = "1 MB" to [switch]
    "#]],
    );
    check_edit(
        "buffer = \"1012 KB\"",
        "buffer = \"1 KB\"",
        expect![[r#"
        pauseless: t.toml:9:10: switch.buffer: buffer = 1 KB is below mtu
          |
        9 | buffer = "1 KB"
          |          ^^^^^^ expected at least 1500 B
          |
          = help: set buffer = "1500 B" or more
    "#]],
    );
    check_edit(
        "buffer = \"1012 KB\"",
        "buffer = \"5 KB\"",
        expect![[r#"
        pauseless: t.toml:12:8: flow_control.xoff: no xoff is safe at S1:H1
           |
        12 | xoff = "800 KB"
           |        ^^^^^^^^ expected more than 10814 B instead of 5 KB
           |
           = help: enlarge the buffer: the bound is buffer - (C tau + MTU + 64 B per class); or unsafe_parameters = true in [flow_control] to run it all the same
    "#]],
    );
    let other = |keys: &str| format!("kind = {keys}");
    let from = "kind = \"pfc\"\nxoff = \"800 KB\"";
    check_edit(
        from,
        &other("\"gfc-buffer\"\nb1 = \"990 KB\""),
        expect![[r#"
        pauseless: t.toml:12:6: flow_control.b1: b1 = 990 KB is not safe at S1:H1
           |
        12 | b1 = "990 KB"
           |      ^^^^^^^^ expected at most 981500 B = B_m - 2 C tau (gfc19 5.4)
           |
           = help: set b1 = "981500 B" or less, or unsafe_parameters = true in [flow_control] to run it all the same
    "#]],
    );
    check_edit(
        from,
        &other("\"gfc-buffer\"\nb1 = \"2 MB\"\nbm = \"2 MB\""),
        expect![[r#"
        pauseless: t.toml:13:6: flow_control.bm: bm = 2 MB is above the buffer
           |
        13 | bm = "2 MB"
           |      ^^^^^^ expected at most 1012 KB
           |
           = help: set bm = "1012 KB" or less
    "#]],
    );
    check_edit(
        from,
        &other("\"gfc-buffer\"\nb1 = \"1001 KB\"\nguard = 3"),
        expect![[r#"
        pauseless: t.toml:13:9: flow_control.guard: bm = 1007500 B is not safe at S1:H1
           |
        13 | guard = 3
           |         ^ expected at most 1004500 B = buffer - 5 MTU of guard band, since packets are indivisible
           |
           = help: set bm = "1004500 B" or less, or unsafe_parameters = true in [flow_control] to run it all the same
    "#]],
    );
    check_edit(
        from,
        &other("\"gfc-time\"\nb0 = \"990 KB\"\nperiod = \"1 ns\""),
        expect![[r#"
        pauseless: t.toml:13:10: flow_control.period: period = 1 ns is below one message of each class on the link
           |
        13 | period = "1 ns"
           |          ^^^^^^ expected at least 51.2 ns
           |
           = help: set period = "51.2 ns" or more
    "#]],
    );
    check_edit(
        from,
        &other("\"gfc-conceptual\"\ntau = \"1 us\""),
        expect![[r#"
        pauseless: t.toml:12:7: flow_control.tau: tau = 1 us is below 2 MTU / C and the wire
           |
        12 | tau = "1 us"
           |       ^^^^^^ expected at least 3.4 us
           |
           = help: set tau = "3.4 us" or more
    "#]],
    );
    check_edit(
        from,
        &other("\"gfc-conceptual\"\ntau = \"25 us\"\nb0 = \"990 KB\""),
        expect![[r#"
        pauseless: t.toml:13:6: flow_control.b0: b0 = 990 KB is not safe at S1:H1
           |
        13 | b0 = "990 KB"
           |      ^^^^^^^^ expected at most 875 KB = B_m - 4 C tau (gfc19 theorem 4.1)
           |
           = help: set b0 = "875 KB" or less, or unsafe_parameters = true in [flow_control] to run it all the same
    "#]],
    );
    check_edit(
        from,
        &other("\"gfc-buffer\"\nrate_unit = \"20 Gbps\""),
        expect![[r#"
        pauseless: t.toml:12:13: flow_control.rate_unit: rate_unit = 20 Gbps is above the rate of the link
           |
        12 | rate_unit = "20 Gbps"
           |             ^^^^^^^^^ expected at most 10 Gbps
           |
           = help: set rate_unit = "10 Gbps" or less
    "#]],
    );
    check_edit(
        from,
        &other("\"cbfc\"\ncredits = \"2 MB\""),
        expect![[r#"
        pauseless: t.toml:12:11: flow_control.credits: credits = 2 MB is not safe at S1:H1
           |
        12 | credits = "2 MB"
           |           ^^^^^^ expected at most 1012 KB = the buffer
           |
           = help: set credits = "1012 KB" or less, or unsafe_parameters = true in [flow_control] to run it all the same
    "#]],
    );
    let at = |keys: &str| format!("xoff = \"800 KB\"\n[[flow_control.at]]\n{keys}");
    check_edit(
        "xoff = \"800 KB\"",
        &at("ports = [\"S*:X*\"]\nxoff = \"100 KB\""),
        expect![[r#"
        pauseless: t.toml:14:10: flow_control.at[0].ports[0]: no port is called "S*:X*"
           |
        14 | ports = ["S*:X*"]
           |          ^^^^^^^
           |
           = help: ports are called NODE:NEIGHBOUR, for example S1:H1
    "#]],
    );
    check_edit(
        "xoff = \"800 KB\"",
        &at("ports = [\"S1:H2\", \"S1\"]"),
        expect![[r#"
        pauseless: t.toml:14:10: flow_control.at[0].ports[0]: S1 has no link to "H2"; its neighbours are H1, S2, S3
           |
        14 | ports = ["S1:H2", "S1"]
           |          ^^^^^^^

        pauseless: t.toml:14:19: flow_control.at[0].ports[1]: "S1" is no port name; write NODE:NEIGHBOUR, or NODE:NEIGHBOUR#2 for a second link
           |
        14 | ports = ["S1:H2", "S1"]
           |                   ^^^^
    "#]],
    );
    check_edit(
        "xoff = \"800 KB\"",
        &at("ports = [\"S*:H*\"]\nclasses = [1]"),
        expect![[r#"
        pauseless: t.toml:15:12: flow_control.at[0].classes[0]: 1 is out of range
           |
        15 | classes = [1]
           |            ^ expected 0, the only possible value
    "#]],
    );
    check_edit(
        "xoff = \"800 KB\"",
        &at("ports = [\"S1:H1\"]\nxoff = \"1012 KB\""),
        expect![[r#"
        pauseless: t.toml:15:8: flow_control.at[0].xoff: xoff = 1012 KB is not safe at S1:H1
           |
        15 | xoff = "1012 KB"
           |        ^^^^^^^^^ expected at most 1001186 B = buffer - (C tau + MTU + 64 B per class)
           |
           = help: set xoff = "1001186 B" or less, or unsafe_parameters = true in [flow_control] to run it all the same
    "#]],
    );
    check_edit(
        "xoff = \"800 KB\"",
        &at("xoff = \"100 KB\"\nkind = \"cbfc\""),
        expect![[r#"
        pauseless: t.toml:13:1: flow_control.at[0].ports: missing with kind = "pfc"
           |
        13 | [[flow_control.at]]
           | ^^^^^^^^^^^^^^^^^^^
           |
           = help: add ports = ["S1:H1"]

        pauseless: t.toml:15:1: flow_control.at[0].kind: unknown key with kind = "pfc"
           |
        15 | kind = "cbfc"
           | ^^^^ expected one of buffer, classes, pause_quanta, ports, xoff, xon
    "#]],
    );
}

#[test]
fn flows() {
    let ends = "source = \"H1\"\ntarget = \"H3\"";
    check_edit(
        ends,
        "source = \"H4\"\ntarget = \"S3\"",
        expect![[r#"
        pauseless: t.toml:14:10: flow[0].source: there is no node "H4"
           |
        14 | source = "H4"
           |          ^^^^
           |
           = help: did you mean H1?

        pauseless: t.toml:15:10: flow[0].target: S3 is a switch
           |
        15 | target = "S3"
           |          ^^^^ expected a host
    "#]],
    );
    check_edit(
        ends,
        "source = \"H1\"\ntarget = \"H1\"",
        expect![[r#"
        pauseless: t.toml:15:10: flow[0].target: source and target are the same host
           |
        15 | target = "H1"
           |          ^^^^
           |
           = help: choose another target
    "#]],
    );
    check_edit(
        ends,
        "source = \"H1\"",
        expect![[r#"
        pauseless: t.toml:13:1: flow[0].target: missing
           |
        13 | [[flow]]
           | ^^^^^^^^
           |
           = help: add target = "H2"
    "#]],
    );
    let keys = |keys: &str| format!("{ends}\n{keys}");
    check_edit(
        ends,
        &keys("path = [\"S1\", \"S4\"]"),
        expect![[r#"
        pauseless: t.toml:16:15: flow[0].path[1]: there is no node "S4"
           |
        16 | path = ["S1", "S4"]
           |               ^^^^
           |
           = help: did you mean S1?
    "#]],
    );
    check_edit(
        ends,
        &keys("path = [\"S1\", \"S2\"]"),
        expect![[r#"
        pauseless: t.toml:16:8: flow[0].path: the path goes from S2 to H3, but S2 has no link to it; its neighbours are H2, S1, S3
           |
        16 | path = ["S1", "S2"]
           |        ^^^^^^^^^^^^
    "#]],
    );
    check_edit(
        ends,
        &keys("path = []"),
        expect![[r#"
        pauseless: t.toml:16:8: flow[0].path: the path has 2 nodes; write at least a source host, a switch and a target host
           |
        16 | path = []
           |        ^^
    "#]],
    );
    check_edit(
        ends,
        &keys("class = 1"),
        expect![[r#"
        pauseless: t.toml:16:9: flow[0].class: 1 is out of range
           |
        16 | class = 1
           |         ^ expected 0, the only possible value
    "#]],
    );
    check_edit(
        ends,
        &keys("packet = \"1501 B\""),
        expect![[r#"
        pauseless: t.toml:16:10: flow[0].packet: 1501 B is out of range
           |
        16 | packet = "1501 B"
           |          ^^^^^^^^ expected an amount of bytes from 64 B to 1500 B
    "#]],
    );
    check_edit(
        ends,
        &keys("rate = \"11 Gbps\""),
        expect![[r#"
        pauseless: t.toml:16:8: flow[0].rate: 11 Gbps is more than the link of H1 carries
           |
        16 | rate = "11 Gbps"
           |        ^^^^^^^^^ expected at most 10 Gbps
    "#]],
    );
    check_edit(
        ends,
        &keys("size = \"0 B\""),
        expect![[r#"
        pauseless: t.toml:16:8: flow[0].size: 0 B is out of range
           |
        16 | size = "0 B"
           |        ^^^^^ expected an amount of bytes from 1 B to 1000000 GB
    "#]],
    );
    check_edit(
        ends,
        &keys("start = \"2 us\"\nstop = \"1 us\""),
        expect![[r#"
        pauseless: t.toml:17:8: flow[0].stop: the flow stops before it starts
           |
        17 | stop = "1 us"
           |        ^^^^^^ expected later than 2 us
    "#]],
    );
    check_edit(
        ends,
        &keys("start = \"2 us\"\n[timing]\nsources_stop = \"1 us\""),
        expect![[r#"
        pauseless: t.toml:13:1: flow[0]: the flow starts when all sources have stopped
           |
        13 | [[flow]]
           | ^^^^^^^^ expected a start before 1 us
    "#]],
    );
    check_edit(
        ends,
        &keys("name = \"\""),
        expect![[r#"
        pauseless: t.toml:16:8: flow[0].name: a name of a flow is a line of text
           |
        16 | name = ""
           |        ^^ expected at least one character, none of them control
    "#]],
    );
    let named = keys("name = \"F\"");
    check_edit(
        ends,
        &format!("{named}\n[[flow]]\n{named}"),
        expect![[r#"
        pauseless: t.toml:20:8: flow[1].name: two flows are called "F"
           |
        20 | name = "F"
           |        ^^^
           |
           = help: give each a name of its own, or none
    "#]],
    );
    check_edit(
        "[[flow]]\nsource = \"H1\"\ntarget = \"H3\"",
        "",
        expect![[r#"
        pauseless: t.toml:1:1: no flows: nothing would happen
          |
        1 | duration = "1 ms"
          | ^
          |
          = help: add [[flow]] with a source and a target, or [traffic]
    "#]],
    );
    check_edit(
        ends,
        &keys("[traffic]\nkind = \"random\"\nrate = \"20 Gbps\""),
        expect![[r#"
        pauseless: t.toml:17:8: traffic.kind: unknown value "random"
           |
        17 | kind = "random"
           |        ^^^^^^^^ expected one of "permutation"

        pauseless: t.toml:18:8: traffic.rate: 20 Gbps is more than the link of H2 carries
           |
        18 | rate = "20 Gbps"
           |        ^^^^^^^^^ expected at most 10 Gbps
    "#]],
    );
}

#[test]
fn observations() {
    let add = |text: &str| format!("[switch]\nbuffer = \"1012 KB\"\n{text}");
    let from = "[switch]\nbuffer = \"1012 KB\"";
    check_edit(
        from,
        &add("[probe]\nports = [\"S1:S9\"]"),
        expect![[r#"
        pauseless: t.toml:10:1: probe.resolution: missing
           |
        10 | [probe]
           | ^^^^^^^
           |
           = help: add resolution = "100 us"
    "#]],
    );
    check_edit(
        from,
        &add("[probe]\nresolution = \"1 us\"\nports = [\"S1:S9\"]"),
        expect![[r#"
        pauseless: t.toml:12:10: probe.ports[0]: S1 has no link to "S9"; its neighbours are H1, S2, S3
           |
        12 | ports = ["S1:S9"]
           |          ^^^^^^^
    "#]],
    );
    check_edit(
        from,
        &add("[probe]\nresolution = \"1 ps\""),
        expect![[r#"
        pauseless: t.toml:11:14: probe.resolution: 14000000000 numbers would be recorded
           |
        11 | resolution = "1 ps"
           |              ^^^^^^ expected at most 50000000
           |
           = help: choose a coarser resolution, fewer ports, or flows = false
    "#]],
    );
    check_edit(
        from,
        &add("[verdict]\nstarvation_share = 1.5"),
        expect![[r#"
        pauseless: t.toml:11:20: verdict.starvation_share: 1.5 is out of range
           |
        11 | starvation_share = 1.5
           |                    ^^^ expected a share from 0 to 1 with at most three decimals
    "#]],
    );
    check_edit(
        from,
        &add("[verdict]\nstarvation_share = \"10 %\""),
        expect![[r#"
        pauseless: t.toml:11:20: verdict.starvation_share: a string stands here
           |
        11 | starvation_share = "10 %"
           |                    ^^^^^^ expected a share from 0 to 1 with at most three decimals
    "#]],
    );
    check_edit(
        from,
        &add("[[receiver]]\nhost = \"S1\"\nrate = \"1 Gbps\""),
        expect![[r#"
        pauseless: t.toml:11:8: receiver[0].host: S1 is a switch
           |
        11 | host = "S1"
           |        ^^^^ expected a host
    "#]],
    );
    check_edit(
        from,
        &add("[[receiver]]\nrate = \"1 Gbps\"\nsteps = []"),
        expect![[r#"
        pauseless: t.toml:10:1: receiver[0]: both rate and steps are written
           |
        10 | [[receiver]]
           | ^^^^^^^^^^^^
           |
           = help: keep one of them

        pauseless: t.toml:10:1: receiver[0].host: missing
           |
        10 | [[receiver]]
           | ^^^^^^^^^^^^
           |
           = help: add host = "H1"
    "#]],
    );
    check_edit(
        from,
        &add("[[receiver]]\nhost = \"H1\""),
        expect![[r#"
        pauseless: t.toml:10:1: receiver[0].rate: missing
           |
        10 | [[receiver]]
           | ^^^^^^^^^^^^
           |
           = help: add rate = "1 Gbps", or steps = [["0 ms", "1 Gbps"], ["5 ms", "stop"]]
    "#]],
    );
    let steps = |steps: &str| add(&format!("[[receiver]]\nhost = \"H1\"\nsteps = {steps}"));
    check_edit(
        from,
        &steps("[[\"1 ms\", \"stop\"]]"),
        expect![[r#"
        pauseless: t.toml:12:9: receiver[0].steps: nothing says how the host begins
           |
        12 | steps = [["1 ms", "stop"]]
           |         ^^^^^^^^^^^^^^^^^^
           |
           = help: make the first step ["0 ms", "10 Gbps"]
    "#]],
    );
    check_edit(
        from,
        &steps("[[\"0 ms\", \"stop\"], [\"0 ms\", \"1 Gbps\"]]"),
        expect![[r#"
        pauseless: t.toml:12:28: receiver[0].steps[1]: steps are in order of time, and no two at once
           |
        12 | steps = [["0 ms", "stop"], ["0 ms", "1 Gbps"]]
           |                            ^^^^^^^^^^^^^^^^^^
    "#]],
    );
    check_edit(
        from,
        &steps("[[\"0 ms\", \"halt\"], [\"0 ms\"]]"),
        expect![[r#"
        pauseless: t.toml:12:19: receiver[0].steps[0][1]: "halt" does not begin with a number
           |
        12 | steps = [["0 ms", "halt"], ["0 ms"]]
           |                   ^^^^^^ expected a rate in bps, kbps, Mbps, Gbps, Tbps
           |
           = help: write for example "10 Gbps"

        pauseless: t.toml:12:28: receiver[0].steps[1]: not a pair
           |
        12 | steps = [["0 ms", "halt"], ["0 ms"]]
           |                            ^^^^^^^^ expected a list of a time and a rate, or "stop"
    "#]],
    );
    let twice = "[[receiver]]\nhost = \"H1\"\nrate = \"1 Gbps\"\n";
    check_edit(
        from,
        &add(&format!("{twice}{twice}")),
        expect![[r#"
        pauseless: t.toml:14:8: receiver[1].host: H1 has two [[receiver]]
           |
        14 | host = "H1"
           |        ^^^^
           |
           = help: merge them with steps
    "#]],
    );
}
