//! The section `[transport]`: what sources and targets do beside congestion control.

use std::ops::RangeInclusive;

use pauseless_core::congestion::CongestionControl;
use pauseless_core::transport::{
    AnswerSizes, Answering, Finish, GoBackN, Pacing, Recovery, Transport, Window,
};
use pauseless_core::unit::{Bytes, Span};

use super::congestion;
use super::file::File;
use super::reader::{At, Item, Section};

/// How flows are carried, as it was written.
#[derive(Clone, Debug)]
pub(crate) struct Written {
    transport: Transport,
    pub window: WindowSize,
}

/// How many bytes a window has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WindowSize {
    /// There is none.
    None,
    /// What the flow's own way holds: its round-trip time at its lowest rate.
    Bdp,
    /// The largest of those of all flows.
    LargestBdp,
    /// As many as were written.
    Bytes(Bytes),
}

/// The name of go-back-N beside that of doing nothing.
const RECOVERIES: [(&str, bool); 2] = [("none", false), ("go-back-n", true)];
const FINISHES: [(&str, Finish); 2] = [("target", Finish::Target), ("source", Finish::Source)];
const PACINGS: [(&str, Pacing); 4] = [
    ("catch-up", Pacing::CatchUp),
    ("strict", Pacing::Strict),
    ("strict-whole-ns", Pacing::StrictWhole),
    ("own-pace", Pacing::Pace),
];
const ANSWERING: [(&str, Answering); 2] = [("held", Answering::Held), ("free", Answering::Free)];
const SPANS: RangeInclusive<Span> = Span::ns(1)..=Span::s(10);
const WINDOWS: RangeInclusive<Bytes> = Bytes::new(1)..=Bytes::mb(1_000_000);
/// From less than any Ethernet frame to far more than any answer needs.
const ANSWERS: RangeInclusive<Bytes> = Bytes::new(20)..=Bytes::new(1_000);

impl Written {
    /// Reads `[transport]`, and makes targets acknowledge if it needs that.
    pub(crate) fn read(root: &mut Section<'_>, congestion: &mut congestion::Written) -> Written {
        let mut written = Written {
            transport: Transport::default(),
            window: WindowSize::None,
        };
        let is_hpcc = matches!(congestion.control, CongestionControl::Hpcc(_));
        let mut follows = None;
        if is_hpcc {
            written.window = WindowSize::Bdp;
        }
        if let Some(mut section) = root.table("transport") {
            follows = written.fill(&mut section);
            written.refuse_windows(&section, (follows.as_ref(), congestion));
            written.need_acknowledgements(&section, congestion);
            section.finish();
        }
        let is_following = follows.map_or(is_hpcc, |follows| follows.value);
        written.transport.window = match (written.window, is_following) {
            (WindowSize::None, _) => Window::None,
            (_, false) => Window::Fixed,
            (_, true) => Window::FollowsRate,
        };
        written
    }

    /// Takes the keys; whether windows follow rates, if that was said.
    fn fill(&mut self, section: &mut Section<'_>) -> Option<At<bool>> {
        let transport = &mut self.transport;
        if let Some(finish) = section.choice("finish", &FINISHES) {
            transport.finish = finish.value;
        }
        if let Some(pacing) = section.choice("pacing", &PACINGS) {
            transport.pacing = pacing.value;
        }
        if let Some(answering) = section.choice("host_answers", &ANSWERING) {
            transport.answering = answering.value;
        }
        let AnswerSizes { ack, cnp } = &mut transport.sizes;
        for (key, size) in [("ack_size", ack), ("cnp_size", cnp)] {
            if let Some(found) = section.quantity_within(key, ANSWERS) {
                *size = found.value;
            }
        }
        let is_going_back = section.choice("recovery", &RECOVERIES);
        if is_going_back.is_some_and(|it| it.value) {
            let mut config = GoBackN::default();
            if let Some(interval) = section.quantity_within("nack_interval", SPANS) {
                config.nack_interval = interval.value;
            }
            if let Some(timeout) = section.take("timeout")
                && !timeout.is_text("never")
                && let Some(timeout) = within(section, timeout, SPANS)
            {
                config.timeout = timeout;
            }
            transport.recovery = Recovery::GoBackN(config);
        } else {
            section.set_context(" with recovery = \"none\"".to_string());
        }
        if let Some(window) = section.take("window") {
            self.window = match &window {
                window if window.is_text("none") => WindowSize::None,
                window if window.is_text("bdp") => WindowSize::Bdp,
                window if window.is_text("largest-bdp") => WindowSize::LargestBdp,
                _ => within(section, window, WINDOWS).map_or(WindowSize::None, WindowSize::Bytes),
            };
        }
        section.boolean("window_follows_rate")
    }

