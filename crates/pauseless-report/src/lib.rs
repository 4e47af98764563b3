#![doc = include_str!("../README.md")]
//! [`text`], [`json`], [`csv`] and [`html`] are the four forms; [`summary`] has what all of them say, and
//! [`verdict`] what counts as a finding.

pub mod animation;
pub mod completion;
pub mod csv;
pub mod demo;
pub mod derivation;
pub mod diagram;
pub mod figure;
pub mod html;
pub mod json;
pub mod mitigation;
mod outages;
pub mod provenance;
pub mod replica;
pub mod scene;
pub mod summary;
pub mod text;
pub mod verdict;
