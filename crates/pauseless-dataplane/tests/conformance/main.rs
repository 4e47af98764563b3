//! Does the real switch do what the simulated one does? One body, two arms.
//!
//! A simulated network is recorded at one of its switches: all frames in, all frames out. A real switch
//! is given the same frames as bytes at the same instants, over wires in memory and over veth pairs,
//! and must send the same frames in the same order at the same picosecond: data with its marks,
//! answers, and every message of flow control.

mod cases;
#[path = "../../../pauseless-sim/tests/networks/mod.rs"]
mod networks;
mod real_arm;
mod sim_arm;

use std::io;

use cases::{CASES, Case};
use pauseless_core::congestion::Feedback;
use pauseless_core::flow_control::Control;
use pauseless_core::id::{Class, FlowId, PortId};
use pauseless_core::unit::{Bytes, Time};
use real_arm::{RealArm, Wires};
use sim_arm::SimArm;

/// A frame at a port of the switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Passing {
    /// When its last bit has passed.
    time: Time,
    port: PortId,
    what: What,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Data { flow: FlowId, number: u64, size: Bytes, class: Class, is_marked: bool },
    Answer { flow: FlowId, feedback: Feedback, class: Class },
    Control(Control),
}

/// What has passed a switch, in the order of time.
struct Record {
    arrivals: Vec<Passing>,
    departures: Vec<Passing>,
}

/// A switch that the same things happen to.
trait Arm {
    fn run(&mut self, case: &Case) -> io::Result<Record>;
}

/// Runs a case on an arm. What holds there whatever the arm: it says something, and every packet that
/// leaves has come in before, in the order of its flow.
fn body(case: &Case, arm: &mut dyn Arm) -> io::Result<Record> {
    let record = arm.run(case)?;
    let controls = record.departures.iter().filter(|it| it.is_control());
    assert!(controls.count() >= case.controls_min, "{case:?}");
    let marks = |passings: &[Passing]| passings.iter().filter(|it| it.is_marked()).count();
    let marked = marks(&record.departures).saturating_sub(marks(&record.arrivals));
    assert!(marked >= case.marks_min, "{case:?}: {marked}");
    for flow in (0..case.config().flows.len()).map(|flow| FlowId(flow as u32)) {
        let numbers = |passings: &[Passing]| {
            Vec::from_iter(passings.iter().filter_map(|it| it.number_of(flow)))
        };
        let mut came = numbers(&record.arrivals).into_iter();
        // What is dropped on purpose is left out, and nothing else.
        let mut is_next = |left: u64| {
            if case.is_dropping() {
                came.any(|number| number == left)
            } else {
                came.next() == Some(left)
            }
        };
        let left = numbers(&record.departures);
        assert!(left.into_iter().all(&mut is_next), "{case:?}: {flow:?}");
    }
    Ok(record)
}

impl Passing {
    fn is_control(&self) -> bool {
        matches!(self.what, What::Control(_))
    }

    fn is_marked(&self) -> bool {
        matches!(self.what, What::Data { is_marked, .. } if is_marked)
    }

    fn number_of(&self, wanted: FlowId) -> Option<u64> {
        match self.what {
            What::Data { flow, number, .. } if flow == wanted => Some(number),
            _ => None,
        }
    }
}

fn compare(wires: Wires) {
    for case in CASES {
        let simulated = body(&case, &mut SimArm).expect("a simulator needs no privileges");
        let arrivals = simulated.arrivals;
        let real = match body(&case, &mut RealArm { wires, arrivals }) {
            Ok(real) => real,
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                eprintln!("not tested: {error}");
                return;
            }
            Err(error) => panic!("{error}"),
        };
        let pairs = simulated.departures.iter().zip(&real.departures);
        for (number, (expected, found)) in pairs.enumerate() {
            assert_eq!(found, expected, "{case:?}, frame {number}");
        }
        assert_eq!(real.departures.len(), simulated.departures.len(), "{case:?}");
    }
}

#[test]
fn a_switch_over_wires_in_memory_does_what_the_simulated_one_does() {
    compare(Wires::Memory);
}

#[test]
fn a_switch_over_veth_does_what_the_simulated_one_does() {
    compare(Wires::Veth);
}
