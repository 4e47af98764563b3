//! The folder for the files of one testbed, which others cannot prepare, read or have removed.

use std::collections::hash_map::RandomState;
use std::fs::{self, DirBuilder, File, TryLockError};
use std::hash::{BuildHasher, Hasher};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A folder of nobody else, gone when it is dropped. As long as it is held its lock is.
#[derive(Debug)]
pub(super) struct Folder {
    pub(super) path: PathBuf,
    _lock: File,
}

impl Folder {
    /// A new one where temporary files go. What killed testbeds of ours left there is removed.
    pub fn new() -> io::Result<Folder> {
        let root = std::env::temp_dir();
        remove_orphans(&root);
        Folder::within(&root)
    }

    /// A new one in `root`, which everybody may write to.
    pub(super) fn within(root: &Path) -> io::Result<Folder> {
        let mut last = io::Error::from(io::ErrorKind::AlreadyExists);
        for _ in 0..ATTEMPTS {
            let suffix = RandomState::new().build_hasher().finish();
            let path = root.join(format!("{NAME}{suffix:016x}"));
            // Never one that is there already: whoever has made it may have put links in it.
            match DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                Err(error) => return Err(error),
            }
            let lock = File::create_new(path.join(LOCK))?;
            match lock.try_lock() {
                Ok(()) if path.join(LOCK).exists() => return Ok(Folder { path, _lock: lock }),
                // Another testbed took it for an orphan in between.
                Ok(()) | Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Error(error)) => last = error,
            }
        }
        Err(last)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// Removes what testbeds of this user have left that were killed.
fn remove_orphans(root: &Path) {
    let Ok(entries) = fs::read_dir(root) else {
        return;
    };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let is_one = name.to_str().is_some_and(|name| name.starts_with(NAME));
        if is_one && is_orphan(&entry.path()).unwrap_or(false) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Whether this is a folder of this user whose testbed is gone.
fn is_orphan(path: &Path) -> io::Result<bool> {
    let found = fs::symlink_metadata(path)?;
    if !found.is_dir() || found.uid() != rustix::process::geteuid().as_raw() {
        return Ok(false);
    }
    match File::open(path.join(LOCK)) {
        // The kernel gives a lock back when its process ends, however it does.
        Ok(lock) => Ok(lock.try_lock().is_ok()),
        // Its testbed died before it had a lock, or is about to make it.
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let age = found.modified()?.elapsed().unwrap_or_default();
            Ok(age > SETTLED)
        }
        Err(error) => Err(error),
    }
}

pub const NAME: &str = "pauseless-testbed-";
const LOCK: &str = "lock";
const ATTEMPTS: usize = 16;
/// The age from which on a folder without a lock is abandoned: nothing takes so long to lock it.
const SETTLED: Duration = Duration::from_secs(60);

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{chown, symlink};

    use super::*;

    #[test]
    fn a_folder_is_new_and_private_and_goes_away() {
        let root = tempfile::tempdir().expect("a folder");
        let folders = [0; 2].map(|_| Folder::within(root.path()).expect("a folder"));
        assert_ne!(folders[0].path, folders[1].path);
        let mode = fs::metadata(&folders[0].path).expect("it is there").mode();
        assert_eq!(mode & 0o777, 0o700);
        drop(folders);
        assert_eq!(fs::read_dir(root.path()).expect("it is there").count(), 0);
    }

    #[test]
    fn what_a_killed_testbed_left_is_removed_and_nothing_else_is() {
        let root = tempfile::tempdir().expect("a folder");
        let make = |name: &str, has_lock: bool| {
            let path = root.path().join(format!("{NAME}{name}"));
            fs::create_dir(&path).expect("a folder");
            if has_lock {
                File::create(path.join(LOCK)).expect("a file");
            }
            path
        };
        let gone = make("gone", true);
        let starting = make("starting", false);
        let stranger = make("stranger", true);
        // Only root can give folders away.
        let is_given = chown(&stranger, Some(65_534), None).is_ok();
        let running = Folder::within(root.path()).expect("a folder");
        let elsewhere = tempfile::tempdir().expect("a folder");
        fs::write(elsewhere.path().join(LOCK), "").expect("a file");
        let link = root.path().join(format!("{NAME}link"));
        symlink(elsewhere.path(), &link).expect("a link");
        remove_orphans(root.path());
        assert!(!gone.exists());
        assert!(starting.exists() && running.path.exists());
        assert!(link.exists() && elsewhere.path().join(LOCK).exists());
        assert_eq!(stranger.exists(), is_given);
    }
}
