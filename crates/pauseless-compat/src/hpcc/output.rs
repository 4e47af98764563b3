//! What these simulators write: completion times, arrivals of PFC frames, lengths of queues.

use std::fmt::Write as _;
use std::fs;
use std::io::{self, BufWriter, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Instant;

use pauseless_core::unit::{Span, Time};
use pauseless_sim::Parallel;
use pauseless_sim::config::QueueWatch;
use pauseless_sim::heard::{Heard, Lengths};
use pauseless_sim::outcome::Outcome;

use super::{Case, FlowLine, Foreign, Monitor, Outputs, earlier, replicate};
use pauseless_run::{self as run, Progress, Run, Scribe};
use pauseless_scenario::Scenario;
use pauseless_text::output;

/// Runs what was imported on so many threads, and writes its files; also their names. Where there is
/// a replica of that simulator, the files and the completion times are the replica's.
pub fn execute(
    mut scenario: Scenario,
    case: &Case,
    threads: usize,
    watch: impl FnMut(Progress) -> ControlFlow<()>,
) -> io::Result<(Run, Vec<PathBuf>)> {
    let outputs = &case.outputs;
    if let Some(setup) = &case.replica {
        return replicate::execute(scenario, setup, outputs, threads, watch);
    }
    let begin = Instant::now();
    scenario.config.probes.pauses = true;
    scenario.config.probes.queues = outputs.qlen.as_ref().map(watch_of);
    let mut files = Files::create(outputs)?;
    let duration = scenario.config.duration;
    let mut simulator = Parallel::new(&scenario.config, threads);
    let interrupted = run::drive(&mut simulator, duration, &mut files, watch)?;
    if !interrupted {
        files.write_rest(&mut simulator, Time::ZERO + duration)?;
    }
    let outcome = simulator.finish();
    files.write_completions(outputs, &outcome)?;
    let written = files.finish()?;
    let run = Run { interrupted, ..Run::of(scenario, outcome, begin) };
    Ok((run, written))
}

/// Queues are looked at every so often.
const INTERVAL: Span = Span::ns(100);
/// Their lengths so far are written at multiples of this.
const DUMPS: Span = Span::ms(100);

fn watch_of(monitor: &Monitor) -> QueueWatch {
    QueueWatch { first: instant(monitor.start), last: instant(monitor.end), interval: INTERVAL }
}

/// The instant this many nanoseconds after the start, or as late as instants go.
pub(super) fn instant(nanoseconds: u64) -> Time {
    Time::from_ps(nanoseconds.saturating_mul(1_000))
}

/// The files while a run goes on.
pub(super) struct Files<'o> {
    outputs: &'o Outputs,
    pub(super) fct: Output,
    pub(super) pfc: Output,
    pub(super) qlen: Option<(Output, &'o Monitor)>,
    /// When lengths of queues are written next.
    next_dump: Time,
}

pub(super) struct Output {
    path: PathBuf,
    file: BufWriter<output::Output>,
}

impl Output {
    /// None of the files `taken` is written over, nor what is `foreign`, unless it may be.
    fn create(path: &Path, taken: &mut Vec<PathBuf>, foreign: Foreign) -> io::Result<Output> {
        let named = |error: io::Error| unwritable(path, &error);
        let refused = |why: &str| Err(named(io::Error::new(io::ErrorKind::AlreadyExists, why)));
        if taken.iter().any(|other| is_one_file(path, other)) {
            return refused("it is an input file or another output; give it another name");
        }
        if foreign == Foreign::Keep && !earlier::is_replaceable(path) {
            return refused(
                "it is there, and not as this program wrote it; --out DIR writes elsewhere, \
                 --force writes over it",
            );
        }
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            fs::create_dir_all(folder).map_err(named)?;
        }
        let file = output::Output::create(path).map_err(named)?;
        taken.push(path.to_path_buf());
        Ok(Output { path: path.to_path_buf(), file: BufWriter::new(file) })
    }

    /// Empties the files, as if nothing had been written.
    fn clear(&mut self) -> io::Result<()> {
        self.flush()?;
        self.file.get_mut().clear().map_err(|error| unwritable(&self.path, &error))
    }

    /// Gives the file its name, which is returned.
    fn finish(self) -> io::Result<PathBuf> {
        let Output { path, file } = self;
        let file = file.into_inner().map_err(io::IntoInnerError::into_error);
        file.and_then(output::Output::finish).map_err(|error| unwritable(&path, &error))?;
        earlier::note(&path);
        Ok(path)
    }
}

