//! Scenarios to start from: small, complete, and with the sentences of the declarations as comments.

use std::fmt::Write;

use pauseless_text::declare::{Fallback, Info, KeyInfo};

use crate::topology::kinds;
use crate::{describe, did_you_mean};

/// The kinds of topology that [`scenario`] knows, in the order of the documents.
pub fn names() -> Vec<&'static str> {
    Vec::from_iter(STARTERS.iter().map(|starter| starter.kind))
}

/// The kinds, a line for each with what it is.
pub fn list() -> String {
    let line = |starter: &Starter| format!("  {:<15} {}\n", starter.kind, starter.what);
    STARTERS.iter().map(line).collect()
}

/// A scenario on a small network of this kind of topology, as the text of a file.
pub fn scenario(kind: &str) -> Result<String, String> {
    let starter = STARTERS.iter().find(|starter| starter.kind == kind).ok_or_else(|| {
        let near = did_you_mean(kind, names());
        let near = if near.is_empty() { format!("known are {}", names().join(", ")) } else { near };
        format!("no scenario to start from is called {kind:?}; {near}")
    })?;
    let info = describe::info();
    let mut text = String::new();
    comment(
        &mut text,
        &format!("A scenario to start from. Run it with: pauseless run {kind}.toml"),
    );
    comment(
        &mut text,
        "Every key with its range and its default: pauseless schema scenario, docs/scenario.md",
    );
    let _ = writeln!(text, "\ntitle = \"PFC in a small {kind} network\"");
    key(&mut text, &info, "duration", "\"2 ms\"");
    topology(&mut text, &info, starter);
    for part in PARTS {
        let section = part.name.trim_matches(['[', ']']);
        let own = sub(&info, section);
        let _ = writeln!(text, "\n{}", part.name);
        let kind = part.keys.iter().find(|(name, _)| *name == "kind");
        let variant = kind.map_or(Vec::new(), |(_, kind)| keys_of_kind(&own, kind));
        for (name, value) in part.keys {
            key(&mut text, &with_keys(own.clone(), &variant), name, value);
        }
        let is_written = |declared: &&KeyInfo| part.keys.iter().any(|(it, _)| *it == declared.name);
        for declared in variant.iter().filter(|declared| !is_written(declared)) {
            optional(&mut text, declared);
        }
    }
    Ok(text)
}

/// The section `[topology]`: what must be written, and behind marks of comments what may be.
fn topology(text: &mut String, info: &Info, starter: &Starter) {
    let _ = writeln!(text, "\n[topology]");
    let choice = kinds().named(starter.kind).expect("every starter is of a known kind");
    let own = (choice.info)();
    comment(text, &own.about);
    let _ = writeln!(text, "kind = \"{}\"", starter.kind);
    for declared in &own.keys {
        match starter.sizes.iter().find(|(name, _)| *name == declared.name) {
            Some((_, value)) => written(text, declared, value),
            None => optional(text, declared),
        }
    }
    let common = sub(info, "topology");
    key(text, &common, "rate", "\"100 Gbps\"");
    key(text, &common, "delay", "\"1 us\"");
    for name in ["host_rate", "host_delay"] {
        let declared = common.keys.iter().find(|key| key.name == name);
        optional(text, declared.expect("the section has it"));
    }
}

/// The key with its sentence and this value.
fn key(text: &mut String, info: &Info, name: &str, value: &str) {
    if let Some(variants) = info.variants.as_ref().filter(|variants| variants.key == name) {
        let names = Vec::from_iter(variants.list.iter().map(|(name, _)| *name));
        comment(text, &format!("One of {}.", names.join(", ")));
        let _ = writeln!(text, "{name} = {value}");
        return;
    }
    let variants = info.variants.iter().flat_map(|variants| &variants.list);
    let own = variants.flat_map(|(_, info)| &info.keys);
    let declared = info.keys.iter().chain(own).find(|key| key.name == name);
    written(text, declared.expect("a starter has declared keys only"), value);
}

