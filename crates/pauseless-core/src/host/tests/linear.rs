//! The model of a host: the flows are in a list, the one to serve next first, and all are asked.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use super::super::sender::Sending;
use super::*;

pub(super) struct Linear {
    pub port: Port,
    flows: Vec<Sending>,
    answers: [VecDeque<(FlowId, Feedback)>; Class::COUNT_MAX],
    timers: Vec<(Time, FlowId)>,
    stop: Time,
    is_busy: bool,
    wake: Time,
    is_stale: bool,
}

impl Linear {
    pub fn new(config: &PortConfig) -> Linear {
        Linear {
            port: Port::new(config),
            flows: Vec::new(),
            answers: Default::default(),
            timers: Vec::new(),
            stop: Time::MAX,
            is_busy: false,
            wake: Time::MAX,
            is_stale: false,
        }
    }

    pub fn start(&mut self, sender: Sender) {
        self.stop = self.stop.min(sender.stop);
        self.flows.push(Sending::new(sender));
        self.is_stale = true;
    }

    pub fn rate(&self, flow: FlowId) -> Option<Rate> {
        self.flows.iter().find(|it| it.flow() == flow).map(Sending::rate)
    }

    pub fn answer(&mut self, class: Class, flow: FlowId, feedback: Feedback) {
        self.answers[class.index()].push_back((flow, feedback));
    }

    pub fn handle_feedback(&mut self, now: Time, flow: FlowId, feedback: Feedback) -> bool {
        let Some(place) = self.flows.iter().position(|it| it.flow() == flow) else {
            return false;
        };
        self.flows[place].on_feedback(now, feedback, &[]);
        if self.flows[place].is_complete() {
            self.flows.remove(place);
            return true;
        }
        self.arm(place);
        false
    }

    fn arm(&mut self, place: usize) {
        let sending = &mut self.flows[place];
        self.wake = self.wake.min(sending.next());
        if let Some(due) = sending.poll_armed() {
            self.timers.push((due, sending.flow()));
        }
    }

    pub fn handle_signal(&mut self, now: Time, control: Control) {
        self.port.handle_signal(now, control);
        self.is_stale = true;
    }

    pub fn handle_timeout(&mut self, now: Time) {
        self.port.handle_timeout(now);
        while let Some((due, flow)) = self.timers.iter().min().copied().filter(|it| it.0 <= now) {
            let first = self.timers.iter().position(|it| *it == (due, flow));
            self.timers.remove(first.expect("it is there"));
            if let Some(place) = self.flows.iter().position(|it| it.flow() == flow) {
                self.flows[place].handle_timeout(now, due);
                self.arm(place);
            }
        }
    }

    pub fn handle_transmitted(&mut self, now: Time) {
        self.is_busy = false;
        self.port.on_transmitted(now);
    }

    pub fn poll_timeout(&self) -> Time {
        let points = self.timers.iter().map(|it| it.0).min().unwrap_or(Time::MAX);
        let timers = self.port.poll_timeout().min(points);
        if self.is_busy { timers } else { self.wake.min(timers) }
    }

    pub fn poll_transmit(&mut self, now: Time) -> Option<Transmit<Outgoing>> {
        if self.is_busy {
            return None;
        }
        if let Some(control) = self.port.poll_signal(now) {
            self.is_busy = true;
            return Some(Transmit::Control(control));
        }
        let mut answer_gate = Time::MAX;
        for class in (0..CLASSES).rev() {
            let Some((flow, feedback)) = self.answers[class].front().copied() else {
                continue;
            };
            let (class, size) = (Class(class as u8), AnswerSizes::default().of(feedback));
            match self.port.gate(now, class, size) {
                Gate::Open => {
                    self.answers[class.index()].pop_front();
                    return Some(self.send(now, Outgoing::Answer { flow, feedback }, class, size));
                }
                Gate::At(time) => answer_gate = answer_gate.min(time),
                Gate::Closed => {}
            }
        }
        if now < self.wake && !self.is_stale {
            self.wake = self.wake.min(answer_gate);
            return None;
        }
        self.is_stale = false;
        self.wake = answer_gate;
        self.retire(now);
        self.next_data(now)
    }

    fn retire(&mut self, now: Time) {
        if self.stop <= now {
            self.flows.retain(|it| now < it.stop() || it.has_sent_all());
            let later = self.flows.iter().map(Sending::stop).filter(|stop| now < *stop);
            self.stop = later.min().unwrap_or(Time::MAX);
        }
    }

    fn next_data(&mut self, now: Time) -> Option<Transmit<Outgoing>> {
        for place in 0..self.flows.len() {
            let sending = &mut self.flows[place];
            if sending.has_sent_all() {
                continue;
            }
            let (class, size) = (sending.class(), sending.size());
            match self.port.gate(now, class, size).and(sending.gate(now)) {
                Gate::Open => {}
                Gate::At(time) => {
                    self.wake = self.wake.min(time);
                    continue;
                }
                Gate::Closed => continue,
            }
            let packet = sending.on_send(now, size);
            if let Some(due) = sending.poll_armed() {
                self.timers.push((due, sending.flow()));
            }
            let is_complete = sending.is_complete();
            self.flows.rotate_left(place + 1);
            if is_complete {
                self.flows.pop();
            }
            return Some(self.send(now, packet, class, size));
        }
        None
    }

    fn send(
        &mut self,
        now: Time,
        packet: Outgoing,
        class: Class,
        size: Bytes,
    ) -> Transmit<Outgoing> {
        self.is_busy = true;
        self.is_stale = true;
        self.port.on_transmit(now, class, size);
        Transmit::Data { packet, size, class, is_marked: false }
    }
}
