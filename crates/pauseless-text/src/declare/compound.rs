//! Values that are made of others, and values of any kind.

use toml::{Table, Value};

use super::describe::Kind;
use super::entry::{Entry, Node};
use super::value::{Each, FileValue, List};
use crate::file;
use crate::reader::{At, Item};

/// A list, where a single element needs no brackets. Elements that are wrong are left out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OneOrMany<T>(pub List<T>);

impl<T: FileValue> FileValue for OneOrMany<T> {
    type Limit = Each<T::Limit>;

    fn take(item: Item<'_>, each: &Self::Limit) -> Option<At<OneOrMany<T>>> {
        let place = item.place.clone();
        let list = if item.is_list() {
            List::take(item, each)?.value
        } else {
            vec![T::take(item, each.limit())?]
        };
        let value = OneOrMany(list);
        Some(At { value, place })
    }

    fn kind(each: &Self::Limit) -> Kind {
        Kind::Either(vec![T::kind(each.limit()), List::<T>::kind(each)])
    }

    fn show(&self) -> String {
        self.0.show()
    }
}

/// A table whose keys are names, in the order of the names. What is wrong is left out.
#[derive(Clone, Debug, PartialEq)]
pub struct Named<T>(pub Vec<(At<String>, At<T>)>);

impl<T> Default for Named<T> {
    fn default() -> Named<T> {
        Named(Vec::new())
    }
}

impl<T: FileValue> FileValue for Named<T> {
    type Limit = T::Limit;
    const IS_SECTION: bool = T::IS_SECTION;

    fn take(item: Item<'_>, limit: &T::Limit) -> Option<At<Named<T>>> {
        let place = item.place.clone();
        let entries = item.table()?.entries().into_iter();
        let entries = entries.filter_map(|(name, item)| Some((name, T::take(item, limit)?)));
        let value = Named(entries.collect());
        Some(At { value, place })
    }

    fn kind(limit: &T::Limit) -> Kind {
        Kind::Map(Box::new(T::kind(limit)))
    }

    fn show(&self) -> String {
        let shown = self.0.iter().map(|(name, at)| {
            let name = file::key(&name.value);
            format!("{name} = {}", at.value.show())
        });
        if self.0.is_empty() {
            "{}".to_string()
        } else {
            format!("{{ {} }}", Vec::from_iter(shown).join(", "))
        }
    }

    fn node(&self) -> Node {
        if !T::IS_SECTION {
            return Node::Plain(self.show());
        }
        let entries = self.0.iter().map(|(name, at)| Entry {
            key: name.value.clone().into(),
            node: at.value.node(),
            place: Some(at.place.clone()),
        });
        Node::Names(entries.collect())
    }
}

impl FileValue for Value {
    type Limit = ();

    fn take(item: Item<'_>, (): &()) -> Option<At<Value>> {
        item.value()
    }

    fn kind((): &()) -> Kind {
        Kind::Any
    }

    fn show(&self) -> String {
        self.to_string()
    }
}

impl FileValue for Table {
    type Limit = ();

    fn take(item: Item<'_>, (): &()) -> Option<At<Table>> {
        let place = item.place.clone();
        let entries = item.table()?.entries().into_iter();
        let entries = entries.filter_map(|(name, item)| Some((name.value, item.value()?.value)));
        let value = entries.collect();
        Some(At { value, place })
    }

    fn kind((): &()) -> Kind {
        Kind::Map(Box::new(Kind::Any))
    }

    fn show(&self) -> String {
        Value::Table(self.clone()).to_string()
    }
}
