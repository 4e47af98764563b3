//! Why a parameter was refused.

use core::fmt;

use crate::unit::Bytes;

/// A value under its key in the scenario file, with the rule that bounds it.
pub(super) struct Given {
    pub name: &'static str,
    pub value: Bytes,
    pub rule: &'static str,
}

impl Given {
    /// The value may not exceed `base - margin`.
    pub fn at_most(&self, base: Bytes, margin: Bytes) -> Result<(), Violation> {
        let &Given { name, value, rule } = self;
        match base.checked_sub(margin) {
            Some(bound) if value <= bound => Ok(()),
            Some(bound) => Err(Violation::AboveBound { name, value, bound, rule }),
            None => Err(Violation::NoRoom { name, base, margin, rule }),
        }
    }

    /// The value may not be less than `bound`.
    pub fn at_least(&self, bound: Bytes) -> Result<(), Violation> {
        let &Given { name, value, rule } = self;
        if value >= bound {
            Ok(())
        } else {
            Err(Violation::BelowBound { name, value, bound, rule })
        }
    }
}

/// Why a parameter was refused: the bound, the value and what to write instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the message names the fields of each variant")]
pub enum Violation {
    /// The value must be lowered.
    AboveBound { name: &'static str, value: Bytes, bound: Bytes, rule: &'static str },
    /// The value must be raised.
    BelowBound { name: &'static str, value: Bytes, bound: Bytes, rule: &'static str },
    /// No value is safe: the buffer is too small for the link.
    NoRoom { name: &'static str, base: Bytes, margin: Bytes, rule: &'static str },
    /// The pause would expire before its refresh has arrived.
    Quanta { quanta: u16, least: u64 },
}

impl Violation {
    /// The key whose value was refused.
    pub fn name(&self) -> &'static str {
        match self {
            Violation::AboveBound { name, .. }
            | Violation::BelowBound { name, .. }
            | Violation::NoRoom { name, .. } => name,
            Violation::Quanta { .. } => "pause_quanta",
        }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Violation::AboveBound { name, value, bound, rule } => write!(
                f,
                "{name} = {value} exceeds its bound {bound} = {rule}; set {name} = \"{} B\" or less",
                bound.get()
            ),
            Violation::BelowBound { name, value, bound, rule } => write!(
                f,
                "{name} = {value} is below its bound {bound} = {rule}; set {name} = \"{} B\" or more",
                bound.get()
            ),
            Violation::NoRoom { name, base, margin, rule } => write!(
                f,
                "no {name} is safe: its bound is {rule}, and {base} is less than the {margin} \
                 to be subtracted; enlarge the buffer by {}",
                margin.saturating_sub(*base)
            ),
            Violation::Quanta { quanta, least } => write!(
                f,
                "pause_quanta = {quanta} can expire before its refresh arrives, which may wait \
                 behind a full frame; set pause_quanta = {least} or more"
            ),
        }
    }
}

impl core::error::Error for Violation {}
