use super::telemetry::Echo;
use super::*;
use crate::transport::AnswerSizes;

const LAST: Sequence = Sequence((1 << 24) - 1);

#[test]
fn sequence_numbers_wrap_after_24_bits() {
    assert_eq!(Sequence(0).next(), Sequence(1));
    assert_eq!(LAST.next(), Sequence(0));
    assert_eq!(Sequence(0).previous(), LAST);
    assert_eq!(Sequence(0x5a_5a5b).previous(), Sequence(0x5a_5a5a));
}

#[test]
fn acknowledgements_of_both_kinds_carry_telemetry() {
    let (sequence, echo) = (Sequence(3), Echo(9));
    let ack = Feedback::Ack { sequence, is_marked: true, echo };
    let nack = Feedback::Nack { expected: sequence, is_marked: true, echo };
    for feedback in [ack, nack] {
        assert_eq!(feedback.echo(), Echo(9));
        assert_eq!(feedback.echoing(Echo(4)).echo(), Echo(4));
        assert_eq!(feedback.echoing(Echo(4)).echoing(Echo(9)), feedback);
    }
    assert_eq!(Feedback::Cnp.echoing(Echo(4)), Feedback::Cnp);
    assert_eq!(Feedback::Cnp.echo(), Echo::NONE);
}

#[test]
fn a_sequence_number_comes_after_those_less_than_half_a_turn_behind() {
    let half = Sequence(1 << 23);
    assert!(Sequence(7).is_from(Sequence(7)));
    assert!(Sequence(8).is_from(Sequence(7)));
    assert!(!Sequence(7).is_from(Sequence(8)));
    // Across the wrap.
    assert!(Sequence(0).is_from(LAST));
    assert!(!LAST.is_from(Sequence(0)));
    assert!(Sequence(3).is_from(Sequence(LAST.0 - 3)));
    // 2^23 - 1 numbers ahead is after, 2^23 is not.
    assert!(Sequence(half.0 - 1).is_from(Sequence(0)));
    assert!(!half.is_from(Sequence(0)));
}

//= ib-a17 17.9.3 type=test
#[test]
fn feedback_travels_in_frames_of_the_right_size() {
    let ack = Feedback::Ack { sequence: Sequence(0), is_marked: false, echo: Echo::NONE };
    let receiving = Feedback::Receiving { is_congested: true, rate_mbps: 1 };
    let headers = 14 + 20 + 8 + 12;
    let trailers = 4 + 4;
    let sizes = AnswerSizes::default();
    assert_eq!(sizes.of(ack), Bytes::new(headers + 4 + trailers));
    assert_eq!(sizes.of(Feedback::Cnp), Bytes::new(headers + 16 + trailers));
    assert_eq!(sizes.of(receiving), sizes.of(Feedback::Cnp));
    assert_eq!(sizes.of(Feedback::Outside([0; 8])), sizes.of(Feedback::Cnp));
    assert_eq!(sizes.of(Feedback::Congestion { psi: 1 }), Bytes::new(64));
}

#[test]
fn rates_stay_within_their_bounds() {
    let bounds = Bounds::new(Rate::mbps(5), Rate::gbps(10));
    assert_eq!(bounds.rate(0.0), Rate::mbps(5));
    assert_eq!(bounds.rate(1e12), Rate::gbps(10));
    assert_eq!(bounds.rate(f64::NAN), Rate::mbps(5));
    assert_eq!(bounds.rate(5_000_000.5), Rate::bps(5_000_001));
    // A link below the least rate.
    let bounds = Bounds::new(Rate::mbps(5), Rate::mbps(1));
    assert_eq!(bounds.rate(0.0), Rate::mbps(1));
}

#[test]
fn steps_scale_with_the_link() {
    let step = Rate::mbps(40);
    assert_eq!(scaled(step, Rate::gbps(10), None), 40e6);
    // 40 Mb/s at 40 Gb/s are 10 Mb/s at 10 Gb/s.
    assert_eq!(scaled(step, Rate::gbps(10), Some(Rate::gbps(40))), 10e6);
}

/// What a scheme needs of switches, targets and sources.
#[derive(Debug, PartialEq)]
struct Needs {
    ack_every: u32,
    telemetry: bool,
    window: bool,
    notices: bool,
    release: bool,
}

const NOTHING: Needs =
    Needs { ack_every: 0, telemetry: false, window: false, notices: false, release: false };

#[test]
fn every_scheme_has_the_parts_it_needs() {
    let line = Rate::gbps(10);
    let source = Source { round_trip: crate::unit::Span::us(20), ..Source::at_line(line) };
    let timely = timely::Config::per_packet(crate::unit::Span::us(20));
    let nic = dcqcn::Config { style: dcqcn::Style::Nic, ..dcqcn::Config::default() };
    let hpcc = hpcc::Config { base_rtt: crate::unit::Span::us(20), ..hpcc::Config::default() };
    let acknowledged = Needs { ack_every: 1, ..NOTHING };
    let windowed = Needs { ack_every: 1, window: true, ..NOTHING };
    let schemes = [
        (CongestionControl::None, "none", NOTHING),
        (CongestionControl::Pcn(pcn::Config::default()), "pcn", Needs { release: true, ..NOTHING }),
        (CongestionControl::Qcn(qcn::Config::default()), "qcn", Needs { notices: true, ..NOTHING }),
        (CongestionControl::Dcqcn(dcqcn::Config::default()), "dcqcn", NOTHING),
        (CongestionControl::Dcqcn(nic), "dcqcn", Needs { ack_every: 1, ..NOTHING }),
        (CongestionControl::Timely(timely), "timely", acknowledged),
        (
            CongestionControl::Hpcc(hpcc),
            "hpcc",
            Needs { ack_every: 1, window: true, telemetry: true, ..NOTHING },
        ),
        (CongestionControl::Dctcp(dctcp::Config::default()), "dctcp", windowed),
    ];
    for (control, name, needs) in schemes {
        assert_eq!(control.name(), name);
        let found = Needs {
            ack_every: control.ack_every(),
            telemetry: control.has_telemetry(),
            window: control.has_window(),
            notices: control.notifies(),
            release: control.watches_release(),
        };
        assert_eq!(found, needs, "{name}");
        let mut reaction = control.reaction_point(source);
        assert_eq!(reaction.rate(), line);
        // No scheme has anything to do before the first packet.
        assert_eq!(reaction.poll_timeout(), Time::MAX);
        reaction.handle_timeout(Time::ZERO);
        let mut notification = control.notification_point();
        // Whoever acknowledges packets needs no other word of the target.
        let is_silent = matches!(notification, AnyNotificationPoint::None);
        assert!(is_silent || needs.ack_every == 0, "{name}");
        assert_eq!(notification.poll_timeout(), Time::MAX);
        assert_eq!(notification.handle_timeout(Time::ZERO), None);
        let mut congestion = control.congestion_point(line, 1);
        let empty = QueueState { packets: 0, bytes: Bytes::ZERO, is_held: false };
        congestion.on_release(Time::ZERO, empty);
        assert!(!congestion.on_dequeue(Time::ZERO, Bytes::new(1_000), empty));
        let waiting = QueueState { packets: 1, bytes: Bytes::new(1_000), is_held: false };
        let size = Bytes::new(1_000);
        assert_eq!(congestion.on_enqueue(Time::ZERO, size, waiting), Joining::Silent);
    }
}
