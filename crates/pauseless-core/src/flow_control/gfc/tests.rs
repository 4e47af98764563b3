//! The machines of GFC by their clauses.

use super::super::limiter::RATE_UNIT;
use super::*;

const LINE: Rate = Rate::gbps(10);

fn buffer() -> BufferConfig {
    BufferConfig {
        bm: Bytes::kb(300),
        b1: Bytes::kb(281),
        stages: 16,
        hold: Bytes::kb(309),
        unit: RATE_UNIT,
        refresh: None,
        hold_off: Span::ZERO,
        prompt_stage: 0,
    }
}

/// The same with the hold-off of 10 Gb/s and tau = 7.4 us: stage 4 has 1.16 KB in it, less than a frame.
fn held_off() -> BufferConfig {
    BufferConfig { hold_off: Span::ns(14_800), prompt_stage: 4, ..buffer() }
}

fn mapping() -> Mapping {
    Mapping {
        bm: Bytes::kb(100),
        b0: Bytes::kb(50),
        hold: Bytes::kb(109),
        floor: Rate::bps(200_000),
        unit: RATE_UNIT,
    }
}

/// Worked out by hand from the definition.
//= gfc19 4.2 eq 4 type=test
//= gfc19 4.2 eq 5 type=test
#[test]
fn stages_and_rates_of_the_papers_fat_tree() {
    let config = buffer();
    let expected = [
        (280_900, 0, 10_000_000_000u64),
        (281_000, 1, 5_000_000_000),
        (290_400, 1, 5_000_000_000),
        (290_500, 2, 2_500_000_000),
        (299_900, 8, 39_062_500),
        (300_000, 16, 152_587),
        (309_000, 16, 152_587),
    ];
    for (held, stage, bps) in expected {
        assert_eq!(config.stage(Bytes::new(held)), stage, "{held}");
        assert_eq!(config.rate(stage, LINE).as_bps(), bps, "{held}");
    }
    assert_eq!(config.stage(Bytes::new(309_001)), 17);
}

#[test]
fn a_stage_begins_exactly_at_its_threshold() {
    let config = buffer();
    for stage in 1..=config.stages {
        let begin = config.threshold(stage);
        assert_eq!(config.stage(begin).max(stage), config.stage(begin));
        assert!(config.stage(begin - Bytes::new(1)) < stage, "stage {stage}");
    }
}

#[test]
fn one_message_per_crossing_and_the_newest_wins() {
    let mut down = BufferDownstream::new(&buffer());
    let (now, size) = (Time::ZERO, Bytes::new(1_500));
    down.on_enqueue(now, size, Bytes::kb(280));
    assert_eq!(down.poll_signal(now), None);
    down.on_enqueue(now, size, Bytes::kb(282));
    assert_eq!(down.poll_signal(now), Some(Signal::Stage(1)));
    down.on_enqueue(now, size, Bytes::kb(285));
    assert_eq!(down.poll_signal(now), None, "still stage 1");
    down.on_enqueue(now, size, Bytes::kb(291));
    down.on_enqueue(now, size, Bytes::kb(296));
    assert_eq!(down.poll_signal(now), Some(Signal::Stage(3)), "stage 2 was overtaken");
    down.on_dequeue(now, size, Bytes::kb(100));
    assert_eq!(down.poll_signal(now), Some(Signal::Stage(0)));
}

/// The queue reaches `held` by one frame more or less, and what is due is told.
fn tell(down: &mut BufferDownstream, ns: u64, held: u64) -> Option<Signal> {
    let (now, size) = (Time::ZERO + Span::ns(ns), Bytes::new(1_500));
    down.on_dequeue(now, size, Bytes::new(held));
    down.poll_signal(now)
}

#[test]
fn a_faster_stage_waits_for_the_hold_off_and_a_slower_one_does_not() {
    let mut down = BufferDownstream::new(&held_off());
    assert_eq!(tell(&mut down, 0, 281_000), Some(Signal::Stage(1)));
    assert_eq!(tell(&mut down, 100, 280_000), None);
    assert_eq!(tell(&mut down, 200, 291_000), Some(Signal::Stage(2)));
    assert_eq!(tell(&mut down, 14_900, 280_000), None, "14.7 us after the last message");
    assert_eq!(tell(&mut down, 15_000, 280_000), Some(Signal::Stage(0)));
    assert_eq!(tell(&mut down, 15_100, 281_000), Some(Signal::Stage(1)));
    assert_eq!(tell(&mut down, 40_000, 281_500), None, "the same stage");
    assert_eq!(tell(&mut down, 40_100, 280_000), Some(Signal::Stage(0)), "the hold-off is over");
}

