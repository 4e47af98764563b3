//! The defaults that documents have in tables of their own are the declared ones.
//!
//! Compared are values: a number with or without a unit, a fraction, a word. Where a default is a
//! formula or a sentence, there is nothing to compare.

use pauseless_scenario::describe;
use pauseless_text::declare::markdown;

use super::{Line, Part, commands, documents};

/// Which keys the tables of `docs/protocols.md` speak of, by their headings.
const PROTOCOLS: &[(&str, &str)] = &[
    ("PFC thresholds", "flow_control=pfc"),
    ("CBFC defaults", "flow_control=cbfc"),
    ("Memory threshold", "switch.memory=shared"),
    ("Watchdog", "watchdog"),
    ("PCN defaults", "congestion_control=pcn"),
    ("QCN defaults", "congestion_control=qcn"),
    ("HPCC rules", "congestion_control=hpcc"),
    ("DCTCP", "congestion_control=dctcp"),
    ("Go-back-N", "transport"),
];

/// A row of a table that has a default in its second column.
struct Row {
    place: String,
    heading: String,
    name: String,
    default: String,
}

/// The rows below `head` in one document, without those of several keys.
fn rows(document: &str, head: &str) -> Vec<Row> {
    let mut heading = String::new();
    let mut is_inside = false;
    let mut found = Vec::new();
    let lines = documents().into_iter().filter(|line| line.place.starts_with(document));
    for Line { place, text, part } in lines {
        if part != Part::Row {
            is_inside = false;
            if let Some(title) = text.strip_prefix('#') {
                heading = title.trim_start_matches('#').trim().to_string();
            }
            continue;
        }
        is_inside |= text.starts_with(head);
        let cells = cells(&text);
        let names = Vec::from_iter(cells[0].split('`').skip(1).step_by(2));
        let ([name], true) = (&names[..], is_inside) else { continue };
        let name = name.split(' ').next().unwrap_or_default().to_string();
        let default = cells[1].to_string();
        found.push(Row { place, heading: heading.clone(), name, default });
    }
    found
}

fn cells(row: &str) -> Vec<&str> {
    row.trim_matches('|').split('|').map(str::trim).collect()
}

/// What is compared of a default, if it is a value: a number in a smallest unit, or a word.
#[derive(Debug, PartialEq)]
enum Value {
    Number(f64),
    Word(String),
}

impl Value {
    /// The value with which a cell begins, behind which there may be an explanation.
    fn of(cell: &str) -> Option<Value> {
        let text = cell.split(": ").next()?.split(", ").next()?;
        let text = text.trim_matches(['`', '"']).replace(',', "").replace("b/s", "bps");
        let mut words = text.split(' ');
        let (first, unit, more) = (words.next()?, words.next(), words.next());
        let number = match first.split_once('/') {
            Some((over, under)) => over.parse::<f64>().ok()? / under.parse::<f64>().ok()?,
            None => match first.parse() {
                Ok(number) => number,
                Err(_) if unit.is_none() => return Some(Value::Word(first.to_string())),
                Err(_) => return None,
            },
        };
        let factor = match unit {
            None => 1.0,
            Some(unit) => UNITS.iter().find(|(name, _)| *name == unit)?.1,
        };
        more.is_none().then_some(Value::Number(number * factor))
    }

    fn is_near(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::Number(a), Value::Number(b)) => (a - b).abs() <= 1e-3 * a.abs(),
            _ => self == other,
        }
    }
}

const UNITS: &[(&str, f64)] = &[
    ("ps", 1e-12),
    ("ns", 1e-9),
    ("us", 1e-6),
    ("ms", 1e-3),
    ("s", 1.0),
    ("B", 1.0),
    ("KB", 1e3),
    ("MB", 1e6),
    ("bps", 1.0),
    ("kbps", 1e3),
    ("Mbps", 1e6),
    ("Gbps", 1e9),
];

#[test]
fn defaults_of_protocols_are_the_declared_ones() {
    let scenario = describe::info();
    let mut wrong = Vec::new();
    let mut count = 0;
    for row in rows("docs/protocols.md", "| key | default |") {
        let path = PROTOCOLS.iter().find(|(heading, _)| *heading == row.heading);
        let path = path.unwrap_or_else(|| panic!("which keys has {:?}?", row.heading)).1;
        let table = markdown::keys(&scenario, path).unwrap_or_else(|| panic!("no keys at {path}"));
        let key = format!("`{}`", row.name);
        let declared = table.lines().map(cells).find(|cells| cells[0] == key);
        let Some(declared) = declared else {
            wrong.push(format!("{}: {path} has no key {key}", row.place));
            continue;
        };
        let is_value = declared[2].starts_with('`');
        let (Some(says), true) = (Value::of(&row.default), is_value) else { continue };
        count += 1;
        if !Value::of(declared[2]).is_some_and(|is| is.is_near(&says)) {
            wrong.push(format!("{}: {key} is {}, not {}", row.place, declared[2], row.default));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(count >= 25, "only {count} were compared");
}

#[test]
fn defaults_of_flags_are_those_of_the_program() {
    let plan = commands().into_iter().find(|(name, _)| name == "pauseless plan").expect("it is");
    let mut count = 0;
    for row in rows("docs/plan.md", "| option | default |") {
        let flag = row.name.trim_start_matches("--");
        let mut arguments = plan.1.get_arguments();
        let argument = arguments.find(|it| it.get_long() == Some(flag)).expect("the flag");
        let default = argument.get_default_values().first().map(|it| it.to_string_lossy());
        if let Some(default) = default.filter(|_| argument.get_action().takes_values()) {
            count += 1;
            assert_eq!(row.default, format!("`{default}`"), "{}", row.place);
        }
    }
    assert!(count >= 3, "only {count} were compared");
}

#[test]
fn values_are_compared_whatever_their_unit() {
    let near = |a, b| Value::of(a).expect("a value").is_near(&Value::of(b).expect("a value"));
    assert!(near("97,500 B, 65 packets", "`\"97500 B\"`"));
    assert!(near("1/128", "`0.0078125`"));
    assert!(near("5 Mb/s", "`\"5 Mbps\"`"));
    assert!(near("`none`: a lost packet", "`\"none\"`"));
    assert!(!near("5 Mb/s", "`\"50 Mbps\"`"));
    assert!(!near("never", "`\"none\"`"));
    assert_eq!(Value::of("one MTU in whole blocks"), None);
}
