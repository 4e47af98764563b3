//! Fabrics from the dumps of other tools and scenarios from their files, recognised by their content.

pub mod ethernet;
pub mod hpcc;
pub mod htsim;
pub mod ib;
pub mod source;

use crate::problem::Problems;

/// Where something else is wanted: that `text` is of another simulator, and what to do with it.
pub(crate) fn refuse_simulators(file: &str, text: &str) -> Result<(), Problems> {
    let Some(whose) = simulator_of(text) else {
        return Ok(());
    };
    let help = "simulate it with `pauseless run`, or make a scenario of it with `pauseless convert \
                --to scenario`";
    Err(Problems::of_file(file, format!("this is {whose}"), help))
}

/// What file of another simulator a text is, if it is one.
pub(crate) fn simulator_of(text: &str) -> Option<&'static str> {
    match htsim::recognise(text) {
        Some(_) => Some("a file of htsim"),
        None => hpcc::is_config(text).then_some("the configuration of an ns-3 simulator"),
    }
}
