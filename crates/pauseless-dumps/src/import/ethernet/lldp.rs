//! What a switch hears of its neighbours by LLDP: `lldpctl -f json`, and SONiC's text
//! `show lldp table`. The rows of APPL_DB are read with the rest of that database.

use std::ops::Range;

use super::json::{Member, Value};
use super::routes::Fields;
use super::wiring::Skipped;
use super::{after_mark, quoted};
use pauseless_text::problem::Problem;

/// The neighbours of one switch, which the file does not name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lldp {
    /// One per port, in the order of the file.
    pub heard: Vec<Heard>,
    /// Further neighbours of a port, and those without a name.
    pub skipped: Vec<Skipped>,
}

/// A neighbour that a port hears of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heard {
    /// The port that hears.
    pub port: String,
    /// What the neighbour calls itself.
    pub name: String,
    /// What the neighbour calls its port: SONiC sends the alias.
    pub peer_port: String,
    /// The place of the neighbour in the file.
    pub at: Range<usize>,
}

impl Lldp {
    /// Takes a neighbour, unless the port has one.
    fn take(&mut self, heard: Heard) {
        if heard.name.is_empty() || heard.peer_port.is_empty() {
            let what = format!("a neighbour of {} without name or port", quoted(&heard.port));
            self.skipped.push(Skipped { what, at: heard.at });
        } else if self.heard.iter().any(|known| known.port == heard.port) {
            let what = format!("a second neighbour of {}", quoted(&heard.port));
            self.skipped.push(Skipped { what, at: heard.at });
        } else {
            self.heard.push(heard);
        }
    }
}

/// Whether `text` is meant to be the output of `lldpctl -f json`.
pub fn looks_like_json(text: &str) -> bool {
    let inside = after_mark(text).trim_start().strip_prefix('{');
    inside.is_some_and(|inside| inside.trim_start().starts_with("\"lldp\""))
}

/// Reads the output of `lldpctl -f json`.
pub fn parse_json(text: &str) -> Result<Lldp, Problem> {
    let root = Value::whole(text, "LLDP's neighbours")?;
    let fields = Fields::of(&root, "the file")?;
    let Some(lldp) = fields.get("lldp") else {
        let problem = Problem::new(root.at(), "the file has no \"lldp\"");
        return Err(problem.expected("the output of `lldpctl -f json`"));
    };
    let mut found = Lldp::default();
    let fields = Fields::of(lldp, "\"lldp\"")?;
    let Some(interfaces) = fields.get("interface") else {
        return Ok(found);
    };
    // With one neighbour it is an object, with several a list of objects with one key each.
    let lists = if interfaces.is_array() {
        interfaces.items("\"interface\"")?
    } else {
        vec![interfaces.clone()]
    };
    for list in lists {
        for member in list.members("\"interface\"")? {
            found.take(read_interface(&member)?);
        }
    }
    Ok(found)
}

fn read_interface(member: &Member) -> Result<Heard, Problem> {
    let interface = Fields::of(&member.value, &quoted(&member.name))?;
    let name = match interface.get("chassis").filter(|chassis| chassis.is_object()) {
        None => String::new(),
        Some(chassis) => {
            let members = chassis.members("\"chassis\"")?;
            // A device without a name has its fields where the name would be.
            let named = members.iter().find(|member| member.value.is_object());
            named
                .filter(|member| member.name != "id")
                .map_or("".into(), |it| it.name.clone())
                .into()
        }
    };
    let mut peer_port = String::new();
    if let Some(port) = interface.get("port") {
        let port = Fields::of(port, "\"port\"")?;
        if let Some(id) = port.get("id") {
            let id = Fields::of(id, "\"id\"")?;
            peer_port = id.text("value")?.unwrap_or_default().into_owned();
            // Hosts send the address of the card as the id, and the interface as description.
            if id.text("type")?.as_deref() == Some("mac")
                && let Some(description) = port.text("descr")?
            {
                peer_port = description.into_owned();
            }
        }
    }
    let at = member.name_at.start..member.value.at().end;
    Ok(Heard { port: member.name.to_string(), name, peer_port, at })
}

/// Whether `text` is meant to be the output of `show lldp table`.
pub fn looks_like_table(text: &str) -> bool {
    text.lines().take(LINES_BEFORE_HEADER).any(is_header)
}

