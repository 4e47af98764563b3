//! Layered routing of our own as a proposal.

use pauseless_fabric::routing::Routes;

use super::{Proposal, Trial};

/// Routes with a layer, that is a service level, per address.
#[derive(Clone, Debug)]
pub struct Layered {
    /// The routes.
    pub routes: Routes,
    /// The layer of packets for each group of addresses.
    pub layer_of: Vec<u8>,
}

/// Not there yet.
pub(super) fn proposal(_: &Trial<'_>) -> Option<Proposal> {
    None
}
