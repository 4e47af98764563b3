//! `opensm-subnet.lst` and ibdiagnet's `.lst`: one line per port that has a cable.
//!
//! All numbers are hexadecimal, those of ports as well. The file has no LMC. Every cable is
//! listed from both ends, so that a file that stops early can be told from a whole one.

use std::ops::Range;

use super::cabling::{
    Builder, Cabling, IbLink, NodeKind, NodeSeen, PORT_MAX, PortSeen, assigned_lid,
};
use super::guid::bare_guid;
use super::rate::{LaneSpeed, LinkRate, WIDTHS, is_unknown, width_from_name};
use pauseless_text::lex::{Line, Lines, Word, nothing, quoted};
use pauseless_text::problem::Problem;

/// Whether the first line with anything on it is one of this format.
pub fn looks_like(text: &str) -> bool {
    Lines::new(text)
        .find(|line| !line.rest().trim().is_empty())
        .is_some_and(|mut line| line.eat("{") && KINDS.iter().any(|(name, _)| line.eat(name)))
}

/// Reads the cabling of a subnet.
pub fn parse(text: &str) -> Result<Cabling, Problem> {
    let mut builder = Builder::new(text);
    let mut both_ends: Vec<bool> = Vec::new();
    let mut has_speed = None;
    for mut line in Lines::new(text) {
        if line.is_done() {
            continue;
        }
        let row = parse_row(&mut line)?;
        expect_speed_as_before(&row, &mut has_speed, line.range())?;
        let Some((link, is_far_end)) = add(&mut builder, row, line.range())? else {
            continue;
        };
        match both_ends.get_mut(link) {
            Some(both) => *both |= is_far_end,
            None => both_ends.push(false),
        }
    }
    if builder.nodes().is_empty() {
        return Err(nothing("line for a cabled port", "opensm writes it as opensm-subnet.lst"));
    }
    expect_both_ends(&builder, &both_ends)?;
    builder.finish()
}

struct Row<'t> {
    ends: [PortSeen<'t>; 2],
    port_guids: [u64; 2],
    rate: Option<LinkRate>,
    has_speed: bool,
    is_up: bool,
}

fn parse_row<'t>(line: &mut Line<'t>) -> Result<Row<'t>, Problem> {
    let (near, far) = (parse_end(line)?, parse_end(line)?);
    line.expect("PHY=")?;
    let width = parse_width(line.word())?;
    line.expect("LOG=")?;
    let state = line.word();
    if !STATES.contains(&state.text) {
        let message = format!("{} is not a state of a port", quoted(state.text));
        return Err(state.problem(message).expected(STATES.join(", ")));
    }
    let has_speed = line.eat("SPD=");
    let speed = if has_speed { parse_speed(line.word())? } else { None };
    line.expect_end()?;
    let rate = width.zip(speed);
    Ok(Row {
        ends: [near.0, far.0],
        port_guids: [near.1, far.1],
        rate: rate.map(|(width, speed)| LinkRate { width, speed }),
        has_speed,
        is_up: state.text != "DWN",
    })
}

/// An end of a cable, and the GUID of its port.
fn parse_end<'t>(line: &mut Line<'t>) -> Result<(PortSeen<'t>, u64), Problem> {
    line.expect("{")?;
    let start = line.here().start;
    let kind = line.word().keyword(&KINDS, "is not a kind of node")?;
    let port_count = field(line, "Ports:")?.hex(PORT_MAX.into(), "a number of ports")?;
    field(line, "SystemGUID:")?.hex(u64::MAX, "a GUID")?;
    let guid = bare_guid(field(line, "NodeGUID:")?)?;
    let port_guid = field(line, "PortGUID:")?.hex(u64::MAX, "a GUID")?;
    field(line, "VenID:")?.hex(u32::MAX.into(), "a vendor")?;
    field(line, "DevID:")?.hex(u32::MAX.into(), "a device")?;
    field(line, "Rev:")?.hex(u32::MAX.into(), "a revision")?;
    line.expect("{")?;
    // The description may have braces of its own, hence the longer mark.
    let Some(description) = line.up_to("} LID:") else {
        let problem = Problem::new(line.here(), "the description has no end");
        return Err(problem.expected("`} LID:` after the description"));
    };
    let lid = line.until(|byte| byte == b' ');
    let lid = assigned_lid(lid.hex(u16::MAX.into(), "a LID")?, lid.at())?;
    let port = field(line, "PN:")?.hex(PORT_MAX.into(), "a port")?;
    line.expect("}")?;
    let node = NodeSeen {
        guid,
        kind,
        port_count: Some(port_count as u16),
        description: description.text,
        at: start..line.here().start,
    };
    Ok((PortSeen { node, lid, port: port as u8 }, port_guid))
}

