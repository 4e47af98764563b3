//! From planned flows to the forwarding table and the flows of the simulator.

use std::collections::BTreeMap;

use pauseless_core::id::{Class, GroupId, NodeId};
use pauseless_core::unit::{Bytes, Span, Time};
use pauseless_fabric::path::PathError;
use pauseless_fabric::routing::{Multipath, RouteBuilder, Routes};
use pauseless_sim::config::{Flow, canonical_order};
use pauseless_sim::rng::{Purpose, Stream, hash_name};

use super::flows::{Plan, Planner, Timing};
use super::topology::has_failed;

impl Planner<'_> {
    /// The routes of all flows, and which group each flow is in.
    pub(crate) fn route(&self, multipath: Multipath, plans: &[Plan]) -> Option<Routing> {
        let topology = &self.fabric.topology;
        let mut builder = RouteBuilder::new(topology, multipath);
        let mut by_path: BTreeMap<&[NodeId], GroupId> = BTreeMap::new();
        let mut groups = Vec::new();
        for plan in plans {
            let Some(path) = &plan.path else {
                groups.push(None);
                continue;
            };
            let known = by_path.get(&path[..]).copied();
            match known.map_or_else(|| builder.add_path(path), Ok) {
                Ok(group) => {
                    by_path.insert(path, group);
                    groups.push(Some(group));
                }
                Err(error) => {
                    self.refuse_path(plan, &error);
                    groups.push(None);
                }
            }
        }
        let group_count = topology.host_count() + by_path.len();
        self.fabric.check_size(self.sink, group_count, 1)?;
        let routes = builder.build();
        for (plan, group) in plans.iter().zip(&mut groups) {
            if plan.path.is_none() {
                *group = self.reach(plan, &routes);
            }
        }
        Some(Routing { routes, groups })
    }

    fn refuse_path(&self, plan: &Plan, error: &PathError) {
        let mut problem = plan.place.problem(error.to_string());
        if let PathError::NotAdjacent { from, to, .. } = error
            && has_failed(self.fabric, from, to)
        {
            problem = problem.help(format!("{from}-{to} is one of topology.failed_links"));
        }
        self.sink.push(problem);
    }

    fn reach(&self, plan: &Plan, routes: &Routes) -> Option<GroupId> {
        if routes.reachable(&self.fabric.topology, plan.source, plan.target) {
            return Some(routes.groups.of_host(plan.target));
        }
        let [source, target] =
            [plan.source, plan.target].map(|node| &self.fabric.topology.node(node).name);
        let problem = plan
            .place
            .problem(format!("there is no way from {source} to {target}"));
        self.sink.push(if self.fabric.failed.is_empty() {
            problem
        } else {
            problem.help("fewer topology.failed_links would leave one")
        });
        None
    }
}

/// The table, and the group of each plan; `None` where a problem was reported.
pub(crate) struct Routing {
    pub routes: Routes,
    groups: Vec<Option<GroupId>>,
}

impl Routing {
    /// The flows as the simulator wants them, in canonical order.
    pub(crate) fn flows(&self, plans: &[Plan], timing: Timing, seed: u64) -> Option<Vec<Flow>> {
        let mut flows = Vec::new();
        for (plan, group) in plans.iter().zip(&self.groups) {
            let entity = hash_name(&plan.name);
            let jitter =
                Stream::new(seed, Purpose::FlowStart, entity).below(timing.start_jitter.as_ps());
            let stop = plan.terms.stop.into_iter().chain(timing.sources_stop).min();
            flows.push(Flow {
                name: plan.name.clone(),
                source: plan.source,
                target: plan.target,
                group: (*group)?,
                class: Class(plan.terms.class),
                packet: plan.terms.packet,
                pace: plan.pace,
                size: plan.terms.size.unwrap_or(Bytes::MAX),
                start: Time::ZERO + plan.terms.start + Span::ps(jitter),
                stop: stop.map_or(Time::MAX, |stop| Time::ZERO + stop),
                hash: Stream::new(seed, Purpose::Hash, entity).next_u64(),
            });
        }
        canonical_order(&mut flows);
        Some(flows)
    }
}
