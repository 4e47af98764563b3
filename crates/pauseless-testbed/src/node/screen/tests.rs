//! Pages as they are seen.

use expect_test::expect;
use pauseless_core::unit::Time;

use super::*;
use crate::node::tests;

fn settings(egress: &'static str) -> Vec<PortSetting> {
    let lane = LaneSetting { egress, mark: Some(Bytes::kb(150)) };
    vec![PortSetting { lanes: vec![lane] }; 2]
}

/// The report of half a second ago.
fn before() -> NodeReport {
    let mut before = tests::report();
    before.time = Time::ZERO + Span::ms(1_500);
    for port in &mut before.ports {
        let sent = port.counters.sent_bytes.get() - 3_125_000;
        port.counters.sent_bytes = Bytes::new(sent);
    }
    before.receives[0].bytes = Bytes::new(11_985_000 - 2_500_000);
    before
}

#[test]
fn a_switch_on_a_small_terminal() {
    let (before, now) = (before(), tests::report());
    let scene =
        Scene { heading: "clock real", before: &before, now: &now, settings: &settings("pfc") };
    let page = render(&[scene], Size::LEAST, Paint::Plain);
    assert!(page.lines().all(|line| line.chars().count() <= 80), "{page}");
    expect![[r#"
        S1  2.00 s  clock real  left out 3.00 ms
        port     in                out               queue               may send
        H1           0 b/s ......  50.0 Mb/s ###...   120 KB ####.|....  50.0 Mb/s
        S2           0 b/s ......  50.0 Mb/s ###...   120 KB ####.|....  paused
        H1       dropped: 2 unknown address
        S2       dropped: 7 overrun, 2 unknown address
        flow     goodput                 frames    missing        p50        p99
        <- F2    40.0 Mb/s ##....         7,990          3    55.0 us     220 us
        -> F1        0 b/s ......         8,000  allowed 100 Mb/s
    "#]]
    .assert_eq(&page);
}

#[test]
fn states_are_those_of_the_scheme_and_losses_are_red() {
    let (before, now) = (before(), tests::report());
    let show = |egress| {
        let scene = Scene { heading: "", before: &before, now: &now, settings: &settings(egress) };
        render(&[scene], Size::LEAST, Paint::Ansi)
    };
    assert!(show("pfc").contains("\x1b[1;31mpaused\x1b[0m"));
    assert!(show("cbfc").contains("no credit"));
    assert!(show("gfc-buffer").contains("stage 1"));
    assert!(show("gfc-time").contains("50.0 Mb/s\x1b[0m"));
    assert!(show("pfc").contains("\x1b[1;31mS2       dropped: 7 overrun, "));
}

#[test]
fn what_does_not_fit_is_counted_and_wide_terminals_have_longer_bars() {
    let (before, now) = (before(), tests::report());
    let scene = Scene { heading: "", before: &before, now: &now, settings: &[] };
    let small = Size { columns: 80, rows: 4 };
    let page = render(&[scene, scene], small, Paint::Plain);
    assert_eq!(page.lines().count(), 4);
    assert!(page.ends_with("and 16 lines more\n"), "{page}");
    let wide = Size { columns: 160, rows: 60 };
    let page = render(&[scene, scene], wide, Paint::Plain);
    assert_eq!(page.lines().count(), 19, "{page}");
    assert!(page.contains("##########"), "{page}");
    assert!(page.lines().all(|line| line.chars().count() <= 160));
}

#[test]
fn lines_are_cut_where_a_narrow_terminal_would_wrap_them() {
    let (before, now) = (before(), tests::report());
    let scene =
        Scene { heading: "clock real", before: &before, now: &now, settings: &settings("pfc") };
    let small = Size { columns: 40, rows: 8 };
    let page = render(&[scene, scene], small, Paint::Plain);
    assert_eq!(page.lines().count(), 8, "{page}");
    let widths = page.lines().map(|line| line.chars().count());
    assert_eq!(widths.max(), Some(40), "{page}");
    assert!(page.ends_with("and 12 lines more\n"), "{page}");
    assert_eq!(cut("\x1b[1;31mred\x1b[0m", 2), "\x1b[1;31mre\x1b[0m");
    assert_eq!(cut("\x1b[1;31mred\x1b[0m", 3), "\x1b[1;31mred\x1b[0m");
}
