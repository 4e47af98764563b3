//! `check` and `convert` as their users meet them.

mod place;

use place::Place;
use serde_json::Value;

const RING: [&str; 2] =
    ["examples/ib/ring4-minhop/opensm-subnet.lst", "examples/ib/ring4-minhop/opensm.fdbs"];
const TREE: [&str; 2] =
    ["examples/ib/ft4-minhop/opensm-subnet.lst.gz", "examples/ib/ft4-minhop/opensm.fdbs.gz"];

fn check<'a>(args: &[&'a str]) -> Vec<&'a str> {
    [&["check"], args].concat()
}

#[test]
fn the_exit_status_is_the_verdict() {
    let place = Place::new();
    let torus = "examples/ib/t44-dfsssp-vl";
    let torus = ["opensm-subnet.lst", "opensm.fdbs", "psl", "slvl"]
        .map(|name| format!("{torus}/{name}.gz"));
    let torus = torus.each_ref().map(String::as_str);
    let cases = [
        (&RING[..], 1),
        (&TREE, 0),
        // In any order, and with the levels that make the difference.
        (&[RING[1], RING[0]], 1),
        (&torus, 0),
        (&["papers/gfc/fig14.toml"], 1),
        (&["examples/ethernet/clos02.clab.yml"], 0),
        (&["--generate", "fat-tree:8"], 0),
        (&["--generate", "ring:switches=4,hosts_per_switch=1,routing=ecmp"], 1),
    ];
    for (args, code) in cases {
        let done = place.run(&check(args));
        assert_eq!(done.code, Some(code), "{args:?}\n{}", done.stderr);
        let says = match code {
            0 => "no cyclic buffer dependency",
            _ => ": cyclic buffer dependency",
        };
        assert!(done.stdout.contains(says), "{}", done.stdout);
        assert_eq!(done.stderr, "");
    }
}

#[test]
fn without_service_levels_it_cannot_be_told() {
    let place = Place::new();
    let torus = ["opensm-subnet.lst.gz", "opensm.fdbs.gz"]
        .map(|name| format!("examples/ib/t44-dfsssp-vl/{name}"));
    let torus = torus.each_ref().map(String::as_str);
    let run = |more: &[&str]| place.run(&check(&[&torus[..], more].concat()));
    let plain = run(&[]);
    assert_eq!(plain.code, Some(1));
    assert!(plain.stdout.contains(": cannot tell without service levels;"), "{}", plain.stdout);
    assert!(plain.stdout.contains("saquery -p --slid LID"), "{}", plain.stdout);
    let document = run(&["--json"]).json();
    assert_eq!(document["verdict"], "undecided");
    assert_eq!(document["cyclic"], Value::Null);
    assert!(document["undecided"].as_str().unwrap().contains("minhop"));
    assert_eq!(run(&["--allow", "undecided"]).code, Some(0));
    assert_eq!(run(&["--deny", "cycle"]).code, Some(0));
    let one = run(&["--one-lane"]);
    assert_eq!(one.code, Some(1));
    assert!(one.stdout.contains(": cyclic buffer dependency;"), "{}", one.stdout);
    let levels = "examples/ib/t44-dfsssp-vl/psl.gz";
    let both = run(&[levels, "--one-lane"]);
    assert_eq!(both.code, Some(2));
    assert!(both.stderr.contains("the files say which service level"), "{}", both.stderr);
}

#[test]
fn json_names_the_cycle_and_the_flows() {
    let document = Place::new().run(&check(&[RING[0], RING[1], "--json"])).json();
    assert_eq!(document["schema"], 1);
    assert_eq!(document["cyclic"], true);
    assert_eq!(document["verdict"], "cyclic");
    assert_eq!((&document["hosts"], &document["switches"]), (&Value::from(4), &Value::from(4)));
    let component = &document["components"][0];
    let cycle = component["cycle"].as_array().unwrap();
    let switches = Vec::from_iter(cycle.iter().map(|hop| hop["switch"].as_str().unwrap()));
    assert_eq!(switches, ["S3", "S2", "S1", "S0"]);
    assert_eq!(cycle[0]["port"], "P3");
    assert_eq!(cycle[0]["guid"], "0x0000000000200003");
    assert_eq!(cycle[0]["targets"][0], "H2_0");
    assert_eq!(component["flows"].as_array().unwrap().len(), 4);
    let free = Place::new().run(&check(&[TREE[0], TREE[1], "--json"])).json();
    assert_eq!(free["cyclic"], false);
    assert_eq!(free["components"].as_array().unwrap().len(), 0);
}

