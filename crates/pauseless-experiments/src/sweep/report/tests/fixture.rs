//! Campaigns and rows for tests.

use toml::Table as Toml;
use toml::de::DeTable;

use crate::sweep::campaign::{Axis, Campaign, Filter, Label, Point};
use crate::sweep::report::file::{Known, Sections};
use pauseless_run::table::{Cells, Column, Table};
use pauseless_text::problem::{Problems, Sink};
use pauseless_text::reader::Section;

/// An axis of texts or numbers.
pub(crate) fn axis(name: &str, unit: &'static str, labels: Vec<Label>) -> Axis {
    let point = |label| Point { label, set: Vec::new() };
    Axis { name: name.to_string(), unit, points: labels.into_iter().map(point).collect() }
}

/// Names as labels of an axis.
pub(crate) fn names(names: &[&str]) -> Vec<Label> {
    names.iter().map(|it| Label::Text(it.to_string())).collect()
}

/// Numbers as labels of an axis.
pub(crate) fn numbers(numbers: impl IntoIterator<Item = f64>) -> Vec<Label> {
    numbers.into_iter().map(Label::Number).collect()
}

/// A campaign with these axes whose sections are written as in a file.
pub(crate) fn campaign(axes: Vec<Axis>, keep: &[&str], sections: &str) -> Campaign {
    let keep: Vec<String> = keep.iter().map(|it| it.to_string()).collect();
    // Whatever values the axes have at other sizes.
    let known = Known { axes: &axes, values: &[], keep: &keep };
    let sections = read(sections, known).unwrap();
    Campaign {
        name: "fixture".to_string(),
        title: "a campaign for tests".to_string(),
        note: String::new(),
        base: Toml::new(),
        folder: std::path::PathBuf::new(),
        axes,
        filter: Filter::default(),
        keeps_flows: false,
        keep,
        curves: Vec::new(),
        distributions: std::collections::BTreeMap::new(),
        reports: sections.reports,
        claims: sections.claims,
    }
}

/// The sections of a text, or what is wrong with them.
pub fn read(text: &str, known: Known<'_>) -> Result<Sections, Problems> {
    let sink = Sink::default();
    let table = DeTable::parse(text).unwrap().into_inner();
    let mut root = Section::root(&sink, table);
    let sections = Sections::read(&mut root, known);
    root.finish();
    if sink.is_empty() {
        Ok(sections)
    } else {
        Err(Problems::new("it.sweep.toml", text, sink.into_list()))
    }
}

