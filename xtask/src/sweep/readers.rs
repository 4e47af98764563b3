//! The results of a campaign in DuckDB, pandas and polars, each as its users install it.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{fs, io};

use super::skipped;
use crate::Outcome;
use crate::page::{call, program, target_dir};
use crate::repo::root;

/// Makes a small campaign and asks all readers what is in its results.
pub fn run() -> io::Result<Outcome> {
    let folder = target_dir().join("sweep-readers");
    fs::create_dir_all(&folder)?;
    let python = match python(&folder.join("python"))? {
        Python::Ready(python) => python,
        Python::Missing(why) => return Ok(skipped(&why)),
    };
    let results = folder.join("results");
    if results.exists() {
        fs::remove_dir_all(&results)?;
    }
    let file = folder.join("readers.sweep.toml");
    let scenario = root().join("scenarios/gfc-ring.toml");
    fs::write(&file, CAMPAIGN.replace("SCENARIO", &scenario.to_string_lossy()))?;
    let mut sweep = Command::new(program());
    sweep.args(["sweep", "--quiet"]).arg(&file);
    sweep.arg("--out").arg(&results);
    let mut read = Command::new(python);
    read.arg("-c").arg(READ).arg(&results);
    for step in [&mut sweep, &mut read] {
        if !call(step)? {
            println!("failed: {step:?}");
            return Ok(Outcome::Found);
        }
    }
    Ok(Outcome::Clean)
}

enum Python {
    /// One that has all readers.
    Ready(PathBuf),
    /// Why there is none.
    Missing(String),
}

/// A Python of our own in this folder, with the readers installed.
fn python(folder: &Path) -> io::Result<Python> {
    let python = folder.join("bin/python");
    let has_all = || is_success(Command::new(&python).args(["-c", IMPORT]));
    if has_all() {
        return Ok(Python::Ready(python));
    }
    // Half of one is of no use.
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    if !is_success(Command::new("python3").args(["-m", "venv"]).arg(folder)) {
        let why = "there is no python3 with venv (Debian: apt-get install python3-venv)";
        return Ok(Python::Missing(why.to_string()));
    }
    let mut install = Command::new(&python);
    install.args(["-m", "pip", "install", "--quiet"]);
    install.arg("--disable-pip-version-check").args(READERS);
    if !call(&mut install)? || !has_all() {
        let why = format!("pip cannot install {}", READERS.join(", "));
        return Ok(Python::Missing(why));
    }
    Ok(Python::Ready(python))
}

fn is_success(command: &mut Command) -> bool {
    let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

const READERS: [&str; 4] = ["duckdb", "pandas", "polars", "pyarrow"];
const IMPORT: &str = "import duckdb, pandas, polars, pyarrow";

/// PFC deadlocks in all six runs, GFC in none, so half of `deadlock_ms` is null.
const CAMPAIGN: &str = "
title = 'A ring for readers'
scenario = 'SCENARIO'
keep = ['deadlock_ms', 'pauses']

[[axis]]
name = 'scheme'
[axis.cases]
PFC = {}
GFC = { flow_control = { kind = 'gfc-buffer', b1 = '750 KB', bm = '1000 KB' } }

[[axis]]
key = 'duration'
values = ['10 ms', '20 ms']

[[axis]]
key = 'seed'
seeds = 3
";

/// What every reader must see, in results and in parts.
const READ: &str = r#"
import glob, sys
import duckdb, pandas, polars

folder = sys.argv[1]
parts = folder + "/parts/*.parquet"
for files in [folder + "/results.parquet", parts]:
    # DuckDB
    columns = duckdb.sql(f"DESCRIBE SELECT * FROM '{files}'").fetchall()
    types = {name: kind for name, kind, *_ in columns}
    assert list(types)[:4] == ["task", "scenario", "version", "seed"], types
    assert list(types)[-2:] == ["ended", "error"], types
    for name, kind in [("seed", "UBIGINT"), ("duration_s", "DOUBLE"), ("deadlock", "DOUBLE"),
                       ("deadlock_ms", "DOUBLE"), ("scheme", "VARCHAR"), ("error", "VARCHAR")]:
        assert types[name] == kind, (name, types[name])
    groups = duckdb.sql(f"""
        SELECT scheme, count(*), avg(deadlock), count(deadlock_ms), count(error), max(seed)
        FROM '{files}' GROUP BY scheme ORDER BY scheme""").fetchall()
    assert groups == [("GFC", 6, 0.0, 0, 0, 3), ("PFC", 6, 1.0, 6, 0, 3)], groups

    # pandas
    frame = pandas.concat([pandas.read_parquet(file) for file in sorted(glob.glob(files))])
    assert len(frame) == 12 and frame["task"].is_unique
    assert frame["seed"].dtype == "uint64", frame["seed"].dtype
    assert frame["deadlock"].dtype == "float64", frame["deadlock"].dtype
    assert isinstance(frame["scheme"].iloc[0], str) and frame["error"].isna().all()
    assert frame.groupby("scheme")["deadlock"].mean().to_dict() == {"GFC": 0.0, "PFC": 1.0}
    assert frame["deadlock_ms"].isna().sum() == 6
    assert sorted(frame["duration_s"].unique()) == [0.01, 0.02]

    # polars
    frame = polars.scan_parquet(files).collect()
    schema = frame.schema
    assert schema["seed"] == polars.UInt64 and schema["deadlock"] == polars.Float64, schema
    assert schema["scheme"] == polars.String and schema["error"] == polars.String, schema
    assert frame["error"].null_count() == 12 and frame["deadlock_ms"].null_count() == 6
    means = frame.group_by("scheme").agg(polars.col("deadlock").mean()).sort("scheme")
    assert means.rows() == [("GFC", 0.0), ("PFC", 1.0)], means

# The merged file is in the order of the plan, and says what it is.
frame = pandas.read_parquet(folder + "/results.parquet")
assert list(frame["scheme"]) == ["PFC"] * 6 + ["GFC"] * 6
assert list(frame["seed"]) == [1, 2, 3] * 4
notes = duckdb.sql(f"SELECT key, value FROM parquet_kv_metadata('{folder}/results.parquet')")
notes = {bytes(key).decode(): bytes(value).decode() for key, value in notes.fetchall()}
assert notes["pauseless.title"] == "A ring for readers" and notes["pauseless.tasks"] == "12", notes
assert notes["pauseless.version"] == frame["version"].iloc[0], notes
for module in [duckdb, pandas, polars]:
    print(module.__name__, module.__version__, "reads them")
"#;
