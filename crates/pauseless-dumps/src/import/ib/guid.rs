//! GUIDs, by which InfiniBand tells devices and ports apart.

use pauseless_text::lex::Word;
use pauseless_text::problem::Problem;

/// A GUID with the prefix `0x`.
pub(super) fn guid(word: Word<'_>) -> Result<u64, Problem> {
    let guid = word.prefixed_hex(u64::MAX, "a GUID");
    let guid =
        guid.map_err(|problem| problem.expected("a GUID: `0x` and at most 16 hexadecimal digits"))?;
    expect_device(word, guid)
}

/// A GUID without a prefix.
pub(super) fn bare_guid(word: Word<'_>) -> Result<u64, Problem> {
    let guid = word.hex(u64::MAX, "a GUID");
    let guid = guid.map_err(|problem| problem.expected("a GUID: at most 16 hexadecimal digits"))?;
    expect_device(word, guid)
}

fn expect_device(word: Word<'_>, guid: u64) -> Result<u64, Problem> {
    match guid {
        0 => Err(word
            .problem("a GUID of zero")
            .expected("a GUID")
            .help("no device has this GUID: was it read before the device answered?")),
        guid => Ok(guid),
    }
}
