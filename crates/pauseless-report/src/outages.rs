//! What changed in the network during a run: when each event began, which links and switches were down
//! from when to when, and which switches forwarded by another table than at first.

use std::collections::{BTreeMap, BTreeSet};

use pauseless_core::id::{NodeId, PortId};
use pauseless_core::unit::Time;
use pauseless_run::Run;
use pauseless_sim::change::{Change, NewTable, What};

/// A time in which something was not as at the beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spell<T> {
    /// What it is about.
    pub of: T,
    /// The instant at which it began.
    pub from: Time,
    /// When it ended; `None` if it lasted to the end of the run.
    pub to: Option<Time>,
}

/// What was not as at the beginning, and when.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spells {
    /// Links that were down, by both of their ports: by themselves, or with a switch.
    pub links: Vec<Spell<[(NodeId, PortId); 2]>>,
    /// Switches that were down.
    pub switches: Vec<Spell<NodeId>>,
    /// Switches that had another table than at first, or none.
    pub tables: Vec<Spell<NodeId>>,
}

/// The first change of each event before the end of the run, in order of time.
pub fn firsts(run: &Run) -> Vec<Change> {
    let mut seen = BTreeSet::new();
    let changes = run.scenario.config.changes.list.iter();
    let past = changes.filter(|change| change.time < run.outcome.end);
    past.filter(|change| seen.insert(change.event)).copied().collect()
}

impl Spells {
    /// Those of a run, each kind in the order in which they end.
    pub fn of(run: &Run) -> Spells {
        let mut ledger = Ledger::new(run);
        for change in &run.scenario.config.changes.list {
            if change.time >= run.outcome.end {
                break;
            }
            ledger.note(*change);
        }
        ledger.close()
    }
}

/// What is not as at the beginning, while the changes of a run are read.
struct Ledger<'r> {
    run: &'r Run,
    cut: BTreeSet<[(NodeId, PortId); 2]>,
    off: BTreeSet<NodeId>,
    links: BTreeMap<[(NodeId, PortId); 2], Time>,
    switches: BTreeMap<NodeId, Time>,
    tables: BTreeMap<NodeId, Time>,
    spells: Spells,
}

impl<'r> Ledger<'r> {
    fn new(run: &'r Run) -> Ledger<'r> {
        Ledger {
            run,
            cut: BTreeSet::new(),
            off: BTreeSet::new(),
            links: BTreeMap::new(),
            switches: BTreeMap::new(),
            tables: BTreeMap::new(),
            spells: Spells::default(),
        }
    }

    fn note(&mut self, change: Change) {
        let now = change.time;
        match change.what {
            What::LinkDown(node, port) => {
                self.cut.insert(self.ends(node, port));
                self.look_at(now, [port].into_iter(), node);
            }
            What::LinkUp(node, port) => {
                self.cut.remove(&self.ends(node, port));
                self.look_at(now, [port].into_iter(), node);
            }
            What::SwitchDown(node) => {
                self.off.insert(node);
                self.switches.entry(node).or_insert(now);
                self.look_at(now, self.ports(node), node);
            }
            What::SwitchUp(node) => {
                self.off.remove(&node);
                let from = self.switches.remove(&node);
                let spell = from.map(|from| Spell { of: node, from, to: Some(now) });
                self.spells.switches.extend(spell);
                self.look_at(now, self.ports(node), node);
            }
            What::Table(node, NewTable::First) => {
                let from = self.tables.remove(&node);
                let spell = from.map(|from| Spell { of: node, from, to: Some(now) });
                self.spells.tables.extend(spell);
            }
            What::Table(node, _) => {
                self.tables.entry(node).or_insert(now);
            }
            What::Noise(..) => {}
        }
    }

    /// Opens or closes the spells of links after something has changed at these ports.
    fn look_at(&mut self, now: Time, ports: impl Iterator<Item = PortId>, node: NodeId) {
        for port in ports {
            let link = self.ends(node, port);
            let is_down =
                self.cut.contains(&link) || link.iter().any(|(end, _)| self.off.contains(end));
            if is_down {
                self.links.entry(link).or_insert(now);
            } else if let Some(from) = self.links.remove(&link) {
                self.spells.links.push(Spell { of: link, from, to: Some(now) });
            }
        }
    }

    /// Both ends of a link, the lower one first.
    fn ends(&self, node: NodeId, port: PortId) -> [(NodeId, PortId); 2] {
        let far = self.run.topology().port(node, port);
        let mut ends = [(node, port), (far.peer, far.peer_port)];
        ends.sort_unstable();
        ends
    }

    fn ports(&self, node: NodeId) -> impl Iterator<Item = PortId> + use<> {
        (0..self.run.topology().ports(node).len() as u16).map(PortId)
    }

    fn close(self) -> Spells {
        let mut spells = self.spells;
        let open = |(of, from)| Spell { of, from, to: None };
        spells.links.extend(self.links.into_iter().map(|(of, from)| Spell { of, from, to: None }));
        spells.switches.extend(self.switches.into_iter().map(open));
        spells.tables.extend(self.tables.into_iter().map(open));
        spells
    }
}
