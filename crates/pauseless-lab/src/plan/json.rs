//! The JSON documents of `plan`.

use pauseless_core::flow_control::{FlowControl, cbfc};
use pauseless_core::unit::{Bytes, Span};
use schemars::JsonSchema;
use serde::Serialize;

use super::against_text::AgainstRecord;
use super::cycle_aware_text::CycleRecord;
use super::paper::{PaperRecord, paper};
use super::prove_text::ProofRecord;
use super::text::IBA_GRANT;
use super::{Fit, Plan, PortPlan, SchemePlan, Set, SwitchPlan, TtlPlan};
use crate::explain::StageRecord;
use crate::fabric::Fabric;
use crate::report::json::SCHEMA;

/// The document of a plan.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PlanDocument {
    /// See [`SCHEMA`].
    pub schema: u32,
    /// The fabric.
    pub fabric: String,
    /// `ethernet` or `infiniband`.
    pub medium: &'static str,
    /// By what its packets are routed.
    pub routes: &'static str,
    /// The largest frame.
    pub mtu_bytes: u64,
    /// The round trip of work conservation.
    pub rtt_ps: u64,
    /// The most switches that a packet passes.
    pub longest_path: u32,
    /// Whether some routes go in a circle.
    pub has_loop: bool,
    /// What the reader should know about the input.
    pub notes: Vec<String>,
    /// The schemes that fit every switch.
    pub fitting: Vec<&'static str>,
    /// One element per set of switches that are alike.
    pub switches: Vec<SwitchRecord>,
    /// Thresholds for cycles, if they were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cycle_aware: Option<CycleRecord>,
    /// The worst cases, if they were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proofs: Option<Vec<ProofRecord>>,
    /// Deployed values, if there were any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub against: Option<AgainstRecord>,
}

/// The document of deployed values alone.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct AgainstDocument {
    /// See [`SCHEMA`].
    pub schema: u32,
    /// Deployed values.
    pub against: AgainstRecord,
}

/// The document of deployed values alone.
pub fn against_document(against: AgainstRecord) -> AgainstDocument {
    AgainstDocument {
        schema: SCHEMA,
        against,
    }
}

/// Switches that are alike.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SwitchRecord {
    /// Their names.
    pub switches: Vec<String>,
    /// The buffer of each.
    pub buffer_bytes: u64,
    /// Their ports, those that are alike together.
    pub ports: Vec<PortRecord>,
    /// One element per scheme.
    pub schemes: Vec<SchemeRecord>,
    /// PFC with dynamic thresholds.
    pub pfc_dynamic: DynamicRecord,
    /// TTL-based buffer management, switches at the same places of paths together.
    pub ttl: Vec<TtlRecord>,
}

/// Ports that are alike.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PortRecord {
    /// Their names, over all switches.
    pub ports: Vec<String>,
    /// How many each switch has.
    pub per_switch: usize,
    /// The rate of the link.
    pub rate_bps: u64,
    /// Its delay.
    pub wire_ps: u64,
    /// How long the far end takes to obey.
    pub processing_ps: u64,
    /// Lossless classes.
    pub classes: u8,
    /// tau.
    pub tau_ps: u64,
    /// The headroom of one class by equation 15 of the TTL note.
    pub headroom_equation_bytes: u64,
    /// The headroom of one class as proved here.
    pub headroom_bytes: u64,
    /// The same by SONiC's form, if cells were given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub headroom_sonic_bytes: Option<u64>,
    /// Its terms.
    pub terms: Vec<TermRecord>,
}

/// A term of the headroom.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TermRecord {
    /// What takes the room.
    pub name: &'static str,
    /// Why.
    pub why: &'static str,
    /// In equation 15.
    pub equation_bytes: u64,
    /// In the bound that is proved here.
    pub bound_bytes: u64,
}

