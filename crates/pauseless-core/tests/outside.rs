//! What the configurations of outside schemes are, and what is refused of them on real wires.

mod disguise;

use disguise::Language;
use disguise::congestion::disguised_congestion;
use disguise::flow_control::disguised_flow_control;
use pauseless_core::congestion::outside::{BoxedReactionPoint, CongestionScheme};
use pauseless_core::congestion::{
    AnyCongestionPoint, AnyNotificationPoint, CongestionControl, Feedback, ReactionPoint, Source,
    dcqcn,
};
use pauseless_core::flow_control::{FlowControl, pfc};
use pauseless_core::unit::{Bytes, Rate, Time};

fn flow_control(xoff: Bytes) -> FlowControl {
    let pfc = FlowControl::Pfc(pfc::Config { xoff, xon: Bytes::kb(1), quanta: pfc::QUANTA_MAX });
    disguised_flow_control(pfc, Language::Own).expect("PFC has messages")
}

#[test]
fn configurations_are_copied_compared_and_named() {
    let control = flow_control(Bytes::kb(80));
    let copied = control;
    assert_eq!(control, copied);
    assert_eq!(control, flow_control(Bytes::kb(80)));
    assert_ne!(control, flow_control(Bytes::kb(81)));
    assert_ne!(control, FlowControl::None);
    assert_eq!(control.name(), "disguised");

    let dcqcn = CongestionControl::Dcqcn(dcqcn::Config::default());
    let outside = disguised_congestion(dcqcn, Language::Own);
    assert_eq!(outside, disguised_congestion(dcqcn, Language::Own));
    assert_ne!(outside, disguised_congestion(dcqcn, Language::Bytes));
    assert_ne!(outside, dcqcn);
    assert_eq!(outside.name(), "disguised");
}

/// A scheme from another crate may want anything of switches, so they are ready for it; acknowledgements and
/// telemetry are as it says, and it has no parts that it does not name.
#[test]
fn outside_congestion_controls_get_what_they_ask_for() {
    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Asking {
        ack_every: u32,
        is_asking: bool,
    }
    impl CongestionScheme for Asking {
        fn name(&self) -> &'static str {
            "asking"
        }
        fn reaction_point(&self, source: Source) -> Box<dyn BoxedReactionPoint> {
            Box::new(Constant { rate: source.initial, fed: 0 })
        }
        fn ack_every(&self) -> u32 {
            self.ack_every
        }
        fn has_window(&self) -> bool {
            self.is_asking
        }
        fn has_telemetry(&self) -> bool {
            self.is_asking
        }
    }
    for (ack_every, is_asking) in [(0, false), (3, true)] {
        let control = CongestionControl::outside(Asking { ack_every, is_asking });
        assert_eq!(control.ack_every(), ack_every);
        assert_eq!((control.has_window(), control.has_telemetry()), (is_asking, is_asking));
        assert!(control.notifies() && control.watches_release());
        let point = control.congestion_point(Rate::gbps(10), 1);
        assert!(matches!(point, AnyCongestionPoint::Counter));
        assert!(matches!(control.notification_point(), AnyNotificationPoint::None));
    }
}

/// One that asks for nothing gets nothing; telemetry that comes nevertheless is feedback to it.
#[test]
fn what_an_outside_scheme_does_not_say_is_no() {
    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Silent;
    impl CongestionScheme for Silent {
        fn name(&self) -> &'static str {
            "silent"
        }
        fn reaction_point(&self, source: Source) -> Box<dyn BoxedReactionPoint> {
            Box::new(Constant { rate: source.initial, fed: 0 })
        }
    }
    let control = CongestionControl::outside(Silent);
    assert_eq!(control.ack_every(), 0);
    assert!(!control.has_window() && !control.has_telemetry());
    let mut point = control.reaction_point(Source::at_line(Rate::gbps(10)));
    point.on_telemetry(Time::ZERO, Feedback::Cnp, &[]);
    assert!(format!("{point:?}").contains("fed: 1"), "{point:?}");
    point.handle_timeout(Time::ZERO);
    assert_eq!((point.poll_timeout(), point.rate()), (Time::MAX, Rate::gbps(10)));
}

/// The sender of a scheme that never changes its rate, and counts its feedback.
#[derive(Clone, Debug)]
struct Constant {
    rate: Rate,
    fed: u32,
}

impl ReactionPoint for Constant {
    fn on_feedback(&mut self, _now: Time, _feedback: Feedback) {
        self.fed += 1;
    }

    fn rate(&self) -> Rate {
        self.rate
    }
}
