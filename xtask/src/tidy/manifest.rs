//! The layers of the workspace, read from the manifests of its crates.

use crate::repo::{File, Finding};

/// Checks all manifests together, against the layers and against ARCHITECTURE.md.
pub fn check(files: &[File]) -> Vec<Finding> {
    let find = |path: &str| files.iter().find(|file| file.path == path);
    let architecture = find("ARCHITECTURE.md");
    let mut findings = Vec::new();
    if architecture.is_none() {
        findings.push(Finding::missing("ARCHITECTURE.md"));
    }
    for file in files.iter().filter(|file| is_member(&file.path)) {
        findings.extend(layers(file));
        if let Some(architecture) = architecture {
            findings.extend(explained(file, &architecture.text));
        }
    }
    if let Some(root) = find("clippy.toml") {
        let is_own =
            |file: &&File| file.crate_name().is_some() && file.path.ends_with("/clippy.toml");
        for file in files.iter().filter(is_own) {
            findings.extend(limits(file, &root.text));
        }
    }
    findings
}

/// A crate depends only on what lies below it.
fn layers(file: &File) -> Vec<Finding> {
    let Some(name) = file.crate_name() else {
        return Vec::new();
    };
    let Some(layer) = LAYERS.iter().find(|layer| layer.name == name) else {
        let message = format!("`{name}` has no layer; give it one in xtask/src/tidy/manifest.rs");
        return vec![file.error(1, message)];
    };
    let mut findings = Vec::new();
    for Dependency { name: needed, line } in dependencies(&file.text) {
        if !layer.allows(&needed) {
            let message = format!("`{name}` must not depend on `{needed}`: {}", layer.reason);
            findings.push(file.error(line, message));
        }
    }
    findings
}

/// Dependencies are architecture: each one from outside is explained there by name.
fn explained(file: &File, architecture: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    for Dependency { name, line } in dependencies(&file.text) {
        if !is_ours(&name) && !architecture.contains(&format!("`{name}`")) {
            let message = format!("ARCHITECTURE.md does not say why `{name}` is needed");
            findings.push(file.error(line, message));
        }
    }
    findings
}

/// Clippy reads the nearest file only, so one in a crate repeats the limits of the root's.
fn limits(file: &File, root: &str) -> Vec<Finding> {
    let limits = root.lines().filter(|line| line.contains("-threshold ="));
    limits
        .filter(|limit| !file.text.lines().any(|line| line == *limit))
        .map(|limit| file.error(1, format!("`{limit}` of the root's clippy.toml is missing")))
        .collect()
}

/// What one crate may depend on, other than for its tests.
struct Layer {
    name: &'static str,
    /// The crates of the workspace below it.
    below: &'static [&'static str],
    outside: Outside,
    reason: &'static str,
}

impl Layer {
    fn allows(&self, name: &str) -> bool {
        if is_ours(name) {
            return self.below.contains(&name);
        }
        let is_serde = name == "serde" || name.starts_with("serde_");
        match self.outside {
            Outside::Only(names) => names.contains(&name),
            Outside::AnyButSerde => !is_serde,
            Outside::Any => true,
        }
    }
}

/// The crates from outside the workspace that a layer may use.
enum Outside {
    Only(&'static [&'static str]),
    AnyButSerde,
    Any,
}

/// A line of a manifest that names a crate the shipped code needs.
#[derive(Debug, PartialEq, Eq)]
struct Dependency {
    name: String,
    line: usize,
}

/// Reads the dependencies of every kind but those for tests.
fn dependencies(manifest: &str) -> Vec<Dependency> {
    let mut found = Vec::new();
    let mut section = Section::Other;
    let mut depth = 0;
    for (index, line) in manifest.lines().enumerate() {
        let text = line.split('#').next().unwrap_or_default().trim();
        let is_nested = depth > 0;
        depth += text.matches(['[', '{']).count();
        depth -= text.matches([']', '}']).count().min(depth);
        if is_nested {
            continue;
        }
        let header = text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
        if let Some(header) = header {
            section = Section::of(header);
        }
        let name = match (&section, header) {
            (Section::One(name), Some(_)) => Some(name.clone()),
            (Section::Table, None) => dependency_name(text),
            _ => None,
        };
        let line = index + 1;
        found.extend(name.map(|name| Dependency { name, line }));
    }
    found
}

