//! Colours that everybody can tell apart, on paper and on pages.
//!
//! The style sheet of a page finds colours by their values and replaces those of text, axes and
//! boxes by its own, so that figures follow dark windows.

/// The colours of curves and flows: those of Okabe and Ito, which the colour-blind can tell apart
/// and which show on white and on black. Vermilion is kept for what is wrong.
pub const PALETTE: [&str; 5] = ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9"];

/// The colour of deadlocks and of whatever else is wrong.
pub const ALARM: &str = "#D55E00";

/// The colour behind what is wrong.
pub const ALARM_GROUND: &str = "#FFF4EC";

/// The colour of axes and of the text of charts.
pub const BLACK: &str = "#000";

/// The colour of the ground, of hatching and of halos.
pub const WHITE: &str = "#FFF";

/// The colour of level lines behind curves and of links behind flows.
pub const GRID: &str = "#DDD";

/// The colour of the outlines of boxes.
pub const OUTLINE: &str = "#666";

/// The colour of what steps back and is yet legible on paper.
pub const GREY: &str = "#6E6E6E";

/// The colour of the curve at `position`, beginning anew after the last one.
pub fn colour(position: usize) -> &'static str {
    PALETTE[position % PALETTE.len()]
}

/// The colour of a share on a map: from pale yellow over green-blue to dark blue. Lightness falls
/// evenly, so that equal steps look equal, in grey too, and no two are told apart by red and green
/// alone.
pub fn heat(share: f64) -> String {
    // The path through the plane of hues, in Oklab.
    const HUES: [[f64; 2]; 5] =
        [[-0.015, 0.07], [-0.09, 0.03], [-0.075, -0.06], [-0.03, -0.12], [0.0, -0.11]];
    let share = share.clamp(0.0, 1.0);
    let place = share * (HUES.len() - 1) as f64;
    let first = (place as usize).min(HUES.len() - 2);
    let part = place - first as f64;
    let between = |axis: usize| {
        let (from, to) = (HUES[first][axis], HUES[first + 1][axis]);
        from + (to - from) * part
    };
    oklab(0.97 - 0.67 * share, between(0), between(1))
}

/// A colour of Oklab (Ottosson 2020) as a screen shows it.
fn oklab(lightness: f64, a: f64, b: f64) -> String {
    let cube = |value: f64| value * value * value;
    let l = cube(lightness + 0.396_337_777_4 * a + 0.215_803_757_3 * b);
    let m = cube(lightness - 0.105_561_345_8 * a - 0.063_854_172_8 * b);
    let s = cube(lightness - 0.089_484_177_5 * a - 1.291_485_548 * b);
    let linear = [
        4.076_741_662_1 * l - 3.307_711_591_3 * m + 0.230_969_929_2 * s,
        -1.268_438_004_6 * l + 2.609_757_401_1 * m - 0.341_319_396_5 * s,
        -0.004_196_086_3 * l - 0.703_418_614_7 * m + 1.707_614_701 * s,
    ];
    let [red, green, blue] = linear.map(|value| {
        let value = value.clamp(0.0, 1.0);
        let shown = if value <= 0.003_130_8 {
            value * 12.92
        } else {
            1.055 * value.powf(1.0 / 2.4) - 0.055
        };
        (shown * 255.0).round() as u8
    });
    format!("#{red:02X}{green:02X}{blue:02X}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_become_darker_step_by_step() {
        let channel =
            |colour: &str, at: usize| u8::from_str_radix(&colour[at..at + 2], 16).unwrap();
        let grey = |share: f64| {
            let colour = heat(share);
            let [red, green, blue] = [1, 3, 5].map(|at| f64::from(channel(&colour, at)));
            0.2126 * red + 0.7152 * green + 0.0722 * blue
        };
        let greys: Vec<f64> = (0..=20).map(|step| grey(f64::from(step) / 20.0)).collect();
        assert!(greys[0] > 235.0 && greys[20] < 60.0, "{greys:?}");
        for pair in greys.windows(2) {
            let step = pair[0] - pair[1];
            assert!((4.0..18.0).contains(&step), "{greys:?}");
        }
    }
}
