//! Lists of hosts: `H3`, `H5..H9` in the order of the topology, and `H3@2` for the second address
//! of a host.

use pauseless_core::id::NodeId;
use pauseless_fabric::topology::Topology;

use pauseless_text::problem::{Problem, Sink};
use pauseless_text::reader::{At, did_you_mean};

/// Consecutive hosts, each by the address of the same number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostSpan {
    /// The place of the first in [`Topology::hosts`].
    pub first: usize,
    /// The place of the last.
    pub last: usize,
    /// The number of the address, from 1.
    pub address: usize,
}

/// InfiniBand gives a port up to 2^7 addresses.
const ADDRESSES_MAX: usize = 128;

impl HostSpan {
    /// Reads a text such as `H5..H9@2`, or reports.
    pub fn read(topology: &Topology, sink: &Sink, text: &At<String>) -> Option<HostSpan> {
        parse(topology, text).map_err(|problem| sink.push(*problem)).ok()
    }

    /// Reads a list of such texts. What is wrong is reported and left out.
    pub fn find_all(topology: &Topology, sink: &Sink, texts: &[At<String>]) -> Vec<At<HostSpan>> {
        let spans = texts.iter().filter_map(|text| {
            let value = HostSpan::read(topology, sink, text)?;
            let place = text.place.clone();
            Some(At { value, place })
        });
        spans.collect()
    }

    /// Where these hosts are in [`Topology::hosts`].
    pub fn places(self) -> impl Iterator<Item = usize> {
        self.first..=self.last
    }

    /// The texts that say the same, as few as possible.
    pub fn write(self, topology: &Topology) -> Vec<String> {
        let name = |place: usize| &topology.node(topology.hosts()[place]).name;
        let address = match self.address {
            1 => String::new(),
            number => format!("@{number}"),
        };
        let range = format!("{}..{}{address}", name(self.first), name(self.last));
        let text = At { value: range, place: Default::default() };
        // Two dots are legal in names, so a range may read as something else.
        if self.first < self.last && parse(topology, &text).ok() == Some(self) {
            return vec![text.value];
        }
        let single = |place| format!("{}{address}", name(place));
        self.places().map(single).collect()
    }
}

/// The place of the host called `name`.
fn find(topology: &Topology, name: &str) -> Option<usize> {
    let node = topology.node_named(name)?;
    topology.hosts().binary_search(&node).ok()
}

fn parse(topology: &Topology, text: &At<String>) -> Result<HostSpan, Box<Problem>> {
    let (names, address) = match text.value.split_once('@') {
        None => (text.value.as_str(), 1),
        Some((names, number)) => match number.parse() {
            Ok(number) if (1..=ADDRESSES_MAX).contains(&number) => (names, number),
            _ => {
                let problem = text.place.problem(format!("{number:?} is no number of an address"));
                let expected = format!("a whole number from 1 to {ADDRESSES_MAX} behind the @");
                return Err(Box::new(problem.expected(expected)));
            }
        },
    };
    if let Some(place) = find(topology, names) {
        return Ok(HostSpan { first: place, last: place, address });
    }
    let splits = (0..names.len()).filter(|at| names[*at..].starts_with(".."));
    let mut splits = splits.map(|at| (&names[..at], &names[at + 2..])).peekable();
    let Some(&(left, right)) = splits.peek() else {
        return Err(Box::new(not_a_host(topology, text, names)));
    };
    let found = splits.find_map(|(a, b)| find(topology, a).zip(find(topology, b)));
    match found {
        Some((first, last)) if first <= last => Ok(HostSpan { first, last, address }),
        Some(_) => {
            let problem = text.place.problem(format!("{left} comes after {right} in the topology"));
            Err(Box::new(problem.help(format!("write {right}..{left}"))))
        }
        None => {
            let wrong = match find(topology, left) {
                Some(_) => right,
                None => left,
            };
            Err(Box::new(not_a_host(topology, text, wrong)))
        }
    }
}

fn not_a_host(topology: &Topology, text: &At<String>, name: &str) -> Problem {
    if topology.node_named(name).is_some() {
        return text.place.problem(format!("{name} is a switch")).expected("a host");
    }
    let problem = text.place.problem(format!("there is no host {name:?}"));
    let names = topology.hosts().iter().map(|host| topology.node(*host).name.as_str());
    let ends = name
        .split_once('-')
        .filter(|(a, b)| [a, b].iter().all(|it| names.clone().any(|host| host == **it)));
    problem.help(match (ends, numbered(names.clone())) {
        (Some((first, last)), _) => format!("a range is written {first}..{last}"),
        (None, Some(all)) => format!("hosts are {all}"),
        (None, None) => did_you_mean(name, names),
    })
}

