//! The section `[interfaces]`: what the ports of a node are called on this machine.

use std::collections::BTreeMap;

use pauseless_text::problem::Sink;
use pauseless_text::reader::{At, Item, Place, Section, did_you_mean};

/// The section as it was written.
#[derive(Debug, Default)]
pub(super) struct Ports {
    place: Place,
    entries: Vec<(At<String>, At<String>)>,
}

/// The longest name of an interface.
const NAME_MAX: usize = 15;

impl Ports {
    pub fn read(mut section: Section<'_>) -> Ports {
        let entries = section.entries().into_iter();
        let entries = entries.filter_map(|(name, item)| Some((name, Item::string(item)?)));
        Ports { place: section.place.clone(), entries: entries.collect() }
    }

    /// The interface of each port of `node`, which has these neighbours; `None` if one is missing.
    pub(super) fn resolve(
        &self,
        node: &str,
        neighbours: &[String],
        sink: &Sink,
    ) -> Option<Vec<At<String>>> {
        self.check(node, neighbours, sink);
        let find = |neighbour: &String| {
            let found = self.entries.iter().find(|(name, _)| name.value == *neighbour);
            if found.is_none() {
                let message = format!("the port of {node} to {neighbour} has no interface");
                let key = if neighbour.contains('#') {
                    format!("{neighbour:?}")
                } else {
                    neighbour.clone()
                };
                let help = format!("add {key} = \"NAME\"; `ip link` lists the interfaces");
                sink.push(self.place.problem(message).help(help));
            }
            found.map(|(_, interface)| interface.clone())
        };
        // All of them, so that all that are missing are said.
        let found: Vec<Option<At<String>>> = neighbours.iter().map(find).collect();
        found.into_iter().collect()
    }

    /// Reports what belongs to no port, is no name, or stands there twice.
    fn check(&self, node: &str, neighbours: &[String], sink: &Sink) {
        let known = || neighbours.iter().map(String::as_str);
        let mut used: BTreeMap<&str, &str> = BTreeMap::new();
        for (name, interface) in &self.entries {
            if !neighbours.contains(&name.value) {
                let message = format!("{node} has no link to {}", name.value);
                let expected = format!("one of {}", neighbours.join(", "));
                let problem = name.place.problem(message).expected(expected);
                sink.push(problem.help(did_you_mean(&name.value, known())));
            }
            let text = &interface.value;
            let is_odd = |c: char| c == '/' || c.is_whitespace() || c.is_control();
            if text.is_empty() || text.len() > NAME_MAX || text.contains(is_odd) {
                let message = format!("{text:?} is no name of an interface");
                let expected = format!("1 to {NAME_MAX} characters, such as \"eth1\"");
                sink.push(interface.place.problem(message).expected(expected));
            }
            if let Some(other) = used.insert(text, &name.value) {
                let message = format!("{text} is the interface to {other} already");
                sink.push(interface.place.problem(message));
            }
        }
    }
}
