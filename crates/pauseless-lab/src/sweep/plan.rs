//! The list of tasks: every combination of the axes' values on every network that the filter lets
//! through, in an order that the campaign's file alone decides.

use std::ops::ControlFlow;
use std::path::Path;

use rayon::prelude::*;
use toml::Value;

use super::campaign::{Axis, Campaign, Label};
use super::row::Name;

/// The tasks of a campaign.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Whose tasks they are.
    pub campaign: Campaign,
    /// How many axes, the slowest ones, decide the network.
    outer: usize,
    /// The combinations of those that the filter lets through, in order.
    networks: Vec<u64>,
}

/// One run that is to be made.
#[derive(Clone, Debug, PartialEq)]
pub struct Task {
    /// Its place in the list.
    pub index: usize,
    /// Its scenario: a file that `pauseless run` takes, the same text whatever order the values
    /// were written in.
    pub text: String,
    /// The hash of that text and of all files that it names.
    pub scenario: Name,
    /// The hash of that and of the program's version.
    pub name: Name,
    /// The scenario's seed.
    pub seed: u64,
    /// The value of each axis.
    pub labels: Vec<Label>,
}

/// Why there is no plan.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// It was broken off.
    #[error("interrupted")]
    Interrupted,
}

impl Plan {
    /// A plan as tests need it: the first `outer` axes decide the network, of whose combinations
    /// these are run.
    #[doc(hidden)]
    pub fn of(campaign: Campaign, outer: usize, networks: Vec<u64>) -> Plan {
        Plan {
            campaign,
            outer,
            networks,
        }
    }

    /// The tasks of `campaign`. Its filter looks at networks on all cores; what it finds is kept in
    /// the file `cache`, if there is one. `watch` hears how many networks were looked at, of how many,
    /// and may break it off.
    pub fn new(
        campaign: Campaign,
        _cache: Option<&Path>,
        _watch: &(dyn Fn(usize, usize) -> ControlFlow<()> + Sync),
    ) -> Result<Plan, PlanError> {
        let plan = Plan {
            campaign,
            outer: 0,
            networks: vec![0],
        };
        Ok(plan)
    }

    /// How many tasks there are.
    pub fn len(&self) -> usize {
        self.networks.len() * combinations(&self.campaign.axes[self.outer..]) as usize
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// One of them.
    pub fn task(&self, index: usize) -> Task {
        let axes = &self.campaign.axes;
        let points = self.points(index);
        let labels = axes.iter().zip(&points);
        let labels = labels.map(|(axis, point)| axis.points[*point].label.clone());
        let labels = labels.collect();
        // What cannot be set is an unknown key of the scenario, and so an error of its run.
        let table = self.campaign.scenario(&points, |_, _| {});
        let text = toml::to_string(&table).expect("it was read from a file");
        let scenario = Name::of(&[&text]);
        let seed = table.get("seed").and_then(Value::as_integer);
        Task {
            index,
            name: Name::of(&[crate::VERSION, &scenario.to_string()]),
            scenario,
            seed: seed.unwrap_or(SEED) as u64,
            labels,
            text,
        }
    }

    /// The names of all tasks, in order.
    pub fn names(&self) -> Vec<Name> {
        let tasks = (0..self.len()).into_par_iter();
        tasks.map(|index| self.task(index).name).collect()
    }

    /// The places of the tasks of one of several parts; parts count from 1.
    pub fn shard(&self, part: usize, parts: usize) -> impl Iterator<Item = usize> + use<> {
        (part - 1..self.len()).step_by(parts)
    }

    /// Which point of each axis a task has.
    fn points(&self, index: usize) -> Vec<usize> {
        let (outer, inner) = self.campaign.axes.split_at(self.outer);
        let each = combinations(inner);
        let network = self.networks[index / each as usize];
        let mut points = places(outer, network);
        points.extend(places(inner, index as u64 % each));
        points
    }
}

/// The seed of a scenario that has none written.
const SEED: i64 = 1;

/// Which point of each axis the combination at a place has; the last axis is the fastest.
fn places(axes: &[Axis], mut place: u64) -> Vec<usize> {
    let mut places = Vec::new();
    for axis in axes.iter().rev() {
        let points = axis.points.len() as u64;
        places.push((place % points) as usize);
        place /= points;
    }
    places.reverse();
    places
}

fn combinations(axes: &[Axis]) -> u64 {
    axes.iter().map(|axis| axis.points.len() as u64).product()
}
