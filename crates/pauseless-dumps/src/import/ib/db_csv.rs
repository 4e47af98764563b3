//! `ibdiagnet2.db_csv`: tables with a title row, between `START_NAME` and `END_NAME`.
//!
//! Of its many tables, three say how the fabric is cabled: `NODES`, `PORTS` and `LINKS`. Columns are
//! found by their titles, because versions differ. No whole sample was at hand; titles and values
//! are those of public programs that read it.

use std::collections::BTreeMap;
use std::ops::Range;

use super::cabling::{
    Builder, Cabling, IbEnd, IbLink, LMC_MAX, NodeKind, NodeSeen, PORT_MAX, PortLid, assigned_lid,
};
use super::guid::guid;
use super::rate::{LaneSpeed, LinkRate};
use pauseless_text::lex::{Line, Lines, Word, nothing, quoted};
use pauseless_text::problem::Problem;

/// Whether one of the first lines begins a table.
pub fn looks_like(text: &str) -> bool {
    let lines = Lines::new(text).map(|line| line.rest().trim());
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with(['#', '-']));
    lines.take(3).any(|line| {
        line.strip_prefix("START_").is_some_and(|name| {
            !name.is_empty()
                && name.bytes().all(|c| c.is_ascii_uppercase() || matches!(c, b'_' | b'0'..=b'9'))
        })
    })
}

/// Reads the cabling of a subnet.
pub fn parse(text: &str) -> Result<Cabling, Problem> {
    let tables = tables(text)?;
    let find = |name: &str| tables.iter().find(|table| table.name == name);
    let mut builder = Builder::new(text);
    let Some(nodes) = find("NODES") else {
        return Err(nothing("table NODES", "ibdiagnet writes it; is the file complete?"));
    };
    for row in nodes.rows(&["NodeGUID", "NodeType", "NumPorts", "NodeDesc"])? {
        add_node(&mut builder, row?)?;
    }
    let mut rates = BTreeMap::new();
    if let Some(ports) = find("PORTS") {
        let columns =
            ["NodeGuid", "PortNum", "LID", "LMC", "PortGuid", "LinkWidthActv", "LinkSpeedActv"];
        for row in ports.rows(&columns)? {
            add_port(&mut builder, row?, &mut rates)?;
        }
    }
    let Some(links) = find("LINKS") else {
        let help = "add ibdiagnet2.lst or the output of ibnetdiscover instead of this file";
        return Err(nothing("table LINKS, so no cable", help));
    };
    for row in links.rows(&["NodeGuid1", "PortNum1", "NodeGuid2", "PortNum2"])? {
        let Row { at, values: [one, one_port, other, other_port] } = row?;
        let ends = [end(&builder, one, one_port)?, end(&builder, other, other_port)?];
        let known = ends.map(|end| rates.get(&end).copied());
        builder.link(IbLink { ends, rate: known[0].or(known[1]), at })?;
    }
    builder.finish()
}

fn add_node(builder: &mut Builder<'_>, row: Row<'_, 4>) -> Result<(), Problem> {
    let Row { at, values: [own, kind, ports, description] } = row;
    let number = kind.decimal(255, "a type of node")?;
    let kind = match number {
        1 | 3 => NodeKind::Adapter,
        2 => NodeKind::Switch,
        _ => {
            let message = format!("{number} is no type of node");
            return Err(kind.problem(message).expected("1 (adapter), 2 (switch) or 3 (router)"));
        }
    };
    let seen = NodeSeen {
        guid: guid(own)?,
        kind,
        port_count: Some(ports.decimal(PORT_MAX.into(), "a number of ports")? as u16),
        description: description.text,
        at,
    };
    builder.node(seen).map(drop)
}

fn add_port(
    builder: &mut Builder<'_>,
    row: Row<'_, 7>,
    rates: &mut BTreeMap<IbEnd, LinkRate>,
) -> Result<(), Problem> {
    let Row { at, values: [owner, port, lid, lmc, port_guid, width, speed] } = row;
    let end = end(builder, owner, port)?;
    let is_switch = builder.nodes()[end.node].kind == NodeKind::Switch;
    // The other ports of a switch repeat the LID of port 0, or have none.
    if !is_switch || end.port == 0 {
        let lmc = number(lmc)?.filter(|lmc| *lmc <= LMC_MAX);
        let lid = number(lid)?.map(|number| assigned_lid(number, lid.at())).transpose()?.flatten();
        if let Some(lid) = lid {
            let lmc = if is_switch { 0 } else { lmc.unwrap_or(0) as u8 };
            builder.lid(end.node, PortLid { port: end.port, lid, lmc }, at)?;
        }
    }
    if !is_switch && let Ok(guid) = guid(port_guid) {
        builder.port_guid(end, guid);
    }
    let width = number(width)?.and_then(width_of);
    let speed = number(speed)?.and_then(speed_of);
    if let Some((width, speed)) = width.zip(speed) {
        rates.insert(end, LinkRate { width, speed });
    }
    Ok(())
}

fn end(builder: &Builder<'_>, owner: Word<'_>, port: Word<'_>) -> Result<IbEnd, Problem> {
    let guid = guid(owner)?;
    let Some(node) = builder.find(guid) else {
        let message = format!("{guid:#018x} is not in the table NODES");
        return Err(owner.problem(message).expected("a node of this file"));
    };
    Ok(IbEnd { node, port: port.decimal(PORT_MAX.into(), "a port")? as u8 })
}

