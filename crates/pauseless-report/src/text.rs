//! Reports for a terminal: the verdict first, then aligned tables.

use pauseless_core::unit::{Bytes, Time};

use super::verdict::{self, Finding};
use super::{replica, summary};
use pauseless_run::Run;
use pauseless_run::metrics::has_started;
use pauseless_run::results::{Facts, Of, Scope};
use pauseless_text::quantity;
use pauseless_text::terminal::{Mood, Paint, Table};

/// The mood of a finding.
pub fn mood_of(finding: Finding) -> Mood {
    match finding {
        Finding::Deadlock | Finding::Loss => Mood::Bad,
        Finding::Starvation => Mood::Poor,
    }
}

/// The mood of a whole run: that of its worst finding, or of what it leaves open.
pub fn mood_of_run(run: &Run) -> Mood {
    let calm = if run.outcome.undecided.is_some() { Mood::Poor } else { Mood::Good };
    verdict::findings(&run.outcome).first().copied().map_or(calm, mood_of)
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
        let mood = if finding.is_in(&run.outcome) { mood_of(finding) } else { Mood::Good };
        text.push_str(&paint.paint(mood, &finding.sentence(run)));
        text.push('\n');
    }
    let lines = [verdict::events(run), verdict::wire_loss(run), verdict::unfinished(run)];
    for line in lines {
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
