//! The command `pauseless threshold`: where a property of a run flips.

use std::process::ExitCode;

use anyhow::{Context, bail};
use pauseless_experiments::threshold::json::ThresholdRecord;
use pauseless_experiments::threshold::{Answer, Question, Refusal, Scale, Verdict, page, text};
use pauseless_scenario::vary::{Amount, Knob};
use pauseless_text::record::to_text;

use crate::args::ThresholdArgs;
use crate::output::{self, Terminal, tell};
use crate::progress::{Count, Interrupt};
use crate::{FINDING, INTERRUPTED};

/// Looks for a threshold and reports.
pub fn run(args: &ThresholdArgs, terminal: Terminal) -> anyhow::Result<ExitCode> {
    let question = question(args)?;
    if let Some(file) = &args.html {
        output::check_place(file)?;
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(args.threads.into());
    let pool = pool.build().context("cannot start threads")?;
    let interrupt = Interrupt::watch()?;
    let count = Count::new("simulating", args.quiet);
    let answer = pool.install(|| {
        question.answer(|done, total| {
            count.show(done, total, "runs");
            interrupt.flow()
        })
    });
    count.clear();
    let answer = answer.or_else(|refusal| refuse(&question, refusal))?;
    let printed = match (args.json, args.quiet) {
        (true, _) => to_text(&ThresholdRecord::new(&answer)),
        (false, true) => text::verdict(&answer, terminal.paint()),
        (false, false) => text::report(&answer, terminal.paint()),
    };
    let printed = output::print(&printed);
    if let Some(file) = &args.html {
        output::write_file(file, page::page(&answer))?;
        if !args.quiet {
            tell!("wrote {}", file.display());
        }
    }
    printed?;
    Ok(status(&answer))
}

fn question(args: &ThresholdArgs) -> anyhow::Result<Question> {
    let amount = |name: &str, text: &str| {
        Amount::parse(text).map_err(anyhow::Error::msg).with_context(|| format!("--{name}"))
    };
    let (from, to) = (amount("from", &args.from)?, amount("to", &args.to)?);
    let (mut from, mut to) = (from.like(to), to.like(from));
    let precision = match &args.precision {
        None => None,
        Some(text) => {
            let precision = amount("precision", text)?.like(from);
            (from, to) = (from.like(precision), to.like(precision));
            if precision.unit != from.unit {
                let (precision, from) = (precision.exact(), from.exact());
                bail!("--precision {precision} is not of the kind of {from}");
            }
            Some(precision.base)
        }
    };
    Ok(Question {
        knob: Knob::read(&args.file, &args.vary)?,
        low: from.min(to),
        high: from.max(to),
        property: args.find.clone(),
        seeds: args.seeds,
        precision,
        scale: if args.log { Scale::Log } else { Scale::Linear },
        grid_depth: args.points.0,
        duration: args.duration,
    })
}

/// Prints the value with which a scenario is refused, before its problems are shown.
fn refuse(question: &Question, refusal: Refusal) -> anyhow::Result<Answer> {
    match refusal {
        Refusal::Question(message) => bail!(message),
        Refusal::Scenario { value, problems } => {
            let key = question.knob.key();
            tell!("{key} = {} gives a scenario that cannot be run:", value.exact());
            Err(problems.into())
        }
    }
}

fn status(answer: &Answer) -> ExitCode {
    match answer.verdict() {
        _ if answer.is_interrupted => ExitCode::from(INTERRUPTED),
        Verdict::None { .. } => ExitCode::from(FINDING),
        Verdict::Sharp(_) | Verdict::Blurred { .. } => ExitCode::SUCCESS,
    }
}
