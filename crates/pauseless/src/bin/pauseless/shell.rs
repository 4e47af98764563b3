//! The commands `pauseless complete` and `pauseless man`: what packages bring beside the program.

use std::fs;
use std::process::ExitCode;

use anyhow::Context;
use clap::{Command, CommandFactory};
use clap_mangen::Man;

use crate::args::{Cli, CompleteArgs, ManArgs};
use crate::output::{self, tell};

/// Prints the completions of a shell.
pub fn complete(args: &CompleteArgs) -> anyhow::Result<ExitCode> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), NAME, &mut text);
    output::print(&String::from_utf8(text)?)?;
    Ok(ExitCode::SUCCESS)
}

/// Writes a page for the program and for each of its commands.
pub fn man(args: &ManArgs) -> anyhow::Result<ExitCode> {
    fs::create_dir_all(&args.folder)
        .with_context(|| format!("cannot create {}", args.folder.display()))?;
    let mut pages = Vec::new();
    collect(&Cli::command().disable_help_subcommand(true), NAME, &mut pages);
    for (name, command) in &pages {
        let mut page = Vec::new();
        Man::new(command.clone()).render(&mut page)?;
        output::write_file(&args.folder.join(format!("{name}.1")), page)?;
    }
    tell!("wrote {} pages to {}", pages.len(), args.folder.display());
    Ok(ExitCode::SUCCESS)
}

/// The command and those below it that are shown, each under the name of its page.
fn collect(command: &Command, name: &str, pages: &mut Vec<(String, Command)>) {
    // A page is found by the words of the command with dashes between them.
    let page = command.clone().display_name(name).bin_name(name.replace('-', " "));
    pages.push((name.to_string(), page.version(pauseless_run::VERSION)));
    for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set()) {
        collect(sub, &format!("{name}-{}", sub.get_name()), pages);
    }
}

const NAME: &str = "pauseless";
