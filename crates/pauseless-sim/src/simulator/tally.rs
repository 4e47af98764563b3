//! The counters and findings of a run.

use pauseless_core::congestion::Feedback;
use pauseless_core::flow_control::{Control, Signal};
use pauseless_core::id::Class;
use pauseless_core::unit::{Bytes, Time};

use crate::outcome::{Deadlock, Loss, Losses, Lost};

/// Counters and findings of the whole run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    pub events: u64,
    pub packet_hops: u64,
    pub losses: Losses,
    /// Packets that were dropped on purpose: by TTL, or for lack of a class.
    pub expired_packets: u64,
    pub expired_bytes: Bytes,
    /// Feedback packets, and their bytes.
    pub answers: u64,
    pub acknowledgements: u64,
    /// Packets that a switch has marked.
    pub marked: u64,
    pub answer_bytes: Bytes,
    /// The bytes of feedback packets that switches have made.
    pub notice_bytes: Bytes,
    /// The bytes of feedback packets that have arrived.
    pub answered_bytes: Bytes,
    /// Control frames that wires have lost.
    pub lost_control_frames: u64,
    pub loss: Option<Loss>,
    /// The packets that targets discarded.
    pub refused: Lost,
    pub pause_frames: u64,
    pub pause_frames_by_class: [u64; Class::COUNT_MAX],
    pub feedback_frames: u64,
    pub gfc_holds: u64,
    pub deadlock: Option<Deadlock>,
    pub last_arrival: Time,
}

impl Tally {
    /// Counts a control frame that is sent.
    pub(super) fn count(&mut self, control: Control) {
        self.feedback_frames += 1;
        let is_pause = matches!(control.signal, Signal::Pause { quanta } if quanta > 0);
        self.pause_frames += u64::from(is_pause);
        self.pause_frames_by_class[control.class.index()] += u64::from(is_pause);
    }

    /// Counts a feedback packet of `size` bytes that is sent.
    #[inline]
    pub(super) fn count_answer(&mut self, feedback: Feedback, size: Bytes) {
        let is_ack = matches!(feedback, Feedback::Ack { .. } | Feedback::Nack { .. });
        self.answers += 1;
        self.acknowledgements += u64::from(is_ack);
        self.answer_bytes += size;
    }

    /// Keeps the first loss.
    pub(super) fn lose(&mut self, loss: Option<Loss>) {
        // Ports are numbered by node and port, and in that order arrivals happen at one instant.
        let key = |loss: &Loss| (loss.time, loss.node, loss.port);
        let both = self.loss.take().into_iter().chain(loss);
        self.loss = both.min_by_key(key);
    }

    /// Adds the counts of another part of the run.
    pub(crate) fn add(&mut self, part: &Tally) {
        // Every field is named, so that none is forgotten.
        let Tally {
            events,
            packet_hops,
            losses,
            expired_packets,
            expired_bytes,
            answers,
            acknowledgements,
            marked,
            answer_bytes,
            notice_bytes,
            answered_bytes,
            lost_control_frames,
            loss,
            refused,
            pause_frames,
            pause_frames_by_class,
            feedback_frames,
            gfc_holds,
            deadlock,
            last_arrival,
        } = part;
        debug_assert!(deadlock.is_none(), "a part looks for none");
        self.events += events;
        self.packet_hops += packet_hops;
        add_losses(&mut self.losses, losses);
        self.expired_packets += expired_packets;
        self.expired_bytes += *expired_bytes;
        self.answers += answers;
        self.acknowledgements += acknowledgements;
        self.marked += marked;
        self.answer_bytes += *answer_bytes;
        self.notice_bytes += *notice_bytes;
        self.answered_bytes += *answered_bytes;
        self.lost_control_frames += lost_control_frames;
        self.lose(*loss);
        add_lost(&mut self.refused, refused);
        self.pause_frames += pause_frames;
        for (sum, count) in self.pause_frames_by_class.iter_mut().zip(pause_frames_by_class) {
            *sum += count;
        }
        self.feedback_frames += feedback_frames;
        self.gfc_holds += gfc_holds;
        self.last_arrival = self.last_arrival.max(*last_arrival);
    }
}

fn add_losses(sum: &mut Losses, part: &Losses) {
    let Losses { overrun, watchdog, drain, wire, event, no_route } = part;
    add_lost(&mut sum.overrun, overrun);
    add_lost(&mut sum.watchdog, watchdog);
    add_lost(&mut sum.drain, drain);
    add_lost(&mut sum.wire, wire);
    add_lost(&mut sum.event, event);
    add_lost(&mut sum.no_route, no_route);
}

fn add_lost(sum: &mut Lost, part: &Lost) {
    sum.packets += part.packets;
    sum.bytes += part.bytes;
}