/// All errors name the file.
impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes).map_err(|error| unwritable(&self.path, &error))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush().map_err(|error| unwritable(&self.path, &error))
    }
}

fn unwritable(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("cannot write {}: {error}", path.display()))
}

/// Whether both are names of one file, by links of any kind.
fn is_one_file(one: &Path, other: &Path) -> bool {
    #[cfg(unix)]
    let identity = |path: &Path| {
        use std::os::unix::fs::MetadataExt;
        fs::metadata(path).map(|file| (file.dev(), file.ino()))
    };
    #[cfg(not(unix))]
    let identity = |path: &Path| fs::canonicalize(path);
    match (identity(one), identity(other)) {
        (Ok(one), Ok(other)) => one == other,
        // Files that are not there yet have names only.
        _ => one == other,
    }
}

impl<'o> Files<'o> {
    /// Before the run: it would be a pity to learn afterwards that there is no place for them.
    pub(super) fn create(outputs: &'o Outputs) -> io::Result<Files<'o>> {
        let mut taken = outputs.inputs.clone();
        let mut create = |path: &Path| Output::create(path, &mut taken, outputs.foreign);
        let qlen = outputs.qlen.as_ref().map(|monitor| {
            let output = create(&monitor.file)?;
            io::Result::Ok((output, monitor))
        });
        let qlen = qlen.transpose()?;
        let mut files = Files {
            outputs,
            fct: create(&outputs.fct)?,
            pfc: create(&outputs.pfc)?,
            qlen,
            next_dump: Time::MAX,
        };
        files.begin();
        Ok(files)
    }

    fn begin(&mut self) {
        self.next_dump = match &self.qlen {
            None => Time::MAX,
            Some((_, monitor)) => first_dump(monitor),
        };
    }

    /// Writes what a run that has ended before its time would still have written: all flows may be over,
    /// but instants go on.
    fn write_rest(&mut self, simulator: &mut Parallel<'_>, end: Time) -> io::Result<()> {
        while self.next_dump < end {
            self.dump(simulator)?;
        }
        Ok(())
    }

    fn pfc_line(&self, heard: Heard) -> String {
        let node = heard.node.index();
        let interfaces = &self.outputs.interfaces[node];
        let interface = interfaces[heard.port.index()];
        let kind = u8::from(!self.outputs.is_host[node]);
        let (time, is_pause) = (heard.time.as_ps() / 1_000, u8::from(heard.is_pause));
        format!("{time} {node} {kind} {interface} {is_pause}\n")
    }

    fn dump(&mut self, simulator: &mut Parallel<'_>) -> io::Result<()> {
        let at = self.next_dump;
        let lengths = simulator.queue_lengths(at);
        let Some((output, monitor)) = &mut self.qlen else {
            self.next_dump = Time::MAX;
            return Ok(());
        };
        let mut text = format!("time: {}\n", at.as_ps() / 1_000);
        for Lengths { node, port, counts } in lengths {
            let interface = self.outputs.interfaces[node.index()][port.index()];
            let _ = write!(text, "{} {interface}", node.0);
            for count in counts {
                let _ = write!(text, " {count}");
            }
            text.push('\n');
        }
        output.write_all(text.as_bytes())?;
        let next = at.saturating_add(DUMPS);
        self.next_dump = if next <= last_instant(monitor) { next } else { Time::MAX };
        Ok(())
    }

    /// In the order of completion.
    fn write_completions(&mut self, outputs: &Outputs, outcome: &Outcome) -> io::Result<()> {
        let finished = outcome.flows.iter().zip(&outputs.flows);
        let finished = finished.filter_map(|(flow, line)| Some((flow.finish?, line)));
        let mut finished = Vec::from_iter(finished);
        finished.sort_by_key(|(time, _)| *time);
        for (time, line) in finished {
            let text = fct_line(line, time, outputs.has_numbers);
            self.fct.write_all(text.as_bytes())?;
        }
        Ok(())
    }

    pub(super) fn finish(self) -> io::Result<Vec<PathBuf>> {
        let qlen = self.qlen.map(|(output, _)| output);
        let mut written = Vec::new();
        for output in [self.fct, self.pfc].into_iter().chain(qlen) {
            written.push(output.finish()?);
        }
        Ok(written)
    }
}

/// Completion times are written when the run is over, everything else while it goes on.
impl Scribe for Files<'_> {
    type Error = io::Error;

