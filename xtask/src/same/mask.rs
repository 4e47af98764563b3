//! What two runs of one binary do not have in common, or two builds of one version.
//!
//! - The clock: `wall_s` in JSON, and three phrases in text.
//! - The build: campaigns and captures name the program `0.1.0+57cedf41`, with a hash of its sources,
//!   and names of tasks are hashes over that.
//! - Rows of campaigns have both in compressed pages, so that their files cannot be masked; the
//!   reports that are made of them are compared instead.
//!
//! Everything else is compared as it is.

/// The lines of a text without what the clock and the build put into them. The demo names its runs as
/// they end, several at a time, so that such lines are sorted.
pub fn lines(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = text.split('\n').map(line).collect();
    let is_progress = |line: &String| line.ends_with("(TIME s)");
    let groups = lines.chunk_by_mut(|a, b| is_progress(a) && is_progress(b));
    groups.for_each(|group| group.sort());
    lines
}

/// One line without what the clock and the build put into it.
fn line(text: &str) -> String {
    let mut text = without_build(text);
    for phrase in &CLOCK_PHRASES {
        text = phrase.masked(text);
    }
    text
}

/// The same for a line of `json.rs`, `PATH = VALUE`.
pub fn value(line: &str) -> String {
    match line.split_once(" = ") {
        Some((path, _)) if path.ends_with(".wall_s") => format!("{path} = TIME"),
        _ => without_build(line),
    }
}

/// The same for a file that is no text: only the build's name, which has a fixed length, is masked.
pub fn bytes(content: &[u8]) -> Vec<u8> {
    let mut content = content.to_vec();
    for place in builds(&content) {
        content[place..place + HASH].fill(b'x');
    }
    content
}

/// The path of a written file: campaigns name parts and curves after tasks.
pub fn path(path: &str) -> String {
    let names = path.split('/').map(|name| {
        let stem = name.split('.').next().unwrap_or(name);
        if is_hex(stem.as_bytes(), TASK) { name.replacen(stem, "TASK", 1) } else { name.to_owned() }
    });
    names.collect::<Vec<_>>().join("/")
}

/// Whether two Parquet files were written by different builds and say so in their compressed pages.
pub fn is_of_builds(name: &str, old: &[u8], new: &[u8]) -> bool {
    let named = |content: &[u8]| {
        let place = builds(content).first().copied();
        place.map(|place| content[place..place + HASH].to_vec())
    };
    match (named(old), named(new)) {
        (Some(old), Some(new)) => name.ends_with(".parquet") && old != new,
        _ => false,
    }
}

/// A time between two texts that are always the same.
struct ClockPhrase {
    before: &'static str,
    after: &'static str,
    /// Which letters the time is made of beside digits.
    letters: &'static str,
}

impl ClockPhrase {
    fn masked(&self, text: String) -> String {
        let Some((head, rest)) = text.split_once(self.before) else {
            return text;
        };
        let is_time = |letter: char| letter.is_ascii_digit() || self.letters.contains(letter);
        let Some((time, tail)) = rest.split_once(self.after) else {
            return text;
        };
        if time.is_empty() || !time.chars().all(is_time) {
            return text;
        }
        let (before, after) = (self.before, self.after);
        format!("{head}{before}TIME{after}{tail}")
    }
}

const CLOCK_PHRASES: [ClockPhrase; 3] = [
    // The head of a run's text: `100 ms simulated in 0.02 s (15,781 packet hops, ..`.
    ClockPhrase { before: " simulated in ", after: " s (", letters: "." },
    // The summary of a campaign: `8 of them made in 3 s (3.1/s)`.
    ClockPhrase { before: " made in ", after: "/s)", letters: "sminh. (," },
    // The progress of the demo: `  pfc: deadlock at 2.80 ms (0.00 s)`.
    ClockPhrase { before: " (", after: " s)", letters: "." },
];

/// Replaces names of builds, and the hashes of tasks and files, which depend on them.
fn without_build(text: &str) -> String {
    let mut content = text.as_bytes().to_vec();
    for place in builds(&content) {
        content[place..place + HASH].fill(b'x');
    }
    let mut masked = String::with_capacity(text.len());
    let text = String::from_utf8(content).expect("only ASCII was replaced by ASCII");
    for word in text.split_inclusive(|letter: char| !letter.is_ascii_alphanumeric()) {
        let hash = word.trim_end_matches(|letter: char| !letter.is_ascii_alphanumeric());
        let rest = &word[hash.len()..];
        match hash.len() {
            TASK if is_hex(hash.as_bytes(), TASK) => masked.push_str("TASK"),
            SHA256 if is_hex(hash.as_bytes(), SHA256) => masked.push_str("SHA256"),
            _ => masked.push_str(hash),
        }
        masked.push_str(rest);
    }
    masked
}

