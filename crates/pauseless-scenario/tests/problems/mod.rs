//! How the tests of wrong scenario files compare messages.
#![allow(dead_code, reason = "every test binary uses some of these")]

use std::path::Path;

use expect_test::Expect;
use pauseless_scenario::{Overrides, Scenario};

/// A scenario without problems.
pub const GOOD: &str = r#"duration = "1 ms"
[topology]
kind = "ring"
switches = 3
hosts_per_switch = 1
rate = "10 Gbps"
delay = "1 us"
[switch]
buffer = "1012 KB"
[flow_control]
kind = "pfc"
xoff = "800 KB"
[[flow]]
source = "H1"
target = "H3"
"#;

/// A text and the message that it must give.
pub fn check(text: &str, expected: Expect) {
    let problems = Scenario::parse("t.toml", text, &Overrides::default());
    let problems = problems.expect_err("something is wrong");
    expected.assert_eq(&format!("{problems}\n"));
}

/// The good file with `from` replaced.
pub fn check_edit(from: &str, to: &str, expected: Expect) {
    assert!(GOOD.contains(from), "{from}");
    check(&GOOD.replacen(from, to, 1), expected);
}

/// A file and the message that it must give.
pub fn check_file(path: &Path, expected: Expect) {
    let problems = Scenario::read(path, &Overrides::default()).expect_err("something is wrong");
    let text = problems.to_string().replace(&path.display().to_string(), "FILE");
    expected.assert_eq(&format!("{text}\n"));
}