#[test]
fn several_fabrics_are_a_list() {
    let args = ["--generate", "fat-tree:4", "--generate", "fat-tree:6", "--json"];
    let document = Place::new().run(&check(&args)).json();
    assert_eq!(document["schema"], 1);
    let checks = document["checks"].as_array().unwrap();
    assert_eq!(
        Vec::from_iter(checks.iter().map(|one| one["hosts"].as_u64())),
        [Some(16), Some(54)]
    );
}

#[test]
fn a_part_of_the_traffic_can_be_looked_at() {
    let place = Place::new();
    let cases: [(&[&str], i32); 5] = [
        (&["--leave-out", "H0_0"], 0),
        (&["--only", "H1*", "--only", "H2_0"], 0),
        (&["--only", "H*"], 1),
        (&["--flow", "H0_0:H2_0", "--flow", "H1_0:H3_0"], 0),
        (
            &[
                "--flow",
                "H0_0:H2_0",
                "--flow",
                "H1_0:H3_0",
                "--flow",
                "H2_0:H0_0",
                "--flow",
                "H3_0:H1_0",
            ],
            1,
        ),
    ];
    for (args, code) in cases {
        let done = place.run(&check(&[&RING, args].concat()));
        assert_eq!(done.code, Some(code), "{args:?}: {}", done.stderr);
    }
}

#[test]
fn the_verdict_says_what_it_rests_on() {
    let place = Place::new();
    let cases: [(&[&str], &str); 5] = [
        (&[RING[0], "--routing", "ecmp"], "routes: all shortest paths (ECMP)."),
        (&["--generate", "fat-tree:4"], "if it is routed by this rule"),
        (&[TREE[0], TREE[1]], "cannot deadlock on these routes\n"),
        (
            &[RING[0], RING[1], "--flow", "H0_0:H2_0", "--leave-out", "H3_0"],
            "(1 end node left out, 1 flow looked at)",
        ),
        (
            &["--generate", "fat-tree:4", "--only", "H0", "--only", "H1"],
            "no buffer waits for another",
        ),
    ];
    for (args, expected) in cases {
        let done = place.run(&check(args));
        assert!(done.stdout.contains(expected), "{args:?}:\n{}{}", done.stdout, done.stderr);
    }
}

#[test]
fn pairs_that_a_detour_loses_on_its_way_are_counted() {
    // Each of the six links is the only way of some pair in one direction: the leaf knows
    // another spine, but the spine at the failed link knows no other way down.
    let args = ["--generate", "leaf-spine:leaves=3,spines=2,hosts_per_leaf=1"];
    let detour = ["--failures", "1", "--reroute", "detour", "--json"];
    let done = Place::new().run(&check(&[&args[..], &detour].concat()));
    let failures = &done.json()["failures"];
    assert_eq!(failures["case_count"], 6 + 5);
    let disconnecting = failures["disconnecting_count"].as_u64().unwrap();
    assert!(disconnecting >= 6, "{disconnecting}");
}

#[test]
fn failures_are_swept_and_counted() {
    let place = Place::new();
    let args = ["--generate", "fat-tree:4", "--failures", "5%", "--samples", "400", "--json"];
    let shortest = [&args[..], &["--reroute", "shortest"]].concat();
    let done = place.run(&check(&shortest));
    assert_eq!(done.code, Some(1), "{}", done.stderr);
    let failures = &done.json()["failures"];
    assert_eq!((&failures["case_count"], &failures["tried_count"]), (&400.into(), &400.into()));
    let share = failures["cyclic_share"].as_f64().unwrap();
    assert!((0.03..0.15).contains(&share), "{share}");
    let worst = failures["worst"].as_array().unwrap();
    assert!(worst[0]["buffers"].as_u64() >= worst[1]["buffers"].as_u64());
    // The same again, byte for byte, on whatever number of cores.
    let one = place.command(&check(&shortest)).env("RAYON_NUM_THREADS", "1").output().unwrap();
    assert_eq!(String::from_utf8(one.stdout).unwrap(), done.stdout);
    // No rule that never goes up after down ever has a cycle.
    let done = place.run(&check(&[&args[..], &["--reroute", "up-down"]].concat()));
    assert_eq!(done.code, Some(0), "{}", done.stdout);
    assert_eq!(done.json()["failures"]["cyclic_count"], 0);
    let done =
        place.run(&check(&["--generate", "fat-tree:4", "--failures", "1", "--reroute", "detour"]));
    assert!(
        done.stdout.contains("of 52 failures") || done.stdout.contains("any of 52"),
        "{}",
        done.stdout
    );
}

