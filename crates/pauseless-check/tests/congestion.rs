//! The section `[congestion_control]`: what it becomes, and that what is written out is the same.

use pauseless_check::check;
use pauseless_core::congestion::marking::MarkAt;
use pauseless_core::congestion::{CongestionControl, dcqcn, dctcp, hpcc, pcn, qcn, timely};
use pauseless_core::id::Class;
use pauseless_core::schedule::Scheduler;
use pauseless_core::unit::{Bytes, Rate, Span};
use pauseless_scenario::congestion::Scheme;
use pauseless_scenario::fabric_file;
use pauseless_scenario::{Overrides, Scenario};
use pauseless_sim::config::Reaction;
use pauseless_text::source::Source;

#[path = "../../pauseless-scenario/tests/problems/mod.rs"]
mod problems;

use problems::GOOD;

fn read(text: &str, congestion: Option<Scheme>) -> Scenario {
    let overrides = Overrides { congestion, ..Overrides::default() };
    let scenario = Scenario::parse("t.toml", text, &overrides);
    let scenario = scenario.unwrap_or_else(|problems| panic!("{problems}"));
    let again = Scenario::parse("t.toml", &scenario.resolved(), &Overrides::default());
    let again = again.unwrap_or_else(|problems| panic!("{problems}"));
    assert_eq!(format!("{:?}", scenario.config), format!("{:?}", again.config));
    assert_eq!(scenario.resolved(), again.resolved());
    scenario
}

/// The good file with this section.
fn with(section: &str) -> Scenario {
    read(&format!("{GOOD}[congestion_control]\n{section}\n"), None)
}

/// There and back: H1, S1, S3, H3 with links of 1 us.
const ROUND_TRIP: Span = Span::us(6);

#[test]
fn every_kind_has_the_defaults_of_its_source() {
    let expected = [
        CongestionControl::None,
        CongestionControl::Pcn(pcn::Config::default()),
        CongestionControl::Qcn(qcn::Config::default()),
        CongestionControl::Dcqcn(dcqcn::Config::default()),
        CongestionControl::Timely(timely::Config::per_packet(ROUND_TRIP)),
        CongestionControl::Hpcc(hpcc::Config::default()),
        CongestionControl::Dctcp(dctcp::Config::default()),
    ];
    for (kind, control) in Scheme::all().into_iter().zip(expected) {
        let name = kind.name();
        let scenario = with(&format!("kind = {name:?}"));
        let congestion = &scenario.config.congestion;
        assert_eq!(congestion.control, control);
        assert_eq!(congestion.ack_every, control.ack_every());
        assert_eq!(congestion.control.name(), name);
        // Without the section, the command line says the same.
        let named = read(GOOD, Some(kind));
        assert_eq!(format!("{:?}", named.config), format!("{:?}", scenario.config));
    }
    let scenario = read(GOOD, None);
    assert_eq!(scenario.config.congestion.control, CongestionControl::None);
    assert_eq!(scenario.config.flows[0].reaction, Reaction::None);
    assert_eq!(scenario.config.ingress.class_count(), 1);
}

#[test]
fn every_key_of_pcn() {
    let scenario = with(
        "kind = \"pcn\"\nperiod = \"500 us\"\nw_min = 0.01\nw_max = 0.25\nrate_min = \"2 Mbps\"",
    );
    let expected =
        pcn::Config { period: Span::us(500), w_min: 0.01, w_max: 0.25, rate_min: Rate::mbps(2) };
    let control = scenario.config.congestion.control;
    assert_eq!(control, CongestionControl::Pcn(expected));
    // A smallest weight may be the largest, too.
    let CongestionControl::Pcn(config) =
        with("kind = \"pcn\"\nw_min = 0.75\nw_max = 0.75").config.congestion.control
    else {
        panic!("PCN was asked for");
    };
    assert_eq!((config.w_min, config.w_max), (0.75, 0.75));
}

