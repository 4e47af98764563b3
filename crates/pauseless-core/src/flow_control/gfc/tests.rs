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
    }
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
