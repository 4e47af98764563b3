//! How many frames per second one switch on one core carries, beside DPDK's testpmd and the bridge of
//! the kernel, all between the same kind of veth pairs:
//!
//! ```text
//!   generator, core A --- veth --- device, core B --- veth --- nobody, the kernel counts
//! ```
//!
//! `cargo bench -p pauseless-dataplane --bench throughput -- [--rounds 5] [--window-ms 400] [--only WORD]`
//!
//! The generator sends as fast as it can. The kernel runs the receiving half of a veth pair on the core
//! of the sender, so the generator's core also puts frames in the device's ring: where a device carries
//! all that it is offered, it is the generator that is measured, and the table says so. Every
//! measurement has namespaces of its own, and the devices take turns.

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

/// What testpmd's rows are compared to, and ours with it.
const REFERENCE: &str = "testpmd, net_af_packet";

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
    let devices = DEVICES
        .iter()
        .filter(|device| is_wanted(device, &arguments));
    let devices = Vec::from_iter(devices);
    let mut results = vec![[const { Vec::new() }; SIZES.len()]; devices.len()];
    for round in 0..arguments.rounds {
        for (place, size) in SIZES.iter().enumerate() {
            for (device, results) in devices.iter().zip(&mut results) {
                match measure(device, *size, arguments.window) {
                    Ok(measured) => results[place].push(measured),
                    Err(problem) => eprintln!("{}, {size} B: {problem}", device.name),
                }
            }
        }
        eprintln!("round {} of {} done", round + 1, arguments.rounds);
    }
    let rows = devices.iter().map(|device| device.name).zip(&results);
    print(&Vec::from_iter(rows));
}

fn arguments(words: &[String]) -> Arguments {
    let after = |flag: &str| {
        let place = words.iter().position(|word| word == flag)?;
        words.get(place + 1).cloned()
    };
    let number = |flag: &str, otherwise: u64| {
        let word = after(flag);
        word.map_or(otherwise, |word| {
            word.parse().unwrap_or_else(|_| panic!("{flag}: {word}"))
        })
    };
    Arguments {
        rounds: number("--rounds", 5) as usize,
        only: after("--only").unwrap_or_default(),
        window: Duration::from_millis(number("--window-ms", 400)),
    }
}

fn is_wanted(device: &Device, arguments: &Arguments) -> bool {
    if !device.name.contains(&arguments.only) {
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
    let counted = if device.is_nobody() {
        Bed::offered
    } else {
        Bed::carried
    };
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

fn print(rows: &[(&str, &[Vec<Measured>; SIZES.len()])]) {
    let carried = |measured: &[Measured]| median(measured.iter().map(|one| one.carried));
    let reference = rows.iter().find(|(name, _)| *name == REFERENCE);
    for (place, size) in SIZES.iter().enumerate() {
        let bits = *size as f64 * 8.0;
        println!();
        println!(
            "{size} B frames{:22} carried           offered   of {REFERENCE}",
            ""
        );
        for (name, results) in rows {
            let Some(median_carried) = carried(&results[place]) else {
                println!("{name:31} no result");
                continue;
            };
            let offered = median(results[place].iter().map(|one| one.offered)).unwrap_or(0.0);
            let reference = reference.and_then(|(_, results)| carried(&results[place]));
            let ratio = reference.map_or(String::new(), |reference| {
                format!("{:5.2}", median_carried / reference)
            });
            let note = match median_carried > 0.98 * offered {
                true => "   limited by the generator",
                false => "",
            };
            let (low, high) = spread(&results[place]);
            println!(
                "{name:31} {:6.3} Mpps {:6.2} Gb/s {:6.3} Mpps  {ratio:5}  ({:.3} to {:.3}){note}",
                median_carried / 1e6,
                median_carried * bits / 1e9,
                offered / 1e6,
                low / 1e6,
                high / 1e6,
            );
        }
    }
}

fn spread(measured: &[Measured]) -> (f64, f64) {
    let carried = measured.iter().map(|one| one.carried);
    let low = carried.clone().fold(f64::MAX, f64::min);
    (low, carried.fold(0.0, f64::max))
}

fn median(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut values = Vec::from_iter(values);
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}
