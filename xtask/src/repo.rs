//! The files of the repository and what is found in them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fmt, fs, io};

/// The repository: its root and the files that belong to it.
pub struct Repo {
    root: PathBuf,
    paths: BTreeSet<String>,
}

impl Repo {
    /// Lists the files that git tracks or would track, or, without git, those on the disk.
    pub fn open() -> io::Result<Repo> {
        let root = root();
        let mut paths = match git_paths(&root) {
            Some(paths) => paths,
            None => walk_paths(&root)?,
        };
        // A file that was deleted but not yet committed is still in the index.
        paths.retain(|path| fs::symlink_metadata(root.join(path)).is_ok());
        Ok(Repo { root, paths })
    }

    /// The paths of all files, relative to the root, with `/` between components.
    pub fn paths(&self) -> &BTreeSet<String> {
        &self.paths
    }

    /// The files that people write by hand: sources, manifests, documents, scripts.
    pub fn text_files(&self) -> io::Result<Vec<File>> {
        let mut files = Vec::new();
        for path in self.paths.iter().filter(|path| is_text(path)) {
            let bytes = match fs::read(self.root.join(path)) {
                Ok(bytes) => bytes,
                // Other people edit the tree while it is being read.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(io::Error::new(error.kind(), format!("{path}: {error}"))),
            };
            let text = String::from_utf8(bytes)
                .map_err(|_| io::Error::other(format!("{path}: is not valid UTF-8")))?;
            let path = path.clone();
            files.push(File { path, text });
        }
        Ok(files)
    }
}

/// The root of the workspace, which is the parent of this crate's folder.
pub fn root() -> PathBuf {
    // Cargo sets the variable at run time too, which stays right if the checkout was moved.
    let crate_dir = std::env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    let parent = crate_dir.parent().map(Path::to_path_buf);
    parent.expect("the crate xtask lies in a folder of the workspace")
}

/// A file with its path relative to the root.
#[derive(Clone, Debug)]
pub struct File {
    /// Relative to the root, with `/` between components.
    pub path: String,
    /// The whole content of the file.
    pub text: String,
}

impl File {
    /// A file made up for a test.
    #[cfg(test)]
    pub fn new(path: &str, text: impl Into<String>) -> File {
        let (path, text) = (path.to_owned(), text.into());
        File { path, text }
    }

    /// A violation on a line, counted from 1.
    pub fn error(&self, line: usize, message: impl Into<String>) -> Finding {
        self.finding(line, Level::Error, message.into())
    }

    /// Something to think about on a line, counted from 1, that fails nothing.
    pub fn warning(&self, line: usize, message: impl Into<String>) -> Finding {
        self.finding(line, Level::Warning, message.into())
    }

    /// The part of the path behind the last dot, or nothing.
    pub fn extension(&self) -> &str {
        extension(&self.path)
    }

    /// The name of the crate when the file lies in `crates/`.
    pub fn crate_name(&self) -> Option<&str> {
        let (name, _) = self.path.strip_prefix("crates/")?.split_once('/')?;
        Some(name)
    }

    fn finding(&self, line: usize, level: Level, message: String) -> Finding {
        let path = self.path.clone();
        Finding { path, line, level, message }
    }
}

/// One thing found, printed as `path:line: message`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    path: String,
    line: usize,
    level: Level,
    message: String,
}

impl Finding {
    /// An error about a file that ought to exist.
    pub fn missing(path: &str) -> Finding {
        Finding {
            path: path.to_owned(),
            line: 1,
            level: Level::Error,
            message: "the file is missing".to_owned(),
        }
    }

    /// Whether this finding makes the check fail.
    pub fn is_error(&self) -> bool {
        self.level == Level::Error
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let prefix = match self.level {
            Level::Error => "",
            Level::Warning => "warning: ",
        };
        write!(f, "{}:{}: {prefix}{}", self.path, self.line, self.message)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Error,
    Warning,
}

/// Data and captures are left alone: their bytes are not ours to choose.
fn is_text(path: &str) -> bool {
    let extensions = ["rs", "toml", "md", "py", "sh", "yml", "yaml", "ts", "mjs", "css"];
    extensions.contains(&extension(path)) || path.starts_with(".ci/")
}

fn extension(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.rsplit_once('.').map_or("", |(_, extension)| extension)
}

/// Asks git; `None` where there is no git or no repository, as in an unpacked archive.
fn git_paths(root: &Path) -> Option<BTreeSet<String>> {
    let output = Command::new("git")
        .current_dir(root)
        .args(["ls-files", "-z", "--cached", "--others"])
        .arg("--exclude-standard")
        .output()
        .ok()?;
    let listing = String::from_utf8(output.stdout).ok()?;
    let paths = listing.split_terminator('\0').map(str::to_owned);
    let paths: BTreeSet<String> = paths.collect();
    (output.status.success() && !paths.is_empty()).then_some(paths)
}

/// Walks the disk, leaving out what the root's `.gitignore` names.
fn walk_paths(root: &Path) -> io::Result<BTreeSet<String>> {
    let ignored = fs::read_to_string(root.join(".gitignore")).unwrap_or_default();
    let mut paths = BTreeSet::new();
    let mut folders = vec![String::new()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(root.join(&folder))? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = format!("{folder}{name}");
            if name == ".git" || is_ignored(&ignored, &path) {
                continue;
            }
            if entry.file_type()?.is_dir() {
                folders.push(format!("{path}/"));
            } else {
                paths.insert(path);
            }
        }
    }
    Ok(paths)
}

/// Understands the two forms our `.gitignore` uses: a name, and a name that ends in `*`.
fn is_ignored(patterns: &str, path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let mut patterns = patterns.lines().map(str::trim);
    patterns.any(|pattern| {
        let pattern = pattern.trim_end_matches('/');
        let (pattern, subject) = match pattern.strip_prefix('/') {
            Some(anchored) => (anchored, path),
            None => (pattern, name),
        };
        match pattern.strip_suffix('*') {
            Some(prefix) => subject.starts_with(prefix),
            None => subject == pattern,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ignore_patterns_are_anchored_by_a_slash() {
        let patterns = "/target\n/demo*\ncache/\n";
        assert!(is_ignored(patterns, "target"));
        assert!(is_ignored(patterns, "demo-1.html"));
        assert!(is_ignored(patterns, "docs/cache"));
        assert!(!is_ignored(patterns, "docs/target"));
        assert!(!is_ignored(patterns, "docs/demo.md"));
        assert!(!is_ignored("\n# comment\n", "docs"));
    }

    #[test]
    fn only_handwritten_files_are_text() {
        assert!(is_text("crates/pauseless/src/main.rs"));
        assert!(is_text(".ci/run"));
        assert!(!is_text("scenarios/ring/expected.txt"));
        assert!(!is_text("data/opensm.fdbs.gz"));
        assert!(!is_text(".gitignore"));
    }

    #[test]
    fn finding_prints_path_and_line() {
        let file = File::new("a.rs", "");
        assert_eq!(file.error(3, "bad").to_string(), "a.rs:3: bad");
        assert_eq!(file.warning(4, "long").to_string(), "a.rs:4: warning: long");
    }
}
