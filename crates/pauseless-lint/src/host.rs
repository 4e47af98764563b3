//! What a host's NIC does with a lossless class, from the tools that show it: `mlnx_qos`, `dcb -j`,
//! `ethtool -a`, `ip -j link`, `show_gids`, sysfs and the environment of NCCL and UCX.

use pauseless_text::problem::Problem;
use pauseless_text::source::Source;

use crate::finding::Place;
use crate::json::{self, Span, Value};

/// Something that a file says, with its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Given<T> {
    /// The value that the file has.
    pub value: T,
    /// The number of the file.
    pub file: usize,
    /// The place of the value in it.
    pub at: Span,
}

impl<T> Given<T> {
    /// The place as findings have it.
    pub fn place(&self) -> Place {
        Place::in_file(self.file, self.at)
    }
}

/// A row of `show_gids`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gid {
    /// The index of the row.
    pub index: u64,
    /// Whether it is RoCE v2, which has an IP header.
    pub is_v2: bool,
}

/// The state of one NIC of a host.
#[derive(Clone, Debug, Default)]
pub struct Host {
    /// Its name, or that of its file.
    pub name: String,
    /// Whether a switch names such a neighbour; the others stand for all hosts.
    pub is_named: bool,
    /// One bit per priority with PFC.
    pub pfc: Vec<Given<u8>>,
    /// Whether it trusts the DSCP, or the priority of the VLAN tag.
    pub trusts_dscp: Option<Given<bool>>,
    /// The priority of each code point.
    pub priorities: Option<Given<[u8; 64]>>,
    /// Whether link pause is on in any direction.
    pub link_pause: Option<Given<bool>>,
    /// The code points that RoCE is told to use.
    pub dscps: Vec<Given<u8>>,
    /// The index of the GID that it is told to use.
    pub gid_index: Option<Given<u64>>,
    /// The GIDs of the NIC.
    pub gids: Vec<Given<Gid>>,
    /// The MTU of the interface.
    pub mtu: Option<Given<u64>>,
    /// The largest payload of a RoCE packet.
    pub roce_mtu: Option<Given<u64>>,
    /// Priorities for which ECN is switched off at one of its two ends, one bit each.
    pub ecn_off: Vec<Given<u8>>,
    /// The code point of congestion notifications.
    pub cnp_dscp: Option<Given<u8>>,
    /// The length of the cable that the NIC makes its headroom for.
    pub cable_metres: Option<Given<u64>>,
    /// Whether somebody else may change all this: the firmware, or lldpad.
    pub is_negotiated: Option<Given<&'static str>>,
    /// How long the NIC may send PAUSE frames for before it stops doing so; 0 is for ever.
    pub prevention_ms: Option<Given<u64>>,
}

/// The kinds of files that say something about a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum HostFile {
    /// The output of `mlnx_qos -i`.
    MlnxQos,
    /// The output of `dcb -j pfc show`.
    DcbPfc,
    /// The output of `dcb -j app show`.
    DcbApp,
    /// The output of `ethtool -a`.
    EthtoolPause,
    /// The output of `ethtool -S`, which only has counters.
    EthtoolCounters,
    /// The output of `ip -j link`.
    IpLink,
    /// The output of `show_gids`.
    ShowGids,
    /// The output of `grep . /sys/class/net/*/ecn/*/*` and its like: lines of path and value.
    Sysfs,
    /// Variables of NCCL and UCX.
    Environment,
    /// The output of `cma_roce_tos`: a number.
    CmaRoceTos,
    /// The output of `ibv_devinfo`, of which the MTU counts.
    IbvDevinfo,
}

