//! A campaign on a real Slurm, whose nodes fail in the middle of it.
//!
//! One machine dies with all that runs on it. Of another one only the daemon dies, and its job
//! hangs; when the job has been started again elsewhere, the old one wakes up, and two processes
//! make the same runs. The results must be those of a campaign that nothing has happened to.

mod cluster;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};
use std::{env, fs, io};

use super::skipped;
use crate::{Outcome, page};
use cluster::{Absence, Cluster, NODES, signal, watcher};

/// Runs the campaign, or says why that is not possible here.
pub fn run() -> io::Result<Outcome> {
    if !page::is_root() {
        return Ok(skipped("only root can start the daemons of Slurm"));
    }
    for (program, package) in [("munged", "munge"), ("slurmctld", "slurm-wlm")] {
        if !page::install(program, package)? {
            return Ok(Outcome::Found);
        }
    }
    let folder = Folder::new()?;
    let cluster = match Cluster::start(&folder.path) {
        Ok(cluster) => cluster,
        Err(Absence::Forbidden(why)) => {
            println!("skipped: this kernel or container forbids what Slurm needs: {why}");
            return Ok(Outcome::Clean);
        }
        Err(Absence::Broken(why)) => {
            println!("Slurm does not start: {why}");
            return Ok(Outcome::Found);
        }
    };
    let mut test = Test { cluster, folder: folder.path.clone(), begin: Instant::now() };
    Ok(match test.run() {
        Ok(()) => Outcome::Clean,
        Err(why) => {
            println!("{why}");
            println!("{}", test.logs());
            Outcome::Found
        }
    })
}

/// A folder that goes with whoever made it. Sockets have short names, so it is not in target/.
struct Folder {
    path: PathBuf,
}

impl Folder {
    fn new() -> io::Result<Folder> {
        let path = env::temp_dir().join(format!("pauseless-slurm-{}", std::process::id()));
        fs::create_dir_all(&path)?;
        let path = path.canonicalize()?;
        Ok(Folder { path })
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}

struct Test {
    cluster: Cluster,
    folder: PathBuf,
    begin: Instant,
}

impl Test {
    fn run(&mut self) -> Result<(), String> {
        fs::write(self.campaign(), CAMPAIGN).map_err(|error| error.to_string())?;
        let text = self.sweep(&["submit"], "shared", &["--slurm", "--shards", "3"])?;
        self.say(text.lines().next().unwrap_or_default());
        self.wait("all parts run", |test| {
            let status = test.status()?;
            let is_on = |node: &&str| {
                let end = format!("running on {node}");
                status.lines().any(|line| line.ends_with(&end))
            };
            Ok(NODES.iter().all(is_on) && done(&status) >= 6)
        })?;
        let parts = self.parts()?;
        // The machine n1 dies.
        self.cluster.kill_daemon("n1").map_err(text_of)?;
        for id in self.cluster.processes(&parts[0], "n1") {
            // What watches the job goes first, or it would tell how the job ended.
            for id in watcher(id).into_iter().chain([id]) {
                signal("KILL", id);
            }
        }
        // The daemon of n2 dies, and its job hangs.
        self.cluster.kill_daemon("n2").map_err(text_of)?;
        let hung = self.cluster.processes(&parts[1], "n2");
        let [hung] = hung[..] else {
            return Err(format!("part {} has processes {hung:?} on n2", parts[1]));
        };
        signal("STOP", hung);
        self.say("n1 was killed, and n2 hangs");
        self.wait("both parts are requeued", |test| {
            let status = test.status()?;
            let is_back = |part: &String| requeued(&status, part) == Some(1);
            Ok(is_back(&parts[0]) && is_back(&parts[1]))
        })?;
        self.wait("the hung part runs elsewhere", |test| {
            Ok(test.line(&parts[1])?.ends_with("running on n3"))
        })?;
        if !signal("CONT", hung) {
            return Err("the hung job was gone".to_string());
        }
        self.say("the hung job goes on beside its successor");
        self.wait("the merge is over", |test| {
            let status = test.status()?;
            let mut lines = status.lines();
            Ok(lines.any(|line| line.starts_with("merge, job") && line.ends_with(": completed")))
        })?;
        self.compare(&parts[1])
    }

    /// Holds the results against those of an undisturbed campaign.
    fn compare(&self, hung: &str) -> Result<(), String> {
        let status = self.status()?;
        let completed = status.lines().filter(|line| line.ends_with(" completed"));
        if done(&status) != RUNS || completed.count() != NODES.len() + 1 {
            return Err(format!("status at the end: {status}"));
        }
        let first = self.results("shared")?;
        self.sweep(&[], "local", &["--quiet"])?;
        let local = self.results("local")?;
        if first != local {
            return Err("the results differ from those of an undisturbed campaign".to_string());
        }
        // What the old job has written since then changes nothing either.
        self.wait("the hung job is over", |test| {
            Ok(test.cluster.processes(hung, "n2").is_empty())
        })?;
        self.sweep(&["merge"], "shared", &[])?;
        if self.results("shared")? != local {
            return Err("the results of a second merge differ".to_string());
        }
        self.say("the results are those of an undisturbed campaign, to the byte");
        Ok(())
    }

