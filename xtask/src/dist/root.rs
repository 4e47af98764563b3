//! The packages in a root that has the C library and nothing else, without a network.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use super::{Dist, Target};
use crate::Outcome;
use crate::page::{self, call, target_dir};

/// Installs the package and unpacks the archive, each into a new root, and runs the program there. What
/// is for other processors is emulated.
pub fn check(dist: &Dist) -> io::Result<Outcome> {
    let target = dist.target;
    println!("for {}:", target.triple);
    let may = Command::new("unshare").args(NAMESPACES).arg("true").stderr(Stdio::null()).status();
    if !may.is_ok_and(|status| status.success()) {
        println!("NOT TRIED in a clean root: the kernel refuses namespaces here");
        return Ok(Outcome::Clean);
    }
    let is_emulated = target.is_foreign();
    if is_emulated && !page::install("qemu-aarch64-static", "qemu-user-static")? {
        println!("NOT TRIED: there is no emulator");
        return Ok(Outcome::Clean);
    }
    if is_emulated && target.needs_libc() && !Path::new(FOREIGN).join("libc.so.6").exists() {
        println!(
            "NOT TRIED: apt-get install libc6-arm64-cross libgcc-s1-arm64-cross brings {FOREIGN}"
        );
        return Ok(Outcome::Clean);
    }
    let mut outcome = Outcome::Clean;
    let archive = dist.folder.join(format!("{}.tar.gz", dist.name()));
    if let Some(package) = dist.package() {
        let root = clean_root(target)?;
        let is_installed = install(&root, &dist.folder.join(package))?;
        let works = is_installed && works(&root, "/usr/bin/pauseless", is_emulated)?;
        outcome = outcome.and(tried("the Debian package", works));
        let files = [
            "usr/share/man/man1/pauseless-run.1.gz",
            "usr/share/bash-completion/completions/pauseless",
            "usr/share/zsh/vendor-completions/_pauseless",
            "usr/share/fish/vendor_completions.d/pauseless.fish",
        ];
        let has_all = files.iter().all(|file| root.join(file).is_file());
        outcome = outcome.and(tried("its man pages and completions", has_all));
    }
    let root = clean_root(target)?;
    let is_unpacked =
        call(Command::new("tar").arg("-xzf").arg(archive).arg("-C").arg(root.join("opt")))?;
    let program = format!("/opt/{}/pauseless", dist.name());
    let works = is_unpacked && works(&root, &program, is_emulated)?;
    outcome = outcome.and(tried("the archive", works));
    if is_emulated { Ok(outcome) } else { Ok(outcome.and(container(&root, &program)?)) }
}

/// Makes an image of the root, which needs none from a network, and runs the demo in it.
fn container(root: &Path, program: &str) -> io::Result<Outcome> {
    let store = target_dir().join("dist-image");
    // Containers of others are left alone, and file systems that need a module of the kernel.
    let buildah = |args: &[&str]| {
        let mut command = Command::new("buildah");
        command.arg("--root").arg(store.join("root")).arg("--runroot").arg(store.join("run"));
        command.args(["--storage-driver", "vfs"]).args(args).env("BUILDAH_ISOLATION", "chroot");
        command.stderr(Stdio::inherit()).output()
    };
    let Ok(made) = buildah(&["from", "scratch"]) else {
        println!("NOT TRIED in a container: buildah is not installed");
        return Ok(Outcome::Clean);
    };
    let name = String::from_utf8_lossy(&made.stdout).trim().to_string();
    let place = root.to_string_lossy();
    let copied = buildah(&["copy", "--quiet", &name, &place, "/"])?;
    let demo = buildah(&["run", &name, "--", program, "demo", "--out", "/work/demo.html"])?;
    let is_good = made.status.success() && copied.status.success() && demo.status.success();
    let shows = String::from_utf8_lossy(&demo.stdout).contains("deadlock at 2.80 ms");
    buildah(&["rm", &name])?;
    fs::remove_dir_all(store)?;
    println!("a container: {}", if is_good && shows { "works" } else { "FAILED" });
    Ok(if is_good && shows { Outcome::Clean } else { Outcome::Found })
}

fn tried(what: &str, is_good: bool) -> Outcome {
    println!("{what}: {}", if is_good { "works in a clean root" } else { "FAILED" });
    if is_good { Outcome::Clean } else { Outcome::Found }
}

