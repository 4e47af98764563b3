//! PL812, storm-prevention-is-slow: A NIC that hangs may send PAUSE frames for 8 s, or for ever.

use crate::fabric::Fabric;
use crate::host::Host;
use crate::rule::prelude::*;

/// The declaration of this rule.
pub const RULE: Rule = Rule {
    id: "PL812",
    name: "storm-prevention-is-slow",
    severity: Severity::Note,
    sentence: "A NIC that hangs may send PAUSE frames for 8 s, or for ever.",
    why: "The default of mlx5 is 8 s; auto is 100 ms. It is the first line against a storm, before the watchdog of the switch.",
    fix: "`ethtool --set-tunable X pfc-prevention-tout auto`",
    released: "Needs a file of a host, which no template has.",
    evidence: "ethtool(8)",
    good: &[],
    bad: &[set(
        "srv0.roce-ecn",
        "cnp_802p_prio:6",
        r#""cnp_802p_prio:6\n/sys/class/net/enp1s0f0np0/settings/pfc_prevention_tout:8000""#,
    )],
    also: &[],
    check: Check::Host(check),
};

fn check(host: &Host, _: &Fabric, found: &mut Found) {
    let Some(given) = host.prevention_ms else {
        return;
    };
    let message = match given.value {
        0 => "pfc-prevention-tout 0: PAUSE without end".to_string(),
        ms if ms >= DEFAULT_MS => format!("pfc-prevention-tout {ms} ms: PAUSE for as long"),
        _ => return,
    };
    let mut finding = found.of(&host.name, given.place(), message);
    finding.device.clone_from(&host.name);
    found.push(finding);
}

/// What mlx5 starts with.
const DEFAULT_MS: u64 = 8_000;
