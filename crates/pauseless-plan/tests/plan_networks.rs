//! A planned network never loses a packet: random fabrics and traffic, configured with exactly what
//! `plan` says, under every scheme and discipline.

use pauseless_core::class_map::ClassMap;
use pauseless_core::flow_control::FlowControl;
use pauseless_core::host::Duty;
use pauseless_core::id::{Class, PortId};
use pauseless_core::schedule::Scheduler;
use pauseless_core::switch::Discipline;
use pauseless_core::transport::Transport;
use pauseless_core::unit::{Bytes, Rate, Span, Time};
use pauseless_fabric::fabric::Fabric;
use pauseless_plan::apply::Applied;
use pauseless_plan::headroom::Reaction;
use pauseless_plan::{Request, Scheme, plan};
use pauseless_scenario::shape;
use pauseless_sim::config::{
    Config, Congestion, Flow, IngressTable, Mitigation, Probes, Reaction as Obeys, Receiver,
    Replay, Stop, WireLoss, canonical_order,
};
use pauseless_sim::rng::{Purpose, Stream};
use pauseless_sim::run;

fn pick<T: Copy>(random: &mut Stream, items: &[T]) -> T {
    items[random.below(items.len() as u64) as usize]
}

/// Any small shape, with links of any speed and length.
fn fabric(random: &mut Stream) -> Fabric {
    let hosts = 1 + random.below(2);
    let shape = match random.below(7) {
        0 => format!("ring:{},hosts_per_switch={hosts}", 3 + random.below(4)),
        1 => format!("line:{},hosts_per_switch={hosts}", 2 + random.below(3)),
        2 => {
            let (leaves, spines) = (2 + random.below(2), 1 + random.below(2));
            format!("leaf-spine:{leaves},spines={spines},hosts_per_leaf={}", hosts + 1)
        }
        3 => format!("dumbbell:left={},right={}", 2 + random.below(3), 1 + random.below(2)),
        4 => format!("n-to-1:{}", 2 + random.below(5)),
        5 => format!("torus:3x{},hosts_per_switch=1", 1 + random.below(3)),
        _ => format!("random-regular:6,degree=3,hosts_per_switch=1,seed={}", random.below(99)),
    };
    let (rate, host_rate) = (pick(random, &RATES), pick(random, &RATES));
    let (delay, host_delay) = (random.below(2_000), random.below(500));
    let routing = pick(random, &["shortest", "ecmp", "up-down"]);
    let links = format!(
        "rate={rate}Gbps,host_rate={host_rate}Gbps,delay={delay}ns,host_delay={host_delay}ns"
    );
    let spec = format!("{shape},{links},routing={routing}");
    shape::parse(&spec).unwrap_or_else(|error| panic!("{spec}: {error}"))
}

const RATES: [u64; 4] = [10, 25, 40, 100];

/// A plan for a buffer that is only just large enough, so that it fills soon.
fn applied(random: &mut Stream, fabric: &Fabric, scheme: Scheme) -> Applied {
    let mut request = Request {
        mtu: Bytes::new(pick(random, &[1_500, 1_500, 4_096, 9_216])),
        classes: Some(1 + random.below(3) as u8),
        buffer: Bytes::mb(4_000),
        reaction: match random.below(3) {
            0 => Reaction::Standard,
            1 => Reaction::Quanta(60),
            _ => Reaction::Fixed(Span::ns(random.below(3_000))),
        },
        ..Request::default()
    };
    let first = plan(fabric, &request).expect("a plan");
    let large = Applied::new(fabric, &first).expect("a plan");
    let needs = large.plan().switches.iter();
    let need = needs.map(|switch| switch.scheme(scheme).need).max();
    request.buffer = need.expect("a switch") + request.mtu * random.below(40);
    let first = plan(fabric, &request).expect("a plan");
    Applied::new(fabric, &first).expect("a plan")
}

fn flows(random: &mut Stream, fabric: &Fabric, mtu: Bytes, classes: u8) -> Vec<Flow> {
    let topology = &fabric.topology;
    let mut flows = Vec::new();
    // Half of the networks have a host to which many send.
    let sink = pick(random, topology.hosts());
    let has_sink = random.below(2) == 0;
    for number in 0..topology.host_count() as u64 + random.below(6) {
        let source = topology.hosts()[number as usize % topology.host_count()];
        let target =
            if has_sink && random.below(3) > 0 { sink } else { pick(random, topology.hosts()) };
        if source == target {
            continue;
        }
        let line = topology.port(source, PortId(0)).rate;
        flows.push(Flow {
            label: 0,
            ttl: Flow::TTL_NONE,
            name: format!("F{number:02}"),
            source,
            target,
            group: fabric.routes.groups.of_host(target),
            class: Class(random.below(u64::from(classes)) as u8),
            packet: match random.below(3) {
                0 => Bytes::new(64 + random.below(mtu.get() - 63)),
                _ => mtu,
            },
            pace: match random.below(4) {
                0 => Rate::bps(line.as_bps() / (1 + random.below(9))),
                _ => line,
            },
            size: match random.below(4) {
                0 => Bytes::kb(1 + random.below(200)),
                _ => Bytes::MAX,
            },
            start: Time::from_ps(random.below(3_000_000)),
            stop: Time::MAX,
            hash: random.next_u64(),
            duty: Duty::ALWAYS,
            reaction: Obeys::None,
        });
    }
    canonical_order(&mut flows);
    flows
}

