//! The drawing and the SARIF log of a check.

use std::path::PathBuf;

use pauseless_check::read;
use pauseless_check::{Verdict, check, sarif, svg};
use pauseless_core::class_map::ClassMap;
use pauseless_core::unit::{Rate, Span};
use pauseless_fabric::dependency::{Lane, Lossy, Traffic};
use pauseless_fabric::fabric::{Device, Evidence, Fabric, Medium, Names, Origin};
use pauseless_fabric::generate::{FatTree, LinkSpecs, NToOne, Ring, Shape};
use pauseless_fabric::routing::{Multipath, RouteBuilder, TieBreak};
use pauseless_fabric::topology::{LinkSpec, Topology};
use pauseless_scenario::fabric_file;
use pauseless_text::source::Source;
use serde_json::Value;

const LINKS: LinkSpecs = LinkSpecs::same(LinkSpec { rate: Rate::gbps(10), delay: Span::us(1) });

const LOWEST: Multipath = Multipath::Single { tie_break: TieBreak::Lowest };

fn fabric(topology: Topology, multipath: Multipath) -> Fabric {
    Fabric {
        name: "a <test> & \"more\"".to_string(),
        medium: Medium::Ethernet,
        names: Names::default(),
        routes: RouteBuilder::new(&topology, multipath).build(),
        origin: Origin::Rule(multipath.into()),
        classes: ClassMap::Same,
        traffic: Traffic::AllPairs(vec![Lane::ONLY]),
        lossy: Lossy::nothing(),
        notes: vec!["a note".to_string()],
        evidence: Evidence::default(),
        topology,
    }
}

fn shape(shape: impl Shape) -> Fabric {
    fabric(shape.build(LINKS).unwrap(), LOWEST)
}

fn ring() -> Fabric {
    shape(Ring { switches: 5, hosts_per_switch: 2 })
}

//= gfc19 fig 11 type=test
fn fig_11() -> Fabric {
    let healthy = FatTree { k: 4 }.build(LINKS).unwrap();
    let failed = [("A1", "C2"), ("A5", "C1"), ("E1", "A2")];
    let failed = failed.map(|(a, b)| healthy.link_between(a, b).unwrap());
    fabric(healthy.without_links(&failed), Multipath::Ecmp)
}

fn infiniband(folder: &str, files: &[&str]) -> Fabric {
    let data = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/ib"));
    let sources = files.iter().map(|file| {
        let path = data.join(folder).join(file);
        Source::read(&path).unwrap_or_else(|problems| panic!("{problems:?}"))
    });
    match read::from_sources(&Vec::from_iter(sources), Default::default()) {
        Ok(fabric) => fabric,
        Err(problems) => panic!("{problems:?}"),
    }
}

/// Draws, checks what holds of every drawing, and saves it in the folder that `PLOT` names.
fn draw(name: &str, fabric: &Fabric) -> (Verdict, String) {
    let verdict = check(fabric, &[]);
    let drawn = draw_verdict(name, fabric, &verdict);
    (verdict, drawn)
}

fn draw_verdict(name: &str, fabric: &Fabric, verdict: &Verdict) -> String {
    let drawn = svg::draw(fabric, verdict, 0);
    assert_eq!(drawn, svg::draw(fabric, verdict, 0));
    assert_well_formed(&drawn);
    for broken in ["NaN", "inf\"", "inf "] {
        assert!(!drawn.contains(broken), "{name}");
    }
    if let Ok(folder) = std::env::var("PLOT") {
        std::fs::write(PathBuf::from(folder).join(format!("{name}.svg")), &drawn).unwrap();
    }
    drawn
}

/// Tags are closed in order, attributes are quoted, and no mark stands where XML forbids it.
fn assert_well_formed(text: &str) {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find('<') {
        assert_plain(&rest[..start]);
        let end = start + rest[start..].find('>').expect("a tag ends");
        let tag = &rest[start + 1..end];
        let name = tag.trim_end_matches('/').split(' ').next().unwrap();
        match tag.strip_prefix('/') {
            Some(closed) => assert_eq!(open.pop(), Some(closed)),
            None => {
                assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
                assert!(!tag.contains('<'), "{tag}");
                assert_plain(tag);
                if !tag.ends_with('/') {
                    open.push(name);
                }
            }
        }
        rest = &rest[end + 1..];
    }
    assert_eq!(open, Vec::<&str>::new());
    assert_eq!(rest.trim(), "");
}

