//! The text of a file that somebody passed: unpacked, UTF-8 and within limits.

use std::fs::{self, File};
use std::io::{self, IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::problem::{Problem, Problems};
use crate::unpack::{Counting, Packing, decoded};

/// A file, ready to be parsed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// The path of the file, as the user named it.
    pub file: String,
    /// Its text, unpacked if it was packed with gzip, xz or zstd.
    pub text: String,
}

impl Source {
    /// Reads the file at `path`, packed or not, or what comes through a pipe.
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
        match unpack(&bytes[..], FILE_MAX) {
            Ok(text) => Ok(Source { file: file.to_string(), text }),
            Err(flaw) => Err(flaw.problems(file)),
        }
    }

    /// What to call what is in it: the name of the file without folder and ending, packed or not.
    pub fn stem(&self) -> String {
        let path = Path::new(&self.file);
        let path = match path.extension() {
            Some(ending) if ending == "gz" || ending == "xz" || ending == "zst" => {
                path.with_extension("")
            }
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
pub(crate) enum Flaw {
    Directory,
    NoFile,
    Unreadable(io::Error),
    Packed(Packing, io::Error),
    TooLarge { limit: u64 },
    TooDense,
    NotText { valid: usize, text: String },
}

impl Flaw {
    /// The flaw of bytes of which the one at `valid` is not text.
    pub(crate) fn not_text(valid: usize, bytes: &[u8]) -> Flaw {
        Flaw::NotText { valid, text: String::from_utf8_lossy(bytes).into_owned() }
    }

    /// As a report on the file itself.
    pub(crate) fn problems(self, file: &str) -> Problems {
        let help;
        let (message, help) = match self {
            Flaw::Directory => ("a directory, not a file".to_string(), "name a file in it"),
            Flaw::NoFile => ("not a file".to_string(), "name a file or a pipe"),
            Flaw::Unreadable(error) => (format!("cannot be read: {error}"), ""),
            Flaw::Packed(packing, error) => {
                help = format!("is the {packing} file complete?");
                (format!("cannot be unpacked: {error}"), help.as_str())
            }
            Flaw::TooLarge { limit } => {
                (format!("larger than {} MiB, the limit", limit >> 20), "is this the right file?")
            }
            Flaw::TooDense => {
                (format!("unpacks to {UNPACKED_MAX} times its size"), "unpack it, and look at it")
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
            Flaw::Packed(_, error) => format!("{file} cannot be unpacked: {error}"),
            Flaw::TooLarge { limit } => format!("{file} is larger than {} MiB", limit >> 20),
            Flaw::TooDense => format!("{file} unpacks to {UNPACKED_MAX} times its size"),
            Flaw::NotText { valid, text } => {
                let before = &text.as_bytes()[..valid];
                let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
                format!("{file}:{line}: not UTF-8 text")
            }
        }
    }
}

fn load(path: &Path, limit: u64) -> Result<String, Flaw> {
    let file = open(path)?;
    if file.metadata().is_ok_and(|found| found.is_file() && found.len() > limit) {
        return Err(Flaw::TooLarge { limit });
    }
    unpack(file, limit)
}

/// Opens a file, a terminal or a pipe. Devices, which may never end, are no files.
#[cfg(unix)]
pub(crate) fn open(path: &Path) -> Result<File, Flaw> {
    use std::os::unix::fs::FileTypeExt;
    let kind = fs::metadata(path).map_err(Flaw::Unreadable)?.file_type();
    if kind.is_dir() {
        return Err(Flaw::Directory);
    }
    if kind.is_fifo() {
        return open_pipe(path);
    }
    let file = File::open(path).map_err(Flaw::Unreadable)?;
    if kind.is_file() || file.is_terminal() { Ok(file) } else { Err(Flaw::NoFile) }
}

#[cfg(not(unix))]
pub(crate) fn open(path: &Path) -> Result<File, Flaw> {
    if path.is_dir() {
        return Err(Flaw::Directory);
    }
    File::open(path).map_err(Flaw::Unreadable)
}

/// Opens a pipe, which waits for whoever writes to it, but not for ever.
#[cfg(unix)]
fn open_pipe(path: &Path) -> Result<File, Flaw> {
    let (sender, opened) = mpsc::channel();
    let path = path.to_path_buf();
    // If nobody comes, the thread stays until the process ends.
    thread::spawn(move || sender.send(File::open(path)));
    let nobody = || {
        let seconds = PIPE_PATIENCE.as_secs();
        io::Error::new(
            io::ErrorKind::TimedOut,
            format!("nobody wrote to this pipe for {seconds} s"),
        )
    };
    let opened = opened.recv_timeout(PIPE_PATIENCE).map_err(|_| Flaw::Unreadable(nobody()))?;
    opened.map_err(Flaw::Unreadable)
}

/// The text of what is read, which may be packed and may begin with a mark.
fn unpack(reader: impl Read, limit: u64) -> Result<String, Flaw> {
    let (packed, taken) = Counting::new(reader);
    let (mut reader, packing) = decoded(packed).map_err(Flaw::Unreadable)?;
    text_of(&mut reader, limit, || taken.get(), |error| flaw_of(packing, error))
}

/// What is wrong if a file that may be packed cannot be read.
pub(crate) fn flaw_of(packing: Option<Packing>, error: io::Error) -> Flaw {
    match packing {
        Some(packing) => Flaw::Packed(packing, error),
        None => Flaw::Unreadable(error),
    }
}

/// The text of what has been unpacked already.
pub(crate) fn text_of(
    reader: &mut dyn Read,
    limit: u64,
    taken: impl Fn() -> u64,
    flaw: impl Fn(io::Error) -> Flaw,
) -> Result<String, Flaw> {
    let bytes = read_text(reader, limit, taken, flaw)?;
    let text = String::from_utf8(bytes).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        Flaw::not_text(valid, error.as_bytes())
    })?;
    // Editors on Windows begin files with this mark; no format here knows it.
    match text.strip_prefix('\u{feff}') {
        Some(rest) => Ok(rest.to_string()),
        None => Ok(text),
    }
}

/// Reads piece by piece, and no further than what can still be text within the limit. `taken` is how
/// many bytes of the file have been read for it.
fn read_text(
    mut reader: &mut dyn Read,
    limit: u64,
    taken: impl Fn() -> u64,
    flaw: impl Fn(io::Error) -> Flaw,
) -> Result<Vec<u8>, Flaw> {
    let mut bytes = Vec::new();
    let mut valid = 0;
    loop {
        let length = Read::take(&mut reader, PIECE).read_to_end(&mut bytes).map_err(&flaw)?;
        if length == 0 {
            return Ok(bytes);
        }
        let all = bytes.len() as u64;
        if all > limit {
            return Err(Flaw::TooLarge { limit });
        }
        if all > UNPACKED_FREE && all / UNPACKED_MAX > taken() {
            return Err(Flaw::TooDense);
        }
        // A character may be cut by the end of a piece; text has no zeros.
        let start = valid;
        valid += match std::str::from_utf8(&bytes[start..]) {
            Err(error) if error.error_len().is_some() => {
                return Err(Flaw::not_text(start + error.valid_up_to(), &bytes));
            }
            Err(error) => error.valid_up_to(),
            Ok(text) => text.len(),
        };
        if let Some(zero) = memchr::memchr(0, &bytes[start..]) {
            return Err(Flaw::not_text(start + zero, &bytes));
        }
    }
}

/// The forwarding tables of 50,000 end ports on 3,000 switches.
pub(crate) const FILE_MAX: u64 = 4 << 30;
/// Text is looked at after so many bytes.
const PIECE: u64 = 1 << 20;
/// Tables of service levels are packed to a hundredth; only what is made for it comes to a thousandth.
pub(crate) const UNPACKED_MAX: u64 = 500;
/// So much may be packed as well as it can be.
pub(crate) const UNPACKED_FREE: u64 = 64 << 20;
/// How long somebody may take to begin to write to a pipe.
#[cfg(unix)]
const PIPE_PATIENCE: Duration = Duration::from_secs(5);

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
        // A file of UTF-16 without its mark has zeros.
        assert!(message(b"ab\nc\0d\0").starts_with("pauseless: f:2:2: not UTF-8 text"));
    }

    #[test]
    fn what_never_ends_is_refused_early() {
        let spaces = gzip(&" ".repeat(128 << 20));
        let refused = Source::from_bytes("f", spaces).unwrap_err().to_string();
        assert!(refused.starts_with("pauseless: f: unpacks to 500 times its size"), "{refused}");
        let refused = unpack(io::repeat(b' '), 3 << 20);
        assert!(matches!(refused, Err(Flaw::TooLarge { .. })));
        for endless in [0, 0xff] {
            let (reader, count) = Counting::new(io::repeat(endless));
            let refused = unpack(reader, FILE_MAX);
            assert!(matches!(refused, Err(Flaw::NotText { valid: 0, .. })));
            assert!(count.get() <= 2 * PIECE);
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn devices_are_no_files() {
        for device in ["/dev/zero", "/dev/null", "/dev/urandom"] {
            let refused = Source::read(Path::new(device)).unwrap_err().to_string();
            assert!(refused.starts_with(&format!("pauseless: {device}: not a file")), "{refused}");
        }
    }
}
