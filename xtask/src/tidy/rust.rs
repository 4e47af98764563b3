//! Rules for Rust files: names, lengths, banned words, the opening of protocol modules.

use crate::repo::{File, Finding};
use crate::source::{Class, Source, has_word};

/// Checks one Rust file.
pub fn check(file: &File) -> Vec<Finding> {
    let code = Source::parse(&file.text).only(Class::Code);
    let mut findings = length(file);
    findings.extend(file_name(file));
    findings.extend(module_names(file, &code));
    findings.extend(banned_words(file, &code));
    findings.extend(protocol_headings(file));
    findings.extend(no_std(file, &code));
    findings.extend(matches_on_bool(file, &code));
    findings.extend(torn_files(file, &code));
    findings
}

/// Files are written by `pauseless_text::output`, which makes them appear whole or not at all. Tests,
/// which stand last, may do as they like.
fn torn_files(file: &File, code: &str) -> Vec<Finding> {
    let path = file.path.as_str();
    let is_ours = path.starts_with("crates/") && path.contains("/src/");
    let is_test = path.ends_with("tests.rs") || path.contains("/tests/");
    if !is_ours || is_test || WRITES_ITSELF.iter().any(|allowed| path.starts_with(allowed)) {
        return Vec::new();
    }
    let lines = code.lines().take_while(|line| !line.trim().starts_with("#[cfg(test)]"));
    let writes = |line: &str| TORN_WRITES.iter().any(|word| line.contains(word));
    let torn = lines.enumerate().filter(|(_, line)| writes(line));
    let message = "a file that can be left half-written; use `pauseless_text::output`";
    torn.map(|(index, _)| file.error(index + 1, message)).collect()
}

/// `if` says it in fewer words.
fn matches_on_bool(file: &File, code: &str) -> Vec<Finding> {
    let arms = ["true =>", "true if ", "false =>", "false if "];
    let mut findings = Vec::new();
    let mut lines = code.lines().enumerate().peekable();
    while let Some((index, line)) = lines.next() {
        let opens = has_word(line, "match") && line.trim_end().ends_with('{');
        let next = lines.peek().map_or("", |(_, next)| next.trim_start());
        if opens && arms.iter().any(|arm| next.starts_with(arm)) {
            findings.push(file.error(index + 1, "a `match` on a bool; write `if`"));
        }
    }
    findings
}

fn length(file: &File) -> Vec<Finding> {
    let lines = file.text.lines().count();
    if lines > LINES_MAX {
        vec![file.error(lines, format!("{lines} lines, limit {LINES_MAX}; split it"))]
    } else if lines > LINES_WARN {
        vec![file.warning(lines, format!("{lines} lines, aim at {LINES_WARN}"))]
    } else {
        Vec::new()
    }
}

/// The names of the file and of its folders, which are modules too.
fn file_name(file: &File) -> Option<Finding> {
    let stem = file.path.trim_end_matches(".rs");
    let name = stem.split('/').find(|part| VAGUE_NAMES.contains(part))?;
    Some(file.error(1, vague(name)))
}

fn module_names(file: &File, code: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (index, line) in code.lines().enumerate() {
        let mut words = line.split(|char: char| !char.is_alphanumeric() && char != '_');
        let name = words.find(|&word| word == "mod").and_then(|_| words.next());
        if let Some(name) = name.filter(|name| VAGUE_NAMES.contains(name)) {
            findings.push(file.error(index + 1, vague(name)));
        }
    }
    findings
}

fn vague(name: &str) -> String {
    format!("a module named `{name}` says nothing; name it after what it holds")
}

fn banned_words(file: &File, code: &str) -> Vec<Finding> {
    let bans: Vec<&Ban> = BANS.iter().filter(|ban| (ban.applies)(&file.path)).collect();
    let mut findings = Vec::new();
    for (index, line) in code.lines().enumerate() {
        for Ban { word, reason, .. } in bans.iter().filter(|ban| has_word(line, ban.word)) {
            let word = word.trim_end_matches('(');
            findings.push(file.error(index + 1, format!("`{word}` is banned: {reason}")));
        }
    }
    findings
}

