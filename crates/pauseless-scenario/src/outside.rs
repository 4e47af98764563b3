//! Kinds that other crates bring: a congestion control, flow control, topology or kind of traffic.
//!
//! A program declares the keys of its kind with [`section!`](pauseless_text::section) and registers it before it
//! reads the first file. From then on `kind = "NAME"` is read with all its problems, written into the
//! resolved scenario, explained, documented, and part of the JSON Schema, as if it were built in. A name
//! that is built in cannot be registered.
//!
//! | kind of | the engine's part | the keys | registered with |
//! |---|---|---|---|
//! | `[congestion_control]` | [`CongestionScheme`] | a [`Variant`] of [`Chosen`] | [`OUTSIDE`], [`Registry::register`] |
//! | `[flow_control]` | [`FlowControlScheme`] | [`FlowControlKeys`] | [`register_flow_control`] |
//! | `[topology]` | [`Shape`] | a section `for` the shape | [`register_topology`] |
//! | `[[traffic]]` | none | [`TrafficRule`] | [`register_traffic`] |
//!
//! `tests/outside.rs` of `pauseless` has one of each. A topology as an example:
//!
//! ```
//! use pauseless_fabric::generate::{Numbers, Shape, Size, SizeError, Wiring};
//! use pauseless_scenario::outside::register_topology;
//! use pauseless_scenario::{Overrides, Scenario};
//!
//! /// Hosts on one switch.
//! #[derive(Clone, Debug, Default)]
//! struct Star {
//!     hosts: u32,
//! }
//!
//! impl Shape for Star {
//!     fn size(&self) -> Size {
//!         let hosts = self.hosts.into();
//!         Size { hosts, switches: 1, links: hosts, ports: hosts }
//!     }
//!
//!     fn check(&self) -> Result<(), SizeError> {
//!         Numbers("a star").within("hosts", self.hosts, 2..=128)
//!     }
//!
//!     fn draw(&self, wiring: &mut Wiring) {
//!         let switch = wiring.row(1, 1, |_| "S".to_string());
//!         wiring.attach_all(&switch, self.hosts);
//!     }
//! }
//!
//! pauseless_text::section! {
//!     /// Hosts `H0`.. on the switch `S`.
//!     struct StarKeys for Star = Star::default(), {
//!         /// How many hosts there are.
//!         hosts: u32, required "a whole number";
//!     }
//! }
//!
//! register_topology::<StarKeys>("star");
//! let text = r#"
//!     duration = "1 ms"
//!     topology = { kind = "star", hosts = 1, rate = "10 Gbps", delay = "1 us" }
//!     flow_control = { kind = "none" }
//!     traffic = { kind = "permutation" }
//! "#;
//! let refused = Scenario::parse("star.toml", text, &Overrides::default()).unwrap_err();
//! assert!(refused.to_string().contains("hosts of a star: 1 is not in the range from 2 to 128"));
//! let good = text.replace("hosts = 1", "hosts = 4");
//! let scenario = Scenario::parse("star.toml", &good, &Overrides::default()).unwrap();
//! assert_eq!(scenario.config.flows.len(), 4);
//! ```
//!
//! [`CongestionScheme`]: pauseless_core::congestion::outside::CongestionScheme
//! [`FlowControlScheme`]: pauseless_core::flow_control::outside::FlowControlScheme
//! [`Shape`]: pauseless_fabric::generate::Shape
//! [`Variant`]: pauseless_text::declare::Variant
//! [`Registry::register`]: pauseless_text::declare::Registry::register

pub use super::congestion::{Chosen, OUTSIDE};
pub use super::flow_control::outside::{FlowControlKeys, register_flow_control};
pub use super::topology::register_topology;
pub use super::traffic::{Batch, Made, Pair, Scene, TrafficRule, Wait, register_traffic};
