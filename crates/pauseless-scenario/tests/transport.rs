//! The section `[transport]`, losses of wires, and the schemes of public RDMA simulators.

use pauseless_core::congestion::{CongestionControl, dcqcn, timely};
use pauseless_core::entropy::{EntropyConfig, EntropyKind};
use pauseless_core::id::PortId;
use pauseless_core::transport::{Finish, Pacing, Receiver, Recovery, Window};
use pauseless_core::unit::{Bytes, Span};
use pauseless_scenario::{Overrides, Scenario};
use pauseless_sim::config::{Flow, Reaction};
use pauseless_sim::{Config, run};

/// Two hosts at one switch, and more.
fn with(more: &str) -> String {
    format!(
        "duration = \"1 ms\"\n\
         [topology]\nkind = \"custom\"\nrate = \"100 Gbps\"\ndelay = \"1 us\"\n\
         node = [{{ name = \"S1\", kind = \"switch\" }}, {{ name = \"H1\", kind = \"host\" }}, \
         {{ name = \"H2\", kind = \"host\" }}]\n\
         link = [{{ between = [\"S1\", \"H1\"] }}, {{ between = [\"S1\", \"H2\"] }}]\n\
         [switch]\nbuffer = \"1 MB\"\n\
         [flow_control]\nkind = \"pfc\"\n\
         [[flow]]\nname = \"F\"\nsource = \"H1\"\ntarget = \"H2\"\nsize = \"100 KB\"\n\
         {more}\n"
    )
}

fn read(text: &str) -> Scenario {
    let read = |text: &str| Scenario::parse("t.toml", text, &Overrides::default());
    let scenario = read(text).unwrap_or_else(|problems| panic!("{problems}"));
    // What is written out in full is the same run.
    let again = read(&scenario.resolved()).unwrap_or_else(|problems| panic!("{problems}"));
    assert_eq!(again.resolved(), scenario.resolved());
    assert_eq!(again.config.transport, scenario.config.transport);
    assert_eq!(again.config.congestion, scenario.config.congestion);
    assert_eq!(again.config.wire_loss, scenario.config.wire_loss);
    assert_eq!(again.config.flows, scenario.config.flows);
    scenario
}

#[test]
fn every_key_of_the_section_is_heard() {
    let config = read(&with(
        "[transport]\nfinish = \"source\"\npacing = \"strict\"\nack_size = \"60 B\"\n\
         recovery = \"go-back-n\"\nnack_interval = \"100 us\"\ntimeout = \"2 ms\"\n\
         window = \"50 KB\"\nwindow_follows_rate = true\n\
         [timing]\nwire_loss = 0.01\n\
         [[wire_loss]]\nports = [\"H2:S1\"]\nshare = 0.25",
    ))
    .config;
    let transport = config.transport;
    assert_eq!(transport.finish, Finish::Source);
    assert_eq!(transport.pacing, Pacing::Strict);
    assert_eq!(transport.sizes.ack, Bytes::new(60));
    assert_eq!(transport.window, Window::FollowsRate);
    let Recovery::GoBackN(recovery) = transport.recovery else {
        panic!("it goes back");
    };
    assert_eq!(recovery.nack_interval, Span::us(100));
    assert_eq!(recovery.timeout, Span::ms(2));
    // Sources wait, so targets acknowledge.
    assert_eq!(config.congestion.ack_every, 1);
    let Reaction::Controlled { window, .. } = config.flows[0].reaction else {
        panic!("it is answered");
    };
    assert_eq!(window, Bytes::kb(50));
    assert_eq!(config.wire_loss.share, 0.01);
    assert_eq!(config.wire_loss.ports.len(), 1);
}

#[test]
fn windows_are_what_fits_on_the_way() {
    for word in ["bdp", "largest-bdp"] {
        let config = read(&with(&format!("[transport]\nwindow = \"{word}\""))).config;
        let Reaction::Controlled { window, round_trip, .. } = config.flows[0].reaction else {
            panic!("it is answered");
        };
        // Two links of 1 us there and back, and 1500 B at 100 Gb/s on both of them: 4.24 us.
        assert_eq!(round_trip, Span::ns(4_240));
        assert_eq!(window, Bytes::new(53_000));
    }
}