/// Some hosts take packets slowly, or not at all for a while, or never.
fn receivers(random: &mut Stream, fabric: &Fabric, duration: Span) -> Vec<Receiver> {
    let mut receivers = Vec::new();
    for &host in fabric.topology.hosts() {
        let mut steps = Vec::new();
        for step in 0..random.below(4) {
            let pace = match random.below(3) {
                0 => None,
                _ => Some(Rate::mbps(50 + random.below(20_000))),
            };
            let at = Span::ps(duration.as_ps() / 5 * step);
            steps.push((Time::ZERO + at, pace));
        }
        if !steps.is_empty() {
            receivers.push(Receiver { host, steps });
        }
    }
    receivers
}

/// A planned network, complete, and its scheme.
fn network(seed: u64) -> (Config, Scheme) {
    let mut random = Stream::new(seed, Purpose::Workload, 55);
    let scheme = Scheme::ALL[seed as usize % 5];
    let discipline = Discipline::COMMON[(seed / 5) as usize % 3];
    let fabric = fabric(&mut random);
    let applied = applied(&mut random, &fabric, scheme);
    let ingress = applied.ingress(&fabric, scheme).expect("it fits");
    let (mtu, classes) = (applied.plan().request.mtu, ingress.class_count() as u8);
    let duration = duration(&fabric, &ingress);
    let config = Config {
        classes: ClassMap::Same,
        mitigation: Mitigation::default(),
        changes: Default::default(),
        is_tracing: false,
        replay: Replay::Off,
        table: fabric.routes.table.clone(),
        discipline,
        polling: Default::default(),
        scheduler: match random.below(2) {
            0 => Scheduler::Strict,
            _ => Scheduler::Weighted([1, 3, 2, 1, 1, 1, 1, 1]),
        },
        processing: applied.processing(),
        processing_jitter: Span::ZERO,
        wire_jitter: Span::ZERO,
        wire_overhead: Bytes::ZERO,
        hardware: pauseless_sim::config::Hardware::default(),
        congestion: Congestion::NONE,
        transport: Transport::default(),
        wire_loss: WireLoss::default(),
        load_balancing: Vec::new(),
        flows: flows(&mut random, &fabric, mtu, classes),
        follows: Vec::new(),
        receivers: receivers(&mut random, &fabric, duration),
        duration,
        stop: Stop::default(),
        starvation_permille: 100,
        probes: Probes::default(),
        seed,
        topology: fabric.topology.clone(),
        ingress,
    };
    (config, scheme)
}

/// Eight times as long as the slowest host takes to fill a buffer.
fn duration(fabric: &Fabric, ingress: &IngressTable) -> Span {
    let hosts = fabric.topology.hosts().iter();
    let times = hosts.map(|host| {
        let line = fabric.topology.port(*host, PortId(0)).rate;
        line.tx_span(ingress.get(*host, PortId(0), Class(0)).buffer)
    });
    times.max().expect("a host") * 8
}

#[test]
fn a_planned_network_never_loses() {
    let (mut pressed, mut hops) = (0, 0);
    for seed in 0..1_000 {
        let (config, scheme) = network(seed);
        let outcome = run(&config);
        let name = format!("seed {seed}, {scheme:?}, {:?}", config.discipline);
        assert_eq!(outcome.lost_packets, 0, "{name}: {:?}", outcome.loss);
        hops += outcome.packet_hops;
        let is_held = outcome.ports.iter().any(|port| port.held > Span::ZERO);
        pressed += u32::from(is_held);
    }
    // The buffers were really under pressure.
    println!("{pressed} of 1000 under pressure, {hops} packet hops");
    assert!(pressed > 700, "{pressed}");
}

/// The same networks with half of the headroom do lose, so that the test can fail.
#[test]
fn half_of_the_headroom_is_not_enough() {
    let mut losing = 0;
    for seed in (0..150).step_by(5) {
        let (mut config, _) = network(seed);
        let topology = config.topology.clone();
        for &node in topology.switches() {
            for number in 0..topology.ports(node).len() {
                for class in 0..config.ingress.class_count() {
                    let (port, class) = (PortId(number as u16), Class(class as u8));
                    let cell = config.ingress.get_mut(node, port, class);
                    let FlowControl::Pfc(pfc) = cell.control else {
                        panic!("every fifth network has PFC");
                    };
                    cell.buffer = Bytes::new((cell.buffer.get() + pfc.xoff.get()) / 2);
                }
            }
        }
        losing += u32::from(run(&config).lost_packets > 0);
    }
    assert!(losing > 5, "{losing} of 30 lose");
}
