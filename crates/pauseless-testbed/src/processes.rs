//! A process per node, each in a network namespace of its own, with the real clock.
//!
//! The processes are `pauseless switch` and `pauseless host`, as anybody would start them by hand. They
//! die with us, however we end: the kernel tells them. Namespaces and veth pairs have no names outside,
//! so they are gone with the last process. What a killed testbed leaves is a folder of files, which the
//! next one removes.

use std::fmt::Write;
use std::fs::{self, File};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};

use pauseless_core::unit::{Span, Time};
use pauseless_dataplane::net::Namespace;
use pauseless_sim::outcome::Ended;
use pauseless_text::output;
use rustix::process::{Pid, Signal, kill_process};

use super::folder::Folder;
use super::outcome::{Measurements, Watched};
use super::plan::{self, NodeConfig, NodePlan};
use super::wires::{self, interface};
use super::{BedError, Options, Watch, WireFacts};
use crate::node::drive::monotonic_ns;
use crate::node::file::Wire;
use crate::node::json::NodeDocument;
use pauseless_run::{Progress, Run};
use pauseless_scenario::Scenario;

/// Runs `scenario` with a process of `program` for each node, until its end, or until `watch` breaks it
/// off.
pub(super) fn measure(
    scenario: Arc<Scenario>,
    options: &Options,
    program: &Path,
    watch: &mut dyn Watch,
) -> Result<(Run, WireFacts), BedError> {
    let plan_options = plan::Options { envelope: options.envelope, slack: SLACK };
    let plans = plan::nodes(&scenario.config, &plan_options)?;
    let namespaces = wires::namespaces(&plans).map_err(BedError::Wires)?;
    let folder = Folder::new().map_err(BedError::Files)?;
    let begin = Instant::now();
    let start_ns = monotonic_ns() + START_AHEAD.as_nanos() as u64;
    let starting = Starting {
        scenario: &scenario,
        plans: &plans,
        options,
        program,
        folder: &folder,
        start_ns,
    };
    let mut crew = Crew::default();
    output::write(&folder.path.join(SCENARIO), scenario.resolved()).map_err(BedError::Files)?;
    for (plan, namespace) in plans.iter().zip(&namespaces) {
        crew.children.push(starting.start(plan, namespace)?);
    }
    let ended = crew.wait(&starting, watch)?;
    let (mut reports, mut messages) = (Vec::new(), Vec::new());
    for (plan, child) in plans.iter().zip(&mut crew.children) {
        let document = starting.document(plan, child)?;
        reports.push(document.report);
        messages.extend(document.messages);
    }
    let measurements = Measurements {
        reports,
        // Nobody sees the state of all switches at one instant.
        watched: Watched::default(),
        ended,
    };
    let mut facts = WireFacts::of(&scenario, &measurements.reports);
    facts.backend = options.backend.name();
    facts.clock = "real";
    facts.messages = messages;
    let mut run = super::run_of(scenario, measurements, begin);
    // Nobody sees the state of all switches at one instant.
    run.looks_for_deadlock = false;
    Ok((run, facts))
}

/// The values that all nodes are started with.
struct Starting<'a> {
    scenario: &'a Scenario,
    plans: &'a [NodePlan],
    options: &'a Options,
    program: &'a Path,
    folder: &'a Folder,
    /// The CLOCK_MONOTONIC time at which the clocks of all nodes start.
    start_ns: u64,
}

impl Starting<'_> {
    fn path(&self, plan: &NodePlan, kind: &str) -> PathBuf {
        self.folder.path.join(format!("{}.{kind}", plan.node.0))
    }

    /// The file of a node.
    fn file(&self, plan: &NodePlan) -> String {
        let common = plan.config.common();
        let mut text = format!("scenario = \"{SCENARIO}\"\nnode = {:?}\n", common.name);
        text.push_str("[interfaces]\n");
        for (port, neighbour) in common.neighbours.iter().enumerate() {
            let _ = writeln!(text, "{neighbour:?} = {:?}", interface(plan, port));
        }
        let wire = Wire { envelope: self.options.envelope, ..Wire::default() };
        let _ = write!(
            text,
            "[wire]\nbackend = \"{}\"\nenvelope = \"{}\"\nslack = \"{} us\"\nclock = \"real\"\n",
            self.options.backend.name(),
            wire.envelope_name(),
            SLACK.as_ps() / 1_000_000,
        );
        text
    }

    fn start(&self, plan: &NodePlan, namespace: &Namespace) -> Result<Child, BedError> {
        let config = self.path(plan, "toml");
        output::write(&config, self.file(plan)).map_err(BedError::Files)?;
        let stdout = File::create(self.path(plan, "json")).map_err(BedError::Files)?;
        let stderr = File::create(self.path(plan, "log")).map_err(BedError::Files)?;
        let role = match plan.config {
            NodeConfig::Switch(_) => "switch",
            NodeConfig::Host(_) => "host",
        };
        let duration_ns = self.scenario.config.duration.as_ps() / 1_000;
        let mut command = Command::new(self.program);
        command
            .args([role, "--json", "--quiet", "--config"])
            .arg(&config)
            .args(["--with-parent", &std::process::id().to_string()])
            .args(["--for", &format!("{duration_ns} ns")])
            .args(["--start-at", &self.start_ns.to_string()])
            // Ctrl-C is for the testbed, which tells them once.
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(stdout)
            .stderr(stderr);
        namespace.enter(|| command.spawn()).map_err(BedError::Wires)?.map_err(|error| {
            let program = self.program.display();
            BedError::Node(format!("cannot start {program}: {error}"))
        })
    }

    /// The time on the clocks of the nodes.
    fn now(&self) -> Time {
        let passed = monotonic_ns().saturating_sub(self.start_ns);
        Time::ZERO + Span::ns(passed)
    }

    /// What a node that has ended says.
    fn document(&self, plan: &NodePlan, child: &mut Child) -> Result<NodeDocument, BedError> {
        let name = &plan.config.common().name;
        let status = child.wait().map_err(BedError::Files)?;
        let text = fs::read_to_string(self.path(plan, "json")).map_err(BedError::Files)?;
        if !status.success() {
            return Err(self.failure(plan, status));
        }
        NodeDocument::from_json(&text)
            .map_err(|error| BedError::Node(format!("the report of {name}: {error}")))
    }

    /// What a node that has failed had to say.
    fn failure(&self, plan: &NodePlan, status: ExitStatus) -> BedError {
        let said = fs::read_to_string(self.path(plan, "log")).unwrap_or_default();
        let name = &plan.config.common().name;
        BedError::Node(format!("{name} failed ({status}): {}", said.trim()))
    }
}

