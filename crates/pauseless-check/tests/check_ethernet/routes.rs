//! Fabrics whose switches say themselves where they send packets.

use std::collections::BTreeSet;

use pauseless_check::{json::CheckRecord, sarif, text};

use super::*;

const SWITCHES: [&str; 6] =
    ["pod-leaf0", "pod-leaf1", "pod-tor0", "pod-tor1", "pod-tor2", "pod-tor3"];

/// The configurations of the pod.
fn configs() -> Vec<Source> {
    SWITCHES.map(|name| sample(&format!("sonic-pod/{name}.json"))).into()
}

/// One set of its routes, as FRR writes them.
fn routes(set: &str) -> Vec<Source> {
    let file = |name: &str| sample(&format!("sonic-pod/{set}/{name}.show-ip-route.json"));
    SWITCHES.map(file).into()
}

fn pod(set: &str) -> Vec<Source> {
    [configs(), routes(set)].concat()
}

/// The same as whoever stands in its folder names the files.
pub fn pod_in_its_folder(set: &str) -> Vec<Source> {
    let mut sources = pod(set);
    for Source { file, .. } in &mut sources {
        *file = file.replace("sonic-pod/", "");
    }
    sources
}

fn words(verdict: &Verdict) -> Vec<&'static str> {
    verdict.words().into_iter().collect()
}

fn report(fabric: &Fabric, verdict: &Verdict) -> String {
    text::report(fabric, verdict, Paint::Plain)
}

#[test]
fn three_sets_of_routes_no_cycle_cycle_no_cycle() {
    let up = assemble(&pod("routes-up"));
    assert_eq!(up.origin, Origin::Tables);
    let found = verdict(&up);
    assert_eq!((words(&found), found.unrouted_pairs), (vec![], 0), "{}", report(&up, &found));
    has_note(&up, "no file has the routes of 2 switches");

    let valley = assemble(&pod("routes-valley"));
    let found = verdict(&valley);
    assert_eq!(words(&found), ["cycle", "valley"], "{}", report(&valley, &found));
    let names: BTreeSet<String> =
        cycle(&valley, &found).into_iter().map(|(name, _)| name).collect();
    let expected = ["pod-leaf0", "pod-leaf1", "pod-tor1", "pod-tor2"].map(str::to_string);
    assert_eq!(names, expected.into());
    let shown = report(&valley, &found);
    assert!(shown.contains("come down from pod-leaf0 to pod-tor1 and go up again to pod-leaf1"));
    assert!(shown.contains("pod-tor1.show-ip-route.json:"), "{shown}");

    let spine = assemble(&pod("routes-spine"));
    let found = verdict(&spine);
    assert_eq!(words(&found), [""; 0], "{}", report(&spine, &found));
    assert!(report(&spine, &found).contains("as far as they are known"));

    // Assumed shortest paths know nothing of what has failed.
    let assumed = assemble(&configs());
    assert!(!verdict(&assumed).is_cyclic());
    has_note(&assumed, "the files have no routes");
}

#[test]
fn every_form_of_the_routes_gives_the_same_fabric() {
    let frr = assemble(&pod("routes-up"));
    let same = |sources: &[Source]| {
        let fabric = assemble(sources);
        assert_eq!(fabric.topology, frr.topology);
        assert_eq!(fabric.routes, frr.routes);
        assert!(verdict(&fabric).words().is_empty());
    };
    let file = |name: &str, ending: &str| sample(&format!("sonic-pod/routes-up/{name}.{ending}"));
    let appl = SWITCHES.map(|name| file(name, "appl_db.json"));
    same(&[configs(), appl.to_vec()].concat());
    let lldp = SWITCHES.map(|name| file(name, "lldpctl.json"));
    same(&[configs(), lldp.to_vec(), routes("routes-up")].concat());
    // Several that agree are as good as one.
    let kernel = file("pod-tor0", "ip-route.json");
    same(&[configs(), appl.to_vec(), vec![kernel], routes("routes-up")].concat());
    let mut mixed = routes("routes-up");
    mixed[2] = file("pod-tor0", "ip-route.json");
    same(&[configs(), mixed].concat());
}

