//! The JSON Schemas against files, documents and the reader, judged by a public validator.

mod place;
#[path = "../../pauseless-scenario/tests/problems/mod.rs"]
mod problems;

use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use jsonschema::Validator;
use pauseless::schema::Document;
use pauseless_core::unit::Span;
use pauseless_experiments::repro;
use pauseless_lint::json_report::RulesDocument;
use pauseless_lint::rules;
use pauseless_report::{self as report, derivation};
use pauseless_run::Run;
use pauseless_scenario::congestion::Scheme;
use pauseless_scenario::{Overrides, Scenario};
use place::Place;
use problems::GOOD;
use serde_json::Value;

fn validator(name: &str) -> Validator {
    let document = Document::named(name).expect("there is such a schema");
    jsonschema::validator_for(&document.schema()).expect("the schema is one")
}

/// A TOML text as the JSON that a validator of TOML files sees.
fn json(text: &str) -> Value {
    let table: toml::Table = toml::from_str(text).expect("TOML");
    serde_json::to_value(table).expect("JSON")
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Every TOML file below some folders of the repository, with the name of its schema.
fn files() -> Vec<(PathBuf, &'static str)> {
    let mut folders =
        ["scenarios", "examples", "papers"].map(|folder| root().join(folder)).to_vec();
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            let name = path.to_string_lossy().into_owned();
            let schema = match () {
                () if path.is_dir() => {
                    folders.push(path);
                    continue;
                }
                () if name.ends_with("Cargo.toml") => continue,
                () if name.ends_with(".claims.toml") => "claims",
                () if name.ends_with(".sweep.toml") => "campaign",
                () if name.ends_with(".toml") => "scenario",
                () => continue,
            };
            files.push((path, schema));
        }
    }
    files.sort();
    files
}

#[test]
fn every_file_of_the_repository_is_valid() {
    let mut seen = Vec::new();
    for (path, schema) in files() {
        let text = fs::read_to_string(&path).expect("a file");
        let instance = json(&text);
        // What only `check` reads needs no end.
        let is_fabric = schema == "scenario" && instance.get("duration").is_none();
        let schema = if is_fabric { "fabric" } else { schema };
        let validator = validator(schema);
        let wrong = validator.iter_errors(&instance);
        let wrong = Vec::from_iter(wrong.map(|it| format!("{}: {it}", it.instance_path())));
        assert!(wrong.is_empty(), "{}: {wrong:#?}", path.display());
        seen.push(schema);
    }
    for schema in ["scenario", "fabric", "campaign", "claims"] {
        assert!(seen.contains(&schema), "no file for {schema}");
    }
}

/// What a resolved scenario writes out is valid, too: it has nearly every key.
#[test]
fn resolved_scenarios_are_valid() {
    let validator = validator("scenario");
    for text in bases() {
        let instance = json(&text);
        let wrong = validator.iter_errors(&instance);
        let wrong = Vec::from_iter(wrong.map(|it| format!("{}: {it}", it.instance_path())));
        assert!(wrong.is_empty(), "{wrong:#?}\n{text}");
    }
}

/// What is printed fits the schema that is published for it.
#[test]
fn printed_documents_are_valid() {
    for text in bases() {
        let scenario = Scenario::parse("t.toml", &text, &Overrides::default());
        let mut scenario = scenario.unwrap_or_else(|wrong| panic!("{wrong}"));
        scenario.config.duration = scenario.config.duration.min(Span::us(200));
        let explained = serde_json::to_value(derivation::explain_document(&scenario));
        let run = Run::execute(scenario, |_| ControlFlow::Continue(()));
        let printed = serde_json::to_value(report::json::run_document(&run));
        let runs = serde_json::to_value(report::json::runs_document(&[run]));
        for (name, document) in [("explain", explained), ("run", printed), ("runs", runs)] {
            let document = document.expect("JSON");
            let validator = validator(name);
            let wrong = validator.iter_errors(&document);
            let wrong = Vec::from_iter(wrong.map(|it| format!("{}: {it}", it.instance_path())));
            assert!(wrong.is_empty(), "{name}: {wrong:#?}");
        }
    }
}

