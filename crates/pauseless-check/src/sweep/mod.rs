//! The same check after failures: every single one, or many random sets of them.

pub mod json;
pub mod text;

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use pauseless_core::id::{NodeId, PortId};
use pauseless_fabric::dependency::{Checker, Component, Demand, Network, Traffic};
use pauseless_fabric::failure::{Draw, FailureError, Failures};
use pauseless_fabric::reroute::Reroute;
use pauseless_fabric::routing::{Algorithm, Multipath, Routes, Routing, TieBreak};
use pauseless_fabric::topology::LinkIndex;
use rayon::prelude::*;

use super::reach::unrouted_pairs;
use pauseless_fabric::fabric::Fabric;
use pauseless_run::metrics::statistics::wilson;

/// Which failures are tried, and how the fabric answers to them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The failures that are tried.
    pub cases: Cases,
    /// How routes change after a failure.
    pub reroute: Reroute,
    /// The seed that random failures are drawn from.
    pub seed: u64,
}

/// The failures that are tried, each a case of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cases {
    /// Every link between switches alone, and every switch alone.
    Singles,
    /// Random sets of links between switches.
    Random {
        /// How many links of a set fail.
        amount: Amount,
        /// How many sets are drawn.
        samples: u64,
    },
}

/// How many links of a random set fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amount {
    /// Exactly this number of links.
    Count(usize),
    /// Each link with this probability, in millionths.
    Share(u32),
}

/// The result of a sweep over failures.
#[derive(Clone, Debug)]
pub struct Sweep {
    /// The failures that were to be tried.
    pub plan: Plan,
    /// How many cases there are.
    pub case_count: usize,
    /// How many were tried: all of them, unless it was broken off.
    pub tried: usize,
    /// How many of them have a cycle.
    pub cyclic: usize,
    /// Whether the same rule has a cycle even without any failure.
    pub is_healthy_cyclic: bool,
    /// How many leave some pair of end nodes without a route; `None` for random sets, where it is
    /// not counted.
    pub disconnecting: Option<usize>,
    /// The worst of those with a cycle: most buffers in cycles first.
    pub worst: Vec<Finding>,
}

impl Plan {
    /// What was tried, in a few words.
    pub fn describe(&self) -> String {
        let failures = match self.cases {
            Cases::Singles => {
                "every single link between switches and every single switch failed".to_string()
            }
            Cases::Random { amount: Amount::Count(count), samples } => {
                format!("{samples} random sets of {count} failed links between switches")
            }
            Cases::Random { amount: Amount::Share(ppm), samples } => format!(
                "{samples} random networks in which each link between switches failed with a probability of {} %",
                f64::from(ppm) / 1e4
            ),
        };
        format!("{failures}; routes: {}", describe(self.reroute))
    }
}

/// By what routes are found, in a few words.
pub fn describe(reroute: Reroute) -> &'static str {
    let Reroute::Rule(Routing { algorithm, multipath, .. }) = reroute else {
        return "local detours around the failures";
    };
    match (algorithm, multipath) {
        (Algorithm::Shortest, Multipath::Ecmp) => "all shortest paths (ECMP)",
        (Algorithm::Shortest, Multipath::Single { tie_break: TieBreak::Lowest }) => {
            "one shortest path, of equal ones that with the lowest port"
        }
        (Algorithm::Shortest, Multipath::Single { tie_break: TieBreak::Seeded(_) }) => {
            "one shortest path, of equal ones a random one per switch and target"
        }
        (Algorithm::UpDown, Multipath::Ecmp) => "up*/down*, all equally short paths",
        (Algorithm::UpDown, Multipath::Single { .. }) => "up*/down*, one path",
        (Algorithm::DimensionOrder(_), _) => "dimension order",
    }
}

impl Sweep {
    /// Whether all cases were tried.
    pub fn is_complete(&self) -> bool {
        self.tried == self.case_count
    }

    /// The share of cases with a cycle, and the bounds of its 95 % confidence interval (Wilson
    /// 1927): a statement about all such sets of failures, if the cases are random.
    pub fn share(&self) -> (f64, [f64; 2]) {
        let share = self.cyclic as f64 / (self.tried as f64).max(1.0);
        (share, wilson(self.cyclic, self.tried))
    }
}

