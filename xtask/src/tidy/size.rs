//! The size of crates: what is larger is cut along its data.

use std::collections::BTreeMap;

use crate::repo::{File, Finding};

/// Finds crates with more than [`LINES_MAX`] lines without tests.
pub fn check(files: &[File]) -> Vec<Finding> {
    let mut crates = BTreeMap::new();
    for file in files.iter().filter(|file| is_shipped(&file.path)) {
        if let Some(name) = file.crate_name() {
            *crates.entry(name).or_insert(0) += lines_before_tests(&file.text);
        }
    }
    let large = crates.into_iter().filter(|(_, lines)| *lines > LINES_MAX);
    large.map(|(name, lines)| error(files, name, lines)).collect()
}

fn error(files: &[File], name: &str, lines: usize) -> Finding {
    let path = format!("crates/{name}/Cargo.toml");
    let message = format!("{lines} lines without tests, limit {LINES_MAX}; cut it in two");
    let manifest = files.iter().find(|file| file.path == path);
    manifest.map_or_else(|| Finding::missing(&path), |file| file.error(1, message))
}

/// Whether a file is a source of a crate and does not hold tests only.
fn is_shipped(path: &str) -> bool {
    let mut parts = path.split('/');
    let is_source = parts.next() == Some("crates") && parts.nth(1) == Some("src");
    let Some(stem) = path.strip_suffix(".rs") else {
        return false;
    };
    let is_test = |part: &str| part == "tests";
    is_source
        && !stem.split('/').any(is_test)
        && !stem.ends_with("_test")
        && !stem.ends_with("_tests")
}

/// The lines before the module of tests that a file may end with.
fn lines_before_tests(text: &str) -> usize {
    let lines = Vec::from_iter(text.lines());
    let is_tests = |pair: &[&str]| {
        let [attribute, module] = [pair[0], pair[1]].map(str::trim);
        attribute == "#[cfg(test)]" && module.starts_with("mod ") && module.ends_with('{')
    };
    lines.windows(2).position(is_tests).unwrap_or(lines.len())
}

const LINES_MAX: usize = 15_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn count(path: &str, lines: usize) -> usize {
        let file = File::new(path, "a\n".repeat(lines));
        check(&[file, File::new("crates/a/Cargo.toml", "")]).len()
    }

    #[test]
    fn large_crates_are_found() {
        assert_eq!(count("crates/a/src/b.rs", LINES_MAX), 0);
        assert_eq!(count("crates/a/src/b.rs", LINES_MAX + 1), 1);
        let half = |path: &str| File::new(path, "a\n".repeat(LINES_MAX / 2 + 1));
        let together = [half("crates/a/src/b.rs"), half("crates/a/src/c/d.rs")];
        assert_eq!(check(&together).len(), 1);
        let apart = [half("crates/a/src/b.rs"), half("crates/b/src/b.rs")];
        assert_eq!(check(&apart).len(), 0);
    }

    #[test]
    fn tests_do_not_count() {
        for path in [
            "crates/a/tests/b.rs",
            "crates/a/benches/b.rs",
            "crates/a/src/tests.rs",
            "crates/a/src/b/tests/c.rs",
            "crates/a/src/b_test.rs",
            "crates/a/src/b_tests.rs",
            "crates/a/src/b.txt",
            "xtask/src/b.rs",
        ] {
            assert_eq!(count(path, LINES_MAX + 1), 0, "{path}");
        }
        assert_eq!(lines_before_tests("a\n\n#[cfg(test)]\nmod tests {\n    b\n}\n"), 2);
        assert_eq!(lines_before_tests("#[cfg(test)]\nmod tests;\na\n"), 3);
        assert_eq!(lines_before_tests("#[cfg(test)]\nfn a() {\n}\n"), 3);
    }
}
