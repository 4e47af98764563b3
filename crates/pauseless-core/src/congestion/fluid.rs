//! The fluid model of PCN.
