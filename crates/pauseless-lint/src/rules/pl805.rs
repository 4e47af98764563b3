//! PL805, roce-uses-a-lossy-dscp: roCE is told to use a code point that is lossy at a switch.

use crate::fabric::{Fabric, HostPort};
use crate::host::Host;
use crate::rule::prelude::*;

/// The declaration of this rule.
pub const RULE: Rule = Rule {
    id: "PL805",
    name: "roce-uses-a-lossy-dscp",
    severity: Severity::Error,
    sentence: "RoCE is told to use a code point that is lossy at a switch.",
    why: "The code point is the traffic class shifted by two: its low two bits are ECN. Looked at are cma_roce_tos, NCCL_IB_TC, UCX_IB_TRAFFIC_CLASS and traffic_class of sysfs, and the ports of the host as well as those of the other switches. DSCP 24 and 26, which most guides for NICs use, are lossy in the templates of SONiC.",
    fix: "mark with a lossless DSCP << 2, or map this one on all switches",
    released: "Needs a file of a host, which no template has.",
    evidence: "ucx 10325, ROCm/mori 362",
    good: &[set("srv0.nccl", "NCCL_IB_TC=12", r#""NCCL_IB_TC=16""#)],
    bad: &[set("srv0.nccl", "NCCL_IB_TC=12", r#""NCCL_IB_TC=106""#)],
    also: &[],
    check: Check::Host(check),
};

fn check(host: &Host, fabric: &Fabric, found: &mut Found) {
    let own = fabric.ports_of(host);
    for given in &host.dscps {
        let dscp = given.value;
        let is_lossy = |at: &&HostPort| {
            at.switch.config.has("DSCP_TO_TC_MAP") && !at.switch.is_paused(at.port, dscp)
        };
        let others = fabric
            .switches
            .iter()
            .flat_map(|switch| switch.pausing().map(move |port| HostPort { switch, port }));
        let others = Vec::from_iter(others);
        let Some(at) = own.iter().find(is_lossy).or_else(|| others.iter().find(is_lossy)) else {
            continue;
        };
        let class = at.switch.dscp_to_tc(at.port, dscp);
        let message = format!(
            "RoCE uses DSCP {dscp}, lossy at {}:{} (TC {class})",
            at.switch.name, at.port.name
        );
        let lossless = (0..64).filter(|dscp| at.switch.is_paused(at.port, *dscp));
        let classes = Vec::from_iter(lossless.map(|dscp: u8| (u16::from(dscp) << 2).to_string()));
        let mut finding = found.of(&host.name, given.place(), message);
        finding.device.clone_from(&host.name);
        if !classes.is_empty() {
            let classes = classes.join(" or ");
            finding.fix =
                format!("use traffic class {classes}, or map DSCP {dscp} on all switches");
        }
        let map = at.switch.map_at(at.port, MapKind::DscpToTc);
        found.push(match map {
            Some(map) => finding.beside(Place::of(map.row, &dscp.to_string())),
            None => finding,
        });
    }
}
