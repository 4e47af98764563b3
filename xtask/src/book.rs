//! The book: `docs/` and the documents outside of it that it leads to, as searchable pages.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;
use std::process::Command;

use crate::Outcome;
use crate::page::{is_installed, target_dir};
use crate::repo::{Repo, root};
use crate::tidy::markdown::{links, local_path};

/// Builds the book in `target/book` with mdBook, where that is installed; a warning of it is a finding.
pub fn run() -> io::Result<Outcome> {
    let source = target_dir().join("book-source");
    let pages = prepare(&Repo::open()?, &source)?;
    println!("{pages} pages are in {}", source.display());
    if !is_installed("mdbook") {
        println!("NOT BUILT: mdbook is not installed; its library is too large to build it here");
        return Ok(Outcome::Clean);
    }
    let built = target_dir().join("book");
    let output =
        Command::new("mdbook").arg("build").arg(&source).arg("--dest-dir").arg(built).output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    print!("{said}");
    let is_clean = output.status.success() && !said.contains("WARN") && !said.contains("ERROR");
    Ok(if is_clean { Outcome::Clean } else { Outcome::Found })
}

/// Copies the book, and every document of the repository that it leads to, into `to`; how many pages
/// it has. Links to what is no page of the book become plain words.
fn prepare(repo: &Repo, to: &Path) -> io::Result<usize> {
    if to.exists() {
        fs::remove_dir_all(to)?;
    }
    let mut pages = BTreeSet::new();
    let mut open: Vec<String> =
        repo.paths().iter().filter(|path| path.starts_with("docs/")).cloned().collect();
    while let Some(path) = open.pop() {
        if !pages.insert(path.clone()) {
            continue;
        }
        let place = to.join(&path);
        fs::create_dir_all(place.parent().unwrap_or(to))?;
        if !path.ends_with(".md") {
            fs::copy(root().join(&path), place)?;
            continue;
        }
        let text = fs::read_to_string(root().join(&path))?;
        // Documents outside of it come along, and so do pictures; sources and folders do not.
        let mut kept = text.clone();
        for (_, target) in links(&text) {
            let Some(led) = local_path(&path, &target) else { continue };
            let is_kept = led.ends_with(".md") || led.ends_with(".svg") || led.starts_with("docs/");
            if is_kept && repo.paths().contains(&led) {
                open.push(led);
            } else {
                kept = without_link(&kept, &target);
            }
        }
        fs::write(place, kept)?;
    }
    let summary = fs::read_to_string(to.join("docs/SUMMARY.md"))?;
    fs::write(to.join("SUMMARY.md"), full_summary(&summary, &pages))?;
    fs::remove_file(to.join("docs/SUMMARY.md"))?;
    fs::rename(to.join("docs/book.toml"), to.join("book.toml"))?;
    Ok(pages.iter().filter(|page| page.ends_with(".md")).count() - 1)
}

/// The text with the links to `target` replaced by what they are called.
fn without_link(text: &str, target: &str) -> String {
    let end = format!("]({target})");
    let mut text = text.to_string();
    while let Some(close) = text.find(&end) {
        let Some(open) = text[..close].rfind('[') else { break };
        text.replace_range(close..close + end.len(), "");
        text.replace_range(open..=open, "");
    }
    text
}

/// The summary with paths from the root, and the documents outside of `docs/` at its end.
fn full_summary(summary: &str, pages: &BTreeSet<String>) -> String {
    let mut text = summary.replace("](", "](docs/");
    text.push_str("\n# In the repository\n\n");
    let outside = pages.iter().filter(|page| page.ends_with(".md") && !page.starts_with("docs/"));
    for page in outside {
        text.push_str(&format!("- [{page}]({page})\n"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_that_lead_out_of_the_book_become_words() {
        let text = "See [the code](../crates/a) and [b](b.md), [the code](../crates/a).\n";
        assert_eq!(without_link(text, "../crates/a"), "See the code and [b](b.md), the code.\n");
    }

    #[test]
    fn the_summary_has_what_lies_outside_of_docs() {
        let pages = ["docs/a.md", "README.md", "docs/a.svg"].map(str::to_string).into();
        let full = full_summary("# Summary\n\n- [A](a.md)\n", &pages);
        assert!(
            full.contains("- [A](docs/a.md)\n") && full.ends_with("- [README.md](README.md)\n")
        );
    }
}
