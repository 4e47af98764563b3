//! Experiments of the papers that take seconds, carried out: is every claim as its file says?

use std::ops::ControlFlow;

use pauseless_experiments::repro::claim::Verdict;
use pauseless_experiments::repro::scope::Session;
use pauseless_experiments::repro::{Reproduced, Scale, catalogue, reproduce};

fn done(name: &str) -> Reproduced {
    let entry = catalogue::find(&catalogue::embedded(), name).expect("an experiment");
    let session = Session {
        scale: Scale::Quick,
        store: None,
        settings: &[],
        reading: None,
        keeps_documents: false,
        keeps_runs: false,
        watch: &|_, _, _| ControlFlow::Continue(()),
    };
    reproduce(entry, &session).unwrap_or_else(|failure| panic!("{name}: {failure}"))
}

#[test]
fn claims_hold_exactly_where_they_are_marked() {
    for name in ["gfc-fig5", "gfc-sec5.4", "ttl-buffer", "ttl-headroom"] {
        for judged in done(name).claims {
            let is_wrong = matches!(judged.verdict, Verdict::Broken | Verdict::Unmarked);
            assert!(!is_wrong, "{name}: {judged:?}");
        }
    }
}

/// The search must find the rate between one that flows and one that deadlocks, in each discipline.
#[test]
fn a_loop_deadlocks_above_the_bound() {
    let done = done("hotnets-fig2");
    for discipline in ["output-queued", "virtual-output-queued", "input-queued"] {
        let value = |metric: &str| {
            let name = format!("n2-ttl16/{discipline}/{metric}");
            done.measured.values.evaluate(&name).expect("measured")
        };
        let (low, high) = (value("flows_at_gbps"), value("deadlocks_at_gbps"));
        assert!(low <= 5.0 && 5.0 <= high, "{discipline}: {low} to {high}");
        assert!(high - low < 0.1, "{discipline}: {low} to {high}");
    }
    assert!(!done.is_broken());
}
