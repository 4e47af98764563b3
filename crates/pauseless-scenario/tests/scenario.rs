//! Scenario files that are right: what they become, and that what is written out is the same.

use std::path::PathBuf;

use pauseless_core::flow_control::FlowControl;
use pauseless_core::id::{Class, PortId};
use pauseless_core::unit::{Bytes, Span};
use pauseless_scenario::{Overrides, Scenario, StopOn};
use pauseless_sim::clock::{Clocks, Oscillator};

fn files() -> Vec<PathBuf> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios");
    let entries = std::fs::read_dir(folder).expect("the scenarios are there");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let mut paths: Vec<PathBuf> = paths
        .filter(|path| path.extension().is_some_and(|e| e == "toml"))
        .filter(|path| !path.to_string_lossy().ends_with(".sweep.toml"))
        .collect();
    paths.sort();
    paths
}

#[test]
fn every_file_reads_and_what_is_written_out_gives_the_same_run() {
    let files = files();
    assert!(files.len() >= 10, "{files:?}");
    for path in files {
        let scenario = Scenario::read(&path, &Overrides::default());
        let scenario = scenario.unwrap_or_else(|problems| panic!("{problems}"));
        let again = Scenario::parse(&scenario.name, &scenario.resolved(), &Overrides::default());
        let again = again.unwrap_or_else(|problems| panic!("{problems}"));
        assert!(format!("{:?}", scenario.config) == format!("{:?}", again.config), "{path:?}");
        assert_eq!(scenario.resolved(), again.resolved());
        assert_eq!(scenario.title, again.title);
        assert_eq!(scenario.warnings, again.warnings);
    }
}

const RING: &str = include_str!("../../../scenarios/gfc-ring.toml");

fn parse(text: &str) -> Scenario {
    let scenario = Scenario::parse("t", text, &Overrides::default());
    scenario.unwrap_or_else(|problems| panic!("{problems}"))
}

fn debug(scenario: &Scenario) -> String {
    format!("{:?}", scenario.config)
}

/// Everything that the format knows, in one file.
const RICH: &str = r#"
title = "quote \" backslash \\ tab \t"
seed = 7
duration = "2 ms"
mtu = "1000 B"
wire_overhead = "20 B"
[topology]
kind = "custom"
rate = "40 Gbps"
delay = "1.5 us"
host_rate = "10 Gbps"
host_delay = "0.1 us"
failed_links = [["B", "A"]]
node = [
    { name = "A", kind = "switch" },
    { name = "B", kind = "switch" },
    { name = "h1", kind = "host" },
    { name = "h2", kind = "host" },
    { name = "h3", kind = "host" },
]
link = [
    { between = ["A", "h1"] },
    { between = ["B", "h2"], rate = "2.5 Gbps" },
    { between = ["B", "h3"] },
    { between = ["A", "B"], delay = "3 us" },
    { between = ["B", "A"] },
]
[routing]
tie_break = "seeded"
[switch]
discipline = "virtual-output-queued"
buffer = "1 MB"
classes = 2
scheduler = "weighted"
weights = [1, 3]
processing = "2 us"
processing_jitter = "100 ns"
[flow_control]
kind = "KIND"
[[flow_control.at]]
ports = ["*:h*", "A:B"]
classes = [1]
buffer = "500 KB"
[[flow]]
source = "h1"
target = "h2"
size = "1 MB"
[[flow]]
source = "h1"
target = "h2"
rate = "1 Gbps"
packet = "500 B"
start = "1 us"
stop = "1 ms"
class = 1
[[flow]]
source = "h1"
target = "h2"
rate = "1 Gbps"
packet = "500 B"
start = "1 us"
stop = "1 ms"
class = 1
[[flow]]
name = "h1->h2#2"
source = "h1"
target = "h2"
path = ["h1", "A", "B", "h2"]
[traffic]
kind = "permutation"
size = "3 KB"
[timing]
start_jitter = "1 us"
wire_jitter = "10 ns"
sources_stop = "1.5 ms"
[[receiver]]
host = "h3"
steps = [["0 ms", "2 Gbps"], ["0.5 ms", "stop"], ["0.8 ms", "10 Gbps"]]
[probe]
resolution = "10 us"
[verdict]
starvation_share = 0.125
stop_on_deadlock = true
"#;

