//! PL103, pfc-enable-is-no-list: A list of priorities is written so that the switch reads another one.

use crate::database::quoted;
use crate::rule::prelude::*;

/// The declaration of this rule.
pub const RULE: Rule = Rule {
    id: "PL103",
    name: "pfc-enable-is-no-list",
    severity: Severity::Error,
    sentence: "A list of priorities is written so that the switch reads another one.",
    why: "The list must be digits from 0 to 7 with commas between them. Of \"3-4\" orchagent takes the 3, and says nothing; 4 is then lossy. pfc_enable and pfcwd_sw_enable are looked at.",
    fix: "write the priorities one by one, such as 3,4",
    released: "Never on a released template.",
    evidence: "src: swss orchagent/qosorch.cpp",
    good: &[set("tor0", "/PORT_QOS_MAP/Ethernet0/pfc_enable", r#""4,3""#)],
    bad: &[set("tor0", "/PORT_QOS_MAP/Ethernet0/pfc_enable", r#""3-4""#)],
    also: &["PL601", "PL801"],
    check: Check::Port(check),
};

fn check(switch: &Switch, port: &Port, found: &mut Found) {
    let lists = [("pfc_enable", port.pfc_enable), ("pfcwd_sw_enable", port.watched)];
    for (field, classes) in lists {
        let (Some(row), Some(classes)) = (port.qos, classes) else {
            continue;
        };
        if classes.is_list {
            continue;
        }
        let read = match classes.read {
            0 => "as nothing".to_string(),
            read => format!("as {}", list(read)),
        };
        let text = classes.value.text;
        let message = format!("{field} {} is no list of 0..7; read {read}", quoted(text));
        let finding = found.at_port(switch, port, Place::of(row, field), message);
        let meant = Op::set("PORT_QOS_MAP", row.key().text, field, list(classes.meant));
        found.push(finding.patch((classes.meant != 0).then_some(meant)));
    }
}
