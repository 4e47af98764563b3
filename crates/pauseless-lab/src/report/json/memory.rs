//! What the shared memories of switches have seen.

use pauseless_core::memory::MemoryUse;
use schemars::JsonSchema;
use serde::Serialize;

use crate::run::Run;

/// The shared memory of a switch.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct MemoryRecord {
    /// The switch.
    pub switch: String,
    /// How large everything is.
    pub size: MemoryUseRecord,
    /// The most that was in use of each part, not necessarily at the same time.
    pub max: MemoryUseRecord,
    /// What was in use at the end.
    pub last: MemoryUseRecord,
}

/// Bytes of each part of a memory.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct MemoryUseRecord {
    /// The pool that all ports share.
    pub pool_bytes: u64,
    /// All headroom together.
    pub headroom_bytes: u64,
    /// Everything.
    pub total_bytes: u64,
}

pub(super) fn records(run: &Run) -> Vec<MemoryRecord> {
    let part = |part: MemoryUse| MemoryUseRecord {
        pool_bytes: part.pool.get(),
        headroom_bytes: part.headroom.get(),
        total_bytes: part.total.get(),
    };
    let memories = run.outcome.memories.iter();
    let records = memories.map(|memory| MemoryRecord {
        switch: run.node_name(memory.node).to_string(),
        size: part(memory.size),
        max: part(memory.max),
        last: part(memory.last),
    });
    records.collect()
}
