//! One page with everything, that needs no network.
//!
//! Its figures are drawn here, inline. The script of `pauseless-page` takes their place; in a
//! browser without scripts the page says the same with still figures.

use std::fmt::{Display, Write};

use pauseless_page::BUNDLE;

use super::figure::{Panel, panels};
use super::text::mood_of_run;
use super::verdict::{self, Finding};
use super::{diagram, provenance, scene, summary};
use pauseless_figures as draw;
use pauseless_figures::colour::{ALARM, ALARM_GROUND, GRID, OUTLINE};
pub use pauseless_figures::svg::escape;
use pauseless_run::Run;
use pauseless_text::quantity;
use pauseless_text::terminal::Mood;

/// What stands above the runs of a page.
#[derive(Clone, Debug)]
pub struct Heading {
    /// The title of the page.
    pub title: String,
    /// A sentence that says what the reader is looking at.
    pub lead: String,
}

/// The page of `runs`, side by side and on the same axes.
pub fn page(heading: &Heading, runs: &[Run]) -> String {
    page_with(heading, "", runs)
}

/// The same with `intro` above the table of runs. It is markup, and stands there as it is.
pub fn page_with(heading: &Heading, intro: &str, runs: &[Run]) -> String {
    let panelled: Vec<(&Run, Vec<Panel>)> = runs.iter().zip(panels(runs)).collect();
    let mut text = intro.to_string();
    if !runs.is_empty() {
        text.push_str(&summary(runs));
    }
    text.push_str("<main>\n");
    for (number, (run, panels)) in panelled.iter().enumerate() {
        text.push_str(&card(run, panels, number));
    }
    text.push_str("</main>\n");
    text.push_str(&footer());
    if !runs.is_empty() {
        let _ = write!(
            text,
            "<details>\n<summary>licences of the libraries in this page</summary>\n\
             <pre>{}</pre>\n</details>\n<style>\n{}</style>\n\
             <script type=\"application/json\" id=\"scene\">{}</script>\n<script>\n{}</script>\n",
            escape(BUNDLE.licences),
            BUNDLE.style,
            scene::document(&panelled),
            BUNDLE.script,
        );
    }
    frame(heading, &text)
}

/// A page with this between its heading and its end.
pub fn frame(heading: &Heading, body: &str) -> String {
    let title = escape(&heading.title);
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <title>{title}</title>\n<style>\n{}</style>\n</head>\n<body>\n\
         <header>\n<h1>{title}</h1>\n<p>{}</p>\n</header>\n{body}</body>\n</html>\n",
        style(),
        escape(&heading.lead),
    )
}

fn summary(runs: &[Run]) -> String {
    let heads = [
        "run",
        "verdict",
        "goodput, late",
        "largest queue",
        "lost packets",
        "feedback",
        "after the sources stop",
    ];
    let rows = runs.iter().map(|run| {
        [
            escape(&run.scenario.name),
            badge(run),
            escape(&goodputs(run)),
            quantity::bytes(run.queue_max()),
            quantity::count(run.outcome.lost_packets),
            escape(&quantity::percent(run.outcome.feedback_share_max)),
            escape(&verdict::aftermath(run).unwrap_or_else(|| "-".to_string())),
        ]
    });
    table("", &heads, rows)
}

/// A table that can be scrolled, with attributes and of heads and cells that are markup.
pub fn table<R: AsRef<[String]>>(
    attributes: &str,
    heads: &[impl Display],
    rows: impl IntoIterator<Item = R>,
) -> String {
    let mut text = format!("<div class=\"scroll\"><table{attributes}>\n<tr>");
    for head in heads {
        let _ = write!(text, "<th>{head}</th>");
    }
    text.push_str("</tr>\n");
    for row in rows {
        text.push_str("<tr>");
        for cell in row.as_ref() {
            let _ = write!(text, "<td>{cell}</td>");
        }
        text.push_str("</tr>\n");
    }
    text.push_str("</table></div>\n");
    text
}

