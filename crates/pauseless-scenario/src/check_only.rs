//! What a file can say of a fabric that only `check` looks at.

use pauseless_fabric::dependency::Traffic;

use super::lanes::{Lanes, Lossy, Packets};
use super::routing::Addresses;
use super::topology::BuiltTopology;
use pauseless_fabric::fabric::Medium;
use pauseless_text::declare::{At, Declared, LongList, Section, Tables};
use pauseless_text::problem::Sink;
use pauseless_text::section;

section! {
    /// The keys and sections that a run has no use for.
    pub struct CheckKeys {
        /// What a class is called in reports; a priority, or with `"infiniband"` a virtual lane.
        medium: Medium, default Medium::Ethernet, written if_changed;
        /// What the reader of a verdict should know about where the file comes from.
        notes: LongList<String>, within "a list of strings", default LongList(Vec::new()),
            written if_changed;
        /// Which packets there are, in a file without flows.
        lanes: Lanes, derived "every host sends to every other one in class 0";
        /// Buffers that drop rather than make anybody wait.
        lossy: Tables<Lossy>, derived "none";
    }
}

/// The keys, held against the fabric.
#[derive(Clone, Debug)]
pub struct CheckOnly {
    pub medium: Medium,
    pub notes: Vec<String>,
    pub packets: Option<At<Packets>>,
    pub lossy: Vec<Lossy>,
}

impl CheckOnly {
    pub(crate) fn read(
        root: &mut Section<'_>,
        fabric: Option<&BuiltTopology>,
        sink: &Sink,
    ) -> CheckOnly {
        let keys = CheckKeys::read(root);
        let topology = fabric.map(|fabric| &fabric.topology);
        let packets = keys.lanes.given.and_then(|At { value: lanes, place }| {
            let value = lanes.packets(topology, sink)?;
            Some(At { value, place })
        });
        let notes = keys.notes.value.0.into_iter();
        CheckOnly {
            medium: keys.medium.value,
            notes: notes.map(|note| note.value).collect(),
            packets,
            lossy: keys.lossy.given.map_or(Vec::new(), |lossy| lossy.value.0),
        }
    }

    /// Reports what would change a run if the simulator knew it.
    pub(crate) fn refuse_run(&self, sink: &Sink) {
        if let Some(packets) = &self.packets {
            let message = "a run takes classes from its flows";
            sink.push(packets.place.problem(message).expected("no [lanes]").help(CHECK_READS));
        }
        if let Some(lossy) = self.lossy.first() {
            let message = "a run takes what is lossless from its flow control";
            sink.push(lossy.place.problem(message).expected("no [[lossy]]").help(CHECK_READS));
        }
    }

    /// The packets of a fabric; `None` where nothing is said of them.
    pub(crate) fn traffic(&self, fabric: &BuiltTopology, addresses: &Addresses) -> Option<Traffic> {
        Some(self.packets.as_ref()?.value.resolve(&fabric.topology, addresses))
    }
}

const CHECK_READS: &str = "only pauseless check knows it so far";
