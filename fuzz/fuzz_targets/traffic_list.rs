//! A list of flows: any text is rows or refused, and what is accepted is the same when it is written
//! out.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use pauseless_scenario::{Overrides, Scenario};

/// The reader wants a file; one for each process.
static FILE: LazyLock<std::path::PathBuf> = LazyLock::new(|| {
    let name = format!("pauseless-fuzz-list-{}.txt", std::process::id());
    std::env::temp_dir().join(name)
});

fuzz_target!(|bytes: &[u8]| {
    std::fs::write(&*FILE, bytes).expect("a temporary file");
    let text = format!(
        "duration = \"20 us\"\n\
         [topology]\nkind = \"n-to-1\"\nsenders = 2\nrate = \"10 Gbps\"\ndelay = \"1 us\"\n\
         [flow_control]\nkind = \"none\"\n\
         [traffic]\nkind = \"list\"\nfile = '{}'\n",
        FILE.display()
    );
    if let Ok(scenario) = Scenario::parse("t", &text, &Overrides::default()) {
        let again = Scenario::parse("t", &scenario.resolved(), &Overrides::default());
        let again = again.unwrap_or_else(|problems| panic!("{problems}"));
        assert_eq!(format!("{:?}", scenario.config), format!("{:?}", again.config));
    }
});