/// A number in either form, or `N/A`.
fn number(word: Word<'_>) -> Result<Option<u64>, Problem> {
    match word.text {
        "" | "N/A" | "NA" => Ok(None),
        text if text.starts_with("0x") => word.prefixed_hex(u64::MAX, "a number").map(Some),
        _ => word.decimal(u64::MAX, "a number").map(Some),
    }
}

/// The number of lanes that a bit of `PortInfo` stands for.
fn width_of(bit: u64) -> Option<u8> {
    match bit {
        1 => Some(1),
        2 => Some(4),
        4 => Some(8),
        8 => Some(12),
        16 => Some(2),
        _ => None,
    }
}

/// The speed that a bit stands for: those of `PortInfo` for the first three, and what ibdiagnet puts
/// above them for the extended ones. 2048 stands for NDR in public data.
fn speed_of(bit: u64) -> Option<LaneSpeed> {
    match bit {
        1 => Some(LaneSpeed::Sdr),
        2 => Some(LaneSpeed::Ddr),
        4 => Some(LaneSpeed::Qdr),
        0x100 => Some(LaneSpeed::Fdr),
        0x200 => Some(LaneSpeed::Edr),
        0x400 => Some(LaneSpeed::Hdr),
        0x800 => Some(LaneSpeed::Ndr),
        0x1000 => Some(LaneSpeed::Xdr),
        0x1_0000 => Some(LaneSpeed::Fdr10),
        _ => None,
    }
}

/// A table of the file: its rows are read when they are wanted.
struct Table<'t> {
    name: &'t str,
    title: Line<'t>,
    rows: Vec<Line<'t>>,
}

struct Row<'t, const N: usize> {
    at: Range<usize>,
    values: [Word<'t>; N],
}

impl<'t> Table<'t> {
    /// The values of these columns in each row.
    fn rows<const N: usize>(
        &self,
        columns: &[&str; N],
    ) -> Result<impl Iterator<Item = Result<Row<'t, N>, Problem>> + '_, Problem> {
        let titles = fields(self.title.clone())?;
        let mut places = [0; N];
        for (place, column) in places.iter_mut().zip(columns) {
            let found = titles.iter().position(|title| title.text.eq_ignore_ascii_case(column));
            let Some(found) = found else {
                let message = format!("the table {} has no column {column}", self.name);
                let problem = Problem::new(self.title.range(), message);
                return Err(problem.help("was it written by ibdiagnet 2?"));
            };
            *place = found;
        }
        let count = titles.len();
        Ok(self.rows.iter().map(move |line| {
            let values = fields(line.clone())?;
            if values.len() != count {
                let message = format!("{} values in a table of {count} columns", values.len());
                let problem = Problem::new(line.range(), message);
                return Err(problem.expected("one value per column").help("is the file cut off?"));
            }
            Ok(Row { at: line.range(), values: places.map(|place| values[place]) })
        }))
    }
}

/// The tables that are needed; all must have their end.
fn tables(text: &str) -> Result<Vec<Table<'_>>, Problem> {
    let mut tables: Vec<Table<'_>> = Vec::new();
    let mut open: Option<(&str, Range<usize>)> = None;
    let mut title = None;
    let mut rows = Vec::new();
    for line in Lines::new(text) {
        let start = line.rest().trim();
        let Some((name, at)) = &open else {
            if let Some(name) = start.strip_prefix("START_") {
                open = Some((name, line.range()));
            }
            continue;
        };
        if start.strip_prefix("END_") == Some(*name) {
            if let Some(title) = title.take() {
                let is_again = tables.iter().any(|table| table.name == *name);
                if is_again {
                    let message = format!("a second table {name}");
                    return Err(Problem::new(at.clone(), message).help("two dumps in one file?"));
                }
                tables.push(Table { name, title, rows: std::mem::take(&mut rows) });
            }
            open = None;
            continue;
        }
        // A title or row of a table that is not needed is passed by.
        if !WANTED.contains(name) || start.is_empty() {
            continue;
        }
        match title {
            None => title = Some(line),
            Some(_) => rows.push(line),
        }
    }
    match open {
        None => Ok(tables),
        Some((name, at)) => Err(Problem::new(at, format!("the table {name} has no end"))
            .expected(format!("`END_{name}`"))
            .help("is the file cut off?")),
    }
}

/// The values of a row. Texts may be quoted, and then have commas.
fn fields<'t>(mut line: Line<'t>) -> Result<Vec<Word<'t>>, Problem> {
    let mut fields = Vec::new();
    loop {
        line.skip_blanks();
        let value = if line.eat("\"") {
            // A description may have quotes of its own, but hardly one before a comma.
            match line.up_to("\",").map(|value| (value, true)) {
                Some((value, _)) => {
                    fields.push(value);
                    continue;
                }
                None => match line.up_to_last("\"") {
                    Some(value) => value,
                    None => {
                        let here = line.here();
                        let problem = Problem::new(here, "a text in quotes has no end");
                        return Err(problem.expected("a second quote"));
                    }
                },
            }
        } else {
            let value = line.until(|byte| byte == b',');
            let length = value.text.trim_end().len();
            value.part(0..length)
        };
        fields.push(value);
        line.skip_blanks();
        if !line.eat(",") {
            break;
        }
    }
    if !line.is_done() {
        let message = format!("{} after a text in quotes", quoted(line.word().text));
        return Err(line.problem(message).expected("a comma"));
    }
    Ok(fields)
}

const WANTED: [&str; 3] = ["NODES", "PORTS", "LINKS"];
