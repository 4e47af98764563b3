//! Traffic matrices, `.cm`: who sends how much to whom, and which flow waits for which.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use pauseless_text::foreign;
use pauseless_text::lex::{Text, Word};
use pauseless_text::problem::Sink;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Matrix {
    pub nodes: u64,
    pub flows: Vec<Flow>,
    /// Notes for the user, such as lines without effect.
    pub notes: Vec<String>,
}

/// A line `SOURCE->TARGET` of the matrix.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Flow {
    pub source: u64,
    pub target: u64,
    /// The number that it has in the file, if it has one.
    pub id: Option<u64>,
    /// The start in picoseconds, if the flow does not wait for a trigger.
    pub start: Option<u64>,
    /// The number of payload bytes.
    pub size: u64,
    /// The places of the flows that must have ended.
    pub after: Vec<usize>,
    /// The bytes at which the line begins and ends.
    pub at: (u32, u32),
}

/// What a trigger does when it is fired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Starts all its flows, once.
    OneShot,
    /// Starts one flow each time.
    MultiShot,
    /// Starts all its flows when it has been fired so often.
    Barrier(u64),
}

/// A trigger and who has to do with it.
#[derive(Debug, Default)]
struct Trigger<'t> {
    kind: Option<Kind>,
    /// The word that names it first.
    word: Option<Word<'t>>,
    /// Flows that fire it when they end.
    causes: Vec<usize>,
    /// Flows that it starts.
    effects: Vec<usize>,
}

/// As far as htsim counts, and no further than memory goes.
const NODES: RangeInclusive<u64> = 1..=100_000;
const COUNTS: RangeInclusive<u64> = 0..=5_000_000;
const IDS: RangeInclusive<u64> = 1..=u32::MAX as u64;
/// Bytes of a flow, up to a petabyte.
const SIZES: RangeInclusive<u64> = 1..=1_000_000_000_000_000;
/// The latest start, one day, in picoseconds.
const START_MAX: f64 = 86_400e12;

impl Matrix {
    /// Reads `text`; what is wrong goes to `sink`.
    pub(super) fn parse(text: Text<'_>, sink: &Sink) -> Matrix {
        let mut parser = Parser {
            sink,
            matrix: Matrix::default(),
            triggers: BTreeMap::new(),
            ids: BTreeMap::new(),
            counts: [None; 4],
            found: [0; 3],
            ignored: BTreeMap::new(),
        };
        for words in text.rows() {
            parser.line(&words);
        }
        parser.finish(text)
    }
}

