//! Inputs at the limits: names without end, text that a terminal would obey, pipes that nobody writes
//! to, addresses that are refused.

mod place;

use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use place::Place;

const RING: &str = include_str!("../../../scenarios/gfc-ring.toml");

#[test]
fn a_name_may_be_longer_than_any_column() {
    let place = Place::new();
    let long = "x".repeat(65_536);
    place.write("long.toml", &RING.replace("\"F1\"", &format!("\"{long}\"")));
    for args in [&["run", "long.toml", "--duration", "1 ms"][..], &["explain", "long.toml"]] {
        let done = place.run(args);
        assert_eq!(done.code, Some(0), "{args:?}: {}", &done.stderr[..done.stderr.len().min(500)]);
        assert!(args[0] == "explain" || done.stdout.contains(&long), "{args:?}");
    }
    place.write("node.toml", &RING.replace("title = \"PFC", &format!("title = \"{long}")));
    let pcap = ["run", "node.toml", "--duration", "10 us", "--pcap", "a.pcapng", "--out", "out"];
    assert_eq!(place.run(&pcap).code, Some(0));
}

#[test]
fn a_terminal_obeys_no_title_name_or_path() {
    let place = Place::new();
    let hostile = "\\u001b]0;owned\\u0007\\u001b[2J";
    place.write("title.toml", &RING.replace("title = \"PFC", &format!("title = \"{hostile}")));
    let unknown = "no-such-\x1b[2Jfile.toml";
    for color in ["never", "always"] {
        for args in [
            &["run", "title.toml", "--duration", "1 ms"][..],
            &["run", "title.toml", "--duration", "100 ms", "--deny", "deadlock"],
            &["run", "title.toml", "--json", "--duration", "1 ms"],
            &["explain", "title.toml"],
            &["check", unknown],
            &["run", unknown],
        ] {
            let done = place.run(&[&["--color", color], args].concat());
            for text in [&done.stdout, &done.stderr] {
                assert!(!text.contains("\x1b]") && !text.contains("\x1b[2J"), "{args:?}: {text:?}");
                assert!(color == "always" || !text.contains('\x1b'), "{args:?}: {text:?}");
            }
            let is_shown = [&done.stdout, &done.stderr].iter().any(|it| it.contains("\\u001b"));
            assert!(is_shown || args[0] == "explain", "{args:?}: {}", done.stdout);
        }
    }
    // What is for programs is as it was.
    let document = place.run(&["run", "title.toml", "--json", "--duration", "1 ms"]).json();
    assert!(document["title"].as_str().is_some_and(|title| title.starts_with("\x1b]0;owned")));
}

#[test]
fn a_pipe_that_nobody_writes_to_is_not_waited_for_without_end() {
    let place = Place::new();
    let fifo = |name: &str| {
        assert!(Command::new("mkfifo").arg(place.path(name)).status().expect("mkfifo").success());
    };
    fifo("pipe");
    let begin = Instant::now();
    let done = place.run(&["run", "pipe"]);
    assert_eq!(done.code, Some(2));
    assert!(
        done.stderr.starts_with("pauseless: pipe: cannot be read: nobody wrote"),
        "{}",
        done.stderr
    );
    assert!(begin.elapsed() < Duration::from_secs(30));

    place.write("scenario.toml", RING);
    let campaign = "scenario = 'scenario.toml'\n[[axis]]\nkey = 'seed'\nseeds = 1\n\
                    [[axis]]\nkey = 'duration'\nvalues = ['10 us']\n";
    place.write("it.sweep.toml", campaign);
    let sweep = ["sweep", "it.sweep.toml", "--out", "out", "--quiet"];
    assert_eq!(place.run(&sweep).code, Some(0));
    fs::create_dir_all(place.path("out/journal")).expect("a folder");
    fifo("out/journal/x.jsonl");
    let done = place.run(&sweep);
    assert_eq!(done.code, Some(2));
    assert!(done.stderr.contains("out/journal/x.jsonl: not a file"), "{}", done.stderr);
}

#[cfg(target_os = "linux")]
#[test]
fn a_check_refuses_what_the_run_would_refuse() {
    let place = Place::new();
    let args = ["switch", "--config", "testbeds/three-machines/S1.toml", "--check"];
    for (metrics, code) in [("0.0.0.0:80", 2), ("127.0.0.1:9464", 0)] {
        let done = place.run(&[&args[..], &["--metrics", metrics]].concat());
        assert_eq!(done.code, Some(code), "{}", done.stderr);
        assert_eq!(done.stderr.contains("loopback only"), code == 2, "{}", done.stderr);
    }
    let done = place.run(&[&args[..], &["--pcap", "no/such/folder.pcapng"]].concat());
    assert_eq!(done.code, Some(2));
}
