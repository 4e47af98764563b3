//! What is wrong with forwarding tables and lanes, and what is said of it.

use std::fmt::Write;

use super::{Edit, FDBS, IBDMCHK_SL2VL, LFT_DUMP, OPENSM_SL2VL, PATH_SL, refuses, sample, verdict};

const ROUTES: &str = "\
dump_ucast_routes: Switch 0x00000000000000aa
LID    : Port : Hops : Optimal
0x0001 : 000  : 00   : yes
0x0002 : 003  : 01   : yes
0x0003 : UNREACHABLE
osm_ucast_mgr_dump_ucast_routes: Switch 0x00000000000000bb
LID    : Port : Hops : Optimal
0x0001 : 005  : HOPS UNKNOWN
0x0002 : 000  : 00   : No 1 hop path possible via port 4!
0x0003 : 254  : 01   : yes
";

const BAD_ROUTES: &[Edit] = &[
    ("dump_ucast_routes: Switch 0x00000000000000aa\n", "", "2: a row before the first header"),
    ("Switch 0x00000000000000aa", "Switch", "1: a GUID is missing"),
    ("Switch 0x00000000000000aa", "Switch 0xqq", "1: `0xqq` is not a GUID"),
    ("dump_ucast_routes", "dump_mcast_routes", "1: `dump_mcast_routes:` begins no line"),
    ("LID    : Port", "LID    : Ports", "2: not the title of a table"),
    ("0x0001", "0x000g", "3: `0x000g` is not a LID"),
    ("0x0001", "0x10001", "3: `0x10001` is too large for a LID"),
    ("0x0001", "0xC000", "3: LID 0xc000 is not a unicast LID"),
    ("0x0001", "0x0000", "3: LID 0x0000 is not a unicast LID"),
    (
        "0x0001",
        "0x0002",
        "4: LID 0x0002 of switch 0x00000000000000aa leads to port 3 here, but to port 0 above",
    ),
    (
        "0x0003",
        "0x0002",
        "5: LID 0x0002 of switch 0x00000000000000aa leads to no port here, but to port 3 above",
    ),
    ("000  :", "255  :", "3: `255` is too large for a port"),
    ("000  :", "-1  :", "3: `-1` is not a port"),
    ("000  :", "  :", "3: `:` is not a port"),
    (": 00   : yes", ": 0x   : yes", "3: `0x` is not a number of hops"),
    (": 00   : yes", ": 00   : ye", "3: `ye` where"),
    (": 00   : yes", ": 00", "3: the line ends where `:` should be"),
    ("UNREACHABLE", "UNREACH", "5: `UNREACH` is not a port"),
    ("UNREACHABLE", "UNREACHABLE 7", "5: `7` where the end of the line should be"),
    (
        "00000bb",
        "00000aa",
        "8: LID 0x0001 of switch 0x00000000000000aa leads to port 5 here, but to port 0 in line 3",
    ),
    (
        "0x0003 : 254  : 01   : yes\n",
        "",
        "9: the last table ends with LID 0x0002, but another with 0x0003",
    ),
    (
        "0x0001 : 000",
        "dump_ucast_routes: Switch 0x1\n0x0001 : 000",
        "1: the table of switch 0x00000000000000aa has no rows",
    ),
    ("LID    : Port : Hops : Optimal\n", "PLFT_NUM: 1\n", "2: a private forwarding table"),
];

#[test]
fn fdbs() {
    refuses(FDBS, ROUTES, BAD_ROUTES);
    assert_eq!(verdict(FDBS, ""), "1: there is no forwarding table in this file");
    assert_eq!(verdict(FDBS, &format!("# made by hand\n\n{ROUTES}{ROUTES}")), "fine");
}

#[test]
fn rows_in_any_order_give_the_same_table() {
    let rows = ["0x0001 : 007  : 01   : yes", "0x0003 : 009  : 01   : yes", "0x0002 : UNREACHABLE"];
    let text = |order: [usize; 3]| {
        let rows = order.map(|index| rows[index]).join("\n");
        format!("dump_ucast_routes: Switch 0x0aa\n{rows}\n")
    };
    for order in [[0, 2, 1], [1, 0, 2], [2, 1, 0], [1, 2, 0]] {
        let tables = super::fdbs::parse(&text(order)).unwrap();
        assert_eq!(tables[0].ports, [255, 7, 255, 9]);
    }
    // A row that says no port is a row, though it leaves the entry as it was.
    let again = text([1, 2, 0]) + "0x0002 : 001  : 01   : yes\n";
    let expected =
        "5: LID 0x0002 of switch 0x00000000000000aa leads to port 1 here, but to no port above";
    assert_eq!(verdict(FDBS, &again), expected);
}

#[test]
fn cuts_within_the_last_lines_are_noticed() {
    let text = sample("ring4-minhop/opensm.fdbs");
    let start = text.rfind("dump_ucast").unwrap();
    for end in start + 1..text.len() - 1 {
        assert_ne!(verdict(FDBS, &text[..end]), "fine", "{}", &text[start..end]);
    }
    let dump = sample("ring4-minhop/opensm-lfts.dump");
    let start = dump.rfind("Unicast").unwrap();
    for end in start + 1..dump.len() - 1 {
        assert_ne!(verdict(LFT_DUMP, &dump[..end]), "fine", "{}", &dump[start..end]);
    }
}

