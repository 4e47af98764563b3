//! Reports for a terminal: the verdict first, then aligned tables.

use pauseless_core::unit::{Bytes, Time};

use super::verdict::{self, Finding};
use super::{Run, quantity, replica, summary};
use crate::metrics::has_started;
use crate::results::{Facts, Of, Scope};

/// Whether escape sequences may be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paint {
    /// Plain text without escape sequences.
    Plain,
    /// Colours for a terminal.
    Ansi,
}

/// What a colour tells the reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mood {
    /// Green: nothing is wrong.
    Good,
    /// Red: a finding, such as a loss or a deadlock.
    Bad,
    /// Yellow: traffic moves, but badly.
    Poor,
    /// Bold: the text is a heading.
    Strong,
}

impl Paint {
    /// `text` in the colour of `mood`.
    pub fn paint(self, mood: Mood, text: &str) -> String {
        let code = match mood {
            Mood::Good => "32",
            Mood::Bad => "1;31",
            Mood::Poor => "33",
            Mood::Strong => "1",
        };
        match self {
            Paint::Plain => text.to_string(),
            Paint::Ansi => format!("\x1b[{code}m{text}\x1b[0m"),
        }
    }
}

impl Mood {
    /// The mood of a finding.
    pub fn of(finding: Finding) -> Mood {
        match finding {
            Finding::Deadlock | Finding::Loss => Mood::Bad,
            Finding::Starvation => Mood::Poor,
        }
    }

    /// The mood of a whole run: that of its worst finding.
    pub fn of_run(run: &Run) -> Mood {
        verdict::findings(&run.outcome).first().copied().map_or(Mood::Good, Mood::of)
    }
}

/// The whole report of one run.
pub fn report(run: &Run, paint: Paint) -> String {
    let mut text = heading(run, paint);
    text.push_str(&verdict(run, paint));
    let tables = [
        ("flows", flows(run)),
        ("ingress queues", queues(run)),
        ("shared memory", memories(run)),
        ("flow-control frames", feedback(run)),
    ];
    for (title, table) in tables {
        if !table.is_empty() {
            text.push_str(&format!("\n{}\n{table}", paint.paint(Mood::Strong, title)));
        }
    }
    for section in summary::sections(run) {
        text.push_str(&format!("\n{}\n", paint.paint(Mood::Strong, section.title)));
        if !section.table.is_empty() {
            text.push_str(&section.table.render(|_, _, cell| cell.to_string()));
        }
        for note in section.notes {
            text.push_str(&format!("  {note}\n"));
        }
    }
    text
}

/// The findings, one line each.
pub fn verdict(run: &Run, paint: Paint) -> String {
    let mut text = String::new();
    if run.interrupted {
        let end = run.instant(run.outcome.end);
        let line = format!("interrupted at {end}: what follows was found until then");
        text.push_str(&paint.paint(Mood::Poor, &line));
        text.push('\n');
    }
    if let Some(ended) = verdict::ended(run) {
        text.push_str(&ended);
        text.push('\n');
    }
    for finding in Finding::ALL {
        let mood = if finding.is_in(&run.outcome) { Mood::of(finding) } else { Mood::Good };
        text.push_str(&paint.paint(mood, &finding.sentence(run)));
        text.push('\n');
    }
    for line in [verdict::wire_loss(run), verdict::unfinished(run)] {
        text.extend(line.map(|line| line + "\n"));
    }
    if run.outcome.expired_packets > 0 {
        text.push_str(&verdict::expired(run));
        text.push('\n');
    }
    if let Some(aftermath) = verdict::aftermath(run) {
        text.push_str(&format!("after the sources stopped: {aftermath}\n"));
    }
    if let Some(replica) = replica::sentence(run) {
        text.push_str(&replica);
        text.push('\n');
    }
    text
}

fn heading(run: &Run, paint: Paint) -> String {
    let config = &run.scenario.config;
    let title = paint.paint(Mood::Strong, &run.scenario.name);
    let title = match run.scenario.title.as_str() {
        "" => title,
        text => format!("{title}: {text}"),
    };
    format!(
        "{title}\n{}, {}, seed {}; {} simulated in {:.2} s ({} packet hops, {} events)\n\n",
        run.schemes(),
        config.discipline.name(),
        config.seed,
        quantity::time(run.outcome.end),
        run.wall_s,
        quantity::count(run.outcome.packet_hops),
        quantity::count(run.outcome.events),
    )
}

