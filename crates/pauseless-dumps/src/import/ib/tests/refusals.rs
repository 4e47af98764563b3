//! What is wrong with cabling, and what is said of it.

use super::{DISCOVER, DISCOVER_TABLE, Edit, SUBNET_LIST, refuses, sample, verdict};

/// One line of a subnet list; every place below is `kind guid lid port`.
fn list_line(near: [&str; 4], far: [&str; 4]) -> String {
    let end = |[kind, guid, lid, port]: [&str; 4]| {
        let ports = if kind == "SW" { "24" } else { "02" };
        format!(
            "{{ {kind} Ports:{ports} SystemGUID:0000 NodeGUID:{guid} PortGUID:{guid} VenID:02C9 \
             DevID:0000 Rev:000000A1 {{name {guid}}} LID:{lid} PN:{port} }}"
        )
    };
    format!("{} {} PHY=4x LOG=ACT SPD=10\n", end(near), end(far))
}

fn list() -> String {
    let (switch, other) = (["SW", "00aa", "0001", "1F"], ["SW", "00bb", "0002", "03"]);
    let (host, leaf) = (["CA", "00cc", "0003", "01"], ["SW", "00aa", "0001", "02"]);
    [
        list_line(switch, other),
        list_line(other, switch),
        list_line(host, leaf),
        list_line(leaf, host),
    ]
    .concat()
}

const BAD_LISTS: &[Edit] = &[
    ("{ SW", "{ XX", "1: `XX` is not a kind of node"),
    ("{ SW", "SW", "1: `SW` where `{` should be"),
    ("Ports:24", "Ports:1FF", "1: `1FF` is too large for a number of ports"),
    ("Ports:24", "Ports:", "1: a number of ports is missing"),
    (
        "Ports:24",
        "Ports:25",
        "2: node 0x00000000000000aa is one of 36 ports here, but of 37 in line 1",
    ),
    ("NodeGUID:00aa", "NodeGUID:0000", "1: a GUID of zero"),
    (
        "NodeGUID:00aa",
        "NodeGUID:11112222333344445",
        "1: `11112222333344445` is too large for a GUID",
    ),
    ("NodeGUID:00aa", "NodeGUID:00ag", "1: `00ag` is not a GUID"),
    (
        "NodeGUID:00aa",
        "NodeGUID:00bb",
        "1: switch 0x00000000000000bb (`name 00aa`) has LID 2 and LMC 0 here, but LID 1",
    ),
    ("} LID:0001", "} LID:C000", "1: LID 0xc000 is not a unicast LID"),
    ("} LID:0001", "} LID:12345", "1: `12345` is too large for a LID"),
    (
        "} LID:0001",
        "} LID:0009",
        "2: switch 0x00000000000000aa (`name 00aa`) has LID 1 and LMC 0 here, but LID 9 and LMC 0 in line 1",
    ),
    ("} LID:0001", " LID:0001", "1: `PHY=4x` where `{` should be"),
    ("PN:1F", "PN:25", "1: no cable fits port 37 of switch 0x00000000000000aa"),
    ("PN:1F", "PN:00", "1: no cable fits port 0"),
    (
        "PN:1F",
        "PN:20",
        "2: port 3 of switch 0x00000000000000bb (`name 00bb`) is cabled to port 31 of switch 0x00000000000000aa (`name 00aa`) here, but to port 32",
    ),
    ("PN:1F", "PN:02", "2: port 3 of switch"),
    ("PHY=4x", "PHY=3x", "1: `3x` is not a width of a link"),
    ("PHY=4x", "PHY=1x", "2: this cable has 4xQDR here, but 1xQDR in line 1"),
    ("LOG=ACT", "LOG=AC", "1: `AC` is not a state of a port"),
    ("SPD=10", "SPD=1", "1: `1` is not a speed of a lane"),
    ("SPD=10", "SPD=10 x", "1: `x` where the end of the line should be"),
    (" SPD=10\n", "\n", "2: this line has a speed, those before have none"),
    ("\n", " ", "1: `{` where the end of the line should be"),
];

#[test]
fn subnet_lists() {
    refuses(SUBNET_LIST, &list(), BAD_LISTS);
}

#[test]
fn subnet_lists_of_another_kind() {
    assert_eq!(verdict(SUBNET_LIST, ""), "1: there is no line for a cabled port in this file");
    let all = list();
    let three: Vec<&str> = all.lines().take(3).collect();
    let found = verdict(SUBNET_LIST, &three.join("\n"));
    assert!(found.starts_with("3: there is no line from port 2 of switch"), "{found}");
    let end = ["SW", "00aa", "0001", "01"];
    let found = verdict(SUBNET_LIST, &list_line(end, end));
    assert!(found.ends_with("is cabled to itself"), "{found}");
    // Ports that are down have no cable, and lists from one end only are whole as well.
    let down = list().replacen("LOG=ACT", "LOG=DWN", 2);
    assert_eq!(verdict(SUBNET_LIST, &down), "fine");
    assert_eq!(verdict(SUBNET_LIST, three[0]), "fine");
    let shared = list_line(["SW", "00aa", "0001", "01"], ["CA", "00cc", "0001", "01"]);
    let found = verdict(SUBNET_LIST, &shared);
    assert!(
        found.starts_with("1: LID 1 belongs to port 1 of adapter 0x00000000000000cc"),
        "{found}"
    );
}

