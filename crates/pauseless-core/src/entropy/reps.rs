//! Recycled entropies: what came back unmarked is used again.

use alloc::vec::Vec;

use super::{Entropy, EntropyConfig, PathNews, draw};
use crate::congestion::dither::Dither;
use crate::unit::{Span, Time};

/// A ring of the entropies of unmarked acknowledgements.
#[derive(Clone, Debug)]
pub struct Reps {
    values: u16,
    /// The entropies that were kept, at most as many as the ring has places.
    ring: Vec<Entropy>,
    places: usize,
    /// The place that is written next.
    head: usize,
    /// How many of the entropies written last were not used yet.
    fresh: usize,
    /// When frozen mode ends; `None` outside.
    frozen_until: Option<Time>,
    /// Frozen mode: the place that is used next.
    turn: usize,
    /// How many further packets take a random value whatever the ring has.
    exploring: u16,
    freeze: Span,
    explore: u16,
    dither: Dither,
}

impl Reps {
    pub(super) fn new(config: &EntropyConfig) -> Reps {
        Reps {
            values: config.values,
            ring: Vec::new(),
            places: usize::from(config.ring).max(1),
            head: 0,
            fresh: 0,
            frozen_until: None,
            turn: 0,
            exploring: 0,
            freeze: config.freeze,
            explore: config.explore,
            dither: Dither::new(config.seed),
        }
    }

    pub(super) fn take(&mut self, now: Time) -> Entropy {
        self.thaw(now);
        if self.exploring > 0 {
            self.exploring -= 1;
            return self.random();
        }
        if self.ring.is_empty() {
            return self.random();
        }
        if self.frozen_until.is_some() {
            let entropy = self.ring[self.turn % self.ring.len()];
            self.turn = (self.turn + 1) % self.ring.len();
            return entropy;
        }
        if self.fresh == 0 {
            return self.random();
        }
        // The fresh ones are those right before the head, the oldest first.
        let place = (self.head + self.places - self.fresh) % self.places;
        self.fresh -= 1;
        self.ring[place]
    }

    pub(super) fn on_news(&mut self, now: Time, entropy: Entropy, news: PathNews) {
        self.thaw(now);
        match news {
            PathNews::TimedOut if self.frozen_until.is_none() && self.exploring == 0 => {
                self.frozen_until = Some(now.saturating_add(self.freeze));
                self.turn = 0;
            }
            PathNews::Good => self.keep(entropy),
            _ => {}
        }
    }

    /// Ends frozen mode if its time is over.
    fn thaw(&mut self, now: Time) {
        if self.frozen_until.is_some_and(|until| until < now) {
            self.frozen_until = None;
            self.ring.clear();
            (self.head, self.fresh) = (0, 0);
            self.exploring = self.explore;
        }
    }

    fn keep(&mut self, entropy: Entropy) {
        if self.ring.len() < self.places {
            self.ring.push(entropy);
        } else {
            self.ring[self.head] = entropy;
        }
        self.head = (self.head + 1) % self.places;
        self.fresh = (self.fresh + 1).min(self.places);
    }

    fn random(&mut self) -> Entropy {
        Entropy(draw(&mut self.dither, self.values))
    }
}
