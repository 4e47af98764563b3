//! `ibnetdiscover`: one block per node with a line for each port that has a cable.
//!
//! ibsim reads the same format, written by hand and without what the comments say: then there
//! are no LIDs and no rates, and a cable may be listed at one end only.

use std::ops::Range;

use super::cabling::{
    Builder, Cabling, IbEnd, IbLink, LMC_MAX, NodeKind, NodeSeen, PORT_MAX, PortLid, assigned_lid,
};
use super::guid::bare_guid;
use super::rate::{LaneSpeed, LinkRate, SPEEDS, WIDTHS, is_unknown, width_from_name};
use pauseless_text::lex::{Line, Lines, Word, nothing, quoted};
use pauseless_text::problem::Problem;

/// Whether the first line with anything on it is one of this format.
pub fn looks_like(text: &str) -> bool {
    let mut lines = Lines::new(text).filter(|line| !line.rest().trim().is_empty());
    let first = lines.find(|line| !line.rest().starts_with('#') || is_title(line.rest()));
    first.is_some_and(|mut line| {
        is_title(line.rest())
            || KEYS.iter().any(|key| line.rest().starts_with(key))
            || is_header(&mut line)
    })
}

/// Reads the cabling of a subnet.
pub fn parse(text: &str) -> Result<Cabling, Problem> {
    let mut reader =
        Reader { builder: Builder::new(text), ports: Vec::new(), block: None, guid: None };
    for line in Lines::new(text) {
        reader.line(line)?;
    }
    if reader.builder.nodes().is_empty() {
        let help = "ibnetdiscover writes blocks that begin with `Switch` or `Ca`";
        return Err(nothing("switch or adapter", help));
    }
    for port in std::mem::take(&mut reader.ports) {
        connect(&mut reader.builder, port)?;
    }
    reader.builder.finish()
}

struct Reader<'t> {
    builder: Builder<'t>,
    /// Ports wait until all nodes are known, because their peers may come later.
    ports: Vec<Port>,
    /// The node to which port lines belong.
    block: Option<usize>,
    /// What `switchguid=` or `caguid=` announced for the next block.
    guid: Option<u64>,
}

/// What a port line says.
struct Port {
    end: IbEnd,
    peer: u64,
    peer_kind: NodeKind,
    peer_port: u8,
    peer_lid: Option<u16>,
    rate: Option<LinkRate>,
    at: Range<usize>,
}

impl<'t> Reader<'t> {
    fn line(&mut self, mut line: Line<'t>) -> Result<(), Problem> {
        if line.is_done() {
            self.block = None;
            return Ok(());
        }
        let rest = line.rest();
        if rest.starts_with('#') || HEADINGS.iter().any(|heading| rest.starts_with(heading)) {
            return Ok(());
        }
        if rest.starts_with('[') {
            let port = self.port(&mut line)?;
            self.ports.push(port);
            return Ok(());
        }
        if let Some(key) = KEYS.iter().find(|key| rest.starts_with(**key)) {
            self.block = None;
            line.expect(key)?;
            return self.value(key, line);
        }
        let name = line.word();
        let Some(&(_, kind)) = KINDS.iter().find(|(known, _)| *known == name.text) else {
            let message = format!("{} begins no line of ibnetdiscover", quoted(name.text));
            let expected = "`Switch`, `Ca`, `[port]`, `vendid=` or the like";
            return Err(name.problem(message).expected(expected));
        };
        self.block = Some(self.header(kind, &mut line)?);
        Ok(())
    }

    fn value(&mut self, key: &str, mut line: Line<'t>) -> Result<(), Problem> {
        let value = line.until(|byte| matches!(byte, b'(' | b' ' | b'\t'));
        let number = value.prefixed_hex(u64::MAX, "an identifier")?;
        if key.ends_with("guid=") && key != "sysimgguid=" {
            self.guid = Some(number);
        }
        if line.eat("(") {
            line.until(|byte| byte == b')').hex(u64::MAX, "a GUID")?;
            line.expect(")")?;
        }
        line.expect_end()
    }

    fn header(&mut self, kind: NodeKind, line: &mut Line<'t>) -> Result<usize, Problem> {
        let at = line.range();
        let port_count = line.word().decimal(PORT_MAX.into(), "a number of ports")?;
        let (name, guid) = node_name(line, kind)?;
        if let Some(announced) = self.guid.take().filter(|announced| *announced != guid) {
            let message =
                format!("{name} follows the GUID {announced:#x}", name = quoted(name.text));
            return Err(name.problem(message).expected("the GUID of the line above"));
        }
        let comment = header_comment(kind, line)?;
        let node = self.builder.node(NodeSeen {
            guid,
            kind,
            port_count: Some(port_count as u16),
            description: comment.description,
            at: at.clone(),
        })?;
        if let Some(lid) = comment.lid {
            self.builder.lid(node, lid, at)?;
        }
        Ok(node)
    }

