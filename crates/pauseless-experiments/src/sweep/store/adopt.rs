//! Brings what other folders have into this one.

use std::fs;
use std::path::Path;

use super::failure::Failure;
use super::index::has_columns;
use super::{FLOWS, JOURNAL, PARTS, SERIES, Store, disk, flows, journal, part};

/// Copies all rows, curves and flows of `other` that are not there yet; how many rows came.
pub(super) fn adopt(store: &Store, other: &Store) -> Result<usize, Failure> {
    // As for every reader, journals come before parts. The tables of a row are there before it, so
    // that those of all rows that were seen by now can be copied.
    let mut journals = Vec::new();
    for path in disk::list(&other.folder.join(JOURNAL), journal::EXTENSION)? {
        journals.extend(journal::read(&path)?);
    }
    let others = disk::list(&other.folder.join(PARTS), part::EXTENSION)?;
    let parts = store.folder.join(PARTS);
    fs::create_dir_all(&parts).map_err(|error| Failure::write(&parts, &error))?;
    for (folder, columns) in [(SERIES, &store.curves[..]), (FLOWS, &flows::columns())] {
        for path in disk::list(&other.folder.join(folder), part::EXTENSION)? {
            copy_table(&path, &store.folder.join(folder), columns)?;
        }
    }
    let mut rows = 0;
    for path in others {
        rows += part::copy(&path, &parts)?;
    }
    for contents in journals {
        rows += contents.write(&parts)?;
    }
    Ok(rows)
}

/// Copies the curves or the flows of a run, unless what is there is as good.
fn copy_table(path: &Path, folder: &Path, columns: &[String]) -> Result<(), Failure> {
    let target = folder.join(path.file_name().expect("a file"));
    if target.exists() && (has_columns(&target, columns) || !has_columns(path, columns)) {
        return Ok(());
    }
    fs::create_dir_all(folder).map_err(|error| Failure::write(folder, &error))?;
    let bytes = fs::read(path).map_err(|error| Failure::read(path, &error))?;
    disk::put(&target, &bytes)
}
