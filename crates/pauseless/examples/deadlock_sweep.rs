//! Runs one scenario with many values of a parameter, on all cores: how long does it take a ring to
//! deadlock, by the room below its PFC threshold and by how greedy the flows are?
//!
//! Run it with `cargo run -p pauseless --example deadlock_sweep`.
//!
//! `pauseless sweep` does this from a file, and keeps what is finished; here the loop is yours.

use std::error::Error;

use pauseless::{Overrides, Problems, Scenario};
use rayon::prelude::*;

/// The load of each flow in Gb/s; two of them share every link between switches.
const LOADS: [u64; 4] = [4, 5, 6, 10];
const XOFF_KB: [u64; 3] = [50, 200, 800];
const SEEDS: u64 = 4;

fn main() -> Result<(), Box<dyn Error>> {
    let points = Vec::from_iter(LOADS.iter().flat_map(|load| XOFF_KB.map(|xoff| (*load, xoff))));
    let deadlocks: Vec<Vec<Option<f64>>> = points
        .par_iter()
        .map(|(load, xoff)| (1..=SEEDS).map(|seed| deadlock_ms(*load, *xoff, seed)).collect())
        .collect::<Result<_, Problems>>()?;

    println!("{:>10} {:>8}  {:>14} {:>12}", "load", "xoff", "deadlocked", "mean after");
    for ((load, xoff), times) in points.iter().zip(&deadlocks) {
        let found = Vec::from_iter(times.iter().flatten());
        let mean = match found.len() {
            0 => "-".to_string(),
            count => format!("{:.2} ms", found.iter().copied().sum::<f64>() / count as f64),
        };
        let share = format!("{} of {SEEDS}", found.len());
        println!("{load:>5} Gb/s {xoff:>5} KB  {share:>14} {mean:>12}");
    }
    for ((load, _), times) in points.iter().zip(&deadlocks) {
        // Links have 10 Gb/s: below half of that nothing is ever paused.
        let is_overloaded = *load > 5;
        assert!(times.iter().all(|time| time.is_some() == is_overloaded), "{load} Gb/s");
    }
    Ok(())
}

/// After how many milliseconds a ring of three switches is deadlocked, if it is.
fn deadlock_ms(load: u64, xoff: u64, seed: u64) -> Result<Option<f64>, Problems> {
    let text = format!(
        r#"
        duration = "20 ms"
        topology = {{ kind = "ring", switches = 3, hosts_per_switch = 1, rate = "10 Gbps", delay = "1 us" }}
        switch = {{ buffer = "1 MB" }}
        flow_control = {{ kind = "pfc", xoff = "{xoff} KB" }}
        verdict = {{ stop_on = ["deadlock"] }}
        flow = [
            {{ source = "H1", target = "H3", path = ["S1", "S2", "S3"], rate = "{load} Gbps" }},
            {{ source = "H2", target = "H1", path = ["S2", "S3", "S1"], rate = "{load} Gbps" }},
            {{ source = "H3", target = "H2", path = ["S3", "S1", "S2"], rate = "{load} Gbps" }},
        ]
        "#
    );
    let overrides = Overrides { seed: Some(seed), ..Overrides::default() };
    let run = pauseless::run(Scenario::parse("ring", &text, &overrides)?);
    Ok(run.outcome.deadlock.map(|deadlock| deadlock.time.as_ps() as f64 / 1e9))
}
