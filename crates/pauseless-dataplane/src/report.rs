//! The report of a node: counters, flows, lateness and recordings.

use pauseless_core::id::{Class, FlowId};
use pauseless_core::unit::{Bytes, Span, Time};

/// What a node has received, sent and measured since its start. Cheap to make while it runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NodeReport {
    /// The name of the node in the scenario.
    pub name: String,
    /// When this was written, by the node's clock.
    pub time: Time,
    /// The real time that an elastic clock has left out.
    pub stalled: Span,
    /// The report of each port.
    pub ports: Vec<PortReport>,
    /// The flows that start here.
    pub sends: Vec<SendReport>,
    /// The flows that end here.
    pub receives: Vec<ReceiveReport>,
    /// How late frames and control messages were.
    pub lateness: Lateness,
    /// The samples that the node has taken, if any.
    pub series: Recording,
}

/// What one port has received, sent and measured.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PortReport {
    /// The name of the node at the far end.
    pub neighbour: String,
    /// The rate of the emulated line, in bit/s.
    pub line_bps: u64,
    /// How often each kind of event has happened.
    pub counters: PortCounters,
    /// The report of each class.
    pub classes: Vec<ClassReport>,
}

/// The state of one class of one port.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ClassReport {
    /// The number of the class.
    pub class: u8,
    /// The bytes on the ingress counter.
    pub held: Bytes,
    /// The most bytes that the ingress counter has shown.
    pub held_max: Bytes,
    /// The size of the ingress buffer.
    pub buffer: Bytes,
    /// The number of packets that wait to leave.
    pub backlog: u64,
    /// The rate that the far end allows the egress, in bit/s; `None` while it may not send at all.
    pub allowed_bps: Option<u64>,
    /// Whether the far end has stopped it.
    pub is_stopped: bool,
}

/// The counters of a port. Every way to lose a frame has a counter of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PortCounters {
    /// Data frames received, including those dropped because they were unknown, reflected or did
    /// not fit. Feedback such as CNPs counts as data here.
    pub received: u64,
    /// The bytes of received data frames, FCS included.
    pub received_bytes: Bytes,
    /// Data frames sent by the port.
    pub sent: u64,
    /// The bytes of sent data frames, FCS included.
    pub sent_bytes: Bytes,
    /// Control frames received that could be read.
    pub control_received: u64,
    /// Control frames sent by the port.
    pub control_sent: u64,
    /// PAUSE frames sent with a time above zero.
    pub pauses_sent: u64,
    /// PAUSE frames received when the port was not paused already.
    pub pauses_received: u64,
    /// Data frames that were marked here.
    pub marked: u64,
    /// Frames that are not what they claim to be: too short, or with fields that contradict each other.
    pub malformed: u64,
    /// Frames longer than the largest frame, or truncated on their way to us.
    pub oversized: u64,
    /// Data frames for an address that is not in the table.
    pub unknown: u64,
    /// Control frames received of another scheme than this link's, or for classes that are not
    /// lossless.
    pub unwelcome: u64,
    /// Data frames that would leave by the port that they arrived at.
    pub reflected: u64,
    /// Data frames of a class that does not exist here: they pass in class 0. This is no loss.
    pub declassed: u64,
    /// Data frames that did not fit in the ingress buffer: flow control has failed.
    pub overruns: u64,
    /// Data frames that a watchdog dropped.
    pub watchdog_drops: u64,
    /// How often a watchdog has detected a storm.
    pub watchdog_trips: u64,
    /// Frames that came in when the kernel's ring to us was full.
    pub kernel_drops: u64,
    /// Frames that the kernel refused for good when they were sent, as while the interface was
    /// down.
    pub send_failures: u64,
    /// How often the kernel could not take a frame at once; it was sent later.
    pub send_retries: u64,
    /// How often the interface failed, each time until it worked again.
    pub outages: u64,
    /// The time of the emulated line that was lost because the node was further behind than its
    /// slack.
    pub line_lost: Span,
}

/// The report of a flow at its source.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SendReport {
    /// The number of the flow.
    pub flow: u32,
    /// The name of the flow in the scenario.
    pub name: String,
    /// How many frames were sent.
    pub frames: u64,
    /// Bytes sent, FCS included.
    pub bytes: Bytes,
    /// When the first frame left.
    pub first: Option<Time>,
    /// The rate that congestion control allows, in bit/s; 0 when it has nothing to send.
    pub allowed_bps: u64,
}

