//! The paths that flows took in a run of htsim: `PATH flow F dst D switch S via EGRESS`, one line per
//! flow, direction and switch.

use std::collections::BTreeMap;

use pauseless_text::lex::{Text, Word};
use pauseless_text::problem::Sink;
use pauseless_text::reader::{At, Place};

/// What was written of each way, by flow and target.
pub(super) type Hops = BTreeMap<(u64, u64), Way>;

/// A way of a flow.
#[derive(Debug)]
pub(super) struct Way {
    /// The switches behind the first, each where it was written.
    pub nodes: Vec<At<String>>,
    /// The place of its first line.
    pub place: Place,
}

/// Reads `text`; what is wrong goes to `sink`.
pub(super) fn parse(text: Text<'_>, sink: &Sink) -> Hops {
    let mut hops = Hops::new();
    let before = sink.count();
    for words in text.rows() {
        if let Some((key, node)) = line(&words, sink) {
            let first =
                || Way { nodes: Vec::new(), place: words[0].place("").to_end(words[8].at().end) };
            hops.entry(key).or_insert_with(first).nodes.push(node);
        }
        if sink.count() - before >= PROBLEMS_MAX {
            break;
        }
    }
    hops
}

fn line(words: &[Word<'_>], sink: &Sink) -> Option<((u64, u64), At<String>)> {
    const SHAPE: &str = "PATH flow NUMBER dst NUMBER switch NAME via EGRESS";
    let texts = Vec::from_iter(words.iter().map(|word| word.text));
    let ["PATH", "flow", _, "dst", _, "switch", _, "via", _] = texts[..] else {
        sink.push(words[0].problem("not a line of a path").expected(SHAPE));
        return None;
    };
    let number = |word: Word<'_>| sink.take(word.integer(0..=u64::from(u32::MAX)));
    let (flow, target) = (number(words[2]), number(words[4]));
    let next = words[8].text.split_once("->").map(|(_, next)| next).and_then(node);
    if next.is_none() {
        let problem = words[8].problem(format!("{:?} is no egress", words[8].text));
        sink.push(problem.expected("SWITCH->NODE(NUMBER) with LS, US, CS or DST and a number"));
    }
    let next = At { value: next?, place: words[8].place("") };
    Some(((flow?, target?), next))
}

/// Our name of a node: `US_3(1)` is `US3#2`, which is by the second of parallel links.
fn node(text: &str) -> Option<String> {
    let (name, link) = match text.strip_suffix(')') {
        None => (text, "0"),
        Some(text) => text.split_once('(')?,
    };
    let link = link.parse::<u32>().ok()?.checked_add(1)?;
    let kind = ["LS", "US", "CS", "DST"].into_iter().find(|kind| name.starts_with(kind))?;
    let number = name[kind.len()..].trim_start_matches('_').parse::<u32>().ok()?;
    let kind = if kind == "DST" { "H" } else { kind };
    Some(match link {
        1 => format!("{kind}{number}"),
        _ => format!("{kind}{number}#{link}"),
    })
}

/// The most problems that are reported.
const PROBLEMS_MAX: usize = 50;