    /// Which part each node makes.
    fn parts(&self) -> Result<Vec<String>, String> {
        let status = self.status()?;
        let part = |node: &&str| {
            let end = format!("running on {node}");
            let line = status.lines().find(|line| line.ends_with(&end));
            let part = line.and_then(|line| line.split_whitespace().next());
            part.map(str::to_string).ok_or_else(|| format!("no part runs on {node}: {status}"))
        };
        NODES.iter().map(part).collect()
    }

    /// What `sweep status` says about one part.
    fn line(&self, part: &str) -> Result<String, String> {
        let status = self.status()?;
        let line = status.lines().find(|line| line.split_whitespace().next() == Some(part));
        line.map(str::to_string).ok_or_else(|| format!("no part {part}: {status}"))
    }

    fn status(&self) -> Result<String, String> {
        self.sweep(&["status"], "shared", &[])
    }

    fn results(&self, out: &str) -> Result<Vec<u8>, String> {
        let file = self.folder.join(out).join("results.parquet");
        fs::read(&file).map_err(|error| format!("{}: {error}", file.display()))
    }

    fn campaign(&self) -> PathBuf {
        // Whatever is in a name reaches the shell and Slurm as it is.
        self.folder.join("it's 100 %.sweep.toml")
    }

    /// Runs the program; what it prints.
    fn sweep(&self, verb: &[&str], out: &str, options: &[&str]) -> Result<String, String> {
        let mut command = Command::new(page::program());
        command.arg("sweep").args(verb).arg(self.campaign());
        command.arg("--out").arg(self.folder.join(out)).args(options);
        command.env("SLURM_CONF", self.cluster.configuration());
        let output = command.stdin(Stdio::null()).output().map_err(text_of)?;
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        if output.status.success() {
            Ok(said)
        } else {
            Err(format!(
                "{command:?} ended with {}: {said}{}",
                output.status,
                String::from_utf8_lossy(&output.stderr)
            ))
        }
    }

    fn wait(
        &self,
        what: &str,
        mut is_so: impl FnMut(&Test) -> Result<bool, String>,
    ) -> Result<(), String> {
        let begin = Instant::now();
        while !is_so(self)? {
            if begin.elapsed() > PATIENCE {
                let status = self.status().unwrap_or_default();
                return Err(format!("waited too long until {what}\n{status}"));
            }
            sleep(Duration::from_millis(300));
        }
        self.say(what);
        Ok(())
    }

    fn say(&self, what: &str) {
        println!("  {:5.1} s  {what}", self.begin.elapsed().as_secs_f64());
    }

    /// What the controller and the jobs have said.
    fn logs(&self) -> String {
        let mut text =
            self.cluster.ask("scontrol", &["--oneliner", "show", "job"]).unwrap_or_default();
        let mut add = |file: &Path| {
            let log = fs::read_to_string(file).unwrap_or_default();
            let last = Vec::from_iter(log.lines().rev().take(30));
            text += &format!("{}:\n", file.display());
            for line in last.into_iter().rev() {
                text += &format!("  {line}\n");
            }
        };
        add(&self.folder.join("log/slurmctld.out"));
        let jobs = fs::read_dir(self.folder.join("shared/slurm"));
        for entry in jobs.into_iter().flatten().flatten() {
            if entry.path().extension().is_some_and(|it| it == "log") {
                add(&entry.path());
            }
        }
        text
    }
}

fn text_of(error: io::Error) -> String {
    error.to_string()
}

/// How many runs are done, as `sweep status` has it.
fn done(status: &str) -> usize {
    let line = status.lines().next().unwrap_or_default();
    let numbers = line.split_once(": ").map_or("", |(_, numbers)| numbers);
    let done = numbers.split(' ').next().unwrap_or_default();
    done.parse().unwrap_or(0)
}

/// How often a part was requeued, as `sweep status` has it.
fn requeued(status: &str, part: &str) -> Option<u32> {
    let mut lines = status.lines().map(|line| Vec::from_iter(line.split_whitespace()));
    let line = lines.find(|words| words.first() == Some(&part) && words.len() > 4)?;
    line[3].parse().ok()
}

/// How long anything may take. Machines are slow at times.
const PATIENCE: Duration = Duration::from_secs(300);
/// Forty for each part.
const RUNS: usize = 120;
/// Rings that do not deadlock, so that every run takes its time.
const CAMPAIGN: &str = r#"title = "A campaign whose nodes fail"
keep = ["pauses"]
[scenario]
title = "Two flows in a ring"
duration = "100 ms"
[scenario.topology]
kind = "ring"
switches = 3
hosts_per_switch = 1
rate = "10 Gbps"
delay = "1 us"
[scenario.switch]
buffer = "1012 KB"
processing = "85 us"
[scenario.flow_control]
kind = "pfc"
xoff = "800 KB"
xon = "797 KB"
[[scenario.flow]]
name = "F1"
source = "H1"
target = "H3"
path = ["S1", "S2", "S3"]
[[scenario.flow]]
name = "F2"
source = "H2"
target = "H1"
path = ["S2", "S3", "S1"]
[[axis]]
key = "seed"
seeds = 120
"#;
