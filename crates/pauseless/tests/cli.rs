//! The built program as its users meet it: what it prints, what it writes, how it exits.

mod place;

use std::io::Read;
use std::process::{Command, Stdio};

use place::{Done, Place};
use serde_json::Value;

const RING: &str = "scenarios/gfc-ring.toml";

#[test]
fn findings_fail_only_when_denied() {
    let place = Place::new();
    for (deny, code) in [
        (None, 0),
        (Some("loss"), 0),
        (Some("loss,starvation"), 0),
        (Some("deadlock"), 1),
        (Some("loss,deadlock"), 1),
    ] {
        let mut args = vec!["run", RING];
        args.extend(deny.iter().flat_map(|deny| ["--deny", deny]));
        let done = place.run(&args);
        assert_eq!(done.code, Some(code), "{deny:?}: {}", done.stderr);
        assert!(done.stdout.contains("deadlock at "), "{}", done.stdout);
        assert_eq!(done.stderr.contains("pauseless: denied: deadlock"), code == 1);
    }
}

#[test]
fn the_report_begins_with_the_verdict() {
    let done = Place::new().run(&["run", RING]);
    let verdict = done.stdout.find("closed by flows F1, F2, F3").expect("the witness");
    let table = done.stdout.find("\nflows\n").expect("the table of flows");
    assert!(verdict < table);
    for port in ["S1:S2", "S2:S3", "S3:S1"] {
        assert!(done.stdout[..table].contains(port), "{port}: {}", done.stdout);
    }
    assert_eq!(done.stderr, "");
}

#[test]
fn a_capture_has_all_ports_or_those_asked_for() {
    let place = Place::new();
    let run = ["run", RING, "--duration", "1 ms", "--pcap", "ring.pcapng"];
    let done = place.run(&run);
    assert!(done.stderr.contains("frames to ring.pcapng"), "{}", done.stderr);
    let all = std::fs::read(place.path("ring.pcapng")).expect("it was written");
    let has = |bytes: &[u8], name: &str| bytes.windows(5).any(|part| part == name.as_bytes());
    assert!(has(&all, "S1:H1") && has(&all, "H3:S3"));

    let some = [&run[..], &["--pcap-ports", "S1:H1,S2:*", "--quiet"]].concat();
    assert_eq!(place.run(&some).stderr, "");
    let some = std::fs::read(place.path("ring.pcapng")).expect("it was written");
    assert!(has(&some, "S1:H1") && has(&some, "S2:S3") && !has(&some, "H3:S3"));
    assert!(some.len() < all.len());

    let wrong = [&run[..], &["--pcap-ports", "S1:H2"]].concat();
    let done = place.run(&wrong);
    assert_eq!(done.code, Some(2));
    assert!(done.stderr.contains("its neighbours are H1, S2, S3"), "{}", done.stderr);
}

#[test]
fn json_has_deadlocks_one_by_one_and_on_demand_where_pauses_came_from() {
    let args = ["run", RING, "--json", "--duration", "10 ms"];
    let document = Place::new().run(&args).json();
    assert_eq!(document["deadlocks"], 1);
    let episode = &document["episodes"][0];
    assert_eq!(episode["found_ps"], document["deadlock"]["time_ps"]);
    assert_eq!(document["losses"]["drain"]["packets"], 0);
    assert!(document.get("provenance").is_none());
    let traced = Place::new().run(&[&args[..], &["--provenance"]].concat()).json();
    let provenance = &traced["provenance"];
    assert!(provenance["cycle_count"].as_u64() >= Some(1));
    assert!(provenance["records"][0]["cause"].get("egress").is_some());
    assert_eq!(traced["events"], document["events"], "it changes nothing");
}

