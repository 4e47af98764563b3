//! An answer as a page with the share of seeds against the value.

use super::{Answer, Scale, Verdict, text};
use pauseless_figures as draw;
use pauseless_figures::figure::{self, Axis, Drawn, Figure, Mark, Panel, Series, Spread};
use pauseless_report::html::{Heading, escape, frame};
use pauseless_run::metrics::statistics::wilson;
use pauseless_text::terminal::Paint;

/// The page of an answer.
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
         in {}; shaded: 95 % confidence</figcaption>\n{}</figure>\n<pre>{}</pre>\n</section>\n</main>\n",
        question.seeds,
        escape(&question.property.subject()),
        escape(question.knob.key()),
        if unit.is_empty() { "1" } else { unit },
        draw::inline(&figure(answer)),
        escape(&text::report(answer, Paint::Plain)),
    );
    let lead = "Seeds change when flows start, and every jitter.".to_string();
    frame(&Heading { title, lead }, &body)
}

fn figure(answer: &Answer) -> Figure {
    let question = &answer.question;
    let (unit, name) = question.low.unit.axis(question.high.base);
    let place = |base: u64| base as f64 / unit;
    let scale = match question.scale {
        Scale::Linear => figure::Scale::Linear,
        Scale::Log => figure::Scale::Log,
    };
    let label = match name {
        "" => question.knob.key().to_string(),
        name => format!("{} ({name})", question.knob.key()),
    };
    let (low, high) = (place(question.low.base), place(question.high.base));
    let x = Axis::new(label, scale).covering(low, high);
    let y = Axis::linear("share of seeds (%)").covering(0.0, 100.0);
    let shares = answer
        .shares
        .iter()
        .map(|it| (place(it.value.base), 100.0 * it.with as f64 / it.of.max(1) as f64));
    let sure = answer.shares.iter().map(|it| wilson(it.with, it.of).map(|share| 100.0 * share));
    let series = Series {
        spread: Spread::Band(sure.collect()),
        ..Series::new("", Drawn::Marked, shares.collect())
    };
    let mut panel = Panel::new("", x, y, vec![series]);
    // A line would say more than the verdict does where seeds disagree.
    if let Verdict::Sharp(threshold) = answer.verdict() {
        panel.marks = vec![Mark::quiet(threshold.median.exact(), place(threshold.median.base))];
    }
    Figure::new("threshold", "the share of seeds with the property against the value", vec![panel])
}
