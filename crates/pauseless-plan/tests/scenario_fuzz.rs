//! No input makes the reader panic; what it accepts can be written out, read again and run.

use pauseless_core::unit::{Span, Time};
use pauseless_scenario::{Overrides, Scenario};
use pauseless_sim::Simulator;
use proptest::prelude::*;

const SEEDS: [&str; 13] = [
    include_str!("../../../scenarios/gfc-ring.toml"),
    include_str!("../../../scenarios/gfc-ring-time.toml"),
    include_str!("../../../scenarios/gfc-fig5-conceptual.toml"),
    include_str!("../../../papers/gfc/fig14.toml"),
    include_str!("../../../papers/hotnets/fig3.toml"),
    TORUS,
    RANDOM,
    CLOS,
    include_str!("../../../papers/gfc/fig20.toml"),
    include_str!("../../../papers/pcn/fig11.toml"),
    TOLD,
    SHARED,
    MITIGATED,
];

const MITIGATED: &str = "duration = \"20 us\"
[topology]
kind = \"ring\"
switches = 3
hosts_per_switch = 1
rate = \"10 Gbps\"
delay = \"1 us\"
[switch]
buffer = \"200 KB\"
[flow_control]
kind = \"pfc\"
[[flow]]
source = \"H1\"
target = \"H3\"
[watchdog]
detection = \"2 us\"
restoration = \"3 us\"
poll = \"1 us\"
action = \"forward\"
[recovery]
kind = \"drain\"
delay = \"1 us\"
[[rate_limit]]
ports = [\"H*:*\"]
classes = [0]
rate = \"4 Gbps\"
[provenance]
record = true
";

const TORUS: &str = "duration = \"20 us\"
[topology]
kind = \"torus\"
dimensions = [4, 3, 2]
hosts_per_switch = 1
rate = \"10 Gbps\"
delay = \"1 us\"
failed_links = [[\"S0_0_0\", \"S1_0_0#1\"]]
[flow_control]
kind = \"none\"
[traffic]
kind = \"permutation\"
";

const RANDOM: &str = "duration = \"20 us\"
[topology]
kind = \"random-regular\"
switches = 8
degree = 3
hosts_per_switch = 2
seed = 4
rate = \"10 Gbps\"
delay = \"1 us\"
random_failures = { share = \"10 %\", seed = 2 }
[flow_control]
kind = \"none\"
[[flow]]
source = \"H0\"
target = \"H1\"
";

const CLOS: &str = "duration = \"20 us\"
[topology]
kind = \"clos\"
pods = 2
tors_per_pod = 2
leaves_per_pod = 2
spines = 2
hosts_per_tor = 2
links_per_tor_leaf = 2
rate = \"10 Gbps\"
delay = \"1 us\"
failed_switches = [\"S1\"]
[flow_control]
kind = \"none\"
[traffic]
kind = \"permutation\"
";

/// Every scheme by turns: the kind is one of the pieces.
const TOLD: &str = "duration = \"200 us\"
[topology]
kind = \"n-to-1\"
senders = 3
rate = \"10 Gbps\"
delay = \"1 us\"
[switch]
buffer = \"1 MB\"
classes = 2
[flow_control]
kind = \"pfc\"
[congestion_control]
kind = \"timely\"
feedback_class = \"own\"
ack_every = 2
t_low = \"5 us\"
patched = true
[[flow]]
source = \"H1\"
target = \"R\"
count = 3
initial_rate = \"1 Gbps\"
[[flow]]
source = \"H2\"
target = \"R\"
congestion_control = false
[traffic]
kind = \"incast\"
target = \"R\"
sizes = \"websearch\"
classes_by_size = [[\"10 KB\", 1]]
";

/// Ports that share their memory.
const SHARED: &str = "duration = \"200 us\"
[topology]
kind = \"ring\"
switches = 3
hosts_per_switch = 1
rate = \"10 Gbps\"
delay = \"1 us\"
[switch]
classes = 2
[switch.memory]
kind = \"shared\"
total = \"300 KB\"
reserve = \"2 KB\"
alpha = \"1/2\"
headroom_pool = \"port\"
[[switch.memory.at]]
ports = [\"S1:*\"]
classes = [1]
threshold = \"20 KB\"
[flow_control]
kind = \"pfc\"
[traffic]
kind = \"permutation\"
";

/// Pieces that mean something in a scenario file.
const PIECES: [&str; 72] = [
    "\"1/8\"",
    "\"partitions\"",
    "\"switch\"",
    "[\"9 KB\", \"8 KB\"]",
    "\"0 B\"",
    "\"64 B\"",
    "\"4 GB\"",
    "\"18446744073709551615 B\"",
    "\"1 ps\"",
    "\"86400 s\"",
    "\"1 s\"",
    "\"1 Mbps\"",
    "\"1600 Gbps\"",
    "\"1 bps\"",
    "\"12.5 us\"",
    "0",
    "1",
    "2",
    "8",
    "65535",
    "4294967295",
    "-1",
    "1e308",
    "nan",
    "inf",
    "true",
    "[]",
    "{}",
    "[[]]",
    "\"\"",
    "\"pfc\"",
    "\"cbfc\"",
    "\"gfc-buffer\"",
    "\"gfc-time\"",
    "\"gfc-conceptual\"",
    "\"none\"",
    "\"ring\"",
    "\"line\"",
    "\"dumbbell\"",
    "\"n-to-1\"",
    "\"fat-tree\"",
    "\"parking-lot\"",
    "\"leaf-spine\"",
    "\"clos\"",
    "\"rail-optimised\"",
    "\"dragonfly\"",
    "\"torus\"",
    "\"mesh\"",
    "\"random-regular\"",
    "[3, 2]",
    "\"50 %\"",
    "{ share = \"20 %\" }",
    "{ count = 1 }",
    "\"custom\"",
    "\"S1\"",
    "\"*\"",
    "\"é\"",
    "1979-05-27",
    "\"ecmp\"",
    "[\"S1:H1\"]",
    "\"pcn\"",
    "\"qcn\"",
    "\"dcqcn\"",
    "\"timely\"",
    "\"own\"",
    "\"data\"",
    "\"departure\"",
    "\"arrival\"",
    "\"after-stage\"",
    "0.5",
    "1e-9",
    "false",
];

/// Keys that may be added to any section.
const KEYS: [&str; 93] = [
    "mtu",
    "wire_overhead",
    "switches",
    "hosts_per_switch",
    "left",
    "right",
    "senders",
    "k",
    "rate",
    "delay",
    "failed_links",
    "failed_switches",
    "random_failures",
    "dimensions",
    "degree",
    "links",
    "spines",
    "links_per_pair",
    "tie_break",
    "buffer",
    "classes",
    "processing",
    "processing_jitter",
    "xoff",
    "xon",
    "pause_quanta",
    "credits",
    "period",
    "refresh",
    "bm",
    "b1",
    "b0",
    "tau",
    "guard",
    "rate_unit",
    "unsafe_parameters",
    "size",
    "packet",
    "start",
    "stop",
    "class",
    "resolution",
    "start_jitter",
    "host_rate",
    "kind",
    "feedback_class",
    "ack_every",
    "w_min",
    "w_max",
    "rate_min",
    "queue_set_point",
    "weight",
    "sample_base",
    "gd",
    "decrease_factor_min",
    "byte_reset",
    "time_reset",
    "threshold",
    "rate_ai",
    "rate_hai",
    "scale_with_speed",
    "kmin",
    "kmax",
    "pmax",
    "mark_at",
    "phantom",
    "cnp_interval",
    "alpha_timer",
    "alpha_initial",
    "g",
    "increase_timer",
    "byte_counter",
    "clamp",
    "min_rtt",
    "ewma_weight",
    "beta",
    "t_low",
    "t_high",
    "delta",
    "hai_threshold",
    "hai_factor",
    "patched",
    "initial_rate",
    "congestion_control",
    "memory",
    "total",
    "reserve",
    "headroom",
    "headroom_pool",
    "headroom_total",
    "alpha",
    "resume_offset",
    "partitions",
];

fn check(text: &str) {
    let parsed = Scenario::parse("t", text, &Overrides::default());
    match parsed {
        Err(problems) => {
            let text = problems.to_string();
            assert!(text.starts_with("pauseless: t"), "{text}");
            assert!(!problems.list().is_empty());
            let _ = problems.render(true);
        }
        Ok(scenario) => {
            let again = Scenario::parse("t", &scenario.resolved(), &Overrides::default());
            let again =
                again.unwrap_or_else(|problems| panic!("{problems}\n{}", scenario.resolved()));
            assert!(format!("{:?}", scenario.config) == format!("{:?}", again.config), "{text}");
            let _ = pauseless_plan::explain::explain(&scenario).to_string();
            if scenario.config.topology.nodes().len() < 100 {
                let mut run = Simulator::new(&scenario.config);
                run.advance(Time::ZERO + Span::us(20));
                let _ = run.finish();
            }
        }
    }
}

/// One change of a line of a file.
#[derive(Clone, Debug)]
enum Change {
    Drop,
    Twice,
    Value(usize),
    Add(usize, usize),
    Insert(String),
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        Just(Change::Drop),
        Just(Change::Twice),
        (0..PIECES.len()).prop_map(Change::Value),
        (0..KEYS.len(), 0..PIECES.len()).prop_map(|(key, value)| Change::Add(key, value)),
        ".{0,8}".prop_map(Change::Insert),
    ]
}

fn apply(lines: &mut Vec<String>, at: usize, change: &Change) {
    let at = at % lines.len();
    match change {
        Change::Drop => drop(lines.remove(at)),
        Change::Twice => lines.insert(at, lines[at].clone()),
        Change::Value(value) => {
            if let Some((key, _)) = lines[at].split_once('=') {
                lines[at] = format!("{key}= {}", PIECES[*value]);
            }
        }
        Change::Add(key, value) => lines.insert(at, format!("{} = {}", KEYS[*key], PIECES[*value])),
        Change::Insert(text) => {
            let middle = lines[at].len() / 2;
            let middle = (0..=middle).rev().find(|n| lines[at].is_char_boundary(*n));
            lines[at].insert_str(middle.unwrap_or(0), text);
        }
    }
    if lines.is_empty() {
        lines.push(String::new());
    }
}

/// Parameters that nobody would choose, with the promise that they are wanted.
fn reckless() -> impl Strategy<Value = String> {
    const BYTES: [&str; 7] = ["0 B", "1 B", "1500 B", "64 KB", "99999 B", "1 MB", "4 GB"];
    const SPANS: [&str; 5] = ["1 ps", "51.2 ns", "3.4 us", "90 us", "1 s"];
    const RATES: [&str; 4] = ["1 Mbps", "2.5 Gbps", "100 Gbps", "1600 Gbps"];
    let bytes = || prop::option::of(prop::sample::select(&BYTES[..]));
    let spans = || prop::option::of(prop::sample::select(&SPANS[..]));
    const KINDS: [(&str, &[&str]); 6] = [
        ("pfc", &["xoff", "xon"]),
        ("cbfc", &["credits", "period"]),
        ("gfc-buffer", &["bm", "b1", "refresh"]),
        ("gfc-time", &["bm", "b0", "period"]),
        ("gfc-conceptual", &["bm", "b0", "tau"]),
        ("none", &[]),
    ];
    let kind = prop::sample::select(&KINDS[..]);
    let discipline =
        prop::sample::select(&["output-queued", "virtual-output-queued", "input-queued"][..]);
    let mtu = prop::sample::select(&["64 B", "1000 B", "9 KB", "1 MB"][..]);
    let rate = prop::sample::select(&RATES[..]);
    let params = (bytes(), bytes(), spans(), bytes(), spans());
    (kind, discipline, mtu, rate, params, 1..=8u8).prop_map(
        |((kind, keys), discipline, mtu, rate, (first, second, third, buffer, processing), classes)| {
            let mut text = format!(
                "duration = \"20 us\"\nmtu = {mtu:?}\n[topology]\nkind = \"ring\"\nswitches = 3\n\
                 hosts_per_switch = 1\nrate = {rate:?}\ndelay = \"0 us\"\n[switch]\nclasses = {classes}\n\
                 discipline = {discipline:?}\nbuffer = {:?}\nprocessing = {:?}\n\
                 [flow_control]\nkind = {kind:?}\nunsafe_parameters = true\n",
                buffer.unwrap_or("2 MB"),
                processing.unwrap_or("3 us"),
            );
            for (index, key) in keys.iter().enumerate() {
                let value = match *key {
                    "period" | "refresh" | "tau" => third,
                    _ => [first, second][index],
                };
                if let Some(value) = value {
                    text.push_str(&format!("{key} = {value:?}\n"));
                }
            }
            text + "[timing]\nstart_jitter = \"1 us\"\n[traffic]\nkind = \"permutation\"\n"
        },
    )
}

/// A congestion control with parameters that nobody would choose.
fn restless() -> impl Strategy<Value = String> {
    const BYTES: [&str; 4] = ["1 B", "64 B", "26 KB", "1000 GB"];
    const SPANS: [&str; 4] = ["1 ns", "50 us", "15 ms", "10 s"];
    const RATES: [&str; 4] = ["1 bps", "5 Mbps", "40 Gbps", "1600 Gbps"];
    const SHARES: [&str; 4] = ["1e-9", "0.0078125", "0.5", "1"];
    const COUNTS: [&str; 3] = ["1", "5", "1000"];
    const BOOLS: [&str; 2] = ["true", "false"];
    const KINDS: [(&str, &str); 4] = [
        ("pcn", "period:s w_min:x w_max:x rate_min:r"),
        (
            "qcn",
            "queue_set_point:b weight:x sample_base:b gd:x decrease_factor_min:x byte_reset:b \
             time_reset:s threshold:n rate_ai:r rate_hai:r rate_min:r scale_with_speed:t",
        ),
        (
            "dcqcn",
            "kmin:b kmax:b pmax:x phantom:x cnp_interval:s alpha_timer:s alpha_initial:x g:x \
             increase_timer:s byte_counter:b threshold:n rate_ai:r rate_hai:r rate_min:r \
             scale_with_speed:t",
        ),
        (
            "timely",
            "ewma_weight:x beta:x t_low:s t_high:s delta:r min_rtt:s hai_threshold:n hai_factor:n \
             rate_min:r patched:t scale_with_speed:t",
        ),
    ];
    let kind = prop::sample::select(&KINDS[..]);
    let choices = prop::collection::vec(prop::option::of(0..12usize), 16);
    let class = prop::sample::select(&["own", "data"][..]);
    let rate = prop::sample::select(&["1 Mbps", "10 Gbps", "1600 Gbps"][..]);
    (kind, choices, class, rate).prop_map(|((kind, keys), choices, class, rate)| {
        let mut section = format!("kind = {kind:?}\nfeedback_class = {class:?}\n");
        for (key, choice) in keys.split_whitespace().zip(choices) {
            let ((key, of), Some(choice)) = (key.split_once(':').expect("a kind"), choice) else {
                continue;
            };
            let pick = |list: &[&str]| list[choice % list.len()].to_string();
            let value = match of {
                "b" => format!("{:?}", pick(&BYTES)),
                "s" => format!("{:?}", pick(&SPANS)),
                "r" => format!("{:?}", pick(&RATES)),
                "x" => pick(&SHARES),
                "n" => pick(&COUNTS),
                _ => pick(&BOOLS),
            };
            section.push_str(&format!("{key} = {value}\n"));
        }
        format!(
            "duration = \"20 us\"\n[topology]\nkind = \"n-to-1\"\nsenders = 3\nrate = {rate:?}\n\
             delay = \"100 ns\"\n[switch]\nbuffer = \"100 MB\"\n[flow_control]\nkind = \"pfc\"\n\
             [congestion_control]\n{section}[timing]\nstart_jitter = \"0 us\"\n\
             [traffic]\nkind = \"incast\"\ntarget = \"R\"\nsize = \"100 KB\"\n"
        )
    })
}

/// Enough for every day; PROPTEST_CASES asks for more.
fn cases() -> u32 {
    let asked = std::env::var("PROPTEST_CASES").ok();
    asked.and_then(|asked| asked.parse().ok()).unwrap_or(400)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), ..ProptestConfig::default() })]

    #[test]
    fn any_text(text in "\\PC*") {
        check(&text);
    }

    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        check(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn reckless_parameters(text in reckless()) {
        check(&text);
    }

    #[test]
    fn restless_congestion_controls(text in restless()) {
        check(&text);
    }

    #[test]
    fn changed_files(
        seed in 0..SEEDS.len(),
        changes in prop::collection::vec((any::<usize>(), change()), 1..6),
    ) {
        let mut lines: Vec<String> = SEEDS[seed].lines().map(String::from).collect();
        for (at, change) in &changes {
            apply(&mut lines, *at, change);
        }
        check(&lines.join("\n"));
    }
}
