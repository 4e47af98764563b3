//! The fluid model of PCN: what its rates and its queue do when packets are infinitely small.
//!
//! **Models** N sources that share one bottleneck, in loops of length T: all are told together
//! whether the queue is empty at the end of a loop, and all react to it in the next one.
//!
//! **Source** pcn20 appendix A, equations 3 to 7, and the steady state that follows from them.
//!
//! **Deviates** Nothing. Two formulas of the steady state are exact here where the paper rounds;
//! see [`Steady`].
//!
//! **States** one queue, one rate per source, and the weight w, which is the same for all.
//!
//! **Not modelled** delay, pauses, sources that are told at different times.
//!
//! Time is in loops; amounts are in any unit, as long as `period` times `capacity` is in that of
//! the queue.

use pauseless_core::congestion::pcn;

/// The state of the fluid model: the rates, the queue and the weight.
#[derive(Clone, Debug, PartialEq)]
pub struct Fluid {
    /// C, the capacity of the bottleneck link.
    pub capacity: f64,
    /// T, the length of one control loop.
    pub period: f64,
    /// The smallest weight of an increase, and the margin of a decrease.
    pub w_min: f64,
    /// The limit that the weight tends to.
    pub w_max: f64,
    /// R_i, the sending rate of every source.
    pub rates: Vec<f64>,
    /// Q, the length of the queue.
    pub queue: f64,
    /// w, the present weight of an increase.
    pub weight: f64,
}

/// The two kinds of control loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loop {
    /// The queue was empty at its end, and all rates have been increased.
    Increase,
    /// The queue was not empty at its end, and all rates have been decreased.
    Decrease,
}

impl Fluid {
    /// Sources with these rates in bit/s at an empty queue, which is counted in bits.
    pub fn new(config: &pcn::Config, capacity: f64, rates: Vec<f64>) -> Fluid {
        Fluid {
            capacity,
            period: config.period.as_secs_f64(),
            w_min: config.w_min,
            w_max: config.w_max,
            rates,
            queue: 0.0,
            weight: config.w_min,
        }
    }

    /// The sum of all sending rates.
    pub fn aggregate(&self) -> f64 {
        self.rates.iter().sum()
    }

    /// Advances the model by one control loop of length T.
    pub fn step(&mut self) -> Loop {
        let aggregate = self.aggregate();
        // pcn20 A.1 eq 3
        self.queue = (self.queue + (aggregate - self.capacity) * self.period).max(0.0);
        // pcn20 A.1 eq 4
        if self.queue > 0.0 {
            // pcn20 A.1 eq 5
            let received = self.capacity / aggregate;
            for rate in &mut self.rates {
                // pcn20 A.1 eq 6
                *rate *= received * (1.0 - self.w_min);
            }
            // pcn20 A.1 eq 7
            self.weight = self.w_min;
            return Loop::Decrease;
        }
        for rate in &mut self.rates {
            *rate = *rate * (1.0 - self.weight) + self.capacity * self.weight;
        }
        self.weight = self.weight * (1.0 - self.weight) + self.w_max * self.weight;
        Loop::Increase
    }

    /// The steady state that the model reaches from any rates.
    pub fn steady(&self) -> Steady {
        Steady {
            capacity: self.capacity,
            period: self.period,
            w_min: self.w_min,
            flows: self.rates.len() as u32,
        }
    }

    /// The number of loops after which a queue that begins empty is empty again, if the rates
    /// exceed C now: ceil(1 + (S - C) / (w C)).
    // pcn20 A.2.1 drain
    pub fn drain_loops(&self) -> u64 {
        let excess = self.aggregate() - self.capacity;
        let loops = 1.0 + excess / (self.w_min * self.capacity);
        // The cast rounds down and turns negative values into zero.
        let whole = loops as u64;
        whole + u64::from((whole as f64) < loops)
    }
}

/// The steady state of two sources or more in closed form: one increase, then decreases in all
/// other loops of N. A single source never meets a queue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Steady {
    /// C, the capacity of the bottleneck link.
    pub capacity: f64,
    /// T, the length of one control loop.
    pub period: f64,
    /// The smallest weight of an increase, and the margin of a decrease.
    pub w_min: f64,
    /// N, the number of sources.
    pub flows: u32,
}

impl Steady {
    /// The number of loops after which everything repeats, N.
    // pcn20 A.2.2 period
    pub fn loops(&self) -> u32 {
        self.flows
    }

    /// The fair share of each source, C / N.
    // pcn20 A.2.2 eq 14
    pub fn share(&self) -> f64 {
        self.capacity / f64::from(self.flows)
    }

