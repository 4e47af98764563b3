//! Which networks of a campaign its filter lets through.

use std::fmt;
use std::fs;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use toml::Table;

use super::campaign::{Axis, Campaign};
use super::network::{Answer, SECTIONS};
use super::plan::{PlanError, combinations, places};
use super::row::Name;
use pauseless_text::quantity::plural;

/// How many networks a filter leaves out, and which it lets through.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Screened {
    /// What was looked at: the hash of the program's version, the networks and the filter.
    key: String,
    /// The number of networks that were looked at.
    pub looked_at: u64,
    /// How many of them `cyclic` leaves out.
    pub by_cyclic: u64,
    /// How many of the others `connected` leaves out.
    pub by_connected: u64,
    /// The others, by their place among the combinations of the axes that decide the network.
    pub left: Vec<u64>,
}

impl fmt::Display for Screened {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} were looked at, {} are run: `cyclic` leaves out {}, `connected` {} of the others",
            plural(self.looked_at, "network"),
            self.left.len(),
            self.by_cyclic,
            self.by_connected
        )
    }
}

/// Hears how many networks were looked at, of how many; may break it off.
pub type Watch<'a> = &'a (dyn Fn(usize, usize) -> ControlFlow<()> + Sync);

/// Looks at all networks on all cores, unless the file `cache` has the answer.
pub(super) fn screen(
    campaign: &Campaign,
    cache: Option<&Path>,
    watch: Watch<'_>,
) -> Result<Screened, PlanError> {
    let decisive = campaign.network_axes();
    let key = key(campaign, &decisive);
    let known = cache.and_then(|file| read(file, &key));
    let screened = match known {
        Some(known) => known,
        None => {
            let answers = look(campaign, &decisive, watch)?;
            let screened = count(key, &answers);
            if let Some(file) = cache {
                let refuse = |error| PlanError::Cache(file.display().to_string(), error);
                write(file, &screened).map_err(refuse)?;
            }
            screened
        }
    };
    if screened.left.is_empty() { Err(PlanError::Empty(screened)) } else { Ok(screened) }
}

/// What the filter says of all networks, in order.
fn look(
    campaign: &Campaign,
    decisive: &[usize],
    watch: Watch<'_>,
) -> Result<Vec<Answer>, PlanError> {
    let axes = Vec::from_iter(decisive.iter().map(|axis| &campaign.axes[*axis]));
    let count = combinations(axes.iter().copied()) as usize;
    let (done, is_over) = (AtomicUsize::new(0), AtomicBool::new(false));
    let answers = (0..count).into_par_iter().map(|place| {
        if is_over.load(Ordering::Relaxed) {
            return Answer::Through;
        }
        let mut points = vec![0; campaign.axes.len()];
        for (axis, point) in decisive.iter().zip(places(&axes, place as u64)) {
            points[*axis] = point;
        }
        let answer = campaign.filter.judge(&campaign.scenario(&points, |_, _| {}));
        let done = done.fetch_add(1, Ordering::Relaxed) + 1;
        if watch(done, count).is_break() {
            is_over.store(true, Ordering::Relaxed);
        }
        answer
    });
    let answers = answers.collect();
    if is_over.into_inner() { Err(PlanError::Interrupted) } else { Ok(answers) }
}

fn count(key: String, answers: &[Answer]) -> Screened {
    let counted = |wanted: Answer| answers.iter().filter(|it| **it == wanted).count() as u64;
    let left = answers.iter().zip(0..);
    let left = left.filter_map(|(it, place)| (*it == Answer::Through).then_some(place));
    Screened {
        key,
        looked_at: answers.len() as u64,
        by_cyclic: counted(Answer::ByCyclic),
        by_connected: counted(Answer::ByConnected),
        left: left.collect(),
    }
}

/// The hash of everything that the answer depends on.
fn key(campaign: &Campaign, decisive: &[usize]) -> String {
    let sections = campaign.base.iter().filter(|(key, _)| SECTIONS.contains(&key.as_str()));
    let sections = sections.map(|(key, value)| (key.clone(), value.clone()));
    let base = Table::from_iter(sections).to_string();
    let axes: Vec<&Axis> = decisive.iter().map(|axis| &campaign.axes[*axis]).collect();
    let others = campaign.axes.iter().enumerate();
    // Of the other axes the first values are in force.
    let others = others.filter(|(number, _)| !decisive.contains(number));
    let others = Vec::from_iter(others.map(|(_, axis)| &axis.points[0].set));
    let axes = format!("{axes:?} {others:?}");
    let filter = format!("{:?}", campaign.filter);
    Name::of(&[pauseless_run::VERSION, &base, &axes, &filter]).to_string()
}

/// The answer in the cache, if it is for this key and not damaged.
fn read(file: &Path, key: &str) -> Option<Screened> {
    let text = fs::read_to_string(file).ok()?;
    let known: Screened = serde_json::from_str(&text).ok()?;
    let is_sound = known.left.is_sorted() && known.left.iter().all(|it| *it < known.looked_at);
    (known.key == key && is_sound).then_some(known)
}

/// Replaces the file as a whole, or not at all.
fn write(file: &Path, screened: &Screened) -> std::io::Result<()> {
    fs::create_dir_all(file.parent().unwrap_or(Path::new("")))?;
    let text = serde_json::to_string(screened)?;
    pauseless_text::output::write(file, format!("{text}\n").as_bytes())
}