    fn next(&self) -> Time {
        self.next_dump
    }

    /// Writes what has happened since the last time.
    fn take(&mut self, simulator: &mut Parallel<'_>) -> io::Result<()> {
        if simulator.restarted() {
            self.pfc.clear()?;
            if let Some((output, _)) = &mut self.qlen {
                output.clear()?;
            }
            self.begin();
        }
        for heard in simulator.take_heard() {
            let line = self.pfc_line(heard);
            self.pfc.write_all(line.as_bytes())?;
        }
        while self.next_dump <= simulator.now() {
            self.dump(simulator)?;
        }
        Ok(())
    }
}

/// The first instant at which lengths are written, if there is one.
fn first_dump(monitor: &Monitor) -> Time {
    let (start, dumps) = (monitor.start, DUMPS.as_ps() / 1_000);
    let interval = INTERVAL.as_ps() / 1_000;
    let first = start.div_ceil(dumps).saturating_mul(dumps);
    let is_instant = first >= start && (first - start).is_multiple_of(interval);
    if is_instant && instant(first) <= last_instant(monitor) { instant(first) } else { Time::MAX }
}

/// The last one at which queues are looked at: the first that is not before the end.
fn last_instant(monitor: &Monitor) -> Time {
    let interval = INTERVAL.as_ps() / 1_000;
    let since = monitor.end.saturating_sub(monitor.start);
    let last = since.div_ceil(interval).saturating_mul(interval);
    instant(monitor.start.saturating_add(last))
}

/// A line of completion times.
pub(super) fn fct_line(line: &FlowLine, finish: Time, has_numbers: bool) -> String {
    let FlowLine { source, target, ports: [from, to], size, start, standalone, .. } = line;
    let took = (finish.as_ps() / 1_000).saturating_sub(*start);
    if has_numbers {
        format!("{source} {target} {from} {to} {size} {start} {took} {standalone}\n")
    } else {
        let address = |node: usize| 0x0b00_0001 + ((node / 256) << 16) + ((node % 256) << 8);
        let (source, target) = (address(*source), address(*target));
        format!("{source:08x} {target:08x} {from} {to} {size} {start} {took} {standalone}\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_written_at_multiples_of_a_tenth_of_a_second() {
        let monitor = |start, end| Monitor { file: PathBuf::new(), start, end };
        let both = |start, end| {
            let monitor = monitor(start, end);
            let ns = |time: Time| time.as_ps() / 1_000;
            (ns(first_dump(&monitor)), ns(last_instant(&monitor)))
        };
        let never = Time::MAX.as_ps() / 1_000;
        // The first instant is there even if the end is before it.
        assert_eq!(both(2_000_000_000, 0), (2_000_000_000, 2_000_000_000));
        assert_eq!(both(2_000_000_050, 2_000_000_100), (never, 2_000_000_150));
        assert_eq!(both(1_950_000_000, 2_050_000_000), (2_000_000_000, 2_050_000_000));
        assert_eq!(both(u64::MAX, u64::MAX).0, never);
    }

    #[test]
    fn lines_are_those_of_the_simulators() {
        let line = FlowLine {
            name: "0/258:10000->16:100".to_string(),
            source: 258,
            target: 16,
            ports: [10_000, 100],
            size: 20_000_000,
            start: 2_000_000_000,
            standalone: 4_198_600,
        };
        let finish = instant(2_064_966_551);
        let hex = "0b010201 0b001001 10000 100 20000000 2000000000 64966551 4198600\n";
        assert_eq!(fct_line(&line, finish, false), hex);
        let numbers = "258 16 10000 100 20000000 2000000000 64966551 4198600\n";
        assert_eq!(fct_line(&line, finish, true), numbers);
    }
}
