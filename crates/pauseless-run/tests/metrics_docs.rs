//! Whether the tables of `docs/metrics.md` are those of the registry of results. Written anew with
//! `UPDATE_EXPECT=1 cargo test -p pauseless-run --test metrics_docs`.

use std::fs;
use std::path::Path;

use pauseless_run::results::listing;

#[test]
fn the_tables_of_metrics_are_those_of_the_registry() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/metrics.md");
    let text = fs::read_to_string(&path).expect("docs/metrics.md is there");
    let filled = listing::fill(&text).unwrap_or_else(|wrong| panic!("docs/metrics.md: {wrong}"));
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(&path, &filled).expect("docs/metrics.md can be written");
        return;
    }
    assert!(filled.contains("`held_ms{port}`"), "docs/metrics.md has lost the marks of its tables");
    assert!(
        text == filled,
        "docs/metrics.md is out of date; run UPDATE_EXPECT=1 cargo test -p pauseless-run --test metrics_docs"
    );
}
