//! Derivations, as people read them.

use expect_test::{Expect, expect};
use pauseless_plan::explain::{explain, paper};
use pauseless_scenario::congestion::Scheme;
use pauseless_scenario::{Overrides, Scenario};

fn check(file: &str, expected: Expect) {
    let path = format!("{}/../../scenarios/{file}.toml", env!("CARGO_MANIFEST_DIR"));
    let scenario = Scenario::read(path.as_ref(), &Overrides::default()).unwrap();
    expected.assert_eq(&explain(&scenario).to_string());
}

#[test]
fn pfc() {
    check(
        "gfc-ring",
        expect![[r#"
        pfc at S1:H1, S1:S2, S1:S3, S2:H2 and 8 more
          C         rate of the link                              10 Gbps   scenario
          MTU       largest frame                                 1500 B    scenario
          B         buffer of the ingress port and class          1012 KB   scenario
          MTU / C   the message waits for a frame that has begun  1.2 us    gfc19 5.4 eq 6
          t_w       the message travels                           1 us      gfc19 5.4 eq 6
          t_r       it is processed                               85 us     gfc19 5.4 eq 6
          MTU / C   a frame that has begun is not interrupted     1.2 us    gfc19 5.4 eq 6
          t_w       that frame travels                            1 us      gfc19 5.4 eq 6
          tau       2 MTU / C + 2 t_w + t_r                       89.4 us   gfc19 5.4 eq 6
          C tau     what arrives before feedback has an effect    111750 B  gfc19 5.4 eq 6
          crossing  the frame that crosses XOFF: one MTU          1500 B    docs/protocols.md#pfc-headroom
          messages  64 B for each class                           64 B      docs/protocols.md#pfc-headroom
          headroom  C tau + crossing + messages                   113314 B  docs/protocols.md#pfc-headroom
          XOFF <=   B - headroom                                  898686 B  docs/protocols.md#pfc-headroom
          XOFF      pause above                                   800 KB    as run
          XON       resume below; by default XOFF - 2 MTU         797 KB    as run
          pause     65535 quanta of 512 bits                      3.355 ms  802.1Q 36.1.3
          refresh   pause / 2, must exceed tau                    1.678 ms  802.1Q 36.1.3
    "#]],
    );
}

#[test]
fn credits() {
    check(
        "gfc-ring-cbfc",
        expect![[r#"
        cbfc at S1:H1, S1:S2, S1:S3, S2:H2 and 8 more
          C           rate of the link                                 10 Gbps   scenario
          MTU         largest frame                                    1500 B    scenario
          B           buffer of the ingress port and class             1012 KB   scenario
          MTU / C     the message waits for a frame that has begun     1.2 us    gfc19 5.4 eq 6
          t_w         the message travels                              1 us      gfc19 5.4 eq 6
          t_r         it is processed                                  85 us     gfc19 5.4 eq 6
          MTU / C     a frame that has begun is not interrupted        1.2 us    gfc19 5.4 eq 6
          t_w         that frame travels                               1 us      gfc19 5.4 eq 6
          tau         2 MTU / C + 2 t_w + t_r                          89.4 us   gfc19 5.4 eq 6
          C tau       what arrives before feedback has an effect       111750 B  gfc19 5.4 eq 6
          frame       one MTU in whole blocks of 64 B                  1536 B    InfiniBand 7.9
          credits     at least a frame, at most B                      1 MB      as run
          T           time between two grants; by default 65535 B / C  52.4 us   gfc19 5.4
          credits >=  C (tau + T), to keep the link full               177250 B  derived here
    "#]],
    );
}

#[test]
fn buffer_based() {
    check(
        "gfc-ring-buffer",
        expect![[r#"
            gfc-buffer at S1:H1, S1:S2, S1:S3, S2:H2 and 8 more
              C            rate of the link                                10 Gbps      scenario
              MTU          largest frame                                   1500 B       scenario
              B            buffer of the ingress port and class            1012 KB      scenario
              MTU / C      the message waits for a frame that has begun    1.2 us       gfc19 5.4 eq 6
              t_w          the message travels                             1 us         gfc19 5.4 eq 6
              t_r          it is processed                                 85 us        gfc19 5.4 eq 6
              MTU / C      a frame that has begun is not interrupted       1.2 us       gfc19 5.4 eq 6
              t_w          that frame travels                              1 us         gfc19 5.4 eq 6
              tau          2 MTU / C + 2 t_w + t_r                         89.4 us      gfc19 5.4 eq 6
              C tau        what arrives before feedback has an effect      111750 B     gfc19 5.4 eq 6
              B_m <=       B - 5 MTU of guard band                         1004500 B    core derive
              B_m          the queue to stay below; by default B - 8 MTU   1 MB         as run
              2 C tau      B_m - B_1 at least                              223500 B     gfc19 5.4
              B_1 <=       B_m - 2 C tau                                   776500 B     gfc19 5.4
              B_1          stage 1 begins                                  750 KB       as run
              N            1 + ceil(log2(B_m - B_1)), in bytes             19           gfc19 4.2
              R_N          max(C / 2^N, rate unit), the lowest rate        19.073 kbps  gfc19 4.2 eq 4
              hold-off     without a message until a faster stage is told  14.8 us      docs/gfc-guard.md
              guard        B - B_m, because packets are indivisible        12 KB        core derive
              overshoot    2 MTU: frames are not a fluid                   3 KB         core derive
              slop         1 MTU: the messages themselves                  1500 B       core derive
              patience     guard - 5 MTU: a standstill is waited out       4500 B       core derive
              closing      2 MTU: what arrives after the hold              3 KB         core derive
              hold         B - 2 MTU: above this the sender is held        1009 KB      core derive
              MTU / R_min  standstill that each MTU of patience buys       629.162 ms   core derive
              stages: B_k = B_m - (B_m - B_1) / 2^(k-1), R_k = C / 2^k (gfc19 4.2)
              k   B_k        R_k
              0   0 B        10 Gbps
              1   750000 B   5 Gbps
              2   875000 B   2.5 Gbps
              3   937500 B   1.25 Gbps
              4   968750 B   625 Mbps
              5   984375 B   312.5 Mbps
              6   992188 B   156.25 Mbps
              7   996094 B   78.125 Mbps
              8   998047 B   39.063 Mbps
              9   999024 B   19.531 Mbps
              10  999512 B   9.766 Mbps
              11  999756 B   4.883 Mbps
              12  999878 B   2.441 Mbps
              13  999939 B   1.221 Mbps
              14  999970 B   610.351 kbps
              15  999985 B   305.175 kbps
              16  999993 B   152.587 kbps
              17  999997 B   76.293 kbps
              18  999999 B   38.146 kbps
              19  1000000 B  19.073 kbps
        "#]],
    );
}

#[test]
fn time_based() {
    check(
        "gfc-ring-time",
        expect![[r#"
            gfc-time at S1:H1, S1:S2, S1:S3, S2:H2 and 8 more
              C                rate of the link                                   10 Gbps                                 scenario
              MTU              largest frame                                      1500 B                                  scenario
              B                buffer of the ingress port and class               1012 KB                                 scenario
              MTU / C          the message waits for a frame that has begun       1.2 us                                  gfc19 5.4 eq 6
              t_w              the message travels                                1 us                                    gfc19 5.4 eq 6
              t_r              it is processed                                    85 us                                   gfc19 5.4 eq 6
              MTU / C          a frame that has begun is not interrupted          1.2 us                                  gfc19 5.4 eq 6
              t_w              that frame travels                                 1 us                                    gfc19 5.4 eq 6
              tau              2 MTU / C + 2 t_w + t_r                            89.4 us                                 gfc19 5.4 eq 6
              C tau            what arrives before feedback has an effect         111750 B                                gfc19 5.4 eq 6
              B_m <=           B - 5 MTU of guard band                            1004500 B                               core derive
              B_m              the queue to stay below; by default B - 8 MTU      1 MB                                    as run
              T                time between two messages; by default 65535 B / C  52.4 us                                 gfc19 5.4
              tau < T          the premise of the theorem                         does not hold: a wider bound is needed  gfc19 theorem 5.1
              width            (sqrt(tau / T) + 1)^2 C T                          348360 B                                gfc19 theorem 5.1
              width            e C (tau + T)                                      481816 B                                delay tau + T, see core derive.rs
              B_0 <=           B_m - width                                        518184 B                                delay tau + T, see core derive.rs
              B_0              the rate begins to fall                            492 KB                                  as run
              (B_m + B_0) / 2  the queue of a sender held to C / 2                746 KB                                  gfc19 4.1
              R_min            max(C / (B_m - B_0), rate unit), the lowest rate   19.685 kbps                             core derive
              guard            B - B_m, because packets are indivisible           12 KB                                   core derive
              overshoot        2 MTU: frames are not a fluid                      3 KB                                    core derive
              slop             1 MTU: the messages themselves                     1500 B                                  core derive
              patience         guard - 5 MTU: a standstill is waited out          4500 B                                  core derive
              closing          2 MTU: what arrives after the hold                 3 KB                                    core derive
              hold             B - 2 MTU: above this the sender is held           1009 KB                                 core derive
              MTU / R_min      standstill that each MTU of patience buys          609.601 ms                              core derive
        "#]],
    );
}

#[test]
fn conceptual() {
    check(
        "gfc-fig5-conceptual",
        expect![[r#"
        gfc-conceptual at S1:H1, S1:H2, S1:R, H1:S1 and 2 more
          C                rate of the link                                  10 Gbps                   scenario
          MTU              largest frame                                     1500 B                    scenario
          B                buffer of the ingress port and class              112 KB                    scenario
          MTU / C          the message waits for a frame that has begun      1.2 us                    gfc19 5.4 eq 6
          t_w              the message travels                               1 us                      gfc19 5.4 eq 6
          t_r              it is processed                                   3 us                      gfc19 5.4 eq 6
          MTU / C          a frame that has begun is not interrupted         1.2 us                    gfc19 5.4 eq 6
          t_w              that frame travels                                1 us                      gfc19 5.4 eq 6
          tau              given instead of the sum of these                 25 us                     scenario
          C tau            what arrives before feedback has an effect        31250 B                   gfc19 5.4 eq 6
          B_m <=           B - 5 MTU of guard band                           104500 B                  core derive
          B_m              the queue to stay below; by default B - 8 MTU     100 KB                    as run
          4 C tau          B_m - B_0 at least                                125 KB                    gfc19 theorem 4.1
          B_0 <=           B_m - 4 C tau                                     below zero: none is safe  gfc19 theorem 4.1
          B_0              the rate begins to fall                           50 KB                     as run
          (B_m + B_0) / 2  the queue of a sender held to C / 2               75 KB                     gfc19 4.1
          R_min            max(C / (B_m - B_0), rate unit), the lowest rate  200 kbps                  core derive
          guard            B - B_m, because packets are indivisible          12 KB                     core derive
          overshoot        2 MTU: frames are not a fluid                     3 KB                      core derive
          slop             1 MTU: the messages themselves                    1500 B                    core derive
          patience         guard - 5 MTU: a standstill is waited out         4500 B                    core derive
          closing          2 MTU: what arrives after the hold                3 KB                      core derive
          hold             B - 2 MTU: above this the sender is held          109 KB                    core derive
          MTU / R_min      standstill that each MTU of patience buys         60 ms                     core derive
    "#]],
    );
}

/// Thresholds and steps that grow with the speed of a link are shown as they are in force there.
#[test]
fn what_is_scaled_is_shown_as_it_is_in_force() {
    let path = format!("{}/../../scenarios/pcn-fig1.toml", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap().replace("\"40 Gbps\"", "\"100 Gbps\"");
    let text = text.replace("kind = \"pfc\"", "kind = \"pfc\"\nunsafe_parameters = true");
    let overrides = Overrides { congestion: Scheme::named("dcqcn"), ..Overrides::default() };
    let scenario = Scenario::parse("fast", &text, &overrides).unwrap();
    let group = explain(&scenario).congestion.expect("a congestion control");
    let in_force = group.rows.iter().filter(|row| row.formula.starts_with("in force"));
    let in_force = in_force.map(|row| [&row.symbol[..], &row.formula, &row.value, row.source]);
    let (egress, host) =
        ("in force at an egress of 100 Gbps", "in force at a host's link of 100 Gbps");
    let expected = [
        ["kmin", egress, "12500 B", "as run"],
        ["kmax", egress, "500 KB", "as run"],
        ["rate_ai", host, "100 Mbps", "as run"],
        ["rate_hai", host, "500 Mbps", "as run"],
    ];
    assert_eq!(Vec::from_iter(in_force), expected);
}

/// The parameters of each congestion control, without what is said about ports.
#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn congestion_controls() {
    let path = format!("{}/../../scenarios/pcn-fig1.toml", env!("CARGO_MANIFEST_DIR"));
    let mut text = String::new();
    for kind in Scheme::all() {
        let overrides = Overrides { congestion: Some(kind), ..Overrides::default() };
        let scenario = Scenario::read(path.as_ref(), &overrides).unwrap();
        if let Some(group) = explain(&scenario).congestion {
            text.push_str(&group.to_string());
        }
    }
    expect![[r#"
        congestion control pcn for 2 of 226 flows
          class      in which sources are told                                      1          as run
          ack_every  the target acknowledges                                        never      default
          period     T, from one notification of a flow to the next                 50 us      pcn20 5.2
          w_min      The first weight of an increase, and the margin of a decrease  0.0078125  pcn20 5.3
          w_max      What the weight tends to                                       0.5        pcn20 5.3
          rate_min   The least rate                                                 1 Mbps     our choice
        congestion control qcn for 2 of 226 flows
          class                in which sources are told                                  1          as run
          ack_every            the target acknowledges                                    never      default
          queue_set_point      Q_eq, the queue that a switch aims at                      26 KB      802.1Q CN MIB
          weight               w, of the queue's growth against its length                2.0        802.1Q CN MIB
          sample_base          The bytes between two samples when there is no congestion  150 KB     802.1Q CN MIB
          gd                   Gd: a notification of psi cuts the rate by Gd psi          0.0078125  802.1Q CN MIB
          decrease_factor_min  One cut leaves at least this share                         0.5        802.1Q CN MIB
          byte_reset           BC, bytes sent per stage of recovery                       150 KB     802.1Q CN MIB
          time_reset           T_rp, time per stage                                       15 ms      802.1Q CN MIB
          threshold            F, stages of fast recovery                                 5          802.1Q CN MIB
          rate_ai              R_AI, the step of active increase                          5 Mbps     802.1Q CN MIB
          rate_hai             R_HAI, the step of hyper-active increase                   50 Mbps    802.1Q CN MIB
          rate_min             The least rate that a flow is ever limited to              5 Mbps     802.1Q CN MIB
          scale_with_speed     Whether rates grow with the speed of the link              false      802.1Q CN MIB
        congestion control dcqcn for 2 of 226 flows
          class             in which sources are told                                                           1           as run
          ack_every         the target acknowledges                                                             never       default
          kmin              No packet is marked up to this queue                                                5 KB        dcqcn15 3.1
          kmax              Every packet is marked above this queue                                             200 KB      dcqcn15 3.1
          pmax              The probability of a mark just below `kmax`, growing from 0 at `kmin`               0.01        dcqcn15 3.1
          phantom           Marks follow a virtual queue that drains at this share of the line, such as `0.95`  none
          mark_at           By which queue packets are marked                                                   departure   public code
          cnp_interval      N, at most one CNP per flow in this time                                            50 us       dcqcn15 3.1
          alpha_timer       K, alpha decays after so long without a CNP                                         55 us       dcqcn15 3.1
          alpha_initial     alpha at the start                                                                  1.0         dcqcn15 3.1
          g                 g, the gain of alpha                                                                0.00390625  dcqcn15 3.1
          increase_timer    T, time per stage of recovery                                                       55 us       dcqcn15 3.1
          byte_counter      B, bytes sent per stage                                                             10 MB       dcqcn15 3.1
          threshold         F, stages of fast recovery                                                          5           dcqcn15 3.1
          rate_ai           R_AI, the step of additive increase                                                 40 Mbps     dcqcn15 3.1
          rate_hai          R_HAI, the step of hyper increase                                                   200 Mbps    public code
          rate_min          The least rate that a flow is ever limited to                                       100 Mbps    public code
          clamp             When a CNP lowers the target rate, too                                              always      dcqcn15 3.1
          scale_with_speed  Whether rates and thresholds grow with the speed of the link                        true        our choice
        congestion control timely for 2 of 226 flows
          class             in which sources are told                                                     1             as run
          ack_every         the target acknowledges                                                       every packet  default
          ewma_weight       The weight of a new difference in the moving average                          0.02          timely15 snippet
          beta              The factor of a decrease                                                      0.8           timely15 snippet
          t_low             Below this round-trip time the rate grows                                     0 ps          timely15 snippet
          t_high            Above this round-trip time the rate falls                                     1 ms          timely15 snippet
          delta             The step of additive increase                                                 10 Mbps       timely15 snippet
          min_rtt           The smallest round-trip time of the network, which gradients are measured in  30 us         as run
          hai_threshold     After so many negative differences in a row, steps are larger                 5             timely15 snippet
          hai_factor        The factor by which steps are larger then                                     5.0           timely15 snippet
          rate_min          The least rate                                                                10 Mbps       our choice
          patched           The middle branch of CoNEXT 2016                                              false         timely15 snippet
          scale_with_speed  Whether steps grow with the speed of the link                                 true          our choice
          delta             in force at a host's link of 40 Gbps                                          40 Mbps       as run
        congestion control hpcc for 2 of 226 flows
          class            in which sources are told                                              1                  as run
          ack_every        the target acknowledges                                                every packet       default
          eta              How busy links are to be                                               0.95               hpcc19 5.1
          stage_max        maxStage, so many additive steps before a multiplicative one           5                  hpcc19 5.1
          rate_ai          W_AI over the base round-trip time                                     50 Mbps            hpcc19 5.1
          rate_min         The least rate that a flow is ever limited to                          100 Mbps           public code
          base_rtt         T, the round-trip time without queues                                  that of each flow  as run
          fast_react       Whether every acknowledgement changes the rate, or one per round trip  true               hpcc19 5.1
          per_hop          A rate for each hop, of which the lowest counts                        false              public code
          sample_feedback  A fast reaction ignores hops without a queue                           false              public code
        congestion control dctcp for 2 of 226 flows
          class          in which sources are told                                                      1                                         as run
          ack_every      the target acknowledges                                                        every packet                              default
          k              K, packets are marked by a queue above this, whatever the speed of the egress  97500 B                                   dctcp10 3.5
          mark_at        By which queue packets are marked                                              arrival                                   rfc8257 3.1
          g              g, the gain of alpha                                                           0.0625                                    rfc8257 4.2
          alpha_initial  alpha at the start                                                             1.0                                       rfc8257 4.2
          rate_ai        What the rate grows by per window without a cut                                one packet per round trip without queues  rfc8257 3.3
          rate_min       The least rate that a flow is ever limited to                                  100 Mbps                                  public code
    "#]].assert_eq(&text);
}

//= gfc19 5.4 examples type=test
#[test]
fn the_numbers_of_the_paper() {
    expect![[r#"
        GFC (SIGCOMM 2019), section 5.4: t_w 1 us, t_r 3 us
          quantity                     C         formula                    ours        paper     note
          tau, Ethernet                10 Gbps   2 MTU / C + 2 t_w + t_r    7.4 us      7.4 us
          tau, Ethernet                40 Gbps   2 MTU / C + 2 t_w + t_r    5.6 us      5.6 us
          tau, Ethernet                100 Gbps  2 MTU / C + 2 t_w + t_r    5.24 us     5.2 us    printed rounded
          tau, InfiniBand              10 Gbps   2 MTU / C + 2 t_w + t_r    11.4 us     11.4 us   needs an MTU of 4000 B, not 4096 B
          tau, InfiniBand              40 Gbps   2 MTU / C + 2 t_w + t_r    6.6 us      6.6 us    needs an MTU of 4000 B, not 4096 B
          tau, InfiniBand              100 Gbps  2 MTU / C + 2 t_w + t_r    5.64 us     5.6 us    needs an MTU of 4000 B, not 4096 B
          B_m - B_1, buffer-based      10 Gbps   2 C tau                    18.5 KB     18.5 KB
          B_m - B_1, buffer-based      40 Gbps   2 C tau                    56 KB       56 KB
          B_m - B_1, buffer-based      100 Gbps  2 C tau                    131 KB      130 KB    the paper computes with its rounded tau
          N, buffer-based              10 Gbps   1 + ceil(log2(B_m - B_1))  16          16
          N, buffer-based              40 Gbps   1 + ceil(log2(B_m - B_1))  17          18        the paper's own rule gives ours
          N, buffer-based              100 Gbps  1 + ceil(log2(B_m - B_1))  18          20        the paper's own rule gives ours
          B_m - B_0, time-based        10 Gbps   (sqrt(tau / T) + 1)^2 C T  140.904 KB  140.8 KB  C T of 65535 B
          B_m - B_0, time-based        40 Gbps   (sqrt(tau / T) + 1)^2 C T  191.544 KB  191.4 KB  C T of 65535 B
          B_m - B_0, time-based        100 Gbps  (sqrt(tau / T) + 1)^2 C T  271.98 KB   271 KB    the paper computes with its rounded tau
          feedback, a message per tau  10 Gbps   64 B / (C tau)             0.69 %      0.69 %
    "#]].assert_eq(&paper().to_string());
}
