//! Runs of the HPCC authors' simulator beside ours, on the same files.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use pauseless_compat::hpcc::{self, Compat};
use pauseless_run::Run;
use pauseless_scenario::Overrides;
use pauseless_text::source::Source;

/// What a run has written, and the run.
struct Done {
    run: Run,
    fct: String,
    pfc: String,
}

fn folder(case: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let own = root.join("tests/hpcc").join(case);
    if own.is_dir() { own } else { root.join("../../examples/hpcc").join(case) }
}

fn expected(case: &str, file: &str) -> String {
    std::fs::read_to_string(folder(case).join("expected").join(file)).unwrap()
}

fn run(case: &str, compat: Compat) -> Done {
    let config = folder(case).join("config.txt");
    let mut imported = hpcc::read(&config, compat).unwrap_or_else(|error| panic!("{error}"));
    let place = tempfile::tempdir().unwrap();
    imported.outputs.fct = place.path().join("fct.txt");
    imported.outputs.pfc = place.path().join("pfc.txt");
    if let Some(monitor) = &mut imported.outputs.qlen {
        monitor.file = place.path().join("qlen.txt");
    }
    let scenario = imported.scenario.build(case, &Overrides::default());
    let scenario = scenario.unwrap_or_else(|error| panic!("{error}"));
    let watch = |_| ControlFlow::Continue(());
    let (run, _) = hpcc::execute(scenario, &imported, 1, watch).unwrap();
    let read = |path: &Path| std::fs::read_to_string(path).unwrap();
    Done { fct: read(&imported.outputs.fct), pfc: read(&imported.outputs.pfc), run }
}

/// Completion times in nanoseconds by who sends to whom.
fn times(fct: &str) -> BTreeMap<String, f64> {
    let rows = fct.lines().map(|line| {
        let words = Vec::from_iter(line.split(' '));
        (words[..4].join(" "), words[6].parse().unwrap())
    });
    rows.collect()
}

/// Prints both; the difference between the means of their completion times, in percent.
fn compare(case: &str, done: &Done) -> f64 {
    let (theirs, ours) = (times(&expected(case, "fct.txt")), times(&done.fct));
    assert!(theirs.keys().eq(ours.keys()), "{case}: the same flows finish");
    let percent = |ours: f64, theirs: f64| 100.0 * (ours / theirs - 1.0);
    let mut worst: f64 = 0.0;
    for (flow, theirs) in &theirs {
        let apart = percent(ours[flow], *theirs);
        worst = worst.max(apart.abs());
        println!("  {flow}  {theirs:>10}  {:>10}  {apart:+.3} %", ours[flow]);
    }
    let mean = percent(ours.values().sum(), theirs.values().sum());
    let counts = [&done.pfc, &expected(case, "pfc.txt")].map(|text| text.lines().count());
    println!("{case}: at most {worst:.3} % apart, the mean {mean:+.3} %; PFC frames {counts:?}");
    mean
}

/// The files are that simulator's own, byte for byte.
fn assert_identical(case: &str, done: &Done) {
    let is_same = |ours: &str, file: &str| ours == expected(case, file);
    assert!(is_same(&done.fct, "fct.txt"), "{case}: completion times");
    assert!(is_same(&done.pfc, "pfc.txt"), "{case}: PFC frames");
}

#[test]
fn an_incast_under_pfc_alone_is_as_there() {
    let done = run("incast_pfc", Compat::Hpcc);
    compare("incast_pfc", &done);
    assert_identical("incast_pfc", &done);
    let both = done.run.replica.as_ref().expect("a replica");
    assert_eq!((both.finished, both.pause_frames), (16, 17_168));
    let times = times(&done.fct);
    let mean = times.values().sum::<f64>() / times.len() as f64;
    assert_eq!(both.fct_mean_ps.map(|ps| (ps / 1e3).round()), Some(mean.round()));
    assert_eq!((both.lost_packets, both.lost_packets_here), (0, 0));
}

