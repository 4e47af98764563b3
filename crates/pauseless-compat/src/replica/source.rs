//! What a source keeps for each flow, and how feedback changes its rate.

use super::engine::Flow;
use super::turns::Standing;
use super::{clock, turns};

/// Switches whose records an answer carries.
pub const HOPS_MAX: usize = 5;

/// What a switch writes into a frame, with the precision and in the 64 bits that it has there.
#[derive(Clone, Copy, Debug, Default)]
pub struct Hop(u64);

/// The rates that a record can name, in bit/s.
const LINES: [u64; 5] =
    [25_000_000_000, 50_000_000_000, 100_000_000_000, 200_000_000_000, 400_000_000_000];

impl Hop {
    /// The record of a frame that leaves at `time` nanoseconds, when `sent` units of 128 B times
    /// the multiple have left and `queue` units of 80 B times the multiple wait.
    pub fn new(time: u64, sent: u64, queue: u64, line: u8) -> Hop {
        let (time, sent, queue) = (time & 0xff_ffff, sent & 0xf_ffff, queue & 0x1_ffff);
        Hop(time | sent << 24 | queue << 44 | u64::from(line) << 61)
    }

    /// The code of a rate; any that records do not know is taken for the first.
    pub fn line_code(rate: u64) -> u8 {
        LINES.iter().position(|line| *line == rate).unwrap_or(0) as u8
    }

    fn time(self) -> u64 {
        self.0 & 0xff_ffff
    }

    fn sent(self) -> u64 {
        self.0 >> 24 & 0xf_ffff
    }

    fn queue(self) -> u64 {
        self.0 >> 44 & 0x1_ffff
    }

    /// The rate of its link.
    fn line(self) -> u64 {
        LINES[(self.0 >> 61) as usize]
    }
}

/// What a frame has collected.
#[derive(Clone, Copy, Debug, Default)]
pub struct Trail {
    hops: [Hop; HOPS_MAX],
    /// How many there are; more than fit is possible.
    count: u32,
    /// When it was sent.
    pub sent_at: u64,
}

impl Trail {
    /// The trail of a frame that is sent now.
    pub fn new(sent_at: u64) -> Trail {
        Trail { sent_at, ..Trail::default() }
    }

    /// Adds the record of one more switch.
    pub fn push(&mut self, hop: Hop) {
        self.hops[self.count as usize % HOPS_MAX] = hop;
        self.count += 1;
    }
}

/// Which scheme changes rates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// No scheme: flows send at line rate.
    None,
    /// DCQCN as NICs do it.
    Dcqcn,
    /// HPCC, from the records of switches.
    Hpcc,
    /// TIMELY, once per round trip.
    Timely,
    /// DCTCP, with rates instead of windows.
    Dctcp,
}

/// What all sources have in common.
#[derive(Clone, Debug)]
pub struct Terms {
    /// The scheme that changes rates.
    pub scheme: Scheme,
    /// Payload bytes of a full packet.
    pub payload: u32,
    /// The lowest rate, in bit/s.
    pub rate_min: u64,
    /// The step of additive increase, in bit/s.
    pub rate_ai: u64,
    /// The step of hyper increase, in bit/s.
    pub rate_hai: u64,
    /// The additive step of DCTCP.
    pub dctcp_ai: u64,
    /// g of DCQCN and DCTCP.
    pub gain: f64,
    /// Stages of fast recovery.
    pub stages: u32,
    /// Whether every cut moves the target of DCQCN.
    pub clamps: bool,
    /// Between two changes of alpha.
    pub alpha_ns: u64,
    /// Between two looks for marks.
    pub look_ns: u64,
    /// The time between two increases.
    pub raise_ns: u64,
    /// How busy HPCC wants links to be.
    pub target: f64,
    /// Additive steps of HPCC before a multiplicative one.
    pub steps_max: u32,
    /// What units of records are multiplied by.
    pub multiple: u64,
    /// Whether HPCC reacts between two updates, too.
    pub is_fast: bool,
    /// Whether each hop has a rate of its own.
    pub is_per_hop: bool,
    /// Whether fast reactions ignore hops without a queue.
    pub is_sampling: bool,
    /// Whether windows shrink with the rate.
    pub follows_rate: bool,
    /// Whether packets are spaced by the rate of their flow, not of its line.
    pub is_paced: bool,
}

