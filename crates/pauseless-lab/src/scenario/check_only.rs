//! What a file can say of a fabric that only `check` looks at.

use pauseless_fabric::dependency::Traffic;

use super::lanes;
use super::reader::{At, Section};
use super::topology::Fabric;
use crate::fabric::Medium;
use crate::problem::Sink;

/// The keys and sections that a run has no use for.
#[derive(Clone, Debug)]
pub(crate) struct CheckOnly {
    pub medium: Medium,
    pub notes: Vec<String>,
    pub lanes: Option<At<lanes::Written>>,
    pub lossy: Vec<lanes::WrittenLossy>,
}

impl CheckOnly {
    /// Reads them.
    pub(crate) fn read(root: &mut Section<'_>, fabric: Option<&Fabric>, sink: &Sink) -> CheckOnly {
        let media = [Medium::Ethernet, Medium::InfiniBand].map(|medium| (medium.name(), medium));
        let medium = root.choice("medium", &media);
        let notes = root.strings("notes").map_or(Vec::new(), |list| list.value);
        CheckOnly {
            medium: medium.map_or(Medium::Ethernet, |medium| medium.value),
            notes: notes.into_iter().map(|note| note.value).collect(),
            lanes: lanes::Written::read(root, fabric, sink),
            lossy: lanes::WrittenLossy::read_all(root),
        }
    }

    /// Reports what would change a run if the simulator knew it.
    pub(crate) fn refuse_run(&self, sink: &Sink) {
        if let Some(lanes) = &self.lanes {
            let message = "a run takes classes from its flows";
            let problem = lanes.place.problem(message).expected("no [lanes]");
            sink.push(problem.help(CHECK_READS));
        }
        if let Some(lossy) = self.lossy.first() {
            let message = "a run takes what is lossless from its flow control";
            let problem = lossy.place.problem(message).expected("no [[lossy]]");
            sink.push(problem.help(CHECK_READS));
        }
    }

    /// The packets of a fabric; `None` where nothing is said of them.
    pub(crate) fn traffic(
        &self,
        fabric: &Fabric,
        addresses: &super::routing::Addresses,
    ) -> Option<Traffic> {
        let lanes = self.lanes.as_ref()?;
        Some(lanes.value.resolve(&fabric.topology, addresses))
    }
}

const CHECK_READS: &str = "only pauseless check knows it so far";
