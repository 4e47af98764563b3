//! Deployed and derived values side by side, for people and as JSON.

use pauseless_core::unit::Bytes;
use schemars::JsonSchema;
use serde::Serialize;

use super::against::{Deployed, Judgement, Pool, Row};
use super::text::table;
use crate::import::ethernet::sonic::Threshold;
use crate::report::quantity::count;

/// A table of all rows.
pub fn report(deployed: &Deployed) -> String {
    let mut text = String::from(
        "deployed against derived headroom (xoff), per port and class, in bytes; a sender that\n\
         obeys sooner than was reckoned with needs less: --processing or --quanta\n",
    );
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
    let has_sonic = deployed
        .rows
        .iter()
        .any(|row| derived(row, |it| it.sonic).is_some());
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
            row.cable_m
                .map_or(DASH.into(), |metres| format!("{metres} m")),
            count(row.mtu.get()),
            number(profile.size),
            xon(row),
            number(profile.xoff),
            threshold(row),
            bytes(derived(row, |it| Some(it.equation))),
            bytes(derived(row, |it| Some(it.bound))),
            if has_sonic {
                bytes(derived(row, |it| it.sonic))
            } else {
                String::new()
            },
            verdict(row),
        ]
    });
    table(
        &mut text,
        std::iter::once(header.map(String::from)).chain(rows),
    );
    for pool in &deployed.pools {
        text += &pool_line(pool);
    }
    for line in deployed.bare_lines() {
        text += &format!("  {line}\n");
    }
    text + summary(deployed).as_str()
}

/// How many of each verdict.
fn summary(deployed: &Deployed) -> String {
    let rows = deployed.rows.iter();
    let of = |is: fn(&Judgement) -> bool| {
        let found = rows.clone().filter(|row| is(&row.judgement));
        count(found.count() as u64)
    };
    format!(
        "{} enough, {} too small, {} that cannot be judged\n",
        of(|it| matches!(it, Judgement::Enough(_))),
        of(|it| matches!(it, Judgement::TooSmall(_))),
        of(|it| matches!(it, Judgement::Unknown(_))),
    )
}

fn pool_line(pool: &Pool) -> String {
    let verdict = match &pool.judgement {
        Judgement::Enough(_) => "ok: it covers all of them at once".to_string(),
        Judgement::TooSmall(by) => format!(
            "too small by {} when all are paused at once (can lose)",
            count(by.get())
        ),
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
        Judgement::TooSmall(by) => format!("too small by {} (can lose)", count(by.get())),
        Judgement::Unknown(why) => format!("cannot judge: {why}"),
        Judgement::Enough(over) => {
            let text = match *over < row.mtu * 2 {
                true => "ok".to_string(),
                false => format!("larger than needed by {}", count(over.get())),
            };
            let form = derived(row, |it| it.sonic).map_or(0, Bytes::get);
            match form.checked_sub(row.profile.xoff.unwrap_or(0)) {
                Some(by @ 1..) => format!("{text}, but {} below SONiC's form", count(by)),
                _ => text,
            }
        }
    }
}

/// All rows.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct AgainstRecord {
    /// Whether packets can be lost somewhere.
    pub can_lose: bool,
    /// Profiles.
    pub rows: Vec<RowRecord>,
    /// Headroom that ports share.
    pub pools: Vec<PoolRecord>,
}

/// A profile at some ports, or a row of a table.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RowRecord {
    /// The switch or the file.
    pub of: String,
    /// The ports with their groups.
    pub ports: Vec<String>,
    /// The profile's name.
    pub profile: String,
    #[allow(missing_docs, reason = "named by its unit")]
    pub speed_mbps: Option<u32>,
    #[allow(missing_docs, reason = "named by its unit")]
    pub cable_m: Option<u32>,
    /// The largest frame that was reckoned with.
    pub mtu_bytes: u64,
    /// Lossless classes.
    pub classes: u8,
    /// Deployed.
    pub size_bytes: Option<u64>,
    /// Deployed.
    pub xon_bytes: Option<u64>,
    /// Deployed.
    pub xon_offset_bytes: Option<u64>,
    /// Deployed headroom.
    pub xoff_bytes: Option<u64>,
    /// Deployed: alpha is 2 to this.
    pub dynamic_th: Option<i8>,
    /// Deployed.
    pub static_th_bytes: Option<u64>,
    /// Derived by equation 15 of the TTL note.
    pub equation_bytes: Option<u64>,
    /// Derived, as proved here.
    pub needed_bytes: Option<u64>,
    /// Derived by SONiC's form.
    pub sonic_bytes: Option<u64>,
    /// `ok`, `too-small` or `unknown`.
    pub verdict: &'static str,
    /// What is to spare, negative if that is too little.
    pub spare_bytes: Option<i128>,
    /// Why it cannot be judged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<&'static str>,
}

/// Headroom that ports share.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PoolRecord {
    /// The switch or the file.
    pub of: String,
    /// Its name.
    pub pool: String,
    /// Its size.
    pub size_bytes: u64,
    /// What all that take from it need at once.
    pub needed_bytes: u64,
    /// How many they are.
    pub queues: u64,
    /// `ok`, `too-small` or `unknown`.
    pub verdict: &'static str,
}

/// The record of all rows.
pub fn record(deployed: &Deployed) -> AgainstRecord {
    let pools = deployed.pools.iter().map(|pool| PoolRecord {
        of: pool.of.clone(),
        pool: pool.name.clone(),
        size_bytes: pool.size.get(),
        needed_bytes: pool.need.get(),
        queues: pool.queues,
        verdict: word(&pool.judgement),
    });
    AgainstRecord {
        can_lose: deployed.can_lose(),
        rows: deployed.rows.iter().map(row_record).collect(),
        pools: pools.collect(),
    }
}

fn row_record(row: &Row) -> RowRecord {
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
    RowRecord {
        of: row.of.clone(),
        ports: row.ports.clone(),
        profile: profile.name.clone(),
        speed_mbps: row.speed_mbps,
        cable_m: row.cable_m,
        mtu_bytes: row.mtu.get(),
        classes: row.classes,
        size_bytes: profile.size,
        xon_bytes: profile.xon,
        xon_offset_bytes: profile.xon_offset,
        xoff_bytes: profile.xoff,
        dynamic_th,
        static_th_bytes,
        equation_bytes: derived(row, |it| Some(it.equation)).map(Bytes::get),
        needed_bytes: derived(row, |it| Some(it.bound)).map(Bytes::get),
        sonic_bytes: derived(row, |it| it.sonic).map(Bytes::get),
        verdict: word(&row.judgement),
        spare_bytes: spare,
        why,
    }
}

fn word(judgement: &Judgement) -> &'static str {
    match judgement {
        Judgement::Enough(_) => "ok",
        Judgement::TooSmall(_) => "too-small",
        Judgement::Unknown(_) => "unknown",
    }
}
