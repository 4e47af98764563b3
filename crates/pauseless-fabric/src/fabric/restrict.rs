//! Looking at a part of the traffic only.

use crate::dependency::{Demand, Lane, Traffic};
use pauseless_core::id::NodeId;

use super::Fabric;
use crate::pattern::matches;

impl Fabric {
    /// The end nodes that any of `leave_out` names, or that none of `only` names if there are
    /// such, in order. A name that no end node has is refused, and so is what leaves no traffic.
    pub fn left_out(&self, leave_out: &[String], only: &[String]) -> Result<Vec<NodeId>, String> {
        let dropped = self.end_nodes(leave_out)?;
        let kept = self.end_nodes(only)?;
        let is_out = |host: &NodeId| {
            dropped.binary_search(host).is_ok()
                || (!only.is_empty() && kept.binary_search(host).is_err())
        };
        let out = Vec::from_iter(self.topology.hosts().iter().copied().filter(is_out));
        if !out.is_empty() && !self.has_traffic_without(&out) {
            let (all, out) = (self.topology.hosts().len(), out.len());
            return Err(format!(
                "nothing is left to check: with {out} of {all} end nodes left out nobody sends to \
                 anybody; leave out fewer"
            ));
        }
        Ok(out)
    }

    /// Whether somebody sends to somebody if these end nodes, in order, are left out.
    fn has_traffic_without(&self, out: &[NodeId]) -> bool {
        let is_in = |host: NodeId| out.binary_search(&host).is_err();
        match &self.traffic {
            Traffic::AllPairs(_) => self.topology.hosts().len() >= out.len() + 2,
            Traffic::Demands(demands) => demands.iter().any(|demand| {
                is_in(demand.source) && is_in(self.routes.groups.target(demand.group))
            }),
        }
    }

    /// Leaves only these flows, written `SOURCE:TARGET`, in all lanes that the fabric has.
    pub fn restrict_to_flows(&mut self, flows: &[String]) -> Result<(), String> {
        let lanes = match &self.traffic {
            Traffic::AllPairs(lanes) => Some(lanes.clone()),
            Traffic::Demands(_) => None,
        };
        let mut demands = Vec::new();
        for flow in flows {
            let wrong = || format!("{flow:?} is no flow; write SOURCE:TARGET, such as H1:H2");
            let (source, target) = flow.split_once(':').ok_or_else(wrong)?;
            let [source, target] = [self.end_node(source)?, self.end_node(target)?];
            if source == target {
                return Err(format!("{flow:?} begins and ends at one end node"));
            }
            match &lanes {
                Some(lanes) => demands.extend(self.all_lanes(source, target, lanes)),
                None => {
                    let known = self.known(source, target);
                    if known.is_empty() {
                        return Err(format!("{flow:?} is no flow that the files know of"));
                    }
                    demands.extend(known);
                }
            }
        }
        self.traffic = Traffic::Demands(demands);
        Ok(())
    }

    /// Packets between these two, to every address of the target and in every lane.
    fn all_lanes(&self, source: NodeId, target: NodeId, lanes: &[Lane]) -> Vec<Demand> {
        let groups = &self.routes.groups;
        let addresses = groups.addresses().filter(|g| groups.target(*g) == target);
        let demands = addresses
            .flat_map(|group| lanes.iter().map(move |lane| Demand { group, lane: *lane, source }));
        demands.collect()
    }

    /// What the fabric knows of packets between these two.
    fn known(&self, source: NodeId, target: NodeId) -> Vec<Demand> {
        let Traffic::Demands(demands) = &self.traffic else {
            return Vec::new();
        };
        let is_asked = |demand: &&Demand| {
            demand.source == source && self.routes.groups.target(demand.group) == target
        };
        demands.iter().filter(is_asked).copied().collect()
    }

    fn end_nodes(&self, patterns: &[String]) -> Result<Vec<NodeId>, String> {
        let mut found = Vec::new();
        for pattern in patterns {
            let before = found.len();
            let hosts = self.topology.hosts().iter().copied();
            found.extend(hosts.filter(|host| self.is_called(*host, pattern)));
            if found.len() == before {
                return Err(format!("no end node is called {pattern:?}; {}", self.example()));
            }
        }
        found.sort_unstable();
        found.dedup();
        Ok(found)
    }

    fn end_node(&self, name: &str) -> Result<NodeId, String> {
        let found = self.topology.node_named(name).filter(|node| self.topology.is_host(*node));
        found.ok_or_else(|| format!("no end node is called {name:?}; {}", self.example()))
    }

    /// Whether a host has this name, or its device calls itself so.
    fn is_called(&self, host: NodeId, pattern: &str) -> bool {
        let device = self.names.device(host);
        let is_described = device.is_some_and(|device| matches(pattern, &device.description));
        is_described || matches(pattern, &self.topology.node(host).name)
    }

    fn example(&self) -> String {
        match self.topology.hosts().first() {
            Some(host) => format!("the first one is {}", self.topology.node(*host).name),
            None => "there are none".to_string(),
        }
    }
}
