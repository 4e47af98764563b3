//! What an experiment may do: make runs, on all cores, each only once.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use rayon::prelude::*;
use toml::{Table, Value};

use super::file::Experiment;
use super::{Scale, group};
use crate::sweep::store::{self, Samples};
use pauseless_report::{json, scene};
use pauseless_run::Run;
use pauseless_run::results::Facts;
use pauseless_run::sample::{self, Asked, Sample, curve};
use pauseless_scenario::patch;
use pauseless_scenario::vary::Changed;
use pauseless_scenario::{Overrides, Problem, Problems, Scenario};
use pauseless_text::declare::Written;
use pauseless_text::quantity;
use pauseless_text::source::Source;

/// A reason why an experiment was not carried out.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// A claims file or a scenario with something wrong in it.
    #[error("{0}")]
    File(#[from] Problems),
    /// A claims file that asks for something that the runs do not have.
    #[error("{0}")]
    Claims(String),
    /// Finished runs cannot be kept.
    #[error("{0}")]
    Store(#[from] store::Failure),
    /// The user pressed Ctrl-C.
    #[error("interrupted")]
    Interrupted,
}

/// How experiments are carried out.
pub struct Session<'a> {
    /// The scale of the experiments.
    pub scale: Scale,
    /// The store of finished runs, if they are kept.
    pub store: Option<Samples>,
    /// The keys and values that every scenario gets, whatever its files say.
    pub settings: &'a [(String, String)],
    /// The only reading that is tried, if not all are; then only its claims are judged.
    pub reading: Option<&'a str>,
    /// Whether to keep the JSON document of each run.
    pub keeps_documents: bool,
    /// Whether to keep whole runs of small networks for the page.
    pub keeps_runs: bool,
    /// Called with what was done, what is known to be to do, and the experiment; may break it off.
    pub watch: &'a (dyn Fn(usize, usize, &str) -> ControlFlow<()> + Sync),
}

/// A run that is to be made.
#[derive(Clone, Debug)]
pub struct Task {
    /// The name of the run, such as `PFC/output-queued, seed 3`.
    pub name: String,
    /// The text of the scenario, which the seeds of a case share.
    pub text: Arc<str>,
    /// What is used instead of what the file says.
    pub overrides: Overrides,
    /// The curves that are kept.
    pub curves: Vec<String>,
    /// The only numbers that are measured; `None` for the usual ones and those that claims ask for.
    pub numbers: Option<Vec<String>>,
    /// Whether its page shows the whole run.
    pub is_shown: bool,
}

impl Task {
    /// A run of which no curves are kept.
    pub fn new(name: impl Into<String>, text: impl Into<Arc<str>>, overrides: Overrides) -> Task {
        Task {
            name: name.into(),
            text: text.into(),
            overrides,
            curves: Vec::new(),
            numbers: None,
            is_shown: false,
        }
    }

    /// The same run with these curves kept.
    pub fn keeping(mut self, curves: &[String]) -> Task {
        self.curves = curves.to_vec();
        self
    }

    /// The same run with these numbers measured, and no others.
    pub fn measuring(mut self, numbers: &[String]) -> Task {
        self.numbers = Some(numbers.to_vec());
        self
    }

    /// The same run, to be replayed on the page of the experiment.
    pub fn shown(mut self) -> Task {
        self.is_shown = true;
        self
    }
}

/// An experiment that is being carried out, as it is written or under a reading.
pub struct Scope<'a> {
    session: &'a Session<'a>,
    name: &'a str,
    experiment: &'a Experiment,
    text: &'a str,
    work: Arc<Work>,
    /// The reading, and what it sets in every run.
    reading: Option<(String, Table)>,
}

/// What was done for an experiment and its readings.
#[derive(Default)]
struct Work {
    done: AtomicUsize,
    total: AtomicUsize,
    runs: Mutex<Vec<(usize, Run)>>,
    documents: Mutex<Vec<(usize, serde_json::Value)>>,
    /// Of every setting of the session, by its place: where it is in force, and where there is no
    /// such key, such as a threshold of PFC in the runs of another scheme.
    set: Mutex<BTreeMap<usize, Reached>>,
    /// The runs that were made, by all that decides what comes of them; only of experiments with
    /// readings, of which several may ask for the same run.
    made: Mutex<BTreeMap<[String; 3], Sample>>,
}

