//! A host on real frames: the core's host, the flows that it sends and receives, and one link.
//!
//! A packet is consumed at the instant at which it arrives. Data carries its number and the instant
//! at which it started, so that the target knows what is missing and how long it took.

mod flow;

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use pauseless_core::congestion::telemetry::Echo;
use pauseless_core::congestion::{AnyNotificationPoint, Feedback, Received as Packet, Sequence};
use pauseless_core::flow_control::{Control, Upstream};
use pauseless_core::host::{Host, Listener, Outgoing, Sender};
use pauseless_core::id::{Class, FlowId, PortId};
use pauseless_core::switch::Transmit;
use pauseless_core::transport::Transport;
use pauseless_core::unit::{Bytes, Rate, Span, Time};
use pauseless_wire::Malformed;
use pauseless_wire::cnp::Cnp;
use pauseless_wire::ip::Ecn;
use pauseless_wire::roce::{self, Data};

use crate::agenda::{Due, Task};
use crate::config::{HostNodeConfig, SentFlow};
use crate::control::{self, ControlFrame, Ends};
use crate::departures::Departures;
use crate::link::{Link, Received};
use crate::record::{Recorder, Sampled};
use crate::report::{ClassReport, NodeReport};
use crate::station::{BURST, Complaint, Given, Shape, Station, frame_size};
use crate::store::SLOT_BYTES;
use crate::tap::{Direction, Tap};
use flow::{Arrived, Receiving, Sending, find_receiving, find_sending};

/// The only port of a host.
const PORT: PortId = PortId(0);

/// A host on real frames. See the [module](self).
pub struct HostNode {
    link: Box<dyn Link>,
    body: Body,
}

/// Everything but the link, which lends out frames while it is read.
struct Body {
    station: Station,
    host: Host,
    ends: Ends,
    line: Rate,
    /// The frame on the emulated line, and its bytes if it is data.
    on_line: OnLine,
    frame: Box<[u8; SLOT_BYTES]>,
    /// A random number of this run, so that targets notice a restart.
    run: u32,
    /// The flows that have started, in the order of their ids.
    sends: Vec<Sending>,
    /// The flows that have not started, the first one last.
    waiting: Vec<SentFlow>,
    /// The flows that end here, in the order of their ids.
    receives: Vec<Receiving>,
}

enum OnLine {
    Nothing,
    Control(ControlFrame),
    /// So many bytes of the frame, which counts as so much, of a flow or about one.
    Data {
        length: usize,
        size: Bytes,
        flow: Option<FlowId>,
    },
}

impl HostNode {
    /// A host whose flows have not started yet. Panics if a packet of one is shorter than
    /// [`Data::SIZE_MIN`], the last one included: it has no room for its number.
    pub fn new(config: &HostNodeConfig, link: Box<dyn Link>) -> HostNode {
        let mut receives = config.receives.clone();
        receives.sort_by_key(|flow| flow.flow);
        let mut sends = config.sends.clone();
        sends.sort_by_key(|flow| flow.flow);
        for flow in &sends {
            let shortest = shortest_packet(flow);
            assert!(shortest >= Data::SIZE_MIN, "{}: {shortest}", flow.name);
        }
        let flows = Vec::from_iter(receives.iter().map(|flow| flow.flow.0));
        let recorder = Recorder::new(config.common.resolution, 1, &flows);
        let mut host = Host::new(&config.port);
        for flow in &receives {
            let has_frames = !matches!(flow.point, AnyNotificationPoint::Outside(_));
            assert!(has_frames, "{}: its answers have no frames", flow.name);
            host.listen(Listener {
                flow: flow.flow,
                class: flow.answer_class,
                // No acknowledgements are sent on real wires.
                ack_every: 0,
                point: flow.point.clone(),
                transport: Transport::default(),
                size: Bytes::MAX,
                packet: Bytes::MAX,
            });
        }
        let mut waiting = sends.clone();
        waiting.sort_by_key(|flow| std::cmp::Reverse((flow.start, flow.flow)));
        let ports = std::slice::from_ref(&config.port);
        let mut station = Station::new(&config.common, ports, recorder);
        station.agenda.set_timeout(PORT, host.poll_timeout());
        station.agenda.start = waiting.last().map_or(Time::MAX, |flow| flow.start);
        HostNode {
            link,
            body: Body {
                station,
                host,
                ends: Ends::new(&config.port),
                line: config.port.line,
                on_line: OnLine::Nothing,
                frame: Box::new([0; SLOT_BYTES]),
                run: RandomState::new().hash_one(&config.common.name) as u32,
                sends: sends.into_iter().map(Sending::new).collect(),
                waiting,
                receives: receives.into_iter().map(Receiving::new).collect(),
            },
        }
    }

