use std::collections::BTreeSet;
use std::ops::ControlFlow;

use super::*;
use crate::Run;
use crate::sample::{Asked, Sample};
use pauseless_scenario::{Overrides, Scenario};

fn run(text: &str) -> Run {
    let scenario = Scenario::parse("t", text, &Overrides::default());
    let scenario = scenario.unwrap_or_else(|wrong| panic!("{wrong}"));
    Run::execute(scenario, |_| ControlFlow::Continue(()))
}

/// Flows that end and one that does not, with pauses.
fn incast() -> Run {
    let text = include_str!("../../../../scenarios/incast-shared.toml");
    let endless = "\n[[flow]]\nname = \"F1\"\nsource = \"H1\"\ntarget = \"R\"\n";
    run(&format!("{text}{endless}").replace("\"2 ms\"", "\"200 us\""))
}

/// Finished flows of three sizes.
fn mixed() -> Run {
    let text = include_str!("../../../../scenarios/incast-shared.toml");
    let flow = |name: &str, size: &str| {
        format!(
            "\n[[flow]]\nname = \"{name}\"\nsource = \"H1\"\ntarget = \"R\"\nsize = \"{size}\"\n"
        )
    };
    run(&format!("{text}{}{}", flow("F1", "5 KB"), flow("F2", "50 KB")))
}

fn value(facts: &Facts<'_>, name: &str) -> Option<f64> {
    let number = Reference::parse(name).unwrap_or_else(|wrong| panic!("{name}: {wrong}"));
    number.value(facts)
}

/// What a run has can be asked for, and is the same then.
#[test]
fn every_number_of_a_run_is_known_by_its_name() {
    let run = incast();
    let facts = Facts::of(&run);
    let sample = Sample::of(&run, &[]).expect("no curves");
    assert!(sample.metrics.len() > 20);
    for (name, number) in &sample.metrics {
        assert_eq!(value(&facts, name), Some(*number), "{name}");
    }
}

#[test]
fn entries_can_be_told_apart_and_are_documented() {
    let mut seen = BTreeSet::new();
    for number in NUMBERS {
        assert!(seen.insert((number.name, number.needs().map(|it| it.name()))));
        assert!(number.says.ends_with('.'), "{}", number.name);
        let is_percentile = matches!(number.of, Of::Percentile(_));
        assert_eq!(number.spelt.is_empty(), !is_percentile, "{}", number.name);
        assert_eq!(Reference::parse(&number.example()).map(|_| ()), Ok(()));
        let at = number.kept_at.iter();
        assert!(at.map(|(name, _)| name).all(|it| Percentile::named(it).is_some()));
        // The unit can be told from the name, or the name is one of those that never had one.
        let bare = ["rate", "total", "queue_", "utilisation", "share_", "jain"];
        let is_bare = bare.iter().any(|it| number.name.starts_with(it));
        let endings = number.unit.endings();
        let ends = endings.iter().any(|it| number.name.contains(it));
        assert!(endings.is_empty() || ends || is_bare, "{}", number.name);
    }
}

