//! Which file is what, and whose.

use std::collections::HashMap;

use pauseless_dumps::assemble::ethernet::EthernetDumps;
use pauseless_dumps::import::ethernet::pg_profile;
use pauseless_dumps::import::ethernet::wiring::Wiring;
use pauseless_dumps::import::ethernet::{self as ethernet, Format};
use pauseless_text::problem::{FileId, Problem, Problems};
use pauseless_text::source::Source;

use super::routes::Roads;
use super::{Claim, Fabric, Lookup};
use crate::database::{self, Database};
use crate::host::{self, Host, HostFile};
use crate::json;
use crate::switch::Switch;

/// The files of a fabric, read.
#[derive(Default)]
pub struct Loaded<'t> {
    databases: Vec<Database<'t>>,
    lookups: Vec<Lookup>,
    hosts: Vec<HostSource<'t>>,
    pub(super) wirings: Vec<FileOf<Wiring>>,
    pub(super) lldp: Vec<FileOf<json::Value>>,
    routes: EthernetDumps<'t>,
    roads: Roads,
    texts: Vec<&'t str>,
    names: Vec<String>,
}

/// Whether a file is one of those that count here, as far as its start tells: of a folder the others
/// are left out.
pub fn is_known(source: &Source) -> bool {
    let text = &source.text;
    let is_lldp = text.trim_start().starts_with('{') && text.contains("\"lldp\"");
    let is_known = ethernet::recognise(text)
        .is_some_and(|format| !matches!(format, Format::SonicConfig | Format::LldpTable));
    is_lldp || is_known || host::recognise(source).is_some() || database::looks_like(text)
}

/// Something that was read from a file.
#[derive(Debug)]
pub(super) struct FileOf<T> {
    pub file: usize,
    pub content: T,
}

#[derive(Debug)]
struct HostSource<'t> {
    file: usize,
    kind: HostFile,
    text: &'t str,
}

impl<'t> Loaded<'t> {
    /// Reads all files.
    ///
    /// # Errors
    /// Everything that is wrong with any of them, and files that are none of those that count here.
    pub fn read(sources: &'t [Source]) -> Result<Loaded<'t>, Problems> {
        Loaded::read_watched(sources, &mut |_| {})
    }

    /// The same; `watch` hears before each file how many have been read.
    pub(crate) fn read_watched(
        sources: &'t [Source],
        watch: &mut dyn FnMut(usize),
    ) -> Result<Loaded<'t>, Problems> {
        let mut loaded = Loaded::default();
        let mut problems = Vec::new();
        for (file, source) in sources.iter().enumerate() {
            watch(file);
            loaded.texts.push(&source.text);
            loaded.names.push(source.file.clone());
            if let Err(problem) = loaded.take(file, source) {
                // More files than that are not read at once.
                problems.push(problem.in_file(FileId(u16::try_from(file).unwrap_or(u16::MAX))));
            }
        }
        if !problems.is_empty() {
            return Err(refused(sources, problems));
        }
        loaded.follow_routes(sources);
        Ok(loaded)
    }

    /// Follows packets along the routes, if there are any.
    fn follow_routes(&mut self, sources: &'t [Source]) {
        let routes = std::mem::take(&mut self.routes);
        let has_routes = self.databases.iter().any(|database| database.has("ROUTE"));
        if routes.tables.is_empty() && !has_routes {
            return;
        }
        let files = self.databases.iter().map(|database| database.file);
        let files = files.chain(self.wirings.iter().map(|wiring| wiring.file));
        let files = files.chain(self.lldp.iter().map(|lldp| lldp.file));
        let files = Vec::from_iter(files.map(|file| &sources[file]));
        self.roads = Roads::follow(routes, &files, sources);
    }

