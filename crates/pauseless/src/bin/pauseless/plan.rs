//! The command `pauseless plan`: thresholds and headroom for a fabric.

use std::path::Path;
use std::process::ExitCode;

use anyhow::Context;
use pauseless_check::read;
use pauseless_core::unit::Bytes;
use pauseless_dumps::assemble::ethernet::{Choices, Tunnels};
use pauseless_fabric::fabric::{Fabric, Medium};
use pauseless_plan::against::{self, Deployed, Terms};
use pauseless_plan::against_text::{self, AgainstRecord};
use pauseless_plan::apply::Applied;
use pauseless_plan::cycle_aware::{CyclePlan, Wish, cycle_aware};
use pauseless_plan::cycle_aware_text::{self, CycleRecord};
use pauseless_plan::headroom::Reaction;
use pauseless_plan::json::{AgainstDocument, PlanDocument, paper_document};
use pauseless_plan::prove::{Proof, prove};
use pauseless_plan::prove_text::{self, ProofRecord};
use pauseless_plan::{Plan, PlanError, Request, Scheme, classes_most, mtu, plan, text};
use pauseless_scenario::fabric_file::{self, LinkTerms};
use pauseless_scenario::shape;
use pauseless_text::record::to_text;
use pauseless_text::source::Source;
use pauseless_text::unit::Quantity;

use crate::FINDING;
use crate::args::PlanArgs;
use crate::lint;
use crate::output::{self, tell};
use crate::progress::{self, Bar, Count};

