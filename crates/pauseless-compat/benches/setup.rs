//! How long it takes from files to the first event, phase by phase, in CPU seconds.
//! `cargo bench -p pauseless-compat --bench setup [-- CASE K THREADS]`
//!
//! Every line is a process of its own, whose memory is the most that it ever had.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use pauseless_compat::{hpcc, htsim};
use pauseless_core::unit::{Span, Time};
use pauseless_scenario::{Overrides, Scenario};
use pauseless_sim::Parallel;
use rustix::time::{ClockId, clock_gettime};

const CASES: [&str; 8] =
    ["perm", "perm-cc", "poisson", "poisson-cc", "list-cc", "flow-cc", "htsim", "hpcc"];
const FLOWS: u64 = 100_000;

fn main() {
    let arguments = Vec::from_iter(std::env::args().skip(1).filter(|word| word != "--bench"));
    if let [case, k, threads] = &arguments[..] {
        return measure(case, k.parse().expect("K"), threads.parse().expect("THREADS"));
    }
    println!("case          k threads   flows   files  scenario  simulator  first    sum     MB");
    let program = std::env::current_exe().expect("this program");
    for k in ["16", "32"] {
        for case in CASES {
            for threads in ["1", "2"] {
                let status = Command::new(&program).args([case, k, threads]).status();
                assert!(status.expect("this program starts").success(), "{case} {k} {threads}");
            }
        }
    }
}

fn measure(case: &str, k: u32, threads: usize) {
    let folder = tempfile::tempdir().expect("a folder");
    let file = write(case, k, folder.path());
    let mut times = vec![cpu_seconds()];
    let scenario = match case {
        "htsim" => {
            let options = htsim::Options::default();
            let case = htsim::read(&[file], &options).expect("a matrix");
            times.push(cpu_seconds());
            case.scenario.build("htsim", &Overrides::default())
        }
        "hpcc" => {
            let case = hpcc::read(&file, hpcc::Compat::None).expect("a configuration");
            times.push(cpu_seconds());
            case.scenario.build("hpcc", &Overrides::default())
        }
        _ => {
            times.push(cpu_seconds());
            Scenario::read(&file, &Overrides::default())
        }
    };
    let scenario = scenario.unwrap_or_else(|problems| panic!("{case}: {problems}"));
    times.push(cpu_seconds());
    let mut simulator = Parallel::new(&scenario.config, threads);
    times.push(cpu_seconds());
    simulator.advance(Time::ZERO + Span::ps(1));
    times.push(cpu_seconds());
    let phases = Vec::from_iter(times.windows(2).map(|pair| pair[1] - pair[0]));
    let [files, read, made, first] = phases[..] else { unreachable!("four phases") };
    println!(
        "{case:<12} {k:2} {threads:7} {:7} {files:7.2} {read:9.2} {made:10.2} {first:6.2} {:6.2} {:6}",
        scenario.config.flows.len(),
        phases.iter().sum::<f64>(),
        memory_max() >> 20,
    );
}

/// Writes the files of a case, and returns the one to begin with.
fn write(case: &str, k: u32, folder: &Path) -> PathBuf {
    let files = match case {
        "htsim" => vec![("flows.cm", matrix(k))],
        "hpcc" => {
            vec![
                ("config.txt", CONFIG.into()),
                ("flow.txt", hpcc_flows(k)),
                ("topology.txt", links(k)),
            ]
        }
        _ => vec![("case.toml", scenario(case, k)), ("flows.txt", rows(k))],
    };
    for (name, text) in &files {
        std::fs::write(folder.join(name), text).expect("room for a file");
    }
    folder.join(files[0].0)
}

/// Source, target, size in bytes and start in nanoseconds of all flows.
fn flows(k: u32) -> impl Iterator<Item = [u64; 4]> {
    let hosts = u64::from(k * k * k / 4);
    let mut state = 1_u64;
    let mut below = move |bound: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % bound
    };
    (0..FLOWS).map(move |number| {
        let source = below(hosts);
        let target = (source + 1 + below(hosts - 1)) % hosts;
        [source, target, 1_000 + below(1_000_000), number * 10]
    })
}

