//! The ring that deadlocks beside the rings that do not: one network, one traffic, six ways to
//! hold senders back.
//!
//! The network is that of the GFC paper (Fig. 1, 9 and 10): three switches in a ring, three flows
//! that each cross two of its links. Its sources stop before the end, so that one sees who drains.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

use crate::html::Heading;
use crate::text::mood_of_run;
use crate::verdict;
use pauseless_run::Run;
use pauseless_scenario::{Overrides, Problems, Scenario};
use pauseless_text::quantity;
use pauseless_text::terminal::{Mood, Paint, Table};

/// The scenarios of the demo, with what the command line says instead of them.
pub fn scenarios(overrides: &Overrides) -> Result<Vec<Scenario>, Problems> {
    let variants = VARIANTS.iter();
    variants.map(|variant| Scenario::parse(variant.name, &variant.text(), overrides)).collect()
}

/// Runs `scenarios` on all cores and calls `done` after each; the runs are in the order of the
/// scenarios whatever the order in which they ended. `watch` hears now and then how much of their
/// simulated time has passed, in thousandths of a run, all runs together.
pub fn run(
    scenarios: Vec<Scenario>,
    watch: impl Fn(usize) + Sync,
    done: impl Fn(&Run) + Sync,
) -> Vec<Run> {
    let passed = AtomicUsize::new(0);
    let runs = scenarios.into_par_iter().map(|scenario| {
        let mut own = 0;
        let run = Run::execute(scenario, |progress| {
            let end = progress.end.as_ps().max(1);
            let now = (u128::from(progress.now.as_ps()) * 1000 / u128::from(end)) as usize;
            let since = now.saturating_sub(own);
            own += since;
            watch(passed.fetch_add(since, Ordering::Relaxed) + since);
            ControlFlow::Continue(())
        });
        // A run that ends early, in a deadlock, has nothing left to do.
        watch(passed.fetch_add(1000 - own, Ordering::Relaxed) + 1000 - own);
        done(&run);
        run
    });
    runs.collect()
}

/// The runs in one table, one line each.
pub fn table(runs: &[Run], paint: Paint) -> String {
    let mut table =
        Table::new("run verdict <F1 <F2 <F3 <largest-queue <lost <feedback after-the-sources-stop");
    for run in runs {
        let mut rates = run.outcome.flows.iter().map(|flow| quantity::rate(flow.goodput_late_bps));
        let mut rate = || rates.next().unwrap_or_default();
        table.push(vec![
            run.scenario.name.clone(),
            verdict::brief(run),
            rate(),
            rate(),
            rate(),
            quantity::bytes(run.queue_max()),
            quantity::count(run.outcome.lost_packets),
            quantity::percent(run.outcome.feedback_share_max),
            verdict::aftermath(run).unwrap_or_default(),
        ]);
    }
    table.render(|row, column, cell| match column {
        0 => paint.paint(Mood::Strong, cell),
        1 => paint.paint(mood_of_run(&runs[row]), cell),
        _ => cell.to_string(),
    })
}

/// What stands above the demo's page.
pub fn heading() -> Heading {
    Heading { title: "One ring, six ways to hold senders back".to_string(), lead: LEAD.join(" ") }
}

/// What the reader looks at, on the page and above the table, line by line.
pub const LEAD: [&str; 2] = [
    "Three switches in a ring at 10 Gb/s and three greedy flows that each cross two of its links",
    "(GFC, SIGCOMM 2019, Fig. 1, 9 and 10). The fair rate of each is 5 Gb/s. All stop at 100 ms.",
];

/// One way to hold senders back.
#[derive(Clone, Copy, Debug)]
struct Variant {
    name: &'static str,
    title: &'static str,
    flow_control: &'static str,
}

impl Variant {
    fn text(&self) -> String {
        RING.replace("{title}", self.title).replace("{flow_control}", self.flow_control)
    }
}