/// The first and the last of many names that differ by a number alone: any of these resembles any
/// other.
fn numbered<'n>(mut names: impl DoubleEndedIterator<Item = &'n str> + Clone) -> Option<String> {
    let stem = |name: &'n str| name.trim_end_matches(|letter: char| letter.is_ascii_digit());
    let all = names.clone();
    let (first, last) = (names.next()?, names.next_back()?);
    let is_alike = |name: &str| name.len() > stem(first).len() && name.starts_with(stem(first));
    let is_number = |name: &'n str| is_alike(name) && stem(name) == stem(first);
    let is_many = names.next().is_some();
    (is_many && all.into_iter().all(is_number)).then(|| format!("{first}..{last}"))
}

/// The switch called `name`, or a report.
pub fn find_switch(topology: &Topology, sink: &Sink, name: &At<String>) -> Option<NodeId> {
    let problem = match topology.node_named(&name.value) {
        Some(node) if !topology.is_host(node) => return Some(node),
        Some(_) => name.place.problem(format!("{} is a host", name.value)).expected("a switch"),
        None => {
            let message = format!("there is no switch {:?}", name.value);
            let switches = topology.switches().iter();
            let names = switches.map(|switch| topology.node(*switch).name.as_str());
            let help = did_you_mean(&name.value, names);
            name.place.problem(message).help(help)
        }
    };
    sink.push(problem);
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use pauseless_core::unit::{Rate, Span};
    use pauseless_fabric::builder::TopologyBuilder;
    use pauseless_fabric::topology::LinkSpec;

    fn star(hosts: &[&str]) -> Topology {
        let mut builder = TopologyBuilder::new();
        let switch = builder.add_switch("S1");
        for host in hosts {
            let host = builder.add_host(*host);
            let (rate, delay) = (Rate::gbps(10), Span::us(1));
            builder.connect(switch, host, LinkSpec { rate, delay });
        }
        builder.build().unwrap()
    }

    fn read(topology: &Topology, text: &str) -> Result<(usize, usize, usize), String> {
        let text = At { value: text.to_string(), place: Default::default() };
        match parse(topology, &text) {
            Ok(span) => Ok((span.first, span.last, span.address)),
            Err(problem) => Err(format!("{} | {}", problem.message, problem.help)),
        }
    }

    #[test]
    fn spans_are_read() {
        let topology = star(&["H1", "H2", "H3"]);
        let cases = [
            ("H2", Ok((1, 1, 1))),
            ("H1..H3", Ok((0, 2, 1))),
            ("H2..H2", Ok((1, 1, 1))),
            ("H1..H2@4", Ok((0, 1, 4))),
            ("H3..H1", Err("H3 comes after H1 in the topology | write H1..H3")),
            ("H1..H9", Err("there is no host \"H9\" | hosts are H1..H3")),
            ("H..H3", Err("there is no host \"H\" | hosts are H1..H3")),
            ("H1-H3", Err("there is no host \"H1-H3\" | a range is written H1..H3")),
            ("S1", Err("S1 is a switch | ")),
            ("H1@0", Err("\"0\" is no number of an address | ")),
            ("H1@two", Err("\"two\" is no number of an address | ")),
            ("", Err("there is no host \"\" | hosts are H1..H3")),
        ];
        for (text, expected) in cases {
            assert_eq!(read(&topology, text), expected.map_err(str::to_string), "{text}");
        }
    }

    #[test]
    fn ranges_that_read_as_something_else_are_written_one_by_one() {
        let topology = star(&["a", "b", "a..b", "c.", "c", ".d", "d"]);
        for (first, last) in [(0, 0), (0, 1), (0, 4), (3, 5), (3, 6), (4, 5), (4, 6)] {
            let span = HostSpan { first, last, address: 2 };
            let mut places = Vec::new();
            for text in span.write(&topology) {
                let (first, last, address) = read(&topology, &text).unwrap();
                assert_eq!(address, 2);
                places.extend(first..=last);
            }
            assert_eq!(places, Vec::from_iter(first..=last));
        }
        let span = HostSpan { first: 0, last: 1, address: 1 };
        assert_eq!(span.write(&topology), ["a", "b"]);
    }
}
