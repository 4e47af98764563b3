//! What the program puts on wires and in captures, read by programs of others.

mod dissect;

use std::io;
use std::path::PathBuf;
use std::time::Instant;

use crate::{Outcome, page};

/// One thing to check. A new one is a line in [`STEPS`].
struct Step {
    name: &'static str,
    /// What was seen, or what is wrong.
    check: fn() -> io::Result<Result<String, String>>,
}

const STEPS: [Step; 5] = [
    Step { name: "PFC frames, as tshark reads them", check: dissect::pfc },
    Step { name: "GFC's stages in PFC frames", check: dissect::gfc },
    Step { name: "link packets with credits", check: dissect::credits },
    Step { name: "marked data and PCN's CNPs", check: dissect::pcn },
    Step { name: "frames of real switches and hosts", check: dissect::real },
];

/// Makes sure of tshark and takes all steps.
pub fn run() -> io::Result<Outcome> {
    if !page::install("tshark", "tshark")? {
        return Ok(Outcome::Found);
    }
    std::fs::create_dir_all(place())?;
    let mut outcome = Outcome::Clean;
    for step in STEPS {
        let begin = Instant::now();
        let (verdict, text) = match (step.check)()? {
            Ok(seen) => ("ok", seen),
            Err(wrong) => {
                outcome = Outcome::Found;
                ("WRONG", wrong)
            }
        };
        let seconds = begin.elapsed().as_secs_f64();
        println!("{verdict}: {}: {text} ({seconds:.1} s)", step.name);
    }
    Ok(outcome)
}

/// The folder that captures are written to.
fn place() -> PathBuf {
    page::target_dir().join("wire")
}
