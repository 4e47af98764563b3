//! The text of the scenario.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::super::flow::Flow;
use super::super::topology::Topology;
use super::super::ways::Ways;
use super::super::{Compat, FlowLine};
use super::keys::{Control, Dcqcn, Hpcc, Marking, Settings, Timely, Window};
use super::{HEADERS, memory};

/// What is written.
pub(super) struct Writer<'w> {
    pub topology: &'w Topology,
    pub flows: &'w [Flow],
    pub lines: &'w [FlowLine],
    pub ways: &'w Ways,
    pub settings: &'w Settings,
    pub compat: Compat,
}

impl Writer<'_> {
    /// All of it.
    pub(super) fn write(&self) -> String {
        let mut text = String::new();
        // Writing to a string does not fail.
        let _ = self.write_general(&mut text);
        let _ = self.write_topology(&mut text);
        let _ = self.write_switches(&mut text);
        let _ = self.write_transport(&mut text);
        let _ = self.write_flows(&mut text);
        text
    }

    fn is_compat(&self) -> bool {
        self.compat == Compat::Hpcc
    }

    /// Frame bytes of a full packet.
    fn packet(&self) -> u64 {
        self.settings.payload + self.overhead()
    }

    fn overhead(&self) -> u64 {
        HEADERS + self.settings.stamps()
    }

    fn write_general(&self, text: &mut String) -> std::fmt::Result {
        let Settings { seed, stop, .. } = self.settings;
        writeln!(
            text,
            "title = \"imported from the files of an ns-3 simulator\""
        )?;
        writeln!(text, "seed = {seed}")?;
        writeln!(text, "duration = \"{stop} ns\"")?;
        writeln!(
            text,
            "# {} B of payload, {} B of headers.",
            self.settings.payload,
            self.overhead()
        )?;
        writeln!(text, "mtu = \"{} B\"\n", self.packet())?;
        writeln!(text, "[timing]\nstart_jitter = \"0 ns\"")?;
        if self.is_compat() {
            writeln!(text, "transmission = \"whole-ns\"")?;
        }
        if self.settings.loss > 0.0 {
            writeln!(text, "wire_loss = {}", float(self.settings.loss))?;
        }
        // What happens after the last flow has no part in any file.
        writeln!(text, "\n[verdict]\nstop_on = [\"done\"]\n")
    }

    fn write_topology(&self, text: &mut String) -> std::fmt::Result {
        writeln!(text, "[topology]\nkind = \"custom\"")?;
        for (node, is_switch) in self.topology.is_switch.iter().enumerate() {
            let kind = if *is_switch { "switch" } else { "host" };
            writeln!(
                text,
                "[[topology.node]]\nname = \"{node}\"\nkind = \"{kind}\""
            )?;
        }
        for link in &self.topology.links {
            let [a, b] = link.ends;
            let (rate, delay) = (link.rate.as_bps(), link.delay.as_ps() / 1_000);
            writeln!(text, "[[topology.link]]\nbetween = [\"{a}\", \"{b}\"]")?;
            writeln!(text, "rate = \"{rate} bps\"\ndelay = \"{delay} ns\"")?;
        }
        writeln!(text, "\n[routing]\nkind = \"ecmp\"")?;
        if self.is_compat() {
            writeln!(text, "hash = \"five-tuple\"\nnext_hops = \"search\"")?;
        }
        writeln!(text)
    }

    fn write_switches(&self, text: &mut String) -> std::fmt::Result {
        writeln!(text, "[switch]\nclasses = {}", self.groups().len())?;
        writeln!(text, "scheduler = \"round-robin\"\nprocessing = \"0 ns\"")?;
        if self.is_compat() {
            writeln!(text, "control_frame = \"43 B\"\nrelease = \"first-bit\"")?;
            writeln!(text, "draws = \"ns-3\"")?;
        }
        writeln!(text, "\n[switch.memory]\nkind = \"shared\"")?;
        writeln!(text, "total = \"{} B\"", self.settings.buffer)?;
        let reserve = memory::RESERVE;
        writeln!(
            text,
            "reserve = \"{reserve} B\"\nresume_offset = \"3072 B\""
        )?;
        writeln!(text, "set_aside = \"per-port\"")?;
        if self.is_compat() {
            writeln!(text, "resume_on = \"own-departure\"")?;
        }
        let ports = memory::ports(self.topology);
        let most = ports.iter().max_by_key(|(_, ports)| ports.len());
        let Some((base, _)) = most else {
            return Ok(());
        };
        let base = *base;
        write_port(text, base)?;
        for (memory, ports) in ports.iter().filter(|(memory, _)| **memory != base) {
            let ports = ports.iter().map(|port| format!("\"{port}\""));
            let ports = Vec::from_iter(ports).join(", ");
            writeln!(text, "[[switch.memory.at]]\nports = [{ports}]")?;
            write_port(text, *memory)?;
        }
        writeln!(text, "\n[flow_control]\nkind = \"pfc\"")?;
        writeln!(
            text,
            "# Headroom of three times what is under way one way may be too little."
        )?;
        writeln!(text, "unsafe_parameters = true")?;
        if self.is_compat() {
            writeln!(text, "pause_quanta = 0")?;
        }
        writeln!(text)
    }

    fn write_transport(&self, text: &mut String) -> std::fmt::Result {
        let settings = self.settings;
        writeln!(
            text,
            "[transport]\nfinish = \"source\"\nrecovery = \"go-back-n\""
        )?;
        let pacing = match (settings.is_rate_bound, self.is_compat()) {
            (false, _) => "own-pace",
            (true, true) => "strict-whole-ns",
            (true, false) => "strict",
        };
        writeln!(text, "pacing = \"{pacing}\"")?;
        writeln!(text, "ack_size = \"{} B\"", settings.acknowledgement())?;
        if settings.acks_first && self.is_compat() {
            writeln!(text, "host_answers = \"free\"")?;
        }
        if let Window::Product {
            is_global,
            follows_rate,
        } = settings.window
        {
            match is_global {
                true => writeln!(text, "window = \"{} B\"", self.window())?,
                false => writeln!(text, "window = \"bdp\"")?,
            }
            writeln!(text, "window_follows_rate = {follows_rate}")?;
        }
        writeln!(text, "\n[congestion_control]")?;
        self.write_control(text)?;
        writeln!(text)
    }

    /// The largest product of all pairs of hosts, in whole frames instead of their payloads.
    fn window(&self) -> u64 {
        let (_, largest) = self.ways.largest();
        largest.div_ceil(self.settings.payload).max(1) * self.packet()
    }

    fn write_control(&self, text: &mut String) -> std::fmt::Result {
        let settings = self.settings;
        let marking = settings.marking.values().next().copied();
        match &settings.control {
            Control::Dcqcn(dcqcn) => write_dcqcn(text, dcqcn, marking)?,
            Control::Hpcc(hpcc) => self.write_hpcc(text, hpcc)?,
            Control::Timely(timely) => write_timely(text, timely)?,
            Control::None => writeln!(text, "kind = \"none\"")?,
        }
        writeln!(text, "ack_every = 1")?;
        if self.is_compat() || !settings.acks_first {
            writeln!(text, "feedback_class = \"data\"")?;
        }
        for (rate, at) in settings
            .marking
            .iter()
            .filter(|_| settings.marking.len() > 1)
        {
            writeln!(
                text,
                "[[congestion_control.at_rate]]\nrate = \"{rate} bps\""
            )?;
            let (kmin, kmax) = (at.kmin.max(1), at.kmax.max(1));
            writeln!(text, "kmin = \"{kmin} B\"\nkmax = \"{kmax} B\"")?;
            writeln!(text, "pmax = {}", float(at.pmax.max(1e-9)))?;
        }
        Ok(())
    }

    fn write_hpcc(&self, text: &mut String, hpcc: &Hpcc) -> std::fmt::Result {
        writeln!(text, "kind = \"hpcc\"\neta = {}", float(hpcc.target))?;
        writeln!(text, "stage_max = {}", hpcc.stages)?;
        writeln!(text, "rate_ai = \"{} bps\"", hpcc.rate_ai.as_bps())?;
        writeln!(text, "rate_min = \"{} bps\"", hpcc.rate_min.as_bps())?;
        writeln!(
            text,
            "fast_react = {}\nper_hop = {}",
            hpcc.is_fast, hpcc.is_per_hop
        )?;
        writeln!(text, "sample_feedback = {}", hpcc.is_sampling)?;
        if self.is_compat() {
            writeln!(text, "record_multiple = {}", hpcc.multiple)?;
        }
        if let Window::Product {
            is_global: true, ..
        } = self.settings.window
        {
            let (longest, _) = self.ways.largest();
            writeln!(text, "base_rtt = \"{longest} ns\"")?;
        }
        Ok(())
    }

    /// The priority groups that flows use; each is a class, in this order.
    fn groups(&self) -> BTreeSet<u8> {
        self.flows.iter().map(|flow| flow.group).collect()
    }

    fn write_flows(&self, text: &mut String) -> std::fmt::Result {
        let groups = Vec::from_iter(self.groups());
        writeln!(text, "[[traffic]]\nkind = \"list\"\nname = \"flows\"")?;
        writeln!(text, "# Sizes are frame bytes: payload and headers.")?;
        writeln!(
            text,
            "rows = \"\"\"\nsource target size_bytes start_ns class name"
        )?;
        for (flow, line) in self.flows.iter().zip(self.lines) {
            let Flow {
                source,
                target,
                start,
                ..
            } = flow;
            let packets = u64::from(flow.size).div_ceil(self.settings.payload);
            let size = u64::from(flow.size) + packets * self.overhead();
            let class = groups.iter().position(|group| *group == flow.group);
            let class = class.unwrap_or(0);
            writeln!(
                text,
                "{source} {target} {size} {start} {class} {}",
                line.name
            )?;
        }
        writeln!(text, "\"\"\"")
    }
}

