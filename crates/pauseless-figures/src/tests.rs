use resvg::usvg::{self, Group, Options, Tree};

use super::axis::share_axes;
use super::figure::{Axis, Drawn, Figure, Heat, Level, Mark, Panel, Scale, Series, Source, Spread};
use super::network::{self, Arrow, Network, Node, Role, Sizes};
use super::svg::{Ground, Sheet, Svg, measure};
use super::{PRINT_DPI, inline, png, svg};

fn series(label: &str, mark: Drawn, points: &[(f64, f64)]) -> Series {
    let series = Series::new(label, mark, points.to_vec());
    if label.ends_with("paper") { series.from_source(Source::Paper) } else { series }
}

fn panel(title: &str, [x, y]: [Scale; 2], series: Vec<Series>) -> Panel {
    Panel::new(title, Axis::new("time (ms)", x), Axis::new("goodput (Gb/s)", y), series)
}

fn figure(panels: Vec<Panel>) -> Figure {
    Figure::new("figure", "rates of <three> flows & more", panels)
}

fn names(names: &[&str]) -> Scale {
    Scale::Names(names.iter().map(|name| name.to_string()).collect())
}

/// Panels over time, as long as recordings are.
fn over_time(panels: usize) -> Figure {
    let points: Vec<(f64, f64)> =
        (0..20_000).map(|n| (f64::from(n) / 1e3, f64::from(n * 7_919 % 1_000) / 90.0)).collect();
    let make = |index: usize| {
        let flows = ["goodput.F1", "goodput.F2", "goodput.F3"];
        let curves = flows.map(|flow| series(flow, Drawn::Line, &points));
        let title = "cycle-aware buffer-based GFC, virtual-output-queued";
        let mut panel = panel(title, [Scale::Linear, Scale::Linear], curves.to_vec());
        let marks = [("deadlock", 2.8), ("sources stop", 3.5), ("end", 20.0)];
        panel.marks = marks
            .map(|(label, x)| Mark { label: label.to_string(), x, is_alarm: index == 0 })
            .to_vec();
        panel
    };
    figure((0..panels).map(make).collect())
}

fn bars() -> Figure {
    let groups = ["DCQCN with its default thresholds", "QCN", "buffer-based GFC"];
    let all = vec![
        series("measured", Drawn::Bars, &[(0.0, 52e3), (1.0, 0.0), (2.0, 3.0)]),
        series("paper", Drawn::Bars, &[(0.0, 40e3), (2.0, 0.25)]),
    ];
    let of = |y| panel("", [names(&groups), y], all.clone());
    figure(vec![of(Scale::Linear), of(Scale::Log), of(Scale::Linear)])
}

fn odd() -> Figure {
    let linear = || [Scale::Linear, Scale::Linear];
    let log = || [Scale::Log, Scale::Log];
    let line = |points: &[(f64, f64)]| vec![series("one", Drawn::Line, points)];
    figure(vec![
        panel("empty", linear(), line(&[])),
        panel("empty", log(), line(&[(0.0, -1.0)])),
        panel("point", log(), line(&[(5.0, 3.0)])),
        panel("huge", linear(), line(&[(0.0, 3e18), (5e7, 9e18)])),
        panel("tiny", log(), line(&[(1e-9, 3e-7), (0.0, 1.0), (5e9, 9e12)])),
        panel("none", linear(), line(&[(f64::NAN, 1.0), (1.0, f64::INFINITY)])),
        panel("negative", linear(), line(&[(-3.0, -2.0), (2.0, 4.0)])),
        panel("names", [names(&[]), Scale::Linear], Vec::new()),
    ])
}

fn all() -> Vec<Figure> {
    let mut all = Vec::from_iter([1, 2, 3, 6].map(over_time));
    all.extend([bars(), odd(), figure(Vec::new())]);
    all.extend([sure(), heat(4, 3), heat(40, 30), thresholds()]);
    all
}