#[test]
fn parameters_choose_a_part_of_the_run() {
    let run = mixed();
    let facts = Facts::of(&run);
    let at = |name: &str| value(&facts, name);
    for (one, other) in [
        ("rate{flow=F1}", "rate.F1"),
        ("pauses{class=0}", "pauses.class0"),
        ("fct_us{p=99}", "fct_p99_us"),
        ("fct_us{p=50, size=0.5KB..1GB}", "fct_p50_us"),
        ("slowdown{ p = 100 }", "slowdown_max"),
        ("slowdown_p999", "slowdown{p=99.9}"),
        ("finished{size=S}", "finished.S"),
        ("finished{class=0}", "finished"),
    ] {
        assert_eq!(at(one), at(other), "{one}");
    }
    // Percentiles rise, up to the greatest.
    let rising = ["10", "50", "99", "99.9", "100"].map(|p| at(&format!("fct_us{{p={p}}}")));
    assert!(rising.is_sorted() && rising[0].is_some(), "{rising:?}");
    assert_eq!(rising[4], at("fct_max_us"));
    // The parts of a partition of sizes make up the whole.
    let parts = ["..10KB", "10KB..100KB", "100KB.."];
    let parts = parts.map(|size| at(&format!("finished{{size={size}}}")).unwrap_or(0.0));
    assert_eq!((parts, at("finished")), ([1.0, 1.0, 16.0], Some(18.0)));
    let port = run.topology().hosts()[0];
    let port = run.port_name(port, pauseless_core::id::PortId(0));
    assert_eq!(at(&format!("held_ms{{port={port}}}")), at(&format!("held_ms.{port}")));
    assert!(at(&format!("utilisation{{port={port}}}")).is_some());
    let layer = facts.metrics.layers[0];
    assert_eq!(at("links{layer=0}"), Some(layer.links as f64));
    assert_eq!((at("links{layer=9}"), at("rate{flow=nobody}")), (None, None));
}

#[test]
fn bad_references_say_what_is_wrong() {
    let wrong = |text: &str| Reference::parse(text).expect_err(text);
    for (text, expected) in [
        ("puases", "did you mean pauses?"),
        ("slowdwon{p=99}", "did you mean slowdown?"),
        ("fct_p98_us", "did you mean fct_p99_us?"),
        ("something_else_entirely", "`pauseless metrics` lists all names"),
        ("slowdown", "write one of slowdown{p=99}, slowdown{flow=F1}"),
        ("queue_end", "write queue_end{port=S1:S2}"),
        ("rate.", "write rate{flow=F1}"),
        ("slowdown{p=99", "a } is missing at its end"),
        ("slowdown{q=99}", "slowdown has no parameter \"q\"; did you mean p?"),
        (
            "slowdown{percentile=99}",
            "slowdown has no parameter \"percentile\"; it takes p, size, class, group, flow, bound",
        ),
        ("deadlock{port=S1:S2}", "deadlock has no parameters"),
        ("slowdown{p=}", "p has no value; write p=99"),
        ("slowdown{p=1, p=2}", "p is there twice"),
        (
            "slowdown{p=101}",
            "a percentile is from 1 to 100, with at most four decimals, such as 99.9, not \"101\"",
        ),
        (
            "fct_us{p=99, size=10KB}",
            "size=10KB: this is no range; write a range such as 10KB..100KB, ..10KB or 1MB.., or one of S, M, L, XL",
        ),
        (
            "fct_us{p=99, size=2MB..1MB}",
            "size=2MB..1MB: nothing is in it; write a range such as 10KB..100KB, ..10KB or 1MB.., or one of S, M, L, XL",
        ),
        ("pauses{class=8}", "class is a number from 0 to 7, not \"8\""),
        ("finished{group=H0}", "only claims files have groups of flows"),
        (
            "pauses{class=0, port=S1:S2}",
            "write one of pauses, pauses{class=0}, pauses{layer=1}, pauses{port=S1:S2}",
        ),
        ("fct_mean_us.SM", "\"SM\" is neither a size (S, M, L, XL) nor a class (class0)"),
        ("deadlock.S1:S2", "deadlock is of the whole run"),
        ("fct_mean_us{bound=from}", "bound of fct_mean_us is one of best, worst, not \"from\""),
        ("fct_us{p=9, bound=low}", "bound of fct_us is one of best, worst, from, to, not \"low\""),
        (
            "finished{bound=best}",
            "finished has no parameter \"bound\"; it takes size, class, group",
        ),
    ] {
        assert_eq!(wrong(text), expected, "{text}");
    }
    let groups = ["background", "burst"];
    assert!(Reference::with_groups("fct_us{p=99, group=burst}", &groups).is_ok());
    assert!(Reference::with_groups("fct_p99_us.burst", &groups).is_ok());
    let guess = Reference::with_groups("fct_us{p=99, group=brust}", &groups).expect_err("none");
    assert_eq!(guess, "there is no group \"brust\"; did you mean burst?");
}

