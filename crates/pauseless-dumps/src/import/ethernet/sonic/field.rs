//! From the fields of an entry to numbers, lengths, classes and references.

use std::borrow::Cow;
use std::fmt::Display;
use std::ops::{Range, RangeInclusive};
use std::str::FromStr;

use super::table::Entry;
use crate::import::ethernet::json::Member;
use crate::import::ethernet::quoted;
use pauseless_text::problem::Problem;

impl<'t> Entry<'t> {
    /// Something wrong with this entry.
    pub fn problem(&self, at: Range<usize>, message: impl Into<String>) -> Problem {
        let mut problem = Problem::new(at, message);
        problem.key = format!("{}|{}", self.table.name(), self.key);
        problem
    }

    pub fn field(&self, name: &str) -> Option<&Member<'t>> {
        self.fields.iter().find(|field| field.name == name)
    }

    /// A field that is there and not empty.
    pub fn text(&self, name: &str) -> Result<Option<Cow<'t, str>>, Problem> {
        match self.field(name) {
            Some(field) => Ok(Some(self.text_of(field)?).filter(|text| !text.is_empty())),
            None => Ok(None),
        }
    }

    pub fn owned(&self, name: &str) -> Result<Option<String>, Problem> {
        Ok(self.text(name)?.map(Cow::into_owned))
    }

    pub fn text_of(&self, field: &Member<'t>) -> Result<Cow<'t, str>, Problem> {
        field.value.scalar(&field.name).map_err(|mut problem| {
            problem.key = format!("{}|{}", self.table.name(), self.key);
            problem
        })
    }

    /// A number within limits; an empty field is a mistake and no number.
    pub fn number<T>(&self, name: &str, limits: RangeInclusive<T>) -> Result<Option<T>, Problem>
    where
        T: FromStr + PartialOrd + Display,
    {
        let Some(field) = self.field(name) else {
            return Ok(None);
        };
        let text = self.text_of(field)?;
        match text.parse() {
            Ok(number) if limits.contains(&number) => Ok(Some(number)),
            _ => {
                let message = format!("{name} of {}", quoted(&text));
                let problem = self.problem(field.value.at(), message);
                let (low, high) = limits.into_inner();
                Err(problem.expected(format!("a whole number from {low} to {high}")))
            }
        }
    }

    /// One bit per class of a list such as `3,4`; empty means none.
    pub fn classes(&self, name: &str) -> Result<u8, Problem> {
        let Some(field) = self.field(name) else {
            return Ok(0);
        };
        let text = self.text_of(field)?;
        if text.is_empty() {
            Ok(0)
        } else {
            classes(&text).map_err(|reason| {
                let message = format!("{name} of {}: {reason}", quoted(&text));
                let problem = self.problem(field.value.at(), message);
                problem.expected("classes from 0 to 7, such as 3,4")
            })
        }
    }

    /// One of a few words.
    pub fn choice<T: Copy>(&self, name: &str, words: &[(&str, T)]) -> Result<Option<T>, Problem> {
        let Some(field) = self.field(name) else {
            return Ok(None);
        };
        let text = self.text_of(field)?;
        match words.iter().find(|(word, _)| *word == text) {
            Some((_, value)) => Ok(Some(*value)),
            None => {
                let message = format!("{name} of {}", quoted(&text));
                let words: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
                Err(self.problem(field.value.at(), message).expected(words.join(" or ")))
            }
        }
    }

    /// A name of another entry, bare or in the old style `[TABLE|name]`.
    pub fn reference(&self, name: &str, table: &str) -> Result<Option<String>, Problem> {
        let Some(field) = self.field(name) else {
            return Ok(None);
        };
        let text = self.text_of(field)?;
        let refuse = || {
            let problem = self.problem(field.value.at(), format!("{name} of {}", quoted(&text)));
            Err(problem.expected(format!("the name of an entry in {table}")))
        };
        let Some(inside) = text.strip_prefix('[') else {
            return if text.is_empty() { refuse() } else { Ok(Some(text.into_owned())) };
        };
        let parts = inside.strip_suffix(']').and_then(|i| i.split_once(['|', ':']));
        match parts {
            Some((of, target)) if of.trim_end_matches("_TABLE") == table && !target.is_empty() => {
                Ok(Some(target.to_string()))
            }
            _ => refuse(),
        }
    }
}

/// One bit per class of `3`, `3-4` or `3,5-6`.
pub(super) fn classes(text: &str) -> Result<u8, String> {
    let mut mask = 0u8;
    for part in text.split(',') {
        let class = |word: &str| match word.trim().parse::<u8>() {
            Ok(class @ 0..=7) => Ok(class),
            _ => Err(format!("{} is not a class", quoted(word))),
        };
        let (first, last) = match part.split_once('-') {
            Some((first, last)) => (class(first)?, class(last)?),
            None => (class(part)?, class(part)?),
        };
        if first > last {
            return Err(format!("{} runs backwards", quoted(part)));
        }
        for class in first..=last {
            if mask & 1 << class != 0 {
                return Err(format!("class {class} is in it twice"));
            }
            mask |= 1 << class;
        }
    }
    Ok(mask)
}

/// A length such as `40m`.
pub(super) fn metres(text: &str) -> Option<u32> {
    text.strip_suffix('m')?.parse().ok()
}

/// Mb/s and metres in a name such as `pg_lossless_100000_40m_profile`.
pub(super) fn made_for(name: &str) -> Option<(u32, u32)> {
    let mut parts = name.strip_prefix("pg_lossless_")?.split('_');
    let speed = parts.next()?.parse().ok()?;
    Some((speed, metres(parts.next()?)?))
}
