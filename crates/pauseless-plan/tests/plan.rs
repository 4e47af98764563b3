//! Buffer plans: what they say, what they refuse, and that a scenario takes them as they are.

use std::path::{Path, PathBuf};

use pauseless_check::read;
use pauseless_core::id::PortId;
use pauseless_core::unit::{Bytes, Rate, Span};
use pauseless_fabric::fabric::{Fabric, Medium};
use pauseless_plan::against::{self, Bound, Deployed, Judgement, Terms};
use pauseless_plan::apply::Applied;
use pauseless_plan::headroom::{Reaction, cable};
use pauseless_plan::{Fit, Plan, PlanError, Request, Scheme, against_text, plan, text};
use pauseless_scenario::shape;
use pauseless_scenario::{Overrides, Scenario};
use pauseless_text::source::Source;

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/ethernet").join(name)
}

fn fabric(spec: &str) -> Fabric {
    shape::parse(spec).unwrap()
}

fn planned(spec: &str, request: &Request) -> Plan {
    plan(&fabric(spec), request).unwrap()
}

/// The switch of the TTL note: 32 ports of 40 Gb/s over 300 m, 8 classes.
fn note() -> (&'static str, Request) {
    let request = Request {
        classes: Some(8),
        wire: Some(cable(300)),
        reaction: Reaction::Quanta(60),
        ..Request::default()
    };
    ("n-to-1:31,rate=40Gbps", request)
}

#[test]
fn the_switch_of_the_note() {
    let (spec, request) = note();
    let plan = planned(spec, &request);
    let [switch] = &plan.switches[..] else {
        panic!("one switch");
    };
    let [port] = &switch.ports[..] else {
        panic!("ports that are alike");
    };
    assert_eq!((port.count, switch.queue_count()), (32, 256));
    assert_eq!(port.headroom.equation, Bytes::new(21_968));
    assert_eq!(switch.dynamic.headroom, Bytes::new(23_852 * 256));
    assert_eq!(switch.ttl[0].work_shared, Bytes::mb(8));
    // All that the static plan gives away is the buffer, but for what does not divide.
    let set = switch.scheme(Scheme::Pfc).sets[0];
    assert_eq!(set.ingress.buffer, Bytes::new(32_000_000 / 256));
}

/// What is missing, and that each advice alone helps.
#[test]
fn a_plan_that_does_not_fit_says_what_would() {
    let (spec, mut request) = note();
    request.buffer = Bytes::mb(5);
    let plan = planned(spec, &request);
    assert!(!plan.fits(Scheme::Pfc) && plan.fits(Scheme::Cbfc));
    let pfc = plan.switches[0].scheme(Scheme::Pfc);
    let Fit::Short(by, advice) = pfc.fit else {
        panic!("it does not fit");
    };
    assert_eq!(by, Bytes::new((23_852 + 4_500) * 256 - 5_000_000));
    let (classes, wire) = (advice.classes.unwrap(), advice.wire.unwrap());
    assert_eq!(classes, 5);
    let fits = |change: &dyn Fn(&mut Request)| {
        let mut request = request.clone();
        change(&mut request);
        planned(spec, &request).fits(Scheme::Pfc)
    };
    assert!(fits(&|request| request.classes = Some(classes)));
    assert!(!fits(&|request| request.classes = Some(classes + 1)));
    assert!(fits(&|request| request.wire = Some(wire)));
    assert!(!fits(&|request| request.wire = Some(wire + Span::ns(1))));
    assert!(fits(&|request| request.buffer = pfc.need));
    assert!(!fits(&|request| request.buffer = pfc.need - Bytes::new(1)));
    let report = text::report(&fabric(spec), &plan);
    let advice = "pfc does not fit: give the switch 7,258,112 B of buffer, or make at most 5 \
                  priorities lossless, or use cables of ";
    assert!(report.contains(advice), "{report}");
}

