//! The section `[switch.memory]`: how the ports of a switch share its packet memory.

mod share;

use std::ops::RangeInclusive;

use pauseless_core::flow_control::FlowControl;
use pauseless_core::memory::{Alpha, LaneMemory, Threshold};
use pauseless_core::unit::Bytes;
use pauseless_fabric::topology::Topology;

use super::pattern::ClassNumber;
use super::port_group::PortGroup;
use super::switch::BUFFERS;
use pauseless_text::declare::{
    self, Choice, Declared, Entry, Fallback, FileValue, Filled, Info, Key, KeyInfo, List, Node,
    Overlay, Table, Variant, Written, list,
};
use pauseless_text::file::quote;
use pauseless_text::reader::{At, Item, Section};
use pauseless_text::unit::Quantity;
use pauseless_text::{section, words};

pub(crate) use share::Share;

/// Offsets may be nothing, unlike buffers.
const PARTS: RangeInclusive<Bytes> = Bytes::ZERO..=*BUFFERS.end();
/// The name of the sections in it for some ports.
const AT: &str = "at";

/// Whether dedicated memory is that of an (ingress, class) or of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Each ingress port and class has a reserve of its own.
    Shared,
    /// Each class has memory of its own.
    Partitions,
}

/// Which queues share one pool of headroom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pool {
    Class,
    Port,
    Switch,
}

/// For whom reserve and headroom are taken from the total.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetAside {
    /// Each class of a port takes its own part.
    PerClass,
    /// A port takes it once, and each of its classes is promised the same bytes.
    PerPort,
}

words! { Pool { "class" => Pool::Class, "port" => Pool::Port, "switch" => Pool::Switch } }
words! { SetAside { "per-class" => SetAside::PerClass, "per-port" => SetAside::PerPort } }

section! {
    /// The memory of a switch as a whole.
    pub struct SwitchMemory given kind: Kind = Kind::Shared, {
        /// The whole memory of each switch. What is not kept for somebody is the pool that all share.
        total: Bytes, within BUFFERS, required "\"12 MB\"";
        /// What each class has of its own in the whole switch; one size for all, or a list with one for
        /// each.
        partitions: Sizes, derived "one MTU for each port",
            when |keys| keys.kind == Kind::Partitions;
        /// Who shares headroom; nobody, the classes of a `"port"`, or all ports of the `"switch"`.
        headroom_pool: Pool, default Pool::Class;
        /// With `"port"` and `"switch"`: what they have together. Less than all may need at once is an
        /// error, or a warning with `unsafe_parameters`.
        headroom_total: Bytes, within BUFFERS, derived "enough for all of them",
            when |keys| keys.headroom_pool.value != Pool::Class;
        /// Whether reserve and headroom are taken from `total` for each class of a port, or
        /// `"per-port"`, once for all of them, as in public simulators, which promise the same bytes to
        /// several classes.
        set_aside: SetAside, default SetAside::PerClass, written if_changed;
    }
}

section! {
    /// What one ingress port and class may have.
    pub struct Lane given kind: Kind = Kind::Shared, {
        /// What each ingress port and class has of its own.
        reserve: Bytes, within PARTS, derived "one MTU", when |keys| keys.kind == Kind::Shared;
        /// A sender is paused when its port and class have this many times what is free of the pool;
        /// with `"partitions"` by equation 16 of the TTL note. A text, `"1/8"`, or a number; 1/1024 to
        /// 1024.
        alpha: Alpha, derived "`\"1/8\"`";
        /// Instead of `alpha`: paused at this many bytes of the pool.
        threshold: Bytes, within BUFFERS, derived "none", when |keys| keys.kind == Kind::Shared;
        /// The most that a port and class may have in headroom; less than the default is an error, or
        /// a warning with `unsafe_parameters`.
        headroom: Bytes, within PARTS, derived "C tau + MTU + 64 B per class";
        /// A sender goes on this far below the threshold, when its headroom is empty.
        resume_offset: Bytes, within PARTS, derived "2 MTU";
    }
}

section! {
    /// Other values at some ports; later ones win.
    pub struct LanePorts {
        /// Port names, in which `*` stands for any text.
        ports: List<String>, within "a list of strings", required "[\"S1:H1\"]";
        /// The classes that the values are for.
        classes: List<ClassNumber>, derived "all";
    }
}

/// `[switch.memory]` as it was written.
#[derive(Clone, Debug)]
pub enum Memory {
    /// Every port has a buffer of its own.
    Private,
    /// All ports of a switch share one memory.
    Shared(Box<SharedMemory>),
    /// It is to be shared, but how is written wrongly, which was reported.
    Refused,
}