/// Plans the buffers of a fabric, or judges deployed ones.
pub fn run(args: &PlanArgs) -> anyhow::Result<ExitCode> {
    if args.paper {
        output::print(&if args.json { to_text(&paper_document()) } else { text::paper_report() })?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut found = progress::busy("planning", Bar::Auto, || Found::new(args))?;
    if args.prove {
        let count = Count::new("proving", false);
        let watch = |done, total| count.show(done, total, "ports and schemes");
        found.proofs = found.planned.as_ref().map(|(_, plan)| prove(plan, &watch));
        count.clear();
    }
    output::print(&if args.json { found.json() } else { found.text() })?;
    // What comes through a pipe has been read already.
    let files = args.against.iter().filter(|file| file.is_file());
    let sources = Vec::from_iter(files.filter_map(|file| Source::read(file).ok()));
    output::notes(&lint::remarks(&sources, HEADROOM));
    if let (Some(directory), Some((fabric, plan))) = (&args.out, &found.planned) {
        let written = write(directory, fabric, plan, &found)?.join(", ");
        tell!("wrote {}: {written}", directory.display());
    }
    let missing = found.deployed.as_ref().and_then(Deployed::missing);
    if let Some(missing) = missing {
        anyhow::bail!("nothing that --against names could be judged: {}", missing.join("; "));
    }
    Ok(if found.is_good(args) { ExitCode::SUCCESS } else { ExitCode::from(FINDING) })
}

/// Rules whose errors mean that a deployed headroom is not what a port has.
const HEADROOM: &[&str] = &["PL102", "PL201", "PL301", "PL302", "PL303", "PL304", "PL305", "PL314"];

/// The plan and everything else that was asked for.
struct Found {
    planned: Option<(Fabric, Plan)>,
    cycles: Option<CyclePlan>,
    wish: Wish,
    proofs: Option<Vec<Proof>>,
    deployed: Option<Deployed>,
}

impl Found {
    fn new(args: &PlanArgs) -> anyhow::Result<Found> {
        let mut request = args.request();
        let planned = if args.files.is_empty() && args.generate.is_none() {
            None
        } else {
            // The sources are read once: they may be pipes.
            let sources = read::gather(&args.files)?.sources;
            let fabric = fabric(args, &sources)?;
            let scenario = sources.iter().find(|source| fabric_file::is_toml(source));
            let terms = scenario.map(LinkTerms::read).transpose()?.unwrap_or_default();
            let mut notes = take_terms(&mut request, terms, args);
            if args.mtu.is_none() && terms.mtu.is_none() {
                notes.push(take_mtu(&mut request, &sources, &fabric)?);
            }
            let mut plan = plan(&fabric, &request)?;
            plan.notes.extend(notes);
            Some((fabric, plan))
        };
        if planned.is_none() && (args.prove || args.out.is_some()) {
            anyhow::bail!("--prove and --out are about a fabric; name its files or --generate one");
        }
        if planned.is_none()
            && let Some(classes) = args.classes
            && usize::from(classes) > classes_most(Medium::Ethernet)
        {
            return Err(PlanError::Classes(classes, Medium::Ethernet).into());
        }
        let terms = Terms {
            request: &request,
            mtu: args.mtu,
            fabric: planned.as_ref().map(|(fabric, _)| fabric),
        };
        let deployed =
            if args.against.is_empty() { None } else { Some(against::read(&args.against, terms)?) };
        if planned.is_none() && args.cycle_aware {
            anyhow::bail!("--cycle-aware is about a fabric; name its files or --generate one");
        }
        let wish = Wish { reroute: args.failures.map(|rule| rule.reroute(1)), margin: args.margin };
        let cycles = planned.as_ref().filter(|_| args.cycle_aware);
        let cycles = cycles.map(|(fabric, plan)| cycle_aware(fabric, plan, wish));
        Ok(Found { proofs: None, planned, cycles, wish, deployed })
    }

    fn text(&self) -> String {
        let planned = self.planned.as_ref();
        let parts = [
            planned.map(|(fabric, plan)| text::report(fabric, plan)),
            planned
                .zip(self.cycles.as_ref())
                .map(|((fabric, _), cycles)| cycle_aware_text::report(fabric, cycles)),
            self.proofs.as_ref().map(|proofs| prove_text::report(proofs)),
            self.deployed.as_ref().map(against_text::report),
        ];
        Vec::from_iter(parts.into_iter().flatten()).join("\n")
    }

    fn json(&self) -> String {
        let against = self.deployed.as_ref().map(AgainstRecord::new);
        match (&self.planned, against) {
            (Some((fabric, plan)), against) => {
                let mut document = PlanDocument::new(fabric, plan);
                let cycles = self.cycles.as_ref();
                document.cycle_aware = cycles.map(|it| CycleRecord::new(fabric, it));
                let proofs = self.proofs.as_ref();
                document.proofs = proofs.map(|all| all.iter().map(ProofRecord::new).collect());
                document.against = against;
                to_text(&document)
            }
            (None, Some(against)) => to_text(&AgainstDocument::new(against)),
            (None, None) => String::new(),
        }
    }

    /// Whether everything fits and every proof holds.
    fn is_good(&self, args: &PlanArgs) -> bool {
        let fits = self.planned.as_ref().is_none_or(|(_, plan)| {
            let wanted = args.scheme.iter().map(|name| Scheme::from(*name));
            if args.scheme.is_empty() {
                plan.fits(plan.native_scheme())
            } else {
                wanted.into_iter().all(|scheme| plan.fits(scheme))
            }
        });
        let is_alive = self.cycles.as_ref().is_none_or(|cycles| {
            let native = self.planned.as_ref().map(|(_, plan)| plan.native_scheme());
            let wanted = Vec::from_iter(args.scheme.iter().map(|name| Scheme::from(*name)));
            let wanted = if wanted.is_empty() { Vec::from_iter(native) } else { wanted };
            let mut wanted = wanted.into_iter();
            cycles.is_covered() && wanted.all(|scheme| cycles.holds(scheme))
        });
        let holds = self.proofs.iter().flatten().all(Proof::holds);
        let loses = self.deployed.as_ref().is_some_and(|it| it.can_lose(args.bound.into()));
        fits && holds && is_alive && !loses
    }
}

fn fabric(args: &PlanArgs, sources: &[Source]) -> anyhow::Result<Fabric> {
    let routing = args.routing.map(|rule| {
        let routing = rule.routing(1);
        routing.context("--routing detour: a detour needs a failure, and a plan has none")
    });
    let routing = routing.transpose()?;
    let mut fabric = match &args.generate {
        Some(shape) => shape::parse(shape)?,
        None => {
            let tunnels = Tunnels::LeftOut;
            read::from_sources(sources, Choices { routing, tunnels, vrf: None })?
        }
    };
    if let Some(routing) = routing {
        fabric.route_by(routing);
    }
    Ok(fabric)
}

/// Takes what a scenario says of its links, unless the user said otherwise; returns notes about it.
fn take_terms(request: &mut Request, terms: LinkTerms, args: &PlanArgs) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(mtu) = terms.mtu.filter(|_| args.mtu.is_none()) {
        set_mtu(request, mtu);
        notes.push(format!(
            "frames up to {} B, as the scenario says; --mtu says otherwise",
            mtu.get()
        ));
    }
    if let Some(classes) = terms.classes.filter(|_| args.classes.is_none()) {
        request.classes = Some(classes);
        notes.push(format!(
            "classes per port: {classes}, as the scenario says; --classes says otherwise"
        ));
    }
    let processing = terms.processing.filter(|_| request.reaction == Reaction::Standard);
    if let Some(processing) = processing {
        request.reaction = Reaction::Fixed(processing);
        let processing = processing.exact();
        notes.push(format!(
            "t_proc {processing}, as the scenario says; --processing says otherwise"
        ));
    }
    if let Some(buffer) = terms.buffer {
        let (buffer, planned) = (buffer.exact(), request.buffer.exact());
        notes.push(format!(
            "the scenario's switch.buffer of {buffer} is of one port and class and not used; \
             --buffer is of a whole switch, {planned}"
        ));
    }
    notes
}

