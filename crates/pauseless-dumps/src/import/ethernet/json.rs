//! JSON of which every value knows its place.
//!
//! serde's own view forgets places and lets the last of two equal keys win.
//! Here each level is read on its own, as names and unparsed values; the place of a value is the
//! distance of its slice from the start of the text.
//! A level is skipped over without recursion, so that nesting costs no stack.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;
use std::ops::Range;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::error::Category;
use serde_json::value::RawValue;

use super::{quoted, within};
use pauseless_text::problem::Problem;

/// A value that has not been looked into yet.
#[derive(Clone, Debug)]
pub(super) struct Value<'t> {
    text: &'t str,
    at: Range<usize>,
}

/// A name and its value in an object.
#[derive(Clone, Debug)]
pub(super) struct Member<'t> {
    pub name: Cow<'t, str>,
    pub name_at: Range<usize>,
    pub value: Value<'t>,
}

impl<'t> Value<'t> {
    /// The value that `text` consists of; `what` names it in messages.
    pub fn whole(text: &'t str, what: &str) -> Result<Value<'t>, Problem> {
        within(text, SIZE_MAX, what)?;
        match serde_json::from_str::<&RawValue>(text) {
            Ok(raw) => Ok(Value::of(text, raw)),
            Err(error) => Err(syntax(text, &error)),
        }
    }

    /// The values that `text` consists of, one after the other, at least one.
    pub fn several(text: &'t str, what: &str) -> Result<Vec<Value<'t>>, Problem> {
        within(text, SIZE_MAX, what)?;
        let stream = serde_json::Deserializer::from_str(text).into_iter::<&RawValue>();
        let values: Result<Vec<Value>, _> = stream.map(|raw| Ok(Value::of(text, raw?))).collect();
        match values {
            Ok(values) if values.is_empty() => Ok(vec![Value::whole(text, what)?]),
            Ok(values) => Ok(values),
            Err(error) => Err(syntax(text, &error)),
        }
    }

    pub fn at(&self) -> Range<usize> {
        self.at.clone()
    }

    /// The members of an object in their order; none twice.
    pub fn members(&self, what: &str) -> Result<Vec<Member<'t>>, Problem> {
        if !self.is_object() {
            return Err(self.mistyped(what, "an object {..}"));
        }
        let Object(entries) = self.parse()?;
        let mut members: Vec<Member> = Vec::with_capacity(entries.len());
        let mut seen = HashSet::with_capacity(entries.len());
        for (name, value) in entries {
            let name = Value::of(self.text, name);
            let member = Member {
                name: name.string(what)?,
                name_at: name.at,
                value: Value::of(self.text, value),
            };
            if !seen.insert(member.name.clone()) {
                let message = format!("{} is twice in {what}", quoted(&member.name));
                let problem = Problem::new(member.name_at, message);
                return Err(problem.help("delete one of them: only one can be meant"));
            }
            members.push(member);
        }
        Ok(members)
    }

    /// The items of an array.
    pub fn items(&self, what: &str) -> Result<Vec<Value<'t>>, Problem> {
        if !self.slice().starts_with('[') {
            return Err(self.mistyped(what, "an array [..]"));
        }
        let items: Vec<&RawValue> = self.parse()?;
        Ok(items.into_iter().map(|raw| Value::of(self.text, raw)).collect())
    }

    pub fn string(&self, what: &str) -> Result<Cow<'t, str>, Problem> {
        let slice = self.slice();
        if !slice.starts_with('"') {
            return Err(self.mistyped(what, "a string in quotes"));
        }
        let inside = &slice[1..slice.len() - 1];
        if inside.contains('\\') {
            self.parse::<String>().map(Cow::Owned)
        } else {
            Ok(Cow::Borrowed(inside))
        }
    }

    /// A string, or a number in the digits of the file: SONiC takes both for its fields.
    pub fn scalar(&self, what: &str) -> Result<Cow<'t, str>, Problem> {
        match self.slice().as_bytes().first() {
            Some(b'-' | b'0'..=b'9') => Ok(Cow::Borrowed(self.slice())),
            Some(b'"') => self.string(what),
            _ => Err(self.mistyped(what, "a string or a number")),
        }
    }

    /// The value as `true` or `false`, which it must be.
    pub fn flag(&self, what: &str) -> Result<bool, Problem> {
        match self.slice() {
            "true" => Ok(true),
            "false" => Ok(false),
            _ => Err(self.mistyped(what, "true or false")),
        }
    }

    pub fn is_object(&self) -> bool {
        self.slice().starts_with('{')
    }

    pub fn is_array(&self) -> bool {
        self.slice().starts_with('[')
    }

    pub fn is_null(&self) -> bool {
        self.slice() == "null"
    }

    fn of(text: &'t str, raw: &'t RawValue) -> Value<'t> {
        let start = raw.get().as_ptr() as usize - text.as_ptr() as usize;
        Value { text, at: start..start + raw.get().len() }
    }

    fn slice(&self) -> &'t str {
        &self.text[self.at.clone()]
    }

    /// Only what skipping over a value does not check can fail here, such as half a surrogate.
    fn parse<T: Deserialize<'t>>(&self) -> Result<T, Problem> {
        serde_json::from_str(self.slice())
            .map_err(|error| Problem::new(self.at(), format!("not JSON: {}", reason(&error))))
    }

    fn mistyped(&self, what: &str, expected: &str) -> Problem {
        let found = match self.slice().as_bytes().first() {
            Some(b'{') => "an object",
            Some(b'[') => "an array",
            Some(b'"') => "a string",
            Some(b't' | b'f') => "a truth value",
            Some(b'n') => "null",
            _ => "a number",
        };
        Problem::new(self.at(), format!("{what} is {found}")).expected(expected)
    }
}

/// The names and values of an object, unparsed and in order: two may have the same name.
struct Object<'t>(Vec<(&'t RawValue, &'t RawValue)>);

impl<'t> Deserialize<'t> for Object<'t> {
    fn deserialize<D: Deserializer<'t>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ObjectVisitor)
    }
}

struct ObjectVisitor;

impl<'t> Visitor<'t> for ObjectVisitor {
    type Value = Object<'t>;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'t>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = map.next_entry()? {
            entries.push(entry);
        }
        Ok(Object(entries))
    }
}

fn syntax(text: &str, error: &serde_json::Error) -> Problem {
    if error.classify() == Category::Eof {
        let end = text.trim_end().len();
        let message = match end {
            0 => "the file is empty".to_string(),
            _ => format!("the file ends in the middle: {}", reason(error)),
        };
        let problem = Problem::new(end.saturating_sub(1)..end, message);
        return problem.help("is the file complete?");
    }
    let line_start = match error.line() {
        0 | 1 => 0,
        line => text.match_indices('\n').nth(line - 2).map_or(0, |(newline, _)| newline + 1),
    };
    let start = (line_start + error.column().saturating_sub(1)).min(text.len());
    let problem = Problem::new(start..start + 1, format!("not JSON: {}", reason(error)));
    if text.starts_with('\u{feff}') {
        return problem.help("delete the byte-order mark at the start of the file");
    }
    problem
}

/// The message without its place, which is shown anyway.
fn reason(error: &serde_json::Error) -> String {
    let message = error.to_string();
    match message.rfind(" at line ") {
        Some(place) => message[..place].to_string(),
        None => message,
    }
}

/// Over a hundred times the configuration of the largest switch.
const SIZE_MAX: usize = 256 << 20;
