//! From a failure to the text of a scenario: the whole fabric, flows that follow its tables, the failure,
//! and the order in which switches learn of it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use pauseless_core::id::{GroupId, NodeId, PortId};
use pauseless_core::unit::{Bytes, Span, Time};
use pauseless_fabric::fabric::{Fabric, Medium};
use pauseless_fabric::topology::LinkIndex;
use pauseless_scenario::{Overrides, Problems, Scenario, fabric_file};
use pauseless_text::file::quote;
use pauseless_text::unit::Quantity;

use super::{Case, Setting};
use crate::confirm::plan::{self, JITTER};
use crate::sweep;

/// When the failure happens: late enough that queues are as they will be.
pub(super) const FAILS_AT: Time = Time::from_ps(100_000_000);

/// A scenario to which only the order is missing.
pub(super) struct Draft {
    pub setting: Setting,
    /// Everything before the order.
    head: String,
    names: BTreeMap<NodeId, String>,
}

impl Draft {
    /// The scenario of a failure of which these switches learn, or why there is none.
    pub(super) fn new(case: &Case<'_>, learners: &[NodeId], seed: u64) -> Result<Draft, String> {
        let fabric = case.fabric;
        let ports = Ports::new(fabric);
        let step = ports.step;
        let spread = step * (learners.len() as u64).saturating_sub(1);
        let duration = (FAILS_AT - Time::ZERO) + spread + step;
        let head = head(case, &ports, Run { seed, duration });
        let candidates = Vec::from_iter(pairs(case).into_iter().map(|pair| pair.text(fabric)));
        if candidates.is_empty() {
            return Err("no host sends packets along its cycle".to_string());
        }
        let probe = format!("{head}\n{}", candidates.join("\n"));
        let scenario = parse(&probe).map_err(|problems| {
            format!("its scenario is refused: {}", problems.to_string().replace('\n', " "))
        })?;
        let hashed = scenario.config.flows.into_iter().map(|flow| Hashed {
            name: flow.name,
            source: flow.source,
            group: flow.group,
            hash: flow.hash,
        });
        let (chosen, circling) = choose(case, &Vec::from_iter(hashed));
        let flows = candidates.iter().filter(|text| {
            chosen.iter().any(|name| text.contains(&format!("name = {}\n", quote(name))))
        });
        let flows = Vec::from_iter(flows.map(String::as_str));
        let converge = format!("\n[converge]\nspread = \"{}\"\n", spread.exact());
        let setting = Setting {
            flow_control: ports.flow_control(),
            buffer: ports.buffer,
            flow_count: flows.len(),
            circling,
            step,
        };
        let names = learners.iter().map(|node| (*node, fabric.topology.node(*node).name.clone()));
        Ok(Draft {
            setting,
            head: format!("{head}\n{}\n{}{converge}", flows.join("\n"), event(case)),
            names: names.collect(),
        })
    }

    /// The scenario file in which switches learn in this order.
    pub(super) fn text(&self, order: &[NodeId]) -> String {
        let names = order.iter().map(|switch| quote(&self.names[switch]));
        let names = Vec::from_iter(names).join(", ");
        format!("{}order = [{names}]\n", self.head)
    }
}

/// Reads the text as `pauseless run` would.
pub(super) fn parse(text: &str) -> Result<Scenario, Problems> {
    Scenario::parse("transient", text, &Overrides::default())
}

/// What every port has.
struct Ports {
    medium: Medium,
    buffer: Bytes,
    /// Long enough to fill the buffers of a loop of two switches ten times.
    step: Span,
}

impl Ports {
    fn new(fabric: &Fabric) -> Ports {
        let links = fabric.topology.links();
        let all = BTreeSet::from_iter((0..links.len() as u32).map(LinkIndex));
        let buffer = plan::buffer(fabric, &all, XOFF);
        let slowest = links.iter().map(|link| link.rate).min().expect("a cycle has links");
        let step = slowest.tx_span(buffer * 2) * 10;
        // A whole number of microseconds reads better.
        let step = Span::us(step.as_ps().div_ceil(1_000_000));
        Ports { medium: fabric.medium, buffer, step }
    }

    fn flow_control(&self) -> &'static str {
        plan::flow_control(self.medium)
    }
}

