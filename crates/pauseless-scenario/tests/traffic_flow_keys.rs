//! The keys of `[[flow]]` that say when it sends: `count`, `after`, `on` and `off`.

use pauseless_core::host::Duty;
use pauseless_core::unit::{Bytes, Span};
use pauseless_scenario::{Overrides, Scenario};

const BASE: &str = r#"duration = "1 ms"
[topology]
kind = "ring"
switches = 3
hosts_per_switch = 1
rate = "10 Gbps"
delay = "1 us"
[flow_control]
kind = "none"
"#;

fn parse(text: &str) -> Scenario {
    let scenario = Scenario::parse("t", text, &Overrides::default());
    scenario.unwrap_or_else(|problems| panic!("{problems}"))
}

/// The scenario, after a look at whether it survives being written out.
fn scenario(flows: &str) -> Scenario {
    let scenario = parse(&format!("{BASE}{flows}"));
    let again = parse(&scenario.resolved());
    assert_eq!(scenario.config.flows, again.config.flows);
    assert_eq!(scenario.config.follows, again.config.follows);
    assert_eq!(scenario.resolved(), again.resolved());
    scenario
}

fn names(scenario: &Scenario) -> Vec<&str> {
    let flows = scenario.config.flows.iter();
    flows.map(|flow| flow.name.as_str()).collect()
}

#[test]
fn a_count_makes_like_flows() {
    let flows = "[[flow]]\nname = \"F\"\nsource = \"H1\"\ntarget = \"H2\"\ncount = 3\n\
                 [[flow]]\nsource = \"H2\"\ntarget = \"H3\"\ncount = 2\n\
                 [[flow]]\nsource = \"H2\"\ntarget = \"H3\"\nsize = \"1 KB\"\n";
    let scenario = scenario(flows);
    let expected = ["F#1", "F#2", "F#3", "H2->H3", "H2->H3#2", "H2->H3#3"];
    assert_eq!(names(&scenario), expected);
    // Without a size comes before one with it, as ever.
    assert_eq!(scenario.config.flows[5].size, Bytes::kb(1));
}

#[test]
fn flows_wait_for_all_that_are_named() {
    let flows = "[[flow]]\nname = \"F\"\nsource = \"H1\"\ntarget = \"H2\"\ncount = 3\nsize = \"1 KB\"\n\
                 [[flow]]\nname = \"G\"\nsource = \"H2\"\ntarget = \"H3\"\nsize = \"1 KB\"\nafter = [\"F\"]\n\
                 [[flow]]\nname = \"A\"\nsource = \"H2\"\ntarget = \"H3\"\nafter = [\"G\", \"F#2\", \"G\"]\ndelay = \"3 us\"\n\
                 [[flow]]\nsource = \"H2\"\ntarget = \"H3\"\nafter = [\"ring-all-reduce/H1->H2#1.4\"]\n\
                 [[traffic]]\nkind = \"ring-all-reduce\"\nsize = \"3 KB\"\n";
    let scenario = scenario(flows);
    let config = &scenario.config;
    let name = |flow: pauseless_core::id::FlowId| config.flows[flow.index()].name.as_str();
    let follows = config.follows.iter();
    let follows = follows.map(|follow| (name(follow.first), name(follow.then), follow.delay));
    let follows = Vec::from_iter(follows.filter(|(_, then, _)| !then.contains('/')));
    let expected = [
        ("F#1", "G", Span::ZERO),
        ("F#2", "A", Span::us(3)),
        ("F#2", "G", Span::ZERO),
        ("F#3", "G", Span::ZERO),
        ("G", "A", Span::us(3)),
        ("ring-all-reduce/H1->H2#1.4", "H2->H3", Span::ZERO),
    ];
    assert_eq!(follows, expected);
    assert!(config.follows.is_sorted());
}

#[test]
fn flows_may_be_silent_by_themselves() {
    let ends = "[[flow]]\nsource = \"H1\"\ntarget = \"H2\"\n";
    let scenario = scenario(&format!(
        "{ends}on = \"20 us\"\noff = \"80 us\"\ninitial_rate = \"1 Gbps\"\n\
         congestion_control = false\n{ends}"
    ));
    let duties = Vec::from_iter(scenario.config.flows.iter().map(|flow| flow.duty));
    let (on, off) = (Span::us(20), Span::us(80));
    assert_eq!(duties, [Duty { on, off }, Duty::ALWAYS]);
    assert!(scenario.resolved().contains("initial_rate = \"1 Gbps\""));
    assert!(scenario.resolved().contains("congestion_control = false"));
}