#[test]
fn what_cannot_be_planned_is_refused_with_its_fix() {
    let refused = |spec: &str, request: &Request| {
        let error = plan(&fabric(spec), request).unwrap_err();
        error.to_string()
    };
    let fast = refused("n-to-1:2,rate=1600Gbps", &Request::default());
    assert_eq!(fast, "802.3 gives no reaction limit at 1.6 Tbps; say --quanta N or --processing T");
    for mtu in [0, 63, 1_000_001] {
        let request = Request { mtu: Bytes::new(mtu), ..Request::default() };
        let error = plan(&fabric("n-to-1:2"), &request).unwrap_err();
        assert_eq!(error, PlanError::Mtu(Bytes::new(mtu)));
    }
    let request = Request { classes: Some(17), ..Request::default() };
    let eight = refused("n-to-1:2", &request);
    assert!(eight.contains("PFC has 8 priorities"), "{eight}");
    assert!(eight.contains("--classes from 1 to 8"), "{eight}");
    let mut lanes = fabric("n-to-1:2");
    lanes.medium = Medium::InfiniBand;
    let sixteen = plan(&lanes, &request).unwrap_err().to_string();
    assert!(sixteen.contains("--classes from 1 to 16"), "{sixteen}");
    for (medium, is_planned) in [(Medium::Ethernet, false), (Medium::InfiniBand, true)] {
        lanes.medium = medium;
        let request = Request { classes: Some(9), ..Request::default() };
        assert_eq!(plan(&lanes, &request).is_ok(), is_planned, "{medium:?}");
    }
    let mut lossy = fabric("n-to-1:2");
    let switch = lossy.topology.node_named("S1").unwrap();
    for port in 0..3 {
        lossy.lossy.add(switch, PortId(port), 1);
    }
    let nothing = plan(&lossy, &Request::default()).unwrap_err();
    assert_eq!(nothing, PlanError::NothingLossless);
    let given = Request { classes: Some(1), ..Request::default() };
    assert!(plan(&lossy, &given).is_ok());
}

/// A smaller MTU is advised only where some frame is small enough, and then the largest such.
#[test]
fn a_smaller_mtu_is_advised_where_it_helps() {
    let (spec, mut request) = note();
    let fitting = |request: &Request| planned(spec, request).fits(Scheme::Pfc);
    request.buffer = Bytes::mb(7);
    let plan = planned(spec, &request);
    let Fit::Short(_, advice) = plan.switches[0].scheme(Scheme::Pfc).fit else {
        panic!("it does not fit");
    };
    let mtu = advice.mtu.unwrap();
    request.mtu = mtu;
    assert!(fitting(&request), "{mtu:?}");
    request.mtu = mtu + Bytes::new(1);
    assert!(!fitting(&request), "{mtu:?}");
    let advice = format!("or set --mtu to {} B at most", mtu.get());
    assert!(text::report(&fabric(spec), &plan).contains(&advice));
    // The wire alone takes more than this.
    request.buffer = Bytes::mb(1);
    request.mtu = Bytes::new(1_500);
    let report = text::report(&fabric(spec), &planned(spec, &request));
    assert!(report.contains("pfc does not fit: give"), "{report}");
    let pfc = report.lines().find(|line| line.contains("pfc does not fit"));
    assert!(!pfc.unwrap().contains("--mtu"), "{report}");
}

