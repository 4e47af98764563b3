//! The sections `[[traffic]]`: flows that are made by a rule.
//!
//! A section and the seed decide its flows, and nothing else does: not the other sections, not
//! the order of the file, not where a distribution was read from. The resolved scenario therefore
//! has the sections, and not what they made.

mod cdf;
mod chain;
mod collective;
mod open;
mod pool;
mod random;
mod sizes;
mod write;

use std::collections::BTreeMap;
use std::fmt;
use std::rc::Rc;

use pauseless_core::id::NodeId;
use pauseless_core::unit::{Bytes, Rate, Span};
use pauseless_fabric::topology::Topology;

use super::flows::{Limits, Plan, Planner, Wanted, Written, check_name};
use super::reader::{At, Place, Section};
use super::unit::Quantity;
use crate::problem::Sink;
use chain::ClosedLoop;
use collective::{Collective, Pattern};
use open::{Incast, Poisson};
use sizes::{ClassesBySize, Sizes};

/// `[[traffic]]` as it was written.
#[derive(Debug)]
pub(crate) struct Traffic {
    /// What its flows' names begin with.
    name: String,
    /// Where the name was written, if it was.
    name_place: Option<Place>,
    kind: Kind,
    wanted: Wanted,
    classes: ClassesBySize,
    place: Rc<Place>,
}

#[derive(Debug)]
enum Kind {
    Permutation,
    Poisson(Poisson),
    Incast(Incast),
    ClosedLoop(ClosedLoop),
    Collective(Collective),
}

/// The words for the kinds, before their keys are read.
#[derive(Clone, Copy)]
enum Word {
    Permutation,
    Poisson,
    Incast,
    ClosedLoop,
    Collective(Pattern),
}

const WORDS: [(&str, Word); 7] = [
    ("permutation", Word::Permutation),
    ("poisson", Word::Poisson),
    ("incast", Word::Incast),
    ("closed-loop", Word::ClosedLoop),
    (
        "all-to-all",
        Word::Collective(Pattern::AllToAll { is_shifted: false }),
    ),
    ("ring-all-reduce", Word::Collective(Pattern::Ring)),
    (
        "tree-all-reduce",
        Word::Collective(Pattern::Tree { chunks: 1 }),
    ),
];

impl Kind {
    fn word(&self) -> &'static str {
        match self {
            Kind::Permutation => "permutation",
            Kind::Poisson(_) => "poisson",
            Kind::Incast(_) => "incast",
            Kind::ClosedLoop(_) => "closed-loop",
            Kind::Collective(collective) => match collective.pattern {
                Pattern::AllToAll { .. } => "all-to-all",
                Pattern::Ring => "ring-all-reduce",
                Pattern::Tree { .. } => "tree-all-reduce",
            },
        }
    }
}

impl Traffic {
    /// Reads all sections. Two of one name are reported: a number that told them apart would
    /// depend on their order, or on each other.
    pub(crate) fn read_all(root: &mut Section<'_>, limits: Limits<'_>) -> Vec<Traffic> {
        let sections = root.tables_or_one("traffic").into_iter();
        let traffic = sections.filter_map(|section| Traffic::read(section, limits));
        let mut named: BTreeMap<String, Traffic> = BTreeMap::new();
        for one in traffic {
            if named.contains_key(&one.name) {
                let place = one.name_place.as_ref().unwrap_or(&one.place);
                let problem = place.problem(format!("two [[traffic]] are called {:?}", one.name));
                root.report(problem.help("give each a name of its own"));
                continue;
            }
            named.insert(one.name.clone(), one);
        }
        named.into_values().collect()
    }

    fn read(mut section: Section<'_>, limits: Limits<'_>) -> Option<Traffic> {
        let has_kind = section.has("kind");
        let word = section.choice("kind", &WORDS);
        if !has_kind {
            section.missing("kind", "\"permutation\"");
        }
        let Some(word) = word.map(|word| word.value) else {
            section.discard();
            return None;
        };
        let name = section.string("name");
        let name = name.filter(|name| check_name(&section, name));
        let has_size = section.has("size");
        let wanted = Wanted::read(&mut section, limits);
        let size = (has_size, wanted.terms.size);
        let kind = match word {
            Word::Permutation => Some(Kind::Permutation),
            Word::Collective(pattern) => {
                Collective::read(&mut section, pattern, size).map(Kind::Collective)
            }
            word => {
                let sizes = Sizes::read(&mut section, size, limits.folder);
                match word {
                    Word::Poisson => Poisson::read(&mut section, sizes).map(Kind::Poisson),
                    Word::Incast => Incast::read(&mut section, sizes).map(Kind::Incast),
                    _ => ClosedLoop::read(&mut section, sizes).map(Kind::ClosedLoop),
                }
            }
        };
        let classes = ClassesBySize::read(&mut section, limits);
        let place = Rc::new(section.place.clone());
        if let Some(kind) = &kind {
            section.set_context(format!(" with kind = {:?}", kind.word()));
        }
        section.finish();
        let kind = kind?;
        let (name, name_place) = match name {
            Some(At { value, place }) => (value, Some(place)),
            None => (kind.word().to_string(), None),
        };
        Some(Traffic {
            name,
            name_place,
            kind,
            wanted,
            classes,
            place,
        })
    }

