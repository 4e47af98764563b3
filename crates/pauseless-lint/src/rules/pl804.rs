//! PL804, nic-does-not-pause-the-class: A NIC gives a lossless code point a priority that it does not pause.

use crate::fabric::Fabric;
use crate::host::Host;
use crate::rule::prelude::*;

/// The declaration of this rule.
pub const RULE: Rule = Rule {
    id: "PL804",
    name: "nic-does-not-pause-the-class",
    severity: Severity::Error,
    sentence: "A NIC gives a lossless code point a priority that it does not pause.",
    why: "What it receives in it is dropped when its buffer is full, and what it sends does not stop. Without a map of its own a NIC takes the upper three bits, so DSCP 3 is priority 0.",
    fix: "`mlnx_qos --dscp2prio set,D,P`",
    released: "Needs a file of a host, which no template has.",
    evidence: "mlnx_qos and dcb(8)",
    good: &[set(
        "srv0.mlnx_qos",
        "prio:0 dscp:07,06,05,02,01,00,",
        r#""prio:0 dscp:07,06,05,02,01,00,""#,
    )],
    bad: &[set("srv0.mlnx_qos", "prio:3 dscp:03,", r#""prio:0 dscp:03,""#)],
    also: &[],
    check: Check::Host(check),
};

fn check(host: &Host, fabric: &Fabric, found: &mut Found) {
    let Some(map) = host.priorities else {
        return;
    };
    let Some(pfc) = host.pfc.iter().map(|given| given.value).reduce(|a, b| a | b) else {
        return;
    };
    let ports = fabric.ports_of(host);
    let mut used: Vec<u8> = host.dscps.iter().map(|given| given.value).collect();
    if used.is_empty() {
        let lossless = |dscp: &u8| {
            ports.iter().any(|at| {
                let class = at.switch.dscp_to_tc(at.port, *dscp);
                at.switch.is_lossless(at.port, *dscp) && at.switch.bounced() & 1 << (class & 7) == 0
            })
        };
        used = (0..64).filter(lossless).collect();
    }
    used.sort_unstable();
    used.dedup();
    for dscp in used {
        let priority = map.value[usize::from(dscp)];
        if pfc & 1 << priority != 0 || pfc == 0 && !ports.is_empty() {
            continue;
        }
        let message = format!("DSCP {dscp} is priority {priority}, without PFC");
        let mut finding = found.of(&host.name, map.place(), message);
        finding.device.clone_from(&host.name);
        finding.fix = format!("`mlnx_qos --dscp2prio set,{dscp},P` with a priority P that pauses");
        found.push(finding);
    }
}