/// What is not among the schemes is named too, and says by how much it is short.
#[test]
fn dynamic_thresholds_and_ttl_are_part_of_the_verdict() {
    let (spec, mut request) = note();
    request.buffer = Bytes::mb(6);
    let plan = planned(spec, &request);
    let (short, verdict) = (plan.switches[0].dynamic.short, text::verdict(&plan));
    assert_eq!(short, Bytes::new(23_852 * 256 - 6_000_000));
    assert!(!plan.fits_dynamic());
    let (yes, no) = verdict.split_once("need more buffer").unwrap();
    assert!(no.contains("pfc with dynamic thresholds"), "{verdict}");
    assert!(yes.contains("ttl"), "{verdict}");
    let report = text::report(&fabric(spec), &plan);
    assert!(report.contains("106,112 B too little"), "{report}");
    // Three switches in a row have three classes where all schemes have one.
    let line =
        Request { buffer: Bytes::new(500_000), wire: Some(cable(300)), ..Request::default() };
    let line = planned("line:3,hosts_per_switch=1,rate=40Gbps", &line);
    let least = line.switches.iter().flat_map(|switch| &switch.ttl);
    let needs = least.map(|ttl| ttl.partition * u64::from(ttl.classes()) + ttl.headroom);
    let buffer = needs.max().unwrap() - Bytes::new(1);
    let request = Request { buffer, ..line.request.clone() };
    let plan = planned("line:3,hosts_per_switch=1,rate=40Gbps", &request);
    assert!(plan.fits(Scheme::Pfc) && plan.fits_ttl() == Some(false));
    let verdict = text::verdict(&plan);
    let no = verdict.split_once("These need more buffer: ").unwrap().1;
    assert!(no.contains("ttl"), "{verdict}");
}

/// Packets that circle have no last hop: one note instead of 64 classes.
#[test]
fn routes_in_a_circle_have_no_ttl_classes() {
    let mut fabric = fabric("line:3,hosts_per_switch=1");
    let id = |name: &str| fabric.topology.node_named(name).unwrap();
    let (switch, host) = (id("S2"), id("H3"));
    let back = fabric.topology.ports_towards(switch, id("S1")).next();
    let group = fabric.routes.groups.of_host(host);
    fabric.routes.table.set(switch, group, &[back.unwrap()]);
    let plan = plan(&fabric, &Request::default()).unwrap();
    assert!(plan.has_loop && plan.fits_ttl().is_none());
    assert!(plan.switches.iter().all(|switch| switch.ttl.is_empty()));
    let report = text::report(&fabric, &plan);
    assert!(!report.contains("classes 1, 2, 3"), "{report}");
    assert!(report.contains("see docs/ttl.md"), "{report}");
}

/// The rule is said, and how to have the switches used that it leaves out.
#[test]
fn the_routes_are_named() {
    let single = fabric("fat-tree:4");
    let plan_of = |fabric: &Fabric| plan(fabric, &Request::default()).unwrap();
    let report = text::report(&single, &plan_of(&single));
    let first = report.lines().next().unwrap();
    assert!(first.ends_with("that with the lowest port"), "{first}");
    assert!(report.contains("--routing ecmp takes all"), "{report}");
    let all = fabric("fat-tree:4,routing=ecmp");
    let report = text::report(&all, &plan_of(&all));
    let first = report.lines().next().unwrap();
    assert!(first.ends_with("all shortest paths (ECMP)"), "{first}");
    assert!(!report.contains("no route leads"), "{report}");
}

/// One rate for all links, instead of theirs.
#[test]
fn a_rate_may_be_given() {
    let request = Request { rate: Some(Rate::gbps(200)), ..Request::default() };
    let mut slow = fabric("leaf-spine:2,spines=2,hosts_per_leaf=2,host_rate=10Gbps");
    slow.medium = Medium::InfiniBand;
    let noted = |plan: &Plan| plan.notes.iter().any(|note| note.contains("base speed"));
    let own = plan(&slow, &Request::default()).unwrap();
    assert!(noted(&own), "{:?}", own.notes);
    let given = plan(&slow, &request).unwrap();
    assert!(!noted(&given), "{:?}", given.notes);
    let ports = given.switches.iter().flat_map(|switch| &switch.ports);
    for port in ports {
        assert_eq!(port.latency.line, Rate::gbps(200));
    }
}