/// What a campaign prints while it is made, looked at and merged fits its schemas.
#[test]
fn documents_of_campaigns_are_valid() {
    let place = Place::new();
    let ring = root().join("scenarios/gfc-ring.toml");
    let campaign = format!(
        "title = 't'\nscenario = {:?}\nkeep = ['pauses']\n\n\
         [[axis]]\nkey = 'duration'\nvalues = ['100 us', '200 us']\n",
        ring.to_str().expect("a path")
    );
    place.write("t.sweep.toml", &campaign);
    for (name, args) in [
        ("sweep-status", &["sweep", "status", "t.sweep.toml", "--json"][..]),
        ("sweep-run", &["sweep", "t.sweep.toml", "--json"]),
        ("sweep-status", &["sweep", "status", "t.sweep.toml", "--json"]),
        ("sweep-merge", &["sweep", "merge", "t.sweep.toml", "--json"]),
    ] {
        let done = place.run(args);
        assert_eq!(done.code, Some(0), "{}", done.stderr);
        let document = done.json();
        let validator = validator(name);
        let wrong = validator.iter_errors(&document);
        let wrong = Vec::from_iter(wrong.map(|it| format!("{}: {it}", it.instance_path())));
        assert!(wrong.is_empty(), "{name}: {wrong:#?}");
        // A field that is missing is missed.
        let mut document = document;
        document.as_object_mut().expect("an object").remove("tasks");
        assert!(!validator.is_valid(&document), "{name}");
    }
}

#[test]
fn twenty_broken_files_are_refused_by_schema_and_reader() {
    let validator = validator("scenario");
    let edits = [
        ("kind = \"ring\"", "kind = \"rnig\""),
        ("kind = \"ring\"\n", ""),
        ("kind = \"ring\"", "kind = 3"),
        ("switches = 3", "switches = \"3\""),
        ("switches = 3", "switches = -3"),
        ("switches = 3", "switchs = 3"),
        ("switches = 3\n", ""),
        ("rate = \"10 Gbps\"", "rate = 10"),
        ("rate = \"10 Gbps\"", "rate = \"10 Gb\""),
        ("rate = \"10 Gbps\"", "rate = [\"10 Gbps\"]"),
        ("delay = \"1 us\"", "delay = \"1\""),
        ("delay = \"1 us\"", "delay = \"-1 us\""),
        ("buffer = \"1012 KB\"", "buffer = 1012"),
        ("buffer = \"1012 KB\"", "buffer = \"1012 KB\"\nclasses = 9"),
        ("buffer = \"1012 KB\"", "buffer = \"1012 KB\"\ndiscipline = \"fifo\""),
        ("kind = \"pfc\"", "kind = \"pcf\""),
        ("kind = \"pfc\"", "kind = \"cbfc\""),
        ("xoff = \"800 KB\"", "xoff = \"800 KB\"\nxof = \"1 KB\""),
        ("source = \"H1\"\n", ""),
        ("target = \"H3\"", "target = \"H3\"\nttl = 0"),
        ("[[flow]]", "[flow]"),
        ("[switch]", "[swich]"),
        ("duration = \"1 ms\"", "duration = 1"),
        ("duration = \"1 ms\"", "seed = 1.5\nduration = \"1 ms\""),
    ];
    assert!(validator.is_valid(&json(GOOD)));
    for (from, to) in edits {
        assert!(GOOD.contains(from), "{from}");
        let text = GOOD.replacen(from, to, 1);
        assert!(!validator.is_valid(&json(&text)), "the schema takes {to}");
        assert!(reads(&text).is_err(), "the reader takes {to}");
    }
}

fn reads(text: &str) -> Result<(), String> {
    let read = Scenario::parse("t.toml", text, &Overrides::default());
    read.map(|_| ()).map_err(|wrong| wrong.to_string())
}

/// Scenarios that are read quickly, as they are and with every key written out.
fn bases() -> Vec<String> {
    let names = [
        "gfc-ring",
        "gfc-ring-buffer",
        "gfc-ring-cbfc",
        "gfc-ring-time",
        "gfc-fig5-conceptual",
        "incast-shared",
        "ttl-partitions",
        "all-reduce-ring",
    ];
    let mut bases = vec![GOOD.to_string()];
    for name in names {
        let path = root().join("scenarios").join(name).with_extension("toml");
        let scenario = Scenario::read(&path, &Overrides::default());
        let scenario = scenario.unwrap_or_else(|wrong| panic!("{wrong}"));
        bases.push(fs::read_to_string(path).expect("a file"));
        bases.push(scenario.resolved());
    }
    for scheme in Scheme::all() {
        let name = scheme.name();
        let text = format!("{GOOD}[congestion_control]\nkind = {name:?}\n");
        let scenario = Scenario::parse("t", &text, &Overrides::default());
        bases.push(scenario.unwrap_or_else(|wrong| panic!("{wrong}")).resolved());
    }
    bases
}

