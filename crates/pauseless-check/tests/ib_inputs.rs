//! InfiniBand files as people have them: each form alone and mixed, and what is said when the service
//! levels are missing.

use std::fs;
use std::path::{Path, PathBuf};

use pauseless_check::json::CheckRecord;
use pauseless_check::{Verdict, check, read};
use pauseless_core::id::NodeId;
use pauseless_core::unit::Rate;
use pauseless_fabric::fabric::Fabric;
use pauseless_text::source::Source;

fn examples(folder: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/ib").join(folder)
}

/// The files of an example, gzipped or not.
fn sources(folder: &str, names: &[&str]) -> Vec<Source> {
    let read = |name: &&str| {
        let plain = examples(folder).join(name);
        let path = if plain.exists() { plain } else { examples(folder).join(format!("{name}.gz")) };
        Source::read(&path).unwrap_or_else(|problems| panic!("{problems}"))
    };
    names.iter().map(read).collect()
}

fn fabric(sources: &[Source]) -> Fabric {
    read::from_sources(sources, Default::default()).unwrap_or_else(|problems| panic!("{problems}"))
}

fn refused(sources: &[Source]) -> String {
    match read::from_sources(sources, Default::default()) {
        Ok(_) => panic!("these files are not refused"),
        Err(problems) => problems.to_string(),
    }
}

/// The verdict in a word.
fn word(fabric: &Fabric, verdict: &Verdict) -> &'static str {
    CheckRecord::new(fabric, verdict).verdict
}

fn verdict(folder: &str, names: &[&str]) -> &'static str {
    let fabric = fabric(&sources(folder, names));
    word(&fabric, &check(&fabric, &[]))
}

const PLAIN: [&str; 2] = ["opensm-subnet.lst", "opensm.fdbs"];

#[test]
fn many_files_are_called_by_their_folder() {
    let mut files = sources("ring4-minhop", &PLAIN);
    assert!(fabric(&files).name.ends_with("opensm.fdbs"), "{}", fabric(&files).name);
    // The same again, under other names.
    let copies = files.clone().into_iter().map(|it| Source { file: it.file + ".old", ..it });
    files.extend(copies);
    let name = fabric(&files).name;
    assert!(name.ends_with("ring4-minhop (4 files)"), "{name}");
    files[3].file = "elsewhere.fdbs".to_string();
    assert!(fabric(&files).name.ends_with(" and 1 more"), "{}", fabric(&files).name);
}

#[test]
fn tables_of_engines_with_several_lanes_are_undecided_without_service_levels() {
    for folder in [
        "dualring5-dfsssp",
        "ring5-dfsssp",
        "t44-dfsssp-vl",
        "torus4x4-dfsssp-2vl",
        "torus4x4-dfsssp-nosource",
        "torus4x4-nue-vl4",
        "rrg16d4-nue-vl2-flat",
        "torus5x3-lash",
        "torus5x3-torus-2qos",
    ] {
        assert_eq!(verdict(folder, &PLAIN), "undecided", "{folder}");
    }
    // These are the very same files as those of ring5-dfsssp.
    assert_eq!(verdict("ring5-minhop", &PLAIN), "undecided");
}

#[test]
fn tables_of_minhop_are_decided() {
    for (folder, expected) in [
        ("dgx-minhop", "cyclic"),
        ("dragonfly4x5-minhop", "cyclic"),
        ("dualring6-minhop", "cyclic"),
        ("ft4drop4s22-minhop", "cyclic"),
        ("ls4x4spinehosts-minhop", "cyclic"),
        ("ls6x3drop5lmc2-minhop", "cyclic"),
        ("mesh3x3-minhop", "cyclic"),
        ("ring4-minhop", "cyclic"),
        ("rrg10d3-minhop", "cyclic"),
        ("torus3x3x3-minhop", "cyclic"),
        ("ft4-minhop", "cycle-free"),
        ("ft4drop4-updn", "cycle-free"),
        ("rrg16d4-updn", "cycle-free"),
        ("t44-dor", "cycle-free"),
    ] {
        assert_eq!(verdict(folder, &PLAIN), expected, "{folder}");
    }
}

