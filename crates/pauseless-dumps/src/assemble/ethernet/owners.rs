//! Which switch a file is of that does not say so: the one that its name begins with.

use std::collections::BTreeSet;
use std::path::Path;

use super::EthernetDumps;
use crate::assemble::ib::Parsed;
use crate::import::ethernet::sonic::SwitchConfig;
use pauseless_text::problem::Problems;
use pauseless_text::quantity;
use pauseless_text::source::Source;

/// The names by which files can be told apart.
pub(super) struct Owners {
    /// The names of the devices that other files speak of.
    names: BTreeSet<String>,
    /// Whether these are all there can be, as where the cables or configurations are known.
    is_closed: bool,
}

impl Owners {
    pub fn new(dumps: &EthernetDumps) -> Owners {
        let mut names = BTreeSet::new();
        for wiring in &dumps.wirings {
            names.extend(wiring.value.nodes.iter().map(|node| node.name.clone()));
        }
        for config in dumps.configs.iter().map(|parsed| &parsed.value) {
            names.extend(config.hostname.clone());
            names.extend(config.neighbours.values().map(|it| it.name.clone()));
            names.extend(config.layer3.heard.values().map(|it| it.name.clone()));
        }
        let is_named = dumps.configs.iter().any(|parsed| parsed.value.hostname.is_some());
        let is_closed = is_named || !dumps.wirings.is_empty();
        for table in dumps.tables.iter().flat_map(|parsed| &parsed.value) {
            names.extend(table.node.clone());
        }
        for lldp in &dumps.heard {
            names.extend(lldp.value.heard.iter().map(|it| it.name.clone()));
        }
        Owners { names, is_closed }
    }

    /// The configurations with the names of their switches, as far as these can be told.
    pub fn name<'s>(&self, files: &[Parsed<'s, SwitchConfig>]) -> Vec<Parsed<'s, SwitchConfig>> {
        let named = files.iter().map(|Parsed { source, value }| {
            let mut value = value.clone();
            if value.hostname.is_none() {
                let is_running = !value.layer3.routes.is_empty() || !value.layer3.heard.is_empty();
                let guess = || stem(&source.file).filter(|_| is_running && !self.is_closed);
                value.hostname = self.known(&source.file).or_else(guess);
            }
            Parsed { source, value }
        });
        named.collect()
    }

    /// The switch that a file without a name in it is of.
    pub fn of(&self, source: &Source) -> Result<String, Problems> {
        let guess = || stem(&source.file).filter(|_| !self.is_closed);
        self.known(&source.file).or_else(guess).ok_or_else(|| {
            let message = "the file does not say of which switch it is".to_string();
            let names = quantity::some(self.names.iter(), 4);
            let help = if self.names.is_empty() {
                "let its name begin with that of the switch: leaf1.json".to_string()
            } else {
                format!("let its name begin with that of the switch, one of {names}")
            };
            Problems::of_file(&source.file, message, &help)
        })
    }

    /// The longest of the names that the name of the file begins with, else that of its folder.
    fn known(&self, file: &str) -> Option<String> {
        let path = Path::new(file);
        let base = path.file_name()?.to_str()?;
        let begins = |name: &&String| {
            let start = base.get(..name.len());
            let next = base.get(name.len()..).and_then(|rest| rest.chars().next());
            start.is_some_and(|start| start.eq_ignore_ascii_case(name))
                && next.is_none_or(|next| !next.is_ascii_alphanumeric())
        };
        let longest = self.names.iter().filter(begins).max_by_key(|name| name.len());
        let folder = || {
            let folder = path.parent()?.file_name()?.to_str()?;
            self.names.iter().find(|name| name.eq_ignore_ascii_case(folder))
        };
        longest.or_else(folder).cloned()
    }
}

/// The name of a file up to its first dot, unless that is what many call such files; then that of
/// its folder.
fn stem(file: &str) -> Option<String> {
    let path = Path::new(file);
    let base = path.file_name()?.to_str()?;
    let stem = base.split('.').next().unwrap_or_default();
    let lower = stem.to_ascii_lowercase();
    let is_general = GENERAL.iter().any(|word| lower.contains(word)) || stem.is_empty();
    if is_general {
        Some(path.parent()?.file_name()?.to_str()?.to_string())
    } else {
        Some(stem.to_string())
    }
}

/// Parts of names that say what is in a file, not of which switch.
const GENERAL: [&str; 7] = ["route", "lldp", "bgp", "appl_db", "appl-db", "fib", "stdin"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_belong_to_the_switch_that_they_are_named_after() {
        let names = ["pod-tor1", "pod-tor10", "leaf"].map(str::to_string).into();
        let owners = Owners { names, is_closed: true };
        let table = [
            ("x/pod-tor1.show-ip-route.json", Some("pod-tor1")),
            ("pod-tor10.json", Some("pod-tor10")),
            ("POD-TOR1-routes.json.gz", Some("pod-tor1")),
            ("leaf/routes.json", Some("leaf")),
            ("leaf1.json", None),
            ("routes.json", None),
        ];
        for (file, expected) in table {
            assert_eq!(owners.known(file).as_deref(), expected, "{file}");
        }
        let table = [
            ("a/l0.show-ip-route.json", Some("l0")),
            ("a/show-ip-route.json", Some("a")),
            ("routes.json", None),
        ];
        for (file, expected) in table {
            assert_eq!(stem(file).as_deref(), expected, "{file}");
        }
    }
}
