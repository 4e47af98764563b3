//! Campaigns whose cases leave different shares of flows unfinished.

use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::sync::Mutex;

use super::*;
use crate::sweep::execute::{Hooks, Made, execute};
use crate::sweep::plan::{Plan, Task};
use crate::sweep::row::Row;
use crate::sweep::store::{Columns, Identity};
use pauseless_figures::figure::Source;
use pauseless_run::metrics::bias::Mark;

/// Eight hosts send to a ninth, one after the other; one case is cut off when many flows are on their
/// way, the other is let finish.
const CUT: &str = r#"
keep = ["fct_mean_us", "slowdown_p50", "fct_us{p=99, size=..1MB}"]

[scenario]
duration = "5 ms"
[scenario.topology]
kind = "n-to-1"
senders = 8
rate = "10 Gbps"
delay = "1 us"
[scenario.switch]
buffer = "1 MB"
[scenario.flow_control]
kind = "pfc"
FLOWS
[[axis]]
key = "topology.delay"
name = "delay"
values = ["1 us", "2 us"]
[[axis]]
name = "case"
cases.cut = { duration = "CUT" }
cases.whole = { duration = "5 ms" }
[[axis]]
key = "seed"
seeds = 3

[[report]]
kind = "line"
name = "times"
x = "delay"
of = "fct_mean_us"
by = "case"
[[report]]
kind = "line"
name = "medians"
x = "delay"
of = "slowdown_p50"
by = "case"
[[report]]
kind = "cdf"
name = "far"
of = "fct_us{p=99, size=..1MB}"
by = "case"
"#;

/// The report of the campaign with `cut` as the end of the first case, from runs that were made.
fn cut_at(cut: &str) -> Report {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("cut.sweep.toml");
    // Each takes 16 us of the receiver's link, and one starts every 10 us.
    let flows = (1..=8).map(|n| {
        let start = 10 * n;
        format!(
            "[[scenario.flow]]\nname = \"F{n}\"\nsource = \"H{n}\"\ntarget = \"R\"\n\
             size = \"20 KB\"\nstart = \"{start} us\"\n"
        )
    });
    let text = CUT.replace("CUT", cut).replace("FLOWS", &String::from_iter(flows));
    std::fs::write(&file, text).expect("a file");
    let campaign = Campaign::read(&file, None).unwrap_or_else(|wrong| panic!("{wrong}"));
    let plan = Plan::new(campaign, None, &|_, _| ControlFlow::Continue(())).expect("a plan");
    let kept: Mutex<Vec<(Identity, Row)>> = Mutex::default();
    let keep = |task: &Task, row: &Row, _: Made<'_>| {
        kept.lock().expect("no panic").push((Identity::of(task), row.clone()));
        Ok::<(), String>(())
    };
    let hooks = Hooks { keep: &keep, watch: &|_| ControlFlow::Continue(()) };
    let todo: Vec<u32> = (0..plan.len() as u32).collect();
    execute(&plan, &todo, NonZeroUsize::MIN, &hooks).expect("it is kept in memory");
    let columns = Columns::of(&plan.campaign, folder.path()).expect("columns");
    let rows = Table::new("results", columns.cells(&kept.into_inner().expect("no panic")));
    let needed = super::super::columns(&plan.campaign);
    let rows = rows.columns.into_iter().filter(|it| needed.contains(&it.name)).collect();
    report(&plan.campaign, &Table::new("results", rows), Context::default()).expect("a report")
}

fn numbers_of(part: &Part, name: &str) -> Vec<Option<f64>> {
    let column = part.data.columns.iter().find(|it| it.name == name);
    let column = column.unwrap_or_else(|| panic!("no column {name}"));
    column.cells.numbers().expect("numbers").into_owned()
}

#[test]
fn cases_with_different_shares_of_unfinished_flows_are_marked() {
    let report = cut_at("90 us");
    let text = text(&report, Paint::Plain);
    for part in &report.parts {
        let doubt = part.doubt.as_ref().expect("flows are unfinished");
        assert_eq!(doubt.mark, Some(Mark::Biased), "{text}");
        assert!(doubt.shares.starts_with("0 % (") && doubt.shares.contains("cut"), "{doubt:?}");
        assert!(text.contains(&format!("  biased: {}", doubt.says())), "{text}");
        let series = &part.figures[0].panels[0].series;
        let label = &series[0].label;
        assert!(label.starts_with("cut (") && label.ends_with(" % unfinished)"), "{label}");
        // Beside the curve of survivors is what it would be with the others.
        let dashed = series.iter().filter(|it| it.source == Source::Companion);
        assert!(dashed.clone().count() > 0 && dashed.clone().all(|it| it.label == *label));
        assert_eq!(series.last().map(|it| it.label.as_str()), Some("whole"));
        assert!(part.figures[0].caption.contains("; dashed: with unfinished flows at best"));
    }
    // The cases have the same flows, so that one is the truth of the other.
    for (part, name) in [(0, "fct_mean_us"), (1, "slowdown_p50")] {
        let part = &report.parts[part];
        let middles = numbers_of(part, &format!("{name}_median"));
        let [best, worst] = ["best", "worst"].map(|it| numbers_of(part, &format!("{name}_{it}")));
        let shares = numbers_of(part, "unfinished_share");
        for delay in 0..2 {
            let (cut, whole) = (delay, delay + 2);
            let truth = middles[whole].expect("all flows finish");
            assert!(best[cut].expect("flows") <= truth, "{name} {delay}: {text}");
            assert!(worst[cut].is_none_or(|worst| truth <= worst), "{name} {delay}: {text}");
            assert_eq!((best[whole], worst[whole]), (Some(truth), Some(truth)));
            assert!(shares[cut] > Some(0.1) && shares[whole] == Some(0.0), "{shares:?}");
        }
    }
    let page = page(&report);
    assert!(page.contains("<span class=\"badge poor\">biased</span> 0 % ("), "{page}");
    let json = json(&report);
    assert!(json.contains("\"mark\": \"biased\"") && json.contains("\"unfinished_share\""));
}

#[test]
fn cases_in_which_all_flows_finish_are_not_marked() {
    let report = cut_at("4 ms");
    assert!(report.parts.iter().all(|part| part.doubt.is_none()));
    let figures = report.parts.iter().flat_map(|it| &it.figures);
    assert!(figures.clone().all(|it| !it.caption.contains("dashed")));
    assert!(figures.flat_map(|it| &it.panels).all(|it| it.series.len() == 2));
    let text = text(&report, Paint::Plain);
    assert!(text.contains("unfinished") && !text.contains("biased"), "{text}");
    assert!(json(&report).contains("\"mark\": null"));
}