    /// The name of the host in the scenario.
    pub fn name(&self) -> &str {
        self.body.station.name()
    }

    /// The host of the core, to read its state.
    pub fn core(&self) -> &Host {
        &self.body.host
    }

    /// Shows every frame to `tap` from now on.
    pub fn set_tap(&mut self, tap: Box<dyn Tap>) {
        self.body.station.set_tap(tap);
    }

    /// Sets the real time, since 1970, at which the clock of the node is zero: the timestamps of
    /// frames are counted from there, so that hosts with clocks of their own agree.
    pub fn set_epoch(&mut self, epoch: Duration) {
        self.body.station.set_epoch(epoch);
    }

    /// Sets a function that reads the node's clock. With it, delays within a round are measured;
    /// without it, a round takes no time.
    pub fn set_watch(&mut self, watch: Box<dyn Fn() -> Time + Send>) {
        self.body.station.set_watch(watch);
    }

    /// Records from now on when frames should have left, for the node at the far end.
    pub fn departures(&mut self) -> Departures {
        self.body.station.departures(PORT)
    }

    /// Sets the record of when incoming frames should have left the far end.
    pub fn set_arrivals(&mut self, departures: Departures) {
        self.body.station.set_arrivals(PORT, departures);
    }

    /// The messages for the user since the last call, each sent once.
    pub fn take_messages(&mut self) -> Vec<String> {
        self.body.station.take_messages()
    }

    /// The link, to wait for frames.
    pub fn link(&self) -> &dyn Link {
        &*self.link
    }

    /// Whether all of its flows have sent everything or were stopped by `now`, and nothing is left
    /// on the emulated line.
    pub fn is_done(&self, now: Time) -> bool {
        let body = &self.body;
        let is_over = |sending: &Sending| {
            sending.flow.stop <= now || sending.report.bytes >= sending.flow.size
        };
        matches!(body.on_line, OnLine::Nothing)
            && self.link.backlog() == 0
            && body.sends.iter().all(is_over)
    }

    /// Does what is due by `now`, each task at its own instant: flows start, frames whose last bit
    /// has left are given to the link, and the next ones start.
    pub fn advance(&mut self, now: Time) {
        self.body.station.agenda.retry(now);
        while let Some(due) = self.body.station.next_task(now) {
            match due.task {
                Task::Left(_) => self.body.on_left(due, &mut *self.link),
                Task::Timeout(_) => self.body.on_timeout(due.time),
                Task::Start => self.body.on_start(due.time),
                Task::Sample => self.body.on_sample(due.due),
            }
        }
    }

    /// Hands over to the kernel the frames that have left.
    pub fn flush(&mut self) {
        self.body.station.flush(PORT, &mut *self.link);
    }

    /// Handles the frames that have come in, at `now`; returns their number.
    pub fn receive(&mut self, now: Time) -> usize {
        self.body.station.agenda.begin(now);
        let body = &mut self.body;
        body.station.begin_burst();
        let take = &mut |frame: Received<'_>| body.on_frame(now, frame);
        let received = self.link.receive(BURST, take);
        let count = received.as_ref().map_or(0, |count| *count);
        self.body.station.note_result(PORT, Direction::In, received);
        count
    }

    /// When [`HostNode::advance`] has something to do; [`Time::MAX`] for never.
    pub fn poll_timeout(&self) -> Time {
        self.body.station.agenda.poll_timeout()
    }

    /// The report of the host without its recordings.
    pub fn status(&mut self, now: Time) -> NodeReport {
        self.body.station.note_losses(PORT, &mut *self.link);
        let body = &self.body;
        let mut report = body.station.report(now);
        report.ports[0].classes = body.classes(now);
        let sends = body.sends.iter();
        report.sends = sends.map(|flow| flow.report(&body.host)).collect();
        report.receives = body.receives.iter().map(Receiving::report).collect();
        report
    }

    /// The report of the host with its recordings.
    pub fn report(&mut self, now: Time) -> NodeReport {
        NodeReport { series: self.body.station.recorder.series().clone(), ..self.status(now) }
    }
}

impl Body {
    fn on_start(&mut self, now: Time) {
        let flow = self.waiting.pop().expect("a start task has a waiting flow");
        let next = self.waiting.last();
        self.station.agenda.start = next.map_or(Time::MAX, |flow| flow.start);
        if flow.stop > now {
            self.host.start(Sender {
                flow: flow.flow,
                class: flow.class,
                packet: flow.packet,
                pace: flow.pace,
                size: flow.size,
                start: now,
                stop: flow.stop,
                duty: flow.duty,
                control: flow.control,
                transport: Transport::default(),
                window: Bytes::MAX,
            });
            self.drain(now);
        }
    }

