//! `[[traffic]]`, wrong in every way: the messages as people read them.

#![allow(clippy::too_many_lines, reason = "tables of messages")]

mod problems;

use expect_test::{Expect, expect};
use problems::{GOOD, check, check_file};

/// The good file without its flow, and this section of traffic.
fn traffic(keys: &str, expected: Expect) {
    let (before, _) = GOOD.split_once("[[flow]]").unwrap();
    check(&format!("{before}[[traffic]]\n{keys}\n"), expected);
}

#[test]
fn keys_of_all_kinds() {
    traffic(
        "load = \"10 %\"",
        expect![[r#"
            pauseless: t.toml:13:1: traffic[0].kind: missing
               |
            13 | [[traffic]]
               | ^^^^^^^^^^^
               |
               = help: add kind = "permutation", "closing", "poisson", "incast", "closed-loop", "all-to-all", "ring-all-reduce", "tree-all-reduce" or "list"
        "#]],
    );
    traffic(
        "kind = \"poison\"\nload = 3",
        expect![[r#"
            pauseless: t.toml:14:8: traffic[0].kind: unknown value "poison"
               |
            14 | kind = "poison"
               |        ^^^^^^^^ expected one of "permutation", "closing", "poisson", "incast", "closed-loop", "all-to-all", "ring-all-reduce", "tree-all-reduce", "list"
               |
               = help: did you mean poisson?
        "#]],
    );
    traffic(
        "kind = \"poisson\"\nsize = \"1 KB\"",
        expect![[r#"
            pauseless: t.toml:13:1: traffic[0].load: missing with kind = "poisson"
               |
            13 | [[traffic]]
               | ^^^^^^^^^^^
               |
               = help: add load = "60 %"
        "#]],
    );
    traffic(
        "kind = \"poisson\"\nload = \"300 %\"\nsize = \"1 KB\"",
        expect![[r#"
            pauseless: t.toml:15:8: traffic[0].load: 300 % is out of range
               |
            15 | load = "300 %"
               |        ^^^^^^^ expected a share from 1 ppm to 200 %
        "#]],
    );
    traffic(
        "kind = \"poisson\"\nload = 0.5\nsize = \"1 KB\"",
        expect![[r#"
            pauseless: t.toml:15:8: traffic[0].load: a number without a unit
               |
            15 | load = 0.5
               |        ^^^ expected a share in ppm, %
               |
               = help: write a string with a unit, for example "60 %"
        "#]],
    );
    traffic(
        "kind = \"poisson\"\nload = \"10 %\"",
        expect![[r#"
            pauseless: t.toml:13:1: traffic[0].size: missing with kind = "poisson"
               |
            13 | [[traffic]]
               | ^^^^^^^^^^^
               |
               = help: add size = "100 KB", or sizes = "websearch", or a cdf
        "#]],
    );
    traffic(
        "kind = \"poisson\"\nload = \"10 %\"\nsize = \"1 KB\"\nsizes = \"websearch\"",
        expect![[r#"
            pauseless: t.toml:13:1: traffic[0]: the sizes of flows are written twice
               |
            13 | [[traffic]]
               | ^^^^^^^^^^^
               |
               = help: keep one of size, sizes and cdf
        "#]],
    );
    traffic(
        "kind = \"poisson\"\nload = \"10 %\"\nsize = \"1 KB\"\ndegree = 3",
        expect![[r#"
            pauseless: t.toml:17:1: traffic[0].degree: unknown key with kind = "poisson"
               |
            17 | degree = 3
               | ^^^^^^ expected one of arrivals, cdf, class, classes_by_size, congestion_control, fan_in, initial_rate, kind, label, load, name, other_rack, packet, rate, size, sizes, sources, start, stop, targets, ttl
        "#]],
    );
    traffic(
        "kind = \"permutation\"\nname = \"\"",
        expect![[r#"
        pauseless: t.toml:15:8: traffic[0].name: a name of a flow is a line of text
           |
        15 | name = ""
           |        ^^ expected at least one character, none of them control
    "#]],
    );
    traffic(
        "kind = \"permutation\"\nrate = \"20 Gbps\"",
        expect![[r#"
        pauseless: t.toml:15:8: traffic[0].rate: 20 Gbps is more than the link of H2 carries
           |
        15 | rate = "20 Gbps"
           |        ^^^^^^^^^ expected at most 10 Gbps
    "#]],
    );
    traffic(
        "kind = \"permutation\"\nrate = \"2 Gbps\"\ninitial_rate = \"3 Gbps\"",
        expect![[r#"
            pauseless: t.toml:16:16: traffic[0].initial_rate: 3 Gbps is more than the flow's pace
               |
            16 | initial_rate = "3 Gbps"
               |                ^^^^^^^^ expected at most 2 Gbps
        "#]],
    );
    traffic(
        "kind = \"permutation\"\n[[traffic]]\nkind = \"permutation\"",
        expect![[r#"
            pauseless: t.toml:15:1: traffic[1]: two [[traffic]] are called "permutation"
               |
            15 | [[traffic]]
               | ^^^^^^^^^^^
               |
               = help: give each a name of its own
        "#]],
    );
    traffic(
        "kind = \"permutation\"\nclasses_by_size = [[\"10 KB\", 1], [\"1 KB\", 0], 3]",
        expect![[r#"
            pauseless: t.toml:15:30: traffic[0].classes_by_size[0][1]: 1 is out of range
               |
            15 | classes_by_size = [["10 KB", 1], ["1 KB", 0], 3]
               |                              ^ expected 0, the only possible value

            pauseless: t.toml:15:47: traffic[0].classes_by_size[2]: an integer stands here
               |
            15 | classes_by_size = [["10 KB", 1], ["1 KB", 0], 3]
               |                                               ^ expected a size and a class, as in ["10 KB", 3]
        "#]],
    );
    traffic(
        "kind = \"permutation\"\nclasses_by_size = [[\"10 KB\", 0], [\"1 KB\", 0]]",
        expect![[r#"
            pauseless: t.toml:15:34: traffic[0].classes_by_size[1]: bound 1 KB is out of order
               |
            15 | classes_by_size = [["10 KB", 0], ["1 KB", 0]]
               |                                  ^^^^^^^^^^^ expected bounds from small to large, from 1 B on
        "#]],
    );
    traffic(
        "kind = \"incast\"\nsize = \"1 KB\"\nstart = \"2 ms\"\n[timing]\nsources_stop = \"1 ms\"",
        expect![[r#"
            pauseless: t.toml:13:1: traffic[0]: it starts when all sources have stopped
               |
            13 | [[traffic]]
               | ^^^^^^^^^^^ expected a start before 1 ms
        "#]],
    );
    traffic(
        "kind = \"incast\"\nsize = \"1 KB\"\ntarget = \"H1\"\n[[flow]]\nname = \"incast/H2->H1#1\"\nsource = \"H1\"\ntarget = \"H2\"",
        expect![[r#"
            pauseless: t.toml:17:1: flow[0]: [[traffic]] makes a flow "incast/H2->H1#1", too
               |
            17 | [[flow]]
               | ^^^^^^^^
               |
               = help: give one of them another name
        "#]],
    );
}

#[test]
fn hosts() {
    let poisson =
        |keys: &str| format!("kind = \"poisson\"\nload = \"10 %\"\nsize = \"1 KB\"\n{keys}");
    traffic(
        &poisson("sources = [\"H4\", \"S1\", \"X*\", \"H3..H1\", \"H1@2\"]"),
        expect![[r#"
            pauseless: t.toml:17:12: traffic[0].sources[0]: there is no host "H4"
               |
            17 | sources = ["H4", "S1", "X*", "H3..H1", "H1@2"]
               |            ^^^^
               |
               = help: hosts are H1..H3

            pauseless: t.toml:17:18: traffic[0].sources[1]: S1 is a switch
               |
            17 | sources = ["H4", "S1", "X*", "H3..H1", "H1@2"]
               |                  ^^^^ expected a host

            pauseless: t.toml:17:24: traffic[0].sources[2]: no host is called "X*"
               |
            17 | sources = ["H4", "S1", "X*", "H3..H1", "H1@2"]
               |                        ^^^^

            pauseless: t.toml:17:30: traffic[0].sources[3]: H3 comes after H1 in the topology
               |
            17 | sources = ["H4", "S1", "X*", "H3..H1", "H1@2"]
               |                              ^^^^^^^^
               |
               = help: write H1..H3

            pauseless: t.toml:17:40: traffic[0].sources[4]: traffic knows hosts, not addresses
               |
            17 | sources = ["H4", "S1", "X*", "H3..H1", "H1@2"]
               |                                        ^^^^^^
               |
               = help: leave out what begins with @
        "#]],
    );
    traffic(
        &poisson("sources = []"),
        expect![[r#"
        pauseless: t.toml:17:11: traffic[0].sources: no host is listed
           |
        17 | sources = []
           |           ^^
    "#]],
    );
    traffic(
        &poisson("sources = \"H1\""),
        expect![[r#"
        pauseless: t.toml:17:11: traffic[0].sources: a string stands here
           |
        17 | sources = "H1"
           |           ^^^^ expected a list of strings
    "#]],
    );
    traffic(
        &poisson("targets = [\"H1\"]"),
        expect![[r#"
        pauseless: t.toml:17:11: traffic[0].targets: H1 has no target
           |
        17 | targets = ["H1"]
           |           ^^^^^^
           |
           = help: add targets of other racks, or other_rack = false
    "#]],
    );
    traffic(
        &poisson("fan_in = [1, 3]"),
        expect![[r#"
        pauseless: t.toml:13:1: traffic[0]: 3 sources are needed for H1, and there are 2
           |
        13 | [[traffic]]
           | ^^^^^^^^^^^
           |
           = help: add sources, ask for fewer at a time, or write other_rack = false
    "#]],
    );
    traffic(
        &poisson("fan_in = [3, 1]"),
        expect![[r#"
        pauseless: t.toml:17:10: traffic[0].fan_in: 3 is more than 1
           |
        17 | fan_in = [3, 1]
           |          ^^^^^^ expected the fewest first, then the most
    "#]],
    );
    traffic(
        &poisson("fan_in = 3"),
        expect![[r#"
        pauseless: t.toml:17:10: traffic[0].fan_in: an integer stands here
           |
        17 | fan_in = 3
           |          ^ expected the fewest and the most sources, as in [1, 15]
    "#]],
    );
    traffic(
        &poisson("fan_in = [1, 2, 3]"),
        expect![[r#"
        pauseless: t.toml:17:10: traffic[0].fan_in: not a pair
           |
        17 | fan_in = [1, 2, 3]
           |          ^^^^^^^^^ expected the fewest and the most sources, as in [1, 15]
    "#]],
    );
    traffic(
        &poisson("fan_in = [1, 2]\narrivals = \"independent\""),
        expect![[r#"
            pauseless: t.toml:18:12: traffic[0].arrivals: fan_in has arrivals of its own
               |
            18 | arrivals = "independent"
               |            ^^^^^^^^^^^^^
               |
               = help: keep one of arrivals and fan_in
        "#]],
    );
    let incast = |keys: &str| format!("kind = \"incast\"\nsize = \"1 KB\"\n{keys}");
    traffic(
        &incast("degree = 3\ntarget = \"H1\""),
        expect![[r#"
        pauseless: t.toml:13:1: traffic[0]: 3 sources are needed for H1, and there are 2
           |
        13 | [[traffic]]
           | ^^^^^^^^^^^
           |
           = help: add sources, or ask for fewer at a time
    "#]],
    );
    traffic(
        &incast("target = \"H1\"\ntargets = [\"H2\"]"),
        expect![[r#"
            pauseless: t.toml:16:10: traffic[0].target: both target and targets are written
               |
            16 | target = "H1"
               |          ^^^^
               |
               = help: keep one of them
        "#]],
    );
    traffic(
        &incast("repeat = 3"),
        expect![[r#"
            pauseless: t.toml:13:1: traffic[0].interval: missing with kind = "incast"
               |
            13 | [[traffic]]
               | ^^^^^^^^^^^
               |
               = help: add interval = "1 ms", the time from one to the next
        "#]],
    );
    traffic(
        "kind = \"ring-all-reduce\"\nhosts = [\"H1\"]\nsize = \"1 MB\"",
        expect![[r#"
            pauseless: t.toml:15:9: traffic[0].hosts: a collective operation has at least two ranks
               |
            15 | hosts = ["H1"]
               |         ^^^^^^
               |
               = help: list more hosts
        "#]],
    );
    traffic(
        "kind = \"ring-all-reduce\"\nsize = \"2 B\"",
        expect![[r#"
        pauseless: t.toml:13:1: traffic[0]: 2 B are no 3 parts of a byte
           |
        13 | [[traffic]]
           | ^^^^^^^^^^^
           |
           = help: a larger size, or fewer parts
    "#]],
    );
    traffic(
        "kind = \"tree-all-reduce\"\nchunks = 0",
        expect![[r#"
            pauseless: t.toml:13:1: traffic[0].size: missing with kind = "tree-all-reduce"
               |
            13 | [[traffic]]
               | ^^^^^^^^^^^
               |
               = help: add size = "1 MB", the buffer of each rank

            pauseless: t.toml:15:10: traffic[0].chunks: 0 is out of range
               |
            15 | chunks = 0
               |          ^ expected a whole number from 1 to 1000000
        "#]],
    );
}

#[test]
fn distributions() {
    let cdf = |keys: &str| format!("kind = \"poisson\"\nload = \"10 %\"\n{keys}");
    traffic(
        &cdf("sizes = \"websarch\""),
        expect![[r#"
        pauseless: t.toml:16:9: traffic[0].sizes: websarch cannot be read: No such file or directory (os error 2)
           |
        16 | sizes = "websarch"
           |         ^^^^^^^^^^
           |
           = help: did you mean websearch?
    "#]],
    );
    traffic(
        &cdf("sizes = \"no/such/file.txt\""),
        expect![[r#"
        pauseless: t.toml:16:9: traffic[0].sizes: no/such/file.txt cannot be read: No such file or directory (os error 2)
           |
        16 | sizes = "no/such/file.txt"
           |         ^^^^^^^^^^^^^^^^^^
           |
           = help: write the path of a file, or one of "websearch", "datamining_vl2", "pcn_w1_webserver", "pcn_w2_hadoop"
    "#]],
    );
    traffic(
        &cdf("sizes = \"/\""),
        expect![[r#"
        pauseless: t.toml:16:9: traffic[0].sizes: / is no file
           |
        16 | sizes = "/"
           |         ^^^
           |
           = help: each line has a size in bytes and the share of flows that are no larger
    "#]],
    );
    traffic(
        &cdf("cdf = []"),
        expect![[r#"
        pauseless: t.toml:16:7: traffic[0].cdf: no points
           |
        16 | cdf = []
           |       ^^
           |
           = help: neither sizes nor probabilities fall, and the last probability is 1
    "#]],
    );
    traffic(
        &cdf("cdf = [[\"1 KB\", 0.5], [\"2 KB\", 0.9]]"),
        expect![[r#"
            pauseless: t.toml:16:23: traffic[0].cdf[1]: the last probability is 0.9, not 1
               |
            16 | cdf = [["1 KB", 0.5], ["2 KB", 0.9]]
               |                       ^^^^^^^^^^^^^
               |
               = help: neither sizes nor probabilities fall, and the last probability is 1
        "#]],
    );
    traffic(
        &cdf("cdf = [[\"1 KB\", 0.5], [\"2 KB\", 0.4], [\"3 KB\", 1]]"),
        expect![[r#"
            pauseless: t.toml:16:23: traffic[0].cdf[1]: probability 0.4 after 0.5
               |
            16 | cdf = [["1 KB", 0.5], ["2 KB", 0.4], ["3 KB", 1]]
               |                       ^^^^^^^^^^^^^
               |
               = help: neither sizes nor probabilities fall, and the last probability is 1
        "#]],
    );
    traffic(
        &cdf("cdf = [[\"1 KB\", \"0.5\"], [2, 1], [\"3 KB\", nan], 4]"),
        expect![[r#"
            pauseless: t.toml:16:17: traffic[0].cdf[0][1]: a string stands here
               |
            16 | cdf = [["1 KB", "0.5"], [2, 1], ["3 KB", nan], 4]
               |                 ^^^^^ expected a number

            pauseless: t.toml:16:26: traffic[0].cdf[1][0]: a number without a unit
               |
            16 | cdf = [["1 KB", "0.5"], [2, 1], ["3 KB", nan], 4]
               |                          ^ expected an amount of bytes in B, KB, KiB, MB, MiB, GB, GiB
               |
               = help: write a string with a unit, for example "100 KB"

            pauseless: t.toml:16:42: traffic[0].cdf[2][1]: nan is out of range
               |
            16 | cdf = [["1 KB", "0.5"], [2, 1], ["3 KB", nan], 4]
               |                                          ^^^ expected a finite number

            pauseless: t.toml:16:48: traffic[0].cdf[3]: an integer stands here
               |
            16 | cdf = [["1 KB", "0.5"], [2, 1], ["3 KB", nan], 4]
               |                                                ^ expected a size and a share, as in ["10 KB", 0.15]
        "#]],
    );
    traffic(
        &cdf("cdf = [[\"1 KB\", -1], [\"3 KB\", 1]]"),
        expect![[r#"
        pauseless: t.toml:16:8: traffic[0].cdf[0]: probability -1
           |
        16 | cdf = [["1 KB", -1], ["3 KB", 1]]
           |        ^^^^^^^^^^^^
           |
           = help: neither sizes nor probabilities fall, and the last probability is 1
    "#]],
    );
}

#[test]
fn files_of_distributions() {
    let folder = std::env::temp_dir().join(format!("pauseless-traffic-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (before, _) = GOOD.split_once("[[flow]]").unwrap();
    let keys = "kind = \"poisson\"\nload = \"10 %\"\nsizes = \"sizes.txt\"";
    let path = folder.join("t.toml");
    std::fs::write(&path, format!("{before}[[traffic]]\n{keys}\n")).unwrap();
    let cases: [(&[u8], Expect); 4] = [
        (
            b"# none\n",
            expect![[r#"
            pauseless: FOLDER/t.toml:16:9: traffic[0].sizes: FOLDER/sizes.txt:1: no points
               |
            16 | sizes = "sizes.txt"
               |         ^^^^^^^^^^^
               |
               = help: each line has a size in bytes and the share of flows that are no larger
        "#]],
        ),
        (
            b"0 0\n1000 0.5\n500 1\n",
            expect![[r#"
            pauseless: FOLDER/t.toml:16:9: traffic[0].sizes: FOLDER/sizes.txt:3: size 500 B after 1 KB
               |
            16 | sizes = "sizes.txt"
               |         ^^^^^^^^^^^
               |
               = help: each line has a size in bytes and the share of flows that are no larger
        "#]],
        ),
        (
            b"0 0\nabc 1\n",
            expect![[r#"
            pauseless: FOLDER/t.toml:16:9: traffic[0].sizes: FOLDER/sizes.txt:2: "abc" is not a number
               |
            16 | sizes = "sizes.txt"
               |         ^^^^^^^^^^^
               |
               = help: each line has a size in bytes and the share of flows that are no larger
        "#]],
        ),
        (
            b"0 0\n\xff 1\n",
            expect![[r#"
            pauseless: FOLDER/t.toml:16:9: traffic[0].sizes: FOLDER/sizes.txt:2: not UTF-8 text
               |
            16 | sizes = "sizes.txt"
               |         ^^^^^^^^^^^
               |
               = help: each line has a size in bytes and the share of flows that are no larger
        "#]],
        ),
    ];
    for (content, expected) in cases {
        std::fs::write(folder.join("sizes.txt"), content).unwrap();
        let problems = pauseless_scenario::Scenario::read(&path, &Default::default());
        let text = problems.expect_err("something is wrong").to_string();
        let text = text.replace(&folder.display().to_string(), "FOLDER");
        expected.assert_eq(&format!("{text}\n"));
    }
    std::fs::write(folder.join("sizes.txt"), vec![b' '; (4 << 20) + 1]).unwrap();
    let problems = pauseless_scenario::Scenario::read(&path, &Default::default());
    let text = problems.expect_err("something is wrong").to_string();
    assert!(text.contains("is larger than 4 MiB"), "{text}");
    // A good one, in percent, next to the scenario.
    std::fs::write(folder.join("sizes.txt"), "0 0\n1000 50\n2000 100\n").unwrap();
    let good = pauseless_scenario::Scenario::read(&path, &Default::default()).unwrap();
    assert!(good.resolved().contains("[\"1 KB\", 0.5]"), "{}", good.resolved());
    std::fs::remove_dir_all(&folder).unwrap();
    let gone = folder.join("t.toml");
    check_file(
        &gone,
        expect![[r#"
        pauseless: FILE: cannot be read: No such file or directory (os error 2)
    "#]],
    );
}

#[test]
fn too_many() {
    let (before, _) = GOOD.split_once("[[flow]]").unwrap();
    let long = before.replace("1 ms", "10 s");
    let section = |keys: &str| format!("{long}[[traffic]]\n{keys}\n");
    check(
        &section("kind = \"poisson\"\nload = \"100 %\"\nsize = \"100 B\""),
        expect![[r#"
            pauseless: t.toml:13:1: traffic[0]: about 375000000 flows would be made
               |
            13 | [[traffic]]
               | ^^^^^^^^^^^ expected at most 5000000
               |
               = help: a shorter duration, an earlier stop, a smaller load, larger flows or fewer turns
        "#]],
    );
    check(
        &section("kind = \"closed-loop\"\nsize = \"1 B\"\nparallel = 10"),
        expect![[r#"
            pauseless: t.toml:13:1: traffic[0]: about 375000000030 flows would be made
               |
            13 | [[traffic]]
               | ^^^^^^^^^^^ expected at most 5000000
               |
               = help: a shorter duration, an earlier stop, a smaller load, larger flows or fewer turns
        "#]],
    );
    check(
        &section("kind = \"incast\"\nsize = \"1 B\"\ninterval = \"1 ns\""),
        expect![[r#"
            pauseless: t.toml:13:1: traffic[0]: about 30000000000 flows would be made
               |
            13 | [[traffic]]
               | ^^^^^^^^^^^ expected at most 5000000
               |
               = help: a shorter duration, an earlier stop, a smaller load, larger flows or fewer turns
        "#]],
    );
    check(
        &section("kind = \"ring-all-reduce\"\nsize = \"1 MB\"\nrepeat = 1000000"),
        expect![[r#"
            pauseless: t.toml:13:1: traffic[0]: about 12000000 flows would be made
               |
            13 | [[traffic]]
               | ^^^^^^^^^^^ expected at most 5000000
               |
               = help: a shorter duration, an earlier stop, a smaller load, larger flows or fewer turns
        "#]],
    );
    check(
        &section("kind = \"all-to-all\"\nsize = \"1 MB\"\nrepeat = 1000000"),
        expect![[r#"
            pauseless: t.toml:13:1: traffic[0]: too many flows would wait for each other
               |
            13 | [[traffic]]
               | ^^^^^^^^^^^
               |
               = help: rounds = "shifted", fewer hosts, or a smaller repeat
        "#]],
    );
}

#[test]
fn sources_that_share_their_arrivals_have_links_of_one_rate() {
    let text = r#"duration = "1 ms"
[topology]
kind = "custom"
rate = "10 Gbps"
delay = "1 us"
node = [
    { name = "S", kind = "switch" },
    { name = "H1", kind = "host" },
    { name = "H2", kind = "host" },
    { name = "H3", kind = "host" },
]
link = [
    { between = ["S", "H1"] },
    { between = ["S", "H2"], rate = "1 Gbps" },
    { between = ["S", "H3"] },
]
[flow_control]
kind = "none"
[traffic]
kind = "poisson"
load = "10 %"
size = "1 KB"
sources = ["H1", "H2"]
targets = ["H3"]
"#;
    check(
        &format!("{text}fan_in = [1, 2]\n"),
        expect![[r#"
        pauseless: t.toml:23:11: traffic.sources: sources of a fan_in have links of different rates
           |
        23 | sources = ["H1", "H2"]
           |           ^^^^^^^^^^^^
           |
           = help: a load is a share of the link: use one [[traffic]] for each rate
    "#]],
    );
    check(
        &format!("{text}arrivals = \"synchronous\"\n"),
        expect![[r#"
        pauseless: t.toml:23:11: traffic.sources: synchronous sources have links of different rates
           |
        23 | sources = ["H1", "H2"]
           |           ^^^^^^^^^^^^
           |
           = help: a load is a share of the link: use one [[traffic]] for each rate
    "#]],
    );
}
