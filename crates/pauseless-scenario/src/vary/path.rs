//! Where a key path leads in the text of a scenario.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use pauseless_text::file;
use pauseless_text::problem::Problem;
use pauseless_text::reader::{Place, did_you_mean};

/// The result of looking for a path.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// The value stands at these bytes of the text.
    Value(Range<usize>),
    /// To a key that is not written: its value belongs between these two.
    Missing { before: String, after: String },
}

/// What a path may lead to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// A single value, in a section that is written or could be.
    Values,
    /// Whole lists, and sections inside sections that nobody has written, too.
    Anything,
}

/// Follows `path`: keys of tables, and of lists names, kinds or positions from 1, separated by
/// points.
pub(super) fn find(
    text: &str,
    root: &DeTable<'_>,
    path: &str,
    reach: Reach,
) -> Result<Found, Problem> {
    let walk = Walk { text, path, reach };
    let (key, rest) = split(path);
    match get(root, &key) {
        Some(value) => walk.value(value, rest),
        None if key.is_empty() => Err(walk.problem("an empty key", keys(root), &key)),
        None => match rest {
            None => Ok(Found::Missing {
                before: format!("{} = ", file::key(&key)),
                after: format!("\n{text}"),
            }),
            // A section that is left out altogether.
            Some(rest) => match split(rest) {
                (last, None) if !last.is_empty() => {
                    let header = format!("\n[{}]\n{} = ", file::key(&key), file::key(&last));
                    Ok(Found::Missing {
                        before: format!("{text}\n{header}"),
                        after: "\n".to_string(),
                    })
                }
                (inner, Some(_)) if reach == Reach::Anything && !inner.is_empty() => {
                    let header = format!("\n[{}]\n{} = ", file::key(&key), dotted(rest));
                    Ok(Found::Missing {
                        before: format!("{text}\n{header}"),
                        after: "\n".to_string(),
                    })
                }
                _ => Err(walk.problem(&format!("there is no {key}"), keys(root), &key)),
            },
        },
    }
}

/// Where a path of keys can be added to a section that is written.
pub(super) fn add(text: &str, root: &DeTable<'_>, section: &str, path: &str) -> Option<Found> {
    let walk = Walk { text, path, reach: Reach::Anything };
    let (mut table, mut span, mut rest) = (root, 0..0, Some(section));
    while let Some(keys) = rest {
        let (key, more) = split(keys);
        let value = get(table, &key)?;
        (table, span, rest) = (value.get_ref().as_table()?, value.span(), more);
    }
    Some(walk.addition(table, span, &dotted(path)))
}

struct Walk<'t> {
    text: &'t str,
    path: &'t str,
    reach: Reach,
}

