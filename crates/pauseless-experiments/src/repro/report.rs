//! The page of one experiment: claims, figures, and the runs to look into.

use std::fmt::Write;

use super::claim::{Judged, Verdict};
use super::{Reproduced, text};
use pauseless_figures as draw;
use pauseless_report::html::{self, Heading, escape};

/// The page as HTML.
pub fn page(done: &Reproduced) -> String {
    let it = &done.experiment;
    let note = done.note();
    let mut lead = format!("{}. Reproduced {}", it.cites, done.scale.name());
    if !note.is_empty() {
        let _ = write!(lead, ": {note}");
    }
    let heading =
        Heading { title: format!("{}: {}", done.entry.name(), it.title), lead: lead + "." };
    let mut intro = claims(done);
    for figure in &done.measured.figures {
        let _ = write!(
            intro,
            "<section>\n<figure class=\"paper\">\n{}\n<figcaption>{}</figcaption>\n</figure>\n</section>\n",
            draw::svg(figure),
            escape(&figure.caption)
        );
    }
    html::page_with(&heading, &intro, &done.runs)
}

fn claims(done: &Reproduced) -> String {
    let heads = ["verdict", "claim", "paper", "asked for", "measured"];
    let rows = done.claims.iter().map(claim);
    html::table(" class=\"claims\"", &heads, rows) + &choices(done)
}

fn claim(judged: &Judged) -> [String; 5] {
    let claim = &judged.claim;
    let findings = judged.findings.iter().map(|finding| {
        let measured = escape(&text::measured(judged, finding));
        let measured = match &finding.doubt {
            Some(doubt) => format!("{measured} <small>{}</small>", escape(&doubt.brief())),
            None => measured,
        };
        match finding.discipline {
            Some(discipline) => format!("{}: {measured}", discipline.name()),
            None => measured,
        }
    });
    let readings = judged.readings.iter().map(|tried| {
        let holds = tried.judged.verdict.name();
        let findings = tried.judged.findings.iter();
        let measured = findings.map(|finding| escape(&text::measured(&tried.judged, finding)));
        let measured = Vec::from_iter(measured).join("; ");
        format!("<small>read as {}: {holds}: {measured}</small>", escape(&tried.name()))
    });
    let findings = Vec::from_iter(findings.chain(readings));
    let class = match judged.verdict {
        Verdict::Met | Verdict::Sourced => "good",
        Verdict::Broken => "bad",
        _ => "poor",
    };
    let mut said = escape(&claim.text);
    if !claim.reason.is_empty() {
        let _ = write!(said, "<br><small>{}</small>", escape(&claim.reason));
    }
    if let Some(contradiction) = claim.contradicted.get() {
        let by = escape(&contradiction.by);
        let _ = write!(said, "<br><small>contradicted by: {by}</small>");
    }
    [
        format!("<span class=\"badge {class}\">{}</span>", judged.verdict.name()),
        said,
        escape(&text::paper(claim)),
        escape(&claim.asked()),
        findings.join("<br>"),
    ]
}

fn choices(done: &Reproduced) -> String {
    let choices = &done.experiment.choices;
    if choices.is_empty() {
        return String::new();
    }
    let mut text = "<details>\n<summary>what the paper leaves open, and our choice</summary>\n\
                    <ul>\n"
        .to_string();
    for choice in choices.iter() {
        let [what, ours, why] = [&choice.what, &choice.ours, &choice.why].map(|it| escape(it));
        let _ = writeln!(text, "<li>{what}: {ours} ({why})</li>");
    }
    text.push_str("</ul>\n</details>\n");
    text
}
