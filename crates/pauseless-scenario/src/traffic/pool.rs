//! Which hosts take part, and who may send to whom.

use std::collections::BTreeSet;
use std::ops::Range;

use pauseless_core::id::NodeId;
use pauseless_fabric::topology::Topology;
use pauseless_sim::rng::Stream;

pub use super::super::flows::Limits;
use super::super::hosts::HostSpan;
use super::scene::Scene;
use pauseless_fabric::pattern::matches;
use pauseless_text::declare::{Key, List};
use pauseless_text::problem::Sink;
use pauseless_text::reader::{At, Place};
use pauseless_text::section;

/// Hosts as they were written: names, ranges such as `H2..H5`, and names with `*`.
#[derive(Clone, Copy, Debug)]
pub struct Pool<'k> {
    texts: &'k [At<String>],
    pub place: &'k Place,
}

impl<'k> Pool<'k> {
    /// The hosts of a key that was completed.
    pub(super) fn of(key: &'k Key<List<String>>) -> Pool<'k> {
        let At { value, place } =
            key.given.as_ref().expect("`complete_hosts` sets the list of hosts");
        Pool { texts: value, place }
    }

    /// The hosts in the order of the topology, each once; `None` if something was reported.
    pub(super) fn hosts(&self, scene: &Scene<'_>) -> Option<Vec<NodeId>> {
        let hosts = scene.topology.hosts();
        let mut places = Vec::new();
        let mut is_good = true;
        for text in self.texts {
            let before = places.len();
            if text.value.contains('*') {
                let name = |place: &usize| &scene.topology.node(hosts[*place]).name;
                let all = 0..hosts.len();
                places.extend(all.filter(|place| matches(&text.value, name(place))));
                if places.len() == before {
                    let message = format!("no host is called {:?}", text.value);
                    scene.sink.push(text.place.problem(message));
                    is_good = false;
                }
                continue;
            }
            match HostSpan::read(scene.topology, scene.sink, text) {
                Some(span) if span.address == 1 => places.extend(span.places()),
                Some(_) => {
                    let problem = text.place.problem("traffic knows hosts, not addresses");
                    scene.sink.push(problem.help("leave out what begins with @"));
                    is_good = false;
                }
                None => is_good = false,
            }
        }
        if self.texts.is_empty() {
            scene.sink.push(self.place.problem("no host is listed"));
            is_good = false;
        }
        places.sort_unstable();
        places.dedup();
        is_good.then(|| places.into_iter().map(|place| hosts[place]).collect())
    }
}

/// Hosts by rack, from which partners are drawn.
#[derive(Clone, Debug)]
pub struct Racks<'t> {
    topology: &'t Topology,
    /// By rack, so that those whom a host may not talk to stand together.
    hosts: Vec<(NodeId, NodeId)>,
    other_rack: bool,
}

impl<'t> Racks<'t> {
    /// The racks of `hosts`; partners are in another rack, if so wanted.
    pub(super) fn new(topology: &'t Topology, hosts: &[NodeId], other_rack: bool) -> Racks<'t> {
        let mut hosts = Vec::from_iter(hosts.iter().map(|host| (rack(topology, *host), *host)));
        hosts.sort_unstable();
        Racks { topology, hosts, other_rack }
    }

    /// All of them, by rack.
    pub(super) fn hosts(&self) -> impl Iterator<Item = NodeId> {
        self.hosts.iter().map(|(_, host)| *host)
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.hosts.len()
    }

    /// Where those stand that `peer` has nothing to do with.
    fn barred(&self, peer: NodeId) -> Range<usize> {
        let rack = rack(self.topology, peer);
        let start = |host| self.hosts.partition_point(|other| *other < host);
        if self.other_rack {
            start((rack, NodeId(0)))..self.hosts.partition_point(|(r, _)| *r <= rack)
        } else {
            match self.hosts.binary_search(&(rack, peer)) {
                Ok(place) => place..place + 1,
                Err(place) => place..place,
            }
        }
    }

    /// How many are partners of `peer`.
    pub(super) fn partner_count(&self, peer: NodeId) -> usize {
        self.hosts.len() - self.barred(peer).len()
    }

    /// The partners of `peer`.
    pub(super) fn partners(&self, peer: NodeId) -> impl Iterator<Item = NodeId> {
        let barred = self.barred(peer);
        let (before, after) = (&self.hosts[..barred.start], &self.hosts[barred.end..]);
        before.iter().chain(after).map(|(_, host)| *host)
    }

    /// One partner of `peer`, of which there must be some.
    pub(super) fn draw(&self, stream: &mut Stream, peer: NodeId) -> NodeId {
        let barred = self.barred(peer);
        let place = stream.below((self.hosts.len() - barred.len()) as u64) as usize;
        self.at(place, &barred)
    }

    /// As many different partners of `peer`, in order; there must be so many.
    pub(super) fn draw_some(&self, stream: &mut Stream, peer: NodeId, count: usize) -> Vec<NodeId> {
        let barred = self.barred(peer);
        let all = self.hosts.len() - barred.len();
        // Floyd's way: as many draws as there are to be chosen, whatever they are chosen from.
        let mut chosen = BTreeSet::new();
        for last in all - count..all {
            let place = stream.below(last as u64 + 1) as usize;
            if !chosen.insert(place) {
                chosen.insert(last);
            }
        }
        chosen.into_iter().map(|place| self.at(place, &barred)).collect()
    }

    fn at(&self, place: usize, barred: &Range<usize>) -> NodeId {
        let skipped = if place < barred.start { 0 } else { barred.len() };
        self.hosts[place + skipped].1
    }
}

/// The switch of a host.
fn rack(topology: &Topology, host: NodeId) -> NodeId {
    topology.ports(host)[0].peer
}

section! {
    /// Who sends, who receives, and whether they may be neighbours.
    pub struct Ends {
        /// The hosts that send. Lists of hosts have names, ranges in the order of the topology such
        /// as `"H2..H15"`, and names in which `*` stands for any text.
        sources: List<String>, within "a list of strings", derived "all hosts";
        /// The host that receives.
        target: String, within "the name of a host", derived "one of `targets`";
        /// The hosts of which one is drawn each time to receive.
        targets: List<String>, within "a list of strings", derived "all hosts";
        /// Whether the target is never on the source's own switch; never is it the source itself.
        other_rack: bool, derived "`true` where there are two racks, `false` with `incast`";
    }
}

/// Who sends and who receives, as hosts.
pub struct Cast<'t> {
    pub sources: Racks<'t>,
    pub targets: Racks<'t>,
}

