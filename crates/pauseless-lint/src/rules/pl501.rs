//! PL501, pfc-without-watchdog: A port pauses and has no watchdog.

use crate::fix::Field;
use crate::rule::prelude::*;

/// The declaration of this rule.
pub const RULE: Rule = Rule {
    id: "PL501",
    name: "pfc-without-watchdog",
    severity: Severity::Warning,
    sentence: "A port pauses and has no watchdog.",
    why: "One NIC that pauses without end then stops the fabric. There is no row in PFC_WD, and other ports have one or default_pfcwd_status is not enable: the default is started once, for all ports.",
    fix: "pfcwd start_default",
    released: "Never on a released template.",
    evidence: "G16",
    good: &[unset("tor0", "/PFC_WD")],
    bad: &[unset("tor0", "/PFC_WD/Ethernet0")],
    also: &[],
    check: Check::Port(check),
};

fn check(switch: &Switch, port: &Port, found: &mut Found) {
    let Some(row) = port.qos.filter(|_| port.pfc() != 0 && port.watchdog.is_none()) else {
        return;
    };
    // Half a file says nothing about the other half.
    if switch.metadata().is_none() {
        return;
    }
    // What is enabled by default is started for all ports at once, before anybody removes a row.
    let is_watched = |other: &Port| other.watchdog.is_some() && other.row.is_some();
    let others = switch.ports.iter().filter(|other| is_watched(other)).count();
    if switch.about("default_pfcwd_status") == "enable" && others == 0 {
        return;
    }
    let message = match others {
        0 => "PFC without watchdog".to_string(),
        1 => "PFC without watchdog, which another port has".to_string(),
        others => format!("PFC without watchdog, which {others} other ports have"),
    };
    let finding = found.at_port(switch, port, Place::of(row, "pfcwd_sw_enable"), message);
    let watchdog = switch.ports.iter().find_map(|other| other.watchdog);
    let patch = watchdog.map(|watchdog| {
        let fields = watchdog.row.fields();
        let fields = fields.map(|(name, value)| Field { name: name.text, value: value.text });
        Op::row("PFC_WD", port.name, &Vec::from_iter(fields))
    });
    found.push(finding.patch(patch));
}