#[test]
fn service_levels_decide() {
    for (folder, expected) in [
        ("dualring5-dfsssp", "cycle-free"),
        ("ring5-dfsssp", "cycle-free"),
        ("torus4x4-dfsssp-2vl", "cyclic"),
        ("torus4x4-nue-vl4", "cycle-free"),
        ("torus5x3-lash", "cycle-free"),
        ("torus5x3-torus-2qos", "cycle-free"),
    ] {
        let names = [&PLAIN[..], &["psl", "slvl"]].concat();
        assert_eq!(verdict(folder, &names), expected, "{folder}");
    }
}

#[test]
fn what_the_subnet_manager_says_decides() {
    let plain = sources("ring5-minhop", &PLAIN);
    let log = |engine: &str| {
        let text = format!(
            "Nov 19 06:22:40 815006 [495D9740] 0x43 -> OpenSM 3.3.23\n\
             Nov 19 06:22:40 913611 [465D26C0] 0x02 -> osm_ucast_mgr_process: {engine} tables \
             configured on all switches\n"
        );
        Source { file: "opensm.log".to_string(), text }
    };
    let conf = |engines: &str| {
        let text = format!("# Routing engine\nrouting_engine {engines}\n\nsm_priority 15\n");
        Source { file: "opensm.conf".to_string(), text }
    };
    for (more, expected) in [
        (vec![log("minhop")], "cyclic"),
        (vec![log("dfsssp")], "undecided"),
        (vec![conf("(null)")], "cyclic"),
        (vec![conf("ftree,updn")], "cyclic"),
        (vec![conf("lash,minhop")], "undecided"),
        // The log says which one of them it was.
        (vec![conf("lash,minhop"), log("minhop")], "cyclic"),
        (vec![log("lash"), conf("minhop")], "undecided"),
    ] {
        let fabric = fabric(&[plain.clone(), more].concat());
        assert_eq!(word(&fabric, &check(&fabric, &[])), expected);
    }
}

#[test]
fn a_single_lane_in_the_tables_decides() {
    let mut files = sources("ring5-dfsssp", &["opensm-subnet.lst", "opensm.fdbs", "slvl"]);
    let spread = fabric(&files);
    assert_eq!(word(&spread, &check(&spread, &[])), "undecided");
    let text = std::mem::take(&mut files[2].text);
    let one = text.lines().map(|line| {
        let words = Vec::from_iter(line.split_whitespace().take(3));
        format!("{} {}\n", words.join(" "), ["0x00"; 8].join(" "))
    });
    files[2].text = one.collect();
    let one = fabric(&files);
    assert_eq!(word(&one, &check(&one, &[])), "cyclic");
}

#[test]
fn saquery_and_smpquery_decide() {
    const RING: &str = "ring6-dfsssp-diags";
    assert_eq!(verdict(RING, &PLAIN), "undecided");
    let levels = ["saquery-paths.out", "smpquery-sl2vl.out"];
    assert_eq!(verdict(RING, &[&PLAIN[..], &levels].concat()), "cycle-free");
    assert_eq!(
        verdict(RING, &[&PLAIN[..], &["saquery-paths.out", "opensm-sl2vl.dump"]].concat()),
        "cycle-free"
    );
    assert_eq!(verdict(RING, &[&PLAIN[..], &["opensm.log"]].concat()), "undecided");
}