#[test]
fn batfish_speaks_of_all_switches_in_one_file() {
    let batfish = sample("sonic-pod/routes-up/batfish-routes.json");
    let fabric = assemble(&[configs(), vec![batfish]].concat());
    assert_eq!(fabric.origin, Origin::Tables);
    assert!(verdict(&fabric).words().is_empty());
}

#[test]
fn cables_are_found_by_addresses_if_nobody_lists_them() {
    let valley = assemble(&routes("routes-valley"));
    let found = verdict(&valley);
    assert_eq!(words(&found), ["cycle", "valley"], "{}", report(&valley, &found));
    assert_eq!(valley.topology.host_count(), 4);
    has_note(&valley, "no file lists cables");
    // LLDP has them as well; a switch of which only the name is known has no routes.
    let lldp = SWITCHES.map(|name| sample(&format!("sonic-pod/routes-up/{name}.lldpctl.json")));
    let fabric = assemble(&[configs(), lldp.to_vec(), routes("routes-valley")].concat());
    assert_eq!(words(&verdict(&fabric)), ["cycle", "valley"]);
}

#[test]
fn a_table_of_another_moment_or_switch_is_refused() {
    let refused =
        |sources: &[Source]| from_sources(sources, Choices::default()).unwrap_err().to_string();
    // tor1 before and after the failures.
    let other = sample("sonic-pod/routes-up/pod-tor1.show-ip-route.json");
    let message = refused(&[pod("routes-valley"), vec![other]].concat());
    assert!(message.contains("switch \"pod-tor1\" sends 192.168."), "{message}");
    assert!(message.contains("pod-tor1.show-ip-route.json:"), "{message}");

    let nameless = source("routes.json", routes("routes-up").remove(0).text);
    let message = refused(&[configs(), vec![nameless]].concat());
    assert!(message.contains("the file does not say of which switch it is"), "{message}");
    assert!(message.contains("pod-leaf0"), "{message}");

    let cut = routes("routes-up").remove(0);
    let cut = source(&cut.file, &cut.text[..cut.text.len() / 2]);
    let message = refused(&[configs(), vec![cut]].concat());
    assert!(message.contains("the file ends in the middle"), "{message}");
}

/// A line of three switches with a host at each end, all of FRR; `s` has these routes besides.
fn line(a: &str, s: &str, b: &str) -> Vec<Source> {
    let table = |name: &str, own: &[[&str; 2]], rest: &str| {
        let connected = own.iter().map(|[prefix, port]| {
            format!(
                "\"{prefix}\": [{{\"protocol\": \"connected\", \"selected\": true, \"installed\": \
                 true, \"nexthops\": [{{\"fib\": true, \"directlyConnected\": true, \
                 \"interfaceName\": \"{port}\"}}]}}]"
            )
        });
        let rest = rest.split(' ').filter(|word| !word.is_empty()).map(|word| {
            let (prefix, hops) = word.split_once('>').unwrap();
            let hops = hops.split(',').map(|hop| match hop {
                "drop" => "{\"fib\": true, \"blackhole\": true}".to_string(),
                hop => format!("{{\"fib\": true, \"ip\": \"{hop}\"}}"),
            });
            let hops = hops.collect::<Vec<_>>().join(", ");
            format!(
                "\n\"{prefix}\": [{{\"protocol\": \"static\", \"selected\": true, \"installed\": \
                 true, \"nexthops\": [{hops}]}}]"
            )
        });
        let all = connected.chain(rest).collect::<Vec<_>>().join(", ");
        source(&format!("{name}.json"), format!("{{{all}}}"))
    };
    vec![
        table("a", &[["10.0.0.0/31", "up"], ["192.168.0.0/24", "hosts"]], a),
        table("s", &[["10.0.0.0/31", "da"], ["10.0.1.0/31", "db"]], s),
        table("b", &[["10.0.1.0/31", "up"], ["192.168.1.0/24", "hosts"]], b),
    ]
}