/// The report of a flow at its target.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReceiveReport {
    /// The number of the flow.
    pub flow: u32,
    /// The name of the flow in the scenario.
    pub name: String,
    /// Frames received, without duplicates.
    pub frames: u64,
    /// Bytes received, FCS included.
    pub bytes: Bytes,
    /// When the first frame arrived.
    pub first: Option<Time>,
    /// When the last frame arrived.
    pub last: Option<Time>,
    /// The numbers missing below the highest received, over all runs of the source.
    pub missing: u64,
    /// Frames that arrived after one with a higher number.
    pub reordered: u64,
    /// Frames that arrived again.
    pub duplicates: u64,
    /// Frames whose number is implausibly far above all others.
    pub astray: u64,
    /// How often the source was started again.
    pub restarts: u64,
    /// Frames that were marked.
    pub marked: u64,
    /// How long frames took from their source to here.
    pub latency: Quantiles,
}

/// A distribution of times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Quantiles {
    /// The number of times in the distribution.
    pub count: u64,
    /// The median: half of all are below.
    pub p50: Span,
    /// The 99th percentile: all but one in a hundred are below.
    pub p99: Span,
    /// The 99.9th percentile: all but one in a thousand are below.
    pub p999: Span,
    /// The largest of all.
    pub max: Span,
}

/// How much later than it should a frame left one node and the next one handled it.
///
/// Where the far end tells when a frame should have left, as in lockstep, all of it is on the side of the
/// receiver. Elsewhere the kernel's stamp divides it: the sender knows how late it was until then, the
/// receiver how long the frame waited after that.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lateness {
    /// The lateness of control frames received.
    pub control: Quantiles,
    /// The lateness of data frames received.
    pub data: Quantiles,
    /// The lateness of control frames sent.
    pub control_sent: Quantiles,
    /// The lateness of data frames sent.
    pub data_sent: Quantiles,
}

impl Lateness {
    /// The measured tau: the worst control message, then the worst data frame behind it, at both ends,
    /// and two frames that cannot be interrupted, which take `frame` each. `None` if no control frame or no
    /// data frame that came could be measured: there is no way to say anything then.
    ///
    /// For one node it takes its neighbours to be no later than itself.
    //= protocols tau-measured
    pub fn tau(&self, frame: Span) -> Option<Span> {
        let message = self.control_sent.max + self.control.max;
        let reaction = self.data_sent.max + self.data.max;
        let is_measured = self.control.count > 0 && self.data.count > 0;
        is_measured.then(|| message + reaction + frame + frame)
    }
}

/// Recordings, one element per sample in each vector.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recording {
    /// The instants of the samples.
    pub times: Vec<Time>,
    /// The recording of each port.
    pub ports: Vec<PortSeries>,
    /// The recording of each flow that ends here.
    pub flows: Vec<FlowSeries>,
}

/// The recording of a port, with the same quantities as the simulator's.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PortSeries {
    /// Bytes on the ingress counters of all classes.
    pub queue: Vec<u64>,
    /// Bytes that wait to leave here; 0 for a host.
    pub egress: Vec<u64>,
    /// Mean rate of data that came in since the last sample, in bit/s.
    pub input_bps: Vec<f64>,
    /// Mean rate of data that went out since the last sample, in bit/s.
    pub sending_bps: Vec<f64>,
    /// The rate that the far end allows, the least over all classes; 0 when paused.
    pub allowed_bps: Vec<f64>,
    /// Mean rate of control frames that went out since the last sample, in bit/s.
    pub feedback_bps: Vec<f64>,
}

/// The recording of a flow.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FlowSeries {
    /// The number of the flow.
    pub flow: u32,
    /// Mean goodput since the last sample, in bit/s.
    pub goodput_bps: Vec<f64>,
}

impl ReceiveReport {
    /// A report of a flow of which nothing has arrived.
    pub fn new(flow: FlowId, name: &str) -> ReceiveReport {
        ReceiveReport { flow: flow.0, name: name.to_owned(), ..ReceiveReport::default() }
    }
}

impl ClassReport {
    /// A report of a class in which nothing has happened.
    pub fn new(class: Class) -> ClassReport {
        ClassReport { class: class.0, ..ClassReport::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    //= protocols tau-measured type=test
    #[test]
    fn the_measured_tau_is_a_message_a_hop_and_two_frames() {
        let worst = |us| Quantiles { count: 1, max: Span::us(us), ..Quantiles::default() };
        let mut lateness = Lateness { control: worst(20), data: worst(15), ..Lateness::default() };
        assert_eq!(lateness.tau(Span::us(60)), Some(Span::us(155)));
        (lateness.control_sent, lateness.data_sent) = (worst(300), worst(1_000));
        assert_eq!(lateness.tau(Span::us(60)), Some(Span::us(1_455)));
        // What was sent says nothing about what came.
        lateness.control = Quantiles::default();
        assert_eq!(lateness.tau(Span::us(60)), None);
    }
}
