//! Dumps of real fabrics, from the text of other tools to a [`Fabric`](pauseless_fabric::fabric::Fabric).
//!
//! In flow the files that `ibnetdiscover`, `dump_fts`, opensm, SONiC, LLDP, Batfish and others
//! write; [`import`] reads each format to plain data with places, recognised by its content, and
//! [`assemble`] puts them together or says which two do not fit. Out flow topology, names, routes
//! and classes.
//!
//! This crate may not know scenarios, simulators or verdicts: it says what the fabric is, not
//! whether that is good.

pub mod assemble;
pub mod import;
