//! From sections of traffic to flows, or to the pairs of hosts that `check` looks at.

use std::sync::Arc;

use pauseless_core::id::NodeId;
use pauseless_core::unit::{Bytes, Span};
use pauseless_sim::rng::{Purpose, Stream, hash_name};

use super::super::flows::{Plan, Planner, Wanted, Written};
use super::super::unit::Quantity;
use super::pool::{Cast, Racks};
use super::{Batch, FLOWS_MAX, Kind, Link, Made, PAIRS_MAX, Scene, Traffic};

/// All flows that were made.
#[derive(Default)]
pub(crate) struct MadePlans {
    pub plans: Vec<Plan>,
    pub follows: Vec<Link>,
}

impl Planner<'_> {
    /// The flows of all sections, except for permutations without a name.
    pub(crate) fn make(&self, written: &Written) -> MadePlans {
        let mut made = MadePlans::default();
        let mut counts = Vec::new();
        for traffic in &written.traffic {
            let stop = written.timing.sources_stop;
            if let Some(stop) = stop.filter(|stop| traffic.wanted.terms.start >= *stop) {
                let problem = traffic
                    .place
                    .problem("it starts when all sources have stopped");
                self.sink
                    .push(problem.expected(format!("a start before {}", stop.exact())));
                continue;
            }
            let scene = self.scene(traffic, stop);
            if let Kind::List(_) = &traffic.kind {
                counts.push((self.make_list(traffic, &scene, &mut made), traffic));
                continue;
            }
            counts.push(match self.until {
                Some(_) => (self.make_flows(traffic, &scene, &mut made), traffic),
                None => (self.make_pairs(traffic, &scene, &mut made), traffic),
            });
        }
        match self.refuse_crowd(&counts) {
            true => MadePlans::default(),
            false => made,
        }
    }

    /// Whether there are too many flows in all, which is reported where most of them come from.
    fn refuse_crowd(&self, counts: &[(f64, &Traffic)]) -> bool {
        let count: f64 = counts.iter().map(|(count, _)| *count).sum();
        let (most, what, help) = match self.until {
            Some(_) => (
                FLOWS_MAX,
                "flows",
                "a shorter duration, an earlier stop, a smaller load, larger flows or fewer turns",
            ),
            None => (
                PAIRS_MAX,
                "pairs of hosts",
                "without [[traffic]] and [[flow]], every host is taken to send to all",
            ),
        };
        if count <= most as f64 {
            return false;
        }
        let largest = counts.iter().max_by(|a, b| a.0.total_cmp(&b.0));
        if let Some((_, traffic)) = largest {
            let message = format!("about {count:.0} {what} would be made");
            let problem = traffic.place.problem(message);
            self.sink
                .push(problem.expected(format!("at most {most}")).help(help));
        }
        true
    }

    fn scene<'s>(&'s self, traffic: &'s Traffic, sources_stop: Option<Span>) -> Scene<'s> {
        let stops = sources_stop.into_iter().chain(traffic.wanted.terms.stop);
        let ends = stops.chain(self.until);
        Scene {
            topology: &self.fabric.topology,
            seed: self.seed,
            sink: self.sink,
            name: &traffic.name,
            rate: traffic.wanted.rate(),
            packet: traffic.wanted.terms.packet,
            start: traffic.wanted.terms.start,
            end: ends.min().unwrap_or(Span::ZERO),
        }
    }

    /// Adds the flows of one section, if they are not too many, and returns about how many.
    fn make_flows(&self, traffic: &Traffic, scene: &Scene<'_>, made: &mut MadePlans) -> f64 {
        let (estimate, batch) = match traffic.batch(scene, self) {
            Some(found) => found,
            None => return 0.0,
        };
        let base = made.plans.len() as u32;
        let count = batch.flows.len() as f64;
        for flow in batch.flows {
            let Some(plan) = self.made_plan(traffic, flow) else {
                return 0.0;
            };
            made.plans.push(plan);
        }
        made.follows
            .extend(batch.follows.into_iter().map(|link| Link {
                first: base + link.first,
                then: base + link.then,
                ..link
            }));
        // Sections that are fine on their own may be too many together.
        if count == 0.0 { estimate } else { count }
    }

    fn made_plan(&self, traffic: &Traffic, flow: Made) -> Option<Plan> {
        let (pace, initial) = self.rates(flow.source, &traffic.wanted)?;
        let mut terms = traffic.wanted.terms;
        if !traffic.is_endless() {
            terms.class = traffic.classes.class(flow.size, terms.class);
            terms.size = Some(flow.size);
        }
        terms.start = flow.start;
        terms.stop = traffic.cut();
        Some(Plan {
            name: flow.name,
            source: flow.source,
            target: flow.target,
            path: None,
            return_path: None,
            round: Vec::new(),
            terms,
            pace,
            initial,
            place: Arc::clone(&traffic.place),
            is_made: true,
            is_exact: traffic.is_exact(),
            waits: None,
        })
    }

    /// Adds one flow for every pair of hosts that may send to each other, and class that they may
    /// use, whatever the seed; returns about how many.
    fn make_pairs(&self, traffic: &Traffic, scene: &Scene<'_>, made: &mut MadePlans) -> f64 {
        let Some((count, pairs)) = traffic.pairs(scene, self) else {
            return 0.0;
        };
        let pairs = pairs.into_iter().flat_map(|(source, target, sizes)| {
            let classes = traffic.classes.classes(sizes, traffic.wanted.terms.class);
            classes
                .into_iter()
                .map(move |class| (source, target, class))
        });
        let mut pairs = Vec::from_iter(pairs);
        pairs.sort_unstable();
        pairs.dedup();
        for (source, target, class) in pairs {
            let flow = Made {
                name: scene.flow_name(source, target, format_args!("{class}")),
                source,
                target,
                size: Bytes::MAX,
                start: scene.start,
            };
            let Some(mut plan) = self.made_plan(traffic, flow) else {
                return 0.0;
            };
            plan.terms.class = class;
            made.plans.push(plan);
        }
        count
    }

    /// The cycles of permutations without a name, whose flows are named like others without one.
    /// None where pairs of hosts are wanted: these are made together with all others.
    pub(crate) fn permutations<'w>(&self, written: &'w Written) -> Vec<(Plan, &'w Wanted)> {
        let mut plans = Vec::new();
        if self.until.is_none() {
            return plans;
        }
        for traffic in &written.traffic {
            if traffic.is_prefixed() {
                continue;
            }
            let flows = self.permute(traffic).into_iter();
            let flows = flows.map_while(|flow| self.made_plan(traffic, flow));
            plans.extend(flows.map(|plan| (plan, &traffic.wanted)));
        }
        plans
    }

    /// The hosts of a permutation; `None` if they are too few, which is reported.
    fn permuted(&self, traffic: &Traffic) -> Option<Vec<NodeId>> {
        let hosts = self.fabric.topology.hosts();
        if hosts.len() >= 2 {
            return Some(hosts.to_vec());
        }
        let message = "a permutation needs at least two hosts";
        self.sink.push(traffic.place.problem(message));
        None
    }

    /// Every host sends to the next one of a random cycle through all hosts.
    fn permute(&self, traffic: &Traffic) -> Vec<Made> {
        let topology = &self.fabric.topology;
        let Some(mut hosts) = self.permuted(traffic) else {
            return Vec::new();
        };
        let entity = match traffic.is_prefixed() {
            true => hash_name(&traffic.name),
            false => 0,
        };
        Stream::new(self.seed, Purpose::Workload, entity).shuffle(&mut hosts);
        let targets = hosts.iter().cycle().skip(1);
        let flows = hosts.iter().zip(targets).map(|(source, target)| {
            let names = [*source, *target].map(|node| &topology.node(node).name);
            Made {
                name: format!("{}/{}->{}", traffic.name, names[0], names[1]),
                source: *source,
                target: *target,
                size: traffic.wanted.terms.size.unwrap_or(Bytes::MAX),
                start: traffic.wanted.terms.start,
            }
        });
        flows.collect()
    }
}

