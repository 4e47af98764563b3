//! Finished runs, kept on disk so that a long reproduction goes on where it was stopped.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::sweep::row::Name;
use pauseless_run::sample::Sample;

/// A folder of finished runs, each in a file named by the hash of all that it depends on: the
/// program itself, the scenario, and what is measured.
#[derive(Clone, Debug)]
pub struct Store {
    folder: PathBuf,
    program: String,
}

impl Store {
    /// Opens the folder at `path`, and makes it if there is none.
    pub fn open(path: &Path) -> io::Result<Store> {
        fs::create_dir_all(path)?;
        let program = fs::read(std::env::current_exe()?)?;
        Ok(Store { folder: path.to_path_buf(), program: Name::of(&[&program]).to_string() })
    }

    /// The name of a run that depends on `parts` and on the program.
    pub(super) fn key(&self, parts: &[impl AsRef<str>]) -> String {
        let parts = parts.iter().map(AsRef::as_ref);
        let all = Vec::from_iter([self.program.as_str()].into_iter().chain(parts));
        Name::of(&all).to_string()
    }

    /// A run that was finished before. One that cannot be read is run again.
    pub(super) fn get(&self, key: &str) -> Option<Sample> {
        let text = fs::read(self.file(key)).ok()?;
        serde_json::from_slice(&text).ok()
    }

    /// Keeps a run. A crash leaves either all of it or nothing.
    pub(super) fn put(&self, key: &str, sample: &Sample) -> io::Result<()> {
        let text = serde_json::to_vec(sample)?;
        // Another process may be at the same run.
        let unfinished = format!("{key}.{}", std::process::id());
        let unfinished = self.folder.join(unfinished);
        fs::write(&unfinished, text)?;
        fs::rename(unfinished, self.file(key))
    }

    /// Where runs are kept.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    fn file(&self, key: &str) -> PathBuf {
        self.folder.join(format!("{key}.json"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_found_again_and_a_torn_file_is_not() {
        let folder = std::env::temp_dir().join(format!("pauseless-store-{}", std::process::id()));
        let store = Store::open(&folder).expect("a folder");
        let key = store.key(&["scenario", "measures"]);
        assert!(store.get(&key).is_none());
        let mut sample = Sample::default();
        sample.metrics.insert("deadlock".to_string(), 1.0);
        store.put(&key, &sample).expect("a place on disk");
        let again = Store::open(&folder).expect("the same folder");
        let found = again.get(&key).expect("kept");
        assert_eq!(found.metrics, sample.metrics);
        assert_ne!(key, store.key(&["scenariom", "easures"]));
        fs::write(store.file(&key), "{\"metrics\":").expect("a place on disk");
        assert!(again.get(&key).is_none());
        fs::remove_dir_all(folder).expect("ours");
    }
}