/// A memory that ports share.
#[derive(Clone, Debug)]
pub struct SharedMemory {
    /// The memory of a switch as a whole.
    pub whole: SwitchMemory,
    /// The size of the whole memory, and its place in the file.
    pub total: At<Bytes>,
    /// What every ingress port and class has.
    pub lane: Lane,
    /// What `[[switch.memory.at]]` says of some ports, in the order of the file.
    pub others: Vec<LaneAt>,
}

/// `[[switch.memory.at]]` as it was written.
#[derive(Clone, Debug)]
pub struct LaneAt {
    /// The ports and classes that it is about.
    pub at: LanePorts,
    /// What each of these ports and classes has.
    pub lane: Lane,
}

/// Where the threshold of a sender is.
#[derive(Clone, Copy, Debug)]
enum Limit {
    Alpha(Alpha),
    Static(Bytes),
}

static PRIVATE: Variant<Memory> = Variant {
    name: "private",
    info: || Info::without_keys("Every ingress port and class has its `switch.buffer`."),
    read: |_| Some(Memory::Private),
    keys_of: |_| None,
};

static SHARED: Variant<Memory> = Variant {
    name: "shared",
    info: || SharedMemory::info(Kind::Shared, "All ports share one pool, beyond their reserves."),
    read: |section| SharedMemory::read(section, Kind::Shared),
    keys_of: |memory| memory.keys_of(Kind::Shared),
};

static PARTITIONS: Variant<Memory> = Variant {
    name: "partitions",
    info: || SharedMemory::info(Kind::Partitions, "Each class has memory of its own, and a pool."),
    read: |section| SharedMemory::read(section, Kind::Partitions),
    keys_of: |memory| memory.keys_of(Kind::Partitions),
};

pub(crate) fn kinds() -> Choice<Memory> {
    Choice { key: "kind", default: None, variants: vec![&PRIVATE, &SHARED, &PARTITIONS] }
}

impl Memory {
    fn keys_of(&self, kind: Kind) -> Option<Box<dyn Written>> {
        match self {
            Memory::Shared(memory) if memory.lane.kind == kind => Some(memory.clone()),
            _ => None,
        }
    }
}

impl FileValue for Memory {
    type Limit = ();
    const IS_SECTION: bool = true;

    fn take(item: Item<'_>, (): &()) -> Option<At<Memory>> {
        let place = item.place.clone();
        let mut section = item.table()?;
        let kind = kinds().take(&mut section);
        let value = kind.and_then(|kind| (kind.value.read)(&mut section));
        section.finish();
        let value = value.unwrap_or(Memory::Refused);
        Some(At { value, place })
    }

    fn kind((): &()) -> declare::Kind {
        declare::Kind::Table(Box::new(Info {
            variants: Some(kinds().describe()),
            ..Info::without_keys("How the ports of each switch share its packet memory.")
        }))
    }

    fn node(&self) -> Node {
        Node::Table(kinds().entries(self))
    }
}

impl SharedMemory {
    fn read(section: &mut Section<'_>, kind: Kind) -> Option<Memory> {
        let mut whole = SwitchMemory { kind, ..SwitchMemory::default() };
        whole.fill(section);
        let lane = Lane::read_as(kind, section);
        let mut others = Vec::new();
        for mut other in section.tables(AT) {
            others.push(LaneAt {
                at: LanePorts::read(&mut other),
                lane: Lane::read_as(kind, &mut other),
            });
            other.finish();
        }
        Some(Memory::Shared(Box::new(SharedMemory {
            total: whole.total.given.clone()?,
            whole,
            lane,
            others,
        })))
    }

    fn info(kind: Kind, about: &str) -> Info {
        // With this pool there are all keys that the kind can have.
        let whole = SwitchMemory {
            kind,
            headroom_pool: Filled::new(Pool::Switch),
            ..SwitchMemory::default()
        };
        let lane = Lane::of(kind).info_here();
        let at = LanePorts::info().with(lane.clone());
        let mut info = Info::without_keys(about).with(whole.info_here()).with(lane);
        info.keys.push(KeyInfo {
            name: AT,
            about: at.about.clone(),
            kind: declare::Kind::Tables(Box::new(at)),
            fallback: Fallback::Absent,
            source: "",
        });
        info
    }

    /// What the whole switch has.
    pub(crate) fn total(&self) -> Bytes {
        self.total.value
    }

