//! The flows of a host, those that it sends and those that it receives.

use pauseless_core::host::Host;
use pauseless_core::id::FlowId;
use pauseless_core::unit::{Bytes, Rate, Span, Time};

use crate::config::{ReceivedFlow, SentFlow};
use crate::histogram::Histogram;
use crate::report::{ReceiveReport, SendReport};
use crate::track::{Order, Tracker};

/// A flow at its source.
pub(super) struct Sending {
    pub flow: SentFlow,
    pub report: SendReport,
    /// The number of the next frame.
    pub number: u64,
}

/// A flow at its target.
pub(super) struct Receiving {
    pub flow: ReceivedFlow,
    pub report: ReceiveReport,
    /// The tracker of the present run of the source.
    tracker: Tracker,
    run: Option<u32>,
    latency: Histogram,
}

/// A frame of a flow that has arrived.
pub(super) struct Arrived {
    pub time: Time,
    /// The run of its source, and its number in that run.
    pub run: u32,
    pub number: u64,
    pub size: Bytes,
    pub is_marked: bool,
    /// The time from its source to here.
    pub took: Span,
}

impl Sending {
    pub(super) fn new(flow: SentFlow) -> Sending {
        Sending {
            report: SendReport {
                flow: flow.flow.0,
                name: flow.name.clone(),
                ..SendReport::default()
            },
            flow,
            number: 0,
        }
    }

    pub(super) fn report(&self, host: &Host) -> SendReport {
        SendReport {
            allowed_bps: host.rate(self.flow.flow).map_or(0, Rate::as_bps),
            ..self.report.clone()
        }
    }
}

impl Receiving {
    pub(super) fn new(flow: ReceivedFlow) -> Receiving {
        Receiving {
            report: ReceiveReport::new(flow.flow, &flow.name),
            flow,
            tracker: Tracker::default(),
            run: None,
            latency: Histogram::default(),
        }
    }

    pub(super) fn add(&mut self, arrived: &Arrived) {
        if self.run != Some(arrived.run) {
            self.begin(arrived.run);
        }
        let report = &mut self.report;
        report.marked += u64::from(arrived.is_marked);
        match self.tracker.add(arrived.number) {
            Order::Duplicate => report.duplicates += 1,
            Order::Astray => report.astray += 1,
            came => {
                report.reordered += u64::from(came == Order::Late);
                report.frames += 1;
                report.bytes += arrived.size;
                report.first.get_or_insert(arrived.time);
                report.last = Some(arrived.time);
                self.latency.add(arrived.took);
            }
        }
    }

    /// Handles the first frame of a run of the source, perhaps after a restart: its numbers begin
    /// anew.
    #[cold]
    fn begin(&mut self, run: u32) {
        if self.run.replace(run).is_some() {
            self.report.restarts += 1;
            self.report.missing += self.tracker.missing();
            self.tracker = Tracker::default();
        }
    }

    pub(super) fn report(&self) -> ReceiveReport {
        ReceiveReport {
            missing: self.report.missing + self.tracker.missing(),
            latency: self.latency.quantiles(),
            ..self.report.clone()
        }
    }
}

/// The flow of that number among `sends`, which are in the order of their numbers.
pub(super) fn find_sending(sends: &mut [Sending], flow: FlowId) -> Option<&mut Sending> {
    let place = sends.binary_search_by_key(&flow, |sending| sending.flow.flow);
    Some(&mut sends[place.ok()?])
}

/// The flow of that number among `receives`, which are in the order of their numbers.
pub(super) fn find_receiving(receives: &mut [Receiving], flow: FlowId) -> Option<&mut Receiving> {
    let place = receives.binary_search_by_key(&flow, |receiving| receiving.flow.flow);
    Some(&mut receives[place.ok()?])
}
