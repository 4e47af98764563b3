//! What a section is about: port names with `*`, such as `S*:H*`, and numbers of classes.

use pauseless_core::id::{Class, NodeId, PortId};
use pauseless_fabric::pattern::matches;
use pauseless_fabric::topology::Topology;

use pauseless_text::declare::{FileValue, Key, Kind, List};
use pauseless_text::problem::Sink;
use pauseless_text::reader::{At, Item, Section, whole_numbers};

/// The number of a class. How many classes there are is known only when `[switch]` was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ClassNumber(pub u64);

impl FileValue for ClassNumber {
    type Limit = ();

    fn take(item: Item<'_>, (): &()) -> Option<At<ClassNumber>> {
        let At { value, place } = item.integer(0..=u64::MAX)?;
        let value = ClassNumber(value);
        Some(At { value, place })
    }

    fn kind((): &()) -> Kind {
        Kind::Integer { low: 0, high: Class::COUNT_MAX as u64 - 1 }
    }

    fn show(&self) -> String {
        self.0.to_string()
    }
}

/// Reports the classes of `section` that the switches do not have.
pub fn check_classes(classes: Option<&List<ClassNumber>>, class_count: u8, section: &Section<'_>) {
    let range = 0..=u64::from(class_count) - 1;
    for At { value, place } in classes.into_iter().flatten() {
        if !range.contains(&value.0) {
            let problem = place.problem(format!("{} is out of range", value.0));
            section.report(problem.expected(whole_numbers(&range)));
        }
    }
}

/// Whether `class` is among `classes`; all are if none is written.
pub fn covers(classes: &Key<List<ClassNumber>>, class: Class) -> bool {
    let number = ClassNumber(class.0.into());
    let covers =
        |list: &List<ClassNumber>| list.is_empty() || list.iter().any(|at| at.value == number);
    classes.get().is_none_or(covers)
}

/// The ports that any of `patterns` names, each once, in order.
/// A pattern that names none is reported.
pub fn ports(topology: &Topology, patterns: &[At<String>], sink: &Sink) -> Vec<(NodeId, PortId)> {
    let mut found = Vec::new();
    let mut names: Option<Vec<(String, (NodeId, PortId))>> = None;
    for pattern in patterns {
        let text = &pattern.value;
        if !text.contains('*') {
            match topology.port_named(text) {
                Ok(port) => found.push(port),
                Err(error) => sink.push(pattern.place.problem(error.to_string())),
            }
            continue;
        }
        let names = names.get_or_insert_with(|| all_names(topology));
        let before = found.len();
        let matching = names.iter().filter(|(name, _)| matches(text, name));
        found.extend(matching.map(|(_, port)| *port));
        if found.len() == before {
            let problem = pattern.place.problem(format!("no port is called {text:?}"));
            let example = names.first().map_or("", |(name, _)| name);
            let help = format!("ports are called NODE:NEIGHBOUR, for example {example}");
            sink.push(problem.help(help));
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

fn all_names(topology: &Topology) -> Vec<(String, (NodeId, PortId))> {
    let mut names = Vec::new();
    for node in (0..topology.nodes().len()).map(|node| NodeId(node as u32)) {
        for port in (0..topology.ports(node).len()).map(|port| PortId(port as u16)) {
            names.push((topology.port_name(node, port), (node, port)));
        }
    }
    names
}
