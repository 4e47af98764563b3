//! Whether two builds of the program do the same.
//!
//! Every case is a few commands in an empty folder with a few files of the repository. Both binaries
//! run them, in the same folder one after the other, so that paths in their output are equal. Standard
//! output, standard error, exit status and every file that was written are compared line by line. What
//! depends on the clock or on the build is masked first (`mask.rs`), and what was changed on purpose is
//! listed in `expected.txt`.

mod case;
mod cases;
mod difference;
mod expected;
mod json;
mod mask;
mod shell;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;
use std::{env, fs, io, thread};

use crate::Outcome;
use crate::page::{call, target_dir};
use crate::repo::{Repo, root};
use case::{Bench, Case, Result};
use expected::{Expected, Judged};

/// Compares two binaries; the arguments are those behind `cargo xtask same`.
pub fn run(args: &[&str]) -> io::Result<Outcome> {
    let options = match Options::read(args) {
        Ok(options) => options,
        Err(message) => return Err(io::Error::other(message)),
    };
    let begin = Instant::now();
    let old = fs::canonicalize(&options.old)?;
    let new = match &options.new {
        Some(new) => fs::canonicalize(new)?,
        None => match build()? {
            Some(new) => new,
            None => return Ok(Outcome::Found),
        },
    };
    let expected = expected::read(EXPECTED).map_err(io::Error::other)?;
    let repo = Repo::open()?;
    let mut cases = cases::all(&repo, &old, options.scope)?;
    if let Some(part) = &options.only {
        cases.retain(|case| case.name.contains(part.as_str()));
    }
    let folder = target_dir().join("same");
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    let comparison = Comparison {
        binaries: Binaries { old, new },
        expected: &expected,
        kept: folder.join("differences"),
    };
    let tally = comparison.run(&cases, &folder)?;
    let stale = report_stale(&expected, &cases, &tally.used);
    let different: usize = tally.groups.values().map(|group| group.different).sum();
    println!(
        "xtask same: {} cases, {different} with unexplained differences; {} explained lines, \
         {stale} listed differences gone; {:.0} s",
        cases.len(),
        tally.used.iter().sum::<usize>(),
        begin.elapsed().as_secs_f64()
    );
    if different == 0 {
        return Ok(Outcome::Clean);
    }
    let kept = comparison.kept.display();
    println!("the outputs of cases that differ are in {kept}");
    Ok(Outcome::Found)
}

/// How much is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scope {
    /// No reproductions of the papers.
    Quick,
    /// The reproductions that take seconds.
    Usual,
    /// All reproductions at their quick size, and the campaigns that take a minute.
    Thorough,
}

/// What the command line asks for.
#[derive(Debug, PartialEq, Eq)]
struct Options {
    old: PathBuf,
    new: Option<PathBuf>,
    scope: Scope,
    only: Option<String>,
}

impl Options {
    fn read(args: &[&str]) -> std::result::Result<Options, String> {
        let mut binaries = Vec::new();
        let mut scope = Scope::Usual;
        let mut only = None;
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            match *arg {
                "--quick" => scope = Scope::Quick,
                "--thorough" => scope = Scope::Thorough,
                "--only" => {
                    let part = args.next().ok_or("--only needs a part of a case's name")?;
                    only = Some((*part).to_owned());
                }
                option if option.starts_with('-') => {
                    return Err(format!("{option}: no such option of same"));
                }
                path => binaries.push(PathBuf::from(path)),
            }
        }
        let mut binaries = binaries.into_iter();
        let old = binaries.next().ok_or("same needs the old binary")?;
        let new = binaries.next();
        if binaries.next().is_some() {
            return Err("same compares two binaries, not more".to_owned());
        }
        Ok(Options { old, new, scope, only })
    }
}

/// Builds the program of this tree as it is released; `None` if that fails.
fn build() -> io::Result<Option<PathBuf>> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut build = Command::new(cargo);
    build.args(["build", "--release", "--package", "pauseless", "--locked"]);
    let is_built = call(&mut build)?;
    Ok(is_built.then(|| target_dir().join("release/pauseless")))
}

/// The two builds of the program.
struct Binaries {
    old: PathBuf,
    new: PathBuf,
}

/// The comparison of all cases.
struct Comparison<'a> {
    binaries: Binaries,
    expected: &'a [Expected],
    /// Where outputs that differ are kept.
    kept: PathBuf,
}

/// What is known so far of the cases of all groups.
struct Tally {
    groups: BTreeMap<&'static str, Group>,
    /// How many differing lines each entry of the list explained.
    used: Vec<usize>,
}

/// What is known so far of the cases of one group.
#[derive(Default)]
struct Group {
    cases: usize,
    left: usize,
    /// Cases with a difference that is not listed.
    different: usize,
    /// Differing lines that are listed.
    explained: usize,
    /// How many commands of the old binary ended in each way.
    endings: BTreeMap<String, usize>,
    seconds: f64,
}

/// One case after both binaries have run it.
struct Compared<'a> {
    case: &'a Case,
    endings: Vec<String>,
    judged: Judged,
    seconds: f64,
}