#[test]
fn schemes_of_public_simulators_have_their_keys() {
    let nic = "[congestion_control]\nkind = \"dcqcn\"\nstyle = \"nic\"\ncnp_interval = \"4 us\"\n\
               clamp = \"always\"\n[[congestion_control.at_rate]]\nrate = \"100 Gbps\"\n\
               kmin = \"400 KB\"\nkmax = \"1600 KB\"\npmax = 0.2";
    let config = read(&with(nic)).config;
    let CongestionControl::Dcqcn(nic) = config.congestion.control else {
        panic!("DCQCN");
    };
    assert_eq!(nic.style, dcqcn::Style::Nic);
    assert_eq!(nic.clamp, dcqcn::Clamp::Always);
    let level = nic.marking.levels[0].expect("one speed has its own");
    assert_eq!((level.mbps, level.kmin, level.kmax), (100_000, 400_000, 1_600_000));
    assert_eq!(config.congestion.ack_every, 1);

    let hpcc = "[congestion_control]\nkind = \"hpcc\"\neta = 0.9\nstage_max = 0\nper_hop = true\n\
                base_rtt = \"10 us\"";
    let config = read(&with(hpcc)).config;
    let CongestionControl::Hpcc(hpcc) = config.congestion.control else {
        panic!("HPCC");
    };
    assert_eq!((hpcc.eta, hpcc.stage_max, hpcc.is_per_hop), (0.9, 0, true));
    // Its window goes with its rate unless somebody says otherwise.
    assert_eq!(config.transport.window, Window::FollowsRate);

    let timely = "[congestion_control]\nkind = \"timely\"\nupdate = \"per-round-trip\"";
    let CongestionControl::Timely(timely) = read(&with(timely)).config.congestion.control else {
        panic!("TIMELY");
    };
    assert_eq!(timely.update, timely::Update::PerRoundTrip);
}

#[test]
fn nonsense_is_refused() {
    let table = [
        ("[transport]\nwindow = \"wide\"", "transport.window"),
        ("[transport]\ntimeout = \"1 ms\"", "transport.timeout"),
        ("[transport]\nwindow_follows_rate = true", "there is no window to follow it"),
        (
            "[congestion_control]\nkind = \"none\"\nack_every = 0\n\
             [transport]\nfinish = \"source\"",
            "sources wait for acknowledgements",
        ),
        (
            "[congestion_control]\nkind = \"none\"\nack_every = 4\n\
             [transport]\nwindow = \"bdp\"",
            "acknowledged only every 4",
        ),
        ("[congestion_control]\nkind = \"hpcc\"\nack_every = 0", "HPCC lives on acknowledgements"),
        (
            "[congestion_control]\nkind = \"dcqcn\"\nstyle = \"nic\"\nbyte_counter = \"1 MB\"",
            "congestion_control.byte_counter",
        ),
        ("[timing]\nwire_loss = 2", "2 is out of range"),
        (
            "[transport]\nrecovery = \"go-back-n\"\n[entropy]\nkind = \"mixed\"",
            "throws away every packet that overtakes another",
        ),
        (
            "[transport]\nreceiver = \"tolerant\"\nbits = 64",
            "a packet that has no bit is thrown away",
        ),
        ("[congestion_control]\nkind = \"hpcc\"\n[entropy]\nkind = \"oblivious\"", "HPCC compares"),
        ("[transport]\nbits = 64", "transport.bits"),
        ("[entropy]\nkind = \"bitmap\"\nvalues = 48", "no power of two"),
        ("[entropy]\nkind = \"bitmap\"\nring = 4", "entropy.ring"),
        ("[entropy]\nvalues = 4", "entropy.values"),
        (
            "[congestion_control]\nkind = \"none\"\nack_every = 0\n[entropy]\nkind = \"reps\"",
            "\"reps\" learns from acknowledgements",
        ),
        ("[[wire_loss]]\nports = [\"H9:S1\"]\nshare = 0.1", "wire_loss"),
    ];
    for (more, words) in table {
        let problems = Scenario::parse("t.toml", &with(more), &Overrides::default());
        let problems = problems.expect_err("it is refused").to_string();
        assert!(problems.contains(words), "{more}\n{problems}");
    }
}

