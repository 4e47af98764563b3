//! What a switch and a host on real frames have in common: counters, messages, and how frames get
//! to their links.

use std::time::Duration;
use std::{fmt, io};

use pauseless_core::id::PortId;
use pauseless_core::port::PortConfig;
use pauseless_core::unit::{Bytes, Span, Time};
use pauseless_wire::ethernet::{self, HEADER};
use pauseless_wire::{Envelope, MacAddress};

use crate::agenda::{Agenda, Due};
use crate::config::Common;
use crate::departures::Departures;
use crate::histogram::Histogram;
use crate::link::{Link, Received};
use crate::record::Recorder;
use crate::report::{Lateness, NodeReport, PortCounters, PortReport};
use crate::tap::{Direction, Tap};

/// The most frames of one port that are handled at a time, so that no port starves the others.
pub(crate) const BURST: usize = 64;

/// The length of the FCS, which interfaces do not show.
const FCS: usize = 4;
/// The length of the smallest frame on a wire; shorter ones are padded there.
const FRAME_MIN: usize = 64;
/// The length of the largest frame without a VLAN tag, FCS included.
const FRAME_MAX: usize = 1_518;

/// The kinds of problem that are reported once per port and then only counted.
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

/// What switches and hosts on real frames have in common; see the [module](self).
pub(crate) struct Station {
    name: String,
    pub envelope: Envelope,
    slack: Span,
    pub agenda: Agenda,
    pub ports: Vec<NodePort>,
    messages: Vec<String>,
    tap: Option<Box<dyn Tap>>,
    /// The real time when the node's clock was zero, in nanoseconds since 1970.
    epoch_ns: Option<u64>,
    /// Reads the node's clock within a round.
    watch: Option<Watch>,
    /// When the present burst was received, once that was asked for.
    taken: Option<Time>,
    late: Late,
    pub recorder: Recorder,
}

/// Reads the node's clock at the instant of the call.
pub(crate) type Watch = Box<dyn Fn() -> Time + Send>;

/// The measurements behind [`Lateness`], one distribution each.
#[derive(Default)]
struct Late {
    control: Histogram,
    data: Histogram,
    control_sent: Histogram,
    data_sent: Histogram,
}

/// A frame that was given to its link, but not yet to the kernel.
#[derive(Clone, Copy, Debug)]
struct Leaving {
    due: Time,
    /// When it was given to the link, by the time of the round.
    given: Time,
    is_control: bool,
}

/// One port of the node, with its link.
#[derive(Debug)]
pub(crate) struct NodePort {
    neighbour: String,
    pub address: MacAddress,
    line_bps: u64,
    pub counters: PortCounters,
    /// The kinds of complaint that were made, a bit each.
    complaints: u16,
    /// The directions in which the interface fails, a bit each.
    failing: u8,
    /// The frames given to the link, oldest first; empty where the far end knows when frames should
    /// have left.
    leaving: Vec<Leaving>,
    departures: Option<Departures>,
    arrivals: Option<Departures>,
}

/// The length of a frame, checked before its contents are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    Good,
    /// The frame is too short to have a destination.
    Short,
    /// The frame is longer than the largest one, or was cut.
    Long,
}

