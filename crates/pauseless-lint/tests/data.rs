//! Released configurations are silent, and one mistake in them is one finding.

use std::path::{Path, PathBuf};

mod released;
mod rows;

use pauseless_lint::database::Database;
use pauseless_lint::finding::Severity;
use pauseless_lint::headroom::{Chip, DynamicPort, Headroom, dynamic};
use pauseless_lint::pool::Division;
use pauseless_lint::report::Report;
use pauseless_lint::switch::{MadeFor, Switch};
use pauseless_lint::{lint, prove};
use pauseless_text::source::Source;
use released::{data, files};
use rows::expanded;
use serde_json::Value;

/// The rules above a note, each once.
fn loud(report: &Report) -> Vec<&'static str> {
    let loud = report.findings.iter().filter(|one| one.severity > Severity::Note);
    let mut rules = Vec::from_iter(loud.map(|one| one.rule.id));
    rules.sort_unstable();
    rules.dedup();
    rules
}

#[test]
fn good_configurations_are_silent() {
    for source in files("good") {
        let file = source.file.clone();
        let report = lint(&[source]).unwrap();
        assert_eq!(loud(&report), Vec::<&str>::new(), "{file}");
    }
    let pod = lint(&files("pod")).unwrap();
    assert_eq!(loud(&pod), Vec::<&str>::new());
    assert_eq!((pod.switches, pod.cables), (6, 16));
}

#[test]
fn released_mistakes_are_found() {
    for (name, expected) in [
        ("quanta-ix9-32x-t0", &["PL203", "PL503"][..]),
        ("cig-cs6436-54p-t0", &["PL404"]),
        ("mellanox-sn4280-c48-t1", &["PL301"]),
        ("wistron-to3200k-32x100-t0", &["PL102", "PL503"]),
    ] {
        let source = Source::read(&data(&format!("released/{name}.json.gz"))).unwrap();
        assert_eq!(loud(&lint(&[source]).unwrap()), expected, "{name}");
    }
}

/// 20 of 1,462 released rows hold less than the wire; these are those of two files.
#[test]
fn rows_of_released_lookup_files_are_below_the_wire() {
    let rows = [
        "Mellanox-SN4600C-D112C8 100000 2000m 19456 19456 234496 0",
        "Mellanox-SN4700-O8C48 400000 1500m 38912 38912 427008 0",
        "Good 100000 40m 18432 18432 53248 0",
    ];
    let sources = rows.map(|row| {
        let (name, row) = row.split_once(' ').unwrap();
        let file = format!("pg_profile_lookup.{name}.ini");
        Source { file, text: format!("# speed cable size xon xoff threshold\n {row}\n") }
    });
    let report = lint(&sources).unwrap();
    let found = report.findings.iter().map(|one| (one.rule.id, one.place.file));
    assert_eq!(Vec::from_iter(found), [("PL301", 0), ("PL301", 1)]);
}

/// By hand, and as the script has it: 28 ports up, private headroom, and shared at a ratio of 2.
#[test]
fn the_pool_of_the_dynamic_model_is_that_of_the_script() {
    let file = data("good/mellanox-sn4600c-c64-t1-dynamic.json.gz");
    let private = Source::read(&file).unwrap();
    let ratio = "\"default_dynamic_th\": \"0\", \"over_subscribe_ratio\": \"2\"";
    let shared = private.text.replace("\"default_dynamic_th\": \"0\"", ratio);
    assert_ne!(shared, private.text);
    let division = |text: &str| {
        let database = Database::read(0, text).unwrap();
        Division::of(&Switch::read(&database, "t1".to_string())).unwrap()
    };
    let found = division(&private.text);
    assert_eq!((found.memory, found.occupied, found.shared), (60_817_392, 9_682_944, 0));
    assert_eq!(found.pool(), Some(51_134_448));
    let found = division(&shared);
    assert_eq!((found.shared, found.pool()), (2_551_808, Some(53_882_864)));
}

/// A mistake in one of the good files.
struct Mutant {
    name: String,
    rule: String,
    also: Vec<String>,
    sources: Vec<Source>,
    good: Value,
    at: usize,
}

fn mutants() -> Vec<Mutant> {
    let list = Source::read(&data("mutants.json")).unwrap().text;
    let list: Vec<Value> = serde_json::from_str(&list).unwrap();
    let one = |mutant: &Value| {
        let text = |key: &str| mutant[key].as_str().unwrap().to_string();
        let of = text("of");
        let mut sources = if of.starts_with("pod/") {
            files("pod")
        } else {
            vec![Source::read(&data(&of)).unwrap()]
        };
        let at = sources.iter().position(|source| source.file.ends_with(&of)).unwrap();
        let good: Value = serde_json::from_str(&sources[at].text).unwrap();
        let mut bad = good.clone();
        let ops = mutant["patch"].as_array().unwrap().iter().map(|op| pauseless_lint::fix::Op {
            op: if op["op"] == "remove" { "remove" } else { "add" },
            path: op["path"].as_str().unwrap().to_string(),
            value: op.get("value").cloned(),
        });
        pauseless_lint::fix::apply(&mut bad, &Vec::from_iter(ops)).unwrap();
        sources[at].text = pauseless_lint::fix::to_rows(&bad);
        let also = mutant["also"].as_array().unwrap().iter();
        let also = also.map(|rule| rule.as_str().unwrap().to_string()).collect();
        Mutant { name: text("name"), rule: text("rule"), also, sources, good, at }
    };
    list.iter().map(one).collect()
}

