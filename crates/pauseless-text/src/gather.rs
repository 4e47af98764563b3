//! The files that somebody passed, and those in folders and tar archives among them.
//!
//! Nothing is written to disk: members of an archive are read where they lie, links in it lead
//! nowhere, and an archive as a whole is held to the limits of a file.

use std::cell::Cell;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use crate::problem::Problems;
use crate::source::{FILE_MAX, Flaw, Source, UNPACKED_FREE, UNPACKED_MAX, flaw_of, open, text_of};
use crate::unpack::{Counting, Packing, decoded};

mod tar;

/// What was found behind some paths.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gathered {
    /// The files that were passed, and those of folders and archives that are wanted.
    pub sources: Vec<Source>,
    /// The names of other files in folders and archives.
    pub ignored: Vec<String>,
}

impl Gathered {
    /// Reads files, folders with all below them, tar archives, packed or not, and for `-` what comes
    /// on the standard input. Of folders and archives, only what `is_wanted` is kept.
    pub fn read(
        paths: &[PathBuf],
        is_wanted: &dyn Fn(&Source) -> bool,
    ) -> Result<Gathered, Problems> {
        let mut gathering = Gathering { found: Gathered::default(), is_wanted, count: 0 };
        for path in paths {
            let before = gathering.found.sources.len();
            let is_container = gathering.path(path)?;
            if is_container && gathering.found.sources.len() == before {
                let file = path.display().to_string();
                let ignored = &gathering.found.ignored;
                let message = match ignored.last() {
                    Some(last) => format!("nothing in it can be read, not even {last}"),
                    None => "there is no file in it".to_string(),
                };
                return Err(Problems::of_file(&file, message, "is this the right one?"));
            }
        }
        Ok(gathering.found)
    }

    /// The same for bytes that have been read already.
    pub fn from_bytes(
        file: &str,
        bytes: &[u8],
        is_wanted: &dyn Fn(&Source) -> bool,
    ) -> Result<Gathered, Problems> {
        let mut gathering = Gathering { found: Gathered::default(), is_wanted, count: 0 };
        gathering.stream(file, bytes, Place::Passed).map_err(|flaw| flaw.problems(file))?;
        Ok(gathering.found)
    }
}

struct Gathering<'w> {
    found: Gathered,
    is_wanted: &'w dyn Fn(&Source) -> bool,
    /// How many files there were in folders and archives.
    count: usize,
}

/// Where a file lies.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// It was passed itself.
    Passed,
    /// It lies in a folder that was passed.
    Folder,
}

