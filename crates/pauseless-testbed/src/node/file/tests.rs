//! Files that are read, and what is said about those that are not.

use std::path::PathBuf;

use expect_test::{Expect, expect};
use pauseless_core::id::PortId;
use pauseless_core::unit::Span;
use pauseless_dataplane::clock::Pace;
use pauseless_dataplane::link::Backend;
use pauseless_wire::{Envelope, MacAddress};

use super::*;

/// A folder with the scenario of the repository and a node file of this text.
struct Folder {
    folder: tempfile::TempDir,
}

impl Folder {
    pub fn new(text: &str) -> Folder {
        let folder = tempfile::tempdir().expect("a folder");
        let ring = repository().join("testbeds/three-machines/ring.toml");
        std::fs::copy(ring, folder.path().join("ring.toml")).expect("a copy");
        std::fs::write(folder.path().join("node.toml"), text).expect("a file");
        Folder { folder }
    }

    pub fn read(&self, role: Role) -> Result<NodeFile, Problems> {
        NodeFile::read(&self.folder.path().join("node.toml"), role)
    }

    /// What is wrong, without the folder's own name.
    fn check(&self, role: Role, expect: Expect) {
        let problems = self.read(role).expect_err("it is wrong");
        let folder = format!("{}/", self.folder.path().display());
        expect.assert_eq(&problems.to_string().replace(&folder, ""));
    }
}

fn repository() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

const S1: &str = r#"scenario = "ring.toml"
node = "S1"
[interfaces]
H1 = "eth1"
S2 = "eth2"
S3 = "eth3"
"#;

#[test]
fn a_file_says_what_its_node_is() {
    let more = r#"[wire]
backend = "packet"
envelope = "private"
clock = "elastic:50us"
slack = "5 ms"
[addresses]
H2 = "b8:59:9f:00:00:01"
[watchdog]
detection = "100 ms"
action = "alert"
"#;
    let file = Folder::new(&format!("{S1}{more}")).read(Role::Switch);
    let file = file.unwrap_or_else(|problems| panic!("{problems}"));
    assert_eq!(file.name(), "S1");
    assert_eq!(file.wire.backend, Backend::Packet);
    assert_eq!(file.wire.pace, Pace::Elastic(Span::us(50)));
    assert_eq!(write_clock(file.wire.pace), "elastic:50us");
    let NodeConfig::Switch(config) = &file.plan.config else {
        panic!("S1 is a switch");
    };
    let common = &config.common;
    assert_eq!(common.envelope, Envelope::Private);
    assert_eq!(common.slack, Span::ms(5));
    for (port, neighbour) in common.neighbours.iter().enumerate() {
        let name = match neighbour.as_str() {
            "H1" => "eth1",
            "S2" => "eth2",
            _ => "eth3",
        };
        assert_eq!(file.interfaces[port], name);
    }
    let address = MacAddress([0xb8, 0x59, 0x9f, 0, 0, 1]);
    let towards = config.forwarding.iter().find(|(to, _)| *to == address);
    let PortId(port) = towards.expect("a way to H2").1;
    assert_eq!(common.neighbours[usize::from(port)], "S2");
    let detection = config.watchdog.map(|watchdog| watchdog.detection);
    assert_eq!(detection, Some(Span::ms(100)));
    // 2 frames, 2 us on wires and 25 ms.
    assert_eq!(file.tau(), Span::us(25_242));
}

#[test]
fn the_files_of_the_repository_are_read_and_fit_each_other() {
    for number in 1..=3 {
        for (name, role) in [("S", Role::Switch), ("H", Role::Host)] {
            let path = format!("testbeds/three-machines/{name}{number}.toml");
            let file = NodeFile::read(&repository().join(path), role);
            let file = file.unwrap_or_else(|problems| panic!("{problems}"));
            assert_eq!(file.name(), format!("{name}{number}"));
            assert_eq!(file.wire.envelope, Envelope::Private);
        }
    }
}

