//! A congestion control of one's own, from its declaration to the report of a run:
//! `cargo run -p pauseless-lab --example own_congestion_control [SCENARIO.toml]`.
//!
//! `aimd.rs` is the scheme. A crate of your own has the same two files, and depends on
//! `pauseless-core`, `pauseless-lab` and, for topologies, `pauseless-fabric`.

mod aimd;

use std::ops::ControlFlow;
use std::process::ExitCode;

use pauseless_report::text::{Paint, report};
use pauseless_run::Run;
use pauseless_scenario::outside::OUTSIDE;
use pauseless_scenario::{Overrides, Scenario};

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
            let run = Run::execute(scenario, |_| ControlFlow::Continue(()));
            print!("{}", report(&run, Paint::Plain));
            ExitCode::SUCCESS
        }
        Err(problems) => {
            eprintln!("{problems}");
            ExitCode::from(2)
        }
    }
}
