//! The rate above which a routing loop deadlocks, by bisection, beside the bounds.

use pauseless_core::switch::Discipline;
use toml::{Table as Set, Value};

use crate::repro::Scale;
use crate::repro::data::Measured;
use crate::repro::scope::{Failure, Scope, Task};
use pauseless_figures::figure::{Axis, Drawn, Figure, Panel, Scale as Measure, Series, Source};
use pauseless_plan::explain::explain;
use pauseless_run::table::{Column, Table};
use pauseless_scenario::{Overrides, Scenario, StopOn};

/// HotNets'16 Fig. 2: the loop of the scenario, in every discipline.
pub(super) fn fig2(scope: &Scope<'_>, measured: &mut Measured) -> Result<(), Failure> {
    let text = scope.text()?;
    let disciplines = scope.experiment().disciplines.iter();
    let shape = Shape { n: 2, ttl: 16, entrance: Entrance::First };
    let loops = disciplines.map(|discipline| Loop::new(&text, shape, *discipline));
    let loops = loops.collect::<Result<Vec<_>, _>>()?;
    record(&search(scope, &loops)?, measured);
    Ok(())
}

/// HotNets'16 section 3.1: loops of two to four switches, and several TTLs.
pub(super) fn many(scope: &Scope<'_>, measured: &mut Measured) -> Result<(), Failure> {
    let text = scope.text()?;
    let ttls: &[u16] = match scope.scale() {
        Scale::Quick => &[15, 16],
        Scale::Full => &[8, 15, 16, 32, 64],
    };
    let searched = |entrance| {
        let mut loops = Vec::new();
        for &discipline in scope.experiment().disciplines.iter() {
            for n in 2..=4 {
                for &ttl in ttls {
                    let shape = Shape { n, ttl, entrance };
                    let text = scope.patch(&text, &shape.settings())?;
                    loops.push(Loop::new(&text, shape, discipline)?);
                }
            }
        }
        Ok::<_, Failure>(loops)
    };
    let everywhere = searched(Entrance::Everywhere)?;
    record(&search(scope, &everywhere)?, measured);
    let loops = searched(Entrance::First)?;
    let found = search(scope, &loops)?;
    record(&found, measured);
    measured.tables.push(table(&found));
    measured.figures.push(figure(&found));
    Ok(())
}

/// Where packets enter a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Entrance {
    /// At the first switch, by the flows of the scenario, whose packets lose one of their TTL before
    /// they come to the loop.
    First,
    /// At every switch at the same rate, so that all links are equally loaded, with one more of TTL, so
    /// that a packet crosses as many links of the loop as equation 3 counts.
    Everywhere,
}

/// A loop of `n` switches.
#[derive(Clone, Copy, Debug)]
struct Shape {
    n: u16,
    /// The TTL of equation 3.
    ttl: u16,
    entrance: Entrance,
}

impl Shape {
    /// The name of the loop in values.
    fn name(self) -> String {
        let Shape { n, ttl, entrance } = self;
        match entrance {
            Entrance::First => format!("n{n}-ttl{ttl}"),
            Entrance::Everywhere => format!("n{n}-ttl{ttl}-everywhere"),
        }
    }

    /// What makes this loop of the scenario.
    fn settings(self) -> Set {
        let kind = if self.n == 2 { "line" } else { "ring" };
        let mut set = Set::new();
        set.insert("topology.kind".to_string(), kind.into());
        set.insert("topology.switches".to_string(), i64::from(self.n).into());
        match self.entrance {
            Entrance::First => {
                for flow in ["a", "b"] {
                    set.insert(format!("flow.{flow}.loop"), self.round(0));
                    set.insert(format!("flow.{flow}.ttl"), i64::from(self.ttl).into());
                }
            }
            Entrance::Everywhere => {
                let flows = (0..self.n).map(|at| Value::Table(self.flow_entering(at)));
                set.insert("flow".to_string(), Value::Array(flows.collect()));
            }
        }
        set
    }

    /// The flow that enters at switch number `at`, counted from 0.
    fn flow_entering(self, at: u16) -> Set {
        let mut flow = Set::new();
        flow.insert("name".to_string(), format!("S{}", at + 1).into());
        flow.insert("source".to_string(), format!("H{}a", at + 1).into());
        flow.insert("target".to_string(), format!("H{}a", (at + 1) % self.n + 1).into());
        flow.insert("loop".to_string(), self.round(at));
        flow.insert("ttl".to_string(), i64::from(self.ttl + 1).into());
        flow
    }

    /// The switches of the loop from number `first` on.
    fn round(self, first: u16) -> Value {
        let numbers = (0..self.n).map(|step| (first + step) % self.n + 1);
        Value::Array(numbers.map(|number| Value::from(format!("S{number}"))).collect())
    }

    /// How exactly the threshold is looked for: halvings of [`RANGE`].
    fn rounds(self) -> usize {
        match self.entrance {
            Entrance::First => 4,
            Entrance::Everywhere => 6,
        }
    }
}

/// A loop whose threshold is looked for.
struct Loop {
    name: String,
    text: String,
    shape: Shape,
    discipline: Discipline,
    /// The names of the flows that enter the loop, all at the same rate.
    flows: Vec<String>,
    paper: f64,
    exact: f64,
}

