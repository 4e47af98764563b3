//! The commands that documents and `--help` show.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;
use std::process::Command;

use super::{folder, listed};
use crate::repo::{File, Repo};
use crate::same::case::{Case, Input, Step};
use crate::same::shell;

/// The commands in code blocks of all documents.
pub fn documents(repo: &Repo) -> io::Result<Vec<Case>> {
    let mut cases = Vec::new();
    let mut shown = BTreeSet::new();
    let files = repo.text_files()?;
    for file in files.iter().filter(|file| file.extension() == "md") {
        for (place, step) in shown_in(file).into_iter().enumerate() {
            let name = format!("{}-{}", file.path, place + 1);
            let found = case(repo, "documents", &name, step);
            cases.extend(found.filter(|case| shown.insert(case.steps[0].to_string())));
        }
    }
    Ok(cases)
}

/// `--help` of every command of the old binary, and the examples in it that documents do not show.
pub fn help(repo: &Repo, old: &Path) -> io::Result<Vec<Case>> {
    let shown: BTreeSet<String> =
        documents(repo)?.iter().map(|case| case.steps[0].to_string()).collect();
    let mut cases = vec![
        Case::new("help", "pauseless", "--help").then("-h"),
        Case::new("help", "version", "--version"),
    ];
    let commands = asked(old, &["--help"])?;
    for command in listed_commands(&commands) {
        let text = asked(old, &[command, "--help"])?;
        let line = format!("{command} --help");
        cases.push(Case::new("help", command, &line).then(&format!("{command} -h")));
        for (place, step) in examples(&text).into_iter().enumerate() {
            let name = format!("{command}-{}", place + 1);
            let example = case(repo, "examples", &name, step);
            cases.extend(example.filter(|case| !shown.contains(&case.steps[0].to_string())));
        }
    }
    for command in ["merge", "status", "report", "show"] {
        let line = format!("sweep {command} --help");
        cases.push(Case::new("help", &format!("sweep-{command}"), &line));
    }
    Ok(cases)
}

fn asked(old: &Path, args: &[&str]) -> io::Result<String> {
    let output = Command::new(old).args(args).output()?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The names below `Commands:`.
fn listed_commands(help: &str) -> Vec<&str> {
    let lines = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let lines = lines.take_while(|line| !line.is_empty());
    // A description that goes on in the next line is indented further.
    let names = lines.filter(|line| !line.starts_with("   "));
    let names = names.filter_map(|line| line.split_whitespace().next());
    names.filter(|name| *name != "help").collect()
}

/// The commands below `Examples:`.
fn examples(help: &str) -> Vec<Step> {
    let lines = help.lines().skip_while(|line| *line != "Examples:").skip(1);
    let lines: Vec<&str> = lines.take_while(|line| line.starts_with("  ")).collect();
    steps(&lines)
}

/// The commands in code blocks of a document.
fn shown_in(file: &File) -> Vec<Step> {
    let mut found = Vec::new();
    let mut block: Option<Vec<&str>> = None;
    for line in file.text.lines() {
        match (&mut block, line.starts_with("```")) {
            (None, true) => block = Some(Vec::new()),
            (Some(lines), true) => {
                found.extend(steps(lines));
                block = None;
            }
            (Some(lines), false) => lines.push(line),
            (None, false) => {}
        }
    }
    found
}

/// Calls of the program among lines of a shell, each in the folder that the last `cd` led to.
fn steps(lines: &[&str]) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut folder = String::new();
    let text = lines.join("\n").replace("\\\n", " ");
    for line in text.lines() {
        let line = line.trim();
        let line = line.strip_prefix("$ ").unwrap_or(line);
        if let Some(path) = line.strip_prefix("cd ") {
            folder = path.to_owned();
        }
        let call = ["pauseless ", "cargo run --release -- ", "cargo run -- "];
        let Some(args) = call.iter().find_map(|call| line.strip_prefix(call)) else {
            continue;
        };
        let folder = folder.clone();
        let args = shell::words(args);
        steps.push(Step { folder, args });
    }
    steps
}

