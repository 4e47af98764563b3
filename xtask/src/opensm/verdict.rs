//! What `pauseless check` and ibdmchk say of dumps.

use std::io;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use super::lab::Dumps;
use crate::page;

/// What `pauseless check` says.
pub struct Verdict {
    /// `cyclic`, `cycle-free`, `undecided`, or `none` if there is no report.
    pub word: String,
    /// The exit status; `None` if a signal ended it.
    pub exit: Option<i32>,
    pub json: String,
    pub errors: String,
}

impl Verdict {
    pub fn is_cyclic(&self) -> Option<bool> {
        match self.word.as_str() {
            "cyclic" => Some(true),
            "cycle-free" => Some(false),
            _ => None,
        }
    }
}

/// Asks `pauseless check --json`, with more options, about files.
pub fn ours(files: &[PathBuf], options: &[&str]) -> io::Result<Verdict> {
    let mut command = Command::new(page::program());
    command.args(["check", "--json"]).args(options).args(files);
    let output = command.stdin(Stdio::null()).output()?;
    let json = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    let word = json.split_once("\"verdict\": \"").and_then(|(_, rest)| rest.split('"').next());
    let word = word.unwrap_or("none").to_string();
    Ok(Verdict { word, exit: output.status.code(), json, errors })
}

/// Whether ibdmchk finds credit loops; `None` if it gives no verdict, crashes before it does, or
/// cannot be told the service levels.
pub fn ibdmchk(dumps: &Dumps) -> io::Result<Option<bool>> {
    let file = |name: &str| dumps.folder.join(name);
    let has_levels = file("psl-by-port").exists();
    if has_levels && !file("psl").exists() {
        return Ok(None);
    }
    let mut command = Command::new("timeout");
    command.args(["60", "ibdmchk", "-s"]).arg(file("opensm-subnet.lst"));
    command.arg("-f").arg(file("opensm.fdbs")).arg("-m").arg(file("opensm.mcfdbs"));
    for (flag, name) in [("-c", "psl"), ("-d", "slvl")] {
        if has_levels && file(name).exists() {
            command.arg(flag).arg(file(name));
        }
    }
    let output = command.current_dir(&dumps.folder).stdin(Stdio::null()).output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    std::fs::write(file("ibdmchk.verdict"), text.as_bytes())?;
    Ok(match (text.contains("credit loops in routing"), text.contains("no credit loops found")) {
        (true, false) => Some(true),
        (false, true) => Some(false),
        _ => None,
    })
}