fn write_port(text: &mut String, memory: memory::PortMemory) -> std::fmt::Result {
    let alpha = match memory.shift {
        0 => "1".to_string(),
        shift => format!("1/{}", 1 << shift),
    };
    writeln!(
        text,
        "alpha = \"{alpha}\"\nheadroom = \"{} B\"",
        memory.headroom
    )
}

fn write_dcqcn(text: &mut String, dcqcn: &Dcqcn, marking: Option<Marking>) -> std::fmt::Result {
    writeln!(
        text,
        "kind = \"dcqcn\"\nstyle = \"nic\"\nscale_with_speed = false"
    )?;
    if let Some(Marking { kmin, kmax, pmax }) = marking {
        // No threshold of a queue is less than a byte.
        let (kmin, kmax) = (kmin.max(1), kmax.max(1));
        writeln!(text, "kmin = \"{kmin} B\"\nkmax = \"{kmax} B\"")?;
        writeln!(text, "pmax = {}", float(pmax.max(1e-9)))?;
    } else {
        writeln!(
            text,
            "# Nothing is marked.\nkmin = \"1 GB\"\nkmax = \"1 GB\""
        )?;
    }
    writeln!(text, "alpha_timer = \"{}\"", microseconds(dcqcn.alpha_us))?;
    writeln!(
        text,
        "cnp_interval = \"{}\"",
        microseconds(dcqcn.decrease_us)
    )?;
    writeln!(
        text,
        "increase_timer = \"{}\"",
        microseconds(dcqcn.increase_us)
    )?;
    writeln!(
        text,
        "g = {}\nthreshold = {}",
        float(dcqcn.gain),
        dcqcn.stages
    )?;
    let clamp = if dcqcn.clamps {
        "always"
    } else {
        "after-stage"
    };
    writeln!(text, "clamp = \"{clamp}\"")?;
    writeln!(text, "rate_ai = \"{} bps\"", dcqcn.rate_ai.as_bps())?;
    writeln!(text, "rate_hai = \"{} bps\"", dcqcn.rate_hai.as_bps())?;
    writeln!(text, "rate_min = \"{} bps\"", dcqcn.rate_min.as_bps())
}

/// The values that stand in the source of that simulator, and in no file.
fn write_timely(text: &mut String, timely: &Timely) -> std::fmt::Result {
    let (ai, hai) = (timely.rate_ai.as_bps(), timely.rate_hai.as_bps());
    writeln!(
        text,
        "kind = \"timely\"\nupdate = \"per-round-trip\"\nscale_with_speed = false"
    )?;
    writeln!(
        text,
        "ewma_weight = 0.875\nbeta = 0.8\nt_low = \"50 us\"\nt_high = \"500 us\""
    )?;
    writeln!(
        text,
        "min_rtt = \"20 us\"\nhai_threshold = 5\ndelta = \"{ai} bps\""
    )?;
    writeln!(
        text,
        "hai_factor = {}",
        float((hai as f64 / ai as f64).clamp(1.0, 1_000.0))
    )?;
    writeln!(text, "rate_min = \"{} bps\"", timely.rate_min.as_bps())
}

/// In whole nanoseconds, as the simulator's timers have them.
fn microseconds(value: f64) -> String {
    format!("{} ns", ((value * 1e3).floor() as u64).max(1))
}

/// A number that TOML takes for a float.
fn float(value: f64) -> String {
    format!("{value:?}")
}
