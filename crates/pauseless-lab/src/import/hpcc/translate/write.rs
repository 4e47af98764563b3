//! The text of the scenario.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::super::flow::Flow;
use super::super::topology::Topology;
use super::super::ways::Ways;
use super::super::{Compat, FlowLine};
use super::keys::{Control, Settings};
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
        }
        writeln!(text, "\n[switch.memory]\nkind = \"shared\"")?;
        writeln!(text, "total = \"{} B\"", self.settings.buffer)?;
        writeln!(text, "reserve = \"4096 B\"\nresume_offset = \"3072 B\"")?;
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
        let _ = (&self.ways, self.settings.acknowledgement());
        writeln!(text, "[congestion_control]")?;
        match &self.settings.control {
            Control::None => writeln!(text, "kind = \"none\"\nack_every = 1")?,
            other => writeln!(text, "# {other:?}\nkind = \"none\"\nack_every = 1")?,
        }
        if self.is_compat() || !self.settings.acks_first {
            writeln!(text, "feedback_class = \"data\"")?;
        }
        writeln!(text)
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
