//! Which file is of which switch.

use std::collections::BTreeMap;

use super::merge::absorb;
use crate::assemble::ib::Parsed;
use crate::import::ethernet::sonic::{Neighbour, SwitchConfig};
use pauseless_text::problem::{Problem, Problems};
use pauseless_text::quantity::counted;
use pauseless_text::source::Source;

/// A switch with all that its files say.
pub struct Configured<'s> {
    /// `None` if no file at all names a switch.
    pub hostname: Option<String>,
    pub config: SwitchConfig,
    /// The file that names the switch, else the first.
    pub source: &'s Source,
    /// The far ends of the cables by port, as LLDP hears them, each with its file.
    pub heard: BTreeMap<String, (Neighbour, &'s Source)>,
}

impl<'s> Configured<'s> {
    /// A switch of which no file has a configuration.
    pub fn blank(hostname: String, source: &'s Source) -> Configured<'s> {
        let config = SwitchConfig::default();
        Configured { hostname: Some(hostname), config, source, heard: BTreeMap::new() }
    }

    /// The far end of the cable at each port, with the file that says so: what LLDP hears counts
    /// more than what is configured.
    pub fn neighbours(&self) -> BTreeMap<&str, (&Neighbour, &'s Source)> {
        let configured = self.config.neighbours.iter();
        let configured = configured.map(|(port, it)| (port.as_str(), (it, self.source)));
        let heard = self.heard.iter().map(|(port, (it, source))| (port.as_str(), (it, *source)));
        configured.chain(heard).collect()
    }

    pub fn is_called(&self, name: &str) -> bool {
        let hostname = self.hostname.as_deref();
        hostname.is_some_and(|hostname| hostname.eq_ignore_ascii_case(name))
    }
}

/// One configuration per switch: files of one hostname are put together, and files without one
/// belong to the only switch there is.
pub fn gather<'s>(files: &[Parsed<'s, SwitchConfig>]) -> Result<Vec<Configured<'s>>, Problems> {
    let mut switches: Vec<Configured<'s>> = Vec::new();
    let (named, unnamed): (Vec<_>, Vec<_>) =
        files.iter().partition(|file| file.value.hostname.is_some());
    for file in named {
        let name = file.value.hostname.as_deref().unwrap_or_default();
        match switches.iter_mut().find(|switch| switch.is_called(name)) {
            Some(switch) => put(switch, file)?,
            None => switches.push(Configured {
                hostname: file.value.hostname.clone(),
                config: file.value.clone(),
                source: file.source,
                heard: BTreeMap::new(),
            }),
        }
    }
    for file in unnamed {
        match &mut switches[..] {
            [] => switches.push(Configured {
                hostname: None,
                config: file.value.clone(),
                source: file.source,
                heard: BTreeMap::new(),
            }),
            [only] => put(only, file)?,
            several => {
                let message = format!(
                    "the file has no hostname, and there are {} switches it could be of",
                    several.len()
                );
                return Err(Problems::of_file(&file.source.file, message, NAME_IT));
            }
        }
    }
    Ok(switches)
}

/// What a file that does not name its switch lacks.
pub(super) const NAME_IT: &str =
    "add \"DEVICE_METADATA\": {\"localhost\": {\"hostname\": \"..\"}} to it";

fn put(switch: &mut Configured, file: &Parsed<SwitchConfig>) -> Result<(), Problems> {
    absorb(&mut switch.config, &file.value).map_err(|clash| {
        let of = match &switch.hostname {
            Some(name) => format!(" of switch \"{name}\""),
            None => String::new(),
        };
        let message = format!("{}{of} is another one in {}", clash.what, switch.source.file);
        let problem = Problem::new(clash.at, message);
        let help = "two files of one switch must agree; is one of them old, or of another switch?";
        file.source.refuse(problem.help(help))
    })
}

/// The warnings of all files in a handful of notes: one of each sort, and how many there are.
pub(super) fn take_warnings(files: &[Parsed<SwitchConfig>], notes: &mut Vec<String>) {
    const SORTS_MAX: usize = 5;
    let mut sorts: Vec<(String, String, usize)> = Vec::new();
    for file in files {
        for warning in &file.value.warnings {
            let sort = format!("{} {}", warning.table, without_digits(&warning.message));
            match sorts.iter_mut().find(|(known, _, _)| *known == sort) {
                Some((_, _, number)) => *number += 1,
                None => sorts.push((sort, format!("{}: {warning}", file.source.file), 1)),
            }
        }
    }
    for (_, first, number) in sorts.iter().take(SORTS_MAX) {
        notes.push(match number - 1 {
            0 => first.clone(),
            more => format!("{first} (and {more} more like it)"),
        });
    }
    let hidden: usize = sorts.iter().skip(SORTS_MAX).map(|(_, _, number)| number).sum();
    if hidden > 0 {
        notes.push(format!(
            "{} about the configurations not shown here",
            counted(hidden, "other warning")
        ));
    }
}

fn without_digits(text: &str) -> String {
    text.chars().filter(|c| !c.is_ascii_digit()).collect()
}
