//! Findings that somebody has accepted: a TOML file with a rule, a place, a reason and a last day.
//!
//! ```toml
//! [[waiver]]
//! rule = "PL404"
//! where = "leaf*"
//! reason = "the pools of these are replaced in May"
//! until = "2027-05-31"
//! ```

use pauseless_text::declare::Declared;
use pauseless_text::problem::{Problem, Problems, Sink};
use pauseless_text::reader::{At, Section};
use pauseless_text::section;
use pauseless_text::source::Source;
use toml::de::DeTable;

use crate::finding::Finding;
use crate::report::{Report, Waived};
use crate::rules;

/// A day of the calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Day {
    /// The year of the day.
    pub year: u32,
    /// The month, from 1.
    pub month: u32,
    /// The day of the month, from 1.
    pub day: u32,
}

impl Day {
    /// Reads a day such as `2027-05-31`.
    pub fn parse(text: &str) -> Option<Day> {
        let is_shaped = text.len() == 10 && text.is_ascii();
        let parts = is_shaped.then(|| [&text[..4], &text[5..7], &text[8..]])?;
        if &text[4..5] != "-" || &text[7..8] != "-" {
            return None;
        }
        let [year, month, day] = parts.map(|part| part.parse::<u32>().ok());
        let day = Day { year: year?, month: month?, day: day? };
        (1..=12).contains(&day.month).then_some(())?;
        (1..=day.month_length()).contains(&day.day).then_some(day)
    }

    /// The day so many days after 1 January 1970.
    pub fn after_epoch(days: u64) -> Day {
        let mut day = Day { year: 1970, month: 1, day: 1 };
        let mut left = days;
        while left >= u64::from(day.month_length()) {
            left -= u64::from(day.month_length());
            day.month += 1;
            if day.month > 12 {
                day = Day { year: day.year + 1, month: 1, day: 1 };
            }
        }
        day.day += left as u32;
        day
    }

    fn month_length(self) -> u32 {
        let is_leap = self.year.is_multiple_of(4) && !self.year.is_multiple_of(100)
            || self.year.is_multiple_of(400);
        match self.month {
            2 if is_leap => 29,
            2 => 28,
            4 | 6 | 9 | 11 => 30,
            _ => 31,
        }
    }
}

/// What somebody has accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiver {
    /// The number of the rule.
    rule: &'static str,
    /// A pattern with `*` for the device, the port or the place in the database.
    pattern: String,
    reason: String,
    until: Day,
    /// The line of the file, for messages.
    line: usize,
}

section! {
    /// A finding that somebody has accepted.
    pub struct WaiverKeys {
        /// The number of the rule, or its name.
        rule: String, within "a rule, such as PL404", required "\"PL404\"";
        /// The device, the port, both as `device:port`, or the place in the database; `*` is any text.
        pattern as "where": String, within "a pattern with *", default "*".to_string();
        /// Why the finding may stay.
        reason: String, within "a reason", required "\"the pools are replaced in May\"";
        /// The last day on which the waiver counts.
        until: String, within "a day, such as 2027-05-31", required "\"2027-05-31\"";
    }
}

impl Waiver {
    fn covers(&self, finding: &Finding) -> bool {
        let place = finding.place.name();
        let Finding { device, subject, .. } = finding;
        let full = format!("{device}:{subject}");
        let names = [device.as_str(), subject.as_str(), place.as_str(), full.as_str()];
        finding.rule.id == self.rule && names.iter().any(|name| matches(&self.pattern, name))
    }
}

