//! No input makes a parser panic, and what it refuses it can point at.

use proptest::prelude::*;

use super::*;
use crate::import::ib::recognise;

const CHECKS: [Check; 8] =
    [DISCOVER, DISCOVER_TABLE, SUBNET_LIST, FDBS, LFT_DUMP, OPENSM_SL2VL, IBDMCHK_SL2VL, PATH_SL];

/// A sample for each parser, in the same order, cut to what a mutation has a chance to hit.
fn seeds() -> Vec<String> {
    let paths = [
        "ring4-minhop/ibnetdiscover.out",
        "real/infiniband_exporter-ibnetdiscover-p.out",
        "ring4-minhop/opensm-subnet.lst",
        "ring4-minhop/opensm.fdbs",
        "ring4-minhop/dump_lfts.out",
        "t44-dfsssp-vl/opensm-sl2vl.dump.gz",
        "t44-dfsssp-vl/slvl.gz",
        "t44-dfsssp-vl/psl.gz",
    ];
    let start = |path| {
        let text = sample(path);
        let end = text.char_indices().nth(12_000).map_or(text.len(), |(end, _)| end);
        let end = text[..end].rfind('\n').map_or(end, |newline| newline + 1);
        text[..end].to_string()
    };
    paths.into_iter().map(start).collect()
}

/// A change to a text.
#[derive(Clone, Debug)]
enum Mutation {
    /// Everything after a place is lost.
    Cut(prop::sample::Index),
    /// A byte becomes another one.
    Replace(prop::sample::Index, u8),
    /// A line occurs twice.
    Repeat(prop::sample::Index),
    /// A line is lost.
    Drop(prop::sample::Index),
    /// Two lines change places.
    Swap(prop::sample::Index, prop::sample::Index),
    /// Something comes in between.
    Insert(prop::sample::Index, &'static str),
}

fn mutation() -> impl Strategy<Value = Mutation> {
    let place = any::<prop::sample::Index>;
    let piece = prop::sample::select(PIECES.as_slice());
    prop_oneof![
        place().prop_map(Mutation::Cut),
        (place(), any::<u8>()).prop_map(|(at, byte)| Mutation::Replace(at, byte)),
        (place(), b' '..b'~').prop_map(|(at, byte)| Mutation::Replace(at, byte)),
        place().prop_map(Mutation::Repeat),
        place().prop_map(Mutation::Drop),
        (place(), place()).prop_map(|(a, b)| Mutation::Swap(a, b)),
        (place(), piece).prop_map(|(at, piece)| Mutation::Insert(at, piece)),
    ]
}

const PIECES: [&str; 16] = [
    "0x",
    "0xFFFFFFFFFFFFFFFFFFFF",
    "99999999999999999999999",
    "-1",
    "\r\n",
    "\n",
    "\r",
    "\0",
    "\"",
    "'",
    "{ }",
    "é",
    "\u{feff}",
    "[",
    "#",
    ":",
];

fn mutate(text: &str, mutation: &Mutation) -> String {
    let mut bytes = text.as_bytes().to_vec();
    let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
    if lines.is_empty() {
        return String::new();
    }
    match mutation {
        Mutation::Cut(at) => bytes.truncate(at.index(bytes.len())),
        Mutation::Replace(at, byte) => {
            let at = at.index(bytes.len());
            bytes[at] = *byte;
        }
        Mutation::Insert(at, piece) => {
            let at = at.index(bytes.len());
            bytes.splice(at..at, piece.bytes());
        }
        Mutation::Repeat(line) => {
            let line = line.index(lines.len());
            lines.insert(line, lines[line]);
            bytes = lines.concat().into_bytes();
        }
        Mutation::Drop(line) => {
            lines.remove(line.index(lines.len()));
            bytes = lines.concat().into_bytes();
        }
        Mutation::Swap(a, b) => {
            let (a, b) = (a.index(lines.len()), b.index(lines.len()));
            lines.swap(a, b);
            bytes = lines.concat().into_bytes();
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Runs a parser; a complaint must have a place in the text, and it must be possible to show it.
fn survive(check: Check, text: &str) {
    recognise(text);
    let Err(problem) = check(text) else {
        return;
    };
    assert!(!problem.message.is_empty());
    let at = problem.at.clone().expect("a place");
    assert!(at.start <= at.end && at.end <= text.len(), "{at:?}");
    let source = Source { file: "f".to_string(), text: text.to_string() };
    let shown = source.refuse(problem).to_string();
    assert!(shown.starts_with("pauseless: f:"), "{shown}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let text = String::from_utf8_lossy(&bytes);
        for check in CHECKS {
            survive(check, &text);
        }
    }

    #[test]
    fn any_words(
        words in prop::collection::vec(prop::sample::select(PIECES.as_slice()), 0..60),
        seed in any::<prop::sample::Index>(),
        at in any::<prop::sample::Index>(),
    ) {
        let seeds = seeds();
        let seed = &seeds[seed.index(seeds.len())];
        let mut words = words;
        let lines: Vec<&str> = seed.split_inclusive('\n').collect();
        words.insert(0, lines[at.index(lines.len())]);
        for check in CHECKS {
            survive(check, &words.concat());
        }
    }

    #[test]
    fn mutations_of_samples(
        index in 0..CHECKS.len(),
        mutations in prop::collection::vec(mutation(), 1..6),
    ) {
        let mut text = seeds().swap_remove(index);
        for one in &mutations {
            text = mutate(&text, one);
        }
        survive(CHECKS[index], &text);
    }

    #[test]
    fn every_parser_survives_every_format(index in 0..CHECKS.len(), end in any::<prop::sample::Index>()) {
        let text = seeds().swap_remove(index);
        let text = &text[..end.index(text.len())];
        for check in CHECKS {
            survive(check, text);
        }
    }
}
