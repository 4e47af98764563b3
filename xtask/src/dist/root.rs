//! The packages in a root that has the C library and nothing else, without a network.

use std::fs;
use std::io;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use super::Dist;
use crate::Outcome;
use crate::page::{call, target_dir};

/// Installs the package and unpacks the archive, each into a new root, and runs the program there.
pub fn check(dist: &Dist) -> io::Result<Outcome> {
    let may = Command::new("unshare").args(NAMESPACES).arg("true").stderr(Stdio::null()).status();
    if !may.is_ok_and(|status| status.success()) {
        println!("NOT TRIED in a clean root: the kernel refuses namespaces here");
        return Ok(Outcome::Clean);
    }
    let mut outcome = Outcome::Clean;
    let package = dist.folder.join(Dist::package());
    let archive = dist.folder.join(format!("{}.tar.gz", Dist::name()));
    let root = clean_root()?;
    let is_installed = install(&root, &package)?;
    outcome = outcome
        .and(tried("the Debian package", is_installed && works(&root, "/usr/bin/pauseless")?));
    let files =
        ["usr/share/man/man1/pauseless-run.1.gz", "usr/share/zsh/vendor-completions/_pauseless"];
    let has_all = files.iter().all(|file| root.join(file).is_file());
    outcome = outcome.and(tried("its man pages and completions", has_all));
    let root = clean_root()?;
    let is_unpacked =
        call(Command::new("tar").arg("-xzf").arg(archive).arg("-C").arg(root.join("opt")))?;
    let program = format!("/opt/{}/pauseless", Dist::name());
    outcome = outcome.and(tried("the archive", is_unpacked && works(&root, &program)?));
    Ok(outcome.and(container(&root, &program)?))
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

/// A root with the files of the C library's packages, the folders of every system, and no more.
fn clean_root() -> io::Result<std::path::PathBuf> {
    let root = target_dir().join("dist-root");
    if root.exists() {
        fs::remove_dir_all(&root)?;
    }
    for folder in ["opt", "tmp", "work", "var/lib/dpkg/updates", "var/lib/dpkg/info"] {
        fs::create_dir_all(root.join(folder))?;
    }
    fs::write(root.join("var/lib/dpkg/status"), "")?;
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
    dpkg.args(["--force-depends", "--force-not-root", "--log=/dev/null", "--install"]).arg(package);
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

/// Whether the program shows its demo in the root, writes a live page, and starts quickly.
fn works(root: &Path, program: &str) -> io::Result<bool> {
    let demo = inside(root, program, "demo")?;
    let table = String::from_utf8_lossy(&demo.stdout);
    let page = fs::read_to_string(root.join("work/pauseless-demo.html")).unwrap_or_default();
    let is_live = page.contains("id=\"scene\"") && page.matches("<script").count() == 2;
    if !(demo.status.success() && table.contains("deadlock at 2.80 ms") && is_live) {
        print!("{table}{}", String::from_utf8_lossy(&demo.stderr));
        return Ok(false);
    }
    let mut starts = Vec::new();
    for _ in 0..STARTS {
        let begin = Instant::now();
        inside(root, program, "--help")?;
        starts.push(begin.elapsed());
    }
    // The least is the program's own time, whatever else the machine does.
    let start = starts.into_iter().min().unwrap_or_default();
    println!("pauseless --help takes {} us, namespace included", start.as_micros());
    Ok(start < START_MAX)
}

/// Runs the program with the root as its root and no network.
fn inside(root: &Path, program: &str, argument: &str) -> io::Result<Output> {
    let mut command = Command::new("unshare");
    command.args(NAMESPACES).arg(format!("--root={}", root.display())).arg("--wd=/work");
    command.args([program, argument]).env_clear().env("PATH", "/usr/bin:/bin");
    command.output()
}

const NAMESPACES: [&str; 3] = ["--map-root-user", "--net", "--mount"];
const STARTS: usize = 20;
const START_MAX: Duration = Duration::from_millis(20);
