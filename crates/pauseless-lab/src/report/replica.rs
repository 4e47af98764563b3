//! How far our engine is from a replica of another simulator that ran the same files.

use crate::run::{Distance, Run};

/// A line for people, if there was a replica.
pub fn sentence(run: &Run) -> Option<String> {
    let Distance {
        finished,
        finished_here,
        pause_frames,
        pause_frames_here,
        mean,
        largest,
    } = run.replica?;
    let times = match finished.min(finished_here) {
        0 => "no flow finishes in both".to_string(),
        _ => format!(
            "completion times {:+.2} % in the mean, at most {:.2} %",
            100.0 * mean,
            100.0 * largest
        ),
    };
    let flows = match finished == finished_here {
        true => String::new(),
        false => format!(", {finished_here} flows finished instead of {finished}"),
    };
    Some(format!(
        "completion times and PAUSE frames are of the replica of that simulator, the rest of our \
         engine, which differs: {times}{flows}, {pause_frames_here} PAUSE frames for {pause_frames}"
    ))
}
