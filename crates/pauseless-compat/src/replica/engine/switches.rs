//! What happens at switches.

use super::super::source::{Hop, Scheme};
use super::{CONTROL_FRAME, Dump, Engine, Event, Frame, Marking, What};

impl Engine {
    pub(super) fn send_of_switch(&mut self, port: u32) {
        let at = &mut self.ports[port as usize];
        if let Some(queue) = at.next_queue()
            && let Some(frame) = at.pop(queue, &self.slots)
        {
            self.leave(port, queue, frame);
            self.put_on_wire(port, frame);
        }
    }

    /// A frame leaves its queue.
    fn leave(&mut self, port: u32, queue: usize, place: u32) {
        let Frame { size, ingress, what, .. } = self.slots[place].frame;
        if queue > 0 {
            self.count(port);
            let at = &self.ports[port as usize];
            let node = at.node as usize;
            let memory = self.setup.nodes[node].memory.as_mut().expect("it is a switch");
            memory.give(ingress as usize, queue, size);
            let left = memory.dequeue(at.interface as usize - 1, queue, size);
            let is_resume = memory.resumes(ingress as usize, queue);
            if self.setup.marks && self.is_to_mark(port, left) && what == What::Data {
                self.slots[place].frame.is_marked = true;
            }
            if is_resume {
                self.control(node, ingress, queue, What::Resume);
            }
        }
        let at = &mut self.ports[port as usize];
        if what == What::Data
            && self.setup.terms.scheme == Scheme::Hpcc
            && let Some(trail) = self.slots.trail(place)
        {
            let multiple = self.setup.terms.multiple;
            let sent = at.sent / (128 * multiple);
            let queue = u64::from(at.waiting as u32) / (80 * multiple);
            trail.push(Hop::new(self.schedule.now(), sent, queue, at.line));
        }
        at.sent += u64::from(size);
        self.hops += 1;
    }

    fn is_to_mark(&mut self, port: u32, left: u32) -> bool {
        let Marking { kmin, kmax, pmax } = self.ports[port as usize].marking;
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
    fn control(&mut self, node: usize, ingress: u32, queue: usize, what: What) {
        // It draws the identification of the frame.
        self.setup.streams.skip();
        let frame = self.slots.add_frame(Frame::new(what, CONTROL_FRAME, queue as u8));
        let port = self.setup.nodes[node].ports[ingress as usize];
        self.enqueue(port, 0, frame);
    }

    fn enqueue(&mut self, port: u32, queue: usize, frame: u32) {
        self.ports[port as usize].push(queue, frame, &mut self.slots);
        self.send(port);
    }

    pub(super) fn forward(&mut self, port: u32, place: u32) {
        let frame = &mut self.slots[place].frame;
        let Some(out) = self.ways.get(frame.way) else {
            return self.slots.remove(place);
        };
        let at = &self.ports[port as usize];
        let (node, ingress) = (at.node as usize, at.interface - 1);
        frame.ingress = ingress;
        frame.way += 1;
        let (size, queue) = (frame.size, usize::from(frame.group));
        if queue > 0 {
            self.count(out);
            let memory = self.setup.nodes[node].memory.as_mut().expect("it is a switch");
            if !memory.take(ingress as usize, queue, size) {
                self.drops += 1;
                return self.slots.remove(place);
            }
            memory.enqueue(self.ports[out as usize].interface as usize - 1, queue, size);
            if memory.pauses(ingress as usize, queue) {
                self.control(node, ingress, queue, What::Pause);
            }
        }
        self.enqueue(out, queue, place);
    }

    /// Looks at all queues: what they hold is counted when it changes.
    pub(super) fn sample(&mut self) {
        self.samples += 1;
        let (now, end) = (self.now(), self.setup.monitor.1);
        if now.is_multiple_of(DUMP_EVERY) {
            self.dump();
        }
        if now >= end {
            return;
        }
        // Nothing happens until the next event, so that all looks before it find the same.
        let next = self.schedule.next_time().map_or(end, |next| next.min(end));
        let next = next.min((now / DUMP_EVERY + 1) * DUMP_EVERY);
        let quiet = next.saturating_sub(now + 1) / SAMPLE_EVERY;
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
                let interface = self.ports[port as usize].interface;
                rows.push((number as u32, interface, self.lengths[port as usize].clone()));
            }
        }
        self.findings.dumps.push(Dump { time: self.now(), rows });
    }

    /// Before the bytes that wait at a port change: the looks since the last time found them.
    fn count(&mut self, port: u32) {
        let at = &mut self.ports[port as usize];
        let looks = self.samples - std::mem::replace(&mut at.seen, self.samples);
        if looks == 0 {
            return;
        }
        let memory = self.setup.nodes[at.node as usize].memory.as_ref();
        let bytes = memory.map_or(0, |memory| memory.waiting(at.interface as usize - 1));
        let kilobytes = bytes as usize / 1_000;
        let counts = &mut self.lengths[port as usize];
        if counts.len() <= kilobytes {
            counts.resize(kilobytes + 1, 0);
        }
        let count = &mut counts[kilobytes];
        *count = count.wrapping_add(looks as u32);
    }
}

/// Queues are looked at every so many nanoseconds.
const SAMPLE_EVERY: u64 = 100;
/// What was found is written at multiples of this.
const DUMP_EVERY: u64 = 100_000_000;
