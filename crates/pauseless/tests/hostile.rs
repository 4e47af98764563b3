//! Files that somebody has damaged, on purpose or not, in every format that the program reads: it
//! answers with a status and a message that names the file, soon and in little memory, and never
//! panics.
//!
//! `PAUSELESS_CASES` is the number of files; `PAUSELESS_SEED` runs one alone.

mod place;

use std::fs;
use std::io::{Read, Write};
use std::ops::Range;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use place::{Done, Place};

/// A file of a format that is read, and what reads it.
struct Case {
    /// The files that belong together. The first is damaged.
    files: &'static [&'static str],
    /// The command, in which `FILES` and `FOLDER` are those files and where they are.
    command: &'static [&'static str],
}

const CASES: [Case; 24] = [
    case(&["scenarios/gfc-ring.toml"], &["run", "FILES", "--duration", "5 us"]),
    case(&["scenarios/incast-shared.toml"], &["run", "FILES", "--duration", "5 us", "--json"]),
    case(&["examples/pcn-clos.toml"], &["run", "FILES", "--duration", "2 us", "-q"]),
    case(&["scenarios/ttl-partitions.toml"], &["explain", "FILES"]),
    case(&["scenarios/all-reduce-ring.toml"], &["check", "FILES"]),
    case(&["scenarios/pcn-fig1.toml"], &["plan", "FILES"]),
    case(&["scenarios/xoff.sweep.toml", "scenarios/gfc-ring.toml"], &["sweep", "status", "FIRST"]),
    case(
        &["scenarios/paced-trees.sweep.toml", "scenarios/paced-fourth-flow.toml"],
        &["sweep", "status", "FIRST"],
    ),
    case(
        &["papers/gfc/fig9.claims.toml", "papers/gfc/fig9.toml"],
        &["repro", "--papers", "FOLDER/..", "--list"],
    ),
    case(
        &["testbeds/three-machines/S1.toml", "testbeds/three-machines/ring.toml"],
        &["switch", "--check", "--config", "FIRST"],
    ),
    case(
        &["testbeds/three-machines/ring.toml", "testbeds/three-machines/H1.toml"],
        &["host", "--check", "--config", "FOLDER/H1.toml"],
    ),
    case(&[CONFIG, TOPOLOGY, FLOW, TRACE], &["run", "FOLDER/config.txt", "--duration", "5 us"]),
    case(&[TOPOLOGY, CONFIG, FLOW, TRACE], &["run", "FOLDER/config.txt", "--duration", "5 us"]),
    case(&[FLOW, CONFIG, TOPOLOGY, TRACE], &["run", "FOLDER/config.txt", "--duration", "5 us"]),
    case(&[MATRIX, TREE], &["run", "FILES", "--duration", "5 us"]),
    case(&[TREE, MATRIX], &["run", "FILES", "--duration", "5 us"]),
    case(
        &["examples/ib/ring4-minhop/opensm-subnet.lst", "examples/ib/ring4-minhop/opensm.fdbs"],
        &["check", "FILES"],
    ),
    case(
        &["examples/ib/ring4-minhop/opensm.fdbs", "examples/ib/ring4-minhop/opensm-subnet.lst"],
        &["convert", "FILES"],
    ),
    case(
        &["examples/ib/ft4-minhop/ibnetdiscover.out.gz", "examples/ib/ft4-minhop/dump_lfts.out.gz"],
        &["check", "FILES"],
    ),
    case(
        &[
            "examples/ib/ft4-minhop/opensm-lfts.dump.gz",
            "examples/ib/ft4-minhop/opensm-subnet.lst.gz",
        ],
        &["check", "FILES"],
    ),
    case(&["examples/ethernet/clos02.clab.yml"], &["check", "FILES", "--routing", "up-down"]),
    case(&["examples/ethernet/batfish-example_layer1_topology.json"], &["convert", "FILES"]),
    case(&["examples/ethernet/topograph-netq-topologyGraph.json.gz"], &["convert", "FILES"]),
    case(&["examples/ethernet/config_db-acs-msn4700-t1.json.gz"], &["check", "FILES"]),
];

const CONFIG: &str = "examples/hpcc/incast/config.txt";
const TOPOLOGY: &str = "examples/hpcc/incast/topology.txt";
const FLOW: &str = "examples/hpcc/incast/flow.txt";
const TRACE: &str = "examples/hpcc/incast/trace.txt";
const MATRIX: &str = "examples/htsim/incast.cm";
const TREE: &str = "examples/htsim/leaf_spine.topo";

const fn case(files: &'static [&'static str], command: &'static [&'static str]) -> Case {
    Case { files, command }
}

