//! What another simulator, by its replica, and our engine make of the same files.

use pauseless_core::unit::Time;

use super::summary::Section;
use pauseless_run::Comparison;
use pauseless_run::Run;
use pauseless_text::quantity;
use pauseless_text::terminal::Table;

/// A line for people, if there was a replica.
pub fn sentence(run: &Run) -> Option<String> {
    let apart = apart(run.replica.as_ref()?);
    Some(format!(
        "the verdict is this engine's, with the rules of real switches; the replica of that \
         simulator wrote the files, and {apart}"
    ))
}

/// Both results beside each other, if there was a replica.
pub fn section(run: &Run) -> Option<Section> {
    let both = run.replica.as_ref()?;
    let mut table = Table::new("result <that-simulator <this-engine <difference");
    let length =
        |ps: Option<f64>| ps.map_or("-".to_string(), |ps| quantity::time(Time::from_ps(ps as u64)));
    let instant = |ps: Option<u64>| ps.map_or("-".to_string(), |ps| run.instant(Time::from_ps(ps)));
    let mut counts = |name: &str, there: u64, here: u64| {
        let cells = [quantity::count(there), quantity::count(here)];
        table.push(row(name, cells, more(Some(there as f64), Some(here as f64))));
    };
    counts("flows finished", both.finished, both.finished_here);
    counts("PAUSE frames", both.pause_frames, both.pause_frames_here);
    counts("of them no refreshes", both.pause_frames, both.pauses_here);
    if both.pause_frames_by_class.len() > 1 {
        let classes = both.pause_frames_by_class.iter().zip(&both.pause_frames_by_class_here);
        for (class, (there, here)) in classes.enumerate() {
            counts(&format!("PAUSE frames of class {class}"), *there, *here);
        }
    }
    counts("packets dropped", both.lost_packets, both.lost_packets_here);
    let (mean, mean_here) = (both.fct_mean_ps, both.fct_mean_ps_here);
    let p99 = both.fct_p99_ps.map(|ps| ps as f64);
    let p99_here = both.fct_p99_ps_here.map(|ps| ps as f64);
    let times = [("mean", mean, mean_here), ("p99", p99, p99_here)];
    for (name, there, here) in times {
        let cells = [length(there), length(here)];
        table.push(row(&format!("completion time, {name}"), cells, more(there, here)));
    }
    let lasts = [both.last_finish_ps, both.last_finish_ps_here].map(instant);
    table.push(row("last completion", lasts, "-".to_string()));
    Some(Section {
        title: "that simulator and this engine, on the same files",
        table,
        notes: vec![
            format!("Completion times: {}{}.", apart(both), biased(both)),
            "That simulator's results are its replica's, which wrote the files. The verdict and all \
             other results are this engine's, with the rules of real switches."
                .to_string(),
        ],
    })
}

fn row(name: &str, [there, here]: [String; 2], difference: String) -> Vec<String> {
    vec![name.to_string(), there, here, difference]
}

/// How much more there is here than there, in percent.
fn more(there: Option<f64>, here: Option<f64>) -> String {
    match (there, here) {
        (Some(there), Some(here)) if there > 0.0 => {
            format!("{:+.2} %", 100.0 * (here / there - 1.0))
        }
        _ => "-".to_string(),
    }
}

/// What is to be said of mean and percentile if they are not of as many flows.
fn biased(both: &Comparison) -> String {
    match (both.finished, both.finished_here) {
        (there, here) if there == here => String::new(),
        (there, here) => format!(
            "; biased: mean and p99 are of flows that finished, {} there and {} here",
            quantity::count(there),
            quantity::count(here)
        ),
    }
}

/// How far completion times are apart.
fn apart(both: &Comparison) -> String {
    if both.finished.min(both.finished_here) == 0 {
        return "no flow finishes in both".to_string();
    }
    format!(
        "flows that finish in both differ by {:+.2} % in the mean, and each by at most {:.2} %",
        100.0 * both.mean,
        100.0 * both.largest
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_different_numbers_of_flows_are_called_biased() {
        let mut both = Comparison {
            finished: 900,
            finished_here: 1_000,
            fct_mean_ps: Some(1.0),
            fct_mean_ps_here: Some(2.0),
            fct_p99_ps: Some(1),
            fct_p99_ps_here: Some(2),
            last_finish_ps: None,
            last_finish_ps_here: None,
            pause_frames: 0,
            pause_frames_here: 0,
            pauses_here: 0,
            pause_frames_by_class: Vec::new(),
            pause_frames_by_class_here: Vec::new(),
            lost_packets: 0,
            lost_packets_here: 0,
            mean: 0.0,
            largest: 0.0,
        };
        let says = "; biased: mean and p99 are of flows that finished, 900 there and 1,000 here";
        assert_eq!(biased(&both), says);
        both.finished = 1_000;
        assert_eq!(biased(&both), "");
    }
}
