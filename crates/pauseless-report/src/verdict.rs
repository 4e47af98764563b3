//! The findings of a run in words.

use pauseless_core::id::FlowId;
use pauseless_core::port::FullPool;
use pauseless_core::transport::{GoBackN, Recovery};
use pauseless_core::unit::{Bytes, Span, Time};
use pauseless_sim::Outcome;
use pauseless_sim::change::{Change, What};
use pauseless_sim::outcome::{Bottleneck, Deadlock, Ended, Lost, Rival, Undecided};

use pauseless_run::Run;
use pauseless_run::metrics::has_started;
use pauseless_text::named;
use pauseless_text::quantity;

named! {
    /// What can be wrong with a run.
    #[derive(PartialOrd, Ord)]
    pub enum Finding {
        /// Queues that can never move again.
        Deadlock = "deadlock",
        /// A packet that did not fit, or was dropped to let others move.
        Loss = "loss",
        /// A flow that got far less than its fair rate for a long time.
        Starvation = "starvation",
    }
}

impl Finding {
    /// Whether the run has it.
    pub fn is_in(self, outcome: &Outcome) -> bool {
        match self {
            Finding::Deadlock => outcome.deadlock.is_some(),
            Finding::Loss => outcome.lost_packets > 0,
            Finding::Starvation => !outcome.starved.is_empty(),
        }
    }

    /// Whether the run has it, or what counts as it only for those who deny it: what wires lose, and what
    /// is lost to events, is what the scenario asked for.
    pub fn is_denied_in(self, outcome: &Outcome) -> bool {
        self.is_in(outcome) || self == Finding::Loss && asked_for(outcome).packets > 0
    }

    /// One sentence with the witness; the absence is a sentence too.
    pub fn sentence(self, run: &Run) -> String {
        match self {
            Finding::Deadlock => match &run.outcome.deadlock {
                Some(deadlock) => deadlock_sentence(run, deadlock),
                None if !run.looks_for_deadlock => UNSEEN.to_string(),
                None => "no deadlock".to_string(),
            },
            Finding::Loss => match run.outcome.lost_packets {
                0 if has_events(run) => "no loss beside events".to_string(),
                0 if run.outcome.losses.wire.packets > 0 => "no loss beside wires".to_string(),
                0 => "no loss".to_string(),
                _ => loss_sentence(run),
            },
            Finding::Starvation if has_events(run) => {
                "starvation is not judged: what is fair changes with the network".to_string()
            }
            Finding::Starvation if !run.scenario.config.has_one_path_per_flow() => {
                "starvation is not judged: what is fair depends on how flows use several paths"
                    .to_string()
            }
            Finding::Starvation if !run.outcome.starved.is_empty() => starvation_sentence(run),
            Finding::Starvation => match undecided(run) {
                Some(undecided) => undecided,
                None if run.outcome.is_stuck() => {
                    "no starvation beside what the deadlock has stopped".to_string()
                }
                None => "no starvation".to_string(),
            },
        }
    }
}

/// The findings that a run has, the worst first.
pub fn findings(outcome: &Outcome) -> Vec<Finding> {
    Finding::ALL.into_iter().filter(|finding| finding.is_in(outcome)).collect()
}

/// The verdict in a few words: `deadlock at 3.41 ms`, `starvation since 20 ms`, `no finding`.
pub fn brief(run: &Run) -> String {
    let outcome = &run.outcome;
    let mut parts = Vec::new();
    if let Some(deadlock) = &outcome.deadlock {
        parts.push(format!("deadlock at {}", run.instant(deadlock.time)));
    }
    match &outcome.loss {
        Some(loss) => parts.push(format!("loss at {}", run.instant(loss.time))),
        // Real nodes only count.
        None if outcome.losses.overrun.packets > 0 => parts.push("loss".to_string()),
        None if outcome.lost_packets > 0 => parts.push("loss on purpose".to_string()),
        None => {}
    }
    if let Some(since) = outcome.starved.iter().map(|starved| starved.since).min() {
        let since = run.instant(since);
        let what = if run.looks_for_deadlock { "starvation" } else { "starvation or deadlock" };
        let is_over = outcome.starved.iter().all(|starved| starved.until.is_some());
        let when = if is_over { "from" } else { "since" };
        parts.push(format!("{what} {when} {since}"));
    } else if outcome.undecided.is_some() && outcome.deadlock.is_none() {
        parts.push("starvation undecided".to_string());
    }
    if run.interrupted {
        parts.push(format!("interrupted at {}", run.instant(outcome.end)));
    }
    if parts.is_empty() {
        return "no finding".to_string();
    }
    parts.join(", ")
}

