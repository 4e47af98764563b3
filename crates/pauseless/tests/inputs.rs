//! One input in four shapes: as it is, gzipped, with a byte order mark, and through a pipe. All
//! commands that take scenarios or campaigns make the same of them.

mod place;

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::thread;

use flate2::Compression;
use flate2::write::GzEncoder;
use place::{Done, Place};

/// How a file comes to the program.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Shape {
    Plain,
    Packed,
    Marked,
    Piped,
}

const SHAPES: [Shape; 4] = [Shape::Plain, Shape::Packed, Shape::Marked, Shape::Piped];

const RING: &str = include_str!("../../../scenarios/gfc-ring.toml");

/// A campaign of eight short runs.
const CAMPAIGN: &str = "
scenario = 'SCENARIO'
keep = ['pauses', 'rate.min']
[[axis]]
key = 'flow.F1.rate'
values = ['2 Gbps', '10 Gbps']
[[axis]]
key = 'duration'
values = ['2 ms']
[[axis]]
key = 'seed'
seeds = 4
";

impl Shape {
    fn folder(self) -> String {
        format!("{self:?}")
    }

    /// The name of `file` in this shape, in a folder of its own.
    fn name(self, file: &str) -> String {
        let ending = if self == Shape::Packed { ".gz" } else { "" };
        format!("{}/{file}{ending}", self.folder())
    }

    /// Puts `text` there. A pipe gives it to one reader.
    fn put(self, place: &Place, file: &str, text: &str) {
        let path = place.path(&self.name(file));
        fs::create_dir_all(place.path(&self.folder())).expect("a folder");
        match self {
            Shape::Plain => fs::write(path, text).expect("a file"),
            Shape::Marked => fs::write(path, format!("\u{feff}{text}")).expect("a file"),
            Shape::Packed => {
                let file = File::create(path).expect("a file");
                let mut packed = GzEncoder::new(file, Compression::default());
                packed.write_all(text.as_bytes()).expect("a file");
                packed.finish().expect("a file");
            }
            Shape::Piped => pipe(&path, text.to_string()),
        }
    }
}

fn pipe(path: &Path, text: String) {
    let made = Command::new("mkfifo").arg(path).status();
    assert!(made.expect("mkfifo").success());
    let path = path.to_path_buf();
    thread::spawn(move || fs::write(path, text).expect("a reader"));
}

/// What a command says about `ring.toml` in each shape, without what tells the shapes apart.
fn answers(args: &[&str], place: &Place) -> Vec<Done> {
    let answer = |shape: Shape| {
        let _ = fs::remove_dir_all(place.path(&shape.folder()));
        shape.put(place, "ring.toml", RING);
        let name = shape.name("ring.toml");
        let mut all = vec![args[0], &name];
        all.extend(&args[1..]);
        let mut done = place.run(&all);
        done.stdout = done.stdout.replace(&name, "ring.toml");
        done.stderr = done.stderr.replace(&name, "ring.toml");
        // The only thing that differs from one time to the next.
        let lines = done.stdout.lines();
        let lines = lines.filter(|line| !line.contains("\"wall_s\""));
        done.stdout = Vec::from_iter(lines).join("\n");
        done
    };
    SHAPES.into_iter().map(answer).collect()
}

#[test]
fn scenarios_are_read_alike() {
    let place = Place::new();
    for (args, code, word) in [
        (&["run", "--json", "--duration", "2 ms"][..], 0, "\"pfc\""),
        (&["run", "--quiet"], 0, "deadlock at "),
        (&["check"], 1, "cycle"),
        (&["explain"], 0, "XOFF"),
        (
            &[
                "threshold",
                "--vary",
                "flow.F1.rate",
                "--from",
                "1 Gbps",
                "--to",
                "10 Gbps",
                "--find",
                "deadlock",
                "--seeds",
                "1",
                "--duration",
                "20 ms",
                "--json",
            ],
            0,
            "flow.F1.rate",
        ),
        (&["plan"], 0, "headroom"),
    ] {
        let all = answers(args, &place);
        for (done, shape) in all.iter().zip(SHAPES) {
            let said = (&done.stdout, &done.stderr);
            assert_eq!(done.code, Some(code), "{args:?} {shape:?}: {said:?}");
            assert!(done.stdout.contains(word), "{args:?} {shape:?}: {said:?}");
            assert_eq!(done.stdout, all[0].stdout, "{args:?} {shape:?}");
            assert_eq!(done.stderr, all[0].stderr, "{args:?} {shape:?}");
        }
    }
}

#[test]
fn campaigns_and_their_scenarios_are_read_alike() {
    let place = Place::new();
    let results = SHAPES.map(|shape| {
        shape.put(&place, "ring.toml", RING);
        let scenario = shape.name("ring.toml");
        let scenario = scenario.rsplit('/').next().unwrap_or_default();
        shape.put(&place, "it.sweep.toml", &CAMPAIGN.replace("SCENARIO", scenario));
        let out = format!("out-{shape:?}");
        let done = place.run(&["sweep", &shape.name("it.sweep.toml"), "--out", &out, "--quiet"]);
        assert_eq!(done.code, Some(0), "{shape:?}: {}{}", done.stdout, done.stderr);
        fs::read(place.path(&out).join("results.parquet")).expect("results")
    });
    for (bytes, shape) in results.iter().zip(SHAPES) {
        assert!(bytes.len() > 100, "{shape:?}");
        assert!(bytes == &results[0], "{shape:?}");
    }
}

#[test]
fn files_that_a_scenario_names_may_be_packed_or_marked_too() {
    let place = Place::new();
    let rows = "source target size_bytes start_ps\nH1 R 100000 0\nH2 R 200000 5000000\n";
    let sizes = "1000 0.5\n100000 1\n";
    let text = "
duration = '1 ms'
[topology]
kind = 'n-to-1'
senders = 2
rate = '10 Gbps'
delay = '1 us'
[switch]
buffer = '100 KB'
[flow_control]
kind = 'pfc'
[[traffic]]
kind = 'list'
file = 'ROWS'
[[traffic]]
kind = 'poisson'
load = '20 %'
sizes = 'SIZES'
";
    let answers = [Shape::Plain, Shape::Packed, Shape::Marked].map(|shape| {
        shape.put(&place, "rows.txt", rows);
        shape.put(&place, "sizes.txt", sizes);
        let text = text.replace("ROWS", &shape.name("rows.txt"));
        place.write("it.toml", &text.replace("SIZES", &shape.name("sizes.txt")));
        let done = place.run(&["run", "it.toml", "--out", &shape.folder(), "--quiet"]);
        assert_eq!(done.code, Some(0), "{shape:?}: {}", done.stderr);
        place.text(&format!("{}/flows.csv", shape.folder()))
    });
    assert!(answers[0].lines().count() > 3, "{}", answers[0]);
    assert!(answers.iter().all(|answer| answer == &answers[0]));
}
