//! `pauseless plan`

use std::process::ExitCode;

use anyhow::Context;
use pauseless_lab::fabric::ethernet::{Choices, Tunnels};
use pauseless_lab::fabric::{Fabric, read, shape};
use pauseless_lab::plan::{Scheme, json, plan, text};
use pauseless_lab::report;

use crate::FINDING;
use crate::args::PlanArgs;
use crate::output;

/// Plans the buffers of a fabric.
pub fn run(args: &PlanArgs) -> anyhow::Result<ExitCode> {
    if args.paper {
        output::print(&match args.json {
            true => report::json::to_text(&json::paper_document()),
            false => text::paper_report(),
        })?;
        return Ok(ExitCode::SUCCESS);
    }
    let fabric = fabric(args)?;
    let plan = plan(&fabric, &args.request())?;
    output::print(&match args.json {
        true => report::json::to_text(&json::document(&fabric, &plan)),
        false => text::report(&fabric, &plan),
    })?;
    let wanted = args.scheme.iter().map(|name| Scheme::from(*name));
    let wanted = match args.scheme.is_empty() {
        true => vec![plan.native_scheme()],
        false => wanted.collect(),
    };
    Ok(match wanted.into_iter().all(|scheme| plan.fits(scheme)) {
        true => ExitCode::SUCCESS,
        false => ExitCode::from(FINDING),
    })
}

fn fabric(args: &PlanArgs) -> anyhow::Result<Fabric> {
    let routing = args.routing.map(|rule| {
        let routing = rule.routing(1);
        routing.context("--routing detour: a detour needs a failure, and a plan has none")
    });
    let routing = routing.transpose()?;
    let mut fabric = match &args.generate {
        Some(shape) => shape::parse(shape)?,
        None => {
            let tunnels = Tunnels::LeftOut;
            read::read_with(&args.files, Choices { routing, tunnels })?
        }
    };
    if let Some(routing) = routing {
        fabric.route_by(routing);
    }
    Ok(fabric)
}
