//! The line clocks of ports, which are never exactly as fast as their rate says.
//!
//! A port counts everything with one clock: the bits of its frames, the quanta of a pause, the
//! countdown of GFC's limiter, and at a host the pace of its flows. Spans that are configured as
//! such (delays, processing, periods of messages, timeouts) are true time.

use pauseless_core::id::{NodeId, PortId};
use pauseless_core::unit::Rate;
use pauseless_fabric::rng::{Purpose, Stream, hash_name};

use crate::config::Config;

/// How far line clocks may be from their nominal rate. By default they are exact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Clocks {
    /// The most by which a clock is too fast or too slow, in parts per billion.
    pub deviation_max_ppb: u32,
    /// Which ports have one clock.
    pub oscillator: Oscillator,
}

/// Which ports count with the same clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Oscillator {
    /// Every port has an oscillator of its own.
    #[default]
    PerPort,
    /// All ports of a node have one oscillator.
    PerNode,
}

impl Config {
    /// The rate at which `port` of `node` sends: that of its link by its own clock.
    pub fn line(&self, node: NodeId, port: PortId) -> Rate {
        self.by_clock(node, port, self.topology.port(node, port).rate)
    }

    /// What a port makes of `rate` when it counts with its own clock. The deviation is uniform, and
    /// depends on the seed and on the name of the port or node only.
    pub fn by_clock(&self, node: NodeId, port: PortId, rate: Rate) -> Rate {
        let Clocks { deviation_max_ppb, oscillator } = self.hardware.clocks;
        if deviation_max_ppb == 0 {
            return rate;
        }
        let entity = match oscillator {
            Oscillator::PerPort => hash_name(&self.topology.port_name(node, port)),
            Oscillator::PerNode => hash_name(&self.topology.node(node).name),
        };
        let most = i64::from(deviation_max_ppb);
        let mut stream = Stream::new(self.seed, Purpose::Clock, entity);
        rate.deviating(stream.below(2 * most as u64 + 1) as i64 - most)
    }
}
