//! PL703, bounced-packets-keep-their-priority: packets that the standby ToR of a pair sends back keep their priority.

use crate::rule::prelude::*;

/// The declaration of this rule.
pub const RULE: Rule = Rule {
    id: "PL703",
    name: "bounced-packets-keep-their-priority",
    severity: Severity::Warning,
    sentence: "Packets that the standby ToR of a pair sends back keep their priority.",
    why: "They go up in the class in which they came down, so buffers of leaf and ToRs can wait for each other in a circle: a deadlock. The tunnel has no encap_tc_to_queue_map, or one that leads a lossless class to itself.",
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
    let Some(first) = switch.pausing().next().filter(|_| switch.is_dual()) else {
        return;
    };
    let lossless = switch.lossless_classes(first);
    for row in switch.config.rows("TUNNEL") {
        let field = "encap_tc_to_queue_map";
        let map =
            row.get(field).and_then(|name| switch.map(MapKind::TcToQueue, name.reference().text));
        let kept = match map {
            None => true,
            Some(map) => bits(lossless).any(|class| {
                let queue = map.entries.get(&class).copied().unwrap_or(class);
                class != 2 && class != 6 && queue == switch.tc_to_queue(first, class)
            }),
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
        let finding = found.about(switch, name, Place::of(row, field), message);
        let is_there = switch.map(MapKind::TcToQueue, TUNNEL_MAP).is_some();
        let maps = TUNNEL_MAPS.iter().filter(|map| map.exists(switch));
        let patch = maps.map(|map| Op::set("TUNNEL", name, map.field, TUNNEL_MAP));
        let patch = Vec::from_iter(patch);
        found.push(finding.patch(if is_there { patch } else { Vec::new() }));
    }
}

/// A map of a tunnel, by field and kind.
struct TunnelMap {
    field: &'static str,
    kind: MapKind,
}

impl TunnelMap {
    fn exists(&self, switch: &Switch) -> bool {
        switch.map(self.kind, TUNNEL_MAP).is_some()
    }
}

/// The name that released templates give all maps of the tunnel.
const TUNNEL_MAP: &str = "AZURE_TUNNEL";
const TUNNEL_MAPS: [TunnelMap; 4] = [
    TunnelMap { field: "encap_tc_to_queue_map", kind: MapKind::TcToQueue },
    TunnelMap { field: "encap_tc_to_dscp_map", kind: MapKind::TcToDscp },
    TunnelMap { field: "decap_dscp_to_tc_map", kind: MapKind::DscpToTc },
    TunnelMap { field: "decap_tc_to_pg_map", kind: MapKind::TcToGroup },
];
