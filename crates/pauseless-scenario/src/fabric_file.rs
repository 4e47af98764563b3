//! Our own fabric file: TOML, with the same sections as a scenario; see `docs/fabric.md`.

mod write;

use pauseless_core::unit::{Bytes, Span};
use pauseless_fabric::fabric::Fabric;
use pauseless_text::declare::{Declared, Field, Filled};
use pauseless_text::problem::{Problems, Sink};
use pauseless_text::reader::Section;
use pauseless_text::source::Source;

use crate::General;
use crate::switch::{self, Switch};

pub use write::{network, write};

/// Whether it is a fabric file or a scenario.
pub fn is_toml(source: &Source) -> bool {
    let mut lines = source.text.lines().map(str::trim_start);
    source.file.ends_with(".toml")
        || lines.any(|line| ["[topology", "[[topology"].iter().any(|s| line.starts_with(s)))
}

/// What a scenario says of its links beside the fabric; `None` where it leaves that out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkTerms {
    /// The largest frame that a link carries.
    pub mtu: Option<Bytes>,
    /// How many traffic classes there are.
    pub classes: Option<u8>,
    /// The time from the arrival of a control frame to its effect.
    pub processing: Option<Span>,
    /// The buffer of each ingress port and class.
    pub buffer: Option<Bytes>,
}

impl LinkTerms {
    /// Reads them from a file that [`read`] takes.
    pub fn read(source: &Source) -> Result<LinkTerms, Problems> {
        let refuse = |list| Problems::new(&source.file, &source.text, list);
        let table = crate::parse_table(&source.text).map_err(refuse)?;
        let sink = Sink::default();
        let mut root = Section::root(&sink, table);
        let general = root.leniently(General::read);
        let mut terms = LinkTerms { mtu: written(&general.mtu), ..LinkTerms::default() };
        if let Some(mut section) = root.table(switch::SECTION) {
            let keys = section.leniently(Switch::read);
            terms.classes = written(&keys.classes);
            terms.processing = written(&keys.processing);
            terms.buffer = keys.buffer.value().copied();
        }
        Ok(terms)
    }
}

/// The value, unless it is the default.
fn written<T: Copy>(key: &Filled<T>) -> Option<T> {
    key.is_written().then_some(key.value)
}

/// Reads a fabric file, or a scenario: of that only the fabric and the ends of flows.
pub fn read(source: &Source) -> Result<Fabric, Problems> {
    crate::check::read(source)
}
