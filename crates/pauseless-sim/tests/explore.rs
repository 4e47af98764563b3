mod networks;
use networks::congestion::*;
use pauseless_core::congestion::*;
use pauseless_core::unit::*;
use pauseless_sim::run;

#[test]
fn fig1_steady() {
    let all = schemes(Span::us(30));
    let t = all[3];
    let mut qs = qcn::Config::default();
    qs.reference = Some(Rate::gbps(10));
    qs.sample_base = Bytes::kb(100);
    for warm in [0u64, 50, 200] { 
    for (name, control, every) in [("none", CongestionControl::None, 0), ("pcn", all[0], 0), ("qcn", all[1], 0), ("qcn scaled", CongestionControl::Qcn(qs), 0), ("dcqcn", all[2], 0), ("timely64", t, 64), ("timely1", t, 1)] {
        let mut config = pcn_fig1(control);
        config.congestion.ack_every = every;
        config.duration = Span::ms(warm + 100);
        for flow in &mut config.flows { if flow.name.starts_with('B') { flow.start = flow.start + Span::ms(warm); } }
        let burst = BURST + Span::ms(warm);
        let outcome = run(&config);
        println!("{warm} {name}: tree {} us, links {} hosts {} pauses {}", outcome.tree.duration.as_ps()/1000000, outcome.tree.links_max, outcome.tree.hosts, outcome.pause_frames);
        for name in ["H0:S0", "H1:S0", "S0:S1"] {
            let (node, port) = networks::port(&config, name);
            let p = outcome.ports.iter().find(|it| (it.node, it.port) == (node, port)).unwrap();
            print!("   {name} pauses {} held {:?} {:?} {:?}", p.pauses, p.held.as_ps()/1000000, p.held_first.map(|t| t.saturating_since(burst).as_ps()/1000000), p.held_last.map(|t| t.saturating_since(burst).as_ps()/1000000));
        }
        let f = &outcome.series.flows;
        let ts = &outcome.series.times;
        let loss = (0..ts.len()).filter(|i| ts[*i] > burst && f[0].goodput_bps[*i] + f[1].goodput_bps[*i] < 36e9).count() * 50;
        let last = (0..ts.len()).filter(|i| ts[*i] > burst && f[0].goodput_bps[*i] + f[1].goodput_bps[*i] < 36e9).last();
        println!("  loss {loss} us, last {:?}; F0 allowed min {:.2} ", last.map(|i| (ts[i] - burst).as_ps()/1000000), (0..ts.len()).filter(|i| ts[*i] > burst).map(|i| f[0].allowed_bps[i]).fold(1e12, f64::min) / 1e9);
        let before = (0..ts.len()).filter(|i| ts[*i] < burst && ts[*i] + Span::ms(10) > burst).collect::<Vec<_>>();
        println!("   before: F0 {:.1} F1 {:.1}", before.iter().map(|i| f[0].goodput_bps[*i]).sum::<f64>() / before.len() as f64 / 1e9, before.iter().map(|i| f[1].goodput_bps[*i]).sum::<f64>() / before.len() as f64 / 1e9);
    } }
}

#[test]
fn lot() {
    for n in [2u32, 4, 6, 8, 10] {
        for t in [50, 120] {
          for seed in [1, 2] {
            let mut c = pcn::Config::default();
            c.period = Span::us(t);
            let mut config = parking_lot(n, CongestionControl::Pcn(c));
            config.seed = seed;
            for (i, f) in config.flows.iter_mut().enumerate() { f.start = f.start + Span::ns(137 * seed * i as u64); }
            config.duration = Span::ms(400);
            config.probes.resolution = Span::ms(1);
            config.probes.flows = vec![networks::flow(&config, "F00"), networks::flow(&config, "F01")];
            let outcome = run(&config);
            let f: Vec<f64> = outcome.series.flows.iter().map(|f| f.goodput_bps[100..].iter().sum::<f64>() / 300e9).collect();
            println!("{n} T {t} F0 {:.2} want {:.2} ({:+.0} %) F1 {:.2} sum {:.2} pauses {}", f[0], 40.0 / (n as f64 + 1.0), (f[0] / 40.0 * (n as f64 + 1.0) - 1.0) * 100.0, f[1], f[0] + f[1], outcome.pause_frames);
        } }
    }
}

#[test]
fn scale() {
    for (n, gbps, ms) in [(16usize, 40u64, 200), (64, 40, 400), (64, 100, 200), (64, 100, 600)] {
        for (t, w, start) in [(500, 0.1 / n as f64, 1), (500, 1.0/128.0, 1)] {
            let mut c = pcn::Config::default();
            c.period = Span::us(t);
            c.w_min = w;
            let mut config = dumbbell_at(n, gbps, CongestionControl::Pcn(c));
            config.duration = Span::ms(ms);
            if start == 1 {
                for (i, flow) in config.flows.iter_mut().enumerate() {
                    if let pauseless_sim::config::Reaction::Controlled { initial, .. } = &mut flow.reaction {
                        *initial = Rate::mbps((gbps * 1000 / n as u64) * if i % 2 == 0 { 3 } else { 1 } / 2);
                    }
                }
            }
            let t0 = std::time::Instant::now();
            let outcome = run(&config);
            let f: Vec<f64> = outcome.flows.iter().map(|f| f.goodput_late_bps / 1e9).collect();
            let s: f64 = f.iter().sum();
            let jain = s * s / (f.len() as f64 * f.iter().map(|x| x * x).sum::<f64>());
            let q = &outcome.series.ports[0].egress;
            let half = q.len() / 2;
            println!("{n} {gbps}G {ms} ms T {t} w {w:.5} start {start} util {:.3} jain {jain:.3} q late {} KB max late {} KB max {} KB pauses {} wall {:?}", s / gbps as f64, q[half..].iter().sum::<u64>() / (q.len() - half) as u64 / 1000, q[half..].iter().max().unwrap()/1000, q.iter().max().unwrap() / 1000, outcome.pause_frames, t0.elapsed());
        }
    }
}
