//! Readings of a paper: which runs they make, what claims are judged by, and what is counted.

use std::fs;
use std::ops::ControlFlow;

use pauseless_experiments::repro::catalogue::{self, Entry};
use pauseless_experiments::repro::claim::{Judged, Verdict};
use pauseless_experiments::repro::page::page;
use pauseless_experiments::repro::reading::Origin;
use pauseless_experiments::repro::scope::{Failure, Session};
use pauseless_experiments::repro::{Reproduced, Scale, json, reproduce, text};
use pauseless_run::table::Cells;
use pauseless_text::terminal::Paint;

/// Two hosts send to a third through one switch; the queue of the first is as long as XOFF says.
const SCENARIO: &str = r#"
title = "two into one"
duration = "200 us"
mtu = "1000 B"
[topology]
kind = "n-to-1"
senders = 2
rate = "10 Gbps"
delay = "1 us"
[switch]
buffer = "300 KB"
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
"#;

const HEAD: &str = r#"
title = "two into one"
cites = "nobody"
disciplines = ["output-queued", "virtual-output-queued"]
seconds = { quick = 1, full = 1 }
[[case]]
name = "low"
seeds = 2
[[case]]
name = "other"
[[reading]]
name = "late"
what = "XOFF is 90 KB"
source = "cited-code"
evidence = "its constructor"
change = [{ cases = ["low"], set = { "flow_control.xoff" = "90 KB", "flow_control.xon" = "88 KB" } }]
"#;

/// The queue is 40 KB as written, and 90 KB under the reading.
const CLAIM: &str = r#"
[[claim]]
text = "the queue is long"
paper = 90
unit = "KB"
value = "low/{d}/queue_max.S1:H1"
within_percent = 15
met = false
reason = "XOFF is 40 KB."
under = [{ reading = "late", met = true }]
"#;

fn entry(name: &str, claims: &str) -> Entry {
    let folder = format!("pauseless-readings-{}-{name}", std::process::id());
    let folder = std::env::temp_dir().join(folder);
    fs::create_dir_all(folder.join("own")).expect("a place on disk");
    fs::write(folder.join("own/star.toml"), SCENARIO).expect("a place on disk");
    fs::write(folder.join("own/star.claims.toml"), claims).expect("a place on disk");
    let all = catalogue::read(&folder);
    let _ = fs::remove_dir_all(&folder);
    all.unwrap_or_else(|it| panic!("{it}")).remove(0)
}

fn carry_out(entry: Entry, reading: Option<&str>) -> Result<Reproduced, Failure> {
    carry_out_at(Scale::Quick, entry, reading)
}

fn carry_out_at(scale: Scale, entry: Entry, reading: Option<&str>) -> Result<Reproduced, Failure> {
    let session = Session {
        scale,
        store: None,
        settings: &[],
        reading,
        keeps_documents: true,
        keeps_runs: false,
        watch: &|_, _, _| ControlFlow::Continue(()),
    };
    reproduce(entry, &session)
}

fn done(name: &str, claims: &str) -> Reproduced {
    carry_out(entry(name, claims), None).unwrap_or_else(|it| panic!("{it}"))
}

fn wrong(name: &str, claims: &str) -> String {
    match carry_out(entry(name, claims), None) {
        Ok(_) => panic!("{name} was carried out"),
        Err(failure) => failure.to_string(),
    }
}

fn verdicts(done: &Reproduced) -> Vec<Verdict> {
    done.claims.iter().map(|it| it.verdict).collect()
}

#[test]
fn only_what_a_reading_changes_is_run_again_and_the_claim_has_a_row_for_each() {
    let done = done("rows", &format!("{HEAD}{CLAIM}"));
    assert_eq!(verdicts(&done), [Verdict::Sourced]);
    let judged: &Judged = &done.claims[0];
    let holds = |judged: &Judged| Vec::from_iter(judged.findings.iter().map(|it| it.holds));
    assert_eq!(holds(judged), [false, false], "as written");
    assert_eq!(holds(&judged.readings[0].judged), [true, true]);
    assert_eq!(judged.source(), Some(Origin::CitedCode));
    assert!(!done.is_broken());
    // Two seeds and one, in two disciplines, and the two seeds of the case that is another.
    assert_eq!(done.documents.len(), 6 + 4);
    let values = &done.measured.tables[0];
    let Cells::Texts(readings) = &values.columns[1].cells else {
        panic!("readings are texts");
    };
    let Cells::Texts(names) = &values.columns[0].cells else {
        panic!("names are texts");
    };
    let again = names.iter().zip(readings).filter(|(_, reading)| *reading == "late");
    let again = Vec::from_iter(again);
    assert!(!again.is_empty() && again.iter().all(|(name, _)| name.starts_with("low/")));
}

