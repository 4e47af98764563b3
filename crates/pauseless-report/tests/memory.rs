//! The section `[switch.memory]`: what it becomes, that what is written out is the same, and every
//! message.

#![allow(clippy::too_many_lines, reason = "tables of messages")]

#[path = "../../pauseless-scenario/tests/problems/mod.rs"]
mod problems;

use expect_test::{Expect, expect};
use pauseless_core::flow_control::{FlowControl, pfc};
use pauseless_core::id::{Class, NodeId, PortId};
use pauseless_core::memory::{
    Alpha, HeadroomPool, LaneMemory, MemoryConfig, SharedConfig, Threshold,
};
use pauseless_core::unit::Bytes;
use pauseless_plan::explain::explain;
use pauseless_report::{json, text};
use pauseless_run::Run;
use pauseless_scenario::{Overrides, Scenario};
use pauseless_text::record::to_text;

/// A ring of three switches with a host each; two classes.
const RING: &str = r#"duration = "1 ms"
[topology]
kind = "ring"
switches = 3
hosts_per_switch = 1
rate = "10 Gbps"
delay = "1 us"
[switch]
classes = 2
[switch.memory]
kind = "shared"
total = "1 MB"
[flow_control]
kind = "pfc"
[[flow]]
source = "H1"
target = "H3"
"#;

/// C tau, a frame, and a message of each class.
const HEADROOM: Bytes = Bytes::new(9_250 + 1_500 + 128);

fn read(text: &str) -> Scenario {
    let scenario = Scenario::parse("t.toml", text, &Overrides::default());
    let scenario = scenario.unwrap_or_else(|problems| panic!("{problems}"));
    let again = Scenario::parse("t.toml", &scenario.resolved(), &Overrides::default());
    let again = again.unwrap_or_else(|problems| panic!("{problems}\n{}", scenario.resolved()));
    assert_eq!(format!("{:?}", scenario.config), format!("{:?}", again.config));
    assert_eq!(scenario.resolved(), again.resolved());
    scenario
}

/// The ring with `kind = "shared"` and its total replaced by these lines.
fn with(lines: &str) -> Scenario {
    read(&RING.replace("kind = \"shared\"\ntotal = \"1 MB\"", lines))
}

fn first(scenario: &Scenario) -> &SharedConfig {
    let switch = scenario.config.topology.switches()[0];
    match scenario.config.ingress.memory(switch) {
        MemoryConfig::Shared(shared) => shared,
        MemoryConfig::Private => panic!("it is shared"),
    }
}

fn alpha(numerator: u32, denominator: u32) -> Alpha {
    Alpha::new(numerator, denominator).expect("positive")
}

#[test]
fn defaults_follow_from_the_links() {
    let scenario = read(RING);
    let lane = LaneMemory {
        reserve: Bytes::new(1_500),
        headroom: HEADROOM,
        threshold: Threshold::Dynamic(alpha(1, 8)),
        resume_offset: Bytes::kb(3),
    };
    // Three ports, two classes.
    let pool = Bytes::mb(1).saturating_sub((HEADROOM + Bytes::new(1_500)) * 6);
    let expected = SharedConfig {
        pool,
        partitions: [].into(),
        headroom: HeadroomPool::Class,
        class_count: 2,
        lanes: [lane; 6].into(),
    };
    assert_eq!(first(&scenario), &expected);
    assert_eq!(first(&scenario).total(), Bytes::mb(1));
    let ingress = &scenario.config.ingress;
    let control = &ingress.get(NodeId(0), PortId(0), Class(1)).control;
    let commanded = FlowControl::Pfc(pfc::Config::commanded(pfc::QUANTA_MAX));
    assert_eq!(*control, commanded);
    // A host has its own buffer, with thresholds of its own.
    let host = scenario.config.topology.hosts()[0];
    let FlowControl::Pfc(own) = &ingress.get(host, PortId(0), Class(0)).control else {
        panic!("PFC");
    };
    assert_eq!(own.xoff, Bytes::mb(1));
}