/// Why a run ended before its time, if it did because its question was answered.
pub fn ended(run: &Run) -> Option<String> {
    let why = match run.outcome.ended {
        Ended::Duration | Ended::Interrupted => return None,
        Ended::Deadlock => "a deadlock was found",
        Ended::Done => "all flows are done",
        Ended::Steady => "a steady state was reached",
    };
    Some(format!("ended at {}: {why}", run.instant(run.outcome.end)))
}

/// What is left in the switches after all sources have stopped; `None` while one still sends.
pub fn aftermath(run: &Run) -> Option<String> {
    let stopped = run.sources_stopped()?;
    let held = run.outcome.held_at_end;
    let sentence = match (run.outcome.is_stuck(), held) {
        (_, Bytes::ZERO) => {
            let span = run.outcome.last_arrival.saturating_since(stopped);
            format!("drained in {}", quantity::span(span))
        }
        (true, held) => format!("{} stuck for ever", quantity::bytes(held)),
        (false, held) if !run.looks_for_deadlock => {
            format!("{} held at the end", quantity::bytes(held))
        }
        (false, held) => format!("{} still draining", quantity::bytes(held)),
    };
    Some(sentence)
}

/// The sentence about deadlocks of runs in which each node is a process and sees only itself.
const UNSEEN: &str =
    "deadlock is not looked for with a process per node: what stands still is called starved";

fn deadlock_sentence(run: &Run, deadlock: &Deadlock) -> String {
    let queues = deadlock.cycle.iter();
    let queues = queues.map(|queue| run.queue_name(queue.node, queue.port, queue.class));
    let cycle = Vec::from_iter(queues).join(" -> ");
    let time = run.instant(deadlock.time);
    let others = deadlock.members.len().saturating_sub(deadlock.cycle.len());
    let others = match others {
        0 => String::new(),
        n => format!(" ({} wait behind it)", quantity::plural(n as u64, "more queue")),
    };
    let flows = flow_list(run, &deadlock.flows);
    let victims = run.victims();
    let victims = if victims.is_empty() {
        String::new()
    } else {
        format!("; it has also stopped {}", flow_list(run, &victims))
    };
    let end = episodes(run).map_or(String::new(), |text| format!("; {text}"));
    let time = match last_event_before(run, deadlock.time) {
        Some((name, ago)) => format!("{time}, {ago} {name}"),
        None => time,
    };
    format!("deadlock at {time}: {cycle}, closed by {flows}{others}{victims}{end}")
}

/// How deadlocks ended, where something can end them.
fn episodes(run: &Run) -> Option<String> {
    let episodes = &run.outcome.episodes;
    let broken = episodes.iter().filter_map(|episode| Some(episode.broken? - episode.found));
    let longest = broken.clone().max()?;
    let soon = |word: &str| match longest {
        Span::ZERO => "at once".to_string(),
        longest => format!("{word} {}", quantity::span(longest)),
    };
    Some(match (episodes.len(), broken.count()) {
        (1, _) => {
            let by = event_name(run, episodes[0].broken_by_event);
            let by = by.map_or(String::new(), |name| format!(" by {name}"));
            format!("it was broken {}{by}", soon("after"))
        }
        (all, broken) if all == broken => {
            format!("{all} deadlocks in all, each broken {}", soon("within"))
        }
        (all, broken) => format!("{all} deadlocks in all, {broken} broken {}", soon("within")),
    })
}

fn lost(lost: Lost) -> String {
    let packets = quantity::plural(lost.packets, "packet");
    format!("{packets} ({})", quantity::bytes(lost.bytes))
}

