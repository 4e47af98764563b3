//! Fabric files: what is written reads back the same, and generated fabrics and scenarios are
//! fabrics too.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use pauseless_check::check;
use pauseless_check::{graphml, read};
use pauseless_core::class_map::{
    Beyond, Carried, ClassMap, ClassTable, Hops, Key, LANE_COUNT, Passage,
};
use pauseless_core::id::{Class, GroupId, NodeId, PortId};
use pauseless_core::table::ForwardingTable;
use pauseless_core::unit::{Rate, Span};
use pauseless_fabric::dependency::{Demand, Lane, Lossy, Traffic};
use pauseless_fabric::fabric::{Device, Fabric, Medium, Names, Origin};
use pauseless_fabric::routing::{
    Algorithm, Groups, Multipath, RouteBuilder, Routes, Routing, TieBreak, port_counts,
};
use pauseless_fabric::topology::Topology;
use pauseless_scenario::{fabric_file, shape};
use pauseless_text::source::Source;
use proptest::prelude::*;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

fn source(text: &str) -> Source {
    Source::from_bytes("t.toml", text.as_bytes().to_vec()).expect("UTF-8")
}

fn parse(text: &str) -> Fabric {
    fabric_file::read(&source(text)).unwrap_or_else(|problems| panic!("{problems}\n{text}"))
}

fn files(paths: &[PathBuf]) -> Fabric {
    let sources = paths.iter().map(|path| Source::read(path));
    let sources = sources.collect::<Result<Vec<_>, _>>().expect("the files are there");
    read::from_sources(&sources, Default::default()).unwrap_or_else(|problems| panic!("{problems}"))
}

/// Each address by the host and its number there.
fn addresses(fabric: &Fabric) -> BTreeMap<(NodeId, usize), GroupId> {
    let mut counts: BTreeMap<NodeId, usize> = BTreeMap::new();
    let groups = &fabric.routes.groups;
    let addresses = groups.addresses().map(|group| {
        let count = counts.entry(groups.target(group)).or_default();
        *count += 1;
        ((groups.target(group), *count), group)
    });
    addresses.collect()
}

fn is_routed(fabric: &Fabric, group: GroupId) -> bool {
    let switches = fabric.topology.switches().iter();
    let mut hops = switches.map(|switch| fabric.routes.table.next_hops(*switch, group));
    hops.any(|hops| !hops.is_empty())
}

/// What a demand is, whatever its group is called: the next hops of all switches on its way.
fn essence(fabric: &Fabric, demand: &Demand) -> (NodeId, Lane, NodeId, Vec<Vec<PortId>>) {
    let routes = &fabric.routes;
    let switches = fabric.topology.switches().iter();
    let hops = switches.map(|switch| routes.table.next_hops(*switch, demand.group).to_vec());
    let target = routes.groups.target(demand.group);
    (demand.source, demand.lane, target, hops.collect())
}

fn assert_same(a: &Fabric, b: &Fabric) {
    assert_eq!(a.topology, b.topology);
    assert_eq!((a.medium, &a.notes), (b.medium, &b.notes));
    for node in (0..a.topology.nodes().len()).map(|node| NodeId(node as u32)) {
        let device = |fabric: &Fabric| fabric.names.device(node).cloned().unwrap_or_default();
        assert_eq!(device(a), device(b));
    }
    let (of_a, of_b) = (addresses(a), addresses(b));
    for (address, group) in &of_a {
        let Some(other) = of_b.get(address) else {
            assert!(!is_routed(a, *group), "{address:?} is lost");
            continue;
        };
        for &switch in a.topology.switches() {
            let hops = a.routes.table.next_hops(switch, *group);
            assert_eq!(hops, b.routes.table.next_hops(switch, *other));
        }
    }
    assert!(of_b.keys().all(|address| of_a.contains_key(address)));
    assert_classes(a, b);
    match (&a.traffic, &b.traffic) {
        (Traffic::Demands(first), Traffic::Demands(second)) => {
            let all = |fabric: &Fabric, demands: &[Demand]| {
                let essences = demands.iter().map(|demand| essence(fabric, demand));
                BTreeSet::from_iter(essences)
            };
            assert_eq!(all(a, first), all(b, second));
        }
        (first, second) => assert_eq!(first, second),
    }
    for &switch in a.topology.switches() {
        for port in (0..a.topology.ports(switch).len()).map(|port| PortId(port as u16)) {
            assert_eq!(a.lossy.at(switch, port), b.lossy.at(switch, port));
        }
    }
}