/// The crate behind `name = ..` or `name.workspace = true`, also when it was renamed.
fn dependency_name(line: &str) -> Option<String> {
    let (key, value) = line.split_once('=')?;
    let renamed = value.split_once("package = \"");
    let renamed = renamed.and_then(|(_, rest)| rest.split('"').next());
    let key = key.split('.').next().unwrap_or(key);
    Some(renamed.unwrap_or(key.trim().trim_matches('"')).to_owned())
}

enum Section {
    /// Each line names a crate.
    Table,
    /// The header itself names the crate, as in `[dependencies.clap]`.
    One(String),
    Other,
}

impl Section {
    fn of(header: &str) -> Section {
        let header = header.trim();
        for kind in ["dependencies", "build-dependencies"] {
            if header == kind || is_target(header, kind) {
                return Section::Table;
            }
            if let Some((before, name)) = header.rsplit_once('.')
                && (before == kind || is_target(before, kind))
            {
                return Section::One(name.trim_matches('"').to_owned());
            }
        }
        Section::Other
    }
}

fn is_target(header: &str, kind: &str) -> bool {
    let target = header.strip_suffix(kind);
    header.starts_with("target.") && target.is_some_and(|target| target.ends_with('.'))
}

fn is_member(path: &str) -> bool {
    let is_crate = path.starts_with("crates/") && path.matches('/').count() == 2;
    path == "xtask/Cargo.toml" || (is_crate && path.ends_with("/Cargo.toml"))
}

fn is_ours(name: &str) -> bool {
    name == "pauseless" || name.starts_with("pauseless-")
}

const CORE: &str = "pauseless-core";
const WIRE: &str = "pauseless-wire";
const FABRIC: &str = "pauseless-fabric";
const SIM: &str = "pauseless-sim";
const PAGE: &str = "pauseless-page";
const DATAPLANE: &str = "pauseless-dataplane";
const TEXT: &str = "pauseless-text";
const FIGURES: &str = "pauseless-figures";
const DUMPS: &str = "pauseless-dumps";
const NETWORK: &str = "pauseless-network";
const SCENARIO: &str = "pauseless-scenario";
const RUN: &str = "pauseless-run";
const COMPAT: &str = "pauseless-compat";
const CHECK: &str = "pauseless-check";
const LINT: &str = "pauseless-lint";
const PLAN: &str = "pauseless-plan";
const REPORT: &str = "pauseless-report";
const THRESHOLD: &str = "pauseless-threshold";
const EXPERIMENTS: &str = "pauseless-experiments";
const TESTBED: &str = "pauseless-testbed";