/// Whether a name fits a pattern, in which `*` is any text.
fn matches(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = name.strip_prefix(first) else {
        return false;
    };
    let parts = Vec::from_iter(parts);
    let Some((last, middle)) = parts.split_last() else {
        return rest.is_empty();
    };
    for part in middle {
        let Some(at) = rest.find(part) else {
            return false;
        };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

/// The waivers of a file.
///
/// # Errors
/// All that is wrong with it.
pub fn read(source: &Source) -> Result<Vec<Waiver>, Problems> {
    let refuse = |list| Err(Problems::new(&source.file, &source.text, list));
    let (table, errors) = DeTable::parse_recoverable(&source.text);
    if !errors.is_empty() {
        let problems =
            errors.iter().map(|error| Problem::new(error.span().unwrap_or(0..0), error.message()));
        return refuse(problems.collect());
    }
    let sink = Sink::default();
    let mut root = Section::root(&sink, table.into_inner());
    let mut waivers = Vec::new();
    for section in root.tables("waiver") {
        waivers.extend(read_one(section, source));
    }
    root.finish();
    if sink.is_empty() { Ok(waivers) } else { refuse(sink.into_list()) }
}

fn read_one(mut section: Section, source: &Source) -> Option<Waiver> {
    let start = section.place.span.start.min(source.text.len());
    let line = source.text[..start].matches('\n').count() + 1;
    let keys = WaiverKeys::read(&mut section);
    let report = |at: &At<String>, message: &str, expected: &str| {
        section.report(at.place.problem(message).expected(expected));
    };
    let rule = keys.rule.given.and_then(|at| {
        let rule = rules::named(&at.value);
        if rule.is_none() {
            report(&at, "no such rule", "a rule such as PL404");
        }
        rule
    });
    let day = keys.until.given.and_then(|at| {
        let day = Day::parse(&at.value);
        if day.is_none() {
            report(&at, "no day", "the last day on which it counts, such as 2027-05-31");
        }
        day
    });
    let reason = keys.reason.given;
    if let Some(at) = reason.as_ref().filter(|at| at.value.trim().is_empty()) {
        report(at, "an empty reason", "why the finding may stay");
    }
    section.finish();
    Some(Waiver {
        rule: rule?.id,
        pattern: keys.pattern.value,
        reason: reason?.value,
        until: day?,
        line,
    })
}

/// Takes what is waived out of a report. What has expired and what covers nothing is said.
pub fn apply(report: &mut Report, waivers: &[Waiver], file: &str, today: Day) {
    let (mut kept, mut used) = (Vec::new(), vec![false; waivers.len()]);
    for finding in std::mem::take(&mut report.findings) {
        let covering = waivers.iter().position(|one| one.covers(&finding));
        if let Some(at) = covering {
            used[at] = true;
        }
        match covering.map(|at| &waivers[at]).filter(|one| one.until >= today) {
            Some(waiver) => {
                let reason = waiver.reason.clone();
                report.waived.push(Waived { finding, reason });
            }
            None => kept.push(finding),
        }
    }
    report.findings = kept;
    for (waiver, used) in waivers.iter().zip(used) {
        let Waiver { rule, until: Day { year, month, day }, line, .. } = waiver;
        let pattern = &waiver.pattern;
        if waiver.until < today {
            report.notes.push(format!(
                "{file}:{line}: the waiver of {rule} for {pattern} has expired on \
                 {year}-{month:02}-{day:02}: {}",
                waiver.reason
            ));
        } else if !used {
            report
                .notes
                .push(format!("{file}:{line}: the waiver of {rule} for {pattern} covers nothing"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_those_of_the_calendar() {
        for (text, days) in [("1970-01-01", 0), ("2000-02-29", 11_016), ("2026-11-18", 20_775)] {
            assert_eq!(Day::parse(text), Some(Day::after_epoch(days)), "{text}");
        }
        for text in ["2026-02-29", "2026-13-01", "2026-1-1", "2026/01/01", "", "2026-00-10"] {
            assert_eq!(Day::parse(text), None, "{text}");
        }
    }

    #[test]
    fn patterns_have_stars() {
        for (pattern, name, fits) in [
            ("*", "leaf0", true),
            ("leaf*", "leaf0", true),
            ("*:Ethernet4", "leaf0:Ethernet4", true),
            ("l*f*0", "leaf0", true),
            ("leaf", "leaf0", false),
            ("*1", "leaf0", false),
            ("", "leaf0", false),
        ] {
            assert_eq!(matches(pattern, name), fits, "{pattern} {name}");
        }
    }

    #[test]
    fn what_is_wrong_with_a_file_is_said_at_its_place() {
        let text = "[[waiver]]\nrule = \"PL999\"\nreason = \" \"\nuntil = \"May\"\nwho = 1\n";
        let source = Source { file: "w.toml".to_string(), text: text.to_string() };
        let message = read(&source).unwrap_err().to_string();
        for part in ["w.toml:2:", "no such rule", "empty reason", "no day", "unknown key"] {
            assert!(message.contains(part), "{message}");
        }
    }
}
