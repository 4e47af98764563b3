//! Why parameters are as they are: every derivation line by line, with its formula and its source.

use std::fmt;

use pauseless_core::flow_control::{FlowControl, gfc};
use pauseless_core::unit::{Bytes, Rate, Span};
use schemars::JsonSchema;
use serde::Serialize;

pub use pauseless_scenario::flow_control::scheme_of;
pub use pauseless_scenario::steps::StepRecord;
use pauseless_scenario::steps::Steps;
use pauseless_scenario::{PortGroup, Scenario};
use pauseless_text::quantity;
use pauseless_text::terminal::padding;
use pauseless_text::unit::Quantity;

mod congestion;
mod loops;
mod memory;
mod paper;

pub use loops::{Loop, Verdict};
pub use paper::latency as example;
pub use paper::{Paper, PaperRecord, paper};

/// The derivations of a scenario, those of equal ports once.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// One for each set of ports that are configured alike.
    pub groups: Vec<Group>,
    /// The parameters of the congestion control, if there is one.
    pub congestion: Option<Group>,
    /// The flows that circle.
    pub loops: Vec<Loop>,
}

/// The derivation for some ports, or the parameters of something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// The names of the ports, or what else the rows are about.
    pub title: String,
    /// The steps, in the order of derivation.
    pub rows: Vec<StepRecord>,
    /// The stages of buffer-based GFC; empty for other schemes.
    pub stages: Vec<StageRecord>,
}

/// A stage of buffer-based GFC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct StageRecord {
    /// The number of the stage; stage 0 is below all thresholds.
    pub stage: u16,
    /// The queue length at which the stage begins, in bytes.
    pub threshold_bytes: u64,
    /// The rate at which the sender may send in this stage, in bits per second.
    pub rate_bps: u64,
}

/// The derivations behind `scenario`.
pub fn explain(scenario: &Scenario) -> Explanation {
    let groups = scenario.port_groups.iter().map(|group| {
        let mut steps = Steps::default();
        steps.latency(group);
        match &group.memory {
            Some(memory) => memory::steps(&mut steps, group, memory),
            None => scheme_of(&group.ingress.control).explain(group, &mut steps),
        }
        let tick = tick(scenario, group);
        if tick > Span::ZERO {
            let what = "rest of an egress after each frame, before it decides";
            steps.add("tick", what, tick.exact(), "gfc19 5.3");
        }
        let stages = match &group.ingress.control {
            FlowControl::GfcBuffer(config) => stages(config, group.derivation.latency.line),
            _ => Vec::new(),
        };
        Group { title: title(scenario, group), rows: steps.rows, stages }
    });
    let memories = memory::groups(scenario);
    Explanation {
        groups: groups.chain(memories).collect(),
        congestion: congestion::group(scenario),
        loops: loops::loops(scenario),
    }
}

/// The rest of egresses towards the ports of a group.
fn tick(scenario: &Scenario, group: &PortGroup) -> Span {
    let (node, port, class) = group.members[0];
    scenario.config.ingress.tick(node, port, class)
}

/// The heading of a group: its flow control and its ports.
fn title(scenario: &Scenario, group: &PortGroup) -> String {
    const SHOWN: usize = 4;
    let config = &scenario.config;
    let classes = config.ingress.class_count();
    let shown = group.members.iter().map(|(node, port, class)| {
        let name = config.topology.port_name(*node, *port);
        if classes == 1 { name } else { format!("{name} class {}", class.0) }
    });
    let (node, port, class) = group.members[0];
    let scheme = config.ingress.name(node, port, class);
    format!("{scheme} at {}", quantity::some(shown, SHOWN))
}

fn stages(config: &gfc::BufferConfig, line: Rate) -> Vec<StageRecord> {
    // Stage 0 is below all thresholds.
    let begin = |stage| match stage {
        0 => Bytes::ZERO,
        stage => config.threshold(stage),
    };
    let stage = |stage| StageRecord {
        stage,
        threshold_bytes: begin(stage).get(),
        rate_bps: config.rate(stage, line).as_bps(),
    };
    (0..=config.stages).map(stage).collect()
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, group) in self.groups.iter().chain(&self.congestion).enumerate() {
            if index > 0 {
                writeln!(f)?;
            }
            group.fmt(f)?;
        }
        loops::write(&self.loops, f)
    }
}

impl fmt::Display for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.title)?;
        let cells = self.rows.iter().map(|row| [&row.symbol, &row.formula, &row.value, row.source]);
        write_table(f, &cells.collect::<Vec<_>>())?;
        if self.stages.is_empty() {
            return Ok(());
        }
        writeln!(f, "  stages: B_k = B_m - (B_m - B_1) / 2^(k-1), R_k = C / 2^k (gfc19 4.2)")?;
        let stages = self.stages.iter().map(|stage| {
            let rate = Rate::bps(stage.rate_bps);
            [stage.stage.to_string(), format!("{} B", stage.threshold_bytes), rate.to_string()]
        });
        let header = ["k", "B_k", "R_k"].map(String::from);
        let table: Vec<_> = std::iter::once(header).chain(stages).collect();
        write_table(f, &table)
    }
}

/// Columns as wide as their widest cell, two spaces apart.
pub(crate) fn write_table<S: AsRef<str>, const N: usize>(
    f: &mut impl fmt::Write,
    rows: &[[S; N]],
) -> fmt::Result {
    let width = |column: usize| {
        rows.iter().map(|row| row[column].as_ref().chars().count()).max().unwrap_or(0)
    };
    let widths: [usize; N] = std::array::from_fn(width);
    for row in rows {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(widths) {
            let cell = cell.as_ref();
            line.push_str(&format!("  {cell}{}", padding(cell, width)));
        }
        writeln!(f, "{}", line.trim_end())?;
    }
    Ok(())
}
