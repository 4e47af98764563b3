//! Runs with the replica of that simulator: it writes the files, and our engine gives the verdict.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Instant;

use pauseless_core::unit::Bytes;
use pauseless_sim::Outcome;
use pauseless_sim::replica::engine::{Completion, Dump, Engine, Findings, Heard, Setup};

use super::Outputs;
use super::output::{Files, fct_line, instant};
use crate::run::Distance;
use crate::run::{Progress, Run};
use crate::scenario::Scenario;

/// Runs the replica and then our engine. Files, completion times and counts of PFC frames are the
/// replica's, everything else is our engine's.
pub(super) fn execute(
    scenario: Scenario,
    (setup, outputs): (&Setup, &Outputs),
    threads: usize,
    mut watch: impl FnMut(Progress) -> ControlFlow<()>,
) -> io::Result<(Run, Vec<PathBuf>)> {
    let begin = Instant::now();
    let mut setup = setup.clone();
    setup.stop = (scenario.config.duration.as_ps() / 1_000).max(1);
    let groups = setup.flows.iter().map(|flow| flow.group);
    let groups = Vec::from_iter(BTreeSet::from_iter(groups));
    let mut files = Files::create(outputs)?;
    let (found, interrupted) = drive(setup, (&mut files, outputs), &mut watch)?;
    let written = files.finish()?;
    let mut run = Run::execute_on(threads, scenario, watch);
    run.replica = Some(found.distance(&run.outcome));
    found.put_into(&mut run.outcome, &groups);
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
}

/// About 20 ms.
const EVENTS: usize = 100_000;

fn drive(
    setup: Setup,
    (files, outputs): (&mut Files<'_>, &Outputs),
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
        files.fct.file.write_all(line.as_bytes())?;
    }
    for heard in &findings.heard {
        let Heard {
            time,
            node,
            interface,
            ..
        } = heard;
        let kind = u8::from(!outputs.is_host[*node as usize]);
        let is_pause = u8::from(heard.is_pause);
        writeln!(
            files.pfc.file,
            "{time} {node} {kind} {interface} {is_pause}"
        )?;
    }
    let Some((qlen, _)) = &mut files.qlen else {
        return Ok(());
    };
    for Dump { time, rows } in &findings.dumps {
        writeln!(qlen.file, "time: {time}")?;
        for (node, interface, counts) in rows {
            write!(qlen.file, "{node} {interface}")?;
            for count in counts {
                write!(qlen.file, " {count}")?;
            }
            writeln!(qlen.file)?;
        }
    }
    Ok(())
}

impl Found {
    /// How far our engine is from it.
    fn distance(&self, outcome: &Outcome) -> Distance {
        let mut sums = [0.0; 2];
        let mut largest: f64 = 0.0;
        for completion in &self.completions {
            let ours = &outcome.flows[completion.flow as usize];
            let Some(finish) = ours.finish else {
                continue;
            };
            let start = instant(completion.start);
            let ours = (finish.as_ps() as f64 - start.as_ps() as f64) / 1e3;
            let theirs = (completion.finish - completion.start) as f64;
            sums = [sums[0] + ours, sums[1] + theirs];
            largest = largest.max((ours / theirs - 1.0).abs());
        }
        let finished = outcome.flows.iter().filter(|flow| flow.finish.is_some());
        Distance {
            finished: self.completions.len() as u64,
            finished_here: finished.count() as u64,
            pause_frames: self.pauses.iter().sum(),
            pause_frames_here: outcome.pause_frames,
            mean: if sums[1] > 0.0 {
                sums[0] / sums[1] - 1.0
            } else {
                0.0
            },
            largest,
        }
    }

    /// Replaces what it knows better; `groups` are those in use, one for each class.
    fn put_into(&self, outcome: &mut Outcome, groups: &[u8]) {
        outcome.pause_frames = self.pauses.iter().sum();
        for (class, group) in groups.iter().enumerate() {
            outcome.pause_frames_by_class[class] = self.pauses[usize::from(*group)];
        }
        let mut finish = vec![None; outcome.flows.len()];
        for completion in &self.completions {
            finish[completion.flow as usize] = Some(completion);
        }
        for (flow, finish) in outcome.flows.iter_mut().zip(finish) {
            let ended = finish.map(|completion| instant(completion.finish));
            if let (Some(time), Some(completion)) = (ended, finish) {
                flow.start = Some(instant(completion.start));
                flow.goodput_bps = goodput(flow.delivered, completion);
                outcome.end = outcome.end.max(time);
            }
            flow.finish = ended;
        }
    }
}

fn goodput(delivered: Bytes, completion: &Completion) -> f64 {
    let seconds = (completion.finish - completion.start) as f64 / 1e9;
    delivered.get() as f64 * 8.0 / seconds
}
