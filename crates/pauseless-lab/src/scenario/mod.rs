//! Scenario files: TOML with units in, a validated [`Scenario`] out.
//!
//! The interface that the reports and the command line stand on; the reading itself is below.

use pauseless_sim::Config;

/// A scenario that can be run: everything typed was checked, everything left out was derived.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// The file's stem, or the name of an embedded scenario.
    pub name: String,
    /// One line that says what it shows.
    pub title: String,
    /// What the simulator runs.
    pub config: Config,
    /// The same scenario as a file in which nothing is left out, to be written next to results.
    pub resolved: String,
}
