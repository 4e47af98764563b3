//! Why the parameters of a port are as they are, step by step: each with its formula and its source.

use std::fmt;

use pauseless_core::derive::{self, Derivation, GUARD_FRAMES_MIN, HOLD_FRAMES, Latency};
use pauseless_core::flow_control::{Control, cbfc, gfc, pfc};
use pauseless_core::unit::{Bytes, Rate, Span};
use schemars::JsonSchema;
use serde::Serialize;

use crate::PortGroup;
use pauseless_text::declare::{Entry, Fallback, Info, Written};
use pauseless_text::unit::Quantity;

/// One step of a derivation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct StepRecord {
    /// The name of the quantity, such as `tau` or `B_m`.
    pub symbol: String,
    /// The formula or the reason that gives the value.
    pub formula: String,
    /// The value with its unit.
    pub value: String,
    /// The clause, paper or file that the formula comes from.
    pub source: &'static str,
}

/// Rows in the making.
#[derive(Default)]
pub struct Steps {
    /// The steps so far.
    pub rows: Vec<StepRecord>,
}

impl Steps {
    /// Adds a row, whose value is written as it displays itself.
    pub fn add(
        &mut self,
        symbol: &str,
        formula: &str,
        value: impl fmt::Display,
        source: &'static str,
    ) {
        self.rows.push(StepRecord {
            symbol: symbol.to_string(),
            formula: formula.to_string(),
            value: value.to_string(),
            source,
        });
    }

    /// A row with every byte of the value, since it is compared with thresholds.
    pub fn bytes(&mut self, symbol: &str, formula: &str, value: Bytes, source: &'static str) {
        self.add(symbol, formula, value.exact(), source);
    }

    /// The five terms of tau, their sum, and what the link carries in it.
    pub fn latency(&mut self, group: &PortGroup) {
        const EQ: &str = "gfc19 5.4 eq 6";
        let latency = &group.derivation.latency;
        let frame = latency.line.tx_span(latency.mtu + latency.overhead);
        self.add("C", "rate of the link", latency.line, "scenario");
        self.bytes("MTU", "largest frame", latency.mtu, "scenario");
        let whose = match group.memory {
            None => "buffer of the ingress port and class",
            Some(_) => "memory of the switch, which ports share",
        };
        self.bytes("B", whose, group.ingress.buffer, "scenario");
        self.add("MTU / C", "the message waits for a frame that has begun", frame, EQ);
        self.add("t_w", "the message travels", latency.wire, EQ);
        self.add("t_r", "it is processed", latency.processing, EQ);
        self.add("MTU / C", "a frame that has begun is not interrupted", frame, EQ);
        self.add("t_w", "that frame travels", latency.wire, EQ);
        if group.tau == latency.tau() {
            self.add("tau", "2 MTU / C + 2 t_w + t_r", group.tau, EQ);
        } else {
            self.add("tau", "given instead of the sum of these", group.tau, "scenario");
        }
        let c_tau = latency.line.bytes_in_up(group.tau);
        self.bytes("C tau", "what arrives before feedback has an effect", c_tau, EQ);
    }

    /// A row for each key of a section that has a value, with its sentence.
    pub fn declared(&mut self, info: Info, keys: &dyn Written) {
        let entries = keys.entries();
        for key in info.keys {
            let value = entries.iter().find(|entry| entry.key == key.name).and_then(Entry::line);
            let (value, is_default) = match (value.as_deref(), &key.fallback) {
                (Some(value), Fallback::Value(default)) => (value, default == value),
                (Some(value), Fallback::Derived(_)) => (value, true),
                (Some(value), _) => (value, false),
                (None, Fallback::Derived(formula)) => (*formula, true),
                (None, _) => continue,
            };
            let value = value.trim_matches('"');
            let source = if is_default { key.source } else { "scenario" };
            self.add(key.name, key.brief(), value, source);
        }
    }

    pub(crate) fn pfc(&mut self, derivation: &Derivation, config: &pfc::Config) {
        const RULE: &str = "docs/protocols.md#pfc-headroom";
        let latency = &derivation.latency;
        let messages = Control::SIZE * u64::from(latency.classes);
        self.bytes("crossing", "the frame that crosses XOFF: one MTU", latency.mtu, RULE);
        self.bytes("messages", &format!("{} for each class", Control::SIZE), messages, RULE);
        let headroom = latency.pfc_headroom();
        self.bytes("headroom", "C tau + crossing + messages", headroom, RULE);
        let bound = derivation.buffer.saturating_sub(headroom);
        self.bytes("XOFF <=", "B - headroom", bound, RULE);
        self.bytes("XOFF", "pause above", config.xoff, "as run");
        self.bytes("XON", "resume below; by default XOFF - 2 MTU", config.xon, "as run");
        let pause = pfc::pause_span(config.quanta, latency.line);
        self.add("pause", &format!("{} quanta of 512 bits", config.quanta), pause, "802.1Q 36.1.3");
        self.add("refresh", "pause / 2, must exceed tau", pause / 2, "802.1Q 36.1.3");
    }

    pub(crate) fn cbfc(&mut self, latency: &Latency, config: &cbfc::Config) {
        const RULE: &str = "InfiniBand 7.9";
        let frame = cbfc::BLOCK * cbfc::blocks(latency.mtu);
        self.bytes("frame", "one MTU in whole blocks of 64 B", frame, RULE);
        self.bytes("credits", "at least a frame, at most B", config.capacity, "as run");
        self.add(
            "T",
            "time between two grants; by default 65535 B / C",
            config.period,
            "gfc19 5.4",
        );
        let full = latency.line.bytes_in_up(latency.tau() + config.period);
        self.bytes("credits >=", "C (tau + T), to keep the link full", full, "derived here");
        if config.counters == cbfc::Counters::Iba {
            let most = Bytes::new(2_048 * cbfc::BLOCK.get());
            self.bytes("grant <=", "2048 blocks, with counters of 12 bits", most, RULE);
        }
    }

