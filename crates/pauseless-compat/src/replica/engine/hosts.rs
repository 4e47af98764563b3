//! What happens at hosts.

use super::super::schedule::Timer;
use super::super::source::{Scheme, Trail};
use super::super::turns;
use super::{Completion, Engine, Event, Frame, HEADERS, NACK_INTERVAL, Target, What};

impl Engine {
    pub(super) fn start(&mut self, flow: u32) {
        let way = self.ways.add(&self.setup, &self.setup.flows[flow as usize]);
        let now = self.now();
        let source = &mut self.sources[flow as usize];
        (source.start, source.available, source.way) = (now, now, way);
        let port = source.port;
        let sources = &mut self.sources;
        let moved = |flow, leaf| sources[flow as usize].leaf = leaf;
        let leaf = self.turns[port as usize].add(flow, moved);
        self.sources[flow as usize].leaf = leaf;
        self.update_turn(flow);
        self.send(port);
    }

    /// Something that decides when a flow has its turn may have changed.
    fn update_turn(&mut self, flow: u32) {
        let source = &self.sources[flow as usize];
        if source.leaf != turns::NONE {
            let standing = source.standing(&self.setup.terms);
            self.turns[source.port as usize].set(source.leaf, standing);
        }
    }

    pub(super) fn send_of_host(&mut self, port: u32) {
        let class = if self.setup.answers_first { 0 } else { 3 };
        let at = &mut self.ports[port as usize];
        if at.paused >> class & 1 == 0
            && let Some(frame) = at.pop(0, &self.slots)
        {
            return self.put_on_wire(port, frame);
        }
        let (now, paused) = (self.schedule.now(), at.paused);
        let turns = &mut self.turns[port as usize];
        let sources = &mut self.sources;
        let left = |flow: u32| sources[flow as usize].leaf = turns::NONE;
        if let Some(flow) = turns.next(now, paused, left) {
            let frame = self.data(flow);
            let size = self.slots[frame].frame.size;
            self.put_on_wire(port, frame);
            self.sources[flow as usize].on_sent(now, size, &self.setup.terms);
            self.update_turn(flow);
            return;
        }
        // Flows that may not send for other reasons count here, too.
        if let Some(earliest) = turns.earliest().filter(|earliest| *earliest > now)
            && !self.is_awaiting(port)
        {
            self.wake_at(port, earliest);
        }
    }

    /// A pending call comes, unless another has taken its place.
    pub(super) fn wake(&mut self, port: u32) {
        if self.turns[port as usize].wake == Some(self.schedule.current()) {
            self.send(port);
        }
    }

    /// Whether a call is pending.
    fn is_awaiting(&self, port: u32) -> bool {
        self.turns[port as usize].wake.is_some_and(|wake| wake > self.schedule.current())
    }

    fn wake_at(&mut self, port: u32, time: u64) {
        let due = self.insert(time - self.now(), Event::Wake(port));
        self.turns[port as usize].wake = Some(due);
    }

    fn data(&mut self, flow: u32) -> u32 {
        let source = &mut self.sources[flow as usize];
        let payload = source.left().min(u64::from(self.setup.terms.payload)) as u32;
        let sequence = source.next as u32;
        source.next += u64::from(payload);
        let size = payload + HEADERS + self.stamps;
        let frame = Frame {
            flow,
            sequence,
            payload,
            way: source.way,
            ..Frame::new(What::Data, size, source.group)
        };
        let frame = self.slots.add_frame(frame);
        if let Some(trail) = self.slots.trail(frame) {
            *trail = Trail::new(self.schedule.now());
        }
        frame
    }