/// What happens to a file.
#[derive(Clone, Copy, Debug)]
enum Damage {
    Cut,
    Bits,
    Number,
    Type,
    Nested,
    Twice,
    Missing,
    Long,
    Controls,
    Zeros,
    Utf16,
    Mark,
    Garbage,
    Empty,
    Bomb,
    CutGzip,
    Folder,
    Device,
}

const DAMAGES: [Damage; 18] = [
    Damage::Cut,
    Damage::Bits,
    Damage::Number,
    Damage::Type,
    Damage::Nested,
    Damage::Twice,
    Damage::Missing,
    Damage::Long,
    Damage::Controls,
    Damage::Zeros,
    Damage::Utf16,
    Damage::Mark,
    Damage::Garbage,
    Damage::Empty,
    Damage::Bomb,
    Damage::CutGzip,
    Damage::Folder,
    Damage::Device,
];

const NUMBERS: [&str; 12] = [
    "0",
    "-1",
    "255",
    "65536",
    "4000000000",
    "4294967296",
    "9223372036854775807",
    "18446744073709551616",
    "99999999999999999999999999999999",
    "1e308",
    "nan",
    "0.000000000000000001",
];

/// What lies in the place of something else.
const TYPES: [&str; 8] = ["true", "[]", "{}", "\"\"", "[[1]]", "null", "'x'", "-"];

/// A sequence that depends on its seed alone (splitmix64).
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % sides.max(1) as u64) as usize
    }

    /// A run of bytes for which `is_part` holds, such as a number; nothing at a random place if
    /// there is none.
    fn run(&mut self, bytes: &[u8], is_part: impl Fn(u8) -> bool) -> Range<usize> {
        let from = self.roll(bytes.len());
        let found = (from..bytes.len()).find(|place| is_part(bytes[*place]));
        let Some(start) = found else {
            return from..from;
        };
        let end = (start..bytes.len()).find(|place| !is_part(bytes[*place]));
        start..end.unwrap_or(bytes.len())
    }

    fn line(&mut self, bytes: &[u8]) -> Range<usize> {
        self.run(bytes, |byte| byte != b'\n')
    }
}

/// Puts a damaged file at `path`; the text is that of a file that is all right.
fn damage(damage: Damage, mut text: Vec<u8>, path: &Path, dice: &mut Dice) {
    let at = dice.roll(text.len());
    match damage {
        Damage::Cut => text.truncate(at),
        Damage::Bits => {
            for _ in 0..=dice.roll(8) {
                let at = dice.roll(text.len());
                text[at] ^= 1 << dice.roll(8);
            }
        }
        Damage::Number => {
            let place = dice.run(&text, |byte| byte.is_ascii_digit());
            text.splice(place, NUMBERS[dice.roll(NUMBERS.len())].bytes());
        }
        Damage::Type => {
            let place = dice.run(&text, |byte| byte.is_ascii_alphanumeric() || byte == b'"');
            text.splice(place, TYPES[dice.roll(TYPES.len())].bytes());
        }
        Damage::Nested => {
            let open = ["[", "{\"a\":", "a.", "(", "- "][dice.roll(5)];
            text.splice(at..at, open.repeat(20_000).into_bytes());
        }
        Damage::Twice => {
            let line = dice.line(&text);
            let copy = [b"\n", &text[line.clone()], b"\n"].concat();
            text.splice(line.end..line.end, copy);
        }
        Damage::Missing => {
            let line = dice.line(&text);
            text.drain(line);
        }
        Damage::Long => {
            let place = dice.run(&text, |byte| byte.is_ascii_alphanumeric());
            text.splice(place, "x".repeat(70_000 << dice.roll(4)).into_bytes());
        }
        Damage::Controls => {
            text.splice(at..at, *b"\x1b]0;x\x07\x1b[2J\r");
        }
        Damage::Zeros => {
            text.splice(at..at, [0; 100]);
        }
        Damage::Utf16 => {
            let text_16 = String::from_utf8_lossy(&text).into_owned();
            text = vec![0xff, 0xfe];
            text.extend(text_16.encode_utf16().flat_map(u16::to_le_bytes));
        }
        Damage::Mark => {
            text.splice(0..0, *b"\xef\xbb\xbf\xef\xbb\xbf");
        }
        Damage::Garbage => text = (0..1_000).map(|_| dice.roll(256) as u8).collect(),
        Damage::Empty => text.clear(),
        Damage::Bomb => {
            let filler = [b" ", b"0", b"\n", b"\0"][dice.roll(4)];
            text = gzip(&filler.repeat(1 << 20).repeat(80));
        }
        Damage::CutGzip => {
            text = gzip(&text);
            text.truncate(text.len() * 2 / 3);
        }
        Damage::Folder => return fs::create_dir(path).expect("a folder"),
        Damage::Device => {
            return std::os::unix::fs::symlink("/dev/zero", path).expect("a link");
        }
    }
    fs::write(path, text).expect("a file");
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::best());
    packed.write_all(bytes).expect("memory");
    packed.finish().expect("memory")
}

