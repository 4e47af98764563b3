//! What a person or a program sees of a run: text, JSON, CSV and one page with figures.

pub mod completion;
pub mod csv;
pub mod demo;
pub mod derivation;
pub mod diagram;
pub mod figure;
pub mod html;
pub mod json;
pub mod mitigation;
pub mod provenance;
pub mod replica;
pub mod scene;
pub mod summary;
pub mod text;
pub mod verdict;
