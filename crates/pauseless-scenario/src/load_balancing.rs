//! The sections `[[load_balancing]]`: how switches choose among several next hops.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use pauseless_core::class_map::ClassMap;
use pauseless_core::id::{Class, NodeId, PortId};
use pauseless_core::unit::{Bytes, Span};
use pauseless_fabric::pattern::matches;
use pauseless_fabric::topology::Topology;
use pauseless_sim::balance::{self, Drill, Flowlet, LeastQueue, Rule};
use pauseless_sim::config::{Flow, IngressTable, LoadBalancing, Reaction};

use super::flows::TIMES;
use super::pattern::{self, ClassNumber};
use super::switch::BUFFERS;
use super::transport::Conflict;
use pauseless_text::declare::{
    At, Choice, Declared, Entry, Info, Key, List, Place, Section, Variant, Written,
};
use pauseless_text::file::File;
use pauseless_text::problem::Sink;
use pauseless_text::{section, variant, words};

/// The name of the section.
pub const SECTION: &str = "load_balancing";

/// From every frame to none but the largest.
const FRAMES: RangeInclusive<Bytes> = Bytes::ZERO..=*super::FRAMES.end();
/// A port has to be looked at, but no switch has more of them.
const SAMPLES: RangeInclusive<u64> = 1..=64;
const MEMORIES: RangeInclusive<u64> = 0..=64;
/// A silence takes some time.
const GAPS: RangeInclusive<Span> = Span::ns(1)..=*TIMES.end();

/// The next hop with which a flowlet begins, as files call it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowletChoice(pub balance::FlowletChoice);

words! {
    FlowletChoice {
        "random" => FlowletChoice(balance::FlowletChoice::Random),
        "least-loaded" => FlowletChoice(balance::FlowletChoice::LeastLoaded),
    }
}

/// What decides between queues, as files call it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compare(pub balance::Compare);

words! {
    Compare {
        "queue" => Compare(balance::Compare::Queue),
        "pqb" => Compare(balance::Compare::PauseQueueLoad),
    }
}

section! {
    /// How switches choose among several next hops, when they put a packet into an egress queue; later
    /// ones win: see [load-balancing.md](load-balancing.md). Without this section by the hash of the flow.
    pub struct Common {
        /// Names of switches with `*`, such as `["E*"]`.
        switches: List<String>, within "a list of strings", derived "all";
        /// Only packets that come in these classes.
        classes: List<ClassNumber>, derived "all";
        /// Shorter frames, such as acknowledgements, go by the hash of their flow.
        hash_below: Bytes, within FRAMES, default Bytes::new(128);
    }
}

section! {
    /// One next hop as long as the packets of a flow follow each other closely; after a silence another
    /// one, which earlier packets have left already.
    pub struct FlowletKeys {
        /// How long a flow has to be silent.
        gap: Span, within GAPS, default Flowlet::default().gap;
        /// The next hop that a flowlet begins with: `"random"`, as in LetFlow, or `"least-loaded"`, by
        /// what the ports of this switch have sent lately, as in CONGA without its feedback.
        choice: FlowletChoice, default FlowletChoice(Flowlet::default().choice);
    }
}

section! {
    /// DRILL(d, m): the shortest queue among some random next hops and the best ones of last time to
    /// the same destination.
    pub struct DrillKeys {
        /// d, how many random next hops are looked at.
        samples: u8, within SAMPLES, default Drill::default().samples;
        /// m, how many of the best are remembered.
        memory: u8, within MEMORIES, default Drill::default().memory;
    }
}

section! {
    /// Any of the next hops whose queues are in the lowest grade: below 5, 10 or 20 % of `full`, or above.
    pub struct LeastQueueKeys {
        /// What the grades are shares of.
        full: Bytes, within BUFFERS, derived "the largest buffer of an ingress of these switches";
        /// A grade that is known is not read again for so long; 0 reads it for every packet.
        read_every: Span, within TIMES, default Span::ns(100);
        /// With `"pqb"` an egress that the far end has stopped comes last, then the grade of the queue
        /// decides, then that of the load in 30 us: none, below 15 %, below 50 %, or above.
        compare: Compare, default Compare(balance::Compare::Queue);
    }
}

