//! Capture files: what passed the ports of a run, simulated or real, for Wireshark and its like.
//!
//! The format is pcapng with an interface per port, named after it as `S1:H1`, stamps in nanoseconds and
//! the direction of every frame. A real node writes the bytes that passed; for the simulator the frames
//! are made here, with the addresses that real nodes use.

mod pcapng;
mod simulated;

use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use pauseless_core::unit::Time;
use pauseless_sim::tap::Direction;
use pauseless_text::output::Output;

use pcapng::{Packet, Pcapng};
pub use simulated::{Ports, SimulatedCapture};

/// A capture file that several nodes may write to.
#[derive(Clone, Debug)]
pub struct Capture {
    shared: Arc<Mutex<Shared>>,
}

#[derive(Debug)]
struct Shared {
    /// None once it is finished.
    file: Option<Pcapng<BufWriter<Output>>>,
    path: PathBuf,
    /// What time zero was on the wall, since the epoch.
    start: Duration,
    /// The first failure; nothing is written after it.
    failure: Option<io::Error>,
    /// Whether the failure was reported already.
    is_told: bool,
}

impl Capture {
    /// Creates the file with its interfaces. Time zero of the run is `start` since the epoch.
    pub fn create(path: &Path, interfaces: &[String], start: Duration) -> io::Result<Capture> {
        let file = BufWriter::new(Output::create(path)?);
        let shared = Shared {
            file: Some(Pcapng::begin(file, interfaces)?),
            path: path.to_owned(),
            start,
            failure: None,
            is_told: false,
        };
        Ok(Capture { shared: Arc::new(Mutex::new(shared)) })
    }

    /// The path of the file that frames are written to.
    pub fn path(&self) -> PathBuf {
        self.lock().path.clone()
    }

    /// Writes what is left, gives the file its name, and says how many frames there are, or what has
    /// failed first. What comes later is not written.
    pub fn finish(&self) -> io::Result<u64> {
        let mut shared = self.lock();
        let file = shared.file.take();
        if let Some(failure) = shared.failure.take() {
            return Err(failure);
        }
        let Some(file) = file else {
            return Ok(0);
        };
        let packets = file.packets();
        let output = file.into_inner().into_inner().map_err(io::IntoInnerError::into_error)?;
        output.finish()?;
        Ok(packets)
    }

    /// Why nothing is written any more, if that is so; says it once.
    pub fn trouble(&self) -> Option<String> {
        let mut shared = self.lock();
        let failure = shared.failure.as_ref()?.to_string();
        let path = shared.path.display().to_string();
        let was_told = std::mem::replace(&mut shared.is_told, true);
        (!was_told).then(|| format!("cannot write {path}: {failure}; there will be no capture"))
    }

    /// Writes a frame of which `bytes` are there and that had `length`, without the FCS.
    pub fn write(
        &self,
        time: Time,
        interface: u32,
        direction: Direction,
        bytes: &[u8],
        length: usize,
    ) {
        let mut shared = self.lock();
        if shared.failure.is_some() {
            return;
        }
        let since = Duration::from_nanos(time.as_ps() / 1_000);
        let packet = Packet { interface, stamp: shared.start + since, direction, bytes, length };
        // Whoever sends frames has no use for an error: it is kept for `finish`.
        shared.failure = shared.file.as_mut().and_then(|file| file.packet(&packet).err());
    }

    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().expect("nobody panics with the lock held")
    }
}

#[cfg(test)]
mod tests;
