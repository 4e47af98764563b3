//! PL303, no-headroom-is-made: A port that pauses has no cable length, or one for which no headroom is known.

use crate::database::quoted;
use crate::rule::prelude::*;
use crate::rules::pl107::is_misspelled;
use crate::switch::BufferModel;

/// The declaration of this rule.
pub const RULE: Rule = Rule {
    id: "PL303",
    name: "no-headroom-is-made",
    severity: Severity::Error,
    sentence: "A port that pauses has no cable length, or one for which no headroom is known.",
    why: "buffermgr makes a lossless group only for a speed and a length that pg_profile_lookup.ini has, and writes an error to syslog otherwise; PFC stays on. The second is decided only if that file is among those that are read.",
    fix: "set the length, or add the row",
    released: "29 SKUs, all for service ports of 10G or 25G that their lookup file has no row for: PFC is on there without headroom, as PL201 says.",
    evidence: "BI 5837, SW 465, BI 25606",
    good: &[],
    bad: &[unset("tor0", "/CABLE_LENGTH/AZURE/Ethernet0")],
    also: &[],
    check: Check::Port(check),
};

fn check(switch: &Switch, port: &Port, found: &mut Found) {
    let Some(row) = port.qos.filter(|_| port.pfc() != 0 && switch.has_ports) else {
        return;
    };
    if !port.is_up() || port.is_internal() {
        return;
    }
    let Some(cable) = port.cable.filter(|cable| cable.metres.is_some()) else {
        let table = switch.config.rows("CABLE_LENGTH").next();
        if table.is_none() && is_misspelled(switch, "CABLE_LENGTH") {
            return;
        }
        let place = match port.cable.map(|cable| cable.row).or(table) {
            Some(table) => Place::of(table, port.name),
            None => Place::of(row, "pfc_enable"),
        };
        let table = table.map_or("AZURE", |row| row.key().text).to_string();
        let message = match port.cable {
            Some(cable) => {
                format!("cable length {} is none, such as 40m", quoted(cable.value.text))
            }
            None => "no cable length".to_string(),
        };
        let finding = found.at_port(switch, port, place, message);
        let made = port.groups.iter().filter_map(|one| switch.profile_of(one)?.made_for());
        let made = made.map(|made| made.metres).next();
        let usual = made.or_else(|| switch.usual(port, |other| other.metres()));
        let usual = usual.filter(|metres| *metres > 0);
        found.push(finding.patch(
            usual.map(|metres| Op::set("CABLE_LENGTH", &table, port.name, format!("{metres}m"))),
        ));
        return;
    };
    let (Some(lookup), Some(speed), Some(metres)) = (switch.lookup, port.speed(), cable.metres)
    else {
        return;
    };
    let has_row = lookup
        .iter()
        .any(|row| (u64::from(row.speed_mbps), u64::from(row.cable_m)) == (speed, metres));
    let is_bound = bits(switch.pausing_groups(port).into()).all(|g| switch.has_headroom(port, g));
    let is_traditional = switch.model == BufferModel::Traditional;
    if metres > 0 && !has_row && !is_bound && is_traditional {
        let message =
            format!("no row for {speed} {metres}m in pg_profile_lookup.ini; no headroom is made");
        found.push(found.at_port(switch, port, Place::of(cable.row, port.name), message));
    }
}
