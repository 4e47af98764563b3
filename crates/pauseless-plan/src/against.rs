//! Deployed values held against derived ones: SONiC's profiles, port by port or row by row.

use std::path::PathBuf;

use pauseless_core::unit::{Bytes, Rate};

use super::headroom::{self, Headroom, Reaction, cable};
use super::{Kind, Request};
use pauseless_dumps::assemble::ethernet::gather;
use pauseless_dumps::assemble::ib::Parsed;
use pauseless_dumps::import::ethernet::pg_profile::{self, PgProfile};
use pauseless_dumps::import::ethernet::sonic::{
    self, BufferGroup, BufferProfile, GroupProfile, SwitchConfig, Threshold,
};
use pauseless_dumps::import::ethernet::{Format, recognise};
use pauseless_fabric::fabric::Fabric;
use pauseless_lint::headroom::{self as sonic_headroom, Chip, DynamicPort};
use pauseless_lint::switch::MadeFor;
use pauseless_text::problem::Problems;
use pauseless_text::source::Source;

/// What the files do not say, but the command line does.
#[derive(Clone, Copy, Debug)]
pub struct Terms<'t> {
    /// The values that a plan would be made with.
    pub request: &'t Request,
    /// The largest frame at every port; `None` for what each is configured for.
    pub mtu: Option<Bytes>,
    /// Where speeds and lengths are that the files lack.
    pub fabric: Option<&'t Fabric>,
}

/// The deployed values that the files have, each with a judgement.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Deployed {
    /// Ports that are alike together, then the rows of tables.
    pub rows: Vec<Row>,
    /// Headroom that ports share.
    pub pools: Vec<Pool>,
    /// Switches or files with ports that have PFC and no lossless group, and how many.
    pub bare: Vec<(String, usize)>,
    /// The largest frame that was assumed where neither the files nor the user say it.
    pub mtu_assumed: Option<Bytes>,
}

impl Deployed {
    /// What is missing, if nothing at all could be judged.
    pub fn missing(&self) -> Option<Vec<String>> {
        let mut missing = Vec::new();
        for judgement in self.judgements() {
            let Judgement::Unknown(why) = judgement else {
                return None;
            };
            if !missing.iter().any(|known| known == why) {
                missing.push(why.to_string());
            }
        }
        if self.rows.is_empty() {
            missing.insert(0, NO_ROWS.to_string());
        }
        missing.extend(self.bare_lines());
        Some(missing)
    }

    /// A line for each switch with PFC and nothing behind it.
    pub fn bare_lines(&self) -> impl Iterator<Item = String> {
        self.bare.iter().map(|(of, count)| {
            let of = of.rsplit('/').next().unwrap_or(of);
            let ports = match count {
                1 => "1 port has".to_string(),
                _ => format!("{count} ports have"),
            };
            format!(
                "{of}: {ports} pfc_enable and no lossless BUFFER_PG; add buffers.json or a dump \
                 that has BUFFER_PG and BUFFER_PROFILE"
            )
        })
    }

    /// Whether packets can be lost somewhere by a bound. Pools of shared headroom, which hold less than
    /// all queues need at once, are held against 802.1Q's worst case only.
    pub fn can_lose(&self, bound: Bound) -> bool {
        let mut pools = self.pools.iter();
        let is_short = pools.any(|pool| matches!(pool.judgement, Judgement::TooSmall(_)));
        is_short && bound == Bound::WorstCase || self.rows.iter().any(|row| row.misses(bound))
    }

    fn judgements(&self) -> impl Iterator<Item = &Judgement> {
        let rows = self.rows.iter().map(|row| &row.judgement);
        rows.chain(self.pools.iter().map(|pool| &pool.judgement))
    }
}

/// A profile at some ports, or a row of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The switch or the file.
    pub of: String,
    /// The ports with their groups; empty for a row of a table.
    pub ports: Vec<String>,
    /// Speed of the port.
    pub speed_mbps: Option<u32>,
    /// Length of the cable.
    pub cable_m: Option<u32>,
    /// The largest frame that was reckoned with.
    pub mtu: Bytes,
    /// Lossless classes of the port.
    pub classes: u8,
    /// The values that are deployed on the port.
    pub profile: Profile,
    /// The values that are derived for the port; `None` if its link is not known.
    pub derived: Option<Derived>,
    /// How the two compare.
    pub judgement: Judgement,
}

