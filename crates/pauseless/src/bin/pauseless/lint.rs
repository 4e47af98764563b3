//! The command `pauseless lint`: what a configured fabric loses, stalls or hides.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::Context;
use pauseless_check::read;
use pauseless_lint::database;
use pauseless_lint::fabric;
use pauseless_lint::finding::Severity;
use pauseless_lint::json_report::{LintDocument, RulesDocument};
use pauseless_lint::prove::{self, Patch};
use pauseless_lint::report::Report;
use pauseless_lint::waiver::{self, Day};
use pauseless_lint::{junit, rules, sarif, text};
use pauseless_text::gather::Gathered;
use pauseless_text::problem::Problems;
use pauseless_text::record::to_text;
use pauseless_text::source::Source;

use crate::FINDING;
use crate::args::LintArgs;
use crate::output::{self, Terminal, tell};
use crate::progress::Count;

/// Lints the files and reports what was found.
pub fn run(args: &LintArgs, terminal: Terminal) -> anyhow::Result<ExitCode> {
    let explained = args.explain.as_deref().and_then(rules::named);
    if args.json && (args.rules || explained.is_some()) {
        let rules = explained.map_or(rules::ALL.to_vec(), |rule| vec![rule]);
        output::print(&to_text(&RulesDocument::new(&rules)))?;
        return Ok(ExitCode::SUCCESS);
    }
    if args.rules {
        let line = |rule: &&pauseless_lint::rule::Rule| {
            format!("{} {:<8} {}\n", rule.id, rule.severity.name(), rule.sentence)
        };
        output::print(&rules::ALL.iter().map(line).collect::<String>())?;
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(rule) = explained {
        output::print(&text::explain(rule))?;
        return Ok(ExitCode::SUCCESS);
    }
    for file in [&args.sarif, &args.junit].into_iter().flatten() {
        output::check_place(file)?;
    }
    let waivers = args.waivers.as_deref().map(Source::read).transpose()?;
    let waived = waivers.as_ref().map(waiver::read).transpose()?;
    let mut files = Gathered::read(&args.files, &fabric::is_known)?;
    let mut sources = std::mem::take(&mut files.sources);
    let mut report = match &args.fix {
        None => watched(&sources, args.quiet)?,
        Some(folder) => {
            let fixed =
                prove::fix(&sources, |finding| !args.allow.iter().any(|id| id == finding.rule.id))?;
            write_patches(folder, &sources, &fixed.patches)?;
            tell!("{} findings repaired, in {} files", fixed.repaired, fixed.patches.len());
            sources = fixed.sources;
            fixed.left
        }
    };
    report.notes.extend(read::remarks(&files));
    report.allow(&args.allow);
    report.deny(&args.deny);
    if let (Some(source), Some(waivers)) = (&waivers, &waived) {
        waiver::apply(&mut report, waivers, &source.file, today());
    }
    show(args, &report, &sources, terminal)?;
    Ok(if report.fails() { ExitCode::from(FINDING) } else { ExitCode::SUCCESS })
}

/// Lints the files, with a bar for each part of the work that takes long.
fn watched(sources: &[Source], is_quiet: bool) -> Result<Report, Problems> {
    let mut doing = "";
    let mut count = Count::new(doing, is_quiet);
    let report = pauseless_lint::lint_watched(sources, &mut |stage| {
        if stage.doing != doing {
            count.clear();
            doing = stage.doing;
            count = Count::new(doing, is_quiet);
        }
        count.show(stage.done, stage.total, "");
    });
    count.clear();
    report
}

fn show(
    args: &LintArgs,
    report: &Report,
    sources: &[Source],
    terminal: Terminal,
) -> anyhow::Result<()> {
    let printed = if args.json {
        to_text(&LintDocument::new(report, sources))
    } else {
        let text = text::render(report, sources, terminal.paint());
        if args.quiet {
            text.lines().last().map(|line| format!("{line}\n")).unwrap_or_default()
        } else {
            text
        }
    };
    output::print(&printed)?;
    if let Some(path) = &args.sarif {
        output::write_file(path, to_text(&sarif::document(report, sources)))?;
        tell!("wrote {}", path.display());
    }
    if let Some(path) = &args.junit {
        output::write_file(path, junit::document(report, sources))?;
        tell!("wrote {}", path.display());
    }
    Ok(())
}

/// One patch per file, named after it, which `config apply-patch` takes.
fn write_patches(folder: &Path, sources: &[Source], patches: &[Patch]) -> anyhow::Result<()> {
    std::fs::create_dir_all(folder)
        .with_context(|| format!("cannot make the folder {}", folder.display()))?;
    for patch in patches {
        let path = folder.join(format!("{}.patch.json", patch_name(patch, sources, patches)));
        output::write_file(&path, to_text(&patch.ops))?;
        tell!("wrote {}", path.display());
    }
    Ok(())
}

/// The name of a file without its ending; with its folders if other files are called alike, as in
/// `tor0/config_db.json` and `tor1/config_db.json`.
fn patch_name(patch: &Patch, sources: &[Source], patches: &[Patch]) -> String {
    let source = &sources[patch.file];
    let stem = source.stem();
    let alike = patches.iter().filter(|other| sources[other.file].stem() == stem).count();
    let folders = Path::new(&source.file).parent().filter(|_| alike > 1);
    let folders = folders.map(|path| path.to_string_lossy().replace(['/', '\\'], "-"));
    match folders.as_deref().map(|name| name.trim_matches(['-', '.'])) {
        None | Some("") => stem,
        Some(folders) => format!("{folders}-{stem}"),
    }
}

/// What the linter says of configurations among these files that makes another command's verdict one
/// about something else than the fabric: a line for each of these rules that finds an error.
pub fn remarks(sources: &[Source], of: &[&str]) -> Vec<String> {
    let is_config = |source: &&Source| database::looks_like(&source.text);
    let sources = Vec::from_iter(sources.iter().filter(is_config).cloned());
    // What the linter cannot read, the command itself has refused.
    let Ok(report) = pauseless_lint::lint(&sources) else {
        return Vec::new();
    };
    let mut counts: BTreeMap<&str, (usize, String)> = BTreeMap::new();
    for finding in &report.findings {
        if finding.severity == Severity::Error && of.contains(&finding.rule.id) {
            let first = format!("{} {}", finding.device, finding.sentence());
            counts.entry(finding.rule.id).or_insert((0, first)).0 += 1;
        }
    }
    let lines = counts.into_iter().map(|(rule, (count, first))| match count {
        1 => format!("lint {rule}: {first}"),
        _ => format!("lint {rule}: {first}, and {} more of the kind", count - 1),
    });
    lines.collect()
}

fn today() -> Day {
    // A clock before 1970 lets every waiver count.
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Day::after_epoch(since.as_secs() / SECONDS_OF_A_DAY)
}

const SECONDS_OF_A_DAY: u64 = 86_400;
