//! The list of tasks: every combination of the axes' values on every network that the filter lets
//! through, in an order that the campaign's file alone decides.

use std::borrow::Borrow;
use std::path::Path;

use rayon::prelude::*;

use super::campaign::{Axis, Campaign, Label};
use super::row::Name;
use super::screen::{Screened, Watch, screen};
use super::text::{ScenarioText, Texts};
use pauseless_text::quantity::plural;

/// The tasks of a campaign.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The campaign that has these tasks.
    pub campaign: Campaign,
    /// How many axes, the slowest ones, decide the network.
    outer: usize,
    /// The combinations of those that the filter lets through, in order.
    networks: Vec<u64>,
    /// What the filter has found, if there is one.
    pub screened: Option<Screened>,
    texts: Texts,
}

/// The most runs that a campaign may have.
pub(super) const TASKS_MAX: u64 = 100_000_000;

/// One run that is to be made.
#[derive(Clone, Debug, PartialEq)]
pub struct Task {
    /// The place of the task in the list.
    pub index: usize,
    /// Its scenario: a file that `pauseless run` takes, the same text whatever order the values
    /// were written in.
    pub text: String,
    /// The hash of that text and of all files that it names.
    pub scenario: Name,
    /// The hash of that and of the program's version.
    pub name: Name,
    /// The seed that the scenario has.
    pub seed: u64,
    /// The value of each axis.
    pub labels: Vec<Label>,
}

/// A reason why there is no plan.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// The user has broken the planning off.
    #[error("interrupted")]
    Interrupted,
    /// The filter lets no network through.
    #[error("{}", empty(.0))]
    Empty(Screened),
    /// The filter leaves more runs than anybody waits for.
    #[error(
        "{0} runs are left by the filter, and {TASKS_MAX} are the most; write several campaigns"
    )]
    Crowd(usize),
    /// What the filter has found could not be written down.
    #[error("{0} cannot be written: {1}")]
    Cache(String, std::io::Error),
}

/// The message of a filter that leaves nothing.
fn empty(screened: &Screened) -> String {
    let Screened { looked_at, by_cyclic, by_connected, .. } = screened;
    format!(
        "the filter lets none of {} through: `cyclic` leaves out {by_cyclic}, `connected` leaves out \
         {by_connected} of the others; widen the axes of the network, or change [filter]",
        plural(*looked_at, "network")
    )
}

impl Plan {
    /// A plan as tests need it: the first `outer` axes decide the network, of whose combinations
    /// these are run.
    #[doc(hidden)]
    pub fn of(campaign: Campaign, outer: usize, networks: Vec<u64>) -> Plan {
        Plan { texts: Texts::of(&campaign), campaign, outer, networks, screened: None }
    }

    /// The tasks of `campaign`. Its filter looks at networks on all cores; what it finds is kept in
    /// the file `cache`, if there is one. `watch` hears how many networks were looked at, of how many,
    /// and may break it off.
    pub fn new(
        campaign: Campaign,
        cache: Option<&Path>,
        watch: Watch<'_>,
    ) -> Result<Plan, PlanError> {
        if campaign.filter.is_open() {
            return Ok(Plan::of(campaign, 0, vec![0]));
        }
        let screened = screen(&campaign, cache, watch)?;
        let decisive = campaign.network_axes();
        let outer = decisive.last().map_or(0, |last| last + 1);
        let axes = &campaign.axes[..outer];
        let networks = (0..combinations(axes)).filter(|place| {
            let points = places(axes, *place);
            // The place among the combinations of those axes alone that decide the network.
            let network = decisive.iter().fold(0, |place, axis| {
                place * axes[*axis].points.len() as u64 + points[*axis] as u64
            });
            screened.left.binary_search(&network).is_ok()
        });
        let networks = networks.collect();
        let mut plan = Plan::of(campaign, outer, networks);
        plan.screened = Some(screened);
        match plan.len() {
            count if count as u64 > TASKS_MAX => Err(PlanError::Crowd(count)),
            _ => Ok(plan),
        }
    }

    /// How many tasks there are.
    pub fn len(&self) -> usize {
        let each = combinations(&self.campaign.axes[self.outer..]) as usize;
        self.networks.len().saturating_mul(each)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The task at a place of the list.
    pub fn task(&self, index: usize) -> Task {
        let axes = &self.campaign.axes;
        let points = self.points(index);
        let labels = axes.iter().zip(&points);
        let labels = labels.map(|(axis, point)| axis.points[*point].label.clone()).collect();
        let ScenarioText { text, seed } = self.texts.scenario(&self.campaign, &points);
        let scenario = Name::of(&[&text]);
        Task {
            index,
            name: Name::of(&[pauseless_run::VERSION, &scenario.to_string()]),
            scenario,
            seed,
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
    pub(super) fn points(&self, index: usize) -> Vec<usize> {
        let (outer, inner) = self.campaign.axes.split_at(self.outer);
        let each = combinations(inner);
        let network = self.networks[index / each as usize];
        let mut points = places(outer, network);
        points.extend(places(inner, index as u64 % each));
        points
    }
}

/// Which point of each axis the combination at a place has; the last axis is the fastest.
pub(super) fn places<A: Borrow<Axis>>(axes: &[A], mut place: u64) -> Vec<usize> {
    let mut places = vec![0; axes.len()];
    for (axis, point) in axes.iter().zip(&mut places).rev() {
        let points = axis.borrow().points.len() as u64;
        *point = (place % points) as usize;
        place /= points;
    }
    places
}

/// How many combinations of values axes have, or more than can be counted.
pub(super) fn combinations<'a>(axes: impl IntoIterator<Item = &'a Axis>) -> u64 {
    axes.into_iter().map(|axis| axis.points.len() as u64).fold(1, u64::saturating_mul)
}

#[cfg(test)]
mod tests;
