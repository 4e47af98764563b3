//! Plans the buffers of a fat tree at 400 Gb/s, and says for cables of several lengths which flow
//! control fits into which switch chip.
//!
//! Run it with `cargo run -p pauseless --example fat_tree_plan`.

use std::error::Error;

use pauseless::Request;
use pauseless::core::unit::Bytes;
use pauseless::plans::{Scheme, headroom};

const SCHEMES: [Scheme; 3] = [Scheme::Pfc, Scheme::Cbfc, Scheme::GfcBuffer];

fn main() -> Result<(), Box<dyn Error>> {
    let fabric = pauseless::shape("fat-tree:16,rate=400 Gbps")?;
    let verdict = pauseless::check(&fabric);
    assert!(!verdict.is_cyclic(), "a fat tree has no cycle");
    let (switches, hosts) = (fabric.topology.switches().len(), fabric.topology.host_count());
    println!("{}: {switches} switches of 16 ports, {hosts} hosts\n", fabric.name);

    println!("{:>8} {:>8} {:>14} {:>14} {:>14}", "buffer", "cables", "pfc", "cbfc", "gfc-buffer");
    let mut fitting = Vec::new();
    for megabytes in [4, 16, 64] {
        for metres in [3, 100, 2_000] {
            let request = Request {
                buffer: Bytes::mb(megabytes),
                wire: Some(headroom::cable(metres)),
                classes: Some(2),
                ..Request::default()
            };
            let plan = pauseless::plan(&fabric, &request)?;
            let needs = SCHEMES.map(|scheme| {
                let need = plan.switches[0].scheme(scheme).need;
                let says = if plan.fits(scheme) { "fits" } else { "no" };
                format!("{:>6} KB {says:<4}", need.get() / 1_000)
            });
            println!("{megabytes:>5} MB {metres:>6} m {}", needs.join(" "));
            fitting.push(plan.fits(Scheme::Pfc));
        }
    }
    // More buffer never hurts, longer cables never help.
    assert_eq!(fitting.first(), Some(&true));
    for (at, fits) in fitting.iter().enumerate() {
        assert!(!fits || at % 3 == 0 || fitting[at - 1], "a longer cable helped");
        assert!(!fits || at + 3 >= fitting.len() || fitting[at + 3], "more buffer hurt");
    }
    assert!(fitting.contains(&false), "some of these do not fit");
    Ok(())
}
