//! A sweep for programs.

use schemars::JsonSchema;
use serde::Serialize;

use super::{Cases, Finding, Sweep};
use crate::check::json::{ComponentRecord, component_record};
use crate::fabric::Fabric;

/// What came of a sweep.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SweepRecord {
    /// What was tried, in words.
    pub tried: String,
    /// What random failures were drawn from.
    pub seed: u64,
    /// How many cases there are.
    pub case_count: usize,
    /// How many were tried.
    pub tried_count: usize,
    /// Present and true when the sweep was broken off.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub interrupted: bool,
    /// Whether the same rule has a cycle even without any failure.
    pub healthy_cyclic: bool,
    /// How many have a cyclic buffer dependency.
    pub cyclic_count: usize,
    /// Their share.
    pub cyclic_share: f64,
    /// The 95 % confidence interval of the share, for random cases.
    pub confidence_95: Option<[f64; 2]>,
    /// How many leave some pair of end nodes without a route, for single failures.
    pub disconnecting_count: Option<usize>,
    /// The worst of those with a cycle.
    pub worst: Vec<FindingRecord>,
}

/// Failures that create a cycle.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct FindingRecord {
    /// The number of the case; of random sets, the sample.
    pub case: usize,
    /// What fails.
    pub failed: Vec<String>,
    /// How many buffers lie in cycles.
    pub buffers: usize,
    /// Pairs of end nodes without a route.
    pub unrouted_pairs: u64,
    /// The largest group of buffers that can all wait for each other.
    pub component: ComponentRecord,
}

/// The record of a sweep.
pub fn record(fabric: &Fabric, sweep: &Sweep) -> SweepRecord {
    let (share, interval) = sweep.share();
    let finding = |finding: &Finding| FindingRecord {
        case: finding.case,
        failed: finding.failed.clone(),
        buffers: finding.buffers,
        unrouted_pairs: finding.unrouted_pairs,
        component: component_record(fabric, &finding.component),
    };
    SweepRecord {
        tried: sweep.plan.describe(),
        seed: sweep.plan.seed,
        case_count: sweep.case_count,
        tried_count: sweep.tried,
        interrupted: !sweep.is_complete(),
        healthy_cyclic: sweep.is_healthy_cyclic,
        cyclic_count: sweep.cyclic,
        cyclic_share: share,
        confidence_95: match sweep.plan.cases {
            Cases::Singles => None,
            Cases::Random { .. } => Some(interval),
        },
        disconnecting_count: sweep.disconnecting,
        worst: sweep.worst.iter().map(finding).collect(),
    }
}