/// The late goodput of each flow, or of the slowest and the fastest of many.
pub fn goodputs(run: &Run) -> String {
    let rates: Vec<f64> = run.outcome.flows.iter().map(|flow| flow.goodput_late_bps).collect();
    if rates.len() <= FLOWS_MAX {
        return Vec::from_iter(rates.iter().map(|rate| quantity::rate(*rate))).join(" / ");
    }
    let least = rates.iter().copied().fold(f64::INFINITY, f64::min);
    let greatest = rates.iter().copied().fold(0.0, f64::max);
    let (least, greatest) = (quantity::rate(least), quantity::rate(greatest));
    if least == greatest {
        format!("{least} ({} flows)", rates.len())
    } else {
        format!("{least} to {greatest} ({} flows)", rates.len())
    }
}

/// The verdict in a few words, as markup in its colour.
pub fn badge(run: &Run) -> String {
    let class = match mood_of_run(run) {
        Mood::Bad => "bad",
        Mood::Poor => "poor",
        _ => "good",
    };
    let text = escape(&verdict::brief(run));
    format!("<span class=\"badge {class}\">{text}</span>")
}

fn card(run: &Run, panels: &[Panel], number: usize) -> String {
    let mut text = card_head(run, "");
    text.push_str(&network(run, number));
    if run.outcome.series.times.is_empty() {
        text.push_str("<p class=\"note\">No curves over time: the scenario has no [probe].</p>\n");
    }
    for (place, panel) in panels.iter().enumerate() {
        text.push_str(&figure(panel, number, place));
    }
    let findings = Finding::ALL.iter().map(|finding| finding.sentence(run));
    let more = [verdict::events(run), verdict::wire_loss(run), verdict::unfinished(run)];
    let lines = verdict::ended(run).into_iter().chain(findings);
    text.push_str(&list(lines.chain(more.into_iter().flatten())));
    for section in summary::sections(run) {
        text.push_str(&metrics(&section));
    }
    text + &provenance::nested(run) + &card_foot(run)
}

/// The beginning of the card of a run: its name, its verdict and its settings, with `more` of them.
pub fn card_head(run: &Run, more: &str) -> String {
    let scenario = &run.scenario;
    format!(
        "<section>\n<h2>{} {}</h2>\n<p>{}</p>\n<p class=\"note\">{}, {}, seed {}{}</p>\n",
        escape(&scenario.name),
        badge(run),
        escape(&scenario.title),
        escape(&run.schemes()),
        scenario.config.discipline.name(),
        scenario.config.seed,
        escape(more),
    )
}

/// The end of the card of a run: its parameters.
pub fn card_foot(run: &Run) -> String {
    format!(
        "<details>\n<summary>parameters</summary>\n<pre>{}</pre>\n</details>\n</section>\n",
        escape(&shortened(&run.scenario.resolved())),
    )
}

/// A list of lines of text.
pub fn list(lines: impl Iterator<Item = String>) -> String {
    let lines = lines.map(|line| format!("<li>{}</li>\n", escape(&line)));
    format!("<ul>\n{}</ul>\n", String::from_iter(lines))
}

/// The network, with the cycle of its deadlock; what a script replays.
fn network(run: &Run, number: usize) -> String {
    let diagram = diagram::svg(run);
    let is_replayed = run.outcome.replay.is_some();
    let links = run.topology().links().len();
    let note = if links > scene::LINKS_MAX {
        format!(
            "<p class=\"note\">No replay: the network has {} links, and up to {} are drawn.</p>\n",
            quantity::count(links as u64),
            quantity::count(scene::LINKS_MAX as u64),
        )
    } else {
        String::new()
    };
    if diagram.is_none() && !is_replayed {
        return note;
    }
    // Without a drawing there is nothing to see until the script runs.
    let hidden = if diagram.is_none() { " hidden" } else { "" };
    // Drawn is the first one.
    let caption = match run.outcome.episodes.first().map(|first| first.broken) {
        Some(None) => "the cycle: each queue waits for the next, for ever".to_string(),
        Some(Some(broken)) => format!(
            "the cycle: each queue waited for the next, until it was broken at {}",
            quantity::time(broken)
        ),
        None => "the network".to_string(),
    };
    let diagram = diagram.unwrap_or_default();
    format!(
        "<figure data-replay=\"{number}\"{hidden}>\n<figcaption>{caption}</figcaption>\n\
         {diagram}</figure>\n{note}"
    )
}