/// Every number that only finished flows have says what the others leave open, for the same flows.
#[test]
fn statistics_over_finished_flows_have_bounds_beside_them() {
    // So short that flows are on their way.
    let run = incast();
    let facts = Facts::of(&run);
    for number in NUMBERS {
        let reference = Reference::parse(&number.example()).expect("its own example");
        let is_statistic = matches!(number.of, Of::Mean(_) | Of::Percentile(_));
        assert_eq!(reference.beside().is_some(), is_statistic, "{}", number.name);
        let is_time = number.name.starts_with("fct") || number.name.starts_with("slowdown");
        let is_of_flows = number.scope() == Scope::Flows;
        assert_eq!(is_time && is_of_flows, is_statistic, "{}", number.name);
    }
    for (name, texts) in [
        (
            "fct_mean_us",
            ["finished", "unfinished", "fct_mean_us{bound=best}", "fct_mean_us{bound=worst}"],
        ),
        (
            "slowdown_p999.class0",
            [
                "finished{class=0}",
                "unfinished{class=0}",
                "slowdown{p=99.9, class=0, bound=best}",
                "slowdown{p=99.9, class=0, bound=worst}",
            ],
        ),
        (
            "fct_us{p=50, size=10KB..2MB}",
            [
                "finished{size=10KB..2MB}",
                "unfinished{size=10KB..2MB}",
                "fct_us{p=50, size=10KB..2MB, bound=best}",
                "fct_us{p=50, size=10KB..2MB, bound=worst}",
            ],
        ),
    ] {
        let beside = Reference::parse(name).expect("a number").beside().expect("a statistic");
        assert_eq!(beside.all().map(Reference::text), texts, "{name}");
        for it in beside.all() {
            let again = Reference::parse(&it.text()).expect("what is written can be read");
            assert_eq!((again.text(), again.column()), (it.text(), it.column()));
            assert!(again.beside().is_none(), "{name}");
        }
        let case = beside.case(value(&facts, name), |it| it.value(&facts)).expect("flows");
        assert!(case.unfinished > 0 && case.best > 0.0 && case.worst.is_infinite(), "{case:?}");
    }
}

