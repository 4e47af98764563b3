//! The check of a fat tree from `opensm-subnet.lst` and `opensm.fdbs`, reading included, beside
//! `ibdmchk` on the same files if it is installed (Debian's `ibutils`):
//! `cargo bench -p pauseless-check --bench ibdmchk -- K`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use pauseless_check::check;
use pauseless_check::read;
use pauseless_core::id::{NodeId, PortId};
use pauseless_core::unit::{Rate, Span};
use pauseless_fabric::generate::{FatTree, LinkSpecs, Shape};
use pauseless_fabric::routing::{Multipath, RouteBuilder, Routes, TieBreak};
use pauseless_fabric::topology::{LinkSpec, Topology};

fn main() {
    let words = Vec::from_iter(std::env::args().skip(1).filter(|word| word != "--bench"));
    let k = words.first().map_or(24, |word| word.parse().expect("K"));
    let folder = std::env::temp_dir().join(format!("pauseless-fat-tree-{k}"));
    std::fs::create_dir_all(&folder).expect("a folder for the files");
    let spec = LinkSpec { rate: Rate::gbps(100), delay: Span::us(1) };
    let shape = FatTree { k };
    let topology = shape.build(LinkSpecs::same(spec)).expect("a legal size");
    let tie_break = TieBreak::Seeded(1);
    let routes = RouteBuilder::new(&topology, Multipath::Single { tie_break }).build();
    let opensm = Opensm { topology: &topology, routes: &routes };
    let files = opensm.write(&folder);
    let (hosts, switches) = (topology.host_count(), topology.switches().len());
    println!("{hosts} hosts, {switches} switches, in {}", folder.display());
    for _ in 0..5 {
        let begin = Instant::now();
        let fabric = read::read(&files).expect("the files are good");
        let read = begin.elapsed().as_secs_f64();
        let verdict = check(&fabric, &[]);
        let all = begin.elapsed().as_secs_f64();
        let cyclic = verdict.is_cyclic();
        println!("pauseless: {all:.3} s ({read:.3} s of it reading), cyclic: {cyclic}");
    }
    run_ibdmchk(&folder, &files);
}

fn run_ibdmchk(folder: &Path, files: &[PathBuf]) {
    let multicast = folder.join("empty.mcfdbs");
    std::fs::write(&multicast, "").expect("room for a file");
    let begin = Instant::now();
    let mut command = Command::new("ibdmchk");
    for (flag, file) in [("-s", &files[0]), ("-f", &files[1]), ("-m", &multicast)] {
        command.arg(flag).arg(file);
    }
    match command.output() {
        Err(error) => println!("ibdmchk: not run ({error}); install Debian's ibutils"),
        Ok(output) => {
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            let mut lines = text.lines().filter(|line| line.contains("credit loops"));
            let verdict = lines.next_back().unwrap_or("no verdict");
            println!("ibdmchk:   {:.1} s, {verdict}", begin.elapsed().as_secs_f64());
        }
    }
}

/// What opensm would write of a fabric.
struct Opensm<'o> {
    topology: &'o Topology,
    routes: &'o Routes,
}

impl Opensm<'_> {
    fn write(&self, folder: &Path) -> Vec<PathBuf> {
        let write = |name: &str, text: String| {
            let path = folder.join(name);
            std::fs::write(&path, text).expect("room for the files");
            path
        };
        vec![write("opensm-subnet.lst", self.list()), write("opensm.fdbs", self.tables())]
    }

    fn nodes(&self) -> impl Iterator<Item = NodeId> {
        (0..self.topology.nodes().len()).map(|number| NodeId(number as u32))
    }

    fn list(&self) -> String {
        let mut list = String::new();
        for node in self.nodes() {
            for (number, port) in (0..).map(PortId).zip(self.topology.ports(node)) {
                let (a, b) = (self.end(node, number), self.end(port.peer, port.peer_port));
                let _ = writeln!(list, "{a} {b} PHY=4x LOG=ACT SPD=10");
            }
        }
        list
    }

    fn end(&self, node: NodeId, port: PortId) -> String {
        let kind = if self.topology.is_host(node) { "CA" } else { "SW" };
        let (guid, name) = (guid(node), &self.topology.node(node).name);
        let ports = self.topology.ports(node).len();
        let (lid, number) = (lid(node), port.0 + 1);
        format!(
            "{{ {kind} Ports:{ports:02X} SystemGUID:{guid:016x} NodeGUID:{guid:016x} \
             PortGUID:{guid:016x} VenID:000000 DevID:0000 Rev:000000A1 {{{name}}} \
             LID:{lid:04X} PN:{number:02X} }}"
        )
    }

    fn tables(&self) -> String {
        let mut tables = String::new();
        for &switch in self.topology.switches() {
            let _ = writeln!(tables, "dump_ucast_routes: Switch 0x{:016x}", guid(switch));
            let _ = writeln!(tables, "LID    : Port : Hops : Optimal");
            for node in self.nodes() {
                let lid = lid(node);
                let _ = match self.port(switch, node) {
                    Some(port) => writeln!(tables, "0x{lid:04X} : {port:03}  : 02   : yes"),
                    None => writeln!(tables, "0x{lid:04X} : UNREACHABLE"),
                };
            }
        }
        tables
    }

    /// The port number by which `switch` sends what is for `node`.
    fn port(&self, switch: NodeId, node: NodeId) -> Option<u16> {
        if !self.topology.is_host(node) {
            return (node == switch).then_some(0);
        }
        let group = self.routes.groups.of_host(node);
        let hops = self.routes.table.next_hops(switch, group);
        hops.first().map(|port| port.0 + 1)
    }
}

fn lid(node: NodeId) -> u32 {
    node.0 + 1
}

fn guid(node: NodeId) -> u64 {
    0x10_0000 + u64::from(node.0)
}
