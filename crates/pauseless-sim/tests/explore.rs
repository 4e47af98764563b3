mod networks;
use networks::congestion::*;
use pauseless_core::congestion::*;
use pauseless_core::unit::*;
use pauseless_sim::run;

#[test]
fn dumbbell() {
    let rtt = Span::us(498);
    let mut p500 = pcn::Config::default();
    p500.period = Span::us(500);
    for (control, ms) in schemes(rtt)
        .into_iter()
        .zip([60, 200, 200, 400])
        .chain([(CongestionControl::Pcn(p500), 100)])
    {
        let mut config = pcn_dumbbell(4, control);
        config.duration = Span::ms(ms);
        let outcome = run(&config);
        let t = &outcome.series.times;
        let agg: Vec<f64> = (0..t.len())
            .map(|i| {
                outcome
                    .series
                    .flows
                    .iter()
                    .map(|f| f.allowed_bps[i])
                    .sum::<f64>()
                    / 1e9
            })
            .collect();
        let q = &outcome.series.ports[0].egress;
        // Settled when within 10 % from then on.
        let settle = (0..t.len())
            .rev()
            .find(|i| (agg[*i] - 10.0).abs() > 1.0)
            .map(|i| t[i].as_ps() / 1_000_000);
        let first = (0..t.len())
            .find(|i| agg[*i] <= 10.5)
            .map(|i| t[i].as_ps() / 1_000_000);
        let qlow = (0..t.len())
            .find(|i| t[*i] > Time::ZERO + Span::ms(1) && q[*i] < 20_000)
            .map(|i| t[i].as_ps() / 1_000_000);
        let half = t.len() / 2;
        let mean_q = q[half..].iter().sum::<u64>() / (q.len() - half) as u64;
        println!(
            "{:7} first below {first:?} us, settled {settle:?}, queue low {qlow:?}, max q {:?}, mean q late {mean_q}, pauses {}, starts {:?}",
            control.name(),
            q.iter().max(),
            outcome.pause_frames,
            &agg[..30].iter().map(|x| *x as u32).collect::<Vec<_>>()
        );
        println!(
            "   flows {:?}",
            outcome
                .flows
                .iter()
                .map(|f| f.goodput_late_bps / 1e9)
                .collect::<Vec<_>>()
        );
        for k in 0..20 {
            let i = (t.len() - 1) * (k + 1) / 20;
            print!(" {:.1}/{}", agg[i], q[i] / 1000);
        }
        println!();
    }
}

#[test]
fn lot() {
    for n in [2, 4, 6, 8, 10] {
        for control in schemes(Span::us(20)) {
            let mut config = parking_lot(n, control);
            config.duration = Span::ms(60);
            let outcome = run(&config);
            let f: Vec<f64> = outcome
                .flows
                .iter()
                .map(|f| f.goodput_late_bps / 1e9)
                .collect();
            println!(
                "{n} {:7} F0 {:.2} want {:.2} F1 {:.2} sum {:.2} pauses {}",
                control.name(),
                f[0],
                40.0 / (n as f64 + 1.0),
                f[1],
                f[0] + f[1],
                outcome.pause_frames
            );
        }
    }
}

#[test]
fn scale() {
    for n in [4, 16, 64, 256, 1024] {
        for control in schemes(Span::us(498)) {
            let mut control = control;
            if let CongestionControl::Pcn(c) = &mut control {
                if n >= 64 {
                    c.w_min = 0.1 / n as f64;
                }
            }
            let mut config = pcn_dumbbell(n, control);
            config.duration = Span::ms(200);
            let t0 = std::time::Instant::now();
            let outcome = run(&config);
            let f: Vec<f64> = outcome
                .flows
                .iter()
                .map(|f| f.goodput_late_bps / 1e9)
                .collect();
            let s: f64 = f.iter().sum();
            let jain = s * s / (f.len() as f64 * f.iter().map(|x| x * x).sum::<f64>());
            let q = &outcome.series.ports[0].egress;
            let half = q.len() / 2;
            println!(
                "{n} {:7} util {:.3} jain {jain:.3} q late {} KB max {} KB pauses {} wall {:?}",
                control.name(),
                s / 10.0,
                q[half..].iter().sum::<u64>() / (q.len() - half) as u64 / 1000,
                q.iter().max().unwrap() / 1000,
                outcome.pause_frames,
                t0.elapsed()
            );
        }
    }
}
#[test]
fn timely64() {
    let mut config = pcn_fig1(schemes(Span::us(30))[3]);
    config.congestion.ack_every = 64;
    let outcome = run(&config);
    println!(
        "timely 64: {:?} pauses {}",
        outcome.tree, outcome.pause_frames
    );
    for name in ["H0:S0", "H1:S0", "S0:S1"] {
        let (node, port) = networks::port(&config, name);
        println!(
            "{name} {:?}",
            outcome
                .ports
                .iter()
                .find(|it| (it.node, it.port) == (node, port))
                .unwrap()
        );
    }
}
