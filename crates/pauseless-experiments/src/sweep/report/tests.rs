mod fixture;
mod unfinished;

use expect_test::{Expect, expect};

use self::fixture::{axis, buffers, campaign, names, numbers, read, rows, table1};
use super::file::Known;
use super::*;
use pauseless_run::table::{Cells, csv};
use pauseless_text::terminal::Paint;

fn context() -> Context {
    Context {
        command: "pauseless sweep table1.sweep.toml --size quick".to_string(),
        size: Some("quick".to_string()),
        ..Context::default()
    }
}

/// Ten runs: a scheme, five seeds; the first scheme deadlocks with seeds 1 and 2, and has no
/// number for seed 3.
fn ten(sections: &str) -> (Campaign, Table) {
    let axes = vec![
        axis("scheme", "", names(&["PFC", "GFC"])),
        axis("seed", "", numbers((1..=5).map(f64::from))),
    ];
    let campaign = campaign(axes, &["deadlock"], sections);
    let table = rows(&campaign, |places| match places {
        [0, 0 | 1] => (vec![Some(1.0)], "deadlock"),
        [0, 2] => (vec![None], "duration"),
        _ => (vec![Some(0.0)], "duration"),
    });
    (campaign, table)
}

fn made(sections: &str) -> Report {
    let (campaign, table) = ten(sections);
    report(&campaign, &table, Context::default()).unwrap()
}

fn check(text: &str, expect: Expect) {
    expect.assert_eq(text);
}

