//! Routing loops: how fast a flow may enter one, by the paper and exactly.

use std::collections::BTreeMap;
use std::fmt;

use pauseless_core::class_map::{Beyond, ClassMap};
use pauseless_core::id::{NodeId, PortId};
use pauseless_fabric::boundary::{Boundary, passes};
use pauseless_fabric::trace::circle;
use pauseless_sim::Config;
use pauseless_sim::config::Flow;

use super::write_table;
use pauseless_run::sample::share::header;
use pauseless_scenario::Scenario;
use pauseless_text::named;
use pauseless_text::quantity;

/// A flow that circles.
#[derive(Clone, Debug, PartialEq)]
pub struct Loop {
    /// The name of the flow.
    pub flow: String,
    /// The switches of the loop, from where it enters.
    pub switches: Vec<String>,
    /// The bounds, for frames without what else they take on the wire.
    pub boundary: Boundary,
    /// Frame bytes over all bytes of a frame on the wire: the bounds are reached that much earlier.
    pub frame_share: f64,
    /// The rate at which the flow sends, in bits per second.
    pub rate_bps: f64,
    /// What all flows that circle put on the fullest link of this loop, as a share of its rate.
    pub load: f64,
    /// How many flows meet on some link of this loop, itself included.
    pub flow_count: usize,
    /// What becomes of the loop at that rate.
    pub verdict: Verdict,
}

named! {
    /// What becomes of a loop, if nothing else uses its links.
    pub enum Verdict {
        /// Every link carries what comes.
        Flows = "flows",
        /// Some link does not, but it gives what has come round its fair half, and that is enough.
        Balances = "balances",
        /// Some link does not, so that flow control fills the loop.
        Fills = "fills",
        /// Above the bound, too, but classes that count hops leave no cycle to fill.
        Drains = "drains",
    }
}

impl Verdict {
    /// The verdict as a sentence for people.
    pub fn sentence(self) -> &'static str {
        match self {
            Verdict::Flows => "not above the bound: the loop carries it",
            Verdict::Balances => {
                "above the bound, but packets pass no link more than twice: fair service at the \
                 entrance just holds one host back"
            }
            Verdict::Fills => "above the bound: it fills the loop, and PFC or credits deadlock",
            Verdict::Drains => "above the bound, but classes count hops: no deadlock at any rate",
        }
    }
}

/// All flows of a scenario that circle.
pub(super) fn loops(scenario: &Scenario) -> Vec<Loop> {
    let flows = scenario.config.flows.iter();
    let mortal = flows.filter(|flow| flow.ttl < Flow::TTL_NONE);
    let mut found = Vec::from_iter(mortal.filter_map(|flow| of_flow(&scenario.config, flow)));
    // What flows put on a link, and how many they are.
    let mut links: BTreeMap<Link, (f64, usize)> = BTreeMap::new();
    for (_, loads) in &found {
        for (link, load) in loads {
            let (sum, count) = links.entry(*link).or_default();
            (*sum, *count) = (*sum + load, *count + 1);
        }
    }
    for (found, loads) in &mut found {
        let of_links = loads.iter().map(|(link, _)| links[link]);
        let (load, count) = of_links.fold((0.0, 0), |(load, count): (f64, usize), (sum, flows)| {
            (load.max(sum), count.max(flows))
        });
        (found.load, found.flow_count) = (load, count);
        found.verdict = if load <= 1.0 {
            Verdict::Flows
        } else if is_cut(&scenario.config, &found.boundary) {
            Verdict::Drains
        } else if count == 1 && found.boundary.passes <= 2 {
            Verdict::Balances
        } else {
            Verdict::Fills
        };
    }
    found.into_iter().map(|(found, _)| found).collect()
}

type Link = (NodeId, PortId);

/// Whether no packet is at a switch of the loop twice in one band, so that no class has a cycle.
fn is_cut(config: &Config, boundary: &Boundary) -> bool {
    match &config.classes {
        ClassMap::Hops(hops) => {
            usize::from(hops.width) <= boundary.switches && hops.beyond == Beyond::Drop
        }
        _ => false,
    }
}

/// A flow that circles, and the share of each link of its loop that it would take.
fn of_flow(config: &Config, flow: &Flow) -> Option<(Loop, Vec<(Link, f64)>)> {
    let topology = &config.topology;
    let circle = circle(topology, &config.table, header(flow))?;
    let boundary = Boundary::new(topology, &circle, flow.ttl);
    let on_wire = flow.packet + config.wire_overhead;
    let frame_share = flow.packet.get() as f64 / on_wire.get() as f64;
    let rate_bps = flow.pace.as_bps() as f64;
    let switches = circle.round.iter().map(|(node, _)| topology.node(*node).name.clone());
    let loads = circle.round.iter().zip(passes(&circle, flow.ttl));
    let loads = loads.map(|(&(node, port), passes)| {
        let line = topology.port(node, port).rate.as_bps() as f64 * frame_share;
        ((node, port), rate_bps * passes as f64 / line)
    });
    let found = Loop {
        flow: flow.name.clone(),
        switches: switches.collect(),
        boundary,
        frame_share,
        rate_bps,
        // Not before all flows of the loop are known.
        load: 0.0,
        flow_count: 1,
        verdict: Verdict::Flows,
    };
    Some((found, loads.collect()))
}

/// Packets that end before the loop may have any rate.
fn rate(bps: f64) -> String {
    if bps.is_finite() { quantity::rate(bps) } else { "any".to_string() }
}

/// The section of the text.
pub(super) fn write(loops: &[Loop], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if loops.is_empty() {
        return Ok(());
    }
    writeln!(f, "\nrouting loops")?;
    for found in loops {
        let Boundary { switches, ttl, slowest, passes, paper_bps, exact_bps } = found.boundary;
        writeln!(f, "flow {}: {}", found.flow, found.switches.join(" > "))?;
        let load = format!("{:.3}", found.load);
        let by_whom = match found.flow_count {
            1 => "of its fullest link".to_string(),
            count => format!("of its fullest link, the sum of {count} flows"),
        };
        let (n, ttl) = (switches.to_string(), ttl.to_string());
        let (slowest, passes) = (slowest.to_string(), passes.to_string());
        let [paper, exact, own] =
            [paper_bps * found.frame_share, exact_bps * found.frame_share, found.rate_bps]
                .map(rate);
        let rows = [
            ["n", "switches of the loop", &n, "scenario"],
            ["TTL", "of every packet", &ttl, "scenario"],
            ["B", "the slowest link of the loop", &slowest, "scenario"],
            ["passes", "of a packet over its first link", &passes, "docs/ttl.md"],
            ["r", "n B / TTL", &paper, "hn16 3.1"],
            ["r", "least rate / passes of all links of the loop", &exact, "docs/ttl.md"],
            ["rate", "of the flow", &own, "scenario"],
            ["load", &by_whom, &load, "docs/ttl.md"],
        ];
        write_table(f, &rows)?;
        let whose = match found.flow_count {
            1 => String::new(),
            count => format!("the sum of the {count} flows that share it is "),
        };
        writeln!(f, "  {whose}{}", found.verdict.sentence())?;
    }
    Ok(())
}
