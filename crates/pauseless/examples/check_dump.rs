//! Reads what `ibnetdiscover` and `dump_lfts.sh` print of an InfiniBand fabric, and checks whether it
//! can deadlock: once with the routes that it has, and once with up*/down* routing instead.
//!
//! Run it with `cargo run -p pauseless --example check_dump`, or with the files of your own fabric
//! behind `--`: `cargo run -p pauseless --example check_dump -- ibnetdiscover.out dump_lfts.out`.

use std::error::Error;
use std::path::{Path, PathBuf};

use pauseless::checks::text::report;
use pauseless::fabric::routing::{Algorithm, Multipath, Routing, TieBreak};
use pauseless::text::terminal::Paint;

/// A ring of four switches as OpenSM routes it with `-R minhop`.
const DUMPS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/ib/ring4-minhop");

fn main() -> Result<(), Box<dyn Error>> {
    let files = Vec::from_iter(std::env::args().skip(1).map(PathBuf::from));
    if !files.is_empty() {
        let fabric = pauseless::read_fabric(&files)?;
        print!("{}", report(&fabric, &pauseless::check(&fabric), Paint::Plain));
        return Ok(());
    }
    let files = ["ibnetdiscover.out", "dump_lfts.out"].map(|file| Path::new(DUMPS).join(file));
    let mut fabric = pauseless::read_fabric(&files)?;
    fabric.name = "ring4-minhop".to_string();
    let verdict = pauseless::check(&fabric);
    print!("{}", report(&fabric, &verdict, Paint::Plain));
    assert!(verdict.is_cyclic(), "ibdmchk finds a credit loop here, too");
    assert_eq!(verdict.up_down_helps, Some(true));

    fabric.route_by(Routing {
        algorithm: Algorithm::UpDown,
        multipath: Multipath::Single { tie_break: TieBreak::Lowest },
    });
    let verdict = pauseless::check(&fabric);
    print!("\nWith up*/down* routing:\n{}", report(&fabric, &verdict, Paint::Plain));
    assert!(!verdict.is_cyclic());

    // A file that is none is refused with what to pass instead.
    let refused = pauseless::read_fabric(&[Path::new(DUMPS).join("ibdmchk.verdict")]);
    println!("\nAnother file:\n{}", refused.expect_err("no dump"));
    Ok(())
}
