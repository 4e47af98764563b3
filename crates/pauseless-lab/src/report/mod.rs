//! What a person or a program sees of a run: text, JSON, CSV and one page with figures.

pub mod completion;
pub mod csv;
pub mod derivation;
pub mod diagram;
pub mod figure;
pub mod html;
pub mod json;
pub mod mitigation;
pub mod provenance;
pub mod quantity;
mod record;
pub mod replica;
pub mod scene;
pub mod summary;
pub mod text;
pub mod verdict;

use pauseless_core::id::{Class, NodeId, PortId};
use pauseless_core::unit::Time;

use crate::run::Run;

pub(crate) use self::record::records;

impl Run {
    /// The name of a queue: that of its port, with the class where there are several.
    pub(crate) fn queue_name(&self, node: NodeId, port: PortId, class: Class) -> String {
        let port = self.port_name(node, port);
        match self.scenario.config.ingress.class_count() {
            1 => port,
            _ => format!("{port} class {}", class.0),
        }
    }

    /// An instant, with the digits that tell it from the first start: runs of other simulators
    /// begin at 2 s.
    pub fn instant(&self, time: Time) -> String {
        let starts = self.scenario.config.flows.iter().map(|flow| flow.start);
        quantity::instant(time, starts.min().unwrap_or(Time::ZERO))
    }
}
