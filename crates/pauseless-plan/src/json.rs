//! The JSON documents of `plan`.

use pauseless_core::flow_control::{FlowControl, cbfc};
use pauseless_core::id::NodeId;
use pauseless_core::unit::{Bytes, Span};
use schemars::JsonSchema;
use serde::Serialize;

use super::against_text::AgainstRecord;
use super::cycle_aware_text::CycleRecord;
use super::headroom::Term;
use super::paper::{PaperRecord, paper};
use super::prove_text::ProofRecord;
use super::text::IBA_GRANT;
use super::{Dynamic, Fit, Plan, PortPlan, Scheme, SchemePlan, Set, SwitchPlan, TtlPlan};
use crate::explain::StageRecord;
use pauseless_fabric::fabric::Fabric;
use pauseless_text::record::SCHEMA;
use pauseless_text::records;

records! {
    /// The document of a plan.
    pub struct PlanDocument(fabric: &Fabric, plan: &Plan) after {
        let fitting = Scheme::ALL.into_iter().filter(|scheme| plan.fits(*scheme));
    } {
        /// The version of the format of this document; see [`SCHEMA`].
        schema: u32 = SCHEMA;
        /// The name of the fabric: its files, or its shape.
        fabric: String = plan.fabric.clone();
        /// The medium of the links: `ethernet` or `infiniband`.
        medium: &'static str = plan.medium.name();
        /// How packets are routed, in words.
        routes: &'static str = super::text::routes(fabric);
        /// The largest frame that the plan reckons with.
        mtu_bytes: u64 = plan.request.mtu.get();
        /// The round trip of work conservation.
        rtt_ps: u64 = plan.request.rtt.as_ps();
        /// The most switches that a packet passes.
        longest_path: u32 = plan.longest_path;
        /// Whether some routes go in a circle.
        has_loop: bool = plan.has_loop;
        /// What the reader should know about the input.
        notes: Vec<String> = plan.notes.clone();
        /// The schemes that fit every switch.
        fitting: Vec<&'static str> = fitting.map(Scheme::name).collect();
        /// One element per set of switches that are alike.
        switches: Vec<SwitchRecord> =
            plan.switches.iter().map(|it| SwitchRecord::new(fabric, it)).collect();
        /// Thresholds for cycles, if they were asked for.
        #[serde(skip_serializing_if = "Option::is_none")]
        cycle_aware: Option<CycleRecord> = None;
        /// The worst cases, if they were asked for.
        #[serde(skip_serializing_if = "Option::is_none")]
        proofs: Option<Vec<ProofRecord>> = None;
        /// Deployed values, if there were any.
        #[serde(skip_serializing_if = "Option::is_none")]
        against: Option<AgainstRecord> = None;
    }

    /// The document of deployed values alone.
    pub struct AgainstDocument(of: AgainstRecord) {
        /// The version of the format of this document; see [`SCHEMA`].
        schema: u32 = SCHEMA;
        /// Deployed values held against derived ones.
        against: AgainstRecord = of;
    }

    /// Switches that are alike.
    pub struct SwitchRecord(fabric: &Fabric, switch: &SwitchPlan) {
        /// The names of the switches.
        switches: Vec<String> = names(fabric, &switch.members);
        /// The buffer of each.
        buffer_bytes: u64 = switch.buffer.get();
        /// Their ports, those that are alike together.
        ports: Vec<PortRecord> =
            switch.ports.iter().map(|it| PortRecord::new(fabric, it)).collect();
        /// One element per scheme.
        schemes: Vec<SchemeRecord> = switch.schemes.iter().map(SchemeRecord::new).collect();
        /// PFC with dynamic thresholds.
        pfc_dynamic: DynamicRecord = DynamicRecord::new(&switch.dynamic);
        /// TTL-based buffer management, switches at the same places of paths together.
        ttl: Vec<TtlRecord> = switch.ttl.iter().map(|it| TtlRecord::new(fabric, it)).collect();
    }

    /// Ports that are alike.
    pub struct PortRecord(fabric: &Fabric, port: &PortPlan) after {
        let names = port.members.iter();
    } {
        /// The names of the ports, over all switches.
        ports: Vec<String> = names.map(|(node, number)| fabric.port_name(*node, *number)).collect();
        /// How many of these ports each switch has.
        per_switch: usize = port.count;
        /// The rate of the link.
        rate_bps: u64 = port.kind.line.as_bps();
        /// The propagation delay of the link.
        wire_ps: u64 = port.kind.wire.as_ps();
        /// How long the far end takes to obey.
        processing_ps: u64 = port.latency.processing.as_ps();
        /// The number of lossless classes of the port.
        classes: u8 = port.kind.classes;
        /// The feedback latency tau of the link.
        tau_ps: u64 = port.latency.tau().as_ps();
        /// The headroom of one class by equation 15 of the TTL note.
        headroom_equation_bytes: u64 = port.headroom.equation.get();
        /// The headroom of one class as proved here.
        headroom_bytes: u64 = port.headroom.bound.get();
        /// The headroom of one class by SONiC's form, if cells were given.
        #[serde(skip_serializing_if = "Option::is_none")]
        headroom_sonic_bytes: Option<u64> = port.sonic.map(Bytes::get);
        /// The terms that the headroom consists of.
        terms: Vec<TermRecord> = port.headroom.terms.iter().map(TermRecord::new).collect();
    }

    /// A term of the headroom.
    pub struct TermRecord(term: &Term) {
        /// The name of what takes the room.
        name: &'static str = term.name;
        /// Why the term is needed.
        why: &'static str = term.why;
        /// The bytes of the term in equation 15 of the TTL note.
        equation_bytes: u64 = term.equation.get();
        /// The bytes of the term in the bound that is proved here.
        bound_bytes: u64 = term.bound.get();
    }

    /// What a scheme needs on a switch.
    pub struct SchemeRecord(plan: &SchemePlan) after {
        let (left, short, advice) = match plan.fit {
            Fit::Spare(spare) => (spare, Bytes::ZERO, None),
            Fit::Short(by, advice) => (Bytes::ZERO, by, Some(advice)),
        };
    } {
        /// The flow control: `pfc`, `cbfc`, `gfc-buffer`, ..
        flow_control: &'static str = plan.scheme.name();
        /// Whether the buffer is large enough.
        fits: bool = plan.fit.is_fitting();
        /// The least that it needs.
        need_bytes: u64 = plan.need.get();
        /// What is left; 0 if it does not fit.
        left_bytes: u64 = left.get();
        /// What is missing; 0 if it fits.
        short_bytes: u64 = short.get();
        /// At most so many classes would fit, if fewer do.
        #[serde(skip_serializing_if = "Option::is_none")]
        fits_with_classes: Option<u8> = advice.and_then(|advice| advice.classes);
        /// Cables of at most this delay would fit, if shorter ones do.
        #[serde(skip_serializing_if = "Option::is_none")]
        fits_with_wire_ps: Option<u64> = advice.and_then(|advice| advice.wire).map(Span::as_ps);
        /// Frames of at most this size would fit, if smaller ones do.
        #[serde(skip_serializing_if = "Option::is_none")]
        fits_with_mtu_bytes: Option<u64> = advice.and_then(|advice| advice.mtu).map(Bytes::get);
        /// The thresholds, one element per element of `ports`; none if it does not fit.
        thresholds: Vec<ThresholdRecord> = plan.sets.iter().map(thresholds).collect();
    }
}

