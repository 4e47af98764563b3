//! The command `pauseless check`: from dumps of a fabric to a verdict.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::ValueEnum;
use pauseless_check::confirm::{self, Confirmation, ConfirmationRecord};
use pauseless_check::json::{CheckRecord, Documents};
use pauseless_check::read;
use pauseless_check::sweep::json::SweepRecord;
use pauseless_check::sweep::{self, Amount, Cases, Plan, Sweep};
use pauseless_check::transient::{self, Transient, TransientRecord};
use pauseless_check::{self as check, Verdict, fix, sarif, svg, text};
use pauseless_dumps::assemble::ethernet::{Choices, Tunnels};
use pauseless_fabric::dependency::Traffic;
use pauseless_fabric::fabric::{Fabric, LaneEvidence, Medium, Origin};
use pauseless_fabric::reroute::Reroute;
use pauseless_fabric::routing::{Multipath, Routing};
use pauseless_scenario::shape;
use pauseless_text::record::to_text;

use crate::args::{CheckArgs, Choose, DenyFault, Failing, Fix};
use crate::lint;
use crate::output::{self, Terminal, tell};
use crate::progress::{self, Bar, Count, Interrupt};
use crate::{FINDING, INTERRUPTED};

/// Checks fabrics and reports.
pub fn run(args: &CheckArgs, terminal: Terminal) -> anyhow::Result<ExitCode> {
    let files = [&args.sarif, &args.svg, &args.confirm_out];
    for file in files.into_iter().flatten() {
        output::check_place(file)?;
    }
    if args.generate.len() > 1 && files.iter().any(|file| file.is_some()) {
        bail!("--svg, --sarif and --confirm-out are of one fabric; generate one at a time");
    }
    let routing = args.routing.map(|rule| {
        let routing = rule.routing(args.seed);
        routing.context("--routing detour: a detour needs a failure; use --reroute detour")
    });
    let routing = routing.transpose()?;
    let escape = escape(args)?;
    let mut fabrics = Vec::new();
    if args.generate.is_empty() {
        // Other routes than the fabric's own would meet the classes that are for tunnels.
        let is_out = args.no_tunnels || args.failures.is_some() || routing.is_some();
        let tunnels = if is_out { Tunnels::LeftOut } else { Tunnels::Bounced };
        let choices = Choices { routing, tunnels, vrf: args.vrf.as_deref() };
        let files = read::gather(&args.files)?;
        let mut fabric = read::from_sources(&files.sources, choices)?;
        fabric.notes.extend(read::remarks(&files));
        fabric.notes.extend(lint::remarks(&files.sources, LOSSY));
        if args.one_lane {
            one_lane(&mut fabric)?;
        }
        fabrics.push(fabric);
    }
    for shape in &args.generate {
        fabrics.push(shape::parse(shape)?);
    }
    for fabric in &mut fabrics {
        if let Some(routing) = routing {
            fabric.route_by(routing);
        }
        fabric.evidence.choice = args.choose.choice();
        fabric.evidence.escape = escape;
    }
    if args.deny.iter().chain(&args.allow).any(|word| *word == DenyFault::Unrouted) {
        output::complain("pauseless: `unrouted` is called `unroutable` now, and denied by default");
    }
    let interrupt = Interrupt::watch()?;
    let mut reports = Vec::new();
    for mut fabric in fabrics {
        restrict(&mut fabric, args)?;
        reports.push(Report::new(args, fabric, &interrupt)?);
    }
    let printed = if args.json {
        to_text(&document(&reports))
    } else {
        Vec::from_iter(reports.iter().map(|r| r.text(args, terminal))).join("\n")
    };
    output::print(&printed)?;
    write_files(args, &reports)?;
    if let (Some(fix), Some(out)) = (args.fix, &args.out) {
        write_fix(args, &reports[0], fix, out)?;
    }
    Ok(if reports.iter().any(|report| report.is_interrupted) {
        ExitCode::from(INTERRUPTED)
    } else if reports.iter().any(|report| report.is_denied(args)) {
        ExitCode::from(FINDING)
    } else {
        ExitCode::SUCCESS
    })
}