/// The bytes of a file of the repository, unpacked.
fn content(file: &str) -> Vec<u8> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let bytes = fs::read(root.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
    if !bytes.starts_with(&[0x1f, 0x8b]) {
        return bytes;
    }
    let mut unpacked = Vec::new();
    MultiGzDecoder::new(&bytes[..]).read_to_end(&mut unpacked).expect("a gzip file");
    unpacked
}

fn name(file: &str) -> &str {
    let name = file.rsplit('/').next().unwrap_or(file);
    name.strip_suffix(".gz").unwrap_or(name)
}

/// Damages a file as `seed` has it, and says what is wrong with the answer.
fn attempt(seed: u64) -> Result<(), String> {
    let mut dice = Dice(seed);
    let case = &CASES[seed as usize % CASES.len()];
    let kind = DAMAGES[seed as usize / CASES.len() % DAMAGES.len()];
    let place = Place::new();
    let folder = place.path("input/own");
    fs::create_dir_all(&folder).expect("a folder");
    for file in &case.files[1..] {
        fs::write(folder.join(name(file)), content(file)).expect("a file");
    }
    damage(kind, content(case.files[0]), &folder.join(name(case.files[0])), &mut dice);
    let mut args = Vec::new();
    for word in case.command {
        match *word {
            "FILES" => args.extend(case.files.iter().map(|it| format!("input/own/{}", name(it)))),
            "FIRST" => args.push(format!("input/own/{}", name(case.files[0]))),
            word => args.push(word.replace("FOLDER", "input/own")),
        }
    }
    let done = within_limits(&place, &args).map_err(|it| format!("seed {seed}, {kind:?}, {it}"))?;
    let told = format!("{:?}\n{}\n{}", done.code, done.stdout, done.stderr);
    let told: String = told.chars().take(3_000).collect();
    let fail = |what: &str| Err(format!("seed {seed}, {kind:?}, {args:?}: {what}: {told}"));
    match done.code {
        Some(0 | 1) => {}
        Some(2) if done.stderr.contains("input/own") || done.stderr.contains("own/") => {}
        Some(2) => return fail("no file is named"),
        _ => return fail("it crashed"),
    }
    if done.stdout.contains('\x1b') || done.stderr.contains('\x1b') {
        return fail("the terminal would obey");
    }
    Ok(())
}

/// Runs the program in 3 GB for [`PATIENCE`] at most.
fn within_limits(place: &Place, args: &[String]) -> Result<Done, String> {
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -v 3000000; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_pauseless")]);
    command.args(args).current_dir(place.folder.path()).stdin(Stdio::null());
    command.env("RAYON_NUM_THREADS", "2");
    let mut child =
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts");
    let stdout = drain(child.stdout.take());
    let stderr = drain(child.stderr.take());
    let code = wait(&mut child).ok_or_else(|| format!("{args:?}: no end in {PATIENCE:?}"))?;
    let text = |bytes: thread::JoinHandle<Vec<u8>>| {
        String::from_utf8_lossy(&bytes.join().expect("a pipe")).into_owned()
    };
    Ok(Done { code, stdout: text(stdout), stderr: text(stderr) })
}

fn drain(pipe: Option<impl Read + Send + 'static>) -> thread::JoinHandle<Vec<u8>> {
    let mut pipe = pipe.expect("a pipe");
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = pipe.read_to_end(&mut bytes);
        bytes
    })
}

/// The status of the program, which is none after a signal; `None` if it did not end.
fn wait(child: &mut Child) -> Option<Option<i32>> {
    let begin = Instant::now();
    while begin.elapsed() < PATIENCE {
        if let Some(status) = child.try_wait().expect("it is ours") {
            return Some(status.code());
        }
        thread::sleep(Duration::from_millis(5));
    }
    let _ = child.kill();
    let _ = child.wait();
    None
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

#[test]
fn every_damaged_file_is_answered() {
    let seeds = match number("PAUSELESS_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..number("PAUSELESS_CASES").unwrap_or(520),
    };
    let next = AtomicU64::new(seeds.start);
    let work = || {
        let mut failed = Vec::new();
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= seeds.end {
                return failed;
            }
            failed.extend(attempt(seed).err());
        }
    };
    let failed = thread::scope(|scope| {
        let cores = thread::available_parallelism().map_or(1, |cores| cores.get());
        let workers = Vec::from_iter((0..cores).map(|_| scope.spawn(work)));
        let failed = workers.into_iter().map(|worker| worker.join().expect("no panic"));
        Vec::from_iter(failed.flatten())
    });
    assert!(failed.is_empty(), "{} failed:\n{}", failed.len(), failed.join("\n\n"));
}

/// Much longer than any of them takes on a slow machine.
const PATIENCE: Duration = Duration::from_secs(20);
