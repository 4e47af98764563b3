#![doc = include_str!("../README.md")]
//! [`source`] reads files, [`gather`] those of folders and archives, [`output`] writes them, [`lex`] cuts them into words, [`declare`] declares sections, [`mod@unit`]
//! quantities, and [`problem`] is what can be wrong. [`record`] declares JSON documents in the same
//! way, [`mod@quantity`] writes numbers as people read them, and [`terminal`] aligns tables. [`foreign`]
//! tells whose file a text is.

pub mod declare;
pub mod file;
pub mod foreign;
pub mod gather;
pub mod lex;
mod named;
pub mod output;
pub mod problem;
pub mod quantity;
pub mod reader;
pub mod record;
pub mod source;
pub mod terminal;
pub mod unit;
mod unpack;
