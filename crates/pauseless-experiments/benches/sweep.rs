//! How a campaign grows with threads, and whether its memory grows with its runs.
//!
//! ```sh
//! cargo bench -p pauseless-experiments --bench sweep             # one thread against all cores
//! cargo bench -p pauseless-experiments --bench sweep -- 1 2 4    # other numbers of threads
//! ```
//!
//! Numbers of threads take turns in the same minutes, since machines are noisy; every campaign
//! begins with an empty folder and keeps its rows as `pauseless sweep` does.

use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;

use pauseless_experiments::sweep::campaign::Campaign;
use pauseless_experiments::sweep::execute::{Hooks, execute};
use pauseless_experiments::sweep::plan::Plan;
use pauseless_experiments::sweep::store::Store;

/// Fat trees with random failures, as Table 1 of the GFC paper has them, 2 ms each.
const TREES: &str = "
scenario = 'papers/gfc/table1.toml'
[[axis]]
keys = ['topology.random_failures.sample', 'routing.seed']
name = 'network'
range = { from = 0, count = 20 }
[[axis]]
key = 'duration'
values = ['2 ms']
[[axis]]
key = 'seed'
seeds = 10
[filter]
connected = true
";

/// A campaign of many short runs.
const RINGS: &str = "
scenario = 'scenarios/gfc-ring.toml'
[[axis]]
key = 'duration'
values = ['1 ms']
[[axis]]
key = 'seed'
seeds = 20000
";

const ROUNDS: usize = 5;

fn main() {
    let words = std::env::args().skip(1).filter(|word| word != "--bench");
    let mut threads = Vec::from_iter(words.filter_map(|word| word.parse::<NonZeroUsize>().ok()));
    if threads.is_empty() {
        let all = std::thread::available_parallelism().expect("a count of cores");
        threads = vec![NonZeroUsize::MIN, all];
    }
    scaling(&threads);
    memory(*threads.last().expect("at least one"));
}

/// The plan of a campaign whose scenario lies in the repository.
fn plan(folder: &Path, text: &str) -> Plan {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let root = root.canonicalize().expect("the repository");
    let text = text.replace("scenario = '", &format!("scenario = '{}/", root.display()));
    let file = folder.join("bench.sweep.toml");
    std::fs::write(&file, text).expect("a place on disk");
    let campaign = Campaign::read(&file, None).unwrap_or_else(|wrong| panic!("{wrong}"));
    let plan = Plan::new(campaign, None, &|_, _| ControlFlow::Continue(()));
    plan.unwrap_or_else(|wrong| panic!("{wrong}"))
}

/// Makes all runs in an empty folder; how long it took, in seconds.
fn carry_out(plan: &Plan, threads: NonZeroUsize, watch: &(dyn Fn(usize) + Sync)) -> f64 {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let todo = Vec::from_iter(0..plan.len() as u32);
    let begin = Instant::now();
    let store = Store::open(folder.path(), &plan.campaign).expect("a store");
    let writer = store.writer().expect("a journal");
    let hooks = Hooks {
        keep: &|task, row, tables| writer.append(task, row, tables.expect("they are there")),
        watch: &|progress| {
            watch(progress.tally.runs);
            ControlFlow::Continue(())
        },
    };
    let executed = execute(plan, &todo, threads, &hooks).expect("room on disk");
    writer.seal().expect("room on disk");
    assert_eq!(executed.progress.tally.runs, plan.len());
    assert_eq!(executed.progress.tally.errors, 0);
    begin.elapsed().as_secs_f64()
}

fn scaling(threads: &[NonZeroUsize]) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let plan = plan(folder.path(), TREES);
    println!("{} runs of a fat tree, k = 4, {ROUNDS} rounds", plan.len());
    let mut rates = vec![Vec::new(); threads.len()];
    for _ in 0..ROUNDS {
        for (count, rates) in threads.iter().zip(&mut rates) {
            let seconds = carry_out(&plan, *count, &|_| ());
            rates.push(plan.len() as f64 / seconds);
        }
    }
    println!("threads   runs/s (median)   ratio to the first (median, least, most)");
    for (count, mine) in threads.iter().zip(&rates) {
        let mut ratios = Vec::from_iter(mine.iter().zip(&rates[0]).map(|(a, b)| a / b));
        let mut mine = mine.clone();
        mine.sort_by(f64::total_cmp);
        ratios.sort_by(f64::total_cmp);
        let (least, most) = (ratios[0], ratios[ROUNDS - 1]);
        let (rate, ratio) = (mine[ROUNDS / 2], ratios[ROUNDS / 2]);
        println!("{count:>7}   {rate:>15.1}   {ratio:.2}, {least:.2}, {most:.2}");
    }
}

fn memory(threads: NonZeroUsize) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let plan = plan(folder.path(), RINGS);
    println!("\n{} short runs on {threads} threads", plan.len());
    println!("   runs   resident MB");
    let next = std::sync::Mutex::new(plan.len() / 20);
    carry_out(&plan, threads, &|runs| {
        let mut next = next.lock().expect("nobody panics with the lock held");
        if runs >= *next {
            println!("{runs:>7}   {:>11.1}", resident() / 1e6);
            *next *= 2;
        }
    });
}

/// What the process has in memory, in bytes.
fn resident() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
    kib.unwrap_or(f64::NAN) * 1024.0
}
