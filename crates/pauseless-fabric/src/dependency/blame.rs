//! The hosts to blame for a cycle: without them there would be none.

use pauseless_core::id::NodeId;

use super::graph::Checker;
use super::{Component, Network, Traffic};

/// Hosts that have something in common, such as their description.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suspects {
    /// What they have in common.
    pub name: String,
    /// All hosts that share it.
    pub hosts: Vec<NodeId>,
}

/// Hosts without which there is no cycle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blame {
    /// What they have in common; `None` if nothing that was known beforehand.
    pub name: Option<String>,
    /// All hosts that share that name.
    pub hosts: Vec<NodeId>,
    /// A part of these hosts that is enough to leave out, and of which none can come back without a
    /// cycle; there may be other such choices, even smaller ones. `None` if the search would have
    /// taken too long.
    pub needed: Option<Vec<NodeId>>,
}

impl Checker {
    /// Looks for end nodes, at most half of them, without which `network` has no cycle: first
    /// among the `suspects`, in their order, then by leaving out those who make the rarest
    /// dependency of a cycle.
    pub fn blame(&mut self, network: Network<'_>, suspects: &[Suspects]) -> Option<Blame> {
        let ways = network.routes.table.way_count() as u64;
        let demands = match network.traffic {
            Traffic::AllPairs(_) => 0,
            Traffic::Demands(demands) => demands.len(),
        };
        let mut trial = Trial {
            left_out: vec![false; network.topology.nodes().len()],
            most: network.topology.host_count() / 2,
            cost: ways * network.topology.switches().len() as u64 + demands as u64,
            patience: PATIENCE,
            checker: self,
            network,
        };
        let most = trial.most;
        for suspects in suspects.iter().filter(|s| s.hosts.len() <= most) {
            if !trial.can_afford(1) {
                break;
            }
            trial.leave_out_only(&suspects.hosts);
            if !trial.is_cyclic() {
                let name = Some(suspects.name.clone());
                return Some(trial.verdict(name, suspects.hosts.clone()));
            }
        }
        trial.leave_out_only(&[]);
        trial.patience = PATIENCE;
        let hosts = trial.leave_out_the_rarest()?;
        Some(trial.verdict(None, hosts))
    }
}

struct Trial<'t> {
    checker: &'t mut Checker,
    network: Network<'t>,
    left_out: Vec<bool>,
    most: usize,
    /// The cost of a check: one step per way and switch.
    cost: u64,
    /// The number of steps that may still be spent.
    patience: u64,
}

impl Trial<'_> {
    /// Spends the steps of `checks` checks; returns whether there were enough left.
    fn can_afford(&mut self, checks: u64) -> bool {
        let left = self.patience.checked_sub(checks.saturating_mul(self.cost));
        self.patience = left.unwrap_or(0);
        left.is_some()
    }

    fn leave_out_only(&mut self, hosts: &[NodeId]) {
        self.left_out.fill(false);
        for host in hosts {
            self.left_out[host.index()] = true;
        }
    }

    fn is_cyclic(&mut self) -> bool {
        self.checker.graph(self.network, &self.left_out).is_cyclic()
    }

    /// Leaves out the hosts that make the rarest dependency of a shortest cycle, again and again
    /// until there is no cycle. `None` if that would be too many.
    fn leave_out_the_rarest(&mut self) -> Option<Vec<NodeId>> {
        let mut hosts = Vec::new();
        for _ in 0..ROUNDS_MAX {
            let graph = self.checker.graph(self.network, &self.left_out);
            let components = self.checker.explain(self.network, &graph, &self.left_out, 1);
            let Some(Component { cycle, .. }) = components.first() else {
                return Some(hosts);
            };
            // Finding who makes a cycle costs as much as a check for each of its hops.
            if !self.can_afford(cycle.hops.len() as u64) {
                return None;
            }
            let makers = cycle.hops.iter().flat_map(|hop| [&hop.targets, &hop.sources]);
            let rarest = makers.min_by_key(|makers| makers.len())?;
            if hosts.len() + rarest.len() > self.most {
                return None;
            }
            for host in rarest {
                self.left_out[host.index()] = true;
                hosts.push(*host);
            }
        }
        None
    }

    /// Takes back the hosts that need not be left out.
    fn verdict(mut self, name: Option<String>, mut hosts: Vec<NodeId>) -> Blame {
        hosts.sort_unstable();
        // The result is worth as many steps again; longer lists are not read anyway.
        self.patience = PATIENCE;
        let is_worth_it = hosts.len() <= TRIALS_MAX && self.can_afford(hosts.len() as u64);
        let needed = is_worth_it.then(|| {
            let mut needed = Vec::new();
            for &host in &hosts {
                self.left_out[host.index()] = false;
                if self.is_cyclic() {
                    self.left_out[host.index()] = true;
                    needed.push(host);
                }
            }
            needed
        });
        if let (None, Some(needed)) = (&name, &needed) {
            hosts = needed.clone();
        }
        Blame { name, hosts, needed }
    }
}

const ROUNDS_MAX: usize = 64;
/// Steps of a search, about a second on one core.
const PATIENCE: u64 = 30_000_000;
const TRIALS_MAX: usize = 256;