fn metrics(section: &summary::Section) -> String {
    let mut text = format!("<p class=\"note\">{}</p>\n", escape(section.title));
    if !section.table.is_empty() {
        let escaped = |cells: &[String]| Vec::from_iter(cells.iter().map(|cell| escape(cell)));
        let rows = section.table.rows().iter().map(|row| escaped(row));
        text.push_str(&table("", &escaped(section.table.heads()), rows));
    }
    for note in &section.notes {
        let _ = writeln!(text, "<p class=\"note\">{}</p>", escape(note));
    }
    text
}

/// A file as long as anybody reads it, and how much longer it is.
fn shortened(file: &str) -> String {
    let count = file.lines().count();
    if count <= LINES_MAX {
        return file.to_string();
    }
    let shown = Vec::from_iter(file.lines().take(LINES_MAX)).join("\n");
    let more = quantity::count((count - LINES_MAX) as u64);
    format!("{shown}\n.. and {more} more lines; --out writes all of them to resolved.toml\n")
}

/// The figure at `place` among those of a run, by which the script of the page knows it.
fn figure(panel: &Panel, run: usize, place: usize) -> String {
    let more = match panel.left_out {
        0 => String::new(),
        more => format!(" <span class=\"key\">and {more} more</span>"),
    };
    format!(
        "<figure data-panel=\"{run}.{place}\">\n<figcaption>{}{more}</figcaption>\n{}</figure>\n",
        escape(&panel.caption),
        draw::inline(&panel.figure),
    )
}

fn footer() -> String {
    format!(
        "<footer>pauseless {}. A deadlock is decided exactly, never by a timeout. \
         Late goodput is the mean over the last quarter of a flow&#39;s life; \
         feedback is the largest share of a link that control frames took.</footer>\n",
        env!("CARGO_PKG_VERSION"),
    )
}

/// The style sheet. Colours of the figures that must follow the page's are named by value.
fn style() -> String {
    let colours = [
        ("{outline}", OUTLINE),
        ("{grid}", GRID),
        ("{alarm}", ALARM),
        ("{alarm-ground}", ALARM_GROUND),
    ];
    colours.iter().fold(STYLE.to_string(), |style, (name, value)| style.replace(name, value))
}

/// A page asks nobody for anything.
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:";

/// The most flows whose goodputs are listed one by one.
const FLOWS_MAX: usize = 4;

/// The most lines of a file that a page shows.
const LINES_MAX: usize = 2_000;

const STYLE: &str = include_str!("page.css");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_style_sheet_knows_the_colours_of_the_figures() {
        let style = style();
        assert!(style.contains(ALARM) && style.contains(OUTLINE));
        assert!(!style.contains("=\"{"), "every colour has its value");
        assert!(!style.contains("url(") && !style.contains("@import"), "no network");
    }

    #[test]
    fn long_files_say_what_is_left_out() {
        let file = "size = 1\n".repeat(LINES_MAX);
        assert_eq!(shortened(&file), file);
        let text = shortened(&"size = 1\n".repeat(LINES_MAX + 1_234));
        assert_eq!(text.lines().count(), LINES_MAX + 1);
        assert!(text.contains("and 1,234 more lines"), "{text}");
    }

    #[test]
    fn a_page_without_runs_is_still_a_page() {
        let heading = Heading { title: "<none>".to_string(), lead: String::new() };
        let page = page(&heading, &[]);
        assert!(page.starts_with("<!doctype html>") && page.ends_with("</html>\n"));
        assert!(page.contains("<title>&lt;none&gt;</title>"));
        assert!(!page.contains("<script"));
    }
}
