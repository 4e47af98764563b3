//! The files of htsim: traffic matrices (`.cm`), trees (`.topo`) and the paths of a run become a
//! scenario with the model of htsim_roce.
//!
//! `docs/htsim.md` has how to use it, what is the same as there and what differs.

mod matrix;
mod options;
mod paths;
mod topo;
mod translate;

use std::path::PathBuf;

use pauseless_core::unit::Span;

use matrix::Matrix;
pub use options::Options;
use paths::Hops;
use pauseless_scenario::ScenarioFile;
use pauseless_text::foreign;
use pauseless_text::lex::Text;
use pauseless_text::problem::{FileId, Problems, Sink};
use pauseless_text::source::Source;
use topo::{Link, Tree};
use translate::Parts;

/// The files of htsim, translated.
#[derive(Clone, Debug)]
pub struct Case {
    /// The same network and traffic as a scenario.
    pub scenario: ScenarioFile,
    /// Notes for the user, such as lines without effect.
    pub notes: Vec<String>,
    /// The traffic matrix, as the user named it.
    pub file: String,
}

/// Reads a traffic matrix and what may stand beside it, in any order.
pub fn read(files: &[PathBuf], options: &Options) -> Result<Case, Problems> {
    read_sources(&Source::read_all(files)?, options)
}

/// Translates files that have been read.
pub fn read_sources(sources: &[Source], options: &Options) -> Result<Case, Problems> {
    let mut found: [Option<&Source>; 3] = [None; 3];
    for source in sources {
        let Some(kind) = foreign::htsim(&source.text) else {
            let message = "not a file of htsim".to_string();
            let help = "expected a traffic matrix (.cm), a tree (.topo) or paths";
            return Err(Problems::of_file(&source.file, message, help));
        };
        let slot = &mut found[kind as usize];
        if let Some(other) = slot {
            let message = format!("the same kind of file as {}", other.file);
            return Err(Problems::of_file(&source.file, message, "name one of them"));
        }
        *slot = Some(source);
    }
    let [matrix, topology, paths] = found;
    let Some(matrix) = matrix else {
        let file = sources.first().map_or("", |source| source.file.as_str());
        let message = "there is no traffic matrix beside it".to_string();
        let help = "name a .cm file, too, as in pauseless run matrix.cm fabric.topo";
        return Err(Problems::of_file(file, message, help));
    };
    let files = Vec::from_iter([Some(matrix), topology, paths].into_iter().flatten());
    let mut reader = Reader { options: *options, sink: Sink::default(), notes: Vec::new() };
    let texts = (0..).map(FileId).zip(&files);
    let mut texts = texts.map(|(file, source)| Text { text: &source.text, file });
    let parts = texts.next().and_then(|matrix| {
        let topology = topology.and_then(|_| texts.next());
        let paths = paths.and_then(|_| texts.next());
        reader.parts(matrix, topology, paths)
    });
    match parts.filter(|_| reader.sink.is_empty()) {
        Some(parts) => Ok(Case {
            scenario: parts.scenario(files.into_iter().cloned().collect()),
            notes: reader.notes,
            file: matrix.file.clone(),
        }),
        None => {
            let files = files.into_iter().cloned().collect();
            Err(Problems::of_sources(files, reader.sink.into_list()))
        }
    }
}

struct Reader {
    options: Options,
    sink: Sink,
    notes: Vec<String>,
}

impl Reader {
    /// What the files say; what is wrong with them is in the sink.
    fn parts(
        &mut self,
        matrix_text: Text<'_>,
        topology: Option<Text<'_>>,
        paths: Option<Text<'_>>,
    ) -> Option<Parts> {
        let matrix = Matrix::parse(matrix_text, &self.sink);
        self.notes.extend(matrix.notes.iter().cloned());
        let tree = match topology {
            Some(text) => {
                let tree = Tree::parse(text, &self.sink);
                let hosts = tree.as_ref().map_or(matrix.nodes, |tree| tree.hosts);
                if hosts != matrix.nodes {
                    let nodes = matrix.nodes;
                    let message = format!("{hosts} hosts here, and {nodes} in the traffic matrix");
                    self.sink.push(text.problem(0..0, message).help("Nodes must be the same"));
                }
                tree
            }
            None => self.default_tree(matrix_text, &matrix),
        };
        let hops = paths.map(|text| {
            let hops = paths::parse(text, &self.sink);
            self.look_at_paths(&matrix, tree.as_ref(), &hops, text);
            hops
        });
        let tree = tree?;
        self.note(&matrix, &tree);
        Some(Parts { matrix, tree, hops, options: self.options })
    }

    /// The tree that htsim makes if it has no file.
    fn default_tree(&self, text: Text<'_>, matrix: &Matrix) -> Option<Tree> {
        let Options { rate, delay, switch_latency, tiers, .. } = self.options;
        let link = Link { rate, delay, bundle: 1 };
        let tree = match tiers {
            2 => Tree::for_hosts_of_two(matrix.nodes, link, switch_latency),
            _ => Tree::for_hosts(matrix.nodes, link, switch_latency),
        };
        if tree.is_none() && matrix.nodes > 0 {
            let nodes = matrix.nodes;
            let message = format!("no fat tree of {tiers} tiers has {nodes} hosts");
            let problem = text.problem(0..0, message);
            let help = "name a .topo file, too; without one k k k / 4 hosts are possible, k even";
            self.sink.push(problem.help(help));
        }
        tree
    }

    /// Whether the paths are those of the flows of this matrix, by switches of this tree.
    fn look_at_paths(&self, matrix: &Matrix, tree: Option<&Tree>, hops: &Hops, text: Text<'_>) {
        for node in hops.values().flat_map(|way| &way.nodes) {
            if tree.is_some_and(|tree| !tree.has(&node.value)) {
                let problem = node.place.problem(format!("there is no {} in the tree", node.value));
                self.sink.push(problem.help("are these the paths of this tree?"));
            }
        }

        if matrix.flows.iter().any(|flow| flow.id.is_none()) {
            let problem = text.problem(0..0, "paths are for flows by their id, and some have none");
            return self.sink.push(problem.help("give every flow of the matrix an id"));
        }
        let ids = matrix.flows.iter().filter_map(|flow| flow.id);
        let ids = std::collections::BTreeSet::from_iter(ids);
        if let Some((id, _)) = hops.keys().find(|(id, _)| !ids.contains(id)) {
            let message = format!("the traffic matrix has no flow with id {id}");
            self.sink.push(text.problem(0..0, message).help("are these the paths of this matrix?"));
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
