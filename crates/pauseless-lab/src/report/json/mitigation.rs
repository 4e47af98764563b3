//! Losses by cause, deadlocks one by one, and what the watchdogs have seen.

use pauseless_core::unit::Time;
use pauseless_sim::outcome::{Losses, Lost};
use schemars::JsonSchema;
use serde::Serialize;

use super::{QueueName, Run, egress_names, queue_name};

/// What was lost, by cause.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct LossesRecord {
    /// What did not fit where it arrived.
    pub overrun: LostRecord,
    /// What watchdogs dropped.
    pub watchdog: LostRecord,
    /// What was dropped to break a deadlock.
    pub drain: LostRecord,
    /// What wires lost by themselves; left out if they were not to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wire: Option<LostRecord>,
}

/// Packets and their bytes.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct LostRecord {
    /// How many.
    pub packets: u64,
    /// Frame bytes.
    pub bytes: u64,
}

/// A deadlock and how it ended.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct EpisodeRecord {
    /// When it was found.
    pub found_ps: u64,
    /// When a queue of the cycle moved again, or was dropped; null if none ever did.
    pub broken_ps: Option<u64>,
    /// Each waits for the next, the last for the first.
    pub cycle: Vec<QueueName>,
}

/// A storm.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TripRecord {
    /// The egress queue that was paused for too long.
    #[serde(flatten)]
    pub at: QueueName,
    /// When the detection time was over.
    pub time_ps: u64,
    /// When no PAUSE had come for the restoration time; null if that never happened.
    pub restored_ps: Option<u64>,
    /// What was dropped in between.
    pub dropped: LostRecord,
}

pub(super) fn losses(losses: &Losses) -> LossesRecord {
    LossesRecord {
        overrun: lost(losses.overrun),
        watchdog: lost(losses.watchdog),
        drain: lost(losses.drain),
        wire: (losses.wire.packets > 0).then(|| lost(losses.wire)),
    }
}

fn lost(lost: Lost) -> LostRecord {
    LostRecord {
        packets: lost.packets,
        bytes: lost.bytes.get(),
    }
}

pub(super) fn episodes(run: &Run) -> Vec<EpisodeRecord> {
    let episodes = run.outcome.episodes.iter();
    let records = episodes.map(|episode| EpisodeRecord {
        found_ps: episode.found.as_ps(),
        broken_ps: episode.broken.map(Time::as_ps),
        cycle: egress_names(run, &episode.cycle),
    });
    records.collect()
}

pub(super) fn trips(run: &Run) -> Vec<TripRecord> {
    let trips = run.outcome.trips.iter();
    let records = trips.map(|trip| TripRecord {
        at: queue_name(run, (trip.queue.node, trip.queue.port, trip.queue.class)),
        time_ps: trip.time.as_ps(),
        restored_ps: trip.restored.map(Time::as_ps),
        dropped: lost(trip.dropped),
    });
    records.collect()
}
