//! The object `metrics` of a run. What has nothing to say is absent; see `docs/metrics.md`.

use pauseless_core::unit::{Bytes, Span, Time};
use schemars::JsonSchema;
use serde::Serialize;

use super::super::Run;
use crate::metrics::completion::{Completion, Group, SizeRange};
use crate::metrics::distribution::Distribution;
use crate::metrics::links::{LayerUse, PortUse};

/// All metrics of a run.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct MetricsRecord {
    /// Completion of finite flows; absent without any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completion: Option<CompletionRecord>,
    /// Jain's index over the goodput of all flows that have started; absent for fewer than two.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jain_goodput: Option<f64>,
    /// Jain's index over the late goodput of flows without end; absent for fewer than two.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jain_goodput_late_endless: Option<f64>,
    /// How congestion spread; absent if no link was held.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub congestion_tree: Option<TreeRecord>,
    /// Acknowledgements and notifications; absent if there were none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answers: Option<AnswersRecord>,
    /// The links by the layer of their sending end.
    pub layers: Vec<LayerRecord>,
    /// Every port of every node.
    pub ports: Vec<PortRecord>,
}

/// Completion of finite flows.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct CompletionRecord {
    /// Finished flows per second of simulated time.
    pub flows_per_s: f64,
    /// All finite flows.
    #[serde(flatten)]
    pub all: GroupRecord,
    /// The same by size; empty if all are in one range.
    pub by_size: Vec<SizeRecord>,
    /// The same by traffic class; empty if all are in one.
    pub by_class: Vec<ClassRecord>,
}

/// Flows of a range of sizes.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SizeRecord {
    /// The least size in the range.
    pub bytes_min: u64,
    /// The least size above the range; null if there is no limit.
    pub bytes_below: Option<u64>,
    /// Those flows.
    #[serde(flatten)]
    pub group: GroupRecord,
}

/// Flows of a traffic class.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ClassRecord {
    /// The class.
    pub class: u8,
    /// Those flows.
    #[serde(flatten)]
    pub group: GroupRecord,
}

/// Some finite flows.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct GroupRecord {
    /// Those whose target has everything.
    pub finished: usize,
    /// Those that have started and not finished.
    pub unfinished: usize,
    /// Those that have not started.
    pub not_started: usize,
    /// Completion times of those that have finished; absent without any.
    #[serde(flatten)]
    pub fct: Option<FctRecord>,
    /// Their completion times as multiples of those in an empty network.
    #[serde(flatten)]
    pub slowdown: Option<SlowdownRecord>,
}

/// Completion times.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct FctRecord {
    /// The mean.
    pub fct_mean_ps: f64,
    /// The median.
    pub fct_p50_ps: u64,
    /// The 95th percentile.
    pub fct_p95_ps: u64,
    /// The 99th percentile.
    pub fct_p99_ps: u64,
    /// The 99.9th percentile.
    pub fct_p999_ps: u64,
    /// The largest.
    pub fct_max_ps: u64,
}

/// Slowdowns.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SlowdownRecord {
    /// The mean.
    pub slowdown_mean: f64,
    /// The median.
    pub slowdown_p50: f64,
    /// The 95th percentile.
    pub slowdown_p95: f64,
    /// The 99th percentile.
    pub slowdown_p99: f64,
    /// The 99.9th percentile.
    pub slowdown_p999: f64,
    /// The largest.
    pub slowdown_max: f64,
}

/// How far and how long congestion spread from link to link.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TreeRecord {
    /// For how long any link was in the tree.
    pub duration_ps: u64,
    /// The most links at a time.
    pub links_max: u32,
    /// The mean number of links while there was any.
    pub links_mean: f64,
    /// How many hosts were reached at any time.
    pub hosts: u32,
}

/// Acknowledgements and notifications.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct AnswersRecord {
    /// How many.
    pub packets: u64,
    /// How many of them are acknowledgements.
    pub acknowledgements: u64,
    /// How many are notifications of congestion.
    pub notifications: u64,
    /// Data packets that were marked on their way.
    pub marked_packets: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Those bytes of all bytes.
    pub share: f64,
}

/// The ports of the nodes of one layer.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct LayerRecord {
    /// 0 for hosts, 1 for the switches next to them, and so on.
    pub layer: u8,
    /// How many ports there are.
    pub links: usize,
    /// The mean of their utilisations.
    pub utilisation_mean: f64,
    /// The largest of their utilisations.
    pub utilisation_max: f64,
    /// How often they were told to stop.
    pub pauses: u64,
    /// The same per port and millisecond of simulated time.
    pub pause_per_ms_per_link: f64,
    /// How many of them were ever held.
    pub links_held: usize,
}