fn flows(run: &Run) -> String {
    let numbers = || summary::shown(Scope::Flow);
    let rows = Facts::flows_of(run).map(|facts| {
        let (flow, outcome) = (facts.flow, facts.outcome);
        let finish = match outcome.finish {
            Some(finish) => run.instant(finish),
            None if !has_started(&run.outcome, outcome) => "not started".to_string(),
            None if flow.is_finite() => "unfinished".to_string(),
            None if flow.stop != Time::MAX => format!("stopped {}", run.instant(flow.stop)),
            None => "endless".to_string(),
        };
        let mut row = vec![
            flow.name.clone(),
            run.node_name(flow.source).to_string(),
            run.node_name(flow.target).to_string(),
        ];
        row.extend(numbers().filter_map(|number| match number.of {
            Of::Flow(of) => Some(summary::cell(number, of(&facts))),
            _ => None,
        }));
        row.push(finish);
        row
    });
    let heads = Vec::from_iter(numbers().map(|number| number.head)).join(" ");
    let mut table = Table::new(&format!("flow source target {heads} <finish"));
    let table = table.extend(rows, run.outcome.flows.len());
    format!(
        "{table}  Goodput until the finish, the stop or the end; late: over the last quarter of that.\n"
    )
}

fn queues(run: &Run) -> String {
    // The fullest first: in a long list these are the ones to look at.
    let mut queues: Vec<_> = run.outcome.queues.iter().collect();
    queues.sort_by_key(|queue| (std::cmp::Reverse(queue.max), queue.node, queue.port));
    let count = queues.len();
    let rows = queues.into_iter().map(|queue| {
        let ingress = &run.scenario.config.ingress;
        let config = ingress.get(queue.node, queue.port, queue.class);
        let mean = queue.mean.map(|mean| Bytes::new(mean.round() as u64));
        vec![
            run.queue_name(queue.node, queue.port, queue.class),
            quantity::bytes(queue.max),
            mean.map_or("-".to_string(), quantity::bytes),
            quantity::bytes(queue.last),
            quantity::bytes(config.buffer),
        ]
    });
    let table = Table::new("port <largest <mean <at-the-end <buffer").extend(rows, count);
    let is_probed = run.outcome.queues.iter().all(|queue| queue.mean.is_some());
    let note = if is_probed { "" } else { "  The mean is known where a [probe] looks.\n" };
    format!("{table}{note}")
}

fn memories(run: &Run) -> String {
    // The fullest first.
    let mut memories: Vec<_> = run.outcome.memories.iter().collect();
    memories.sort_by_key(|memory| (std::cmp::Reverse(memory.max.total), memory.node));
    let count = memories.len();
    let rows = memories.into_iter().map(|memory| {
        let (max, size) = (memory.max, memory.size);
        let cell = |max, size| format!("{} of {}", quantity::bytes(max), quantity::bytes(size));
        vec![
            run.node_name(memory.node).to_string(),
            cell(max.pool, size.pool),
            cell(max.headroom, size.headroom),
            cell(max.total, size.total),
        ]
    });
    Table::new("switch <pool-at-most <headroom-at-most <in-all-at-most").extend(rows, count)
}

fn feedback(run: &Run) -> String {
    let outcome = &run.outcome;
    let row = vec![
        quantity::count(outcome.feedback_frames),
        quantity::count(outcome.pause_frames),
        quantity::percent(outcome.feedback_share_max),
    ];
    let mut table = Table::new("<frames <of-them-pauses <largest-share-of-a-link");
    table.extend([row].into_iter(), 1)
}

/// Columns that are as wide as their widest cell.
#[derive(Clone, Debug)]
pub struct Table {
    heads: Vec<String>,
    to_the_right: Vec<bool>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with these heads, separated by spaces. A head that begins with `<` aligns its
    /// column to the right, and `-` in a head stands for a space.
    pub fn new(heads: &str) -> Table {
        let heads = Vec::from_iter(heads.split(' '));
        Table {
            to_the_right: heads.iter().map(|head| head.starts_with('<')).collect(),
            heads: heads
                .iter()
                .map(|head| head.trim_start_matches('<').replace('-', " "))
                .collect(),
            rows: Vec::new(),
        }
    }

