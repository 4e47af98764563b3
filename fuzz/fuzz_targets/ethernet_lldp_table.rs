//! SONiC's `show lldp table`: any text is parsed or refused, never anything else.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pauseless_dumps::import::ethernet;

fuzz_target!(|text: &str| {
    let _ = ethernet::lldp::parse_table(text);
});
