//! The book: `docs/` and the documents outside of it that it leads to, as searchable pages.

mod links;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

use crate::Outcome;
use crate::page::{call, target_dir};
use crate::repo::{Repo, root};
use crate::tidy::markdown::{links as written_links, local_path};

/// Builds the book in `target/book` and follows the links in it; a warning of mdBook is a finding.
pub fn run() -> io::Result<Outcome> {
    let source = target_dir().join("book-source");
    let pages = prepare(&Repo::open()?, &source)?;
    let Some(mdbook) = mdbook()? else { return Ok(Outcome::Found) };
    let built = target_dir().join("book");
    let mut build = Command::new(mdbook);
    let output = build.arg("build").arg(&source).arg("--dest-dir").arg(&built).output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    print!("{said}");
    if !output.status.success() || said.contains("WARN") || said.contains("ERROR") {
        return Ok(Outcome::Found);
    }
    // mdBook copies its first page there, whose links are for the page's own folder.
    fs::write(built.join("index.html"), INDEX)?;
    let mut findings = Vec::new();
    let followed = links::check(&built, &mut findings)?;
    for finding in &findings {
        println!("{finding}");
    }
    println!("{pages} pages with {followed} links are in {}", built.display());
    Ok(if findings.is_empty() { Outcome::Clean } else { Outcome::Found })
}

/// The program mdBook. It is installed beside cargo's own programs, once for all clones, in a folder of
/// its own, so that nobody's own mdBook is exchanged; `None` if that failed, which was said. It is built
/// without optimisation, which takes longer than all books that it ever makes here.
fn mdbook() -> io::Result<Option<PathBuf>> {
    let home = env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(env::home_dir()?.join(".cargo"))).unwrap_or_default();
    let tools = home.join(format!("pauseless-tools/mdbook-{MDBOOK}"));
    let program = tools.join("bin/mdbook");
    if program.is_file() {
        return Ok(Some(program));
    }
    println!("mdBook {MDBOOK} is installed into {}, once: a minute of a core", tools.display());
    let mut install = Command::new("cargo");
    install.args(["install", "mdbook", "--version", MDBOOK, "--locked", "--quiet", "--debug"]);
    install.env("CARGO_PROFILE_DEV_DEBUG", "0");
    install.args(["--no-default-features", "--features", "search", "--root"]).arg(tools);
    Ok(call(&mut install)?.then_some(program))
}

/// Copies the book, and every document of the repository that it leads to, into `to`; how many pages
/// it has. Links to what is no page of the book become plain words.
fn prepare(repo: &Repo, to: &Path) -> io::Result<usize> {
    if to.exists() {
        fs::remove_dir_all(to)?;
    }
    let mut pages = BTreeSet::new();
    // Other files come along where a page leads to them.
    let is_page = |path: &&String| path.starts_with("docs/") && path.ends_with(".md");
    let mut open = Vec::from_iter(repo.paths().iter().filter(is_page).cloned());
    open.push("docs/book.toml".to_string());
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
        for (_, target) in written_links(&text) {
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
    let mut outside = Vec::new();
    for page in pages.iter().filter(|page| page.ends_with(".md") && !page.starts_with("docs/")) {
        outside.push(Outside { path: page, text: fs::read_to_string(root().join(page))? });
    }
    fs::write(to.join("SUMMARY.md"), full_summary(&summary, &outside))?;
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

/// A document outside of `docs/` that a page leads to.
struct Outside<'a> {
    path: &'a str,
    text: String,
}

/// The summary with paths from the root, and the documents outside of `docs/` at its end, with their
/// titles.
fn full_summary(summary: &str, outside: &[Outside]) -> String {
    let mut text = summary.replace("](", "](docs/");
    text.push_str("\n# In the repository\n\n");
    for Outside { path, text: document } in outside {
        let title = document.lines().find_map(|line| line.strip_prefix("# ")).unwrap_or(path);
        text.push_str(&format!("- [{title}]({path})\n"));
    }
    text
}

/// The page at the root of the book.
const INDEX: &str = "<!DOCTYPE html><title>Pauseless</title>\
     <meta http-equiv=\"refresh\" content=\"0; url=docs/README.html\">\
     <a href=\"docs/README.html\">The book of Pauseless</a>\n";
const MDBOOK: &str = "0.5.4";

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
        let text = "# The papers\n\nAll.\n".to_string();
        let outside = [Outside { path: "papers/README.md", text }];
        let full = full_summary("# Summary\n\n- [A](a.md)\n", &outside);
        assert!(full.contains("- [A](docs/a.md)\n"), "{full}");
        assert!(full.ends_with("- [The papers](papers/README.md)\n"), "{full}");
    }
}
