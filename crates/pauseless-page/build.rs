//! Bundles `web/` with npm and esbuild, outside of the source tree.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::{env, fs, io};

fn main() -> ExitCode {
    for path in SOURCES {
        println!("cargo:rerun-if-changed=web/{path}");
    }
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed={NOTICES}");
    println!("cargo:rerun-if-env-changed={SWITCH}");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    let made = match env::var(SWITCH).as_deref() {
        Ok("static") => Ok(None),
        _ => bundle(&out),
    };
    let text = match made {
        Ok(Some(text)) => text,
        Ok(None) => "None".to_string(),
        Err(problem) => {
            eprintln!("{problem}\nset {SWITCH}=static to build without the live page");
            return ExitCode::FAILURE;
        }
    };
    fs::write(out.join("bundle.rs"), text).expect("the output folder can be written to");
    ExitCode::SUCCESS
}

/// The bundle as a Rust expression; `None` where there is no npm, or nobody it can ask.
fn bundle(out: &Path) -> Result<Option<String>, String> {
    let npm = Command::new("npm").arg("--version").output();
    if matches!(&npm, Err(error) if error.kind() == io::ErrorKind::NotFound) {
        warn("npm was not found; on Debian: apt-get install npm");
        return Ok(None);
    }
    let web = out.join("web");
    copy(Path::new("web"), &web).map_err(|error| format!("web: {error}"))?;
    if let Err(problem) = install(&web) {
        warn(&problem);
        return Ok(None);
    }
    call(&web, &["run", "--ignore-scripts", "build"])?;
    let mut licences =
        fs::read_to_string(NOTICES).map_err(|error| format!("{NOTICES}: {error}"))?;
    licences.push('\n');
    for library in LIBRARIES {
        let path = web.join("node_modules").join(library).join("LICENSE");
        let text = fs::read_to_string(&path);
        let text = text.map_err(|error| format!("{}: {error}", path.display()))?;
        licences.push_str(&format!("{library}\n\n{}\n\n", text.trim()));
    }
    fs::write(web.join("licences.txt"), licences).map_err(|error| error.to_string())?;
    let include = |name: &str| format!("include_str!({:?})", web.join(name));
    Ok(Some(format!(
        "Some(Bundle {{ script: {}, style: {}, licences: {} }})",
        include("page.js"),
        include("page.css"),
        include("licences.txt"),
    )))
}

/// Fetches what the lock pins, unless that was done already.
fn install(web: &Path) -> Result<(), String> {
    let lock = fs::read(web.join("package-lock.json")).map_err(|error| error.to_string())?;
    let stamp = web.join("installed-lock.json");
    let is_there = web.join("node_modules").is_dir();
    if is_there && fs::read(&stamp).is_ok_and(|installed| installed == lock) {
        return Ok(());
    }
    // Whoever is cut off from the registry is to know soon.
    let quickly = ["--prefer-offline", "--fetch-retries=1", "--fetch-timeout=20000"];
    let args = [&["ci", "--ignore-scripts", "--omit=dev"][..], &quickly].concat();
    call(web, &args)?;
    fs::write(stamp, lock).map_err(|error| error.to_string())
}

/// Says on one line why pages will be still, and what to do about it.
fn warn(reason: &str) {
    let lines = reason
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with("npm warn"));
    println!(
        "cargo:warning=pages will have still figures only: {}; \
         once that is mended: touch crates/pauseless-page/build.rs",
        lines.take(4).collect::<Vec<_>>().join(" ")
    );
}

/// Runs npm, and gives its own words if it fails.
fn call(web: &Path, args: &[&str]) -> Result<(), String> {
    let output = Command::new("npm").args(args).current_dir(web).output();
    let output = output.map_err(|error| format!("npm: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let words = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_string();
    Err(format!(
        "npm {} failed:\n{}\n{}",
        args.join(" "),
        words(&output.stdout),
        words(&output.stderr)
    ))
}

/// Copies what the bundle is made of.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    for path in SOURCES {
        let (from, to) = (from.join(path), to.join(path));
        if !from.is_dir() {
            fs::create_dir_all(to.parent().expect("a folder above"))?;
            fs::copy(from, to)?;
            continue;
        }
        // What was taken away since the last time must not stay.
        if to.exists() {
            fs::remove_dir_all(&to)?;
        }
        fs::create_dir_all(&to)?;
        for entry in fs::read_dir(from)? {
            let entry = entry?;
            fs::copy(entry.path(), to.join(entry.file_name()))?;
        }
    }
    Ok(())
}

const SOURCES: [&str; 4] = ["package.json", "package-lock.json", ".npmrc", "src"];

/// What is in the bundle, as opposed to what makes it.
const LIBRARIES: [&str; 2] = ["cytoscape", "uplot"];

/// The licences of what these libraries contain themselves.
const NOTICES: &str = "notices.txt";

/// With `static` there is no bundle.
const SWITCH: &str = "PAUSELESS_PAGE";
