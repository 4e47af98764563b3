//! What a reproduction leaves behind: figures, data, and the page of all results.

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;

use pauseless_experiments::repro::catalogue;
use pauseless_experiments::repro::page::page;
use pauseless_experiments::repro::scope::Session;
use pauseless_experiments::repro::write::{write, write_page};
use pauseless_experiments::repro::{Reproduced, Scale, reproduce};

const SCENARIO: &str = r#"
title = "Two senders and one receiver"
duration = "200 us"

[topology]
kind = "n-to-1"
senders = 2
rate = "10 Gbps"
delay = "1 us"

[switch]
buffer = "300 KB"

[flow_control]
kind = "pfc"
xoff = "200 KB"
xon = "197 KB"

[[flow]]
name = "F1"
source = "H1"
target = "R"

[[flow]]
name = "F2"
source = "H2"
target = "R"

[probe]
flows = ["F1", "F2"]
resolution = "10 us"
"#;

const CLAIMS: &str = r#"
title = "Two flows share a link"
cites = "Nobody, section 1, Fig. 1"
disciplines = ["output-queued", "input-queued"]
seconds = { quick = 1, full = 1 }

[[choice]]
what = "link delay"
ours = "1 us"
why = "not <stated> | anywhere"

[[case]]
name = "PFC"

[[claim]]
text = "no deadlock"
paper = "none"
value = "PFC/{d}/deadlock"
at_most = 0
met = true

[[claim]]
text = "each has a tenth of the link"
paper = 1
unit = "Gb/s"
value = "PFC/output-queued/rate.F1"
within = 0.1
met = false
reason = "They have a half."

[[figure]]
name = "rates"
caption = "Rates of both flows"
kind = "time"
series = ["goodput.F1", "goodput.F2"]
y = "goodput (Gb/s)"
"#;

fn done(folder: &Path) -> Vec<Reproduced> {
    let paper = folder.join("in/nobody");
    fs::create_dir_all(&paper).unwrap();
    fs::write(paper.join("fig1.toml"), SCENARIO).unwrap();
    fs::write(paper.join("fig1.claims.toml"), CLAIMS).unwrap();
    let entries = catalogue::read(&folder.join("in")).unwrap();
    let session = Session {
        scale: Scale::Quick,
        store: None,
        settings: &[],
        reading: None,
        keeps_documents: false,
        keeps_runs: false,
        watch: &|_, _, _| ControlFlow::Continue(()),
    };
    let all = entries.into_iter().map(|entry| reproduce(entry, &session));
    all.map(|done| done.unwrap_or_else(|failure| panic!("{failure}"))).collect()
}

#[test]
fn an_experiment_leaves_figures_data_and_a_page() {
    let folder = tempfile::tempdir().unwrap();
    let all = done(folder.path());
    let out = folder.path().join("out");
    write(&all[0], &out).unwrap();
    let mut files: Vec<String> = fs::read_dir(&out)
        .unwrap()
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .collect();
    files.sort();
    let data = ["curves.csv", "curves.parquet", "values.csv", "values.parquet"];
    assert_eq!(files[..2], data[..2]);
    assert_eq!(files[2..4], ["rates.png", "rates.svg"]);
    assert_eq!(files[4], "report.html");
    assert_eq!(files[5..], data[2..]);
    let csv = fs::read_to_string(out.join("curves.csv")).unwrap();
    assert!(csv.starts_with("case,time_ms,goodput.F1,goodput.F2\nPFC/output-queued,"));

    let text = page(&all);
    // No wall clock and no order of threads is in it.
    assert_eq!(text, page(&done(folder.path())));
    for line in [
        "1 experiments. Of the papers' claims 1 are met as written, 0 in some queueing disciplines \
         only; 0 are met under a sourced reading and 0 under one in some disciplines, 0 only if \
         fitted; 0 are contradicted by the paper's own equations; 1 are not met. Each is counted \
         once. Of 0 claims of our own, which the papers do not make, 0 are met.",
        "| claim | paper | asked for | output-queued | input-queued | verdict |",
        "| no deadlock | none | at most 0 | 0: yes | 0: yes | met |",
        "- each has a tenth of the link: They have a half.",
        "| link delay | 1 us | not &lt;stated> \\| anywhere |",
        "![Rates of both flows](nobody/figures/fig1-rates.svg)",
    ] {
        assert!(text.lines().any(|it| it == line), "{line}\n{text}");
    }
    let file = folder.path().join("README.md");
    write_page(&all, &file).unwrap();
    assert_eq!(fs::read_to_string(&file).unwrap(), text);
    let drawn = folder.path().join("nobody/figures/fig1-rates.svg");
    assert!(fs::read_to_string(drawn).unwrap().contains("(b) PFC,"));
}
