//! A run of htsim, run again from its own files: 128 hosts, a permutation, PFC, the same path for
//! every packet and every acknowledgement.
//!
//! `docs/htsim.md` has the comparison; its table is printed by
//! `cargo test --release -p pauseless-lab --test htsim -- --nocapture`.

use std::collections::BTreeMap;

use pauseless_lab::import::htsim::{self, Options};
use pauseless_lab::import::source::Source;
use pauseless_lab::scenario::{Overrides, Scenario};

const MATRIX: &str = include_str!("htsim/perm_128n_128c_10MB.cm");
const PATHS: &str = include_str!("htsim/A_perm128.paths");
const FINISHES: &str = include_str!("htsim/A_perm128.fct");

fn source(file: &str, text: &str) -> Source {
    Source {
        file: file.to_string(),
        text: text.to_string(),
    }
}

fn scenario(options: &Options) -> Scenario {
    let sources = [source("p.cm", MATRIX), source("p.paths", PATHS)];
    let case = htsim::read_sources(&sources, options).unwrap_or_else(|wrong| panic!("{wrong}"));
    let scenario = Scenario::parse("p", &case.scenario, &Overrides::default());
    scenario.unwrap_or_else(|problems| panic!("{problems}"))
}

/// When each source had its last acknowledgement in htsim, in microseconds, by the name of its flow.
fn references() -> BTreeMap<String, f64> {
    let finishes = FINISHES.lines().map(|line| {
        let words = Vec::from_iter(line.split(' '));
        (
            format!("{}->{}", words[0], words[1]),
            words[2].parse::<f64>().unwrap(),
        )
    });
    let finishes = BTreeMap::from_iter(finishes);
    let flows = MATRIX.lines().skip(2).map(|line| {
        let words = Vec::from_iter(line.split(' '));
        let id: u32 = words[2].parse().unwrap();
        (format!("{id:03}"), finishes[words[0]])
    });
    flows.collect()
}

#[test]
fn finish_times_are_those_of_htsim() {
    let mut options: Options = "mtu=1500,end=6000".parse().unwrap();
    if let Ok(t) = std::env::var("JITTER") {
        println!("jitter {t}");
    }
    options.is_compat = std::env::var_os("PLAIN").is_none();
    let references = references();
    let scenario = scenario(&options);
    let outcome = pauseless_sim::run(&scenario.config);
    assert_eq!((outcome.lost_packets, &outcome.deadlock), (0, &None));
    for (flow, found) in scenario
        .config
        .flows
        .iter()
        .zip(&outcome.flows)
        .filter(|it| it.1.finish.is_none())
        .take(5)
    {
        println!("{flow:?} {found:?}");
    }
    println!(
        "unfinished {}",
        outcome
            .flows
            .iter()
            .filter(|it| it.finish.is_none())
            .count()
    );
    let flows = scenario.config.flows.iter().zip(&outcome.flows);
    let differences = flows.map(|(flow, found)| {
        let ours = found.finish.expect("it ends").as_ps() as f64 / 1e6;
        ours / references[&flow.name] - 1.0
    });
    let mut differences = Vec::from_iter(differences);
    let mean = differences.iter().sum::<f64>() / 128.0;
    differences.iter_mut().for_each(|one| *one = one.abs());
    differences.sort_by(f64::total_cmp);
    let within = |share: f64| differences.partition_point(|one| *one <= share);
    println!(
        "within 0.1 %: {}, 1 %: {}, 2 %: {}, 5 %: {}; mean {:+.3} %, median {:.3} %, 90th percentile {:.3} %, \
         largest {:.2} %; {} pauses",
        within(0.001),
        within(0.01),
        within(0.02),
        within(0.05),
        mean * 100.0,
        differences[63] * 100.0,
        differences[115] * 100.0,
        differences[127] * 100.0,
        outcome.pause_frames,
    );
    assert!(within(0.02) >= 122, "95 % of 128");
}
