//! What watchdogs and recovery have done, for a terminal and for a page.

use std::cmp::Reverse;

use super::summary::Section;
use pauseless_core::transport::Recovery;
use pauseless_run::Run;
use pauseless_text::quantity;
use pauseless_text::terminal::Table;

/// Storms, or `None` if there was none.
pub fn section(run: &Run) -> Option<Section> {
    let trips = &run.outcome.trips;
    if trips.is_empty() {
        return None;
    }
    let mut table = Table::new("paused-port <tripped <restored <dropped-packets <dropped");
    // The costliest first: in a long list these are the ones to look at.
    let mut order = Vec::from_iter(trips);
    order.sort_by_key(|trip| (Reverse(trip.dropped.bytes), trip.time));
    for trip in order.into_iter().take(TRIPS_MAX) {
        let queue = trip.queue;
        table.push(vec![
            run.queue_name(queue.node, queue.port, queue.class),
            quantity::time(trip.time),
            trip.restored.map_or("-".to_string(), quantity::time),
            quantity::count(trip.dropped.packets),
            quantity::bytes(trip.dropped.bytes),
        ]);
    }
    let mut notes = Vec::new();
    if trips.len() > 1 {
        notes.push("The costliest first.".to_string());
    }
    if trips.len() > TRIPS_MAX {
        let more = trips.len() - TRIPS_MAX;
        notes.push(format!(".. and {more} more; --json lists all of them"));
    }
    let is_final = run.scenario.config.transport.recovery == Recovery::None;
    if run.outcome.lost_packets > 0 && is_final {
        let note = "What is lost is not sent again: a flow that has lost a packet never finishes.";
        notes.push(note.to_string());
    }
    Some(Section { title: "watchdog", table, notes })
}

/// The most storms that a report shows.
const TRIPS_MAX: usize = 10;
