#[path = "../tests/networks/mod.rs"]
mod networks;
use networks::*;
use pauseless_core::switch::Discipline;
use pauseless_core::unit::*;
fn main() {
    for d in Discipline::ALL {
        for s in Scheme::ALL {
            for seed in 1..=2 {
                for stop in [false, true] {
                    let mut c = gfc_ring(s, d, seed);
                    if std::env::args().nth(1).is_some() {
                        c.processing_jitter = Span::ns(400);
                    }
                    if stop {
                        stop_sources(&mut c, Time::ZERO + Span::ms(60));
                        c.duration = Span::s(8);
                    }
                    let t = std::time::Instant::now();
                    let o = pauseless_sim::run(&c);
                    let g: Vec<String> = o
                        .flows
                        .iter()
                        .map(|f| format!("{:.3}", f.goodput_late_bps / 1e9))
                        .collect();
                    println!(
                        "{:?} {:?} seed {seed} stop {stop}: dl {:?} cyc {} starved {} lost {} late {:?} maxq {} held {} pauses {} fb {:.4}% ev {} {:?} last {}",
                        d.name(),
                        s,
                        o.deadlock.as_ref().map(|d| d.time.to_string()),
                        o.deadlock.as_ref().map_or(0, |d| d.cycle.len()),
                        o.starved.len(),
                        o.lost_packets,
                        g,
                        o.queues.iter().map(|q| q.max).max().unwrap(),
                        o.held_at_end,
                        o.pause_frames,
                        o.feedback_share_max * 100.0,
                        o.events,
                        t.elapsed(),
                        o.last_arrival
                    );
                }
            }
        }
    }
}