#[test]
fn every_scheme_survives_being_written_out() {
    for kind in ["pfc", "cbfc", "gfc-buffer", "gfc-time", "gfc-conceptual", "none"] {
        let scenario = parse(&RICH.replace("KIND", kind));
        let again = parse(&scenario.resolved());
        assert_eq!(debug(&scenario), debug(&again), "{kind}");
        assert_eq!(scenario.resolved(), again.resolved());
        let outcome = pauseless_sim::run(&scenario.config);
        assert_eq!(outcome.lost_packets == 0, kind != "none", "{kind}");
    }
}

#[test]
fn clocks_deviate_within_the_standard_and_by_name_only() {
    let text = RICH.replace("KIND", "pfc");
    let exact = parse(&text);
    assert!(!exact.resolved().contains("clock"));
    let clocked = |ppm: &str| text.replace("[timing]", &format!("[timing]\nclock_ppm = {ppm}"));
    let scenario =
        parse(&clocked("62.5").replace("clock_ppm", "clock_per = \"switch\"\nclock_ppm"));
    let again = parse(&scenario.resolved());
    assert_eq!(debug(&scenario), debug(&again));
    let Clocks { deviation_max_ppb, oscillator } = scenario.config.hardware.clocks;
    assert_eq!((deviation_max_ppb, oscillator), (62_500, Oscillator::PerNode));
    let problems = Scenario::parse("t", &clocked("100.5"), &Overrides::default()).err();
    assert!(problems.expect("802.3 allows 100").to_string().contains("100"));
    // More bytes arrive from a fast clock before a pause takes effect.
    let headroom = |scenario: &Scenario| {
        let config = &scenario.config;
        let node = config.topology.switches()[0];
        let ingress = config.ingress.get(node, PortId(0), Class(0));
        match ingress.control {
            FlowControl::Pfc(pfc) => ingress.buffer - pfc.xoff,
            _ => panic!("the scheme is PFC"),
        }
    };
    assert!(headroom(&parse(&clocked("100"))) > headroom(&exact));
}

/// Flows of one file in another order are the same flows on the same noisy lines.
#[test]
fn noise_on_lines_is_kept_allowed_for_and_by_port() {
    let exact = parse(RING);
    assert!(!exact.resolved().contains("line_jitter"));
    let noisy = format!("{RING}\n[timing]\nline_jitter = \"100 ns\"\n");
    let noisy = noisy.replace("xoff = \"800 KB\"\nxon = \"797 KB\"\n", "");
    let scenario = parse(&noisy);
    assert_eq!(scenario.config.hardware.line_jitter, Span::ns(100));
    assert_eq!(debug(&scenario), debug(&parse(&scenario.resolved())));
    let xoff = |scenario: &Scenario| {
        let node = scenario.config.topology.switches()[0];
        match scenario.config.ingress.get(node, PortId(0), Class(0)).control {
            FlowControl::Pfc(pfc) => pfc.xoff,
            _ => panic!("the scheme is PFC"),
        }
    };
    let quiet = parse(&noisy.replace("100 ns", "0 ns"));
    // Up to three frames that take 100 ns longer are between a PAUSE and its effect.
    let late = xoff(&quiet) - xoff(&scenario);
    assert!(late >= Bytes::new(375), "{late:?}");
    let last = noisy.find("[[flow]]\nname = \"F2\"").expect("the second flow");
    let end = noisy.find("[[flow]]\nname = \"F3\"").expect("the third flow");
    let (head, tail) = (&noisy[..last], &noisy[end..]);
    let moved = parse(&format!("{head}{tail}\n{}", &noisy[last..end]));
    let totals = |scenario: &Scenario| {
        let outcome = pauseless_sim::run(&scenario.config);
        let of = |name| scenario.config.flows.iter().position(|flow| flow.name == name);
        ["F1", "F2", "F3"].map(|name| outcome.flows[of(name).expect("a flow")].delivered)
    };
    assert_eq!(totals(&scenario), totals(&moved));
    assert_ne!(totals(&scenario), totals(&quiet));
}