/// Points with whiskers and bands.
fn sure() -> Figure {
    let mut bars = series("PFC", Drawn::Bars, &[(0.0, 0.0), (1.0, 40.0)]);
    bars.spread = Spread::Whiskers(vec![[0.0, 6.0], [31.5, 49.5]]);
    let line = |points: &[(f64, f64)], ends: &[[f64; 2]]| {
        let mut line = series("median", Drawn::Marked, points);
        line.spread = Spread::Band(ends.to_vec());
        line
    };
    let band = line(&[(1.0, 4.0), (2.0, 5.0)], &[[3.0, 6.0], [0.0, 9.0]]);
    let alone = line(&[(1.0, 4.0)], &[[3.0, 6.0]]);
    let mut symbols = band.clone();
    symbols.spread = Spread::Whiskers(band.spread.ends().to_vec());
    figure(vec![
        panel("", [names(&["k = 4", "k = 8"]), Scale::Linear], vec![bars]),
        panel("", [Scale::Linear, Scale::Log], vec![band]),
        panel("", [Scale::Linear, Scale::Linear], vec![alone]),
        panel("", [Scale::Linear, Scale::Linear], vec![symbols]),
    ])
}

/// A queue with what goes with it, thresholds close to each other, and one near the axis.
fn thresholds() -> Figure {
    let queue = series("S1:H1", Drawn::Line, &[(0.0, 40.0), (5.0, 900.0), (10.0, 800.0)]);
    let egress = series("S1:H1", Drawn::Line, &[(0.0, 0.0), (10.0, 300.0)]);
    let both = vec![queue, egress.from_source(Source::Companion)];
    let mut panel = panel("", [Scale::Linear, Scale::Linear], both);
    let level = |label: &str, value| Level { label: label.to_string(), value, colour: None };
    let levels = [("XON 797 KB", 797.0), ("XOFF 800 KB", 800.0), ("<low> & \"so\"", 10.0)];
    panel.levels = levels.map(|(label, value)| level(label, value)).to_vec();
    figure(vec![panel])
}

/// A map with cells that were not measured.
fn heat(columns: usize, rows: usize) -> Figure {
    let cells = |count: usize| Scale::Cells((0..count).map(|it| (it * 25).to_string()).collect());
    let values = (0..columns * rows).map(|it| (it % 7 != 3).then_some(it as f64));
    let map = Heat { label: "mean fct (us)".to_string(), cells: values.collect() };
    let mut panel = panel("PFC", [cells(columns), cells(rows)], Vec::new());
    panel.heat = Some(map);
    figure(vec![panel])
}

fn tree(svg: &str) -> Tree {
    let options =
        Options { fontdb: std::sync::Arc::clone(&super::png::FONTS), ..Options::default() };
    Tree::from_str(svg, &options).unwrap()
}

/// Every text with the box that it covers.
fn texts(group: &Group, found: &mut Vec<(String, [f32; 4])>) {
    for node in group.children() {
        match node {
            usvg::Node::Group(group) => texts(group, found),
            usvg::Node::Text(text) => {
                let at = text.abs_bounding_box();
                let words = text.chunks().iter().map(|chunk| chunk.text()).collect();
                found.push((words, [at.left(), at.top(), at.right(), at.bottom()]));
            }
            _ => {}
        }
    }
}

#[test]
fn no_word_leaves_the_figure_or_covers_another() {
    for figure in all() {
        let svg = svg(&figure);
        let is_turned = svg.contains("rotate(-35)");
        let tree = tree(&svg);
        let (width, height) = (tree.size().width(), tree.size().height());
        let mut found = Vec::new();
        texts(tree.root(), &mut found);
        for (words, [left, top, right, bottom]) in &found {
            let is_inside = *left >= -0.5 && *top >= -0.5 && *right <= width + 0.5;
            assert!(is_inside && *bottom <= height + 0.5, "{words}");
        }
        for (index, (words, one)) in found.iter().enumerate() {
            for (others, other) in &found[..index] {
                // A little of it is the room around letters; turned words have large boxes.
                let across = one[2].min(other[2]) - one[0].max(other[0]);
                let down = one[3].min(other[3]) - one[1].max(other[1]);
                assert!(is_turned || across < 1.0 || down < 2.5, "{words}, {others}");
            }
        }
    }
}

#[test]
fn numbers_without_a_place_are_not_drawn() {
    for figure in all() {
        let svg = svg(&figure);
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    }
}

#[test]
fn long_recordings_make_small_figures() {
    let size = svg(&over_time(18)).len();
    assert!(size < 100_000, "{size} bytes");
}

