//! The words that files have for the choices of the engine. They stand here because a trait of this
//! crate can be implemented for types of the core only here.

use pauseless_core::class_map::{self, Beyond};
use pauseless_core::congestion::dcqcn::{Clamp, CnpCheck, Style};
use pauseless_core::congestion::marking::MarkAt;
use pauseless_core::congestion::timely::Update;
use pauseless_core::entropy::EntropyKind;
use pauseless_core::flow_control::cbfc::Counters;
use pauseless_core::flow_control::gfc::Measure;
use pauseless_core::id::Class;
use pauseless_core::schedule::Scheduler;
use pauseless_core::switch::Discipline;
use pauseless_core::switch::watchdog::Action;
use pauseless_core::transport::{Finish, GoBackN, Pacing, Receiver, Recovery};
use pauseless_fabric::fabric::Medium;
use pauseless_fabric::topology::NodeKind;
use pauseless_wire::Envelope;

use crate::words;

/// Weighted round robin before its weights are read.
pub const WEIGHTED: Scheduler = Scheduler::Weighted([1; Class::COUNT_MAX]);

words!(Discipline, Discipline::ALL.map(|discipline| (discipline.name(), discipline)));
words! {
    Scheduler {
        "strict" => Scheduler::Strict,
        "weighted" => WEIGHTED,
        "random" => Scheduler::Random,
        "round-robin" => Scheduler::RoundRobin { express: 0 },
    }
}
words!(Action, Action::ALL.map(|action| (action.name(), action)));
words! { Beyond { "drop" => Beyond::Drop, "stay" => Beyond::Stay } }
words! { class_map::Key { "label" => class_map::Key::Label, "class" => class_map::Key::Class } }
words! { Measure { "message" => Measure::Message, "credit" => Measure::Credit } }
words! { Counters { "wide" => Counters::Wide, "iba" => Counters::Iba } }
words! { Update { "per-ack" => Update::PerAck, "per-round-trip" => Update::PerRoundTrip } }
words! { Style { "paper" => Style::Paper, "nic" => Style::Nic } }
words! { CnpCheck { "on-mark" => CnpCheck::OnMark, "periodic" => CnpCheck::Periodic } }
words! { MarkAt { "departure" => MarkAt::Departure, "arrival" => MarkAt::Arrival } }
words! {
    Clamp {
        "always" => Clamp::Always,
        "after-stage" => Clamp::AfterStage,
        "after-byte-stage" => Clamp::AfterByteStage,
    }
}
words! { Finish { "target" => Finish::Target, "source" => Finish::Source } }
words! {
    Pacing {
        "catch-up" => Pacing::CatchUp,
        "strict" => Pacing::Strict,
        "own-pace" => Pacing::Pace,
    }
}
words! {
    Recovery {
        "none" => Recovery::None,
        "go-back-n" => Recovery::GoBackN(GoBackN::default()),
    }
}
words! {
    Receiver {
        "in-order" => Receiver::InOrder,
        "tolerant" => Receiver::Tolerant { bits: Receiver::BITS_MAX },
        "hold" => Receiver::Hold { bits: Receiver::BITS_MAX },
    }
}
words! {
    EntropyKind {
        "flow" => EntropyKind::Flow,
        "oblivious" => EntropyKind::Oblivious,
        "bitmap" => EntropyKind::Bitmap,
        "reps" => EntropyKind::Reps,
        "mixed" => EntropyKind::Mixed,
    }
}
words! { NodeKind { "switch" => NodeKind::Switch, "host" => NodeKind::Host } }
words! { Medium, [Medium::Ethernet, Medium::InfiniBand].map(|medium| (medium.name(), medium)) }
words! {
    Envelope { "mac-control" => Envelope::MacControl, "private" => Envelope::Private }
}
