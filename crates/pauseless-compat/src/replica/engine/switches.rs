//! What happens at switches.

use super::super::source::{HOPS_MAX, Hop, Scheme, Trail};
use super::{CONTROL_FRAME, Dump, Engine, Event, Flow, Frame, Marking, What};

impl Engine {
    pub(super) fn send_of_switch(&mut self, port: u32) {
        let at = &mut self.setup.ports[port as usize];
        if at.waiting == 0 {
            return;
        }
        let turns = (1..=8).map(|step| (step + at.turn) % 8);
        let mut ready = turns.filter(|queue| !at.is_paused[*queue]);
        let queue = if at.queues[0].is_empty() {
            ready.find(|queue| !at.queues[*queue].is_empty())
        } else {
            Some(0)
        };
        let Some(queue) = queue else {
            return;
        };
        let frame = at.queues[queue].pop_front().expect("it is not empty");
        at.waiting -= u64::from(self.frames[frame as usize].size);
        if queue > 0 {
            at.turn = queue;
        }
        self.leave(port, queue, frame);
        self.put_on_wire(port, frame);
    }

    /// A frame leaves its queue.
    pub(super) fn leave(&mut self, port: u32, queue: usize, place: u32) {
        let node = self.setup.ports[port as usize].node as usize;
        let Frame { size, ingress, .. } = self.frames[place as usize];
        if queue > 0 {
            self.count(port);
            let interface = self.setup.ports[port as usize].interface as usize - 1;
            let memory = self.setup.nodes[node].memory.as_mut().expect("it is a switch");
            memory.give(ingress as usize, queue, size);
            let left = memory.egress[interface][queue].wrapping_sub(size);
            memory.egress[interface][queue] = left;
            if self.setup.marks
                && self.is_to_mark(port, left)
                && self.frames[place as usize].what == What::Data
            {
                self.frames[place as usize].is_marked = true;
            }
            let memory = self.setup.nodes[node].memory.as_mut();
            if memory.expect("it is a switch").resumes(ingress as usize, queue) {
                self.control(node, ingress, queue, What::Resume);
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
    pub(super) fn control(&mut self, node: usize, ingress: u32, queue: usize, what: What) {
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
        self.enqueue(port, 0, frame);
    }

    pub(super) fn enqueue(&mut self, port: u32, queue: usize, frame: u32) {
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
            self.count(out);
            let memory = self.setup.nodes[node].memory.as_mut().expect("it is a switch");
            if !memory.take(ingress as usize, queue, size) {
                self.drops += 1;
                self.unused.push(place);
                return;
            }
            let waiting = &mut memory.egress[egress as usize - 1][queue];
            *waiting = waiting.wrapping_add(size);
            if memory.pauses(ingress as usize, queue) {
                self.control(node, ingress, queue, What::Pause);
            }
        }
        self.enqueue(out, queue, place);
    }

    pub(super) fn next_hop(&self, node: usize, place: u32) -> Option<u32> {
        let Frame { flow, what, .. } = self.frames[place as usize];
        let Flow { source, target, ports: [a, b], .. } = self.setup.flows[flow as usize];
        let (from, to, ports) = match what {
            What::Data => (source, target, [a, b]),
            _ => (target, source, [b, a]),
        };
        let entry = &self.setup.entries[to as usize];
        let hops = if entry.switch as usize == node {
            std::slice::from_ref(&entry.interface)
        } else {
            &self.setup.nodes[node].routes[entry.edge as usize][..]
        };
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

    /// Looks at all queues: what they hold is counted when it changes.
    pub(super) fn sample(&mut self) {
        self.samples += 1;
        if self.now.is_multiple_of(DUMP_EVERY) {
            self.dump();
        }
        if self.now >= self.setup.monitor.1 {
            return;
        }
        // Nothing happens until the next event, so that all looks before it find the same.
        let next = self.queue.peek().map_or(u64::MAX, |next| next.0.0).min(self.setup.monitor.1);
        let next = next.min((self.now / DUMP_EVERY + 1) * DUMP_EVERY);
        let quiet = next.saturating_sub(self.now + 1) / SAMPLE_EVERY;
        self.samples += quiet;
        self.insert((quiet + 1) * SAMPLE_EVERY, Event::Sample);
    }

    fn dump(&mut self) {
        let mut rows = Vec::new();
        for number in 0..self.setup.nodes.len() {
            if self.setup.nodes[number].memory.is_none() {
                continue;
            }
            for place in 0..self.setup.nodes[number].ports.len() {
                let port = self.setup.nodes[number].ports[place];
                self.count(port);
                let interface = self.setup.ports[port as usize].interface;
                let counts = self.lengths[port as usize].counts.clone();
                rows.push((number as u32, interface, counts));
            }
        }
        let time = self.now;
        self.findings.dumps.push(Dump { time, rows });
    }

    /// Before the bytes that wait at a port change: the looks since the last time found them.
    fn count(&mut self, port: u32) {
        let at = &self.setup.ports[port as usize];
        let lengths = &mut self.lengths[port as usize];
        let looks = self.samples - std::mem::replace(&mut lengths.seen, self.samples);
        if looks == 0 {
            return;
        }
        let memory = self.setup.nodes[at.node as usize].memory.as_ref();
        let groups = memory.map(|memory| memory.egress[at.interface as usize - 1]);
        let bytes = groups.into_iter().flatten().map(u64::from).sum::<u64>();
        let kilobytes = bytes as u32 as usize / 1_000;
        if lengths.counts.len() <= kilobytes {
            lengths.counts.resize(kilobytes + 1, 0);
        }
        let count = &mut lengths.counts[kilobytes];
        *count = count.wrapping_add(looks as u32);
    }
}

/// Queues are looked at every so many nanoseconds.
const SAMPLE_EVERY: u64 = 100;
/// What was found is written at multiples of this.
const DUMP_EVERY: u64 = 100_000_000;

/// Host n has the address 11.(n / 256).(n % 256).1.
fn address(node: u32) -> u32 {
    0x0b00_0001 + ((node / 256) << 16) + ((node % 256) << 8)
}

/// Records know five rates; any other is taken for the first.
fn known_rate(rate: u64) -> u64 {
    const GIGABIT: u64 = 1_000_000_000;
    let known = [50, 100, 200, 400].map(|rate| rate * GIGABIT);
    if known.contains(&rate) { rate } else { 25 * GIGABIT }
}

/// MurmurHash3 of three words.
pub(in crate::replica) fn murmur3(words: [u32; 3], seed: u32) -> u32 {
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
