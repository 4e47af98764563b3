//! The whole of a scenario file, for documents and schemas.

use super::congestion;
use crate::declare::{Info, KeyInfo, Kind};

/// Every section of a scenario file, in the order of the documents.
pub fn info() -> Info {
    let one = |name, info| KeyInfo::section(name, Kind::Table(Box::new(info)));
    Info {
        about: "A scenario: a fabric, its switches, its flows, and what to record.".to_string(),
        keys: vec![one("congestion_control", congestion::info())],
        variants: None,
    }
}
