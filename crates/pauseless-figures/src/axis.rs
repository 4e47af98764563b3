//! Axes: from where to where they go, linear or by powers of ten, with ticks at round numbers.

use super::figure::{Axis, Drawn, Panel, Scale};
use super::svg::{FONT, measure};
use pauseless_text::quantity;

/// An axis with its ends and its ticks.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Ruler {
    pub scale: Scale,
    pub low: f64,
    pub high: f64,
    pub ticks: Vec<Tick>,
}

/// A place on an axis; small if nothing is written there.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tick {
    pub at: f64,
    pub label: Option<String>,
}

/// From the least to the greatest of what has a place on an axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Extent {
    /// The least of the values.
    pub low: f64,
    /// The greatest of the values.
    pub high: f64,
}

impl Extent {
    pub(crate) fn new(low: f64, high: f64) -> Extent {
        Extent { low, high }
    }

    /// The extent of `values` on an axis of this scale, if any has a place there.
    pub fn of(values: impl Iterator<Item = f64>, scale: &Scale) -> Option<Extent> {
        let is_placed = |value: &f64| value.is_finite() && (*scale != Scale::Log || *value > 0.0);
        values.filter(is_placed).fold(None, |extent, value| {
            let one = Extent::new(value, value);
            Some(extent.map_or(one, |it: Extent| it.with(one)))
        })
    }

    /// The extent that holds this one and another.
    pub(super) fn with(self, other: Extent) -> Extent {
        Extent::new(self.low.min(other.low), self.high.max(other.high))
    }
}

impl Panel {
    /// The values that need a place across.
    pub fn across(&self) -> Option<Extent> {
        let points = placed(self).map(|point| point.0);
        let marks = self.marks.iter().map(|mark| mark.x);
        Extent::of(points.chain(marks).chain(self.x.covered()), &self.x.scale)
    }

    /// The values that need a place upwards.
    pub fn upwards(&self) -> Option<Extent> {
        let points = placed(self).map(|point| point.1);
        let ends = self.series.iter().flat_map(|it| it.spread.ends()).flatten().copied();
        let levels = self.levels.iter().map(|level| level.value);
        Extent::of(points.chain(ends).chain(levels).chain(self.y.covered()), &self.y.scale)
    }

    /// Whether there are bars.
    pub(super) fn has_bars(&self) -> bool {
        self.series.iter().any(|it| it.mark == Drawn::Bars)
    }

    /// Whether there are symbols, which need room at the ends of axes.
    fn has_symbols(&self) -> bool {
        self.series.iter().any(|it| match it.mark {
            Drawn::Marked => true,
            Drawn::Line | Drawn::Steps => it.points.len() == 1,
            Drawn::Bars => false,
        })
    }
}

impl Axis {
    fn covered(&self) -> impl Iterator<Item = f64> {
        self.ends.into_iter().flat_map(|it| [it.low, it.high])
    }
}

fn placed(panel: &Panel) -> impl Iterator<Item = (f64, f64)> {
    let points = panel.series.iter().flat_map(|it| &it.points).copied();
    points.filter(|(x, y)| x.is_finite() && y.is_finite())
}

/// Gives panels with the same axes the same ends, so that they can be compared, also across
/// figures.
pub fn share_axes(panels: &mut [&mut Panel]) {
    let (x, y): (Vec<_>, Vec<_>) = panels.iter().map(|it| shared_by(it)).unzip();
    for (index, panel) in panels.iter_mut().enumerate() {
        panel.x.ends = shared(&x, index);
        panel.y.ends = shared(&y, index);
    }
}

/// An axis and the values that need a place on it.
type Need = (Axis, Option<Extent>);

/// What a panel needs across and upwards.
pub(super) fn shared_by(panel: &Panel) -> (Need, Need) {
    ((panel.x.clone(), panel.across()), (panel.y.clone(), panel.upwards()))
}

/// The ends of the axis at `index`: those of all axes like it, unless that would flatten a panel
/// to nothing.
pub(super) fn shared(all: &[Need], index: usize) -> Option<Extent> {
    let (axis, own) = &all[index];
    let is_same = |it: &&Need| it.0.label == axis.label && it.0.scale == axis.scale;
    let whole = all.iter().filter(is_same).filter_map(|it| it.1).reduce(Extent::with);
    let (Some(own), Some(whole)) = (*own, whole) else {
        return whole;
    };
    let is_flat = axis.scale == Scale::Linear && own.high < whole.high / 30.0;
    Some(if is_flat && own.high > 0.0 { own } else { whole })
}

