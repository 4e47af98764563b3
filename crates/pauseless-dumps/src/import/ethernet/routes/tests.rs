//! Routes as programs write them, and as they do not.

use super::super::sonic;
use super::super::testing::{check_bad, never_panics, sample};
use super::*;

/// A route in one line: its prefix and where its packets go.
fn line(route: &Route) -> String {
    let hop = |hop: &NextHop| {
        let address = hop.address.map_or("-".to_string(), |address| address.to_string());
        let weight = if hop.weight == 1 { String::new() } else { format!("*{}", hop.weight) };
        format!("{address}@{}{weight}", hop.interface.as_deref().unwrap_or("-"))
    };
    let target = match &route.target {
        Target::Hops(hops) => hops.iter().map(hop).collect::<Vec<_>>().join(" "),
        Target::Connected(interface) => format!("on {}", interface.as_deref().unwrap_or("-")),
        Target::Local => "self".to_string(),
        Target::Discard => "drop".to_string(),
    };
    format!("{} {target}", route.prefix)
}

fn lines(tables: &[RouteTable]) -> Vec<String> {
    tables.iter().flat_map(|table| table.routes.iter().map(line)).collect()
}

const HEALTHY: [&str; 6] = [
    "10.0.0.0/31 on e1",
    "10.0.0.2/31 on e2",
    "10.9.0.0/16 drop",
    "10.20.0.0/16 10.0.0.1@e1 10.0.0.3@e2",
    "192.168.0.0/24 on h0",
    "192.168.1.0/24 10.0.0.1@e1 10.0.0.3@e2",
];

#[test]
fn frr_and_the_kernel_say_the_same() {
    // The routes of one FRR 8.4.4, in two forms; that of 10.22.0.0/16 is not selected.
    let frr = lines(&frr::parse(&sample("frr-8.4/show-ip-route.json")).unwrap());
    assert_eq!(frr, HEALTHY);
    let kernel = lines(&kernel::parse(&sample("frr-8.4/ip-route.json")).unwrap());
    assert_eq!(kernel, HEALTHY);
    let bgp = lines(&bgp::parse(&sample("frr-8.4/show-bgp.json")).unwrap());
    let expected = [
        "10.9.0.0/16 on -",
        "10.20.0.0/16 192.168.1.5@-",
        "192.168.0.0/24 on -",
        "192.168.1.0/24 10.0.0.3@- 10.0.0.1@-",
    ];
    assert_eq!(bgp, expected);
}

#[test]
fn the_pod_is_the_same_in_every_form() {
    let of = |name: &str| sample(&format!("sonic-pod/routes-up/{name}"));
    let sorted = |mut lines: Vec<String>| {
        lines.sort();
        lines
    };
    for switch in ["pod-leaf0", "pod-leaf1", "pod-tor0", "pod-tor1", "pod-tor2", "pod-tor3"] {
        let frr = frr::parse(&of(&format!("{switch}.show-ip-route.json"))).unwrap();
        let appl = sonic::parse(&of(&format!("{switch}.appl_db.json"))).unwrap();
        assert_eq!(sorted(lines(&frr)), sorted(lines(&appl.layer3.routes)), "{switch}");
        if switch == "pod-tor0" {
            let kernel = kernel::parse(&of("pod-tor0.ip-route.json")).unwrap();
            assert_eq!(sorted(lines(&frr)), sorted(lines(&kernel)));
        }
        let batfish = batfish::parse(&of("batfish-routes.json")).unwrap();
        let table = batfish.into_iter().find(|table| table.node.as_deref() == Some(switch));
        if let Some(table) = table {
            assert_eq!(sorted(lines(&frr)).len(), table.routes.len(), "{switch}");
        }
    }
}

