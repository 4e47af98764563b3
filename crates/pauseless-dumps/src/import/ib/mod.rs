//! InfiniBand: what `ibnetdiscover`, `opensm` and `ibdiagnet` write.
//!
//! Every format has a module with `looks_like`, which decides by the first lines, and `parse`,
//! which reads the whole or says where it is wrong. Files come from anywhere: a parser takes time
//! and memory in proportion to the length of the text, and a text that contradicts itself or
//! seems to have lost its end is refused, because half a fabric gives a wrong verdict.

pub mod cabling;
pub mod db_csv;
pub mod discover;
pub mod discover_table;
pub mod far;
pub mod fdbs;
mod guid;
pub mod lft;
pub mod lft_dump;
pub mod link_info;
pub mod opensm_log;
pub mod path_sl;
pub mod rate;
mod rows;
pub mod saquery;
pub mod sl2vl;
pub mod subnet_list;

#[cfg(test)]
mod tests;

pub use cabling::{Cabling, IbEnd, IbLink, IbNode, LID_MAX, NodeKind, PORT_MAX, PortLid};
pub use far::AdaptiveTable;
pub use lft::{Lft, NO_PORT};
pub use path_sl::{PathSl, Sender};
pub use rate::{LaneSpeed, LinkRate};
pub use sl2vl::{GuidOwner, SlVlRow};

/// The formats that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// The output of `ibnetdiscover`: cabling.
    Discover,
    /// The output of `ibnetdiscover -p`: cabling.
    DiscoverTable,
    /// `opensm-subnet.lst`, ibdiagnet's `.lst`: cabling.
    SubnetList,
    /// A file `.fdbs` of ibdiagnet: forwarding tables.
    Fdbs,
    /// `dump_lfts`, `ibroute` or `opensm-lfts.dump`: forwarding tables.
    LftDump,
    /// `opensm-sl2vl.dump`: service levels to virtual lanes.
    OpensmSlToVl,
    /// `slvl` of ibdmchk: service levels to virtual lanes.
    IbdmchkSlToVl,
    /// `psl` of ibdmchk: paths to service levels.
    PathSl,
    /// `ibdiagnet2.db_csv`, of which the cabling is read.
    DbCsv,
    /// The output of `iblinkinfo`, which has the cabling.
    LinkInfo,
    /// A file `.far` of ibdiagnet: forwarding tables with adaptive routing.
    Far,
    /// `PathRecord`s of saquery: paths to service levels.
    SaPaths,
    /// `SL2VLTableRecord`s of saquery, `smpquery sl2vl`: service levels to virtual lanes.
    SaSlToVl,
    /// The log or the configuration of opensm: the routing engine.
    Manager,
}

impl Format {
    /// Formats that say more come first: of several files with the cabling the first one counts.
    pub fn rank(self) -> u8 {
        match self {
            Format::Discover => 0,
            Format::DbCsv => 1,
            Format::SubnetList => 2,
            Format::DiscoverTable => 3,
            Format::LinkInfo => 4,
            // Their order does not matter, but opensm's log knows more than its configuration.
            _ => 5,
        }
    }
}

/// The format of a text, by its first lines.
pub fn recognise(text: &str) -> Option<Format> {
    type LooksLike = fn(&str) -> bool;
    let formats: [(Format, LooksLike); 14] = [
        (Format::Discover, discover::looks_like),
        (Format::DiscoverTable, discover_table::looks_like),
        (Format::SubnetList, subnet_list::looks_like),
        (Format::Fdbs, fdbs::looks_like),
        (Format::LftDump, lft_dump::looks_like),
        (Format::OpensmSlToVl, sl2vl::opensm::looks_like),
        (Format::IbdmchkSlToVl, sl2vl::ibdmchk::looks_like),
        (Format::PathSl, path_sl::looks_like),
        (Format::DbCsv, db_csv::looks_like),
        (Format::LinkInfo, link_info::looks_like),
        (Format::Far, far::looks_like),
        (Format::SaPaths, saquery::paths::looks_like),
        (Format::SaSlToVl, saquery::lanes::looks_like),
        (Format::Manager, opensm_log::looks_like),
    ];
    formats.iter().find(|(_, looks_like)| looks_like(text)).map(|(format, _)| *format)
}
