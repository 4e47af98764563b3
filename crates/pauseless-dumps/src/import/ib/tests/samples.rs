//! What other tools wrote; the numbers were counted with grep and awk.

use std::collections::BTreeSet;

use super::super::{
    Cabling, Format, GuidOwner, LaneSpeed, Lft, NO_PORT, NodeKind, Sender, discover,
    discover_table, fdbs, lft_dump, path_sl, recognise, sl2vl, subnet_list,
};
use super::sample;

/// Switches, adapters and links.
fn counts(cabling: &Cabling) -> [usize; 3] {
    let of = |kind| cabling.nodes.iter().filter(|node| node.kind == kind).count();
    [of(NodeKind::Switch), of(NodeKind::Adapter), cabling.links.len()]
}

/// Nodes with their LIDs, and cables by GUID, in an order that does not depend on the file's.
#[derive(Debug, PartialEq)]
struct Facts {
    nodes: BTreeSet<(u64, NodeKind, u16, String, Vec<super::super::PortLid>)>,
    cables: BTreeSet<[(u64, u8); 2]>,
}

fn facts(cabling: &Cabling) -> Facts {
    let nodes = cabling.nodes.iter().map(|node| {
        let (description, lids) = (node.description.clone(), node.lids.clone());
        (node.guid, node.kind, node.port_count, description, lids)
    });
    let cables = cabling.links.iter().map(|link| {
        let mut ends = link.ends.map(|end| (cabling.nodes[end.node].guid, end.port));
        ends.sort_unstable();
        ends
    });
    Facts { nodes: nodes.collect(), cables: cables.collect() }
}

/// Tables by GUID, without trailing entries that say nothing.
fn tables(tables: Vec<Lft>) -> BTreeSet<(u64, Vec<u8>)> {
    let trimmed = tables.into_iter().map(|mut table| {
        let length = table.ports.iter().rposition(|port| *port != NO_PORT);
        table.ports.truncate(length.map_or(0, |last| last + 1));
        (table.guid, table.ports)
    });
    trimmed.collect()
}

#[test]
fn formats_are_recognised_by_their_content() {
    let expected = [
        ("dgx-minhop/opensm-subnet.lst.gz", Format::SubnetList),
        ("dgx-minhop/opensm.fdbs.gz", Format::Fdbs),
        ("ring4-minhop/dump_lfts.out", Format::LftDump),
        ("ring4-minhop/opensm-lfts.dump", Format::LftDump),
        ("ring4-minhop/ibnetdiscover.out", Format::Discover),
        ("t44-dfsssp-vl/opensm-sl2vl.dump.gz", Format::OpensmSlToVl),
        ("t44-dfsssp-vl/slvl.gz", Format::IbdmchkSlToVl),
        ("t44-dfsssp-vl/psl.gz", Format::PathSl),
        ("real/topograph-ndr-40sw-582ca.ibnetdiscover.gz", Format::Discover),
        ("real/infiniband_exporter-ibnetdiscover-p.out", Format::DiscoverTable),
        ("real/ibutils-subnet.lst.gz", Format::SubnetList),
        ("real/ibutils-osm.fdbs.gz", Format::Fdbs),
    ];
    for (path, format) in expected {
        let text = sample(path);
        assert_eq!(recognise(&text), Some(format), "{path}");
        let crlf = text.replace('\n', "\r\n");
        assert_eq!(recognise(&crlf), Some(format), "{path}");
    }
    let others =
        ["", "\n\n", "# nothing\n", "{}", "Switch", "SwitchName=leaf1 Nodes=n[1-16]", "0x", "SW"];
    for text in others {
        assert_eq!(recognise(text), None, "{text}");
    }
}

#[test]
fn subnet_lists_have_the_counted_nodes_and_cables() {
    for (path, expected) in [
        ("dgx-minhop/opensm-subnet.lst.gz", [40, 582, 1114]),
        ("ft4-minhop/opensm-subnet.lst.gz", [20, 16, 48]),
        ("ring4-minhop/opensm-subnet.lst", [4, 4, 8]),
        ("t44-dor/opensm-subnet.lst.gz", [16, 16, 48]),
        ("t44-dfsssp-vl/opensm-subnet.lst.gz", [16, 16, 48]),
        ("real/ibutils-subnet.lst.gz", [62, 3, 172]),
    ] {
        let cabling = subnet_list::parse(&sample(path)).unwrap();
        assert_eq!(counts(&cabling), expected, "{path}");
    }
}

