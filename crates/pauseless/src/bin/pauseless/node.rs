//! `pauseless switch` and `pauseless host`

use std::io::{self, IsTerminal};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::Context;
use pauseless_core::unit::Time;
use pauseless_dataplane::report::NodeReport;
use pauseless_run::capture::Capture;
use pauseless_testbed::node::drive::{self, Audience, Links, Node, Settings};
use pauseless_testbed::node::file::{NodeFile, Role, write_clock};
use pauseless_testbed::node::metrics::endpoint::Endpoint;
use pauseless_testbed::node::screen::{self, PortSetting, Scene, Screen};
use pauseless_testbed::node::summary;
use pauseless_testbed::taps::NodeCapture;
use pauseless_text::quantity;
use pauseless_text::terminal::Paint;

use crate::FINDING;
use crate::args::NodeArgs;
use crate::output::{self, Terminal, tell};
use crate::progress::Interrupt;

/// Runs a node until its end, and reports.
pub fn run(args: &NodeArgs, role: Role, terminal: Terminal) -> anyhow::Result<ExitCode> {
    if let Some(parent) = args.with_parent {
        drive::end_with_parent(parent).context("cannot watch the process that started this one")?;
    }
    if let Some(address) = args.metrics {
        Endpoint::check(address).with_context(|| format!("cannot give metrics at {address}"))?;
    }
    if let Some(path) = &args.pcap {
        output::check_place(path)?;
    }
    let mut file = NodeFile::read(&args.config, role)?;
    file.take_clock(args.clock)?;
    file.wire.backend = args.backend.unwrap_or(file.wire.backend);
    if args.with_parent.is_none() {
        let probing = &file.scenario.config;
        file.plan.sample_as_probed(probing);
    }
    if args.check {
        output::print(&summary::outlook(&file))?;
        return Ok(ExitCode::SUCCESS);
    }
    if !args.quiet {
        output::warn(&file.scenario);
        for remark in file.remarks() {
            tell!("warning: {remark}");
        }
    }
    let mut links = Links::open(&file)?;
    let mut view = View::open(args, &file, terminal)?;
    for line in &links.how {
        view.note(line);
    }
    let settings = Settings {
        pace: file.wire.pace,
        start: args.start_at.map_or_else(Instant::now, drive::instant_at),
        end: args.duration.map(|span| Time::ZERO + span),
        is_spinning: args.spin,
    };
    let capture = args.pcap.as_ref().map(|path| {
        let capture = Capture::create(path, &ports(&file), drive::epoch(settings.start));
        capture.with_context(|| format!("cannot write {}", path.display()))
    });
    let capture = capture.transpose()?;
    view.capture = capture.clone();
    if let Some(core) = args.core {
        // Only now, since threads that are started afterwards would share the core.
        drive::pin(core).with_context(|| format!("cannot stay on core {core}"))?;
    }
    links.forget();
    let Links { links, how, claims } = links;
    let mut node = Node::new(&file, links);
    if let Some(capture) = &capture {
        node.set_tap(Box::new(NodeCapture::new(capture, 0)));
    }
    let report = node.drive(&settings, &mut view);
    drop(claims);
    let messages = view.close();
    let mut document = summary::document(&file, how, report);
    document.messages = messages;
    let text = if args.json {
        document.to_text()
    } else {
        summary::text(&file, &document, terminal.paint())
    };
    let printed = output::print(&text);
    if let Some(capture) = &capture {
        finish(args, capture)?;
    }
    printed?;
    Ok(status(args, &document.report))
}

/// The names of the interfaces in a capture: the node's ports.
fn ports(file: &NodeFile) -> Vec<String> {
    let neighbours = file.plan.config.common().neighbours.iter();
    let name = |neighbour| format!("{}:{neighbour}", file.name());
    neighbours.map(name).collect()
}

/// Writes what is left of a capture.
fn finish(args: &NodeArgs, capture: &Capture) -> anyhow::Result<()> {
    let place = capture.path();
    let frames = capture.finish().with_context(|| format!("cannot write {}", place.display()))?;
    if !args.quiet {
        let frames = quantity::plural(frames, "frame");
        tell!("wrote {frames} to {}", place.display());
    }
    Ok(())
}

