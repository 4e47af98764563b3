//! What the script of a page shows: curves, moments, and the state of all ports over time.
//!
//! It is one JSON document inside the page; `pauseless-page/web/src/data.ts` reads it.

use std::io::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use pauseless_core::id::{Class, NodeId, PortId};
use pauseless_core::unit::{Bytes, Time};
use pauseless_sim::config::Replay;
use pauseless_sim::outcome::{EgressQueue, PortStates};
use serde::Serialize;

use super::figure::{Panel, ms};
use super::outages;
use super::outages::{Spell, Spells};
use pauseless_figures::axis::Extent;
use pauseless_figures::colour::{ALARM, PALETTE};
use pauseless_figures::figure::{self, Mark, Scale, Source};
use pauseless_figures::thin::thinned;
use pauseless_run::Run;
use pauseless_scenario::Scenario;

/// Makes the run of `scenario` record what a page replays, if its network can be drawn.
pub fn record_replay(scenario: &mut Scenario) {
    let links = scenario.config.topology.links().len();
    if links > LINKS_MAX {
        return;
    }
    let instants_max = (CELLS_MAX / (2 * links.max(1))).min(INSTANTS_MAX) as u32;
    scenario.config.replay = Replay::On { instants_max };
}

/// The document for `runs` with their panels.
pub fn document(runs: &[(&Run, Vec<Panel>)]) -> String {
    let panels = runs.iter().flat_map(|(_, panels)| panels).flat_map(|panel| &panel.figure.panels);
    let curves: usize = panels.map(|panel| panel.series.len()).sum();
    let points_max = (POINTS_MAX / curves.max(1)).clamp(300, 3_000);
    let replays = runs.iter().filter_map(|(run, _)| cells(run));
    let stride = (replays.sum::<usize>() / PAGE_CELLS_MAX + 1).next_power_of_two();
    let acts = runs.iter().map(|(run, panels)| Act::new(run, panels, points_max, stride));
    let scene = Scene { palette: PALETTE, alarm: ALARM, runs: acts.collect() };
    let text = serde_json::to_string(&scene).expect("numbers and texts");
    // Nothing in it may end the element that it stands in.
    text.replace('<', "\\u003c")
}

/// How many states a run has recorded.
fn cells(run: &Run) -> Option<usize> {
    let replay = run.outcome.replay.as_ref()?;
    Some(replay.times.len() * replay.ports.len())
}

