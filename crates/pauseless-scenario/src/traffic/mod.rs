//! The sections `[[traffic]]`: flows that are made by a rule.
//!
//! A section and the seed decide its flows, and nothing else does: not the other sections, not
//! the order of the file, not where a distribution was read from. The resolved scenario therefore
//! has the sections, and not what they made.
//!
//! A kind of traffic is a file: the declaration of its keys, a [`Variant`] with its name, and what
//! [`TrafficKind`] asks for. [`kinds`] lists the variants. One of another crate implements
//! [`TrafficRule`] instead and is registered.

mod cdf;
mod closed_loop;
mod closing;
mod collective;
mod incast;
mod list;
mod make;
mod outside;
mod permutation;
mod poisson;
mod pool;
mod random;
mod scene;
mod sizes;

use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use pauseless_core::unit::Span;
use pauseless_fabric::topology::Topology;
use pauseless_sim::Config;
pub use pauseless_sim::config::Flow;

pub use super::flows::FlowName;
use super::flows::{Common, Limits, Terms};
pub use list::rows::{Row, Rows};
pub use list::{List, Listed, inline_rows};
pub(crate) use make::MadePlans;
pub use outside::{TrafficRule, register_traffic};
use pauseless_text::declare::{Choice, Declared, Info, Key, Variant, Written};
use pauseless_text::file::File;
use pauseless_text::reader::{Place, Section};
use pauseless_text::section;
pub use scene::{Batch, Link as Wait, Made, Pair, Scene};
pub use sizes::inline;

use sizes::ClassesBySize;

/// The name of the sections.
pub const SECTION: &str = "traffic";

/// What `[[traffic]]` of one `kind` makes. It is what the keys of that kind are read into.
pub trait TrafficKind: Any + fmt::Debug + Send + Sync {
    /// Fills in what was left out, reads files that are named, and checks what depends on several
    /// keys or on other sections; `None` if something was reported that leaves nothing to make.
    fn complete(&mut self, _limits: Limits<'_>) -> Option<()> {
        Some(())
    }

    /// All flows of a run; `None` if something was reported.
    fn flows(&self, scene: &Scene<'_>) -> Option<Batch>;

    /// One flow for every pair of hosts that may send to each other and every class that they may
    /// use, whatever the seed; `None` if something was reported.
    fn pairs(&self, scene: &Scene<'_>) -> Option<Batch>;

    /// What its flows are called.
    fn naming(&self) -> Naming {
        Naming::Section
    }

    /// What is legal and hardly meant.
    fn warning(&self, _topology: &Topology) -> Option<String> {
        None
    }

    /// Whether the instants of its flows are what it is about, so that `timing.start_jitter` is
    /// not for them.
    fn is_exact(&self) -> bool {
        false
    }

    /// Whether `stop` ends flows that are not finished. Where flows wait for others, nobody can
    /// know beforehand which of them would start after `stop`, so that it cuts them off.
    fn is_cut_off(&self) -> bool {
        true
    }
}

/// What the flows of a kind of traffic are called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Naming {
    /// All names begin with that of the section.
    Section,
    /// If the section has a name, all names begin with it; otherwise flows are called by their
    /// ends, as flows without a name are.
    EndsIfUnnamed,
    /// Some may have names of their own.
    Own,
}

/// A kind of traffic with its keys.
pub type AnyKind = Box<dyn TrafficKind>;

/// The kind of traffic called `name`, whose keys are those of `K`.
const fn kind<K: TrafficKind + Declared + Written>(name: &'static str) -> Variant<AnyKind> {
    Variant {
        name,
        info: K::info,
        read: |section| Some(Box::new(K::read(section))),
        keys_of: |kind| {
            let kind: &dyn Any = &**kind;
            Some(Box::new(kind.downcast_ref::<K>()?))
        },
    }
}

/// All kinds of traffic, in the order of the documents.
pub fn kinds() -> Choice<AnyKind> {
    Choice {
        key: "kind",
        default: None,
        variants: outside::OUTSIDE.with(&[
            &permutation::PERMUTATION,
            &closing::CLOSING,
            &poisson::POISSON,
            &incast::INCAST,
            &closed_loop::CLOSED_LOOP,
            &collective::ALL_TO_ALL,
            &collective::RING_ALL_REDUCE,
            &collective::TREE_ALL_REDUCE,
            &list::LIST,
        ]),
    }
}

section! {
    /// What a section is called.
    pub struct Named {
        /// What its flows are called after, unlike that of every other section; they are
        /// `NAME/SOURCE->TARGET#NUMBER`. Two sections of one kind need names.
        name: FlowName, derived "the kind";
    }
}

section! {
    /// Flows that are made by a rule, in addition to `[[flow]]`. A section and the seed decide its
    /// flows, whatever else is in the file; the resolved scenario has the sections, and not the
    /// flows. A single section may be written `[traffic]`.
    pub struct OfEachFlow {
        /// The keys that all kinds of flows have.
        common: Common, keys inline except size on off;
        /// The classes of flows below some sizes; with `[["10 KB", 3], ["100 KB", 2]]`, flows below
        /// 10 KB have class 3, others below 100 KB class 2.
        classes_by_size: ClassesBySize, default ClassesBySize::default();
    }
}

/// The whole section, for documents and schemas.
pub(crate) fn info() -> Info {
    Info {
        about: OfEachFlow::about(),
        keys: [Named::keys(), OfEachFlow::keys()].concat(),
        variants: Some(kinds().describe()),
    }
}

/// `[[traffic]]`, with nothing left out.
#[derive(Debug)]
pub struct Traffic {
    /// What its flows' names begin with.
    name: String,
    /// Where the name was written, if it was.
    name_place: Option<Place>,
    kind: AnyKind,
    keys: OfEachFlow,
    /// What the flows do, where the kind says nothing else.
    terms: Terms,
    place: Arc<Place>,
}

impl Traffic {
    /// Reads all sections. Two of one name are reported: a number that told them apart would
    /// depend on their order, or on each other.
    pub(crate) fn read_all(root: &mut Section<'_>, limits: Limits<'_>) -> Vec<Traffic> {
        let sections = root.tables_or_one(SECTION).into_iter();
        let traffic = sections.filter_map(|section| Traffic::read(section, limits));
        let mut named: BTreeMap<String, Traffic> = BTreeMap::new();
        for one in traffic {
            if named.contains_key(&one.name) {
                let place = one.name_place.as_ref().unwrap_or(&one.place);
                let problem = place.problem(format!("two [[traffic]] are called {:?}", one.name));
                root.report(problem.help("give each a name of its own"));
                continue;
            }
            named.insert(one.name.clone(), one);
        }
        named.into_values().collect()
    }

