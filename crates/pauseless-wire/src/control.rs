//! The messages of all flow controls: from [`Control`] to a frame and back.
//!
//! | message | frame |
//! |---|---|
//! | [`Signal::Pause`] | PFC, [`pfc`] |
//! | [`Signal::Stage`] | the same with the stage in the time field, [`gfc`] |
//! | [`Signal::Credit`], [`Signal::Free`] | [`link_packet`], in a frame of its own type |
//! | [`Signal::Level`] | none: conceptual GFC needs continuous feedback |
//! | [`Signal::Outside`] | none: only its scheme knows what it means |
//!
//! With [`Envelope::MacControl`] a frame goes to the address of MAC control, which no bridge forwards.
//! With [`Envelope::Private`] it goes to [`MacAddress::PRIVATE_CONTROL`], and the octets of PFC stand
//! behind an EtherType for experiments. Link packets have such a type anyway.

use super::ethernet::{self, HEADER, LINK_PACKET, MAC_CONTROL, PRIVATE_CONTROL};
use super::link_packet::Credit;
use super::{Envelope, FRAME_MIN, MacAddress, Malformed, gfc, link_packet, pfc};
use core::fmt;

use pauseless_core::flow_control::cbfc::Counters;
use pauseless_core::flow_control::gfc::Measure;
use pauseless_core::flow_control::{Control, FlowControl, Signal};
use pauseless_core::id::Class;
use pauseless_core::unit::Bytes;

/// The length of every control frame without its FCS, in bytes.
pub const LEN: usize = FRAME_MIN;

/// The fields that all control frames of one port share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The envelope that they travel in.
    pub envelope: Envelope,
    /// The address of the port.
    pub source: MacAddress,
}

/// The signal has no frame on real wires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoFrame;

impl Header {
    /// Writes the frame of `control` to the first [`LEN`] bytes of `buffer`, and returns that length.
    /// `counters` is how wide credits are on this link, see [`counters_of`].
    pub fn emit(
        self,
        buffer: &mut [u8],
        control: Control,
        counters: Counters,
    ) -> Result<usize, NoFrame> {
        let is_link_packet = matches!(control.signal, Signal::Credit { .. } | Signal::Free(_));
        let (destination, pause_type) = match self.envelope {
            Envelope::MacControl => (MacAddress::CONTROL, MAC_CONTROL),
            Envelope::Private => (MacAddress::PRIVATE_CONTROL, PRIVATE_CONTROL),
        };
        let ethernet = ethernet::Repr {
            destination,
            source: self.source,
            ether_type: if is_link_packet { LINK_PACKET } else { pause_type },
        };
        let body = ethernet.emit(&mut buffer[..LEN]);
        body.fill(0);
        emit_signal(body, control, counters)?;
        Ok(LEN)
    }
}

fn emit_signal(body: &mut [u8], control: Control, counters: Counters) -> Result<(), NoFrame> {
    let Control { class, signal } = control;
    let octets = "46 octets hold any message";
    match signal {
        Signal::Pause { quanta } => {
            pfc::Repr::one(class, quanta).emit(&mut pfc::Packet::new(body).expect(octets));
        }
        Signal::Stage(stage) => {
            gfc::Repr::one(class, stage).emit(&mut gfc::Packet::new(body).expect(octets));
        }
        Signal::Credit { fctbs, fccl } => {
            let credit =
                Credit { class, fctbs, fccl, is_wide: counters == Counters::Wide, is_init: false };
            link_packet::Repr::Credit(credit).emit(body);
        }
        Signal::Free(bytes) => link_packet::Repr::Free { class, bytes }.emit(body),
        Signal::Level(_) | Signal::Outside(_) => return Err(NoFrame),
    }
    Ok(())
}

/// The contents of a control frame, before it is known which scheme the link runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contents {
    /// A pause time of PFC or a stage of GFC, for some classes.
    Times([Option<u16>; Class::COUNT_MAX]),
    /// The credits of an InfiniBand link packet.
    Credit(Credit),
    /// The free space of time-based GFC.
    Free {
        /// The class whose buffer it is.
        class: Class,
        /// The bytes that were free when the message was made.
        bytes: Bytes,
    },
    /// 802.3x: stop all classes.
    LinkPause {
        /// The pause time in units of 512 bit times.
        quanta: u16,
    },
}

/// Why a message was not for this end of the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unwelcome {
    /// An 802.3x PAUSE, which would stop classes that are not lossless too.
    LinkPause,
    /// The class is not lossless here, or does not exist.
    Class(Class),
    /// The far end runs another scheme on this class, or counters of another width.
    Scheme(Class),
    /// The scheme has no such stage.
    Stage(Class, u16),
}