impl Ruler {
    /// The axis across, with at most so many ticks.
    pub(super) fn across(panel: &Panel, extent: Option<Extent>, count: usize) -> Ruler {
        let extent = extent.unwrap_or(Extent::new(0.0, 1.0));
        match &panel.x.scale {
            Scale::Names(names) => Ruler::named(names),
            Scale::Cells(names) => {
                let widest = names.iter().map(|it| measure(it)).fold(0.0, f64::max);
                Ruler::cells(names, widest + 4.0, count as f64 * 34.0)
            }
            Scale::Log => Ruler::log(extent, count),
            Scale::Linear => {
                let Extent { mut low, mut high } = extent;
                if low >= 0.0 && low <= high / 2.0 || low == high && low > 0.0 {
                    low = 0.0;
                }
                if high <= low {
                    (low, high) = (low - 1.0, high + 1.0);
                }
                if panel.has_symbols() {
                    let room = (high - low) * 0.04;
                    high += room;
                    low -= if low == 0.0 { 0.0 } else { room };
                }
                let step = step(high - low, count);
                // What ends just before a tick ends there.
                let tick = (high / step).ceil() * step;
                let high = if tick - high < (high - low) * 0.01 { tick } else { high };
                Ruler::linear(Extent { low, high }, step)
            }
        }
    }

    /// The axis upwards: from zero on, to a tick above everything unless that is far.
    pub(super) fn upwards(panel: &Panel, extent: Option<Extent>, count: usize) -> Ruler {
        let extent = extent.unwrap_or(Extent::new(0.0, 1.0));
        match &panel.y.scale {
            Scale::Names(names) => Ruler::named(names),
            Scale::Cells(names) => Ruler::cells(names, FONT + 2.0, count as f64 * 22.0),
            // A bar is never empty because it is the lowest.
            Scale::Log if panel.has_bars() => {
                let low = extent.low * 0.5;
                Ruler::log(Extent { low, ..extent }, count)
            }
            Scale::Log => Ruler::log(extent, count),
            Scale::Linear => {
                let (low, high) = (extent.low.min(0.0), extent.high.max(0.0));
                let high = if high > low { high } else { low + 1.0 };
                let room = if panel.has_symbols() { 0.05 } else { 0.0 };
                let high = high + (high - low) * room;
                let step = step(high - low, count);
                let whole = |value: f64| (value / step - 1e-9).ceil() * step;
                let near = high + (high - low) * 0.04;
                let is_far = whole(high) - high > (high - low) * 0.12;
                let extent =
                    Extent { low: -whole(-low), high: if is_far { near } else { whole(high) } };
                Ruler::linear(extent, step)
            }
        }
    }

    fn named(names: &[String]) -> Ruler {
        let tick = |(at, name): (usize, &String)| Tick { at: at as f64, label: Some(name.clone()) };
        Ruler {
            scale: Scale::Names(names.to_vec()),
            low: -0.5,
            high: names.len().max(1) as f64 - 0.5,
            ticks: names.iter().enumerate().map(tick).collect(),
        }
    }

    /// Names of which only as many are written as there is room for, if `each` takes so much.
    fn cells(names: &[String], each: f64, room: f64) -> Ruler {
        let stride = (names.len() as f64 * each / room).ceil().max(1.0) as usize;
        let mut ruler = Ruler::named(names);
        ruler.scale = Scale::Cells(names.to_vec());
        ruler.ticks = ruler.ticks.into_iter().step_by(stride).collect();
        ruler
    }

    /// An axis from tick to tick around all values.
    pub(super) fn whole(extent: Option<Extent>, count: usize) -> Ruler {
        let Extent { mut low, mut high } = extent.unwrap_or(Extent::new(0.0, 1.0));
        if low >= 0.0 && low <= high / 2.0 {
            low = 0.0;
        }
        if high <= low {
            high = low + low.abs().max(1.0);
        }
        let step = step(high - low, count);
        let extent =
            Extent::new((low / step + 1e-9).floor() * step, (high / step - 1e-9).ceil() * step);
        Ruler::linear(extent, step)
    }

    /// How many names there are.
    pub(super) fn count(&self) -> usize {
        match &self.scale {
            Scale::Names(names) | Scale::Cells(names) => names.len().max(1),
            _ => 1,
        }
    }

    fn linear(Extent { low, high }: Extent, step: f64) -> Ruler {
        let first = (low / step - 1e-6).ceil() as i64;
        let last = (high / step + 1e-6).floor() as i64;
        let top = low.abs().max(high.abs());
        let tick = |n: i64| Tick {
            at: n as f64 * step,
            label: Some(quantity::tick(n as f64 * step, step, top)),
        };
        Ruler { scale: Scale::Linear, low, high, ticks: (first..=last).map(tick).collect() }
    }

