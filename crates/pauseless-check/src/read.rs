//! From the files of a command line to a fabric: each is recognised by its content.

use std::path::PathBuf;

use pauseless_dumps::assemble::ethernet::{Choices, EthernetDumps};
use pauseless_dumps::assemble::ib::{Dumps, Parsed};
use pauseless_dumps::import::{self, ib};
use pauseless_fabric::fabric::Fabric;
use pauseless_scenario::fabric_file;
use pauseless_text::foreign;
use pauseless_text::problem::Problems;
use pauseless_text::source::Source;

/// Reads the files of one fabric.
pub fn read(paths: &[PathBuf]) -> Result<Fabric, Problems> {
    read_with(paths, Choices::default())
}

/// Reads the files with choices about what they do not say. The rule of routing counts only where
/// they have no routes.
pub fn read_with(paths: &[PathBuf], choices: Choices<'_>) -> Result<Fabric, Problems> {
    from_sources(&Source::read_all(paths)?, choices)
}

/// Puts files together that have been read already.
pub fn from_sources(sources: &[Source], choices: Choices<'_>) -> Result<Fabric, Problems> {
    for Source { file, text } in sources {
        if ib::recognise(text).is_none() && import::ethernet::recognise(text).is_none() {
            foreign::refuse(file, text)?;
        }
    }
    let name = Vec::from_iter(sources.iter().map(|source| source.file.as_str())).join(" ");
    if let Some(source) = sources.iter().find(|source| fabric_file::is_toml(source)) {
        if sources.len() > 1 {
            let message = "a fabric file or scenario has the whole fabric in it".to_string();
            let help = "pass it alone, without the other files";
            return Err(Problems::of_file(&source.file, message, help));
        }
        return fabric_file::read(source);
    }
    let (mut infiniband, mut ethernet) = (Dumps::default(), EthernetDumps::default());
    let mut media: [Option<&Source>; 2] = [None, None];
    for source in sources {
        if let Some(format) = ib::recognise(&source.text) {
            media[0] = Some(source);
            take(&mut infiniband, source, format)?;
        } else if let Some(format) = import::ethernet::recognise(&source.text) {
            media[1] = Some(source);
            ethernet.take(source, format)?;
        } else if source.text.trim().is_empty() {
            let message = "there is nothing in it".to_string();
            return Err(Problems::of_file(&source.file, message, "dump it again"));
        } else {
            let message = "its format is not known here".to_string();
            return Err(Problems::of_file(&source.file, message, READABLE));
        }
    }
    match media {
        [Some(_), Some(other)] => {
            let message = "an Ethernet file among InfiniBand files".to_string();
            Err(Problems::of_file(&other.file, message, "check one fabric at a time"))
        }
        [_, Some(_)] => ethernet.assemble(name, choices),
        _ => infiniband.assemble(name, choices.routing),
    }
}

fn take<'s>(dumps: &mut Dumps<'s>, source: &'s Source, format: ib::Format) -> Result<(), Problems> {
    use ib::Format;
    let text = &source.text;
    let refuse = |problem| source.refuse(problem);
    match format {
        Format::Discover => {
            put(&mut dumps.cabling, source, ib::discover::parse(text).map_err(refuse)?)
        }
        Format::DiscoverTable => {
            put(&mut dumps.cabling, source, ib::discover_table::parse(text).map_err(refuse)?)
        }
        Format::SubnetList => {
            put(&mut dumps.cabling, source, ib::subnet_list::parse(text).map_err(refuse)?)
        }
        Format::Fdbs => put(&mut dumps.tables, source, ib::fdbs::parse(text).map_err(refuse)?),
        Format::LftDump => {
            put(&mut dumps.tables, source, ib::lft_dump::parse(text).map_err(refuse)?)
        }
        Format::OpensmSlToVl => {
            put(&mut dumps.lanes, source, ib::sl2vl::opensm::parse(text).map_err(refuse)?)
        }
        Format::IbdmchkSlToVl => {
            put(&mut dumps.lanes, source, ib::sl2vl::ibdmchk::parse(text).map_err(refuse)?)
        }
        Format::PathSl => put(&mut dumps.levels, source, ib::path_sl::parse(text).map_err(refuse)?),
    }
}

/// Takes what a file says, unless another file has said it.
fn put<'s, T>(
    place: &mut Option<Parsed<'s, T>>,
    source: &'s Source,
    value: T,
) -> Result<(), Problems> {
    if let Some(other) = place {
        let message = format!("says again what {} says", other.source.file);
        return Err(Problems::of_file(&source.file, message, "leave one of them out"));
    }
    *place = Some(Parsed { source, value });
    Ok(())
}

const READABLE: &str = "files that can be read: ibnetdiscover (also -p), opensm-subnet.lst, \
    .fdbs, dump_lfts, opensm-lfts.dump, opensm-sl2vl.dump, psl, slvl; SONiC config_db.json and \
    APPL_DB, routes of FRR (show ip route json) and of ip -j route, lldpctl -f json, \
    pg_profile_lookup.ini, containerlab, Batfish layer-1 and NetQ wiring; and our own TOML. \
    Counters and archives are not read";