    /// Data has come to its target; the frame becomes the answer, if there is one.
    pub(super) fn receive(&mut self, port: u32, place: u32) {
        let now = self.now();
        let frame = &mut self.slots[place].frame;
        let target = &mut self.targets[frame.flow as usize];
        let expected = target.expected;
        let answer = if frame.sequence == expected {
            target.expected = expected.wrapping_add(frame.payload);
            (target.expected >= self.setup.ack_interval).then_some(What::Ack)
        } else if frame.sequence > expected
            && (now >= target.quiet_until || target.refused != expected)
        {
            target.quiet_until = now + NACK_INTERVAL;
            target.refused = expected;
            Some(What::Nack)
        } else {
            None
        };
        let Some(what) = answer else {
            return self.slots.remove(place);
        };
        (frame.what, frame.sequence, frame.payload) = (what, target.expected, 0);
        frame.size = 60.max(46 + self.stamps);
        self.ports[port as usize].push(0, place, &mut self.slots);
        self.send(port);
    }

    /// An answer has come to its source.
    pub(super) fn hear(&mut self, place: u32) {
        let Frame { what, flow, sequence, is_marked, .. } = self.slots[place].frame;
        self.slots.remove(place);
        let now = self.now();
        let source = &mut self.sources[flow as usize];
        if source.is_done() {
            return;
        }
        source.acknowledged = source.acknowledged.max(u64::from(sequence));
        let is_done = source.is_done();
        if is_done {
            source.timers = [0; 3];
            self.targets[flow as usize] = Target::default();
            let start = source.start;
            self.findings.completions.push(Completion { flow, start, finish: now });
        }
        if what == What::Nack {
            source.next = source.acknowledged;
        }
        let (port, terms) = (source.port, &self.setup.terms);
        let trail = self.slots.trail(place);
        match (terms.scheme, trail) {
            (Scheme::Dcqcn, _) => {
                // The timers of a flow that is over would change nothing that anybody sees.
                if is_marked && source.on_mark() && !(is_done && source.left() == 0) {
                    let alpha =
                        self.schedule.set(&mut self.slots, Timer::Alpha, terms.alpha_ns, flow);
                    let look =
                        self.schedule.set(&mut self.slots, Timer::Look, terms.look_ns + 1, flow);
                    source.timers = [alpha, look, source.timers[2]];
                }
            }
            (Scheme::Hpcc, Some(trail)) => {
                if source.on_records(sequence, trail, terms) {
                    let available = source.available;
                    self.pull_forward(port, available);
                }
            }
            (Scheme::Timely, Some(trail)) => {
                source.on_round_trip(sequence, now - trail.sent_at, terms);
            }
            (Scheme::Dctcp, _) => source.on_answer(sequence, is_marked, terms),
            (Scheme::None | Scheme::Hpcc | Scheme::Timely, _) => {}
        }
        self.update_turn(flow);
        self.send(port);
    }

    /// A pending call comes earlier if a flow may.
    fn pull_forward(&mut self, port: u32, available: u64) {
        let wake = self.turns[port as usize].wake;
        if self.is_awaiting(port) && wake.is_some_and(|(time, _)| available < time) {
            self.wake_at(port, available.max(self.now()));
        }
    }

    pub(super) fn on_timer(&mut self, timer: Timer, flow: u32) {
        let terms = &self.setup.terms;
        let source = &mut self.sources[flow as usize];
        if source.timers[timer as usize] != self.schedule.current().1 {
            return;
        }
        let mut is_cut = false;
        let span = match timer {
            Timer::Alpha => {
                source.on_alpha(terms);
                terms.alpha_ns
            }
            Timer::Look => {
                is_cut = source.on_look(terms);
                terms.look_ns
            }
            Timer::Raise => {
                source.on_raise(terms);
                terms.raise_ns
            }
        };
        source.timers[timer as usize] = self.schedule.set(&mut self.slots, timer, span, flow);
        if is_cut {
            source.timers[Timer::Raise as usize] =
                self.schedule.set(&mut self.slots, Timer::Raise, terms.raise_ns, flow);
        }
        // Windows may follow the rate.
        if is_cut || timer == Timer::Raise {
            self.update_turn(flow);
        }
    }
}