/// Reads the output of SONiC's `show lldp table`.
pub fn parse_table(text: &str) -> Result<Lldp, Problem> {
    let mut found = Lldp::default();
    let mut columns = None;
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let at = start..start + line.trim_end().len();
        start += line.len();
        let line = line.trim_end();
        if is_header(line) {
            columns = Some(COLUMNS.map(|name| line.find(name).unwrap_or(0)));
            continue;
        }
        let Some(columns) = columns else {
            continue;
        };
        let is_rule = line.chars().all(|c| matches!(c, '-' | ' '));
        if is_rule || line.starts_with("Total entries") {
            continue;
        }
        let cells = [0, 1, 2].map(|number: usize| {
            let end = columns.get(number + 1).copied().unwrap_or(line.len());
            cell(line, columns[number]..end)
        });
        let [Some(port), Some(name), Some(peer_port)] = cells else {
            let problem = Problem::new(at, "a row that ends before RemotePortID");
            return Err(problem.expected("LocalPort, RemoteDevice and RemotePortID"));
        };
        if port.is_empty() || port.contains(' ') {
            let problem = Problem::new(at, "a row that does not begin with a port");
            return Err(problem.expected("columns below their names"));
        }
        let heard = |text: &str| text.to_string();
        let (port, name, peer_port) = (heard(port), heard(name), heard(peer_port));
        found.take(Heard { port, name, peer_port, at });
    }
    match columns {
        Some(_) => Ok(found),
        None => Err(Problem::new(0..text.len().min(1), "no header of `show lldp table`")
            .expected("LocalPort, RemoteDevice, RemotePortID")),
    }
}

fn is_header(line: &str) -> bool {
    line.trim_start().starts_with(COLUMNS[0]) && COLUMNS.iter().all(|name| line.contains(name))
}

/// A cell without the blanks around it; `None` if the line ends before it.
fn cell(line: &str, at: Range<usize>) -> Option<&str> {
    let end = at.end.min(line.len());
    line.get(at.start..end.max(at.start)).map(str::trim)
}

const COLUMNS: [&str; 4] = ["LocalPort", "RemoteDevice", "RemotePortID", "Capability"];
/// How many lines, such as a prompt with the command, may stand above the header.
const LINES_BEFORE_HEADER: usize = 5;

#[cfg(test)]
mod tests {
    use super::super::testing::{check_bad, never_panics, sample};
    use super::*;

    const TABLE: &str = "\
LocalPort    RemoteDevice    RemotePortID    Capability    RemotePortDescr
-----------  --------------  --------------  ------------  ---------------------
Ethernet0    pod-tor0        etp11           BR            pod-leaf0:Ethernet1/1
Ethernet4    pod-tor0        etp12           BR            pod-leaf0:Ethernet2/1
eth0         mgmt-switch     Ethernet7       B
--------------------------------------------------
Total entries displayed:  3
";

    fn heard(found: &Lldp) -> Vec<[&str; 3]> {
        let heard = found.heard.iter();
        heard.map(|one| [one.port.as_str(), &one.name, &one.peer_port]).collect()
    }

    #[test]
    fn both_forms_say_the_same() {
        let found = parse_table(TABLE).unwrap();
        let expected = [
            ["Ethernet0", "pod-tor0", "etp11"],
            ["Ethernet4", "pod-tor0", "etp12"],
            ["eth0", "mgmt-switch", "Ethernet7"],
        ];
        assert_eq!(heard(&found), expected);
        let json = parse_json(&sample("sonic-pod/routes-up/pod-leaf0.lldpctl.json")).unwrap();
        assert_eq!(heard(&json)[..2], expected[..2]);
    }

    #[test]
    fn one_neighbour_is_an_object_and_strangers_are_left_out() {
        let one = r#"{"lldp": {"interface": {"e1": {"chassis": {"b": {}},
            "port": {"id": {"type": "mac", "value": "00:11"}, "descr": "e2"}}}}}"#;
        assert_eq!(heard(&parse_json(one).unwrap()), [["e1", "b", "e2"]]);
        let stranger = r#"{"lldp": {"interface": [{"e1": {"chassis": {"id": {"type": "mac"}},
            "port": {"id": {"type": "mac", "value": "00:11"}}}},
            {"e2": {"chassis": {"b": {}}, "port": {"id": {"type": "local", "value": "x"}}}},
            {"e2": {"chassis": {"c": {}}, "port": {"id": {"type": "local", "value": "x"}}}}]}}"#;
        let found = parse_json(stranger).unwrap();
        assert_eq!((heard(&found), found.skipped.len()), (vec![["e2", "b", "x"]], 2));
        assert_eq!(parse_json("{\"lldp\": {}}").unwrap(), Lldp::default());
    }

    #[test]
    fn bad_files_are_refused_with_their_line() {
        check_bad(
            parse_json,
            &[
                ("{\"lldp\": []}", 1, "\"lldp\" is an array"),
                ("{\"lldp\": {\"interface\":\n 3}}", 2, "\"interface\" is a number"),
                ("{\"lldp\": {\"interface\":\n {\"e\": []}}}", 2, "\"e\" is an array"),
                ("{\"lldp\": {\"interface\": [", 1, "the file ends in the middle"),
            ],
        );
        let short = "LocalPort RemoteDevice RemotePortID Capability\nEthernet0 a\n";
        check_bad(parse_table, &[(short, 2, "a row that ends before"), ("x", 1, "no header")]);
    }

    #[test]
    fn no_text_makes_them_panic() {
        never_panics(parse_json, "sonic-pod/routes-up/pod-leaf0.lldpctl.json");
        never_panics(parse_table, "sonic-pod/show-lldp-table.txt");
    }
}
