//! Configurations that are written differently and mean the same.

use serde_json::Value;

/// Rows for groups that are next to each other mean the same as one row for all of them.
pub fn expanded(document: &Value) -> Value {
    let mut document = document.clone();
    for table in ["BUFFER_PG", "BUFFER_QUEUE", "QUEUE"] {
        let Some(rows) = document.get_mut(table).and_then(Value::as_object_mut) else {
            continue;
        };
        for (key, row) in std::mem::take(rows) {
            let (port, range) = key.rsplit_once('|').unwrap();
            let (first, last) = range.split_once('-').unwrap_or((range, range));
            let [first, last] = [first, last].map(|end| end.parse::<u8>().unwrap());
            for index in first..=last {
                rows.insert(format!("{port}|{index}"), row.clone());
            }
        }
    }
    document
}
