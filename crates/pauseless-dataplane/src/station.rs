//! What a switch and a host on real frames have in common: counters, messages, and how frames get
//! to their links.

use std::time::Duration;
use std::{fmt, io};

use pauseless_core::id::PortId;
use pauseless_core::port::PortConfig;
use pauseless_core::unit::{Bytes, Span, Time};
use pauseless_core::wire::{self, Envelope, MacAddress};

use crate::agenda::{Agenda, Due};
use crate::config::Common;
use crate::departures::Departures;
use crate::histogram::Histogram;
use crate::link::{Link, Received};
use crate::record::Recorder;
use crate::report::{Lateness, NodeReport, PortCounters, PortReport};
use crate::tap::{Direction, Tap};

/// At most so many frames of one port are taken at a time, so that no port starves the others.
pub(crate) const BURST: usize = 64;

/// The FCS, which interfaces do not show.
const FCS: usize = 4;
/// The smallest frame on a wire; what is shorter is padded there.
const FRAME_MIN: usize = 64;
/// The largest frame without a VLAN tag, FCS included.
const FRAME_MAX: usize = 1_518;
const TAG: usize = 4;
const HEADER: usize = 14;

/// What is said once per port and then only counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Complaint {
    Malformed,
    Oversized,
    Unknown,
    Unwelcome,
    Reflected,
    Declassed,
    Overrun,
    Storm,
    StormOver,
    Outage,
    OutageOver,
    KernelDrop,
    SendFailure,
}

/// See the [module](self).
pub(crate) struct Station {
    name: String,
    pub envelope: Envelope,
    slack: Span,
    pub agenda: Agenda,
    pub desks: Vec<Desk>,
    messages: Vec<String>,
    tap: Option<Box<dyn Tap>>,
    /// What the wall showed when the node's clock was at zero, since 1970.
    epoch: Option<Duration>,
    control_lateness: Histogram,
    data_lateness: Histogram,
    pub recorder: Recorder,
}

/// One port.
#[derive(Debug)]
pub(crate) struct Desk {
    neighbour: String,
    pub address: MacAddress,
    line_bps: u64,
    pub counters: PortCounters,
    /// A bit per [`Complaint`] that was made.
    complaints: u16,
    /// Directions in which the interface fails, a bit each.
    failing: u8,
    departures: Option<Departures>,
    arrivals: Option<Departures>,
}

/// How a frame is before anybody has looked at what is in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    Good,
    /// Too short to say where it goes.
    Short,
    /// Longer than the largest frame, or cut.
    Long,
}

