//! A flow control of the core as an outside one.

use pauseless_core::derive::{Derivation, Violation};
use pauseless_core::flow_control::outside::{BoxedDownstream, BoxedUpstream, FlowControlScheme};
use pauseless_core::flow_control::{
    AnyDownstream, AnyUpstream, Downstream, FlowControl, Gate, Signal, Upstream,
};
use pauseless_core::unit::{Bytes, Rate, Span, Time};

use super::Language;

/// `control` as a scheme of another crate. Conceptual GFC has no such form: its signals use no wire.
pub fn disguised_flow_control(control: FlowControl, language: Language) -> Option<FlowControl> {
    let has_form = !matches!(control, FlowControl::GfcConceptual(_));
    has_form.then(|| FlowControl::outside(Disguised { control, language }))
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Disguised {
    control: FlowControl,
    language: Language,
}

impl FlowControlScheme for Disguised {
    fn name(&self) -> &'static str {
        "disguised"
    }

    fn upstream(&self, line: Rate) -> Box<dyn BoxedUpstream> {
        Box::new(Up { half: self.control.upstream(line), scheme: *self })
    }

    fn downstream(&self, line: Rate, phase: Span) -> Box<dyn BoxedDownstream> {
        Box::new(Down { half: self.control.downstream(line, phase), scheme: *self })
    }

    fn period(&self) -> Option<Span> {
        self.control.period()
    }

    fn cell(&self) -> Bytes {
        self.control.cell()
    }

    fn check(&self, derivation: &Derivation) -> Result<(), Violation> {
        derivation.check(&self.control)
    }
}

impl Disguised {
    fn encode(&self, signal: Signal) -> Signal {
        if self.language == Language::Own {
            return signal;
        }
        Signal::Outside(match signal {
            Signal::Pause { quanta } => u64::from(quanta).to_be_bytes(),
            Signal::Credit { fctbs, fccl } => {
                (u64::from(fctbs) << 32 | u64::from(fccl)).to_be_bytes()
            }
            Signal::Stage(stage) => u64::from(stage).to_be_bytes(),
            Signal::Free(bytes) => bytes.get().to_be_bytes(),
            Signal::Level(_) | Signal::Outside(_) => unreachable!("{signal:?}"),
        })
    }

    fn decode(&self, signal: Signal) -> Signal {
        let Signal::Outside(bytes) = signal else {
            return signal;
        };
        let number = u64::from_be_bytes(bytes);
        match self.control {
            FlowControl::Pfc(_) => Signal::Pause { quanta: number as u16 },
            FlowControl::Cbfc(_) => {
                Signal::Credit { fctbs: (number >> 32) as u32, fccl: number as u32 }
            }
            FlowControl::GfcBuffer(_) => Signal::Stage(number as u16),
            // Those of these tests measure by messages.
            FlowControl::GfcTime(_) => Signal::Free(Bytes::new(number)),
            _ => unreachable!("{:?} says nothing", self.control),
        }
    }
}

#[derive(Clone, Debug)]
struct Up {
    half: AnyUpstream,
    scheme: Disguised,
}

impl Upstream for Up {
    fn on_signal(&mut self, now: Time, signal: Signal) {
        self.half.on_signal(now, self.scheme.decode(signal));
    }

    fn on_transmit(&mut self, now: Time, size: Bytes) {
        self.half.on_transmit(now, size);
    }

    fn gate(&self, now: Time, size: Bytes) -> Gate {
        self.half.gate(now, size)
    }

    fn is_stopped(&self, now: Time, size: Bytes) -> bool {
        self.half.is_stopped(now, size)
    }

    fn rate(&self, now: Time) -> Option<Rate> {
        self.half.rate(now)
    }

    fn resumes(&self) -> u32 {
        self.half.resumes()
    }

    fn spends_credit(&self) -> bool {
        self.half.spends_credit()
    }

    fn complete(&self, signal: Signal) -> Signal {
        let signal = self.half.complete(self.scheme.decode(signal));
        self.scheme.encode(signal)
    }
}

#[derive(Clone, Debug)]
struct Down {
    half: AnyDownstream,
    scheme: Disguised,
}

impl Downstream for Down {
    fn on_enqueue(&mut self, now: Time, size: Bytes, held: Bytes) {
        self.half.on_enqueue(now, size, held);
    }

    fn on_dequeue(&mut self, now: Time, size: Bytes, held: Bytes) {
        self.half.on_dequeue(now, size, held);
    }

    fn has_signal(&self, now: Time) -> bool {
        self.half.has_signal(now)
    }

    fn poll_signal(&mut self, now: Time) -> Option<Signal> {
        let signal = self.half.poll_signal(now)?;
        Some(self.scheme.encode(signal))
    }

    fn poll_timeout(&self) -> Option<Time> {
        self.half.poll_timeout()
    }

    fn handle_timeout(&mut self, now: Time) {
        self.half.handle_timeout(now);
    }

    fn keeps_blocked(&self, kept: Bytes, head: Bytes) -> bool {
        self.half.keeps_blocked(kept, head)
    }

    fn resumes(&self) -> u32 {
        self.half.resumes()
    }

    fn resumed_at(&self) -> Time {
        self.half.resumed_at()
    }

    fn on_peer_signal(&mut self, signal: Signal) {
        self.half.on_peer_signal(self.scheme.decode(signal));
    }

    fn on_discard(&mut self, size: Bytes) {
        self.half.on_discard(size);
    }
}
