//! `pauseless lint` as it is typed: exit statuses, files that it writes, and what it refuses.

mod place;

use place::Place;
use serde_json::Value;

const TOR: &str = "examples/lint/tor0.json";

/// A place with a ToR of which one group has lost its headroom.
fn broken() -> Place {
    let place = Place::new();
    let text = place.text(TOR).replace(
        "\"Ethernet0|3-4\": {\"profile\": \"pg_lossless_50000_5m_profile\"}",
        "\"Ethernet0|3-4\": {\"profile\": \"ingress_lossy_profile\"}",
    );
    place.write("tor0.json", &text);
    place
}

#[test]
fn the_exit_status_is_that_of_the_worst_finding() {
    let place = broken();
    assert_eq!(place.run(&["lint", TOR]).code, Some(0));
    let done = place.run(&["lint", "tor0.json"]);
    assert_eq!(done.code, Some(1));
    assert!(done.stdout.starts_with("error[PL201]: tor0 Ethernet0: "), "{}", done.stdout);
    assert_eq!(place.run(&["lint", "tor0.json", "--allow", "PL201"]).code, Some(0));
    assert_eq!(place.run(&["lint", TOR, "--deny", "PL408"]).code, Some(0));
    let leaf = "examples/lint/leaf0.json";
    assert_eq!(place.run(&["lint", leaf, "--deny", "PL408"]).code, Some(1));
    for args in [
        &["lint"][..],
        &["lint", "no.json"],
        &["lint", "--explain", "PL999"],
        &["lint", TOR, "--allow", "PL999"],
        &["lint", "scenarios/gfc-ring.toml"],
    ] {
        let done = place.run(args);
        assert_eq!(done.code, Some(2), "{args:?}: {}", done.stdout);
        assert!(done.stderr.starts_with("pauseless: "), "{args:?}: {}", done.stderr);
    }
}

#[test]
fn a_folder_stands_for_the_files_in_it_that_count() {
    let place = broken();
    let folder = place.path("fabric");
    std::fs::create_dir(&folder).expect("a folder");
    std::fs::copy(place.path("tor0.json"), folder.join("tor0.json")).expect("a copy");
    std::fs::write(folder.join("notes.txt"), "changed on Monday\n").expect("a file");
    let done = place.run(&["lint", folder.to_str().expect("a name")]);
    assert_eq!(done.code, Some(1), "{}", done.stderr);
    assert_eq!(done.stdout.lines().next(), place.run(&["lint", "tor0.json"]).stdout.lines().next());
    let left_out = "note: left out, as nothing in them is read here: ";
    let note = done.stdout.lines().find_map(|line| line.strip_prefix(left_out));
    assert!(note.is_some_and(|files| files.ends_with("notes.txt")), "{}", done.stdout);
    std::fs::remove_file(folder.join("tor0.json")).expect("it was there");
    assert_eq!(place.run(&["lint", folder.to_str().expect("a name")]).code, Some(2));
}

#[test]
fn rules_are_listed_and_explained_for_programs() {
    let place = Place::new();
    let all = place.run(&["lint", "--rules", "--json"]).json();
    let text = place.run(&["lint", "--rules"]).stdout;
    assert_eq!(all["rules"].as_array().expect("a list").len(), text.lines().count());
    let one = place.run(&["lint", "--explain", "pl201", "--json"]).json();
    assert_eq!(one["rules"].as_array().expect("a list").len(), 1);
    assert_eq!(one["rules"][0]["name"], "pfc-without-headroom");
}

#[test]
fn reports_are_written_in_all_forms() {
    let place = broken();
    let args = ["lint", "tor0.json", "--json", "--sarif", "a.sarif", "--junit", "a.xml"];
    let document = place.run(&args).json();
    let first = &document["findings"][0];
    assert_eq!(first["rule"], "PL201");
    assert_eq!(first["file"], "tor0.json");
    let line = first["line"].as_u64().unwrap() as usize;
    assert!(place.text("tor0.json").lines().nth(line - 1).unwrap().contains("Ethernet0|3-4"));
    let log: Value = serde_json::from_str(&place.text("a.sarif")).unwrap();
    assert_eq!(log["runs"][0]["results"][0]["ruleId"], "PL201");
    assert!(place.text("a.xml").contains("<failure type=\"error\""));
}

#[test]
fn a_patch_repairs_and_a_waiver_accepts() {
    let place = broken();
    let done = place.run(&["lint", "tor0.json", "--fix", "patches"]);
    assert_eq!(done.code, Some(0), "{}", done.stdout);
    let patch: Value = serde_json::from_str(&place.text("patches/tor0.patch.json")).unwrap();
    let expected = "/BUFFER_PG/Ethernet0|3-4/profile";
    assert_eq!(patch[0]["path"], expected);
    assert_eq!(patch[0]["op"], "replace");
    assert_eq!(patch[0]["value"], "pg_lossless_50000_5m_profile");
    place.write(
        "w.toml",
        "[[waiver]]\nrule = \"PL201\"\nreason = \"spare\"\nuntil = \"2999-12-31\"\n",
    );
    assert_eq!(place.run(&["lint", "tor0.json", "--waivers", "w.toml"]).code, Some(0));
    place.write(
        "w.toml",
        "[[waiver]]\nrule = \"PL201\"\nreason = \"spare\"\nuntil = \"2020-12-31\"\n",
    );
    let done = place.run(&["lint", "tor0.json", "--waivers", "w.toml"]);
    assert_eq!(done.code, Some(1));
    assert!(done.stdout.contains("has expired on 2020-12-31"), "{}", done.stdout);
}

#[test]
fn folders_are_read_and_patches_of_files_with_one_name_are_kept_apart() {
    let place = broken();
    let first = place.text("tor0.json");
    for folder in ["all/tor0", "all/tor1"] {
        std::fs::create_dir_all(place.path(folder)).unwrap();
    }
    place.write("all/tor0/config_db.json", &first);
    place.write("all/tor1/config_db.json", &first.replace("tor0", "tor1"));
    place.write("all/readme.txt", "nothing that lint knows");
    let done = place.run(&["lint", "all"]);
    assert_eq!(done.code, Some(1), "{}", done.stderr);
    assert!(done.stdout.contains("in 2 switches"), "{}", done.stdout);
    assert!(done.stdout.contains("left out, as nothing in them is read here: all/readme.txt"));
    let done = place.run(&["lint", "all", "--fix", "patches"]);
    assert_eq!(done.code, Some(0), "{}", done.stdout);
    for switch in ["tor0", "tor1"] {
        let name = format!("patches/all-{switch}-config_db.patch.json");
        let patch: Value = serde_json::from_str(&place.text(&name)).unwrap();
        assert_eq!(patch[0]["value"], "pg_lossless_50000_5m_profile");
    }
    // An older copy of a file in the same folder is told.
    place.write("all/tor1/config_db.json", &first);
    let done = place.run(&["lint", "all"]);
    assert!(done.stdout.contains("both have the hostname tor0"), "{}", done.stdout);
}

#[test]
fn rules_are_listed_and_explained() {
    let place = Place::new();
    let list = place.run(&["lint", "--rules"]).stdout;
    assert!(list.lines().count() > 70 && list.starts_with("PL101 error"), "{list}");
    let text = place.run(&["lint", "--explain", "pl201"]).stdout;
    for part in ["PL201 pfc-without-headroom", "Fix:", "On released templates:", "Fires with"] {
        assert!(text.contains(part), "{text}");
    }
}
