//! Takes typed values out of a TOML table; what nobody has taken is an unknown key.

use std::any::Any;
use std::collections::BTreeMap;
use std::ops::{Range, RangeInclusive};

use toml::de::{DeArray, DeTable, DeValue};
use toml::{Spanned, Table, Value};

use super::file::quote;
use super::unit::{self, Quantity};
use crate::declare::{Entry, Node, Table as FilledTable};
use crate::problem::{FileId, Problem, Sink};

/// Where something was written: the file, the key path and the bytes of the text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The file; the first, unless several are read together.
    pub file: FileId,
    /// The path of the key, such as `flow[2].source`; empty for the whole file.
    pub key: String,
    /// The bytes of the text.
    pub span: Range<usize>,
}

/// A value and where it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct At<T> {
    /// The value.
    pub value: T,
    /// Where it was written.
    pub place: Place,
}

impl<T> At<T> {
    /// A value that was never written.
    pub fn of(value: T) -> At<T> {
        let place = Place::default();
        At { value, place }
    }
}

impl At<String> {
    /// The name of a node, and which of parallel links to it is meant if it is written `NODE#2`;
    /// `None` and a report if what follows the mark is no number.
    pub fn split_link(&self, sink: &Sink) -> Option<(At<String>, Option<usize>)> {
        let (name, link) = match self.value.split_once('#') {
            None => (self.value.as_str(), None),
            Some((name, number)) => match number.parse() {
                Ok(link) if link > 0 => (name, Some(link)),
                _ => {
                    let message = format!("{number:?} is no number of a link");
                    let help = "the second of parallel links to NODE is \"NODE#2\"";
                    sink.push(self.place.problem(message).help(help));
                    return None;
                }
            },
        };
        let name = At {
            value: name.to_string(),
            place: self.place.clone(),
        };
        Some((name, link))
    }
}

impl<Q: Quantity> At<Q> {
    /// Whether it lies within `range`; reports it if not.
    pub fn is_within(&self, range: &RangeInclusive<Q>, sink: &Sink) -> bool {
        let (low, high) = (range.start(), range.end());
        if (low.to_base()..=high.to_base()).contains(&self.value.to_base()) {
            return true;
        }
        let message = format!("{} is out of range", self.value.exact());
        let range = format!("{} from {} to {}", Q::NOUN, low.exact(), high.exact());
        sink.push(self.place.problem(message).expected(range));
        false
    }
}

impl Place {
    /// These bytes of the text of a file that is read alone.
    pub fn new(key: impl Into<String>, span: Range<usize>) -> Place {
        Place::default().beside(key, span)
    }

    /// Another place of the same file.
    pub fn beside(&self, key: impl Into<String>, span: Range<usize>) -> Place {
        let (file, key) = (self.file, key.into());
        Place { file, key, span }
    }

    /// From here to the byte before `end`.
    pub fn to_end(mut self, end: usize) -> Place {
        self.span.end = end;
        self
    }

    /// Where `key` would stand in the section that begins here.
    pub fn inner(&self, key: &str) -> Place {
        let path = match self.key.as_str() {
            "" => key.to_string(),
            section => format!("{section}.{key}"),
        };
        self.beside(path, self.span.clone())
    }

    /// Whether a whole number that stands here lies within `range`; reports it if not.
    pub fn has_within(&self, number: u64, range: &RangeInclusive<u64>, sink: &Sink) -> bool {
        if !range.contains(&number) {
            let problem = self.problem(format!("{number} is out of range"));
            sink.push(problem.expected(whole_numbers(range)));
        }
        range.contains(&number)
    }

    /// A problem here.
    pub fn problem(&self, message: impl Into<String>) -> Problem {
        Problem {
            file: self.file,
            key: self.key.clone(),
            ..Problem::new(self.span.clone(), message)
        }
    }

    /// The problem that `key` is missing in the section that begins here.
    pub fn missing(&self, key: &str, example: &str) -> Problem {
        self.inner(key)
            .problem("missing")
            .help(format!("add {key} = {example}"))
    }
}

