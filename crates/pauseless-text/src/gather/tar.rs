//! The members of a tar archive (POSIX ustar and pax, GNU's long names), one after the other.

use std::io::{self, Read};

/// The size of a header, and what members are filled up to.
pub(super) const BLOCK: usize = 512;

/// Whether these first bytes are the header of a member.
pub(super) fn is_header(start: &[u8]) -> bool {
    start.first_chunk().is_some_and(has_sum)
}

/// The members of an archive.
pub(super) struct Members<R> {
    reader: R,
    /// Bytes until the next header: those of the open member, and what fills it up.
    left: u64,
    filling: u64,
}

/// A member, which reads its own bytes.
pub(super) struct Member<'m, R> {
    pub(super) name: String,
    /// Whether it has bytes of its own, and is no link, device or folder.
    pub(super) is_file: bool,
    pub(super) is_folder: bool,
    members: &'m mut Members<R>,
}

impl<R: Read> Read for Member<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Members { reader, left, .. } = &mut *self.members;
        let length = reader.by_ref().take(*left).read(buffer)?;
        if length == 0 && *left > 0 && !buffer.is_empty() {
            return Err(cut());
        }
        *left -= length as u64;
        Ok(length)
    }
}

/// What headers before that of a member say of it.
#[derive(Default)]
struct Ahead {
    name: Option<String>,
    size: Option<u64>,
}

impl<R: Read> Members<R> {
    pub(super) fn new(reader: R) -> Members<R> {
        Members { reader, left: 0, filling: 0 }
    }

    /// The next member; `None` at the end.
    pub(super) fn next(&mut self) -> io::Result<Option<Member<'_, R>>> {
        let mut ahead = Ahead::default();
        loop {
            self.skip()?;
            let Some(header) = self.header()? else {
                return Ok(None);
            };
            let size = match ahead.size.take() {
                Some(size) => size,
                None => number(&header[124..136])?,
            };
            self.left = size;
            self.filling = (BLOCK as u64 - size % BLOCK as u64) % BLOCK as u64;
            let kind = header[156];
            match kind {
                b'L' => ahead.name = Some(text(&self.extension(size)?)),
                b'x' => pax(&self.extension(size)?, &mut ahead)?,
                // A long target of a link, or what counts for all members.
                b'K' | b'g' => {}
                b'S' => {
                    return Err(broken("sparse members are not read: make it without --sparse"));
                }
                _ => {
                    let name = ahead.name.take().unwrap_or_else(|| name(&header));
                    let is_folder = kind == b'5' || name.ends_with('/');
                    let is_file = matches!(kind, b'0' | 0 | b'7') && !is_folder;
                    return Ok(Some(Member { name, is_file, is_folder, members: self }));
                }
            }
        }
    }

    /// Passes by what is left of the open member.
    fn skip(&mut self) -> io::Result<()> {
        let left = self.left.saturating_add(self.filling);
        let passed = io::copy(&mut self.reader.by_ref().take(left), &mut io::sink())?;
        // Some programs leave out what fills up the last member.
        if passed < self.left {
            return Err(cut());
        }
        (self.left, self.filling) = (0, 0);
        Ok(())
    }

    /// The next header; `None` at the end of the archive, which is a block of zeros or of the file.
    fn header(&mut self) -> io::Result<Option<[u8; BLOCK]>> {
        let mut header = Vec::with_capacity(BLOCK);
        self.reader.by_ref().take(BLOCK as u64).read_to_end(&mut header)?;
        if header.is_empty() || header.iter().all(|byte| *byte == 0) {
            return Ok(None);
        }
        let Some(header) = header.first_chunk().copied() else {
            return Err(cut());
        };
        if !has_sum(&header) {
            return Err(broken("the header of a member is broken"));
        }
        Ok(Some(header))
    }

    /// The bytes of a header that is written as a member.
    fn extension(&mut self, size: u64) -> io::Result<Vec<u8>> {
        if size > EXTENSION_MAX {
            return Err(broken("the header of a member is too large"));
        }
        let mut bytes = Vec::new();
        self.reader.by_ref().take(size).read_to_end(&mut bytes)?;
        if (bytes.len() as u64) < size {
            return Err(cut());
        }
        self.left = 0;
        Ok(bytes)
    }
}

pub(super) fn broken(message: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, message.into())
}

fn cut() -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, "the archive ends within a member")
}

/// Whether the sum of a header is right: that of its bytes with blanks for the sum.
fn has_sum(header: &[u8; BLOCK]) -> bool {
    let Ok(said) = number(&header[148..156]) else {
        return false;
    };
    let blanks = 8 * u64::from(b' ');
    let others = header[..148].iter().chain(&header[156..]);
    header[0] != 0 && said == blanks + others.map(|byte| u64::from(*byte)).sum::<u64>()
}

/// A number in octal digits, or in the bits of the field if the first one is set.
fn number(field: &[u8]) -> io::Result<u64> {
    let wrong = || broken("a number in a header is broken");
    if field.first().is_some_and(|first| first & 0x80 != 0) {
        let (start, rest) = field.split_at(field.len() - 8);
        let is_zero =
            start.iter().enumerate().all(|(at, byte)| *byte == if at == 0 { 0x80 } else { 0 });
        let bytes = rest.try_into().map_err(|_| wrong())?;
        return if is_zero { Ok(u64::from_be_bytes(bytes)) } else { Err(wrong()) };
    }
    let text = std::str::from_utf8(field).map_err(|_| wrong())?;
    let digits = text.trim_matches(['\0', ' ']);
    if digits.is_empty() { Ok(0) } else { u64::from_str_radix(digits, 8).map_err(|_| wrong()) }
}

/// The name in a header, with what is written before it.
fn name(header: &[u8; BLOCK]) -> String {
    let name = text(&header[..100]);
    let has_prefix = header[257..].starts_with(b"ustar\0");
    let prefix = if has_prefix { text(&header[345..500]) } else { String::new() };
    if prefix.is_empty() { name } else { format!("{prefix}/{name}") }
}

/// A text up to its first zero.
fn text(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}

/// Records such as `18 path=some/file\n`, each with its own length in front.
fn pax(bytes: &[u8], ahead: &mut Ahead) -> io::Result<()> {
    let wrong = || broken("the header of a member is broken");
    let mut rest = bytes;
    while !rest.is_empty() {
        let blank = rest.iter().position(|byte| *byte == b' ').ok_or_else(wrong)?;
        let length = std::str::from_utf8(&rest[..blank]).ok().and_then(|text| text.parse().ok());
        let length: usize = length.ok_or_else(wrong)?;
        let record = rest.get(blank + 1..length.saturating_sub(1)).ok_or_else(wrong)?;
        rest = rest.get(length..).ok_or_else(wrong)?;
        let equals = record.iter().position(|byte| *byte == b'=').ok_or_else(wrong)?;
        let (key, value) = (&record[..equals], &record[equals + 1..]);
        match key {
            b"path" => ahead.name = Some(text(value)),
            b"size" => {
                let size = std::str::from_utf8(value).ok().and_then(|text| text.parse().ok());
                ahead.size = Some(size.ok_or_else(wrong)?);
            }
            key if key.starts_with(b"GNU.sparse") => {
                return Err(broken("sparse members are not read: make it without --sparse"));
            }
            _ => {}
        }
    }
    Ok(())
}

/// The longest header that is written as a member; names are far shorter.
const EXTENSION_MAX: u64 = 1 << 20;
