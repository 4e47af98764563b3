//! All rules, and which of them explains which other away.

mod pl101;
mod pl102;
mod pl103;
mod pl104;
mod pl105;
mod pl106;
mod pl107;
mod pl108;
mod pl109;
mod pl201;
mod pl202;
mod pl203;
mod pl204;
mod pl205;
mod pl206;
mod pl207;
mod pl208;
mod pl209;
mod pl210;
mod pl211;
mod pl212;
mod pl213;
mod pl301;
mod pl302;
mod pl303;
mod pl304;
mod pl305;
mod pl306;
mod pl307;
mod pl308;
mod pl309;
mod pl310;
mod pl311;
mod pl313;
mod pl314;
mod pl315;
mod pl316;
mod pl401;
mod pl402;
mod pl403;
mod pl404;
mod pl405;
mod pl406;
mod pl407;
mod pl408;
mod pl501;
mod pl502;
mod pl503;
mod pl504;
mod pl505;
mod pl506;
mod pl507;
mod pl508;
mod pl509;
mod pl510;
mod pl511;
mod pl601;
mod pl602;
mod pl603;
mod pl604;
mod pl605;
mod pl606;
mod pl607;
mod pl608;
mod pl701;
mod pl702;
mod pl703;
mod pl704;
mod pl705;
mod pl706;
mod pl707;
mod pl708;
mod pl801;
mod pl802;
mod pl803;
mod pl804;
mod pl805;
mod pl806;
mod pl807;
mod pl808;
mod pl809;
mod pl810;
mod pl811;
mod pl812;

use std::collections::{HashMap, HashSet};

use crate::finding::Finding;
use crate::rule::Rule;

/// All rules by number.
pub static ALL: &[&Rule] = &[
    &pl101::RULE,
    &pl102::RULE,
    &pl103::RULE,
    &pl104::RULE,
    &pl105::RULE,
    &pl106::RULE,
    &pl107::RULE,
    &pl108::RULE,
    &pl109::RULE,
    &pl201::RULE,
    &pl202::RULE,
    &pl203::RULE,
    &pl204::RULE,
    &pl205::RULE,
    &pl206::RULE,
    &pl207::RULE,
    &pl208::RULE,
    &pl209::RULE,
    &pl210::RULE,
    &pl211::RULE,
    &pl212::RULE,
    &pl213::RULE,
    &pl301::RULE,
    &pl302::RULE,
    &pl303::RULE,
    &pl304::RULE,
    &pl305::RULE,
    &pl306::RULE,
    &pl307::RULE,
    &pl308::RULE,
    &pl309::RULE,
    &pl310::RULE,
    &pl311::RULE,
    &pl313::RULE,
    &pl314::RULE,
    &pl315::RULE,
    &pl316::RULE,
    &pl401::RULE,
    &pl402::RULE,
    &pl403::RULE,
    &pl404::RULE,
    &pl405::RULE,
    &pl406::RULE,
    &pl407::RULE,
    &pl408::RULE,
    &pl501::RULE,
    &pl502::RULE,
    &pl503::RULE,
    &pl504::RULE,
    &pl505::RULE,
    &pl506::RULE,
    &pl507::RULE,
    &pl508::RULE,
    &pl509::RULE,
    &pl510::RULE,
    &pl511::RULE,
    &pl601::RULE,
    &pl602::RULE,
    &pl603::RULE,
    &pl604::RULE,
    &pl605::RULE,
    &pl606::RULE,
    &pl607::RULE,
    &pl608::RULE,
    &pl701::RULE,
    &pl702::RULE,
    &pl703::RULE,
    &pl704::RULE,
    &pl705::RULE,
    &pl706::RULE,
    &pl707::RULE,
    &pl708::RULE,
    &pl801::RULE,
    &pl802::RULE,
    &pl803::RULE,
    &pl804::RULE,
    &pl805::RULE,
    &pl806::RULE,
    &pl807::RULE,
    &pl808::RULE,
    &pl809::RULE,
    &pl810::RULE,
    &pl811::RULE,
    &pl812::RULE,
];

/// The rule of this number or name.
pub fn named(id: &str) -> Option<&'static Rule> {
    let is = |rule: &&&Rule| rule.id.eq_ignore_ascii_case(id) || rule.name == id;
    ALL.iter().find(is).copied()
}

