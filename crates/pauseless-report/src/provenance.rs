//! Where the pauses of a run came from, for a terminal and for a page.

use std::cmp::Reverse;
use std::fmt::Write;

use pauseless_core::id::{FlowId, NodeId};
use pauseless_sim::outcome::{EgressQueue, PauseTree, PausedLink, Provenance};

use super::html::escape;
use super::summary::Section;
use pauseless_run::Run;
use pauseless_text::quantity;
use pauseless_text::terminal::Table;

/// The trees of pauses, or `None` if there was none or pauses were not recorded.
pub fn section(run: &Run) -> Option<Section> {
    let provenance = run.outcome.provenance.as_ref()?;
    let largest = provenance.trees.first()?;
    let mut table =
        Table::new("first-port-to-fill <from <to <pauses <links <depth <hosts <victims");
    for tree in provenance.trees.iter().take(TREES_MAX) {
        table.push(vec![
            queue_name(run, tree.root),
            quantity::time(tree.first),
            quantity::time(tree.last),
            quantity::count(tree.pauses),
            quantity::count(tree.links.len() as u64),
            tree.depth.to_string(),
            quantity::count(hosts(run, tree).count() as u64),
            quantity::count(tree.victims.len() as u64),
        ]);
    }
    Some(Section {
        title: "where the pauses came from",
        table,
        notes: notes(run, provenance, largest),
    })
}

fn notes(run: &Run, provenance: &Provenance, largest: &PauseTree) -> Vec<String> {
    let mut notes = Vec::new();
    let shown = provenance.trees.len().min(TREES_MAX);
    let more = provenance.trees.len() - shown + provenance.trees_left_out as usize;
    if more > 0 {
        notes.push(format!(".. and {more} more; --json has them"));
    }
    // The farthest host, or the farthest link if it reached none.
    let farthest = |link: &&PausedLink| (link.depth, Reverse(link.first));
    let link = hosts(run, largest).map(|(_, link)| link).max_by_key(farthest);
    if let Some(link) = link.or_else(|| largest.links.iter().max_by_key(farthest)) {
        let steps = chain(largest, link).into_iter().map(|link| {
            let time = quantity::time(link.first);
            format!("{} stopped at {time}", queue_name(run, link.stopped))
        });
        let steps = Vec::from_iter(steps).join(", ");
        let root = queue_name(run, largest.root);
        notes.push(format!("{root} filled: {steps}."));
    }
    if !largest.victims.is_empty() {
        let root = queue_name(run, largest.root);
        let victims = flow_names(run, &largest.victims);
        notes.push(format!("Stopped though they do not pass {root}: {victims}."));
    }
    if let Some(cycle) = provenance.cycles.last() {
        let names = cycle.stopped.iter().map(|queue| queue_name(run, *queue));
        let names = Vec::from_iter(names).join(" -> ");
        let time = quantity::time(cycle.time);
        let times = match provenance.cycle_count {
            1 => String::new(),
            count => {
                let listed = provenance.cycles.len();
                format!(", the last of the first {listed} of {count}")
            }
        };
        notes.push(format!(
            "A circle of pauses, each because of the next, closed at {time}: {names}{times}."
        ));
    }
    notes
}

/// The largest tree as a list of lists, the root outside.
pub fn nested(run: &Run) -> String {
    let provenance = run.outcome.provenance.as_ref();
    let Some(tree) = provenance.and_then(|provenance| provenance.trees.first()) else {
        return String::new();
    };
    let root = escape(&queue_name(run, tree.root));
    let culprits = escape(&flow_names(run, &tree.culprits));
    let mut text = format!(
        "<details open>\n<summary>the largest tree of pauses</summary>\n\
         <ul class=\"tree\">\n<li><b>{root}</b> filled with {culprits}\n"
    );
    branch(run, tree, None, &mut text);
    text.push_str("</li>\n</ul>\n</details>\n");
    text
}

/// The links that were stopped because of `parent`, each with those because of it.
fn branch(run: &Run, tree: &PauseTree, parent: Option<u32>, text: &mut String) {
    let links = (0..).zip(&tree.links);
    let links = Vec::from_iter(links.filter(|(_, link)| link.because == parent));
    if links.is_empty() {
        return;
    }
    text.push_str("<ul>\n");
    for (index, link) in links.iter().take(LINKS_MAX) {
        let _ = write!(
            text,
            "<li>{} from {}, {}",
            escape(&queue_name(run, link.stopped)),
            quantity::time(link.first),
            quantity::plural(link.pauses, "pause"),
        );
        branch(run, tree, Some(*index), text);
        text.push_str("</li>\n");
    }
    if links.len() > LINKS_MAX {
        let _ = writeln!(text, "<li>and {} more</li>", links.len() - LINKS_MAX);
    }
    text.push_str("</ul>\n");
}

/// The hosts that a tree reached, each with its link.
pub(super) fn hosts<'t>(
    run: &Run,
    tree: &'t PauseTree,
) -> impl Iterator<Item = (NodeId, &'t PausedLink)> {
    let topology = run.topology();
    let links = tree.links.iter();
    links
        .filter(move |link| topology.is_host(link.stopped.node))
        .map(|link| (link.stopped.node, link))
}

/// The links from the root to `link`, each stopped because of the one before.
pub(super) fn chain<'t>(tree: &'t PauseTree, link: &'t PausedLink) -> Vec<&'t PausedLink> {
    let mut chain = vec![link];
    let mut at = link;
    while let Some(because) = at.because {
        at = &tree.links[because as usize];
        chain.push(at);
    }
    chain.reverse();
    chain
}

fn queue_name(run: &Run, queue: EgressQueue) -> String {
    run.queue_name(queue.node, queue.port, queue.class)
}

fn flow_names(run: &Run, flows: &[FlowId]) -> String {
    let names = flows.iter().map(|flow| run.flow_name(*flow));
    quantity::some(names, FLOWS_MAX)
}

/// The most trees of pauses that a report shows.
const TREES_MAX: usize = 10;
/// The most links beside each other that a report shows.
const LINKS_MAX: usize = 20;
/// The most flows that a report names.
const FLOWS_MAX: usize = 8;
