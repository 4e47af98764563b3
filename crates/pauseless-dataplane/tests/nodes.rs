//! Switch and hosts together, over wires in memory.

mod star;

use pauseless_core::flow_control::FlowControl;
use pauseless_core::unit::{Bytes, Span};
use star::*;

/// Two hosts send to a third one as fast as they can.
fn incast(control: FlowControl) -> Star {
    let ports = vec![port(control, 1); 3];
    let config = switch_config(ports, &[2, 2]);
    let hosts = vec![
        (vec![sent(0, Bytes::mb(2))], vec![]),
        (vec![sent(1, Bytes::mb(2))], vec![]),
        (vec![], vec![received(0), received(1)]),
    ];
    Star::new(&config, hosts)
}

#[test]
fn flow_control_shares_a_line_and_loses_nothing() {
    for control in [pfc(), cbfc()] {
        let mut star = incast(control);
        star.run(Span::ms(20));
        let (switch, hosts) = star.report();
        for flow in &hosts[2].receives {
            // Half a gigabit per second each.
            let bytes = flow.bytes.get() as f64;
            assert!((bytes / 1.25e6 - 1.0).abs() < 0.05, "{control:?} {flow:?}");
        }
        let stopped = hosts[..2].iter().map(|host| &host.ports[0]);
        let is_stopped = |port: &_| {
            let port: &pauseless_dataplane::report::PortReport = port;
            port.counters.pauses_received > 0 || port.classes[0].is_stopped
        };
        assert!(
            matches!(control, FlowControl::Cbfc(_)) || stopped.clone().all(is_stopped),
            "nobody was paused"
        );
        star.run(Span::ms(20));
        let (_, hosts) = star.report();
        for flow in &hosts[2].receives {
            assert_eq!((flow.missing, flow.duplicates, flow.reordered), (0, 0, 0));
            // 1,333 full frames and what is left.
            assert_eq!((flow.frames, flow.bytes), (1_334, Bytes::mb(2)));
            assert!(flow.latency.p50 >= Span::us(12), "{:?}", flow.latency);
        }
        assert!(star.hosts.iter().all(|host| host.is_done(star.now)));
        assert_eq!(star.switch.frames_inside(), 0);
        assert_conserved(&mut star.switch, star.now);
        let late = &switch.lateness;
        assert!(late.data.count > 0 && late.data.max <= TICK, "{late:?}");
        assert!(star.switch.take_messages().is_empty());
    }
}
