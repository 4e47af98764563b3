//! The numbers of GFC section 5.4, recomputed and set beside the printed ones.

use std::fmt;

use pauseless_core::derive::{self, Latency};
use pauseless_core::flow_control::{Control, cbfc};
use pauseless_core::unit::{Bytes, Rate, Span};
use schemars::JsonSchema;
use serde::Serialize;

use super::write_table;

/// What section 5.4 of the GFC paper prints, and what its formulas give.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Paper {
    /// One for each printed number.
    pub rows: Vec<PaperRecord>,
}

/// A printed number and ours.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PaperRecord {
    /// The name of the quantity.
    pub quantity: &'static str,
    /// The rate of the link.
    pub line_bps: u64,
    /// How it is computed.
    pub formula: &'static str,
    /// The value that the formula gives here.
    pub ours: String,
    /// The value that the paper prints.
    pub printed: &'static str,
    /// Why the two differ; empty if they do not.
    pub note: &'static str,
}

const LINES: [u64; 3] = [10, 40, 100];
const ROUNDED: &str = "the paper computes with its rounded tau";

/// Recomputes section 5.4 with MTU 1500 B (InfiniBand: 4000 B), t_w 1 us and t_r 3 us.
//= gfc19 5.4 examples
pub fn paper() -> Paper {
    let mut rows = Vec::new();
    let mut add = |quantity, formula, cells: [(String, &'static str, &'static str); 3]| {
        for (gbps, (ours, printed, note)) in LINES.into_iter().zip(cells) {
            let line_bps = Rate::gbps(gbps).as_bps();
            rows.push(PaperRecord { quantity, line_bps, formula, ours, printed, note });
        }
    };
    let ethernet = LINES.map(|gbps| latency(gbps, 1_500));
    let infiniband = LINES.map(|gbps| latency(gbps, 4_000));
    let tau = "2 MTU / C + 2 t_w + t_r";
    let [a, b, c] = ethernet.map(|latency| latency.tau().to_string());
    let cells = [(a, "7.4 us", ""), (b, "5.6 us", ""), (c, "5.2 us", "printed rounded")];
    add("tau, Ethernet", tau, cells);
    let [a, b, c] = infiniband.map(|latency| latency.tau().to_string());
    let why = "needs an MTU of 4000 B, not 4096 B";
    add("tau, InfiniBand", tau, [(a, "11.4 us", why), (b, "6.6 us", why), (c, "5.6 us", why)]);
    let widths = ethernet.map(|latency| derive::buffer_width(&latency));
    let [a, b, c] = widths.map(|width| width.to_string());
    let cells = [(a, "18.5 KB", ""), (b, "56 KB", ""), (c, "130 KB", ROUNDED)];
    add("B_m - B_1, buffer-based", "2 C tau", cells);
    let [a, b, c] = widths.map(|width| derive::stage_count(width).to_string());
    let why = "the paper's own rule gives ours";
    let cells = [(a, "16", ""), (b, "18", why), (c, "20", why)];
    add("N, buffer-based", "1 + ceil(log2(B_m - B_1))", cells);
    let [a, b, c] = infiniband.map(|latency| {
        derive::time_width_of_theorem(&latency, cbfc::default_period(latency.line)).to_string()
    });
    let cells = [
        (a, "140.8 KB", "C T of 65535 B"),
        (b, "191.4 KB", "C T of 65535 B"),
        (c, "271 KB", ROUNDED),
    ];
    add("B_m - B_0, time-based", "(sqrt(tau / T) + 1)^2 C T", cells);
    let share = 100.0 * Control::SIZE.get() as f64 / ethernet[0].c_tau().get() as f64;
    rows.push(PaperRecord {
        quantity: "feedback, a message per tau",
        line_bps: ethernet[0].line.as_bps(),
        formula: "64 B / (C tau)",
        ours: format!("{share:.2} %"),
        printed: "0.69 %",
        note: "",
    });
    Paper { rows }
}

/// The link of the paper's examples.
pub fn latency(gbps: u64, mtu: u64) -> Latency {
    Latency {
        mtu: Bytes::new(mtu),
        line: Rate::gbps(gbps),
        wire: Span::us(1),
        processing: Span::us(3),
        classes: 1,
        jitter: Span::ZERO,
        overhead: Bytes::ZERO,
        clock_ppb: 0,
    }
}

impl fmt::Display for Paper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "GFC (SIGCOMM 2019), section 5.4: t_w 1 us, t_r 3 us")?;
        let header = ["quantity", "C", "formula", "ours", "paper", "note"].map(String::from);
        let rows = self.rows.iter().map(|row| {
            let texts = [row.quantity, "", row.formula, "", row.printed, row.note];
            let mut cells = texts.map(String::from);
            cells[1] = Rate::bps(row.line_bps).to_string();
            cells[3] = row.ours.clone();
            cells
        });
        let table: Vec<_> = std::iter::once(header).chain(rows).collect();
        write_table(f, &table)
    }
}
