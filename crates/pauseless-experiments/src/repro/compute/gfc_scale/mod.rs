//! GFC, section 6.2.3: many random fat trees with failed links (Table 1, Figs. 16 to 19), whose runs are
//! made by the campaigns in `papers/gfc/`.
//!
//! Deadlocks are rare there: of thousands of networks with a cycle of buffers few deadlock, and
//! those in few of their repetitions. A quick run therefore looks at the networks that are the most
//! exposed ([`trees`]), a full one at all of them.

mod evolution;
mod exposure;
mod feedback;
mod servers;
pub(crate) mod trees;

pub use evolution::evolution;
pub use exposure::{exposure, overlap};
pub use feedback::{feedback, feedback_bins};
pub use servers::servers;