#[test]
fn every_key_of_qcn() {
    let scenario = with(
        "kind = \"qcn\"\nqueue_set_point = \"33 KB\"\nweight = 4\nsample_base = \"100 KB\"\n\
         gd = 0.015625\ndecrease_factor_min = 0.25\nbyte_reset = \"300 KB\"\n\
         time_reset = \"10 ms\"\nthreshold = 3\nrate_ai = \"6 Mbps\"\nrate_hai = \"60 Mbps\"\n\
         rate_min = \"7 Mbps\"\nscale_with_speed = true",
    );
    let expected = qcn::Config {
        queue_set_point: Bytes::kb(33),
        weight: 4.0,
        sample_base: Bytes::kb(100),
        gd: 1.0 / 64.0,
        decrease_factor_min: 0.25,
        byte_reset: Bytes::kb(300),
        time_reset: Span::ms(10),
        threshold: 3,
        rate_ai: Rate::mbps(6),
        rate_hai: Rate::mbps(60),
        rate_min: Rate::mbps(7),
        reference: Some(Rate::gbps(10)),
    };
    let control = scenario.config.congestion.control;
    assert_eq!(control, CongestionControl::Qcn(expected));
}

#[test]
fn every_key_of_dcqcn() {
    let keys = "kind = \"dcqcn\"\nkmin = \"6 KB\"\nkmax = \"150 KB\"\npmax = 0.5\n\
                mark_at = \"departure\"\nphantom = 0.95\ncnp_interval = \"4 us\"\n\
                alpha_timer = \"1 us\"\nalpha_initial = 0.5\ng = 0.0625\n\
                increase_timer = \"300 us\"\nbyte_counter = \"300 MB\"\nthreshold = 1\n\
                rate_ai = \"5 Mbps\"\nrate_hai = \"50 Mbps\"\nrate_min = \"1 Gbps\"\n\
                clamp = \"after-stage\"\nscale_with_speed = false\ncnp_check = \"periodic\"";
    let scenario = with(keys);
    let default = dcqcn::Config::default();
    let expected = dcqcn::Config {
        style: dcqcn::Style::Paper,
        marking: pauseless_core::congestion::marking::Config {
            kmin: Bytes::kb(6),
            kmax: Bytes::kb(150),
            pmax: 0.5,
            reference: None,
            phantom: Some(0.95),
            mark_at: MarkAt::Departure,
            levels: Default::default(),
        },
        cnp_interval: Span::us(4),
        cnp_check: dcqcn::CnpCheck::Periodic,
        alpha_timer: Span::us(1),
        alpha_initial: 0.5,
        g: 0.0625,
        increase_timer: Span::us(300),
        byte_counter: Bytes::mb(300),
        threshold: 1,
        rate_ai: Rate::mbps(5),
        rate_hai: Rate::mbps(50),
        rate_min: Rate::gbps(1),
        clamp: dcqcn::Clamp::AfterStage,
        reference: None,
    };
    let control = scenario.config.congestion.control;
    assert_eq!(control, CongestionControl::Dcqcn(expected));
    let text = "kind = \"dcqcn\"\nmark_at = \"arrival\"\nclamp = \"after-byte-stage\"\n\
         kmin = \"1 MB\"\nkmax = \"1 MB\"";
    let CongestionControl::Dcqcn(config) = with(text).config.congestion.control else {
        panic!("DCQCN was asked for");
    };
    assert_eq!(config.marking.mark_at, MarkAt::Arrival);
    assert_eq!(config.clamp, dcqcn::Clamp::AfterByteStage);
    // Equal ends make a step.
    assert_eq!(config.marking.kmax, Bytes::mb(1));
    assert_eq!(config.marking.reference, default.reference);
}

#[test]
fn every_key_of_timely() {
    let scenario = with(
        "kind = \"timely\"\newma_weight = 0.875\nbeta = 0.008\nt_low = \"50 us\"\n\
         t_high = \"500 us\"\ndelta = \"20 Mbps\"\nmin_rtt = \"20 us\"\nhai_threshold = 4\n\
         hai_factor = 2.5\nrate_min = \"1 Mbps\"\npatched = true\nscale_with_speed = false\n\
         ack_every = 16\nfeedback_class = \"data\"",
    );
    let expected = timely::Config {
        update: timely::Update::PerAck,
        ewma_weight: 0.875,
        beta: 0.008,
        t_low: Span::us(50),
        t_high: Span::us(500),
        delta: Rate::mbps(20),
        reference: None,
        min_rtt: Span::us(20),
        hai_threshold: 4,
        hai_factor: 2.5,
        rate_min: Rate::mbps(1),
        is_patched: true,
    };
    let congestion = &scenario.config.congestion;
    assert_eq!(congestion.control, CongestionControl::Timely(expected));
    assert_eq!(congestion.ack_every, 16);
    assert_eq!(scenario.config.ingress.class_count(), 1);
}

