//! Files that are there whole or not at all, whatever happens to the machine.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::failure::Failure;

/// Writes a file under another name, makes it durable, and only then gives it its own.
pub(super) fn put(unfinished: &Path, target: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let write = || {
        let mut file = File::create(unfinished)?;
        file.write_all(bytes)?;
        finish(file, unfinished, target)
    };
    write().map_err(|error| {
        // What is left of it only takes room. If it stays, it is in nobody's way.
        let _ = fs::remove_file(unfinished);
        Failure::write(target, &error)
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
