//! How much the ports of a switch have carried lately.

use pauseless_core::id::PortId;
use pauseless_core::unit::{Bytes, Span, Time};

use super::Egresses;

/// The loads of all ports that were asked for so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Loads {
    meters: Vec<Meter>,
}

/// The load of a port.
#[derive(Clone, Copy, Debug, Default)]
struct Meter {
    /// When it was read last, or when its window began.
    since: Time,
    /// What the port had sent by then.
    sent: Bytes,
    /// The bytes that were sent lately, the older the less.
    discounted: u64,
    /// The grade of the last complete window.
    grade: u8,
}

/// A discounting estimator forgets a fifth of what it has counted in each such time.
const DISCOUNT_EVERY: Span = Span::us(50);
/// The time for which a port at its line rate is worth as much as its estimator can hold: the
/// period over alpha = 0.2.
const DISCOUNT_SPAN: Span = Span::us(250);
/// The estimate has 3 bits.
const LEVELS: u64 = 8;
/// The window over which a recent load is measured.
const WINDOW: Span = Span::us(30);
/// The shares of the line rate, in percent, at which a higher grade begins; without any load it is 0.
const GRADES: [u64; 2] = [15, 50];

impl Loads {
    /// The level, from 0 to 7, of what a port has sent lately, by a discounting rate estimator.
    //= protocols load-balancing-rules
    pub(super) fn discounted(&mut self, now: Time, port: PortId, egresses: &impl Egresses) -> u8 {
        let meter = self.meter(port);
        let period = DISCOUNT_EVERY.as_ps();
        let periods = now.as_ps() / period - meter.since.as_ps() / period;
        for _ in 0..periods {
            if meter.discounted == 0 {
                break;
            }
            meter.discounted = meter.discounted / 5 * 4;
        }
        let sent = egresses.sent(port);
        meter.discounted += (sent - meter.sent).get();
        meter.since = now;
        meter.sent = sent;
        let full = egresses.line(port).bytes_in(DISCOUNT_SPAN).get().max(1);
        (meter.discounted * LEVELS / full).min(LEVELS - 1) as u8
    }

    /// The grade, from 0 to 3, of what a port has sent in the last complete window.
    pub(super) fn recent(&mut self, now: Time, port: PortId, egresses: &impl Egresses) -> u8 {
        let meter = self.meter(port);
        let span = now - meter.since;
        if span >= WINDOW {
            let sent = egresses.sent(port);
            let more = (sent - meter.sent).get();
            let percent = more * 100 / egresses.line(port).bytes_in(span).get().max(1);
            let above = GRADES.iter().filter(|least| percent >= **least).count() as u8;
            meter.grade = if more == 0 { 0 } else { 1 + above };
            meter.since = now;
            meter.sent = sent;
        }
        meter.grade
    }

    fn meter(&mut self, port: PortId) -> &mut Meter {
        if self.meters.len() <= port.index() {
            self.meters.resize(port.index() + 1, Meter::default());
        }
        &mut self.meters[port.index()]
    }
}
