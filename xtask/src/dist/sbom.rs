//! The list of what is in the program: every crate with its version, licence and checksum, as
//! CycloneDX has it.

use std::collections::BTreeMap;
use std::io;
use std::process::Command;

use super::{TARGET, VERSION};
use crate::repo::root;

/// The document, from the lock file and what cargo knows; no network is asked.
pub fn make() -> io::Result<String> {
    let mut tree = Command::new("cargo");
    tree.args(["tree", "--locked", "--offline", "--package", "pauseless", "--target", TARGET]);
    tree.args(["--edges", "normal", "--prefix", "none", "--format", "{p}\t{l}"]);
    let output = tree.current_dir(root()).output()?;
    if !output.status.success() {
        return Err(io::Error::other(String::from_utf8_lossy(&output.stderr).into_owned()));
    }
    let lock = std::fs::read_to_string(root().join("Cargo.lock"))?;
    Ok(document(&String::from_utf8_lossy(&output.stdout), &checksums(&lock)))
}

/// The checksums of the lock file, by name and version.
fn checksums(lock: &str) -> BTreeMap<String, String> {
    let mut checksums = BTreeMap::new();
    for package in lock.split("[[package]]") {
        let value = |key: &str| {
            let line = package.lines().find_map(|line| line.strip_prefix(key))?;
            Some(line.trim_start_matches([' ', '=']).trim_matches('"').to_string())
        };
        if let (Some(name), Some(version), Some(sum)) =
            (value("name "), value("version "), value("checksum "))
        {
            checksums.insert(format!("{name} {version}"), sum);
        }
    }
    checksums
}

/// One component for each line of `tree`, which has a crate, its version and, behind a tab, its licence.
fn document(tree: &str, checksums: &BTreeMap<String, String>) -> String {
    let mut components = BTreeMap::new();
    for line in tree.lines() {
        let (package, licence) = line.split_once('\t').unwrap_or((line, ""));
        let mut words = package.split_whitespace();
        let (Some(name), Some(version)) = (words.next(), words.next()) else { continue };
        let version = version.trim_start_matches('v');
        let hash = checksums.get(&format!("{name} {version}")).map_or(String::new(), |sum| {
            format!(", \"hashes\": [{{\"alg\": \"SHA-256\", \"content\": \"{sum}\"}}]")
        });
        // A repeated subtree is marked behind the licence, and old licences have slashes.
        let licence = licence.trim_end_matches(" (*)").replace('/', " OR ");
        let component = format!(
            "    {{\"type\": \"library\", \"name\": \"{name}\", \"version\": \"{version}\", \
             \"purl\": \"pkg:cargo/{name}@{version}\", \
             \"licenses\": [{{\"expression\": \"{licence}\"}}]{hash}}}"
        );
        components.insert(format!("{name} {version}"), component);
    }
    let components = Vec::from_iter(components.into_values()).join(",\n");
    format!(
        "{{\n  \"bomFormat\": \"CycloneDX\",\n  \"specVersion\": \"1.5\",\n  \"version\": 1,\n  \
         \"metadata\": {{\"component\": {{\"type\": \"application\", \"name\": \"pauseless\", \
         \"version\": \"{VERSION}\", \"licenses\": [{{\"expression\": \"MIT OR Apache-2.0\"}}]}}}},\n  \
         \"components\": [\n{components}\n  ]\n}}\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_crate_is_listed_once_with_its_checksum() {
        let lock = "[[package]]\nname = \"a\"\nversion = \"1.0.0\"\nchecksum = \"abc\"\n\n\
                    [[package]]\nname = \"own\"\nversion = \"0.1.0\"\n";
        let tree = "own v0.1.0 (/somewhere)\tMIT\na v1.0.0\tMIT/Apache-2.0\na v1.0.0\tMIT/Apache-2.0 (*)\n";
        let document = document(tree, &checksums(lock));
        assert_eq!(document.matches("pkg:cargo/a@1.0.0").count(), 1, "{document}");
        assert!(document.contains("\"content\": \"abc\""), "{document}");
        assert!(document.contains("\"MIT OR Apache-2.0\"}], \"hashes\""), "{document}");
        assert!(!document.contains("somewhere") && !document.contains("(*)"), "{document}");
    }
}