#[derive(Serialize)]
struct Scene {
    palette: [&'static str; PALETTE.len()],
    alarm: &'static str,
    runs: Vec<Act>,
}

#[derive(Serialize)]
struct Act {
    name: String,
    end: f64,
    axes: Vec<Vec<f64>>,
    panels: Vec<Curves>,
    moments: Vec<Moment>,
    deadlocks: Vec<Stuck>,
    network: Option<Network>,
    outages: Outages,
}

/// What was down, and which switches had another table than at first.
#[derive(Serialize)]
struct Outages {
    links: Vec<Outage>,
    switches: Vec<Outage>,
    tables: Vec<Outage>,
}

#[derive(Serialize)]
struct Outage {
    from: f64,
    to: Option<f64>,
    places: Vec<usize>,
}

#[derive(Serialize)]
struct Curves {
    description: String,
    axis: &'static str,
    range: (f64, f64),
    max: f64,
    curves: Vec<Line>,
    levels: Vec<Threshold>,
    instants: Vec<Moment>,
}

#[derive(Serialize)]
struct Line {
    label: String,
    colour: usize,
    stroke: &'static str,
    axis: usize,
    values: Vec<f64>,
}

#[derive(Serialize)]
struct Threshold {
    label: String,
    value: f64,
    colour: Option<usize>,
}

#[derive(Serialize)]
struct Moment {
    label: String,
    at: f64,
    alarm: bool,
}

#[derive(Serialize)]
struct Stuck {
    from: f64,
    to: Option<f64>,
    members: Vec<usize>,
    cycle: Vec<usize>,
}

#[derive(Serialize)]
struct Network {
    nodes: Vec<Place>,
    ports: Vec<Port>,
    classes: usize,
    step: f64,
    instants: usize,
    columns: String,
}

#[derive(Serialize)]
struct Place {
    name: String,
    host: bool,
    layer: u8,
}

#[derive(Serialize)]
struct Port {
    name: String,
    node: usize,
    peer: usize,
    full: u64,
    gbps: f64,
}

impl Act {
    fn new(run: &Run, panels: &[Panel], points_max: usize, stride: usize) -> Act {
        let mut axes = Vec::new();
        let panels = panels.iter();
        Act {
            name: run.scenario.name.clone(),
            end: ms(run.outcome.end),
            panels: panels.map(|panel| Curves::new(panel, points_max, &mut axes)).collect(),
            axes,
            moments: moments(run),
            deadlocks: deadlocks(run),
            network: network(run, stride),
            outages: Outages::new(run),
        }
    }
}

impl Outages {
    /// Those of a run that is replayed; nobody sees others.
    fn new(run: &Run) -> Outages {
        let spells = match run.outcome.replay {
            Some(_) => Spells::of(run),
            None => Spells::default(),
        };
        let links = spells.links.iter().take(OUTAGES_MAX).map(|spell| {
            let places = spell.of.iter().map(|(node, port)| end_index(run, *node, *port));
            Outage::new(spell, places.collect())
        });
        let of_node = |spell: &Spell<NodeId>| Outage::new(spell, vec![spell.of.index()]);
        Outages {
            links: links.collect(),
            switches: spells.switches.iter().take(OUTAGES_MAX).map(of_node).collect(),
            tables: spells.tables.iter().take(OUTAGES_MAX).map(of_node).collect(),
        }
    }
}

impl Outage {
    fn new<T>(spell: &Spell<T>, places: Vec<usize>) -> Outage {
        Outage { from: ms(spell.from), to: spell.to.map(ms), places }
    }
}

impl Curves {
    fn new(panel: &Panel, points_max: usize, axes: &mut Vec<Vec<f64>>) -> Curves {
        let description = panel.figure.caption.clone();
        let panel = &panel.figure.panels[0];
        let whole = Extent { low: 0.0, high: 1.0 };
        let (x, y) = (panel.x.ends.unwrap_or(whole), panel.y.ends.unwrap_or(whole));
        let is_log = panel.x.scale == Scale::Log;
        let (axis, range, max) = if is_log {
            let (from, to) = (x.low.log10().floor() as i32, x.high.log10().ceil() as i32);
            ("decades", (10f64.powi(from), 10f64.powi(to.max(from + 1))), y.high)
        } else {
            // The labels of instants stand above the curves.
            ("time", (0.0, x.high), y.high * 1.15)
        };
        let place = |x: f64| if is_log { rounded(x) } else { (x * 1e6).round() / 1e6 };
        let curves = panel.series.iter().map(|series| {
            let points = thinned(&series.points, points_max);
            let xs = rising(points.iter().map(|(x, _)| place(*x)));
            let axis = axes.iter().position(|axis| *axis == xs).unwrap_or_else(|| {
                axes.push(xs);
                axes.len() - 1
            });
            let is_companion = series.source == Source::Companion;
            let label = &series.label;
            Line {
                // A dashed curve goes with the solid one of its colour, and has its name.
                label: if is_companion { format!("{label} (dashed)") } else { label.clone() },
                colour: panel.series.iter().position(|it| it.label == *label).unwrap_or(0),
                stroke: if is_companion { "dashed" } else { "solid" },
                axis,
                values: points.iter().map(|(_, y)| rounded(*y)).collect(),
            }
        });
        Curves {
            description,
            axis,
            range,
            max,
            curves: curves.collect(),
            levels: panel.levels.iter().map(Threshold::from).collect(),
            instants: panel.marks.iter().map(Moment::from).collect(),
        }
    }
}

impl From<&figure::Level> for Threshold {
    fn from(level: &figure::Level) -> Threshold {
        let (label, value) = (level.label.clone(), rounded(level.value));
        Threshold { label, value, colour: level.colour }
    }
}

impl From<&Mark> for Moment {
    fn from(mark: &Mark) -> Moment {
        Moment { label: mark.label.clone(), at: mark.x, alarm: mark.is_alarm }
    }
}

/// What happened when, in order of time.
fn moments(run: &Run) -> Vec<Moment> {
    let outcome = &run.outcome;
    let mut found: Vec<(Time, String, bool)> = Vec::new();
    let held = outcome.ports.iter().filter_map(|port| {
        let first = port.held_first?;
        Some((first, run.port_name(port.node, port.port)))
    });
    let held = held.min();
    found.extend(held.map(|(at, name)| (at, format!("{name} held back first"), false)));
    let loss = outcome.loss.as_ref();
    found.extend(loss.map(|loss| (loss.time, "first loss".to_string(), true)));
    found.extend(outcome.episodes.iter().take(MOMENTS_MAX).flat_map(|it| {
        let broken = it.broken.map(|at| (at, "broken".to_string(), false));
        let begin = (it.found, "deadlock".to_string(), true);
        std::iter::once(begin).chain(broken)
    }));
    let firsts = outages::firsts(run).into_iter();
    found.extend(firsts.take(MOMENTS_MAX).filter_map(|change| {
        let name = crate::verdict::event_name(run, Some(change.event))?;
        Some((change.time, name, false))
    }));
    let trip = outcome.trips.first();
    found.extend(trip.map(|trip| (trip.time, "watchdog".to_string(), false)));
    let starved = outcome.starved.iter().map(|starved| starved.since).min();
    found.extend(starved.map(|since| (since, "starvation since".to_string(), true)));
    let stop = run.sources_stopped();
    found.extend(stop.map(|stop| (stop, "sources stop".to_string(), false)));
    found.push((outcome.end, "end".to_string(), false));
    // What is found and broken at one instant is found first.
    found.sort_by_key(|(at, ..)| *at);
    let moment = |(at, label, alarm)| Moment { label, at: ms(at), alarm };
    found.into_iter().map(moment).collect()
}

/// All deadlocks, with the ports that could not send.
fn deadlocks(run: &Run) -> Vec<Stuck> {
    let first = run.outcome.deadlock.as_ref();
    let stuck = run.outcome.episodes.iter().enumerate().map(|(number, episode)| {
        // Of the first one all that were caught are known, of others the cycle.
        let members = match first.filter(|_| number == 0) {
            Some(deadlock) => &deadlock.members,
            None => &episode.cycle,
        };
        let places = |queues: &[EgressQueue]| {
            let places = queues.iter().map(|queue| end_index(run, queue.node, queue.port));
            let mut places: Vec<usize> = places.collect();
            places.dedup();
            places
        };
        Stuck {
            from: ms(episode.found),
            to: episode.broken.map(ms),
            members: places(members),
            cycle: places(&episode.cycle),
        }
    });
    stuck.collect()
}

/// The place of a port among all ports of all nodes.
pub(crate) fn end_index(run: &Run, node: NodeId, port: PortId) -> usize {
    let found = run.outcome.ports.iter().position(|it| (it.node, it.port) == (node, port));
    found.expect("every port has an outcome")
}

fn network(run: &Run, stride: usize) -> Option<Network> {
    let replay = run.outcome.replay.as_ref()?;
    let topology = run.topology();
    let mut starts = vec![0; topology.nodes().len()];
    for (number, port) in run.outcome.ports.iter().enumerate().rev() {
        starts[port.node.index()] = number;
    }
    let full = run.outcome.ports.iter().map(|port| full_at(run, port.node, port.port).get());
    let full: Vec<u64> = full.collect();
    let ports = run.outcome.ports.iter().zip(&full).map(|(port, full)| {
        let link = topology.port(port.node, port.port);
        Port {
            name: run.port_name(port.node, port.port),
            node: port.node.index(),
            peer: starts[link.peer.index()] + link.peer_port.index(),
            full: *full,
            gbps: link.rate.as_bps() as f64 / 1e9,
        }
    });
    let nodes = topology.nodes().iter().enumerate().map(|(id, node)| Place {
        name: node.name.clone(),
        host: topology.is_host(NodeId(id as u32)),
        layer: node.layer,
    });
    // The end of the run stays, and what lies between only at every so many-th instant.
    let last = replay.times.len().checked_sub(1)?;
    let mut kept: Vec<usize> = (0..last).step_by(stride).collect();
    kept.push(last);
    let times: Vec<Time> = kept.iter().map(|at| replay.times[*at]).collect();
    let ports: Vec<Port> = ports.collect();
    let columns = replay.ports.iter().zip(&ports);
    let columns = columns.flat_map(|(states, port)| columns_of(states, port, &kept, &times));
    Some(Network {
        nodes: nodes.collect(),
        classes: run.scenario.config.ingress.class_count(),
        step: times.get(1).map_or(0.0, |second| ms(*second)),
        instants: kept.len(),
        columns: packed(&columns.collect::<Vec<u8>>()),
        ports,
    })
}

/// What fills the ingress queue of a port: its buffer, or of a shared memory the most it held.
pub(crate) fn full_at(run: &Run, node: NodeId, port: PortId) -> Bytes {
    let ingress = &run.scenario.config.ingress;
    let is_shared = ingress.is_sharing() && !run.topology().is_host(node);
    let classes = (0..ingress.class_count()).map(|class| Class(class as u8));
    let buffers = classes.map(|class| ingress.get(node, port, class).buffer);
    let most = if is_shared { Some(run.queue_max()) } else { buffers.max() };
    most.unwrap_or(Bytes::ZERO).max(Bytes::new(1))
}

/// The four columns of a port: low and high bytes of its queue, what it may send, what it sends.
fn columns_of(states: &PortStates, port: &Port, kept: &[usize], times: &[Time]) -> Vec<u8> {
    let share = |at: usize| {
        let held = u64::from(states.held[at]).min(port.full);
        (held * 65_535 / port.full) as u16
    };
    // A sender that is slowed to next to nothing is not stopped.
    let allowed = |at: usize| match states.allowed[at] {
        0 => 0,
        permille => (permille / 10).max(1) as u8,
    };
    let busy = |number: usize| {
        let Some(before) = number.checked_sub(1) else {
            return 0;
        };
        let span = (times[number] - times[before]).as_secs_f64();
        let sent = states.sent[kept[number]] - states.sent[kept[before]];
        let share = sent as f64 * 8.0 / (span * port.gbps * 1e9);
        // Whoever sends anything is seen to.
        (share * 100.0).ceil().clamp(0.0, 100.0) as u8
    };
    let low = kept.iter().map(|at| share(*at) as u8);
    let high = kept.iter().map(|at| (share(*at) >> 8) as u8);
    let allowed = kept.iter().map(|at| allowed(*at));
    let busy = (0..kept.len()).map(busy);
    low.chain(high).chain(allowed).chain(busy).collect()
}

fn packed(bytes: &[u8]) -> String {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    let gzip = encoder.write_all(bytes).and_then(|()| encoder.finish());
    STANDARD.encode(gzip.expect("writing to memory does not fail"))
}

/// A value with as many digits as a figure can show.
fn rounded(value: f64) -> f64 {
    format!("{value:.4e}").parse().unwrap_or(value)
}

/// The same places, each a hair beyond the one before if it is not anyway. A script that lays
/// curves over one another keeps one value per place, and a distribution has steps.
fn rising(places: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut risen: Vec<f64> = Vec::new();
    for place in places {
        let beyond = risen.last().map(|last| {
            let next = last + (last.abs() * 1e-6).max(1e-9);
            format!("{next:.7e}").parse().unwrap_or(next).max(last.next_up())
        });
        let is_beyond = risen.last().is_none_or(|last| *last < place);
        risen.push(beyond.filter(|_| !is_beyond).unwrap_or(place));
    }
    risen
}

/// The most links of a network that is drawn.
pub const LINKS_MAX: usize = 1_000;
/// The most states that a run records, one per port and instant.
const CELLS_MAX: usize = 600_000;
const INSTANTS_MAX: usize = 8_000;
/// The most states that a page has.
const PAGE_CELLS_MAX: usize = 1_200_000;
/// Points that the curves of a page have together, if there are not too many of them.
const POINTS_MAX: usize = 200_000;
/// The most times in which links were down that a page has, as many of switches, and of their tables.
const OUTAGES_MAX: usize = 10_000;
/// The most deadlocks that are listed.
const MOMENTS_MAX: usize = 5;

#[cfg(test)]
mod tests {
    use super::*;
    use pauseless_figures::figure::{Axis, Drawn, Series};