/// Whoever reads a protocol learns first what it models and from where.
fn protocol_headings(file: &File) -> Option<Finding> {
    let name = file.path.strip_prefix(PROTOCOLS)?;
    // Schemes of other crates: a seam, and no protocol.
    let is_seam = name == "outside.rs";
    if is_seam || name.ends_with("mod.rs") || name.ends_with("tests.rs") {
        return None;
    }
    let opening = file.text.lines().map_while(|line| line.strip_prefix("//!"));
    let mut opening = opening.map(str::trim);
    for heading in HEADINGS {
        // The search goes on from the last heading, so that their order counts.
        if !opening.any(|line| is_heading(line, heading)) {
            let order = HEADINGS.map(|heading| format!("**{heading}**")).join(", ");
            let problem = format!("`**{heading}**` is missing or out of order");
            return Some(file.error(1, format!("{problem}; open with {order}")));
        }
    }
    None
}

/// A heading is bold at the start of a line, or a Markdown heading.
fn is_heading(line: &str, heading: &str) -> bool {
    let title = line.trim_start_matches('#').trim_start();
    let title = title.strip_prefix("**").or((title != line).then_some(title));
    let rest = title.and_then(|title| title.strip_prefix(heading));
    rest.is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
}

/// The core must run anywhere; building it on a host that has std does not prove that.
fn no_std(file: &File, code: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    if !is_core(&file.path) {
        return findings;
    }
    let is_root = file.path == "crates/pauseless-core/src/lib.rs";
    if is_root && !code.lines().any(|line| line.trim() == "#![no_std]") {
        findings.push(file.error(1, "the core is `#![no_std]` without conditions"));
    }
    let mut previous = "";
    for (index, line) in code.lines().enumerate() {
        let is_test = |line: &str| line.contains("cfg(") && has_word(line, "test");
        let declares_std = line.contains("extern crate std");
        if declares_std && !is_test(line) && !is_test(previous) {
            findings.push(file.error(index + 1, "the core uses std under `cfg(test)` only"));
        }
        previous = line;
    }
    findings
}

/// A word that must not stand in the code of some files.
struct Ban {
    /// With a `(` behind it where only a call is meant.
    word: &'static str,
    /// Whether the ban holds for the file at this path.
    applies: fn(&str) -> bool,
    reason: &'static str,
}

const fn ban(word: &'static str, applies: fn(&str) -> bool, reason: &'static str) -> Ban {
    Ban { word, applies, reason }
}

fn everywhere(_path: &str) -> bool {
    true
}

fn is_core(path: &str) -> bool {
    path.starts_with("crates/pauseless-core/src/")
}

fn is_deterministic(path: &str) -> bool {
    let sources = ["pauseless-core", "pauseless-fabric", "pauseless-sim"];
    let rest = path.strip_prefix("crates/").unwrap_or_default();
    let crate_name = rest.split_once("/src/").map(|(name, _)| name);
    crate_name.is_some_and(|name| sources.contains(&name))
}

fn is_safe(path: &str) -> bool {
    !path.starts_with("crates/pauseless-dataplane/")
}

const LINES_WARN: usize = 500;
const LINES_MAX: usize = 700;

const VAGUE_NAMES: [&str; 5] = ["utils", "common", "helpers", "manager", "misc"];

const PROTOCOLS: &str = "crates/pauseless-core/src/flow_control/";
const HEADINGS: [&str; 5] = ["Models", "Source", "Deviates", "States", "Not modelled"];

/// Calls that write under the name that a file has in the end.
const TORN_WRITES: [&str; 4] =
    ["fs::write(", "File::create(", "File::create_new(", ".create(true)"];
/// What may do so: the module that the others use, files of the kernel, and those that only live as
/// long as a testbed.
const WRITES_ITSELF: [&str; 4] = [
    "crates/pauseless-text/src/output.rs",
    "crates/pauseless-dataplane/",
    "crates/pauseless-testbed/src/processes.rs",
    "crates/pauseless-testbed/src/folder.rs",
];

