//! The PCN experiments that take seconds: claims come out as their files say.

use std::ops::ControlFlow;

use pauseless_experiments::repro::claim::Verdict;
use pauseless_experiments::repro::scope::Session;
use pauseless_experiments::repro::{Scale, catalogue, reproduce};

#[test]
fn claims_of_the_small_experiments_are_marked_as_they_come_out() {
    let entries = catalogue::embedded();
    let session = Session {
        scale: Scale::Quick,
        store: None,
        settings: &[],
        reading: None,
        keeps_documents: false,
        keeps_runs: false,
        watch: &|_, _, _| ControlFlow::Continue(()),
    };
    for name in ["pcn-fig10", "pcn-fig11", "pcn-table1"] {
        let entry = catalogue::find(&entries, name).expect("an experiment");
        let done = reproduce(entry, &session).unwrap_or_else(|failure| panic!("{failure}"));
        assert!(done.count(Verdict::Met) >= 4, "{name}");
        for judged in &done.claims {
            assert!(
                !matches!(judged.verdict, Verdict::Broken | Verdict::Unmarked),
                "{name}: {}: {:?}",
                judged.claim.text,
                judged.findings
            );
        }
    }
}