    #[test]
    fn steps_of_a_distribution_stay_steps() {
        let quick = [(10.0, 0.0), (10.0, 0.25), (10.0, 0.5), (10.0, 0.75), (10.0, 1.0)];
        let slow = [(10.0, 0.0), (10.0, 0.5), (100.0, 1.0)];
        let curve = |points: &[(f64, f64)]| Series::new("", Drawn::Line, points.to_vec());
        let x = Axis::new("", Scale::Log);
        let series = vec![curve(&quick), curve(&slow)];
        let panel = figure::Panel::new("", x, Axis::linear(""), series);
        let panel = Panel::new("", String::new(), panel);
        let mut axes = Vec::new();
        let shown = Curves::new(&panel, 300, &mut axes);
        for (line, points) in shown.curves.iter().zip([&quick[..], &slow]) {
            let axis = &axes[line.axis];
            assert_eq!(axis.len(), points.len());
            assert!(axis.windows(2).all(|pair| pair[0] < pair[1]), "{axis:?}");
            for ((place, value), point) in axis.iter().zip(&line.values).zip(points) {
                assert!((place / point.0 - 1.0).abs() < 1e-4, "{place}");
                assert_eq!(*value, point.1);
            }
        }
    }

    #[test]
    fn places_rise_also_at_zero_and_where_they_are_close() {
        let risen = rising([0.0, 0.0, 0.0, 1.0, 1.0, 1.000_000_5, 2.0].into_iter());
        assert!(risen.windows(2).all(|pair| pair[0] < pair[1]), "{risen:?}");
        assert_eq!((risen[0], risen[3], risen[6]), (0.0, 1.0, 2.0));
    }
}