#[test]
fn a_cycle_is_confirmed_and_can_be_run() {
    let place = Place::new();
    let args = [RING[0], RING[1], "--confirm", "--confirm-out", "cycle.toml", "--json"];
    let done = place.run(&check(&args));
    assert_eq!(done.code, Some(1), "{}", done.stderr);
    assert_eq!(done.json()["confirmations"].as_array().unwrap().len(), 1);
    let run = place.run(&["run", "cycle.toml", "--deny", "deadlock", "--quiet"]);
    assert_eq!(run.code, Some(1), "{}{}", run.stdout, run.stderr);
}

/// The earliest deadlock while switches learn of a failure is a file, and a finding of its own.
#[test]
fn a_failure_is_simulated_while_switches_learn_of_it() {
    let place = Place::new();
    let spec = "leaf-spine:leaves=4,spines=2,hosts_per_leaf=1,routing=ecmp,rate=40 Gbps";
    let failures = ["--generate", spec, "--failures", "1", "--confirm", "--transient"];
    let few = ["--orders", "2", "--transient-failures", "1", "--confirm-out", "loop.toml"];
    let done = place.run(&check(&[&failures[..], &few, &["--json"]].concat()));
    assert_eq!(done.code, Some(1), "{}", done.stderr);
    let found = done.json();
    assert_eq!(found["cyclic"], false, "the fabric is none of the reasons");
    let transient = &found["failures"]["transient"];
    assert_eq!(transient["safe_count"], 6);
    assert_eq!(transient["examined"][0]["orders"].as_array().unwrap().len(), 2);
    let run = place.run(&["run", "loop.toml", "--deny", "deadlock", "--quiet"]);
    assert_eq!(run.code, Some(1), "{}{}", run.stdout, run.stderr);
    // The detours of single failures are a cycle by themselves; what is asked here is the other finding.
    let allow = ["--allow", "cycle,transient", "--quiet"];
    let done = place.run(&check(&[&failures[..], &few, &allow].concat()));
    assert_eq!(done.code, Some(0), "{}{}", done.stdout, done.stderr);
    assert!(done.stdout.contains("deadlock while switches learn"), "{}", done.stdout);
}

#[test]
fn what_is_converted_has_the_same_verdict() {
    let place = Place::new();
    for (files, code) in [(RING, 1), (TREE, 0)] {
        let done = place.run(&["convert", files[0], files[1], "-o", "fabric.toml"]);
        assert_eq!(done.code, Some(0), "{}", done.stderr);
        let done = place.run(&["check", "fabric.toml"]);
        assert_eq!(done.code, Some(code), "{}", done.stderr);
    }
    let done = place.run(&["convert", "--generate", "fat-tree:4", "--to", "graphml"]);
    assert!(done.stdout.contains("<graphml"), "{}", done.stdout);
}

#[test]
fn bad_input_is_refused_with_its_place() {
    let place = Place::new();
    let list = std::fs::read_to_string(place.path(RING[0])).unwrap();
    let tables = std::fs::read_to_string(place.path(RING[1])).unwrap();
    place.write("cut.fdbs", &tables[..tables.len() - 200]);
    place.write("wrong.lst", &list.replacen("PN:02", "PN:zz", 1));
    place.write("noise", "\u{1}\u{2}\u{3} hello");
    place.write("empty", "");
    std::fs::write(place.path("latin.lst"), b"\xe9\xe8").unwrap();
    for (args, expected) in BAD {
        let done = place.run(&check(args));
        assert_eq!(done.code, Some(2), "{args:?}: {}", done.stdout);
        let has = done.stderr.lines().any(|line| line.starts_with(expected));
        assert!(has, "{args:?} should say {expected:?}:\n{}", done.stderr);
        assert!(!done.stderr.contains("panicked"), "{args:?}");
        assert_eq!(done.stdout, "", "{args:?}");
    }
}