    /// Handles the departure of the last bit of the frame on the line.
    fn on_left(&mut self, due: Due, link: &mut dyn Link) {
        let frame = match &self.on_line {
            OnLine::Nothing => unreachable!("a line that is free has no task"),
            OnLine::Control(control) => control.bytes(),
            OnLine::Data { length, .. } => &self.frame[..*length],
        };
        if !self.station.hand_over(due, PORT, Given { link, frame }) {
            return;
        }
        let counters = self.station.counters(PORT);
        match std::mem::replace(&mut self.on_line, OnLine::Nothing) {
            OnLine::Nothing => {}
            OnLine::Control(control) => control.count(counters),
            OnLine::Data { size, flow, .. } => {
                counters.sent += 1;
                counters.sent_bytes += size;
                if let Some(sending) = flow.and_then(|flow| find_sending(&mut self.sends, flow)) {
                    sending.report.frames += 1;
                    sending.report.bytes += size;
                    sending.report.first.get_or_insert(due.time);
                }
            }
        }
        self.station.agenda.set_left(PORT, Time::MAX);
        self.host.handle_transmitted(due.time);
        self.drain(due.time);
    }

    fn on_timeout(&mut self, now: Time) {
        self.station.agenda.set_timeout(PORT, Time::MAX);
        self.host.handle_timeout(now);
        self.drain(now);
    }

    fn on_frame(&mut self, now: Time, frame: Received<'_>) {
        let now = self.station.agenda.arrive(now);
        match self.station.take_in(now, PORT, &frame) {
            Shape::Short | Shape::Long => {}
            Shape::Good if pauseless_wire::is_control(frame.bytes) => {
                self.on_control(now, frame.bytes)
            }
            Shape::Good => self.on_packet(now, frame.bytes),
        }
    }

    fn on_control(&mut self, now: Time, frame: &[u8]) {
        for control in control::read(&mut self.station, PORT, &self.ends, frame) {
            let port = self.host.port();
            let is_stopped = control::is_stopped(port, now, control.class);
            let is_new = control::is_pause(control) && !is_stopped;
            self.station.counters(PORT).pauses_received += u64::from(is_new);
            self.host.handle_control(control);
            self.host.handle_signal(now, control);
            self.drain(now);
        }
    }

    /// Handles a frame that is no control frame: it takes ingress buffer until it was processed.
    fn on_packet(&mut self, now: Time, frame: &[u8]) {
        let size = frame_size(frame.len());
        let mut class = pauseless_wire::class_of(frame);
        let counters = self.station.counters(PORT);
        counters.received += 1;
        counters.received_bytes += size;
        if class.index() >= self.ends.class_count() {
            counters.declassed += 1;
            let why = format_args!("there is no class {} here; it passes as class 0", class.0);
            self.station.complain(PORT, Complaint::Declassed, why);
            class = Class(0);
        }
        if let Err(overrun) = self.host.handle_arrival(now, class, size) {
            self.station.counters(PORT).overruns += 1;
            let why = format_args!(
                "class {} overruns its buffer of {}; frames are LOST",
                class.0, overrun.buffer
            );
            self.station.complain(PORT, Complaint::Overrun, why);
            return;
        }
        self.host.consume(now, class, size);
        self.look_at(now, frame, size);
        self.drain(now);
    }

    fn look_at(&mut self, now: Time, frame: &[u8], size: Bytes) {
        let packet = match roce::Packet::new(frame) {
            Ok(packet) => packet,
            // Other protocols may well be on the same wire.
            Err(_) => return self.refuse(frame),
        };
        let read = match packet.opcode() {
            roce::CONGESTION => Cnp::parse(&packet).map(|cnp| self.on_answer(now, frame, cnp)),
            _ => Data::parse(&packet).map(|data| self.on_data(now, frame, size, data)),
        };
        if let Err(why) = read {
            self.refuse_malformed(why);
        }
    }

    fn on_answer(&mut self, now: Time, frame: &[u8], cnp: Cnp) {
        if find_sending(&mut self.sends, cnp.flow).is_none() {
            return self.refuse(frame);
        }
        self.host.handle_feedback(now, cnp.flow, cnp.feedback());
    }

    fn on_data(&mut self, now: Time, frame: &[u8], size: Bytes, data: Data) {
        let now_ns = self.station.wall_ns(now);
        let receiving = find_receiving(&mut self.receives, data.flow);
        let receiving = receiving.filter(|it| it.flow.address == data.target);
        let Some(receiving) = receiving else {
            return self.refuse(frame);
        };
        let is_marked = data.ecn == Ecn::Marked;
        let took_ns = now_ns.saturating_sub(data.stamp_ns);
        receiving.add(&Arrived {
            time: now,
            run: data.run,
            number: data.number,
            size,
            is_marked,
            took: Span::ps(took_ns.saturating_mul(1_000)),
        });
        let packet = Packet {
            size,
            sequence: Sequence(data.number as u32 & ((1 << Sequence::BITS) - 1)),
            is_marked,
            echo: Echo::NONE,
        };
        self.host.handle_data(now, data.flow, packet);
    }

