//! Values of reports as JSON values and back. Keys carry units where the types of the core do.

use pauseless_core::unit::{Bytes, Span, Time};
use pauseless_dataplane::report::{
    ClassReport, FlowSeries, Lateness, NodeReport, PortCounters, PortReport, PortSeries, Quantiles,
    ReceiveReport, Recording, SendReport,
};
use serde_json::{Map, Value, json};

use super::Tau;

/// What can be written as a JSON value and read again.
pub(super) trait Json: Sized {
    fn write(&self) -> Value;

    /// The thing that a JSON value stands for; else what is wrong, after its place.
    fn read(value: &Value) -> Result<Self, String>;

    /// The JSON Schema of what is written.
    fn schema() -> Value;
}

/// The member `key` of an object.
pub(super) fn member<T: Json>(value: &Value, key: &str) -> Result<T, String> {
    // A member that is not there reads as null, which is right for those that may be none.
    T::read(value.get(key).unwrap_or(&Value::Null)).map_err(|wrong| placed(key, &wrong))
}

/// `wrong` with one more step in front of its place.
fn placed(step: &str, wrong: &str) -> String {
    match wrong.split_once(": ") {
        Some((place, _)) if place.starts_with('[') => format!("{step}{wrong}"),
        Some(_) => format!("{step}.{wrong}"),
        None => format!("{step}: {wrong}"),
    }
}

macro_rules! scalar {
    ($type:ty, $noun:literal, $schema:tt, |$this:ident| $write:expr, |$value:ident| $read:expr) => {
        impl Json for $type {
            fn write(&self) -> Value {
                let $this = self;
                Value::from($write)
            }

            fn read($value: &Value) -> Result<$type, String> {
                $read.ok_or_else(|| concat!("not ", $noun).to_string())
            }

            fn schema() -> Value {
                json!($schema)
            }
        }
    };
}

scalar!(u64, "a count", {"type": "integer", "minimum": 0}, |it| *it, |value| value.as_u64());
scalar!(u32, "a count", {"type": "integer", "minimum": 0}, |it| *it, |value| value.as_u64().and_then(|n| n.try_into().ok()));
scalar!(u8, "a count", {"type": "integer", "minimum": 0}, |it| *it, |value| value.as_u64().and_then(|n| n.try_into().ok()));
scalar!(f64, "a number", {"type": "number"}, |it| *it, |value| value.as_f64());
scalar!(bool, "true or false", {"type": "boolean"}, |it| *it, |value| value.as_bool());
scalar!(String, "a text", {"type": "string"}, |it| it.as_str(), |value| value.as_str().map(str::to_string));
scalar!(Bytes, "a count", {"type": "integer", "minimum": 0}, |it| it.get(), |value| value.as_u64().map(Bytes::new));
scalar!(Span, "a count", {"type": "integer", "minimum": 0}, |it| it.as_ps(), |value| value.as_u64().map(Span::ps));
scalar!(Time, "a count", {"type": "integer", "minimum": 0}, |it| it.as_ps(), |value| value.as_u64().map(Time::from_ps));

impl<T: Json> Json for Vec<T> {
    fn write(&self) -> Value {
        Value::Array(self.iter().map(T::write).collect())
    }

    fn read(value: &Value) -> Result<Vec<T>, String> {
        let list = value.as_array().ok_or("not a list")?;
        let items = list.iter().enumerate().map(|(index, item)| {
            T::read(item).map_err(|wrong| placed(&format!("[{index}]"), &wrong))
        });
        items.collect()
    }

    fn schema() -> Value {
        json!({ "type": "array", "items": T::schema() })
    }
}

impl<T: Json> Json for Option<T> {
    fn write(&self) -> Value {
        self.as_ref().map_or(Value::Null, T::write)
    }

    fn read(value: &Value) -> Result<Option<T>, String> {
        match value {
            Value::Null => Ok(None),
            some => T::read(some).map(Some),
        }
    }

    fn schema() -> Value {
        json!({ "anyOf": [T::schema(), { "type": "null" }] })
    }
}

/// A struct as an object, with the names of its fields as keys where no others are given. Every
/// field must be listed: one that is forgotten does not compile.
macro_rules! object {
    ($type:ident { $($field:ident $(: $key:literal)?),+ $(,)? }) => {
        impl Json for $type {
            fn write(&self) -> Value {
                let $type { $($field),+ } = self;
                let mut object = Map::new();
                $(object.insert(object!(@key $field $($key)?).to_string(), $field.write());)+
                Value::Object(object)
            }

            fn read(value: &Value) -> Result<$type, String> {
                Ok($type { $($field: member(value, object!(@key $field $($key)?))?),+ })
            }

            fn schema() -> Value {
                let mut fields = Map::new();
                $(fields.insert(
                    object!(@key $field $($key)?).to_string(),
                    schema_of(|it: &$type| &it.$field),
                );)+
                object_schema(fields)
            }
        }
    };
    (@key $field:ident) => { stringify!($field) };
    (@key $field:ident $key:literal) => { $key };
}

/// The schema of the type of a field.
fn schema_of<S, T: Json>(_field: fn(&S) -> &T) -> Value {
    T::schema()
}

/// The schema of an object with these fields, all of which are there.
pub(super) fn object_schema(fields: Map<String, Value>) -> Value {
    let required = Vec::from_iter(fields.keys().cloned());
    json!({ "type": "object", "properties": fields, "required": required })
}

object! { NodeReport {
    name: "node", time: "time_ps", stalled: "stalled_ps", ports, sends, receives, lateness, series,
} }
object! { PortReport { neighbour, line_bps, counters, classes } }
object! { ClassReport {
    class, held: "held_bytes", held_max: "held_max_bytes", buffer: "buffer_bytes", backlog,
    allowed_bps, is_stopped,
} }
object! { PortCounters {
    received, received_bytes, sent, sent_bytes, control_received, control_sent, pauses_sent,
    pauses_received, marked, malformed, oversized, unknown, unwelcome, reflected, declassed,
    overruns, watchdog_drops, watchdog_trips, kernel_drops, send_failures, send_retries, outages,
    line_lost: "line_lost_ps",
} }
object! { SendReport { flow, name, frames, bytes, first: "first_ps", allowed_bps } }
object! { ReceiveReport {
    flow, name, frames, bytes, first: "first_ps", last: "last_ps", missing, reordered, duplicates,
    astray, restarts, marked, latency,
} }
object! { Quantiles { count, p50: "p50_ps", p99: "p99_ps", p999: "p999_ps", max: "max_ps" } }
object! { Lateness { control, data, control_sent, data_sent } }
object! { Recording { times: "times_ps", ports, flows } }
object! { PortSeries {
    queue: "queue_bytes", egress: "egress_bytes", input_bps, sending_bps, allowed_bps,
    feedback_bps,
} }
object! { FlowSeries { flow, goodput_bps } }
object! { Tau { planned_ps, measured_ps } }
