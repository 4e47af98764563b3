//! From planned flows to the forwarding table and the flows of the simulator.

use std::collections::BTreeMap;

use pauseless_core::id::{Class, GroupId};
use pauseless_core::unit::{Bytes, Span, Time};
use pauseless_fabric::path::{PathError, Step};
use pauseless_fabric::routing::{RouteBuilder, Routes};
use pauseless_fabric::trace::{Header, TraceError, trace};
use pauseless_sim::config::{Flow, Reaction, canonical_order};
use pauseless_sim::rng::{Purpose, Stream, hash_name};

use super::flows::{Plan, Planner, Timing};
use super::topology::has_failed;

impl Planner<'_> {
    /// The routes of all flows, and which group each flow is in.
    pub(crate) fn route(&self, mut builder: RouteBuilder<'_>, plans: &[Plan]) -> Option<Routing> {
        let topology = &self.fabric.topology;
        let mut by_path: BTreeMap<_, GroupId> = BTreeMap::new();
        let mut groups = Vec::new();
        let mut returns = BTreeMap::new();
        for (number, plan) in plans.iter().enumerate() {
            if let Some(path) = &plan.return_path {
                let way = (path, &NO_ROUND, plan.source);
                match by_path.get(&way).copied().map_or_else(|| builder.add_path(path), Ok) {
                    Ok(group) => {
                        by_path.insert(way, group);
                        returns.insert(number as u32, group);
                    }
                    Err(error) => self.refuse_path(plan, &error),
                }
            }
            let Some(path) = &plan.path else {
                groups.push(None);
                continue;
            };
            let target = plan.target;
            let way = (path, &plan.round, target);
            let add = || {
                if plan.round.is_empty() {
                    builder.add_path(path)
                } else {
                    builder.add_loop(path, &plan.round, target)
                }
            };
            match by_path.get(&way).copied().map_or_else(add, Ok) {
                Ok(group) => {
                    by_path.insert(way, group);
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
        Some(Routing { routes, groups, returns })
    }

    fn refuse_path(&self, plan: &Plan, error: &PathError) {
        let mut problem = plan.place.problem(error.to_string());
        if let PathError::NotAdjacent { from, to, .. } | PathError::NotParallel { from, to, .. } =
            error
            && has_failed(self.fabric, from, to)
        {
            let help = match error {
                PathError::NotParallel { .. } => "numbers are those of the links that are left; ",
                _ => "",
            };
            problem = problem.help(format!("{help}{from}-{to} is one of topology.failed_links"));
        }
        self.sink.push(problem);
    }

    fn reach(&self, plan: &Plan, routes: &Routes) -> Option<GroupId> {
        if routes.reachable(&self.fabric.topology, plan.source, plan.target) {
            return if self.ways.routing.leads_closer() {
                Some(routes.groups.of_host(plan.target))
            } else {
                self.arrive(plan, routes)
            };
        }
        let [source, target] =
            [plan.source, plan.target].map(|node| &self.fabric.topology.node(node).name);
        let problem = plan.place.problem(format!("there is no way from {source} to {target}"));
        self.sink.push(if self.fabric.failed.is_empty() {
            problem
        } else {
            problem.help("fewer topology.failed_links would leave one")
        });
        None
    }

    /// The group of a flow whose packets arrive; tables may say anything.
    fn arrive(&self, plan: &Plan, routes: &Routes) -> Option<GroupId> {
        let topology = &self.fabric.topology;
        let group = routes.groups.of_host(plan.target);
        let header = Header { source: plan.source, group, hash: hash(self.seed, plan) };
        let name = |node| topology.node(node).name.as_str();
        let problem = match trace(topology, &routes.table, header) {
            Ok(path) => {
                let last = path.last().map(|(node, port)| topology.port(*node, *port).peer);
                match last {
                    Some(last) if last != plan.target => {
                        format!("packets for {} arrive at {}", name(plan.target), name(last))
                    }
                    _ => return Some(group),
                }
            }
            Err(TraceError::NoNextHop { at, .. }) => {
                format!("{at} has no next hop for packets to {}", name(plan.target))
            }
            Err(error) => error.to_string(),
        };
        let problem = plan.place.problem(problem);
        self.sink.push(problem.help("mend routing.tables, or give the flow a path"));
        None
    }
}

static NO_ROUND: Vec<Step> = Vec::new();

/// What chooses between equal paths of a flow: its name.
fn hash(seed: u64, plan: &Plan) -> u64 {
    Stream::new(seed, Purpose::Hash, hash_name(&plan.name)).next_u64()
}

/// The table, and the group of each plan; `None` where a problem was reported.
pub struct Routing {
    pub routes: Routes,
    pub groups: Vec<Option<GroupId>>,
    /// The groups of what sources are told, for the plans that say how it returns.
    returns: BTreeMap<u32, GroupId>,
}

impl Routing {
    /// The forwarding group of acknowledgements and notifications for the flow with this number.
    pub(crate) fn return_group(&self, number: usize, plan: &Plan) -> GroupId {
        let pinned = self.returns.get(&(number as u32)).copied();
        pinned.unwrap_or(self.routes.groups.of_host(plan.source))
    }

    /// The flows as the simulator wants them, in canonical order.
    pub(crate) fn flows(&self, plans: &[Plan], timing: &Timing, seed: u64) -> Option<Vec<Flow>> {
        let mut flows = Vec::new();
        for (plan, group) in plans.iter().zip(&self.groups) {
            let entity = hash_name(&plan.name);
            let mut offsets = Stream::new(seed, Purpose::FlowStart, entity);
            let jitter =
                if plan.is_exact { 0 } else { offsets.below(timing.start_jitter.value.as_ps()) };
            let stop = plan.terms.stop.into_iter().chain(timing.sources_stop.copied()).min();
            flows.push(Flow {
                name: plan.name.clone(),
                source: plan.source,
                target: plan.target,
                group: (*group)?,
                class: Class(plan.terms.class),
                label: plan.terms.lane().label,
                ttl: plan.terms.ttl.map_or(Flow::TTL_NONE, u16::from),
                packet: plan.terms.packet,
                pace: plan.pace,
                size: plan.terms.size.unwrap_or(Bytes::MAX),
                start: Time::ZERO + plan.terms.start + Span::ps(jitter),
                stop: stop.map_or(Time::MAX, |stop| Time::ZERO + stop),
                hash: hash(seed, plan),
                duty: plan.terms.duty,
                reaction: Reaction::None,
            });
        }
        canonical_order(&mut flows);
        Some(flows)
    }
}
