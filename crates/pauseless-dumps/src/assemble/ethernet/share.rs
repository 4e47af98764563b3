//! Next hops with weights as sets of ports, in which one with a larger share stands more often.

use std::collections::BTreeMap;

use pauseless_core::id::PortId;

/// The ports of all next hops, each of which has its ports and its weight: the ports of one share
/// its weight evenly.
pub(super) fn ports(hops: &[(Vec<PortId>, u32)]) -> Vec<PortId> {
    let common = hops.iter().fold(1, |common, (ports, _)| lcm(common, ports.len() as u64));
    let mut shares: BTreeMap<PortId, u64> = BTreeMap::new();
    for (ports, weight) in hops {
        for port in ports {
            *shares.entry(*port).or_default() +=
                u64::from(*weight).saturating_mul(common / ports.len() as u64);
        }
    }
    let divisor = shares.values().fold(0, |divisor, share| gcd(divisor, *share)).max(1);
    let total: u64 = shares.values().map(|share| share / divisor).sum();
    let scale = |share: u64| match total {
        0..=PLACES_MAX => share / divisor,
        _ => {
            (u128::from(share / divisor) * u128::from(PLACES_MAX) / u128::from(total)).max(1) as u64
        }
    };
    let places = shares.iter().map(|(port, share)| (*port, scale(*share)));
    places.flat_map(|(port, count)| (0..count).map(move |_| port)).collect()
}

fn lcm(a: u64, b: u64) -> u64 {
    (a / gcd(a, b)).saturating_mul(b).min(1 << 32)
}

fn gcd(a: u64, b: u64) -> u64 {
    match b {
        0 => a,
        _ => gcd(b, a % b),
    }
}

/// The most places of a set; finer shares are rounded.
const PLACES_MAX: u64 = 128;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_places() {
        let hop = |list: &[u16], weight: u32| (list.iter().map(|p| PortId(*p)).collect(), weight);
        let table = [
            (vec![hop(&[1], 1), hop(&[2], 1)], vec![1, 2]),
            (vec![hop(&[2, 1], 5), hop(&[3, 4], 5)], vec![1, 2, 3, 4]),
            (vec![hop(&[1], 3), hop(&[2], 1)], vec![1, 1, 1, 2]),
            // A port channel of two beside a single port of the same weight.
            (vec![hop(&[1, 2], 1), hop(&[3], 1)], vec![1, 2, 3, 3]),
            (vec![hop(&[7], 255)], vec![7]),
        ];
        for (hops, expected) in table {
            let expected = expected.into_iter().map(PortId).collect::<Vec<_>>();
            assert_eq!(ports(&hops), expected);
        }
        let many = ports(&[hop(&[1], 65_535), hop(&[2], 1)]);
        assert!(many.len() <= 129 && many.contains(&PortId(2)));
    }
}