#[test]
fn every_key_of_entropies_is_heard() {
    let config = read(&with(
        "[transport]\nrecovery = \"go-back-n\"\nreceiver = \"tolerant\"\nbits = 128\n\
         [entropy]\nkind = \"reps\"\nvalues = 256\nring = 16\nfreeze = \"5 ms\"\nexplore = 8",
    ))
    .config;
    assert_eq!(config.transport.receiver, Receiver::Tolerant { bits: 128 });
    let expected = EntropyConfig {
        kind: EntropyKind::Reps,
        values: 256,
        ring: 16,
        freeze: Span::ms(5),
        explore: 8,
        seed: 0,
    };
    assert_eq!(config.transport.entropy, expected);
    // The scheme learns from acknowledgements, so targets send them.
    let config = read(&with("[entropy]\nkind = \"mixed\"")).config;
    assert_eq!(config.congestion.ack_every, 1);
    assert_eq!((config.transport.entropy.values, config.transport.entropy.ring), (64, 8));
    let config = read(&with("[entropy]\nkind = \"oblivious\"")).config;
    assert_eq!(config.congestion.ack_every, 0);
    let hold = read(&with("[transport]\nreceiver = \"hold\"")).config.transport.receiver;
    assert_eq!(hold, Receiver::Hold { bits: Receiver::BITS_MAX });
    let warnings = read(&with("[entropy]\nkind = \"mixed\"")).warnings;
    assert!(warnings.iter().any(|it| it.starts_with("[entropy] changes nothing")), "{warnings:?}");
    let is_spraying = |more| read(&with(more)).config.transport.entropy.is_spraying();
    assert!(!is_spraying("[entropy]\nkind = \"flow\""));
    let livelock = "[transport]\nrecovery = \"go-back-n\"\nallow_reordering = true\n\
                    [entropy]\nkind = \"oblivious\"";
    assert!(is_spraying(livelock));
}

/// A permutation of 16 hosts in a fat tree, with packets over all paths and a target that takes them in
/// order only: no flow that has several paths finishes in 8 ms, as in htsim_roce with a round robin in
/// switches.
#[test]
fn the_livelock_that_has_to_be_allowed_is_one() {
    let text = |transport: &str| {
        format!(
            "duration = \"8 ms\"\nmtu = \"1564 B\"\n\
             [topology]\nkind = \"fat-tree\"\nk = 4\nrate = \"100 Gbps\"\ndelay = \"1 us\"\n\
             [routing]\nkind = \"ecmp\"\n\
             [switch]\nbuffer = \"1 MB\"\n[flow_control]\nkind = \"pfc\"\n\
             [traffic]\nkind = \"permutation\"\nsize = \"2 MB\"\n\
             [transport]\nrecovery = \"go-back-n\"\n{transport}\n\
             [entropy]\nkind = \"oblivious\"\n[verdict]\nstop_on = [\"done\"]\n"
        )
    };
    // Two hosts at one switch have one path.
    let has_paths = |config: &Config, flow: &Flow| {
        let switch = |host| config.topology.port(host, PortId(0)).peer;
        switch(flow.source) != switch(flow.target)
    };
    let finished = |transport: &str| {
        let config = read(&text(transport)).config;
        let outcome = run(&config);
        let both = config.flows.iter().zip(&outcome.flows);
        let both = both.filter(|(flow, _)| has_paths(&config, flow));
        let finished = both.clone().filter(|(_, it)| it.finish.is_some()).count();
        (finished, both.count(), outcome.refused.bytes)
    };
    let refused = Scenario::parse("t.toml", &text(""), &Overrides::default());
    let problems = refused.expect_err("it is refused").to_string();
    assert!(problems.contains("allow_reordering = true shows"), "{problems}");
    let (livelocked, all, again) = finished("allow_reordering = true");
    println!("in order: {livelocked} of {all} finish, {again:?} thrown away for 32 MB");
    assert!(livelocked == 0 && all >= 14);
    assert!(again > Bytes::mb(160), "{again:?}");
    assert_eq!(finished("receiver = \"hold\""), (all, all, Bytes::ZERO));
}

/// Where packets can get lost, flows that are never asked for their last packets again stay open.
#[test]
fn go_back_n_without_a_timeout_is_warned_of_where_packets_get_lost() {
    let warnings = |more: &str, control: &str| {
        let text = with(more).replace("kind = \"pfc\"", control);
        let mut warnings = read(&text).warnings.into_iter();
        warnings.any(|it| it.starts_with("transport.recovery = \"go-back-n\" has no timeout"))
    };
    let recovery = "[transport]\nrecovery = \"go-back-n\"\n";
    let (pfc, none) = ("kind = \"pfc\"", "kind = \"none\"");
    assert!(!warnings(recovery, pfc), "nothing is lost under PFC");
    assert!(warnings(recovery, none));
    assert!(warnings(&format!("{recovery}[timing]\nwire_loss = 0.01"), pfc));
    let one_port = "[[wire_loss]]\nports = [\"H2:S1\"]\nshare = 0.25";
    assert!(warnings(&format!("{recovery}{one_port}"), pfc));
    assert!(!warnings(&format!("{recovery}timeout = \"1 ms\""), none));
    assert!(!warnings("", none), "nobody has asked for recovery");
}