#[test]
fn frr_in_all_its_forms() {
    let route = |extra: &str| {
        format!(
            "{{\"protocol\": \"bgp\", \"selected\": true, \"installed\": true{extra}, \
             \"nexthops\": [{{\"fib\": true, \"ip\": \"1.1.1.1\", \"interfaceName\": \"e\", \
             \"weight\": 3}}, {{\"fib\": true, \"ip\": \"1.1.1.2\", \"interfaceName\": \"f\"}}, \
             {{\"ip\": \"1.1.1.3\"}}]}}"
        )
    };
    let one = format!("{{\"10.0.0.0/8\": [{}]}}", route(""));
    let hops = "10.0.0.0/8 1.1.1.1@e*3 1.1.1.2@f";
    assert_eq!(lines(&frr::parse(&one).unwrap()), [hops]);
    // Of all VRFs: one object inside another, or one after the other.
    let red = format!("{{\"10.0.0.0/8\": [{}]}}", route(", \"vrfName\": \"red\""));
    for text in [format!("{{\"default\": {one}, \"red\": {red}}}"), format!("{one}\n{red}\n")] {
        let tables = frr::parse(&text).unwrap();
        let vrfs: Vec<&str> = tables.iter().map(|table| table.vrf.as_str()).collect();
        assert_eq!((vrfs, lines(&tables)), (vec!["default", "red"], vec![hops.to_string(); 2]));
    }
    let table = |text: &str| frr::parse(&format!("{{\"10.0.0.0/8\": [{text}]}}")).unwrap();
    let not = table("{\"selected\": true, \"protocol\": \"bgp\"}");
    assert_eq!((not[0].routes.len(), not[0].skipped.len()), (0, 1));
    assert!(table("{\"installed\": true}").is_empty());
    let target = |hop: &str| {
        let text = "{\"selected\": true, \"installed\": true, \"protocol\": \"static\", ";
        lines(&table(&format!("{text}\"nexthops\": [{{\"fib\": true, {hop}}}]}}")))
    };
    assert_eq!(target("\"blackhole\": true"), ["10.0.0.0/8 drop"]);
    assert_eq!(target("\"reject\": true"), ["10.0.0.0/8 drop"]);
    assert_eq!(target("\"ip\": \"fe80::1\", \"interfaceName\": \"e\""), ["10.0.0.0/8 fe80::1@e"]);
    assert_eq!(target("\"recursive\": true, \"ip\": \"1.1.1.1\""), ["10.0.0.0/8 drop"]);
}

#[test]
fn the_kernel_in_all_its_forms() {
    let table = [
        ("[]", vec![]),
        (
            "[{\"dst\": \"default\", \"gateway\": \"1.1.1.1\", \"dev\": \"e\"}]",
            vec!["0.0.0.0/0 1.1.1.1@e"],
        ),
        (
            "[{\"dst\": \"default\", \"gateway\": \"fe80::1\", \"dev\": \"e\"}]",
            vec!["::/0 fe80::1@e"],
        ),
        // Of two metrics the lower, and of one metric both.
        (
            "[{\"dst\": \"fc00::/64\", \"gateway\": \"fe80::1\", \"dev\": \"e\", \"metric\": 20}, \
             {\"dst\": \"fc00::/64\", \"gateway\": \"fe80::2\", \"dev\": \"f\", \"metric\": 20}, \
             {\"dst\": \"fc00::/64\", \"gateway\": \"fe80::3\", \"dev\": \"g\", \"metric\": 9}, \
             {\"dst\": \"fc00::/64\", \"gateway\": \"fe80::4\", \"dev\": \"h\", \"metric\": 9}]",
            vec!["fc00::/64 fe80::3@g fe80::4@h"],
        ),
        (
            "[{\"dst\": \"10.0.0.0/8\", \"nexthops\": [{\"via\": {\"family\": \"inet6\", \
             \"host\": \"fe80::1\"}, \"dev\": \"e\", \"weight\": 2, \"flags\": []}, \
             {\"gateway\": \"1.1.1.2\", \"dev\": \"f\", \"weight\": 1, \"flags\": [\"dead\"]}]}]",
            vec!["10.0.0.0/8 fe80::1@e*2"],
        ),
        (
            "[{\"type\": \"unreachable\", \"dst\": \"10.0.0.0/8\"}, {\"type\": \"broadcast\", \
             \"dst\": \"10.0.0.255\", \"dev\": \"e\"}, {\"dst\": \"11.0.0.0/8\", \"dev\": \"e\", \
             \"table\": \"local\"}, {\"dst\": \"12.0.0.0/8\", \"dev\": \"e\", \"scope\": \"link\"}]",
            vec!["10.0.0.0/8 drop", "12.0.0.0/8 on e"],
        ),
    ];
    for (text, expected) in table {
        assert_eq!(lines(&kernel::parse(text).unwrap()), expected, "{text}");
    }
}

