//! What is wrong with a file that was read: all of it at once, each with its place and its fix.

use std::cell::RefCell;
use std::error::Error;
use std::fmt;
use std::ops::Range;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

use crate::source::Source;

/// One of several files that are read together, by its place among them; the first if it is alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct FileId(pub u16);

/// A mistake in a file, with its place and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The file that the problem is in.
    pub file: FileId,
    /// Where in the text, in bytes; `None` when there is no text.
    pub at: Option<Range<usize>>,
    /// The key, such as `flow_control.xoff` or `flow[2].source`; empty for the whole file.
    pub key: String,
    /// A sentence that says what is wrong.
    pub message: String,
    /// What would have been right; may be empty.
    pub expected: String,
    /// What to do about it; may be empty.
    pub help: Box<str>,
}

impl Problem {
    /// Something wrong at these bytes of the text.
    pub fn new(at: Range<usize>, message: impl Into<String>) -> Problem {
        Problem {
            file: FileId::default(),
            at: Some(at),
            key: String::new(),
            message: message.into(),
            expected: String::new(),
            help: Box::default(),
        }
    }

    /// Says in which of several files it is.
    pub fn in_file(mut self, file: FileId) -> Problem {
        self.file = file;
        self
    }

    /// Says what would have been right.
    pub fn expected(mut self, expected: impl Into<String>) -> Problem {
        self.expected = expected.into();
        self
    }

    /// Says what to do about it.
    pub fn help(mut self, help: impl Into<String>) -> Problem {
        self.help = help.into().into();
        self
    }
}

/// Everything that is wrong with a file, or with several that are read together.
#[derive(Clone, PartialEq, Eq)]
pub struct Problems {
    files: Vec<Source>,
    list: Vec<Problem>,
}

impl Problems {
    /// `list` of what is wrong with `text`, in order of place.
    pub fn new(file: &str, text: &str, list: Vec<Problem>) -> Problems {
        let source = Source { file: file.to_string(), text: text.to_string() };
        Problems::of_sources(vec![source], list)
    }

    /// `list` of what is wrong with `files`, by file and in order of place.
    pub fn of_sources(files: Vec<Source>, mut list: Vec<Problem>) -> Problems {
        let place = |problem: &Problem| {
            let start = problem.at.as_ref().map_or(0, |at| at.start);
            (problem.file, start)
        };
        list.sort_by(|a, b| (place(a), &a.message).cmp(&(place(b), &b.message)));
        list.dedup();
        Problems { files, list }
    }

    /// One problem with a file that has no text to point into.
    pub fn of_file(file: &str, message: String, help: &str) -> Problems {
        let problem = Problem { at: None, ..Problem::new(0..0, message).help(help) };
        Problems::new(file, "", vec![problem])
    }

    /// The files that were read, in the order of their numbers, and all that is wrong with them.
    pub fn into_parts(self) -> (Vec<Source>, Vec<Problem>) {
        (self.files, self.list)
    }

    /// The file, as it was named; the first of several.
    pub fn file(&self) -> &str {
        &self.files[0].file
    }

    /// The file that `problem` is in, as it was named.
    pub fn file_of(&self, problem: &Problem) -> &str {
        &self.source(problem).file
    }

    fn source(&self, problem: &Problem) -> &Source {
        &self.files[usize::from(problem.file.0)]
    }

    /// All of them, by file and in order of place.
    pub fn list(&self) -> &[Problem] {
        &self.list
    }

    /// Line and column of a problem, both from 1; the column counts characters.
    pub fn position(&self, problem: &Problem) -> Option<(usize, usize)> {
        let at = problem.at.as_ref()?;
        let text = &self.source(problem).text;
        let before = &text[..char_floor(text, at.start)];
        let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Some((line, before[line_start..].chars().count() + 1))
    }

    /// As text for people, one block per problem, with colours if so wanted.
    pub fn render(&self, colours: bool) -> String {
        let renderer = if colours { Renderer::styled() } else { Renderer::plain() };
        let mut blocks = Vec::new();
        for list in self.list.chunk_by(|a, b| a.file == b.file) {
            let shown = list.iter().take(SHOWN_MAX);
            blocks.extend(shown.map(|one| self.render_one(&renderer, one)));
            if list.len() > SHOWN_MAX {
                let left = list.len() - SHOWN_MAX;
                let file = self.file_of(&list[0]);
                blocks.push(format!("pauseless: {file}: and {left} more problems"));
            }
        }
        blocks.join("\n\n")
    }

