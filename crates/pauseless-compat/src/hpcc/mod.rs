//! The files of the HPCC family of ns-3 simulators: `config.txt` and the files that it names become
//! a scenario, and what comes of a run becomes their output files again.
//!
//! `docs/hpcc.md` has every key, what is the same as there and what differs.

mod config;
mod earlier;
mod flow;
mod output;
mod replicate;
mod topology;
mod translate;
mod units;
mod ways;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::replica::engine::Setup;

use config::Config;
pub use earlier::Foreign;
use flow::{Flow, Ports};
pub use output::execute;
use pauseless_scenario::ScenarioFile;
use pauseless_text::lex::{Text, Words, line_number};
use pauseless_text::problem::{FileId, Problem, Problems, Sink};
use pauseless_text::source::Source;
use topology::Topology;

/// What runs the files of another simulator.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compat {
    /// Our engine, with the rules of real switches and wires.
    #[default]
    None,
    /// The replica of the HPCC authors' simulator, and our engine beside it.
    Hpcc,
}

/// A configuration of that simulator, translated.
#[derive(Clone, Debug)]
pub struct Case {
    /// The same network and traffic as a scenario.
    pub scenario: ScenarioFile,
    /// What the user should know: keys without effect, words that were skipped, choices.
    pub notes: Vec<String>,
    /// The files that the configuration wants written.
    pub outputs: Outputs,
    /// What the replica of that simulator runs, if it is wanted and there is one; it writes the files.
    pub replica: Option<Setup>,
}

/// The files that the configuration wants written, and what goes into them.
#[derive(Clone, Debug)]
pub struct Outputs {
    /// The file of completion times.
    pub fct: PathBuf,
    /// The file of arrivals of PFC frames.
    pub pfc: PathBuf,
    /// The file of queue lengths, if any are wanted.
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
    /// What is done about files of these names that this program did not write.
    pub foreign: Foreign,
}

impl Outputs {
    /// Has all files written into `folder`, under the names that the configuration gives them.
    pub fn move_into(&mut self, folder: &Path) {
        let files = [&mut self.fct, &mut self.pfc].into_iter();
        for file in files.chain(self.qlen.as_mut().map(|monitor| &mut monitor.file)) {
            if let Some(name) = file.file_name() {
                *file = folder.join(name);
            }
        }
    }
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
    /// The UDP ports of source and target.
    pub ports: [u16; 2],
    /// The number of payload bytes.
    pub size: u32,
    /// The start of the flow in nanoseconds.
    pub start: u64,
    /// How long it would take alone, in nanoseconds.
    pub standalone: u64,
}

/// When and where queue lengths are written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Monitor {
    /// The path of the file of queue lengths.
    pub file: PathBuf,
    /// The first sample, in nanoseconds.
    pub start: u64,
    /// No sample is taken after this, in nanoseconds.
    pub end: u64,
}

/// Reads the configuration at `path` and the files that it names.
pub fn read(path: &Path, compat: Compat) -> Result<Case, Problems> {
    let source = Source::read(path)?;
    let folder = path.parent().unwrap_or(Path::new(""));
    read_source(&source, folder, compat)
}

/// Translates a configuration that has been read, and whose own folder is `folder`.
pub fn read_source(source: &Source, folder: &Path, compat: Compat) -> Result<Case, Problems> {
    let sink = Sink::default();
    let config = Config::parse(source.text.as_str().into(), &sink);
    let is_conweave = is_conweave(&config);
    let mut reader =
        Reader { folder, sink: &sink, notes: Vec::new(), named: Vec::new(), inputs: Vec::new() };
    let topology = reader.file(&config, "TOPOLOGY_FILE");
    let flow_key = match config.entry("FLOW_INPUT_FILE") {
        Some(_) if config.entry("FLOW_FILE").is_none() => "FLOW_INPUT_FILE",
        _ => "FLOW_FILE",
    };
    let flow_file = reader.file(&config, flow_key);
    reader.spare(&config, "TRACE_FILE");
    let topology = topology.and_then(|file| reader.topology(file));
    let flows = match (flow_file, &topology) {
        (Some(file), Some(topology)) => reader.flows(file, topology, is_conweave),
        _ => None,
    };
    let input = translate::Input {
        config: &config,
        topology: topology.as_ref(),
        flows: flows.as_deref(),
        flow_file: flow_file.unwrap_or_default(),
        compat,
        is_conweave,
        sink: &sink,
    };
    let Reader { named, mut inputs, notes, .. } = reader;
    let files = Arc::from_iter([source.clone()].into_iter().chain(named));
    let case = translate::translate(input, notes, Arc::clone(&files));
    match case.filter(|_| sink.is_empty()) {
        Some(mut case) => {
            inputs.push(source.file.clone().into());
            case.outputs.inputs = inputs;
            Ok(case)
        }
        None => Err(Problems::of_sources(files.to_vec(), sink.into_list())),
    }
}

/// conweave's files have other columns; its configurations have keys that no other has.
fn is_conweave(config: &Config<'_>) -> bool {
    let keys = ["LB_MODE", "ENABLE_IRN", "FLOWGEN_STOP_TIME", "FLOW_INPUT_FILE"];
    keys.iter().any(|key| config.entry(key).is_some())
}

/// Reads the files that a configuration names.
struct Reader<'r> {
    folder: &'r Path,
    /// What is wrong with the configuration and with them.
    sink: &'r Sink,
    notes: Vec<String>,
    /// The files that were read; the configuration comes before them all.
    named: Vec<Source>,
    /// The paths of the files that were read.
    inputs: Vec<PathBuf>,
}

