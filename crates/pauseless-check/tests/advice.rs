//! What is proposed helps: every proposal is carried out here and checked as a whole.

use std::path::Path;

use pauseless_check::advice::{Change, Choice, Kind, Proposal};
use pauseless_check::fix::{self, FixFile};
use pauseless_check::{Verdict, check, read};
use pauseless_core::class_map::ClassMap;
use pauseless_core::id::{Class, NodeId};
use pauseless_core::unit::{Rate, Span};
use pauseless_fabric::dependency::{Demand, Lane, Traffic};
use pauseless_fabric::fabric::{Device, Fabric, LaneEvidence, Medium, Names};
use pauseless_fabric::routing::opensm::Subnet;
use pauseless_fabric::topology::LinkSpec;
use pauseless_text::source::Source;
use pauseless_text::terminal::Paint;

/// The text of a file of an example.
fn file(example: &str, name: &str) -> Source {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/ib").join(example);
    let plain = folder.join(name);
    let path = if plain.exists() { plain } else { folder.join(format!("{name}.gz")) };
    Source::read(&path).expect("an example")
}

/// A fabric whose packets all use one virtual lane, which the tables of some cannot tell.
fn example(name: &str) -> Fabric {
    let sources = ["opensm-subnet.lst", "opensm.fdbs"].map(|it| file(name, it));
    in_one_lane(read::from_sources(&sources, Default::default()).expect("an example"))
}

fn in_one_lane(mut fabric: Fabric) -> Fabric {
    fabric.evidence.lanes = LaneEvidence::Known;
    fabric
}

fn advised(fabric: &Fabric) -> Verdict {
    let mut verdict = check(fabric, &[]);
    verdict.take_advice(fabric, &mut |_| {});
    verdict
}

/// The fabric after the change, every packet in the class that the change gives it.
fn changed(fabric: &Fabric, change: &Change) -> Fabric {
    let mut changed = fabric.clone();
    changed.classes = ClassMap::Same;
    let lane = |label| Lane { label, class: Class(label) };
    let demands = |fabric: &Fabric, level: &dyn Fn(NodeId, Demand) -> u8| {
        let groups = &fabric.routes.groups;
        let mut demands = Vec::new();
        for group in groups.addresses() {
            let target = groups.target(group);
            for &source in fabric.topology.hosts().iter().filter(|source| **source != target) {
                let demand = Demand { group, lane: lane(0), source };
                demands.push(Demand { lane: lane(level(target, demand)), ..demand });
            }
        }
        Traffic::Demands(demands)
    };
    match change {
        Change::UpDown { roots, .. } => {
            changed.routes = Subnet::of(fabric).up_down(roots, &fabric.routes.groups);
        }
        Change::Class { lanes } => {
            let level = |target: NodeId, demand: Demand| {
                let is_in =
                    |lane: &Vec<NodeId>| lane.contains(&target) || lane.contains(&demand.source);
                lanes.iter().position(is_in).map_or(0, |at| at as u8 + 1)
            };
            changed.traffic = demands(fabric, &level);
        }
        Change::Layers(layered) => {
            changed.routes = layered.routes.clone();
            let level = |_: NodeId, demand: Demand| layered.layer_of[demand.group.index()];
            changed.traffic = demands(&changed, &level);
        }
        Change::LeaveOut { .. } => {}
    }
    changed
}