#[test]
fn numbers_of_a_subnet_list_are_hexadecimal() {
    let cabling = subnet_list::parse(&sample("dgx-minhop/opensm-subnet.lst.gz")).unwrap();
    let leaf = cabling.nodes.iter().find(|node| node.guid == 0x2c5eab0300b87b40);
    let leaf = leaf.unwrap();
    assert_eq!(leaf.port_count, 65);
    assert_eq!(leaf.description, "MF0;A09-P1-IBLEAF-04-04:MQM9701/U1");
    assert_eq!((leaf.lids[0].port, leaf.lids[0].lid), (0, 0x49));
    let rate = cabling.links[0].rate.unwrap();
    assert_eq!((rate.width, rate.speed), (4, LaneSpeed::Sdr));
}

#[test]
fn old_subnet_lists_have_no_speed() {
    let cabling = subnet_list::parse(&sample("real/ibutils-subnet.lst.gz")).unwrap();
    assert!(cabling.links.iter().all(|link| link.rate.is_none()));
}

#[test]
fn ibnetdiscover_of_a_real_fabric_has_the_counted_nodes_and_rates() {
    let text = sample("real/topograph-ndr-40sw-582ca.ibnetdiscover.gz");
    let cabling = discover::parse(&text).unwrap();
    assert_eq!(counts(&cabling), [40, 582, 1114]);
    let gbps = |link: &super::super::IbLink| link.rate.unwrap().bits_per_second() / 1_000_000_000;
    assert!(cabling.links.iter().all(|link| gbps(link) == 400));
    let aggregation = "Mellanox Technologies Aggregation Node";
    let nodes = cabling.nodes.iter();
    assert_eq!(nodes.filter(|node| node.description == aggregation).count(), 40);
}

#[test]
fn both_forms_of_the_same_cabling_agree() {
    for case in ["ft4-minhop", "ring4-minhop", "t44-dor", "t44-dfsssp-vl"] {
        let gzipped = if case == "ring4-minhop" { "" } else { ".gz" };
        let list = sample(&format!("{case}/opensm-subnet.lst{gzipped}"));
        let blocks = sample(&format!("{case}/ibnetdiscover.out{gzipped}"));
        let list = subnet_list::parse(&list).unwrap();
        let blocks = discover::parse(&blocks).unwrap();
        assert_eq!(facts(&list), facts(&blocks), "{case}");
        assert_eq!(list.links[0].rate, blocks.links[0].rate);
    }
    // ibsim was fed with the real fabric, and opensm kept its LIDs.
    let list = subnet_list::parse(&sample("dgx-minhop/opensm-subnet.lst.gz")).unwrap();
    let real = sample("real/topograph-ndr-40sw-582ca.ibnetdiscover.gz");
    let real = discover::parse(&real).unwrap();
    assert_eq!(facts(&list), facts(&real));
}

#[test]
fn the_table_of_ports_has_unconnected_ones() {
    let text = sample("real/infiniband_exporter-ibnetdiscover-p.out");
    let cabling = discover_table::parse(&text).unwrap();
    assert_eq!(counts(&cabling), [4, 3, 4]);
    let node = |name: &str| cabling.nodes.iter().find(|node| node.description == name).unwrap();
    // Port 37 has no cable, but it is there; port 1 of the spine is known from its peer only.
    assert_eq!(node("ib-i4l1s01").port_count, 37);
    assert_eq!(node("ib-i7l2s01").port_count, 80);
    assert_eq!(node("ib-i1l2s01").lids[0].lid, 1516);
    assert!(cabling.links.iter().all(|link| link.rate.unwrap().speed == LaneSpeed::Edr));
}

#[test]
fn forwarding_tables_have_the_counted_rows() {
    // Tables, LIDs of each with LID 0, and rows with a port in all of them.
    for (path, expected) in [
        ("dgx-minhop/opensm.fdbs.gz", (40, 696, 24_880)),
        ("ft4-minhop/opensm.fdbs.gz", (20, 37, 720)),
        ("ring4-minhop/opensm.fdbs", (4, 9, 32)),
        ("t44-dor/opensm.fdbs.gz", (16, 33, 512)),
        ("t44-dfsssp-vl/opensm.fdbs.gz", (16, 33, 512)),
        ("real/ibutils-osm.fdbs.gz", (62, 66, 4030)),
    ] {
        let tables = fdbs::parse(&sample(path)).unwrap();
        let (count, length, rows) = expected;
        assert_eq!(tables.len(), count, "{path}");
        assert!(tables.iter().all(|table| table.ports.len() == length), "{path}");
        let ports = tables.iter().flat_map(|table| &table.ports);
        assert_eq!(ports.filter(|port| **port != NO_PORT).count(), rows, "{path}");
    }
}

