//! Which output files an earlier run of this program wrote, so that no other is written over.
//!
//! The formats have no room for a mark. So a file beside the outputs has the hash, the length and
//! the name of each of them; what is not in it, or has changed since, belongs to somebody else.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use pauseless_fabric::rng::hash_name;
use pauseless_text::output;

/// The file that says what was written; it begins with a point, as what programs keep does.
const RECORD: &str = ".pauseless-wrote";

/// What is done about an output file that is there and was not written by this program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Foreign {
    /// The run is refused before it begins.
    #[default]
    Keep,
    /// The file is written over.
    Replace,
}

/// Whether nothing is lost if the file at `path` is written over: it is not there, is empty, is no
/// file but a pipe or a device, or is what an earlier run wrote.
pub(super) fn is_replaceable(path: &Path) -> bool {
    let Ok(found) = fs::metadata(path) else {
        return true;
    };
    if !found.is_file() || found.len() == 0 {
        return true;
    }
    let entry = lines(path).into_iter().find(|line| name_in(line) == name(path));
    entry.is_some_and(|entry| line(path).as_ref() == Some(&entry))
}

/// Notes that this program has just written the file at `path`. If that fails, the file is refused
/// by the next run as if it were somebody else's, which costs nothing.
pub(super) fn note(path: &Path) {
    let Some(line) = fs::metadata(path).is_ok_and(|it| it.is_file()).then(|| line(path)).flatten()
    else {
        return;
    };
    let mut lines = lines(path);
    lines.retain(|other| name_in(other) != name(path));
    lines.push(line);
    lines.sort();
    let text = lines.iter().fold(String::new(), |mut text, line| {
        let _ = writeln!(text, "{line}");
        text
    });
    let _ = output::write(&path.with_file_name(RECORD), text);
}

/// The line for the file as it is now; `None` if it cannot be read or is no text.
fn line(path: &Path) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    Some(format!("{:016x} {} {}", hash_name(&text), text.len(), name(path)?))
}

/// The lines of the record in the folder of `path`.
fn lines(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path.with_file_name(RECORD)).unwrap_or_default();
    text.lines().map(str::to_string).collect()
}

fn name(path: &Path) -> Option<&str> {
    path.file_name()?.to_str()
}

/// The name in a line: all that stands behind the hash and the length.
fn name_in(line: &str) -> Option<&str> {
    line.splitn(3, ' ').nth(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_written_and_is_unchanged_may_be_replaced() {
        let folder = tempfile::tempdir().expect("a folder");
        let [ours, theirs] = ["fct out.txt", "pfc.txt"].map(|name| folder.path().join(name));
        assert!(is_replaceable(&ours), "it is not there");
        for path in [&ours, &theirs] {
            fs::write(path, "1 2 3\n").expect("a file");
        }
        note(&ours);
        assert!(is_replaceable(&ours));
        assert!(!is_replaceable(&theirs));
        note(&theirs);
        assert!(is_replaceable(&ours) && is_replaceable(&theirs));
        fs::write(&ours, "1 2 4\n").expect("a file");
        assert!(!is_replaceable(&ours), "another simulator has run since");
        fs::write(&ours, "").expect("a file");
        assert!(is_replaceable(&ours), "nothing is in it");
    }
}
