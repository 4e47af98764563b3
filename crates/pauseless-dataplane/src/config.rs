//! What a node needs to know, validated by whoever builds it.

use pauseless_core::congestion::{AnyNotificationPoint, AnyReactionPoint};
use pauseless_core::host::Duty;
use pauseless_core::id::{Class, FlowId, PortId};
use pauseless_core::port::PortConfig;
use pauseless_core::switch::{SwitchConfig, watchdog};
use pauseless_core::unit::{Bytes, Rate, Span, Time};
use pauseless_core::wire::{Envelope, MacAddress};

/// What switches and hosts have in common.
#[derive(Clone, Debug)]
pub struct Common {
    /// Its name, for messages.
    pub name: String,
    /// The address of each port, which its control frames come from.
    pub addresses: Vec<MacAddress>,
    /// The name of what is at the far end of each port, for messages.
    pub neighbours: Vec<String>,
    /// What control frames travel in.
    pub envelope: Envelope,
    /// How far behind the clock a port may be and still catch up, sending faster than its line until it
    /// has. A longer stall is line capacity that is lost for good.
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
    /// Where frames go, by their destination address; others are dropped and counted.
    pub forwarding: Vec<(MacAddress, PortId)>,
    /// Looks for pause storms.
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
    /// Its number, in the queue pair of its packets.
    pub flow: FlowId,
    /// Its name, for reports.
    pub name: String,
    /// Where its data goes.
    pub target: MacAddress,
    /// The class of its packets.
    pub class: Class,
    /// Frame bytes of a full packet, FCS included.
    pub packet: Bytes,
    /// Frames start no closer together than this allows.
    pub pace: Rate,
    /// Frame bytes to be sent; [`Bytes::MAX`] for a flow without end.
    pub size: Bytes,
    /// When the flow starts.
    pub start: Time,
    /// When it stops although it is not finished.
    pub stop: Time,
    /// When it is silent by itself.
    pub duty: Duty,
    /// What congestion control makes of it.
    pub control: AnyReactionPoint,
}

/// A flow at its target.
#[derive(Clone, Debug)]
pub struct ReceivedFlow {
    /// The number of the flow, in the queue pair of its packets.
    pub flow: FlowId,
    /// Its name, for reports.
    pub name: String,
    /// The address that its data comes to.
    pub address: MacAddress,
    /// Where answers to its source go.
    pub answers_to: MacAddress,
    /// The class of the answers.
    pub answer_class: Class,
    /// What congestion control makes of its packets.
    pub point: AnyNotificationPoint,
}
