//! Results as Parquet, for tools that read columns. The file's metadata hold the
//! sweep itself, its seed and the version that made it.

use std::collections::HashMap;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;
use thiserror::Error;

use crate::VERSION;
use crate::spec::Sweep;
use crate::sweep::CellResult;
use crate::table::{self, Columns, Datum, Kind};

/// The file could not be written.
#[derive(Debug, Error)]
#[error("cannot write {path}: {message}")]
pub struct ParquetError {
    path: String,
    message: String,
}

/// Writes a row per cell.
///
/// # Errors
///
/// When the file cannot be written.
pub fn write_cells(sweep: &Sweep, results: &[CellResult], path: &Path) -> Result<(), ParquetError> {
    let rows = results
        .iter()
        .map(|result| table::cell_row(sweep, result))
        .collect();
    write(sweep, &table::cell_columns(sweep), rows, path)
}

fn write(
    sweep: &Sweep,
    columns: &Columns,
    rows: Vec<Vec<Datum>>,
    path: &Path,
) -> Result<(), ParquetError> {
    let failed = |message: String| ParquetError {
        path: path.display().to_string(),
        message,
    };
    let fields: Vec<Field> = columns
        .iter()
        .map(|(name, kind)| {
            let kind = match kind {
                Kind::Text => DataType::Utf8,
                Kind::Whole => DataType::Int64,
                Kind::Decimal => DataType::Float64,
            };
            Field::new(name, kind, true)
        })
        .collect();
    let metadata = [
        ("headway", VERSION.to_owned()),
        ("seed", sweep.seed.to_string()),
        ("samples", sweep.samples.to_string()),
        ("sweep", sweep.text.clone().unwrap_or_default()),
    ]
    .map(|(key, value)| (key.to_owned(), value));
    let schema = Arc::new(Schema::new(fields).with_metadata(HashMap::from(metadata)));
    let arrays: Vec<ArrayRef> = columns
        .iter()
        .enumerate()
        .map(|(index, (_, kind))| array(*kind, rows.iter().map(move |row| &row[index])))
        .collect();
    let batch = RecordBatch::try_new(Arc::clone(&schema), arrays)
        .map_err(|error| failed(error.to_string()))?;
    let file = File::create(path).map_err(|error| failed(error.to_string()))?;
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .build();
    let mut writer = ArrowWriter::try_new(file, schema, Some(properties))
        .map_err(|error| failed(error.to_string()))?;
    writer
        .write(&batch)
        .and_then(|()| writer.close())
        .map_err(|error| failed(error.to_string()))?;
    Ok(())
}

fn array<'a>(kind: Kind, data: impl Iterator<Item = &'a Datum>) -> ArrayRef {
    match kind {
        Kind::Text => Arc::new(StringArray::from_iter(data.map(|datum| match datum {
            Datum::Text(text) => Some(text.clone()),
            Datum::Whole(number) => Some(number.to_string()),
            Datum::Decimal(number) => Some(number.to_string()),
            Datum::Empty => None,
        }))),
        Kind::Whole => Arc::new(Int64Array::from_iter(data.map(|datum| match datum {
            Datum::Whole(number) => Some(*number),
            _ => None,
        }))),
        Kind::Decimal => Arc::new(Float64Array::from_iter(data.map(|datum| match datum {
            Datum::Decimal(number) => Some(*number),
            Datum::Whole(number) => Some(*number as f64),
            _ => None,
        }))),
    }
}
