//! The schemes of the core, disguised as schemes of another crate: what they do must not change by that.
#![allow(dead_code, reason = "every test binary uses some of these")]

pub mod congestion;
pub mod flow_control;

/// What the parts of a disguised scheme say to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// The messages of the scheme itself.
    Own,
    /// Eight bytes that nobody else understands.
    Bytes,
}

impl Language {
    pub const ALL: [Language; 2] = [Language::Own, Language::Bytes];
}