/// Rules whose errors mean that what the file calls lossless is not, or is another class at the next
/// switch: the graph of who waits for whom is then another one.
const LOSSY: &[&str] = &[
    "PL101", "PL103", "PL201", "PL204", "PL205", "PL206", "PL207", "PL303", "PL304", "PL314",
    "PL601", "PL604", "PL701", "PL704",
];

/// The rule of the escape class, if one was named. What the simulator cannot confirm, because its
/// switches never choose at the head of a queue, is refused.
fn escape(args: &CheckArgs) -> anyhow::Result<Option<Routing>> {
    if args.confirm && args.choose == Choose::AtHead {
        bail!(
            "--confirm simulates switches that commit packets to an egress when they are queued; \
             leave out --choose at-head"
        );
    }
    let Some(rule) = args.escape else {
        return Ok(None);
    };
    let routing = rule.routing(args.seed);
    routing.context("--escape detour: an escape class needs ways of its own").map(Some)
}

/// Takes the user's word that all packets use one service level.
fn one_lane(fabric: &mut Fabric) -> anyhow::Result<()> {
    if fabric.medium != Medium::InfiniBand {
        bail!("--one-lane is about InfiniBand's service levels; this fabric is Ethernet");
    }
    if matches!(fabric.traffic, Traffic::Demands(_)) {
        bail!("--one-lane: the files say which service level each path has; leave one of both out");
    }
    fabric.evidence.lanes = LaneEvidence::Known;
    Ok(())
}

fn restrict(fabric: &mut Fabric, args: &CheckArgs) -> anyhow::Result<()> {
    if !args.flow.is_empty() {
        fabric.restrict_to_flows(&args.flow).map_err(anyhow::Error::msg)?;
    }
    if args.confirm && args.failures.is_some() && !args.transient {
        bail!(
            "--confirm simulates the cycles of one fabric; leave out --failures, or add --transient to \
             simulate failures while switches learn of them"
        );
    }
    if args.transient
        && (args.failures != Some(Failing(Amount::Count(1))) || args.samples.is_some())
    {
        bail!("--transient simulates every single failure: write --failures 1, without --samples");
    }
    if args.transient && args.reroute.is_some() {
        bail!(
            "--transient: switches route by one rule before and after; write --routing RULE for both"
        );
    }
    Ok(())
}

/// The results for one fabric.
struct Report {
    fabric: Fabric,
    verdict: Verdict,
    sweep: Option<Sweep>,
    /// What happens while switches learn of a failure.
    transient: Option<Transient>,
    /// The simulation of each cycle that is shown.
    confirmations: Vec<Confirmation>,
    is_interrupted: bool,
}

impl Report {
    fn new(args: &CheckArgs, fabric: Fabric, interrupt: &Interrupt) -> anyhow::Result<Report> {
        let left_out = fabric.left_out(&args.leave_out, &args.only).map_err(anyhow::Error::msg)?;
        let bar = if args.quiet { Bar::Never } else { Bar::Auto };
        let name = format!("checking {}", fabric.name);
        let mut verdict = progress::busy(&name, bar, || check::check(&fabric, &left_out));
        match args.flow.len() {
            0 => {}
            1 => verdict.scope.push("1 flow looked at".to_string()),
            count => verdict.scope.push(format!("{count} flows looked at")),
        }
        // A sweep, or a verdict alone, has no place for advice.
        if args.failures.is_none() && (!args.quiet || args.json || args.fix.is_some()) {
            let name = format!("{}: trying what would help", fabric.name);
            progress::busy(&name, bar, || verdict.take_advice(&fabric, &mut |_| {}));
        }
        let mut report = Report {
            fabric,
            verdict,
            sweep: None,
            transient: None,
            confirmations: Vec::new(),
            is_interrupted: false,
        };
        if let Some(failing) = args.failures {
            report.sweep(args, failing, interrupt)?;
        }
        if args.transient {
            report.examine(args, interrupt)?;
        } else if args.confirm {
            report.confirm(interrupt);
        }
        Ok(report)
    }

