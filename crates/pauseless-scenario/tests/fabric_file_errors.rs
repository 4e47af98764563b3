//! Fabric files with wrong nodes and tables: every message, as people read it.

#![allow(clippy::too_many_lines, reason = "tables of messages")]

mod fabric_text;

use expect_test::expect;
use fabric_text::{GOOD, check, check_edit, source};
use pauseless_scenario::fabric_file;

#[test]
fn the_good_file_is_good() {
    fabric_file::read(&source(GOOD)).unwrap_or_else(|problems| panic!("{problems}"));
}

#[test]
fn nodes_and_ports() {
    check_edit(
        "\"0x1\"",
        "\"1\"",
        expect![[r#"
        pauseless: t.toml:6:44: topology.node[0].guid: "1" is no GUID
          |
        6 |     { name = "S1", kind = "switch", guid = "1" },
          |                                            ^^^ expected hexadecimal digits, as in "0x0002c90300001234"
    "#]],
    );
    check_edit(
        "kind = \"host\" }",
        "kind = \"host\", layer = 2 }",
        expect![[r#"
            pauseless: t.toml:8:35: topology.node[2].layer: unknown key with kind = "host"
              |
            8 |     { name = "H1", kind = "host", layer = 2 },
              |                                   ^^^^^ expected one of description, guid, kind, name
        "#]],
    );
    check_edit(
        "[\"P2\", \"\"]",
        "[\"P1\", \"\"]",
        expect![[r#"
            pauseless: t.toml:14:40: topology.link[1].ports[0]: the device has another port "P1"
               |
            14 |     { between = ["S1", "S2"], ports = ["P1", ""] },
               |                                        ^^^^
               |
               = help: each port of a device has a name of its own
        "#]],
    );
    check_edit(
        "[\"P2\", \"\"]",
        "[\"P2\"]",
        expect![[r#"
        pauseless: t.toml:14:39: topology.link[1].ports: 1 names stand here
           |
        14 |     { between = ["S1", "S2"], ports = ["P2"] },
           |                                       ^^^^^^ expected the names of the two ports
    "#]],
    );
    check_edit(
        "guid = \"0x1\"",
        "layer = 0",
        expect![[r#"
        pauseless: t.toml:6:45: topology.node[0].layer: 0 is out of range
          |
        6 |     { name = "S1", kind = "switch", layer = 0 },
          |                                             ^ expected a whole number from 1 to 255
    "#]],
    );
}

#[test]
fn tables() {
    check_edit(
        "[routing.tables.S2]",
        "[routing.tables.S3]",
        expect![[r#"
        pauseless: t.toml:21:10: routing.tables: switch S2 has no table
           |
        21 | [routing.tables.S1]
           |          ^^^^^^
           |
           = help: add [routing.tables.S2]; leave its table empty if it forwards nothing

        pauseless: t.toml:25:17: routing.tables.S3: there is no switch "S3"
           |
        25 | [routing.tables.S3]
           |                 ^^
           |
           = help: did you mean S1?
    "#]],
    );
    check_edit(
        "[routing.tables.S2]",
        "[routing.tables.H2]",
        expect![[r#"
        pauseless: t.toml:21:10: routing.tables: switch S2 has no table
           |
        21 | [routing.tables.S1]
           |          ^^^^^^
           |
           = help: add [routing.tables.S2]; leave its table empty if it forwards nothing

        pauseless: t.toml:25:17: routing.tables.H2: H2 is a host
           |
        25 | [routing.tables.H2]
           |                 ^^ expected a switch
    "#]],
    );
    check_edit(
        "\"S2#2\" =",
        "\"S2#3\" =",
        expect![[r#"
        pauseless: t.toml:23:1: routing.tables.S1.S2#3: S1 has no link number 3 to S2, only 2
           |
        23 | "S2#3" = ["H2..H3"]
           | ^^^^^^
    "#]],
    );
    check_edit(
        "\"S2#2\" =",
        "\"S2#1\" =",
        expect![[r#"
        pauseless: t.toml:23:1: routing.tables.S1.S2#1: "S2#1" is the same port as "S2"
           |
        23 | "S2#1" = ["H2..H3"]
           | ^^^^^^
           |
           = help: put all its hosts under one
    "#]],
    );
    check_edit(
        "H1 = [\"H1@1\"]",
        "H2 = [\"H1\"]",
        expect![[r#"
        pauseless: t.toml:24:1: routing.tables.S1.H2: S1 has no link to "H2"; its neighbours are S2, H1
           |
        24 | H2 = ["H1"]
           | ^^
    "#]],
    );
    check_edit(
        "S2 = [\"H2\"]",
        "S2 = [\"H7\"]",
        expect![[r#"
        pauseless: t.toml:22:7: routing.tables.S1.S2[0]: there is no host "H7"
           |
        22 | S2 = ["H7"]
           |       ^^^^
           |
           = help: hosts are H1..H3
    "#]],
    );
    check_edit(
        "S2 = [\"H2\"]",
        "S2 = [\"S2\"]",
        expect![[r#"
        pauseless: t.toml:22:7: routing.tables.S1.S2[0]: S2 is a switch
           |
        22 | S2 = ["S2"]
           |       ^^^^ expected a host
    "#]],
    );
    check_edit(
        "S2 = [\"H2\"]",
        "S2 = \"H2\"",
        expect![[r#"
        pauseless: t.toml:22:6: routing.tables.S1.S2: a string stands here
           |
        22 | S2 = "H2"
           |      ^^^^ expected a list of hosts, such as ["H1", "H3..H5"]
    "#]],
    );
    check_edit(
        "S2 = [\"H2\"]",
        "S2 = [2]",
        expect![[r#"
        pauseless: t.toml:22:7: routing.tables.S1.S2[0]: an integer stands here
           |
        22 | S2 = [2]
           |       ^ expected a string
    "#]],
    );
    check_edit(
        "\"H2..H3\"",
        "\"H3..H2\"",
        expect![[r#"
        pauseless: t.toml:23:11: routing.tables.S1.S2#2[0]: H3 comes after H2 in the topology
           |
        23 | "S2#2" = ["H3..H2"]
           |           ^^^^^^^^
           |
           = help: write H2..H3
    "#]],
    );
    check_edit(
        "\"H2..H3\"",
        "\"H1..H3\", \"H2\"",
        expect![[r#"
        pauseless: t.toml:23:21: routing.tables.S1.S2#2[1]: H2 stands here twice
           |
        23 | "S2#2" = ["H1..H3", "H2"]
           |                     ^^^^
           |
           = help: list every host once
    "#]],
    );
    check_edit(
        "H1@1",
        "H1@0",
        expect![[r#"
        pauseless: t.toml:24:7: routing.tables.S1.H1[0]: "0" is no number of an address
           |
        24 | H1 = ["H1@0"]
           |       ^^^^^^ expected a whole number from 1 to 128 behind the @
    "#]],
    );
    check_edit(
        "kind = \"tables\"",
        "",
        expect![[r#"
        pauseless: t.toml:21:10: routing.tables: unknown key with kind = "shortest"
           |
        21 | [routing.tables.S1]
           |          ^^^^^^ expected one of kind, tie_break
    "#]],
    );
    let (without, _) = GOOD.split_once("[routing.tables.S1]").expect("it is there");
    check(
        without,
        expect![[r#"
        pauseless: t.toml:19:1: routing: there are no tables
           |
        19 | [routing]
           | ^^^^^^^^^
           |
           = help: add [routing.tables.SWITCH] for each switch
    "#]],
    );
}

#[test]
fn rules() {
    let (base, _) = GOOD.split_once("[routing]").expect("it is there");
    let routing = |keys: &str| format!("{base}[routing]\n{keys}\n");
    check(
        &routing("kind = \"dimension-order\""),
        expect![[r#"
        pauseless: t.toml:20:8: routing.kind: only a torus or mesh has dimensions to route by
           |
        20 | kind = "dimension-order"
           |        ^^^^^^^^^^^^^^^^^
           |
           = help: choose another kind of routing, or topology.kind = "torus"
    "#]],
    );
    check(
        &routing("kind = \"updown\""),
        expect![[r#"
        pauseless: t.toml:20:8: routing.kind: unknown value "updown"
           |
        20 | kind = "updown"
           |        ^^^^^^^^ expected one of "shortest", "ecmp", "up-down", "dimension-order", "tables"
           |
           = help: did you mean up-down?
    "#]],
    );
    check(
        &routing("kind = \"ecmp\"\ntie_break = \"seeded\""),
        expect![[r#"
            pauseless: t.toml:21:1: routing.tie_break: unknown key with kind = "ecmp"
               |
            21 | tie_break = "seeded"
               | ^^^^^^^^^ expected one of kind
        "#]],
    );
    let keys = "kind = \"up-down\"\nmultipath = \"ecmp\"\ntie_break = \"seeded\"";
    check(
        &routing(keys),
        expect![[r#"
            pauseless: t.toml:22:1: routing.tie_break: unknown key with kind = "up-down" and multipath = "ecmp"
               |
            22 | tie_break = "seeded"
               | ^^^^^^^^^ expected one of kind, multipath
        "#]],
    );
    check(
        &routing("[classes]\nkind = \"dateline\""),
        expect![[r#"
        pauseless: t.toml:21:8: classes.kind: only routing by dimensions has datelines
           |
        21 | kind = "dateline"
           |        ^^^^^^^^^^
           |
           = help: set routing.kind = "dimension-order"
    "#]],
    );
    check(
        &routing("[lanes.pairs.H1]\n0 = [\"H2@2\"]"),
        expect![[r#"
        pauseless: t.toml:21:6: lanes.pairs.H1.0[0]: with a rule, hosts have one address
           |
        21 | 0 = ["H2@2"]
           |      ^^^^^^
           |
           = help: further addresses need routing.kind = "tables"
    "#]],
    );
}
