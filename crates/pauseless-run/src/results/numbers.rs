//! The numbers that a run can have. To add one, add an entry here: it is then known to campaigns,
//! claims, thresholds and `pauseless metrics`. `json` below `metrics.` puts it into the document of a
//! run (fields above that are written by hand in `pauseless-report`), `column` into the tables of flows,
//! `head` into the tables of the text report, and `kept` into the rows of campaigns.
//! `UPDATE_EXPECT=1 cargo test -p pauseless-run --test metrics_docs` writes it into the documentation.

use pauseless_core::unit::{Bytes, Span, Time};
use pauseless_sim::Outcome;
use pauseless_sim::outcome::Reordering;

use super::Json::{Absent, Null};
use super::Kept::{Always, Sampled, Usually};
use super::Unit::{Gbps, Kb, Ms, One, PerMs, PerSecond, Percent, Us};
use super::Value::{self, Real, Shown, Whole};
use super::{Facts, Measure, Number, Of};
use crate::metrics::completion::{fct, slowdown};
use crate::metrics::has_started;

/// Declares numbers: a sentence that says what each is, its name, its unit, whose it is with the
/// function that computes it, and fields of [`Number`] that are not as usual.
macro_rules! numbers {
    ($(
        $(#[doc = $says:literal])+
        $name:literal: $unit:ident, $of:ident($function:expr)
            $(, $field:ident: $value:expr)*;
    )+) => {
        &[$(Number {
            $($field: $value,)*
            ..Number::new($name, $unit, Of::$of($function), concat!($($says),+).trim_ascii_start())
        }),+]
    };
}

/// Every number that a run can have. Columns of campaigns and fields of JSON documents are in this
/// order.
pub static NUMBERS: &[Number] = numbers! {
    /// 1 if a deadlock was found, else 0.
    "deadlock": One, Run(|it| flag(it.run.outcome.deadlock.is_some())), kept: Always;
    /// 1 if a deadlock was found and nobody broke it, else 0.
    "stuck": One, Run(|it| flag(it.run.outcome.is_stuck())), kept: Sampled;
    /// When the first deadlock became inevitable.
    "deadlock_ms": Ms, Run(|it| Some(instant(it.run.outcome.deadlock.as_ref()?.time))),
        json: Absent("deadlock.time_ps"), kept: Usually, may_be_missing: true;
    /// How many queues the shortest cycle of the first deadlock has.
    "deadlock_ports": One, Run(|it| count(it.run.outcome.deadlock.as_ref()?.cycle.len())),
        kept: Sampled, may_be_missing: true;
    /// How many flows starved at any time: they got far less than their fair rate for long.
    "starved": One, Run(|it| count(it.run.outcome.starved.len())), kept: Always;
    /// How many flows starved until their end or that of the run.
    "starving": One, Run(|it| {
        count(it.run.outcome.starved.iter().filter(|it| it.until.is_none()).count())
    }), kept: Sampled;
    /// 1 if no flow starved, but the run was too short to tell whether one does; else 0.
    "undecided": One, Run(|it| {
        let outcome = &it.run.outcome;
        flag(outcome.undecided.is_some() && outcome.starved.is_empty())
    }), kept: Always;
    /// Packets lost: they did not fit, or were dropped by a watchdog or to break a deadlock; what
    /// wires lose by `wire_loss` is not among them.
    "lost": One, Run(|it| Some(Whole(it.run.outcome.lost_packets))), json: Absent("lost_packets"),
        kept: Always;
    /// Packets lost with links and switches that failed by an `[[event]]`; they are not among the lost.
    "lost_to_events": One, Run(|it| events(it, |outcome| outcome.losses.event.packets)),
        json: Absent("losses.event.packets"), kept: Sampled, may_be_missing: true;
    /// Packets that a switch knew no way for, after an `[[event]]`; they are not among the lost.
    "no_route": One, Run(|it| events(it, |outcome| outcome.losses.no_route.packets)),
        json: Absent("losses.no_route.packets"), kept: Sampled, may_be_missing: true;
    /// How many deadlocks an `[[event]]` broke.
    "broken_by_events": One, Run(|it| events(it, |outcome| {
        outcome.episodes.iter().filter(|it| it.broken_by_event.is_some()).count() as u64
    })), kept: Sampled, may_be_missing: true;
    /// How many warnings the scenario has.
    "warnings": One, Run(|it| count(it.run.scenario.warnings.len())), kept: Always;
    /// How much time was simulated.
    "end_ms": Ms, Run(|it| Some(instant(it.run.outcome.end))), json: Absent("simulated_ps"),
        kept: Usually;
    /// Data frames received by any node.
    "hops": One, Run(|it| Some(Whole(it.run.outcome.packet_hops))), json: Absent("packet_hops"),
        kept: Sampled;
    /// When the last data frame arrived anywhere.
    "last_arrival_ms": Ms, Run(|it| Some(instant(it.run.outcome.last_arrival))),
        json: Absent("last_arrival_ps"), kept: Sampled;
    /// What the buffers of all switches hold at the end.
    "held_kb": Kb, Run(|it| Some(bytes(it.run.outcome.held_at_end))),
        json: Absent("held_bytes_at_end"), kept: Usually;
    /// Control frames that told a sender to stop, with refreshes.
    "pauses": One, Run(|it| Some(Whole(it.run.outcome.pause_frames))), json: Absent("pause_frames"),
        kept: Usually;
    /// The largest share of the simulated time for which any port was held: stopped by PAUSE or for
    /// want of credits, or slowed down by GFC.
    "held_percent_max": Percent, Run(|it| {
        let longest = it.metrics.ports.iter().map(|port| port.held).max()?;
        let share = longest.as_secs_f64() / (it.run.outcome.end - Time::ZERO).as_secs_f64();
        Some(Real(share))
    });
    /// The largest share of a link's capacity that control frames took.
    "feedback_percent": Percent, Run(|it| Some(Real(it.run.outcome.feedback_share_max))),
        json: Absent("feedback_share_max"), kept: Sampled;
    /// The most that any ingress queue of a switch has held.
    "queue_max": Kb, Run(|it| Some(bytes(it.run.queue_max()))), kept: Usually;
    /// The late goodput of flows together: the most, over all instants, that those flows have whose
    /// last quarter the instant is in.
    "rate.sum": Gbps, Run(|it| {
        let rates = it.late_goodputs_together()?.into_iter().map(gbps);
        Some(Shown(rates.fold(0.0, |sum, rate| sum + rate)))
    }), kept: Usually;
    /// The mean late goodput of all flows.
    "rate.mean": Gbps, Run(|it| {
        let rates = it.late_goodputs()?.map(gbps);
        Some(Shown(rates.clone().sum::<f64>() / rates.count() as f64))
    }), kept: Sampled;
    /// The least late goodput of any flow.
    "rate.min": Gbps, Run(|it| {
        let rates = it.late_goodputs()?.map(gbps);
        Some(Shown(rates.fold(f64::INFINITY, f64::min)))
    }), kept: Usually;
    /// The largest late goodput of any flow.
    "rate.max": Gbps, Run(|it| Some(Shown(it.late_goodputs()?.map(gbps).fold(0.0, f64::max)))),
        kept: Sampled;
    /// The mean over all flows of the late goodput as a share of the max-min fair rate.
    "share_mean": Percent, Run(|it| {
        let shares = it.shares();
        let sum = shares.iter().sum::<f64>();
        (!shares.is_empty()).then(|| Shown(sum / shares.len() as f64))
    }), is_slow: true;
    /// The least of these shares.
    "share_min": Percent, Run(|it| it.shares().iter().copied().reduce(f64::min).map(Shown)),
        is_slow: true;
    /// Jain's index over the late goodput of the flows without end; where these get nothing late, or
    /// there are fewer than two, over the goodput of all flows.
    "jain": One, Run(|it| {
        let fairness = it.metrics.fairness_endless.or(it.metrics.fairness)?;
        Some(Real(fairness.jain))
    }), is_real: true, kept: Usually, may_be_missing: true;
    /// Jain's index over the goodput of all flows that have started; absent for fewer than two, and
    /// where nobody got anything.
    "jain_goodput": One, Run(|it| Some(Real(it.metrics.fairness?.jain))), is_real: true,
        json: Absent("metrics.jain_goodput"), may_be_missing: true;
    /// Jain's index over the late goodput of the flows without end that have started; absent for
    /// fewer than two, and where nobody got anything late, as in a deadlock.
    "jain_goodput_late_endless": One, Run(|it| Some(Real(it.metrics.fairness_endless?.jain))),
        is_real: true, json: Absent("metrics.jain_goodput_late_endless"), may_be_missing: true;
    /// For how long any link was in the congestion tree.
    "tree_ms": Ms, Run(|it| Some(span(it.metrics.tree?.duration))),
        json: Absent("metrics.congestion_tree.duration_ps"), kept: Sampled, may_be_missing: true;
    /// The most links at a time in the congestion tree; what lasts no time does not count.
    "tree_links": One, Run(|it| Some(Whole(it.metrics.tree?.links_max.into()))),
        json: Absent("metrics.congestion_tree.links_max"), kept: Sampled, may_be_missing: true;
    /// The mean number of links in the congestion tree, over the time in which there was any.
    "tree_links_mean": One, Run(|it| Some(Real(it.metrics.tree?.links_mean))), is_real: true,
        json: Absent("metrics.congestion_tree.links_mean"), may_be_missing: true;
    /// How many hosts were held themselves at any time.
    "tree_hosts": One, Run(|it| Some(Whole(it.metrics.tree?.hosts.into()))),
        json: Absent("metrics.congestion_tree.hosts"), kept: Sampled, may_be_missing: true;
    /// Acknowledgements and notifications that targets and switches sent to sources, each counted
    /// once.
    "answers": One, Run(|it| Some(Whole(it.metrics.answers?.packets))),
        json: Absent("metrics.answers.packets"), may_be_missing: true;
    /// How many of the answers are acknowledgements.
    "acknowledgements": One, Run(|it| Some(Whole(it.metrics.answers?.acknowledgements))),
        json: Absent("metrics.answers.acknowledgements"), may_be_missing: true;
    /// How many of the answers notify of congestion: CNPs and QCN's messages.
    "notifications": One, Run(|it| {
        let answers = it.metrics.answers?;
        Some(Whole(answers.packets - answers.acknowledgements))
    }), json: Absent("metrics.answers.notifications"), may_be_missing: true;
    /// Data packets that a switch has marked.
    "marked_packets": One, Run(|it| Some(Whole(it.metrics.answers?.marked_packets))),
        json: Absent("metrics.answers.marked_packets"), may_be_missing: true;
    /// The bytes of the answers, each counted once however many links it passed.
    "answers_kb": Kb, Run(|it| Some(bytes(it.metrics.answers?.bytes))),
        json: Absent("metrics.answers.bytes"), may_be_missing: true;
    /// The bytes of the answers divided by the sum of these and of what all flows have delivered.
    "answers_percent": Percent, Run(|it| Some(Real(it.metrics.answers?.share))),
        json: Absent("metrics.answers.share"), kept: Sampled, may_be_missing: true;
    /// Hash polarisation, or how evenly load balancing works: the largest ratio of what a next hop carried
    /// to its share of what all next hops of its set carried; 1 is even.
    "next_hop_load_max": One, Run(|it| Some(Real(it.next_hops()?.load_max))), is_real: true,
        is_slow: true, may_be_missing: true;
    /// The share of next hops, of all sets of several that carried anything, which carried nothing.
    "next_hops_idle_percent": Percent, Run(|it| Some(Real(it.next_hops()?.idle))),
        is_slow: true, may_be_missing: true;
    /// The share of data packets that arrived after packets of their flow that were sent later; of runs
    /// in which packets of a flow may take several paths, as the next ones.
    "reordered_percent": Percent, Run(|it| reordering(it, |all| {
        Real(all.late_packets as f64 / all.packets.max(1) as f64)
    })), json: Absent("metrics.reordering.share"), kept: Sampled, may_be_missing: true;
    /// The 99th percentile of the extent over all data packets: how many packets of its flow that were
    /// sent later arrived before it.
    "extent_p99": One, Run(|it| reordering(it, |all| {
        Whole(all.extents.percentile(990, all.packets))
    })), json: Absent("metrics.reordering.extent_p99"), may_be_missing: true;
    /// The largest extent of a data packet.
    "extent_max": One, Run(|it| reordering(it, |all| Whole(all.extents.max()))),
        json: Absent("metrics.reordering.extent_max"), kept: Sampled, may_be_missing: true;
    /// The 99th percentile of the late time over all data packets: how long before it the first packet of
    /// its flow arrived that was sent later; 0 if none did. It is rounded up by less than a percent.
    "late_p99_us": Us, Run(|it| reordering(it, |all| {
        Whole(all.late.percentile(990, all.packets))
    })), json: Absent("metrics.reordering.late_p99_ps"), may_be_missing: true;
    /// The longest late time of a data packet.
    "late_max_us": Us, Run(|it| {
        let flows = it.run.outcome.flows.iter().filter_map(|flow| flow.reordering);
        flows.map(|flow| flow.late_max).max().map(span)
    }), json: Absent("metrics.reordering.late_max_ps"), may_be_missing: true;
    /// The largest depth of a flow: the bytes of it that had arrived behind a missing packet, which a
    /// target must hold to hand on all packets in order.
    "depth_max_kb": Kb, Run(|it| reordering(it, |all| bytes(all.depth_max))),
        json: Absent("metrics.reordering.depth_max_bytes"), kept: Sampled, may_be_missing: true;
    /// The most bytes that a host held back at a time, over all of its flows, with
    /// `transport.receiver = "hold"`.
    "held_back_max_kb": Kb, Run(|it| reordering(it, |all| bytes(all.held_max))),
        json: Absent("metrics.reordering.held_back_max_bytes"), may_be_missing: true;
    /// The completion rate: finished flows divided by the simulated time.
    "flows_per_s": PerSecond, Run(|it| Some(Real(it.completion()?.flows_per_s))),
        json: Absent("metrics.completion.flows_per_s"), kept: Sampled, may_be_missing: true;
    // Finite flows: all of them, or those of a size, a class or a group.
    /// Finite flows whose target has received every byte.
    "finished": One, Flows(|it| count(it.finished)), head: "<finished", json: Absent("finished"),
        kept: Usually;
    /// Finite flows that have started and not finished: too slow, stopped, stuck, or with a packet
    /// lost.
    "unfinished": One, Flows(|it| count(it.unfinished)), head: "<unfinished",
        json: Absent("unfinished"), kept: Sampled;
    /// Finite flows that have not started before the end of the run, such as those that wait for
    /// others.
    "not_started": One, Flows(|it| count(it.not_started)), json: Absent("not_started");
    /// The mean flow completion time of the finished flows: from the start of a flow at its source
    /// until its target has received the last byte.
    "fct_mean_us": Us, Mean(Measure::Fct), head: "<FCT-mean",
        is_real: true, json: Absent("fct_mean_ps"), kept: Usually, may_be_missing: true;
    /// A percentile of these completion times.
    "fct_us": Us, Percentile(Measure::Fct), head: "<{}", json: Absent("fct_{}_ps"), spelt: "fct_{}_us",
        kept_at: &[("p50", Sampled), ("p99", Usually)], may_be_missing: true;
    /// The mean slowdown of the finished flows: the completion time divided by the ideal one.
    "slowdown_mean": One, Mean(Measure::Slowdown), head: "<slowdown-mean", is_real: true,
        json: Absent("slowdown_mean"), kept: Sampled, may_be_missing: true;
    /// A percentile of these slowdowns.
    "slowdown": One, Percentile(Measure::Slowdown), head: "<{}", is_real: true, json: Absent("slowdown_{}"), spelt: "slowdown_{}",
        kept_at: &[("p99", Sampled)], may_be_missing: true;
    // Classes.
    /// Control frames that told a sender of this class to stop, with refreshes.
    "pauses": One, Class(|it, class| {
        Some(Whole(it.run.outcome.pause_frames_by_class[class.index()]))
    }), kept: Sampled;
    // Layers.
    /// How many ports the nodes of the layer have.
    "links": One, Layer(|it| count(it.links)), head: "<links", json: Absent("links");
    /// The mean utilisation of those ports, each counting the same whatever its rate.
    "utilisation_mean": Percent, Layer(|it| Some(Real(it.utilisation_mean))), head: "<utilisation",
        json: Absent("utilisation_mean");
    /// The largest of their utilisations.
    "utilisation_max": Percent, Layer(|it| Some(Real(it.utilisation_max))), head: "<busiest",
        json: Absent("utilisation_max");
    /// How often those ports were told to stop although they were not stopped.
    "pauses": One, Layer(|it| Some(Whole(it.pauses))), head: "<pauses", json: Absent("pauses");
    /// The PAUSE rate: these pauses divided by the number of ports and by the simulated time.
    "pause_per_ms_per_link": PerMs, Layer(|it| Some(Real(it.pause_per_ms_per_link))),
        head: "<per-ms-and-link", json: Absent("pause_per_ms_per_link");
    /// How many of those ports were held at any time.
    "links_held": One, Layer(|it| count(it.links_held)), head: "<held-links",
        json: Absent("links_held");
    // Ports.
    /// Bytes of data and answers that have begun to leave; control frames are not counted.
    "sent_kb": Kb, Port(|it| Some(bytes(it.sent))), json: Absent("sent_bytes");
    /// Frames for which `[[load_balancing]]` chose the port among several next hops; those that went by
    /// the hash of their flow are not counted.
    "balanced_frames": One, Port(|it| it.balanced.map(Whole)), json: Absent("balanced_frames"),
        may_be_missing: true;
    /// What it sent as a share of what the link could have carried: bytes * 8 / (rate * simulated
    /// time).
    "utilisation": Percent, Port(|it| Some(Real(it.utilisation))), json: Absent("utilisation"),
        kept: Sampled;
    /// How often it was told to stop although it was not stopped, over all classes; a refresh of a
    /// PAUSE does not count.
    "pauses": One, Port(|it| Some(Whole(it.pauses))), json: Absent("pauses"), kept: Sampled;
    /// How long it was stopped, or slowed down by GFC, in any class.
    "held_ms": Ms, Port(|it| Some(span(it.held))), json: Absent("held_ps"), kept: Sampled;
    /// The first instant at which it was held.
    "held_first_ms": Ms, Port(|it| it.held_first.map(instant)), json: Absent("held_first_ps"),
        may_be_missing: true;
    /// The last instant at which it was held.
    "held_last_ms": Ms, Port(|it| it.held_last.map(instant)), json: Absent("held_last_ps"),
        kept: Sampled, may_be_missing: true;
    /// The most that an ingress queue of the port has held.
    "queue_max": Kb, Queue(|it| it.iter().map(|queue| queue.max).max().map(bytes)), kept: Sampled;
    /// What the ingress queues of the port hold at the end.
    "queue_end": Kb, Queue(|it| Some(Whole(it.iter().map(|queue| queue.last.get()).sum()))),
        kept: Sampled;
    /// What the ingress queues of the port held in the mean; of probed ports only.
    "queue_mean": Kb, Queue(|it| {
        it.iter().filter_map(|queue| queue.mean).reduce(|a, b| a + b).map(Real)
    }), is_real: true, kept: Sampled, is_probed: true;
    // Flows.
    /// The bytes that the flow has to send; a flow without end has none.
    "size_kb": Kb, Flow(|it| it.flow.is_finite().then(|| bytes(it.flow.size))), json: Null("bytes"),
        column: "bytes", may_be_missing: true;
    /// Bytes of the flow received by its target.
    "delivered_kb": Kb, Flow(|it| Some(bytes(it.outcome.delivered))), head: "<delivered",
        json: Absent("delivered_bytes");
    /// Bytes of the flow that were dropped because their TTL had run out or no class was left for
    /// their next hop.
    "expired_kb": Kb, Flow(|it| Some(it.outcome.expired).filter(|it| *it > Bytes::ZERO).map(bytes)),
        json: Absent("expired_bytes"), may_be_missing: true;
    /// How many packets of the flow arrived after packets that were sent later.
    "late_packets": One, Flow(|it| Some(Whole(it.outcome.reordering?.late_packets))),
        json: Absent("late_packets"), may_be_missing: true;
    /// The largest extent of a packet of the flow: how many packets that were sent later arrived before
    /// it.
    "extent_max": One, Flow(|it| Some(Whole(it.outcome.reordering?.extent_max))),
        json: Absent("extent_max"), may_be_missing: true;
    /// The longest late time of a packet of the flow: since the first packet arrived that was sent later.
    "late_max_us": Us, Flow(|it| Some(span(it.outcome.reordering?.late_max))),
        json: Absent("late_max_ps"), may_be_missing: true;
    /// The most bytes of the flow that had arrived behind a missing packet.
    "depth_max_kb": Kb, Flow(|it| Some(bytes(it.outcome.reordering?.depth_max))),
        json: Absent("depth_max_bytes"), may_be_missing: true;
    /// The traffic class of the flow.
    "class": One, Flow(|it| Some(Whole(it.flow.class.0.into()))), json: Absent("class");
    /// When the flow started, or was to start at the earliest if it has not.
    "start_ms": Ms, Flow(|it| Some(instant(it.outcome.start.unwrap_or(it.flow.start)))),
        json: Absent("start_ps");
    /// When the flow started; one that has not before the end of the run has none.
    "started_ms": Ms, Flow(|it| {
        let start = it.outcome.start?;
        has_started(&it.run.outcome, it.outcome).then(|| instant(start))
    }), column: "start_ps", may_be_missing: true;
    /// When the target of the flow had received everything.
    "finish_ms": Ms, Flow(|it| it.outcome.finish.map(instant)), json: Null("finish_ps"),
        column: "finish_ps", may_be_missing: true;
    /// The completion time of the flow: from its start to its finish.
    "fct_us": Us, Flow(|it| fct(it.outcome).map(span)), json: Absent("fct_ps"), column: "fct_ps",
        may_be_missing: true;
    /// The completion time in an empty network; a flow without end has none.
    "ideal_us": Us, Flow(|it| Some(it.outcome.ideal).filter(|it| *it > Span::ZERO).map(span)),
        json: Absent("ideal_ps"), column: "ideal_ps", may_be_missing: true;
    /// The completion time of the flow divided by the ideal one.
    "slowdown": One, Flow(|it| slowdown(it.outcome).map(Real)), is_real: true,
        json: Absent("slowdown"), column: "slowdown", may_be_missing: true;
    /// The mean goodput of the flow over its life: until its finish, its stop or the end.
    "total": Gbps, Flow(|it| Some(Real(it.outcome.goodput_bps))), head: "<goodput",
        json: Absent("goodput_bps"), column: "goodput_bps", kept: Sampled;
    /// The late goodput of the flow: over the last quarter of its life.
    "rate": Gbps, Flow(|it| Some(Real(it.outcome.goodput_late_bps))), head: "<late-goodput",
        json: Absent("goodput_late_bps"), kept: Sampled;
};

/// A count of a run in which there are events.
fn events(it: &Facts<'_>, count: impl Fn(&Outcome) -> u64) -> Option<Value> {
    let has_events = !it.run.scenario.config.changes.is_empty();
    has_events.then(|| Whole(count(&it.run.outcome)))
}

/// A number of a run in which packets of a flow may take several paths.
fn reordering(it: &Facts<'_>, number: impl Fn(&Reordering) -> Value) -> Option<Value> {
    it.run.outcome.reordering.as_ref().map(number)
}

fn flag(is: bool) -> Option<Value> {
    Some(Whole(is.into()))
}

fn count(count: usize) -> Option<Value> {
    Some(Whole(count as u64))
}

fn bytes(bytes: Bytes) -> Value {
    Whole(bytes.get())
}

fn span(span: Span) -> Value {
    Whole(span.as_ps())
}

fn instant(time: Time) -> Value {
    Whole(time.as_ps())
}

fn gbps(bps: f64) -> f64 {
    bps / 1e9
}
