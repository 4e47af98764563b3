//! The files of a store: written, listed, hashed.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use pauseless_text::output;
use sha2::{Digest, Sha256};

use super::failure::Failure;

/// Writes a file as one of the store.
pub(super) fn put(target: &Path, bytes: &[u8]) -> Result<(), Failure> {
    output::write(target, bytes).map_err(|error| Failure::write(target, &error))
}

/// The files of a folder whose names end like this, in order; none if there is no such folder. What
/// has such a name and is no file, such as a pipe for which one would wait for ever, is refused.
pub fn list(folder: &Path, extension: &str) -> Result<Vec<PathBuf>, Failure> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        other => other.map_err(|error| Failure::read(folder, &error))?,
    };
    let mut files = Vec::new();
    for entry in entries {
        let path = entry.map_err(|error| Failure::read(folder, &error))?.path();
        if path.extension().is_some_and(|it| it == extension) {
            if fs::metadata(&path).is_ok_and(|found| !found.is_file()) {
                return Err(Failure::new(&path, "not a file", "move it away, and start again"));
            }
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
