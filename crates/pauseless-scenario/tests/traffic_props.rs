//! Whatever `[[traffic]]` says: names differ, nobody sends to itself, nothing starts too late,
//! and what is written out makes the same flows.

use pauseless_core::unit::{Span, Time};
use pauseless_scenario::{Overrides, Scenario};
use proptest::prelude::*;

/// Keys of one section, of whatever kind.
fn section() -> impl Strategy<Value = String> {
    const KINDS: [&str; 8] = [
        "kind = \"permutation\"",
        "kind = \"poisson\"\nload = \"40 %\"",
        "kind = \"incast\"",
        "kind = \"closed-loop\"",
        "kind = \"all-to-all\"",
        "kind = \"ring-all-reduce\"",
        "kind = \"tree-all-reduce\"",
        "kind = \"poisson\"\nload = \"70 %\"\nfan_in = [2, 3]",
    ];
    const OF_KIND: [(&str, &[usize]); 17] = [
        ("arrivals = \"synchronous\"", &[1]),
        ("sources = [\"H0..H5\"]", &[1, 2, 3]),
        ("targets = [\"H1*\", \"H7\"]", &[1, 2, 3, 7]),
        ("other_rack = false", &[1, 2, 3, 7]),
        ("degree = 2", &[2]),
        ("interval = \"150 us\"", &[2]),
        ("jitter = \"40 us\"", &[2]),
        ("think = \"20 us\"", &[3]),
        ("parallel = 3", &[3]),
        ("hosts = [\"H*\"]", &[4, 5, 6]),
        ("hosts = [\"H3\", \"H9\"]", &[4, 5, 6]),
        ("rounds = \"shifted\"", &[4]),
        ("chunks = 3", &[6]),
        ("repeat = 3", &[4, 5, 6]),
        ("gap = \"10 us\"", &[4, 5, 6]),
        ("classes_by_size = [[\"10 KB\", 1]]", &[0, 1, 2, 3, 4, 5, 6, 7]),
        ("start = \"300 us\"", &[0, 1, 2, 3, 4, 5, 6, 7]),
    ];
    const SIZES: [&str; 4] = [
        "size = \"30 KB\"",
        "sizes = \"pcn_w1_webserver\"",
        "sizes = \"datamining_vl2\"",
        "cdf = [[\"1 B\", 0.2], [\"9 KB\", 0.2], [\"20 KB\", 1]]",
    ];
    let keys = prop::collection::btree_set(0..OF_KIND.len(), 0..5);
    (0..KINDS.len(), keys, 0..SIZES.len(), any::<bool>()).prop_map(|(kind, keys, size, stop)| {
        let size = if (4..7).contains(&kind) || kind == 0 { 0 } else { size };
        let mut text = format!("{}\n{}\n", KINDS[kind], SIZES[size]);
        for key in keys {
            let (key, kinds) = OF_KIND[key];
            let is_twice = key.starts_with("hosts") && text.contains("hosts")
                || key.starts_with("arrivals") && text.contains("fan_in");
            if kinds.contains(&kind) && !is_twice {
                text.push_str(&format!("{key}\n"));
            }
        }
        if stop {
            text.push_str("stop = \"700 us\"\n");
        }
        text
    })
}

/// Values that mean something somewhere.
const PIECES: [&str; 24] = [
    "0",
    "1",
    "18446744073709551615",
    "-1",
    "1e308",
    "nan",
    "true",
    "[]",
    "[[]]",
    "[1, 2]",
    "\"\"",
    "\"0 B\"",
    "\"1 B\"",
    "\"1000000 GB\"",
    "\"1 ps\"",
    "\"86400 s\"",
    "\"1 ppm\"",
    "\"200 %\"",
    "\"1 bps\"",
    "\"websearch\"",
    "\"..\"",
    "[\"H1\"]",
    "[\"*\", \"H1..H2\"]",
    "[[\"1 B\", 0], [\"1000000 GB\", 1]]",
];

const HEAD: &str = "duration = \"1 ms\"\n[topology]\nkind = \"leaf-spine\"\nleaves = 3\n\
    spines = 2\nhosts_per_leaf = 4\nrate = \"10 Gbps\"\ndelay = \"1 us\"\n[switch]\nclasses = 2\n\
    [flow_control]\nkind = \"none\"\n[timing]\nstart_jitter = \"0 us\"\n";

fn parse(text: &str) -> Scenario {
    let scenario = Scenario::parse("t", text, &Overrides::default());
    scenario.unwrap_or_else(|problems| panic!("{problems}\n{text}"))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn any_traffic(sections in prop::collection::vec(section(), 1..4), seed in any::<u64>()) {
        let mut text = format!("seed = {}\n{HEAD}", seed >> 1);
        for (index, section) in sections.iter().enumerate() {
            text.push_str(&format!("[[traffic]]\nname = \"T{index}\"\n{section}"));
        }
        let scenario = parse(&text);
        let config = &scenario.config;
        let names = config.flows.iter().map(|flow| flow.name.as_str());
        let names = std::collections::BTreeSet::from_iter(names);
        prop_assert_eq!(names.len(), config.flows.len());
        for flow in &config.flows {
            prop_assert_ne!(flow.source, flow.target);
            prop_assert!(flow.size.get() >= 1);
            prop_assert!(flow.start < flow.stop && flow.start < Time::ZERO + Span::ms(1));
        }
        for follow in &config.follows {
            prop_assert_ne!(follow.first, follow.then);
        }
        let again = parse(&scenario.resolved());
        prop_assert_eq!(&config.flows, &again.config.flows);
        prop_assert_eq!(&config.follows, &again.config.follows);
        prop_assert_eq!(&scenario.resolved(), &again.resolved());
    }

    #[test]
    fn wrong_values(section in section(), line in any::<usize>(), piece in 0..PIECES.len()) {
        let mut lines = Vec::from_iter(section.lines().map(String::from));
        let line = line % lines.len();
        let (key, _) = lines[line].split_once('=').unwrap();
        lines[line] = format!("{key}= {}", PIECES[piece]);
        let text = format!("{HEAD}[[traffic]]\n{}\n", lines.join("\n"));
        match Scenario::parse("t", &text, &Overrides::default()) {
            Err(problems) => prop_assert!(!problems.list().is_empty()),
            Ok(scenario) => {
                let again = parse(&scenario.resolved());
                prop_assert_eq!(scenario.config.flows, again.config.flows);
            }
        }
    }
}