impl Comparison<'_> {
    /// Runs the cases on as many threads as there are jobs.
    fn run(&self, cases: &[Case], folder: &Path) -> io::Result<Tally> {
        let next = AtomicUsize::new(0);
        let tally = Mutex::new(Tally::new(cases, self.expected.len()));
        let work = |bench: PathBuf| -> io::Result<()> {
            let bench = Bench::new(&root(), &bench)?;
            while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                let compared = self.compare(case, &bench)?;
                tally.lock().expect("no worker panics").add(&compared);
            }
            Ok(())
        };
        thread::scope(|scope| {
            let benches = (0..JOBS).map(|job| folder.join(format!("job{job}")));
            let workers: Vec<_> = benches.map(|bench| scope.spawn(|| work(bench))).collect();
            let mut outcomes = workers.into_iter().map(|worker| worker.join());
            outcomes.try_for_each(|outcome| outcome.expect("no worker panics"))
        })?;
        Ok(tally.into_inner().expect("no worker panics"))
    }

    /// Runs one case with both binaries, and keeps what differs.
    fn compare<'c>(&self, case: &'c Case, bench: &Bench) -> io::Result<Compared<'c>> {
        let begin = Instant::now();
        let old = bench.run(case, &self.binaries.old)?;
        let new = bench.run(case, &self.binaries.new)?;
        let lines = difference::between(&old, &new);
        let judged = expected::judge(self.expected, &case.name, &lines);
        if !lines.is_empty() {
            keep(&self.kept.join(&case.name), &old, &new)?;
        }
        Ok(Compared {
            case,
            endings: old.endings().collect(),
            judged,
            seconds: begin.elapsed().as_secs_f64(),
        })
    }
}

impl Tally {
    fn new(cases: &[Case], listed: usize) -> Tally {
        let mut groups: BTreeMap<&'static str, Group> = BTreeMap::new();
        for case in cases {
            let group = groups.entry(case.group).or_default();
            group.cases += 1;
            group.left += 1;
        }
        let used = vec![0; listed];
        Tally { groups, used }
    }

    /// Adds a case to its group, and prints how it differs, and the group's line once it is complete.
    fn add(&mut self, compared: &Compared) {
        let name = compared.case.group;
        let group = self.groups.get_mut(name).expect("it was counted before");
        group.left -= 1;
        if !compared.judged.unexplained.is_empty() {
            group.different += 1;
            if group.different <= CASES_SHOWN {
                print!("{}", describe(compared));
            }
        }
        group.explained += compared.judged.used.iter().sum::<usize>();
        group.seconds += compared.seconds;
        for ending in &compared.endings {
            *group.endings.entry(ending.clone()).or_default() += 1;
        }
        for (sum, used) in self.used.iter_mut().zip(&compared.judged.used) {
            *sum += used;
        }
        if group.left == 0 {
            println!("{}", group.line(name));
        }
    }
}

impl Group {
    fn line(&self, name: &str) -> String {
        let endings: Vec<String> =
            (self.endings.iter()).map(|(ending, count)| format!("{count} {ending}")).collect();
        let verdict = match (self.different, self.explained) {
            (0, 0) => "all equal".to_owned(),
            (0, lines) => format!("equal but for {lines} explained lines"),
            (cases, _) if cases > CASES_SHOWN => {
                format!("{cases} cases DIFFER, of which {CASES_SHOWN} are shown")
            }
            (cases, _) => format!("{cases} cases DIFFER"),
        };
        format!(
            "{name}: {} cases ({}), {verdict}, {:.0} s",
            self.cases,
            endings.join(", "),
            self.seconds
        )
    }
}

/// The commands of a case and the first lines in which the binaries differ.
fn describe(compared: &Compared) -> String {
    let lines = &compared.judged.unexplained;
    let mut text = format!("DIFFERENT: {}\n", compared.case.name);
    for step in &compared.case.steps {
        text += &format!("  {step}\n");
    }
    for line in lines.iter().take(LINES_SHOWN) {
        text += &format!("    {}\n", difference::shortened(line));
    }
    let more = lines.len().saturating_sub(LINES_SHOWN);
    if more > 0 {
        text += &format!("    .. and {more} more lines\n");
    }
    text
}

/// Writes the outputs that differ to `folder/old` and `folder/new`, as they were before masking.
fn keep(folder: &Path, old: &Result, new: &Result) -> io::Result<()> {
    for (name, result) in [("old", old), ("new", new)] {
        for part in &result.parts {
            let path = folder.join(name).join(&part.name);
            fs::create_dir_all(path.parent().expect("it lies in a folder"))?;
            fs::write(path, &part.content)?;
        }
    }
    Ok(())
}

/// Prints the entries of the list that explain nothing any more, of those whose cases were run.
fn report_stale(expected: &[Expected], cases: &[Case], used: &[usize]) -> usize {
    let mut stale = 0;
    for (entry, used) in expected.iter().zip(used) {
        if *used == 0 && cases.iter().any(|case| entry.is_about(&case.name)) {
            println!("listed in expected.txt, but did not occur: {entry}");
            stale += 1;
        }
    }
    stale
}

/// How many cases run at a time; the machines that this is for have at least two cores.
const JOBS: usize = 2;
/// How many differing cases of a group are printed; the others are kept on disk like these.
const CASES_SHOWN: usize = 20;
/// How many differing lines of a case are printed.
const LINES_SHOWN: usize = 8;
/// The differences that were made on purpose.
const EXPECTED: &str = include_str!("expected.txt");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read_in_any_order() {
        let read = Options::read(&["--quick", "old", "--only", "bad/", "new"]).expect("good");
        assert_eq!(read.old, Path::new("old"));
        assert_eq!(read.new.as_deref(), Some(Path::new("new")));
        assert_eq!(read.scope, Scope::Quick);
        assert_eq!(read.only.as_deref(), Some("bad/"));
        for bad in [&[][..], &["a", "b", "c"], &["a", "--only"], &["a", "--x"]] {
            assert!(Options::read(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn the_list_of_explained_differences_can_be_read() {
        let entries = expected::read(EXPECTED).expect("expected.txt is well-formed");
        assert!(entries.iter().all(|entry| entry.why.len() > 20));
    }
}