/// What the schema takes and the reader refuses, because a schema cannot say it: a part of the message,
/// and why.
const BEYOND_SCHEMA: [(&str, &str); 25] = [
    ("there is no node", "names of nodes follow from the topology"),
    ("there is no host", "names of hosts follow from the topology"),
    ("out of range", "a quantity is a text to a schema, and some ranges follow from other keys"),
    ("of zero does not exist", "a quantity is a text to a schema"),
    ("is no fraction", "a fraction is a text to a schema"),
    ("missing with kind", "needed only because of what else is written, or is not"),
    ("the switches have no buffer", "needed only with flow control and without shared memory"),
    ("no flows: nothing would happen", "either of two sections is enough"),
    ("the path ", "a path follows the links of the topology"),
    ("the loop has", "a loop follows the links of the topology"),
    ("source and target are the same host", "a relation between two keys"),
    ("a name of a flow is a line of text", "what may be in a text"),
    (" safe at ", "a bound that is derived for each port"),
    (" is above ", "a relation between two keys"),
    (" is below ", "a relation between two keys"),
    ("is not in the range", "what a shape can be follows from all its sizes"),
    ("too large: it would have", "a product of sizes"),
    ("flows get into class", "classes follow from flows and hops"),
    ("no class is left", "a relation between two sections"),
    ("is too little for", "a sum over the ports of a switch"),
    ("acknowledge", "a relation between two sections"),
    ("no host is listed", "a list of hosts follows from the topology"),
    ("sources are needed", "which hosts can send follows from the topology"),
    ("divides by t_low", "a relation between two keys"),
    ("there is no window to follow", "a relation between two keys"),
];

/// Whatever the schema refuses the reader refuses, and the other way round but for what a schema
/// cannot say.
#[test]
fn ten_thousand_mutated_files_are_judged_alike() {
    let validator = validator("scenario");
    let bases = Vec::from_iter(bases().iter().map(|text| toml::from_str::<toml::Table>(text)));
    let mut random = Random(1);
    let mut beyond = vec![0; BEYOND_SCHEMA.len()];
    let mut refused = [0, 0];
    let mut unexplained = Vec::new();
    for round in 0..10_000 {
        let base = &bases[random.below(bases.len())];
        let mut table = base.clone().expect("TOML");
        let change = mutate(&mut table, &mut random);
        let text = toml::to_string(&table).expect("TOML");
        let is_valid = validator.is_valid(&json(&text));
        let read = reads(&text);
        refused[0] += usize::from(!is_valid);
        refused[1] += usize::from(read.is_err());
        match (is_valid, read) {
            (true, Ok(())) | (false, Err(_)) => {}
            (false, Ok(())) => {
                let instance = json(&text);
                let wrong = validator.iter_errors(&instance);
                let wrong = Vec::from_iter(wrong.map(|it| format!("{}: {it}", it.instance_path())));
                unexplained.push(format!("round {round}, {change}: only the schema: {wrong:#?}"));
            }
            (true, Err(message)) => {
                let mut reasons = BEYOND_SCHEMA.iter();
                match reasons.position(|(part, _)| message.contains(part)) {
                    Some(reason) => beyond[reason] += 1,
                    None => {
                        let first = message.lines().next().unwrap_or_default();
                        unexplained
                            .push(format!("round {round}, {change}: only the reader: {first}"));
                    }
                }
            }
        }
    }
    assert!(unexplained.is_empty(), "{}: {unexplained:#?}", unexplained.len());
    println!("refused by schema and reader: {refused:?}");
    for ((part, why), count) in BEYOND_SCHEMA.iter().zip(beyond) {
        println!("{count:5} {part:?}: {why}");
    }
    assert!(refused[0] > 2_000, "mutations break files");
}

