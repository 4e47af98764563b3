//! Why results cannot be kept or read.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Why results cannot be kept or read. Nothing that was computed before is lost by it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// Something is wrong with a file or folder.
    File {
        /// The file or folder.
        file: PathBuf,
        /// What is wrong with it.
        message: String,
        /// What to do about it.
        help: String,
    },
    /// The user pressed Ctrl-C.
    Interrupted,
}

impl Failure {
    pub(crate) fn new(file: &Path, message: impl Into<String>, help: impl Into<String>) -> Failure {
        Failure::File { file: file.to_path_buf(), message: message.into(), help: help.into() }
    }

    /// What the operating system said about a file that was to be written.
    pub(super) fn write(file: &Path, error: &io::Error) -> Failure {
        let help = match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                "make room and start again: what was finished is kept, and it goes on from there"
            }
            _ => "start again once it can be written: what was finished is kept",
        };
        Failure::new(file, format!("cannot be written: {error}"), help)
    }

    /// What the operating system said about a file that was to be read.
    pub fn read(file: &Path, error: &io::Error) -> Failure {
        let help = "make it readable, and start again";
        Failure::new(file, format!("cannot be read: {error}"), help)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (file, message, help) = match self {
            Failure::Interrupted => return f.write_str("interrupted"),
            Failure::File { file, message, help } => (file.display(), message, help),
        };
        write!(f, "{file}: {message}\n  = help: {help}")
    }
}

impl std::error::Error for Failure {}
