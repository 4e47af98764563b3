//! A Slurm of one controller and three nodes on this machine, in a folder of its own.

use std::fs;
use std::io;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Names of the nodes.
pub const NODES: [&str; 3] = ["n1", "n2", "n3"];

/// The daemons, which end with it.
pub struct Cluster {
    folder: PathBuf,
    /// What runs, by name: `munged`, `slurmctld`, `n1`, ..
    daemons: Vec<(String, Child)>,
}

/// Why there is no cluster.
pub enum Absence {
    /// The kernel or the container forbids something.
    Forbidden(String),
    /// Something went wrong that should not.
    Broken(String),
}

impl From<io::Error> for Absence {
    fn from(error: io::Error) -> Absence {
        match error.kind() {
            io::ErrorKind::PermissionDenied => Absence::Forbidden(error.to_string()),
            _ => Absence::Broken(error.to_string()),
        }
    }
}

impl Cluster {
    /// Starts all daemons in `folder` and waits until all nodes are idle.
    pub fn start(folder: &Path) -> Result<Cluster, Absence> {
        for name in ["state", "log", "munge", "spool.n1", "spool.n2", "spool.n3"] {
            fs::create_dir_all(folder.join(name))?;
        }
        let mut cluster = Cluster { folder: folder.to_path_buf(), daemons: Vec::new() };
        fs::write(cluster.configuration(), configuration(folder)?)?;
        cluster.start_munged()?;
        let file = cluster.configuration();
        let mut control = Command::new("slurmctld");
        control.arg("-D").arg("-f").arg(&file);
        cluster.spawn("slurmctld", &mut control)?;
        for node in NODES {
            let mut daemon = Command::new("slurmd");
            daemon.args(["-D", "-N", node]).arg("-f").arg(&file);
            cluster.spawn(node, &mut daemon)?;
        }
        cluster.wait_for_nodes()?;
        Ok(cluster)
    }

    /// The configuration that its programs are told by `SLURM_CONF`.
    pub fn configuration(&self) -> PathBuf {
        self.folder.join("slurm.conf")
    }

