//! Disks that are full and processes that are killed, at every operation on files: what was there
//! stays or is replaced by what is new, whole, and nothing in between is ever seen.
//!
//! Kills, and a disk that is full at one write and not at the next, need `strace`, which CI installs.

mod place;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use place::Place;

/// A command that writes files into the folder `out`.
struct Writer {
    args: &'static [&'static str],
    /// Set to another value for the files that are there before.
    before: &'static [&'static str],
}

const RING: &str = "examples/ib/ring4-minhop/opensm-subnet.lst";
const TABLES: &str = "examples/ib/ring4-minhop/opensm.fdbs";

const WRITERS: [Writer; 5] = [
    Writer {
        args: &["convert", RING, TABLES, "-o", "out/ring.toml"],
        before: &["convert", "--to", "graphml", RING, TABLES, "-o", "out/ring.toml"],
    },
    Writer {
        args: &["check", RING, TABLES, "--svg", "out/ring.svg", "--sarif", "out/ring.sarif"],
        before: &["check", RING, TABLES, "--leave-out", "H0_0", "--svg", "out/ring.svg"],
    },
    Writer {
        args: &[
            "run",
            SCENARIO,
            "--duration",
            "20 us",
            "--out",
            "out",
            "--parquet",
            "out",
            "--html",
            "out/page.html",
            "--pcap",
            "out/ring.pcapng",
        ],
        before: &["run", SCENARIO, "--duration", "10 us", "--out", "out"],
    },
    Writer {
        args: &["plan", SCENARIO, "--out", "out"],
        before: &["plan", "scenarios/gfc-ring-buffer.toml", "--out", "out"],
    },
    Writer {
        args: &["run", "hpcc/config.txt", "--duration", "2001 ms", "--force"],
        before: &["run", "hpcc/config.txt", "--duration", "2002 ms", "--force"],
    },
];

const SCENARIO: &str = "scenarios/gfc-ring.toml";

/// The files in the folder of outputs, without those that are unfinished.
type Files = BTreeMap<String, Vec<u8>>;

impl Writer {
    /// The files before and after, in a new place that has those before.
    fn prepare(&self) -> (Place, Files, Files) {
        let place = Place::new();
        fs::create_dir(place.path("out")).expect("a folder");
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/hpcc/incast");
        fs::create_dir(place.path("hpcc")).expect("a folder");
        for name in ["config.txt", "topology.txt", "flow.txt", "trace.txt"] {
            fs::copy(root.join(name), place.path("hpcc").join(name)).expect("a file");
        }
        place.run(self.args);
        let after = files(&place);
        assert!(!after.is_empty(), "{:?}", self.args);
        fs::remove_dir_all(place.path("out")).expect("a folder");
        fs::create_dir(place.path("out")).expect("a folder");
        place.run(self.before);
        let before = files(&place);
        (place, before, after)
    }

    /// Runs it with `wrapper` in front, from what was there before, and says whether it did all.
    fn fail_at(&self, place: &Place, before: &Files, after: &Files, wrapper: &[&str]) -> Attempt {
        for name in names(place) {
            fs::remove_file(place.path("out").join(name)).expect("a file");
        }
        for (name, bytes) in before {
            fs::write(place.path("out").join(name), bytes).expect("a file");
        }
        let mut command = Command::new(wrapper[0]);
        command.args(&wrapper[1..]).arg(env!("CARGO_BIN_EXE_pauseless")).args(self.args);
        command.current_dir(place.folder.path()).stdin(Stdio::null());
        let output = command.output().expect("it starts");
        let now = files(place);
        let context = || format!("{wrapper:?} {:?}: {}", self.args, told(&output));
        for (name, bytes) in &now {
            // The time that a run took is in its results.
            let is_new = after.get(name).is_some_and(|new| is_alike(name, new, bytes));
            let is_old = before.get(name) == Some(bytes);
            assert!(is_new || is_old, "{name} is neither old nor new: {}", context());
        }
        for name in before.keys() {
            assert!(now.contains_key(name), "{name} is gone: {}", context());
        }
        let is_all_new = after
            .iter()
            .all(|(name, new)| now.get(name).is_some_and(|bytes| is_alike(name, new, bytes)));
        Attempt { output, is_all_new, left: names(place).len() - now.len() }
    }
}

struct Attempt {
    output: Output,
    is_all_new: bool,
    /// How many unfinished files are left.
    left: usize,
}

fn told(output: &Output) -> String {
    format!("{:?} {}", output.status, String::from_utf8_lossy(&output.stderr))
}

