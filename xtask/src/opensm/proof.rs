//! What `check --fix` proposes, carried out by opensm, and the tables that come of it.

use std::path::PathBuf;
use std::time::Duration;
use std::{fs, io};

use super::cabling::Fabric;
use super::lab::{self, Dumps, Members, Order};
use super::tables::Adapters;
use super::verdict;

/// The kinds of proposals that `check --fix` knows.
pub const KINDS: [&str; 4] = ["updn", "class", "leave-out", "layers"];

/// What became of a proposal.
pub struct Proved {
    pub kind: &'static str,
    pub state: State,
}

pub enum State {
    /// Asking opensm for all its paths would take too long.
    Skipped,
    /// `check` does not propose it here: what it says.
    NotOffered(String),
    /// opensm did what was proposed.
    Applied(Box<Applied>),
    /// It could not be carried out, or the tables are not what was promised.
    Broken(String),
}

pub struct Applied {
    /// CPU time of `check`, which looked for this proposal and for others; right if no other
    /// process of this one ended meanwhile.
    pub cpu: Duration,
    pub dumps: Dumps,
    /// What ibdmchk says of the tables.
    pub ibdmchk: Option<bool>,
}

/// The kinds that `check` proposes for these tables, the best first.
pub fn preferred(files: &[PathBuf]) -> io::Result<Vec<String>> {
    let verdict = verdict::ours(files, &[])?;
    let Some((_, advice)) = verdict.json.split_once("\"advice\": [") else { return Ok(Vec::new()) };
    let mut kinds = Vec::new();
    for part in advice.split("\"kind\": \"").skip(1) {
        let kind = part.split('"').next().unwrap_or_default();
        if part.contains("\"helps\": true") && KINDS.contains(&kind) {
            kinds.push(kind.to_string());
        }
    }
    Ok(kinds)
}

/// Lets `check` write a proposal for the tables of minhop, lets opensm follow it, and looks at what
/// it then has in its tables: no cycle, and no pair that is lost, unless it was meant to be. Large
/// fabrics are asked for all their paths only if this is to be thorough.
pub fn prove(
    fabric: &Fabric,
    minhop: &Dumps,
    kind: &'static str,
    is_thorough: bool,
) -> io::Result<Proved> {
    let proposal = minhop.folder.with_file_name(format!("fix-{kind}"));
    if proposal.exists() {
        fs::remove_dir_all(&proposal)?;
    }
    let out = proposal.to_string_lossy().into_owned();
    let before = lab::cpu_of_children()?;
    let asked = verdict::ours(&minhop.files, &["--fix", kind, "--out", &out])?;
    let cpu = lab::cpu_of_children()?.saturating_sub(before);
    let done = |state| Ok(Proved { kind, state });
    if asked.exit == Some(2) {
        return done(State::NotOffered(asked.errors.trim().to_string()));
    }
    if asked.exit != Some(1) {
        let (exit, errors) = (asked.exit, asked.errors);
        return done(State::Broken(format!("check --fix ends with {exit:?}: {errors}")));
    }
    done(match apply(fabric, minhop, kind, is_thorough)? {
        State::Applied(applied) => State::Applied(Box::new(Applied { cpu, ..*applied })),
        other => other,
    })
}

fn apply(fabric: &Fabric, minhop: &Dumps, kind: &str, is_thorough: bool) -> io::Result<State> {
    let proposal = &minhop.folder.with_file_name(format!("fix-{kind}"));
    let read = |name: &str| fs::read_to_string(proposal.join(name));
    let options = read("opensm.args")?;
    let options = Vec::from_iter(options.split_whitespace().map(str::to_string));
    let engine = options.iter().position(|option| option == "-R");
    let engine = engine.and_then(|at| options.get(at + 1)).map_or("minhop", String::as_str);
    let left_out: Vec<String> = match kind {
        "leave-out" => read("left-out.txt")?.lines().map(str::to_string).collect(),
        _ => Vec::new(),
    };
    // Who may send to whom, and at which level, is opensm's to say, as it is for adapters.
    let has_partitions = options.iter().any(|option| option == "-P");
    let members = if has_partitions {
        Some(members(fabric, minhop, &read("partitions.conf")?)?)
    } else {
        None
    };
    let service_levels = has_partitions || options.iter().any(|option| option == "-Q");
    if service_levels && !is_thorough && fabric.is_large() {
        return Ok(State::Skipped);
    }
    let folder = Some(proposal.as_path());
    let partition = members.as_ref();
    let order = Order { engine, options: &options, folder, service_levels, partition };
    let applied = proposal.with_file_name(format!("applied-{kind}"));
    let dumps = match lab::run(fabric, &order, &applied)? {
        lab::Outcome::Up(dumps) => *dumps,
        lab::Outcome::Refused(why) => return Ok(State::Broken(format!("opensm: {why}"))),
    };
    let tables = &dumps.tables;
    if tables.is_cyclic {
        return Ok(State::Broken("the tables that opensm made are cyclic".into()));
    }
    if tables.lost > 0 {
        return Ok(State::Broken(format!("{} of {} pairs are lost", tables.lost, tables.pairs)));
    }
    // The files of service levels have no pairs that share no partition.
    let files = if has_partitions { &dumps.files[..3] } else { &dumps.files };
    let leave_out = left_out.iter().flat_map(|name| ["--leave-out", name.as_str()]);
    let again = verdict::ours(files, &Vec::from_iter(leave_out))?;
    if again.is_cyclic() != Some(false) || again.exit != Some(0) {
        let (word, exit, errors) = (again.word, again.exit, again.errors);
        let why = format!("check says {word} of the new tables, exit {exit:?}: {errors}");
        return Ok(State::Broken(why));
    }
    // ibdmchk cannot be told of partitions.
    let ibdmchk = if has_partitions { None } else { verdict::ibdmchk(&dumps)? };
    if ibdmchk == Some(true) {
        return Ok(State::Broken("ibdmchk finds credit loops in the new tables".into()));
    }
    Ok(State::Applied(Box::new(Applied { cpu: Duration::ZERO, dumps, ibdmchk })))
}

/// Those that stay by `partitions.conf`: the members by GUID of a partition other than the default.
fn members(fabric: &Fabric, minhop: &Dumps, partitions: &str) -> io::Result<Members> {
    let words = partitions.split(|letter: char| letter == ',' || letter.is_whitespace());
    let guids = words.filter_map(|word| word.strip_suffix("=full")?.strip_prefix("0x"));
    let ports = guids.filter_map(|guid| u64::from_str_radix(guid, 16).ok()).collect();
    let list = fs::read_to_string(minhop.folder.join("opensm-subnet.lst"))?;
    let adapters = Adapters::read(&list, fabric.lmc).map_err(io::Error::other)?;
    let manager = adapters.node_with(&ports);
    let manager = manager.ok_or_else(|| io::Error::other("partitions.conf leaves nobody"))?;
    Ok(Members { ports, manager })
}
