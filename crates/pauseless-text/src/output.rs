//! Files that appear whole or not at all, whatever happens to the program, the disk or the machine.
//!
//! A file is written under another name in the same folder, made durable, and only then gets its
//! own; so what was there before survives every failure. Pipes and devices are written through.
//! `cargo xtask tidy` refuses other ways to create files.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// A file that is being written. It gets its name by [`Output::finish`]; dropped before, it is
/// removed.
#[derive(Debug)]
pub struct Output {
    file: File,
    /// Its names until then and from then on; none if it is written through.
    names: Option<Names>,
}

#[derive(Debug)]
struct Names {
    unfinished: PathBuf,
    target: PathBuf,
}

impl Output {
    /// Begins the file at `path`, which may be there already and then stays until the end.
    pub fn create(path: &Path) -> io::Result<Output> {
        let Some(target) = whole_target(path)? else {
            return Ok(Output { file: File::create(path)?, names: None });
        };
        // Two threads may write the same file, and two machines may have a process of this number.
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let mut name = unfinished_prefix(&target);
        name.push(format!("{}.{count}.new", std::process::id()));
        let unfinished = target.with_file_name(name);
        let file = File::create_new(&unfinished)?;
        let output = Output { file, names: Some(Names { unfinished, target }) };
        output.take_permissions()?;
        Ok(output)
    }

    /// Makes the file durable and gives it its name.
    pub fn finish(mut self) -> io::Result<()> {
        let Some(names) = &self.names else {
            return self.file.flush();
        };
        self.file.sync_all()?;
        fs::rename(&names.unfinished, &names.target)?;
        let folder = folder_of(&names.target).to_path_buf();
        self.names = None;
        sync_folder(&folder)
    }

    /// Removes what was written so far.
    pub fn clear(&mut self) -> io::Result<()> {
        self.file.set_len(0)?;
        io::Seek::rewind(&mut self.file)
    }

    /// A file that is replaced keeps its permissions.
    fn take_permissions(&self) -> io::Result<()> {
        let Some(Names { target, .. }) = &self.names else {
            return Ok(());
        };
        match fs::metadata(target) {
            Ok(old) => self.file.set_permissions(old.permissions()),
            Err(_) => Ok(()),
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        if let Some(names) = &self.names {
            // It only takes room. If it stays, no reader looks at it.
            let _ = fs::remove_file(&names.unfinished);
        }
    }
}

/// Writes a file of these bytes.
pub fn write(path: &Path, bytes: impl AsRef<[u8]>) -> io::Result<()> {
    let mut output = Output::create(path)?;
    output.write_all(bytes.as_ref())?;
    output.finish()
}

/// Makes sure, before a long run, that its file can be written. Nothing is left behind.
pub fn check_place(path: &Path) -> io::Result<()> {
    match whole_target(path)? {
        Some(_) => Output::create(path).map(drop),
        // To open a pipe and close it again would be the end of it for its reader.
        None => Ok(()),
    }
}

/// Removes what processes of this machine that were killed have left of the file at `path`.
pub fn remove_leftovers(path: &Path) {
    let prefix = unfinished_prefix(path);
    let Some(prefix) = prefix.to_str() else {
        return;
    };
    for entry in fs::read_dir(folder_of(path)).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let rest = name.to_str().and_then(|name| name.strip_prefix(prefix)?.strip_suffix(".new"));
        let process = rest.and_then(|rest| rest.split('.').next());
        let is_dead = |process: &str| {
            let processes = Path::new("/proc");
            processes.join("self").exists() && !processes.join(process).exists()
        };
        if process.is_some_and(is_dead) {
            // If it stays, it is in nobody's way.
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// The name of this machine, as file names can have it.
pub fn host() -> String {
    let name = fs::read_to_string("/proc/sys/kernel/hostname");
    let name = name.or_else(|_| std::env::var("HOSTNAME")).unwrap_or_else(|_| "host".to_string());
    let letter = |letter: char| {
        if letter.is_ascii_alphanumeric() { letter } else { '-' }
    };
    name.trim().chars().map(letter).collect()
}

/// The file to replace, or none if what is there is no file and is written through: a pipe, a
/// device, or a stream that a shell has opened, to which others may append.
fn whole_target(path: &Path) -> io::Result<Option<PathBuf>> {
    if STREAMS.iter().any(|stream| path.starts_with(stream)) {
        return Ok(None);
    }
    match fs::metadata(path) {
        Ok(found) if found.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
        Ok(found) if found.is_file() => {
            // A file that is protected against writing is not replaced either.
            File::options().append(true).open(path)?;
            // A link stays a link.
            fs::canonicalize(path).map(Some)
        }
        Ok(_) => Ok(None),
        Err(error) if error.kind() == io::ErrorKind::NotFound => match path.file_name() {
            // What is there is a link to a file that is not.
            Some(_) if path.is_symlink() => Ok(None),
            Some(_) => Ok(Some(path.to_path_buf())),
            None => Err(error),
        },
        Err(error) => Err(error),
    }
}

/// How the names of unfinished files begin, up to the number of the process. A name that is as long
/// as names may be is cut.
fn unfinished_prefix(target: &Path) -> OsString {
    let name = target.file_name().unwrap_or_default();
    let mut prefix = OsString::from(".");
    let name = name.to_string_lossy();
    prefix.push(name.chars().take(NAME_MAX).collect::<String>());
    prefix.push(format!(".{}.", host()));
    prefix
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Makes the names in a folder durable.
fn sync_folder(folder: &Path) -> io::Result<()> {
    match File::open(folder)?.sync_all() {
        // Some file systems have no such thing.
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(()),
        other => other,
    }
}

/// Names of what a shell has opened, which may be files. Others in `/dev`, such as those in
/// `/dev/shm`, are what they seem.
const STREAMS: [&str; 4] = ["/dev/fd", "/dev/stdout", "/dev/stderr", "/proc"];

/// File names have 255 bytes, of which machine, process and count need some, and a character has four.
const NAME_MAX: usize = 40;

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).expect("a folder").flatten();
        let mut names = Vec::from_iter(entries.map(|it| it.file_name().into_string().unwrap()));
        names.sort();
        names
    }

    #[test]
    fn what_was_there_stays_until_the_end_and_nothing_else_is_left() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.txt");
        write(&path, "old").expect("there is room");
        let mut output = Output::create(&path).expect("there is room");
        output.write_all(b"half").expect("there is room");
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        drop(output);
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        let mut output = Output::create(&path).expect("there is room");
        output.write_all(b"thrown away").expect("there is room");
        output.clear().expect("it is a file");
        output.write_all(b"new").expect("there is room");
        output.finish().expect("there is room");
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        check_place(&folder.path().join("b.txt")).expect("there is room");
        assert_eq!(names(folder.path()), ["a.txt"]);
    }

