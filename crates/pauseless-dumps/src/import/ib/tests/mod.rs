//! Samples, refusals and hostile input.

mod fuzz;
mod refusals;
mod refusals_of_tables;
mod samples;

use super::{discover, discover_table, fdbs, lft_dump, path_sl, sl2vl, subnet_list};
use pauseless_text::problem::Problem;
use pauseless_text::source::Source;

/// A parser whose result does not matter.
type Check = fn(&str) -> Result<(), Problem>;

const DISCOVER: Check = |text| discover::parse(text).map(drop);
const DISCOVER_TABLE: Check = |text| discover_table::parse(text).map(drop);
const SUBNET_LIST: Check = |text| subnet_list::parse(text).map(drop);
const FDBS: Check = |text| fdbs::parse(text).map(drop);
const LFT_DUMP: Check = |text| lft_dump::parse(text).map(drop);
const OPENSM_SL2VL: Check = |text| sl2vl::opensm::parse(text).map(drop);
const IBDMCHK_SL2VL: Check = |text| sl2vl::ibdmchk::parse(text).map(drop);
const PATH_SL: Check = |text| path_sl::parse(text).map(drop);

/// The text of a file in `examples/ib`.
fn sample(path: &str) -> String {
    let path = format!("{}/../../examples/ib/{path}", env!("CARGO_MANIFEST_DIR"));
    let bytes = std::fs::read(&path).expect("the sample is there");
    Source::from_bytes(&path, bytes).expect("the sample is text").text
}

/// What a parser says of `text`, as `line: message`, or `fine`.
fn verdict(check: Check, text: &str) -> String {
    let Err(problem) = check(text) else {
        return "fine".to_string();
    };
    let at = problem.at.expect("a place");
    assert!(at.start <= at.end && at.end <= text.len(), "{at:?}");
    let line = text[..at.start].matches('\n').count() + 1;
    format!("{line}: {}", problem.message)
}

/// What is replaced, by what, and the start of the message that this must give.
type Edit = (&'static str, &'static str, &'static str);

/// Each edit of a good text must give a message with this start.
fn refuses(check: Check, good: &str, edits: &[Edit]) {
    assert_eq!(verdict(check, good), "fine");
    for (from, to, expected) in edits {
        assert!(good.contains(from), "{from}");
        let found = verdict(check, &good.replacen(from, to, 1));
        assert!(found.starts_with(expected), "{from} -> {to}: {found}");
    }
}
