//! Service levels and partitions as opensm's configuration files say them.

use std::fmt::Write;

use pauseless_core::id::NodeId;
use pauseless_fabric::fabric::Fabric;
use pauseless_fabric::routing::Groups;

/// A policy that gives packets from and to the end nodes of the first list service level 1, of the
/// others those of the second list level 2, and so on; 0 to all others. Rules are tried in order.
pub(super) fn by_end_node(fabric: &Fabric, lanes: &[Vec<NodeId>]) -> Result<String, String> {
    let mut text = groups(fabric, lanes)?;
    text += &levels(lanes.len() + 1);
    text += "qos-match-rules\n";
    for level in 1..=lanes.len() {
        for end in ["source", "destination"] {
            rule(&mut text, &[end], level);
        }
    }
    text += "end-qos-match-rules\n";
    Ok(text)
}

/// A policy that gives packets the service level of their target's layer.
pub(super) fn by_target(
    fabric: &Fabric,
    addresses: &Groups,
    layer_of: &[u8],
) -> Result<String, String> {
    let count = usize::from(layer_of.iter().copied().max().unwrap_or(0));
    let mut lanes = vec![Vec::new(); count];
    for group in addresses.addresses() {
        let host = addresses.target(group);
        if layer_of[group.index()] != layer_of[addresses.of_host(host).index()] {
            let name = &fabric.topology.node(host).name;
            return Err(format!(
                "the addresses of {name} are in different layers, which opensm's policy cannot say; \
                 use an LMC of 0"
            ));
        }
    }
    for &host in fabric.topology.hosts() {
        let layer = usize::from(layer_of[addresses.of_host(host).index()]);
        if layer > 0 {
            lanes[layer - 1].push(host);
        }
    }
    let mut text = groups(fabric, &lanes)?;
    text += &levels(count + 1);
    text += "qos-match-rules\n";
    for level in 1..=count {
        rule(&mut text, &["destination"], level);
    }
    text += "end-qos-match-rules\n";
    Ok(text)
}

/// A port group for each list of end nodes.
fn groups(fabric: &Fabric, lanes: &[Vec<NodeId>]) -> Result<String, String> {
    let mut text = "port-groups\n".to_string();
    for (level, nodes) in (1..).zip(lanes) {
        let _ = writeln!(text, "    port-group\n        name: lane{level}");
        for node in nodes {
            let _ = writeln!(text, "        port-guid: {:#018x}", port_guid(fabric, *node)?);
        }
        text += "    end-port-group\n";
    }
    text += "end-port-groups\n";
    Ok(text)
}

/// The service levels 0 to `count` - 1.
fn levels(count: usize) -> String {
    let mut text = "qos-levels\n".to_string();
    for level in 0..count {
        let name = if level == 0 { "DEFAULT".to_string() } else { format!("SL{level}") };
        let _ = writeln!(
            text,
            "    qos-level\n        name: {name}\n        sl: {level}\n    end-qos-level"
        );
    }
    text += "end-qos-levels\n";
    text
}

fn rule(text: &mut String, ends: &[&str], level: usize) {
    text.push_str("    qos-match-rule\n");
    for end in ends {
        let _ = writeln!(text, "        {end}: lane{level}");
    }
    let _ = writeln!(text, "        qos-level-name: SL{level}\n    end-qos-match-rule");
}

/// Lines for opensm.conf: each of the levels in use has the lane of its own number, and lanes take
/// turns.
pub(super) fn options(count: usize) -> String {
    let lanes = Vec::from_iter((0..16).map(|level| if level < count { level } else { 0 }));
    let listed = |text: Vec<String>| text.join(",");
    let map = listed(lanes.iter().map(usize::to_string).collect());
    let turns = listed((0..count).map(|lane| format!("{lane}:64")).collect());
    let available = count.next_power_of_two().max(2);
    format!(
        "qos TRUE\nqos_max_vls {available}\nqos_high_limit 0\nqos_vlarb_high 0:0\nqos_vlarb_low \
         {turns}\nqos_sl2vl {map}\n"
    )
}

/// Partitions in which these end nodes reach nobody but the subnet manager. opensm makes every port
/// at least a limited member of the default partition; two of these do not reach each other. All
/// others share a further partition, which comes first in the tables of their ports, where programs
/// look for one.
pub(super) fn partitions(fabric: &Fabric, nodes: &[NodeId]) -> Result<String, String> {
    let mut together = Vec::new();
    for &host in fabric.topology.hosts() {
        let guid = port_guid(fabric, host)?;
        if !nodes.contains(&host) {
            together.push(format!("\n    {guid:#018x}=full"));
        }
    }
    Ok(format!(
        "Default=0x7fff, ipoib : SELF=full ;\nTogether=0x0001, indx0, ipoib :{} ;\n",
        together.join(",")
    ))
}

/// The GUID of the port of an end node.
fn port_guid(fabric: &Fabric, host: NodeId) -> Result<u64, String> {
    fabric.evidence.addresses.port_guids.get(&host).copied().ok_or_else(|| {
        format!(
            "no file has the GUID of the port of {}; pass opensm-subnet.lst or ibnetdiscover, which \
             have them",
            fabric.topology.node(host).name
        )
    })
}
