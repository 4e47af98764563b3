//! Table 1 of the GFC paper as a campaign, at its small size, with its claims.

use std::process::Command;
use std::{fs, io};

use crate::Outcome;
use crate::page::{call, program, target_dir};
use crate::repo::root;

/// Makes all runs anew and judges the claims.
pub fn run() -> io::Result<Outcome> {
    let folder = target_dir().join("sweep-table1");
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    let file = root().join("papers/gfc/table1.sweep.toml");
    for verb in [&["sweep"][..], &["sweep", "report"]] {
        let mut command = Command::new(program());
        command.args(verb).arg(&file).args(["--size", "quick"]);
        command.arg("--out").arg(&folder);
        if !call(&mut command)? {
            println!("failed: {command:?}");
            return Ok(Outcome::Found);
        }
    }
    Ok(Outcome::Clean)
}
