//! PL703, bounced-packets-keep-their-priority: packets that the standby ToR of a pair sends back keep their priority.

use super::pl101::TUNNEL_MAPS;
use crate::rule::prelude::*;
use crate::switch::QosMap;
use crate::switch::chain::bit;

/// The declaration of this rule.
pub const RULE: Rule = Rule {
    id: "PL703",
    name: "bounced-packets-keep-their-priority",
    severity: Severity::Warning,
    sentence: "Packets that the standby ToR of a pair sends back keep their priority.",
    why: "They go up in the class in which they came down, so buffers of leaf and ToRs can wait for each other in a circle: a deadlock. The tunnel has no encap_tc_to_queue_map, or one that leads a lossless class to a queue of ordinary lossless packets.",
    fix: "enable tunnel_qos_remap",
    released: "Never on a released template.",
    evidence: "SO 950",
    good: &[set("dual0", "/TC_TO_QUEUE_MAP/AZURE_TUNNEL/0", r#""1""#)],
    bad: &[
        unset("dual0", "/TUNNEL/MuxTunnel0/encap_tc_to_queue_map"),
        unset("dual0", "/TUNNEL/MuxTunnel0/encap_tc_to_dscp_map"),
        unset("dual0", "/TUNNEL/MuxTunnel0/decap_dscp_to_tc_map"),
        unset("dual0", "/TUNNEL/MuxTunnel0/decap_tc_to_pg_map"),
    ],
    also: &[],
    check: Check::Switch(check),
};

fn check(switch: &Switch, found: &mut Found) {
    let Some(uplink) = switch.uplink().filter(|_| switch.is_dual()) else {
        return;
    };
    let lossless = switch.ordinary_classes(uplink);
    let queues = bits(lossless).map(|class| switch.tc_to_queue(uplink, class));
    let queues = queues.fold(0, |mask, queue| mask | bit(queue));
    for row in switch.config.rows("TUNNEL") {
        let field = "encap_tc_to_queue_map";
        let map =
            row.get(field).and_then(|name| switch.map(MapKind::TcToQueue, name.reference().text));
        // A bounced packet must wait for none of the queues in which packets come down.
        let queue_of = |map: &QosMap, class| map.entries.get(&class).copied().unwrap_or(class);
        let kept = match map {
            None => true,
            Some(map) => bits(lossless).any(|class| queues & bit(queue_of(map, class)) != 0),
        };
        if !kept {
            continue;
        }
        let peer =
            switch.config.rows("PEER_SWITCH").next().map_or("its peer", |row| row.key().text);
        let message = format!(
            "bounced packets keep their priority: leaf switches, {} and {peer} can deadlock",
            switch.name
        );
        let name = row.key().text;
        if let (Some(remap), Some(_)) = (switch.remap_that_is_off(), map) {
            // The maps are there, and wait for being switched on.
            let place = Place::of(remap, "status");
            let finding = found.about(switch, name, place, message);
            let on = Op::set("SYSTEM_DEFAULTS", remap.key().text, "status", "enabled");
            found.push(finding.beside(Place::row(remap)).patch([on]));
            continue;
        }
        let finding = found.about(switch, name, Place::of(row, field), message);
        let places = map.map(|map| Place::row(map.row));
        let finding = places.into_iter().fold(finding, |finding, place| finding.beside(place));
        let is_there = switch.map(MapKind::TcToQueue, TUNNEL_MAP).is_some();
        let maps = TUNNEL_MAPS.iter().filter(|(_, kind)| switch.map(*kind, TUNNEL_MAP).is_some());
        let patch = maps.map(|(field, _)| Op::set("TUNNEL", name, field, TUNNEL_MAP));
        let patch = Vec::from_iter(patch);
        found.push(finding.patch(if is_there { patch } else { Vec::new() }));
    }
}

/// The name that released templates give all maps of the tunnel.
const TUNNEL_MAP: &str = "AZURE_TUNNEL";
