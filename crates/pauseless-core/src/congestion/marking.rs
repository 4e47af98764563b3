//! ECN marking by the length of the queue.
//!
//! **Models** marking with a probability that grows with the instantaneous queue (RED without its
//! average), the step when both thresholds are equal, and the phantom queue.
//!
//! **Source** dcqcn15 section 3.1; hull12 for the phantom queue.
//!
//! **Deviates** By default packets are marked as they leave, by the queue that they leave behind,
//! as in public code; the paper marks as they arrive, which is an option.
//!
//! **States** none but the phantom queue, which grows by every packet that leaves and drains at a
//! share of the line rate all the time, so that it stands for a link slower than the real one.
//!
//! **Not modelled** averages of the queue, packets that cannot be marked.

use alloc::boxed::Box;

use super::dither::Dither;
use super::{CongestionPoint, Joining, QueueState, scaled};
use crate::unit::{Bytes, Rate, Time};

/// The thresholds of ECN marking, for an egress of the reference speed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// The queue length up to which nothing is marked.
    pub kmin: Bytes,
    /// The queue length above which everything is marked; equal to `kmin` for a step.
    pub kmax: Bytes,
    /// The marking probability just below `kmax`.
    pub pmax: f64,
    /// The link speed for which `kmin` and `kmax` are given, if they are scaled with the speed of
    /// the egress.
    pub reference: Option<Rate>,
    /// The share of the line rate at which a phantom queue drains, which is then marked by instead
    /// of the real queue.
    pub phantom: Option<f64>,
    /// Whether packets are marked as they arrive in the queue or as they leave it.
    pub mark_at: MarkAt,
    /// The thresholds of egresses of particular speeds, which are not scaled.
    pub levels: Levels,
}

/// The thresholds of egresses of one speed. Small, since the parameters of every flow contain some.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Level {
    /// The link speed in Mb/s.
    pub mbps: u32,
    /// As [`Config::kmin`], in bytes.
    pub kmin: u32,
    /// As [`Config::kmax`], in bytes.
    pub kmax: u32,
    /// As [`Config::pmax`], in single precision to keep this small.
    pub pmax: f32,
}

/// The most link speeds with thresholds of their own.
pub const LEVELS_MAX: usize = 6;

/// Thresholds of up to [`LEVELS_MAX`] link speeds.
pub type Levels = [Option<Level>; LEVELS_MAX];

/// The instant at which it is decided whether a packet is marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkAt {
    /// As the packet leaves, by the queue that it leaves behind: the feedback is as fresh as can
    /// be.
    Departure,
    /// As the packet arrives, by the queue that it finds: the mark waits in that queue. Not for a
    /// phantom queue, which counts departures only.
    Arrival,
}

/// The congestion point of ECN: marks packets by queue length.
#[derive(Clone, Debug)]
pub struct Marker {
    kmin: f64,
    kmax: f64,
    pmax: f64,
    mark_at: MarkAt,
    /// The phantom queue, boxed so that markers without one fit a cache line.
    phantom: Option<Box<Phantom>>,
    dither: Dither,
}

/// A virtual queue: a counter that grows with departures and drains at a constant rate.
#[derive(Clone, Debug)]
struct Phantom {
    /// The rate at which it drains, in bytes per picosecond.
    drain: f64,
    bytes: f64,
    /// When the last packet left.
    last: Time,
}

/// What decides about marks at an egress of one speed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Thresholds {
    /// The bytes of a queue up to which no packet is marked.
    pub kmin: f64,
    /// The bytes of a queue above which every packet is marked.
    pub kmax: f64,
    /// The probability of a mark just below `kmax`.
    pub pmax: f64,
}

impl Config {
    /// What is in force at an egress of rate `line`: its own thresholds, or the usual ones, scaled
    /// if they are.
    pub fn at(&self, line: Rate) -> Thresholds {
        let mut levels = self.levels.iter().flatten();
        if let Some(level) = levels.find(|it| u64::from(it.mbps) * 1_000_000 == line.as_bps()) {
            let Level { kmin, kmax, pmax, .. } = *level;
            return Thresholds { kmin: kmin.into(), kmax: kmax.into(), pmax: pmax.into() };
        }
        let factor = scaled(line, line, self.reference) / line.as_bps() as f64;
        let [kmin, kmax] = [self.kmin, self.kmax].map(|bytes| bytes.get() as f64 * factor);
        Thresholds { kmin, kmax, pmax: self.pmax }
    }
}

