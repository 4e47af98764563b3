use std::path::Path;

use expect_test::{Expect, expect};

use super::*;
use crate::sweep::campaign::Label;
use crate::sweep::plan::Plan;

const SCENARIO: &str = r#"
duration = "1 ms"
[topology]
kind = "dumbbell"
left = 2
right = 1
rate = "10 Gbps"
delay = "1 us"
[switch]
buffer = "1 MB"
[flow_control]
kind = "pfc"
[[flow]]
name = "F1"
source = "X1"
target = "Y1"
"#;

/// The campaign of a text, in a folder with a scenario.
pub fn read(text: &str, size: Option<&str>) -> Result<Campaign, String> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("c.sweep.toml");
    std::fs::write(folder.path().join("s.toml"), SCENARIO).expect("a file");
    std::fs::write(folder.path().join("sizes.txt"), "1000 0.5\n2000 1\n").expect("a file");
    std::fs::write(&path, text).expect("a file");
    let prefix = format!("{}/", folder.path().display());
    Campaign::read(&path, size).map_err(|it| it.to_string().replace(&prefix, ""))
}

fn campaign(text: &str, size: Option<&str>) -> Campaign {
    read(text, size).unwrap_or_else(|wrong| panic!("{wrong}"))
}

fn plan(campaign: Campaign) -> Plan {
    Plan::new(campaign, None, &|_, _| std::ops::ControlFlow::Continue(())).expect("a plan")
}

const ALL_KINDS: &str = r#"
title = "All kinds of axes"
scenario = "s.toml"
keep = ["pauses", "deadlock"]
[[axis]]
name = "xoff"
key = "flow_control.xoff"
range = { from = "10 KB", to = "1 MB", count = 3, scale = "log" }
[[axis]]
keys = ["flow.F1.rate"]
values = ["1 Gbps", "2.5 Gbps"]
[[axis]]
name = "scheme"
[axis.cases]
PFC = {}
GFC = { flow_control = { kind = "gfc-buffer" }, "switch.buffer" = "2 MB" }
[[axis]]
key = "seed"
seeds = { first = 7, count = 2 }
[size.small]
note = "less"
axis.xoff = { values = ["20 KB"] }
axis.scheme = { only = ["PFC"] }
"#;

#[test]
fn values_become_columns_and_scenarios() {
    // GFC knows no xoff, and is the same along that axis: what PFC is compared with.
    let text = ALL_KINDS.replace("1 MB\", count", "900 KB\", count");
    let campaign = campaign(&text, None);
    let axes = campaign.axes.iter().map(|axis| {
        let labels = axis.points.iter().map(|point| point.label.to_string());
        format!("{} {}", axis.name, Vec::from_iter(labels).join(" "))
    });
    assert_eq!(
        Vec::from_iter(axes),
        [
            "xoff_bytes 10000 94868 900000",
            "flow_F1_rate_bps 1000000000 2500000000",
            "scheme PFC GFC",
            "seed 7 8",
        ]
    );
    let expected = ["deadlock", "starved", "undecided", "lost", "warnings", "pauses"];
    assert_eq!(campaign.keep, expected);
    assert_eq!(campaign.name, "c");
    let plan = plan(campaign);
    assert_eq!(plan.len(), 24);
    let task = plan.task(23);
    assert_eq!(task.seed, 8);
    assert_eq!(task.labels[2], Label::Text("GFC".to_string()));
    let table: Table = toml::from_str(&task.text).expect("a scenario");
    assert_eq!(table["flow"][0]["rate"].as_str(), Some("2.5 Gbps"));
    assert_eq!(table["switch"]["buffer"].as_str(), Some("2 MB"));
    assert_eq!(table["flow_control"].get("xoff"), None);
    for index in [0, 7, 12, 23] {
        let points = plan.points(index);
        let expected = plan.campaign.scenario(&points, |_, _| {});
        let found: Table = toml::from_str(&plan.task(index).text).expect("a scenario");
        assert_eq!(found, expected, "{index}");
    }
    let names = plan.names();
    assert_eq!(names[23], task.name);
    // The first xoff under GFC is the same scenario as the last one.
    assert_eq!(names[23], names[7]);
    let mut shards = Vec::from_iter((1..=7).flat_map(|part| plan.shard(part, 7)));
    shards.sort_unstable();
    assert_eq!(shards, Vec::from_iter(0..24));
}

