//! Campaigns as their users meet them: killed, resumed, sharded, and given bad input.

mod place;

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use place::{Done, Place};

/// Runs of some tens of milliseconds, so that a kill always finds some in flight.
const RING: &str = "
title = 'A ring under two flow controls'
scenario = 'scenarios/gfc-ring.toml'
keep = ['deadlock_ms', 'pauses', 'rate.min', 'queue_max{port=S1:S2}', 'flows']

[[axis]]
name = 'scheme'
[axis.cases]
PFC = {}
GFC = { flow_control = { kind = 'gfc-buffer', b1 = '750 KB', bm = '1000 KB' } }

[[axis]]
key = 'flow.F1.rate'
values = ['2 Gbps', '10 Gbps']

[[axis]]
key = 'duration'
values = ['60 ms']

[[axis]]
key = 'seed'
seeds = 12
";

const RUNS: usize = 48;
const RESULTS: &str = "results.parquet";

fn place() -> Place {
    let place = Place::new();
    place.write("ring.sweep.toml", RING);
    place
}

/// The rows of all runs, and then those of all flows.
fn results(place: &Place, folder: &str) -> Vec<u8> {
    let read = |name: &str| {
        let file = place.path(folder).join(name);
        std::fs::read(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
    };
    [read(RESULTS), read("flows.parquet")].concat()
}

fn succeed(done: &Done) {
    assert_eq!(done.code, Some(0), "{}{}", done.stdout, done.stderr);
}

/// The results of a campaign that nobody disturbs.
fn undisturbed(place: &Place) -> Vec<u8> {
    succeed(&place.run(&["sweep", "ring.sweep.toml", "--out", "calm", "--quiet"]));
    results(place, "calm")
}

/// A fixed sequence of moments that looks random (an xorshift).
struct Moments(u64);

impl Moments {
    fn next(&mut self, below: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % below
    }
}

fn start(place: &Place, args: &[&str]) -> Child {
    let mut command = place.command(args);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().expect("the program starts")
}

fn finished(place: &Place, folder: &str) -> u64 {
    let status = ["sweep", "status", "ring.sweep.toml", "--out", folder, "--json"];
    let done = place.run(&status);
    succeed(&done);
    done.json()["done"].as_u64().expect("a count")
}

#[test]
fn killed_at_ten_moments_the_result_is_the_same_to_the_byte() {
    let place = place();
    let calm = undisturbed(&place);
    let args = ["sweep", "ring.sweep.toml", "--out", "killed", "--quiet"];
    let mut moments = Moments(0x9e37_79b9_7f4a_7c15);
    let mut kills = 0;
    let mut counts = Vec::new();
    // On a slow machine ten moments may all come before the first run is finished.
    let is_partial = |count: &u64| (1..RUNS as u64).contains(count);
    let begin = Instant::now();
    while kills < 10 || !counts.iter().any(is_partial) {
        assert!(begin.elapsed() < Duration::from_secs(300), "{counts:?}");
        let mut child = start(&place, &args);
        // On a busy machine it takes longer until a run is finished and its flows are on the disk.
        let longest = 180 + 10 * counts.len() as u64;
        std::thread::sleep(Duration::from_millis(20 + moments.next(longest)));
        if child.try_wait().expect("a child").is_some() {
            // It was done before it could be killed: begin again, faster machines exist.
            std::fs::remove_dir_all(place.path("killed")).expect("ours");
            continue;
        }
        child.kill().expect("a child");
        child.wait().expect("a child");
        kills += 1;
        counts.push(finished(&place, "killed"));
    }
    let done = place.run(&[&args[..4], &["--json"]].concat());
    succeed(&done);
    let document = done.json();
    assert_eq!(document["tasks"], RUNS, "{document}");
    assert_eq!(results(&place, "killed"), calm, "after {counts:?} runs");
}

#[test]
fn one_two_and_seven_shards_give_the_same_to_the_byte() {
    let place = place();
    let calm = undisturbed(&place);
    for parts in [1, 2, 7] {
        let folder = format!("shards{parts}");
        let children = Vec::from_iter((1..=parts).map(|part| {
            let shard = format!("{part}/{parts}");
            let args = ["sweep", "ring.sweep.toml", "--shard", &shard];
            let more = ["--threads", "1", "--out", &folder];
            start(&place, &[&args[..], &more].concat())
        }));
        for mut child in children {
            assert!(child.wait().expect("a child").success());
        }
        assert!(!place.path(&folder).join(RESULTS).exists(), "not merged");
        let merge = ["sweep", "merge", "ring.sweep.toml", "--out", &folder];
        succeed(&place.run(&merge));
        assert_eq!(results(&place, &folder), calm, "{parts} shards");
    }
}

/// Machines that share no folder: each leaves its own, and one puts them together.
#[test]
fn folders_of_two_machines_are_merged_and_missing_runs_are_told() {
    let place = place();
    let calm = undisturbed(&place);
    for (shard, folder) in [("1/2", "here"), ("2/2", "there")] {
        let args = ["sweep", "ring.sweep.toml", "--shard", shard, "--out", folder];
        succeed(&place.run(&args));
    }
    let merge = ["sweep", "merge", "ring.sweep.toml", "--out", "here"];
    let done = place.run(&merge);
    assert_eq!(done.code, Some(1), "{}", done.stderr);
    assert!(done.stderr.contains("24 of 48 runs are missing"), "{}", done.stderr);
    assert!(!place.path("here").join(RESULTS).exists());
    succeed(&place.run(&[&merge[..], &["--from", "there"]].concat()));
    assert_eq!(results(&place, "here"), calm);
}

#[test]
fn an_interrupted_campaign_says_how_to_go_on() {
    let place = place();
    // On one thread, or a machine with many cores is done before the signal comes.
    let args = ["sweep", "ring.sweep.toml", "--out", "broken-off"];
    let mut command = place.command(&[&args[..], &["--threads", "1"]].concat());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().expect("the program starts");
    let begin = Instant::now();
    while finished(&place, "broken-off") == 0 {
        assert!(begin.elapsed() < Duration::from_secs(60));
    }
    interrupt(&child);
    let done = Done::new(child.wait_with_output().expect("a child"));
    assert_eq!(done.code, Some(130), "{}", done.stderr);
    assert!(done.stderr.contains("the same command goes on"), "{}", done.stderr);
    let journals = std::fs::read_dir(place.path("broken-off/journal")).expect("a folder");
    assert_eq!(journals.count(), 0, "all rows are sealed");
    let done = place.run(&["sweep", "ring.sweep.toml", "--out", "broken-off", "--json"]);
    succeed(&done);
    assert!(done.json()["kept"].as_u64() > Some(0));
    assert_eq!(results(&place, "broken-off"), undisturbed(&place));
}

fn interrupt(child: &Child) {
    let mut kill = std::process::Command::new("kill");
    let kill = kill.args(["-INT", &child.id().to_string()]).status();
    assert!(kill.expect("kill").success());
}

/// All runs are made and only the merge is left: that is no success either.
#[test]
fn interrupted_before_the_merge_it_has_no_results_and_says_so() {
    let place = place();
    undisturbed(&place);
    std::fs::remove_file(place.path("calm").join(RESULTS)).expect("ours");
    // To list the journals takes a second and a half, as it would on a slow disk.
    let strace = ["-D", "-f", "-qq", "-o", "/dev/null", "-P", "calm/journal", "-e", "trace=openat"];
    let mut command = std::process::Command::new("strace");
    command.args(strace).args(["-e", "inject=openat:delay_enter=1500000"]);
    command.arg(env!("CARGO_BIN_EXE_pauseless")).current_dir(place.folder.path());
    command.args(["sweep", "ring.sweep.toml", "--out", "calm", "--json"]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let Ok(mut child) = command.spawn() else {
        eprintln!("skipped: strace is not installed");
        return;
    };
    std::thread::sleep(std::time::Duration::from_millis(700));
    interrupt(&child);
    let mut said = BufReader::new(child.stderr.take().expect("a pipe")).lines();
    let is_stopping = |line: std::io::Result<String>| line.expect("text").contains("stopping");
    assert!(said.any(is_stopping));
    let rest = Vec::from_iter(said.map(|line| line.expect("text"))).join("\n");
    let done = Done::new(child.wait_with_output().expect("a child"));
    assert_eq!(done.code, Some(130), "{}{rest}", done.stdout);
    assert_eq!(done.json()["interrupted"], true);
    assert!(rest.contains("the same command goes on"), "{rest}");
    assert!(!place.path("calm").join(RESULTS).exists());
}

/// Results of a campaign as it was before are not shown as those of what it is now.
#[test]
fn a_report_is_about_the_campaign_as_it_is_written_now() {
    let place = place();
    undisturbed(&place);
    let report = ["sweep", "report", "ring.sweep.toml", "--out", "calm"];
    let status = ["sweep", "status", "ring.sweep.toml", "--out", "calm"];
    let shown = place.run(&report);
    succeed(&shown);
    assert!(shown.stdout.contains("48 runs"), "{}", shown.stdout);
    assert!(place.run(&status).stdout.contains("merged: "));
    place.write("ring.sweep.toml", &RING.replace("'2 Gbps'", "'3 Gbps'"));
    assert!(!place.run(&status).stdout.contains("merged: "));
    let shown = place.run(&report);
    succeed(&shown);
    assert!(shown.stdout.contains("24 runs"), "{}", shown.stdout);
    assert!(!shown.stdout.contains("2 Gb/s"), "{}", shown.stdout);
    let partial = place.run(&status).stdout;
    assert!(partial.contains("24 of 48 runs\n"), "{partial}");
}

#[test]
fn a_task_can_be_run_by_itself() {
    let place = place();
    let show = place.run(&["sweep", "show", "ring.sweep.toml", "1"]);
    succeed(&show);
    place.write("one.toml", &show.stdout);
    let done = place.run(&["run", "one.toml", "--json"]);
    succeed(&done);
    assert_eq!(done.json()["seed"], 1);
    let wrong = place.run(&["sweep", "show", "ring.sweep.toml", "49"]);
    assert_eq!(wrong.code, Some(2));
    assert!(wrong.stderr.contains("1 to 48"), "{}", wrong.stderr);
}

#[test]
fn a_denied_finding_and_a_run_that_cannot_be_made_are_told_by_the_status() {
    let place = place();
    let args = ["sweep", "ring.sweep.toml", "--out", "calm", "--deny"];
    succeed(&place.run(&[&args[..], &["loss"]].concat()));
    let denied = place.run(&[&args[..], &["deadlock"]].concat());
    assert_eq!(denied.code, Some(1), "{}", denied.stderr);
    assert!(denied.stderr.contains("denied"), "{}", denied.stderr);
}

#[test]
fn bad_campaigns_are_refused_before_anything_runs() {
    let place = place();
    for (from, to, says) in [
        ("seeds = 12", "seeds = 0", "seeds"),
        ("seeds = 12", "seeds = 12\nvalues = [1]", "values"),
        ("'2 Gbps', '10 Gbps'", "", "values"),
        ("flow.F1.rate", "flow.F1.rat", "rate"),
        ("flow.F1.rate", "flow.F9.rate", "F9"),
        ("'2 Gbps'", "'2 Gbs'", "2 Gbs"),
        ("gfc-ring.toml", "gfc-rin.toml", "gfc-rin.toml"),
        ("'pauses'", "'pausen'", "pauses"),
        (
            "[axis.cases]",
            "[filter]\nconnected = false\n[axis.cases]",
            "the filter lets none of 1 network through",
        ),
    ] {
        assert!(RING.contains(from), "{from}");
        place.write("bad.sweep.toml", &RING.replace(from, to));
        let done = place.run(&["sweep", "bad.sweep.toml"]);
        assert_eq!(done.code, Some(2), "{to}: {}", done.stdout);
        assert!(done.stderr.contains("bad.sweep.toml"), "{to}: {}", done.stderr);
        assert!(done.stderr.contains(says), "{to}: {}", done.stderr);
        assert!(!done.stderr.contains("panicked"), "{to}: {}", done.stderr);
    }
}

/// A damaged file is named and left alone, and what is in the others is not made again.
#[test]
fn a_damaged_result_file_is_named_and_nothing_else_is_lost() {
    let place = place();
    let calm = undisturbed(&place);
    let part = {
        let mut parts = std::fs::read_dir(place.path("calm/parts")).expect("a folder");
        parts.next().expect("a part").expect("a part").path()
    };
    let sound = std::fs::read(&part).expect("a part");
    std::fs::write(&part, &sound[..sound.len() / 2]).expect("a part");
    let args = ["sweep", "ring.sweep.toml", "--out", "calm", "--json"];
    let done = place.run(&args);
    assert_eq!(done.code, Some(2), "{}", done.stdout);
    let name = part.file_name().expect("a name").to_string_lossy();
    assert!(done.stderr.contains(&*name), "{}", done.stderr);
    assert!(done.stderr.contains("move it away"), "{}", done.stderr);
    assert_eq!(std::fs::read(&part).expect("still there").len(), sound.len() / 2);
    std::fs::remove_file(&part).expect("ours");
    succeed(&place.run(&args));
    assert_eq!(results(&place, "calm"), calm);
}
