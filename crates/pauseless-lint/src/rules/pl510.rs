//! PL510, watchdog-has-no-counters: the counters that the watchdog looks at are off.

use crate::rule::prelude::*;

/// The declaration of this rule.
pub const RULE: Rule = Rule {
    id: "PL510",
    name: "watchdog-has-no-counters",
    severity: Severity::Error,
    sentence: "The counters that the watchdog looks at are off.",
    why: "It then never sees a storm. FLEX_COUNTER_STATUS of PFCWD is disable.",
    fix: "pfcwd counter_poll enable",
    released: "Never on a released template.",
    evidence: "UT 273",
    good: &[set("tor0", "/FLEX_COUNTER_TABLE/QUEUE/FLEX_COUNTER_STATUS", r#""disable""#)],
    bad: &[set("tor0", "/FLEX_COUNTER_TABLE/PFCWD/FLEX_COUNTER_STATUS", r#""disable""#)],
    also: &[],
    check: Check::Switch(check),
};

fn check(switch: &Switch, found: &mut Found) {
    let is_used = switch.ports.iter().any(|port| port.watchdog.is_some());
    let row = switch.config.row_of("FLEX_COUNTER_TABLE", "PFCWD").filter(|_| is_used);
    let Some(row) = row else {
        return;
    };
    let field = "FLEX_COUNTER_STATUS";
    if row.get(field).is_some_and(|value| value.text == "disable") {
        let message = "watchdog counters are off".to_string();
        let finding = found.about(switch, &switch.name, Place::of(row, field), message);
        found.push(finding.patch([Op::set("FLEX_COUNTER_TABLE", "PFCWD", field, "enable")]));
    }
}
