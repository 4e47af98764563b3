//! PL704, bounced-packets-are-lossy: bounced packets use priorities that a port does not pause, or has no headroom for.

use crate::database::Row;
use crate::fabric::Fabric;
use crate::fix::Field;
use crate::rule::prelude::*;
use crate::switch::BOUNCED;
use crate::switch::bounce::Bounce;
use crate::switch::chain::bit;

/// The declaration of this rule.
pub const RULE: Rule = Rule {
    id: "PL704",
    name: "bounced-packets-are-lossy",
    severity: Severity::Error,
    sentence: "Bounced packets use priorities that a port does not pause, or has no headroom for.",
    why: "With tunnel_qos_remap the standby ToR sends them in 2 and 6. The uplinks of both ToRs need them, and the ports of the leaf to the ToRs.",
    fix: "pfc_enable \"2,3,4,6\" there",
    released: "Never on a released template.",
    evidence: "BI 10608",
    good: &[set("dual0", "/PORT_QOS_MAP/Ethernet0/pfc_enable", r#""3,4""#)],
    bad: &[
        set("dual0", "/PORT_QOS_MAP/Ethernet48/pfc_enable", r#""3,4""#),
        unset("dual0", "/BUFFER_PG/Ethernet48|2-4"),
        unset("dual0", "/BUFFER_PG/Ethernet48|6"),
        set(
            "dual0",
            "/BUFFER_PG/Ethernet48|3-4",
            r#"{"profile": "pg_lossless_100000_40m_profile"}"#,
        ),
    ],
    also: &["PL608"],
    check: Check::Fabric(check),
};

fn check(fabric: &Fabric, found: &mut Found) {
    for switch in fabric.switches.iter().filter(|switch| is_remapped_pair(switch)) {
        look_at_tunnels(switch, found);
        for port in switch.pausing() {
            if switch.kind_of_neighbour(port).contains("Leaf") {
                look(switch, port, found);
            }
        }
    }
    for cable in fabric.cables.iter().flat_map(|cable| cable.both()) {
        let (here, far) = (cable.a, cable.b);
        if is_remapped_pair(far.switch) && here.switch.role().contains("Leaf") {
            look(here.switch, here.port, found);
        }
    }
}

/// Whether a switch is one of a pair whose bounced packets have priorities of their own.
fn is_remapped_pair(switch: &Switch) -> bool {
    let has_map = |row: Row| row.get("encap_tc_to_queue_map").is_some();
    switch.remaps_tunnels && switch.is_dual() && switch.config.rows("TUNNEL").any(has_map)
}

/// Bounced packets that get a DSCP or a queue that no PAUSE stops.
fn look_at_tunnels(switch: &Switch, found: &mut Found) {
    let lossless = switch.uplink().map_or(0, |uplink| switch.lossless_queues(uplink));
    for row in switch.config.rows("TUNNEL") {
        for bounce in switch.bounces(row) {
            let Bounce { class, dscp, queue, .. } = bounce;
            let (field, kind, message) = if lossless & bit(queue) == 0 {
                let message = format!("bounced packets of class {class} wait in queue {queue}");
                ("encap_tc_to_queue_map", MapKind::TcToQueue, message)
            } else if bounce.stopped == 0 {
                let message = format!("bounced packets of class {class} get DSCP {dscp}");
                ("encap_tc_to_dscp_map", MapKind::TcToDscp, message)
            } else {
                continue;
            };
            let message = format!("{message}, which no PAUSE stops");
            let place = Place::of(row, field);
            let mut finding = found.about(switch, row.key().text, place, message);
            let map = switch.tunnel_map(row, field, kind);
            finding.related.extend(map.map(|map| Place::row(map.row)));
            finding.related.push(Place::of(row, "encap_tc_to_queue_map"));
            found.push(finding);
        }
    }
}

fn look(switch: &Switch, port: &Port, found: &mut Found) {
    let Some(row) = port.qos else {
        return;
    };
    let without = BOUNCED & !port.pfc();
    if without != 0 {
        let message = format!("bounced packets use {}, without PFC", list(without));
        let finding = found.at_port(switch, port, Place::of(row, "pfc_enable"), message);
        let all = list(port.pfc() | BOUNCED);
        found.push(finding.patch([Op::set("PORT_QOS_MAP", row.key().text, "pfc_enable", all)]));
        return;
    }
    let bare = bits(BOUNCED.into()).filter(|priority| {
        let group = switch.priority_to_group(port, *priority);
        switch.has_lossless && !switch.has_headroom(port, group)
    });
    let bare = bare.fold(0u8, |mask, priority| mask | 1 << priority);
    if bare != 0 {
        let message = format!("bounced packets use {}, without headroom", list(bare));
        let place = Place::of(row, "pfc_enable");
        let finding = found.at_port(switch, port, place, message);
        let profile = switch.lossless_profile(port);
        let unbound = bits(bare.into()).map(|priority| switch.priority_to_group(port, priority));
        let unbound = unbound.filter(|group| port.group(*group).is_none());
        let patch = profile.into_iter().flat_map(|profile| {
            let field = Field { name: "profile", value: profile };
            let row =
                move |group| Op::row("BUFFER_PG", &format!("{}|{group}", port.name), &[field]);
            unbound.clone().map(row).collect::<Vec<_>>()
        });
        let patch = Vec::from_iter(patch);
        found.push(finding.patch(patch));
    }
}