impl Station {
    pub(crate) fn new(common: &Common, ports: &[PortConfig], recorder: Recorder) -> Station {
        assert_eq!(common.addresses.len(), ports.len(), "{}", common.name);
        assert_eq!(common.neighbours.len(), ports.len(), "{}", common.name);
        let names = common.addresses.iter().zip(&common.neighbours);
        let desks = names
            .zip(ports)
            .map(|((address, neighbour), port)| Desk {
                neighbour: neighbour.clone(),
                address: *address,
                line_bps: port.line.as_bps(),
                counters: PortCounters::default(),
                complaints: 0,
                failing: 0,
                departures: None,
                arrivals: None,
            })
            .collect();
        let mut agenda = Agenda::new(ports.len());
        agenda.sample = recorder.next(Time::ZERO);
        Station {
            name: common.name.clone(),
            envelope: common.envelope,
            slack: common.slack,
            agenda,
            desks,
            messages: Vec::new(),
            tap: None,
            epoch: None,
            control_lateness: Histogram::default(),
            data_lateness: Histogram::default(),
            recorder,
        }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn counters(&mut self, port: PortId) -> &mut PortCounters {
        &mut self.desks[port.index()].counters
    }

    pub(crate) fn set_tap(&mut self, tap: Box<dyn Tap>) {
        self.tap = Some(tap);
    }

    pub(crate) fn set_epoch(&mut self, epoch: Duration) {
        self.epoch = Some(epoch);
    }

    /// `now` in nanoseconds on the clock that all nodes share.
    pub(crate) fn wall_ns(&self, now: Time) -> u64 {
        let epoch = self.epoch.map_or(0, |epoch| epoch.as_nanos() as u64);
        epoch.wrapping_add(now.as_ps() / 1_000)
    }

    pub(crate) fn departures(&mut self, port: PortId) -> Departures {
        let departures = &mut self.desks[port.index()].departures;
        departures.get_or_insert_default().clone()
    }

    pub(crate) fn set_arrivals(&mut self, port: PortId, departures: Departures) {
        self.desks[port.index()].arrivals = Some(departures);
    }

    pub(crate) fn take_messages(&mut self) -> Vec<String> {
        std::mem::take(&mut self.messages)
    }

    /// The next task that is due by `now`.
    pub(crate) fn next_task(&mut self, now: Time) -> Option<Due> {
        let horizon = now.as_ps().saturating_sub(self.slack.as_ps());
        self.agenda.next(now, Time::from_ps(horizon))
    }

    /// Says something once for each kind and port.
    pub(crate) fn complain(&mut self, port: PortId, what: Complaint, why: fmt::Arguments<'_>) {
        let desk = &mut self.desks[port.index()];
        let bit = 1 << what as u8;
        if desk.complaints & bit == 0 {
            desk.complaints |= bit;
            self.messages
                .push(format!("{}: port to {}: {why}", self.name, desk.neighbour));
        }
    }

    /// A frame has come in: what it looks like from outside.
    pub(crate) fn take_in(&mut self, now: Time, port: PortId, frame: &Received<'_>) -> Shape {
        if let Some(tap) = &mut self.tap {
            tap.see(now, (port, Direction::In), frame.bytes);
        }
        self.note_lateness(now, port, frame);
        let (length, there) = (frame.length, frame.bytes.len());
        if there < HEADER {
            self.counters(port).malformed += 1;
            let why = format_args!("a frame of {length} bytes has no header; more are counted");
            self.complain(port, Complaint::Malformed, why);
            return Shape::Short;
        }
        let is_tagged = frame.bytes[12..14] == [0x81, 0x00];
        let largest = FRAME_MAX - FCS + if is_tagged { TAG } else { 0 };
        if length > largest || there < length {
            self.counters(port).oversized += 1;
            let why = format_args!(
                "a frame of {} bytes is larger than {} or was cut; more are counted. \
                 Are offloads off on the interfaces?",
                length + FCS,
                largest + FCS,
            );
            self.complain(port, Complaint::Oversized, why);
            return Shape::Long;
        }
        Shape::Good
    }

    fn note_lateness(&mut self, now: Time, port: PortId, frame: &Received<'_>) {
        let late = match &self.desks[port.index()].arrivals {
            Some(arrivals) => arrivals.pop().map(|left| now.saturating_since(left)),
            None => frame.stamp.zip(self.epoch).map(|(stamp, epoch)| {
                let now = epoch + Duration::from_nanos(now.as_ps() / 1_000);
                Span::ns(now.saturating_sub(stamp).as_nanos() as u64)
            }),
        };
        if let Some(late) = late {
            match wire::is_control(frame.bytes) {
                true => self.control_lateness.add(late),
                false => self.data_lateness.add(late),
            }
        }
    }

    /// Gives a frame whose last bit has left the emulated line to its link. If the link has no room
    /// the port stays busy, and it is tried again.
    pub(crate) fn hand_over(&mut self, due: Due, port: PortId, given: Given<'_>) -> bool {
        let Given { link, frame } = given;
        if !link.send(frame) {
            let flushed = link.flush();
            self.note_result(port, Direction::Out, flushed);
            if !link.send(frame) {
                self.counters(port).send_retries += 1;
                self.agenda.refuse(port);
                return false;
            }
        }
        if let Some(tap) = &mut self.tap {
            tap.see(due.time, (port, Direction::Out), frame);
        }
        let desk = &mut self.desks[port.index()];
        desk.counters.line_lost = desk.counters.line_lost + (due.time - due.due);
        if let Some(departures) = &desk.departures {
            departures.push(due.due);
        }
        true
    }

    /// Hands over to the kernel what was sent.
    pub(crate) fn flush(&mut self, port: PortId, link: &mut dyn Link) {
        let flushed = link.flush();
        self.note_result(port, Direction::Out, flushed);
        let is_stuck = link.backlog() > 0;
        if is_stuck && !self.agenda.is_stuck(port) {
            self.counters(port).send_retries += 1;
        }
        self.agenda.set_stuck(port, is_stuck);
    }

    /// Whether an interface works: counts and says when it ceases to, and says when it does again.
    pub(crate) fn note_result<T>(&mut self, port: PortId, way: Direction, result: io::Result<T>) {
        let desk = &mut self.desks[port.index()];
        let (bit, before) = (1 << way as u8, desk.failing);
        match result {
            Ok(_) if before == 0 => {}
            Ok(_) => {
                desk.failing &= !bit;
                if desk.failing == 0 {
                    self.complain(
                        port,
                        Complaint::OutageOver,
                        format_args!("the interface works again"),
                    );
                }
            }
            Err(error) => {
                desk.failing |= bit;
                desk.counters.outages += u64::from(before == 0);
                let why =
                    format_args!("the interface fails: {error}; it is tried again until it works");
                self.complain(port, Complaint::Outage, why);
            }
        }
    }

    /// Takes over what links have lost without a word.
    pub(crate) fn note_losses(&mut self, port: PortId, link: &mut dyn Link) {
        let losses = link.losses();
        let counters = self.counters(port);
        (counters.kernel_drops, counters.send_failures) = (losses.receive, losses.send);
        if losses.receive > 0 {
            let why = format_args!(
                "the kernel has dropped frames because this process was too slow to take them"
            );
            self.complain(port, Complaint::KernelDrop, why);
        }
        if losses.send > 0 {
            let why = format_args!("the interface has refused frames for good; is it up?");
            self.complain(port, Complaint::SendFailure, why);
        }
    }

    /// A report without classes, flows and series.
    pub(crate) fn report(&self, now: Time) -> NodeReport {
        let port = |desk: &Desk| PortReport {
            neighbour: desk.neighbour.clone(),
            line_bps: desk.line_bps,
            counters: desk.counters,
            classes: Vec::new(),
        };
        NodeReport {
            name: self.name.clone(),
            time: now,
            ports: self.desks.iter().map(port).collect(),
            lateness: Lateness {
                control: self.control_lateness.quantiles(),
                data: self.data_lateness.quantiles(),
            },
            ..NodeReport::default()
        }
    }
}

/// A frame and the link that it goes to.
pub(crate) struct Given<'g> {
    pub link: &'g mut dyn Link,
    pub frame: &'g [u8],
}

/// Frame bytes of what an interface shows as `length` bytes.
pub(crate) fn frame_size(length: usize) -> Bytes {
    Bytes::new((length + FCS).max(FRAME_MIN) as u64)
}
