//! Cycle-aware thresholds, measured: the tables of docs/cycle-aware.md.
//! `cargo bench -p pauseless-check --bench cycle_aware -- rho|disciplines|table|attack [--quick] [FILTER] [MARGIN]`

mod cases;
mod tally;

use cases::Case;
use pauseless_core::switch::Discipline;
use pauseless_fabric::cycle_aware::MARGIN;
use pauseless_scenario::{Overrides, Scenario, StopOn};
use pauseless_sim::run;
use rayon::prelude::*;
use tally::Tally;

/// The schemes of the main table, with and without cycle-aware thresholds.
const SCHEMES: [&str; 4] = ["pfc", "cbfc", "gfc-buffer", "gfc-time"];

fn main() {
    let words = Vec::from_iter(std::env::args().skip(1).filter(|word| word != "--bench"));
    let is_quick = words.iter().any(|word| word == "--quick");
    let mut words = words.iter().filter(|word| !word.starts_with("--"));
    let what = words.next().map_or("table", String::as_str);
    let filter = words.next().map_or("", String::as_str);
    let seeds = if is_quick { 4 } else { 20 };
    let margin = words.next().map_or(MARGIN, |word| word.parse().expect("a margin"));
    match what {
        "rho" => rho(seeds),
        "disciplines" => disciplines(seeds),
        "table" => {
            let trees = if is_quick { 10 } else { 200 };
            table(&cases::table(trees), seeds, margin, filter);
        }
        "attack" => table(&cases::attack(), seeds, margin, filter),
        other => panic!("{other}: expected rho, disciplines, table or attack"),
    }
}

/// One run of a case.
#[derive(Clone, Copy)]
struct How {
    scheme: &'static str,
    margin: Option<f64>,
    seed: u64,
    discipline: Discipline,
}

/// The scenario, or `None` where the thresholds of a scheme do not fit into the buffer.
fn scenario(case: &Case, how: How) -> Option<Scenario> {
    let text = case.text(how.scheme, how.margin);
    let overrides = Overrides {
        seed: Some(how.seed),
        discipline: Some(how.discipline),
        stop_on: Some(StopOn::DEADLOCK),
        ..Overrides::default()
    };
    match Scenario::parse(&case.name, &text, &overrides) {
        Ok(scenario) => Some(scenario),
        Err(problems) => panic!("{problems}\n{text}"),
    }
}

fn measure(case: &Case, how: How) -> Option<Tally> {
    let scenario = scenario(case, how)?;
    let outcome = run(&scenario.config);
    Some(Tally::of(&scenario.config, &outcome))
}

/// Where PFC in rings breaks as rho m L comes near K.
fn rho(seeds: u64) {
    println!(
        "PFC in rings, output-queued, greedy: deadlocks of {seeds} seeds in 60 ms, by K / (rho m L)"
    );
    let margins = [0.6, 0.8, 0.9, 1.0, 1.1, 1.25, 1.5, 2.0, 3.0];
    print!("{:<34}", "switches, links per flow, feeding");
    margins.iter().for_each(|margin| print!("{margin:>6}"));
    println!("{:>8}", "plain");
    for case in cases::rings() {
        print!("{:<34}", case.name);
        for margin in margins.map(Some).into_iter().chain([None]) {
            let discipline = Discipline::OutputQueued;
            let tally = tally(&case, How { scheme: "pfc", margin, seed: 1, discipline }, seeds);
            let width = if margin.is_some() { 6 } else { 8 };
            print!("{:>width$}", tally.deadlocks);
        }
        println!();
    }
}

/// The same cases under the three ways of queueing.
fn disciplines(seeds: u64) {
    println!("deadlocks, starvation and share of the fair rate, of {seeds} seeds each");
    println!("{:<34} {:<22} {:<12} {}", "case", "discipline", "scheme", Tally::heading());
    for case in cases::papers() {
        for discipline in Discipline::ALL {
            for scheme in SCHEMES {
                for margin in [None, Some(MARGIN)] {
                    let how = How { scheme, margin, seed: 1, discipline };
                    let tally = tally(&case, how, seeds);
                    let name = name(scheme, margin);
                    println!("{:<34} {:<22} {name:<12} {tally}", case.name, discipline.name());
                }
            }
        }
    }
}

/// The sum over runs that differ from `how` in their seed.
fn tally(case: &Case, how: How, seeds: u64) -> Tally {
    let runs = (1..=seeds).into_par_iter().filter_map(|seed| measure(case, How { seed, ..how }));
    runs.collect::<Vec<_>>().into_iter().sum()
}

fn name(scheme: &str, margin: Option<f64>) -> String {
    match margin {
        None => scheme.to_string(),
        Some(_) => format!("{scheme}+"),
    }
}

/// All schemes on groups of cases.
fn table(groups: &[(&str, Vec<Case>)], seeds: u64, margin: f64, filter: &str) {
    println!("+ is with cycle-aware thresholds; output-queued; {seeds} seeds each; 95 % intervals");
    println!("{:<26} {:<12} {}", "case", "scheme", Tally::heading());
    for (group, cases) in groups.iter().filter(|(name, _)| name.contains(filter)) {
        // Thousands of networks under the two main schemes, a few under all four.
        let is_many = cases.len() * seeds as usize > 1_000;
        let schemes = SCHEMES.into_iter();
        let schemes = schemes.filter(|scheme| !is_many || ["pfc", "gfc-buffer"].contains(scheme));
        for scheme in schemes {
            for margin in [None, Some(margin)] {
                let tasks = cases.iter().flat_map(|case| (1..=seeds).map(move |seed| (case, seed)));
                let tasks = Vec::from_iter(tasks);
                let runs = tasks.into_par_iter().filter_map(|(case, seed)| {
                    let how = How { scheme, margin, seed, discipline: Discipline::OutputQueued };
                    measure(case, how)
                });
                let tally: Tally = runs.collect::<Vec<_>>().into_iter().sum();
                println!("{group:<26} {:<12} {tally}", name(scheme, margin));
            }
        }
    }
}
