//! `pauseless plan` as its users meet it.

mod place;

use place::Place;

const SWITCH: [&str; 6] =
    ["plan", "--generate", "n-to-1:31,rate=40Gbps", "--cable", "300m", "--classes"];

fn planned<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&SWITCH[..], more].concat()
}

#[test]
fn the_note_is_recomputed() {
    let place = Place::new();
    let done = place.run(&["plan", "--paper"]);
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    for number in ["21,968 B", "25,680 B", "5,632,000 B", "64,000,000 B", "8,000,000 B"] {
        assert!(done.stdout.contains(number), "{number}: {}", done.stdout);
    }
    let document = place.run(&["plan", "--paper", "--json"]).json();
    assert_eq!(document["schema"], 1);
    assert_eq!(document["rows"][0]["ours_bytes"], 21_968);
}

#[test]
fn it_exits_1_when_the_native_scheme_does_not_fit() {
    let place = Place::new();
    for (more, code) in [
        (&["8", "--buffer", "32 MB"][..], 0),
        (&["8", "--buffer", "7 MB"], 1),
        (&["8", "--buffer", "32 MB", "--scheme", "pfc,gfc-time"], 1),
        (&["1", "--buffer", "32 MB", "--scheme", "pfc,gfc-time"], 0),
        (&["8", "--buffer", "7 MB", "--scheme", "cbfc"], 0),
    ] {
        let done = place.run(&planned(more));
        assert_eq!(done.code, Some(code), "{more:?}: {}", done.stdout);
        let document = place.run(&planned(&[more, &["--json"]].concat())).json();
        let fitting = document["fitting"].as_array().unwrap();
        let fits = |name: &str| fitting.iter().any(|it| it == name);
        assert_eq!(fits("pfc"), !more.contains(&"7 MB"), "{more:?}");
    }
}

#[test]
fn json_has_the_plan_with_units_in_its_keys() {
    let place = Place::new();
    let document = place.run(&planned(&["8", "--quanta", "60", "--json"])).json();
    let switch = &document["switches"][0];
    let port = &switch["ports"][0];
    for (field, value) in [
        ("rate_bps", 40_000_000_000u64),
        ("wire_ps", 1_500_000),
        ("processing_ps", 768_000),
        ("headroom_equation_bytes", 21_968),
        ("headroom_bytes", 23_852),
    ] {
        assert_eq!(port[field], value, "{field}");
    }
    let of = |scheme: usize| &switch["schemes"][scheme]["thresholds"][0];
    assert_eq!(of(0)["xoff_bytes"], 125_000 - 23_852);
    assert_eq!(of(0)["xon_bytes"], 125_000 - 23_852 - 3_000);
    assert_eq!(of(1)["credit_blocks"], 125_000 / 64);
    assert!(of(2)["stages"].as_array().unwrap().len() > 10);
    assert!(document.get("proofs").is_none());
}

#[test]
fn proofs_and_files() {
    let place = Place::new();
    let done = place.run(&planned(&["2", "--buffer", "13 MB", "--prove", "--out", "plans"]));
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    let rows = done.stdout.lines().filter(|line| line.ends_with("nothing lost"));
    assert_eq!(rows.filter(|line| line.contains("  loses  ")).count(), 5, "{}", done.stdout);
    let document: serde_json::Value = serde_json::from_str(&place.text("plans/plan.json")).unwrap();
    assert_eq!(document["proofs"].as_array().unwrap().len(), 5);
    for scheme in ["pfc", "cbfc", "gfc-buffer", "gfc-time", "gfc-conceptual"] {
        let text = place.text(&format!("plans/flow_control-{scheme}.toml"));
        assert!(text.contains(&format!("kind = \"{scheme}\"")), "{text}");
    }
}

