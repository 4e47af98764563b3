//! Time as that simulator reckons it: whole nanoseconds out of doubles and 64.64 fixed point.

/// Seconds in whole nanoseconds: cut to a multiple of 2^-64, then times 10^9, then cut again.
pub fn seconds(value: f64) -> u64 {
    scaled(value, 1_000_000_000)
}

/// `value` units of so many nanoseconds.
pub fn scaled(value: f64, unit: u64) -> u64 {
    const TWO_64: f64 = 18_446_744_073_709_551_616.0;
    if (0.0..1.0).contains(&value) {
        // The usual case, without a call to round.
        return ((u128::from((value * TWO_64) as u64) * u128::from(unit)) >> 64) as u64;
    }
    let whole = value.floor();
    let rest = ((value - whole) * TWO_64) as u64;
    let rest = (u128::from(rest) * u128::from(unit)) >> 64;
    // A rate of nothing takes for ever.
    (whole as u64).saturating_mul(unit).saturating_add(rest as u64)
}

/// How long so many bytes take.
pub fn sending(bytes: u32, rate: u64) -> u64 {
    seconds(f64::from(bytes) * 8.0 / rate as f64)
}