impl Default for Terms {
    /// The terms of a network without congestion control.
    fn default() -> Terms {
        Terms {
            scheme: Scheme::None,
            payload: 1_000,
            rate_min: 100_000_000,
            rate_ai: 0,
            rate_hai: 0,
            dctcp_ai: 0,
            gain: 0.0,
            stages: 5,
            clamps: false,
            alpha_ns: 55_000,
            look_ns: 4_000,
            raise_ns: 300_000,
            target: 0.95,
            steps_max: 5,
            multiple: 1,
            is_fast: true,
            is_per_hop: true,
            is_sampling: false,
            follows_rate: false,
            is_paced: true,
        }
    }
}

/// How busy a link was, as a share of its capacity, over how many nanoseconds.
#[derive(Clone, Copy, Debug)]
struct Load {
    busy: f64,
    span: u64,
}

/// A rate that others are computed from.
#[derive(Clone, Copy, Debug)]
struct Reference {
    rate: u64,
    busy: f64,
    steps: u32,
}

/// What HPCC keeps of the way of a flow.
#[derive(Clone, Debug)]
struct Records {
    last: [Hop; HOPS_MAX],
    references: [Reference; HOPS_MAX],
}

/// The state of a flow at its source.
///
/// The timers of DCQCN expire far more often than packets are sent when there are many flows, so
/// what they need is in one cache line.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct Source {
    /// The numbers of its pending timers by `Timer`; 0 for none.
    pub timers: [u64; 3],
    alpha: f64,
    /// The rate at which it may send, in bit/s.
    pub rate: u64,
    target: u64,
    stage: u32,
    is_marked: [bool; 2],
    /// Whether a mark has come back.
    pub is_limited: bool,
    /// The priority group of its packets.
    pub group: u8,
    /// The port of its host.
    pub port: u32,
    /// Its leaf among the `Turns` of its host.
    pub leaf: u32,
    /// Payload bytes of all of it.
    pub size: u64,
    /// The byte that is sent next.
    pub next: u64,
    /// The bytes that have arrived.
    pub acknowledged: u64,
    /// The rate of its host.
    pub line: u64,
    /// The next frame starts no earlier.
    pub available: u64,
    window: u64,
    base_rtt: u64,
    /// Where the ports that its packets leave switches at begin, see `Ways`.
    pub way: u32,
    last_size: u32,
    updated_to: u32,
    /// When it began, in nanoseconds.
    pub start: u64,
    /// HPCC: from the first answer on.
    records: Option<Box<Records>>,
    /// TIMELY: the rate that it computes with and steps of increase.
    reference: Reference,
    last_rtt: u64,
    rtt_difference: f64,
    marks: u32,
    batch: u32,
    reduced_to: Option<u32>,
}

impl Source {
    /// The state of `flow` before its first packet, at a host whose port has the rate `line`.
    pub fn new(flow: &Flow, port: u32, line: u64) -> Source {
        Source {
            size: u64::from(flow.size),
            next: 0,
            acknowledged: 0,
            group: flow.group,
            line,
            rate: line,
            available: 0,
            start: 0,
            port,
            leaf: turns::NONE,
            way: 0,
            window: flow.window,
            base_rtt: flow.base_rtt,
            last_size: 0,
            updated_to: 0,
            records: None,
            reference: Reference { rate: line, busy: 1.0, steps: 0 },
            last_rtt: 0,
            rtt_difference: 0.0,
            alpha: 1.0,
            is_marked: [false; 2],
            timers: [0; 3],
            is_limited: false,
            target: line,
            stage: 0,
            marks: 0,
            batch: 0,
            reduced_to: None,
        }
    }

    /// What is still to be sent.
    pub fn left(&self) -> u64 {
        self.size.saturating_sub(self.next)
    }

    /// Whether everything has arrived.
    pub fn is_done(&self) -> bool {
        self.acknowledged >= self.size
    }

    /// Whether it has to wait for answers.
    pub fn is_window_full(&self, terms: &Terms) -> bool {
        let window = match (self.window, terms.follows_rate) {
            (0, _) => return false,
            (window, false) => window,
            (window, true) => (window.wrapping_mul(self.rate) / self.line).max(1),
        };
        // Both are numbers of 64 bits there, too.
        self.next.wrapping_sub(self.acknowledged) >= window
    }

    /// What decides when it has its turn.
    pub fn standing(&self, terms: &Terms) -> Standing {
        Standing {
            group: self.group,
            waiting: (self.left() > 0).then_some(self.available),
            has_room: !self.is_window_full(terms),
            is_done: self.is_done(),
        }
    }

    /// A frame of so many bytes starts.
    pub fn on_sent(&mut self, now: u64, size: u32, terms: &Terms) {
        self.last_size = size;
        let rate = if terms.is_paced { self.rate } else { self.line };
        self.available = now.saturating_add(clock::sending(size, rate));
    }

