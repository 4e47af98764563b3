//! A congestion control of one's own, from its declaration to the report of a run.
//!
//! Run it with `cargo run -p pauseless --example own_congestion_control [SCENARIO.toml]`.
//!
//! `aimd.rs` is the scheme. `examples/own-scheme/` at the root of the repository is a crate outside
//! the workspace that does the same with another scheme.

mod aimd;

use std::process::ExitCode;

use pauseless::report::text::report;
use pauseless::scenario::outside::OUTSIDE;
use pauseless::text::terminal::Paint;
use pauseless::{Overrides, Scenario};

/// Two senders into one port.
const SCENARIO: &str = r#"duration = "2 ms"
[topology]
kind = "n-to-1"
senders = 2
rate = "10 Gbps"
delay = "1 us"
[switch]
buffer = "1 MB"
[flow_control]
kind = "pfc"
[congestion_control]
kind = "aimd"
step = "50 Mbps"
[[flow]]
source = "H1"
target = "R"
[[flow]]
source = "H2"
target = "R"
"#;

fn main() -> ExitCode {
    // Before the first file is read, so that `kind = "aimd"` is known.
    OUTSIDE.register(&aimd::AIMD);
    let scenario = match std::env::args().nth(1) {
        Some(path) => Scenario::read(path.as_ref(), &Overrides::default()),
        None => Scenario::parse("two senders", SCENARIO, &Overrides::default()),
    };
    match scenario {
        Ok(scenario) => {
            let run = pauseless::run(scenario);
            print!("{}", report(&run, Paint::Plain));
            if std::env::args().len() == 1 {
                assert_eq!(run.schemes(), "pfc with aimd");
                assert!(run.outcome.marked_packets > 0, "the queue is long enough for marks");
            }
            ExitCode::SUCCESS
        }
        Err(problems) => {
            eprintln!("{problems}");
            ExitCode::from(2)
        }
    }
}
