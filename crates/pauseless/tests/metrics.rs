//! `pauseless metrics`, and the tables that `run --parquet` writes.

mod place;

use pauseless_run::table::read::Book;
use pauseless_run::table::{self, Table};

use place::Place;

#[test]
fn metrics_are_listed_and_filtered() {
    let place = Place::new();
    let all = place.run(&["metrics"]);
    assert_eq!((all.code, all.stderr.as_str()), (Some(0), ""));
    for line in ["  slowdown{p}", "  held_ms{port}", "  queue{port}", "  deadlock "] {
        assert!(all.stdout.contains(line), "{line}: {}", all.stdout);
    }
    let few = place.run(&["metrics", "PAUSE"]).stdout;
    assert!(few.contains("pause_per_ms_per_link{layer}") && !few.contains("Jain"));
    let document = place.run(&["metrics", "slowdown", "--json"]).json();
    let numbers = document["numbers"].as_array().expect("a list");
    let percentile = numbers.iter().find(|it| it["needs"] == "p").expect("one");
    assert_eq!(percentile["example"], "slowdown{p=99}");
    assert_eq!(percentile["json"], "metrics.completion.slowdown_{}");
    let wrong = place.run(&["metrics", "slwodown"]);
    assert_eq!(wrong.code, Some(2));
    assert!(wrong.stderr.contains("did you mean slowdown?"), "{}", wrong.stderr);
}

/// What Parquet has is what CSV and JSON have.
#[test]
fn a_run_writes_tables() {
    let place = Place::new();
    let run = ["run", "scenarios/incast-shared.toml", "--parquet", "t", "--out", "o"];
    let done = place.run(&[&run[..], &["--json"]].concat());
    assert!(
        done.stderr.contains("wrote results.parquet, flows.parquet, ports.parquet"),
        "{}",
        done.stderr
    );
    let document = done.json();
    let read = |name: &str, columns: &[&str]| {
        let file = std::fs::File::open(place.path("t").join(name)).expect("a file");
        let book = Book::open(file).expect("a table");
        Table { name: name.to_string(), columns: book.read(0, columns).expect("its columns") }
    };
    let csv = place.text("o/flows.csv");
    let head = Vec::from_iter(csv.lines().next().expect("a head").split(','));
    assert_eq!(table::csv(&read("flows.parquet", &head)), csv);
    let results = read("results.parquet", &["finished", "fct_max_us", "ended"]);
    let completion = &document["metrics"]["completion"];
    let longest = completion["fct_max_ps"].as_u64().expect("some have finished");
    let expected = format!(
        "finished,fct_max_us,ended\n{},{},duration\n",
        completion["finished"],
        longest as f64 / 1e6
    );
    assert_eq!(table::csv(&results), expected);
    let ports = table::csv(&read("ports.parquet", &["port", "sent_bytes", "held_first_ps"]));
    let first = &document["metrics"]["ports"][0];
    let name = first["port"].as_str().expect("a name");
    assert!(ports.contains(&format!("\n{name},{},", first["sent_bytes"])), "{ports}");
    let place = Place::new();
    place.write("file", "");
    let wrong = place.run(&["run", "scenarios/gfc-ring.toml", "--parquet", "file/t"]);
    assert_eq!(wrong.code, Some(2));
    assert!(wrong.stderr.contains("cannot create file/t"), "{}", wrong.stderr);
}
