//! What a rule is: one declaration, from which the linter, `lint --explain`, the catalogue in the
//! documentation, SARIF and the tests are made.

use crate::cable::Cable;
use crate::fabric::Fabric;
use crate::finding::{Found, Severity};
use crate::host::Host;
use crate::switch::{Port, Switch};

/// A rule of the linter.
#[derive(Debug)]
pub struct Rule {
    /// Its number, which never changes, such as `PL101`.
    pub id: &'static str,
    /// A name in a few words, such as `map-does-not-exist`.
    pub name: &'static str,
    /// How bad its findings are, unless one says otherwise.
    pub severity: Severity,
    /// What is wrong, in a sentence.
    pub sentence: &'static str,
    /// What happens because of it, and how it is decided.
    pub why: &'static str,
    /// What to do about it.
    pub fix: &'static str,
    /// How often it fires on released templates, and why that is right.
    pub released: &'static str,
    /// Where it is known from.
    pub evidence: &'static str,
    /// A change to the example fabric that it stays silent on.
    pub good: &'static [Edit],
    /// A change to the example fabric that it fires on.
    pub bad: &'static [Edit],
    /// Rules above a note that rightly fire on the bad example, too.
    pub also: &'static [&'static str],
    /// The code that looks, and at what.
    pub check: Check,
}

/// What a rule looks at.
#[derive(Clone, Copy, Debug)]
pub enum Check {
    /// Each port of each switch.
    Port(fn(&Switch, &Port, &mut Found)),
    /// Each switch by itself.
    Switch(fn(&Switch, &mut Found)),
    /// Each cable of which both ends were read.
    Cable(fn(&Cable, &mut Found)),
    /// Each host, with the port of the switch that it is cabled to.
    Host(fn(&Host, &Fabric, &mut Found)),
    /// All files of the fabric together.
    Fabric(fn(&Fabric, &mut Found)),
}

/// One change to a file of the example fabric.
#[derive(Clone, Copy, Debug)]
pub struct Edit {
    /// The file, such as `tor0`.
    pub of: &'static str,
    /// Where in it: a JSON pointer, or in a file of text what is replaced.
    pub path: &'static str,
    /// What is written there, as JSON; nothing to remove it.
    pub value: Option<&'static str>,
}

/// Writes a value, as JSON, where the path leads.
pub const fn set(of: &'static str, path: &'static str, value: &'static str) -> Edit {
    Edit { of, path, value: Some(value) }
}

/// Removes what the path leads to.
pub const fn unset(of: &'static str, path: &'static str) -> Edit {
    Edit { of, path, value: None }
}

/// What most rules need.
pub(crate) mod prelude {
    pub(crate) use super::{Check, Rule, set, unset};
    pub(crate) use crate::finding::{Found, Place, Severity};
    pub(crate) use crate::fix::Op;
    pub(crate) use crate::switch::{MapKind, Port, Switch, Vendor, bits, list};
}
