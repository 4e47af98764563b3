//! Dumps of fabrics and generated fabrics: `check`, `plan` and `convert`.

use std::collections::BTreeSet;

use super::{folder, listed};
use crate::repo::Repo;
use crate::same::case::Case;

/// The cases of all examples and of one fabric of each shape.
pub fn cases(repo: &Repo) -> Vec<Case> {
    let mut cases = Vec::new();
    let paths = repo.paths().iter().map(String::as_str);
    let folders: BTreeSet<&str> =
        paths.filter(|path| path.starts_with("examples/ib/")).map(folder).collect();
    for folder in folders {
        for files in combinations(&listed(repo, folder, "").collect::<Vec<_>>()) {
            let name = files.join("+").replace(folder, "").replace('/', "");
            let folder = folder.trim_start_matches("examples/");
            let name = format!("{folder}/{name}");
            if files.len() == 1 {
                // Without tables it is refused, unless there is a rule.
                let line = format!("check {}", files[0]);
                cases.push(Case::new("check", &format!("{name}/bare"), &line).with(files[0]));
            }
            cases.extend(of_files(&name, &files));
        }
    }
    cases.extend(ethernet(repo));
    for shape in SHAPES {
        cases.extend(of_shape(shape));
    }
    cases
}

/// Every network of a folder of InfiniBand dumps with every form of its routes, and by itself.
fn combinations<'a>(files: &[&'a str]) -> Vec<Vec<&'a str>> {
    let with = |parts: &[&str]| -> Vec<&'a str> {
        let is_one = |file: &&&str| parts.iter().any(|part| file.contains(part));
        files.iter().filter(is_one).copied().collect()
    };
    let networks = with(&["subnet.lst", "ibnetdiscover", "cables"]);
    let routes = with(&[".fdbs", "dump_lfts", "lfts.dump"]);
    let lanes = with(&["/psl", "/slvl", "sl2vl"]);
    let mut found = Vec::new();
    for network in networks {
        found.push(vec![network]);
        for route in &routes {
            found.push(vec![network, route]);
            if !lanes.is_empty() {
                let mut files = vec![network, *route];
                files.extend(&lanes);
                found.push(files);
            }
        }
    }
    found
}

fn ethernet(repo: &Repo) -> Vec<Case> {
    let pod: Vec<&str> = listed(repo, "examples/ethernet/pod", ".json").collect();
    let is_without = |file: &&str| file.contains("without");
    let whole: Vec<&str> = pod.iter().copied().filter(|file| !is_without(file)).collect();
    let without: Vec<&str> =
        (pod.iter().copied()).filter(|file| !file.ends_with("T1.json")).collect();
    let mut cases = of_files("ethernet/pod", &whole);
    cases.extend(of_files("ethernet/pod-without", &without));
    let all = listed(repo, "examples/ethernet", "").filter(|file| !file.ends_with(".md"));
    for file in all {
        cases.extend(of_files(file.trim_start_matches("examples/"), &[file]));
        let line = format!("plan --against {file}");
        let name = file.trim_start_matches("examples/").replace('/', "-");
        let case = Case::new("plan", &format!("against-{name}"), &line).with(file);
        cases.push(case.then(&format!("{line} --json")));
    }
    cases
}

/// What the three commands make of the files of one fabric.
fn of_files(name: &str, files: &[&str]) -> Vec<Case> {
    let rule = match files {
        [file] if file.starts_with("examples/ib/") => " --routing shortest",
        _ => "",
    };
    let line = files.join(" ") + rule;
    let cases = of_fabric(name, &line).into_iter();
    cases.map(|case| files.iter().fold(case, |case, file| case.with(file))).collect()
}

fn of_shape(shape: &str) -> Vec<Case> {
    let mut cases = of_fabric(&format!("generate/{shape}"), &format!("--generate {shape}"));
    let failures = format!("check --generate {shape} --failures 1");
    cases.push(
        Case::new("check", &format!("failures/{shape}"), &failures)
            .then(&format!("{failures} --reroute up-down --json")),
    );
    cases
}

fn of_fabric(name: &str, fabric: &str) -> Vec<Case> {
    vec![
        Case::new("check", name, &format!("check {fabric}"))
            .then(&format!("check {fabric} --json --sarif found.sarif --svg found.svg"))
            .then(&format!("check {fabric} --quiet --leave-out *1")),
        Case::new("plan", name, &format!("plan {fabric}"))
            .then(&format!("plan {fabric} --json --out plan --cycle-aware")),
        Case::new("convert", name, &format!("convert {fabric} -o fabric.toml"))
            .then("check fabric.toml --json")
            .then("convert fabric.toml")
            .then("convert fabric.toml --to graphml"),
    ]
}

/// One fabric of each shape, small, and the rules of routing that a shape can name.
const SHAPES: [&str; 16] = [
    "ring:4,hosts_per_switch=1,routing=ecmp",
    "line:3,hosts_per_switch=1",
    "dumbbell:left=2,right=2",
    "n-to-1:4,rate=40Gbps",
    "parking-lot:3",
    "fat-tree:4",
    "fat-tree:4,routing=up-down",
    "leaf-spine:leaves=4,spines=2,hosts_per_leaf=2",
    "clos:pods=2,tors_per_pod=2,leaves_per_pod=2,spines=2,hosts_per_tor=1",
    "rail-optimised:blocks=2,servers_per_block=2,rails=2,spines=2",
    "dragonfly:groups=3,routers_per_group=2,hosts_per_router=1,global_links_per_router=1",
    "torus:4x4,hosts_per_switch=1,routing=dimension-order,classes=dateline",
    "torus:3x3,hosts_per_switch=1,routing=shortest",
    "mesh:3x3,hosts_per_switch=1",
    "random-regular:switches=10,degree=3,hosts_per_switch=1",
    "no-such-shape:3",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_are_combined_with_routes_and_lanes() {
        let files = ["f/ibdmchk.verdict", "f/opensm-subnet.lst", "f/opensm.fdbs", "f/psl.gz"];
        let found = combinations(&files);
        let expected = [
            vec!["f/opensm-subnet.lst"],
            vec!["f/opensm-subnet.lst", "f/opensm.fdbs"],
            vec!["f/opensm-subnet.lst", "f/opensm.fdbs", "f/psl.gz"],
        ];
        assert_eq!(found, expected);
    }
}
