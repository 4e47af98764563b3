//! What is said of flows that did not finish, against the same run that was let finish.

use std::fmt::Write;
use std::ops::ControlFlow;

use pauseless_core::unit::Span;
use pauseless_run::Run;
use pauseless_run::metrics::completion::{fct, fct_best, slowdown};
use pauseless_run::metrics::distribution::{Distribution, Percentile};
use pauseless_run::metrics::has_started;
use pauseless_run::results::{Facts, Reference};
use pauseless_scenario::{Overrides, Scenario};

/// SplitMix64: the same numbers on every machine.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (bits ^ (bits >> 31)) % bound
    }

    fn one_of<'t>(&mut self, texts: &[&'t str]) -> &'t str {
        texts[self.below(texts.len() as u64) as usize]
    }
}

/// A leaf-spine fabric without cycles, in which every flow finishes sooner or later, and how long
/// its short run is.
fn scenario(seed: u64) -> (String, Span) {
    let mut random = Random(seed);
    let scheme = random.one_of(&["pfc", "cbfc", "gfc-buffer", "gfc-time"]);
    let reaction = random.one_of(&["none", "none", "dcqcn", "dctcp", "timely"]);
    let (mtu, overhead) = (1_000 + 500 * random.below(3), random.one_of(&["0 B", "20 B"]));
    let mut text = format!(
        "duration = \"DURATION\"\nseed = {seed}\nmtu = \"{mtu} B\"\nwire_overhead = \"{overhead}\"\n\
         verdict.stop_on = [\"done\"]\nswitch.buffer = \"1 MB\"\nrouting.kind = \"ecmp\"\n\
         flow_control.kind = \"{scheme}\"\ncongestion_control.kind = \"{reaction}\"\n\
         [topology]\nkind = \"leaf-spine\"\nleaves = 2\nspines = 2\nhosts_per_leaf = 4\n\
         rate = \"{}\"\ndelay = \"1 us\"\n",
        random.one_of(&["10 Gbps", "40 Gbps"]),
    );
    if random.below(3) == 0 {
        // What is lost is sent again, so that targets see some bytes late and some twice.
        text += "[transport]\nrecovery = \"go-back-n\"\ntimeout = \"200 us\"\n\
                 [timing]\nwire_loss = 0.002\n";
    }
    for flow in 0..20 + random.below(60) {
        let source = random.below(8);
        // Some targets are popular, so that flows wait for each other.
        let target = (source + 1 + random.below(3)) % 8;
        let size = 200 << random.below(12);
        let _ = write!(
            text,
            "[[flow]]\nname = \"F{flow}\"\nsource = \"H{source}\"\ntarget = \"H{target}\"\n\
             size = \"{} B\"\nstart = \"{} us\"\n",
            size + random.below(size),
            random.below(300),
        );
    }
    (text, Span::us(50 + random.below(400)))
}

fn run(text: &str, duration: &str) -> Run {
    let text = text.replace("DURATION", duration);
    let scenario = Scenario::parse("pair", &text, &Overrides::default());
    let scenario = scenario.unwrap_or_else(|wrong| panic!("{wrong}"));
    Run::execute(scenario, |_| ControlFlow::Continue(()))
}

/// The true mean, median and 99th percentile.
fn truth(values: Vec<f64>) -> [f64; 3] {
    let all = Distribution::<f64>::of(values).expect("flows have started");
    [all.mean, all.at(Percentile::P50), all.at(Percentile::P99)]
}

/// Over 100 pairs of a short run and the same one that was let finish, the bounds of the short run
/// contain what comes out of the long one for the flows that both have, and tell survivors from all.
#[test]
fn bounds_contain_the_truth_of_a_run_that_was_let_finish() {
    let (mut with_unfinished, mut misled, mut bounded) = (0, 0, 0);
    for seed in 0..100 {
        let (text, end) = scenario(seed);
        let short = run(&text, &format!("{} us", end.as_ps() / 1_000_000));
        let long = run(&text, "1 s");
        let flows = short.outcome.flows.iter().zip(&long.outcome.flows);
        // Flows that had not started when the short run ended are none of its business.
        let started = flows.filter(|(it, _)| has_started(&short.outcome, it));
        let started: Vec<_> = started.map(|(_, long)| long).collect();
        if started.is_empty() {
            continue;
        }
        assert!(started.iter().all(|it| it.finish.is_some()), "seed {seed}: some never finish");
        let spans = started.iter().filter_map(|it| Some(fct(it)?.as_ps() as f64 / 1e6));
        let slowdowns = started.iter().filter_map(|it| slowdown(it));
        let truths = [truth(spans.collect()), truth(slowdowns.collect())].concat();
        let facts = Facts::of(&short);
        let value = |name: &str| Reference::parse(name).expect("a number").value(&facts);
        let unfinished = value("unfinished").expect("finite flows");
        with_unfinished += usize::from(unfinished > 0.0);
        let numbers = ["fct_mean_us", "fct_us{p=50}", "fct_us{p=99}"];
        let slowdowns = ["slowdown_mean", "slowdown{p=50}", "slowdown{p=99}"];
        for (number, truth) in numbers.into_iter().chain(slowdowns).zip(truths) {
            let number = Reference::parse(number).expect("a number");
            let beside = number.beside().expect("it is of finished flows");
            let case = beside.case(number.value(&facts), |it| it.value(&facts)).expect("flows");
            let what = format!("seed {seed}, {}: {case:?}, truth {truth}", number.text());
            // The order in which a mean is summed up may show in its last digits.
            let slack = 1e-9 * truth;
            assert!(case.best <= truth + slack && truth <= case.worst + slack, "{what}");
            let is_exact = (case.best, Some(case.best)) == (case.worst, case.value);
            assert!(unfinished > 0.0 || is_exact, "{what}");
            misled += usize::from(case.value.is_some_and(|it| it < case.best - slack));
            bounded += usize::from(unfinished > 0.0 && case.worst.is_finite());
        }
    }
    // Else the pairs say nothing.
    assert!(with_unfinished > 70, "only {with_unfinished} pairs have unfinished flows");
    assert!(misled > 100, "survivors were below the bounds in {misled} numbers only");
    assert!(bounded > 30, "only {bounded} percentiles had a bound above");
}

/// What waits in a host that takes packets at its own pace may be taken faster than its link could
/// have brought it.
#[test]
fn a_host_that_empties_its_buffer_at_once_is_within_the_bounds() {
    let text = "duration = \"DURATION\"\nswitch.buffer = \"1 MB\"\nflow_control.kind = \"pfc\"\n\
                [topology]\nkind = \"n-to-1\"\nsenders = 1\nrate = \"10 Gbps\"\ndelay = \"1 us\"\n\
                [[flow]]\nsource = \"H1\"\ntarget = \"R\"\nsize = \"400 KB\"\n\
                [[receiver]]\nhost = \"R\"\nsteps = [[\"0 ms\", \"stop\"], [\"5 ms\", \"1.6 Tbps\"]]\n";
    let [short, long] = ["4.99 ms", "20 ms"].map(|duration| run(text, duration));
    let found = |run: &Run| run.outcome.flows[0];
    assert!(found(&short).finish.is_none());
    let truth = fct(&found(&long)).expect("it finishes");
    let config = &short.scenario.config;
    let best = fct_best(config, &short.outcome, &config.flows[0], &found(&short));
    assert!(best.expect("it has started") <= truth, "{best:?} > {truth:?}");
}