fn loss_sentence(run: &Run) -> String {
    let outcome = &run.outcome;
    let mut parts = Vec::new();
    if let Some(loss) = &outcome.loss {
        let overrun = if outcome.losses.total() == outcome.losses.overrun {
            String::new()
        } else {
            format!("{} did not fit, ", lost(outcome.losses.overrun))
        };
        let what = match loss.pool {
            FullPool::Buffer => String::new(),
            pool => format!(" of the {}", pool.name()),
        };
        parts.push(format!(
            "{overrun}the first at {} at {}, where flow {} found {} of {}{what} in use",
            run.instant(loss.time),
            run.port_name(loss.node, loss.port),
            run.flow_name(loss.flow),
            quantity::bytes(loss.held),
            quantity::bytes(loss.buffer),
        ));
    }
    let untimed = match outcome.loss {
        Some(_) => Lost::default(),
        None => outcome.losses.overrun,
    };
    let causes = [
        (untimed, "that did not fit or never came"),
        (outcome.losses.watchdog, "dropped by watchdogs"),
        (outcome.losses.drain, "dropped to break deadlocks"),
    ];
    let total = outcome.losses.total();
    for (cause, words) in causes {
        if cause == total {
            return format!("loss: {} {words}", lost(cause));
        }
        if cause.packets > 0 {
            parts.push(format!("{} {words}", lost(cause)));
        }
    }
    format!("loss: {}, {}", lost(total), parts.join(", "))
}

/// Packets that were lost because the scenario wanted so.
fn asked_for(outcome: &Outcome) -> Lost {
    let losses = &outcome.losses;
    [losses.wire, losses.event, losses.no_route].into_iter().fold(Lost::default(), |sum, cause| {
        Lost { packets: sum.packets + cause.packets, bytes: sum.bytes + cause.bytes }
    })
}

/// Whether the network changes during the run.
fn has_events(run: &Run) -> bool {
    !run.scenario.config.changes.is_empty()
}

/// What an event is called, by its number.
pub(crate) fn event_name(run: &Run, event: Option<u32>) -> Option<String> {
    run.scenario.config.changes.names.get(event? as usize).cloned()
}

/// The event that changed something last before an instant or at it, and how long before.
fn last_event_before(run: &Run, time: Time) -> Option<(String, String)> {
    let list = &run.scenario.config.changes.list;
    let past = &list[..list.partition_point(|change| change.time <= time)];
    let last = past.last()?;
    // What a switch learns of an event comes after it.
    let is_itself =
        |change: &&Change| change.event == last.event && !matches!(change.what, What::Table(..));
    let last = past.iter().rev().find(is_itself).unwrap_or(last);
    let ago = match time - last.time {
        Span::ZERO => "in the instant of".to_string(),
        ago => format!("{} after", quantity::span(ago)),
    };
    Some((event_name(run, Some(last.event))?, ago))
}

/// What was lost to events, which the scenario asked for and is no finding.
pub(super) fn events(run: &Run) -> Option<String> {
    if !has_events(run) {
        return None;
    }
    let outcome = &run.outcome;
    let changes = &run.scenario.config.changes.list;
    let past = changes.iter().filter(|change| change.time <= outcome.end);
    let events = std::collections::BTreeSet::from_iter(past.map(|change| change.event));
    let causes = [
        (outcome.losses.event, "lost with links that were down"),
        (outcome.losses.no_route, "dropped for want of a route"),
    ];
    let causes = causes.into_iter().filter(|(cause, _)| cause.packets > 0);
    let mut parts = Vec::from_iter(causes.map(|(cause, words)| format!("{} {words}", lost(cause))));
    if outcome.lost_control_frames > 0 {
        let frames = quantity::plural(outcome.lost_control_frames, "control frame");
        parts.push(format!("{frames} lost on wires"));
    }
    if parts.is_empty() {
        parts.push("nothing lost to them".to_string());
    }
    Some(format!("{}: {}", quantity::plural(events.len() as u64, "event"), parts.join(", ")))
}

/// What wires lost by themselves, which the scenario asked for and is no finding.
pub(super) fn wire_loss(run: &Run) -> Option<String> {
    let wire = run.outcome.losses.wire;
    (wire.packets > 0).then_some(format!("{} lost on wires (wire_loss)", lost(wire)))
}

