//! From the files of a command line to a fabric: each is recognised by its content.

use std::path::{Path, PathBuf};

use pauseless_dumps::assemble::ethernet::{Choices, EthernetDumps};
use pauseless_dumps::assemble::ib::{Dumps, Parsed};
use pauseless_dumps::import::{self, ib};
use pauseless_fabric::fabric::Fabric;
use pauseless_scenario::fabric_file;
use pauseless_text::foreign;
use pauseless_text::gather::Gathered;
use pauseless_text::problem::{Problem, Problems};
use pauseless_text::source::Source;

/// Reads the files of one fabric.
pub fn read(paths: &[PathBuf]) -> Result<Fabric, Problems> {
    read_with(paths, Choices::default())
}

/// Reads the files with choices about what they do not say. The rule of routing counts only where
/// they have no routes.
pub fn read_with(paths: &[PathBuf], choices: Choices<'_>) -> Result<Fabric, Problems> {
    let files = gather(paths)?;
    let mut fabric = from_sources(&files.sources, choices)?;
    fabric.notes.extend(remarks(&files));
    Ok(fabric)
}

/// Reads the files, those of folders and archives among them, and of these the ones whose format is
/// known.
pub fn gather(paths: &[PathBuf]) -> Result<Gathered, Problems> {
    Gathered::read(paths, &is_known)
}

/// Whether a file of a folder or an archive says something of a fabric. One that has all of it, in
/// TOML, is passed by its name.
pub fn is_known(source: &Source) -> bool {
    ib::recognise(&source.text).is_some() || import::ethernet::recognise(&source.text).is_some()
}

/// What to say of the files of folders and archives that were left out.
pub fn remarks(files: &Gathered) -> Vec<String> {
    let (private, others): (Vec<&String>, Vec<&String>) =
        files.ignored.iter().partition(|file| is_private(file));
    let mut notes = Vec::from_iter(private.iter().map(|file| {
        format!(
            "{file} was left out: private tables of ibdiagnet cannot be read yet; if switches use \
             them, this verdict is not theirs (please send us a sample)"
        )
    }));
    let shown = Vec::from_iter(others.iter().take(FILES_SHOWN).map(|file| file.as_str()));
    let more = match others.len() - shown.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    if !shown.is_empty() {
        let shown = shown.join(", ");
        notes.push(format!("left out, as nothing in them is read here: {shown}{more}"));
    }
    notes
}

/// Whether a file has tables of ibdiagnet that cannot be read.
fn is_private(file: &str) -> bool {
    PRIVATE.iter().any(|ending| file.trim_end_matches(".gz").ends_with(ending))
}

/// Puts files together that have been read already.
pub fn from_sources(sources: &[Source], choices: Choices<'_>) -> Result<Fabric, Problems> {
    for Source { file, text } in sources {
        if ib::recognise(text).is_none() && import::ethernet::recognise(text).is_none() {
            foreign::refuse(file, text)?;
        }
    }
    let name = name_of(sources);
    if let Some(source) = sources.iter().find(|source| fabric_file::is_toml(source)) {
        if sources.len() > 1 {
            let message = "a fabric file or scenario has the whole fabric in it".to_string();
            let help = "pass it alone, without the other files";
            return Err(Problems::of_file(&source.file, message, help));
        }
        return fabric_file::read(source);
    }
    let (mut infiniband, mut ethernet) = (Vec::new(), EthernetDumps::default());
    let mut other = None;
    for source in sources {
        if let Some(format) = ib::recognise(&source.text) {
            infiniband.push((format, source));
        } else if let Some(format) = import::ethernet::recognise(&source.text) {
            other = Some(source);
            ethernet.take(source, format)?;
        } else if source.text.trim().is_empty() {
            let message = "there is nothing in it".to_string();
            return Err(Problems::of_file(&source.file, message, "dump it again"));
        } else {
            return Err(unreadable(source));
        }
    }
    match (&infiniband[..], other) {
        ([_, ..], Some(other)) => {
            let message = "an Ethernet file among InfiniBand files".to_string();
            Err(Problems::of_file(&other.file, message, "check one fabric at a time"))
        }
        ([], Some(_)) => ethernet.assemble(name, choices),
        _ => {
            infiniband.sort_by_key(|(format, _)| format.rank());
            let mut dumps = Dumps::default();
            for (format, source) in infiniband {
                take(&mut dumps, source, format)?;
            }
            dumps.assemble(name, choices.routing)
        }
    }
}

