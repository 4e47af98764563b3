//! Values of a TOML file before their type is known, and the types that they can be taken as.

use std::any::Any;
use std::ops::{Range, RangeInclusive};

use toml::de::{DeArray, DeTable, DeValue};
use toml::{Spanned, Table, Value};

use super::{At, Place, Raw, Section, Stored, did_you_mean, quoted, whole_numbers};
use crate::declare::{Node, Table as FilledTable};
use crate::problem::Sink;
use crate::unit::{self, Quantity};

/// A value of a TOML file whose type was not checked yet.
#[derive(Debug)]
pub struct Item<'s> {
    /// The place at which the value was written.
    pub place: Place,
    sink: &'s Sink,
    key_span: Range<usize>,
    value: DeValue<'s>,
    /// What a program filled in; then all parts of it stand at its own place.
    node: Option<&'s Node>,
}

impl<'s> Item<'s> {
    pub(super) fn new(stored: Stored<'s>, sink: &'s Sink) -> Item<'s> {
        let (value, node) = match stored.value {
            Raw::Text(value) => (value, None),
            Raw::Filled(node) => (shell(node), Some(node)),
        };
        Item { place: stored.place, sink, key_span: stored.key_span, value, node }
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
        let article = if found.starts_with(['a', 'i']) { "an" } else { "a" };
        let problem = self.place.problem(format!("{article} {found} stands here"));
        self.sink.push(problem.expected(expected));
        None
    }

    /// A quantity with its unit.
    pub fn quantity<Q: Quantity>(self) -> Option<At<Q>> {
        let expected = unit::unit_list::<Q>;
        match &self.value {
            DeValue::String(text) => match unit::parse(text) {
                Ok(value) => Some(At { value, place: self.place }),
                Err(refused) => {
                    let problem = self.place.problem(refused.message).expected(expected());
                    self.sink.push(problem.help(refused.help));
                    None
                }
            },
            DeValue::Integer(_) | DeValue::Float(_) => {
                let problem = self.place.problem("a number without a unit").expected(expected());
                let example = Q::EXAMPLE;
                let help = format!("write a string with a unit, for example \"{example}\"");
                self.sink.push(problem.help(help));
                None
            }
            _ => self.wrong_type(&format!("a string with {}", expected())),
        }
    }

    /// A whole number within `range`.
    pub fn integer(self, range: RangeInclusive<u64>) -> Option<At<u64>> {
        let expected = || whole_numbers(&range);
        let DeValue::Integer(number) = &self.value else {
            return self.wrong_type(&expected());
        };
        match u64::from_str_radix(number.as_str(), number.radix()) {
            Ok(value) if range.contains(&value) => Some(At { value, place: self.place }),
            _ => {
                let problem = self.place.problem(format!("{number} is out of range"));
                self.sink.push(problem.expected(expected()));
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

    /// The value as one of a few words; else a problem is reported.
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

    /// The tables of `[[key]]`, one for each time that it was written. Each is made when it is asked
    /// for, since there may be very many.
    pub fn tables(self) -> impl Iterator<Item = Section<'s>> + use<'s> {
        let (sink, place) = (self.sink, self.place.clone());
        let filled = match self.node {
            Some(Node::Tables(tables)) => &tables[..],
            _ => &[],
        };
        let listed = if self.is_table() {
            let name = &place.key;
            let problem = place.beside(name.clone(), self.key_span);
            let problem = problem.problem("written once, as a table, but there may be several");
            let problem = problem.expected(format!("[[{name}]]"));
            let help = format!("write [[{name}]] with two brackets on each side");
            sink.push(problem.help(help));
            Vec::new()
        } else {
            self.list("a list of tables").map_or(Vec::new(), |list| list.value)
        };
        let filled = filled.iter().map(move |table: &FilledTable| {
            let place = table.place.as_ref().unwrap_or(&place);
            Section::filled(sink, place.clone(), &table.entries)
        });
        filled.chain(listed.into_iter().filter_map(Item::table))
    }

    /// The sections `[[key]]`, or a single `[key]`.
    pub fn tables_or_one(self) -> Vec<Section<'s>> {
        if self.is_table() {
            return self.table().into_iter().collect();
        }
        self.tables().collect()
    }

    /// A number within `range`.
    pub fn number_within(self, range: &RangeInclusive<f64>) -> Option<At<f64>> {
        let sink = self.sink;
        let found = self.number()?;
        if range.contains(&found.value) {
            return Some(found);
        }
        let problem = found.place.problem(format!("{} is out of range", found.value));
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
            return Some(At { value, place: self.place });
        }
        self.sink.push(self.place.problem(format!("{text} is out of range")).expected(expected));
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
            Ok(value) if value.is_finite() => Some(At { value, place: self.place }),
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

    /// The value as a text; else a problem is reported.
    pub fn string(self) -> Option<At<String>> {
        match self.value {
            DeValue::String(text) => Some(At { value: text.into_owned(), place: self.place }),
            _ => self.wrong_type("a string"),
        }
    }

    /// The value as true or false; else a problem is reported.
    pub fn boolean(self, expected: &str) -> Option<At<bool>> {
        match self.value {
            DeValue::Boolean(value) => Some(At { value, place: self.place }),
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
            self.sink.push(place.problem(format!("{number} is out of range")));
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
            Item {
                place: self.place.element(index, span.clone()),
                sink: self.sink,
                key_span: span,
                value: value.into_inner(),
                node: self.node,
            }
        });
        Some(At { value: items.collect(), place: self.place })
    }

    /// The value as a section with keys; else a problem is reported.
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
    let value = |text| DeValue::parse(text).expect("values are written as TOML").into_inner();
    match node {
        Node::Plain(text) => value(text),
        Node::Wrapped(texts) => {
            let values = texts.iter().map(|text| Spanned::new(0..0, value(text)));
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
            let parsed = number.as_str().parse::<f64>().ok().filter(|number| number.is_finite());
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
