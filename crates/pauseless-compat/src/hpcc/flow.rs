//! `flow.txt`: how many flows, then one line for each.

use std::collections::BTreeMap;

use crate::replica::clock;

use pauseless_text::lex::{Text, Word, Words};
use pauseless_text::problem::Sink;

/// A line of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Flow {
    pub source: usize,
    pub target: usize,
    /// The number of the priority group, which becomes the class.
    pub group: u8,
    pub source_port: u16,
    pub target_port: u16,
    /// The number of payload bytes.
    pub size: u32,
    /// The start of the flow in nanoseconds.
    pub start: u64,
    /// The bytes at which the line begins and ends.
    pub at: (u32, u32),
}

/// Whether lines say the port of the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ports {
    /// They do; that of the source counts the flows between two hosts.
    Written,
    /// They do not, as in conweave: both count the flows of a host.
    Counted,
}

impl Ports {
    /// The port of a host's first flow.
    const SOURCE: u16 = 10_000;
    const TARGET: u16 = 100;

    /// How many words a line has.
    pub(super) fn column_count(self) -> usize {
        match self {
            Ports::Written => 6,
            Ports::Counted => 5,
        }
    }
}

/// Reads the text, for nodes of which some are switches. A later flow never starts earlier in these
/// simulators: they wait for the next line, whatever comes after it.
pub(super) fn parse(text: Text<'_>, ports: Ports, is_switch: &[bool], sink: &Sink) -> Vec<Flow> {
    let mut words = Words::new(text);
    let Some(count) = words.next() else {
        let problem = text.problem_at_end("the file is empty");
        sink.push(problem.help("the first line says how many flows there are"));
        return Vec::new();
    };
    let Some(count) = sink.take(count.integer(0..=u64::from(u32::MAX))) else {
        return Vec::new();
    };
    let mut reader =
        Reader { ports, is_switch, sink, from: BTreeMap::new(), to: BTreeMap::new(), last: 0 };
    let mut flows = Vec::new();
    for number in 0..count {
        let row = Vec::from_iter(words.by_ref().take(ports.column_count()));
        if row.len() < ports.column_count() {
            let message = format!("the file ends before flow {} of {count}", number + 1);
            let problem = text.problem_at_end(message);
            sink.push(problem.help("the first line says how many flows there are"));
            break;
        }
        flows.extend(reader.flow(&row));
    }
    flows
}

struct Reader<'r> {
    ports: Ports,
    is_switch: &'r [bool],
    sink: &'r Sink,
    /// The flows so far between two hosts, or with counted ports from a host.
    from: BTreeMap<(usize, usize), u16>,
    to: BTreeMap<usize, u16>,
    last: u64,
}

impl Reader<'_> {
    fn flow(&mut self, row: &[Word<'_>]) -> Option<Flow> {
        let sink = self.sink;
        let ends = [0, 1].map(|column| self.host(&row[column]));
        let group = sink.take(row[2].integer(0..=7));
        if group == Some(0) {
            let problem = row[2].problem("priority group 0 is never counted or paused there");
            sink.push(problem.expected("a group from 1 to 7"));
        }
        let (port, rest) = match self.ports {
            Ports::Written => (sink.take(row[3].integer(0..=u64::from(u16::MAX))), &row[4..]),
            Ports::Counted => (Some(0), &row[3..]),
        };
        let size = sink.take(rest[0].integer(0..=u64::from(u32::MAX)));
        let start = self.start(&rest[1]);
        let [Some(source), Some(target)] = ends else {
            return None;
        };
        if source == target {
            let problem = row[1].problem(format!("a flow from {source} to itself"));
            sink.push(problem.help("choose another target"));
            return None;
        }
        if size == Some(0) {
            let problem = rest[0].problem("a flow of no bytes");
            sink.push(problem.help("it would never finish; write at least 1"));
            return None;
        }
        let (source_port, counted) = self.count(source, target);
        Some(Flow {
            source,
            target,
            group: group? as u8,
            source_port,
            target_port: match self.ports {
                Ports::Written => port? as u16,
                Ports::Counted => counted,
            },
            size: size? as u32,
            start: start?,
            at: (row[0].start as u32, rest[1].at().end as u32),
        })
    }

    /// The ports of one more flow.
    fn count(&mut self, source: usize, target: usize) -> (u16, u16) {
        let from = match self.ports {
            Ports::Written => (source, target),
            Ports::Counted => (source, 0),
        };
        let from = self.from.entry(from).or_insert(Ports::SOURCE);
        let to = self.to.entry(target).or_insert(Ports::TARGET);
        let ports = (*from, *to);
        // They have 16 bits there, too.
        (*from, *to) = (from.wrapping_add(1), to.wrapping_add(1));
        ports
    }

    fn host(&self, word: &Word<'_>) -> Option<usize> {
        let last = self.is_switch.len().saturating_sub(1) as u64;
        let id = self.sink.take(word.integer(0..=last))? as usize;
        if self.is_switch.get(id) != Some(&false) {
            let problem = word.problem(format!("node {id} is a switch"));
            self.sink.push(problem.help("flows go from host to host"));
            return None;
        }
        Some(id)
    }

    fn start(&mut self, word: &Word<'_>) -> Option<u64> {
        let seconds = self.sink.take(word.number())?;
        if seconds > SECONDS_MAX {
            let problem = word.problem(format!("{seconds} s is later than a day"));
            self.sink.push(problem.expected("a start within a day"));
            return None;
        }
        let start = clock::seconds(seconds);
        if start < self.last {
            let problem = word.problem("an earlier start than in the line before");
            let help = "sort the lines by their start: that simulator waits for each line in turn, \
                        and would never start this flow";
            self.sink.push(problem.help(help));
            return None;
        }
        self.last = start;
        Some(start)
    }
}

