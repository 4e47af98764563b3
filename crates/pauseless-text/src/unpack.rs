//! Packed bytes: gzip, xz and zstd, told by their first bytes.

use std::cell::Cell;
use std::fmt;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::rc::Rc;

use flate2::read::MultiGzDecoder;
use lzma_rust2::XzReader;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

/// How bytes are packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Packing {
    Gzip,
    Xz,
    Zstd,
}

impl fmt::Display for Packing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Packing::Gzip => "gzip",
            Packing::Xz => "xz",
            Packing::Zstd => "zstd",
        })
    }
}

/// The bytes that are packed in `reader`, or its own if they are not packed.
pub(crate) fn decoded<'r>(
    mut reader: impl Read + 'r,
) -> io::Result<(Box<dyn Read + 'r>, Option<Packing>)> {
    let mut start = Vec::new();
    reader.by_ref().take(MAGIC_MAX).read_to_end(&mut start)?;
    let is = |magic: &[u8]| start.starts_with(magic);
    let packing = if is(&[0x1f, 0x8b]) {
        Some(Packing::Gzip)
    } else if is(&[0xfd, b'7', b'z', b'X', b'Z', 0]) {
        Some(Packing::Xz)
    } else if is(&ZSTD_FRAME) {
        Some(Packing::Zstd)
    } else {
        None
    };
    let whole = Cursor::new(start).chain(reader);
    let reader: Box<dyn Read + 'r> = match packing {
        Some(Packing::Gzip) => Box::new(MultiGzDecoder::new(whole)),
        Some(Packing::Xz) => Box::new(XzReader::new_mem_limit(whole, true, XZ_MEMORY_KIB)),
        Some(Packing::Zstd) => Box::new(Zstd::new(whole)),
        None => Box::new(whole),
    };
    Ok((reader, packing))
}

/// Passes bytes on, and counts them.
pub(crate) struct Counting<R> {
    inner: R,
    count: Rc<Cell<u64>>,
}

impl<R: Read> Counting<R> {
    /// The reader with its count.
    pub(crate) fn new(inner: R) -> (Counting<R>, Rc<Cell<u64>>) {
        let count = Rc::new(Cell::new(0));
        (Counting { inner, count: Rc::clone(&count) }, count)
    }
}

impl<R: Read> Read for Counting<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.inner.read(buffer)?;
        self.count.set(self.count.get() + length as u64);
        Ok(length)
    }
}

/// All frames of a zstd file, one after the other.
struct Zstd<R: Read> {
    reader: BufReader<R>,
    decoder: FrameDecoder,
    /// Whether a frame is open.
    is_open: bool,
}

impl<R: Read> Zstd<R> {
    fn new(reader: R) -> Zstd<R> {
        let mut decoder = FrameDecoder::new();
        decoder.set_max_window_size(ZSTD_WINDOW);
        Zstd { reader: BufReader::new(reader), decoder, is_open: false }
    }

    /// Opens the next frame, unless the file ends here.
    fn open(&mut self) -> io::Result<bool> {
        while !self.reader.fill_buf()?.is_empty() {
            match self.decoder.reset(&mut self.reader) {
                Ok(()) => {
                    self.is_open = true;
                    return Ok(true);
                }
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                    length,
                    ..
                })) => {
                    io::copy(&mut self.reader.by_ref().take(length.into()), &mut io::sink())?;
                }
                Err(error) => return Err(invalid(error)),
            }
        }
        Ok(false)
    }

    /// The frame that ends must have the sum that it says.
    fn close(&mut self) -> io::Result<()> {
        self.is_open = false;
        let said = self.decoder.get_checksum_from_data();
        if said.is_some() && said != self.decoder.get_calculated_checksum() {
            return Err(invalid("the checksum is wrong"));
        }
        Ok(())
    }
}

impl<R: Read> Read for Zstd<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if !self.is_open && !self.open()? {
                return Ok(0);
            }
            let length = self.decoder.read(buffer)?;
            if length > 0 || buffer.is_empty() {
                return Ok(length);
            }
            if self.decoder.is_finished() {
                self.close()?;
                continue;
            }
            let some = BlockDecodingStrategy::UptoBytes(buffer.len());
            self.decoder.decode_blocks(&mut self.reader, some).map_err(invalid)?;
        }
    }
}

fn invalid(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}

const ZSTD_FRAME: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
const MAGIC_MAX: u64 = 6;
/// What `xz -9` needs to unpack, and twice as much.
const XZ_MEMORY_KIB: u32 = 128 << 10;
/// What `zstd --long` needs.
const ZSTD_WINDOW: u64 = 128 << 20;
