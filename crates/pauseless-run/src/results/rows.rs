//! The flat parts of documents and tables, made from the registry: the object `metrics` of a run, a
//! row for each flow, and what the probes recorded.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};
use serde_json::json;

use super::curves::{CURVES, Curve, CurveOf, Samples};
use super::{Bound, Facts, FlowFacts, Json, NUMBERS, Number, Of, Scope, Value};
use crate::Run;
use crate::metrics::completion::{Group, SizeRange};
use crate::table::{Cells, Column, Table};

/// An object of JSON, whose fields keep their order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Object(Vec<(Cow<'static, str>, Field)>);

/// What stands in a field.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Field {
    /// No value: the run has none, and the document says so.
    Null,
    /// A number in its base unit.
    Number(Value),
    /// A name, such as that of a port.
    Text(String),
    /// An object with fields of its own.
    Object(Object),
    /// A list of objects, one for each port, flow or layer.
    List(Vec<Object>),
    /// A curve of recorded whole numbers.
    Wholes(Vec<u64>),
    /// A curve of recorded numbers with decimals.
    Reals(Vec<f64>),
}

impl Serialize for Object {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, field)| (name, field)))
    }
}

impl JsonSchema for Object {
    fn schema_name() -> Cow<'static, str> {
        "Results".into()
    }

    /// Every field that any object of results can have, with the sentence of its declaration.
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let numbers = NUMBERS.iter().filter(|number| number.json != Json::No);
        let numbers = numbers.flat_map(|number| {
            let path = number.json.name();
            let name = path.rsplit_once('.').map_or(path, |(_, name)| name);
            let bounds = number.bounds().iter().map(move |bound| {
                (format!("{name}_{}", bound.name()), json!({"description": bound.says()}))
            });
            let own = (name.to_string(), json!({"description": number.says}));
            std::iter::once(own).chain(bounds)
        });
        let properties = serde_json::Map::from_iter(numbers);
        json_schema!({
            "type": "object",
            "description": "Results of a run or of a part of it; `pauseless metrics` lists them.",
            "properties": properties,
        })
    }
}

impl Object {
    /// The field of a name, if it is there.
    pub fn get(&self, name: &str) -> Option<&Field> {
        self.0.iter().find(|(it, _)| it == name).map(|(_, field)| field)
    }

    fn push(&mut self, name: impl Into<Cow<'static, str>>, field: Field) {
        self.0.push((name.into(), field));
    }

    fn text(&mut self, name: &'static str, text: impl Into<String>) {
        self.push(name, Field::Text(text.into()));
    }

    fn whole(&mut self, name: &'static str, whole: u64) {
        self.push(name, Field::Number(Value::Whole(whole)));
    }

    /// A number that may not be there.
    fn number(&mut self, json: Json, value: Option<Value>) {
        match (json, value) {
            (Json::Absent(name) | Json::Null(name), Some(value)) => {
                self.push(name, Field::Number(value));
            }
            (Json::Null(name), None) => self.push(name, Field::Null),
            (Json::No, _) | (Json::Absent(_), None) => {}
        }
    }

    /// The object in a field, which is made if it is not there.
    fn object(&mut self, name: &'static str) -> &mut Object {
        let place = self.0.iter().position(|(it, _)| it == name).unwrap_or_else(|| {
            self.push(name, Field::Object(Object::default()));
            self.0.len() - 1
        });
        match &mut self.0[place].1 {
            Field::Object(object) => object,
            _ => unreachable!("no number has the name of an object"),
        }
    }
}

/// The object `metrics` of a run.
pub fn metrics(facts: &Facts<'_>) -> Object {
    let mut object = Object::default();
    if facts.completion().is_some() {
        object.push("completion", Field::Object(completion(facts)));
    }
    for (path, value) in of_run(facts).filter(|(path, _)| !path.starts_with(COMPLETION)) {
        match path.split_once('.') {
            Some((inner, name)) => object.object(inner).number(Json::Absent(name), Some(value)),
            None => object.number(Json::Absent(path), Some(value)),
        }
    }
    let layers = facts.metrics.layers.iter().map(|layer| {
        let mut row = Object::default();
        row.whole("layer", layer.layer.into());
        for number in NUMBERS {
            if let Of::Layer(of) = number.of {
                row.number(number.json, of(layer));
            }
        }
        row
    });
    object.push("layers", Field::List(layers.collect()));
    let ports = facts.metrics.ports.iter().map(|port| {
        let mut row = Object::default();
        row.text("node", facts.run.node_name(port.node));
        row.text("port", facts.run.port_name(port.node, port.port));
        for number in NUMBERS {
            if let Of::Port(of) = number.of {
                row.number(number.json, of(port));
            }
        }
        row
    });
    object.push("ports", Field::List(ports.collect()));
    object
}

/// The numbers of the whole run that are in the object `metrics`, by their paths in it.
fn of_run(facts: &Facts<'_>) -> impl Iterator<Item = (&'static str, Value)> {
    NUMBERS.iter().filter_map(|number| {
        let Of::Run(of) = number.of else {
            return None;
        };
        let path = number.json.name().strip_prefix(METRICS)?;
        Some((path, of(facts)?))
    })
}