/// A root with the folders of every system, the files of the C library's packages if the program needs
/// them, an emulator if it is for other processors, and no more.
fn clean_root(target: &Target) -> io::Result<PathBuf> {
    let root = target_dir().join("dist-root");
    if root.exists() {
        fs::remove_dir_all(&root)?;
    }
    for folder in ["opt", "tmp", "work", "var/lib/dpkg/updates", "var/lib/dpkg/info"] {
        fs::create_dir_all(root.join(folder))?;
    }
    fs::write(root.join("var/lib/dpkg/status"), "")?;
    if target.is_foreign() {
        fs::create_dir_all(root.join("usr/bin"))?;
        fs::copy(EMULATOR, root.join("usr/bin/emulator"))?;
        let copied = !target.needs_libc()
            || call(Command::new("cp").arg("-a").arg(FOREIGN).arg(root.join("lib")))?;
        return if copied { Ok(root) } else { Err(io::Error::other("no libraries for arm64")) };
    }
    if !target.needs_libc() {
        return Ok(root);
    }
    let listed = Command::new("dpkg-query").args(["--listfiles", "libc6", "libgcc-s1"]).output()?;
    for path in String::from_utf8_lossy(&listed.stdout).lines() {
        let is_library =
            path.contains(".so") && (path.starts_with("/lib") || path.starts_with("/usr/lib"));
        let path = Path::new(path);
        let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { continue };
        if !is_library || path.is_dir() {
            continue;
        }
        // Where /lib is a link, the files are behind it.
        let folder = fs::canonicalize(folder)?;
        let place = root.join(folder.strip_prefix("/").unwrap_or(&folder));
        fs::create_dir_all(&place)?;
        if !call(Command::new("cp").arg("-a").arg(folder.join(name)).arg(place))? {
            return Err(io::Error::other(format!("{} cannot be copied", path.display())));
        }
    }
    for name in ["lib", "lib64"] {
        if let Ok(target) = fs::read_link(Path::new("/").join(name)) {
            std::os::unix::fs::symlink(target, root.join(name))?;
        }
    }
    Ok(root)
}

/// Installs a package as dpkg does; what it depends on was copied, not installed.
fn install(root: &Path, package: &Path) -> io::Result<bool> {
    let mut dpkg = Command::new("unshare");
    dpkg.args(["--map-root-user", "dpkg", "--root"]).arg(root);
    dpkg.args(["--force-depends", "--force-not-root", "--force-architecture", "--log=/dev/null"]);
    dpkg.arg("--install").arg(package);
    let output = dpkg.output()?;
    if !output.status.success() {
        print!(
            "{}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
    }
    Ok(output.status.success())
}

/// Whether the program shows its demo in the root, writes a live page, and starts quickly, unless it is
/// emulated.
fn works(root: &Path, program: &str, is_emulated: bool) -> io::Result<bool> {
    let words = if is_emulated { vec!["/usr/bin/emulator", program] } else { vec![program] };
    let demo = inside(root, &words, "demo")?;
    let table = String::from_utf8_lossy(&demo.stdout);
    let page = fs::read_to_string(root.join("work/pauseless-demo.html")).unwrap_or_default();
    let is_live = page.contains("id=\"scene\"") && page.matches("<script").count() == 2;
    if !(demo.status.success() && table.contains("deadlock at 2.80 ms") && is_live) {
        print!("{table}{}", String::from_utf8_lossy(&demo.stderr));
        return Ok(false);
    }
    Ok(is_emulated || starts_quickly(&root.join(program.trim_start_matches('/')))?)
}

/// Whether the program prints its help quickly, outside of the root: to make namespaces takes longer.
fn starts_quickly(program: &Path) -> io::Result<bool> {
    // The least is the program's own time, whatever else the machine does.
    let mut least = Duration::MAX;
    let mut starts = 0;
    while starts < STARTS_MIN || least >= START_MAX && starts < STARTS_MAX {
        let begin = Instant::now();
        Command::new(program).arg("--help").output()?;
        least = least.min(begin.elapsed());
        starts += 1;
    }
    println!("pauseless --help takes {} us, the least of {starts}", least.as_micros());
    Ok(least < START_MAX)
}

/// Runs the program with the root as its root and no network.
fn inside(root: &Path, program: &[&str], argument: &str) -> io::Result<Output> {
    let mut command = Command::new("unshare");
    command.args(NAMESPACES).arg(format!("--root={}", root.display())).arg("--wd=/work");
    command.args(program).arg(argument).env_clear().env("PATH", "/usr/bin:/bin");
    command.output()
}

/// What runs programs for arm64, of Debian's package qemu-user-static.
const EMULATOR: &str = "/usr/bin/qemu-aarch64-static";
/// The C library for arm64, of Debian's package libc6-arm64-cross.
const FOREIGN: &str = "/usr/aarch64-linux-gnu/lib";
const NAMESPACES: [&str; 3] = ["--map-root-user", "--net", "--mount"];
const STARTS_MIN: usize = 20;
const STARTS_MAX: usize = 200;
const START_MAX: Duration = Duration::from_millis(20);
