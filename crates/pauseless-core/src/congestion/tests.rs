use super::telemetry::Echo;
use super::*;
use crate::transport::AnswerSizes;

const LAST: Sequence = Sequence((1 << 24) - 1);

#[test]
fn sequence_numbers_wrap_after_24_bits() {
    assert_eq!(Sequence(0).next(), Sequence(1));
    assert_eq!(LAST.next(), Sequence(0));
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

#[test]
fn every_scheme_has_the_parts_it_needs() {
    let line = Rate::gbps(10);
    let schemes = [
        (CongestionControl::None, "none", 0),
        (CongestionControl::Pcn(pcn::Config::default()), "pcn", 0),
        (CongestionControl::Qcn(qcn::Config::default()), "qcn", 0),
        (CongestionControl::Dcqcn(dcqcn::Config::default()), "dcqcn", 0),
        (
            CongestionControl::Timely(timely::Config::per_packet(crate::unit::Span::us(20))),
            "timely",
            1,
        ),
    ];
    for (control, name, ack_every) in schemes {
        assert_eq!(control.name(), name);
        assert_eq!(control.ack_every(), ack_every);
        let mut reaction = control.reaction_point(Source::at_line(line));
        assert_eq!(reaction.rate(), line);
        // No scheme has anything to do before the first packet.
        assert_eq!(reaction.poll_timeout(), Time::MAX);
        reaction.handle_timeout(Time::ZERO);
        let mut notification = control.notification_point();
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
