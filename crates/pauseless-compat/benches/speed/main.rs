//! Packet-hops per CPU second, memory and threads, and the ratio to other simulators:
//!
//! ```text
//! cargo bench -p pauseless-compat --bench speed -- [PART..] [--threads 1,2] [--rounds 3] [--quick]
//!     [--peer hpcc=COMMAND] [--peer htsim=COMMAND] [--peer ns3]
//! ```
//!
//! A `PART` is a part of a case's name; without one, all cases run. `--quick` simulates a tenth of the
//! time, or flows with a tenth of the bytes. Every run is a process of its own, as for a user, so that
//! none finds the heap as another has left it. A peer and we run alternately, `--rounds` times; the best
//! CPU time of each counts, because what else runs on a machine only ever makes a run slower. A star
//! marks the number of threads that a run has by itself.
//!
//! | peer | what `COMMAND` is | what it is given |
//! |---|---|---|
//! | `htsim` | csg-htsim's `htsim_roce` | its flags, and the traffic matrix in a new folder |
//! | `hpcc` | the HPCC authors' `third` | `config.txt`, in a new folder with its files |
//! | `ns3` | no command: `ns3_fat_tree.cc` is built against Debian's `libns3-dev` | the flows |
//!
//! The first two are measured as whole processes, so the ratio has our setup in it, too; the columns
//! before it are of the simulation alone. Their cases end when all flows have finished (but
//! `hpcc-ring5_pfc`, which deadlocks), so both have the same packet-hops: every packet and every
//! acknowledgement takes a shortest path, and none is lost. Only in `htsim-perm128` do our packets take
//! the paths of a run of htsim; in the other cases both choose among the shortest paths by a
//! hash of their own, and htsim's has another salt every second, so that other flows meet: the ratio is
//! one of costs per hop, not of the same queues.

mod cases;
mod generate;
mod peers;
mod table;

use std::process::{Command, ExitCode};

use cases::Case;
use peers::{Cost, Peers};
use table::Row;

/// What was asked for.
struct Wanted {
    parts: Vec<String>,
    threads: Vec<usize>,
    rounds: usize,
    /// The cases run for this part of their time: 10 for a tenth.
    part: u64,
    peers: Peers,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |text: &String| text.parse::<u64>().expect("a number");
    match arguments.as_slice() {
        [first, name, threads, part] if first == "--run" => {
            println!("{}", Case::find(name, number(part)).measure(number(threads) as usize));
            return ExitCode::SUCCESS;
        }
        // For `cargo xtask instructions`.
        [first, name, part] if first == "--hops" => {
            println!("{}", Case::find(name, number(part)).hops());
            return ExitCode::SUCCESS;
        }
        _ => {}
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
    let mut wanted = Wanted {
        parts: Vec::new(),
        threads: [1, 2, 16].into_iter().filter(|n| *n <= cases::cores()).collect(),
        rounds: 3,
        part: 1,
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
            "--quick" => wanted.part = 10,
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
    for case in Case::all(wanted.part) {
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

/// We and the peer of the case in turn: the best of ours, and the best of the peer's.
fn alternate(case: &Case, threads: usize, wanted: &Wanted) -> (Row, Option<Cost>) {
    // Peers have one thread, so they are held against ours with one.
    let peers = (threads == 1).then_some(&wanted.peers);
    let mut best: Option<Row> = None;
    let mut peer: Option<Cost> = None;
    for _ in 0..wanted.rounds {
        let program = std::env::current_exe().expect("this program");
        let output = Command::new(program)
            .args(["--run", &case.name, &threads.to_string(), &wanted.part.to_string()])
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
            && peer.is_none_or(|least| cost.cpu < least.cpu)
        {
            peer = Some(cost);
        }
    }
    (best.expect("at least one round"), peer)
}
