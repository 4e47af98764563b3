//! The section `[entropy]`: how sources spread the packets of a flow over several paths.

use std::ops::RangeInclusive;

use pauseless_core::congestion::CongestionControl;
use pauseless_core::entropy::{EntropyConfig, EntropyKind};
use pauseless_core::transport::Transport;
use pauseless_core::unit::Span;
use pauseless_sim::Config;

use super::congestion;
use super::transport::{Conflict, Keys as TransportKeys};
use pauseless_text::declare::{Declared, Filled, Info, Words};
use pauseless_text::file::File;
use pauseless_text::reader::Section;
use pauseless_text::section;

/// The name of the section.
pub(crate) const SECTION: &str = "entropy";
const SPANS: RangeInclusive<Span> = Span::ns(1)..=Span::s(10);
const VALUES: RangeInclusive<u64> = 1..=EntropyConfig::VALUES_MAX as u64;

section! {
    /// What switches hash beside the flow, so that sources spread its packets over equal paths; without
    /// this section a flow takes one path.
    pub struct Keys {
        /// How a source chooses: see [entropy.md](entropy.md). `"flow"`: one path for all packets.
        /// `"oblivious"`: all values in turn. `"bitmap"`: the same without those that were marked or lost.
        /// `"reps"`: those that came back unmarked again, else random ones. `"mixed"`: those that came
        /// back unmarked again, else as `"bitmap"`.
        kind: EntropyKind, default EntropyConfig::default().kind;
        /// How many values there are, a power of two: so many paths at most.
        values: u16, within VALUES, default EntropyConfig::default().values, when Keys::is_spraying;
        /// With `"reps"`: how many values that came back are remembered.
        ring: u16, within 1..=1_024, default EntropyConfig::default().ring, when Keys::is_reps;
        /// With `"reps"`: how long after a timeout only remembered values are used, in a circle.
        freeze: Span, within SPANS, default EntropyConfig::default().freeze, when Keys::is_reps;
        /// With `"reps"`: how many packets take random values after that.
        explore: u16, within 0..=10_000, default EntropyConfig::default().explore, when Keys::is_reps;
    }
}

/// The section, for documents and schemas.
pub(crate) fn info() -> Info {
    Keys::info()
}

/// What is to be said of entropies where no switch has a choice.
pub(crate) fn warning(config: &Config) -> Option<String> {
    if !config.transport.entropy.is_spraying() {
        return None;
    }
    let mut groups = Vec::from_iter(config.flows.iter().map(|flow| flow.group));
    groups.sort_unstable();
    groups.dedup();
    let switches = config.topology.switches();
    let is_chosen = groups.into_iter().any(|group| {
        switches.iter().any(|switch| config.table.next_hops(*switch, group).len() > 1)
    });
    (!is_chosen).then(|| {
        "[entropy] changes nothing: every switch has one next hop for each target; write routing.kind = \
         \"ecmp\""
            .to_string()
    })
}

impl Keys {
    fn is_spraying(&self) -> bool {
        self.kind.value != EntropyKind::Flow
    }

    fn is_reps(&self) -> bool {
        self.kind.value == EntropyKind::Reps
    }

    fn config(&self) -> EntropyConfig {
        EntropyConfig {
            kind: self.kind.value,
            values: self.values.value,
            ring: self.ring.value,
            freeze: self.freeze.value,
            explore: self.explore.value,
            ..EntropyConfig::default()
        }
    }

    /// Reads `[entropy]` behind `[transport]`, and refuses what cannot work together.
    pub(crate) fn read_with(
        root: &mut Section<'_>,
        transport: &TransportKeys,
        congestion: &mut congestion::Written,
    ) -> Keys {
        let Some(mut section) = root.table(SECTION) else {
            return Keys::default();
        };
        let mut keys = Keys::read(&mut section);
        if !keys.is_reps() {
            section.set_context(format!(" with kind = {:?}", keys.kind.value.word()));
        }
        if !keys.values.value.is_power_of_two() {
            let place = keys.values.place.as_ref().unwrap_or(&section.place);
            let near = keys.values.value.next_power_of_two();
            let problem = place.problem("the number of values is no power of two");
            section.report(problem.help(format!("write values = {near}")));
            keys.values = Filled::new(EntropyConfig::default().values);
        }
        keys.refuse_reordering(&section, transport, &congestion.control);
        keys.need_acknowledgements(&section, congestion);
        section.finish();
        keys
    }

    /// Refuses several paths for what needs one, unless that is wanted.
    fn refuse_reordering(
        &self,
        section: &Section<'_>,
        transport: &TransportKeys,
        control: &CongestionControl,
    ) {
        if self.is_spraying()
            && let Some(Conflict { why, help }) = transport.conflict(control)
        {
            let problem =
                section.place.problem(format!("packets of a flow take several paths, {why}"));
            section.report(problem.help(help));
        }
    }

    /// Makes targets acknowledge every packet if the scheme learns from that.
    fn need_acknowledgements(&self, section: &Section<'_>, congestion: &mut congestion::Written) {
        let kind = self.kind.value;
        if !kind.needs_acknowledgements() || congestion.ack_every > 0 {
            return;
        }
        if congestion.is_ack_written {
            let problem = section.place.problem(format!(
                "kind = {:?} learns from acknowledgements, but congestion_control.ack_every = 0",
                kind.word()
            ));
            section.report(problem.help("take ack_every out, or write at least 1"));
        }
        congestion.ack_every = 1;
    }

    /// Sets what the simulator takes.
    pub(crate) fn apply(&self, transport: &mut Transport) {
        transport.entropy = self.config();
    }

    /// Writes the section with nothing left out, unless all of it is the default.
    pub(crate) fn write(&self, file: &mut File) {
        if self.is_spraying() {
            file.table(SECTION, self);
        }
    }
}
