//! Which file of another simulator a text is, so that every reader can say so instead of
//! complaining about its syntax.

use crate::lex::{Text, Words};
use crate::problem::Problems;

/// What kind of file of htsim a text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Htsim {
    /// A traffic matrix, `.cm`.
    Matrix,
    /// A description of a fat tree, `.topo`.
    Topology,
    /// The paths that flows took in a run.
    Paths,
}

/// What kind of file of htsim `text` is, if it is one.
pub fn htsim(text: &str) -> Option<Htsim> {
    let text = Text::from(text);
    if is_paths(text) {
        return Some(Htsim::Paths);
    }
    if is_topo(text) {
        return Some(Htsim::Topology);
    }
    is_matrix(text).then_some(Htsim::Matrix)
}

/// Whether a text is a `config.txt` of the ns-3 simulators that descend from HPCC's: at least three
/// of their keys, and no TOML header.
pub fn is_hpcc(text: &str) -> bool {
    let keys = Words::new(text).take(2_000).map(|word| word.text).filter(|word| is_hpcc_key(word));
    keys.take(3).count() == 3 && !text.lines().any(|line| line.trim_start().starts_with('['))
}

/// Whether a word is a key of these simulators.
pub fn is_hpcc_key(word: &str) -> bool {
    HPCC_KEYS.iter().any(|(key, _)| *key == word)
}

/// Refuses a file of another simulator where a scenario or a fabric is wanted, and says what to do
/// with it.
pub fn refuse(file: &str, text: &str) -> Result<(), Problems> {
    let Some(whose) = simulator_of(text) else {
        return Ok(());
    };
    let help = "simulate it with `pauseless run`, or make a scenario of it with `pauseless convert \
                --to scenario`";
    Err(Problems::of_file(file, format!("this is {whose}"), help))
}

/// Refuses JSON where a scenario is wanted, and says which commands read such files. TOML never begins
/// with a brace.
pub fn refuse_json(file: &str, text: &str) -> Result<(), Problems> {
    if !text.trim_start().starts_with('{') {
        return Ok(());
    }
    let help = "`pauseless check` and `pauseless lint` read the files of switches; `pauseless new \
                leaf-spine` writes a scenario to start from";
    Err(Problems::of_file(file, "this is JSON, and a scenario is TOML".to_string(), help))
}

/// Which file of another simulator a text is, in words; `None` if it is none.
pub fn simulator_of(text: &str) -> Option<&'static str> {
    match htsim(text) {
        Some(_) => Some("a file of htsim"),
        None => is_hpcc(text).then_some("the configuration of an ns-3 simulator"),
    }
}

/// Whether a text has paths.
fn is_paths(text: Text<'_>) -> bool {
    text.rows().next().is_some_and(|words| words[0].text == "PATH")
}

/// Whether a text describes a tree.
fn is_topo(text: Text<'_>) -> bool {
    let mut heads = text.rows().take(20).map(|words| words[0].text.to_ascii_lowercase());
    heads.any(|head| head == "tiers" || head == "podsize")
}

/// Whether a text is a traffic matrix.
fn is_matrix(text: Text<'_>) -> bool {
    let heads = Vec::from_iter(text.rows().take(20).map(|words| words[0].text));
    let is_row = |head: &&str| *head == "Connections" || is_pair(head);
    heads.first().is_some_and(|head| is_head(head)) && heads.iter().any(is_row)
}

fn is_head(word: &str) -> bool {
    ["Nodes", "Connections", "Triggers", "Failures"].contains(&word)
}

/// Whether a word of a traffic matrix joins two hosts, such as `3->17`.
pub fn is_pair(word: &str) -> bool {
    let ends = word.split_once("->");
    let is_number = |end: &str| !end.is_empty() && end.bytes().all(|byte| byte.is_ascii_digit());
    ends.is_some_and(|(source, target)| is_number(source) && is_number(target))
}

/// What stands behind a key.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Values {
    /// A fixed number of words.
    Words(usize),
    /// A count, then as many pairs.
    Map,
}

