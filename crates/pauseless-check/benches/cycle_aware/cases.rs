//! The networks and the traffic.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use pauseless_check::check;
use pauseless_core::id::NodeId;
use pauseless_fabric::dependency::Component;
use pauseless_fabric::fabric::{Fabric, Origin};
use pauseless_scenario::fabric_file;
use pauseless_text::source::Source;

/// A scenario without its flow control.
#[derive(Clone, Debug)]
pub struct Case {
    pub name: String,
    base: String,
}

/// The flows that hosts send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Traffic {
    /// Endless flows at line rate.
    Greedy,
    /// Flows of empirical sizes at 60 % load.
    Empirical,
}

impl Case {
    fn new(name: impl Into<String>, base: impl Into<String>) -> Case {
        Case { name: name.into(), base: base.into() }
    }

    /// The whole scenario; with a margin, with cycle-aware thresholds.
    pub fn text(&self, scheme: &str, margin: Option<f64>) -> String {
        let mut text = format!("{}\n[flow_control]\nkind = \"{scheme}\"\n", self.base);
        if let Some(margin) = margin {
            let _ = writeln!(text, "cycle_aware = true\ncycle_margin = {margin:?}");
        }
        text
    }
}

const SWITCH: &str = "[switch]\nbuffer = \"312 KB\"\n[timing]\nwire_jitter = \"50 ns\"\n";

/// A ring in which every host sends to the one `length` links further on.
fn ring(switches: usize, length: usize, hosts: usize) -> Case {
    let mut base = format!(
        "duration = \"60 ms\"\n[topology]\nkind = \"ring\"\nswitches = {switches}\n\
         hosts_per_switch = {hosts}\nrate = \"10 Gbps\"\ndelay = \"1 us\"\n{SWITCH}"
    );
    let host = |switch: usize, number: usize| match hosts {
        1 => format!("H{}", switch + 1),
        _ => format!("H{}{}", switch + 1, char::from(b'a' + number as u8)),
    };
    for switch in 0..switches {
        for number in 0..hosts {
            let path = (0..=length).map(|hop| format!("\"S{}\"", (switch + hop) % switches + 1));
            let _ = writeln!(
                base,
                "[[flow]]\nsource = \"{}\"\ntarget = \"{}\"\npath = [{}]",
                host(switch, number),
                host((switch + length) % switches, number),
                Vec::from_iter(path).join(", ")
            );
        }
    }
    Case::new(format!("ring of {switches}, {length} links, {hosts} feeding"), base)
}

/// Rings of 3 to 8 with short and long flows, and one to three hosts on a switch.
pub fn rings() -> Vec<Case> {
    let sizes = [
        (3, 2, 1),
        (4, 2, 1),
        (4, 3, 1),
        (5, 3, 1),
        (6, 3, 1),
        (6, 5, 1),
        (7, 4, 1),
        (8, 2, 1),
        (8, 7, 1),
        (3, 2, 2),
        (4, 3, 2),
        (6, 3, 2),
        (3, 2, 3),
        (6, 3, 3),
    ];
    let sizes = sizes.into_iter();
    sizes.map(|(n, length, hosts)| ring(n, length, hosts)).collect()
}

/// A scenario of this repository without its flow control, and with other general keys.
fn of_file(name: &str, text: &str, duration: &str) -> Case {
    let mut base = format!("duration = \"{duration}\"\n");
    let mut is_kept = true;
    for line in text.lines() {
        if line.starts_with('[') {
            is_kept = !line.starts_with("[flow_control]") && !line.starts_with("[probe]");
        }
        if is_kept && !line.starts_with("duration") && !line.starts_with("title") {
            let _ = writeln!(base, "{line}");
        }
    }
    base.push_str("[timing]\nwire_jitter = \"50 ns\"\n");
    Case::new(name, base)
}

fn fig11() -> Case {
    let text = include_str!("../../../../papers/gfc/fig14.toml");
    of_file("GFC Fig. 11, greedy", text, "60 ms")
}

fn hotnets4() -> Case {
    let text = include_str!("../../../../papers/hotnets/fig4.toml");
    of_file("HotNets Fig. 4, greedy", text, "20 ms")
}

/// The networks of the papers.
pub fn papers() -> Vec<Case> {
    vec![fig11(), hotnets4(), ring(3, 2, 1), ring(6, 5, 1)]
}

fn traffic(kind: Traffic) -> &'static str {
    match kind {
        Traffic::Greedy => {
            "[[traffic]]\nkind = \"permutation\"\nname = \"a\"\n\
             [[traffic]]\nkind = \"permutation\"\nname = \"b\"\n\
             [[traffic]]\nkind = \"permutation\"\nname = \"c\"\n"
        }
        Traffic::Empirical => {
            "[[traffic]]\nkind = \"poisson\"\nload = \"60 %\"\nsizes = \"pcn_w2_hadoop\"\n"
        }
    }
}

