//! Samples of ports and flows, with the same meaning as the simulator's.

use pauseless_core::flow_control::{Control, Upstream};
use pauseless_core::id::Class;
use pauseless_core::port::Port;
use pauseless_core::unit::{Bytes, Span, Time};

use crate::report::{FlowSeries, PortCounters, PortSeries, Recording};

/// The most samples of a node that runs for days, some 10 MB for each port.
const SAMPLES_MAX: usize = 200_000;

/// Takes samples of a node.
#[derive(Clone, Debug)]
pub(crate) struct Recorder {
    resolution: Span,
    series: Recording,
    /// The counters of each port at the last sample.
    before: Vec<PortCounters>,
    /// The bytes that each flow had delivered at the last sample.
    delivered: Vec<Bytes>,
}

/// The state of a port when a sample is taken.
pub(crate) struct Sampled<'p> {
    pub port: &'p Port,
    pub counters: PortCounters,
    /// The bytes that wait to leave.
    pub egress: Bytes,
}

impl Recorder {
    pub(crate) fn new(resolution: Span, port_count: usize, flows: &[u32]) -> Recorder {
        let flow_series = |flow: &u32| FlowSeries { flow: *flow, goodput_bps: Vec::new() };
        Recorder {
            resolution,
            series: Recording {
                times: Vec::new(),
                ports: vec![PortSeries::default(); port_count],
                flows: flows.iter().map(flow_series).collect(),
            },
            before: vec![PortCounters::default(); port_count],
            delivered: vec![Bytes::ZERO; flows.len()],
        }
    }

    /// When the first sample is taken, or the one after that at `last`; [`Time::MAX`] for never.
    pub(crate) fn next(&self, last: Time) -> Time {
        match self.resolution {
            Span::ZERO => Time::MAX,
            _ if self.series.times.len() >= SAMPLES_MAX => Time::MAX,
            resolution => last.saturating_add(resolution),
        }
    }

    pub(crate) fn series(&self) -> &Recording {
        &self.series
    }

    /// Records the instant of a sample.
    pub(crate) fn begin(&mut self, now: Time) {
        self.series.times.push(now);
    }

    pub(crate) fn sample_port(&mut self, index: usize, now: Time, sampled: &Sampled<'_>) {
        let Sampled { port, counters, egress } = sampled;
        let classes = (0..port.class_count()).map(|class| Class(class as u8));
        let held = classes.clone().map(|class| port.held(class).get());
        let allowed = classes.map(|class| port.upstream(class).rate(now));
        let allowed = allowed.map(|rate| rate.map_or(0, |rate| rate.as_bps()));
        let before = std::mem::replace(&mut self.before[index], *counters);
        let rate = |bytes: Bytes| bps(bytes, self.resolution);
        let control = Control::SIZE * (counters.control_sent - before.control_sent);
        let series = &mut self.series.ports[index];
        series.queue.push(held.sum());
        series.egress.push(egress.get());
        series.allowed_bps.push(allowed.min().unwrap_or(0) as f64);
        series.input_bps.push(rate(counters.received_bytes - before.received_bytes));
        series.sending_bps.push(rate(counters.sent_bytes - before.sent_bytes));
        series.feedback_bps.push(rate(control));
    }

    pub(crate) fn sample_flow(&mut self, index: usize, delivered: Bytes) {
        let before = std::mem::replace(&mut self.delivered[index], delivered);
        let goodput = bps(delivered - before, self.resolution);
        self.series.flows[index].goodput_bps.push(goodput);
    }
}

fn bps(bytes: Bytes, span: Span) -> f64 {
    bytes.get() as f64 * 8.0 / span.as_secs_f64()
}