/// What a run has that is no part of its network.
struct Run {
    seed: u64,
    duration: Span,
}

/// Everything up to the flows.
fn head(case: &Case<'_>, ports: &Ports, run: Run) -> String {
    let fabric = case.fabric;
    let (mtu, processing) = plan::frames(ports.medium);
    let counters = match ports.medium {
        Medium::Ethernet => "",
        Medium::InfiniBand => "counters = \"iba\"\n",
    };
    // A name of a file may contain anything, a comment may not.
    let name = fabric.name.replace(char::is_control, "?");
    let failed = sweep::name(fabric, case.failures).join(", ");
    let mut text = format!(
        "# {name}, while its switches learn one after the other that {failed} has failed.\n\
         # All flows send at full rate, nobody else does.\n\
         # Written by `pauseless check --confirm --transient`.\n\n"
    );
    // Everything goes into a string, which takes everything.
    let _ = write!(
        text,
        "title = {}\nseed = {}\nduration = \"{}\"\nmtu = \"{}\"\n{}\n\
         [switch]\nbuffer = \"{}\"\nprocessing = \"{}\"\n\n\
         [flow_control]\nkind = \"{}\"\n{counters}\n\
         [timing]\nwire_jitter = \"{}\"\n\n\
         [verdict]\nstop_on_deadlock = true\n",
        quote(&format!("{failed} fails, and switches learn of it one after the other")),
        run.seed,
        run.duration.exact(),
        mtu.exact(),
        fabric_file::network(fabric, case.routing, run.seed),
        ports.buffer.exact(),
        processing.exact(),
        ports.flow_control(),
        JITTER.exact(),
    );
    text
}

/// The failure as events.
fn event(case: &Case<'_>) -> String {
    let topology = &case.fabric.topology;
    let at = (FAILS_AT - Time::ZERO).exact();
    let mut text = String::new();
    let links = case.failures.links();
    let is_of = |switch: &&NodeId| {
        let ports = topology.ports(**switch);
        ports.len() == links.len() && ports.iter().all(|port| links.contains(&port.link))
    };
    match topology.switches().iter().find(is_of).filter(|_| links.len() > 1) {
        Some(switch) => {
            let name = quote(&topology.node(*switch).name);
            let _ =
                write!(text, "[[event]]\nkind = \"switch-down\"\nat = \"{at}\"\nswitch = {name}\n");
        }
        None => {
            for ([a, b], number) in case.failures.ends(topology) {
                let b = if number == 1 { b.to_string() } else { format!("{b}#{number}") };
                let link = format!("[{}, {}]", quote(a), quote(&b));
                let _ =
                    write!(text, "[[event]]\nkind = \"link-down\"\nat = \"{at}\"\nlink = {link}\n");
            }
        }
    }
    text
}

/// A flow that may be sent.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Pair {
    source: NodeId,
    target: NodeId,
    /// Further flows of two hosts have other hashes.
    copy: usize,
}

impl Pair {
    fn text(self, fabric: &Fabric) -> String {
        let name = |node| &fabric.topology.node(node).name;
        let [source, target] = [self.source, self.target].map(name);
        let ttl = match fabric.medium {
            Medium::Ethernet => "ttl = 64\n",
            Medium::InfiniBand => "",
        };
        format!(
            "[[flow]]\nname = {}\nsource = {}\ntarget = {}\n{ttl}",
            quote(&format!("{source}-{target}#{}", self.copy + 1)),
            quote(source),
            quote(target),
        )
    }
}

/// Pairs of hosts that send along the cycle, spread over them, in several copies if they are few.
fn pairs(case: &Case<'_>) -> BTreeSet<Pair> {
    let hops = &case.component.cycle.hops;
    let most = (CANDIDATES_MAX / hops.len().max(1)).max(1);
    let mut ends = BTreeSet::new();
    for hop in hops {
        let (sources, targets) = (&hop.sources, &hop.targets);
        let count = (sources.len() * targets.len()).min(most);
        // Neighbours in the list of sources are mostly on one switch.
        let stride = (sources.len() * targets.len()).div_ceil(count.max(1));
        let places = (0..count).map(|number| number * stride);
        ends.extend(places.filter_map(|place| {
            let source = sources[place % sources.len()];
            let target = *targets.get(place / sources.len())?;
            (source != target).then_some((source, target))
        }));
    }
    let copies = (CANDIDATES_MAX / ends.len().max(1)).clamp(1, COPIES_MAX);
    let pairs = ends
        .into_iter()
        .flat_map(|(source, target)| (0..copies).map(move |copy| Pair { source, target, copy }));
    pairs.collect()
}

