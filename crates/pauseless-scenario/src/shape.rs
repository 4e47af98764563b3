//! Generated fabrics by a short text, such as `fat-tree:48`,
//! `leaf-spine:leaves=4,spines=2,hosts_per_leaf=8` or
//! `torus:4x4x4,hosts_per_switch=2,routing=dimension-order,classes=dateline`.
//!
//! The text stands for a fabric file, so kinds, keys and messages are those of the file.

use std::ops::Range;

use pauseless_core::unit::{Rate, Span};
use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

pub use crate::topology::Common;
use crate::{check, classes, routing, topology};
use pauseless_fabric::fabric::Fabric;
use pauseless_text::declare::{Info, Key, Written};
use pauseless_text::problem::{Problem, Problems};
use pauseless_text::source::Source;

/// The fabric that `spec` describes. Links have 100 Gb/s and 1 us unless it says otherwise.
pub fn parse(spec: &str) -> Result<Fabric, Problems> {
    let source = Source { file: NAME.to_string(), text: spec.to_string() };
    let table = table(spec).map_err(|problem| source.refuse(*problem))?;
    let mut fabric = check::read_table(&source, table)?;
    fabric.name = spec.to_string();
    Ok(fabric)
}

/// The spec as the table of a file, every value at its own place in the text.
fn table(spec: &str) -> Result<DeTable<'_>, Box<Problem>> {
    let kind_end = spec.find(':').unwrap_or(spec.len());
    let kind = &spec[..kind_end];
    let info = topology::kinds().named(kind).map(|kind| (kind.info)());
    // Of every kind the first size may stand without its key.
    let lead = info.as_ref().and_then(|info| info.keys.first()).map(|key| key.name);
    let mut tables = Tables { kind: info, ..Tables::default() };
    tables.topology.insert(
        Spanned::new(0..kind_end, topology::kinds().key.into()),
        Spanned::new(0..kind_end, DeValue::String(kind.into())),
    );
    let mut start = kind_end + 1;
    // Nothing may stand behind the kind, but an empty part after a comma is a slip.
    let parts = spec.get(start..).filter(|rest| !rest.is_empty());
    for part in parts.into_iter().flat_map(|rest| rest.split(',')) {
        let at = start..start + part.len();
        start = at.end + 1;
        match part.split_once('=') {
            Some((key, value)) => {
                let middle = at.start + key.len();
                tables.add(
                    Spanned::new(at.start..middle, key),
                    Spanned::new(middle + 1..at.end, value),
                )?;
            }
            None => match lead.filter(|_| at.start == kind_end + 1) {
                Some(key) => tables.add(Spanned::new(at.clone(), key), Spanned::new(at, part))?,
                // An unknown kind is reported once, and well, by whoever reads the table.
                None if lead.is_none() => {}
                None => {
                    let problem = Problem::new(at, format!("{part:?} has no key"));
                    return Err(Box::new(problem.expected("KEY=VALUE")));
                }
            },
        }
    }
    Ok(tables.finish())
}

/// The sections of the file.
#[derive(Default)]
struct Tables<'s> {
    /// The keys of the kind of topology, if there is such a kind.
    kind: Option<Info>,
    topology: DeTable<'s>,
    routing: DeTable<'s>,
    classes: DeTable<'s>,
}

impl<'s> Tables<'s> {
    fn add(&mut self, key: Spanned<&'s str>, value: Spanned<&'s str>) -> Result<(), Box<Problem>> {
        let key_at = key.span();
        let key = key.into_inner();
        let is_of_kind = self.kind.as_ref().is_some_and(|kind| kind.has(key));
        // A key that two sections have is the topology's; so is one that nobody has.
        let (table, name) = match key {
            routing::NAME => (&mut self.routing, routing::kinds().key),
            classes::NAME => (&mut self.classes, classes::kinds().key),
            _ if is_of_kind => (&mut self.topology, key),
            _ if routing::info().has(key) => (&mut self.routing, key),
            _ if classes::info().has(key) => (&mut self.classes, key),
            _ => (&mut self.topology, key),
        };
        let value = self::value(value.get_ref(), value.span());
        let key = Spanned::new(key_at.clone(), name.into());
        if table.insert(key, value).is_some() {
            let problem = Problem::new(key_at, format!("{name} stands here twice"));
            return Err(Box::new(problem.help("keep one of them")));
        }
        Ok(())
    }

    fn finish(mut self) -> DeTable<'s> {
        let links = Common { rate: Key::of(RATE), delay: Key::of(DELAY), ..Common::default() };
        for entry in links.entries() {
            let value = entry.line().filter(|_| !self.topology.contains_key(&*entry.key));
            if let Some(value) = value {
                let value = DeValue::String(value.trim_matches('"').to_string().into());
                let key = Spanned::new(0..0, entry.key);
                self.topology.insert(key, Spanned::new(0..0, value));
            }
        }
        let sections = [
            (topology::NAME, self.topology),
            (routing::NAME, self.routing),
            (classes::NAME, self.classes),
        ];
        let mut root = DeTable::new();
        for (name, table) in sections.into_iter().filter(|(_, table)| !table.is_empty()) {
            let value = Spanned::new(0..0, DeValue::Table(table));
            root.insert(Spanned::new(0..0, name.into()), value);
        }
        root
    }
}

/// A number, numbers with `x` between them, or a text.
fn value(text: &str, at: Range<usize>) -> Spanned<DeValue<'_>> {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let number = |text, at| {
        let parsed = DeValue::parse(text).map(Spanned::into_inner);
        Spanned::new(at, parsed.unwrap_or(DeValue::String("".into())))
    };
    if is_number(text) {
        return number(text, at);
    }
    if !text.contains('x') || !text.split('x').all(is_number) {
        return Spanned::new(at, DeValue::String(text.into()));
    }
    let mut array = DeArray::new();
    let mut start = at.start;
    for part in text.split('x') {
        array.push(number(part, start..start + part.len()));
        start += part.len() + 1;
    }
    Spanned::new(at, DeValue::Array(array))
}

/// The name of the text in messages.
const NAME: &str = "--generate";
/// What links have unless the text says otherwise.
const RATE: Rate = Rate::gbps(100);
const DELAY: Span = Span::us(1);