/// A table that is being read.
#[derive(Debug)]
pub struct Section<'s> {
    /// Where the table begins.
    pub place: Place,
    sink: &'s Sink,
    entries: BTreeMap<String, Stored<'s>>,
    /// Every key that was asked for, in the order of asking.
    known: Vec<&'static str>,
    /// Keys that are none here, whoever asks for them.
    withheld: Vec<&'static str>,
    /// What the set of keys depends on, for messages.
    context: String,
    /// Whether required keys may be left out.
    is_lenient: bool,
}

/// What stands behind a key, before anybody has taken it.
#[derive(Debug)]
struct Stored<'s> {
    place: Place,
    key_span: Range<usize>,
    value: Raw<'s>,
}

/// A value as it was found.
#[derive(Debug)]
enum Raw<'s> {
    /// In the text of a file.
    Text(DeValue<'s>),
    /// In a section that a program filled in.
    Filled(&'s Node),
}

impl<'s> Section<'s> {
    /// The table of a whole document.
    pub fn root(sink: &'s Sink, table: DeTable<'s>) -> Section<'s> {
        Section::new(sink, Place::default(), table)
    }

    /// A table without keys.
    pub fn empty(sink: &'s Sink) -> Section<'s> {
        Section::root(sink, DeTable::new())
    }

    /// Whether exactly this text stands behind a key that was not taken yet.
    pub fn has_text(&self, key: &str, text: &str) -> bool {
        match self.entries.get(key).map(|stored| &stored.value) {
            Some(Raw::Text(value)) => value.as_str() == Some(text),
            Some(Raw::Filled(Node::Plain(value))) => *value == quote(text),
            _ => false,
        }
    }

    fn new(sink: &'s Sink, place: Place, table: DeTable<'s>) -> Section<'s> {
        let entries = table.into_iter().map(|(key, value)| {
            let key_span = key.span();
            let key = key.into_inner().into_owned();
            let stored = Stored {
                place: place.beside(place.inner(&key).key, value.span()),
                key_span,
                value: Raw::Text(value.into_inner()),
            };
            (key, stored)
        });
        let entries = entries.collect();
        Section::with(sink, place, entries)
    }

    /// A section that a program filled in. Values that nobody wrote stand where the section does.
    pub fn filled(sink: &'s Sink, place: Place, entries: &'s [Entry]) -> Section<'s> {
        let entries = entries.iter().map(|entry| {
            let inner = || place.inner(&entry.key);
            let place = entry.place.clone().unwrap_or_else(inner);
            let stored = Stored {
                key_span: place.span.clone(),
                place,
                value: Raw::Filled(&entry.node),
            };
            (entry.key.to_string(), stored)
        });
        let entries = entries.collect();
        Section::with(sink, place, entries)
    }

    fn with(sink: &'s Sink, place: Place, entries: BTreeMap<String, Stored<'s>>) -> Section<'s> {
        Section {
            place,
            sink,
            entries,
            known: Vec::new(),
            withheld: Vec::new(),
            context: String::new(),
            is_lenient: false,
        }
    }

    /// Reports a problem.
    pub fn report(&self, problem: Problem) {
        self.sink.push(problem);
    }

    /// Where problems are put.
    pub fn sink(&self) -> &'s Sink {
        self.sink
    }

    /// Says what the set of keys depends on, such as `with kind = "pfc"`.
    pub fn set_context(&mut self, context: String) {
        self.context = context;
    }

    /// What the set of keys depends on, for the tables inside.
    pub fn context(&self) -> String {
        self.context.clone()
    }

    /// Whether nothing has been reported so far.
    pub fn is_sound(&self) -> bool {
        self.sink.is_empty()
    }

    /// Whether the key was written and not taken yet.
    pub fn has(&self, key: &str) -> bool {
        self.entries.contains_key(key)
    }

    /// What `read` takes out of this section, in which `keys` are unknown to it.
    pub fn without<T>(
        &mut self,
        keys: &[&'static str],
        read: impl FnOnce(&mut Section<'s>) -> T,
    ) -> T {
        let before = self.withheld.len();
        self.withheld.extend(keys);
        let found = read(self);
        self.withheld.truncate(before);
        found
    }

    /// Takes whatever is written for `key`.
    pub fn take(&mut self, key: &'static str) -> Option<Item<'s>> {
        if self.withheld.contains(&key) {
            return None;
        }
        self.known.push(key);
        let stored = self.entries.remove(key)?;
        Some(Item::new(stored, self.sink))
    }

    /// Takes all that is left, each with its key: for tables whose keys are names.
    pub fn entries(&mut self) -> Vec<(At<String>, Item<'s>)> {
        let entries = std::mem::take(&mut self.entries).into_iter();
        let named = entries.map(|(name, stored)| {
            let place = &stored.place;
            let name = At {
                value: name,
                place: place.beside(place.key.clone(), stored.key_span.clone()),
            };
            (name, Item::new(stored, self.sink))
        });
        named.collect()
    }

    /// A table.
    pub fn table(&mut self, key: &'static str) -> Option<Section<'s>> {
        let item = self.take(key)?;
        item.table()
    }

    /// The tables of `[[key]]`, one for each time that it was written.
    pub fn tables(&mut self, key: &'static str) -> Vec<Section<'s>> {
        self.take(key).map_or(Vec::new(), Item::tables)
    }

    /// The same, where a single `[key]` is as good.
    pub fn tables_or_one(&mut self, key: &'static str) -> Vec<Section<'s>> {
        self.take(key).map_or(Vec::new(), Item::tables_or_one)
    }

    /// Reads something of which required keys may be left out.
    pub fn leniently<T>(&mut self, read: impl FnOnce(&mut Section<'s>) -> T) -> T {
        self.is_lenient = true;
        let found = read(self);
        self.is_lenient = false;
        found
    }

    /// Reports that `key`, which was asked for already, must be written.
    pub fn missing(&self, key: &str, example: &str) {
        if self.is_lenient {
            return;
        }
        let mut problem = self.place.missing(key, example);
        problem.message.push_str(&self.context);
        self.report(problem);
    }

    /// Reports that the section `key`, which was asked for already, must be written.
    pub fn missing_section(&self, key: &str) {
        let problem = self.place.inner(key).problem("this section is missing");
        self.report(problem.help(format!("add a section [{key}]")));
    }

    /// Reports every key that nobody asked for.
    pub fn finish(self) {
        for (
            key,
            Stored {
                place, key_span, ..
            },
        ) in &self.entries
        {
            let place = place.beside(place.key.clone(), key_span.clone());
            let context = &self.context;
            let problem = place.problem(format!("unknown key{context}"));
            let mut known = self.known.clone();
            known.sort_unstable();
            known.dedup();
            let problem = problem.expected(format!("one of {}", known.join(", ")));
            self.report(problem.help(did_you_mean(key, known)));
        }
    }

    /// Forgets the rest of the keys, because what they should be is not known.
    pub fn discard(&mut self) {
        self.entries.clear();
    }
}

/// A value that nobody has looked at yet.
#[derive(Debug)]
pub struct Item<'s> {
    /// Where it was written.
    pub place: Place,
    sink: &'s Sink,
    key_span: Range<usize>,
    value: DeValue<'s>,
    /// What a program filled in; then all parts of it stand at its own place.
    node: Option<&'s Node>,
}

impl<'s> Item<'s> {
    fn new(stored: Stored<'s>, sink: &'s Sink) -> Item<'s> {
        let (value, node) = match stored.value {
            Raw::Text(value) => (value, None),
            Raw::Filled(node) => (shell(node), Some(node)),
        };
        Item {
            place: stored.place,
            sink,
            key_span: stored.key_span,
            value,
            node,
        }
    }

    /// The value itself, where a program filled in one that no text stands for.
    pub fn own<T: Any>(&self) -> Option<&T> {
        let Some(Node::Own(own)) = self.node else {
            return None;
        };
        let own: &dyn Any = &**own;
        own.downcast_ref()
    }

    /// Who collects the problems of the file.
    pub fn sink(&self) -> &'s Sink {
        self.sink
    }

    /// Reports that something else was expected here.
    pub fn wrong_type<T>(&self, expected: &str) -> Option<T> {
        let found = self.value.type_str();
        let article = if found.starts_with(['a', 'i']) {
            "an"
        } else {
            "a"
        };
        let problem = self.place.problem(format!("{article} {found} stands here"));
        self.sink.push(problem.expected(expected));
        None
    }

    /// A quantity with its unit.
    pub fn quantity<Q: Quantity>(self) -> Option<At<Q>> {
        let expected = unit::unit_list::<Q>();
        let place = self.place.clone();
        match &self.value {
            DeValue::String(text) => match unit::parse(text) {
                Ok(value) => Some(At { value, place }),
                Err(refused) => {
                    let problem = place.problem(refused.message).expected(expected);
                    self.sink.push(problem.help(refused.help));
                    None
                }
            },
            DeValue::Integer(_) | DeValue::Float(_) => {
                let problem = place.problem("a number without a unit").expected(expected);
                let example = Q::EXAMPLE;
                let help = format!("write a string with a unit, for example \"{example}\"");
                self.sink.push(problem.help(help));
                None
            }
            _ => self.wrong_type(&format!("a string with {expected}")),
        }
    }

    /// A whole number within `range`.
    pub fn integer(self, range: RangeInclusive<u64>) -> Option<At<u64>> {
        let expected = whole_numbers(&range);
        let DeValue::Integer(number) = &self.value else {
            return self.wrong_type(&expected);
        };
        match u64::from_str_radix(number.as_str(), number.radix()) {
            Ok(value) if range.contains(&value) => Some(At {
                value,
                place: self.place,
            }),
            _ => {
                let problem = self.place.problem(format!("{number} is out of range"));
                self.sink.push(problem.expected(expected));
                None
            }
        }
    }

    /// A quantity with its unit that lies within `range`.
    pub fn quantity_within<Q: Quantity>(self, range: &RangeInclusive<Q>) -> Option<At<Q>> {
        let sink = self.sink;
        let found = self.quantity::<Q>()?;
        found.is_within(range, sink).then_some(found)
    }

    /// One of a few words.
    pub fn choice<T: Clone>(self, choices: &[(&str, T)]) -> Option<At<T>> {
        let sink = self.sink;
        let At { value: word, place } = self.string()?;
        if let Some((_, value)) = choices.iter().find(|(name, _)| *name == word) {
            let value = value.clone();
            return Some(At { value, place });
        }
        let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
        let problem = place.problem(format!("unknown value {word:?}"));
        let problem = problem.expected(format!("one of {}", quoted(&names)));
        sink.push(problem.help(did_you_mean(&word, names)));
        None
    }

    /// The tables of `[[key]]`, one for each time that it was written.
    pub fn tables(self) -> Vec<Section<'s>> {
        let name = self.place.key.clone();
        if self.is_table() {
            let place = Place {
                span: self.key_span,
                ..self.place
            };
            let problem = place.problem("written once, as a table, but there may be several");
            let problem = problem.expected(format!("[[{name}]]"));
            let help = format!("write [[{name}]] with two brackets on each side");
            self.sink.push(problem.help(help));
            return Vec::new();
        }
        if let Some(Node::Tables(tables)) = self.node {
            let section = |table: &'s FilledTable| {
                let place = table.place.as_ref().unwrap_or(&self.place);
                Section::filled(self.sink, place.clone(), &table.entries)
            };
            return tables.iter().map(section).collect();
        }
        let list = self.list("a list of tables");
        let list = list.map_or(Vec::new(), |list| list.value);
        list.into_iter().filter_map(Item::table).collect()
    }

    /// The same, where a single `[key]` is as good.
    pub fn tables_or_one(self) -> Vec<Section<'s>> {
        if self.is_table() {
            return self.table().into_iter().collect();
        }
        self.tables()
    }

    /// A number within `range`.
    pub fn number_within(self, range: &RangeInclusive<f64>) -> Option<At<f64>> {
        let sink = self.sink;
        let found = self.number()?;
        if range.contains(&found.value) {
            return Some(found);
        }
        let problem = found
            .place
            .problem(format!("{} is out of range", found.value));
        let (low, high) = (range.start(), range.end());
        sink.push(problem.expected(format!("a number from {low} to {high}")));
        None
    }

    /// A share between 0 and 1, in parts per thousand.
    pub fn permille(self) -> Option<At<u32>> {
        let expected = "a share from 0 to 1 with at most three decimals";
        let text = match &self.value {
            DeValue::Integer(number) if number.radix() == 10 => number.as_str(),
            DeValue::Float(number) => number.as_str(),
            _ => return self.wrong_type(expected),
        };
        let share = text.parse::<f64>().unwrap_or(f64::NAN) * 1_000.0;
        if (0.0..=1_000.0).contains(&share) && (share - share.round()).abs() < 1e-6 {
            let value = share.round() as u32;
            return Some(At {
                value,
                place: self.place,
            });
        }
        let problem = self.place.problem(format!("{text} is out of range"));
        self.sink.push(problem.expected(expected));
        None
    }

    /// A number, with or without decimals.
    pub fn number(self) -> Option<At<f64>> {
        let text = match &self.value {
            DeValue::Integer(number) if number.radix() == 10 => number.as_str(),
            DeValue::Float(number) => number.as_str(),
            _ => return self.wrong_type("a number"),
        };
        match text.parse::<f64>() {
            Ok(value) if value.is_finite() => Some(At {
                value,
                place: self.place,
            }),
            _ => {
                let problem = self.place.problem(format!("{text} is out of range"));
                self.sink.push(problem.expected("a finite number"));
                None
            }
        }
    }

    /// A list of exactly two things, for which `expected` stands in messages.
    pub fn pair(self, expected: &str) -> Option<[Item<'s>; 2]> {
        let sink = self.sink;
        let At { value, place } = self.list(expected)?;
        let pair = <[Item<'s>; 2]>::try_from(value);
        let refuse = |_| sink.push(place.problem("not a pair").expected(expected));
        pair.map_err(refuse).ok()
    }

    /// A text.
    pub fn string(self) -> Option<At<String>> {
        match self.value {
            DeValue::String(text) => Some(At {
                value: text.into_owned(),
                place: self.place,
            }),
            _ => self.wrong_type("a string"),
        }
    }

    /// True or false.
    pub fn boolean(self, expected: &str) -> Option<At<bool>> {
        match self.value {
            DeValue::Boolean(value) => Some(At {
                value,
                place: self.place,
            }),
            _ => self.wrong_type(expected),
        }
    }

    /// A list of texts. Elements that are not texts are reported and left out.
    pub fn strings(self, expected: &str) -> Option<At<Vec<At<String>>>> {
        let At { value, place } = self.list(expected)?;
        let value = value.into_iter().filter_map(Item::string).collect();
        Some(At { value, place })
    }

    /// The value itself, whatever it is.
    pub fn value(self) -> Option<At<Value>> {
        let place = self.place;
        let refuse = |number: &str| {
            let problem = place.problem(format!("{number} is out of range"));
            self.sink.push(problem);
        };
        let value = plain(self.value).map_err(|number| refuse(&number)).ok()?;
        Some(At { value, place })
    }

    /// Whether it is a table.
    pub fn is_table(&self) -> bool {
        self.value.is_table()
    }

    /// Whether it is a list.
    pub fn is_list(&self) -> bool {
        self.value.is_array()
    }

    /// Whether it is a text.
    pub fn is_string(&self) -> bool {
        self.value.is_str()
    }

    /// Whether it is true or false.
    pub fn is_boolean(&self) -> bool {
        self.value.is_bool()
    }

    /// Whether it is exactly this text.
    pub fn is_text(&self, text: &str) -> bool {
        self.value.as_str() == Some(text)
    }

    /// A list, whatever is in it; `expected` stands in messages.
    pub fn list(self, expected: &str) -> Option<At<Vec<Item<'s>>>> {
        let DeValue::Array(array) = self.value else {
            return self.wrong_type(expected);
        };
        let items = array.into_iter().enumerate().map(|(index, value)| {
            let span = match self.node {
                Some(_) => self.place.span.clone(),
                None => value.span(),
            };
            let key = format!("{}[{index}]", self.place.key);
            Item {
                place: self.place.beside(key, span.clone()),
                sink: self.sink,
                key_span: span,
                value: value.into_inner(),
                node: self.node,
            }
        });
        Some(At {
            value: items.collect(),
            place: self.place,
        })
    }

    /// A table.
    pub fn table(self) -> Option<Section<'s>> {
        if let Some(Node::Table(entries) | Node::Names(entries)) = self.node {
            return Some(Section::filled(self.sink, self.place, entries));
        }
        match self.value {
            DeValue::Table(table) => Some(Section::new(self.sink, self.place, table)),
            _ => {
                let name = &self.place.key;
                self.wrong_type(&format!("a table, such as [{name}]"))
            }
        }
    }
}

