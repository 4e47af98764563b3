//! The files of the HPCC family of ns-3 simulators: `config.txt` and the files that it names become
//! a scenario, and what comes of a run becomes their output files again.
//!
//! `docs/hpcc.md` has every key, what is the same as there and what differs.

mod config;
mod flow;
mod output;
mod replicate;
mod topology;
mod translate;
mod ways;
mod words;

use std::error::Error;
use std::fmt;
use std::path::{Path, PathBuf};

use pauseless_sim::replica::engine::Setup;

use super::source::Source;
use crate::problem::{Problem, Problems, Sink};
use config::Config;
use flow::{Flow, Ports};
pub use output::execute;
use topology::Topology;

/// Whether a file is a configuration of this family.
pub fn is_config(text: &str) -> bool {
    config::is_config(text)
}

/// Whose ways of doing things a run has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compat {
    /// Those of real switches and wires.
    #[default]
    None,
    /// Those of the HPCC authors' simulator.
    Hpcc,
}

/// What a configuration becomes.
#[derive(Clone, Debug)]
pub struct Case {
    /// The text of a scenario.
    pub scenario: String,
    /// What the user should know: keys without effect, words that were skipped, choices.
    pub notes: Vec<String>,
    /// What to write.
    pub outputs: Outputs,
    /// The same for the replica of that simulator, which writes the files if it is there.
    pub replica: Option<Setup>,
}

/// The files that the configuration wants written, and what goes into them.
#[derive(Clone, Debug)]
pub struct Outputs {
    /// Completion times.
    pub fct: PathBuf,
    /// Arrivals of PFC frames.
    pub pfc: PathBuf,
    /// Queue lengths, if any are wanted.
    pub qlen: Option<Monitor>,
    /// Whether completion times name hosts by their numbers, as conweave does, and not by addresses.
    pub has_numbers: bool,
    /// One for each flow, in the order of the file.
    pub flows: Vec<FlowLine>,
    /// The interface number of each port of each node, by our numbers of both.
    pub interfaces: Vec<Vec<u32>>,
    /// Whether each node is a host.
    pub is_host: Vec<bool>,
    /// The files that were read, which are never written over.
    pub inputs: Vec<PathBuf>,
}

/// What completion times say of a flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowLine {
    /// The name that it has in the scenario.
    pub name: String,
    /// The number of the source.
    pub source: usize,
    /// The number of the target.
    pub target: usize,
    /// The ports of both.
    pub ports: [u16; 2],
    /// Payload bytes.
    pub size: u32,
    /// In nanoseconds.
    pub start: u64,
    /// How long it would take alone, in nanoseconds.
    pub standalone: u64,
}

/// When and where queue lengths are written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Monitor {
    /// The file.
    pub file: PathBuf,
    /// The first sample, in nanoseconds.
    pub start: u64,
    /// No sample is taken after this, in nanoseconds.
    pub end: u64,
}

/// What is wrong with the files of a configuration.
#[derive(Clone, Debug)]
pub struct Refused {
    /// One for each file that has problems.
    pub files: Vec<Problems>,
}

impl Refused {
    /// As text for people.
    pub fn render(&self, colours: bool) -> String {
        let blocks = self.files.iter().map(|file| file.render(colours));
        Vec::from_iter(blocks).join("\n\n")
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(false))
    }
}

impl Error for Refused {}

impl From<Problems> for Refused {
    fn from(problems: Problems) -> Refused {
        Refused {
            files: vec![problems],
        }
    }
}

/// Reads the configuration at `path` and the files that it names.
pub fn read(path: &Path, compat: Compat) -> Result<Case, Refused> {
    let source = Source::read(path)?;
    let folder = path.parent().unwrap_or(Path::new(""));
    read_source(&source, folder, compat)
}