/// The runs that a setting has reached, without the numbers of their seeds.
#[derive(Default)]
struct Reached {
    /// Those in which the key is set.
    with: BTreeSet<String>,
    /// Those that have no such key.
    without: BTreeSet<String>,
}

impl<'a> Scope<'a> {
    pub(crate) fn new(
        session: &'a Session<'a>,
        name: &'a str,
        experiment: &'a Experiment,
        text: &'a str,
    ) -> Scope<'a> {
        Scope { session, name, experiment, text, work: Arc::default(), reading: None }
    }

    /// The same experiment under a reading, which sets these values in every run.
    pub(super) fn under(&self, reading: &str, set: Table) -> Scope<'a> {
        let reading = Some((reading.to_string(), set));
        Scope { work: Arc::clone(&self.work), reading, ..*self }
    }

    /// The scale of the experiment.
    pub fn scale(&self) -> Scale {
        self.session.scale
    }

    /// What the claims file says.
    pub(super) fn experiment(&self) -> &'a Experiment {
        self.experiment
    }

    /// The scenario file, resized.
    pub fn text(&self) -> Result<String, Failure> {
        // Settings come last, after what makes a case of it, see `sample`.
        let text = self.patch(self.text, &self.experiment.resize(self.scale()).set)?;
        self.with_reading(text)
    }

    /// A scenario file with what the reading sets.
    fn with_reading(&self, text: String) -> Result<String, Failure> {
        match &self.reading {
            Some((_, set)) => self.patch(&text, set),
            None => Ok(text),
        }
    }

    /// A scenario file with those settings of the session that it has keys for.
    fn with_settings(&self, name: &str, mut text: String) -> Result<String, Failure> {
        for (number, (key, value)) in self.session.settings.iter().enumerate() {
            let mut changed = Changed::new(Source { file: name.to_string(), text: text.clone() });
            changed.set(key, value)?;
            let unknown = unknown_key(&changed.source.text, key);
            self.reached(number, name, unknown.is_none());
            if unknown.is_none() {
                text = changed.source.text;
            }
        }
        Ok(text)
    }

    /// Notes whether a setting is in force in the runs of a case.
    fn reached(&self, setting: usize, name: &str, is_set: bool) {
        let case = name.split(", seed ").next().unwrap_or(name).to_string();
        let mut set = self.work.set.lock().expect("nobody panics with the lock held");
        let Reached { with, without } = set.entry(setting).or_default();
        if is_set { with } else { without }.insert(case);
    }

    /// Fails with what is wrong with a setting that no run has a key for.
    fn refuse_useless(&self, tasks: &[Task]) -> Result<(), Failure> {
        for (number, (key, value)) in self.session.settings.iter().enumerate() {
            let is_useless = {
                let set = self.work.set.lock().expect("nobody panics with the lock held");
                set.get(&number).is_some_and(|reached| reached.with.is_empty())
            };
            let Some(task) = tasks.first().filter(|_| is_useless) else {
                continue;
            };
            let source = Source { file: task.name.clone(), text: task.text.to_string() };
            let mut changed = Changed::new(source);
            changed.set(key, value)?;
            if let Some(unknown) = unknown_key(&changed.source.text, key) {
                return Err(Failure::File(changed.refuse(unknown)));
            }
        }
        Ok(())
    }

    /// The settings of the session in words, each with the cases that have no such key.
    pub(super) fn settings(&self) -> Vec<String> {
        let set = self.work.set.lock().expect("nobody panics with the lock held");
        let settings = self.session.settings.iter().enumerate();
        let settings = settings.map(|(number, (key, value))| {
            let without = set.get(&number).map(|it| &it.without).filter(|it| !it.is_empty());
            let without = without.map_or(String::new(), |without| {
                let names = quantity::some(without.iter().map(String::as_str), NAMES_MAX);
                format!(" (no such key in {names})")
            });
            format!("{key}={value}{without}")
        });
        settings.collect()
    }

    /// A scenario file with some values replaced by their paths.
    pub fn patch(&self, text: &str, set: &Table) -> Result<String, Failure> {
        patch::patch(text, set).map_err(|wrong| self.wrong(wrong))
    }

    /// A scenario file with one value replaced.
    pub fn set(&self, text: &str, path: &str, value: impl Into<Value>) -> Result<String, Failure> {
        let set = Table::from_iter([(path.to_string(), value.into())]);
        self.patch(text, &set)
    }

    /// Something that the claims file asks for and that is not there.
    pub fn wrong(&self, what: impl std::fmt::Display) -> Failure {
        Failure::Claims(format!("{}: {what}", self.name))
    }

    /// Makes runs on all cores; the samples are in the order of the tasks. Runs that are kept from
    /// before are not made again.
    pub fn sample(&self, tasks: Vec<Task>) -> Result<Vec<Sample>, Failure> {
        let first = self.work.total.fetch_add(tasks.len(), Ordering::Relaxed);
        let set = tasks.into_par_iter().map(|mut task| {
            let text = self.with_reading(task.text.to_string())?;
            task.text = self.with_settings(&task.name, text)?.into();
            Ok(task)
        });
        let tasks = set.collect::<Result<Vec<Task>, Failure>>()?;
        self.refuse_useless(&tasks)?;
        let samples = tasks.into_par_iter().enumerate().map(|(index, mut task)| {
            if let Some((reading, _)) = &self.reading {
                task.name = format!("{reading}: {}", task.name);
                task.is_shown = false;
            }
            let sample = self.one(first + index, &task)?;
            self.work.done.fetch_add(1, Ordering::Relaxed);
            self.look()?;
            Ok(sample)
        });
        samples.collect()
    }

    fn one(&self, index: usize, task: &Task) -> Result<Sample, Failure> {
        self.look()?;
        let store = self.session.store.as_ref();
        let key = store.map(|store| (store, store.name(&self.depends_on(task))));
        // What is not kept, such as a whole run for the page, cannot be had from a kept sample.
        let is_enough = |sample: &Sample| {
            let is_document_there = !self.session.keeps_documents || sample.document.is_some();
            is_document_there && !self.is_shown(index, task)
        };
        let kept = key.as_ref().and_then(|(store, key)| store.get(key));
        if let Some(mut sample) = kept.filter(is_enough) {
            self.keep_document(index, sample.document.take());
            return Ok(sample);
        }
        let made = self.again(task).map(|key| (self.made(&key), key));
        let mut sample = match &made {
            Some((Some(sample), _)) if is_enough(sample) => sample.clone(),
            _ => self.run(index, task)?,
        };
        if let Some((store, key)) = key {
            store.put(key, &sample)?;
        }
        if let Some((_, key)) = made {
            let mut made = self.work.made.lock().expect("nobody panics with the lock held");
            made.insert(key, sample.clone());
        }
        self.keep_document(index, sample.document.take());
        Ok(sample)
    }

    /// What decides a run that several readings may ask for. Runs of campaigns are too many to be
    /// kept in memory.
    fn again(&self, task: &Task) -> Option<[String; 3]> {
        let is_kept = !self.experiment.readings.is_empty() && task.numbers.is_none();
        is_kept.then(|| self.depends_on(task))
    }

    /// The same run, if it was made before.
    fn made(&self, key: &[String; 3]) -> Option<Sample> {
        let made = self.work.made.lock().expect("nobody panics with the lock held");
        made.get(key).cloned()
    }

    /// Whether the page has the whole run, and not only its numbers.
    fn is_shown(&self, index: usize, task: &Task) -> bool {
        let is_wanted = self.session.keeps_runs && task.is_shown && index < RUNS_MAX;
        let is_small = |scenario: Scenario| scenario.config.topology.links().len() <= LINKS_MAX;
        is_wanted && Scenario::parse(&task.name, &task.text, &task.overrides).is_ok_and(is_small)
    }

    fn run(&self, index: usize, task: &Task) -> Result<Sample, Failure> {
        let mut scenario = Scenario::parse(&task.name, &task.text, &task.overrides)?;
        let is_shown = self.is_shown(index, task);
        if is_shown {
            scene::record_replay(&mut scenario);
        }
        let run = Run::execute(scenario, |_| match self.look() {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        });
        if run.interrupted {
            return Err(Failure::Interrupted);
        }
        let groups = self.experiment.groups.iter().map(|group| {
            let sources = group::sources(&run, group).map_err(|wrong| self.wrong(wrong))?;
            Ok((group.name.value.clone(), sources))
        });
        let groups: Vec<_> = groups.collect::<Result<_, Failure>>()?;
        let facts = Facts::of(&run).with_groups(groups.clone());
        let sample = Sample::asked(&facts, &task.curves, &self.asked(task));
        let mut sample = sample.map_err(|wrong| self.wrong(wrong))?;
        if task.numbers.is_none() {
            sample.add_usual(&facts);
        }
        let mut add = |name: String, value: f64| {
            sample.metrics.insert(name, value);
        };
        for measure in self.experiment.measures.iter() {
            let taken = curve::take(&run, measure).map_err(|wrong| self.wrong(wrong))?;
            if let Some(taken) = taken {
                add(measure.name.value.clone(), taken);
            }
        }
        for (name, sources) in &groups {
            let members = group::completion(&run, sources);
            sample::group(&format!(".{name}"), &members, &mut add);
        }
        if let Some(hook) = self.experiment.per_run.copied() {
            (hook.call)(&run, &mut add);
        }
        if self.session.keeps_documents {
            sample.document = Some(json::named(&run));
        }
        if is_shown {
            let mut runs = self.work.runs.lock().expect("nobody panics with the lock held");
            runs.push((index, run));
        }
        Ok(sample)
    }

    /// The numbers that are asked of the run of a task, beside the usual ones.
    fn asked(&self, task: &Task) -> Vec<Asked> {
        match &task.numbers {
            Some(names) => Asked::all(names),
            None => self.experiment.asked(),
        }
    }

    /// All that decides what comes of a task, beside the program, which every key has in it.
    fn depends_on(&self, task: &Task) -> [String; 3] {
        let it = self.experiment;
        // Not where these were written, which changes with every line above them.
        let shown = |keys: &dyn Written| {
            let entries = keys.entries().into_iter();
            Vec::from_iter(entries.filter_map(|entry| Some((entry.key.clone(), entry.line()?))))
        };
        let measures = Vec::from_iter(it.measures.iter().map(|it| shown(it)));
        let groups = Vec::from_iter(it.groups.iter().map(|it| shown(it)));
        let (per_run, curves) = (it.per_run.copied().map(|it| it.name), &task.curves);
        let asked = Vec::from_iter(self.asked(task).into_iter().map(|asked| asked.name));
        let is_usual = task.numbers.is_none();
        [
            task.text.to_string(),
            format!("{:?}", task.overrides),
            format!("{measures:?} {groups:?} {per_run:?} {curves:?} {asked:?} {is_usual}"),
        ]
    }

    fn keep_document(&self, index: usize, document: Option<serde_json::Value>) {
        if let Some(mut document) = document.filter(|_| self.session.keeps_documents) {
            // Cases of several experiments may have the same name.
            document["experiment"] = self.name.into();
            let documents = self.work.documents.lock();
            documents.expect("nobody panics with the lock held").push((index, document));
        }
    }

    /// Tells how far the experiment is; fails if somebody has broken it off.
    pub(super) fn look(&self) -> Result<(), Failure> {
        let done = self.work.done.load(Ordering::Relaxed);
        let total = self.work.total.load(Ordering::Relaxed);
        match (self.session.watch)(done, total, self.name) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(Failure::Interrupted),
        }
    }

    /// The whole runs that were kept, in the order of the tasks, and the documents of all.
    pub(super) fn into_kept(self) -> (Vec<Run>, Vec<serde_json::Value>) {
        fn in_order<T>(kept: &Mutex<Vec<(usize, T)>>) -> Vec<T> {
            let mut kept = kept.lock().expect("nobody panics with the lock held");
            let mut kept = std::mem::take(&mut *kept);
            kept.sort_by_key(|(index, _)| *index);
            kept.into_iter().map(|(_, it)| it).collect()
        }
        (in_order(&self.work.runs), in_order(&self.work.documents))
    }
}

/// What is wrong with the scenario `text` if it has no such key as `key` under its other keys.
fn unknown_key(text: &str, key: &str) -> Option<Problems> {
    let overrides = Overrides::default();
    let wrong = Scenario::parse("--set", text, &overrides).err()?;
    let is_it = |it: &Problem| it.key == key && it.message.starts_with("unknown key");
    wrong.list().iter().any(is_it).then_some(wrong)
}

/// The most names of cases in a sentence.
const NAMES_MAX: usize = 6;
/// The most runs that are replayed on a page.
const RUNS_MAX: usize = 18;
/// The most links of a network that is replayed on a page.
const LINKS_MAX: usize = 100;
