//! Random networks in which packets change their class on the way.

use pauseless_core::class_map::{ClassMap, ClassTable, Hops, Key, LANE_COUNT, Passage};
use pauseless_core::id::{Class, PortId};
use pauseless_core::schedule::Scheduler;
use pauseless_fabric::routing::port_counts;
use pauseless_fabric::topology::Topology;
use pauseless_sim::Config;
use pauseless_sim::rng::{Purpose, Stream};

use super::random::{Wildness, random_network, random_network_of};

/// A random network with random tables of classes, by label or by class.
pub fn remapped(seed: u64, wildness: Wildness) -> Config {
    let mut config = random_network(seed, wildness);
    remap(&mut config, seed);
    config
}

/// Random tables of classes, by label or by class.
pub fn remap(config: &mut Config, seed: u64) {
    let mut random = Stream::new(seed, Purpose::Workload, 1_000);
    let count = config.ingress.class_count() as u64;
    config.classes = ClassMap::Table(random_table(&mut random, &config.topology, count));
    for flow in &mut config.flows {
        flow.label = random.below(4) as u8;
    }
    if random.below(3) == 0 {
        config.scheduler = Scheduler::Random;
    }
}

/// Most rows let packets stay, so that there are cycles.
fn random_table(random: &mut Stream, topology: &Topology, count: u64) -> ClassTable {
    let key = [Key::Label, Key::Class][random.below(2) as usize];
    let mut table = ClassTable::new(key, port_counts(topology));
    for &node in topology.switches() {
        let ports = topology.ports(node).len() as u16;
        for pair in 0..ports * ports {
            let passage =
                Passage { node, ingress: PortId(pair / ports), egress: PortId(pair % ports) };
            let row = std::array::from_fn::<u8, LANE_COUNT, _>(|_| match random.below(40) {
                0 => ClassTable::DROP,
                1..20 => random.below(count) as u8,
                _ => 0,
            });
            if random.below(2) > 0 {
                table.set(passage, row);
            }
        }
    }
    table
}

/// The longest way of [`random_network`]'s flows, in switches.
pub const SWITCHES_MAX: u8 = 6;

/// A random network in which all flows enter in one class, with as many classes as hops.
pub fn hop_classed(seed: u64, wildness: Wildness) -> Config {
    let count = usize::from(SWITCHES_MAX);
    let mut config = random_network_of(seed, wildness, Some(count));
    config.classes = ClassMap::Hops(Hops::each(SWITCHES_MAX));
    config.scheduler = Scheduler::Random;
    for flow in &mut config.flows {
        flow.class = Class(0);
    }
    config
}
