//! Fabrics out of Ethernet files: what is read, what is guessed, and what is refused.

#[path = "check_ethernet/refused.rs"]
mod refused;
#[path = "check_ethernet/routes.rs"]
mod routes;
#[path = "check_ethernet/tunnels.rs"]
mod tunnels;

use std::fs;
use std::path::Path;

use pauseless_check::{self as check, Verdict};
use pauseless_core::id::{NodeId, PortId};
use pauseless_core::unit::{Rate, Span};
use pauseless_dumps::assemble::ethernet::{Choices, from_sources};
use pauseless_fabric::dependency::{Buffer, Traffic};
use pauseless_fabric::fabric::{Fabric, Origin};
use pauseless_fabric::routing::{Multipath, Routing, TieBreak};
use pauseless_text::source::Source;
use pauseless_text::terminal::Paint;

fn sample(name: &str) -> Source {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/ethernet");
    let bytes = fs::read(folder.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
    Source::from_bytes(name, bytes).unwrap()
}

fn source(file: &str, text: impl Into<String>) -> Source {
    Source { file: file.to_string(), text: text.into() }
}

fn assemble(sources: &[Source]) -> Fabric {
    from_sources(sources, Choices::default()).unwrap_or_else(|problems| panic!("{problems}"))
}

fn verdict(fabric: &Fabric) -> Verdict {
    check::check(fabric, &[])
}

fn has_note(fabric: &Fabric, part: &str) {
    let has = fabric.notes.iter().any(|note| note.contains(part));
    assert!(has, "no {part:?} in {:#?}", fabric.notes);
}

fn port(fabric: &Fabric, node: &str, label: &str) -> (NodeId, PortId) {
    let node = fabric.topology.node_named(node).unwrap();
    let mut ports = (0..fabric.topology.ports(node).len()).map(|n| PortId(n as u16));
    let port = ports.find(|port| fabric.names.port(node, *port) == Some(label));
    (node, port.unwrap())
}

/// The pod of the PCN paper after its failures: two leaves and four ToRs.
const POD: &str = "\
topology:
  defaults: {kind: sonic-vs}
  nodes:
    L0:
    L1:
    T0:
    T1:
    T2:
    T3:
    H0: {kind: linux}
    H1: {kind: linux}
    H2: {kind: linux}
    H3: {kind: linux}
  links:
    - endpoints: [L0:eth1, T0:eth1]
    - endpoints: [L0:eth2, T1:eth1]
    - endpoints: [L0:eth3, T2:eth1]
    - endpoints: [L1:eth1, T1:eth2]
    - endpoints: [L1:eth2, T2:eth2]
    - endpoints: [L1:eth3, T3:eth1]
    - endpoints: [H0:eth1, T0:eth2]
    - endpoints: [H1:eth1, T1:eth3]
    - endpoints: [H2:eth1, T2:eth3]
    - endpoints: [H3:eth1, T3:eth2]
";

/// A switch with three ports, each lossless in these priorities.
fn config(hostname: &str, pfc_enable: &str) -> Source {
    let entries = |value: &str| {
        let ports = ["Ethernet0", "Ethernet4", "Ethernet8"];
        ports.map(|port| format!("\"{port}\": {value}")).join(", ")
    };
    let text = format!(
        "{{\"DEVICE_METADATA\": {{\"localhost\": {{\"hostname\": \"{hostname}\"}}}},\n\
         \"PORT\": {{{}}},\n\"PORT_QOS_MAP\": {{{}}}}}",
        entries("{\"speed\": \"40000\"}"),
        entries(&format!("{{\"pfc_enable\": \"{pfc_enable}\"}}")),
    );
    source(&format!("{hostname}.json"), text)
}

fn pod_with(lossy: &str) -> Vec<Source> {
    let mut sources = vec![source("pod.clab.yml", POD)];
    for name in ["L0", "L1", "T0", "T1", "T2", "T3"] {
        let pfc_enable = if name == lossy { "4" } else { "3,4" };
        // SONiC and containerlab need not agree on upper and lower case.
        sources.push(config(&name.to_ascii_lowercase(), pfc_enable));
    }
    sources
}

/// The switches of a shortest cycle, from the first in the alphabet.
fn cycle(fabric: &Fabric, verdict: &Verdict) -> Vec<(String, u8)> {
    let hops = &verdict.components[0].cycle.hops;
    let name = |buffer: Buffer| {
        let name = fabric.topology.node(buffer.node).name.clone();
        (name, buffer.class.0)
    };
    let mut names = Vec::from_iter(hops.iter().map(|hop| name(hop.buffer)));
    let first = (0..names.len()).min_by_key(|at| names[*at].clone());
    names.rotate_left(first.unwrap());
    names
}

#[test]
fn the_clos_of_containerlab_has_no_cycle() {
    let fabric = assemble(&[sample("clos02.clab.yml")]);
    assert_eq!(fabric.topology.switches().len(), 10);
    assert_eq!(fabric.topology.host_count(), 4);
    assert_eq!(fabric.topology.links().len(), 16);
    assert_eq!(fabric.origin, Origin::Rule(Routing::from(Multipath::Ecmp)));
    port(&fabric, "leaf1", "e1-3");
    assert!(!verdict(&fabric).is_cyclic());
    has_note(&fabric, "the files have no routes");
    has_note(&fabric, "the files name no lossless priority; 3 is assumed");
    has_note(&fabric, "the speed of 16 cables; it is taken for 100 Gb/s");
    has_note(&fabric, "the length of 16 cables; it is taken for 20 m");
    assert_eq!(fabric.notes.len(), 4, "{:#?}", fabric.notes);
}

#[test]
fn routes_can_be_chosen() {
    let routing = Routing::from(Multipath::Single { tie_break: TieBreak::Lowest });
    let choices = Choices { routing: Some(routing), ..Choices::default() };
    let fabric = from_sources(&[sample("clos02.clab.yml")], choices).unwrap();
    assert_eq!(fabric.origin, Origin::Rule(routing));
    assert!(!fabric.notes.iter().any(|note| note.contains("routes")));
}

#[test]
fn the_network_of_batfish_has_its_hosts_guessed() {
    let fabric = assemble(&[sample("batfish-example_layer1_topology.json")]);
    assert_eq!(fabric.topology.switches().len(), 13);
    assert_eq!(fabric.topology.host_count(), 2);
    assert!(!verdict(&fabric).is_cyclic());
    has_note(&fabric, "2 hosts guessed from the cables alone: host1, host2");
    has_note(&fabric, "13 switches guessed from the cables alone: as1border1");
    has_note(&fabric, "1 cable from a node to itself left out");
}

#[test]
fn servers_with_several_cables_are_several_hosts() {
    let fabric = assemble(&[sample("topograph-netq-topologyGraph.json.gz")]);
    let switches = fabric.topology.switches().iter();
    let switches = switches.map(|node| fabric.topology.node(*node).name.as_str());
    let mut switches = Vec::from_iter(switches);
    switches.sort_unstable();
    assert_eq!(switches, ["net-unit-l1", "net-unit-l2", "net-unit-s1"]);
    assert_eq!(fabric.topology.host_count(), 32);
    let host = fabric.topology.node_named("dgx-05.ens4f0np0").unwrap();
    assert_eq!(fabric.names.device(host).unwrap().description, "dgx-05");
    assert!(!verdict(&fabric).is_cyclic());
    has_note(&fabric, "8 hosts guessed from the cables alone");
}

#[test]
fn the_pod_is_cyclic_without_any_configuration() {
    let fabric = assemble(&[source("pod.clab.yml", POD)]);
    let verdict = verdict(&fabric);
    let expected = ["L0", "T1", "L1", "T2"].map(|name| (name.to_string(), 3));
    let mirror = ["L0", "T2", "L1", "T1"].map(|name| (name.to_string(), 3));
    let found = cycle(&fabric, &verdict);
    assert!(found == expected || found == mirror, "{found:?}");
    assert_eq!(verdict.component_count, 2);
}

#[test]
fn a_lossy_switch_breaks_the_cycle() {
    let fabric = assemble(&pod_with("nobody"));
    let Traffic::AllPairs(lanes) = &fabric.traffic else {
        panic!("all pairs");
    };
    assert_eq!(lanes.iter().map(|lane| lane.label).collect::<Vec<_>>(), [3, 4]);
    assert_eq!(verdict(&fabric).component_count, 4);
    has_note(&fabric, "16 interfaces taken for SONiC's ports in order: L0 eth1 is Ethernet0");
    let link = fabric.topology.links()[0];
    assert_eq!((link.rate, link.delay), (Rate::gbps(40), Span::ns(100)));

    let fabric = assemble(&pod_with("T1"));
    let verdict = verdict(&fabric);
    assert_eq!(verdict.component_count, 2);
    assert!(verdict.components.iter().all(|c| c.buffers.iter().all(|b| b.class.0 == 4)));
    let (node, port) = port(&fabric, "T1", "Ethernet0");
    assert_eq!(fabric.lossy.at(node, port), 1 << 3);
    has_note(&fabric, "the ends of 2 cables have different lossless priorities; PAUSE");
    has_note(&fabric, "L0 Ethernet4 (3, 4) and T1 Ethernet0 (4)");
}

#[test]
fn switches_without_a_configuration_are_taken_for_lossless() {
    let mut sources = pod_with("T1");
    sources.retain(|source| source.file != "l0.json");
    let fabric = assemble(&sources);
    assert_eq!(verdict(&fabric).component_count, 2);
    has_note(&fabric, "lossless at 1 switch, taken for lossless in 3, 4: L0");

    // A file that does not speak of PFC leaves its switch as unknown as no file.
    let silent = "{\"DEVICE_METADATA\": {\"localhost\": {\"hostname\": \"L0\"}}}";
    let fabric = assemble(&[source("pod.clab.yml", POD), source("L0.json", silent)]);
    assert_eq!(verdict(&fabric).component_count, 2);
    has_note(&fabric, "3 is assumed");
    has_note(&fabric, "3 interfaces that no configuration knows by name or alias");

    let fabric = assemble(
        &["L0", "L1"]
            .map(|name| config(name, ""))
            .into_iter()
            .chain([source(
                "two.clab.yml",
                "topology: {nodes: {L0: , L1: }, links: [endpoints: [L0:Ethernet0, L1:Ethernet0]]}",
            )])
            .collect::<Vec<_>>(),
    );
    assert!(!verdict(&fabric).is_cyclic());
    has_note(&fabric, "no port is lossless in any priority");
    has_note(&fabric, "no hosts and no edge that can be told");
}

/// The files of the pod as the documents use them.
fn pod_files(t1: &str) -> Vec<Source> {
    ["L0", "L1", "T0", t1, "T2", "T3"].map(|name| sample(&format!("pod/{name}.json"))).into()
}

#[test]
fn neighbours_are_cables() {
    let fabric = assemble(&pod_files("T1"));
    assert_eq!(fabric.topology.switches().len(), 6);
    assert_eq!(fabric.topology.host_count(), 4);
    assert_eq!(fabric.topology.links().len(), 10);
    assert_eq!(verdict(&fabric).component_count, 4);
    has_note(&fabric, "4 hosts guessed from the cables alone: server0");
    let (node, number) = port(&fabric, "T0", "Ethernet4");
    let link = fabric.topology.port(node, number);
    assert_eq!((link.rate, link.delay), (Rate::gbps(10), Span::ns(25)));

    // A switch of which only the name is known is as good as a switch.
    let mut without = pod_files("T1");
    without.retain(|source| !source.file.ends_with("L1.json"));
    let fabric = assemble(&without);
    assert_eq!(verdict(&fabric).component_count, 4);
    has_note(&fabric, "1 switch guessed from the cables alone: L1");
}

#[test]
fn silent_halves_and_switched_off_ports_are_noted() {
    let mut sources = pod_files("T1");
    let leaf = &mut sources[0].text;
    *leaf = leaf.replace("    \"Ethernet0\": {\"name\": \"T0\", \"port\": \"Ethernet0\"},\n", "");
    let fabric = assemble(&sources);
    has_note(&fabric, "DEVICE_NEIGHBOR of one end only has 1 cable: T0 Ethernet0");

    let mut sources = pod_files("T1");
    let tor = &mut sources[3].text;
    *tor = tor.replacen("\"admin_status\": \"up\"", "\"admin_status\": \"down\"", 1);
    let fabric = assemble(&sources);
    assert_eq!(fabric.topology.links().len(), 9);
    assert!(!verdict(&fabric).is_cyclic());
    has_note(&fabric, "1 cable left out because of admin_status down: T1 Ethernet0");
}

#[test]
fn hosts_are_implied_where_files_list_switches_only() {
    let pod = POD.lines().filter(|line| !line.contains('H'));
    let pod = pod.collect::<Vec<_>>().join("\n");
    let fabric = assemble(&[source("pod.clab.yml", pod)]);
    assert_eq!(fabric.topology.host_count(), 4);
    assert!(fabric.topology.node_named("T3.host").is_some());
    assert!(verdict(&fabric).is_cyclic());
    has_note(&fabric, "one host is assumed at each of 4 switches: T0, T1, T2, T3");

    let mut sources = pod_files("T1");
    let tor = &mut sources[5].text;
    let server = ",\n    \"Ethernet4\": {\"name\": \"server3\", \"port\": \"eth0\"}";
    *tor = tor.replace(server, "");
    let fabric = assemble(&sources);
    assert!(fabric.topology.node_named("T3.host").is_some());
    has_note(&fabric, "ToRRouter without a host: one host is assumed at each of 1 switch: T3");
}

#[test]
fn files_of_one_switch_are_put_together() {
    let lab = "topology:\n  nodes: {S: {kind: sonic}, a: {kind: linux}, b: {kind: linux}}\n\
        \x20 links: [endpoints: [\"S:Ethernet48\", \"a:e\"], endpoints: [\"S:Ethernet0\", \"b:e\"]]";
    let lab = || source("lab.yml", lab);
    let qos = || sample("qos-arista7260-dualtor.json.gz");
    let fabric = assemble(&[lab(), qos(), sample("buffer-arista7260-dualtor.json.gz")]);
    assert_eq!(fabric.topology.links()[0].delay, Span::ns(200));
    assert_eq!(fabric.lossy.at(NodeId(0), PortId(0)), 0);
    // Hosts send in 3 and 4 on the downlink; the uplink maps packets to 2 and 6 as well.
    let Traffic::AllPairs(lanes) = &fabric.traffic else {
        panic!("all pairs");
    };
    assert_eq!(lanes.iter().map(|lane| lane.label).collect::<Vec<_>>(), [2, 3, 4, 6]);

    // A running switch knows more than its configuration, and that is no contradiction.
    let mut running = sample("appl_db-acs-msn4700-t1.json.gz");
    running.file = "running.json".to_string();
    let lab = source("lab.yml", lab().text.replace('S', "sonic"));
    let fabric = assemble(&[lab, sample("config_db-acs-msn4700-t1.json.gz"), running]);
    assert_eq!(fabric.topology.switches().len(), 1);
}

#[test]
fn warnings_of_configurations_are_counted() {
    let mut sources = pod_files("T1");
    let tor = &mut sources[2].text;
    *tor = tor.replace("\"speed\": \"40000\", ", "").replace("\"speed\": \"10000\", ", "");
    sources.push(sample("pg_profile_lookup.ACS-MSN2700.ini"));
    let fabric = assemble(&sources);
    has_note(&fabric, "pod/T0.json: line 6: PORT|Ethernet0: no speed");
    has_note(&fabric, "(and 1 more like it)");
    let leaf = &mut sources[1].text;
    *leaf = leaf.replace("40m", "7m");
    let fabric = assemble(&sources);
    has_note(&fabric, "no row for the speed and cable of 3 lossless ports");
    // Both ends believe something else, and the longer cable is the safer belief.
    let (node, number) = port(&fabric, "L1", "Ethernet0");
    assert_eq!(fabric.topology.port(node, number).delay, Span::ns(200));
}

/// The commands of the document and what they print.
#[test]
fn the_document_shows_what_happens() {
    let document = include_str!("../../../docs/ethernet.md");
    let mut blocks = document.split("```text\n").skip(1);
    let pods =
        [pod_files("T1"), pod_files("T1-without-3"), routes::pod_in_its_folder("routes-valley")];
    for sources in pods {
        let fabric = assemble(&sources);
        let report = check::text::report(&fabric, &verdict(&fabric), Paint::Plain);
        let block = blocks.next().and_then(|block| block.split("```").next());
        for line in block.unwrap().lines().filter(|line| *line != "..") {
            let has = report.lines().any(|other| other == line);
            assert!(has, "{line}\nis not in:\n{report}");
        }
    }
}
