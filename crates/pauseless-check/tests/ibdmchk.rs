//! The verdict of ibdmchk on every fabric of `examples/ib`.

use std::fs;
use std::path::{Path, PathBuf};

use pauseless_check::check;
use pauseless_check::read;

/// What ibdmchk printed: whether there are credit loops.
fn verdict(folder: &Path, file: &str) -> Option<bool> {
    let text = fs::read_to_string(folder.join(file)).ok()?;
    match (text.contains("credit loops in routing"), text.contains("no credit loops found")) {
        (true, false) => Some(true),
        (false, true) => Some(false),
        _ => panic!("{}: {file} has no verdict", folder.display()),
    }
}

/// The files of `names` that the folder has, gzipped or not.
fn files(folder: &Path, names: &[&str]) -> Vec<PathBuf> {
    let candidates =
        names.iter().flat_map(|name| [folder.join(name), folder.join(format!("{name}.gz"))]);
    candidates.filter(|path| path.exists()).collect()
}

fn is_cyclic(files: &[PathBuf]) -> bool {
    let fabric = read::read(files).unwrap_or_else(|problems| panic!("{problems}"));
    let verdict = check(&fabric, &[]);
    for component in &verdict.components {
        assert!(!component.cycle.flows.is_empty());
    }
    verdict.is_cyclic()
}

#[test]
fn every_verdict_is_that_of_ibdmchk() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/ib");
    let folders = fs::read_dir(&examples).unwrap().map(|entry| entry.unwrap().path());
    let mut folders =
        Vec::from_iter(folders.filter(|folder| folder.join("ibdmchk.verdict").exists()));
    folders.sort();
    let (mut loops, mut free) = (0, 0);
    for folder in &folders {
        let tables = ["opensm-subnet.lst", "opensm.fdbs"];
        let levels = ["psl", "slvl"];
        let plain = files(folder, &tables);
        assert_eq!(plain.len(), 2, "{}", folder.display());
        let expected = verdict(folder, "ibdmchk.verdict");
        let all = files(folder, &[tables, levels].concat());
        let mut runs = vec![(all.clone(), expected)];
        if all.len() > plain.len() {
            runs.push((plain, verdict(folder, "ibdmchk.verdict-without-sl")));
        }
        for (files, expected) in runs {
            let found = is_cyclic(&files);
            assert_eq!(Some(found), expected, "{}: {} files", folder.display(), files.len());
            if found { loops += 1 } else { free += 1 }
        }
    }
    assert!(loops >= 20 && free >= 15, "{loops} with loops, {free} without");
}

#[test]
fn the_aggregation_nodes_are_found_to_be_to_blame() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/ib/dgx-minhop");
    let fabric = read::read(&files(&folder, &["opensm-subnet.lst", "opensm.fdbs"])).unwrap();
    let hosts = fabric.topology.host_count();
    assert_eq!((hosts, fabric.topology.switches().len()), (582, 40));
    let verdict = check(&fabric, &[]);
    assert!(verdict.is_cyclic());
    let blame = verdict.blame.expect("somebody is to blame");
    let name = "end nodes on switches above the leaves, called \"Mellanox Technologies Aggregation \
                Node\"";
    assert_eq!(blame.name.as_deref(), Some(name));
    // Every switch has one; only those on the nine spines matter.
    assert_eq!(blame.hosts.len(), 9);
    let needed = blame.needed.expect("it is worth looking");
    assert_eq!(needed.len(), 8);
    assert!(!check(&fabric, &blame.hosts).is_cyclic());
    assert!(!check(&fabric, &needed).is_cyclic());
}
