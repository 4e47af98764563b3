//! The kinds of values that a key can have.

use std::ops::{Deref, RangeInclusive};

use pauseless_core::unit::{Bytes, Rate, Span};

use super::describe::{Declared, Kind};
use crate::scenario::file::{File, quote};
use crate::scenario::reader::{At, Item};
use crate::scenario::unit::Quantity;

/// A kind of value that stands behind a key.
pub trait FileValue: Sized + Clone {
    /// What limits it, such as a range.
    type Limit: Default;

    /// Takes it from a file; reports what is wrong.
    fn take(item: Item<'_>, limit: &Self::Limit) -> Option<At<Self>>;

    /// What can be written.
    fn kind(limit: &Self::Limit) -> Kind;

    /// The value as a file has it, on one line; empty for sections, which [`FileValue::write`]
    /// puts below all keys.
    fn show(&self) -> String;

    /// Whether it is a section of its own, which stands behind all plain keys.
    const IS_SECTION: bool = false;

    /// Writes `key` with this value.
    fn write(&self, key: &str, file: &mut File) {
        file.plain(key, self.show());
    }
}

/// A range, or none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Within<T>(pub Option<RangeInclusive<T>>);

impl<T> Default for Within<T> {
    fn default() -> Within<T> {
        Within(None)
    }
}

impl<T> From<RangeInclusive<T>> for Within<T> {
    fn from(range: RangeInclusive<T>) -> Within<T> {
        Within(Some(range))
    }
}

macro_rules! quantity {
    ($($type:ty),*) => {$(
        impl FileValue for $type {
            type Limit = Within<$type>;

            fn take(item: Item<'_>, limit: &Within<$type>) -> Option<At<$type>> {
                match &limit.0 {
                    Some(range) => item.quantity_within(range),
                    None => item.quantity(),
                }
            }

            fn kind(limit: &Within<$type>) -> Kind {
                let ends = |range: &RangeInclusive<$type>| {
                    [range.start().exact(), range.end().exact()]
                };
                Kind::Quantity {
                    noun: <$type>::NOUN,
                    units: <$type>::UNITS.iter().map(|(unit, _)| *unit).collect(),
                    range: limit.0.as_ref().map(ends),
                }
            }

            fn show(&self) -> String {
                quote(&self.exact())
            }
        }
    )*};
}

quantity!(Span, Rate, Bytes);

macro_rules! integer {
    ($($type:ty),*) => {$(
        impl FileValue for $type {
            type Limit = Within<u64>;

            fn take(item: Item<'_>, limit: &Within<u64>) -> Option<At<$type>> {
                let range = limit.0.clone().unwrap_or(0..=u64::from(<$type>::MAX));
                let At { value, place } = item.integer(range)?;
                let value = <$type>::try_from(value).expect("the range is one of this type");
                Some(At { value, place })
            }

            fn kind(limit: &Within<u64>) -> Kind {
                let range = limit.0.clone().unwrap_or(0..=u64::from(<$type>::MAX));
                Kind::Integer { low: *range.start(), high: *range.end() }
            }

            fn show(&self) -> String {
                self.to_string()
            }
        }
    )*};
}

integer!(u8, u16, u32, u64);

impl FileValue for f64 {
    type Limit = Within<f64>;

    fn take(item: Item<'_>, limit: &Within<f64>) -> Option<At<f64>> {
        match &limit.0 {
            Some(range) => item.number_within(range),
            None => item.number(),
        }
    }

    fn kind(limit: &Within<f64>) -> Kind {
        let range = limit.0.clone().unwrap_or(f64::MIN..=f64::MAX);
        Kind::Number {
            low: *range.start(),
            high: *range.end(),
        }
    }

    fn show(&self) -> String {
        format!("{self:?}")
    }
}

/// A share of one in parts per thousand, written with decimals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Permille(pub u32);

impl FileValue for Permille {
    type Limit = ();

    fn take(item: Item<'_>, (): &()) -> Option<At<Permille>> {
        let At { value, place } = item.permille()?;
        let value = Permille(value);
        Some(At { value, place })
    }

    fn kind((): &()) -> Kind {
        Kind::Number {
            low: 0.0,
            high: 1.0,
        }
    }

    fn show(&self) -> String {
        format!("{}.{:03}", self.0 / 1_000, self.0 % 1_000)
    }
}

impl FileValue for bool {
    type Limit = ();

