//! Flows as rows: `kind = "list"`, written in the scenario or in a file beside it.
//!
//! Nothing is drawn. Rows without a name are named after their ends and what they are, never
//! after their place in the list.

mod columns;
pub(crate) mod rows;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use pauseless_core::id::NodeId;
use pauseless_core::unit::Bytes;
use pauseless_fabric::path::Step;

use super::super::flows::{Limits, SIZES, TIMES, complete, still_waiting};
use super::scene::{Batch, Link, Made, Scene, Way};
use super::{AnyKind, Naming, TrafficKind, kind};
use columns::columns;
use pauseless_text::declare::{FileValue, Key, Kind, Node, Own, Variant};
use pauseless_text::lex::line_number;
use pauseless_text::problem::{FileId, Problem};
use pauseless_text::reader::{At, Item, Place, did_you_mean};
use pauseless_text::section;
use pauseless_text::source::Source;
use rows::{Row, Rows};

section! {
    /// One flow per line, in a text or in a file beside this one.
    pub struct List {
        /// The size of rows that have none.
        size: Bytes, within SIZES, derived "every row has one";
        /// The flows; the first line names the columns.
        rows: Listed,
            needed |keys| !keys.file.is_written, "\"\"\"..\"\"\", or file = \"flows.txt\"",
            derived "required";
        /// The path of a file that has the rows, relative to this one.
        file: String, within "the path of a file", derived "instead of `rows`";
    }
}

pub(super) static LIST: Variant<AnyKind> = kind::<List>("list");

/// The rows of a list, and where they were written.
#[derive(Clone, Debug)]
pub struct Listed {
    /// What was written and has not been read yet.
    text: Option<String>,
    rows: Arc<Rows>,
    origin: Arc<Origin>,
}

/// Where rows were written, so that a problem with one can be shown.
#[derive(Clone, Debug)]
enum Origin {
    /// In the scenario, from this byte on.
    Inline { place: Place, start: usize },
    /// In the file of this name.
    File { place: Place, file: String },
    /// In a file of another program; the ways of the rows may stand elsewhere.
    Imported { file: FileId, ways: Vec<Place> },
}

impl Origin {
    fn place(&self, line: u32, at: std::ops::Range<usize>) -> Place {
        match self {
            Origin::Inline { place, start } => {
                let end = place.span.end;
                let span = (start + at.start).min(end)..(start + at.end).min(end);
                place.beside(format!("{}, line {line}", place.key), span)
            }
            Origin::File { place, file } => {
                place.beside(format!("{}: {file}:{line}", place.key), place.span.clone())
            }
            Origin::Imported { file, .. } => Place { file: *file, ..Place::new("", at) },
        }
    }
}

impl Listed {
    fn new(text: String, origin: Origin) -> Listed {
        Listed { text: Some(text), rows: Arc::default(), origin: Arc::new(origin) }
    }

    /// Rows that were made from the lines of `file`. `ways` has for each of them where its way was
    /// written, or is empty.
    pub fn imported(rows: Rows, file: FileId, ways: Vec<Place>) -> Listed {
        Listed {
            text: None,
            rows: Arc::new(rows),
            origin: Arc::new(Origin::Imported { file, ways }),
        }
    }

    /// Reads the text; `None` if something is wrong with it, which is reported.
    fn parse(&mut self, limits: Limits<'_>) -> Option<()> {
        let Some(text) = self.text.take() else {
            return self.check(limits);
        };
        let rows = Rows::parse(&text, limits.class_count);
        let report = |problem: Problem| {
            let at = problem.at.clone().unwrap_or(0..0);
            let place = self.origin.place(line_number(&text, at.start) as u32, at);
            limits.sink.push(Problem {
                expected: problem.expected,
                help: problem.help,
                ..place.problem(problem.message)
            });
        };
        let rows = rows.map_err(|problems| problems.into_iter().for_each(report));
        self.rows = Arc::new(rows.ok()?);
        Some(())
    }

    /// Holds rows that a program made, not a text, against the same limits.
    fn check(&self, limits: Limits<'_>) -> Option<()> {
        let before = limits.sink.count();
        for row in &self.rows.list {
            let place = || self.place(row);
            if let Some(value) = row.size.filter(|size| !SIZES.contains(size)) {
                let place = place();
                At { value, place }.is_within(&SIZES, limits.sink);
            }
            if !TIMES.contains(&row.start) {
                let (value, place) = (row.start, place());
                At { value, place }.is_within(&TIMES, limits.sink);
            }
        }
        (limits.sink.count() == before).then_some(())
    }

    /// Where the way of a row was written.
    fn way_place(&self, row: &Row) -> Place {
        let ways = match &*self.origin {
            Origin::Imported { ways, .. } => &ways[..],
            Origin::Inline { .. } | Origin::File { .. } => &[],
        };
        ways.get(row.line as usize - 1).cloned().unwrap_or_else(|| self.place(row))
    }

