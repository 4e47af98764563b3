//! The list of tasks: every combination of the axes' values on every network that the filter lets
//! through, in an order that the campaign's file alone decides.

use toml::Value;

use super::campaign::{Axis, Campaign, Label};
use super::row::Name;
use crate::scenario::patch;

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
        let (outer, inner) = self.campaign.axes.split_at(self.outer);
        let each = combinations(inner);
        let network = self.networks[index / each as usize];
        let mut base = self.campaign.base.clone();
        let mut labels = Vec::new();
        for (axes, place) in [(outer, network), (inner, index as u64 % each)] {
            for (axis, point) in axes.iter().zip(places(axes, place)) {
                let point = &axis.points[point];
                labels.push(point.label.clone());
                for (path, value) in &point.set {
                    patch::put(&mut base, path, value).expect("every value was tried");
                }
            }
        }
        let text = toml::to_string(&base).expect("it was read from a file");
        let scenario = Name::of(&[&text]);
        let seed = base.get("seed").and_then(Value::as_integer);
        Task {
            index,
            name: Name::of(&[crate::VERSION, &scenario.to_string()]),
            scenario,
            seed: seed.unwrap_or(SEED) as u64,
            labels,
            text,
        }
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