    fn take(item: Item<'_>, (): &()) -> Option<At<bool>> {
        item.boolean("true or false")
    }

    fn kind((): &()) -> Kind {
        Kind::Flag
    }

    fn show(&self) -> String {
        self.to_string()
    }
}

/// What a text is, such as `the name of a host`.
#[derive(Clone, Copy, Debug)]
pub struct What(&'static str);

impl Default for What {
    fn default() -> What {
        What("a text")
    }
}

impl From<&'static str> for What {
    fn from(what: &'static str) -> What {
        What(what)
    }
}

impl FileValue for String {
    type Limit = What;

    fn take(item: Item<'_>, _: &What) -> Option<At<String>> {
        item.string()
    }

    fn kind(what: &What) -> Kind {
        Kind::Text(what.0)
    }

    fn show(&self) -> String {
        quote(self)
    }
}

/// A list in which every element has its place. Elements that are wrong are reported and left out.
pub type List<T> = Vec<At<T>>;

/// What limits the elements of a list, and what it is called in messages.
#[derive(Debug)]
pub struct Each<L> {
    limit: L,
    expected: &'static str,
    least: usize,
}

impl<L> Each<L> {
    /// What limits each element.
    pub(super) fn limit(&self) -> &L {
        &self.limit
    }
}

impl<L: Default> Each<L> {
    /// Elements without a limit, of which there must be some.
    pub fn some() -> Each<L> {
        Each {
            least: 1,
            ..Each::default()
        }
    }
}

impl<L: Default> Default for Each<L> {
    fn default() -> Each<L> {
        Each {
            limit: L::default(),
            expected: "a list",
            least: 0,
        }
    }
}

impl<T> From<RangeInclusive<T>> for Each<Within<T>> {
    fn from(range: RangeInclusive<T>) -> Each<Within<T>> {
        Each {
            limit: range.into(),
            expected: "a list",
            least: 0,
        }
    }
}

impl From<&'static str> for Each<What> {
    fn from(expected: &'static str) -> Each<What> {
        Each {
            limit: What::default(),
            expected,
            least: 0,
        }
    }
}

impl<T: FileValue> FileValue for List<T> {
    type Limit = Each<T::Limit>;

    fn take(item: Item<'_>, each: &Self::Limit) -> Option<At<List<T>>> {
        let sink = item.sink();
        let At { value, place } = item.list(each.expected)?;
        if value.len() < each.least {
            sink.push(place.problem("an empty list").help("write some values"));
            return None;
        }
        let items = value.into_iter();
        let value = items
            .filter_map(|item| T::take(item, &each.limit))
            .collect();
        Some(At { value, place })
    }

    fn kind(each: &Self::Limit) -> Kind {
        Kind::List {
            of: Box::new(T::kind(&each.limit)),
            least: each.least,
            most: None,
        }
    }

    fn show(&self) -> String {
        let shown = Vec::from_iter(self.iter().map(|at| at.value.show()));
        format!("[{}]", shown.join(", "))
    }
}

/// Sections `[[key]]` that may be written several times.
#[derive(Clone, Debug, Default)]
pub struct Tables<T>(pub Vec<T>);

/// Sections `[[key]]`, where a single `[key]` is as good.
#[derive(Clone, Debug, Default)]
pub struct TablesOrOne<T>(pub Vec<T>);

macro_rules! tables {
    ($type:ident, $kind:ident, $take:ident) => {
        impl<T> Deref for $type<T> {
            type Target = [T];

            fn deref(&self) -> &[T] {
                &self.0
            }
        }

        impl<T: Declared + Clone> FileValue for $type<T> {
            type Limit = ();
            const IS_SECTION: bool = true;

            fn take(item: Item<'_>, (): &()) -> Option<At<$type<T>>> {
                let place = item.place.clone();
                let tables = item.$take().into_iter().map(|mut section| {
                    let table = T::read(&mut section);
                    section.finish();
                    table
                });
                let value = $type(tables.collect());
                Some(At { value, place })
            }

            fn kind((): &()) -> Kind {
                Kind::$kind(Box::new(T::info()))
            }

            fn show(&self) -> String {
                String::new()
            }

            fn write(&self, key: &str, file: &mut File) {
                let path = file.inner_path(key);
                for table in &self.0 {
                    file.section(&format!("[[{path}]]"));
                    table.write(file);
                }
            }
        }
    };
}

tables!(Tables, Tables, tables);
tables!(TablesOrOne, TablesOrOne, tables_or_one);