fn assert_classes(a: &Fabric, b: &Fabric) {
    let (ClassMap::Table(first), ClassMap::Table(second)) = (&a.classes, &b.classes) else {
        return assert_eq!(a.classes, b.classes);
    };
    assert_eq!(first.key(), second.key());
    for &node in a.topology.switches() {
        let count = a.topology.ports(node).len() as u16;
        for (ingress, egress) in (0..count).flat_map(|a| (0..count).map(move |b| (a, b))) {
            let passage = Passage { node, ingress: PortId(ingress), egress: PortId(egress) };
            for label in 0..LANE_COUNT as u8 {
                for class in (0..LANE_COUNT as u8).map(Class) {
                    let hops = 0;
                    let carried = Carried { label, class, hops };
                    let next = |fabric: &Fabric| fabric.classes.next(passage, carried);
                    assert_eq!(next(a), next(b));
                }
            }
        }
    }
}

/// What is written reads back the same, gets the same verdict, and is written the same again.
fn assert_round_trip(fabric: &Fabric) -> Fabric {
    let text = fabric_file::write(fabric);
    let again = parse(&text);
    assert_same(fabric, &again);
    let verdicts = [fabric, &again].map(|fabric| {
        let verdict = check(fabric, &[]);
        let cycles = verdict.components.iter().map(|component| component.cycle.hops.len());
        let cycles = Vec::from_iter(cycles);
        (verdict.component_count, verdict.dependency_count, cycles)
    });
    assert_eq!(verdicts[0], verdicts[1]);
    assert!(fabric_file::write(&again) == text, "{text}");
    again
}

#[test]
fn the_example_of_the_documentation_reads_and_is_checked() {
    let text = std::fs::read_to_string(Path::new(ROOT).join("docs/fabric.md")).unwrap();
    let examples = text.split("```toml\n").skip(1);
    let examples = Vec::from_iter(examples.map(|rest| rest.split("```").next().unwrap()));
    let example = parse(examples[0]);
    assert_eq!(example.origin, Origin::Tables);
    assert!(check(&example, &[]).is_cyclic());
    assert_round_trip(&example);
    // The others are parts that may stand instead.
    let (base, _) = examples[0].split_once("[routing]").unwrap();
    for part in &examples[1..] {
        assert_round_trip(&parse(&format!("{base}{part}")));
    }
}

#[test]
fn a_scenario_is_checked_by_its_flows() {
    let fabric = files(&[Path::new(ROOT).join("papers/gfc/fig14.toml")]);
    assert_eq!(fabric.origin, Origin::Flows);
    let verdict = check(&fabric, &[]);
    assert_eq!(verdict.component_count, 1);
    let hops = verdict.components[0].cycle.hops.iter();
    let mut names =
        Vec::from_iter(hops.map(|hop| fabric.topology.node(hop.buffer.node).name.as_str()));
    let first = names.iter().position(|name| *name == "C1").unwrap();
    names.rotate_left(first);
    assert_eq!(names, ["C1", "A3", "C2", "A7"]);
    assert_round_trip(&fabric);
}

#[test]
fn every_scenario_is_a_fabric() {
    let entries = std::fs::read_dir(Path::new(ROOT).join("scenarios")).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let tomls = paths.filter(|path| path.extension().is_some_and(|e| e == "toml"));
    let tomls = tomls.filter(|path| !path.to_string_lossy().ends_with(".sweep.toml"));
    let tomls = Vec::<PathBuf>::from_iter(tomls);
    assert!(tomls.len() >= 10);
    for path in tomls {
        assert_round_trip(&files(&[path]));
    }
}

#[test]
fn dumps_are_converted() {
    let cases: [(&str, &[&str]); 5] = [
        ("ring4-minhop", &["opensm-subnet.lst", "opensm.fdbs"]),
        ("ft4-minhop", &["opensm-subnet.lst.gz", "opensm.fdbs.gz"]),
        ("t44-dor", &["opensm-subnet.lst.gz", "opensm.fdbs.gz"]),
        (
            "t44-dfsssp-vl",
            &["opensm-subnet.lst.gz", "opensm.fdbs.gz", "opensm-sl2vl.dump.gz", "psl.gz"],
        ),
        ("dgx-minhop", &["opensm-subnet.lst.gz", "opensm.fdbs.gz"]),
    ];
    for (case, names) in cases {
        let folder = Path::new(ROOT).join("examples/ib").join(case);
        let paths = Vec::from_iter(names.iter().map(|name| folder.join(name)));
        assert_round_trip(&files(&paths));
    }
}

