//! `iblinkinfo`: the ports of each switch and adapter with their cables.
//!
//! Adapters have the GUIDs of their ports, so that each port of one is a node here, and the other
//! end of a cable has no GUID at all, only a LID. It has no LMC.

use std::collections::BTreeMap;
use std::ops::Range;

use super::cabling::{
    Builder, Cabling, IbEnd, IbLink, NodeKind, NodeSeen, PORT_MAX, PortSeen, assigned_lid,
};
use super::guid::guid;
use super::rate::{LaneSpeed, LinkRate, width_from_name};
use pauseless_text::lex::{Line, Lines, Word, nothing};
use pauseless_text::problem::Problem;

/// Whether the first line with anything on it begins a node, or is a row of `iblinkinfo -l`.
pub fn looks_like(text: &str) -> bool {
    let lines = Lines::new(text).map(|line| line.rest().trim());
    let mut lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.next().is_some_and(|first| {
        let is_block = first.starts_with("Switch: 0x") || first.starts_with("CA: ");
        (is_block && lines.next().is_some_and(|row| row.contains("==("))) || is_long(first)
    })
}

/// Reads the cabling of a subnet.
pub fn parse(text: &str) -> Result<Cabling, Problem> {
    let mut reader = Reader {
        builder: Builder::new(text),
        block: None,
        cables: Vec::new(),
        owners: BTreeMap::new(),
    };
    for line in Lines::new(text) {
        reader.line(line)?;
    }
    if reader.builder.nodes().is_empty() {
        return Err(nothing("switch or adapter", "iblinkinfo prints blocks of them"));
    }
    reader.connect()
}

struct Reader<'t> {
    builder: Builder<'t>,
    block: Option<Block<'t>>,
    cables: Vec<Cable>,
    /// The node that has each LID.
    owners: BTreeMap<u16, usize>,
}

/// The node whose rows follow.
#[derive(Clone, Copy)]
enum Block<'t> {
    Switch { guid: u64, description: &'t str },
    Adapter { description: &'t str },
}

/// A cable whose other end may come later.
struct Cable {
    end: IbEnd,
    peer_lid: u16,
    peer_port: u8,
    rate: Option<LinkRate>,
    at: Range<usize>,
}

impl<'t> Reader<'t> {
    fn line(&mut self, mut line: Line<'t>) -> Result<(), Problem> {
        let start = line.rest().trim();
        if start.is_empty() || start.starts_with('#') {
            return Ok(());
        }
        if is_long(start) {
            return Err(line
                .problem("rows of iblinkinfo -l do not say which nodes are switches")
                .help("run iblinkinfo without -l"));
        }
        if line.eat("Switch:") {
            line.skip_blanks();
            let guid = guid(line.word())?;
            line.skip_blanks();
            let description = line.rest().trim().trim_end_matches(':');
            self.block = Some(Block::Switch { guid, description });
            return Ok(());
        }
        if line.eat("CA:") || line.eat("RT:") {
            line.skip_blanks();
            self.block =
                Some(Block::Adapter { description: line.rest().trim().trim_end_matches(':') });
            return Ok(());
        }
        let Some(block) = self.block else {
            return Err(line.unexpected("`Switch: 0x..` or `CA: ..`"));
        };
        self.row(line, block)
    }

    /// `3    1[  ] ==( 4X  25.78125 Gbps Active/ LinkUp)==>  7   1[  ] "name" ( )`, on adapters with
    /// the GUID of the port before it.
    fn row(&mut self, mut line: Line<'t>, block: Block<'t>) -> Result<(), Problem> {
        let at = line.range();
        let (guid, kind, description) = match block {
            Block::Switch { guid, description } => (guid, NodeKind::Switch, description),
            Block::Adapter { description } => {
                line.skip_blanks();
                (guid(line.word())?, NodeKind::Adapter, description)
            }
        };
        line.skip_blanks();
        let (lid, port) = lid_and_port(&mut line)?;
        line.skip_blanks();
        line.expect("==(")?;
        let Some(state) = line.up_to(")==>") else {
            return Err(line.unexpected("`)==>`"));
        };
        let node = NodeSeen { guid, kind, port_count: None, description, at: at.clone() };
        let end = self.builder.end(PortSeen { node, lid, port })?;
        if let Some(lid) = lid {
            self.owners.insert(lid, end.node);
        }
        if !state.text.contains("LinkUp") {
            return Ok(());
        }
        line.skip_blanks();
        if !line.rest().starts_with(|c: char| c.is_ascii_digit()) {
            // A port that is up and whose other end did not answer.
            return Ok(());
        }
        let (peer_lid, peer_port) = lid_and_port(&mut line)?;
        let Some(peer_lid) = peer_lid else {
            return Err(Problem::new(at, "the other end of this cable has no LID")
                .help("is the subnet manager running? or use ibnetdiscover"));
        };
        self.cables.push(Cable { end, peer_lid, peer_port, rate: rate(state.text), at });
        Ok(())
    }

    /// Joins the ends of all cables.
    fn connect(mut self) -> Result<Cabling, Problem> {
        for Cable { end, peer_lid, peer_port, rate, at } in std::mem::take(&mut self.cables) {
            let Some(&node) = self.owners.get(&peer_lid) else {
                let message = format!(
                    "{} is cabled to LID {peer_lid}, which has no block of its own",
                    self.builder.end_name(end)
                );
                return Err(Problem::new(at, message)
                    .expected("a node of this file")
                    .help("is the file cut off, or was it made with --switches-only?"));
            };
            self.builder.see_port(node, peer_port);
            self.builder.link(IbLink { ends: [end, IbEnd { node, port: peer_port }], rate, at })?;
        }
        self.builder.finish()
    }
}

/// `6    1[  ]`: a LID and a port, with the number on the case in brackets.
fn lid_and_port(line: &mut Line<'_>) -> Result<(Option<u16>, u8), Problem> {
    let lid = line.word();
    let lid = assigned_lid(lid.decimal(u16::MAX.into(), "a LID")?, lid.at())?;
    line.skip_blanks();
    let port: Word<'_> = line.until(|byte| byte == b'[');
    let port = port.decimal(PORT_MAX.into(), "a port")? as u8;
    line.expect("[")?;
    if line.up_to("]").is_none() {
        return Err(line.unexpected("`]`"));
    }
    Ok((lid, port))
}

/// The rate in ` 4X  25.78125 Gbps Active/ LinkUp`, if it is a known one.
fn rate(state: &str) -> Option<LinkRate> {
    let mut words = state.split_whitespace();
    let width = width_from_name(&words.next()?.to_ascii_lowercase())?;
    let speed = match words.next()? {
        "2.5" => LaneSpeed::Sdr,
        "5.0" => LaneSpeed::Ddr,
        "10.0" if state.contains("FDR10") => LaneSpeed::Fdr10,
        "10.0" => LaneSpeed::Qdr,
        "14.0625" => LaneSpeed::Fdr,
        "25.78125" => LaneSpeed::Edr,
        "53.125" => LaneSpeed::Hdr,
        "106.25" => LaneSpeed::Ndr,
        "212.5" => LaneSpeed::Xdr,
        _ => return None,
    };
    Some(LinkRate { width, speed })
}

/// A row of `iblinkinfo -l`.
fn is_long(line: &str) -> bool {
    line.starts_with("0x") && line.contains("==(") && line.contains('"')
}
