//! Files for the linter: any text, or several of them with a line of dashes between, is linted or
//! refused, repaired, and shown in every form.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pauseless_lint::json_report::LintDocument;
use pauseless_lint::{junit, lint, prove, sarif, text};
use pauseless_text::source::Source;
use pauseless_text::terminal::Paint;

fuzz_target!(|text: &str| {
    let names = ["tor0", "leaf0", "srv0"];
    let parts = text.split("\n---\n").enumerate();
    let sources = Vec::from_iter(parts.map(|(at, text)| Source {
        file: format!("{}.{at}.json", names[at % names.len()]),
        text: text.to_string(),
    }));
    let Ok(report) = lint(&sources) else {
        return;
    };
    let _ = text::render(&report, &sources, Paint::Plain);
    let _ = LintDocument::new(&report, &sources);
    let _ = sarif::document(&report, &sources);
    let _ = junit::document(&report, &sources);
    let fixed = prove::fix(&sources, |_| true).expect("what was linted can be repaired");
    assert!(fixed.left.findings.len() <= report.findings.len() || fixed.repaired > 0);
});
