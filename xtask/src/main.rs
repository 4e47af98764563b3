//! The project's own checks, run as `cargo xtask COMMAND`.
//!
//! `ci` is the whole continuous integration; `tidy` and `cites` are the parts of it
//! that no tool from outside can do, because they know the house style, `page` opens the
//! program's pages in a browser, `examples` runs those of the library and `api` compares its interface
//! with the stored one, and `sweep` reads the results of campaigns with other programs and
//! runs one on a Slurm whose nodes fail. `wire` reads captures with tshark, `routes` checks those of a
//! real FRR, `opensm` checks tables of a real opensm and lets it follow the advice, and `instructions`
//! counts what a packet-hop costs. `same` compares two builds
//! of the program; it is no part of `ci`, which has no old build. Nor is `mutants`, which takes hours.

mod api;
mod book;
mod bundle;
mod ci;
mod cites;
mod dist;
mod examples;
mod instructions;
mod mutants;
mod opensm;
mod package;
mod page;
mod papers;
mod repo;
mod routes;
mod same;
mod source;
mod sweep;
mod tidy;
mod wire;

use std::process::ExitCode;

use dist::Build;
use repo::{Finding, Repo};

fn main() -> ExitCode {
    if let Some(status) = api::stand_in() {
        return status;
    }
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let outcome = match args.as_slice() {
        ["ci"] => ci::run(),
        ["ci", "--step", name] => ci::run_step(name),
        ["api"] => api::run(),
        ["examples"] => examples::run(),
        ["papers"] => built(papers::run),
        ["book"] => book::run(),
        ["dist"] => dist::run(Build::Portable),
        ["dist", "--native"] => dist::run(Build::Native),
        ["dist", "--same"] => dist::equal::run(Build::Portable),
        ["dist", "--same", "--quick"] => dist::equal::run(Build::Quick),
        ["dist", "--tested"] => dist::run(Build::Tested),
        ["package"] => built(package::run),
        ["page"] => built(page::run),
        ["page", "--update"] => page::update(),
        ["sweep"] => built(sweep::run),
        ["wire"] => built(wire::run),
        ["routes"] => built(routes::run),
        ["opensm"] => built(opensm::run),
        ["opensm", "--full"] => built(opensm::full),
        ["opensm", "--compare"] => built(opensm::compare),
        ["instructions"] => instructions::run(false),
        ["instructions", "--update"] => instructions::run(true),
        ["mutants"] => mutants::run("0/60"),
        ["mutants", part] => mutants::run(part),
        ["same", options @ ..] => same::run(options),
        ["tidy"] => Repo::open().and_then(|repo| tidy::run(&repo)),
        ["cites"] => Repo::open().and_then(|repo| cites::run(&repo)),
        ["help" | "--help" | "-h"] => {
            print!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        _ => {
            eprint!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match outcome {
        Ok(Outcome::Clean) => ExitCode::SUCCESS,
        Ok(Outcome::Found) => ExitCode::from(1),
        Err(error) => {
            eprintln!("xtask: {error}");
            ExitCode::from(2)
        }
    }
}

/// A check of the program, once that is built.
fn built(check: fn() -> std::io::Result<Outcome>) -> std::io::Result<Outcome> {
    match page::build()? {
        Outcome::Clean => check(),
        Outcome::Found => Ok(Outcome::Found),
    }
}

/// What a check that could be carried out came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    /// Nothing to complain about; warnings may have been printed.
    Clean,
    /// At least one error was printed.
    Found,
}

impl Outcome {
    /// What both checks together came to.
    fn and(self, other: Outcome) -> Outcome {
        if self == Outcome::Clean { other } else { Outcome::Found }
    }
}

/// Prints the findings in order of path and line and sums them up.
fn report(mut findings: Vec<Finding>) -> Outcome {
    findings.sort();
    for finding in &findings {
        println!("{finding}");
    }
    if findings.iter().any(Finding::is_error) { Outcome::Found } else { Outcome::Clean }
}

const USAGE: &str = "\
Usage: cargo xtask COMMAND

Commands:
  ci     run every check and test of the project, stopping at the first failure; --step NAME runs one
         of its steps, most of which need what the step `build` has built
  api    let rustdoc read all documentation, with warnings as errors, and compare the public interfaces
         of all libraries with docs/api/, or store them there with UPDATE_EXPECT=1
  examples  run the programs that show how the library is used
  book   build the book of docs/ in target/book, with an mdBook that it installs beside cargo's own
         programs, and check the links in it
  dist   make the archive, the Debian package, the container file, the list of contents and the
         checksums of a release in target/dist, and try each in a root with only the C library; with
         --native for this machine and without zig, with --tested from the program of the tests;
         --same builds the program only, but thrice: here, from a copy of the sources and from the
         packages of all crates, both read-only, without network and npm, and compares the bytes;
         --same --quick does so without optimisation
  page   check that the stored script of pages is made of its sources, and test the pages that the
         program writes in a browser; --update stores the script anew
  package make the packages of all crates, compile them without a network in a read-only tree, and
         compare the version that they have with that of the program
  papers reproduce the papers, quick, and compare papers/README.md with the results
  sweep  read the results of a campaign with DuckDB, pandas and polars, and run one on Slurm
  wire   read captures of small runs with tshark
  routes check the routes of a real FRR in network namespaces
  opensm check the tables of a real opensm over ibsim beside ibdmchk, and let it follow what
         `pauseless check --fix` proposes; --full has the runs that take long, too; --compare prints a
         table of our layered routing beside LASH, DFSSSP and Nue
  instructions  count the instructions per packet-hop of short runs with valgrind, and compare them with
         docs/instructions.txt, or store them there with --update
  tidy   check the rules of this repository that rustfmt and clippy do not know
  mutants  change the code that decides verdicts in one place at a time, and see whether a test notices:
           cargo xtask mutants [K/N]
         every Nth change beginning with number K, 0/60 unless given; needs cargo-mutants and nextest
  cites  list the cited clauses of papers and standards that no test cites, and the citations
         that docs/protocols.md cannot resolve
  same   run every example, scenario and quick reproduction with two builds of the program, and
         compare all that they print and write:
           cargo xtask same OLD-BINARY [NEW-BINARY] [--quick | --thorough] [--only PART]
         without NEW-BINARY it is built, for release, from this tree; --quick leaves the
         reproductions out, --thorough takes them all, --only takes cases with PART in their names

Exit status: 0 clean, 1 findings, 2 bad usage or an error of the machine.
";