/// Ports of other links, and lossy ones.
#[test]
fn ports_are_planned_by_their_kind() {
    let mut fabric = fabric("leaf-spine:2,spines=2,hosts_per_leaf=4,host_rate=25Gbps");
    let id = |name: &str| fabric.topology.node_named(name).unwrap();
    let (leaf, spine) = (id("L0"), id("S0"));
    fabric.lossy.add(leaf, PortId(0), 1);
    let plan = plan(&fabric, &Request::default()).unwrap();
    let of = |node| {
        let found = plan.switches.iter().find(|it| it.members.contains(&node));
        found.unwrap()
    };
    assert_eq!(plan.switches.len(), 3, "two leaves that differ, and the spines");
    assert_eq!(of(spine).ports.len(), 1);
    let kinds = of(leaf).ports.iter().map(|port| (port.kind.line, port.count));
    assert_eq!(Vec::from_iter(kinds), [(Rate::gbps(25), 3), (Rate::gbps(100), 2)]);
    // The faster ports need more headroom, and XOFF is the same.
    let sets = &of(leaf).scheme(Scheme::Pfc).sets;
    assert!(sets[0].ingress.buffer < sets[1].ingress.buffer);
}

#[test]
fn switches_may_have_buffers_of_their_own() {
    let fabric = fabric("leaf-spine:2,spines=2,hosts_per_leaf=2");
    let mut request = Request {
        buffers: vec![("S*".to_string(), Bytes::mb(64)), ("S1".to_string(), Bytes::mb(8))],
        ..Request::default()
    };
    let plan = plan(&fabric, &request).unwrap();
    let buffers = plan.switches.iter().map(|switch| (switch.members.len(), switch.buffer));
    let expected = [(2, Bytes::mb(32)), (1, Bytes::mb(64)), (1, Bytes::mb(8))];
    assert_eq!(Vec::from_iter(buffers), expected);
    for switch in &plan.switches {
        let sets = &switch.scheme(Scheme::Pfc).sets;
        let ports = switch.ports.iter().zip(sets);
        let used = ports.map(|(port, set)| set.ingress.buffer.get() * port.queue_count());
        let used: u64 = used.sum();
        assert!(used <= switch.buffer.get() && used + 100 > switch.buffer.get());
    }
    request.buffers.push(("leaf*".to_string(), Bytes::mb(1)));
    let error = pauseless_plan::plan(&fabric, &request).unwrap_err();
    assert!(error.to_string().contains("no switch is called \"leaf*\""), "{error}");
}

/// `run` takes the sections of every scheme, without a warning, and loses nothing with them.
#[test]
fn a_scenario_takes_the_sections() {
    const TOPOLOGY: &str = "leaf-spine:2,spines=2,hosts_per_leaf=3,rate=40Gbps,delay=500ns,\
                            host_rate=10Gbps,host_delay=25ns";
    let request = Request { buffer: Bytes::mb(3), classes: Some(2), ..Request::default() };
    let fabric = fabric(TOPOLOGY);
    let applied = Applied::new(&fabric, &plan(&fabric, &request).unwrap()).unwrap();
    for scheme in Scheme::ALL {
        let sections = applied.sections(&fabric, scheme).unwrap();
        let text = format!(
            r#"duration = "300 us"
{sections}
[topology]
kind = "leaf-spine"
leaves = 2
spines = 2
hosts_per_leaf = 3
rate = "40 Gbps"
delay = "500 ns"
host_rate = "10 Gbps"
host_delay = "25 ns"
[[flow]]
source = "H0"
target = "H5"
[[flow]]
source = "H3"
target = "H5"
"#
        );
        let scenario = Scenario::parse("planned", &text, &Overrides::default());
        let scenario = scenario.unwrap_or_else(|error| panic!("{error}\n{text}"));
        assert_eq!(scenario.warnings, Vec::<String>::new());
        // Every ingress is exactly as planned.
        let ingress = applied.ingress(&fabric, scheme).unwrap();
        for (number, _) in fabric.topology.nodes().iter().enumerate() {
            let node = pauseless_core::id::NodeId(number as u32);
            for port in 0..fabric.topology.ports(node).len() {
                let (port, class) = (PortId(port as u16), pauseless_core::id::Class(1));
                let found = scenario.config.ingress.get(node, port, class);
                assert_eq!(found, ingress.get(node, port, class), "{scheme:?}");
            }
        }
        let outcome = pauseless_sim::run(&scenario.config);
        assert_eq!(outcome.lost_packets, 0, "{scheme:?}");
    }
}

