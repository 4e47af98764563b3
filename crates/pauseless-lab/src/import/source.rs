//! The text of a file that somebody passed: unpacked, UTF-8 and within limits.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use flate2::read::MultiGzDecoder;

use crate::problem::{Problem, Problems};

/// A file, ready to be parsed.
#[derive(Clone, Debug)]
pub struct Source {
    /// As the user named it.
    pub file: String,
    /// Its text, unpacked if it was gzipped.
    pub text: String,
}

impl Source {
    /// Reads the file at `path`, gzipped or not.
    pub fn read(path: &Path) -> Result<Source, Problems> {
        let file = path.display().to_string();
        let refuse = |message: String, help: &str| Problems::of_file(&file, message, help);
        let unreadable = |error: io::Error| refuse(format!("cannot be read: {error}"), "");
        if path.is_dir() {
            return Err(refuse("a directory".to_string(), "name the files in it"));
        }
        let bytes = read_limited(File::open(path).map_err(unreadable)?).map_err(unreadable)?;
        Source::from_bytes(&file, bytes)
    }

    /// The same for what has been read already; messages call it `file`.
    pub fn from_bytes(file: &str, bytes: Vec<u8>) -> Result<Source, Problems> {
        let refuse = |message: String, help: &str| Problems::of_file(file, message, help);
        let bytes = match bytes.starts_with(&GZIP_MAGIC) {
            false => bytes,
            true => read_limited(MultiGzDecoder::new(&bytes[..])).map_err(|error| {
                let message = format!("cannot be unpacked: {error}");
                refuse(message, "is the gzip file complete?")
            })?,
        };
        if bytes.len() as u64 > FILE_MAX {
            let message = format!("larger than {} MiB, the limit", FILE_MAX >> 20);
            return Err(refuse(message, "is this the right file?"));
        }
        let text = String::from_utf8(bytes).map_err(|error| {
            let valid = error.utf8_error().valid_up_to();
            let text = String::from_utf8_lossy(error.as_bytes());
            let problem = Problem::new(valid..valid + 1, "not UTF-8 text");
            let problem = problem.help("is this the right file? save it as UTF-8");
            Problems::new(file, &text, vec![problem])
        })?;
        // Editors on Windows begin files with this mark; no format here knows it.
        let text = match text.strip_prefix('\u{feff}') {
            Some(rest) => rest.to_string(),
            None => text,
        };
        Ok(Source {
            file: file.to_string(),
            text,
        })
    }

    /// What is wrong with this file, with its name and its lines.
    pub fn refuse(&self, problem: Problem) -> Problems {
        Problems::new(&self.file, &self.text, vec![problem])
    }
}

/// One byte more than is allowed, so that the caller can tell.
fn read_limited(reader: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    reader.take(FILE_MAX + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The forwarding tables of 50,000 end ports on 3,000 switches.
const FILE_MAX: u64 = 4 << 30;
const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use std::io::Write;

    fn gzip(text: &str) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(text.as_bytes()).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn gzip_is_unpacked_even_in_several_members() {
        let mut bytes = gzip("one ");
        bytes.extend(gzip("two"));
        assert_eq!(Source::from_bytes("f", bytes).unwrap().text, "one two");
    }

    #[test]
    fn a_byte_order_mark_is_left_out() {
        let bytes = "\u{feff}CC_MODE 1".as_bytes().to_vec();
        assert_eq!(Source::from_bytes("f", bytes).unwrap().text, "CC_MODE 1");
    }

    #[test]
    fn what_cannot_be_text_is_refused_with_its_place() {
        let message = |bytes: &[u8]| {
            let error = Source::from_bytes("f", bytes.to_vec()).unwrap_err();
            error.to_string()
        };
        assert!(message(b"ab\ncd\xff\n").starts_with("pauseless: f:2:3: not UTF-8 text"));
        let whole = gzip("a text that is long enough to be cut");
        let cut = message(&whole[..whole.len() - 9]);
        assert!(cut.starts_with("pauseless: f: cannot be unpacked"), "{cut}");
    }
}
