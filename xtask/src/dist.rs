//! What a release consists of: an archive, a Debian package, a container file, a list of contents and
//! checksums, each tried in a root that has nothing but the C library.

pub mod equal;
mod root;
mod sbom;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Outcome;
use crate::page::{call, target_dir};
use crate::repo::root as repository;

/// How the program is built that is packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Build {
    /// For release, for any glibc since 2.17, with zig as the linker.
    Portable,
    /// For release, for this machine and newer ones.
    Native,
    /// What the tests have built, to try the packages without another build.
    Tested,
    /// Not optimised, for this machine: to compare builds sooner.
    Quick,
}

/// Makes everything in `target/dist` and tries it: for all targets of [`TARGETS`] whose standard library
/// the toolchain has, or for this machine alone.
pub fn run(build: Build) -> io::Result<Outcome> {
    let folder = target_dir().join("dist");
    let stage = target_dir().join("dist-stage");
    for folder in [&folder, &stage] {
        if folder.exists() {
            fs::remove_dir_all(folder)?;
        }
        fs::create_dir_all(folder)?;
    }
    let mut made = Vec::new();
    // The first target is that of this machine: its program writes man pages for all.
    let mut own = None;
    for target in &TARGETS {
        let is_own = target.triple == TARGET;
        if !is_own && build != Build::Portable {
            continue;
        }
        if !is_own && !target.has_library()? {
            println!("NOT MADE for {}: rustup target add {0} brings its library", target.triple);
            continue;
        }
        let Some(program) = compile(build, target)? else { return Ok(Outcome::Found) };
        let dist = Dist { folder: folder.clone(), stage: stage.clone(), build, target };
        let own: &PathBuf = own.get_or_insert_with(|| program.clone());
        if !(dist.stage(&program, own)? && dist.archive()? && dist.debian()?) {
            return Ok(Outcome::Found);
        }
        made.push(dist);
    }
    fs::write(folder.join("Containerfile"), made[0].container_file())?;
    fs::write(folder.join(format!("pauseless-{VERSION}.cdx.json")), sbom::make()?)?;
    if !made[0].checksums()? {
        return Ok(Outcome::Found);
    }
    for entry in fs::read_dir(&folder)? {
        let entry = entry?;
        println!("{:>12} {}", entry.metadata()?.len(), entry.file_name().to_string_lossy());
    }
    let mut outcome = Outcome::Clean;
    for dist in &made {
        let is_small = dist.is_small()?;
        outcome = outcome.and(root::check(dist)?);
        outcome = outcome.and(if is_small { Outcome::Clean } else { Outcome::Found });
    }
    Ok(outcome)
}

/// A sort of machine that the program is built for.
pub struct Target {
    pub triple: &'static str,
    /// The same as cargo-zigbuild writes it, with the oldest glibc.
    portable: &'static str,
    /// What Debian calls it; none where the program needs no C library and so no package.
    debian: Option<&'static str>,
}

/// Targets, the one of this machine first. Those with musl need no C library at all.
static TARGETS: [Target; 4] = [
    Target { triple: TARGET, portable: PORTABLE, debian: Some("amd64") },
    Target {
        triple: "x86_64-unknown-linux-musl",
        portable: "x86_64-unknown-linux-musl",
        debian: None,
    },
    Target {
        triple: "aarch64-unknown-linux-gnu",
        portable: "aarch64-unknown-linux-gnu.2.17",
        debian: Some("arm64"),
    },
    Target {
        triple: "aarch64-unknown-linux-musl",
        portable: "aarch64-unknown-linux-musl",
        debian: None,
    },
];

impl Target {
    /// Whether the toolchain has Rust's standard library for it.
    fn has_library(&self) -> io::Result<bool> {
        let mut rustc = Command::new("rustc");
        let output = rustc.args(["--print", "target-libdir", "--target", self.triple]).output()?;
        Ok(Path::new(String::from_utf8_lossy(&output.stdout).trim()).is_dir())
    }

    /// Whether it is for other processors than this machine has.
    pub fn is_foreign(&self) -> bool {
        self.triple.starts_with("aarch64")
    }