/// All keys that simulators of this family read, and what follows them.
pub const HPCC_KEYS: [(&str, Values); 70] = [
    ("ACK_HIGH_PRIO", Values::Words(1)),
    ("ALPHA_RESUME_INTERVAL", Values::Words(1)),
    ("BUFFER_SIZE", Values::Words(1)),
    ("CC_MODE", Values::Words(1)),
    ("CLAMP_TARGET_RATE", Values::Words(1)),
    ("CNP_OUTPUT_FILE", Values::Words(1)),
    ("CONN_MON_FILE", Values::Words(1)),
    ("CONWEAVE_DEFAULT_VOQ_WAITING_TIME", Values::Words(1)),
    ("CONWEAVE_EXTRA_VOQ_FLUSH_TIME", Values::Words(1)),
    ("CONWEAVE_PATH_PAUSE_TIME", Values::Words(1)),
    ("CONWEAVE_REPLY_TIMEOUT_EXTRA", Values::Words(1)),
    ("CONWEAVE_TX_EXPIRY_TIME", Values::Words(1)),
    ("DATA_RATE", Values::Words(1)),
    ("DCTCP_RATE_AI", Values::Words(1)),
    ("ENABLE_IRN", Values::Words(1)),
    ("ENABLE_PFC", Values::Words(1)),
    ("ENABLE_QCN", Values::Words(1)),
    ("ENABLE_TRACE", Values::Words(1)),
    ("ERROR_RATE_PER_LINK", Values::Words(1)),
    ("EST_ERROR_MON_FILE", Values::Words(1)),
    ("EWMA_GAIN", Values::Words(1)),
    ("FAST_REACT", Values::Words(1)),
    ("FAST_RECOVERY_TIMES", Values::Words(1)),
    ("FCT_OUTPUT_FILE", Values::Words(1)),
    ("FLOWGEN_START_TIME", Values::Words(1)),
    ("FLOWGEN_STOP_TIME", Values::Words(1)),
    ("FLOW_FILE", Values::Words(1)),
    ("FLOW_INPUT_FILE", Values::Words(1)),
    ("GLOBAL_T", Values::Words(1)),
    ("HAS_WIN", Values::Words(1)),
    ("INT_MULTI", Values::Words(1)),
    ("KMAX_MAP", Values::Map),
    ("KMIN_MAP", Values::Map),
    ("L2_ACK_INTERVAL", Values::Words(1)),
    ("L2_BACK_TO_ZERO", Values::Words(1)),
    ("L2_CHUNK_SIZE", Values::Words(1)),
    ("LB_MODE", Values::Words(1)),
    ("LINK_DELAY", Values::Words(1)),
    ("LINK_DOWN", Values::Words(3)),
    ("LOAD", Values::Words(1)),
    ("MIN_RATE", Values::Words(1)),
    ("MI_THRESH", Values::Words(1)),
    ("MULTI_RATE", Values::Words(1)),
    ("PACKET_PAYLOAD_SIZE", Values::Words(1)),
    ("PAUSE_TIME", Values::Words(1)),
    ("PFC_OUTPUT_FILE", Values::Words(1)),
    ("PINT_LOG_BASE", Values::Words(1)),
    ("PINT_PROB", Values::Words(1)),
    ("PMAX_MAP", Values::Map),
    ("QLEN_MON_END", Values::Words(1)),
    ("QLEN_MON_FILE", Values::Words(1)),
    ("QLEN_MON_START", Values::Words(1)),
    ("RANDOM_SEED", Values::Words(1)),
    ("RATE_AI", Values::Words(1)),
    ("RATE_BOUND", Values::Words(1)),
    ("RATE_DECREASE_INTERVAL", Values::Words(1)),
    ("RATE_HAI", Values::Words(1)),
    ("RP_TIMER", Values::Words(1)),
    ("SAMPLE_FEEDBACK", Values::Words(1)),
    ("SIMULATOR_STOP_TIME", Values::Words(1)),
    ("SW_MONITORING_INTERVAL", Values::Words(1)),
    ("TOPOLOGY_FILE", Values::Words(1)),
    ("TRACE_FILE", Values::Words(1)),
    ("TRACE_OUTPUT_FILE", Values::Words(1)),
    ("UPLINK_MON_FILE", Values::Words(1)),
    ("USE_DYNAMIC_PFC_THRESHOLD", Values::Words(1)),
    ("U_TARGET", Values::Words(1)),
    ("VAR_WIN", Values::Words(1)),
    ("VOQ_MON_DETAIL_FILE", Values::Words(1)),
    ("VOQ_MON_FILE", Values::Words(1)),
];
