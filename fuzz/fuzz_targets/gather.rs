//! Any bytes as a file or an archive of files, packed or not: read within limits, and its files put
//! together to a fabric, or refused.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pauseless_check::read;
use pauseless_dumps::assemble::ethernet::Choices;
use pauseless_text::gather::Gathered;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(files) = Gathered::from_bytes("file", bytes, &read::is_known) {
        let _ = read::from_sources(&files.sources, Choices::default());
    }
});
