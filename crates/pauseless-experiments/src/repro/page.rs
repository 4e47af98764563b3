//! The page of all results, `papers/README.md`: Markdown that the same results give byte by byte.

use std::fmt::Write;

use super::claim::{Finding, Judged, Verdict};
use super::judge::Tried;
use super::reading::Origin;
use super::{Reproduced, Scale, text};
use pauseless_core::switch::Discipline;
use pauseless_figures as draw;

/// The page; its figures lie where [`figures`] says.
pub fn page(all: &[Reproduced]) -> String {
    let is_full = all.iter().all(|done| done.scale == Scale::Full);
    let mut page = String::from(if is_full { HEAD_FULL } else { HEAD });
    overview(&mut page, all);
    before_and_after(&mut page, all);
    by_switch(&mut page, all);
    let mut paper = "";
    for done in all {
        if done.entry.paper != paper {
            paper = &done.entry.paper;
            let _ = writeln!(page, "\n## {}", title(paper));
        }
        experiment(&mut page, done);
    }
    page
}

/// The figures of the page: where they lie, seen from it, and what they are.
pub fn figures(all: &[Reproduced]) -> Vec<(String, String)> {
    let of = |done: &Reproduced| -> Vec<(String, String)> {
        let figures = done.measured.figures.iter();
        figures.map(|it| (figure_path(done, &it.name), draw::svg(it))).collect()
    };
    all.iter().flat_map(of).collect()
}

fn figure_path(done: &Reproduced, figure: &str) -> String {
    let (paper, stem) = (&done.entry.paper, &done.entry.stem);
    format!("{paper}/figures/{stem}-{figure}.svg")
}

fn overview(page: &mut String, all: &[Reproduced]) {
    let mut total = Tally::default();
    all.iter().for_each(|done| total.add(done));
    let sources = total.sources.0.iter().filter(|(_, count)| *count > 0);
    let sources = sources.map(|(source, count)| format!("{count} {}", source.name()));
    let sources = match Vec::from_iter(sources).join(", ") {
        none if none.is_empty() => none,
        some => format!(" ({some})"),
    };
    let _ = writeln!(
        page,
        "\n{} experiments. Of the papers' claims {} are met as written, {} in some queueing \
         disciplines only; {} are met under a sourced reading and {} under one in some \
         disciplines{sources}, {} only if fitted; {} are contradicted by the paper's own equations; \
         {} are not met. Each is counted once. Of {} claims of our own, which the papers do not \
         make, {} are met.",
        all.len(),
        total.met,
        total.partly,
        total.sourced,
        total.sourced_partly,
        total.fitted,
        total.contradicted,
        total.not_met,
        total.ours,
        total.ours_met,
    );
    page.push_str(
        "\n| experiment | in the paper | shows | met as written | in some disciplines | \
         under a sourced reading | the same, in some disciplines | only if fitted | contradicted | \
         not met | ours, met | scale | CPU |\n\
         |---|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---|---:|\n",
    );
    for done in all {
        let it = &done.experiment;
        let name = done.entry.name();
        let seconds = match done.scale {
            Scale::Quick => it.seconds.quick.value,
            Scale::Full => it.seconds.full.value,
        };
        let mut tally = Tally::default();
        tally.add(done);
        let ours = match tally.ours {
            0 => String::new(),
            ours => format!("{} of {ours}", tally.ours_met),
        };
        let counts = [
            tally.met,
            tally.partly,
            tally.sourced,
            tally.sourced_partly,
            tally.fitted,
            tally.contradicted,
            tally.not_met,
        ];
        let counts = counts.map(|count| count.to_string()).join(" | ");
        let _ = writeln!(
            page,
            "| [{name}](#{}) | {} | {} | {counts} | {ours} | {} | {} |",
            anchor(&name),
            cell(&it.cites),
            cell(&it.title),
            done.scale.name(),
            text::duration(seconds),
        );
    }
}

