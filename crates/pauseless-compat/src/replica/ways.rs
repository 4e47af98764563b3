//! The ways of packets: routes there never change, so the way of a flow is looked up once.

use super::engine::{Flow, Setup};

/// The ports at which packets leave switches, flow after flow: first those of its data, then those
/// of its answers.
#[derive(Clone, Debug, Default)]
pub struct Ways {
    ports: Vec<u32>,
}

/// There is no way on.
const NONE: u32 = u32::MAX;

impl Ways {
    /// Looks a flow's way up; where it begins.
    pub fn add(&mut self, setup: &Setup, flow: &Flow) -> u32 {
        let begin = self.ports.len() as u32;
        let [a, b] = flow.ports;
        let (source, target) = (flow.source, flow.target);
        let data = Packet { from: source, to: target, ports: [a, b] };
        if let Some(port) = self.walk(setup, data, setup.port_of(source)) {
            let answer = Packet { from: target, to: source, ports: [b, a] };
            self.walk(setup, answer, port);
        }
        begin
    }

    /// The port at which a packet leaves a switch, given how far it has come.
    pub fn get(&self, place: u32) -> Option<u32> {
        let port = self.ports[place as usize];
        (port != NONE).then_some(port)
    }

    /// Follows a packet from the port of a host; the port of the host that it comes to.
    fn walk(&mut self, setup: &Setup, packet: Packet, from: u32) -> Option<u32> {
        let mut port = setup.ports[from as usize].peer;
        // Routes lead nearer with every step.
        for _ in &setup.nodes {
            let node = setup.ports[port as usize].node as usize;
            if setup.nodes[node].memory.is_none() {
                return Some(port);
            }
            let Some(interface) = next_hop(setup, node, packet) else {
                break;
            };
            let out = setup.nodes[node].ports[interface as usize - 1];
            self.ports.push(out);
            port = setup.ports[out as usize].peer;
        }
        self.ports.push(NONE);
        None
    }
}

/// What decides the way of a packet.
#[derive(Clone, Copy)]
struct Packet {
    from: u32,
    to: u32,
    ports: [u16; 2],
}

fn next_hop(setup: &Setup, node: usize, packet: Packet) -> Option<u32> {
    let entry = &setup.entries[packet.to as usize];
    if entry.switch as usize == node {
        return Some(entry.interface);
    }
    let hops = &setup.nodes[node].routes[entry.edge as usize][..];
    if hops.len() < 2 {
        return hops.first().copied();
    }
    let ports = u32::from(packet.ports[0]) | u32::from(packet.ports[1]) << 16;
    let words = [address(packet.from), address(packet.to), ports];
    Some(hops[murmur3(words, node as u32) as usize % hops.len()])
}

/// Host n has the address 11.(n / 256).(n % 256).1.
fn address(node: u32) -> u32 {
    0x0b00_0001 + ((node / 256) << 16) + ((node % 256) << 8)
}

/// MurmurHash3 of three words.
pub(super) fn murmur3(words: [u32; 3], seed: u32) -> u32 {
    let mut hash = words.into_iter().fold(seed, |hash, word| {
        let word = word.wrapping_mul(0xcc9e_2d51).rotate_left(15);
        let hash = (hash ^ word.wrapping_mul(0x1b87_3593)).rotate_left(13);
        hash.wrapping_mul(5).wrapping_add(0xe654_6b64)
    });
    hash ^= 12;
    hash = (hash ^ hash >> 16).wrapping_mul(0x85eb_ca6b);
    hash = (hash ^ hash >> 13).wrapping_mul(0xc2b2_ae35);
    hash ^ hash >> 16
}
