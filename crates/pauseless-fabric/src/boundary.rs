//! The boundary state of a routing loop: how fast a flow may enter it before its links are full.
//!
//! The paper's bound balances sums: r TTL = n B, so that r = n B / TTL. It lets packets be spread
//! evenly over the loop. The exact bound looks at the link that is used most.
//!
//! A packet that its source sends with a TTL of T is decremented on arrival at each switch and
//! dropped at zero, so T - 1 switches take it in, and each of them sends it on. If l of them lie
//! before the loop, m = T - 1 - l lie in it, counted with every visit. The switch at which packets
//! enter the loop is visited first, the one after it second, and so on; so the i-th link of the loop
//! (from 0) carries every packet ceil((m - i) / n) times, and the first link the most often. Nothing
//! else is in the way: while r ceil((m - i) / n) stays below the rate of link i for all i, every
//! queue drains; above it the queue before that link grows for ever, until flow control has filled
//! the loop. With equal links and a source at the loop itself that is B / ceil((T - 1) / n): the
//! paper's bound if n divides T, more if T leaves 1 when divided by n, and less otherwise.

use pauseless_core::unit::Rate;

use crate::topology::Topology;
use crate::trace::Circle;

/// How often a packet that starts with `ttl` passes each link of its circle.
pub fn passes(circle: &Circle, ttl: u16) -> Vec<u64> {
    let n = circle.round.len();
    // The first hop is that of the source host, which does not decrement the TTL.
    let before = circle.lead.len() - 1;
    let inside = usize::from(ttl).saturating_sub(1 + before);
    let passes = |link: usize| inside.saturating_sub(link).div_ceil(n) as u64;
    (0..n).map(passes).collect()
}

/// The rate at which a flow that enters a routing loop fills it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Boundary {
    /// n, the number of switches of the loop.
    pub switches: usize,
    /// The TTL that packets start with.
    pub ttl: u16,
    /// B, the rate of the slowest link of the loop.
    pub slowest: Rate,
    /// How often a packet passes the link that it passes most often.
    pub passes: u64,
    /// The paper's bound n B / TTL, in bit/s.
    pub paper_bps: f64,
    /// The rate above which some link of the loop is overloaded, in bit/s; infinite if packets
    /// expire before the loop.
    pub exact_bps: f64,
}

impl Boundary {
    /// The bounds for packets that take the path of `circle` and start with `ttl`.
    pub fn new(topology: &Topology, circle: &Circle, ttl: u16) -> Boundary {
        let n = circle.round.len();
        let rates = circle.round.iter().map(|(node, port)| topology.port(*node, *port).rate);
        let rates = Vec::from_iter(rates);
        let slowest = rates.iter().copied().min().expect("a loop has links");
        let passes = passes(circle, ttl);
        let bound = |(rate, passes): (&Rate, &u64)| match *passes {
            0 => f64::INFINITY,
            passes => rate.as_bps() as f64 / passes as f64,
        };
        let exact = rates.iter().zip(&passes).map(bound);
        Boundary {
            switches: n,
            ttl,
            slowest,
            passes: passes[0],
            //= hn16 3.1 boundary
            paper_bps: n as f64 * slowest.as_bps() as f64 / f64::from(ttl),
            exact_bps: exact.fold(f64::INFINITY, f64::min),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::{LinkSpecs, Ring, Shape};
    use crate::path::Step;
    use crate::routing::{Multipath, RouteBuilder};
    use crate::topology::LinkSpec;
    use crate::trace::{Header, circle};
    use pauseless_core::unit::Span;

    /// A loop through all switches of a ring of `n`, entered behind `lead` of them.
    fn bounds(n: u32, lead: usize, ttl: u16) -> Boundary {
        let spec = LinkSpec { rate: Rate::gbps(40), delay: Span::us(1) };
        let shape = Ring { switches: n.max(3), hosts_per_switch: 1 };
        let topology = shape.build(LinkSpecs::same(spec)).unwrap();
        let step = |name: String| Step::from(topology.node_named(&name).unwrap());
        let way = (1..=n).map(|number| step(format!("S{number}")));
        let (way, source) = (Vec::from_iter(way), step("H1".to_string()));
        let mut builder = RouteBuilder::new(&topology, Multipath::Ecmp);
        let (before, round) = way.split_at(lead);
        let before = [&[source], before].concat();
        let target = step("H2".to_string()).node;
        let group = builder.add_loop(&before, round, target).unwrap();
        let header = Header { source: source.node, group, hash: 0 };
        let circle = circle(&topology, &builder.build().table, header).unwrap();
        Boundary::new(&topology, &circle, ttl)
    }

    //= hn16 3.1 boundary type=test
    #[test]
    fn the_paper_and_the_exact_bound_agree_where_the_loop_divides_the_ttl() {
        // n, TTL, nB/TTL and B/ceil((TTL-1)/n) in Gb/s.
        for (n, ttl, paper, exact) in [
            (2, 16, 5.0, 5.0),
            (2, 8, 10.0, 10.0),
            (3, 15, 8.0, 8.0),
            (4, 16, 10.0, 10.0),
            (3, 16, 7.5, 8.0),
            (2, 15, 80.0 / 15.0, 40.0 / 7.0),
            (4, 15, 160.0 / 15.0, 10.0),
            (2, 1, 80.0, f64::INFINITY),
        ] {
            let bounds = bounds(n, 0, ttl);
            assert_eq!(bounds.switches, n as usize);
            assert!((bounds.paper_bps / 1e9 - paper).abs() < 1e-9, "{bounds:?}");
            assert_eq!(bounds.exact_bps, exact * 1e9, "{bounds:?}");
        }
    }

    #[test]
    fn switches_before_the_loop_use_up_the_ttl() {
        // Two switches before a loop of two: 13 of 16 hops are left for it.
        let bounds = bounds(4, 2, 16);
        assert_eq!((bounds.switches, bounds.passes), (2, 7));
        assert_eq!(bounds.exact_bps, 40e9 / 7.0);
    }
}
