//! The PFC frames and queue lengths that the caller collects during a run.

use pauseless_core::unit::Time;

use super::Simulator;
use crate::fabric::{End, Node};
use crate::heard::{Heard, Lengths};

impl Simulator<'_> {
    /// The PFC frames that have arrived since this was last asked, in order of time, node and port; for
    /// runs whose [`Probes`](crate::config::Probes) want them.
    pub fn take_heard(&mut self) -> Vec<Heard> {
        let mut heard = self.listening.as_mut().map_or(Vec::new(), |listening| listening.take());
        heard.sort_unstable();
        heard
    }

    /// How long the queues of switches were at all instants up to `now`, itself included; for runs
    /// whose [`Probes`](crate::config::Probes) watch them.
    pub fn queue_lengths(&mut self, now: Time) -> Vec<Lengths> {
        let Some(listening) = &mut self.listening else {
            return Vec::new();
        };
        let ends = self.fabric.ends.iter().enumerate();
        let nodes = &self.fabric.nodes;
        let is_switch = |end: &End| matches!(nodes[end.node.index()], Node::Switch(_));
        let lengths = ends.filter(|(_, end)| is_switch(end)).map(|(index, end)| Lengths {
            node: end.node,
            port: end.port,
            counts: listening.lengths(now, index),
        });
        lengths.collect()
    }
}
