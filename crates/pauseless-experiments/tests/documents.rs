//! The key tables of the documents are what the declarations say.
//!
//! A table stands between `<!-- keys of FILE PATH -->` or `<!-- kinds of FILE PATH -->` and
//! `<!-- end -->`. `UPDATE_EXPECT=1 cargo test -p pauseless-experiments --test documents` writes them.

use std::path::{Path, PathBuf};
use std::{env, fs};

use pauseless_experiments::{repro, sweep};
use pauseless_scenario as scenario;
use pauseless_text::declare::{Info, markdown};

const END: &str = "<!-- end -->";

#[test]
fn key_tables_are_those_of_the_declarations() {
    let mut tables = 0;
    for path in documents() {
        let text = fs::read_to_string(&path).expect("a document");
        let generated = generate(&path, &text, &mut tables);
        if generated == text {
            continue;
        }
        if env::var_os("UPDATE_EXPECT").is_some() {
            fs::write(&path, generated).expect("a document");
            continue;
        }
        let lines = text.lines().zip(generated.lines());
        let differing = lines.filter(|(is, shall)| is != shall).take(3);
        panic!(
            "{} is not what the declarations say; UPDATE_EXPECT=1 writes it\n{:#?}",
            path.display(),
            Vec::from_iter(differing)
        );
    }
    assert!(tables > 0, "some document has a table");
}

/// The text with every table made anew.
fn generate(path: &Path, text: &str, tables: &mut usize) -> String {
    let mut generated = String::new();
    let mut rest = text;
    while let Some(start) = rest.find("<!-- ") {
        let (before, at) = rest.split_at(start);
        generated.push_str(before);
        let (marker, behind) = at.split_at(at.find("-->").expect("a comment ends") + "-->".len());
        generated.push_str(marker);
        rest = behind;
        let words = Vec::from_iter(marker.split_whitespace());
        let ["<!--", what @ ("keys" | "kinds"), "of", file, path_in_file @ .., "-->"] = &words[..]
        else {
            continue;
        };
        *tables += 1;
        let path_in_file = path_in_file.join("");
        let info = info(file);
        let table = match *what {
            "keys" => markdown::keys(&info, &path_in_file),
            _ => markdown::kinds(&info, &path_in_file),
        };
        let table = table.unwrap_or_else(|| panic!("{}: {marker} leads nowhere", path.display()));
        generated.push_str(&format!("\n{table}"));
        let end = rest.find(END).expect("a table ends");
        rest = &rest[end..];
    }
    generated.push_str(rest);
    generated
}

fn info(file: &str) -> Info {
    match file {
        "scenario" => scenario::describe::info(),
        "campaign" => sweep::file::info(),
        "claims" => repro::file::info(),
        other => panic!("no kind of file is called {other}"),
    }
}

fn documents() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let files = fs::read_dir(folder).expect("the documents");
    let files = files.map(|file| file.expect("a document").path());
    let is_markdown = |path: &PathBuf| path.extension().is_some_and(|end| end == "md");
    files.filter(is_markdown).collect()
}
