//! PL806, gid-of-roce-v1: the GID that is used is RoCE v1: no IP header, no DSCP.

use crate::fabric::Fabric;
use crate::host::{Gid, Given, Host};
use crate::rule::prelude::*;

/// The declaration of this rule.
pub const RULE: Rule = Rule {
    id: "PL806",
    name: "gid-of-roce-v1",
    severity: Severity::Error,
    sentence: "The GID that is used is RoCE v1: no IP header, no DSCP.",
    why: "Such packets are classified by nothing that a routed fabric looks at.",
    fix: "the index of a row with v2",
    released: "Needs a file of a host, which no template has.",
    evidence: "nccl 769",
    good: &[],
    bad: &[set("srv0.nccl", "NCCL_IB_GID_INDEX=3", r#""NCCL_IB_GID_INDEX=2""#)],
    also: &[],
    check: Check::Host(check),
};

fn check(host: &Host, _: &Fabric, found: &mut Found) {
    let Some(index) = host.gid_index else {
        return;
    };
    let is_v1 = |gid: &&Given<Gid>| gid.value.index == index.value && !gid.value.is_v2;
    if let Some(gid) = host.gids.iter().find(is_v1) {
        let message = format!("GID {} is RoCE v1: no IP header, no DSCP", index.value);
        let mut finding = found.of(&host.name, index.place(), message).beside(gid.place());
        finding.device.clone_from(&host.name);
        let v2 = host.gids.iter().filter(|gid| gid.value.is_v2).map(|gid| gid.value.index).max();
        if let Some(v2) = v2 {
            finding.fix = format!("index {v2}, which is v2");
        }
        found.push(finding);
    }
}