/// What kind a file is, by its content; of a single number also by its name.
pub fn recognise(source: &Source) -> Option<HostFile> {
    let text = source.text.trim_start();
    let has = |word: &str| text.contains(word);
    let is_number = || text.trim().parse::<u8>().is_ok();
    if text.starts_with(['{', '[']) {
        return match () {
            () if has("\"prio_pfc\"") => Some(HostFile::DcbPfc),
            () if has("\"dscp_prio\"") => Some(HostFile::DcbApp),
            () if has("\"ifname\"") && has("\"mtu\"") => Some(HostFile::IpLink),
            () => None,
        };
    }
    match () {
        () if has("PFC configuration:") || has("Priority trust state:") => Some(HostFile::MlnxQos),
        () if text.starts_with("Pause parameters for") => Some(HostFile::EthtoolPause),
        () if text.starts_with("NIC statistics:") => Some(HostFile::EthtoolCounters),
        () if has("n_gids_found") || has("GID") && has("VER") => Some(HostFile::ShowGids),
        () if has("active_mtu:") => Some(HostFile::IbvDevinfo),
        () if text.starts_with("/sys/") || has("\n/sys/") => Some(HostFile::Sysfs),
        () if has("NCCL_") || has("UCX_") => Some(HostFile::Environment),
        () if source.file.contains("roce_tos") && is_number() => Some(HostFile::CmaRoceTos),
        () => None,
    }
}

/// Reads a file of this kind and number into what is known of its host.
///
/// # Errors
/// The part of the file that makes no sense.
pub fn read(host: &mut Host, kind: HostFile, file: usize, text: &str) -> Result<(), Problem> {
    let mut reader = Reader { host, file, text };
    match kind {
        HostFile::MlnxQos => reader.mlnx_qos(),
        HostFile::DcbPfc => reader.dcb_pfc(),
        HostFile::DcbApp => reader.dcb_app(),
        HostFile::EthtoolPause => reader.ethtool_pause(),
        HostFile::EthtoolCounters => Ok(()),
        HostFile::IpLink => reader.ip_link(),
        HostFile::ShowGids => reader.show_gids(),
        HostFile::Sysfs => reader.sysfs(),
        HostFile::Environment => reader.environment(),
        HostFile::CmaRoceTos => reader.cma_roce_tos(),
        HostFile::IbvDevinfo => reader.ibv_devinfo(),
    }
}

struct Reader<'h, 't> {
    host: &'h mut Host,
    file: usize,
    text: &'t str,
}

/// A line of a file with its place.
#[derive(Clone, Copy)]
struct Line<'t> {
    text: &'t str,
    start: usize,
}

impl<'t> Line<'t> {
    /// The place of a part of it; of all of it where nothing stands.
    fn at(self, part: &str) -> Span {
        // What is empty may come from nowhere.
        let part = if part.is_empty() { self.text } else { part };
        let start = part.as_ptr() as usize - self.text.as_ptr() as usize + self.start;
        Span { start: start as u32, end: (start + part.len()) as u32 }
    }

    /// What stands behind this word, trimmed, if the line starts with it.
    fn after(self, word: &str) -> Option<&'t str> {
        self.text.trim_start().strip_prefix(word).map(str::trim)
    }
}