fn completion(facts: &Facts<'_>) -> Object {
    let mut object = Object::default();
    for (path, value) in of_run(facts) {
        if let Some(name) = path.strip_prefix(COMPLETION) {
            object.number(Json::Absent(name), Some(value));
        }
    }
    let completion = facts.completion().expect("a run with a completion section has finite flows");
    group(&mut object, &completion.all);
    let by_size = completion.by_size.iter().map(|(SizeRange { min, below }, members)| {
        let mut row = Object::default();
        row.whole("bytes_min", min.get());
        let below = below.map(|below| Value::Whole(below.get()));
        row.number(Json::Null("bytes_below"), below);
        group(&mut row, members);
        row
    });
    object.push("by_size", Field::List(by_size.collect()));
    let by_class = completion.by_class.iter().map(|(class, members)| {
        let mut row = Object::default();
        row.whole("class", class.0.into());
        group(&mut row, members);
        row
    });
    object.push("by_class", Field::List(by_class.collect()));
    object
}

fn group(object: &mut Object, group: &Group) {
    for number in NUMBERS {
        if let Of::Flows(of) = number.of {
            object.number(number.json, of(group));
        }
        for (name, percentile) in number.statistics_as(number.json.name()) {
            let Some(bounded) = number.bounded(group, percentile) else {
                continue;
            };
            let mut push = |name: String, value: Option<Value>| {
                object.push(name, value.map_or(Field::Null, Field::Number));
            };
            if bounded.value.is_some() {
                push(name.clone(), bounded.value);
            }
            for bound in number.bounds() {
                let is_there = match bound {
                    // Where all have finished both are the value.
                    Bound::Best | Bound::Worst => group.unfinished > 0,
                    Bound::From | Bound::To => bounded.interval != [None; 2],
                };
                if is_there {
                    push(format!("{name}_{}", bound.name()), bound.of(&bounded));
                }
            }
        }
    }
}

/// A flow as the document of a run has it.
pub fn flow(facts: &FlowFacts<'_>) -> Object {
    let FlowFacts { run, flow, .. } = facts;
    let mut row = Object::default();
    row.whole("id", facts.index as u64);
    row.text("name", flow.name.clone());
    row.text("source", run.node_name(flow.source));
    row.text("target", run.node_name(flow.target));
    for number in NUMBERS {
        if let Of::Flow(of) = number.of {
            row.number(number.json, of(facts));
        }
    }
    row
}

/// The tables of a run: `results` with one row, `flows`, `ports` and, if anything was probed, `series`.
pub fn tables(run: &Run) -> Vec<Table> {
    let facts = Facts::of(run);
    let mut tables = vec![results(&facts), flows(run), ports(&facts)];
    tables.extend(series(run));
    tables
}

/// One row with what a campaign has of a run: the numbers of the whole run and of all finite flows.
fn results(facts: &Facts<'_>) -> Table {
    let run = facts.run;
    let text = |text: &str| Cells::Texts(vec![text.to_string()]);
    let mut columns = vec![
        Column::new("scenario", text(&run.scenario.name)),
        Column::new("version", text(crate::VERSION)),
        Column::new("seed", Cells::Counts(vec![run.scenario.config.seed])),
    ];
    let all = facts.completion().map(|completion| &completion.all);
    for number in NUMBERS.iter().filter(|number| !number.is_slow) {
        let mut add = |name: &str, value: Option<Value>| {
            let cells = Cells::Numbers(vec![value.map(|value| number.unit.of(value))]);
            columns.push(Column::new(name.replace('.', "_"), cells));
        };
        match number.of {
            Of::Run(of) => add(number.name, of(facts)),
            Of::Flows(of) => add(number.name, all.and_then(of)),
            Of::Mean(_) | Of::Percentile(_) => {
                for (name, percentile) in number.statistics() {
                    let bounded = all.and_then(|all| number.bounded(all, percentile));
                    add(&name, bounded.and_then(|it| it.value));
                    for bound in number.bounds() {
                        let value = bounded.and_then(|it| bound.of(&it));
                        add(&format!("{name}_{}", bound.name()), value);
                    }
                }
            }
            _ => {}
        }
    }
    columns.push(Column::new("ended", text(run.ended_name())));
    Table::new("results", columns)
}

/// A row for each port of each node, with the fields that the document of a run has.
pub fn ports(facts: &Facts<'_>) -> Table {
    let (run, ports) = (facts.run, &facts.metrics.ports);
    let nodes = ports.iter().map(|port| run.node_name(port.node).to_string());
    let names = ports.iter().map(|port| run.port_name(port.node, port.port));
    let mut columns = vec![Column::texts("node", nodes), Column::texts("port", names)];
    for number in NUMBERS.iter().filter(|number| number.json != Json::No) {
        if let Of::Port(of) = number.of {
            let values = ports.iter().map(of);
            columns.push(Column::new(number.json.name(), cells(number.is_real, values)));
        }
    }
    Table::new("ports", columns)
}

