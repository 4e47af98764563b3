//! From Ethernet files to a fabric: cables from containerlab, Batfish, NetQ or SONiC's own
//! neighbours, and lossless priorities from SONiC's configurations.
//!
//! None of these files says everything. What is guessed where they are silent is said in the
//! notes of the fabric, and every guess about flow control leans to the side of a cycle: a buffer
//! counts as lossless unless a configuration says otherwise.

mod bounce;
mod build;
mod classes;
mod configs;
mod fib;
mod marking;
mod merge;
mod owners;
mod ports;
mod roads;
mod roles;
mod running;
mod share;
mod site;
mod wires;

use pauseless_core::class_map::ClassMap;
use pauseless_fabric::dependency::{Lossy, Traffic};
use pauseless_fabric::routing::{Multipath, RouteBuilder, Routing};

pub use self::configs::gather;

use self::build::Built;
use self::classes::Classes;
use self::marking::Marking;
use self::owners::Owners;
use self::running::Running;
use self::site::Site;
use self::wires::Wires;
use super::ib::Parsed;
use crate::import::ethernet::lldp::{self, Lldp};
use crate::import::ethernet::pg_profile::{self, PgProfile};
use crate::import::ethernet::routes::{self, RouteTable};
use crate::import::ethernet::sonic::{self, SwitchConfig};
use crate::import::ethernet::wiring::Wiring;
use crate::import::ethernet::{Format, batfish, containerlab, netq, recognise};
use pauseless_fabric::fabric::{Evidence, Fabric, Medium, Names, Origin};
use pauseless_text::problem::{Problem, Problems};
use pauseless_text::quantity;
use pauseless_text::source::Source;

/// What the files leave to whoever checks them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Choices<'c> {
    /// By which rule packets are routed; `None` for equal-cost shortest paths, with a note.
    pub routing: Option<Routing>,
    /// What becomes of packets that a standby switch sends through a tunnel.
    pub tunnels: Tunnels,
    /// The VRF of which the routes count; `None` for the default one, or the only one.
    pub vrf: Option<&'c str>,
}

/// What becomes of packets that a standby switch of two sends on to the active one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tunnels {
    /// They are left out, with a note.
    LeftOut,
    /// They are followed, in the priority that the tunnel gives them.
    ///
    /// A class table cannot tell them from packets that are routed up again after a failure, so
    /// the classes of such a fabric hold for its own routes only, and not for others.
    #[default]
    Bounced,
}

/// The files of one fabric.
#[derive(Default)]
pub struct EthernetDumps<'s> {
    /// The cables, from lists of links.
    pub wirings: Vec<Parsed<'s, Wiring>>,
    /// The configurations of the switches.
    pub configs: Vec<Parsed<'s, SwitchConfig>>,
    /// The buffer profiles of priority groups.
    pub profiles: Vec<Parsed<'s, Vec<PgProfile>>>,
    /// The routes of switches, but for those in dumps of SONiC.
    pub tables: Vec<Parsed<'s, Vec<RouteTable>>>,
    /// What switches hear of their neighbours.
    pub heard: Vec<Parsed<'s, Lldp>>,
}

/// The fabric that files describe, each recognised by its content.
pub fn from_sources(sources: &[Source], choices: Choices<'_>) -> Result<Fabric, Problems> {
    let name = Vec::from_iter(sources.iter().map(|source| source.file.as_str())).join(" ");
    let mut dumps = EthernetDumps::default();
    for source in sources {
        let Some(format) = recognise(&source.text) else {
            let message = "not an Ethernet file that can be read here".to_string();
            return Err(Problems::of_file(&source.file, message, READABLE));
        };
        dumps.take(source, format)?;
    }
    dumps.assemble(name, choices)
}

impl<'s> EthernetDumps<'s> {
    /// Parses one more file.
    pub fn take(&mut self, source: &'s Source, format: Format) -> Result<(), Problems> {
        let refuse = |problem| source.refuse(problem);
        let text = &source.text;
        let wiring = match format {
            Format::FrrRoutes => return self.take_routes(source, routes::frr::parse(text)),
            Format::FrrBgp => return self.take_routes(source, routes::bgp::parse(text)),
            Format::KernelRoutes => return self.take_routes(source, routes::kernel::parse(text)),
            Format::BatfishRoutes => return self.take_routes(source, routes::batfish::parse(text)),
            Format::LldpJson => return self.take_heard(source, lldp::parse_json(text)),
            Format::LldpTable => return self.take_heard(source, lldp::parse_table(text)),
            Format::Containerlab => containerlab::parse(&source.text).map_err(refuse)?,
            Format::BatfishLayer1 => batfish::parse(&source.text).map_err(refuse)?,
            Format::NetqTopology => netq::parse(&source.text).map_err(refuse)?,
            Format::SonicConfig => {
                let value = sonic::parse(&source.text).map_err(refuse)?;
                self.configs.push(Parsed { source, value });
                return Ok(());
            }
            Format::PgProfileLookup => {
                let value = pg_profile::parse(&source.text).map_err(refuse)?;
                self.profiles.push(Parsed { source, value });
                return Ok(());
            }
        };
        self.wirings.push(Parsed { source, value: wiring });
        Ok(())
    }

