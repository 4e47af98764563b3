//! The released configurations that several tests look at.

use std::path::{Path, PathBuf};

use pauseless_text::source::Source;

/// A file or folder of the test data.
pub fn data(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(path)
}

/// All files of a folder of the test data, by name.
pub fn files(folder: &str) -> Vec<Source> {
    let files = std::fs::read_dir(data(folder)).unwrap();
    let mut paths = Vec::from_iter(files.map(|file| file.unwrap().path()));
    paths.sort();
    Source::read_all(&paths).unwrap()
}
