//! Whether the tables of `docs/adaptive.md` are what the check says. Written anew with
//! `UPDATE_EXPECT=1 cargo test -p pauseless-check --test adaptive_docs`.

use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use pauseless_check::read;
use pauseless_check::sweep::{Amount, Cases, Plan, sweep};
use pauseless_fabric::dependency::{Checker, Network, PortChoice};
use pauseless_fabric::fabric::Fabric;
use pauseless_fabric::reroute::Reroute;
use pauseless_fabric::routing::opensm::Subnet;
use pauseless_fabric::routing::{Algorithm, Multipath, Routes, Routing, TieBreak};
use pauseless_scenario::shape;

/// Real and made fabrics, with the tables that opensm's minhop gave them.
const EXAMPLES: [&str; 10] = [
    "dgx-minhop",
    "ft4-minhop",
    "ft4drop4s22-minhop",
    "bareleaf-minhop",
    "ls4x4spinehosts-minhop",
    "mesh3x3-minhop",
    "ring5-minhop",
    "torus3x3x3-minhop",
    "dragonfly4x5-minhop",
    "rrg10d3-minhop",
];

const SHAPES: [&str; 12] = [
    "fat-tree:4",
    "fat-tree:8",
    "leaf-spine:leaves=8,spines=4,hosts_per_leaf=4",
    "mesh:4x4,hosts_per_switch=1",
    "mesh:2x2x2,hosts_per_switch=1",
    "torus:4x4,hosts_per_switch=1",
    "torus:5x5,hosts_per_switch=1",
    "torus:4x4x4,hosts_per_switch=1",
    "hyperx:4x4,hosts_per_switch=1",
    "hyperx:4x4x4,hosts_per_switch=1",
    "dragonfly:groups=9,routers_per_group=4,hosts_per_router=1,global_links_per_router=2",
    "random-regular:switches=16,degree=4,hosts_per_switch=1",
];

const TREES: [&str; 3] =
    ["fat-tree:4", "fat-tree:8", "leaf-spine:leaves=8,spines=4,hosts_per_leaf=4"];

const ALL_MINIMAL: Routing = Routing { algorithm: Algorithm::Shortest, multipath: Multipath::Ecmp };
const UP_DOWN: Routing = Routing { algorithm: Algorithm::UpDown, multipath: Multipath::Ecmp };
/// One random port per switch and host, as after failures no order of adapters is known.
const ONE_PORT: Routing = Routing {
    algorithm: Algorithm::Shortest,
    multipath: Multipath::Single { tie_break: TieBreak::Seeded(1) },
};

/// How many random sets of failures are drawn of each tree.
const SAMPLES: u64 = 1_000;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// What the check says of these routes: `-`, or what can deadlock.
fn word(fabric: &Fabric, routes: &Routes, choice: PortChoice) -> &'static str {
    let network = Network { routes, ..fabric.network() };
    let nobody = fabric.marks(&[]);
    let graph = Checker::of(&network).choosing(choice).graph(network, &nobody);
    match (graph.is_cyclic(), choice) {
        (false, _) => "-",
        (true, PortChoice::WhenQueued) => "cycle",
        (true, PortChoice::AtHead) => "knot",
    }
}

fn row(name: &str, fabric: &Fabric, one_port: &Routes) -> String {
    let rule = |routing| {
        let mut other = fabric.clone();
        other.route_by(routing);
        other
    };
    let (up_down, minimal) = (rule(UP_DOWN), rule(ALL_MINIMAL));
    let own = |fabric: &Fabric, choice| word(fabric, &fabric.routes, choice);
    let (committed, at_head) = (PortChoice::WhenQueued, PortChoice::AtHead);
    let cells = [
        word(fabric, one_port, committed),
        own(&up_down, committed),
        own(&minimal, committed),
        own(&minimal, at_head),
    ];
    let switches = fabric.topology.switches().len();
    format!("| {name} | {switches} | {} |\n", cells.join(" | "))
}

