//! The testbed between real namespaces.

#![cfg(target_os = "linux")]

mod place;

use std::io::ErrorKind;
use std::sync::{Mutex, MutexGuard, PoisonError};

use pauseless_dataplane::net::Namespace;
use place::Place;
use serde_json::Value;

/// Whether the kernel lets us make namespaces. Any other reason why there are none is a failure.
fn is_allowed() -> bool {
    match Namespace::new() {
        Err(error) if error.kind() == ErrorKind::PermissionDenied => {
            eprintln!("skipped: {error}");
            false
        }
        Err(error) => panic!("no namespace: {error}"),
        Ok(_) => true,
    }
}

fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

/// One testbed at a time: those in real time want the machine for themselves.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The runs of a testbed between namespaces, in none of which anything was lost.
fn runs(place: &Place, args: &[&str]) -> Vec<Value> {
    let done = place.run(&[&["testbed", "--json"], args].concat());
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    let document: Value = serde_json::from_str(&done.stdout).expect("JSON");
    let runs = document["runs"].as_array().expect("runs").clone();
    for run in &runs {
        let (name, measured) = (&run["name"], &run["measured"]);
        assert_eq!(measured["backend"], "packet");
        for count in
            ["sequence_gaps", "reordered", "duplicates", "overruns", "kernel_drops", "vanished"]
        {
            assert_eq!(measured[count], 0, "{name}: {count}");
        }
        assert_eq!(run["lost_packets"], 0, "{name}");
    }
    runs
}

/// Whether every flow has half of its link before the sources stop, within 2 %.
fn is_half(run: &Value) -> bool {
    let flows = run["flows"].as_array().expect("flows");
    let rates = flows.iter().map(|flow| number(&flow["goodput_late_bps"]));
    let half = 100e6;
    rates.into_iter().all(|rate| (rate / half - 1.0).abs() < 0.02)
}

/// What the GFC paper's ring does on real frames when its switches queue at the output.
#[test]
fn behind_output_queues_pfc_and_credits_deadlock_and_cycle_aware_gfc_has_half_of_every_link() {
    if !is_allowed() {
        return;
    }
    let (_alone, place) = (alone(), Place::new());
    let runs = runs(&place, &[]);
    assert_eq!(runs.len(), 6);
    for run in &runs {
        let name = run["name"].as_str().expect("a name");
        assert_eq!(run["measured"]["tau_exceeded"], false, "{name}");
        let is_deadlocking = matches!(name, "pfc" | "cbfc");
        assert_eq!(!run["deadlock"].is_null(), is_deadlocking, "{name}");
        let is_starving = matches!(name, "gfc-buffer" | "gfc-time");
        assert_eq!(!run["starvation"].is_null(), is_starving, "{name}");
        let is_free = name.ends_with("cycle-aware");
        assert_eq!(is_half(run), is_free, "{name}: {}", run["flows"]);
        // The simulator says the same.
        let simulated = &run["simulated"];
        assert_eq!(!simulated["deadlock_ps"].is_null(), is_deadlocking);
        if is_deadlocking {
            let cycle = run["deadlock"]["cycle"].as_array().expect("a cycle");
            assert_eq!(cycle.len(), 3, "{name}");
            assert!(number(&run["held_bytes_at_end"]) > 0.0, "{name}");
        }
    }
}

#[test]
fn behind_virtual_output_queues_plain_gfc_has_half_of_every_link() {
    if !is_allowed() {
        return;
    }
    let (_alone, place) = (alone(), Place::new());
    let only = ["--only", "gfc-buffer,gfc-time"];
    let discipline = ["--discipline", "virtual-output-queued"];
    let runs = runs(&place, &[only, discipline].concat());
    assert_eq!(runs.len(), 2);
    for run in &runs {
        assert!(is_half(run), "{}: {}", run["name"], run["flows"]);
        assert!(run["deadlock"].is_null() && run["starvation"].is_null());
    }
}

#[test]
fn a_deadlock_on_real_frames_can_be_denied() {
    if !is_allowed() {
        return;
    }
    let (_alone, place) = (alone(), Place::new());
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
    let (_alone, place) = (alone(), Place::new());
    let only = ["--only", "gfc-buffer-cycle-aware", "--duration", "2 s"];
    let runs = runs(&place, &[&["--processes"], &only[..]].concat());
    let run = &runs[0];
    assert_eq!(run["measured"]["clock"], "real");
    for flow in run["flows"].as_array().expect("flows") {
        // Half of the line is 25 Mb/s; a machine that is busy has less time for it.
        let rate = number(&flow["goodput_bps"]) / 1e6;
        assert!((2.0..30.0).contains(&rate), "{rate} Mb/s");
    }
}

#[test]
fn a_scenario_without_a_probe_is_judged_all_the_same() {
    let place = Place::new();
    let args = ["testbed", "--backend", "memory", "--quiet", "none.toml"];
    place.write("none.toml", UNPROBED);
    let done = place.run(&args);
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    assert_eq!(done.stdout.matches("no finding").count(), 2, "{}", done.stdout);
    let last = "No curves were recorded; the findings are in pauseless-testbed.html.\n";
    assert!(done.stdout.ends_with(last), "{}", done.stdout);
}

const UNPROBED: &str = r#"
duration = "20 ms"
[topology]
kind = "ring"
switches = 3
hosts_per_switch = 1
rate = "200 Mbps"
delay = "1 us"
[switch]
buffer = "312 KB"
[flow_control]
kind = "pfc"
xoff = "150 KB"
xon = "147 KB"
[[flow]]
source = "H1"
target = "H3"
"#;

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
    refused(&["--processes", "--backend", "memory"], "processes share no memory");
    refused(
        &["--processes", "--deny", "loss,deadlock"],
        "nobody looks for deadlocks with --processes",
    );
    refused(&["--backend", "memory", "--pcap", "ring.pcapng"], "--pcap is for one scenario");
    let scenario = "scenarios/gfc-fig5-conceptual.toml";
    refused(&["--backend", "memory", scenario], "not on a real wire");
}