const UNFINISHED: &str = "finish it, or return an error that says what is not supported";
const HASHER: &str = "its order depends on the hasher";
const CLOCK: &str = "time is simulated; take `now: Time` as an argument";
const PLATFORM: &str = "the last bits of transcendental functions depend on the platform";

const BANS: [Ban; 16] = [
    ban("todo!", everywhere, UNFINISHED),
    ban("unimplemented!", everywhere, UNFINISHED),
    ban("#[ignore", everywhere, "a test that does not run is no test"),
    ban("#[should_panic", everywhere, "it passes on any panic; return an error or test the state"),
    ban("unsafe", is_safe, "only pauseless-dataplane may use it"),
    ban("HashMap", is_deterministic, HASHER),
    ban("HashSet", is_deterministic, HASHER),
    ban("Instant::now", is_deterministic, CLOCK),
    ban("SystemTime::now", is_deterministic, CLOCK),
    ban("thread_rng", is_deterministic, "it is seeded by the machine; take a named stream"),
    ban("powf", is_core, PLATFORM),
    ban("exp(", is_core, PLATFORM),
    ban("exp2(", is_core, PLATFORM),
    ban("ln(", is_core, PLATFORM),
    ban("log2(", is_core, PLATFORM),
    ban("log10(", is_core, PLATFORM),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(path: &str, text: &str) -> Vec<String> {
        let findings = check(&File::new(path, text));
        findings.iter().map(Finding::to_string).collect()
    }

    fn lines(count: usize) -> File {
        File::new("a.rs", "f();\n".repeat(count))
    }

    #[test]
    fn a_match_on_a_bool_is_an_if() {
        let text = "//! A.\nfn a(b: bool) -> u8 {\n    match b {\n        true => 1,\n        _ => 2,\n    }\n}\n";
        assert_eq!(messages("crates/pauseless-run/src/a.rs", text).len(), 1);
        let text = text.replace("true", "1").replace("bool", "u8");
        assert!(messages("crates/pauseless-run/src/a.rs", &text).is_empty());
    }

    #[test]
    fn files_are_written_whole_or_not_at_all() {
        for text in ["fs::write(a, b)?;", "let f = File::create(a)?;", "o.write(true).create(true)"]
        {
            assert_eq!(messages("crates/pauseless-run/src/a.rs", text).len(), 1, "{text}");
            let tests = format!("#[cfg(test)]\nmod tests {{ {text} }}\n");
            assert!(messages("crates/pauseless-run/src/a.rs", &tests).is_empty(), "{text}");
            for free in ["crates/pauseless/tests/a.rs", "crates/pauseless-text/src/output.rs"] {
                assert!(messages(free, text).is_empty(), "{free}");
            }
        }
        assert!(messages("crates/pauseless-run/src/a.rs", "output::write(a, b)?;").is_empty());
    }

    #[test]
    fn long_files_are_warned_of_and_then_refused() {
        assert!(length(&lines(500)).is_empty());
        assert!(length(&lines(501)).iter().all(|found| !found.is_error()));
        assert_eq!(length(&lines(501)).len(), 1);
        assert!(!length(&lines(700))[0].is_error());
        assert!(length(&lines(701))[0].is_error());
    }

    #[test]
    fn vague_module_names_are_found() {
        assert_eq!(messages("crates/a/src/utils.rs", "").len(), 1);
        assert_eq!(messages("crates/a/tests/common/mod.rs", "").len(), 1);
        assert_eq!(messages("a.rs", "pub(crate) mod helpers {\n}\n").len(), 1);
        assert_eq!(messages("a.rs", "mod misc;\n").len(), 1);
    }

    #[test]
    fn telling_module_names_pass() {
        assert!(messages("crates/a/src/queue.rs", "mod ring;\n").is_empty());
        assert!(messages("a.rs", "// mod misc;\nlet common = 1;\n").is_empty());
        assert!(messages("a.rs", "mod common_prefix;\n").is_empty());
    }

    #[test]
    fn words_banned_everywhere_are_found() {
        for text in [
            "todo!()",
            "unimplemented!(\"a\")",
            "#[ignore]",
            "#[ignore = \"slow\"]",
            "#[should_panic(expected = \"a\")]",
            "unsafe { f() }",
        ] {
            assert_eq!(messages("crates/pauseless-run/src/a.rs", text).len(), 1, "{text}");
        }
    }

    #[test]
    fn words_in_comments_and_literals_are_free() {
        let text = "// todo!()\nf(\"unsafe HashMap\");\n#![forbid(unsafe_code)]\n";
        assert!(messages("crates/pauseless-sim/src/a.rs", text).is_empty());
    }

    #[test]
    fn unsafe_is_for_the_dataplane() {
        let text = "unsafe { f() }\n";
        assert!(messages("crates/pauseless-dataplane/src/a.rs", text).is_empty());
    }

    #[test]
    fn sources_of_chance_are_banned_where_results_are_made() {
        for text in [
            "use std::collections::HashMap;",
            "HashSet::new()",
            "Instant::now()",
            "std::time::SystemTime::now()",
            "thread_rng()",
        ] {
            for name in ["core", "fabric", "sim"] {
                let path = format!("crates/pauseless-{name}/src/a/b.rs");
                assert_eq!(messages(&path, text).len(), 1, "{path}: {text}");
            }
            assert!(messages("crates/pauseless-run/src/a.rs", text).is_empty());
            assert!(messages("crates/pauseless-sim/tests/a.rs", text).is_empty());
        }
    }

    #[test]
    fn transcendental_functions_are_banned_in_the_core() {
        for text in ["x.powf(y)", "f64::exp(x)", "x.ln()", "x.log2()"] {
            assert_eq!(messages("crates/pauseless-core/src/a.rs", text).len(), 1, "{text}");
            assert!(messages("crates/pauseless-run/src/a.rs", text).is_empty());
        }
        for text in ["x.ilog2()", "let exp = 1;", "writeln(x)", "x * y / z"] {
            assert!(messages("crates/pauseless-core/src/a.rs", text).is_empty(), "{text}");
        }
    }

    #[test]
    fn protocols_open_with_their_headings() {
        let path = "crates/pauseless-core/src/flow_control/pfc.rs";
        let bold = "//! PFC.\n//!\n//! **Models** a\n//! **Source** b\n//! **Deviates:** c\n\
                    //! **States**\n//! **Not modelled**: d\n\nfn f() {}\n";
        assert!(messages(path, bold).is_empty());
        let headed = "//! # Models\n//! # Source\n//! # Deviates\n//! # States\n\
                      //! # Not modelled\n";
        assert!(messages(path, headed).is_empty());
        assert!(messages("crates/pauseless-core/src/flow_control/mod.rs", "").is_empty());
        assert!(messages("crates/pauseless-core/src/port.rs", "").is_empty());
    }

    #[test]
    fn protocols_without_their_headings_are_found() {
        let path = "crates/pauseless-core/src/flow_control/pfc.rs";
        assert_eq!(messages(path, "//! PFC.\n").len(), 1);
        let swapped = "//! **Source**\n//! **Models**\n//! **Deviates**\n//! **States**\n\
                       //! **Not modelled**\n";
        let found = messages(path, swapped);
        assert!(found[0].contains("`**Source**` is missing or out of order"), "{found:?}");
        let unmarked = "//! Models\n//! Source\n//! Deviates\n//! States\n//! Not modelled\n";
        assert_eq!(messages(path, unmarked).len(), 1);
        let late = "//! PFC.\n\n//! **Models** **Source** **Deviates** **States**\n";
        assert_eq!(messages(path, late).len(), 1);
    }

    #[test]
    fn the_core_is_no_std() {
        let root = "crates/pauseless-core/src/lib.rs";
        assert!(messages(root, "#![no_std]\n#[cfg(test)]\nextern crate std;\n").is_empty());
        assert_eq!(messages(root, "#![cfg_attr(not(test), no_std)]\n").len(), 1);
        assert_eq!(messages(root, "#![no_std]\nextern crate std;\n").len(), 1);
        assert!(messages("crates/pauseless-sim/src/lib.rs", "").is_empty());
    }
}