    fn port(&mut self, line: &mut Line<'t>) -> Result<Port, Problem> {
        let at = line.range();
        let Some(node) = self.block else {
            let message = "a port outside of any block";
            let expected = "the line of a switch or adapter above it";
            return Err(Problem::new(at, message).expected(expected));
        };
        let kind = self.builder.nodes()[node].kind;
        let (port, guid) = bracketed_port(line)?;
        if let Some(guid) = guid {
            self.builder.port_guid(IbEnd { node, port }, guid);
        }
        let peer_kind = match line.rest().trim_start().get(1..2) {
            Some("S") => NodeKind::Switch,
            _ => NodeKind::Adapter,
        };
        let (_, peer) = node_name(line, peer_kind)?;
        let (peer_port, _) = bracketed_port(line)?;
        let mut seen = Port {
            end: IbEnd { node, port },
            peer,
            peer_kind,
            peer_port,
            peer_lid: None,
            rate: None,
            at: at.clone(),
        };
        if line.is_done() {
            return Ok(seen);
        }
        line.expect("#")?;
        let own = match kind {
            NodeKind::Switch => None,
            NodeKind::Adapter => own_lid(line, port)?,
        };
        if let Some(lid) = own {
            self.builder.lid(node, lid, at)?;
        }
        peer_comment(line, &mut seen)?;
        Ok(seen)
    }
}

/// A name such as `"S-0002c90200423e60"`, and the GUID in it.
fn node_name<'t>(line: &mut Line<'t>, kind: NodeKind) -> Result<(Word<'t>, u64), Problem> {
    line.expect("\"")?;
    let name = line.until(|byte| byte == b'"');
    line.expect("\"")?;
    let digits = match kind {
        NodeKind::Switch => name.text.strip_prefix("S-"),
        NodeKind::Adapter => ["H-", "R-"].iter().find_map(|p| name.text.strip_prefix(p)),
    };
    let Some(digits) = digits else {
        let message = format!("{} is not the name of a node", quoted(name.text));
        let expected = match kind {
            NodeKind::Switch => "`S-` and the GUID of a switch",
            NodeKind::Adapter => "`H-` or `R-` and the GUID of an adapter or router",
        };
        return Err(name
            .problem(message)
            .expected(expected)
            .help("names of your own, as ibsim accepts them, have no GUID: use those of a dump"));
    };
    let digits = name.part(name.text.len() - digits.len()..name.text.len());
    Ok((name, bare_guid(digits)?))
}

/// `[1]`, which may be followed by `[ext 5]` and by the GUID of the port in parentheses: the port and
/// the GUID.
fn bracketed_port(line: &mut Line<'_>) -> Result<(u8, Option<u64>), Problem> {
    line.expect("[")?;
    let port = line.until(|byte| byte == b']');
    let port = port.decimal(PORT_MAX.into(), "a port")?;
    line.expect("]")?;
    if line.eat("[ext") {
        line.word();
    }
    let mut guid = None;
    if line.eat("(") {
        guid = Some(line.until(|byte| byte == b')').hex(u64::MAX, "a GUID")?);
        line.expect(")")?;
    }
    Ok((port as u8, guid))
}

struct HeaderComment<'t> {
    description: &'t str,
    lid: Option<PortLid>,
}

/// `# "name" enhanced port 0 lid 3 lmc 0` on a switch, `# "name"` on an adapter, or nothing.
fn header_comment<'t>(kind: NodeKind, line: &mut Line<'t>) -> Result<HeaderComment<'t>, Problem> {
    let mut comment = HeaderComment { description: "", lid: None };
    if line.is_done() {
        return Ok(comment);
    }
    line.expect("#")?;
    comment.description = description(line)?;
    if kind == NodeKind::Switch {
        if !line.eat("base") {
            line.expect("enhanced")?;
        }
        line.expect("port 0")?;
        comment.lid = own_lid(line, 0)?;
    }
    Ok(comment)
}

/// A text in quotes. It may have quotes of its own, since nothing after it has any.
fn description<'t>(line: &mut Line<'t>) -> Result<&'t str, Problem> {
    line.expect("\"")?;
    match line.up_to_last("\"") {
        Some(description) => Ok(description.text),
        None => {
            let problem = Problem::new(line.here(), "the description has no end");
            Err(problem.expected("a second quote").help("is the file cut off?"))
        }
    }
}

/// `lid 7 lmc 0`, of the port of this line.
fn own_lid(line: &mut Line<'_>, port: u8) -> Result<Option<PortLid>, Problem> {
    let lid = lid(line)?;
    line.expect("lmc")?;
    let lmc = line.word().decimal(LMC_MAX, "an LMC")? as u8;
    Ok(lid.map(|lid| PortLid { port, lid, lmc }))
}

