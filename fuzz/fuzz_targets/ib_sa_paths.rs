//! saquery's `PathRecord`s: any text is parsed or refused, never anything else.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pauseless_dumps::import::ib;

fuzz_target!(|text: &str| {
    let _ = ib::saquery::paths::parse(text);
});