/// What the replica finds changes nothing of what our engine finds.
#[test]
fn our_engine_runs_the_same_with_and_without_a_replica() {
    let (alone, beside) = (run("incast", Compat::None), run("incast", Compat::Hpcc));
    assert!(alone.run.replica.is_none());
    let both = beside.run.replica.as_ref().expect("a replica");
    let finishes = |run: &Run| Vec::from_iter(run.outcome.flows.iter().map(|flow| flow.finish));
    assert_eq!(finishes(&beside.run), finishes(&alone.run));
    assert_eq!(beside.run.outcome.pause_frames, alone.run.outcome.pause_frames);
    assert_eq!(both.pause_frames_here, alone.run.outcome.pause_frames);
    assert_eq!((both.finished, both.finished_here), (16, 16));
    assert!(both.mean.abs() < 0.05 && both.largest < 0.5, "{both:?}");
    let lasts = finishes(&alone.run).into_iter().flatten().max();
    assert_eq!(both.last_finish_ps_here, lasts.map(|last| last.as_ps()));
}

/// conweave's simulator has no replica, and that is said.
#[test]
fn conweaves_files_run_with_the_rules_of_real_switches() {
    let folder = folder("ring5_pfc");
    let text = std::fs::read_to_string(folder.join("config.txt")).unwrap();
    let flows = "1\n0 2 3 1000 2.0\n";
    let place = tempfile::tempdir().unwrap();
    std::fs::copy(folder.join("topology.txt"), place.path().join("topology.txt")).unwrap();
    std::fs::write(place.path().join("flow.txt"), flows).unwrap();
    let source = Source { file: "config.txt".to_string(), text: format!("{text}\nLB_MODE 0\n") };
    let [alone, compat] = [Compat::None, Compat::Hpcc].map(|compat| {
        let case = hpcc::read_source(&source, place.path(), compat);
        case.unwrap_or_else(|error| panic!("{error}"))
    });
    let is_said = |note: &String| note.starts_with("there is no replica of conweave's simulator");
    assert!(!alone.notes.iter().any(is_said));
    assert!(compat.notes.iter().any(is_said), "{:?}", compat.notes);
    assert!(compat.replica.is_none());
    assert_eq!(compat.scenario.text(), alone.scenario.text());
}

/// Those rules of conweave's switches that we have are run, with a note, and the others refused.
#[test]
fn conweaves_load_balancing_runs_with_our_own_rules() {
    let text = std::fs::read_to_string(folder("ring5_pfc").join("config.txt")).unwrap();
    let place = tempfile::tempdir().unwrap();
    std::fs::copy(folder("ring5_pfc").join("topology.txt"), place.path().join("topology.txt"))
        .unwrap();
    std::fs::write(place.path().join("flow.txt"), "1\n0 2 3 1000 2.0\n").unwrap();
    let read = |mode: u32| {
        let source =
            Source { file: "config.txt".to_string(), text: format!("{text}\nLB_MODE {mode}\n") };
        hpcc::read_source(&source, place.path(), Compat::None)
    };
    for (mode, kind, note) in [
        (2, "kind = \"drill\"", "our own DRILL(2, 1)"),
        (3, "choice = \"least-loaded\"", "without CONGA's feedback"),
        (6, "kind = \"flowlet\"", "our own LetFlow"),
    ] {
        let case = read(mode).unwrap_or_else(|error| panic!("{error}"));
        assert!(case.scenario.text().contains(kind), "{}", case.scenario.text());
        assert!(case.notes.iter().any(|it| it.contains(note)), "{:?}", case.notes);
        let scenario = case.scenario.build("balanced", &Overrides::default());
        assert!(!scenario.unwrap_or_else(|error| panic!("{error}")).config.is_by_flow_hash());
    }
    let problems = read(9).map(|_| ()).unwrap_err().to_string();
    assert!(problems.contains("ConWeave is not supported"), "{problems}");
}

/// Everything after a number of the first line that does not fit would be wrong: that is one problem.
#[test]
fn a_wrong_number_in_the_first_line_is_one_problem() {
    let folder = folder("incast");
    let place = tempfile::tempdir().unwrap();
    for name in ["config.txt", "flow.txt", "trace.txt"] {
        std::fs::copy(folder.join(name), place.path().join(name)).unwrap();
    }
    let topology = std::fs::read_to_string(folder.join("topology.txt")).unwrap();
    assert!(topology.starts_with("19 2 18\n"));
    for (header, expected) in [
        ("19 1 18", "link 1 begins inside of a line"),
        ("19 3 18", "link 1 begins inside of a line"),
        ("19 2 17", "there is no way from 0 to 16, nor for 7 other flows"),
        ("19 2 19", "link 19 of 19"),
    ] {
        let text = topology.replacen("19 2 18", header, 1);
        std::fs::write(place.path().join("topology.txt"), text).unwrap();
        let read = hpcc::read(&place.path().join("config.txt"), Compat::None);
        let wrong = read.expect_err(header).to_string();
        assert_eq!(wrong.matches("pauseless: ").count(), 1, "{header}: {wrong}");
        assert!(wrong.contains(expected), "{header}: {wrong}");
    }
}

