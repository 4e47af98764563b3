//! PL316, headroom-for-smaller-packets: headroom is computed for smaller lossless packets than hosts send.

use crate::fabric::Fabric;
use crate::host::Host;
use crate::rule::prelude::*;
use crate::switch::BufferModel;

/// The declaration of this rule.
pub const RULE: Rule = Rule {
    id: "PL316",
    name: "headroom-for-smaller-packets",
    severity: Severity::Warning,
    sentence: "Headroom is computed for smaller lossless packets than hosts send.",
    why: "The dynamic model counts one packet of LOSSLESS_TRAFFIC_PATTERN mtu that has begun when the PAUSE arrives; RoCE with a larger MTU sends a longer one.",
    fix: "set mtu in LOSSLESS_TRAFFIC_PATTERN to the MTU of RoCE",
    released: "Only with a file of a host, which no template has.",
    evidence: "src: cfgmgr/buffer_headroom_mellanox.lua",
    good: &[
        set("dyn0", "/LOSSLESS_TRAFFIC_PATTERN/AZURE/mtu", r#""4096""#),
        set("srv0.devinfo", "", r#""active_mtu: 4096 (5)""#),
    ],
    bad: &[set("srv0.devinfo", "", r#""active_mtu: 4096 (5)""#)],
    also: &[],
    check: Check::Host(check),
};

fn check(host: &Host, fabric: &Fabric, found: &mut Found) {
    let Some(given) = host.roce_mtu else {
        return;
    };
    for switch in fabric.switches {
        if switch.model != BufferModel::Dynamic {
            continue;
        }
        for row in switch.config.rows("LOSSLESS_TRAFFIC_PATTERN") {
            let Some(mtu) = row.get("mtu").and_then(|mtu| mtu.number()) else {
                continue;
            };
            if given.value <= mtu {
                continue;
            }
            let message = format!(
                "headroom is computed for lossless packets of {mtu} B, {} sends {}",
                host.name, given.value
            );
            let place = Place::of(row, "mtu");
            let finding = found.about(switch, &switch.name, place, message);
            let op = Op::set(row.table(), row.key().text, "mtu", given.value.to_string());
            found.push(finding.beside(given.place()).patch([op]));
        }
    }
}
