//! Whether README, docs and help texts name only what there is: commands, flags, keys, kinds and
//! numbers, as they are declared, and lists of these that are complete.
//!
//! Only what has a form that one can recognise is looked at: code spans, command lines, and lines
//! that name three or more of a kind. Whether a sentence about these is true, no test here can see.

mod defaults;
mod lists;
mod names;
mod reference;

use std::fs;
use std::path::{Path, PathBuf};

use clap::{Command, CommandFactory};
use pauseless_experiments::{repro, sweep};
use pauseless_scenario::describe;
use pauseless_text::declare::Info;

use crate::args::Cli;

/// A line of a document, a sentence of a help text or of a declaration, and where it stands.
struct Line {
    place: String,
    text: String,
    part: Part,
}

#[derive(Clone, Copy, PartialEq)]
enum Part {
    Prose,
    /// A row of a table, which may show what was measured and no more.
    Row,
    /// In a block of commands for a shell.
    Shell,
    /// In a block of a file of ours.
    Toml,
    /// In another block, such as a printed report.
    Block,
}

impl Line {
    fn new(place: &str, text: &str) -> Line {
        Line { place: place.to_string(), text: text.to_string(), part: Part::Prose }
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The files below a folder of the repository whose names have one of these ends.
fn files(folder: &Path, ends: &[&str], found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() && !["target", "node_modules"].contains(&name.as_str()) {
            files(&path, ends, found);
        } else if ends.iter().any(|end| name.ends_with(end)) {
            found.push(path);
        }
    }
}

/// Every line of the documents. `CHANGELOG.md` says what was, and is left out.
fn documents() -> Vec<Line> {
    let mut paths =
        ["README.md", "ARCHITECTURE.md", "papers/README.md"].map(PathBuf::from).to_vec();
    let mut docs = Vec::new();
    files(&root().join("docs"), &[".md"], &mut docs);
    let below = |path: PathBuf| path.strip_prefix(root()).map(Path::to_path_buf).expect("below");
    paths.extend(docs.into_iter().map(below));
    paths.sort();
    paths.iter().flat_map(|path| lines(path)).collect()
}

fn lines(path: &Path) -> Vec<Line> {
    let text = fs::read_to_string(root().join(path)).expect("a document");
    let mut block = None;
    let mut lines = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let place = format!("{}:{}", path.display(), index + 1);
        let start = line.trim_start();
        if let Some(language) = start.strip_prefix("```") {
            block = match block {
                Some(_) => None,
                None if ["sh", "console"].contains(&language) => Some(Part::Shell),
                None if language == "toml" => Some(Part::Toml),
                None => Some(Part::Block),
            };
            continue;
        }
        let prose = if start.starts_with('|') { Part::Row } else { Part::Prose };
        lines.push(Line { place, text: line.to_string(), part: block.unwrap_or(prose) });
    }
    lines
}

/// All that the program says of itself on demand, paragraph by paragraph.
fn helps() -> Vec<Line> {
    let mut lines = Vec::new();
    for (name, command) in commands() {
        let place = format!("{name} --help");
        let own = [command.get_long_about().or(command.get_about()), command.get_after_help()];
        let own = own.into_iter().flatten().map(ToString::to_string);
        let arguments = command.get_arguments().flat_map(|argument| {
            let help = argument.get_long_help().or(argument.get_help());
            let values = argument.get_possible_values();
            let values = values.into_iter().filter_map(|value| Some(value.get_help()?.to_string()));
            Vec::from_iter(help.map(ToString::to_string).into_iter().chain(values))
        });
        lines.extend(own.chain(arguments).map(|text| Line::new(&place, &text.replace('\n', " "))));
    }
    lines
}

/// The lines of the examples in help texts.
fn examples() -> Vec<Line> {
    let mut lines = Vec::new();
    for (name, command) in commands() {
        let text = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        let place = format!("{name} --help");
        let shell = text.lines().map(|line| Line { part: Part::Shell, ..Line::new(&place, line) });
        lines.extend(shell);
    }
    lines
}

/// The sentences of all declarations.
fn declared() -> Vec<Line> {
    let mut lines = Vec::new();
    for (file, info) in declarations() {
        names::walk(&info, &mut |path, about, _| {
            lines.push(Line::new(&format!("the declaration of {file} {path}"), about));
        });
    }
    lines
}

fn declarations() -> Vec<(&'static str, Info)> {
    vec![
        ("scenario", describe::info()),
        ("fabric", describe::fabric_info()),
        ("campaign", sweep::file::info()),
        ("claims", repro::file::info()),
    ]
}

/// Every command with its name, such as `pauseless sweep merge`.
fn commands() -> Vec<(String, Command)> {
    fn add(name: &str, command: &Command, found: &mut Vec<(String, Command)>) {
        found.push((name.to_string(), command.clone()));
        for sub in command.get_subcommands() {
            add(&format!("{name} {}", sub.get_name()), sub, found);
        }
    }
    let mut root = Cli::command();
    // Flags of all commands are handed down.
    root.build();
    let mut found = Vec::new();
    add("pauseless", &root, &mut found);
    found.retain(|(name, _)| !name.contains(" help"));
    found
}

/// The command lines for `pauseless` in a line of a shell block, without what stands around them.
fn command_lines(line: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    let line = line.split(" #").next().unwrap_or_default();
    let line = line.trim_start().trim_start_matches("$ ").trim_start_matches("# ");
    let line = line.replace("cargo run --release -- ", "pauseless ");
    for part in line.split([';', '|', '&', '>']) {
        let Some(start) = part.find("pauseless ") else { continue };
        let before = &part[..start];
        // `pidof pauseless` and folders of that name are no calls.
        if before.is_empty() || before.starts_with("ip netns exec ") || before == "nohup " {
            found.push(words(&part[start..]));
        }
    }
    found
}

/// The words of a command line, of which quotes make one.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut quote = None;
    let mut word: Option<String> = None;
    for char in line.chars() {
        match quote {
            Some(open) if char == open => quote = None,
            None if char == '"' || char == '\'' => {
                quote = Some(char);
                word.get_or_insert_default();
            }
            None if char.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(char),
        }
    }
    words.extend(word);
    words
}

#[test]
fn command_lines_of_documents_and_examples_can_be_parsed() {
    let mut wrong = Vec::new();
    let mut count = 0;
    let mut lines = documents();
    lines.extend(examples());
    let mut shell = lines.iter().filter(|line| line.part == Part::Shell);
    while let Some(line) = shell.next() {
        let mut text = line.text.clone();
        while let Some(begun) = text.strip_suffix('\\') {
            text = format!("{begun} {}", shell.next().map_or("", |next| next.text.as_str()));
        }
        for words in command_lines(&text) {
            count += 1;
            if let Err(error) = Cli::command().try_get_matches_from(&words) {
                let why = error.to_string();
                wrong.push(format!("{}: {}", line.place, why.lines().next().unwrap_or_default()));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(count > 100, "only {count} command lines were found");
}

#[test]
fn command_lines_are_found_in_shell_blocks() {
    let found = |line| command_lines(line);
    assert_eq!(found("$ pauseless run a.toml # and so on"), [["pauseless", "run", "a.toml"]]);
    assert_eq!(found("cargo run --release -- demo | less"), [["pauseless", "demo"]]);
    assert_eq!(found("ip netns exec host pauseless demo"), [["pauseless", "demo"]]);
    assert_eq!(found("a=\"$(pidof pauseless)\" pauseless/x"), [[""; 0]; 0]);
    assert_eq!(words("a \"b c\" d='e f'"), ["a", "b c", "d=e f"]);
}
