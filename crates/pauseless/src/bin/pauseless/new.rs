//! The command `pauseless new`: a commented scenario to start from.

use std::path::PathBuf;
use std::process::ExitCode;

use pauseless_scenario::starter;

use crate::args::NewArgs;
use crate::output::{self, tell};

/// Writes a scenario, or lists the kinds of networks that there are.
pub fn run(args: &NewArgs) -> anyhow::Result<ExitCode> {
    let Some(kind) = &args.kind else {
        anyhow::ensure!(args.out.is_none(), "which kind? One of {}", starter::names().join(", "));
        output::print(&format!("{}\n{NEXT}\n", starter::list()))?;
        return Ok(ExitCode::SUCCESS);
    };
    let text = starter::scenario(kind).map_err(anyhow::Error::msg)?;
    let file = args.out.clone().unwrap_or_else(|| PathBuf::from(format!("{kind}.toml")));
    anyhow::ensure!(
        !file.exists(),
        "{} is there already; --out FILE writes elsewhere",
        file.display()
    );
    output::write_file(&file, text)?;
    tell!("wrote {}; next: pauseless run {}", file.display(), file.display());
    Ok(ExitCode::SUCCESS)
}

const NEXT: &str = "Write one of them with: pauseless new KIND";