#[test]
fn both_ports_of_an_adapter_have_service_levels_of_their_own() {
    const DUAL: &str = "dual5-dfsssp-saquery";
    let names = [&PLAIN[..], &["saquery-paths.out", "smpquery-sl2vl.out"]].concat();
    assert_eq!(verdict(DUAL, &PLAIN), "undecided");
    assert_eq!(verdict(DUAL, &names), "cycle-free");
    // The same levels as a list with the GUIDs of ports; those of adapters could not say it.
    let files = sources(DUAL, &names);
    let psl = |key: &dyn Fn(u64) -> u64| {
        let mut rows = std::collections::BTreeMap::new();
        let fields = |record: &str, name: &str| {
            let line = record.lines().find(|line| line.trim().starts_with(&format!("{name}.")));
            line.unwrap().rsplit('.').next().unwrap().to_string()
        };
        for record in files[2].text.split("PathRecord dump:").skip(1) {
            let gid = record.lines().find(|line| line.contains("sgid")).unwrap();
            let words = Vec::from_iter(gid.rsplit(':').take(2));
            let part = |word: &str| u64::from_str_radix(word, 16).unwrap();
            let guid = part(words[1]) << 16 | part(words[0]);
            let sl = u8::from_str_radix(fields(record, "sl").trim_start_matches("0x"), 16).unwrap();
            rows.insert((key(guid), fields(record, "dlid")), sl);
        }
        let rows = rows.iter().map(|((guid, dlid), sl)| format!("{guid:#018x} {dlid} {sl}\n"));
        Source { file: "psl".to_string(), text: rows.collect() }
    };
    let with = |psl: Source| {
        let fabric = fabric(&[files[0].clone(), files[1].clone(), psl, files[3].clone()]);
        check(&fabric, &[])
    };
    assert!(!with(psl(&|port| port)).is_cyclic());
    let traffic = |psl: Source| {
        let all = [files[0].clone(), files[1].clone(), psl, files[3].clone()];
        fabric(&all).traffic
    };
    let by_lid = fabric(&files).traffic;
    assert_eq!(traffic(psl(&|port| port)), by_lid);
    assert_ne!(traffic(psl(&|port| port & !0xf)), by_lid);
}

#[test]
fn iblinkinfo_and_ibroute_say_the_same_as_opensm() {
    const RING: &str = "ring6-dfsssp-diags";
    let routes = ["2", "3", "4", "6", "7", "9"].map(|lid| format!("ibroute-{lid}.out"));
    let routes = Vec::from_iter(routes.iter().map(String::as_str));
    let facts = |names: &[&str]| {
        let fabric = fabric(&sources(RING, names));
        let verdict = check(&fabric, &[]);
        let counts = [
            fabric.topology.host_count(),
            fabric.topology.switches().len(),
            fabric.topology.links().len(),
            verdict.buffer_count,
            verdict.dependency_count,
        ];
        (counts, word(&fabric, &verdict))
    };
    let expected = facts(&PLAIN);
    assert_eq!(expected.0[..3], [6, 6, 12]);
    for cabling in ["opensm-subnet.lst", "ibnetdiscover.out", "iblinkinfo.out"] {
        assert_eq!(facts(&[&[cabling], &routes[..]].concat()), expected, "{cabling}");
    }
    // All of them at once, and both forms of the tables.
    let all = ["iblinkinfo.out", "ibnetdiscover.out", "opensm-subnet.lst", "opensm.fdbs"];
    assert_eq!(facts(&[&all[..], &routes].concat()), expected);
    let without_one = refused(&sources(RING, &[&["ibnetdiscover.out"], &routes[1..]].concat()));
    assert!(without_one.contains("has no forwarding table"), "{without_one}");
}

#[test]
fn files_that_do_not_belong_together_are_named() {
    let ring = sources("ring6-dfsssp-diags", &["ibnetdiscover.out", "opensm.fdbs"]);
    let mut other = sources("dgx-minhop", &PLAIN);
    let two = refused(&[ring.clone(), other.clone()].concat());
    for part in [
        "these files are of 2 fabrics, which have no switch in common",
        "6 switches in",
        "40 switches in",
        "check one fabric at a time",
    ] {
        assert!(two.contains(part), "{two}");
    }
    let mixed = refused(&[ring[0].clone(), other.remove(1)]);
    assert!(mixed.contains("these files are of 2 fabrics"), "{mixed}");
    // The same fabric with a cable that is elsewhere, and with another table.
    let mut moved = sources("ring6-dfsssp-diags", &["opensm-subnet.lst"]).remove(0);
    let is_cut = |line: &&str| {
        !(line.contains("NodeGUID:0000000000200000") && line.contains("NodeGUID:0000000000200001"))
    };
    moved.text = moved.text.lines().filter(is_cut).map(|line| format!("{line}\n")).collect();
    let contrary = refused(&[ring[0].clone(), moved, ring[1].clone()]);
    assert!(contrary.contains("has a cable from port"), "{contrary}");
    let mut table = sources("ring6-dfsssp-diags", &["ibroute-3.out"]).remove(0);
    table.text = table.text.replacen("0x0004 003", "0x0004 002", 1);
    let contrary = refused(&[ring, vec![table]].concat());
    assert!(contrary.contains("is another one in"), "{contrary}");
}