/// Changes one thing; says what.
fn mutate(root: &mut toml::Table, random: &mut Random) -> String {
    let mut tables = Vec::new();
    collect(root, String::new(), &mut tables);
    let path = tables[random.below(tables.len())].clone();
    let table = at(root, &path);
    let keys = Vec::from_iter(table.keys().cloned());
    if keys.is_empty() || random.below(12) == 0 {
        table.insert("bogus".to_string(), toml::Value::Integer(1));
        return format!("{path}: bogus key");
    }
    let key = keys[random.below(keys.len())].clone();
    let value = table.get(&key).cloned().expect("it is there");
    match random.below(6) {
        0 => {
            table.remove(&key);
            format!("{path}.{key} removed")
        }
        1 => {
            table.remove(&key);
            table.insert(format!("{key}x"), value);
            format!("{path}.{key} renamed")
        }
        _ => {
            let other = other(&value, random);
            let change = format!("{path}.{key} = {other}");
            table.insert(key, other);
            change
        }
    }
}

/// Another value, of the same type or not.
fn other(value: &toml::Value, random: &mut Random) -> toml::Value {
    use toml::Value as V;
    let texts =
        ["", "1 us", "3 Gbps", "64 KB", "1 xx", "7", "H1", "none", "5 %", "-1 ms", "1.5us", "0 B"];
    match (random.below(4), value) {
        (0, _) => V::Boolean(random.below(2) == 0),
        (1, _) => V::Integer([-1, 0, 1, 2, 7, 100, 1_000_000, i64::MAX][random.below(8)]),
        (2, V::Integer(number)) => V::Integer(number.wrapping_add(1)),
        (2, V::Float(number)) => V::Float(number * 3.0),
        (2, V::Array(list)) => V::Array(list.iter().skip(1).cloned().collect()),
        (2, V::Boolean(value)) => V::Boolean(!value),
        (2, V::String(text)) => V::String(text.replace(['1', '2', '3'], "0")),
        _ => V::String(texts[random.below(texts.len())].to_string()),
    }
}

/// The paths of all tables.
fn collect(table: &toml::Table, path: String, tables: &mut Vec<String>) {
    for (key, value) in table {
        let path = format!("{path}/{key}");
        match value {
            toml::Value::Table(table) => collect(table, path, tables),
            toml::Value::Array(list) => {
                for (index, value) in list.iter().enumerate() {
                    if let toml::Value::Table(table) = value {
                        collect(table, format!("{path}/{index}"), tables);
                    }
                }
            }
            _ => {}
        }
    }
    tables.push(path);
}

fn at<'t>(root: &'t mut toml::Table, path: &str) -> &'t mut toml::Table {
    let mut steps = path.split('/').filter(|step| !step.is_empty());
    let Some(first) = steps.next() else {
        return root;
    };
    let mut value = &mut root[first];
    for step in steps {
        value = match value {
            toml::Value::Array(list) => &mut list[step.parse::<usize>().expect("a position")],
            value => &mut value[step],
        };
    }
    value.as_table_mut().expect("a table")
}

/// A small generator of random numbers, the same on every machine.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % end as u64) as usize
    }
}

#[test]
fn lists_match_their_schemas() {
    let listed = repro::catalogue::embedded().into_iter().take(3).map(|entry| {
        let experiment = entry.experiment().expect("what is built in can be read");
        repro::json::ListedRecord::new(entry.name(), &experiment)
    });
    let listed = repro::json::ListDocument::new(listed.collect());
    let documents = [
        ("repro-list", serde_json::to_value(listed)),
        ("lint-rules", serde_json::to_value(RulesDocument::new(rules::ALL))),
        (
            "metrics",
            serde_json::to_value(pauseless_run::results::listing::json(&Default::default())),
        ),
        ("explain-paper", serde_json::to_value(derivation::paper_document())),
        ("plan-paper", serde_json::to_value(pauseless_plan::json::paper_document())),
    ];
    for (name, document) in documents {
        let document = document.expect("JSON");
        let problem = validator(name).iter_errors(&document).next().map(|error| error.to_string());
        assert_eq!(problem, None, "{name}");
        let mut broken = document;
        broken["schema"] = Value::from("one");
        assert!(!validator(name).is_valid(&broken), "{name}");
    }
}