/// What a scheme needs on a switch.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SchemeRecord {
    /// `pfc`, `cbfc`, ..
    pub flow_control: &'static str,
    /// Whether the buffer is large enough.
    pub fits: bool,
    /// The least that it needs.
    pub need_bytes: u64,
    /// What is left; 0 if it does not fit.
    pub left_bytes: u64,
    /// What is missing; 0 if it fits.
    pub short_bytes: u64,
    /// At most so many classes would fit, if fewer do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fits_with_classes: Option<u8>,
    /// Cables of at most this delay would fit, if shorter ones do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fits_with_wire_ps: Option<u64>,
    /// Frames of at most this size would fit, if smaller ones do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fits_with_mtu_bytes: Option<u64>,
    /// The thresholds, one element per element of `ports`; none if it does not fit.
    pub thresholds: Vec<ThresholdRecord>,
}

/// The thresholds of one port and class; what a scheme does not have is not there.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct ThresholdRecord {
    /// The physical buffer.
    pub buffer_bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[allow(missing_docs, reason = "the names of the standard")]
    pub xoff_bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[allow(missing_docs, reason = "the names of the standard")]
    pub xon_bytes: Option<u64>,
    /// What is granted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub credit_bytes: Option<u64>,
    /// The same in blocks of 64 bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub credit_blocks: Option<u64>,
    /// C (tau + T): the link stays full from this much credit on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub full_rate_bytes: Option<u64>,
    /// Whether the 2,048 blocks that IBA's counters can grant are as much.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub iba_grant_is_enough: Option<bool>,
    /// B_m.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bm_bytes: Option<u64>,
    /// B_1 of buffer-based GFC.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub b1_bytes: Option<u64>,
    /// B_0 of the others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub b0_bytes: Option<u64>,
    /// The stages of buffer-based GFC: where each begins, and its rate.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stages: Vec<StageRecord>,
    /// T.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub period_ps: Option<u64>,
    /// The lowest rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_min_bps: Option<u64>,
}

/// PFC with dynamic thresholds.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct DynamicRecord {
    /// alpha.
    pub alpha: f64,
    /// The headroom of all ports and classes.
    pub headroom_bytes: u64,
    /// What is shared.
    pub pool_bytes: u64,
    /// What the headroom lacks; 0 if it fits.
    pub short_bytes: u64,
    /// XOFF of a queue that is alone.
    pub xoff_alone_bytes: u64,
    /// XOFF of each when all are at it.
    pub xoff_all_bytes: u64,
}

/// TTL-based buffer management.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TtlRecord {
    /// Which ones of the group.
    pub switches: Vec<String>,
    /// The classes that the switch needs, from 1 on.
    pub classes: Vec<u32>,
    /// The least partition of each.
    pub partition_bytes: u64,
    /// The headroom of all ports and classes.
    pub headroom_bytes: u64,
    /// What is left for the shared partition.
    pub shared_bytes: u64,
    /// What is missing; 0 if it fits.
    pub short_bytes: u64,
    /// n C RTT.
    pub work_shared_bytes: u64,
    /// n k C RTT.
    pub work_separate_bytes: u64,
}

/// The document of the TTL note's numbers.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PaperDocument {
    /// See [`SCHEMA`].
    pub schema: u32,
    /// One element per number.
    pub rows: Vec<PaperRecord>,
}

/// The document of the TTL note's numbers.
pub fn paper_document() -> PaperDocument {
    PaperDocument {
        schema: SCHEMA,
        rows: paper(),
    }
}

/// The document of a plan.
pub fn document(fabric: &Fabric, plan: &Plan) -> PlanDocument {
    let switches = plan.switches.iter().map(|switch| record(fabric, switch));
    let fitting = super::Scheme::ALL.into_iter();
    let fitting = fitting.filter(|scheme| plan.fits(*scheme));
    PlanDocument {
        schema: SCHEMA,
        fabric: plan.fabric.clone(),
        medium: plan.medium.name(),
        routes: super::text::routes(fabric),
        mtu_bytes: plan.request.mtu.get(),
        rtt_ps: plan.request.rtt.as_ps(),
        longest_path: plan.longest_path,
        has_loop: plan.has_loop,
        notes: plan.notes.clone(),
        fitting: fitting.map(super::Scheme::name).collect(),
        switches: switches.collect(),
        cycle_aware: None,
        proofs: None,
        against: None,
    }
}

