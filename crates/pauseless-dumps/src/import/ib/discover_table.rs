//! `ibnetdiscover -p`: one line per port, with its peer if it has one.
//!
//! The table has the GUIDs of ports, not of nodes, so that each port of an adapter is a node
//! here. It has neither LMCs nor numbers of ports.

use super::cabling::{
    Builder, Cabling, IbLink, NodeKind, NodeSeen, PORT_MAX, PortSeen, assigned_lid,
};
use super::guid::guid;
use super::rate::{LaneSpeed, LinkRate, SPEEDS, WIDTHS, is_unknown, width_from_name};
use pauseless_text::lex::{Line, Lines, Word, nothing, quoted};
use pauseless_text::problem::Problem;

/// Whether the first line with anything on it is one of this format.
pub fn looks_like(text: &str) -> bool {
    Lines::new(text).find(|line| !line.rest().trim().is_empty()).is_some_and(|mut line| {
        let words = [(); 4].map(|()| line.word());
        KINDS.iter().any(|(name, _)| *name == words[0].text)
            && words[1].decimal(u64::MAX, "").is_ok()
            && words[2].decimal(u64::MAX, "").is_ok()
            && words[3].text.starts_with("0x")
    })
}

/// Reads the cabling of a subnet.
pub fn parse(text: &str) -> Result<Cabling, Problem> {
    let mut builder = Builder::new(text);
    for mut line in Lines::new(text) {
        if line.is_done() {
            continue;
        }
        parse_row(&mut builder, &mut line)?;
    }
    if builder.nodes().is_empty() {
        let help = "ibnetdiscover -p writes lines that begin with `SW` or `CA`";
        return Err(nothing("line for a port", help));
    }
    builder.finish()
}

fn parse_row(builder: &mut Builder<'_>, line: &mut Line<'_>) -> Result<(), Problem> {
    let at = line.range();
    let mut near = parse_end(line)?;
    let rate = parse_rate(line)?;
    if !line.eat("-") {
        line.expect("'")?;
        let Some(description) = line.up_to_last("'") else {
            let problem = Problem::new(line.here(), "the description has no end");
            return Err(problem.expected("a second quote").help("is the file cut off?"));
        };
        line.expect_end()?;
        near.node.description = description.text;
        return builder.end(near).map(|_| ());
    }
    let mut far = parse_end(line)?;
    line.expect("( '")?;
    let start = line.here();
    let Some(descriptions) = line.up_to_last("' )") else {
        let problem = Problem::new(start, "the descriptions have no end");
        return Err(problem.expected("`' )`").help("is the file cut off?"));
    };
    line.expect_end()?;
    let mut parts = descriptions.text.split("' - '");
    let (Some(one), Some(other), None) = (parts.next(), parts.next(), parts.next()) else {
        let message = "it is not clear where the first description ends";
        return Err(descriptions
            .problem(message)
            .expected("`' - '` once, between the descriptions")
            .help("rename the node, or use ibnetdiscover without -p"));
    };
    (near.node.description, far.node.description) = (one, other);
    let guids = [near.node.guid, far.node.guid];
    let ends = [builder.end(near)?, builder.end(far)?];
    for (end, guid) in ends.into_iter().zip(guids) {
        builder.port_guid(end, guid);
    }
    builder.link(IbLink { ends, rate, at })?;
    Ok(())
}

/// An end of a cable, without the description of its node, which stands further on.
fn parse_end<'t>(line: &mut Line<'t>) -> Result<PortSeen<'t>, Problem> {
    let name = line.word();
    let kind = name.keyword(&KINDS, "is not a kind of node")?;
    let lid = line.word();
    let lid = assigned_lid(lid.decimal(u16::MAX.into(), "a LID")?, lid.at())?;
    let port = line.word().decimal(PORT_MAX.into(), "a port")? as u8;
    let guid = guid(line.word())?;
    let at = name.start..line.here().start;
    Ok(PortSeen { node: NodeSeen { guid, kind, port_count: None, description: "", at }, lid, port })
}

fn parse_rate(line: &mut Line<'_>) -> Result<Option<LinkRate>, Problem> {
    let (width, speed) = (line.word(), line.word());
    let known_width = width_from_name(width.text);
    let known_speed = LaneSpeed::from_name(speed.text);
    let complain = |word: Word<'_>, what: &str, expected: &str| {
        Err(word.problem(format!("{} is not a {what}", quoted(word.text))).expected(expected))
    };
    if known_width.is_none() && !is_unknown(width.text) {
        return complain(width, "width of a link", WIDTHS);
    }
    if known_speed.is_none() && !is_unknown(speed.text) {
        return complain(speed, "speed of a link", SPEEDS);
    }
    Ok(known_width.zip(known_speed).map(|(width, speed)| LinkRate { width, speed }))
}

const KINDS: [(&str, NodeKind); 3] =
    [("SW", NodeKind::Switch), ("CA", NodeKind::Adapter), ("RT", NodeKind::Adapter)];
