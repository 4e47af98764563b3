//! The rarer keys of `[[flow]]`, wrong in every way: the messages as people read them.

#![allow(clippy::too_many_lines, reason = "tables of messages")]

mod problems;

use expect_test::{Expect, expect};
use problems::{GOOD, check};

/// The good file, with more keys for its flow.
fn flow(keys: &str, expected: Expect) {
    check(&format!("{GOOD}{keys}\n"), expected);
}

#[test]
fn flows_that_wait() {
    flow(
        "after = [\"F\"]",
        expect![[r#"
        pauseless: t.toml:16:10: flow[0].after[0]: no flow is called "F"
           |
        16 | after = ["F"]
           |          ^^^
    "#]],
    );
    flow(
        "delay = \"1 us\"",
        expect![[r#"
        pauseless: t.toml:16:9: flow[0].delay: a delay after what?
           |
        16 | delay = "1 us"
           |         ^^^^^^
           |
           = help: add after = ["NAME"], or write start instead
    "#]],
    );
    let second = |keys: &str| {
        format!(
            "name = \"A\"\nsize = \"1 KB\"\n[[flow]]\nname = \"B\"\nsource = \"H2\"\ntarget = \"H1\"\n{keys}"
        )
    };
    flow(
        &second("after = [\"a\"]"),
        expect![[r#"
        pauseless: t.toml:22:10: flow[1].after[0]: no flow is called "a"
           |
        22 | after = ["a"]
           |          ^^^
           |
           = help: did you mean A?
    "#]],
    );
    flow(
        &second("after = [\"B\"]"),
        expect![[r#"
        pauseless: t.toml:22:10: flow[1].after[0]: B never ends
           |
        22 | after = ["B"]
           |          ^^^
           |
           = help: give it a size

        pauseless: t.toml:22:10: flow[1].after[0]: flows wait in a circle: B after B
           |
        22 | after = ["B"]
           |          ^^^
           |
           = help: let one of them start by itself
    "#]],
    );
    flow(
        "name = \"A\"\n[[flow]]\nsource = \"H2\"\ntarget = \"H1\"\nafter = [\"A\"]",
        expect![[r#"
            pauseless: t.toml:20:10: flow[1].after[0]: A never ends
               |
            20 | after = ["A"]
               |          ^^^
               |
               = help: give it a size
        "#]],
    );
    flow(
        &format!(
            "after = [\"C\"]\n{}",
            second(
                "size = \"1 KB\"\nafter = [\"A\"]\n[[flow]]\nname = \"C\"\nsource = \"H3\"\ntarget = \"H1\"\nsize = \"1 KB\"\nafter = [\"B\"]"
            )
        ),
        expect![[r#"
            pauseless: t.toml:16:10: flow[0].after[0]: flows wait in a circle: A after C after B after A
               |
            16 | after = ["C"]
               |          ^^^
               |
               = help: let one of them start by itself
        "#]],
    );
}

#[test]
fn other_keys_of_flows() {
    flow(
        "on = \"1 us\"",
        expect![[r#"
        pauseless: t.toml:13:1: flow[0].off: missing
           |
        13 | [[flow]]
           | ^^^^^^^^
           |
           = help: add off = "1 ms", how long it is silent
    "#]],
    );
    flow(
        "off = \"1 us\"",
        expect![[r#"
        pauseless: t.toml:13:1: flow[0].on: missing
           |
        13 | [[flow]]
           | ^^^^^^^^
           |
           = help: add on = "1 ms", how long it sends
    "#]],
    );
    flow(
        "on = \"0 us\"\noff = \"1 us\"",
        expect![[r#"
        pauseless: t.toml:16:6: flow[0].on: 0 ps is out of range
           |
        16 | on = "0 us"
           |      ^^^^^^ expected a time from 1 ps to 86400 s
    "#]],
    );
    flow(
        "count = 0",
        expect![[r#"
        pauseless: t.toml:16:9: flow[0].count: 0 is out of range
           |
        16 | count = 0
           |         ^ expected a whole number from 1 to 100000
    "#]],
    );
    flow(
        "initial_rate = \"11 Gbps\"",
        expect![[r#"
        pauseless: t.toml:16:16: flow[0].initial_rate: 11 Gbps is more than the flow's pace
           |
        16 | initial_rate = "11 Gbps"
           |                ^^^^^^^^^ expected at most 10 Gbps
    "#]],
    );
    flow(
        "congestion_control = \"no\"",
        expect![[r#"
        pauseless: t.toml:16:22: flow[0].congestion_control: a string stands here
           |
        16 | congestion_control = "no"
           |                      ^^^^ expected true or false
    "#]],
    );
    flow(
        "name = \"A\"\ncount = 2\n[[flow]]\nname = \"A#2\"\nsource = \"H2\"\ntarget = \"H1\"",
        expect![[r#"
            pauseless: t.toml:19:8: flow[1].name: two flows are called "A#2"
               |
            19 | name = "A#2"
               |        ^^^^^
               |
               = help: give each a name of its own, or none
        "#]],
    );
}