    /// The excess of the aggregate over C after an increase, as a share of C: (N - 2 + w) w.
    fn excess(&self) -> f64 {
        (f64::from(self.flows) - 2.0 + self.w_min) * self.w_min
    }

    /// The largest queue, (N - 2 + w) w C T; the smallest is zero.
    // pcn20 A.2.3 eq 15
    pub fn queue_swing(&self) -> f64 {
        self.excess() * self.capacity * self.period
    }

    /// The smallest and the largest aggregate, (1 - w) C and (1 + (N - 2 + w) w) C.
    // pcn20 A.2.2 aggregate
    pub fn aggregate_range(&self) -> (f64, f64) {
        let low = (1.0 - self.w_min) * self.capacity;
        (low, (1.0 + self.excess()) * self.capacity)
    }

    /// The difference between a source's largest and smallest rate, w C (1 - (1 - w) / N).
    /// The paper has w C, which is what this tends to for many sources; its derivation drops a
    /// factor 1 - w.
    // pcn20 A.2.3 rate-swing
    pub fn rate_swing(&self) -> f64 {
        let missing = (1.0 - self.w_min) / f64::from(self.flows);
        self.w_min * self.capacity * (1.0 - missing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const W: f64 = 1.0 / 128.0;
    const FLOWS: [usize; 5] = [2, 4, 8, 16, 64];

    /// C = 1 and T = 1.
    fn fluid(rates: Vec<f64>) -> Fluid {
        Fluid { capacity: 1.0, period: 1.0, w_min: W, w_max: 0.5, rates, queue: 0.0, weight: W }
    }

    /// All at the line rate, one alone, none, all different, and far below the capacity.
    fn starts(flows: usize) -> [Vec<f64>; 5] {
        let mut alone = vec![0.0; flows];
        alone[0] = 1.0;
        let ladder = (1..=flows).map(|k| k as f64 / flows as f64);
        let faint = (1..=flows).map(|k| 1e-6 * k as f64);
        [vec![1.0; flows], alone, vec![0.0; flows], ladder.collect(), faint.collect()]
    }

    /// Long enough for all: 64 sources at the line rate take 1 + 63 * 128 = 8065 loops to drain,
    /// and with N = 2 what is missing to fairness shrinks by a = 0.984 every 2 loops only, but
    /// 0.984^2000 < 1e-13.
    fn settled(rates: Vec<f64>) -> Fluid {
        let mut fluid = fluid(rates);
        for _ in 0..20_000 {
            fluid.step();
        }
        // To the start of a period: the loop behind us was the increase.
        while fluid.step() == Loop::Decrease {}
        fluid
    }

    fn assert_near(value: f64, expected: f64) {
        assert!((value - expected).abs() < 1e-9, "{value}, not {expected}");
    }

    /// C = 1, T = 1, rates 1.5 and 0.5: S = 2, Q = 1; shares 3/4 and 1/4 of 127/128.
    /// Then Q = 1 + 127/128 - 1 = 127/128.
    // pcn20 A.1 eq 3
    // pcn20 A.1 eq 4
    // pcn20 A.1 eq 5
    // pcn20 A.1 eq 6
    // pcn20 A.1 eq 7
    #[test]
    fn loops_by_hand() {
        let mut model = fluid(vec![1.5, 0.5]);
        model.weight = 0.3;
        assert_eq!(model.step(), Loop::Decrease);
        assert_eq!(model.queue, 1.0);
        assert_eq!(model.weight, W);
        assert_eq!(model.rates, [381.0 / 512.0, 127.0 / 512.0]);
        assert_eq!(model.step(), Loop::Decrease);
        assert_eq!(model.queue, 127.0 / 128.0);
        // Without a queue: 0.25 * 127/128 + 1/128 = 131/512; w = 127/16384 + 1/256.
        let mut model = fluid(vec![0.25, 0.25]);
        assert_eq!(model.step(), Loop::Increase);
        assert_eq!(model.queue, 0.0);
        assert_eq!(model.rates, [131.0 / 512.0, 131.0 / 512.0]);
        assert_eq!(model.weight, 191.0 / 16_384.0);
    }

    /// Proposition 1: after one loop the aggregate is (1 - w) C, whatever it was above C.
    #[test]
    fn the_aggregate_converges_in_one_loop() {
        for flows in FLOWS {
            let mut model = fluid(vec![1.0; flows]);
            assert_eq!(model.step(), Loop::Decrease);
            assert_near(model.aggregate(), 1.0 - W);
        }
        // From below it takes K_0 increases. By Fig. 10 a source has 0.4141 C after 9 of them and
        // 0.5381 C after 10: two exceed C after 10, where the paper has less than 10, and four
        // have 0.2152 C each after 7 and 0.3045 C after 8.
        for (flows, expected) in [(2, 10), (4, 8)] {
            let mut model = fluid(vec![0.0; flows]);
            let mut increases = 0;
            while model.step() == Loop::Increase {
                increases += 1;
            }
            assert_eq!(increases, expected);
        }
    }

    /// S = 4 C: 1 + 3 * 128 = 385.
    // pcn20 A.2.1 drain
    #[test]
    fn an_overload_drains_as_predicted() {
        let mut model = fluid(vec![1.0; 4]);
        assert_eq!(model.drain_loops(), 385);
        let mut loops = 1;
        while model.step() == Loop::Decrease {
            loops += 1;
        }
        assert_eq!(loops, 385);
        assert_eq!(model.queue, 0.0);
        // 1 + 0.5 * 128 = 65; 1 + 0.501 * 128 = 65.128.
        assert_eq!(fluid(vec![1.5]).drain_loops(), 65);
        assert_eq!(fluid(vec![1.501]).drain_loops(), 66);
        assert_eq!(fluid(vec![0.1]).drain_loops(), 0);
    }

    /// This is proposition 2 of the paper.
    // pcn20 A.2.2 eq 14
    #[test]
    fn rates_become_fair_from_any_start() {
        for flows in FLOWS {
            for start in starts(flows) {
                let model = settled(start);
                let aggregate = model.aggregate();
                for rate in &model.rates {
                    assert_near(rate / aggregate * model.capacity, model.steady().share());
                }
            }
        }
    }

    // pcn20 A.2.2 period
    #[test]
    fn the_steady_state_repeats_after_n_loops() {
        for flows in FLOWS {
            for start in starts(flows) {
                let mut model = settled(start);
                assert_eq!(model.steady().loops(), flows as u32);
                for _ in 0..10 {
                    for _ in 1..flows {
                        assert_eq!(model.step(), Loop::Decrease);
                    }
                    assert_eq!(model.step(), Loop::Increase);
                }
            }
        }
    }

    /// Proposition 3: (N - 2 + w) w for the numbers of flows above, to five digits.
    // pcn20 A.2.3 eq 15
    // pcn20 A.2.2 aggregate
    // pcn20 A.2.3 rate-swing
    #[test]
    fn swings_are_exactly_as_predicted() {
        let queues = [0.00006, 0.01569, 0.04694, 0.10944, 0.48444];
        for (flows, expected) in FLOWS.into_iter().zip(queues) {
            let mut model = settled(vec![1.0; flows]);
            let steady = model.steady();
            let (mut queue, mut aggregate, mut rate) = (Range::NONE, Range::NONE, Range::NONE);
            for _ in 0..flows {
                aggregate.add(model.aggregate());
                rate.add(model.rates[0]);
                model.step();
                queue.add(model.queue);
            }
            assert!((queue.high - expected).abs() < 5e-6, "{}", queue.high);
            assert_near(queue.low, 0.0);
            assert_near(queue.high, steady.queue_swing());
            let (low, high) = steady.aggregate_range();
            assert_near(aggregate.low, low);
            assert_near(aggregate.high, high);
            assert_near(rate.high - rate.low, steady.rate_swing());
            // The paper's w C is larger, by 1/N of it at most.
            let paper = W * model.capacity;
            let ratio = steady.rate_swing() / paper;
            assert!(ratio < 1.0 && ratio > 1.0 - 1.0 / flows as f64);
        }
    }

    /// For N = 4: (2 + 1/128) / 128 = 257/16384; for two, 1/128 squared.
    #[test]
    fn closed_forms_by_hand() {
        assert_eq!(fluid(vec![0.0; 4]).steady().queue_swing(), 257.0 / 16_384.0);
        assert_eq!(fluid(vec![0.0; 2]).steady().queue_swing(), 1.0 / 16_384.0);
        // 1/128 * (1 - 127/512) = 385/65536.
        assert_eq!(fluid(vec![0.0; 4]).steady().rate_swing(), 385.0 / 65_536.0);
        let (low, high) = fluid(vec![0.0; 4]).steady().aggregate_range();
        assert_eq!((low, high), (127.0 / 128.0, 16_641.0 / 16_384.0));
    }

    struct Range {
        low: f64,
        high: f64,
    }

    impl Range {
        const NONE: Range = Range { low: f64::MAX, high: f64::MIN };

        fn add(&mut self, value: f64) {
            self.low = self.low.min(value);
            self.high = self.high.max(value);
        }
    }
}