    /// Whether the program needs a C library where it runs.
    pub fn needs_libc(&self) -> bool {
        self.triple.ends_with("gnu")
    }
}

/// What is made for one target.
pub struct Dist {
    /// What is given to others.
    pub folder: PathBuf,
    /// What the archives have in them.
    stage: PathBuf,
    build: Build,
    pub target: &'static Target,
}

impl Dist {
    /// The name of the archive without its ending, which is the folder inside it.
    pub fn name(&self) -> String {
        format!("pauseless-{VERSION}-{}", self.target.triple)
    }

    /// The file name of the Debian package, if there is one.
    pub fn package(&self) -> Option<String> {
        Some(format!("pauseless_{VERSION}_{}.deb", self.target.debian?))
    }

    /// Puts together what the archive has in it. `own` is the same program for this machine.
    fn stage(&self, program: &Path, own: &Path) -> io::Result<bool> {
        let top = self.stage.join(self.name());
        fs::create_dir_all(top.join("completions"))?;
        let packed = top.join("pauseless");
        fs::copy(program, &packed)?;
        // What is built for release has been stripped by its linker.
        if self.build == Build::Tested && !call(Command::new("strip").arg(&packed))? {
            return Ok(false);
        }
        for name in ["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE"] {
            fs::copy(repository().join(name), top.join(name))?;
        }
        let examples = top.join("scenarios");
        fs::create_dir_all(&examples)?;
        for entry in fs::read_dir(repository().join("scenarios"))? {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == "toml") {
                fs::copy(&path, examples.join(path.file_name().unwrap_or_default()))?;
            }
        }
        for (shell, file) in COMPLETIONS {
            let output = Command::new(own).args(["complete", shell]).output()?;
            if !output.status.success() {
                return Ok(false);
            }
            fs::write(top.join("completions").join(file), output.stdout)?;
        }
        call(Command::new(own).arg("man").arg(top.join("man/man1")))
    }

    /// Packs the archive: the same contents give the same bytes.
    fn archive(&self) -> io::Result<bool> {
        let archive = self.folder.join(format!("{}.tar.gz", self.name()));
        let mut tar = Command::new("tar");
        tar.args(["--sort=name", "--mtime=@0", "--owner=0", "--group=0", "--numeric-owner"]);
        tar.arg(format!("--use-compress-program=gzip -{}n", self.level())).arg("-cf").arg(archive);
        call(tar.arg("-C").arg(&self.stage).arg(self.name()))
    }

    /// How much packing may cost, up to 9: a program that is only tried may be large.
    fn level(&self) -> u8 {
        if self.build == Build::Tested { 1 } else { 9 }
    }

    /// Builds the Debian package, where there is one.
    fn debian(&self) -> io::Result<bool> {
        let Some(package) = self.package() else { return Ok(true) };
        let top = self.stage.join(self.name());
        let tree = self.stage.join(format!("debian-{}", self.target.triple));
        let place = |from: &str, to: &str| -> io::Result<()> {
            let to = tree.join(to);
            fs::create_dir_all(to.parent().unwrap_or(&tree))?;
            fs::copy(top.join(from), to).map(drop)
        };
        place("pauseless", "usr/bin/pauseless")?;
        place("completions/pauseless.bash", "usr/share/bash-completion/completions/pauseless")?;
        place("completions/_pauseless", "usr/share/zsh/vendor-completions/_pauseless")?;
        let fish = "usr/share/fish/vendor_completions.d/pauseless.fish";
        place("completions/pauseless.fish", fish)?;
        place("CHANGELOG.md", "usr/share/doc/pauseless/changelog")?;
        place("LICENSE-APACHE", "usr/share/doc/pauseless/LICENSE-APACHE")?;
        for folder in ["scenarios", "man/man1"] {
            for entry in fs::read_dir(top.join(folder))? {
                let name = entry?.file_name().to_string_lossy().into_owned();
                let home =
                    if folder == "scenarios" { "doc/pauseless/examples" } else { "man/man1" };
                place(&format!("{folder}/{name}"), &format!("usr/share/{home}/{name}"))?;
            }
        }
        let copyright = fs::read_to_string(repository().join("LICENSE-MIT"))?;
        let copyright = format!(
            "Pauseless is licensed under these terms, or, as you like, under those in \
             LICENSE-APACHE.\n\n{copyright}"
        );
        fs::write(tree.join("usr/share/doc/pauseless/copyright"), copyright)?;
        let doc = tree.join("usr/share/doc/pauseless/changelog");
        let pages = tree.join("usr/share/man/man1");
        let is_packed = call(Command::new("gzip").args(["-9nr"]).arg(doc).arg(pages))?;
        fs::create_dir_all(tree.join("DEBIAN"))?;
        fs::write(tree.join("DEBIAN/control"), self.control(folder_size(&tree)? / 1024))?;
        let mut build = Command::new("dpkg-deb");
        build.args(["--root-owner-group", "-Zxz", &format!("-z{}", self.level())]);
        build.arg("--build").arg(&tree);
        build.env("SOURCE_DATE_EPOCH", "0");
        Ok(is_packed && call(build.arg(self.folder.join(package)))?)
    }

    fn control(&self, kibibytes: u64) -> String {
        // Another build needs what the machine that built it has.
        let libraries = match self.build {
            Build::Portable => "libc6 (>= 2.17)",
            Build::Native | Build::Tested | Build::Quick => "libc6 (>= 2.35), libgcc-s1",
        };
        format!(
            "Package: pauseless\nVersion: {VERSION}\nArchitecture: {}\n\
             Maintainer: The Pauseless maintainers <maintainers@pauseless.example>\n\
             Installed-Size: {kibibytes}\nDepends: {libraries}\nSection: net\nPriority: optional\n\
             Description: workbench for lossless networks\n \
             Says whether an Ethernet fabric with PFC or an InfiniBand fabric can deadlock and because\n \
             of whom, plans its buffers, and simulates it packet by packet.\n",
            self.target.debian.unwrap_or_default(),
        )
    }

    fn container_file(&self) -> String {
        format!(
            "# podman build -t pauseless . && podman run --rm -v \"$PWD:/work\" pauseless demo\n\
             FROM debian:stable-slim\n\
             COPY pauseless_{VERSION}_*.deb /tmp/\n\
             RUN dpkg --install /tmp/*_$(dpkg --print-architecture).deb && rm /tmp/*.deb\n\
             WORKDIR /work\n\
             ENTRYPOINT [\"/usr/bin/pauseless\"]\n"
        )
    }

    fn checksums(&self) -> io::Result<bool> {
        let script = "sha256sum -- * > ../SHA256SUMS && mv ../SHA256SUMS . && sha256sum --check --quiet SHA256SUMS";
        call(Command::new("sh").args(["-c", script]).current_dir(&self.folder))
    }

    /// Whether the program is small, and asks for no newer glibc than it says.
    fn is_small(&self) -> io::Result<bool> {
        let program = self.stage.join(self.name()).join("pauseless");
        let bytes = fs::read(program)?;
        let (major, minor) = newest_glibc(&bytes);
        let size = bytes.len();
        println!("{}: {size} bytes, for glibc {major}.{minor}", self.target.triple);
        let is_old = self.build != Build::Portable || (major, minor) <= (2, 17);
        let is_small = self.build == Build::Tested || bytes.len() < SIZE_MAX;
        Ok(is_old && is_small)
    }
}

