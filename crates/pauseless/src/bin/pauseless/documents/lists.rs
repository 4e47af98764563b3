//! A line that lists the schemes, disciplines, topologies and so on has all of them.

use std::collections::BTreeSet;
use std::fs;

use pauseless_experiments::repro::catalogue;
use pauseless_report::verdict::Finding;
use pauseless_run::results::{Kept, kept_names};
use pauseless_scenario::describe;
use pauseless_text::declare::{Info, Kind};

use super::{Line, Part, commands, declared, documents, helps, root};

/// What belongs together, as texts write it.
struct Family {
    what: &'static str,
    members: BTreeSet<String>,
    /// Of so many in one line it is a list of all.
    least: usize,
}

/// Lists that are shorter with reason: the document, a part of the line, and the reason.
const SHORTER: &[(&str, &str, &str)] = &[
    (
        "docs/features.md",
        "`input-queued` with three arbiters",
        "the arbiters are in the names of three",
    ),
    ("docs/clocks.md", "No claim about deadlocks of", "a result about these"),
    ("docs/congestion.md", "PFC alone, DCQCN and TIMELY let", "the PCN paper compares these four"),
    ("docs/congestion.md", "The PCN paper gives no parameters of", "the same"),
    ("docs/congestion.md", "The order of the trees", "the same"),
    ("docs/congestion.md", "In B.5 TIMELY by segments", "the same"),
    ("docs/congestion.md", "in XL the order is", "the same"),
    (
        "docs/disciplines.md",
        "Of the 59 claims",
        "the other arbiter has the same numbers, as said above",
    ),
    ("docs/disciplines.md", "where PFC and credits deadlock", "a result about these"),
    ("docs/disciplines.md", "a deadlock by a third flow", "a result about these"),
    ("docs/hpcc.md", "For 25 more cases", "what that simulator has"),
    ("docs/reference/json.md", "`campaign`, `deadlocks`", "counts of runs, not numbers of one"),
    ("pauseless testbed --help", "Of the ring only these", "the variants of the ring"),
];

fn families() -> Vec<Family> {
    let scenario = describe::info();
    let kinds = |section: &str| {
        let info = section_of(&scenario, section);
        let variants = info.variants.as_ref().unwrap_or_else(|| panic!("{section} has kinds"));
        Vec::from_iter(variants.list.iter().map(|(name, _)| name.to_string()))
    };
    let without_none = |names: Vec<String>| names.into_iter().filter(|name| name != "none");
    let switch = section_of(&scenario, "switch");
    let discipline = switch.keys.iter().find(|key| key.name == "discipline").expect("the key");
    let Kind::Word(disciplines) = &discipline.kind else { panic!("disciplines are words") };
    let quoted = |name: String| format!("`{name}`");
    let spaced = |name: String| name.replace('-', " ");
    let rules = commands().into_iter().find(|(name, _)| name == "pauseless check").expect("it is");
    let rules = rules.1.get_arguments().find(|it| it.get_id() == "routing").expect("the flag");
    let rules = rules.get_possible_values().into_iter().map(|it| quoted(it.get_name().into()));
    let always = kept_names(Kept::Always).into_iter().map(quoted);
    let family = |what, least, members| Family { what, members, least };
    vec![
        family(
            "congestion controls",
            3,
            without_none(kinds("congestion_control")).map(|it| it.to_uppercase()).collect(),
        ),
        family("flow controls", 3, without_none(kinds("flow_control")).collect()),
        family("disciplines", 3, disciplines.iter().map(|it| it.to_string()).collect()),
        family("topologies", 5, kinds("topology").into_iter().map(spaced).collect()),
        family("kinds of traffic", 4, kinds("traffic").into_iter().map(spaced).collect()),
        family("rules of routing", 3, rules.collect()),
        family("numbers that are always kept", 3, always.collect()),
    ]
}

fn section_of<'i>(info: &'i Info, name: &str) -> &'i Info {
    let key = info.keys.iter().find(|key| key.name == name);
    match &key.unwrap_or_else(|| panic!("there is a section {name}")).kind {
        Kind::Table(info) | Kind::Tables(info) | Kind::TablesOrOne(info) => info,
        _ => panic!("{name} is a section"),
    }
}

impl Family {
    fn is_quoted(&self) -> bool {
        self.members.iter().all(|member| member.starts_with('`'))
    }

