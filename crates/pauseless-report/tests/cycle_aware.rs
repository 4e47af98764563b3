//! Cycle-aware thresholds: where the bound lies in rings, what they do to the papers' deadlocks,
//! and that what `plan` writes is what runs.

use std::fmt::Write as _;
use std::ops::ControlFlow;

use pauseless_core::flow_control::FlowControl;
use pauseless_core::unit::{Bytes, Span};
use pauseless_fabric::reroute::Reroute;
use pauseless_fabric::routing::{Multipath, Routing};
use pauseless_plan::cycle_aware::{Wish, cycle_aware};
use pauseless_plan::headroom::Reaction;
use pauseless_plan::{Request, Scheme, cycle_aware_text, plan};
use pauseless_report::{html, json, text};
use pauseless_run::Run;
use pauseless_scenario::fabric_file;
use pauseless_scenario::{Overrides, Scenario, StopOn};
use pauseless_sim::{Outcome, run};
use pauseless_text::source::Source;

const FIG11: &str = include_str!("../../../papers/gfc/fig14.toml");
const HOTNETS4: &str = include_str!("../../../papers/hotnets/fig4.toml");

fn outcome(text: &str, seed: u64) -> Outcome {
    run(&scenario(text, seed).config)
}

fn scenario(text: &str, seed: u64) -> Scenario {
    let overrides =
        Overrides { seed: Some(seed), stop_on: Some(StopOn::DEADLOCK), ..Overrides::default() };
    match Scenario::parse("test", text, &overrides) {
        Ok(scenario) => scenario,
        Err(problems) => panic!("{problems}\n{text}"),
    }
}

/// Every host sends to the one `length` links further on.
fn ring(switches: usize, length: usize, hosts: usize, control: &str) -> String {
    let mut text = format!(
        "duration = \"20 ms\"\n[topology]\nkind = \"ring\"\nswitches = {switches}\n\
         hosts_per_switch = {hosts}\nrate = \"10 Gbps\"\ndelay = \"1 us\"\n\
         [switch]\nbuffer = \"312 KB\"\n[timing]\nwire_jitter = \"50 ns\"\n\
         [flow_control]\n{control}\n"
    );
    let host = |switch: usize, number: usize| match hosts {
        1 => format!("H{}", switch % switches + 1),
        _ => format!("H{}{}", switch % switches + 1, ["a", "b", "c"][number]),
    };
    for (switch, number) in (0..switches).flat_map(|s| (0..hosts).map(move |n| (s, n))) {
        let path = (0..=length).map(|hop| format!("\"S{}\"", (switch + hop) % switches + 1));
        let _ = writeln!(
            text,
            "[[flow]]\nsource = \"{}\"\ntarget = \"{}\"\npath = [{}]",
            host(switch, number),
            host(switch + length, number),
            Vec::from_iter(path).join(", ")
        );
    }
    text
}

/// The bound is sharp: rho m L just below K flows at the fair rate, just above it deadlocks, for
/// short and long flows and for one to three hosts on a switch.
#[test]
fn in_rings_the_bound_is_where_it_is_said_to_be() {
    for shape in [(3, 2, 1), (6, 5, 1), (8, 4, 1), (4, 3, 2), (3, 2, 3)] {
        let (switches, length, hosts) = shape;
        let with = |margin: f64| {
            let control = format!("kind = \"pfc\"\ncycle_aware = true\ncycle_margin = {margin:?}");
            outcome(&ring(switches, length, hosts, &control), 1)
        };
        let above = with(0.85);
        assert!(above.deadlock.is_some(), "{shape:?}: rho m L is 1.18 K");
        let below = with(1.1);
        assert_eq!(below.deadlock, None, "{shape:?}: rho m L is 0.91 K");
        assert_eq!(below.lost_packets, 0);
        let fair = 1e10 / (length * hosts) as f64;
        for flow in &below.flows {
            let share = flow.goodput_late_bps / fair;
            assert!((0.9..1.1).contains(&share), "{shape:?}: {share}");
        }
    }
}

/// PFC and CBFC deadlock and plain GFC starves in both networks; with cycle-aware thresholds
/// every flow keeps its rate under all four.
#[test]
fn the_papers_deadlocks_flow() {
    for (text, ms) in [(FIG11, 20), (HOTNETS4, 10)] {
        let start = text.find("[flow_control]").unwrap();
        let end = start + text[start..].find("[[flow]]").unwrap();
        for kind in ["pfc", "cbfc", "gfc-buffer", "gfc-time"] {
            let with = |extra: &str| {
                let control = format!("[flow_control]\nkind = \"{kind}\"\n{extra}\n");
                let text = format!("{}{control}{}", &text[..start], &text[end..]);
                let mut scenario = scenario(&text, 2);
                scenario.config.duration = Span::ms(ms);
                run(&scenario.config)
            };
            let plain = with("");
            match kind {
                "pfc" | "cbfc" => assert!(plain.deadlock.is_some(), "{kind}"),
                _ => assert!(!plain.starved.is_empty(), "{kind}"),
            }
            let aware = with("cycle_aware = true");
            assert_eq!(aware.deadlock, None, "{kind}");
            assert!(aware.starved.is_empty(), "{kind}");
            assert_eq!(aware.lost_packets, 0, "{kind}");
        }
    }
}