    #[test]
    fn links_and_permissions_stay() {
        let folder = tempfile::tempdir().expect("a folder");
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        write(&file, "old").expect("there is room");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).expect("it is ours");
        symlink("file", &link).expect("a link");
        write(&link, "new").expect("there is room");
        assert!(link.is_symlink());
        assert_eq!(fs::read_to_string(&file).unwrap(), "new");
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
        let dangling = folder.path().join("dangling");
        symlink("elsewhere", &dangling).expect("a link");
        write(&dangling, "through").expect("there is room");
        assert_eq!(fs::read_to_string(folder.path().join("elsewhere")).unwrap(), "through");
    }

    #[test]
    fn devices_are_written_through_and_folders_refused() {
        write(Path::new("/dev/null"), "gone").expect("it takes everything");
        assert!(write(Path::new("/dev/full"), "gone").is_err());
        if Path::new("/dev/shm").is_dir() {
            let folder = tempfile::tempdir_in("/dev/shm").expect("a folder");
            let target = folder.path().join("a.txt");
            assert_eq!(whole_target(&target).expect("there is room"), Some(target));
        }
        let folder = tempfile::tempdir().expect("a folder");
        let error = check_place(folder.path()).expect_err("it is a folder");
        assert_eq!(error.kind(), io::ErrorKind::IsADirectory);
        assert!(check_place(&folder.path().join("missing/a.txt")).is_err());
    }

    #[test]
    fn leftovers_of_dead_processes_go() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.txt");
        let output = Output::create(&path).expect("there is room");
        // No process has such a number.
        let dead = format!(".a.txt.{}.4194305.0.new", host());
        fs::write(folder.path().join(dead), "half").expect("there is room");
        assert_eq!(names(folder.path()).len(), 2);
        remove_leftovers(&path);
        assert_eq!(names(folder.path()).len(), 1, "ours is in use");
        drop(output);
        assert!(names(folder.path()).is_empty());
    }
}