/// Builds the program; `None` if that failed, which was said.
fn compile(build: Build, target: &Target) -> io::Result<Option<PathBuf>> {
    let folder = match build {
        Build::Tested => return Ok(Some(target_dir().join("debug/pauseless"))),
        Build::Native => "release".to_string(),
        Build::Portable => format!("{}/release", target.triple),
        Build::Quick => format!("{}/debug", target.triple),
    };
    if build == Build::Portable && !fetch_tools(&target_dir().join("dist-tools"))? {
        return Ok(None);
    }
    // Paths of sources in the registry are only known once they are there.
    if !call(Command::new("cargo").args(["fetch", "--quiet", "--locked"]))? {
        return Ok(None);
    }
    let is_built = call(&mut compile_command(build, target)?)?;
    Ok(is_built.then(|| target_dir().join(folder).join("pauseless")))
}

/// The command that builds the program for release from the sources where it is called.
fn compile_command(build: Build, target: &Target) -> io::Result<Command> {
    let args = match build {
        Build::Native | Build::Tested => vec!["build", "--release"],
        Build::Portable => vec!["zigbuild", "--release", "--target", target.portable],
        // A target of its own keeps it apart from what tests have built.
        Build::Quick => vec!["build", "--target", target.triple],
    };
    let mut cargo = Command::new("cargo");
    cargo.args(args).args(["--locked", "--package", "pauseless"]);
    if build == Build::Quick {
        cargo.env("CARGO_PROFILE_DEV_OPT_LEVEL", "0").env("CARGO_PROFILE_DEV_DEBUG", "0");
        cargo.env("CARGO_INCREMENTAL", "0");
        for entry in fs::read_dir(repository().join("crates"))? {
            let name = entry?.file_name().to_string_lossy().into_owned();
            cargo.arg("--config").arg(format!("profile.dev.package.{name}.opt-level=0"));
        }
    }
    if build == Build::Portable {
        let tools = target_dir().join("dist-tools");
        let path = std::env::var("PATH").unwrap_or_default();
        cargo.env("PATH", format!("{}:{path}", tools.join("bin").display()));
        cargo.env("PYTHONPATH", &tools);
    }
    // Slower to build than the thin one of the profile, and a smaller program.
    cargo.env("CARGO_PROFILE_RELEASE_LTO", "fat");
    cargo.env("CARGO_PROFILE_RELEASE_STRIP", "symbols");
    cargo.env("CARGO_ENCODED_RUSTFLAGS", equal::without_folders()?);
    Ok(cargo)
}

