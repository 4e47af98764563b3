//! Scenario files with flows and probes that make no sense: every message, as people read it.

#![allow(clippy::too_many_lines, reason = "tables of messages")]

mod problems;

use expect_test::{Expect, expect};
use problems::{GOOD, check, check_edit};

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
              = help: add [[flow]] with a source and a target, or [[traffic]]
        "#]],
    );
    check_edit(
        ends,
        &keys("[traffic]\nkind = \"random\"\nrate = \"20 Gbps\""),
        expect![[r#"
            pauseless: t.toml:17:8: traffic.kind: unknown value "random"
               |
            17 | kind = "random"
               |        ^^^^^^^^ expected one of "permutation", "closing", "poisson", "incast", "closed-loop", "all-to-all", "ring-all-reduce", "tree-all-reduce", "list"
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

            pauseless: t.toml:11:10: probe.ports[0]: S1 has no link to "S9"; its neighbours are H1, S2, S3
               |
            11 | ports = ["S1:S9"]
               |          ^^^^^^^
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
               = help: choose a coarser resolution, fewer ports or fewer flows
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

            pauseless: t.toml:12:9: receiver[0].steps: nothing says how the host begins
               |
            12 | steps = []
               |         ^^
               |
               = help: make the first step ["0 ms", "10 Gbps"]
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

#[test]
fn flows_to_record() {
    let probe = |flows: &str, expected: Expect| {
        let text =
            format!("{GOOD}name = \"F10\"\n[probe]\nresolution = \"10 us\"\nflows = {flows}\n");
        check(&text, expected);
    };
    probe(
        "\"F10\"",
        expect![[r#"
        pauseless: t.toml:19:9: probe.flows: a string stands here
           |
        19 | flows = "F10"
           |         ^^^^^ expected true, false or a list of names
    "#]],
    );
    probe(
        "[\"F10\", 3]",
        expect![[r#"
        pauseless: t.toml:19:17: probe.flows[1]: an integer stands here
           |
        19 | flows = ["F10", 3]
           |                 ^ expected a string
    "#]],
    );
    probe(
        "[\"F10\", \"F1O\"]",
        expect![[r#"
        pauseless: t.toml:19:17: probe.flows[1]: no flow is called "F1O"
           |
        19 | flows = ["F10", "F1O"]
           |                 ^^^^^
           |
           = help: did you mean F10?
    "#]],
    );
    probe(
        "[\"burst/*\", \"F1*\"]",
        expect![[r#"
        pauseless: t.toml:19:10: probe.flows[0]: no flow is called "burst/*"
           |
        19 | flows = ["burst/*", "F1*"]
           |          ^^^^^^^^^
    "#]],
    );
    // What is wrong with the flow is said, and not that there is none.
    let text = GOOD.replace("source = \"H1\"", "source = \"H9\"\nname = \"F\"");
    let text = format!("{text}[probe]\nresolution = \"10 us\"\nflows = [\"F\"]\n");
    check(
        &text,
        expect![[r#"
        pauseless: t.toml:14:10: flow[0].source: there is no node "H9"
           |
        14 | source = "H9"
           |          ^^^^
           |
           = help: did you mean H1?
    "#]],
    );
}