fn lid(line: &mut Line<'_>) -> Result<Option<u16>, Problem> {
    line.expect("lid")?;
    let lid = line.word();
    assigned_lid(lid.decimal(u16::MAX.into(), "a LID")?, lid.at())
}

/// `"name" lid 4 4xNDR`, of the other end.
fn peer_comment(line: &mut Line<'_>, port: &mut Port) -> Result<(), Problem> {
    description(line)?;
    port.peer_lid = lid(line)?;
    if line.is_done() {
        return Err(line.unexpected("a rate such as 4xNDR"));
    }
    port.rate = rate(line.word())?;
    // `-f` adds these codes of the rate, and devices of one vendor their slot.
    while !line.is_done() {
        let extra = line.word();
        let is_code = ["s=", "w=", "e=", "v="].iter().any(|key| extra.text.starts_with(key));
        let is_slot = extra.text == "slot" && line.word().decimal(u64::MAX, "a slot").is_ok();
        if !is_code && !is_slot && extra.text != "(scp)" {
            let message = format!("{} after the rate", quoted(extra.text));
            return Err(extra.problem(message).expected("the end of the line"));
        }
    }
    Ok(())
}

/// A rate such as `4xNDR`; `None` where the tool printed question marks.
fn rate(word: Word<'_>) -> Result<Option<LinkRate>, Problem> {
    let split = word.text.find('x').map_or(0, |x| x + 1);
    let (width, speed) = word.text.split_at(split);
    let width = width_from_name(width);
    let known = width.zip(LaneSpeed::from_name(speed));
    let unknown = is_unknown(word.text) || (width.is_some() && is_unknown(speed));
    if known.is_none() && !unknown {
        let message = format!("{} is not a rate of a link", quoted(word.text));
        let expected = format!("{WIDTHS}, then {SPEEDS}");
        return Err(word.problem(message).expected("a rate such as 4xNDR").help(expected));
    }
    Ok(known.map(|(width, speed)| LinkRate { width, speed }))
}

/// Adds a cable, now that all nodes are known.
fn connect(builder: &mut Builder<'_>, port: Port) -> Result<(), Problem> {
    let Some(peer) = builder.find(port.peer) else {
        let message = format!(
            "{} is cabled to {} {:#018x}, which has no block of its own",
            builder.end_name(port.end),
            port.peer_kind,
            port.peer,
        );
        return Err(Problem::new(port.at, message)
            .expected("a node of this file")
            .help("is the file cut off?"));
    };
    let kind = builder.nodes()[peer].kind;
    if kind != port.peer_kind {
        let message = format!(
            "{:#018x} is called a {} here, but has the block of a {kind}",
            port.peer, port.peer_kind
        );
        return Err(Problem::new(port.at, message).expected(format!("the name of a {kind}")));
    }
    if let Some(lid) = port.peer_lid {
        let lid_port = match kind {
            NodeKind::Switch => 0,
            NodeKind::Adapter => port.peer_port,
        };
        let own = builder.lid_of(peer, lid_port).map(|own| own.lid);
        if own != Some(lid) {
            let own = own.map_or("none".to_string(), |own| format!("LID {own}"));
            let message = format!(
                "{} has LID {lid} here, but {own} in its own block",
                builder.end_name(IbEnd { node: peer, port: lid_port }),
            );
            return Err(Problem::new(port.at, message)
                .expected("the same LID in both places")
                .help("is the file cut off, or did LIDs change during the dump?"));
        }
    }
    builder.link(IbLink {
        ends: [port.end, IbEnd { node: peer, port: port.peer_port }],
        rate: port.rate,
        at: port.at,
    })?;
    Ok(())
}

fn is_header(line: &mut Line<'_>) -> bool {
    let (kind, ports) = (line.word(), line.word());
    KINDS.iter().any(|(name, _)| kind.text == *name) && ports.decimal(u64::MAX, "").is_ok()
}

fn is_title(line: &str) -> bool {
    line.starts_with("# Topology file: generated on")
}

const KEYS: [&str; 8] = [
    "vendid=",
    "devid=",
    "sysimgguid=",
    "switchguid=",
    "caguid=",
    "hcaguid=",
    "rtguid=",
    "routerguid=",
];
const KINDS: [(&str, NodeKind); 4] = [
    ("Switch", NodeKind::Switch),
    ("Ca", NodeKind::Adapter),
    ("Hca", NodeKind::Adapter),
    ("Rt", NodeKind::Adapter),
];
/// Lines between the blocks when nodes are grouped by chassis (`-g`).
const HEADINGS: [&str; 2] = ["Chassis ", "Non-Chassis Nodes"];
