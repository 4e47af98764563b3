//! YAML of which every value knows its place.
//!
//! The events of the parser become an arena in which an alias is a number: what it stands for is
//! never copied, so that a bomb of aliases stays as small as its file.
//! Readers descend to a fixed depth, so that an alias to a value around it cannot trap them; and
//! what a lookup costs is counted, because many aliases may stand for one large mapping.

use std::cell::Cell;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

use saphyr_parser::{Event, Marker, Parser, ScalarStyle, Span};

use super::{quoted, within};
use pauseless_text::problem::Problem;

/// A document in the memory of its arena.
#[derive(Debug)]
pub(super) struct Document {
    nodes: Vec<Node>,
    /// Entries that lookups have passed.
    work: Cell<usize>,
}

/// A value of a document, where it is used: an alias is at its own place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Value<'d> {
    document: &'d Document,
    id: usize,
}

#[derive(Debug)]
struct Node {
    at: Range<usize>,
    content: Content,
}

#[derive(Debug)]
enum Content {
    Null,
    Scalar(String),
    Sequence(Vec<usize>),
    Mapping(Vec<(usize, usize)>),
    Alias(usize),
}

impl Document {
    /// The only document of `text`; `what` names it in messages.
    pub fn parse(text: &str, what: &str) -> Result<Document, Problem> {
        within(text, SIZE_MAX, what)?;
        let mut builder = Builder::new(text);
        for event in Parser::new_from_str(text) {
            let (event, span) = event.map_err(|error| {
                let start = builder.places.byte(text, *error.marker());
                let start = start.min(text.trim_end().len().saturating_sub(1));
                Problem::new(start..start + 1, format!("not YAML: {}", error.info()))
            })?;
            builder.event(event, span)?;
        }
        if builder.nodes.is_empty() {
            Err(Problem::new(0..0, "the file is empty").expected(what))
        } else {
            Ok(Document { nodes: builder.nodes, work: Cell::new(0) })
        }
    }

    pub fn root(&self) -> Value<'_> {
        Value { document: self, id: 0 }
    }
}

impl<'d> Value<'d> {
    pub fn at(&self) -> Range<usize> {
        self.document.nodes[self.id].at.clone()
    }

    pub fn is_null(&self) -> bool {
        matches!(self.content(), Content::Null)
    }

    pub fn is_mapping(&self) -> bool {
        matches!(self.content(), Content::Mapping(_))
    }

    pub fn string(&self, what: &str) -> Result<&'d str, Problem> {
        match self.content() {
            Content::Scalar(text) => Ok(text),
            _ => Err(self.mistyped(what, "a name")),
        }
    }

    pub fn items(&self, what: &str) -> Result<Vec<Value<'d>>, Problem> {
        match self.content() {
            Content::Sequence(ids) => {
                self.spend(ids.len())?;
                Ok(ids.iter().map(|id| self.other(*id)).collect())
            }
            _ => Err(self.mistyped(what, "a list")),
        }
    }

    /// Keys and values of a mapping; what `<<` merges into it is not among them.
    pub fn entries(&self, what: &str) -> Result<Vec<(Value<'d>, Value<'d>)>, Problem> {
        match self.content() {
            Content::Mapping(pairs) => {
                self.spend(pairs.len())?;
                let pairs = pairs.iter();
                Ok(pairs.map(|(key, value)| (self.other(*key), self.other(*value))).collect())
            }
            _ => Err(self.mistyped(what, "a mapping")),
        }
    }

    /// The value of `key` in a mapping or, if it has none, in what `<<` merges into it.
    pub fn get(&self, key: &str, what: &str) -> Result<Option<Value<'d>>, Problem> {
        if let Some(own) = self.get_own(key, what)? {
            return Ok(Some(own));
        }
        let Some(merged) = self.get_own("<<", what)? else {
            return Ok(None);
        };
        let sources = match merged.content() {
            Content::Sequence(_) => merged.items(what)?,
            _ => vec![merged],
        };
        for source in sources {
            if let Some(found) = source.get_own(key, "what << merges")? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    fn get_own(&self, key: &str, what: &str) -> Result<Option<Value<'d>>, Problem> {
        let Content::Mapping(pairs) = self.content() else {
            return Err(self.mistyped(what, "a mapping"));
        };
        let is_key = |id: usize| match self.other(id).content() {
            Content::Scalar(name) => name == key,
            _ => false,
        };
        let place = pairs.iter().position(|(name, _)| is_key(*name));
        self.spend(place.unwrap_or(pairs.len()))?;
        Ok(place.map(|place| self.other(pairs[place].1)))
    }

    fn content(&self) -> &'d Content {
        match &self.document.nodes[self.id].content {
            Content::Alias(target) => &self.document.nodes[*target].content,
            content => content,
        }
    }

    fn other(&self, id: usize) -> Value<'d> {
        Value { document: self.document, id }
    }

    fn spend(&self, entries: usize) -> Result<(), Problem> {
        let work = self.document.work.get().saturating_add(entries);
        self.document.work.set(work);
        if work <= WORK_MAX {
            return Ok(());
        }
        let message = "aliases make this file larger than anybody could have typed it";
        Err(Problem::new(self.at(), message).help("write the values out instead of `*alias`"))
    }

    fn mistyped(&self, what: &str, expected: &str) -> Problem {
        let found = match self.content() {
            Content::Null => "empty",
            Content::Sequence(_) => "a list",
            Content::Mapping(_) => "a mapping",
            Content::Scalar(_) | Content::Alias(_) => "a single value",
        };
        Problem::new(self.at(), format!("{what} is {found}")).expected(expected)
    }
}

