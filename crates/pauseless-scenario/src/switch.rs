//! The section `[switch]`: queues, buffers, classes and delays of every switch.

use std::ops::RangeInclusive;

use pauseless_core::flow_control::Control;
use pauseless_core::id::Class;
use pauseless_core::schedule::Scheduler;
use pauseless_core::switch::Discipline;
use pauseless_core::switch::software::Polling;
use pauseless_core::unit::{Bytes, Span};

use super::memory::{Memory, SharedMemory};
use pauseless_text::declare::WEIGHTED;
use pauseless_text::declare::{Counted, Declared, Filled, Info, Key, Words};
use pauseless_text::reader::Section;
use pauseless_text::section;

/// The name of the section.
pub const SECTION: &str = "switch";
/// A switch counts the bytes between two of its ports in 32 bits.
pub(crate) const BUFFERS: RangeInclusive<Bytes> = Bytes::new(64)..=Bytes::mb(4_000);
/// The time to act on a message; the longest is more than any switch needs, and no sum overflows.
pub(crate) const PROCESSING: RangeInclusive<Span> = Span::ZERO..=Span::s(1);

/// From nothing, which is beside the wire, to a full frame.
const CONTROL_FRAMES: RangeInclusive<Bytes> = Bytes::ZERO..=Bytes::new(1_500);

section! {
    /// How every switch works.
    pub struct Switch {
        /// The queues in which packets wait inside a switch.
        discipline: Discipline, default Discipline::OutputQueued;
        /// In software: the most packets that are moved at a time, by the forwarding core and to a NIC.
        burst: u16, within 1..=1_024, default Polling::USUAL.burst, when |keys| keys.is_software();
        /// In software: the packets that the ring of an egress has room for.
        ring: u16, within 1..=u64::from(u16::MAX), default Polling::USUAL.ring,
            when |keys| keys.is_software();
        /// In software: the time that the forwarding core takes to look at a ring; up to half of it is
        /// added at random.
        visit: Span, within Span::ns(1)..=Span::ms(1), default Polling::USUAL.visit,
            when |keys| keys.is_software();
        /// In software: the time that it takes longer for every packet that is moved.
        per_packet: Span, within Span::ZERO..=Span::ms(1), default Polling::USUAL.per_packet,
            when |keys| keys.is_software();
        /// The physical buffer of each ingress port and class. With `[switch.memory]` that of hosts,
        /// by default 1 MB and their headroom.
        buffer: Bytes, within BUFFERS, derived "required; `\"1 MB\"` without flow control";
        /// How many traffic classes there are.
        classes: u8, within 1..=Class::COUNT_MAX as u64, default 1;
        /// How an egress chooses between classes; `"strict"`, the highest first, `"weighted"`,
        /// `"round-robin"`, one frame of each in turn (a class of its own for answers goes first), or
        /// `"random"`, any that may send with the same probability, and where it serves ingresses in
        /// turn any of those, too.
        scheduler: Scheduler, default Scheduler::Strict;
        /// With `"weighted"`: one for each class, such as `[1, 2, 5]`.
        weights: Counted<u16>, within 1..=u64::from(u16::MAX),
            required "[1, 2], one weight for each class",
            when |keys| keys.scheduler.value == WEIGHTED;
        /// t_r, from the arrival of a control frame to its effect.
        processing: Span, within PROCESSING, default Span::us(3), source "gfc19 5.4";
        /// Up to this much is added to `processing`, at random for each control frame.
        processing_jitter: Span, within PROCESSING, default Span::ZERO;
        /// Frame bytes of a PAUSE, credit or GFC message on the wire. Bounds are derived for 64 B. With
        /// `"0 B"` it travels beside the wire, takes no place on it and waits for nothing.
        control_frame: Bytes, within CONTROL_FRAMES, default Control::SIZE, written if_changed;
        /// How the ports of each switch share its packet memory; [buffers.md](buffers.md) says how it
        /// works.
        memory: Memory;
    }
}

/// The section, for documents and schemas.
pub(crate) fn info() -> Info {
    Switch::info()
}

