//! A plan for people to read.

use std::collections::BTreeSet;
use std::fmt::Write;

use pauseless_core::flow_control::{FlowControl, cbfc};
use pauseless_core::unit::{Bytes, Span};

use pauseless_fabric::reroute::Reroute;

use super::headroom::{PS_PER_METRE, Reaction};
use super::paper::paper;
use super::{Advice, Fit, Plan, PortPlan, Scheme, SchemePlan, Set, SwitchPlan, TtlPlan};
use crate::explain::write_table;
use pauseless_check::sweep::describe as describe_rule;
use pauseless_fabric::fabric::{Fabric, Medium, Origin};
use pauseless_text::quantity::{count, plural};
use pauseless_text::unit::Quantity;

/// The whole plan as text for people.
pub fn report(fabric: &Fabric, plan: &Plan) -> String {
    let mut text = String::new();
    let switches: usize = plan.switches.iter().map(|group| group.members.len()).sum();
    let request = &plan.request;
    line(
        &mut text,
        format_args!(
            "{}: {} of {}, frames up to {}, time to obey a PAUSE (t_proc): {}; routes: {}",
            plan.fabric,
            plural(switches as u64, "switch"),
            plan.medium.name(),
            request.mtu.exact(),
            reaction(request.reaction),
            routes(fabric),
        ),
    );
    for note in &plan.notes {
        line(&mut text, format_args!("note: {note}"));
    }
    headrooms(&mut text, plan);
    for switch in &plan.switches {
        line(&mut text, "");
        switch_report(&mut text, fabric, plan, switch);
    }
    line(&mut text, "");
    line(&mut text, verdict(plan));
    text
}

/// How packets are routed, in words.
pub(super) fn routes(fabric: &Fabric) -> &'static str {
    match fabric.origin {
        Origin::Tables => "the switches' own tables",
        Origin::Flows => "the paths of the flows",
        Origin::Rule(routing) => describe_rule(Reroute::Rule(routing)),
    }
}

/// Whether it all fits, in a line.
pub fn verdict(plan: &Plan) -> String {
    let fitting = |fits: bool| {
        let names = Scheme::ALL.into_iter().filter(|scheme| plan.fits(*scheme) == fits);
        let mut names = Vec::from_iter(names.map(Scheme::name));
        let others =
            [("pfc with dynamic thresholds", Some(plan.fits_dynamic())), ("ttl", plan.fits_ttl())];
        let others = others.into_iter().filter(|(_, other)| *other == Some(fits));
        names.extend(others.map(|(name, _)| name));
        names.join(", ")
    };
    let (yes, no) = (fitting(true), fitting(false));
    if no.is_empty() && plan.has_loop {
        "Every switch has the buffer that each scheme needs to lose nothing; ttl has no plan, as packets circle.".to_string()
    } else if no.is_empty() {
        "Every switch has the buffer that each scheme needs to lose nothing.".to_string()
    } else if yes.is_empty() {
        format!("Nothing fits: {no} need more buffer.")
    } else {
        format!("These fit: {yes}. These need more buffer: {no}.")
    }
}

/// The numbers of the TTL note.
pub fn paper_report() -> String {
    let mut text = String::from(
        "TTL-based buffer management, section 2: 32 ports of 40 Gb/s, 8 classes, 300 m at 500 ns \
         per 100 m, MTU 1500 B, RTT 50 us\n",
    );
    let header = ["quantity", "formula", "ours", "note says", "remark"].map(String::from);
    let rows = paper().into_iter().map(|row| {
        let ours = format!("{} B", count(row.ours_bytes));
        [row.quantity, row.formula, &ours, row.printed, row.note].map(String::from)
    });
    table(&mut text, std::iter::once(header).chain(rows));
    text
}

fn reaction(reaction: Reaction) -> String {
    match reaction {
        Reaction::Standard => {
            "the limit of its speed (802.3's at 0.1, 1, 10, 40 and 100 Gb/s, else SONiC's)"
                .to_string()
        }
        Reaction::Quanta(quanta) => format!("{quanta} quanta"),
        Reaction::Fixed(span) => span.exact(),
    }
}

