//! Networks of switches whose ports share their memory.

use pauseless_core::derive::Latency;
use pauseless_core::flow_control::{FlowControl, pfc};
use pauseless_core::id::{Class, NodeId, PortId};
use pauseless_core::memory::{Alpha, HeadroomPool, LaneMemory, SharedConfig, Threshold};
use pauseless_core::unit::{Bytes, Rate, Span};
use pauseless_fabric::generate::{LinkSpecs, NToOne, Shape};
use pauseless_fabric::topology::LinkSpec;
use pauseless_sim::Config;
use pauseless_sim::config::Ingress;
use pauseless_sim::rng::{Purpose, Stream};

use super::random::{Wildness, random_network};
use super::{MTU, Wanted, network};

/// A memory for all ports of a switch alike.
#[derive(Clone, Debug)]
pub struct Division {
    pub pool: Bytes,
    /// One per class, or none at all.
    pub partitions: Vec<Bytes>,
    pub lane: LaneMemory,
}

/// What may still arrive at a port of `node` after a PAUSE has become due.
pub fn derived_headroom(config: &Config, node: NodeId, port: PortId) -> Bytes {
    let link = config.topology.port(node, port);
    let latency = Latency {
        mtu: MTU,
        line: link.rate,
        wire: link.delay + config.wire_jitter,
        processing: config.processing + config.processing_jitter,
        classes: config.ingress.class_count() as u8,
        jitter: Span::ZERO,
        overhead: config.wire_overhead,
        clock_ppb: 0,
    };
    latency.pfc_headroom()
}

/// Makes the ports of every switch share its memory.
pub fn share(config: &mut Config, division: &Division) {
    let class_count = config.ingress.class_count();
    for node in config.topology.switches().to_vec() {
        let port_count = config.topology.ports(node).len();
        let shared = SharedConfig {
            pool: division.pool,
            partitions: division.partitions.clone().into(),
            headroom: HeadroomPool::Class,
            class_count,
            lanes: vec![division.lane; port_count * class_count].into(),
        };
        for port in (0..port_count).map(|port| PortId(port as u16)) {
            for class in (0..class_count).map(|class| Class(class as u8)) {
                let ingress = config.ingress.get_mut(node, port, class);
                ingress.control = FlowControl::Pfc(pfc::Config::commanded(pfc::QUANTA_MAX));
                ingress.buffer = shared.total();
            }
        }
        config.ingress.share(node, shared);
    }
}

/// A random network whose switches have little memory, divided at random.
pub fn random_shared_network(seed: u64, slow_receivers: bool) -> Config {
    let scheme = 0;
    let wildness = Wildness { scheme, slow_receivers };
    share_at_random(seed, random_network(seed, wildness))
}

/// The same network with little memory in each switch, divided at random.
pub fn share_at_random(seed: u64, mut config: Config) -> Config {
    let mut random = Stream::new(seed, Purpose::Workload, 77);
    let class_count = config.ingress.class_count();
    let node = config.topology.switches()[0];
    let headroom = derived_headroom(&config, node, PortId(0));
    let alphas = [(1, 8), (1, 2), (1, 1), (3, 2), (8, 1)];
    let (numerator, denominator) = alphas[random.below(5) as usize];
    let alpha = Alpha::new(numerator, denominator).expect("positive");
    let threshold = match random.below(4) {
        0 => Threshold::Static(MTU * (2 + random.below(20))),
        1 => Threshold::Partition { alpha, least: MTU },
        _ => Threshold::Dynamic(alpha),
    };
    let is_split = matches!(threshold, Threshold::Partition { .. });
    let lane = LaneMemory {
        reserve: if is_split { Bytes::ZERO } else { Bytes::new(random.below(3) * 2_000) },
        headroom,
        threshold,
        resume_offset: MTU * random.below(3),
    };
    let partitions =
        if is_split { vec![MTU * (2 + random.below(8)); class_count] } else { Vec::new() };
    let division = Division { pool: MTU * (4 + random.below(80)), partitions, lane };
    share(&mut config, &division);
    config
}

/// `senders` hosts that send to `R` through `S1`, at 10 Gb/s and with 1 us of wire, for ever.
/// Hosts have PFC at 10 KB of 100 KB.
pub fn incast(senders: u32) -> Config {
    let spec = LinkSpec { rate: Rate::gbps(10), delay: Span::us(1) };
    let shape = NToOne { senders };
    let topology = shape.build(LinkSpecs::same(spec)).expect("a star");
    let names = (1..=senders).map(|n| &*Box::leak(format!("H{n}").into_boxed_str()));
    let flows = Vec::from_iter(names.map(|source| Wanted { source, target: "R", path: &[] }));
    let control = FlowControl::Pfc(pfc::Config {
        xoff: Bytes::kb(10),
        xon: Bytes::kb(7),
        quanta: pfc::QUANTA_MAX,
    });
    let buffer = Bytes::kb(100);
    let mut config = network(topology, &flows, Ingress { control, buffer }, 1);
    config.duration = Span::ms(3);
    config
}

/// A pool with a threshold, no reserve, and the headroom that the links of [`incast`] need.
pub fn pool(config: &Config, pool: Bytes, threshold: Threshold) -> Division {
    let switch = config.topology.switches()[0];
    Division {
        pool,
        partitions: Vec::new(),
        lane: LaneMemory {
            reserve: Bytes::ZERO,
            headroom: derived_headroom(config, switch, PortId(0)),
            threshold,
            resume_offset: MTU * 2,
        },
    }
}