const VARIANTS: [Variant; 6] = [
    Variant {
        name: "pfc",
        title: "PFC: pause above XOFF, resume below XON",
        flow_control: "kind = \"pfc\"\nxoff = \"800 KB\"\nxon = \"797 KB\"",
    },
    Variant {
        name: "cbfc",
        title: "InfiniBand: nothing is sent without credit",
        flow_control: "kind = \"cbfc\"\ncredits = \"1 MB\"\nperiod = \"52.4 us\"",
    },
    Variant {
        name: "gfc-buffer",
        title: "Buffer-based GFC: the rate halves at each stage",
        flow_control: GFC_BUFFER,
    },
    Variant {
        name: "gfc-time",
        title: "Time-based GFC: the rate falls with the free space",
        flow_control: GFC_TIME,
    },
    Variant {
        name: "gfc-buffer-cycle-aware",
        title: "Buffer-based GFC, host ports throttle first",
        flow_control: GFC_BUFFER_CYCLE_AWARE,
    },
    Variant {
        name: "gfc-time-cycle-aware",
        title: "Time-based GFC, host ports throttle first",
        flow_control: GFC_TIME_CYCLE_AWARE,
    },
];

const GFC_BUFFER: &str = "kind = \"gfc-buffer\"\nbm = \"1 MB\"\nb1 = \"750 KB\"";

const GFC_TIME: &str = "kind = \"gfc-time\"\nbm = \"1 MB\"\nb0 = \"492 KB\"\nperiod = \"52.4 us\"";

/// Cycle-aware: what enters the ring yields to what is in it.
const GFC_BUFFER_CYCLE_AWARE: &str = r#"kind = "gfc-buffer"
bm = "1 MB"
b1 = "750 KB"

[[flow_control.at]]
ports = ["S*:H*"]
bm = "400 KB"
b1 = "170 KB""#;

/// Cycle-aware: what enters the ring yields to what is in it.
const GFC_TIME_CYCLE_AWARE: &str = r#"kind = "gfc-time"
bm = "1 MB"
b0 = "492 KB"
period = "52.4 us"

[[flow_control.at]]
ports = ["S*:H*"]
bm = "520 KB"
b0 = "20 KB""#;

const RING: &str = include_str!("demo/ring.toml");

#[cfg(test)]
mod tests {
    use super::*;
    use pauseless_core::unit::Span;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn every_scenario_is_valid_and_trusted() {
        let scenarios = scenarios(&Overrides::default()).unwrap_or_else(|it| panic!("{it}"));
        let names: Vec<&str> = scenarios.iter().map(|it| it.name.as_str()).collect();
        let expected = [
            "pfc",
            "cbfc",
            "gfc-buffer",
            "gfc-time",
            "gfc-buffer-cycle-aware",
            "gfc-time-cycle-aware",
        ];
        assert_eq!(names, expected);
    }

    #[test]
    fn runs_come_back_in_the_order_of_their_scenarios() {
        let overrides = Overrides { duration: Some(Span::ms(1)), ..Overrides::default() };
        let scenarios = scenarios(&overrides).unwrap_or_else(|it| panic!("{it}"));
        let [ended, most] = [(); 2].map(|()| AtomicUsize::new(0));
        let watch = |passed| {
            most.fetch_max(passed, Ordering::Relaxed);
        };
        let runs = run(scenarios, watch, |_| {
            ended.fetch_add(1, Ordering::Relaxed);
        });
        assert_eq!(ended.into_inner(), VARIANTS.len());
        assert_eq!(most.into_inner(), 1_000 * VARIANTS.len(), "at the end all has passed");
        for (run, variant) in runs.iter().zip(VARIANTS) {
            assert_eq!(run.scenario.name, variant.name);
            assert!(run.outcome.packet_hops > 1_000);
        }
        let table = table(&runs, Paint::Plain);
        assert_eq!(table.lines().count(), 1 + VARIANTS.len());
    }
}