/// Who may send to whom, and the smallest and largest size.
type Pair = (NodeId, NodeId, (Bytes, Bytes));

impl Traffic {
    /// About how many flows there are, and the flows, unless they are too many.
    fn batch(&self, scene: &Scene<'_>, planner: &Planner<'_>) -> Option<(f64, Batch)> {
        let is_fine = |count: f64| count <= FLOWS_MAX as f64;
        let made = |count: f64, generate: &dyn Fn() -> Batch| {
            let batch = if is_fine(count) {
                generate()
            } else {
                Batch::default()
            };
            Some((count, batch))
        };
        match &self.kind {
            // Lists make their flows themselves.
            Kind::List(_) => None,
            Kind::Permutation if !self.is_prefixed() => None,
            Kind::Permutation => {
                let flows = planner.permute(self);
                let follows = Vec::new();
                Some((flows.len() as f64, Batch { flows, follows }))
            }
            Kind::Closing => {
                let flows = planner.closing_flows(self, scene)?;
                let follows = Vec::new();
                Some((flows.len() as f64, Batch { flows, follows }))
            }
            Kind::Poisson(kind) => {
                let cast = kind.cast(scene)?;
                let count = kind.estimate(scene, &cast);
                made(count, &|| kind.generate(scene, &cast))
            }
            Kind::Incast(kind) => {
                let cast = kind.cast(scene)?;
                let count = kind.estimate(scene, &cast);
                made(count, &|| kind.generate(scene, &cast))
            }
            Kind::ClosedLoop(kind) => {
                let cast = kind.cast(scene)?;
                let count = kind.estimate(scene, &cast);
                made(count, &|| kind.generate(scene, &cast))
            }
            Kind::Collective(kind) => {
                let ranks = kind.cast(scene)?;
                if kind.is_too_tangled(&ranks) {
                    let message = "too many flows would wait for each other";
                    let problem = self.place.problem(message);
                    let help = "rounds = \"shifted\", fewer hosts, or a smaller repeat";
                    scene.sink.push(problem.help(help));
                    return None;
                }
                let count = kind.estimate(&ranks);
                made(count, &|| kind.generate(scene, &ranks))
            }
        }
    }

