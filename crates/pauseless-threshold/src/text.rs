//! An answer for a terminal.

use super::{Answer, Share, Threshold, Verdict};
use pauseless_run::metrics::statistics::wilson;
use pauseless_text::quantity::plural;
use pauseless_text::terminal::{Mood, Paint, Table};

/// The verdict and the table of shares.
pub fn report(answer: &Answer, paint: Paint) -> String {
    let question = &answer.question;
    let mut text = format!(
        "{}: {} as {} goes from {} to {}\n{}, {}, precision {}\n\n",
        paint.paint(Mood::Strong, question.knob.name()),
        question.property.subject(),
        question.knob.key(),
        question.low.exact(),
        question.high.exact(),
        plural(question.seeds, "seed"),
        plural(answer.run_count as u64, "run"),
        question.low.of(answer.precision).exact(),
    );
    text.push_str(&verdict(answer, paint));
    text.push('\n');
    text.push_str(&shares(answer));
    text
}

/// The verdict without the table of shares.
pub fn verdict(answer: &Answer, paint: Paint) -> String {
    let mut text = String::new();
    if answer.is_interrupted {
        let (done, all) = (answer.seeds.len(), answer.question.seeds);
        let line = format!("interrupted: {done} of {all} seeds came to their end");
        text += &format!("{}\n", paint.paint(Mood::Poor, &line));
    }
    match answer.verdict() {
        Verdict::Sharp(threshold) => {
            let line = sentence(answer, &threshold);
            text += &format!("{}\n", paint.paint(Mood::Good, &line));
        }
        Verdict::Blurred { threshold, reasons } => {
            let line = format!("no sharp threshold; {}", sentence(answer, &threshold));
            text += &format!("{}\n", paint.paint(Mood::Poor, &line));
            for reason in reasons {
                text += &format!("  - {reason}\n");
            }
        }
        Verdict::None { reason } => {
            text += &format!("{}\n", paint.paint(Mood::Bad, &format!("no threshold: {reason}")));
        }
    }
    text
}

/// Where it flips, and how sure that is.
pub fn sentence(answer: &Answer, threshold: &Threshold) -> String {
    let Threshold { bounds, range, .. } = threshold;
    let sure = match threshold.confidence {
        0.0 => "one seed only".to_string(),
        confidence => format!(
            "{:.1} % confidence: {} to {}",
            confidence * 100.0,
            bounds.0.exact(),
            bounds.1.exact()
        ),
    };
    format!(
        "{} {} at {} (median; {sure}; all: {} to {}) in {} of {} seeds",
        answer.question.property.subject(),
        threshold.direction.name(),
        threshold.median.exact(),
        range.0.exact(),
        range.1.exact(),
        threshold.flips,
        answer.seeds.len()
    )
}

fn shares(answer: &Answer) -> String {
    // A dash in a head would be a space.
    let mut table = Table::new("<value <seeds <share <95-%-interval share-of-seeds");
    for share in &answer.shares {
        table.push(row(share));
    }
    table.render(|_, _, cell| cell.to_string())
}

fn row(share: &Share) -> Vec<String> {
    let part = share.with as f64 / share.of.max(1) as f64;
    let [low, high] = wilson(share.with, share.of);
    let filled = (part * BAR as f64).round() as usize;
    vec![
        share.value.exact(),
        format!("{} of {}", share.with, share.of),
        format!("{:.0} %", part * 100.0),
        format!("{:.0} to {:.0} %", low * 100.0, high * 100.0),
        format!("{}{}", "#".repeat(filled), ".".repeat(BAR - filled)),
    ]
}

/// The width of a bar.
const BAR: usize = 20;