    fn examine(&mut self, args: &CheckArgs, interrupt: &Interrupt) -> anyhow::Result<()> {
        let options = transient::Options {
            orders: args.orders,
            failures_max: args.transient_failures,
            seed: args.seed,
        };
        let count = Count::new("simulating failures", args.quiet);
        let left_out = self.verdict.left_out.clone();
        let progress = |done, total, found| {
            count.show(done, total, &format!("{found} deadlocked"));
            interrupt.flow()
        };
        let examined = transient::examine(&self.fabric, &left_out, &options, progress);
        count.clear();
        let examined = examined.map_err(|reason| anyhow::anyhow!("--transient: {reason}"))?;
        self.is_interrupted |= !examined.is_complete;
        self.transient = Some(examined);
        Ok(())
    }

    fn sweep(
        &mut self,
        args: &CheckArgs,
        Failing(amount): Failing,
        interrupt: &Interrupt,
    ) -> anyhow::Result<()> {
        let cases = match (amount, args.samples) {
            (Amount::Count(1), None) => Cases::Singles,
            (amount, Some(samples)) => Cases::Random { amount, samples },
            (_, None) => {
                bail!("--failures other than 1 needs --samples, how many random sets to try")
            }
        };
        let reroute = match (args.reroute, self.fabric.origin) {
            (Some(rule), _) => rule.reroute(args.seed),
            (None, Origin::Rule(routing)) => Reroute::Rule(routing),
            (None, _) => Reroute::Rule(Routing::from(Multipath::Ecmp)),
        };
        let plan = Plan { cases, reroute, seed: args.seed };
        let count = Count::new(&self.fabric.name, args.quiet);
        let left_out = self.verdict.left_out.clone();
        let sweep = sweep::sweep(&self.fabric, &left_out, plan, |done, total, found| {
            count.show(done, total, &format!("{found} with a cycle"));
            interrupt.flow()
        });
        count.clear();
        let sweep = sweep?;
        self.is_interrupted |= !sweep.is_complete();
        self.sweep = Some(sweep);
        Ok(())
    }

    fn confirm(&mut self, interrupt: &Interrupt) {
        let count = Count::new("simulating", false);
        for component in &self.verdict.components {
            let options = confirm::Options::default();
            let confirmation =
                confirm::confirm(&self.fabric, component, &options, |done, total| {
                    count.show(done, total, "runs");
                    interrupt.flow()
                });
            match confirmation {
                Some(confirmation) => self.confirmations.push(confirmation),
                None => {
                    self.is_interrupted = true;
                    break;
                }
            }
        }
        count.clear();
    }

    /// Whether something was found that makes the check fail.
    fn is_denied(&self, args: &CheckArgs) -> bool {
        let after = self.sweep.as_ref().is_some_and(|sweep| sweep.cyclic > 0);
        let unknown = self.fabric.evidence.routes.as_ref();
        let unknown = unknown.is_some_and(|it| it.is_partial || !it.silent.is_empty());
        let found = self.verdict.words();
        let is_found = |deny: &DenyFault| match deny {
            DenyFault::Cycle => found.contains("cycle") || after,
            DenyFault::Unroutable | DenyFault::Unrouted => self.verdict.unrouted_pairs > 0,
            DenyFault::Transient => self.transient.as_ref().is_some_and(Transient::is_deadlock),
            DenyFault::Unknown => unknown,
            other => other.to_possible_value().is_some_and(|word| found.contains(word.get_name())),
        };
        let is_allowed = |deny: &DenyFault| {
            let named = args.allow.iter().map(|allowed| allowed.today());
            named.into_iter().any(|allowed| allowed == deny.today())
        };
        args.deny.iter().any(|deny| !is_allowed(deny) && is_found(deny))
    }

