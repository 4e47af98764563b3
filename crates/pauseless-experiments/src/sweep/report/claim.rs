//! What a campaign is said to show, against its runs.

use super::file::{Asks, Claim, Condition};
use super::proportion::{Count, Share, count, units};
use super::rows::Rows;
use super::{Context, words};
use crate::repro::claim::Verdict;
use pauseless_text::quantity::percents;

/// A claim and what came of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// The claim that was judged.
    pub claim: Claim,
    /// The plural of what is counted, such as `runs` or `networks`.
    pub units: String,
    /// How many of how many.
    pub share: Share,
    /// The share that it is compared with, if it is.
    pub other: Option<Share>,
    /// Whether the claim holds.
    pub holds: bool,
    /// Whether that agrees with what the campaign's file says of the claim: met, not met, broken, or met
    /// but not marked so.
    pub verdict: Verdict,
    /// How many runs of the campaign are missing: with them, it may be another verdict.
    pub missing: usize,
    /// What the reader must know, such as that no run meets the conditions.
    pub notes: Vec<String>,
}

impl Judged {
    /// Whether it was judged by all runs of the campaign.
    pub fn is_whole(&self) -> bool {
        self.missing == 0
    }

    /// The verdict in a word or two.
    pub fn word(&self) -> &'static str {
        match (self.verdict, self.is_whole()) {
            (Verdict::Met, false) => "met so far",
            (Verdict::OtherScale, _) => "other size",
            (Verdict::Broken, _) => "NOT MET",
            (Verdict::NotMet, _) => "not met",
            (other, _) => other.name(),
        }
    }

    /// What is asked for, in words.
    pub fn asked(&self) -> String {
        let percent = |share: f64| format!("{} %", percents(share));
        let conditions = |all: &[Condition]| {
            let write = |it: &Condition| {
                let values = it.values.iter().map(|value| words::label(value, ""));
                format!("{} = {}", it.axis, Vec::from_iter(values).join(" or "))
            };
            Vec::from_iter(all.iter().map(write)).join(", ")
        };
        match &self.claim.asks {
            Asks::AtMost(share) if *share == 0.0 => "none".to_string(),
            Asks::AtMost(share) => format!("at most {}", percent(*share)),
            Asks::AtLeast(share) if *share == 1.0 => "all".to_string(),
            Asks::AtLeast(share) => format!("at least {}", percent(*share)),
            Asks::FewerThan(other) => format!("fewer than with {}", conditions(other)),
            Asks::MoreThan(other) => format!("more than with {}", conditions(other)),
        }
    }

    /// What was measured, in words.
    pub fn measured(&self) -> String {
        written(self.share, &self.units)
    }

    /// What that is compared with, in words.
    pub fn against(&self) -> Option<String> {
        Some(written(self.other?, &self.units))
    }
}

/// A share in words, with its interval.
fn written(share: Share, units: &str) -> String {
    let Some(value) = share.value() else {
        return format!("no {units}");
    };
    let [low, high] = share.interval().map(percents);
    format!(
        "{} of {} {units}, {} % (95 % interval {low} to {high} %)",
        count_of(share.count),
        count_of(share.total),
        percents(value),
    )
}

/// Judges a claim by the runs of a campaign.
pub(super) fn judge(claim: &Claim, rows: &Rows<'_>, context: &Context) -> Result<Judged, String> {
    let is_fixed =
        |axis: &str| claim.select.iter().any(|it| it.axis == axis && it.values.len() == 1);
    let mut judged = Judged {
        claim: claim.clone(),
        units: units(rows, &claim.per, is_fixed)?,
        share: Share::default(),
        other: None,
        holds: false,
        verdict: Verdict::OtherScale,
        missing: context.missing,
        notes: Vec::new(),
    };
    let size = context.size.as_deref();
    let is_other = |sizes: &[String]| !sizes.iter().any(|it| Some(it.as_str()) == size);
    if !claim.sizes.is_empty() && is_other(&claim.sizes) {
        return Ok(judged);
    }
    judged.share = judged.look(rows, &claim.select)?;
    judged.notes.extend(rows.unknown(&claim.select));
    if let Asks::FewerThan(other) | Asks::MoreThan(other) = &claim.asks {
        judged.other = Some(judged.look(rows, &instead(&claim.select, other))?);
        judged.notes.extend(rows.unknown(other));
    }
    let known = judged.share.value().zip(judged.other.unwrap_or(judged.share).value());
    match known {
        Some((value, other)) => judged.compare(value, other),
        None => {
            let note = "nothing was measured that it could be judged by";
            judged.notes.push(note.to_string());
        }
    }
    if context.missing > 0 {
        let all = count_of(rows.len() + context.missing);
        let missing = count_of(context.missing);
        judged.notes.push(format!("{missing} of {all} runs are missing"));
    }
    judged.verdict = match (claim.is_met, judged.holds) {
        (true, true) => Verdict::Met,
        (true, false) => Verdict::Broken,
        (false, true) => Verdict::Unmarked,
        (false, false) => Verdict::NotMet,
    };
    Ok(judged)
}

fn count_of(runs: usize) -> String {
    pauseless_text::quantity::count(runs as u64)
}

impl Judged {
    /// The share of the runs that meet the conditions.
    fn look(&mut self, rows: &Rows<'_>, select: &[Condition]) -> Result<Share, String> {
        let of = std::slice::from_ref(&self.claim.of);
        let wanted = Count { select, of, per: &self.claim.per };
        let counted = count(rows, wanted, &rows.key(&[])?)?;
        self.notes.extend(rows.nothing(select)?);
        self.notes.extend(counted.notes(rows, of));
        Ok(counted.shares.get(&0).map_or(Share::default(), |it| it[0]))
    }

    fn compare(&mut self, value: f64, other: f64) {
        let [low, high] = self.share.interval();
        let [other_low, other_high] = self.other.unwrap_or(self.share).interval();
        let (is_beyond, is_sure) = match &self.claim.asks {
            Asks::AtMost(most) => (value <= *most, true),
            Asks::AtLeast(least) => (value >= *least, true),
            Asks::FewerThan(_) => (value < other, high < other_low),
            Asks::MoreThan(_) => (value > other, low > other_high),
        };
        self.holds = is_beyond && is_sure;
        if is_beyond && !is_sure {
            self.notes.push("the intervals overlap: more runs would tell".to_string());
        }
    }
}

/// `select` with the values of `other` where both speak of an axis.
fn instead(select: &[Condition], other: &[Condition]) -> Vec<Condition> {
    let is_kept = |it: &&Condition| !other.iter().any(|other| other.axis == it.axis);
    select.iter().filter(is_kept).cloned().chain(other.iter().cloned()).collect()
}
