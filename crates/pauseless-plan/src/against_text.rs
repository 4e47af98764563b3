//! Deployed and derived values side by side, for people and as JSON.

use pauseless_core::unit::Bytes;

use super::against::{Bound, DYNAMIC, Deployed, Judgement, Pool, Row, WORST_CASE};
use super::text::table;
use pauseless_dumps::import::ethernet::sonic::Threshold;
use pauseless_text::quantity::count;
use pauseless_text::records;

/// A table of all rows.
pub fn report(deployed: &Deployed) -> String {
    let mut text = String::from(
        "deployed against derived headroom (xoff), per port and class, in bytes; a sender that\n\
         obeys sooner than was reckoned with needs less: --processing or --quanta\n",
    );
    if let Some(mtu) = deployed.mtu_assumed {
        let mtu = mtu.get();
        text += &format!(
            "note: where the files have no MTU, frames up to {mtu} B are assumed; --mtu says otherwise\n"
        );
    }
    if deployed.rows.is_empty() {
        text += "  the files have no lossless priority group and no lossless profile\n";
        for pool in &deployed.pools {
            text += &pool_line(pool);
        }
        for line in deployed.bare_lines() {
            text += &format!("  {line}\n");
        }
        return text;
    }
    let mut rows = deployed.rows.iter();
    let has_sonic = rows.any(|row| derived(row, |it| it.sonic).is_some());
    let header = [
        "where",
        "speed",
        "cable",
        "MTU",
        "size",
        "xon",
        "xoff",
        "threshold",
        "eq. 15",
        "needed",
        if has_sonic { "SONiC's form" } else { "" },
        "verdict",
    ];
    let rows = deployed.rows.iter().map(|row| {
        let profile = &row.profile;
        [
            place(row),
            row.speed_mbps.map_or(DASH.into(), |mbps| format!("{mbps}")),
            row.cable_m.map_or(DASH.into(), |metres| format!("{metres} m")),
            count(row.mtu.get()),
            number(profile.size),
            xon(row),
            number(profile.xoff),
            threshold(row),
            bytes(derived(row, |it| Some(it.equation))),
            bytes(derived(row, |it| Some(it.bound))),
            if has_sonic { bytes(derived(row, |it| it.sonic)) } else { String::new() },
            verdict(row),
        ]
    });
    let header = [header.map(String::from)].into_iter();
    table(&mut text, header.chain(rows));
    for pool in &deployed.pools {
        text += &pool_line(pool);
    }
    for line in deployed.bare_lines() {
        text += &format!("  {line}\n");
    }
    text + summary(deployed).as_str()
}

/// A line that counts the verdicts.
fn summary(deployed: &Deployed) -> String {
    let rows = deployed.rows.iter();
    let of = |is: fn(&Judgement) -> bool| {
        let found = rows.clone().filter(|row| is(&row.judgement));
        count(found.count() as u64)
    };
    let mut text = format!(
        "{} enough by {WORST_CASE}, {} too small, {} that cannot be judged\n",
        of(|it| matches!(it, Judgement::Enough(_))),
        of(|it| matches!(it, Judgement::TooSmall(_))),
        of(|it| matches!(it, Judgement::Unknown(_))),
    );
    let known = rows.clone().filter(|row| derived(row, |it| it.dynamic).is_some()).count();
    if known > 0 {
        let too_small = rows.clone().filter(|row| row.missed().contains(&DYNAMIC)).count();
        text += &format!("{} enough by {DYNAMIC}, {too_small} too small\n", known - too_small);
    }
    text
}

fn pool_line(pool: &Pool) -> String {
    let verdict = match &pool.judgement {
        Judgement::Enough(_) => "ok: it covers all of them at once".to_string(),
        Judgement::TooSmall(by) => {
            let by = count(by.get());
            format!(
                "too small by {by} when all are paused at once (can lose by 802.1Q's worst case)"
            )
        }
        Judgement::Unknown(why) => format!("cannot judge: {why}"),
    };
    format!(
        "  {} {}: shared headroom of {} B for {} queues that need {} B: {verdict}\n",
        file_name(&pool.of),
        pool.name,
        count(pool.size.get()),
        count(pool.queues),
        count(pool.need.get()),
    )
}