/// What a program filled in as TOML; of sections only that they are some.
fn shell(node: &Node) -> DeValue<'_> {
    let value = |text| {
        DeValue::parse(text)
            .expect("what a value shows is TOML")
            .into_inner()
    };
    match node {
        Node::Plain(text) => value(text),
        Node::Wrapped(texts) => {
            let texts = texts.iter();
            let values = texts.map(|text| Spanned::new(0..0, value(text)));
            DeValue::Array(values.collect())
        }
        Node::Own(_) => DeValue::Boolean(true),
        Node::Tables(_) => DeValue::Array(DeArray::new()),
        Node::Table(_) | Node::Names(_) => DeValue::Table(DeTable::new()),
    }
}

/// A value without its places; fails with a number that is none.
fn plain(value: DeValue<'_>) -> Result<Value, String> {
    Ok(match value {
        DeValue::String(text) => Value::String(text.into_owned()),
        DeValue::Integer(number) => {
            let parsed = i64::from_str_radix(number.as_str(), number.radix());
            Value::Integer(parsed.map_err(|_| number.to_string())?)
        }
        DeValue::Float(number) => {
            let parsed = number.as_str().parse::<f64>();
            let parsed = parsed.ok().filter(|number| number.is_finite());
            Value::Float(parsed.ok_or_else(|| number.to_string())?)
        }
        DeValue::Boolean(value) => Value::Boolean(value),
        DeValue::Datetime(value) => Value::Datetime(value),
        DeValue::Array(list) => {
            let list = list.into_iter().map(|item| plain(item.into_inner()));
            Value::Array(list.collect::<Result<_, String>>()?)
        }
        DeValue::Table(table) => {
            let entries = table.into_iter().map(|(key, value)| {
                let key = key.into_inner().into_owned();
                Ok((key, plain(value.into_inner())?))
            });
            Value::Table(entries.collect::<Result<Table, String>>()?)
        }
    })
}

/// The most similar of `names`, as a question; empty when none is similar enough.
pub fn did_you_mean<'n>(word: &str, names: impl IntoIterator<Item = &'n str>) -> String {
    // A word of a megabyte resembles nothing, and comparing is quadratic.
    if word.len() > 64 {
        return String::new();
    }
    let lower = word.to_lowercase();
    let distances = names.into_iter().map(|name| {
        let distance = strsim::osa_distance(&lower, &name.to_lowercase());
        (distance, name)
    });
    match distances.min() {
        Some((distance, name)) if distance <= 1 + word.len() / 4 => {
            format!("did you mean {name}?")
        }
        _ => String::new(),
    }
}

/// What is expected where a whole number within `range` is.
pub fn whole_numbers(range: &RangeInclusive<u64>) -> String {
    match (*range.start(), *range.end()) {
        (low, high) if low == high => format!("{low}, the only possible value"),
        (low, u64::MAX) => format!("a whole number from {low} on"),
        (low, high) => format!("a whole number from {low} to {high}"),
    }
}

/// Words with quotation marks and commas.
pub fn quoted(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("{word:?}")).collect();
    quoted.join(", ")
}
