//! A verdict for people.

use std::fmt::Write;

use pauseless_core::id::{Class, NodeId, PortId};
use pauseless_fabric::audit::FaultKind;
use pauseless_fabric::dependency::{ClosingFlow, Component, Cycle, Hop, PortChoice};
use pauseless_fabric::reroute::Reroute;

use super::Verdict;
use super::advice::{Advice, words};
use super::fault;
use super::fix;
use super::sweep::describe;
use pauseless_fabric::fabric::{Fabric, Origin};
use pauseless_text::quantity::counted;
use pauseless_text::terminal::{Mood, Paint};

/// The whole report about one fabric, as text for people.
pub fn report(fabric: &Fabric, verdict: &Verdict, paint: Paint) -> String {
    let mut out = headline(fabric, verdict, paint);
    let page = Page { fabric };
    page.summary(&mut out, verdict);
    page.faults(&mut out, verdict);
    for (number, component) in verdict.components.iter().enumerate() {
        out.push_str(&page.component(number + 1, verdict, component));
    }
    let hidden = verdict.component_count - verdict.components.len();
    if hidden > 0 {
        let _ = writeln!(out, "\n{hidden} smaller groups of buffers are not shown.");
    }
    if verdict.undecided.is_none() {
        page.blame(&mut out, verdict);
    }
    page.decide(&mut out, verdict);
    page.advice(&mut out, verdict);
    if !fabric.notes.is_empty() {
        out.push('\n');
    }
    for note in &fabric.notes {
        let _ = writeln!(out, "note: {note}");
    }
    out
}

/// The first line of the report: the verdict.
pub fn headline(fabric: &Fabric, verdict: &Verdict, paint: Paint) -> String {
    let name = &fabric.name;
    let scope = match &verdict.scope[..] {
        [] => String::new(),
        scope => format!(" ({})", scope.join(", ")),
    };
    let at_head = verdict.rule.choice == PortChoice::AtHead;
    if !verdict.is_cyclic() {
        let free = if !verdict.rule.dissolves(verdict.component_count) {
            "no cyclic buffer dependency"
        } else if verdict.rule.escapes() {
            "cyclic buffer dependency with an escape class"
        } else {
            "cyclic buffer dependency without a knot"
        };
        let free = paint.paint(Mood::Good, free);
        let routes = match fabric.origin {
            Origin::Tables | Origin::Flows => "on these routes",
            Origin::Rule(_) => "if it is routed by this rule",
        };
        let says = match verdict.dependency_count {
            0 => format!("no buffer waits for another {routes}"),
            _ => format!("lossless traffic cannot deadlock {routes}"),
        };
        let known = if is_partly_known(fabric) { ", as far as they are known" } else { "" };
        return format!("{name}: {free}; {says}{known}{}{scope}\n", faults(verdict));
    }
    if verdict.undecided.is_some() {
        let undecided = paint.paint(Mood::Bad, "cannot tell without service levels");
        let says = "lossless traffic can deadlock if all packets use one virtual lane";
        return format!("{name}: {undecided}; {says}{}{scope}\n", faults(verdict));
    }
    let cyclic = if at_head { "knot of buffers" } else { "cyclic buffer dependency" };
    let cyclic = paint.paint(Mood::Bad, cyclic);
    let loops = verdict.components.iter().filter(|component| component.cycle.flows.len() == 1);
    let says = match loops.count() {
        0 => "lossless traffic can deadlock",
        _ => "packets travel in a circle (a routing loop), and lossless traffic can deadlock",
    };
    format!("{name}: {cyclic}; {says}{}{scope}\n", faults(verdict))
}

/// How many faults of each kind there are.
fn faults(verdict: &Verdict) -> String {
    let words = FaultKind::WORDS.iter().filter_map(|word| {
        let count = verdict.faults.iter().filter(|fault| fault.kind.word() == *word).count();
        (count > 0).then(|| format!("{count} {word}"))
    });
    let pairs = verdict.unrouted_pairs;
    let words = words.chain((pairs > 0).then(|| format!("{pairs} unroutable")));
    match &Vec::from_iter(words)[..] {
        [] => String::new(),
        words => format!("; {}", words.join(", ")),
    }
}

/// Whether packets may go where no file says what becomes of them.
fn is_partly_known(fabric: &Fabric) -> bool {
    let routes = fabric.evidence.routes.as_ref();
    routes.is_some_and(|routes| !routes.silent.is_empty() || routes.is_partial)
}

struct Page<'f> {
    fabric: &'f Fabric,
}