#[test]
fn a_refresh_is_kept_everywhere_and_costs_messages_only() {
    let text = RICH.replace("KIND", "gfc-buffer");
    let plain = parse(&text);
    let refreshed = parse(&text.replace("\"gfc-buffer\"", "\"gfc-buffer\"\nrefresh = \"50 us\""));
    let again = parse(&refreshed.resolved());
    assert_eq!(debug(&refreshed), debug(&again));
    assert!(refreshed.resolved().contains("refresh = \"50 us\""));
    assert!(!plain.resolved().contains("refresh"));
    let (plain, refreshed) =
        (pauseless_sim::run(&plain.config), pauseless_sim::run(&refreshed.config));
    assert!(refreshed.feedback_frames > plain.feedback_frames + 100);
    assert_eq!(refreshed.lost_packets, 0);
    let short = text.replace("\"gfc-buffer\"", "\"gfc-buffer\"\nrefresh = \"1 ns\"");
    let problems = Scenario::parse("t", &short, &Overrides::default()).err();
    let problems = problems.expect("more messages than fit on the wire").to_string();
    assert!(problems.contains("one message of each class on the link"), "{problems}");
}

#[test]
fn routes_have_a_seed_of_their_own() {
    let table = |seed: u64, routing: &str| {
        let text = format!(
            "seed = {seed}\nduration = \"1 ms\"\n[topology]\nkind = \"fat-tree\"\nk = 4\n\
             rate = \"10 Gbps\"\ndelay = \"1 us\"\n[routing]\ntie_break = \"seeded\"\n{routing}\n\
             [switch]\nbuffer = \"1 MB\"\n[flow_control]\nkind = \"pfc\"\n\
             [[flow]]\nsource = \"H0\"\ntarget = \"H8\"\n"
        );
        let scenario = parse(&text);
        let again = parse(&scenario.resolved());
        assert_eq!(scenario.config.table, again.config.table);
        scenario.config.table
    };
    assert_eq!(table(1, "seed = 5"), table(2, "seed = 5"));
    assert_ne!(table(1, "seed = 5"), table(1, "seed = 6"));
    assert_eq!(table(5, ""), table(1, "seed = 5"));
    assert_ne!(table(1, ""), table(2, ""));
}

#[test]
fn what_a_rich_file_becomes() {
    let scenario = parse(&RICH.replace("KIND", "pfc"));
    let config = &scenario.config;
    assert_eq!(scenario.title, "quote \" backslash \\ tab \t");
    assert_eq!((config.seed, config.starvation_permille, config.stop.deadlock), (7, 125, true));
    assert_eq!(config.topology.links().len(), 4);
    let names: Vec<&str> = config.flows.iter().map(|flow| flow.name.as_str()).collect();
    // The name in the file is passed over, and the three without one are told apart by content.
    let to_second = ["h1->h2", "h1->h2#2", "h1->h2#3", "h1->h2#4"];
    assert!(to_second.iter().all(|name| names.contains(name)), "{names:?}");
    let sizes = to_second.map(|name| {
        let flow = config.flows.iter().find(|flow| flow.name == name).unwrap();
        (flow.size.get(), flow.class.0)
    });
    // Three unnamed ones by start, then by size; #2 is the one that was named.
    assert!(sizes.contains(&(1_000_000, 0)) && sizes[1] == (u64::MAX, 0), "{sizes:?}");
    assert_eq!(config.probes.ports.len(), 3);
    assert_eq!(config.probes.flows.len(), config.flows.len());
    assert_eq!(config.receivers[0].steps.len(), 3);
    assert!(scenario.warnings.is_empty());
    // Two rates of host links, one of the others; two classes of which one has a smaller buffer.
    assert!(scenario.port_groups.len() >= 4, "{}", scenario.port_groups.len());
}