#[test]
fn a_size_has_other_values() {
    let campaign = campaign(&ALL_KINDS.replace("1 MB\", count", "900 KB\", count"), Some("small"));
    let counts = campaign.axes.iter().map(|axis| axis.points.len());
    assert_eq!(Vec::from_iter(counts), [1, 2, 1, 2]);
    assert_eq!((campaign.name.as_str(), campaign.note.as_str()), ("c-small", "less"));
}

#[test]
fn random_values_follow_from_the_seed_and_the_name() {
    let axis = |name: &str, seed: u32| {
        let text = format!(
            "scenario = \"s.toml\"\n[[axis]]\nname = \"{name}\"\nkey = \"flow_control.xoff\"\n\
             random = {{ from = \"10 KB\", to = \"900 KB\", count = 20, seed = {seed} }}\n"
        );
        campaign(&text, None).axes.remove(0).points
    };
    let first = axis("a", 1);
    assert_eq!(first.len(), 20);
    assert_eq!(first, axis("a", 1));
    assert_ne!(first, axis("a", 2));
    assert_ne!(first, axis("b", 1));
    let numbers = first.iter().map(|point| match point.label {
        Label::Number(number) => number,
        Label::Text(_) => f64::NAN,
    });
    assert!(numbers.clone().is_sorted() && numbers.clone().all(|it| (1e4..=9e5).contains(&it)));
}

/// A task draws from the distribution itself, and its name says so.
#[test]
fn files_of_sizes_are_part_of_a_task() {
    let text = "scenario = \"s.toml\"\n[[axis]]\nname = \"sizes\"\n[axis.cases]\n\
                file = { traffic = [{ kind = \"closed-loop\", sizes = \"sizes.txt\" }] }\n\
                ours = { traffic = { kind = \"closed-loop\", sizes = \"websearch\" } }\n";
    let plan = plan(campaign(text, None));
    let table: Table = toml::from_str(&plan.task(0).text).expect("a scenario");
    let points = table["traffic"][0]["cdf"].as_array().expect("points");
    assert_eq!(points[0][0].as_str(), Some("1 KB"));
    assert_eq!(table["traffic"][0].get("sizes"), None);
    assert!(plan.task(1).text.contains("websearch"));
}

