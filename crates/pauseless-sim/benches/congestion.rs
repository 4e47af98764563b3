//! The PCN paper's small experiments with all schemes, as tables for docs/congestion.md:
//! `cargo bench -p pauseless-sim --bench congestion [-- fig1|fig5|fig11|flows|many|lot ..]`.

#[path = "../tests/networks/mod.rs"]
mod networks;

use networks::congestion::*;
use networks::flow;
use pauseless_core::congestion::{CongestionControl, pcn, qcn};
use pauseless_core::unit::{Rate, Span, Time};
use pauseless_sim::{Outcome, run};

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    let all: [(&str, fn()); 6] = [
        ("fig1", fig1),
        ("fig5", fig5),
        ("fig11", fig11),
        ("flows", flows),
        ("many", many),
        ("lot", lot),
    ];
    let is_any = all.iter().any(|(name, _)| wanted.iter().any(|it| it == name));
    for (name, table) in all {
        if !is_any || wanted.iter().any(|it| it == name) {
            println!("\n{name}");
            table();
        }
    }
}

/// Fig. 1 to 3: until when the hosts of F0 and F1 are held, how far both flows were cut, and for how
/// long they leave more than 10 % of their link unused.
fn fig1() {
    println!(
        "{:<12} {:>9} {:>9} {:>9} {:>10} {:>10} {:>8} {:>8} {:>9}",
        "scheme", "H0 ms", "H1 ms", "S0 ms", "F0 min", "F1 min", "F0 end", "F1 end", "loss ms"
    );
    let scaled = qcn::Config { reference: Some(Rate::gbps(10)), ..qcn::Config::default() };
    let mut cases = vec![("pfc alone", CongestionControl::None)];
    cases.extend(schemes(Span::us(30)).map(|control| (control.name(), control)));
    cases.push(("qcn scaled", CongestionControl::Qcn(scaled)));
    for (name, control) in cases {
        let config = pcn_fig1(control);
        let outcome = run(&config);
        let held = |port: &str| {
            let last = port_outcome(&config, &outcome, port).held_last;
            let last = last.map_or(Span::ZERO, |last| last.saturating_since(BURST));
            last.as_secs_f64() * 1e3
        };
        let series = &outcome.series;
        let after = || (0..series.times.len()).filter(|at| series.times[*at] > BURST);
        let least = |flow: usize| {
            let rates = after().map(|at| series.flows[flow].allowed_bps[at]);
            rates.fold(f64::MAX, f64::min) / 1e9
        };
        let end = |flow: usize| series.flows[flow].goodput_bps.last().copied().unwrap_or(0.0) / 1e9;
        let sum = |at: usize| series.flows[0].goodput_bps[at] + series.flows[1].goodput_bps[at];
        let loss = after().filter(|at| sum(*at) < 36e9).count() as f64 * 0.05;
        println!(
            "{name:<12} {:>9.2} {:>9.2} {:>9.2} {:>10.2} {:>10.2} {:>8.1} {:>8.1} {loss:>9.2}",
            held("H0:S0"),
            held("H1:S0"),
            held("S0:S1"),
            least(0),
            least(1),
            end(0),
            end(1),
        );
    }
}

/// Fig. 5: PAUSE between the switches against the rate of F1.
fn fig5() {
    println!("{:>8} {:>8} {:>8} {:>8}", "F1 sends", "pauses", "F0", "F1");
    for mbps in [2_000, 6_000, 9_000, 9_300, 9_400, 9_500, 9_700, 10_000, 11_000, 15_000, 20_000] {
        let config = pcn_fig5(Rate::mbps(mbps));
        let outcome = run(&config);
        let rate = |name| outcome.flows[flow(&config, name).index()].goodput_late_bps / 1e9;
        println!(
            "{:>8.1} {:>8} {:>8.2} {:>8.2}",
            mbps as f64 / 1e3,
            port_outcome(&config, &outcome, "S0:S1").pauses,
            rate("F0"),
            rate("F1")
        );
    }
}

fn period(us: u64) -> CongestionControl {
    CongestionControl::Pcn(pcn::Config { period: Span::us(us), ..pcn::Config::default() })
}