#[test]
fn the_order_of_flows_in_the_file_does_not_matter() {
    for text in [RING.to_string(), RICH.replace("KIND", "pfc")] {
        let (before, rest) = text.split_once("[[flow]]").unwrap();
        let (_, after) = rest.rsplit_once("\n[[flow]]").unwrap();
        let end = after.find("\n[").map_or(after.len(), |n| n + 1);
        let (last, after) = after.split_at(end);
        let flows = &rest[..rest.len() - after.len() - last.len() - "\n[[flow]]".len()];
        let mut flows: Vec<&str> = flows.split("[[flow]]").collect();
        flows.push(last);
        let expected = debug(&parse(&text));
        for _ in 0..flows.len() {
            flows.rotate_left(1);
            for turned in [flows.clone(), flows.iter().rev().copied().collect()] {
                let turned: String =
                    turned.iter().map(|flow| format!("[[flow]]{flow}\n")).collect();
                assert_eq!(debug(&parse(&format!("{before}{turned}{after}"))), expected);
            }
        }
    }
}

#[test]
fn the_command_line_has_the_last_word() {
    use pauseless_core::switch::Discipline;
    use pauseless_core::unit::Span;
    let overrides = Overrides {
        seed: Some(99),
        duration: Some(Span::ms(3)),
        discipline: Some(Discipline::INPUT_QUEUED),
        congestion: pauseless_scenario::congestion::Scheme::named("pcn"),
        stop_on: Some(StopOn::DEADLOCK),
        cycle_aware: None,
        provenance: false,
    };
    let scenario = Scenario::parse("t", RING, &overrides).unwrap();
    let config = &scenario.config;
    assert_eq!((config.seed, config.duration), (99, Span::ms(3)));
    assert_eq!(config.discipline, Discipline::INPUT_QUEUED);
    assert!(config.stop.deadlock);
    let again = parse(&scenario.resolved());
    assert_eq!(debug(&again), debug(&scenario));
    let without = RING.replace("duration", "# duration");
    assert!(Scenario::parse("t", &without, &overrides).is_ok());
}

#[test]
fn unsafe_parameters_are_warned_about() {
    let text = RING.replace("xoff = \"800 KB\"", "xoff = \"1 MB\"\nunsafe_parameters = true");
    let warnings = parse(&text).warnings;
    assert_eq!(
        warnings,
        ["flow_control.xoff: xoff = 1 MB exceeds its bound 898.686 KB = \
          buffer - (C tau + MTU + 64 B per class); set xoff = \"898686 B\" or less (at S1:H1)"]
    );
    let late = RING.replace("source = \"H1\"", "source = \"H1\"\nstart = \"200 ms\"");
    assert_eq!(parse(&late).warnings, ["flow F1: it starts after the end of the run"]);
}

#[test]
fn a_permutation_has_no_fixed_points_and_follows_the_seed() {
    let text = include_str!("../../../scenarios/fat-tree-k8-permutation.toml");
    let ends = |seed| {
        let overrides = Overrides { seed: Some(seed), ..Overrides::default() };
        let scenario = Scenario::parse("t", text, &overrides).unwrap();
        let flows = scenario.config.flows.into_iter();
        flows.map(|flow| (flow.source, flow.target)).collect::<Vec<_>>()
    };
    let one = ends(1);
    assert_eq!(one.len(), 128);
    assert!(one.iter().all(|(source, target)| source != target));
    let mut targets: Vec<_> = one.iter().map(|(_, target)| *target).collect();
    targets.sort();
    targets.dedup();
    assert_eq!(targets.len(), 128);
    assert_eq!(one, ends(1));
    assert_ne!(one, ends(2));
}

#[test]
fn the_example_of_the_reference_is_a_scenario() {
    let reference = include_str!("../../../docs/scenario.md");
    let (_, rest) = reference.split_once("```toml\n").unwrap();
    let (example, _) = rest.split_once("```").unwrap();
    assert_eq!(parse(example).config.flows.len(), 3);
}

