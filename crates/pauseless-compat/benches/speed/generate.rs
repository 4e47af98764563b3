//! Files of other simulators for cases too large to be kept: traffic matrices of htsim, and a
//! configuration, fabric and flows for the HPCC authors' simulator. The same for every run.

use std::fmt::Write;

/// A traffic matrix of htsim in which every host sends `size` bytes to another one, and every host
/// receives from one.
pub fn permutation(hosts: u64, size: u64) -> String {
    let mut targets = Vec::from_iter(0..hosts);
    let mut random = Random(1);
    // Sattolo's shuffle makes a single cycle, so nobody sends to itself.
    for last in (1..targets.len()).rev() {
        targets.swap(last, random.below(last as u64) as usize);
    }
    matrix(hosts, size, (0..).zip(targets))
}

/// A traffic matrix of htsim in which the last `senders` hosts send `size` bytes each to the first.
pub fn incast(hosts: u64, senders: u64, size: u64) -> String {
    matrix(hosts, size, (hosts - senders..hosts).map(|source| (source, 0)))
}

fn matrix(hosts: u64, size: u64, pairs: impl Iterator<Item = (u64, u64)>) -> String {
    let mut lines = String::new();
    let mut count = 0;
    for (source, target) in pairs {
        count += 1;
        writeln!(lines, "{source}->{target} id {count} start 0 size {size}").expect(TO_MEMORY);
    }
    format!("Nodes {hosts}\nConnections {count}\n{lines}")
}

/// Hosts of the fabric that [`websearch`] describes.
pub const HOSTS: u64 = 320;
const PODS: u64 = 5;
const RACKS: u64 = 20;
const SPINES: u64 = 16;

/// The files of the HPCC authors' simulator for 320 hosts at 100 Gb/s, 16 to a rack, below 20
/// aggregation switches and 16 spines at 400 Gb/s. Flows with the sizes of a web search arrive for
/// `us` microseconds and use 30 % of the hosts' links; DCQCN and PFC with the parameters of `config`.
pub fn websearch(config: &str, us: u64) -> [(&'static str, String); 4] {
    let replaced = |line: &str| {
        let (key, _) = line.split_once(' ').unwrap_or((line, ""));
        let value = match key {
            "KMAX_MAP" => "2 100000000000 1600 400000000000 6400",
            "KMIN_MAP" => "2 100000000000 400 400000000000 1600",
            "PMAX_MAP" => "2 100000000000 0.20 400000000000 0.20",
            _ => return format!("{line}\n"),
        };
        format!("{key} {value}\n")
    };
    [
        ("config.txt", config.lines().map(replaced).collect()),
        ("topology.txt", topology()),
        ("flow.txt", flows(us)),
        ("trace.txt", "0\n".to_string()),
    ]
}

/// Hosts come first, then racks, aggregation switches (four for the four racks of a pod) and spines.
fn topology() -> String {
    let [racks, aggregations, spines] = [HOSTS, HOSTS + RACKS, HOSTS + 2 * RACKS];
    let mut links = Vec::new();
    for host in 0..HOSTS {
        links.push((host, racks + host * RACKS / HOSTS, 100));
    }
    let per_pod = RACKS / PODS;
    for rack in 0..RACKS {
        let first = rack / per_pod * per_pod;
        for aggregation in first..first + per_pod {
            links.push((racks + rack, aggregations + aggregation, 400));
        }
        for spine in rack % per_pod * per_pod..(rack % per_pod + 1) * per_pod {
            links.push((aggregations + rack, spines + spine, 400));
        }
    }
    let nodes = spines + SPINES;
    let mut text = format!("{nodes} {} {}\n", nodes - HOSTS, links.len());
    let switches = Vec::from_iter((HOSTS..nodes).map(|switch| switch.to_string()));
    writeln!(text, "{}", switches.join(" ")).expect(TO_MEMORY);
    for (a, b, gbps) in links {
        writeln!(text, "{a} {b} {gbps}Gbps 1000ns 0").expect(TO_MEMORY);
    }
    text
}

fn flows(us: u64) -> String {
    let mut random = Random(2);
    let points = WEBSEARCH.lines().filter(|line| !line.starts_with('#')).map(|line| {
        let (size, share) = line.split_once(' ').expect("two columns");
        (size.parse::<f64>().expect("a size"), share.parse::<f64>().expect("a share"))
    });
    let points = Vec::from_iter(points);
    let sizes = Vec::from_iter((0..SIZES).map(|_| random_size(&mut random, &points)));
    let mean = sizes.iter().sum::<u64>() / SIZES;
    // 30 % of 320 links of 12,500 bytes per microsecond.
    let count = us * HOSTS * 3_750 / mean;
    let mut text = format!("{count}\n");
    for (flow, size) in (0..count).zip(sizes.into_iter().cycle()) {
        let source = random.below(HOSTS);
        let target = (source + 1 + random.below(HOSTS - 1)) % HOSTS;
        // That simulator's runs begin at two seconds.
        let start = 2_000_000_000 + flow * us * 1_000 / count;
        let (seconds, ns) = (start / 1_000_000_000, start % 1_000_000_000);
        writeln!(text, "{source} {target} 3 100 {size} {seconds}.{ns:09}").expect(TO_MEMORY);
    }
    text
}

/// So many sizes are drawn, so that their mean is close to that of the distribution.
const SIZES: u64 = 10_000;

/// A size by straight lines between the points of a distribution, sizes and shares.
fn random_size(random: &mut Random, points: &[(f64, f64)]) -> u64 {
    let drawn = random.below(1_000_000) as f64 / 1e6;
    // The last share is 1, which no number drawn is.
    let above = points.partition_point(|(_, share)| *share <= drawn);
    let [(size, share), (next, more)] = [points[above - 1], points[above]];
    (size + (drawn - share) / (more - share) * (next - size)).max(1.0) as u64
}

const WEBSEARCH: &str = include_str!("../../../pauseless-scenario/src/traffic/cdf/websearch.txt");

/// SplitMix64: few lines, and good enough to choose hosts and sizes.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % limit
    }
}

const TO_MEMORY: &str = "a string takes all that is written to it";
