use super::clock;
use super::engine::{Engine, Flow, Node, Outputs, Port, Setup};
use super::memory::{Memory, PortLimits};
use super::random::Streams;
use super::source::{Scheme, Terms};

const RATE: u64 = 40_000_000_000;

fn terms() -> Terms {
    Terms {
        scheme: Scheme::None,
        payload: 1_000,
        rate_min: 100_000_000,
        rate_ai: 0,
        rate_hai: 0,
        dctcp_ai: 0,
        gain: 0.0,
        stages: 1,
        clamps: false,
        alpha_ns: 1_000,
        look_ns: 4_000,
        raise_ns: 300_000,
        target: 0.95,
        steps_max: 0,
        multiple: 1,
        is_fast: false,
        is_per_hop: false,
        is_sampling: false,
        follows_rate: false,
        is_paced: true,
    }
}

/// Five switches in a ring with a host each; host i sends to the second next.
fn ring() -> Setup {
    let links = (0..5)
        .map(|i| (i, i + 5))
        .chain((5..10).map(|i| (i, if i == 9 { 5 } else { i + 1 })));
    let mut of = vec![Vec::new(); 10];
    let mut ports = Vec::new();
    for (a, b) in links {
        for (node, peer) in [(a, 1), (b, 0)] {
            let list: &mut Vec<u32> = &mut of[node];
            list.push(ports.len() as u32);
            let mut port = Port::new(node as u32, list.len() as u32, (RATE, 1_000));
            port.peer = (ports.len() / 2 * 2 + peer) as u32;
            ports.push(port);
        }
    }
    let limits = PortLimits {
        headroom: 15_000,
        shift: 3,
    };
    let nodes = of.iter().enumerate().map(|(number, list)| Node {
        ports: list.clone(),
        memory: (number >= 5).then(|| Memory::new(1 << 20, vec![limits; list.len()])),
        routes: routes(number, list, &ports),
    });
    let flows = (0..5).map(|source| Flow {
        source,
        target: (source + 2) % 5,
        ports: [10_000, 100],
        group: 3,
        size: 50_000_000,
        start: 2_000_000_000,
        window: 0,
        base_rtt: 8_800,
        standalone: 0,
    });
    Setup {
        nodes: nodes.collect(),
        flows: flows.collect(),
        ports,
        terms: terms(),
        marks: false,
        stop: 2_010_000_000,
        ack_interval: 1,
        answers_first: true,
        streams: Streams::new(62),
        losses: Vec::new(),
        monitor: (2_000_000_000, 0),
    }
}

/// Around the ring the shorter way.
fn routes(node: usize, list: &[u32], ports: &[Port]) -> Vec<Vec<u32>> {
    let towards = |peer: usize| {
        let mut list = list.iter();
        let found = list.position(|port| ports[*port as usize ^ 1].node as usize == peer);
        found.expect("a neighbour") as u32 + 1
    };
    let hop = |host: usize| match (host + 10 - node) % 5 {
        _ if node < 5 => 1,
        0 => towards(host),
        1 | 2 => towards(5 + (node + 1) % 5),
        _ => towards(5 + (node + 4) % 5),
    };
    (0..10)
        .map(|host| {
            if host < 5 {
                vec![hop(host)]
            } else {
                Vec::new()
            }
        })
        .collect()
}

#[test]
fn a_ring_deadlocks_at_the_nanosecond_of_the_simulator() {
    let outputs = Outputs {
        fct: Vec::new(),
        pfc: Vec::new(),
        qlen: Vec::new(),
    };
    let mut engine = Engine::new(ring(), outputs);
    engine.run().unwrap();
    let Outputs { fct, pfc, .. } = engine.into_outputs();
    assert!(fct.is_empty(), "nothing finishes");
    let pfc = String::from_utf8(pfc).unwrap();
    // What the simulator itself wrote begins and ends so, see examples/hpcc/ring5_pfc.
    let lines = Vec::from_iter(pfc.lines());
    assert_eq!(lines.len(), 40);
    assert_eq!(lines[..2], ["2000061319 1 0 1 1", "2000061319 2 0 1 1"]);
    assert_eq!(lines[30..32], ["2000092251 5 1 2 1", "2000092251 6 1 3 1"]);
    assert_eq!(lines[39], "2000094132 0 0 1 1");
}

#[test]
fn whole_nanoseconds_come_out_one_less() {
    assert_eq!(clock::sending(1_048, RATE), 209);
    assert_eq!(clock::sending(60, RATE), 11);
    assert_eq!(clock::seconds(2.000_037), 2_000_036_999);
}