fn status(args: &NodeArgs, report: &NodeReport) -> ExitCode {
    if args.deny.is_some() && summary::lost(report) > 0 {
        output::complain("pauseless: denied: loss");
        return ExitCode::from(FINDING);
    }
    ExitCode::SUCCESS
}

/// The terminal, log and metrics of a running node.
struct View<'a> {
    interrupt: Interrupt,
    endpoint: Option<Endpoint>,
    screen: Option<Screen>,
    is_quiet: bool,
    paint: Paint,
    heading: String,
    settings: Vec<PortSetting>,
    name: &'a str,
    /// The last report shown, for rates.
    shown: NodeReport,
    logged: Instant,
    messages: Vec<String>,
    /// The capture file, which may fail.
    capture: Option<Capture>,
}

impl<'a> View<'a> {
    fn open(args: &NodeArgs, file: &'a NodeFile, terminal: Terminal) -> anyhow::Result<View<'a>> {
        let endpoint = args.metrics.map(|address| {
            Endpoint::open(address).with_context(|| format!("cannot give metrics at {address}"))
        });
        let endpoint = endpoint.transpose()?;
        let is_seen = io::stdout().is_terminal() && !args.json && !args.quiet;
        let interrupt = Interrupt::watch()?;
        let screen = (is_seen || args.live).then(Screen::enter);
        let view = View {
            interrupt,
            screen: screen.transpose().context("cannot write to the terminal")?,
            is_quiet: args.quiet,
            paint: terminal.paint(),
            heading: format!("{}, clock {}", file.role.name(), write_clock(file.wire.pace)),
            settings: PortSetting::of(&file.plan.config),
            name: file.name(),
            shown: NodeReport::default(),
            logged: Instant::now(),
            messages: Vec::new(),
            capture: None,
            endpoint,
        };
        if let Some(endpoint) = &view.endpoint {
            let address = endpoint.address();
            view.note(&format!("metrics are at http://{address}/metrics"));
        }
        Ok(view)
    }

    /// Prints a remark, unless the user wants none.
    fn note(&self, text: &str) {
        if !self.is_quiet && self.screen.is_none() {
            tell!("{}: {text}", self.name);
        }
    }

    /// Restores the terminal, and returns the messages of the node.
    fn close(self) -> Vec<String> {
        let was_hidden = self.screen.is_some();
        drop(self.screen);
        if was_hidden {
            for message in &self.messages {
                tell!("{message}");
            }
        }
        self.messages
    }
}

impl Audience for View<'_> {
    fn hear(&mut self, message: &str) {
        self.messages.push(message.to_string());
        if self.screen.is_none() {
            tell!("{message}");
        }
    }

    fn see(&mut self, status: NodeReport) {
        if let Some(trouble) = self.capture.as_ref().and_then(Capture::trouble) {
            self.hear(&format!("{}: {trouble}", self.name));
        }
        if let Some(endpoint) = &self.endpoint {
            endpoint.publish(vec![status.clone()]);
        }
        if let Some(screen) = &mut self.screen {
            let scene = Scene {
                heading: &self.heading,
                before: &self.shown,
                now: &status,
                settings: &self.settings,
            };
            let mut size = screen::size();
            let said = self.messages.iter().rev().take(MESSAGES_SHOWN).rev();
            let said = said.map(|message| screen::cut(message, size.columns));
            let said: Vec<String> = said.collect();
            size.rows = size.rows.saturating_sub(said.len());
            let page = screen::render(&[scene], size, self.paint) + &said.join("\n");
            // A closed terminal ends the node by SIGHUP, if it should.
            let _ = screen.show(&page);
            self.shown = status;
        } else if !self.is_quiet && self.logged.elapsed() >= LOGGED_EVERY {
            self.logged = Instant::now();
            tell!("{}", summary::line(&self.shown, &status));
            self.shown = status;
        }
    }

    fn is_over(&self) -> bool {
        self.interrupt.flow().is_break()
    }
}

/// The time between two lines in the log of a node without a terminal.
const LOGGED_EVERY: Duration = Duration::from_secs(10);
/// The number of messages of the node on the screen.
const MESSAGES_SHOWN: usize = 3;