fn scenario(case: &str, k: u32) -> String {
    // So long that there are about as many flows.
    let duration = 226_000 * 32_u64.pow(3) / u64::from(k).pow(3);
    let mut text = format!(
        "duration = \"{duration} ns\"\n\
         [topology]\nkind = \"fat-tree\"\nk = {k}\nrate = \"100 Gbps\"\ndelay = \"1 us\"\n\
         [routing]\nkind = \"ecmp\"\n[switch]\nbuffer = \"400 KB\"\n\
         [flow_control]\nkind = \"pfc\"\n"
    );
    if case.ends_with("-cc") {
        text += "[congestion_control]\nkind = \"dcqcn\"\nack_every = 1\n";
    }
    text += match case.trim_end_matches("-cc") {
        "perm" => "[traffic]\nkind = \"permutation\"\n",
        "poisson" => {
            "[traffic]\nkind = \"poisson\"\nload = \"30 %\"\nsizes = \"pcn_w1_webserver\"\n"
        }
        "list" => "[traffic]\nkind = \"list\"\nfile = \"flows.txt\"\n",
        "flow" => "",
        _ => panic!("no case {case}; there are {CASES:?}"),
    };
    if case.starts_with("flow") {
        for [source, target, size, start] in flows(k) {
            let ends = format!("source = \"H{source}\"\ntarget = \"H{target}\"");
            let _ = writeln!(text, "[[flow]]\n{ends}\nsize = \"{size} B\"\nstart = \"{start} ns\"");
        }
    }
    text
}

fn rows(k: u32) -> String {
    let mut text = "source target size_bytes start_ns\n".to_string();
    for [source, target, size, start] in flows(k) {
        let _ = writeln!(text, "H{source} H{target} {size} {start}");
    }
    text
}

fn matrix(k: u32) -> String {
    let mut text = format!("Nodes {}\nConnections {FLOWS}\n", k * k * k / 4);
    for (id, [source, target, size, start]) in (1..).zip(flows(k)) {
        let _ = writeln!(text, "{source}->{target} id {id} start {start}000 size {size}");
    }
    text
}

fn hpcc_flows(k: u32) -> String {
    let mut text = format!("{FLOWS}\n");
    for [source, target, size, start] in flows(k) {
        let _ = writeln!(text, "{source} {target} 3 100 {size} 2.{start:09}");
    }
    text
}

/// A fat tree, link by link.
fn links(k: u32) -> String {
    let (half, hosts) = (k / 2, k * k * k / 4);
    let [edges, aggregations, cores] = [hosts, hosts + k * half, hosts + 2 * k * half];
    let mut links = Vec::new();
    for host in 0..hosts {
        links.push((host, edges + host / half));
    }
    for switch in 0..k * half {
        for port in 0..half {
            links.push((edges + switch, aggregations + switch / half * half + port));
            links.push((aggregations + switch, cores + switch % half * half + port));
        }
    }
    let nodes = cores + half * half;
    let mut text = format!("{nodes} {} {}\n", nodes - hosts, links.len());
    for switch in hosts..nodes {
        let _ = write!(text, "{switch} ");
    }
    text += "\n";
    for (from, to) in links {
        let _ = writeln!(text, "{from} {to} 100Gbps 1000ns 0");
    }
    text
}

const CONFIG: &str = "\
ENABLE_QCN 1
PACKET_PAYLOAD_SIZE 1000
TOPOLOGY_FILE topology.txt
FLOW_FILE flow.txt
FCT_OUTPUT_FILE fct.txt
PFC_OUTPUT_FILE pfc.txt
SIMULATOR_STOP_TIME 2.01
CC_MODE 1
ALPHA_RESUME_INTERVAL 1
RATE_DECREASE_INTERVAL 4
RP_TIMER 300
EWMA_GAIN 0.00390625
FAST_RECOVERY_TIMES 1
RATE_AI 8Mb/s
RATE_HAI 80Mb/s
MIN_RATE 100Mb/s
L2_ACK_INTERVAL 1
ACK_HIGH_PRIO 1
KMAX_MAP 1 100000000000 640
KMIN_MAP 1 100000000000 160
PMAX_MAP 1 100000000000 0.20
BUFFER_SIZE 32
";

fn cpu_seconds() -> f64 {
    let now = clock_gettime(ClockId::ProcessCPUTime);
    now.tv_sec as f64 + now.tv_nsec as f64 * 1e-9
}

/// The most memory that this process ever had, in bytes.
fn memory_max() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.split_whitespace().next());
    kib.and_then(|kib| kib.parse::<u64>().ok()).expect("a size") << 10
}