fn field<'t>(line: &mut Line<'t>, name: &str) -> Result<Word<'t>, Problem> {
    line.expect(name)?;
    Ok(line.until(|byte| byte == b' '))
}

fn parse_width(word: Word<'_>) -> Result<Option<u8>, Problem> {
    match width_from_name(word.text) {
        None if !is_unknown(word.text) => {
            let message = format!("{} is not a width of a link", quoted(word.text));
            Err(word.problem(message).expected(WIDTHS))
        }
        width => Ok(width),
    }
}

fn parse_speed(word: Word<'_>) -> Result<Option<LaneSpeed>, Problem> {
    // opensm writes `Ext` or `Std` where it was told of a speed that it does not know.
    let unknown = is_unknown(word.text) || matches!(word.text, "Ext" | "Std");
    match LaneSpeed::from_gbps(word.text) {
        None if !unknown => {
            let message = format!("{} is not a speed of a lane", quoted(word.text));
            Err(word.problem(message).expected("2.5, 5, 10, FDR10, 14, 25, 50, 100 or 200 Gb/s"))
        }
        speed => Ok(speed),
    }
}

/// Adds a row and says, if the port is up, of which cable it is, and whether it names the end
/// first that the cable's first row named last.
fn add(
    builder: &mut Builder<'_>,
    row: Row<'_>,
    at: Range<usize>,
) -> Result<Option<(usize, bool)>, Problem> {
    let [near, far] = row.ends;
    let ends = [builder.end(near)?, builder.end(far)?];
    for (end, guid) in ends.into_iter().zip(row.port_guids) {
        builder.port_guid(end, guid);
    }
    if !row.is_up {
        return Ok(None);
    }
    let rate = row.rate;
    let link = builder.link(IbLink { ends, rate, at })?;
    Ok(Some((link, builder.links()[link].ends != ends)))
}

/// The speed is the last thing on a line, so that a line that lost its end is still well formed;
/// but either all lines have one or, in old dumps, none.
fn expect_speed_as_before(
    row: &Row<'_>,
    before: &mut Option<bool>,
    at: Range<usize>,
) -> Result<(), Problem> {
    let (here, before) = (row.has_speed, *before.get_or_insert(row.has_speed));
    if here == before {
        return Ok(());
    }
    let message = if here {
        "this line has a speed, those before have none"
    } else {
        "this line has no speed, those before have one"
    };
    Err(Problem::new(at, message)
        .expected("`SPD=` on every line or on none")
        .help("is the file cut off, or put together from two?"))
}

/// A dump has every cable from both ends, a list that somebody made perhaps only from one; but a
/// file that has some from both and some from one has lost lines.
fn expect_both_ends(builder: &Builder<'_>, both_ends: &[bool]) -> Result<(), Problem> {
    let one_end = both_ends.iter().position(|both| !both);
    let Some(link) = one_end.filter(|_| both_ends.contains(&true)) else {
        return Ok(());
    };
    let link = &builder.links()[link];
    let [near, far] = link.ends.map(|end| builder.end_name(end));
    let message = format!("there is no line from {far} back to {near}");
    Err(Problem::new(link.at.clone(), message)
        .expected("every cable from both ends, as the others are")
        .help("is the file cut off?"))
}

const KINDS: [(&str, NodeKind); 6] = [
    ("SW", NodeKind::Switch),
    ("SW-SM", NodeKind::Switch),
    ("CA", NodeKind::Adapter),
    ("CA-SM", NodeKind::Adapter),
    ("RT", NodeKind::Adapter),
    ("RT-SM", NodeKind::Adapter),
];
const STATES: [&str; 4] = ["ACT", "ARM", "INI", "DWN"];