/// The thresholds of one port and class; what a scheme does not have is not there.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct ThresholdRecord {
    /// The physical buffer of the port and class.
    pub buffer_bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[allow(missing_docs, reason = "the names of the standard")]
    pub xoff_bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[allow(missing_docs, reason = "the names of the standard")]
    pub xon_bytes: Option<u64>,
    /// The most that credits may grant, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub credit_bytes: Option<u64>,
    /// The most that credits may grant, in blocks of 64 bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub credit_blocks: Option<u64>,
    /// C (tau + T): the link stays full from this much credit on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub full_rate_bytes: Option<u64>,
    /// Whether the 2,048 blocks that IBA's counters can grant are as much.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub iba_grant_is_enough: Option<bool>,
    /// B_m of GFC: the queue length at which the sender may send least.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bm_bytes: Option<u64>,
    /// B_1 of buffer-based GFC: the queue length at which the first stage begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub b1_bytes: Option<u64>,
    /// B_0 of time-based and conceptual GFC: the queue length from which on the sender slows down.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub b0_bytes: Option<u64>,
    /// The stages of buffer-based GFC: where each begins, and its rate.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stages: Vec<StageRecord>,
    /// The period T after which messages or credits are sent again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub period_ps: Option<u64>,
    /// The least rate that a sender is ever given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_min_bps: Option<u64>,
}

