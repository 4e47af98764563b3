use super::super::ReactionPoint as _;
use super::super::telemetry::Echo;
use super::super::{Sequence, dcqcn};
use super::*;
use alloc::vec;
use alloc::vec::Vec;

/// The HPCC authors' "dcqcn" on 40 Gb/s.
fn config() -> Config {
    Config {
        style: dcqcn::Style::Nic,
        cnp_interval: Span::us(4),
        alpha_timer: Span::us(1),
        g: 1.0 / 256.0,
        increase_timer: Span::us(300),
        threshold: 1,
        rate_ai: Rate::mbps(8),
        rate_hai: Rate::mbps(80),
        rate_min: Rate::mbps(100),
        clamp: Clamp::AfterStage,
        reference: None,
        ..Config::default()
    }
}

fn mark(is_marked: bool) -> Feedback {
    Feedback::Ack { sequence: Sequence(0), is_marked, echo: Echo::NONE }
}

fn at(us: f64) -> Time {
    Time::from_ps((us * 1e6) as u64)
}

/// Lets time pass until `until`, with every timer at its instant; the rates on the way in Mb/s.
fn run(point: &mut ReactionPoint, until: Time) -> Vec<(u64, u64)> {
    let mut seen = Vec::new();
    while point.poll_timeout() <= until {
        let now = point.poll_timeout();
        point.handle_timeout(now);
        seen.push((now.as_ps() / 1_000, point.rate().as_bps() / 1_000_000));
    }
    seen
}

#[test]
fn one_mark_cuts_once_and_the_rate_comes_back_in_stages() {
    let line = Rate::gbps(40);
    let mut point = ReactionPoint::new(&config(), line, line);
    point.on_feedback(at(5.0), mark(false));
    assert_eq!(point.poll_timeout(), Time::MAX);
    point.on_feedback(at(10.0), mark(true));
    assert_eq!(point.rate(), line);
    // Four times alpha has fallen by 1/256: (255/256)^4 = 0.984466, so 40 G (1 - 0.492233).
    // After that the target is 40 Gb/s still: no stage had begun when the rate was cut.
    let seen = run(&mut point, at(1_000.0));
    let expected = vec![
        (14_001, 20_310),
        // Fast recovery, then additive, then hyper increase; the target cannot exceed the line.
        (314_001, 30_155),
        (614_001, 35_077),
        (914_001, 37_538),
    ];
    assert_eq!(seen, expected);
}

#[test]
fn marks_between_two_looks_count_once_and_a_stage_makes_the_target_follow() {
    let line = Rate::gbps(40);
    let mut point = ReactionPoint::new(&config(), line, line);
    for tenth in 0..40 {
        point.on_feedback(at(10.0 + f64::from(tenth) / 10.0), mark(true));
    }
    // Marks came back in each microsecond, so alpha has stayed at 1.
    assert_eq!(run(&mut point, at(20.0)), [(14_001, 20_000)]);
    assert!((point.alpha() - 1.0).abs() < 1e-12);
    // A mark just before the first stage: the stage goes first, and the cut clamps the target.
    let mut clamped = point.clone();
    clamped.on_feedback(at(312.0), mark(true));
    let seen = run(&mut clamped, at(700.0));
    // Raised to 30 Gb/s at 314.001 us and cut at the same instant. Alpha has fallen at 15 us and so
    // on up to 312 us, has risen at 313 us and fallen at 314 us.
    let fallen = (0..298).fold(1.0, |alpha, _| alpha * 255.0 / 256.0);
    let alpha = (fallen * 255.0 / 256.0 + 1.0 / 256.0) * 255.0 / 256.0;
    let cut = 30_000.0 * (1.0 - alpha / 2.0);
    assert_eq!(seen[0], (314_001, cut as u64));
    // The target is 30 Gb/s now: half way towards that.
    let back = (cut + 30_000.0) / 2.0;
    assert!((seen[1].1 as f64 - back).abs() < 2.0, "{seen:?}");
}

#[test]
fn the_rate_does_not_fall_below_its_least() {
    let line = Rate::gbps(40);
    let mut point = ReactionPoint::new(&config(), line, line);
    for step in 0..1_000 {
        let now = at(f64::from(step));
        point.handle_timeout(now);
        point.on_feedback(now, mark(true));
    }
    assert_eq!(point.rate(), Rate::mbps(100));
}

/// A mark that comes back at the very instant at which alpha changes counts for the next one. Alpha changes at
/// 11, 12, 13 and 14 us: it falls, rises, falls and falls.
#[test]
fn a_mark_at_the_instant_of_a_change_counts_for_the_next() {
    let line = Rate::gbps(40);
    let mut point = ReactionPoint::new(&config(), line, line);
    point.on_feedback(at(10.0), mark(true));
    point.on_feedback(at(11.0), mark(true));
    let fall = 255.0 / 256.0;
    let alpha = (fall * fall + 1.0 / 256.0) * fall * fall;
    let cut = 40_000.0 * (1.0 - alpha / 2.0);
    assert_eq!(run(&mut point, at(20.0)), [(14_001, cut as u64)]);
    assert!((point.alpha() - alpha).abs() < 1e-12);
}
