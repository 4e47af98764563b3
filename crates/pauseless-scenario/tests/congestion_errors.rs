//! `[congestion_control]`, wrong in every way: the messages as people read them.

#![allow(clippy::too_many_lines, reason = "tables of messages")]

mod problems;

use expect_test::{Expect, expect};
use pauseless_scenario::{Overrides, Scenario};
use problems::{GOOD, check};

/// The good file with this section.
fn section(keys: &str, expected: Expect) {
    check(&format!("{GOOD}[congestion_control]\n{keys}\n"), expected);
}

#[test]
fn kinds() {
    section(
        "",
        expect![[r#"
            pauseless: t.toml:16:1: congestion_control.kind: missing
               |
            16 | [congestion_control]
               | ^^^^^^^^^^^^^^^^^^^^
               |
               = help: add kind = "none", "pcn", "qcn", "dcqcn", "timely", "hpcc" or "dctcp"
        "#]],
    );
    section(
        "kind = \"tcp\"",
        expect![[r#"
            pauseless: t.toml:17:8: congestion_control.kind: unknown value "tcp"
               |
            17 | kind = "tcp"
               |        ^^^^^ expected one of "none", "pcn", "qcn", "dcqcn", "timely", "hpcc", "dctcp"
        "#]],
    );
    section(
        "kind = \"dcqn\"",
        expect![[r#"
            pauseless: t.toml:17:8: congestion_control.kind: unknown value "dcqn"
               |
            17 | kind = "dcqn"
               |        ^^^^^^ expected one of "none", "pcn", "qcn", "dcqcn", "timely", "hpcc", "dctcp"
               |
               = help: did you mean dcqcn?
        "#]],
    );
    section(
        "kind = 3",
        expect![[r#"
        pauseless: t.toml:17:8: congestion_control.kind: an integer stands here
           |
        17 | kind = 3
           |        ^ expected a string
    "#]],
    );
    section(
        "period = \"1 us\"",
        expect![[r#"
            pauseless: t.toml:16:1: congestion_control.kind: missing
               |
            16 | [congestion_control]
               | ^^^^^^^^^^^^^^^^^^^^
               |
               = help: add kind = "none", "pcn", "qcn", "dcqcn", "timely", "hpcc" or "dctcp"
        "#]],
    );
}

#[test]
fn keys_of_another_kind() {
    section(
        "kind = \"none\"\nperiod = \"50 us\"",
        expect![[r#"
        pauseless: t.toml:18:1: congestion_control.period: unknown key with kind = "none"
           |
        18 | period = "50 us"
           | ^^^^^^ expected one of ack_every, feedback_class, kind
    "#]],
    );
    section(
        "kind = \"pcn\"\nkmin = \"5 KB\"",
        expect![[r#"
        pauseless: t.toml:18:1: congestion_control.kmin: unknown key with kind = "pcn"
           |
        18 | kmin = "5 KB"
           | ^^^^ expected one of ack_every, feedback_class, kind, period, rate_min, w_max, w_min
           |
           = help: did you mean kind?
    "#]],
    );
    section(
        "kind = \"qcn\"\ncnp_interval = \"50 us\"",
        expect![[r#"
        pauseless: t.toml:18:1: congestion_control.cnp_interval: unknown key with kind = "qcn"
           |
        18 | cnp_interval = "50 us"
           | ^^^^^^^^^^^^ expected one of ack_every, byte_reset, decrease_factor_min, feedback_class, gd, kind, queue_set_point, rate_ai, rate_hai, rate_min, sample_base, scale_with_speed, threshold, time_reset, weight
    "#]],
    );
    section(
        "kind = \"dcqcn\"\nkmim = \"5 KB\"",
        expect![[r#"
        pauseless: t.toml:18:1: congestion_control.kmim: unknown key with kind = "dcqcn"
           |
        18 | kmim = "5 KB"
           | ^^^^ expected one of ack_every, alpha_initial, alpha_timer, at_rate, byte_counter, clamp, cnp_check, cnp_interval, feedback_class, g, increase_timer, kind, kmax, kmin, mark_at, phantom, pmax, rate_ai, rate_hai, rate_min, scale_with_speed, style, threshold
           |
           = help: did you mean kmin?
    "#]],
    );
    section(
        "kind = \"timely\"\nw_min = 0.5",
        expect![[r#"
        pauseless: t.toml:18:1: congestion_control.w_min: unknown key with kind = "timely"
           |
        18 | w_min = 0.5
           | ^^^^^ expected one of ack_every, beta, delta, ewma_weight, feedback_class, hai_factor, hai_threshold, kind, min_rtt, patched, rate_min, scale_with_speed, t_high, t_low, update
    "#]],
    );
}

#[test]
fn common_keys() {
    section(
        "kind = \"pcn\"\nfeedback_class = \"control\"",
        expect![[r#"
            pauseless: t.toml:18:18: congestion_control.feedback_class: unknown value "control"
               |
            18 | feedback_class = "control"
               |                  ^^^^^^^^^ expected one of "own", "data"
        "#]],
    );
    section(
        "kind = \"pcn\"\nack_every = -1",
        expect![[r#"
            pauseless: t.toml:18:13: congestion_control.ack_every: -1 is out of range
               |
            18 | ack_every = -1
               |             ^^ expected a whole number from 0 to 10000
        "#]],
    );
    section(
        "kind = \"timely\"\nack_every = 0",
        expect![[r#"
        pauseless: t.toml:18:13: congestion_control.ack_every: TIMELY lives on acknowledgements
           |
        18 | ack_every = 0
           |             ^ expected at least 1
    "#]],
    );
    section(
        "kind = \"pcn\"\nack_every = \"2\"",
        expect![[r#"
            pauseless: t.toml:18:13: congestion_control.ack_every: a string stands here
               |
            18 | ack_every = "2"
               |             ^^^ expected a whole number from 0 to 10000
        "#]],
    );
}

#[test]
fn pcn() {
    section(
        "kind = \"pcn\"\nperiod = \"0 us\"",
        expect![[r#"
        pauseless: t.toml:18:10: congestion_control.period: 0 ps is out of range
           |
        18 | period = "0 us"
           |          ^^^^^^ expected a time from 1 ns to 10 s
    "#]],
    );
    section(
        "kind = \"pcn\"\nperiod = \"50\"",
        expect![[r#"
            pauseless: t.toml:18:10: congestion_control.period: "50" has no unit
               |
            18 | period = "50"
               |          ^^^^ expected a time in ps, ns, us, ms, s
               |
               = help: write for example "10 us"
        "#]],
    );
    section(
        "kind = \"pcn\"\nw_min = 0",
        expect![[r#"
            pauseless: t.toml:18:9: congestion_control.w_min: 0 is out of range
               |
            18 | w_min = 0
               |         ^ expected a number from 0.000000001 to 1
        "#]],
    );
    section(
        "kind = \"pcn\"\nw_min = 1.5",
        expect![[r#"
            pauseless: t.toml:18:9: congestion_control.w_min: 1.5 is out of range
               |
            18 | w_min = 1.5
               |         ^^^ expected a number from 0.000000001 to 1
        "#]],
    );
    section(
        "kind = \"pcn\"\nw_min = nan",
        expect![[r#"
        pauseless: t.toml:18:9: congestion_control.w_min: nan is out of range
           |
        18 | w_min = nan
           |         ^^^ expected a finite number
    "#]],
    );
    section(
        "kind = \"pcn\"\nw_min = \"1/128\"",
        expect![[r#"
        pauseless: t.toml:18:9: congestion_control.w_min: a string stands here
           |
        18 | w_min = "1/128"
           |         ^^^^^^^ expected a number
    "#]],
    );
    section(
        "kind = \"pcn\"\nw_min = 0.5\nw_max = 0.25",
        expect![[r#"
        pauseless: t.toml:19:9: congestion_control.w_max: w_max is less than w_min
           |
        19 | w_max = 0.25
           |         ^^^^ expected at least 0.5
    "#]],
    );
    section(
        "kind = \"pcn\"\nrate_min = \"0 bps\"",
        expect![[r#"
        pauseless: t.toml:18:12: congestion_control.rate_min: a rate of zero does not exist
           |
        18 | rate_min = "0 bps"
           |            ^^^^^^^ expected a rate in bps, kbps, Mbps, Gbps, Tbps
           |
           = help: write for example "10 Gbps"
    "#]],
    );
    section(
        "kind = \"pcn\"\nscale_with_speed = true",
        expect![[r#"
        pauseless: t.toml:18:1: congestion_control.scale_with_speed: unknown key with kind = "pcn"
           |
        18 | scale_with_speed = true
           | ^^^^^^^^^^^^^^^^ expected one of ack_every, feedback_class, kind, period, rate_min, w_max, w_min
    "#]],
    );
}

#[test]
fn qcn() {
    section(
        "kind = \"qcn\"\nqueue_set_point = \"0 B\"",
        expect![[r#"
        pauseless: t.toml:18:19: congestion_control.queue_set_point: 0 B is out of range
           |
        18 | queue_set_point = "0 B"
           |                   ^^^^^ expected an amount of bytes from 1 B to 1000 GB
    "#]],
    );
    section(
        "kind = \"qcn\"\nweight = -1",
        expect![[r#"
            pauseless: t.toml:18:10: congestion_control.weight: -1 is out of range
               |
            18 | weight = -1
               |          ^^ expected a number from 0 to 64
        "#]],
    );
    section(
        "kind = \"qcn\"\nsample_base = \"0 B\"",
        expect![[r#"
        pauseless: t.toml:18:15: congestion_control.sample_base: 0 B is out of range
           |
        18 | sample_base = "0 B"
           |               ^^^^^ expected an amount of bytes from 1 B to 1000 GB
    "#]],
    );
    section(
        "kind = \"qcn\"\ngd = 2",
        expect![[r#"
            pauseless: t.toml:18:6: congestion_control.gd: 2 is out of range
               |
            18 | gd = 2
               |      ^ expected a number from 0.000000001 to 1
        "#]],
    );
    section(
        "kind = \"qcn\"\ndecrease_factor_min = 0",
        expect![[r#"
            pauseless: t.toml:18:23: congestion_control.decrease_factor_min: 0 is out of range
               |
            18 | decrease_factor_min = 0
               |                       ^ expected a number from 0.000000001 to 1
        "#]],
    );
    section(
        "kind = \"qcn\"\nbyte_reset = \"0 B\"\ntime_reset = \"0 us\"\nthreshold = 0",
        expect![[r#"
            pauseless: t.toml:18:14: congestion_control.byte_reset: 0 B is out of range
               |
            18 | byte_reset = "0 B"
               |              ^^^^^ expected an amount of bytes from 1 B to 1000 GB

            pauseless: t.toml:19:14: congestion_control.time_reset: 0 ps is out of range
               |
            19 | time_reset = "0 us"
               |              ^^^^^^ expected a time from 1 ns to 10 s

            pauseless: t.toml:20:13: congestion_control.threshold: 0 is out of range
               |
            20 | threshold = 0
               |             ^ expected a whole number from 1 to 1000
        "#]],
    );
    section(
        "kind = \"qcn\"\nrate_ai = \"2 Tbps\"",
        expect![[r#"
        pauseless: t.toml:18:11: congestion_control.rate_ai: 2 Tbps is out of range
           |
        18 | rate_ai = "2 Tbps"
           |           ^^^^^^^^ expected a rate from 1 bps to 1.6 Tbps
    "#]],
    );
    section(
        "kind = \"qcn\"\nscale_with_speed = 10",
        expect![[r#"
        pauseless: t.toml:18:20: congestion_control.scale_with_speed: an integer stands here
           |
        18 | scale_with_speed = 10
           |                    ^^ expected true or false
    "#]],
    );
}

#[test]
fn dcqcn() {
    section(
        "kind = \"dcqcn\"\nkmin = \"200 KB\"\nkmax = \"5 KB\"",
        expect![[r#"
            pauseless: t.toml:19:8: congestion_control.kmax: kmax is less than kmin
               |
            19 | kmax = "5 KB"
               |        ^^^^^^ expected at least 200 KB
               |
               = help: let both be equal to mark above one threshold
        "#]],
    );
    section(
        "kind = \"dcqcn\"\nkmax = \"4 KB\"",
        expect![[r#"
            pauseless: t.toml:18:8: congestion_control.kmax: kmax is less than kmin
               |
            18 | kmax = "4 KB"
               |        ^^^^^^ expected at least 5 KB
               |
               = help: let both be equal to mark above one threshold
        "#]],
    );
    section(
        "kind = \"dcqcn\"\npmax = 1.01",
        expect![[r#"
            pauseless: t.toml:18:8: congestion_control.pmax: 1.01 is out of range
               |
            18 | pmax = 1.01
               |        ^^^^ expected a number from 0.000000001 to 1
        "#]],
    );
    section(
        "kind = \"dcqcn\"\nmark_at = \"arrival\"\nphantom = 0.95",
        expect![[r#"
            pauseless: t.toml:19:11: congestion_control.phantom: a phantom queue knows only what leaves
               |
            19 | phantom = 0.95
               |           ^^^^
               |
               = help: write mark_at = "departure"
        "#]],
    );
    section(
        "kind = \"dcqcn\"\nphantom = 0",
        expect![[r#"
            pauseless: t.toml:18:11: congestion_control.phantom: 0 is out of range
               |
            18 | phantom = 0
               |           ^ expected a number from 0.01 to 1
        "#]],
    );
    section(
        "kind = \"dcqcn\"\nmark_at = \"noon\"",
        expect![[r#"
        pauseless: t.toml:18:11: congestion_control.mark_at: unknown value "noon"
           |
        18 | mark_at = "noon"
           |           ^^^^^^ expected one of "departure", "arrival"
    "#]],
    );
    section(
        "kind = \"dcqcn\"\ncnp_interval = \"0 us\"\nalpha_timer = \"0 us\"\nincrease_timer = \"0 us\"\nbyte_counter = \"0 B\"",
        expect![[r#"
            pauseless: t.toml:18:16: congestion_control.cnp_interval: 0 ps is out of range
               |
            18 | cnp_interval = "0 us"
               |                ^^^^^^ expected a time from 1 ns to 10 s

            pauseless: t.toml:19:15: congestion_control.alpha_timer: 0 ps is out of range
               |
            19 | alpha_timer = "0 us"
               |               ^^^^^^ expected a time from 1 ns to 10 s

            pauseless: t.toml:20:18: congestion_control.increase_timer: 0 ps is out of range
               |
            20 | increase_timer = "0 us"
               |                  ^^^^^^ expected a time from 1 ns to 10 s

            pauseless: t.toml:21:16: congestion_control.byte_counter: 0 B is out of range
               |
            21 | byte_counter = "0 B"
               |                ^^^^^ expected an amount of bytes from 1 B to 1000 GB
        "#]],
    );
    section(
        "kind = \"dcqcn\"\nalpha_initial = -0.5",
        expect![[r#"
            pauseless: t.toml:18:17: congestion_control.alpha_initial: -0.5 is out of range
               |
            18 | alpha_initial = -0.5
               |                 ^^^^ expected a number from 0.000000001 to 1
        "#]],
    );
    section(
        "kind = \"dcqcn\"\nclamp = \"never\"",
        expect![[r#"
        pauseless: t.toml:18:9: congestion_control.clamp: unknown value "never"
           |
        18 | clamp = "never"
           |         ^^^^^^^ expected one of "always", "after-stage", "after-byte-stage"
    "#]],
    );
}

#[test]
fn timely() {
    section(
        "kind = \"timely\"\npatched = true",
        expect![[r#"
        pauseless: t.toml:18:11: congestion_control.patched: patched TIMELY divides by t_low
           |
        18 | patched = true
           |           ^^^^
           |
           = help: add t_low = "50 us"
    "#]],
    );
    section(
        "kind = \"timely\"\nt_low = \"2 ms\"\nt_high = \"1 ms\"",
        expect![[r#"
            pauseless: t.toml:19:10: congestion_control.t_high: t_high is less than t_low
               |
            19 | t_high = "1 ms"
               |          ^^^^^^ expected at least 2 ms
        "#]],
    );
    section(
        "kind = \"timely\"\nt_high = \"0 us\"",
        expect![[r#"
        pauseless: t.toml:18:10: congestion_control.t_high: 0 ps is out of range
           |
        18 | t_high = "0 us"
           |          ^^^^^^ expected a time from 1 ns to 10 s
    "#]],
    );
    section(
        "kind = \"timely\"\nmin_rtt = \"0 us\"",
        expect![[r#"
        pauseless: t.toml:18:11: congestion_control.min_rtt: 0 ps is out of range
           |
        18 | min_rtt = "0 us"
           |           ^^^^^^ expected a time from 1 ns to 10 s
    "#]],
    );
    section(
        "kind = \"timely\"\nbeta = 1.5",
        expect![[r#"
            pauseless: t.toml:18:8: congestion_control.beta: 1.5 is out of range
               |
            18 | beta = 1.5
               |        ^^^ expected a number from 0.000000001 to 1
        "#]],
    );
    section(
        "kind = \"timely\"\nhai_threshold = 0\nhai_factor = 0.5",
        expect![[r#"
            pauseless: t.toml:18:17: congestion_control.hai_threshold: 0 is out of range
               |
            18 | hai_threshold = 0
               |                 ^ expected a whole number from 1 to 1000

            pauseless: t.toml:19:14: congestion_control.hai_factor: 0.5 is out of range
               |
            19 | hai_factor = 0.5
               |              ^^^ expected a number from 1 to 1000
        "#]],
    );
}

#[test]
fn no_class_is_left() {
    let text = GOOD.replace("buffer =", "classes = 8\nbuffer =");
    check(
        &format!("{text}[congestion_control]\nkind = \"pcn\"\n"),
        expect![[r#"
            pauseless: t.toml:17:1: congestion_control.feedback_class: no class is left for what sources are told
               |
            17 | [congestion_control]
               | ^^^^^^^^^^^^^^^^^^^^
               |
               = help: write feedback_class = "data", or switch.classes = 7
        "#]],
    );
    let text = format!("{text}[congestion_control]\nkind = \"pcn\"\nfeedback_class = \"data\"\n");
    let overrides = Overrides::default();
    assert!(Scenario::parse("t", &text, &overrides).is_ok());
}

/// What the target says needs a way back, which tables need not have.
#[test]
fn no_way_back() {
    let tables = "[routing]\nkind = \"tables\"\n[routing.tables.S1]\nS3 = [\"H3\"]\nH1 = [\"H1\"]\n\
                  [routing.tables.S2]\n[routing.tables.S3]\nH3 = [\"H3\"]\n";
    let text = GOOD.replace("[switch]", &format!("{tables}[switch]"));
    let overrides = Overrides::default();
    let parsed = Scenario::parse("t", &text, &overrides);
    parsed.unwrap_or_else(|problems| panic!("{problems}"));
    check(
        &format!("{text}[congestion_control]\nkind = \"pcn\"\n"),
        expect![[r#"
            pauseless: t.toml:21:1: flow[0]: there is no way back from H3 to H1
               |
            21 | [[flow]]
               | ^^^^^^^^
               |
               = help: what the source is told needs one; mend routing.tables
        "#]],
    );
    // Only flows that are told anything need one.
    let free = format!("{text}congestion_control = false\n[congestion_control]\nkind = \"pcn\"\n");
    assert!(Scenario::parse("t", &free, &overrides).is_ok());
}

/// Under QCN the switches on the way need one, too.
#[test]
fn no_way_back_from_a_switch() {
    let tables = "[routing]\nkind = \"tables\"\n[routing.tables.S1]\nS2 = [\"H3\"]\nH1 = [\"H1\"]\n\
                  [routing.tables.S2]\nS3 = [\"H3\"]\n\
                  [routing.tables.S3]\nS1 = [\"H1\"]\nH3 = [\"H3\"]\n";
    let text = GOOD.replace("[switch]", &format!("{tables}[switch]"));
    let overrides = Overrides::default();
    let others = format!("{text}[congestion_control]\nkind = \"dcqcn\"\n");
    assert!(Scenario::parse("t", &others, &overrides).is_ok());
    check(
        &format!("{text}[congestion_control]\nkind = \"qcn\"\n"),
        expect![[r#"
            pauseless: t.toml:23:1: flow[0]: there is no way back from S2 to H1
               |
            23 | [[flow]]
               | ^^^^^^^^
               |
               = help: what the source is told needs one; mend routing.tables
        "#]],
    );
    let mended = text.replace("S3 = [\"H3\"]", "S3 = [\"H3\"]\nS1 = [\"H1\"]");
    let mended = format!("{mended}[congestion_control]\nkind = \"qcn\"\n");
    assert!(Scenario::parse("t", &mended, &overrides).is_ok());
}

#[test]
fn a_lower_end_above_the_default_of_the_upper_one() {
    section(
        "kind = \"pcn\"\nw_min = 0.75",
        expect![[r#"
        pauseless: t.toml:18:9: congestion_control.w_min: more than w_max, which is 0.5 if not written
           |
        18 | w_min = 0.75
           |         ^^^^ expected at most 0.5
           |
           = help: write w_max, too
    "#]],
    );
    section(
        "kind = \"dcqcn\"\nkmin = \"201 KB\"",
        expect![[r#"
        pauseless: t.toml:18:8: congestion_control.kmin: more than kmax, which is 200 KB if not written
           |
        18 | kmin = "201 KB"
           |        ^^^^^^^^ expected at most 200 KB
           |
           = help: write kmax, too
    "#]],
    );
    section(
        "kind = \"timely\"\nt_low = \"2 ms\"",
        expect![[r#"
        pauseless: t.toml:18:9: congestion_control.t_low: more than t_high, which is 1 ms if not written
           |
        18 | t_low = "2 ms"
           |         ^^^^^^ expected at most 1 ms
           |
           = help: write t_high, too
    "#]],
    );
    // One problem at a time.
    section(
        "kind = \"dcqcn\"\nkmin = \"1 MB\"\nkmax = 2",
        expect![[r#"
        pauseless: t.toml:19:8: congestion_control.kmax: a number without a unit
           |
        19 | kmax = 2
           |        ^ expected an amount of bytes in B, KB, KiB, MB, MiB, GB, GiB
           |
           = help: write a string with a unit, for example "100 KB"
    "#]],
    );
    section(
        "kind = \"timely\"\nack_every = 10001",
        expect![[r#"
        pauseless: t.toml:18:13: congestion_control.ack_every: 10001 is out of range
           |
        18 | ack_every = 10001
           |             ^^^^^ expected a whole number from 0 to 10000
    "#]],
    );
}