/// A flow with what decides its way.
struct Hashed {
    name: String,
    source: NodeId,
    group: GroupId,
    hash: u64,
}

/// The names of the flows that are sent, and how many of them can be sent in a circle.
fn choose(case: &Case<'_>, candidates: &[Hashed]) -> (BTreeSet<String>, usize) {
    let mut ranked = Vec::from_iter(candidates.iter().map(|flow| {
        let hops = case.component.cycle.hops.iter();
        let passed =
            hops.filter(|hop| next_hops(case, flow, hop.buffer.node).contains(&Some(hop.egress)));
        (circle(case, flow), passed.count(), flow)
    }));
    ranked.sort_by_key(|(circle, passed, _)| std::cmp::Reverse((*circle, *passed)));
    let mut used: BTreeMap<NodeId, usize> = BTreeMap::new();
    let (mut names, mut circling) = (BTreeSet::new(), 0);
    // Each first switch has one flow before any has two, so that each can have a circle of its own.
    for turn in 1..=FLOWS_MAX {
        for (circle, _, flow) in &ranked {
            let first = case.fabric.topology.ports(flow.source)[0].peer;
            let count = used.entry(first).or_default();
            if *count < turn && names.len() < FLOWS_MAX && names.insert(flow.name.clone()) {
                *count += 1;
                circling += usize::from(*circle != Circle::None);
            }
        }
    }
    (names, circling)
}

/// Whether packets of a flow run in a circle if some switches know of the failure and others do not.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Circle {
    /// Its packets never do, whoever knows of the failure.
    None,
    /// They do, behind their first switch.
    Later,
    /// They come back to their first switch, so that it and the circle are enough.
    AtSource,
}

/// Where a switch sends a flow before and after it has learnt of the failure, over links that are up.
fn next_hops(case: &Case<'_>, flow: &Hashed, switch: NodeId) -> [Option<PortId>; 2] {
    let topology = &case.fabric.topology;
    [&case.union.old, &case.union.new].map(|routes| {
        let port = routes.table.next_hop(switch, flow.group, flow.hash)?;
        let is_down = case.failures.contains(topology.port(switch, port).link);
        (!is_down).then_some(port)
    })
}

fn circle(case: &Case<'_>, flow: &Hashed) -> Circle {
    let topology = &case.fabric.topology;
    let first = topology.ports(flow.source)[0].peer;
    let ahead = |switch: NodeId| {
        let ports = next_hops(case, flow, switch).into_iter().flatten();
        let peers = ports.map(move |port| topology.port(switch, port).peer);
        peers.filter(|peer| !topology.is_host(*peer))
    };
    // The switches that packets may get to.
    let (mut reached, mut queue) = (BTreeSet::from([first]), vec![first]);
    while let Some(switch) = queue.pop() {
        for peer in ahead(switch) {
            if peer == first {
                return Circle::AtSource;
            }
            if reached.insert(peer) {
                queue.push(peer);
            }
        }
    }
    // Whoever leads nowhere is in no circle, and what is left when all of these are gone is.
    loop {
        let before = reached.len();
        let leads_on = |switch: &NodeId| ahead(*switch).any(|peer| reached.contains(&peer));
        let left = BTreeSet::from_iter(reached.iter().copied().filter(leads_on));
        if left.len() == before {
            return if left.is_empty() { Circle::None } else { Circle::Later };
        }
        reached = left;
    }
}

/// The most flows of one run.
const FLOWS_MAX: usize = 16;
/// The most flows among which those are sought whose hashes lead them along the cycle.
const CANDIDATES_MAX: usize = 512;
/// The most flows between two hosts among them.
const COPIES_MAX: usize = 32;
/// The threshold of PFC: a third of that of GFC Fig. 11, so that loops fill sooner.
const XOFF: Bytes = Bytes::kb(100);