/// The pod with its own routes: port channels as sets of ports, a next hop with three times the weight
/// of another, and code points that change their priority at one switch.
#[test]
fn weighted_and_labelled_routes_are_converted() {
    let folder = Path::new(ROOT).join("examples/ethernet/sonic-pod");
    let names = ["leaf0", "leaf1", "tor0", "tor1", "tor2", "tor3"];
    let configs = names.map(|name| folder.join(format!("pod-{name}.json")));
    let routes = names.map(|name| folder.join(format!("routes-up/pod-{name}.show-ip-route.json")));
    let paths = Vec::from_iter(configs.into_iter().chain(routes));
    let mut sources = Source::read_all(&paths).unwrap();
    let tor0 = sources.iter_mut().find(|one| one.file.ends_with("pod-tor0.show-ip-route.json"));
    let text = &mut tor0.unwrap().text;
    let (before, route) = text.split_once("\"192.168.1.0/24\": [").unwrap();
    let route = route.replacen("\"weight\": 1", "\"weight\": 3", 1);
    *text = format!("{before}\"192.168.1.0/24\": [{route}");
    let leaf1 = &mut sources[1].text;
    let (from, to) = (
        "\"3\": \"3\",\n   \"4\": \"4\",\n   \"5\": \"2\"",
        "\"3\": \"4\",\n   \"4\": \"3\",\n   \"5\": \"2\"",
    );
    assert!(leaf1.contains(from));
    *leaf1 = leaf1.replacen(from, to, 1);
    let fabric = read::from_sources(&sources, Default::default()).unwrap();
    assert!(!fabric.evidence.labels.is_empty());
    // Tables have every next hop once: what is written has the same sets without weights, and is
    // then written the same again.
    let sets = |fabric: &Fabric| {
        let tor = fabric.topology.node_named("pod-tor0").unwrap();
        let groups = fabric.routes.groups.addresses();
        groups.map(|group| fabric.routes.table.next_hops(tor, group).len()).max()
    };
    assert_eq!(sets(&fabric), Some(8), "three to one, over two ports each");
    let again = parse(&fabric_file::write(&fabric));
    assert_eq!(sets(&again), Some(4));
    assert_round_trip(&again);
}

#[test]
fn specs_are_short_for_files() {
    let cases = [
        ("fat-tree:4", "kind = \"fat-tree\"\nk = 4"),
        ("fat-tree:k=4", "kind = \"fat-tree\"\nk = 4"),
        (
            "torus:dimensions=4x4x3,hosts_per_switch=2",
            "kind = \"torus\"\ndimensions = [4, 4, 3]\nhosts_per_switch = 2",
        ),
        (
            "leaf-spine:leaves=4,spines=2,hosts_per_leaf=8,links_per_pair=2",
            "kind = \"leaf-spine\"\nleaves = 4\nspines = 2\nhosts_per_leaf = 8\nlinks_per_pair = 2",
        ),
    ];
    for (spec, keys) in cases {
        let fabric = shape::parse(spec).unwrap_or_else(|problems| panic!("{problems}"));
        let links = "rate = \"100 Gbps\"\ndelay = \"1 us\"";
        let file = parse(&format!("[topology]\n{keys}\n{links}\n"));
        assert_eq!((&fabric.topology, &fabric.routes), (&file.topology, &file.routes));
        assert_eq!(fabric.name, spec);
        assert_round_trip(&fabric);
    }
}

#[test]
fn a_dateline_opens_the_rings_of_a_torus() {
    let plain = "torus:4x4,hosts_per_switch=1,routing=dimension-order";
    let with = format!("{plain},classes=dateline");
    for (spec, is_cyclic) in [(plain, true), (&with, false)] {
        let fabric = shape::parse(spec).unwrap_or_else(|problems| panic!("{problems}"));
        assert_eq!(check(&fabric, &[]).is_cyclic(), is_cyclic);
        assert_round_trip(&fabric);
    }
    let up_down = shape::parse("torus:4x4,hosts_per_switch=1,routing=up-down,multipath=ecmp");
    assert!(!check(&up_down.unwrap(), &[]).is_cyclic());
}