/// A `.db_csv` with the columns of the real one that matter, and some that do not.
fn db_csv(links: &str) -> Source {
    let text = format!(
        "# ibdiagnet\nSTART_NODES\n\
         NodeDesc,NumPorts,NodeType,ClassVersion,SystemImageGUID,NodeGUID,PortGUID,LocalPortNum\n\
         \"S, one\",4,2,1,0x21,0x21,0x21,0\n\"S2\",4,2,1,0x22,0x22,0x22,0\n\
         \"h1 mlx5_0\",1,1,1,0x11,0x11,0x12,1\n\"h2 mlx5_0\",1,1,1,0x13,0x13,0x14,1\nEND_NODES\n\n\
         START_PM_INFO\nwhatever,\"it, is\nEND_PM_INFO\n\
         START_PORTS\nNodeGuid,PortGuid,PortNum,LID,LinkWidthActv,LinkSpeedActv,LMC,FECActv\n\
         0x21,0x21,0,1,0,0,0,N/A\n0x21,0x21,1,1,2,2048,0,N/A\n0x21,0x21,2,0,2,2048,0,N/A\n\
         0x22,0x22,0,2,0,0,0,N/A\n0x22,0x22,1,0,2,2048,0,N/A\n0x22,0x22,2,0,2,2048,0,N/A\n\
         0x11,0x12,1,3,2,2048,0,1\n0x13,0x14,1,4,2,2048,0,1\nEND_PORTS\n{links}"
    );
    Source { file: "ibdiagnet2.db_csv".to_string(), text }
}

const LINKS: &str = "START_LINKS\nNodeGuid1,PortNum1,NodeGuid2,PortNum2\n0x21,1,0x11,1\n\
                     0x22,1,0x13,1\n0x21,2,0x22,2\nEND_LINKS\n";

/// A `.far` of the two switches, with these groups and rows on the first.
fn far(first: &str) -> Source {
    let text = format!(
        "File version: 1\nSwitch 0x0000000000000021, ports: 4\nar_en: 1\n\nGroups Definition:\n\
         Group   Sub Group   WHBF   Ports\n------------------------\n{first}\n\
         Switch 0x22\nGroups Definition:\nGroup Sub Group WHBF Ports\n----\n0 0 0 2,\n\n\
         LFT Definition:\nPLFT_NUM: 0, top: 0x4\nLID Static Port Lid State Group\n------\n\
         0x0001 2 Static 0\n0x0002 0 Static 0\n0x0003 2 Free 0\n0x0004 1 Static 0\n"
    );
    Source { file: "ibdiagnet2.far".to_string(), text }
}

const FIRST: &str = "0 0 0 2, \n1 0 0 1,2,\n\nLFT Definition:\nPLFT_NUM: 0, top: 0x4\n\
                     LID  Static Port  Lid State  Group\n-----\n0x0001 0 Static 0\n\
                     0x0002 2 Static 0\n0x0003 1 Static 0\n0x0004 2 Free 1\n";

#[test]
fn db_csv_has_the_cabling_and_far_the_sets_of_ports() {
    let fabric = fabric(&[db_csv(LINKS), far(FIRST)]);
    let topology = &fabric.topology;
    assert_eq!(topology.host_count(), 2);
    let called = |name: &str| {
        let mut nodes = (0..).map(NodeId).take(topology.nodes().len());
        let is_it = |node: &NodeId| fabric.names.device(*node).unwrap().description == name;
        nodes.find(is_it).unwrap_or_else(|| panic!("nobody is called {name}"))
    };
    let (first, second) = (called("S, one"), called("h2 mlx5_0"));
    let group = fabric.routes.groups.of_host(second);
    let next = fabric.routes.table.next_hops(first, group);
    let labels = next.iter().map(|port| fabric.names.port(first, *port).unwrap_or(""));
    assert_eq!(Vec::from_iter(labels), ["P1", "P2"]);
    assert!(topology.links().iter().all(|link| link.rate == Rate::gbps(400)));
    assert!(fabric.notes.iter().any(|note| note.contains("adaptive routing")));
}