/// Fig. 11: four flows over 10 Gb/s with a round trip of 0.5 ms.
fn fig11() {
    println!(
        "{:<12} {:>12} {:>12} {:>12} {:>8} {:>8}",
        "scheme", "settled ms", "queue low ms", "late queue", "share", "jain"
    );
    let [_, others @ ..] = schemes(Span::us(498));
    let mut cases = vec![("pcn T=500us", period(500)), ("pcn T=50us", period(50))];
    cases.extend(others.map(|control| (control.name(), control)));
    for (name, control) in cases {
        let mut config = pcn_dumbbell(4, control);
        config.duration = Span::ms(400);
        let outcome = run(&config);
        let series = &outcome.series;
        let sum = |at: usize| -> f64 { series.flows.iter().map(|it| it.allowed_bps[at]).sum() };
        let ms = |at: Option<usize>| {
            at.map_or("never".to_string(), |at| {
                let time = series.times[at] - Time::ZERO;
                format!("{:.1}", time.as_secs_f64() * 1e3)
            })
        };
        let samples = 0..series.times.len();
        let off = samples.clone().rev().find(|at| (sum(*at) - 10e9).abs() > 1e9);
        let off = off.filter(|at| at + 1 < samples.end);
        let queue = &series.ports[0].egress;
        let low = samples.clone().find(|at| *at > 10 && queue[*at] < 20_000);
        let (jain, total) = fairness(&outcome);
        println!(
            "{name:<12} {:>12} {:>12} {:>9} KB {:>7.1}% {jain:>8.3}",
            ms(off),
            ms(low),
            late_queue(&outcome),
            total * 10.0
        );
    }
}

/// The mean queue before the bottleneck in the second half, in KB.
fn late_queue(outcome: &Outcome) -> u64 {
    let queue = &outcome.series.ports[0].egress;
    let late = &queue[queue.len() / 2..];
    late.iter().sum::<u64>() / late.len() as u64 / 1_000
}

/// B.1: 4 to 1,024 flows over the link of Fig. 11, all from the line rate at once.
fn flows() {
    println!(
        "{:>5} {:<14} {:>8} {:>8} {:>11} {:>7} {:>13}",
        "flows", "scheme", "share", "jain", "late queue", "pauses", "last pause ms"
    );
    for count in [4usize, 16, 64, 256, 1_024] {
        let small = CongestionControl::Pcn(pcn::Config {
            period: Span::us(500),
            w_min: 0.1 / count as f64,
            ..pcn::Config::default()
        });
        let [_, others @ ..] = schemes(Span::us(498));
        let mut cases =
            vec![("pcn T=500us", period(500)), ("pcn w=0.1/N", small), ("pcn T=50us", period(50))];
        cases.extend(others.map(|control| (control.name(), control)));
        for (name, control) in cases {
            let mut config = pcn_dumbbell(count, control);
            config.duration = Span::ms(400);
            let outcome = run(&config);
            let (jain, total) = fairness(&outcome);
            let last = outcome.ports.iter().filter_map(|port| port.held_last).max();
            let last = last.map_or(0.0, |last| (last - Time::ZERO).as_secs_f64() * 1e3);
            println!(
                "{count:>5} {name:<14} {:>7.1}% {jain:>8.3} {:>8} KB {:>7} {last:>13.1}",
                total * 10.0,
                late_queue(&outcome),
                outcome.pause_frames,
            );
        }
    }
}

/// B.1 with PCN's parameters chosen for the number of flows, all from their fair rates.
fn many() {
    println!(
        "{:>5} {:>9} {:>8} {:>8} {:>11} {:>11} {:>7}",
        "flows", "T ms", "share", "jain", "late queue", "most", "pauses"
    );
    for count in [4usize, 16, 64, 256, 1_024] {
        let mut config = pcn_for_many(count);
        config.duration = Span::s(3);
        let CongestionControl::Pcn(control) = config.congestion.control else {
            unreachable!("it is PCN");
        };
        let outcome = run(&config);
        let (jain, total) = fairness(&outcome);
        let most = outcome.series.ports[0].egress.iter().max();
        println!(
            "{count:>5} {:>9.2} {:>7.1}% {jain:>8.3} {:>8} KB {:>8} KB {:>7}",
            control.period.as_secs_f64() * 1e3,
            total * 10.0,
            late_queue(&outcome),
            most.map_or(0, |most| most / 1_000),
            outcome.pause_frames,
        );
    }
}

/// B.3: F0 over N links of 40 Gb/s, against 1/(N + 1) of one.
fn lot() {
    println!(
        "{:>3} {:<8} {:>8} {:>8} {:>8} {:>8} {:>7}",
        "N", "scheme", "F0", "of fair", "F1", "link 1", "pauses"
    );
    for links in [2, 4, 6, 8, 10] {
        for control in schemes(Span::us(10 * u64::from(links + 2))) {
            let mut config = parking_lot(links, control);
            config.duration = Span::ms(400);
            config.probes.resolution = Span::ms(1);
            config.probes.flows = vec![flow(&config, "F00"), flow(&config, "F01")];
            let outcome = run(&config);
            let mean = |flow: usize| {
                let late = &outcome.series.flows[flow].goodput_bps[100..];
                late.iter().sum::<f64>() / late.len() as f64 / 1e9
            };
            println!(
                "{links:>3} {:<8} {:>8.2} {:>7.0}% {:>8.2} {:>7.1}% {:>7}",
                control.name(),
                mean(0),
                mean(0) / (40.0 / f64::from(links + 1)) * 100.0,
                mean(1),
                (mean(0) + mean(1)) / 0.4,
                outcome.pause_frames
            );
        }
    }
}