impl fmt::Display for Unwelcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unwelcome::LinkPause => f.write_str("802.3x PAUSE would stop every class"),
            Unwelcome::Class(class) => write!(f, "class {} is not lossless here", class.0),
            Unwelcome::Scheme(class) => {
                write!(f, "class {} has another flow control here", class.0)
            }
            Unwelcome::Stage(class, stage) => {
                write!(f, "class {} has no stage {stage}", class.0)
            }
        }
    }
}

/// Reads the control frame `frame`, in either envelope.
pub fn parse(frame: &[u8]) -> Result<Contents, Malformed> {
    let packet = ethernet::Packet::new(frame)?;
    let body = packet.payload();
    match packet.ether_type() {
        // Control frames are never tagged.
        _ if packet.header_len() != HEADER => Err(Malformed::EtherType(ethernet::TAG)),
        MAC_CONTROL | PRIVATE_CONTROL => {
            // The opcode of 802.3x PAUSE, which stops all classes at once.
            if let [0x00, 0x01, high, low, ..] = *body {
                let quanta = u16::from_be_bytes([high, low]);
                return Ok(Contents::LinkPause { quanta });
            }
            let repr = pfc::Repr::parse(&pfc::Packet::new(body)?)?;
            Ok(Contents::Times(repr.times))
        }
        LINK_PACKET => {
            let packet = link_packet::Packet::new(body)?;
            Ok(match link_packet::Repr::parse(&packet)? {
                link_packet::Repr::Credit(credit) => Contents::Credit(credit),
                link_packet::Repr::Free { class, bytes } => Contents::Free { class, bytes },
            })
        }
        other => Err(Malformed::EtherType(other)),
    }
}

impl Contents {
    /// The messages for each class; `scheme` is what the far end runs on a class, `None` or
    /// [`FlowControl::None`] if it is not lossless.
    pub fn controls<'a>(
        self,
        scheme: impl Fn(Class) -> Option<&'a FlowControl>,
    ) -> impl Iterator<Item = Result<Control, Unwelcome>> {
        let mut controls = [None; Class::COUNT_MAX];
        let mut say = |class: Class, message: Message| {
            let control = message.signal(class, scheme(class));
            controls[class.index()] = Some(control.map(|signal| Control { class, signal }));
        };
        match self {
            Contents::Times(times) => {
                for (class, time) in (0..).zip(times) {
                    if let Some(time) = time {
                        say(Class(class), Message::Time(time));
                    }
                }
            }
            Contents::Credit(credit) => say(credit.class, Message::Credit(credit)),
            Contents::Free { class, bytes } => say(class, Message::Free(bytes)),
            Contents::LinkPause { .. } => controls[0] = Some(Err(Unwelcome::LinkPause)),
        }
        controls.into_iter().flatten()
    }
}

/// The message about one class.
enum Message {
    Time(u16),
    Credit(Credit),
    Free(Bytes),
}

impl Message {
    fn signal(self, class: Class, scheme: Option<&FlowControl>) -> Result<Signal, Unwelcome> {
        let scheme = match scheme {
            None | Some(FlowControl::None) => return Err(Unwelcome::Class(class)),
            Some(scheme) => scheme,
        };
        match (self, scheme) {
            (Message::Time(quanta), FlowControl::Pfc(_)) => Ok(Signal::Pause { quanta }),
            (Message::Time(stage), FlowControl::GfcBuffer(config)) => {
                // The stage above the last one holds the sender; higher ones do not exist.
                if stage > config.stages + 1 {
                    return Err(Unwelcome::Stage(class, stage));
                }
                Ok(Signal::Stage(stage))
            }
            (Message::Credit(credit), FlowControl::Cbfc(_) | FlowControl::GfcTime(_))
                if credits(scheme) == Some(credit.is_wide) =>
            {
                let Credit { fctbs, fccl, .. } = credit;
                Ok(Signal::Credit { fctbs, fccl })
            }
            (Message::Free(bytes), FlowControl::GfcTime(config))
                if config.measure == Measure::Message =>
            {
                Ok(Signal::Free(bytes))
            }
            _ => Err(Unwelcome::Scheme(class)),
        }
    }
}

/// The width of the credits of `scheme` on the wire; any for a scheme without credits.
pub fn counters_of(scheme: &FlowControl) -> Counters {
    match credits(scheme) {
        Some(false) => Counters::Iba,
        _ => Counters::Wide,
    }
}

/// Whether the credits of a scheme are wide; `None` if it has none.
fn credits(scheme: &FlowControl) -> Option<bool> {
    match scheme {
        FlowControl::Cbfc(config) => Some(config.counters == Counters::Wide),
        FlowControl::GfcTime(config) => (config.measure == Measure::Credit).then_some(true),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
