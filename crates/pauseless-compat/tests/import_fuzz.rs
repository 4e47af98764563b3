//! No files of other simulators make their readers panic, what is refused has lines, and what is
//! accepted is a scenario or refused as one.

use std::path::Path;

use pauseless_compat::hpcc::{self, Compat};
use pauseless_compat::htsim::{self, Options};
use pauseless_scenario::{Overrides, Scenario, ScenarioFile};
use pauseless_text::problem::Problems;
use pauseless_text::source::Source;
use proptest::prelude::*;

const MATRIX: &str = include_str!("../../../examples/htsim/incast.cm");
const TREE: &str = include_str!("../../../examples/htsim/leaf_spine.topo");
const PATHS: &str = "PATH flow 1 dst 15 switch S via LS0->US1(0)\n\
                     PATH flow 1 dst 15 switch S via US1->LS_3(0)\n";
const CONFIG: &str = include_str!("../../../examples/hpcc/incast/config.txt");
const TOPOLOGY: &str = include_str!("../../../examples/hpcc/incast/topology.txt");
const FLOWS: &str = include_str!("../../../examples/hpcc/incast/flow.txt");
const LIST: &str = "source target size_bytes start_ns class name after delay_us path return_path\n\
                    H1 R 1000 5 0 a - - S1 S1\n\
                    H2 R 2000 7.5 - b a 3 - -\n";

/// Words that are worth trying anywhere.
const WORDS: [&str; 16] = [
    "0",
    "-1",
    "1",
    "18446744073709551615",
    "1e400",
    "NaN",
    "->",
    "5->5",
    "trigger",
    "Tier",
    "id",
    "#",
    "\u{0}",
    "\u{fffd}",
    "-",
    "a,b,,c",
];

/// A change of one line.
#[derive(Clone, Debug)]
enum Change {
    Drop,
    Double,
    Cut(usize),
    Word(usize, usize),
    Insert(String),
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        Just(Change::Drop),
        Just(Change::Double),
        any::<usize>().prop_map(Change::Cut),
        (any::<usize>(), 0..WORDS.len()).prop_map(|(at, word)| Change::Word(at, word)),
        "\\PC{0,20}".prop_map(Change::Insert),
    ]
}

fn changes() -> impl Strategy<Value = Vec<(usize, Change)>> {
    prop::collection::vec((any::<usize>(), change()), 0..4)
}

fn changed(text: &str, changes: &[(usize, Change)]) -> String {
    let mut lines = Vec::from_iter(text.lines().map(String::from));
    for (at, change) in changes {
        if lines.is_empty() {
            break;
        }
        let at = at % lines.len();
        match change {
            Change::Drop => drop(lines.remove(at)),
            Change::Double => lines.insert(at, lines[at].clone()),
            Change::Cut(place) => {
                let chars = lines[at].chars().count();
                lines[at] = lines[at].chars().take(place % (chars + 1)).collect();
            }
            Change::Word(place, word) => {
                let mut words = Vec::from_iter(lines[at].split(' '));
                let place = place % words.len();
                words[place] = WORDS[*word];
                lines[at] = words.join(" ");
            }
            Change::Insert(text) => lines.insert(at, text.clone()),
        }
    }
    lines.join("\n")
}

/// Every problem of a file that could be read has a line.
fn check_refusal(refused: &Problems) {
    assert!(!refused.list().is_empty(), "{}", refused.file());
    for problem in refused.list() {
        assert!(!problem.message.is_empty());
        let is_whole = problem.at.is_none();
        assert!(is_whole || refused.position(problem).is_some());
    }
    assert!(!refused.to_string().is_empty());
}

/// Small ones are made into scenarios; large ones would only take long. What is printed is the same
/// scenario, or refused as well.
fn check_scenario(file: &ScenarioFile) {
    let text = file.text();
    if text.len() > 200_000 {
        return;
    }
    let made = file.build("made", &Overrides::default());
    let printed = Scenario::parse("made", &text, &Overrides::default());
    match (made, printed) {
        (Ok(made), Ok(printed)) => {
            assert_eq!(format!("{:?}", made.config), format!("{:?}", printed.config));
        }
        (Err(refused), Err(_)) => check_refusal(&refused),
        (made, printed) => panic!("{:?} and {:?} of\n{text}", made.err(), printed.err()),
    }
}

fn source(file: &str, text: String) -> Source {
    Source { file: file.to_string(), text }
}

fn cases() -> u32 {
    let cases = std::env::var("FUZZ_CASES").ok();
    cases.and_then(|cases| cases.parse().ok()).unwrap_or(60)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), ..ProptestConfig::default() })]

    #[test]
    fn files_of_htsim(matrix in changes(), tree in changes(), paths in changes()) {
        let sources = [
            source("m.cm", changed(MATRIX, &matrix)),
            source("t.topo", changed(TREE, &tree)),
            source("p.paths", changed(PATHS, &paths)),
        ];
        for sources in [&sources[..1], &sources[..2], &sources[..]] {
            match htsim::read_sources(sources, &Options::default()) {
                Ok(case) => check_scenario(&case.scenario),
                Err(refused) => check_refusal(&refused),
            }
        }
    }

    #[test]
    fn files_of_the_hpcc_family(config in changes(), topology in changes(), flows in changes()) {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: String| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            path.display().to_string()
        };
        let topology = write("topology.txt", changed(TOPOLOGY, &topology));
        let flows = write("flow.txt", changed(FLOWS, &flows));
        let text = changed(CONFIG, &config);
        let text = text.replace("TOPOLOGY_FILE topology.txt", &format!("TOPOLOGY_FILE {topology}"));
        let text = text.replace("FLOW_FILE flow.txt", &format!("FLOW_FILE {flows}"));
        for compat in [Compat::None, Compat::Hpcc] {
            let source = source("config.txt", text.clone());
            match hpcc::read_source(&source, Path::new(""), compat) {
                Ok(case) => check_scenario(&case.scenario),
                Err(refused) => check_refusal(&refused),
            }
        }
    }

    #[test]
    fn lists_of_flows(changes in changes()) {
        let list = changed(LIST, &changes);
        let text = format!(
            "duration = \"20 us\"\n\
             [topology]\nkind = \"n-to-1\"\nsenders = 2\nrate = \"10 Gbps\"\ndelay = \"1 us\"\n\
             [flow_control]\nkind = \"none\"\n\
             [traffic]\nkind = \"list\"\nrows = '''\n{list}\n'''\n"
        );
        match Scenario::parse("t", &text, &Overrides::default()) {
            Ok(scenario) => {
                let again = Scenario::parse("t", &scenario.resolved(), &Overrides::default());
                let again = again.unwrap_or_else(|problems| panic!("{problems}"));
                assert_eq!(
                    format!("{:?}", scenario.config),
                    format!("{:?}", again.config)
                );
            }
            Err(problems) => {
                let has_line = |problem| problems.position(problem).is_some();
                assert!(problems.list().iter().all(has_line), "{problems}");
            }
        }
    }
}