#[test]
fn memory_follows_from_the_length_of_the_text() {
    // Each section would be 48 KiB of table.
    let mut text = String::new();
    for guid in 1..20_000 {
        writeln!(text, "dump_ucast_routes: Switch {guid:#x}\n0xBFFF : 001  : 01   : yes").unwrap();
    }
    let found = verdict(FDBS, &text);
    assert!(found.contains(": LID 0xbfff leaves too many LIDs without a row"), "{found}");
}

#[test]
fn large_files_are_read_in_parts_and_give_the_same() {
    // Large enough for several threads; descriptions that look like headers change nothing.
    let (mut routes, mut dump) = (String::new(), String::new());
    let name = "Unicast lids [0x0 dump_ucast_routes: Switch";
    for guid in 1..=150 {
        writeln!(routes, "dump_ucast_routes: Switch {guid:#018x}").unwrap();
        writeln!(dump, "Unicast lids [0-2000] of switch Lid 3 guid {guid:#018x} ('{name}'):")
            .unwrap();
        for lid in 1..=2000 {
            let port = (lid * guid) % 64;
            writeln!(routes, "0x{lid:04X} : {port:03}  : 01   : yes").unwrap();
            writeln!(dump, "0x{lid:04x} {port:03} # {name}").unwrap();
        }
        writeln!(dump, "2000 lids dumped").unwrap();
    }
    assert!(routes.len() > 4 << 20);
    let all = super::fdbs::parse(&routes).unwrap();
    assert_eq!(all.len(), 150);
    for (index, table) in all.iter().enumerate() {
        assert_eq!(table.guid, index as u64 + 1);
        assert_eq!(table.port(77), Some(((77 * table.guid) % 64) as u8));
    }
    let other = super::lft_dump::parse(&dump).unwrap();
    let plain = |tables: &[super::super::Lft]| -> Vec<(u64, Vec<u8>)> {
        tables.iter().map(|table| (table.guid, table.ports.clone())).collect()
    };
    assert!(plain(&all) == plain(&other));
    // Of two problems in different parts the first is reported.
    let broken = routes.replace("0x07D0 : 016", "0x07D0 : 999");
    let first = routes[..broken.find("999").unwrap()].matches('\n').count() + 1;
    assert_eq!(verdict(FDBS, &broken), format!("{first}: `999` is too large for a port"));
}

const DUMP: &str = "\
Unicast lids [0x0-0x8] of switch DR path slid 0; dlid 0; 0,1,2 guid 0x00000000000000aa (S guid 0x1):
  Lid  Out   Destination
       Port     Info 
0x0001 002 : (Channel Adapter portguid 0x00000000000000cd: 'H0')
0x0004 000 : (Switch portguid 0x00000000000000aa: 'S')
2 valid lids dumped 
Unicast lids [0-8] of switch Lid 3 guid 0x00000000000000bb ('S'):
0x0001 003 # Channel Adapter portguid 0x00000000000000cd: 'H0'
0x0003 000 # unknown node and type
8 lids dumped

*** WARNING ***: this command has been replaced by dump_fts
";

const BAD_DUMPS: &[Edit] = &[
    ("Unicast", "Multicast", "1: a line outside of any table"),
    ("[0x0-0x8]", "[0x0-0x10000]", "1: `0x10000` is too large for a LID"),
    ("[0x0-0x8]", "[0x0]", "1: `]` where `-` should be"),
    ("[0x0-0x8]", "[0x0-0x3]", "5: LID 0x0004 is not among those of the header"),
    (" guid 0x00000000000000aa (S guid 0x1)", " (S)", "1: `DR` where `guid 0x..` should be"),
    ("(S guid 0x1):", "(S", "1: the header has no end"),
    ("0x0001 002 :", "0x0001 :", "4: `:` is not a port"),
    ("0x0001 002 :", "0x0001 256 :", "4: `256` is too large for a port"),
    ("0x0001 002 :", "0x0001 002", "4: `(Channel` where `:` should be"),
    ("0x0001 002 :", "0x0000 002 :", "4: LID 0x0000 is not a unicast LID"),
    (
        "0x0004 000",
        "0x0001 000",
        "5: LID 0x0001 of switch 0x00000000000000aa leads to port 0 here, but to port 2 above",
    ),
    ("2 valid", "3 valid", "6: 3 LIDs, but switch 0x00000000000000aa has 2 rows"),
    ("2 valid lids dumped", "2 valid lids", "6: `lids` where `lids dumped` should be"),
    (
        "2 valid lids dumped \n",
        "",
        "1: the table of switch 0x00000000000000aa ends after 2 rows without its last line",
    ),
    ("8 lids dumped\n", "", "7: the table of switch 0x00000000000000bb ends"),
    ("8 lids dumped\n", "7 lids dumped\n", "10: 7 LIDs, but switch"),
    ("  Lid  Out", "  Lid  In", "2: `Lid` begins no line of a table"),
    (
        "0000bb ('S')",
        "0000aa ('S')",
        "8: LID 0x0001 of switch 0x00000000000000aa leads to port 3 here, but to port 2 in line 4",
    ),
];