/// A row for each flow, in canonical order: `flows.csv` and `flows.parquet`. What a flow does not
/// have is empty: the bytes of one without end, the start of one that has not started.
pub fn flows(run: &Run) -> Table {
    let flows = Vec::from_iter(Facts::flows_of(run));
    let texts =
        |of: &dyn Fn(&FlowFacts<'_>) -> String| Cells::Texts(flows.iter().map(of).collect());
    let name = |node| run.node_name(node).to_string();
    let classes = flows.iter().map(|it| it.flow.class.0.into());
    let mut columns = vec![
        Column::new("name", texts(&|it| it.flow.name.clone())),
        Column::new("source", texts(&|it| name(it.flow.source))),
        Column::new("target", texts(&|it| name(it.flow.target))),
        Column::new("class", Cells::Counts(classes.collect())),
    ];
    for number in NUMBERS.iter().filter(|number| !number.column.is_empty()) {
        if let Of::Flow(of) = number.of {
            let values = flows.iter().map(of);
            columns.push(Column::new(number.column, cells(number.is_real, values)));
        }
    }
    Table::new("flows", columns)
}

/// What the probes recorded, a row for each sample: `time_ps`, then the columns of each probed port
/// and of each probed flow. `None` when nothing was recorded.
pub fn series(run: &Run) -> Option<Table> {
    let series = &run.outcome.series;
    if series.times.is_empty() {
        return None;
    }
    let times = series.times.iter().map(|time| time.as_ps());
    let mut columns = vec![Column::new("time_ps", Cells::Counts(times.collect()))];
    let mut add = |whose: &str, curve: &Curve, samples: Option<Samples<'_>>| {
        if let Some(samples) = samples {
            let name = format!("{whose} {}", curve.column);
            let values = (0..series.times.len()).map(|sample| samples.get(sample));
            let is_real = matches!(samples, Samples::Real(_));
            columns.push(Column::new(&name, cells(is_real, values)));
        }
    };
    // What not every recording has comes last.
    let is_there_always = |curve: &&Curve| !matches!(curve.of, CurveOf::PortIfAny(_));
    let (always, if_any): (Vec<_>, Vec<_>) = CURVES.iter().partition(is_there_always);
    for port in &series.ports {
        let name = run.port_name(port.node, port.port);
        for curve in always.iter().chain(&if_any) {
            add(&name, curve, curve.of_port(port));
        }
    }
    for flow in &series.flows {
        for curve in CURVES {
            add(run.flow_name(flow.flow), curve, curve.of_flow(run, flow));
        }
    }
    Some(Table::new("series", columns))
}

/// The recorded curves as the document of a run has them.
pub fn recordings(run: &Run) -> Option<Object> {
    let series = &run.outcome.series;
    if series.times.is_empty() {
        return None;
    }
    let mut object = Object::default();
    let times = series.times.iter().map(|time| time.as_ps());
    object.push("time_ps", Field::Wholes(times.collect()));
    let add = |row: &mut Object, curve: &Curve, samples: Option<Samples<'_>>| match samples {
        Some(Samples::Whole(all)) => row.push(curve.column, Field::Wholes(all.to_vec())),
        Some(Samples::Real(all)) => row.push(curve.column, Field::Reals(all.to_vec())),
        None => {}
    };
    let ports = series.ports.iter().map(|port| {
        let mut row = Object::default();
        row.text("port", run.port_name(port.node, port.port));
        for curve in CURVES {
            add(&mut row, curve, curve.of_port(port));
        }
        row
    });
    object.push("ports", Field::List(ports.collect()));
    let flows = series.flows.iter().map(|flow| {
        let mut row = Object::default();
        row.text("flow", run.flow_name(flow.flow));
        for curve in CURVES {
            add(&mut row, curve, curve.of_flow(run, flow));
        }
        row
    });
    object.push("flows", Field::List(flows.collect()));
    Some(object)
}

fn cells(is_real: bool, values: impl Iterator<Item = Option<Value>>) -> Cells {
    let whole = |value| match value {
        Value::Whole(whole) => whole,
        Value::Real(real) | Value::Shown(real) => real as u64,
    };
    let real = |value| match value {
        Value::Whole(whole) => whole as f64,
        Value::Real(real) | Value::Shown(real) => real,
    };
    if is_real {
        Cells::Numbers(values.map(|value| value.map(real)).collect())
    } else {
        Cells::Wholes(values.map(|value| value.map(whole)).collect())
    }
}

/// Where the object `metrics` is.
const METRICS: &str = "metrics.";
/// Where the completion of flows is in it.
const COMPLETION: &str = "completion.";

impl Number {
    /// Where the document of a run has it, from the root; empty if it has not.
    pub fn json_path(&self) -> String {
        match (self.json, self.scope()) {
            (Json::No, Scope::Class) => self.scope().json().to_string(),
            (Json::No, _) => String::new(),
            (json, scope) => format!("{}{}", scope.json(), json.name()),
        }
    }
}
