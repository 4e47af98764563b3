//! The example fabric that the good and bad example of every rule is a change of: a leaf, a ToR with a
//! host, a ToR of a pair, and a switch with the dynamic buffer model.
//!
//! Names, cables and hosts are our own; the tables of QoS and buffers are what the templates of
//! sonic-buildimage (Apache-2.0, commit 086b03bd70f9) give for Arista-7260CX3-C64 and -D108C8 and for
//! Mellanox-SN4600C-D48C40 and -C64.

use pauseless_text::source::Source;
use serde_json::Value;

use crate::fix::{self, Op};
use crate::rule::Edit;

/// A file of the example fabric.
struct File {
    name: &'static str,
    text: &'static str,
}

macro_rules! files {
    ($($name:literal = $path:literal),+ $(,)?) => {
        [$(File { name: $name, text: include_str!(concat!("../fabric/", $path)) }),+]
    };
}

const FILES: [File; 12] = files! {
    "leaf0" = "leaf0.json",
    "tor0" = "tor0.json",
    "dual0" = "dual0.json",
    "dyn0" = "dyn0.json",
    "srv0.mlnx_qos" = "srv0.mlnx_qos.txt",
    "srv0.ethtool-a" = "srv0.ethtool-a.txt",
    "srv0.ip-link" = "srv0.ip-link.json",
    "srv0.nccl" = "srv0.nccl.env",
    "srv0.roce-ecn" = "srv0.roce-ecn.txt",
    "srv0.show_gids" = "srv0.show_gids.txt",
    "srv0.dcb-pfc" = "srv0.dcb-pfc.json",
    "srv0.devinfo" = "srv0.devinfo.txt",
};

/// The files of the example fabric after these changes.
///
/// # Errors
/// A change that leads nowhere.
pub fn sources(edits: &[Edit]) -> Result<Vec<Source>, String> {
    let mut sources = Vec::new();
    for File { name, text } in &FILES {
        let own = Vec::from_iter(edits.iter().filter(|edit| edit.of == *name));
        let text = if own.is_empty() {
            text.to_string()
        } else if text.starts_with('{') && own[0].path.starts_with('/') {
            edited_json(text, &own)?
        } else {
            edited_text(text, &own)?
        };
        sources.push(Source { file: format!("{name}.json"), text });
    }
    // What the example fabric does not have is a file of its own.
    for Edit { of, value, .. } in edits {
        if let Some(value) = value.filter(|_| FILES.iter().all(|file| file.name != *of)) {
            sources.push(Source { file: format!("{of}.json"), text: value.to_string() });
        }
    }
    Ok(sources)
}

fn edited_json(text: &str, edits: &[&Edit]) -> Result<String, String> {
    let mut document: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    for Edit { path, value, .. } in edits {
        let value = value.map(serde_json::from_str::<Value>).transpose();
        let value = value.map_err(|error| format!("{path}: {error}"))?;
        let op = if value.is_some() { "add" } else { "remove" };
        fix::apply(&mut document, &[Op { op, path: path.to_string(), value }])?;
    }
    Ok(fix::to_rows(&document))
}

fn edited_text(text: &str, edits: &[&Edit]) -> Result<String, String> {
    let mut text = text.to_string();
    for Edit { of, path, value } in edits {
        let with = value.map(serde_json::from_str::<String>).transpose();
        let with = with.map_err(|error| format!("{of}: {error}"))?.unwrap_or_default();
        if !text.contains(path) {
            return Err(format!("{of} has no {path:?}"));
        }
        text = if path.is_empty() { with } else { text.replace(path, &with) };
    }
    Ok(text)
}
