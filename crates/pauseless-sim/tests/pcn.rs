//! The PCN paper's experiments.

mod networks;

use networks::congestion::*;
use networks::*;
use pauseless_core::congestion::CongestionControl;
use pauseless_core::unit::{Span, Time};
use pauseless_sim::run;

#[test]
fn explore_fig1() {
    let none = CongestionControl::None;
    let mut qs = pauseless_core::congestion::qcn::Config::default();
    qs.reference = Some(pauseless_core::unit::Rate::gbps(10));
    let all: Vec<_> = [none]
        .into_iter()
        .chain(schemes(Span::us(30)))
        .chain([CongestionControl::Qcn(qs)])
        .collect();
    for xoff in [20, 50, 100, 200, 300, 512] {
        println!("XOFF {xoff}");
        for control in all.clone() {
            let mut config = pcn_fig1(control);
            config.ingress = pauseless_sim::config::IngressTable::uniform(
                &config.topology,
                2,
                pauseless_sim::config::Ingress {
                    control: pauseless_core::flow_control::FlowControl::Pfc(
                        pauseless_core::flow_control::pfc::Config {
                            xoff: pauseless_core::unit::Bytes::kb(xoff),
                            xon: pauseless_core::unit::Bytes::kb(xoff - 2),
                            quanta: 65535,
                        },
                    ),
                    buffer: pauseless_core::unit::Bytes::mb(1),
                },
            );
            let outcome = run(&config);
            let port = |name: &str| {
                let (node, port) = port(&config, name);
                *outcome
                    .ports
                    .iter()
                    .find(|it| (it.node, it.port) == (node, port))
                    .unwrap()
            };
            let times = &outcome.series.times;
            let rates: Vec<(f64, f64, f64, f64)> = (0..times.len())
                .map(|i| {
                    let f = &outcome.series.flows;
                    (
                        f[0].goodput_bps[i] / 1e9,
                        f[1].goodput_bps[i] / 1e9,
                        f[0].allowed_bps[i] / 1e9,
                        f[1].allowed_bps[i] / 1e9,
                    )
                })
                .collect();
            let loss: usize = (0..times.len())
                .filter(|i| times[*i] > BURST && rates[*i].0 + rates[*i].1 < 36.0)
                .count();
            let last_loss = (0..times.len())
                .rev()
                .find(|i| rates[*i].0 + rates[*i].1 < 36.0)
                .map(|i| times[i]);
            println!(
                "{:7} pauses H0 {} H1 {} S0:S1 {} held H0 {:?}..{:?} S0S1 {:?}..{:?} loss {} us last {:?} tree {:?}",
                control.name(),
                port("H0:S0").pauses,
                port("H1:S0").pauses,
                port("S0:S1").pauses,
                port("H0:S0").held_first.map(|t| t.as_ps() / 1000000),
                port("H0:S0").held_last.map(|t| t.as_ps() / 1000000),
                port("S0:S1").held_first.map(|t| t.as_ps() / 1000000),
                port("S0:S1").held_last.map(|t| t.as_ps() / 1000000),
                loss * 50,
                last_loss.map(|t| t.as_ps() / 1000000),
                outcome.tree
            );
            let r = rates
                .iter()
                .zip(times)
                .filter(|(_, t)| **t > BURST)
                .map(|(r, _)| r.2)
                .fold(99.0, f64::min);
            let end = port("S0:S1").held_last.unwrap_or(BURST);
            let at = times.iter().position(|t| *t >= end).unwrap();
            println!(
                "   least F0 allowed {r:.1}, at end of tree {:.1}",
                rates[at].2
            );
        }
    }
    let _ = Time::ZERO;
}