#[test]
fn what_the_file_says_of_a_reading_must_come_out() {
    let with = |name: &str, met: &str| {
        let claims = format!("{HEAD}{CLAIM}").replace("met = true }]", &format!("{met} }}]"));
        done(name, &claims)
    };
    let stale = with("stale", "met = false, reason = 'r'");
    assert_eq!(verdicts(&stale), [Verdict::Unmarked]);
    let partly = with("partly", "met = ['output-queued'], reason = 'r'");
    assert_eq!(verdicts(&partly), [Verdict::Unmarked]);
    let broken = with("broken", "met = true, within = 1");
    assert_eq!(verdicts(&broken), [Verdict::Broken]);
    assert!(broken.is_broken());
    let not = with("not", "met = false, reason = 'r', within = 1");
    assert_eq!(verdicts(&not), [Verdict::NotMet]);
}

/// With `--full` XOFF is 90 KB, so that the queue is as long as the claim says without a reading.
#[test]
fn a_claim_may_be_met_at_one_scale_and_not_at_the_other() {
    let resized =
        "[full]\nset = { \"flow_control.xoff\" = \"90 KB\", \"flow_control.xon\" = \"88 KB\" }\n";
    let verdict_at = |scale: Scale, name: &str, claim: &str| {
        let claims = format!("{HEAD}{resized}{claim}");
        let done = carry_out_at(scale, entry(name, &claims), None);
        verdicts(&done.unwrap_or_else(|it| panic!("{it}")))
    };
    let marked = format!("{CLAIM}full = {{ met = true }}\n");
    assert_eq!(verdict_at(Scale::Quick, "marked-quick", &marked), [Verdict::Sourced]);
    assert_eq!(verdict_at(Scale::Full, "marked-full", &marked), [Verdict::Met]);
    assert_eq!(verdict_at(Scale::Full, "unmarked-full", CLAIM), [Verdict::Unmarked]);
    // The other way round: met in a quick run alone, and a reading that is met in a full run alone.
    let other = CLAIM
        .replace("paper = 90", "paper = 40")
        .replace("met = false\nreason = \"XOFF is 40 KB.\"", "met = true")
        .replace(
            "met = true }]",
            "met = false, reason = 'r', full = { met = true }, at_least = 80 }]",
        );
    let other = format!("{other}full = {{ met = false, reason = \"XOFF is 90 KB.\" }}\n");
    assert_eq!(verdict_at(Scale::Full, "other-full", &other), [Verdict::Sourced]);
    let other = other.replace("met = false, reason = 'r', full", "met = true, full");
    assert_eq!(verdict_at(Scale::Quick, "other-quick", &other), [Verdict::Met]);
}