impl Marker {
    /// A marker for an egress of rate `line`; `seed` begins its random sequence.
    pub fn new(config: &Config, line: Rate, seed: u64) -> Marker {
        assert!(
            config.phantom.is_none() || config.mark_at == MarkAt::Departure,
            "a phantom queue knows only what leaves"
        );
        let Thresholds { kmin, kmax, pmax } = config.at(line);
        let phantom = config.phantom.map(|share| {
            Box::new(Phantom {
                drain: share * line.as_bps() as f64 / 8e12,
                bytes: 0.0,
                last: Time::ZERO,
            })
        });
        Marker { kmin, kmax, pmax, mark_at: config.mark_at, phantom, dither: Dither::new(seed) }
    }

    /// The bytes of a queue below which nothing is marked, see [`super::AnyCongestionPoint::loud_from`].
    pub(super) fn loud_from(&self) -> u32 {
        // Nothing is marked at `kmin` itself; a phantom queue counts every packet.
        if self.phantom.is_none() { (self.kmin as u32).saturating_add(1) } else { 0 }
    }

    /// The probability with which a packet is marked at a queue of `bytes`.
    //= dcqcn15 3.1 marking
    fn probability(&self, bytes: f64) -> f64 {
        if bytes <= self.kmin {
            0.0
        } else if bytes > self.kmax {
            1.0
        } else {
            self.pmax * (bytes - self.kmin) / (self.kmax - self.kmin)
        }
    }
}

impl Phantom {
    /// Accounts for a departing packet of `size` bytes; returns the length of the virtual queue
    /// with it.
    //= hull12 3.1 phantom-queue
    fn on_dequeue(&mut self, now: Time, size: Bytes) -> f64 {
        let passed = now.saturating_since(self.last).as_ps() as f64;
        self.last = now;
        self.bytes = (self.bytes - self.drain * passed).max(0.0) + size.get() as f64;
        self.bytes
    }
}

impl CongestionPoint for Marker {
    #[inline]
    fn on_enqueue(&mut self, _now: Time, size: Bytes, queue: QueueState) -> Joining {
        if self.mark_at == MarkAt::Departure {
            return Joining::Silent;
        }
        if self.draws_mark(queue.bytes.saturating_sub(size).get() as f64) {
            Joining::Marked
        } else {
            Joining::Silent
        }
    }

    #[inline]
    fn on_dequeue(&mut self, now: Time, size: Bytes, queue: QueueState) -> bool {
        if self.mark_at == MarkAt::Arrival {
            return false;
        }
        let bytes = match &mut self.phantom {
            Some(phantom) => phantom.on_dequeue(now, size),
            None => queue.bytes.get() as f64,
        };
        self.draws_mark(bytes)
    }
}