    /// What a program of Slurm prints.
    pub fn ask(&self, program: &str, args: &[&str]) -> io::Result<String> {
        let mut command = Command::new(program);
        let output = command.args(args).env("SLURM_CONF", self.configuration()).output()?;
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// Kills the daemon of a node, as the kernel would.
    pub fn kill_daemon(&mut self, node: &str) -> io::Result<()> {
        for (_, daemon) in self.daemons.iter_mut().filter(|(name, _)| name == node) {
            daemon.kill()?;
            daemon.wait()?;
        }
        Ok(())
    }

    /// The processes that make a part on a node, told by their environment.
    pub fn processes(&self, part: &str, node: &str) -> Vec<u32> {
        let part = format!("SLURM_ARRAY_TASK_ID={part}");
        let node = format!("SLURMD_NODENAME={node}");
        self.own(|environment| {
            let mut lines = environment.split('\0');
            lines.clone().any(|line| line == part) && lines.any(|line| line == node)
        })
    }

    /// Processes that know this folder and whose environment `is_wanted`. What has ended and waits
    /// to be looked after has none.
    fn own(&self, is_wanted: impl Fn(&str) -> bool) -> Vec<u32> {
        let folder = self.folder.display().to_string();
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        let processes = entries.filter_map(|entry| {
            let id: u32 = entry.file_name().to_str()?.parse().ok()?;
            let environment = fs::read(entry.path().join("environ")).ok()?;
            let environment = String::from_utf8_lossy(&environment);
            let is_own = id != std::process::id() && environment.contains(&folder);
            (is_own && is_wanted(&environment)).then_some(id)
        });
        processes.collect()
    }

    fn start_munged(&mut self) -> Result<(), Absence> {
        let folder = self.folder.join("munge");
        let key = folder.join("key");
        let mut random = vec![0; 64];
        io::Read::read_exact(&mut fs::File::open("/dev/urandom")?, &mut random)?;
        fs::write(&key, random)?;
        fs::set_permissions(&key, fs::Permissions::from_mode(0o400))?;
        let option = |name: &str, file: &str| format!("--{name}={}", folder.join(file).display());
        let mut munged = Command::new("munged");
        munged.arg("--foreground").args([
            option("key-file", "key"),
            option("socket", "socket"),
            option("pid-file", "pid"),
            option("log-file", "log"),
            option("seed-file", "seed"),
        ]);
        self.spawn("munged", &mut munged)?;
        let begin = Instant::now();
        while !folder.join("socket").exists() {
            self.check()?;
            if begin.elapsed() > PATIENCE {
                return Err(self.absence("munged does not listen"));
            }
            sleep(Duration::from_millis(50));
        }
        Ok(())
    }

    fn spawn(&mut self, name: &str, command: &mut Command) -> io::Result<()> {
        let log = fs::File::create(self.folder.join("log").join(format!("{name}.out")))?;
        let child = command
            .env("SLURM_CONF", self.configuration())
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn()?;
        self.daemons.push((name.to_string(), child));
        Ok(())
    }

    fn wait_for_nodes(&mut self) -> Result<(), Absence> {
        let begin = Instant::now();
        loop {
            self.check()?;
            let nodes = self.ask("sinfo", &["-h", "-N", "-o", "%T"])?;
            if nodes.lines().filter(|state| *state == "idle").count() == NODES.len() {
                return Ok(());
            }
            if begin.elapsed() > PATIENCE {
                return Err(self.absence(&format!("the nodes are not idle: {nodes:?}")));
            }
            sleep(Duration::from_millis(200));
        }
    }

    /// Whether all daemons live.
    fn check(&mut self) -> Result<(), Absence> {
        for (name, daemon) in &mut self.daemons {
            if let Some(status) = daemon.try_wait()? {
                let message = format!("{name} ended with {status}");
                return Err(self.absence(&message));
            }
        }
        Ok(())
    }

    /// What is wrong, with what the daemons say; whether it is forbidden, they say too.
    fn absence(&self, message: &str) -> Absence {
        let mut text = message.to_string();
        let mut is_forbidden = false;
        for file in ["munged.out", "slurmctld.out", "n1.out", "n2.out", "n3.out"] {
            let log = fs::read_to_string(self.folder.join("log").join(file)).unwrap_or_default();
            // Of root, only the kernel and its container can refuse anything.
            let forbidden =
                ["Operation not permitted", "Permission denied", "Function not implemented"];
            is_forbidden |= forbidden.iter().any(|word| log.contains(word));
            let last = Vec::from_iter(log.lines().rev().take(5));
            for line in last.into_iter().rev() {
                text += &format!("\n  {file}: {line}");
            }
        }
        if is_forbidden { Absence::Forbidden(text) } else { Absence::Broken(text) }
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        for (_, daemon) in &mut self.daemons {
            // It may have ended before.
            let _ = daemon.kill();
            let _ = daemon.wait();
        }
        // Jobs outlive the daemons that started them.
        for id in self.own(|_| true) {
            signal("KILL", id);
        }
    }
}

/// Sends a signal to one process; whether it was there.
pub fn signal(name: &str, id: u32) -> bool {
    let mut kill = Command::new("kill");
    kill.args(["-s", name, &id.to_string()]);
    let status = kill.stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

/// The step that watches a process of a job.
pub fn watcher(id: u32) -> Option<u32> {
    let status = fs::read_to_string(format!("/proc/{id}/status")).ok()?;
    let parent = status.lines().find_map(|line| line.strip_prefix("PPid:"))?;
    let parent = parent.trim().parse().ok()?;
    let name = fs::read_to_string(format!("/proc/{parent}/comm")).ok()?;
    (name.trim() == "slurmstepd").then_some(parent)
}

/// How long daemons have to come up.
const PATIENCE: Duration = Duration::from_secs(120);

/// A node that does not answer is down within ten seconds, and its jobs start again five seconds
/// later.
fn configuration(folder: &Path) -> io::Result<String> {
    let host = fs::read_to_string("/proc/sys/kernel/hostname")?;
    let host = host.trim().split('.').next().unwrap_or("localhost").to_string();
    // Ports that were free a moment ago; held together, so that they differ.
    let mut held = Vec::new();
    for _ in 0..=NODES.len() {
        held.push(TcpListener::bind("127.0.0.1:0")?);
    }
    let mut ports = Vec::new();
    for listener in &held {
        ports.push(listener.local_addr()?.port());
    }
    let dir = folder.display();
    let mut text = format!(
        "ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={dir}/munge/socket,cred_expire=5
CredType=cred/munge
MpiDefault=none
StateSaveLocation={dir}/state
SlurmdSpoolDir={dir}/spool.%n
SlurmctldPidFile={dir}/slurmctld.pid
SlurmdPidFile={dir}/slurmd.%n.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
SlurmdTimeout=2
MessageTimeout=2
TCPTimeout=1
KillWait=1
MinJobAge=600
JobRequeue=1
SchedulerParameters=sched_interval=2,batch_sched_delay=0
",
        ports[NODES.len()]
    );
    for (node, port) in NODES.iter().zip(&ports) {
        text += &format!(
            "NodeName={node} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs=1 RealMemory=100\n"
        );
    }
    text += "PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP\n";
    Ok(text)
}
