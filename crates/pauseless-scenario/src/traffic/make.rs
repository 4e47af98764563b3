//! From sections of traffic to flows, or to the pairs of hosts that `check` looks at.

use std::sync::Arc;

use pauseless_core::unit::Span;

use super::super::flows::{Common, Flows, Plan, Planner};
use super::Traffic;
use super::scene::{FLOWS_MAX, Link, Made, PAIRS_MAX, Scene};
use pauseless_text::unit::Quantity;

/// The flows that all sections made.
#[derive(Default)]
pub struct MadePlans {
    pub plans: Vec<Plan>,
    pub follows: Vec<Link>,
}

impl Planner<'_> {
    /// The flows of all sections, except for those that are called by their ends.
    pub(crate) fn make(&self, written: &Flows) -> MadePlans {
        let mut made = MadePlans::default();
        let mut counts = Vec::new();
        for traffic in &written.traffic {
            let stop = written.timing.sources_stop.copied();
            if let Some(stop) = stop.filter(|stop| traffic.terms.start >= *stop) {
                let place = &traffic.place;
                let problem = place.problem("it starts when all sources have stopped");
                self.sink.push(problem.expected(format!("a start before {}", stop.exact())));
                continue;
            }
            let scene = self.scene(traffic, stop);
            counts.push((self.make_one(&scene, &mut made), traffic));
        }
        if self.refuse_crowd(&counts) { MadePlans::default() } else { made }
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
            let problem = traffic.place.problem(format!("about {count:.0} {what} would be made"));
            self.sink.push(problem.expected(format!("at most {most}")).help(help));
        }
        true
    }

    fn scene<'s>(&'s self, traffic: &'s Traffic, sources_stop: Option<Span>) -> Scene<'s> {
        let ends = sources_stop.into_iter().chain(traffic.terms.stop).chain(self.until);
        Scene {
            topology: &self.fabric.topology,
            seed: self.seed,
            sink: self.sink,
            name: &traffic.name,
            rate: traffic.keys.common.rate.copied(),
            packet: traffic.terms.packet,
            start: traffic.terms.start,
            end: ends.min().unwrap_or(Span::ZERO),
            traffic,
            planner: self,
        }
    }

    /// Adds the flows of one section, if they are not too many, and returns about how many.
    fn make_one(&self, scene: &Scene<'_>, made: &mut MadePlans) -> f64 {
        let traffic = scene.traffic;
        let batch = match self.until {
            Some(_) if !traffic.is_prefixed() => None,
            Some(_) => traffic.kind.flows(scene),
            None => traffic.kind.pairs(scene),
        };
        let Some(batch) = batch else {
            return 0.0;
        };
        let base = made.plans.len() as u32;
        for flow in batch.flows {
            let Some(plan) = self.made_plan(traffic, flow) else {
                return 0.0;
            };
            made.plans.push(plan);
        }
        let follows = batch.follows.into_iter();
        made.follows.extend(follows.map(|link| Link {
            first: base + link.first,
            then: base + link.then,
            ..link
        }));
        batch.count
    }

    fn made_plan(&self, traffic: &Traffic, flow: Made) -> Option<Plan> {
        let (pace, initial) = self.rates(flow.source, &traffic.keys.common)?;
        let classes = &traffic.keys.classes_by_size.value;
        let mut terms = traffic.terms;
        terms.class = match (flow.class, flow.size) {
            (Some(class), _) => class,
            (None, Some(size)) => classes.class(size, terms.class),
            (None, None) => terms.class,
        };
        terms.size = flow.size;
        terms.start = flow.start;
        terms.stop = traffic.cut();
        let place = flow.way.as_ref().map_or(&traffic.place, |way| &way.place);
        let place = Arc::clone(place);
        let way = flow.way.map(|way| (way.path, way.return_path));
        let (path, return_path) = way.unwrap_or_default();
        Some(Plan {
            name: flow.name,
            source: flow.source,
            target: flow.target,
            path,
            return_path,
            round: Vec::new(),
            terms,
            pace,
            initial,
            place,
            is_made: true,
            is_exact: traffic.kind.is_exact(),
            waits: None,
        })
    }

    /// The flows of sections that are called by their ends, as flows without a name are. None where
    /// pairs of hosts are wanted: these are made together with all others.
    pub(crate) fn make_by_ends<'w>(&self, written: &'w Flows) -> Vec<(Plan, &'w Common)> {
        let mut plans = Vec::new();
        let traffic = written.traffic.iter();
        for traffic in traffic.filter(|one| self.until.is_some() && !one.is_prefixed()) {
            let scene = self.scene(traffic, written.timing.sources_stop.copied());
            let flows = traffic.kind.flows(&scene).unwrap_or_default().flows.into_iter();
            let flows = flows.map_while(|flow| self.made_plan(traffic, flow));
            plans.extend(flows.map(|plan| (plan, &traffic.keys.common)));
        }
        plans
    }
}
