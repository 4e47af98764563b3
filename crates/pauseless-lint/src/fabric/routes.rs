//! What the switches' own routes do with packets, followed as `pauseless check` follows them.

use pauseless_dumps::assemble::ethernet::{Choices, EthernetDumps, Tunnels};
use pauseless_dumps::import::ethernet as import;
use pauseless_fabric::audit::{self, FaultKind};
use pauseless_fabric::fabric::Fabric;
use pauseless_text::quantity;
use pauseless_text::source::Source;

use crate::finding::Place;
use crate::json::Span;

/// Packets that the routes of the switches send where they have been, or up again.
#[derive(Clone, Debug)]
pub struct Stray {
    /// What happens to the packets.
    pub kind: FaultKind,
    /// The prefixes that they are sent to.
    pub prefixes: Vec<String>,
    /// The switches that show it, in the order in which packets pass them.
    pub path: Vec<String>,
    /// The route that does it.
    pub place: Place,
}

/// What was found on the ways of packets.
#[derive(Debug, Default)]
pub struct Roads {
    /// The circles and valleys that packets take through the fabric.
    pub strays: Vec<Stray>,
    /// What was not looked at.
    pub notes: Vec<String>,
}

impl Roads {
    /// Puts the routes together with these files of the fabric and follows the packets.
    pub(super) fn follow<'t>(
        mut dumps: EthernetDumps<'t>,
        files: &[&'t Source],
        sources: &[Source],
    ) -> Roads {
        let taken = files.iter().try_for_each(|source| match import::recognise(&source.text) {
            Some(format) => dumps.take(source, format),
            None => Ok(()),
        });
        // A tunnel is no mistake of routes.
        let choices = Choices { tunnels: Tunnels::LeftOut, ..Choices::default() };
        match taken.and_then(|()| dumps.assemble(String::new(), choices)) {
            Ok(fabric) => Roads::of(&fabric, sources),
            Err(problems) => {
                let first = problems.list().first();
                let what = first.map_or(String::new(), |problem| {
                    format!("{}: {}", problems.file_of(problem), problem.message)
                });
                let note = format!("routes are not looked at, because of {what}");
                Roads { strays: Vec::new(), notes: vec![note] }
            }
        }
    }

    fn of(fabric: &Fabric, sources: &[Source]) -> Roads {
        let Some(evidence) = &fabric.evidence.routes else {
            return Roads::default();
        };
        let mut roads = Roads::default();
        let name = |node: &_| fabric.topology.node(*node).name.clone();
        if !evidence.silent.is_empty() {
            let silent = Vec::from_iter(evidence.silent.iter().map(name));
            let names = quantity::some(silent.iter(), SHOWN_MAX);
            roads.notes.push(format!("no file has the routes of {names}; packets end there"));
        }
        if evidence.is_partial {
            let note = "some routes lead where no file has a cable; packets end there";
            roads.notes.push(note.to_string());
        }
        for fault in audit::audit(fabric, &fabric.marks(&[])) {
            if !matches!(fault.kind, FaultKind::Loop | FaultKind::Valley) {
                continue;
            }
            let place = fault.place.and_then(|(file, line)| {
                let number = sources.iter().position(|source| source.file == file)?;
                Some(Place::in_file(number, span_of_line(&sources[number].text, line)))
            });
            roads.strays.push(Stray {
                kind: fault.kind,
                prefixes: fault.destinations,
                path: fault.path.iter().map(name).collect(),
                place: place.unwrap_or_default(),
            });
        }
        roads
    }
}

/// What stands in a line, counted from 1, as far as it is worth showing.
fn span_of_line(text: &str, line: u32) -> Span {
    let mut start = 0;
    for _ in 1..line {
        let Some(end) = text[start..].find('\n') else {
            break;
        };
        start += end + 1;
    }
    let line = text[start..].lines().next().unwrap_or_default();
    let shown = line.trim_start();
    let start = start + line.len() - shown.len();
    let shown = shown.trim_end();
    let end = shown.char_indices().nth(MARKED_MAX).map_or(shown.len(), |(end, _)| end);
    Span { start: start as u32, end: (start + end) as u32 }
}

/// More names do not help.
const SHOWN_MAX: usize = 4;
/// A longer mark does not help.
const MARKED_MAX: usize = 60;
