//! The links of the finished book: each leads to a file of it, and to a place that the file has.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::{fs, io};

use crate::tidy::markdown::local_path;

/// Follows the links of all pages in `folder` that stay in the book, and adds those that lead nowhere
/// to `findings`; how many it followed.
pub fn check(folder: &Path, findings: &mut Vec<String>) -> io::Result<usize> {
    let mut files = BTreeMap::new();
    collect(folder, "", &mut files)?;
    let places: BTreeMap<&str, BTreeSet<String>> =
        files.iter().map(|(path, text)| (path.as_str(), values(text, "id"))).collect();
    let mut followed = 0;
    for (path, text) in &files {
        // The page for addresses that do not exist is shown at any of them.
        if path == "404.html" {
            continue;
        }
        for target in values(text, "href").into_iter().chain(values(text, "src")) {
            let is_elsewhere = target.contains(":");
            if is_elsewhere {
                continue;
            }
            followed += 1;
            if !leads_somewhere(path, &target, &places) {
                findings.push(format!("{path}: the link to `{target}` leads nowhere"));
            }
        }
    }
    Ok(followed)
}

/// Whether there is such a file, and in it such a place.
fn leads_somewhere(from: &str, target: &str, places: &BTreeMap<&str, BTreeSet<String>>) -> bool {
    let (_, place) = target.split_once('#').unwrap_or((target, ""));
    let path = local_path(from, target).unwrap_or_else(|| from.to_string());
    places.get(path.as_str()).is_some_and(|there| place.is_empty() || there.contains(place))
}

/// All files below a folder by their paths; pages with their text, others without.
fn collect(folder: &Path, below: &str, files: &mut BTreeMap<String, String>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let path = format!("{below}{}", entry.file_name().to_string_lossy());
        if entry.file_type()?.is_dir() {
            collect(&entry.path(), &format!("{path}/"), files)?;
        } else if path.ends_with(".html") {
            files.insert(path, fs::read_to_string(entry.path())?);
        } else {
            files.insert(path, String::new());
        }
    }
    Ok(())
}

/// The values of an attribute in a page.
fn values(page: &str, attribute: &str) -> BTreeSet<String> {
    let begin = format!(" {attribute}=\"");
    let mut values = BTreeSet::new();
    for (at, _) in page.match_indices(&begin) {
        let rest = &page[at + begin.len()..];
        // Scripts of the page are no tags: what they write has no end on its line.
        let Some(end) = rest.find(['"', '\n']).filter(|&end| rest[end..].starts_with('"')) else {
            continue;
        };
        let value = rest[..end].replace("&amp;", "&").replace("&quot;", "\"").replace("&#39;", "'");
        values.insert(value.replace("&lt;", "<").replace("&gt;", ">"));
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_leads_to_a_file_and_a_place_in_it() {
        let a = "<h1 id=\"top\">a</h1><a href=\"b/c.html#x\">..</a><img src=\"d.svg\">";
        assert_eq!(values(a, "href"), ["b/c.html#x".to_string()].into());
        let places = [("a.html", values(a, "id")), ("b/c.html", ["x".to_string()].into())];
        let places = BTreeMap::from(places);
        for target in ["#top", "", "b/c.html", "b/c.html#x", "a.html?y#top"] {
            assert!(leads_somewhere("a.html", target, &places), "{target}");
        }
        assert!(leads_somewhere("b/c.html", "../a.html#top", &places));
        for target in ["#x", "c.html", "b/c.html#top", "d.svg"] {
            assert!(!leads_somewhere("a.html", target, &places), "{target}");
        }
    }
}