/// How every switch works.
#[derive(Clone, Debug)]
pub struct Switches {
    pub(crate) discipline: Discipline,
    pub(crate) polling: Polling,
    pub(crate) scheduler: Scheduler,
    /// The buffer of every (ingress port, class), where it was written.
    pub buffer: Key<Bytes>,
    /// The number of classes that data can travel in.
    pub class_count: u8,
    /// Whether there is one more, for what sources are told.
    pub has_feedback_class: bool,
    pub(crate) processing: Span,
    pub(crate) processing_jitter: Span,
    /// Frame bytes of a control frame.
    pub control_frame: Bytes,
    /// How ports share their memory, if they do; then `buffer` is that of hosts.
    pub memory: Option<SharedMemory>,
    /// Whether they are to, be it written well or not.
    pub is_sharing: bool,
}

impl Switches {
    pub(crate) fn read(root: &mut Section<'_>) -> Switches {
        let Some(mut section) = root.table(SECTION) else {
            return Switches::new(Switch::default(), Scheduler::Strict);
        };
        let keys = Switch::read(&mut section);
        if keys.absent().iter().any(|key| section.has(key)) {
            let scheduler = keys.scheduler.value.word();
            let discipline = keys.discipline.value.word();
            section.set_context(if section.has("weights") {
                format!(" with scheduler = {scheduler:?}")
            } else {
                format!(" with discipline = {discipline:?}")
            });
        }
        let scheduler = keys.scheduler(&section);
        section.finish();
        Switches::new(keys, scheduler)
    }

    fn new(keys: Switch, scheduler: Scheduler) -> Switches {
        let memory = keys.memory.given.map(|memory| memory.value);
        let (memory, is_sharing) = match memory {
            None | Some(Memory::Private) => (None, false),
            Some(Memory::Shared(memory)) => (Some(*memory), true),
            Some(Memory::Refused) => (None, true),
        };
        Switches {
            discipline: keys.discipline.value,
            polling: Polling {
                burst: keys.burst.value,
                ring: keys.ring.value,
                visit: keys.visit.value,
                per_packet: keys.per_packet.value,
            },
            scheduler,
            buffer: keys.buffer,
            class_count: keys.classes.value,
            has_feedback_class: false,
            processing: keys.processing.value,
            processing_jitter: keys.processing_jitter.value,
            control_frame: keys.control_frame.value,
            memory,
            is_sharing,
        }
    }

    /// The number of all classes, that of feedback included.
    pub(crate) fn lane_count(&self) -> u8 {
        self.class_count + u8::from(self.has_feedback_class)
    }

    /// The section with nothing left out but the buffer and the memory.
    pub(crate) fn keys(&self) -> Switch {
        let (scheduler, weights) = match self.scheduler {
            Scheduler::Weighted(weights) => {
                let weights = weights.into_iter().take(self.class_count.into());
                (WEIGHTED, Key::of(Counted::of(weights)))
            }
            Scheduler::RoundRobin { .. } => (Scheduler::RoundRobin { express: 0 }, Key::default()),
            other => (other, Key::default()),
        };
        Switch {
            discipline: Filled::new(self.discipline),
            burst: Filled::new(self.polling.burst),
            ring: Filled::new(self.polling.ring),
            visit: Filled::new(self.polling.visit),
            per_packet: Filled::new(self.polling.per_packet),
            classes: Filled::new(self.class_count),
            scheduler: Filled::new(scheduler),
            weights,
            processing: Filled::new(self.processing),
            processing_jitter: Filled::new(self.processing_jitter),
            control_frame: Filled::new(self.control_frame),
            ..Switch::default()
        }
    }
}

impl Switch {
    fn is_software(&self) -> bool {
        self.discipline.value == Discipline::Software
    }

    /// The scheduler with its weights.
    fn scheduler(&self, section: &Section<'_>) -> Scheduler {
        if self.scheduler.value != WEIGHTED {
            return self.scheduler.value;
        }
        let Some(written) = &self.weights.given else {
            return Scheduler::Strict;
        };
        let (count, classes) = (written.value.count, self.classes.value);
        if count != usize::from(classes) {
            let problem = written.place.problem(format!("{count} weights stand here"));
            section.report(problem.expected(format!("one for each of the {classes} classes")));
            return Scheduler::Strict;
        }
        let mut weights = [1; Class::COUNT_MAX];
        for (weight, written) in weights.iter_mut().zip(&written.value.good) {
            *weight = written.value;
        }
        Scheduler::Weighted(weights)
    }
}
