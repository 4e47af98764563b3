//! A switch on real frames: the core's switch, a store of frames and a link per port.
//!
//! A frame is charged to the class that its VLAN tag or its DSCP names. A class that the ports do not
//! have is class 0, which by convention is best effort: the frame passes, and is counted.
//!
//! Frames that go no further (their address is not in the table, or they would leave by the port that
//! they came in by) are dropped and counted, and what their sender has spent on them is given back.

use std::time::Duration;

use pauseless_core::flow_control::{Control, Upstream};
use pauseless_core::id::{Class, FlowId, PortId};
use pauseless_core::switch::{Arrival, Switch, Transmit};
use pauseless_core::unit::{Bytes, Rate, Span, Time};
use pauseless_wire::MacAddress;
use pauseless_wire::ip::{self, Ecn};
use pauseless_wire::roce::{self, Data};

use crate::agenda::{Due, Task};
use crate::config::SwitchNodeConfig;
use crate::control::{self, ControlFrame, Ends};
use crate::departures::Departures;
use crate::forwarding::Forwarding;
use crate::link::{Link, Received};
use crate::record::{Recorder, Sampled};
use crate::report::{ClassReport, NodeReport};
use crate::station::{BURST, Complaint, Given, Shape, Station, frame_size};
use crate::store::{Slot, Store};
use crate::tap::{Direction, Tap};

/// A switch on real frames. See the [module](self).
pub struct SwitchNode {
    links: Vec<Box<dyn Link>>,
    body: Body,
}

/// Everything but the links, which lend out frames while they are read.
struct Body {
    station: Station,
    switch: Switch<Slot>,
    store: Store,
    forwarding: Forwarding,
    /// The flow control at both ends of each port.
    ends: Vec<Ends>,
    /// The frame on the emulated line of each port.
    lines: Vec<OnLine>,
    rates: Vec<Rate>,
    is_watching: bool,
    storms: Vec<Storm>,
    /// When the frame in each slot arrived.
    arrived: Vec<Time>,
    /// When each port last received a control frame or had a timeout.
    changed: Vec<Time>,
    /// While a frame leaves, its port and the instant since when the line is free.
    free: Option<(PortId, Time)>,
    /// Whether a frame can leave as soon as it has arrived and its line is free.
    may_catch_up: bool,
}

/// A storm of PAUSE that a watchdog has detected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Storm {
    /// The egress port that was paused for too long.
    pub port: PortId,
    /// The class that was paused.
    pub class: Class,
    /// When the watchdog tripped.
    pub time: Time,
    /// When it was over, if it is.
    pub restored: Option<Time>,
    /// The number of frames dropped in between.
    pub dropped: u64,
    /// The bytes of the frames dropped in between.
    pub dropped_bytes: Bytes,
}

/// The most storms that are recorded; later ones are only counted.
const STORMS_MAX: usize = 10_000;

/// The frame on an emulated line.
enum OnLine {
    Nothing,
    Control(ControlFrame),
    Data { slot: Slot, size: Bytes },
}

impl SwitchNode {
    /// A switch with empty queues, and a link for each of its ports.
    pub fn new(config: &SwitchNodeConfig, links: Vec<Box<dyn Link>>) -> SwitchNode {
        let ports = &config.switch.ports;
        assert_eq!(links.len(), ports.len(), "a link per port");
        let recorder = Recorder::new(config.common.resolution, ports.len(), &[]);
        let mut switch = Switch::new(&config.switch);
        if let Some(watchdog) = &config.watchdog {
            switch.watch(watchdog);
        }
        let mut station = Station::new(&config.common, ports, recorder);
        for port in (0..ports.len()).map(|port| PortId(port as u16)) {
            let timeout = switch.poll_timeout(port);
            station.agenda.set_timeout(port, timeout);
        }
        SwitchNode {
            links,
            body: Body {
                station,
                switch,
                store: Store::new(),
                forwarding: Forwarding::new(&config.forwarding),
                ends: ports.iter().map(Ends::new).collect(),
                lines: ports.iter().map(|_| OnLine::Nothing).collect(),
                rates: ports.iter().map(|port| port.line).collect(),
                is_watching: config.watchdog.is_some(),
                storms: Vec::new(),
                arrived: Vec::new(),
                changed: vec![Time::ZERO; ports.len()],
                free: None,
                may_catch_up: !config.switch.discipline.blocks_heads()
                    && ports
                        .iter()
                        .flat_map(|port| &port.lanes)
                        .all(|lane| lane.tick == Span::ZERO),
            },
        }
    }

