//! Runs with the replica of that simulator, which writes the files, and our engine beside it.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Instant;

use crate::replica::engine::{Completion, Dump, Engine, Findings, Heard, Setup};
use pauseless_core::unit::{Span, Time};
use pauseless_sim::Outcome;

use super::Outputs;
use super::output::{Files, fct_line, instant};
use pauseless_run::metrics::completion::fct;
use pauseless_run::metrics::distribution::{Distribution, Percentile};
use pauseless_run::{Comparison, Progress, Run};
use pauseless_scenario::Scenario;

/// Runs the replica, which writes the files, and then our engine with the rules of real switches. The
/// run is our engine's; what the replica found stands beside it.
pub(super) fn execute(
    scenario: Scenario,
    setup: &Setup,
    outputs: &Outputs,
    threads: usize,
    mut watch: impl FnMut(Progress) -> ControlFlow<()>,
) -> io::Result<(Run, Vec<PathBuf>)> {
    let begin = Instant::now();
    let mut setup = setup.clone();
    setup.stop = (scenario.config.duration.as_ps() / 1_000).max(1);
    let groups = Vec::from_iter(BTreeSet::from_iter(setup.flows.iter().map(|flow| flow.group)));
    let mut files = Files::create(outputs)?;
    let (found, interrupted) = drive(setup, &mut files, outputs, &mut watch)?;
    let written = files.finish()?;
    let mut run = Run::execute_on(threads, scenario, watch);
    run.replica = Some(found.beside(&run.outcome, &groups));
    run.interrupted |= interrupted;
    run.wall_s = begin.elapsed().as_secs_f64();
    Ok((run, written))
}

/// What is kept of the replica's run.
#[derive(Default)]
struct Found {
    completions: Vec<Completion>,
    /// PAUSE frames by priority group.
    pauses: [u64; 8],
    /// Packets that switches dropped.
    drops: u64,
}

/// The events between two looks at the clock: about 20 ms.
const EVENTS: usize = 100_000;

fn drive(
    setup: Setup,
    files: &mut Files<'_>,
    outputs: &Outputs,
    mut watch: impl FnMut(Progress) -> ControlFlow<()>,
) -> io::Result<(Found, bool)> {
    let end = instant(setup.stop);
    let mut engine = Engine::new(setup);
    let mut found = Found::default();
    loop {
        let is_more = engine.advance(EVENTS);
        let findings = engine.take();
        write(&findings, files, outputs)?;
        for heard in findings.heard.iter().filter(|heard| heard.is_pause) {
            found.pauses[usize::from(heard.group)] += 1;
        }
        found.completions.extend(findings.completions);
        found.drops = engine.drops;
        if !is_more {
            return Ok((found, false));
        }
        let now = instant(engine.now());
        if watch(Progress { now, end }).is_break() {
            return Ok((found, true));
        }
    }
}

fn write(findings: &Findings, files: &mut Files<'_>, outputs: &Outputs) -> io::Result<()> {
    for completion in &findings.completions {
        let line = &outputs.flows[completion.flow as usize];
        let line = fct_line(line, instant(completion.finish), outputs.has_numbers);
        files.fct.write_all(line.as_bytes())?;
    }
    for heard in &findings.heard {
        let Heard { time, node, interface, .. } = heard;
        let kind = u8::from(!outputs.is_host[*node as usize]);
        let is_pause = u8::from(heard.is_pause);
        writeln!(files.pfc, "{time} {node} {kind} {interface} {is_pause}")?;
    }
    let Some((qlen, _)) = &mut files.qlen else {
        return Ok(());
    };
    for Dump { time, rows } in &findings.dumps {
        writeln!(qlen, "time: {time}")?;
        for (node, interface, counts) in rows {
            write!(qlen, "{node} {interface}")?;
            for count in counts {
                write!(qlen, " {count}")?;
            }
            writeln!(qlen)?;
        }
    }
    Ok(())
}

impl Found {
    /// What it found beside what our engine found; `groups` are those in use, one for each class.
    fn beside(&self, outcome: &Outcome, groups: &[u8]) -> Comparison {
        let spans = self.completions.iter().map(span);
        let times = Distribution::<u64>::of(spans.collect());
        let spans = outcome.flows.iter().filter_map(fct).map(Span::as_ps);
        let times_here = Distribution::<u64>::of(spans.collect());
        let finishes = self.completions.iter().map(|completion| completion.finish);
        let finishes_here = outcome.flows.iter().filter_map(|flow| flow.finish);
        let (mean, largest) = self.apart(outcome);
        Comparison {
            finished: self.completions.len() as u64,
            finished_here: finishes_here.clone().count() as u64,
            fct_mean_ps: times.as_ref().map(|times| times.mean),
            fct_mean_ps_here: times_here.as_ref().map(|times| times.mean),
            fct_p99_ps: times.map(|times| times.at(Percentile::P99)),
            fct_p99_ps_here: times_here.map(|times| times.at(Percentile::P99)),
            last_finish_ps: finishes.max().map(|last| instant(last).as_ps()),
            last_finish_ps_here: finishes_here.max().map(Time::as_ps),
            pause_frames: self.pauses.iter().sum(),
            pause_frames_here: outcome.pause_frames,
            pauses_here: outcome.ports.iter().map(|port| port.pauses).sum(),
            pause_frames_by_class: Vec::from_iter(
                groups.iter().map(|group| self.pauses[usize::from(*group)]),
            ),
            pause_frames_by_class_here: outcome.pause_frames_by_class[..groups.len()].to_vec(),
            lost_packets: self.drops,
            lost_packets_here: outcome.lost_packets,
            mean,
            largest,
        }
    }

    /// How much longer flows that finish in both take in our engine, in the mean and at the most.
    fn apart(&self, outcome: &Outcome) -> (f64, f64) {
        let mut sums = [0.0; 2];
        let mut largest: f64 = 0.0;
        for completion in &self.completions {
            let Some(ours) = fct(&outcome.flows[completion.flow as usize]) else {
                continue;
            };
            let (ours, theirs) = (ours.as_ps() as f64, span(completion) as f64);
            sums = [sums[0] + ours, sums[1] + theirs];
            largest = largest.max((ours / theirs - 1.0).abs());
        }
        let mean = if sums[1] > 0.0 { sums[0] / sums[1] - 1.0 } else { 0.0 };
        (mean, largest)
    }
}

/// The completion time of a flow in that simulator, in picoseconds.
fn span(completion: &Completion) -> u64 {
    (completion.finish - completion.start).saturating_mul(1_000)
}
