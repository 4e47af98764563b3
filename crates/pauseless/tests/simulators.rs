//! Files of other simulators on the command line, and what such runs need in reports.

mod place;

use std::process::{Command, Stdio};

use place::{Done, Place};

const RING: &str = "scenarios/gfc-ring.toml";

#[test]
fn scenarios_and_files_of_other_simulators_come_from_a_pipe() {
    let place = Place::new();
    for (file, expected) in [(RING, "deadlock at "), ("examples/htsim/incast.cm", "no deadlock")] {
        let path = std::fs::canonicalize(place.path(file)).expect("it is there");
        let mut cat =
            Command::new("cat").arg(path).stdout(Stdio::piped()).spawn().expect("cat starts");
        let pipe = cat.stdout.take().expect("it is piped");
        let mut command = place.command(&["run", "/dev/stdin", "--duration", "10 ms"]);
        let done = Done::new(command.stdin(pipe).output().expect("the program starts"));
        cat.wait().expect("cat ends");
        assert_eq!(done.code, Some(0), "{file}: {}", done.stderr);
        assert!(done.stdout.contains(expected), "{file}: {}", done.stdout);
    }
}

#[test]
fn files_of_other_simulators_become_scenarios_and_are_no_fabrics() {
    let place = Place::new();
    let matrix = "examples/htsim/incast.cm";
    let tree = "examples/htsim/leaf_spine.topo";
    let config = "examples/hpcc/ring5_pfc/config.txt";
    let options = ["--to", "scenario", "--htsim", "mtu=1500", "-o", "made.toml"];
    let done = place.run(&[&["convert", matrix, tree], &options[..]].concat());
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    assert!(place.text("made.toml").contains("[topology]"));
    let done = place.run(&["convert", matrix, tree, "--to", "compat-scenario"]);
    assert!(done.stdout.contains("arrivals-first"), "{}", done.stderr);
    let done = place.run(&["convert", config, "--to", "compat-scenario"]);
    assert_eq!(done.code, Some(2));
    let why = "--to compat-scenario is for files of htsim";
    assert!(done.stderr.contains(why), "{}", done.stderr);
    let done = place.run(&["convert", RING, "--to", "scenario"]);
    assert_eq!(done.code, Some(2));
    assert!(done.stderr.contains("neither the config.txt"), "{}", done.stderr);

    for (command, file) in
        [("check", matrix), ("plan", config), ("sweep", matrix), ("explain", tree)]
    {
        let done = place.run(&[command, file]);
        assert_eq!(done.code, Some(2), "{command} {file}");
        let lines = done.stderr.lines().count();
        assert!(lines <= 3, "{command} {file}: {}", done.stderr);
        let hint = "convert --to scenario";
        assert!(done.stderr.contains(hint), "{command} {file}: {}", done.stderr);
    }
}

#[test]
fn runs_that_begin_late_have_exact_instants() {
    let place = Place::new();
    let source = std::fs::canonicalize(place.path("examples/hpcc/ring5_pfc")).expect("a folder");
    for name in ["config.txt", "topology.txt", "flow.txt", "trace.txt"] {
        std::fs::copy(source.join(name), place.path(name)).expect("a copy");
    }
    let done = place.run(&["run", "config.txt", "--stop-on", "deadlock", "-q"]);
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    let at = "deadlock at 2.000092";
    assert!(done.stdout.contains(at), "{}", done.stdout);
}

/// What stands where the outputs go may be the work of days of another simulator.
#[test]
fn no_output_is_written_over_that_is_not_ours() {
    let place = Place::new();
    let source = std::fs::canonicalize(place.path("examples/hpcc/ring5_pfc")).expect("a folder");
    for name in ["config.txt", "topology.txt", "flow.txt", "trace.txt"] {
        std::fs::copy(source.join(name), place.path(name)).expect("a copy");
    }
    std::fs::create_dir(place.path("out")).expect("a folder");
    let theirs = "0b000001 0b000101 10000 100 1000 2000000000 5 4\n";
    place.write("out/pfc.txt", theirs);
    let short = ["run", "config.txt", "-q", "--stop-on", "deadlock"];
    let with = |more: &[&str]| place.run(&[&short[..], more].concat());
    for more in [&[][..], &["--seed", "4"], &["--compat", "hpcc"]] {
        let done = with(more);
        assert_eq!(done.code, Some(2), "{more:?}: {}", done.stderr);
        let why = "cannot write out/pfc.txt: it is there, and not as this program wrote it; \
                   --out DIR writes elsewhere, --force writes over it";
        assert!(done.stderr.contains(why), "{more:?}: {}", done.stderr);
        assert_eq!(place.text("out/pfc.txt"), theirs, "{more:?}");
    }
    let done = with(&["--out", "mine"]);
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    assert!(
        done.stderr.contains("wrote mine/fct.txt, mine/pfc.txt, mine/qlen.txt\n"),
        "{}",
        done.stderr
    );
    assert_eq!(place.text("out/pfc.txt"), theirs);
    let done = with(&["--out", "mine", "--seed", "4"]);
    assert_eq!(done.code, Some(0), "its own files may be replaced: {}", done.stderr);
    let done = with(&["--force"]);
    assert!(
        done.stderr.contains("wrote out/fct.txt, out/pfc.txt, out/qlen.txt\n"),
        "{}",
        done.stderr
    );
    assert_ne!(place.text("out/pfc.txt"), theirs);
    let done = place.run(&["run", RING, "--force"]);
    assert_eq!(done.code, Some(2));
    assert!(done.stderr.contains("--force is for the output files"), "{}", done.stderr);
}