#[test]
fn what_is_proposed_helps_when_it_is_carried_out() {
    for name in [
        "dgx-minhop",
        "dragonfly4x5-minhop",
        "dualring6-minhop",
        "ft4drop4s22-minhop",
        "ls4x4spinehosts-minhop",
        "mesh3x3-minhop",
        "ring5lmc1-minhop",
        "rrg10d3-minhop",
        "torus3x3x3-minhop",
        "torus4x4-dor",
    ] {
        let fabric = example(name);
        let before = check(&fabric, &[]);
        let verdict = advised(&fabric);
        let advice = verdict.advice.as_ref().expect("there is a cycle");
        let helping = advice.proposals.iter().filter(|proposal| proposal.helps);
        let helping = Vec::from_iter(helping);
        assert!(helping.len() >= 2, "{name}: {} proposals", helping.len());
        for Proposal { change, .. } in helping {
            let left_out = match change {
                Change::LeaveOut { nodes } => nodes.clone(),
                _ => Vec::new(),
            };
            let after = check(&changed(&fabric, change), &left_out);
            assert!(!after.is_cyclic(), "{name}: {:?} has a cycle", change.kind());
            assert!(after.unrouted_pairs <= before.unrouted_pairs, "{name}: {:?}", change.kind());
        }
    }
}

#[test]
fn what_does_not_help_on_the_fabric_of_the_readme_is_told_with_its_numbers() {
    let fabric = example("dgx-minhop");
    let verdict = advised(&fabric);
    let advice = verdict.advice.as_ref().expect("there is a cycle");
    let best = &advice.proposals[0];
    assert_eq!((best.change.kind(), best.helps), (Kind::Layers, true));
    assert!(best.outcome.load <= advice.now.largest, "{:?}", best.outcome);
    // From one root the busiest link carries more than 1.4 times as many pairs, fewer than now.
    let updn = &advice.proposals[1];
    assert_eq!((updn.change.kind(), updn.helps), (Kind::UpDown, true));
    assert!(updn.outcome.load > 1.4 * best.outcome.load, "{:?}", updn.outcome);
    assert!(updn.outcome.load <= advice.now.largest, "{:?}", updn.outcome);
    let of_choice = |wanted: Choice| {
        let is_it = |it: &&Proposal| matches!(&it.change, Change::UpDown { choice, .. } if *choice == wanted);
        advice.proposals.iter().find(is_it).expect("it was tried")
    };
    // All spines as roots: paths between the end nodes on spines would go down and up again.
    let top = of_choice(Choice::Top);
    assert_eq!((top.helps, top.outcome.lost), (false, 432));
    // Without a file opensm takes leaves for roots, and between roots every step goes up.
    let detected = of_choice(Choice::Detected);
    assert_eq!((detected.helps, detected.outcome.cyclic_classes), (false, 1));
}

/// Two switches X and Y with GPUs, two above them, A and B, with a manager and a storage node; the
/// packets between these two go down and up again.
fn service_nodes() -> Fabric {
    let links = [
        ["g1", "X"],
        ["g2", "X"],
        ["g3", "X"],
        ["g4", "X"],
        ["c1", "X"],
        ["g5", "Y"],
        ["g6", "Y"],
        ["g7", "Y"],
        ["g8", "Y"],
        ["c2", "Y"],
        ["X", "A"],
        ["X", "B"],
        ["Y", "A"],
        ["Y", "B"],
        ["m", "A"],
        ["s", "B"],
    ];
    let mut paths = vec![vec!["m", "A", "X", "B", "s"], vec!["s", "B", "Y", "A", "m"]];
    for (x, y) in [("c1", "c2"), ("g1", "g5"), ("g2", "g6"), ("g3", "g7"), ("g4", "g8")] {
        paths.push(vec![x, "X", "B", "Y", y]);
        paths.push(vec![y, "Y", "A", "X", x]);
    }
    let spec = LinkSpec { rate: Rate::gbps(100), delay: Span::ns(1) };
    let mut fabric = Fabric::from_paths(&links, spec, &paths).expect("a fabric");
    let devices = fabric
        .topology
        .nodes()
        .iter()
        .map(|node| Device { description: node.name.clone(), ..Device::default() });
    fabric.names = Names::new(devices.collect());
    fabric
}

#[test]
fn service_nodes_above_the_leaves_are_blamed_before_the_servers() {
    let fabric = service_nodes();
    let verdict = advised(&fabric);
    let blame = verdict.blame.expect("without the manager there is no cycle");
    let names = blame.hosts.iter().map(|it| fabric.topology.node(*it).name.as_str());
    assert_eq!(Vec::from_iter(names), ["m"]);
}