fn judged(names: &[&str], mtu: Option<u64>) -> Deployed {
    let request = Request::default();
    let terms = Terms { request: &request, mtu: mtu.map(Bytes::new), fabric: None };
    let paths = Vec::from_iter(names.iter().map(|name| example(name)));
    against::read(&paths, terms).unwrap()
}

fn counts(deployed: &Deployed) -> [usize; 3] {
    let of = |is: fn(&Judgement) -> bool| {
        let rows = deployed.rows.iter().filter(|row| is(&row.judgement));
        rows.count()
    };
    [
        of(|it| matches!(it, Judgement::Enough(_))),
        of(|it| matches!(it, Judgement::TooSmall(_))),
        of(|it| matches!(it, Judgement::Unknown(_))),
    ]
}

#[test]
fn the_tables_of_two_switches_are_judged() {
    let old = judged(&["pg_profile_lookup.ACS-MSN2700.ini"], None);
    assert_eq!(counts(&old), [15, 0, 0]);
    assert!(!old.can_lose(Bound::WorstCase));
    // 400 Gb/s over 5 m: the reaction of 905 quanta alone is 57,920 B.
    let new = judged(&["pg_profile_lookup.ACS-MSN4700.ini"], None);
    assert_eq!(counts(&new), [19, 2, 0]);
    let short = new.rows.iter().find(|row| row.speed_mbps == Some(400_000)).unwrap();
    assert_eq!(short.profile.xoff, Some(38_912));
    let needed = 1_500 * 3 + 2 * 64 + 2 * 1_250 + 905 * 64;
    assert_eq!(short.derived.unwrap().bound, Bytes::new(needed));
    let by = Bytes::new(needed - 38_912);
    assert_eq!(short.judgement, Judgement::TooSmall(by));
}

#[test]
fn ports_are_judged_by_their_own_speed_cable_and_mtu() {
    let config = "config_db-acs-msn4700-t1.json.gz";
    let alone = judged(&[config], None);
    assert_eq!(counts(&alone)[..2], [0, 0]);
    let table = "pg_profile_lookup.ACS-MSN4700.ini";
    let both = judged(&[config, table], None);
    let ports = both.rows.iter().filter(|row| !row.ports.is_empty());
    let ports = Vec::from_iter(ports);
    assert_eq!(ports.len(), 13);
    let all: usize = ports.iter().map(|row| row.ports.len()).sum();
    assert_eq!(all, 32);
    assert!(ports.iter().all(|row| row.mtu == Bytes::new(9_100)));
    let fast = ports.iter().find(|row| row.ports[0] == "Ethernet176 3,4").unwrap();
    assert_eq!((fast.speed_mbps, fast.cable_m), (Some(400_000), Some(40)));
    assert_eq!(fast.judgement, Judgement::TooSmall(Bytes::new(27_524)));
    // With the MTU of the note instead of jumbo frames, less is missing.
    let small = judged(&[config, table], Some(1_500));
    let fast = small.rows.iter().find(|row| row.ports.contains(&"Ethernet176 3,4".into()));
    assert_eq!(fast.unwrap().judgement, Judgement::TooSmall(Bytes::new(4_724)));
}

/// Where a configuration lacks a speed or a length, the fabric has it.
#[test]
fn the_fabric_says_what_the_files_do_not() {
    let config = r#"{"DEVICE_METADATA": {"localhost": {"hostname": "S1"}},
        "BUFFER_POOL": {"p": {"type": "ingress", "mode": "dynamic", "size": "1000000", "xoff": "40000"}},
        "BUFFER_PROFILE": {"lossless": {"pool": "p", "size": "0", "xon": "1", "xoff": "27180", "dynamic_th": "-3"}},
        "BUFFER_PG": {"Ethernet0|3-4": {"profile": "lossless"}, "Ethernet4|3-4": {"profile": "lossless"}}}"#;
    let source = Source { file: "S1.json".to_string(), text: config.to_string() };
    let wired = r#"
