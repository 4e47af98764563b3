//! What is run: the other simulators' cases, and fat trees.

use std::path::PathBuf;
use std::time::Instant;

use pauseless_compat::hpcc::{self, Compat};
use pauseless_compat::htsim::{self, Options};
use pauseless_scenario::{Overrides, Scenario};
use pauseless_sim::Parallel;
use rustix::time::{ClockId, clock_gettime};

use crate::table::Row;

/// A scenario whose speed is measured.
pub struct Case {
    pub name: String,
    pub peer: Peer,
    text: String,
}

/// What another simulator can run of a case.
#[derive(Clone, Debug)]
pub enum Peer {
    /// No other simulator can run it.
    None,
    /// Constant-rate flows on a fat tree, for the ns-3 program.
    Udp(Udp),
    /// The configuration in this folder, for the HPCC authors' simulator.
    Hpcc(PathBuf),
    /// This traffic matrix, for htsim.
    Htsim(PathBuf),
}

/// A case of the ns-3 program.
#[derive(Clone, Debug)]
pub struct Udp {
    pub k: u32,
    pub duration_ns: u64,
    /// Source, target and rate in bit/s.
    pub flows: Vec<(u32, u32, u64)>,
}

/// The rate and delay of all links of the fat trees.
pub const GBPS: u64 = 100;
pub const DELAY_NS: u64 = 1_000;
/// Payload and headers of a packet.
pub const PAYLOAD: u64 = 1_000;
const PACKET: u64 = 1_048;

const SCHEMES: [(&str, &str); 4] = [
    ("pfc", "[flow_control]\nkind = \"pfc\"\n"),
    ("gfc", "[flow_control]\nkind = \"gfc-buffer\"\n"),
    ("pcn", "[flow_control]\nkind = \"pfc\"\n[congestion_control]\nkind = \"pcn\"\n"),
    (
        "dcqcn-ack",
        "[flow_control]\nkind = \"pfc\"\n[congestion_control]\nkind = \"dcqcn\"\nack_every = 1\n\
         feedback_class = \"data\"\n",
    ),
];

impl Case {
    /// All of them, for a tenth of their time if `is_quick`.
    pub fn all(is_quick: bool) -> Vec<Case> {
        let share = if is_quick { 10 } else { 1 };
        let mut cases = Vec::from(["incast", "incast_pfc", "ring5_pfc"].map(hpcc_case));
        cases.push(htsim_case());
        for (k, us) in [(8, 3_000), (16, 500), (32, 60)] {
            for (scheme, sections) in SCHEMES {
                cases.push(fat_tree(k, us / share, scheme, sections));
            }
        }
        for (k, us) in [(8, 20_000), (16, 5_000)] {
            cases.push(udp(k, us / share));
        }
        cases
    }

    pub fn find(name: &str, is_quick: bool) -> Case {
        let mut all = Case::all(is_quick).into_iter();
        all.find(|case| case.name == name).expect("a case")
    }

    /// The speed of one run with so many threads.
    pub fn measure(&self, threads: usize) -> Row {
        let scenario = Scenario::parse(&self.name, &self.text, &Overrides::default());
        let scenario = scenario.unwrap_or_else(|problems| panic!("{}: {problems}", self.name));
        let config = &scenario.config;
        let mut simulator = Parallel::new(config, threads);
        let (cpu, wall) = (cpu_seconds(), Instant::now());
        while simulator.advance(pauseless_core::unit::Time::ZERO + config.duration) {}
        let (cpu, wall) = (cpu_seconds() - cpu, wall.elapsed().as_secs_f64());
        let outcome = simulator.finish();
        Row {
            hosts: config.topology.host_count(),
            threads,
            hops: outcome.packet_hops,
            events: outcome.events,
            cpu,
            wall,
            memory: memory_max(),
        }
    }
}

/// Every host sends to another one without end, as fast as it may.
fn fat_tree(k: u32, us: u64, scheme: &str, sections: &str) -> Case {
    let head = head(k, us);
    Case {
        name: format!("k{k}-{scheme}"),
        text: format!("{head}{sections}[[traffic]]\nkind = \"permutation\"\n"),
        peer: Peer::None,
    }
}

fn hpcc_case(name: &str) -> Case {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples/hpcc");
    let folder = folder.join(name);
    let case = hpcc::read(&folder.join("config.txt"), Compat::None);
    Case {
        name: format!("hpcc-{name}"),
        text: case.expect("an example that works").scenario.text(),
        peer: Peer::Hpcc(folder),
    }
}

/// A permutation of 128 flows of 10 MB on htsim's own fat tree.
fn htsim_case() -> Case {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/htsim");
    let matrix = folder.join("perm_128n_128c_10MB.cm");
    let files = [matrix.clone(), folder.join("A_perm128.paths")];
    let case = htsim::read(&files, &Options::default());
    Case {
        name: "htsim-perm128".to_string(),
        text: case.expect("an example that works").scenario.text(),
        peer: Peer::Htsim(matrix),
    }
}

/// Every host sends at a rate at which nothing waits even if all flows of a pod share a link, as with
/// the routes of the ns-3 program.
fn udp(k: u32, us: u64) -> Case {
    let hosts = k * k * k / 4;
    let rate = GBPS * 900_000_000 / u64::from(k * k / 4);
    // A stride that is coprime to the number of hosts joins all of them, mostly across pods.
    let stride = hosts / 2 + 1;
    let flows = (0..hosts).map(|source| (source, (source + stride) % hosts, rate));
    let flows: Vec<_> = flows.collect();
    let mut text = format!("{}[flow_control]\nkind = \"none\"\n", head(k, us));
    for (source, target, _) in &flows {
        let frames = rate * PACKET / PAYLOAD;
        text += &format!(
            "[[flow]]\nsource = \"H{source}\"\ntarget = \"H{target}\"\nrate = \"{frames} bps\"\n"
        );
    }
    Case {
        name: format!("k{k}-udp"),
        text,
        peer: Peer::Udp(Udp { k, duration_ns: us * 1_000, flows }),
    }
}

fn head(k: u32, us: u64) -> String {
    format!(
        "duration = \"{us} us\"\nmtu = \"{PACKET} B\"\n\
         [topology]\nkind = \"fat-tree\"\nk = {k}\nrate = \"{GBPS} Gbps\"\ndelay = \"{DELAY_NS} ns\"\n\
         [routing]\nkind = \"ecmp\"\n\
         [switch]\nbuffer = \"400 KB\"\n"
    )
}

fn cpu_seconds() -> f64 {
    let now = clock_gettime(ClockId::ProcessCPUTime);
    now.tv_sec as f64 + now.tv_nsec as f64 * 1e-9
}

/// The most memory that this process ever had.
fn memory_max() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.split_whitespace().next());
    kib.and_then(|kib| kib.parse::<u64>().ok()).expect("a size") << 10
}