/// Marks are random here, and what is simultaneous decides who draws which number.
#[test]
fn an_incast_under_dcqcn_is_as_there() {
    let done = run("incast", Compat::Hpcc);
    compare("incast", &done);
    assert_identical("incast", &done);
}

#[test]
fn a_ring_deadlocks_as_there_and_is_named() {
    let done = run("ring5_pfc", Compat::Hpcc);
    assert_identical("ring5_pfc", &done);
    assert_eq!(done.fct, "");
    let deadlock = done.run.outcome.deadlock.as_ref().unwrap();
    assert_eq!(deadlock.time.as_ps(), 2_000_092_092_800);
    let nodes = deadlock.cycle.iter().map(|queue| done.run.node_name(queue.node));
    assert_eq!(Vec::from_iter(nodes), ["9", "5", "6", "7", "8"]);
}

/// Against a model of that simulator, see `tests/hpcc/README.md`.
#[test]
fn paths_schemes_groups_and_drops_are_as_in_a_model_of_it() {
    for case in ["u_ecmp", "ft4_hpcc", "ls_timely", "ls_multipg", "ls_drops_gbn"] {
        assert_identical(case, &run(case, Compat::Hpcc));
    }
}

/// Two leaves and two spines, with six flows from one leaf to the other; `LINK_DOWN` has these values.
fn read_failing(values: &str, compat: Compat) -> Result<hpcc::Case, String> {
    let config = std::fs::read_to_string(folder("incast_pfc").join("config.txt")).unwrap();
    let text = config.replace("LINK_DOWN 0 0 0", &format!("LINK_DOWN {values}"));
    let place = tempfile::tempdir().unwrap();
    let hosts = (0..6).map(|host| format!("{host} {} 40Gbps 1us 0\n", 6 + host / 3));
    let trunks = [(6, 8), (6, 9), (7, 8), (7, 9)].map(|(a, b)| format!("{a} {b} 40Gbps 1us 0\n"));
    let topology = format!("10 4 10\n6 7 8 9\n{}{}", String::from_iter(hosts), trunks.concat());
    std::fs::write(place.path().join("topology.txt"), topology).unwrap();
    let flows =
        (0..6).map(|flow| format!("{} {} 3 {} 2000000 2.0\n", flow % 3, 3 + flow / 2, 100 + flow));
    std::fs::write(place.path().join("flow.txt"), format!("6\n{}", String::from_iter(flows)))
        .unwrap();
    let source = Source { file: "config.txt".to_string(), text };
    let case = hpcc::read_source(&source, place.path(), compat);
    case.map_err(|problems| problems.to_string())
}

/// A link that fails is an event of our own engine: all switches have their new tables at once, so that no
/// packet runs in a circle, and every flow is done in spite of what was lost.
#[test]
fn a_link_that_fails_during_the_run_fails_by_our_own_rules() {
    let case =
        read_failing("100 9 6", Compat::None).unwrap_or_else(|problems| panic!("{problems}"));
    assert!(case.notes.iter().any(|note| note.contains("the link 9-6 fails at 2.0001 s")));
    let text = case.scenario.text();
    assert!(text.contains("kind = \"link-down\"") && text.contains("[converge]"), "{text}");
    let scenario = case.scenario.build("failing", &Overrides::default()).unwrap();
    let run = Run::execute(scenario, |_| ControlFlow::Continue(()));
    assert!(run.outcome.losses.event.packets > 0, "{:?}", run.outcome.losses);
    assert_eq!((run.outcome.losses.no_route.packets, run.outcome.lost_packets), (0, 0));
    assert!(run.outcome.flows.iter().all(|flow| flow.finish.is_some()), "{:?}", run.outcome.flows);
    // With a time of 0 nothing fails, whatever stands behind it.
    let whole = read_failing("0 9 6", Compat::Hpcc).unwrap_or_else(|problems| panic!("{problems}"));
    assert!(!whole.scenario.text().contains("link-down") && whole.replica.is_some());
}