impl Loop {
    fn new(text: &str, shape: Shape, discipline: Discipline) -> Result<Loop, Failure> {
        let name = format!("{}/{}", shape.name(), discipline.name());
        let scenario = Scenario::parse(&name, text, &Overrides::default())?;
        let boundary = explain(&scenario).loops[0].boundary;
        let (paper, exact) = match shape.entrance {
            Entrance::First => (boundary.paper_bps / 1e9, boundary.exact_bps / 1e9),
            Entrance::Everywhere => {
                // The scenario's TTL is one more than that of the equation.
                let ttl = f64::from(shape.ttl);
                let both = boundary.paper_bps / 1e9 * (ttl + 1.0) / ttl;
                (both, both)
            }
        };
        let flows = scenario.config.flows.iter();
        Ok(Loop {
            name,
            text: text.to_string(),
            shape,
            discipline,
            flows: flows.map(|flow| flow.name.clone()).collect(),
            paper,
            exact,
        })
    }

    /// A run in which `gbps` enter.
    fn task(&self, scope: &Scope<'_>, gbps: f64) -> Result<Task, Failure> {
        let each = (gbps * 1e9 / self.flows.len() as f64) as u64;
        let rates = self.flows.iter().map(|flow| {
            let rate = Value::from(format!("{each} bps"));
            (format!("flow.{flow}.rate"), rate)
        });
        let overrides = Overrides {
            discipline: Some(self.discipline),
            stop_on: Some(StopOn::DEADLOCK),
            ..Overrides::default()
        };
        let text = scope.patch(&self.text, &rates.collect())?;
        Ok(Task::new(format!("{}, {gbps:.3} Gb/s", self.name), text, overrides))
    }
}

/// Where a loop begins to deadlock.
struct Found<'a> {
    of: &'a Loop,
    /// It does not at the first rate and does at the second, in Gb/s; `None` if there is no such
    /// pair within [`RANGE`].
    bracket: Option<(f64, f64)>,
}

/// Looks between these multiples of the exact bound.
const RANGE: (f64, f64) = (0.9, 1.2);

fn search<'a>(scope: &Scope<'_>, loops: &'a [Loop]) -> Result<Vec<Found<'a>>, Failure> {
    let deadlocks = |rates: &[f64]| -> Result<Vec<bool>, Failure> {
        let tasks = loops.iter().zip(rates).map(|(it, rate)| it.task(scope, *rate));
        let samples = scope.sample(tasks.collect::<Result<_, _>>()?)?;
        Ok(samples.iter().map(|it| it.metric("deadlock") == Some(1.0)).collect())
    };
    let mut low: Vec<f64> = loops.iter().map(|it| it.exact * RANGE.0).collect();
    let mut high: Vec<f64> = loops.iter().map(|it| it.exact * RANGE.1).collect();
    let (at_low, at_high) = (deadlocks(&low)?, deadlocks(&high)?);
    // All loops of a search have the same entrance.
    let rounds = loops.first().map_or(0, |it| it.shape.rounds());
    for _ in 0..rounds {
        let middle: Vec<f64> = low.iter().zip(&high).map(|(a, b)| (a + b) / 2.0).collect();
        for (index, is_deadlocked) in deadlocks(&middle)?.into_iter().enumerate() {
            if is_deadlocked { high[index] = middle[index] } else { low[index] = middle[index] }
        }
    }
    let found = loops.iter().enumerate().map(|(index, of)| Found {
        of,
        bracket: (!at_low[index] && at_high[index]).then_some((low[index], high[index])),
    });
    Ok(found.collect())
}

fn record(found: &[Found<'_>], measured: &mut Measured) {
    for Found { of, bracket } in found {
        let mut add =
            |metric: &str, value| measured.values.push(format!("{}/{metric}", of.name), value);
        add("paper_gbps", of.paper);
        add("exact_gbps", of.exact);
        if let Some((low, high)) = bracket {
            add("flows_at_gbps", *low);
            add("deadlocks_at_gbps", *high);
            add("threshold_gbps", (low + high) / 2.0);
        }
    }
}

fn table(found: &[Found<'_>]) -> Table {
    let numbers = |name: &str, get: &dyn Fn(&Found<'_>) -> Option<f64>| {
        Column::numbers(name, found.iter().map(get))
    };
    let disciplines = found.iter().map(|it| it.of.discipline.name().to_string());
    let columns = vec![
        numbers("switches", &|it| Some(f64::from(it.of.shape.n))),
        numbers("ttl", &|it| Some(f64::from(it.of.shape.ttl))),
        Column::texts("discipline", disciplines),
        numbers("flows_at_gbps", &|it| it.bracket.map(|it| it.0)),
        numbers("deadlocks_at_gbps", &|it| it.bracket.map(|it| it.1)),
        numbers("exact_gbps", &|it| Some(it.of.exact)),
        numbers("paper_gbps", &|it| Some(it.of.paper)),
    ];
    Table::new("loops", columns)
}

/// Thresholds over TTL, a panel for each length, output-queued.
fn figure(found: &[Found<'_>]) -> Figure {
    let panel = |n: u16| {
        let of = found.iter();
        let of = of.filter(|it| it.of.shape.n == n && it.of.discipline == Discipline::OutputQueued);
        let ttl = |it: &Found<'_>| f64::from(it.of.shape.ttl);
        let series = |label: &str, points| Series::new(label, Drawn::Marked, points);
        let found = of.clone().filter_map(|it| it.bracket.map(|(_, high)| (ttl(it), high)));
        let exact = of.clone().map(|it| (ttl(it), it.of.exact));
        let paper = of.map(|it| (ttl(it), it.of.paper));
        let mut all = vec![
            series("deadlocks at", found.collect()),
            series("B / ceil((TTL - 1) / n)", exact.collect()),
            series("n B / TTL", paper.collect()),
        ];
        all[2].source = Source::Paper;
        let [x, y] = ["TTL", "Gb/s"].map(|label| Axis::new(label, Measure::Log));
        Panel::new(format!("{n} switches"), x, y, all)
    };
    let caption = "The rate that deadlocks a routing loop, and the bounds";
    Figure::new("thresholds", caption, (2..=4).map(panel).collect())
}
