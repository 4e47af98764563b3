//! Tells the program which sources it is made of, so that results of different ones are not mixed.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// What decides the result of a run, by crate.
const SOURCES: [&str; 13] = [
    "pauseless-check/src/reach.rs",
    "pauseless-compat/src",
    "pauseless-core/src",
    "pauseless-dumps/src",
    "pauseless-experiments/src/sweep/execute.rs",
    "pauseless-experiments/src/sweep/network.rs",
    "pauseless-fabric/src",
    "pauseless-run/src",
    "pauseless-network/src",
    "pauseless-scenario/src",
    "pauseless-sim/src",
    "pauseless-text/src",
    "pauseless-wire/src",
];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let version = env::var("CARGO_PKG_VERSION").expect("cargo sets it");
    let places = SOURCES.map(|source| place(source, &version));
    for place in &places {
        println!("cargo::rerun-if-changed={}", place.display());
    }
    // A library on its own may have been given without the others; then its version has to do.
    let version = match hash(&places) {
        Ok(hash) => format!("{version}+{:08x}", hash >> 32),
        Err(_) => version,
    };
    println!("cargo::rustc-env=PAUSELESS_VERSION={version}");
}

/// Where sources of a crate are: beside this one, as in the repository, or, as cargo unpacks packages,
/// in a folder with the version in its name. All crates ask for each other's exact version, so that
/// these are the sources which are compiled.
fn place(source: &str, version: &str) -> PathBuf {
    let (name, path) = source.split_once('/').expect("a crate and what is in it");
    let beside = Path::new("..").join(name);
    if beside.is_dir() { beside.join(path) } else { format!("../{name}-{version}/{path}").into() }
}

/// FNV-1a over the names and contents of all files, in the order of their names.
fn hash(places: &[PathBuf]) -> io::Result<u64> {
    let mut hash = 0xcbf2_9ce4_8422_2325;
    for (place, source) in places.iter().zip(SOURCES) {
        let mut files = Vec::new();
        collect(place, &mut files)?;
        files.sort();
        for file in files {
            let rest = file.strip_prefix(place).unwrap_or(&file).to_string_lossy();
            let name = format!("{source}/{}", rest.replace('\\', "/"));
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
