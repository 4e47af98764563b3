//! The configuration of a node, validated by the code that builds it.

use pauseless_core::congestion::{AnyNotificationPoint, AnyReactionPoint};
use pauseless_core::host::Duty;
use pauseless_core::id::{Class, FlowId, PortId};
use pauseless_core::port::PortConfig;
use pauseless_core::switch::{SwitchConfig, watchdog};
use pauseless_core::unit::{Bytes, Rate, Span, Time};
use pauseless_wire::{Envelope, MacAddress};

/// What switches and hosts have in common.
#[derive(Clone, Debug)]
pub struct Common {
    /// The name of the node, for messages.
    pub name: String,
    /// The address of each port, the source of its control frames.
    pub addresses: Vec<MacAddress>,
    /// The name of the node at the far end of each port, for messages.
    pub neighbours: Vec<String>,
    /// How control frames are encapsulated.
    pub envelope: Envelope,
    /// How far behind the clock a port may be and still catch up by sending faster than its line.
    /// What a longer stall has cost is lost for good.
    pub slack: Span,
    /// The time between two samples of its ports and flows; [`Span::ZERO`] records nothing.
    pub resolution: Span,
}

/// A switch on real frames.
#[derive(Clone, Debug)]
pub struct SwitchNodeConfig {
    /// What every kind of node has: name, addresses, envelope.
    pub common: Common,
    /// The switch of the core.
    pub switch: SwitchConfig,
    /// The egress port of each destination address; frames to others are dropped and counted.
    pub forwarding: Vec<(MacAddress, PortId)>,
    /// The parameters of the watchdogs, if there are any.
    pub watchdog: Option<watchdog::Config>,
}

/// A host on real frames.
#[derive(Clone, Debug)]
pub struct HostNodeConfig {
    /// What every kind of node has: name, address, envelope.
    pub common: Common,
    /// The only port of the host.
    pub port: PortConfig,
    /// The flows that it sends.
    pub sends: Vec<SentFlow>,
    /// The flows that it receives.
    pub receives: Vec<ReceivedFlow>,
}

/// A flow at its source.
#[derive(Clone, Debug)]
pub struct SentFlow {
    /// The number of the flow, in the queue pair of its packets.
    pub flow: FlowId,
    /// The name of the flow, for reports.
    pub name: String,
    /// The destination address of its data.
    pub target: MacAddress,
    /// The class of its packets.
    pub class: Class,
    /// Frame bytes of a full packet, FCS included.
    pub packet: Bytes,
    /// The pace of the flow: frames start no closer together than this rate allows.
    pub pace: Rate,
    /// Frame bytes to be sent; [`Bytes::MAX`] for a flow without end.
    pub size: Bytes,
    /// When the flow starts.
    pub start: Time,
    /// When it stops although it is not finished.
    pub stop: Time,
    /// The on-off pattern of the application.
    pub duty: Duty,
    /// The congestion control's part at the source.
    pub control: AnyReactionPoint,
}

/// A flow at its target.
#[derive(Clone, Debug)]
pub struct ReceivedFlow {
    /// The number of the flow, in the queue pair of its packets.
    pub flow: FlowId,
    /// The name of the flow, for reports.
    pub name: String,
    /// The destination address of its data.
    pub address: MacAddress,
    /// The destination address of feedback to its source.
    pub answers_to: MacAddress,
    /// The class of that feedback.
    pub answer_class: Class,
    /// The congestion control's part at the target.
    pub point: AnyNotificationPoint,
}
