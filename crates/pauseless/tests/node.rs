//! Switches and hosts as processes on real interfaces, in namespaces of their own.

#![cfg(target_os = "linux")]

mod place;

use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use pauseless_dataplane::net::{self, Namespace};
use place::{Done, Place};
use serde_json::Value;

/// Two hosts at one switch; F1 goes from one to the other. So slow that no stall of the machine fills a
/// buffer.
const PAIR: &str = r#"
title = "Two hosts at a switch"
duration = "2 s"
[topology]
kind = "n-to-1"
senders = 1
rate = "10 Mbps"
delay = "1 us"
[switch]
buffer = "4 MB"
processing = "25 ms"
[flow_control]
kind = "pfc"
xoff = "2 MB"
[[flow]]
name = "F1"
source = "H1"
target = "R"
stop = "STOP"
"#;

const NODES: [(&str, &str); 3] = [
    ("S1", "[interfaces]\nH1 = \"s-h1\"\nR = \"s-r\"\n[wire]\nclock = \"real\"\n"),
    ("H1", "[interfaces]\nS1 = \"h1-s\"\n"),
    ("R", "[interfaces]\nS1 = \"r-s\"\n"),
];

/// The pair, its files and its namespaces; all gone when it is dropped.
struct Bed {
    place: Place,
    switch: Namespace,
    source: Namespace,
    target: Namespace,
}

impl Bed {
    /// `None` where the kernel does not let us make namespaces.
    fn new(stop: &str) -> Option<Bed> {
        let place = Place::new();
        place.write("pair.toml", &PAIR.replace("STOP", stop));
        for (name, rest) in NODES {
            let head = format!("scenario = \"pair.toml\"\nnode = \"{name}\"\n");
            place.write(&format!("{name}.toml"), &(head + rest));
        }
        let namespace = || match Namespace::new() {
            Err(error) if error.kind() == ErrorKind::PermissionDenied => {
                eprintln!("skipped: {error}");
                None
            }
            made => Some(made.expect("a namespace")),
        };
        let bed = Bed { place, switch: namespace()?, source: namespace()?, target: namespace()? };
        net::veth(bed.switch.end("s-h1"), bed.source.end("h1-s")).expect("a pair");
        net::veth(bed.switch.end("s-r"), bed.target.end("r-s")).expect("a pair");
        // The metrics of the switch are on its own loopback interface.
        let up = bed.switch.enter(|| net::set_up("lo", true));
        up.expect("a way there").expect("loopback is up");
        Some(bed)
    }

    /// Starts the node of this name with `args`.
    fn start(&self, name: &str, args: &[&str]) -> Process {
        let (namespace, command) = match name {
            "S1" => (&self.switch, "switch"),
            "H1" => (&self.source, "host"),
            _ => (&self.target, "host"),
        };
        let file = format!("{name}.toml");
        let all = [&[command, "--config", &file, "--json"], args].concat();
        let mut command = self.place.command(&all);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = namespace.enter(|| command.spawn());
        Process { child: child.expect("a way there").expect("the program starts") }
    }
}

/// A node; killed if a test fails before its end.
struct Process {
    child: Child,
}

impl Process {
    /// The first line on stderr with this in it.
    fn line_with(&mut self, part: &str) -> String {
        let stderr = self.child.stderr.as_mut().expect("it is piped");
        // Byte by byte, so that nothing is lost to whoever reads on.
        let mut lines = BufReader::with_capacity(1, stderr).lines();
        let mut line = lines.find(|line| line.as_ref().is_ok_and(|line| line.contains(part)));
        line.take().expect("it says so").expect("text")
    }

    fn signal(&self, signal: &str) {
        let id = self.child.id().to_string();
        let killed = Command::new("kill").args([signal, &id]).status();
        assert!(killed.expect("kill is there").success());
    }

    /// Waits for its end, and returns its document.
    fn document(mut self) -> Value {
        let (mut stdout, mut stderr) = (String::new(), String::new());
        let out = self.child.stdout.take().expect("it is piped");
        let mut err = self.child.stderr.take().expect("it is piped");
        BufReader::new(out).read_to_string(&mut stdout).expect("text");
        err.read_to_string(&mut stderr).expect("text");
        let status = self.child.wait().expect("it ends");
        let done = Done { code: status.code(), stdout, stderr };
        assert_eq!(done.code, Some(0), "{}", done.stderr);
        let document = done.json();
        let schema = pauseless::schema::Document::named("node").expect("there is one").schema();
        let validator = jsonschema::validator_for(&schema).expect("the schema is one");
        let wrong = Vec::from_iter(validator.iter_errors(&document).map(|it| it.to_string()));
        assert!(wrong.is_empty(), "{wrong:#?}");
        document
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It has ended unless something went wrong.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn port<'d>(document: &'d Value, neighbour: &str) -> &'d Value {
    let ports = document["ports"].as_array().expect("a list");
    let found = ports.iter().find(|port| port["neighbour"] == neighbour);
    &found.expect("the port")["counters"]
}