/// What each paper's claims are without their readings, and what becomes of those that are not met.
fn before_and_after(page: &mut String, all: &[Reproduced]) {
    page.push_str(
        "\n### Before and after\nThe papers' claims by what comes out of the experiments as they \
         are written, and what becomes of those that are not met: each stands in one column.\n\n\
         | paper | claims | met | in some disciplines | not met | of these, under a sourced reading | \
         the same, in some disciplines | only if fitted | contradicted | still not met |\n\
         |---|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n",
    );
    let papers = all.chunk_by(|a, b| a.entry.paper == b.entry.paper);
    let papers = papers.map(|papers| (title(&papers[0].entry.paper), papers));
    for (label, papers) in papers.chain([("**together**".to_string(), all)]) {
        let mut it = Tally::default();
        papers.iter().for_each(|done| it.add(done));
        let moved = [it.sourced, it.sourced_partly, it.fitted, it.contradicted];
        let before = it.not_met + moved.iter().sum::<usize>();
        let moved = moved.map(|count| count.to_string()).join(" | ");
        let _ = writeln!(
            page,
            "| {label} | {} | {} | {} | {before} | {moved} | {} |",
            it.met + it.partly + before,
            it.met,
            it.partly,
            it.not_met
        );
    }
}

/// The papers' claims that were tried in the most disciplines: how many hold in each, so that one sees
/// which switch gives most of a paper, and how many hold in any.
fn by_switch(page: &mut String, all: &[Reproduced]) {
    let lists = all.iter().map(|done| &done.experiment.disciplines.value);
    let Some(places) = lists.max_by_key(|places| places.len()).filter(|it| it.len() > 3) else {
        return;
    };
    let tried = all.iter().filter(|done| done.experiment.disciplines.value == *places);
    let names = Vec::from_iter(places.iter().map(|it| it.name())).join(" | ");
    let rules = "---:|".repeat(places.len());
    let _ = writeln!(
        page,
        "\n### Switch by switch\nThe papers' claims that were tried in all of these switches, and how \
         many hold in each.\n\n\
         | experiment | claims | {names} | in at least one |\n|---|---:|{rules}---:|"
    );
    for papers in Vec::from_iter(tried).chunk_by(|a, b| a.entry.paper == b.entry.paper) {
        for done in papers {
            let name = done.entry.name();
            let label = format!("[{name}](#{})", anchor(&name));
            switch_line(page, &label, std::slice::from_ref(done));
        }
        if papers.len() > 1 {
            let label = format!("**{}**, together", title(&papers[0].entry.paper));
            switch_line(page, &label, papers);
        }
    }
}

/// How many of the claims of these experiments, which have the same disciplines, hold in each of them
/// and in any.
fn switch_line(page: &mut String, label: &str, experiments: &[&Reproduced]) {
    let claims = experiments.iter().flat_map(|done| &done.claims);
    let is_tried = |it: &&Judged| {
        !it.claim.is_ours() && it.findings.iter().any(|finding| finding.discipline.is_some())
    };
    let claims = Vec::from_iter(claims.filter(is_tried));
    let count = |holds: &dyn Fn(&Judged) -> bool| claims.iter().filter(|it| holds(it)).count();
    let _ = write!(page, "| {label} | {} |", claims.len());
    for place in experiments[0].experiment.disciplines.iter() {
        let here = |it: &Judged| {
            it.findings.iter().any(|finding| finding.discipline == Some(*place) && finding.holds)
        };
        let _ = write!(page, " {} |", count(&here));
    }
    let any = count(&|it| it.findings.iter().any(|finding| finding.holds));
    let _ = writeln!(page, " {any} |");
}

/// How many claims hold, whatever they are marked as; each is counted once.
#[derive(Default)]
struct Tally {
    met: usize,
    partly: usize,
    sourced: usize,
    sourced_partly: usize,
    fitted: usize,
    contradicted: usize,
    not_met: usize,
    ours: usize,
    ours_met: usize,
    /// Where the readings come from under which claims are met, from the strongest.
    sources: Sources,
}

/// How many claims are met by readings of each source.
struct Sources([(Origin, usize); 3]);

impl Default for Sources {
    fn default() -> Sources {
        Sources([Origin::Paper, Origin::CitedCode, Origin::Inferred].map(|source| (source, 0)))
    }
}

impl Tally {
    fn add(&mut self, done: &Reproduced) {
        for judged in &done.claims {
            let holding = judged.findings.iter().filter(|it| it.holds).count();
            let is_met = holding == judged.findings.len();
            if judged.verdict == Verdict::OtherScale {
                continue;
            }
            if judged.claim.is_ours() {
                self.ours += 1;
                self.ours_met += usize::from(is_met);
                continue;
            }
            let count = match judged.verdict {
                _ if is_met => &mut self.met,
                _ if holding > 0 => &mut self.partly,
                Verdict::Sourced => &mut self.sourced,
                Verdict::SourcedPartly => &mut self.sourced_partly,
                Verdict::Fitted => &mut self.fitted,
                Verdict::Contradicted => &mut self.contradicted,
                _ => &mut self.not_met,
            };
            *count += 1;
            let source = judged.source();
            self.sources
                .0
                .iter_mut()
                .filter(|(of, _)| Some(*of) == source)
                .for_each(|it| it.1 += 1);
        }
    }
}

