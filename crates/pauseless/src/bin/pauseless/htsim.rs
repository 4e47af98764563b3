//! `pauseless run` with files of htsim.

use pauseless_compat::htsim::{self, Options};
use pauseless_scenario::{Overrides, Scenario};
use pauseless_text::foreign;
use pauseless_text::source::Source;

use crate::args::{CompatWith, RunArgs};
use crate::output;

/// The scenario that the files of htsim make, if these are files of htsim; `source` is the first.
pub fn scenario(
    args: &RunArgs,
    source: &Source,
    overrides: &Overrides,
) -> anyhow::Result<Option<Scenario>> {
    if foreign::htsim(&source.text).is_none() {
        anyhow::ensure!(args.htsim.is_none(), "--htsim is for files of htsim (.cm, .topo)");
        anyhow::ensure!(
            args.more.is_empty(),
            "{}: one file is enough, unless they are files of htsim",
            args.more[0].display()
        );
        return Ok(None);
    }
    anyhow::ensure!(
        args.compat != Some(CompatWith::Hpcc),
        "--compat hpcc is for config.txt; for files of htsim it is --compat htsim"
    );
    let mut sources = vec![source.clone()];
    sources.extend(Source::read_all(&args.more)?);
    let options = Options { is_compat: args.is_compat_htsim(), ..args.htsim.unwrap_or_default() };
    let case = htsim::read_sources(&sources, &options)?;
    if !args.quiet {
        output::notes(&case.notes);
    }
    Ok(Some(case.scenario.build(&format!("{} as a scenario", case.file), overrides)?))
}