#[test]
fn every_mutant_is_found_by_its_rule_and_by_nothing_else() {
    let mutants = mutants();
    assert_eq!(mutants.len(), 15);
    for Mutant { name, rule, also, sources, .. } in mutants {
        let found = loud(&lint(&sources).unwrap());
        assert!(found.contains(&rule.as_str()), "{name}: {found:?}");
        let others = found.iter().filter(|id| **id != rule && !also.iter().any(|also| also == *id));
        assert_eq!(others.count(), 0, "{name}: {found:?}");
    }
}

#[test]
fn patches_make_mutants_good_again() {
    let mut same = Vec::new();
    for Mutant { name, sources, good, at, .. } in mutants() {
        let fixed = prove::fix(&sources, |_| true).unwrap();
        let result: Value = serde_json::from_str(&fixed.sources[at].text).unwrap();
        let is_silent = loud(&fixed.left).is_empty();
        if is_silent && expanded(&result) == expanded(&good) {
            same.push(name[..5].to_string());
        }
    }
    let expected = [
        "PL103", "PL101", "PL201", "PL206", "PL302", "PL402", "PL504", "PL510", "PL304", "PL314",
        "PL703", "PL601", "PL602",
    ];
    assert_eq!(same, expected);
}

/// The form here is that of the script, to the byte.
#[test]
fn the_headroom_of_the_dynamic_model_is_that_of_the_script() {
    let table = Source::read(&data("headroom-mellanox.tsv.gz")).unwrap().text;
    let mut count = 0;
    for line in table.lines().skip(1) {
        let cells = Vec::from_iter(line.split('\t'));
        let number = |at: usize| cells[at].parse::<u64>().unwrap();
        let port = DynamicPort {
            chip: Chip::named(cells[0]).unwrap(),
            link: MadeFor { speed: number(1), metres: number(2) },
            mtu: number(3),
            lanes: number(4) as usize,
            lossless_mtu: number(5),
            small_percent: number(6),
            gearbox_ns: 0,
            shares: cells[7] == "yes",
        };
        let expected = Headroom { xon: number(8), xoff: number(9), size: number(10) };
        assert_eq!(dynamic(port), expected, "{line}");
        count += 1;
    }
    assert_eq!(count, 324);
}

/// The files of the pod with one of its sets of routes.
fn pod_with(routes: &str) -> Vec<Source> {
    let pod = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/ethernet/sonic-pod");
    let is_of_pod = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        name.starts_with("pod-") && (!path.starts_with(pod.join(routes)) || name.contains("show-"))
    };
    let files = [pod.clone(), pod.join(routes)]
        .into_iter()
        .flat_map(|folder| std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()));
    let mut paths = Vec::from_iter(files.filter(|path| path.is_file()).filter(is_of_pod));
    paths.sort();
    Source::read_all(&paths).unwrap()
}

#[test]
fn routes_of_the_pod_have_valleys_in_one_of_three_sets() {
    for (routes, expected) in
        [("routes-up", &[][..]), ("routes-valley", &["PL706"]), ("routes-spine", &[])]
    {
        let sources = pod_with(routes);
        let report = lint(&sources).unwrap();
        assert_eq!(loud(&report), expected, "{routes}");
        assert!(report.notes.iter().any(|note| note.contains("pod-spine0")), "{:?}", report.notes);
        let valleys = report.findings.iter().filter(|one| one.rule.id == "PL706");
        for valley in valleys {
            let at = valley.place.at;
            let line = &sources[valley.place.file].text[at.range()];
            assert!(line.contains(&valley.subject), "{line} of {}", valley.sentence());
            assert!(["pod-tor1", "pod-tor2"].contains(&valley.device.as_str()));
        }
    }
}

/// 711 cells are 102,384 B, and the two groups of a port with 40 m of cable may take 102,400 B.
#[test]
fn a_port_that_takes_too_much_of_the_shared_headroom_is_found() {
    let config = files("good").into_iter().find(|one| one.stem().ends_with("t1-dynamic")).unwrap();
    let ratio = "\"default_dynamic_th\": \"0\", \"over_subscribe_ratio\": \"2\"";
    let text = config.text.replace("\"default_dynamic_th\": \"0\"", ratio);
    let config = Source { file: "t1.config_db.json".to_string(), text };
    for (cells, expected) in [(711, &["PL306"][..]), (4_000, &[])] {
        let text = format!(
            "{{\"BUFFER_MAX_PARAM_TABLE|global\": {{\"mmu_size\": \"60817392\"}}, \"ASIC_TABLE|X\": \
             {{\"cell_size\": \"144\", \"port_reserved_shp\": \"0\", \"port_max_shp\": \"{cells}\"}}}}"
        );
        let state = Source { file: "t1.state_db.json".to_string(), text };
        assert_eq!(loud(&lint(&[config.clone(), state]).unwrap()), expected);
    }
}

/// As the buffers of Arista-7800R3-48CQ2-LC are released: queues of three cards of a chassis.
#[test]
fn queues_of_other_line_cards_are_not_rows_of_this_one() {
    let row = |card: u8| {
        format!(
            "\"dut-lc{card}|Asic0|Ethernet0|3-4\": {{\"profile\": \"egress_lossless_profile\"}}"
        )
    };
    let queues = [3, 4, 5].map(row).join(", ");
    let text = format!("{{\"BUFFER_QUEUE\": {{{queues}}}}}");
    let source = Source { file: "buffers.json".to_string(), text };
    assert_eq!(loud(&lint(&[source]).unwrap()), Vec::<&str>::new());
}
