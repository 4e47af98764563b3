//! PL705, tunnel-is-half-remapped: A tunnel that remaps classes copies the DSCP, lacks a map, or has maps that disagree.

use crate::database::Row;
use crate::rule::prelude::*;
use crate::switch::bounce::Bounce;

/// The declaration of this rule.
pub const RULE: Rule = Rule {
    id: "PL705",
    name: "tunnel-is-half-remapped",
    severity: Severity::Warning,
    sentence: "A tunnel that remaps classes copies the DSCP, lacks a map, or has maps that disagree.",
    why: "Bounced packets then arrive in the class that they were sent in, or in class 0, and not in the one that was kept for them. The maps are followed for each lossless class, as the uplinks have it: PAUSE for the DSCP that it gets must stop the queue in which it waits; after the tunnel it must be of the class that it was before, and held in the group that pauses that DSCP.",
    fix: "dscp_mode pipe; set all four maps",
    released: "Never on a released template.",
    evidence: "SO 950",
    good: &[set("dual0", "/TUNNEL/MuxTunnel0/ttl_mode", r#""uniform""#)],
    bad: &[set("dual0", "/TUNNEL/MuxTunnel0/dscp_mode", r#""uniform""#)],
    also: &[],
    check: Check::Switch(check),
};

fn check(switch: &Switch, found: &mut Found) {
    if !switch.remaps_tunnels || !switch.is_dual() {
        return;
    }
    for row in switch.config.rows("TUNNEL") {
        if row.get("encap_tc_to_queue_map").is_none() {
            continue;
        }
        let name = row.key().text;
        if row.get("dscp_mode").is_some_and(|mode| mode.text == "uniform") {
            let message = "dscp_mode uniform, with classes remapped".to_string();
            let finding = found.about(switch, name, Place::of(row, "dscp_mode"), message);
            found.push(finding.patch([Op::set("TUNNEL", name, "dscp_mode", "pipe")]));
        }
        let maps = ["encap_tc_to_dscp_map", "decap_dscp_to_tc_map", "decap_tc_to_pg_map"];
        for field in maps.into_iter().filter(|field| row.get(field).is_none()) {
            let finding = found.about(
                switch,
                name,
                Place::row(row),
                format!("no {field}, with classes remapped"),
            );
            let other = row.get("encap_tc_to_queue_map").map(|name| name.reference().text);
            found.push(finding.patch(other.map(|other| Op::set("TUNNEL", name, field, other))));
        }
        disagreements(switch, row, found);
    }
}

/// Maps of a tunnel of which one undoes what the other does.
fn disagreements(switch: &Switch, row: Row, found: &mut Found) {
    // That no PAUSE stops them at all is PL704's.
    for bounce in switch.bounces(row).into_iter().filter(|bounce| bounce.stopped != 0) {
        let Bounce { class, dscp, queue, pausing_group, group, .. } = bounce;
        let uplink = switch.uplink().and_then(|port| switch.map_at(port, MapKind::DscpToTc));
        let mut disagree = |field: &str, kind: MapKind, message: String| {
            let mut finding = found.about(switch, row.key().text, Place::of(row, field), message);
            finding.related.extend(uplink.map(|map| Place::row(map.row)));
            let map = switch.tunnel_map(row, field, kind).map(|map| Place::row(map.row));
            found.push(map.into_iter().fold(finding, |finding, place| finding.beside(place)));
        };
        if !bounce.is_stopped() {
            let message = format!(
                "class {class} waits in queue {queue} with DSCP {dscp}, whose PAUSE stops another"
            );
            disagree("encap_tc_to_queue_map", MapKind::TcToQueue, message);
        }
        if let Some((inner, after)) = bounce.other_class {
            let message = format!("DSCP {inner} is class {class}, and {after} after the tunnel");
            disagree("decap_dscp_to_tc_map", MapKind::DscpToTc, message);
        }
        if group != pausing_group {
            let message = format!(
                "class {class} is held in group {group} after the tunnel, but group \
                 {pausing_group} pauses its DSCP {dscp}"
            );
            disagree("decap_tc_to_pg_map", MapKind::TcToGroup, message);
        }
    }
}
