//! The report as one page that needs no network and no script.

use std::fmt::Write;

use super::claim::Judged;
use super::{Cell, Part, Report, Share, Shown, text};
use crate::repro::claim::Verdict;
use pauseless_figures as draw;
use pauseless_report::html::{self, Heading, escape};
use pauseless_run::metrics::bias::Mark;
use pauseless_text::quantity::{count, percents};

/// The page as HTML.
pub fn page(report: &Report) -> String {
    let title = match report.title.as_str() {
        "" => report.name.clone(),
        title => format!("{}: {title}", report.name),
    };
    let lines = text::lines(report);
    let heading = Heading { title, lead: lines[0].clone() + "." };
    let mut body = String::new();
    if lines.len() > 1 {
        let lines: Vec<String> = lines[1..].iter().map(|line| escape(line)).collect();
        let _ = writeln!(body, "<p class=\"lines\">{}</p>", lines.join("\n"));
    }
    if !report.claims.is_empty() {
        body.push_str(&claims(&report.claims));
    }
    for part in &report.parts {
        body.push_str(&one(part));
    }
    let has_shares = report.parts.iter().any(|part| part.kind == "proportion");
    let intervals = if has_shares || !report.claims.is_empty() {
        " Intervals are those of Wilson, 95 %."
    } else {
        ""
    };
    let _ = write!(
        body,
        "<style>\n{STYLE}</style>\n<footer>pauseless {}.{intervals} A deadlock is decided exactly, \
         never by a timeout.</footer>\n",
        escape(&report.version)
    );
    html::frame(&heading, &body)
}

fn claims(claims: &[Judged]) -> String {
    let rows = claims.iter().map(|judged| {
        let class = match judged.verdict {
            Verdict::Met if judged.is_whole() => "good",
            Verdict::Broken => "bad",
            _ => "poor",
        };
        let reason = std::iter::once(&judged.claim.reason).filter(|it| !it.is_empty());
        let mut said = escape(&judged.claim.text);
        for note in judged.notes.iter().chain(reason) {
            let _ = write!(said, "<br><small>{}</small>", escape(note));
        }
        let measured = match judged.verdict {
            Verdict::OtherScale => format!("with --size {}", judged.claim.sizes.join(", ")),
            _ => match judged.against() {
                None => judged.measured(),
                Some(other) => format!("{}\nagainst {other}", judged.measured()),
            },
        };
        [
            format!("<span class=\"badge {class}\">{}</span>", judged.word()),
            said,
            escape(&judged.asked()),
            escape(&measured).replace('\n', "<br>"),
        ]
    });
    let heads = ["verdict", "claim", "asked for", "measured"];
    html::table(" class=\"claims judged\"", &heads, rows)
}

fn one(part: &Part) -> String {
    let title = escape(&part.title);
    let mut text = format!("<section class=\"part\">\n<h2>{title}</h2>\n<div class=\"figures\">\n");
    for figure in &part.figures {
        let wide = if figure.panels.len() > 1 { " wide" } else { "" };
        // The title stands above already.
        let caption = if figure.caption == part.title {
            String::new()
        } else {
            escape(&figure.caption) + " "
        };
        let _ = write!(
            text,
            "<figure class=\"paper{wide}\">\n{}\n<figcaption>{caption}\
             <a href=\"{name}.svg\">SVG</a> <a href=\"{name}.png\">PNG</a></figcaption>\n</figure>\n",
            draw::svg(figure),
            name = figure.name,
        );
    }
    text.push_str("</div>\n");
    if let Some(doubt) = &part.doubt {
        let badge = |mark: Mark| format!("<span class=\"badge poor\">{}</span> ", mark.name());
        let badge = doubt.mark.map_or(String::new(), badge);
        let _ = writeln!(text, "<p class=\"note\">{badge}{}</p>", escape(&doubt.says()));
    }
    for note in &part.notes {
        let _ = writeln!(text, "<p class=\"note\">{}</p>", escape(note));
    }
    match part.shown.rows.len() {
        0 => {}
        rows if rows > ROWS_OPEN => {
            let rows = count(rows as u64);
            let _ = writeln!(text, "<details>\n<summary>table of {rows} rows</summary>");
            text.push_str(&table(&part.shown));
            text.push_str("</details>\n");
        }
        _ => text.push_str(&table(&part.shown)),
    }
    let more = part.shown.rows.len().saturating_sub(ROWS_MAX);
    if more > 0 {
        let more = count(more as u64);
        let _ = writeln!(text, "<p class=\"note\">.. and {more} more rows.</p>");
    }
    let name = &part.name;
    let _ = write!(
        text,
        "<p class=\"note\">Data: <a href=\"{name}.csv\">{name}.csv</a>, \
         <a href=\"{name}.parquet\">{name}.parquet</a></p>\n</section>\n"
    );
    text
}

fn table(shown: &Shown) -> String {
    let mut text = "<div class=\"scroll\"><table class=\"shares\">\n<tr>".to_string();
    let class = |is_number: bool| if is_number { " class=\"number\"" } else { "" };
    for head in &shown.heads {
        let class = class(head.is_number);
        let _ = write!(text, "<th{class}>{}</th>", escape(&head.text));
    }
    text.push_str("</tr>\n");
    for row in shown.rows.iter().take(ROWS_MAX) {
        text.push_str("<tr>");
        for (cell, head) in row.iter().zip(&shown.heads) {
            let _ = match cell {
                Cell::Text(cell) => {
                    let class = class(head.is_number);
                    write!(text, "<td{class}>{}</td>", escape(cell))
                }
                Cell::Share(cell) => write!(text, "<td class=\"number\">{}</td>", share(*cell)),
            };
        }
        text.push_str("</tr>\n");
    }
    text.push_str("</table></div>\n");
    text
}

fn share(share: Share) -> String {
    let Some(value) = share.value() else {
        return "-".to_string();
    };
    let [low, high] = share.interval().map(percents);
    format!(
        "<b>{} %</b> <small>{} of {}; {low} to {high} %</small>",
        percents(value),
        count(share.count as u64),
        count(share.total as u64),
    )
}

/// A longer table is shown when asked for.
const ROWS_OPEN: usize = 80;
/// A longer table is not for a page.
const ROWS_MAX: usize = 1_000;

const STYLE: &str = include_str!("page.css");
