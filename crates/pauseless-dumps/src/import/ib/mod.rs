//! InfiniBand: what `ibnetdiscover`, `opensm` and `ibdiagnet` write.
//!
//! Every format has a module with `looks_like`, which decides by the first lines, and `parse`,
//! which reads the whole or says where it is wrong. Files come from anywhere: a parser takes time
//! and memory in proportion to the length of the text, and a text that contradicts itself or
//! seems to have lost its end is refused, because half a fabric gives a wrong verdict.

pub mod cabling;
pub mod discover;
pub mod discover_table;
pub mod fdbs;
mod guid;
pub mod lft;
pub mod lft_dump;
pub mod path_sl;
pub mod rate;
mod rows;
pub mod sl2vl;
pub mod subnet_list;

#[cfg(test)]
mod tests;

pub use cabling::{Cabling, IbEnd, IbLink, IbNode, LID_MAX, NodeKind, PORT_MAX, PortLid};
pub use lft::{Lft, NO_PORT};
pub use path_sl::PathSl;
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
}

/// The format of a text, by its first lines.
pub fn recognise(text: &str) -> Option<Format> {
    type LooksLike = fn(&str) -> bool;
    let formats: [(Format, LooksLike); 8] = [
        (Format::Discover, discover::looks_like),
        (Format::DiscoverTable, discover_table::looks_like),
        (Format::SubnetList, subnet_list::looks_like),
        (Format::Fdbs, fdbs::looks_like),
        (Format::LftDump, lft_dump::looks_like),
        (Format::OpensmSlToVl, sl2vl::opensm::looks_like),
        (Format::IbdmchkSlToVl, sl2vl::ibdmchk::looks_like),
        (Format::PathSl, path_sl::looks_like),
    ];
    formats.iter().find(|(_, looks_like)| looks_like(text)).map(|(format, _)| *format)
}