#[test]
fn json_has_every_field_of_the_contract() {
    let document = Place::new().run(&["run", RING, "--json"]).json();
    assert_eq!(document["schema"], 1);
    for field in [
        "scenario",
        "title",
        "seed",
        "flow_control",
        "congestion_control",
        "discipline",
        "simulated_ps",
        "wall_s",
        "events",
        "packet_hops",
        "deadlock",
        "starvation",
        "loss",
        "lost_packets",
        "lost_bytes",
        "pause_frames",
        "pause_frames_by_class",
        "gfc_holds",
        "feedback_frames",
        "feedback_share_max",
        "held_bytes_at_end",
        "sources_stop_ps",
        "last_arrival_ps",
        "flows",
        "queues",
    ] {
        assert!(document.get(field).is_some(), "{field}");
    }
    assert!(document.get("interrupted").is_none());
    assert_eq!(document["flow_control"], "pfc");
    assert_eq!(document["congestion_control"], "none");
    assert_eq!(document["discipline"], "output-queued");
    assert_eq!(document["starvation"], Value::Null);
    let deadlock = &document["deadlock"];
    assert!(deadlock["time_ps"].as_u64().expect("an instant") < 10_000_000_000);
    assert_eq!(deadlock["flows"], serde_json::json!(["F1", "F2", "F3"]));
    let cycle = deadlock["cycle"].as_array().expect("a list");
    let mut ports: Vec<&str> = cycle.iter().filter_map(|at| at["port"].as_str()).collect();
    ports.sort();
    assert_eq!(ports, ["S1:S2", "S2:S3", "S3:S1"]);
    let flow = &document["flows"][0];
    for field in [
        "id",
        "name",
        "source",
        "target",
        "bytes",
        "delivered_bytes",
        "start_ps",
        "finish_ps",
        "goodput_bps",
        "goodput_late_bps",
    ] {
        assert!(flow.get(field).is_some(), "{field}");
    }
    let queue = &document["queues"][0];
    for field in ["switch", "port", "class", "max_bytes", "mean_bytes", "last_bytes"] {
        assert!(queue.get(field).is_some(), "{field}");
    }
}

#[test]
fn another_congestion_control_can_be_tried() {
    let place = Place::new();
    const FILE: &str = "papers/gfc/fig20.toml";
    for (scheme, is_answered) in
        [("none", false), ("pcn", true), ("qcn", true), ("dcqcn", true), ("timely", true)]
    {
        let args = ["run", FILE, "--congestion-control", scheme];
        let document = place.run(&[&args[..], &["--json"]].concat()).json();
        assert_eq!(document["congestion_control"], scheme);
        assert_eq!(document["lost_packets"], 0, "{scheme}");
        // The classes of the file, and one for what sources are told.
        let classes = document["pause_frames_by_class"].as_array();
        let classes = classes.expect("a list");
        assert_eq!(classes.len(), 1 + usize::from(is_answered), "{scheme}");
        let sum: Option<u64> = classes.iter().map(Value::as_u64).sum();
        assert_eq!(sum, document["pause_frames"].as_u64(), "{scheme}");
        let metrics = &document["metrics"];
        assert!(metrics["ports"].is_array() && metrics["layers"].is_array());
        let answers = &metrics["answers"];
        assert_eq!(answers.is_object(), is_answered, "{scheme}");
        if is_answered {
            assert!(answers["packets"].as_u64() > Some(0), "{scheme}");
        }
        let text = place.run(&args).stdout;
        let named = format!("gfc-buffer with {scheme}, ");
        assert_eq!(text.contains(&named), is_answered, "{text}");
    }
    let done = place.run(&["run", FILE, "--congestion-control", "tcp"]);
    assert_eq!(done.code, Some(2));
    let list = "expected none, pcn, qcn, dcqcn, timely";
    assert!(done.stderr.contains(list), "{}", done.stderr);
    let explained = place.run(&["explain", FILE, "--json"]).json();
    assert_eq!(explained["congestion_control"]["name"], "dcqcn");
    let rows = explained["congestion_control"]["rows"].as_array();
    let kmin = rows.expect("a list").iter();
    let kmin = kmin.filter(|row| row["symbol"] == "kmin" && row["value"] == "40 KB");
    assert_eq!(kmin.count(), 1);
    let explained = place.run(&["explain", RING, "--json"]).json();
    assert_eq!(explained.get("congestion_control"), None);
}

