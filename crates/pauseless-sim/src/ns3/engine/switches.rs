//! What happens at switches.

use std::io::{self, Write};

use super::super::source::{HOPS_MAX, Hop, Scheme, Trail};
use super::{CONTROL_FRAME, Engine, Event, Flow, Frame, Marking, What, address};

impl<W: Write> Engine<W> {
    pub(super) fn send_of_switch(&mut self, port: u32) {
        let at = &mut self.setup.ports[port as usize];
        if at.waiting == 0 {
            return;
        }
        let turns = (1..=8).map(|step| (step + at.turn) % 8);
        let mut ready = turns.filter(|queue| !at.is_paused[*queue]);
        let queue = match at.queues[0].is_empty() {
            false => Some(0),
            true => ready.find(|queue| !at.queues[*queue].is_empty()),
        };
        let Some(queue) = queue else {
            return;
        };
        let frame = at.queues[queue].pop_front().expect("it is not empty");
        at.waiting -= u64::from(self.frames[frame as usize].size);
        if queue > 0 {
            at.turn = queue;
        }
        self.leave(port, (queue, frame));
        self.put_on_wire(port, frame);
    }

    /// A frame leaves its queue.
    pub(super) fn leave(&mut self, port: u32, (queue, place): (usize, u32)) {
        let node = self.setup.ports[port as usize].node as usize;
        let Frame { size, ingress, .. } = self.frames[place as usize];
        if queue > 0 {
            let interface = self.setup.ports[port as usize].interface as usize - 1;
            let memory = self.setup.nodes[node].memory.as_mut();
            let memory = memory.expect("it is a switch");
            memory.give((ingress as usize, queue), size);
            memory.egress[interface][queue] -= size;
            let left = memory.egress[interface][queue];
            if self.setup.marks
                && self.is_to_mark(port, left)
                && self.frames[place as usize].what == What::Data
            {
                self.frames[place as usize].is_marked = true;
            }
            let memory = self.setup.nodes[node].memory.as_mut();
            if memory
                .expect("it is a switch")
                .resumes((ingress as usize, queue))
            {
                self.control(node, (ingress, queue), What::Resume);
            }
        }
        let at = &mut self.setup.ports[port as usize];
        let frame = &mut self.frames[place as usize];
        if frame.what == What::Data && self.setup.terms.scheme == Scheme::Hpcc {
            let multiple = self.setup.terms.multiple;
            let hop = &mut frame.trail.hops[frame.trail.count % HOPS_MAX];
            *hop = Hop {
                time: self.now & 0xff_ffff,
                sent: (at.sent / (128 * multiple)) & 0xf_ffff,
                queue: (u64::from(at.waiting as u32) / (80 * multiple)) & 0x1_ffff,
                line: known_rate(at.rate),
            };
            frame.trail.count += 1;
        }
        at.sent += u64::from(size);
        self.hops += 1;
    }

    pub(super) fn is_to_mark(&mut self, port: u32, left: u32) -> bool {
        let Marking { kmin, kmax, pmax } = self.setup.ports[port as usize].marking;
        if left > kmax {
            return true;
        }
        if left <= kmin {
            return false;
        }
        let chance = pmax * f64::from(left - kmin) / f64::from(kmax - kmin);
        self.setup.streams.draw() < chance
    }

    /// A switch tells its neighbour to wait or to go on.
    pub(super) fn control(&mut self, node: usize, (ingress, queue): (u32, usize), what: What) {
        // It draws the identification of the frame.
        self.setup.streams.skip();
        let frame = self.new_frame(Frame {
            what,
            size: CONTROL_FRAME,
            group: queue as u8,
            flow: 0,
            sequence: 0,
            payload: 0,
            is_marked: false,
            ingress: 0,
            trail: Trail::default(),
        });
        let port = self.setup.nodes[node].ports[ingress as usize];
        self.enqueue(port, (0, frame));
    }