#[test]
fn the_dumps_of_an_infiniband_fabric() {
    let place = Place::new();
    let folder = "examples/ib/ft4-minhop";
    let files = [format!("{folder}/opensm-subnet.lst.gz"), format!("{folder}/opensm.fdbs.gz")];
    let args = ["plan", &files[0], &files[1], "--json"];
    let document = place.run(&args).json();
    assert_eq!(document["medium"], "infiniband");
    assert_eq!(document["mtu_bytes"], 4_096);
    assert_eq!(document["longest_path"], 5);
    let notes = document["notes"].to_string();
    assert!(notes.contains("20 m are assumed"), "{notes}");
    // A buffer that is enough for credits is not enough for PFC, which nobody wants here.
    let done = place.run(&["plan", &files[0], &files[1], "--buffer", "30 KB"]);
    assert_eq!(done.code, Some(0), "{}", done.stdout);
    assert!(done.stdout.contains("pfc does not fit"), "{}", done.stdout);
}

const TABLE: &str = "examples/ethernet/pg_profile_lookup.ACS-MSN4700.ini";

#[test]
fn deployed_values_that_can_lose_are_a_finding() {
    let place = Place::new();
    let done = place.run(&["plan", "--against", TABLE]);
    assert_eq!(done.code, Some(1), "{}", done.stderr);
    assert!(done.stdout.contains("too small by 26,136 (can lose by"), "{}", done.stdout);
    // A peer that obeys within 60 quanta needs less.
    let done = place.run(&["plan", "--against", TABLE, "--quanta", "60"]);
    assert_eq!(done.code, Some(0), "{}", done.stdout);
    let document = place.run(&["plan", "--against", TABLE, "--json"]).json();
    assert_eq!(document["against"]["can_lose"], true);
    assert_eq!(document["against"]["rows"].as_array().unwrap().len(), 21);
}

/// Rows of a table keep the speed and the cable that they were made for, whatever fabric is planned
/// beside them; only the largest frame is the user's, and assumed where nobody says it.
#[test]
fn rows_of_a_table_are_judged_at_their_own_speed() {
    let place = Place::new();
    let rows = |extra: &[&str]| {
        let args = [&["plan", "--against", TABLE, "--mtu", "9216B", "--json"], extra].concat();
        place.run(&args).json()["against"]["rows"].clone()
    };
    assert_eq!(rows(&["--rate", "10Gbps", "--cable", "1m"]), rows(&[]));
    let note = "frames up to 1500 B are assumed";
    assert!(place.run(&["plan", "--against", TABLE]).stdout.contains(note));
    assert!(!place.run(&["plan", "--against", TABLE, "--mtu", "9216B"]).stdout.contains(note));
}

/// What is planned for a scenario is what `run` asks of it.
#[test]
fn a_plan_takes_the_terms_of_a_scenario() {
    let place = Place::new();
    let text = r#"mtu = "4200 B"
        [topology]
        kind = "n-to-1"
        senders = 3
        rate = "100 Gbps"
        delay = "1 us"
        [switch]
        classes = 2
        processing = "1 us"
        buffer = "500 KB"
    "#;
    place.write("mine.toml", text);
    let done = place.run(&["plan", "mine.toml"]);
    for said in ["4200 B, as the scenario", "classes per port: 2", "t_proc 1 us", "not used"] {
        assert!(done.stdout.contains(said), "{said}: {}", done.stdout);
    }
    let own = ["plan", "mine.toml", "--mtu", "1500B", "--classes", "1", "--processing", "2us"];
    let done = place.run(&own);
    assert!(!done.stdout.contains("as the scenario"), "{}", done.stdout);
    let generated = ["plan", "--generate", "n-to-1:3,rate=100Gbps", "--mtu", "4200B"];
    let generated = [&generated[..], &["--classes", "2", "--processing", "1us", "--json"]].concat();
    let [scenario, flags] = [&["plan", "mine.toml", "--json"][..], &generated];
    let [scenario, flags] = [scenario, flags].map(|args| place.run(args).json());
    assert_eq!(scenario["switches"][0]["schemes"], flags["switches"][0]["schemes"]);
}