/// The thresholds that were found stand in the resolved scenario, which gives the same result.
#[test]
fn the_resolved_scenario_has_the_thresholds() {
    let aware = FIG11.replace("kind = \"pfc\"", "kind = \"pfc\"\ncycle_aware = true");
    let first = scenario(&aware, 1);
    assert!(first.resolved().contains("[[flow_control.at]]"));
    assert!(!first.resolved().contains("cycle_aware"));
    let again = scenario(&first.resolved(), 1);
    let (mut first, mut again) = (first.config, again.config);
    first.duration = Span::ms(2);
    again.duration = Span::ms(2);
    assert_eq!(run(&first), run(&again));
}

fn request() -> Request {
    Request { buffer: Bytes::mb(1), reaction: Reaction::Fixed(Span::us(3)), ..Request::default() }
}

fn wish(reroute: Option<Reroute>) -> Wish {
    Wish { reroute, margin: 1.25 }
}

/// The sections that `plan` writes run without a deadlock where the ordinary plan deadlocks.
#[test]
fn what_is_planned_is_what_runs() {
    let source = Source { file: "fig11.toml".to_string(), text: FIG11.to_string() };
    let fabric = fabric_file::read(&source).unwrap();
    let ordinary = plan(&fabric, &request()).unwrap();
    let cycles = cycle_aware(&fabric, &ordinary, wish(None));
    assert_eq!(cycles.components.len(), 1);
    assert!(cycles.components[0].is_covered());
    let start = FIG11.find("[switch]").unwrap();
    let end = FIG11.find("[[flow]]").unwrap();
    for scheme in [Scheme::Pfc, Scheme::Cbfc, Scheme::GfcBuffer, Scheme::GfcTime] {
        assert!(cycles.holds(scheme), "{scheme:?}");
        let with = |sections: &str| {
            let control = format!(
                "[switch]\nbuffer = \"250 KB\"\n[flow_control]\nkind = \"{}\"\n{sections}\n",
                scheme.name()
            );
            let text = format!("{}{control}{}", &FIG11[..start], &FIG11[end..]);
            let mut scenario = scenario(&text, 3);
            scenario.config.duration = Span::ms(30);
            run(&scenario.config)
        };
        let plain = with("");
        assert!(plain.deadlock.is_some() || !plain.starved.is_empty());
        let sections = cycle_aware_text::sections(&fabric, &cycles, scheme).unwrap();
        let aware = with(&sections);
        assert_eq!(aware.deadlock, None, "{scheme:?}");
        assert!(aware.starved.is_empty(), "{scheme:?}");
        assert_eq!(aware.lost_packets, 0, "{scheme:?}");
    }
}

/// With half of what it needs at the least, a switch is said not to hold; with that much, it is.
#[test]
fn a_switch_that_is_too_small_is_told_how_much_it_needs() {
    let text = ring(8, 7, 1, "kind = \"pfc\"");
    let file = "ring.toml".to_string();
    let fabric = fabric_file::read(&Source { file, text }).unwrap();
    let at = |buffer: Bytes| {
        let request = Request { buffer, ..request() };
        let ordinary = plan(&fabric, &request).unwrap();
        let cycles = cycle_aware(&fabric, &ordinary, wish(None));
        let set = cycles.switches[0].sets[0].clone();
        assert_eq!(set.scheme, Scheme::Pfc);
        set
    };
    let least = at(Bytes::mb(1)).least.unwrap();
    assert!(at(least).holds());
    assert!(!at(least.saturating_sub(Bytes::kb(2))).holds());
    // rho = 6, one host feeds: K is six times what the host's port holds, and XON is two frames lower.
    let set = at(least);
    let late = set.lowest(true).unwrap().ingress;
    let early = set.lowest(false).unwrap().ingress;
    let FlowControl::Pfc(late) = late.control else { panic!("{late:?}") };
    assert!(late.xon >= early.buffer * 6);
    assert!(late.xon.get() < early.buffer.get() * 6 + 2_000);
}