/// A kind of load balancing with its keys.
#[derive(Clone, Debug)]
pub enum Kind {
    /// One next hop for each flow.
    FlowHash,
    /// A random next hop for each packet.
    Random,
    /// One next hop after the other.
    RoundRobin,
    /// A next hop for packets that follow each other closely.
    Flowlet(FlowletKeys),
    /// The shortest of a few queues.
    Drill(DrillKeys),
    /// Any of the shortest queues.
    LeastQueue(LeastQueueKeys),
}

static KINDS: [Variant<Kind>; 6] = [
    variant!("flow-hash": Kind::FlowHash, "One next hop for all packets of a flow, by its hash."),
    variant!("random": Kind::Random, "A random next hop for every packet."),
    variant!(
        "round-robin": Kind::RoundRobin,
        "One next hop of a set after the other, in a random order that is drawn anew after each \
         round."
    ),
    variant!("flowlet": Kind::Flowlet[FlowletKeys]),
    variant!("drill": Kind::Drill[DrillKeys]),
    variant!("least-queue": Kind::LeastQueue[LeastQueueKeys]),
];

fn kinds() -> Choice<Kind> {
    Choice { key: "kind", default: None, variants: KINDS.iter().collect() }
}

/// The whole section, for documents and schemas.
pub(crate) fn info() -> Info {
    Info { about: Common::about(), keys: Common::keys(), variants: Some(kinds().describe()) }
}

/// One section, as it was written.
#[derive(Clone, Debug)]
pub struct Balanced {
    /// Whom it is about.
    pub common: Common,
    /// The rule with its keys.
    pub kind: Kind,
    /// The name of the kind and where it stands.
    pub word: At<&'static str>,
}

impl Default for Balanced {
    fn default() -> Balanced {
        let word = At { value: KINDS[0].name, place: Place::default() };
        Balanced { common: Common::default(), kind: Kind::FlowHash, word }
    }
}

impl Written for Balanced {
    fn entries(&self) -> Vec<Entry> {
        [kinds().entries(&self.kind), self.common.entries()].concat()
    }
}

/// All sections, as they were written.
#[derive(Clone, Debug, Default)]
pub struct Setting {
    all: Vec<Balanced>,
}

/// What the sections are held against.
#[derive(Clone, Copy)]
pub(crate) struct Context<'c> {
    pub topology: &'c Topology,
    pub ingress: &'c IngressTable,
    pub classes: &'c ClassMap,
    pub flows: &'c [Flow],
    /// Why packets of a flow must not take several paths.
    pub conflict: Option<Conflict>,
    pub sink: &'c Sink,
}

impl Setting {
    pub(crate) fn read(root: &mut Section<'_>, class_count: u8) -> Setting {
        let all = root.tables(SECTION).filter_map(|mut section| {
            let kind = kinds().take(&mut section)?;
            let common = Common::read(&mut section);
            pattern::check_classes(common.classes.get(), class_count, &section);
            let word = At { value: kind.value.name, place: kind.place };
            let kind = (kind.value.read)(&mut section)?;
            section.finish();
            Some(Balanced { common, kind, word })
        });
        Setting { all: all.collect() }
    }

