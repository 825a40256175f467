//! Results as a table: one row per cell, or one per sample.
//!
//! Every row says which sweep, version and seed made it, so that a row can be
//! understood, and made again, without the file it came from.

use std::io::{self, Write};

use headway_draw::escape;

use crate::cell::Value;
use crate::model::Measure;
use crate::spec::Sweep;
use crate::sweep::{CellResult, SampleRows};
use crate::{Cell, VERSION};

/// What a field holds.
#[derive(Clone, Debug, PartialEq)]
pub enum Datum {
    /// Text.
    Text(String),
    /// A whole number.
    Whole(i64),
    /// A number.
    Decimal(f64),
    /// Nothing was measured.
    Empty,
}

/// The type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    /// [`Datum::Text`].
    Text,
    /// [`Datum::Whole`].
    Whole,
    /// [`Datum::Decimal`].
    Decimal,
}

/// The columns of a table: names and types.
pub type Columns = Vec<(String, ColumnKind)>;

/// The columns of the table of cells.
pub fn cell_columns(sweep: &Sweep) -> Columns {
    let mut columns = leading_columns(sweep);
    columns.push(("seed".to_owned(), ColumnKind::Text));
    columns.push(("samples".to_owned(), ColumnKind::Whole));
    for measure in sweep.measure_names() {
        for (suffix, kind) in [
            ("mean", ColumnKind::Decimal),
            ("low95", ColumnKind::Decimal),
            ("high95", ColumnKind::Decimal),
            ("sd", ColumnKind::Decimal),
            ("min", ColumnKind::Decimal),
            ("max", ColumnKind::Decimal),
            ("missing", ColumnKind::Whole),
        ] {
            columns.push((format!("{measure}_{suffix}"), kind));
        }
        for percentile in &sweep.percentiles {
            columns.push((format!("{measure}_p{percentile}"), ColumnKind::Decimal));
        }
    }
    columns
}

/// The row of a cell.
pub fn cell_row(sweep: &Sweep, result: &CellResult) -> Vec<Datum> {
    let mut row = leading(sweep, &sweep.cells[result.index as usize]);
    row.push(Datum::Text(sweep.seed.to_string()));
    row.push(Datum::Whole(sweep.samples as i64));
    for (&measure, summary) in sweep.measures.iter().zip(&result.summaries) {
        let measure = sweep.model.measures[measure];
        let scale = measure.scale as f64;
        let decimal =
            |value: Option<f64>| value.map_or(Datum::Empty, |v| Datum::Decimal(v / scale));
        let band = summary.confidence();
        row.push(decimal(summary.mean()));
        row.push(decimal(band.map(|band| band.0)));
        row.push(decimal(band.map(|band| band.1)));
        row.push(decimal(summary.deviation()));
        row.push(decimal(summary.min.map(|min| min as f64)));
        row.push(decimal(summary.max.map(|max| max as f64)));
        row.push(Datum::Whole(summary.missing as i64));
        for index in 0..sweep.percentiles.len() {
            let value = summary.percentiles.get(index);
            row.push(decimal(value.map(|&value| value as f64)));
        }
    }
    row
}

/// The columns of the table of samples.
pub(crate) fn sample_columns(sweep: &Sweep) -> Columns {
    let mut columns = leading_columns(sweep);
    columns.push(("seed".to_owned(), ColumnKind::Text));
    columns.push(("sample".to_owned(), ColumnKind::Whole));
    for &measure in &sweep.measures {
        let Measure { name, scale, .. } = sweep.model.measures[measure];
        let kind = if scale == 1 {
            ColumnKind::Whole
        } else {
            ColumnKind::Decimal
        };
        columns.push((name.to_owned(), kind));
    }
    columns
}

/// The rows of some samples.
pub fn sample_rows<'a>(
    sweep: &'a Sweep,
    samples: &'a SampleRows,
) -> impl Iterator<Item = Vec<Datum>> + 'a {
    let head = sample_head(sweep, samples.cell);
    (samples.first..)
        .zip(&samples.rows)
        .map(move |(number, values)| {
            let mut row = head.clone();
            row.push(Datum::Whole(number as i64));
            for (&measure, value) in sweep.measures.iter().zip(values) {
                let scale = sweep.model.measures[measure].scale;
                row.push(match value {
                    None => Datum::Empty,
                    Some(value) if scale == 1 => Datum::Whole(*value),
                    Some(value) => Datum::Decimal(*value as f64 / scale as f64),
                });
            }
            row
        })
}

/// What all samples of a cell begin with.
pub(crate) fn sample_head(sweep: &Sweep, cell: u32) -> Vec<Datum> {
    let mut head = leading(sweep, &sweep.cells[cell as usize]);
    head.push(Datum::Text(sweep.seed.to_string()));
    head
}

fn leading_columns(sweep: &Sweep) -> Columns {
    let mut columns: Columns = vec![
        ("sweep".to_owned(), ColumnKind::Text),
        ("headway".to_owned(), ColumnKind::Text),
        ("cell".to_owned(), ColumnKind::Whole),
        ("grid".to_owned(), ColumnKind::Text),
    ];
    for axis in sweep.model.axes {
        let numbers = sweep
            .cells
            .iter()
            .all(|cell| matches!(cell.get(axis.name), Some(Value::Number(_))));
        let kind = if numbers {
            ColumnKind::Whole
        } else {
            ColumnKind::Text
        };
        columns.push((axis.name.to_owned(), kind));
    }
    columns
}

fn leading(sweep: &Sweep, cell: &Cell) -> Vec<Datum> {
    let mut row = vec![
        Datum::Text(sweep.name.clone()),
        Datum::Text(VERSION.to_owned()),
        Datum::Whole(i64::from(cell.index)),
        Datum::Text(cell.grid.clone()),
    ];
    row.extend(cell.values.iter().map(|(_, value)| match value {
        Value::Number(number) => Datum::Whole(*number),
        Value::Word(word) => Datum::Text(word.clone()),
    }));
    row
}

/// Writes the names of the columns.
///
/// # Errors
///
/// When `out` cannot be written.
pub fn write_header(out: &mut impl Write, columns: &Columns) -> io::Result<()> {
    let names: Vec<&str> = columns.iter().map(|(name, _)| name.as_str()).collect();
    writeln!(out, "{}", names.join(","))
}

/// Writes a row as comma-separated values.
///
/// # Errors
///
/// When `out` cannot be written.
pub fn write_row(out: &mut impl Write, row: &[Datum]) -> io::Result<()> {
    for (index, datum) in row.iter().enumerate() {
        if index > 0 {
            out.write_all(b",")?;
        }
        match datum {
            Datum::Text(text) => out.write_all(escape::csv(text).as_bytes())?,
            Datum::Whole(number) => write!(out, "{number}")?,
            Datum::Decimal(number) => write!(out, "{number}")?,
            Datum::Empty => {}
        }
    }
    out.write_all(b"\n")
}