    fn take(&mut self, file: usize, source: &'t Source) -> Result<(), Problem> {
        let text = &source.text;
        let start = text.trim_start();
        if let Some(kind) = host::recognise(source) {
            // Once into the void, so that what is wrong is said with its file.
            host::read(&mut Host::default(), kind, file, text)?;
            self.hosts.push(HostSource { file, kind, text });
            return Ok(());
        }
        if start.starts_with('{') && text.contains("\"lldp\"") {
            self.lldp.push(FileOf { file, content: json::parse(text)? });
            return Ok(());
        }
        let format = ethernet::recognise(text);
        let wiring = match format {
            Some(
                Format::FrrRoutes | Format::FrrBgp | Format::KernelRoutes | Format::BatfishRoutes,
            ) => {
                let taken = format.map_or(Ok(()), |format| self.routes.take(source, format));
                return taken.map_err(|problems| problems.into_parts().1.swap_remove(0));
            }
            Some(Format::Containerlab) => Some(ethernet::containerlab::parse(text)?),
            Some(Format::BatfishLayer1) => Some(ethernet::batfish::parse(text)?),
            Some(Format::NetqTopology) => Some(ethernet::netq::parse(text)?),
            Some(Format::PgProfileLookup) => {
                let rows = pg_profile::parse(text)?;
                self.lookups.push(Lookup { file, name: source.file.clone(), rows });
                return Ok(());
            }
            _ => None,
        };
        if let Some(content) = wiring {
            self.wirings.push(FileOf { file, content });
            return Ok(());
        }
        if database::looks_like(text) || start.starts_with('{') && is_cut(text) {
            self.databases.push(Database::read(file, text)?);
            return Ok(());
        }
        let first = text.find(|c: char| !c.is_whitespace()).unwrap_or(0);
        let problem = Problem::new(first..first + 1, "no file that lint knows");
        Err(problem.expected(READABLE))
    }