/// Whether both are whole and the same but for how long it took.
fn is_alike(name: &str, one: &[u8], other: &[u8]) -> bool {
    let has_time = ["result.json", "report.html", "page.html", "results.parquet"].contains(&name);
    if !has_time {
        return one == other;
    }
    let end = |bytes: &[u8]| bytes[bytes.len().saturating_sub(4)..].to_vec();
    // The time has a few digits more or less.
    end(one) == end(other) && one.len().abs_diff(other.len()) < 200
}

fn names(place: &Place) -> Vec<String> {
    let entries = fs::read_dir(place.path("out")).expect("a folder").flatten();
    let names = entries.map(|entry| entry.file_name().into_string().expect("text"));
    // What says which files are ours is no output: without it the next run asks for --force.
    names.filter(|name| !name.starts_with(".pauseless-wrote")).collect()
}

fn files(place: &Place) -> Files {
    let whole = names(place).into_iter().filter(|name| !name.ends_with(".new"));
    whole
        .map(|name| {
            let bytes = fs::read(place.path("out").join(&name)).expect("a file");
            (name, bytes)
        })
        .collect()
}

/// A limit to the size of files is a full disk as far as writing goes.
#[test]
fn a_disk_that_is_full_costs_no_file_that_was_there() {
    for writer in &WRITERS {
        let (place, before, after) = writer.prepare();
        let largest = after.values().map(Vec::len).max().unwrap_or(0) / 512;
        let mut blocks = 0;
        let mut failures = 0;
        while blocks <= largest {
            let limit = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\"");
            let attempt = writer.fail_at(&place, &before, &after, &["sh", "-c", &limit]);
            let said = told(&attempt.output);
            assert_eq!(attempt.left, 0, "unfinished files are left: {said}");
            if attempt.output.status.code() == Some(2) {
                failures += 1;
                assert!(said.contains("cannot write"), "{said}");
            } else {
                assert!(attempt.is_all_new, "it says that all is well: {said}");
            }
            blocks = (blocks + 1).max(blocks * 5 / 4);
        }
        assert!(failures > 0, "{:?}: it was never full", writer.args);
    }
}

/// The operations on files, each of which is made to fail at every place.
const OPERATIONS: [&str; 7] = ["openat", "write", "fsync", "rename", "fchmod", "unlink", "mkdir"];

/// Lets `fault` happen at the first, second, .. of an operation, until there is none, and has each
/// attempt judged.
fn at_every(fault: &str, operation: &str, judge: impl Fn(&Attempt)) {
    for writer in &WRITERS {
        let (place, before, after) = writer.prepare();
        let log = place.path("trace").display().to_string();
        let mut count = 0;
        loop {
            let inject = format!("inject={operation}:{fault}:when={}", count + 1);
            let trace = format!("trace={operation}");
            let wrapper = ["strace", "-f", "-qq", "-o", &log, "-e", &trace, "-e", &inject];
            let attempt = writer.fail_at(&place, &before, &after, &wrapper);
            judge(&attempt);
            let is_killed = attempt.output.status.code().is_none();
            if !is_killed && !place.text("trace").contains("(INJECTED)") {
                assert!(attempt.is_all_new, "{:?}: {}", writer.args, told(&attempt.output));
                break;
            }
            count += 1;
        }
        let is_rare = ["unlink", "mkdir", "fchmod"].contains(&operation);
        assert!(count > 0 || is_rare, "{:?}: there is no {operation}", writer.args);
    }
}

fn has_strace() -> bool {
    let traced = Command::new("strace").args(["-o", "/dev/null", "true"]).output();
    let is_there = traced.is_ok_and(|traced| traced.status.success());
    if !is_there {
        eprintln!("skipped: strace is not installed, or may not trace here");
    }
    is_there
}

#[test]
fn a_kill_at_any_operation_leaves_whole_files() {
    if !has_strace() {
        return;
    }
    std::thread::scope(|scope| {
        for operation in OPERATIONS {
            scope.spawn(move || {
                at_every("signal=KILL", operation, |attempt| {
                    let is_killed = attempt.output.status.code().is_none();
                    assert!(is_killed || attempt.is_all_new, "{}", told(&attempt.output));
                });
            });
        }
    });
}

#[test]
fn a_disk_that_is_full_for_one_write_costs_no_file_that_was_there() {
    if !has_strace() {
        return;
    }
    for operation in ["write", "fsync", "rename"] {
        at_every("error=ENOSPC", operation, |attempt| {
            let said = told(&attempt.output);
            assert_eq!(attempt.left, 0, "unfinished files are left: {said}");
            // A remark on stderr that cannot be written is no failure.
            let is_failed = attempt.output.status.code() == Some(2);
            assert!(is_failed || attempt.is_all_new, "{said}");
        });
    }
}
