//! From one of the shapes of a dump to entries: table, key and fields.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::config::MapKind;
use crate::import::ethernet::json::{Member, Value};
use crate::import::ethernet::quoted;
use pauseless_text::problem::Problem;

/// The tables that are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Table {
    DeviceMetadata,
    Port,
    CableLength,
    BufferPool,
    BufferProfile,
    BufferPg,
    PortQosMap,
    Map(MapKind),
    Tunnel,
    PfcWd,
    DeviceNeighbor,
    Interface,
    LagMember,
    VlanMember,
    Route,
    NextHopGroup,
    Neighbour,
    Learned,
    Lldp,
}

impl Table {
    /// The table of this name, in CONFIG_DB or with the ending that it has in APPL_DB.
    pub fn named(name: &str) -> Option<Table> {
        let name = name.strip_suffix("_TABLE").unwrap_or(name);
        NAMES.iter().find(|(known, _)| *known == name).map(|(_, table)| *table)
    }

    /// Whether its keys have addresses, whose colons separate nothing.
    fn has_addresses(self) -> bool {
        use Table::{Interface, Learned, Neighbour, Route};
        matches!(self, Interface | Learned | Neighbour | Route)
    }

    /// Its name in CONFIG_DB.
    pub fn name(self) -> &'static str {
        NAMES.iter().find(|(_, table)| *table == self).map_or("", |(name, _)| name)
    }
}

/// One entry of a table.
#[derive(Clone, Debug)]
pub(super) struct Entry<'t> {
    pub table: Table,
    /// The key of the entry, with `|` between its parts.
    pub key: String,
    pub key_at: Range<usize>,
    pub fields: Vec<Member<'t>>,
}

/// All entries of a file.
#[derive(Debug, Default)]
pub(super) struct Tables<'t> {
    entries: BTreeMap<Table, Vec<Entry<'t>>>,
    ignored: BTreeSet<String>,
    seen: BTreeSet<(Table, String)>,
}

impl<'t> Tables<'t> {
    /// Sorts the entries of a file by table.
    pub fn split(root: &Value<'t>) -> Result<Tables<'t>, Problem> {
        let mut tables = Tables::default();
        for member in root.members("the file")? {
            match member.name.find(['|', ':']) {
                Some(separator) => tables.flat(&member, separator)?,
                None => tables.nested(&member)?,
            }
        }
        if tables.entries.is_empty() {
            let problem = Problem::new(root.at(), "none of SONiC's tables is in this file");
            return Err(problem.expected("PORT, BUFFER_PG, PORT_QOS_MAP, DEVICE_NEIGHBOR, .."));
        }
        Ok(tables)
    }

    pub fn of(&self, table: Table) -> &[Entry<'t>] {
        self.entries.get(&table).map_or(&[], Vec::as_slice)
    }

    pub fn ignored(&self) -> Vec<String> {
        self.ignored.iter().cloned().collect()
    }

    /// `"TABLE|key": {..}`, or `"TABLE:key": {..}` in APPL_DB.
    fn flat(&mut self, member: &Member<'t>, separator: usize) -> Result<(), Problem> {
        let (name, key) = (&member.name[..separator], &member.name[separator + 1..]);
        let Some(table) = Table::named(name) else {
            self.ignored.insert(name.to_string());
            return Ok(());
        };
        let key = match member.name.as_bytes()[separator] {
            b':' if !table.has_addresses() => key.replace(':', "|"),
            _ => key.to_string(),
        };
        let fields = fields_of(&member.value, &member.name)?;
        self.add(Entry { table, key, key_at: member.name_at.clone(), fields })
    }

    /// Reads a table that is an object of objects: `"TABLE": {"key": {..}}`.
    fn nested(&mut self, member: &Member<'t>) -> Result<(), Problem> {
        let Some(table) = Table::named(&member.name) else {
            self.ignored.insert(member.name.to_string());
            return Ok(());
        };
        // A table that is present and empty still says that its keys are not configured.
        self.entries.entry(table).or_default();
        for entry in member.value.members(table.name())? {
            let fields = fields_of(&entry.value, &format!("{}|{}", table.name(), entry.name))?;
            self.add(Entry { table, key: entry.name.into_owned(), key_at: entry.name_at, fields })?;
        }
        Ok(())
    }

    fn add(&mut self, entry: Entry<'t>) -> Result<(), Problem> {
        let key = (entry.table, entry.key.clone());
        if !self.seen.insert(key) {
            let what = quoted(&format!("{}|{}", entry.table.name(), entry.key));
            let problem = Problem::new(entry.key_at, format!("{what} is twice in the file"));
            return Err(problem.help("delete one of them: only one can be meant"));
        }
        if entry.key.is_empty() {
            let message = format!("an empty key in {}", entry.table.name());
            return Err(Problem::new(entry.key_at, message).expected("a name"));
        }
        // The port table of APPL_DB also says how far the switch has come in starting.
        let is_progress = matches!(entry.key.as_str(), "PortInitDone" | "PortConfigDone");
        if !(entry.table == Table::Port && is_progress) {
            self.entries.entry(entry.table).or_default().push(entry);
        }
        Ok(())
    }
}

/// The fields of an entry, unwrapped if a dump of Redis has wrapped them.
fn fields_of<'t>(value: &Value<'t>, what: &str) -> Result<Vec<Member<'t>>, Problem> {
    let what = quoted(what);
    let fields = value.members(&what)?;
    let wrapped = fields.iter().find(|field| field.name == "value");
    match wrapped {
        Some(wrapped) if wrapped.value.is_object() => wrapped.value.members(&what),
        _ => Ok(fields),
    }
}