    /// The name of the switch in the scenario.
    pub fn name(&self) -> &str {
        self.body.station.name()
    }

    /// The switch of the core, to read its state.
    pub fn core(&self) -> &Switch<Slot> {
        &self.body.switch
    }

    /// The flow that a packet of the switch belongs to, if it is data of one.
    pub fn flow_of(&self, slot: Slot) -> Option<FlowId> {
        let packet = roce::Packet::new(self.body.store.frame(slot)).ok()?;
        Some(Data::parse(&packet).ok()?.flow)
    }

    /// The number of frames in the switch, those on emulated lines included.
    pub fn frames_inside(&self) -> usize {
        self.body.store.in_use()
    }

    /// Bytes of `class` on the emulated line of `port`: they have left its queue and not arrived
    /// yet.
    pub fn on_line(&self, port: PortId, class: Class) -> Bytes {
        match &self.body.lines[port.index()] {
            OnLine::Data { slot, size }
                if pauseless_wire::class_of(self.body.store.frame(*slot)) == class =>
            {
                *size
            }
            OnLine::Nothing | OnLine::Control(_) | OnLine::Data { .. } => Bytes::ZERO,
        }
    }

    /// Whether it has watchdogs.
    pub fn is_watching(&self) -> bool {
        self.body.is_watching
    }

    /// The first storms that its watchdogs have detected, in order of time.
    pub fn storms(&self) -> &[Storm] {
        &self.body.storms
    }

    /// Shows every frame to `tap` from now on.
    pub fn set_tap(&mut self, tap: Box<dyn Tap>) {
        self.body.station.set_tap(tap);
    }

    /// Sets the real time, since 1970, at which the clock of the node is zero. With this and the
    /// kernel's timestamps it is known how long frames waited to be read.
    pub fn set_epoch(&mut self, epoch: Duration) {
        self.body.station.set_epoch(epoch);
    }

    /// Sets a function that reads the node's clock. With it, delays within a round are measured;
    /// without it, a round takes no time.
    pub fn set_watch(&mut self, watch: Box<dyn Fn() -> Time + Send>) {
        self.body.station.set_watch(watch);
    }

    /// Records from now on when frames should have left by `port`, for the node at its far end.
    pub fn departures(&mut self, port: PortId) -> Departures {
        self.body.station.departures(port)
    }

    /// Sets the record of when frames that come in by `port` should have left the far end.
    pub fn set_arrivals(&mut self, port: PortId, departures: Departures) {
        self.body.station.set_arrivals(port, departures);
    }

    /// The messages for the user since the last call, each sent once per port.
    pub fn take_messages(&mut self) -> Vec<String> {
        self.body.station.take_messages()
    }

    /// The links, to wait for frames.
    pub fn links(&self) -> &[Box<dyn Link>] {
        &self.links
    }

    /// Does what is due by `now`, each task at its own instant: frames whose last bit has left are
    /// given to their links, and the next ones start.
    pub fn advance(&mut self, now: Time) {
        self.body.station.agenda.retry(now);
        while let Some(due) = self.body.station.next_task(now) {
            match due.task {
                Task::Left(port) => {
                    self.body.on_left(due, port, &mut *self.links[port.index()]);
                    if !self.body.station.agenda.is_leaving(due.due) {
                        self.body.settle(due.time);
                    }
                }
                Task::Timeout(port) => self.body.on_timeout(due.time, port),
                Task::Sample => self.body.on_sample(due.due),
                Task::Start => unreachable!("no flow starts at a switch"),
            }
        }
    }