/// The place of an experiment on the page, as Markdown makes it from its heading.
fn anchor(name: &str) -> String {
    name.replace('.', "")
}

fn experiment(page: &mut String, done: &Reproduced) {
    let it = &done.experiment;
    let name = done.entry.name();
    let _ = writeln!(page, "\n### {name}\n{}: {}.", it.cites, it.title);
    let note = &it.resize(done.scale).note;
    if !note.is_empty() {
        let _ = writeln!(page, "At scale {}: {note}.", done.scale.name());
    }
    let flag = match done.scale {
        Scale::Quick => "",
        Scale::Full => " --full",
    };
    let _ = writeln!(page, "\n```sh\npauseless repro {name}{flag}\n```");
    for figure in &done.measured.figures {
        let path = figure_path(done, &figure.name);
        let caption = cell(&figure.caption).replace(['[', ']'], "");
        let _ = writeln!(page, "\n![{caption}]({path})\n\n*{caption}*");
    }
    plain_claims(page, done);
    claims_by_discipline(page, done);
    reasons(page, done);
    readings(page, done);
    choices(page, done);
}

/// The claims that were judged once.
fn plain_claims(page: &mut String, done: &Reproduced) {
    let is_plain = |judged: &&Judged| !judged.findings.iter().any(|it| it.discipline.is_some());
    let claims: Vec<&Judged> = done.claims.iter().filter(is_plain).collect();
    if claims.is_empty() {
        return;
    }
    page.push_str("\n| claim | paper | asked for | ours | verdict |\n|---|---|---|---|---|\n");
    for judged in claims {
        let ours = match judged.findings.first() {
            Some(finding) => measured(judged, finding),
            None => String::new(),
        };
        let _ = writeln!(page, "| {} | {ours} | {} |", said(judged), word(judged));
        for tried in &judged.readings {
            let findings = tried.judged.findings.iter();
            let ours = findings.map(|finding| match finding.discipline {
                Some(place) => format!("{}: {}", place.name(), measured(&tried.judged, finding)),
                None => measured(&tried.judged, finding),
            });
            let ours = Vec::from_iter(ours).join("; ");
            let (said, word) = (read(judged, tried), word(&tried.judged));
            let _ = writeln!(page, "| {said} | {ours} | {word} |");
        }
    }
}

/// The claims that hang on the queueing discipline: what was measured in each.
fn claims_by_discipline(page: &mut String, done: &Reproduced) {
    let places = &done.experiment.disciplines.0;
    let hangs = |judged: &&Judged| judged.findings.iter().any(|it| it.discipline.is_some());
    let claims: Vec<&Judged> = done.claims.iter().filter(hangs).collect();
    if claims.is_empty() {
        return;
    }
    page.push_str("\n| claim | paper | asked for |");
    for place in places {
        let _ = write!(page, " {} |", place.name());
    }
    let rules = "---|".repeat(places.len());
    let _ = writeln!(page, " verdict |\n|---|---|---|{rules}---|");
    for judged in claims {
        discipline_row(page, &said(judged), judged, places);
        for tried in &judged.readings {
            discipline_row(page, &read(judged, tried), &tried.judged, places);
        }
    }
}

/// A row with what was measured in each discipline; what hangs on none stands in the first cell.
fn discipline_row(page: &mut String, said: &str, judged: &Judged, places: &[Discipline]) {
    let _ = write!(page, "| {said} |");
    for place in places {
        let is_here = |it: &&Finding| it.discipline.or(places.first().copied()) == Some(*place);
        let here = judged.findings.iter().find(is_here).map(|finding| {
            let ours = measured(judged, finding);
            let answer = if finding.holds { "yes" } else { "**no**" };
            format!("{ours}: {answer}")
        });
        let _ = write!(page, " {} |", here.unwrap_or_default());
    }
    let _ = writeln!(page, " {} |", word(judged));
}

/// The reading, and what is asked under it if that is something else, as cells.
fn read(judged: &Judged, tried: &Tried) -> String {
    let asked = text::asked_otherwise(judged, tried).unwrap_or_default();
    format!("*read as* {} | | {}", cell(&tried.name()), cell(&asked))
}

