//! Builds a scenario in code, without any text, and runs it: three switches in a ring, where each
//! flow passes all of them, once with PFC and once with credits.
//!
//! Run it with `cargo run -p pauseless --example scenario_in_code`.
//!
//! Sections and keys are those of docs/scenario.md. A `Key` may be left out and a `Filled` has a
//! default, so that `..Default::default()` stands for all that a file need not say.

use std::error::Error;
use std::sync::Arc;

use pauseless::core::unit::{Bytes, Rate, Span};
use pauseless::fabric::generate::Ring;
use pauseless::scenario::flow_control::{Cbfc, Pfc, Scheme, schemes};
use pauseless::scenario::flows::{Flow, FlowName};
use pauseless::scenario::switch::Switch;
use pauseless::scenario::topology::{Common, Generated, Layout, Network};
use pauseless::scenario::{General, ScenarioFile};
use pauseless::text::declare::{Key, Written, list};
use pauseless::{Overrides, Run};

fn main() -> Result<(), Box<dyn Error>> {
    let pfc = Pfc { xoff: Key::of(Bytes::kb(100)), ..Pfc::default() };
    let file = ring(Arc::new(pfc));
    println!("As a file, the first scenario would be:\n\n{}", file.text());
    let with_pfc = run("pfc", &file)?;
    let with_credits = run("credits", &ring(Arc::new(Cbfc::default())))?;
    // Both stop senders that have no room ahead, so both deadlock.
    assert!(with_pfc.outcome.is_stuck() && with_credits.outcome.is_stuck());
    assert!(with_pfc.outcome.pause_frames > 0 && with_credits.outcome.pause_frames == 0);

    // What is wrong with a scenario is said as it is for files, by the names of its keys.
    let mut wrong = ring(Arc::new(Cbfc::default()));
    wrong.one_of("flow", &flow(1, 9));
    let problems = wrong.build("wrong", &Overrides::default()).expect_err("there is no H9");
    println!("A flow to a host that there is not:\n{problems}");
    assert!(problems.to_string().contains("H9"));
    Ok(())
}

/// A ring of three switches, every link of which two flows share.
fn ring(flow_control: Arc<dyn Scheme>) -> ScenarioFile {
    let mut file = ScenarioFile::default();
    file.keys(&General { duration: Key::of(Span::ms(20)), ..General::default() });
    let shape = Arc::new(Ring { switches: 3, hosts_per_switch: 1 });
    let network = Network {
        layout: Some(Layout::Generated(Generated { shape, places: Vec::new() })),
        common: Common {
            rate: Key::of(Rate::gbps(10)),
            delay: Key::of(Span::us(1)),
            ..Common::default()
        },
    };
    file.table("topology", &network.entries());
    file.table("switch", &Switch { buffer: Key::of(Bytes::kb(200)), ..Switch::default() });
    file.table("flow_control", &schemes().entries(&flow_control));
    for (source, target) in [(1, 3), (2, 1), (3, 2)] {
        file.one_of("flow", &flow(source, target));
    }
    file
}

/// A flow that goes the long way round, by the switch that neither of its hosts is at.
fn flow(source: u32, target: u32) -> Flow {
    let switches = [source, source % 3 + 1, target].map(|number| format!("S{number}"));
    Flow {
        name: Key::of(FlowName(format!("F{source}"))),
        source: Key::of(format!("H{source}")),
        target: Key::of(format!("H{target}")),
        path: Key::of(list(switches)),
        ..Flow::default()
    }
}

fn run(name: &str, file: &ScenarioFile) -> Result<Run, Box<dyn Error>> {
    let run = pauseless::run(file.build(name, &Overrides::default())?);
    let end = match &run.outcome.deadlock {
        Some(deadlock) => format!("a deadlock at {}", deadlock.time),
        None => "no deadlock".to_string(),
    };
    println!("{name}: {end}, {} PAUSE frames\n", run.outcome.pause_frames);
    Ok(run)
}
