//! The devices whose throughput is measured.

use std::path::Path;
use std::process::{Command, Stdio};

use super::bed::{Bed, IN, OUT, Running, first_core, ip, run, second_core};
use super::role;

/// Something that carries frames from one interface to another.
pub struct Device {
    /// The name in the table of results.
    pub name: &'static str,
    kind: Kind,
}

enum Kind {
    /// Frames end at the device.
    Nobody,
    /// One of our own, by the words for its role.
    Ours(&'static [&'static str]),
    /// Of DPDK, with a driver.
    Testpmd(&'static str),
    Bridge,
}

/// All devices, in the order of the table.
pub const DEVICES: [Device; 14] = [
    Device::new("generator alone", Kind::Nobody),
    Device::ours("switch, AF_PACKET, PFC", &["switch", "packet", "pfc"]),
    Device::ours("switch, AF_PACKET, GFC", &["switch", "packet", "gfc"]),
    Device::ours("switch, AF_PACKET, CBFC", &["switch", "packet", "cbfc"]),
    Device::ours("switch, AF_PACKET, none", &["switch", "packet", "none"]),
    Device::ours("forwarder, AF_PACKET", &["forward", "packet"]),
    Device::new("testpmd, net_af_packet", Kind::Testpmd("net_af_packet")),
    Device::ours("switch, AF_XDP, PFC", &["switch", "xdp", "pfc"]),
    Device::ours("switch, AF_XDP, GFC", &["switch", "xdp", "gfc"]),
    Device::ours("switch, AF_XDP, none", &["switch", "xdp", "none"]),
    Device::ours("switch, AF_XDP skb, PFC", &["switch", "skb", "pfc"]),
    Device::ours("forwarder, AF_XDP", &["forward", "xdp"]),
    Device::new("testpmd, net_af_xdp", Kind::Testpmd("net_af_xdp")),
    Device::new("bridge, on the first core", Kind::Bridge),
];

impl Device {
    const fn new(name: &'static str, kind: Kind) -> Device {
        Device { name, kind }
    }

    const fn ours(name: &'static str, words: &'static [&'static str]) -> Device {
        Device::new(name, Kind::Ours(words))
    }

    /// The one of DPDK that uses the same kind of socket, if this is one of ours.
    pub fn rival(&self) -> Option<&'static str> {
        match self.kind {
            Kind::Ours(words) if words[1] == "packet" => Some("testpmd, net_af_packet"),
            Kind::Ours(_) => Some("testpmd, net_af_xdp"),
            _ => None,
        }
    }

    /// Whether there is no device at all.
    pub fn is_nobody(&self) -> bool {
        matches!(self.kind, Kind::Nobody)
    }

    /// Whether what it needs is there.
    pub fn is_installed(&self) -> bool {
        let program = match self.kind {
            Kind::Testpmd(_) => "dpdk-testpmd",
            _ => return true,
        };
        let path = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&path).any(|folder| Path::new(&folder).join(program).exists())
    }

    /// Puts it between the interfaces of the bed.
    pub fn start(&self, bed: &Bed) -> Result<Option<Running>, String> {
        match self.kind {
            Kind::Nobody => Ok(None),
            Kind::Ours(words) => run(&bed.device, role::command(second_core(), words)).map(Some),
            Kind::Testpmd(driver) => run(&bed.device, testpmd(driver)).map(Some),
            Kind::Bridge => bridge(bed).map(|()| None),
        }
    }
}

/// Its main thread sleeps on the first core, the one that forwards is on the second.
fn testpmd(driver: &str) -> Command {
    let mut command = Command::new("dpdk-testpmd");
    let options = match driver {
        "net_af_packet" => ",qdisc_bypass=1",
        _ => "",
    };
    let device = |number, interface| format!("--vdev={driver}{number},iface={interface}{options}");
    let lcores = format!("--lcores=0@{},1@{}", first_core(), second_core());
    let prefix = format!("--file-prefix=pauseless{}", std::process::id());
    command
        .args(["--no-huge", "-m", "512", "--no-pci", "--no-telemetry"])
        .args([&lcores, &prefix, "--main-lcore=0"])
        .args([device(0, IN), device(1, OUT)])
        // With fewer buffers the AF_XDP driver receives nothing and does not say so.
        .args(["--", "--total-num-mbufs=32768", "--forward-mode=io", "--nb-cores=1"])
        .stderr(Stdio::null());
    command
}

fn bridge(bed: &Bed) -> Result<(), String> {
    let steps = [
        "link add name bridge type bridge forward_delay 0".to_owned(),
        format!("link set dev {IN} master bridge"),
        format!("link set dev {OUT} master bridge"),
        "link set dev bridge up".to_owned(),
    ];
    ip(&bed.device, &steps).map_err(|error| error.to_string())
}
