//! `pauseless threshold`: what it prints, what it writes, how it exits.

mod place;

use place::Place;

/// Two hosts, one link that is full above 10 Gb/s in sum.
const SHARED: &str = "
duration = \"1 ms\"
[topology]
kind = \"n-to-1\"
senders = 2
rate = \"10 Gbps\"
delay = \"1 us\"
[switch]
buffer = \"100 KB\"
[flow_control]
kind = \"pfc\"
xoff = \"20 KB\"
[[flow]]
name = \"steady\"
source = \"H1\"
target = \"R\"
rate = \"6 Gbps\"
[[flow]]
source = \"H2\"
target = \"R\"
";

fn search(place: &Place, more: &[&str]) -> place::Done {
    place.write("shared.toml", SHARED);
    let mut args = vec!["threshold", "shared.toml", "--vary", "flow.2.rate", "--seeds", "3"];
    args.extend(more);
    place.run(&args)
}

const RANGE: [&str; 6] = ["--from", "1 Gbps", "--to", "9 Gbps", "--find", "pause:H1:S1"];

#[test]
fn a_threshold_is_found_and_told() {
    let place = Place::new();
    let page = ["--html", "page.html"];
    let done = search(&place, &[&RANGE[..], &page].concat());
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    assert!(
        done.stdout.contains("a pause of H1:S1 appears at 4."),
        "4 and 6 make 10: {}",
        done.stdout
    );
    assert!(done.stdout.contains("3 of 3"), "{}", done.stdout);
    assert!(place.text("page.html").contains("<svg "));
    let brief = search(&place, &[&RANGE[..], &["--quiet", "--threads", "1"]].concat());
    assert_eq!(brief.stdout.lines().count(), 1);
    assert!(done.stdout.contains(&brief.stdout));
}

#[test]
fn the_document_has_values_in_base_units() {
    let place = Place::new();
    let document = search(&place, &[&RANGE[..], &["--json"]].concat()).json();
    assert_eq!(document["schema"], 1);
    assert_eq!(document["key"], "flow.2.rate");
    assert_eq!(document["unit"], "bps");
    assert_eq!(document["verdict"], "sharp");
    assert_eq!(document["threshold"]["direction"], "appears");
    let median = document["threshold"]["median"].as_u64().expect("a number");
    assert!((4_000_000_000..4_600_000_000).contains(&median), "{median}");
    let shares = document["shares"].as_array().expect("a list");
    assert_eq!(shares.len(), 9);
    assert_eq!(shares[0]["with"], 0);
    assert_eq!(shares[8]["with"], 3);
    assert!(document.get("interrupted").is_none());
}

#[test]
fn any_number_of_a_run_can_have_a_limit() {
    let place = Place::new();
    let find = |property: &str, more: &[&str]| {
        let ends = ["--from", "1 Gbps", "--to", "9 Gbps", "--find", property];
        search(&place, &[&ends[..], more].concat())
    };
    // Above 4 Gb/s queues grow to where they are stopped.
    let done = find("queue_max{port=S1:H2} > 15", &[]);
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    let found = "queue_max{port=S1:H2} > 15 KB appears at 4.";
    assert!(done.stdout.contains(found), "{}", done.stdout);
    let document = find("rate.steady <= 5.5", &["--json"]).json();
    assert_eq!(document["property"], "rate.steady <= 5.5");
    assert_eq!(document["threshold"]["direction"], "appears");
    for (property, expected) in [
        ("qeue_max > 5", "did you mean queue_max?"),
        ("queue_max > much", "is a number, in KB, not \"much\""),
        ("rate{flow=nobody} > 5", "name one of the scenario's flows"),
        ("slowdown{p=200} > 5", "a percentile is from 1 to 100"),
    ] {
        let done = find(property, &[]);
        assert_eq!(done.code, Some(2), "{property}");
        assert!(done.stderr.contains(expected), "{}", done.stderr);
    }
}

#[test]
fn nothing_flips_is_a_finding() {
    let place = Place::new();
    let ends = ["--from", "1 Gbps", "--to", "2 Gbps"];
    let done = search(&place, &[&ends[..], &["--find", "deadlock"]].concat());
    assert_eq!(done.code, Some(1));
    assert!(
        done.stdout.contains("no threshold: none of 3 seeds has it at either end"),
        "{}",
        done.stdout
    );
}

