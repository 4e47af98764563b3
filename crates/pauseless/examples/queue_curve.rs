//! Draws the queue of a congested port over time, as PFC and as gentle flow control (GFC) hold it,
//! and writes the figure as SVG.
//!
//! Run it with `cargo run -p pauseless --example queue_curve [FILE.svg]`; without a file the figure
//! goes to the folder for temporary files.

use std::error::Error;
use std::path::PathBuf;

use pauseless::figures::figure::{Axis, Drawn, Figure, Panel, Series};
use pauseless::{Overrides, Scenario};

fn main() -> Result<(), Box<dyn Error>> {
    let named = std::env::args().nth(1).map(PathBuf::from);
    let file = named.unwrap_or_else(|| std::env::temp_dir().join("queue_curve.svg"));
    let curves = [queue("pfc", "xoff = \"300 KB\"")?, queue("gfc-buffer", "bm = \"480 KB\"")?];
    for curve in &curves {
        let most = curve.points.iter().map(|(_, kilobytes)| *kilobytes).fold(0.0, f64::max);
        println!("{}: {} samples, at most {most:.0} KB", curve.label, curve.points.len());
        assert!(most > 100.0, "the port is congested");
        assert!(most < 500.0, "and nothing is lost");
    }
    // PFC lets the queue swing between its thresholds; GFC settles.
    let [pfc, gfc] = curves.each_ref().map(swing);
    println!("in the second half the queue swings by {pfc:.0} KB and by {gfc:.0} KB");
    assert!(gfc < pfc);

    let panel = Panel::new(
        "Queue of S1 from H1",
        Axis::linear("time (ms)"),
        Axis::linear("queue (KB)"),
        curves.into(),
    );
    let figure = Figure::new("queue", "Two senders into one port.", vec![panel]);
    let drawing = pauseless::figures::svg(&figure);
    assert!(drawing.starts_with("<svg") && drawing.contains("gfc-buffer"));
    std::fs::write(&file, drawing)?;
    println!("drawn to {}", file.display());
    Ok(())
}

/// The bytes that came from H1 and wait in the switch, over time.
fn queue(kind: &str, keys: &str) -> Result<Series, Box<dyn Error>> {
    let text = format!(
        r#"
        duration = "2 ms"
        topology = {{ kind = "n-to-1", senders = 2, rate = "10 Gbps", delay = "1 us" }}
        switch = {{ buffer = "500 KB" }}
        flow_control = {{ kind = "{kind}", {keys} }}
        probe = {{ resolution = "10 us", ports = ["*:H1"] }}
        flow = [{{ source = "H1", target = "R" }}, {{ source = "H2", target = "R" }}]
        "#
    );
    let run = pauseless::run(Scenario::parse(kind, &text, &Overrides::default())?);
    assert_eq!(run.outcome.lost_packets, 0);
    let recording = &run.outcome.series;
    let port = recording.ports.first().ok_or("the port was probed")?;
    let times = recording.times.iter().map(|time| time.as_ps() as f64 / 1e9);
    let points = times.zip(port.queue.iter().map(|bytes| *bytes as f64 / 1e3));
    Ok(Series::new(kind, Drawn::Line, points.collect()))
}

/// How far the queue moves in the second half of the run.
fn swing(curve: &Series) -> f64 {
    let late = &curve.points[curve.points.len() / 2..];
    let most = late.iter().map(|(_, queue)| *queue).fold(0.0, f64::max);
    most - late.iter().map(|(_, queue)| *queue).fold(most, f64::min)
}
