//! From the files that somebody passes to a fabric: each is recognised by its content.

use std::path::PathBuf;

use super::Fabric;
use super::ib::{Dumps, Parsed};
use crate::import::ib;
use crate::import::source::Source;
use crate::problem::Problems;

/// Reads the files of one fabric.
pub fn read(paths: &[PathBuf]) -> Result<Fabric, Problems> {
    let mut sources = Vec::new();
    for path in paths {
        sources.push(Source::read(path)?);
    }
    from_sources(&sources)
}

/// The same for files that have been read already.
pub fn from_sources(sources: &[Source]) -> Result<Fabric, Problems> {
    let name = Vec::from_iter(sources.iter().map(|source| source.file.as_str())).join(" ");
    let mut dumps = Dumps::default();
    for source in sources {
        let Some(format) = ib::recognise(&source.text) else {
            let message = "not a file that can be read here".to_string();
            return Err(Problems::of_file(&source.file, message, READABLE));
        };
        take(&mut dumps, source, format)?;
    }
    dumps.assemble(name)
}

fn take<'s>(dumps: &mut Dumps<'s>, source: &'s Source, format: ib::Format) -> Result<(), Problems> {
    use ib::Format;
    let text = &source.text;
    let refuse = |problem| source.refuse(problem);
    match format {
        Format::Discover => put(
            &mut dumps.cabling,
            source,
            ib::discover::parse(text).map_err(refuse)?,
        ),
        Format::DiscoverTable => put(
            &mut dumps.cabling,
            source,
            ib::discover_table::parse(text).map_err(refuse)?,
        ),
        Format::SubnetList => put(
            &mut dumps.cabling,
            source,
            ib::subnet_list::parse(text).map_err(refuse)?,
        ),
        Format::Fdbs => put(
            &mut dumps.tables,
            source,
            ib::fdbs::parse(text).map_err(refuse)?,
        ),
        Format::LftDump => put(
            &mut dumps.tables,
            source,
            ib::lft_dump::parse(text).map_err(refuse)?,
        ),
        Format::OpensmSlToVl => put(
            &mut dumps.lanes,
            source,
            ib::sl2vl::opensm::parse(text).map_err(refuse)?,
        ),
        Format::IbdmchkSlToVl => put(
            &mut dumps.lanes,
            source,
            ib::sl2vl::ibdmchk::parse(text).map_err(refuse)?,
        ),
        Format::PathSl => put(
            &mut dumps.levels,
            source,
            ib::path_sl::parse(text).map_err(refuse)?,
        ),
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
        return Err(Problems::of_file(
            &source.file,
            message,
            "leave one of them out",
        ));
    }
    *place = Some(Parsed { source, value });
    Ok(())
}

const READABLE: &str = "files that can be read: ibnetdiscover (also -p), opensm-subnet.lst, \
    .fdbs, dump_lfts, opensm-lfts.dump, opensm-sl2vl.dump, psl, slvl";
