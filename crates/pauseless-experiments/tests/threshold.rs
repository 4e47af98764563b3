//! Thresholds that are known from elsewhere, found by bisection; and what is none.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};

use pauseless_core::flow_control::FlowControl;
use pauseless_core::id::{Class, PortId};
use pauseless_core::unit::Span;
use pauseless_experiments::threshold::{
    Answer, Direction, Property, Question, Refusal, Scale, Verdict, json, page,
};
use pauseless_scenario::vary::{Amount, Knob};
use pauseless_scenario::{Overrides, Scenario};
use pauseless_text::record::to_text;

const PCN_FIG5: &str = include_str!("../../../papers/pcn/fig5.toml");
const HOTNETS_FIG4: &str = include_str!("../../../papers/hotnets/fig4.toml");
const HOTNETS_FIG5: &str = include_str!("../../../papers/hotnets/fig5.toml");

fn question(text: &str, key: &str, ends: [&str; 2], property: &str) -> Question {
    let amount = |text: &str| Amount::parse(text).expect("an amount");
    Question {
        knob: Knob::parse("test", text, key).expect("a key"),
        low: amount(ends[0]),
        high: amount(ends[1]),
        property: Property::parse(property).expect("a property"),
        seeds: 3,
        precision: None,
        scale: Scale::Linear,
        grid_depth: 2,
        duration: None,
    }
}

fn answer(question: &Question) -> Answer {
    let answer = question.answer(|_, _| ControlFlow::Continue(()));
    answer.unwrap_or_else(|refusal| panic!("{refusal:?}"))
}

/// PCN Fig. 5: below a knee at 9.5 Gb/s no PAUSE reaches S0, above it there is no end of them.
/// A minimal packet model written apart from this one has it between 9.3 and 10.1 Gb/s.
#[test]
fn the_knee_of_pcn_fig5_is_where_the_paper_has_it() {
    let ends = ["8 Gbps", "12 Gbps"];
    let mut question = question(PCN_FIG5, "flow.F1.rate", ends, "pause:S0:S1");
    question.precision = Some(20_000_000);
    let answer = answer(&question);
    let Verdict::Sharp(threshold) = answer.verdict() else {
        panic!("{:?}", answer.verdict());
    };
    assert_eq!(threshold.direction, Direction::Appears);
    let gbps = threshold.median.base as f64 / 1e9;
    assert!((9.3..10.1).contains(&gbps), "{gbps}");
    // Each seed by itself, too, and to the precision.
    for course in &answer.seeds {
        let (last, first) = course.flip.expect("it flips");
        assert_eq!(first.base - last.base, 20_000_000);
        assert!((9.3e9..10.1e9).contains(&(first.base as f64)));
    }
}

/// HotNets 2016, Fig. 5: no deadlock up to 2 Gb/s and one at 3. So it is with the pauses of the paper's
/// simulator, which last 5 us and are ended by time alone. A model of that simulator written apart from
/// this one has it between 2.5 and 3 Gb/s.
#[test]
fn hotnets_fig5_has_its_threshold_with_the_pauses_of_its_simulator() {
    let ours = "xoff = \"40 KB\"\nxon = \"38 KB\"            # two packets lower\n";
    assert!(HOTNETS_FIG5.contains(ours));
    let theirs = "xoff = \"41 KB\"\nxon = \"0 B\"\npause_quanta = 390\n\
                  [timing]\nstart_jitter = \"0 us\"\n";
    let text = HOTNETS_FIG5.replace(ours, theirs);
    let mut question = question(&text, "flow.flow 3.rate", ["1 Gbps", "5 Gbps"], "deadlock");
    question.precision = Some(50_000_000);
    question.duration = Some(Span::ms(20));
    let answer = answer(&question);
    let Verdict::Sharp(threshold) = answer.verdict() else {
        panic!("{:?}", answer.verdict());
    };
    assert_eq!(threshold.direction, Direction::Appears);
    let gbps = threshold.median.base as f64 / 1e9;
    assert!((2.5..=3.0).contains(&gbps), "{gbps}");
}

