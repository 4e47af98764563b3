//! The text of a file that somebody passed: unpacked, UTF-8 and within limits.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;

use crate::problem::{Problem, Problems};

/// A file, ready to be parsed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// The path of the file, as the user named it.
    pub file: String,
    /// Its text, unpacked if it was gzipped.
    pub text: String,
}

impl Source {
    /// Reads the file at `path`, gzipped or not, or what comes through a pipe.
    pub fn read(path: &Path) -> Result<Source, Problems> {
        Source::read_within(path, FILE_MAX)
    }

    /// Reads all of these files, until one cannot be read.
    pub fn read_all(paths: &[PathBuf]) -> Result<Vec<Source>, Problems> {
        paths.iter().map(|path| Source::read(path)).collect()
    }

    /// Reads a file of at most `limit` bytes, packed and unpacked.
    pub fn read_within(path: &Path, limit: u64) -> Result<Source, Problems> {
        let file = path.display().to_string();
        match load(path, limit) {
            Ok(text) => Ok(Source { file, text }),
            Err(flaw) => Err(flaw.problems(&file)),
        }
    }

    /// The same for a file that another one names: what is wrong, for the place where it is named.
    /// It may be read any number of times, so pipes are refused, which would make somebody wait for
    /// ever.
    pub fn read_named(path: &Path, limit: u64) -> Result<Source, String> {
        let file = path.display().to_string();
        let text = match fs::metadata(path) {
            Ok(found) if !found.is_file() => Err(Flaw::NoFile),
            _ => load(path, limit),
        };
        match text {
            Ok(text) => Ok(Source { file, text }),
            Err(flaw) => Err(flaw.sentence(&file)),
        }
    }

    /// Takes bytes that have been read already; messages call them `file`.
    pub fn from_bytes(file: &str, bytes: Vec<u8>) -> Result<Source, Problems> {
        match unpack(bytes, FILE_MAX) {
            Ok(text) => Ok(Source { file: file.to_string(), text }),
            Err(flaw) => Err(flaw.problems(file)),
        }
    }

    /// What to call what is in it: the name of the file without folder and ending, packed or not.
    pub fn stem(&self) -> String {
        let path = Path::new(&self.file);
        let path = match path.extension() {
            Some(ending) if ending == "gz" => path.with_extension(""),
            _ => path.to_path_buf(),
        };
        path.file_stem().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
    }

    /// What is wrong with this file, with its name and its lines.
    pub fn refuse(&self, problem: Problem) -> Problems {
        Problems::new(&self.file, &self.text, vec![problem])
    }
}

/// Why there is no text.
enum Flaw {
    Directory,
    NoFile,
    Unreadable(io::Error),
    Packed(io::Error),
    TooLarge { limit: u64 },
    NotText { valid: usize, text: String },
}

impl Flaw {
    /// As a report on the file itself.
    fn problems(self, file: &str) -> Problems {
        let (message, help) = match self {
            Flaw::Directory => ("a directory, not a file".to_string(), "name a file in it"),
            Flaw::NoFile => ("not a file".to_string(), ""),
            Flaw::Unreadable(error) => (format!("cannot be read: {error}"), ""),
            Flaw::Packed(error) => {
                (format!("cannot be unpacked: {error}"), "is the gzip file complete?")
            }
            Flaw::TooLarge { limit } => {
                (format!("larger than {} MiB, the limit", limit >> 20), "is this the right file?")
            }
            Flaw::NotText { valid, text } => {
                let problem = Problem::new(valid..valid + 1, "not UTF-8 text");
                let problem = problem.help("is this the right file? save it as UTF-8");
                return Problems::new(file, &text, vec![problem]);
            }
        };
        Problems::of_file(file, message, help)
    }

    /// In one sentence, for a report on another file.
    fn sentence(self, file: &str) -> String {
        match self {
            Flaw::Directory | Flaw::NoFile => format!("{file} is no file"),
            Flaw::Unreadable(error) => format!("{file} cannot be read: {error}"),
            Flaw::Packed(error) => format!("{file} cannot be unpacked: {error}"),
            Flaw::TooLarge { limit } => format!("{file} is larger than {} MiB", limit >> 20),
            Flaw::NotText { valid, text } => {
                let before = &text.as_bytes()[..valid];
                let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
                format!("{file}:{line}: not UTF-8 text")
            }
        }
    }
}

fn load(path: &Path, limit: u64) -> Result<String, Flaw> {
    if path.is_dir() {
        return Err(Flaw::Directory);
    }
    let file = File::open(path).map_err(Flaw::Unreadable)?;
    unpack(read_limited(file, limit).map_err(Flaw::Unreadable)?, limit)
}

/// The text of these bytes, which may be packed and may begin with a mark.
fn unpack(bytes: Vec<u8>, limit: u64) -> Result<String, Flaw> {
    let bytes = if bytes.starts_with(&GZIP_MAGIC) {
        read_limited(MultiGzDecoder::new(&bytes[..]), limit).map_err(Flaw::Packed)?
    } else {
        bytes
    };
    if bytes.len() as u64 > limit {
        return Err(Flaw::TooLarge { limit });
    }
    let text = String::from_utf8(bytes).map_err(|error| Flaw::NotText {
        valid: error.utf8_error().valid_up_to(),
        text: String::from_utf8_lossy(error.as_bytes()).into_owned(),
    })?;
    // Editors on Windows begin files with this mark; no format here knows it.
    match text.strip_prefix('\u{feff}') {
        Some(rest) => Ok(rest.to_string()),
        None => Ok(text),
    }
}

/// One byte more than is allowed, so that the caller can tell.
fn read_limited(reader: impl Read, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    reader.take(limit + 1).read_to_end(&mut bytes)?;
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