/// A row for every combination of a campaign's axes, in the order of its plan. `make` is given
/// the place of each axis' value and says what the numbers are, and how the run ended.
pub(crate) fn rows(
    campaign: &Campaign,
    make: impl Fn(&[usize]) -> (Vec<Option<f64>>, &'static str),
) -> Table {
    let axes = &campaign.axes;
    let total: usize = axes.iter().map(|axis| axis.points.len()).product();
    let places = |mut index: usize| {
        let mut places: Vec<usize> = Vec::new();
        for axis in axes.iter().rev() {
            places.push(index % axis.points.len());
            index /= axis.points.len();
        }
        places.reverse();
        places
    };
    let all: Vec<Vec<usize>> = (0..total).map(places).collect();
    let made: Vec<(Vec<Option<f64>>, &str)> = all.iter().map(|it| make(it)).collect();
    let column = |name: &str, cells| Column { name: name.to_string(), cells };
    let tasks = (0..total).map(|index| format!("{index:032x}"));
    let mut columns = vec![column("task", Cells::Texts(tasks.collect()))];
    for (index, axis) in axes.iter().enumerate() {
        let labels = all.iter().map(|places| &axis.points[places[index]].label);
        let number = |label: &Label| match label {
            Label::Number(number) => Some(Some(*number)),
            Label::Text(_) => None,
        };
        let text = |label: &Label| match label {
            Label::Number(number) => number.to_string(),
            Label::Text(text) => text.clone(),
        };
        let cells = match labels.clone().map(number).collect() {
            Some(numbers) => Cells::Numbers(numbers),
            None => Cells::Texts(labels.map(text).collect()),
        };
        columns.push(column(&axis.name, cells));
    }
    for (index, name) in campaign.keep.iter().enumerate() {
        let cells = made.iter().map(|(numbers, _)| numbers[index]);
        columns.push(column(name, Cells::Numbers(cells.collect())));
    }
    let ended = made.iter().map(|(_, ended)| ended.to_string());
    columns.push(column("ended", Cells::Texts(ended.collect())));
    let errors = vec![String::new(); total];
    columns.push(column("error", Cells::Texts(errors)));
    Table::new("results", columns)
}

/// Something like the GFC paper's Table 1: PFC and CBFC deadlock in some networks, GFC starves,
/// cycle-aware thresholds do neither but for one network.
pub(crate) fn table1(networks: usize) -> (Campaign, Table) {
    let axes = vec![
        axis("k", "", numbers([4.0, 8.0])),
        axis("network", "", numbers((0..networks).map(|it| it as f64))),
        axis("discipline", "", names(&["output-queued", "input-queued"])),
        axis("scheme", "", names(&["PFC", "CBFC", "GFC buffer", "GFC time"])),
        axis("thresholds", "", names(&["paper", "cycle-aware"])),
        axis("seed", "", numbers([1.0, 2.0, 3.0])),
    ];
    let mut campaign = campaign(axes, &["deadlock", "starved", "lost", "fct_mean_us"], TABLE1);
    campaign.name = "table1-quick".to_string();
    campaign.title = "Random fat trees with failed links: how many deadlock".to_string();
    let rows = rows(&campaign, |places| {
        let &[k, network, discipline, scheme, thresholds, seed] = places else { unreachable!() };
        let every = [3, 5][k] + discipline;
        let is_hit = network.is_multiple_of(every) && seed == network % 3;
        let is_aware = thresholds == 1;
        let deadlock = match scheme {
            0 => is_hit && (!is_aware || network == 0),
            1 => is_hit && network > 0 && !is_aware,
            _ => false,
        };
        let starved = scheme >= 2 && !is_aware && discipline == 0 && network % 2 == 1;
        let number = |is: bool| Some(f64::from(u8::from(is)));
        let fct = 40.0 + (network * 37 % 101) as f64 + 15.0 * scheme as f64;
        let numbers =
            vec![number(deadlock), number(starved), number(false), (!deadlock).then_some(fct)];
        (numbers, if deadlock { "deadlock" } else { "duration" })
    });
    (campaign, rows)
}

/// Two axes of numbers, one of schemes and seeds: completion times grow with the buffer and
/// shrink with the rate, PFC deadlocks where the buffer is small.
pub(crate) fn buffers(sections: &str) -> (Campaign, Table) {
    let sizes = [20.0, 50.0, 100.0, 200.0, 500.0].map(|it| it * 1e3);
    let rates = [2.5, 5.0, 10.0, 20.0].map(|it| it * 1e9);
    let axes = vec![
        axis("xoff_bytes", "bytes", numbers(sizes)),
        axis("rate_bps", "bps", numbers(rates)),
        axis("scheme", "", names(&["PFC", "GFC buffer"])),
        axis("seed", "", numbers((1..=10).map(f64::from))),
    ];
    let keep = ["deadlock", "starved", "lost", "fct_mean_us"];
    let campaign = campaign(axes, &keep, sections);
    let rows = rows(&campaign, |places| {
        let &[size, rate, scheme, seed] = places else { unreachable!() };
        let deadlock = scheme == 0 && size < 2 && seed <= rate * 2;
        let fct = 30.0 + 12.0 * (size + scheme) as f64 - 5.0 * rate as f64 + seed as f64;
        let number = |is: bool| Some(f64::from(u8::from(is)));
        let numbers = vec![
            number(deadlock),
            Some(0.0),
            Some(0.0),
            (!(deadlock && size == 0 && rate == 3)).then_some(fct),
        ];
        (numbers, if deadlock { "deadlock" } else { "done" })
    });
    (campaign, rows)
}

/// What the Table 1 campaign asks of its report.
const TABLE1: &str = r#"
[[report]]
kind = "proportion"
name = "verdicts"
title = "Networks in which any of three seeds deadlocks or starves"
of = ["deadlock", "starved"]
by = ["k", "discipline", "scheme"]
columns = "thresholds"
per = ["k", "network"]

[[claim]]
text = "GFC deadlocks in none"
of = "deadlock"
where = { scheme = ["GFC buffer", "GFC time"] }
at_most = 0

[[claim]]
text = "cycle-aware thresholds leave fewer networks to deadlock under PFC"
of = "deadlock"
per = ["k", "network"]
where = { scheme = "PFC", thresholds = "cycle-aware" }
fewer_than = { thresholds = "paper" }

[[claim]]
text = "cycle-aware PFC deadlocks in none"
of = "deadlock"
where = { scheme = "PFC", thresholds = "cycle-aware" }
at_most = 0
met = false
reason = "one network deadlocks still"

[[claim]]
text = "PFC deadlocks at k = 16"
of = "deadlock"
where = { scheme = "PFC", k = 16 }
at_least = 0.01
sizes = ["full"]
"#;
