//! The JSON documents of `explain`.

use schemars::JsonSchema;
use serde::Serialize;

use pauseless_plan::explain::{Loop, PaperRecord, StageRecord, StepRecord, explain, paper};
use pauseless_scenario::Scenario;
use pauseless_text::record::SCHEMA;
use pauseless_text::records;

/// The document of `explain`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ExplainDocument {
    /// The version of the format of this document.
    pub schema: u32,
    /// The name of the scenario.
    pub scenario: String,
    /// One element per set of ports that are configured alike.
    pub groups: Vec<GroupRecord>,
    /// The parameters of the congestion control; absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub congestion_control: Option<CongestionRecord>,
    /// The flows that circle; absent if there is none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub loops: Vec<LoopRecord>,
}

records! {
    /// A flow in a routing loop.
    pub struct LoopRecord(found: Loop) after {
        let exact = found.boundary.exact_bps * found.frame_share;
    } {
        /// The name of the flow.
        flow: String = found.flow;
        /// The switches of the loop, from where it enters.
        switches: Vec<String> = found.switches;
        /// The TTL that its packets start with.
        ttl: u16 = found.boundary.ttl;
        /// The rate of the slowest link of the loop.
        slowest_bps: u64 = found.boundary.slowest.as_bps();
        /// The paper's bound, n B / TTL.
        paper_bps: f64 = found.boundary.paper_bps * found.frame_share;
        /// The exact bound; absent if packets end before the loop.
        exact_bps: Option<f64> = Some(exact).filter(|exact| exact.is_finite());
        /// The rate at which the flow sends.
        rate_bps: f64 = found.rate_bps;
        /// What all flows that circle put on the fullest link of this loop, as a share of its rate.
        load: f64 = found.load;
        /// `flows`, `balances`, `fills` or `drains`.
        verdict: &'static str = found.verdict.name();
    }
}

/// A congestion control with its parameters.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct CongestionRecord {
    /// The name of the congestion control, such as `pcn` or `qcn`.
    pub name: &'static str,
    /// One row per parameter.
    pub rows: Vec<StepRecord>,
}

/// The derivation for some ports.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct GroupRecord {
    /// The names of the ports that are configured alike.
    pub ports: String,
    /// The steps, in order.
    pub rows: Vec<StepRecord>,
    /// The stages of buffer-based GFC.
    pub stages: Vec<StageRecord>,
}

/// The document of `explain --paper`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PaperDocument {
    /// The version of the format of this document.
    pub schema: u32,
    /// One element per printed number.
    pub rows: Vec<PaperRecord>,
}

/// The document of a scenario's derivations.
pub fn explain_document(scenario: &Scenario) -> ExplainDocument {
    let explanation = explain(scenario);
    let congestion = explanation.congestion.map(|group| CongestionRecord {
        name: scenario.config.congestion.control.name(),
        rows: group.rows,
    });
    let groups = explanation.groups.into_iter().map(|group| GroupRecord {
        ports: group.title,
        rows: group.rows,
        stages: group.stages,
    });
    ExplainDocument {
        schema: SCHEMA,
        scenario: scenario.name.clone(),
        groups: groups.collect(),
        congestion_control: congestion,
        loops: explanation.loops.into_iter().map(LoopRecord::new).collect(),
    }
}

/// The document of the numbers of the GFC paper.
pub fn paper_document() -> PaperDocument {
    PaperDocument { schema: SCHEMA, rows: paper().rows }
}
