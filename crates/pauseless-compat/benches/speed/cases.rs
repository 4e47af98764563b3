//! What is run: the other simulators' cases, and fat trees.

use std::path::PathBuf;
use std::time::Instant;

use pauseless_compat::hpcc::{self, Compat};
use pauseless_compat::htsim::{self, Options};
use pauseless_core::unit::Time;
use pauseless_scenario::{Overrides, Problems, Scenario, ScenarioFile};
use pauseless_sim::Parallel;
use pauseless_sim::parallel::threads_for;
use pauseless_text::source::Source;
use rustix::time::{ClockId, clock_gettime};
use tempfile::TempDir;

use crate::generate;
use crate::table::Row;

/// A scenario whose speed is measured.
pub struct Case {
    pub name: String,
    pub input: Input,
}

/// What is run, in the files of the simulator that it comes from.
#[derive(Clone, Debug)]
pub enum Input {
    /// A scenario of ours, which no other simulator can run.
    Scenario(String),
    /// Constant-rate flows on a fat tree, as a scenario and for the ns-3 program.
    Udp(String, Udp),
    /// Names and texts of the files of the HPCC authors' simulator.
    Hpcc([(&'static str, String); 4]),
    Htsim(Htsim),
}

/// A case of htsim's `htsim_roce` with packets of 1,500 bytes on the fat tree of so many hosts.
#[derive(Clone, Debug)]
pub struct Htsim {
    pub hosts: u64,
    /// The text of the traffic matrix, a `.cm` file.
    pub matrix: String,
    /// The paths that htsim has chosen; without them they are chosen by our hash.
    paths: Option<String>,
    /// The latest end of the run; it is over when all flows have finished.
    pub end_us: u64,
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

/// Names of schemes, and what follows the section `[switch]` for them.
const SCHEMES: [(&str, &str); 8] = [
    ("pfc", "[flow_control]\nkind = \"pfc\"\n"),
    ("voq", "discipline = \"virtual-output-queued\"\n[flow_control]\nkind = \"pfc\"\n"),
    ("iq", "discipline = \"input-queued\"\n[flow_control]\nkind = \"pfc\"\n"),
    ("cbfc", "[flow_control]\nkind = \"cbfc\"\n"),
    ("gfc", "[flow_control]\nkind = \"gfc-buffer\"\n"),
    ("gfc-time", "[flow_control]\nkind = \"gfc-time\"\n"),
    ("pcn", "[flow_control]\nkind = \"pfc\"\n[congestion_control]\nkind = \"pcn\"\n"),
    (
        "dcqcn-ack",
        "[flow_control]\nkind = \"pfc\"\n[congestion_control]\nkind = \"dcqcn\"\nack_every = 1\n\
         feedback_class = \"data\"\n",
    ),
];

impl Case {
    /// All of them, for the `part`th part of their time or bytes.
    pub fn all(part: u64) -> Vec<Case> {
        let mut cases = htsim_cases(part);
        cases.extend(["incast", "incast_pfc", "ring5_pfc"].map(|name| hpcc_example(name, part)));
        cases.push(Case {
            name: format!("hpcc-websearch{}", generate::HOSTS),
            input: Input::Hpcc(generate::websearch(
                &hpcc_file("incast", "config.txt"),
                1_000 / part,
            )),
        });
        for (k, us) in [(8, 3_000), (16, 500), (32, 60)] {
            for (scheme, sections) in SCHEMES {
                cases.push(fat_tree(k, us / part, scheme, sections));
            }
        }
        for (k, us) in [(8, 20_000), (16, 5_000)] {
            cases.push(udp(k, us / part));
        }
        cases
    }

    pub fn find(name: &str, part: u64) -> Case {
        let mut all = Case::all(part).into_iter();
        all.find(|case| case.name == name).expect("a case")
    }

    /// The speed of one run with so many threads.
    pub fn measure(&self, threads: usize) -> Row {
        let start = cpu_seconds();
        let scenario = self.scenario();
        let config = &scenario.config;
        let mut simulator = Parallel::new(config, threads);
        let (cpu, wall) = (cpu_seconds(), Instant::now());
        while simulator.advance(Time::ZERO + config.duration) {}
        let (end, wall) = (cpu_seconds(), wall.elapsed().as_secs_f64());
        let outcome = simulator.finish();
        Row {
            hosts: config.topology.host_count(),
            threads,
            chosen: threads_for(config, cores()),
            hops: outcome.packet_hops,
            setup: cpu - start,
            cpu: end - cpu,
            wall,
            memory: memory_max(),
        }
    }

    /// The packet-hops of one run with one thread, during which no clock is read: valgrind cannot run
    /// what reads them fast.
    pub fn hops(&self) -> u64 {
        let Scenario { config, .. } = self.scenario();
        let mut simulator = Parallel::new(&config, 1);
        while simulator.advance(Time::ZERO + config.duration) {}
        simulator.finish().packet_hops
    }

    /// What is simulated, by the importers if it is in files of others.
    fn scenario(&self) -> Scenario {
        self.import().unwrap_or_else(|problems| panic!("{}: {problems}", self.name))
    }

    fn import(&self) -> Result<Scenario, Problems> {
        let imported = match &self.input {
            Input::Scenario(text) | Input::Udp(text, _) => {
                return Scenario::parse(&self.name, text, &Overrides::default());
            }
            Input::Htsim(htsim) => htsim.import()?,
            Input::Hpcc(files) => {
                let folder = written(files);
                hpcc::read(&folder.path().join("config.txt"), Compat::None)?.scenario
            }
        };
        imported.build(&self.name, &Overrides::default())
    }
}

impl Htsim {
    fn import(&self) -> Result<ScenarioFile, Problems> {
        let source = |file: &str, text: &String| Source { file: file.into(), text: text.clone() };
        let mut sources = vec![source("matrix.cm", &self.matrix)];
        sources.extend(self.paths.iter().map(|text| source("matrix.paths", text)));
        let options = format!("mtu=1500,end={}", self.end_us).parse::<Options>();
        let case = htsim::read_sources(&sources, &options.expect("options of htsim"))?;
        Ok(case.scenario)
    }
}

/// A folder with these files, which is gone when the value is.
pub fn written(files: &[(&str, String)]) -> TempDir {
    let folder = tempfile::tempdir().expect("a place for files");
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).expect("a new folder can be written to");
    }
    folder
}

/// The cases of htsim, flows with the `part`th part of their bytes: permutations of 128 and 1,024
/// hosts, and 100 hosts that send to one.
fn htsim_cases(part: u64) -> Vec<Case> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/htsim");
    let read = |name| std::fs::read_to_string(folder.join(name)).expect("a file of the tests");
    let matrix = read("perm_128n_128c_10MB.cm");
    let kept = matrix.replace("size 10000000", &format!("size {}", 10_000_000 / part));
    let case = |name: &str, hosts, matrix, paths, end_us| {
        let input = Input::Htsim(Htsim { hosts, matrix, paths, end_us });
        Case { name: format!("htsim-{name}"), input }
    };
    let permutation = generate::permutation(1_024, 2_000_000 / part);
    let incast = generate::incast(128, 100, 10_000_000 / part);
    vec![
        case("perm128", 128, kept, Some(read("A_perm128.paths")), 6_000),
        case("perm1024", 1_024, permutation, None, 20_000),
        case("incast100", 128, incast, None, 200_000),
    ]
}

/// Every host sends to another one without end, as fast as it may.
fn fat_tree(k: u32, us: u64, scheme: &str, sections: &str) -> Case {
    let head = head(k, us);
    let text = format!("{head}{sections}[[traffic]]\nkind = \"permutation\"\n");
    Case { name: format!("k{k}-{scheme}"), input: Input::Scenario(text) }
}

/// A case of `examples/hpcc`, its flows with the `part`th part of their bytes.
fn hpcc_example(name: &str, part: u64) -> Case {
    let shorter = |line: &str| {
        let mut words = Vec::from_iter(line.split(' ').map(str::to_string));
        if let [_, _, _, _, size, _] = words.as_mut_slice() {
            *size = (size.parse::<u64>().expect("a size") / part).to_string();
        }
        words.join(" ") + "\n"
    };
    let files = ["config.txt", "topology.txt", "flow.txt", "trace.txt"].map(|file| {
        let text = hpcc_file(name, file);
        (file, if file == "flow.txt" { text.lines().map(shorter).collect() } else { text })
    });
    Case { name: format!("hpcc-{name}"), input: Input::Hpcc(files) }
}

fn hpcc_file(example: &str, file: &str) -> String {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples/hpcc");
    std::fs::read_to_string(folder.join(example).join(file)).expect("a file of an example")
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
    let udp = Udp { k, duration_ns: us * 1_000, flows };
    Case { name: format!("k{k}-udp"), input: Input::Udp(text, udp) }
}

fn head(k: u32, us: u64) -> String {
    format!(
        "duration = \"{us} us\"\nmtu = \"{PACKET} B\"\n\
         [topology]\nkind = \"fat-tree\"\nk = {k}\nrate = \"{GBPS} Gbps\"\ndelay = \"{DELAY_NS} ns\"\n\
         [routing]\nkind = \"ecmp\"\n\
         [switch]\nbuffer = \"400 KB\"\n"
    )
}

/// The cores of this machine.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
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
