//! Dual ToR: packets that a standby switch sends on through a tunnel.

use pauseless_dumps::assemble::ethernet::Tunnels;

use super::*;

/// Two leaves and two ToRs that share two servers; packets for the standby one are bounced.
fn dual_tor(maps: &str) -> Vec<Source> {
    let lab = "topology:\n  nodes: {L0: {kind: sonic}, L1: {kind: sonic}, A: , B: , C: {kind: sonic}, \
        s1: {kind: linux}, s2: {kind: linux}, far: {kind: linux}}\n  links:\n\
        \x20 - endpoints: [L0:Ethernet0, A:Ethernet0]\n  - endpoints: [L0:Ethernet4, B:Ethernet0]\n\
        \x20 - endpoints: [L1:Ethernet0, A:Ethernet4]\n  - endpoints: [L1:Ethernet4, B:Ethernet4]\n\
        \x20 - endpoints: [s1:e1, A:Ethernet8]\n  - endpoints: [s1:e2, B:Ethernet8]\n\
        \x20 - endpoints: [s2:e1, A:Ethernet12]\n  - endpoints: [s2:e2, B:Ethernet12]\n\
        \x20 - endpoints: [L0:Ethernet8, C:Ethernet0]\n  - endpoints: [L1:Ethernet8, C:Ethernet4]\n\
        \x20 - endpoints: [far:e1, C:Ethernet8]\n";
    let qos: serde_json::Value =
        serde_json::from_str(&sample("qos-arista7260-dualtor.json.gz").text).unwrap();
    let up = "{\"pfc_enable\": \"2,3,4,6\", \"dscp_to_tc_map\": \"AZURE_UPLINK\"}";
    let down = "{\"pfc_enable\": \"3,4\", \"dscp_to_tc_map\": \"AZURE\"}";
    let switch = |name: &str, below: &str| {
        let text = format!(
            "{{\"DEVICE_METADATA\": {{\"localhost\": {{\"hostname\": \"{name}\"}}}},\n\
             \"DSCP_TO_TC_MAP\": {}, \"TC_TO_QUEUE_MAP\": {}, \"TC_TO_PRIORITY_GROUP_MAP\": {},\n\
             \"PORT_QOS_MAP\": {{\"Ethernet0\": {up}, \"Ethernet4\": {up}, {below}}}}}",
            qos["DSCP_TO_TC_MAP"], qos["TC_TO_QUEUE_MAP"], qos["TC_TO_PRIORITY_GROUP_MAP"],
        );
        source(&format!("{name}.json"), text)
    };
    let below = format!("\"Ethernet8\": {down}, \"Ethernet12\": {down}");
    let tor = |name: &str| {
        let mut tor = switch(name, &below);
        let tunnel =
            format!("\"TUNNEL\": {{\"MuxTunnel0\": {{\"tunnel_type\": \"IPINIP\"{maps}}}}},\n");
        tor.text.insert_str(1, &tunnel);
        tor
    };
    let leaf = |name: &str| switch(name, &format!("\"Ethernet8\": {down}"));
    vec![source("pod.yml", lab), leaf("L0"), leaf("L1"), tor("A"), tor("B"), leaf("C")]
}

const TUNNEL_MAPS: &str = ", \"encap_tc_to_queue_map\": \"AZURE_TUNNEL\", \
    \"decap_tc_to_pg_map\": \"AZURE_TUNNEL\", \"decap_dscp_to_tc_map\": \"AZURE_TUNNEL\"";

#[test]
fn a_tunnel_needs_priorities_of_its_own() {
    let bounced = Choices { tunnels: Tunnels::Bounced, ..Choices::default() };
    let plain = from_sources(&dual_tor(""), bounced).unwrap();
    let found = verdict(&plain);
    assert!(found.is_cyclic());
    let expected = ["A", "L0", "B", "L1"].map(|name| (name.to_string(), 3));
    let mirror = ["A", "L1", "B", "L0"].map(|name| (name.to_string(), 3));
    let cycle = cycle(&plain, &found);
    assert!(cycle == expected || cycle == mirror, "{cycle:?}");

    let mapped = from_sources(&dual_tor(TUNNEL_MAPS), bounced).unwrap();
    let found = verdict(&mapped);
    assert!(!found.is_cyclic(), "{:?}", found.components);
    has_note(&mapped, "no port that faces a host maps packets to priority 2, 6");
    // The bounced packets are there: they are what makes priority 2 wait.
    let choices = Choices { tunnels: Tunnels::LeftOut, ..Choices::default() };
    let left_out = from_sources(&dual_tor(TUNNEL_MAPS), choices).unwrap();
    assert!(found.dependency_count > verdict(&left_out).dependency_count);
    has_note(&left_out, "2 switches with a tunnel (A, B): packets that a standby switch sends on");
}

#[test]
fn tunnels_that_cannot_be_followed_are_noted() {
    let bounced = Choices { tunnels: Tunnels::Bounced, ..Choices::default() };
    let without = |part: &str, file: &str| {
        let mut sources = dual_tor(TUNNEL_MAPS);
        let lab = sources[0].text.lines().filter(|line| !line.contains(part));
        sources[0].text = lab.collect::<Vec<_>>().join("\n");
        sources.retain(|source| source.file != file);
        from_sources(&sources, bounced).unwrap()
    };
    // What L0 has for B must go down to A or C and up to L1.
    let fabric = without("L0:Ethernet4", "");
    has_note(&fabric, "come down to one of them and go up again");
    let fabric = without("L1:Ethernet", "L1.json");
    has_note(&fabric, "fewer than two leaves in common");
    let mut sources = dual_tor(TUNNEL_MAPS);
    sources[0].text = sources[0].text.replace("s1:e2", "t1:e2").replace("s2:e2", "t2:e2");
    sources[0].text =
        sources[0].text.replace("far: {", "t1: {kind: host}, t2: {kind: host}, far: {");
    let fabric = from_sources(&sources, bounced).unwrap();
    has_note(&fabric, "no server is cabled to two of them");
}