fn record(fabric: &Fabric, switch: &SwitchPlan) -> SwitchRecord {
    let names = switch.members.iter();
    let names = names.map(|node| fabric.topology.node(*node).name.clone());
    let dynamic = &switch.dynamic;
    SwitchRecord {
        switches: names.collect(),
        buffer_bytes: switch.buffer.get(),
        ports: switch.ports.iter().map(|it| port(fabric, it)).collect(),
        schemes: switch.schemes.iter().map(scheme).collect(),
        pfc_dynamic: DynamicRecord {
            alpha: f64::from(dynamic.alpha_exponent).exp2(),
            headroom_bytes: dynamic.headroom.get(),
            pool_bytes: dynamic.pool.get(),
            short_bytes: dynamic.short.get(),
            xoff_alone_bytes: dynamic.alone.get(),
            xoff_all_bytes: dynamic.all.get(),
        },
        ttl: switch.ttl.iter().map(|it| ttl(fabric, it)).collect(),
    }
}

fn port(fabric: &Fabric, port: &PortPlan) -> PortRecord {
    let names = port.members.iter();
    let terms = port.headroom.terms.iter().map(|term| TermRecord {
        name: term.name,
        why: term.why,
        equation_bytes: term.equation.get(),
        bound_bytes: term.bound.get(),
    });
    PortRecord {
        ports: names
            .map(|(node, port)| fabric.port_name(*node, *port))
            .collect(),
        per_switch: port.count,
        rate_bps: port.kind.line.as_bps(),
        wire_ps: port.kind.wire.as_ps(),
        processing_ps: port.latency.processing.as_ps(),
        classes: port.kind.classes,
        tau_ps: port.latency.tau().as_ps(),
        headroom_equation_bytes: port.headroom.equation.get(),
        headroom_bytes: port.headroom.bound.get(),
        headroom_sonic_bytes: port.sonic.map(Bytes::get),
        terms: terms.collect(),
    }
}

fn scheme(plan: &SchemePlan) -> SchemeRecord {
    let (left, short, advice) = match plan.fit {
        Fit::Spare(spare) => (spare, Bytes::ZERO, None),
        Fit::Short(by, advice) => (Bytes::ZERO, by, Some(advice)),
    };
    SchemeRecord {
        flow_control: plan.scheme.name(),
        fits: plan.fit.is_fitting(),
        need_bytes: plan.need.get(),
        left_bytes: left.get(),
        short_bytes: short.get(),
        fits_with_classes: advice.and_then(|advice| advice.classes),
        fits_with_wire_ps: advice.and_then(|advice| advice.wire).map(Span::as_ps),
        fits_with_mtu_bytes: advice.and_then(|advice| advice.mtu).map(Bytes::get),
        thresholds: plan.sets.iter().map(thresholds).collect(),
    }
}

fn thresholds(set: &Set) -> ThresholdRecord {
    let line = set.derivation.latency.line;
    let mut record = ThresholdRecord {
        buffer_bytes: set.ingress.buffer.get(),
        ..ThresholdRecord::default()
    };
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

fn ttl(fabric: &Fabric, ttl: &TtlPlan) -> TtlRecord {
    let names = ttl.members.iter();
    let names = names.map(|node| fabric.topology.node(*node).name.clone());
    let classes = (0..u64::BITS).filter(|hop| ttl.hops >> hop & 1 == 1);
    TtlRecord {
        switches: names.collect(),
        classes: classes.map(|hop| hop + 1).collect(),
        partition_bytes: ttl.partition.get(),
        headroom_bytes: ttl.headroom.get(),
        shared_bytes: ttl.shared.get(),
        short_bytes: ttl.short.get(),
        work_shared_bytes: ttl.work_shared.get(),
        work_separate_bytes: ttl.work_separate.get(),
    }
}
