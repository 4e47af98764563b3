//! Frames are for schemes of ours only.

#[path = "../../pauseless-core/tests/disguise/mod.rs"]
mod disguise;

use disguise::Language;
use disguise::flow_control::disguised_flow_control;
use pauseless_core::congestion::Feedback;
use pauseless_core::flow_control::{FlowControl, pfc};
use pauseless_core::id::Class;
use pauseless_core::unit::Bytes;
use pauseless_wire::cnp::Cnp;
use pauseless_wire::control::{Contents, Unwelcome};

/// Even one that speaks as PFC does: nobody has said that its frames mean the same.
#[test]
fn no_frame_is_for_an_outside_scheme() {
    let (xoff, xon) = (Bytes::kb(80), Bytes::kb(1));
    let pfc = FlowControl::Pfc(pfc::Config { xoff, xon, quanta: pfc::QUANTA_MAX });
    let control = disguised_flow_control(pfc, Language::Own).expect("PFC has messages");
    assert!(!control.has_frames());
    let mut times = [None; 8];
    times[3] = Some(7);
    let heard = Contents::Times(times).controls(|_| Some(&control));
    assert_eq!(Vec::from_iter(heard), [Err(Unwelcome::Scheme(Class(3)))]);
    assert_eq!(Cnp::fields(Feedback::Outside([1; 8])), None);
}
