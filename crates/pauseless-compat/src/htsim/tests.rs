//! What is read, and what is refused with which words.

use super::{Options, read_sources};
use pauseless_scenario::{Overrides, Scenario};
use pauseless_text::foreign::{self, Htsim};
use pauseless_text::source::Source;

const TOPO: &str = "# a tree\nNodes 32\nTiers 2\nPodsize 32\n\nTier 0\nDownlink_speed_Gbps 100\n\
                    Radix_Down 8\nRadix_Up 2\nDownlink_Latency_ns 1000\nSwitch_Latency_ns 0\n\
                    Oversubscribed 4\n\nTier 1\nDownlink_speed_Gbps 100\nRadix_Down 4\n\
                    Downlink_Latency_ns 500\nSwitch_Latency_ns 100\n";
const DEEP: &str = "Nodes 1024\nTiers 3\nPodsize 64\nTier 0\nOversubscribed 4\n\
                    Downlink_speed_Gbps 200\nRadix_Down 8\nRadix_Up 2\nDownlink_Latency_ns 1000\n\
                    Tier 1\nDownlink_speed_Gbps 200\nRadix_Down 8\nRadix_Up 8\n\
                    Downlink_Latency_ns 1000\nTier 2\nDownlink_speed_Gbps 200\nRadix_Down 16\n\
                    Downlink_Latency_ns 1000\n";

fn source(file: &str, text: &str) -> Source {
    Source { file: file.to_string(), text: text.to_string() }
}

pub fn read(texts: &[&str], options: &str) -> Result<Scenario, String> {
    let sources = texts.iter().enumerate();
    let sources = sources.map(|(number, text)| source(&format!("file{number}"), text));
    let options = options.parse::<Options>().unwrap();
    let case = read_sources(&Vec::from_iter(sources), &options);
    let case = case.map_err(|refused| refused.to_string())?;
    let scenario = case.scenario.build("made", &Overrides::default());
    scenario.map_err(|refused| refused.to_string())
}

/// The first line of every problem.
fn refused(texts: &[&str]) -> Vec<String> {
    let message = read(texts, "").expect_err("something is wrong");
    let lines = message.lines().filter(|line| line.starts_with("pauseless: "));
    let lines = lines.map(|line| line.trim_start_matches("pauseless: ").to_string());
    lines.collect()
}

#[test]
fn files_are_known_by_their_content() {
    assert_eq!(foreign::htsim(TOPO), Some(Htsim::Topology));
    assert_eq!(
        foreign::htsim("Nodes 2\nConnections 1\n0->1 start 0 size 1\n"),
        Some(Htsim::Matrix)
    );
    assert_eq!(foreign::htsim("PATH flow 1 dst 2 switch S via LS0->US0(0)\n"), Some(Htsim::Paths));
    assert_eq!(foreign::htsim("duration = \"1 ms\"\n"), None);
    assert_eq!(foreign::htsim(""), None);
}

#[test]
fn a_matrix_alone_gets_the_tree_that_htsim_makes() {
    let scenario = read(&["Nodes 16\nConnections 1\n0->15 start 7 size 20000\n"], "").unwrap();
    let config = &scenario.config;
    let name = |kind: &str| {
        let nodes = config.topology.nodes().iter();
        nodes.filter(|node| node.name.starts_with(kind)).count()
    };
    assert_eq!(["H", "LS", "US", "CS"].map(name), [16, 8, 8, 4]);
    // Two of US0 and US2 lead to CS0 and CS2, as htsim wires them.
    let upper = config.topology.node_named("US2").unwrap();
    let peers = config.topology.ports(upper).iter();
    let peers = peers.map(|port| config.topology.node(port.peer).name.as_str());
    assert_eq!(Vec::from_iter(peers), ["LS2", "LS3", "CS0", "CS2"]);
    // Whole packets of 9,000 bytes and their headers, from the start.
    let flow = &config.flows[0];
    assert_eq!((flow.size.get(), flow.packet.get()), (3 * 9_064, 9_064));
    assert_eq!(flow.start.as_ps(), 0);
}

#[test]
fn trees_are_wired_as_htsim_does_it() {
    let matrix = "Nodes 32\nConnections 1\n0->31 start 5000 size 1\n";
    let scenario = read(&[TOPO, matrix], "start=file,switch_latency=3").unwrap();
    let topology = &scenario.config.topology;
    let upper = topology.node_named("US1").unwrap();
    assert_eq!(topology.ports(upper).len(), 4);
    // Half of what both switches add.
    assert_eq!(topology.ports(upper)[0].delay.as_ps(), 550_000);
    assert_eq!(scenario.config.flows[0].start.as_ps(), 5_000);
    let matrix = "Nodes 1024\nConnections 1\n0->1023 start 0 size 1\n";
    let scenario = read(&[matrix, DEEP], "").unwrap();
    let topology = &scenario.config.topology;
    let count = |kind: &str| {
        let nodes = topology.nodes().iter();
        nodes.filter(|node| node.name.starts_with(kind)).count()
    };
    assert_eq!(["LS", "US", "CS"].map(count), [128, 32, 16]);
    assert_eq!(topology.ports(topology.node_named("CS15").unwrap()).len(), 16);
    // The source is slower than its link.
    assert_eq!(scenario.config.flows[0].pace.as_bps(), 100_000_000_000);
}

