//! Files that are there whole or not at all, whatever happens to the machine.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use sha2::{Digest, Sha256};

use super::failure::Failure;
use super::journal::host;

/// Writes a file under another name, makes it durable, and only then gives it its own.
pub(super) fn put(target: &Path, bytes: &[u8]) -> Result<(), Failure> {
    replace(target, bytes).map_err(|error| Failure::write(target, &error))
}

/// The same with the error of the operating system.
pub(in crate::sweep) fn replace(target: &Path, bytes: &[u8]) -> io::Result<()> {
    // Two threads may write the same file, and two machines may have a process of this number.
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let ending = format!("{}.{}.{count}.new", host(), std::process::id());
    let unfinished = target.with_extension(ending);
    let write = || {
        let mut file = File::create(&unfinished)?;
        file.write_all(bytes)?;
        finish(file, &unfinished, target)
    };
    write().inspect_err(|_| {
        // What is left of it only takes room. If it stays, no reader looks at it.
        let _ = fs::remove_file(&unfinished);
    })
}

/// Makes a file durable and gives it its name.
pub(super) fn finish(file: File, unfinished: &Path, target: &Path) -> io::Result<()> {
    file.sync_all()?;
    drop(file);
    fs::rename(unfinished, target)?;
    sync_folder(target.parent().expect("a file in a folder"))
}

/// Makes the names in a folder durable.
fn sync_folder(folder: &Path) -> io::Result<()> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    match File::open(folder)?.sync_all() {
        // Some file systems have no such thing.
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(()),
        other => other,
    }
}

/// The files of a folder whose names end like this, in order; none if there is no such folder.
pub fn list(folder: &Path, extension: &str) -> Result<Vec<PathBuf>, Failure> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        other => other.map_err(|error| Failure::read(folder, &error))?,
    };
    let mut files = Vec::new();
    for entry in entries {
        let path = entry.map_err(|error| Failure::read(folder, &error))?.path();
        if path.extension().is_some_and(|it| it == extension) {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// Passes bytes on, and knows their hash in the end.
pub(super) struct Hashing<W> {
    inner: W,
    hasher: Sha256,
}

impl<W> Hashing<W> {
    pub fn new(inner: W) -> Hashing<W> {
        Hashing { inner, hasher: Sha256::new() }
    }

    /// What the bytes went to, and their hash as text.
    pub fn finish(self) -> (W, String) {
        let hash = self.hasher.finalize();
        (self.inner, hash.iter().map(|byte| format!("{byte:02x}")).collect())
    }
}

impl<W: Write> Write for Hashing<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(bytes)?;
        self.hasher.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}
