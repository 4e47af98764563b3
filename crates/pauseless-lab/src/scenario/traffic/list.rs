//! Flows as rows: `kind = "list"`, written in the scenario or in a file beside it.
//!
//! Nothing is drawn. Rows without a name are named after their ends and what they are, never
//! after their place in the list.

mod rows;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

use pauseless_core::id::NodeId;
use pauseless_core::unit::{Bytes, Span};
use pauseless_fabric::path::Step;

use super::super::file::File;
use super::super::flows::{Limits, Plan, Planner, complete};
use super::super::reader::{At, Place, Section, did_you_mean};
use super::make::MadePlans;
use super::{Kind, Link, Scene, Traffic};
use crate::import::source::Source;
use crate::problem::Problem;
use crate::text::line_number;
use rows::{Row, Rows};

/// `kind = "list"`.
#[derive(Debug)]
pub(super) struct List {
    rows: Rows,
    origin: Origin,
}

/// Where rows were written, so that a problem with one can be shown.
#[derive(Debug)]
enum Origin {
    /// In the scenario, from this byte on.
    Inline { place: Place, start: usize },
    /// In another file.
    File { place: Place, file: String },
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
                let key = format!("{}: {file}:{line}", place.key);
                place.beside(key, place.span.clone())
            }
        }
    }
}

impl List {
    /// Reads `rows` or `file`; `size` is that of rows that have none.
    pub(super) fn read(
        section: &mut Section<'_>,
        size: Option<Bytes>,
        limits: Limits<'_>,
    ) -> Option<List> {
        let has = [section.has("rows"), section.has("file")];
        let (inline, file) = (section.string("rows"), section.string("file"));
        let (origin, text) = match (has, inline, file) {
            ([true, true], _, _) => {
                let problem = section.place.problem("the flows are listed twice");
                section.report(problem.help("keep one of rows and file"));
                return None;
            }
            ([false, false], _, _) => {
                section.missing("rows", "\"\"\"..\"\"\", or file = \"flows.txt\"");
                return None;
            }
            (_, Some(At { value, place }), _) => {
                let start = place.span.start + opening(place.span.len(), value.len());
                (Origin::Inline { place, start }, value)
            }
            (_, None, Some(At { value: file, place })) => {
                let text = match Source::read_named(&limits.folder.join(&file), FILE_MAX) {
                    Ok(source) => source.text,
                    Err(flaw) => {
                        section.report(place.problem(flaw));
                        return None;
                    }
                };
                (Origin::File { place, file }, text)
            }
            (_, None, None) => return None,
        };
        let report = |flaw: Problem| {
            let at = flaw.at.unwrap_or(0..0);
            let line = line_number(&text, at.start) as u32;
            let problem = origin.place(line, at).problem(flaw.message);
            section.report(problem.expected(flaw.expected).help(flaw.help));
        };
        let rows = match Rows::parse(&text, limits.class_count) {
            Ok(rows) => rows,
            Err(flaws) => {
                flaws.into_iter().for_each(report);
                return None;
            }
        };
        let list = List { rows, origin };
        if size.is_none()
            && let Some(row) = list.rows.list.iter().find(|row| row.size.is_none())
        {
            let problem = list.place(row).problem("a row without a size");
            let help = "add a column size_bytes, or a size to the section";
            section.report(problem.help(help));
            return None;
        }
        Some(list)
    }

    fn place(&self, row: &Row) -> Place {
        let (start, end) = row.at;
        self.origin.place(row.line, start as usize..end as usize)
    }

    /// Writes all rows, with the columns that any of them needs.
    pub(super) fn write(&self, file: &mut File) {
        let rows = &self.rows.list;
        let has = |is_there: fn(&Row) -> bool| rows.iter().any(is_there);
        let columns: [Column; 8] = [
            (has(|row| row.size.is_some()), "size_bytes", |row| {
                row.size.map_or("-".into(), |size| size.get().to_string())
            }),
            (true, "start_ps", |row| row.start.as_ps().to_string()),
            (has(|row| row.class.is_some()), "class", |row| {
                row.class.map_or("-".into(), |class| class.to_string())
            }),
            (has(|row| row.name.is_some()), "name", |row| word(&row.name)),
            (has(|row| row.after.is_some()), "after", |row| {
                word(&row.after)
            }),
            (has(|row| row.delay != Span::ZERO), "delay_ps", |row| {
                row.delay.as_ps().to_string()
            }),
            (has(|row| row.path.is_some()), "path", |row| word(&row.path)),
            (has(|row| row.return_path.is_some()), "return_path", |row| {
                word(&row.return_path)
            }),
        ];
        let columns = Vec::from_iter(columns.into_iter().filter(|(is_there, ..)| *is_there));
        let mut text = String::from("rows = \"\"\"\nsource target");
        for (_, title, _) in &columns {
            text.push(' ');
            text.push_str(title);
        }
        for row in rows {
            let [source, target] = [row.source, row.target].map(|host| host as usize);
            let ends = [&self.rows.hosts[source], &self.rows.hosts[target]];
            write!(text, "\n{} {}", escape(ends[0]), escape(ends[1])).expect("a string");
            for (_, _, value) in &columns {
                write!(text, " {}", escape(&value(row))).expect("a string");
            }
        }
        text.push_str("\n\"\"\"");
        file.line(text);
    }
}