    fn take_routes(
        &mut self,
        source: &'s Source,
        tables: Result<Vec<RouteTable>, Problem>,
    ) -> Result<(), Problems> {
        let value = tables.map_err(|problem| source.refuse(problem))?;
        self.tables.push(Parsed { source, value });
        Ok(())
    }

    fn take_heard(
        &mut self,
        source: &'s Source,
        heard: Result<Lldp, Problem>,
    ) -> Result<(), Problems> {
        let value = heard.map_err(|problem| source.refuse(problem))?;
        self.heard.push(Parsed { source, value });
        Ok(())
    }

    /// The fabric, or what is missing or contradictory.
    pub fn assemble(&self, name: String, choices: Choices<'_>) -> Result<Fabric, Problems> {
        let owners = Owners::new(self);
        let named = owners.name(&self.configs);
        let mut configs = configs::gather(&named)?;
        let mut running = Running::gather(self, &owners, &named, &mut configs)?;
        running.keep_one_vrf(choices.vrf)?;
        running.note_skipped();
        let mut wires = if self.wirings.is_empty() {
            Wires::from_neighbours(&configs)?
        } else {
            Wires::from_files(&self.wirings)?
        };
        if wires.cables.is_empty() {
            wires = Wires::from_addresses(&running.connected(&configs))?;
        }
        let Some(file) = wires.cables.first().map(|cable| cable.source.file.clone()) else {
            return Err(self.without_cables());
        };
        let mut notes = wires.notes.clone();
        notes.append(&mut running.notes);
        let site = Site::new(wires, &configs, &mut notes)?;
        let Built { topology, devices, ends } = Built::new(&site, &mut notes)
            .map_err(|error| Problems::of_file(&file, error.to_string(), ""))?;
        site.take_notes_of_profiles(&self.profiles, &mut notes);
        let mut evidence = Evidence::default();
        let (routes, origin) = match choices.routing {
            None if running.has_routes() => {
                let roads = roads::build(&site, &ends, &topology, &running, &mut notes)?;
                evidence.routes = Some(roads.evidence);
                (roads.routes, Origin::Tables)
            }
            rule => {
                let routing = rule.unwrap_or_else(|| {
                    notes.push(NO_ROUTES.to_string());
                    Routing::from(Multipath::Ecmp)
                });
                (RouteBuilder::new(&topology, routing).build(), Origin::Rule(routing))
            }
        };
        let mut fabric = Fabric {
            name,
            medium: Medium::Ethernet,
            names: Names::new(devices),
            routes,
            topology,
            origin,
            classes: ClassMap::Same,
            traffic: Traffic::AllPairs(Vec::new()),
            lossy: Lossy::nothing(),
            notes,
            evidence,
        };
        let marking = Marking::new(&site);
        // A table by code points has no room for what tunnels make of priorities.
        let tunnels = if marking.differs() { Tunnels::LeftOut } else { choices.tunnels };
        let rows = bounce::add(&site, &ends, &mut fabric, tunnels);
        Classes::new(&site, &ends).enter(&mut fabric, &rows);
        marking.tell(&site, &ends, &mut fabric);
        if marking.differs() {
            fabric.traffic = Traffic::AllPairs(marking.lanes());
            marking.enter(&ends, &mut fabric);
        }
        configs::take_warnings(&self.configs, &mut fabric.notes);
        Ok(fabric)
    }

    fn without_cables(&self) -> Problems {
        let wirings = self.wirings.iter().map(|parsed| parsed.source);
        let configs = self.configs.iter().map(|parsed| parsed.source);
        let profiles = self.profiles.iter().map(|parsed| parsed.source);
        let tables = self.tables.iter().map(|parsed| parsed.source);
        let heard = self.heard.iter().map(|parsed| parsed.source);
        let file = wirings.chain(configs).chain(profiles).chain(tables).chain(heard).next();
        let file = file.map_or("", |source| source.file.as_str());
        Problems::of_file(file, "no file says how the fabric is cabled".to_string(), CABLED)
    }
}

/// The first few of `names`, and how many more there are.
fn some(names: &[String]) -> String {
    const SHOWN: usize = 4;
    quantity::some(names.iter(), SHOWN)
}

/// The classes of a mask, as in "3, 4"; "none" if there is none.
fn list(classes: u8) -> String {
    let set = (0..8).filter(|class| classes & 1 << class != 0);
    match Vec::from_iter(set.map(|class: u8| class.to_string())) {
        none if none.is_empty() => "none".to_string(),
        classes => classes.join(", "),
    }
}

const NO_ROUTES: &str = "the files have no routes; all equal-cost shortest paths are assumed";
const CABLED: &str = "add a containerlab topology, Batfish's layer1_topology.json, NetQ's \
    topologyGraph.json, LLDP's neighbours, or config_db.json files with hostname and \
    DEVICE_NEIGHBOR";
const READABLE: &str = "files that can be read: containerlab's .clab.yml, Batfish's \
    layer1_topology.json, NetQ's topologyGraph.json, SONiC's config_db.json, qos.json, \
    buffers.json, dumps of APPL_DB and pg_profile_lookup.ini, FRR's `show ip route json`, `ip -j \
    route`, Batfish's routes, `lldpctl -f json` and `show lldp table`";