/// One finding of those that say the same of the same thing, with the places and patches of all.
pub fn merged(findings: Vec<Finding>) -> Vec<Finding> {
    let mut known: HashMap<(&str, String, String), usize> = HashMap::new();
    let mut merged: Vec<Finding> = Vec::with_capacity(findings.len());
    for finding in findings {
        let about = format!("{}\n{}", finding.device, finding.subject);
        let next = merged.len();
        let at = *known.entry((finding.rule.id, about, finding.message.clone())).or_insert(next);
        if at == next {
            merged.push(finding);
            continue;
        }
        let first = &mut merged[at];
        for place in [finding.place].into_iter().chain(finding.related) {
            if place != first.place && !first.related.contains(&place) {
                first.related.push(place);
            }
        }
        first.patch.extend(finding.patch);
    }
    merged
}

/// Leaves out what follows from something else that was found: one mistake is one finding.
pub fn without_consequences(findings: Vec<Finding>) -> Vec<Finding> {
    let mut causes = HashSet::new();
    for finding in &findings {
        for follows in FOLLOWS.iter().filter(|follows| follows.cause == finding.rule.id) {
            causes.extend(follows.told_by(finding));
        }
    }
    let is_consequence = |finding: &Finding| {
        let mut follows = FOLLOWS.iter().filter(|follows| follows.effect == finding.rule.id);
        follows.any(|follows| follows.told_by(finding).iter().any(|one| causes.contains(one)))
    };
    let kept = findings.iter().map(|finding| !is_consequence(finding));
    let kept = Vec::from_iter(kept);
    findings.into_iter().zip(kept).filter(|(_, kept)| *kept).map(|(finding, _)| finding).collect()
}

/// The port of a subject such as `Ethernet0|3-4`.
fn port_of(finding: &Finding) -> String {
    finding.subject.split('|').next().unwrap_or_default().to_string()
}

/// One rule whose findings explain those of another.
struct Follows {
    cause: &'static str,
    effect: &'static str,
    by: By,
}

/// What both findings must have in common for the one to explain the other.
#[derive(Clone, Copy, PartialEq, Eq)]
enum By {
    /// Both are about the same port of the same device.
    Port,
    /// The port and the priority group.
    Group,
    /// A place in a file, among those that either has to do with.
    Place,
}