#[test]
fn ethernet_is_told_in_the_words_of_its_switches() {
    let mut fabric = service_nodes();
    fabric.medium = Medium::Ethernet;
    let verdict = advised(&fabric);
    let report = pauseless_check::text::report(&fabric, &verdict, Paint::Plain);
    let advice = report.split("What would help").nth(1).expect("advice");
    for word in ["route-map", "DSCP_TO_TC_MAP"] {
        assert!(advice.contains(word), "{word} is not in {advice}");
    }
    for word in ["opensm", "service level", "partition", "up*/down*"] {
        assert!(!advice.contains(word), "{word} is in {advice}");
    }
    let refused = fix::files(&fabric, &verdict, Kind::UpDown).expect_err("no opensm");
    assert!(refused.contains("follow the advice"), "{refused}");
}

fn text<'f>(files: &'f [FixFile], name: &str) -> &'f str {
    let found = files.iter().find(|file| file.name == name);
    &found.unwrap_or_else(|| panic!("no {name}")).text
}

#[test]
fn tables_that_are_written_are_read_again_without_a_cycle() {
    for name in ["ring5-minhop", "torus4x4-dor", "dgx-minhop"] {
        let fabric = example(name);
        let verdict = advised(&fabric);
        let files = fix::files(&fabric, &verdict, Kind::Layers).expect("layers help");
        let lfts = Source { file: "lfts".into(), text: text(&files, "lfts").to_string() };
        let sources = [file(name, "opensm-subnet.lst"), lfts];
        let again = read::from_sources(&sources, Default::default()).expect("our own tables");
        let again = in_one_lane(again);
        let advice = verdict.advice.as_ref().expect("advice");
        let Some(Change::Layers(layered)) = advice.of_kind(Kind::Layers).map(|it| &it.change)
        else {
            panic!("no layers");
        };
        for &switch in again.topology.switches() {
            for group in again.routes.groups.addresses() {
                let own = layered.routes.table.next_hops(switch, group);
                assert_eq!(again.routes.table.next_hops(switch, group), own);
            }
        }
    }
}

#[test]
fn files_name_switches_and_ports_by_guid() {
    let fabric = example("ls4x4spinehosts-minhop");
    let verdict = advised(&fabric);
    let updn = fix::files(&fabric, &verdict, Kind::UpDown).expect("a root");
    let roots = text(&updn, "root_guid_file");
    assert!(roots.lines().any(|line| line.starts_with("0x0000000000200")), "{roots}");
    assert_eq!(text(&updn, "opensm.args"), "-R updn -a root_guid_file\n");
    let class = fix::files(&fabric, &verdict, Kind::Class).expect("a class");
    let policy = text(&class, "qos-policy.conf");
    assert!(policy.contains("port-guid: 0x0000000000100"), "{policy}");
    assert!(text(&class, "qos-options.conf").contains("qos_sl2vl 0,1,0,0,"));
    let apart = fix::files(&fabric, &verdict, Kind::LeaveOut).expect("a partition");
    let left_out = text(&apart, "left-out.txt").lines().count();
    let members = text(&apart, "partitions.conf").matches("=full").count();
    // The subnet manager's port and all that are not left out.
    assert_eq!(members, 1 + fabric.topology.host_count() - left_out);
}

#[test]
fn what_cannot_be_fixed_is_refused_with_the_reason() {
    let ring =
        pauseless_scenario::shape::parse("ring:switches=5,hosts_per_switch=1").expect("ring");
    let verdict = advised(&ring);
    let refused = fix::files(&ring, &verdict, Kind::UpDown).expect_err("no tables");
    assert!(refused.starts_with("--fix updn"), "{refused}");
    let fine = example("ft4-minhop");
    let refused = fix::files(&fine, &advised(&fine), Kind::Class).expect_err("no cycle");
    assert_eq!(refused, "--fix class: there is no cycle, so there is nothing to fix");
}