#[test]
fn the_caption_is_told_and_escaped() {
    let svg = svg(&over_time(1));
    assert!(svg.contains("<title>rates of &lt;three&gt; flows &amp; more</title>"));
}

#[test]
fn curves_differ_without_their_colour() {
    let svg = svg(&over_time(1));
    let dashes = |line: &&str| line.contains("stroke-width=\"1.3\"");
    let lines: std::collections::BTreeSet<&str> = svg
        .lines()
        .filter(dashes)
        .filter_map(|line| line.split("stroke-linejoin").nth(1))
        .collect();
    assert_eq!(lines.len(), 3, "{lines:?}");
}

#[test]
fn the_papers_bars_are_hollow_and_grey() {
    let svg = svg(&bars());
    // Two bars in each of three panels, and one in the legend.
    assert_eq!(svg.matches("fill=\"#FFF\" stroke=\"#6E6E6E\"").count(), 7);
}

#[test]
fn words_are_as_wide_as_they_are_measured() {
    let words = "virtual-output-queued goodput (Gb/s) 0123456789 PFC";
    let svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"999\" height=\"20\" \
         font-family=\"sans-serif\" font-stretch=\"condensed\" font-size=\"8\">\
         <text y=\"10\">{words}</text></svg>"
    );
    let mut found = Vec::new();
    texts(tree(&svg).root(), &mut found);
    let [left, _, right, _] = found[0].1;
    let measured = measure(words) as f32;
    assert!((right - left - measured).abs() < 0.02 * measured);
}

#[test]
fn a_picture_has_the_pixels_of_print() {
    let picture = png(&svg(&over_time(2)), PRINT_DPI).unwrap();
    assert_eq!(&picture[1..4], b"PNG");
    let width = u32::from_be_bytes(picture[16..20].try_into().unwrap());
    // Seven inches.
    assert_eq!(width, 2_100);
    assert!(png("<svg", PRINT_DPI).is_err());
}

#[test]
fn bars_curves_and_points_say_how_sure_they_are() {
    let svg = svg(&sure());
    assert_eq!(svg.matches("stroke-width=\"0.8\"").count(), 2, "{svg}");
    // A band of one point is a whisker, as are those of the symbols.
    assert_eq!(svg.matches("fill-opacity=\"0.18\"").count(), 1);
    assert_eq!(svg.matches("stroke-width=\"0.9\"").count(), 2);
}

#[test]
fn the_whisker_of_a_bar_of_nothing_has_no_number() {
    let zeros = |spread: Spread| {
        let mut bars = series("PFC", Drawn::Bars, &[(0.0, 0.0), (1.0, 40.0)]);
        bars.spread = spread;
        let scales = [names(&["k = 4", "k = 8"]), Scale::Linear];
        let svg = svg(&figure(vec![panel("", scales, vec![bars])]));
        svg.matches(">0</text>").count()
    };
    // At the axis, and at the bar.
    assert_eq!(zeros(Spread::None), 2);
    assert_eq!(zeros(Spread::Whiskers(vec![[0.0, 6.0], [31.5, 49.5]])), 1);
}

#[test]
fn curves_with_symbols_have_dashes_where_colours_begin_anew() {
    let dashes = |curves: usize| {
        let one = |at: usize| {
            let at = at as f64;
            series(&format!("x{at}"), Drawn::Marked, &[(0.0, at), (1.0, at)])
        };
        let all = (0..curves).map(one).collect();
        let scales = [Scale::Linear, Scale::Linear];
        let svg = svg(&figure(vec![panel("", scales, all)]));
        svg.matches("stroke-dasharray").count()
    };
    // In the panel and in the legend.
    assert_eq!((dashes(5), dashes(6)), (0, 2));
}

#[test]
fn cells_that_were_not_measured_are_hatched_and_few_have_their_numbers() {
    let small = svg(&heat(4, 3));
    // Two of twelve, and one in the legend.
    assert_eq!(small.matches("fill=\"url(#missing)\"").count(), 3);
    assert!(small.contains(">11</text>") && small.contains(">no runs</text>"));
    assert!(small.contains("<linearGradient id=\"heat\">"));
    let large = svg(&heat(40, 30));
    assert!(!large.contains(">1199</text>") && large.contains(">mean fct (us)</text>"));
    assert!(!svg(&over_time(1)).contains("missing"));
}

