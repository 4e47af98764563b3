//! Scenario files that are wrong as files, tables and quantities: every message, as people read it.

#![allow(clippy::too_many_lines, reason = "tables of messages")]

mod problems;

use expect_test::expect;
use problems::{check, check_edit, check_file};

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
               = help: write a string with a unit, for example "100 KB"
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
               = help: write for example "100 KB"
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
              = help: write a string with a unit, for example "10 us"
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
               | ^^^ expected one of at, cycle_aware, kind, pause_quanta, tick, unsafe_parameters, xoff, xon
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
              |  ^^^^^ expected one of classes, congestion_control, converge, duration, ecmp_weight, entropy, event, flow, flow_control, lanes, load_balancing, lossy, medium, mtu, notes, probe, provenance, rate_limit, receiver, recovery, routing, seed, switch, timing, title, topology, traffic, transport, verdict, watchdog, wire_loss, wire_overhead
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
               | ^^^^ expected one of at, counters, credits, cycle_aware, kind, period, tick, unsafe_parameters
        "#]],
    );
    check_edit(
        "kind = \"pfc\"",
        "kind = \"PFC\"",
        expect![[r#"
            pauseless: t.toml:11:8: flow_control.kind: unknown value "PFC"
               |
            11 | kind = "PFC"
               |        ^^^^^ expected one of "pfc", "paced-pfc", "cbfc", "paced-cbfc", "gfc-buffer", "gfc-time", "gfc-conceptual", "none"
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
               = help: add kind = "pfc", "paced-pfc", "cbfc", "paced-cbfc", "gfc-buffer", "gfc-time", "gfc-conceptual" or "none"
        "#]],
    );
    check_edit(
        "kind = \"ring\"",
        "kind = \"donut\"",
        expect![[r#"
            pauseless: t.toml:3:8: topology.kind: unknown value "donut"
              |
            3 | kind = "donut"
              |        ^^^^^^^ expected one of "ring", "line", "dumbbell", "n-to-1", "parking-lot", "fat-tree", "leaf-spine", "clos", "rail-optimised", "dragonfly", "torus", "mesh", "hyperx", "random-regular", "custom"
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
              |  ^^^^^ expected one of classes, congestion_control, converge, duration, ecmp_weight, entropy, event, flow, flow_control, lanes, load_balancing, lossy, medium, mtu, notes, probe, provenance, rate_limit, receiver, recovery, routing, seed, switch, timing, title, topology, traffic, transport, verdict, watchdog, wire_loss, wire_overhead
        "#]],
    );
    check_edit(
        "[switch]",
        "[switch]\nweights = [1]",
        expect![[r#"
            pauseless: t.toml:9:1: switch.weights: unknown key with scheduler = "strict"
              |
            9 | weights = [1]
              | ^^^^^^^ expected one of buffer, classes, control_frame, discipline, memory, processing, processing_jitter, scheduler
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
              = help: add [[flow]] with a source and a target, or [[traffic]]

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
              = help: add [[flow]] with a source and a target, or [[traffic]]

            pauseless: t.toml:1:12: duration: a number without a unit
              |
            1 | duration = 5
              |            ^ expected a time in ps, ns, us, ms, s
              |
              = help: write a string with a unit, for example "10 us"

            pauseless: t.toml:3:1: foo: unknown key
              |
            3 | foo = 1
              | ^^^ expected one of classes, congestion_control, converge, duration, ecmp_weight, entropy, event, flow, flow_control, lanes, load_balancing, lossy, medium, mtu, notes, probe, provenance, rate_limit, receiver, recovery, routing, seed, switch, timing, title, topology, traffic, transport, verdict, watchdog, wire_loss, wire_overhead

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
              = help: add [[flow]] with a source and a target, or [[traffic]]

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
        pauseless: FILE: a directory, not a file
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
          = help: is this the right file? save it as UTF-8
    "#]],
    );
    std::fs::File::create(&file).and_then(|file| file.set_len((256 << 20) + 1)).unwrap();
    check_file(
        &file,
        expect![[r#"
        pauseless: FILE: larger than 256 MiB, the limit
          = help: is this the right file?
    "#]],
    );
    std::fs::remove_dir_all(&folder).unwrap();
}
