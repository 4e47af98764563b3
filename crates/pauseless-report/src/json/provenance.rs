//! Where pauses came from.

use pauseless_core::id::{FlowId, NodeId};
use pauseless_core::unit::Time;
use pauseless_sim::outcome::{Pause, PauseCause, PauseCycle, PauseTree, PausedLink, Provenance};
use schemars::JsonSchema;
use serde::Serialize;

use super::{QueueName, egress_name, egress_names};
use crate::provenance::{chain, hosts};
use pauseless_run::Run;
use pauseless_text::records;

records! {
    /// All pauses, from the XOFF of an ingress to its XON.
    pub struct ProvenanceRecord(run: &Run, provenance: &Provenance) {
        /// How many there were; frames that only refresh a pause do not count.
        pauses: u64 = provenance.pauses;
        /// One for each place at which pauses began, those with the most links first.
        trees: Vec<TreeRecord> =
            provenance.trees.iter().map(|it| TreeRecord::new(run, it)).collect();
        /// How many further trees there were.
        trees_left_out: u64 = provenance.trees_left_out;
        /// How often a pause closed a circle of pauses, each because of the next.
        cycle_count: u64 = provenance.cycle_count;
        /// The first of these circles.
        cycles: Vec<CycleRecord> =
            provenance.cycles.iter().map(|it| CycleRecord::new(run, it)).collect();
        /// The first pauses, in order of time.
        records: Vec<PauseRecord> =
            provenance.records.iter().map(|it| PauseRecord::new(run, it)).collect();
    }

    /// All pauses that began at one place.
    pub struct TreeRecord(run: &Run, tree: &PauseTree) after {
        let names = |flows: &[FlowId]| {
            flows.iter().map(|flow| run.flow_name(*flow).to_string()).collect()
        };
        let hosts = hosts(run, tree);
    } {
        /// The first port to fill.
        root: QueueName = egress_name(run, tree.root);
        /// The time at which it caused the first pause.
        first_ps: u64 = tree.first.as_ps();
        /// The time at which the last pause was over.
        last_ps: u64 = tree.last.as_ps();
        /// How many pauses it caused.
        pauses: u64 = tree.pauses;
        /// The number of links in the longest chain of pauses.
        depth: u32 = tree.depth;
        /// The links that were stopped, in the order in which they were stopped first.
        links: Vec<LinkRecord> = tree.links.iter().map(|it| LinkRecord::new(run, it)).collect();
        /// The hosts that it reached, each with the ports that were stopped on the way.
        hosts: Vec<HostRecord> =
            hosts.map(|(host, link)| HostRecord::new(run, tree, host, link)).collect();
        /// Flows that waited for the root.
        culprits: Vec<String> = names(&tree.culprits);
        /// Flows that waited at a stopped link although they do not pass the root.
        victims: Vec<String> = names(&tree.victims);
    }

    /// A link of a tree.
    pub struct LinkRecord(run: &Run, link: &PausedLink) {
        /// The egress that was stopped.
        stopped: QueueName = egress_name(run, link.stopped);
        /// The link, by its place in the list, because of which it was stopped first; null for the root.
        because: Option<u32> = link.because;
        /// How many links there are from here to the root.
        depth: u32 = link.depth;
        /// The time at which the link was stopped first.
        first_ps: u64 = link.first.as_ps();
        /// How often the link was stopped.
        pauses: u64 = link.pauses;
        /// How long the link was stopped in all.
        stopped_ps: u64 = link.span.as_ps();
    }

    /// A host that was stopped.
    pub struct HostRecord(run: &Run, tree: &PauseTree, host: NodeId, link: &PausedLink) after {
        let chain = chain(tree, link).into_iter();
        let ports = chain.map(|link| run.port_name(link.stopped.node, link.stopped.port));
    } {
        /// The name of the host.
        host: String = run.node_name(host).to_string();
        /// The time at which the host was stopped first.
        time_ps: u64 = link.first.as_ps();
        /// The ports that were stopped, from the root to the host.
        chain: Vec<String> = ports.collect();
    }

    /// Pauses that wait for each other.
    pub struct CycleRecord(run: &Run, cycle: &PauseCycle) {
        /// When the last of them was sent.
        time_ps: u64 = cycle.time.as_ps();
        /// What they stop: each waits for the next, the last for the first.
        stopped: Vec<QueueName> = egress_names(run, &cycle.stopped);
    }

    /// A pause of one sender.
    pub struct PauseRecord(run: &Run, pause: &Pause) {
        /// The egress that was stopped.
        stopped: QueueName = egress_name(run, pause.stopped);
        /// The time at which the PAUSE frame was sent.
        time_ps: u64 = pause.time.as_ps();
        /// When the sender was told to go on; null if it was not.
        end_ps: Option<u64> = pause.end.map(Time::as_ps);
        /// Why the sender was stopped.
        cause: CauseRecord = CauseRecord::new(run, pause.cause);
    }
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

impl CauseRecord {
    pub(crate) fn new(run: &Run, cause: PauseCause) -> CauseRecord {
        match cause {
            PauseCause::Pause(number) => CauseRecord::Pause(number),
            PauseCause::Egress(queue) => CauseRecord::Egress(egress_name(run, queue)),
            PauseCause::Host(host) => CauseRecord::Host(run.node_name(host).to_string()),
        }
    }
}