#[test]
fn a_node_must_be_one_of_the_scenario_and_of_the_right_kind() {
    let unknown = S1.replace("\"S1\"", "\"S4\"");
    Folder::new(&unknown).check(
        Role::Switch,
        expect![[r#"
        pauseless: node.toml:2:8: node: the scenario has no node S4
          |
        2 | node = "S4"
          |        ^^^^ expected a switch of the scenario: S1, S2, S3
          |
          = help: did you mean S1?"#]],
    );
    Folder::new(S1).check(
        Role::Host,
        expect![[r#"
        pauseless: node.toml:2:8: node: S1 is a switch, not a host
          |
        2 | node = "S1"
          |        ^^^^ expected a host of the scenario: H1, H2, H3
          |
          = help: start this file with `pauseless switch`"#]],
    );
}

#[test]
fn every_port_has_one_interface() {
    let wrong = r#"scenario = "ring.toml"
node = "S1"
[interfaces]
H2 = "eth1"
S2 = "eth1"
S3 = "a name that is too long"
"#;
    Folder::new(wrong).check(Role::Switch, expect![[r#"
        pauseless: node.toml:3:1: interfaces: the port of S1 to H1 has no interface
          |
        3 | [interfaces]
          | ^^^^^^^^^^^^
          |
          = help: add H1 = "NAME"; `ip link` lists the interfaces

        pauseless: node.toml:4:1: interfaces.H2: S1 has no link to H2
          |
        4 | H2 = "eth1"
          | ^^ expected one of H1, S2, S3
          |
          = help: did you mean H1?

        pauseless: node.toml:5:6: interfaces.S2: eth1 is the interface to H2 already
          |
        5 | S2 = "eth1"
          |      ^^^^^^

        pauseless: node.toml:6:6: interfaces.S3: "a name that is too long" is no name of an interface
          |
        6 | S3 = "a name that is too long"
          |      ^^^^^^^^^^^^^^^^^^^^^^^^^ expected 1 to 15 characters, such as "eth1""#]]);
}

#[test]
fn what_cannot_be_is_said_at_its_place() {
    let wrong = r#"scenario = "gone.toml"
nod = "S1"
[wire]
backend = "dpdk"
envelope = "privat"
clock = "elastic:5"
slack = "2 s"
[addresses]
H2 = "b8:59:9f"
H3 = "01:80:c2:00:00:01"
"#;
    Folder::new(wrong).check(
        Role::Switch,
        expect![[r#"
        pauseless: node.toml:1:1: node: missing
          |
        1 | scenario = "gone.toml"
          | ^
          |
          = help: add node = "S1"

        pauseless: node.toml:1:1: interfaces: this section is missing
          |
        1 | scenario = "gone.toml"
          | ^
          |
          = help: add a section [interfaces]

        pauseless: node.toml:1:12: scenario: there is no file gone.toml
          |
        1 | scenario = "gone.toml"
          |            ^^^^^^^^^^^
          |
          = help: the path is relative to the folder of this file

        pauseless: node.toml:2:1: nod: unknown key
          |
        2 | nod = "S1"
          | ^^^ expected one of addresses, interfaces, node, scenario, watchdog, wire
          |
          = help: did you mean node?

        pauseless: node.toml:4:11: wire.backend: unknown value "dpdk"
          |
        4 | backend = "dpdk"
          |           ^^^^^^ expected one of "auto", "packet", "xdp"

        pauseless: node.toml:5:12: wire.envelope: unknown value "privat"
          |
        5 | envelope = "privat"
          |            ^^^^^^^^ expected one of "mac-control", "private"
          |
          = help: did you mean private?

        pauseless: node.toml:6:9: wire.clock: "elastic:5" is no clock: "5" has no unit
          |
        6 | clock = "elastic:5"
          |         ^^^^^^^^^^^

        pauseless: node.toml:7:9: wire.slack: 2 s is out of range
          |
        7 | slack = "2 s"
          |         ^^^^^ expected a time from 0 ps to 1 s

        pauseless: node.toml:9:6: addresses.H2: "b8:59:9f" is no address
          |
        9 | H2 = "b8:59:9f"
          |      ^^^^^^^^^^ expected six octets, such as "b8:59:9f:00:00:01"

        pauseless: node.toml:10:6: addresses.H3: 01:80:c2:00:00:01 is the address of a group
           |
        10 | H3 = "01:80:c2:00:00:01"
           |      ^^^^^^^^^^^^^^^^^^^ expected the address of one interface"#]],
    );
}

#[test]
fn what_only_switches_have_is_refused_for_hosts_and_watchdogs_without_pfc() {
    let host = r#"scenario = "ring.toml"
node = "H1"
[interfaces]
S1 = "eth1"
[addresses]
H2 = "b8:59:9f:00:00:01"
"#;
    Folder::new(host).check(
        Role::Host,
        expect![[r#"
        pauseless: node.toml:5:1: addresses: only switches have this, and this is a host
          |
        5 | [addresses]
          | ^^^^^^^^^^^
          |
          = help: leave it out"#]],
    );
    let folder = Folder::new(&format!("{S1}[watchdog]\n"));
    let ring = folder.folder.path().join("ring.toml");
    let text = std::fs::read_to_string(&ring).expect("the ring");
    let text = text.replace("kind = \"pfc\"\nxoff = \"2 MB\"", "kind = \"cbfc\"");
    std::fs::write(&ring, text).expect("a file");
    folder.check(
        Role::Switch,
        expect![[r#"
        pauseless: node.toml:7:1: watchdog: there is no PFC to watch
          |
        7 | [watchdog]
          | ^^^^^^^^^^
          |
          = help: leave [watchdog] out"#]],
    );
}

#[test]
fn what_the_wire_cannot_do_is_said_of_the_scenario() {
    let folder = Folder::new(S1);
    let ring = folder.folder.path().join("ring.toml");
    let text = std::fs::read_to_string(&ring).expect("the ring");
    let text = format!("{text}[congestion_control]\nkind = \"qcn\"\n");
    std::fs::write(&ring, text).expect("a file");
    folder.check(
        Role::Switch,
        expect![[r#"
        pauseless: node.toml:1:12: scenario: the real wire cannot do all of this scenario
          |
        1 | scenario = "ring.toml"
          |            ^^^^^^^^^^^
          |
          = help: QCN has no frame format here; take PCN or DCQCN"#]],
    );
}

#[test]
fn a_slack_below_a_tick_is_refused_whoever_has_said_the_clock() {
    let read = |wire: &str| {
        let file = Folder::new(&format!("{S1}[wire]\n{wire}")).read(Role::Switch);
        file.unwrap_or_else(|problems| panic!("{problems}"))
    };
    let mut file = read("slack = \"10 us\"");
    file.take_clock(None).expect("the real clock has no tick");
    let refused = file.take_clock(Some(Pace::Elastic(Span::us(50))));
    let refused = refused.expect_err("50 us are more than 10").to_string();
    assert!(refused.contains("take slack = \"50 us\" or more"), "{refused}");
    assert!(read("clock = \"elastic\"\nslack = \"10 us\"").take_clock(None).is_err());
    read("clock = \"elastic\"\nslack = \"20 us\"").take_clock(None).expect("as long as a tick");
}

#[test]
fn a_delay_that_no_wire_has_is_said() {
    let folder = Folder::new(S1);
    let remarks = |folder: &Folder| {
        let file = folder.read(Role::Switch);
        file.unwrap_or_else(|problems| panic!("{problems}")).remarks()
    };
    assert_eq!(remarks(&folder), [""; 0]);
    let path = folder.folder.path().join("ring.toml");
    let ring = std::fs::read_to_string(&path).expect("a file");
    let ring = ring.replace("delay = \"1 us\"", "delay = \"2 ms\"");
    std::fs::write(&path, ring).expect("a file");
    let remarks = remarks(&folder);
    assert_eq!(remarks.len(), 3, "{remarks:?}");
    assert!(remarks[0].contains("delay of 2 ms"), "{remarks:?}");
}