    fn read(mut section: Section<'_>, limits: Limits<'_>) -> Option<Traffic> {
        let variant = kinds().take(&mut section)?.value;
        let named = Named::read(&mut section);
        let mut keys = OfEachFlow::read(&mut section);
        let kind = (variant.read)(&mut section);
        let place = Arc::new(section.place.clone());
        section.finish();
        keys.common.complete(limits);
        keys.classes_by_size.value.complete(limits);
        let mut kind = kind?;
        kind.complete(limits)?;
        let name = named.name.get().map(|name| name.0.clone());
        Some(Traffic {
            name: name.unwrap_or_else(|| variant.name.to_string()),
            name_place: named.name.place().cloned(),
            kind,
            terms: keys.common.terms(),
            keys,
            place,
        })
    }

    /// Writes the section with every key.
    pub(crate) fn write(&self, file: &mut File) {
        let name = Named { name: Key::of(FlowName(self.name.clone())), ..Named::default() };
        let mut entries = kinds().entries(&self.kind);
        if self.is_prefixed() {
            entries.splice(0..0, name.entries());
        }
        file.one_of(SECTION, &(entries, &self.keys));
    }

    /// Whether its flows are named after it.
    fn is_prefixed(&self) -> bool {
        self.name_place.is_some() || self.kind.naming() != Naming::EndsIfUnnamed
    }

    /// What is legal and hardly meant.
    pub(crate) fn warnings(&self, config: &Config) -> impl Iterator<Item = String> {
        let kind = self.kind.warning(&config.topology);
        let kind = kind.map(|warning| format!("traffic {}: {warning}", self.name));
        kind.into_iter().chain(self.idle(&config.flows))
    }

    /// What to say if none of `flows`, which are in order of name, is of this section.
    fn idle(&self, flows: &[Flow]) -> Option<String> {
        let prefix = format!("{}/", self.name);
        let place = flows.partition_point(|flow| flow.name < prefix);
        let has_flows = flows.get(place).is_some_and(|flow| flow.name.starts_with(&prefix));
        let has_own_names = self.kind.naming() == Naming::Own;
        let is_idle = self.is_prefixed() && !has_flows && !has_own_names;
        let name = &self.name;
        is_idle.then(|| format!("traffic {name}: no flow starts before the end of the run"))
    }

    /// When flows stop although they are not finished.
    fn cut(&self) -> Option<Span> {
        self.terms.stop.filter(|_| self.kind.is_cut_off())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pauseless_text::declare::KeyInfo;

    #[test]
    fn every_kind_describes_its_own_keys() {
        let names = |keys: &[KeyInfo]| Vec::from_iter(keys.iter().map(|key| key.name)).join(" ");
        let info = info();
        let shared = "name rate initial_rate packet start stop class label ttl \
                      congestion_control classes_by_size";
        assert_eq!(names(&info.keys), shared);
        let kinds = info.variants.expect("a kind").list;
        let kinds = kinds.iter();
        let kinds = kinds.map(|(name, info)| format!("{name}: {}", names(&info.keys)));
        let expected = [
            "permutation: size",
            "closing: size prefix",
            "poisson: load sources targets other_rack arrivals fan_in size sizes cdf",
            "incast: degree sources target targets other_rack interval jitter repeat size sizes cdf",
            "closed-loop: sources targets other_rack think parallel size sizes cdf",
            "all-to-all: hosts size rounds repeat gap",
            "ring-all-reduce: hosts size repeat gap",
            "tree-all-reduce: hosts size chunks repeat gap",
            "list: size rows file",
        ];
        assert_eq!(Vec::from_iter(kinds), expected);
    }
}