#[test]
fn large_fabrics_are_checked_although_they_could_not_run() {
    let fabric = shape::parse("fat-tree:48").unwrap_or_else(|problems| panic!("{problems}"));
    assert_eq!(fabric.topology.host_count(), 27_648);
}

#[test]
fn graphml_has_every_node_and_link_and_escapes_text() {
    let mut fabric = shape::parse("ring:3,hosts_per_switch=1").unwrap();
    let mut devices = vec![Device::default(); fabric.topology.nodes().len()];
    devices[0] = Device {
        description: "a <b> & \"c\"\u{7}".to_string(),
        guid: Some(0x2c9),
        ports: vec!["P1".to_string(), "swp<2>".to_string(), String::new()],
    };
    fabric.names = Names::new(devices);
    let text = graphml::write(&fabric);
    let count = |part: &str| text.matches(part).count();
    assert_eq!((count("<node "), count("</node>")), (6, 6));
    assert_eq!((count("<edge "), count("</edge>")), (6, 6));
    assert_eq!((count("<data "), count("</data>")), (count("</data>"), count("<data ")));
    assert!(
        text.contains(
            "<data key=\"node.description\">a &lt;b&gt; &amp; &quot;c&quot;\u{fffd}</data>"
        )
    );
    assert!(text.contains("<data key=\"node.guid\">0x00000000000002c9</data>"));
    assert!(text.contains("_port\">swp&lt;2&gt;</data>"));
    assert!(text.contains("<data key=\"edge.rate\">100000000000</data>"));
    assert!(text.ends_with("  </graph>\n</graphml>\n"));
}

/// A small source of choices, so that one number makes a whole fabric.
struct Choices(u64);

impl Choices {
    fn below(&mut self, count: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % count
    }

    fn text(&mut self) -> String {
        const TEXTS: [&str; 6] =
            ["", "MF0;leaf:MQM/U1", "a \"b\" \\ c", "\t\u{1}\u{7f}", "é 日本", "x"];
        TEXTS[self.below(TEXTS.len() as u64) as usize].to_string()
    }
}

/// A fabric of a generated shape with tables, classes, traffic and names that mean nothing.
fn random_fabric(seed: u64) -> Fabric {
    const SHAPES: [&str; 5] = [
        "ring:4,hosts_per_switch=2",
        "leaf-spine:leaves=3,spines=2,hosts_per_leaf=3,links_per_pair=2",
        "fat-tree:4",
        "mesh:3x2,hosts_per_switch=1,rate=40 Gbps,host_delay=3 ns",
        "random-regular:switches=6,degree=3,hosts_per_switch=2",
    ];
    let mut choices = Choices(seed);
    let spec = SHAPES[choices.below(SHAPES.len() as u64) as usize];
    let mut fabric = shape::parse(spec).unwrap_or_else(|problems| panic!("{problems}"));
    fabric.medium = [Medium::Ethernet, Medium::InfiniBand][choices.below(2) as usize];
    fabric.notes = Vec::from_iter((0..choices.below(3)).map(|_| choices.text()));
    randomise_routes(&mut fabric, &mut choices);
    randomise_classes(&mut fabric, &mut choices);
    let hosts = fabric.topology.hosts().to_vec();
    let lane = |choices: &mut Choices| Lane {
        label: choices.below(16) as u8,
        class: Class(choices.below(16) as u8),
    };
    fabric.traffic = match choices.below(3) {
        0 => Traffic::AllPairs(vec![Lane::ONLY]),
        1 => Traffic::AllPairs(vec![lane(&mut choices), lane(&mut choices)]),
        _ => {
            let addresses = Vec::from_iter(fabric.routes.groups.addresses());
            let demands = (0..choices.below(60)).map(|_| Demand {
                group: addresses[choices.below(addresses.len() as u64) as usize],
                lane: lane(&mut choices),
                source: hosts[choices.below(hosts.len() as u64) as usize],
            });
            let demands = Vec::from_iter(demands).into_iter();
            let targets = &fabric.routes.groups;
            let others = demands.filter(|demand| targets.target(demand.group) != demand.source);
            Traffic::Demands(others.collect())
        }
    };
    let switches = fabric.topology.switches().to_vec();
    for &switch in &switches {
        let classes = choices.below(1 << 16) as u16;
        fabric.lossy.add(switch, PortId(0), classes & (0xff * choices.below(2) as u16));
    }
    fabric
}

