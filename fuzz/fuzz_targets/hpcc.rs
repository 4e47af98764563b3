//! A configuration, a topology and flows of the HPCC family, with a line of three dashes between
//! them: any texts are a scenario or refused, never anything else.
#![no_main]

use std::path::PathBuf;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use pauseless_compat::hpcc::{Compat, read_source};
use pauseless_text::source::Source;

/// The reader wants files; two for each process.
static FILES: LazyLock<[PathBuf; 2]> = LazyLock::new(|| {
    ["topology", "flow"].map(|kind| {
        let name = format!("pauseless-fuzz-{kind}-{}.txt", std::process::id());
        std::env::temp_dir().join(name)
    })
});

fuzz_target!(|text: &str| {
    let mut parts = text.split("\n---\n");
    let config = parts.next().unwrap_or("");
    for file in &*FILES {
        std::fs::write(file, parts.next().unwrap_or("")).expect("a temporary file");
    }
    let [topology, flows] = FILES.each_ref().map(|file| file.display());
    let source = Source {
        file: "config.txt".to_string(),
        text: format!("TOPOLOGY_FILE {topology}\nFLOW_FILE {flows}\n{config}"),
    };
    for compat in [Compat::None, Compat::Hpcc] {
        if let Err(refused) = read_source(&source, "".as_ref(), compat) {
            let _ = refused.to_string();
        }
    }
});