    pub(crate) fn gfc_buffer(&mut self, derivation: &Derivation, config: &gfc::BufferConfig) {
        self.bm(derivation, config.bm);
        let width = derive::buffer_width(&derivation.latency);
        self.bytes("2 C tau", "B_m - B_1 at least", width, "gfc19 5.4");
        self.bytes("B_1 <=", "B_m - 2 C tau", config.bm.saturating_sub(width), "gfc19 5.4");
        self.bytes("B_1", "stage 1 begins", config.b1, "as run");
        self.add("N", "1 + ceil(log2(B_m - B_1)), in bytes", config.stages, "gfc19 4.2");
        let floor = config.rate(config.stages, derivation.latency.line);
        self.add("R_N", "max(C / 2^N, rate unit), the lowest rate", floor, "gfc19 4.2 eq 4");
        const HOLD_OFF: &str = "without a message until a faster stage is told";
        self.add("hold-off", HOLD_OFF, config.hold_off, "docs/gfc-guard.md");
        self.guard(derivation, config.bm, config.hold, floor);
    }

    pub(crate) fn gfc_time(&mut self, derivation: &Derivation, config: &gfc::TimeConfig) {
        const THEOREM: &str = "gfc19 theorem 5.1";
        let mapping = &config.mapping;
        self.bm(derivation, mapping.bm);
        let latency = &derivation.latency;
        self.add(
            "T",
            "time between two messages; by default 65535 B / C",
            config.period,
            "gfc19 5.4",
        );
        let is_premise = latency.tau() < config.period;
        let premise = if is_premise { "holds" } else { "does not hold: a wider bound is needed" };
        self.add("tau < T", "the premise of the theorem", premise, THEOREM);
        let theorem = derive::time_width_of_theorem(latency, config.period);
        self.bytes("width", "(sqrt(tau / T) + 1)^2 C T", theorem, THEOREM);
        let width = derive::time_width(latency, config.period);
        let mut source = THEOREM;
        if !is_premise {
            source = "delay tau + T, see core derive.rs";
            self.bytes("width", "e C (tau + T)", width, source);
        }
        let bound = mapping.bm.saturating_sub(width);
        self.bytes("B_0 <=", "B_m - width", bound, source);
        self.mapping(mapping);
        self.guard(derivation, mapping.bm, mapping.hold, mapping.floor);
    }

    pub(crate) fn gfc_conceptual(&mut self, group: &PortGroup, config: &gfc::ConceptualConfig) {
        const THEOREM: &str = "gfc19 theorem 4.1";
        let mapping = &config.mapping;
        self.bm(&group.derivation, mapping.bm);
        let width = group.derivation.latency.line.bytes_in_up(group.tau * 4);
        self.bytes("4 C tau", "B_m - B_0 at least", width, THEOREM);
        let bound = mapping.bm.checked_sub(width);
        let bound = bound.map_or("below zero: none is safe".to_string(), |bound| bound.exact());
        self.add("B_0 <=", "B_m - 4 C tau", bound, THEOREM);
        self.mapping(mapping);
        self.guard(&group.derivation, mapping.bm, mapping.hold, mapping.floor);
    }

    fn bm(&mut self, derivation: &Derivation, bm: Bytes) {
        let guard = derivation.latency.mtu * GUARD_FRAMES_MIN;
        let bound = derivation.buffer.saturating_sub(guard);
        let formula = format!("B - {GUARD_FRAMES_MIN} MTU of guard band");
        self.bytes("B_m <=", &formula, bound, "core derive");
        let formula =
            format!("the queue to stay below; by default B - {} MTU", derivation.guard_frames);
        self.bytes("B_m", &formula, bm, "as run");
    }

    fn mapping(&mut self, mapping: &gfc::Mapping) {
        self.bytes("B_0", "the rate begins to fall", mapping.b0, "as run");
        let half = Bytes::new((mapping.bm.get() / 2) + (mapping.b0.get() / 2));
        self.bytes("(B_m + B_0) / 2", "the queue of a sender held to C / 2", half, "gfc19 4.1");
        let formula = "max(C / (B_m - B_0), rate unit), the lowest rate";
        self.add("R_min", formula, mapping.floor, "core derive");
    }

    /// How the space between B_m and the end of the buffer is used.
    fn guard(&mut self, derivation: &Derivation, bm: Bytes, hold: Bytes, floor: Rate) {
        const WHY: &str = "core derive";
        let mtu = derivation.latency.mtu;
        let guard = derivation.buffer.saturating_sub(bm);
        self.bytes("guard", "B - B_m, because packets are indivisible", guard, WHY);
        self.bytes("overshoot", "2 MTU: frames are not a fluid", mtu * 2, WHY);
        self.bytes("slop", "1 MTU: the messages themselves", mtu, WHY);
        let patience = guard.saturating_sub(mtu * GUARD_FRAMES_MIN);
        self.bytes("patience", "guard - 5 MTU: a standstill is waited out", patience, WHY);
        self.bytes("closing", "2 MTU: what arrives after the hold", mtu * HOLD_FRAMES, WHY);
        self.bytes("hold", "B - 2 MTU: above this the sender is held", hold, WHY);
        let frame: Span = floor.tx_span(mtu);
        self.add("MTU / R_min", "standstill that each MTU of patience buys", frame, WHY);
    }
}
