//! The simulated switch, in the network of its case.

use std::io;
use std::sync::{Arc, Mutex};

use pauseless_core::flow_control::Control;
use pauseless_core::id::NodeId;
use pauseless_core::transport::AnswerSizes;
use pauseless_core::unit::{Bytes, Time};
use pauseless_sim::tap::{Direction, Seen, Spot, Tap};
use pauseless_sim::{Config, Simulator};

use super::cases::Case;
use super::{Arm, Passing, Record, What};

pub struct SimArm;

impl Arm for SimArm {
    fn run(&mut self, case: &Case) -> io::Result<Record> {
        let config = case.config();
        let record = Arc::new(Mutex::new(Record { arrivals: Vec::new(), departures: Vec::new() }));
        let mut simulator = Simulator::new(&config);
        simulator.set_tap(Box::new(Recorder {
            config: &config,
            node: case.node(&config),
            record: record.clone(),
        }));
        let outcome = simulator.run();
        assert_eq!(outcome.lost_packets > 0, case.is_dropping(), "{case:?}");
        let mut record = Arc::into_inner(record).expect("the run is over").into_inner().unwrap();
        // They are told as they begin, and looked at as they end.
        let end = Time::ZERO + config.duration;
        record.departures.retain(|passing| passing.time < end);
        record.departures.sort_by_key(|passing| (passing.time, passing.port));
        Ok(record)
    }
}

struct Recorder<'c> {
    config: &'c Config,
    node: NodeId,
    record: Arc<Mutex<Record>>,
}

impl Tap for Recorder<'_> {
    fn see(&mut self, time: Time, spot: Spot, frame: Seen) {
        if spot.node != self.node {
            return;
        }
        let mut record = self.record.lock().unwrap();
        let (what, size) = read(frame);
        let port = spot.port;
        match spot.direction {
            Direction::In => record.arrivals.push(Passing { time, port, what }),
            Direction::Out => {
                let line = self.config.line(spot.node, port);
                let time = time + line.tx_span(size);
                record.departures.push(Passing { time, port, what });
            }
        }
    }
}

fn read(frame: Seen) -> (What, Bytes) {
    match frame {
        Seen::Control(control) => (What::Control(control), Control::SIZE),
        Seen::Answer { flow, feedback, class } => {
            let what = What::Answer { flow, feedback, class };
            (what, AnswerSizes::default().of(feedback))
        }
        Seen::Data { flow, sequence, is_marked, size, class } => {
            let what = What::Data { flow, number: u64::from(sequence.0), size, class, is_marked };
            (what, size)
        }
    }
}