    /// Hands over to the kernel the frames that have left.
    pub fn flush(&mut self) {
        for (index, link) in self.links.iter_mut().enumerate() {
            self.body.station.flush(PortId(index as u16), &mut **link);
        }
    }

    /// Handles the frames that have come in, at `now`; returns their number.
    pub fn receive(&mut self, now: Time) -> usize {
        self.body.station.agenda.begin(now);
        let mut count = 0;
        for (index, link) in self.links.iter_mut().enumerate() {
            let port = PortId(index as u16);
            let body = &mut self.body;
            body.station.begin_burst();
            let received = link.receive(BURST, &mut |frame| body.on_frame(now, port, frame));
            count += received.as_ref().map_or(0, |count| *count);
            self.body.station.note_result(port, Direction::In, received);
        }
        count
    }

    /// When [`SwitchNode::advance`] has something to do; [`Time::MAX`] for never.
    pub fn poll_timeout(&self) -> Time {
        self.body.station.agenda.poll_timeout()
    }

    /// The report of the switch without its recordings.
    pub fn status(&mut self, now: Time) -> NodeReport {
        for (index, link) in self.links.iter_mut().enumerate() {
            let port = PortId(index as u16);
            self.body.station.note_losses(port, &mut **link);
        }
        let mut report = self.body.station.report(now);
        for (index, port) in report.ports.iter_mut().enumerate() {
            port.classes = self.body.classes(now, PortId(index as u16));
        }
        report
    }

    /// The report of the switch with its recordings.
    pub fn report(&mut self, now: Time) -> NodeReport {
        NodeReport { series: self.body.station.recorder.series().clone(), ..self.status(now) }
    }
}

impl Body {
    /// Handles the departure of the last bit of the frame on the line of `port`.
    fn on_left(&mut self, due: Due, port: PortId, link: &mut dyn Link) {
        let frame = match &self.lines[port.index()] {
            OnLine::Nothing => unreachable!("a line that is free has no task"),
            OnLine::Control(control) => control.bytes(),
            OnLine::Data { slot, .. } => self.store.frame(*slot),
        };
        if !self.station.hand_over(due, port, Given { link, frame }) {
            return;
        }
        let counters = self.station.counters(port);
        let line = &mut self.lines[port.index()];
        match std::mem::replace(line, OnLine::Nothing) {
            OnLine::Nothing => {}
            OnLine::Control(control) => control.count(counters),
            OnLine::Data { slot, size } => {
                counters.sent += 1;
                counters.sent_bytes += size;
                self.store.remove(slot);
            }
        }
        self.station.agenda.set_left(port, Time::MAX);
        self.switch.handle_transmitted(due.time, port);
        self.free = Some((port, due.floor));
        self.drain(due.time);
        self.free = None;
    }

    /// Does what is left of an instant, after the last frame that leaves in it.
    fn settle(&mut self, now: Time) {
        while self.switch.poll_ended(now) {
            self.drain(now);
        }
    }

    fn on_timeout(&mut self, now: Time, port: PortId) {
        self.station.agenda.set_timeout(port, Time::MAX);
        self.changed[port.index()] = now;
        self.switch.handle_timeout(now, port);
        if self.is_watching {
            self.note_storms(now);
        }
        self.drain(now);
    }

    fn on_frame(&mut self, now: Time, port: PortId, frame: Received<'_>) {
        let now = self.station.agenda.arrive(now);
        match self.station.take_in(now, port, &frame) {
            Shape::Short => {}
            Shape::Long => self.discard(port, frame.bytes, frame.length),
            Shape::Good if pauseless_wire::is_control(frame.bytes) => {
                self.on_control(now, port, frame.bytes)
            }
            Shape::Good => self.on_data(now, port, frame.bytes),
        }
    }

    fn on_control(&mut self, now: Time, port: PortId, frame: &[u8]) {
        self.changed[port.index()] = now;
        let ends = &self.ends[port.index()];
        for control in control::read(&mut self.station, port, ends, frame) {
            let core = self.switch.port(port);
            let is_new =
                control::is_pause(control) && !control::is_stopped(core, now, control.class);
            self.station.counters(port).pauses_received += u64::from(is_new);
            self.switch.handle_control(port, control);
            self.switch.handle_signal(now, port, control);
            self.drain(now);
        }
    }

