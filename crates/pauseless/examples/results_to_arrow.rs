//! Runs an incast and turns its results into record batches of Apache Arrow, ready for DataFusion,
//! polars or any other program that takes them; then asks them a question.
//!
//! Run it with `cargo run -p pauseless --example results_to_arrow`.
//!
//! Files need none of this: `pauseless run --out DIR` writes CSV and Parquet.

use std::error::Error;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray, UInt64Array};
use arrow_schema::ArrowError;
use pauseless::table::Cells;
use pauseless::{Overrides, Scenario, Table};

/// Four senders into one port, each with a flow of another size.
const SCENARIO: &str = r#"
    duration = "5 ms"
    topology = { kind = "n-to-1", senders = 4, rate = "10 Gbps", delay = "1 us" }
    switch = { buffer = "200 KB" }
    flow_control = { kind = "pfc" }
    flow = [
        { name = "F1", source = "H1", target = "R", size = "100 KB" },
        { name = "F2", source = "H2", target = "R", size = "200 KB" },
        { name = "F3", source = "H3", target = "R", size = "400 KB" },
        { name = "F4", source = "H4", target = "R", size = "800 KB" },
    ]
"#;

fn main() -> Result<(), Box<dyn Error>> {
    let run = pauseless::run(Scenario::parse("incast", SCENARIO, &Overrides::default())?);
    let mut flows = None;
    for table in pauseless::tables(&run) {
        let batch = batch(&table)?;
        let fields = batch.schema();
        let names = Vec::from_iter(fields.fields().iter().map(|field| field.name().as_str()));
        println!("{}: {} rows of {}\n", table.name, batch.num_rows(), names.join(", "));
        if table.name == "flows" {
            flows = Some(batch);
        }
    }
    let flows = flows.ok_or("every run has a table of flows")?;
    let column = |name: &str| flows.column_by_name(name).ok_or(format!("no column {name}"));
    let names = column("name")?.as_string::<i32>();
    let sizes = column("bytes")?.as_primitive::<UInt64Type>();
    let times = column("fct_ps")?.as_primitive::<UInt64Type>();
    for row in 0..flows.num_rows() {
        let took = times.value(row) as f64 / 1e6;
        println!("{}: {} bytes in {took:.0} us", names.value(row), sizes.value(row));
    }
    assert_eq!(flows.num_rows(), 4);
    assert!(times.value(0) < times.value(3), "the largest flow takes longest");
    Ok(())
}

/// The same table with Arrow's types; what was not measured is null.
fn batch(table: &Table) -> Result<RecordBatch, ArrowError> {
    let columns = table.columns.iter().map(|column| {
        let array: ArrayRef = match &column.cells {
            Cells::Numbers(cells) => Arc::new(Float64Array::from(cells.clone())),
            Cells::Texts(cells) => Arc::new(StringArray::from(cells.clone())),
            Cells::Notes(cells) => Arc::new(StringArray::from(cells.clone())),
            Cells::Counts(cells) => Arc::new(UInt64Array::from(cells.clone())),
            Cells::Wholes(cells) => Arc::new(UInt64Array::from(cells.clone())),
        };
        // Every column may have nulls in the tables of another run.
        (column.name.as_str(), array, true)
    });
    RecordBatch::try_from_iter_with_nullable(columns)
}