impl<'t> Reader<'_, 't> {
    fn lines(&self) -> impl Iterator<Item = Line<'t>> + use<'t> {
        let text = self.text;
        let start = move |line: &str| line.as_ptr() as usize - text.as_ptr() as usize;
        text.lines().map(move |line| Line { text: line, start: start(line) })
    }

    fn given<T>(&self, value: T, line: Line, part: &str) -> Given<T> {
        Given { value, file: self.file, at: line.at(part) }
    }

    fn json(&self) -> Result<Value, Problem> {
        json::parse(self.text)
    }

    fn mlnx_qos(&mut self) -> Result<(), Problem> {
        let mut priorities: Option<Given<[u8; 64]>> = None;
        for line in self.lines() {
            if let Some(mode) = line.after("DCBX mode:")
                && mode.starts_with("Firmware")
            {
                self.host.is_negotiated = Some(self.given("the firmware of the NIC", line, mode));
            } else if let Some(trust) = line.after("Priority trust state:") {
                self.host.trusts_dscp = Some(self.given(trust == "dscp", line, trust));
            } else if let Some((priority, dscps)) =
                line.after("prio:").and_then(|rest| rest.split_once(" dscp:"))
            {
                let priority = small(line, priority, 7)?;
                let map = priorities.get_or_insert(self.given([0; 64], line, line.text.trim()));
                for dscp in dscps.split(',').map(str::trim).filter(|dscp| !dscp.is_empty()) {
                    map.value[usize::from(small(line, dscp, 63)?)] = priority;
                }
            } else if let Some(length) = line.after("Cable len:") {
                let metres = small(line, length, 255)?;
                self.host.cable_metres = Some(self.given(metres.into(), line, length));
            } else if let Some(bits) = line.after("enabled") {
                let mut mask = 0;
                for (priority, bit) in bits.split_whitespace().take(8).enumerate() {
                    mask |= small(line, bit, 1)? << priority;
                }
                let given = self.given(mask, line, bits);
                self.host.pfc.push(given);
            }
        }
        self.host.priorities = priorities.or(self.host.priorities);
        if self.host.pfc.is_empty() && self.host.trusts_dscp.is_none() {
            return Err(Problem::new(0..self.text.len().min(1), "neither a trust state nor PFC")
                .help("is the output of mlnx_qos complete?"));
        }
        Ok(())
    }

    fn dcb_pfc(&mut self) -> Result<(), Problem> {
        let root = self.json()?;
        let document = root.items().first().unwrap_or(&root);
        let Some(list) = document.get(self.text, "prio_pfc") else {
            return Ok(());
        };
        let mut mask = 0u8;
        for (priority, item) in list.items().iter().enumerate().take(8) {
            match &self.text[item.at.range()] {
                "true" => mask |= 1 << priority,
                "false" => {}
                _ => {
                    let problem =
                        Problem::new(item.at.range(), "a priority that is neither on nor off");
                    return Err(problem.expected("true or false"));
                }
            }
        }
        self.host.pfc.push(Given { value: mask, file: self.file, at: list.at });
        Ok(())
    }

    fn dcb_app(&mut self) -> Result<(), Problem> {
        let root = self.json()?;
        let document = root.items().first().unwrap_or(&root);
        let Some(list) = document.get(self.text, "dscp_prio") else {
            return Ok(());
        };
        let mut map = [0u8; 64];
        for (dscp, priority) in map.iter_mut().enumerate() {
            *priority = (dscp >> 3) as u8;
        }
        for pair in list.items() {
            let numbers = pair.items().iter().map(|item| self.text[item.at.range()].parse::<u8>());
            let numbers = Vec::from_iter(numbers.map_while(Result::ok));
            let [dscp @ 0..=63, priority @ 0..=7] = numbers[..] else {
                let problem = Problem::new(pair.at.range(), "no pair of DSCP and priority");
                return Err(problem.expected("[0..63, 0..7]"));
            };
            map[usize::from(dscp)] = priority;
        }
        self.host.priorities = Some(Given { value: map, file: self.file, at: list.at });
        Ok(())
    }

    fn ethtool_pause(&mut self) -> Result<(), Problem> {
        for line in self.lines() {
            for direction in ["RX:", "TX:"] {
                let Some(state) = line.after(direction) else {
                    continue;
                };
                if state == "on" || self.host.link_pause.is_none() {
                    self.host.link_pause = Some(self.given(state == "on", line, line.text.trim()));
                }
            }
        }
        Ok(())
    }

    fn ip_link(&mut self) -> Result<(), Problem> {
        let root = self.json()?;
        for link in root.items() {
            let is_loopback = link
                .get(self.text, "ifname")
                .is_some_and(|name| &self.text[name.at.range()] == "lo");
            let Some(mtu) = link.get(self.text, "mtu").filter(|_| !is_loopback) else {
                continue;
            };
            let value = self.text[mtu.at.range()].parse();
            let value =
                value.map_err(|_| Problem::new(mtu.at.range(), "an MTU that is no number"))?;
            let given = Given { value, file: self.file, at: mtu.at };
            if self.host.mtu.is_none_or(|largest| largest.value < value) {
                self.host.mtu = Some(given);
            }
        }
        Ok(())
    }

    fn show_gids(&mut self) -> Result<(), Problem> {
        for line in self.lines() {
            let words = Vec::from_iter(line.text.split_whitespace());
            let Some(version) = words.iter().find(|word| matches!(**word, "v1" | "v2")) else {
                continue;
            };
            let Some(index) = words.get(2).and_then(|index| index.parse().ok()) else {
                continue;
            };
            let gid = Gid { index, is_v2: *version == "v2" };
            let given = self.given(gid, line, version);
            self.host.gids.push(given);
        }
        Ok(())
    }

    fn sysfs(&mut self) -> Result<(), Problem> {
        for line in self.lines() {
            let Some((path, value)) = line.text.rsplit_once([':', '=', ' ']) else {
                continue;
            };
            let value = value.trim();
            let is_ecn = path.contains("roce_np/enable/") || path.contains("roce_rp/enable/");
            if is_ecn && value == "0" {
                let priority = path.rsplit('/').next().unwrap_or_default();
                let given = self.given(small(line, priority, 7)?, line, value);
                self.host.ecn_off.push(given);
            } else if path.ends_with("cnp_dscp") {
                self.host.cnp_dscp = Some(self.given(small(line, value, 63)?, line, value));
            } else if path.ends_with("traffic_class") {
                let class =
                    value.trim_start_matches("Global tclass").trim_start_matches('=').trim();
                self.traffic_class(line, class)?;
            } else if path.ends_with("pfc_prevention_tout") || path.ends_with("pfc-prevention-tout")
            {
                let number = value.parse().map_err(|_| refuse(line, value, "a number of ms"))?;
                self.host.prevention_ms = Some(self.given(number, line, value));
            }
        }
        Ok(())
    }

    fn environment(&mut self) -> Result<(), Problem> {
        for line in self.lines() {
            let Some((name, value)) = line.text.split_once('=') else {
                continue;
            };
            let value = value.trim().trim_matches(['"', '\'']);
            match name.trim().trim_start_matches("export ").trim() {
                "NCCL_IB_TC" | "UCX_IB_TRAFFIC_CLASS" if value != "auto" => {
                    self.traffic_class(line, value)?;
                }
                "NCCL_IB_GID_INDEX" | "UCX_IB_GID_INDEX" if value != "auto" => {
                    let index = value.parse().map_err(|_| refuse(line, value, "an index"))?;
                    self.host.gid_index = Some(self.given(index, line, value));
                }
                "UCX_IB_PATH_MTU" | "UCX_RC_PATH_MTU" => {
                    if let Ok(mtu) = value.parse() {
                        self.host.roce_mtu = Some(self.given(mtu, line, value));
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Notes a traffic class, of which the upper six bits are the code point.
    fn traffic_class(&mut self, line: Line, value: &str) -> Result<(), Problem> {
        let class = small(line, value, 255)?;
        let given = self.given(class >> 2, line, value);
        self.host.dscps.push(given);
        Ok(())
    }

    fn cma_roce_tos(&mut self) -> Result<(), Problem> {
        let Some(line) = self.lines().find(|line| !line.text.trim().is_empty()) else {
            return Ok(());
        };
        self.traffic_class(line, line.text.trim())
    }

    fn ibv_devinfo(&mut self) -> Result<(), Problem> {
        for line in self.lines() {
            if let Some(mtu) = line.after("active_mtu:") {
                let word = mtu.split_whitespace().next().unwrap_or_default();
                let value = word.parse().map_err(|_| refuse(line, word, "an MTU in bytes"))?;
                self.host.roce_mtu = Some(self.given(value, line, word));
            }
        }
        Ok(())
    }
}

/// A number from 0 to `most`.
fn small(line: Line, word: &str, most: u8) -> Result<u8, Problem> {
    let word = word.trim();
    let number = word.parse().ok().filter(|number| *number <= most);
    number.ok_or_else(|| refuse(line, word, &format!("a number from 0 to {most}")))
}

fn refuse(line: Line, word: &str, expected: &str) -> Problem {
    let message = format!("{} is no number of this kind", crate::database::quoted(word));
    Problem::new(line.at(word).range(), message).expected(expected)
}
