//! What a tap sees is what happened, and watching changes nothing.

mod networks;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use networks::{Scheme, gfc_ring};
use pauseless_core::id::{NodeId, PortId};
use pauseless_core::switch::Discipline;
use pauseless_core::unit::{Span, Time};
use pauseless_sim::tap::{Direction, Seen, Spot, Tap};
use pauseless_sim::{Simulator, run};

/// What passed each end of a link, in each direction.
#[derive(Default)]
struct Notes {
    last: Time,
    out: BTreeMap<(NodeId, PortId), Vec<Seen>>,
    arrived: BTreeMap<(NodeId, PortId), Vec<Seen>>,
}

struct Notebook(Arc<Mutex<Notes>>);

impl Tap for Notebook {
    fn see(&mut self, time: Time, spot: Spot, frame: Seen) {
        let mut notes = self.0.lock().unwrap();
        assert!(notes.last <= time, "time goes back");
        notes.last = time;
        let Spot { node, port, direction } = spot;
        let side = match direction {
            Direction::Out => &mut notes.out,
            Direction::In => &mut notes.arrived,
        };
        side.entry((node, port)).or_default().push(frame);
    }
}

#[test]
fn every_frame_is_seen_at_both_ends_of_its_wire() {
    for scheme in Scheme::ALL {
        let mut config = gfc_ring(scheme, Discipline::OutputQueued, 1);
        config.duration = Span::ms(5);
        let notes = Arc::new(Mutex::new(Notes::default()));
        let mut simulator = Simulator::new(&config);
        simulator.set_tap(Box::new(Notebook(notes.clone())));
        let outcome = simulator.run();
        assert_eq!(outcome, run(&config), "watching changes nothing");

        let notes = notes.lock().unwrap();
        let (mut hops, mut controls) = (0, 0);
        for ((node, port), sent) in &notes.out {
            let far = config.topology.port(*node, *port);
            let arrived = notes.arrived.get(&(far.peer, far.peer_port));
            let arrived = arrived.map_or(&[][..], Vec::as_slice);
            // What is still on the wire at the end has not arrived.
            assert!(sent.starts_with(arrived) && sent.len() - arrived.len() < 10);
            let is_control = |frame: &&Seen| matches!(frame, Seen::Control(_));
            controls += sent.iter().filter(is_control).count() as u64;
            hops += arrived.iter().filter(|frame| !is_control(frame)).count() as u64;
        }
        assert_eq!(hops, outcome.packet_hops, "{scheme:?}");
        assert_eq!(controls, outcome.feedback_frames, "{scheme:?}");
    }
}