/// The smallest round trip is the longest of all flows', by the delays of the links alone.
#[test]
fn timely_finds_its_round_trip() {
    let min_rtt = |scenario: &Scenario| match scenario.config.congestion.control {
        CongestionControl::Timely(config) => config.min_rtt,
        _ => panic!("TIMELY was asked for"),
    };
    assert_eq!(min_rtt(&with("kind = \"timely\"")), ROUND_TRIP);
    // The way there has one switch more than the way back.
    let pinned = "path = [\"S1\", \"S2\", \"S3\"]\n[congestion_control]\nkind = \"timely\"\n";
    let scenario = read(&format!("{GOOD}{pinned}"), None);
    assert_eq!(min_rtt(&scenario), Span::us(7));
    // Flows that do not obey do not count, and without others a guess is as good as any.
    let free = "congestion_control = false\n[congestion_control]\nkind = \"timely\"\n";
    assert_eq!(min_rtt(&read(&format!("{GOOD}{free}"), None)), Span::us(20));
    let written = with("kind = \"timely\"\nmin_rtt = \"3 us\"");
    assert_eq!(min_rtt(&written), Span::us(3));
}

#[test]
fn sources_are_told_in_a_class_of_its_own_or_that_of_the_data() {
    let class = |scenario: &Scenario| match scenario.config.flows[0].reaction {
        Reaction::Controlled { class, .. } => class,
        Reaction::None => panic!("it is controlled"),
    };
    let text = GOOD
        .replace("buffer =", "classes = 3\nbuffer =")
        .replace("target = \"H3\"", "target = \"H3\"\nclass = 1");
    for (place, expected, count) in [("own", 3, 4), ("data", 1, 3)] {
        let section = format!("[congestion_control]\nkind = \"pcn\"\nfeedback_class = {place:?}\n");
        let scenario = read(&format!("{text}{section}"), None);
        assert_eq!(class(&scenario), Class(expected));
        assert_eq!(scenario.config.ingress.class_count(), count);
    }
    // Acknowledgements are answers, too.
    let scenario = with("kind = \"none\"\nack_every = 4");
    assert_eq!(class(&scenario), Class(1));
    assert_eq!(scenario.config.congestion.ack_every, 4);
    assert_eq!(with("kind = \"none\"").config.flows[0].reaction, Reaction::None);
}

#[test]
fn the_own_class_has_the_largest_weight() {
    let text = GOOD.replace(
        "buffer =",
        "classes = 3\nscheduler = \"weighted\"\nweights = [1, 5, 2]\nbuffer =",
    );
    let scenario = read(&text, Scheme::named("dcqcn"));
    let Scheduler::Weighted(weights) = scenario.config.scheduler else {
        panic!("it is weighted");
    };
    assert_eq!(weights[..4], [1, 5, 2, 5]);
}

/// The own class can have thresholds of its own, and only if there is one.
#[test]
fn flow_control_may_name_the_own_class() {
    let at = "[[flow_control.at]]\nports = [\"S*:*\"]\nclasses = [1]\nxoff = \"100 KB\"\n";
    let text = GOOD.replace("[[flow]]", &format!("{at}[[flow]]"));
    let scenario = read(&text, Scheme::named("pcn"));
    assert_eq!(scenario.port_groups.len(), 2);
    assert!(Scenario::parse("t", &text, &Overrides::default()).is_err());
}

