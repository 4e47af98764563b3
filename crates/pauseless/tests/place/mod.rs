//! A place to run the built program in.

// Not every test file needs all of it.
#![allow(dead_code)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

/// A folder that looks like the root of the repository and may be written to.
pub struct Place {
    pub folder: TempDir,
}

impl Place {
    pub fn new() -> Place {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        for name in ["scenarios", "papers", "examples", "testbeds"] {
            std::os::unix::fs::symlink(root.join(name), folder.path().join(name)).expect("a link");
        }
        Place { folder }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    pub fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).expect("a file");
    }

    /// The words of a command line, as a shell in this folder would split it, with the files that a
    /// word like `folder/*.json` stands for.
    pub fn words(&self, line: &str) -> Vec<String> {
        let mut words = Vec::new();
        for (index, part) in line.split('"').enumerate() {
            if index % 2 == 1 {
                words.push(part.to_string());
                continue;
            }
            let (part, comment) = part.split_once(" #").map_or((part, None), |(a, b)| (a, Some(b)));
            words.extend(part.split_whitespace().flat_map(|word| self.files(word)));
            if comment.is_some() {
                break;
            }
        }
        words
    }

    fn files(&self, word: &str) -> Vec<String> {
        let Some((before, after)) = word.split_once('*') else { return vec![word.to_string()] };
        let (folder, begin) = before.rsplit_once('/').unwrap_or((".", before));
        let entries = std::fs::read_dir(self.path(folder)).into_iter().flatten();
        let names = entries.map(|entry| entry.expect("an entry").file_name());
        let names = names.map(|name| name.into_string().expect("a name in UTF-8"));
        let names = names.filter(|name| name.starts_with(begin) && name.ends_with(after));
        let mut files = Vec::from_iter(names.map(|name| format!("{folder}/{name}")));
        files.sort();
        if files.is_empty() { vec![word.to_string()] } else { files }
    }

    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_pauseless"));
        command.args(args).current_dir(self.folder.path());
        command.env_remove("NO_COLOR");
        command
    }

    pub fn run(&self, args: &[&str]) -> Done {
        Done::new(self.command(args).output().expect("the program starts"))
    }
}

/// What a run of the program left.
pub struct Done {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Done {
    pub fn new(output: Output) -> Done {
        Done {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).expect("text"),
            stderr: String::from_utf8(output.stderr).expect("text"),
        }
    }

    pub fn json(&self) -> Value {
        let parsed = serde_json::from_str(&self.stdout);
        parsed.unwrap_or_else(|error| panic!("{error}: {}\n{}", self.stdout, self.stderr))
    }
}