/// The largest frame is that of the files; where nobody says it, that is said.
#[test]
fn the_mtu_is_that_of_the_ports() {
    let place = Place::new();
    place.write(
        "S1.json",
        r#"{"DEVICE_METADATA": {"localhost": {"hostname": "S1"}},
        "PORT": {"Ethernet0": {"speed": "40000", "mtu": "9100"}, "Ethernet4": {"speed": "40000", "mtu": "1500"}},
        "DEVICE_NEIGHBOR": {"Ethernet0": {"name": "H1", "port": "eth0"}, "Ethernet4": {"name": "H2", "port": "eth0"}},
        "PORT_QOS_MAP": {"Ethernet0": {"pfc_enable": "3"}, "Ethernet4": {"pfc_enable": "3"}}}"#,
    );
    let document = place.run(&["plan", "S1.json", "--json"]).json();
    assert_eq!(document["mtu_bytes"], 9_100, "{document}");
    let notes = document["notes"].to_string();
    assert!(notes.contains("the largest MTU of the ports"), "{notes}");
    assert!(notes.contains("--cable or --delay of `plan` says otherwise"), "{notes}");
    let given = place.run(&["plan", "S1.json", "--mtu", "1500 B", "--json"]).json();
    assert_eq!(given["mtu_bytes"], 1_500);
    assert!(!given["notes"].to_string().contains("--mtu"), "{given}");
    let assumed = place.run(&["plan", "--generate", "n-to-1:2"]);
    let note = "note: frames up to 1500 B assumed; --mtu says otherwise";
    assert!(assumed.stdout.contains(note), "{}", assumed.stdout);
}

/// Every text in docs/plan.md is what the command before it prints.
#[test]
fn the_document_says_what_is_printed() {
    const DOCUMENT: &str = include_str!("../../../docs/plan.md");
    let place = Place::new();
    let plain = |text: &str| Vec::from_iter(text.split_whitespace()).join(" ");
    let (mut command, mut lines) = (None, 0);
    for block in DOCUMENT.split("```").skip(1).step_by(2) {
        if let Some(text) = block.strip_prefix("console\n$ pauseless ") {
            command = Some(text.trim()).filter(|text| !text.contains('\n'));
        } else if let Some(text) = block.strip_prefix("text\n") {
            let command = command.take().expect("a command before each text");
            let words =
                command.split('"').enumerate().flat_map(|(number, part)| match number % 2 {
                    1 => vec![part],
                    _ => part.split_whitespace().collect(),
                });
            let done = place.run(&Vec::from_iter(words));
            let printed = Vec::from_iter(done.stdout.lines().map(plain));
            for line in text.lines() {
                lines += 1;
                assert!(printed.contains(&plain(line)), "{command}: {line}\n{}", done.stdout);
            }
        }
    }
    assert!(lines > 25, "{lines}");
}

#[test]
fn bad_usage_is_told() {
    let place = Place::new();
    for (args, message) in [
        (&["plan"][..], "required"),
        (&["plan", "--generate", "n-to-1:2", "--mtu", "1500"], "has no unit"),
        (
            &["plan", "--generate", "n-to-1:2", "--rtt", "0us"],
            "a round trip must take longer than nothing",
        ),
        (&["plan", "--generate", "n-to-1:2", "--mtu", "10 B"], "say --mtu from 64 B"),
        (&["plan", "--generate", "n-to-1:2", "--cable", "300"], "is not a length"),
        (&["plan", "--generate", "n-to-1:2", "--classes", "17"], "1..=16"),
        (&["plan", "--generate", "n-to-1:2", "--quanta", "1", "--processing", "1 us"], "cannot be"),
        (&["plan", "--generate", "n-to-1:2,rate=1600Gbps"], "--quanta N or --processing T"),
        (&["plan", "--generate", "n-to-1:2", "--buffer-at", "S1"], "is not NAME=BYTES"),
        (&["plan", "--generate", "n-to-1:2", "--buffer-at", "X=1 MB"], "no switch is called"),
        (&["plan", "--generate", "n-to-1:2", "--delay", "2 s"], "at most"),
        (&["plan", "nowhere.toml"], "cannot be read"),
        (&["plan", "--against", "scenarios/gfc-ring.toml"], "nothing that has buffers in it"),
        (
            &[
                "plan",
                "--prove",
                "--against",
                "examples/ethernet/pg_profile_lookup.ACS-MSN2700.ini",
            ],
            "are about a fabric",
        ),
    ] {
        is_refused(&place, args, message);
    }
}

