//! Other simulators, started by the command line that the user has given.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::cases::{Case, DELAY_NS, GBPS, Htsim, Input, PAYLOAD, Udp, written};

/// Those that were named.
#[derive(Debug, Default)]
pub struct Peers {
    hpcc: Option<String>,
    htsim: Option<String>,
    /// The program that was built.
    ns3: Option<PathBuf>,
}

impl Peers {
    /// `hpcc=COMMAND`, `htsim=COMMAND` or `ns3`.
    pub fn add(&mut self, text: &str) -> Result<(), String> {
        match text.split_once('=') {
            Some(("hpcc", command)) => self.hpcc = Some(command.to_string()),
            Some(("htsim", command)) => self.htsim = Some(command.to_string()),
            None if text == "ns3" => self.ns3 = Some(build_ns3()?),
            _ => {
                return Err(format!("unknown peer '{text}': hpcc=COMMAND, htsim=COMMAND or ns3"));
            }
        }
        Ok(())
    }

    /// What this case costs the peer that can run it, if that is named.
    pub fn run(&self, case: &Case) -> Option<Cost> {
        match &case.input {
            Input::Scenario(_) => None,
            Input::Udp(_, udp) => Some(run_ns3(self.ns3.as_ref()?, udp)),
            Input::Hpcc(files) => {
                let command = self.hpcc.as_ref()?;
                let folder = written(files);
                std::fs::create_dir(folder.path().join("out")).expect("a new folder");
                Some(run_command(&format!("{command} config.txt"), folder.path()))
            }
            Input::Htsim(Htsim { hosts, matrix, end_us, .. }) => {
                let command = self.htsim.as_ref()?;
                let folder = written(&[("matrix.cm", matrix.clone())]);
                let arguments = format!(
                    "-nodes {hosts} -tm matrix.cm -mtu 1500 -q 1000 -strat ecmp_host -paths 1 \
                     -end {end_us} -o /dev/null"
                );
                Some(run_command(&format!("{command} {arguments}"), folder.path()))
            }
        }
    }
}

/// What a case costs a peer.
#[derive(Clone, Copy, Debug)]
pub struct Cost {
    /// CPU seconds of its process, or of its simulation alone if it says how many hops that made.
    pub cpu: f64,
    /// The packet-hops of its simulation, if it says how many; otherwise as many as ours.
    pub hops: Option<u64>,
}

/// The cost of a command and of what it starts.
fn run_command(command: &str, folder: &Path) -> Cost {
    let before = children_seconds();
    let status = Command::new("sh")
        .args(["-c", command])
        .current_dir(folder)
        .stdout(Stdio::null())
        .status()
        .expect("there is a shell");
    assert!(status.success(), "'{command}' has failed: {status}");
    Cost { cpu: children_seconds() - before, hops: None }
}

/// CPU time of all processes that this one has waited for, to the hundredth of a second.
fn children_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").expect("Linux");
    // The name in brackets may have spaces; after it, fields are numbered from 3.
    let (_, fields) = stat.rsplit_once(')').expect("a name");
    let fields = Vec::from_iter(fields.split_whitespace());
    let ticks = |field: usize| fields[field - 3].parse::<f64>().expect("a number");
    (ticks(16) + ticks(17)) / 100.0
}

fn build_ns3() -> Result<PathBuf, String> {
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/speed/ns3_fat_tree.cc");
    let program = std::env::temp_dir().join(format!("ns3_fat_tree-{}", std::process::id()));
    let modules = [
        "core",
        "network",
        "internet",
        "point-to-point",
        "applications",
        "nix-vector-routing",
        "traffic-control",
    ];
    let status = Command::new("g++")
        .args(["-O3", source, "-o"])
        .arg(&program)
        .args(modules.map(|module| format!("-lns3-{module}")))
        .status();
    match status {
        Ok(status) if status.success() => Ok(program),
        _ => Err("cannot build the ns-3 program: install g++ and libns3-dev".to_string()),
    }
}

fn run_ns3(program: &Path, udp: &Udp) -> Cost {
    let arguments = [u64::from(udp.k), GBPS, DELAY_NS, PAYLOAD, udp.duration_ns];
    let mut child = Command::new(program)
        .args(arguments.map(|number| number.to_string()))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it was built");
    let mut stdin = child.stdin.take().expect("piped");
    for (source, target, rate) in &udp.flows {
        writeln!(stdin, "{source} {target} {rate}").expect("it reads");
    }
    drop(stdin);
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success(), "the ns-3 program has failed");
    let text = String::from_utf8_lossy(&output.stdout);
    let numbers: Vec<f64> =
        text.split_whitespace().map(|word| word.parse().expect("a number")).collect();
    Cost { cpu: numbers[2], hops: Some(numbers[0] as u64) }
}
