//! `.far`: any text is parsed or refused, never anything else.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pauseless_dumps::import::ib;

fuzz_target!(|text: &str| {
    let _ = ib::far::parse(text);
});