/// Ports of different speeds obey in different times, a scenario has one: the sections of a
/// cycle-aware plan fit those that they are added to.
#[test]
fn cycle_aware_sections_run_where_link_rates_differ() {
    let place = Place::new();
    let topology = "duration = \"1 ms\"\n[topology]\nkind = \"ring\"\nswitches = 3\n\
                    hosts_per_switch = 1\nrate = \"100 Gbps\"\nhost_rate = \"10 Gbps\"\ndelay = \"1 us\"\n";
    let flow = |a: u8, b: u8, c: u8| {
        format!(
            "[[flow]]\nsource = \"H{a}\"\ntarget = \"H{c}\"\npath = [\"S{a}\", \"S{b}\", \"S{c}\"]\n"
        )
    };
    let flows = [flow(1, 2, 3), flow(2, 3, 1), flow(3, 1, 2)].concat();
    let control = "[switch]\nbuffer = \"1 MB\"\n[flow_control]\nkind = \"pfc\"\n";
    place.write("ring.toml", &format!("{topology}{control}{flows}"));
    let args = ["plan", "ring.toml", "--buffer", "8 MB", "--cycle-aware", "--out", "plans"];
    let done = place.run(&args);
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    for scheme in ["pfc", "cbfc", "gfc-buffer", "gfc-time", "gfc-conceptual"] {
        let ordinary = place.text(&format!("plans/flow_control-{scheme}.toml"));
        let aware = place.text(&format!("plans/cycle_aware-{scheme}.toml"));
        place.write("run.toml", &[topology, &ordinary, &aware, &flows].concat());
        let done = place.run(&["run", "run.toml", "--quiet", "--deny", "deadlock,loss"]);
        assert_eq!(done.code, Some(0), "{scheme}: {}", done.stderr);
    }
}

/// In a torus of five by five the cycles along y are fed by those along x: the bound holds, and
/// says nothing.
#[test]
fn a_cycle_that_the_argument_does_not_cover_is_a_finding() {
    let place = Place::new();
    place.write(
        "torus.toml",
        "[topology]\nkind = \"torus\"\ndimensions = [5, 5]\nhosts_per_switch = 1\nrate = \"10 Gbps\"\n\
         delay = \"1 us\"\n[routing]\nkind = \"dimension-order\"\n",
    );
    let done = place.run(&["plan", "torus.toml", "--cycle-aware"]);
    assert!(done.stdout.contains("feeds it"), "{}", done.stdout);
    assert_eq!(done.code, Some(1), "{}", done.stdout);
    let done = place.run(&["plan", "papers/gfc/fig14.toml", "--cycle-aware"]);
    assert_eq!(done.code, Some(0), "{}", done.stdout);
}

/// More classes or speed than there are, and deployed values of which none can be judged.
#[test]
fn what_cannot_be_or_cannot_be_judged_is_told() {
    let place = Place::new();
    for (args, message) in [
        (&["plan", "--generate", "n-to-1:2", "--classes", "9"][..], "say --classes from 1 to 8"),
        (
            &[
                "plan",
                "--classes",
                "9",
                "--against",
                "examples/ethernet/pg_profile_lookup.ACS-MSN2700.ini",
            ],
            "say --classes from 1 to 8",
        ),
        (&["plan", "--generate", "n-to-1:2", "--rate", "2 Tbps"], "a link has from"),
        (
            &["plan", "--against", "examples/ethernet/config_db-acs-msn4700-t1.json.gz"],
            "add its pg_profile_lookup.ini",
        ),
        (
            &["plan", "--against", "examples/ethernet/pod/L0.json"],
            "pfc_enable and no lossless BUFFER_PG",
        ),
    ] {
        is_refused(&place, args, message);
    }
}

fn is_refused(place: &Place, args: &[&str], message: &str) {
    let done = place.run(args);
    assert_eq!(done.code, Some(2), "{args:?}: {}", done.stdout);
    assert!(done.stderr.contains(message), "{args:?}: {}", done.stderr);
}