fn place(row: &Row) -> String {
    let of = file_name(&row.of);
    match &row.ports[..] {
        [] if row.profile.name.is_empty() => of.to_string(),
        [] => format!("{of} {}", row.profile.name),
        [only] => format!("{of} {only}"),
        [first, others @ ..] => format!("{of} {first} and {} more", others.len()),
    }
}

/// The last part of a path.
fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn derived(row: &Row, of: fn(&super::against::Derived) -> Option<Bytes>) -> Option<Bytes> {
    row.derived.as_ref().and_then(of)
}

const DASH: &str = "-";

fn number(value: Option<u64>) -> String {
    value.map_or(DASH.to_string(), count)
}

fn bytes(value: Option<Bytes>) -> String {
    number(value.map(Bytes::get))
}

fn xon(row: &Row) -> String {
    match row.profile.xon_offset {
        None => number(row.profile.xon),
        Some(offset) => format!("{}, offset {}", number(row.profile.xon), count(offset)),
    }
}

fn threshold(row: &Row) -> String {
    match row.profile.threshold {
        None => DASH.to_string(),
        Some(Threshold::Dynamic(exponent @ 0..)) => format!("alpha {}", 1u64 << exponent.min(63)),
        Some(Threshold::Dynamic(exponent)) => {
            format!("alpha 1/{}", 1u64 << exponent.unsigned_abs().min(63))
        }
        Some(Threshold::Static(bytes)) => count(bytes),
    }
}

fn verdict(row: &Row) -> String {
    match &row.judgement {
        Judgement::TooSmall(by) => {
            let by = count(by.get());
            let missed = row.missed();
            let is_known = derived(row, |it| it.dynamic).is_some();
            let is_enough = is_known && !missed.contains(&DYNAMIC);
            let but = if is_enough { ", enough by SONiC's dynamic model" } else { "" };
            format!("too small by {by} (can lose by {}{but})", missed.join(" and "))
        }
        Judgement::Unknown(why) => format!("cannot judge: {why}"),
        Judgement::Enough(over) => {
            let text = if *over < row.mtu * 2 {
                "ok".to_string()
            } else {
                format!("larger than needed by {}", count(over.get()))
            };
            let xoff = row.profile.xoff.unwrap_or(0);
            let dynamic = derived(row, |it| it.dynamic).map_or(0, Bytes::get);
            if let Some(by @ 1..) = dynamic.checked_sub(xoff) {
                let by = count(by);
                return format!(
                    "enough by {WORST_CASE}, too small by {by} (can lose by {DYNAMIC})"
                );
            }
            let form = derived(row, |it| it.sonic).map_or(0, Bytes::get);
            match form.checked_sub(row.profile.xoff.unwrap_or(0)) {
                Some(by @ 1..) => format!("{text}, but {} below SONiC's form", count(by)),
                _ => text,
            }
        }
    }
}

