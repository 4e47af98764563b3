//! A proposal as the files that opensm takes, with the commands that apply them.

mod policy;
mod tables;

use std::fmt::Write;

use pauseless_core::id::NodeId;
use pauseless_fabric::fabric::{Fabric, Medium, Origin};
use pauseless_fabric::routing::layered::Layered;
use serde::Serialize;

use crate::Verdict;
use crate::advice::{Change, Choice, Kind, Proposal, words};
use crate::json::ProposalRecord;

/// A file to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FixFile {
    /// The name of the file, in the folder of its kind of fix.
    pub name: &'static str,
    /// What is in it.
    pub text: String,
}

/// Whether this is a fabric that opensm routes, and whose files say how it calls switches.
pub fn is_possible(fabric: &Fabric) -> bool {
    fabric.medium == Medium::InfiniBand && fabric.origin == Origin::Tables
}

/// The files that carry out the proposal of this kind.
///
/// # Errors
/// Why there is none: the proposal was not made, or does not help here, or opensm cannot be told.
pub fn files(fabric: &Fabric, verdict: &Verdict, kind: Kind) -> Result<Vec<FixFile>, String> {
    let word = kind.word();
    let Some(advice) = verdict.advice.as_ref() else {
        return Err(format!("--fix {word}: there is no cycle, so there is nothing to fix"));
    };
    if fabric.medium != Medium::InfiniBand {
        return Err(format!(
            "--fix {word} writes files for opensm; the switches of this fabric are Ethernet's, so \
             follow the advice in the report"
        ));
    }
    if fabric.origin != Origin::Tables {
        return Err(format!(
            "--fix {word} needs the forwarding tables and GUIDs of a real fabric; pass \
             opensm-subnet.lst and opensm.fdbs"
        ));
    }
    let Some(proposal) = advice.of_kind(kind) else {
        return Err(format!("--fix {word}: {}", never_proposed(kind)));
    };
    let blame = verdict.blame.as_ref();
    if !proposal.helps {
        return Err(format!(
            "--fix {word} would not help here. Tried: {} Result: {}",
            full_stop(words::what(fabric, blame, &proposal.change)),
            words::outcome(fabric, advice, proposal)
        ));
    }
    let mut files = match &proposal.change {
        Change::UpDown { roots, .. } => updn(fabric, roots)?,
        Change::Class { lanes } => class(fabric, lanes)?,
        Change::LeaveOut { nodes } => leave_out(fabric, nodes)?,
        Change::Layers(layered) => layers(fabric, layered)?,
    };
    let what = words::what(fabric, blame, &proposal.change);
    let outcome = words::outcome(fabric, advice, proposal);
    files.push(FixFile { name: "README.md", text: readme(proposal, &what, &outcome) });
    let record = ProposalRecord::new(fabric, verdict, advice, proposal);
    files.push(FixFile { name: "proposal.json", text: to_json(&record) });
    files.push(FixFile { name: "opensm.args", text: format!("{}\n", arguments(proposal)) });
    Ok(files)
}

fn to_json(record: &impl Serialize) -> String {
    pauseless_text::record::to_text(record)
}

fn full_stop(text: String) -> String {
    if text.ends_with('.') { text } else { format!("{text}.") }
}

/// Why there is no proposal of this kind.
fn never_proposed(kind: Kind) -> &'static str {
    match kind {
        Kind::UpDown => "no choice of roots loses no pair and has no cycle",
        Kind::Class | Kind::LeaveOut => {
            "no small set of end nodes was found to be to blame, or packets have several service \
             levels already"
        }
        Kind::Layers => "no layered routing was found",
    }
}

/// The further arguments of opensm, with files relative to the folder.
fn arguments(proposal: &Proposal) -> &'static str {
    match proposal.change.kind() {
        Kind::UpDown => "-R updn -a root_guid_file",
        Kind::Class => "-F qos-options.conf -Q -Y qos-policy.conf",
        Kind::Layers if is_one_lane(proposal) => "-R file -U lfts",
        Kind::Layers => "-F qos-options.conf -R file -U lfts -Q -Y qos-policy.conf",
        Kind::LeaveOut => "-P partitions.conf",
    }
}

fn updn(fabric: &Fabric, roots: &[NodeId]) -> Result<Vec<FixFile>, String> {
    let mut text = "# The roots of up*/down* routing, by node GUID.\n".to_string();
    for root in roots {
        let name = &fabric.topology.node(*root).name;
        let guid = fabric.names.device(*root).and_then(|device| device.guid);
        let guid = guid.ok_or_else(|| format!("no file has the GUID of switch {name}"))?;
        let _ = writeln!(text, "{guid:#018x} # {name}");
    }
    Ok(vec![FixFile { name: "root_guid_file", text }])
}

fn class(fabric: &Fabric, lanes: &[Vec<NodeId>]) -> Result<Vec<FixFile>, String> {
    let policy = policy::by_end_node(fabric, lanes)?;
    Ok(vec![
        FixFile { name: "qos-policy.conf", text: policy },
        FixFile { name: "qos-options.conf", text: policy::options(lanes.len() + 1) },
    ])
}

fn leave_out(fabric: &Fabric, nodes: &[NodeId]) -> Result<Vec<FixFile>, String> {
    let mut names = String::new();
    for node in nodes {
        let _ = writeln!(names, "{}", fabric.topology.node(*node).name);
    }
    Ok(vec![
        FixFile { name: "partitions.conf", text: policy::partitions(fabric, nodes)? },
        FixFile { name: "left-out.txt", text: names },
    ])
}