#[test]
fn bad_input_names_the_value_and_the_fix() {
    let place = Place::new();
    let case = |more: &[&str], expected: &[&str]| {
        let done = search(&place, more);
        assert_eq!(done.code, Some(2), "{more:?}: {}", done.stdout);
        assert_eq!(done.stdout, "");
        for text in expected {
            assert!(done.stderr.contains(text), "{text}: {}", done.stderr);
        }
    };
    case(
        &["--from", "1 Gbps", "--to", "11 Gbps", "--find", "loss"],
        &["flow.2.rate = 11 Gbps", "expected at most 10 Gbps", "shared.toml:"],
    );
    case(
        &["--from", "1 Gbps", "--to", "9 GB", "--find", "loss"],
        &["1 Gbps and 9 GB are not of one kind"],
    );
    case(
        &["--from", "1 Gpbs", "--to", "9 Gbps", "--find", "loss"],
        &["--from", "a rate in bps, kbps"],
    );
    case(
        &["--from", "1 Gbps", "--to", "9 Gbps", "--find", "lost"],
        &[
            "expected deadlock, loss, starvation, pause, pause:PORT, or a number with a limit such as",
            "\"queue_max > 100\"",
        ],
    );
    case(
        &["--from", "1 Gbps", "--to", "9 Gbps", "--find", "loss", "--points", "4"],
        &["expected 2, 3, 5, 9"],
    );
    let key = ["threshold", "shared.toml", "--vary", "flow.stead.rate"];
    let done = place.run(&[&key[..], &RANGE].concat());
    assert_eq!(done.code, Some(2));
    assert!(done.stderr.contains("there are \"steady\", \"H2->R\""), "{}", done.stderr);
}

/// The examples of `--help` work as printed; the search is cut short.
#[test]
fn the_examples_of_the_help_work() {
    let place = Place::new();
    let help = place.run(&["threshold", "--help"]).stdout;
    let help = help.replace(" \\\n", " ");
    let examples = help.lines().filter_map(|line| line.trim().strip_prefix("pauseless threshold "));
    let mut count = 0;
    for example in examples {
        let mut args = vec!["threshold"];
        // Words in quotation marks are one argument.
        for (index, part) in example.split('"').enumerate() {
            match index % 2 {
                0 => args.extend(part.split_whitespace()),
                _ => args.push(part),
            }
        }
        let seeds = args.iter().position(|arg| *arg == "--seeds");
        match seeds {
            Some(at) => args[at + 1] = "1",
            None => args.extend(["--seeds", "1"]),
        }
        args.extend(["--points", "2", "--duration", "2 ms"]);
        let done = place.run(&args);
        assert!(matches!(done.code, Some(0 | 1)), "{example}: {}", done.stderr);
        count += 1;
    }
    assert_eq!(count, 3, "{help}");
}

#[test]
fn whole_numbers_and_decimals_are_of_one_kind() {
    let place = Place::new();
    let ring = SHARED.replace("xoff = \"20 KB\"", "cycle_aware = true");
    place.write("ring.toml", &ring);
    let ask = |more: &[&str]| {
        let args = ["threshold", "ring.toml", "--find", "deadlock", "--seeds", "1"];
        let key = ["--vary", "flow_control.cycle_margin", "--points", "2"];
        place.run(&[&args[..], &key, more].concat())
    };
    for more in [
        &["--from", "0.2", "--to", "2"][..],
        &["--from", "2", "--to", "1/5"],
        &["--from", "1", "--to", "2", "--precision", "0.5"],
    ] {
        let done = ask(more);
        assert_eq!(done.code, Some(1), "{more:?}: {}", done.stderr);
    }
    let done = ask(&["--from", "1", "--to", "2", "--precision", "1.5"]);
    assert_eq!(done.code, Some(2));
    let words = "a precision of 1.5 is not smaller than the range, 1";
    assert!(done.stderr.contains(words), "{}", done.stderr);
}
