//! One run as a line, and the table.

use std::fmt;

use crate::cases::Case;
use crate::peers::Cost;

/// What was measured of one run.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    pub hosts: usize,
    pub threads: usize,
    /// The threads that a run has without `--threads`, on this machine.
    pub chosen: usize,
    pub hops: u64,
    /// CPU seconds before the simulation: reading files, finding paths.
    pub setup: f64,
    /// CPU seconds of the simulation itself, over all threads.
    pub cpu: f64,
    /// Seconds of the simulation itself.
    pub wall: f64,
    /// The most memory that the process had, in bytes, from reading the files on.
    pub memory: u64,
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Row { hosts, threads, chosen, hops, setup, cpu, wall, memory } = self;
        write!(f, "{hosts} {threads} {chosen} {hops} {setup} {cpu} {wall} {memory}")
    }
}

impl Row {
    /// The opposite of `Display`.
    pub fn parse(text: &str) -> Row {
        let mut words = text.split_whitespace();
        let mut next = || words.next().expect("eight numbers");
        Row {
            hosts: next().parse().expect("a number"),
            threads: next().parse().expect("a number"),
            chosen: next().parse().expect("a number"),
            hops: next().parse().expect("a number"),
            setup: next().parse().expect("a number"),
            cpu: next().parse().expect("a number"),
            wall: next().parse().expect("a number"),
            memory: next().parse().expect("a number"),
        }
    }

    /// What a packet-hop costs the peer, as a multiple of what it costs us. A peer that does not say
    /// how many hops it made is a whole program, so our setup counts as its own does.
    fn ratio(&self, peer: &Cost) -> f64 {
        let (hops, ours) = match peer.hops {
            Some(hops) => (hops, self.cpu),
            None => (self.hops, self.setup + self.cpu),
        };
        (peer.cpu / hops as f64) / (ours / self.hops as f64)
    }
}

pub fn print_head() {
    println!(
        "{:<18} {:>6} {:>7} {:>11} {:>10} {:>7} {:>8} {:>7} {:>8} {:>8} {:>10} {:>7}",
        "case",
        "hosts",
        "threads",
        "hops",
        "hops/cpu s",
        "ns/hop",
        "setup s",
        "wall s",
        "speedup",
        "memory",
        "peer cpu s",
        "ratio"
    );
}

/// `single` is the time with one thread.
pub fn print_row(case: &Case, row: &Row, single: f64, peer: Option<Cost>) {
    let peer = peer
        .map_or(String::new(), |cost| format!(" {:>10.2} {:>6.1}x", cost.cpu, row.ratio(&cost)));
    let mark = if row.threads == row.chosen { "*" } else { "" };
    println!(
        "{:<18} {:>6} {:>7} {:>11} {:>9.2}M {:>7.1} {:>8.2} {:>7.2} {:>7.2}x {:>5} MB{peer}",
        case.name,
        row.hosts,
        format!("{}{mark}", row.threads),
        row.hops,
        row.hops as f64 / row.cpu / 1e6,
        row.cpu / row.hops as f64 * 1e9,
        row.setup,
        row.wall,
        single / row.wall,
        row.memory >> 20,
    );
}
