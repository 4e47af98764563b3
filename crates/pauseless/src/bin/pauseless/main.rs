//! The command line: arguments, messages and exit codes. What it does is in the library.
//!
//! Exit status: 0 done, 1 a finding (of `run`: one that was denied), 2 bad usage or input, 130 interrupted.

mod args;
mod check;
mod convert;
mod demo;
#[cfg(test)]
mod documents;
mod explain;
mod htsim;
mod lint;
mod metrics;
mod new;
#[cfg(target_os = "linux")]
mod node;
mod output;
mod plan;
mod progress;
mod repro;
mod run;
mod schema;
mod shell;
mod sweep;
#[cfg(target_os = "linux")]
mod testbed;
mod threshold;

use std::process::ExitCode;

use clap::Parser;
use clap::error::ErrorKind;
use pauseless_scenario::Problems;
#[cfg(target_os = "linux")]
use pauseless_testbed::node::file::Role;
use pauseless_text::terminal::Paint;

use args::{Cli, Command};
use output::{Terminal, tell};

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return usage(&error),
    };
    let terminal = Terminal::new(cli.color);
    let Some(command) = cli.command else {
        output::complain(GUIDE);
        return ExitCode::from(USAGE);
    };
    match dispatch(command, terminal) {
        Ok(code) => code,
        Err(error) => refuse(&error, terminal),
    }
}

fn dispatch(command: Command, terminal: Terminal) -> anyhow::Result<ExitCode> {
    match command {
        Command::Check(args) => check::run(&args, terminal),
        Command::Lint(args) => lint::run(&args, terminal),
        Command::Plan(args) => plan::run(&args),
        Command::Convert(args) => convert::run(&args),
        Command::New(args) => new::run(&args),
        Command::Run(args) => run::run(&args, terminal),
        Command::Demo(args) => demo::run(&args, terminal),
        Command::Sweep(args) => sweep::run(&args, terminal),
        Command::Repro(args) => repro::run(&args, terminal),
        Command::Explain(args) => explain::run(&args),
        Command::Complete(args) => shell::complete(&args),
        Command::Man(args) => shell::man(&args),
        Command::Schema(args) => schema::run(&args),
        Command::Metrics(args) => metrics::run(&args),
        #[cfg(target_os = "linux")]
        Command::Testbed(args) => testbed::run(&args, terminal),
        Command::Threshold(args) => threshold::run(&args, terminal),
        #[cfg(target_os = "linux")]
        Command::Switch(args) => node::run(&args, Role::Switch, terminal),
        #[cfg(target_os = "linux")]
        Command::Host(args) => node::run(&args, Role::Host, terminal),
    }
}

/// Says what is wrong with the usage or the input.
fn refuse(error: &anyhow::Error, terminal: Terminal) -> ExitCode {
    match error.downcast_ref::<Problems>() {
        // The problems name their file and carry the prefix already.
        Some(problems) => {
            output::complain(&problems.render(terminal.paint_stderr() == Paint::Ansi))
        }
        None => tell!("{error:#}"),
    }
    ExitCode::from(USAGE)
}

/// Prints help and version to stdout; everything else is a mistake.
fn usage(error: &clap::Error) -> ExitCode {
    let text = error.render().to_string();
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            // A closed pipe does not need the text.
            let _ = output::print(&text);
            ExitCode::SUCCESS
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            output::complain(text.trim_end());
            ExitCode::from(USAGE)
        }
        _ => {
            let text = text.strip_prefix("error: ").unwrap_or(&text);
            let text = text.replace("invalid digit found in string", "not a whole number");
            // What it takes for similar is none of what was meant.
            let is_flow_control = text.contains("unexpected argument '--flow-control");
            let tip = "  tip: a similar argument exists: '--color'\n\n";
            let text = if is_flow_control { text.replace(tip, "") } else { text };
            tell!("{}", text.trim_end());
            if is_flow_control {
                output::complain(
                    "  = help: --set flow_control.kind=gfc-buffer takes another flow control",
                );
            }
            let wants_fabric =
                text.contains("Usage: pauseless plan") || text.contains("Usage: pauseless check");
            if error.kind() == ErrorKind::MissingRequiredArgument && wants_fabric {
                output::complain(
                    "  = help: name the files of a fabric, or --generate one, such as fat-tree:8, or \
                     n-to-1:63 for one switch of 64 ports",
                );
            }
            if error.kind() == ErrorKind::InvalidSubcommand {
                output::complain(
                    "  = help: `pauseless` alone says which command answers which question",
                );
            }
            ExitCode::from(USAGE)
        }
    }
}

/// What to do first, for whoever calls the program without a command.
const GUIDE: &str = "\
Pauseless, the workbench for lossless networks. What do you want to know?

  Show me a deadlock, and what prevents it          pauseless demo
  Can my fabric deadlock? (dumps, or a shape)       pauseless check FILE..
                                                    pauseless check --generate fat-tree:8
  Is my SONiC fabric configured as I meant it?      pauseless lint config_db.json..
  Which thresholds and buffers are safe in it?      pauseless plan --generate fat-tree:8
  What happens on my network?                       pauseless new leaf-spine
                                                    pauseless run leaf-spine.toml
  Do the published results hold?                    pauseless repro --list

All commands: pauseless --help; one of them: pauseless COMMAND --help";

/// The exit status of a finding that was denied.
const FINDING: u8 = 1;
/// The exit status of bad usage or input.
const USAGE: u8 = 2;
/// The exit status of an interrupted run, as shells have it.
const INTERRUPTED: u8 = 130;
