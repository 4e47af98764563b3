//! Other simulators, started by the command line that the user has given.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::cases::{Case, DELAY_NS, GBPS, PAYLOAD, Udp};

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
                return Err(format!(
                    "unknown peer '{text}': hpcc=COMMAND, htsim=COMMAND or ns3"
                ));
            }
        }
        Ok(())
    }

    /// CPU seconds per packet-hop of the peer for this case, if there is one.
    pub fn run(&self, case: &Case) -> Option<f64> {
        let udp = case.udp.as_ref()?;
        Some(run_ns3(self.ns3.as_ref()?, udp))
    }
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

fn run_ns3(program: &PathBuf, udp: &Udp) -> f64 {
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
    let numbers: Vec<f64> = text
        .split_whitespace()
        .map(|word| word.parse().expect("a number"))
        .collect();
    numbers[2] / numbers[0]
}