    fn refuse_windows(
        &self,
        section: &Section<'_>,
        (follows, congestion): (Option<&At<bool>>, &congestion::Written),
    ) {
        if let Some(follows) = follows
            && follows.value
            && self.window == WindowSize::None
        {
            let problem = follows.place.problem("there is no window to follow it");
            section.report(problem.help("add window = \"bdp\""));
        }
        if self.window != WindowSize::None && congestion.ack_every > 1 {
            let every = congestion.ack_every;
            let problem = section.place.problem(format!(
                "a window waits for packets that are acknowledged only every {every}"
            ));
            section.report(problem.help("write congestion_control.ack_every = 1"));
        }
    }

    /// Makes targets acknowledge every packet if sources wait for that.
    fn need_acknowledgements(&self, section: &Section<'_>, congestion: &mut congestion::Written) {
        let is_waiting = self.window != WindowSize::None || self.transport.awaits();
        if !is_waiting || congestion.ack_every > 0 {
            return;
        }
        if congestion.is_ack_written {
            let problem = section
                .place
                .problem("sources wait for acknowledgements, but congestion_control.ack_every = 0");
            section.report(problem.help("take ack_every out, or write at least 1"));
        }
        congestion.ack_every = 1;
    }

    /// As the simulator wants it.
    pub(crate) fn resolved(&self) -> Transport {
        self.transport
    }

    /// Writes the section with nothing left out, unless nobody would notice.
    pub(crate) fn write(&self, file: &mut File) {
        if self.transport == Transport::default() {
            return;
        }
        let Transport {
            recovery,
            finish,
            pacing,
            sizes,
            window,
            answering,
        } = self.transport;
        file.section("[transport]");
        file.text("finish", name(&FINISHES, finish));
        file.text("pacing", name(&PACINGS, pacing));
        file.text("host_answers", name(&ANSWERING, answering));
        file.quantity("ack_size", sizes.ack);
        file.quantity("cnp_size", sizes.cnp);
        file.text("recovery", name(&RECOVERIES, recovery != Recovery::None));
        if let Recovery::GoBackN(config) = recovery {
            file.quantity("nack_interval", config.nack_interval);
            match config.timeout {
                Span::MAX => file.text("timeout", "never"),
                timeout => file.quantity("timeout", timeout),
            }
        }
        match self.window {
            WindowSize::None => file.text("window", "none"),
            WindowSize::Bdp => file.text("window", "bdp"),
            WindowSize::LargestBdp => file.text("window", "largest-bdp"),
            WindowSize::Bytes(bytes) => file.quantity("window", bytes),
        }
        if window != Window::None {
            file.plain("window_follows_rate", window == Window::FollowsRate);
        }
    }
}

/// The name of a value in scenario files.
fn name<T: PartialEq>(names: &[(&'static str, T)], value: T) -> &'static str {
    let found = names.iter().find(|(_, other)| *other == value);
    found.expect("every value has a name").0
}

/// A quantity that may be a word instead.
fn within<Q: super::unit::Quantity + PartialOrd + Copy>(
    section: &Section<'_>,
    item: Item<'_>,
    range: RangeInclusive<Q>,
) -> Option<Q> {
    let found = item.quantity::<Q>()?;
    if range.contains(&found.value) {
        return Some(found.value);
    }
    let message = format!("{} is out of range", found.value.exact());
    let (low, high) = (range.start().exact(), range.end().exact());
    let problem = found.place.problem(message);
    section.report(problem.expected(format!("from {low} to {high}")));
    None
}