    /// Bounded as HPCC and PINT do.
    fn limit(&self, rate: u64, terms: &Terms) -> u64 {
        rate.max(terms.rate_min).min(self.line)
    }

    /// HPCC: as if the last frame had been sent at the new rate.
    fn change_rate(&mut self, rate: u64) {
        let (old, new) = (self.rate, rate);
        let available = self.available.wrapping_add(clock::sending(self.last_size, new));
        self.available = available.wrapping_sub(clock::sending(self.last_size, old));
        self.rate = rate;
    }

    /// HPCC; whether the rate was changed.
    pub fn on_records(&mut self, sequence: u32, trail: &Trail, terms: &Terms) -> bool {
        let is_full = sequence > self.updated_to;
        if !is_full && !terms.is_fast {
            return false;
        }
        let next = self.next as u32;
        let mut records = match self.records.take() {
            Some(records) => records,
            None => Box::new(Records {
                last: [Hop::default(); HOPS_MAX],
                references: [Reference { rate: self.line, busy: 1.0, steps: 0 }; HOPS_MAX],
            }),
        };
        if self.updated_to == 0 {
            self.updated_to = next;
            let count = (trail.count as usize).min(HOPS_MAX);
            records.last[..count].copy_from_slice(&trail.hops[..count]);
            self.records = Some(records);
            return false;
        }
        let mut is_changed = false;
        if let Some(hops) = trail.hops.get(..trail.count as usize) {
            let rate = if terms.is_per_hop {
                self.rate_of_hops(&mut records, is_full, hops, terms)
            } else {
                self.rate_of_way(&mut records, is_full, hops, terms)
            };
            if let Some(rate) = rate {
                self.change_rate(rate);
                is_changed = true;
            }
        }
        self.records = Some(records);
        if is_full {
            self.updated_to = self.updated_to.max(next);
        }
        is_changed
    }

    /// The load of a hop between two records.
    fn measure(&self, last: Hop, hop: Hop, terms: &Terms) -> Load {
        let span = hop.time().wrapping_sub(last.time()) & 0xff_ffff;
        let sent = (hop.sent().wrapping_sub(last.sent()) & 0xf_ffff) * 128 * terms.multiple;
        let seconds = span as f64 * 1e-9;
        let rate = (sent * 8) as f64 / seconds;
        let queue = (hop.queue().min(last.queue()) * 80 * terms.multiple) as f64;
        let queue = queue * self.line as f64 / hop.line() as f64 / self.window as f64;
        Load { busy: rate / hop.line() as f64 + queue, span }
    }

    fn advance(&self, reference: Reference, Load { busy, span }: Load, terms: &Terms) -> Reference {
        let span = span.min(self.base_rtt);
        let kept = reference.busy * (self.base_rtt - span) as f64;
        let busy = (kept + busy * span as f64) / self.base_rtt as f64;
        let excess = busy / terms.target;
        let (rate, steps) = if excess >= 1.0 || reference.steps >= terms.steps_max {
            (cut(reference.rate as f64 / excess) + terms.rate_ai, 0)
        } else {
            (reference.rate + terms.rate_ai, reference.steps + 1)
        };
        let rate = self.limit(rate, terms);
        Reference { rate, busy, steps }
    }

    fn rate_of_way(
        &self,
        records: &mut Records,
        is_full: bool,
        hops: &[Hop],
        terms: &Terms,
    ) -> Option<u64> {
        let mut busiest = Load { busy: 0.0, span: 0 };
        let mut is_any = false;
        for (last, hop) in records.last.iter_mut().zip(hops) {
            if is_full || !terms.is_sampling || hop.queue() > 0 {
                is_any = true;
                let load = self.measure(*last, *hop, terms);
                *last = *hop;
                if load.busy > busiest.busy {
                    busiest = load;
                }
            }
        }
        if !is_any {
            return None;
        }
        let reference = self.advance(records.references[0], busiest, terms);
        records.references[0].busy = reference.busy;
        if is_full {
            records.references[0] = reference;
        }
        Some(reference.rate)
    }

    fn rate_of_hops(
        &self,
        records: &mut Records,
        is_full: bool,
        hops: &[Hop],
        terms: &Terms,
    ) -> Option<u64> {
        let mut lowest = self.line;
        let mut is_any = false;
        let kept = records.last.iter_mut().zip(&mut records.references);
        for ((last, kept), hop) in kept.zip(hops) {
            let mut rate = kept.rate;
            if is_full || !terms.is_sampling || hop.queue() > 0 {
                is_any = true;
                let load = self.measure(*last, *hop, terms);
                *last = *hop;
                let reference = self.advance(*kept, load, terms);
                kept.busy = reference.busy;
                rate = reference.rate;
                if is_full {
                    *kept = reference;
                }
            }
            lowest = lowest.min(rate);
        }
        is_any.then_some(lowest)
    }

