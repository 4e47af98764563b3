//! Objects of JSON that programs write, with fields that may be missing.

use std::borrow::Cow;
use std::net::IpAddr;
use std::ops::Range;

use super::super::json::{Member, Value};
use super::super::quoted;
use super::Prefix;
use pauseless_text::problem::Problem;

/// The fields of one object.
pub(in crate::import::ethernet) struct Fields<'t> {
    members: Vec<Member<'t>>,
    pub at: Range<usize>,
}

impl<'t> Fields<'t> {
    /// The fields of `value`, which is an object; `what` names it in messages.
    pub fn of(value: &Value<'t>, what: &str) -> Result<Fields<'t>, Problem> {
        Ok(Fields { members: value.members(what)?, at: value.at() })
    }

    /// The value of a field; `None` if it is null, too.
    pub fn get(&self, name: &str) -> Option<&Value<'t>> {
        let member = self.members.iter().find(|member| member.name == name)?;
        Some(&member.value).filter(|value| !value.is_null())
    }

    /// Whether a field is there and true.
    pub fn is(&self, name: &str) -> Result<bool, Problem> {
        self.get(name).map_or(Ok(false), |value| value.flag(&quoted(name)))
    }

    /// A field that is a string, if it is there and not empty.
    pub fn text(&self, name: &str) -> Result<Option<Cow<'t, str>>, Problem> {
        let text = self.get(name).map(|value| value.scalar(&quoted(name))).transpose()?;
        Ok(text.filter(|text| !text.is_empty()))
    }

    /// A field that is a string and must be there.
    pub fn required(&self, name: &str, what: &str) -> Result<Cow<'t, str>, Problem> {
        self.text(name)?.ok_or_else(|| {
            Problem::new(self.at.clone(), format!("{what} without {}", quoted(name)))
                .expected(format!("a field {}", quoted(name)))
        })
    }

    /// A field that is a number.
    pub fn number(&self, name: &str) -> Result<Option<u32>, Problem> {
        let (Some(text), Some(value)) = (self.text(name)?, self.get(name)) else {
            return Ok(None);
        };
        let number = text.parse().map(Some);
        number.map_err(|_| {
            let message = format!("{name} of {}", quoted(&text));
            Problem::new(value.at(), message).expected("a whole number")
        })
    }

    /// A field that is an address; the one that stands for none is left out.
    pub fn address(&self, name: &str) -> Result<Option<IpAddr>, Problem> {
        let (Some(text), Some(value)) = (self.text(name)?, self.get(name)) else {
            return Ok(None);
        };
        // FRR may write the interface of a link-local address behind it.
        let bare = text.split('%').next().unwrap_or_default();
        let address: IpAddr = bare.parse().map_err(|_| {
            let message = format!("{name} of {}", quoted(&text));
            Problem::new(value.at(), message).expected("an IP address")
        })?;
        Ok(Some(address).filter(|address| !address.is_unspecified()))
    }
}

/// A prefix, or what is wrong with it.
pub(in crate::import::ethernet) fn prefix(text: &str, at: Range<usize>) -> Result<Prefix, Problem> {
    Prefix::parse(text).ok_or_else(|| {
        let problem = Problem::new(at, format!("{} is not a prefix", quoted(text)));
        problem.expected("an IP prefix, such as 10.0.0.0/8")
    })
}

/// Refuses weights that no program writes.
pub(super) fn weight(fields: &Fields) -> Result<u32, Problem> {
    Ok(fields.number("weight")?.unwrap_or(1).max(1))
}
