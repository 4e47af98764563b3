//! Numbers that the papers compute, recomputed.

use pauseless_core::derive::{self, Latency};
use pauseless_core::flow_control::{Control, cbfc};
use pauseless_core::unit::{Bytes, Span};

use crate::repro::data::Measured;
use crate::repro::scope::{Failure, Scope};
use pauseless_plan as plan;
use pauseless_plan::explain::example;
use pauseless_run::table::{Column, Table};

/// GFC section 4.2: the stages of buffer-based GFC, and what their messages cost.
pub(super) fn gfc_stages(_: &Scope<'_>, measured: &mut Measured) -> Result<(), Failure> {
    let mut add = |name: &str, value: f64| measured.values.push(name, value);
    let latency = example(10, 1_500);
    let c_tau = kb(latency.c_tau());
    let message_mbps = Control::SIZE.get() as f64 * 8.0 / us(latency.tau());
    add("tau_us", us(latency.tau()));
    add("c_tau_kb", c_tau);
    add("pfc_headroom_kb", kb(latency.pfc_headroom()));
    add("width_kb", kb(derive::buffer_width(&latency)));
    add("worst_mbps", message_mbps);
    add("worst_percent", message_mbps / 10_000.0 * 100.0);
    add("steady_mbps", message_mbps / 8.0);
    add("steady_percent", message_mbps / 8.0 / 10_000.0 * 100.0);
    // A fluid from three senders, between the rates of stages 1 and 2: two messages in
    // tau (2 + a/b + b/a), where a is the excess of stage 1 and b what stage 2 lacks.
    let (excess, lack) = (1.0 / 2.0 - 1.0 / 3.0, 1.0 / 3.0 - 1.0 / 4.0);
    let period_in_tau = 2.0 + excess / lack + lack / excess;
    add("fluid_percent", 2.0 * message_mbps / period_in_tau / 10_000.0 * 100.0);
    // Equation 3 with theorem 4.1: 1 - C tau / (4 C tau).
    let conceptual = kb(derive::conceptual_width(&latency));
    add("ratio_bound", 1.0 - c_tau / conceptual);
    Ok(())
}

/// GFC section 5.4: tau and the parameters for 10, 40 and 100 Gb/s.
pub(super) fn gfc_parameters(_: &Scope<'_>, measured: &mut Measured) -> Result<(), Failure> {
    let mut rows = Vec::new();
    let one_tau = example(10, 4_000).tau();
    for gbps in [10, 40, 100] {
        let mut add = |name: &str, value: f64| rows.push((format!("{gbps}G/{name}"), value));
        let (ethernet, infiniband) = (example(gbps, 1_500), example(gbps, 4_000));
        let width = derive::buffer_width(&ethernet);
        let period = cbfc::default_period(ethernet.line);
        let c_period = gbps as f64 * us(period) / 8.0;
        let printed = (us(period) / us(infiniband.tau())).sqrt() + 1.0;
        add("tau_ethernet_us", us(ethernet.tau()));
        add("tau_infiniband_us", us(infiniband.tau()));
        add("tau_4096_us", us(example(gbps, 4_096).tau()));
        add("buffer_width_kb", kb(width));
        add("stages", f64::from(derive::stage_count(width)));
        let width_at_one_tau = ethernet.line.bytes_in(one_tau) * 2;
        add("stages_one_tau", f64::from(derive::stage_count(width_at_one_tau)));
        add("stages_least_rate", f64::from(stages_to_the_least_rate(gbps)));
        add("time_width_kb", kb(derive::time_width_of_theorem(&infiniband, period)));
        add("time_width_as_printed_kb", printed * printed * c_period);
        add("six_incasts_kbps", gbps as f64 * 1e6 / 16f64.powi(6));
    }
    let sim = example(10, 1_500);
    let period = cbfc::default_period(sim.line);
    let infiniband = example(10, 4_000);
    let mut add = |name: &str, value: f64| rows.push((name.to_string(), value));
    add("sim/b1_kb", 300.0 - kb(derive::buffer_width(&sim)));
    add("sim/b0_kb", 300.0 - kb(derive::time_width_of_theorem(&infiniband, period)));
    // The testbed: 1 MB, tau 90 us, T 52.4 us.
    let slow = Latency { processing: sim.processing + (Span::us(90) - sim.tau()), ..sim };
    let period = Span::ns(52_400);
    add("testbed/tau_us", us(slow.tau()));
    add("testbed/b1_kb", 1_000.0 - kb(derive::buffer_width(&slow)));
    add("testbed/b0_kb", 1_000.0 - kb(derive::time_width_of_theorem(&slow, period)));
    add("wire_100m_ns", us(plan::headroom::cable(100)) * 1e3);
    publish(rows, measured);
    Ok(())
}

/// The stages until the rate is at most that of stage 16 at 10 Gb/s.
fn stages_to_the_least_rate(gbps: u64) -> u32 {
    16 + gbps.div_ceil(10).next_power_of_two().trailing_zeros()
}

/// The TTL note, section 2.
pub(super) fn ttl_sizes(_: &Scope<'_>, measured: &mut Measured) -> Result<(), Failure> {
    const NAMES: [&str; 8] = [
        "headroom",
        "headroom_118_quanta",
        "headroom_proved",
        "headroom_proved_118_quanta",
        "switch_headroom_rounded",
        "switch_headroom",
        "buffer_without_sharing",
        "buffer_with_sharing",
    ];
    let rows = NAMES.iter().zip(plan::paper::paper());
    let rows = rows.map(|(name, row)| (name.to_string(), row.ours_bytes as f64));
    let mut rows: Vec<(String, f64)> = rows.collect();
    let of = |name: &str| plan_row(&rows, name);
    let per_class = of("switch_headroom_rounded") / 8.0;
    let needed_kb = of("headroom_proved_118_quanta") / 1e3;
    let both = of("buffer_with_sharing") + of("switch_headroom");
    // Section 2.3: a switch of a tree meets every second class only.
    let halved = of("buffer_with_sharing") + of("switch_headroom") / 2.0;
    let more = [
        ("switch_headroom_per_class", per_class),
        ("headroom_proved_118_quanta_kb", needed_kb),
        ("buffer_and_headroom", both),
        ("buffer_and_headroom_halved", halved),
    ];
    rows.extend(more.map(|(name, value)| (name.to_string(), value)));
    publish(rows, measured);
    Ok(())
}

fn plan_row(rows: &[(String, f64)], name: &str) -> f64 {
    rows.iter().find(|(it, _)| it == name).expect("one of the names above").1
}

/// Values, and the same as a table.
fn publish(rows: Vec<(String, f64)>, measured: &mut Measured) {
    let (names, values): (Vec<String>, Vec<f64>) = rows.into_iter().unzip();
    for (name, value) in names.iter().zip(&values) {
        measured.values.push(name, *value);
    }
    let values = Column::numbers("value", values.into_iter().map(Some));
    let columns = vec![Column::texts("name", names), values];
    measured.tables.push(Table::new("numbers", columns));
}

fn us(span: Span) -> f64 {
    span.as_secs_f64() * 1e6
}

fn kb(bytes: Bytes) -> f64 {
    bytes.get() as f64 / 1e3
}