/// Every `&` begins a reference, and there are no control characters.
fn assert_plain(text: &str) {
    for (at, _) in text.match_indices('&') {
        let known = ["&amp;", "&lt;", "&gt;", "&quot;", "&#39;"];
        assert!(known.iter().any(|one| text[at..].starts_with(one)), "{text}");
    }
    let is_control = |c: char| c.is_control() && c != '\n';
    assert!(!text.contains(is_control), "{text:?}");
}

fn log(fabric: &Fabric, files: &[&str]) -> Value {
    let verdict = check(fabric, &[]);
    let files = Vec::from_iter(files.iter().map(|file| file.to_string()));
    serde_json::to_value(sarif::document(fabric, &verdict, &files)).unwrap()
}

#[test]
fn a_drawing_has_the_names_of_the_cycle_and_of_its_flows() {
    let cases = [
        ("ring5", ring()),
        ("fig11", fig_11()),
        ("ft4", infiniband("ft4-minhop", &FT4)),
        ("dgx", infiniband("dgx-minhop", &DGX)),
    ];
    for (name, fabric) in &cases {
        let (verdict, drawn) = draw(name, fabric);
        for component in verdict.components.iter().take(1) {
            for hop in &component.cycle.hops {
                let node = &fabric.topology.node(hop.buffer.node).name;
                assert!(drawn.contains(node.as_str()), "{name}: {node}");
            }
            for flow in &component.cycle.flows {
                let source = &fabric.topology.node(flow.source).name;
                assert!(drawn.contains(source.as_str()), "{name}: {source}");
            }
        }
        let says_so = drawn.contains("There is no cycle");
        assert_eq!(says_so, !verdict.is_cyclic(), "{name}");
    }
}

#[test]
fn every_component_has_its_own_drawing() {
    let fabric = fig_11();
    let verdict = check(&fabric, &[]);
    assert_eq!(verdict.components.len(), 2);
    let drawings = [0, 1, 2].map(|component| svg::draw(&fabric, &verdict, component));
    assert!(drawings[0].contains("Cycle 1 of 2") && drawings[1].contains("Cycle 2 of 2"));
    // One that is not there is not drawn, and the verdict stays what it is.
    assert!(drawings[2].contains("Cycle 3 is not drawn"));
    assert!(drawings[2].contains("lossless traffic can deadlock"));
    for drawing in &drawings {
        assert_well_formed(drawing);
    }
}

#[test]
fn names_that_mean_something_in_xml_are_escaped() {
    let mut fabric = ring();
    let hostile = "</text><script>alert(1)</script>&\"'\u{0}\u{1b}[31m]]>\u{ffff}";
    let count = fabric.topology.nodes().len();
    let device = Device {
        description: hostile.to_string(),
        guid: None,
        ports: vec![hostile.to_string(); 16],
    };
    fabric.names = Names::new(vec![device; count]);
    fabric.name = hostile.repeat(30);
    let (_, drawn) = draw("hostile", &fabric);
    assert!(!drawn.contains("<script"));
    assert!(!drawn.contains('\u{0}') && !drawn.contains('\u{ffff}'));
}

#[test]
fn small_and_large_fabrics_are_drawn() {
    let (_, drawn) = draw("one", &shape(NToOne { senders: 2 }));
    assert!(drawn.contains("S1") && drawn.contains(">+3<"));
    // Five hundred switches without a cycle, and a cycle that passes all of very many.
    let (verdict, drawn) = draw("tree", &shape(FatTree { k: 20 }));
    assert!(!verdict.is_cyclic());
    assert!(drawn.contains("500 switches are not drawn."));
    let long = ring_of(150);
    // Nobody asks who is to blame once somebody has been left out, which would take long.
    let verdict = check(&long, &long.topology.hosts()[..1]);
    let drawn = draw_verdict("long", &long, &verdict);
    assert_eq!(verdict.components[0].cycle.hops.len(), 150);
    assert!(drawn.contains("126 more hops"));
}

/// A ring whose cycle passes every switch.
fn ring_of(switches: u32) -> Fabric {
    shape(Ring { switches, hosts_per_switch: 1 })
}