const NAMES: [(&str, Table); 32] = [
    ("DEVICE_METADATA", Table::DeviceMetadata),
    ("PORT", Table::Port),
    ("CABLE_LENGTH", Table::CableLength),
    ("BUFFER_POOL", Table::BufferPool),
    ("BUFFER_PROFILE", Table::BufferProfile),
    ("BUFFER_PG", Table::BufferPg),
    ("PORT_QOS_MAP", Table::PortQosMap),
    ("DSCP_TO_TC_MAP", Table::Map(MapKind::DscpToTc)),
    ("DOT1P_TO_TC_MAP", Table::Map(MapKind::Dot1pToTc)),
    ("TC_TO_PRIORITY_GROUP_MAP", Table::Map(MapKind::TcToPriorityGroup)),
    ("TC_TO_QUEUE_MAP", Table::Map(MapKind::TcToQueue)),
    ("TC_TO_DSCP_MAP", Table::Map(MapKind::TcToDscp)),
    ("MAP_PFC_PRIORITY_TO_QUEUE", Table::Map(MapKind::PfcToQueue)),
    // The name in some documents and in older images.
    ("PFC_PRIORITY_TO_QUEUE_MAP", Table::Map(MapKind::PfcToQueue)),
    ("PFC_PRIORITY_TO_PRIORITY_GROUP_MAP", Table::Map(MapKind::PfcToPriorityGroup)),
    ("TUNNEL", Table::Tunnel),
    ("PFC_WD", Table::PfcWd),
    ("DEVICE_NEIGHBOR", Table::DeviceNeighbor),
    ("INTERFACE", Table::Interface),
    ("PORTCHANNEL_INTERFACE", Table::Interface),
    ("VLAN_INTERFACE", Table::Interface),
    ("VLAN_SUB_INTERFACE", Table::Interface),
    ("LOOPBACK_INTERFACE", Table::Interface),
    // The names from here on are those of APPL_DB, but for the members.
    ("INTF", Table::Interface),
    ("PORTCHANNEL_MEMBER", Table::LagMember),
    ("LAG_MEMBER", Table::LagMember),
    ("VLAN_MEMBER", Table::VlanMember),
    ("ROUTE", Table::Route),
    ("NEXTHOP_GROUP", Table::NextHopGroup),
    ("NEIGH", Table::Neighbour),
    ("FDB", Table::Learned),
    ("LLDP_ENTRY", Table::Lldp),
];