impl Gathering<'_> {
    /// Reads what is at `path`, and says whether it is a folder or an archive.
    fn path(&mut self, path: &Path) -> Result<bool, Problems> {
        let file = path.display().to_string();
        if path.as_os_str() == "-" {
            let input = io::stdin().lock();
            return self.stream(STDIN, input, Place::Passed).map_err(|flaw| flaw.problems(STDIN));
        }
        if fs::metadata(path).is_ok_and(|found| found.is_dir()) {
            self.folder(path, 0)?;
            return Ok(true);
        }
        let read = open(path).and_then(|found| {
            if found.metadata().is_ok_and(|found| found.is_file() && found.len() > FILE_MAX) {
                return Err(Flaw::TooLarge { limit: FILE_MAX });
            }
            self.stream(&file, found, Place::Passed)
        });
        read.map_err(|flaw| flaw.problems(&file))
    }

    /// Reads the files of a folder in the order of their names. Links to folders are not followed:
    /// they may lead back.
    fn folder(&mut self, folder: &Path, depth: usize) -> Result<(), Problems> {
        let refuse = |message: String| {
            Problems::of_file(&folder.display().to_string(), message, "name the files in it")
        };
        if depth > DEPTH_MAX {
            return Err(refuse(format!("folders are nested more than {DEPTH_MAX} deep")));
        }
        let entries =
            fs::read_dir(folder).map_err(|error| refuse(format!("cannot be read: {error}")))?;
        let mut paths = Vec::new();
        for entry in entries {
            let entry = entry.map_err(|error| refuse(format!("cannot be read: {error}")))?;
            paths.push(entry.path());
            if self.count + paths.len() > FILES_MAX {
                return Err(refuse(format!("has more than {FILES_MAX} files")));
            }
        }
        self.count += paths.len();
        paths.sort();
        for path in paths {
            let file = path.display().to_string();
            let is_link = fs::symlink_metadata(&path).is_ok_and(|found| found.is_symlink());
            let found = fs::metadata(&path);
            match found {
                Ok(found) if found.is_dir() && !is_link => self.folder(&path, depth + 1)?,
                Ok(found) if found.is_file() => {
                    let read =
                        open(&path).and_then(|found| self.stream(&file, found, Place::Folder));
                    read.map_err(|flaw| flaw.problems(&file))?;
                }
                // Pipes, devices and links that lead nowhere.
                _ => self.found.ignored.push(file),
            }
        }
        Ok(())
    }

    /// Reads a file, which may be packed and may be an archive, and says whether it is one.
    fn stream(&mut self, file: &str, reader: impl Read, place: Place) -> Result<bool, Flaw> {
        let (packed, taken) = Counting::new(reader);
        let (mut reader, packing) = decoded(packed).map_err(Flaw::Unreadable)?;
        let mut start = Vec::new();
        let first = reader.by_ref().take(tar::BLOCK as u64).read_to_end(&mut start);
        first.map_err(|error| flaw_of(packing, error))?;
        let is_archive = tar::is_header(&start);
        let mut whole = io::Cursor::new(start).chain(reader);
        if is_archive {
            let guarded = Guarded { inner: whole, taken, given: 0 };
            return self.archive(file, guarded, packing).map(|()| true);
        }
        let text = text_of(&mut whole, FILE_MAX, || taken.get(), |error| flaw_of(packing, error));
        match (text, place) {
            (Ok(text), _) => self.take(Source { file: file.to_string(), text }, place),
            // A folder has all kinds of files; one that is text but broken says so when it is parsed.
            (Err(Flaw::NotText { .. }), Place::Folder) => {
                self.found.ignored.push(file.to_string());
            }
            (Err(flaw), _) => return Err(flaw),
        }
        Ok(false)
    }

    fn take(&mut self, source: Source, place: Place) {
        if place == Place::Passed || (self.is_wanted)(&source) {
            self.found.sources.push(source);
        } else {
            self.found.ignored.push(source.file);
        }
    }

    /// Reads the members of an archive.
    fn archive(
        &mut self,
        file: &str,
        reader: Guarded<impl Read>,
        packing: Option<Packing>,
    ) -> Result<(), Flaw> {
        let mut left = FILE_MAX;
        let flaw = |error| archive_flaw(packing, error);
        let mut members = tar::Members::new(reader);
        while let Some(mut member) = members.next().map_err(flaw)? {
            self.count += 1;
            if self.count > FILES_MAX {
                return Err(flaw(tar::broken(format!("it has more than {FILES_MAX} members"))));
            }
            let name = format!("{file}/{}", member.name.trim_start_matches(['.', '/']));
            if !member.is_file {
                if !member.is_folder {
                    self.found.ignored.push(name);
                }
                continue;
            }
            let (packed, taken) = Counting::new(&mut member);
            let text = match decoded(packed) {
                Ok((mut reader, packing)) => {
                    let flaw = |error| flaw_of(packing, error);
                    text_of(&mut reader, left, || taken.get(), flaw)
                }
                Err(error) => Err(Flaw::Unreadable(error)),
            };
            match text {
                Ok(text) => {
                    let source = Source { file: name, text };
                    let length = source.text.len() as u64;
                    let before = self.found.sources.len();
                    self.take(source, Place::Folder);
                    if self.found.sources.len() > before {
                        left -= length.min(left);
                    }
                }
                Err(Flaw::NotText { .. }) => self.found.ignored.push(name),
                // A flaw of the archive itself is told of the archive.
                Err(Flaw::Unreadable(error)) => return Err(flaw(error)),
                Err(Flaw::TooLarge { .. }) => return Err(Flaw::TooLarge { limit: FILE_MAX }),
                Err(Flaw::Packed(packing, error)) => {
                    let error = format!("{name} in it cannot be unpacked: {error}");
                    return Err(Flaw::Packed(packing, tar::broken(error)));
                }
                Err(other) => return Err(other),
            }
        }
        Ok(())
    }
}

/// What an archive may unpack to, all members and headers together.
struct Guarded<R> {
    inner: R,
    /// How many bytes of the file have been read for it.
    taken: Rc<Cell<u64>>,
    given: u64,
}

impl<R: Read> Read for Guarded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.inner.read(buffer)?;
        self.given += length as u64;
        if self.given > FILE_MAX {
            return Err(io::Error::other(Excess::TooLarge));
        }
        if self.given > UNPACKED_FREE && self.given / UNPACKED_MAX > self.taken.get() {
            return Err(io::Error::other(Excess::TooDense));
        }
        Ok(length)
    }
}

#[derive(Clone, Copy, Debug)]
enum Excess {
    TooLarge,
    TooDense,
}

impl std::fmt::Display for Excess {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("larger than the limit")
    }
}

impl std::error::Error for Excess {}

fn archive_flaw(packing: Option<Packing>, error: io::Error) -> Flaw {
    match error.get_ref().and_then(|inner| inner.downcast_ref()) {
        Some(Excess::TooLarge) => Flaw::TooLarge { limit: FILE_MAX },
        Some(Excess::TooDense) => Flaw::TooDense,
        None => flaw_of(packing, error),
    }
}

const STDIN: &str = "stdin";
/// How many files folders and archives may have.
const FILES_MAX: usize = 100_000;
const DEPTH_MAX: usize = 16;

#[cfg(test)]
mod tests;