    fn place(&self, row: &Row) -> Place {
        let (start, end) = row.at;
        self.origin.place(row.line, start as usize..end as usize)
    }
}

impl FileValue for Listed {
    type Limit = ();

    fn take(item: Item<'_>, (): &()) -> Option<At<Listed>> {
        if let Some(value) = item.own::<Listed>().cloned() {
            let place = item.place;
            return Some(At { value, place });
        }
        let At { value: text, place } = item.string()?;
        let start = place.span.start + opening(place.span.len(), text.len());
        let origin = Origin::Inline { place: place.clone(), start };
        let value = Listed::new(text, origin);
        Some(At { value, place })
    }

    fn kind((): &()) -> Kind {
        Kind::Rows(columns())
    }

    /// All rows, with the columns that any of them needs.
    fn show(&self) -> String {
        let lines = Vec::from_iter(self.rows.lines().map(|line| escape(&line)));
        format!("\"\"\"\n{}\n\"\"\"", lines.join("\n"))
    }

    fn node(&self) -> Node {
        Node::Own(Arc::new(self.clone()))
    }
}

impl Own for Listed {
    fn text(&self) -> String {
        self.show()
    }
}

impl TrafficKind for List {
    fn complete(&mut self, limits: Limits<'_>) -> Option<()> {
        if self.rows.is_written && self.file.is_written {
            let problem = self.place.problem("the flows are listed twice");
            limits.sink.push(problem.help("keep one of rows and file"));
            return None;
        }
        if let Some(At { value: file, place }) = self.file.given.take() {
            let source = Source::read_named(&limits.folder.join(&file), FILE_MAX);
            let Source { text, .. } =
                source.map_err(|flaw| limits.sink.push(place.problem(flaw))).ok()?;
            let key_place = place.clone();
            let listed = Listed::new(text, Origin::File { place, file });
            self.rows = Key::at(listed, &key_place);
        }
        let listed = &mut self.rows.given.as_mut()?.value;
        listed.parse(limits)?;
        let bare = listed.rows.list.iter().find(|row| row.size.is_none());
        let Some(row) = bare.filter(|_| self.size.given.is_none()) else {
            return Some(());
        };
        let problem = listed.place(row).problem("a row without a size");
        limits.sink.push(problem.help("add a column size_bytes, or a size to the section"));
        None
    }

    fn flows(&self, scene: &Scene<'_>) -> Option<Batch> {
        let mut batch = Batch::of(self.made(scene)?);
        name(&mut batch.flows, scene);
        batch.follows = self.follows(scene);
        Some(batch)
    }

    fn pairs(&self, scene: &Scene<'_>) -> Option<Batch> {
        let mut flows = self.made(scene)?;
        let way = |made: &Made| (made.source, made.target, made.class, made.ways());
        flows.sort_by_cached_key(way);
        flows.dedup_by_key(|made| way(made));
        name(&mut flows, scene);
        Some(Batch::of(flows))
    }

    fn naming(&self) -> Naming {
        Naming::Own
    }

    fn is_exact(&self) -> bool {
        true
    }
}

impl List {
    fn listed(&self) -> &Listed {
        self.rows.get().expect("`complete` refuses a list without rows")
    }

    /// A flow for each row, those without a name in the list without one.
    fn made(&self, scene: &Scene<'_>) -> Option<Vec<Made>> {
        let rows = &self.listed().rows;
        let host = |name: &String| {
            let node = scene.topology.node_named(name);
            node.filter(|node| scene.topology.is_host(*node))
        };
        let hosts = Vec::from_iter(rows.hosts.iter().map(host));
        // All of them are looked at, so that every wrong one is reported.
        let made = rows.list.iter().map(|row| self.row(scene, row, &hosts));
        Vec::from_iter(made).into_iter().collect()
    }

    /// The flow of a row; `hosts` has the nodes of [`Rows::hosts`] that are hosts.
    fn row(&self, scene: &Scene<'_>, row: &Row, hosts: &[Option<NodeId>]) -> Option<Made> {
        let listed = self.listed();
        let at = |value: &str| At { value: value.to_string(), place: listed.place(row) };
        let end = |host: u32| match hosts.get(host as usize)? {
            Some(node) => Some(*node),
            // Looked for again by one who says what is wrong.
            None => {
                let name = &listed.rows.hosts[host as usize];
                scene.planner.fabric.host(scene.sink, &at(name))
            }
        };
        let (source, target) = end(row.source).zip(end(row.target))?;
        let way = |text: &Option<Box<str>>, [from, to]: [NodeId; 2]| match text {
            None => Some(None),
            Some(text) => {
                let steps = text.split(',').map(|name| {
                    scene
                        .planner
                        .step(&At { value: name.to_string(), place: listed.way_place(row) })
                });
                let steps = Vec::from_iter(steps).into_iter().collect::<Option<Vec<Step>>>()?;
                Some(Some(complete(steps, from, to)))
            }
        };
        let path = way(&row.path, [source, target]);
        let return_path = way(&row.return_path, [target, source]);
        let (path, return_path) = path.zip(return_path)?;
        let size = row.size.or(self.size.copied())?;
        let traffic = scene.traffic;
        let classes = &traffic.keys.classes_by_size.value;
        let is_pinned = path.is_some() || return_path.is_some();
        let way =
            is_pinned.then(|| Way { path, return_path, place: Arc::new(listed.way_place(row)) });
        Some(Made {
            name: row.name.as_deref().unwrap_or("").to_string(),
            source,
            target,
            size: Some(size),
            start: scene.start + row.start,
            class: Some(row.class.unwrap_or(classes.class(size, traffic.terms.class))),
            way: way.map(Box::new),
        })
    }

