//! An experiment of its own, carried out, broken off and taken up again.

use std::fs;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use pauseless_experiments::repro::catalogue::{self, Entry};
use pauseless_experiments::repro::claim::Verdict;
use pauseless_experiments::repro::scope::{Failure, Session};
use pauseless_experiments::repro::{Reproduced, Scale, reproduce, text};
use pauseless_experiments::sweep::store::Samples;
use pauseless_figures::figure::Drawn;
use pauseless_run::metrics::bias::Mark;
use pauseless_run::table::Cells;
use pauseless_text::terminal::Paint;

/// Two hosts send to a third through one switch.
const SCENARIO: &str = r#"
title = "two into one"
duration = "2 ms"
mtu = "1000 B"

[topology]
kind = "n-to-1"
senders = 2
rate = "10 Gbps"
delay = "1 us"

[switch]
buffer = "200 KB"

[flow_control]
kind = "pfc"
xoff = "40 KB"
xon = "38 KB"

[[flow]]
name = "F1"
source = "H1"
target = "R"

[[flow]]
name = "F2"
source = "H2"
target = "R"

[[traffic]]
kind = "incast"
name = "late"
sources = ["H1", "H2"]
target = "R"
size = "10 KB"
start = "1 ms"

[probe]
resolution = "10 us"
ports = ["S1:H1"]
flows = ["F1", "F2"]
"#;

const CLAIMS: &str = r#"
title = "two into one"
cites = "nobody"
disciplines = ["output-queued", "virtual-output-queued"]
seconds = { quick = 1, full = 1 }

[quick]
note = "half as long"
set = { duration = "1.5 ms" }

[[case]]
name = "low"
seeds = 2
x = 40
series = "PFC"

[[case]]
name = "high"
set = { "flow_control.xoff" = "90 KB", "flow_control.xon" = "88 KB" }
x = 90
series = "PFC"

[[group]]
name = "second"
sources = ["H2"]

[[measure]]
name = "both"
series = "goodput.F1 + goodput.F2"
from = "0.5 ms"
to = "1 ms"
take = "mean"

[[measure]]
name = "full_ms"
series = "queue.S1:H1"
take = "first above 30"

[[claim]]
text = "each has half"
paper = 5
unit = "Gb/s"
value = ["low/{d}/both : low/{d}/both@count", "high/{d}/rate.F1"]
within = 0.6
met = true

[[claim]]
text = "later thresholds, longer queues"
paper = "low < high"
order = ["low/output-queued/queue_max.S1:H1", "high/output-queued/queue_max.S1:H1"]
met = true

[[claim]]
text = "it deadlocks"
paper = "deadlock"
value = "low/{d}/deadlock"
at_least = 1
met = false
reason = "There is no cycle."

[[figure]]
name = "queue"
caption = "the queue"
kind = "time"
series = ["queue.S1:H1"]
y = "KB"
cases = ["low"]

[[figure]]
name = "height"
caption = "height against threshold"
kind = "lines"
x = "XOFF (KB)"
y = "KB"
metric = "queue_max"
"#;

/// A folder of papers that is gone when the test is over.
struct Papers(PathBuf);

impl Papers {
    fn new(name: &str, claims: &str) -> Papers {
        let folder = format!("pauseless-repro-{}-{name}", std::process::id());
        let folder = std::env::temp_dir().join(folder);
        fs::create_dir_all(folder.join("own")).expect("a place on disk");
        fs::write(folder.join("own/star.toml"), SCENARIO).expect("a place on disk");
        fs::write(folder.join("own/star.claims.toml"), claims).expect("a place on disk");
        Papers(folder)
    }

    fn entry(&self) -> Entry {
        let all = catalogue::read(&self.0).unwrap_or_else(|it| panic!("{it}"));
        catalogue::find(&all, "own-star").unwrap_or_else(|it| panic!("{it}"))
    }

    fn store(&self) -> Samples {
        Samples::open(&self.0.join("runs")).expect("a place on disk")
    }
}

