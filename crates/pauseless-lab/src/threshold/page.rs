//! An answer as a page with the share of seeds against the value.

use super::statistics::wilson;
use super::{Answer, Scale, Verdict, text};
use crate::report::chart::{self, Axis, Curve, Figure, Instant, Stroke, Weight};
use crate::report::html::{Heading, escape, frame};
use crate::report::text::Paint;

/// The answer as a page.
pub fn page(answer: &Answer) -> String {
    let question = &answer.question;
    let title = format!(
        "{}: {} against {}",
        question.knob.name(),
        question.property.subject(),
        question.knob.key()
    );
    let (_, unit) = question.low.unit.axis(question.high.base);
    let body = format!(
        "<main>\n<section>\n<figure class=\"wide\">\n<figcaption>share of {} seeds with {}, in %, against {}, \
         in {}; dashed: 95 % confidence</figcaption>\n{}</figure>\n<pre>{}</pre>\n</section>\n</main>\n",
        question.seeds,
        escape(&question.property.subject()),
        escape(question.knob.key()),
        if unit.is_empty() { "1" } else { unit },
        chart::svg(&figure(answer)),
        escape(&text::report(answer, Paint::Plain)),
    );
    let lead = "Seeds change when flows start, and every jitter.".to_string();
    frame(&Heading { title, lead }, &body)
}

fn figure(answer: &Answer) -> Figure {
    let question = &answer.question;
    let (unit, _) = question.low.unit.axis(question.high.base);
    let place = |base: u64| match question.scale {
        Scale::Linear => base as f64 / unit,
        Scale::Log => (base as f64 / unit).log10(),
    };
    let (from, to) = (place(question.low.base), place(question.high.base));
    let axis = match question.scale {
        Scale::Linear => Axis::Values { from, to },
        Scale::Log => Axis::Decades { from: from.floor() as i32, to: to.ceil() as i32 },
    };
    let curve = |label: &str, stroke, share: &dyn Fn(usize, usize) -> f64| Curve {
        label: label.to_string(),
        colour: 0,
        stroke,
        points: answer
            .shares
            .iter()
            .map(|it| (place(it.value.base), 100.0 * share(it.with, it.of)))
            .collect(),
    };
    let curves = vec![
        curve("share", Stroke::Marked, &|with, of| with as f64 / of.max(1) as f64),
        curve("low", Stroke::Dashed, &|with, of| wilson(with, of)[0]),
        curve("high", Stroke::Dashed, &|with, of| wilson(with, of)[1]),
    ];
    // A line would say more than the verdict does where seeds disagree.
    let threshold = match answer.verdict() {
        Verdict::Sharp(threshold) => Some(threshold),
        Verdict::Blurred { .. } | Verdict::None { .. } => None,
    };
    let instants = threshold.map(|threshold| Instant {
        label: threshold.median.exact(),
        at_ms: place(threshold.median.base),
        weight: Weight::Quiet,
    });
    Figure {
        description: "the share of seeds with the property against the value".to_string(),
        axis,
        // Room for what stands at the threshold.
        value_max: 115.0,
        curves,
        levels: Vec::new(),
        instants: instants.into_iter().collect(),
    }
}
