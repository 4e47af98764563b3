//! opensm on a fabric that ibsim simulates, and the dumps that it leaves behind.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};
use std::{env, fs, io};

use super::cabling::Fabric;
use super::path_records;
use super::tables::{self, Paths, Tables};

/// What opensm is asked for.
pub struct Order<'a> {
    /// Its routing engine, which must be the one that fills the tables in the end.
    pub engine: &'a str,
    /// Its other options. Paths in them are relative to `folder`.
    pub options: &'a [String],
    /// Where opensm is started, if the options need that.
    pub folder: Option<&'a Path>,
    /// Whether opensm is asked for every path and its service level; else that is 0.
    pub service_levels: bool,
    /// The port GUIDs of those that stay in a partition of their own, if others are left out. Then
    /// only pairs count that opensm gives a path, without those of the port on which opensm runs,
    /// which everybody reaches for management, and of ports that are left out. opensm runs at a
    /// port that stays.
    pub partition: Option<&'a Members>,
}

impl Order<'_> {
    /// The node at which opensm runs.
    fn manager<'f>(&'f self, fabric: &'f Fabric) -> &'f str {
        self.partition.map_or(&fabric.manager, |members| &members.manager)
    }
}

/// The members of a partition: who stays in the fabric.
pub struct Members {
    pub ports: BTreeSet<u64>,
    /// The node identifier of an adapter with one of these ports.
    pub manager: String,
}

/// What came of it.
pub enum Outcome {
    Up(Box<Dumps>),
    /// The engine does not take this fabric; what its log says.
    Refused(String),
}

/// The dumps of opensm, and what can be said of them at once.
pub struct Dumps {
    pub folder: PathBuf,
    /// The files that `pauseless check` gets.
    pub files: Vec<PathBuf>,
    pub tables: Tables,
    /// CPU time of opensm from its start to the last dump.
    pub cpu: Duration,
}

/// Starts ibsim and opensm, and takes the dumps into `out`, which is made anew.
pub fn run(fabric: &Fabric, order: &Order, out: &Path) -> io::Result<Outcome> {
    if out.exists() {
        fs::remove_dir_all(out)?;
    }
    fs::create_dir_all(out)?;
    let out = out.canonicalize()?;
    let netfile = out.join("netfile");
    fs::write(&netfile, &fabric.netfile)?;
    let simulator = Simulator::start(fabric, &netfile, &out)?;
    let mut manager = Manager::start(fabric, order, &simulator, &out)?;
    if let Err(why) = manager.wait(order.engine, &out)? {
        return Ok(Outcome::Refused(why));
    }
    let cpu = manager.cpu()?;
    let list = fs::read_to_string(out.join("opensm-subnet.lst"))?;
    let lids = tables::Adapters::read(&list, fabric.lmc).map_err(io::Error::other)?;
    // The log says which engine it was.
    let mut files =
        ["opensm-subnet.lst", "opensm.fdbs", "opensm.log"].map(|name| out.join(name)).to_vec();
    let mut asked = None;
    if order.service_levels {
        let mut levels = path_records::ask(&simulator.socket, order.manager(fabric), &lids)?;
        if let Some(members) = order.partition {
            lids.without_management(&mut levels, &members.ports);
        }
        if let Some(psl) = tables::psl(&levels, &lids) {
            fs::write(out.join("psl"), psl)?;
        }
        fs::write(out.join("psl-by-port"), tables::psl_by_port(&levels, &lids))?;
        files.push(out.join("psl-by-port"));
        let dump = out.join("opensm-sl2vl.dump");
        if dump.exists() {
            fs::write(out.join("slvl"), tables::slvl(&fs::read_to_string(&dump)?))?;
            files.push(out.join("slvl"));
        }
        let has_partitions = order.partition.is_some();
        asked = Some(Paths { levels, has_partitions });
    }
    drop(manager);
    drop(simulator);
    let tables = Tables::read(&out, fabric.lmc, asked).map_err(io::Error::other)?;
    Ok(Outcome::Up(Box::new(Dumps { folder: out, files, tables, cpu })))
}

