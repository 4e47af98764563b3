//! Switches in a row or in a circle.

use pauseless_core::id::NodeId;

use super::size::{FIELD_MAX, HOSTS_MAX, product, sum};
use super::{Numbers, Shape, Size, SizeError, Wiring};

/// Switches S1.. in a circle. The host of S1 is H1; if there are several they are H1a, H1b..
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ring {
    /// The switches of the circle; at least three.
    pub switches: u32,
    /// The hosts of each switch; at least one.
    pub hosts_per_switch: u32,
}

/// Switches S1.. in a row, with hosts named as those of a ring.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Line {
    /// The switches of the row; at least one.
    pub switches: u32,
    /// The hosts of each switch; at least one.
    pub hosts_per_switch: u32,
}

/// Hosts X1.. on SW0, hosts Y1.. on SW1, and one link between the two.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dumbbell {
    /// The hosts on SW0; at least one.
    pub left: u32,
    /// The hosts on SW1; at least one.
    pub right: u32,
}

/// Hosts H1.. and the sink R on the switch S1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NToOne {
    /// The hosts beside the sink; at least one.
    pub senders: u32,
}

/// Switches X0.. in a row of `links` links, which A0 to B0 crosses from end to end while each of
/// A1 to B1, A2 to B2.. crosses one: Ai is on the switch before link i, Bi behind it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ParkingLot {
    /// The links of the row; at least one.
    pub links: u32,
}

impl Shape for Ring {
    fn size(&self) -> Size {
        chain_size(self.switches, self.hosts_per_switch, self.switches)
    }

    fn check(&self) -> Result<(), SizeError> {
        let ring = Numbers("a ring");
        ring.within("switches", self.switches, 3..=FIELD_MAX)?;
        ring.positive(&[("hosts_per_switch", self.hosts_per_switch)])
    }

    fn draw(&self, wiring: &mut Wiring) {
        let chain = wiring.chain(self.switches, self.hosts_per_switch);
        wiring.link(chain[chain.len() - 1], chain[0]);
    }
}

impl Shape for Line {
    fn size(&self) -> Size {
        let links = self.switches.saturating_sub(1);
        chain_size(self.switches, self.hosts_per_switch, links)
    }

    fn check(&self) -> Result<(), SizeError> {
        Numbers("a line")
            .positive(&[("switches", self.switches), ("hosts_per_switch", self.hosts_per_switch)])
    }

    fn draw(&self, wiring: &mut Wiring) {
        wiring.chain(self.switches, self.hosts_per_switch);
    }
}

impl Shape for Dumbbell {
    fn size(&self) -> Size {
        let hosts = sum([self.left.into(), self.right.into()]);
        Size {
            hosts,
            switches: 2,
            links: hosts + 1,
            ports: u64::from(self.left.max(self.right)) + 1,
        }
    }

    fn check(&self) -> Result<(), SizeError> {
        let dumbbell = Numbers("a dumbbell");
        dumbbell.within("left", self.left, 1..=HOSTS_MAX)?;
        dumbbell.within("right", self.right, 1..=HOSTS_MAX)
    }

    fn draw(&self, wiring: &mut Wiring) {
        let ends = wiring.row(1, 2, |n| format!("SW{n}"));
        for (switch, prefix, count) in [(ends[0], "X", self.left), (ends[1], "Y", self.right)] {
            for n in 1..=count {
                wiring.attach(switch, format!("{prefix}{n}"));
            }
        }
        wiring.join(&ends);
    }
}

impl Shape for NToOne {
    fn size(&self) -> Size {
        let hosts = u64::from(self.senders) + 1;
        Size { hosts, switches: 1, links: hosts, ports: hosts }
    }

    fn check(&self) -> Result<(), SizeError> {
        Numbers("n to 1").within("senders", self.senders, 1..=HOSTS_MAX)
    }

    fn draw(&self, wiring: &mut Wiring) {
        let switch = wiring.nodes.add_switch("S1");
        for n in 1..=self.senders {
            wiring.attach(switch, format!("H{n}"));
        }
        wiring.attach(switch, "R".to_string());
    }
}

impl Shape for ParkingLot {
    fn size(&self) -> Size {
        let links = u64::from(self.links);
        Size {
            hosts: 2 * links + 2,
            switches: links + 1,
            links: 3 * links + 2,
            // A switch in the middle has two hosts, and a lone pair two hosts each.
            ports: if links < 2 { 3 } else { 4 },
        }
    }

    fn check(&self) -> Result<(), SizeError> {
        Numbers("a parking lot").positive(&[("links", self.links)])
    }

    //= pcn20 B.3
    fn draw(&self, wiring: &mut Wiring) {
        let chain = wiring.row(1, self.links + 1, |n| format!("X{n}"));
        wiring.attach(chain[0], "A0".to_string());
        wiring.attach(chain[chain.len() - 1], "B0".to_string());
        for (number, pair) in (1..).zip(chain.windows(2)) {
            wiring.attach(pair[0], format!("A{number}"));
            wiring.attach(pair[1], format!("B{number}"));
        }
        wiring.join(&chain);
    }
}

impl Wiring {
    fn chain(&mut self, switches: u32, hosts_per_switch: u32) -> Vec<NodeId> {
        let chain = self.row(1, switches, |n| format!("S{}", n + 1));
        for (n, &switch) in (1..).zip(&chain) {
            for host in 0..hosts_per_switch {
                let name = match hosts_per_switch {
                    1 => format!("H{n}"),
                    _ => format!("H{n}{}", letters(host)),
                };
                self.attach(switch, name);
            }
        }
        self.join(&chain);
        chain
    }

    /// Adds a link from each switch to the next.
    fn join(&mut self, chain: &[NodeId]) {
        for pair in chain.windows(2) {
            self.link(pair[0], pair[1]);
        }
    }
}

fn chain_size(switches: u32, hosts_per_switch: u32, links: u32) -> Size {
    let hosts = product([switches, hosts_per_switch]);
    Size {
        hosts,
        switches: switches.into(),
        links: sum([hosts, links.into()]),
        ports: u64::from(hosts_per_switch) + u64::from(links.min(2)),
    }
}

/// a, b, .. z, aa, ab, ..
fn letters(mut n: u32) -> String {
    let mut name = Vec::new();
    loop {
        name.push(b'a' + (n % 26) as u8);
        if n < 26 {
            break;
        }
        n = n / 26 - 1;
    }
    name.into_iter().rev().map(char::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_go_on_after_z() {
        let cases = [(0, "a"), (25, "z"), (26, "aa"), (27, "ab"), (701, "zz"), (702, "aaa")];
        for (n, expected) in cases {
            assert_eq!(letters(n), expected);
        }
    }
}