    /// Counts a frame that is for nobody here.
    fn refuse(&mut self, frame: &[u8]) {
        self.station.counters(PORT).unknown += 1;
        if let Some(address) = pauseless_wire::destination(frame) {
            let why = format_args!("nothing here expects a frame for {address}; more are counted");
            self.station.complain(PORT, Complaint::Unknown, why);
        }
    }

    fn refuse_malformed(&mut self, why: Malformed) {
        self.station.counters(PORT).malformed += 1;
        let why = format_args!("a packet that makes no sense ({why}); more are counted");
        self.station.complain(PORT, Complaint::Malformed, why);
    }

    fn drain(&mut self, now: Time) {
        let transmit = self.host.poll_transmit(now);
        self.station.agenda.set_timeout(PORT, self.host.poll_timeout());
        let (on_line, size) = match transmit {
            None => return,
            Some(Transmit::Control(control)) => {
                let frame = ControlFrame::new(&self.station, PORT, &self.ends, control);
                (OnLine::Control(frame), Control::SIZE)
            }
            Some(Transmit::Data { packet, size, .. }) => {
                let (length, flow) = match packet {
                    Outgoing::Data { flow, .. } => (self.write_data(now, flow, size), Some(flow)),
                    Outgoing::Answer { flow, feedback } => (self.write_cnp(flow, feedback), None),
                };
                (OnLine::Data { length, size, flow }, size)
            }
        };
        self.on_line = on_line;
        let left = now + self.line.tx_span(size);
        self.station.agenda.set_left(PORT, left);
    }

    /// Writes the next frame of a flow; returns its length.
    fn write_data(&mut self, now: Time, flow: FlowId, size: Bytes) -> usize {
        let stamp_ns = self.station.wall_ns(now);
        let sending = find_sending(&mut self.sends, flow).expect("a flow that sends has started");
        let data = Data {
            source: self.station.ports[0].address,
            target: sending.flow.target,
            class: sending.flow.class,
            flow,
            run: self.run,
            number: sending.number,
            stamp_ns,
            ecn: Ecn::Capable0,
        };
        sending.number += 1;
        let length = size.get() as usize - 4;
        data.emit(&mut self.frame[..length]);
        length
    }

    /// Writes a feedback packet to the source of a flow; returns its length.
    fn write_cnp(&mut self, flow: FlowId, feedback: Feedback) -> usize {
        let about = find_receiving(&mut self.receives, flow);
        let about = &about.expect("feedback is about a flow that ends here").flow;
        let fields = Cnp::fields(feedback);
        let (rate_mbps, is_congested) =
            fields.expect("feedback without a frame is refused when a node is built");
        let cnp = Cnp {
            source: self.station.ports[0].address,
            target: about.answers_to,
            class: about.answer_class,
            flow,
            rate_mbps,
            is_congested,
        };
        let frame = self.frame.first_chunk_mut().expect("the buffer is longer than a CNP");
        cnp.emit(frame);
        Cnp::LEN
    }

    fn on_sample(&mut self, now: Time) {
        let Station { recorder, ports, agenda, .. } = &mut self.station;
        agenda.sample = recorder.next(now);
        recorder.begin(now);
        let sampled =
            Sampled { port: self.host.port(), counters: ports[0].counters, egress: Bytes::ZERO };
        recorder.sample_port(0, now, &sampled);
        for (index, receiving) in self.receives.iter().enumerate() {
            recorder.sample_flow(index, receiving.report.bytes);
        }
    }

    fn classes(&self, now: Time) -> Vec<ClassReport> {
        let port = self.host.port();
        let class = |class: usize| {
            let class = Class(class as u8);
            ClassReport {
                held: port.held(class),
                held_max: port.held_max(class),
                buffer: port.buffer(class),
                allowed_bps: port.upstream(class).rate(now).map(Rate::as_bps),
                is_stopped: control::is_stopped(port, now, class),
                ..ClassReport::new(class)
            }
        };
        (0..port.class_count()).map(class).collect()
    }
}

/// The frame bytes of the shortest packet of a flow, which is the last one of a finite flow.
fn shortest_packet(flow: &SentFlow) -> Bytes {
    let last = match flow.size {
        Bytes::MAX => 0,
        size => size.get() % flow.packet.get(),
    };
    match last {
        0 => flow.packet,
        last => Bytes::new(last),
    }
}
