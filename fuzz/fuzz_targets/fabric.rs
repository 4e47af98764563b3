//! Any file, gzipped or not: recognised, read and put together to a fabric, or refused. Files of one
//! fabric are separated by a line with three percent signs.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pauseless_check::read;
use pauseless_dumps::assemble::ethernet::Choices;
use pauseless_text::source::Source;

fuzz_target!(|bytes: &[u8]| {
    let mut sources = Vec::new();
    let mut rest = bytes;
    loop {
        let end = rest.windows(4).position(|window| window == b"%%%\n");
        let file = &rest[..end.unwrap_or(rest.len())];
        match Source::from_bytes("file", file.to_vec()) {
            Ok(source) => sources.push(source),
            Err(_) => return,
        }
        match end {
            Some(end) => rest = &rest[end + 4..],
            None => break,
        }
    }
    let _ = read::from_sources(&sources, Choices::default());
});
