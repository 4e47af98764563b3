//! Batfish's answer to `routes`, as its service writes it or as a frame saved with
//! `to_json(orient="records")`: one row per next hop, of all switches.

use std::collections::HashMap;
use std::net::IpAddr;

use super::super::json::Value;
use super::super::{after_mark, quoted};
use super::fields::{Fields, prefix};
use super::{DEFAULT_VRF, NextHop, Prefix, Route, RouteTable, Target, table_of};
use pauseless_text::problem::Problem;

/// Whether `text` is meant to be routes of Batfish.
pub fn looks_like(text: &str) -> bool {
    let text = after_mark(text).trim_start();
    let head = text.char_indices().nth(HEAD).map_or(text, |(end, _)| &text[..end]);
    if !text.starts_with(['[', '{']) {
        return false;
    }
    let is_answer = head.contains(CLASS) && head.contains("\"Next_Hop");
    let is_frame = ["\"Node\"", "\"Network\"", "\"Protocol\""].iter().all(|key| head.contains(key));
    is_answer || is_frame
}

/// Reads the routes of every switch.
pub fn parse(text: &str) -> Result<Vec<RouteTable>, Problem> {
    let root = Value::whole(text, "Batfish's routes")?;
    let answers = if root.is_array() { root.items("the file")? } else { vec![root.clone()] };
    let mut reading = Reading::default();
    for answer in answers {
        let fields = Fields::of(&answer, "an answer")?;
        match fields.get("rows") {
            Some(rows) => {
                for row in rows.items("\"rows\"")? {
                    reading.read_row(&Fields::of(&row, "a row")?)?;
                }
            }
            None if fields.get("Node").is_some() => reading.read_row(&fields)?,
            None => {
                let problem = Problem::new(answer.at(), "an answer without \"rows\"");
                return Err(problem.expected("Batfish's answer to the question `routes`"));
            }
        }
    }
    Ok(reading.tables)
}

#[derive(Default)]
struct Reading {
    tables: Vec<RouteTable>,
    /// The number of each route that has been read, by table and prefix.
    known: HashMap<(usize, Prefix), usize>,
    numbers: HashMap<(String, String), usize>,
}

impl Reading {
    fn read_row(&mut self, row: &Fields) -> Result<(), Problem> {
        let node = match row.get("Node") {
            Some(node) if node.is_object() => {
                Fields::of(node, "\"Node\"")?.required("name", "a node")?.into_owned()
            }
            _ => row.required("Node", "a row")?.into_owned(),
        };
        let vrf = row.text("VRF")?.unwrap_or(DEFAULT_VRF.into()).into_owned();
        let network = row.required("Network", "a row")?;
        let prefix = prefix(&network, row.get("Network").map_or(0..0, Value::at))?;
        let target = read_target(row)?;
        let tables = &mut self.tables;
        let number = *self.numbers.entry((node.clone(), vrf.clone())).or_insert_with(|| {
            table_of(tables, Some(&node), &vrf);
            tables.len() - 1
        });
        let table = &mut self.tables[number];
        let Some(known) = self.known.get(&(number, prefix)) else {
            self.known.insert((number, prefix), table.routes.len());
            table.routes.push(Route { prefix, target, at: row.at.clone() });
            return Ok(());
        };
        match (&mut table.routes[*known].target, target) {
            (Target::Hops(hops), Target::Hops(more)) => hops.extend(more),
            (known, other) if *known == other => {}
            _ => {
                let message = format!("{prefix} of {} has another target above", quoted(&node));
                return Err(Problem::new(row.at.clone(), message).expected("next hops only"));
            }
        }
        Ok(())
    }
}

fn read_target(row: &Fields) -> Result<Target, Problem> {
    let protocol = row.text("Protocol")?.unwrap_or_default();
    if protocol == "local" {
        return Ok(Target::Local);
    }
    let (kind, mut address, mut interface) = match row.get("Next_Hop") {
        Some(hop) if hop.is_object() => {
            let hop = Fields::of(hop, "\"Next_Hop\"")?;
            let interface = hop.text("interface")?.map(|name| name.into_owned());
            let kind = hop.text("type")?.unwrap_or_default().into_owned();
            (kind, hop.address("ip")?, interface)
        }
        _ => (row.text("Next_Hop")?.unwrap_or_default().into_owned(), None, None),
    };
    // The columns of older releases, which frames have as well.
    if address.is_none() {
        let text = row.text("Next_Hop_IP")?.unwrap_or_default();
        address = text.parse().ok().filter(|address: &IpAddr| !address.is_unspecified());
    }
    if interface.is_none() {
        let name = row.text("Next_Hop_Interface")?.map(|name| name.into_owned());
        interface = name.filter(|name| name != "dynamic" && !name.starts_with("null_"));
    }
    let drops = kind.starts_with("discard")
        || row.text("Next_Hop_Interface")?.is_some_and(|name| name == "null_interface");
    Ok(match (address, interface) {
        _ if drops => Target::Discard,
        (None, interface) if protocol == "connected" => Target::Connected(interface),
        (address, interface) => Target::Hops(vec![NextHop { address, interface, weight: 1 }]),
    })
}

const CLASS: &str = "org.batfish.datamodel.table.TableAnswerElement";
/// In how many characters the names of the columns are found.
const HEAD: usize = 4_000;
