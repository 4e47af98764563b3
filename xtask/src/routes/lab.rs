//! Two spines and four leaves in network namespaces, each with FRR's zebra, staticd and bgpd.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};
use std::{env, fs, io};

/// A running fabric; it goes with whoever started it.
pub struct Lab {
    /// What the names of its namespaces begin with.
    prefix: String,
    folder: PathBuf,
}

/// Why there is no lab.
pub enum Absence {
    /// The kernel or the container does not allow it.
    Forbidden(String),
    /// It should work and does not.
    Broken(String),
}

/// Whose tables are dumped.
#[derive(Clone, Copy)]
pub enum Source {
    /// The tables that FRR prints.
    Frr,
    /// Those that FRR has put into the kernel.
    Kernel,
}

impl Source {
    pub fn name(self) -> &'static str {
        match self {
            Source::Frr => "show ip route json",
            Source::Kernel => "ip -j route",
        }
    }
}

impl Lab {
    /// Makes namespaces and cables, and starts the daemons.
    pub fn start() -> io::Result<Result<Lab, Absence>> {
        let id = std::process::id();
        let folder = env::temp_dir().join(format!("pauseless-routes-{id}"));
        fs::create_dir_all(&folder)?;
        let lab = Lab { prefix: format!("plr{id}"), folder };
        for name in names() {
            if let Err(why) = ip(&["netns", "add", &lab.space(&name)])? {
                return Ok(Err(Absence::Forbidden(why)));
            }
        }
        if let Err(why) = lab.cable()? {
            return Ok(Err(Absence::Forbidden(why)));
        }
        for name in names() {
            if let Err(why) = lab.start_daemons(&name)? {
                return Ok(Err(Absence::Broken(why)));
            }
        }
        Ok(Ok(lab))
    }

    fn space(&self, name: &str) -> String {
        format!("{}-{name}", self.prefix)
    }

