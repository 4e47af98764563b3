//! What the tests of all parsers share: samples, tables of bad files, and mutations.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::{Config, TestRunner};

use pauseless_text::problem::Problem;
use pauseless_text::source::Source;

/// A file of `examples/ethernet`, unpacked if it is gzipped.
pub(super) fn sample(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/ethernet");
    let packed = folder.join(format!("{name}.gz"));
    let path = if packed.exists() { packed } else { folder.join(name) };
    let bytes = fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    Source::from_bytes(name, bytes).unwrap().text
}

/// Each text is refused with a message that starts like this and lies on this line.
pub(super) fn check_bad<T>(parse: fn(&str) -> Result<T, Problem>, table: &[(&str, usize, &str)]) {
    for (text, line, message) in table {
        let shown: String = text.chars().take(400).collect();
        let Err(problem) = parse(text) else {
            panic!("was taken, but should be refused with {message:?}:\n{shown}");
        };
        assert!(
            problem.message.starts_with(message),
            "{:?}\n  instead of {message:?} for:\n{shown}",
            problem.message
        );
        let start = problem.at.expect("a place in the text").start;
        assert_eq!(pauseless_text::lex::line_number(text, start), *line, "{message}:\n{shown}");
    }
}

/// The same for rows of `content => message`, each put into a file by `wrap`; all lie on `line`.
pub(super) fn check_rows<T>(
    parse: fn(&str) -> Result<T, Problem>,
    wrap: impl Fn(&str) -> String,
    line: usize,
    rows: &str,
) {
    for row in rows.lines().map(str::trim).filter(|row| !row.is_empty()) {
        let (content, message) = row.split_once(" => ").expect("content => message");
        check_bad(parse, &[(&wrap(content), line, message)]);
    }
}

/// Whatever the text: an answer or a problem inside the text, and soon.
pub(super) fn never_panics<T: std::fmt::Debug>(parse: fn(&str) -> Result<T, Problem>, name: &str) {
    let good = sample(name);
    let changes = prop::collection::vec(any::<Change>(), 1..6);
    let mutated = changes.prop_map(move |changes| {
        let mut bytes = good.clone().into_bytes();
        changes.iter().for_each(|change| change.apply(&mut bytes));
        String::from_utf8_lossy(&bytes).into_owned()
    });
    let texts = prop_oneof![3 => mutated, 1 => ".{0,200}", 1 => "[\\[\\]{}\",:|0-9a-z \n-]{0,200}"];
    let mut runner = TestRunner::new(Config { failure_persistence: None, ..Config::default() });
    let result = runner.run(&texts, |text| {
        super::recognise(&text);
        let start = Instant::now();
        let result = parse(&text);
        prop_assert!(start.elapsed() < Duration::from_secs(5));
        if let Err(problem) = result {
            let at = problem.at.clone().expect("a place in the text");
            prop_assert!(at.start <= at.end && at.start <= text.len());
            prop_assert!(!problem.message.is_empty());
            let file = name.to_string();
            let source = Source { file, text };
            prop_assert!(!source.refuse(problem).to_string().is_empty());
        }
        Ok(())
    });
    result.unwrap_or_else(|error| panic!("{error}"));
}

/// What happens to files on their way.
#[derive(Clone, Debug)]
enum Change {
    Cut(Index),
    Delete(Index, usize),
    Repeat(Index, usize),
    Flip(Index, u8),
    Replace(Index, u8),
    SwapLines(Index, Index),
}

impl Change {
    fn apply(&self, bytes: &mut Vec<u8>) {
        if bytes.is_empty() {
            return;
        }
        let length = bytes.len();
        match *self {
            Change::Cut(place) => bytes.truncate(place.index(length)),
            Change::Delete(place, count) => {
                let start = place.index(length);
                bytes.drain(start..(start + count).min(length));
            }
            Change::Repeat(place, count) => {
                let start = place.index(length);
                let chunk = bytes[start..(start + count).min(length)].to_vec();
                bytes.splice(start..start, chunk);
            }
            Change::Flip(place, mask) => bytes[place.index(length)] ^= mask,
            Change::Replace(place, byte) => bytes[place.index(length)] = byte,
            Change::SwapLines(one, other) => {
                let mut lines: Vec<&[u8]> = bytes.split_inclusive(|b| *b == b'\n').collect();
                let (one, other) = (one.index(lines.len()), other.index(lines.len()));
                lines.swap(one, other);
                *bytes = lines.concat();
            }
        }
    }
}

impl Arbitrary for Change {
    type Parameters = ();
    type Strategy = BoxedStrategy<Change>;

    fn arbitrary_with((): ()) -> BoxedStrategy<Change> {
        let punctuation = prop::sample::select(b"\"{}[]:,|-#&*0987 \n\t\\".to_vec());
        prop_oneof![
            any::<Index>().prop_map(Change::Cut),
            (any::<Index>(), 1usize..80).prop_map(|(place, n)| Change::Delete(place, n)),
            (any::<Index>(), 1usize..400).prop_map(|(place, n)| Change::Repeat(place, n)),
            (any::<Index>(), 1u8..=255).prop_map(|(place, mask)| Change::Flip(place, mask)),
            (any::<Index>(), punctuation).prop_map(|(place, b)| Change::Replace(place, b)),
            (any::<Index>(), any::<Index>()).prop_map(|(a, b)| Change::SwapLines(a, b)),
        ]
        .boxed()
    }
}