#[test]
fn everything_that_can_be_written() {
    let scenario = with(
        r#"kind = "shared"
total = "2 MB"
reserve = "4 KiB"
headroom = "20 KB"
headroom_pool = "port"
headroom_total = "40 KB"
alpha = 8
resume_offset = "0 B"
[[switch.memory.at]]
ports = ["S1:S*"]
classes = [1]
alpha = 0.375
reserve = "0 B"
[[switch.memory.at]]
ports = ["S1:H1"]
threshold = "50 KB"
headroom = "18 KB""#,
    );
    let shared = first(&scenario);
    assert_eq!(shared.headroom, HeadroomPool::Port(Bytes::kb(40)));
    assert_eq!(shared.headroom(), Bytes::kb(120));
    assert_eq!(shared.total(), Bytes::mb(2));
    let topology = &scenario.config.topology;
    let at = |name: &str, class: usize| {
        let (_, port) = topology.port_named(name).expect("a port");
        shared.lanes[port.index() * 2 + class]
    };
    assert_eq!(at("S1:S2", 0).threshold, Threshold::Dynamic(alpha(8, 1)));
    assert_eq!(at("S1:S2", 1).threshold, Threshold::Dynamic(alpha(3, 8)));
    assert_eq!(at("S1:S2", 1).reserve, Bytes::ZERO);
    assert_eq!(at("S1:H1", 0).threshold, Threshold::Static(Bytes::kb(50)));
    assert_eq!(at("S1:H1", 1).headroom, Bytes::kb(18));
    assert_eq!(at("S1:H1", 1).resume_offset, Bytes::ZERO);
}

#[test]
fn partitions_are_a_packet_of_every_port_unless_they_are_written() {
    let scenario = with("kind = \"partitions\"\ntotal = \"1 MB\"\nalpha = \"1/2\"");
    let shared = first(&scenario);
    assert_eq!(&*shared.partitions, [Bytes::new(4_500); 2]);
    let least = Bytes::new(1_500);
    let alpha = alpha(1, 2);
    let threshold = Threshold::Partition { alpha, least };
    assert!(shared.lanes.iter().all(|lane| lane.threshold == threshold));
    let one = with("kind = \"partitions\"\ntotal = \"1 MB\"\npartitions = \"90 KB\"");
    assert_eq!(&*first(&one).partitions, [Bytes::kb(90); 2]);
    let two = with("kind = \"partitions\"\ntotal = \"1 MB\"\npartitions = [\"90 KB\", \"20 KB\"]");
    let sizes = [Bytes::kb(90), Bytes::kb(20)];
    assert_eq!(&*first(&two).partitions, sizes);
    let rest = Bytes::mb(1).saturating_sub(Bytes::kb(110) + HEADROOM * 6);
    assert_eq!(first(&two).pool, rest);
}

#[test]
fn a_pool_for_the_whole_switch_may_be_oversubscribed_on_aim() {
    let lines = "kind = \"shared\"\ntotal = \"1 MB\"\nheadroom_pool = \"switch\"";
    let scenario = with(lines);
    assert_eq!(first(&scenario).headroom, HeadroomPool::Switch(HEADROOM * 6));
    let text = RING
        .replace(
            "kind = \"shared\"",
            "kind = \"shared\"\nheadroom_pool = \"switch\"\nheadroom_total = \"30 KB\"",
        )
        .replace("kind = \"pfc\"", "kind = \"pfc\"\nunsafe_parameters = true");
    let scenario = read(&text);
    assert_eq!(scenario.warnings.len(), 1, "{:?}", scenario.warnings);
    assert!(scenario.warnings[0].contains("headroom_total = 30 KB is below its bound"));
}

#[test]
fn private_is_as_before_and_without_flow_control_there_is_no_headroom() {
    let text = RING.replace("kind = \"shared\"\ntotal = \"1 MB\"", "kind = \"private\"");
    let scenario = read(&text.replace("classes = 2", "classes = 2\nbuffer = \"1 MB\""));
    assert!(!scenario.config.ingress.is_sharing());
    let scenario = read(&RING.replace("\"pfc\"", "\"none\""));
    assert_eq!(first(&scenario).headroom(), Bytes::ZERO);
}

#[test]
fn the_report_has_it() {
    let scenario = read(RING);
    let outcome = pauseless_sim::run(&scenario.config);
    let run = Run {
        scenario: scenario.into(),
        outcome,
        wall_s: 0.0,
        interrupted: false,
        looks_for_deadlock: true,
        replica: None,
    };
    let document = to_text(&json::run_document(&run));
    let document: serde_json::Value = serde_json::from_str(&document).expect("JSON");
    let memories = document["memory"].as_array().expect("a list");
    assert_eq!(memories.len(), 3);
    assert_eq!(memories[0]["switch"], "S1");
    assert_eq!(memories[0]["size"]["total_bytes"], 1_000_000);
    assert!(memories[0]["max"]["total_bytes"].as_u64() >= Some(1_500));
    let report = text::report(&run, pauseless_text::terminal::Paint::Plain);
    assert!(report.contains("shared memory"), "{report}");
}

