//! The routes of a real FRR, in a leaf-spine fabric of network namespaces, as `check` sees them:
//! healthy, after failures, and with default routes that somebody got wrong.

mod lab;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;
use std::{fs, io};

use crate::{Outcome, page};
use lab::{Absence, Lab, Source};

/// Runs the lab through all its cases.
pub fn run() -> io::Result<Outcome> {
    if !page::is_root() {
        println!("skipped: only root can make network namespaces");
        return Ok(Outcome::Clean);
    }
    for (program, package) in [("vtysh", "frr"), ("ip", "iproute2")] {
        if !page::install(program, package)? {
            return Ok(Outcome::Found);
        }
    }
    let begin = Instant::now();
    let lab = match Lab::start()? {
        Ok(lab) => lab,
        Err(Absence::Forbidden(why)) => {
            println!("skipped: this kernel or container forbids network namespaces: {why}");
            return Ok(Outcome::Clean);
        }
        Err(Absence::Broken(why)) => {
            println!("FRR does not start: {why}");
            return Ok(Outcome::Found);
        }
    };
    let outcome = match cases(&lab)? {
        Ok(()) => Outcome::Clean,
        Err(why) => {
            println!("WRONG: {why}");
            Outcome::Found
        }
    };
    println!("routes: {:.1} s", begin.elapsed().as_secs_f64());
    Ok(outcome)
}

type Checked = io::Result<Result<(), String>>;

/// What `check` must say, by exit status and words of its report.
struct Expected {
    exit: i32,
    says: &'static [&'static str],
    never: &'static [&'static str],
}

/// A state of the lab, and what brings it about and checks it.
struct Case {
    name: &'static str,
    check: fn(&Lab) -> Checked,
}

/// One state of the lab after the other.
fn cases(lab: &Lab) -> Checked {
    let steps = [
        Case { name: "healthy", check: healthy },
        Case { name: "two failed links", check: failed },
        Case { name: "two failed links and two wrong defaults", check: wrong_defaults },
        Case { name: "a failed link and a wrong default", check: one_of_each },
    ];
    for Case { name, check } in steps {
        let begin = Instant::now();
        if let Err(why) = check(lab)? {
            return Ok(Err(format!("{name}: {why}")));
        }
        println!("ok: {name} ({:.1} s)", begin.elapsed().as_secs_f64());
    }
    Ok(Ok(()))
}

/// No cycle, by any of the dumps.
fn healthy(lab: &Lab) -> Checked {
    if let Err(why) = lab.wait_for([4, 4, 4, 4], [4, 4])? {
        return Ok(Err(why));
    }
    let clean = Expected { exit: 0, says: &["\"cycle-free\""], never: &["\"faults\""] };
    judge(lab, "healthy", &clean, &clean)
}

/// Shortest paths would now come down and go up again, and close a cycle. BGP has no such paths:
/// the packets of l0 for l3 get to a spine that has no route for them.
fn failed(lab: &Lab) -> Checked {
    lab.fail("s0", "l3")?;
    lab.fail("s1", "l0")?;
    if let Err(why) = lab.wait_for([3, 4, 4, 3], [3, 3])? {
        return Ok(Err(why));
    }
    let assumed = Expected { exit: 1, says: &["\"cyclic\""], never: &["\"faults\""] };
    let real = Expected {
        exit: 1,
        says: &["\"cycle-free\"", "\"black-hole\"", "s0 has no route to 192.168.3.0/24"],
        never: &["\"loop\"", "\"valley\""],
    };
    judge(lab, "failed", &assumed, &real)
}

/// A default of each spine to a leaf gets the packets there, through valleys that close a cycle.
fn wrong_defaults(lab: &Lab) -> Checked {
    lab.default_route("s0", "l1")?;
    lab.default_route("s1", "l2")?;
    if let Err(why) = lab.wait_for([3, 4, 4, 3], [3, 3])? {
        return Ok(Err(why));
    }
    let assumed = Expected { exit: 1, says: &["\"cyclic\""], never: &["\"faults\""] };
    let real = Expected {
        exit: 1,
        says: &["\"cyclic\"", "\"valley\"", "come down from s0 to l1 and go up again to s1"],
        never: &["\"loop\"", "\"black-hole\""],
    };
    judge(lab, "wrong-defaults", &assumed, &real)
}

/// Leaves that know a default only send all packets for l3 to both spines, of which one has lost
/// it and sends them to l1. The shortest paths have no cycle.
fn one_of_each(lab: &Lab) -> Checked {
    lab.repair("s1", "l0")?;
    lab.no_default_route("s0", "l1")?;
    lab.no_default_route("s1", "l2")?;
    lab.announce_default_only()?;
    if let Err(why) = lab.wait_for([1, 1, 1, 1], [3, 4])? {
        return Ok(Err(why));
    }
    lab.default_route("s0", "l1")?;
    if let Err(why) = lab.wait_for([1, 1, 1, 1], [3, 4])? {
        return Ok(Err(why));
    }
    let assumed = Expected { exit: 0, says: &["\"cycle-free\""], never: &["\"faults\""] };
    let real = Expected {
        exit: 1,
        says: &["\"cyclic\"", "\"loop\"", "packets for 192.168.3.0/24 go in a circle"],
        never: &["\"black-hole\""],
    };
    judge(lab, "one-of-each", &assumed, &real)
}

/// Holds the verdict on the cables alone, and on each sort of dump with and without the cables,
/// against what is expected.
fn judge(lab: &Lab, name: &str, assumed: &Expected, real: &Expected) -> Checked {
    let folder = page::target_dir().join("routes").join(name);
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder)?;
    let wiring = folder.join("lab.clab.yml");
    fs::write(&wiring, lab.wiring())?;
    let mut runs = vec![("the cables alone", vec![wiring.clone()], assumed)];
    for source in [Source::Frr, Source::Kernel] {
        let files = lab.dump(source, &folder)?;
        runs.push((source.name(), files.clone(), real));
        let with_wiring = [vec![wiring.clone()], files].concat();
        runs.push((source.name(), with_wiring, real));
    }
    for (what, files, expected) in runs {
        if let Err(why) = check(&folder, &files, expected)? {
            return Ok(Err(format!("by {what} ({}): {why}", count(&files))));
        }
    }
    Ok(Ok(()))
}

fn count(files: &[PathBuf]) -> String {
    format!("{} files", files.len())
}

fn check(folder: &Path, files: &[PathBuf], expected: &Expected) -> Checked {
    let mut command = Command::new(page::program());
    command.args(["check", "--json"]).args(files).stdin(Stdio::null());
    let output = command.output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    let wrong = |what: String| Ok(Err(format!("{what}; see {}\n{errors}", folder.display())));
    if output.status.code() != Some(expected.exit) {
        return wrong(format!("{} instead of exit status {}", output.status, expected.exit));
    }
    if let Some(word) = expected.says.iter().find(|word| !text.contains(**word)) {
        return wrong(format!("the report does not have {word}"));
    }
    if let Some(word) = expected.never.iter().find(|word| text.contains(**word)) {
        return wrong(format!("the report has {word}"));
    }
    Ok(Ok(()))
}
