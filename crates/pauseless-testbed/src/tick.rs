//! How fine the lockstep's clock must be for a scenario.

use pauseless_core::flow_control::FlowControl;
use pauseless_core::unit::Span;
use pauseless_dataplane::clock::Pace;
use pauseless_sim::Config;

use super::BedError;
use pauseless_scenario::Scenario;
use pauseless_text::quantity::span;

/// The tick of the lockstep for `scenario`. A frame is seen at the end of the tick that it has left in,
/// so that feedback takes two frames and two ticks at the most, which no port's tau may be shorter than.
pub fn of(scenario: &Scenario) -> Result<Span, BedError> {
    let mut most = Pace::TICK;
    for group in &scenario.port_groups {
        if matches!(group.ingress.control, FlowControl::None) {
            continue;
        }
        let latency = group.derivation.latency;
        let frames = latency.line.tx_span(latency.mtu * 2);
        let room = Span::ps(group.tau.saturating_sub(frames).as_ps() / 2);
        if room < LEAST {
            let name = group.members.first().map(|(node, port, _)| {
                let topology = &scenario.config.topology;
                let peer = topology.port(*node, *port).peer;
                format!("{}:{}", topology.node(*node).name, topology.node(peer).name)
            });
            let name = name.unwrap_or_default();
            return Err(BedError::TooFast(format!(
                "{name} must be told within {}, and in lockstep two frames and two ticks of {} are {}; \
                 take a slower rate or more `processing`",
                span(group.tau),
                span(LEAST),
                span(frames + LEAST * 2),
            )));
        }
        // Finer than it must be, so that phases hang on the network and not on the clock.
        most = most.min(room).min(Span::ps(group.tau.as_ps() / 10));
    }
    Ok(off_beat(most.max(LEAST), &frames(&scenario.config)))
}

/// The first tick from `most` down that beats with none of `frames`: where one takes a whole or half
/// number of ticks, every one of them leaves at the same place of a tick, and neighbours answer each
/// other in step. If there is none, `most`.
fn off_beat(most: Span, frames: &[Span]) -> Span {
    let is_off = |tick: Span| {
        frames.iter().all(|frame| {
            let halves = 2.0 * frame.as_ps() as f64 / tick.as_ps() as f64;
            (halves - halves.round()).abs() >= OFF
        })
    };
    let candidates =
        (0..STEPS).map(|step| Span::ps(most.as_ps() / STEPS_IN_ALL * (STEPS_IN_ALL - step)));
    candidates.filter(|tick| *tick >= LEAST).find(|tick| is_off(*tick)).unwrap_or(most)
}

/// How long the packets of all flows take on all links.
fn frames(config: &Config) -> Vec<Span> {
    let mut rates = Vec::from_iter(config.topology.links().iter().map(|link| link.rate));
    let mut packets = Vec::from_iter(config.flows.iter().map(|flow| flow.packet));
    rates.sort();
    rates.dedup();
    packets.sort();
    packets.dedup();
    let spans = rates.iter().flat_map(|rate| packets.iter().map(|packet| rate.tx_span(*packet)));
    // Many of the others leave within one tick.
    spans.filter(|span| *span >= LEAST).collect()
}

/// Links that are delayed by more than a tick, which the testbed does not imitate.
pub(super) fn remark_of_delays(config: &Config, tick: Span) -> Option<String> {
    let delays = config.topology.links().iter().map(|link| link.delay);
    let longest = delays.max().filter(|delay| *delay > tick)?;
    Some(format!(
        "links have no delay here: the scenario's, up to {}, is left out, and feedback is that much quicker",
        span(longest)
    ))
}

/// A finer clock would make a second of the network take minutes.
const LEAST: Span = Span::us(1);
/// How far from a whole or half number of ticks a frame's time must be, in half ticks.
const OFF: f64 = 0.1;
const STEPS: u64 = 40;
const STEPS_IN_ALL: u64 = 100;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ring::{self, Speed};
    use pauseless_scenario::Overrides;

    fn ring(from: &str, to: &str) -> Scenario {
        let only = ["gfc-buffer-cycle-aware".to_string()];
        let scenarios = ring::scenarios(Speed::Lockstep, &only, &Overrides::default());
        let mut scenarios = scenarios.unwrap_or_else(|it| panic!("{it}"));
        let scenario = scenarios.remove(0);
        let text = scenario.resolved().replace(from, to);
        Scenario::parse("ring", &text, &Overrides::default()).unwrap_or_else(|it| panic!("{it}"))
    }

    #[test]
    fn no_frame_takes_a_whole_number_of_ticks() {
        let tick = of(&ring("", "")).expect("it is slow");
        assert!(tick <= Pace::TICK && tick > Span::us(10), "{tick:?}");
        let ticks = Span::us(60).as_ps() as f64 / tick.as_ps() as f64;
        assert!((ticks - ticks.round()).abs() > 0.05, "{ticks}");
        assert_eq!(off_beat(Span::us(20), &[]), Span::us(20));
        assert!(off_beat(Span::us(20), &[Span::us(60)]) < Span::us(20));
        assert!(off_beat(Span::us(40), &[Span::us(60)]) < Span::us(40));
    }

    #[test]
    fn feedback_in_lockstep_fits_in_tau_or_the_scenario_is_refused() {
        let mut scenario = ring("", "");
        for group in &mut scenario.port_groups {
            group.tau = Span::us(125);
        }
        let tick = of(&scenario).expect("there is room");
        assert!(Span::us(120) + tick * 2 <= Span::us(125), "{tick:?}");
        for group in &mut scenario.port_groups {
            group.tau = Span::us(121);
        }
        let error = of(&scenario).expect_err("there is none").to_string();
        assert!(error.contains("within 121 us"), "{error}");
        assert!(error.contains("more `processing`"), "{error}");
    }

    #[test]
    fn a_delay_that_is_left_out_is_said() {
        let config = ring("", "").config;
        assert_eq!(remark_of_delays(&config, Span::us(20)), None);
        let remark = remark_of_delays(&config, Span::ns(500)).expect("a remark");
        assert!(remark.contains("up to 1.00 us, is left out"), "{remark}");
    }
}