impl Drop for Papers {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn carry_out(entry: &Entry, scale: Scale) -> Result<Reproduced, Failure> {
    carry_out_with(entry, scale, &[])
}

fn carry_out_with(
    entry: &Entry,
    scale: Scale,
    settings: &[(String, String)],
) -> Result<Reproduced, Failure> {
    let session = Session {
        scale,
        store: None,
        settings,
        reading: None,
        keeps_documents: true,
        keeps_runs: true,
        watch: &|_, _, _| ControlFlow::Continue(()),
    };
    reproduce(entry.clone(), &session)
}

#[test]
fn an_experiment_is_run_measured_judged_and_drawn() {
    let papers = Papers::new("whole", CLAIMS);
    let done = carry_out(&papers.entry(), Scale::Quick).unwrap_or_else(|it| panic!("{it}"));
    let verdicts: Vec<Verdict> = done.claims.iter().map(|it| it.verdict).collect();
    // 9.9 Gb/s over two seeds, and nothing deadlocks.
    assert_eq!(verdicts, [Verdict::Met, Verdict::Met, Verdict::NotMet]);
    let values = &done.measured.values;
    let end = values.evaluate("low/output-queued/end_ms");
    assert_eq!(end, Some(1.5), "the quick one is shorter");
    let seeds = values.get("low/output-queued/deadlock").map(<[_]>::len);
    assert_eq!(seeds, Some(2));
    // 30 KB of net growth at 5 Gb/s take 48 us; probes are 10 us apart.
    let full = values.evaluate("low/output-queued/full_ms").expect("it fills");
    assert!((0.04..0.08).contains(&full), "{full}");
    assert_eq!(values.evaluate("high/output-queued/finished.second"), Some(1.0));
    assert_eq!(done.documents.len(), 6, "2 seeds and 1, in 2 disciplines");
    assert_eq!(done.runs.len(), 4, "the first seeds");
    let [queue, height] = &done.measured.figures[..] else {
        panic!("two figures");
    };
    assert_eq!(queue.panels.len(), 2, "one case in two disciplines");
    assert_eq!(queue.panels[0].series[0].points.len(), 150);
    assert_eq!(height.panels[0].series.len(), 2, "one curve for each discipline");
    assert_eq!(height.panels[0].series[0].mark, Drawn::Marked);
    assert_eq!(height.panels[0].series[0].points.len(), 2);
    let tables = &done.measured.tables;
    assert_eq!(tables.iter().map(|it| it.name.as_str()).collect::<Vec<_>>(), ["values", "curves"]);
    let Cells::Numbers(times) = &tables[1].columns[1].cells else {
        panic!("times are numbers");
    };
    assert_eq!(times.len(), 2 * 150);
}

#[test]
fn what_is_set_counts_in_every_run_and_is_said() {
    let papers = Papers::new("set", CLAIMS);
    let set = |key: &str, value: &str| {
        let settings = [(key.to_string(), value.to_string())];
        carry_out_with(&papers.entry(), Scale::Quick, &settings)
    };
    let done = set("flow_control.xoff", "100 KB").unwrap_or_else(|it| panic!("{it}"));
    let [low, high] = ["low", "high"].map(|case| {
        let queue = format!("{case}/output-queued/queue_max.S1:H1");
        done.measured.values.evaluate(&queue).expect("a number")
    });
    // The case that has another threshold has this one, too: it is the last word.
    assert!(low > 100.0 && (high - low).abs() < 15.0, "{low} and {high} KB");
    assert!(text::report(&done, Paint::Plain).contains("; flow_control.xoff=100 KB"));
    // Runs with other parameters break no claim, and the file's reasons are not theirs.
    let others = set("topology.rate", "20 Gbps").unwrap_or_else(|it| panic!("{it}"));
    assert!(!others.is_broken());
    let text = text::report(&others, Paint::Plain);
    assert!(text.contains("other parameters"), "{text}");
    assert!(!text.contains("BROKEN") && !text.contains("why:"), "{text}");
    let wrong = set("flow_control.xof", "100 KB").expect_err("no such key").to_string();
    assert!(wrong.contains("xoff"), "{wrong}");
}

/// A key of one scheme is set in the runs of that scheme, and it is said in which it is not.
#[test]
fn a_key_of_one_scheme_is_set_where_it_exists() {
    let of_high = r#"{ "flow_control.xoff" = "90 KB", "flow_control.xon" = "88 KB" }"#;
    let claims = CLAIMS.replace(of_high, r#"{ flow_control = { kind = "none" } }"#);
    let papers = Papers::new("scheme", &claims);
    let settings = [("flow_control.xon", "30 KB"), ("switch.processing", "1 us")];
    let settings = settings.map(|(key, value)| (key.to_string(), value.to_string()));
    let done = carry_out_with(&papers.entry(), Scale::Quick, &settings);
    let done = done.unwrap_or_else(|it| panic!("{it}"));
    let expected = [
        "flow_control.xon=30 KB (no such key in high/output-queued, high/virtual-output-queued)",
        "switch.processing=1 us",
    ];
    assert_eq!(done.settings, expected);
}

/// Claims can ask for any number of the registry, of a part of the run, and what they ask for is in
/// the files.
#[test]
fn a_claim_may_ask_for_a_percentile_of_some_flows() {
    let claims = format!(
        "{CLAIMS}
        [[claim]]
        text = 'ten kilobytes between two long flows'
        paper = 'slow'
        value = ['low/{{d}}/slowdown{{p=99.9, size=10KB..100KB}}', 'high/{{d}}/fct_us{{p=100, group=second}} : high/{{d}}/fct_max_us.second']
        at_least = 1
        met = true
        [[claim]]
        text = 'none of this size'
        paper = 'nothing'
        value = 'low/output-queued/fct_us{{p=50, size=1MB..}}'
        at_least = 0
        met = false
        reason = 'There is none.'
        "
    );
    let papers = Papers::new("parameters", &claims);
    let done = carry_out(&papers.entry(), Scale::Quick).unwrap_or_else(|it| panic!("{it}"));
    let verdicts: Vec<Verdict> = done.claims.iter().map(|it| it.verdict).collect();
    assert_eq!(verdicts[3..], [Verdict::Met, Verdict::NotMet]);
    let ratio = &done.claims[3].findings[0].measured;
    assert_eq!(ratio[1], Some(1.0), "two ways to write the same");
    let Cells::Texts(names) = &done.measured.tables[0].columns[0].cells else {
        panic!("names are texts");
    };
    let name = "low/output-queued/slowdown{p=99.9, size=10KB..100KB}";
    assert_eq!(names.iter().filter(|it| *it == name).count(), 2, "two seeds");
}

/// A claim and a figure on completion times say how many flows of each case did not finish.
#[test]
fn a_claim_on_completion_times_counts_flows_that_did_not_finish() {
    let claims = format!(
        "{CLAIMS}
        [[case]]
        name = 'cut'
        set = {{ duration = '1.01 ms' }}
        [[claim]]
        text = 'all are as fast where all finish'
        paper = 'as fast'
        value = 'low/{{d}}/fct_mean_us.second : high/{{d}}/fct_mean_us.second'
        between = [0.1, 10]
        met = true
        [[claim]]
        text = 'the late flows are faster in a run that ends before they do'
        paper = 'faster'
        order = ['cut/{{d}}/fct_mean_us', 'low/{{d}}/fct_mean_us']
        met = false
        reason = 'None of them has finished.'
        [[figure]]
        name = 'times'
        caption = 'completion times'
        kind = 'bars'
        bars = [
            {{ label = 'low', value = 'low/{{d}}/fct_mean_us' }},
            {{ label = 'cut', value = 'cut/{{d}}/fct_mean_us' }},
        ]
        "
    );
    let papers = Papers::new("unfinished", &claims);
    let done = carry_out(&papers.entry(), Scale::Quick).unwrap_or_else(|it| panic!("{it}"));
    let [.., whole, cut] = &done.claims[..] else {
        panic!("claims");
    };
    assert!(whole.findings.iter().all(|it| it.doubt.is_none() && it.holds), "{whole:?}");
    for finding in &cut.findings {
        let doubt = finding.doubt.as_ref().expect("flows did not finish");
        assert_eq!(doubt.mark, Some(Mark::Biased));
        assert!(doubt.shares.starts_with("0 % (low/") && doubt.shares.contains("100 % (cut/"));
        assert!(doubt.with_them.contains(" and more, "), "{doubt:?}");
    }
    let figure = done.measured.figures.last().expect("a figure");
    assert!(figure.caption.starts_with("completion times; 0 % (low/"), "{}", figure.caption);
    assert!(figure.caption.ends_with(" of the flows did not finish"), "{}", figure.caption);
    let report = text::report(&done, Paint::Plain);
    assert!(report.contains("biased: 0 % (low/output-queued) to 100 % (cut/output-queued)"));
}

/// A campaign over two thresholds and two seeds, and what is claimed of it.
const CAMPAIGN: &str = r#"
title = "two into one, over thresholds"
scenario = "star.toml"
keep = ["queue_max", "deadlock_ms"]
curves = ["queue.S1:H1"]
[[axis]]
name = "xoff"
key = "flow_control.xoff"
values = ["40 KB", "90 KB"]
[[axis]]
key = "seed"
seeds = 2
[size.one]
axis.seed = { seeds = 1 }
"#;

const OF_CAMPAIGN: &str = r#"
title = "two into one, over thresholds"
cites = "nobody"
seconds = { quick = 1, full = 1 }
[[campaign]]
file = "star.sweep.toml"
size = "one"
name = "xoff {xoff_bytes}"
scale = "quick"
[[campaign]]
file = "star.sweep.toml"
name = "xoff {xoff_bytes}"
scale = "full"
[[claim]]
text = "later thresholds, longer queues"
paper = "low < high"
order = ["xoff 40000/queue_max", "xoff 90000/queue_max"]
met = true
[[claim]]
text = "none deadlocks"
paper = 0
value = ["xoff 40000/deadlock@above", "xoff 90000/deadlock@percent"]
at_most = 0
met = true
[[claim]]
text = "when it deadlocks"
paper = 0
value = "xoff 40000/deadlock_ms"
at_most = 0
met = false
reason = "It does not."
"#;

#[test]
fn the_rows_of_a_campaign_are_judged_and_kept() {
    let papers = Papers::new("campaign", OF_CAMPAIGN);
    let missing = match carry_out(&papers.entry(), Scale::Quick) {
        Ok(_) => panic!("there is no such file"),
        Err(failure) => failure.to_string(),
    };
    assert!(missing.contains("there is no star.sweep.toml"), "{missing}");
    fs::write(papers.0.join("own/star.sweep.toml"), CAMPAIGN).expect("a place on disk");
    let quick = carry_out(&papers.entry(), Scale::Quick).unwrap_or_else(|it| panic!("{it}"));
    let verdicts: Vec<Verdict> = quick.claims.iter().map(|it| it.verdict).collect();
    assert_eq!(verdicts, [Verdict::Met, Verdict::Met, Verdict::NotMet]);
    let seeds = |done: &Reproduced| {
        let seeds = done.measured.values.get("xoff 90000/seed").map(<[_]>::to_vec);
        seeds.unwrap_or_default()
    };
    assert_eq!(seeds(&quick), [Some(1.0)]);
    assert_eq!(quick.measured.tables[1].name, "star-results");
    let session = || Session {
        scale: Scale::Full,
        store: Some(papers.store()),
        settings: &[],
        reading: None,
        keeps_documents: false,
        keeps_runs: false,
        watch: &|_, _, _| ControlFlow::Continue(()),
    };
    let full = reproduce(papers.entry(), &session()).unwrap_or_else(|it| panic!("{it}"));
    assert_eq!(seeds(&full), [Some(1.0), Some(2.0)]);
    assert_eq!(papers.store().len(), 4);
    // Now all of it comes from the disk, curves and what is missing included.
    let again = reproduce(papers.entry(), &session()).unwrap_or_else(|it| panic!("{it}"));
    assert_eq!(again.measured.values, full.measured.values);
    assert_eq!(format!("{:?}", again.measured.curves), format!("{:?}", full.measured.curves));
    assert_eq!(again.measured.tables, full.measured.tables);
}

#[test]
fn what_was_broken_off_goes_on_and_ends_alike() {
    let papers = Papers::new("resume", CLAIMS);
    let entry = papers.entry();
    let whole = carry_out(&entry, Scale::Full).unwrap_or_else(|it| panic!("{it}"));
    let limit = AtomicUsize::new(2);
    let watch = |done: usize, _: usize, _: &str| {
        if done >= limit.load(Ordering::Relaxed) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    let session = || Session {
        scale: Scale::Full,
        store: Some(papers.store()),
        settings: &[],
        reading: None,
        keeps_documents: false,
        keeps_runs: true,
        watch: &watch,
    };
    let broken = reproduce(entry.clone(), &session());
    assert!(matches!(broken, Err(Failure::Interrupted)));
    let kept = papers.store().len();
    assert!((1..6).contains(&kept), "{kept} runs were finished");
    limit.store(usize::MAX, Ordering::Relaxed);
    let resumed = reproduce(entry, &session()).unwrap_or_else(|it| panic!("{it}"));
    let all = |done: &Reproduced| format!("{:?}", done.measured.values);
    assert!(all(&resumed) == all(&whole), "to the last digit");
    assert_eq!(resumed.measured.figures, whole.measured.figures);
    assert_eq!(papers.store().len(), 6);
    // The page shows the same runs, those included that were finished before.
    let shown =
        |done: &Reproduced| Vec::from_iter(done.runs.iter().map(|run| run.scenario.name.clone()));
    assert_eq!(shown(&resumed), shown(&whole));
    assert_eq!(shown(&resumed).len(), 4);
}

#[test]
fn what_is_wrong_is_named() {
    let told = |name: &str, from: &str, to: &str| {
        let claims = CLAIMS.replace(from, to);
        assert_ne!(claims, CLAIMS, "{from}");
        let papers = Papers::new(name, &claims);
        match carry_out(&papers.entry(), Scale::Quick) {
            Ok(_) => panic!("{name} was carried out"),
            Err(failure) => failure.to_string(),
        }
    };
    let wrong = told("curve", "goodput.F1 +", "goodput.F9 +");
    assert!(wrong.contains("no curve \"goodput.F9\""), "{wrong}");
    let wrong = told("path", "flow_control.xoff", "flow.F9.xoff");
    assert!(wrong.contains("flow.F9.xoff: there is no \"F9\""), "{wrong}");
    let wrong = told("scenario", "90 KB", "900 KB");
    assert!(wrong.contains("900 KB") || wrong.contains("xoff"), "{wrong}");
    let wrong = told("take", "first above 30", "often");
    assert!(wrong.contains("\"often\" cannot be taken"), "{wrong}");
    let wrong = told("hook", "cites = \"nobody\"", "cites = \"n\"\ncompute = \"magic\"");
    assert!(wrong.contains("star.claims.toml:4:11: compute: unknown value \"magic\""), "{wrong}");
    let wrong = told("seeds", "seeds = 2", "seeds = 4000000000");
    assert!(wrong.contains("4000000000 is out of range"), "{wrong}");
    assert!(wrong.contains("star.claims.toml:") && wrong.contains("from 1 to 10000"), "{wrong}");
    let case = |n: usize| format!("[[case]]\nname = \"n{n}\"\nseeds = 10000\n\n");
    let many = String::from_iter((0..6).map(case)) + "[[claim]]";
    let wrong = told("runs", "[[claim]]", &many);
    assert!(wrong.contains("runs in the cases so far, the limit is 100000"), "{wrong}");
    let wrong = told("host", "sources = [\"H2\"]", "sources = [\"H7\"]");
    assert!(wrong.contains("group second: no host \"H7\""), "{wrong}");
    for (name, number, expected) in [
        ("name", "slwodown{p=99}", "did you mean slowdown?"),
        ("percentile", "slowdown{p=0}", "a percentile is from 1 to 100"),
        ("group", "fct_us{p=9, group=secnd}", "did you mean second?"),
    ] {
        let wrong = told(name, "high/{d}/rate.F1", &format!("high/{{d}}/{number}"));
        assert!(wrong.contains(expected), "{wrong}");
    }
}
