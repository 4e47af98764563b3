//! Fat trees, `.topo`: how many hosts, and what each tier of switches is like.

use std::ops::{Range, RangeInclusive};

use pauseless_core::unit::{Rate, Span};

use pauseless_text::lex::{Text, Word};
use pauseless_text::problem::Sink;
use pauseless_text::reader::{Place, did_you_mean};

/// A tree of two or three tiers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Tree {
    pub hosts: u64,
    /// Switches next to hosts, above them, and at the top; the last are none in a tree of two tiers.
    pub counts: [u64; 3],
    pub hosts_per_lower: u64,
    pub lowers_per_pod: u64,
    pub uppers_per_pod: u64,
    /// How many cores a switch of the second tier is joined to.
    pub cores_per_upper: u64,
    /// The links below each tier.
    pub links: [Link; 3],
    /// What a switch of each tier adds to the way of a packet.
    pub latencies: [Span; 3],
    /// Where rate and delay of the links below each tier were written.
    pub places: [[Place; 2]; 3],
}

/// The links from a tier to the one below.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Link {
    pub rate: Rate,
    pub delay: Span,
    /// Parallel links of a pair.
    pub bundle: u64,
}

impl Tree {
    /// The tree that htsim makes for so many hosts if it has no file: three tiers of switches with k
    /// ports; `None` if no k fits.
    pub(super) fn for_hosts(hosts: u64, link: Link, latency: Span) -> Option<Tree> {
        let k = (1..=256).find(|k| k * k * k / 4 >= hosts)?;
        let half = k / 2;
        (k * k * k / 4 == hosts && k % 2 == 0).then_some(Tree {
            hosts,
            counts: [k * half, k * half, half * half],
            hosts_per_lower: half,
            lowers_per_pod: half,
            uppers_per_pod: half,
            cores_per_upper: half,
            links: [link; 3],
            latencies: [latency; 3],
            places: Default::default(),
        })
    }

    /// Whether the tree has a node of this name, such as `H3` or `LS0`; a suffix `#n`, which tells
    /// parallel links apart, is ignored.
    pub(super) fn has(&self, name: &str) -> bool {
        let name = name.split('#').next().unwrap_or(name);
        let counts = ["H", "LS", "US", "CS"].into_iter();
        counts.zip([self.hosts].into_iter().chain(self.counts)).any(|(tier, count)| {
            let number = name.strip_prefix(tier).and_then(|number| number.parse::<u64>().ok());
            number.is_some_and(|number| number < count)
        })
    }

    /// The tree of two tiers that htsim makes for so many hosts.
    pub(super) fn for_hosts_of_two(hosts: u64, link: Link, latency: Span) -> Option<Tree> {
        let k = (1..=2_000).find(|k| k * k / 2 >= hosts)?;
        let half = k / 2;
        (k * k / 2 == hosts && k % 2 == 0).then_some(Tree {
            hosts,
            counts: [k, half, 0],
            hosts_per_lower: half,
            lowers_per_pod: k,
            uppers_per_pod: half,
            cores_per_upper: 0,
            links: [link; 3],
            latencies: [latency; 3],
            places: Default::default(),
        })
    }
}