    /// Whether its flows are named after it. Those of a permutation without a name are called
    /// by their ends, as flows without a name are.
    fn is_prefixed(&self) -> bool {
        self.name_place.is_some() || !matches!(self.kind, Kind::Permutation)
    }

    /// Whether flows may begin late because of `timing.start_jitter`: not where instants are what
    /// the section is about.
    fn is_exact(&self) -> bool {
        matches!(self.kind, Kind::Poisson(_) | Kind::Incast(_))
    }

    /// When flows stop although they are not finished. Where flows wait for others, nobody
    /// can know beforehand which of them would start after `stop`, so that it cuts them off.
    fn cut(&self) -> Option<Span> {
        match self.kind {
            Kind::Poisson(_) | Kind::Incast(_) => None,
            _ => self.wanted.terms.stop,
        }
    }
}

/// A flow that was made.
struct Made {
    name: String,
    source: NodeId,
    target: NodeId,
    size: Bytes,
    start: Span,
}

/// One flow waits for another; both by their place in a list.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Link {
    pub first: u32,
    pub then: u32,
    pub delay: Span,
}

/// What a section made.
#[derive(Default)]
struct Batch {
    flows: Vec<Made>,
    follows: Vec<Link>,
}

/// Where and when a section makes its flows.
struct Scene<'s> {
    topology: &'s Topology,
    seed: u64,
    sink: &'s Sink,
    name: &'s str,
    rate: Option<Rate>,
    start: Span,
    /// No flow starts then or later.
    end: Span,
}

impl Scene<'_> {
    /// The rate of a host's link.
    fn link(&self, host: NodeId) -> Rate {
        self.topology.ports(host)[0].rate
    }

    /// The pace of a host's flows.
    fn pace(&self, host: NodeId) -> Rate {
        self.rate.unwrap_or(self.link(host))
    }

    /// `NAME/SOURCE->TARGET#NUMBER`.
    fn flow_name(&self, source: NodeId, target: NodeId, number: fmt::Arguments<'_>) -> String {
        let [source, target] = [source, target].map(|node| &self.topology.node(node).name);
        format!("{}/{source}->{target}#{number}", self.name)
    }
}

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
        let mut count = 0.0;
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
            match self.until {
                Some(_) => count += self.make_flows(traffic, &scene, &mut made),
                None => count += self.make_pairs(traffic, &scene, &mut made),
            }
        }
        let (most, what) = match self.until {
            Some(_) => (FLOWS_MAX, "flows"),
            None => (PAIRS_MAX, "pairs of hosts"),
        };
        if count > most as f64
            && let Some(first) = written.traffic.first()
        {
            let message = format!("about {count:.0} {what} would be made");
            let problem = first.place.problem(message);
            let help = match self.until {
                Some(_) => "a shorter duration, an earlier stop, a smaller load or larger flows",
                None => "without [[traffic]] and [[flow]], every host is taken to send to all",
            };
            self.sink
                .push(problem.expected(format!("at most {most}")).help(help));
            return MadePlans::default();
        }
        made
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
        if !matches!(traffic.kind, Kind::Permutation) || terms.size.is_some() {
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
            terms,
            pace,
            initial,
            place: Rc::clone(&traffic.place),
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
        for (source, target, sizes) in pairs {
            let classes = traffic.classes.classes(sizes, traffic.wanted.terms.class);
            for class in classes {
                let flow = Made {
                    name: scene.flow_name(source, target, format_args!("{class}")),
                    source,
                    target,
                    size: sizes.0,
                    start: scene.start,
                };
                let Some(mut plan) = self.made_plan(traffic, flow) else {
                    return 0.0;
                };
                plan.terms.class = class;
                made.plans.push(plan);
            }
        }
        count
    }

    /// The cycles of permutations without a name, whose flows are named like others without one.
    pub(crate) fn permutations<'w>(&self, written: &'w Written) -> Vec<(Plan, &'w Wanted)> {
        let mut plans = Vec::new();
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

    /// Every host sends to the next one of a random cycle through all hosts.
    fn permute(&self, traffic: &Traffic) -> Vec<Made> {
        let topology = &self.fabric.topology;
        let mut hosts = topology.hosts().to_vec();
        if hosts.len() < 2 {
            let problem = traffic
                .place
                .problem("a permutation needs at least two hosts");
            self.sink.push(problem);
            return Vec::new();
        }
        let entity = match traffic.is_prefixed() {
            true => pauseless_sim::rng::hash_name(&traffic.name),
            false => 0,
        };
        let workload = pauseless_sim::rng::Purpose::Workload;
        pauseless_sim::rng::Stream::new(self.seed, workload, entity).shuffle(&mut hosts);
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
            Kind::Permutation if !self.is_prefixed() => None,
            Kind::Permutation => {
                let flows = planner.permute(self);
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
            Kind::Permutation if !self.is_prefixed() => return None,
            Kind::Permutation => {
                let flows = planner.permute(self).into_iter();
                let pairs = flows.map(|flow| (flow.source, flow.target, (flow.size, flow.size)));
                let pairs = Vec::from_iter(pairs);
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

/// Above this, neither a run nor its report fits the memory of a workstation.
const FLOWS_MAX: usize = 5_000_000;
/// The same for what flows wait for.
const FOLLOWS_MAX: usize = 20_000_000;
/// The same for the pairs of hosts that `check` looks at.
const PAIRS_MAX: usize = 2_000_000;