#[test]
fn broken_db_csv_and_far_are_refused() {
    let csv = |links: &str| refused(&[db_csv(links), far(FIRST)]);
    assert!(csv("").contains("no table LINKS"), "{}", csv(""));
    assert!(csv(&LINKS.replace("END_LINKS", "")).contains("the table LINKS has no end"));
    assert!(csv(&LINKS.replace("PortNum2", "Port")).contains("has no column PortNum2"));
    assert!(csv(&LINKS.replace("0x22,2", "0x22")).contains("3 values in a table of 4 columns"));
    assert!(csv(&LINKS.replace("0x13", "0x99")).contains("is not in the table NODES"));
    let far = |from: &str, to: &str| refused(&[db_csv(LINKS), far(&FIRST.replacen(from, to, 1))]);
    for (from, to, expected) in [
        ("Free 1", "Loose 1", "is not the state of a LID"),
        ("Free 1", "Free 9", "has no group 9"),
        ("1,2,", "1,999,", "999"),
        ("0x0004 2", "0xC004 2", "a LID"),
        ("LFT Definition:", "", "`0x0001` is not a group"),
        ("LID  Static", "Lid  Static", "begins no line of a table"),
        ("0x0002 2 Static 0", "PLFT_NUM: 1, top: 0x4", "several private forwarding tables"),
    ] {
        let found = far(from, to);
        assert!(found.contains(expected), "{from} -> {to}: {found}");
    }
}

#[test]
fn folders_and_archives_are_read() {
    // The folder has opensm.log, whose engine is dfsssp, and everything else.
    let path = examples("ring6-dfsssp-diags");
    let fabric = read::read(&[path]).unwrap_or_else(|problems| panic!("{problems}"));
    assert_eq!(word(&fabric, &check(&fabric, &[])), "cycle-free");
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("ibdiagnet2.db_csv"), db_csv(LINKS).text).unwrap();
    fs::write(at("ibdiagnet2.far"), far(FIRST).text).unwrap();
    fs::write(at("ibdiagnet2.pm"), "Port=1 counters\n").unwrap();
    fs::write(at("ibdiagnet2.plft"), "private\n").unwrap();
    let fabric = read::read(&[folder.path().to_path_buf()]).unwrap();
    let notes = fabric.notes.join("\n");
    assert!(notes.contains("ibdiagnet2.plft was left out: private tables"), "{notes}");
    assert!(notes.contains("ibdiagnet2.pm"), "{notes}");
    let alone = read::read(&[at("ibdiagnet2.plft")]).unwrap_err().to_string();
    assert!(alone.contains("please send us one"), "{alone}");
}

#[test]
fn broken_answers_of_saquery_are_refused() {
    let good = sources("ring6-dfsssp-diags", &["saquery-paths.out"]).remove(0).text;
    let plain = sources("ring6-dfsssp-diags", &PLAIN);
    let refuse = |text: String| {
        let paths = Source { file: "paths".to_string(), text };
        refused(&[plain.clone(), vec![paths]].concat())
    };
    let zero = good.replacen("slid....................1\n", "slid....................0\n", 1);
    assert!(refuse(zero).contains("LID 0 is nobody's"));
    let cut = good[..good.rfind("\t\tsl..").unwrap()].to_string();
    assert!(refuse(cut).contains("a path without slid, dlid or sl"));
    let lost = good.split_once("PathRecord dump:\n").unwrap().1;
    let lost = lost[lost.find("PathRecord").unwrap()..].to_string();
    assert!(refuse(lost).contains("there is no service level for packets from"));
}