/// A shown command, in the forms of output that it has; nothing for one that cannot be compared.
fn case(repo: &Repo, group: &'static str, name: &str, mut step: Step) -> Option<Case> {
    let command = step.args.first()?.clone();
    // Campaigns and reproductions are cases of their own, and real interfaces are not for everybody.
    let variant: &[&str] = match command.as_str() {
        "check" => &["--json", "--sarif=found.sarif", "--svg=found.svg"],
        "plan" => &["--json", "--out=plan"],
        "run" => &["--json", "--out=out"],
        "explain" | "demo" => &["--json"],
        "threshold" => &["--json", "--html=page.html"],
        "convert" => &[],
        _ => return None,
    };
    if command == "threshold" {
        set(&mut step.args, "--seeds", "2");
        set(&mut step.args, "--points", "3");
        set(&mut step.args, "--threads", "1");
    }
    if step.args.iter().any(|arg| arg == "--samples") {
        set(&mut step.args, "--samples", "100");
    }
    let inputs = inputs(repo, &step);
    if inputs.iter().any(|input| input.path.starts_with("crates/")) {
        // Large traffic matrices, which are cases of their own for a shorter time.
        return None;
    }
    let mut second = Step { folder: step.folder.clone(), args: step.args.clone() };
    for option in variant {
        let name = option.split('=').next().unwrap_or(option);
        if !second.args.iter().any(|arg| arg == name) {
            second.args.push((*option).to_owned());
        }
    }
    let is_other = second.args != step.args;
    let mut steps = vec![step];
    steps.extend(is_other.then_some(second));
    Some(Case { group, name: format!("{group}/{}", name.replace('/', "-")), inputs, steps })
}

/// Gives an option another value, or adds it.
fn set(args: &mut Vec<String>, option: &str, value: &str) {
    match args.iter().position(|arg| arg == option) {
        Some(place) if place + 1 < args.len() => args[place + 1] = value.to_owned(),
        _ => args.extend([option.to_owned(), value.to_owned()]),
    }
}

/// The files of the repository that a command names. Of a configuration the whole folder.
fn inputs(repo: &Repo, step: &Step) -> Vec<Input> {
    let mut inputs = Vec::new();
    for arg in &step.args {
        let path = match step.folder.as_str() {
            "" => arg.clone(),
            folder => format!("{folder}/{arg}"),
        };
        if !repo.paths().contains(&path) {
            continue;
        }
        let beside = if path.ends_with("config.txt") {
            listed(repo, folder(&path), "").map(str::to_owned).collect()
        } else {
            vec![path]
        };
        inputs.extend(beside.into_iter().map(|path| Input { path, text: None }));
    }
    inputs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_found_in_blocks_only() {
        let text = "pauseless run no\n```sh\ncd a/b\n$ pauseless check x \\\n  y  # why\n\
                    cargo run --release -- run \"z 1\"\nls\n```\npauseless run no\n";
        let file = File::new("docs/a.md", text);
        let steps = shown_in(&file);
        let shown: Vec<String> = steps.iter().map(Step::to_string).collect();
        let expected = ["cd a/b; pauseless check x y", "cd a/b; pauseless run \"z 1\""];
        assert_eq!(shown, expected);
    }

    #[test]
    fn help_lists_commands_and_examples() {
        let help = "Usage: x\n\nCommands:\n  check  Say\n         more\n  run    Do\n  help   Print\n\n\
                    Examples:\n  pauseless run a.toml \\\n    --json\n  pauseless demo\n\nExit\n";
        assert_eq!(listed_commands(help), ["check", "run"]);
        let shown: Vec<String> = examples(help).iter().map(Step::to_string).collect();
        assert_eq!(shown, ["pauseless run a.toml --json", "pauseless demo"]);
    }

    #[test]
    fn options_are_replaced_or_added() {
        let mut args = shell::words("threshold f --seeds 20");
        set(&mut args, "--seeds", "2");
        set(&mut args, "--points", "3");
        assert_eq!(args.join(" "), "threshold f --seeds 2 --points 3");
    }
}
