//! One run as results have it.

use std::fmt;

use sha2::{Digest, Sha256};

/// The name of a task: the hash of its scenario and of the program's version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name(pub [u8; 16]);

impl Name {
    /// The hash of parts, wherever they join.
    pub fn of(parts: &[&str]) -> Name {
        let mut hasher = Sha256::new();
        for part in parts {
            hasher.update((part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
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

/// What came of a task. Nothing in it depends on when, where or how fast it was run.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Which task.
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
    name.replace('.', "_")
}

#[cfg(test)]
mod tests {
    use super::*;

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
