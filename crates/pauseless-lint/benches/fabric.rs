//! How long 1,000 switches of 64 ports take, and how much memory: `cargo bench -p pauseless-lint --bench
//! fabric`, or with another number of switches behind `--`.

use std::fmt::Write;
use std::time::Instant;

use pauseless_text::source::Source;

fn main() {
    let count = std::env::args().filter_map(|word| word.parse().ok()).next().unwrap_or(1_000);
    let sources = Vec::from_iter((0..count).map(switch));
    let bytes = sources.iter().map(|source| source.text.len()).sum::<usize>();
    let (start, before) = (Instant::now(), cpu_seconds());
    let report = pauseless_lint::lint(&sources).expect("the files are whole");
    let (seconds, cpu) = (start.elapsed().as_secs_f64(), cpu_seconds() - before);
    println!(
        "{count} switches, {} cables, {} MB: {cpu:.2} s of CPU time in {seconds:.2} s, {} findings, \
         peak {} MB with the files",
        report.cables,
        bytes >> 20,
        report.findings.len(),
        peak_mb()
    );
    assert!(!report.fails(), "{}", report.findings[0].sentence());
}

/// A ToR or leaf of which half of the ports go to each switch of the next tier of a ring of pods.
fn switch(number: usize) -> Source {
    let template = include_str!("../fabric/tor0.json");
    let head = &template[..template.find("  \"PORT\": {").expect("the example has ports")];
    let mut text = head.replace("tor0", &format!("sw{number}"));
    let rest = ["TC_TO_PRIORITY_GROUP_MAP", "MAP_PFC_PRIORITY_TO_QUEUE", "TC_TO_QUEUE_MAP"];
    let other =
        ["DSCP_TO_TC_MAP", "SCHEDULER", "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP", "WRED_PROFILE"];
    let last = ["BUFFER_POOL", "BUFFER_PROFILE", "FLEX_COUNTER_TABLE"];
    for table in rest.iter().chain(&other).chain(&last) {
        text += table_of(template, table);
    }
    rows(&mut text, "PORT", |port, _| {
        format!(
            "\"{port}\": {{\"speed\": \"100000\", \"lanes\": \"1,2,3,4\", \"alias\": \"e{port}\", \
                 \"mtu\": \"9100\", \"admin_status\": \"up\", \"fec\": \"rs\"}}"
        )
    });
    rows(&mut text, "DEVICE_NEIGHBOR", |port, at| {
        // Switches 2n and 2n + 1 are a pair with 64 cables.
        format!("\"{port}\": {{\"name\": \"sw{}\", \"port\": \"{port}\"}}", number ^ (1 + at / 64))
    });
    rows(&mut text, "PORT_QOS_MAP", |port, _| {
        format!(
            "\"{port}\": {{\"dscp_to_tc_map\": \"AZURE\", \"tc_to_queue_map\": \"AZURE\", \
                 \"pfc_to_pg_map\": \"AZURE\", \"pfc_enable\": \"3,4\", \"pfcwd_sw_enable\": \"3,4\", \
                 \"tc_to_pg_map\": \"AZURE\", \"pfc_to_queue_map\": \"AZURE\"}}"
        )
    });
    rows(&mut text, "QUEUE", |port, _| {
        let queues = (0..7).map(|queue| match queue {
            3 | 4 => format!(
                "\"{port}|{queue}\": {{\"scheduler\": \"scheduler.1\", \"wred_profile\": \
                              \"AZURE_LOSSLESS\"}}"
            ),
            _ => format!("\"{port}|{queue}\": {{\"scheduler\": \"scheduler.0\"}}"),
        });
        Vec::from_iter(queues).join(",\n    ")
    });
    rows(&mut text, "BUFFER_PG", |port, _| {
        format!(
            "\"{port}|0\": {{\"profile\": \"ingress_lossy_profile\"}},\n    \"{port}|3-4\": \
                 {{\"profile\": \"pg_lossless_100000_40m_profile\"}}"
        )
    });
    rows(&mut text, "BUFFER_QUEUE", |port, _| {
        format!(
            "\"{port}|0-2\": {{\"profile\": \"q_lossy_profile\"}},\n    \"{port}|3-4\": \
                 {{\"profile\": \"egress_lossless_profile\"}},\n    \"{port}|5-6\": {{\"profile\": \
                 \"q_lossy_profile\"}}"
        )
    });
    let watchdog =
        "{\"detection_time\": \"200\", \"restoration_time\": \"200\", \"action\": \"drop\"}";
    rows(&mut text, "PFC_WD", |port, _| format!("\"{port}\": {watchdog}"));
    let lengths = (0..64).map(|at| format!("\"Ethernet{}\": \"40m\"", at * 4));
    let lengths = Vec::from_iter(lengths).join(", ");
    let _ = write!(text, "  \"CABLE_LENGTH\": {{\"AZURE\": {{{lengths}}}}}\n}}\n");
    Source { file: format!("sw{number}.json"), text }
}

/// A table of the example as it stands there, with a comma behind it.
fn table_of<'t>(template: &'t str, table: &str) -> &'t str {
    let start = template.find(&format!("  \"{table}\": {{")).expect("the example has this table");
    let end = template[start..].find("\n  },\n").expect("it is not the last one");
    &template[start..start + end + 6]
}

/// A table with a row for each of 64 ports, with a comma behind it.
fn rows(text: &mut String, table: &str, row: impl Fn(&str, usize) -> String) {
    let rows = (0..64).map(|at| row(&format!("Ethernet{}", at * 4), at));
    let _ =
        write!(text, "  \"{table}\": {{\n    {}\n  }},\n", Vec::from_iter(rows).join(",\n    "));
}

/// The most memory that this process has had, where the system says it.
fn peak_mb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
    kib.unwrap_or(0) >> 10
}

/// The processor time that this process has used, which other processes do not lengthen by much.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    // User and system time in ticks, of which Linux has a hundred per second.
    fields.skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / 100.0
}
