//! Scenario files with impossible networks and unsafe parameters: every message, as people read it.

#![allow(clippy::too_many_lines, reason = "tables of messages")]

mod problems;

use expect_test::expect;
use problems::{GOOD, check, check_edit};

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
        "pause_quanta = 65536",
        expect![[r#"
            pauseless: t.toml:12:16: flow_control.pause_quanta: 65536 is out of range
               |
            12 | pause_quanta = 65536
               |                ^^^^^ expected a whole number from 0 to 65535
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
               |        ^^^^^^^^ expected a buffer that is 5814 B larger
               |
               = help: the bound is buffer - (C tau + MTU + 64 B per class), and that would be below zero; or unsafe_parameters = true in [flow_control] to run it all the same
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