/// What to call a fabric: its files, or where they are if they are many, so that the verdict behind
/// it is seen.
fn name_of(sources: &[Source]) -> String {
    let files = Vec::from_iter(sources.iter().map(|source| source.file.as_str()));
    let (shown, more) = match files.split_at_checked(NAMES_SHOWN) {
        Some((shown, more)) if !more.is_empty() => (shown, more.len()),
        _ => return files.join(" "),
    };
    match folder_of(&files) {
        Some(folder) => format!("{folder} ({} files)", files.len()),
        None => format!("{} and {more} more", shown.join(" ")),
    }
}

/// The folder below which all of these files are, if it has a name.
fn folder_of(files: &[&str]) -> Option<String> {
    let (first, others) = files.split_first()?;
    let mut folders = Path::new(first).ancestors().skip(1);
    let is_common = |folder: &&Path| others.iter().all(|file| Path::new(file).starts_with(folder));
    let common = folders.find(is_common)?;
    common.file_name().is_some().then(|| common.display().to_string())
}

/// What to say of a file in no known format.
fn unreadable(source: &Source) -> Problems {
    let (message, help) = if is_private(&source.file) {
        (
            "private tables of ibdiagnet cannot be read yet".to_string(),
            "no sample of such a file was at hand: please send us one",
        )
    } else {
        ("its format is not known here".to_string(), READABLE)
    };
    Problems::of_file(&source.file, message, help)
}

fn take<'s>(dumps: &mut Dumps<'s>, source: &'s Source, format: ib::Format) -> Result<(), Problems> {
    use ib::Format;
    let text = &source.text;
    match format {
        Format::Discover => put(&mut dumps.cabling, source, ib::discover::parse(text)),
        Format::DiscoverTable => put(&mut dumps.cabling, source, ib::discover_table::parse(text)),
        Format::SubnetList => put(&mut dumps.cabling, source, ib::subnet_list::parse(text)),
        Format::DbCsv => put(&mut dumps.cabling, source, ib::db_csv::parse(text)),
        Format::LinkInfo => put(&mut dumps.cabling, source, ib::link_info::parse(text)),
        Format::Fdbs => put(&mut dumps.tables, source, ib::fdbs::parse(text)),
        Format::LftDump => put(&mut dumps.tables, source, ib::lft_dump::parse(text)),
        Format::Far => put(&mut dumps.adaptive, source, ib::far::parse(text)),
        Format::OpensmSlToVl => put(&mut dumps.lanes, source, ib::sl2vl::opensm::parse(text)),
        Format::IbdmchkSlToVl => put(&mut dumps.lanes, source, ib::sl2vl::ibdmchk::parse(text)),
        Format::SaSlToVl => put(&mut dumps.lanes, source, ib::saquery::lanes::parse(text)),
        Format::PathSl => put(&mut dumps.levels, source, ib::path_sl::parse(text)),
        Format::SaPaths => put(&mut dumps.levels, source, ib::saquery::paths::parse(text)),
        Format::Manager => {
            let engine = ib::opensm_log::parse(text).map_err(|problem| source.refuse(problem))?;
            // A log says what was in force, a configuration what was wanted.
            if dumps.engine.is_none() || (engine.is_some() && ib::opensm_log::is_log(text)) {
                dumps.engine = engine;
            }
            Ok(())
        }
    }
}

/// Takes what a file says.
fn put<'s, T>(
    place: &mut Vec<Parsed<'s, T>>,
    source: &'s Source,
    value: Result<T, Problem>,
) -> Result<(), Problems> {
    let value = value.map_err(|problem| source.refuse(problem))?;
    place.push(Parsed { source, value });
    Ok(())
}

/// Files of ibdiagnet with tables for some packets only, or for virtual lanes.
const PRIVATE: [&str; 2] = [".plft", ".vl2vl"];
const FILES_SHOWN: usize = 6;
/// More files have no place in a headline.
const NAMES_SHOWN: usize = 3;
const READABLE: &str = "files that can be read: ibnetdiscover (also -p), iblinkinfo, \
    opensm-subnet.lst, ibdiagnet2.db_csv, .fdbs, .far, dump_lfts, ibroute, opensm-lfts.dump, \
    opensm-sl2vl.dump, psl, slvl, saquery -p, saquery SL2VL, smpquery sl2vl, opensm.log; SONiC \
    config_db.json and APPL_DB, routes of FRR (show ip route json) and of ip -j route, lldpctl -f \
    json, pg_profile_lookup.ini, containerlab, Batfish layer-1 and NetQ wiring; our own TOML; \
    folders and tar archives of them. Counters are not read";
