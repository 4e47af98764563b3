//! How large a shape is, by closed form, and which sizes are possible.

use std::ops::RangeInclusive;

use thiserror::Error;

use crate::topology::PORT_COUNT_MAX;

/// The size of a shape, known before anything is built. Numbers saturate at 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// The number of hosts.
    pub hosts: u64,
    /// The number of switches.
    pub switches: u64,
    /// The number of links, those to hosts included.
    pub links: u64,
    /// The number of ports of the largest switch.
    pub ports: u64,
}

impl Size {
    /// Refuses sizes that no fabric can have: each number may be legal and their product too large
    /// nevertheless.
    pub fn check(self) -> Result<(), SizeError> {
        let limits = [
            ("links", self.links, LINKS_MAX),
            ("switches", self.switches, LINKS_MAX),
            ("ports on one switch", self.ports, PORT_COUNT_MAX as u64),
        ];
        for (what, count, max) in limits {
            if count > max {
                return Err(SizeError::TooLarge { what, count, max });
            }
        }
        Ok(())
    }
}

/// Why a fabric cannot have this size.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[allow(missing_docs, reason = "each message names the fields of its variant")]
pub enum SizeError {
    /// A number is too small or too large.
    #[error("{} of {shape}: {given} is not in the range from {min} to {max}", spoken(field))]
    OutOfRange {
        /// The field whose value was refused.
        field: &'static str,
        shape: &'static str,
        given: u32,
        min: u32,
        max: u32,
    },
    /// A number is in its range, but impossible with the others.
    #[error("{why}")]
    Impossible {
        /// The field whose value must be changed.
        field: &'static str,
        /// What is wrong, and which values are possible.
        why: String,
    },
    /// The product is too large, although no number is out of range.
    #[error("too large: it would have {count} {what}, and {max} are the most")]
    TooLarge {
        /// The things of which there are too many.
        what: &'static str,
        count: u64,
        max: u64,
    },
}

impl SizeError {
    /// The field whose value must be changed, if it is a single one.
    pub fn field(&self) -> Option<&'static str> {
        match self {
            SizeError::OutOfRange { field, .. } | SizeError::Impossible { field, .. } => {
                Some(field)
            }
            SizeError::TooLarge { .. } => None,
        }
    }
}

/// The name of a field as messages write it.
fn spoken(field: &str) -> String {
    match field {
        "left" | "right" => format!("{field} hosts"),
        _ => field.replace('_', " "),
    }
}

/// Checks the numbers of a shape, which messages call by this name.
#[derive(Clone, Copy, Debug)]
pub struct Numbers(pub &'static str);

impl Numbers {
    /// Refuses a value of `field` that is not in `range`.
    pub fn within(
        self,
        field: &'static str,
        given: u32,
        range: RangeInclusive<u32>,
    ) -> Result<(), SizeError> {
        if range.contains(&given) {
            return Ok(());
        }
        let (min, max) = range.into_inner();
        Err(SizeError::OutOfRange { field, shape: self.0, given, min, max })
    }

    /// Refuses any of `fields`, each with its value, that is zero or too large.
    pub fn positive(self, fields: &[(&'static str, u32)]) -> Result<(), SizeError> {
        fields.iter().try_for_each(|(field, given)| self.within(field, *given, 1..=FIELD_MAX))
    }
}

pub(super) fn product<const N: usize>(factors: [u32; N]) -> u64 {
    factors.into_iter().map(u64::from).fold(1, u64::saturating_mul)
}

pub(super) fn sum<const N: usize>(terms: [u64; N]) -> u64 {
    terms.into_iter().fold(0, u64::saturating_add)
}

/// The largest value of a field: far above real fabrics, and low enough that products of two fit 32
/// bits.
pub(super) const FIELD_MAX: u32 = 1_024;
/// The most hosts of a switch: all of its ports but one.
pub(super) const HOSTS_MAX: u32 = PORT_COUNT_MAX as u32 - 1;
/// The most links, twice those of the largest ring. It bounds the memory of a fabric.
const LINKS_MAX: u64 = 1 << 21;