#[test]
fn what_is_sent_is_received_and_documents_and_metrics_say_so() {
    let Some(bed) = Bed::new("1 s") else { return };
    let mut switch = bed.start("S1", &["--metrics", "127.0.0.1:0"]);
    let line = switch.line_with("/metrics");
    let address = line.split("http://").nth(1).expect("an address");
    let address = address.strip_suffix("/metrics").expect("a path");
    switch.line_with("s-r: AF_PACKET");
    let mut target = bed.start("R", &[]);
    target.line_with("r-s: AF_PACKET");
    let source = bed.start("H1", &["--for", "2 s", "--pcap", "H1.pcapng"]).document();
    let sent = source["sends"][0]["frames"].as_u64().expect("a count");
    let page = bed.switch.enter(|| metrics_with_frames(address, sent));
    let page = page.expect("a way there");
    assert!(page.contains("# TYPE pauseless_port_sent_frames_total counter"));
    // What is on its way to the target now.
    std::thread::sleep(Duration::from_millis(1_000));
    let [switch, target] = [switch, target].map(|node| {
        node.signal("-TERM");
        node.document()
    });
    // One second at 10 Mb/s, or less where the machine stalls.
    assert!((50..=840).contains(&sent), "{sent}");
    let capture = std::fs::metadata(bed.place.path("H1.pcapng")).expect("a capture");
    assert!(capture.len() > sent * 1_496, "{capture:?}");
    assert_eq!(port(&switch, "H1")["received"], sent, "{switch}");
    assert_eq!(port(&switch, "R")["sent"], sent, "{switch}");
    let received = &target["receives"][0];
    assert_eq!(received["frames"], sent, "{target}");
    for nothing in ["missing", "reordered", "duplicates"] {
        assert_eq!(received[nothing], 0, "{nothing}");
    }
    assert_eq!(received["latency"]["count"], sent);
    for document in [&source, &switch, &target] {
        assert_eq!(document["schema"], 1);
        assert_eq!(document["clock"], "real");
        let backend = document["backends"][0].as_str().expect("a text");
        assert!(backend.contains("AF_PACKET"), "{backend}");
        assert!(document["tau"]["planned_ps"].as_u64() > Some(25_000_000_000));
        for at in document["ports"].as_array().expect("a list") {
            assert_eq!(at["counters"]["overruns"], 0, "{document}");
            assert_eq!(at["counters"]["kernel_drops"], 0, "{document}");
        }
    }
}

/// Asks for metrics until so many frames have passed.
fn metrics_with_frames(address: &str, count: u64) -> String {
    let begin = Instant::now();
    loop {
        let mut stream = TcpStream::connect(address).expect("somebody listens");
        let request = "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n";
        stream.write_all(request.as_bytes()).expect("it is read");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
        let name = r#"pauseless_port_sent_frames_total{node="S1",port="R"} "#;
        let value = answer.lines().find_map(|line| line.strip_prefix(name));
        if value.is_some_and(|value| value == count.to_string()) {
            return answer;
        }
        assert!(begin.elapsed() < Duration::from_secs(20), "{answer}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn hosts_go_on_when_the_switch_is_killed_and_started_again() {
    let Some(bed) = Bed::new("1000 s") else {
        return;
    };
    let mut switch = bed.start("S1", &[]);
    let hosts = ["H1", "R"].map(|name| bed.start(name, &["--for", "5 s"]));
    switch.line_with("s-r: AF_PACKET");
    std::thread::sleep(Duration::from_millis(1_000));
    switch.signal("-KILL");
    drop(switch);
    let mut switch = bed.start("S1", &[]);
    switch.line_with("s-r: AF_PACKET");
    let [source, target] = hosts.map(Process::document);
    switch.signal("-TERM");
    let switch = switch.document();
    // The new one has carried frames, and the old one had before it.
    let after = port(&switch, "R")["sent"].as_u64().expect("a count");
    let all = target["receives"][0]["frames"].as_u64().expect("a count");
    let sent = source["sends"][0]["frames"].as_u64().expect("a count");
    assert!(after > 50, "{switch}");
    assert!(all > after && sent > all, "{sent} {all} {after}");
}

#[test]
fn what_this_machine_does_not_have_is_said() {
    let Some(bed) = Bed::new("1 s") else { return };
    let run = |namespace: &Namespace, args: &[&str]| {
        let done = namespace.enter(|| bed.place.run(args));
        let done = done.expect("a way there");
        assert_eq!(done.code, Some(2), "{}", done.stderr);
        assert_eq!(done.stdout, "");
        done.stderr
    };
    let said = run(&bed.source, &["switch", "--config", "S1.toml"]);
    assert!(said.contains("S1.toml:4:6: this machine has no interface s-h1"), "{said}");
    assert!(said.contains("= help: it has h1-s, lo"), "{said}");
    let said = run(&bed.switch, &["host", "--config", "S1.toml"]);
    assert!(said.contains("start this file with `pauseless switch`"), "{said}");
    let metrics = ["switch", "--config", "S1.toml", "--metrics", "0.0.0.0:0"];
    let said = run(&bed.switch, &metrics);
    assert!(said.contains("metrics are given on loopback only"), "{said}");
    let said = run(&bed.switch, &["switch", "--config", "gone.toml"]);
    assert!(said.contains("gone.toml: cannot be read"), "{said}");
}

#[test]
fn a_check_says_what_would_be_done_and_touches_nothing() {
    let place = Place::new();
    for (command, name) in [("switch", "S2"), ("host", "H2")] {
        let file = format!("testbeds/three-machines/{name}.toml");
        let done = place.run(&[command, "--config", &file, "--check"]);
        assert_eq!(done.code, Some(0), "{}", done.stderr);
        assert!(done.stdout.starts_with(&format!("{name}: a {command} of ")));
        assert!(done.stdout.contains("not on this machine: "), "{}", done.stdout);
    }
}