struct Simulator {
    process: Child,
    /// What the names of its sockets begin with.
    socket: String,
    library: PathBuf,
}

impl Simulator {
    fn start(fabric: &Fabric, netfile: &Path, out: &Path) -> io::Result<Simulator> {
        static STARTED: AtomicUsize = AtomicUsize::new(0);
        let number = STARTED.fetch_add(1, Ordering::Relaxed);
        let socket = format!("plo{}-{number}", std::process::id());
        let log = fs::File::create(out.join("ibsim.log"))?;
        let mut command = Command::new("ibsim");
        let nodes = fabric.nodes + 16;
        command.args(["-s", "-n", "-N", &nodes.to_string(), "-S", &nodes.to_string()]);
        command.args(["-P", &(nodes * 66).to_string()]).arg(netfile);
        command.env("IBSIM_SOCKNAME", &socket).stdin(Stdio::null());
        command.stdout(log.try_clone()?).stderr(log);
        let process = command.spawn()?;
        let simulator = Simulator { process, socket, library: preloaded()? };
        let name = format!("@{}:ctl", simulator.socket);
        let begin = Instant::now();
        while !fs::read_to_string("/proc/net/unix")?.contains(&name) {
            if begin.elapsed() > PATIENCE {
                return Err(io::Error::other(format!("ibsim does not start: see {out:?}")));
            }
            sleep(POLL);
        }
        Ok(simulator)
    }
}

impl Drop for Simulator {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

struct Manager {
    process: Child,
    /// The folder that ibsim's library makes where opensm is started.
    made: PathBuf,
}

impl Manager {
    fn start(fabric: &Fabric, order: &Order, sim: &Simulator, out: &Path) -> io::Result<Manager> {
        let scratch = out.join("scratch");
        fs::create_dir_all(&scratch)?;
        let said = fs::File::create(out.join("opensm.out"))?;
        let mut args = vec![OsString::from("-R"), order.engine.into()];
        // It would route with minhop instead of saying that it cannot.
        args[1].push(",no_fallback");
        if order.options.iter().any(|option| option == "-R") {
            args.clear();
        }
        args.extend(order.options.iter().map(OsString::from));
        let has = |flag: &str| order.options.iter().any(|option| option == flag);
        // Nor is anything to be taken from files of this machine.
        if !has("-F") {
            fs::write(scratch.join("opensm.conf"), "")?;
            args.extend(["-F".into(), scratch.join("opensm.conf").into()]);
        }
        for (flag, file) in [("-P", "no-partitions.conf"), ("-Y", "no-qos-policy.conf")] {
            if !has(flag) {
                args.extend([flag.into(), scratch.join(file).into()]);
            }
        }
        if let (Some(torus), "torus-2QoS") = (&fabric.torus, order.engine) {
            fs::write(scratch.join("torus.conf"), torus)?;
            args.extend(["--torus_config".into(), scratch.join("torus.conf").into()]);
        }
        if fabric.lmc > 0 {
            args.extend(["-l".into(), fabric.lmc.to_string().into()]);
        }
        // One sweep, a log that is written at once, and all dumps of routing.
        args.extend(["-s", "0", "-d", "2", "-D", "0x43"].map(OsString::from));
        args.extend(["--dump_files_dir".into(), out.into()]);
        args.extend(["-f".into(), out.join("opensm.log").into()]);
        let mut command = Command::new("opensm");
        let folder = order.folder.unwrap_or(&scratch);
        command.args(args).current_dir(folder).stdin(Stdio::null());
        command.env("LD_PRELOAD", &sim.library).env("IBSIM_SOCKNAME", &sim.socket);
        command.env("SIM_HOST", order.manager(fabric));
        command.env("OSM_CACHE_DIR", &scratch).env("OSM_TMP_DIR", &scratch);
        let process = command.stdout(said.try_clone()?).stderr(said).spawn()?;
        let made = folder.join(format!("sys-{}", process.id()));
        Ok(Manager { process, made })
    }