#[test]
fn the_same_scenario_gives_the_same_document() {
    let place = Place::new();
    let without_clock = |seed: &str| {
        let mut document = place.run(&["run", RING, "--seed", seed, "--json"]).json();
        document["wall_s"] = Value::Null;
        document.to_string()
    };
    assert_eq!(without_clock("3"), without_clock("3"));
    assert_ne!(without_clock("3"), without_clock("4"));
}

#[test]
fn bad_input_is_told_with_its_line() {
    let place = Place::new();
    let text = place.text(RING);
    place.write("bad.toml", &format!("{text}\ncolour = \"blue\"\n"));
    let line = text.lines().count() + 2;
    let done = place.run(&["run", "bad.toml"]);
    assert_eq!(done.code, Some(2));
    assert_eq!(done.stdout, "");
    let start = format!("pauseless: bad.toml:{line}:");
    assert!(done.stderr.starts_with(&start), "{}", done.stderr);
}

#[test]
fn bad_usage_exits_2_and_says_why() {
    let place = Place::new();
    place.write("not-text.toml", "");
    std::fs::write(place.path("not-text.toml"), [0xff, 0xfe]).expect("a file");
    for args in [
        &["run", "missing.toml"][..],
        &["run", "scenarios"],
        &["run", "not-text.toml"],
        &["run", RING, "--nonsense"],
        &["run", RING, "--seed", "-1"],
        &["run", RING, "--duration", "5"],
        &["run", RING, "--duration", "0 ms"],
        &["run", RING, "--discipline", "telepathic"],
        &["run", RING, "--congestion-control", "tcp"],
        &["run", RING, "--deny", "boredom"],
        &["run", RING, "--html", "no/such/folder/page.html", "--json"],
        &["run", RING, "--pcap", "no/such/folder/ring.pcapng", "--json"],
        &["run", RING, "--out", "not-text.toml"],
        &["explain"],
        &["explain", RING, "--paper"],
        &["frobnicate"],
        &["demo", "--out", "no/such/folder/page.html"],
    ] {
        let done = place.run(args);
        assert_eq!(done.code, Some(2), "{args:?}: {}", done.stderr);
        let last = done.stderr.lines().any(|line| line.starts_with("pauseless: "));
        assert!(last, "{args:?}: {}", done.stderr);
        assert!(!done.stderr.contains("panicked"), "{args:?}: {}", done.stderr);
    }
    let done = place.run(&[]);
    assert_eq!(done.code, Some(2));
    for first in [
        "pauseless demo",
        "pauseless check",
        "pauseless lint",
        "pauseless new leaf-spine",
        "--help",
    ] {
        assert!(done.stderr.contains(first), "{}", done.stderr);
    }
}

/// What a newcomer tries that is nearly right is answered with what would be.
#[test]
fn near_misses_are_told_what_was_meant() {
    let place = Place::new();
    place.write("tor0.json", "{\"PORT\": {}}");
    for (args, hint) in [
        (
            &["run", "tor0.json"][..],
            "`pauseless check` and `pauseless lint` read the files of switches",
        ),
        (&["run", RING, "--flow-control", "gfc-time"], "--set flow_control.kind=gfc-buffer"),
        (&["diagnose"], "`pauseless` alone says which command answers which question"),
        (&["run", RING, "--threads", "many"], "not a whole number"),
        (&["lint", "--explain", "201"], "did you mean PL201?"),
        (&["plan", "--mtu", "9216"], "an amount of bytes in B, KB, KiB"),
        (&["plan", "--rate", "400Gbps"], "n-to-1:63 for one switch of 64 ports"),
        (&["lint", "tor0.json", "--deny", "note"], "did you mean notes?"),
        (&["testbed", "--only", "gfc"], "All are pfc"),
    ] {
        let done = place.run(args);
        assert_eq!(done.code, Some(2), "{args:?}: {}", done.stderr);
        assert!(done.stderr.contains(hint), "{args:?}: {}", done.stderr);
    }
}

