//! One run as results have it.

use std::fmt;

use sha2::{Digest, Sha256};

use pauseless_run::results::Reference;

/// The name of a task: the hash of its scenario and of the program's version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name(pub [u8; 16]);

impl Name {
    /// The hash of parts, wherever they join.
    pub fn of<P: AsRef<[u8]> + ?Sized>(parts: &[&P]) -> Name {
        let mut hasher = Sha256::new();
        for part in parts {
            hasher.update((part.as_ref().len() as u64).to_le_bytes());
            hasher.update(part.as_ref());
        }
        let mut name = [0; 16];
        name.copy_from_slice(&hasher.finalize()[..16]);
        Name(name)
    }

    /// Reads what [`Name`] is shown as.
    pub fn parse(text: &str) -> Option<Name> {
        if text.len() != 32 || !text.bytes().all(|it| it.is_ascii_hexdigit()) {
            return None;
        }
        let mut name = [0; 16];
        for (byte, place) in name.iter_mut().zip((0..32).step_by(2)) {
            *byte = u8::from_str_radix(&text[place..place + 2], 16).ok()?;
        }
        Some(Name(name))
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// The result of a task, which does not depend on when, where or how fast it was run.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The name of the task.
    pub task: Name,
    /// Why the run ended: `duration`, `deadlock`, `done`, `steady`; empty if it could not be made.
    pub ended: String,
    /// Why the run could not be made, if so.
    pub error: Option<String>,
    /// The numbers that are kept, in the order of the campaign's; `None` where the run has none.
    pub numbers: Vec<Option<f64>>,
}

/// The name of a column: that of an axis or of a number, without the points that query languages
/// take apart.
pub fn column(name: &str) -> String {
    match name.contains('{').then(|| Reference::parse(name)) {
        Some(Ok(reference)) => reference.column(),
        _ => name.replace('.', "_"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_has_one_column_however_it_is_spelt() {
        for (name, expected) in [
            ("rate.F1", "rate_F1"),
            ("rate{flow=F1}", "rate_F1"),
            ("pauses.class0", "pauses_class0"),
            ("pauses{class=0}", "pauses_class0"),
            ("queue_max{port=S1:S2}", "queue_max_S1:S2"),
            ("slowdown_p99", "slowdown_p99"),
            ("slowdown{p=99}", "slowdown_p99"),
            ("fct_us{p=99, size=S}", "fct_p99_us_S"),
            ("fct_p99_us.S", "fct_p99_us_S"),
            ("slowdown{p=99.99, size=20KB..1MB}", "slowdown_p99_99_20KB_to_1MB"),
            ("slowdown{size=20KB.., p=50, class=1}", "slowdown_p50_20KB_to__class1"),
            ("links_held{layer=1}", "links_held_layer1"),
        ] {
            assert_eq!(column(name), expected, "{name}");
        }
    }

    #[test]
    fn a_name_reads_back_and_nothing_else_is_one() {
        let name = Name::of(&["0.1.0", "duration = 1"]);
        assert_eq!(Name::parse(&name.to_string()), Some(name));
        assert_ne!(name, Name::of(&["0.1.0d", "uration = 1"]));
        for wrong in ["", "0", "+1020304050607080910111213141516", &"é".repeat(16)] {
            assert_eq!(Name::parse(wrong), None, "{wrong}");
        }
    }
}