/// A reading may read the words of a claim otherwise and change no run, and a claim is counted by
/// what holds as written first, then by the best source.
#[test]
fn a_claim_counts_once_and_by_its_strongest_standing() {
    let fitted = r#"
        [[reading]]
        name = "wide"
        what = "long is above 30 KB"
        source = "fitted"
        evidence = "tried"
        [[claim]]
        text = "a"
        paper = 90
        value = "low/{d}/queue_max.S1:H1"
        within = 10
        met = false
        reason = "r"
        under = [{ reading = "wide", met = true, at_least = 30 }]
        [[claim]]
        text = "b"
        paper = 90
        value = "low/{d}/queue_max.S1:H1"
        within = 10
        met = false
        reason = "r"
        under = [{ reading = "wide", met = true, at_least = 30 }]
        contradicted = { by = "equation 1", value = "low/output-queued/queue_max.S1:H1", at_most = 60 }
        [[claim]]
        text = "c"
        paper = "long"
        value = "low/{d}/queue_max.S1:H1"
        at_least = 20
        met = true
        under = [{ reading = "wide", met = true, at_least = 30 }]
    "#;
    let all = done("once", &format!("{HEAD}{CLAIM}{fitted}"));
    let expected = [Verdict::Sourced, Verdict::Fitted, Verdict::Contradicted, Verdict::Met];
    assert_eq!(verdicts(&all), expected);
    assert_eq!(all.documents.len(), 6 + 4, "words change no run");
    let report = text::report(&all, Paint::Plain);
    assert!(report.contains("read as wide (fitted): met; asked for: at least 30"), "{report}");
    assert!(report.contains("contradicted by: equation 1\n"), "{report}");
    let document = json::to_text(std::slice::from_ref(&all));
    for part in ["\"met only if fitted\": 1", "\"source\": \"cited-code\"", "\"equation 1\""] {
        assert!(document.contains(part), "{part}");
    }
    let page = page(std::slice::from_ref(&all));
    for line in [
        "1 experiments. Of the papers' claims 1 are met as written, 0 in some queueing disciplines \
         only; 1 are met under a sourced reading and 0 under one in some disciplines (1 cited code), \
         1 only if fitted; 1 are contradicted by the paper's own equations; 0 are not met. Each is \
         counted once. Of 0 claims of our own, which the papers do not make, 0 are met.",
        "| own | 4 | 1 | 0 | 3 | 1 | 0 | 1 | 1 | 0 |",
        "| `late` | XOFF is 90 KB | cited code | its constructor |",
        "pauseless repro own-star --reading late",
    ] {
        assert!(page.lines().any(|it| it == line), "{line}\n{page}");
    }
    assert!(page.contains("| *read as* late (cited code) | |  | 9"), "{page}");
    // What the paper is said to contradict must hold, too.
    let claims = format!("{HEAD}{CLAIM}{fitted}").replace("at_most = 60 }", "at_most = 6 }");
    assert_eq!(verdicts(&done("computed", &claims))[2], Verdict::Broken);
}

#[test]
fn one_reading_is_tried_alone() {
    let claims = format!(
        "{HEAD}{CLAIM}
        [[claim]]
        text = 'of another case'
        paper = 40
        value = 'other/{{d}}/queue_max.S1:H1'
        factor = 2
        met = true
        "
    );
    let alone = carry_out(entry("alone", &claims), Some("late"));
    let alone = alone.unwrap_or_else(|it| panic!("{it}"));
    assert_eq!(verdicts(&alone), [Verdict::Sourced]);
    assert_eq!(alone.documents.len(), 4 + 4, "the other case is not run");
    let wrong = carry_out(entry("typo", &claims), Some("lat")).expect_err("none").to_string();
    assert!(wrong.ends_with("no reading is called \"lat\"; did you mean late?"), "{wrong}");
    let none = carry_out(entry("none", &claims), Some("xyzzy")).expect_err("none").to_string();
    assert!(none.contains("pauseless repro --list names all"), "{none}");
}

#[test]
fn careless_readings_are_refused_at_their_places() {
    let good = format!("{HEAD}{CLAIM}");
    for (name, from, to, message) in [
        ("unknown", "reading = \"late\"", "reading = \"lata\"", "did you mean late?"),
        ("unused", "under = [{ reading = \"late\", met = true }]", "", "no claim is judged under"),
        ("case", "cases = [\"low\"]", "cases = [\"lwo\"]", "did you mean low?"),
        ("source", "\"cited-code\"", "\"cited\"", "unknown value \"cited\""),
        ("evidence", "evidence = \"its constructor\"", "", "evidence: missing"),
        ("reason", "\"late\", met = true", "\"late\", met = false", "needs a reason"),
        (
            "key",
            "\"late\", met = true",
            "\"late\", met = true, atleast = 3",
            "did you mean at_least?",
        ),
        ("name", "name = \"late\"", "name = \"so late\"", "no blank, /, @ or : in a name"),
        ("path", "\"flow_control.xoff\" =", "\"flow.F9.xoff\" =", "there is no \"F9\""),
        ("full", "under = [", "full = { met = false }\nunder = [", "needs a reason"),
        (
            "full-only",
            "under = [",
            "scale = 'full'\nfull = { met = true }\nunder = [",
            "judged at one scale only",
        ),
        ("metric", "\"late\", met = true", "\"late\", met = true, value = 'low/{d}/rats'", "rats"),
        (
            "met",
            "met = false\n",
            "met = true\ncontradicted = { by = 'x' }\n",
            "contradicted, but met",
        ),
    ] {
        let claims = good.replace(from, to);
        assert_ne!(claims, good, "{from}");
        let told = wrong(name, &claims);
        assert!(told.contains(message), "{name}: {told}");
    }
    let twice = good.clone() + &HEAD[HEAD.find("[[reading]]").expect("a reading")..];
    assert!(wrong("twice", &twice).contains("reading \"late\" is there twice"));
}