/// Runs with two values of an axis that are the same run nevertheless would be counted as two.
#[test]
fn values_without_effect_are_refused() {
    let pfc = |name: &str| format!("{name} = {{ flow_control = {{ kind = \"pfc\" }} }}\n");
    let scheme = |cases: &str| format!("[[axis]]\nname = \"scheme\"\n[axis.cases]\n{cases}");
    let xoff = "key = \"flow_control.xoff\"\nvalues = [\"10 KB\", \"20 KB\"]";
    let gfc = "B = { flow_control = { kind = \"gfc-buffer\" } }\n";
    let both = axis(&format!("{xoff}\n{}", scheme(&(pfc("A") + gfc))));
    let twice = "scenario = \"s.toml\"\n".to_string() + &scheme(&(pfc("A") + gfc + &pfc("C")));
    let shown = [both.clone(), twice].map(|text| brief(&text));
    expect![[r#"
        c.sweep.toml:3:7: axis[0].key: flow_control.xoff has no effect: every value of "scheme" sets it again
        = help: put this axis behind that one, or leave one of them out
        c.sweep.toml:7:1: axis[0].cases.C: C makes the same scenario as A
        = help: keep one of them"#]].assert_eq(&shown.join("\n"));
    // Behind the other axis, xoff counts; in front of it with one case that leaves it alone, too.
    let first = scheme(&pfc("A"));
    campaign(&format!("scenario = \"s.toml\"\n{first}[[axis]]\n{xoff}\n"), None);
    campaign(&both.replace(&pfc("A"), "A = {}\n"), None);
}

fn check(text: &str, expect: Expect) {
    let wrong = read(text, None).expect_err("it is wrong");
    expect.assert_eq(&wrong);
}

fn axis(rest: &str) -> String {
    format!("scenario = \"s.toml\"\n[[axis]]\n{rest}\n")
}

/// The first line of what is said, and the help.
fn brief(text: &str) -> String {
    let wrong = read(text, None).expect_err(text);
    let lines = wrong.lines().filter(|line| {
        line.starts_with("pauseless: ") || line.contains("= help") || line.contains("help: ")
    });
    let lines = lines.map(|line| line.trim().trim_start_matches("pauseless: "));
    Vec::from_iter(lines).join("\n")
}

#[test]
fn a_key_that_scenarios_do_not_have_is_shown_where_it_was_written() {
    check(
        &axis("key = \"flow_control.xof\"\nvalues = [\"10 KB\"]"),
        expect![[r#"
            pauseless: c.sweep.toml:3:7: axis[0].key: flow_control.xof: unknown key with kind = "pfc"
              |
            3 | key = "flow_control.xof"
              |       ^^^^^^^^^^^^^^^^^^ expected one of at, cycle_aware, kind, pause_quanta, tick, unsafe_parameters, xoff, xon
              |
              = help: did you mean xoff?"#]],
    );
    check(
        &axis("key = \"flow_control.xoff\"\nvalues = [\"10 KB\", \"10\", \"2 MB\"]"),
        expect![[r#"
            pauseless: c.sweep.toml:4:20: axis[0].values[1]: with 10, flow_control.xoff: "10" has no unit
              |
            4 | values = ["10 KB", "10", "2 MB"]
              |                    ^^^^ expected an amount of bytes in B, KB, KiB, MB, MiB, GB, GiB
              |
              = help: write for example "100 KB"

            pauseless: c.sweep.toml:4:26: axis[0].values[2]: with 2 MB, flow_control.xoff: xoff = 2 MB is not safe at SW0:X1
              |
            4 | values = ["10 KB", "10", "2 MB"]
              |                          ^^^^^^ expected at most 989186 B = buffer - (C tau + MTU + 64 B per class)
              |
              = help: set xoff = "989186 B" or less, or unsafe_parameters = true in [flow_control] to run it all the same"#]],
    );
}

/// Axes that are wrong by themselves.
const BAD: [&str; 22] = [
    r#"key = "seed""#,
    "key = \"seed\"\nseeds = 2\nvalues = [1]",
    "key = \"seed\"\nseeds = 0",
    "key = \"seed\"\nvalues = []",
    "key = \"seed\"\nvalue = [1]",
    "values = [1]",
    "key = \"seed\"\nvalues = [1, 1]",
    "key = \"seed\"\nname = \"run\"\nseeds = 2",
    "name = \"ended\"\nkey = \"mtu\"\nvalues = [\"a\"]",
    "name = \"pauses\"\nkey = \"flow_control.pause_quanta\"\nvalues = [1]",
    "key = \"seed\"\nseeds = 2\n[[axis]]\nkey = \"seed\"\nseeds = 3",
    "key = \"mtu\"\nrange = { from = \"20 KB\", to = \"10 KB\", count = 3 }",
    "key = \"mtu\"\nrange = { from = \"0 B\", to = \"10 KB\", count = 3, scale = \"log\" }",
    "key = \"mtu\"\nrange = { from = \"1 us\", to = \"10 KB\", count = 3 }",
    "key = \"mtu\"\nrange = { from = \"1 KB\", to = \"10 KB\" }",
    "key = \"seed\"\nrange = { from = 1, to = 3, count = 9 }",
    "key = \"seed\"\nrange = { from = 1, count = 2000000 }",
    "key = \"seed\"\nrandom = { from = 1, to = 3, count = 9 }",
    "key = \"seed\"\nseeds = 1000000\n[[axis]]\nkey = \"mtu\"\nrange = { from = 1, count = 1000 }",
    "key = \"flow.F9.rate\"\nvalues = [\"1 Gbps\"]",
    "key = \"switch\"\nvalues = [{ buffer = \"1 MB\" }]",
    "key = \"seed\"\nseeds = 2\n[size.small]\naxis.sed = { seeds = 1 }",
];

#[test]
fn bad_axes_are_refused_with_a_fix() {
    let shown = Vec::from_iter(BAD.iter().map(|rest| brief(&axis(rest))));
    expect![[r#"
        c.sweep.toml:2:1: axis[0]: it has no values
        = help: add values = [1, 2], range, seeds, random or cases
        c.sweep.toml:2:1: axis[0]: both values and seeds stand here
        = help: keep one of them
        c.sweep.toml:4:9: axis[0].seeds: 0 is out of range
        c.sweep.toml:4:10: axis[0].values: an empty list
        = help: write some values
        c.sweep.toml:2:1: axis[0]: it has no values
        = help: add values = [1, 2], range, seeds, random or cases
        c.sweep.toml:4:1: axis[0].value: unknown key
        = help: did you mean values?
        c.sweep.toml:2:1: axis[0].key: missing
        = help: add key = "flow_control.xoff"
        c.sweep.toml:4:14: axis[0].values[1]: 1 is there twice
        = help: keep one
        c.sweep.toml:4:8: axis[0].name: the seed is called "run"
        = help: leave the name out: results have a column seed
        c.sweep.toml:3:8: axis[0].name: no axis can be called "ended": all results have a column of this name
        = help: give it another name
        c.sweep.toml:3:8: axis[0].name: no axis can be called "pauses": a number of this name is kept of each run
        = help: give it another name
        c.sweep.toml:6:7: axis[1].key: another axis varies this key
        = help: put both into one axis
        c.sweep.toml:6:7: axis[1].key: two axes are called "seed"
        = help: give each a name of its own
        c.sweep.toml:4:18: axis[0].range.from: 20 KB lies above 10 KB
        = help: from is the smaller one
        c.sweep.toml:4:18: axis[0].range.from: a logarithmic scale has no zero
        = help: begin above 0, or leave out scale = "log"
        c.sweep.toml:4:31: axis[0].range.to: 10 KB is not of the kind of 1 us
        = help: use the same unit in both
        c.sweep.toml:4:9: axis[0].range: it does not say how many values there are
        = help: write from and count, from, to and count, or from, to and step
        c.sweep.toml:4:9: axis[0].range: only 3 different values lie there
        = help: a smaller count, or a wider range
        c.sweep.toml:4:29: axis[0].range.count: 2000000 is out of range
        c.sweep.toml:4:10: axis[0].random: 9 different values are hard to find there
        = help: a smaller count, or a wider range
        c.sweep.toml:1:1: 1000000000 combinations of values
        = help: fewer values of some axis, or several campaigns
        c.sweep.toml:3:7: axis[0].key: flow.F9.rate: there is no "F9"
        = help: an element of a list is meant by its name, its kind or its number from 1
        c.sweep.toml:4:11: axis[0].values[0]: a section has no name to be shown by
        = help: write it as one of [axis.cases]
        c.sweep.toml:6:6: size.small.axis.sed: there is no axis "sed"
        = help: did you mean seed?"#]].assert_eq(&shown.join("\n"));
}

#[test]
fn bad_files_are_refused_with_a_fix() {
    let seeds = axis("key = \"seed\"\nseeds = 2");
    let cases = [
        String::from("scenario = \"s.toml\"\n"),
        seeds.replace("s.toml", "t.toml"),
        seeds.replace("scenario", "scenari"),
        format!("keep = [\"puases\", \"rte.F1\"]\n{seeds}"),
        format!("stop = [\"dedlock\"]\n{seeds}"),
        format!("{seeds}[filter]\ncyclic = 1"),
        format!("{seeds}[filter]\ncycles = true"),
    ];
    let shown = Vec::from_iter(cases.iter().map(|text| brief(text)));
    expect![[r#"
        c.sweep.toml:1:1: axis: this section is missing
        = help: add [[axis]] with a key and its values
        c.sweep.toml:1:12: scenario: there is no file t.toml
        = help: write its path as seen from this file
        c.sweep.toml:1:1: scenario: missing
        = help: add scenario = "FILE.toml", or a section [scenario]
        c.sweep.toml:1:1: scenari: unknown key
        = help: did you mean scenario?
        c.sweep.toml:1:9: keep[0]: no run has a number "puases"
        = help: did you mean pauses?
        c.sweep.toml:1:19: keep[1]: no run has a number "rte.F1"
        = help: did you mean rate?
        c.sweep.toml:1:9: stop[0]: unknown value "dedlock"
        = help: did you mean deadlock?
        c.sweep.toml:6:10: filter.cyclic: an integer stands here
        c.sweep.toml:6:1: filter.cycles: unknown key
        = help: did you mean cyclic?"#]]
    .assert_eq(&shown.join("\n"));
    let wrong = read(&format!("{seeds}[size.quick]"), Some("quik")).expect_err("no such size");
    assert!(wrong.contains("did you mean quick?"), "{wrong}");
    assert!(Campaign::read(Path::new("/nowhere.toml"), None).is_err());
}

/// What stands in documents and schemas: every key once in its table, with a sentence.
#[test]
fn every_key_of_campaigns_and_claims_files_is_described() {
    fn walk(info: &Info, seen: &mut usize) {
        let mut names = BTreeSet::new();
        for key in &info.keys {
            *seen += 1;
            assert!(names.insert(key.name), "{} twice", key.name);
            assert!(key.about.ends_with('.'), "{}: {}", key.name, key.about);
            inner(&key.kind, seen);
        }
        for (_, info) in info.variants.iter().flat_map(|it| &it.list) {
            walk(info, seen);
        }
    }
    fn inner(kind: &Kind, seen: &mut usize) {
        match kind {
            Kind::Table(info) | Kind::Tables(info) | Kind::TablesOrOne(info) => walk(info, seen),
            Kind::Map(of) | Kind::List { of, .. } => inner(of, seen),
            Kind::Either(kinds) => kinds.iter().for_each(|kind| inner(kind, seen)),
            _ => {}
        }
    }
    let mut counts = [0, 0];
    walk(&info(), &mut counts[0]);
    walk(&crate::repro::file::info(), &mut counts[1]);
    assert!(counts.iter().all(|count| *count > 50), "{counts:?}");
}

/// Values of sizes are in the words of their axis.
#[test]
fn sizes_are_checked_against_their_axes() {
    let axes = "key = \"seed\"\nseeds = 2\n[[axis]]\nname = \"scheme\"\n[axis.cases]\nPFC = {}\n\
                GFC = { flow_control = { kind = \"gfc-buffer\" } }\n[size.small]\n";
    let sizes = [
        "axis.scheme = { onyl = [\"PFC\"] }",
        "axis.scheme = { only = [\"PCF\"] }",
        "axis.seed = { only = [\"PFC\"] }",
        "axis.seed = { cases = { PFC = {} } }",
        "axis.seed = {}",
        "keep = [\"puases\"]",
    ];
    let shown = sizes.map(|size| brief(&axis(&format!("{axes}{size}"))));
    expect![[r#"
        c.sweep.toml:11:15: size.small.axis.scheme: the axis has cases
        = help: write only = [..] with the names of some of them
        c.sweep.toml:11:17: size.small.axis.scheme.onyl: unknown key
        = help: did you mean only?
        c.sweep.toml:11:24: size.small.axis.scheme.only: no cases are left
        = help: name some
        c.sweep.toml:11:25: size.small.axis.scheme.only[0]: there is no case "PCF"
        = help: did you mean PFC?
        c.sweep.toml:11:22: size.small.axis.seed.only: the axis has no cases
        = help: write values, range, seeds or random
        c.sweep.toml:11:13: size.small.axis.seed: the axis has a key, and no cases
        = help: write values, range, seeds or random
        c.sweep.toml:11:13: size.small.axis.seed: it has no values
        = help: add values = [1, 2], range, seeds, random or cases
        c.sweep.toml:11:9: size.small.keep[0]: no run has a number "puases"
        = help: did you mean pauses?"#]]
    .assert_eq(&shown.join("\n"));
}

/// An axis that is there and has a fault is not missing.
#[test]
fn a_fault_is_told_once() {
    let range = "name = \"delay\"\nkey = \"topology.delay\"\nrange = ";
    let size = "[size.tiny]\naxis.delay = { values = [\"1 us\"] }";
    let shown = [
        axis(&format!("{range}{{ from = \"9 us\", to = \"1 us\", count = 3 }}\n{size}")),
        axis(&format!("{range}{{ from = \"1 us\", to = \"9 us\", cuont = 3 }}\n{size}")),
        axis(&format!("name = \"delay\"\nkey = \"topology.delay\"\n{size}")),
        axis("key = \"seed\"\nseeds = { count = 0 }"),
        axis(
            "name = \"delay\"\nkey = \"topology.delay\"\nvalues = [\"1 us\"]\n[[axis]]\n\
             name = \"delay\"\nkey = \"flow_control.xoff\"\nvalues = [\"10 KB\"]",
        ),
        SCENARIO.to_string(),
    ];
    let shown = Vec::from_iter(shown.iter().map(|text| brief(text)));
    expect![[r#"
        c.sweep.toml:5:18: axis[0].range.from: 9 us lies above 1 us
        = help: from is the smaller one
        c.sweep.toml:5:9: axis[0].range: it does not say how many values there are
        = help: write from and count, from, to and count, or from, to and step
        c.sweep.toml:5:39: axis[0].range.cuont: unknown key
        = help: did you mean count?
        c.sweep.toml:2:1: axis[0]: it has no values
        = help: add values = [1, 2], range, seeds, random or cases
        c.sweep.toml:4:19: axis[0].seeds.count: 0 is out of range
        c.sweep.toml:7:8: axis[1].name: two axes are called "delay"
        = help: give each a name of its own
        c.sweep.toml:1:1: this is a scenario, and no campaign
        = help: run it with `pauseless run`, or name it in a campaign's `scenario`"#]]
    .assert_eq(&shown.join("\n"));
}

#[test]
fn a_size_that_is_not_there_is_told_with_those_that_are() {
    let sizes = axis("key = \"seed\"\nseeds = 2\n[size.quick]\n[size.full]");
    let wrong = |size| read(&sizes, Some(size)).expect_err("no such size");
    assert!(wrong("quik").contains("did you mean quick? It has full, quick"));
    assert!(wrong("x").contains("help: it has full, quick"));
}

/// Rows of flows are kept beside numbers, or beside the usual ones.
#[test]
fn flows_are_kept_beside_numbers() {
    let seeds = axis("key = \"seed\"\nseeds = 2");
    let usual = campaign(&seeds, None);
    let flows = campaign(&format!("keep = [\"flows\"]\n{seeds}"), None);
    assert_eq!((usual.keeps_flows, flows.keeps_flows), (false, true));
    assert_eq!(flows.keep, usual.keep);
    assert_ne!(flows.digest(), usual.digest());
    let both = "keep = [\"flows\", \"slowdown{p=99.9, size=10KB..100KB}\", \"pauses\"]";
    let both = campaign(&format!("{both}\n{seeds}"), None);
    assert!(both.keeps_flows && !both.keep.contains(&"flows".to_string()));
    let report = "[[report]]\nkind = \"cdf\"\nname = \"s\"\nof = ";
    let with = |of: &str| {
        let keep = "keep = [\"slowdown{p=99.9, size=10KB..100KB}\", \"fct_us{p=101}\"]";
        brief(&format!("{keep}\n{seeds}\n{report}\"{of}\""))
    };
    expect![[r#"
        c.sweep.toml:1:47: keep[1]: no run has a number "fct_us{p=101}"
        = help: a percentile is from 1 to 100, with at most four decimals, such as 99.9, not "101""#]].assert_eq(&with("slowdown{size=10KB..100KB, p=99.9}"));
}

/// What is asked for by name must be there in some run, and curves in all.
#[test]
fn what_no_run_has_is_refused_before_the_first() {
    let seeds = "[[axis]]\nkey = \"seed\"\nseeds = 2\n";
    let probe = format!(
        "{SCENARIO}[[flow]]\nsource = \"X2\"\ntarget = \"Y1\"\n\
         [probe]\nports = [\"SW0:X1\"]\nresolution = \"10 us\"\n"
    );
    let base = Value::Table(toml::from_str(&probe).expect("a scenario"));
    let scenario = Table::from_iter([("scenario".to_string(), base)]).to_string();
    let with = |asked: &str| format!("{asked}\n{scenario}\n{seeds}");
    let there = "keep = [\"rate.F1\", \"rate.sum\", \"total.X2->Y1\", \"held_ms.SW0:X1\", \
                 \"queue_mean.SW0:X1\", \"queue_max.X1:SW0\", \"pauses.class0\"]\n\
                 curves = [\"queue.SW0:X1\", \"goodput.F1\", \"goodput.F1 + goodput.X2->Y1\"]";
    campaign(&with(there), None);
    let shown = [
        with("keep = [\"held_ms.nonsense\", \"rate.nope\", \"pauses.class3\"]"),
        with("keep = [\"queue_mean.SW0:X2\", \"queue_max.SW0:X1#1\", \"rate.F1\"]"),
        with("curves = [\"queue.S1:H5\", \"goodput.F1\", \"goodput.F1 + goodput.F9\"]"),
        format!("curves = [\"queue.SW0:X1\"]\nscenario = \"s.toml\"\n{seeds}"),
    ];
    let shown = Vec::from_iter(shown.iter().map(|text| brief(text)));
    expect![[r#"
        c.sweep.toml:1:9: keep[0]: no run has a number "held_ms.nonsense"
        = help: name a port as NODE:PEER
        c.sweep.toml:1:29: keep[1]: no run has a number "rate.nope"
        = help: name one of the scenario's flows
        c.sweep.toml:1:42: keep[2]: no run has a number "pauses.class3"
        = help: name a port as NODE:PEER, or a class as class0
        c.sweep.toml:1:9: keep[0]: no run has a number "queue_mean.SW0:X2"
        = help: name a port as NODE:PEER that [probe] of the scenario has
        c.sweep.toml:1:30: keep[1]: no run has a number "queue_max.SW0:X1#1"
        = help: name a port as NODE:PEER
        c.sweep.toml:1:11: curves[0]: the run has no curve "queue.S1:H5"; it has goodput.F1, goodput.X2->Y1, queue.SW0:X1 and the like
        = help: add it to [probe] of the scenario, or leave it out
        c.sweep.toml:1:40: curves[2]: the run has no curve "goodput.F9"; it has goodput.F1, goodput.X2->Y1, queue.SW0:X1 and the like
        = help: add it to [probe] of the scenario, or leave it out
        c.sweep.toml:1:11: curves[0]: the run has no curve "queue.SW0:X1"; the scenario has no [probe]
        = help: add it to [probe] of the scenario, or leave it out"#]].assert_eq(&shown.join("\n"));
    // One value of an axis is enough for a number; the runs with the others have none.
    let cases = "[[axis]]\nname = \"n\"\n[axis.cases]\na = {}\nb.\"topology.left\" = 3\n";
    let some = "keep = [\"held_ms.SW0:X3\"]\nscenario = \"s.toml\"\n";
    campaign(&format!("{some}{cases}"), None);
}

#[test]
fn conditions_of_claims_name_values_that_the_axis_has_at_any_size() {
    let claim = |scheme: &str, xoff: &str| {
        let claim = format!(
            "[[claim]]\ntext = \"x\"\nof = \"deadlock\"\nat_most = 0\n\
             where = {{ scheme = \"{scheme}\", xoff = \"{xoff}\" }}\n"
        );
        // GFC knows no xoff: leave it to PFC.
        ALL_KINDS.replace("1 MB\", count", "900 KB\", count") + &claim
    };
    // As written, or at another size than that at hand.
    for (xoff, size) in [("10 KB", Some("small")), ("20 KB", None)] {
        let read = read(&claim("GFC", xoff), size);
        assert!(read.is_ok(), "{}", read.unwrap_err());
    }
    let wrong = read(&claim("GFCC", "30 KB"), Some("small")).unwrap_err();
    for part in [
        "scheme has no value GFCC",
        "did you mean GFC?",
        "xoff_bytes has no value 30 KB",
        "expected one of PFC, GFC\n",
        "expected one of 10 KB, 94.868 KB, 900 KB, 20 KB",
    ] {
        assert!(wrong.contains(part), "{wrong}");
    }
}

/// Keys that stay where an axis makes another kind of a section are one mistake, not one for each.
#[test]
fn an_axis_of_kinds_is_told_of_cases() {
    let xoff = axis("key = \"flow_control.xoff\"\nvalues = [\"10 KB\"]");
    let text = xoff + "[[axis]]\nkey = \"flow_control.kind\"\nvalues = [\"pfc\", \"cbfc\"]\n";
    assert_eq!(
        brief(&text),
        "c.sweep.toml:7:18: axis[1].values[1]: [flow_control] of the scenario has keys that cbfc does \
         not have\n= help: use cases, which replace the whole section: \
         axis.cases.NAME.flow_control = { kind = \"cbfc\", .. }"
    );
}

/// What is wrong with a report must not hide why: a value that is no quantity.
#[test]
fn a_wrong_value_is_shown_beside_what_it_does_to_the_report() {
    let report =
        "[[report]]\nkind = \"line\"\nname = \"a\"\nx = \"flow_control_xoff\"\nof = \"pauses\"\n";
    let text = axis("key = \"flow_control.xoff\"\nvalues = [\"10 KB\", \"1 MP\"]");
    let said = brief(&format!("{text}{report}"));
    assert!(said.contains("axis[0].values[1]: with 1 MP"), "{said}");
    assert!(said.contains("unknown unit"), "{said}");
    assert!(said.contains("report[0].x: flow_control_xoff has names, not numbers"), "{said}");
}

/// An axis may be called as its key is written two lines above.
#[test]
fn reports_name_axes_by_their_keys_too() {
    let report = "[[report]]\nkind = \"proportion\"\nname = \"a\"\nof = \"deadlock\"\nby = [\"flow_control.xoff\"]\n";
    let text = axis("key = \"flow_control.xoff\"\nvalues = [\"10 KB\", \"20 KB\"]");
    let campaign = campaign(&format!("{text}{report}"), None);
    assert_eq!(campaign.reports[0].by, ["flow_control_xoff_bytes"]);
}

#[test]
fn the_configuration_of_another_simulator_is_no_scenario() {
    let folder = tempfile::tempdir().expect("a folder");
    let config = "CC_MODE 1\nTOPOLOGY_FILE t.txt\nFLOW_FILE f.txt\nRATE_AI 50Mb/s\n";
    std::fs::write(folder.path().join("config.txt"), config).expect("a file");
    let path = folder.path().join("c.sweep.toml");
    let text = "scenario = \"config.txt\"\n[[axis]]\nkey = \"seed\"\nseeds = 2\n";
    std::fs::write(&path, text).expect("a file");
    let wrong = Campaign::read(&path, None).expect_err("no scenario").to_string();
    assert!(wrong.contains("this is the configuration of an ns-3 simulator"), "{wrong}");
    assert!(wrong.contains("--to scenario"), "{wrong}");
    assert_eq!(wrong.matches("pauseless: ").count(), 1, "{wrong}");
}