/// The places of all hashes in names of builds: eight hexadecimal digits behind `N.N.N+`.
fn builds(content: &[u8]) -> Vec<usize> {
    let plus = content.iter().enumerate().filter(|(_, byte)| **byte == b'+');
    let hashes = plus.map(|(place, _)| place + 1).filter(|&place| {
        let is_version = content[..place - 1].ends_with(VERSION.as_bytes());
        let hash = content.get(place..place + HASH);
        is_version && hash.is_some_and(|hash| is_hex(hash, HASH))
    });
    hashes.collect()
}

fn is_hex(word: &[u8], length: usize) -> bool {
    let is_digit = |byte: &u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(byte);
    word.len() == length && word.iter().all(is_digit)
}

/// The version of all crates; a binary of another version differs where it names its version.
const VERSION: &str = env!("CARGO_PKG_VERSION");
/// Letters of a hash of sources.
const HASH: usize = 8;
/// Letters of the name of a task.
const TASK: usize = 32;
/// Letters of a checksum of a file.
const SHA256: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_is_masked_and_nothing_beside_it() {
        assert_eq!(
            line("pfc, seed 1; 100 ms simulated in 0.02 s (15,781 packet hops, 34 events)"),
            "pfc, seed 1; 100 ms simulated in TIME s (15,781 packet hops, 34 events)"
        );
        assert_eq!(
            line("xoff-tiny: 8 of 8 runs, 8 of them made in 3 s (3.1/s)"),
            "xoff-tiny: 8 of 8 runs, 8 of them made in TIME/s)"
        );
        assert_eq!(
            line("  pfc: deadlock at 2.80 ms (0.00 s)"),
            "  pfc: deadlock at 2.80 ms (TIME s)"
        );
        for kept in ["1 ms (200 ns) per hop", "rate (5 Gbps)", "(a 3 s) b", "wall_s = 3"] {
            assert_eq!(line(kept), kept);
        }
    }

    #[test]
    fn only_runs_that_end_at_the_same_time_are_sorted() {
        let text = "pauseless: 6 runs\n  pfc: a (0.02 s)\n  cbfc: b (0.01 s)\nz\ny";
        let expected = ["pauseless: 6 runs", "  cbfc: b (TIME s)", "  pfc: a (TIME s)", "z", "y"];
        assert_eq!(lines(text), expected);
    }

    #[test]
    fn only_the_wall_clock_of_json_is_masked() {
        assert_eq!(value(".runs[0].wall_s = 0.25"), ".runs[0].wall_s = TIME");
        let kept = ".runs[0].simulated_ps = 100";
        assert_eq!(value(kept), kept);
    }

    #[test]
    fn builds_and_tasks_have_no_name() {
        let made = format!("made by pauseless {VERSION}+57cedf41 with: x");
        assert_eq!(line(&made), format!("made by pauseless {VERSION}+xxxxxxxx with: x"));
        let other = format!("made by pauseless {VERSION}+57cedg41");
        assert_eq!(line(&other), other);
        let task = "8579482eda6a52a03ccf1c90961b0b09";
        assert_eq!(line(&format!("task {task}, 3")), "task TASK, 3");
        assert_eq!(path(&format!("sw/parts/{task}.parquet")), "sw/parts/TASK.parquet");
        assert_eq!(path("out/flows.csv"), "out/flows.csv");
        // A GUID has sixteen digits and is a result.
        assert_eq!(line("0002c90000000001"), "0002c90000000001");
    }

    #[test]
    fn rows_of_two_builds_are_not_compared_but_those_of_one_are() {
        let rows = |hash: &str| format!("PAR1 {VERSION}+{hash} PAR1").into_bytes();
        let (old, new) = (rows("57cedf41"), rows("12345678"));
        assert!(is_of_builds("sw/results.parquet", &old, &new));
        assert!(!is_of_builds("sw/results.parquet", &old, &old));
        assert!(!is_of_builds("out/ring.pcapng", &old, &new));
        assert_eq!(bytes(&old), bytes(&new));
        assert!(!is_of_builds("report/fct.parquet", b"PAR1", b"PAR2"));
    }
}
