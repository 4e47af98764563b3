//! Journals: the rows that a process has finished and not yet sealed, a line for each.
//!
//! A journal is locked while its process lives. One that is not locked was left behind by a
//! process that is dead, and whoever opens the results next seals it. Where the file system does
//! not lock, journals that were left behind stay as they are: they are read all the same.

use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use pauseless_text::output::host;

use super::failure::Failure;
use super::part;
use super::record::Record;

/// A journal that is ours.
pub(super) struct Journal {
    path: PathBuf,
    /// The open file, which holds the lock.
    file: Arc<File>,
    /// How many rows it has.
    pub rows: usize,
    /// How long it is.
    length: u64,
}

impl Journal {
    /// Begins a journal under a name that no other process uses.
    pub fn create(folder: &Path) -> Result<Journal, Failure> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let time = since.map_or(0, |since| since.as_nanos());
        let name = format!("{}.{}.{time:x}.{count}", host(), std::process::id());
        let path = folder.join(format!("{name}.{EXTENSION}"));
        let create = || {
            // It gets the name by which others know it when it is locked, so that nobody takes it
            // for one that was left behind.
            let unlocked = folder.join(format!("{name}.new"));
            let mut options = File::options();
            let file = options.read(true).append(true).create_new(true).open(&unlocked)?;
            // Without locks others cannot tell whether we live, and leave it alone.
            let _ = file.try_lock();
            fs::rename(&unlocked, &path)?;
            Ok(file)
        };
        let file = create().map_err(|error| Failure::write(&path, &error))?;
        Ok(Journal { path, file: Arc::new(file), rows: 0, length: 0 })
    }

    /// Takes over a journal if its process is dead.
    pub fn adopt(path: &Path) -> Option<Journal> {
        // Locks may not reach to other machines.
        let name = path.file_name()?.to_str()?;
        if !name.starts_with(&format!("{}.", host())) {
            return None;
        }
        let file = File::options().read(true).append(true).open(path).ok()?;
        match file.try_lock() {
            Ok(()) => {
                Some(Journal { path: path.to_path_buf(), file: Arc::new(file), rows: 0, length: 0 })
            }
            Err(TryLockError::WouldBlock | TryLockError::Error(_)) => None,
        }
    }

    /// Adds a line. A process that is killed afterwards does not lose it.
    pub fn append(&mut self, line: &str) -> Result<(), Torn> {
        append(&mut &*self.file, self.length, line.as_bytes()).map_err(|(error, is_whole)| {
            Torn { failure: Failure::write(&self.path, &error), is_whole }
        })?;
        self.length += line.len() as u64;
        self.rows += 1;
        Ok(())
    }

    /// The file of the journal, to be synced without holding a lock.
    pub fn file(&self) -> Arc<File> {
        Arc::clone(&self.file)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Puts its rows into parts, and then deletes it. Says which of its lines were damaged.
    ///
    /// A crash in between leaves rows in both, which are the same and count once. If it is sealed
    /// again, the same part is written again.
    pub fn seal(self, parts: &Path) -> Result<Vec<usize>, Failure> {
        let Some(contents) = read(&self.path)? else {
            // Another process was quicker.
            return Ok(Vec::new());
        };
        contents.write(parts)?;
        // What cannot be read is kept for whoever wants to know what happened.
        let removed = if contents.damaged.is_empty() {
            fs::remove_file(&self.path)
        } else {
            fs::rename(&self.path, self.path.with_extension("damaged"))
        };
        match removed {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(Failure::write(&self.path, &error))
            }
            _ => Ok(contents.damaged),
        }
    }
}

/// A line that was not written.
pub(super) struct Torn {
    /// Why the line was not written.
    pub failure: Failure,
    /// Whether the journal is as it was before, and can be used again.
    pub is_whole: bool,
}

/// The lines of a journal.
pub(super) struct Contents {
    /// The rows that can be read.
    pub records: Vec<Record>,
    /// The lines that cannot, from 1. The last line is not among them if it has no end: that run
    /// was being written when the process died.
    pub damaged: Vec<usize>,
}

impl Contents {
    /// Puts the rows into parts; how many of them were not there before.
    pub fn write(&self, parts: &Path) -> Result<usize, Failure> {
        let mut new = 0;
        let mut records = Vec::from_iter(&self.records);
        records.sort_by_cached_key(|record| record.shape());
        for alike in records.chunk_by(|one, other| one.shape() == other.shape()) {
            new += part::write(alike, parts)?;
        }
        Ok(new)
    }
}

/// Reads a journal; `None` if it is gone, which means that its rows are in a part by now.
pub fn read(path: &Path) -> Result<Option<Contents>, Failure> {
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        // A file system of another machine may take its time to notice.
        Err(error) if error.kind() == io::ErrorKind::NotFound || !path.exists() => return Ok(None),
        Err(error) => return Err(Failure::read(path, &error)),
    };
    let mut contents = Contents { records: Vec::new(), damaged: Vec::new() };
    for (place, line) in bytes.split_inclusive(|byte| *byte == b'\n').enumerate() {
        let Some(line) = line.strip_suffix(b"\n") else {
            continue;
        };
        match Record::parse(line) {
            Some(record) => contents.records.push(record),
            None => contents.damaged.push(place + 1),
        }
    }
    Ok(Some(contents))
}

/// A file that lines are appended to.
trait Tape: Write {
    /// Removes everything behind a place.
    fn cut(&mut self, length: u64) -> io::Result<()>;
}

impl Tape for &File {
    fn cut(&mut self, length: u64) -> io::Result<()> {
        self.set_len(length)
    }
}

/// Appends a line to what is this long. If that fails, takes away what is there of it, so that the
/// next line does not stand behind a torn one, and says whether that worked.
fn append(tape: &mut impl Tape, length: u64, line: &[u8]) -> Result<(), (io::Error, bool)> {
    let error = match tape.write_all(line) {
        Ok(()) => return Ok(()),
        Err(error) => error,
    };
    let is_whole = tape.cut(length).is_ok();
    Err((error, is_whole))
}

/// How the names of journals end.
pub(super) const EXTENSION: &str = "jsonl";

#[cfg(test)]
mod tests {
    use super::*;

    /// A disk with this much room left.
    struct Disk {
        bytes: Vec<u8>,
        room: usize,
    }

    impl Write for Disk {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let fits = bytes.len().min(self.room - self.bytes.len());
            if fits == 0 {
                return Err(io::ErrorKind::StorageFull.into());
            }
            self.bytes.extend(&bytes[..fits]);
            Ok(fits)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Tape for Disk {
        fn cut(&mut self, length: u64) -> io::Result<()> {
            self.bytes.truncate(length as usize);
            Ok(())
        }
    }

    #[test]
    fn a_line_that_does_not_fit_leaves_nothing_behind() {
        for room in 12..=24 {
            let mut disk = Disk { bytes: Vec::new(), room };
            assert!(append(&mut disk, 0, b"first line.\n").is_ok());
            let second = append(&mut disk, 12, b"second line\n");
            match second {
                Ok(()) => assert_eq!(room, 24),
                Err((error, is_whole)) => {
                    assert_eq!(error.kind(), io::ErrorKind::StorageFull);
                    assert!(is_whole);
                    assert_eq!(disk.bytes, b"first line.\n", "with room for {room}");
                }
            }
        }
    }
}