#[test]
fn thresholds_close_to_each_other_share_a_label() {
    let svg = svg(&thresholds());
    assert!(svg.contains(">XOFF 800 KB, XON 797 KB</text>"), "{svg}");
    assert!(svg.contains(">&lt;low&gt; &amp; &quot;so&quot;</text>"));
}

#[test]
fn what_goes_with_a_curve_is_dashed_in_its_colour_and_not_in_the_legend() {
    let svg = svg(&thresholds());
    assert_eq!(svg.matches("stroke-dasharray").count(), 1);
    // The curve, what goes with it, and the legend.
    assert_eq!(svg.matches("stroke=\"#0072B2\"").count(), 3);
    assert_eq!(svg.matches(">S1:H1</text>").count(), 1);
}

#[test]
fn figures_of_pages_have_no_ground_of_their_own() {
    let (paper, page) = (svg(&thresholds()), inline(&thresholds()));
    assert!(paper.contains("width=\"252pt\"") && paper.contains("fill=\"#FFF\""));
    assert!(!page.contains("252pt") && !page.contains("fill=\"#FFF\""));
    assert!(page.contains("aria-label=\"rates of &lt;three&gt; flows &amp; more\""));
}

#[test]
fn panels_of_one_quantity_share_their_axes() {
    let line = |height: f64| {
        let line = series("one", Drawn::Line, &[(0.0, 1.0), (height, height)]);
        panel("", [Scale::Linear, Scale::Linear], vec![line])
    };
    let mut panels = [line(10.0), line(40.0), line(1.0)];
    share_axes(&mut panels.each_mut());
    let high = panels.each_ref().map(|panel| panel.y.ends.map(|ends| ends.high));
    // The last one would be flattened to nothing.
    assert_eq!(high, [Some(40.0), Some(40.0), Some(1.0)]);
}

/// A ring of so many switches, each with a host and an arrow to the next.
fn ring(count: usize) -> Network {
    let node = |name: String, role, home| Node {
        tooltip: name.clone(),
        name,
        role,
        layer: None,
        home,
        notes: Vec::new(),
    };
    let switches = (0..count).map(|n| node(format!("S<{n}>"), Role::Cycle, None));
    let hosts = (0..count).map(|n| node(format!("H{n}"), Role::Host, Some(n)));
    let nodes: Vec<Node> = switches.chain(hosts).collect();
    let next = |n: usize| [n, (n + 1) % count];
    let arrow = |n: usize| Arrow {
        from: n,
        to: next(n)[1],
        badge: String::new(),
        label: vec![format!("S{n}:S{}", next(n)[1]), format!("F{n}")],
        start: None,
    };
    Network {
        sizes: Sizes::small(&nodes),
        nodes,
        links: (0..count).map(next).chain((0..count).map(|n| [n, n + count])).collect(),
        ring: (0..count).collect(),
        arrows: (0..count).map(arrow).collect(),
        routes: vec![vec![[count, 0], next(0), [1, count + 1]]],
    }
}

#[test]
fn the_words_of_a_network_keep_off_each_other() {
    for count in [2, 3, 5] {
        let drawing = network::draw(&ring(count));
        let mut definitions = Svg::default();
        network::define_heads(&mut definitions);
        let sheet = Sheet {
            size: drawing.size,
            unit: "px",
            title: "a ring",
            description: "",
            definitions,
            ground: Ground::Paper,
        };
        let svg = sheet.document(&drawing.svg);
        assert!(svg.contains(">S&lt;0&gt;</text>"), "{svg}");
        assert_eq!(svg.matches("marker-end=\"url(#head0)\"").count(), count);
        assert_eq!(svg.matches("marker-end=\"url(#head1)\"").count(), 1);
        let mut found = Vec::new();
        texts(tree(&svg).root(), &mut found);
        assert_eq!(found.len(), count * 4);
        for (index, (words, one)) in found.iter().enumerate() {
            for (others, other) in &found[..index] {
                let across = one[2].min(other[2]) - one[0].max(other[0]);
                let down = one[3].min(other[3]) - one[1].max(other[1]);
                assert!(across < 1.0 || down < 2.5, "{count}: {words}, {others}");
            }
        }
    }
}
