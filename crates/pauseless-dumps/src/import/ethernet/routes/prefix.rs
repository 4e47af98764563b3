//! IP prefixes, as routes are made for.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// A block of addresses, such as `10.0.0.0/8`; bits beyond its length are zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Prefix {
    family: Family,
    /// The address, its first bit the highest.
    bits: u128,
    length: u8,
}

/// The version of IP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Family {
    /// IPv4, with 32 bits.
    V4,
    /// IPv6, with 128 bits.
    V6,
}

impl Family {
    /// How many bits an address has.
    pub fn width(self) -> u8 {
        match self {
            Family::V4 => 32,
            Family::V6 => 128,
        }
    }

    /// The version that an address is of.
    pub fn of(address: IpAddr) -> Family {
        match address {
            IpAddr::V4(_) => Family::V4,
            IpAddr::V6(_) => Family::V6,
        }
    }
}

impl Prefix {
    /// The block of this length that an address lies in; `None` if it is too long.
    pub fn new(address: IpAddr, length: u8) -> Option<Prefix> {
        let family = Family::of(address);
        let bits = match address {
            IpAddr::V4(address) => u128::from(address.to_bits()) << 96,
            IpAddr::V6(address) => address.to_bits(),
        };
        (length <= family.width()).then(|| Prefix { family, bits: bits & mask(length), length })
    }

    /// The block of one address.
    pub fn single(address: IpAddr) -> Prefix {
        let width = Family::of(address).width();
        Prefix::new(address, width).expect("an address has the width of its family")
    }

    /// All addresses of a version: what a default route is for.
    pub fn everything(family: Family) -> Prefix {
        Prefix { family, bits: 0, length: 0 }
    }

    /// Reads `10.0.0.0/8`, or an address alone.
    pub fn parse(text: &str) -> Option<Prefix> {
        let (address, length) = match text.split_once('/') {
            Some((address, length)) => (address, Some(length)),
            None => (text, None),
        };
        let address = address.parse().ok()?;
        match length {
            Some(length) => Prefix::new(address, length.parse().ok()?),
            None => Some(Prefix::single(address)),
        }
    }

    /// The version of IP.
    pub fn family(self) -> Family {
        self.family
    }

    /// How many bits all its addresses have in common.
    pub fn length(self) -> u8 {
        self.length
    }

    /// Whether it is a single address.
    pub fn is_single(self) -> bool {
        self.length == self.family.width()
    }

    /// Whether all addresses of `other` are in it.
    pub fn covers(self, other: Prefix) -> bool {
        self.family == other.family
            && self.length <= other.length
            && self.bits == other.bits & mask(self.length)
    }

    /// The block of this length around it; itself where it is as long or shorter.
    pub fn shortened(self, length: u8) -> Prefix {
        let length = length.min(self.length);
        Prefix { bits: self.bits & mask(length), length, ..self }
    }

    /// Whether it is for the addresses of one link only, or for multicast.
    pub fn is_local(self) -> bool {
        let ranges: &[&str] = match self.family {
            Family::V4 => &["127.0.0.0/8", "169.254.0.0/16", "224.0.0.0/4"],
            Family::V6 => &["fe80::/10", "ff00::/8", "::1/128"],
        };
        ranges.iter().filter_map(|range| Prefix::parse(range)).any(|range| range.covers(self))
    }
}

impl fmt::Display for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let address = match self.family {
            Family::V4 => IpAddr::V4(Ipv4Addr::from_bits((self.bits >> 96) as u32)),
            Family::V6 => IpAddr::V6(Ipv6Addr::from_bits(self.bits)),
        };
        write!(f, "{address}/{}", self.length)
    }
}

/// The first `length` bits.
fn mask(length: u8) -> u128 {
    u128::MAX.checked_shl(128 - u32::from(length)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prefix(text: &str) -> Prefix {
        Prefix::parse(text).unwrap_or_else(|| panic!("{text}"))
    }

    #[test]
    fn prefixes_are_read_and_written() {
        let table = [
            ("10.0.0.0/8", "10.0.0.0/8"),
            ("192.168.0.4/24", "192.168.0.0/24"),
            ("10.1.0.1", "10.1.0.1/32"),
            ("0.0.0.0/0", "0.0.0.0/0"),
            ("::/0", "::/0"),
            ("fc00::1/126", "fc00::/126"),
            ("2064:100::1", "2064:100::1/128"),
        ];
        for (text, expected) in table {
            assert_eq!(prefix(text).to_string(), expected);
        }
        for text in ["", "default", "10.0.0.0/33", "::/129", "10.0.0/8", "10.0.0.0/", "1.2.3.4/-1"]
        {
            assert_eq!(Prefix::parse(text), None, "{text}");
        }
    }

    #[test]
    fn blocks_cover_blocks() {
        let table = [
            ("10.0.0.0/8", "10.255.0.0/16", true),
            ("10.0.0.0/8", "10.0.0.0/8", true),
            ("10.0.0.0/8", "0.0.0.0/0", false),
            ("10.0.0.0/8", "11.0.0.0/16", false),
            ("0.0.0.0/0", "1.2.3.4", true),
            ("0.0.0.0/0", "::1", false),
            ("::/0", "::1", true),
        ];
        for (outer, inner, expected) in table {
            assert_eq!(prefix(outer).covers(prefix(inner)), expected, "{outer} {inner}");
        }
        assert_eq!(prefix("10.1.2.3").shortened(16), prefix("10.1.0.0/16"));
        assert!(prefix("fe80::1").is_local() && !prefix("10.0.0.0/8").is_local());
    }
}