records! {
    /// PFC with dynamic thresholds.
    #[derive(Copy)]
    pub struct DynamicRecord(dynamic: &Dynamic) {
        /// The factor alpha of the dynamic threshold.
        alpha: f64 = f64::from(dynamic.alpha_exponent).exp2();
        /// The headroom of all ports and classes.
        headroom_bytes: u64 = dynamic.headroom.get();
        /// The pool that all queues share.
        pool_bytes: u64 = dynamic.pool.get();
        /// What the headroom lacks; 0 if it fits.
        short_bytes: u64 = dynamic.short.get();
        /// XOFF of a queue that is alone.
        xoff_alone_bytes: u64 = dynamic.alone.get();
        /// XOFF of each when all are at it.
        xoff_all_bytes: u64 = dynamic.all.get();
    }

    /// TTL-based buffer management on switches at the same places of paths.
    pub struct TtlRecord(fabric: &Fabric, ttl: &TtlPlan) after {
        let classes = (0..u64::BITS).filter(|hop| ttl.hops >> hop & 1 == 1);
    } {
        /// The names of these switches.
        switches: Vec<String> = names(fabric, &ttl.members);
        /// The classes that the switch needs, from 1 on.
        classes: Vec<u32> = classes.map(|hop| hop + 1).collect();
        /// The least partition of each.
        partition_bytes: u64 = ttl.partition.get();
        /// The headroom of all ports and classes.
        headroom_bytes: u64 = ttl.headroom.get();
        /// What is left for the shared partition.
        shared_bytes: u64 = ttl.shared.get();
        /// What is missing; 0 if it fits.
        short_bytes: u64 = ttl.short.get();
        /// The buffer that work conservation takes with sharing: n C RTT.
        work_shared_bytes: u64 = ttl.work_shared.get();
        /// The buffer that work conservation takes without sharing: n k C RTT.
        work_separate_bytes: u64 = ttl.work_separate.get();
    }
}

/// The document of the TTL note's numbers.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PaperDocument {
    /// The version of the format of this document; see [`SCHEMA`].
    pub schema: u32,
    /// One element per number.
    pub rows: Vec<PaperRecord>,
}

/// The document of the TTL note's numbers.
pub fn paper_document() -> PaperDocument {
    PaperDocument { schema: SCHEMA, rows: paper() }
}

/// The names of switches.
fn names(fabric: &Fabric, switches: &[NodeId]) -> Vec<String> {
    switches.iter().map(|node| fabric.topology.node(*node).name.clone()).collect()
}

pub(crate) fn thresholds(set: &Set) -> ThresholdRecord {
    let line = set.derivation.latency.line;
    let mut record =
        ThresholdRecord { buffer_bytes: set.ingress.buffer.get(), ..ThresholdRecord::default() };
    match &set.ingress.control {
        FlowControl::None | FlowControl::Outside(_) => {}
        FlowControl::Pfc(config) => {
            record.xoff_bytes = Some(config.xoff.get());
            record.xon_bytes = Some(config.xon.get());
        }
        FlowControl::Cbfc(config) => {
            let full = line.bytes_in_up(set.derivation.latency.tau() + config.period);
            record.credit_bytes = Some(config.capacity.get());
            record.credit_blocks = Some(config.capacity.get() / cbfc::BLOCK.get());
            record.full_rate_bytes = Some(full.get());
            record.iba_grant_is_enough = Some(full <= IBA_GRANT);
            record.period_ps = Some(config.period.as_ps());
        }
        FlowControl::GfcBuffer(config) => {
            record.bm_bytes = Some(config.bm.get());
            record.b1_bytes = Some(config.b1.get());
            record.rate_min_bps = Some(config.rate(config.stages, line).as_bps());
            let stages = (1..=config.stages).map(|stage| StageRecord {
                stage,
                threshold_bytes: config.threshold(stage).get(),
                rate_bps: config.rate(stage, line).as_bps(),
            });
            record.stages = stages.collect();
        }
        FlowControl::GfcTime(config) => {
            record.bm_bytes = Some(config.mapping.bm.get());
            record.b0_bytes = Some(config.mapping.b0.get());
            record.rate_min_bps = Some(config.mapping.floor.as_bps());
            record.period_ps = Some(config.period.as_ps());
        }
        FlowControl::GfcConceptual(config) => {
            record.bm_bytes = Some(config.mapping.bm.get());
            record.b0_bytes = Some(config.mapping.b0.get());
            record.rate_min_bps = Some(config.mapping.floor.as_bps());
        }
    }
    record
}
