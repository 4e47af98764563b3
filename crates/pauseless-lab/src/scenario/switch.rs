//! The section `[switch]`.

use std::ops::RangeInclusive;

use pauseless_core::flow_control::Control;
use pauseless_core::id::Class;
use pauseless_core::schedule::Scheduler;
use pauseless_core::switch::{Discipline, Release};
use pauseless_core::unit::{Bytes, Span};

use pauseless_sim::config::DrawsFrom;

use super::memory;
use super::reader::{At, Item, Section};

/// A switch counts the bytes between two of its ports in 32 bits.
pub(crate) const BUFFERS: RangeInclusive<Bytes> = Bytes::new(64)..=Bytes::mb(4_000);
/// More than any switch needs to act on a message, and no sum of them overflows.
pub(crate) const PROCESSING: RangeInclusive<Span> = Span::ZERO..=Span::s(1);

/// From a header alone to a full frame.
const CONTROL_FRAMES: RangeInclusive<Bytes> = Bytes::new(1)..=Bytes::new(1_500);
/// What a moment of release is called in files.
pub(crate) const RELEASES: [(&str, Release); 2] = [
    ("last-bit", Release::LastBit),
    ("first-bit", Release::FirstBit),
];

/// How every switch works.
#[derive(Clone, Debug)]
pub(crate) struct Switches {
    pub discipline: Discipline,
    pub scheduler: Scheduler,
    /// The buffer of every (ingress port, class), where it was written.
    pub buffer: Option<At<Bytes>>,
    /// Whether it was written, be it well or not.
    pub is_buffer_written: bool,
    /// Those that data can travel in.
    pub class_count: u8,
    /// Whether there is one more, for what sources are told.
    pub has_feedback_class: bool,
    pub processing: Span,
    pub processing_jitter: Span,
    /// Frame bytes of a control frame.
    pub control_frame: Bytes,
    /// When a packet that is sent is taken off its ingress counter.
    pub release: Release,
    /// What random numbers come from.
    pub draws: DrawsFrom,
    /// How ports share their memory, if they do; then `buffer` is that of hosts.
    pub memory: Option<memory::Written>,
    /// Whether they are to, be it written well or not.
    pub is_sharing: bool,
}

impl Switches {
    /// Reads `[switch]`.
    pub(crate) fn read(root: &mut Section<'_>) -> Switches {
        let mut switches = Switches {
            discipline: Discipline::OutputQueued,
            scheduler: Scheduler::Strict,
            buffer: None,
            is_buffer_written: false,
            class_count: 1,
            has_feedback_class: false,
            // The upper limit that gfc19 5.4 gives for t_r.
            processing: Span::us(3),
            processing_jitter: Span::ZERO,
            control_frame: Control::SIZE,
            release: Release::LastBit,
            draws: DrawsFrom::Egress,
            memory: None,
            is_sharing: false,
        };
        if let Some(mut section) = root.table("switch") {
            switches.fill(&mut section);
            section.finish();
        }
        switches
    }

    /// All classes.
    pub(crate) fn lane_count(&self) -> u8 {
        self.class_count + u8::from(self.has_feedback_class)
    }

    fn fill(&mut self, section: &mut Section<'_>) {
        let names = Discipline::ALL.map(|discipline| (discipline.name(), discipline));
        if let Some(discipline) = section.choice("discipline", &names) {
            self.discipline = discipline.value;
        }
        self.is_buffer_written = section.has("buffer");
        self.buffer = section.quantity_within("buffer", BUFFERS);
        (self.memory, self.is_sharing) = memory::Written::read(section);
        if let Some(classes) = section.integer("classes", 1..=Class::COUNT_MAX as u64) {
            self.class_count = classes.value as u8;
        }
        if let Some(processing) = section.quantity_within("processing", PROCESSING) {
            self.processing = processing.value;
        }
        if let Some(jitter) = section.quantity_within("processing_jitter", PROCESSING) {
            self.processing_jitter = jitter.value;
        }
        if let Some(frame) = section.quantity_within("control_frame", CONTROL_FRAMES) {
            self.control_frame = frame.value;
        }
        if let Some(release) = section.choice("release", &RELEASES) {
            self.release = release.value;
        }
        let names = [("per-egress", DrawsFrom::Egress), ("ns-3", DrawsFrom::Ns3)];
        if let Some(draws) = section.choice("draws", &names) {
            self.draws = draws.value;
        }
        self.fill_scheduler(section);
    }

    fn fill_scheduler(&mut self, section: &mut Section<'_>) {
        let names = [
            ("strict", Scheduler::Strict),
            ("weighted", Scheduler::Weighted([1; Class::COUNT_MAX])),
            ("random", Scheduler::Random),
            ("round-robin", Scheduler::RoundRobin { express: 0 }),
        ];
        if let Some(scheduler) = section.choice("scheduler", &names) {
            self.scheduler = scheduler.value;
        }
        if !matches!(self.scheduler, Scheduler::Weighted(_)) {
            if section.has("weights") {
                let name = names
                    .iter()
                    .find(|(_, scheduler)| *scheduler == self.scheduler);
                let name = name.map_or("strict", |(name, _)| name);
                section.set_context(format!(" with scheduler = {name:?}"));
            }
            return;
        }
        self.scheduler = Scheduler::Strict;
        let is_written = section.has("weights");
        let Some(At { value, place }) = section.list("weights") else {
            if !is_written {
                section.missing("weights", "[1, 2], one weight for each class");
            }
            return;
        };
        let count = value.len();
        let integer = |item: Item<'_>| item.integer(1..=u64::from(u16::MAX));
        let found: Vec<u16> = value
            .into_iter()
            .filter_map(integer)
            .map(|weight| weight.value as u16)
            .collect();
        if count != usize::from(self.class_count) {
            let problem = place.problem(format!("{count} weights stand here"));
            let expected = format!("one for each of the {} classes", self.class_count);
            section.report(problem.expected(expected));
            return;
        }
        let mut weights = [1; Class::COUNT_MAX];
        weights[..found.len()].copy_from_slice(&found);
        self.scheduler = Scheduler::Weighted(weights);
    }
}
