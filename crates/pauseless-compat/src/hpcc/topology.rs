//! `topology.txt`: how many nodes, switches and links; the switches; the links.

use pauseless_core::unit::{Rate, Span};

use super::units;
use pauseless_text::lex::{Text, Word, Words};
use pauseless_text::problem::Sink;
use pauseless_text::reader::Place;

/// The nodes and links of a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Topology {
    /// By number, whether it is a switch.
    pub is_switch: Vec<bool>,
    /// The links that carry something, in the order of the file.
    pub links: Vec<Link>,
    /// All of them, also those that carry nothing.
    pub wired: Vec<Link>,
    /// How many links were left out because a later one joins the same two nodes.
    pub collapsed: usize,
}

/// A line of the file.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Link {
    pub ends: [usize; 2],
    /// The number of the interface at each end, from 1.
    pub interfaces: [u32; 2],
    pub rate: Rate,
    pub delay: Span,
    /// The probability that a packet is lost.
    pub loss: f64,
    /// The place at which the link was written.
    pub place: Place,
}

/// Addresses have 16 bits for the number of a node.
const NODES_MAX: u64 = 65_536;
/// The most links: more than any network of so many nodes has.
const LINKS_MAX: u64 = 1 << 24;

impl Topology {
    /// Reads the text; what is wrong goes to `sink`.
    pub(super) fn parse(text: Text<'_>, sink: &Sink) -> Topology {
        let before = sink.count();
        let mut words = Words::new(text);
        let mut header = Vec::new();
        while let Some(word) = if header.is_empty() { words.next() } else { words.next_on_line() } {
            header.push(word);
        }
        let Some((node_count, switch_count, link_count)) = read_header(text, &header, sink) else {
            return Topology::default();
        };
        let mut topology = Topology { is_switch: vec![false; node_count], ..Topology::default() };
        for _ in 0..switch_count {
            let Some(word) = words.next() else {
                missing(text, "the number of a switch", sink);
                return topology;
            };
            topology.add_switch(&word, sink);
            if sink.count() > before {
                // All that follows would be taken for something else, too.
                return topology;
            }
        }
        let mut interfaces = vec![0; node_count];
        for number in 0..link_count {
            let Some(row) = take_row(&mut words) else {
                missing(text, &format!("link {} of {link_count}", number + 1), sink);
                break;
            };
            let own = Sink::default();
            if let Some(link) = topology.read_link(&row, &mut interfaces, &own) {
                topology.links.push(link);
            }
            let wrong = own.into_list();
            let is_across = text.text[row[0].at().start..row[4].at().end].contains('\n');
            if is_across && !wrong.is_empty() {
                let problem =
                    row[0].problem(format!("link {} begins inside of a line", number + 1));
                sink.push(problem.help(
                    "the first line says how many nodes, switches and links there are: one of these \
                     numbers does not fit what follows",
                ));
                break;
            }
            wrong.into_iter().for_each(|problem| sink.push(problem));
        }
        topology.collapse();
        if sink.count() == before {
            topology.check_hosts(text, sink);
        }
        topology
    }

    fn add_switch(&mut self, word: &Word<'_>, sink: &Sink) {
        let last = self.is_switch.len().saturating_sub(1) as u64;
        let Some(id) = sink.take(word.integer(0..=last)) else {
            return;
        };
        let is_switch = &mut self.is_switch[id as usize];
        if *is_switch {
            let problem = word.problem(format!("switch {id} stands here twice"));
            sink.push(problem.help("name each switch once; is the number of switches right?"));
        }
        *is_switch = true;
    }

    fn read_link(&mut self, row: &[Word<'_>; 5], count: &mut [u32], sink: &Sink) -> Option<Link> {
        let last = self.is_switch.len().saturating_sub(1) as u64;
        let [a, b, rate, delay, loss] = row;
        let ends = [a, b].map(|end| sink.take(end.integer(0..=last)));
        let (rate, delay) = (sink.take(units::rate(rate)), sink.take(units::span(delay)));
        let loss = sink.take(loss.number()).filter(|share| {
            let is_share = *share < 1.0;
            if !is_share {
                let problem = loss.problem(format!("{share} is no share of packets"));
                sink.push(problem.expected("0 or more, and less than 1"));
            }
            is_share
        });
        let [Some(first), Some(second)] = ends else {
            return None;
        };
        let ends = [first as usize, second as usize];
        if first == second {
            let problem = b.problem(format!("a link joins {first} to itself"));
            sink.push(problem.help("a link joins two different nodes"));
            return None;
        }
        if ends.iter().all(|end| !self.is_switch[*end]) {
            let problem = b.problem(format!("a link joins the hosts {first} and {second}"));
            sink.push(problem.help("hosts do not forward: put a switch between them"));
            return None;
        }
        let interfaces = ends.map(|end| {
            count[end] += 1;
            count[end]
        });
        Some(Link {
            ends,
            interfaces,
            rate: rate?,
            delay: delay?,
            loss: loss?,
            place: a.place("").to_end(row[4].at().end),
        })
    }

    /// Leaves out links that carry nothing.
    fn collapse(&mut self) {
        let mut last = std::collections::BTreeMap::new();
        for (number, link) in self.links.iter().enumerate() {
            let [a, b] = link.ends;
            last.insert((a.min(b), a.max(b)), number);
        }
        self.wired = self.links.clone();
        let before = self.links.len();
        let mut number = 0;
        self.links.retain(|link| {
            let [a, b] = link.ends;
            number += 1;
            last[&(a.min(b), a.max(b))] == number - 1
        });
        self.collapsed = before - self.links.len();
    }

    /// Refuses hosts that do not have exactly one link.
    fn check_hosts(&self, text: Text<'_>, sink: &Sink) {
        let mut counts = vec![0; self.is_switch.len()];
        for end in self.links.iter().flat_map(|link| link.ends) {
            counts[end] += 1;
        }
        for (node, count) in counts.iter().enumerate() {
            if !self.is_switch[node] && *count != 1 {
                let first_line = text.text.find('\n').unwrap_or(text.text.trim_end().len());
                let problem = text.problem(0..first_line, format!("host {node} has {count} links"));
                sink.push(problem.help("a host has one link here; is it meant to be a switch?"));
            }
        }
    }

    /// The rate of the first host's link, which thresholds are scaled by.
    pub(super) fn nic_rate(&self) -> Option<Rate> {
        let host = self.is_switch.iter().position(|is_switch| !is_switch)?;
        Some(self.links.iter().find(|link| link.ends.contains(&host))?.rate)
    }
}

/// Nodes, switches and links; ns3-datacenter has the number of top-of-rack switches after the
/// second.
fn read_header(text: Text<'_>, header: &[Word<'_>], sink: &Sink) -> Option<(usize, usize, usize)> {
    let (nodes, switches, links) = match header {
        [] => {
            missing(text, "the numbers of nodes, switches and links", sink);
            return None;
        }
        [nodes, switches, links] | [nodes, switches, _, links] => (nodes, switches, links),
        [first, ..] => {
            let problem = first.problem(format!("{} numbers stand here", header.len()));
            let expected = "nodes, switches and links, or nodes, switches, racks and links";
            sink.push(problem.expected(expected));
            return None;
        }
    };
    let nodes = sink.take(nodes.integer(0..=NODES_MAX));
    let most = nodes.unwrap_or(NODES_MAX);
    let switches = sink.take(switches.integer(0..=most));
    let links = sink.take(links.integer(0..=LINKS_MAX));
    Some((nodes? as usize, switches? as usize, links? as usize))
}

