//! A sweep for programs.

use super::{Cases, Finding, Sweep};
use crate::json::ComponentRecord;
use crate::transient::TransientRecord;
use pauseless_fabric::fabric::Fabric;
use pauseless_text::records;

records! {
    /// The result of a sweep over failures.
    pub struct SweepRecord(fabric: &Fabric, sweep: &Sweep) after {
        let (share, interval) = sweep.share();
        let is_random = matches!(sweep.plan.cases, Cases::Random { .. });
    } {
        /// What was tried, in words.
        tried: String = sweep.plan.describe();
        /// The seed that random failures were drawn from.
        seed: u64 = sweep.plan.seed;
        /// How many cases there are.
        case_count: usize = sweep.case_count;
        /// How many cases were tried.
        tried_count: usize = sweep.tried;
        /// Present and true when the sweep was broken off.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        interrupted: bool = !sweep.is_complete();
        /// Whether the same rule has a cycle even without any failure.
        healthy_cyclic: bool = sweep.is_healthy_cyclic;
        /// How many cases have a cyclic buffer dependency.
        cyclic_count: usize = sweep.cyclic;
        /// The share of these cases among all that were tried.
        cyclic_share: f64 = share;
        /// The 95 % confidence interval of the share, for random cases.
        confidence_95: Option<[f64; 2]> = is_random.then_some(interval);
        /// How many cases leave some pair of end nodes without a route, for single failures.
        disconnecting_count: Option<usize> = sweep.disconnecting;
        /// The worst of those with a cycle.
        worst: Vec<FindingRecord> =
            sweep.worst.iter().map(|it| FindingRecord::new(fabric, it)).collect();
        /// What happens while switches learn of a failure, where that was asked for.
        #[serde(skip_serializing_if = "Option::is_none")]
        transient: Option<TransientRecord> = None;
    }

    /// Failures that create a cycle.
    pub struct FindingRecord(fabric: &Fabric, finding: &Finding) {
        /// The number of the case; of random sets, the sample.
        case: usize = finding.case;
        /// The names of the links and switches that fail.
        failed: Vec<String> = finding.failed.clone();
        /// How many buffers lie in cycles.
        buffers: usize = finding.buffers;
        /// Pairs of end nodes without a route.
        unrouted_pairs: u64 = finding.unrouted_pairs;
        /// The largest group of buffers that can all wait for each other.
        component: ComponentRecord = ComponentRecord::new(fabric, &finding.component);
    }
}