impl Row {
    /// Whether the deployed headroom is below a bound; where SONiC has no model, 802.1Q's counts.
    fn misses(&self, bound: Bound) -> bool {
        let has_model = self.derived.is_some_and(|derived| derived.dynamic.is_some());
        let name = match bound {
            Bound::Sonic if has_model => DYNAMIC,
            Bound::WorstCase | Bound::Sonic => WORST_CASE,
            Bound::Wire => WIRE,
        };
        self.missed().contains(&name)
    }

    /// The bounds that the deployed headroom is below, the weakest last.
    pub fn missed(&self) -> Vec<&'static str> {
        match (self.derived, self.profile.xoff) {
            (Some(derived), Some(xoff)) => derived.missed(Bytes::new(xoff)),
            _ => Vec::new(),
        }
    }
}

/// Deployed values; what is not said is `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Profile {
    /// The name of the buffer profile.
    pub name: String,
    /// The bytes reserved for the group.
    pub size: Option<u64>,
    /// Bytes down to which a paused group must drain.
    pub xon: Option<u64>,
    /// How far below its threshold a paused group must drain.
    pub xon_offset: Option<u64>,
    /// The headroom, in bytes: what may arrive after the pause was sent.
    pub xoff: Option<u64>,
    /// Up to where the queue may grow.
    pub threshold: Option<Threshold>,
}

impl Profile {
    /// Whether its headroom is that of the pool, because its size does not hold it.
    fn shares_headroom(&self) -> Sharing {
        let needs = self.xon.unwrap_or(0).saturating_add(self.xoff.unwrap_or(0));
        if self.size.is_some_and(|size| size < needs) { Sharing::Shared } else { Sharing::Private }
    }
}

/// Whose the headroom of a group is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sharing {
    Private,
    Shared,
}

/// Derived values for one port and class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Derived {
    /// By equation 15 of the TTL note.
    pub equation: Bytes,
    /// The bound that is proved here.
    pub bound: Bytes,
    /// By SONiC's form, if cells were given.
    pub sonic: Option<Bytes>,
    /// What the cable alone holds there and back.
    pub wire: Bytes,
    /// By SONiC's dynamic buffer model, where the chip is one that it knows; not if another reaction
    /// than that of the standard is given.
    pub dynamic: Option<Bytes>,
}

impl Derived {
    fn missed(&self, xoff: Bytes) -> Vec<&'static str> {
        let mut missed = Vec::new();
        if xoff < self.bound {
            missed.push(WORST_CASE);
        }
        if self.dynamic.is_some_and(|dynamic| xoff < dynamic) {
            missed.push(DYNAMIC);
        }
        if xoff < self.wire {
            missed.push(WIRE);
        }
        missed
    }
}

/// By which bound a verdict is given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Bound {
    /// 802.1Q's worst case, which is proved here.
    #[default]
    WorstCase,
    /// What SONiC's dynamic buffer model gives, where the chip is one that it knows.
    Sonic,
    /// What the cable alone holds there and back.
    Wire,
}

/// The bound that is proved here.
pub const WORST_CASE: &str = "802.1Q's worst case";
/// What SONiC calculates for Spectrum chips.
pub const DYNAMIC: &str = "SONiC's dynamic model";
/// What the cable alone holds.
pub const WIRE: &str = "the wire alone";

/// How deployed and derived headroom compare.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// It is enough, with this much to spare.
    Enough(Bytes),
    /// By this much it is not, and packets can be lost.
    TooSmall(Bytes),
    /// The two cannot be compared, because this is missing.
    Unknown(&'static str),
}

/// A pool of headroom that the ports of a switch share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pool {
    /// The switch or the file.
    pub of: String,
    /// The name of the pool.
    pub name: String,
    /// The size of the pool.
    pub size: Bytes,
    /// What all ports and classes that take from it need when all are paused at once.
    pub need: Bytes,
    /// The number of ports and classes that take headroom from the pool.
    pub queues: u64,
    /// How the two compare.
    pub judgement: Judgement,
}

/// Reads the files and holds them against the plan.
pub fn read(paths: &[PathBuf], terms: Terms<'_>) -> Result<Deployed, Problems> {
    judge(&Source::read_all(paths)?, terms)
}