/// A ring of switches that routes the shorter way has no cycle, but after a failure it may; the
/// plan is then for all failures at once.
#[test]
fn failures_add_their_cycles() {
    let text = "[topology]\nkind = \"torus\"\ndimensions = [3, 3]\nhosts_per_switch = 1\n\
                rate = \"10 Gbps\"\ndelay = \"1 us\"\n[routing]\nkind = \"up-down\"\n";
    let source = Source { file: "torus.toml".to_string(), text: text.to_string() };
    let fabric = fabric_file::read(&source).unwrap();
    let ordinary = plan(&fabric, &request()).unwrap();
    assert!(cycle_aware(&fabric, &ordinary, wish(None)).components.is_empty());
    let reroute = Reroute::Rule(Routing::from(Multipath::Ecmp));
    let cycles = cycle_aware(&fabric, &ordinary, wish(Some(reroute)));
    let failures = cycles.failures.unwrap();
    assert_eq!(failures.tried, 18 + 9, "links and switches");
    assert!(failures.cyclic > 0);
    assert!(failures.covered <= failures.cyclic);
    assert!(!cycles.switches.is_empty());
}

/// What the two keys do not take.
#[test]
fn keys_that_make_no_sense_are_refused() {
    let refused = |control: &str| {
        let text = ring(3, 2, 1, control);
        let problems = Scenario::parse("t.toml", &text, &Overrides::default());
        problems.expect_err(control).to_string()
    };
    let margin = refused("kind = \"pfc\"\ncycle_aware = true\ncycle_margin = 0.0");
    assert!(margin.contains("a number from 0.1 to 100"), "{margin}");
    let alone = refused("kind = \"pfc\"\ncycle_margin = 2.0");
    assert!(alone.contains("cycle_margin: unknown key"), "{alone}");
    let text = ring(3, 2, 1, "kind = \"none\"");
    let overrides = Overrides { cycle_aware: Some(true), ..Overrides::default() };
    let flag = Scenario::parse("t.toml", &text, &overrides);
    let flag = flag.expect_err("nothing to set").to_string();
    assert!(flag.contains("without flow control there are none"), "{flag}");
    let none = refused("kind = \"none\"\ncycle_aware = true");
    assert!(none.contains("cycle_aware: unknown key"), "{none}");
}

/// A bound that the buffers cannot meet is a warning, and so are cycles that share links.
#[test]
fn what_is_not_covered_is_said() {
    let aware = "kind = \"pfc\"\ncycle_aware = true";
    let warnings = |text: &str| scenario(text, 1).warnings.join("\n");
    assert_eq!(warnings(&ring(3, 2, 1, aware)), "");
    let small = ring(8, 7, 3, aware).replace("312 KB", "150 KB");
    assert!(warnings(&small).contains("cannot throttle early enough"));
    let torus = "duration = \"1 ms\"\n[topology]\nkind = \"torus\"\ndimensions = [3, 3]\n\
                 hosts_per_switch = 1\nrate = \"10 Gbps\"\ndelay = \"1 us\"\n[routing]\n\
                 kind = \"ecmp\"\n[switch]\nbuffer = \"312 KB\"\n[flow_control]\nkind = \"pfc\"\n\
                 cycle_aware = true\n[[traffic]]\nkind = \"permutation\"\n";
    assert!(warnings(torus).contains("no guarantee there"));
}

/// A port of a plan has one set of thresholds for all classes. S1:S4 lies on a cycle in class 0,
/// so it throttles late, and in class 1 it feeds a cycle of three: there the bound fails.
#[test]
fn a_port_that_is_late_in_one_class_feeds_no_cycle_in_another() {
    let mut text =
        "[topology]\nkind = \"custom\"\nrate = \"10 Gbps\"\ndelay = \"1 us\"\n".to_string();
    for switch in 1..=4 {
        let _ = write!(
            text,
            "[[topology.node]]\nname = \"S{switch}\"\nkind = \"switch\"\n\
             [[topology.node]]\nname = \"H{switch}\"\nkind = \"host\"\n\
             [[topology.link]]\nbetween = [\"S{switch}\", \"H{switch}\"]\n"
        );
    }
    for [a, b] in [[1, 2], [2, 3], [3, 4], [4, 1], [3, 1]] {
        let _ = write!(text, "[[topology.link]]\nbetween = [\"S{a}\", \"S{b}\"]\n");
    }
    text.push_str("[switch]\nbuffer = \"300 KB\"\nclasses = 2\n[flow_control]\nkind = \"pfc\"\n");
    let flow = |text: &mut String, class: u8, path: &[usize]| {
        let switches = Vec::from_iter(path.iter().map(|switch| format!("\"S{switch}\"")));
        let _ = write!(
            text,
            "[[flow]]\nsource = \"H{}\"\ntarget = \"H{}\"\nclass = {class}\npath = [{}]\n",
            path[0],
            path[path.len() - 1],
            switches.join(", ")
        );
    };
    for path in [[1, 2, 3], [2, 3, 4], [3, 4, 1], [4, 1, 2]] {
        flow(&mut text, 0, &path);
    }
    for path in [[1, 2, 3], [2, 3, 1], [3, 1, 2]] {
        flow(&mut text, 1, &path);
    }
    let holds = |text: &str| {
        let (file, text) = ("classes.toml".to_string(), text.to_string());
        let fabric = fabric_file::read(&Source { file, text }).unwrap();
        let request = Request { classes: Some(2), ..request() };
        let ordinary = plan(&fabric, &request).unwrap();
        let cycles = cycle_aware(&fabric, &ordinary, wish(None));
        assert_eq!(cycles.components.len(), 2);
        cycles.holds(Scheme::Pfc)
    };
    assert!(holds(&text));
    flow(&mut text, 1, &[4, 1, 2]);
    assert!(!holds(&text));
}

