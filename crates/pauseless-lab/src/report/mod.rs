//! What a person or a program sees of a run: text, JSON, CSV and one page with figures.

pub mod chart;
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
pub mod series;
pub mod summary;
pub mod text;
pub mod verdict;

use pauseless_core::unit::Time;

use crate::run::Run;

pub(crate) use self::record::records;

impl Run {
    /// An instant, with the digits that tell it from the first start: runs of other simulators
    /// begin at 2 s.
    pub fn instant(&self, time: Time) -> String {
        let starts = self.scenario.config.flows.iter().map(|flow| flow.start);
        quantity::instant(time, starts.min().unwrap_or(Time::ZERO))
    }
}