/// Judges files that have been read already.
pub fn judge(sources: &[Source], terms: Terms<'_>) -> Result<Deployed, Problems> {
    let (mut configs, mut tables) = (Vec::new(), Vec::new());
    for source in sources {
        let refuse = |problem| source.refuse(problem);
        match recognise(&source.text) {
            Some(Format::SonicConfig) => {
                let value = sonic::parse(&source.text).map_err(refuse)?;
                configs.push(Parsed { source, value });
            }
            Some(Format::PgProfileLookup) => {
                let value = pg_profile::parse(&source.text).map_err(refuse)?;
                tables.push(Parsed { source, value });
            }
            _ => {
                let message = "nothing that has buffers in it".to_string();
                return Err(Problems::of_file(&source.file, message, READABLE));
            }
        }
    }
    let mut judge = Judge { terms, tables: &tables, found: Deployed::default() };
    for switch in gather(&configs)? {
        let of = switch.hostname.as_deref().unwrap_or(&switch.source.file).to_string();
        judge.switch(&of, &switch.config);
    }
    for table in &tables {
        judge.table(&table.source.file, &table.value);
    }
    Ok(judge.found)
}

const READABLE: &str = "--against takes SONiC's config_db.json, buffers.json, dumps of CONFIG_DB or \
    APPL_DB, and pg_profile_lookup.ini";

struct Judge<'j> {
    terms: Terms<'j>,
    tables: &'j [Parsed<'j, Vec<PgProfile>>],
    found: Deployed,
}

/// A port of a configuration.
struct Port {
    speed_mbps: Option<u32>,
    cable_m: Option<u32>,
    mtu: Bytes,
    classes: u8,
    /// What SONiC's dynamic model needs to know beside that.
    chip: Option<Chip>,
    lanes: usize,
}

