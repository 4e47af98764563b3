//! Control frames of one port: from the core's messages to bytes and back.

use pauseless_core::flow_control::cbfc::Counters;
use pauseless_core::flow_control::{Control, FlowControl, Signal};
use pauseless_core::id::{Class, PortId};
use pauseless_core::port::{Port, PortConfig};
use pauseless_core::unit::{Bytes, Time};
use pauseless_wire::control::{self, Header, LEN};

use crate::report::PortCounters;
use crate::station::{Complaint, Station};

/// The flow control of both ends of the link of a port, per class.
#[derive(Clone, Debug)]
pub(crate) struct Ends {
    /// The scheme of the far end, whose messages come in.
    far: Box<[FlowControl]>,
    /// The width of the credits that go out.
    counters: Box<[Counters]>,
}

impl Ends {
    pub(crate) fn new(config: &PortConfig) -> Ends {
        let lanes = config.lanes.iter();
        for lane in lanes.clone() {
            let name = lane.ingress.name();
            assert!(lane.ingress.has_frames(), "{name} has no frames to speak with");
        }
        Ends {
            far: lanes.clone().map(|lane| lane.egress).collect(),
            counters: lanes.map(|lane| control::counters_of(&lane.ingress)).collect(),
        }
    }

    pub(crate) fn class_count(&self) -> usize {
        self.far.len()
    }
}

/// A control frame on an emulated line.
pub(crate) struct ControlFrame {
    bytes: [u8; LEN],
    is_pause: bool,
}

impl ControlFrame {
    pub(crate) fn new(
        station: &Station,
        port: PortId,
        ends: &Ends,
        control: Control,
    ) -> ControlFrame {
        let header =
            Header { envelope: station.envelope, source: station.ports[port.index()].address };
        let mut bytes = [0; LEN];
        let counters = ends.counters[control.class.index()];
        let written = header.emit(&mut bytes, control, counters);
        written.expect("a flow control without frames is refused when a node is built");
        ControlFrame { bytes, is_pause: is_pause(control) }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Counts the frame, which has left.
    pub(crate) fn count(&self, counters: &mut PortCounters) {
        counters.control_sent += 1;
        counters.pauses_sent += u64::from(self.is_pause);
    }
}

/// Reads a control frame that has arrived at a port: at most one message per class. Messages of
/// other schemes are counted.
pub(crate) fn read(
    station: &mut Station,
    port: PortId,
    ends: &Ends,
    frame: &[u8],
) -> impl Iterator<Item = Control> + use<> {
    let mut controls = [None; Class::COUNT_MAX];
    match control::parse(frame) {
        Err(why) => {
            station.counters(port).malformed += 1;
            let why = format_args!("a control frame that makes no sense ({why}); more are counted");
            station.complain(port, Complaint::Malformed, why);
        }
        Ok(said) => {
            station.counters(port).control_received += 1;
            let mut unwelcome = None;
            let far = |class: Class| ends.far.get(class.index());
            for (place, control) in controls.iter_mut().zip(said.controls(far)) {
                unwelcome = unwelcome.or(control.err());
                *place = control.ok();
            }
            if let Some(unwelcome) = unwelcome {
                station.counters(port).unwelcome += 1;
                let why = format_args!(
                    "a control frame that is not for us, all of it or in part: {unwelcome}; what \
                     is for us is obeyed, and such frames are counted"
                );
                station.complain(port, Complaint::Unwelcome, why);
            }
        }
    }
    controls.into_iter().flatten()
}

/// Whether a message stops its receiver.
pub(crate) fn is_pause(control: Control) -> bool {
    matches!(control.signal, Signal::Pause { quanta } if quanta > 0)
}

/// Whether the far end has stopped `class` from sending even the smallest frame.
pub(crate) fn is_stopped(port: &Port, now: Time, class: Class) -> bool {
    port.is_stopped(now, class, Bytes::new(64))
}
