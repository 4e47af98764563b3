//! What happens at hosts.

use super::super::source::{Scheme, Trail};
use super::{Completion, Engine, Event, Frame, HEADERS, NACK_INTERVAL, Target, What};

impl Engine {
    pub(super) fn start(&mut self, flow: u32) {
        let source = &mut self.sources[flow as usize];
        (source.start, source.available) = (self.now, self.now);
        let port = self.setup.port_of(self.setup.flows[flow as usize].source);
        self.port(port).flows.push(flow);
        self.send(port);
    }

    pub(super) fn send_of_host(&mut self, port: u32) {
        let class = if self.setup.answers_first { 0 } else { 3 };
        let at = self.port(port);
        if !at.is_paused[class]
            && let Some(frame) = at.answers.pop_front()
        {
            return self.put_on_wire(port, frame);
        }
        if let Some(flow) = self.next_flow(port) {
            let frame = self.data(flow);
            let size = self.frames[frame as usize].size;
            self.put_on_wire(port, frame);
            self.sources[flow as usize].on_sent(self.now, size, &self.setup.terms);
            return;
        }
        // Flows that may not send for other reasons count here, too.
        let at = &self.setup.ports[port as usize];
        let sources = at.flows.iter().map(|flow| &self.sources[*flow as usize]);
        let waiting = sources.filter(|source| source.left() > 0);
        let earliest = waiting.map(|source| source.available).min();
        if let Some(earliest) = earliest.filter(|earliest| *earliest > self.now)
            && !self.is_awaiting(port)
        {
            self.wake_at(port, earliest);
        }
    }

    /// Whether a call is pending.
    pub(super) fn is_awaiting(&self, port: u32) -> bool {
        let wake = self.setup.ports[port as usize].wake;
        wake.is_some_and(|wake| wake > (self.now, self.current))
    }

    pub(super) fn wake_at(&mut self, port: u32, time: u64) {
        let number = self.insert(time - self.now, Event::Wake(port));
        self.port(port).wake = Some((time, number));
    }

    /// The flow whose turn it is; those that are done go while it is looked for.
    pub(super) fn next_flow(&mut self, port: u32) -> Option<u32> {
        let at = &mut self.setup.ports[port as usize];
        let (sources, terms) = (&self.sources, &self.setup.terms);
        let count = at.flows.len();
        let mut found = None;
        let mut done = usize::MAX;
        for step in 1..=count {
            let index = (step + at.turn) % count;
            let source = &sources[at.flows[index] as usize];
            let is_paused = at.is_paused[usize::from(source.group)];
            if !is_paused && source.left() > 0 && !source.is_window_full(terms) {
                if source.available <= self.now {
                    found = Some(index);
                    break;
                }
            } else if source.is_done() {
                done = done.min(index);
            }
        }
        let flow = found.map(|index| at.flows[index]);
        if done < count {
            let mut index = 0;
            at.flows.retain(|flow| {
                index += 1;
                index <= done || !sources[*flow as usize].is_done()
            });
        }
        let flow = flow?;
        let index = at.flows.iter().position(|other| *other == flow);
        at.turn = index.unwrap_or(0);
        Some(flow)
    }

    pub(super) fn data(&mut self, flow: u32) -> u32 {
        let source = &mut self.sources[flow as usize];
        let payload = source.left().min(u64::from(self.setup.terms.payload)) as u32;
        let sequence = source.next as u32;
        source.next += u64::from(payload);
        let group = source.group;
        let trail = Trail { sent_at: self.now, ..Trail::default() };
        self.new_frame(Frame {
            what: What::Data,
            size: payload + HEADERS + self.stamps,
            group,
            flow,
            sequence,
            payload,
            is_marked: false,
            ingress: 0,
            trail,
        })
    }

    /// Data has come to its target.
    pub(super) fn receive(&mut self, port: u32, frame: &Frame) {
        let target = &mut self.targets[frame.flow as usize];
        let expected = target.expected;
        let what = if frame.sequence == expected {
            target.expected = expected.wrapping_add(frame.payload);
            if target.expected >= self.setup.ack_interval {
                What::Ack
            } else {
                return;
            }
        } else if frame.sequence > expected
            && (self.now >= target.quiet_until || target.refused != expected)
        {
            target.quiet_until = self.now + NACK_INTERVAL;
            target.refused = expected;
            What::Nack
        } else {
            return;
        };
        let sequence = target.expected;
        let answer = self.new_frame(Frame {
            what,
            size: 60.max(46 + self.stamps),
            sequence,
            payload: 0,
            ..*frame
        });
        self.port(port).answers.push_back(answer);
        self.send(port);
    }

    /// An answer has come to its source.
    pub(super) fn hear(&mut self, frame: &Frame) {
        let index = frame.flow as usize;
        if self.sources[index].is_done() {
            return;
        }
        let source = &mut self.sources[index];
        source.acknowledged = source.acknowledged.max(u64::from(frame.sequence));
        if source.is_done() {
            source.timers = [0; 3];
            self.finish(index);
        }
        let (now, terms) = (self.now, &self.setup.terms);
        let source = &mut self.sources[index];
        if frame.what == What::Nack {
            source.next = source.acknowledged;
        }
        let port = self.setup.port_of(self.setup.flows[index].source);
        match terms.scheme {
            Scheme::Dcqcn if frame.is_marked => {
                if source.on_mark() {
                    let (alpha, look) = (terms.alpha_ns, terms.look_ns + 1);
                    let alpha = self.insert(alpha, Event::Alpha(frame.flow));
                    let look = self.insert(look, Event::Look(frame.flow));
                    let timers = &mut self.sources[index].timers;
                    (timers[0], timers[1]) = (alpha, look);
                }
            }
            Scheme::Hpcc => {
                if source.on_records(frame.sequence, &frame.trail, terms) {
                    let available = source.available;
                    self.pull_forward(port, available);
                }
            }
            Scheme::Timely => {
                source.on_round_trip(frame.sequence, now - frame.trail.sent_at, terms);
            }
            Scheme::Dctcp => source.on_answer(frame.sequence, frame.is_marked, terms),
            Scheme::Dcqcn | Scheme::None => {}
        }
        self.send(port);
    }

    /// A pending call comes earlier if a flow may.
    pub(super) fn pull_forward(&mut self, port: u32, available: u64) {
        let wake = self.setup.ports[port as usize].wake;
        if self.is_awaiting(port) && wake.is_some_and(|(time, _)| available < time) {
            self.wake_at(port, available.max(self.now));
        }
    }

    fn finish(&mut self, index: usize) {
        self.targets[index] = Target::default();
        self.findings.completions.push(Completion {
            flow: index as u32,
            start: self.sources[index].start,
            finish: self.now,
        });
    }

    pub(super) fn on_timer(&mut self, event: Event, flow: u32) {
        let terms = &self.setup.terms;
        let source = &mut self.sources[flow as usize];
        let (which, span) = match event {
            Event::Alpha(_) => (0, terms.alpha_ns),
            Event::Look(_) => (1, terms.look_ns),
            _ => (2, terms.raise_ns),
        };
        if source.timers[which] != self.current {
            return;
        }
        let raise = terms.raise_ns;
        let is_cut = match which {
            0 => {
                source.on_alpha(terms);
                false
            }
            1 => source.on_look(terms),
            _ => {
                source.on_raise(terms);
                false
            }
        };
        let number = self.insert(span, event);
        self.sources[flow as usize].timers[which] = number;
        if is_cut {
            let number = self.insert(raise, Event::Raise(flow));
            self.sources[flow as usize].timers[2] = number;
        }
    }
}