/// The bound is no guarantee: in a ring of `switches` in which one receiver stands still for a while
/// and flows over `length` links begin one after the other, each behind a link that is stopped,
/// the room that the receiver leaves is used up by what enters on the way round.
fn started_in_turn(switches: usize, length: usize, margin: f64) -> String {
    let control = format!("kind = \"pfc\"\ncycle_aware = true\ncycle_margin = {margin:?}");
    let text = ring(switches, length, 1, &control);
    let mut parts = text.split("[[flow]]");
    let mut text = parts.next().unwrap().replace("20 ms", "30 ms");
    for (number, part) in parts.enumerate() {
        let turn = switches - number;
        let _ = writeln!(text, "[[flow]]{part}start = \"{} us\"", 300 * (turn + 1));
    }
    let _ = write!(
        text,
        "[[flow]]\nsource = \"H{switches}\"\ntarget = \"H1\"\npath = [\"S{switches}\", \"S1\"]\n\
         size = \"720 KB\"\n[[receiver]]\nhost = \"H1\"\n\
         steps = [[\"0 us\", \"stop\"], [\"{} us\", \"10 Gbps\"]]\n",
        300 * (switches + 3)
    );
    text
}

/// What it takes in this case is K = (n - 1) (s - 2) L, in rings of n.
#[test]
fn flows_that_start_in_turn_deadlock_within_the_bound() {
    for (switches, length) in [(4, 3), (5, 3), (5, 4), (8, 3)] {
        let rho = (length - 1) as f64;
        let enough = ((switches - 1) * (length - 2)) as f64 / rho;
        let at = |margin| {
            let scenario = scenario(&started_in_turn(switches, length, margin), 1);
            assert!(scenario.warnings.is_empty(), "{:?}", scenario.warnings);
            run(&scenario.config).deadlock
        };
        assert!(at(1.25).is_some(), "a ring of {switches}, s = {length}");
        assert!(at(0.9 * enough).is_some(), "a ring of {switches}, s = {length}");
        assert_eq!(at(1.2 * enough), None, "a ring of {switches}, s = {length}");
    }
    for switches in [3, 8] {
        let outcome = outcome(&started_in_turn(switches, 2, 1.25), 1);
        assert_eq!(outcome.deadlock, None, "s = 2");
    }
    // A receiver that never stands still does as well, if it is slow.
    let text = started_in_turn(4, 3, 1.25);
    let steps = text.find("steps = ").unwrap();
    let slow = format!("{}rate = \"100 Mbps\"\n", &text[..steps]).replace("30 ms", "60 ms");
    assert!(outcome(&slow, 1).deadlock.is_some());
}

/// A report says whose thresholds it is about.
#[test]
fn reports_say_that_a_run_is_cycle_aware() {
    for (control, is_aware) in [("", false), ("\ncycle_aware = true", true)] {
        let text = ring(4, 1, 1, &format!("kind = \"pfc\"{control}"));
        let text = text.replace("20 ms", "100 us");
        let run = Run::execute(scenario(&text, 1), |_| ControlFlow::Continue(()));
        let header = "\npfc, cycle-aware, output-queued, seed 1;";
        let printed = text::report(&run, pauseless_text::terminal::Paint::Plain);
        assert_eq!(printed.contains(header), is_aware, "{printed}");
        let document = serde_json::to_value(json::run_document(&run)).expect("a document");
        let expected = is_aware.then_some(true).map(serde_json::Value::from);
        assert_eq!(document.get("cycle_aware").cloned(), expected);
        let heading = html::Heading { title: String::new(), lead: String::new() };
        let page = html::page(&heading, &[run]);
        assert_eq!(page.contains("pfc, cycle-aware, output-queued"), is_aware);
    }
}
