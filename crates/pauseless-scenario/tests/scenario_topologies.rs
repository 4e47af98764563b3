//! Every kind of fabric and every way to say what is down: read, written out, and read again.

#![allow(clippy::too_many_lines, reason = "tables of messages")]

mod problems;

use expect_test::expect;
use pauseless_scenario::{Overrides, Scenario};
use problems::check;

fn file(topology: &str, ends: [&str; 2]) -> String {
    let [source, target] = ends;
    format!(
        "duration = \"1 ms\"\n[topology]\n{topology}\nrate = \"40 Gbps\"\ndelay = \"5 us\"\n\
         host_rate = \"10 Gbps\"\n[switch]\nbuffer = \"1 MB\"\n[flow_control]\nkind = \"pfc\"\n\
         [[flow]]\nsource = {source:?}\ntarget = {target:?}\n"
    )
}

fn parse(text: &str) -> Scenario {
    let scenario = Scenario::parse("t", text, &Overrides::default());
    scenario.unwrap_or_else(|problems| panic!("{problems}"))
}

/// The scenario, after a check that what is written out gives the same run.
fn there_and_back(text: &str) -> Scenario {
    let scenario = parse(text);
    let again = parse(&scenario.resolved());
    let debug = |scenario: &Scenario| format!("{:?}", scenario.config);
    assert_eq!(debug(&scenario), debug(&again), "{}", scenario.resolved());
    assert_eq!(scenario.resolved(), again.resolved());
    scenario
}

/// The lines of the resolved `[topology]` that say what is down.
fn failed(scenario: &Scenario) -> String {
    let resolved = scenario.resolved();
    let lines = resolved.lines();
    let mut failed = lines.filter_map(|line| line.strip_prefix("failed_links = "));
    failed.next().expect("failures are always written").to_string()
}

#[test]
fn every_kind_survives_being_written_out() {
    // Keys, a flow, and how many hosts, switches and links there are.
    let kinds = [
        ("kind = \"parking-lot\"\nlinks = 4", ["A0", "B0"], [10, 5, 14]),
        (
            "kind = \"leaf-spine\"\nleaves = 3\nspines = 2\nhosts_per_leaf = 4",
            ["H0", "H11"],
            [12, 5, 18],
        ),
        (
            "kind = \"leaf-spine\"\nleaves = 3\nspines = 2\nhosts_per_leaf = 4\nlinks_per_pair = 2",
            ["H0", "H11"],
            [12, 5, 24],
        ),
        (
            "kind = \"clos\"\npods = 2\ntors_per_pod = 2\nleaves_per_pod = 3\nspines = 4\nhosts_per_tor = 5",
            ["H0", "H19"],
            [20, 14, 20 + 12 + 24],
        ),
        (
            "kind = \"clos\"\npods = 8\ntors_per_pod = 4\nleaves_per_pod = 2\nspines = 8\n\
             hosts_per_tor = 16\nlinks_per_tor_leaf = 2\nlinks_per_leaf_spine = 1",
            ["H0", "H511"],
            [512, 56, 768],
        ),
        (
            "kind = \"rail-optimised\"\nblocks = 2\nservers_per_block = 3\nrails = 4\nspines = 2",
            ["N0r0", "N5r3"],
            [24, 10, 24 + 16],
        ),
        (
            "kind = \"rail-optimised\"\nblocks = 1\nservers_per_block = 3\nrails = 4\nspines = 0",
            ["N0r2", "N1r2"],
            [12, 4, 12],
        ),
        (
            "kind = \"dragonfly\"\ngroups = 9\nrouters_per_group = 4\nhosts_per_router = 2\n\
             global_links_per_router = 2",
            ["H0", "H71"],
            [72, 36, 72 + 54 + 36],
        ),
        (
            "kind = \"torus\"\ndimensions = [4, 4]\nhosts_per_switch = 1",
            ["H0", "H15"],
            [16, 16, 48],
        ),
        (
            "kind = \"torus\"\ndimensions = [2, 3, 4]\nhosts_per_switch = 2",
            ["H0", "H47"],
            [48, 24, 48 + 12 + 24 + 24],
        ),
        (
            "kind = \"torus\"\ndimensions = [4, 4, 1]\nhosts_per_switch = 1",
            ["H0", "H15"],
            [16, 16, 48],
        ),
        ("kind = \"mesh\"\ndimensions = [4, 4]\nhosts_per_switch = 1", ["H0", "H15"], [16, 16, 40]),
        (
            "kind = \"hyperx\"\ndimensions = [4, 3]\nhosts_per_switch = 2\nlinks_per_pair = 1",
            ["H0", "H23"],
            [24, 12, 24 + 18 + 12],
        ),
        (
            "kind = \"random-regular\"\nswitches = 20\ndegree = 4\nhosts_per_switch = 2",
            ["H0", "H39"],
            [40, 20, 80],
        ),
        (
            "kind = \"random-regular\"\nswitches = 20\ndegree = 4\nhosts_per_switch = 2\n\
             seed = 18446744073709551615",
            ["H0", "H39"],
            [40, 20, 80],
        ),
    ];
    for (keys, ends, expected) in kinds {
        let scenario = there_and_back(&file(keys, ends));
        let topology = &scenario.config.topology;
        let switches = topology.switches().len();
        let sizes = [topology.host_count(), switches, topology.links().len()];
        assert_eq!(sizes, expected, "{keys}");
        for line in keys.lines().filter(|line| !line.ends_with(", 1]")) {
            assert!(scenario.resolved().contains(line), "{line}: {}", scenario.resolved());
        }
        let outcome = pauseless_sim::run(&scenario.config);
        assert_eq!(outcome.lost_packets, 0, "{keys}");
    }
}

