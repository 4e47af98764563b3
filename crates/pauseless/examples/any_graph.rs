//! Checks a network that is neither Ethernet nor InfiniBand, given as links and paths: the routers
//! of a chip in a mesh of 2 x 2, where a packet holds the buffer behind it until it has the next.
//!
//! Run it with `cargo run -p pauseless --example any_graph`.
//!
//! Turning clockwise at every corner closes a circle of buffers. Going along x first and along y
//! then, as chips do, has none.

use std::error::Error;

use pauseless::Fabric;
use pauseless::checks::text::report;
use pauseless::core::unit::{Rate, Span};
use pauseless::fabric::topology::LinkSpec;
use pauseless::text::terminal::Paint;

/// Each core hangs on its router; the routers are r00 r10 above r01 r11.
const LINKS: [[&str; 2]; 8] = [
    ["core00", "r00"],
    ["core10", "r10"],
    ["core01", "r01"],
    ["core11", "r11"],
    ["r00", "r10"],
    ["r10", "r11"],
    ["r11", "r01"],
    ["r01", "r00"],
];

/// Every packet to the opposite corner goes clockwise.
const CLOCKWISE: [&[&str]; 4] = [
    &["core00", "r00", "r10", "r11", "core11"],
    &["core10", "r10", "r11", "r01", "core01"],
    &["core11", "r11", "r01", "r00", "core00"],
    &["core01", "r01", "r00", "r10", "core10"],
];

/// The same packets, first along x, then along y.
const X_THEN_Y: [&[&str]; 4] = [
    &["core00", "r00", "r10", "r11", "core11"],
    &["core10", "r10", "r00", "r01", "core01"],
    &["core11", "r11", "r01", "r00", "core00"],
    &["core01", "r01", "r11", "r10", "core10"],
];

fn main() -> Result<(), Box<dyn Error>> {
    let wires = LinkSpec { rate: Rate::gbps(128), delay: Span::ns(1) };
    let mut fabric = Fabric::from_paths(&LINKS, wires, &CLOCKWISE)?;
    fabric.name = "clockwise".to_string();
    let verdict = pauseless::check(&fabric);
    print!("{}", report(&fabric, &verdict, Paint::Plain));
    assert!(verdict.is_cyclic());
    let cycle = &verdict.components[0].cycle;
    let buffers = cycle.hops.iter().map(|hop| fabric.port_name(hop.buffer.node, hop.buffer.port));
    println!("\nThe cycle, for a program: {}\n", Vec::from_iter(buffers).join(" -> "));
    assert_eq!((cycle.hops.len(), cycle.flows.len()), (4, 4));

    let mut fabric = Fabric::from_paths(&LINKS, wires, &X_THEN_Y)?;
    fabric.name = "x, then y".to_string();
    let verdict = pauseless::check(&fabric);
    print!("{}", report(&fabric, &verdict, Paint::Plain));
    assert!(!verdict.is_cyclic());

    let wrong = Fabric::from_paths(&LINKS, wires, &[["core00", "r00", "r11", "core11"]]);
    let wrong = wrong.expect_err("the mesh has no diagonals");
    println!("\nA path that cannot be: {wrong}");
    Ok(())
}