impl Station {
    pub(crate) fn new(common: &Common, ports: &[PortConfig], recorder: Recorder) -> Station {
        assert_eq!(common.addresses.len(), ports.len(), "{}", common.name);
        assert_eq!(common.neighbours.len(), ports.len(), "{}", common.name);
        let names = common.addresses.iter().zip(&common.neighbours);
        let ports: Vec<NodePort> = names
            .zip(ports)
            .map(|((address, neighbour), port)| NodePort {
                neighbour: neighbour.clone(),
                address: *address,
                line_bps: port.line.as_bps(),
                counters: PortCounters::default(),
                complaints: 0,
                failing: 0,
                leaving: Vec::new(),
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
            ports,
            messages: Vec::new(),
            tap: None,
            epoch_ns: None,
            watch: None,
            taken: None,
            late: Late::default(),
            recorder,
        }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn counters(&mut self, port: PortId) -> &mut PortCounters {
        &mut self.ports[port.index()].counters
    }

    pub(crate) fn set_tap(&mut self, tap: Box<dyn Tap>) {
        self.tap = Some(tap);
    }

    pub(crate) fn set_epoch(&mut self, epoch: Duration) {
        self.epoch_ns = Some(nanoseconds(epoch));
    }

    pub(crate) fn set_watch(&mut self, watch: Watch) {
        self.watch = Some(watch);
    }

    /// The present time: `now`, or later if the round has taken long.
    fn look(&self, now: Time) -> Time {
        self.watch.as_ref().map_or(now, |watch| watch().max(now))
    }

    /// Marks that the next frames are received together.
    pub(crate) fn begin_burst(&mut self) {
        self.taken = None;
    }

    /// `now` in nanoseconds on the clock that all nodes share.
    pub(crate) fn wall_ns(&self, now: Time) -> u64 {
        self.epoch_ns.unwrap_or(0).wrapping_add(now.as_ps() / 1_000)
    }

    pub(crate) fn departures(&mut self, port: PortId) -> Departures {
        let departures = &mut self.ports[port.index()].departures;
        departures.get_or_insert_default().clone()
    }

    pub(crate) fn set_arrivals(&mut self, port: PortId, departures: Departures) {
        self.ports[port.index()].arrivals = Some(departures);
    }

    pub(crate) fn take_messages(&mut self) -> Vec<String> {
        std::mem::take(&mut self.messages)
    }

    /// The next task that is due by `now`.
    pub(crate) fn next_task(&mut self, now: Time) -> Option<Due> {
        let horizon = now.as_ps().saturating_sub(self.slack.as_ps());
        self.agenda.next(now, Time::from_ps(horizon))
    }

    /// Reports a problem, once for each kind and port.
    pub(crate) fn complain(&mut self, port: PortId, what: Complaint, why: fmt::Arguments<'_>) {
        let state = &mut self.ports[port.index()];
        let bit = 1 << what as u8;
        if state.complaints & bit == 0 {
            state.complaints |= bit;
            self.messages.push(format!("{}: port to {}: {why}", self.name, state.neighbour));
        }
    }

    /// Accounts for a frame that has come in, and checks its length.
    pub(crate) fn take_in(&mut self, now: Time, port: PortId, frame: &Received<'_>) -> Shape {
        if let Some(tap) = &mut self.tap {
            tap.see(now, port, Direction::In, frame.bytes);
        }
        self.note_lateness(now, port, frame);
        let (length, there) = (frame.length, frame.bytes.len());
        if there < HEADER {
            self.counters(port).malformed += 1;
            let why = format_args!("a frame of {length} bytes has no header; more are counted");
            self.complain(port, Complaint::Malformed, why);
            return Shape::Short;
        }
        if length <= FRAME_MAX - FCS && there == length {
            return Shape::Good;
        }
        // Tags come on top of the length, as many as are read.
        let packet = ethernet::Packet::new(frame.bytes);
        let tags = packet.map_or(0, |packet| packet.header_len() - HEADER);
        let largest = FRAME_MAX - FCS + tags;
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
        let late = match &self.ports[port.index()].arrivals {
            Some(arrivals) => {
                let left = arrivals.take(frame.bytes);
                left.map(|left| now.saturating_since(left))
            }
            None => match (frame.stamp, self.epoch_ns) {
                (Some(stamp), Some(_)) => {
                    let taken = self.taken.unwrap_or_else(|| self.look(now));
                    self.taken = Some(taken);
                    let late = self.wall_ns(taken).saturating_sub(nanoseconds(stamp));
                    Some(Span::ns(late))
                }
                _ => None,
            },
        };
        if let Some(late) = late {
            if pauseless_wire::is_control(frame.bytes) {
                self.late.control.add(late)
            } else {
                self.late.data.add(late)
            }
        }
    }

    /// Records that the kernel has all frames of `port` that were given to the link, except the
    /// last `backlog`.
    fn note_sent(&mut self, port: PortId, backlog: usize) {
        let leaving = &self.ports[port.index()].leaving;
        let gone = leaving.len().saturating_sub(backlog);
        let Some(last) = leaving[..gone].last() else {
            return;
        };
        let at = self.look(last.given);
        for frame in self.ports[port.index()].leaving.drain(..gone) {
            let late = at.saturating_since(frame.due);
            if frame.is_control {
                self.late.control_sent.add(late)
            } else {
                self.late.data_sent.add(late)
            }
        }
    }

    /// Gives a frame whose last bit has left the emulated line to its link. If the link has no
    /// room, the port stays busy and tries again.
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
            tap.see(due.time, port, Direction::Out, frame);
        }
        let state = &mut self.ports[port.index()];
        state.counters.line_lost = state.counters.line_lost + (due.time - due.due);
        match &state.departures {
            Some(departures) => departures.push(due.due, frame),
            None => state.leaving.push(Leaving {
                due: due.due,
                given: due.now,
                is_control: pauseless_wire::is_control(frame),
            }),
        }
        true
    }

