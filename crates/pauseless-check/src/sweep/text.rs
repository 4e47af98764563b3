//! A sweep for people.

use std::fmt::Write;

use super::{Cases, Finding, Sweep};
use pauseless_fabric::fabric::Fabric;
use pauseless_text::quantity;
use pauseless_text::terminal::{Mood, Paint};

/// The whole report about a sweep, as text for people.
pub fn report(fabric: &Fabric, sweep: &Sweep, paint: Paint) -> String {
    let mut out = headline(fabric, sweep, paint);
    let _ = writeln!(out, "Tried: {}.", sweep.plan.describe());
    if !sweep.is_complete() {
        let _ = writeln!(
            out,
            "Broken off after {} of {} cases; the numbers are those of the cases tried.",
            sweep.tried, sweep.case_count
        );
    }
    if sweep.is_healthy_cyclic {
        let _ = writeln!(
            out,
            "Without any failure the same rule has a cycle already, so the failures are not to blame."
        );
    }
    if let Some(count) = sweep.disconnecting.filter(|count| *count > 0) {
        let what = match count {
            1 => "1 leaves some pair of end nodes without a route, or".to_string(),
            count => format!("{count} leave some pair of end nodes without a route, or"),
        };
        let _ = writeln!(out, "{what} with one that a failed switch cuts off.");
    }
    if sweep.worst.is_empty() {
        return out;
    }
    let hidden = sweep.cyclic - sweep.worst.len();
    out.push_str("\nThe worst first, by the number of buffers in cycles:\n");
    for finding in &sweep.worst {
        let _ = writeln!(out, "  {}", line(fabric, sweep, finding));
    }
    if hidden > 0 {
        let _ = writeln!(out, "  .. and {hidden} more");
    }
    out
}

/// The first line of the report: the verdict.
pub fn headline(fabric: &Fabric, sweep: &Sweep, paint: Paint) -> String {
    let name = &fabric.name;
    let tried = if sweep.is_complete() {
        sweep.tried.to_string()
    } else {
        format!("the first {} of {}", sweep.tried, sweep.case_count)
    };
    let cases = match sweep.plan.cases {
        Cases::Singles => "failures",
        Cases::Random { .. } => "sets of failures",
    };
    if sweep.cyclic == 0 {
        let none = paint.paint(Mood::Good, "no cyclic buffer dependency");
        let bound = match sweep.plan.cases {
            Cases::Singles => String::new(),
            Cases::Random { .. } => {
                let (_, [_, high]) = sweep.share();
                format!(" (95 % confidence: in fewer than {:.2e} of all)", high)
            }
        };
        return format!("{name}: {none} after any of {tried} {cases}{bound}\n");
    }
    let some = paint.paint(Mood::Bad, "cyclic buffer dependency");
    let share = match sweep.plan.cases {
        Cases::Singles => String::new(),
        Cases::Random { .. } => {
            let (share, [low, high]) = sweep.share();
            let [share, low, high] = [share, low, high].map(|value| value * 100.0);
            format!(" ({share:.2} %, 95 % confidence interval {low:.2} to {high:.2} %)")
        }
    };
    let cyclic = sweep.cyclic;
    format!("{name}: {some} after {cyclic} of {tried} {cases}{share}\n")
}

fn line(fabric: &Fabric, sweep: &Sweep, finding: &Finding) -> String {
    let cycle = &finding.component.cycle;
    let name = |node| fabric.topology.node(node).name.as_str();
    let switches = cycle.hops.iter().map(|hop| name(hop.buffer.node));
    let failed = match (&finding.failed[..], sweep.plan.cases) {
        ([], _) => "nothing".to_string(),
        (failed, _) => quantity::some(failed.iter(), NAMES_MAX),
    };
    let sample = match sweep.plan.cases {
        Cases::Singles => String::new(),
        Cases::Random { .. } => format!("sample {}: ", finding.case),
    };
    let unrouted = match finding.unrouted_pairs {
        0 => String::new(),
        count => format!(", {count} pairs without a route"),
    };
    let flows = match cycle.flows.len() {
        1 => "a single flow travels in a circle".to_string(),
        count => format!("closed by {count} flows"),
    };
    format!(
        "{sample}{failed}: {} buffers in cycles, the shortest {} ({flows}){unrouted}",
        finding.buffers,
        Vec::from_iter(switches).join(" > "),
    )
}

const NAMES_MAX: usize = 6;
