//! The catalogue in the documentation is what the declarations say.

use pauseless_lint::catalogue;

#[test]
fn the_catalogue_is_current() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/lint-rules.md");
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(path, catalogue::document()).unwrap();
    }
    let found = std::fs::read_to_string(path).unwrap_or_default();
    assert!(found == catalogue::document(), "docs/lint-rules.md is old: UPDATE_EXPECT=1");
}