/// Each kind of port once, term by term.
fn headrooms(text: &mut String, plan: &Plan) {
    let mut seen = BTreeSet::new();
    let others = plan.switches.iter().flat_map(|switch| &switch.ports).filter(|port| {
        let kind = port.kind;
        seen.insert((kind.line, kind.wire, kind.classes))
    });
    for port in Vec::from_iter(others) {
        line(text, "");
        let classes = plural(u64::from(port.kind.classes), "lossless class");
        line(
            text,
            format_args!(
                "headroom of a port and class at {} over {}, {classes}",
                port.kind.line.exact(),
                cable(port.kind.wire),
            ),
        );
        let header = ["term", "TTL eq. 15", "proved here", "why"].map(String::from);
        let terms = port.headroom.terms.iter().map(|term| {
            let name = term.name.to_string();
            let [equation, bound] = [term.equation, term.bound].map(right);
            [name, equation, bound, term.why.to_string()]
        });
        let [equation, bound] = [port.headroom.equation, port.headroom.bound].map(right);
        let sum = ["sum".to_string(), equation, bound, String::new()];
        let sonic = port.sonic.map(|bytes| {
            let why = "with cells, in whole KiB".to_string();
            ["SONiC's form".to_string(), String::new(), right(bytes), why]
        });
        let rows = std::iter::once(header).chain(terms).chain([sum]).chain(sonic);
        table(text, rows);
    }
    line(text, "TTL eq. 15 is another way to reckon it, for comparison: docs/plan.md");
}

fn switch_report(text: &mut String, fabric: &Fabric, plan: &Plan, switch: &SwitchPlan) {
    let names = switch.members.iter().map(|node| fabric.topology.node(*node).name.clone());
    let (names, buffer) = (some(names), switch.buffer.exact());
    let each = match switch.members.len() {
        1 => "",
        _ => " each",
    };
    line(text, format_args!("{names}: {buffer} of buffer{each}"));
    for port in &switch.ports {
        line(text, format_args!("  ports: {}", describe(fabric, port)));
    }
    let header = ["", "needs", "left", "B per queue", "thresholds"].map(String::from);
    let mut rows = vec![header];
    for scheme in &switch.schemes {
        rows.extend(scheme_rows(switch, scheme));
    }
    let dynamic = &switch.dynamic;
    let alpha = match dynamic.alpha_exponent {
        up @ 0.. => format!("{}", 1u64 << up),
        down => format!("1/{}", 1u64 << -down),
    };
    let pool = if dynamic.is_fitting() {
        format!(
            "alpha {alpha}: XOFF from {} with all {} queues at it to {} alone",
            whole(dynamic.all),
            switch.queue_count(),
            whole(dynamic.alone),
        )
    } else {
        "no room for a pool".to_string()
    };
    rows.push([
        "pfc, dynamic".to_string(),
        right(dynamic.headroom),
        left_or_short(dynamic.pool, dynamic.short),
        String::new(),
        pool,
    ]);
    rows.extend(switch.ttl.iter().map(|ttl| ttl_row(fabric, plan, ttl)));
    table(text, rows.into_iter());
    for scheme in &switch.schemes {
        if let Fit::Short(_, advice) = scheme.fit {
            let name = scheme.scheme.name();
            let advice = self::advice(plan.medium, advice, scheme.need);
            line(text, format_args!("  {name} does not fit: {advice}"));
        }
    }
}

/// What would make it fit.
fn advice(medium: Medium, advice: Advice, need: Bytes) -> String {
    let mut ways = vec![format!("give the switch {} B of buffer", count(need.get()))];
    if let Some(classes) = advice.classes {
        let noun = match (medium, classes) {
            (Medium::Ethernet, 1) => "priority",
            (Medium::Ethernet, _) => "priorities",
            (Medium::InfiniBand, 1) => "VL",
            (Medium::InfiniBand, _) => "VLs",
        };
        ways.push(format!("make at most {classes} {noun} lossless"));
    }
    if let Some(wire) = advice.wire {
        let metres = wire.as_ps() / PS_PER_METRE;
        ways.push(format!("use cables of {metres} m at most"));
    }
    if let Some(mtu) = advice.mtu {
        ways.push(format!("set --mtu to {} B at most", mtu.get()));
    }
    ways.join(", or ")
}

fn describe(fabric: &Fabric, port: &PortPlan) -> String {
    let kind = port.kind;
    let (line, cable) = (kind.line.exact(), cable(kind.wire));
    let names = port.members.iter();
    let names = some(names.map(|(node, number)| fabric.port_name(*node, *number)));
    let (number, classes) = (port.count, kind.classes);
    format!("{number} x {classes} queues at {line} over {cable}: {names}")
}

fn scheme_rows(switch: &SwitchPlan, plan: &SchemePlan) -> Vec<[String; 5]> {
    let name = plan.scheme.name().to_string();
    let need = right(plan.need);
    let spare = match plan.fit {
        Fit::Spare(spare) => right(spare),
        Fit::Short(by, _) => {
            let short = format!("{} B too little", count(by.get()));
            return vec![[name, need, short, String::new(), String::new()]];
        }
    };
    let mut rows = Vec::new();
    for (index, (set, port)) in plan.sets.iter().zip(&switch.ports).enumerate() {
        let of = match switch.ports.len() {
            1 => String::new(),
            _ => format!("{}: ", port.kind.line.exact()),
        };
        let thresholds = format!("{of}{}", thresholds(set));
        let buffer = right(set.ingress.buffer);
        let [name, need, spare] = match index {
            0 => [name.clone(), need.clone(), spare.clone()],
            _ => Default::default(),
        };
        rows.push([name, need, spare, buffer, thresholds]);
    }
    rows
}

