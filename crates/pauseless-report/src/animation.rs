//! What a run recorded for its replay, as one picture that moves without a script.

use pauseless_core::id::{NodeId, PortId};
use pauseless_core::unit::Time;
use pauseless_figures::network::film::{self, Caption, Film, Motion, Wire};
use pauseless_figures::network::{Network, Node, Role, Sizes};
use pauseless_figures::svg::{Ground, Sheet, Svg};
use pauseless_run::Run;
use pauseless_sim::outcome::{Deadlock, Replay};
use pauseless_text::quantity;

use super::{scene, verdict};

/// The run as an animated SVG document. The error says why there is nothing to draw.
pub fn svg(run: &Run) -> Result<String, String> {
    let nodes = run.topology().nodes().len();
    if nodes > NODES_MAX {
        return Err(format!(
            "the network has {nodes} nodes, and an animation shows up to {NODES_MAX}"
        ));
    }
    let replay = run.outcome.replay.as_ref().ok_or("nothing was recorded")?;
    let shown = Shown { run, replay, frames: frames(run, replay) };
    let film = Film {
        frames: shown.frames.len(),
        seconds: SECONDS,
        wires: shown.wires(),
        captions: shown.captions(),
    };
    let drawing = film::draw(&network(run), &film);
    let sheet = Sheet {
        size: drawing.size,
        unit: "px",
        title: &run.scenario.title,
        description: &verdict::brief(run),
        definitions: Svg::default(),
        ground: Ground::Paper,
    };
    Ok(sheet.document(&drawing.svg))
}

/// A run with the instants of its replay that are shown.
struct Shown<'r> {
    run: &'r Run,
    replay: &'r Replay,
    /// Positions among the instants of the replay.
    frames: Vec<usize>,
}

impl Shown<'_> {
    /// Both directions of every link, each from its sending port.
    fn wires(&self) -> Vec<Wire> {
        let outcomes = self.run.outcome.ports.iter().enumerate();
        let wires = outcomes.map(|(sender, port)| {
            let link = self.run.topology().port(port.node, port.port);
            Wire {
                from: port.node.index(),
                to: link.peer.index(),
                states: self.states(sender, port.node, port.port),
                fill: self.fill(link.peer, link.peer_port),
            }
        });
        wires.collect()
    }

    /// What the port at this position does at each instant.
    fn states(&self, sender: usize, node: NodeId, port: PortId) -> Vec<Motion> {
        let states = &self.replay.ports[sender];
        let deadlock = self.run.outcome.deadlock.as_ref();
        let is_member = |deadlock: &Deadlock| {
            deadlock.members.iter().any(|queue| (queue.node, queue.port) == (node, port))
        };
        let stuck = deadlock.filter(|deadlock| is_member(deadlock)).map(|deadlock| deadlock.time);
        let state = |position: usize| {
            let at = self.frames[position];
            let before = position.checked_sub(1).map_or(0, |before| self.frames[before]);
            if stuck.is_some_and(|stuck| stuck <= self.replay.times[at]) {
                Motion::Deadlocked
            } else if states.allowed[at] == 0 {
                Motion::Stopped
            } else if states.sent[at] == states.sent[before] {
                Motion::Idle
            } else if states.allowed[at] < 1_000 {
                Motion::Slowed
            } else {
                Motion::Moving
            }
        };
        (0..self.frames.len()).map(state).collect()
    }

    /// How full the queue of an ingress is at each instant.
    fn fill(&self, node: NodeId, port: PortId) -> Vec<f64> {
        let states = &self.replay.ports[scene::end_index(self.run, node, port)];
        let full = scene::full_at(self.run, node, port).get() as f64;
        self.frames.iter().map(|at| f64::from(states.held[*at]) / full).collect()
    }

    /// What is said from which instant on.
    fn captions(&self) -> Vec<Caption> {
        let frame = |at: Time| {
            let after = self.frames.iter().position(|frame| self.replay.times[*frame] >= at);
            after.unwrap_or(self.frames.len())
        };
        let caption =
            |at: Time, text: String, is_alarm| Caption { frame: frame(at), text, is_alarm };
        let mut captions = vec![caption(Time::ZERO, self.run.scenario.title.clone(), false)];
        let outcome = &self.run.outcome;
        let held = outcome.ports.iter().filter_map(|port| {
            let first = port.held_first?;
            Some((first, self.run.port_name(port.node, port.port)))
        });
        captions.extend(held.min().map(|(at, name)| {
            caption(at, format!("{}: {name} is held back first", quantity::time(at)), false)
        }));
        captions.extend(outcome.deadlock.as_ref().map(|deadlock| {
            let text = format!("{}: the cycle has closed, deadlock", quantity::time(deadlock.time));
            caption(deadlock.time, text, true)
        }));
        captions.sort_by_key(|caption| caption.frame);
        captions.retain(|caption| caption.frame < self.frames.len());
        captions
    }
}

/// The instants that are shown: until a while after the deadlock, or until the end.
fn frames(run: &Run, replay: &Replay) -> Vec<usize> {
    let end = run
        .outcome
        .deadlock
        .as_ref()
        .map_or(run.outcome.end, |deadlock| Time::ZERO + (deadlock.time - Time::ZERO) * 8 / 5);
    let last = replay.times.iter().rposition(|at| *at <= end).unwrap_or(0);
    let count = FRAMES_MAX.min(last + 1);
    let mut frames =
        Vec::from_iter((0..count).map(|frame| frame * last / count.max(2).saturating_sub(1)));
    frames.dedup();
    frames
}

/// The network, in rows if it has any.
fn network(run: &Run) -> Network {
    let topology = run.topology();
    let layers = topology.nodes().iter().map(|node| node.layer);
    let has_rows = layers.max().is_some_and(|highest| highest > 1);
    let nodes = topology.nodes().iter().enumerate().map(|(id, node)| {
        let id = NodeId(id as u32);
        let role = if topology.is_host(id) { Role::Host } else { Role::Passed };
        Node {
            name: node.name.clone(),
            tooltip: node.name.clone(),
            role,
            layer: has_rows.then_some(usize::from(node.layer)),
            home: topology.ports(id).first().map(|port| port.peer.index()),
            notes: Vec::new(),
        }
    });
    let nodes: Vec<Node> = nodes.collect();
    let links = topology.links().iter().map(|link| [link.a.index(), link.b.index()]);
    Network {
        sizes: Sizes::small(&nodes),
        links: links.collect(),
        nodes,
        ring: Vec::new(),
        arrows: Vec::new(),
        routes: Vec::new(),
    }
}

/// How long an animation plays until it begins anew.
const SECONDS: f64 = 9.0;
/// The most instants of an animation.
const FRAMES_MAX: usize = 90;
/// The most nodes of a network whose animation can be read.
const NODES_MAX: usize = 40;