/// The same for a configuration that has been read, and whose own folder is `folder`.
pub fn read_source(source: &Source, folder: &Path, compat: Compat) -> Result<Case, Refused> {
    let sink = Sink::default();
    let config = Config::parse(&source.text, &sink);
    let is_conweave = is_conweave(&config);
    let mut reader = Reader {
        folder,
        notes: Vec::new(),
        files: Vec::new(),
        inputs: Vec::new(),
    };
    let topology = reader.file(&config, "TOPOLOGY_FILE", &sink);
    let flows = reader.file(&config, "FLOW_FILE", &sink);
    let topology = topology.and_then(|source| reader.topology(&source));
    let flows = match (flows, &topology) {
        (Some(source), Some(topology)) => reader.flows(&source, topology, is_conweave),
        _ => None,
    };
    let input = translate::Input {
        config: &config,
        topology: topology.as_ref(),
        flows: flows.as_deref(),
        compat,
        is_conweave,
        sink: &sink,
    };
    let case = translate::translate(input, reader.notes).map(|mut case| {
        case.outputs.inputs = reader.inputs;
        case.outputs.inputs.push(source.file.clone().into());
        case
    });
    let mut files = reader.files;
    let list = sink.into_list();
    if !list.is_empty() {
        files.insert(0, Problems::new(&source.file, &source.text, list));
    }
    match case {
        Some(case) if files.is_empty() => Ok(case),
        _ => Err(Refused { files }),
    }
}

/// conweave's files have other columns; its configurations have keys that no other has.
fn is_conweave(config: &Config<'_>) -> bool {
    let keys = [
        "LB_MODE",
        "ENABLE_IRN",
        "FLOWGEN_STOP_TIME",
        "FLOW_INPUT_FILE",
    ];
    keys.iter().any(|key| config.entry(key).is_some())
}

/// Reads the files that a configuration names.
struct Reader<'r> {
    folder: &'r Path,
    notes: Vec<String>,
    /// What is wrong with them.
    files: Vec<Problems>,
    /// Where they are.
    inputs: Vec<PathBuf>,
}

impl Reader<'_> {
    /// The file that stands behind a key: paths are relative to the current folder there; here that
    /// of the configuration is tried as well.
    fn file(&mut self, config: &Config<'_>, key: &str, sink: &Sink) -> Option<Source> {
        let Some(entry) = config.entry(key) else {
            let end = Problem::new(0..0, format!("{key} is missing"));
            sink.push(end.help(format!("add a line {key} FILE")));
            return None;
        };
        let name = Path::new(entry.values[0].text);
        let beside = self.folder.join(name);
        let path = match (name.exists(), beside.exists()) {
            (true, _) => {
                if beside != name && beside.exists() {
                    let (taken, left) = (name.display(), beside.display());
                    let note = format!("{key}: took {taken} of the current folder, not {left}");
                    self.notes.push(note);
                }
                name.to_path_buf()
            }
            (false, true) => {
                let note = format!("{key}: took {}, beside the configuration", beside.display());
                self.notes.push(note);
                beside
            }
            (false, false) => {
                let problem = entry.problem(format!("there is no file {}", name.display()));
                let help = "paths are relative to the current folder, or to that of this file";
                sink.push(problem.help(help));
                return None;
            }
        };
        self.inputs.push(path.clone());
        match Source::read(&path) {
            Ok(source) => Some(source),
            Err(problems) => {
                self.files.push(problems);
                None
            }
        }
    }

    fn topology(&mut self, source: &Source) -> Option<Topology> {
        let sink = Sink::default();
        let topology = Topology::parse(&source.text, &sink);
        if topology.collapsed > 0 {
            self.notes.push(format!(
                "{}: {} links are left out, since a later one joins the same two nodes, and only \
                 the last one carries anything in that simulator",
                source.file, topology.collapsed
            ));
        }
        self.keep(source, sink).then_some(topology)
    }

    fn flows(
        &mut self,
        source: &Source,
        topology: &Topology,
        is_conweave: bool,
    ) -> Option<Vec<Flow>> {
        let sink = Sink::default();
        let ports = match is_conweave {
            true => Ports::Counted,
            false => Ports::Written,
        };
        let flows = flow::parse(&source.text, ports, &topology.is_switch, &sink);
        self.keep(source, sink).then_some(flows)
    }

    /// Keeps what is wrong with a file; whether it is good.
    fn keep(&mut self, source: &Source, sink: Sink) -> bool {
        let list = sink.into_list();
        let is_good = list.is_empty();
        if !is_good {
            self.files
                .push(Problems::new(&source.file, &source.text, list));
        }
        is_good
    }
}
