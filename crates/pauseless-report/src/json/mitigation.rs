//! Losses by cause, deadlocks one by one, and what the watchdogs have seen.

use pauseless_core::unit::Time;
use pauseless_sim::outcome::{Episode, Lost, Trip};

use super::{QueueName, egress_name, egress_names};
use crate::verdict::event_name;
use pauseless_run::Run;
use pauseless_text::records;

records! {
    /// What was lost, by cause.
    pub struct LossesRecord(run: &Run) after {
        let losses = &run.outcome.losses;
        let has_events = !run.scenario.config.changes.is_empty();
        let after_events = |lost: Lost| has_events.then(|| LostRecord::new(lost));
    } {
        /// What did not fit where it arrived.
        overrun: LostRecord = LostRecord::new(losses.overrun);
        /// What the PFC watchdogs of switches dropped.
        watchdog: LostRecord = LostRecord::new(losses.watchdog);
        /// What was dropped to break a deadlock.
        drain: LostRecord = LostRecord::new(losses.drain);
        /// What wires lost by themselves; left out if they were not to.
        #[serde(skip_serializing_if = "Option::is_none")]
        wire: Option<LostRecord> = (losses.wire.packets > 0).then(|| LostRecord::new(losses.wire));
        /// What was lost with links and switches that failed; left out without events.
        #[serde(skip_serializing_if = "Option::is_none")]
        event: Option<LostRecord> = after_events(losses.event);
        /// What came to a switch that knew no way for it any more; left out without events.
        #[serde(skip_serializing_if = "Option::is_none")]
        no_route: Option<LostRecord> = after_events(losses.no_route);
    }

    /// Packets and their bytes.
    #[derive(Copy)]
    pub struct LostRecord(lost: Lost) {
        /// How many packets were lost.
        packets: u64 = lost.packets;
        /// The bytes of these packets as frames.
        bytes: u64 = lost.bytes.get();
    }

    /// A deadlock and how it ended.
    pub struct EpisodeRecord(run: &Run, episode: &Episode) {
        /// The time at which the deadlock was found.
        found_ps: u64 = episode.found.as_ps();
        /// When a queue of the cycle moved again, or was dropped; null if none ever did.
        broken_ps: Option<u64> = episode.broken.map(Time::as_ps);
        /// The last event before it was found; absent if there was none.
        #[serde(skip_serializing_if = "Option::is_none")]
        after_event: Option<String> = event_name(run, episode.after_event);
        /// The event that broke it; absent if none did.
        #[serde(skip_serializing_if = "Option::is_none")]
        broken_by_event: Option<String> = event_name(run, episode.broken_by_event);
        /// Each waits for the next, the last for the first.
        cycle: Vec<QueueName> = egress_names(run, &episode.cycle);
    }

    /// A pause storm that a watchdog has found.
    pub struct TripRecord(run: &Run, trip: &Trip) {
        /// The egress queue that was paused for too long.
        #[serde(flatten)]
        at: QueueName = egress_name(run, trip.queue);
        /// The time at which the detection time was over.
        time_ps: u64 = trip.time.as_ps();
        /// When no PAUSE had come for the restoration time; null if that never happened.
        restored_ps: Option<u64> = trip.restored.map(Time::as_ps);
        /// What was dropped in between.
        dropped: LostRecord = LostRecord::new(trip.dropped);
    }
}
