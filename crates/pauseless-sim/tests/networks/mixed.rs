//! Random networks in which everything comes together: memory that is shared, classes that change,
//! packets that expire, watchdogs, recovery and rate limits.

use pauseless_core::id::{Class, NodeId, PortId};
use pauseless_core::switch::watchdog::{self, Action};
use pauseless_core::unit::{Rate, Span};
use pauseless_sim::Config;
use pauseless_sim::config::{RateLimit, Recovery, Watchdog};
use pauseless_sim::rng::{Purpose, Stream};

use super::classed::remap;
use super::memory::random_shared_network;
use super::random::{Wildness, random_network};

/// What a network has besides PFC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    Sharing,
    Remapping,
    Ttl,
    Draining,
    Watching,
    Limits,
}

impl Part {
    pub const ALL: [Part; 6] =
        [Part::Sharing, Part::Remapping, Part::Ttl, Part::Draining, Part::Watching, Part::Limits];
}

/// A random network with these parts.
pub fn mixed(seed: u64, parts: &[Part]) -> Config {
    let has = |part: Part| parts.contains(&part);
    let slow_receivers = seed.is_multiple_of(3);
    let wildness = Wildness { scheme: 0, slow_receivers };
    let mut config = if has(Part::Sharing) {
        random_shared_network(seed, slow_receivers)
    } else {
        random_network(seed, wildness)
    };
    let mut random = Stream::new(seed, Purpose::Workload, 2_000);
    if has(Part::Remapping) {
        remap(&mut config, seed);
    }
    for flow in &mut config.flows {
        if has(Part::Ttl) && random.below(3) == 0 {
            flow.ttl = 1 + random.below(5) as u16;
        }
    }
    if has(Part::Draining) {
        let delay = Span::us(20 * random.below(3));
        config.mitigation.recovery = Recovery::Drain { delay };
    }
    if has(Part::Watching) {
        config.mitigation.watchdog = Watchdog::On(watchdog::Config {
            detection: Span::us(100 + random.below(300)),
            restoration: Span::us(50 + random.below(1_000)),
            poll: Span::us(10 * random.below(3)),
            action: [Action::Forward, Action::Drop][random.below(2) as usize],
        });
    }
    if has(Part::Limits) {
        limit(&mut config, &mut random);
    }
    config
}

/// Limits a quarter of all queues, those of hosts included.
fn limit(config: &mut Config, random: &mut Stream) {
    for node in (0..config.topology.nodes().len() as u32).map(NodeId) {
        for port in (0..config.topology.ports(node).len() as u16).map(PortId) {
            for class in (0..config.ingress.class_count() as u8).map(Class) {
                if random.below(4) > 0 {
                    continue;
                }
                config.mitigation.limits.push(RateLimit {
                    node,
                    port,
                    class,
                    rate: Rate::mbps(1_000 + random.below(9_000)),
                });
            }
        }
    }
}