    fn on_data(&mut self, now: Time, port: PortId, frame: &[u8]) {
        let size = frame_size(frame.len());
        let class = self.class_of(port, frame);
        let counters = self.station.counters(port);
        counters.received += 1;
        counters.received_bytes += size;
        let address = pauseless_wire::destination(frame).unwrap_or(MacAddress([0; 6]));
        let Some(egress) = self.forwarding.port(address) else {
            counters.unknown += 1;
            let why = format_args!("no port for {address}; such frames are dropped and counted");
            self.station.complain(port, Complaint::Unknown, why);
            return self.switch.handle_expired(port, class, size);
        };
        if egress == port {
            counters.reflected += 1;
            let why = format_args!("a frame for {address} comes from where it should go; dropped");
            self.station.complain(port, Complaint::Reflected, why);
            return self.switch.handle_expired(port, class, size);
        }
        let slot = self.store.insert(frame);
        self.note_arrival(now, slot);
        let arrival = Arrival { packet: slot, size, class, egress, leaving: class };
        if let Err(overrun) = self.switch.handle_arrival(now, port, arrival) {
            self.store.remove(slot);
            self.station.counters(port).overruns += 1;
            let why = format_args!(
                "class {} overruns its {}: {} held of {}; frames are LOST",
                class.0,
                overrun.pool.name(),
                overrun.held,
                overrun.buffer,
            );
            self.station.complain(port, Complaint::Overrun, why);
        }
        self.drain(now);
    }

    /// Discards a frame, and gives its sender the credits back.
    fn discard(&mut self, port: PortId, frame: &[u8], length: usize) {
        if !pauseless_wire::is_control(frame) {
            let class = self.class_of(port, frame);
            self.switch.handle_expired(port, class, frame_size(length));
        }
    }

    fn class_of(&mut self, port: PortId, frame: &[u8]) -> Class {
        let class = pauseless_wire::class_of(frame);
        if class.index() < self.ends[port.index()].class_count() {
            return class;
        }
        self.station.counters(port).declassed += 1;
        let why = format_args!("there is no class {} here; it passes as class 0", class.0);
        self.station.complain(port, Complaint::Declassed, why);
        Class(0)
    }

    /// Lets every port that may have something to send send it.
    fn drain(&mut self, now: Time) {
        if self.is_watching {
            while let Some(dropped) = self.switch.poll_dropped(now) {
                self.store.remove(dropped.packet);
                self.station.counters(dropped.egress).watchdog_drops += 1;
                if let Some(storm) = self.storm(dropped.egress, dropped.class) {
                    storm.dropped += 1;
                    storm.dropped_bytes += dropped.size;
                }
                self.serve(now);
            }
        }
        self.serve(now);
    }

    fn serve(&mut self, now: Time) {
        while let Some(port) = self.switch.poll_ready() {
            let transmit = self.switch.poll_transmit(now, port);
            let timeout = self.switch.poll_timeout(port);
            self.station.agenda.set_timeout(port, timeout);
            if let Some(transmit) = transmit {
                self.start(now, port, transmit);
            }
        }
    }

    /// Starts a frame on the emulated line of `port`.
    fn start(&mut self, now: Time, port: PortId, transmit: Transmit<Slot>) {
        let (line, size) = match transmit {
            Transmit::Control(control) => {
                let ends = &self.ends[port.index()];
                let frame = ControlFrame::new(&self.station, port, ends, control);
                (OnLine::Control(frame), Control::SIZE)
            }
            Transmit::Data { packet: slot, size, is_marked, .. } => {
                if is_marked {
                    let frame = self.store.frame_mut(slot);
                    // A switch before this one may have marked it already.
                    let is_new =
                        ip::ecn_of(frame) != Ecn::Marked && pauseless_wire::mark_congestion(frame);
                    self.station.counters(port).marked += u64::from(is_new);
                }
                (OnLine::Data { slot, size }, size)
            }
        };
        let from = match line {
            OnLine::Data { slot, .. } => self.line_start(now, port, slot),
            _ => now,
        };
        self.lines[port.index()] = line;
        let left = from + self.rates[port.index()].tx_span(size);
        self.station.agenda.set_left(port, left);
    }