/// What a tier says of itself.
#[derive(Debug, Default)]
struct Tier<'t> {
    word: Option<Word<'t>>,
    values: [Option<(u64, Word<'t>)>; KEYS.len()],
}

/// The keys of a tier, in lower case, and their ranges.
const KEYS: [(&str, RangeInclusive<u64>); 9] = [
    ("downlink_speed_gbps", 1..=1_600),
    ("radix_down", 1..=100_000),
    ("radix_up", 1..=100_000),
    ("downlink_latency_ns", 1..=1_000_000_000),
    ("switch_latency_ns", 0..=1_000_000_000),
    ("oversubscribed", 1..=100_000),
    ("bundle", 1..=64),
    ("queue_up", 0..=u32::MAX as u64),
    ("queue_down", 0..=u32::MAX as u64),
];
const SPEED: usize = 0;
const RADIX_DOWN: usize = 1;
const RADIX_UP: usize = 2;
const LATENCY: usize = 3;
const SWITCH_LATENCY: usize = 4;
const OVERSUBSCRIBED: usize = 5;
const BUNDLE: usize = 6;
const HEADS: [(&str, RangeInclusive<u64>); 3] =
    [("nodes", 1..=100_000), ("tiers", 2..=3), ("podsize", 1..=100_000)];

struct Parser<'t, 's> {
    sink: &'s Sink,
    /// How many problems other files have.
    before: usize,
    heads: [Option<(u64, Word<'t>)>; 3],
    tiers: [Tier<'t>; 3],
    /// The tier that keys belong to; one that cannot be has keys that nobody looks at.
    at: Option<Option<usize>>,
}

impl Tree {
    /// Reads `text`; what is wrong goes to `sink`.
    pub(super) fn parse(text: Text<'_>, sink: &Sink) -> Option<Tree> {
        let mut parser = Parser {
            sink,
            before: sink.count(),
            heads: [None; 3],
            tiers: Default::default(),
            at: None,
        };
        for words in text.rows() {
            parser.line(&words);
        }
        if !parser.is_complete(text) {
            return None;
        }
        parser.tree()
    }
}

impl<'t> Parser<'t, '_> {
    fn line(&mut self, words: &[Word<'t>]) {
        let head = words[0];
        let name = head.text.to_ascii_lowercase();
        let Some(value) = words.get(1) else {
            let problem = head.problem(format!("nothing stands behind {:?}", head.text));
            self.sink.push(problem.expected("a number"));
            return;
        };
        if name == "tier" {
            let tier = self.sink.take(value.integer(0..=2)).map(|tier| tier as usize);
            if let Some(tier) = tier {
                self.tiers[tier].word = Some(head);
            }
            self.at = Some(tier);
            return;
        }
        if let Some(place) = HEADS.iter().position(|(head, _)| *head == name) {
            let number = self.sink.take(value.integer(HEADS[place].1.clone()));
            self.heads[place] = number.map(|number| (number, head)).or(self.heads[place]);
            return;
        }
        let Some(place) = KEYS.iter().position(|(key, _)| *key == name) else {
            let (heads, keys) = (HEADS.map(|(name, _)| name), KEYS.map(|(name, _)| name));
            let names = heads.into_iter().chain(keys);
            let problem = head.problem(format!("unknown key {:?}", head.text));
            let problem = problem.help(did_you_mean(&name, names.clone()));
            self.sink
                .push(problem.expected(format!("one of {}", Vec::from_iter(names).join(", "))));
            return;
        };
        let Some(tier) = self.at else {
            let problem = head.problem(format!("{} of which tier?", head.text));
            self.sink.push(problem.help("write a line such as Tier 0 before it"));
            return;
        };
        let Some(tier) = tier else { return };
        let slot = &mut self.tiers[tier].values[place];
        if slot.is_some() {
            let problem = head.problem(format!("a second {} of tier {tier}", head.text));
            self.sink.push(problem.help("leave one of them out"));
            return;
        }
        let number = self.sink.take(value.integer(KEYS[place].1.clone()));
        *slot = number.map(|number| (number, head));
    }

    /// Whether nothing is missing.
    fn is_complete(&self, text: Text<'_>) -> bool {
        let mut is_complete = true;
        let mut miss = |at: Range<usize>, name: &str, help: String| {
            self.sink.push(text.problem(at, format!("{name} is missing")).help(help));
            is_complete = false;
        };
        for (value, (name, _)) in self.heads.iter().zip(HEADS) {
            if value.is_none() {
                miss(0..0, name, format!("add a line such as {name} 3 before the tiers"));
            }
        }
        let tiers = self.heads[1].map_or(2, |(tiers, _)| tiers as usize);
        for (number, tier) in self.tiers[..tiers].iter().enumerate() {
            let Some(word) = tier.word else {
                let end = text.text.trim_end().len();
                miss(
                    end..end,
                    &format!("tier {number}"),
                    format!("add Tier {number} and its keys"),
                );
                continue;
            };
            let is_top = number + 1 == tiers;
            let needed = [SPEED, RADIX_DOWN, LATENCY].into_iter();
            let needed = needed.chain((!is_top).then_some(RADIX_UP));
            for key in needed.filter(|key| tier.values[*key].is_none()) {
                let (name, _) = KEYS[key];
                let help = format!("add {name} to tier {number}");
                miss(word.at(), &format!("{name} of tier {number}"), help);
            }
        }
        is_complete && self.sink.count() == self.before
    }

    fn value(&self, tier: usize, key: usize) -> u64 {
        let default = u64::from(key == OVERSUBSCRIBED || key == BUNDLE);
        self.tiers[tier].values[key].map_or(default, |(value, _)| value)
    }

    /// `a / b`, or a report at `key` of `tier` if that is no whole number above zero.
    fn share(&self, a: u64, b: u64, tier: usize, key: usize, what: &str) -> Option<u64> {
        if b > 0 && a >= b && a.is_multiple_of(b) {
            return Some(a / b);
        }
        let word = self.tiers[tier].values[key].map(|(_, word)| word).or(self.tiers[tier].word)?;
        let problem = word.problem(format!("{what} cannot be {a} / {b}"));
        self.sink
            .push(problem.help("sizes, radixes, speeds and oversubscription must fit together"));
        None
    }

    fn tree(&self) -> Option<Tree> {
        let [hosts, tiers, pod] = self.heads.map(|head| head.map_or(0, |(value, _)| value));
        let is_deep = tiers == 3;
        if self.value(0, BUNDLE) != 1 {
            let word = self.tiers[0].values[BUNDLE].map(|(_, word)| word)?;
            self.sink.push(word.problem("a host has one link").expected("1, or nothing"));
            return None;
        }
        let pods = self.head_share(hosts, pod)?;
        if !is_deep && pods > 1 {
            let (_, word) = self.heads[2]?;
            let problem = word.problem("two tiers are one pod");
            self.sink.push(problem.expected(format!("{hosts}, all hosts")));
            return None;
        }
        let hosts_per_lower = self.value(0, RADIX_DOWN);
        let lowers_per_pod =
            self.share(pod, hosts_per_lower, 0, RADIX_DOWN, "switches of a pod")?;
        // As htsim counts them: by capacity, then by ports.
        let speeds = [0, 1, 2].map(|tier| self.value(tier, SPEED));
        let below = hosts * speeds[0];
        let above = speeds[1] * self.value(0, OVERSUBSCRIBED);
        let uplinks = self.share(below, above, 0, OVERSUBSCRIBED, "links above tier 0")?;
        let downlinks = pods * self.value(1, RADIX_DOWN);
        let uppers_per_pod =
            self.share(uplinks, downlinks, 1, RADIX_DOWN, "tier 1 switches of a pod")?;
        let bundle = self.value(1, BUNDLE);
        self.expect(0, RADIX_UP, uppers_per_pod * bundle)?;
        let (mut cores, mut cores_per_upper) = (0, 0);
        if is_deep {
            let below = uplinks * speeds[1];
            let above = speeds[2] * self.value(1, OVERSUBSCRIBED);
            let top = self.share(below, above, 1, OVERSUBSCRIBED, "links above tier 1")?;
            cores = self.share(top, self.value(2, RADIX_DOWN), 2, RADIX_DOWN, "cores")?;
            let (radix, bundle) = (self.value(1, RADIX_UP), self.value(2, BUNDLE));
            cores_per_upper = self.share(radix, bundle, 1, RADIX_UP, "cores of a tier 1 switch")?;
            self.expect(1, RADIX_UP, cores / uppers_per_pod.min(cores) * self.value(2, BUNDLE))?;
        }
        let links = [0, 1, 2].map(|tier| Link {
            rate: Rate::gbps(self.value(tier, SPEED).max(1)),
            delay: Span::ns(self.value(tier, LATENCY)),
            bundle: self.value(tier, BUNDLE).max(1),
        });
        Some(Tree {
            hosts,
            counts: [lowers_per_pod * pods, uppers_per_pod * pods, cores],
            hosts_per_lower,
            lowers_per_pod,
            uppers_per_pod,
            cores_per_upper,
            links,
            latencies: [0, 1, 2].map(|tier| Span::ns(self.value(tier, SWITCH_LATENCY))),
            places: [0, 1, 2].map(|tier| {
                let values = [SPEED, LATENCY].map(|key| self.tiers[tier].values[key]);
                values
                    .map(|value| value.map_or(Place::default(), |(_, word)| word.place(word.text)))
            }),
        })
    }

    fn head_share(&self, hosts: u64, pod: u64) -> Option<u64> {
        if pod > 0 && hosts >= pod && hosts.is_multiple_of(pod) {
            return Some(hosts / pod);
        }
        let (_, word) = self.heads[2]?;
        let problem = word.problem(format!("{hosts} hosts are no whole number of pods of {pod}"));
        self.sink.push(problem.help("change Nodes or Podsize"));
        None
    }

    /// Reports where `key` of a tier does not say what follows from the rest.
    fn expect(&self, tier: usize, key: usize, value: u64) -> Option<()> {
        let (found, word) = self.tiers[tier].values[key]?;
        if found == value {
            return Some(());
        }
        let (name, _) = KEYS[key];
        let message =
            format!("{name} of tier {tier} is {found}, and the rest of the file makes it {value}");
        let help = "sizes, radixes, speeds, bundles and oversubscription must fit together";
        self.sink.push(word.problem(message).help(help));
        None
    }
}
