//! Packet-hops and events per CPU second, memory and threads, and the ratio to other simulators:
//!
//! ```text
//! cargo bench -p pauseless-compat --bench speed -- [PART..] [--threads 1,2] [--rounds 3] [--quick]
//!     [--peer hpcc=COMMAND] [--peer htsim=COMMAND] [--peer ns3]
//! ```
//!
//! A `PART` is a part of a case's name; without one, all cases run. `--quick` simulates a tenth of the
//! time. Every run is a process of its own, as for a user, so that none finds the heap as another
//! has left it. A peer and we run alternately, `--rounds` times; the best CPU time of each
//! counts, because what else runs on a machine only ever makes a run slower.
//!
//! A peer's `COMMAND` may have `{config}` or `{matrix}` for the file of the case; `hpcc` is started in a
//! copy of the case's folder. `--peer ns3` builds `ns3_fat_tree.cc` against
//! Debian's `libns3-dev`.

mod cases;
mod peers;
mod table;

use std::process::{Command, ExitCode};

use cases::Case;
use peers::Peers;
use table::Row;

/// What was asked for.
struct Wanted {
    parts: Vec<String>,
    threads: Vec<usize>,
    rounds: usize,
    is_quick: bool,
    peers: Peers,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [first, name, threads, quick] = arguments.as_slice()
        && first == "--run"
    {
        let case = Case::find(name, quick == "quick");
        println!("{}", case.measure(threads.parse().expect("a number")));
        return ExitCode::SUCCESS;
    }
    match read(&arguments) {
        Ok(wanted) => {
            compare(&wanted);
            ExitCode::SUCCESS
        }
        Err(message) => {
            eprintln!("speed: {message}");
            ExitCode::from(2)
        }
    }
}

fn read(arguments: &[String]) -> Result<Wanted, String> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut wanted = Wanted {
        parts: Vec::new(),
        threads: [1, 2, 16].into_iter().filter(|n| *n <= cores).collect(),
        rounds: 3,
        is_quick: false,
        peers: Peers::default(),
    };
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let mut value = || rest.next().cloned().ok_or_else(|| format!("{argument} needs a value"));
        let number = |text: &str| {
            let number = text.parse::<usize>().ok().filter(|n| *n > 0);
            number.ok_or_else(|| format!("'{text}' is not a number above 0"))
        };
        match argument.as_str() {
            // What `cargo bench` itself adds.
            "--bench" => {}
            "--quick" => wanted.is_quick = true,
            "--rounds" => wanted.rounds = number(&value()?)?,
            "--threads" => {
                wanted.threads = value()?.split(',').map(number).collect::<Result<_, _>>()?;
            }
            "--peer" => wanted.peers.add(&value()?)?,
            _ if argument.starts_with('-') => return Err(format!("unknown option {argument}")),
            part => wanted.parts.push(part.to_string()),
        }
    }
    Ok(wanted)
}

fn compare(wanted: &Wanted) {
    table::print_head();
    for case in Case::all(wanted.is_quick) {
        let is_wanted = |part: &String| case.name.contains(part.as_str());
        if !wanted.parts.is_empty() && !wanted.parts.iter().any(is_wanted) {
            continue;
        }
        let mut alone = None;
        for threads in &wanted.threads {
            let (row, peer) = alternate(&case, *threads, wanted);
            let single = *alone.get_or_insert(row.wall);
            table::print_row(&case, &row, single, peer);
        }
    }
}

/// We and the peer of the case in turn: the best of ours, and the best of the peer's CPU times.
fn alternate(case: &Case, threads: usize, wanted: &Wanted) -> (Row, Option<f64>) {
    // Peers have one thread, so they are held against ours with one.
    let peers = (threads == 1).then_some(&wanted.peers);
    let mut best: Option<Row> = None;
    let mut peer: Option<(f64, Option<f64>)> = None;
    for _ in 0..wanted.rounds {
        let program = std::env::current_exe().expect("this program");
        let quick = if wanted.is_quick { "quick" } else { "whole" };
        let output = Command::new(program)
            .args(["--run", &case.name, &threads.to_string(), quick])
            .output()
            .expect("it starts");
        assert!(
            output.status.success(),
            "{}: {}",
            case.name,
            String::from_utf8_lossy(&output.stderr)
        );
        let row = Row::parse(&String::from_utf8_lossy(&output.stdout));
        let key = |row: &Row| if threads == 1 { row.cpu } else { row.wall };
        if best.as_ref().is_none_or(|best| key(&row) < key(best)) {
            best = Some(row);
        }
        if let Some(cost) = peers.and_then(|peers| peers.run(case))
            && peer.is_none_or(|least| cost.0 < least.0)
        {
            peer = Some(cost);
        }
    }
    // What a packet-hop costs the peer against what it costs us.
    let best = best.expect("at least one round");
    let ours = best.hops as f64;
    let ratio = peer.map(|(cpu, hops)| cpu / hops.unwrap_or(ours) / (best.cpu / ours));
    (best, ratio)
}
