//! Captures of small networks, simulated and real, dissected by tshark.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;
use std::process::Command;

use super::place;
use crate::page;

type Check = io::Result<Result<String, String>>;

/// The class of all flows, so that "the right class" means something.
const CLASS: u32 = 3;

/// PAUSE and RESUME for class 3, as many as the simulator counts.
pub(super) fn pfc() -> Check {
    judge("pfc", "kind = \"pfc\"", |run| {
        let controls = run.controls();
        let pauses = controls.iter().filter(|row| row.get(TIME) == "65535");
        let resumes = controls.iter().filter(|row| row.get(TIME) == "0").count();
        let pauses = pauses.count();
        expect(pauses, run.count("pause_frames"), "pauses")?;
        expect(resumes, controls.len() - pauses, "resumes")?;
        expect(controls.len(), run.count("feedback_frames"), "frames")?;
        for row in &controls {
            mac_control(row, CLASS)?;
        }
        let data = run.data(CLASS)?;
        Ok(format!("{pauses} pauses, {resumes} resumes, {data} data packets"))
    })
}

/// Stages for class 3, each other than the one before it from the same port.
pub(super) fn gfc() -> Check {
    judge("gfc", "kind = \"gfc-buffer\"", |run| {
        let controls = run.controls();
        expect(controls.len(), run.count("feedback_frames"), "frames")?;
        let mut last = BTreeMap::new();
        let mut highest = 0;
        for row in &controls {
            mac_control(row, CLASS)?;
            let stage = row.number(TIME)?;
            highest = highest.max(stage);
            let before = last.insert(row.get(PORT), stage).unwrap_or(0);
            if before == stage || stage > 40 {
                return Err(format!("stage {stage} after {before} at {}", row.get(PORT)));
            }
        }
        if highest < 1 {
            return Err("no stage above 0".to_owned());
        }
        let data = run.data(CLASS)?;
        Ok(format!("{} stages up to {highest}, {data} data packets", controls.len()))
    })
}

/// Link packets of 48 bits for virtual lane 3 and the others, which tshark shows as data.
pub(super) fn credits() -> Check {
    judge("cbfc", "kind = \"cbfc\"\ncounters = \"iba\"", |run| {
        let rows = || run.rows.iter().filter(|row| row.get(TYPE) == "0x88b6");
        expect(rows().count(), run.count("feedback_frames"), "frames")?;
        let mut lanes = BTreeSet::new();
        for row in rows() {
            let octets = row.get(DATA);
            // Kind 0 and zero, operation 0; the lane is a digit of its own.
            if !octets.starts_with("00000") || octets.len() != 2 * 46 {
                return Err(format!("not a link packet: {octets}"));
            }
            lanes.insert(octets[8..9].to_owned());
        }
        expect(lanes.len(), CLASS as usize + 1, "virtual lanes")?;
        let data = run.data(CLASS)?;
        Ok(format!("{} link packets, {data} data packets", rows().count()))
    })
}

/// CNPs with a rate, marked if and only if the flow is congested, about flows that are there.
pub(super) fn pcn() -> Check {
    let sections = "kind = \"pfc\"\n\n[congestion_control]\nkind = \"pcn\"";
    judge("pcn", sections, |run| {
        let is_cnp = |row: &&Row| row.get(OPCODE) == "129";
        let pairs: BTreeSet<&str> =
            run.rows.iter().filter(|row| row.get(OPCODE) == "4").map(|row| row.get(PAIR)).collect();
        let mut marked = 0;
        for row in run.rows.iter().filter(is_cnp) {
            if !pairs.contains(row.get(PAIR)) || row.get(PSN) != "0" {
                return Err(format!("about queue pair {}", row.get(PAIR)));
            }
            // Behind the twelve octets of the BTH.
            let rate = row.get(PAYLOAD).get(24..32);
            let rate = rate.and_then(|digits| u32::from_str_radix(digits, 16).ok());
            if !rate.is_some_and(|rate| (1..=10_000).contains(&rate)) {
                return Err(format!("a receiving rate of {rate:?} Mb/s"));
            }
            match row.get(ECN) {
                "3" => marked += 1,
                "0" => {}
                other => return Err(format!("ECN field {other}")),
            }
        }
        let cnps = run.rows.iter().filter(is_cnp).count();
        if marked == 0 || marked == cnps {
            return Err(format!("{marked} of {cnps} CNPs are marked"));
        }
        let is_marked = |row: &&Row| row.get(OPCODE) == "4" && row.get(ECN) == "3";
        let data = run.data(CLASS)?;
        let marks = run.rows.iter().filter(is_marked).count();
        if marks == 0 {
            return Err("no data packet is marked".to_owned());
        }
        Ok(format!("{cnps} CNPs, {marked} of them marked; {data} data packets, {marks} marked"))
    })
}

