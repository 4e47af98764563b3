//! Our layered routing beside LASH, DFSSSP and Nue on the same fabrics.

use std::time::Duration;
use std::{fs, io};

use super::cabling::Fabric;
use super::lab::{self, Dumps};
use super::proof::{self, State};
use super::{ENGINES, Engine};
use crate::Outcome;

/// Prints a table in Markdown with one row per fabric and engine. All runs are one after the other,
/// so that their times can be compared.
pub fn run(fabrics: &[Fabric]) -> io::Result<Outcome> {
    println!("| fabric | engine | lanes | largest load | mean load | hops | longest | CPU time |");
    println!("|---|---|---|---|---|---|---|---|");
    let mut outcome = Outcome::Clean;
    for fabric in fabrics {
        let minhop = row(fabric, &ENGINES[0])?;
        for engine in ENGINES.iter().filter(|engine| COMPARED.contains(&engine.name)) {
            row(fabric, engine)?;
        }
        let Some(minhop) = minhop.filter(|minhop| minhop.tables.is_cyclic) else { continue };
        match proof::prove(fabric, &minhop, "layers", true)?.state {
            State::Applied(applied) => {
                let lanes = applied.dumps.tables.lanes.to_string();
                print(fabric, "layers (ours)", &lanes, &applied.dumps, applied.cpu);
            }
            State::Skipped => {}
            State::NotOffered(why) => println!("| {} | layers (ours) | {why} |", fabric.name),
            State::Broken(why) => {
                println!("WRONG: {} layers: {why}", fabric.name);
                outcome = Outcome::Found;
            }
        }
    }
    Ok(outcome)
}

fn row(fabric: &Fabric, engine: &Engine) -> io::Result<Option<Box<Dumps>>> {
    let dumps = match engine.run(fabric, "opensm-compare")? {
        lab::Outcome::Up(dumps) => dumps,
        lab::Outcome::Refused(_) => return Ok(None),
    };
    let mut lanes = dumps.tables.lanes.to_string();
    if dumps.tables.is_cyclic {
        lanes += ", cyclic";
    }
    // DFSSSP spreads paths over all lanes in the end.
    let log = fs::read(dumps.folder.join("opensm.log"))?;
    let log = String::from_utf8_lossy(&log);
    if let Some((_, needed)) = log.split_once("Virtual Lanes needed: ") {
        let needed = needed.lines().next().unwrap_or_default();
        lanes += &format!(", needs {needed}");
    }
    print(fabric, engine.name, &lanes, &dumps, dumps.cpu);
    Ok(Some(dumps))
}

fn print(fabric: &Fabric, engine: &str, lanes: &str, dumps: &Dumps, cpu: Duration) {
    let tables = &dumps.tables;
    println!(
        "| {} | {engine} | {lanes} | {} | {:.1} | {:.2} | {} | {:.2} s |",
        fabric.name,
        tables.largest_load,
        tables.mean_load,
        tables.mean_length,
        tables.longest,
        cpu.as_secs_f64()
    );
}

const COMPARED: [&str; 4] = ["lash", "dfsssp", "nue", "nue1"];