#[test]
fn the_command_line_replaces_the_scheme_with_its_keys() {
    let text = format!(
        "{GOOD}[congestion_control]\nkind = \"timely\"\nfeedback_class = \"data\"\n\
         ack_every = 16\nt_low = \"50 us\"\nbeta = 0.5\n"
    );
    for kind in Scheme::all() {
        let name = kind.name();
        let scenario = read(&text, Some(kind));
        let congestion = &scenario.config.congestion;
        assert_eq!(congestion.control.name(), name);
        // What has nothing to do with the scheme stays.
        assert_eq!(scenario.config.ingress.class_count(), 1);
        match congestion.control {
            // The scheme of the file: so are its parameters.
            CongestionControl::Timely(config) => {
                assert_eq!((config.beta, congestion.ack_every), (0.5, 16));
            }
            control => assert_eq!(congestion.ack_every, control.ack_every()),
        }
    }
    // A result can be run again with another scheme.
    let resolved = with("kind = \"pcn\"").resolved();
    let scenario = read(&resolved, Scheme::named("timely"));
    assert_eq!(scenario.config.congestion.ack_every, 1);
    // Keys of a scheme that nobody has named are not looked at, either.
    let nameless = format!("{GOOD}[congestion_control]\nt_low = \"50 us\"\n");
    let scenario = read(&nameless, Scheme::named("pcn"));
    assert_eq!(scenario.config.congestion.control, CongestionControl::Pcn(pcn::Config::default()));
}

#[test]
fn flows_that_do_not_obey_are_told_nothing() {
    let more = "congestion_control = false\n[[flow]]\nsource = \"H2\"\ntarget = \"H3\"\n\
                initial_rate = \"1 Gbps\"\n";
    let scenario = read(&format!("{GOOD}{more}"), Scheme::named("dcqcn"));
    let [free, bound] = scenario.config.flows.as_slice() else {
        panic!("two flows");
    };
    assert_eq!(free.reaction, Reaction::None);
    let Reaction::Controlled { initial, class, .. } = bound.reaction else {
        panic!("it obeys");
    };
    assert_eq!((initial, class), (Rate::gbps(1), Class(1)));
}

/// A ring in which data goes most of the way round, in one direction, and closes no cycle. What the
/// targets say takes the shorter rest of the way, in the same direction.
const ROUND: &str = r#"duration = "1 ms"
[topology]
kind = "ring"
switches = 5
hosts_per_switch = 1
rate = "10 Gbps"
delay = "1 us"
[switch]
buffer = "1 MB"
[flow_control]
kind = "pfc"
[[flow]]
source = "H1"
target = "H4"
path = ["S1", "S2", "S3", "S4"]
[[flow]]
source = "H2"
target = "H5"
path = ["S2", "S3", "S4", "S5"]
[[flow]]
source = "H3"
target = "H1"
path = ["S3", "S4", "S5", "S1"]
"#;

fn is_cyclic(text: &str) -> bool {
    let source = Source::from_bytes("t.toml", text.as_bytes().to_vec()).expect("UTF-8");
    let fabric = fabric_file::read(&source).unwrap_or_else(|problems| panic!("{problems}"));
    check(&fabric, &[]).is_cyclic()
}

#[test]
fn answers_are_traffic_that_check_sees() {
    assert!(!is_cyclic(ROUND));
    for (section, expected) in [
        ("kind = \"none\"", false),
        ("kind = \"dcqcn\"", false),
        ("kind = \"dcqcn\"\nfeedback_class = \"own\"", false),
        ("kind = \"dcqcn\"\nfeedback_class = \"data\"", true),
        ("kind = \"none\"\nfeedback_class = \"data\"", false),
        ("kind = \"none\"\nfeedback_class = \"data\"\nack_every = 2", true),
    ] {
        let section = format!("[congestion_control]\n{section}\n");
        assert_eq!(is_cyclic(&format!("{ROUND}{section}")), expected, "{section}");
        // Whom nobody tells anything, nobody answers.
        let free = ROUND.replace("[[flow]]", "[[flow]]\ncongestion_control = false");
        assert!(!is_cyclic(&format!("{free}{section}")), "{section}");
    }
    // To be checked, a file needs no [switch], and flows may have any class then.
    let (before, rest) = ROUND.split_once("[switch]").expect("a section");
    let (_, flows) = rest.split_once("kind = \"pfc\"").expect("a section");
    let flows = flows.replace("[[flow]]", "[[flow]]\nclass = 1");
    let section = "[congestion_control]\nkind = \"pcn\"\n";
    assert!(!is_cyclic(&format!("{before}{flows}{section}")));
    let section = format!("{section}feedback_class = \"data\"\n");
    assert!(is_cyclic(&format!("{before}{flows}{section}")));
}

