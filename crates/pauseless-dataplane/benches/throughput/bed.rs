//! Namespaces for a generator, a device and what is behind it.

use std::fs;
use std::io;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use pauseless_core::id::FlowId;
use pauseless_dataplane::net::{self, Namespace};
use pauseless_wire::MacAddress;

use super::role;

/// Two veth pairs in a row.
pub struct Bed {
    generator: Namespace,
    /// Where the device is, between [`IN`] and [`OUT`].
    pub device: Namespace,
    sink: Namespace,
}

/// The interface by which frames enter the device.
pub const IN: &str = "in";
/// The interface by which frames leave the device.
pub const OUT: &str = "out";
/// The address of the generator.
pub const HERE: &str = "10.9.0.1";
/// What it sends to; nobody has it.
pub const THERE: &str = "10.9.0.2";
const SOURCE: &str = "source";
const SINK: &str = "sink";

/// A process that ends when this is dropped.
pub struct Running(Child);

impl Bed {
    pub fn new() -> io::Result<Bed> {
        let bed = Bed {
            generator: Namespace::new()?,
            device: Namespace::new()?,
            sink: Namespace::new()?,
        };
        net::veth(bed.generator.end(SOURCE), bed.device.end(IN))?;
        net::veth(bed.device.end(OUT), bed.sink.end(SINK))?;
        let target = MacAddress::of_flow(FlowId(0));
        let address = format!("address add {HERE}/24 dev {SOURCE}");
        let neighbour = format!("neighbour add {THERE} lladdr {target} dev {SOURCE} nud permanent");
        ip(&bed.generator, &[address, neighbour])?;
        Ok(bed)
    }

    /// Frames that came to the device.
    pub fn offered(&self) -> u64 {
        count(&self.device, IN)
    }

    /// Frames that came out of it.
    pub fn carried(&self) -> u64 {
        count(&self.sink, SINK)
    }

    /// Sends frames of this size, FCS included, as fast as it can until it is dropped.
    pub fn generate(&self, size: usize) -> Result<Running, String> {
        let size = size.to_string();
        let command = role::command(first_core(), &["generate", &size]);
        run(&self.generator, command)
    }

    /// Waits until a counter moves.
    pub fn wait_for(&self, counter: fn(&Bed) -> u64) -> Result<(), String> {
        let (start, before) = (Instant::now(), counter(self));
        while counter(self) < before + 1_000 {
            if start.elapsed() > Duration::from_secs(8) {
                return Err("carries nothing".to_owned());
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        Ok(())
    }
}

/// Runs `ip` in a namespace.
pub fn ip(place: &Namespace, steps: &[String]) -> io::Result<()> {
    for step in steps {
        let mut command = Command::new("ip");
        command.args(step.split(' '));
        let status = place.enter(|| command.status())??;
        if !status.success() {
            return Err(io::Error::other(format!("ip {step}: {status}")));
        }
    }
    Ok(())
}

/// Starts a process in a namespace. It should end when its standard input does.
pub fn run(place: &Namespace, mut command: Command) -> Result<Running, String> {
    let what = format!("{:?}", command.get_program());
    command.stdin(Stdio::piped()).stdout(Stdio::null());
    let started = place.enter(|| command.spawn());
    let child = started.and_then(|child| child);
    child.map(Running).map_err(|error| format!("{what}: {error}"))
}

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        for _ in 0..200 {
            match self.0.try_wait() {
                Ok(None) => std::thread::sleep(Duration::from_millis(10)),
                _ => return,
            }
        }
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Frames that an interface has received.
fn count(place: &Namespace, interface: &str) -> u64 {
    let table = place.enter(|| fs::read_to_string("/proc/thread-self/net/dev"));
    let table = table.and_then(|table| table).expect("the kernel counts");
    let line = table.lines().find_map(|line| {
        let (name, rest) = line.split_once(':')?;
        (name.trim() == interface).then_some(rest)
    });
    let frames = line.and_then(|line| line.split_whitespace().nth(1));
    frames.and_then(|frames| frames.parse().ok()).expect("a number of frames")
}

/// The core of the generator.
pub fn first_core() -> usize {
    0
}

/// The core of the device; the same if there is only one.
pub fn second_core() -> usize {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    usize::from(cores > 1)
}