#[test]
fn a_scenario_to_start_from_is_never_written_over_another_file() {
    let place = Place::new();
    let done = place.run(&["new", "leaf-spine"]);
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    assert!(done.stderr.contains("next: pauseless run leaf-spine.toml"), "{}", done.stderr);
    let path = place.path("leaf-spine.toml");
    let written = std::fs::read_to_string(&path).expect("it was written");
    assert!(written.contains("\n# degree: "), "what an incast may say beside is there: {written}");
    let kinds = place.run(&["new"]).stdout;
    assert!(kinds.contains("\n  leaf-spine      two layers: "), "{kinds}");
    assert!(written.contains("# How many switches have hosts.\nleaves = 4\n"), "{written}");
    let path = path.to_str().expect("a name");
    assert!(place.run(&["run", path]).stdout.contains("no deadlock"));
    for wrong in [&["new", "leaf-spine"][..], &["new", "leafspine"], &["new", "--out", "a.toml"]] {
        let done = place.run(wrong);
        assert_eq!((done.code, done.stdout.as_str()), (Some(2), ""), "{wrong:?}");
    }
    assert!(place.run(&["new", "leafspine"]).stderr.contains("did you mean leaf-spine?"));
    assert_eq!(std::fs::read_to_string(path).expect("it is there"), written);
}

#[test]
fn an_animation_shows_the_cycle_close_and_needs_no_script() {
    let place = Place::new();
    let done = place.run(&["run", RING, "--animation", "ring.svg", "--quiet"]);
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    let picture = std::fs::read_to_string(place.path("ring.svg")).expect("it was written");
    assert!(picture.starts_with("<svg") && !picture.contains("<script"), "{picture}");
    assert!(picture.contains("the cycle has closed, deadlock"), "{picture}");
    // The three wires of the cycle.
    let stuck = picture.matches("stroke=\"#D55E00\" stroke-width=\"7\"").count();
    assert_eq!(stuck, 3, "{picture}");
    assert!(picture.len() < 100_000, "{}", picture.len());
    let large = ["run", "scenarios/fat-tree-k8-permutation.toml", "--duration", "10 us"];
    let done = place.run(&[&large[..], &["--animation", "tree.svg"]].concat());
    assert_eq!(done.code, Some(2));
    assert!(done.stderr.contains("shows up to 40"), "{}", done.stderr);
}

#[test]
fn every_example_works_as_printed() {
    let place = Place::new();
    for subcommand in [
        &[][..],
        &["check"],
        &["lint"],
        &["plan"],
        &["convert"],
        &["new"],
        &["run"],
        &["demo"],
        &["explain"],
        &["schema"],
        &["metrics"],
        &["sweep"],
        &["sweep", "merge"],
        &["sweep", "submit"],
        &["switch"],
        &["host"],
        &["testbed"],
    ] {
        let help = place.run(&[subcommand, &["--help"]].concat());
        assert_eq!(help.code, Some(0), "{subcommand:?}");
        assert_eq!(help.stderr, "");
        let (_, examples) = help.stdout.split_once("Examples:").expect("examples");
        let too_long = examples.lines().find(|line| line.len() > 80);
        assert_eq!(too_long, None, "a terminal would break it");
        let examples = examples.replace("\\\n", "");
        let examples = examples.lines().filter_map(|line| line.trim().strip_prefix("pauseless "));
        let mut count = 0;
        for example in examples {
            count += 1;
            let args = place.words(example);
            let args: Vec<&str> = args.iter().map(String::as_str).collect();
            let done = place.run(&args);
            // A check that finds something has done its work.
            let has_findings = ["check", "lint", "plan"].contains(&args[0]);
            let is_done = done.code == Some(0) || has_findings && done.code == Some(1);
            assert!(is_done, "{example}: {}", done.stderr);
            let says = !done.stdout.is_empty() || args.contains(&"-o") || args[0] == "new";
            assert!(says, "{example}");
        }
        assert!(count > 0, "{subcommand:?} has no example");
    }
    for file in [
        "results/result.json",
        "results/flows.csv",
        "pauseless-demo.html",
        "input-queued.html",
        "r.svg",
        "ring.svg",
        "small-torus.toml",
        "fig11.sarif",
        "dgx.toml",
        "pauseless-sweep/xoff-tiny/report/report.html",
        "shared/results.parquet",
    ] {
        assert!(place.path(file).exists(), "{file}");
    }
}