#[test]
fn a_log_has_what_sarif_requires() {
    let fabric = fig_11();
    let log = log(&fabric, &["./a b.toml", "/abs/c.lst"]);
    assert_eq!(log["version"], "2.1.0");
    assert!(log["$schema"].as_str().unwrap().ends_with("sarif-schema-2.1.0.json"));
    let run = &log["runs"][0];
    let driver = &run["tool"]["driver"];
    assert_eq!(driver["name"], "pauseless");
    assert_eq!(driver["version"], env!("CARGO_PKG_VERSION"));
    // GitHub takes no rule without one.
    for rule in driver["rules"].as_array().unwrap() {
        assert_ne!(rule["fullDescription"]["text"].as_str().unwrap(), "", "{}", rule["id"]);
    }
    assert_eq!(run["invocations"][0]["executionSuccessful"], true);
    let notes = &run["invocations"][0]["toolExecutionNotifications"];
    assert_eq!(notes[0]["message"]["text"], "a note");
    assert_eq!(run["artifacts"][0]["location"]["uri"], "a%20b.toml");
    let results = run["results"].as_array().unwrap();
    assert_eq!(results.len(), 2);
    for result in results {
        assert_eq!(result["ruleId"], "cyclic-buffer-dependency");
        let index = result["ruleIndex"].as_u64().unwrap() as usize;
        assert_eq!(driver["rules"][index]["id"], result["ruleId"]);
        assert_eq!(result["level"], "error");
        let place = &result["locations"][1]["physicalLocation"];
        assert_eq!(place["artifactLocation"]["uri"], "file:///abs/c.lst");
        assert_eq!(place["region"]["startLine"], 1);
        let flows = result["properties"]["flows"].as_array().unwrap();
        assert_eq!(result["relatedLocations"].as_array().unwrap().len(), flows.len());
    }
}

#[test]
fn hops_are_in_the_order_of_the_cycle() {
    let fabric = ring();
    let verdict = check(&fabric, &[]);
    let log = log(&fabric, &["ring.toml"]);
    let result = &log["runs"][0]["results"][0];
    let hops = &result["codeFlows"][0]["threadFlows"][0]["locations"];
    let cycle = &verdict.components[0].cycle.hops;
    assert_eq!(hops.as_array().unwrap().len(), cycle.len());
    let message = result["message"]["text"].as_str().unwrap();
    let mut from = 0;
    for (at, hop) in cycle.iter().enumerate() {
        let port = fabric.topology.port_name(hop.buffer.node, hop.buffer.port);
        let switch = &fabric.topology.node(hop.buffer.node).name;
        let name = format!("{switch}/{port}/priority 0");
        let place = &hops[at]["location"];
        assert_eq!(place["logicalLocations"][0]["fullyQualifiedName"], name.as_str());
        assert_eq!(hops[at]["executionOrder"], at + 1);
        let found = message[from..].find(&port).expect("the sentence has every hop");
        from += found + port.len();
    }
}

#[test]
fn nothing_found_is_an_empty_list() {
    let fabric = infiniband("ft4-minhop", &FT4);
    let log = log(&fabric, &[]);
    assert_eq!(log["runs"][0]["results"], Value::Array(Vec::new()));
    assert_eq!(log["runs"][0]["properties"]["verdict"], "cycle-free");
}

#[test]
fn a_cycle_of_a_single_flow_is_a_routing_loop() {
    let fabric = ring();
    let mut verdict = check(&fabric, &[]);
    verdict.components[0].cycle.flows.truncate(1);
    let log = sarif::document(&fabric, &verdict, &[]);
    let log = serde_json::to_value(log).unwrap();
    let run = &log["runs"][0];
    let result = &run["results"][0];
    assert_eq!(result["ruleId"], "routing-loop");
    assert_eq!(run["tool"]["driver"]["rules"][1]["id"], "routing-loop");
    // Without files there are places in the fabric only.
    assert_eq!(result["locations"][0]["physicalLocation"], Value::Null);
    assert!(svg::draw(&fabric, &verdict, 0).contains("A single flow closes it"));
}

/// What circles never arrives, so the legend does not name the target.
#[test]
fn the_path_of_a_flow_that_circles_does_not_end_at_its_target() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../papers/hotnets/fig2.toml");
    let source = Source::read(&PathBuf::from(file)).expect("a scenario");
    let fabric = fabric_file::read(&source).unwrap_or_else(|problems| panic!("{problems:?}"));
    let drawn = svg::draw(&fabric, &check(&fabric, &[]), 0);
    assert!(drawn.contains("H1 &gt; S1 &gt; S2 &gt; S1  (hops"), "{drawn}");
    assert!(!drawn.contains("H2"), "{drawn}");
}

const FT4: [&str; 2] = ["ibnetdiscover.out.gz", "dump_lfts.out.gz"];
const DGX: [&str; 2] = ["opensm-subnet.lst.gz", "opensm.fdbs.gz"];