#[test]
fn triggers_let_flows_wait() {
    let matrix = "Nodes 16\nConnections 4\nTriggers 2\n\
                  0->1 id 1 start 0 size 1 send_done_trigger 1\n\
                  2->3 id 2 start 0 size 1 send_done_trigger 1\n\
                  1->0 id 3 trigger 1 size 1 send_done_trigger 2\n\
                  3->2 id 4 trigger 2 size 1 prio 3\n\
                  trigger id 1 barrier count 2\ntrigger id 2 oneshot\n";
    let scenario = read(&[matrix], "").unwrap();
    let follows = scenario.config.follows.iter();
    let follows = follows.map(|it| (it.first.index(), it.then.index()));
    assert_eq!(Vec::from_iter(follows), [(0, 2), (1, 2), (2, 3)]);
}

#[test]
fn paths_are_taken_there_and_back() {
    let matrix = "Nodes 16\nConnections 2\n0->15 id 7 start 0 size 1\n0->1 id 8 start 0 size 1\n";
    let path = |flow: u32, target: u32, egress: &str| {
        format!("PATH flow {flow} dst {target} switch S via {egress}(0)\n")
    };
    let paths = [
        path(7, 15, "LS0->US1"),
        path(7, 15, "US1->CS3"),
        path(7, 15, "CS3->US7"),
        path(7, 15, "US7->LS_7"),
        path(7, 15, "LS7->DST15"),
        path(7, 0, "LS7->US6"),
        path(7, 0, "US6->CS0"),
        path(7, 0, "CS0->US0"),
        path(7, 0, "US0->LS_0"),
    ];
    let sources = [source("m", matrix), source("p", &paths.concat())];
    let case = read_sources(&sources, &Options::default()).unwrap();
    let ways = " LS0,US1,CS3,US7,LS7 LS7,US6,CS0,US0,LS0\n";
    let text = case.scenario.text();
    assert!(text.contains(ways), "{text}");
    let paths = "PATH flow 9 dst 15 switch S via LS0->US1(0)\n";
    assert_eq!(refused(&[matrix, paths]), ["file1:1:1: the traffic matrix has no flow with id 9"]);
    let paths = "PATH flow 7 dst 15 switch S via LS0-US1(0)\nPATH 7\n";
    assert_eq!(
        refused(&[matrix, paths]),
        ["file1:1:33: \"LS0-US1(0)\" is no egress", "file1:2:1: not a line of a path"]
    );
}

#[test]
fn wrong_matrices() {
    assert_eq!(
        refused(&[
            "Nodes 16\nConnections 3\n0->16 start 0 size 1\n1->1 start 0\n2->3 size x ed 2\n4->5 start\nfoo\n"
        ]),
        [
            "file0:2:13: the header says 3 connections, and there are 4",
            "file0:3:1: there is no host 16",
            "file0:4:1: a flow without a size, which never ends",
            "file0:4:1: source and target are the same host",
            "file0:5:1: nothing starts this flow",
            "file0:5:11: \"x\" is out of place",
            "file0:5:13: unknown word \"ed\"",
            "file0:6:1: a flow without a size, which never ends",
            "file0:6:1: nothing starts this flow",
            "file0:6:6: nothing stands behind \"start\"",
            "file0:7:1: a line cannot begin with \"foo\"",
        ]
    );
    assert_eq!(
        refused(&["Nodes 17\nConnections 1\n0->1 start 0 size 1\n"]),
        ["file0:1:1: no fat tree of 3 tiers has 17 hosts"]
    );
    let triggers = "Nodes 16\nConnections 5\nTriggers 3\n\
                    0->1 id 1 start 0 size 1 send_done_trigger 1\n\
                    2->3 id 2 start 0 size 1 send_done_trigger 1\n\
                    1->0 id 3 trigger 1 size 1 recv_done_trigger 5\n\
                    3->2 id 3 trigger 2 size 1\n\
                    3->2 id 5 start 0 trigger 4 size 1\n\
                    trigger id 1 oneshot\ntrigger id 2 barrier\ntrigger id 3 multishot\n";
    assert_eq!(
        refused(&[triggers]),
        [
            "file0:4:44: trigger 1 is oneshot, and 2 flows fire it",
            "file0:6:28: htsim_roce does not look at recv_done_trigger",
            "file0:7:1: a second flow has id 3",
            "file0:7:19: trigger 2 is not described",
            "file0:8:27: the flow has a start already",
            "file0:8:27: trigger 4 is not described",
            "file0:10:12: a barrier without a count",
        ]
    );
}

