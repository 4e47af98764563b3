//! FRR's `show ip route json`: any text is parsed or refused, never anything else.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pauseless_dumps::import::ethernet;

fuzz_target!(|text: &str| {
    let _ = ethernet::routes::frr::parse(text);
});