impl Page<'_> {
    fn summary(&self, out: &mut String, verdict: &Verdict) {
        let topology = &self.fabric.topology;
        let routes = match self.fabric.origin {
            Origin::Tables => "the switches' own tables",
            Origin::Flows => "the paths of the flows",
            Origin::Rule(routing) => describe(Reroute::Rule(routing)),
        };
        let _ = writeln!(
            out,
            "{}, {}, {}; routes: {routes}.",
            counted(topology.host_count(), "end node"),
            counted(topology.switches().len(), "switch"),
            counted(topology.links().len(), "link"),
        );
        let _ = writeln!(
            out,
            "{} ingress buffers between switches, {} dependencies between them.",
            verdict.buffer_count, verdict.dependency_count
        );
        if let Some(rule) = verdict.rule.sentence(verdict.component_count) {
            let _ = writeln!(out, "{rule}");
        }
        if let Some(escape) = &verdict.rule.escape {
            let _ = writeln!(out, "{}", escape.sentence(self.fabric, verdict.rule.choice));
        }
        if verdict.unrouted_pairs > 0 {
            let _ = match verdict.unrouted_pairs {
                1 => writeln!(out, "1 pair of end nodes has no route:"),
                count => writeln!(out, "{count} pairs of end nodes have no route:"),
            };
            self.unroutable(out, verdict);
        }
        if !verdict.left_out.is_empty() {
            let _ = writeln!(out, "Left out: {}.", self.nodes(&verdict.left_out));
        }
    }

    fn unroutable(&self, out: &mut String, verdict: &Verdict) {
        const SHOWN: usize = 8;
        for from in verdict.unroutable.iter().take(SHOWN) {
            let targets = from.targets.iter().map(|target| self.name(*target));
            let mut targets = Vec::from_iter(targets);
            let more = from.target_count - targets.len();
            if more > 0 {
                targets.push("..");
            }
            let _ = writeln!(
                out,
                "  from {}: {} to {} ({})",
                self.name(from.switch),
                counted(from.pairs as usize, "pair"),
                counted(from.target_count, "end node"),
                targets.join(", ")
            );
        }
        if verdict.unroutable.len() > SHOWN {
            let hidden = verdict.unroutable.len() - SHOWN;
            let _ = writeln!(out, "  from {}; --json has all.", counted(hidden, "further switch"));
        }
    }

    fn faults(&self, out: &mut String, verdict: &Verdict) {
        const SHOWN: usize = 20;
        if !verdict.faults.is_empty() {
            out.push_str("\nWhat packets meet on their way:\n");
        }
        for found in verdict.faults.iter().take(SHOWN) {
            let place = match &found.place {
                Some((file, line)) => format!(" [{file}:{line}]"),
                None => String::new(),
            };
            let _ = writeln!(
                out,
                "  {}: {}{place}",
                found.kind.word(),
                fault::sentence(self.fabric, found)
            );
        }
        if verdict.faults.len() > SHOWN {
            let hidden = verdict.faults.len() - SHOWN;
            let _ = writeln!(out, "  {hidden} more are not shown; --json has all.");
        }
        let mut fixes = Vec::from_iter(verdict.faults.iter().map(|found| fault::fix(found.kind)));
        fixes.dedup();
        for fix in fixes {
            let _ = writeln!(out, "  fix: {fix}");
        }
    }

    fn component(&self, number: usize, verdict: &Verdict, found: &Component) -> String {
        let Component { buffers, dependency_count, cycle } = found;
        let at_head = verdict.rule.choice == PortChoice::AtHead;
        let mut out = format!(
            "\n{} {number} of {}: {} buffers can all wait for each other ({} dependencies); \
             the shortest way round is {} hops.\n",
            if at_head { "Knotted group" } else { "Cycle" },
            verdict.component_count,
            buffers.len(),
            dependency_count,
            cycle.hops.len()
        );
        for (at, hop) in cycle.hops.iter().enumerate() {
            let next = (at + 1) % cycle.hops.len() + 1;
            out.push_str(&self.hop(at + 1, next, hop));
        }
        self.flows(&mut out, cycle);
        if at_head && verdict.rule.has_choices {
            out.push_str(
                "  Packets with several ports are stuck once all of these are: all in the knot.\n",
            );
        }
        out
    }

    fn hop(&self, number: usize, next: usize, hop: &Hop) -> String {
        let buffer = hop.buffer;
        let topology = &self.fabric.topology;
        let far = topology.port(buffer.node, buffer.port);
        let (targets, sources) = (self.nodes(&hop.targets), self.nodes(&hop.sources));
        format!(
            "  {number}. {}, {} (from {}) waits for {next}, out of {}\n     \
             with packets for {targets} from {sources}\n",
            self.port(buffer.node, buffer.port),
            self.class(buffer.class),
            self.port(far.peer, far.peer_port),
            self.port(buffer.node, hop.egress),
        )
    }

    fn flows(&self, out: &mut String, cycle: &Cycle) {
        if let [only] = &cycle.flows[..] {
            let target = self.fabric.routes.groups.target(only.group);
            let _ = writeln!(
                out,
                "  A single flow closes it: packets from {} for {} travel in a circle.",
                self.name(only.source),
                self.name(target)
            );
            return;
        }
        let _ = writeln!(
            out,
            "  {} flows close it{}:",
            cycle.flows.len(),
            if cycle.is_fewest { ", and fewer do not" } else { "" }
        );
        for flow in &cycle.flows {
            let _ = writeln!(out, "    {}", self.flow(flow));
        }
    }

    fn flow(&self, flow: &ClosingFlow) -> String {
        let target = self.fabric.routes.groups.target(flow.group);
        let switches = flow.path.iter().skip(1).map(|(node, _)| self.name(*node));
        let hops = flow.hops.iter().map(|hop| (hop + 1).to_string());
        format!(
            "{} > {} > {}  ({} {})",
            self.name(flow.source),
            Vec::from_iter(switches).join(" > "),
            self.name(target),
            match flow.hops.len() {
                1 => "hop",
                _ => "hops",
            },
            Vec::from_iter(hops).join(", ")
        )
    }

    /// How to find out which lanes packets travel on.
    fn decide(&self, out: &mut String, verdict: &Verdict) {
        if let Some(reason) = &verdict.undecided {
            let _ = writeln!(out, "\nNo file says which service level packets have: {reason}.");
            out.push_str(DECIDE);
        }
    }

    fn advice(&self, out: &mut String, verdict: &Verdict) {
        let is_loop = |component: &Component| component.cycle.flows.len() == 1;
        let has_advice = verdict.advice.is_some() || verdict.components.iter().any(is_loop);
        if !verdict.is_cyclic() || verdict.undecided.is_some() || !has_advice {
            return;
        }
        let _ = writeln!(out, "\nWhat would help:");
        let cycles = verdict.components.iter().map(|component| &component.cycle);
        for (cycle, flow) in cycles.filter_map(|cycle| match &cycle.flows[..] {
            [only] => Some((cycle, only)),
            _ => None,
        }) {
            let target = self.fabric.routes.groups.target(flow.group);
            let switches = cycle.hops.iter().map(|hop| self.name(hop.buffer.node));
            let _ = writeln!(
                out,
                "  - Correct the entries for {} at {}: they send its packets round and round.",
                self.name(target),
                Vec::from_iter(switches).join(", ")
            );
        }
        if let Some(advice) = &verdict.advice {
            self.proposals(out, verdict, advice);
        }
    }

    fn proposals(&self, out: &mut String, verdict: &Verdict, advice: &Advice) {
        let blame = verdict.blame.as_ref();
        let (helping, failing): (Vec<_>, Vec<_>) =
            advice.proposals.iter().partition(|proposal| proposal.helps);
        for (number, proposal) in (1..).zip(&helping) {
            let what = words::what(self.fabric, blame, &proposal.change);
            let _ = writeln!(out, "  {number}. {what}");
            let outcome = words::outcome(self.fabric, advice, proposal);
            let _ = writeln!(out, "     Tried: {outcome}.");
            if fix::is_possible(self.fabric) {
                let word = proposal.change.kind().word();
                let _ = writeln!(out, "     Files for opensm: --fix {word} --out DIR");
            }
        }
        if helping.is_empty() {
            let _ = writeln!(out, "  Nothing that was tried helps; it may take other cables.");
        }
        if !failing.is_empty() {
            let _ = writeln!(out, "Tried, but no help:");
        }
        for proposal in failing {
            let what = words::what(self.fabric, blame, &proposal.change);
            let outcome = words::outcome(self.fabric, advice, proposal);
            let _ = writeln!(out, "  - {}: {outcome}", what.trim_end_matches('.'));
        }
    }

    /// Whose packets close the cycles.
    fn blame(&self, out: &mut String, verdict: &Verdict) {
        if !verdict.is_cyclic() {
            return;
        }
        let Some(blame) = &verdict.blame else {
            if verdict.left_out.is_empty() {
                let _ = writeln!(
                    out,
                    "\nNo small set of end nodes was found to be to blame; it may be the routing itself."
                );
            }
            return;
        };
        let who = words::who(self.fabric, Some(blame), &blame.hosts);
        let _ = writeln!(out, "\nWithout {who} there is no cycle.");
        let needed = blame.needed.as_ref();
        if let Some(needed) = needed.filter(|needed| needed.len() < blame.hosts.len()) {
            let _ = writeln!(
                out,
                "Of these it is enough to leave out {}; --json has all names.",
                self.nodes(needed)
            );
        }
    }

    fn port(&self, node: NodeId, port: PortId) -> String {
        self.fabric.port_name(node, port)
    }

    fn name(&self, node: NodeId) -> &str {
        &self.fabric.topology.node(node).name
    }

    fn class(&self, class: Class) -> String {
        format!("{} {}", self.fabric.medium.class_name(), class.0)
    }

    /// Some names and how many there are.
    fn nodes(&self, nodes: &[NodeId]) -> String {
        const SHOWN: usize = 3;
        let names = nodes.iter().take(SHOWN).map(|node| self.name(*node));
        let names = Vec::from_iter(names).join(", ");
        match nodes.len() {
            count if count <= SHOWN => names,
            count => format!("{count} end nodes ({names}, ..)"),
        }
    }
}

const DECIDE: &str = "To decide it, add one of these:
  - service levels of paths: saquery -p --slid LID for the LID of every adapter port, or psl
    (ibdmchk -c), and the tables from levels to lanes: opensm-sl2vl.dump, slvl, or
    smpquery sl2vl LID for every switch
  - opensm.log or opensm.conf, if its routing engine uses one level (minhop, updn, dnup,
    dor, ftree, sssp)
  - --one-lane, if you know that all packets use one service level
";