fn written(text: &mut String, declared: &KeyInfo, value: &str) {
    comment(text, &declared.about);
    let _ = writeln!(text, "{} = {value}", declared.name);
}

/// A key that may be left out, with its default, as a comment.
fn optional(text: &mut String, declared: &KeyInfo) {
    let default = match &declared.fallback {
        Fallback::Value(value) => format!("default {value}"),
        // These say when the key is written, and no value.
        Fallback::Derived(how) if how.starts_with("required") || how.starts_with("instead") => {
            how.to_string()
        }
        Fallback::Derived(how) => format!("default {how}"),
        Fallback::Required(_) | Fallback::Absent => "may be left out".to_string(),
    };
    comment(
        text,
        &format!("{}: {} ({default})", declared.name, declared.about.trim_end_matches('.')),
    );
}

/// The keys that a section has with this kind only.
fn keys_of_kind(info: &Info, kind: &str) -> Vec<KeyInfo> {
    let variants = info.variants.iter().flat_map(|variants| &variants.list);
    let own = variants.filter(|(name, _)| *name == kind.trim_matches('"'));
    Vec::from_iter(own.flat_map(|(_, own)| own.keys.clone()))
}

/// The section with these keys before its own, beside the list of all kinds.
fn with_keys(mut info: Info, keys: &[KeyInfo]) -> Info {
    info.keys.splice(0..0, keys.iter().cloned());
    info
}

fn sub(info: &Info, section: &str) -> Info {
    let key = info.keys.iter().find(|key| key.name == section);
    let table = key.and_then(|key| key.kind.table());
    table.expect("a starter has declared sections only").clone()
}

/// Lines of a comment, wrapped. Marks of Markdown are for documents, to whose folder links lead.
fn comment(text: &mut String, sentence: &str) {
    let mut line = String::from("#");
    for word in without_links(sentence).replace('`', "").split_whitespace() {
        if line.len() + 1 + word.len() > WIDTH {
            let _ = writeln!(text, "{line}");
            line = String::from("#");
        }
        line.push(' ');
        line.push_str(word);
    }
    let _ = writeln!(text, "{line}");
}

/// A text with the page in place of each link to one.
fn without_links(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("](") {
        let opened = before.rfind('[').unwrap_or(before.len());
        let (page, behind) = after.split_once(')').unwrap_or((after, ""));
        let _ = write!(plain, "{}docs/{page}", &before[..opened]);
        rest = behind;
    }
    plain + rest
}

/// A network to start from: its kind and the sizes that must be written.
struct Starter {
    kind: &'static str,
    /// What the network is, in a line.
    what: &'static str,
    sizes: &'static [(&'static str, &'static str)],
}

/// A section that every starter has.
struct Part {
    name: &'static str,
    keys: &'static [(&'static str, &'static str)],
}

/// Small buffers, and as many senders as there are, so that there are pauses to look at.
const PARTS: [Part; 6] = [
    Part { name: "[routing]", keys: &[("kind", "\"ecmp\"")] },
    Part {
        name: "[switch]",
        keys: &[("discipline", "\"output-queued\""), ("buffer", "\"500 KB\"")],
    },
    Part { name: "[flow_control]", keys: &[("kind", "\"pfc\"")] },
    Part { name: "[congestion_control]", keys: &[("kind", "\"none\"")] },
    Part { name: "[[traffic]]", keys: &[("kind", "\"incast\""), ("size", "\"1 MB\"")] },
    Part { name: "[probe]", keys: &[("resolution", "\"5 us\"")] },
];