#[test]
fn results_can_be_run_again() {
    let place = Place::new();
    let args = ["--duration", "4 ms", "--json"];
    let first = place.run(&[&["run", RING, "--out", "out"][..], &args].concat());
    assert_eq!(first.stdout, place.text("out/result.json"));
    let series = place.text("out/series.csv");
    assert!(series.starts_with("time_ps,S1:H1 queue_bytes,"), "{series}");
    assert_eq!(series.lines().count(), 1 + 40);
    let width = series.lines().next().map(|line| line.split(',').count());
    assert!(series.lines().all(|line| Some(line.split(',').count()) == width));
    assert!(place.text("out/report.html").contains("<svg"));
    let again = place.run(&["run", "out/resolved.toml", "--json"]);
    let comparable = |done: &Done| {
        let mut document = done.json();
        document["wall_s"] = Value::Null;
        document["scenario"] = Value::Null;
        document
    };
    assert_eq!(comparable(&first), comparable(&again), "{}", again.stderr);
    // Curves of an earlier run do not stay beside the results of one without.
    place.run(&["run", "scenarios/all-reduce-ring.toml", "--out", "out"]);
    assert!(place.text("out/result.json").contains("all-reduce-ring"));
    assert!(!place.path("out/series.csv").exists());
}

#[test]
fn the_demo_shows_who_deadlocks_who_starves_and_who_flows() {
    let place = Place::new();
    let document = place.run(&["demo", "--json"]).json();
    assert_eq!(document["schema"], 1);
    let runs = document["runs"].as_array().expect("a list");
    let names: Vec<&str> = runs.iter().filter_map(|run| run["name"].as_str()).collect();
    let expected =
        ["pfc", "cbfc", "gfc-buffer", "gfc-time", "gfc-buffer-cycle-aware", "gfc-time-cycle-aware"];
    assert_eq!(names, expected);
    for (run, (deadlocks, starves)) in runs.iter().zip([
        (true, false),
        (true, false),
        (false, true),
        (false, true),
        (false, false),
        (false, false),
    ]) {
        let name = &run["name"];
        assert_eq!(run["discipline"], "output-queued", "{name}");
        assert_eq!(run["lost_packets"], 0, "{name}");
        assert_eq!(run["deadlock"].is_object(), deadlocks, "{name}");
        assert_eq!(run["starvation"].is_array(), starves, "{name}");
        // After the sources stop, only deadlocks keep what they hold.
        assert_eq!(run["held_bytes_at_end"] != 0, deadlocks, "{name}");
        let is_well = !deadlocks && !starves;
        for flow in run["flows"].as_array().expect("a list") {
            let rate = flow["goodput_late_bps"].as_f64().expect("a rate");
            assert_eq!((rate - 5e9).abs() < 0.02 * 5e9, is_well, "{name}: {rate}");
        }
    }
    assert!(!place.path("pauseless-demo.html").exists(), "--json writes what it is asked to");
}

/// What the demo says of other switches.
#[test]
fn in_other_switches_gfc_keeps_its_rate_and_only_input_queues_and_software_deadlock() {
    let place = Place::new();
    for (discipline, deadlocks) in
        [("input-queued", true), ("software", true), ("virtual-output-queued", false)]
    {
        let document = place.run(&["demo", "--json", "--discipline", discipline]).json();
        for run in document["runs"].as_array().expect("a list") {
            let is_stuck = deadlocks && (run["name"] == "pfc" || run["name"] == "cbfc");
            let name = format!("{discipline}, {}", run["name"]);
            assert_eq!(run["deadlock"].is_object(), is_stuck, "{name}");
            assert_eq!(run["lost_packets"], 0, "{name}");
            for flow in run["flows"].as_array().expect("a list") {
                let rate = flow["goodput_late_bps"].as_f64().expect("a rate");
                assert_eq!(rate >= 4.5e9, !is_stuck, "{name}: {rate}");
            }
        }
    }
}

