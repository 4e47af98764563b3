//! Files with places, from bytes to declared values, and back to text that people read.
//!
//! In flow the bytes of a file ([`source`]); out flow words and lines with their places ([`lex`]),
//! sections whose keys are declared once ([`declare`]), quantities with units ([`mod@unit`]), and
//! [`problem`]s that point at the line and say what to write instead. [`record`] declares JSON
//! documents in the same way, [`mod@quantity`] writes numbers as people read them, and [`terminal`]
//! aligns tables. [`foreign`] tells whose file a text is.
//!
//! This crate knows the units of the engine and the names of its choices, such as those of queueing
//! disciplines. It may not know what a section is for: no scenario, no dump, no run.

pub mod declare;
pub mod file;
pub mod foreign;
pub mod lex;
mod named;
pub mod problem;
pub mod quantity;
pub mod reader;
pub mod record;
pub mod source;
pub mod terminal;
pub mod unit;
