//! Where packets wait inside a switch, and who decides first.

/// Where packets wait inside the switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Discipline {
    /// One FIFO per egress and class, in order of arrival: the commodity shared-memory switch.
    OutputQueued,
    /// A FIFO per ingress, egress and class; each egress serves its ingresses round robin.
    VirtualOutputQueued,
    /// One FIFO per ingress and class, so that a blocked head blocks what is behind it; each egress
    /// serves round robin the ingresses whose head wants it. As in a crossbar, a FIFO sends one
    /// packet at a time: it shows the next one when the last bit of this one has left.
    InputQueued(Arbiter),
    /// A program on a server: FIFOs per ingress, one core that moves packets from them to rings per
    /// egress, and NICs that take bursts from the rings. See [`super::software`].
    Software,
}

/// What an egress of an input-queued switch can see when it becomes free. Packets of equal size end at
/// equal instants, so the order within an instant decides what is served.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Arbiter {
    /// An egress that becomes free decides at once, among the heads that could be seen before; then
    /// the FIFOs whose packets have left show their next ones, first to the egress that they have just
    /// served.
    #[default]
    EgressFirst,
    /// A FIFO shows its next packet to the egress that it has just served, which then decides; the
    /// other egresses see it after all that become free in this instant have decided.
    FifoFirst,
    /// All FIFOs whose packets have left in an instant show their next ones, then all free egresses
    /// decide, as in a crossbar with time slots.
    Slotted,
}

/// The FIFOs that packets wait in, without the arbiter: what the packet path asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fifos {
    /// There is one per egress.
    Egress,
    /// There is one per pair of ports.
    Pair,
    /// There is one per ingress, and a crossbar behind them.
    Ingress,
    /// There is one per ingress, and a ring per egress behind them.
    Software,
}

impl Discipline {
    /// Input queues whose egresses decide at once.
    pub const INPUT_QUEUED: Discipline = Discipline::InputQueued(Arbiter::EgressFirst);

    /// The three places where packets can wait in a switch chip, with the usual arbiter.
    pub const COMMON: [Discipline; 3] =
        [Discipline::OutputQueued, Discipline::VirtualOutputQueued, Discipline::INPUT_QUEUED];

    /// Every discipline, in the order of the documentation.
    pub const ALL: [Discipline; 6] = [
        Discipline::OutputQueued,
        Discipline::VirtualOutputQueued,
        Discipline::INPUT_QUEUED,
        Discipline::InputQueued(Arbiter::FifoFirst),
        Discipline::InputQueued(Arbiter::Slotted),
        Discipline::Software,
    ];

    /// The name in scenario files and reports.
    pub fn name(self) -> &'static str {
        match self {
            Discipline::OutputQueued => "output-queued",
            Discipline::VirtualOutputQueued => "virtual-output-queued",
            Discipline::InputQueued(Arbiter::EgressFirst) => "input-queued",
            Discipline::InputQueued(Arbiter::FifoFirst) => "input-queued-fifo-first",
            Discipline::InputQueued(Arbiter::Slotted) => "input-queued-slotted",
            Discipline::Software => "software",
        }
    }

    /// Whether a blocked head blocks what is behind it for other egresses.
    pub fn blocks_heads(self) -> bool {
        matches!(self, Discipline::InputQueued(_) | Discipline::Software)
    }

    pub(super) fn fifos(self) -> Fifos {
        match self {
            Discipline::OutputQueued => Fifos::Egress,
            Discipline::VirtualOutputQueued => Fifos::Pair,
            Discipline::InputQueued(_) => Fifos::Ingress,
            Discipline::Software => Fifos::Software,
        }
    }
}