/// What tells whether a finding explains another.
#[derive(PartialEq, Eq, Hash)]
enum Told {
    Port { cause: &'static str, device: String, port: String, group: Option<u8> },
    Place { cause: &'static str, file: usize, start: u32 },
}

impl Follows {
    fn told_by(&self, finding: &Finding) -> Vec<Told> {
        let cause = self.cause;
        if self.by == By::Place {
            let places = [&finding.place].into_iter().chain(&finding.related);
            let known = places.filter(|place| place.at.end > 0);
            let told = known.map(|at| Told::Place { cause, file: at.file, start: at.at.start });
            return told.collect();
        }
        let group = finding.group.filter(|_| self.by == By::Group);
        let (device, port) = (finding.device.clone(), port_of(finding));
        vec![Told::Port { cause, device, port, group }]
    }
}

const fn hides(cause: &'static str, effect: &'static str) -> Follows {
    Follows { cause, effect, by: By::Port }
}

const fn hides_at_group(cause: &'static str, effect: &'static str) -> Follows {
    Follows { cause, effect, by: By::Group }
}

const fn hides_at_place(cause: &'static str, effect: &'static str) -> Follows {
    Follows { cause, effect, by: By::Place }
}

const FOLLOWS: [Follows; 108] = [
    hides("PL103", "PL202"),
    hides("PL104", "PL201"),
    hides("PL104", "PL202"),
    hides("PL104", "PL203"),
    hides("PL104", "PL303"),
    hides("PL104", "PL307"),
    hides("PL104", "PL401"),
    hides("PL104", "PL406"),
    hides("PL104", "PL501"),
    hides("PL104", "PL502"),
    hides("PL104", "PL608"),
    hides("PL103", "PL502"),
    hides("PL103", "PL503"),
    hides("PL102", "PL201"),
    hides("PL303", "PL201"),
    hides("PL304", "PL201"),
    hides("PL313", "PL201"),
    hides("PL315", "PL201"),
    hides_at_group("PL204", "PL206"),
    hides_at_group("PL204", "PL207"),
    hides_at_group("PL204", "PL307"),
    hides_at_group("PL204", "PL401"),
    hides("PL204", "PL203"),
    hides("PL204", "PL604"),
    hides_at_group("PL206", "PL207"),
    hides_at_group("PL206", "PL307"),
    hides_at_group("PL206", "PL401"),
    hides("PL704", "PL201"),
    hides("PL704", "PL202"),
    hides("PL205", "PL502"),
    hides("PL601", "PL604"),
    hides("PL601", "PL704"),
    hides("PL201", "PL202"),
    hides_at_group("PL201", "PL206"),
    hides("PL201", "PL502"),
    hides("PL204", "PL209"),
    hides("PL204", "PL210"),
    hides("PL205", "PL201"),
    hides("PL801", "PL804"),
    hides("PL101", "PL201"),
    hides("PL101", "PL205"),
    hides_at_place("PL101", "PL608"),
    hides_at_place("PL101", "PL703"),
    hides_at_place("PL102", "PL305"),
    hides_at_place("PL102", "PL309"),
    hides_at_place("PL103", "PL601"),
    hides_at_place("PL103", "PL608"),
    hides_at_place("PL105", "PL202"),
    hides_at_place("PL106", "PL201"),
    hides_at_place("PL106", "PL203"),
    hides_at_place("PL106", "PL309"),
    hides_at_place("PL106", "PL608"),
    hides_at_place("PL106", "PL202"),
    hides_at_place("PL106", "PL307"),
    hides_at_place("PL106", "PL401"),
    hides_at_place("PL106", "PL703"),
    hides_at_place("PL107", "PL101"),
    hides_at_place("PL107", "PL202"),
    hides_at_place("PL107", "PL309"),
    hides_at_place("PL107", "PL405"),
    hides_at_place("PL107", "PL601"),
    hides_at_place("PL107", "PL608"),
    hides_at_place("PL108", "PL102"),
    hides_at_place("PL108", "PL313"),
    hides_at_place("PL108", "PL403"),
    hides_at_place("PL108", "PL509"),
    hides_at_place("PL109", "PL608"),
    hides_at_place("PL206", "PL604"),
    hides_at_place("PL208", "PL608"),
    hides_at_place("PL302", "PL605"),
    hides_at_place("PL302", "PL608"),
    hides_at_place("PL303", "PL608"),
    hides_at_place("PL304", "PL608"),
    hides_at_place("PL307", "PL105"),
    hides_at_place("PL309", "PL404"),
    hides_at_place("PL405", "PL404"),
    hides_at_place("PL508", "PL507"),
    hides_at_place("PL601", "PL201"),
    hides_at_place("PL601", "PL202"),
    hides_at_place("PL601", "PL502"),
    hides_at_place("PL601", "PL205"),
    hides_at_place("PL601", "PL608"),
    hides_at_place("PL602", "PL608"),
    hides_at_place("PL603", "PL302"),
    hides_at_place("PL603", "PL608"),
    hides_at_place("PL604", "PL203"),
    hides_at_place("PL605", "PL608"),
    hides_at_place("PL607", "PL608"),
    hides("PL608", "PL206"),
    hides_at_place("PL608", "PL201"),
    hides_at_place("PL608", "PL205"),
    hides_at_place("PL608", "PL202"),
    hides_at_place("PL608", "PL502"),
    hides_at_place("PL608", "PL604"),
    hides_at_place("PL701", "PL202"),
    hides_at_place("PL701", "PL502"),
    hides_at_place("PL701", "PL601"),
    hides_at_place("PL701", "PL801"),
    hides_at_place("PL807", "PL608"),
    hides_at_place("PL106", "PL704"),
    hides_at_place("PL106", "PL705"),
    hides_at_place("PL203", "PL705"),
    hides_at_place("PL703", "PL502"),
    hides_at_place("PL703", "PL705"),
    hides_at_place("PL704", "PL705"),
    hides_at_place("PL704", "PL608"),
    hides("PL801", "PL808"),
    hides("PL805", "PL804"),
];