/// Why flows do not finish of a run that has lost something, if some do not.
pub(super) fn unfinished(run: &Run) -> Option<String> {
    let outcome = &run.outcome;
    let why = match run.scenario.config.transport.recovery {
        Recovery::None => {
            "nothing that is lost is sent again; transport.recovery = \"go-back-n\" with a timeout does"
        }
        Recovery::GoBackN(GoBackN { timeout, .. }) if timeout == Span::MAX => {
            "go-back-n without a timeout; transport.timeout = \"100 us\" sends last packets again"
        }
        Recovery::GoBackN(_) => return None,
    };
    let has_lost = asked_for(outcome).packets > 0 || outcome.lost_packets > 0;
    let is_lossy = has_lost && !outcome.is_stuck() && !run.interrupted;
    let open = run.scenario.config.flows.iter().zip(&outcome.flows).filter(|(flow, outcome)| {
        let has_started = has_started(&run.outcome, outcome);
        flow.is_finite() && has_started && outcome.finish.is_none()
    });
    let sentence = match open.count() as u64 {
        0 => return None,
        1 => format!("1 flow does not finish: {why}"),
        count => format!("{} do not finish: {why}", quantity::plural(count, "flow")),
    };
    is_lossy.then_some(sentence)
}

/// The sentence about packets that expired: they were dropped on purpose, which is no finding.
pub(super) fn expired(run: &Run) -> String {
    let flows = run.outcome.flows.iter().enumerate().filter(|(_, flow)| flow.expired > Bytes::ZERO);
    let flows = Vec::from_iter(flows.map(|(index, _)| FlowId(index as u32)));
    format!(
        "expired: {} ({}) of {}, by TTL or for want of a class, which is no loss",
        quantity::plural(run.outcome.expired_packets, "packet"),
        quantity::bytes(run.outcome.expired_bytes),
        flow_list(run, &flows),
    )
}

/// Why nothing can be said about starvation, if the run was too short.
pub fn undecided(run: &Run) -> Option<String> {
    let Undecided { flow, since, needs } = run.outcome.undecided?;
    let [since, needs] = [since, needs].map(|time| run.instant(time));
    let flow = run.flow_name(flow);
    Some(format!(
        "starvation is undecided: {flow} is behind since {since}, needs at least {needs} if it gets \
         nothing more"
    ))
}

fn starvation_sentence(run: &Run) -> String {
    // Those that starve at the end come first.
    let mut starved = Vec::from_iter(&run.outcome.starved);
    starved.sort_by_key(|it| it.until.is_some());
    let mut parts: Vec<String> = Vec::new();
    for flow in starved.iter().take(NAMES_MAX) {
        let since = run.instant(flow.since);
        let when = match (flow.until, flow.times) {
            (None, 1) => format!("since {since}"),
            (None, times) => format!("since {since}, {times} times"),
            (Some(until), 1) => format!("from {since} to {}", run.instant(until)),
            (Some(until), times) => {
                format!("{times} times from {since} to {}", run.instant(until))
            }
        };
        let (rate, fair) = (quantity::rate(flow.rate_bps), quantity::rate(flow.fair_bps));
        parts.push(format!("{} at {rate} of a fair {fair} {when}", run.flow_name(flow.flow)));
    }
    if starved.len() > NAMES_MAX {
        parts.push(format!("and {} more", starved.len() - NAMES_MAX));
    }
    let witness = starved.first().and_then(|it| Some(witness(run, it.bottleneck?, &it.rivals)));
    parts.extend(witness);
    format!("starvation: {}", parts.join("; "))
}

/// Who has the share of a flow that starves.
fn witness(run: &Run, bottleneck: Bottleneck, rivals: &[Rival]) -> String {
    let Bottleneck { node, port, used } = bottleneck;
    let port = run.port_name(node, port);
    let used = quantity::percent(used);
    let names = rivals
        .iter()
        .map(|rival| format!("{} ({})", run.flow_name(rival.flow), quantity::rate(rival.rate_bps)));
    let names = Vec::from_iter(names);
    if bottleneck.used < IDLE || names.is_empty() {
        return format!("nobody has its share of {port}, which is used to {used}");
    }
    format!("{port} is used to {used}, mostly by {}", names.join(", "))
}

/// `flow F1`, `flows F1, F2`, `flows F1, .. F8 and 4 more`.
fn flow_list(run: &Run, flows: &[FlowId]) -> String {
    let names = quantity::some(flows.iter().map(|flow| run.flow_name(*flow)), NAMES_MAX);
    match flows.len() {
        0 => "no flow".to_string(),
        1 => format!("flow {names}"),
        _ => format!("flows {names}"),
    }
}

/// A link that is used less than this has room for a flow that starves.
const IDLE: f64 = 0.5;

/// The most names in a sentence.
const NAMES_MAX: usize = 8;