/// Five words, if there are so many left.
fn take_row<'t>(words: &mut Words<'t>) -> Option<[Word<'t>; 5]> {
    Vec::from_iter(words.take(5)).try_into().ok()
}

fn missing(text: Text<'_>, what: &str, sink: &Sink) {
    let problem = text.problem_at_end(format!("the file ends before {what}"));
    sink.push(problem.help("the first line says how many switches and links there are"));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(text: &str) -> Vec<String> {
        let sink = Sink::default();
        Topology::parse(text.into(), &sink);
        sink.into_list().into_iter().map(|problem| problem.message).collect()
    }

    #[test]
    fn links_have_interfaces_in_the_order_of_the_file_and_the_last_of_parallel_ones_counts() {
        let text = "4 2 4\n2 3\n0 2 100Gbps 1us 0\n2 3 100Gbps 1us 0\n1 3 40Gbps 1us 0\n3 2 400Gbps 2us 0\ntrailing text\n";
        let sink = Sink::default();
        let topology = Topology::parse(text.into(), &sink);
        assert!(sink.is_empty());
        assert_eq!(topology.is_switch, [false, false, true, true]);
        assert_eq!(topology.collapsed, 1);
        let links = Vec::from_iter(topology.links.iter().map(|link| (link.ends, link.interfaces)));
        assert_eq!(links, [([0, 2], [1, 1]), ([1, 3], [1, 2]), ([3, 2], [3, 3])]);
        assert_eq!(topology.nic_rate(), Some(Rate::gbps(100)));
    }

    #[test]
    fn a_count_of_racks_is_skipped_and_bare_numbers_are_rates() {
        let text = "3 1 1 2\n2\n0 2 25000000000 1us 0\n1 2 25000000000 1us 0\n";
        let sink = Sink::default();
        let topology = Topology::parse(text.into(), &sink);
        assert!(sink.is_empty());
        assert_eq!(topology.nic_rate(), Some(Rate::gbps(25)));
    }

    #[test]
    fn hostile_files_are_refused_with_all_their_problems() {
        assert_eq!(problems(""), ["the file ends before the numbers of nodes, switches and links"]);
        assert_eq!(problems("4294967295 1 1\n"), ["\"4294967295\" is out of place"]);
        assert_eq!(
            problems("3 1 16777216\n2\n0 2 1Gbps 1us 0\n"),
            ["the file ends before link 2 of 16777216"]
        );
        assert_eq!(
            problems("3 2 2\n2 2\n0 2 1Gbps 1us 0\n1 1 0Gbps -1us 2\n"),
            ["switch 2 stands here twice"]
        );
        assert_eq!(
            problems("3 1 2\n2\n0 2 1Gbps 1us 0\n1 1 0Gbps -1us 2\n"),
            [
                "\"0Gbps\" is no rate of a link",
                "\"-1us\" is no delay of a link",
                "2 is no share of packets",
                "a link joins 1 to itself"
            ]
        );
        assert_eq!(
            problems("3 1 2\n2\n0 1 1Gbps 1us 0\n9 x 1Gbps 1us nan\n"),
            [
                "a link joins the hosts 0 and 1",
                "\"9\" is out of place",
                "\"x\" is out of place",
                "\"nan\" is out of place"
            ]
        );
        assert_eq!(
            problems("4 1 3\n3\n0 3 1Gbps 1us 0\n1 3 1Gbps 1us 0\n"),
            ["the file ends before link 3 of 3"]
        );
        assert_eq!(
            problems("4 1 2\n3\n0 3 1Gbps 1us 0\n1 3 1Gbps 1us 0\n"),
            ["host 2 has 0 links"]
        );
    }
}
