//! The rates that a perfectly fair network would give: max-min fairness by progressive filling.
//!
//! All flows grow together; a flow stops when a link on its path is full or its demand is met,
//! and the others grow on.

use std::borrow::Borrow;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use pauseless_core::id::{NodeId, PortId};
use pauseless_core::unit::Rate;

/// A flow that wants as much as it can get, up to its demand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FairFlow {
    /// The egress ports that it passes, at least one. A port that it passes twice counts twice.
    pub path: Vec<(NodeId, PortId)>,
    /// The most that it sends; `None` for a flow that is always backlogged.
    pub demand: Option<Rate>,
}

/// What a perfectly fair network would give to a flow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FairShare {
    /// The max-min fair rate in bit/s.
    pub bps: f64,
    /// The egress port on its path that is full then; `None` for a flow whose demand is met.
    pub bottleneck: Option<(NodeId, PortId)>,
}

/// The max-min fair rate of each flow in bit/s, with the capacity of every egress port given.
pub fn max_min_rates(flows: &[FairFlow], capacity: impl Fn(NodeId, PortId) -> Rate) -> Vec<f64> {
    max_min(flows, capacity).into_iter().map(|share| share.bps).collect()
}

/// The max-min fair share of each flow, with the capacity of every egress port given.
///
/// The cost is that of sorting all hops of all flows.
pub fn max_min<F: Borrow<FairFlow>>(
    flows: &[F],
    capacity: impl Fn(NodeId, PortId) -> Rate,
) -> Vec<FairShare> {
    let mut filling = Filling::new(flows, capacity);
    let mut demands: Vec<(u64, usize)> = (0..flows.len())
        .filter_map(|flow| flows[flow].borrow().demand.map(|demand| (demand.as_bps(), flow)))
        .collect();
    demands.sort_unstable_by(|a, b| b.cmp(a));
    while let Some((share, link)) = filling.next_full_link() {
        match demands.last() {
            Some(&(demand, flow)) if demand as f64 <= share => {
                demands.pop();
                filling.stop(flow, FairShare { bps: demand as f64, bottleneck: None });
            }
            _ => filling.fill(link, share),
        }
    }
    filling.shares.into_iter().map(|share| share.expect("every flow has stopped")).collect()
}

/// The state between two steps: some flows have stopped, the others still grow together.
struct Filling {
    links: Vec<LinkState>,
    /// The links that each flow passes.
    flow_links: Vec<Vec<usize>>,
    shares: Vec<Option<FairShare>>,
    /// Links by the rate at which they fill up. An entry may be too low, since a link takes longer
    /// to fill with each flow that stops elsewhere, but never too high.
    filling_up: BinaryHeap<Reverse<(ShareKey, usize)>>,
}

/// The remaining capacity of a directed link.
struct LinkState {
    port: (NodeId, PortId),
    /// The capacity less the rates of the flows that have stopped.
    left: f64,
    /// How often growing flows pass the link.
    growing: usize,
    flows: Vec<usize>,
}

/// The bits of a share, which are in the order of the shares, since none is negative.
type ShareKey = u64;

impl Filling {
    fn new<F: Borrow<FairFlow>>(flows: &[F], capacity: impl Fn(NodeId, PortId) -> Rate) -> Filling {
        let mut numbers = BTreeMap::new();
        let mut links: Vec<LinkState> = Vec::new();
        let mut flow_links = Vec::with_capacity(flows.len());
        for (flow, fair) in flows.iter().map(Borrow::borrow).enumerate() {
            assert!(!fair.path.is_empty(), "flow {flow} passes no link");
            let mut passed = Vec::with_capacity(fair.path.len());
            for &(node, port) in &fair.path {
                let link = *numbers.entry((node, port)).or_insert_with(|| {
                    let left = capacity(node, port).as_bps() as f64;
                    let port = (node, port);
                    links.push(LinkState { port, left, growing: 0, flows: Vec::new() });
                    links.len() - 1
                });
                links[link].growing += 1;
                links[link].flows.push(flow);
                passed.push(link);
            }
            flow_links.push(passed);
        }
        let shares = links.iter().enumerate();
        let filling_up = shares.map(|(n, link)| Reverse((link.share().to_bits(), n))).collect();
        Filling { shares: vec![None; flows.len()], links, flow_links, filling_up }
    }

    /// The link that fills up next, and the rate at which it does; `None` when no flow grows.
    fn next_full_link(&mut self) -> Option<(f64, usize)> {
        loop {
            let Reverse((recorded, link)) = *self.filling_up.peek()?;
            let state = &self.links[link];
            if state.growing == 0 {
                self.filling_up.pop();
                continue;
            }
            let share = state.share();
            if share.to_bits() <= recorded {
                return Some((share, link));
            }
            self.filling_up.pop();
            self.filling_up.push(Reverse((share.to_bits(), link)));
        }
    }

