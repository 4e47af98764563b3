//! The configuration of a SONiC switch: ports, cables, buffers, PFC, QoS maps and neighbours.
//!
//! Accepted are `config_db.json` with its tables as objects, dumps with flat keys
//! (`"BUFFER_PG|Ethernet0|3-4"`), dumps of APPL_DB (`"BUFFER_PG_TABLE:Ethernet0:3-4"`), and those
//! of `sonic-db-dump -y`, which wrap every entry in `{"type": "hash", "value": {..}}`.
//! What cannot be true is a [`Problem`]; what an operator would want to know and may be meant so
//! is one of [`SwitchConfig::warnings`].

mod check;
mod config;
mod field;
mod layer3;
mod read;
mod table;
#[cfg(test)]
mod tests;

pub use config::{
    Action, BufferGroup, BufferPool, BufferProfile, Cable, Direction, GroupProfile, Layer3,
    MapKind, Mode, Neighbour, Port, PortQos, QosMap, SwitchConfig, Threshold, Tunnel, Warning,
    Watchdog,
};

use super::json::Value;
use pauseless_text::problem::Problem;

/// Whether `text` is meant to be a configuration or a dump of SONiC: it has one of the tables.
pub fn looks_like(text: &str) -> bool {
    if !text.trim_start().starts_with('{') {
        return false;
    }
    // Table names are upper case, so that only few quotes need a second look.
    let names = text.match_indices('"').map(|(quote, _)| &text[quote + 1..]);
    names.filter(|name| name.starts_with(|c: char| c.is_ascii_uppercase())).any(|name| {
        let end = name.find(['"', '|', ':']).unwrap_or(name.len());
        table::Table::named(&name[..end]).is_some()
    })
}

/// Reads a configuration or a dump.
pub fn parse(text: &str) -> Result<SwitchConfig, Problem> {
    let root = Value::whole(text, "a switch configuration")?;
    let tables = table::Tables::split(&root)?;
    let mut config = read::read(&tables)?;
    check::check(text, &mut config)?;
    Ok(config)
}