    /// The members that a line leaves out although it lists them.
    fn left_out(&self, text: &str) -> Vec<&str> {
        let is_spaced = self.least > 3;
        let text = if is_spaced { text.to_lowercase().replace('-', " ") } else { text.to_string() };
        let (named, left_out): (Vec<&str>, Vec<&str>) =
            self.members.iter().map(String::as_str).partition(|member| has_word(&text, member));
        if named.len() < self.least { Vec::new() } else { left_out }
    }
}

/// Whether a text has this word or several of it, which is no part of a longer one.
fn has_word(text: &str, word: &str) -> bool {
    let is_part = |char: Option<char>| char.is_some_and(|it| it.is_alphanumeric() || it == '-');
    text.match_indices(word).any(|(at, _)| {
        let behind = &text[at + word.len()..];
        // There may be several.
        let behind = behind.strip_prefix('s').unwrap_or(behind).chars().next();
        !is_part(text[..at].chars().next_back()) && !is_part(behind)
    })
}

/// The lines that may have lists; not those of `papers/README.md`, which is made of the papers'
/// claims.
fn lines() -> impl Iterator<Item = Line> {
    let is_text = |line: &Line| matches!(line.part, Part::Prose | Part::Row);
    let lines = documents().into_iter().filter(is_text);
    let lines = lines.filter(|line| !line.place.starts_with("papers/README.md"));
    lines.chain(helps()).chain(declared())
}

#[test]
fn lists_are_complete() {
    let families = families();
    let mut unused = BTreeSet::from_iter(SHORTER.iter().map(|(place, part, _)| (*place, *part)));
    let mut wrong = Vec::new();
    for line in lines() {
        for family in &families {
            let left_out = family.left_out(&line.text);
            // Schemes and disciplines in a table are those that were measured.
            let is_measured = line.part == Part::Row && !family.is_quoted();
            if left_out.is_empty() || is_measured {
                continue;
            }
            let exempt = SHORTER
                .iter()
                .find(|(place, part, _)| line.place.starts_with(place) && line.text.contains(part));
            match exempt {
                Some((place, part, _)) => {
                    unused.remove(&(*place, *part));
                }
                None => wrong.push(format!(
                    "{}: of the {} it leaves out {}: {}",
                    line.place,
                    family.what,
                    left_out.join(", "),
                    line.text
                )),
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(unused.is_empty(), "no line needs these exemptions any more: {unused:#?}");
}

/// How many there are of something, where a document says so.
#[test]
fn counts_are_right() {
    let text = |path| fs::read_to_string(root().join(path)).expect("a page");
    let (features, papers_page) = (text("docs/features.md"), text("docs/how-to/researcher.md"));
    let experiments = catalogue::embedded();
    let papers = BTreeSet::from_iter(experiments.iter().map(|entry| entry.paper.as_str()));
    let disciplines = families().into_iter().find(|family| family.what == "disciplines");
    let disciplines = disciplines.map_or(0, |family| family.members.len());
    for says in [
        format!("# {} experiments of {} papers", experiments.len(), WORDS[papers.len()]),
        format!("- Switches in {} ways to wait", WORDS[disciplines]),
        format!("- {} different findings", capital(WORDS[Finding::ALL.len()])),
    ] {
        let is_said = features.contains(&says) || papers_page.contains(&says);
        assert!(is_said, "neither features nor the researcher's page say: {says}");
    }
}

const WORDS: [&str; 10] =
    ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"];

fn capital(word: &str) -> String {
    word[..1].to_uppercase() + &word[1..]
}

#[test]
fn what_is_left_out_is_found() {
    let families = families();
    let left_out = |what: &str, text: &str| {
        let family = families.iter().find(|family| family.what == what).expect("it is there");
        family.left_out(text).join(" ")
    };
    let schemes = "congestion controls";
    assert_eq!(left_out(schemes, "beside DCQCN, QCN, PCN and TIMELY"), "DCTCP HPCC");
    assert_eq!(left_out(schemes, "PCN, QCN, DCQCN, TIMELY, HPCC, DCTCP"), "");
    assert_eq!(left_out(schemes, "PCN and DCQCN"), "");
    let some = "output-queued, input-queued-slotted or software";
    let rest = "input-queued input-queued-fifo-first virtual-output-queued";
    assert_eq!(left_out("disciplines", some), rest);
}