    /// TIMELY, once per round trip.
    pub fn on_round_trip(&mut self, sequence: u32, rtt: u64, terms: &Terms) {
        const LOW: u64 = 50_000;
        const HIGH: u64 = 500_000;
        if sequence <= self.updated_to {
            return;
        }
        if self.updated_to != 0 {
            let difference = (rtt as i64 - self.last_rtt as i64) as f64;
            self.rtt_difference = (1.0 - 0.875) * self.rtt_difference + 0.875 * difference;
            let gradient = self.rtt_difference / 20_000.0;
            let reference = self.reference.rate;
            let factor = match () {
                () if rtt < LOW => None,
                () if rtt > HIGH => Some(1.0 - 0.8 * (1.0 - HIGH as f64 / rtt as f64)),
                () if gradient <= 0.0 => None,
                () => Some((1.0 - 0.8 * gradient).max(0.0)),
            };
            let steps = &mut self.reference.steps;
            self.rate = match factor {
                None => {
                    let step = if *steps < 5 { terms.rate_ai } else { terms.rate_hai };
                    *steps += 1;
                    (reference + step).min(self.line)
                }
                Some(factor) => {
                    *steps = 0;
                    cut(reference as f64 * factor).max(terms.rate_min)
                }
            };
            self.reference.rate = self.rate;
        }
        if self.next as u32 > self.updated_to {
            self.updated_to = self.next as u32;
            self.last_rtt = rtt;
        }
    }

    /// Handles an acknowledgement in DCTCP.
    pub fn on_answer(&mut self, sequence: u32, is_marked: bool, terms: &Terms) {
        let next = self.next as u32;
        self.marks += u32::from(is_marked);
        let is_new = sequence > self.updated_to;
        if is_new {
            if self.updated_to == 0 {
                self.batch = next / terms.payload + 1;
            } else {
                let share = (f64::from(self.marks) / f64::from(self.batch)).min(1.0);
                self.alpha = (1.0 - terms.gain) * self.alpha + terms.gain * share;
                self.marks = 0;
                self.batch = next.wrapping_sub(sequence) / terms.payload + 1;
            }
            self.updated_to = next;
        }
        if self.reduced_to.is_some_and(|end| sequence > end) {
            self.reduced_to = None;
        }
        if is_marked && self.reduced_to.is_none() {
            self.rate = cut(self.rate as f64 * (1.0 - self.alpha / 2.0)).max(terms.rate_min);
            self.reduced_to = Some(next);
        }
        if self.reduced_to.is_none() && is_new {
            self.rate = (self.rate + terms.dctcp_ai).min(self.line);
        }
    }

    /// DCQCN: a mark has come back; whether it is the first, which starts two timers.
    pub fn on_mark(&mut self) -> bool {
        self.is_marked = [self.is_limited, true];
        let is_first = !self.is_limited;
        if is_first {
            self.alpha = 1.0;
            self.target = self.rate;
            self.is_limited = true;
        }
        is_first
    }

    /// Updates the estimate alpha of DCQCN when its timer expires.
    pub fn on_alpha(&mut self, terms: &Terms) {
        let faded = (1.0 - terms.gain) * self.alpha;
        self.alpha = if self.is_marked[0] { faded + terms.gain } else { faded };
        self.is_marked[0] = false;
    }

    /// DCQCN: the rate is cut if a mark has come back; whether it was.
    pub fn on_look(&mut self, terms: &Terms) -> bool {
        if !self.is_marked[1] {
            return false;
        }
        if terms.clamps || self.stage > 0 {
            self.target = self.rate;
        }
        self.rate = cut(self.rate as f64 * (1.0 - self.alpha / 2.0)).max(terms.rate_min);
        self.stage = 0;
        self.is_marked[1] = false;
        true
    }

    /// DCQCN: the rate rises.
    pub fn on_raise(&mut self, terms: &Terms) {
        if self.stage >= terms.stages {
            let is_first = self.stage == terms.stages;
            let step = if is_first { terms.rate_ai } else { terms.rate_hai };
            self.target = (self.target + step).min(self.line);
        }
        self.rate = cut(self.rate as f64 / 2.0) + cut(self.target as f64 / 2.0);
        self.stage += 1;
    }
}

/// Whole bits per second; what is beyond all bounds becomes nothing, as compilers for that
/// simulator have it.
fn cut(rate: f64) -> u64 {
    if rate < 18_446_744_073_709_551_616.0 { rate as u64 } else { 0 }
}