/// The claim, what the paper gives and what was asked for, as cells.
fn said(judged: &Judged) -> String {
    let claim = &judged.claim;
    let cites = claim.cites.get();
    let cites = cites.map_or(String::new(), |cites| format!(" ({})", cell(cites)));
    let (text, paper) = (cell(&claim.text), cell(&text::paper(claim)));
    format!("{text}{cites} | {paper} | {}", cell(&claim.asked()))
}

/// What was measured, with what is to be said of flows that did not finish.
fn measured(judged: &Judged, finding: &Finding) -> String {
    let measured = text::measured(judged, finding);
    cell(&match &finding.doubt {
        Some(doubt) => format!("{measured} ({})", doubt.brief()),
        None => measured,
    })
}

/// The verdict, loud where it is bad.
fn word(judged: &Judged) -> String {
    match judged.verdict {
        Verdict::NotMet | Verdict::Broken => format!("**{}**", judged.verdict.name()),
        Verdict::OtherScale => {
            let scale = judged.claim.scale.or(Scale::Full).name();
            format!("only with `--{scale}`")
        }
        other => other.name().to_string(),
    }
}

/// Why claims are not met, or not everywhere.
fn reasons(page: &mut String, done: &Reproduced) {
    let mut lines = String::new();
    let mut against = String::new();
    for judged in &done.claims {
        let (claim, text) = (&judged.claim, cell(&judged.claim.text));
        if !claim.reason.is_empty() {
            let _ = writeln!(lines, "- {text}: {}", cell(&claim.reason));
        }
        let readings = judged.readings.iter().filter(|it| !it.judged.claim.reason.is_empty());
        for tried in readings {
            let (name, reason) = (&tried.reading.name, cell(&tried.judged.claim.reason));
            let _ = writeln!(lines, "- {text}, read as {name}: {reason}");
        }
        if let Some(contradiction) = claim.contradicted.get() {
            let computed = text::computed(judged).map(|it| format!(" Computed: {it}."));
            let by = cell(&contradiction.by);
            let _ = writeln!(against, "- {text}: {by}{}", computed.unwrap_or_default());
        }
    }
    if !lines.is_empty() {
        let _ = write!(page, "\nWhy not, or not everywhere:\n{lines}");
    }
    if !against.is_empty() {
        let _ = write!(page, "\nWhat the paper says against its own claims:\n{against}");
    }
}

/// The readings with their sources and the commands that try them.
fn readings(page: &mut String, done: &Reproduced) {
    if done.experiment.readings.is_empty() {
        return;
    }
    page.push_str("\n| reading | takes it that | source | evidence |\n|---|---|---|---|\n");
    for reading in done.experiment.readings.iter() {
        let [name, what, evidence] =
            [&reading.name, &reading.what, &reading.evidence].map(|it| cell(it));
        let source = reading.source.name();
        let _ = writeln!(page, "| `{name}` | {what} | {source} | {evidence} |");
    }
    let (name, first) = (done.entry.name(), &done.experiment.readings[0].name);
    let _ = writeln!(page, "\n```sh\npauseless repro {name} --reading {first}\n```");
}

fn choices(page: &mut String, done: &Reproduced) {
    if done.experiment.choices.is_empty() {
        return;
    }
    page.push_str("\n| what the paper leaves open | our choice | why |\n|---|---|---|\n");
    for choice in done.experiment.choices.iter() {
        let [what, ours, why] = [&choice.what, &choice.ours, &choice.why].map(|it| cell(it));
        let _ = writeln!(page, "| {what} | {ours} | {why} |");
    }
}

/// Words that end no cell, begin no element and break no line.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('<', "&lt;").split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What a paper is called.
fn title(paper: &str) -> String {
    PAPERS.iter().find(|(folder, _)| *folder == paper).map_or(paper, |(_, title)| title).to_string()
}

const PAPERS: [(&str, &str); 4] = [
    ("gfc", "Gentle Flow Control (SIGCOMM'19)"),
    ("pcn", "Photonic Congestion Notification (NSDI'20)"),
    ("hotnets", "Deadlocks in datacenter networks (HotNets'16)"),
    ("ttl", "TTL-based buffer management"),
];

const HEAD: &str = include_str!("page.md.txt");
const HEAD_FULL: &str = include_str!("page-full.md.txt");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_lead_where_markdown_puts_headings() {
        assert_eq!(anchor("gfc-sec5.4"), "gfc-sec54");
    }

    #[test]
    fn cells_neither_end_early_nor_begin_elements() {
        assert_eq!(cell("a | b\n<script> c"), "a \\| b &lt;script> c");
    }
}