#[test]
fn black_holes_and_loops_are_found_with_their_lines() {
    let up = ["0.0.0.0/0>10.0.0.1", "0.0.0.0/0>10.0.1.1"];
    let good = assemble(&line(up[0], "192.168.0.0/24>10.0.0.0 192.168.1.0/24>10.0.1.0", up[1]));
    let found = verdict(&good);
    assert_eq!(words(&found), [""; 0], "{}", report(&good, &found));
    assert_eq!(good.topology.host_count(), 2);

    let cases = [
        // No route at all, and one that drops.
        ("192.168.0.0/24>10.0.0.0", "black-hole", "s has no route to 192.168.1.0/24"),
        (
            "192.168.0.0/24>10.0.0.0 192.168.1.0/24>drop",
            "black-hole",
            "s drops packets for 192.168.1.0/24 by a route of its own [s.json:3]",
        ),
        // Two defaults that point at each other.
        (
            "192.168.0.0/24>10.0.0.0 0.0.0.0/0>10.0.0.0",
            "loop",
            "packets for 192.168.1.0/24 go in a circle",
        ),
    ];
    for (routes, word, says) in cases {
        let fabric = assemble(&line(up[0], routes, up[1]));
        let found = verdict(&fabric);
        assert!(found.words().contains(word), "{routes}: {:?}", found.words());
        let shown = report(&fabric, &found);
        assert!(shown.contains(says), "{says:?} in {shown}");
        let record = serde_json::to_value(CheckRecord::new(&fabric, &found)).unwrap();
        assert_eq!(record["faults"][0]["kind"], word);
        let log = serde_json::to_value(sarif::document(&fabric, &found, &[])).unwrap();
        let results = log["runs"][0]["results"].as_array().unwrap();
        assert!(
            results
                .iter()
                .any(|it| it["message"]["text"].as_str().unwrap().contains("192.168.1.0/24"))
        );
    }
}

#[test]
fn longer_prefixes_inside_those_of_hosts_are_followed_too() {
    // One address of b's hosts is sent back to a.
    let s = "192.168.0.0/24>10.0.0.0 192.168.1.0/24>10.0.1.0 192.168.1.7/32>10.0.0.0";
    let fabric = assemble(&line("0.0.0.0/0>10.0.0.1", s, "0.0.0.0/0>10.0.1.1"));
    let found = verdict(&fabric);
    assert!(report(&fabric, &found).contains("packets for 192.168.1.7/32 go in a circle"));
}

#[test]
fn what_nobody_knows_is_said() {
    let s = "192.168.0.0/24>10.0.0.0 192.168.1.0/24>10.9.9.9";
    let fabric = assemble(&line("0.0.0.0/0>10.0.0.1", s, "0.0.0.0/0>10.0.1.1"));
    has_note(&fabric, "no cable is known behind 1 next hop");
    let found = verdict(&fabric);
    assert!(report(&fabric, &found).contains("as far as they are known"));
    assert_eq!((words(&found), found.unrouted_pairs), (vec![], 0));

    let mut two = line("0.0.0.0/0>10.0.0.1", s, "0.0.0.0/0>10.0.1.1");
    let of_red = "{\"vrfName\": \"red\", \"protocol\": \"static\"";
    two[1].text = two[1].text.replace("{\"protocol\": \"static\"", of_red);
    let fabric = assemble(&two);
    has_note(&fabric, "the routes of VRF default are looked at; those of 1 other VRF are left out");
    assert!(verdict(&fabric).words().contains("black-hole"));
}

#[test]
fn the_vrf_can_be_chosen() {
    let s = "192.168.0.0/24>10.0.0.0 192.168.1.0/24>10.0.1.0";
    let mut all = line("0.0.0.0/0>10.0.0.1", s, "0.0.0.0/0>10.0.1.1");
    for table in &mut all {
        let of_red = "{\"vrfName\": \"red\", \"protocol\"";
        table.text = table.text.replace("{\"protocol\"", of_red);
    }
    // One switch has something of the default VRF beside that.
    let other = "{\"172.16.0.0/24\": [{\"protocol\": \"connected\", \"selected\": true, \
                 \"installed\": true, \"nexthops\": [{\"fib\": true, \"directlyConnected\": true, \
                 \"interfaceName\": \"other\"}]}]}";
    all.push(source("a.default.json", other));
    let of = |vrf| from_sources(&all, Choices { vrf, ..Choices::default() });
    let fabric = of(Some("red")).unwrap();
    has_note(&fabric, "the routes of VRF red are looked at; those of 1 other VRF are left out");
    assert_eq!((words(&verdict(&fabric)), fabric.topology.host_count()), (vec![], 2));
    assert!(of(None).is_err(), "the default VRF has one prefix and no cables");
    let problem = of(Some("blue")).unwrap_err().render(false);
    assert!(problem.contains("no file has routes of VRF blue"), "{problem}");
    assert!(problem.contains("there are: default, red"), "{problem}");
}

