//! The kinds of values that a key can have.

use std::ops::{Deref, RangeInclusive};

use pauseless_core::unit::{Bytes, Rate, Span};

use super::describe::{Declared, Kind};
use super::entry::{Entry, Node, Table, Written};
use super::macros::Words;
use crate::file::quote;
use crate::reader::{At, Item, Place};

/// A kind of value that stands behind a key.
pub trait FileValue: Sized + Clone {
    /// What limits it, such as a range.
    type Limit: Default;

    /// Takes it from a file; reports what is wrong.
    fn take(item: Item<'_>, limit: &Self::Limit) -> Option<At<Self>>;

    /// The values that can be written, for documents and schemas.
    fn kind(limit: &Self::Limit) -> Kind;

    /// The value as a file has it, on one line; empty for sections.
    fn show(&self) -> String {
        String::new()
    }

    /// Whether it is a section of its own, which stands behind all plain keys.
    const IS_SECTION: bool = false;

    /// What stands behind the key; sections say it, for others it is what they show.
    fn node(&self) -> Node {
        Node::Plain(self.show())
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

/// Makes a [`Quantity`](crate::unit::Quantity) a kind of value that stands behind a key.
#[macro_export]
macro_rules! quantity {
    ($($type:ty),*) => {$(
        impl $crate::declare::FileValue for $type {
            type Limit = $crate::declare::Within<$type>;

            fn take(
                item: $crate::declare::Item<'_>,
                limit: &Self::Limit,
            ) -> Option<$crate::declare::At<$type>> {
                match &limit.0 {
                    Some(range) => item.quantity_within(range),
                    None => item.quantity(),
                }
            }

            fn kind(limit: &Self::Limit) -> $crate::declare::Kind {
                $crate::declare::Kind::quantity(&limit.0)
            }

            fn show(&self) -> String {
                use $crate::unit::Quantity;
                $crate::file::quote(&self.exact())
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
        Kind::Number { low: *range.start(), high: *range.end() }
    }

    fn show(&self) -> String {
        format!("{self:?}")
    }
}

/// A share of one in parts per thousand, written with decimals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Permille(pub u32);

impl Permille {
    fn share(thousandths: u32) -> f64 {
        f64::from(thousandths) / 1_000.0
    }
}

impl FileValue for Permille {
    type Limit = Within<u32>;

    fn take(item: Item<'_>, limit: &Within<u32>) -> Option<At<Permille>> {
        let sink = item.sink();
        let At { value, place } = item.permille()?;
        if let Some(range) = &limit.0
            && !range.contains(&value)
        {
            let problem = place.problem(format!("{} is out of range", Permille::share(value)));
            let [low, high] = [*range.start(), *range.end()].map(Permille::share);
            sink.push(problem.expected(format!("a share from {low} to {high}")));
            return None;
        }
        let value = Permille(value);
        Some(At { value, place })
    }

    fn kind(limit: &Within<u32>) -> Kind {
        let range = limit.0.clone().unwrap_or(0..=1_000);
        Kind::Number { low: Permille::share(*range.start()), high: Permille::share(*range.end()) }
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

/// Two numbers, such as the ends of a range or a point of a curve.
impl FileValue for [f64; 2] {
    type Limit = ();

    fn take(item: Item<'_>, (): &()) -> Option<At<[f64; 2]>> {
        let place = item.place.clone();
        let [first, second] = item.pair("two numbers")?.map(Item::number);
        let value = [first?.value, second?.value];
        Some(At { value, place })
    }

    fn kind((): &()) -> Kind {
        Kind::List { of: Box::new(f64::kind(&Default::default())), least: 2, most: Some(2) }
    }

    fn show(&self) -> String {
        format!("[{:?}, {:?}]", self[0], self[1])
    }
}

/// The sides of a grid: two or three numbers in a list, of which the third is 1 if it is left out.
impl FileValue for [u32; 3] {
    type Limit = ();

    fn take(item: Item<'_>, (): &()) -> Option<At<[u32; 3]>> {
        let sink = item.sink();
        let At { value, place } = item.list("a list")?;
        let count = value.len();
        let integer = |item: Item<'_>| item.integer(0..=u64::from(u32::MAX));
        let numbers = Vec::from_iter(value.into_iter().filter_map(integer));
        if numbers.len() < count {
            return None;
        }
        if !(2..=3).contains(&count) {
            let problem = place.problem(format!("{count} numbers stand here"));
            sink.push(problem.expected("two or three of them, as in [4, 4]"));
            return None;
        }
        let mut value = [1; 3];
        for (side, number) in value.iter_mut().zip(numbers) {
            *side = number.value as u32;
        }
        Some(At { value, place })
    }

    fn kind((): &()) -> Kind {
        Kind::List { of: Box::new(u32::kind(&Default::default())), least: 2, most: Some(3) }
    }

    fn show(&self) -> String {
        match self {
            [x, y, 1] => format!("[{x}, {y}]"),
            [x, y, z] => format!("[{x}, {y}, {z}]"),
        }
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
        Each { least: 1, ..Each::default() }
    }
}

impl<L: Default> Default for Each<L> {
    fn default() -> Each<L> {
        Each { limit: L::default(), expected: "a list", least: 0 }
    }
}

impl<T> From<RangeInclusive<T>> for Each<Within<T>> {
    fn from(range: RangeInclusive<T>) -> Each<Within<T>> {
        Each { limit: range.into(), expected: "a list", least: 0 }
    }
}

impl From<&'static str> for Each<What> {
    fn from(expected: &'static str) -> Each<What> {
        Each { limit: What::default(), expected, least: 0 }
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
        let value = value.into_iter().filter_map(|item| T::take(item, &each.limit)).collect();
        Some(At { value, place })
    }

    fn kind(each: &Self::Limit) -> Kind {
        Kind::List { of: Box::new(T::kind(&each.limit)), least: each.least, most: None }
    }

    fn show(&self) -> String {
        let shown = Vec::from_iter(self.iter().map(|at| at.value.show()));
        format!("[{}]", shown.join(", "))
    }
}

/// A list that is written in as many lines as it takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LongList<T>(pub List<T>);

impl<T> FromIterator<T> for LongList<T> {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> LongList<T> {
        LongList(values.into_iter().map(At::of).collect())
    }
}

impl<T: FileValue> FileValue for LongList<T> {
    type Limit = Each<T::Limit>;

    fn take(item: Item<'_>, each: &Self::Limit) -> Option<At<LongList<T>>> {
        let At { value, place } = List::take(item, each)?;
        let value = LongList(value);
        Some(At { value, place })
    }

    fn kind(each: &Self::Limit) -> Kind {
        List::<T>::kind(each)
    }

    fn show(&self) -> String {
        self.0.show()
    }

    fn node(&self) -> Node {
        Node::Wrapped(self.0.iter().map(|at| at.value.show()).collect())
    }
}

/// A table whose keys are names; what was read is in the order of the names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Map<T>(pub Vec<(At<String>, T)>);

impl<T: FileValue> FileValue for Map<T> {
    type Limit = T::Limit;
    const IS_SECTION: bool = true;

    fn take(item: Item<'_>, limit: &T::Limit) -> Option<At<Map<T>>> {
        let place = item.place.clone();
        let entries = item.table()?.entries().into_iter();
        let entries = entries.filter_map(|(name, item)| Some((name, T::take(item, limit)?.value)));
        let value = Map(entries.collect());
        Some(At { value, place })
    }

    fn kind(limit: &T::Limit) -> Kind {
        Kind::Map(Box::new(T::kind(limit)))
    }

    fn node(&self) -> Node {
        let entries = self.0.iter().map(|(name, value)| Entry {
            key: name.value.clone().into(),
            node: value.node(),
            place: None,
        });
        Node::Names(entries.collect())
    }
}

/// A list without places, for a key that a program sets.
pub fn list<T>(values: impl IntoIterator<Item = T>) -> List<T> {
    let place = Place::default();
    values.into_iter().map(|value| At { value, place: place.clone() }).collect()
}

/// A list whose length matters: how many elements were written, whether they are good or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counted<T> {
    /// The elements that are good.
    pub good: List<T>,
    /// The number of all elements, good or not.
    pub count: usize,
}

impl<T> Counted<T> {
    /// A list without places, as a program sets it.
    pub fn of(values: impl IntoIterator<Item = T>) -> Counted<T> {
        let good = list(values);
        let count = good.len();
        Counted { good, count }
    }

    /// The elements, if all of them are good.
    pub fn all(&self) -> Option<&List<T>> {
        (self.good.len() == self.count).then_some(&self.good)
    }
}

impl<T: FileValue> FileValue for Counted<T> {
    type Limit = Each<T::Limit>;

    fn take(item: Item<'_>, each: &Self::Limit) -> Option<At<Counted<T>>> {
        let At { value, place } = item.list(each.expected)?;
        let count = value.len();
        let good = value.into_iter().filter_map(|item| T::take(item, &each.limit)).collect();
        let value = Counted { good, count };
        Some(At { value, place })
    }

    fn kind(each: &Self::Limit) -> Kind {
        List::<T>::kind(each)
    }

    fn show(&self) -> String {
        self.good.show()
    }
}

/// One of a few words, or something else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WordOr<W, T> {
    /// One of the words.
    Word(W),
    /// A value that is none of the words.
    Value(T),
}

impl<W: Words + FileValue<Limit = ()>, T: FileValue> FileValue for WordOr<W, T> {
    type Limit = T::Limit;

    fn take(item: Item<'_>, limit: &T::Limit) -> Option<At<WordOr<W, T>>> {
        if let Some((_, word)) = W::words().into_iter().find(|(word, _)| item.is_text(word)) {
            let (value, place) = (WordOr::Word(word), item.place);
            return Some(At { value, place });
        }
        let At { value, place } = T::take(item, limit)?;
        let value = WordOr::Value(value);
        Some(At { value, place })
    }

    fn kind(limit: &T::Limit) -> Kind {
        Kind::Either(vec![W::kind(&()), T::kind(limit)])
    }

    fn show(&self) -> String {
        match self {
            WordOr::Word(word) => word.show(),
            WordOr::Value(value) => value.show(),
        }
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

        impl<T: Declared + Written + Clone> FileValue for $type<T> {
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

            fn node(&self) -> Node {
                Node::Tables(self.0.iter().map(Table::of).collect())
            }
        }
    };
}

tables!(Tables, Tables, tables);
tables!(TablesOrOne, TablesOrOne, tables_or_one);
