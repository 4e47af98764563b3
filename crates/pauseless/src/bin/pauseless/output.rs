//! Writing to the terminal: nothing here panics when the reader goes away.

use std::io::{self, ErrorKind, IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::OnceLock;

use anyhow::Context;
use pauseless_report::verdict::Finding;
use pauseless_scenario::Scenario;
use pauseless_text::output;
use pauseless_text::terminal::{Paint, printable};

use crate::FINDING;
use crate::args::{Color, Deny};

/// Writes a line to stderr, behind the prefix `pauseless: `.
macro_rules! tell {
    ($($text:tt)+) => {
        $crate::output::complain(&format!("pauseless: {}", format_args!($($text)+)))
    };
}

pub(crate) use tell;

/// Whether stdout and stderr may have colours.
#[derive(Clone, Copy, Debug)]
pub struct Terminal {
    color: Color,
}

/// The terminal of this process. Until its arguments are read it has no colours.
static TERMINAL: OnceLock<Terminal> = OnceLock::new();

impl Terminal {
    /// The terminal with the colours that the user wants.
    pub fn new(color: Color) -> Terminal {
        *TERMINAL.get_or_init(|| Terminal { color })
    }

    /// How to paint text for stdout.
    pub fn paint(self) -> Paint {
        if self.wants_colours(io::stdout().is_terminal()) { Paint::Ansi } else { Paint::Plain }
    }

    /// How to paint text for stderr.
    pub fn paint_stderr(self) -> Paint {
        if self.wants_colours(io::stderr().is_terminal()) { Paint::Ansi } else { Paint::Plain }
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

/// Writes `text` to stdout, without what a terminal would obey. A reader that closes the pipe early, such as `head`, is no error.
pub fn print(text: &str) -> anyhow::Result<()> {
    let paint = TERMINAL.get().map_or(Paint::Plain, |terminal| terminal.paint());
    let text = printable(text, paint);
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        other => other.context("cannot write to the standard output"),
    }
}

/// Writes a line to stderr, without what a terminal would obey, and ignores errors: there is no other way to report them.
pub fn complain(text: &str) {
    let paint = TERMINAL.get().map_or(Paint::Plain, |terminal| terminal.paint_stderr());
    let _ = writeln!(io::stderr().lock(), "{}", printable(text, paint));
}

/// Prints remarks about an input.
pub fn notes(notes: &[String]) {
    for note in notes {
        tell!("note: {note}");
    }
}

/// Prints warnings, which do not stop the run.
pub fn warnings<'w>(warnings: impl IntoIterator<Item = &'w String>) {
    for warning in warnings {
        tell!("warning: {warning}");
    }
}

/// The exit status if a denied finding was found, after naming it; `None` if there was none. Where
/// starvation is denied and nothing is denied that was found, `undecided` is a reason too.
pub fn denied(
    deny: &[Deny],
    is_found: impl Fn(&Finding) -> bool,
    undecided: Option<String>,
) -> Option<ExitCode> {
    let mut denied = Vec::from_iter(deny.iter().map(|deny| Finding::from(*deny)).filter(is_found));
    denied.sort();
    denied.dedup();
    let names = Vec::from_iter(denied.into_iter().map(Finding::name)).join(", ");
    let undecided = undecided.filter(|_| deny.contains(&Deny::Starvation));
    let reason = if names.is_empty() { undecided? } else { names };
    tell!("denied: {reason}");
    Some(ExitCode::from(FINDING))
}

/// Prints the warnings of a scenario.
pub fn warn(scenario: &Scenario) {
    for warning in &scenario.warnings {
        complain(&format!("pauseless: warning: {}: {warning}", scenario.name));
    }
}

/// Makes sure, before a long run, that its file can be written.
pub fn check_place(path: &Path) -> anyhow::Result<()> {
    output::check_place(path).with_context(|| format!("cannot write {}", path.display()))
}

/// Writes a file; the error names it.
pub fn write_file(path: &Path, bytes: impl AsRef<[u8]>) -> anyhow::Result<()> {
    output::remove_leftovers(path);
    output::write(path, bytes).with_context(|| format!("cannot write {}", path.display()))
}
