//! The numbers that a run can have. To add one, add an entry here: it is then known to campaigns,
//! claims, thresholds and `pauseless metrics`, and with `.json(..)` it is in the document of a run.
//! `UPDATE_EXPECT=1 cargo test -p pauseless-lab --test metrics_docs` writes it into the documentation.

use pauseless_core::unit::{Bytes, Span, Time};

use super::Kept::{Always, Sampled, Usually};
use super::Unit::{Gbps, Kb, Ms, One, PerMs, PerSecond, Percent, Us};
use super::Value::{self, Real, Shown, Whole};
use super::{Number, Of};
use crate::metrics::completion::{fct, slowdown};
use crate::metrics::has_started;

/// Every number that a run can have. Columns of campaigns and fields of JSON documents are in this
/// order.
pub static NUMBERS: &[Number] = &[
    Number::new(
        "deadlock",
        One,
        Of::Run(|it| flag(it.run.outcome.deadlock.is_some())),
        "1 if a deadlock was found, else 0.",
    )
    .kept(Always),
    Number::new(
        "stuck",
        One,
        Of::Run(|it| flag(it.run.outcome.is_stuck())),
        "1 if a deadlock was found and nobody broke it, else 0.",
    )
    .kept(Sampled),
    Number::new(
        "deadlock_ms",
        Ms,
        Of::Run(|it| Some(instant(it.run.outcome.deadlock.as_ref()?.time))),
        "When the first deadlock became inevitable.",
    )
    .json("deadlock.time_ps")
    .kept(Usually)
    .may_be_missing(),
    Number::new(
        "deadlock_ports",
        One,
        Of::Run(|it| count(it.run.outcome.deadlock.as_ref()?.cycle.len())),
        "How many queues the shortest cycle of the first deadlock has.",
    )
    .kept(Sampled)
    .may_be_missing(),
    Number::new(
        "starved",
        One,
        Of::Run(|it| count(it.run.outcome.starved.len())),
        "How many flows starve: they move, but far below their fair rate.",
    )
    .kept(Always),
    Number::new(
        "lost",
        One,
        Of::Run(|it| Some(Whole(it.run.outcome.lost_packets))),
        "Packets lost: they did not fit, or were dropped by a watchdog, to break a deadlock, or by a wire.",
    )
    .json("lost_packets")
    .kept(Always),
    Number::new(
        "warnings",
        One,
        Of::Run(|it| count(it.run.scenario.warnings.len())),
        "How many warnings the scenario has.",
    )
    .kept(Always),
    Number::new(
        "end_ms",
        Ms,
        Of::Run(|it| Some(instant(it.run.outcome.end))),
        "How much time was simulated.",
    )
    .json("simulated_ps")
    .kept(Usually),
    Number::new(
        "hops",
        One,
        Of::Run(|it| Some(Whole(it.run.outcome.packet_hops))),
        "Data frames received by any node.",
    )
    .json("packet_hops")
    .kept(Sampled),
    Number::new(
        "last_arrival_ms",
        Ms,
        Of::Run(|it| Some(instant(it.run.outcome.last_arrival))),
        "When the last data frame arrived anywhere.",
    )
    .json("last_arrival_ps")
    .kept(Sampled),
    Number::new(
        "held_kb",
        Kb,
        Of::Run(|it| Some(bytes(it.run.outcome.held_at_end))),
        "What the buffers of all switches hold at the end.",
    )
    .json("held_bytes_at_end")
    .kept(Usually),
    Number::new(
        "pauses",
        One,
        Of::Run(|it| Some(Whole(it.run.outcome.pause_frames))),
        "Control frames that told a sender to stop, with refreshes.",
    )
    .json("pause_frames")
    .kept(Usually),
    Number::new(
        "held_percent_max",
        Percent,
        Of::Run(|it| {
            let longest = it.metrics.ports.iter().map(|port| port.held).max()?;
            let share = longest.as_secs_f64() / (it.run.outcome.end - Time::ZERO).as_secs_f64();
            Some(Real(share))
        }),
        "The largest share of the simulated time for which any port was held: stopped by PAUSE or for want of credits, or slowed down by GFC.",
    ),
    Number::new(
        "feedback_percent",
        Percent,
        Of::Run(|it| Some(Real(it.run.outcome.feedback_share_max))),
        "The largest share of a link's capacity that control frames took.",
    )
    .json("feedback_share_max")
    .kept(Sampled),
    Number::new(
        "queue_max",
        Kb,
        Of::Run(|it| Some(bytes(it.run.queue_max()))),
        "The most that any ingress queue of a switch has held.",
    )
    .kept(Usually),
    Number::new(
        "rate.sum",
        Gbps,
        Of::Run(|it| Some(Shown(it.late_goodputs()?.map(gbps).sum()))),
        "The late goodput of all flows together.",
    )
    .kept(Usually),
    Number::new(
        "rate.mean",
        Gbps,
        Of::Run(|it| {
            let rates = it.late_goodputs()?.map(gbps);
            Some(Shown(rates.clone().sum::<f64>() / rates.count() as f64))
        }),
        "The mean late goodput of all flows.",
    )
    .kept(Sampled),
    Number::new(
        "rate.min",
        Gbps,
        Of::Run(|it| Some(Shown(it.late_goodputs()?.map(gbps).fold(f64::INFINITY, f64::min)))),
        "The least late goodput of any flow.",
    )
    .kept(Usually),
    Number::new(
        "rate.max",
        Gbps,
        Of::Run(|it| Some(Shown(it.late_goodputs()?.map(gbps).fold(0.0, f64::max)))),
        "The largest late goodput of any flow.",
    )
    .kept(Sampled),
    Number::new(
        "share_mean",
        Percent,
        Of::Run(|it| {
            let shares = it.shares();
            let sum = shares.iter().sum::<f64>();
            (!shares.is_empty()).then(|| Shown(sum / shares.len() as f64))
        }),
        "The mean over all flows of the late goodput as a share of the max-min fair rate.",
    ),
    Number::new(
        "share_min",
        Percent,
        Of::Run(|it| it.shares().iter().copied().reduce(f64::min).map(Shown)),
        "The least of these shares.",
    ),
    Number::new(
        "jain",
        One,
        Of::Run(|it| {
            let fairness = it.metrics.fairness_endless.or(it.metrics.fairness)?;
            Some(Real(fairness.jain))
        }),
        "Jain's index over the late goodput of the flows without end; without any, over the goodput of all flows.",
    )
    .real()
    .kept(Usually)
    .may_be_missing(),
    Number::new(
        "jain_goodput",
        One,
        Of::Run(|it| Some(Real(it.metrics.fairness?.jain))),
        "Jain's index over the goodput of all flows that have started; absent for fewer than two.",
    )
    .real()
    .json("metrics.jain_goodput")
    .may_be_missing(),
    Number::new(
        "jain_goodput_late_endless",
        One,
        Of::Run(|it| Some(Real(it.metrics.fairness_endless?.jain))),
        "Jain's index over the late goodput of the flows without end that have started; absent for fewer than two.",
    )
    .real()
    .json("metrics.jain_goodput_late_endless")
    .may_be_missing(),
    Number::new(
        "tree_ms",
        Ms,
        Of::Run(|it| Some(span(it.metrics.tree?.duration))),
        "For how long any link was in the congestion tree.",
    )
    .json("metrics.congestion_tree.duration_ps")
    .kept(Sampled)
    .may_be_missing(),
    Number::new(
        "tree_links",
        One,
        Of::Run(|it| Some(Whole(it.metrics.tree?.links_max.into()))),
        "The most links at a time in the congestion tree; what lasts no time does not count.",
    )
    .json("metrics.congestion_tree.links_max")
    .kept(Sampled)
    .may_be_missing(),
    Number::new(
        "tree_links_mean",
        One,
        Of::Run(|it| Some(Real(it.metrics.tree?.links_mean))),
        "The mean number of links in the congestion tree, over the time in which there was any.",
    )
    .real()
    .json("metrics.congestion_tree.links_mean")
    .may_be_missing(),
    Number::new(
        "tree_hosts",
        One,
        Of::Run(|it| Some(Whole(it.metrics.tree?.hosts.into()))),
        "How many hosts were held themselves at any time.",
    )
    .json("metrics.congestion_tree.hosts")
    .kept(Sampled)
    .may_be_missing(),
    Number::new(
        "answers",
        One,
        Of::Run(|it| Some(Whole(it.metrics.answers?.packets))),
        "Acknowledgements and notifications that targets and switches sent to sources, each counted once.",
    )
    .json("metrics.answers.packets")
    .may_be_missing(),
    Number::new(
        "acknowledgements",
        One,
        Of::Run(|it| Some(Whole(it.metrics.answers?.acknowledgements))),
        "How many of the answers are acknowledgements.",
    )
    .json("metrics.answers.acknowledgements")
    .may_be_missing(),
    Number::new(
        "notifications",
        One,
        Of::Run(|it| {
            let answers = it.metrics.answers?;
            Some(Whole(answers.packets - answers.acknowledgements))
        }),
        "How many of the answers notify of congestion: CNPs and QCN's messages.",
    )
    .json("metrics.answers.notifications")
    .may_be_missing(),
    Number::new(
        "marked_packets",
        One,
        Of::Run(|it| Some(Whole(it.metrics.answers?.marked_packets))),
        "Data packets that a switch has marked.",
    )
    .json("metrics.answers.marked_packets")
    .may_be_missing(),
    Number::new(
        "answers_kb",
        Kb,
        Of::Run(|it| Some(bytes(it.metrics.answers?.bytes))),
        "The bytes of the answers, each counted once however many links it passed.",
    )
    .json("metrics.answers.bytes")
    .may_be_missing(),
    Number::new(
        "answers_percent",
        Percent,
        Of::Run(|it| Some(Real(it.metrics.answers?.share))),
        "The bytes of the answers divided by the sum of these and of what all flows have delivered.",
    )
    .json("metrics.answers.share")
    .kept(Sampled)
    .may_be_missing(),
    Number::new(
        "flows_per_s",
        PerSecond,
        Of::Run(|it| Some(Real(it.completion()?.flows_per_s))),
        "The completion rate: finished flows divided by the simulated time.",
    )
    .json("metrics.completion.flows_per_s")
    .kept(Sampled)
    .may_be_missing(),
    // Finite flows: all of them, or those of a size, a class or a group.
    Number::new(
        "finished",
        One,
        Of::Flows(|it| count(it.finished)),
        "Finite flows whose target has received every byte.",
    )
    .head("<finished")
    .json("finished")
    .kept(Usually),
    Number::new(
        "unfinished",
        One,
        Of::Flows(|it| count(it.unfinished)),
        "Finite flows that have started and not finished: too slow, stopped, stuck, or with a packet lost.",
    )
    .head("<unfinished")
    .json("unfinished")
    .kept(Sampled),
    Number::new(
        "not_started",
        One,
        Of::Flows(|it| count(it.not_started)),
        "Finite flows that have not started before the end of the run, such as those that wait for others.",
    )
    .json("not_started"),
    Number::new(
        "fct_mean_us",
        Us,
        Of::Flows(|it| Some(Real(it.fct.as_ref()?.mean))),
        "The mean flow completion time of the finished flows: from the start of a flow at its source until its target has received the last byte.",
    )
    .head("<FCT-mean")
    .real()
    .json("fct_mean_ps")
    .kept(Usually)
    .may_be_missing(),
    Number::new(
        "fct_us",
        Us,
        Of::Percentile(|it, p| Some(Whole(it.fct.as_ref()?.at(p)))),
        "A percentile of these completion times.",
    )
    .head("<{}")
    .json("fct_{}_ps")
    .spelt("fct_{}_us", &[("p50", Sampled), ("p99", Usually)])
    .may_be_missing(),
    Number::new(
        "slowdown_mean",
        One,
        Of::Flows(|it| Some(Real(it.slowdown.as_ref()?.mean))),
        "The mean slowdown of the finished flows: the completion time divided by the ideal one.",
    )
    .head("<slowdown-mean")
    .real()
    .json("slowdown_mean")
    .kept(Sampled)
    .may_be_missing(),
    Number::new(
        "slowdown",
        One,
        Of::Percentile(|it, p| Some(Real(it.slowdown.as_ref()?.at(p)))),
        "A percentile of these slowdowns.",
    )
    .head("<{}")
    .real()
    .json("slowdown_{}")
    .spelt("slowdown_{}", &[("p99", Sampled)])
    .may_be_missing(),
    // Classes.
    Number::new(
        "pauses",
        One,
        Of::Class(|it, class| {
            Some(Whole(it.run.outcome.pause_frames_by_class[class.index()]))
        }),
        "Control frames that told a sender of this class to stop, with refreshes.",
    )
    .kept(Sampled),
    // Layers.
    Number::new(
        "links",
        One,
        Of::Layer(|it| count(it.links)),
        "How many ports the nodes of the layer have.",
    )
    .head("<links")
    .json("links"),
    Number::new(
        "utilisation_mean",
        Percent,
        Of::Layer(|it| Some(Real(it.utilisation_mean))),
        "The mean utilisation of those ports, each counting the same whatever its rate.",
    )
    .head("<utilisation")
    .json("utilisation_mean"),
    Number::new(
        "utilisation_max",
        Percent,
        Of::Layer(|it| Some(Real(it.utilisation_max))),
        "The largest of their utilisations.",
    )
    .head("<busiest")
    .json("utilisation_max"),
    Number::new(
        "pauses",
        One,
        Of::Layer(|it| Some(Whole(it.pauses))),
        "How often those ports were told to stop although they were not stopped.",
    )
    .head("<pauses")
    .json("pauses"),
    Number::new(
        "pause_per_ms_per_link",
        PerMs,
        Of::Layer(|it| Some(Real(it.pause_per_ms_per_link))),
        "The PAUSE rate: these pauses divided by the number of ports and by the simulated time.",
    )
    .head("<per-ms-and-link")
    .json("pause_per_ms_per_link"),
    Number::new(
        "links_held",
        One,
        Of::Layer(|it| count(it.links_held)),
        "How many of those ports were held at any time.",
    )
    .head("<held-links")
    .json("links_held"),
    // Ports.
    Number::new(
        "sent_kb",
        Kb,
        Of::Port(|it| Some(bytes(it.sent))),
        "Bytes of data and answers that have begun to leave; control frames are not counted.",
    )
    .json("sent_bytes"),
    Number::new(
        "utilisation",
        Percent,
        Of::Port(|it| Some(Real(it.utilisation))),
        "What it sent as a share of what the link could have carried: bytes * 8 / (rate * simulated time).",
    )
    .json("utilisation")
    .kept(Sampled),
    Number::new(
        "pauses",
        One,
        Of::Port(|it| Some(Whole(it.pauses))),
        "How often it was told to stop although it was not stopped, over all classes; a refresh of a PAUSE does not count.",
    )
    .json("pauses")
    .kept(Sampled),
    Number::new(
        "held_ms",
        Ms,
        Of::Port(|it| Some(span(it.held))),
        "How long it was stopped, or slowed down by GFC, in any class.",
    )
    .json("held_ps")
    .kept(Sampled),
    Number::new(
        "held_first_ms",
        Ms,
        Of::Port(|it| it.held_first.map(instant)),
        "The first instant at which it was held.",
    )
    .json("held_first_ps")
    .may_be_missing(),
    Number::new(
        "held_last_ms",
        Ms,
        Of::Port(|it| it.held_last.map(instant)),
        "The last instant at which it was held.",
    )
    .json("held_last_ps")
    .kept(Sampled)
    .may_be_missing(),
    Number::new(
        "queue_max",
        Kb,
        Of::Queue(|it| it.iter().map(|queue| queue.max).max().map(bytes)),
        "The most that an ingress queue of the port has held.",
    )
    .kept(Sampled),
    Number::new(
        "queue_end",
        Kb,
        Of::Queue(|it| Some(Whole(it.iter().map(|queue| queue.last.get()).sum()))),
        "What the ingress queues of the port hold at the end.",
    )
    .kept(Sampled),
    Number::new(
        "queue_mean",
        Kb,
        Of::Queue(|it| it.iter().filter_map(|queue| queue.mean).reduce(|a, b| a + b).map(Real)),
        "What the ingress queues of the port held in the mean; of probed ports only.",
    )
    .real()
    .kept(Sampled)
    .probed(),
    // Flows.
    Number::new(
        "size_kb",
        Kb,
        Of::Flow(|it| it.flow.is_finite().then(|| bytes(it.flow.size))),
        "The bytes that the flow has to send; a flow without end has none.",
    )
    .json_or_null("bytes")
    .column("bytes")
    .may_be_missing(),
    Number::new(
        "delivered_kb",
        Kb,
        Of::Flow(|it| Some(bytes(it.outcome.delivered))),
        "Bytes of the flow received by its target.",
    )
    .head("<delivered")
    .json("delivered_bytes"),
    Number::new(
        "expired_kb",
        Kb,
        Of::Flow(|it| Some(it.outcome.expired).filter(|it| *it > Bytes::ZERO).map(bytes)),
        "Bytes of the flow that were dropped because their TTL had run out or no class was left for their next hop.",
    )
    .json("expired_bytes")
    .may_be_missing(),
    Number::new(
        "class",
        One,
        Of::Flow(|it| Some(Whole(it.flow.class.0.into()))),
        "The traffic class of the flow.",
    )
    .json("class"),
    Number::new(
        "start_ms",
        Ms,
        Of::Flow(|it| Some(instant(it.outcome.start.unwrap_or(it.flow.start)))),
        "When the flow started, or was to start at the earliest if it has not.",
    )
    .json("start_ps"),
    Number::new(
        "started_ms",
        Ms,
        Of::Flow(|it| {
            let start = it.outcome.start?;
            has_started(&it.run.outcome, it.outcome).then(|| instant(start))
        }),
        "When the flow started; one that has not before the end of the run has none.",
    )
    .column("start_ps")
    .may_be_missing(),
    Number::new(
        "finish_ms",
        Ms,
        Of::Flow(|it| it.outcome.finish.map(instant)),
        "When the target of the flow had received everything.",
    )
    .json_or_null("finish_ps")
    .column("finish_ps")
    .may_be_missing(),
    Number::new(
        "fct_us",
        Us,
        Of::Flow(|it| fct(it.outcome).map(span)),
        "The completion time of the flow: from its start to its finish.",
    )
    .json("fct_ps")
    .column("fct_ps")
    .may_be_missing(),
    Number::new(
        "ideal_us",
        Us,
        Of::Flow(|it| Some(it.outcome.ideal).filter(|it| *it > Span::ZERO).map(span)),
        "The same in an empty network; a flow without end has none.",
    )
    .json("ideal_ps")
    .column("ideal_ps")
    .may_be_missing(),
    Number::new(
        "slowdown",
        One,
        Of::Flow(|it| slowdown(it.outcome).map(Real)),
        "The completion time of the flow divided by the ideal one.",
    )
    .real()
    .json("slowdown")
    .column("slowdown")
    .may_be_missing(),
    Number::new(
        "total",
        Gbps,
        Of::Flow(|it| Some(Real(it.outcome.goodput_bps))),
        "The mean goodput of the flow over its life: until its finish, its stop or the end.",
    )
    .head("<goodput")
    .json("goodput_bps")
    .column("goodput_bps")
    .kept(Sampled),
    Number::new(
        "rate",
        Gbps,
        Of::Flow(|it| Some(Real(it.outcome.goodput_late_bps))),
        "The late goodput of the flow: over the last quarter of its life.",
    )
    .head("<late-goodput")
    .json("goodput_late_bps")
    .kept(Sampled),
];

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