/// The testbed's ring under PFC, in memory: the frames that its nodes exchange. Every frame that leaves a
/// port comes to another, byte by byte.
pub(super) fn real() -> Check {
    let capture = place().join("real.pcapng");
    let mut run = Command::new(page::program());
    run.args(["testbed", "--backend", "memory", "--only", "pfc"]);
    run.args(["--duration", "40 ms", "--json", "--quiet", "--pcap"]);
    let run = run.arg(&capture).output()?;
    if !run.status.success() {
        return Ok(Err(String::from_utf8_lossy(&run.stderr).into_owned()));
    }
    let rows = match dissected(&capture)? {
        Ok(rows) => rows,
        Err(wrong) => return Ok(Err(wrong)),
    };
    let (leaving, coming): (Vec<Row>, Vec<Row>) =
        rows.into_iter().partition(|row| row.get(DIRECTION) == OUT);
    let captured =
        Captured { json: String::from_utf8_lossy(&run.stdout).into_owned(), rows: leaving };
    Ok(judge_real(&captured, coming.len()))
}

fn judge_real(captured: &Captured, coming: usize) -> Result<String, String> {
    expect(coming, captured.rows.len(), "frames that come")?;
    if let Some(row) = captured.rows.iter().find(|row| !row.get(MALFORMED).is_empty()) {
        return Err(format!("malformed: {}", row.0.join(" ")));
    }
    let controls = captured.controls();
    expect(controls.len(), captured.count("feedback_frames"), "frames")?;
    for row in &controls {
        mac_control(row, 0)?;
    }
    let data = captured.data(0)?;
    Ok(format!("{} pauses and resumes, {data} data packets", controls.len()))
}

/// The octets of PFC say what they should about one class.
fn mac_control(row: &Row, class: u32) -> Result<(), String> {
    let found = (row.get(CONTROL), row.get(VECTOR), row.get(TARGET));
    let vector = format!("0x{:04x}", 1 << class);
    let expected = ("0x0101", vector.as_str(), "01:80:c2:00:00:01");
    if found == expected { Ok(()) } else { Err(format!("{found:?} instead of {expected:?}")) }
}

fn expect(found: usize, expected: usize, what: &str) -> Result<(), String> {
    if found == expected && found > 0 {
        Ok(())
    } else {
        Err(format!("{found} {what}, expected {expected}"))
    }
}

/// A run and what tshark made of its capture.
struct Captured {
    json: String,
    rows: Vec<Row>,
}

/// The fields of a frame, in the order of [`FIELDS`].
struct Row(Vec<String>);

const FIELDS: [&str; 16] = [
    "frame.time_epoch",
    "frame.interface_name",
    "frame.packet_flags_direction",
    "eth.dst",
    "eth.type",
    "macc.opcode",
    "macc.cbfc.enbv",
    "macc.cbfc.pause_time.c3",
    "infiniband.bth.opcode",
    "infiniband.bth.destqp",
    "infiniband.bth.psn",
    "ip.dsfield.ecn",
    "ip.dsfield.dscp",
    "udp.payload",
    "data.data",
    "_ws.malformed",
];
const STAMP: usize = 0;
const PORT: usize = 1;
const DIRECTION: usize = 2;
const TARGET: usize = 3;
const TYPE: usize = 4;
const CONTROL: usize = 5;
const VECTOR: usize = 6;
const TIME: usize = 7;
const OPCODE: usize = 8;
const PAIR: usize = 9;
const PSN: usize = 10;
const ECN: usize = 11;
const DSCP: usize = 12;
const PAYLOAD: usize = 13;
const DATA: usize = 14;
const MALFORMED: usize = 15;

/// A frame that leaves its port.
const OUT: &str = "0x00000002";

impl Row {
    fn get(&self, field: usize) -> &str {
        self.0.get(field).map_or("", String::as_str)
    }

