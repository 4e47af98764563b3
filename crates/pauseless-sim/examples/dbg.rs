#[path = "../tests/networks/mod.rs"]
mod networks;
use networks::*;
use pauseless_core::flow_control::*;
use pauseless_core::switch::Discipline;
use pauseless_core::unit::*;
fn show(tag: &str, c: &pauseless_sim::Config) {
    let o = pauseless_sim::run(c);
    let g: Vec<String> = o
        .flows
        .iter()
        .map(|f| format!("{:.3}", f.goodput_late_bps / 1e9))
        .collect();
    println!(
        "{tag}: dl {:?} starved {} lost {} late {:?} maxq {} fb {:.4}%",
        o.deadlock.as_ref().map(|d| d.time.to_string()),
        o.starved.len(),
        o.lost_packets,
        g,
        o.queues.iter().map(|q| q.max).max().unwrap(),
        o.feedback_share_max * 100.0
    );
}
fn main() {
    for s in [Scheme::Pfc, Scheme::Cbfc] {
        for zero in [true, false] {
            for j in [0, 400] {
                for seed in 1..=4 {
                    let mut c = gfc_ring(s, Discipline::InputQueued, seed);
                    c.wire_jitter = Span::ns(j);
                    c.duration = Span::ms(300);
                    c.stop_on_deadlock = true;
                    if zero {
                        for f in &mut c.flows {
                            f.start = Time::ZERO;
                        }
                    }
                    show(&format!("IQ {s:?} zero {zero} jitter {j} seed {seed}"), &c);
                }
            }
        }
    }
    for s in [Scheme::GfcBuffer, Scheme::GfcTime] {
        for d in Discipline::ALL {
            for j in [0, 400] {
                for seed in 1..=2 {
                    let mut c = gfc_ring(s, d, seed);
                    c.wire_jitter = Span::ns(j);
                    show(&format!("{} {s:?} jitter {j} seed {seed}", d.name()), &c);
                }
            }
        }
    }
    for d in Discipline::ALL {
        for j in [0, 400] {
            let mut c = gfc_ring(Scheme::GfcBuffer, d, 1);
            c.wire_jitter = Span::ns(j);
            make_cycle_aware(&mut c, early_buffer(Bytes::kb(400), Bytes::kb(150)));
            show(&format!("{} CA buffer 400/150 j {j}", d.name()), &c);
            let mut c = gfc_ring(Scheme::GfcTime, d, 1);
            c.wire_jitter = Span::ns(j);
            make_cycle_aware(&mut c, early_time(Bytes::kb(400), Bytes::kb(20)));
            show(&format!("{} CA time 400/20 j {j}", d.name()), &c);
            let mut c = gfc_ring(Scheme::Pfc, d, 1);
            c.wire_jitter = Span::ns(j);
            make_cycle_aware(
                &mut c,
                FlowControl::Pfc(pfc::Config {
                    xoff: Bytes::kb(200),
                    xon: Bytes::kb(197),
                    quanta: 65535,
                }),
            );
            show(&format!("{} CA pfc 200 j {j}", d.name()), &c);
        }
    }
}
