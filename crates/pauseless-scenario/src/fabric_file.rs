//! Our own fabric file: TOML, with the same sections as a scenario; see `docs/fabric.md`.

mod write;

use pauseless_fabric::fabric::Fabric;
use pauseless_text::problem::Problems;
use pauseless_text::source::Source;

pub use write::write;

/// Whether it is a fabric file or a scenario.
pub fn is_toml(source: &Source) -> bool {
    let mut lines = source.text.lines().map(str::trim_start);
    source.file.ends_with(".toml")
        || lines.any(|line| ["[topology", "[[topology"].iter().any(|s| line.starts_with(s)))
}

/// Reads a fabric file, or a scenario: of that only the fabric and the ends of flows.
pub fn read(source: &Source) -> Result<Fabric, Problems> {
    crate::check::read(source)
}
