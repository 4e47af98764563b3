//! A scenario that a program fills in, instead of writing TOML.

use std::path::Path;
use std::sync::Arc;

use super::{Aim, Overrides, Scenario, Written as Sections, topology};
use pauseless_text::declare::{Entry, Node, Table, Written};
use pauseless_text::file::{File, TableStyle};
use pauseless_text::problem::{Problems, Sink};
use pauseless_text::reader::{Place, Section};
use pauseless_text::source::Source;

/// The sections of a scenario as data. Every value can have a place in the files that it was taken
/// from, which is where whatever is wrong with it is shown.
#[derive(Clone, Debug)]
pub struct ScenarioFile {
    /// The comment that the printed file begins with.
    comment: &'static str,
    entries: Vec<Entry>,
    /// The files that its values were taken from, the main one first.
    sources: Arc<[Source]>,
}

impl Default for ScenarioFile {
    /// A scenario without anything, whose values are the program's own.
    fn default() -> ScenarioFile {
        let source = Source { file: "a scenario built in code".to_string(), text: String::new() };
        ScenarioFile::new("Made by a program.", [source].into())
    }
}

impl ScenarioFile {
    /// A scenario without anything, whose values will be taken from `sources`.
    pub fn new(comment: &'static str, sources: Arc<[Source]>) -> ScenarioFile {
        ScenarioFile { comment, entries: Vec::new(), sources }
    }

    /// Adds keys that stand outside all sections.
    pub fn keys<K: Written + Default>(&mut self, keys: &K) {
        self.entries.extend(chosen(keys));
    }

    /// Adds the section `[name]`.
    pub fn table<K: Written + Default>(&mut self, name: &'static str, keys: &K) {
        let node = Node::Table(chosen(keys));
        self.entries.push(Entry::new(name, node));
    }

    /// Adds a section `[[name]]` behind those of the same name.
    pub fn one_of<K: Written + Default>(&mut self, name: &'static str, keys: &K) {
        let table = Table { place: None, entries: chosen(keys) };
        for entry in self.entries.iter_mut().filter(|entry| entry.key == name) {
            if let Node::Tables(tables) = &mut entry.node {
                tables.push(table);
                return;
            }
        }
        self.entries.push(Entry::new(name, Node::Tables(vec![table])));
    }

    /// The scenario as text.
    pub fn text(&self) -> String {
        let mut file = File::default();
        file.line(format_args!("# {}", self.comment));
        let entries = self.entries.iter();
        let (sections, plain): (Vec<&Entry>, Vec<&Entry>) =
            entries.partition(|entry| entry.node.is_section());
        for entry in plain.into_iter().chain(sections) {
            // A fabric may have thousands of nodes and links.
            file.tables =
                if entry.key == topology::NAME { TableStyle::Inline } else { TableStyle::Sections };
            file.entries(std::slice::from_ref(entry));
        }
        file.text
    }

    /// The scenario that can be run, called `name`.
    pub fn build(&self, name: &str, overrides: &Overrides) -> Result<Scenario, Problems> {
        let sink = Sink::default();
        let root = Section::filled(&sink, Place::default(), &self.entries);
        let written = Sections::read(root, &sink, overrides, Aim::Run, Path::new(""));
        match written.resolve(name, &sink) {
            Some(scenario) if sink.is_empty() => Ok(scenario),
            _ => {
                let mut list = sink.into_list();
                // There is no line to show of a value that was never written.
                if self.sources.iter().all(|source| source.text.is_empty()) {
                    list.iter_mut().for_each(|problem| problem.at = None);
                }
                Err(Problems::of_sources(self.sources.to_vec(), list))
            }
        }
    }
}

/// The keys that were written, or have another value than they would have by default. Sections are
/// always kept.
pub fn chosen<K: Written + Default>(keys: &K) -> Vec<Entry> {
    let usual = K::default().entries();
    let mut entries = keys.entries();
    entries.retain(|entry| {
        let usual = usual.iter().find(|usual| usual.key == entry.key);
        let is_kept = entry.place.is_some() || entry.node.is_section();
        is_kept || usual.is_none_or(|usual| usual.line() != entry.line())
    });
    entries
}