fn set_mtu(request: &mut Request, mtu: Bytes) {
    request.mtu = mtu;
    if let Some(cells) = &mut request.cells {
        cells.mtu_lossless = mtu;
    }
}

/// Sets the largest frame, if the user did not: that of the files, else the usual one; returns a
/// note about it.
fn take_mtu(request: &mut Request, sources: &[Source], fabric: &Fabric) -> anyhow::Result<String> {
    let of_files = mtu::of_files(sources)?;
    let mtu = match (of_files, fabric.medium) {
        (Some(mtu), _) => mtu,
        (None, Medium::InfiniBand) => MTU_INFINIBAND,
        (None, Medium::Ethernet) => request.mtu,
    };
    set_mtu(request, mtu);
    let why = match of_files {
        Some(_) => ", the largest MTU of the ports in the files",
        None => " assumed",
    };
    let bytes = request.mtu.get();
    Ok(format!("frames up to {bytes} B{why}; --mtu says otherwise"))
}

/// The largest MTU of InfiniBand.
const MTU_INFINIBAND: Bytes = Bytes::new(4_096);

/// Writes the document and, for each scheme that fits, the sections of a scenario.
fn write(
    directory: &Path,
    fabric: &Fabric,
    plan: &Plan,
    found: &Found,
) -> anyhow::Result<Vec<String>> {
    std::fs::create_dir_all(directory)
        .with_context(|| format!("cannot make the folder {}", directory.display()))?;
    let mut files = vec![("plan.json".to_string(), found.json())];
    let applied = Applied::new(fabric, plan)?;
    for scheme in Scheme::ALL {
        if let Some(sections) = applied.sections(fabric, scheme) {
            files.push((format!("flow_control-{}.toml", scheme.name()), sections));
        }
    }
    if found.cycles.is_some() {
        // These sections are added to those above, so they must be planned for the same ports.
        let cycles = cycle_aware(fabric, applied.plan(), found.wish);
        for scheme in Scheme::ALL {
            if let Some(sections) = cycle_aware_text::sections(fabric, &cycles, scheme) {
                files.push((format!("cycle_aware-{}.toml", scheme.name()), sections));
            }
        }
    }
    for (name, text) in &files {
        output::write_file(&directory.join(name), text)?;
    }
    Ok(files.into_iter().map(|(name, _)| name).collect())
}
