//! A case, and what comes out when a binary runs it.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};
use std::{fmt, fs, io, thread};

use super::mask;
use super::shell;

/// Commands that are run one after the other in a folder that has only the named inputs.
pub struct Case {
    /// The first part of the name; cases of one group are summed up in one line.
    pub group: &'static str,
    /// Begins with the group, is unique, and is what patterns in `expected.txt` are held against.
    pub name: String,
    /// The files that the commands find, relative to the folder.
    pub inputs: Vec<Input>,
    /// The commands to run, in order.
    pub steps: Vec<Step>,
}

/// A file that the commands of a case find.
pub struct Input {
    /// Relative to the case's folder; in the repository the file has the same path.
    pub path: String,
    /// What is in it, unless it is the repository's file of this path.
    pub text: Option<String>,
}

/// One call of the binary.
pub struct Step {
    /// Where it is called, relative to the case's folder.
    pub folder: String,
    /// The arguments behind the name of the binary.
    pub args: Vec<String>,
}

impl Step {
    /// A call in the case's folder; the words are separated as in a shell.
    pub fn new(line: &str) -> Step {
        Step { folder: String::new(), args: shell::words(line) }
    }
}

/// As one would type it.
impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.folder.is_empty() {
            write!(f, "cd {}; ", self.folder)?;
        }
        f.write_str("pauseless")?;
        for arg in &self.args {
            write!(f, " {}", shell::quoted(arg))?;
        }
        Ok(())
    }
}

impl Case {
    /// A case of one command in the root of the repository.
    pub fn new(group: &'static str, name: &str, line: &str) -> Case {
        Case {
            group,
            name: format!("{group}/{name}"),
            inputs: Vec::new(),
            steps: vec![Step::new(line)],
        }
    }

    /// Another command after those before.
    pub fn then(mut self, line: &str) -> Case {
        self.steps.push(Step::new(line));
        self
    }

    /// The same with a file of the repository.
    pub fn with(mut self, path: &str) -> Case {
        self.inputs.push(Input { path: path.to_owned(), text: None });
        self
    }

    /// The same with a file that the repository does not have.
    pub fn with_text(mut self, path: &str, text: &str) -> Case {
        self.inputs.push(Input { path: path.to_owned(), text: Some(text.to_owned()) });
        self
    }
}

/// What a binary made of a case.
pub struct Result {
    /// Standard output, standard error and exit status of each command, and then the written files.
    pub parts: Vec<Part>,
}

/// Something that came out.
pub struct Part {
    /// `1.stdout`, `1.stderr`, `1.status`, or the path of a file, masked.
    pub name: String,
    /// The bytes as they were written.
    pub content: Vec<u8>,
}

impl Result {
    /// How each command ended.
    pub fn endings(&self) -> impl Iterator<Item = String> {
        let statuses = self.parts.iter().filter(|part| part.name.ends_with(".status"));
        statuses.map(|part| String::from_utf8_lossy(&part.content).into_owned())
    }
}

/// The folders of one worker, in which it runs one case at a time.
pub struct Bench {
    root: PathBuf,
    /// Where commands run. Both binaries see the same path.
    work: PathBuf,
    /// Standard output and error, beside the folder of the commands.
    streams: PathBuf,
    /// Where the binary is called from under its usual name, which it prints.
    programs: PathBuf,
}

impl Bench {
    /// Makes the folders of a worker.
    pub fn new(root: &Path, folder: &Path) -> io::Result<Bench> {
        let bench = Bench {
            root: root.to_owned(),
            work: folder.join("work"),
            streams: folder.join("streams"),
            programs: folder.join("programs"),
        };
        fs::create_dir_all(&bench.streams)?;
        fs::create_dir_all(&bench.programs)?;
        Ok(bench)
    }

    /// Runs the commands of a case with a binary, in a fresh folder.
    pub fn run(&self, case: &Case, binary: &Path) -> io::Result<Result> {
        let program = self.programs.join("pauseless");
        let _ = fs::remove_file(&program);
        std::os::unix::fs::symlink(binary, &program)?;
        let inputs = self.lay_out(case)?;
        let mut parts = Vec::new();
        for (place, step) in case.steps.iter().enumerate() {
            let status = self.call(step, &program)?;
            let mut push = |name: &str, content| {
                let name = format!("{}.{name}", place + 1);
                parts.push(Part { name, content });
            };
            push("stdout", fs::read(self.streams.join("stdout"))?);
            push("stderr", fs::read(self.streams.join("stderr"))?);
            push("status", status.into_bytes());
        }
        parts.extend(self.written(&inputs)?);
        Ok(Result { parts })
    }

    /// Empties the folder and copies the inputs into it.
    fn lay_out(&self, case: &Case) -> io::Result<BTreeMap<PathBuf, Vec<u8>>> {
        if self.work.exists() {
            fs::remove_dir_all(&self.work)?;
        }
        fs::create_dir_all(&self.work)?;
        let mut inputs = BTreeMap::new();
        for input in &case.inputs {
            let content = match &input.text {
                Some(text) => text.clone().into_bytes(),
                None => fs::read(self.root.join(&input.path))?,
            };
            let path = self.work.join(&input.path);
            fs::create_dir_all(path.parent().expect("it lies in the folder"))?;
            fs::write(&path, &content)?;
            inputs.insert(path, content);
        }
        for step in &case.steps {
            fs::create_dir_all(self.work.join(&step.folder))?;
        }
        Ok(inputs)
    }

    /// Calls the program; how it ended.
    fn call(&self, step: &Step, program: &Path) -> io::Result<String> {
        let child = Command::new(program)
            .args(&step.args)
            .current_dir(self.work.join(&step.folder))
            // Neither the caller's terminal nor its wishes may be seen in the output.
            .env_remove("NO_COLOR")
            .env_remove("RUST_BACKTRACE")
            .stdin(Stdio::null())
            .stdout(File::create(self.streams.join("stdout"))?)
            .stderr(File::create(self.streams.join("stderr"))?)
            .spawn()?;
        Ok(match wait(child)? {
            None => format!("killed after {} s", PATIENCE.as_secs()),
            Some(status) => match status.code() {
                Some(code) => format!("ended with {code}"),
                None => "killed by a signal".to_owned(),
            },
        })
    }

    /// The files that were written or changed, in the order of their names.
    fn written(&self, inputs: &BTreeMap<PathBuf, Vec<u8>>) -> io::Result<Vec<Part>> {
        let mut files = Vec::new();
        let mut folders = vec![self.work.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder)? {
                let entry = entry?;
                if entry.file_type()?.is_dir() {
                    folders.push(entry.path());
                } else {
                    files.push(entry.path());
                }
            }
        }
        let mut parts = Vec::new();
        for path in files {
            let content = fs::read(&path)?;
            if inputs.get(&path) == Some(&content) {
                continue;
            }
            let name = path.strip_prefix(&self.work);
            let name = name.expect("it lies in the folder").to_string_lossy();
            let name = mask::path(&name);
            parts.push(Part { name, content });
        }
        parts.sort_by(|a, b| (&a.name, &a.content).cmp(&(&b.name, &b.content)));
        Ok(parts)
    }
}

/// Waits for the end of a process; `None` if it took too long and was killed.
fn wait(mut child: Child) -> io::Result<Option<ExitStatus>> {
    let begin = Instant::now();
    let mut pause = Duration::from_micros(500);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if begin.elapsed() > PATIENCE {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}

/// The longest case takes a minute on an idle machine.
const PATIENCE: Duration = Duration::from_secs(600);