records! {
    /// Deployed buffer profiles held against what is derived for their links.
    pub struct AgainstRecord(deployed: &Deployed) {
        /// Whether packets can be lost somewhere by 802.1Q's worst case.
        can_lose: bool = deployed.can_lose(Bound::WorstCase);
        /// One row per profile and kind of port.
        rows: Vec<RowRecord> = deployed.rows.iter().map(RowRecord::new).collect();
        /// Headroom that ports share.
        pools: Vec<PoolRecord> = deployed.pools.iter().map(PoolRecord::new).collect();
    }

    /// A profile at some ports, or a row of a table.
    pub struct RowRecord(row: &Row) after {
        let profile = &row.profile;
        let (dynamic_th, static_th_bytes) = match profile.threshold {
            None => (None, None),
            Some(Threshold::Dynamic(exponent)) => (Some(exponent), None),
            Some(Threshold::Static(bytes)) => (None, Some(bytes)),
        };
        let (spare, why) = match &row.judgement {
            Judgement::Enough(over) => (Some(i128::from(over.get())), None),
            Judgement::TooSmall(by) => (Some(-i128::from(by.get())), None),
            Judgement::Unknown(why) => (None, Some(*why)),
        };
    } {
        /// The switch or the file.
        of: String = row.of.clone();
        /// The ports with their groups.
        ports: Vec<String> = row.ports.clone();
        /// The name of the profile.
        profile: String = profile.name.clone();
        #[allow(missing_docs, reason = "named by its unit")]
        speed_mbps: Option<u32> = row.speed_mbps;
        #[allow(missing_docs, reason = "named by its unit")]
        cable_m: Option<u32> = row.cable_m;
        /// The largest frame that was reckoned with.
        mtu_bytes: u64 = row.mtu.get();
        /// The number of lossless classes of the port.
        classes: u8 = row.classes;
        /// Deployed: the bytes reserved for the group.
        size_bytes: Option<u64> = profile.size;
        /// Deployed: the bytes down to which a paused group must drain.
        xon_bytes: Option<u64> = profile.xon;
        /// Deployed: how far below its threshold a paused group must drain.
        xon_offset_bytes: Option<u64> = profile.xon_offset;
        /// Deployed: the headroom of the group.
        xoff_bytes: Option<u64> = profile.xoff;
        /// Deployed: alpha is 2 to this.
        dynamic_th: Option<i8> = dynamic_th;
        /// Deployed: the most bytes of the shared pool that the group may hold.
        static_th_bytes: Option<u64> = static_th_bytes;
        /// Derived by equation 15 of the TTL note.
        equation_bytes: Option<u64> = derived(row, |it| Some(it.equation)).map(Bytes::get);
        /// Derived, as proved here.
        needed_bytes: Option<u64> = derived(row, |it| Some(it.bound)).map(Bytes::get);
        /// Derived by SONiC's form.
        sonic_bytes: Option<u64> = derived(row, |it| it.sonic).map(Bytes::get);
        /// Derived by SONiC's dynamic buffer model, where the chip is one that it knows.
        dynamic_bytes: Option<u64> = derived(row, |it| it.dynamic).map(Bytes::get);
        /// What the cable alone holds there and back: nothing can be lossless with less.
        wire_bytes: Option<u64> = derived(row, |it| Some(it.wire)).map(Bytes::get);
        /// The bounds that the headroom is below, by which it can lose.
        missed: Vec<&'static str> = row.missed();
        /// `ok`, `too-small` or `unknown`.
        verdict: &'static str = word(&row.judgement);
        /// What is to spare, negative if that is too little.
        spare_bytes: Option<i128> = spare;
        /// Why it cannot be judged.
        #[serde(skip_serializing_if = "Option::is_none")]
        why: Option<&'static str> = why;
    }

    /// Headroom that ports share.
    pub struct PoolRecord(pool: &Pool) {
        /// The switch or the file.
        of: String = pool.of.clone();
        /// The name of the pool.
        pool: String = pool.name.clone();
        /// The size of the pool.
        size_bytes: u64 = pool.size.get();
        /// What all that take from it need at once.
        needed_bytes: u64 = pool.need.get();
        /// The number of ports and classes that take from the pool.
        queues: u64 = pool.queues;
        /// `ok`, `too-small` or `unknown`.
        verdict: &'static str = word(&pool.judgement);
    }
}

fn word(judgement: &Judgement) -> &'static str {
    match judgement {
        Judgement::Enough(_) => "ok",
        Judgement::TooSmall(_) => "too-small",
        Judgement::Unknown(_) => "unknown",
    }
}