/// A port, which stands for the direction of its link in which it sends.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PortRecord {
    /// The node.
    pub node: String,
    /// Its port, such as `S1:S2`.
    pub port: String,
    /// Bytes of data and answers that it sent.
    pub sent_bytes: u64,
    /// Their share of what the link could have carried.
    pub utilisation: f64,
    /// How often it was told to stop although it was not stopped.
    pub pauses: u64,
    /// How long it was stopped, or slowed down by GFC.
    pub held_ps: u64,
    /// When that was for the first time; absent if never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub held_first_ps: Option<u64>,
    /// When that was for the last time; absent if never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub held_last_ps: Option<u64>,
}

pub(super) fn record(run: &Run) -> MetricsRecord {
    let metrics = run.metrics();
    let tree = metrics.tree.map(|tree| TreeRecord {
        duration_ps: tree.duration.as_ps(),
        links_max: tree.links_max,
        links_mean: tree.links_mean,
        hosts: tree.hosts,
    });
    let answers = metrics.answers.map(|answers| AnswersRecord {
        packets: answers.packets,
        acknowledgements: answers.acknowledgements,
        notifications: answers.packets - answers.acknowledgements,
        marked_packets: answers.marked_packets,
        bytes: answers.bytes.get(),
        share: answers.share,
    });
    MetricsRecord {
        completion: metrics.completion.as_ref().map(completion),
        jain_goodput: metrics.fairness.map(|fairness| fairness.jain),
        jain_goodput_late_endless: metrics.fairness_endless.map(|fairness| fairness.jain),
        congestion_tree: tree,
        answers,
        layers: metrics.layers.iter().map(layer).collect(),
        ports: metrics.ports.iter().map(|at| port(run, at)).collect(),
    }
}

fn completion(completion: &Completion) -> CompletionRecord {
    let by_size = completion.by_size.iter();
    let by_size = by_size.map(|(SizeRange { min, below }, members)| SizeRecord {
        bytes_min: min.get(),
        bytes_below: below.map(Bytes::get),
        group: group(members),
    });
    let by_class = completion.by_class.iter();
    let by_class = by_class.map(|(class, members)| ClassRecord {
        class: class.0,
        group: group(members),
    });
    CompletionRecord {
        flows_per_s: completion.flows_per_s,
        all: group(&completion.all),
        by_size: by_size.collect(),
        by_class: by_class.collect(),
    }
}

fn group(group: &Group) -> GroupRecord {
    let fct = |fct: Distribution<u64>| FctRecord {
        fct_mean_ps: fct.mean,
        fct_p50_ps: fct.p50,
        fct_p95_ps: fct.p95,
        fct_p99_ps: fct.p99,
        fct_p999_ps: fct.p999,
        fct_max_ps: fct.max,
    };
    let slowdown = |slowdown: Distribution<f64>| SlowdownRecord {
        slowdown_mean: slowdown.mean,
        slowdown_p50: slowdown.p50,
        slowdown_p95: slowdown.p95,
        slowdown_p99: slowdown.p99,
        slowdown_p999: slowdown.p999,
        slowdown_max: slowdown.max,
    };
    GroupRecord {
        finished: group.finished,
        unfinished: group.unfinished,
        not_started: group.not_started,
        fct: group.fct.map(fct),
        slowdown: group.slowdown.map(slowdown),
    }
}

fn layer(layer: &LayerUse) -> LayerRecord {
    LayerRecord {
        layer: layer.layer,
        links: layer.links,
        utilisation_mean: layer.utilisation_mean,
        utilisation_max: layer.utilisation_max,
        pauses: layer.pauses,
        pause_per_ms_per_link: layer.pause_per_ms_per_link,
        links_held: layer.links_held,
    }
}

fn port(run: &Run, port: &PortUse) -> PortRecord {
    PortRecord {
        node: run.node_name(port.node).to_string(),
        port: run.port_name(port.node, port.port),
        sent_bytes: port.sent.get(),
        utilisation: port.utilisation,
        pauses: port.pauses,
        held_ps: Span::as_ps(port.held),
        held_first_ps: port.held_first.map(Time::as_ps),
        held_last_ps: port.held_last.map(Time::as_ps),
    }
}