/// The ring with empirical traffic between all hosts, clockwise only.
fn ring_empirical(switches: usize) -> Case {
    let mut base = "duration = \"20 ms\"\n[topology]\nkind = \"custom\"\nrate = \"10 Gbps\"\n\
                    delay = \"1 us\"\n"
        .to_string();
    for switch in 1..=switches {
        let _ = writeln!(
            base,
            "[[topology.node]]\nname = \"S{switch}\"\nkind = \"switch\"\n\
             [[topology.node]]\nname = \"H{switch}\"\nkind = \"host\"\n\
             [[topology.link]]\nbetween = [\"S{switch}\", \"H{switch}\"]\n\
             [[topology.link]]\nbetween = [\"S{switch}\", \"S{}\"]",
            switch % switches + 1
        );
    }
    base.push_str("[routing]\nkind = \"tables\"\n");
    for at in 1..=switches {
        let others = (1..=switches).filter(|to| *to != at);
        let others = Vec::from_iter(others.map(|to| format!("\"H{to}\"")));
        let _ = writeln!(
            base,
            "[routing.tables.S{at}]\nH{at} = [\"H{at}\"]\nS{} = [{}]",
            at % switches + 1,
            others.join(", ")
        );
    }
    let _ = write!(base, "{SWITCH}{}", traffic(Traffic::Empirical));
    Case::new(format!("ring of {switches}, empirical"), base)
}

/// The pod of PCN B.5: two leaves, four ToRs with 16 hosts each, two bundles down.
fn pod(kind: Traffic) -> Case {
    let mut base = "duration = \"20 ms\"\nmtu = \"1000 B\"\n[topology]\nkind = \"custom\"\n\
                    rate = \"40 Gbps\"\ndelay = \"5 us\"\nhost_rate = \"10 Gbps\"\n"
        .to_string();
    let link = |a: &str, b: &str| format!("[[topology.link]]\nbetween = [\"{a}\", \"{b}\"]\n");
    for leaf in ["L0", "L1"] {
        let _ =
            write!(base, "[[topology.node]]\nname = \"{leaf}\"\nkind = \"switch\"\nlayer = 2\n");
    }
    for tor in 0..4 {
        let _ = write!(base, "[[topology.node]]\nname = \"T{tor}\"\nkind = \"switch\"\n");
        for host in tor * 16..tor * 16 + 16 {
            let _ = write!(base, "[[topology.node]]\nname = \"H{host}\"\nkind = \"host\"\n");
            base.push_str(&link(&format!("T{tor}"), &format!("H{host}")));
        }
    }
    let pairs =
        [("L0", "T0"), ("L0", "T1"), ("L0", "T2"), ("L1", "T1"), ("L1", "T2"), ("L1", "T3")];
    for (leaf, tor) in pairs {
        base.push_str(&link(leaf, tor).repeat(2));
    }
    let _ = write!(
        base,
        "[routing]\nkind = \"ecmp\"\n[switch]\nbuffer = \"620 KB\"\n{}",
        traffic(kind)
    );
    let name = match kind {
        Traffic::Greedy => "pod of PCN B.5, greedy",
        Traffic::Empirical => "pod of PCN B.5, empirical",
    };
    Case::new(name, base)
}

/// The first `count` fat trees of k = 4 with a cycle, when each link between switches fails with
/// 5 % and each switch chooses one of the shortest ways for each target at random.
fn fat_trees(count: usize, kind: Traffic) -> Vec<Case> {
    let mut cases = Vec::new();
    for sample in 0.. {
        if cases.len() == count {
            break;
        }
        let text = format!(
            "seed = {sample}\n[topology]\nkind = \"fat-tree\"\nk = 4\nrate = \"10 Gbps\"\n\
             delay = \"1 us\"\nrandom_failures = {{ share = \"5 %\", seed = 1, sample = {sample} }}\n\
             [routing]\nkind = \"shortest\"\ntie_break = \"seeded\"\n"
        );
        let source = Source { file: "fat-tree.toml".to_string(), text };
        let Ok(mut fabric) = fabric_file::read(&source) else {
            continue;
        };
        let verdict = check(&fabric, &[]);
        if !verdict.is_cyclic() || verdict.unrouted_pairs > 0 {
            continue;
        }
        fabric.origin = Origin::Tables;
        cases.push(Case::new(
            format!("fat tree {sample}"),
            fat_tree_text(&fabric, &verdict.components, kind),
        ));
    }
    cases
}

