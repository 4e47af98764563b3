//! SONiC's `pg_profile_lookup.ini`: the headroom of a lossless priority group by speed and cable.

use std::collections::HashMap;
use std::ops::Range;

use super::{after_mark, quoted, within};
use pauseless_text::lex::{Line, Lines, Word, line_number};
use pauseless_text::problem::Problem;

/// One row: what a lossless priority group gets at this speed and length.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PgProfile {
    /// Speed of the port in Mb/s.
    pub speed_mbps: u32,
    /// Length of the cable in metres.
    pub cable_m: u32,
    /// Bytes that are reserved for the group.
    pub size: u64,
    /// Bytes down to which the group must drain before the sender may go on.
    pub xon: u64,
    /// Bytes for what arrives after the pause was sent.
    pub xoff: u64,
    /// `dynamic_th` or `static_th`, depending on the mode of the pool.
    pub threshold: i64,
    /// How far below its threshold the group must drain; not every vendor has it.
    pub xon_offset: Option<u64>,
    /// The place of the row in the text.
    pub at: Range<usize>,
}

impl PgProfile {
    /// Whether `size` does not hold `xon` and `xoff`, so that the headroom must come from a pool
    /// that all ports share.
    pub fn shares_headroom(&self) -> bool {
        self.xon.saturating_add(self.xoff) > self.size
    }
}

/// The row for a port; SONiC looks for exactly this speed and length, and so does this.
pub fn lookup(profiles: &[PgProfile], speed_mbps: u32, cable_m: u32) -> Option<&PgProfile> {
    profiles.iter().find(|profile| (profile.speed_mbps, profile.cable_m) == (speed_mbps, cable_m))
}

/// Whether `text` is meant to be such a table: its first row starts with a speed and a length.
pub fn looks_like(text: &str) -> bool {
    let rows = Lines::new(after_mark(text)).map(|line| Row::new(&line));
    let Some(Row { words }) = rows.into_iter().find(|row| !row.words.is_empty()) else {
        return false;
    };
    let is_number = |word: &str| !word.is_empty() && word.bytes().all(|b| b.is_ascii_digit());
    let speed = is_number(words[0].text);
    let cable = words.get(1).and_then(|word| word.text.strip_suffix('m'));
    speed && cable.is_some_and(is_number)
}

/// Reads the table of profiles.
pub fn parse(text: &str) -> Result<Vec<PgProfile>, Problem> {
    within(text, SIZE_MAX, "a table of profiles")?;
    let mut profiles: Vec<PgProfile> = Vec::new();
    let mut seen = HashMap::new();
    let start = text.len() - after_mark(text).len();
    for line in Lines::within(text, start..text.len()) {
        let row = Row::new(&line);
        if row.words.is_empty() {
            continue;
        }
        let profile = row.profile()?;
        let key = (profile.speed_mbps, profile.cable_m);
        if let Some(first) = seen.insert(key, profile.at.start) {
            let line = line_number(text, first);
            let message = format!("{} Mb/s over {} m is also on line {line}", key.0, key.1);
            return Err(Problem::new(profile.at, message).expected("one row for each"));
        }
        profiles.push(profile);
    }
    if profiles.is_empty() {
        Err(Problem::new(0..0, "the file has no profile").expected(COLUMNS))
    } else {
        Ok(profiles)
    }
}

struct Row<'t> {
    words: Vec<Word<'t>>,
}