#[test]
fn weights_are_shares_of_a_set() {
    let weighted = |sources: Vec<Source>| {
        let mut sources = sources;
        let table = &mut sources.last_mut().unwrap().text;
        let (before, route) = table.split_once("\"192.168.1.0/24\": [").unwrap();
        let route = route.replacen("\"weight\": 1", "\"weight\": 3", 1);
        *table = format!("{before}\"192.168.1.0/24\": [{route}");
        assemble(&sources)
    };
    let mut sources = configs();
    sources.push(sample("sonic-pod/routes-up/pod-tor0.show-ip-route.json"));
    let (plain, heavy) = (assemble(&sources), weighted(sources.clone()));
    let tor = plain.topology.node_named("pod-tor0").unwrap();
    let longest = |fabric: &Fabric| {
        let groups = fabric.routes.groups.addresses();
        groups.map(|group| fabric.routes.table.next_hops(tor, group).len()).max().unwrap()
    };
    // Two port channels of two ports each: one place per port, or three to one.
    assert_eq!((longest(&plain), longest(&heavy)), (4, 8));
}

/// The pod with another configuration of one switch, as a mistake would leave it.
fn pod_with_change(switch: &str, from: &str, to: &str) -> Fabric {
    let mut sources = pod("routes-up");
    let number = SWITCHES.iter().position(|name| *name == switch).unwrap();
    let config = &mut sources[number].text;
    assert!(config.contains(from), "{from}");
    *config = config.replace(from, to);
    assemble(&sources)
}

#[test]
fn code_points_that_change_their_priority_are_found() {
    let fabric = pod_with_change(
        "pod-leaf1",
        "\"3\": \"3\",\n   \"4\": \"4\",\n   \"5\": \"2\"",
        "\"3\": \"4\",\n   \"4\": \"3\",\n   \"5\": \"2\"",
    );
    let found = verdict(&fabric);
    assert_eq!(words(&found), ["class-change"], "{}", report(&fabric, &found));
    let shown = report(&fabric, &found);
    assert!(shown.contains("DSCP 3 is priority 3 before pod-tor0"), "{shown}");
    assert!(shown.contains("and priority 4 behind it, at pod-leaf1"), "{shown}");
}

#[test]
fn packets_that_leave_the_lossless_class_are_found() {
    let fabric = pod_with_change(
        "pod-leaf1",
        "\"3\": \"3\",\n   \"4\": \"4\",\n   \"5\": \"2\"",
        "\"3\": \"1\",\n   \"4\": \"4\",\n   \"5\": \"2\"",
    );
    let found = verdict(&fabric);
    assert_eq!(words(&found), ["class-change", "lossy"], "{}", report(&fabric, &found));
    assert!(report(&fabric, &found).contains("DSCP 3 leaves the lossless class: pod-leaf1"));

    // PAUSE that stops another queue than the one that packets are in.
    let map = "\"MAP_PFC_PRIORITY_TO_QUEUE\": {\n  \"AZURE\": {\n   \"0\": \"0\",\n   \"1\": \"1\",\n   \"2\": \"2\",\n   \"3\": \"3\"";
    let fabric = pod_with_change("pod-tor1", map, &map.replace("\"3\": \"3\"", "\"3\": \"2\""));
    let found = verdict(&fabric);
    assert_eq!(words(&found), ["lossy"], "{}", report(&fabric, &found));
    assert!(report(&fabric, &found).contains("DSCP 3 does not stop at pod-tor1"));
}