#[test]
fn batfish_as_an_answer_and_as_a_frame() {
    let frame = "[{\"Node\": \"a\", \"VRF\": \"default\", \"Network\": \"10.0.0.0/8\", \
        \"Next_Hop\": \"ip 1.1.1.1\", \"Next_Hop_IP\": \"1.1.1.1\", \"Next_Hop_Interface\": \
        \"dynamic\", \"Protocol\": \"bgp\"}, {\"Node\": \"a\", \"VRF\": \"default\", \"Network\": \
        \"10.0.0.0/8\", \"Next_Hop_IP\": \"1.1.1.2\", \"Next_Hop_Interface\": \"e\", \
        \"Protocol\": \"bgp\"}, {\"Node\": \"b\", \"Network\": \"0.0.0.0/0\", \"Next_Hop\": \
        {\"type\": \"discard\"}, \"Protocol\": \"static\"}]";
    let tables = batfish::parse(frame).unwrap();
    assert_eq!(lines(&tables), ["10.0.0.0/8 1.1.1.1@- 1.1.1.2@e", "0.0.0.0/0 drop"]);
    assert_eq!(tables[1].node.as_deref(), Some("b"));
}

#[test]
fn appl_db_has_weights_groups_and_vrfs() {
    let text = "{\"ROUTE_TABLE:10.0.0.0/8\": {\"nexthop\": \"1.1.1.1,1.1.1.2\", \"ifname\": \
        \"PortChannel1,PortChannel2\", \"weight\": \"3,1\"}, \"ROUTE_TABLE:Vrf1:fc00::/64\": \
        {\"nexthop\": \"::\", \"ifname\": \"Vlan100\"}, \"ROUTE_TABLE:11.0.0.0/8\": \
        {\"blackhole\": \"true\"}, \"NEXTHOP_GROUP_TABLE:g\": {\"nexthop\": \"1.1.1.3\", \
        \"ifname\": \"Ethernet0\"}, \"ROUTE_TABLE:12.0.0.0/8\": {\"nexthop_group\": \"g\"}, \
        \"ROUTE_TABLE:13.0.0.0/8\": {\"nexthop_group\": \"unknown\"}, \
        \"INTF_TABLE:PortChannel1:1.1.1.0/31\": {}, \"INTF_TABLE:PortChannel1\": {}, \
        \"LAG_MEMBER_TABLE:PortChannel1:Ethernet4\": {\"status\": \"disabled\"}, \
        \"NEIGH_TABLE:Vlan100:fc00::5\": {\"neigh\": \"52:54:00:AA:00:01\"}, \
        \"FDB_TABLE:Vlan100:52:54:00:aa:00:01\": {\"port\": \"Ethernet8\"}}";
    let layer3 = sonic::parse(text).unwrap().layer3;
    let expected = [
        "10.0.0.0/8 1.1.1.1@PortChannel1*3 1.1.1.2@PortChannel2",
        "11.0.0.0/8 drop",
        "12.0.0.0/8 1.1.1.3@Ethernet0",
        "fc00::/64 on Vlan100",
    ];
    assert_eq!(lines(&layer3.routes), expected);
    assert_eq!(layer3.routes[0].skipped.len(), 1);
    assert!(layer3.idle.contains("Ethernet4") && layer3.addresses.contains_key("PortChannel1"));
    let hardware = &layer3.hardware[&("Vlan100".to_string(), "fc00::5".parse().unwrap())];
    assert_eq!(layer3.learned[&("Vlan100".to_string(), hardware.clone())], "Ethernet8");
}

