//! A link that goes down and comes up again: both halves of the flow control of every class start anew.

use super::{Heed, Port, PortConfig};
use crate::flow_control::{AnyDownstream, AnyUpstream, Downstream, Signal, Upstream};
use crate::id::Class;
use crate::unit::{Bytes, Time};

impl Port {
    /// Handles the failure of the link: nothing is sent, and nothing is said, before [`Port::restore`].
    /// What the far end had stopped is stopped no more. Packets that came by the link stay on their
    /// counters, and leave them as before.
    pub fn fail(&mut self) {
        for class in (0..self.lanes.len()).map(|class| Class(class as u8)) {
            let lane = &mut self.lanes[class.index()];
            lane.up = AnyUpstream::None { line: self.line };
            lane.down = AnyDownstream::None;
            self.set_heed(class, Heed::Shut);
            self.note_halves(class);
        }
        self.talking = 0;
        self.rearm();
    }

    /// Handles the return of the link: as at the beginning the far end has stopped nothing, but what is
    /// on the counters still counts. `config` is that of [`Port::new`].
    pub fn restore(&mut self, now: Time, config: &PortConfig) {
        for (class, lane_config) in config.lanes.iter().enumerate() {
            let class = Class(class as u8);
            let lane = &mut self.lanes[class.index()];
            lane.up = lane_config.egress.upstream(self.line);
            lane.down = lane_config.ingress.downstream(self.line, lane_config.phase);
            if lane.held > Bytes::ZERO && lane.down.enqueue(now, lane.held, lane.held) {
                self.talking |= 1 << class.0;
            }
            lane.down.forget_arrivals();
            self.set_heed(class, Heed::Obey);
            self.note_halves(class);
        }
        self.rearm();
    }

    /// What this end tells the far one while the link comes up, before any frame: the credits that it
    /// grants, or the state of its queue. PFC has no such exchange.
    pub fn introduce(&mut self, now: Time, class: Class) -> Option<Signal> {
        let lane = &mut self.lanes[class.index()];
        let signal = lane.down.introduce(now)?;
        let signal = lane.up.complete(signal);
        if !lane.down.has_signal(now) {
            self.talking &= !(1 << class.0);
        }
        self.note_halves(class);
        self.rearm();
        Some(signal)
    }
}