/// The processes; those that still run are killed when they are dropped.
#[derive(Default)]
struct Crew {
    children: Vec<Child>,
}

impl Crew {
    /// Waits until all have ended, or until `watch` breaks it off; then they are asked to end.
    fn wait(&mut self, starting: &Starting<'_>, watch: &mut dyn Watch) -> Result<Ended, BedError> {
        let end = Time::ZERO + starting.scenario.config.duration;
        let mut ended = Ended::Duration;
        // A node that hangs is an error, not a reason to wait for ever.
        let limit = Instant::now() + START_AHEAD + Duration::from_secs(30);
        let limit = limit + Duration::from_nanos(starting.scenario.config.duration.as_ps() / 1_000);
        while !self.all_ended(starting)? {
            if Instant::now() > limit {
                return Err(BedError::Node("a node does not come to its end".to_string()));
            }
            sleep(LOOK_EVERY);
            let now = starting.now().min(end);
            if ended == Ended::Duration && watch.progress(Progress { now, end }).is_break() {
                ended = Ended::Interrupted;
                self.ask_to_end();
            }
        }
        Ok(ended)
    }

    /// Whether nobody runs any more. One that has failed ends it for all.
    fn all_ended(&mut self, starting: &Starting<'_>) -> Result<bool, BedError> {
        let mut is_one_left = false;
        for (child, plan) in self.children.iter_mut().zip(starting.plans) {
            match child.try_wait().map_err(BedError::Files)? {
                None => is_one_left = true,
                Some(status) if status.success() => {}
                Some(status) => return Err(starting.failure(plan, status)),
            }
        }
        Ok(!is_one_left)
    }

    fn ask_to_end(&self) {
        for child in &self.children {
            if let Some(pid) = Pid::from_raw(child.id() as i32) {
                // It may have ended by itself.
                let _ = kill_process(pid, Signal::TERM);
            }
        }
    }
}

impl Drop for Crew {
    fn drop(&mut self) {
        for child in &mut self.children {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// How far behind its clock a port may be and still catch up: the longest stall of a small machine.
const SLACK: Span = Span::ms(20);
/// Until then all processes have opened their interfaces, even on a machine that is busy.
const START_AHEAD: Duration = Duration::from_millis(1_500);
const LOOK_EVERY: Duration = Duration::from_millis(50);
const SCENARIO: &str = "scenario.toml";

#[cfg(test)]
mod tests {
    use pauseless_wire::Envelope;

    use super::*;
    use crate::node::file::{NodeFile, Role};
    use crate::ring::{self, Speed};
    use pauseless_scenario::Overrides;

    #[test]
    fn processes_are_told_of_the_envelope() {
        let wanted = ["pfc".to_string()];
        let scenarios = ring::scenarios(Speed::Processes, &wanted, &Overrides::default());
        let scenario = &scenarios.unwrap_or_else(|it| panic!("{it}"))[0];
        let plans = plan::nodes(&scenario.config, &plan::Options::default()).expect("a plan");
        let root = tempfile::tempdir().expect("a folder");
        let folder = Folder::within(root.path()).expect("a folder");
        let options = Options { envelope: Envelope::Private, ..Options::default() };
        let starting = Starting {
            scenario,
            plans: &plans,
            options: &options,
            program: Path::new("pauseless"),
            folder: &folder,
            start_ns: 0,
        };
        fs::write(folder.path.join(SCENARIO), scenario.resolved()).expect("a file");
        let is_switch = |plan: &&NodePlan| matches!(plan.config, NodeConfig::Switch(_));
        let switch = plans.iter().find(is_switch).expect("a switch");
        let path = starting.path(switch, "toml");
        fs::write(&path, starting.file(switch)).expect("a file");
        let read = NodeFile::read(&path, Role::Switch).unwrap_or_else(|it| panic!("{it}"));
        assert_eq!(read.wire.envelope, Envelope::Private);
        assert_eq!(read.wire.slack, SLACK);
    }
}
