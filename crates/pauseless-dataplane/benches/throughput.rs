//! How many frames per second one switch on one core carries, beside DPDK's testpmd and the bridge of
//! the kernel, all between the same kind of veth pairs:
//!
//! ```text
//!   generator, core A --- veth --- device, core B --- veth --- nobody, the kernel counts
//! ```
//!
//! ```text
//!   cargo bench -p pauseless-dataplane --bench throughput -- \
//!       [--rounds 5] [--window-ms 400] [--only 'PFC|testpmd']
//! ```
//!
//! The generator sends as fast as it can. The kernel runs the receiving half of a veth pair on the core
//! of the sender, so the generator's core also puts frames in the device's ring: where a device carries
//! all that it is offered, it is the generator that is measured, and the table says so. Every
//! measurement has namespaces of its own, and the devices take turns.
//!
//! On a machine that has other things to do, give it a session of its own that comes first:
//! `setsid --wait sh -c 'echo -20 > /proc/self/autogroup; exec cargo bench ..'`.

mod throughput {
    pub mod bed;
    pub mod device;
    pub mod role;
}

use std::time::Duration;

use throughput::bed::Bed;
use throughput::device::{DEVICES, Device};
use throughput::role;

/// Frame sizes, FCS included.
const SIZES: [usize; 2] = [64, 1_500];

/// A device and what came out, by frame size.
struct Row<'a> {
    device: &'a Device,
    results: [Vec<Measured>; SIZES.len()],
}

struct Arguments {
    rounds: usize,
    only: String,
    window: Duration,
}

/// Frames per second that a device was offered and that it carried.
#[derive(Clone, Copy)]
struct Measured {
    offered: f64,
    carried: f64,
}

fn main() {
    let words = Vec::from_iter(std::env::args().skip(1));
    if words.first().is_some_and(|word| word == role::FLAG) {
        return role::play(&words[1..]);
    }
    let arguments = arguments(&words);
    let wanted = DEVICES.iter().filter(|device| is_wanted(device, &arguments));
    let mut rows = Vec::from_iter(
        wanted.map(|device| Row { device, results: [const { Vec::new() }; SIZES.len()] }),
    );
    for round in 0..arguments.rounds {
        for (place, size) in SIZES.iter().enumerate() {
            for row in &mut rows {
                match measure(row.device, *size, arguments.window) {
                    Ok(measured) => row.results[place].push(measured),
                    Err(problem) => eprintln!("{}, {size} B: {problem}", row.device.name),
                }
            }
        }
        eprintln!("round {} of {} done", round + 1, arguments.rounds);
    }
    print(&rows);
}

fn arguments(words: &[String]) -> Arguments {
    let after = |flag: &str| {
        let place = words.iter().position(|word| word == flag)?;
        words.get(place + 1).cloned()
    };
    let number = |flag: &str, otherwise: u64| {
        let word = after(flag);
        word.map_or(otherwise, |word| word.parse().unwrap_or_else(|_| panic!("{flag}: {word}")))
    };
    Arguments {
        rounds: number("--rounds", 5) as usize,
        only: after("--only").unwrap_or_default(),
        window: Duration::from_millis(number("--window-ms", 400)),
    }
}

fn is_wanted(device: &Device, arguments: &Arguments) -> bool {
    let mut words = arguments.only.split('|');
    if !words.any(|word| device.name.contains(word)) {
        return false;
    }
    if !device.is_installed() {
        println!("{}: not installed, left out", device.name);
        return false;
    }
    true
}

/// One device, one size, once.
fn measure(device: &Device, size: usize, window: Duration) -> Result<Measured, String> {
    let bed = Bed::new().map_err(|error| error.to_string())?;
    let _device = device.start(&bed)?;
    let _generator = bed.generate(size)?;
    let counted = if device.is_nobody() { Bed::offered } else { Bed::carried };
    bed.wait_for(counted)?;
    std::thread::sleep(Duration::from_millis(200));
    let (start, offered, carried) = (std::time::Instant::now(), bed.offered(), counted(&bed));
    std::thread::sleep(window);
    let seconds = start.elapsed().as_secs_f64();
    Ok(Measured {
        offered: (bed.offered() - offered) as f64 / seconds,
        carried: (counted(&bed) - carried) as f64 / seconds,
    })
}

fn print(rows: &[Row<'_>]) {
    for (place, size) in SIZES.iter().enumerate() {
        println!();
        println!("{size} B frames");
        println!("{:28} median of carried          best    offered   beside testpmd", "");
        for row in rows {
            println!("{:28} {}", row.device.name, line(rows, row, place));
        }
    }
}

/// What a row says about frames of one size.
fn line(rows: &[Row<'_>], row: &Row<'_>, place: usize) -> String {
    let results = &row.results[place];
    let Some(carried) = Summary::of(results.iter().map(|one| one.carried)) else {
        return "no result".to_owned();
    };
    let offered = results.iter().map(|one| one.offered);
    let offered = Summary::of(offered).map_or(0.0, |offered| offered.median);
    let rival = rows.iter().find(|other| Some(other.device.name) == row.device.rival());
    let rival = rival.and_then(|rival| {
        let carried = rival.results[place].iter().map(|one| one.carried);
        Summary::of(carried)
    });
    let ratio = rival.map_or(String::new(), |rival| {
        let (median, best) = (carried.median / rival.median, carried.best / rival.best);
        format!("median {median:.2}, best {best:.2}")
    });
    let note = if carried.median > 0.98 * offered { "   limited by the generator" } else { "" };
    let (mpps, gbps) = (carried.median / 1e6, carried.median * SIZES[place] as f64 * 8.0 / 1e9);
    let (best, offered) = (carried.best / 1e6, offered / 1e6);
    format!("{mpps:6.3} Mpps {gbps:6.2} Gb/s  {best:6.3} Mpps {offered:6.3} Mpps  {ratio}{note}")
}

/// Whatever else the machine does only slows a device down, so the best of all rounds counts too.
struct Summary {
    median: f64,
    best: f64,
}

impl Summary {
    fn of(values: impl Iterator<Item = f64>) -> Option<Summary> {
        let mut values = Vec::from_iter(values);
        values.sort_by(f64::total_cmp);
        Some(Summary { median: *values.get(values.len() / 2)?, best: *values.last()? })
    }
}
