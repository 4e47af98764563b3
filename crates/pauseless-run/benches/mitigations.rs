//! One deadlock under many mitigations, over seeds: the tables of docs/mitigations.md.
//! `cargo bench -p pauseless-run --bench mitigations [-- SEEDS]`

#[path = "../tests/mitigated/mod.rs"]
mod mitigated;

use mitigated::{NETWORKS, Network, Remedy, Score, scenario, score};
use pauseless_core::unit::Span;
use rayon::prelude::*;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let seeds = arguments.find_map(|argument| argument.parse().ok());
    let seeds: u64 = seeds.unwrap_or(10);
    println!("output-queued, sources on for 100 ms, {seeds} seeds: median (least to most)");
    for network in &NETWORKS {
        println!("\n{}", network.name);
        println!(
            "| remedy | deadlocks | packets lost | not served, ms per flow | Gb/s per flow | \
             slowest flow | left 100 ms later, KB |\n|---|---|---|---|---|---|---|"
        );
        for remedy in Remedy::ALL {
            println!("{}", row(network, remedy, seeds, Span::ms(100)));
        }
    }
    println!("\n{}, sources on for 1 s, 3 seeds", NETWORKS[0].name);
    println!("{}", row(&NETWORKS[0], Remedy::Sonic, 3, Span::s(1)));
}

fn row(network: &Network, remedy: Remedy, seeds: u64, on: Span) -> String {
    let seeds = (1..=seeds).into_par_iter();
    let scores: Vec<Score> = seeds.map(|seed| score(scenario(network, remedy, seed, on))).collect();
    let cell = |of: fn(&Score) -> f64, digits: usize| {
        let mut values = Vec::from_iter(scores.iter().map(of));
        values.sort_by(f64::total_cmp);
        let (least, most) = (values[0], values[values.len() - 1]);
        let median = values[values.len() / 2];
        let text = |value: f64| format!("{value:.digits$}");
        if text(least) == text(most) {
            text(median)
        } else {
            format!("{} ({} to {})", text(median), text(least), text(most))
        }
    };
    let cells = [
        remedy.name().to_string(),
        cell(|score| score.deadlocks, 0),
        cell(|score| score.lost_packets, 0),
        cell(|score| score.silent_ms, 1),
        cell(|score| score.goodput, 2),
        cell(|score| score.goodput_min, 2),
        cell(|score| score.left_kb, 0),
    ];
    format!("| {} |", cells.join(" | "))
}
