#![doc = include_str!("../README.md")]

pub mod custom;
pub mod hosts;
pub mod pattern;
pub mod routing;
pub mod topology;

/// What a file is read for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aim {
    /// To be simulated: everything must be there.
    Run,
    /// To be looked at by `check`: the fabric is enough.
    Check,
}