/// The thresholds of a set in words.
pub fn thresholds(set: &Set) -> String {
    let latency = &set.derivation.latency;
    match &set.ingress.control {
        FlowControl::None | FlowControl::Outside(_) => String::new(),
        FlowControl::Pfc(config) => {
            let headroom = whole(latency.pfc_headroom());
            let (xoff, xon) = (whole(config.xoff), whole(config.xon));
            format!("XOFF {xoff}, XON {xon}, headroom {headroom}")
        }
        FlowControl::Cbfc(config) => {
            let blocks = count(config.capacity.get() / cbfc::BLOCK.get());
            let full = latency.line.bytes_in_up(latency.tau() + config.period);
            let enough = if config.capacity < full {
                "more than this credit, so the link is slower"
            } else if full <= IBA_GRANT {
                "which IBA's 2,048 blocks cover"
            } else {
                "which IBA's 2,048 blocks do not cover"
            };
            let full = whole(full);
            format!("{blocks} blocks of credit; full rate takes {full}, {enough}")
        }
        FlowControl::GfcBuffer(config) => format!(
            "B_m {}, B_1 {}, {} stages, least rate {}",
            whole(config.bm),
            whole(config.b1),
            config.stages,
            config.rate(config.stages, latency.line).exact(),
        ),
        FlowControl::GfcTime(config) => format!(
            "B_m {}, B_0 {}, T {}, least rate {}",
            whole(config.mapping.bm),
            whole(config.mapping.b0),
            config.period.exact(),
            config.mapping.floor.exact(),
        ),
        FlowControl::GfcConceptual(config) => format!(
            "B_m {}, B_0 {}, tau {}",
            whole(config.mapping.bm),
            whole(config.mapping.b0),
            latency.tau().exact(),
        ),
    }
}

/// What a grant of InfiniBand reaches at most.
pub(super) const IBA_GRANT: Bytes = Bytes::new(2_048 * cbfc::BLOCK.get());

fn ttl_row(fabric: &Fabric, plan: &Plan, ttl: &TtlPlan) -> [String; 5] {
    let names = ttl.members.iter();
    let names = some(names.map(|node| fabric.topology.node(*node).name.clone()));
    if ttl.hops == 0 {
        let text = format!("{names}: no route leads there");
        return ["ttl".into(), right(Bytes::ZERO), String::new(), String::new(), text];
    }
    let classes = (0..u64::BITS).filter(|hop| ttl.hops >> hop & 1 == 1);
    let classes = Vec::from_iter(classes.map(|hop| (hop + 1).to_string())).join(", ");
    let (d, of) = (plan.longest_path, whole(ttl.partition));
    let work = if ttl.shared >= ttl.work_shared { "covers" } else { "does not cover" };
    let need = right(ttl.partition * u64::from(ttl.classes()) + ttl.headroom);
    let left = left_or_short(ttl.shared, ttl.short);
    let text = format!(
        "{names}: classes {classes} of {d} in partitions of {of}; what is left {work} n C RTT = {} \
         (n k C RTT = {})",
        whole(ttl.work_shared),
        whole(ttl.work_separate),
    );
    ["ttl".to_string(), need, left, String::new(), text]
}

/// A delay and the cable that it stands for.
fn cable(wire: Span) -> String {
    if wire.as_ps().is_multiple_of(PS_PER_METRE) {
        format!("{} m ({})", wire.as_ps() / PS_PER_METRE, wire.exact())
    } else {
        wire.exact()
    }
}

/// The first few names, and how many more there are.
fn some(names: impl ExactSizeIterator<Item = String>) -> String {
    let more = names.len().saturating_sub(SHOWN);
    let shown = Vec::from_iter(names.take(SHOWN)).join(", ");
    match more {
        0 => shown,
        more => format!("{shown} and {} more", count(more as u64)),
    }
}

const SHOWN: usize = 4;

/// Bytes in a column of numbers.
fn right(bytes: Bytes) -> String {
    format!("{:>11}", count(bytes.get()))
}

/// What is left, or by how much it is too little.
fn left_or_short(left: Bytes, short: Bytes) -> String {
    match short {
        Bytes::ZERO => right(left),
        short => format!("{} B too little", count(short.get())),
    }
}

/// Bytes within a row, which are compared with each other.
fn whole(bytes: Bytes) -> String {
    format!("{} B", count(bytes.get()))
}

fn line(text: &mut String, line: impl std::fmt::Display) {
    writeln!(text, "{line}").expect("writing to a String never fails");
}

pub(super) fn table<const N: usize>(text: &mut String, rows: impl Iterator<Item = [String; N]>) {
    write_table(text, &Vec::from_iter(rows)).expect("writing to a String never fails");
}
