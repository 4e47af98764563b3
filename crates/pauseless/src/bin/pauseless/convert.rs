//! The command `pauseless convert`: from dumps to another format.

use std::path::Path;
use std::process::ExitCode;

use pauseless_check::graphml;
use pauseless_check::read;
use pauseless_compat::hpcc::{self, Compat};
use pauseless_compat::htsim::{self, Options};
use pauseless_core::id::{GroupId, NodeId};
use pauseless_dumps::assemble::ethernet::{Choices, Tunnels};
use pauseless_fabric::fabric::Fabric;
use pauseless_scenario::fabric_file;
use pauseless_scenario::shape;
use pauseless_text::foreign;
use pauseless_text::source::Source;

use crate::args::{ConvertArgs, ConvertFormat};
use crate::output;

/// Turns a fabric into another format, or files of another simulator into a scenario.
pub fn run(args: &ConvertArgs) -> anyhow::Result<ExitCode> {
    if let Some(file) = &args.out {
        output::check_place(file)?;
    }
    match args.to {
        ConvertFormat::Scenario | ConvertFormat::CompatScenario => return scenario(args),
        ConvertFormat::Fabric | ConvertFormat::Graphml => {}
    }
    anyhow::ensure!(args.htsim.is_none(), NO_HTSIM);
    let fabric = match &args.generate {
        Some(spec) => shape::parse(spec)?,
        None => {
            let routing = args.routing.and_then(|rule| rule.routing(1));
            let tunnels = Tunnels::LeftOut;
            let vrf = args.vrf.as_deref();
            read::read_with(&args.files, Choices { routing, tunnels, vrf })?
        }
    };
    output::notes(&fabric.notes);
    if has_weights(&fabric) {
        output::notes(&[WEIGHTS.to_string()]);
    }
    let text = match args.to {
        ConvertFormat::Fabric => fabric_file::write(&fabric),
        _ => graphml::write(&fabric),
    };
    put(args, &text)
}

/// Whether a switch has a next hop that takes a larger share than another.
fn has_weights(fabric: &Fabric) -> bool {
    let Fabric { topology, routes, .. } = fabric;
    let is_weighted = |switch: NodeId, group: GroupId| {
        let ports = routes.table.next_hops(switch, group);
        ports.windows(2).any(|pair| pair[0] == pair[1])
    };
    let mut groups = routes.groups.addresses();
    // Only routes of switches themselves have weights.
    fabric.evidence.routes.is_some()
        && groups.any(|group| topology.switches().iter().any(|it| is_weighted(*it, group)))
}

/// Turns the files of another simulator into a scenario.
fn scenario(args: &ConvertArgs) -> anyhow::Result<ExitCode> {
    let is_compat = args.to == ConvertFormat::CompatScenario;
    let sources = Source::read_all(&args.files)?;
    let is_htsim = |source: &Source| foreign::htsim(&source.text).is_some();
    if sources.iter().any(is_htsim) {
        let options = Options { is_compat, ..args.htsim.unwrap_or_default() };
        let case = htsim::read_sources(&sources, &options)?;
        return put_scenario(args, &case.notes, &case.scenario.text());
    }
    anyhow::ensure!(args.htsim.is_none(), NO_HTSIM);
    let is_config = |source: &&Source| foreign::is_hpcc(&source.text);
    let [source] = &sources[..] else {
        anyhow::bail!("--to scenario takes one config.txt of an ns-3 simulator, or files of htsim");
    };
    let Some(source) = Some(source).filter(is_config) else {
        anyhow::bail!(
            "{}: neither the config.txt of an ns-3 simulator nor a traffic matrix of htsim",
            source.file
        );
    };
    anyhow::ensure!(
        !is_compat,
        "--to compat-scenario is for files of htsim; of a config.txt --to scenario makes what our \
         engine runs, and pauseless run --compat hpcc runs the replica of that simulator beside it"
    );
    let folder = args.files[0].parent().unwrap_or(Path::new(""));
    let case = hpcc::read_source(source, folder, Compat::None)?;
    put_scenario(args, &case.notes, &case.scenario.text())
}

fn put_scenario(args: &ConvertArgs, notes: &[String], text: &str) -> anyhow::Result<ExitCode> {
    output::notes(notes);
    put(args, text)
}

const NO_HTSIM: &str = "--htsim is for files of htsim (.cm, .topo), which become a scenario";

fn put(args: &ConvertArgs, text: &str) -> anyhow::Result<ExitCode> {
    match &args.out {
        Some(file) => output::write_file(file, text)?,
        None => output::print(text)?,
    }
    Ok(ExitCode::SUCCESS)
}

const WEIGHTS: &str =
    "weights of next hops are left out: tables of a fabric file have every next hop once";