#[test]
fn bad_files_are_refused_with_their_line() {
    check_bad(
        frr::parse,
        &[
            ("{\"10.0.0.0/8\": 3}", 1, "\"10.0.0.0/8\" is a number"),
            ("{\"10.0.0.0/8\": [],\n\"10.0.0.0/33\": []}", 2, "\"10.0.0.0/33\" is not a prefix"),
            ("{\"10.0.0.0/8\": [\n{\"selected\": 1}]}", 2, "\"selected\" is a number"),
            ("{\"10.0.0.0/8\": [{\n", 1, "the file ends in the middle"),
            ("{\"10.0.0.0/8\": [], \"10.0.0.0/8\": []}", 1, "\"10.0.0.0/8\" is twice"),
            (
                "{\"10.0.0.0/8\": [{\"selected\": true, \"installed\": true, \"nexthops\": [],\n\
                 \"protocol\": \"bgp\"},\n{\"selected\": true, \"installed\": true}]}",
                3,
                "10.0.0.0/8 has two routes",
            ),
            (
                "{\"10.0.0.0/8\": [{\"selected\": true, \"installed\": true, \"nexthops\": [\n\
                 {\"fib\": true, \"ip\": \"10.0.0\"}]}]}",
                2,
                "ip of \"10.0.0\"",
            ),
        ],
    );
    check_bad(
        kernel::parse,
        &[
            ("{}", 1, "the file is an object"),
            ("[\n{\"dev\": \"e\"}]", 2, "a route without \"dst\""),
            ("[{\"dst\": \"x\"}]", 1, "\"x\" is not a prefix"),
            ("[{\"dst\": \"default\", \"metric\": -1}]", 1, "metric of \"-1\""),
        ],
    );
    check_bad(
        batfish::parse,
        &[
            ("[\n3]", 2, "an answer is a number"),
            ("{\"class\": \"x\"}", 1, "an answer without \"rows\""),
            ("[{\"Node\": \"a\"}]", 1, "a row without \"Network\""),
        ],
    );
    check_bad(
        bgp::parse,
        &[
            ("{\"vrfId\": 0}", 1, "BGP's table has no \"routes\""),
            ("{\"routes\": {\n\"x\": []}}", 2, "\"x\" is not a prefix"),
        ],
    );
    check_bad(
        sonic::parse,
        &[
            (
                "{\"ROUTE_TABLE:10.0.0.0/8\": {\"nexthop\": \"1.1.1.1\",\n\"ifname\": \"a,b\"}}",
                1,
                "1 next hops, 2 interfaces",
            ),
            ("{\n\"ROUTE_TABLE:x\": {}}", 2, "\"x\" is not a prefix"),
            ("{\n\"INTF_TABLE:a:10.0.0\": {}}", 2, "\"10.0.0\" is not a prefix"),
            ("{\n\"PORTCHANNEL_MEMBER\": {\"a\": {}}}", 2, "a member without its port"),
        ],
    );
}

#[test]
fn no_text_makes_them_panic() {
    never_panics(frr::parse, "frr-8.4/show-ip-route.json");
    never_panics(bgp::parse, "frr-8.4/show-bgp.json");
    never_panics(kernel::parse, "frr-8.4/ip-route.json");
    never_panics(batfish::parse, "sonic-pod/routes-up/batfish-routes.json");
    never_panics(sonic::parse, "sonic-pod/routes-up/pod-leaf0.appl_db.json");
}
