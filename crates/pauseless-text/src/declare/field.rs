//! What a key of a section holds once the section was read.

use std::fmt;
use std::ops::Deref;

use super::value::FileValue;
use crate::reader::{At, Place};

/// A key without a default.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key<T> {
    /// The value with its place, if it was written and is good.
    pub given: Option<At<T>>,
    /// Whether the key was written, be the value good or not.
    pub is_written: bool,
}

/// A key with a default.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filled<T> {
    /// The value that was written, or the default.
    pub value: T,
    /// Where the value was written; `None` for the default.
    pub place: Option<Place>,
}

/// What [`Key`] and [`Filled`] have in common: a section is read into them and written from them.
pub trait Field {
    /// The kind of value.
    type Value: FileValue;

    /// Takes what stands in the file; `None` where it is wrong.
    fn take(&mut self, found: Option<At<Self::Value>>);

    /// The value, unless the key is left out.
    fn value(&self) -> Option<&Self::Value>;

    /// Whether the key was written, be the value good or not.
    fn is_written(&self) -> bool;

    /// The place at which the value was written.
    fn place(&self) -> Option<&Place>;

    /// This key, or `base` where it is left out.
    fn over(&self, base: &Self) -> Self;
}

impl<T> Default for Key<T> {
    fn default() -> Key<T> {
        Key { given: None, is_written: false }
    }
}

impl<T> Key<T> {
    /// A value that stands at `place`.
    pub fn at(value: T, place: &Place) -> Key<T> {
        let place = place.clone();
        Key { given: Some(At { value, place }), is_written: true }
    }

    /// A value that was never written.
    pub fn of(value: T) -> Key<T> {
        Key::at(value, &Place::default())
    }

    /// The value, if it was written and is good.
    pub fn get(&self) -> Option<&T> {
        self.given.as_ref().map(|given| &given.value)
    }

    /// The place at which the value was written.
    pub fn place(&self) -> Option<&Place> {
        self.given.as_ref().map(|given| &given.place)
    }

    /// Whether the value is good, or the key is left out and not `required`.
    pub fn is_good(&self, required: Option<&str>) -> bool {
        self.given.is_some() || !self.is_written && required.is_none()
    }

    /// This key, or `base` where it is left out.
    pub fn over<'k>(&'k self, base: &'k Key<T>) -> &'k Key<T> {
        if self.given.is_some() { self } else { base }
    }
}

impl<T: Copy> Key<T> {
    /// The value, or `default` where it is left out.
    pub fn or(&self, default: T) -> T {
        self.copied().unwrap_or(default)
    }

    /// The value, if it was written and is good.
    pub fn copied(&self) -> Option<T> {
        self.get().copied()
    }
}

impl<T> Filled<T> {
    /// The value of a key that was not written.
    pub fn new(value: T) -> Filled<T> {
        Filled { value, place: None }
    }

    /// A value that stands at `place`.
    pub fn at(value: T, place: &Place) -> Filled<T> {
        let place = Some(place.clone());
        Filled { value, place }
    }

    /// Whether the value was written.
    pub fn is_written(&self) -> bool {
        self.place.is_some()
    }
}

impl<T> Deref for Filled<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T: fmt::Display> fmt::Display for Filled<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value.fmt(f)
    }
}

impl<T: FileValue> Field for Key<T> {
    type Value = T;

    fn take(&mut self, found: Option<At<T>>) {
        self.is_written = true;
        self.given = found;
    }

    fn value(&self) -> Option<&T> {
        self.get()
    }

    fn is_written(&self) -> bool {
        self.is_written
    }

    fn place(&self) -> Option<&Place> {
        self.place()
    }

    fn over(&self, base: &Key<T>) -> Key<T> {
        self.over(base).clone()
    }
}

impl<T: FileValue> Field for Filled<T> {
    type Value = T;

    fn take(&mut self, found: Option<At<T>>) {
        if let Some(At { value, place }) = found {
            self.value = value;
            self.place = Some(place);
        }
    }

    fn value(&self) -> Option<&T> {
        Some(&self.value)
    }

    fn is_written(&self) -> bool {
        self.place.is_some()
    }

    fn place(&self) -> Option<&Place> {
        self.place.as_ref()
    }

    fn over(&self, base: &Filled<T>) -> Filled<T> {
        if self.place.is_some() { self } else { base }.clone()
    }
}
