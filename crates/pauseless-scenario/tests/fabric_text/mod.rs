//! How the tests of wrong fabric files compare messages.
#![allow(dead_code, reason = "every test binary uses some of these")]

use expect_test::Expect;
use pauseless_scenario::fabric_file;
use pauseless_text::source::Source;

/// A fabric file without problems.
pub const GOOD: &str = r#"[topology]
kind = "custom"
rate = "10 Gbps"
delay = "1 us"
node = [
    { name = "S1", kind = "switch", guid = "0x1" },
    { name = "S2", kind = "switch" },
    { name = "H1", kind = "host" },
    { name = "H2", kind = "host" },
    { name = "H3", kind = "host" },
]
link = [
    { between = ["S1", "S2"], ports = ["P1", "P9"] },
    { between = ["S1", "S2"], ports = ["P2", ""] },
    { between = ["S1", "H1"] },
    { between = ["S2", "H2"] },
    { between = ["S2", "H3"] },
]
[routing]
kind = "tables"
[routing.tables.S1]
S2 = ["H2"]
"S2#2" = ["H2..H3"]
H1 = ["H1@1"]
[routing.tables.S2]
S1 = ["H1"]
H2 = ["H2"]
H3 = ["H3"]
"#;

/// A file of this text.
pub fn source(text: &str) -> Source {
    Source::from_bytes("t.toml", text.as_bytes().to_vec()).expect("UTF-8")
}

/// A text and the message that it must give.
pub fn check(text: &str, expected: Expect) {
    let problems = fabric_file::read(&source(text)).expect_err("something is wrong");
    expected.assert_eq(&format!("{problems}\n"));
}

/// The good file with `from` replaced.
pub fn check_edit(from: &str, to: &str, expected: Expect) {
    assert!(GOOD.contains(from), "{from}");
    check(&GOOD.replacen(from, to, 1), expected);
}

/// The good file with more behind it.
pub fn check_more(more: &str, expected: Expect) {
    check(&format!("{GOOD}{more}"), expected);
}