#[test]
fn a_share_has_its_count_its_total_and_its_interval() {
    let sections =
        "[[report]]\nkind = \"proportion\"\nname = \"a\"\nof = \"deadlock\"\nby = \"scheme\"";
    let report = made(sections);
    let Cell::Share(share) = report.parts[0].shown.rows[0][1] else {
        panic!("{:?}", report.parts[0].shown);
    };
    // Seed 3 does not say.
    assert_eq!((share.count, share.total), (2, 4));
    let note = "1 of 10 runs have no deadlock and are not counted";
    assert_eq!(report.parts[0].notes, [note]);
    // By hand: (0.5 + 0.9604 / 2 -+ 1.96 sqrt(0.0625 + 0.060025)) / 1.9604.
    let [low, high] = share.interval();
    assert!((low - 0.150_0).abs() < 1e-4 && (high - 0.850_0).abs() < 1e-4);
    check(
        &csv(&report.parts[0].data),
        expect![[r#"
            scheme,deadlock_count,deadlock_total,deadlock_share,deadlock_low,deadlock_high
            PFC,2,4,0.5,0.15003570882017145,0.8499642911798285
            GFC,0,5,0,0,0.43449149475208104
        "#]],
    );
}

#[test]
fn a_network_counts_once_if_any_of_its_runs_does() {
    let sections =
        "[[report]]\nkind = \"proportion\"\nname = \"a\"\nof = \"deadlock\"\nper = \"scheme\"";
    let report = made(sections);
    let share = Share { count: 1, total: 2 };
    assert_eq!(report.parts[0].shown.rows, [vec![Cell::Share(share)]]);
    assert_eq!(report.parts[0].title, "Share of schemes with deadlock");
}

#[test]
fn conditions_and_failed_runs_leave_runs_out() {
    let sections = "[[report]]\nkind = \"proportion\"\nname = \"a\"\nof = \"deadlock\"\nby = [\"scheme\"]\nwhere = { seed = [1, 4, 9] }";
    let (campaign, mut table) = ten(sections);
    let Cells::Texts(errors) = &mut table.columns.last_mut().unwrap().cells else { unreachable!() };
    errors[5] = "no such host".to_string();
    let report = report(&campaign, &table, Context::default()).unwrap();
    let shares: Vec<&Cell> = report.parts[0].shown.rows.iter().map(|it| &it[1]).collect();
    let share = |count, total| Cell::Share(Share { count, total });
    assert_eq!(shares, [&share(1, 2), &share(0, 1)]);
    let note = "no run has seed = 9; there are 1, 2, 3, 4, 5";
    assert_eq!(report.parts[0].notes, [note]);
    assert_eq!((report.runs, report.failed.count), (9, 1));
    let text = text(&report, Paint::Plain);
    assert!(text.contains("1 run: no such host (task "), "{text}");
    let ended = [("duration".to_string(), 7), ("deadlock".to_string(), 2)];
    assert_eq!(report.ended, ended);
}

#[test]
fn claims_are_met_or_not_and_say_so_where_no_run_is_meant() {
    let claim = |rest: &str| {
        let report = made(&format!("[[claim]]\ntext = \"it\"\nof = \"deadlock\"\n{rest}"));
        let judged = report.claims[0].clone();
        (judged.word(), judged.measured(), judged.notes)
    };
    let measured = |text: &str| text.to_string();
    let gfc = "0 of 5 runs, 0 % (95 % interval 0 to 43.4 %)";
    assert_eq!(claim("where = { scheme = \"GFC\" }\nat_most = 0"), ("met", measured(gfc), vec![]));
    let all = "2 of 9 runs, 22.2 % (95 % interval 6.3 to 54.7 %)";
    let note = "1 of 10 runs have no deadlock and are not counted".to_string();
    assert_eq!(claim("at_most = 0.1"), ("NOT MET", measured(all), vec![note.clone()]));
    assert_eq!(claim("at_least = 0.22").0, "met");
    assert_eq!(claim("at_least = 0.3\nmet = false\nreason = \"x\"").0, "not met");
    assert_eq!(claim("at_least = 0.1\nmet = false\nreason = \"x\"").0, "met, unmarked");
    let (verdict, measured, notes) = claim("where = { scheme = \"GFCC\" }\nat_most = 0");
    assert_eq!((verdict, measured.as_str()), ("NOT MET", "no runs"));
    assert_eq!(
        notes,
        [
            "no run meets its conditions",
            "no run has scheme = GFCC; did you mean GFC?",
            "nothing was measured that it could be judged by"
        ]
    );
    let (verdict, _, notes) =
        claim("where = { scheme = \"GFC\" }\nfewer_than = { scheme = \"PFC\" }");
    assert_eq!(verdict, "NOT MET");
    let note = "1 of 5 runs have no deadlock and are not counted";
    assert_eq!(notes, [note, "the intervals overlap: more runs would tell"]);
    assert_eq!(claim("sizes = [\"full\"]\nat_most = 0").0, "other size");
}

#[test]
fn a_number_that_no_run_has_meets_no_claim() {
    let axes = vec![axis("seed", "", numbers([1.0, 2.0]))];
    let sections = "[[report]]\nkind = \"proportion\"\nname = \"a\"\nof = \"held_ms.nope\"\n\
                    [[claim]]\ntext = \"it\"\nof = \"held_ms.nope\"\nat_most = 0";
    let mut campaign = campaign(axes, &["held_ms_nope"], sections);
    let table = rows(&campaign, |_| (vec![None], "duration"));
    campaign.keep = vec!["held_ms.nope".to_string()];
    let report = report(&campaign, &table, Context::default()).unwrap();
    let none = "2 of 2 runs have no held_ms.nope and are not counted";
    assert!(report.parts[0].notes.contains(&none.to_string()));
    let share = Cell::Share(Share::default());
    assert_eq!(report.parts[0].shown.rows, [vec![share]]);
    let judged = &report.claims[0];
    let nothing = "nothing was measured that it could be judged by";
    assert_eq!(judged.notes, [none, nothing]);
    assert_eq!(judged.word(), "NOT MET");
    assert!(!report.holds());
}

#[test]
fn a_claim_is_met_so_far_until_all_runs_are_made() {
    let judged = |rest: &str| {
        let sections = format!("[[claim]]\ntext = \"it\"\nof = \"deadlock\"\n{rest}");
        let (campaign, table) = ten(&sections);
        let context = Context { missing: 57, ..Context::default() };
        let report = report(&campaign, &table, context).unwrap();
        let notes = report.claims[0].notes.clone();
        (report.claims[0].word(), report.holds(), notes)
    };
    let gfc = "where = { scheme = \"GFC\" }\nat_most = 0";
    let note = "57 of 67 runs are missing".to_string();
    assert_eq!(judged(gfc), ("met so far", false, vec![note]));
    assert_eq!(judged("at_most = 0").0, "NOT MET");
    let marked = judged("at_most = 0\nmet = false\nreason = \"x\"");
    assert_eq!((marked.0, marked.1), ("not met", true));
    let other = judged("at_most = 0\nsizes = [\"full\"]");
    assert_eq!((other.0, other.1), ("other size", true));
}

#[test]
fn what_is_counted_is_the_axis_that_is_not_beside_it() {
    let (mut campaign, table) = table1(6);
    let Kind::Proportion { per, .. } = &mut campaign.reports[0].kind else { unreachable!() };
    let all = ["k", "network", "discipline", "scheme", "thresholds"];
    *per = all.map(str::to_string).to_vec();
    campaign.claims[1].per = ["network", "scheme"].map(str::to_string).to_vec();
    let report = report(&campaign, &table, context()).unwrap();
    let panel = &report.parts[0].figures[0].panels[0];
    assert_eq!(panel.y.label, "networks (%)");
    assert_eq!(report.claims[1].units, "networks");
}

#[test]
fn the_head_says_what_was_found_and_how_the_networks_were_chosen() {
    let sections = "[[report]]\nkind = \"cdf\"\nname = \"a\"\nof = \"deadlock\"";
    let axes = vec![axis("seed", "", numbers([1.0, 2.0, 3.0]))];
    let keep = ["deadlock", "starved", "lost", "warnings", "undecided"];
    let campaign = campaign(axes, &keep, sections);
    let table = rows(&campaign, |places| {
        let numbers = match places[0] {
            0 => [0.0, 2.0, 0.0, 0.0, 0.0],
            1 => [0.0, 0.0, 0.0, 1.0, 1.0],
            _ => [0.0, 1.0, 0.0, 2.0, 0.0],
        };
        (numbers.map(Some).to_vec(), "duration")
    });
    for always in ["warnings", "undecided"] {
        assert!(columns(&campaign).contains(&always.to_string()));
    }
    let context = Context {
        screened: Some("80 networks were looked at, 9 are run".to_string()),
        ..Context::default()
    };
    let report = report(&campaign, &table, context).unwrap();
    let lines = [
        "80 networks were looked at, 9 are run.",
        "Found: no run with a deadlock, 2 with a starved flow, none with losses.",
        "1 run too short to tell whether a flow starves.",
        "2 runs were made with warnings, such as task 00000000000000000000000000000001;",
    ];
    let (text, page) = (text(&report, Paint::Plain), page(&report));
    for line in lines {
        assert!(text.contains(line) && page.contains(line), "{line}\n{text}");
    }
    let document: serde_json::Value = serde_json::from_str(&json(&report)).unwrap();
    assert_eq!(document["found"]["starved"], 2);
    assert_eq!(document["found"]["warnings"], 2);
    assert_eq!(document["screened"], "80 networks were looked at, 9 are run");
    // No share, no interval of one.
    assert!(!page.contains("Wilson"));
}

#[test]
fn runs_that_are_the_same_with_another_seed_are_counted() {
    let axes = vec![
        axis("load", "", numbers([1.0, 2.0, 3.0])),
        axis("seed", "", numbers([1.0, 2.0, 3.0])),
    ];
    let campaign = campaign(axes, &["finished", "fct_p99_us"], "");
    let table = rows(&campaign, |places| {
        let time = match places {
            [0, 0 | 2] => Some(68.4),
            [0, _] => Some(68.5),
            // What happens in all runs of a load, and in runs of two, is no repetition.
            [1, seed] => Some(68.4 + *seed as f64),
            _ => None,
        };
        (vec![Some(8.0), time], "done")
    });
    assert!(columns(&campaign).contains(&"fct_p99_us".to_string()));
    let report = report(&campaign, &table, Context::default()).unwrap();
    assert_eq!(report.found.alike, 1);
    let line = "1 run repeats the run of another seed in every time that was kept: bands over \
                seeds are too narrow there.";
    let text = text(&report, Paint::Plain);
    assert!(text.contains(line), "{text}");
}

/// What is said about sections for the campaign of ten runs.
fn refused(sections: &str) -> String {
    let (campaign, _) = ten("");
    let known = Known { axes: &campaign.axes, values: &campaign.axes, keep: &campaign.keep };
    read(sections, known).unwrap_err().to_string()
}

#[test]
fn conditions_name_values_that_the_axis_has() {
    let text = r#"[[claim]]
text = "y"
of = "deadlock"
where = { scheme = ["PFC", "GFCC"], seed = 9 }
more_than = { scheme = "CBFC" }
"#;
    check(
        &refused(text),
        expect![[r#"
        pauseless: it.sweep.toml:4:28: claim[0].where.scheme[1]: scheme has no value GFCC
          |
        4 | where = { scheme = ["PFC", "GFCC"], seed = 9 }
          |                            ^^^^^^ expected one of PFC, GFC
          |
          = help: did you mean GFC?

        pauseless: it.sweep.toml:4:44: claim[0].where.seed: seed has no value 9
          |
        4 | where = { scheme = ["PFC", "GFCC"], seed = 9 }
          |                                            ^ expected one of 1, 2, 3, 4, 5

        pauseless: it.sweep.toml:5:24: claim[0].more_than.scheme: scheme has no value CBFC
          |
        5 | more_than = { scheme = "CBFC" }
          |                        ^^^^^^ expected one of PFC, GFC
          |
          = help: did you mean GFC?"#]],
    );
}

#[test]
fn wrong_sections_are_shown_with_their_place_and_what_was_meant() {
    let text = r#"[[report]]
kind = "proportion"
name = "a"
of = "deadlok"
bi = ["scheme"]
[[report]]
kind = "lin"
name = "b"
[[report]]
kind = "line"
name = "c/d"
x = "scheme"
of = "deadlock"
by = ["sceme"]
[[claim]]
text = "x"
of = "deadlock"
at_most = 2
"#;
    check(
        &refused(text),
        expect![[r#"
            pauseless: it.sweep.toml:4:6: report[0].of: "deadlok" is not kept of the runs
              |
            4 | of = "deadlok"
              |      ^^^^^^^^^
              |
              = help: did you mean deadlock?

            pauseless: it.sweep.toml:5:1: report[0].bi: unknown key with kind = "proportion"
              |
            5 | bi = ["scheme"]
              | ^^ expected one of by, columns, kind, name, of, per, title, where
              |
              = help: did you mean by?

            pauseless: it.sweep.toml:7:8: report[1].kind: unknown value "lin"
              |
            7 | kind = "lin"
              |        ^^^^^ expected one of "proportion", "cdf", "line", "heatmap"
              |
              = help: did you mean line?

            pauseless: it.sweep.toml:11:8: report[2].name: not fit for the name of a file
               |
            11 | name = "c/d"
               |        ^^^^^ expected letters, digits, - and _

            pauseless: it.sweep.toml:12:5: report[2].x: scheme has names, not numbers
               |
            12 | x = "scheme"
               |     ^^^^^^^^
               |
               = help: use it as by, and an axis of numbers as x

            pauseless: it.sweep.toml:14:7: report[2].by[0]: no axis "sceme"
               |
            14 | by = ["sceme"]
               |       ^^^^^^^ expected one of scheme, seed, ended
               |
               = help: did you mean scheme?

            pauseless: it.sweep.toml:18:11: claim[0].at_most: 2 is out of range
               |
            18 | at_most = 2
               |           ^ expected a number from 0 to 1"#]],
    );
}

#[test]
fn only_the_columns_that_are_needed_are_asked_for() {
    let (campaign, _) = table1(3);
    assert_eq!(
        columns(&campaign),
        [
            "deadlock",
            "discipline",
            "ended",
            "error",
            "fct_mean_us",
            "k",
            "lost",
            "network",
            "scheme",
            "starved",
            "task",
            "thresholds"
        ]
    );
}

#[test]
fn table_1_as_text() {
    let (campaign, table) = table1(60);
    let mut context = context();
    context.missing = 12;
    let mut labels = numbers([4.0, 17.0]);
    labels.extend(names(&["output-queued", "PFC", "paper"]));
    context.missing_tasks = vec![("00ff".to_string(), labels)];
    let whole = report(&campaign, &table, Context::default()).unwrap();
    assert!(whole.holds());
    let report = report(&campaign, &table, context).unwrap();
    assert!(!report.holds());
    let text = text(&report, Paint::Plain).replace(pauseless_run::VERSION, "0.1.0");
    check(
        &text,
        expect![[r#"
            table1-quick: Random fat trees with failed links: how many deadlock
            5,760 of 5,772 runs, made by pauseless 0.1.0 with: pauseless sweep table1.sweep.toml --size quick
            How the runs ended: 5,646 lasted their whole duration, 114 found a deadlock.
            Found: 114 runs with a deadlock, 360 with a starved flow, none with losses.
            3,726 runs repeat the run of another seed in every time that was kept: bands over seeds are too narrow there. A `jitter` of an incast, or `timing.start_jitter` of other traffic, makes seeds differ.
            12 runs missing; the command above makes them.
              task 00ff: k = 4, network = 17, discipline = output-queued, scheme = PFC, thresholds = paper
              .. and 11 more

              met so far    GFC deadlocks in none
                            asked for: none
                            measured: 0 of 2,880 runs, 0 % (95 % interval 0 to 0.1 %)
                            12 of 5,772 runs are missing
              met so far    cycle-aware thresholds leave fewer networks to deadlock under PFC
                            asked for: fewer than with thresholds = paper
                            measured: 2 of 120 networks, 1.7 % (95 % interval 0.5 to 5.9 %)
                            against: 50 of 120 networks, 41.7 % (95 % interval 33.2 to 50.6 %)
                            12 of 5,772 runs are missing
              not met       cycle-aware PFC deadlocks in none
                            asked for: none
                            measured: 4 of 720 runs, 0.6 % (95 % interval 0.2 to 1.4 %)
                            12 of 5,772 runs are missing
                            why: one network deadlocks still
              other size    PFC deadlocks at k = 16
                            judged with --size full only

            Networks in which any of three seeds deadlocks or starves
              k  discipline     scheme                  deadlock, paper    deadlock, cycle-aware               starved, paper  starved, cycle-aware
              4  output-queued  PFC         20/60 33.3 % (22.7 to 45.9)  1/60 1.7 % (0.3 to 8.9)   0/60    0 % (0 to 6.0)       0/60 0 % (0 to 6.0)
              4  output-queued  CBFC        19/60 31.7 % (21.3 to 44.2)  0/60   0 % (0 to 6.0)     0/60    0 % (0 to 6.0)       0/60 0 % (0 to 6.0)
              4  output-queued  GFC buffer   0/60    0 % (0 to 6.0)      0/60   0 % (0 to 6.0)    30/60 50.0 % (37.7 to 62.3)   0/60 0 % (0 to 6.0)
              4  output-queued  GFC time     0/60    0 % (0 to 6.0)      0/60   0 % (0 to 6.0)    30/60 50.0 % (37.7 to 62.3)   0/60 0 % (0 to 6.0)
              4  input-queued   PFC         15/60 25.0 % (15.8 to 37.2)  1/60 1.7 % (0.3 to 8.9)   0/60    0 % (0 to 6.0)       0/60 0 % (0 to 6.0)
              4  input-queued   CBFC        14/60 23.3 % (14.4 to 35.4)  0/60   0 % (0 to 6.0)     0/60    0 % (0 to 6.0)       0/60 0 % (0 to 6.0)
              4  input-queued   GFC buffer   0/60    0 % (0 to 6.0)      0/60   0 % (0 to 6.0)     0/60    0 % (0 to 6.0)       0/60 0 % (0 to 6.0)
              4  input-queued   GFC time     0/60    0 % (0 to 6.0)      0/60   0 % (0 to 6.0)     0/60    0 % (0 to 6.0)       0/60 0 % (0 to 6.0)
              8  output-queued  PFC         12/60 20.0 % (11.8 to 31.8)  1/60 1.7 % (0.3 to 8.9)   0/60    0 % (0 to 6.0)       0/60 0 % (0 to 6.0)
              8  output-queued  CBFC        11/60 18.3 % (10.6 to 29.9)  0/60   0 % (0 to 6.0)     0/60    0 % (0 to 6.0)       0/60 0 % (0 to 6.0)
              8  output-queued  GFC buffer   0/60    0 % (0 to 6.0)      0/60   0 % (0 to 6.0)    30/60 50.0 % (37.7 to 62.3)   0/60 0 % (0 to 6.0)
              8  output-queued  GFC time     0/60    0 % (0 to 6.0)      0/60   0 % (0 to 6.0)    30/60 50.0 % (37.7 to 62.3)   0/60 0 % (0 to 6.0)
              8  input-queued   PFC         10/60 16.7 % (9.3 to 28.0)   1/60 1.7 % (0.3 to 8.9)   0/60    0 % (0 to 6.0)       0/60 0 % (0 to 6.0)
              8  input-queued   CBFC         9/60 15.0 % (8.1 to 26.1)   0/60   0 % (0 to 6.0)     0/60    0 % (0 to 6.0)       0/60 0 % (0 to 6.0)
              8  input-queued   GFC buffer   0/60    0 % (0 to 6.0)      0/60   0 % (0 to 6.0)     0/60    0 % (0 to 6.0)       0/60 0 % (0 to 6.0)
              8  input-queued   GFC time     0/60    0 % (0 to 6.0)      0/60   0 % (0 to 6.0)     0/60    0 % (0 to 6.0)       0/60 0 % (0 to 6.0)
        "#]],
    );
}

fn parts(sections: &str) -> Vec<Part> {
    let (campaign, table) = buffers(sections);
    report(&campaign, &table, Context::default()).unwrap().parts
}

#[test]
fn a_line_has_the_median_of_each_place_and_its_bounds() {
    let sections = "[[report]]\nkind = \"line\"\nname = \"a\"\nx = \"xoff\"\n\
                    of = \"fct_mean_us\"\nby = [\"scheme\"]\nwhere = { rate = \"5 Gbps\" }";
    let [part] = &parts(sections)[..] else { unreachable!() };
    let panel = &part.figures[0].panels[0];
    assert_eq!(panel.x.label, "xoff (KB)");
    assert_eq!(panel.y.label, "fct mean (us)");
    let pfc = &panel.series[0];
    assert_eq!((pfc.label.as_str(), pfc.points.len()), ("PFC", 5));
    // 30 + 12 - 5 and the middle of 0 to 9; the second and the ninth of ten.
    assert_eq!(pfc.points[1], (50.0, 41.5));
    assert_eq!(pfc.spread.ends()[1], [38.0, 45.0]);
    assert!(csv(&part.data).starts_with(
        "scheme,xoff_bytes,runs,fct_mean_us_median,fct_mean_us_low,fct_mean_us_high\n\
         PFC,20000,10,29.5,26,33\n"
    ));
}

#[test]
fn legends_name_the_axis_of_numbers() {
    let sections = "[[report]]\nkind = \"line\"\nname = \"a\"\nx = \"rate\"\n\
                    of = \"fct_mean_us\"\nby = [\"scheme\", \"xoff\"]\n\
                    [[report]]\nkind = \"cdf\"\nname = \"b\"\nof = \"fct_mean_us\"\nby = \"xoff\"";
    for part in parts(sections) {
        let series = &part.figures[0].panels[0].series;
        assert_eq!(series[0].label, "xoff = 20 KB");
    }
}

#[test]
fn a_distribution_rises_from_nothing_to_all_runs() {
    let sections = "[[report]]\nkind = \"cdf\"\nname = \"a\"\nof = \"fct_mean_us\"\n\
                    where = { xoff = \"20 KB\", rate = \"20 Gbps\", scheme = \"PFC\" }";
    let [part] = &parts(sections)[..] else { unreachable!() };
    // Seeds from the eighth on have a number: 22, 23, 24.
    let points = &part.figures[0].panels[0].series[0].points;
    let third = 1.0 / 3.0;
    assert_eq!(points, &[(22.0, 0.0), (22.0, third), (23.0, 2.0 * third), (24.0, 1.0)]);
    assert_eq!(part.notes, ["7 of 10 runs have no fct_mean_us and are not in it"]);
}

#[test]
fn a_map_has_a_mean_in_each_cell_and_none_where_nothing_was_measured() {
    let sections = "[[report]]\nkind = \"heatmap\"\nname = \"a\"\nx = \"rate\"\n\
                    y = \"xoff\"\nof = \"fct_mean_us\"\nby = \"scheme\"\n\
                    [[report]]\nkind = \"heatmap\"\nname = \"b\"\nx = \"rate\"\n\
                    y = \"scheme\"\nof = \"deadlock\"\ntake = \"proportion\"";
    let parts = parts(sections);
    let panels = &parts[0].figures[0].panels;
    assert_eq!(panels.len(), 2);
    let cells = &panels[1].heat.as_ref().unwrap().cells;
    // Of GFC: 30 + 12 - 5 rate + 4.5, then 12 more in each row.
    assert_eq!(cells[..4], [46.5, 41.5, 36.5, 31.5].map(Some));
    assert_eq!((cells.len(), cells[4]), (20, Some(58.5)));
    let shares = &parts[1].figures[0].panels[0].heat.as_ref().unwrap().cells;
    // Two of five sizes deadlock in 1, 3, 5, 7 of ten seeds.
    let round = |it: &Option<f64>| it.unwrap().round();
    assert_eq!(Vec::from_iter(shares[..4].iter().map(round)), [4.0, 12.0, 20.0, 28.0]);
    assert_eq!(shares[4..], [0.0; 4].map(Some));
    let head = "scheme,rate_bps,runs,deadlock_share,deadlock_low,deadlock_high\n";
    assert!(csv(&parts[1].data).starts_with(head));
}

#[test]
fn without_sections_the_usual_is_shown() {
    let parts = parts("");
    let names: Vec<&str> = parts.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["findings", "along-xoff_bytes", "along-rate_bps", "map", "distribution"]);
    assert!(parts.iter().all(|it| !it.figures.is_empty()));
    // How many warnings there are is nothing that a run measures.
    let axes = vec![axis("k", "", numbers([4.0, 8.0]))];
    let campaign = campaign(axes, &["deadlock", "warnings", "pauses"], "");
    let table = rows(&campaign, |_| (vec![Some(0.0); 3], "done"));
    let report = report(&campaign, &table, Context::default()).unwrap();
    assert_eq!(report.parts[1].title, "pauses along k");
}

#[test]
fn files_are_figures_tables_and_a_page() {
    let (campaign, table) = buffers("");
    let report = report(&campaign, &table, context()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    write(&report, folder.path()).unwrap();
    let (campaign, table) = table1(60);
    let other = super::report(&campaign, &table, context()).unwrap();
    write(&other, folder.path()).unwrap();
    // To be looked at: PLOT=folder keeps them.
    if let Some(kept) = std::env::var_os("PLOT") {
        for (name, report) in [("buffers", &report), ("table1", &other)] {
            write(report, &std::path::Path::new(&kept).join(name)).unwrap();
        }
    }
    let has = |name: &str| folder.path().join(name).metadata().unwrap().len() > 100;
    let figures = ["map", "distribution", "verdicts-deadlock", "verdicts-starved"];
    for name in figures {
        assert!(has(&format!("{name}.svg")) && has(&format!("{name}.png")), "{name}");
    }
    assert!(has("verdicts.csv") && has("verdicts.parquet") && has("report.json"));
    let page = std::fs::read_to_string(folder.path().join("report.html")).unwrap();
    assert!(page.contains("<b>33.3 %</b> <small>20 of 60; 22.7 to 45.9 %</small>"));
    assert!(page.contains("<span class=\"badge good\">met</span>"));
    assert!(!page.contains("<script"));
    let document: serde_json::Value = serde_json::from_str(&json(&other)).unwrap();
    assert_eq!(document["claims"][0]["met"], true);
    assert_eq!(document["reports"][0]["rows"][0]["deadlock_count"], 20.0);
}