#[test]
fn dumps_of_ibroute_and_opensm() {
    refuses(LFT_DUMP, DUMP, BAD_DUMPS);
    assert_eq!(verdict(LFT_DUMP, "\n"), "1: there is no forwarding table in this file");
    let all = DUMP.replacen("2 valid", "3", 1);
    let all = all.replacen("0x0004", "0x0003 255 : (illegal port)\n0x0004", 1);
    assert_eq!(verdict(LFT_DUMP, &all), "fine");
}

const LANES: &str = "\
Switch 0x00000000000000aa, base LID 2, \"S0\"
#in out : 0  1  2  3  4  5  6  7  8  9  10 11 12 13 14 15
#--------------------------------------------------------
0   1   : 0  1  2  3  4  5  6  7  0  1  2  3  4  5  6  15
1   1   : 0  1  2  3  4  5  6  7  0  1  2  3  4  5  6  7 
#--------------------------------------------------------

Channel Adapter 0x00000000000000cd, base LID 1, \"H0\"
#in out : 0  1  2  3  4  5  6  7  8  9  10 11 12 13 14 15
#--------------------------------------------------------
0   0   : 0  1  2  3  4  5  6  7  0  1  2  3  4  5  6  7 
#--------------------------------------------------------
";

#[test]
fn lanes_of_opensm() {
    refuses(
        OPENSM_SL2VL,
        LANES,
        &[
            ("Switch", "Swatch", "1: `Swatch` where"),
            ("0x00000000000000aa", "aa", "1: `aa` is not a GUID"),
            ("base LID 2", "base LID x", "1: `x` is not a LID"),
            ("\"S0\"", "\"S0", "1: `S0` where a name and a quote"),
            ("#-----", "# ----", "4: a row outside of any table"),
            ("0   1   :", "0   255 :", "4: `255` is too large for a port"),
            ("0   1   :", "0   :", "4: `:` is not a port"),
            (
                "0   1   : 0 ",
                "1   1   : 1 ",
                "5: switch 0x00000000000000aa from port 1 to 1 has the lanes 0 1",
            ),
            ("6  15", "6  16", "4: `16` is too large for a virtual lane"),
            ("6  15", "6", "4: a virtual lane is missing"),
            ("6  15", "6  15 0", "4: `0` where the end of the line should be"),
        ],
    );
    for end in LANES.rfind("0   0").unwrap()..LANES.len() - 60 {
        assert_ne!(verdict(OPENSM_SL2VL, &LANES[..end]), "fine");
    }
    assert_eq!(verdict(OPENSM_SL2VL, ""), "1: there is no row of a table in this file");
}

#[test]
fn lanes_of_ibdmchk() {
    let good = "\
0x00aa 0 1 0x01 0x23 0x45 0x67 0x01 0x23 0x45 0x67
0x00aa 1 1 0x01 0x23 0x45 0x67 0x01 0x23 0x45 0x67
";
    refuses(
        IBDMCHK_SL2VL,
        good,
        &[
            ("0x00aa", "aa", "1: `aa` is not a GUID"),
            (" 0 1 ", " 0 ", "1: `0x01` is not a port"),
            (" 0x67\n", "\n", "1: a pair of virtual lanes is missing"),
            (" 0x67\n", " 0x6\n", "1: `0x6` is not a pair of virtual lanes"),
            (" 0x67\n", " 0x67 0x01\n", "1: `0x01` where the end of the line should be"),
            (
                "0 1 0x01",
                "1 1 0x11",
                "2: node 0x00000000000000aa from port 1 to 1 has the lanes 0 1",
            ),
        ],
    );
    for end in good.len() / 2 + 1..good.len() - 1 {
        assert_ne!(verdict(IBDMCHK_SL2VL, &good[..end]), "fine", "{}", &good[..end]);
    }
}

#[test]
fn service_levels_of_paths() {
    let good = "0x00aa 31 4\n0x00aa 0x20 15\n0x00aa 31 4\n";
    refuses(
        PATH_SL,
        good,
        &[
            ("0x00aa", "aa", "1: `aa` is not a GUID"),
            ("31 4", "31", "1: a service level is missing"),
            ("31 4", "49152 4", "1: `49152` is too large for a LID"),
            ("31 4", "0 4", "1: LID 0 is nobody's"),
            ("31 4", "31 16", "1: `16` is too large for a service level"),
            ("31 4", "31 4 5", "1: `5` where the end of the line should be"),
            (
                "31 4",
                "31 5",
                "3: the path from 0x00000000000000aa to LID 31 has service level 4 here, but service level 5 in line 1",
            ),
        ],
    );
    assert_eq!(verdict(PATH_SL, good.trim_end()), "3: the last line has no line end");
    assert_eq!(verdict(PATH_SL, "#\n"), "1: there is no path in this file");
}
