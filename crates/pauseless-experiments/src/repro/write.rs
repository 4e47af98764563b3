//! The files of a reproduction: figures as SVG and PNG, data as CSV and Parquet, and a page.

use std::fs;
use std::io;
use std::path::Path;

use super::{Reproduced, page, report};
use pauseless_figures::{PRINT_DPI, png, svg};
use pauseless_run::table;
use pauseless_text::output;

/// Writes the figures, the tables and the page of an experiment into `folder`, which is made if
/// need be.
pub fn write(done: &Reproduced, folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    for figure in &done.measured.figures {
        let drawn = svg(figure);
        let picture = png(&drawn, PRINT_DPI).map_err(io::Error::other)?;
        output::write(&folder.join(format!("{}.svg", figure.name)), drawn)?;
        output::write(&folder.join(format!("{}.png", figure.name)), picture)?;
    }
    let name = done.entry.name();
    let notes = [
        ("version", env!("CARGO_PKG_VERSION")),
        ("experiment", &name),
        ("scale", done.scale.name()),
    ];
    for data in &done.measured.tables {
        output::write(&folder.join(format!("{}.csv", data.name)), table::csv(data))?;
        let parquet = table::parquet(data, &notes);
        output::write(&folder.join(format!("{}.parquet", data.name)), parquet)?;
    }
    output::write(&folder.join("report.html"), report::page(done))
}

/// Writes the page of all results to `file`, and its figures beside it.
pub fn write_page(all: &[Reproduced], file: &Path) -> io::Result<()> {
    let folder = file.parent().unwrap_or(Path::new(""));
    fs::create_dir_all(folder)?;
    for (path, drawn) in page::figures(all) {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().unwrap_or(folder))?;
        output::write(&path, drawn)?;
    }
    output::write(file, page::page(all))
}