#[test]
fn all_three_dumps_of_the_same_tables_agree() {
    for (case, gzipped) in [("ft4-minhop", ".gz"), ("ring4-minhop", ""), ("t44-dor", ".gz")] {
        let fdbs = fdbs::parse(&sample(&format!("{case}/opensm.fdbs{gzipped}"))).unwrap();
        let expected = tables(fdbs);
        for file in ["dump_lfts.out", "opensm-lfts.dump"] {
            let dump = sample(&format!("{case}/{file}{gzipped}"));
            assert_eq!(tables(lft_dump::parse(&dump).unwrap()), expected, "{case}/{file}");
        }
    }
}

#[test]
fn each_switch_has_its_own_lid_on_port_0() {
    let cabling = subnet_list::parse(&sample("dgx-minhop/opensm-subnet.lst.gz")).unwrap();
    let text = sample("dgx-minhop/opensm.fdbs.gz");
    for table in fdbs::parse(&text).unwrap() {
        let switch = cabling.nodes.iter().find(|node| node.guid == table.guid).unwrap();
        let lid = switch.lids[0].lid;
        assert_eq!(table.port(lid), Some(0));
        let row = &text[table.row(&text, lid)];
        assert_eq!(row, format!("{lid:#06X} : 000  : 00   : yes").replace("0X", "0x"));
    }
}

#[test]
fn both_forms_of_the_lanes_agree() {
    let dump = sl2vl::opensm::parse(&sample("t44-dfsssp-vl/opensm-sl2vl.dump.gz")).unwrap();
    let rows = sl2vl::ibdmchk::parse(&sample("t44-dfsssp-vl/slvl.gz")).unwrap();
    // Of the sample's 2976 lines of slvl, seven repeat another one.
    assert_eq!((dump.len(), rows.len()), (2976, 2969));
    let of_ports = |row: &&sl2vl::SlVlRow| row.owner == GuidOwner::AdapterPort;
    assert_eq!(dump.iter().filter(of_ports).count(), 16);
    let mapped: BTreeSet<_> =
        rows.iter().map(|row| (row.guid, row.ingress, row.egress, row.vls)).collect();
    for row in dump.iter().filter(|row| row.owner == GuidOwner::Switch) {
        assert!(mapped.contains(&(row.guid, row.ingress, row.egress, row.vls)));
    }
    assert_eq!(dump[0].vls, [0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7]);
}

#[test]
fn paths_have_service_levels() {
    let paths = path_sl::parse(&sample("t44-dfsssp-vl/psl.gz")).unwrap();
    assert_eq!(paths.len(), 240);
    assert_eq!(paths[0].sender, Sender::Guid(0x100014));
    assert_eq!((paths[0].dlid, paths[0].sl), (31, 4));
    // 16 adapters, each with a path to each other one.
    let cabling = subnet_list::parse(&sample("t44-dfsssp-vl/opensm-subnet.lst.gz")).unwrap();
    let lids: BTreeSet<u16> = cabling
        .nodes
        .iter()
        .filter(|node| node.kind == NodeKind::Adapter)
        .map(|node| node.lids[0].lid)
        .collect();
    assert!(paths.iter().all(|path| lids.contains(&path.dlid)));
}

#[test]
fn line_ends_of_windows_change_nothing() {
    let crlf = |path: &str| sample(path).replace('\n', "\r\n");
    let list = subnet_list::parse(&crlf("ring4-minhop/opensm-subnet.lst")).unwrap();
    let blocks = discover::parse(&crlf("ring4-minhop/ibnetdiscover.out")).unwrap();
    assert_eq!(facts(&list), facts(&blocks));
    let one = fdbs::parse(&crlf("ring4-minhop/opensm.fdbs")).unwrap();
    let two = lft_dump::parse(&crlf("ring4-minhop/dump_lfts.out")).unwrap();
    assert_eq!(tables(one), tables(two));
    let lanes = sl2vl::opensm::parse(&crlf("t44-dfsssp-vl/opensm-sl2vl.dump.gz")).unwrap();
    assert_eq!(lanes.len(), 2976);
    let lanes = sl2vl::ibdmchk::parse(&crlf("t44-dfsssp-vl/slvl.gz")).unwrap();
    assert_eq!(lanes.len(), 2969);
    assert_eq!(path_sl::parse(&crlf("t44-dfsssp-vl/psl.gz")).unwrap().len(), 240);
}