impl Walk<'_> {
    /// What `rest` is in `value`.
    fn value(&self, value: &Spanned<DeValue<'_>>, rest: Option<&str>) -> Result<Found, Problem> {
        match (value.get_ref(), rest) {
            (DeValue::Table(table), Some(rest)) => self.table(table, value.span(), rest),
            (DeValue::Array(list), Some(rest)) => self.list(list, rest),
            (DeValue::Table(table), None) => {
                Err(self.problem("a section, not a value: name one of its keys", keys(table), ""))
            }
            (DeValue::Array(_), None) if self.reach == Reach::Anything => {
                Ok(Found::Value(value.span()))
            }
            (DeValue::Array(list), None) => {
                Err(self.problem("a list, not a value: name one of its elements", names(list), ""))
            }
            (_, None) => Ok(Found::Value(value.span())),
            (_, Some(rest)) => {
                let message = format!("{rest} lies in a value that is no section");
                Err(self.problem(&message, Vec::new(), ""))
            }
        }
    }

    fn table(&self, table: &DeTable<'_>, span: Range<usize>, rest: &str) -> Result<Found, Problem> {
        let (key, rest) = split(rest);
        match (get(table, &key), rest) {
            (Some(value), rest) => self.value(value, rest),
            (None, None) if !key.is_empty() => Ok(self.addition(table, span, &file::key(&key))),
            (None, Some(rest)) if self.reach == Reach::Anything && !key.is_empty() => {
                Ok(self.addition(table, span, &format!("{}.{}", file::key(&key), dotted(rest))))
            }
            _ => Err(self.problem(&format!("there is no {key:?}"), keys(table), &key)),
        }
    }

    /// An element of a list, by its name or its position, and what is left of the path.
    fn list(&self, list: &[Spanned<DeValue<'_>>], rest: &str) -> Result<Found, Problem> {
        let after = |name: &str| {
            let rest = rest.strip_prefix(&format!("\"{name}\"")).or(rest.strip_prefix(name))?;
            match rest {
                "" => Some(None),
                rest => rest.strip_prefix('.').map(Some),
            }
        };
        let all = list.iter().enumerate().map(|(index, element)| {
            let name = name_of(element).unwrap_or_default();
            (index, element, name)
        });
        let all = Vec::from_iter(all);
        let named = all.iter().filter(|(_, _, name)| !name.is_empty());
        let mut named = Vec::from_iter(named.filter(|(_, _, name)| after(name).is_some()));
        // Of `F` and `F.1` the longer name is meant.
        named.sort_by_key(|(index, _, name)| (std::cmp::Reverse(name.len()), *index));
        if let [(_, _, first), (_, _, second), ..] = named[..]
            && first == second
        {
            let message = format!("several are called {first:?}: name it by its position, from 1");
            return Err(self.problem(&message, Vec::new(), ""));
        }
        if let Some((_, element, name)) = named.first() {
            return self.value(element, after(name).flatten());
        }
        let (word, more) = split(rest);
        let mut of_kind = list.iter().filter(|element| kind_of(element) == Some(word.as_str()));
        if let Some(element) = of_kind.next() {
            if of_kind.next().is_some() {
                let message =
                    format!("several are of kind {word:?}: name one by its position, from 1");
                return Err(self.problem(&message, names(list), ""));
            }
            return self.value(element, more);
        }
        let position = word.parse::<usize>().ok();
        let element = position.and_then(|position| list.get(position.checked_sub(1)?));
        match (element, position) {
            (Some(element), _) => self.value(element, more),
            (None, Some(0)) => {
                let message =
                    "positions count from 1 here, although messages about files count from 0";
                Err(self.problem(message, names(list), ""))
            }
            (None, _) => {
                let message = format!("no element is {word:?}; there are {}", list.len());
                Err(self.problem(&message, names(list), &word))
            }
        }
    }

    /// Where a new key of a table can be written; `key` is TOML already.
    fn addition(&self, table: &DeTable<'_>, span: Range<usize>, key: &str) -> Found {
        let text = self.text;
        if text[span.start..].starts_with('{') {
            let (before, after) = text.split_at(span.start + 1);
            let comma = if table.is_empty() { "" } else { "," };
            return Found::Missing {
                before: format!("{before} {key} = "),
                after: format!("{comma}{after}"),
            };
        }
        let end = text[span.start..].find('\n');
        let (before, after) = text.split_at(end.map_or(text.len(), |end| span.start + end));
        Found::Missing { before: format!("{before}\n{key} = "), after: after.to_string() }
    }

    fn problem(&self, message: &str, there: Vec<String>, word: &str) -> Problem {
        let mut problem = Place::new(self.path, 0..0).problem(message);
        // It is a word of the command line and not of the file.
        problem.at = None;
        let similar = did_you_mean(word, there.iter().map(String::as_str));
        let more = there.len().saturating_sub(SHOWN_MAX);
        let shown = Vec::from_iter(there.into_iter().take(SHOWN_MAX)).join(", ");
        let shown = match more {
            0 => shown,
            more => format!("{shown} and {more} more"),
        };
        match (similar.as_str(), shown.as_str()) {
            (_, "") => problem.help(similar),
            ("", _) => problem.help(format!("there are {shown}")),
            _ => problem.help(format!("{similar} there are {shown}")),
        }
    }
}

/// The rest of a path as a key of TOML.
fn dotted(path: &str) -> String {
    match split(path) {
        (key, None) => file::key(&key),
        (key, Some(rest)) => format!("{}.{}", file::key(&key), dotted(rest)),
    }
}

/// The first key of a path, and what follows it.
fn split(path: &str) -> (String, Option<&str>) {
    if let Some(rest) = path.strip_prefix('"')
        && let Some((key, rest)) = rest.split_once('"')
    {
        let rest = rest.strip_prefix('.').or((!rest.is_empty()).then_some(rest));
        return (key.to_string(), rest);
    }
    match path.split_once('.') {
        Some((key, rest)) => (key.to_string(), Some(rest)),
        None => (path.to_string(), None),
    }
}

fn get<'t, 'i>(table: &'t DeTable<'i>, key: &str) -> Option<&'t Spanned<DeValue<'i>>> {
    table.iter().find(|(name, _)| name.get_ref().as_ref() == key).map(|(_, value)| value)
}

fn keys(table: &DeTable<'_>) -> Vec<String> {
    table.iter().map(|(name, _)| name.get_ref().to_string()).collect()
}

/// What the elements of a list can be called.
fn names(list: &[Spanned<DeValue<'_>>]) -> Vec<String> {
    let names = (1..).zip(list).map(|(position, element): (usize, _)| {
        match (name_of(element), kind_of(element)) {
            (Some(name), _) => format!("{name:?}"),
            (None, Some(kind)) => format!("{position} ({kind})"),
            (None, None) => position.to_string(),
        }
    });
    names.collect()
}

/// What kind of element it is, such as `incast` of `[[traffic]]`.
fn kind_of<'t>(element: &'t Spanned<DeValue<'_>>) -> Option<&'t str> {
    get(element.get_ref().as_table()?, "kind")?.get_ref().as_str()
}

/// An element's name, or its ends as a flow is called by.
fn name_of(element: &Spanned<DeValue<'_>>) -> Option<String> {
    let table = element.get_ref().as_table()?;
    let text = |key: &str| get(table, key)?.get_ref().as_str();
    match text("name") {
        Some(name) => Some(name.to_string()),
        None => Some(format!("{}->{}", text("source")?, text("target")?)),
    }
}

/// The most names that a message lists.
const SHOWN_MAX: usize = 12;
