//! Switches in a row or in a circle.

use pauseless_core::id::NodeId;

use super::Wiring;

impl Wiring {
    pub(super) fn ring(&mut self, switches: u32, hosts_per_switch: u32) {
        let chain = self.chain(switches, hosts_per_switch);
        self.link(chain[chain.len() - 1], chain[0]);
    }

    pub(super) fn chain(&mut self, switches: u32, hosts_per_switch: u32) -> Vec<NodeId> {
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

    pub(super) fn dumbbell(&mut self, left: u32, right: u32) {
        let ends = self.row(1, 2, |n| format!("SW{n}"));
        for (switch, prefix, count) in [(ends[0], "X", left), (ends[1], "Y", right)] {
            for n in 1..=count {
                self.attach(switch, format!("{prefix}{n}"));
            }
        }
        self.join(&ends);
    }

    pub(super) fn n_to_one(&mut self, senders: u32) {
        let switch = self.nodes.add_switch("S1");
        for n in 1..=senders {
            self.attach(switch, format!("H{n}"));
        }
        self.attach(switch, "R".to_string());
    }

    //= pcn20 B.3
    pub(super) fn parking_lot(&mut self, links: u32) {
        let chain = self.row(1, links + 1, |n| format!("X{n}"));
        self.attach(chain[0], "A0".to_string());
        self.attach(chain[chain.len() - 1], "B0".to_string());
        for (number, pair) in (1..).zip(chain.windows(2)) {
            self.attach(pair[0], format!("A{number}"));
            self.attach(pair[1], format!("B{number}"));
        }
        self.join(&chain);
    }

    /// A link from each switch to the next.
    fn join(&mut self, chain: &[NodeId]) {
        for pair in chain.windows(2) {
            self.link(pair[0], pair[1]);
        }
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
        let cases = [
            (0, "a"),
            (25, "z"),
            (26, "aa"),
            (27, "ab"),
            (701, "zz"),
            (702, "aaa"),
        ];
        for (n, expected) in cases {
            assert_eq!(letters(n), expected);
        }
    }
}