    fn render_one(&self, renderer: &Renderer, problem: &Problem) -> String {
        let file = self.file_of(problem);
        let key = match problem.key.as_str() {
            "" => String::new(),
            key => format!("{}: ", one_line(key)),
        };
        let message = one_line(&problem.message);
        let Some((line, column)) = self.position(problem) else {
            let expected = match problem.expected.as_str() {
                "" => String::new(),
                expected => format!(", expected {expected}"),
            };
            let help = match &*problem.help {
                "" => String::new(),
                help => format!("\n  = help: {help}"),
            };
            return format!("pauseless: {file}: {key}{message}{expected}{help}");
        };
        let title = format!("pauseless: {file}:{line}:{column}: {key}{message}");
        let excerpt = self.excerpt(problem);
        let annotation = AnnotationKind::Primary.span(excerpt.span.clone());
        let annotation = match problem.expected.as_str() {
            "" => annotation,
            expected => annotation.label(format!("expected {expected}")),
        };
        let snippet = Snippet::source(excerpt.text).line_start(line).annotation(annotation);
        let mut group = Group::with_level(Level::ERROR).element(snippet);
        if !problem.help.is_empty() {
            group = group.element(Level::HELP.message(one_line(&problem.help)));
        }
        format!("{title}\n{}", renderer.render(&[group]))
    }

    /// The line of a problem, or as much of it as is worth showing.
    fn excerpt(&self, problem: &Problem) -> Excerpt {
        const WIDTH: usize = 120;
        let text = &self.source(problem).text;
        let at = problem.at.clone().unwrap_or(0..0);
        let start = char_floor(text, at.start);
        let line_start = text[..start].rfind('\n').map_or(0, |newline| newline + 1);
        let line_end = text[start..].find('\n').map_or(text.len(), |n| start + n);
        let from = char_floor(text, line_start.max(start.saturating_sub(WIDTH / 2)));
        let to = char_floor(text, line_end.min(from + WIDTH)).max(start);
        let end = char_floor(text, at.end.clamp(start, to));
        // Control characters would move the cursor of the terminal.
        let clean =
            |part: &str| part.replace('\t', " ").replace(|c: char| c.is_control(), "\u{fffd}");
        let (before, inside) = (clean(&text[from..start]), clean(&text[start..end]));
        let span = before.len()..before.len() + inside.len();
        Excerpt { text: before + &inside + clean(&text[end..to]).trim_end(), span }
    }
}

struct Excerpt {
    text: String,
    span: Range<usize>,
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(false))
    }
}

impl fmt::Debug for Problems {
    /// The same as for people, so that a `main` may return them.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl Error for Problems {}

/// Where readers put what they find, so that one problem does not hide the next.
#[derive(Debug, Default)]
pub struct Sink {
    list: RefCell<Vec<Problem>>,
}

impl Sink {
    /// Adds a problem to those found so far.
    pub fn push(&self, problem: Problem) {
        self.list.borrow_mut().push(problem);
    }

    /// What was read, or a report of why it could not be.
    pub fn take<T>(&self, read: Result<T, Problem>) -> Option<T> {
        read.map_err(|problem| self.push(problem)).ok()
    }

    /// Whether nothing wrong was found so far.
    pub fn is_empty(&self) -> bool {
        self.list.borrow().is_empty()
    }

    /// How many problems were found so far.
    pub fn count(&self) -> usize {
        self.list.borrow().len()
    }

    /// All problems, in the order in which they were found.
    pub fn into_list(self) -> Vec<Problem> {
        self.list.into_inner()
    }
}

/// The largest boundary between characters that is not above `index`.
fn char_floor(text: &str, index: usize) -> usize {
    let mut floor = index.min(text.len());
    while !text.is_char_boundary(floor) {
        floor -= 1;
    }
    floor
}

/// `text` without what would move the cursor, and no longer than a few lines.
fn one_line(text: &str) -> String {
    const LENGTH_MAX: usize = 300;
    let clean = |c: char| if c.is_control() { '\u{fffd}' } else { c };
    let mut line: String = text.chars().take(LENGTH_MAX).map(clean).collect();
    if text.chars().nth(LENGTH_MAX).is_some() {
        line.push_str("..");
    }
    line
}

/// The most problems that are shown.
const SHOWN_MAX: usize = 50;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn problems_of_several_files_are_each_shown_in_its_own() {
        let source =
            |file: &str, text: &str| Source { file: file.to_string(), text: text.to_string() };
        let files = vec![source("config.txt", "A 1\nB 2\n"), source("flow.txt", "1 2 3\n")];
        let mut list = vec![
            Problem::new(2..3, "two").in_file(FileId(1)),
            Problem::new(4..5, "one").help("mend it"),
        ];
        let problems = Problems::of_sources(files.clone(), list.clone());
        let places = problems.list().iter();
        let places = places.map(|one| (problems.file_of(one), problems.position(one)));
        assert_eq!(
            Vec::from_iter(places),
            [("config.txt", Some((2, 1))), ("flow.txt", Some((1, 3)))]
        );
        let text = problems.to_string();
        assert!(text.starts_with("pauseless: config.txt:2:1: one\n"));
        assert!(text.contains("2 | B 2"), "{text}");
        assert!(text.contains("\n\npauseless: flow.txt:1:3: two\n"), "{text}");
        assert!(text.contains("1 | 1 2 3"), "{text}");
        // Many in one file do not hide those in the next.
        list.extend((0..60).map(|n| Problem::new(0..1, format!("many {n:02}"))));
        let text = Problems::of_sources(files, list).to_string();
        assert!(
            text.contains("pauseless: config.txt: and 11 more problems\n\npauseless: flow.txt:1:3"),
            "{text}"
        );
    }
}
