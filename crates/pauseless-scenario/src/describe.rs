//! The whole of a scenario file and of a fabric file, for documents and schemas.

use super::check_only::CheckKeys;
use super::flows::{FLOW, Flow, TIMING, Timing};
use super::mitigation::{Limit, WatchdogKeys};
use super::observe::{Probe, Provenance, ReceiverKeys};
use super::weights::WeightedPorts;
use super::wire_loss::LossyPorts;
use super::{
    General, classes, congestion, entropy, events, flow_control, load_balancing, mitigation,
    observe, routing, switch, topology, traffic, transport, verdict, weights, wire_loss,
};
use pauseless_text::declare::{Declared, Fallback, Info, KeyInfo, Kind};

/// Every key and section of a scenario file, in the order of the documents.
pub fn info() -> Info {
    let about = "A scenario: a fabric, its switches, its flows, and what to record.";
    let plain = CheckKeys::keys().into_iter().filter(|key| !key.kind.is_section());
    Info {
        keys: General::keys().into_iter().chain(plain).chain(sections()).collect(),
        ..Info::without_keys(about)
    }
}

/// The sections of a fabric file, of which `check` and `plan` need the fabric only.
pub fn fabric_info() -> Info {
    let about = "A fabric: nodes, links, routes, classes, and which packets there are.";
    let optional = |key: KeyInfo| match key.fallback {
        Fallback::Required(_) if key.name != topology::NAME => {
            KeyInfo { fallback: Fallback::Absent, ..key }
        }
        _ => key,
    };
    let keys = General::keys().into_iter().chain(CheckKeys::keys());
    Info { keys: keys.chain(sections()).map(optional).collect(), ..Info::without_keys(about) }
}

fn sections() -> Vec<KeyInfo> {
    let one = |name, info| KeyInfo::section(name, Kind::Table(Box::new(info)));
    let many = |name, info| KeyInfo::section(name, Kind::Tables(Box::new(info)));
    vec![
        one(topology::NAME, topology::info()).required(),
        one(routing::NAME, routing::info()),
        one(classes::NAME, classes::info()),
        one(switch::SECTION, switch::info()),
        one(flow_control::SECTION, flow_control::info()).required(),
        one(congestion::SECTION, congestion::info()),
        one(transport::SECTION, transport::info()),
        one(entropy::SECTION, entropy::info()),
        many(FLOW, Flow::info()),
        KeyInfo::section(traffic::SECTION, Kind::TablesOrOne(Box::new(traffic::info()))),
        one(TIMING, Timing::info()),
        many(wire_loss::SECTION, LossyPorts::info()),
        many(observe::RECEIVER, ReceiverKeys::info()),
        one(mitigation::WATCHDOG, WatchdogKeys::info()),
        one(mitigation::RECOVERY, mitigation::recovery_info()),
        many(mitigation::RATE_LIMIT, Limit::info()),
        many(load_balancing::SECTION, load_balancing::info()),
        many(weights::SECTION, WeightedPorts::info()),
        many(events::EVENT, events::info()),
        one(events::CONVERGE, events::Converge::info()),
        one(observe::PROBE, Probe::info()),
        one(observe::PROVENANCE, Provenance::info()),
        one(verdict::SECTION, verdict::info()),
    ]
}
