//! How random networks with saturated cycles end, 100 ms to 2 s after their sources have stopped:
//! `cargo bench -p pauseless-sim --bench saturated_cycles`. The table of docs/gfc-guard.md.

#[path = "../tests/networks/mod.rs"]
mod networks;

use networks::random::{Wildness, random_network};
use pauseless_core::switch::Discipline;
use pauseless_core::unit::{Bytes, Span};
use pauseless_sim::run;

fn main() {
    println!("networks that end stuck, of all with that discipline; sources stop after 0.4 ms");
    let names = Discipline::COMMON.map(Discipline::name);
    println!("{:<17} {:>22} {:>22} {:>22} {:>5}", "scheme", names[0], names[1], names[2], "lost");
    // CBFC and time-based GFC send messages for ever, so that two seconds of them take too long.
    let schemes = [(0, "pfc", 100), (2, "gfc-buffer", 2_000), (4, "gfc-conceptual", 2_000)];
    for (scheme, name, ms) in schemes {
        let (mut stuck, mut all, mut lost) = ([0; 3], [0; 3], 0);
        for seed in 500..650 {
            let mut config = random_network(seed, Wildness { scheme, slow_receivers: false });
            config.duration = Span::ms(ms);
            let outcome = run(&config);
            let index = Discipline::COMMON.iter().position(|each| *each == config.discipline);
            let index = index.expect("one of three");
            let is_stuck = outcome.held_at_end > Bytes::ZERO;
            assert_eq!(is_stuck, outcome.deadlock.is_some(), "what is stuck was reported");
            all[index] += 1;
            stuck[index] += usize::from(is_stuck);
            lost += outcome.lost_packets;
        }
        let cell = |index: usize| format!("{} of {}", stuck[index], all[index]);
        println!("{name:<17} {:>22} {:>22} {:>22} {lost:>5}", cell(0), cell(1), cell(2));
    }
}