/// Whether a column is needed, its title, and what a row has there.
type Column = (bool, &'static str, fn(&Row) -> String);

fn word(text: &Option<Box<str>>) -> String {
    text.as_deref().unwrap_or("-").to_string()
}

/// As it stands between three quotes.
fn escape(text: &str) -> String {
    match text.contains(['"', '\\']) || text.contains(char::is_control) {
        false => text.to_string(),
        true => {
            let quoted = super::super::file::quote(text);
            quoted[1..quoted.len() - 1].to_string()
        }
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

/// As much as [`super::FLOWS_MAX`] rows with paths take.
const FILE_MAX: u64 = 1 << 30;

/// The text of the rows in `file`; `None` if it cannot be read.
pub(crate) fn inline_rows(file: &str, folder: &Path) -> Option<String> {
    let source = Source::read_named(&folder.join(file), FILE_MAX);
    source.ok().map(|source| source.text)
}

impl Planner<'_> {
    /// Adds the flows of a list, and returns how many; where pairs are wanted, each way and class
    /// once.
    pub(super) fn make_list(
        &self,
        traffic: &Traffic,
        scene: &Scene<'_>,
        made: &mut MadePlans,
    ) -> f64 {
        let Kind::List(list) = &traffic.kind else {
            return 0.0;
        };
        let rows = &list.rows.list;
        let plans = rows.iter().map(|row| self.row_plan(traffic, list, row));
        // All of them are looked at, so that every wrong one is reported.
        let plans = Vec::from_iter(plans);
        let Some(mut plans) = plans.into_iter().collect::<Option<Vec<Plan>>>() else {
            return 0.0;
        };
        if self.until.is_none() {
            let way = |plan: &Plan| {
                let ends = (plan.source, plan.target, plan.terms.class);
                (ends, plan.path.clone(), plan.return_path.clone())
            };
            plans.sort_by_cached_key(way);
            plans.dedup_by_key(|plan| way(plan));
        }
        name(&mut plans, scene);
        let follows = match self.until {
            Some(_) => self.row_follows(list),
            None => Vec::new(),
        };
        let base = made.plans.len() as u32;
        let count = plans.len() as f64;
        made.plans.append(&mut plans);
        made.follows.extend(follows.into_iter().map(|link| Link {
            first: base + link.first,
            then: base + link.then,
            ..link
        }));
        count
    }

    fn row_plan(&self, traffic: &Traffic, list: &List, row: &Row) -> Option<Plan> {
        let fabric = self.fabric;
        let end = |host: u32| {
            let name = &list.rows.hosts[host as usize];
            let node = fabric.topology.node_named(name);
            match node.filter(|node| fabric.topology.is_host(*node)) {
                Some(node) => Some(node),
                // Looked for again by one who says what is wrong.
                None => fabric.host(
                    self.sink,
                    &At {
                        value: name.clone(),
                        place: list.place(row),
                    },
                ),
            }
        };
        let (source, target) = end(row.source).zip(end(row.target))?;
        let way = |text: &Option<Box<str>>, (from, to): (NodeId, NodeId)| match text {
            None => Some(None),
            Some(text) => {
                let steps = text.split(',').map(|name| {
                    self.step(&At {
                        value: name.to_string(),
                        place: list.place(row),
                    })
                });
                let steps = Vec::from_iter(steps).into_iter();
                let steps = steps.collect::<Option<Vec<Step>>>()?;
                Some(Some(complete(steps, from, to)))
            }
        };
        let path = way(&row.path, (source, target));
        let return_path = way(&row.return_path, (target, source));
        let (path, return_path) = path.zip(return_path)?;
        let (pace, initial) = self.rates(source, &traffic.wanted)?;
        let mut terms = traffic.wanted.terms;
        let size = row.size.or(terms.size)?;
        terms.class = row
            .class
            .unwrap_or(traffic.classes.class(size, terms.class));
        terms.size = Some(size);
        terms.start = terms.start + row.start;
        terms.stop = traffic.cut();
        let place = match path.is_some() || return_path.is_some() {
            true => Arc::new(list.place(row)),
            false => Arc::clone(&traffic.place),
        };
        Some(Plan {
            name: row.name.as_deref().unwrap_or("").to_string(),
            source,
            target,
            path,
            return_path,
            round: Vec::new(),
            terms,
            pace,
            initial,
            place,
            is_made: true,
            is_exact: true,
            waits: None,
        })
    }

    /// Which rows wait for which.
    fn row_follows(&self, list: &List) -> Vec<Link> {
        let rows = &list.rows.list;
        let mut follows = Vec::new();
        let mut numbers: BTreeMap<&str, u32> = BTreeMap::new();
        let named = (0..)
            .zip(rows)
            .filter_map(|(number, row)| Some((row.name.as_deref()?, number)));
        for (name, number) in named {
            if numbers.insert(name, number).is_some() {
                let place = list.place(&rows[number as usize]);
                let problem = place.problem(format!("two rows are called {name:?}"));
                self.sink.push(problem.help("give each a name of its own"));
            }
        }
        if rows.iter().all(|row| row.after.is_none()) {
            return follows;
        }
        for (then, row) in (0..).zip(rows) {
            for name in row.after.iter().flat_map(|names| names.split(',')) {
                let Some(first) = numbers.get(name) else {
                    let message = format!("after: no row is called {name:?}");
                    let problem = list.place(row).problem(message);
                    let names = numbers.keys().copied().take(NAMES_MAX);
                    self.sink.push(problem.help(did_you_mean(name, names)));
                    continue;
                };
                follows.push(Link {
                    first: *first,
                    then,
                    delay: row.delay,
                });
            }
        }
        self.refuse_row_circle(list, &follows);
        follows
    }

    /// Reports the first row that waits for itself, through whichever others.
    fn refuse_row_circle(&self, list: &List, follows: &[Link]) {
        let rows = &list.rows.list;
        let mut sorted = Vec::from_iter(follows.iter().map(|link| (link.first, link.then)));
        sorted.sort_unstable();
        sorted.dedup();
        let mut waiting = vec![0u32; rows.len()];
        for (_, then) in &sorted {
            waiting[*then as usize] += 1;
        }
        let is_free = |row: &u32| waiting[*row as usize] == 0;
        let mut ready = Vec::from_iter((0..rows.len() as u32).filter(is_free));
        while let Some(first) = ready.pop() {
            let from = sorted.partition_point(|link| link.0 < first);
            let thens = sorted[from..].iter().take_while(|link| link.0 == first);
            for (_, then) in thens {
                waiting[*then as usize] -= 1;
                if waiting[*then as usize] == 0 {
                    ready.push(*then);
                }
            }
        }
        let stuck = waiting.iter().position(|count| *count > 0);
        if let Some(row) = stuck.map(|row| &rows[row]) {
            let message = "after: it waits for rows that wait in a circle";
            let problem = list.place(row).problem(message);
            self.sink
                .push(problem.help("let one of them start by itself"));
        }
    }
}

/// Names rows that have no name: `NAME/SOURCE->TARGET`, with a number from the second on in the
/// order of what they are.
fn name(plans: &mut [Plan], scene: &Scene<'_>) {
    let unnamed = (0..plans.len()).filter(|plan| plans[*plan].name.is_empty());
    let mut unnamed = Vec::from_iter(unnamed);
    unnamed.sort_by_cached_key(|plan| {
        let Plan { terms, .. } = &plans[*plan];
        let Plan { source, target, .. } = plans[*plan];
        let ways = (plans[*plan].path.clone(), plans[*plan].return_path.clone());
        (source, target, terms.start, terms.size, terms.class, ways)
    });
    let mut last = (None, 0);
    for plan in unnamed {
        let Plan { source, target, .. } = plans[plan];
        let ends = Some((source, target));
        let number = if last.0 == ends { last.1 + 1 } else { 1 };
        last = (ends, number);
        plans[plan].name = match number {
            1 => scene.pair_name(source, target),
            _ => scene.flow_name(source, target, format_args!("{number}")),
        };
    }
}

/// Comparing with more names than this takes too long.
const NAMES_MAX: usize = 10_000;