/// All hosts where a list of them was left out by the section at `place`.
pub(super) fn complete_hosts(key: &mut Key<List<String>>, place: &Place) {
    if key.given.is_none() {
        let all = At { value: "*".to_string(), place: place.clone() };
        *key = Key::at(vec![all], place);
    }
}

impl Ends {
    /// Fills in what was left out.
    pub(super) fn complete(&mut self, limits: Limits<'_>) {
        if let Some(place) = self.target.place().filter(|_| self.targets.is_written) {
            let problem = place.problem("both target and targets are written");
            limits.sink.push(problem.help("keep one of them"));
        }
        complete_hosts(&mut self.sources, &self.place);
        if self.target.given.is_none() {
            complete_hosts(&mut self.targets, &self.place);
        }
        if let (None, Some(topology)) = (&self.other_rack.given, limits.topology) {
            let mut racks = topology.hosts().iter().map(|host| rack(topology, *host));
            let first = racks.next();
            self.other_rack = Key::of(racks.any(|rack| Some(rack) != first));
        }
    }

    /// The hosts that send.
    pub(super) fn sources(&self) -> Pool<'_> {
        Pool::of(&self.sources)
    }

    /// The target and how many others send, if it was written among its own sources by name or in
    /// a range; a `*` stands for all who can.
    pub(super) fn own_target(&self, topology: &Topology) -> Option<(&str, usize)> {
        let target = &self.target.given.as_ref()?.value;
        let sources = &self.sources.given.as_ref()?.value;
        if sources.iter().any(|text| text.value.contains('*')) {
            return None;
        }
        let spans = HostSpan::find_all(topology, &Sink::default(), sources);
        let hosts = BTreeSet::from_iter(spans.into_iter().flat_map(|span| span.value.places()));
        let names = hosts.iter().map(|place| &topology.node(topology.hosts()[*place]).name);
        let is_among = names.clone().any(|name| name == target);
        is_among.then(|| (target.as_str(), hosts.len() - 1))
    }

    /// The hosts that receive.
    fn targets(&self) -> Pool<'_> {
        match &self.target.given {
            Some(target) => Pool { texts: std::slice::from_ref(target), place: &target.place },
            None => Pool::of(&self.targets),
        }
    }

    /// Whether partners are in different racks.
    fn is_apart(&self) -> bool {
        self.other_rack.or(false)
    }

    /// The hosts; `None` if something was reported.
    pub(super) fn cast<'t>(&self, scene: &Scene<'t>) -> Option<Cast<'t>> {
        let is_apart = self.is_apart();
        let (sources, targets) = (self.sources().hosts(scene), self.targets().hosts(scene));
        let racks = |hosts: Vec<NodeId>| Racks::new(scene.topology, &hosts, is_apart);
        let (sources, targets) = sources.zip(targets)?;
        Some(Cast { sources: racks(sources), targets: racks(targets) })
    }

    /// The hosts, if every source has a target.
    pub(super) fn cast_from_sources<'t>(&self, scene: &Scene<'t>) -> Option<Cast<'t>> {
        let cast = self.cast(scene)?;
        let mut sources = cast.sources.hosts();
        let Some(lonely) = sources.find(|source| cast.targets.partner_count(*source) == 0) else {
            drop(sources);
            return Some(cast);
        };
        let name = &scene.topology.node(lonely).name;
        let problem = self.targets().place.problem(format!("{name} has no target"));
        let help = if self.is_apart() {
            "add targets of other racks, or other_rack = false"
        } else {
            "add a target"
        };
        scene.sink.push(problem.help(help));
        None
    }

    /// The hosts, if every target has at least `count` sources.
    pub(super) fn cast_to_targets<'t>(&self, scene: &Scene<'t>, count: u64) -> Option<Cast<'t>> {
        let cast = self.cast(scene)?;
        let available = |target: NodeId| cast.sources.partner_count(target);
        let counts = cast.targets.hosts().map(|target| (available(target), target));
        let (least, target) = counts.min()?;
        if least as u64 >= count {
            return Some(cast);
        }
        let name = &scene.topology.node(target).name;
        let problem = self
            .sources()
            .place
            .problem(format!("{count} sources are needed for {name}, and there are {least}"));
        let help = if self.is_apart() {
            "add sources, ask for fewer at a time, or write other_rack = false"
        } else {
            "add sources, or ask for fewer at a time"
        };
        scene.sink.push(problem.help(help));
        None
    }
}