    /// A table with these heads as they are, each with whether its column is aligned to the right.
    pub fn with(heads: Vec<(String, bool)>) -> Table {
        let (heads, to_the_right) = heads.into_iter().unzip();
        Table { heads, to_the_right, rows: Vec::new() }
    }

    /// Whether it has no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The heads of its columns.
    pub fn heads(&self) -> &[String] {
        &self.heads
    }

    /// Its rows, with a cell for every head.
    pub fn rows(&self) -> &[Vec<String>] {
        &self.rows
    }

    /// Adds a row, which has a cell for every head.
    pub fn push(&mut self, row: Vec<String>) {
        assert_eq!(row.len(), self.heads.len(), "a cell for every head");
        self.rows.push(row);
    }

    /// The rows, each on a line that is indented by two; painted by `paint`, which is given
    /// the cell's row, its column and its text after alignment.
    pub fn render(&self, paint: impl Fn(usize, usize, &str) -> String) -> String {
        let mut widths: Vec<usize> = self.heads.iter().map(|head| head.chars().count()).collect();
        for row in &self.rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = cell.chars().count().max(*width);
            }
        }
        let align = |column: usize, cell: &str| {
            if self.to_the_right[column] {
                format!("{cell:>width$}", width = widths[column])
            } else {
                format!("{cell:<width$}", width = widths[column])
            }
        };
        let heads = self.heads.iter().enumerate();
        let mut lines = vec![Vec::from_iter(heads.map(|(column, cell)| align(column, cell)))];
        for (index, row) in self.rows.iter().enumerate() {
            let cells = row.iter().enumerate();
            let cells = cells.map(|(column, cell)| paint(index, column, &align(column, cell)));
            lines.push(cells.collect());
        }
        let lines = lines.iter().map(|line| {
            let line = line.join("  ");
            format!("  {}\n", line.trim_end())
        });
        lines.collect()
    }

    /// All of `rows`, or the first few of more than [`ROWS_MAX`] and a line that says so. No text
    /// at all for no rows.
    fn extend(&mut self, rows: impl Iterator<Item = Vec<String>>, count: usize) -> String {
        let shown = if count > ROWS_MAX { ROWS_FEW } else { count };
        for row in rows.take(shown) {
            self.push(row);
        }
        if self.rows.is_empty() {
            return String::new();
        }
        let mut text = self.render(|_, _, cell| cell.to_string());
        if count > shown {
            let more = count - shown;
            text.push_str(&format!("  .. and {more} more; --json lists all of them\n"));
        }
        text
    }
}

/// A longer table is a file, not a report.
pub const ROWS_MAX: usize = 40;
/// The rows that are shown of a longer table.
const ROWS_FEW: usize = 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_align_and_lines_end_without_spaces() {
        let mut table = Table::new("flow <late-goodput finish");
        table.push(vec!["F1".into(), "5.00 Gb/s".into(), "-".into()]);
        table.push(vec!["longest".into(), "8 kb/s".into(), "1.00 ms".into()]);
        let text = table.render(|_, _, cell| cell.to_string());
        let expected = "  flow     late goodput  finish\n  \
                        F1          5.00 Gb/s  -\n  \
                        longest        8 kb/s  1.00 ms\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn long_tables_say_what_they_leave_out() {
        let rows = (0..ROWS_MAX + 2).map(|n| vec![n.to_string()]);
        let text = Table::new("n").extend(rows, ROWS_MAX + 2);
        assert_eq!(text.lines().count(), 1 + ROWS_FEW + 1);
        assert!(text.ends_with("  .. and 32 more; --json lists all of them\n"));
        let rows = (0..ROWS_MAX).map(|n| vec![n.to_string()]);
        let text = Table::new("n").extend(rows, ROWS_MAX);
        assert_eq!(text.lines().count(), 1 + ROWS_MAX);
    }

    #[test]
    fn paint_is_only_for_terminals() {
        assert_eq!(Paint::Plain.paint(Mood::Bad, "x"), "x");
        assert_eq!(Paint::Ansi.paint(Mood::Good, "x"), "\x1b[32mx\x1b[0m");
    }
}