fn fabrics() -> String {
    let mut table =
        "| fabric | switches | minhop, one port | up\\*/down\\*, all ports | all minimal \
                     ports, committed | all minimal ports, chosen at the head |\n\
                     |---|---|---|---|---|---|\n"
            .to_string();
    for example in EXAMPLES {
        let folder = root().join("examples/ib").join(example);
        let fabric = read::read(&[folder]).unwrap_or_else(|wrong| panic!("{example}: {wrong}"));
        table += &row(&format!("`examples/ib/{example}`"), &fabric, &fabric.routes);
    }
    for spec in SHAPES {
        let fabric = shape::parse(spec).unwrap_or_else(|wrong| panic!("{spec}: {wrong}"));
        let one_port = Subnet::of(&fabric).min_hop(&fabric.routes.groups);
        table += &row(&format!("`{spec}`"), &fabric, &one_port);
    }
    table
}

fn failures() -> String {
    let mut table =
        "| of 1,000 random sets of 5 % of all links | one port | up\\*/down\\*, all ports \
                     | all minimal ports, committed | all minimal ports, chosen at the head |\n\
                     |---|---|---|---|---|\n"
            .to_string();
    for spec in TREES {
        let mut fabric = shape::parse(spec).unwrap_or_else(|wrong| panic!("{spec}: {wrong}"));
        let mut cells = Vec::new();
        for (routing, choice) in [
            (ONE_PORT, PortChoice::WhenQueued),
            (UP_DOWN, PortChoice::WhenQueued),
            (ALL_MINIMAL, PortChoice::WhenQueued),
            (ALL_MINIMAL, PortChoice::AtHead),
        ] {
            fabric.evidence.choice = choice;
            let cases = Cases::Random { amount: Amount::Share(50_000), samples: SAMPLES };
            let plan = Plan { cases, reroute: Reroute::Rule(routing), seed: 1 };
            let sweep = sweep(&fabric, &[], plan, |_, _, _| ControlFlow::Continue(()));
            cells.push(sweep.expect("links that can fail").cyclic.to_string());
        }
        table += &format!("| `{spec}` | {} |\n", cells.join(" | "));
    }
    table
}

/// The page with what stands between two marks replaced.
fn fill(page: &str, name: &str, table: &str) -> String {
    let (begin, end) =
        (format!("<!-- {name}: made by a test -->\n"), format!("<!-- end of {name} -->"));
    let (before, rest) = page.split_once(&begin).expect("the beginning of the table is marked");
    let (_, after) = rest.split_once(&end).expect("the end of the table is marked");
    format!("{before}{begin}{table}{end}{after}")
}

#[test]
fn the_tables_of_adaptive_routing_are_what_the_check_says() {
    let path = root().join("docs/adaptive.md");
    let page = fs::read_to_string(&path).expect("docs/adaptive.md is there");
    let filled = fill(&page, "fabrics", &fabrics());
    let filled = fill(&filled, "failures", &failures());
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(&path, &filled).expect("docs/adaptive.md can be written");
        return;
    }
    assert!(
        page == filled,
        "docs/adaptive.md is out of date; run UPDATE_EXPECT=1 cargo test -p pauseless-check --test \
         adaptive_docs"
    );
}

/// What the page says of all rows of its table, so that it cannot become untrue unnoticed.
#[test]
fn what_the_page_says_of_its_table_holds_for_every_row() {
    let page =
        fs::read_to_string(root().join("docs/adaptive.md")).expect("docs/adaptive.md is there");
    let rows =
        page.lines().filter(|line| line.starts_with("| `") && line.matches('|').count() == 7);
    let rows = Vec::from_iter(rows.map(|line| Vec::from_iter(line.split('|').map(str::trim))));
    assert_eq!(rows.len(), EXAMPLES.len() + SHAPES.len());
    for row in rows {
        assert_eq!(row[4], "-", "up*/down* has no cycle: {row:?}");
        // A knot contains a cycle, and more ports leave no fewer of them.
        assert!(row[6] == "-" || row[5] == "cycle", "{row:?}");
        assert!(row[3] == "-" || row[5] == "cycle", "{row:?}");
    }
}