impl Judge<'_> {
    fn switch(&mut self, of: &str, config: &SwitchConfig) {
        let first = self.found.rows.len();
        let mut used = Vec::new();
        for (name, groups) in &config.groups {
            for group in groups.iter().filter(|group| config.is_lossless(group)) {
                let port = self.port(of, config, name, group);
                let profile = self.profile(config, &port, &group.profile);
                used.push(profile.name.clone());
                let classes = classes_of(group.classes);
                let place = format!("{name} {classes}");
                let row = self.row(of, &port, profile);
                let mut known = self.found.rows[first..].iter_mut();
                let is_alike = |known: &&mut Row| {
                    let ports = known.ports.clone();
                    let row = row.clone();
                    **known == Row { ports, ..row }
                };
                match known.find(is_alike) {
                    Some(known) => known.ports.push(place),
                    None => {
                        let ports = vec![place];
                        self.found.rows.push(Row { ports, ..row });
                    }
                }
            }
        }
        for (name, profile) in &config.profiles {
            if let Some((speed, metres)) = profile.made_for.filter(|_| !used.contains(name)) {
                let sku = config.hwsku.as_deref().unwrap_or_default();
                let link = MadeFor { speed: speed.into(), metres: metres.into() };
                self.made_for(link, of, sku, deployed(name, profile));
            }
        }
        self.pools(of, config);
        let paused = config.port_qos.iter().filter(|(name, qos)| {
            let lossless = config.groups.get(*name).into_iter().flatten();
            let mut lossless = lossless.filter(|group| config.is_lossless(group));
            qos.pfc_enable != 0 && *name != GLOBAL && lossless.next().is_none()
        });
        match paused.count() {
            0 => {}
            count => self.found.bare.push((of.to_string(), count)),
        }
    }

    fn table(&mut self, of: &str, profiles: &[PgProfile]) {
        for profile in profiles {
            let (speed, metres) = (profile.speed_mbps.into(), profile.cable_m.into());
            // Released files have the SKU in their name.
            self.made_for(MadeFor { speed, metres }, of, of, of_table(profile));
        }
    }

    /// A row for a profile that no port has, at the speed and the length that it was made for.
    fn made_for(&mut self, link: MadeFor, of: &str, sku: &str, profile: Profile) {
        let port = Port {
            speed_mbps: u32::try_from(link.speed).ok(),
            cable_m: u32::try_from(link.metres).ok(),
            mtu: self.mtu_or_assumed(None),
            classes: self.classes(0),
            chip: Chip::of_platform(sku),
            lanes: 0,
        };
        let row = self.row(of, &port, profile);
        self.found.rows.push(row);
    }

    /// What is known of a port: from its configuration, else from the fabric, else from what the
    /// profile of its group was made for.
    fn port(&mut self, of: &str, config: &SwitchConfig, name: &str, group: &BufferGroup) -> Port {
        let port = config.ports.get(name);
        let made_for = match &group.profile {
            GroupProfile::Named(name) => config.profiles.get(name).and_then(|it| it.made_for),
            GroupProfile::Calculated => None,
        };
        let link = self.link(of, name).or(made_for);
        let speed = port.and_then(|port| port.speed_mbps);
        let mtu = port.and_then(|port| port.mtu);
        let mtu = mtu.map(|mtu| Bytes::new(u64::from(mtu)));
        Port {
            speed_mbps: speed.or(link.map(|(mbps, _)| mbps)),
            cable_m: match config.cables.get(name) {
                Some(cable) => Some(cable.metres),
                None => link.map(|(_, metres)| metres),
            },
            mtu: self.mtu_or_assumed(mtu),
            classes: self.classes(config.buffered(name).0),
            chip: config.hwsku.as_deref().and_then(Chip::of_platform),
            lanes: port.map_or(0, |port| port.lanes.len()),
        }
    }

    /// The largest frame: what the user says, what the port says, or what is usual.
    fn mtu_or_assumed(&mut self, of_port: Option<Bytes>) -> Bytes {
        let usual = self.terms.request.mtu;
        let known = self.terms.mtu.or(of_port);
        if known.is_none() {
            self.found.mtu_assumed = Some(usual);
        }
        known.unwrap_or(usual)
    }

    /// Mb/s and metres that the fabric has for a port.
    fn link(&self, of: &str, name: &str) -> Option<(u32, u32)> {
        let fabric = self.terms.fabric?;
        let node = fabric.topology.node_named(of)?;
        let mut named = fabric.topology.ports(node).iter().enumerate().filter(|(number, _)| {
            let number = pauseless_core::id::PortId(*number as u16);
            fabric.names.port(node, number) == Some(name)
        });
        let (_, port) = named.next()?;
        let mbps = u32::try_from(port.rate.as_bps() / 1_000_000).ok()?;
        let metres = port.delay.as_ps().div_ceil(headroom::PS_PER_METRE);
        Some((mbps, u32::try_from(metres).ok()?))
    }

    /// How many classes of a port are lossless.
    fn classes(&self, groups: u8) -> u8 {
        let count = groups.count_ones() as u8;
        let usual = match count {
            0 => CLASSES_USUAL,
            count => count,
        };
        self.terms.request.classes.unwrap_or(usual)
    }

    fn profile(&self, config: &SwitchConfig, port: &Port, of: &GroupProfile) -> Profile {
        if let GroupProfile::Named(name) = of
            && let Some(profile) = config.profiles.get(name).filter(|it| it.xoff.is_some())
        {
            return deployed(name, profile);
        }
        let nothing = Profile { name: "calculated".to_string(), ..Profile::default() };
        let (Some(speed), Some(metres)) = (port.speed_mbps, port.cable_m) else {
            return nothing;
        };
        let name = format!("pg_lossless_{speed}_{metres}m_profile");
        if let Some(profile) = config.profiles.get(&name) {
            return deployed(&name, profile);
        }
        let mut tables = self.tables.iter();
        let row = tables.find_map(|table| pg_profile::lookup(&table.value, speed, metres));
        row.map_or(nothing, of_table)
    }

    fn row(&self, of: &str, port: &Port, profile: Profile) -> Row {
        let derived = self.derive(port, profile.shares_headroom());
        let judgement = match (&derived, profile.xoff) {
            (Err(why), _) => Judgement::Unknown(why),
            (Ok(_), None) => Judgement::Unknown(CALCULATED),
            (Ok(derived), Some(xoff)) => compare(Bytes::new(xoff), derived.bound),
        };
        Row {
            of: of.to_string(),
            ports: Vec::new(),
            speed_mbps: port.speed_mbps,
            cable_m: port.cable_m,
            mtu: port.mtu,
            classes: port.classes,
            profile,
            derived: derived.ok(),
            judgement,
        }
    }

    fn derive(&self, port: &Port, sharing: Sharing) -> Result<Derived, &'static str> {
        let Request { reaction, rate, wire, cells, .. } = self.terms.request;
        let speed = port.speed_mbps.map(|mbps| Rate::mbps(u64::from(mbps)));
        let line = speed.or(*rate).ok_or(NO_SPEED)?;
        let length = port.cable_m.map(|metres| cable(u64::from(metres)));
        let (wire, classes) = (length.or(*wire).ok_or(NO_LENGTH)?, port.classes);
        let kind = Kind { line, wire, classes };
        let latency = kind.latency(port.mtu, reaction.span(line).map_err(|_| NO_LIMIT)?);
        let link = port
            .speed_mbps
            .zip(port.cable_m)
            .map(|(speed, metres)| MadeFor { speed: speed.into(), metres: metres.into() });
        // SONiC reckons with the reaction of the standard, which somebody knows better here.
        let known = port.chip.zip(link).filter(|_| *reaction == Reaction::Standard);
        let dynamic = known.map(|(chip, link)| {
            let dynamic = sonic_headroom::dynamic(DynamicPort {
                chip,
                link,
                mtu: port.mtu.get(),
                lanes: port.lanes,
                lossless_mtu: cells.map_or(LOSSLESS_MTU, |cells| cells.mtu_lossless.get()),
                small_percent: cells.map_or(SMALL_PERCENT, |cells| cells.small_percent.into()),
                gearbox_ns: 0,
                shares: sharing == Sharing::Shared,
            });
            Bytes::new(dynamic.xoff)
        });
        let terms = Headroom::new(&latency);
        Ok(Derived {
            equation: terms.equation,
            bound: terms.bound,
            sonic: cells.map(|cells| headroom::sonic(&latency, cells)),
            wire: Bytes::new(link.map_or(0, sonic_headroom::wire_bytes)),
            dynamic,
        })
    }

    /// The headroom that ports share, against all of them paused at once.
    fn pools(&mut self, of: &str, config: &SwitchConfig) {
        for (name, pool) in &config.pools {
            let Some(size) = pool.xoff.filter(|size| *size > 0) else {
                continue;
            };
            let (mut need, mut queues, mut is_known) = (Bytes::ZERO, 0, true);
            for (port, groups) in &config.groups {
                for group in groups.iter().filter(|group| config.is_lossless(group)) {
                    let port = self.port(of, config, port, group);
                    let derived = self.derive(&port, Sharing::Shared);
                    let count = u64::from(group.classes.count_ones());
                    queues += count;
                    match &derived {
                        Ok(derived) => need += derived.bound * count,
                        Err(_) => is_known = false,
                    }
                }
            }
            let size = Bytes::new(size);
            let judgement = if queues == 0 {
                Judgement::Unknown(NO_QUEUES)
            } else if is_known {
                compare(size, need)
            } else {
                Judgement::Unknown(NO_SPEED)
            };
            self.found.pools.push(Pool {
                of: of.to_string(),
                name: name.clone(),
                size,
                need,
                queues,
                judgement,
            });
        }
    }
}