const STARTERS: [Starter; 14] = [
    Starter {
        kind: "ring",
        what: "switches in a circle, the smallest network that can deadlock",
        sizes: &[("switches", "4"), ("hosts_per_switch", "2")],
    },
    Starter {
        kind: "line",
        what: "switches in a row",
        sizes: &[("switches", "3"), ("hosts_per_switch", "2")],
    },
    Starter {
        kind: "dumbbell",
        what: "two switches with one link between them, and hosts on both",
        sizes: &[("left", "4"), ("right", "4")],
    },
    Starter {
        kind: "n-to-1",
        what: "one switch, many senders and one receiver",
        sizes: &[("senders", "8")],
    },
    Starter {
        kind: "parking-lot",
        what: "switches in a row, with a flow over all links and one more at each",
        sizes: &[("links", "3")],
    },
    Starter {
        kind: "fat-tree",
        what: "three layers of switches with k ports each",
        sizes: &[("k", "4")],
    },
    Starter {
        kind: "leaf-spine",
        what: "two layers: every leaf is joined to every spine",
        sizes: &[("leaves", "4"), ("spines", "2"), ("hosts_per_leaf", "4")],
    },
    Starter {
        kind: "clos",
        what: "pods of top-of-rack switches and leaves, below spines",
        sizes: &[
            ("pods", "2"),
            ("tors_per_pod", "2"),
            ("leaves_per_pod", "2"),
            ("spines", "2"),
            ("hosts_per_tor", "4"),
        ],
    },
    Starter {
        kind: "rail-optimised",
        what: "training clusters: NICs of the same number share a switch",
        sizes: &[("blocks", "2"), ("servers_per_block", "2"), ("rails", "4"), ("spines", "2")],
    },
    Starter {
        kind: "dragonfly",
        what: "groups of routers, with links between all groups",
        sizes: &[
            ("groups", "5"),
            ("routers_per_group", "4"),
            ("hosts_per_router", "2"),
            ("global_links_per_router", "1"),
        ],
    },
    Starter {
        kind: "torus",
        what: "a grid of switches whose rows are closed",
        sizes: &[("dimensions", "[4, 4]"), ("hosts_per_switch", "1")],
    },
    Starter {
        kind: "mesh",
        what: "a grid of switches",
        sizes: &[("dimensions", "[4, 4]"), ("hosts_per_switch", "1")],
    },
    Starter {
        kind: "hyperx",
        what: "a grid of switches in which each is joined to all others of its rows",
        sizes: &[("dimensions", "[4, 4]"), ("hosts_per_switch", "2")],
    },
    Starter {
        kind: "random-regular",
        what: "switches that are joined at random, with the same number of links each",
        sizes: &[("switches", "12"), ("degree", "3"), ("hosts_per_switch", "2")],
    },
];

/// The most characters of a line of a comment.
const WIDTH: usize = 96;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Overrides, Scenario};

    #[test]
    fn every_starter_can_be_run_and_every_kind_has_one() {
        for name in names() {
            let text = scenario(name).expect("a known name");
            let scenario = Scenario::parse(name, &text, &Overrides::default());
            let scenario = scenario.unwrap_or_else(|problems| panic!("{problems}\n{text}"));
            assert!(!scenario.config.flows.is_empty(), "{name}");
            assert!(scenario.warnings.is_empty(), "{name}: {:?}", scenario.warnings);
            assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
            assert!(!text.contains("]("), "a link is for documents: {text}");
            assert!(list().lines().any(|line| line.starts_with(&format!("  {name} "))), "{name}");
        }
        let kinds = kinds().variants.into_iter().map(|kind| kind.name);
        let missing = Vec::from_iter(kinds.filter(|kind| !names().contains(kind)));
        assert_eq!(missing, ["custom"], "it lists its own nodes");
    }

    #[test]
    fn a_link_is_replaced_by_its_page() {
        let text =
            "`a`; see [cycle-aware.md](cycle-aware.md), [[\"1 KB\", 1]] and [that](plan.md).";
        let plain = "`a`; see docs/cycle-aware.md, [[\"1 KB\", 1]] and docs/plan.md.";
        assert_eq!(without_links(text), plain);
    }

    #[test]
    fn an_unknown_name_has_a_hint() {
        let wrong = scenario("leaf-spin").expect_err("no such kind");
        assert!(wrong.contains("leaf-spine"), "{wrong}");
        assert!(scenario("").expect_err("no name").contains("known are ring, line"));
    }
}
