//! What `pauseless lint` takes.

use std::path::PathBuf;

use clap::Args;
use pauseless_lint::rules;

/// The arguments of `lint`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct LintArgs {
    /// config_db.json of any number of switches, gzipped or not, and what else is known: dumps of APPL_DB
    /// and STATE_DB, pg_profile_lookup.ini, lldpctl -f json, wiring, routes, and the output of mlnx_qos, dcb -j,
    /// ethtool -a, ip -j link or show_gids of hosts; see docs/lint.md. A folder or a tar archive stands for
    /// all such files in it
    #[arg(value_name = "FILE", required_unless_present_any = ["explain", "rules"])]
    pub files: Vec<PathBuf>,
    /// Say what a rule looks for, why, and what to do
    #[arg(long, value_name = "RULE", value_parser = parse_rule, conflicts_with = "files")]
    pub explain: Option<String>,
    /// List all rules, with severity and sentence
    #[arg(long, conflicts_with = "files")]
    pub rules: bool,
    /// Leave out what these rules find
    #[arg(long, value_delimiter = ',', value_name = "RULE", value_parser = parse_rule)]
    pub allow: Vec<String>,
    /// Let notes of these rules count as warnings; "notes" means all
    #[arg(long, value_delimiter = ',', value_name = "RULE", value_parser = parse_rule_or_notes)]
    pub deny: Vec<String>,
    /// Leave out what this file accepts, with reasons and days until which it counts
    #[arg(long, value_name = "FILE")]
    pub waivers: Option<PathBuf>,
    /// Print one JSON document instead of text
    #[arg(long)]
    pub json: bool,
    /// Write a SARIF log for code review to this file
    #[arg(long, value_name = "FILE")]
    pub sarif: Option<PathBuf>,
    /// Write a JUnit report for CI to this file
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
    /// Write JSON patches for `config apply-patch` to this folder, one for each file that can be repaired
    /// by a machine, and report what is then left
    #[arg(long, value_name = "DIR")]
    pub fix: Option<PathBuf>,
    /// Print the last line only
    #[arg(long, short)]
    pub quiet: bool,
}

fn parse_rule(text: &str) -> Result<String, String> {
    if let Some(rule) = rules::named(text) {
        return Ok(rule.id.to_string());
    }
    // Numbers are written as they are said.
    let meant = rules::named(&format!("PL{text}")).map(|rule| rule.id);
    Err(match meant {
        Some(id) => format!("no such rule; did you mean {id}?"),
        None => "no such rule; `pauseless lint --rules` lists them".to_string(),
    })
}

fn parse_rule_or_notes(text: &str) -> Result<String, String> {
    match text {
        "notes" => Ok(text.to_string()),
        "note" => Err("did you mean notes?".to_string()),
        _ => parse_rule(text),
    }
}

const EXAMPLES: &str = "Examples:
  pauseless lint examples/lint/tor0.json \\
      examples/lint/leaf0.json
  pauseless lint examples/lint/tor0.json --json
  pauseless lint --explain PL201

Exit status: 0 nothing above a note, 1 errors or warnings, 2 bad usage or
  input.";