fn layers(fabric: &Fabric, layered: &Layered) -> Result<Vec<FixFile>, String> {
    let tables = FixFile { name: "lfts", text: tables::lfts(fabric, &layered.routes)? };
    if layered.layers == 1 {
        return Ok(vec![tables]);
    }
    let policy = policy::by_target(fabric, &layered.routes.groups, &layered.layer_of)?;
    Ok(vec![
        tables,
        FixFile { name: "qos-policy.conf", text: policy },
        FixFile { name: "qos-options.conf", text: policy::options(usize::from(layered.layers)) },
    ])
}

/// What the folder is, how to apply it, and how to see that it helped.
fn readme(proposal: &Proposal, what: &str, outcome: &str) -> String {
    let kind = proposal.change.kind();
    let notes = match &proposal.change {
        Change::UpDown { roots, choice: Choice::Searched } if roots.len() == 1 => UPDN_ONE,
        Change::UpDown { .. } => UPDN,
        Change::Class { .. } => CLASS,
        Change::LeaveOut { .. } => LEAVE_OUT,
        Change::Layers(_) if is_one_lane(proposal) => LAYERS_ONE,
        Change::Layers(_) => LAYERS,
    };
    // In a single lane there are no service levels to ask for.
    let verified = if is_one_lane(proposal) { Kind::UpDown } else { kind };
    format!(
        "# {word}\n\
         {what}\n\n\
         Tried on the tables of this fabric: {outcome}.\n\n\
         ## Apply\n\
         Stop opensm and start it in this folder with these further arguments, or put their paths \
         into opensm.conf:\n\n\
         ```sh\n\
         opensm {arguments}\n\
         ```\n\n\
         {notes}\n\
         ## Verify\n\
         {verify}",
        word = kind.word(),
        arguments = arguments(proposal),
        verify = verify(verified),
    )
}

/// Whether the layers proposed are one, so that opensm is told nothing of service levels.
fn is_one_lane(proposal: &Proposal) -> bool {
    proposal.change.kind() == Kind::Layers && proposal.outcome.classes == 1
}

fn verify(kind: Kind) -> &'static str {
    match kind {
        Kind::UpDown => {
            "Check what opensm then writes (with `-D 0x43` it dumps its tables):\n\n\
             ```sh\n\
             pauseless check /var/log/opensm-subnet.lst /var/log/opensm.fdbs\n\
             ```\n\n\
             It has to say that there is no cycle and no pair without a route.\n"
        }
        Kind::Class | Kind::Layers => {
            "Check what opensm then writes (with `-D 0x43` it dumps its tables), together with the \
             service level of each path, which `saquery PR` prints:\n\n\
             ```sh\n\
             pauseless check /var/log/opensm-subnet.lst /var/log/opensm.fdbs \\\n    \
             /var/log/opensm-sl2vl.dump psl\n\
             ```\n\n\
             It has to say that there is no cycle and no pair without a route.\n"
        }
        Kind::LeaveOut => {
            "The tables stay as they are; check them without the end nodes of left-out.txt:\n\n\
             ```sh\n\
             pauseless check /var/log/opensm-subnet.lst /var/log/opensm.fdbs \\\n    \
             $(sed 's/^/--leave-out /' left-out.txt)\n\
             ```\n\n\
             `saquery PR` must have no path between them and the others.\n"
        }
    }
}

const UPDN_ONE: &str = "The order of all switches hangs on this root, not the traffic: hardly any need \
    pass it.\n\
    If the root is down when opensm starts, opensm finds no root and falls back to minhop, which has \
    the cycle again; run `pauseless check .. --fix updn` again for another root before that \
    switch is taken out of service.\n";
const UPDN: &str = "If all roots are down when opensm starts, it falls back to minhop, which has the \
    cycle again.\n";
const CLASS: &str = "opensm gives service levels to those that ask it for path records. \
    Programs that do not ask (many of MPI's and NCCL's settings) must be told: NCCL_IB_SL, \
    UCX_IB_SL and the like.\n\
    With engines that lay out service levels themselves (dfsssp, lash, nue, torus-2QoS) opensm does \
    not use this policy.\n\
    Every port must have as many data lanes (VL) as there are levels in use.\n";
const LAYERS_ONE: &str = "The file engine does not react to changes: after a link or switch has \
    failed or come back, make the files anew.\n";
const LAYERS: &str = "The file engine does not react to changes: after a link or switch has failed or \
    come back, make the files anew.\n\
    opensm gives service levels to those that ask it for path records. Programs that do not ask must \
    be told, and since the level depends on the target that is possible only through path records.\n\
    Every port must have as many data lanes (VL) as there are layers.\n";
const LEAVE_OUT: &str = "All other end nodes are then full members of the partition 0x0001, by port GUID: \
    add those that you add to the fabric. It comes first in the tables of their ports, so that IPoIB \
    and programs that do not choose a partition use it.\n\
    The end nodes that are left out reach only the port of the subnet manager, for management; send no \
    lossless traffic between the two. So opensm must not use the port of an end node that is left out.\n\
    Aggregation nodes that are left out cannot aggregate for the others (SHARP).\n";