    /// An axis to the next of 1, 2, 5 times a power of ten on both sides.
    fn log(extent: Extent, count: usize) -> Ruler {
        let steps = |value: f64| {
            let power = 10f64.powf((value.log10() + 1e-9).floor());
            [1.0, 2.0, 5.0, 10.0].map(|step| step * power)
        };
        let (mut low, mut high) = (1.0, 10.0);
        if extent.low > 0.0 {
            let below = |step: &f64| *step <= extent.low * (1.0 + 1e-9);
            let above = |step: &f64| *step >= extent.high * (1.0 - 1e-9);
            low = steps(extent.low).into_iter().rev().find(below).unwrap_or(extent.low);
            high = steps(extent.high).into_iter().find(above).unwrap_or(extent.high);
        }
        if high < low * 1.99 {
            high = low * 10.0;
        }
        Ruler { scale: Scale::Log, low, high, ticks: log_ticks(Extent { low, high }, count) }
    }

    /// The place of a value between the ends, from 0 to 1, if it has one.
    pub(super) fn share(&self, value: f64) -> Option<f64> {
        let share = match self.scale {
            Scale::Log if value <= 0.0 => return None,
            Scale::Log => (value / self.low).ln() / (self.high / self.low).ln(),
            _ => (value - self.low) / (self.high - self.low),
        };
        share.is_finite().then(|| share.clamp(0.0, 1.0))
    }

    /// The ticks that have a text, with their values.
    pub(super) fn labels(&self) -> impl Iterator<Item = (f64, &str)> {
        let with_label = |tick: &'_ Tick| tick.label.is_some();
        let ticks = self.ticks.iter().filter(move |tick| with_label(tick));
        ticks.map(|tick| (tick.at, tick.label.as_deref().unwrap_or_default()))
    }
}

fn log_ticks(Extent { low, high }: Extent, count: usize) -> Vec<Tick> {
    let (first, last) = (low.log10().floor() as i32, high.log10().ceil() as i32);
    let decades = (high / low).log10();
    // Few decades have more labels than their powers, many have fewer.
    let is_fine = decades * 3.0 <= count as f64 + 0.5 && decades < 3.0;
    let stride = (decades / count.max(1) as f64).ceil().max(1.0) as i32;
    let mut ticks = Vec::new();
    for power in first..=last {
        for digit in 1..10 {
            let at = f64::from(digit) * 10f64.powi(power);
            if at < low * (1.0 - 1e-9) || at > high * (1.0 + 1e-9) {
                continue;
            }
            let label = match digit {
                1 if power.rem_euclid(stride) == 0 => Some(quantity::decade(power)),
                2 | 5 if is_fine => Some(quantity::tick(at, 10f64.powi(power), at)),
                _ => None,
            };
            if label.is_some() || decades <= 5.0 || digit == 1 {
                ticks.push(Tick { at, label });
            }
        }
    }
    ticks
}

/// 1, 2 or 5 times a power of ten, so that at most `count` fit into `length`.
fn step(length: f64, count: usize) -> f64 {
    let least = length / count.max(1) as f64;
    let power = 10f64.powf(least.log10().floor());
    let steps = [1.0, 2.0, 5.0].map(|step| step * power);
    let found = steps.into_iter().find(|step| *step >= least * (1.0 - 1e-9));
    found.unwrap_or(10.0 * power)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(ruler: &Ruler) -> Vec<&str> {
        ruler.labels().map(|(_, text)| text).collect()
    }

    #[test]
    fn steps_are_round() {
        assert_eq!([step(10.0, 5), step(9.3, 4), step(0.7, 5)], [2.0, 5.0, 0.2]);
    }

    #[test]
    fn few_decades_have_labels_between_their_powers() {
        let extent = |low, high| Extent { low, high };
        assert_eq!(texts(&Ruler::log(extent(4.0, 64.0), 6)), ["2", "5", "10", "20", "50", "100"]);
        let wide = Ruler::log(extent(3e-3, 7e4), 8);
        assert_eq!(wide.low, 2e-3);
        assert_eq!(texts(&wide), ["0.01", "0.1", "1", "10", "100", "1000", "10000", "10⁵"]);
        assert_eq!(wide.share(0.0), None);
        assert_eq!(wide.share(wide.high), Some(1.0));
    }

    #[test]
    fn a_single_value_still_has_an_axis() {
        let one = Ruler::log(Extent { low: 5.0, high: 5.0 }, 5);
        assert!(one.high > one.low && !texts(&one).is_empty());
    }
}