/// The crates and what each may depend on, from the bottom up.
const LAYERS: [Layer; 21] = [
    Layer {
        name: CORE,
        below: &[],
        outside: Outside::Only(&[]),
        reason: "the core must run anywhere and needs nothing",
    },
    Layer {
        name: WIRE,
        below: &[CORE],
        outside: Outside::Only(&[]),
        reason: "it turns messages into bytes and back, wherever these come from",
    },
    Layer {
        name: FABRIC,
        below: &[CORE],
        outside: Outside::Only(&["thiserror"]),
        reason: "it is pure graphs, usable without a simulator",
    },
    Layer {
        name: SIM,
        below: &[CORE, FABRIC],
        outside: Outside::Only(&["thiserror"]),
        reason: "it touches no files and no formats",
    },
    Layer {
        name: PAGE,
        below: &[],
        outside: Outside::Only(&[]),
        reason: "it is a bundle of web sources and knows nothing of networks",
    },
    Layer {
        name: DATAPLANE,
        below: &[CORE, WIRE],
        outside: Outside::AnyButSerde,
        reason: "it and the simulator never see each other, and it knows no formats",
    },
    Layer {
        name: TEXT,
        below: &[CORE, WIRE, FABRIC],
        outside: Outside::Any,
        reason: "it is about words and places, and knows no kind of file",
    },
    Layer {
        name: FIGURES,
        below: &[CORE, TEXT],
        outside: Outside::AnyButSerde,
        reason: "it draws numbers and knows nothing of runs",
    },
    Layer {
        name: DUMPS,
        below: &[CORE, FABRIC, TEXT],
        outside: Outside::Any,
        reason: "a dump becomes a fabric without any time",
    },
    Layer {
        name: NETWORK,
        below: &[CORE, FABRIC, TEXT],
        outside: Outside::AnyButSerde,
        reason: "a topology with its routes has no time and no flows",
    },
    Layer {
        name: SCENARIO,
        below: &[CORE, FABRIC, SIM, TEXT, NETWORK],
        outside: Outside::Any,
        reason: "a scenario is read without being run",
    },
    Layer {
        name: RUN,
        below: &[CORE, WIRE, FABRIC, SIM, TEXT, SCENARIO],
        outside: Outside::Any,
        reason: "results are numbers, and others show or judge them",
    },
    Layer {
        name: COMPAT,
        below: &[CORE, FABRIC, SIM, TEXT, SCENARIO, RUN],
        outside: Outside::AnyButSerde,
        reason: "files of other simulators become scenarios, and nothing needs them",
    },
    Layer {
        name: CHECK,
        below: &[CORE, FABRIC, SIM, TEXT, FIGURES, DUMPS, SCENARIO, RUN],
        outside: Outside::Any,
        reason: "a verdict needs no plan and no report",
    },
    Layer {
        name: LINT,
        below: &[CORE, FABRIC, TEXT, DUMPS],
        outside: Outside::Any,
        reason: "rules look at what is configured, and know no runs or plans",
    },
    Layer {
        name: PLAN,
        below: &[CORE, FABRIC, SIM, TEXT, DUMPS, SCENARIO, RUN, CHECK, LINT],
        outside: Outside::Any,
        reason: "a plan needs no report",
    },
    Layer {
        name: REPORT,
        below: &[CORE, FABRIC, SIM, TEXT, FIGURES, PAGE, SCENARIO, RUN, PLAN],
        outside: Outside::Any,
        reason: "a report shows one run, and knows no campaigns",
    },
    Layer {
        name: THRESHOLD,
        below: &[CORE, SIM, TEXT, FIGURES, SCENARIO, RUN, REPORT],
        outside: Outside::Any,
        reason: "a search knows one scenario, and no campaigns",
    },
    Layer {
        name: EXPERIMENTS,
        below: &[CORE, FABRIC, SIM, TEXT, FIGURES, SCENARIO, RUN, CHECK, PLAN, REPORT, THRESHOLD],
        outside: Outside::Any,
        reason: "experiments are simulated and never meet real frames",
    },
    Layer {
        name: TESTBED,
        below: &[CORE, WIRE, DATAPLANE, FABRIC, SIM, TEXT, FIGURES, SCENARIO, RUN, REPORT],
        outside: Outside::Any,
        reason: "it is real frames, held against a run and no campaigns",
    },
    Layer {
        name: "pauseless",
        below: &[
            CORE,
            FABRIC,
            SIM,
            DATAPLANE,
            TEXT,
            FIGURES,
            DUMPS,
            SCENARIO,
            RUN,
            COMPAT,
            CHECK,
            LINT,
            PLAN,
            REPORT,
            EXPERIMENTS,
            TESTBED,
        ],
        outside: Outside::Any,
        reason: "it is the library and the command line, over all others",
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest(name: &str, lines: &str) -> File {
        let path = format!("crates/{name}/Cargo.toml");
        File::new(&path, format!("[dependencies]\n{lines}\n"))
    }

    fn layer_errors(name: &str, lines: &str) -> usize {
        layers(&manifest(name, lines)).len()
    }

    #[test]
    fn dependencies_are_read_in_every_form() {
        let text = "[package]\nname = \"a\"\n[dependencies]\n# none\nb.workspace = true\n\
                    c = { version = \"1\", features = [\n  \"d\",\n  \"e=f\",\n] }\n\
                    g = { package = \"h\", version = \"1\" }\n\n[dependencies.i]\nversion = \"1\"\n\
                    [dev-dependencies]\nj = \"1\"\n[target.'cfg(a)'.dependencies]\nk = \"1\"\n\
                    [target.'cfg(a)'.dev-dependencies]\nl = \"1\"\n[build-dependencies]\nm = \"1\"\n\
                    [features]\nn = [\"b\"]\n";
        let found = dependencies(text);
        let names: Vec<&str> = found.iter().map(|found| found.name.as_str()).collect();
        assert_eq!(names, ["b", "c", "h", "i", "k", "m"]);
        let lines: Vec<usize> = found.iter().map(|found| found.line).collect();
        assert_eq!(lines, [5, 6, 10, 12, 17, 21]);
    }

    #[test]
    fn lower_layers_may_be_used() {
        assert_eq!(layer_errors(CORE, ""), 0);
        assert_eq!(layer_errors(FABRIC, "pauseless-core.workspace = true"), 0);
        assert_eq!(layer_errors(SIM, "pauseless-fabric.workspace = true\nthiserror = \"2\""), 0);
        assert_eq!(layer_errors(RUN, "pauseless-sim.workspace = true\nserde = \"1\""), 0);
        assert_eq!(layer_errors("pauseless", "pauseless-dataplane = {}\nserde_json = \"1\""), 0);
    }

    #[test]
    fn higher_layers_and_strangers_are_found() {
        assert_eq!(layer_errors(CORE, "libm = \"1\""), 1);
        assert_eq!(layer_errors(FABRIC, "pauseless-sim.workspace = true"), 1);
        assert_eq!(layer_errors(SIM, "rand = \"1\"\nserde = \"1\""), 2);
        assert_eq!(layer_errors(DATAPLANE, "serde_json = \"1\"\npauseless-sim = {}"), 2);
        assert_eq!(layer_errors(FIGURES, "pauseless-run.workspace = true"), 1);
        assert_eq!(layer_errors(DUMPS, "pauseless-sim.workspace = true"), 1);
        assert_eq!(layer_errors("pauseless-new", ""), 1);
    }

    #[test]
    fn tests_may_cross_layers() {
        let text = "[dev-dependencies]\npauseless-sim.workspace = true\n";
        let file = File::new("crates/pauseless-dataplane/Cargo.toml", text);
        assert!(layers(&file).is_empty());
    }

    #[test]
    fn dependencies_are_explained_in_the_architecture() {
        let file = manifest(RUN, "pauseless-sim.workspace = true\nserde = \"1\"");
        assert!(explained(&file, "Files are read with `serde`.").is_empty());
        assert_eq!(explained(&file, "Files are read with serde.").len(), 1);
        assert_eq!(explained(&file, "`serde_json`").len(), 1);
    }

    #[test]
    fn clippy_limits_are_repeated() {
        let root = "# a\ntoo-many-lines-threshold = 70\n";
        let path = "crates/pauseless-sim/clippy.toml";
        let good = File::new(path, "too-many-lines-threshold = 70\n");
        assert!(limits(&good, root).is_empty());
        let bad = File::new(path, "too-many-lines-threshold = 100\n");
        assert_eq!(limits(&bad, root).len(), 1);
    }

    #[test]
    fn the_architecture_must_exist() {
        let found = check(&[manifest(CORE, "libm = \"1\"")]);
        let missing = "ARCHITECTURE.md:1: the file is missing";
        assert_eq!(found[0].to_string(), missing);
        assert_eq!(found.len(), 2, "the layers are checked without it");
        let architecture = File::new("ARCHITECTURE.md", "");
        assert!(check(&[manifest(CORE, ""), architecture]).is_empty());
    }

    #[test]
    fn every_layer_rests_on_layers_before_it() {
        let at = |name: &str| LAYERS.iter().position(|layer| layer.name == name);
        for layer in &LAYERS {
            assert!(layer.below.iter().all(|below| at(below) < at(layer.name)));
        }
    }
}