/// A sequence or mapping of which the end has not come yet.
struct Open {
    id: usize,
    /// The key whose value comes next.
    key: Option<usize>,
    keys: HashSet<String>,
}

struct Builder<'t> {
    text: &'t str,
    places: Places,
    nodes: Vec<Node>,
    open: Vec<Open>,
    anchors: HashMap<usize, usize>,
    documents: usize,
}

impl<'t> Builder<'t> {
    fn new(text: &'t str) -> Builder<'t> {
        Builder {
            text,
            places: Places::new(text),
            nodes: Vec::new(),
            open: Vec::new(),
            anchors: HashMap::new(),
            documents: 0,
        }
    }

    fn event(&mut self, event: Event, span: Span) -> Result<(), Problem> {
        let start = self.places.byte(self.text, span.start);
        let at = start..self.places.byte(self.text, span.end).max(start);
        let (content, anchor) = match event {
            Event::DocumentStart(_) => return self.start_document(at),
            Event::SequenceEnd | Event::MappingEnd => {
                self.open.pop();
                return Ok(());
            }
            Event::Scalar(text, style, anchor, _) => {
                let is_null = matches!(text.as_ref(), "" | "~" | "null" | "Null" | "NULL");
                if is_null && style == ScalarStyle::Plain {
                    (Content::Null, anchor)
                } else {
                    (Content::Scalar(text.into_owned()), anchor)
                }
            }
            Event::SequenceStart(anchor, _) => (Content::Sequence(Vec::new()), anchor),
            Event::MappingStart(anchor, _) => (Content::Mapping(Vec::new()), anchor),
            Event::Alias(anchor) => match self.anchors.get(&anchor) {
                Some(target) => (Content::Alias(*target), 0),
                None => return Err(Problem::new(at, "an alias without an anchor before it")),
            },
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => {
                return Ok(());
            }
        };
        let opens = matches!(content, Content::Sequence(_) | Content::Mapping(_));
        let id = self.nodes.len();
        self.nodes.push(Node { at, content });
        if anchor > 0 {
            self.anchors.insert(anchor, id);
        }
        self.attach(id)?;
        if opens { self.descend(id) } else { Ok(()) }
    }

    fn start_document(&mut self, at: Range<usize>) -> Result<(), Problem> {
        self.documents += 1;
        match self.documents {
            1 => Ok(()),
            _ => Err(Problem::new(at, "a second document").expected("one document per file")),
        }
    }

    fn descend(&mut self, id: usize) -> Result<(), Problem> {
        if self.open.len() == DEPTH_MAX {
            let at = self.nodes[id].at.clone();
            let message = format!("nested more than {DEPTH_MAX} levels deep");
            return Err(Problem::new(at, message).help("is this the right file?"));
        }
        self.open.push(Open { id, key: None, keys: HashSet::new() });
        Ok(())
    }

    /// Makes a node part of the sequence or mapping that is open.
    fn attach(&mut self, id: usize) -> Result<(), Problem> {
        let Some(open) = self.open.last_mut() else {
            return Ok(());
        };
        let child = &self.nodes[id];
        if let (Content::Scalar(name), None) = (&child.content, open.key)
            && matches!(self.nodes[open.id].content, Content::Mapping(_))
            && !open.keys.insert(name.clone())
        {
            let message = format!("{} is twice in the same mapping", quoted(name));
            let problem = Problem::new(child.at.clone(), message);
            return Err(problem.help("delete one of them: only one can be meant"));
        }
        match &mut self.nodes[open.id].content {
            Content::Sequence(ids) => ids.push(id),
            Content::Mapping(pairs) => match open.key.take() {
                None => open.key = Some(id),
                Some(key) => pairs.push((key, id)),
            },
            Content::Null | Content::Scalar(_) | Content::Alias(_) => {}
        }
        Ok(())
    }
}

/// From the parser's places, in characters, to bytes.
struct Places {
    /// The byte of every `STRIDE`-th character; empty where all characters are single bytes.
    bytes: Vec<usize>,
}

impl Places {
    fn new(text: &str) -> Places {
        let bytes = if text.is_ascii() {
            Vec::new()
        } else {
            text.char_indices().step_by(STRIDE).map(|(byte, _)| byte).collect()
        };
        Places { bytes }
    }

    fn byte(&self, text: &str, marker: Marker) -> usize {
        let index = marker.index();
        if self.bytes.is_empty() {
            return index.min(text.len());
        }
        let Some(near) = self.bytes.get(index / STRIDE) else {
            return text.len();
        };
        text[*near..].char_indices().nth(index % STRIDE).map_or(text.len(), |(byte, _)| near + byte)
    }
}

/// A lab of 100,000 links.
const SIZE_MAX: usize = 8 << 20;
/// Containerlab needs six levels; groups of settings below a node may need a few more.
const DEPTH_MAX: usize = 64;
/// The most entries that lookups may pass: a few times more than a file of the largest size has.
const WORK_MAX: usize = 20_000_000;
const STRIDE: usize = 64;
