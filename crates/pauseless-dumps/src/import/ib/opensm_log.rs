//! The log and the configuration of opensm, of which only the routing engine is taken.

use pauseless_text::problem::Problem;

/// Whether the first lines are those of opensm's log, or some line is one of its configuration that
/// nothing else has.
pub fn looks_like(text: &str) -> bool {
    is_log(text)
        || text
            .lines()
            .take(LINES_MAX)
            .any(|line| line.starts_with("routing_engine ") || line.starts_with("sm_priority "))
}

/// Whether it is the log.
pub fn is_log(text: &str) -> bool {
    text.lines().map(str::trim).find(|line| !line.is_empty()).is_some_and(is_log_line)
}

/// The routing engines that it names, separated by commas; `None` where it names none. Of a log, the
/// last one that made tables.
pub fn parse(text: &str) -> Result<Option<String>, Problem> {
    if let Some(at) = memchr::memmem::rfind(text.as_bytes(), CONFIGURED.as_bytes()) {
        let engine = text[..at].split_whitespace().next_back();
        return Ok(engine.map(str::to_string));
    }
    let line = text.lines().rev().find_map(|line| line.strip_prefix("routing_engine "));
    Ok(line.map(|engines| engines.trim().to_string()))
}

/// `Nov 19 06:22:40 815006 [495D9740] 0x43 -> ..`.
fn is_log_line(line: &str) -> bool {
    let words = Vec::from_iter(line.split_whitespace().take(7));
    let [_, day, time, micros, thread, level, arrow] = words[..] else {
        return false;
    };
    day.parse::<u8>().is_ok()
        && time.len() == 8
        && micros.bytes().all(|byte| byte.is_ascii_digit())
        && thread.starts_with('[')
        && level.starts_with("0x")
        && arrow == "->"
}

const CONFIGURED: &str = " tables configured on all switches";
const LINES_MAX: usize = 2_000;