    fn number(&self, field: usize) -> Result<u32, String> {
        let text = self.get(field);
        text.parse().map_err(|_| format!("{} is {text:?}", FIELDS[field]))
    }
}

impl Captured {
    fn controls(&self) -> Vec<&Row> {
        self.rows.iter().filter(|row| row.get(TYPE) == "0x8808").collect()
    }

    /// A number of the JSON document.
    fn count(&self, key: &str) -> usize {
        let key = format!("\"{key}\": ");
        let rest = self.json.split(&key).nth(1).unwrap_or("");
        let digits = rest.chars().take_while(char::is_ascii_digit);
        digits.collect::<String>().parse().unwrap_or(usize::MAX)
    }

    /// How many data packets there are: in order at every port, in this class.
    fn data(&self, class: u32) -> Result<usize, String> {
        let mut next = BTreeMap::new();
        let mut count = 0;
        for row in self.rows.iter().filter(|row| row.get(OPCODE) == "4") {
            let psn = row.number(PSN)?;
            let expected = next.entry((row.get(PORT), row.get(PAIR))).or_insert(0);
            if psn != *expected || row.number(DSCP)? != class << 3 {
                let at = row.get(PORT);
                return Err(format!("packet {psn} instead of {expected} at {at}"));
            }
            *expected += 1;
            count += 1;
        }
        match next.len() {
            0 => Err("no data packet".to_owned()),
            _ => Ok(count),
        }
    }

    /// What holds of every capture: sorted, in nanoseconds, from the sending ends, nothing malformed.
    fn common(&self) -> Result<(), String> {
        let stamps: Vec<&str> = self.rows.iter().map(|row| row.get(STAMP)).collect();
        if stamps.is_empty() || !stamps.is_sorted() {
            return Err("no frames, or not in order".to_owned());
        }
        let is_fine = |stamp: &&str| stamp.split('.').nth(1).is_some_and(|f| &f[6..] != "000");
        if !stamps.iter().any(is_fine) {
            return Err("stamps have no nanoseconds".to_owned());
        }
        for row in &self.rows {
            if !row.get(MALFORMED).is_empty() || row.get(DIRECTION) != OUT {
                return Err(format!("malformed or not outbound: {}", row.0.join(" ")));
            }
        }
        Ok(())
    }
}

/// Runs two greedy senders into one sink under the flow control of `section`, and judges the capture.
fn judge(
    name: &str,
    section: &str,
    check: impl FnOnce(&Captured) -> Result<String, String>,
) -> Check {
    let scenario = place().join(format!("{name}.toml"));
    let capture = place().join(format!("{name}.pcapng"));
    std::fs::write(&scenario, SCENARIO.replace("KIND", section))?;
    let mut run = Command::new(page::program());
    run.args(["run", "--json", "--quiet"]).arg(&scenario);
    let run = run.arg("--pcap").arg(&capture).output()?;
    if !run.status.success() {
        return Ok(Err(String::from_utf8_lossy(&run.stderr).into_owned()));
    }
    let captured = dissected(&capture)?
        .map(|rows| Captured { json: String::from_utf8_lossy(&run.stdout).into_owned(), rows });
    Ok(captured.and_then(|captured| {
        captured.common()?;
        check(&captured)
    }))
}

/// What tshark makes of a capture, or what it complains about.
fn dissected(capture: &Path) -> io::Result<Result<Vec<Row>, String>> {
    let mut tshark = Command::new("tshark");
    tshark.arg("-r").arg(capture).args(["-T", "fields"]);
    tshark.args(FIELDS.iter().flat_map(|field| ["-e", field]));
    let done = tshark.output()?;
    if !done.status.success() {
        return Ok(Err(String::from_utf8_lossy(&done.stderr).into_owned()));
    }
    let text = String::from_utf8_lossy(&done.stdout);
    let rows = text.lines().map(|line| Row(line.split('\t').map(String::from).collect()));
    Ok(Ok(rows.collect()))
}

const SCENARIO: &str = "\
duration = \"600 us\"

[topology]
kind = \"n-to-1\"
senders = 2
rate = \"10 Gbps\"
delay = \"1 us\"

[switch]
classes = 4
buffer = \"100 KB\"

[[flow]]
name = \"F1\"
source = \"H1\"
target = \"R\"
class = 3

[[flow]]
name = \"F2\"
source = \"H2\"
target = \"R\"
class = 3

[flow_control]
KIND
";