    fn note_arrival(&mut self, now: Time, slot: Slot) {
        let place = slot.0 as usize;
        if place >= self.arrived.len() {
            self.arrived.resize(self.store.capacity(), Time::ZERO);
        }
        self.arrived[place] = now;
    }

    /// When a frame that the switch gives away at `now` starts on the line of `port`.
    ///
    /// The time of the switch never goes back, so a line that the kernel has held up while other ports went
    /// on would lose that time for good. Its next frame counts as having started when the line was free, if
    /// it could have: it was there, nobody has told the port anything since, and no rate limits it. In an
    /// input queue it may have waited for another line; there it starts at `now`.
    fn line_start(&mut self, now: Time, port: PortId, slot: Slot) -> Time {
        let free = self.free.filter(|(freed, since)| *freed == port && *since < now);
        let Some((_, since)) = free.filter(|_| self.may_catch_up) else {
            return now;
        };
        let line = self.rates[port.index()];
        let core = self.switch.port(port);
        let mut classes = (0..core.class_count()).map(|class| Class(class as u8));
        if classes.any(|class| core.upstream(class).rate(now) != Some(line)) {
            return now;
        }
        let there = self.arrived[slot.0 as usize].max(self.changed[port.index()]);
        let from = since.max(there).min(now);
        let counters = self.station.counters(port);
        counters.line_lost = counters.line_lost.saturating_sub(now - from);
        from
    }

    #[cold]
    fn note_storms(&mut self, now: Time) {
        while let Some(notice) = self.switch.poll_watchdog() {
            let (port, class) = (notice.egress, notice.class.0);
            if notice.is_storm {
                self.add_storm(now, port, notice.class);
                self.station.counters(port).watchdog_trips += 1;
                let why = format_args!("a storm of PAUSE for class {class}; the watchdog acts");
                self.station.complain(port, Complaint::Storm, why);
            } else {
                if let Some(storm) = self.storm(port, notice.class) {
                    storm.restored.get_or_insert(now);
                }
                let why = format_args!("the storm of PAUSE for class {class} is over");
                self.station.complain(port, Complaint::StormOver, why);
            }
        }
    }

    fn add_storm(&mut self, now: Time, port: PortId, class: Class) {
        if self.storms.len() < STORMS_MAX {
            self.storms.push(Storm {
                port,
                class,
                time: now,
                restored: None,
                dropped: 0,
                dropped_bytes: Bytes::ZERO,
            });
        }
    }

    /// The last storm of a queue.
    fn storm(&mut self, port: PortId, class: Class) -> Option<&mut Storm> {
        self.storms.iter_mut().rev().find(|storm| (storm.port, storm.class) == (port, class))
    }

    fn on_sample(&mut self, now: Time) {
        let Station { recorder, ports, agenda, .. } = &mut self.station;
        agenda.sample = recorder.next(now);
        recorder.begin(now);
        for (index, state) in ports.iter().enumerate() {
            let port = PortId(index as u16);
            let sampled = Sampled {
                port: self.switch.port(port),
                counters: state.counters,
                egress: self.switch.queued(port),
            };
            recorder.sample_port(index, now, &sampled);
        }
    }

    fn classes(&self, now: Time, port: PortId) -> Vec<ClassReport> {
        let core = self.switch.port(port);
        let class = |class: usize| {
            let class = Class(class as u8);
            let is_blocked = self.switch.blocked(now, port, class).is_some();
            ClassReport {
                held: core.held(class),
                held_max: core.held_max(class),
                buffer: core.buffer(class),
                backlog: u64::from(self.switch.backlog(port, class)),
                allowed_bps: core.upstream(class).rate(now).map(Rate::as_bps),
                is_stopped: is_blocked || control::is_stopped(core, now, class),
                ..ClassReport::new(class)
            }
        };
        (0..core.class_count()).map(class).collect()
    }
}