/// With greedy flows, those that close the cycles and a permutation beside them.
fn fat_tree_text(fabric: &Fabric, components: &[Component], kind: Traffic) -> String {
    let duration = match kind {
        Traffic::Greedy => "6 ms",
        Traffic::Empirical => "5 ms",
    };
    let mut text = format!("duration = \"{duration}\"\n{}\n{SWITCH}", fabric_file::write(fabric));
    if kind == Traffic::Empirical {
        text.push_str(traffic(kind));
        return text;
    }
    let name = |node: NodeId| fabric.topology.node(node).name.clone();
    let flows = components.iter().flat_map(|component| &component.cycle.flows);
    let ends = flows.map(|flow| (flow.source, fabric.routes.groups.target(flow.group)));
    for (source, target) in BTreeSet::from_iter(ends) {
        let _ = writeln!(
            text,
            "[[flow]]\nsource = \"{}\"\ntarget = \"{}\"",
            name(source),
            name(target)
        );
    }
    text.push_str("[[traffic]]\nkind = \"permutation\"\nname = \"background\"\n");
    text
}

/// The groups of the main table.
pub fn table(trees: usize) -> Vec<(&'static str, Vec<Case>)> {
    let long = |n: usize| ring(n, n - 1, 1);
    vec![
        ("GFC Fig. 11, greedy", vec![fig11()]),
        ("HotNets Fig. 4, greedy", vec![hotnets4()]),
        ("rings of 3 to 8, greedy", (3..=8).flat_map(|n| [ring(n, 2, 1), long(n)]).collect()),
        ("rings of 3 to 8, empirical", (3..=8).map(ring_empirical).collect()),
        ("PCN B.5 pod, greedy", vec![pod(Traffic::Greedy)]),
        ("PCN B.5 pod, empirical", vec![pod(Traffic::Empirical)]),
        ("fat trees, greedy", fat_trees(trees, Traffic::Greedy)),
        ("fat trees, empirical", fat_trees(trees, Traffic::Empirical)),
    ]
}

/// A slow or stalled receiver inside the cycle, an incast to a host inside it, flows that come
/// and go, and cycles that share links.
pub fn attack() -> Vec<(&'static str, Vec<Case>)> {
    let receiver = |steps: &str| {
        let mut case = ring(4, 3, 1);
        let _ = write!(case.base, "[[receiver]]\nhost = \"H1\"\n{steps}\n");
        case
    };
    let incast = |size: &str| {
        let mut case = ring(4, 3, 2);
        let _ = write!(
            case.base,
            "[[traffic]]\nkind = \"incast\"\ntarget = \"H1a\"\nsize = \"{size}\"\ninterval = \"5 ms\"\n"
        );
        case
    };
    let stall =
        "steps = [[\"0 ms\", \"10 Gbps\"], [\"10 ms\", \"stop\"], [\"20 ms\", \"10 Gbps\"]]";
    vec![
        ("receiver at 5 Gb/s", vec![receiver("rate = \"5 Gbps\"")]),
        ("receiver at 1 Gb/s", vec![receiver("rate = \"1 Gbps\"")]),
        ("receiver at 100 Mb/s", vec![receiver("rate = \"100 Mbps\"")]),
        ("receiver stalls 10 ms", vec![receiver(stall)]),
        ("ring of 8, stalls", vec![stalled(8)]),
        ("ring of 16, stalls", vec![stalled(16)]),
        ("ring of 32, stalls", vec![stalled(32)]),
        ("1 km at 100 Gb/s, stalls", vec![fast(1_600)]),
        ("the same, less buffer", vec![fast(1_000)]),
        (
            "flows start in turn",
            [(4, 3), (6, 3), (8, 3), (6, 5)].map(|(n, length)| in_turn(n, length)).into(),
        ),
        ("the same, two links", vec![in_turn(8, 2)]),
        ("incast of 64 KB", vec![incast("64 KB")]),
        ("incast of 1 MB", vec![incast("1 MB")]),
        ("flows come and go", (1..=10).map(bursty).collect()),
        ("two rings, one link", vec![eight()]),
        ("torus 5 x 5", vec![torus()]),
    ]
}

/// A ring in which one receiver after the other stands still for 2 ms.
fn stalled(switches: usize) -> Case {
    let mut case = ring(switches, switches - 1, 1);
    for host in 0..switches.min(12) {
        let (from, to) = (4 + host * 4, 6 + host * 4);
        let _ = writeln!(
            case.base,
            "[[receiver]]\nhost = \"H{}\"\nsteps = [[\"0 ms\", \"10 Gbps\"], [\"{from} ms\", \"stop\"], [\"{to} ms\", \"10 Gbps\"]]",
            host + 1
        );
    }
    case
}