    /// One rule for each switch and class that is named; the last one counts.
    pub(crate) fn resolve(&mut self, context: Context<'_>) -> Vec<LoadBalancing> {
        let mut rules: BTreeMap<(NodeId, Class), LoadBalancing> = BTreeMap::new();
        for balanced in &mut self.all {
            let common = &balanced.common;
            let switches = common.switches(context);
            let all = (0..context.ingress.class_count() as u8).map(Class);
            let classes = all.filter(|class| pattern::covers(&common.classes, *class));
            let classes = Vec::from_iter(classes);
            let rule = balanced.kind.rule(context, &switches, &classes);
            if rule.is_per_packet()
                && let Some(conflict) = context.conflict
            {
                refuse_reordering(context, conflict, &balanced.word, &classes);
            }
            let hash_below = common.hash_below.value;
            for (node, class) in
                switches.iter().flat_map(|node| classes.iter().map(|it| (*node, *it)))
            {
                rules.insert((node, class), LoadBalancing { node, class, rule, hash_below });
            }
        }
        rules.into_values().collect()
    }

    /// Writes the sections, with nothing left out.
    pub(crate) fn write(&self, file: &mut File) {
        for balanced in &self.all {
            file.one_of(SECTION, balanced);
        }
    }
}

impl Common {
    /// The switches that it is about.
    fn switches(&self, context: Context<'_>) -> Vec<NodeId> {
        let Context { topology, sink, .. } = context;
        let all = topology.switches();
        let Some(patterns) = self.switches.get() else {
            return all.to_vec();
        };
        let mut found = Vec::new();
        for pattern in patterns {
            if pattern.value.contains('*') {
                let name = |node: &NodeId| &topology.node(*node).name;
                let before = found.len();
                found.extend(all.iter().filter(|node| matches(&pattern.value, name(node))));
                if found.len() == before {
                    let message = format!("no switch is called {:?}", pattern.value);
                    sink.push(pattern.place.problem(message));
                }
            } else {
                found.extend(super::hosts::find_switch(topology, sink, pattern));
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }
}

impl Kind {
    /// The rule; what was left out is completed.
    fn rule(&mut self, context: Context<'_>, switches: &[NodeId], classes: &[Class]) -> Rule {
        match self {
            Kind::FlowHash => Rule::FlowHash,
            Kind::Random => Rule::Random,
            Kind::RoundRobin => Rule::RoundRobin,
            Kind::Flowlet(keys) => {
                Rule::Flowlet(Flowlet { gap: keys.gap.value, choice: keys.choice.value.0 })
            }
            Kind::Drill(keys) => {
                Rule::Drill(Drill { samples: keys.samples.value, memory: keys.memory.value })
            }
            Kind::LeastQueue(keys) => {
                let largest = || largest_buffer(context, switches, classes);
                let full = keys.full.copied().unwrap_or_else(largest);
                keys.full = Key::of(full);
                Rule::LeastQueue(LeastQueue {
                    full,
                    read_every: keys.read_every.value,
                    compare: keys.compare.value.0,
                })
            }
        }
    }
}

/// The largest buffer that any ingress of these switches has for one of these classes.
fn largest_buffer(context: Context<'_>, switches: &[NodeId], classes: &[Class]) -> Bytes {
    let buffers = switches.iter().flat_map(|node| {
        let ports = (0..context.topology.ports(*node).len() as u16).map(PortId);
        ports.flat_map(move |port| {
            classes.iter().map(move |class| context.ingress.get(*node, port, *class).buffer)
        })
    });
    buffers.max().unwrap_or(*BUFFERS.start()).clamp(*BUFFERS.start(), *BUFFERS.end())
}

/// Reports that packets of a flow take several paths, where they must not.
fn refuse_reordering(
    context: Context<'_>,
    conflict: Conflict,
    word: &At<&'static str>,
    classes: &[Class],
) {
    let is_concerned = |flow: &&Flow| {
        flow.reaction != Reaction::None
            && (*context.classes != ClassMap::Same || classes.contains(&flow.class))
    };
    let Some(flow) = context.flows.iter().find(is_concerned) else {
        return;
    };
    let (kind, name) = (word.value, &flow.name);
    let Conflict { why, help } = conflict;
    let message = format!("{kind:?} sends the packets of flow {name} on several paths, {why}");
    let problem = word.place.problem(message).expected("\"flow-hash\" or \"flowlet\"");
    context.sink.push(problem.help(help));
}
