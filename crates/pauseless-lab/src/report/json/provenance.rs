//! Where pauses came from.

use pauseless_core::id::FlowId;
use pauseless_core::unit::Time;
use pauseless_sim::outcome::{EgressQueue, Pause, PauseCause, PauseTree};
use schemars::JsonSchema;
use serde::Serialize;

use super::{QueueName, Run, egress_names, queue_name};
use crate::report::provenance::{chain, hosts};

/// All pauses, from the XOFF of an ingress to its XON.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ProvenanceRecord {
    /// How many there were; frames that only refresh a pause do not count.
    pub pauses: u64,
    /// One for each place at which pauses began, those with the most links first.
    pub trees: Vec<TreeRecord>,
    /// How many further trees there were.
    pub trees_left_out: u64,
    /// How often a pause closed a circle of pauses, each because of the next.
    pub cycle_count: u64,
    /// The first of these circles.
    pub cycles: Vec<CycleRecord>,
    /// The first pauses, in order of time.
    pub records: Vec<PauseRecord>,
}

/// All pauses that began at one place.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TreeRecord {
    /// The first port to fill.
    pub root: QueueName,
    /// When it caused the first pause.
    pub first_ps: u64,
    /// When the last one was over.
    pub last_ps: u64,
    /// How many it caused.
    pub pauses: u64,
    /// The longest chain.
    pub depth: u32,
    /// The links that were stopped, in the order in which they were stopped first.
    pub links: Vec<LinkRecord>,
    /// The hosts that it reached, each with the ports that were stopped on the way.
    pub hosts: Vec<HostRecord>,
    /// Flows that waited for the root.
    pub culprits: Vec<String>,
    /// Flows that waited at a stopped link although they do not pass the root.
    pub victims: Vec<String>,
}

/// A link of a tree.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct LinkRecord {
    /// The egress that was stopped.
    pub stopped: QueueName,
    /// The link, by its place in the list, because of which it was stopped first; null for the root.
    pub because: Option<u32>,
    /// How many links there are from here to the root.
    pub depth: u32,
    /// When it was stopped first.
    pub first_ps: u64,
    /// How often.
    pub pauses: u64,
    /// For how long in all.
    pub stopped_ps: u64,
}

/// A host that was stopped.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct HostRecord {
    /// Its name.
    pub host: String,
    /// When it was stopped first.
    pub time_ps: u64,
    /// The ports that were stopped, from the root to the host.
    pub chain: Vec<String>,
}

/// Pauses that wait for each other.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct CycleRecord {
    /// When the last of them was sent.
    pub time_ps: u64,
    /// What they stop: each waits for the next, the last for the first.
    pub stopped: Vec<QueueName>,
}

/// One pause.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PauseRecord {
    /// The egress that was stopped.
    pub stopped: QueueName,
    /// When the frame was sent.
    pub time_ps: u64,
    /// When the sender was told to go on; null if it was not.
    pub end_ps: Option<u64>,
    /// Why.
    pub cause: CauseRecord,
}

/// Why a sender was stopped.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CauseRecord {
    /// Its packets wait behind the pause of this number in the list.
    Pause(u32),
    /// More came for this egress than it could send.
    Egress(QueueName),
    /// This host takes packets too slowly.
    Host(String),
}

pub(super) fn provenance(run: &Run) -> Option<ProvenanceRecord> {
    let provenance = run.outcome.provenance.as_ref()?;
    let trees = provenance.trees.iter().map(|it| tree(run, it));
    let cycles = provenance.cycles.iter().map(|cycle| CycleRecord {
        time_ps: cycle.time.as_ps(),
        stopped: egress_names(run, &cycle.stopped),
    });
    let records = provenance.records.iter().map(|it| pause(run, it));
    Some(ProvenanceRecord {
        pauses: provenance.pauses,
        trees: trees.collect(),
        trees_left_out: provenance.trees_left_out,
        cycle_count: provenance.cycle_count,
        cycles: cycles.collect(),
        records: records.collect(),
    })
}

fn tree(run: &Run, tree: &PauseTree) -> TreeRecord {
    let links = tree.links.iter().map(|link| LinkRecord {
        stopped: egress_name(run, link.stopped),
        because: link.because,
        depth: link.depth,
        first_ps: link.first.as_ps(),
        pauses: link.pauses,
        stopped_ps: link.span.as_ps(),
    });
    let reached = hosts(run, tree).map(|(host, link)| {
        let chain = chain(tree, link).into_iter();
        let ports = chain.map(|link| run.port_name(link.stopped.node, link.stopped.port));
        HostRecord {
            host: run.node_name(host).to_string(),
            time_ps: link.first.as_ps(),
            chain: ports.collect(),
        }
    });
    let names = |flows: &[FlowId]| {
        let names = flows.iter().map(|flow| run.flow_name(*flow).to_string());
        names.collect()
    };
    TreeRecord {
        root: egress_name(run, tree.root),
        first_ps: tree.first.as_ps(),
        last_ps: tree.last.as_ps(),
        pauses: tree.pauses,
        depth: tree.depth,
        links: links.collect(),
        hosts: reached.collect(),
        culprits: names(&tree.culprits),
        victims: names(&tree.victims),
    }
}

fn pause(run: &Run, pause: &Pause) -> PauseRecord {
    PauseRecord {
        stopped: egress_name(run, pause.stopped),
        time_ps: pause.time.as_ps(),
        end_ps: pause.end.map(Time::as_ps),
        cause: match pause.cause {
            PauseCause::Pause(number) => CauseRecord::Pause(number),
            PauseCause::Egress(queue) => CauseRecord::Egress(egress_name(run, queue)),
            PauseCause::Host(host) => CauseRecord::Host(run.node_name(host).to_string()),
        },
    }
}

fn egress_name(run: &Run, queue: EgressQueue) -> QueueName {
    queue_name(run, (queue.node, queue.port, queue.class))
}
