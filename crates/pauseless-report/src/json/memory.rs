//! What the shared memories of switches have seen.

use pauseless_core::memory::MemoryUse;
use pauseless_sim::outcome::MemoryOutcome;

use pauseless_run::Run;
use pauseless_text::records;

records! {
    /// The shared memory of a switch.
    pub struct MemoryRecord(run: &Run, memory: &MemoryOutcome) {
        /// The name of the switch whose ports share it.
        switch: String = run.node_name(memory.node).to_string();
        /// How large everything is.
        size: MemoryUseRecord = MemoryUseRecord::new(memory.size);
        /// The most that was in use of each part, not necessarily at the same time.
        max: MemoryUseRecord = MemoryUseRecord::new(memory.max);
        /// What was in use at the end.
        last: MemoryUseRecord = MemoryUseRecord::new(memory.last);
    }

    /// Bytes of each part of a memory.
    #[derive(Copy)]
    pub struct MemoryUseRecord(part: MemoryUse) {
        /// The pool that all ports share.
        pool_bytes: u64 = part.pool.get();
        /// The headroom of all ports together.
        headroom_bytes: u64 = part.headroom.get();
        /// All parts of the memory together.
        total_bytes: u64 = part.total.get();
    }
}

pub(super) fn records(run: &Run) -> Vec<MemoryRecord> {
    run.outcome.memories.iter().map(|it| MemoryRecord::new(run, it)).collect()
}
