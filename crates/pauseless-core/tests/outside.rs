//! What the configurations of outside schemes are, and what is refused of them on real wires.

mod disguise;

use disguise::Language;
use disguise::congestion::disguised_congestion;
use disguise::flow_control::disguised_flow_control;
use pauseless_core::congestion::{CongestionControl, Feedback, dcqcn};
use pauseless_core::flow_control::{FlowControl, pfc};
use pauseless_core::id::Class;
use pauseless_core::unit::Bytes;
use pauseless_core::wire::cnp::Cnp;
use pauseless_core::wire::control::{Contents, Unwelcome};

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

/// Even one that speaks as PFC does: nobody has said that its frames mean the same.
#[test]
fn no_frame_is_for_an_outside_scheme() {
    let control = flow_control(Bytes::kb(80));
    assert!(!control.has_frames());
    let mut times = [None; 8];
    times[3] = Some(7);
    let heard = Contents::Times(times).controls(|_| Some(&control));
    assert_eq!(Vec::from_iter(heard), [Err(Unwelcome::Scheme(Class(3)))]);
    assert_eq!(Cnp::fields(Feedback::Outside([1; 8])), None);
}