/// Of very many flows and ports, those that are asked for have numbers, and no others.
#[test]
fn one_of_many_flows_can_be_asked_for() {
    let run = run(r#"
        duration = "10 us"
        [topology]
        kind = "dumbbell"
        left = 140
        right = 1
        rate = "10 Gbps"
        delay = "1 us"
        [switch]
        buffer = "10 MB"
        [flow_control]
        kind = "pfc"
        [[traffic]]
        kind = "incast"
        target = "Y1"
        sources = ["X1..X100"]
        size = "10 KB"
    "#);
    let flow = run.scenario.config.flows[70].name.clone();
    let asked = [format!("rate.{flow}"), "held_ms.SW0:X9".to_string()];
    let facts = Facts::of(&run);
    let few = Sample::asked(&facts, &[], &Asked::all(&asked)).expect("no curves");
    let usual = Sample::of(&run, &[]).expect("no curves");
    for name in &asked {
        let number = Reference::parse(name).expect("a name");
        assert_eq!(number.check(&run.scenario.config), Ok(()), "{name}");
        assert!(few.metric(name).is_some(), "{name}");
        assert_eq!(usual.metric(name), None, "{name}");
    }
    assert_eq!(few.metrics.len(), 2);
}

#[test]
fn campaigns_keep_what_they_always_have() {
    let always = kept_names(Kept::Always);
    assert_eq!(always, ["deadlock", "starved", "undecided", "lost", "warnings"]);
    let usually = kept_names(Kept::Usually);
    let expected = [
        "deadlock_ms",
        "end_ms",
        "held_kb",
        "pauses",
        "queue_max",
        "rate.sum",
        "rate.min",
        "jain",
        "finished",
        "fct_mean_us",
        "fct_p99_us",
    ];
    assert_eq!(usually, expected);
}

/// Flows that live one after the other have no rate together that no link could carry.
#[test]
fn the_sum_of_rates_is_of_flows_that_live_together() {
    let run_of = |more: &str| {
        run(&format!(
            "duration = \"2 ms\"\n[topology]\nkind = \"n-to-1\"\nsenders = 4\nrate = \"10 Gbps\"\n\
             delay = \"1 us\"\n[switch]\nbuffer = \"200 KB\"\n[flow_control]\nkind = \"pfc\"\n{more}"
        ))
    };
    let rate = |run: &Run, name: &str| value(&Facts::of(run), name).expect("flows");
    let turns =
        "[[traffic]]\nkind = \"incast\"\ntarget = \"R\"\nsize = \"50 KB\"\ninterval = \"300 us\"\n";
    let one_by_one = run_of(turns);
    let all: f64 = one_by_one.outcome.flows.iter().map(|flow| flow.goodput_late_bps / 1e9).sum();
    assert!(all > 30.0, "{} flows, {all} Gb/s", one_by_one.outcome.flows.len());
    let sum = rate(&one_by_one, "rate.sum");
    assert!((5.0..12.0).contains(&sum), "{sum} Gb/s through a link of 10");
    // Where all last until the end it is the sum over all, to the last digit.
    let flow = |n: usize| format!("[[flow]]\nsource = \"H{n}\"\ntarget = \"R\"\n");
    let endless = run_of(&(1..=4).map(flow).collect::<String>());
    let all: f64 = endless.outcome.flows.iter().map(|flow| flow.goodput_late_bps / 1e9).sum();
    assert_eq!(rate(&endless, "rate.sum"), all);
}

/// As the sentence of `lost` says.
#[test]
fn what_wires_lose_is_not_among_the_lost() {
    let text = include_str!("../../../../scenarios/incast-shared.toml");
    let run = run(&format!("{text}\n[timing]\nwire_loss = 0.01\n"));
    assert!(run.outcome.losses.wire.packets > 0);
    assert_eq!(value(&Facts::of(&run), "lost"), Some(0.0));
}

/// One flow by the hash of flows leaves one of two uplinks idle; in rounds each carries half of it.
#[test]
fn how_even_next_hops_are_used() {
    let run_of = |kind: &str| {
        run(&format!(
            "duration = \"1 ms\"\n[topology]\nkind = \"leaf-spine\"\nleaves = 2\nspines = 2\n\
             hosts_per_leaf = 1\nrate = \"10 Gbps\"\ndelay = \"1 us\"\n[routing]\nkind = \"ecmp\"\n\
             [switch]\nbuffer = \"200 KB\"\n[flow_control]\nkind = \"pfc\"\n\
             [[load_balancing]]\nkind = \"{kind}\"\n\
             [[flow]]\nsource = \"H0\"\ntarget = \"H1\"\nsize = \"300 KB\"\n"
        ))
    };
    let names = ["next_hop_load_max", "next_hops_idle_percent", "balanced_frames{port=L0:S0}"];
    let values = |run: &Run| names.map(|name| value(&Facts::of(run), name));
    assert_eq!(values(&run_of("flow-hash")), [Some(2.0), Some(50.0), None]);
    assert_eq!(values(&run_of("round-robin")), [Some(1.0), Some(0.0), Some(100.0)]);
    let random = run_of("random");
    let [Some(most), Some(idle), Some(frames)] = values(&random) else {
        panic!("three numbers");
    };
    assert!(most > 1.0 && most < 1.3 && idle == 0.0, "{most}, {idle}");
    assert!((70.0..130.0).contains(&frames), "{frames}");
    let without = run(include_str!("../../../../scenarios/gfc-ring.toml"));
    assert_eq!(value(&Facts::of(&without), "next_hop_load_max"), None);
}
