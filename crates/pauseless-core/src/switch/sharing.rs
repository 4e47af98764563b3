//! A switch whose ports share their memory: the memory decides who is paused, PFC sends the frames.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::{Discipline, Sending, Switch, SwitchConfig};
use crate::flow_control::FlowControl;
use crate::id::{Class, PortId};
use crate::memory::{Memory, MemoryConfig};
use crate::port::Overrun;
use crate::unit::{Bytes, Time};

/// The shared memory, and the ports that it has resumed.
#[derive(Clone, Debug)]
pub(super) struct Sharing {
    memory: Memory,
    /// The ports that have a RESUME to send: one departure can resume several.
    resumed: Vec<PortId>,
}

impl Sharing {
    pub(super) fn new(config: &SwitchConfig) -> Option<Box<Sharing>> {
        let MemoryConfig::Shared(shared) = &config.memory else {
            return None;
        };
        // The detector does not count what a NIC has, which no PAUSE stops, as on its way to a memory.
        let is_software = config.discipline == Discipline::Software;
        assert!(!is_software, "the ports of a software switch share no memory");
        let lanes = config.ports.iter().flat_map(|port| &port.lanes);
        let mut count = 0;
        for lane in lanes {
            let is_ours = match &lane.ingress {
                FlowControl::None => true,
                FlowControl::Pfc(pfc) => pfc.is_commanded(),
                _ => false,
            };
            assert!(is_ours, "shared memory is for PFC that it commands");
            count += 1;
        }
        assert_eq!(shared.lanes.len(), count, "one element per port and class");
        let memory = Memory::new(shared);
        let resumed = Vec::with_capacity(config.ports.len());
        Some(Box::new(Sharing { memory, resumed }))
    }

    /// Whether a port has a RESUME to send.
    #[inline]
    pub(super) fn has_resumed(&self) -> bool {
        !self.resumed.is_empty()
    }

    pub(super) fn poll_resumed(&mut self) -> Option<PortId> {
        self.resumed.pop()
    }
}

impl<P: Copy> Switch<P> {
    /// The memory, if the ports share it.
    #[inline]
    pub fn memory(&self) -> Option<&Memory> {
        self.sharing.as_ref().map(|sharing| &sharing.memory)
    }

    /// Counts an arriving packet, or refuses it; pauses its sender if that is due.
    pub(super) fn charge_memory(
        &mut self,
        now: Time,
        ingress: PortId,
        class: Class,
        charge: Bytes,
    ) -> Result<(), Overrun> {
        let sharing = self.sharing.as_mut().expect("only called if ports share their memory");
        if sharing.memory.charge(ingress, class, charge)? {
            let port = &mut self.ports[ingress.index()].port;
            port.set_pausing(now, class, true);
        }
        Ok(())
    }

    /// Counts a departing packet, and resumes the senders that may send again.
    pub(super) fn free_memory(&mut self, now: Time, ingress: PortId, class: Class, charge: Bytes) {
        let sharing = self.sharing.as_mut().expect("only called if ports share their memory");
        sharing.memory.release(ingress, class, charge);
        while let Some((ingress, class)) = sharing.memory.next_resumed() {
            let state = &mut self.ports[ingress.index()];
            state.port.set_pausing(now, class, false);
            // A port that is sending is polled when its frame has left, unless its messages do not
            // need the wire.
            let is_free = matches!(state.sending, Sending::Nothing) || state.port.is_out_of_band();
            if is_free && !sharing.resumed.contains(&ingress) {
                sharing.resumed.push(ingress);
            }
        }
    }

    /// Whether the memory keeps (`ingress`, `class`) paused for ever if the queues in `stuck` never
    /// send again, all others drain, and `in_flight` more bytes are on their way to it.
    pub fn keeps_paused(
        &self,
        ingress: PortId,
        class: Class,
        in_flight: Bytes,
        stuck: impl Fn(PortId, Class) -> bool,
    ) -> bool {
        let memory = self.memory().expect("only called if ports share their memory");
        let kept = |ingress, class| self.kept(ingress, class, &stuck);
        memory.keeps_paused(ingress, class, in_flight, kept)
    }
}
