//! PL306, pools-do-not-fit: pools and reserved groups take more than the memory has.

use crate::rule::prelude::*;

/// The declaration of this rule.
pub const RULE: Rule = Rule {
    id: "PL306",
    name: "pools-do-not-fit",
    severity: Severity::Warning,
    sentence: "Pools and reserved groups take more than the memory has.",
    why: "What does not fit is refused by the SDK when it is configured, and a part of the buffers is not there. On Mellanox the sizes of all groups and the ingress pools are held against mmu_size of STATE_DB, or against egress_lossless_pool, which has all of it. Elsewhere the accounting differs, and only mmu_size counts.",
    fix: "smaller pools",
    released: "5 SKUs, with fixed pools and more ports in use than they were made for, as here with all ports up.",
    evidence: "src: cfgmgr/buffer_pool_mellanox.lua",
    good: &[],
    bad: &[set("tor0", "/BUFFER_POOL/ingress_lossless_pool/size", r#""60800000""#)],
    also: &[],
    check: Check::Switch(check),
};

fn check(switch: &Switch, found: &mut Found) {
    let limits = switch.state.into_iter().flat_map(|state| state.rows("BUFFER_MAX_PARAM"));
    let tables = switch.state.into_iter().flat_map(|state| state.rows("BUFFER_MAX_PARAM_TABLE"));
    let mut limits = limits.chain(tables).filter(|row| row.key().text == "global");
    let memory = limits.find_map(|row| row.get("mmu_size")?.number());
    let whole = switch.pools.get("egress_lossless_pool").and_then(|pool| pool.size);
    let whole = whole.filter(|_| switch.vendor == Vendor::Mellanox);
    let Some(memory) = memory.or(whole) else {
        return;
    };
    let ingress = switch.pools.values().filter(|pool| pool.direction == "ingress");
    let pools: u64 = ingress.clone().filter_map(|pool| pool.size).fold(0, u64::saturating_add);
    let bindings = switch.ports.iter().flat_map(|port| &port.groups);
    let reserved = bindings.filter_map(|binding| {
        let size = switch.profile_of(binding)?.size?;
        Some(size.saturating_mul(binding.all().count() as u64))
    });
    let taken = reserved.fold(pools, u64::saturating_add);
    let Some(pool) = ingress.max_by_key(|pool| pool.size).filter(|_| taken > memory) else {
        return;
    };
    let message = format!("pools and reserved groups take {taken} B of {memory} B");
    let finding = found.about(switch, &switch.name, Place::of(pool.row, "size"), message);
    found.push(finding);
}
