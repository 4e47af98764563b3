//! PL306, pools-do-not-fit: pools and reserved groups take more than the memory has.

use crate::pool::{Division, memory, most_of_port, most_shared, reserved_by, shared_by};
use crate::rule::prelude::*;
use crate::switch::BufferModel;

/// The declaration of this rule.
pub const RULE: Rule = Rule {
    id: "PL306",
    name: "pools-do-not-fit",
    severity: Severity::Warning,
    sentence: "Pools and reserved groups take more than the memory has.",
    why: "What does not fit is refused by the SDK when it is configured, and a part of the buffers is not there. On Mellanox the sizes of all groups and the ingress pools are held against mmu_size of STATE_DB, or against egress_lossless_pool, which has all of it. Elsewhere the accounting differs, and only mmu_size counts. With the dynamic model the headroom of every group is calculated first, and held against max_headroom_size of a port, too; what a port may take of the shared headroom, against port_max_shp and port_reserved_shp of STATE_DB.",
    fix: "smaller pools",
    released: "5 SKUs, with fixed pools and more ports in use than they were made for, as here with all ports up.",
    evidence: "src: cfgmgr/buffer_pool_mellanox.lua",
    good: &[],
    bad: &[set("tor0", "/BUFFER_POOL/ingress_lossless_pool/size", r#""60800000""#)],
    also: &[],
    check: Check::Switch(check),
};

fn check(switch: &Switch, found: &mut Found) {
    for port in &switch.ports {
        crowded_port(switch, port, found);
    }
    if switch.model == BufferModel::Dynamic {
        let Some(division) = Division::of(switch).filter(|one| one.pool().is_none()) else {
            return;
        };
        let Division { memory, occupied, shared } = division;
        let message = format!("reserved groups take {} B of {memory} B", occupied + shared);
        let row = switch.metadata();
        let place = row.map_or_else(Place::default, |row| Place::of(row, "buffer_model"));
        found.push(found.about(switch, &switch.name, place, message));
        return;
    }
    let is_known = switch.vendor == Vendor::Mellanox || switch.state.is_some();
    let Some(memory) = memory(switch).filter(|_| is_known) else {
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

/// A port whose groups are more than the chip gives one port: the last change is refused, while
/// CONFIG_DB keeps it.
fn crowded_port(switch: &Switch, port: &Port, found: &mut Found) {
    let Some(binding) = port.groups.first() else {
        return;
    };
    let takes = [
        ("groups reserve", reserved_by(switch, port).zip(most_of_port(switch, port))),
        ("groups take of the shared headroom", shared_by(switch, port).zip(most_shared(switch))),
    ];
    for (what, taken) in takes {
        if let Some((taken, most)) = taken.filter(|(taken, most)| taken >= most) {
            let message = format!("{what} {taken} B, the chip gives a port {most} B");
            found.push(found.at_port(switch, port, Place::row(binding.row), message));
        }
    }
}