/// A pace just below the line is no reason to start otherwise: congestion control does not know it.
#[test]
fn a_paced_flow_reacts_as_one_at_the_line_rate() {
    let goodputs = |rate: &str| {
        let text = format!(
            "duration = \"15 ms\"\nmtu = \"1000 B\"\n\
             [topology]\nkind = \"n-to-1\"\nsenders = 2\nrate = \"10 Gbps\"\ndelay = \"1 us\"\n\
             [switch]\nbuffer = \"300 KB\"\n[flow_control]\nkind = \"pfc\"\n\
             xoff = \"200 KB\"\nxon = \"198 KB\"\n[congestion_control]\nkind = \"dcqcn\"\n\
             [[flow]]\nname = \"A\"\nsource = \"H1\"\ntarget = \"R\"\nrate = \"{rate}\"\n\
             [[flow]]\nname = \"B\"\nsource = \"H2\"\ntarget = \"R\"\nstart = \"5 ms\"\n"
        );
        let scenario = Scenario::parse("paced", &text, &Overrides::default());
        let scenario = scenario.unwrap_or_else(|it| panic!("{it}"));
        let flows = pauseless_sim::run(&scenario.config).flows;
        [flows[0].goodput_late_bps, flows[1].goodput_late_bps]
    };
    let (line, paced) = (goodputs("10 Gbps"), goodputs("9.999 Gbps"));
    for (line, paced) in line.into_iter().zip(paced) {
        assert!((line / paced - 1.0).abs() < 0.1, "{line} and {paced}");
    }
}

/// Two flows of 10 Gbps links into one, 100 us of delays there and back, packets of 1500 B.
const TWO_TO_ONE: &str = r#"
duration = "60 ms"
[topology]
kind = "n-to-1"
senders = 2
rate = "10 Gbps"
delay = "25 us"
[switch]
buffer = "1 MB"
[flow_control]
kind = "pfc"
[congestion_control]
kind = "dctcp"
[probe]
resolution = "5 us"
ports = ["S1:R"]
flows = ["A", "B"]
[[flow]]
name = "A"
source = "H1"
target = "R"
[[flow]]
name = "B"
source = "H2"
target = "R"
initial_rate = "2 Gbps"
"#;

/// The fluid model of DCTCP: with C RTT = 85 packets the queue is at most K + N, and one more for each
/// flow because a window ends with a whole packet; it swings by sqrt(2 N (C RTT + K)) / 2.
#[test]
fn two_flows_of_dctcp_share_fairly_and_keep_the_queue_near_k() {
    for (k, swing) in [(65, 12.3), (20, 10.3)] {
        let kind = format!("kind = \"dctcp\"\nk = \"{} B\"", k * 1_500);
        let scenario = read(&TWO_TO_ONE.replace("kind = \"dctcp\"", &kind), None);
        let outcome = pauseless_sim::run(&scenario.config);
        let egress = &outcome.series.ports[0].egress;
        let late = egress[egress.len() / 2..].iter();
        let (least, most) = (late.clone().min(), late.max());
        let [least, most] = [least, most].map(|bytes| *bytes.expect("a sample") as f64 / 1_500.0);
        let bound = f64::from(k + 2);
        assert!((bound..=bound + 2.0).contains(&most), "{most}");
        assert!((bound - swing - least).abs() < 3.0, "{least} to {most}");
        assert_eq!((outcome.lost_packets, outcome.pause_frames), (0, 0));
        // One started at five times the rate of the other.
        let rates = outcome.flows.iter().map(|flow| flow.goodput_late_bps);
        let rates = Vec::from_iter(rates);
        assert!((rates[0] / rates[1] - 1.0).abs() < 0.1, "{rates:?}");
        assert!(rates.iter().sum::<f64>() > 9.99e9, "{rates:?}");
    }
}