#[test]
fn flows_are_recorded_by_name() {
    let text = include_str!("../../../scenarios/pcn-fig1.toml");
    let parse = |text: &str| {
        let scenario = Scenario::parse("pcn", text, &Overrides::default());
        scenario.unwrap_or_else(|problems| panic!("{problems}"))
    };
    let recorded = |flows: &str| {
        let written = "flows = [\"F0\", \"F1\"]";
        assert!(text.contains(written));
        let scenario = parse(&text.replace(written, flows));
        assert!(scenario.resolved().contains(flows), "{}", scenario.resolved());
        let again = parse(&scenario.resolved());
        assert_eq!(again.resolved(), scenario.resolved());
        assert_eq!(again.config.probes.flows, scenario.config.probes.flows);
        let config = &scenario.config;
        let names = config.probes.flows.iter();
        let names = names.map(|flow| config.flows[flow.index()].name.clone());
        Vec::from_iter(names)
    };
    assert_eq!(recorded("flows = [\"F0\", \"F1\"]"), ["F0", "F1"]);
    assert_eq!(recorded("flows = [\"F1\", \"F*\", \"F1\"]"), ["F0", "F1"]);
    assert_eq!(recorded("flows = [\"burst/H2->*\", \"F1\"]").len(), 17);
    assert_eq!(recorded("flows = [\"*\"]"), recorded("flows = true"));
    assert_eq!(recorded("flows = true").len(), 2 + 14 * 16);
    assert_eq!(recorded("flows = []").len(), 0);
    assert_eq!(recorded("flows = false").len(), 0);
}

/// Hosts H0 to H7 at two leaves, with these keys of an incast.
fn incast(keys: &str) -> Scenario {
    parse(&format!(
        "seed = 3\nduration = \"1 ms\"\n[topology]\nkind = \"leaf-spine\"\nleaves = 2\nspines = 1\n\
         hosts_per_leaf = 4\nrate = \"10 Gbps\"\ndelay = \"1 us\"\n[switch]\nbuffer = \"1 MB\"\n\
         [flow_control]\nkind = \"pfc\"\n[[traffic]]\nkind = \"incast\"\nsize = \"10 KB\"\n{keys}\n"
    ))
}

#[test]
fn a_target_among_its_own_sources_is_warned_of() {
    let warned = "traffic incast: the target H0 is among its sources, and only the 7 other sources send to it";
    for sources in ["\"H0..H7\"", "\"H1..H7\", \"H0\""] {
        let scenario = incast(&format!("sources = [{sources}]\ntarget = \"H0\""));
        assert_eq!(scenario.warnings, [warned], "{sources}");
        assert_eq!(scenario.config.flows.len(), 7);
    }
    for fine in [
        "sources = [\"H1..H7\"]\ntarget = \"H0\"",
        "sources = [\"H*\"]\ntarget = \"H0\"",
        "target = \"H0\"",
        "sources = [\"H0..H7\"]\ntarget = \"H0\"\ndegree = 7",
        "sources = [\"H0..H7\"]",
    ] {
        assert!(incast(fine).warnings.is_empty(), "{fine}");
    }
}

/// All at once by default, so that no result moves; with a jitter each at its own instant, which
/// the seed decides.
#[test]
fn flows_of_an_incast_start_apart_if_they_are_to() {
    let starts = |keys: &str| {
        let scenario = incast(&format!("target = \"H0\"\nstart = \"100 us\"\n{keys}"));
        let again = parse(&scenario.resolved());
        assert_eq!(again.config.flows, scenario.config.flows, "{keys}");
        Vec::from_iter(scenario.config.flows.iter().map(|flow| flow.start.as_ps() / 1_000))
    };
    assert_eq!(starts(""), [100_000; 7]);
    let apart = starts("jitter = \"2 us\"");
    assert!(apart.iter().all(|at| (100_000..102_000).contains(at)), "{apart:?}");
    let distinct = std::collections::BTreeSet::from_iter(&apart);
    assert_eq!(distinct.len(), 7, "{apart:?}");
    let cut = starts("jitter = \"500 us\"\nstop = \"110 us\"");
    assert!(cut.iter().all(|at| *at < 110_000), "none is put off beyond the stop: {cut:?}");
}

#[test]
fn a_campaign_is_told_from_a_scenario() {
    let campaign = "scenario = \"one.toml\"\n[[axis]]\nkey = \"seed\"\nseeds = 3\n";
    let wrong = Scenario::parse("c.sweep.toml", campaign, &Overrides::default());
    let wrong = wrong.expect_err("no scenario").to_string();
    assert!(wrong.contains("this is a campaign, and no scenario"), "{wrong}");
    assert!(wrong.contains("make its runs with `pauseless sweep`"), "{wrong}");
    assert_eq!(wrong.matches("pauseless: ").count(), 1, "{wrong}");
}
