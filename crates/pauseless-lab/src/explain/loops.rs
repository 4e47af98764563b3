//! Routing loops: how fast a flow may enter one, by the paper and exactly.

use std::fmt;

use pauseless_core::class_map::{Beyond, ClassMap};
use pauseless_fabric::boundary::Boundary;
use pauseless_fabric::trace::{Header, circle};
use pauseless_sim::Config;
use pauseless_sim::config::Flow;

use super::write_table;
use crate::report::quantity;
use crate::scenario::Scenario;

/// A flow that circles.
#[derive(Clone, Debug, PartialEq)]
pub struct Loop {
    /// Its name.
    pub flow: String,
    /// The switches of the loop, from where it enters.
    pub switches: Vec<String>,
    /// The bounds, for frames without what else they take on the wire.
    pub boundary: Boundary,
    /// Frame bytes over all bytes of a frame on the wire: the bounds are reached that much earlier.
    pub frame_share: f64,
    /// The flow's rate.
    pub rate_bps: f64,
    /// What follows.
    pub verdict: Verdict,
}

/// What becomes of a loop, as far as one flow alone can tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Every link carries what comes.
    Flows,
    /// Some link does not, so that flow control fills the loop.
    Fills,
    /// The same, but classes that count hops leave no cycle to fill.
    Drains,
}

impl Verdict {
    /// In words.
    pub fn sentence(self) -> &'static str {
        match self {
            Verdict::Flows => "below the bound: alone, it cannot fill the loop",
            Verdict::Fills => "above the bound: it fills the loop, and PFC or credits deadlock",
            Verdict::Drains => "above the bound, but classes count hops: no deadlock at any rate",
        }
    }

    /// In a word.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Flows => "flows",
            Verdict::Fills => "fills",
            Verdict::Drains => "drains",
        }
    }
}

/// All flows of a scenario that circle.
pub(super) fn loops(scenario: &Scenario) -> Vec<Loop> {
    let flows = scenario.config.flows.iter();
    let mortal = flows.filter(|flow| flow.ttl < Flow::TTL_NONE);
    mortal
        .filter_map(|flow| of_flow(&scenario.config, flow))
        .collect()
}

fn of_flow(config: &Config, flow: &Flow) -> Option<Loop> {
    let topology = &config.topology;
    let header = Header {
        source: flow.source,
        group: flow.group,
        hash: flow.hash,
    };
    let circle = circle(topology, &config.table, header)?;
    let boundary = Boundary::new(topology, &circle, flow.ttl);
    let on_wire = flow.packet + config.wire_overhead;
    let frame_share = flow.packet.get() as f64 / on_wire.get() as f64;
    let rate_bps = flow.pace.as_bps() as f64;
    // No packet is at a switch of the loop twice in one band, so that no class has a cycle.
    let is_cut = match &config.classes {
        ClassMap::Hops(hops) => {
            usize::from(hops.width) <= boundary.switches && hops.beyond == Beyond::Drop
        }
        _ => false,
    };
    let verdict = match rate_bps > boundary.exact_bps * frame_share {
        false => Verdict::Flows,
        true if is_cut => Verdict::Drains,
        true => Verdict::Fills,
    };
    let switches = circle.round.iter();
    let switches = switches.map(|(node, _)| topology.node(*node).name.clone());
    Some(Loop {
        flow: flow.name.clone(),
        switches: switches.collect(),
        boundary,
        frame_share,
        rate_bps,
        verdict,
    })
}

/// Packets that end before the loop may have any rate.
fn rate(bps: f64) -> String {
    match bps.is_finite() {
        true => quantity::rate(bps),
        false => "any".to_string(),
    }
}

/// The section of the text.
pub(super) fn write(loops: &[Loop], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if loops.is_empty() {
        return Ok(());
    }
    writeln!(f, "\nrouting loops")?;
    for found in loops {
        let Boundary {
            switches,
            ttl,
            slowest,
            passes,
            paper_bps,
            exact_bps,
        } = found.boundary;
        writeln!(f, "flow {}: {}", found.flow, found.switches.join(" > "))?;
        let (n, ttl) = (switches.to_string(), ttl.to_string());
        let (slowest, passes) = (slowest.to_string(), passes.to_string());
        let [paper, exact, own] = [
            paper_bps * found.frame_share,
            exact_bps * found.frame_share,
            found.rate_bps,
        ]
        .map(rate);
        let rows = [
            ["n", "switches of the loop", &n, "scenario"],
            ["TTL", "of every packet", &ttl, "scenario"],
            ["B", "the slowest link of the loop", &slowest, "scenario"],
            [
                "passes",
                "of a packet over its first link",
                &passes,
                "docs/ttl.md",
            ],
            ["r", "n B / TTL", &paper, "hn16 3.1"],
            [
                "r",
                "B / ceil((TTL - 1) / n), link by link",
                &exact,
                "docs/ttl.md",
            ],
            ["rate", "of the flow", &own, "scenario"],
        ];
        write_table(f, &rows)?;
        writeln!(f, "  {}", found.verdict.sentence())?;
    }
    Ok(())
}
