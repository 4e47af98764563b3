//! Which of several cablings counts, and whether all files are of one fabric.

use std::collections::BTreeSet;

use super::{Dumps, Parsed};
use crate::import::ib::{Cabling, IbEnd, NodeKind};
use pauseless_text::problem::Problems;

/// The cabling of the one fabric that the files are of.
pub(super) struct One<'d, 's> {
    pub(super) cabling: &'d Parsed<'s, Cabling>,
    pub(super) notes: Vec<String>,
}

/// The first cabling, if all others say the same and all tables are of its switches.
pub(super) fn one_fabric<'d, 's>(dumps: &'d Dumps<'s>) -> Result<One<'d, 's>, Problems> {
    let Some((cabling, others)) = dumps.cabling.split_first() else {
        let file = parts(dumps).first().map_or("", |part| part.file);
        let help = "add opensm-subnet.lst or the output of ibnetdiscover";
        let message = "no file says how the fabric is cabled".to_string();
        return Err(Problems::of_file(file, message, help));
    };
    expect_one(dumps)?;
    let mut notes = Vec::new();
    for other in others {
        expect_same(cabling, other)?;
        notes.push(format!(
            "{} says the same cabling as {}, from which it was read",
            other.source.file, cabling.source.file
        ));
    }
    Ok(One { cabling, notes })
}

/// A file and the switches that it names.
struct Part<'d> {
    file: &'d str,
    switches: BTreeSet<u64>,
}

fn parts<'d>(dumps: &'d Dumps<'_>) -> Vec<Part<'d>> {
    let cabling = dumps.cabling.iter().map(|it| {
        let switches = it.value.nodes.iter().filter(|node| node.kind == NodeKind::Switch);
        Part { file: &it.source.file, switches: switches.map(|node| node.guid).collect() }
    });
    let tables = dumps.tables.iter().map(|it| {
        let switches = it.value.iter().map(|lft| lft.guid).collect();
        Part { file: &it.source.file, switches }
    });
    let adaptive = dumps.adaptive.iter().map(|it| {
        let switches = it.value.iter().map(|table| table.fixed.guid).collect();
        Part { file: &it.source.file, switches }
    });
    cabling.chain(tables).chain(adaptive).filter(|part| !part.switches.is_empty()).collect()
}

/// Refuses files that fall into groups which have no switch in common.
fn expect_one(dumps: &Dumps<'_>) -> Result<(), Problems> {
    let mut fabrics: Vec<(BTreeSet<u64>, Vec<&str>)> = Vec::new();
    for Part { file, switches } in parts(dumps) {
        let (mut joined, mut files) = (switches, vec![file]);
        let (same, apart) = fabrics
            .into_iter()
            .partition(|(known, _)| known.intersection(&joined).next().is_some());
        fabrics = apart;
        let same: Vec<(BTreeSet<u64>, Vec<&str>)> = same;
        for (known, earlier) in same {
            joined.extend(known);
            files.splice(0..0, earlier);
        }
        fabrics.push((joined, files));
    }
    let [first, second, ..] = &fabrics[..] else {
        return Ok(());
    };
    let names = |(switches, files): &(BTreeSet<u64>, Vec<&str>)| {
        let shown = files.iter().take(FILES_SHOWN).copied();
        let mut shown = Vec::from_iter(shown).join(", ");
        if files.len() > FILES_SHOWN {
            shown += &format!(" and {} more", files.len() - FILES_SHOWN);
        }
        format!("{} switches in {shown}", switches.len())
    };
    let message = format!(
        "these files are of {} fabrics, which have no switch in common: {}; {}{}",
        fabrics.len(),
        names(first),
        names(second),
        if fabrics.len() > 2 { "; .." } else { "" },
    );
    Err(Problems::of_file(second.1[0], message, "check one fabric at a time"))
}

/// Refuses another cabling that joins other ports of switches.
fn expect_same(one: &Parsed<'_, Cabling>, other: &Parsed<'_, Cabling>) -> Result<(), Problems> {
    let (first, second) = (cables(&one.value), cables(&other.value));
    let file = &other.source.file;
    for (cable, has, lacks) in [
        (first.iter().find(|it| !second.contains(*it)), &one.source.file, file),
        (second.iter().find(|it| !first.contains(*it)), file, &one.source.file),
    ] {
        let Some([a, b]) = cable else { continue };
        let name = |(guid, port): &(u64, u8)| format!("port {port} of switch {guid:#018x}");
        let message =
            format!("{has} has a cable from {} to {}, which {lacks} has not", name(a), name(b));
        let help =
            "leave one of them out, or dump the cabling again: was a cable moved in between?";
        return Err(Problems::of_file(file, message, help));
    }
    Ok(())
}

/// The cables between switches; what adapters are called differs between formats.
fn cables(cabling: &Cabling) -> BTreeSet<[(u64, u8); 2]> {
    let is_switch = |end: &IbEnd| cabling.nodes[end.node].kind == NodeKind::Switch;
    let between = cabling.links.iter().filter(|link| link.ends.iter().all(is_switch));
    let cables = between.map(|link| {
        let mut ends = link.ends.map(|end| (cabling.nodes[end.node].guid, end.port));
        ends.sort_unstable();
        ends
    });
    cables.collect()
}

const FILES_SHOWN: usize = 4;
