//! A real opensm over ibsim: what `check` says of its tables, beside ibdmchk and a judge of this
//! crate; and what becomes of the fabric when opensm is told what `check --fix` proposes.

mod cabling;
mod compare;
mod fabrics;
mod lab;
mod path_records;
mod proof;
mod tables;
mod verdict;

use std::collections::BTreeMap;
use std::io;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use crate::{Outcome, page};
use cabling::Fabric;
use lab::{Dumps, Order};
use proof::{Proved, State};

/// Runs the lab without what takes long.
pub fn run() -> io::Result<Outcome> {
    lab(Scope::Quick)
}

/// Runs the lab with every fabric, engine and proposal.
pub fn full() -> io::Result<Outcome> {
    lab(Scope::Full)
}

/// Prints a table that compares our layered routing with the engines of opensm.
pub fn compare() -> io::Result<Outcome> {
    if !has_tools()? {
        return Ok(Outcome::Found);
    }
    compare::run(&fabrics::all()?)
}

/// How much is tried.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Scope {
    Quick,
    Full,
}

impl Scope {
    /// Whether there is time for this engine. A third of a million questions for service levels
    /// takes 20 s.
    fn has(self, fabric: &Fabric, engine: &Engine) -> bool {
        let fits = engine.engine != "torus-2QoS" || fabric.torus.is_some();
        let is_slow = fabric.is_large() && engine.has_levels();
        fits && (self == Scope::Full || !is_slow)
    }
}

/// A routing engine of opensm, as it is asked for.
struct Engine {
    name: &'static str,
    /// What opensm calls it.
    engine: &'static str,
    options: &'static [&'static str],
}

impl Engine {
    /// Whether packets of one pair may have another service level than those of another.
    fn has_levels(&self) -> bool {
        self.options.contains(&"-Q")
    }

    /// Runs it; what is left of it lies in `target/LAB/FABRIC/ENGINE`.
    fn run(&self, fabric: &Fabric, lab: &str) -> io::Result<lab::Outcome> {
        let out = page::target_dir().join(lab).join(fabric.name).join(self.name);
        let options = Vec::from_iter(self.options.iter().map(|option| (*option).to_string()));
        let order = Order {
            engine: self.engine,
            options: &options,
            folder: None,
            service_levels: self.has_levels(),
            partition: None,
        };
        lab::run(fabric, &order, &out)
    }
}

fn has_tools() -> io::Result<bool> {
    let programs = [("ibsim", "ibsim-utils"), ("opensm", "opensm"), ("ibdmchk", "ibutils")];
    for (program, package) in programs {
        if !page::install(program, package)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn lab(scope: Scope) -> io::Result<Outcome> {
    if !has_tools()? {
        return Ok(Outcome::Found);
    }
    let begin = Instant::now();
    let fabrics = fabrics::all()?;
    let runs = fabrics.iter().flat_map(|fabric| ENGINES.iter().map(move |engine| (fabric, engine)));
    let runs = Vec::from_iter(runs.filter(|(fabric, engine)| scope.has(fabric, engine)));
    let tried = in_parallel(&runs, |&(fabric, engine)| try_engine(fabric, engine))?;
    let mut outcome = verdicts(&tried);
    println!("opensm: {:.1} s", begin.elapsed().as_secs_f64());
    let cyclic = tried.iter().filter(|tried| tried.engine == "minhop");
    let cyclic = cyclic.filter_map(|tried| Some((tried.fabric, tried.dumps.as_deref()?)));
    let cyclic = Vec::from_iter(cyclic.filter(|(_, minhop)| minhop.tables.is_cyclic));
    let mut works = Vec::new();
    for &(fabric, minhop) in &cyclic {
        works.extend(proof::KINDS.map(|kind| (fabric, minhop, kind)));
    }
    let proved = in_parallel(&works, |&(fabric, minhop, kind)| {
        Ok((fabric.name, proof::prove(fabric, minhop, kind, scope == Scope::Full)?))
    })?;
    for (fabric, minhop) in cyclic {
        let own = proved.iter().filter(|(name, _)| *name == fabric.name);
        let own = Vec::from_iter(own.map(|(_, proved)| proved));
        let preferred = proof::preferred(&minhop.files)?;
        outcome = outcome.and(proofs(fabric, best_load(&tried, fabric), &own, &preferred));
    }
    println!("opensm: {:.1} s", begin.elapsed().as_secs_f64());
    Ok(outcome)
}

/// What became of an engine on a fabric.
struct Tried<'a> {
    fabric: &'a Fabric,
    engine: &'static str,
    line: String,
    dumps: Option<Box<Dumps>>,
    ibdmchk: Option<bool>,
    agree: bool,
}

fn try_engine<'a>(fabric: &'a Fabric, engine: &Engine) -> io::Result<Tried<'a>> {
    let name = format!("{}/{}", fabric.name, engine.name);
    let engine_name = engine.name;
    let dumps = match engine.run(fabric, "opensm")? {
        lab::Outcome::Up(dumps) => dumps,
        lab::Outcome::Refused(why) => {
            let line = format!("refused: {name}: {why}");
            let (dumps, ibdmchk, agree) = (None, None, true);
            return Ok(Tried { fabric, engine: engine_name, line, dumps, ibdmchk, agree });
        }
    };
    let own = dumps.tables.is_cyclic;
    let ours = verdict::ours(&dumps.files, &[])?;
    let ibdmchk = verdict::ibdmchk(&dumps)?;
    let agree = ours.is_cyclic() == Some(own) && ibdmchk.is_none_or(|theirs| theirs == own);
    // From the cables and tables alone it must not say more than they tell.
    let alone = verdict::ours(&dumps.files[..2], &[])?.word;
    let may_be: &[&str] = match (dumps.tables.is_cyclic_on_one_lane, engine.has_levels()) {
        (false, _) => &["cycle-free"],
        (true, true) => &["undecided"],
        (true, false) => &["cyclic", "undecided"],
    };
    let agree = agree && may_be.contains(&alone.as_str());
    let word = |is_cyclic| if is_cyclic { "cyclic" } else { "cycle-free" };
    let mut line = format!(
        "{}: {name}: check {}, by tables alone {alone}, ibdmchk {}, own judge {}; {}",
        if agree { "ok" } else { "WRONG" },
        ours.word,
        ibdmchk.map_or("silent", word),
        word(own),
        dumps.tables
    );
    if !agree {
        line += &format!("; see {}; {}", dumps.folder.display(), ours.errors);
    }
    Ok(Tried { fabric, engine: engine_name, line, dumps: Some(dumps), ibdmchk, agree })
}

