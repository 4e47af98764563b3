//! `[[traffic]]`: the flows that every kind makes, and that writing it out and reading it again
//! makes the same.

use std::collections::BTreeMap;

use pauseless_core::id::NodeId;
use pauseless_core::unit::{Bytes, Span, Time};
use pauseless_scenario::{Overrides, Scenario};
use pauseless_sim::Config;
use pauseless_sim::config::Flow;

const BASE: &str = r#"duration = "20 ms"
[topology]
kind = "leaf-spine"
leaves = 4
spines = 2
hosts_per_leaf = 4
rate = "40 Gbps"
host_rate = "10 Gbps"
delay = "1 us"
[switch]
classes = 4
[flow_control]
kind = "none"
[timing]
start_jitter = "0 us"
"#;

fn parse(text: &str) -> Scenario {
    let scenario = Scenario::parse("t", text, &Overrides::default());
    scenario.unwrap_or_else(|problems| panic!("{problems}"))
}

fn config(traffic: &str) -> Config {
    parse(&format!("{BASE}{traffic}")).config
}

fn names(config: &Config) -> Vec<&str> {
    let flows = config.flows.iter();
    flows.map(|flow| flow.name.as_str()).collect()
}

fn find<'c>(config: &'c Config, name: &str) -> (usize, &'c Flow) {
    let place = config.flows.iter().position(|flow| flow.name == name);
    let place = place.unwrap_or_else(|| panic!("{name} in {:?}", names(config)));
    (place, &config.flows[place])
}

/// What the flow called `name` waits for.
fn firsts<'c>(config: &'c Config, name: &str) -> Vec<&'c str> {
    let then = find(config, name).0;
    let follows = config.follows.iter();
    let follows = follows.filter(|follow| follow.then.index() == then);
    let firsts = follows.map(|follow| config.flows[follow.first.index()].name.as_str());
    let mut firsts = Vec::from_iter(firsts);
    firsts.sort_unstable();
    firsts
}

fn rack(config: &Config, host: NodeId) -> NodeId {
    config.topology.ports(host)[0].peer
}

