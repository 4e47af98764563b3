//! The list of differences that were made on purpose.
//!
//! An entry is three lines, `case:`, `line:` and `why:`, and entries are separated by empty lines.
//! `case` is a pattern for names of cases, `line` one for differing lines as they are printed
//! (`PART: -old text` or `PART: +new text`); `*` stands for any text. `#` begins a comment.

use std::fmt;

/// One difference that was made on purpose.
#[derive(Debug, PartialEq, Eq)]
pub struct Expected {
    case: String,
    line: String,
    /// One sentence that says why old and new differ.
    pub why: String,
}

impl Expected {
    /// Whether the entry could explain something in a case of this name.
    pub fn is_about(&self, case: &str) -> bool {
        matches(&self.case, case)
    }
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "case {}, line {} ({})", self.case, self.line, self.why)
    }
}

/// Reads the list of expected differences.
pub fn read(text: &str) -> Result<Vec<Expected>, String> {
    let mut entries = Vec::new();
    let mut fields: Vec<&str> = Vec::new();
    for (place, line) in text.lines().enumerate() {
        if line.starts_with('#') || (line.is_empty() && fields.is_empty()) {
            continue;
        }
        let key = ["case: ", "line: ", "why: "][fields.len()];
        let value = line.strip_prefix(key);
        let complaint = || format!("expected.txt:{}: expected \"{key}\"", place + 1);
        fields.push(value.ok_or_else(complaint)?);
        if let [case, line, why] = fields[..] {
            let (case, line, why) = (case.to_owned(), line.to_owned(), why.to_owned());
            entries.push(Expected { case, line, why });
            fields.clear();
        }
    }
    match fields[..] {
        [] => Ok(entries),
        _ => Err("expected.txt: the last entry is not complete".to_owned()),
    }
}

/// The differences of a case, after a look at the list.
pub struct Judged {
    /// The lines that no entry explains.
    pub unexplained: Vec<String>,
    /// How many lines each entry of the list explains.
    pub used: Vec<usize>,
}

/// Holds differing lines of a case against the list; the first entry that fits explains a line.
pub fn judge(expected: &[Expected], case: &str, lines: &[String]) -> Judged {
    let mut used = vec![0; expected.len()];
    let mut unexplained = Vec::new();
    for line in lines {
        let fits = |entry: &Expected| entry.is_about(case) && matches(&entry.line, line);
        match expected.iter().position(fits) {
            Some(place) => used[place] += 1,
            None => unexplained.push(line.clone()),
        }
    }
    Judged { unexplained, used }
}

/// Whether a text fits a pattern in which `*` stands for any text.
fn matches(pattern: &str, text: &str) -> bool {
    let Some((head, tail)) = pattern.split_once('*') else {
        return pattern == text;
    };
    let Some(rest) = text.strip_prefix(head) else {
        return false;
    };
    let mut pieces: Vec<&str> = tail.split('*').collect();
    let last = pieces.pop().expect("a split has at least one piece");
    let Some(mut rest) = rest.strip_suffix(last) else {
        return false;
    };
    // The leftmost place of each piece leaves the most for those behind it.
    for piece in pieces {
        match rest.find(piece) {
            Some(place) => rest = &rest[place + piece.len()..],
            None => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = "\
# Made for the test.
case: bad/hpcc/*
line: 1.stderr: *as a scenario*
why: Places are now those of the user's own file.

case: help/run
line: 1.stdout: +*--set*
why: The option is new.
";

    #[test]
    fn stars_stand_for_any_text() {
        for (pattern, text) in [
            ("a", "a"),
            ("*", ""),
            ("a*", "abc"),
            ("*c", "abc"),
            ("a*b*c", "a b b c"),
            ("**", "x"),
            ("*a*", "bab"),
        ] {
            assert!(matches(pattern, text), "{pattern} fits {text}");
        }
        for (pattern, text) in [("a", "ab"), ("a*a", "a"), ("*b*b*", "abc"), ("a*c", "ab")] {
            assert!(!matches(pattern, text), "{pattern} does not fit {text}");
        }
    }

    #[test]
    fn only_listed_lines_of_listed_cases_are_explained() {
        let list = read(LIST).expect("well-formed");
        let lines = ["1.stderr: -config.txt as a scenario:3".to_owned(), "1.stdout: +x".to_owned()];
        let judged = judge(&list, "bad/hpcc/incast", &lines);
        assert_eq!(judged.unexplained, [lines[1].clone()]);
        assert_eq!(judged.used, [1, 0]);
        let judged = judge(&list, "bad/htsim/incast", &lines);
        assert_eq!(judged.unexplained, lines);
    }

    #[test]
    fn an_entry_without_a_reason_is_refused() {
        let list = read(LIST).expect("well-formed");
        assert_eq!(list.len(), 2);
        assert_eq!(list[1].why, "The option is new.");
        let message = read("case: a\nline: b\n\ncase: c\n").expect_err("no reason");
        assert_eq!(message, "expected.txt:3: expected \"why: \"");
        assert!(read("case: a\nline: b\n").is_err());
    }
}
