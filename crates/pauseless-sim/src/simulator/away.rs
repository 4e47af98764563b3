//! Frames on the wires between two parts of a run.

use pauseless_core::congestion::Feedback;
use pauseless_core::deadlock::Detector;
use pauseless_core::flow_control::Control;
use pauseless_core::id::NodeId;
use pauseless_core::unit::{Span, Time};

use super::{Simulator, event_queue, mitigate::Mitigating, stop::Stopping};
use crate::event::{Kind, Where};
use crate::fabric::{End, Frame};
use crate::heard::Listening;
use crate::progress::FlowState;
use crate::receiver::Receivers;
use crate::record::Recorder;
use crate::reorder::Order;
use crate::served::Served;
use crate::tag::{Answers, Trail, Trails};
use crate::tap::Tapped;

/// A frame on its way to another part of the run.
#[derive(Clone, Debug)]
pub(crate) struct Message {
    /// When the frame has fully arrived.
    pub time: Time,
    /// The global number of the port that it arrives at.
    end: u32,
    frame: Frame,
    /// Whether it is a control frame outside the wire, which takes effect when it arrives.
    is_out_of_band: bool,
    /// The feedback that it carries, if it is a feedback packet.
    said: Option<Feedback>,
    /// The telemetry that switches have written into it, or into the packet that it acknowledges.
    trail: Option<Box<Trail>>,
}

/// The frames that one part of a run sends to the others.
#[derive(Debug)]
pub(crate) struct Away {
    /// The frames by the part that they go to.
    pub outbox: Vec<Vec<Message>>,
    /// The earliest arrival of the frames sent since the last call of `take_earliest`.
    earliest: Time,
    /// Whether a queue was stopped since the last search for deadlocks.
    pub is_suspicious: bool,
}

impl Away {
    /// The earliest arrival of the frames sent since the last call.
    pub(crate) fn take_earliest(&mut self) -> Time {
        std::mem::replace(&mut self.earliest, Time::MAX)
    }
}

impl<'c> Simulator<'c> {
    /// An empty part, one of `count`, of this run, which has not begun.
    pub(crate) fn empty_part(
        &self,
        count: usize,
        window: Span,
        place: impl Fn(NodeId) -> Where,
    ) -> Simulator<'c> {
        let config = self.config;
        let fabric = self.fabric.empty(config);
        Simulator {
            config,
            queue: event_queue(config, place),
            window,
            detector: Detector::default(),
            recorder: Recorder::new(config),
            receivers: Receivers::new(&config.receivers),
            now: self.now,
            end: self.end,
            flows: vec![FlowState::default(); config.flows.len()],
            served: Served::new(config),
            routes: self.routes.clone(),
            paths: self.paths.clone(),
            followers: self.followers.clone(),
            answers: Answers::default(),
            trails: Trails::default(),
            order: Order::new(config),
            wire_losses: self.wire_losses.clone(),
            is_trailing: self.is_trailing,
            spread: self.spread.part(),
            packet_max: self.packet_max,
            is_plain: self.is_plain,
            is_counting: self.is_counting,
            is_controlling: self.is_controlling,
            is_counting_credit: self.is_counting_credit,
            is_out_of_band: self.is_out_of_band,
            is_settling: self.is_settling,
            blocks_heads: self.blocks_heads,
            way: self.way,
            later: Vec::new(),
            posted: Vec::new(),
            mitigating: Mitigating::new(config),
            balancing: self.balancing.clone(),
            changing: None,
            stopping: Stopping::new(config),
            tracer: None,
            replay: None,
            tapped: Tapped::default(),
            listening: Listening::new(&config.probes, self.fabric.ends.len()),
            away: Some(Box::new(Away {
                outbox: vec![Vec::new(); count],
                earliest: Time::MAX,
                is_suspicious: false,
            })),
            tally: super::Tally::default(),
            fabric,
        }
    }

    /// Puts a frame on a wire that leads to another part.
    #[inline(never)]
    pub(super) fn post(&mut self, index: usize, time: Time, frame: Frame) {
        let End { peer, away, .. } = self.fabric.ends[index];
        let (said, trail) = match frame {
            Frame::Data(packet) => self.take_note(packet.tag),
            Frame::Control(_) => (None, None),
        };
        let Some(post) = &mut self.away else {
            unreachable!("only parts have cut wires");
        };
        post.earliest = post.earliest.min(time);
        post.outbox[usize::from(away)].push(Message {
            time,
            end: peer,
            frame,
            is_out_of_band: false,
            said,
            trail: trail.map(Box::new),
        });
    }

    /// Sends a control frame outside the wire to another part. It takes at least as long as the
    /// wire, and equally long for all frames of a port.
    #[cold]
    pub(super) fn post_signal(&mut self, index: usize, due: Time, control: Control) {
        let End { peer, away, .. } = self.fabric.ends[index];
        let Some(post) = &mut self.away else {
            unreachable!("only parts have cut wires");
        };
        post.earliest = post.earliest.min(due);
        post.outbox[usize::from(away)].push(Message {
            time: due,
            end: peer,
            frame: Frame::Control(control),
            is_out_of_band: true,
            said: None,
            trail: None,
        });
    }

    /// Accepts a frame from another part, which is still on its wire.
    pub(crate) fn accept(&mut self, message: Message) {
        let Message { time, end, mut frame, is_out_of_band, said, trail } = message;
        if let (true, Frame::Control(control)) = (is_out_of_band, frame) {
            return self.schedule_signal(end as usize, time, control);
        }
        if let Frame::Data(packet) = &mut frame {
            packet.tag = self.keep_note(packet.tag, said, trail);
        }
        let end = &mut self.fabric.ends[end as usize];
        if self.fabric.sky.launch(end, time, frame) {
            self.queue.push(end.place(), Kind::Arrive, time);
        }
    }
}
