//! The files of htsim: traffic matrices (`.cm`), trees (`.topo`) and the paths of a run become a
//! scenario with the model of htsim_roce.
//!
//! `docs/htsim.md` has how to use it, what is the same as there and what differs.

mod matrix;
mod options;
mod paths;
mod topo;
mod translate;
mod words;

use std::path::PathBuf;

use pauseless_core::unit::Span;

use super::hpcc::Refused;
use super::source::Source;
use crate::problem::{Problem, Problems, Sink};
use matrix::Matrix;
pub use options::Options;
use paths::Hops;
use topo::{Link, Tree};
use translate::Parts;

/// What the files become.
#[derive(Clone, Debug)]
pub struct Case {
    /// The text of a scenario.
    pub scenario: String,
    /// What the user should know.
    pub notes: Vec<String>,
    /// The traffic matrix, as the user named it.
    pub file: String,
}

/// What kind of file of htsim a text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A traffic matrix, `.cm`.
    Matrix,
    /// A tree, `.topo`.
    Topology,
    /// The paths that flows took in a run.
    Paths,
}

/// What kind of file of htsim `text` is, if it is one.
pub fn recognise(text: &str) -> Option<Kind> {
    if paths::is_paths(text) {
        return Some(Kind::Paths);
    }
    if topo::is_topo(text) {
        return Some(Kind::Topology);
    }
    matrix::is_matrix(text).then_some(Kind::Matrix)
}

/// Reads a traffic matrix and what may stand beside it, in any order.
pub fn read(files: &[PathBuf], options: &Options) -> Result<Case, Refused> {
    read_sources(&Source::read_all(files)?, options)
}

/// The same for files that have been read.
pub fn read_sources(sources: &[Source], options: &Options) -> Result<Case, Refused> {
    let mut found: [Option<&Source>; 3] = [None; 3];
    for source in sources {
        let Some(kind) = recognise(&source.text) else {
            let message = "not a file of htsim".to_string();
            let help = "expected a traffic matrix (.cm), a tree (.topo) or paths";
            return Err(Problems::of_file(&source.file, message, help).into());
        };
        let slot = &mut found[kind as usize];
        if let Some(other) = slot {
            let message = format!("the same kind of file as {}", other.file);
            return Err(Problems::of_file(&source.file, message, "name one of them").into());
        }
        *slot = Some(source);
    }
    let [matrix, topology, paths] = found;
    let Some(matrix) = matrix else {
        let file = sources.first().map_or("", |source| source.file.as_str());
        let message = "there is no traffic matrix beside it".to_string();
        let help = "name a .cm file, too, as in pauseless run matrix.cm fabric.topo";
        return Err(Problems::of_file(file, message, help).into());
    };
    Reader {
        options: *options,
        files: Vec::new(),
        notes: Vec::new(),
    }
    .read((matrix, topology), paths)
}

struct Reader {
    options: Options,
    files: Vec<Problems>,
    notes: Vec<String>,
}

impl Reader {
    fn read(
        mut self,
        (matrix_source, topology): (&Source, Option<&Source>),
        paths: Option<&Source>,
    ) -> Result<Case, Refused> {
        let matrix = self.parse(matrix_source, Matrix::parse);
        self.notes.extend(matrix.notes.iter().cloned());
        let tree = match topology {
            Some(source) => self.parse(source, |text, sink| {
                let tree = Tree::parse(text, sink);
                let hosts = tree.as_ref().map_or(matrix.nodes, |tree| tree.hosts);
                if hosts != matrix.nodes {
                    let nodes = matrix.nodes;
                    let message = format!("{hosts} hosts here, and {nodes} in the traffic matrix");
                    sink.push(Problem::new(0..0, message).help("Nodes must be the same"));
                }
                tree
            }),
            None => self.default_tree(matrix_source, &matrix),
        };
        let hops = paths.map(|source| self.parse(source, paths::parse));
        if let (Some(hops), Some(source)) = (&hops, paths) {
            self.look_at_paths(&matrix, hops, source);
        }
        if !self.files.is_empty() {
            return Err(Refused { files: self.files });
        }
        let Some(tree) = tree else {
            return Err(Refused { files: self.files });
        };
        self.note(&matrix, &tree);
        let parts = Parts {
            matrix: &matrix,
            tree: &tree,
            hops: hops.as_ref(),
            options: self.options,
        };
        Ok(Case {
            scenario: parts.write(),
            notes: self.notes,
            file: matrix_source.file.clone(),
        })
    }

    fn parse<T>(&mut self, source: &Source, parse: impl FnOnce(&str, &Sink) -> T) -> T {
        let sink = Sink::default();
        let found = parse(&source.text, &sink);
        if !sink.is_empty() {
            let problems = Problems::new(&source.file, &source.text, sink.into_list());
            self.files.push(problems);
        }
        found
    }

    /// The tree that htsim makes if it has no file.
    fn default_tree(&mut self, source: &Source, matrix: &Matrix) -> Option<Tree> {
        let Options {
            rate,
            delay,
            switch_latency,
            tiers,
            ..
        } = self.options;
        let link = Link {
            rate,
            delay,
            bundle: 1,
        };
        let tree = match tiers {
            2 => Tree::for_hosts_of_two(matrix.nodes, link, switch_latency),
            _ => Tree::for_hosts(matrix.nodes, link, switch_latency),
        };
        if tree.is_none() && matrix.nodes > 0 {
            let nodes = matrix.nodes;
            let message = format!("no fat tree of {tiers} tiers has {nodes} hosts");
            let problem = Problem::new(0..0, message);
            let help = "name a .topo file, too; without one k k k / 4 hosts are possible, k even";
            self.files.push(source.refuse(problem.help(help)));
        }
        tree
    }

    fn look_at_paths(&mut self, matrix: &Matrix, hops: &Hops, source: &Source) {
        if matrix.flows.iter().any(|flow| flow.id.is_none()) {
            let problem = Problem::new(0..0, "paths are for flows by their id, and some have none");
            self.files
                .push(source.refuse(problem.help("give every flow of the matrix an id")));
            return;
        }
        let ids = matrix.flows.iter().filter_map(|flow| flow.id);
        let ids = std::collections::BTreeSet::from_iter(ids);
        if let Some((id, _)) = hops.keys().find(|(id, _)| !ids.contains(id)) {
            let problem =
                Problem::new(0..0, format!("the traffic matrix has no flow with id {id}"));
            self.files
                .push(source.refuse(problem.help("are these the paths of this matrix?")));
        }
    }

    fn note(&mut self, matrix: &Matrix, tree: &Tree) {
        let starts = matrix.flows.iter().filter_map(|flow| flow.start);
        if !self.options.has_starts && starts.clone().any(|start| start > 0) {
            let note = "start times are not looked at, as in htsim_roce; --htsim start=file does";
            self.notes.push(note.to_string());
        }
        if tree.latencies.iter().any(|latency| *latency > Span::ZERO) {
            let note = "the latency of a switch is added to its links, half on each side; pauses \
                        take effect later by as much";
            self.notes.push(note.to_string());
        }
    }
}

#[cfg(test)]
mod tests;