/// One host sends at line rate to one that takes nothing, and its PAUSE waits behind a full frame.
const FILLING: &str = "
duration = \"1 ms\"
[topology]
kind = \"n-to-1\"
senders = 1
rate = \"10 Gbps\"
delay = \"1 us\"
[switch]
buffer = \"100 KB\"
[flow_control]
kind = \"pfc\"
unsafe_parameters = true
[[flow]]
source = \"H1\"
target = \"R\"
[[flow]]
source = \"R\"
target = \"H1\"
[[receiver]]
host = \"R\"
steps = [[\"0 ms\", \"stop\"]]
";

/// The largest safe XOFF that `derive` has is safe, and not by much: loss begins within a few
/// frames of it.
#[test]
fn loss_begins_where_the_derived_xoff_ends() {
    let scenario = Scenario::parse("filling", FILLING, &Overrides::default()).expect("valid");
    let config = &scenario.config;
    let switch = config.topology.switches()[0];
    let cell = config.ingress.get(switch, PortId(0), Class(0));
    let FlowControl::Pfc(pfc) = cell.control else {
        panic!("{cell:?}");
    };
    let bound = pfc.xoff.get();
    let ends = ["80 KB", "100 KB"];
    let mut question = question(FILLING, "flow_control.xoff", ends, "loss");
    question.precision = Some(1);
    let answer = answer(&question);
    let Verdict::Sharp(threshold) = answer.verdict() else {
        panic!("{:?}", answer.verdict());
    };
    let least = threshold.range.0.base;
    println!("bound {bound}, first loss from {least} to {}", threshold.range.1.base);
    assert!(least > bound, "{least} loses although {bound} is derived");
    assert!(least - bound <= 3 * 1_500, "{least} against {bound}");
}

/// The direction is told apart: a buffer that is large enough ends the losses.
#[test]
fn what_disappears_is_found_as_well() {
    let text = FILLING.replace("kind = \"pfc\"", "kind = \"pfc\"\nxoff = \"60 KB\"");
    let ends = ["61 KB", "100 KB"];
    let answer = answer(&question(&text, "switch.buffer", ends, "loss"));
    let Verdict::Sharp(threshold) = answer.verdict() else {
        panic!("{:?}", answer.verdict());
    };
    assert_eq!(threshold.direction, Direction::Disappears);
}

/// HotNets Fig. 5: almost every rate of flow 3 deadlocks sooner or later, and which one does not
/// is a matter of the phase. The paper's 2 to 3 Gb/s is no threshold here.
#[test]
fn where_every_rate_deadlocks_there_is_no_threshold() {
    let ends = ["1 Gbps", "8 Gbps"];
    let mut question = question(HOTNETS_FIG4, "flow.flow 3.rate", ends, "deadlock");
    question.duration = Some(Span::ms(50));
    let answer = answer(&question);
    let Verdict::None { reason } = answer.verdict() else {
        panic!("{:?}", answer.verdict());
    };
    assert!(reason.starts_with("every one of 3 seeds has it at both ends"), "{reason}");
}

#[test]
fn the_answer_is_the_same_on_any_number_of_threads() {
    let ends = ["0.1 Gbps", "1.5 Gbps"];
    let mut question = question(HOTNETS_FIG4, "flow.flow 3.rate", ends, "deadlock");
    (question.scale, question.duration) = (Scale::Log, Some(Span::ms(4)));
    let texts = [1, 3].map(|threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        let answer = pool.build().expect("threads").install(|| answer(&question));
        to_text(&json::ThresholdRecord::new(&answer)) + &page::page(&answer)
    });
    assert_eq!(texts[0], texts[1]);
    assert!(texts[0].contains("<svg ") && texts[0].contains("\"scale\": \"log\""));
}

#[test]
fn a_value_that_is_refused_is_named() {
    let text = FILLING.replace("unsafe_parameters = true", "");
    let key = "flow_control.xoff";
    let refused =
        question(&text, key, ["80 KB", "100 KB"], "loss").answer(|_, _| ControlFlow::Continue(()));
    let Err(Refusal::Scenario { value, problems }) = refused else {
        panic!("{refused:?}");
    };
    assert_eq!(value.exact(), "100 KB");
    let problem = &problems.list()[0];
    assert_eq!(problem.key, key);
    assert!(problem.expected.starts_with("at most "), "{}", problem.expected);
}

#[test]
fn questions_without_sense_are_refused() {
    let ask = |ends, property| {
        let question = question(FILLING, "flow_control.xoff", ends, property);
        match question.answer(|_, _| ControlFlow::Continue(())) {
            Err(Refusal::Question(message)) => message,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(ask(["80 KB", "80 KB"], "loss"), "there is nothing between 80 KB and 80 KB");
    assert_eq!(ask(["80 KB", "90 us"], "loss"), "80 KB and 90 us are not of one kind");
    let message = ask(["80 KB", "90 KB"], "pause:S1:H2");
    assert!(message.contains("did you mean S1:H1?"), "{message}");
    let message = ask(["80 KB", "90 KB"], "queue_max{port=S1:H2} > 5");
    assert!(message.contains("did you mean S1:H1?"), "{message}");
    let message = ask(["80 KB", "90 KB"], "slowdown{p=99} > 5");
    assert!(message.contains("no flow of the scenario has a size"), "{message}");
    assert!(Property::parse("pauses").is_err());

    let refusal = |question: &Question| match question.answer(|_, _| ControlFlow::Continue(())) {
        Err(Refusal::Question(message)) => message,
        other => panic!("{other:?}"),
    };
    let message = refusal(&question(FILLING, "seed", ["1", "9"], "loss"));
    assert!(message.contains("--seeds"), "{message}");
    let mut twice = question(FILLING, "duration", ["1 ms", "2 ms"], "loss");
    twice.duration = Some(Span::ms(1));
    let message = refusal(&twice);
    assert!(message.contains("leave --duration out"), "{message}");
    let mut coarse = question(FILLING, "flow_control.xoff", ["80 KB", "90 KB"], "loss");
    coarse.precision = Some(10_000);
    assert_eq!(refusal(&coarse), "a precision of 10 KB is not smaller than the range, 10 KB");
}

/// Ctrl-C: what is known so far is told, and marked as incomplete.
#[test]
fn an_interrupted_search_tells_what_it_knows() {
    let ends = ["80 KB", "100 KB"];
    let question = question(FILLING, "flow_control.xoff", ends, "loss");
    let calls = AtomicUsize::new(0);
    let answer = question.answer(|done, _| {
        calls.fetch_add(1, Ordering::Relaxed);
        match done {
            0..=6 => ControlFlow::Continue(()),
            _ => ControlFlow::Break(()),
        }
    });
    let answer = answer.expect("an answer");
    assert!(answer.is_interrupted && calls.into_inner() > 6);
    assert!(answer.seeds.len() < 3);
    let seen: usize = answer.shares.iter().map(|share| share.of).sum();
    assert!(seen < 15, "{seen}");
}

/// A page draws a line where all seeds agree, and none where its verdict says there is none.
#[test]
fn only_a_sharp_threshold_has_a_line() {
    let ends = ["80 KB", "100 KB"];
    let mut sharp = answer(&question(FILLING, "flow_control.xoff", ends, "loss"));
    let Verdict::Sharp(threshold) = sharp.verdict() else {
        panic!("{:?}", sharp.verdict());
    };
    let label = format!(">{}</text>", threshold.median.exact());
    let drawn = page::page(&sharp);
    assert!(drawn.contains(&label), "{drawn}");
    assert!(drawn.contains("<figure class=\"wide\">"));
    // Each share has a symbol, which begins like no other path.
    assert_eq!(drawn.matches("a2.4 2.4 0 1 0 4.8 0").count(), sharp.shares.len());
    sharp.seeds[0].changes = 3;
    assert!(matches!(sharp.verdict(), Verdict::Blurred { .. }));
    let drawn = page::page(&sharp);
    assert!(drawn.contains("no sharp threshold") && !drawn.contains(&label));
}

/// F1 is too long for the run from some size on: it drops out of the mean, which the rest of the
/// flows then keep low.
#[test]
fn runs_that_hang_on_unfinished_flows_are_counted_and_make_no_sharp_threshold() {
    let text = r#"
        duration = "100 us"
        flow_control.kind = "pfc"
        switch.buffer = "1 MB"
        topology = { kind = "n-to-1", senders = 2, rate = "10 Gbps", delay = "1 us" }
        flow = [
            { name = "F1", source = "H1", target = "R", size = "10 KB" },
            { name = "F2", source = "H2", target = "R", size = "10 KB" },
        ]
    "#;
    let ask = |ends, property| answer(&question(text, "flow.F1.size", ends, property));
    let hung = ask(["10 KB", "400 KB"], "fct_mean_us > 60");
    assert!(hung.open_count > 0 && hung.open_count < hung.run_count);
    let verdict = hung.verdict();
    let reasons = match &verdict {
        Verdict::Blurred { reasons, .. } => reasons.join("; "),
        Verdict::None { reason } => reason.clone(),
        Verdict::Sharp(_) => String::new(),
    };
    let words = "runs a longer run could change the answer";
    assert!(reasons.contains(words), "{verdict:?}");
    assert!(to_text(&json::ThresholdRecord::new(&hung)).contains("\"open_runs\": "));
    // All flows finish here.
    let sure = ask(["10 KB", "60 KB"], "fct_mean_us > 30");
    assert_eq!(sure.open_count, 0);
    assert!(matches!(sure.verdict(), Verdict::Sharp(_)), "{:?}", sure.verdict());
}

/// A run that is too short to tell whether a flow starves is not one without starvation.
#[test]
fn what_is_undecided_is_counted() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/gfc-ring-buffer.toml");
    let text = std::fs::read_to_string(path).expect("a scenario");
    let text = text.replace("duration = \"100 ms\"", "duration = \"26 ms\"");
    let question = question(&text, "topology.delay", ["1 us", "1.5 us"], "starvation");
    let answer = answer(&question);
    assert!(answer.open_count > 0, "{:?}", answer.verdict());
}
