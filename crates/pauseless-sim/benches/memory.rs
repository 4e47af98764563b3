//! How large an incast a switch absorbs before it pauses anybody, by the division of its memory:
//! `cargo bench -p pauseless-sim --bench memory`. The tables of docs/buffers.md.

#[path = "../tests/networks/mod.rs"]
mod networks;

use networks::MTU;
use networks::memory::{derived_headroom, incast, pool, share};
use pauseless_core::flow_control::{FlowControl, pfc};
use pauseless_core::id::{Class, PortId};
use pauseless_core::memory::{Alpha, Threshold};
use pauseless_core::unit::{Bytes, Span, Time};
use pauseless_sim::config::Ingress;
use pauseless_sim::{Config, Outcome, run};

/// The whole memory of the switch, which has 16 ports for senders and one for the sink.
const TOTAL: Bytes = Bytes::mb(2);
const SENDERS: u32 = 16;

/// How the memory is divided.
#[derive(Clone, Copy)]
enum Division {
    Private,
    Shared(Threshold),
}

fn main() {
    let pool_size = pool_size();
    let alpha = |n, d| Threshold::Dynamic(Alpha::new(n, d).expect("positive"));
    let quarter = Bytes::new(pool_size.get() / 4);
    let divisions = [
        ("private", Division::Private),
        ("static 1/4", Division::Shared(Threshold::Static(quarter))),
        ("alpha 1/8", Division::Shared(alpha(1, 8))),
        ("alpha 1", Division::Shared(alpha(1, 1))),
        ("alpha 8", Division::Shared(alpha(8, 1))),
    ];
    println!(
        "{SENDERS} + 1 ports of 10 Gb/s, {TOTAL} in all, {} of headroom each; a pool of {pool_size}",
        headroom()
    );
    let heads = divisions.map(|(name, _)| format!("{name:>11}")).concat();
    println!("\nlargest burst of each sender without a PAUSE, in KB\nsenders{heads}");
    let counts = [1, 2, 4, 8, 16];
    for senders in counts {
        let cells = divisions.map(|(_, division)| {
            let most = Bytes::new(absorbed(division, senders) * MTU.get());
            format!("{:>11.1}", most.get() as f64 / 1e3)
        });
        println!("{senders:>7}{}", cells.concat());
    }
    println!("\nPAUSE frames of a burst of 300 KB from each sender\nsenders{heads}");
    for senders in counts {
        let cells = divisions.map(|(_, division)| {
            let outcome = burst(division, senders, 200);
            assert_eq!(outcome.lost_packets, 0, "lossless");
            format!("{:>11}", outcome.pause_frames)
        });
        println!("{senders:>7}{}", cells.concat());
    }
}

/// The most packets from each of so many senders at which nobody is paused, up to 1,024.
fn absorbed(division: Division, senders: u32) -> u64 {
    let (mut good, mut bad) = (0, 1_025);
    while good + 1 < bad {
        let middle = (good + bad) / 2;
        match burst(division, senders, middle).pause_frames {
            0 => good = middle,
            _ => bad = middle,
        }
    }
    good
}

/// So many packets from each of the first `senders` at once.
fn burst(division: Division, senders: u32, packets: u64) -> Outcome {
    let mut config = incast(SENDERS);
    config.flows.truncate(senders as usize);
    for flow in &mut config.flows {
        flow.start = Time::ZERO;
        flow.size = MTU * packets;
    }
    config.duration = Span::ms(50);
    match division {
        Division::Private => give_each_its_own(&mut config),
        Division::Shared(threshold) => {
            let division = pool(&config, pool_size(), threshold);
            share(&mut config, &division);
        }
    }
    run(&config)
}

fn give_each_its_own(config: &mut Config) {
    let switch = config.topology.switches()[0];
    let ports = config.topology.ports(switch).len();
    let buffer = Bytes::new(TOTAL.get() / ports as u64);
    let xoff = buffer.saturating_sub(headroom());
    let control = FlowControl::Pfc(pfc::Config {
        xoff,
        xon: pfc::default_xon(xoff, MTU),
        quanta: pfc::QUANTA_MAX,
    });
    for port in (0..ports).map(|port| PortId(port as u16)) {
        *config.ingress.get_mut(switch, port, Class(0)) = Ingress { control, buffer };
    }
}

fn headroom() -> Bytes {
    let config = incast(SENDERS);
    derived_headroom(&config, config.topology.switches()[0], PortId(0))
}

fn pool_size() -> Bytes {
    TOTAL.saturating_sub(headroom() * u64::from(SENDERS + 1))
}