#[test]
fn the_demo_writes_one_page_that_needs_nothing_else() {
    let place = Place::new();
    let done = place.run(&["demo", "--out", "ring.html"]);
    assert!(done.stdout.contains("ring.html"), "{}", done.stdout);
    let page = place.text("ring.html");
    assert!(page.len() < 1_500_000, "{}", page.len());
    // What a browser makes of the script is tested in one; its policy lets it ask nobody.
    assert!(page.contains("content=\"default-src 'none'; "));
    let (body, script) =
        page.split_at(page.find("<details>\n<summary>licences").unwrap_or(page.len()));
    assert!(!body.contains("<script") && !body.contains("<link") && !body.contains("src="));
    // No address anywhere: names of what is drawn, the policy, and licences are none.
    let code = script.split_once("</pre>").map_or("", |(_, rest)| rest);
    // Libraries begin the comments that have to stay with a mark of their own.
    let mut comments = code.split("/*!");
    let mut rest = body.to_string() + comments.next().unwrap_or("");
    for comment in comments {
        let (_, after) = comment.split_once("*/").expect("a comment ends");
        rest.push_str(after);
    }
    for known in NO_ADDRESSES {
        rest = rest.replace(known, "");
    }
    let found = rest.find("http").map(|at| &rest[at..]);
    let found = found.map(|text| text.chars().take(80).collect::<String>());
    assert_eq!(found, None);
    // The data and the program.
    assert_eq!(script.matches("<script").count(), 2);
    assert_eq!(page.matches("<section>").count(), 6);
    assert!(page.contains("the cycle S1:S2, S2:S3, S3:S1"));
}

/// What looks like an address in a page and is none.
const NO_ADDRESSES: [&str; 2] =
    ["xmlns=\"http://www.w3.org/2000/svg\"", "<meta http-equiv=\"Content-Security-Policy\""];

#[test]
fn colours_are_for_terminals_or_on_demand() {
    let place = Place::new();
    assert!(!place.run(&["run", RING]).stdout.contains('\x1b'));
    assert!(place.run(&["run", RING, "--color", "always"]).stdout.contains('\x1b'));
    let quiet = place.run(&["run", RING, "--quiet"]);
    assert!(quiet.stdout.starts_with("deadlock at "), "{}", quiet.stdout);
    assert_eq!(quiet.stderr, "");
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let place = Place::new();
    let mut command = place.command(&["run", RING, "--json"]);
    let mut child =
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts");
    drop(child.stdout.take());
    let mut complaint = String::new();
    let mut stderr = child.stderr.take().expect("a pipe");
    stderr.read_to_string(&mut complaint).expect("text");
    assert_eq!(child.wait().expect("an end").code(), Some(0), "{complaint}");
    assert_eq!(complaint, "");
}

/// Whether the process catches SIGINT, as Linux tells.
fn catches_interrupts(process: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    let mask = caught.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask & 0b10 != 0)
}

#[test]
fn an_interrupted_run_tells_what_it_has_found() {
    let place = Place::new();
    let text = place.text("scenarios/gfc-ring-time.toml");
    // Without recordings, which would be too many for a run that does not end.
    let (text, _) = text.split_once("[probe]").expect("probes");
    place.write("long.toml", text);
    let args = ["run", "long.toml", "--duration", "400 s", "--json"];
    let mut command = place.command(&args);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = child.expect("the program starts");
    let process = child.id();
    while !catches_interrupts(process) {
        assert!(child.try_wait().expect("a status").is_none(), "it ended too early");
        std::thread::yield_now();
    }
    let kill = Command::new("kill").args(["-INT", &process.to_string()]).status();
    assert!(kill.expect("kill").success());
    let done = Done::new(child.wait_with_output().expect("an end"));
    assert_eq!(done.code, Some(130), "{}", done.stderr);
    let document = done.json();
    assert_eq!(document["interrupted"], true);
    assert!(document["simulated_ps"].as_u64().expect("a time") < 400_000_000_000_000);
}