    /// About how many pairs there are, and the pairs, unless they are too many.
    fn pairs(&self, scene: &Scene<'_>, planner: &Planner<'_>) -> Option<(f64, Vec<Pair>)> {
        let (cast, sizes) = match &self.kind {
            Kind::List(_) => return None,
            Kind::Permutation => {
                // Some seed makes each of them.
                let hosts = planner.permuted(self)?;
                let racks = || Racks::new(scene.topology, &hosts, false);
                let (sources, targets) = (racks(), racks());
                let size = self.wanted.terms.size.unwrap_or(Bytes::MAX);
                (Cast { sources, targets }, (size, size))
            }
            Kind::Closing => {
                let pairs = planner.closing(self)?.into_iter();
                let size = self.wanted.terms.size.unwrap_or(Bytes::MAX);
                let pairs = Vec::from_iter(pairs.map(|(a, b)| (a, b, (size, size))));
                return Some((pairs.len() as f64, pairs));
            }
            Kind::Collective(kind) => {
                let ranks = kind.cast(scene)?;
                let count = kind.estimate(&ranks) / kind.repeat as f64;
                let pairs = match count <= FLOWS_MAX as f64 {
                    true => kind.pairs(&ranks),
                    false => return Some((count, Vec::new())),
                };
                let pairs = pairs.into_iter().map(|(a, b, size)| (a, b, (size, size)));
                let pairs = Vec::from_iter(pairs);
                return Some((pairs.len() as f64, pairs));
            }
            Kind::Poisson(kind) => (kind.cast(scene)?, kind.sizes.range()),
            Kind::Incast(kind) => (kind.cast(scene)?, kind.sizes.range()),
            Kind::ClosedLoop(kind) => (kind.cast(scene)?, kind.sizes.range()),
        };
        let count = cast.sources.len() as f64 * cast.targets.len() as f64;
        if count > PAIRS_MAX as f64 {
            return Some((count, Vec::new()));
        }
        let sources = cast.sources.hosts();
        let pairs = sources.flat_map(|source| {
            let targets = cast.targets.partners(source);
            targets.map(move |target| (source, target, sizes))
        });
        Some((count, pairs.collect()))
    }
}