#[test]
fn explained() {
    let scenario = read(&RING.replace("classes = 2", "classes = 1"));
    let text = explain(&scenario).to_string();
    let parts = text.split("\n\n");
    let ours = parts.filter(|part| !part.contains("H1:S1"));
    let ours = ours.collect::<Vec<_>>().join("\n");
    expect![[r#"
        pfc at S1:H1, S1:S2, S1:S3, S2:H2 and 5 more
          C            rate of the link                               10 Gbps   scenario
          MTU          largest frame                                  1500 B    scenario
          B            memory of the switch, which ports share        1 MB      scenario
          MTU / C      the message waits for a frame that has begun   1.2 us    gfc19 5.4 eq 6
          t_w          the message travels                            1 us      gfc19 5.4 eq 6
          t_r          it is processed                                3 us      gfc19 5.4 eq 6
          MTU / C      a frame that has begun is not interrupted      1.2 us    gfc19 5.4 eq 6
          t_w          that frame travels                             1 us      gfc19 5.4 eq 6
          tau          2 MTU / C + 2 t_w + t_r                        7.4 us    gfc19 5.4 eq 6
          C tau        what arrives before feedback has an effect     9250 B    gfc19 5.4 eq 6
          crossing     the frame that finds headroom first: one MTU   1500 B    docs/protocols.md#pfc-headroom
          messages     64 B for each class                            64 B      docs/protocols.md#pfc-headroom
          headroom >=  C tau + crossing + messages                    10814 B   docs/protocols.md#pfc-headroom
          headroom     for what arrives after the PAUSE               10814 B   as run
          pause        65535 quanta of 512 bits                       3.355 ms  802.1Q 36.1.3
          reserve      its own; by default one MTU                    1500 B    as run
          alpha        pause at alpha times what is free of the pool  1/8       as run
          offset       resume so far below; by default 2 MTU          3 KB      as run
        memory of S1, S2, S3
          B          memory of the switch                                                          1 MB      scenario
          headroom   of 3 ports, 1 class of each                                                   32442 B   as run
          dedicated  reserves of 3 ports, 1 class of each                                          4500 B    as run
          pool       B - headroom - dedicated, for all                                             963058 B  derived here
          may have   one queue alone: a / (1 + n a) of the pool, a = 1/8                           107006 B  Choudhury, Hahne
          may have   each of 3 queues, all of which want more: a / (1 + n a) of the pool, a = 1/8  87550 B   Choudhury, Hahne
    "#]].assert_eq(&ours);
}

fn refused(lines: &str, expected: Expect) {
    let text = RING.replace("kind = \"shared\"\ntotal = \"1 MB\"", lines);
    problems::check(&text, expected);
}

#[test]
fn what_is_refused() {
    refused(
        "",
        expect![[r#"
        pauseless: t.toml:10:1: switch.memory.kind: missing
           |
        10 | [switch.memory]
           | ^^^^^^^^^^^^^^^
           |
           = help: add kind = "private", "shared" or "partitions"
    "#]],
    );
    refused(
        "kind = \"common\"",
        expect![[r#"
        pauseless: t.toml:11:8: switch.memory.kind: unknown value "common"
           |
        11 | kind = "common"
           |        ^^^^^^^^ expected one of "private", "shared", "partitions"
    "#]],
    );
    refused(
        "kind = \"shared\"",
        expect![[r#"
        pauseless: t.toml:10:1: switch.memory.total: missing with kind = "shared"
           |
        10 | [switch.memory]
           | ^^^^^^^^^^^^^^^
           |
           = help: add total = "12 MB"
    "#]],
    );
    refused(
        "kind = \"private\"\ntotal = \"1 MB\"",
        expect![[r#"
        pauseless: t.toml:12:1: switch.memory.total: unknown key with kind = "private"
           |
        12 | total = "1 MB"
           | ^^^^^ expected one of kind

        pauseless: t.toml:13:1: flow_control: the switches have no buffer
           |
        13 | [flow_control]
           | ^^^^^^^^^^^^^^
           |
           = help: add buffer = "1 MB" to [switch]
    "#]],
    );
    let shared = |more: &str| format!("kind = \"shared\"\ntotal = \"1 MB\"\n{more}");
    refused(
        &shared("alpha = \"1/8000\""),
        expect![[r#"
        pauseless: t.toml:13:9: switch.memory.alpha: 1/8000 is out of range
           |
        13 | alpha = "1/8000"
           |         ^^^^^^^^ expected a fraction from 1/1024 to 1024
           |
           = help: write for example "1/8"
    "#]],
    );
    refused(
        &shared("alpha = \"half\""),
        expect![[r#"
        pauseless: t.toml:13:9: switch.memory.alpha: "half" is no fraction
           |
        13 | alpha = "half"
           |         ^^^^^^ expected a fraction from 1/1024 to 1024
           |
           = help: write for example "1/8"
    "#]],
    );
    refused(
        &shared("alpha = 0"),
        expect![[r#"
        pauseless: t.toml:13:9: switch.memory.alpha: 0 is out of range
           |
        13 | alpha = 0
           |         ^ expected a fraction from 1/1024 to 1024
           |
           = help: write for example "1/8"
    "#]],
    );
    refused(
        &shared("alpha = 1\nthreshold = \"9 KB\""),
        expect![[r#"
        pauseless: t.toml:14:13: switch.memory.threshold: alpha is written as well
           |
        14 | threshold = "9 KB"
           |             ^^^^^^
           |
           = help: keep alpha for a threshold that moves, or threshold
    "#]],
    );
    refused(
        &shared("headroom = \"9 KB\""),
        expect![[r#"
        pauseless: t.toml:13:12: switch.memory.headroom: headroom = 9 KB is not safe at S1:H1
           |
        13 | headroom = "9 KB"
           |            ^^^^^^ expected at least 10878 B = C tau + MTU + 64 B per class
           |
           = help: set headroom = "10878 B" or more, or unsafe_parameters = true in [flow_control] to run it all the same
    "#]],
    );
    refused(
        &shared("headroom_total = \"90 KB\""),
        expect![[r#"
            pauseless: t.toml:13:1: switch.memory.headroom_total: unknown key with kind = "shared"
               |
            13 | headroom_total = "90 KB"
               | ^^^^^^^^^^^^^^ expected one of alpha, at, headroom, headroom_pool, kind, reserve, resume_offset, set_aside, threshold, total
               |
               = help: did you mean headroom_pool?
        "#]],
    );
    refused(
        &shared("headroom_pool = \"port\"\nheadroom_total = \"12 KB\""),
        expect![[r#"
            pauseless: t.toml:14:18: switch.memory.headroom_total: headroom_total = 12 KB is not safe at S1
               |
            14 | headroom_total = "12 KB"
               |                  ^^^^^^^ expected at least 21756 B = the headroom of all classes of a port
               |
               = help: set headroom_total = "21756 B" or more, or unsafe_parameters = true in [flow_control] to run it all the same
        "#]],
    );
    refused(
        &shared("partitions = \"9 KB\""),
        expect![[r#"
            pauseless: t.toml:13:1: switch.memory.partitions: unknown key with kind = "shared"
               |
            13 | partitions = "9 KB"
               | ^^^^^^^^^^ expected one of alpha, at, headroom, headroom_pool, kind, reserve, resume_offset, set_aside, threshold, total
        "#]],
    );
    refused(
        "kind = \"shared\"\ntotal = \"50 KB\"",
        expect![[r#"
            pauseless: t.toml:12:9: switch.memory.total: 50 KB is too little for S1
               |
            12 | total = "50 KB"
               |         ^^^^^^^ expected at least 75768 B: 65268 B of headroom, 9 KB dedicated, 1500 B to share
               |
               = help: set total = "75768 B" or more
        "#]],
    );
    refused(
        &shared("[[switch.memory.at]]\nports = [\"S1:H1\"]\nclasses = [2]"),
        expect![[r#"
            pauseless: t.toml:15:12: switch.memory.at[0].classes[0]: no class 2
               |
            15 | classes = [2]
               |            ^ expected a class from 0 to 1
        "#]],
    );
    let split = |more: &str| format!("kind = \"partitions\"\ntotal = \"1 MB\"\n{more}");
    refused(
        &split("partitions = \"2 KB\""),
        expect![[r#"
            pauseless: t.toml:13:14: switch.memory.partitions: partitions = 2 KB is not safe at S1
               |
            13 | partitions = "2 KB"
               |              ^^^^^^ expected at least 4500 B = one packet of every port (ttl 1.4)
               |
               = help: set partitions = "4500 B" or more, or unsafe_parameters = true in [flow_control] to run it all the same
        "#]],
    );
    refused(
        &split("partitions = [\"9 KB\", \"9 KB\", \"9 KB\"]"),
        expect![[r#"
            pauseless: t.toml:13:14: switch.memory.partitions: 3 sizes stand here
               |
            13 | partitions = ["9 KB", "9 KB", "9 KB"]
               |              ^^^^^^^^^^^^^^^^^^^^^^^^ expected one, or one for each of the 2 classes
        "#]],
    );
    refused(
        &split("threshold = \"20 KB\""),
        expect![[r#"
            pauseless: t.toml:13:1: switch.memory.threshold: unknown key with kind = "partitions"
               |
            13 | threshold = "20 KB"
               | ^^^^^^^^^ expected one of alpha, at, headroom, headroom_pool, kind, partitions, resume_offset, set_aside, total
        "#]],
    );
}

#[test]
fn cycle_aware_thresholds_are_refused() {
    let text = RING.replace("\"pfc\"", "\"pfc\"\ncycle_aware = true");
    problems::check(
        &text,
        expect![[r#"
        pauseless: t.toml:13:1: flow_control: cycle_aware sets thresholds, but the shared memory decides
           |
        13 | [flow_control]
           | ^^^^^^^^^^^^^^
           |
           = help: remove cycle_aware, or [switch.memory]
    "#]],
    );
}

#[test]
fn what_flow_control_is_refused() {
    let edit = |from: &str, to: &str, expected: Expect| {
        assert!(RING.contains(from));
        problems::check(&RING.replace(from, to), expected);
    };
    edit(
        "\"pfc\"",
        "\"cbfc\"",
        expect![[r#"
        pauseless: t.toml:14:8: flow_control.kind: "cbfc" needs a buffer of each port and class
           |
        14 | kind = "cbfc"
           |        ^^^^^^
           |
           = help: a grant or a rate is about bytes that nobody else can take; use "pfc" or "none", or leave out [switch.memory]
    "#]],
    );
    edit(
        "\"pfc\"",
        "\"gfc-buffer\"",
        expect![[r#"
        pauseless: t.toml:14:8: flow_control.kind: "gfc-buffer" needs a buffer of each port and class
           |
        14 | kind = "gfc-buffer"
           |        ^^^^^^^^^^^^
           |
           = help: a grant or a rate is about bytes that nobody else can take; use "pfc" or "none", or leave out [switch.memory]
    "#]],
    );
    edit(
        "\"pfc\"",
        "\"pfc\"\nxoff = \"800 KB\"",
        expect![[r#"
        pauseless: t.toml:15:8: flow_control.xoff: the shared memory decides when to pause
           |
        15 | xoff = "800 KB"
           |        ^^^^^^^^
           |
           = help: use alpha or threshold in [switch.memory] instead
    "#]],
    );
    // Nothing that follows from what is refused is told beside it.
    edit(
        "\"pfc\"",
        "\"pfc\"\nxoff = \"2 KB\"",
        expect![[r#"
        pauseless: t.toml:15:8: flow_control.xoff: the shared memory decides when to pause
           |
        15 | xoff = "2 KB"
           |        ^^^^^^
           |
           = help: use alpha or threshold in [switch.memory] instead
    "#]],
    );
    edit(
        "\"pfc\"",
        "\"pfc\"\npause_quanta = 3",
        expect![[r#"
            pauseless: t.toml:15:16: flow_control.pause_quanta: pause_quanta = 3 is not safe at H1:S1
               |
            15 | pause_quanta = 3
               |                ^ expected at least 52
               |
               = help: the pause can expire before its refresh arrives, which may wait behind a full frame; set pause_quanta = 52 or more, or unsafe_parameters = true in [flow_control] to run it all the same

            pauseless: t.toml:15:16: flow_control.pause_quanta: pause_quanta = 3 is not safe at S1:H1
               |
            15 | pause_quanta = 3
               |                ^ expected at least 52
               |
               = help: the pause can expire before its refresh arrives, which may wait behind a full frame; set pause_quanta = 52 or more, or unsafe_parameters = true in [flow_control] to run it all the same
        "#]],
    );
    edit(
        "\"pfc\"",
        "\"pfc\"\n[[flow_control.at]]\nports = [\"S1:H1\"]\nxon = \"1 KB\"",
        expect![[r#"
            pauseless: t.toml:16:10: flow_control.at[0].ports[0]: the shared memory decides when to pause
               |
            16 | ports = ["S1:H1"]
               |          ^^^^^^^
               |
               = help: use [[switch.memory.at]] instead
        "#]],
    );
    edit(
        "total = \"1 MB\"\n[flow_control]\nkind = \"pfc\"",
        "total = \"1 MB\"\nheadroom = \"20 KB\"\n[flow_control]\nkind = \"none\"",
        expect![[r#"
            pauseless: t.toml:13:12: switch.memory.headroom: headroom without flow control
               |
            13 | headroom = "20 KB"
               |            ^^^^^^^
               |
               = help: headroom is for what arrives after a PAUSE; remove it, or use PFC
        "#]],
    );
}