/// Arguments, and how a line of the message begins.
const BAD: &[(&[&str], &str)] = &[
    (&[RING[0], "cut.fdbs"], "pauseless: cut.fdbs:"),
    (&["wrong.lst", RING[1]], "pauseless: wrong.lst:3:149: `zz` is not a port"),
    (&["noise"], "pauseless: noise: its format is not known here"),
    (&["empty"], "pauseless: empty: there is nothing in it"),
    (
        &[RING[0]],
        "pauseless: examples/ib/ring4-minhop/opensm-subnet.lst: no file has the forwarding",
    ),
    (
        &["papers/gfc/fig14.toml", "--flow", "H0:H1"],
        "pauseless: \"H0:H1\" is no flow that the files know of",
    ),
    (
        &["--generate", "fat-tree:4", "--failures", "2", "--samples", "0"],
        "pauseless: invalid value '0'",
    ),
    (&["latin.lst"], "pauseless: latin.lst:1:1: not UTF-8"),
    (&[RING[1]], "pauseless: examples/ib/ring4-minhop/opensm.fdbs: no file says how"),
    (&[RING[0], TREE[1]], "pauseless: examples/ib/ft4-minhop/opensm.fdbs.gz:"),
    (
        &[RING[0], "examples/ethernet/clos02.clab.yml"],
        "pauseless: examples/ethernet/clos02.clab.yml",
    ),
    (&["no-such-file"], "pauseless: no-such-file: cannot be read"),
    (&["--generate", "fat-tree:5"], "pauseless: --generate:1:"),
    (&["--generate", "blob:5"], "pauseless: --generate:1:"),
    (&["--generate", "fat-tree:4", "--failures", "2"], "pauseless: --failures other than 1"),
    (&["--generate", "fat-tree:4", "--failures", "0"], "pauseless: invalid value '0'"),
    (
        &["--generate", "fat-tree:4", "--failures", "1", "--confirm"],
        "pauseless: --confirm simulates the cycles of one fabric; leave out --failures, or add",
    ),
    (
        &[
            "--generate",
            "fat-tree:4",
            "--failures",
            "2",
            "--samples",
            "3",
            "--confirm",
            "--transient",
        ],
        "pauseless: --transient simulates every single failure: write --failures 1",
    ),
    (
        &[RING[0], RING[1], "--failures", "1", "--confirm", "--transient"],
        "pauseless: --transient: the files have routes or flows, and no rule that says what",
    ),
    (
        &[
            "--generate",
            "fat-tree:4",
            "--failures",
            "1",
            "--confirm",
            "--transient",
            "--orders",
            "1",
        ],
        "pauseless: invalid value '1'",
    ),
    (&["--generate", "fat-tree:4", "--failures", "99", "--samples", "1"], "pauseless: "),
    (&["--generate", "fat-tree:4", "--leave-out", "X"], "pauseless: no end node is called \"X\""),
    (&["--generate", "fat-tree:4", "--leave-out", "*"], "pauseless: nothing is left to check"),
    (&["--generate", "fat-tree:4", "--only", "H0"], "pauseless: nothing is left to check"),
    (
        &["--generate", "fat-tree:4", "--flow", "H0:H1", "--leave-out", "H1"],
        "pauseless: nothing is left to check",
    ),
    (&["--generate", "fat-tree:4", "--flow", "H1"], "pauseless: \"H1\" is no flow"),
    (&["--generate", "fat-tree:4", "--svg", "no/such/folder.svg"], "pauseless: cannot write"),
];

/// The tables of the ring, in which the third switch has no way to an end node of another one.
fn ring_with_a_hole(place: &Place) -> String {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/ib/ring4-minhop/opensm.fdbs");
    let tables = std::fs::read_to_string(file).expect("an example");
    let (head, tail) = tables.split_once("Switch 0x0000000000200002").expect("a third switch");
    let tail = tail.replacen("0x0005 : 002  : 02   : yes", "0x0005 : UNREACHABLE", 1);
    place.write("hole.fdbs", &format!("{head}Switch 0x0000000000200002{tail}"));
    place.path("hole.fdbs").display().to_string()
}