    /// Which rows wait for which.
    fn follows(&self, scene: &Scene<'_>) -> Vec<Link> {
        let rows = &self.listed().rows.list;
        let mut follows = Vec::new();
        let mut numbers: BTreeMap<&str, u32> = BTreeMap::new();
        let named =
            (0..).zip(rows).filter_map(|(number, row)| Some((row.name.as_deref()?, number)));
        for (name, number) in named {
            if numbers.insert(name, number).is_some() {
                let place = self.listed().place(&rows[number as usize]);
                let problem = place.problem(format!("two rows are called {name:?}"));
                scene.sink.push(problem.help("give each a name of its own"));
            }
        }
        if rows.iter().all(|row| row.after.is_none()) {
            return follows;
        }
        for (then, row) in (0..).zip(rows) {
            for name in row.after.iter().flat_map(|names| names.split(',')) {
                let Some(first) = numbers.get(name) else {
                    let message = format!("after: no row is called {name:?}");
                    let problem = self.listed().place(row).problem(message);
                    let names = numbers.keys().copied().take(NAMES_MAX);
                    scene.sink.push(problem.help(did_you_mean(name, names)));
                    continue;
                };
                follows.push(Link { first: *first, then, delay: row.delay });
            }
        }
        self.refuse_circle(scene, &follows);
        follows
    }

    /// Reports the first row that waits for itself, through whichever others.
    fn refuse_circle(&self, scene: &Scene<'_>, follows: &[Link]) {
        let rows = &self.listed().rows.list;
        let links = follows.iter().map(|link| (link.first, link.then));
        let waiting = still_waiting(rows.len(), links.collect());
        if let Some(row) = waiting.iter().position(|count| *count > 0).map(|row| &rows[row]) {
            let message = "after: it waits for rows that wait in a circle";
            let problem = self.listed().place(row).problem(message);
            scene.sink.push(problem.help("let one of them start by itself"));
        }
    }
}

/// Names rows that have no name: `NAME/SOURCE->TARGET`, with a number from the second on in the
/// order of what they are.
fn name(flows: &mut [Made], scene: &Scene<'_>) {
    let unnamed = flows.iter().enumerate().filter(|(_, made)| made.name.is_empty());
    let mut unnamed = Vec::from_iter(unnamed.map(|(flow, made)| (made.source, made.target, flow)));
    // Most flows differ in their ends already.
    unnamed.sort_unstable_by(|a, b| {
        let what = |flow: usize| {
            let made = &flows[flow];
            (made.start, made.size, made.class, made.ways(), flow)
        };
        (a.0, a.1).cmp(&(b.0, b.1)).then_with(|| what(a.2).cmp(&what(b.2)))
    });
    let mut last = (None, 0);
    for (source, target, flow) in unnamed {
        let ends = Some((source, target));
        let number = if last.0 == ends { last.1 + 1 } else { 1 };
        last = (ends, number);
        flows[flow].name = match number {
            1 => scene.pair_name(source, target),
            _ => scene.flow_name(source, target, format_args!("{number}")),
        };
    }
}

/// Comparing with more names than this takes too long.
const NAMES_MAX: usize = 10_000;

/// As it stands between three quotes.
fn escape(text: &str) -> String {
    if text.contains(['"', '\\']) || text.contains(char::is_control) {
        let quoted = pauseless_text::file::quote(text);
        quoted[1..quoted.len() - 1].to_string()
    } else {
        text.to_string()
    }
}

/// How many bytes stand before a text of `inner` bytes that takes `outer` with its quotes: three
/// and a line end as a rule. With escapes there is no telling, and line numbers still are right.
fn opening(outer: usize, inner: usize) -> usize {
    match outer.saturating_sub(inner) {
        around @ 6..=8 => around - 3,
        2 => 1,
        _ => 0,
    }
}

/// As much as a run's rows with paths take.
const FILE_MAX: u64 = 1 << 30;

/// The text of the rows in `file`; `None` if it cannot be read.
pub fn inline_rows(file: &str, folder: &Path) -> Option<String> {
    let source = Source::read_named(&folder.join(file), FILE_MAX);
    source.ok().map(|source| source.text)
}