    fn folder(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// A cable from each leaf to each spine, and one from each leaf to hosts.
    fn cable(&self) -> io::Result<Result<(), String>> {
        let mut commands = Vec::new();
        for (leaf, spine) in cables() {
            let (l, s) = (format!("l{leaf}"), format!("s{spine}"));
            let (at_leaf, at_spine) = (format!("to-{s}"), format!("to-{l}"));
            commands.push(format!(
                "link add {at_leaf} netns {} type veth peer name {at_spine} netns {}",
                self.space(&l),
                self.space(&s)
            ));
            let [leaf_address, spine_address] = addresses(leaf, spine);
            for (name, port, address) in [(l, at_leaf, leaf_address), (s, at_spine, spine_address)]
            {
                let space = self.space(&name);
                commands.push(format!("-n {space} addr add {address}/31 dev {port}"));
                commands.push(format!("-n {space} link set {port} up"));
            }
        }
        for leaf in 0..LEAVES {
            let space = self.space(&format!("l{leaf}"));
            commands.push(format!("-n {space} link add hosts type veth peer name hosts-far"));
            commands.push(format!("-n {space} addr add 192.168.{leaf}.1/24 dev hosts"));
            commands.push(format!("-n {space} link set hosts up"));
            commands.push(format!("-n {space} link set hosts-far up"));
        }
        for name in names() {
            commands.push(format!("-n {} link set lo up", self.space(&name)));
        }
        for command in commands {
            let args = Vec::from_iter(command.split(' '));
            if let Err(why) = ip(&args)? {
                return Ok(Err(why));
            }
        }
        Ok(Ok(()))
    }

    fn start_daemons(&self, name: &str) -> io::Result<Result<(), String>> {
        let folder = self.folder(name);
        fs::create_dir_all(&folder)?;
        let config = folder.join("frr.conf");
        fs::write(&config, configuration(name))?;
        let mut own = Command::new("chown");
        own.args(["-R", "frr:frr"]).arg(&self.folder);
        if let Err(why) = said(&mut own)? {
            return Ok(Err(why));
        }
        for daemon in DAEMONS {
            let mut start = Command::new("ip");
            start.args(["netns", "exec", &self.space(name)]);
            start.arg(Path::new("/usr/lib/frr").join(daemon)).args(["-d", "-f"]).arg(&config);
            start.arg("-i").arg(folder.join(format!("{daemon}.pid")));
            start.arg("-z").arg(folder.join("zserv")).arg("--vty_socket").arg(&folder);
            if let Err(why) = said(&mut start)? {
                return Ok(Err(format!("{daemon} at {name}: {why}")));
            }
        }
        Ok(Ok(()))
    }

    /// Takes the cable between a spine and a leaf down, at both ends.
    pub fn fail(&self, spine: &str, leaf: &str) -> io::Result<()> {
        self.set(spine, leaf, "down")
    }

    /// Brings the cable up again.
    pub fn repair(&self, spine: &str, leaf: &str) -> io::Result<()> {
        self.set(spine, leaf, "up")
    }

    fn set(&self, one: &str, other: &str, state: &str) -> io::Result<()> {
        for (near, far) in [(one, other), (other, one)] {
            let (space, port) = (self.space(near), format!("to-{far}"));
            let set = ip(&["-n", &space, "link", "set", &port, state])?;
            set.map_err(io::Error::other)?;
        }
        Ok(())
    }

    /// Gives a spine a static default route to a leaf.
    pub fn default_route(&self, spine: &str, leaf: &str) -> io::Result<()> {
        let route = format!("ip route 0.0.0.0/0 {}", leaf_address(spine, leaf));
        self.vtysh(spine, &["configure terminal", &route]).map(|_| ())
    }

    /// Takes it away again.
    pub fn no_default_route(&self, spine: &str, leaf: &str) -> io::Result<()> {
        let route = format!("no ip route 0.0.0.0/0 {}", leaf_address(spine, leaf));
        self.vtysh(spine, &["configure terminal", &route]).map(|_| ())
    }

    /// Lets the spines tell leaves of a default only.
    pub fn announce_default_only(&self) -> io::Result<()> {
        for spine in 0..SPINES {
            let router = format!("router bgp {SPINE_AS}");
            let mut lines = vec![
                "configure terminal".to_string(),
                "ip prefix-list DEFAULT seq 5 permit 0.0.0.0/0".to_string(),
                router,
                "address-family ipv4 unicast".to_string(),
            ];
            for leaf in 0..LEAVES {
                let [address, _] = addresses(leaf, spine);
                lines.push(format!("neighbor {address} prefix-list DEFAULT out"));
            }
            let lines = Vec::from_iter(lines.iter().map(String::as_str));
            self.vtysh(&format!("s{spine}"), &lines)?;
            self.vtysh(&format!("s{spine}"), &["clear ip bgp * soft out"])?;
        }
        Ok(())
    }

    /// Waits until each leaf and each spine have as many routes by BGP, twice in a row.
    pub fn wait_for(
        &self,
        leaves: [usize; LEAVES],
        spines: [usize; SPINES],
    ) -> io::Result<Result<(), String>> {
        let begin = Instant::now();
        let expected = Vec::from_iter(leaves.into_iter().chain(spines));
        let mut times = 0;
        loop {
            let mut seen = Vec::new();
            for name in names() {
                let text = self.vtysh(&name, &["show ip route bgp json"])?;
                seen.push(text.matches("\"protocol\":\"bgp\"").count());
            }
            times = if seen == expected { times + 1 } else { 0 };
            if times == 2 {
                return Ok(Ok(()));
            }
            if begin.elapsed() > PATIENCE {
                return Ok(Err(format!("routes by BGP: {seen:?} instead of {expected:?}")));
            }
            sleep(Duration::from_millis(300));
        }
    }

    /// Writes the tables of all nodes to files that are named after them.
    pub fn dump(&self, source: Source, folder: &Path) -> io::Result<Vec<PathBuf>> {
        let mut files = Vec::new();
        for name in names() {
            let (ending, text) = match source {
                Source::Frr => ("show-ip-route", self.vtysh(&name, &["show ip route json"])?),
                Source::Kernel => {
                    let mut command = Command::new("ip");
                    command.args(["-n", &self.space(&name), "-j", "route"]);
                    ("ip-route", text(&mut command)?)
                }
            };
            let file = folder.join(format!("{name}.{ending}.json"));
            fs::write(&file, text)?;
            files.push(file);
        }
        Ok(files)
    }

    /// The cables that are up, as containerlab writes them.
    pub fn wiring(&self) -> String {
        let mut text = "name: lab\ntopology:\n  nodes:\n".to_string();
        for name in names() {
            text += &format!("    {name}: {{kind: frr}}\n");
        }
        for leaf in 0..LEAVES {
            text += &format!("    h{leaf}: {{kind: linux}}\n");
        }
        text += "  links:\n";
        for (leaf, spine) in cables() {
            let (l, s) = (format!("l{leaf}"), format!("s{spine}"));
            let state = self.vtysh(&l, &[&format!("show interface to-{s}")]).unwrap_or_default();
            if state.contains("line protocol is up") {
                text += &format!("    - endpoints: [\"{l}:to-{s}\", \"{s}:to-{l}\"]\n");
            }
        }
        for leaf in 0..LEAVES {
            text += &format!("    - endpoints: [\"h{leaf}:eth1\", \"l{leaf}:hosts\"]\n");
        }
        text
    }

    fn vtysh(&self, name: &str, lines: &[&str]) -> io::Result<String> {
        let mut command = Command::new("vtysh");
        command.arg("--vty_socket").arg(self.folder(name));
        for line in lines {
            command.args(["-c", line]);
        }
        text(&mut command)
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        for name in names() {
            for daemon in DAEMONS {
                let file = self.folder(&name).join(format!("{daemon}.pid"));
                if let Ok(id) = fs::read_to_string(file) {
                    let _ = Command::new("kill").arg(id.trim()).status();
                }
            }
        }
        for name in names() {
            let _ = Command::new("ip").args(["netns", "del", &self.space(&name)]).status();
        }
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn configuration(name: &str) -> String {
    let (kind, number) = name.split_at(1);
    let number: usize = number.parse().expect("names are made here");
    let mut text = format!("hostname {name}\n");
    let is_leaf = kind == "l";
    let own_as = if is_leaf { LEAF_AS + number } else { SPINE_AS };
    let id = if is_leaf { number } else { LEAVES + number };
    text += &format!("router bgp {own_as}\n bgp router-id 10.255.0.{}\n", id + 1);
    text += " no bgp ebgp-requires-policy\n bgp bestpath as-path multipath-relax\n";
    let mut peers = Vec::new();
    if is_leaf {
        peers.extend((0..SPINES).map(|spine| (addresses(number, spine)[1].clone(), SPINE_AS)));
    } else {
        peers.extend((0..LEAVES).map(|leaf| (addresses(leaf, number)[0].clone(), LEAF_AS + leaf)));
    }
    for (peer, peer_as) in &peers {
        text += &format!(" neighbor {peer} remote-as {peer_as}\n neighbor {peer} timers 1 3\n");
        text += &format!(" neighbor {peer} timers connect 1\n");
        text += &format!(" neighbor {peer} advertisement-interval 0\n");
    }
    text += " address-family ipv4 unicast\n  maximum-paths 4\n";
    if is_leaf {
        text += &format!("  network 192.168.{number}.0/24\n");
    } else {
        for (peer, _) in &peers {
            text += &format!("  neighbor {peer} default-originate\n");
        }
    }
    text + " exit-address-family\n"
}

fn names() -> impl Iterator<Item = String> {
    let leaves = (0..LEAVES).map(|number| format!("l{number}"));
    leaves.chain((0..SPINES).map(|number| format!("s{number}")))
}

fn cables() -> impl Iterator<Item = (usize, usize)> {
    (0..LEAVES).flat_map(|leaf| (0..SPINES).map(move |spine| (leaf, spine)))
}

/// The addresses of the leaf and of the spine on their cable.
fn addresses(leaf: usize, spine: usize) -> [String; 2] {
    [format!("10.{leaf}.{spine}.1"), format!("10.{leaf}.{spine}.0")]
}

fn leaf_address(spine: &str, leaf: &str) -> String {
    let number = |name: &str| name[1..].parse().expect("names are made here");
    addresses(number(leaf), number(spine))[0].clone()
}

fn ip(args: &[&str]) -> io::Result<Result<(), String>> {
    said(Command::new("ip").args(args))
}

/// Runs a command, with its complaint if it fails. What daemons say of themselves goes nowhere.
fn said(command: &mut Command) -> io::Result<Result<(), String>> {
    let file = env::temp_dir().join(format!("pauseless-routes-said-{}", std::process::id()));
    let errors = fs::File::create(&file)?;
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(errors).status()?;
    let said = fs::read_to_string(&file)?;
    let _ = fs::remove_file(&file);
    Ok(if status.success() { Ok(()) } else { Err(format!("{command:?}: {}", said.trim())) })
}

fn text(command: &mut Command) -> io::Result<String> {
    let output = command.stdin(Stdio::null()).output()?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(io::Error::other(format!("{command:?}: {said}")));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

const LEAVES: usize = 4;
const SPINES: usize = 2;
const LEAF_AS: usize = 65_100;
const SPINE_AS: usize = 65_000;
const DAEMONS: [&str; 3] = ["zebra", "staticd", "bgpd"];
/// Longer than BGP needs on a machine with much else to do.
const PATIENCE: Duration = Duration::from_secs(60);