/// A ring in which a receiver stands still and then one host after the other begins, each behind
/// a link that is stopped: what waits to enter uses up the room that the receiver leaves.
fn in_turn(switches: usize, length: usize) -> Case {
    let case = ring(switches, length, 1);
    let mut parts = case.base.split("[[flow]]");
    let mut base = parts.next().expect("what comes before the flows").to_string();
    for (number, part) in parts.enumerate() {
        let start = 500 * (switches - number + 1);
        let _ = writeln!(base, "[[flow]]{part}start = \"{start} us\"");
    }
    let _ = write!(
        base,
        "[[flow]]\nsource = \"H{switches}\"\ntarget = \"H1\"\npath = [\"S{switches}\", \"S1\"]\n\
         size = \"720 KB\"\n[[receiver]]\nhost = \"H1\"\n\
         steps = [[\"0 us\", \"stop\"], [\"{} us\", \"10 Gbps\"]]\n",
        500 * (switches + 3)
    );
    Case::new(format!("ring of {switches}, {length} links, in turn"), base)
}

/// Receivers that stand still in turn, with links that hold more than the buffers have to spare.
fn fast(buffer_kb: u64) -> Case {
    let mut case = stalled(5);
    let text = &mut case.base;
    *text = text.replace("duration = \"60 ms\"", "duration = \"30 ms\"");
    *text = text.replace("\"10 Gbps\"", "\"100 Gbps\"");
    *text = text.replace("\"1 us\"", "\"5 us\"");
    *text = text.replace("312 KB", &format!("{buffer_kb} KB"));
    case
}

/// A ring of six in which flows of all lengths and rates are on and off at random.
fn bursty(number: u64) -> Case {
    let mut case = ring(6, 5, 2);
    let start = case.base.find("[[flow]]").expect("it has flows");
    case.base.truncate(start);
    let mut state = number * 0x9e37_79b9_7f4a_7c15;
    let mut draw = |count: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % count
    };
    for switch in 0..6 {
        for host in ["a", "b"] {
            let length = 2 + draw(4);
            let path = (0..=length).map(|hop| format!("\"S{}\"", (switch + hop) % 6 + 1));
            let _ = writeln!(
                case.base,
                "[[flow]]\nsource = \"H{}{host}\"\ntarget = \"H{}{host}\"\npath = [{}]\non = \"{} us\"\noff = \"{} us\"",
                switch + 1,
                (switch + length) % 6 + 1,
                Vec::from_iter(path).join(", "),
                50 + draw(1_000),
                50 + draw(2_000)
            );
        }
    }
    Case::new(format!("bursty {number}"), case.base)
}

/// Two rings of three switches that share the link from A to B; flows cross two links of theirs.
fn eight() -> Case {
    let mut base = "duration = \"60 ms\"\n[topology]\nkind = \"custom\"\nrate = \"10 Gbps\"\ndelay = \"1 us\"\n".to_string();
    for switch in ["A", "B", "C", "D"] {
        for host in ["1", "2"] {
            let _ = write!(
                base,
                "[[topology.node]]\nname = \"H{switch}{host}\"\nkind = \"host\"\n\
                 [[topology.link]]\nbetween = [\"{switch}\", \"H{switch}{host}\"]\n"
            );
        }
        let _ = write!(base, "[[topology.node]]\nname = \"{switch}\"\nkind = \"switch\"\n");
    }
    for [a, b] in [["A", "B"], ["B", "C"], ["C", "A"], ["B", "D"], ["D", "A"]] {
        let _ = write!(base, "[[topology.link]]\nbetween = [\"{a}\", \"{b}\"]\n");
    }
    base.push_str(SWITCH);
    let flows = [
        ["HA1", "A", "B", "C", "HC1"],
        ["HA2", "A", "B", "D", "HD1"],
        ["HB1", "B", "C", "A", "HA1"],
        ["HB2", "B", "D", "A", "HA2"],
        ["HC1", "C", "A", "B", "HB1"],
        ["HD1", "D", "A", "B", "HB2"],
    ];
    for [source, x, y, z, target] in flows {
        let _ = write!(
            base,
            "[[flow]]\nsource = \"{source}\"\ntarget = \"{target}\"\npath = [\"{x}\", \"{y}\", \"{z}\"]\n"
        );
    }
    Case::new("two rings, one link", base)
}

/// A torus in dimension order, where every row and column is a ring, with greedy permutations.
fn torus() -> Case {
    let base = format!(
        "duration = \"20 ms\"\n[topology]\nkind = \"torus\"\ndimensions = [5, 5]\nhosts_per_switch = 1\n\
         rate = \"10 Gbps\"\ndelay = \"1 us\"\n[routing]\nkind = \"dimension-order\"\n{SWITCH}{}",
        traffic(Traffic::Greedy)
    );
    Case::new("torus", base)
}