/// Failures that create a cycle.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The number of the case; of random sets, the sample.
    pub case: usize,
    /// The names of the links and switches that fail.
    pub failed: Vec<String>,
    /// How many buffers lie in cycles.
    pub buffers: usize,
    /// The largest group of them, with a shortest cycle.
    pub component: Component,
    /// Pairs of end nodes without a route.
    pub unrouted_pairs: u64,
}

/// Tries all cases of `plan` on all cores, without the end nodes of `left_out`. `progress` hears how many are done, of how many, and how
/// many of them have a cycle, from any thread, and may break the sweep off.
pub fn sweep(
    fabric: &Fabric,
    left_out: &[NodeId],
    plan: Plan,
    progress: impl Fn(usize, usize, usize) -> ControlFlow<()> + Sync,
) -> Result<Sweep, FailureError> {
    let cases = Sets::new(fabric, plan)?;
    let left_out = fabric.marks(left_out);
    let trial = Trial::new(fabric, &left_out, plan);
    let stop = AtomicBool::new(false);
    let (done, found) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let checker = Checker::of(&fabric.network()).choosing(fabric.evidence.choice);
    let outcomes = (0..cases.count()).into_par_iter().map_init(
        || checker.clone(),
        |checker, case| {
            if stop.load(Ordering::Relaxed) {
                return None;
            }
            let outcome = trial.judge(checker, case, &cases.get(case));
            let done = done.fetch_add(1, Ordering::Relaxed) + 1;
            let more = usize::from(outcome.buffers > 0);
            let found = found.fetch_add(more, Ordering::Relaxed) + more;
            if progress(done, cases.count(), found).is_break() {
                stop.store(true, Ordering::Relaxed);
            }
            Some(outcome)
        },
    );
    let outcomes: Vec<Outcome> = outcomes.flatten().collect();
    let mut cyclic = Vec::from_iter(outcomes.iter().filter(|outcome| outcome.buffers > 0));
    cyclic.sort_by_key(|outcome| (std::cmp::Reverse(outcome.buffers), outcome.case));
    let worst = cyclic.par_iter().take(WORST_MAX).map_init(
        || checker.clone(),
        |checker, outcome| trial.explain(checker, outcome, &cases.get(outcome.case)),
    );
    let none = Failures::default();
    let healthy = trial.judge(&mut checker.clone(), 0, &none);
    Ok(Sweep {
        plan,
        is_healthy_cyclic: healthy.buffers > 0,
        case_count: cases.count(),
        tried: outcomes.len(),
        cyclic: cyclic.len(),
        disconnecting: match plan.cases {
            Cases::Singles => Some(outcomes.iter().filter(|o| o.disconnects).count()),
            Cases::Random { .. } => None,
        },
        worst: worst.collect(),
    })
}

/// The sets of failures of a plan, by number.
struct Sets<'f> {
    fabric: &'f Fabric,
    plan: Plan,
    singles: Vec<Failures>,
}

impl<'f> Sets<'f> {
    pub fn new(fabric: &'f Fabric, plan: Plan) -> Result<Sets<'f>, FailureError> {
        let topology = &fabric.topology;
        let singles = match plan.cases {
            Cases::Singles => {
                let links = Failures::single_links(topology);
                links.chain(Failures::single_switches(topology)).collect()
            }
            Cases::Random { amount, .. } => {
                if let Amount::Count(count) = amount {
                    // Refused once, before all the samples are.
                    let draw = Draw { seed: 0, sample: 0 };
                    Failures::random_count(topology, count, draw)?;
                }
                Vec::new()
            }
        };
        Ok(Sets { fabric, plan, singles })
    }

    fn count(&self) -> usize {
        match self.plan.cases {
            Cases::Singles => self.singles.len(),
            Cases::Random { samples, .. } => samples as usize,
        }
    }

    fn get(&self, case: usize) -> Failures {
        let topology = &self.fabric.topology;
        let draw = Draw { seed: self.plan.seed, sample: case as u64 };
        match self.plan.cases {
            Cases::Singles => self.singles[case].clone(),
            Cases::Random { amount: Amount::Share(ppm), .. } => {
                Failures::random_links(topology, ppm, draw)
            }
            Cases::Random { amount: Amount::Count(count), .. } => {
                Failures::random_count(topology, count, draw)
                    .expect("a count above the number of links was refused before")
            }
        }
    }
}

/// The traffic of `fabric` when it routes anew in this way.
pub fn traffic_after(fabric: &Fabric, reroute: Reroute) -> Traffic {
    let groups = &fabric.routes.groups;
    match (&fabric.traffic, reroute) {
        // A rule knows no paths of flows, only their targets.
        (Traffic::Demands(demands), Reroute::Rule(_)) => {
            let demands = demands.iter().map(|demand| Demand {
                group: groups.of_host(groups.target(demand.group)),
                ..*demand
            });
            Traffic::Demands(demands.collect())
        }
        (traffic, _) => traffic.clone(),
    }
}

/// What is the same for all cases.
struct Trial<'f> {
    fabric: &'f Fabric,
    reroute: Reroute,
    traffic: Traffic,
    left_out: &'f [bool],
    /// Whether to ask if anybody is cut off.
    counts_cuts: bool,
}