    fn text(&self, args: &CheckArgs, terminal: Terminal) -> String {
        let paint = terminal.paint();
        let mut text = if args.quiet || self.sweep.is_some() {
            text::headline(&self.fabric, &self.verdict, paint)
        } else {
            text::report(&self.fabric, &self.verdict, paint)
        };
        if let Some(sweep) = &self.sweep {
            text += &if args.quiet {
                sweep::text::headline(&self.fabric, sweep, paint)
            } else {
                sweep::text::report(&self.fabric, sweep, paint)
            };
        }
        if let Some(transient) = &self.transient {
            text += &if args.quiet {
                transient::headline(transient, paint)
            } else {
                format!("\n{}", transient::text(&self.fabric, transient, paint))
            };
        } else if args.confirm && !self.verdict.is_cyclic() {
            text += "There is no cycle to simulate.\n";
        }
        for (number, confirmation) in (1..).zip(&self.confirmations) {
            text += &format!("\nCycle {number}, simulated:\n{}", confirm::text(confirmation));
        }
        text
    }

    fn record(&self) -> CheckRecord {
        let mut record = CheckRecord::new(&self.fabric, &self.verdict);
        let sweep = self.sweep.as_ref();
        record.failures = sweep.map(|it| SweepRecord {
            transient: self.transient.as_ref().map(|it| TransientRecord::new(&self.fabric, it)),
            ..SweepRecord::new(&self.fabric, it)
        });
        let confirmations = self.confirmations.iter().map(ConfirmationRecord::new);
        record.confirmations = confirmations.collect();
        record
    }
}

/// One report as a document of its own, several as a list.
fn document(reports: &[Report]) -> Documents {
    Documents::new(reports.iter().map(Report::record).collect())
}

/// Writes what opensm takes, if the proposal helps on this fabric.
fn write_fix(args: &CheckArgs, report: &Report, fix: Fix, out: &Path) -> anyhow::Result<()> {
    if !report.verdict.is_cyclic() {
        output::complain("pauseless: there is no cycle, so there is nothing to fix");
        return Ok(());
    }
    let files = fix::files(&report.fabric, &report.verdict, fix.kind());
    let files = files.map_err(anyhow::Error::msg)?;
    std::fs::create_dir_all(out).with_context(|| format!("cannot make {}", out.display()))?;
    for file in &files {
        output::write_file(&out.join(file.name), &file.text)?;
    }
    if !args.quiet {
        let readme = out.join("README.md");
        tell!("wrote {} files; {} says how to apply them", files.len(), readme.display());
    }
    Ok(())
}

fn write_files(args: &CheckArgs, reports: &[Report]) -> anyhow::Result<()> {
    let Some(first) = reports.first() else {
        return Ok(());
    };
    let mut written = Vec::new();
    if let Some(path) = &args.sarif {
        let files = args.files.iter().map(|file| file.display().to_string());
        let log = sarif::document(&first.fabric, &first.verdict, &Vec::from_iter(files));
        output::write_file(path, to_text(&log))?;
        written.push(path);
    }
    if let Some(path) = &args.svg {
        output::write_file(path, svg::draw(&first.fabric, &first.verdict, 0))?;
        written.push(path);
    }
    if let Some(path) = &args.confirm_out {
        let confirmed = first.confirmations.iter().find_map(|one| match one {
            Confirmation::Simulated(simulated) => Some(simulated.scenario.as_str()),
            Confirmation::NotSimulated { .. } => None,
        });
        let scenario = first.transient.as_ref().map_or(confirmed, Transient::scenario);
        match scenario {
            Some(scenario) => {
                output::write_file(path, scenario)?;
                written.push(path);
            }
            None => output::complain(
                "pauseless: nothing was simulated, so there is no scenario to write",
            ),
        }
    }
    for path in written.iter().filter(|_| !args.quiet) {
        tell!("wrote {}", path.display());
    }
    Ok(())
}