/// That simulator's results and ours stand beside each other, and the verdict is ours.
#[test]
fn a_replica_stands_beside_our_engine() {
    let place = Place::new();
    let source = std::fs::canonicalize(place.path("examples/hpcc/ring5_pfc")).expect("a folder");
    for name in ["config.txt", "topology.txt", "flow.txt", "trace.txt"] {
        std::fs::copy(source.join(name), place.path(name)).expect("a copy");
    }
    let alone = place.run(&["run", "config.txt", "--json"]).json();
    assert!(alone.get("replica").is_none());
    let both = place.run(&["run", "config.txt", "--json", "--compat", "hpcc"]).json();
    assert_eq!(both["replica"]["pause_frames"], 25);
    assert_eq!(both["replica"]["pauses_here"], 25);
    assert_eq!(both["replica"]["pause_frames_here"], alone["pause_frames"]);
    for field in ["pause_frames", "flows", "metrics", "deadlock", "ended"] {
        assert_eq!(both[field], alone[field], "{field}");
    }
    let text = place.run(&["run", "config.txt", "--compat", "hpcc"]).stdout;
    for words in [
        "the verdict is this engine's, with the rules of real switches",
        "that simulator and this engine, on the same files\n",
        "no flow finishes in both",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
}

#[test]
fn what_wires_lose_is_told_and_can_be_denied() {
    let place = Place::new();
    place.write("lossy.toml", LOSSY);
    // A flow that waits for what was lost gets nothing, and a millisecond is too short to say more.
    let denials = [
        ("deadlock", 0, ""),
        ("loss", 1, "pauseless: denied: loss\n"),
        ("starvation", 1, "pauseless: denied: starvation is undecided: "),
    ];
    for (deny, code, why) in denials {
        let done = place.run(&["run", "lossy.toml", "-q", "--deny", deny]);
        assert_eq!(done.code, Some(code), "{}", done.stderr);
        assert!(done.stderr.contains(why), "{}", done.stderr);
        for words in [
            "no loss beside wires\n",
            " lost on wires (wire_loss)\n",
            "flows do not finish: go-back-n without a timeout; transport.timeout = ",
        ] {
            assert!(done.stdout.contains(words), "{words}: {}", done.stdout);
        }
    }
    let document = place.run(&["run", "lossy.toml", "--json"]).json();
    assert!(document["losses"]["wire"]["packets"].as_u64() > Some(0));
}

/// A run that has dropped packets says why its flows hang, and what to write.
#[test]
fn flows_that_hang_after_a_loss_say_why() {
    let place = Place::new();
    let lossy = LOSSY.replace("kind = \"pfc\"", "kind = \"none\"");
    let lossy = lossy.replace("wire_loss = 0.5", "wire_loss = 0.0").replace("1 MB", "20 KB");
    let incast = "kind = \"incast\"\ntarget = \"H0\"\nsize = \"100 KB\"";
    let lossy = lossy.replace("kind = \"permutation\"\nsize = \"3 KB\"", incast);
    let without = lossy.replace("recovery = \"go-back-n\"", "recovery = \"none\"");
    place.write("without.toml", &without);
    let done = place.run(&["run", "without.toml", "-q"]);
    let why = "do not finish: nothing that is lost is sent again; transport.recovery = \
               \"go-back-n\" with a timeout does\n";
    assert!(done.stdout.contains("\nloss: ") && done.stdout.contains(why), "{}", done.stdout);
    place.write("never.toml", &lossy);
    let done = place.run(&["run", "never.toml"]);
    let warned = "warning: never: transport.recovery = \"go-back-n\" has no timeout: ";
    assert!(done.stderr.contains(warned), "{}", done.stderr);
}

/// Half of all packets are lost, and so are last ones.
const LOSSY: &str = r#"
duration = "1 ms"
[topology]
kind = "leaf-spine"
leaves = 2
spines = 1
hosts_per_leaf = 4
rate = "10 Gbps"
delay = "1 us"
[timing]
wire_loss = 0.5
[switch]
buffer = "1 MB"
[flow_control]
kind = "pfc"
[transport]
recovery = "go-back-n"
[[traffic]]
kind = "permutation"
size = "3 KB"
"#;