impl Marker {
    /// Draws whether a packet is marked at a queue of `bytes`.
    fn draws_mark(&mut self, bytes: f64) -> bool {
        // A random number is drawn only where one is needed.
        match self.probability(bytes) {
            p if p <= 0.0 => false,
            p if p >= 1.0 => true,
            p => self.dither.share() < p,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unit::Span;

    const LINE: Rate = Rate::gbps(40);
    const SIZE: Bytes = Bytes::new(1_000);

    fn config() -> Config {
        Config {
            kmin: Bytes::kb(5),
            kmax: Bytes::kb(200),
            pmax: 0.01,
            reference: None,
            phantom: None,
            mark_at: MarkAt::Departure,
            levels: Default::default(),
        }
    }

    fn marks(marker: &mut Marker, bytes: u64, count: u32) -> u32 {
        let queue = QueueState { packets: 1, bytes: Bytes::new(bytes), is_held: false };
        let mut marked = 0;
        for _ in 0..count {
            marked += u32::from(marker.on_dequeue(Time::ZERO, SIZE, queue));
        }
        marked
    }

    //= dcqcn15 3.1 marking type=test
    #[test]
    fn the_probability_grows_between_the_thresholds() {
        let marker = Marker::new(&config(), LINE, 1);
        assert_eq!(marker.probability(0.0), 0.0);
        assert_eq!(marker.probability(5_000.0), 0.0);
        // 0.01 * 97.5 / 195 = 0.005.
        assert_eq!(marker.probability(102_500.0), 0.005);
        assert_eq!(marker.probability(200_000.0), 0.01);
        assert_eq!(marker.probability(200_001.0), 1.0);
    }

    #[test]
    fn marks_follow_the_probability() {
        let mut marker = Marker::new(&config(), LINE, 1);
        assert_eq!(marks(&mut marker, 5_000, 10_000), 0);
        assert_eq!(marks(&mut marker, 200_001, 10_000), 10_000);
        // 0.005 of 100,000 are 500, with a standard deviation of 22.
        let marked = marks(&mut marker, 102_500, 100_000);
        assert!((400..=600).contains(&marked), "{marked}");
        // The same seed marks the same packets.
        let mut one = Marker::new(&config(), LINE, 7);
        let mut other = Marker::new(&config(), LINE, 7);
        for _ in 0..1_000 {
            assert_eq!(marks(&mut one, 150_000, 1), marks(&mut other, 150_000, 1));
        }
    }

    #[test]
    fn equal_thresholds_are_a_step() {
        let step = Config { kmin: Bytes::kb(40), kmax: Bytes::kb(40), ..config() };
        let mut marker = Marker::new(&step, LINE, 1);
        assert_eq!(marks(&mut marker, 40_000, 100), 0);
        assert_eq!(marks(&mut marker, 40_001, 100), 100);
    }

    /// 40 KB at 40 Gb/s are 10 KB at 10 Gb/s and 100 KB at 100 Gb/s.
    #[test]
    fn thresholds_scale_with_the_line_if_asked_to() {
        let step =
            Config { kmin: Bytes::kb(40), kmax: Bytes::kb(40), reference: Some(LINE), ..config() };
        for (gbps, kb) in [(10, 10), (40, 40), (100, 100)] {
            let mut marker = Marker::new(&step, Rate::gbps(gbps), 1);
            assert_eq!(marks(&mut marker, kb * 1_000, 1), 0);
            assert_eq!(marks(&mut marker, kb * 1_000 + 1, 1), 1);
        }
    }

    /// At 95 % of 40 Gb/s, 4750 B drain in 1 us. The real queue is always empty.
    //= hull12 3.1 phantom-queue type=test
    #[test]
    fn a_phantom_queue_stands_for_a_slower_link() {
        let phantom = Config {
            kmin: Bytes::new(6_000),
            kmax: Bytes::new(6_000),
            phantom: Some(0.95),
            ..config()
        };
        let empty = QueueState { packets: 0, bytes: Bytes::ZERO, is_held: false };
        let mut marker = Marker::new(&phantom, LINE, 1);
        let size = Bytes::new(5_000);
        let mut at = |us: u64| marker.on_dequeue(Time::ZERO + Span::us(us), size, empty);
        // At the line rate it grows by 250 B per packet: 5000, 5250, .., 6000, 6250.
        for us in 0..=4 {
            assert!(!at(us), "{us}");
        }
        assert!(at(5));
        // 100 us later it has been empty for long, but is not emptier than that.
        for us in 105..=109 {
            assert!(!at(us), "{us}");
        }
        assert!(at(110));
        // At 95 % of the line rate it does not grow.
        let mut marker = Marker::new(&phantom, LINE, 1);
        let size = Bytes::new(4_750);
        for us in 0..1_000 {
            assert!(!marker.on_dequeue(Time::ZERO + Span::us(us), size, empty));
        }
    }

    #[test]
    fn packets_that_arrive_and_releases_say_nothing() {
        let mut marker = Marker::new(&config(), LINE, 1);
        let queue = QueueState { packets: 9, bytes: Bytes::mb(1), is_held: false };
        marker.on_release(Time::ZERO, queue);
        assert_eq!(marker.on_enqueue(Time::ZERO, SIZE, queue), Joining::Silent);
    }

    /// An egress of 25 Gb/s has thresholds of its own, which are not scaled; others do not.
    #[test]
    fn a_speed_may_have_thresholds_of_its_own() {
        let mut config = Config { reference: Some(LINE), ..config() };
        config.levels[1] = Some(Level { mbps: 25_000, kmin: 10_000, kmax: 30_000, pmax: 0.5 });
        let marker = Marker::new(&config, Rate::gbps(25), 1);
        assert_eq!(marker.probability(10_000.0), 0.0);
        assert_eq!(marker.probability(20_000.0), 0.25);
        assert_eq!(marker.probability(30_001.0), 1.0);
        let marker = Marker::new(&config, LINE, 1);
        assert_eq!((marker.probability(102_500.0), marker.probability(5_000.0)), (0.005, 0.0));
    }

    #[test]
    fn who_marks_arrivals_goes_by_the_queue_that_they_find() {
        let step = Config { kmax: Bytes::kb(5), mark_at: MarkAt::Arrival, ..config() };
        let mut marker = Marker::new(&step, LINE, 1);
        let queue = |bytes| QueueState { packets: 9, bytes: Bytes::new(bytes), is_held: false };
        // The queue counts the packet of 1,000 B already: 5,000 B were there, then 5,001.
        let mut join = |bytes| marker.on_enqueue(Time::ZERO, SIZE, queue(bytes));
        assert_eq!(join(6_000), Joining::Silent);
        assert_eq!(join(6_001), Joining::Marked);
        assert!(!marker.on_dequeue(Time::ZERO, SIZE, queue(1_000_000)));
    }
}