#[test]
fn wrong_trees() {
    let matrix = "Nodes 32\nConnections 1\n0->31 start 0 size 1\n";
    let with = |from: &str, to: &str| {
        let text = TOPO.replacen(from, to, 1);
        refused(&[matrix, &text])
    };
    assert_eq!(
        with("Nodes 32", "Nodes 40"),
        ["file1:4:1: 40 hosts are no whole number of pods of 32"]
    );
    assert_eq!(with("Podsize 32", "Podsize 16"), ["file1:4:1: two tiers are one pod"]);
    assert_eq!(with("Podsize 32\n", ""), ["file1:1:1: podsize is missing"]);
    assert_eq!(with("Radix_Up 2\n", ""), ["file1:6:1: radix_up of tier 0 is missing"]);
    assert_eq!(
        with("Radix_Up 2\n", "Radix_Up 3\n"),
        ["file1:9:1: radix_up of tier 0 is 3, and the rest of the file makes it 2"]
    );
    assert_eq!(
        with("Oversubscribed 4", "Oversubscribed 3"),
        ["file1:12:1: links above tier 0 cannot be 3200 / 300"]
    );
    assert_eq!(
        with("Tier 1", "Tier 7"),
        ["file1:14:6: \"7\" is out of place", "file1:18:22: tier 1 is missing"]
    );
    assert_eq!(
        with("Radix_Down 8", "Radix_Dwn 8"),
        ["file1:6:1: radix_down of tier 0 is missing", "file1:8:1: unknown key \"Radix_Dwn\""]
    );
    assert_eq!(refused(&[TOPO]), ["file0: there is no traffic matrix beside it"]);
    assert_eq!(refused(&[matrix, "x"]), ["file1: not a file of htsim"]);
    assert_eq!(refused(&[matrix, matrix]), ["file1: the same kind of file as file0"]);
}

#[test]
fn problems_of_all_files_are_shown_at_once_each_in_its_own() {
    let sources = [
        source("tree.topo", "Nodes 16\nTiers 9\nPodsize 16\n"),
        source("it.cm", "Nodes 16\nConnections 1\n0->99 start 0 size 1\n"),
    ];
    let problems = read_sources(&sources, &Options::default()).unwrap_err();
    let shown = problems.list().iter().map(|problem| {
        let line = problems.position(problem).map(|(line, _)| line);
        (problems.file_of(problem), line, problem.message.as_str())
    });
    let shown = Vec::from_iter(shown);
    assert!(shown.contains(&("it.cm", Some(3), "there is no host 99")));
    assert!(shown.contains(&("tree.topo", Some(2), "\"9\" is out of place")));
    // The matrix comes first, whatever was named first.
    assert_eq!(shown[0].0, "it.cm");
}

/// What only the whole scenario shows is told where it was written, too.
#[test]
fn problems_of_the_scenario_point_into_the_files() {
    let path = |dst: u64, via: &str| format!("PATH flow 7 dst {dst} switch S via {via}(0)\n");
    // The path leaves out a core.
    let paths = [path(15, "LS0->US1"), path(15, "US1->US7"), path(15, "US7->LS_7")];
    let matrix = "Nodes 16\nConnections 1\n0->15 id 7 start 0 size 20000\n";
    assert_eq!(
        refused(&[matrix, &paths.concat()]),
        ["file1:1:1: the path goes from US1 to US7, but US1 has no link to it; \
          its neighbours are LS0, LS1, CS1, CS3"]
    );
    let cyclic = "Nodes 16\nConnections 2\nTriggers 2\n\
                  0->1 id 1 trigger 1 size 20000 send_done_trigger 2\n\
                  1->2 id 2 trigger 2 size 20000 send_done_trigger 1\n\
                  trigger id 1 oneshot\ntrigger id 2 oneshot\n";
    assert_eq!(refused(&[cyclic]), ["file0:4:1: after: it waits for rows that wait in a circle"]);
    let paths = path(15, "LS0->US99");
    assert_eq!(refused(&[matrix, &paths]), ["file1:1:33: there is no US99 in the tree"]);
    // Nodes may stand behind the connections.
    let late =
        "Connections 2\n0->99 id 1 start 0 size 1\n0->4294967297 id 2 start 0 size 1\nNodes 16\n";
    assert_eq!(
        refused(&[late]),
        ["file0:2:1: there is no host 99", "file0:3:1: there is no host 4294967297"]
    );
    let large = "Nodes 16\nConnections 1\n0->5 id 1 start 0 size 1000000000000000\n";
    assert_eq!(refused(&[large]), ["file0:3:1: 1007111111119168 B is out of range"]);
    let slow = TOPO.replacen("ns 1000\n", "ns 1000000000\n", 1);
    let slow = slow.replacen("ns 0\n", "ns 1000000000\n", 1);
    let matrix = "Nodes 32\nConnections 1\n0->5 id 1 start 0 size 1000\n";
    assert_eq!(
        refused(&[matrix, &slow]),
        ["file1:10:1: Downlink_Latency_ns: 1.5 s is out of range"]
    );
}