    /// Stops every flow that still grows on a link which has become full.
    fn fill(&mut self, link: usize, share: f64) {
        let share = FairShare { bps: share, bottleneck: Some(self.links[link].port) };
        for flow in std::mem::take(&mut self.links[link].flows) {
            self.stop(flow, share);
        }
    }

    fn stop(&mut self, flow: usize, share: FairShare) {
        if self.shares[flow].is_some() {
            return;
        }
        self.shares[flow] = Some(share);
        for &link in &self.flow_links[flow] {
            let state = &mut self.links[link];
            // Rounding may leave a full link slightly below zero.
            state.left = (state.left - share.bps).max(0.0);
            state.growing -= 1;
        }
    }
}

impl LinkState {
    /// The rate of the growing flows at which they fill the link.
    fn share(&self) -> f64 {
        self.left / self.growing as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builder::TopologyBuilder;
    use crate::generate::{FatTree, LinkSpecs, NToOne, Ring, Shape};
    use crate::topology::{LinkSpec, Topology};
    use pauseless_core::unit::Span;
    use proptest::prelude::*;

    const G: f64 = 1e9;

    fn links(gbps: u64) -> LinkSpecs {
        LinkSpecs::same(LinkSpec { rate: Rate::gbps(gbps), delay: Span::us(1) })
    }

    /// A flow along the named nodes.
    fn along(topology: &Topology, path: &str) -> FairFlow {
        let hops: Vec<&str> = path.split(' ').collect();
        let ports = hops.windows(2).map(|hop| format!("{}:{}", hop[0], hop[1]));
        let path = ports.map(|port| topology.port_named(&port).unwrap()).collect();
        FairFlow { path, demand: None }
    }

    fn rates(topology: &Topology, flows: &[FairFlow]) -> Vec<f64> {
        max_min_rates(flows, |node, port| topology.port(node, port).rate)
    }

    /// The ring is that of gfc19 Fig. 1.
    #[test]
    fn each_flow_of_the_ring_gets_half_a_link() {
        let ring = Ring { switches: 3, hosts_per_switch: 1 }.build(links(10)).unwrap();
        let flows = ["H1 S1 S2 S3 H3", "H2 S2 S3 S1 H1", "H3 S3 S1 S2 H2"];
        let flows = flows.map(|path| along(&ring, path));
        assert_eq!(rates(&ring, &flows), [5.0 * G; 3]);
    }

    //= gfc19 fig 11 type=test
    #[test]
    fn each_flow_of_the_fat_tree_gets_half_a_link() {
        let tree = FatTree { k: 4 }.build(links(10)).unwrap();
        let flows = [
            "H0 E1 A1 C1 A3 C2 A5 E5 H8",
            "H4 E3 A3 C2 A7 E7 H12",
            "H9 E5 A5 C2 A7 C1 A1 E1 H1",
            "H13 E7 A7 C1 A3 E3 H5",
            "H4 E3 H5",
        ];
        let flows = flows.map(|path| along(&tree, path));
        assert_eq!(rates(&tree, &flows), [5.0 * G; 5]);
    }

    /// PCN's parking lot, with `crossing` hosts instead of one at each link of the row.
    fn parking_lot(crossing: &[usize]) -> (Topology, Vec<FairFlow>) {
        let spec = links(40).host;
        let mut builder = TopologyBuilder::new();
        let row: Vec<NodeId> =
            (0..=crossing.len()).map(|n| builder.add_switch(format!("X{n}"))).collect();
        let mut attach = |name: String, at: usize| {
            let host = builder.add_host(name);
            builder.connect(row[at], host, spec);
        };
        attach("A0".into(), 0);
        attach("B0".into(), crossing.len());
        let mut paths = vec!["A0".to_string()];
        paths[0].extend((0..=crossing.len()).map(|n| format!(" X{n}")));
        paths[0] += " B0";
        for (link, &count) in crossing.iter().enumerate() {
            for n in 0..count {
                attach(format!("A{link}.{n}"), link);
                attach(format!("B{link}.{n}"), link + 1);
                paths.push(format!("A{link}.{n} X{link} X{} B{link}.{n}", link + 1));
            }
        }
        for pair in row.windows(2) {
            builder.connect(pair[0], pair[1], spec);
        }
        let topology = builder.build().unwrap();
        let flows = paths.iter().map(|path| along(&topology, path)).collect();
        (topology, flows)
    }

    #[test]
    fn the_long_flow_of_the_parking_lot_is_bound_by_its_busiest_link() {
        // In PCN's one flow crosses each link, so all share in halves whatever the length.
        for length in [2, 4, 10] {
            let (topology, flows) = parking_lot(&vec![1; length]);
            assert_eq!(rates(&topology, &flows), vec![20.0 * G; length + 1]);
        }
        // Three cross the second link: the long one gets 10, and those elsewhere what it leaves.
        let (topology, flows) = parking_lot(&[1, 3, 2]);
        let expected = [10.0, 30.0, 10.0, 10.0, 10.0, 15.0, 15.0].map(|gbps| gbps * G);
        assert_eq!(rates(&topology, &flows), expected);
    }

    #[test]
    fn what_a_flow_does_not_ask_for_goes_to_the_others() {
        let star = NToOne { senders: 3 }.build(links(10)).unwrap();
        let flows = |demands: [Option<u64>; 3]| {
            let flow = |n: usize| FairFlow {
                demand: demands[n].map(Rate::gbps),
                ..along(&star, &format!("H{} S1 R", n + 1))
            };
            [flow(0), flow(1), flow(2)]
        };
        let cases = [
            ([Some(2), None, None], [2.0, 4.0, 4.0]),
            ([Some(2), Some(3), None], [2.0, 3.0, 5.0]),
            ([Some(1), Some(1), Some(1)], [1.0, 1.0, 1.0]),
            ([Some(8), Some(1), Some(9)], [4.5, 1.0, 4.5]),
            ([Some(5), None, Some(1)], [4.5, 4.5, 1.0]),
        ];
        for (demands, expected) in cases {
            assert_eq!(rates(&star, &flows(demands)), expected.map(|gbps| gbps * G), "{demands:?}");
        }
    }

    #[test]
    fn a_link_passed_twice_is_paid_twice() {
        let hop = (NodeId(0), PortId(0));
        let flow = FairFlow { path: vec![hop, hop], demand: None };
        let once = FairFlow { path: vec![hop], demand: None };
        assert_eq!(max_min_rates(&[flow, once], |_, _| Rate::bps(30)), [10.0, 10.0]);
        assert_eq!(max_min_rates(&[], |_, _| Rate::bps(1)), [0.0; 0]);
    }

    /// Capacities of some links, and flows over any of them, with or without a demand.
    fn problem() -> impl Strategy<Value = (Vec<u64>, Vec<FairFlow>)> {
        prop::collection::vec(1..1_000u64, 1..8).prop_flat_map(|capacities| {
            let hops =
                prop::collection::btree_set(0..capacities.len() as u32, 1..=capacities.len());
            let flow = (hops, prop::option::of(1..500u64)).prop_map(|(hops, demand)| FairFlow {
                path: hops.into_iter().map(|link| (NodeId(link), PortId(0))).collect(),
                demand: demand.map(Rate::mbps),
            });
            (Just(capacities), prop::collection::vec(flow, 0..12))
        })
    }

    proptest! {
        /// The definition: no link carries too much, and who does not get what it asks for passes
        /// a full link on which nobody gets more.
        #[test]
        fn every_flow_has_its_demand_or_a_bottleneck((capacities, flows) in problem()) {
            let capacity = |node: NodeId, _| Rate::mbps(capacities[node.index()]);
            let rates = max_min_rates(&flows, capacity);
            prop_assert_eq!(rates.len(), flows.len());
            let on = |link: u32| {
                let hop = (NodeId(link), PortId(0));
                rates.iter().zip(&flows).filter(move |(_, flow)| flow.path.contains(&hop)).map(|(rate, _)| *rate)
            };
            let full: Vec<f64> = capacities.iter().map(|mbps| *mbps as f64 * 1e6).collect();
            for (link, full) in (0..).zip(&full) {
                prop_assert!(on(link).sum::<f64>() <= full * (1.0 + 1e-9));
            }
            for (rate, flow) in rates.iter().zip(&flows) {
                let demand = flow.demand.map_or(f64::INFINITY, |demand| demand.as_bps() as f64);
                prop_assert!(*rate > 0.0 && *rate <= demand);
                let bottleneck = flow.path.iter().any(|(node, _)| {
                    let used: f64 = on(node.0).sum();
                    let largest = on(node.0).fold(0.0, f64::max);
                    used >= full[node.index()] * (1.0 - 1e-9) && *rate >= largest * (1.0 - 1e-9)
                });
                prop_assert!(*rate == demand || bottleneck, "{} of {:?}", rate, rates);
            }
        }
    }
}
