//! A traffic matrix, a tree and paths, with a line of three dashes between them: any texts are a
//! scenario or refused, never anything else.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pauseless_compat::htsim::{Options, read_sources};
use pauseless_text::source::Source;

fuzz_target!(|text: &str| {
    let sources = text
        .split("\n---\n")
        .take(3)
        .map(|text| Source { file: "f".to_string(), text: text.to_string() });
    let sources = Vec::from_iter(sources);
    if let Err(refused) = read_sources(&sources, &Options::default()) {
        let _ = refused.to_string();
    }
});