impl<'t> Row<'t> {
    /// The words before a comment. More of them than columns are refused anyway.
    fn new(line: &Line<'t>) -> Row<'t> {
        let words = line.before(b'#').words().take(COLUMNS_MAX + 1);
        Row { words: words.collect() }
    }

    fn profile(&self) -> Result<PgProfile, Problem> {
        let (first, last) = (self.words[0], self.words[self.words.len() - 1]);
        let at = first.start..last.at().end;
        if !(COLUMNS_MAX - 1..=COLUMNS_MAX).contains(&self.words.len()) {
            let found = match self.words.len() {
                1 => "a row of 1 column".to_string(),
                n if n > COLUMNS_MAX => format!("a row of more than {COLUMNS_MAX} columns"),
                n => format!("a row of {n} columns"),
            };
            let problem = Problem::new(at, format!("{found} beginning {}", quoted(first.text)));
            return Err(problem.expected(COLUMNS));
        }
        let profile = PgProfile {
            speed_mbps: self.number(0, "speed in Mb/s")?,
            cable_m: self.metres()?,
            size: self.number(2, "size in bytes")?,
            xon: self.number(3, "xon in bytes")?,
            xoff: self.number(4, "xoff in bytes")?,
            threshold: self.number(5, "threshold")?,
            xon_offset: if self.words.len() == COLUMNS_MAX {
                Some(self.number(6, "xon_offset in bytes")?)
            } else {
                None
            },
            at,
        };
        if profile.speed_mbps == 0 {
            let problem = self.words[0].problem("a speed of 0");
            return Err(problem.expected("the speed in Mb/s, such as 100000"));
        }
        if profile.xoff == 0 {
            let problem = self.words[4].problem("a lossless profile with an xoff of 0");
            return Err(problem.expected("room for what arrives after the pause was sent"));
        }
        Ok(profile)
    }

    fn number<T: std::str::FromStr>(&self, column: usize, what: &str) -> Result<T, Problem> {
        let word = self.words[column];
        word.text.parse().map_err(|_| {
            let problem = word.problem(format!("{} is not a {what}", quoted(word.text)));
            problem.expected(format!("a {what}, digits only"))
        })
    }

    fn metres(&self) -> Result<u32, Problem> {
        let word = self.words[1];
        let metres = word.text.strip_suffix('m').and_then(|digits| digits.parse().ok());
        metres.ok_or_else(|| {
            let message = format!("{} is not a length of cable", quoted(word.text));
            word.problem(message).expected("metres, such as 40m")
        })
    }
}

const COLUMNS: &str = "speed cable size xon xoff threshold [xon_offset]";
const COLUMNS_MAX: usize = 7;
/// A hundred thousand rows, where vendors have dozens.
const SIZE_MAX: usize = 8 << 20;

#[cfg(test)]
mod tests {
    use super::super::testing::{check_bad, never_panics, sample};
    use super::*;

    #[test]
    fn the_tables_of_two_switches() {
        let text = sample("pg_profile_lookup.ACS-MSN4700.ini");
        let profiles = parse(&text).unwrap();
        assert_eq!(profiles.len(), 21);
        let found = lookup(&profiles, 400_000, 300).unwrap();
        assert_eq!((found.size, found.xon, found.xoff), (420_864, 37_888, 373_760));
        assert_eq!((found.threshold, found.xon_offset), (0, None));
        let row = "400000  300m 420864 37888  373760         0";
        assert_eq!(&text[found.at.clone()], row);
        assert!(profiles.iter().all(|profile| !profile.shares_headroom()));
        assert_eq!(lookup(&profiles, 400_000, 30), None);
        let profiles = parse(&sample("pg_profile_lookup.ACS-MSN2700.ini")).unwrap();
        assert_eq!(profiles.len(), 15);
        assert_eq!(lookup(&profiles, 100_000, 300).unwrap().xoff, 104_448);
    }

    #[test]
    fn seven_columns_and_shared_headroom() {
        let profiles = parse("\u{feff}# x\r\n40000 5m 1248 2288 35776 -3 2288 # y\r\n").unwrap();
        assert_eq!((profiles[0].threshold, profiles[0].xon_offset), (-3, Some(2288)));
        assert!(profiles[0].shares_headroom());
    }

    #[test]
    fn bad_files_are_refused_with_their_line() {
        check_bad(
            parse,
            &[
                ("", 1, "the file has no profile"),
                ("# only\n\n", 1, "the file has no profile"),
                ("# x\n400000\n", 2, "a row of 1 column beginning \"400000\""),
                ("10000 5m 1 2 3", 1, "a row of 5 columns"),
                ("10000 5m 1 2 3 4 5 6 7 8 9", 1, "a row of more than 7 columns"),
                ("0 5m 1 2 3 0", 1, "a speed of 0"),
                ("\n10G 5m 1 2 3 0", 2, "\"10G\" is not a speed in Mb/s"),
                ("99999999999 5m 1 2 3 0", 1, "\"99999999999\" is not a speed"),
                ("-1 5m 1 2 3 0", 1, "\"-1\" is not a speed"),
                ("10000 5 1 2 3 0", 1, "\"5\" is not a length of cable"),
                ("10000 5km 1 2 3 0", 1, "\"5km\" is not a length of cable"),
                ("10000 m 1 2 3 0", 1, "\"m\" is not a length of cable"),
                ("10000 5m x 2 3 0", 1, "\"x\" is not a size in bytes"),
                ("10000 5m 1 2 0 0", 1, "a lossless profile with an xoff of 0"),
                ("10000 5m 1 2 3 0.5", 1, "\"0.5\" is not a threshold"),
                ("10000 5m 1 2 3 0 z", 1, "\"z\" is not a xon_offset"),
                ("1 5m 1 2 3 0\n\n1 5m 1 2 3 0", 3, "1 Mb/s over 5 m is also on line 1"),
            ],
        );
    }

    #[test]
    fn anything_is_parsed_or_refused() {
        never_panics(parse, "pg_profile_lookup.ACS-MSN4700.ini");
    }
}