/// Prints the verdicts on all tables, ours beside those of others.
fn verdicts(tried: &[Tried]) -> Outcome {
    let mut outcome = Outcome::Clean;
    let (mut up, mut spoke) = (0, 0);
    for tried in tried {
        println!("{}", tried.line);
        up += usize::from(tried.dumps.is_some());
        spoke += usize::from(tried.ibdmchk.is_some());
        if !tried.agree {
            outcome = Outcome::Found;
        }
    }
    println!("opensm: {up} of {} runs gave tables; ibdmchk has a verdict on {spoke}", tried.len());
    outcome
}

/// The best of opensm's engines on a fabric, of those that lose no pair.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Best {
    /// The largest number of pairs over a link.
    load: u64,
    engine: &'static str,
}

fn best_load(tried: &[Tried], fabric: &Fabric) -> Best {
    let own = tried.iter().filter(|tried| tried.fabric.name == fabric.name);
    let loads = own.filter_map(|tried| {
        let tables = &tried.dumps.as_ref()?.tables;
        let best = Best { load: tables.largest_load, engine: tried.engine };
        (tables.lost == 0).then_some(best)
    });
    loads.min().expect("minhop has tables")
}

/// Prints what became of the proposals for a fabric. What was carried out must be clean, and the
/// load of the proposal that comes first at most half as much again as that of opensm's best engine.
fn proofs(fabric: &Fabric, best: Best, proved: &[&Proved], preferred: &[String]) -> Outcome {
    let Best { load: best, engine } = best;
    let mut outcome = Outcome::Clean;
    let mut by_kind: BTreeMap<&str, &State> =
        proved.iter().map(|proved| (proved.kind, &proved.state)).collect();
    for (kind, state) in &by_kind {
        let name = format!("{} --fix {kind}", fabric.name);
        match state {
            State::Skipped => println!("skipped: {name}: takes long; --full has it"),
            State::NotOffered(why) => println!("not proposed: {name}: {why}"),
            State::Broken(why) => {
                println!("WRONG: {name}: {why}");
                outcome = Outcome::Found;
            }
            State::Applied(applied) => {
                let tables = &applied.dumps.tables;
                let ratio = tables.largest_load as f64 / best as f64;
                let word = if applied.ibdmchk.is_some() { "agrees" } else { "silent" };
                println!(
                    "ok: {name}: no cycle, ibdmchk {word}; {tables}; load {ratio:.2} of {engine}'s"
                );
            }
        }
    }
    by_kind.retain(|_, state| !matches!(state, State::Skipped));
    let first = preferred.iter().find_map(|kind| by_kind.get_key_value(kind.as_str()));
    let name = fabric.name;
    match first {
        Some((kind, State::Applied(applied))) => {
            let load = applied.dumps.tables.largest_load;
            if 2 * load > 3 * best {
                println!("WRONG: {name}: {kind} comes first; load {load}, {engine} has {best}");
                outcome = Outcome::Found;
            }
        }
        _ => {
            println!("WRONG: {name}: no proposal was carried out; check prefers {preferred:?}");
            outcome = Outcome::Found;
        }
    }
    outcome
}

/// Does everything, two at a time, and gives what came of it in order.
fn in_parallel<T: Sync, R: Send>(
    items: &[T],
    work: impl Fn(&T) -> io::Result<R> + Sync,
) -> io::Result<Vec<R>> {
    let next = AtomicUsize::new(0);
    let results = Mutex::new(Vec::from_iter(items.iter().map(|_| None)));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(at) else { break };
                    let result = work(item);
                    results.lock().expect("nobody panics")[at] = Some(result);
                }
            });
        }
    });
    let results = results.into_inner().expect("nobody panics");
    results.into_iter().map(|result| result.expect("all are done")).collect()
}

/// The engines of opensm. nue is asked for as many lanes as there are, and for one.
const ENGINES: &[Engine] = &[
    Engine { name: "minhop", engine: "minhop", options: &[] },
    Engine { name: "updn", engine: "updn", options: &[] },
    Engine { name: "dor", engine: "dor", options: &[] },
    Engine { name: "ftree", engine: "ftree", options: &[] },
    Engine { name: "lash", engine: "lash", options: &["-Q"] },
    Engine { name: "dfsssp", engine: "dfsssp", options: &["-Q"] },
    Engine { name: "nue", engine: "nue", options: &["-Q", "--nue_max_num_vls", "0"] },
    Engine { name: "nue1", engine: "nue", options: &[] },
    Engine { name: "torus-2QoS", engine: "torus-2QoS", options: &["-Q"] },
];