    /// The section with nothing left out, if ports share their memory as `groups` say; `None` where
    /// none does.
    pub(crate) fn resolved(&self, groups: &[PortGroup], topology: &Topology) -> Option<Memory> {
        let groups = Vec::from_iter(groups.iter().filter_map(|group| Some((group, group.memory?))));
        let (base, lane) = groups.iter().max_by_key(|(group, _)| group.members.len())?;
        let is_lossless = base.ingress.control != FlowControl::None;
        let kind = self.lane.kind;
        let mut others = Vec::new();
        for (group, other) in groups.iter().filter(|(_, other)| other != lane) {
            for (classes, ports) in group.ports_by_classes(topology) {
                others.push(LaneAt {
                    at: LanePorts {
                        ports: Key::of(list(ports)),
                        classes: Key::of(list(classes)),
                        ..LanePorts::default()
                    },
                    lane: Lane::of_memory(kind, other, is_lossless),
                });
            }
        }
        Some(Memory::Shared(Box::new(SharedMemory {
            whole: self.whole.clone(),
            total: self.total.clone(),
            lane: Lane::of_memory(kind, lane, is_lossless),
            others,
        })))
    }
}

impl Written for SharedMemory {
    fn entries(&self) -> Vec<Entry> {
        let others = self.others.iter().map(|other| Table::of(&(&other.at, &other.lane)));
        let at = Entry::new(AT, Node::Tables(others.collect()));
        let mut entries = (&self.whole, &self.lane).entries();
        entries.push(at);
        entries
    }
}

impl Lane {
    fn of(kind: Kind) -> Lane {
        Lane { kind, ..Lane::default() }
    }

    fn read_as(kind: Kind, section: &mut Section<'_>) -> Lane {
        let mut lane = Lane::of(kind);
        lane.fill(section);
        if let (Some(_), Some(threshold)) = (&lane.alpha.given, lane.threshold.place()) {
            let problem = threshold.problem("alpha is written as well");
            section.report(problem.help("keep alpha for a threshold that moves, or threshold"));
            lane.alpha.given = None;
            lane.threshold.given = None;
        }
        lane
    }

    /// The keys that say what `memory` is; headroom makes sense only if senders can be paused.
    fn of_memory(kind: Kind, memory: &LaneMemory, is_lossless: bool) -> Lane {
        let mut lane = Lane {
            reserve: Key::of(memory.reserve),
            resume_offset: Key::of(memory.resume_offset),
            ..Lane::of(kind)
        };
        match memory.threshold {
            Threshold::Partition { alpha, .. } | Threshold::Dynamic(alpha) => {
                lane.alpha = Key::of(alpha);
            }
            Threshold::Static(bytes) => lane.threshold = Key::of(bytes),
        }
        if is_lossless {
            lane.headroom = Key::of(memory.headroom);
        }
        lane
    }

    fn limit(&self) -> Option<Limit> {
        self.alpha.copied().map(Limit::Alpha).or(self.threshold.copied().map(Limit::Static))
    }

    /// This lane, with what `base` says where nothing is written here.
    fn laid_over(&self, base: &Lane) -> Lane {
        let mut lane = self.over(base);
        if self.limit().is_some() {
            lane.alpha = self.alpha.clone();
            lane.threshold = self.threshold.clone();
        }
        lane
    }
}

/// One size for all classes, or one for each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sizes(pub Vec<Bytes>);

impl FileValue for Sizes {
    type Limit = ();

    fn take(item: Item<'_>, (): &()) -> Option<At<Sizes>> {
        let (place, sink) = (item.place.clone(), item.sink());
        let items = if item.is_list() { item.list("a list")?.value } else { vec![item] };
        let count = items.len();
        let sizes = items.into_iter().filter_map(Item::quantity::<Bytes>);
        let sizes = Vec::from_iter(sizes.map(|size| size.value));
        if sizes.len() < count {
            return None;
        }
        if sizes.is_empty() || sizes.iter().any(|size| !BUFFERS.contains(size)) {
            let (low, high) = (BUFFERS.start().exact(), BUFFERS.end().exact());
            let expected = format!("sizes from {low} to {high}, one for each class");
            sink.push(place.problem("out of range").expected(expected));
            return None;
        }
        let value = Sizes(sizes);
        Some(At { value, place })
    }

    fn kind((): &()) -> declare::Kind {
        let one = Bytes::kind(&BUFFERS.into());
        let list = declare::Kind::List { of: Box::new(one.clone()), least: 1, most: None };
        declare::Kind::Either(vec![one, list])
    }

    fn show(&self) -> String {
        let sizes = self.0.iter().map(|size| quote(&size.exact()));
        format!("[{}]", Vec::from_iter(sizes).join(", "))
    }
}