    /// Hands over to the kernel what was sent.
    pub(crate) fn flush(&mut self, port: PortId, link: &mut dyn Link) {
        let flushed = link.flush();
        self.note_result(port, Direction::Out, flushed);
        self.note_sent(port, link.backlog());
        let is_stuck = link.backlog() > 0;
        if is_stuck && !self.agenda.is_stuck(port) {
            self.counters(port).send_retries += 1;
        }
        self.agenda.set_stuck(port, is_stuck);
    }

    /// Records whether an interface works: counts outages, and reports when one begins and ends.
    pub(crate) fn note_result<T>(&mut self, port: PortId, way: Direction, result: io::Result<T>) {
        let state = &mut self.ports[port.index()];
        let (bit, before) = (1 << way as u8, state.failing);
        match result {
            Ok(_) if before == 0 => {}
            Ok(_) => {
                state.failing &= !bit;
                if state.failing == 0 {
                    self.complain(
                        port,
                        Complaint::OutageOver,
                        format_args!("the interface works again"),
                    );
                }
            }
            Err(error) => {
                state.failing |= bit;
                state.counters.outages += u64::from(before == 0);
                let why =
                    format_args!("the interface fails: {error}; it is tried again until it works");
                self.complain(port, Complaint::Outage, why);
            }
        }
    }

    /// Takes over the losses of a link.
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

    /// A report without classes, flows and recordings.
    pub(crate) fn report(&self, now: Time) -> NodeReport {
        let port = |state: &NodePort| PortReport {
            neighbour: state.neighbour.clone(),
            line_bps: state.line_bps,
            counters: state.counters,
            classes: Vec::new(),
        };
        NodeReport {
            name: self.name.clone(),
            time: now,
            ports: self.ports.iter().map(port).collect(),
            lateness: Lateness {
                control: self.late.control.quantiles(),
                data: self.late.data.quantiles(),
                control_sent: self.late.control_sent.quantiles(),
                data_sent: self.late.data_sent.quantiles(),
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

/// The time in nanoseconds in 64 bits, since it is needed for each frame. Enough until the year
/// 2554.
fn nanoseconds(time: Duration) -> u64 {
    time.as_secs() * 1_000_000_000 + u64::from(time.subsec_nanos())
}

/// The frame bytes of what an interface shows as `length` bytes.
pub(crate) fn frame_size(length: usize) -> Bytes {
    Bytes::new((length + FCS).max(FRAME_MIN) as u64)
}