    /// The switches of the databases. State of a switch is that of the configuration whose name its
    /// file has, or of the only one.
    pub fn switches(&self) -> Result<Vec<Switch<'_>>, Problems> {
        let mut switches = Vec::new();
        for config in self.databases.iter().filter(|database| !is_state(database)) {
            let mut switch = Switch::read(config, self.stem(config.file).to_string());
            switch.lookup = self.lookup_of(&switch);
            switches.push(switch);
        }
        for state in self.databases.iter().filter(|database| is_state(database)) {
            if let Some(index) = self.owner(&switches, state.file) {
                let owner = &mut switches[index];
                let is_applied = state.is_state;
                *(if is_applied { &mut owner.applied } else { &mut owner.state }) = Some(state);
            }
        }
        Ok(switches)
    }

    /// Which switch a file is of, by the start of its name.
    pub(super) fn owner(&self, switches: &[Switch], file: usize) -> Option<usize> {
        let name = self.stem(file);
        let is_of = |switch: &Switch| switch.name == name || self.stem(switch.config.file) == name;
        let only = (switches.len() == 1).then_some(0);
        switches.iter().position(is_of).or(only)
    }

    fn lookup_of(&self, switch: &Switch) -> Option<&[pg_profile::PgProfile]> {
        let sku = switch.about("hwsku");
        let is_of = |lookup: &&Lookup| {
            !sku.is_empty() && lookup.name.contains(&format!(".{sku}."))
                || self.stem(lookup.file) == switch.name
        };
        let only = if self.lookups.len() == 1 { self.lookups.first() } else { None };
        self.lookups.iter().find(is_of).or(only).map(|lookup| lookup.rows.as_slice())
    }

    /// The hosts: files with the name of a neighbour belong together, and so do files without a name
    /// that do not say the same thing twice.
    pub fn hosts(&self, switches: &[Switch]) -> Vec<Host> {
        let neighbours = switches.iter().flat_map(|switch| &switch.ports);
        let neighbours = neighbours.filter_map(|port| Some(port.neighbour?.name.text));
        let known = std::collections::HashSet::<&str>::from_iter(neighbours);
        let mut hosts: Vec<HostFiles> = Vec::new();
        for HostSource { file, kind, text } in &self.hosts {
            let folder = self.names[*file].rsplit('/').nth(1).unwrap_or_default();
            let names = [self.stem(*file), folder];
            let named = names.into_iter().find(|name| known.contains(name));
            let fits = |files: &HostFiles| match named {
                Some(name) => files.host.name == name,
                None => !files.host.is_named && !files.kinds.contains(kind),
            };
            let index = hosts.iter().position(fits).unwrap_or_else(|| {
                let name = named.unwrap_or(self.stem(*file)).to_string();
                let host = Host { name, is_named: named.is_some(), ..Host::default() };
                hosts.push(HostFiles { host, kinds: Vec::new() });
                hosts.len() - 1
            });
            hosts[index].kinds.push(*kind);
            // What is wrong with it was said when it was taken.
            let _ = host::read(&mut hosts[index].host, *kind, *file, text);
        }
        hosts.sort_by_key(|files| !files.host.is_named);
        hosts.into_iter().map(|files| files.host).collect()
    }

    /// The fabric that all files together describe.
    pub fn fabric<'d>(&'d self, switches: &'d [Switch<'d>], hosts: &'d [Host]) -> Fabric<'d> {
        let mut fabric = Fabric {
            switches,
            hosts,
            lookups: &self.lookups,
            cables: Vec::new(),
            disputes: Vec::new(),
            roads: &self.roads,
            notes: self.roads.notes.clone(),
        };
        fabric.notes.extend(self.namesakes(switches));
        let claims: Vec<Claim> = self.claims(switches);
        fabric.join(&claims);
        fabric
    }

    /// Configurations that say that they are of one switch: cables then lead to the wrong one.
    fn namesakes(&self, switches: &[Switch<'_>]) -> Vec<String> {
        let mut known = HashMap::new();
        let mut notes = Vec::new();
        for switch in switches.iter().filter(|switch| !switch.about("hostname").is_empty()) {
            // The parts of a switch with several chips have one hostname.
            let key = [switch.name.as_str(), switch.about("asic_name")];
            let file = self.names[switch.config.file].as_str();
            if let Some(first) = known.insert(key, file) {
                notes.push(format!(
                    "{first} and {file} both have the hostname {}: is one of them an older copy?",
                    switch.name
                ));
            }
        }
        notes
    }

    pub(super) fn text(&self, file: usize) -> &'t str {
        self.texts[file]
    }

    /// The name of a file up to its first dot, without its folder.
    fn stem(&self, file: usize) -> &str {
        let name = self.names[file].rsplit('/').next().unwrap_or_default();
        name.split('.').next().unwrap_or(name)
    }
}

struct HostFiles {
    host: Host,
    kinds: Vec<HostFile>,
}

/// Problems with the files that have some; the others are not needed to show them.
fn refused(sources: &[Source], problems: Vec<Problem>) -> Problems {
    let mut files = Vec::new();
    let mut list = Vec::new();
    for mut problem in problems {
        let file = usize::from(problem.file.0).min(sources.len() - 1);
        problem.file = FileId(u16::try_from(files.len()).unwrap_or(u16::MAX));
        files.push(sources[file].clone());
        list.push(problem);
    }
    Problems::of_sources(files, list)
}

/// Whether a database is not a configuration: APPL_DB, or STATE_DB, which has limits of the chip.
fn is_state(database: &Database) -> bool {
    let is_limits = database.has("BUFFER_MAX_PARAM_TABLE") || database.has("BUFFER_MAX_PARAM");
    database.is_state && !database.has("PORT_QOS_MAP") || is_limits
}

/// Whether a text may be a database of which the end is missing.
fn is_cut(text: &str) -> bool {
    json::parse(text).is_err()
}

const READABLE: &str = "a config_db.json, a dump of APPL_DB or STATE_DB, pg_profile_lookup.ini, \
                        lldpctl -f json, wiring of containerlab, Batfish or NetQ, routes of FRR, \
                        ip -j route or Batfish, or the output of mlnx_qos, dcb -j, ethtool -a, ip -j link or show_gids";
