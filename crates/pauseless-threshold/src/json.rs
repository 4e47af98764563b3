//! An answer for programs. Values are numbers of `unit`.

use super::{Answer, Course, Scale, Share, Threshold, Verdict};
use pauseless_run::metrics::statistics::wilson;
use pauseless_text::records;

records! {
    /// The document of `threshold --json`.
    pub struct ThresholdRecord(answer: &Answer) after {
        let question = &answer.question;
        let (verdict, threshold, reasons) = match answer.verdict() {
            Verdict::Sharp(threshold) => ("sharp", Some(threshold), Vec::new()),
            Verdict::Blurred { threshold, reasons } => ("blurred", Some(threshold), reasons),
            Verdict::None { reason } => ("none", None, vec![reason]),
        };
        let scale = match question.scale {
            Scale::Linear => "linear",
            Scale::Log => "log",
        };
    } {
        /// The version of this form.
        schema: u32 = 1;
        /// The name of the scenario.
        scenario: String = question.knob.name().to_string();
        /// The key that was varied.
        key: String = question.knob.key().to_string();
        /// The property that was looked for.
        property: String = question.property.name();
        /// What all values are numbers of: `bps`, `B`, `ps`, `ppm`, `1` or `1e-9`.
        unit: &'static str = question.low.unit.name();
        /// The least value that was tried.
        from: u64 = question.low.base;
        /// The greatest value that was tried.
        to: u64 = question.high.base;
        /// How values are spread, `linear` or `log`.
        scale: &'static str = scale;
        /// How close each seed was bisected to.
        precision: u64 = answer.precision;
        /// How many runs it took.
        runs: usize = answer.run_count;
        /// In how many of them a longer run could change the answer.
        open_runs: usize = answer.open_count;
        /// Present and true when it was broken off.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        interrupted: bool = answer.is_interrupted;
        /// `sharp`, `blurred` or `none`.
        verdict: &'static str = verdict;
        /// The reasons why it is blurred, or why there is none.
        reasons: Vec<String> = reasons;
        /// The threshold, unless there is none.
        threshold: Option<ThresholdValues> = threshold.as_ref().map(ThresholdValues::new);
        /// How often it was seen at each value of the grid.
        shares: Vec<ShareRecord> = answer.shares.iter().map(ShareRecord::new).collect();
        /// Every seed that came to its end.
        seeds: Vec<SeedRecord> = answer.seeds.iter().map(SeedRecord::new).collect();
    }

    /// Where a threshold is.
    pub struct ThresholdValues(threshold: &Threshold) {
        /// `appears` or `disappears`, as the value grows.
        direction: &'static str = threshold.direction.name();
        /// The median over seeds.
        median: u64 = threshold.median.base;
        /// Two values that enclose the median.
        bounds: [u64; 2] = [threshold.bounds.0.base, threshold.bounds.1.base];
        /// The probability that the bounds enclose the median.
        confidence: f64 = threshold.confidence;
        /// The least and the greatest of all seeds.
        range: [u64; 2] = [threshold.range.0.base, threshold.range.1.base];
        /// How many seeds flip in this direction.
        flips: usize = threshold.flips;
    }

    /// One value of the grid.
    pub struct ShareRecord(share: &Share) {
        /// The value that all seeds were tried at.
        value: u64 = share.value.base;
        /// Seeds with the property.
        with: usize = share.with;
        /// Seeds that were tried at it.
        of: usize = share.of;
        /// The 95 % confidence interval of the share.
        confidence_95: [f64; 2] = wilson(share.with, share.of);
    }

    /// What became of one seed.
    pub struct SeedRecord(course: &Course) {
        /// The number of the seed.
        seed: u64 = course.seed;
        /// Whether it has the property at the least value.
        at_from: bool = course.at_low;
        /// Whether it has the property at the greatest value.
        at_to: bool = course.at_high;
        /// Two values between which it flips, if the ends differ.
        flip: Option<[u64; 2]> = course.flip.map(|(last, first)| [last.base, first.base]);
        /// How often neighbours of the grid differ.
        changes: usize = course.changes;
    }
}