#[test]
fn pairs_without_a_route_are_a_finding_of_their_own() {
    let place = Place::new();
    let hole = ring_with_a_hole(&place);
    let run = |more: &[&str]| place.run(&[&check(&[RING[0], &hole]), more].concat());
    let done = run(&["--allow", "cycle"]);
    assert_eq!(done.code, Some(1), "{}", done.stderr);
    assert!(done.stdout.contains("unroutable"), "{}", done.stdout);
    assert!(done.stdout.contains("\n  from S"), "{}", done.stdout);
    assert_eq!(run(&["--allow", "cycle,unroutable"]).code, Some(0));
    let former = run(&["--deny", "unrouted"]);
    assert_eq!(former.code, Some(1));
    assert!(former.stderr.contains("is called `unroutable` now"), "{}", former.stderr);
    let document = run(&["--json"]).json();
    let from = &document["unroutable"][0];
    let listed = document["unroutable"].as_array().expect("a list");
    let pairs: u64 = listed.iter().filter_map(|from| from["pairs"].as_u64()).sum();
    assert_eq!(document["unrouted_pairs"], pairs);
    assert!(from["switch"].as_str().is_some_and(|name| name.starts_with('S')));
    let sarif = place.path("hole.sarif").display().to_string();
    run(&["--sarif", &sarif]);
    let log = place.text("hole.sarif");
    assert!(log.contains("\"ruleId\": \"unroutable\""), "{log}");
}

#[test]
fn a_proposal_is_written_for_opensm_or_refused() {
    let place = Place::new();
    let out = place.path("fix").display().to_string();
    let fix = |kind| place.run(&check(&[RING[0], RING[1], "--fix", kind, "--out", &out]));
    let done = fix("updn");
    assert_eq!(done.code, Some(1), "{}", done.stderr);
    assert!(done.stdout.contains("Files for opensm: --fix updn --out DIR"), "{}", done.stdout);
    assert!(done.stderr.contains("README.md says how to apply them"), "{}", done.stderr);
    let read = |name: &str| place.text(&format!("fix/{name}"));
    assert!(read("root_guid_file").contains("0x000000000020000"));
    assert_eq!(read("opensm.args"), "-R updn -a root_guid_file\n");
    let expected: Value = serde_json::from_str(&read("proposal.json")).expect("JSON");
    assert_eq!((&expected["helps"], &expected["lost_pairs"]), (&true.into(), &0.into()));
    let tree = place.run(&check(&[TREE[0], TREE[1], "--fix", "updn", "--out", &out]));
    assert_eq!(tree.code, Some(0));
    assert!(tree.stderr.contains("nothing to fix"), "{}", tree.stderr);
    let made = ["--generate", "ring:4,hosts_per_switch=1", "--fix", "updn", "--out", &out];
    assert_eq!(place.run(&check(&made)).code, Some(2));
}

/// Which ports packets may take, and when a switch chooses one, decides what can deadlock.
#[test]
fn what_deadlocks_depends_on_when_ports_are_chosen() {
    let place = Place::new();
    let torus = ["--generate", "torus:5x5,hosts_per_switch=1,routing=ecmp"];
    let cases: [(&[&str], i32, &str); 4] = [
        (&[], 1, "Union rule: "),
        (&["--choose", "at-head"], 1, "knot of buffers"),
        (&["--choose", "at-head", "--escape", "up-down"], 0, "with an escape class"),
        (&["--escape", "up-down"], 1, "it counts with --choose at-head only"),
    ];
    for (more, code, says) in cases {
        let done = place.run(&check(&[&torus[..], more].concat()));
        assert_eq!(done.code, Some(code), "{more:?}\n{}", done.stderr);
        assert!(done.stdout.contains(says), "{}", done.stdout);
    }
    // The simulator commits packets, so it would confirm something else.
    let done = place.run(&check(&[&torus[..], &["--choose", "at-head", "--confirm"]].concat()));
    assert_eq!(done.code, Some(2));
    assert!(done.stderr.contains("leave out --choose at-head"), "{}", done.stderr);
    // After failures, too.
    let tree = ["--generate", "leaf-spine:leaves=4,spines=4,hosts_per_leaf=1"];
    let cyclic = |more: &[&str]| {
        let failures = ["--failures", "35%", "--samples", "300", "--reroute", "ecmp", "--json"];
        let more = [&tree[..], &failures, more].concat();
        place.run(&check(&more)).json()["failures"]["cyclic_count"].as_u64().expect("a number")
    };
    let (union, knots) = (cyclic(&[]), cyclic(&["--choose", "at-head"]));
    assert!(union > 5 && knots < union, "{union} with a cycle, {knots} with a knot");
}