    /// Waits for all dumps.
    fn wait(&mut self, engine: &str, out: &Path) -> io::Result<Result<(), String>> {
        let log = out.join("opensm.log");
        let begin = Instant::now();
        let complaint = |text: &str| {
            let errors = text.lines().filter(|line| line.contains(" 0x01 -> "));
            let errors = errors.filter(|line| !line.contains("'no_fallback'"));
            let errors = Vec::from_iter(errors.filter_map(|line| line.split(" 0x01 -> ").nth(1)));
            errors.first().map_or("it says nothing", |first| *first).to_string()
        };
        let text = loop {
            let text = String::from_utf8_lossy(&fs::read(&log).unwrap_or_default()).into_owned();
            if text.contains("SUBNET UP") {
                break text;
            }
            let has_ended = self.process.try_wait()?.is_some();
            if has_ended || REFUSALS.iter().any(|refusal| text.contains(refusal)) {
                return Ok(Err(complaint(&text)));
            }
            if begin.elapsed() > PATIENCE {
                let seconds = PATIENCE.as_secs();
                return Ok(Err(format!("not up in {seconds} s: {}", complaint(&text))));
            }
            sleep(POLL);
        };
        if !text.contains(&format!("{engine} tables configured")) {
            return Ok(Err(format!("not the tables of {engine}: {}", complaint(&text))));
        }
        // The list of the subnet is written last, and nothing says when it is complete.
        let size = |name: &str| fs::metadata(out.join(name)).map_or(0, |file| file.len());
        let mut last = [0; 2];
        loop {
            let now = ["opensm.fdbs", "opensm-subnet.lst"].map(size);
            if now == last && now.iter().all(|&size| size > 0) {
                return Ok(Ok(()));
            }
            if begin.elapsed() > PATIENCE {
                return Ok(Err("no dumps".into()));
            }
            last = now;
            sleep(5 * POLL);
        }
    }

    /// What it has used so far.
    fn cpu(&self) -> io::Result<Duration> {
        // Its own user and system time.
        cpu_time(&format!("/proc/{}/stat", self.process.id()), 11)
    }
}

/// CPU time of all processes that this one has started and that have ended.
pub fn cpu_of_children() -> io::Result<Duration> {
    cpu_time("/proc/self/stat", 13)
}

/// The sum of two numbers of ticks, by their place behind the name of the process.
fn cpu_time(file: &str, at: usize) -> io::Result<Duration> {
    let stat = fs::read_to_string(file)?;
    // The name in parentheses may have blanks.
    let rest = stat.rsplit(')').next().unwrap_or_default();
    let ticks = rest.split_whitespace().skip(at).take(2).map(|ticks| ticks.parse::<u64>().ok());
    let ticks: Option<u64> = ticks.sum();
    let ticks = ticks.ok_or_else(|| io::Error::other(format!("{file}: {stat}")))?;
    Ok(Duration::from_millis(ticks * 1000 / TICKS_PER_SECOND))
}

impl Drop for Manager {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = fs::remove_dir_all(&self.made);
    }
}

/// The library with which opensm talks to ibsim instead of the kernel.
fn preloaded() -> io::Result<PathBuf> {
    let machine = format!("/usr/lib/{}-linux-gnu", env::consts::ARCH);
    for folder in [machine.as_str(), "/usr/lib64", "/usr/lib"] {
        let file = Path::new(folder).join("umad2sim/libumad2sim.so");
        if file.exists() {
            return Ok(file);
        }
    }
    Err(io::Error::other("libumad2sim.so is not where Debian's ibsim-utils puts it"))
}

/// Words in the log of opensm after which it goes on without any tables.
const REFUSALS: [&str; 2] = ["No routing engine able", "Errors during initialization"];
const POLL: Duration = Duration::from_millis(20);
const PATIENCE: Duration = Duration::from_secs(90);
/// What Linux says at all its interfaces to programs.
const TICKS_PER_SECOND: u64 = 100;