/// One of every kind, and of every key.
const KINDS: [&str; 12] = [
    "kind = \"permutation\"\nsize = \"3 KB\"\nclasses_by_size = [[\"10 KB\", 3]]",
    "kind = \"permutation\"\nname = \"p\"\nrate = \"1 Gbps\"\nstop = \"3 ms\"",
    "kind = \"poisson\"\nload = \"30 %\"\nsizes = \"pcn_w1_webserver\"\nstart = \"1 ms\"\nstop = \"9 ms\"
     classes_by_size = [[\"10 KB\", 3], [\"100 KB\", 2]]\nclass = 1\nrate = \"5 Gbps\"
     initial_rate = \"1 Gbps\"\ncongestion_control = false\npacket = \"1000 B\"",
    "kind = \"poisson\"\nload = \"87.5 %\"\ncdf = [[\"64 B\", 0.1], [\"10 KB\", 0.15], [\"1 MB\", 1]]
     arrivals = \"synchronous\"\nsources = [\"H0..H6\"]\ntargets = [\"H1*\"]\nother_rack = false",
    "kind = \"poisson\"\nload = \"20 %\"\nsize = \"64 KB\"\nfan_in = [1, 8]",
    "kind = \"incast\"\ntarget = \"H3\"\nsize = \"64 KB\"",
    "kind = \"incast\"\ndegree = 5\nsizes = \"websearch\"\ninterval = \"1 ms\"\nrepeat = 7
     other_rack = true",
    "kind = \"closed-loop\"\nsizes = \"pcn_w2_hadoop\"\nthink = \"10 us\"\nparallel = 2",
    "kind = \"all-to-all\"\nhosts = [\"H0\", \"H5\", \"H1*\"]\nsize = \"1 MB\"\nrepeat = 2",
    "kind = \"all-to-all\"\nrounds = \"shifted\"\nsize = \"1 MB\"\nrepeat = 3\ngap = \"5 us\"",
    "kind = \"ring-all-reduce\"\nsize = \"1 MB\"\nrepeat = 2\ngap = \"1 us\"",
    "kind = \"tree-all-reduce\"\nsize = \"1 MB\"\nchunks = 4\nrepeat = 2",
];

#[test]
fn every_kind_survives_being_written_out() {
    for kind in KINDS {
        for header in ["[traffic]", "[[traffic]]"] {
            let first = parse(&format!("{BASE}{header}\n{kind}"));
            let again = parse(&first.resolved());
            assert!(!first.config.flows.is_empty(), "{kind}");
            assert_eq!(first.config.flows, again.config.flows, "{kind}");
            assert_eq!(first.config.follows, again.config.follows, "{kind}");
            assert_eq!(first.resolved(), again.resolved(), "{kind}");
            assert!(!first.resolved().contains("[[flow]]"), "{}", first.resolved());
        }
    }
}

#[test]
fn sections_do_not_change_each_other_whatever_their_order() {
    let named = |(index, kind): (usize, &&str)| {
        if kind.contains("name") || index == 0 {
            format!("[[traffic]]\n{kind}\n")
        } else {
            format!("[[traffic]]\nname = \"n{index}\"\n{kind}\n")
        }
    };
    let mut sections = Vec::from_iter(KINDS.iter().enumerate().map(named));
    let flow = "[[flow]]\nsource = \"H0\"\ntarget = \"H15\"\n".to_string();
    let alone = Vec::from_iter(sections.iter().map(|section| config(section)));
    sections.push(flow);
    let together = config(&sections.concat());
    sections.reverse();
    let reversed = config(&sections.concat());
    assert_eq!(together.flows, reversed.flows);
    assert_eq!(together.follows, reversed.follows);
    let sum: usize = alone.iter().map(|config| config.flows.len()).sum();
    assert_eq!(together.flows.len(), sum + 1);
    // The same name gives the same flows, alone or not.
    let text = sections.iter().find(|text| text.contains("n4")).unwrap();
    let alone = config(text);
    let of_section = |config: &Config| {
        let flows = config.flows.iter().filter(|flow| flow.name.starts_with("n4/"));
        Vec::from_iter(flows.cloned())
    };
    assert_eq!(of_section(&alone), of_section(&together));
    assert!(!of_section(&alone).is_empty());
}

/// Bytes that each source was to send, over what its link carries in `span`.
fn load(config: &Config, span: Span) -> f64 {
    let bytes: u64 = config.flows.iter().map(|flow| flow.size.get()).sum();
    let hosts = config.topology.hosts().len() as f64;
    bytes as f64 * 8.0 / (hosts * 10e9 * span.as_secs_f64())
}

#[test]
fn poisson_arrivals_have_the_load_and_the_gaps() {
    let long = |traffic: &str| {
        let base = BASE.replace("20 ms", "2000 ms");
        parse(&format!("{base}[[traffic]]\nkind = \"poisson\"\n{traffic}")).config
    };
    for (traffic, expected) in [
        ("load = \"60 %\"\nsizes = \"pcn_w1_webserver\"", 0.6),
        ("load = \"35 %\"\nsize = \"100 KB\"\nfan_in = [1, 8]", 0.35),
        ("load = \"5 %\"\ncdf = [[\"1 KB\", 0.5], [\"9 KB\", 1]]", 0.05),
    ] {
        let config = long(traffic);
        let found = load(&config, Span::ms(2_000));
        assert!((found / expected - 1.0).abs() < 0.02, "{traffic} {found}");
    }
    let config = long("load = \"60 %\"\nsize = \"100 KB\"\nsources = [\"H3\"]");
    let mut starts = Vec::from_iter(config.flows.iter().map(|flow| flow.start));
    starts.sort_unstable();
    let gaps = starts.windows(2).map(|pair| (pair[1] - pair[0]).as_secs_f64());
    let gaps = Vec::from_iter(gaps);
    let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
    let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
    let expected = 8.0 * 100e3 / 6e9;
    assert!(gaps.len() > 14_000);
    assert!((mean / expected - 1.0).abs() < 0.03, "{mean}");
    assert!((variance / mean.powi(2) - 1.0).abs() < 0.06, "{variance}");
    // Instants are whole nanoseconds.
    assert!(starts.iter().all(|start| start.as_ps() % 1_000 == 0));
}

#[test]
fn poisson_flows_go_to_other_racks_and_classes_follow_sizes() {
    let config = config(&format!("[[traffic]]\n{}", KINDS[2]));
    let mut classes = BTreeMap::new();
    for flow in &config.flows {
        assert_ne!(rack(&config, flow.source), rack(&config, flow.target));
        let class = match flow.size.get() {
            0..10_000 => 3,
            10_000..100_000 => 2,
            _ => 1,
        };
        assert_eq!(flow.class.0, class);
        *classes.entry(class).or_insert(0) += 1;
        assert!(flow.start >= Time::ZERO + Span::ms(1) && flow.start < Time::ZERO + Span::ms(9));
        assert_eq!(flow.stop, Time::MAX);
        assert_eq!(flow.packet, Bytes::new(1_000));
        assert_eq!(flow.pace.as_bps(), 5_000_000_000);
    }
    assert_eq!(classes.len(), 3);
    // Every other host outside the rack is somebody's target.
    let pairs = config.flows.iter().map(|flow| (flow.source, flow.target));
    let pairs = std::collections::BTreeSet::from_iter(pairs);
    assert!(pairs.len() > 150, "{} of 16 * 12", pairs.len());
}

//= pcn20 7.2 type=test
#[test]
fn synchronous_sources_share_instants_and_sizes() {
    let config = config(&format!("[[traffic]]\n{}", KINDS[3]));
    let mut by_source: BTreeMap<NodeId, Vec<(Time, Bytes)>> = BTreeMap::new();
    for flow in &config.flows {
        let list = by_source.entry(flow.source).or_default();
        list.push((flow.start, flow.size));
    }
    let mut lists = by_source.into_values().map(|mut list| {
        list.sort_unstable();
        list
    });
    let first = lists.next().unwrap();
    assert!(first.len() > 20, "{}", first.len());
    let mut count = 1;
    for list in lists {
        assert_eq!(list, first);
        count += 1;
    }
    assert_eq!(count, 7);
}

//= pcn20 7.4 type=test
#[test]
fn fan_in_gathers_different_sources_of_other_racks() {
    let config = config(&format!("[[traffic]]\n{}", KINDS[4]));
    let mut events: BTreeMap<String, Vec<&Flow>> = BTreeMap::new();
    for flow in &config.flows {
        let (_, number) = flow.name.rsplit_once('#').unwrap();
        events.entry(number.to_string()).or_default().push(flow);
    }
    let mut sizes = std::collections::BTreeSet::new();
    for flows in events.values() {
        sizes.insert(flows.len());
        assert!(flows.iter().all(|flow| flow.start == flows[0].start));
        assert!(flows.iter().all(|flow| flow.target == flows[0].target));
        let sources = flows.iter().map(|flow| flow.source);
        let sources = std::collections::BTreeSet::from_iter(sources);
        assert_eq!(sources.len(), flows.len());
        let target = rack(&config, flows[0].target);
        assert!(sources.iter().all(|source| rack(&config, *source) != target));
    }
    assert_eq!(Vec::from_iter(sizes), Vec::from_iter(1..=8));
}

#[test]
fn incasts() {
    let once = config(&format!("[[traffic]]\n{}", KINDS[5]));
    assert_eq!(once.flows.len(), 15);
    assert!(once.flows.iter().all(|flow| flow.start == Time::ZERO));
    let some = config(&format!("[[traffic]]\n{}", KINDS[6]));
    assert_eq!(some.flows.len(), 5 * 7);
    let third = some.flows.iter().filter(|flow| flow.name.ends_with("#3"));
    let third = Vec::from_iter(third);
    assert_eq!(third.len(), 5);
    assert!(third.iter().all(|flow| flow.start == Time::ZERO + Span::ms(2)));
    // Bursts: every interval until the end.
    let bursts = config(
        "[[traffic]]\nkind = \"incast\"\nsources = [\"H2..H15\"]\ntarget = \"H1\"\n\
         size = \"64 KB\"\ninterval = \"3 ms\"\nstart = \"1 ms\"",
    );
    assert_eq!(bursts.flows.len(), 14 * 7);
    let last = bursts.flows.iter().map(|flow| flow.start).max();
    assert_eq!(last, Some(Time::ZERO + Span::ms(19)));
}

#[test]
fn closed_loops_never_run_out() {
    let config = config(&format!("[[traffic]]\n{}", KINDS[7]));
    let mut chains: BTreeMap<(NodeId, u64), BTreeMap<u64, &Flow>> = BTreeMap::new();
    for flow in &config.flows {
        let (_, number) = flow.name.rsplit_once('#').unwrap();
        let (chain, number) = number.split_once('.').unwrap();
        let chain = (flow.source, chain.parse().unwrap());
        let chain = chains.entry(chain).or_default();
        assert!(chain.insert(number.parse().unwrap(), flow).is_none());
        assert_ne!(rack(&config, flow.source), rack(&config, flow.target));
    }
    assert_eq!(chains.len(), 16 * 2);
    for chain in chains.values() {
        let bytes: u64 = chain.values().map(|flow| flow.size.get()).sum();
        let carried = 10_000_000_000 / 8 * 20 / 1_000;
        let thought = (chain.len() as u64) * 10 * 1_250;
        assert!(bytes + thought >= carried, "{bytes}");
        assert_eq!(Vec::from_iter(chain.keys().copied()), Vec::from_iter(1..=chain.len() as u64));
    }
    assert_eq!(config.follows.len(), config.flows.len() - 32);
    for follow in &config.follows {
        assert_eq!(follow.delay, Span::us(10));
        let [first, then] = [follow.first, follow.then].map(|flow| &config.flows[flow.index()]);
        assert_eq!(first.source, then.source);
    }
}

#[test]
fn closed_loops_with_a_rate_never_run_out_either() {
    let text = BASE.replace("20 ms", "2 ms");
    // One packet leaves at the rate of the link; of several, the last one does.
    for (size, rate) in [("1500 B", "100 Mbps"), ("3100 B", "1 Gbps")] {
        let traffic = format!(
            "[[traffic]]\nkind = \"closed-loop\"\nsources = [\"H0..H3\"]\n\
             size = \"{size}\"\nrate = \"{rate}\"\n"
        );
        let config = parse(&format!("{text}{traffic}")).config;
        let outcome = pauseless_sim::run(&config);
        let left = config.flows.iter().zip(&outcome.flows);
        let left = left.filter(|(_, outcome)| outcome.finish.is_none());
        let mut sources = Vec::from_iter(left.map(|(flow, _)| flow.source));
        sources.sort_unstable();
        sources.dedup();
        assert_eq!(sources.len(), 4, "{size}: something is left of every chain");
    }
}

/// Checks that nothing waits for itself, and returns how many sets of flows have nothing to do
/// with each other.
fn parts(config: &Config) -> usize {
    let count = config.flows.len();
    let mut waiting = vec![0; count];
    let mut part = Vec::from_iter(0..count);
    fn root(part: &mut [usize], mut at: usize) -> usize {
        while part[at] != at {
            part[at] = part[part[at]];
            at = part[at];
        }
        at
    }
    let mut thens = vec![Vec::new(); count];
    for follow in &config.follows {
        let (first, then) = (follow.first.index(), follow.then.index());
        waiting[then] += 1;
        thens[first].push(then);
        let (a, b) = (root(&mut part, first), root(&mut part, then));
        part[a] = b;
    }
    let mut ready = Vec::from_iter((0..count).filter(|flow| waiting[*flow] == 0));
    let mut done = 0;
    while let Some(first) = ready.pop() {
        done += 1;
        for then in &thens[first] {
            waiting[*then] -= 1;
            if waiting[*then] == 0 {
                ready.push(*then);
            }
        }
    }
    assert_eq!(done, count, "flows wait in a circle");
    (0..count).filter(|flow| root(&mut part, *flow) == *flow).count()
}

fn sent(config: &Config) -> BTreeMap<NodeId, u64> {
    let mut sent = BTreeMap::new();
    for flow in &config.flows {
        *sent.entry(flow.source).or_default() += flow.size.get();
    }
    sent
}

#[test]
fn a_ring_sends_what_the_books_say() {
    let text = "[[traffic]]\nkind = \"ring-all-reduce\"\nsize = \"1600 KB\"";
    let ring = config(text);
    assert_eq!(ring.flows.len(), 16 * 30);
    // 2 (n - 1) / n of the buffer, from each rank.
    assert!(sent(&ring).values().all(|bytes| *bytes == 1_600_000 * 30 / 16));
    assert_eq!(ring.follows.len(), 16 * 29 * 2);
    assert_eq!(parts(&ring), 1);
    let before = firsts(&ring, "ring-all-reduce/H5->H6#1.4");
    assert_eq!(before, ["ring-all-reduce/H4->H5#1.3", "ring-all-reduce/H5->H6#1.3"]);
    // Parts differ by a byte where they must, and no byte is sent too often.
    let odd = config(&text.replace("1600 KB", "1000003 B"));
    assert_eq!(sent(&odd).values().sum::<u64>(), 30 * 1_000_003);
    let twice = config(&format!("{text}\nrepeat = 2\ngap = \"7 us\""));
    let before = firsts(&twice, "ring-all-reduce/H5->H6#2.1");
    assert_eq!(before, ["ring-all-reduce/H4->H5#1.30", "ring-all-reduce/H5->H6#1.30"]);
    let gaps = twice.follows.iter().filter(|follow| follow.delay == Span::us(7));
    assert_eq!(gaps.count(), 16 * 2);
    assert_eq!(parts(&twice), 1);
}

#[test]
fn a_tree_reduces_and_broadcasts() {
    let text = "[[traffic]]\nkind = \"tree-all-reduce\"\nhosts = [\"H0..H6\"]\nsize = \"1 MB\"";
    let tree = config(text);
    assert_eq!(tree.flows.len(), 12);
    assert!(tree.flows.iter().all(|flow| flow.size == Bytes::mb(1)));
    assert_eq!(parts(&tree), 1);
    let name = |ends: &str| format!("tree-all-reduce/{ends}");
    assert!(firsts(&tree, &name("H3->H1#1.1")).is_empty());
    let up = [name("H3->H1#1.1"), name("H4->H1#1.1")];
    assert_eq!(firsts(&tree, &name("H1->H0#1.1")), up);
    let root = [name("H1->H0#1.1"), name("H2->H0#1.1")];
    assert_eq!(firsts(&tree, &name("H0->H2#1.1")), root);
    assert_eq!(firsts(&tree, &name("H2->H6#1.1")), [name("H0->H2#1.1")]);
    let parted = config(&format!("{text}\nchunks = 3\nrepeat = 2"));
    assert_eq!(parted.flows.len(), 12 * 3 * 2);
    assert_eq!(parts(&parted), 1);
    let before = [name("H0->H2#1.1"), name("H2->H6#1.1")];
    assert_eq!(firsts(&parted, &name("H2->H6#1.2"))[1..], before[1..]);
    let before = [name("H1->H3#1.3"), name("H3->H1#1.3")];
    assert_eq!(firsts(&parted, &name("H3->H1#2.1")), before);
    assert_eq!(sent(&parted).values().sum::<u64>(), 12 * 1_000_000 * 2);
}

#[test]
fn all_to_all() {
    let text =
        "[[traffic]]\nkind = \"all-to-all\"\nhosts = [\"H0..H3\"]\nsize = \"4 KB\"\nrepeat = 2";
    let at_once = config(text);
    assert_eq!(at_once.flows.len(), 2 * 12);
    assert!(at_once.flows.iter().all(|flow| flow.size == Bytes::kb(1)));
    assert_eq!(at_once.follows.len(), 12 * 6);
    assert_eq!(parts(&at_once), 1);
    let name = |ends: &str| format!("all-to-all/{ends}");
    assert!(firsts(&at_once, &name("H2->H0#1.2")).is_empty());
    assert_eq!(firsts(&at_once, &name("H2->H0#2.2")).len(), 6);
    let shifted = config(&format!("{text}\nrounds = \"shifted\""));
    assert_eq!(shifted.flows.len(), 2 * 12);
    assert_eq!(firsts(&shifted, &name("H2->H0#1.2")), [name("H2->H3#1.1")]);
    assert_eq!(firsts(&shifted, &name("H2->H3#2.1")).len(), 6);
    assert_eq!(parts(&shifted), 1);
}

#[test]
fn the_examples_of_the_reference_are_scenarios() {
    let reference = include_str!("../../../docs/scenario.md");
    let mut kinds = std::collections::BTreeSet::new();
    for example in reference.split("```toml\n").skip(1) {
        let (example, _) = example.split_once("```").unwrap();
        let Some((_, rest)) = example.split_once("[[traffic]]\nkind = \"") else {
            continue;
        };
        kinds.insert(rest.split_once('"').unwrap().0);
        assert!(!config(example).flows.is_empty(), "{example}");
    }
    assert_eq!(kinds.len(), 8, "{kinds:?}");
}

#[test]
fn check_sees_every_pair_that_may_be_drawn() {
    use pauseless_fabric::dependency::Traffic;
    use pauseless_text::source::Source;
    let demands = |traffic: &str| {
        // What only a run needs is left out.
        let text = BASE.replace("duration = \"20 ms\"\n", "");
        let text = format!("{text}[[traffic]]\n{traffic}");
        let source = Source::from_bytes("t.toml", text.into_bytes()).expect("UTF-8");
        let fabric = pauseless_scenario::fabric_file::read(&source);
        let fabric = fabric.unwrap_or_else(|problems| panic!("{problems}"));
        match fabric.traffic {
            Traffic::Demands(demands) => demands.len(),
            Traffic::AllPairs(_) => 0,
        }
    };
    let sizes = "sizes = \"websearch\"\nload = \"1 %\"";
    let classes = "classes_by_size = [[\"10 KB\", 3], [\"1 GB\", 2]]";
    assert_eq!(demands(&format!("kind = \"poisson\"\n{sizes}")), 16 * 12);
    let parallel = format!("kind = \"poisson\"\n{sizes}\nother_rack = false");
    assert_eq!(demands(&parallel), 16 * 15);
    assert_eq!(demands(&format!("kind = \"poisson\"\n{sizes}\n{classes}")), 2 * 16 * 12);
    assert_eq!(demands("kind = \"incast\"\nsize = \"1 KB\"\ntarget = \"H1\""), 15);
    assert_eq!(demands("kind = \"closed-loop\"\nsize = \"1 KB\""), 16 * 12);
    assert_eq!(demands("kind = \"ring-all-reduce\"\nsize = \"1 KB\"\nrepeat = 9"), 16);
    assert_eq!(demands("kind = \"tree-all-reduce\"\nsize = \"1 KB\"\nchunks = 9"), 30);
    assert_eq!(demands("kind = \"all-to-all\"\nsize = \"1 KB\""), 16 * 15);
    assert_eq!(demands("kind = \"permutation\"\nname = \"p\""), 16 * 15);
    assert_eq!(demands("kind = \"permutation\""), 16 * 15);
    let other = "kind = \"permutation\"\nsize = \"1 KB\"\nname = \"p\"";
    assert_eq!(demands(&format!("{other}\n{classes}")), 16 * 15);
    let both = format!("kind = \"permutation\"\n[[traffic]]\n{other}\nclass = 2");
    assert_eq!(demands(&both), 2 * 16 * 15);
}

#[test]
fn check_says_the_same_of_a_permutation_whatever_the_seed() {
    use pauseless_text::source::Source;
    for (name, seed) in (1..=20).flat_map(|seed| [("", seed), ("name = \"p\"", seed)]) {
        let text = format!(
            "seed = {seed}\n[topology]\nkind = \"ring\"\nswitches = 5\nhosts_per_switch = 4\n\
             rate = \"10 Gbps\"\ndelay = \"1 us\"\n[traffic]\nkind = \"permutation\"\n{name}\n"
        );
        let source = Source::from_bytes("t.toml", text.into_bytes()).expect("UTF-8");
        let fabric = pauseless_scenario::fabric_file::read(&source);
        let fabric = fabric.unwrap_or_else(|problems| panic!("{problems}"));
        let verdict = pauseless_check::check(&fabric, &[]);
        assert!(verdict.is_cyclic(), "seed {seed} {name}");
    }
}

#[test]
fn a_section_without_flows_is_warned_about() {
    let text = "[[traffic]]\nkind = \"poisson\"\nload = \"1 ppm\"\nsize = \"1 GB\"";
    let scenario = parse(&format!("{BASE}{text}"));
    let warning = "traffic poisson: no flow starts before the end of the run";
    assert_eq!(scenario.warnings, [warning]);
    let outcome = pauseless_sim::run(&scenario.config);
    assert_eq!(outcome.flows.len(), 0);
}
