use super::*;

const TEXT: &str = "\
duration = \"1 ms\" # of simulated time
[topology]
kind = \"ring\"
switches = 3
rate = \"10 Gbps\"

[flow_control] # PFC
kind = \"pfc\"
at = [{ ports = [\"S1:H1\"], xoff = \"3 KB\" }, { ports = [\"S2:H2\"] }]

[[flow]]
name = \"F 1\"
rate = \"1 Gbps\"
[[flow]]
name = \"F 1.5\"
[[flow]]
source = \"H2\"
target = \"H1\"
";

fn changed(key: &str, value: &str) -> Result<String, String> {
    let knob = Knob::parse("ring", TEXT, key).map_err(|problems| problems.to_string())?;
    let text = knob.text(Amount::parse(value)?);
    let lines = text.lines().filter(|line| !TEXT.lines().any(|old| old == *line));
    Ok(Vec::from_iter(lines).join(" / "))
}

#[test]
fn a_value_is_replaced_where_it_stands() {
    for (key, value, line) in [
        ("duration", "2 ms", "duration = \"2 ms\" # of simulated time"),
        ("topology.switches", "4", "switches = 4"),
        ("flow.F 1.rate", "2 Gbps", "rate = \"2 Gbps\""),
        ("flow.\"F 1\".rate", "2 Gbps", "rate = \"2 Gbps\""),
        ("flow.1.rate", "2 Gbps", "rate = \"2 Gbps\""),
        (
            "flow_control.at.1.xoff",
            "4 KB",
            "at = [{ ports = [\"S1:H1\"], xoff = \"4 KB\" }, { ports = [\"S2:H2\"] }]",
        ),
    ] {
        assert_eq!(changed(key, value), Ok(line.to_string()), "{key}");
    }
}

#[test]
fn a_key_that_is_not_written_is_added_to_its_section() {
    for (key, value, line) in [
        ("mtu", "1 KB", "mtu = \"1 KB\""),
        ("flow_control.xoff", "4 KB", "xoff = \"4 KB\""),
        ("switch.processing", "4 us", "[switch] / processing = \"4 us\""),
        ("flow.F 1.ttl", "16", "ttl = 16"),
        ("flow.F 1.5.rate", "2 Gbps", "rate = \"2 Gbps\""),
        ("flow.H2->H1.rate", "2 Gbps", "rate = \"2 Gbps\""),
        ("congestion_control.pmax", "0.25", "[congestion_control] / pmax = 0.25"),
        (
            "flow_control.at.2.xoff",
            "4 KB",
            "at = [{ ports = [\"S1:H1\"], xoff = \"3 KB\" }, { xoff = \"4 KB\", ports = [\"S2:H2\"] }]",
        ),
    ] {
        assert_eq!(changed(key, value), Ok(line.to_string()), "{key}");
    }
}

#[test]
fn an_added_key_belongs_to_the_element_that_was_named() {
    let knob = Knob::parse("ring", TEXT, "flow.F 1.5.rate").expect("a flow");
    let text = knob.text(Amount::parse("2 Gbps").expect("a rate"));
    assert!(text.contains("[[flow]]\nrate = \"2 Gbps\"\nname = \"F 1.5\"\n"), "{text}");
    assert_eq!((knob.key(), knob.written()), ("flow.F 1.5.rate", None));
    let knob = Knob::parse("ring", TEXT, "flow.1.rate").expect("a flow");
    assert_eq!(knob.written(), Some("\"1 Gbps\""));
}

#[test]
fn a_path_that_leads_nowhere_says_what_is_there() {
    for (key, message, help) in [
        (
            "flow.F2.rate",
            "no element is \"F2\"; there are 3",
            "there are \"F 1\", \"F 1.5\", \"H2->H1\"",
        ),
        ("flow.4.rate", "no element is \"4\"; there are 3", ""),
        (
            "flow.0.rate",
            "positions count from 1 here, although messages about files count from 0",
            "",
        ),
        ("flow", "a list, not a value", "there are \"F 1\""),
        ("flow_control", "a section, not a value", "there are at, kind"),
        ("duration.rate", "rate lies in a value", ""),
        ("flow_controls.at.1.xoff", "there is no flow_controls", "did you mean flow_control?"),
        ("topology.", "there is no \"\"", ""),
        ("", "an empty key", ""),
    ] {
        let problems = Knob::parse("ring", TEXT, key).expect_err(key);
        let problem = &problems.list()[0];
        assert!(problem.message.starts_with(message), "{key}: {}", problem.message);
        assert!(problem.help.contains(help), "{key}: {}", problem.help);
        assert_eq!(problem.key, key);
    }
}

#[test]
fn two_of_one_name_are_told_apart_by_position() {
    let text = "[[flow]]\nname = \"F\"\n[[flow]]\nname = \"F\"\n";
    let problems = Knob::parse("two", text, "flow.F.rate").expect_err("two of one name");
    assert!(problems.list()[0].message.starts_with("several are called"));
    assert!(Knob::parse("two", text, "flow.2.rate").is_ok());
}

#[test]
fn amounts_are_read_exactly_and_written_back() {
    for (text, unit, base) in [
        ("2.5 Gbps", Unit::Rate, 2_500_000_000),
        ("40 KB", Unit::Bytes, 40_000),
        ("5us", Unit::Time, 5_000_000),
        ("16", Unit::Count, 16),
        ("0.25", Unit::Billionth, 250_000_000),
        ("12.5 %", Unit::Share, 125_000),
    ] {
        let amount = Amount::parse(text).expect(text);
        assert_eq!(amount, Amount { unit, base }, "{text}");
        assert_eq!(Amount::parse(&amount.exact()), Ok(amount));
    }
    for wrong in
        ["", "x", "-1", "1.2.3", "5 apples", "0.0000000001", "99999999999999999999", "0 Gbps"]
    {
        assert!(Amount::parse(wrong).is_err(), "{wrong}");
    }
    let amount = |text| Amount::parse(text).expect("an amount");
    assert_eq!(amount("2 Gbps").toml(), "\"2 Gbps\"");
    assert_eq!(amount("2.0").toml(), "2.0");
    assert_eq!(amount("40 KB").unit.axis(40_000), (1_000.0, "KB"));
    assert_eq!(amount("2 Gbps").unit.axis(900_000_000), (1e6, "Mbps"));
}

/// Paths of all values below a table or list, and of a new key in every table.
fn paths(value: &toml::de::DeValue<'_>, path: &str, found: &mut Vec<String>) {
    let below = |key: &str| match path {
        "" => key.to_string(),
        path => format!("{path}.{key}"),
    };
    if let Some(table) = value.as_table() {
        found.push(below("brand_new"));
        for (key, value) in table {
            paths(value.get_ref(), &below(key.get_ref()), found);
        }
    } else if let Some(list) = value.as_array() {
        for (position, value) in (1..).zip(list) {
            paths(value.get_ref(), &below(&position.to_string()), found);
        }
    } else {
        found.push(path.to_string());
    }
}

/// In every scenario of the repository, every value can be changed and every section added to, and
/// nothing else changes.
#[test]
fn every_value_of_every_scenario_has_a_path() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folders = ["scenarios", "papers/gfc", "papers/pcn", "papers/hotnets"];
    let files = folders.iter().flat_map(|folder| {
        let entries = std::fs::read_dir(root.join(folder)).expect("a folder of scenarios");
        entries.map(|entry| entry.expect("an entry").path())
    });
    let mut count = 0;
    for file in files {
        let name = file.to_string_lossy();
        if name.ends_with(".claims.toml") || name.ends_with(".sweep.toml") {
            continue;
        }
        if file.extension().is_none_or(|extension| extension != "toml") {
            continue;
        }
        let text = std::fs::read_to_string(&file).expect("a text");
        let table = parse_table(&text).expect("TOML");
        let mut all = Vec::new();
        paths(&toml::de::DeValue::Table(table), "", &mut all);
        for path in all {
            let knob = Knob::parse("it", &text, &path);
            let knob = knob.unwrap_or_else(|problems| panic!("{}: {problems}", file.display()));
            match knob.written() {
                Some(written) => assert_eq!(knob.with(written), text, "{path}"),
                None => assert!(path.ends_with("brand_new"), "{path}"),
            }
            count += 1;
        }
    }
    assert!(count > 1_000, "{count}");
}

#[test]
fn plain_numbers_are_of_one_kind() {
    let amount = |text: &str| Amount::parse(text).expect(text);
    let (whole, part) = (amount("2"), amount("0.2"));
    assert_eq!(whole.like(part), amount("2.0"));
    assert_eq!(whole.like(part).exact(), "2");
    assert_eq!(part.like(whole), part);
    assert_eq!(whole.like(amount("3")), whole);
    assert_eq!(whole.like(amount("3 KB")), whole);
    assert_eq!(amount("1/8"), amount("0.125"));
    assert_eq!(amount(" 3 / 2 "), amount("1.5"));
    for (text, words) in
        [("1/3", "write 0.333333333"), ("1/0", "such as 0.125"), ("1.5/2", "such as 0.125")]
    {
        let message = Amount::parse(text).expect_err(text);
        assert!(message.contains(words), "{message}");
    }
}

/// Any key of any section, written or not, with and without quotation marks.
#[test]
fn values_of_the_command_line_are_set_in_the_text() {
    let text =
        "duration = \"1 ms\" # short\n[switch]\nbuffer = \"1 MB\"\n[[flow]]\nname = \"F1\"\n";
    let source = Source { file: "t.toml".to_string(), text: text.to_string() };
    let cases = [
        ("duration", "2 ms", "duration = \"2 ms\" # short"),
        ("switch.buffer", "\"3 MB\"", "buffer = \"3 MB\""),
        ("switch.classes", "2", "classes = 2"),
        ("switch.discipline", "input-queued", "discipline = \"input-queued\""),
        ("flow.F1.path", "[\"S1\"]", "path = [\"S1\"]"),
        ("provenance.record", "true", "[provenance]\nrecord = true"),
        ("switch.memory.kind", "shared", "memory.kind = \"shared\""),
        ("recovery.a.b", "1", "[recovery]\na.b = 1"),
    ];
    let set = |key: &str, value: &str| {
        let mut changed = Changed::new(source.clone());
        changed.set(key, value).map(|()| changed.source)
    };
    for (key, value, expected) in cases {
        let set = set(key, value).unwrap_or_else(|wrong| panic!("{wrong}"));
        assert!(set.text.contains(expected), "{key}: {}", set.text);
        assert!(toml::from_str::<toml::Table>(&set.text).is_ok(), "{key}");
    }
    assert!(set("flow.F2.rate", "1 Gbps").is_err());
    assert!(set("switch", "1").is_err());
}

/// Problems of a changed file are shown in the file as it is, or in the setting that is to blame.
#[test]
fn problems_stand_where_the_user_wrote_them() {
    let text = "duration = \"1 ms\"\n[topology]\nkind = \"ring\"\nswitches = 3\nhosts_per_switch = 1\n\
                rate = \"10 Gbps\"\ndelay = \"1 us\"\n[flow_control]\nkind = \"none\"\n\
                [[flow]]\nsource = \"H1\"\ntarget = \"H9\"\npath = [\"S1\"]\n";
    let mut changed = Changed::new(Source { file: "t.toml".to_string(), text: text.to_string() });
    let settings = [
        ("seed", "7"),
        ("topology.failed_links", "[[\"S1\", \"S2\"]]"),
        ("duration", "17 ms"),
        ("switch.buffer", "1 MB"),
        ("switch.bufer", "2MB"),
        ("switch.memory.kind", "private"),
        ("switch.memory.total", "1 MB"),
        ("flow.1.path", "[\"S1\", \"S3\"]"),
    ];
    for (key, value) in settings {
        changed.set(key, value).unwrap_or_else(|wrong| panic!("{wrong}"));
    }
    let refused = Scenario::read_source(&changed.source, &Overrides::default());
    let refused = changed.refuse(refused.expect_err("two things are wrong"));
    let shown = refused.to_string();
    let firsts = shown.lines().filter(|line| line.starts_with("pauseless: "));
    assert_eq!(
        Vec::from_iter(firsts),
        [
            "pauseless: t.toml:12:10: flow[0].target: there is no node \"H9\"",
            "pauseless: --set:1:1: switch.bufer: unknown key",
            "pauseless: --set:1:1: switch.memory.total: unknown key with kind = \"private\"",
        ]
    );
    assert!(shown.contains("1 | switch.bufer=2MB"), "{shown}");
}
