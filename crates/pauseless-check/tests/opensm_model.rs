//! The model of opensm's tables against tables that opensm made.

use std::path::{Path, PathBuf};

use pauseless_check::read;
use pauseless_fabric::fabric::Fabric;
use pauseless_fabric::routing::Routes;
use pauseless_fabric::routing::opensm::Subnet;

/// The entries of the fabric's own tables that differ from `routes`.
fn differences(fabric: &Fabric, routes: &Routes) -> usize {
    let mut count = 0;
    for &switch in fabric.topology.switches() {
        for group in routes.groups.addresses() {
            let own = fabric.routes.table.next_hops(switch, group);
            count += usize::from(own != routes.table.next_hops(switch, group));
        }
    }
    count
}

fn example(name: &str) -> Fabric {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/ib").join(name);
    let file = |name: &str| -> PathBuf {
        let plain = folder.join(name);
        if plain.exists() { plain } else { folder.join(format!("{name}.gz")) }
    };
    read::read(&[file("opensm-subnet.lst"), file("opensm.fdbs")]).expect("an example")
}

#[test]
fn minhop_is_predicted_entry_by_entry() {
    let mut wrong = Vec::new();
    for name in [
        "bareleaf-minhop",
        "dgx-minhop",
        "dragonfly4x5-minhop",
        "dualring6-minhop",
        "ft4-minhop",
        "ft4drop4s22-minhop",
        "ft4lmc2-minhop",
        "ls4x4spinehosts-minhop",
        "ls6x3drop5lmc2-minhop",
        "lsdual4x2-minhop",
        "mesh3x3-minhop",
        "ring4-minhop",
        "ring4par2-minhop",
        "ring5-minhop",
        "ring5lmc1-minhop",
        "rrg10d3-minhop",
        "torus3x3x3-minhop",
    ] {
        let fabric = example(name);
        let routes = Subnet::of(&fabric).min_hop(&fabric.routes.groups);
        match differences(&fabric, &routes) {
            0 => {}
            count => wrong.push(format!("{name}: {count} entries")),
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn updn_is_predicted_entry_by_entry() {
    let mut wrong = Vec::new();
    for name in ["ft4drop4-updn", "ls4x2spinehosts-updn", "ring6-updn", "rrg16d4-updn"] {
        let fabric = example(name);
        let subnet = Subnet::of(&fabric);
        // Which roots these runs were given is not stored, but they were one switch or what opensm
        // finds by itself.
        let one = fabric.topology.switches().iter().map(|switch| vec![*switch]);
        let least = one.chain([subnet.detected_roots()]).map(|roots| {
            let routes = subnet.up_down(&roots, &fabric.routes.groups);
            differences(&fabric, &routes)
        });
        match least.min() {
            Some(0) => {}
            count => wrong.push(format!("{name}: {count:?} entries")),
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