impl Reader<'_> {
    /// The file that stands behind a key: paths are relative to the current folder there; here that
    /// of the configuration is tried as well.
    fn file(&mut self, config: &Config<'_>, key: &str) -> Option<FileId> {
        let Some(entry) = config.entry(key) else {
            let end = Problem::new(0..0, format!("{key} is missing"));
            self.sink.push(end.help(format!("add a line {key} FILE")));
            return None;
        };
        let name = Path::new(entry.values[0].text);
        let beside = self.folder.join(name);
        let path = if name.exists() {
            if beside != name && beside.exists() {
                let (taken, left) = (name.display(), beside.display());
                self.notes.push(format!("{key}: took {taken} of the current folder, not {left}"));
            }
            name.to_path_buf()
        } else if beside.exists() {
            self.notes.push(format!("{key}: took {}, beside the configuration", beside.display()));
            beside
        } else {
            let problem = entry.problem(format!("there is no file {}", name.display()));
            let help = if Path::new("..").join(name).exists() {
                "it is there as seen from one folder up: run it from there, as that simulator is"
            } else {
                "paths are relative to the current folder, or to that of this file"
            };
            self.sink.push(problem.help(help));
            return None;
        };
        self.inputs.push(path.clone());
        let file = FileId(self.named.len() as u16 + 1);
        match Source::read(&path) {
            Ok(source) => {
                self.named.push(source);
                Some(file)
            }
            Err(problems) => {
                let (sources, list) = problems.into_parts();
                self.named.extend(sources);
                let list = list.into_iter().map(|problem| problem.in_file(file));
                list.for_each(|problem| self.sink.push(problem));
                None
            }
        }
    }

    fn source(&self, file: FileId) -> &Source {
        &self.named[usize::from(file.0) - 1]
    }

    fn text(&self, file: FileId) -> Text<'_> {
        let text = self.source(file).text.as_str();
        Text { text, file }
    }

    /// A file that is not read, and not to be written over either.
    fn spare(&mut self, config: &Config<'_>, key: &str) {
        if let Some(name) = config.text(key) {
            self.inputs.push(PathBuf::from(name));
            self.inputs.push(self.folder.join(name));
        }
    }

    /// What is in a file; `None` if anything was wrong with it.
    fn topology(&mut self, file: FileId) -> Option<Topology> {
        let before = self.sink.count();
        let topology = Topology::parse(self.text(file), self.sink);
        if topology.collapsed > 0 {
            self.notes.push(format!(
                "{}: {} links are left out, since a later one joins the same two nodes, and only \
                 the last one carries anything in that simulator",
                self.source(file).file,
                topology.collapsed
            ));
        }
        (self.sink.count() == before).then_some(topology)
    }

    /// Reads the file of flows.
    fn flows(&mut self, file: FileId, topology: &Topology, is_conweave: bool) -> Option<Vec<Flow>> {
        let before = self.sink.count();
        let ports = if is_conweave { Ports::Counted } else { Ports::Written };
        let text = self.text(file);
        let flows = flow::parse(text, ports, &topology.is_switch, self.sink);
        let read = 1 + flows.len() * ports.column_count();
        let rest = Words::new(text).nth(read);
        if let Some(word) = rest.filter(|_| self.sink.count() == before) {
            let line = line_number(text.text, word.start);
            let (name, count) = (&self.source(file).file, flows.len());
            self.notes.push(format!(
                "{name}:{line}: the first line says {count}, so that what stands here and below is not \
                 read, as in that simulator"
            ));
        }
        (self.sink.count() == before).then_some(flows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    const CONFIG: &str = "CC_MODE one\nTOPOLOGY_FILE t.txt\nFLOW_FILE f.txt\n\
                          EWMA_GAIN 0.01\nL2_ACK_INTERVAL 1\nRATE_AI 50Mb/s\nRATE_HAI 100Mb/s\nRP_TIMER 900\nENABLE_QCN 0\n";
    const TOPOLOGY: &str = "3 1 2\n2\n0 2 100Gbps 1us 0\n1 2 100Gbps 1us 0\n";

    /// File, line and message of all that is wrong with these three files.
    fn refused(topology: &[u8], flows: &str) -> Vec<(String, usize, String)> {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name);
        fs::write(path("config.txt"), CONFIG).expect("a file");
        fs::write(path("t.txt"), topology).expect("a file");
        fs::write(path("f.txt"), flows).expect("a file");
        let problems = read(&path("config.txt"), Compat::None).expect_err("wrong files");
        let shown = problems.list().iter().map(|problem| {
            let file = Path::new(problems.file_of(problem)).file_name();
            let file = file.unwrap_or_default().to_string_lossy().into_owned();
            let line = problems.position(problem).map_or(0, |(line, _)| line);
            (file, line, problem.message.clone())
        });
        shown.collect()
    }

    #[test]
    fn problems_point_into_the_file_that_they_are_in() {
        let owned = |list: &[(&str, usize, &str)]| {
            let list = list.iter();
            let list = list.map(|(file, line, text)| (file.to_string(), *line, text.to_string()));
            Vec::from_iter(list)
        };
        let mode = ("config.txt", 1, "\"one\" is out of place");
        assert_eq!(
            refused(TOPOLOGY.as_bytes(), "2\n0 1 3 100 5 2\n0 9 3 100 5 2\n"),
            owned(&[mode, ("f.txt", 3, "\"9\" is out of place")])
        );
        let bad = TOPOLOGY.replace("1 2 100Gbps", "1 2 fast");
        assert_eq!(
            refused(bad.as_bytes(), "1\n0 1 3 100 5 2\n"),
            owned(&[mode, ("t.txt", 4, "\"fast\" is no rate of a link")])
        );
        assert_eq!(
            refused(b"3 1 2\n2\n\xff", "1\n0 1 3 100 5 2\n"),
            owned(&[mode, ("t.txt", 3, "not UTF-8 text")])
        );
    }
}
