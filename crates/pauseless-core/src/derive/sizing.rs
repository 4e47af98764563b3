//! How far PFC thresholds can go in a switch of which every port and class needs headroom.

use crate::memory::Alpha;
use crate::unit::Bytes;

/// A switch: n ports, k classes, memory B, headroom t of each port and class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizing {
    /// B, the packet memory of the switch.
    pub memory: Bytes,
    /// n, the number of ports.
    pub ports: u64,
    /// k, the number of classes.
    pub classes: u64,
    /// t, the bytes that may arrive after a PAUSE is due.
    pub headroom: Bytes,
}

impl Sizing {
    /// B - n k t, the memory without headroom; `None` if headroom alone does not fit.
    pub fn shared(&self) -> Option<Bytes> {
        let headroom = self.headroom * (self.ports * self.classes);
        self.memory.checked_sub(headroom)
    }

    /// B / (n k) - t, the largest static threshold that is safe whatever other queues hold.
    //= protocols 1 dcqcn-static
    pub fn static_threshold(&self) -> Option<Bytes> {
        let share = self.memory.get() / (self.ports * self.classes);
        Bytes::new(share).checked_sub(self.headroom)
    }

    /// beta (B - n k t - s) / k: the dynamic threshold of a port and class while `used` is in use.
    //= protocols 1 dcqcn-dynamic
    pub fn dynamic_threshold(&self, beta: Alpha, used: Bytes) -> Option<Bytes> {
        let free = self.shared()?.saturating_sub(used);
        Some(Bytes::new(beta.of(free).get() / self.classes))
    }

    /// beta (B - n k t) / (k n (beta + 1)): packets of queues longer than this must be marked, so
    /// that marks come before PAUSE even if all n egress queues are this long in every class and
    /// were filled through one port.
    //= protocols 1 dcqcn-ecn
    pub fn marking_bound(&self, beta: Alpha) -> Option<Bytes> {
        let shared = u128::from(self.shared()?.get()) * u128::from(beta.numerator());
        let sum = u128::from(beta.numerator()) + u128::from(beta.denominator());
        let bound = shared / (sum * u128::from(self.classes) * u128::from(self.ports));
        Some(Bytes::new(bound as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// PROTOCOLS.md section 1: 32 ports, 8 classes, 12 MB, 22.4 KB.
    const DCQCN: Sizing =
        Sizing { memory: Bytes::mb(12), ports: 32, classes: 8, headroom: Bytes::new(22_400) };

    //= protocols 1 dcqcn-static type=test
    #[test]
    fn the_static_threshold_is_24_47_kb() {
        assert_eq!(DCQCN.static_threshold(), Some(Bytes::new(24_475)));
        let small = Sizing { memory: Bytes::mb(5), ..DCQCN };
        assert_eq!(small.static_threshold(), None);
        assert_eq!(small.shared(), None);
    }

    //= protocols 1 dcqcn-ecn type=test
    #[test]
    fn marking_comes_first_up_to_21_75_kb() {
        let beta = Alpha::new(8, 1).expect("positive");
        assert_eq!(DCQCN.marking_bound(beta), Some(Bytes::new(21_755)));
    }

    //= protocols 1 dcqcn-dynamic type=test
    #[test]
    fn the_dynamic_threshold_falls_to_the_marking_bound_when_all_queues_are_as_long() {
        let beta = Alpha::new(8, 1).expect("positive");
        let empty = DCQCN.dynamic_threshold(beta, Bytes::ZERO);
        assert_eq!(empty, DCQCN.shared(), "beta / k is one");
        let bound = DCQCN.marking_bound(beta).expect("it fits");
        // n k queues of that length are in use; a port may have n of them, up to rounding.
        let left = DCQCN.dynamic_threshold(beta, bound * (32 * 8));
        let left = left.expect("it fits").get();
        assert!(left.abs_diff(bound.get() * 32) < 32 * 8 * 2, "{left}");
    }
}
