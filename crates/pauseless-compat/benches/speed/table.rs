//! One run as a line, and the table.

use std::fmt;

use crate::cases::Case;

/// What was measured of one run.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    pub hosts: usize,
    pub threads: usize,
    pub hops: u64,
    pub events: u64,
    /// CPU seconds of the simulation itself, over all threads.
    pub cpu: f64,
    /// Seconds of the simulation itself.
    pub wall: f64,
    /// The most memory that the process had, in bytes, from reading the scenario on.
    pub memory: u64,
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Row { hosts, threads, hops, events, cpu, wall, memory } = self;
        write!(f, "{hosts} {threads} {hops} {events} {cpu} {wall} {memory}")
    }
}

impl Row {
    /// The opposite of `Display`.
    pub fn parse(text: &str) -> Row {
        let mut words = text.split_whitespace();
        let mut next = || words.next().expect("seven numbers");
        Row {
            hosts: next().parse().expect("a number"),
            threads: next().parse().expect("a number"),
            hops: next().parse().expect("a number"),
            events: next().parse().expect("a number"),
            cpu: next().parse().expect("a number"),
            wall: next().parse().expect("a number"),
            memory: next().parse().expect("a number"),
        }
    }
}

pub fn print_head() {
    println!(
        "{:<18} {:>6} {:>7} {:>12} {:>12} {:>12} {:>8} {:>8} {:>8} {:>9}",
        "case",
        "hosts",
        "threads",
        "packet-hops",
        "hops/cpu s",
        "events/cpu s",
        "wall s",
        "speedup",
        "memory",
        "peer"
    );
}

/// `single` is the time with one thread, `peer` how much more a hop costs the peer.
pub fn print_row(case: &Case, row: &Row, single: f64, peer: Option<f64>) {
    let peer = peer.map_or(String::new(), |ratio| format!("{ratio:.1}x"));
    println!(
        "{:<18} {:>6} {:>7} {:>12} {:>11.2}M {:>11.2}M {:>8.2} {:>7.2}x {:>5} MB {peer:>9}",
        case.name,
        row.hosts,
        row.threads,
        row.hops,
        row.hops as f64 / row.cpu / 1e6,
        row.events as f64 / row.cpu / 1e6,
        row.wall,
        single / row.wall,
        row.memory >> 20,
    );
}