    pub(super) fn enqueue(&mut self, port: u32, (queue, frame): (usize, u32)) {
        let size = u64::from(self.frames[frame as usize].size);
        let at = self.port(port);
        at.queues[queue].push_back(frame);
        at.waiting += size;
        self.send(port);
    }

    pub(super) fn forward(&mut self, port: u32, place: u32) {
        let at = &self.setup.ports[port as usize];
        let (node, ingress) = (at.node as usize, at.interface - 1);
        let frame = &mut self.frames[place as usize];
        frame.ingress = ingress;
        let (size, queue) = (frame.size, usize::from(frame.group));
        let Some(egress) = self.next_hop(node, place) else {
            self.unused.push(place);
            return;
        };
        let out = self.setup.nodes[node].ports[egress as usize - 1];
        if queue > 0 {
            let at = (ingress as usize, queue);
            let memory = self.setup.nodes[node].memory.as_mut();
            let memory = memory.expect("it is a switch");
            if !memory.take(at, size) {
                self.drops += 1;
                self.unused.push(place);
                return;
            }
            memory.egress[egress as usize - 1][queue] += size;
            if memory.pauses(at) {
                self.control(node, (ingress, queue), What::Pause);
            }
        }
        self.enqueue(out, (queue, place));
    }

    pub(super) fn next_hop(&self, node: usize, place: u32) -> Option<u32> {
        let Frame { flow, what, .. } = self.frames[place as usize];
        let Flow {
            source,
            target,
            ports: [a, b],
            ..
        } = self.setup.flows[flow as usize];
        let (from, to, ports) = match what {
            What::Data => (source, target, [a, b]),
            _ => (target, source, [b, a]),
        };
        let hops = &self.setup.nodes[node].routes[to as usize];
        match hops.len() {
            0 => None,
            1 => Some(hops[0]),
            count => {
                let ports = u32::from(ports[0]) | u32::from(ports[1]) << 16;
                let words = [address(from), address(to), ports];
                Some(hops[murmur3(words, node as u32) as usize % count])
            }
        }
    }

    pub(super) fn sample(&mut self) -> io::Result<()> {
        const EVERY: u64 = 100;
        const WRITE: u64 = 100_000_000;
        let switches = self.setup.nodes.iter().filter_map(|node| {
            let memory = node.memory.as_ref()?;
            Some((memory, &node.ports))
        });
        for (memory, ports) in switches {
            for (groups, port) in memory.egress.iter().zip(ports) {
                let kilobytes = groups.iter().sum::<u32>() as usize / 1_000;
                let counts = &mut self.lengths[*port as usize];
                if counts.len() <= kilobytes {
                    counts.resize(kilobytes + 1, 0);
                }
                counts[kilobytes] += 1;
            }
        }
        if self.now.is_multiple_of(WRITE) {
            writeln!(self.outputs.qlen, "time: {}", self.now)?;
            for (number, node) in self.setup.nodes.iter().enumerate() {
                for port in node.ports.iter().filter(|_| node.memory.is_some()) {
                    let interface = self.setup.ports[*port as usize].interface;
                    write!(self.outputs.qlen, "{number} {interface}")?;
                    for count in &self.lengths[*port as usize] {
                        write!(self.outputs.qlen, " {count}")?;
                    }
                    writeln!(self.outputs.qlen)?;
                }
            }
        }
        if self.now < self.setup.monitor.1 {
            self.insert(EVERY, Event::Sample);
        }
        Ok(())
    }
}

/// Records know five rates; any other is taken for the first.
fn known_rate(rate: u64) -> u64 {
    const GIGABIT: u64 = 1_000_000_000;
    let known = [50, 100, 200, 400].map(|rate| rate * GIGABIT);
    if known.contains(&rate) {
        rate
    } else {
        25 * GIGABIT
    }
}

/// MurmurHash3 of three words.
fn murmur3(words: [u32; 3], seed: u32) -> u32 {
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
