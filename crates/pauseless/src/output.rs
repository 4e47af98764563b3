//! Writing to the terminal: nothing here panics when the reader goes away.

use std::io::{self, ErrorKind, IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;

use anyhow::Context;
use pauseless_lab::report::text::Paint;
use pauseless_lab::report::verdict::Finding;
use pauseless_scenario::Scenario;

use crate::FINDING;
use crate::args::{Color, Deny};

/// Writes a line of ours to stderr.
macro_rules! tell {
    ($($text:tt)+) => {
        $crate::output::complain(&format!("pauseless: {}", format_args!($($text)+)))
    };
}

pub(crate) use tell;

/// What may be drawn where.
#[derive(Clone, Copy, Debug)]
pub struct Terminal {
    color: Color,
}

impl Terminal {
    /// As the user wishes.
    pub fn new(color: Color) -> Terminal {
        Terminal { color }
    }

    /// How to paint what goes to stdout.
    pub fn paint(self) -> Paint {
        if self.wants_colours(io::stdout().is_terminal()) { Paint::Ansi } else { Paint::Plain }
    }

    /// Whether what goes to stderr may have colours.
    pub fn colours_stderr(self) -> bool {
        self.wants_colours(io::stderr().is_terminal())
    }

    fn wants_colours(self, is_terminal: bool) -> bool {
        match self.color {
            Color::Always => true,
            Color::Never => false,
            // The convention of no-color.org.
            Color::Auto => {
                let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
                is_terminal && !refused
            }
        }
    }
}

/// Writes `text` to stdout. A reader that has seen enough, such as `head`, is no error.
pub fn print(text: &str) -> anyhow::Result<()> {
    let mut stdout = io::stdout().lock();
    let written = stdout.write_all(text.as_bytes());
    match written.and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        other => other.context("cannot write to the standard output"),
    }
}

/// Writes a line to stderr. If even that fails there is nobody to tell.
pub fn complain(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// Tells what the reader should know about an input.
pub fn notes(notes: &[String]) {
    for note in notes {
        tell!("note: {note}");
    }
}

/// Tells what is wrong and does not matter.
pub fn warnings<'w>(warnings: impl IntoIterator<Item = &'w String>) {
    for warning in warnings {
        tell!("warning: {warning}");
    }
}

/// The exit status if something was found that is denied, after telling what; `None` if nothing was.
pub fn denied(deny: &[Deny], is_found: impl Fn(&Finding) -> bool) -> Option<ExitCode> {
    let denied = deny.iter().map(|deny| Finding::from(*deny));
    let mut denied = Vec::from_iter(denied.filter(is_found));
    denied.sort();
    denied.dedup();
    let names = Vec::from_iter(denied.into_iter().map(Finding::name)).join(", ");
    (!names.is_empty()).then(|| {
        tell!("denied: {names}");
        ExitCode::from(FINDING)
    })
}

/// Tells the warnings of a scenario.
pub fn warn(scenario: &Scenario) {
    for warning in &scenario.warnings {
        complain(&format!("pauseless: warning: {}: {warning}", scenario.name));
    }
}

/// Makes sure before a long run that there will be a place for its file.
pub fn check_place(path: &Path) -> anyhow::Result<()> {
    let is_new = !path.exists();
    let open = std::fs::OpenOptions::new().append(true).create(true).open(path);
    open.with_context(|| format!("cannot write {}", path.display()))?;
    if is_new {
        // Nothing is left behind if the run does not come to its end.
        let _ = std::fs::remove_file(path);
    }
    Ok(())
}

/// Writes a file and names it if that fails.
pub fn write_file(path: &Path, text: &str) -> anyhow::Result<()> {
    std::fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}
