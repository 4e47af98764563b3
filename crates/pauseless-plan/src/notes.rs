//! What the reader of a plan should know about links and routes.

use std::fmt::Write;

use pauseless_core::id::Class;
use pauseless_core::unit::Rate;
use pauseless_fabric::routing::Multipath;

use super::headroom::Reaction;
use super::ttl::Hops;
use super::{Request, SwitchPlan};
use pauseless_fabric::fabric::{Fabric, Medium, Origin};

/// What the files may not have said of the links.
pub(super) fn of_links(fabric: &Fabric, request: &Request, switches: &[SwitchPlan]) -> Vec<String> {
    let mut notes = Vec::new();
    let mut lines = switches.iter().flat_map(|switch| &switch.ports).map(|port| port.kind.line);
    if request.reaction == Reaction::Standard && lines.any(|line| line > LIMIT_LAST) {
        notes.push(FASTER.to_string());
    }
    if fabric.medium != Medium::InfiniBand {
        return notes;
    }
    if request.wire.is_none() {
        notes.push(NO_LENGTHS.to_string());
    }
    let ports = switches.iter().flat_map(|switch| &switch.ports);
    let mut slow = ports.filter(|port| port.kind.line <= RATE_BASE);
    if request.rate.is_none() && slow.next().is_some() {
        notes.push(BASE_SPEED.to_string());
    }
    notes
}

/// Notes that follow from the routes.
pub(super) fn of_routes(fabric: &Fabric, hops: &Hops, switches: &[SwitchPlan]) -> Vec<String> {
    if hops.has_loop {
        return vec![LOOP.to_string()];
    }
    let mut notes = Vec::new();
    let longest = hops.longest();
    if longest > Class::COUNT_MAX as u32 {
        notes.push(format!(
            "a packet can pass {longest} switches, so TTL-based buffer management needs {longest} \
             classes, and PFC has {}",
            Class::COUNT_MAX
        ));
    }
    let ttl = switches.iter().flat_map(|switch| &switch.ttl);
    let idle: usize = ttl.filter(|ttl| ttl.hops == 0).map(|ttl| ttl.members.len()).sum();
    if idle > 0 {
        let mut note = match idle {
            1 => "no route leads through 1 switch".to_string(),
            _ => format!("no route leads through {idle} switches"),
        };
        if is_single(fabric.origin) {
            let all = ": of equal paths the rule takes one; --routing ecmp takes all";
            note.write_str(all).expect("writing to a String never fails");
        }
        notes.push(note);
    }
    notes
}

/// Whether a rule takes one of several equal paths.
fn is_single(origin: Origin) -> bool {
    match origin {
        Origin::Rule(routing) => matches!(routing.multipath, Multipath::Single { .. }),
        Origin::Tables | Origin::Flows => false,
    }
}

/// Four lanes of the base speed, 2.5 Gb/s each.
const RATE_BASE: Rate = Rate::gbps(10);
const NO_LENGTHS: &str = "InfiniBand dumps have no lengths of cables; 20 m are assumed, \
    and --cable or --delay says otherwise";
const BASE_SPEED: &str = "some links are planned at 10 Gb/s or less; dumps may have only the base \
    speed, and --rate or an ibnetdiscover file says otherwise";
const LOOP: &str = "some routes go in a circle, so there is no plan of TTL classes: packets circle, \
    and hop classes would drop them after k hops, see docs/ttl.md";

/// The fastest rate of which the time to obey is not another one's in quanta.
const LIMIT_LAST: Rate = Rate::gbps(400);
const FASTER: &str = "above 400 Gb/s no standard gives the time to obey: reckoned with SONiC's 905 \
    quanta, which is half the time of 400 Gb/s; --quanta or --processing says otherwise";
