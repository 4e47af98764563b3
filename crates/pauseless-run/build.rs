//! Tells the program which sources it is made of, so that results of different ones are not mixed.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// What decides the result of a run.
const SOURCES: [&str; 11] = [
    "../pauseless-check/src/reach.rs",
    "../pauseless-compat/src",
    "../pauseless-core/src",
    "../pauseless-dumps/src",
    "../pauseless-experiments/src/sweep/execute.rs",
    "../pauseless-experiments/src/sweep/network.rs",
    "../pauseless-fabric/src",
    "../pauseless-sim/src",
    "../pauseless-text/src",
    "../pauseless-scenario/src",
    "src",
];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    for folder in SOURCES {
        println!("cargo::rerun-if-changed={folder}");
    }
    let version = env::var("CARGO_PKG_VERSION").expect("cargo sets it");
    // A package from a registry stands alone, and its version says all.
    let version = match hash() {
        Ok(hash) => format!("{version}+{:08x}", hash >> 32),
        Err(_) => version,
    };
    println!("cargo::rustc-env=PAUSELESS_VERSION={version}");
}

/// FNV-1a over the names and contents of all files, in the order of their names.
fn hash() -> io::Result<u64> {
    let mut hash = 0xcbf2_9ce4_8422_2325;
    for folder in SOURCES {
        let mut files = Vec::new();
        collect(Path::new(folder), &mut files)?;
        files.sort();
        for file in files {
            let name = file.to_string_lossy().replace('\\', "/");
            for byte in name.into_bytes().into_iter().chain(fs::read(&file)?) {
                hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
            }
        }
    }
    Ok(hash)
}

fn collect(path: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    if !path.is_dir() {
        files.push(path.to_path_buf());
        return Ok(());
    }
    for entry in fs::read_dir(path)? {
        collect(&entry?.path(), files)?;
    }
    Ok(())
}
