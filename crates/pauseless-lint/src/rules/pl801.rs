//! PL801, nic-pauses-other-priorities: A NIC pauses other priorities than the port it is cabled to.

use crate::fabric::Fabric;
use crate::host::Host;
use crate::rule::prelude::*;

/// The declaration of this rule.
pub const RULE: Rule = Rule {
    id: "PL801",
    name: "nic-pauses-other-priorities",
    severity: Severity::Error,
    sentence: "A NIC pauses other priorities than the port it is cabled to.",
    why: "PAUSE of the one means nothing to the other, as between switches.",
    fix: "the same list at both: `mlnx_qos --pfc` or pfc_enable",
    released: "Needs a file of a host, which no template has.",
    evidence: "src: the chain of maps",
    good: &[set(
        "srv0.mlnx_qos",
        "enabled     0   0   0   1   1   0   0   0",
        r#""enabled     0   0   0   1   1   0   0   0 ""#,
    )],
    bad: &[set(
        "srv0.mlnx_qos",
        "enabled     0   0   0   1   1   0   0   0",
        r#""enabled     0   0   0   0   0   1   0   0""#,
    )],
    also: &["PL804", "PL808"],
    check: Check::Host(check),
};

fn check(host: &Host, fabric: &Fabric, found: &mut Found) {
    let ports = fabric.ports_of(host);
    for given in &host.pfc {
        let wrong = ports.iter().filter(|at| {
            let list = at.port.pfc_enable.map_or(0, |list| list.meant);
            at.switch.config.has("PORT_QOS_MAP") && list != given.value
        });
        let wrong = Vec::from_iter(wrong);
        let Some(at) = wrong.first() else {
            continue;
        };
        let says = |mask: u8| if mask == 0 { "nothing".to_string() } else { list(mask) };
        let message = format!(
            "PFC in {}, {}:{} in {}{}",
            says(given.value),
            at.switch.name,
            at.port.name,
            says(at.port.pfc_enable.map_or(0, |list| list.meant)),
            and_more(wrong.len())
        );
        let mut finding = found.of(&host.name, given.place(), message);
        finding.device.clone_from(&host.name);
        let row = at.port.qos.or(at.port.row);
        found.push(match row {
            Some(row) => finding.beside(Place::of(row, "pfc_enable")),
            None => finding,
        });
    }
}

/// What is said of the ports that are not shown.
fn and_more(count: usize) -> String {
    match count {
        0 | 1 => String::new(),
        count => format!(" (and {} ports more)", count - 1),
    }
}