#[test]
fn a_random_fabric_follows_its_own_seed() {
    let keys =
        "kind = \"random-regular\"\nswitches = 20\ndegree = 4\nhosts_per_switch = 1\nseed = ";
    let with = |seed: &str| parse(&file(&format!("{keys}{seed}"), ["H0", "H19"])).config.topology;
    assert_eq!(with("1"), with("1"));
    assert_ne!(with("1"), with("2"));
    let other = Overrides { seed: Some(9), ..Overrides::default() };
    let text = file(&format!("{keys}1"), ["H0", "H19"]);
    let same = Scenario::parse("t", &text, &other).unwrap();
    assert_eq!(with("1"), same.config.topology);
}

const FAT_TREE: &str = "kind = \"fat-tree\"\nk = 4\n";

#[test]
fn a_failed_switch_is_all_its_links() {
    let text = file(&format!("{FAT_TREE}failed_switches = [\"C2\"]"), ["H0", "H8"]);
    let scenario = there_and_back(&text);
    assert_eq!(failed(&scenario), r#"[["A1", "C2"], ["A3", "C2"], ["A5", "C2"], ["A7", "C2"]]"#);
    let topology = &scenario.config.topology;
    let core = topology.node_named("C2").unwrap();
    assert!(topology.ports(core).is_empty());
    // Listing one of its links as well changes nothing.
    let both = text.replace("failed_sw", "failed_links = [[\"C2\", \"A3\"]]\nfailed_sw");
    assert_eq!(there_and_back(&both).resolved(), scenario.resolved());
}

#[test]
fn parallel_links_fail_one_by_one() {
    let clos =
        "kind = \"leaf-spine\"\nleaves = 2\nspines = 1\nhosts_per_leaf = 1\nlinks_per_pair = 3\n";
    let with = |list: &str| {
        let text = file(&format!("{clos}failed_links = {list}"), ["H0", "H1"]);
        failed(&there_and_back(&text)).to_string()
    };
    assert_eq!(with(r#"[["S0", "L0"]]"#), r#"[["L0", "S0"]]"#);
    assert_eq!(with(r#"[["L0", "S0"], ["S0", "L0"]]"#), r#"[["L0", "S0"], ["L0", "S0#2"]]"#);
    assert_eq!(with(r#"[["L0", "S0#3"]]"#), r#"[["L0", "S0#3"]]"#);
    assert_eq!(with(r#"[["S0", "L0#3"], ["L0", "S0"]]"#), r#"[["L0", "S0"], ["L0", "S0#3"]]"#);
    // With different links it matters which of them is left.
    let custom = "kind = \"custom\"\nfailed_links = [[\"B\", \"A#2\"]]\n\
        node = [{ name = \"A\", kind = \"switch\" }, { name = \"B\", kind = \"switch\" },\n\
        { name = \"h1\", kind = \"host\" }, { name = \"h2\", kind = \"host\" }]\n\
        link = [{ between = [\"A\", \"h1\"] }, { between = [\"B\", \"h2\"] },\n\
        { between = [\"A\", \"B\"] }, { between = [\"A\", \"B\"], rate = \"1 Gbps\" }]";
    let scenario = there_and_back(&file(custom, ["h1", "h2"]));
    assert_eq!(scenario.config.topology.links()[2].rate.as_bps(), 40_000_000_000);
}

#[test]
fn random_failures_become_a_list() {
    let with = |keys: &str| {
        let text = file(&format!("{FAT_TREE}random_failures = {{ {keys} }}"), ["H0", "H1"]);
        there_and_back(&text)
    };
    let count = |scenario: &Scenario| 48 - scenario.config.topology.links().len();
    assert_eq!(count(&with("count = 3")), 3);
    assert_eq!(count(&with("count = 0")), 0);
    assert_eq!(count(&with("share = \"0 %\"")), 0);
    assert_eq!(count(&with("share = \"100 %\"")), 32);
    let drawn = with("share = \"25 %\", seed = 7");
    assert_eq!(failed(&drawn), failed(&with("share = \"250000 ppm\", seed = 7, sample = 0")));
    assert_ne!(failed(&drawn), failed(&with("share = \"25 %\", seed = 8")));
    assert_ne!(failed(&drawn), failed(&with("share = \"25 %\", seed = 7, sample = 1")));
    assert_eq!(failed(&with("count = 3")), failed(&with("count = 3, seed = 1")));
    assert!(!drawn.resolved().contains("random_failures"));
    // What is listed fails as well.
    let all = "failed_links = [[\"A1\", \"C1\"]]\nrandom_failures = { count = 32 }";
    let text = file(&format!("{FAT_TREE}{all}"), ["H0", "H1"]);
    assert_eq!(count(&there_and_back(&text)), 32);
}

#[test]
fn wrong_sizes_point_at_their_key() {
    check(
        &file("", ["H0", "H1"]),
        expect![[r#"
        pauseless: t.toml:2:1: topology.kind: missing
          |
        2 | [topology]
          | ^^^^^^^^^^
          |
          = help: add kind = "ring", "line", "dumbbell", "n-to-1", "parking-lot", "fat-tree", "leaf-spine", "clos", "rail-optimised", "dragonfly", "torus", "mesh", "hyperx", "random-regular" or "custom"
    "#]],
    );
    check(
        &file(
            "kind = \"clos\"\npods = 1\ntors_per_pod = 1\nleaves_per_pod = 1\nspines = 0\nhosts_per_tor = 1",
            ["H0", "H1"],
        ),
        expect![[r#"
            pauseless: t.toml:7:10: topology.spines: spines of a Clos fabric: 0 is not in the range from 1 to 1024
              |
            7 | spines = 0
              |          ^
        "#]],
    );
    check(
        &file("kind = \"leaf-spine\"\nleaves = 2\nspine = 1", ["H0", "H1"]),
        expect![[r#"
            pauseless: t.toml:2:1: topology.spines: missing with kind = "leaf-spine"
              |
            2 | [topology]
              | ^^^^^^^^^^
              |
              = help: add spines = a whole number

            pauseless: t.toml:2:1: topology.hosts_per_leaf: missing with kind = "leaf-spine"
              |
            2 | [topology]
              | ^^^^^^^^^^
              |
              = help: add hosts_per_leaf = a whole number

            pauseless: t.toml:5:1: topology.spine: unknown key with kind = "leaf-spine"
              |
            5 | spine = 1
              | ^^^^^ expected one of delay, failed_links, failed_switches, host_delay, host_rate, hosts_per_leaf, kind, leaves, links_per_pair, random_failures, rate, spines
              |
              = help: did you mean spines?
        "#]],
    );
    check(
        &file("kind = \"torus\"\ndimensions = [4]\nhosts_per_switch = 1", ["H0", "H1"]),
        expect![[r#"
            pauseless: t.toml:4:14: topology.dimensions: 1 numbers stand here
              |
            4 | dimensions = [4]
              |              ^^^ expected two or three of them, as in [4, 4]
        "#]],
    );
    check(
        &file("kind = \"torus\"\ndimensions = [4, 0]\nhosts_per_switch = 1", ["H0", "H1"]),
        expect![[r#"
            pauseless: t.toml:4:14: topology.dimensions: dimensions of a torus: 0 is not in the range from 1 to 1024
              |
            4 | dimensions = [4, 0]
              |              ^^^^^^
        "#]],
    );
    check(
        &file("kind = \"mesh\"\ndimensions = [4, \"4\"]", ["H0", "H1"]),
        expect![[r#"
            pauseless: t.toml:2:1: topology.hosts_per_switch: missing with kind = "mesh"
              |
            2 | [topology]
              | ^^^^^^^^^^
              |
              = help: add hosts_per_switch = a whole number

            pauseless: t.toml:4:18: topology.dimensions[1]: a string stands here
              |
            4 | dimensions = [4, "4"]
              |                  ^^^ expected a whole number from 0 to 4294967295
        "#]],
    );
    check(
        &file("kind = \"mesh\"\nhosts_per_switch = 1", ["H0", "H1"]),
        expect![[r#"
            pauseless: t.toml:2:1: topology.dimensions: missing with kind = "mesh"
              |
            2 | [topology]
              | ^^^^^^^^^^
              |
              = help: add dimensions = [4, 4], or three numbers
        "#]],
    );
    check(
        &file(
            "kind = \"random-regular\"\nswitches = 5\ndegree = 3\nhosts_per_switch = 1",
            ["H0", "H1"],
        ),
        expect![[r#"
            pauseless: t.toml:5:10: topology.degree: 5 switches with 3 links each: the product is odd; make one of them even
              |
            5 | degree = 3
              |          ^
        "#]],
    );
    check(
        &file(
            "kind = \"random-regular\"\nswitches = 5\ndegree = 5\nhosts_per_switch = 1\nseed = -1",
            ["H0", "H1"],
        ),
        expect![[r#"
            pauseless: t.toml:7:8: topology.seed: -1 is out of range
              |
            7 | seed = -1
              |        ^^ expected a whole number from 0 on
        "#]],
    );
    check(
        &file(
            "kind = \"dragonfly\"\ngroups = 10\nrouters_per_group = 4\nhosts_per_router = 1\n\
             global_links_per_router = 2",
            ["H0", "H1"],
        ),
        expect![[r#"
            pauseless: t.toml:4:10: topology.groups: groups of a dragonfly: 10 is not in the range from 1 to 9
              |
            4 | groups = 10
              |          ^^
        "#]],
    );
    check(
        &file(
            "kind = \"rail-optimised\"\nblocks = 1000\nservers_per_block = 1\nrails = 10\nspines = 1000",
            ["N0r0", "N1r0"],
        ),
        expect![[r#"
            pauseless: t.toml:2:1: topology: too large: it would have 10010000 links, and 2097152 are the most
              |
            2 | [topology]
              | ^^^^^^^^^^
              |
              = help: make the fabric smaller
        "#]],
    );
}

#[test]
fn wrong_failures_are_explained() {
    let with = |keys: &str| file(&format!("{FAT_TREE}{keys}"), ["H0", "H8"]);
    check(
        &with("failed_switches = [\"C9\", \"H1\", \"E1\", \"C1\", \"C1\", 5]"),
        expect![[r#"
            pauseless: t.toml:5:20: topology.failed_switches[0]: there is no node "C9"
              |
            5 | failed_switches = ["C9", "H1", "E1", "C1", "C1", 5]
              |                    ^^^^
              |
              = help: did you mean C1?

            pauseless: t.toml:5:26: topology.failed_switches[1]: H1 is a host
              |
            5 | failed_switches = ["C9", "H1", "E1", "C1", "C1", 5]
              |                          ^^^^ expected a switch

            pauseless: t.toml:5:32: topology.failed_switches[2]: hosts H0, H1 would have no link left
              |
            5 | failed_switches = ["C9", "H1", "E1", "C1", "C1", 5]
              |                                ^^^^
              |
              = help: fail switches without hosts only

            pauseless: t.toml:5:44: topology.failed_switches[4]: the switch C1 is listed twice
              |
            5 | failed_switches = ["C9", "H1", "E1", "C1", "C1", 5]
              |                                            ^^^^

            pauseless: t.toml:5:50: topology.failed_switches[5]: an integer stands here
              |
            5 | failed_switches = ["C9", "H1", "E1", "C1", "C1", 5]
              |                                                  ^ expected a string
        "#]],
    );
    check(
        &with(
            "failed_links = [[\"A1\", \"C1#2\"], [\"A1\", \"C1#x\"], [\"A1\", \"C1\"], [\"A1\", \"C1#1\"]]",
        ),
        expect![[r#"
            pauseless: t.toml:5:17: topology.failed_links[0]: A1 has no link number 2 to C1, only 1
              |
            5 | failed_links = [["A1", "C1#2"], ["A1", "C1#x"], ["A1", "C1"], ["A1", "C1#1"]]
              |                 ^^^^^^^^^^^^^^

            pauseless: t.toml:5:40: topology.failed_links[1][1]: "x" is no number of a link
              |
            5 | failed_links = [["A1", "C1#2"], ["A1", "C1#x"], ["A1", "C1"], ["A1", "C1#1"]]
              |                                        ^^^^^^
              |
              = help: the second of parallel links to NODE is "NODE#2"

            pauseless: t.toml:5:63: topology.failed_links[3]: the link A1-C1#1 is listed twice
              |
            5 | iled_links = [["A1", "C1#2"], ["A1", "C1#x"], ["A1", "C1"], ["A1", "C1#1"]]
              |                                                             ^^^^^^^^^^^^^^
        "#]],
    );
    check(
        &with("random_failures = \"5 %\""),
        expect![[r#"
        pauseless: t.toml:5:19: topology.random_failures: a string stands here
          |
        5 | random_failures = "5 %"
          |                   ^^^^^ expected a table, such as [topology.random_failures]
    "#]],
    );
    check(
        &with("random_failures = {}"),
        expect![[r#"
        pauseless: t.toml:5:19: topology.random_failures.share: missing
          |
        5 | random_failures = {}
          |                   ^^
          |
          = help: add share = "5 %", or count = 3
    "#]],
    );
    check(
        &with("random_failures = { share = \"5 %\", count = 2 }"),
        expect![[r#"
            pauseless: t.toml:5:19: topology.random_failures: both share and count stand here
              |
            5 | random_failures = { share = "5 %", count = 2 }
              |                   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^
              |
              = help: write one of them
        "#]],
    );
    check(
        &with("random_failures = { share = \"101 %\", sed = 4 }"),
        expect![[r#"
            pauseless: t.toml:5:29: topology.random_failures.share: 101 % is out of range
              |
            5 | random_failures = { share = "101 %", sed = 4 }
              |                             ^^^^^^^ expected a share from 0 ppm to 100 %

            pauseless: t.toml:5:38: topology.random_failures.sed: unknown key
              |
            5 | random_failures = { share = "101 %", sed = 4 }
              |                                      ^^^ expected one of count, sample, seed, share
              |
              = help: did you mean seed?
        "#]],
    );
    check(
        &with("random_failures = { share = 0.05 }"),
        expect![[r#"
            pauseless: t.toml:5:29: topology.random_failures.share: a number without a unit
              |
            5 | random_failures = { share = 0.05 }
              |                             ^^^^ expected a share in ppm, %
              |
              = help: write a string with a unit, for example "5 %"
        "#]],
    );
    check(
        &with("random_failures = { count = 33 }"),
        expect![[r#"
        pauseless: t.toml:5:29: topology.random_failures.count: 33 links cannot fail: only 32 are between switches
          |
        5 | random_failures = { count = 33 }
          |                             ^^
    "#]],
    );
    check(
        &with("random_failures = { share = \"100 %\" }"),
        expect![[r#"
            pauseless: t.toml:13:1: flow[0]: there is no way from H0 to H8
               |
            13 | [[flow]]
               | ^^^^^^^^
               |
               = help: fewer topology.failed_links would leave one
        "#]],
    );
}
