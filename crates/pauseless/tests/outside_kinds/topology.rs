//! A hub: switches around one in the middle.

use pauseless_fabric::generate::{Numbers, Shape, Size, SizeError, Wiring};
use pauseless_text::section;

/// Switches S0.. with hosts, each joined to the hub C0.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Hub {
    spokes: u32,
    hosts_per_spoke: u32,
}

impl Shape for Hub {
    fn size(&self) -> Size {
        let hosts = u64::from(self.spokes) * u64::from(self.hosts_per_spoke);
        Size {
            hosts,
            switches: u64::from(self.spokes) + 1,
            links: hosts + u64::from(self.spokes),
            ports: u64::from(self.spokes.max(self.hosts_per_spoke + 1)),
        }
    }

    fn check(&self) -> Result<(), SizeError> {
        let hub = Numbers("a hub");
        hub.within("spokes", self.spokes, 2..=64)?;
        hub.within("hosts_per_spoke", self.hosts_per_spoke, 1..=64)
    }

    fn draw(&self, wiring: &mut Wiring) {
        let spokes = wiring.row(1, self.spokes, |n| format!("S{n}"));
        let hub = wiring.row(2, 1, |n| format!("C{n}"));
        wiring.attach_all(&spokes, self.hosts_per_spoke);
        wiring.join_all(&spokes, &hub, 1);
    }
}

section! {
    /// Switches `S0`.. around the hub `C0`, with hosts `H0`..
    pub struct HubKeys for Hub = Hub { hosts_per_spoke: 1, ..Hub::default() }, {
        /// How many switches surround the hub.
        spokes: u32, required "a whole number";
        /// How many hosts each of them has.
        hosts_per_spoke: u32;
    }
}