fn compare(deployed: Bytes, needed: Bytes) -> Judgement {
    match deployed.checked_sub(needed) {
        Some(over) => Judgement::Enough(over),
        None => Judgement::TooSmall(needed - deployed),
    }
}

fn deployed(name: &str, profile: &BufferProfile) -> Profile {
    Profile {
        name: name.to_string(),
        size: profile.size,
        xon: profile.xon,
        xon_offset: profile.xon_offset,
        xoff: profile.xoff,
        threshold: profile.threshold,
    }
}

fn of_table(row: &PgProfile) -> Profile {
    Profile {
        name: String::new(),
        size: Some(row.size),
        xon: Some(row.xon),
        xon_offset: row.xon_offset,
        xoff: Some(row.xoff),
        // Whether it is dynamic is a matter of the pool, which this table does not have.
        threshold: i8::try_from(row.threshold).ok().map(Threshold::Dynamic),
    }
}

/// The groups of a mask, such as `3,4`.
fn classes_of(mask: u8) -> String {
    let set = (0..8).filter(|class| mask >> class & 1 == 1);
    Vec::from_iter(set.map(|class: u8| class.to_string())).join(",")
}

/// What the tables of SONiC start with.
const LOSSLESS_MTU: u64 = 1_024;
const SMALL_PERCENT: u64 = 50;
/// The entry of `PORT_QOS_MAP` that is the switch itself.
const GLOBAL: &str = "global";
const NO_ROWS: &str = "the files have no lossless priority group and no lossless profile";
/// Priorities 3 and 4, where nothing says how many.
const CLASSES_USUAL: u8 = 2;
const NO_SPEED: &str = "the files have no speed of the port; add config_db.json, or say --rate";
const NO_LENGTH: &str = "the files have no length of the cable; say --cable";
const NO_LIMIT: &str = "802.3 gives no reaction limit at this speed; say --quanta or --processing";
const CALCULATED: &str =
    "the switch calculates the headroom itself; add its pg_profile_lookup.ini or a dump of APPL_DB";
const NO_QUEUES: &str = "the file has no lossless group that takes from it";
