//! The pages of the reference that are made of declarations: commands and JSON documents.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;

use clap::Command;
use expect_test::expect_file;
use pauseless::schema::Document;
use serde_json::Value;

use super::{commands, root};

#[test]
fn the_page_of_commands_is_what_they_say() {
    let mut page = format!("# Commands\n\n{}\n", made_from("the command line"));
    page.push_str("Each says the same on `--help`.\n");
    for (name, command) in commands() {
        if command.is_hide_set() {
            continue;
        }
        let _ = write!(page, "\n## `{name}`\n\n```text\n{}\n```\n", help(&command));
    }
    expect_file!["../../../../../../docs/reference/commands.md"].assert_eq(&page);
}

#[test]
fn the_page_of_json_documents_is_what_schemas_say() {
    let mut page = format!("# JSON documents\n\n{}\n", made_from("the types that are printed"));
    page.push_str(
        "`pauseless schema NAME` prints the JSON Schema of each, with the meaning of every field.\n\
         The first four are files of ours, the others what `--json` prints.\n\
         A document has `schema`, its version: fields may be added without a new one.\n",
    );
    for document in Document::ALL {
        let schema = document.schema();
        let _ = write!(page, "\n## `{}`\n\n{}.\n\n", document.name(), capital(document.about()));
        let names = Vec::from_iter(fields(&schema).into_iter().map(|name| format!("`{name}`")));
        let _ = writeln!(page, "Fields: {}.", names.join(", "));
    }
    expect_file!["../../../../../../docs/reference/json.md"].assert_eq(&page);
}

#[test]
fn the_book_has_every_page_once_and_every_page_a_title() {
    let summary = fs::read_to_string(root().join("docs/SUMMARY.md")).expect("the summary");
    let listed = summary.split("](").skip(1).map(|rest| rest.split(')').next().unwrap_or_default());
    let listed = Vec::from_iter(listed.map(str::to_string));
    let once = BTreeSet::from_iter(listed.iter().cloned());
    assert_eq!(once.len(), listed.len(), "each page is listed once");
    let mut paths = Vec::new();
    super::files(&root().join("docs"), &[".md"], &mut paths);
    let docs = root().join("docs");
    let name =
        |path: &std::path::PathBuf| path.strip_prefix(&docs).ok()?.to_str().map(str::to_string);
    let mut there = BTreeSet::from_iter(paths.iter().filter_map(name));
    there.remove("SUMMARY.md");
    assert_eq!(once, there, "docs/SUMMARY.md lists the pages that there are");
    for path in there {
        let text = fs::read_to_string(docs.join(&path)).expect("a page");
        assert!(text.starts_with("# "), "{path} has no title");
    }
}

#[test]
fn the_readme_is_short() {
    let readme = fs::read_to_string(root().join("README.md")).expect("the readme");
    let words = readme.split_whitespace().count();
    assert!(words <= 700, "README.md has {words} words; what is more belongs into the book");
}

/// The first sentence of a page that nobody writes by hand.
fn made_from(source: &str) -> String {
    format!(
        "This page is made from {source}: `UPDATE_EXPECT=1 cargo test -p pauseless --bin pauseless reference`."
    )
}

fn help(command: &Command) -> String {
    let mut command = command.clone().term_width(100);
    let text = command.render_long_help().to_string();
    let lines = Vec::from_iter(text.lines().map(str::trim_end)).join("\n");
    lines.trim().to_string()
}

/// The fields at the top of a document, of all of its forms.
fn fields(schema: &Value) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let own = schema["properties"].as_object().into_iter().flatten();
    found.extend(own.map(|(name, _)| name.clone()));
    for forms in ["anyOf", "oneOf", "allOf"] {
        for form in schema[forms].as_array().into_iter().flatten() {
            let target = form["$ref"].as_str().and_then(|path| path.strip_prefix("#/$defs/"));
            let form = target.map_or(form, |name| &schema["$defs"][name]);
            found.extend(fields(form));
        }
    }
    found
}

fn capital(text: &str) -> String {
    text[..1].to_uppercase() + &text[1..]
}
