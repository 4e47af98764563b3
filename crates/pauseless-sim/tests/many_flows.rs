//! Very many flows of one host that start at one instant: the time that they take grows with their
//! number, not with its square.

mod networks;

use std::time::{Duration, Instant};

use networks::{Scheme, gfc_ring};
use pauseless_core::switch::Discipline;
use pauseless_core::unit::{Bytes, Span, Time};
use pauseless_sim::Parallel;

#[test]
#[allow(clippy::disallowed_methods, reason = "it is about the time that the simulator takes")]
fn flows_that_start_together_are_started_in_linear_time() {
    let mut config = gfc_ring(Scheme::Pfc, Discipline::OutputQueued, 1);
    let flow = config.flows[0].clone();
    config.flows.clear();
    for number in 0..250_000 {
        let mut flow = flow.clone();
        (flow.start, flow.size, flow.hash) = (Time::ZERO, Bytes::new(1), number);
        config.flows.push(flow);
    }
    config.duration = Span::us(50);
    let begin = Instant::now();
    for threads in [1, 2] {
        let outcome = Parallel::new(&config, threads).run();
        let finished = outcome.flows.iter().filter(|flow| flow.finish.is_some()).count();
        assert!(finished > 100, "{finished}");
    }
    // Each of 250,000 moved all others, once, and that took minutes.
    assert!(begin.elapsed() < Duration::from_secs(30), "{:?}", begin.elapsed());
}