const SECONDS_MAX: f64 = 86_400.0;

#[cfg(test)]
mod tests {
    use super::*;

    const NODES: [bool; 4] = [false, false, false, true];

    pub fn read(text: &str, ports: Ports) -> (Vec<Flow>, Vec<String>) {
        let sink = Sink::default();
        let flows = parse(text.into(), ports, &NODES, &sink);
        let list = sink.into_list().into_iter();
        (flows, list.map(|problem| problem.message).collect())
    }

    #[test]
    fn ports_are_counted_as_the_simulators_do() {
        let text = "3\n0 1 3 100 5000 2.0\n0 1 3 200 1 2.0\n0 2 3 100 7 2.1\nand the rest";
        let (flows, problems) = read(text, Ports::Written);
        assert!(problems.is_empty());
        let ports = |flow: &Flow| (flow.source_port, flow.target_port);
        let ports_of = Vec::from_iter(flows.iter().map(ports));
        assert_eq!(ports_of, [(10_000, 100), (10_001, 200), (10_000, 100)]);
        let text = "3\n0 1 3 5000 2.0\n0 2 3 1 2.0\n2 1 3 7 2.1\n";
        let (flows, problems) = read(text, Ports::Counted);
        assert!(problems.is_empty());
        let ports_of = Vec::from_iter(flows.iter().map(ports));
        assert_eq!(ports_of, [(10_000, 100), (10_001, 100), (10_000, 101)]);
    }

    #[test]
    fn hostile_lines_are_refused_each_with_its_reason() {
        let one = |row: &str| read(&format!("1\n{row}\n"), Ports::Written).1;
        assert_eq!(one("3 1 3 100 5 2"), ["node 3 is a switch"]);
        assert_eq!(one("0 9 3 100 5 2"), ["\"9\" is out of place"]);
        assert_eq!(one("0 0 3 100 5 2"), ["a flow from 0 to itself"]);
        assert_eq!(one("0 1 8 100 5 2"), ["\"8\" is out of place"]);
        assert_eq!(one("0 1 3 100 4294967296 2"), ["\"4294967296\" is out of place"]);
        assert_eq!(one("0 1 3 100 0 2"), ["a flow of no bytes"]);
        assert_eq!(one("0 1 3 100 5 -2"), ["\"-2\" is out of place"]);
        assert_eq!(one("0 1 3 100 5 NaN"), ["\"NaN\" is out of place"]);
        assert_eq!(one("0 1 3 100 5 1e9"), ["1000000000 s is later than a day"]);
        assert_eq!(one("0 1 3 100 5"), ["the file ends before flow 1 of 1"]);
        let late = "2\n0 1 3 100 5 2.5\n0 1 3 100 5 2.4\n";
        let late = read(late, Ports::Written).1;
        assert_eq!(late, ["an earlier start than in the line before"]);
        let many = read("4000000000\n0 1 3 100 5 2.5\n", Ports::Written).1;
        assert_eq!(many, ["the file ends before flow 2 of 4000000000"]);
    }
}