#[test]
fn descriptions_of_subnet_lists_may_have_odd_characters() {
    for name in ["a;b:c/d", "{a} {b}", "} { SW", "é 'x' \"y\"", ""] {
        let text = list().replace("name 00aa", name);
        assert_eq!(verdict(SUBNET_LIST, &text), "fine", "{name}");
    }
}

#[test]
fn every_cut_of_a_subnet_list_is_noticed() {
    let text = list();
    // One line by itself is a whole list, of one cable from one end; so are two of one cable.
    let whole = [1, 2].map(|count| text.split_inclusive('\n').take(count).map(str::len).sum());
    let [first, second]: [usize; 2] = whole;
    for end in (first + 1..second - 1).chain(second + 1..text.len() - 1) {
        assert_ne!(verdict(SUBNET_LIST, &text[..end]), "fine", "{}", &text[..end]);
    }
}

const BLOCKS: &str = "\
vendid=0x2c9
switchguid=0xaa(aa)
Switch\t36 \"S-00000000000000aa\"\t\t# \"leaf\" enhanced port 0 lid 1 lmc 0
[31]\t\"S-00000000000000bb\"[3]\t\t# \"spine\" lid 2 4xNDR
[2]\t\"H-00000000000000cc\"[1](cd) \t\t# \"host mlx5_0\" lid 8 4xNDR

switchguid=0xbb(bb)
Switch\t36 \"S-00000000000000bb\"\t\t# \"spine\" base port 0 lid 2 lmc 0
[3]\t\"S-00000000000000aa\"[31]\t\t# \"leaf\" lid 1 4xNDR

caguid=0xcc
Ca\t2 \"H-00000000000000cc\"\t\t# \"host mlx5_0\"
[1](cd) \t\"S-00000000000000aa\"[2]\t\t# lid 8 lmc 3 \"leaf\" lid 1 4xNDR
";

const BAD_BLOCKS: &[Edit] = &[
    ("vendid=0x2c9", "vendid=2c9", "1: `2c9` is not an identifier"),
    ("vendid=0x2c9", "vendor=0x2c9", "1: `vendor=0x2c9` begins no line of ibnetdiscover"),
    ("switchguid=0xaa", "switchguid=0xab", "3: `S-00000000000000aa` follows the GUID 0xab"),
    ("Switch\t36", "Switch\t3600", "3: `3600` is too large for a number of ports"),
    ("Switch\t36", "Switch\tx", "3: `x` is not a number of ports"),
    ("Switch\t36", "Switch\t30", "4: no cable fits port 31 of switch 0x00000000000000aa"),
    ("Switch\t36 \"S-", "Switch\t36 \"H-", "3: `H-00000000000000aa` is not the name of a node"),
    ("Switch\t36 \"S-", "Switch\t36 \"S", "3: `S00000000000000aa` is not the name of a node"),
    (
        "enhanced port 0 lid 1 lmc 0",
        "enhanced port 0 lid 1",
        "3: the line ends where `lmc` should be",
    ),
    ("enhanced", "improved", "3: `improved` where `enhanced` should be"),
    ("port 0 lid 1 ", "port 0 lid 65536 ", "3: `65536` is too large for a LID"),
    ("port 0 lid 1 ", "port 0 lid 49152 ", "3: LID 0xc000 is not a unicast LID"),
    (
        "port 0 lid 1 ",
        "port 0 lid 3 ",
        "9: switch 0x00000000000000aa (`leaf`) has LID 1 here, but LID 3 in its own block",
    ),
    (
        "port 0 lid 1 ",
        "port 0 lid 0 ",
        "9: switch 0x00000000000000aa (`leaf`) has LID 1 here, but none in its own block",
    ),
    ("port 0 lid 2 lmc 0", "port 0 lid 9 lmc 0", "4: switch 0x00000000000000bb"),
    ("lmc 3", "lmc 4", "13: LID 8 does not fit an LMC of 4"),
    ("lmc 3", "lmc 8", "13: `8` is too large for an LMC"),
    ("[31]", "[255]", "4: `255` is too large for a port"),
    ("[31]", "[31", "4: `31\t\"S-00000000000000bb\"[3` is not a port"),
    ("[31]", "[0]", "4: no cable fits port 0"),
    ("[31]", "[30]", "9: port 3 of switch 0x00000000000000bb (`spine`) is cabled to port 31"),
    (
        "[2]\t",
        "[31]\t",
        "5: port 31 of switch 0x00000000000000aa (`leaf`) is cabled to port 1 of adapter 0x00000000000000cc (`host mlx5_0`) here, but to port 3 of switch 0x00000000000000bb (`spine`) in line 4",
    ),
    (
        "\"S-00000000000000bb\"[3]",
        "\"S-00000000000000bc\"[3]",
        "4: port 31 of switch 0x00000000000000aa (`leaf`) is cabled to switch 0x00000000000000bc, which has no block",
    ),
    (
        "\"H-00000000000000cc\"[1]",
        "\"S-00000000000000cc\"[1]",
        "5: 0x00000000000000cc is called a switch here",
    ),
    ("lid 2 4xNDR", "lid 2 4xND", "4: `4xND` is not a rate of a link"),
    ("lid 2 4xNDR", "lid 2 4xHDR", "9: this cable has 4xNDR here, but 4xHDR in line 4"),
    ("lid 2 4xNDR", "lid 2 4xNDR more", "4: `more` after the rate"),
    ("lid 2 4xNDR", "lid 2", "4: the line ends where a rate such as 4xNDR should be"),
    ("\"spine\" lid 2", "\"spine lid 2", "4: the description has no end"),
    ("\n[3]", "\n\n[3]", "10: a port outside of any block"),
    (
        "lid 8 lmc 3",
        "lid 2 lmc 0",
        "5: port 1 of adapter 0x00000000000000cc (`host mlx5_0`) has LID 8 here, but LID 2",
    ),
];

