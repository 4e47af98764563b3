//! The catalogue of all rules as a document, made from their declarations.

use std::fmt::Write;

use crate::rule::Rule;
use crate::rules;
use crate::text::example;

/// The text of `docs/lint-rules.md`.
pub fn document() -> String {
    let mut text = OPENING.to_string();
    text += "| rule | severity | what is wrong |\n|---|---|---|\n";
    for rule in rules::ALL {
        let anchor = format!("{}-{}", rule.id.to_lowercase(), rule.name);
        let Rule { id, severity, sentence, .. } = rule;
        let _ = writeln!(text, "| [{id}](#{anchor}) | {} | {sentence} |", severity.name());
    }
    for rule in rules::ALL {
        text += &entry(rule);
    }
    text
}

fn entry(rule: &Rule) -> String {
    let Rule { id, name, severity, sentence, why, fix, released, evidence, good, bad, .. } = rule;
    let mut text =
        format!("\n## {id} {name}\n**{}** {sentence}\n{}\n", severity.name(), lines(why));
    let _ =
        write!(text, "\n- Fix: {fix}.\n- On released templates: {released}\n- From: {evidence}.\n");
    let mut shown = String::new();
    for (what, edits) in [("fires", bad), ("silent", good)] {
        if !edits.is_empty() {
            let _ =
                write!(shown, "# {what}\n{}", example(edits).replace("\n  ", "\n").trim_start());
        }
    }
    let _ = write!(text, "\n```text\n{shown}```\n");
    text
}

/// A sentence per line, as in all documents here.
fn lines(text: &str) -> String {
    text.replace(". ", ".\n")
}

const OPENING: &str = "# Rules of `pauseless lint`
Each rule is one file of `crates/pauseless-lint/src/rules/`, and this page is made from them: `cargo test -p pauseless-lint --test catalogue` says if it is not current, and `UPDATE_EXPECT=1` writes it.
Examples are changes of the example fabric in `examples/lint/`: a test holds that a rule fires on the one and is silent on the other.
Severity: an *error* loses or stalls as configured, a *warning* will under load or after a fault, a *note* is worth knowing and leaves the exit status 0.
Sources: BI, SW, UT, MG, SO are issues and pull requests of sonic-net's sonic-buildimage, sonic-swss, sonic-utilities, sonic-mgmt and SONiC; src is their source; G16 is Guo et al., SIGCOMM 2016; Z15 DCQCN, SIGCOMM 2015.
\"On released templates\" counts what a prototype of these rules found in 414 renderings of the 229 SKUs of sonic-buildimage that have both templates, of which 279 were silent.

";