struct Parser<'t, 's> {
    sink: &'s Sink,
    matrix: Matrix,
    triggers: BTreeMap<u64, Trigger<'t>>,
    ids: BTreeMap<u64, usize>,
    /// What the header says: nodes, connections, triggers, failures.
    counts: [Option<(u64, Word<'t>)>; 4],
    /// Connections, triggers and failures that there are.
    found: [u64; 3],
    /// Words without effect, and how often they stand there.
    ignored: BTreeMap<&'static str, u64>,
}

impl<'t> Parser<'t, '_> {
    fn line(&mut self, words: &[Word<'t>]) {
        let head = words[0];
        let place = ["Nodes", "Connections", "Triggers", "Failures"];
        if let Some(place) = place.iter().position(|word| *word == head.text) {
            return self.header(place, words);
        }
        match head.text {
            "trigger" => self.trigger(words),
            // Its own reader of matrices knows them, and htsim_roce does not look at them.
            "failure" => {
                self.found[2] += 1;
                *self.ignored.entry("failure").or_default() += 1;
            }
            text if text.contains("->") => self.connection(words),
            text => {
                let known = ["Nodes", "Connections", "Triggers", "Failures", "trigger", "failure"];
                let problem = head.unknown(format!("a line cannot begin with {text:?}"), known);
                self.sink.push(problem.expected("a header, SOURCE->TARGET, trigger or failure"));
            }
        }
    }

    fn header(&mut self, place: usize, words: &[Word<'t>]) {
        let head = words[0];
        let Some(word) = words.get(1) else {
            let problem = head.problem(format!("{} of what number?", head.text));
            self.sink.push(problem.expected("a number behind it"));
            return;
        };
        if self.counts[place].is_some() {
            let problem = head.problem(format!("a second line {}", head.text));
            self.sink.push(problem.help("leave one of them out"));
            return;
        }
        let range = if place == 0 { NODES } else { COUNTS };
        if let Some(count) = self.sink.take(word.integer(range)) {
            self.counts[place] = Some((count, *word));
            if place == 0 {
                self.matrix.nodes = count;
            }
        }
    }

    fn connection(&mut self, words: &[Word<'t>]) {
        self.found[0] += 1;
        let head = words[0];
        let mut flow = Flow::default();
        let ends = head.text.split_once("->").and_then(|(source, target)| {
            let source = source.parse::<u64>().ok()?;
            Some((source, target.parse::<u64>().ok()?))
        });
        let Some((source, target)) = ends.filter(|_| foreign::is_pair(head.text)) else {
            let problem = head.problem(format!("{:?} is no pair of hosts", head.text));
            self.sink.push(problem.expected("two numbers, as in 0->15"));
            return;
        };
        // Whether there are such hosts is looked at when all lines were read.
        (flow.source, flow.target) = (source, target);
        let end = words[words.len() - 1].at().end;
        flow.at = (head.start as u32, end as u32);
        let number = self.matrix.flows.len();
        let mut waits = None;
        let mut rest = words[1..].iter();
        while let Some(key) = rest.next() {
            let is_alone = key.text == "addon";
            let Some(value) = rest.clone().next().filter(|_| !is_alone) else {
                if is_alone {
                    *self.ignored.entry("addon").or_default() += 1
                } else {
                    self.cut_short(*key)
                }
                continue;
            };
            rest.next();
            match key.text {
                "trigger" => {
                    waits = self.part(*value, |trigger| trigger.effects.push(number));
                }
                "send_done_trigger" => {
                    self.part(*value, |trigger| trigger.causes.push(number));
                }
                _ => self.term(&mut flow, *key, *value),
            }
        }
        self.check(head, &flow, waits);
        if let Some(id) = flow.id
            && self.ids.insert(id, number).is_some()
        {
            let problem = head.problem(format!("a second flow has id {id}"));
            self.sink.push(problem.help("give each an id of its own"));
        }
        self.matrix.flows.push(flow);
    }

    fn cut_short(&self, key: Word<'t>) {
        let problem = key.problem(format!("nothing stands behind {:?}", key.text));
        self.sink.push(problem.expected(CONNECTION));
    }

    fn term(&mut self, flow: &mut Flow, key: Word<'t>, value: Word<'t>) {
        match key.text {
            "id" => flow.id = self.sink.take(value.integer(IDS)),
            "size" => flow.size = self.sink.take(value.integer(SIZES)).unwrap_or(1),
            "start" => {
                let start = value.text.parse::<f64>().ok();
                let start = start.filter(|start| (0.0..=START_MAX).contains(start));
                if start.is_none() {
                    let problem = value.problem(format!("{:?} is no start", value.text));
                    self.sink.push(problem.expected("picoseconds, from 0 to a day"));
                }
                flow.start = Some(start.unwrap_or(0.0) as u64);
            }
            "prio" => {
                self.sink.take(value.integer(0..=u64::from(u32::MAX)));
                *self.ignored.entry("prio").or_default() += 1;
            }
            "recv_done_trigger" => {
                let problem = key.problem("htsim_roce does not look at recv_done_trigger");
                let help =
                    "write send_done_trigger: a flow ends when its source has the last answer";
                self.sink.push(problem.help(help));
            }
            text => {
                let known = ["id", "start", "size", "trigger", "send_done_trigger", "prio"];
                let problem = key.unknown(format!("unknown word {text:?}"), known);
                self.sink.push(problem.expected(CONNECTION));
            }
        }
    }

    /// Both ends are hosts, if their number is known.
    fn check_ends(&self, text: Text<'_>, flow: &Flow) {
        let at = flow.at.0 as usize..flow.at.1 as usize;
        if flow.source == flow.target {
            let problem = text.problem(at.clone(), "source and target are the same host");
            self.sink.push(problem.help("choose another target"));
        }
        let Some((nodes, _)) = self.counts[0] else {
            return;
        };
        for end in [flow.source, flow.target].into_iter().filter(|end| *end >= nodes) {
            let problem = text.problem(at.clone(), format!("there is no host {end}"));
            let expected = format!("0 to {}: there are {nodes} Nodes", nodes - 1);
            self.sink.push(problem.expected(expected));
        }
    }

    fn check(&self, head: Word<'t>, flow: &Flow, waits: Option<Word<'t>>) {
        if flow.size == 0 {
            let problem = head.problem("a flow without a size, which never ends");
            self.sink.push(problem.help("write size BYTES behind it"));
        }
        match (flow.start, waits) {
            (None, None) => {
                let problem = head.problem("nothing starts this flow");
                self.sink.push(problem.help("write start 0, or trigger NUMBER"));
            }
            (Some(_), Some(trigger)) => {
                let problem = trigger.problem("the flow has a start already");
                self.sink.push(problem.help("keep one of start and trigger"));
            }
            _ => {}
        }
    }

    /// Notes who has to do with the trigger called `word`, which is returned if it can be one.
    fn part(&mut self, word: Word<'t>, note: impl FnOnce(&mut Trigger<'t>)) -> Option<Word<'t>> {
        let id = self.sink.take(word.integer(IDS))?;
        let trigger = self.triggers.entry(id).or_default();
        trigger.word.get_or_insert(word);
        note(trigger);
        Some(word)
    }

    fn trigger(&mut self, words: &[Word<'t>]) {
        self.found[1] += 1;
        let (mut id, mut kind, mut count) = (None, None, None);
        let mut rest = words[1..].iter();
        while let Some(word) = rest.next() {
            let mut value = || match rest.next() {
                Some(value) => self.sink.take(value.integer(IDS)).map(|number| (number, *value)),
                None => {
                    let problem = word.problem(format!("nothing stands behind {:?}", word.text));
                    self.sink.push(problem.expected(TRIGGER));
                    None
                }
            };
            match word.text {
                "id" => id = value(),
                "count" => count = value(),
                "oneshot" => kind = Some(Kind::OneShot),
                "multishot" => kind = Some(Kind::MultiShot),
                "barrier" => kind = Some(Kind::Barrier(0)),
                // What other writers put behind "barrier".
                text if kind == Some(Kind::Barrier(0)) && text.parse::<u64>().is_ok() => {
                    count = self.sink.take(word.integer(IDS)).map(|number| (number, *word));
                }
                text => {
                    let known = ["id", "count", "oneshot", "multishot", "barrier"];
                    let problem = word.unknown(format!("unknown word {text:?}"), known);
                    self.sink.push(problem.expected(TRIGGER));
                }
            }
        }
        let Some((id, word)) = id else {
            self.sink.push(words[0].problem("a trigger without an id").expected(TRIGGER));
            return;
        };
        let kind = match (kind, count) {
            (Some(Kind::Barrier(_)), Some((count, _))) => Some(Kind::Barrier(count)),
            (Some(Kind::Barrier(_)), None) => {
                let problem = word.problem("a barrier without a count");
                self.sink.push(problem.help("write count NUMBER behind it"));
                None
            }
            (None, _) => {
                let problem = word.problem("what kind of trigger is it?");
                self.sink.push(problem.expected("oneshot, multishot or barrier"));
                None
            }
            (kind, _) => kind,
        };
        let trigger = self.triggers.entry(id).or_default();
        trigger.word.get_or_insert(word);
        if trigger.kind.is_some() {
            let problem = word.problem(format!("trigger {id} is described twice"));
            self.sink.push(problem.help("leave one of them out"));
        }
        trigger.kind = kind.or(trigger.kind);
    }

    fn finish(mut self, text: Text<'_>) -> Matrix {
        self.check_counts(text);
        self.matrix.flows.iter().for_each(|flow| self.check_ends(text, flow));
        let triggers = std::mem::take(&mut self.triggers);
        for (id, trigger) in &triggers {
            self.connect(*id, trigger);
        }
        for (word, count) in &self.ignored {
            let note = format!("{word} (on {count} lines) has no effect, as in htsim_roce");
            self.matrix.notes.push(note);
        }
        self.matrix
    }

    fn check_counts(&self, text: Text<'_>) {
        if self.counts[0].is_none() {
            let problem = text.problem(0..0, "the number of hosts is missing");
            self.sink.push(problem.help("begin with a line such as Nodes 128"));
        }
        if self.matrix.flows.is_empty() && self.found[0] == 0 {
            let problem = text.problem_at_end("no connection: nothing would happen");
            self.sink.push(problem.help("add a line such as 0->1 start 0 size 2000000"));
        }
        let names = ["connections", "triggers", "failures"];
        for ((count, found), name) in self.counts[1..].iter().zip(self.found).zip(names) {
            let wanted = count.map_or(0, |(count, _)| count);
            if wanted != found {
                let message = format!("the header says {wanted} {name}, and there are {found}");
                let at = count.map_or(0..0, |(_, word)| word.at());
                self.sink.push(text.problem(at, message).help("is the file complete?"));
            }
        }
    }

    /// Lets the flows of a trigger wait for those that fire it.
    fn connect(&mut self, id: u64, trigger: &Trigger<'t>) {
        let Some(word) = trigger.word else { return };
        let causes = trigger.causes.len() as u64;
        let refuse = |message: String, help: &str| {
            self.sink.push(word.problem(message).help(help));
        };
        match trigger.kind {
            None => {
                return refuse(
                    format!("trigger {id} is not described"),
                    &format!(
                        "add a line such as trigger id {id} oneshot, and count it in Triggers"
                    ),
                );
            }
            _ if trigger.effects.is_empty() => {
                return self.matrix.notes.push(format!("trigger {id} starts no flow"));
            }
            _ if causes == 0 => {
                return refuse(
                    format!("nothing fires trigger {id}, so that its flows never start"),
                    &format!("add send_done_trigger {id} to a flow"),
                );
            }
            Some(Kind::OneShot) if causes > 1 => {
                return refuse(
                    format!("trigger {id} is oneshot, and {causes} flows fire it"),
                    &format!("write barrier count {causes}, or give each a trigger of its own"),
                );
            }
            Some(Kind::MultiShot) if causes > 1 || trigger.effects.len() > 1 => {
                return refuse(
                    format!("trigger {id} starts flows in the order in which others end"),
                    "that is not supported: give each flow a oneshot trigger of its own",
                );
            }
            Some(Kind::Barrier(count)) if count != causes => {
                return refuse(
                    format!("trigger {id} waits for {count} flows, and {causes} fire it"),
                    &format!("write count {causes}"),
                );
            }
            Some(_) => {}
        }
        for flow in &trigger.effects {
            let after = &mut self.matrix.flows[*flow].after;
            after.extend(&trigger.causes);
            after.sort_unstable();
            after.dedup();
        }
    }
}

const CONNECTION: &str =
    "SOURCE->TARGET [id N] start PS or trigger N, size BYTES [send_done_trigger N]";
const TRIGGER: &str = "trigger id N oneshot, multishot or barrier count N";
