//! What a node has seen and done.

use pauseless_core::id::{Class, FlowId};
use pauseless_core::unit::{Bytes, Span, Time};

/// What a node has seen and done since its start. Cheap to take while it runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NodeReport {
    /// Its name.
    pub name: String,
    /// When this was written, by the node's clock.
    pub time: Time,
    /// The wall's time that an elastic clock left out.
    pub stalled: Span,
    /// One element per port.
    pub ports: Vec<PortReport>,
    /// Flows that start here.
    pub sends: Vec<SendReport>,
    /// Flows that end here.
    pub receives: Vec<ReceiveReport>,
    /// How late frames and control messages were.
    pub lateness: Lateness,
    /// Recordings, if any.
    pub series: Recording,
}

/// One port.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PortReport {
    /// The name of what is at the far end.
    pub neighbour: String,
    /// The line rate that is emulated, in bit/s.
    pub line_bps: u64,
    /// Events so far.
    pub counters: PortCounters,
    /// One element per class.
    pub classes: Vec<ClassReport>,
}

/// One class of one port.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ClassReport {
    /// Which one.
    pub class: u8,
    /// Bytes on the ingress counter.
    pub held: Bytes,
    /// The most that it has shown.
    pub held_max: Bytes,
    /// The ingress buffer.
    pub buffer: Bytes,
    /// Packets that wait to leave.
    pub backlog: u64,
    /// The rate that the far end allows the egress, in bit/s; `None` while it may not send at all.
    pub allowed_bps: Option<u64>,
    /// Whether the far end has stopped it.
    pub is_stopped: bool,
}

/// What has happened at a port. Every way to lose a frame has a counter of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PortCounters {
    /// Data frames that came in, those included that were dropped because they were unknown,
    /// reflected or did not fit. Answers such as CNPs are data here.
    pub received: u64,
    /// Their bytes, FCS included.
    pub received_bytes: Bytes,
    /// Data frames that went out.
    pub sent: u64,
    /// Their bytes, FCS included.
    pub sent_bytes: Bytes,
    /// Control frames that came in and could be read.
    pub control_received: u64,
    /// Control frames that went out.
    pub control_sent: u64,
    /// Those of them that told the far end to stop: PAUSE with a time above zero.
    pub pauses_sent: u64,
    /// Those that told this end to stop although it was not stopped.
    pub pauses_received: u64,
    /// Data frames that were marked here.
    pub marked: u64,
    /// Frames that are not what they claim to be: too short, or with fields that contradict each other.
    pub malformed: u64,
    /// Frames longer than the largest frame, or cut on their way to us.
    pub oversized: u64,
    /// Data frames for an address that is not in the table.
    pub unknown: u64,
    /// Those of the control frames that came in that are of another scheme than this link's, or for
    /// classes that are not lossless.
    pub unwelcome: u64,
    /// Data frames that would leave by the port that they came in by.
    pub reflected: u64,
    /// Data frames of a class that there is not here: they pass in class 0. No loss.
    pub declassed: u64,
    /// Data frames that did not fit in the ingress buffer: flow control has failed.
    pub overruns: u64,
    /// Data frames that a watchdog dropped.
    pub watchdog_drops: u64,
    /// How often a watchdog has seen a storm.
    pub watchdog_trips: u64,
    /// Frames that came in, but the kernel's ring to us was full.
    pub kernel_drops: u64,
    /// Frames that the kernel refused for good when they were sent, as while the interface was down.
    pub send_failures: u64,
    /// How often the kernel could not take a frame at once; it was sent later.
    pub send_retries: u64,
    /// How often the interface failed, each time until it worked again.
    pub outages: u64,
    /// Time of the emulated line that is gone because the node was further behind than its slack.
    pub line_lost: Span,
}

/// A flow at its source.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SendReport {
    /// Its number.
    pub flow: u32,
    /// Its name.
    pub name: String,
    /// Frames sent.
    pub frames: u64,
    /// Bytes sent, FCS included.
    pub bytes: Bytes,
    /// When the first frame left.
    pub first: Option<Time>,
    /// The rate that congestion control allows, in bit/s; 0 when it has nothing to send.
    pub allowed_bps: u64,
}

/// A flow at its target.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReceiveReport {
    /// Its number.
    pub flow: u32,
    /// Its name.
    pub name: String,
    /// Frames received, those that came twice not counted.
    pub frames: u64,
    /// Bytes received, FCS included.
    pub bytes: Bytes,
    /// When the first frame came.
    pub first: Option<Time>,
    /// When the last frame came.
    pub last: Option<Time>,
    /// Numbers that are missing below the highest that came, over all runs of the source.
    pub missing: u64,
    /// Frames that came after one with a higher number.
    pub reordered: u64,
    /// Frames that came again.
    pub duplicates: u64,
    /// Frames whose number is so far above all others that nobody believes it.
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
    /// How many there are.
    pub count: u64,
    /// Half are below.
    pub p50: Span,
    /// All but one in a hundred are below.
    pub p99: Span,
    /// All but one in a thousand are below.
    pub p999: Span,
    /// None is above.
    pub max: Span,
}

/// How much later than it should a frame left one node and the next one handled it.
///
/// Where the far end tells when a frame should have left, as in lockstep, all of it is on the side of the
/// receiver. Elsewhere the kernel's stamp divides it: the sender knows how late it was until then, the
/// receiver how long the frame waited after that.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lateness {
    /// Of control frames that came here.
    pub control: Quantiles,
    /// Of data frames that came here.
    pub data: Quantiles,
    /// Of control frames that left here.
    pub control_sent: Quantiles,
    /// Of data frames that left here.
    pub data_sent: Quantiles,
}

impl Lateness {
    /// The measured tau: the worst control message, then the worst data frame behind it, at both ends,
    /// and two frames that cannot be interrupted, which take `frame` each. `None` if no control frame or no
    /// data frame that came could be measured: there is no way to say anything then.
    ///
    /// For one node it takes its neighbours to be no later than itself.
    //= protocols 3 tau
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
    /// The instants.
    pub times: Vec<Time>,
    /// One element per port.
    pub ports: Vec<PortSeries>,
    /// One element per flow that ends here.
    pub flows: Vec<FlowSeries>,
}

/// A port over time; the same numbers as the simulator's.
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

/// A flow over time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FlowSeries {
    /// Its number.
    pub flow: u32,
    /// Mean goodput since the last sample, in bit/s.
    pub goodput_bps: Vec<f64>,
}

impl ReceiveReport {
    /// An empty one.
    pub fn new(flow: FlowId, name: &str) -> ReceiveReport {
        ReceiveReport { flow: flow.0, name: name.to_owned(), ..ReceiveReport::default() }
    }
}

impl ClassReport {
    /// An empty one.
    pub fn new(class: Class) -> ClassReport {
        ClassReport { class: class.0, ..ClassReport::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    //= protocols 3 tau type=test
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
