//! The files of a report: figures as SVG and PNG, tables as CSV and Parquet, and a page.

use std::fs;
use std::io;
use std::path::Path;

use super::{Report, json, page};
use pauseless_figures::{PRINT_DPI, png, svg};
use pauseless_run::table;
use pauseless_text::output;

/// Writes the figures, the tables, `report.json` and `report.html` into `folder`, which is made if
/// need be.
pub fn write(report: &Report, folder: &Path) -> io::Result<()> {
    let put = |name: String, bytes: &[u8]| {
        let path = folder.join(name);
        let named =
            |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
        output::write(&path, bytes).map_err(named)
    };
    fs::create_dir_all(folder)?;
    let notes = [
        ("version", report.version.as_str()),
        ("campaign", &report.name),
        ("title", &report.title),
    ];
    for part in &report.parts {
        for figure in &part.figures {
            let drawn = svg(figure);
            let picture = png(&drawn, PRINT_DPI).map_err(io::Error::other)?;
            put(format!("{}.svg", figure.name), drawn.as_bytes())?;
            put(format!("{}.png", figure.name), &picture)?;
        }
        put(format!("{}.csv", part.name), table::csv(&part.data).as_bytes())?;
        put(format!("{}.parquet", part.name), &table::parquet(&part.data, &notes))?;
    }
    put("report.json".to_string(), json(report).as_bytes())?;
    put("report.html".to_string(), page(report).as_bytes())
}