/// Nothing comes or goes any more, and yet the sender hears of stage 0.
#[test]
fn the_last_return_is_told_by_the_timeout() {
    let mut down = BufferDownstream::new(&held_off());
    assert_eq!(down.poll_timeout(), None);
    assert_eq!(tell(&mut down, 0, 281_000), Some(Signal::Stage(1)));
    assert_eq!(tell(&mut down, 100, 0), None);
    let due = Time::ZERO + Span::ns(14_800);
    assert_eq!(down.poll_timeout(), Some(due));
    down.handle_timeout(due);
    assert_eq!(down.poll_signal(due), Some(Signal::Stage(0)));
    assert_eq!(down.poll_timeout(), None, "there is no faster stage");
    // A timeout at which nothing is to be told is over, too.
    assert_eq!(tell(&mut down, 20_000, 281_000), Some(Signal::Stage(1)));
    let due = Time::ZERO + Span::ns(34_800);
    assert_eq!(down.poll_timeout(), Some(due));
    down.handle_timeout(due);
    assert_eq!((down.poll_signal(due), down.poll_timeout()), (None, None));
}

/// Where a sender has less than a frame in the hold-off, and where it is held, nothing waits.
#[test]
fn slow_stages_and_the_end_of_a_hold_are_told_at_once() {
    let mut down = BufferDownstream::new(&held_off());
    assert_eq!(tell(&mut down, 0, 300_000), Some(Signal::Stage(16)));
    assert_eq!(tell(&mut down, 1, 298_500), Some(Signal::Stage(4)));
    assert_eq!(tell(&mut down, 2, 297_000), None, "stage 3 has more than a frame");
    assert_eq!(tell(&mut down, 3, 310_000), Some(Signal::Stage(17)));
    assert!(down.keeps_blocked(Bytes::new(309_001), Bytes::new(1_500)));
    assert!(!down.keeps_blocked(Bytes::new(309_000), Bytes::new(1_500)));
    assert_eq!(tell(&mut down, 4, 270_000), Some(Signal::Stage(0)));
    assert_eq!(down.resumes(), 1);
}

#[test]
fn the_sender_is_held_in_the_guard_band_only() {
    let config = buffer();
    let mut up = GfcUpstream::buffer(&config, LINE);
    up.on_signal(Time::ZERO, Signal::Stage(16));
    assert_eq!(up.rate(Time::ZERO), Some(Rate::bps(152_000)));
    assert_eq!(up.gate(Time::ZERO, Bytes::new(64)), Gate::Open);
    up.on_signal(Time::ZERO, Signal::Stage(17));
    assert_eq!(up.gate(Time::ZERO, Bytes::new(64)), Gate::Closed);
    up.on_signal(Time::ZERO, Signal::Stage(16));
    assert_eq!(up.gate(Time::ZERO, Bytes::new(64)), Gate::Open);
    assert_eq!(up.resumes(), 1);
}

//= gfc19 4.1 mapping type=test
#[test]
fn the_linear_mapping_has_a_floor_and_a_hold() {
    let mapping = mapping();
    let rate = |kb| mapping.rate(Bytes::kb(kb), LINE);
    assert_eq!(rate(0), Some(LINE));
    assert_eq!(rate(50), Some(LINE));
    assert_eq!(rate(75), Some(Rate::gbps(5)));
    assert_eq!(rate(100), Some(Rate::bps(200_000)));
    assert_eq!(rate(109), Some(Rate::bps(200_000)));
    assert_eq!(rate(110), None);
}

#[test]
fn time_based_reports_by_message_or_by_credit() {
    let mut config = TimeConfig {
        mapping: mapping(),
        period: Span::us(50),
        measure: Measure::Message,
        capacity: Bytes::kb(112),
    };
    let size = Bytes::new(1_500);
    let free = Bytes::kb(37);
    for measure in [Measure::Message, Measure::Credit] {
        config.measure = measure;
        let mut up = GfcUpstream::time(&config, LINE);
        let mut down = TimeDownstream::new(&config, Span::ZERO);
        for n in 1..=50 {
            up.on_transmit(Time::ZERO, size);
            down.on_enqueue(Time::ZERO, size, size * n);
        }
        let signal = down.poll_signal(Time::ZERO).unwrap();
        if measure == Measure::Message {
            assert_eq!(signal, Signal::Free(free));
        }
        up.on_signal(Time::ZERO, signal);
        // 75 KB held of 100: half the line, but for what the blocks round off.
        let rate = up.rate(Time::ZERO).unwrap().as_bps();
        assert!((4_980_000_000..=5_000_000_000).contains(&rate), "{measure:?}: {rate}");
        assert_eq!(down.poll_timeout(), Some(Time::ZERO + Span::us(50)));
    }
}