struct Outcome {
    case: usize,
    /// How many buffers lie in cycles.
    buffers: usize,
    disconnects: bool,
}

impl<'f> Trial<'f> {
    pub fn new(fabric: &'f Fabric, left_out: &'f [bool], plan: Plan) -> Trial<'f> {
        Trial {
            fabric,
            reroute: plan.reroute,
            traffic: traffic_after(fabric, plan.reroute),
            left_out,
            counts_cuts: plan.cases == Cases::Singles,
        }
    }

    /// The routes of a case.
    fn routes(&self, case: usize, failures: &Failures) -> Routes {
        let reroute = self.reroute.of_sample(case as u64);
        reroute.routes(&self.fabric.topology, &self.fabric.routes, failures)
    }

    fn network<'r>(&'r self, routes: &'r Routes) -> Network<'r> {
        Network { routes, traffic: &self.traffic, ..self.fabric.network() }
    }

    fn judge(&self, checker: &mut Checker, case: usize, failures: &Failures) -> Outcome {
        let routes = self.routes(case, failures);
        let graph = checker.graph(self.network(&routes), self.left_out);
        let buffers =
            if graph.is_cyclic() { graph.components().iter().map(Vec::len).sum() } else { 0 };
        let cuts = || unrouted_pairs(self.network(&routes), None, self.left_out);
        Outcome { case, buffers, disconnects: self.counts_cuts && cuts() > 0 }
    }

    fn explain(&self, checker: &mut Checker, outcome: &Outcome, failures: &Failures) -> Finding {
        let routes = self.routes(outcome.case, failures);
        let network = self.network(&routes);
        let graph = checker.graph(network, self.left_out);
        let components = checker.explain(network, &graph, self.left_out, 1);
        Finding {
            case: outcome.case,
            failed: name(self.fabric, failures),
            buffers: outcome.buffers,
            component: components
                .into_iter()
                .next()
                .expect("a case that is reported has a cyclic component"),
            unrouted_pairs: unrouted_pairs(self.network(&routes), None, self.left_out),
        }
    }
}

/// A switch all of whose links have failed, or the links.
pub(crate) fn name(fabric: &Fabric, failures: &Failures) -> Vec<String> {
    let topology = &fabric.topology;
    let is_whole = |switch: &&NodeId| {
        let ports = topology.ports(**switch);
        ports.len() == failures.links().len() && ports.iter().all(|p| failures.contains(p.link))
    };
    match topology.switches().iter().find(is_whole) {
        Some(switch) if failures.links().len() > 1 => {
            vec![format!("switch {}", topology.node(*switch).name)]
        }
        _ => failures.links().iter().map(|link| link_name(fabric, *link)).collect(),
    }
}

/// Both ends of a link, by the names of their ports where they have any.
fn link_name(fabric: &Fabric, link: LinkIndex) -> String {
    let topology = &fabric.topology;
    let a = topology.links()[link.0 as usize].a;
    let ports = (0..).map(PortId).zip(topology.ports(a));
    let mut ports = ports.filter(|(_, port)| port.link == link);
    let (number, port) = ports.next().expect("a link has a port at its end");
    match fabric.names.port(a, number) {
        None => Failures::of_links([link]).names(topology).join(""),
        Some(_) => format!(
            "{} = {}",
            fabric.port_name(a, number),
            fabric.port_name(port.peer, port.peer_port)
        ),
    }
}

/// The most findings that are kept.
const WORST_MAX: usize = 12;