fn randomise_routes(fabric: &mut Fabric, choices: &mut Choices) {
    if choices.below(4) == 0 {
        let tie_break = [TieBreak::Lowest, TieBreak::Seeded(7)][choices.below(2) as usize];
        let routing = Routing {
            algorithm: [Algorithm::Shortest, Algorithm::UpDown][choices.below(2) as usize],
            multipath: [Multipath::Single { tie_break }, Multipath::Ecmp]
                [choices.below(2) as usize],
        };
        fabric.routes = RouteBuilder::new(&fabric.topology, routing).build();
        fabric.origin = Origin::Rule(routing);
        return;
    }
    let Fabric { topology, .. } = fabric;
    let mut groups = Groups::of_hosts(topology);
    for _ in 0..choices.below(5) {
        let host = topology.hosts()[choices.below(topology.host_count() as u64) as usize];
        groups.add_address(host);
    }
    let mut table = ForwardingTable::new(topology.nodes().len(), topology.switches());
    for _ in 0..groups.count() {
        let way = table.add_way();
        table.add_group(way, None);
    }
    for &switch in topology.switches() {
        let count = topology.ports(switch).len() as u16;
        for group in (0..groups.count()).map(|group| GroupId(group as u32)) {
            let few = 1 + choices.below(2) as u16;
            let first = choices.below(u64::from(count) + 1) as u16;
            let ports = Vec::from_iter((first..count.min(first + few)).map(PortId));
            table.set(switch, group, &ports);
        }
    }
    fabric.routes = Routes { table, groups };
    fabric.origin = Origin::Tables;
    let devices = topology.nodes().iter().enumerate().map(|(number, _)| Device {
        description: choices.text(),
        guid: Some(choices.below(1 << 31) << 33).filter(|guid| guid % 3 > 0),
        ports: match number % 3 {
            0 => Vec::new(),
            _ => {
                let count = topology.ports(NodeId(number as u32)).len();
                (0..count).map(|port| format!("swp{port}\"{}", choices.below(9))).collect()
            }
        },
    });
    fabric.names = Names::new(devices.collect());
}

fn randomise_classes(fabric: &mut Fabric, choices: &mut Choices) {
    let topology = &fabric.topology;
    fabric.classes = match choices.below(4) {
        0 => ClassMap::Same,
        1 => ClassMap::Hops(Hops {
            count: 1 + choices.below(16) as u8,
            width: 1 + choices.below(16) as u8,
            beyond: [Beyond::Drop, Beyond::Stay][choices.below(2) as usize],
        }),
        number => {
            let key = [Key::Label, Key::Class][number as usize - 2];
            let mut table = ClassTable::new(key, port_counts(topology));
            let sparse = 1 + choices.below(3);
            for &node in topology.switches() {
                let count = topology.ports(node).len() as u16;
                for pair in 0..count * count {
                    if choices.below(sparse) > 0 {
                        continue;
                    }
                    let row = match choices.below(4) {
                        0 => std::array::from_fn(|class| class as u8),
                        1 => std::array::from_fn(|class| [3, ClassTable::DROP][class % 2]),
                        high => [high as u8; LANE_COUNT],
                    };
                    let passage = Passage {
                        node,
                        ingress: PortId(pair / count),
                        egress: PortId(pair % count),
                    };
                    table.set(passage, row);
                }
            }
            ClassMap::Table(table)
        }
    };
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn what_is_written_reads_back_the_same(seed: u64) {
        assert_round_trip(&random_fabric(seed));
    }
}

#[test]
fn tables_share_ways_as_rules_do() {
    let ecmp = shape::parse("fat-tree:k=6,routing=ecmp").unwrap();
    let tables = Fabric { origin: Origin::Tables, ..ecmp.clone() };
    let again = assert_round_trip(&tables);
    assert_eq!(again.routes.table.way_count(), ecmp.routes.table.way_count());
    assert_eq!(again.lossy, Lossy::nothing());
    let link = again.topology.links()[0];
    assert_eq!((link.rate, link.delay), (Rate::gbps(100), Span::us(1)));
    assert_eq!(fabric_name(&again.topology), "A1");
}

fn fabric_name(topology: &Topology) -> &str {
    let name = topology.node_named("A1").map(|node| topology.node(node));
    assert_eq!(name.map(|node| node.layer), Some(2));
    name.map_or("", |node| node.name.as_str())
}
