//! The testbed between real namespaces.

#![cfg(target_os = "linux")]

mod place;

use std::io::ErrorKind;

use pauseless_dataplane::net::Namespace;
use place::Place;
use serde_json::Value;

/// Whether the kernel lets us make namespaces.
fn is_allowed() -> bool {
    match Namespace::new() {
        Err(error) if error.kind() == ErrorKind::PermissionDenied => {
            eprintln!("skipped: {error}");
            false
        }
        made => made.is_ok(),
    }
}

fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

#[test]
fn the_ring_over_veth_deadlocks_and_flows_as_it_should_and_loses_nothing() {
    if !is_allowed() {
        return;
    }
    let place = Place::new();
    let only = "pfc,cbfc,gfc-buffer-cycle-aware";
    let done = place.run(&["testbed", "--json", "--only", only, "--duration", "400 ms"]);
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    let document: Value = serde_json::from_str(&done.stdout).expect("JSON");
    for run in document["runs"].as_array().expect("runs") {
        let name = run["name"].as_str().expect("a name");
        let measured = &run["measured"];
        assert_eq!(measured["backend"], "packet");
        for count in [
            "sequence_gaps",
            "reordered",
            "duplicates",
            "overruns",
            "kernel_drops",
        ] {
            assert_eq!(measured[count], 0, "{name}: {count}");
        }
        assert_eq!(measured["tau_exceeded"], false, "{name}");
        assert_eq!(run["lost_packets"], 0, "{name}");
        let is_free = name.starts_with("gfc");
        assert_eq!(run["deadlock"].is_null(), is_free, "{name}");
        for flow in run["flows"].as_array().expect("flows") {
            let rate = number(&flow["goodput_late_bps"]) / 1e6;
            match is_free {
                true => assert!((98.0..=102.0).contains(&rate), "{name}: {rate} Mb/s"),
                false => assert_eq!(rate, 0.0, "{name}"),
            }
        }
    }
    let denied = ["testbed", "--quiet", "--only", "pfc", "--duration", "60 ms"];
    let done = place.run(&[&denied[..], &["--deny", "deadlock"]].concat());
    assert_eq!(done.code, Some(1), "{}", done.stderr);
    assert_eq!(done.stderr, "pauseless: denied: deadlock\n");
    assert!(place.text("pauseless-testbed.html").contains("deadlock at"));
}

#[test]
fn a_process_per_node_makes_progress_and_nothing_overflows() {
    if !is_allowed() {
        return;
    }
    let place = Place::new();
    let only = "gfc-buffer-cycle-aware";
    let done = place.run(&[
        "testbed",
        "--json",
        "--processes",
        "--only",
        only,
        "--duration",
        "2 s",
    ]);
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    let document: Value = serde_json::from_str(&done.stdout).expect("JSON");
    let run = &document["runs"][0];
    assert_eq!(run["measured"]["clock"], "real");
    assert_eq!(run["measured"]["overruns"], 0);
    assert_eq!(run["measured"]["sequence_gaps"], 0);
    for flow in run["flows"].as_array().expect("flows") {
        // Half of the line is 25 Mb/s; a machine that is busy has less time for it.
        let rate = number(&flow["goodput_bps"]) / 1e6;
        assert!((2.0..30.0).contains(&rate), "{rate} Mb/s");
    }
}

#[test]
fn what_cannot_be_is_refused() {
    let place = Place::new();
    let refused = |args: &[&str], words: &str| {
        let done = place.run(&[&["testbed"], args].concat());
        assert_eq!(done.code, Some(2), "{}", done.stderr);
        assert!(done.stderr.contains(words), "{}", done.stderr);
    };
    refused(&["--only", "gfc-tim"], "did you mean gfc-time?");
    refused(&["--backend", "dpdk"], "expected packet, xdp, memory");
    refused(
        &["--processes", "--backend", "memory"],
        "processes share no memory",
    );
    let scenario = "scenarios/gfc-fig5-conceptual.toml";
    refused(&["--backend", "memory", scenario], "not on a real wire");
}
