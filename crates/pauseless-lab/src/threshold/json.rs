//! An answer for programs. Values are numbers of `unit`.

use schemars::JsonSchema;
use serde::Serialize;

use super::statistics::wilson;
use super::{Answer, Course, Scale, Share, Threshold, Verdict};

/// The document.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ThresholdRecord {
    /// The version of this form.
    pub schema: u32,
    /// The scenario.
    pub scenario: String,
    /// What was varied.
    pub key: String,
    /// What was looked for.
    pub property: String,
    /// What all values are numbers of: `bps`, `B`, `ps`, `ppm`, `1` or `1e-9`.
    pub unit: &'static str,
    /// The least value.
    pub from: u64,
    /// The greatest value.
    pub to: u64,
    /// `linear` or `log`.
    pub scale: &'static str,
    /// How close each seed was bisected to.
    pub precision: u64,
    /// How many runs it took.
    pub runs: usize,
    /// Present and true when it was broken off.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub interrupted: bool,
    /// `sharp`, `blurred` or `none`.
    pub verdict: &'static str,
    /// Why it is blurred, or none.
    pub reasons: Vec<String>,
    /// Where it is, unless there is none.
    pub threshold: Option<ThresholdValues>,
    /// How often it was seen at each value of the grid.
    pub shares: Vec<ShareRecord>,
    /// Every seed that came to its end.
    pub seeds: Vec<SeedRecord>,
}

/// Where a threshold is.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ThresholdValues {
    /// `appears` or `disappears`, as the value grows.
    pub direction: &'static str,
    /// The median over seeds.
    pub median: u64,
    /// What encloses the median.
    pub bounds: [u64; 2],
    /// With this probability.
    pub confidence: f64,
    /// The least and the greatest of all seeds.
    pub range: [u64; 2],
    /// How many seeds flip in this direction.
    pub flips: usize,
}

/// One value of the grid.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ShareRecord {
    /// The value.
    pub value: u64,
    /// Seeds with the property.
    pub with: usize,
    /// Of so many.
    pub of: usize,
    /// The 95 % confidence interval of the share.
    pub confidence_95: [f64; 2],
}

/// One seed.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SeedRecord {
    /// The seed.
    pub seed: u64,
    /// Whether it has the property at the least value.
    pub at_from: bool,
    /// Whether it has the property at the greatest value.
    pub at_to: bool,
    /// Two values between which it flips, if the ends differ.
    pub flip: Option<[u64; 2]>,
    /// How often neighbours of the grid differ.
    pub changes: usize,
}

/// The document of an answer.
pub fn record(answer: &Answer) -> ThresholdRecord {
    let question = &answer.question;
    let (verdict, threshold, reasons) = match answer.verdict() {
        Verdict::Sharp(threshold) => ("sharp", Some(threshold), Vec::new()),
        Verdict::Blurred { threshold, reasons } => ("blurred", Some(threshold), reasons),
        Verdict::None { reason } => ("none", None, vec![reason]),
    };
    ThresholdRecord {
        schema: 1,
        scenario: question.knob.name().to_string(),
        key: question.knob.key().to_string(),
        property: question.property.name(),
        unit: question.low.unit.name(),
        from: question.low.base,
        to: question.high.base,
        scale: match question.scale {
            Scale::Linear => "linear",
            Scale::Log => "log",
        },
        precision: answer.precision,
        runs: answer.run_count,
        interrupted: answer.is_interrupted,
        verdict,
        reasons,
        threshold: threshold.as_ref().map(values),
        shares: answer.shares.iter().map(share).collect(),
        seeds: answer.seeds.iter().map(seed).collect(),
    }
}

fn values(threshold: &Threshold) -> ThresholdValues {
    ThresholdValues {
        direction: threshold.direction.name(),
        median: threshold.median.base,
        bounds: [threshold.bounds.0.base, threshold.bounds.1.base],
        confidence: threshold.confidence,
        range: [threshold.range.0.base, threshold.range.1.base],
        flips: threshold.flips,
    }
}

fn share(share: &Share) -> ShareRecord {
    ShareRecord {
        value: share.value.base,
        with: share.with,
        of: share.of,
        confidence_95: wilson(share.with, share.of),
    }
}

fn seed(course: &Course) -> SeedRecord {
    SeedRecord {
        seed: course.seed,
        at_from: course.at_low,
        at_to: course.at_high,
        flip: course.flip.map(|(last, first)| [last.base, first.base]),
        changes: course.changes,
    }
}