#[test]
fn a_link_that_cannot_fail_is_told_at_its_key() {
    for (values, compat, expected) in [
        ("100 6 7", Compat::None, "LINK_DOWN: no link joins 6 and 7"),
        ("100 6 77", Compat::None, "LINK_DOWN: no link joins 6 and 77"),
        ("-1 6 8", Compat::None, "\"-1\" is out of place"),
        ("100 6 8", Compat::Hpcc, "LINK_DOWN: the replica has no links that fail"),
    ] {
        let problems = read_failing(values, compat).expect_err(values);
        assert!(problems.contains(expected), "{values}: {problems}");
        assert!(problems.contains("config.txt:48:1"), "{values}: {problems}");
    }
}

#[test]
fn too_little_memory_is_told_at_its_key() {
    let folder = folder("ring5_pfc");
    let text = std::fs::read_to_string(folder.join("config.txt")).unwrap();
    let topology = std::fs::read_to_string(folder.join("topology.txt")).unwrap();
    let place = tempfile::tempdir().unwrap();
    // What is under way grows with the delay.
    let far = topology.replace(" 1000ns", " 100000ns");
    assert_ne!(far, topology);
    std::fs::write(place.path().join("topology.txt"), far).unwrap();
    std::fs::copy(folder.join("flow.txt"), place.path().join("flow.txt")).unwrap();
    let source = Source { file: "config.txt".to_string(), text };
    let refused = hpcc::read_source(&source, place.path(), Compat::None).unwrap_err();
    let message = refused.to_string();
    assert!(message.contains(": BUFFER_SIZE: 1048576 B are too few for switch "), "{message}");
    assert!(message.contains("help: BUFFER_SIZE 5 or more; that simulator"), "{message}");
}

/// What only the whole scenario shows is told where it was written, too.
#[test]
fn problems_of_the_scenario_point_into_the_users_files() {
    let folder = folder("ring5_pfc");
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    let [config, topology, flows] = ["config.txt", "topology.txt", "flow.txt"].map(read);
    let refused = |config: &str, topology: &str, flows: &str| {
        let place = tempfile::tempdir().unwrap();
        std::fs::write(place.path().join("topology.txt"), topology).unwrap();
        std::fs::write(place.path().join("flow.txt"), flows).unwrap();
        let source = Source { file: "config.txt".to_string(), text: config.to_string() };
        let case = hpcc::read_source(&source, place.path(), Compat::None);
        let built = case.and_then(|case| case.scenario.build("made", &Overrides::default()));
        let message = built.expect_err("something is wrong").to_string();
        let first = message.lines().next().expect("a line");
        first.replace(&format!("{}/", place.path().display()), "")
    };
    let slow = topology.replacen("40Gbps", "1bps", 1);
    assert_ne!(slow, topology);
    assert_eq!(
        refused(&config, &slow, &flows),
        "pauseless: topology.txt:3:1: 1 bps is out of range"
    );
    // Where a key stands twice, the last one counts.
    let many = format!("{config}\nCC_MODE 1\nRATE_HAI 1Mb/s\nFAST_RECOVERY_TIMES 100000\n");
    let line = many.lines().count();
    assert_eq!(
        refused(&many, &topology, &flows),
        format!("pauseless: config.txt:{line}:1: FAST_RECOVERY_TIMES: 100000 is out of range")
    );
    let parted = "4 2 2\n2 3\n0 2 40Gbps 1us 0\n1 3 40Gbps 1us 0\n";
    assert_eq!(
        refused(&config, parted, "1\n0 1 3 100 1000 2.0\n"),
        "pauseless: flow.txt:2:1: there is no way from 0 to 1"
    );
    assert_eq!(
        refused(&config, &topology, "0\n"),
        "pauseless: flow.txt:1:1: there are no flows: nothing would happen"
    );
}

/// Without that simulator's ways the same files run as well.
#[test]
fn the_same_files_run_on_real_switches_and_wires() {
    let done = run("incast", Compat::None);
    assert_eq!(done.fct.lines().count(), 16);
    assert!(compare("incast", &done).abs() < 5.0);
}
