//! What flows got, beat by beat: the history from which starvation is judged.
//!
//! A beat is a property of the network, not of the run: it does not depend on how long a run lasts,
//! nor on what is sampled.

use pauseless_core::id::{FlowId, PortId};
use pauseless_core::unit::{Bytes, Rate, Span, Time};

use crate::config::Config;

/// The bytes that the fastest link of a host sends in a beat, at most.
const BEAT: Bytes = Bytes::kb(125);

/// What every flow got in every beat.
#[derive(Clone, Debug)]
pub struct Served {
    /// A beat lasts for two to this power, in picoseconds.
    shift: u32,
    delivered: Vec<Vec<Mark>>,
    /// Bytes that were lost; empty while nothing was.
    lost: Vec<Vec<Mark>>,
    /// Bytes that expired; empty while nothing has.
    expired: Vec<Vec<Mark>>,
}

/// The bytes of a flow in one beat, in eight bytes: there may be one for every packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Mark(u64);

impl Mark {
    const BYTES_BITS: u32 = 24;
    const BYTES_MAX: u64 = (1 << Mark::BYTES_BITS) - 1;

    fn new(beat: usize, bytes: u64) -> Mark {
        Mark((beat as u64) << Mark::BYTES_BITS | bytes)
    }

    /// The number of the beat.
    #[inline]
    pub fn beat(self) -> usize {
        (self.0 >> Mark::BYTES_BITS) as usize
    }

    /// What the flow got in it.
    #[inline]
    pub fn bytes(self) -> u64 {
        self.0 & Mark::BYTES_MAX
    }
}

impl Served {
    /// The empty history of all flows of `config`.
    pub fn new(config: &Config) -> Served {
        let hosts = config.topology.hosts().iter();
        let rates = hosts.map(|host| config.topology.port(*host, PortId(0)).rate);
        let beat = rates.max().unwrap_or(Rate::gbps(1)).tx_span(BEAT);
        let shift = beat.as_ps().max(2).ilog2();
        let delivered = vec![Vec::new(); config.flows.len()];
        Served { shift, delivered, lost: Vec::new(), expired: Vec::new() }
    }

    /// The length of a beat.
    pub fn beat(&self) -> Span {
        Span::ps(1 << self.shift)
    }

    /// The number of beats that are over at `time`.
    pub fn beats_until(&self, time: Time) -> usize {
        (time.as_ps() >> self.shift) as usize
    }

    /// The instant at which a beat begins.
    pub fn start_of(&self, beat: usize) -> Time {
        Time::from_ps((beat as u64) << self.shift)
    }

    /// Notes that a part of a flow was delivered.
    #[inline]
    pub fn deliver(&mut self, now: Time, flow: FlowId, bytes: Bytes) {
        let beat = self.beats_until(now);
        mark(&mut self.delivered[flow.index()], beat, bytes);
    }

    /// Notes that a part of a flow was lost.
    #[cold]
    pub fn lose(&mut self, now: Time, flow: FlowId, bytes: Bytes) {
        self.lost.resize(self.delivered.len(), Vec::new());
        let beat = self.beats_until(now);
        mark(&mut self.lost[flow.index()], beat, bytes);
    }

    /// Notes that a part of a flow has expired.
    #[cold]
    pub fn expire(&mut self, now: Time, flow: FlowId, bytes: Bytes) {
        self.expired.resize(self.delivered.len(), Vec::new());
        let beat = self.beats_until(now);
        mark(&mut self.expired[flow.index()], beat, bytes);
    }

    /// Adds what another part of the run has noted.
    pub(crate) fn take(&mut self, part: &mut Served) {
        merge(&mut self.delivered, &mut part.delivered);
        let rare = [(&mut self.lost, &mut part.lost), (&mut self.expired, &mut part.expired)];
        for (all, part) in rare {
            all.resize(all.len().max(part.len()), Vec::new());
            merge(all, part);
        }
    }

    /// What a flow got in each beat in which it got anything, in order.
    pub(crate) fn of(&self, flow: usize) -> &[Mark] {
        &self.delivered[flow]
    }

    /// The bytes that a flow got in the beats of a range.
    pub(crate) fn within(&self, flow: usize, beats: std::ops::Range<usize>) -> Bytes {
        let marks = &self.delivered[flow];
        let first = marks.partition_point(|mark| mark.beat() < beats.start);
        let marks = marks[first..].iter().take_while(|mark| mark.beat() < beats.end);
        Bytes::new(marks.map(|mark| mark.bytes()).sum())
    }

    /// The first beat in which a part of a flow has expired, if one has.
    pub(crate) fn first_expired(&self, flow: usize) -> Option<usize> {
        self.expired.get(flow)?.first().map(|mark| mark.beat())
    }

    /// The beat in which nothing of `size` was left to be waited for, because the rest was lost; if
    /// there is one.
    pub(crate) fn given_up(&self, flow: usize, size: Bytes) -> Option<usize> {
        let lost = self.lost.get(flow).filter(|lost| !lost.is_empty())?;
        let mut marks = Vec::from_iter(self.delivered[flow].iter().chain(lost));
        marks.sort();
        let mut sum = 0;
        let last = marks.into_iter().find(|mark| {
            sum += mark.bytes();
            sum >= size.get()
        });
        last.map(|mark| mark.beat())
    }
}

/// Adds to what a flow got in a beat. What is too much for one mark goes to the next beat: only hosts
/// that empty a huge buffer at once come to that.
#[inline]
fn mark(marks: &mut Vec<Mark>, mut beat: usize, bytes: Bytes) {
    let mut bytes = bytes.get();
    if let Some(last) = marks.last_mut().filter(|last| last.beat() >= beat) {
        if last.bytes() + bytes <= Mark::BYTES_MAX {
            last.0 += bytes;
            return;
        }
        beat = last.beat();
        bytes += last.bytes();
        marks.pop();
    }
    while bytes > Mark::BYTES_MAX {
        marks.push(Mark::new(beat, Mark::BYTES_MAX));
        (beat, bytes) = (beat + 1, bytes - Mark::BYTES_MAX);
    }
    marks.push(Mark::new(beat, bytes));
}

fn merge(all: &mut [Vec<Mark>], part: &mut [Vec<Mark>]) {
    for (all, part) in all.iter_mut().zip(part) {
        if all.is_empty() {
            std::mem::swap(all, part);
        } else if !part.is_empty() {
            let mut marks = std::mem::take(all);
            marks.append(part);
            marks.sort();
            for one in marks {
                mark(all, one.beat(), Bytes::new(one.bytes()));
            }
        }
    }
}