[topology]
kind = "custom"
rate = "40 Gbps"
delay = "1.5 us"
node = [{ name = "S1", kind = "switch" }, { name = "H1", kind = "host" }, { name = "H2", kind = "host" }]
link = [{ between = ["S1", "H1"], ports = ["Ethernet0", ""] }, { between = ["S1", "H2"], ports = ["Ethernet4", ""], rate = "100 Gbps" }]
"#;
    let wired = Source { file: "fabric.toml".to_string(), text: wired.to_string() };
    let fabric = read::from_sources(&[wired], Default::default()).unwrap();
    let request = Request::default();
    let mut terms = Terms { request: &request, mtu: None, fabric: None };
    let sources = [source];
    let without = against::judge(&sources, terms).unwrap();
    assert_eq!(counts(&without), [0, 0, 1]);
    terms.fabric = Some(&fabric);
    let with = against::judge(&sources, terms).unwrap();
    assert_eq!(with.rows[0].judgement, Judgement::Enough(Bytes::ZERO));
    assert_eq!(with.rows[0].cable_m, Some(300));
    assert_eq!(with.rows[1].judgement, Judgement::TooSmall(Bytes::new(67_344 - 27_180)));
    // And the pool that both share is too small for all four queues at once.
    let need = Bytes::new(2 * (27_180 + 67_344));
    assert_eq!((with.pools[0].queues, with.pools[0].need), (4, need));
    assert!(matches!(with.pools[0].judgement, Judgement::TooSmall(_)));
}

#[test]
fn what_is_missing_is_said() {
    let buffers = judged(&["buffers-mellanox4600c-t1-dynamic.json.gz"], None);
    assert_eq!(counts(&buffers)[..2], [0, 0]);
    assert!(counts(&buffers)[2] > 0);
    let lossy = judged(&["buffer-arista7260-dualtor.json.gz"], None);
    assert!(lossy.rows.is_empty());
    assert_eq!(lossy.pools[0].size, Bytes::new(7_827_456));
    // Its profiles are named after what they were made for.
    let dump = judged(&["appl_db-acs-msn4700-t1.json.gz"], None);
    assert_eq!(counts(&dump), [12, 1, 0]);
    let request = Request::default();
    let terms = Terms { request: &request, mtu: None, fabric: None };
    let error = against::read(&[example("clos02.clab.yml")], terms).unwrap_err();
    let error = error.to_string();
    assert!(error.contains("nothing that has buffers in it"), "{error}");
    assert!(error.contains("pg_profile_lookup.ini"), "{error}");
}

/// 400 Gb/s over 40 m on Spectrum-4: SONiC gives 119,808 B, more than 802.1Q's 105,348.
#[test]
fn headroom_that_is_enough_by_one_bound_and_not_by_the_other_is_told_so() {
    let row = |xoff: u64| {
        let text =
            format!("# speed cable size xon xoff threshold\n 400000 40m 200000 19456 {xoff} 0\n");
        let source = Source { file: "pg_profile_lookup.ACS-SN5600.ini".to_string(), text };
        let request = Request::default();
        let terms = Terms { request: &request, mtu: Some(Bytes::new(9_100)), fabric: None };
        against::judge(&[source], terms).unwrap()
    };
    let (worst_case, sonic) = ("802.1Q's worst case", "SONiC's dynamic model");
    for (xoff, loses, words) in [
        (120_000, [false, false], format!("1 enough by {sonic}, 0 too small")),
        (
            110_000,
            [false, true],
            format!("enough by {worst_case}, too small by 9,808 (can lose by {sonic})"),
        ),
        (
            100_000,
            [true, true],
            format!("too small by 5,348 (can lose by {worst_case} and {sonic})"),
        ),
    ] {
        let found = row(xoff);
        let text = against_text::report(&found);
        assert!(text.contains(&words), "{text}");
        let found = [Bound::WorstCase, Bound::Sonic].map(|bound| found.can_lose(bound));
        assert_eq!(found, loses, "{text}");
    }
}