#[test]
fn blocks_of_ibnetdiscover() {
    refuses(DISCOVER, BLOCKS, BAD_BLOCKS);
}

#[test]
fn blocks_that_are_fine() {
    let full = BLOCKS.replacen("4xNDR", "4xNDR s=4 w=2 e=0", 1);
    assert_eq!(verdict(DISCOVER, &full), "fine");
    assert_eq!(verdict(DISCOVER, &BLOCKS.replace("4xNDR", "4x???")), "fine");
    assert_eq!(verdict(DISCOVER, &BLOCKS.replace("leaf", "le\"af # x")), "fine");
    assert_eq!(verdict(DISCOVER, &format!("{BLOCKS}\n{BLOCKS}")), "fine");
    // ibsim's own files have no comments and list a cable once.
    let bare: String = BLOCKS
        .lines()
        .filter(|line| !line.starts_with("[3]"))
        .map(|line| line.split('#').next().unwrap_or("").to_string() + "\n")
        .collect();
    assert_eq!(verdict(DISCOVER, &bare), "fine");
    assert_eq!(
        verdict(DISCOVER, "# Topology file\n"),
        "1: there is no switch or adapter in this file"
    );
}

#[test]
fn lids_of_two_ports_may_not_overlap() {
    // The adapter has LIDs 8 to 15.
    let other = BLOCKS.replace("lid 2", "lid 15");
    let found = verdict(DISCOVER, &other);
    assert!(found.starts_with("12: LID 15") || found.starts_with("13: LID 15"), "{found}");
}

#[test]
fn every_cut_of_ibnetdiscover_is_noticed() {
    let text = sample("ring4-minhop/ibnetdiscover.out");
    for end in 1..text.len() - 1 {
        assert_ne!(verdict(DISCOVER, &text[..end]), "fine", "{}", &text[..end]);
    }
}

#[test]
fn rows_of_ibnetdiscover() {
    let good = "\
CA   134  1 0x00cc 4x EDR - SW  1719 10 0x00aa ( 'o0001 HCA-1' - 'leaf' )
SW  1719 10 0x00aa 4x EDR - CA   134  1 0x00cc ( 'leaf' - 'o0001 HCA-1' )
SW  1719 37 0x00aa 4x ???                      'leaf'
";
    refuses(
        DISCOVER_TABLE,
        good,
        &[
            ("CA ", "XX ", "1: `XX` is not a kind of node"),
            ("134", "70000", "1: `70000` is too large for a LID"),
            ("134", "135", "2: port 1 of adapter 0x00000000000000cc (`o0001 HCA-1`) has LID 134"),
            ("134", "x", "1: `x` is not a LID"),
            ("  1 0x00cc", "  300 0x00cc", "1: `300` is too large for a port"),
            ("0x00cc", "00cc", "1: `00cc` is not a GUID"),
            ("4x EDR", "EDR", "1: `EDR` is not a width of a link"),
            ("4x EDR", "4x E", "1: `E` is not a speed of a link"),
            ("4x EDR", "4x HDR", "2: this cable has 4xEDR here, but 4xHDR in line 1"),
            (
                "1719 10",
                "1719 11",
                "2: port 1 of adapter 0x00000000000000cc (`o0001 HCA-1`) is cabled to port 10 of",
            ),
            ("- SW", "-", "1: `1719` is not a kind of node"),
            ("' - '", "' 'x", "1: it is not clear where the first description ends"),
            ("HCA-1' -", "HCA' - '1' -", "1: it is not clear where the first description ends"),
            ("'leaf' )", "'leaf", "1: the descriptions have no end"),
            ("'leaf'\n", "'leaf\n", "3: the description has no end"),
            ("'leaf'\n", "leaf\n", "3: `leaf` where `'` should be"),
        ],
    );
    assert_eq!(verdict(DISCOVER_TABLE, "\n"), "1: there is no line for a port in this file");
}