/// Fetches zig, and the tool that lets cargo link with it, unless they are there.
fn fetch_tools(tools: &Path) -> io::Result<bool> {
    if tools.join("bin/cargo-zigbuild").is_file() {
        return Ok(true);
    }
    let mut pip = Command::new("python3");
    pip.args(["-m", "pip", "install", "--quiet", "--root-user-action=ignore", "--target"]);
    call(pip.arg(tools).args(TOOLS))
}

/// The newest version of glibc whose symbols the program asks for.
fn newest_glibc(program: &[u8]) -> (u32, u32) {
    const MARK: &[u8] = b"GLIBC_";
    let places = program.windows(MARK.len()).enumerate().filter(|(_, bytes)| *bytes == MARK);
    let versions = places.filter_map(|(at, _)| {
        let rest = &program[at + MARK.len()..];
        let end = rest.iter().position(|byte| !byte.is_ascii_digit() && *byte != b'.')?;
        let text = std::str::from_utf8(&rest[..end]).ok()?;
        let mut parts = text.split('.').map(|part| part.parse().ok());
        Some((parts.next()??, parts.next()??))
    });
    versions.max().unwrap_or((0, 0))
}

/// The bytes of all files below a folder.
fn folder_size(folder: &Path) -> io::Result<u64> {
    let mut size = 0;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let is_folder = entry.file_type()?.is_dir();
        size += if is_folder { folder_size(&entry.path())? } else { entry.metadata()?.len() };
    }
    Ok(size)
}

const VERSION: &str = env!("CARGO_PKG_VERSION");
/// The target of the machines that releases are made on.
const TARGET: &str = "x86_64-unknown-linux-gnu";
/// The same for the glibc of 2012, as cargo-zigbuild writes it.
const PORTABLE: &str = "x86_64-unknown-linux-gnu.2.17";
const TOOLS: [&str; 2] = ["ziglang==0.15.2", "cargo-zigbuild==0.24.0"];
const SIZE_MAX: usize = 20_000_000;
/// Shells with the names that their completions have in packages.
const COMPLETIONS: [(&str, &str); 3] =
    [("bash", "pauseless.bash"), ("zsh", "_pauseless"), ("fish", "pauseless.fish")];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_version_counts_as_a_number() {
        let program = b"..GLIBC_2.2.5\0GLIBC_2.17\0GLIBC_2.9\0GLIBC_PRIVATE\0";
        assert_eq!(newest_glibc(program), (2, 17));
        assert_eq!(newest_glibc(b""), (0, 0));
    }
}
